//go:build !(386 || arm)

package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// markupText is what a piece of Pango markup shows. Only text is markup of ours.
func markupText(markup string) (string, error) {
	var b strings.Builder
	d := xml.NewDecoder(strings.NewReader("<markup>" + markup + "</markup>"))
	for depth := 0; ; {
		token, err := d.Token()
		switch token := token.(type) {
		case xml.CharData:
			b.Write(token)
		case xml.StartElement:
			if depth++; depth > 1 {
				return "", fmt.Errorf("an element %s", token.Name.Local)
			}
		case xml.EndElement:
		case nil:
			if errors.Is(err, io.EOF) {
				return b.String(), nil
			}
			return "", err
		default:
			return "", fmt.Errorf("a %T", token)
		}
	}
}

// tryJSON: every line is JSON that does nothing to a terminal, and says of the
// text what the record does.
func tryJSON(t *trial) error {
	record := t.fullRecord()
	for _, c := range []command{
		cli("status", "--json"), cli("ps", "--json"), cli("stats", "--json"), cli("resumable", "--json"), cli("show", "--json", "imported"),
		cli("explain", "--json", "imported"), cli("explain", "--json", "cut-off"), cli("export"), cli("doctor", "--json", "--agent", "claude"), cli("focus", "--json", "imported"),
	} {
		r, err := t.run(t.state, c)
		if err != nil {
			return err
		}
		t.check(r.status == 0 || r.status == 1 && (c.argv[1] == "doctor" || c.argv[1] == "focus"), "%s: %v", c, r)
		t.check(actsAsJSON(r.stdout) == "", "%s prints %s: %q", c, actsAsJSON(r.stdout), r.stdout)
		values := 0
		for d := json.NewDecoder(strings.NewReader(r.stdout)); ; values++ {
			var v any
			if err := d.Decode(&v); err != nil {
				t.check(errors.Is(err, io.EOF), "%s: %v in %q", c, err, r.stdout)
				break
			}
		}
		want := 1
		if c.argv[1] == "export" {
			want = strings.Count(r.stdout, "\n")
			t.check(want >= len(t.sessions)-1, "export prints %d records of %d", want, len(t.sessions))
		}
		t.check(values == want, "%s prints %d values, want %d", c, values, want)
		if c.argv[1] == "show" {
			var got struct {
				Title, Detail, Cwd string
				Resume             []string
			}
			err := json.Unmarshal([]byte(r.stdout), &got)
			t.check(err == nil && got.Title == record.Title && got.Detail == record.Detail && got.Cwd == record.Cwd && len(got.Resume) == 3 && got.Resume[2] == record.Resume[2],
				"%s says %q, want title %q and so on; %v", c, got, record.Title, err)
		}
	}
	for _, list := range []string{"status"} {
		rows, err := t.listed(t.state, list)
		if err != nil {
			return err
		}
		seen := map[string]string{}
		for _, r := range rows {
			seen[r.Session] = r.Harness
		}
		for session, harness := range t.sessions {
			t.check(seen[session] == harness, "%s --json does not list %s %q", list, harness, session)
		}
		t.check(len(rows) == len(t.sessions), "%s --json lists %d sessions, want %d", list, len(rows), len(t.sessions))
	}
	return nil
}

func tryWaybar(t *trial) error {
	r, err := t.out(cli("status", "--format", "waybar"))
	if err != nil {
		return err
	}
	t.check(strings.Count(r.stdout, "\n") == 1, "not one line: %q", r.stdout)
	var bar map[string]string
	if err := json.Unmarshal([]byte(r.stdout), &bar); !t.check(err == nil, "%v in %q", err, r.stdout) {
		return nil
	}
	shown, err := markupText(bar["text"])
	t.check(err == nil && shown != "", "text: %v in %q", err, bar["text"])
	tooltip, err := markupText(bar["tooltip"])
	t.check(err == nil && acts(tooltip, false) == "", "tooltip: %v, %s in %q", err, acts(tooltip, false), bar["tooltip"])
	got := strings.Count(tooltip, "\n") + 1
	t.check(got == len(t.sessions), "%d lines of the tooltip, want %d: %q", got, len(t.sessions), tooltip)
	t.check(strings.Contains(tooltip, t.word()), "the tooltip shows nothing of the text: %q", tooltip)
	t.check(bar["class"] == "attention" && bar["alt"] == "attention", "class %q, alt %q", bar["class"], bar["alt"])
	return nil
}

func tryLines(t *trial) error {
	r, err := t.out(cli("status", "--format", "i3blocks"))
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	if t.check(len(lines) == 3, "not three lines: %q", r.stdout) {
		t.check(lines[2] == "#FFD700", "colour %q", lines[2])
		for _, line := range lines[:2] {
			shown, err := markupText(line)
			t.check(err == nil && acts(shown, false) == "" && shown != "", "%v, %s in %q", err, acts(shown, false), line)
		}
	}
	if r, err = t.out(cli("status", "--format", "starship")); err != nil {
		return err
	}
	t.check(acts(r.stdout, false) == "" && strings.Count(r.stdout, "\n") == 1 && !strings.Contains(r.stdout, "begin"), "starship: %q", r.stdout)
	return nil
}

