package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
)

const (
	session = "4f0c2a6e-8a57-4c0b-9c63-5a6b7d0e1f22"
	cwd     = "/home/me/src/widget"
)

// common begins every payload as Claude Code writes it.
func common(session, event string) string {
	return `{"session_id":"` + session + `","transcript_path":"/home/me/.claude/projects/-home-me-src-widget/` + session +
		`.jsonl","cwd":"` + cwd + `","hook_event_name":"` + event + `"`
}

func prompt(session string) []byte {
	return []byte(common(session, "UserPromptSubmit") + `,"prompt":"fix the failing test in parser_test.go"}`)
}

// toolDone is a payload of about the given size, nearly all of it one text.
func toolDone(size int, text func(size int) []byte) []byte {
	head := common(session, "PostToolUse") + `,"tool_name":"Bash","tool_response":{"stdout":"`
	const tail = `"}}`
	return append(append([]byte(head), text(max(size-len(head)-len(tail), 0))...), tail...)
}

// escapedText is program text as it stands in JSON: an escape for each line
// end, tab and quote, and a few characters beyond ASCII.
func escapedText(size int) []byte {
	var plain bytes.Buffer
	for _, name := range []string{"minimal.c", "read.go", "write.py", "write.sh"} {
		plain.WriteString(source(name))
	}
	plain.WriteString("✓ geprüft: «42 tests» → 0 failures\n")
	var escaped bytes.Buffer
	enc := json.NewEncoder(&escaped)
	enc.SetEscapeHTML(false) // as no harness does
	enc.Encode(plain.String())
	text := bytes.Trim(escaped.Bytes(), "\"\n")
	all := bytes.Repeat(text, size/len(text)+1)[:size]
	// No escape or character may be cut in two: blank out the last line.
	for i := bytes.LastIndex(all, []byte(`;\n`)) + 3; i < size; i++ {
		all[i] = ' '
	}
	return all
}

// base64Text has nothing to escape.
func base64Text(size int) []byte {
	random := rand.NewChaCha8([32]byte([]byte(strings.Repeat("tongs-agents", 3))))
	raw := make([]byte, base64.StdEncoding.DecodedLen(size)+3)
	random.Read(raw)
	return base64.StdEncoding.AppendEncode(nil, raw)[:size]
}
