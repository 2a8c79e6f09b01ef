package mcpserver

import (
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
	"tongs-agents/internal/wait"
)

// schemaOf returns the schema of a type of ours, where a list may be null: models
// write so what they leave out. It panics for a type that has none.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[row]():            rowSchema(),
		reflect.TypeFor[agentID]():        {Type: "string", Enum: agentIDs()},
		reflect.TypeFor[fsstore.Status](): statusSchema(),
		reflect.TypeFor[mode]():           {Type: "string", Enum: modes()},
		reflect.TypeFor[wait.State]():     {Type: "string", Enum: waitStates()},
		reflect.TypeFor[waitMode]():       {Type: "string", Enum: []any{string(waitAll), string(waitAny)}},
	}})
	if err != nil {
		panic("mcpserver: " + err.Error())
	}
	return s
}

// outputSchema is the schema of a result, of which no list is null.
func outputSchema[T any]() *jsonschema.Schema {
	if reflect.TypeFor[T]() == reflect.TypeFor[found]() {
		return foundSchema()
	}
	s := schemaOf[T]()
	neverNull(s)
	return s
}

func neverNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if i := slices.Index(s.Types, "null"); i >= 0 && len(s.Types) == 2 {
		s.Type, s.Types = s.Types[1-i], nil
	}
	neverNull(s.Items)
	for _, p := range s.Properties {
		neverNull(p)
	}
}

// rowSchema describes the keys of a row that a model needs to understand. A
// row has more: docs/format.md, and what other programs have put there.
func rowSchema() *jsonschema.Schema {
	text := func(about string) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Description: about} }
	number := func(about string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "integer", Description: about}
	}
	return &jsonschema.Schema{
		Type: "object",
		Properties: map[string]*jsonschema.Schema{
			"canonical_id":    text("names this session in this process, and no other"),
			"session_id":      text("the agent's own name for the session"),
			"harness_id":      text("the agent, such as claude"),
			"repo":            text("last element of cwd"),
			"cwd":             text("working directory"),
			"pid":             text("process; empty if not known"),
			"status":          statusSchema(),
			"detail":          text("what it does, or what it waits for"),
			"title":           text("of the session"),
			"ts":              number("last report, in seconds since 1970"),
			"started":         number("in seconds since 1970"),
			"age_seconds":     number("since the last report"),
			"needs_attention": {Type: "boolean", Description: "waits for its user, or has long been idle"},
		},
		Required: []string{"canonical_id", "session_id", "harness_id", "repo", "cwd", "pid", "status", "detail", "ts", "started", "age_seconds", "needs_attention"},
	}
}

// foundSchema is the schema of a row, or of matches.
func foundSchema() *jsonschema.Schema {
	matches := outputSchema[[]brief]()
	matches.Description = "the sessions that the query may name, if they are several; nothing else is there then"
	s := rowSchema()
	s.Required = nil
	s.Properties["matches"] = matches
	return s
}

func statusSchema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, name := range fsstore.Statuses {
		s.Enum = append(s.Enum, string(name))
	}
	return s
}

func agentIDs() (ids []any) {
	for _, h := range harness.All() {
		ids = append(ids, h.ID)
	}
	return ids
}

func waitStates() (names []any) {
	for _, s := range wait.States() {
		names = append(names, string(s))
	}
	return names
}

func modes() []any {
	return []any{fsstore.Interactive, fsstore.Headless, fsstore.Background, fsstore.Daemon, fsstore.Desktop}
}
