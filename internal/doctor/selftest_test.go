package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tongs-agents/internal/harness"
)

func TestSelfTest(t *testing.T) {
	h := newHome(t)
	t.Setenv("TMPDIR", h.path("tmp"))
	for _, test := range []struct{ name, hook, want string }{
		{"fails", "exit 2", "exit status 2"},
		{"fails and says so", "echo no such library >&2; exit 127", `exit status 127 printed "no such library"`},
		{"prints", "echo hello", `must print nothing, and printed "hello"`},
		{"prints much", "head -c 1000000 /dev/zero; echo x >&2", "must print nothing, and printed "},
		{"does nothing", "cat >/dev/null", "recorded nothing"},
		{"is killed", "kill -9 $$", "signal: killed"},
		{"writes rubbish", "mkdir -p -m 700 $TONGS_AGENTS_STATE_DIR/sessions; echo x >$TONGS_AGENTS_STATE_DIR/sessions/x.json",
			"x.json, which is no record"},
	} {
		h.hook(test.hook)
		got := h.lines(h.trialOf())
		if !strings.HasPrefix(got, "error: ~/bin/tongs-agents-hook: ") || !strings.Contains(got, test.want) || !strings.HasSuffix(got, "\n  make install\n") {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
	h.hook("sleep 0.1; exec " + builtHook + ` "$@"`)
	if got := h.lines(h.trialOf()); !strings.HasPrefix(got, "warn: the hook takes ") {
		t.Errorf("slow: got %s", got)
	}
	h.hook("exec " + builtHook + ` "$@"`)
	if got := h.lines(h.trialOf()); strings.HasPrefix(got, "error") {
		t.Errorf("good: got %s", got)
	}
	if left, err := os.ReadDir(h.path("tmp")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	if _, err := os.Stat(h.path("state")); err == nil {
		t.Error("the real store was made")
	}
}

// trialOf makes the self-test with a directory for temporary ones.
func (h *home) trialOf() []Finding {
	h.t.Helper()
	if err := os.MkdirAll(h.path("tmp"), 0o700); err != nil {
		h.t.Fatal(err)
	}
	return h.patient().selfTest()
}

// Without a place for the throw-away store there is no test.
func TestNoTemp(t *testing.T) {
	h := newHome(t)
	t.Setenv("TMPDIR", h.path("nowhere"))
	if got := h.lines(h.patient().selfTest()); !strings.HasPrefix(got, "warn: the hook was not tried: ") {
		t.Error(got)
	}
}

// Whatever agent the test runs in, its payload is one of that agent.
func TestTrialOfEachAgent(t *testing.T) {
	for _, agent := range harness.All() {
		if !hasSession(&agent) {
			continue
		}
		trial := trial{hook: builtHook, dir: t.TempDir(), agent: &agent, session: "s"}
		if _, err := trial.times(2); err != nil {
			t.Errorf("%s: %v", agent.ID, err)
		} else if err := trial.recorded(); err != nil {
			t.Errorf("%s: %v", agent.ID, err)
		}
	}
}

// A program that hangs ends with what it has started.
func TestRunLate(t *testing.T) {
	dir := t.TempDir()
	o := run(exec.Command("sh", "-c", "sleep 600 & echo $! >"+filepath.Join(dir, "pid")+"; wait"), 3*time.Second)
	if !o.late || o.err == nil || o.took > time.Minute {
		t.Errorf("%+v", o)
	}
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal("killed before it began")
	}
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Since(start) > time.Minute {
			t.Fatal("a child of what hung lives: " + strconv.Quote(string(text)))
		}
	}
}
