package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// protocols are the requests that agents make, with PROMPT as the user's last
// text and DONE after it once the tool has run, and where a reply has the call.
var protocols = map[string]struct {
	path, request, done string
	called              string // in the reply
}{
	"anthropic": {
		"/v1/messages?beta=true",
		`{"stream": true, "tools": [{"name": "Read"}, {"name": "Bash"}], "messages": [{"role": "user", "content": "turn-1"},
			{"role": "assistant", "content": "turn-1"}, {"role": "user", "content": [{"type": "text", "text": "PROMPT"}]}DONE]}`,
		`, {"role": "assistant", "content": []}, {"role": "user", "content": [{"type": "tool_result"}, {"type": "text", "text": "a reminder"}]}`,
		`{"delta":{"partial_json":"{\"command\":\"./it\",\"description\":\"Run ./it\"}","type":"input_json_delta"}`,
	},
	"responses": {
		"/v1/responses",
		`{"stream": true, "tools": [{"name": "exec_command"}], "input": [{"role": "user", "content": [{"type": "input_text", "text": "PROMPT"}]}DONE]}`,
		`, {"type": "function_call_output"}`,
		`"arguments":"{\"cmd\":\"./it\",\"justification\":\"It says so.\",\"sandbox_permissions\":\"require_escalated\"}"`,
	},
	"chat": {
		"/v1/chat/completions",
		`{"stream": true, "tools": [{"function": {"name": "bash"}}], "messages": [{"role": "system", "content": ""},
			{"role": "user", "content": "PROMPT"}, {"role": "user", "content": "a reminder"}DONE]}`,
		`, {"role": "assistant", "content": null}, {"role": "tool", "content": ""}`,
		`"arguments":"{\"command\":\"./it\",\"description\":\"Run ./it\"}","name":"bash"`,
	},
	"gemini": {
		"/v1beta/models/any:streamGenerateContent?alt=sse",
		`{"tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}], "contents": [{"role": "user", "parts": [{"text": "PROMPT"}]}DONE]}`,
		`, {"role": "model", "parts": []}, {"role": "user", "parts": [{"functionResponse": {}}]}`,
		`{"functionCall":{"args":{"command":"./it","description":"Run ./it"},"name":"run_shell_command"}}`,
	},
}

func testModel(t *testing.T) *model {
	t.Helper()
	m, err := startModel()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.stop)
	return m
}

// post returns the status and the body of an answer. Each event must be JSON.
func post(t *testing.T, m *model, path, request string) (int, string) {
	t.Helper()
	response, err := http.Post(m.url+path, "application/json", strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(body) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if ok && string(data) != "[DONE]\n" && !json.Valid(data) {
			t.Errorf("no JSON: %s", data)
		}
	}
	return response.StatusCode, string(body)
}

func TestTurns(t *testing.T) {
	for name, p := range protocols {
		t.Run(name, func(t *testing.T) {
			m := testModel(t)
			m.answers() // turn-1, which an older prompt names
			ask := func(turn *turn, done string) (int, string) {
				return post(t, m, p.path, strings.NewReplacer("PROMPT", turn.Prompt, "DONE", done).Replace(p.request))
			}

			if status, body := ask(m.answers(), ""); status != 200 || !strings.Contains(body, answer) {
				t.Errorf("an answer: %d %s", status, body)
			}
			if status, body := ask(m.fails(), ""); status != 400 || strings.Contains(body, answer) {
				t.Errorf("a failure: %d %s", status, body)
			}
			runs := m.runs("./it", true)
			if status, body := ask(runs, ""); status != 200 || !strings.Contains(body, p.called) || strings.Contains(body, answer) {
				t.Errorf("a tool: %d %s", status, body)
			}
			if status, body := ask(runs, p.done); status != 200 || !strings.Contains(body, answer) || strings.Contains(body, "./it") {
				t.Errorf("after the tool: %d %s", status, body)
			}
		})
	}
}

func TestHeldTurn(t *testing.T) {
	m := testModel(t)
	held := m.holds()
	answered := make(chan string)
	go func() {
		_, body := post(t, m, "/v1/chat/completions", `{"messages": [{"role": "user", "content": "`+held.Prompt+`"}], "tools": [{"function": {"name": "bash"}}]}`)
		answered <- body
	}()
	select {
	case <-held.asked:
	case <-time.After(30 * time.Second):
		t.Fatal("the model was not asked")
	}
	select {
	case body := <-answered:
		t.Fatalf("answered before the release: %s", body)
	default:
	}
	held.release()
	held.release()
	if body := <-answered; !strings.Contains(body, answer) {
		t.Errorf("got %s", body)
	}
}

func TestDroppedTurn(t *testing.T) {
	m := testModel(t)
	held := m.holds()
	ctx, cancel := context.WithCancel(t.Context())
	body := strings.NewReader(`{"messages": [{"role": "user", "content": "` + held.Prompt + `"}], "tools": [{"function": {"name": "bash"}}]}`)
	request, err := http.NewRequestWithContext(ctx, "POST", m.url+"/v1/chat/completions", body)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-held.asked
		cancel()
	}()
	if response, err := http.DefaultClient.Do(request); err == nil {
		response.Body.Close()
		t.Fatal("answered before the release")
	}
	select {
	case <-held.dropped:
	case <-time.After(30 * time.Second):
		t.Error("the model did not notice")
	}
}

// Agents ask for titles and summaries of what the user said, on their own.
func TestRequestsThatAreNoTurn(t *testing.T) {
	m := testModel(t)
	for name, request := range map[string]string{
		"no turn":   `{"messages": [{"role": "user", "content": "hello"}], "tools": [{"function": {"name": "bash"}}]}`,
		"no such":   `{"messages": [{"role": "user", "content": "turn-99"}], "tools": [{"function": {"name": "bash"}}]}`,
		"no tools":  `{"messages": [{"role": "user", "content": "` + m.fails().Prompt + `"}]}`,
		"no shell":  `{"messages": [{"role": "user", "content": "` + m.runs("./it", false).Prompt + `"}], "tools": [{"function": {"name": "read"}}]}`,
		"restored":  `{"messages": [{"role": "user", "content": "` + m.fails().Prompt + m.answers().Prompt + `"}], "tools": [{}]}`,
		"not alone": `{"messages": [{"role": "user", "content": "` + m.holds().Prompt + `"}, {"role": "user", "content": "` + m.answers().Prompt + `"}], "tools": [{}]}`,
	} {
		if status, body := post(t, m, "/v1/chat/completions", request); status != 200 || !strings.Contains(body, answer) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if status, body := post(t, m, "/v1/messages", `{"messages": [{"role": 5}]}`); status != 422 {
		t.Errorf("a bad request: %d %s", status, body)
	}
	if status, _ := post(t, m, "/telemetry", "anything"); status != 200 {
		t.Errorf("telemetry: %d", status)
	}
}
