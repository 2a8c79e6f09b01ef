package main

import (
	"strings"
	"time"
)

// plural is the word for that many things.
func plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// sentence ends a sentence with a full stop, unless it has an end.
func sentence(s string) string {
	for _, end := range [...]string{".", "!", "?", "…"} {
		if strings.HasSuffix(s, end) {
			return s
		}
	}
	return s + "."
}

// when writes a time. One that is not known is empty.
func when(ts int64) string {
	if ts == 0 {
		return ""
	}
	return time.Unix(ts, 0).Format("2006-01-02 15:04:05")
}