// fields are those of a session in a template whose text comes from outside.
var fields = []string{"Session", "Repo", "Cwd", "Title", "Tool", "Model", "Detail", "PID", "TTY", "Launch", "Profile"}

// tryTemplate: the functions of a template say the same to a parser of each
// kind, and a text is no template.
func tryTemplate(t *trial) error {
	said := map[string][]string{}
	for _, f := range []struct {
		name  string
		judge func([]string) ([]string, error)
	}{{"json", jsonTexts}, {"pango", markupTexts}, {"shell", t.shellWords}} {
		format := "{{range .Sessions}}"
		for _, field := range fields {
			format += "{{." + field + " | " + f.name + "}}\t"
		}
		r, err := t.out(cli("status", "--format", format+"{{end}}"))
		if err != nil {
			return err
		}
		words := strings.Split(strings.TrimSuffix(r.stdout, "\t\n"), "\t")
		want := len(t.sessions) * len(fields)
		t.check(len(words) == want && !strings.Contains(strings.TrimSuffix(r.stdout, "\n"), "\n"), "%s: %d words on a line, want %d: %q", f.name, len(words), want, r.stdout)
		if said[f.name], err = f.judge(words); !t.check(err == nil, "%s: %v in %q", f.name, err, r.stdout) {
			return nil
		}
		all := strings.Join(said[f.name], "")
		t.check(acts(all, false) == "" && !strings.Contains(all, "\n"), "%s: there is %s in %q", f.name, acts(all, false), all)
		t.check(strings.Contains(all, t.word()), "%s shows nothing of the text: %q", f.name, all)
		t.check(slices.Equal(said[f.name], said["json"]), "%s says %q, json %q", f.name, said[f.name], said["json"])
	}
	return nil
}

func jsonTexts(words []string) (texts []string, err error) {
	err = json.Unmarshal([]byte("["+strings.Join(words, ",")+"]"), &texts)
	return texts, err
}

func markupTexts(words []string) ([]string, error) {
	var texts []string
	for _, word := range words {
		text, err := markupText(word)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// tryMetrics: no text is in them, and the counts are right.
func tryMetrics(t *trial) error {
	r, err := t.out(cli("metrics"))
	if err != nil {
		return err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(r.stdout))
	if !t.check(err == nil, "%v in %q", err, r.stdout) {
		return nil
	}
	sum := 0.
	for _, m := range families["tongs_agents_sessions"].GetMetric() {
		sum += m.GetGauge().GetValue()
	}
	t.check(int(sum) == len(t.sessions), "%v sessions, want %d", sum, len(t.sessions))
	t.check(acts(r.stdout, false) == "" && !strings.Contains(r.stdout, "begin") && !strings.Contains(r.stdout, canary), "the text is in them: %q", r.stdout)
	return nil
}

// tryMCP: an answer is a line, and in it is JSON.
func tryMCP(t *trial) error {
	c := cli("mcp")
	calls := []struct{ tool, arguments string }{
		{"fleet_status", "{}"}, {"fleet_sessions_needing_attention", "{}"}, {"agents_status", "{}"},
		{"fleet_session", `{"query":"imported"}`}, {"fleet_session", `{"query":` + string(quoted(t.stored(512))) + `}`},
	}
	c.input = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for i, call := range calls {
		c.input += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", i+1, call.tool, call.arguments)
	}
	r, err := t.out(c)
	if err != nil {
		return err
	}
	t.check(actsAsJSON(r.stdout) == "", "prints %s", actsAsJSON(r.stdout))
	answers := 0
	for line := range strings.Lines(r.stdout) {
		var answer struct {
			ID     *int
			Result struct {
				Content []struct{ Type, Text string }
			}
		}
		if err := json.Unmarshal([]byte(line), &answer); !t.check(err == nil && answer.ID != nil, "%v in the line %q", err, line) {
			continue
		}
		answers++
		for _, content := range answer.Result.Content {
			t.check(actsAsJSON(content.Text) == "", "the answer to %d has %s", *answer.ID, actsAsJSON(content.Text))
			if *answer.ID != 5 { // which may be an error
				t.check(json.Valid([]byte(content.Text)), "the answer to %d is no JSON: %q", *answer.ID, content.Text)
			}
			if *answer.ID == 4 {
				var got struct{ Title string }
				err := json.Unmarshal([]byte(content.Text), &got)
				t.check(err == nil && strings.Contains(got.Title, t.word()) && acts(got.Title, false) == "", "the title is %q, %v", got.Title, err)
			}
		}
	}
	t.check(answers == len(calls)+1, "%d answers, want %d: %q", answers, len(calls)+1, r.stdout)
	return nil
}
