package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// content is the text of a message: a string, or parts of which some have text.
type content []part

type part struct {
	Type             string          `json:"type"`
	Text             string          `json:"text"`
	FunctionResponse json.RawMessage `json:"functionResponse"` // Gemini
}

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]part)(c))
}

func (c content) messages() []message {
	var all []message
	for _, p := range c {
		all = append(all, message{text: p.Text, toolRan: p.Type == "tool_result" || p.FunctionResponse != nil})
	}
	return all
}

func decode(r *http.Request, request any) error {
	if err := json.NewDecoder(r.Body).Decode(request); err != nil {
		return fmt.Errorf("%s: %w", r.URL.Path, err)
	}
	return nil
}

// anthropic is the Messages API, of Claude Code.
func (m *model) anthropic(w http.ResponseWriter, r *http.Request) error {
	var request struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role    string
			Content content
		}
		Tools []struct{ Name string }
	}
	if err := decode(r, &request); err != nil {
		return err
	}
	var conversation []message
	for _, msg := range request.Messages {
		if msg.Role == "user" {
			conversation = append(conversation, msg.Content.messages()...)
		}
	}
	var tools []string
	for _, tool := range request.Tools {
		tools = append(tools, tool.Name)
	}
	say, err := m.reply(r.Context(), conversation, tools)
	if err != nil {
		return err
	}

	whole := object{"type": "text", "text": answer}
	begun, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": answer}
	reason := "end_turn"
	if say.tool != "" {
		id := newID("toolu_")
		whole = object{"type": "tool_use", "id": id, "name": say.tool, "input": say.arguments}
		begun = object{"type": "tool_use", "id": id, "name": say.tool, "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": say.argumentsText()}
		reason = "tool_use"
	}
	reply := object{
		"id": newID("msg_"), "type": "message", "role": "assistant", "model": request.Model, "content": []object{},
		"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 10, "output_tokens": 5},
	}
	if !request.Stream {
		reply["content"], reply["stop_reason"] = []object{whole}, reason
		writeJSON(w, http.StatusOK, reply)
		return nil
	}
	writeEvents(w,
		event{"message_start", object{"type": "message_start", "message": reply}},
		event{"content_block_start", object{"type": "content_block_start", "index": 0, "content_block": begun}},
		event{"content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta}},
		event{"content_block_stop", object{"type": "content_block_stop", "index": 0}},
		event{"message_delta", object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": 5}}},
		event{"message_stop", object{"type": "message_stop"}},
	)
	return nil
}

// responses is OpenAI's Responses API, of Codex.
func (m *model) responses(w http.ResponseWriter, r *http.Request) error {
	var request struct {
		Input []struct {
			Type    string
			Role    string
			Content content
		}
		Tools []struct{ Name string }
	}
	if err := decode(r, &request); err != nil {
		return err
	}
	var conversation []message
	for _, item := range request.Input {
		switch {
		case item.Role == "user":
			conversation = append(conversation, item.Content.messages()...)
		case strings.HasSuffix(item.Type, "_output"):
			conversation = append(conversation, message{toolRan: true})
		}
	}
	var tools []string
	for _, tool := range request.Tools {
		tools = append(tools, tool.Name)
	}
	say, err := m.reply(r.Context(), conversation, tools)
	if err != nil {
		return err
	}

	item := object{
		"type": "message", "id": newID("msg_"), "role": "assistant", "status": "completed",
		"content": []object{{"type": "output_text", "text": answer, "annotations": []object{}}},
	}
	if say.tool != "" {
		item = object{
			"type": "function_call", "id": newID("fc_"), "call_id": newID("call_"), "status": "completed",
			"name": say.tool, "arguments": say.argumentsText(),
		}
	}
	response := object{"id": newID("resp_"), "object": "response", "status": "in_progress", "output": []object{}, "model": modelName}
	completed := object{
		"id": response["id"], "object": "response", "status": "completed", "output": []object{item}, "model": modelName,
		"usage": object{
			"input_tokens": 10, "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens": 5, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 15,
		},
	}
	writeEvents(w,
		event{"response.created", object{"type": "response.created", "response": response}},
		event{"response.output_item.added", object{"type": "response.output_item.added", "output_index": 0, "item": item}},
		event{"response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item}},
		event{"response.completed", object{"type": "response.completed", "response": completed}},
	)
	return nil
}

// chat is OpenAI's Chat Completions API, of OpenCode, Pi, Qwen Code and Copilot.
func (m *model) chat(w http.ResponseWriter, r *http.Request) error {
	var request struct {
		Stream   bool
		Messages []struct {
			Role    string
			Content content
		}
		Tools []struct{ Function struct{ Name string } }
	}
	if err := decode(r, &request); err != nil {
		return err
	}
	var conversation []message
	for _, msg := range request.Messages {
		switch msg.Role {
		case "user":
			conversation = append(conversation, msg.Content.messages()...)
		case "tool":
			conversation = append(conversation, message{toolRan: true})
		}
	}
	var tools []string
	for _, tool := range request.Tools {
		tools = append(tools, tool.Function.Name)
	}
	say, err := m.reply(r.Context(), conversation, tools)
	if err != nil {
		return err
	}

	said, reason := object{"role": "assistant", "content": answer}, "stop"
	if say.tool != "" {
		said = object{"role": "assistant", "tool_calls": []object{{
			"index": 0, "id": newID("call_"), "type": "function",
			"function": object{"name": say.tool, "arguments": say.argumentsText()},
		}}}
		reason = "tool_calls"
	}
	usage := object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	id := newID("chatcmpl-")
	reply := func(kind string, choice object) object {
		choice["index"] = 0
		return object{"id": id, "object": kind, "created": 1, "model": modelName, "choices": []object{choice}, "usage": usage}
	}
	if !request.Stream {
		writeJSON(w, http.StatusOK, reply("chat.completion", object{"message": said, "finish_reason": reason}))
		return nil
	}
	writeEvents(w,
		event{"", reply("chat.completion.chunk", object{"delta": said, "finish_reason": nil})},
		event{"", reply("chat.completion.chunk", object{"delta": object{}, "finish_reason": reason})},
		event{"", "[DONE]"},
	)
	return nil
}

// gemini is the API of Gemini CLI.
func (m *model) gemini(w http.ResponseWriter, r *http.Request) error {
	var request struct {
		Contents []struct {
			Role  string
			Parts content
		}
		Tools []struct{ FunctionDeclarations []struct{ Name string } }
	}
	if err := decode(r, &request); err != nil {
		return err
	}
	var conversation []message
	for _, c := range request.Contents {
		if c.Role == "user" {
			conversation = append(conversation, c.Parts.messages()...)
		}
	}
	var tools []string
	for _, tool := range request.Tools {
		for _, f := range tool.FunctionDeclarations {
			tools = append(tools, f.Name)
		}
	}
	say, err := m.reply(r.Context(), conversation, tools)
	if err != nil {
		return err
	}

	said := object{"text": answer}
	if say.tool != "" {
		said = object{"functionCall": object{"name": say.tool, "args": say.arguments}}
	}
	reply := object{
		"candidates":    []object{{"index": 0, "content": object{"role": "model", "parts": []object{said}}, "finishReason": "STOP"}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}, "modelVersion": modelName,
	}
	if strings.HasSuffix(r.URL.Path, ":streamGenerateContent") {
		writeEvents(w, event{"", reply})
	} else {
		writeJSON(w, http.StatusOK, reply)
	}
	return nil
}
