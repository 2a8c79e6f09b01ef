package hook

import (
	"strings"
	"testing"

	"tongs-agents/fsstore"
)

// TestTransitions is the state machine as a table: what each event makes of
// each status. "-" stands for no change of the record at all, "=" for the
// status as it was.
func TestTransitions(t *testing.T) {
	columns := []fsstore.Status{
		fsstore.Started, fsstore.Running, fsstore.Idle, fsstore.Waiting, fsstore.Error, fsstore.Ended, fsstore.Discovered,
	}
	rows := []struct{ event, want, detail string }{
		//                                                    started running idle    waiting error   ended   discovered
		{"session-start", "                                   started started started started started started started", "session started"},
		{"session-start source=startup", "                    started started started started started started started", "session started"},
		{"session-start source=resume", "                     started started started started started started started", "session started"},
		{"session-start source=clear", "                      started started started started started started started", "session started"},
		{"session-start source=fork", "                       started started started started started started started", "session started"},
		{"session-start source=compact", "                    =       =       =       =       =       -       =", ""},
		{"session-start source=reload", "                     =       =       =       =       =       -       =", ""},
		{"prompt-submit", "                                   running running running running running running running", "processing prompt"},
		{"tool-use Bash", "                                   running running running running running -       running", "using Bash"},
		{"tool-use AskUserQuestion", "                        waiting waiting waiting waiting waiting -       waiting", "using AskUserQuestion"},
		{"tool-use ExitPlanMode", "                           waiting waiting waiting waiting waiting -       waiting", "using ExitPlanMode"},
		{"tool-done Bash", "                                  running =       -       running -       -       -", "using Bash"},
		{"permission-request Bash", "                         waiting waiting waiting waiting waiting -       waiting", "permission needed: Bash"},
		{"permission-request", "                              waiting waiting waiting waiting waiting -       waiting", "permission needed"},
		{"elicitation message=Which?", "                      waiting waiting waiting waiting waiting -       waiting", "waiting for user input"},
		{"notification notification_type=permission_prompt message=Say", " waiting waiting waiting waiting waiting - waiting", "Say"},
		{"notification notification_type=agent_needs_input message=Say", " waiting waiting waiting waiting waiting - waiting", "Say"},
		{"notification notification_type=elicitation_dialog", " waiting waiting waiting waiting waiting -    waiting", "waiting for user input"},
		{"notification notification_type=elicitation_url_dialog", " waiting waiting waiting waiting waiting - waiting", "waiting for user input"},
		{"notification notification_type=idle_prompt message=Say", " idle idle  -       idle    -       -       -", "Say"},
		{"notification notification_type=elicitation_complete message=Say", " - - -    running -       -       -", "Say"},
		{"notification notification_type=elicitation_response message=Say", " - - -    running -       -       -", "Say"},
		{"stop last_assistant_message=Done.", "               idle    idle    idle    idle    =       -       idle", "Done."},
		{"interrupt", "                                       idle    idle    idle    idle    =       -       idle", "interrupted"},
		{"stop-failure", "                                    error   error   error   error   error   -       error", "turn failed (API error)"},
		{"compact", "                                         running running running running running -       running", "compacting"},
		{"compact-done trigger=auto", "                       running running running running running -       running", "compacting"},
		{"compact-done trigger=manual", "                     idle    idle    idle    idle    idle    -       idle", "compacted"},
		{"subagent-start @a1", "                              =       =       =       =       =       -       =", ""},
		{"subagent-stop @a1", "                               =       =       =       =       =       -       =", ""},
		{"session-end reason=other", "                        ended   ended   ended   ended   ended   -       ended", "session closed"},
		// An event of a subagent changes a state only by asking.
		{"session-start @a1", "                               =       =       =       =       =       -       =", ""},
		{"prompt-submit @a1", "                               =       =       =       =       =       -       =", ""},
		{"tool-use Bash @a1", "                               =       =       =       =       =       -       =", ""},
		{"tool-done Bash @a1", "                              =       =       =       =       =       -       =", ""},
		{"stop @a1", "                                        =       =       =       =       =       -       =", ""},
		{"stop-failure @a1", "                                =       =       =       =       =       -       =", ""},
		{"interrupt @a1", "                                   =       =       =       =       =       -       =", ""},
		{"compact @a1", "                                     =       =       =       =       =       -       =", ""},
		{"compact-done trigger=manual @a1", "                 =       =       =       =       =       -       =", ""},
		{"session-end @a1", "                                 =       =       =       =       =       -       =", ""},
		{"notification notification_type=idle_prompt @a1", "  =       =       =       =       =       -       =", ""},
		{"notification notification_type=elicitation_response @a1", " = = =    =       =       -       =", ""},
		{"notification notification_type=permission_prompt message=Say @a1", " waiting waiting waiting waiting waiting - waiting", "Say"},
		{"permission-request Bash @a1", "                     waiting waiting waiting waiting waiting -       waiting", "permission needed: Bash"},
		{"elicitation @a1", "                                 waiting waiting waiting waiting waiting -       waiting", "waiting for user input"},
		{"tool-use AskUserQuestion @a1", "                    waiting waiting waiting waiting waiting -       waiting", "using AskUserQuestion"},
	}
	for _, row := range rows {
		want := strings.Fields(row.want)
		for i, status := range columns {
			m := newMachine(t, "claude").in(status)
			before := *m.r
			changed := m.do(row.event)
			got := m.r
			switch want[i] {
			case "-":
				if changed {
					t.Errorf("%s, %s: changed to %s; want no change", status, row.event, show(got))
				}
			case "=":
				if got.Status != status || got.Detail != "before" {
					t.Errorf("%s, %s: got %s; want no other state", status, row.event, show(got))
				}
				if !changed || got.TS == before.TS {
					t.Errorf("%s, %s: got ts %d, before %d; the session has shown that it lives", status, row.event, got.TS, before.TS)
				}
			default:
				if string(got.Status) != want[i] || got.Detail != row.detail {
					t.Errorf("%s, %s: got %s; want %s: %s", status, row.event, show(got), want[i], row.detail)
				}
				if (got.Status == fsstore.Waiting) != (got.WaitingFor != nil) {
					t.Errorf("%s, %s: got waiting_for %v in status %s", status, row.event, got.WaitingFor, got.Status)
				}
			}
			if changed && got.LastEvent != "claude."+splitWords(row.event)[0] {
				t.Errorf("%s, %s: last_event %s", status, row.event, got.LastEvent)
			}
		}
	}
}
