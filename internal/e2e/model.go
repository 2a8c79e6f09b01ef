package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// model is a stand-in for a language model, so that real agents run offline. It
// speaks the Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and
// Gemini APIs, each as far as one turn needs it.
//
// A prompt says by name which turn it wants. A request that names none, or
// offers no tools, is answered with a sentence: agents ask for titles and the
// like on their own.
type model struct {
	url    string // http://127.0.0.1:PORT
	server http.Server

	mu    sync.Mutex
	turns map[string]*turn
}

// turn is what the model does when a prompt names it.
type turn struct {
	Prompt string // what the user types

	fail      bool          // the answer is an API error
	command   string        // for the shell tool; "" for none
	escalated bool          // Codex: the command asks to leave the sandbox
	gate      chan struct{} // closed once the answer may come; nil for at once

	asked   chan struct{} // closed once the model was asked
	dropped chan struct{} // closed once the agent does not wait for the answer any more

	begun, opened, left sync.Once // of asked, gate and dropped
}

const answer = "The stand-in model has answered."

// turnName is how a prompt names its turn.
var turnName = regexp.MustCompile(`turn-\d+`)

// startModel listens on a free port of the loopback interface.
func startModel() (*model, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &model{url: "http://" + listener.Addr().String(), turns: map[string]*turn{}}
	m.server.Handler = m
	go m.server.Serve(listener)
	return m, nil
}

func (m *model) stop() { m.server.Close() }

// turn registers a turn under a new name.
func (m *model) turn(t *turn) *turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := fmt.Sprintf("turn-%d", len(m.turns)+1)
	t.Prompt = "this is " + name
	t.asked, t.dropped = make(chan struct{}), make(chan struct{})
	m.turns[name] = t
	return t
}

func (m *model) answers() *turn { return m.turn(&turn{}) }

func (m *model) fails() *turn { return m.turn(&turn{fail: true}) }

// holds is a turn that stays unanswered until it is released.
func (m *model) holds() *turn { return m.turn(&turn{gate: make(chan struct{})}) }

// runs is a turn with a call of the shell tool.
func (m *model) runs(command string, escalated bool) *turn {
	return m.turn(&turn{command: command, escalated: escalated})
}

// release lets the answer come; once more is the same.
func (t *turn) release() { t.opened.Do(func() { close(t.gate) }) }

// message is one thing of a conversation, oldest first: a text of the user, or
// that a tool has run.
type message struct {
	text    string
	toolRan bool
}

// find returns the turn that the newest prompt names, and whether its tool has
// run. Agents put texts of their own after the prompt, so it need not be the last.
func (m *model) find(conversation []message) (t *turn, toolRan bool) {
	for i := len(conversation) - 1; i >= 0; i-- {
		names := turnName.FindAllString(conversation[i].text, -1)
		if len(names) == 0 {
			toolRan = toolRan || conversation[i].toolRan
			continue
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.turns[names[len(names)-1]], toolRan
	}
	return nil, false
}

// reply is what the model says: a call of a tool, or the answer.
type reply struct {
	tool      string
	arguments object
}

var errRefused = errors.New("the stand-in model refuses")

// reply decides what to say. The error is errRefused for a turn that fails.
func (m *model) reply(ctx context.Context, conversation []message, tools []string) (reply, error) {
	t, toolRan := m.find(conversation)
	if t == nil || len(tools) == 0 {
		return reply{}, nil
	}
	t.begun.Do(func() { close(t.asked) })
	if t.gate != nil {
		select {
		case <-t.gate:
		case <-ctx.Done():
			t.left.Do(func() { close(t.dropped) })
		}
	}
	if t.fail {
		return reply{}, errRefused
	}
	if t.command == "" || toolRan {
		return reply{}, nil
	}
	return t.call(tools), nil
}

// call calls the shell tool, by whatever name it has, if there is one.
func (t *turn) call(tools []string) reply {
	for _, tool := range tools {
		switch tool {
		case "Bash", "bash", "run_shell_command":
			return reply{tool, object{"command": t.command, "description": "Run " + t.command}}
		case "exec_command", "shell_command":
			key := map[string]string{"exec_command": "cmd", "shell_command": "command"}[tool]
			arguments := object{key: t.command}
			if t.escalated {
				arguments["sandbox_permissions"], arguments["justification"] = "require_escalated", "It says so."
			}
			return reply{tool, arguments}
		}
	}
	return reply{}
}

// object is a JSON object.
type object = map[string]any

func (r reply) argumentsText() string {
	text, err := json.Marshal(r.arguments)
	if err != nil {
		panic("e2e: " + err.Error())
	}
	return string(text)
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		writeJSON(w, http.StatusOK, object{"object": "list", "data": []object{{"id": modelName, "object": "model"}}, "models": []object{}})
		return
	}
	var api func(http.ResponseWriter, *http.Request) error
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/count_tokens"):
		api = func(w http.ResponseWriter, _ *http.Request) error {
			writeJSON(w, http.StatusOK, object{"input_tokens": 10})
			return nil
		}
	case strings.HasSuffix(path, "/messages"):
		api = m.anthropic
	case strings.HasSuffix(path, "/responses"):
		api = m.responses
	case strings.HasSuffix(path, "/chat/completions"):
		api = m.chat
	case strings.HasSuffix(path, "enerateContent"): // generateContent, streamGenerateContent
		api = m.gemini
	default: // telemetry and the like
		writeJSON(w, http.StatusOK, object{})
		return
	}
	switch err := api(w, r); {
	case errors.Is(err, errRefused): // with a status that no agent tries again at
		writeJSON(w, http.StatusBadRequest, object{"type": "error", "error": object{
			"type": "invalid_request_error", "code": http.StatusBadRequest, "status": "INVALID_ARGUMENT", "message": err.Error(),
		}})
	case err != nil:
		writeJSON(w, http.StatusUnprocessableEntity, object{"error": object{"message": err.Error()}})
	}
}

const modelName = "stand-in"

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // the agent may have gone
}

// event is a server-sent event; a string is sent as it is.
type event struct {
	name string
	data any
}

func writeEvents(w http.ResponseWriter, events ...event) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		text, ok := e.data.(string)
		if !ok {
			encoded, err := json.Marshal(e.data)
			if err != nil {
				panic("e2e: " + err.Error())
			}
			text = string(encoded)
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
}

// newID returns an id that no other reply of this process has.
func newID(prefix string) string { return fmt.Sprintf("%s%d", prefix, time.Now().UnixNano()) }
