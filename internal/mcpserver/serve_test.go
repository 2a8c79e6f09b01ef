package mcpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"tongs-agents/fsstore"
)

const initialize = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// serving is a server at the other end of two pipes.
type serving struct {
	in      *io.PipeWriter
	answers chan string
	err     chan error
}

func serve(t *testing.T, ctx context.Context, dir string) *serving {
	t.Helper()
	in, input := io.Pipe()
	output, out := io.Pipe()
	s := &serving{input, make(chan string, 100), make(chan error, 1)}
	go func() {
		s.err <- Serve(ctx, New(Config{StateDir: dir}), in, out)
		out.Close()
	}()
	go func() {
		defer close(s.answers)
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			s.answers <- lines.Text()
		}
	}()
	io.WriteString(input, initialize)
	if got := <-s.answers; !strings.Contains(got, `"id":"i","result"`) {
		t.Fatal(got)
	}
	return s
}

func callLine(id int, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, tool, args)
}

// What was asked before the input has ended is answered. A wait ends with it.
func TestServeAnswersAll(t *testing.T) {
	dir := makeStore(t, record("other", "s", fsstore.Running, 10, alive(t)))
	s := serve(t, t.Context(), dir)
	io.WriteString(s.in, callLine(1, "agents_wait", `{"sessions": ["s"], "timeout_seconds": 3600}`))
	for id := 2; id < 22; id++ {
		io.WriteString(s.in, callLine(id, "agents_status", `{}`))
	}
	s.in.Close()
	if err := <-s.err; err != nil {
		t.Error(err)
	}
	answered := map[string]string{}
	for line := range s.answers {
		_, id, _ := strings.Cut(line, `"id":`)
		id, _, _ = strings.Cut(id, ",")
		answered[id] = line
	}
	if len(answered) != 21 || !strings.Contains(answered["1"], `"isError":true`) || !strings.Contains(answered["21"], `"id\":\"s\"`) {
		t.Errorf("%d answers: %v", len(answered), answered)
	}
}

// A signal ends what waits, too.
func TestServeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, ctx, makeStore(t, record("other", "s", fsstore.Running, 10, alive(t))))
	io.WriteString(s.in, callLine(1, "agents_wait", `{"sessions": ["s"], "timeout_seconds": 3600}`)+callLine(2, "agents_status", `{}`))
	<-s.answers // the first call is under way
	cancel()
	if err := <-s.err; err != nil {
		t.Error(err)
	}
}

// A line without an end is an error.
func TestServeLongLine(t *testing.T) {
	s := serve(t, t.Context(), makeStore(t))
	go s.in.Write(make([]byte, maxLine+1))
	if err := <-s.err; err == nil || err.Error() != "a message is longer than 16 MiB" {
		t.Error(err)
	}
}
