package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxLine is how long a message may be, in bytes.
	maxLine = 16 << 20

	// drain is how long the answers to what was asked may take once the input
	// has ended. Only tools that look at ctx take long, and they are told.
	drain = 10 * time.Second
)

// Serve serves one client, a message a line, until its input ends; what it has
// asked until then is answered. A call that waits ends with the input, too. The
// end of ctx ends all, and is no error.
func Serve(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer) error {
	inputEnds, ended := context.WithCancel(ctx) // the library waits for calls at the end of ctx, and does not tell them
	defer ended()
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(inputEnds, cancel)()
			return next(ctx, method, req)
		}
	})
	err := s.Run(ctx, &lines{in: in, out: out, ended: ended})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// lines is a connection with a message a line. The library's own ends with a
// line that is none, and with its input, whatever is yet to be answered.
type lines struct {
	in    io.Reader
	out   io.Writer
	ended func() // is called at the end of the input

	read     chan line
	closed   chan struct{}
	close    sync.Once
	answered chan struct{} // something was, since the input has ended

	mu   sync.Mutex // of what follows, and of writing
	open map[jsonrpc.ID]bool
}

type line struct {
	text []byte
	err  error
}

func (l *lines) Connect(context.Context) (mcp.Connection, error) {
	l.read, l.closed, l.answered = make(chan line), make(chan struct{}), make(chan struct{}, 1)
	l.open = make(map[jsonrpc.ID]bool)
	go l.readLines() // which Close cannot interrupt: the process ends with it
	return l, nil
}

func (l *lines) readLines() {
	s := bufio.NewScanner(l.in)
	s.Buffer(nil, maxLine)
	for {
		next := line{err: io.EOF}
		switch {
		case s.Scan():
			next = line{text: append([]byte(nil), s.Bytes()...)}
		case errors.Is(s.Err(), bufio.ErrTooLong):
			next.err = fmt.Errorf("a message is longer than %d MiB", maxLine>>20)
		case s.Err() != nil:
			next.err = s.Err()
		}
		select {
		case l.read <- next:
		case <-l.closed:
			return
		}
		if next.err != nil {
			return
		}
	}
}

// Read returns the next message. A line that is none is answered with an error.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.closed:
			return nil, io.EOF
		case next := <-l.read:
			if next.err != nil {
				l.ended()
				l.awaitAnswers(ctx)
				return nil, next.err
			}
			if len(next.text) == 0 {
				continue
			}
			m, err := jsonrpc.DecodeMessage(next.text)
			if err == nil {
				l.note(m)
				return m, nil
			}
			if err := l.refuse(next.text); err != nil {
				return nil, err
			}
		}
	}
}

// note remembers a call.
func (l *lines) note(m jsonrpc.Message) {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open[r.ID] = true
	}
}

// refuse answers what is no message. Whose answer that is, is not known.
func (l *lines) refuse(text []byte) error {
	why := jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the line is no message of JSON-RPC 2.0"}
	if !json.Valid(text) {
		why = jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is no JSON"}
	}
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": why})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writeLine(answer)
}

// awaitAnswers returns once all calls are answered, or will not be.
func (l *lines) awaitAnswers(ctx context.Context) {
	late := time.NewTimer(drain)
	defer late.Stop()
	for l.waiting() {
		select {
		case <-l.answered:
		case <-ctx.Done():
			return
		case <-l.closed:
			return
		case <-late.C:
			return
		}
	}
}

func (l *lines) waiting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open) > 0
}

func (l *lines) Write(ctx context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	err = l.writeLine(text)
	if r, ok := m.(*jsonrpc.Response); ok {
		delete(l.open, r.ID)
		select {
		case l.answered <- struct{}{}:
		default:
		}
	}
	return err
}

func (l *lines) writeLine(text []byte) error {
	_, err := l.out.Write(append(text, '\n'))
	return err
}

func (l *lines) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
}

// SessionID is empty: there is one session.
func (l *lines) SessionID() string { return "" }
