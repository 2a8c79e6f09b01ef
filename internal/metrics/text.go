package metrics

import (
	"strconv"
	"strings"
)

// Kinds of families.
const (
	gauge   = "gauge"
	counter = "counter"
)

// family is a metric with its samples. Its help is one line without
// backslashes.
type family struct {
	name, kind, help string
	samples          []sample
}

type sample struct {
	labels []label
	value  int64
}

type label struct{ name, value string }

// single is a family of one sample without labels.
func single(name, kind, help string, value int64) family {
	f := family{name: name, kind: kind, help: help}
	f.add(value)
	return f
}

func (f *family) add(value int64, labels ...label) {
	f.samples = append(f.samples, sample{labels, value})
}

// append appends the family as
//
//	# HELP name What it is.
//	# TYPE name gauge
//	name{label="value"} 1
//
// A family without samples is nothing.
func (f *family) append(b []byte) []byte {
	if len(f.samples) == 0 {
		return b
	}
	b = append(b, "# HELP "+f.name+" "+f.help+"\n# TYPE "+f.name+" "+f.kind+"\n"...)
	for _, s := range f.samples {
		b = append(b, f.name...)
		between := byte('{')
		for _, l := range s.labels {
			b = append(append(b, between), l.name+`="`+escape(l.value)+`"`...)
			between = ','
		}
		if len(s.labels) > 0 {
			b = append(b, '}')
		}
		b = append(strconv.AppendInt(append(b, ' '), s.value, 10), '\n')
	}
	return b
}

// escape writes the value of a label.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
}
