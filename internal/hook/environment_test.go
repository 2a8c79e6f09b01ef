package hook

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// TestEnviron: what the kernel keeps is read as package syscall reads it.
func TestEnviron(t *testing.T) {
	defer func() { environ = nil }()
	for _, tt := range []struct {
		environ     []string
		name, value string
	}{
		{nil, "A", ""},
		{[]string{"A=1"}, "A", "1"},
		{[]string{"AB=2", "A=1"}, "A", "1"},
		{[]string{"A=1", "AB=2"}, "AB", "2"},
		{[]string{"A=", "B=1"}, "A", ""},
		{[]string{"A", "B=1"}, "A", ""},
		{[]string{"A=x=y"}, "A", "x=y"},
		{[]string{"A=first", "A=second"}, "A", "first"},
		{[]string{"=1", "A=2"}, "A", "2"},
	} {
		environ = []byte(strings.Join(tt.environ, "\x00"))
		if len(tt.environ) > 0 {
			environ = append(environ, 0)
		}
		if got := Getenv(tt.name); got != tt.value {
			t.Errorf("%q: %s is %q, want %q", tt.environ, tt.name, got, tt.value)
		}
	}
	environ = []byte("TMUX=a,1,0\x00HOME=/h\x00STY=\x00TMUX=b\x00GHOSTTY_X=y\x00")
	want := []fsstore.Var{{Name: "TMUX", Value: "a,1,0"}, {Name: "GHOSTTY_X", Value: "y"}}
	if got := terminalEnv(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestReadEnviron: the variables are those that the process was started with,
// unless there are too many.
func TestReadEnviron(t *testing.T) {
	defer func() { environ = nil }()
	readEnviron()
	file, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(environ, file) {
		t.Errorf("got %d bytes, want %d", len(environ), len(file))
	}
	for _, entry := range strings.Split(strings.TrimRight(string(file), "\x00"), "\x00") {
		name, value, _ := strings.Cut(entry, "=")
		if got := Getenv(name); got != value {
			t.Errorf("%s: got %q, want %q", name, got, value)
		}
	}
	if text, err := proc.Root.OwnEnviron(make([]byte, len(file))); err == nil {
		t.Errorf("in too little space: got %d bytes and no error", len(text))
	}
}

// A variable that is set later counts where Run has not read them: our own
// commands set some.
func TestSetLater(t *testing.T) {
	t.Setenv("TMUX", "later")
	if got := Getenv("TMUX"); got != "later" {
		t.Errorf("got %q", got)
	}
	found := fmt.Sprint(terminalEnv())
	if !strings.Contains(found, "{TMUX later}") {
		t.Errorf("%s lacks TMUX, of %d variables", found, len(syscall.Environ()))
	}
}
