package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// record is a valid record that was reported some seconds ago.
func record(harness, session string, status fsstore.Status, ago int64, change ...func(*fsstore.Record)) *fsstore.Record {
	ts := time.Now().Unix() - ago
	here := proc.Root.Host()
	r := &fsstore.Record{
		Key:  fsstore.Key{Harness: harness, Session: session, Instance: fsstore.Unresolved},
		Kind: fsstore.KindSession, Identity: fsstore.Unresolved, Status: status,
		TS: ts, Started: ts, Arrival: 1, Source: fsstore.SourceHook, LastEvent: harness + ".test",
		Focus:  fsstore.Focus{Kind: fsstore.FocusUnavailable},
		BootID: here.BootID, PIDNamespace: here.PIDNamespace, MachineID: here.MachineID,
	}
	for _, c := range change {
		c(r)
	}
	return r
}

func in(cwd string) func(*fsstore.Record) {
	return func(r *fsstore.Record) { r.Cwd, r.Repo = cwd, filepath.Base(cwd) }
}

// alive makes a record one of this process.
func alive(t *testing.T) func(*fsstore.Record) {
	t.Helper()
	self, err := proc.Root.Process(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return identified(strconv.Itoa(self.PID), self.Start)
}

func identified(pid, start string) func(*fsstore.Record) {
	return func(r *fsstore.Record) {
		r.Identity, r.PID, r.ProcessStart, r.Instance = fsstore.Identified, pid, start, pid+":"+start
	}
}

// makeStore returns the state directory of a store with these records.
func makeStore(t *testing.T, records ...*fsstore.Record) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	put(t, dir, records...)
	return dir
}

func put(t *testing.T, dir string, records ...*fsstore.Record) {
	t.Helper()
	store, err := fsstore.Open(dir, fsstore.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, r := range records {
		if _, err := store.Import(r, 30*time.Second); err != nil {
			t.Fatal(err)
		}
	}
}

// client is a client of a server, in the same process.
type client struct {
	t *testing.T
	*mcp.ClientSession
	outputs map[string]*jsonschema.Resolved // schemas, by tool
}

func connect(t *testing.T, dir string, opts *mcp.ClientOptions) *client {
	t.Helper()
	theirs, ours := mcp.NewInMemoryTransports()
	ctx := context.Background()
	server, err := New(Config{StateDir: dir, Version: "1.2.3"}).Connect(ctx, ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, opts).Connect(ctx, theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		server.Wait()
	})
	c := &client{t, session, map[string]*jsonschema.Resolved{}}
	for _, tool := range c.tools() {
		text, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		if c.outputs[tool.Name], err = s.Resolve(nil); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *client) tools() []*mcp.Tool {
	c.t.Helper()
	list, err := c.ListTools(context.Background(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return list.Tools
}

// call calls a tool, and returns its result as text: the structured content,
// which must be what the schema says and the same as the text, or the error.
func (c *client) call(name, args string) (text string, failed bool) {
	c.t.Helper()
	return c.callIn(context.Background(), name, args)
}

func (c *client) callIn(ctx context.Context, name, args string) (text string, failed bool) {
	c.t.Helper()
	r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		return err.Error(), true
	}
	if len(r.Content) != 1 {
		c.t.Fatalf("%s: %d contents", name, len(r.Content))
	}
	text = r.Content[0].(*mcp.TextContent).Text
	if r.IsError {
		if r.StructuredContent != nil {
			c.t.Errorf("%s: an error with %v", name, r.StructuredContent)
		}
		return text, true
	}
	if err := c.outputs[name].Validate(r.StructuredContent); err != nil {
		c.t.Errorf("%s: %v in %s", name, err, text)
	}
	if got, want := fmt.Sprint(r.StructuredContent), fmt.Sprint(decode(c.t, text)); got != want {
		c.t.Errorf("%s: structured %s, as text %s", name, got, want)
	}
	return text, false
}

func decode(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// tree lists all files with their contents and times.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %v\n", path, info.Mode(), info.ModTime())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
