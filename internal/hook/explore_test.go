package hook

import (
	"fmt"
	"testing"

	"tongs-agents/fsstore"
)

func TestExplore(t *testing.T) {
	events := []string{"session-start", "session-start source=compact", "prompt-submit", "tool-use Bash", "tool-use AskUserQuestion", "tool-done Bash", "tool-done Read", "permission-request Bash", "elicitation",
		"notification notification_type=permission_prompt", "notification notification_type=idle_prompt", "notification notification_type=elicitation_response", "stop", "interrupt", "stop-failure", "compact", "compact-done trigger=auto", "compact-done trigger=manual",
		"subagent-start @a1", "subagent-stop @a1", "permission-request Bash @a1", "tool-use Bash @a1", "tool-done Bash @a1", "session-end"}
	run := func(s fsstore.Status, lines ...string) *machine {
		m := newMachine(t, "claude").in(s)
		for _, l := range lines {
			m.do(l)
		}
		return m
	}
	n := 0
	for _, s := range []fsstore.Status{"started", "running", "idle", "waiting", "error"} {
		for _, a := range events {
			for _, b := range events {
				x := run(s, a+" at=1e4"[:0]+a[len(a):]+" at=10000", b+" at=10001")
				y := run(s, b+" at=10001", a+" at=10000")
				if showState(x.r) != showState(y.r) {
					n++
					fmt.Printf("%-8s %-50s %-50s in order %-18s reversed %s\n", s, a, b, showState(x.r), showState(y.r))
				}
			}
		}
	}
	fmt.Println(n)
}
