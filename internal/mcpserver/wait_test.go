package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tongs-agents/fsstore"
)

// outcomes says what a wait came to: that of all, and of each session.
func outcomes(t *testing.T, text string) string {
	t.Helper()
	var w waited
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	all := string(w.Outcome)
	for _, s := range w.Sessions {
		all += fmt.Sprintf(" %s=%s:%s", s.ID, s.Outcome, s.State)
	}
	return all
}

func TestWait(t *testing.T) {
	c := connect(t, makeStore(t,
		record("other", "idles", fsstore.Idle, 500, alive(t)),
		record("other", "runs", fsstore.Running, 1, alive(t)),
		record("other", "ended", fsstore.Ended, 1, in("/src/app")),
	), nil)
	for _, test := range []struct{ args, want string }{
		{`{"sessions": ["idles"]}`, "reached idles=reached:idle"},
		{`{"sessions": ["idles"], "states": ["attention"]}`, "reached idles=reached:attention"},
		{`{"sessions": ["idles", "runs"], "mode": "any"}`, "reached idles=reached:idle runs=timeout:"},
		{`{"sessions": ["idles", "runs"], "timeout_seconds": 0}`, "timeout idles=reached:idle runs=timeout:"},
		{`{"sessions": ["runs"], "states": ["waiting", "error"], "timeout_seconds": 0.01}`, "timeout runs=timeout:"},
		{`{"sessions": ["runs", "app"]}`, "gone runs=timeout: ended=gone:"},
		{`{"sessions": ["app"], "states": ["ended"]}`, "reached ended=reached:ended"},
	} {
		got, failed := c.call("agents_wait", test.args)
		if failed {
			t.Errorf("%s: %s", test.args, got)
		} else if got := outcomes(t, got); got != test.want {
			t.Errorf("%s: %s, want %s", test.args, got, test.want)
		}
	}
	if got, _ := c.call("agents_wait", `{"sessions": ["app"]}`); !strings.Contains(got, `"query":"app","id":"ended","harness":"other","repo":"app","status":"ended"`) || !strings.Contains(got, `"reason":"`) {
		t.Error(got)
	}
	for _, test := range []struct{ args, want string }{
		{`{"sessions": ["nosuch"]}`, "no session matches \"nosuch\". The sessions are:\nidles: other in , idle"},
		{`{"sessions": ["s"]}`, "2 sessions match"},
		{`{"sessions": []}`, "at least one query"},
		{`{}`, `missing properties: ["sessions"]`},
		{`{"sessions": ["idles"], "timeout_seconds": -1}`, "timeout_seconds: -1 is not between 0 and 3600"},
		{`{"sessions": ["idles"], "timeout_seconds": 3601}`, "timeout_seconds: 3601"},
		{`{"sessions": ["idles"], "states": ["nosuch"]}`, "nosuch does not equal any of"},
		{`{"sessions": ["idles"], "mode": "some"}`, "some does not equal any of"},
	} {
		if got, failed := c.call("agents_wait", test.args); !failed || !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s", test.args, got, test.want)
		}
	}
}

// A wait tells of its progress, to who asks, and ends with a report.
func TestWaitProgress(t *testing.T) {
	was := waitProgress
	waitProgress = time.Millisecond
	t.Cleanup(func() { waitProgress = was })

	dir := makeStore(t, record("other", "s", fsstore.Running, 10, alive(t)))
	told := make(chan float64, 2)
	c := connect(t, dir, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		if r.Params.ProgressToken == "token" {
			select {
			case told <- r.Params.Progress:
			default: // it was told enough
			}
		}
	}})
	params := &mcp.CallToolParams{Name: "agents_wait", Arguments: json.RawMessage(`{"sessions": ["s"], "timeout_seconds": 600}`)}
	params.SetProgressToken("token")
	result := make(chan *mcp.CallToolResult)
	go func() {
		r, err := c.CallTool(context.Background(), params)
		if err != nil {
			t.Error(err)
		}
		result <- r
	}()
	first, second := <-told, <-told
	if second <= first {
		t.Errorf("progress %g after %g", second, first)
	}
	put(t, dir, record("other", "s", fsstore.Waiting, 0, alive(t)))
	if r := <-result; r == nil || outcomes(t, r.Content[0].(*mcp.TextContent).Text) != "reached s=reached:waiting" {
		t.Errorf("%+v", r)
	}
}

// A client may give up.
func TestWaitCancelled(t *testing.T) {
	dir := makeStore(t, record("other", "s", fsstore.Running, 10, alive(t)))
	c := connect(t, dir, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan bool)
	go func() {
		_, failed := c.callIn(ctx, "agents_wait", `{"sessions": ["s"], "timeout_seconds": 600}`)
		ended <- failed
	}()
	cancel()
	if !<-ended {
		t.Error("it has not failed")
	}
	if got, failed := c.call("agents_status", `{}`); failed {
		t.Error(got)
	}
}
