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

// TestStories are sequences of events, each with the record after it.
func TestStories(t *testing.T) {
	tests := []struct {
		name  string
		story []string
	}{
		{"a turn", []string{
			`session-start => started: session started`,
			`prompt-submit => running: processing prompt`,
			`tool-use Bash => running: using Bash`,
			`tool-done Bash => running: using Bash`,
			`stop "last_assistant_message=All\n  done." => idle: All done.`,
			`notification notification_type=idle_prompt message=Waiting => idle: All done.`,
			`session-end reason=prompt_input_exit => ended: session closed`,
		}},
		{"a permission that is given", []string{
			`session-start => started: session started`,
			`tool-use Bash => running: using Bash`,
			`permission-request Bash => waiting(Bash): permission needed: Bash`,
			`notification notification_type=permission_prompt "message=Claude needs you" => waiting(Bash): Claude needs you`,
			`tool-done Bash => running: using Bash`,
		}},
		{"a permission that is refused", []string{
			`session-start => started: session started`,
			`permission-request Bash => waiting(Bash): permission needed: Bash`,
			`interrupt => idle: interrupted`,
		}},
		{"the end of another tool does not end a wait", []string{
			`session-start => started: session started`,
			`permission-request Bash => waiting(Bash): permission needed: Bash`,
			`tool-done Read => waiting(Bash): permission needed: Bash`,
			`tool-done => waiting(Bash): permission needed: Bash`,
			`tool-done Bash => running: using Bash`,
		}},
		{"a wait that names no tool ends with any", []string{
			`session-start => started: session started`,
			`elicitation message=Which? => waiting(): waiting for user input`,
			`tool-done Read => running: using Read`,
			`notification notification_type=permission_prompt message=Say => waiting(): Say`,
			`tool-done Bash => running: using Bash`,
		}},
		{"the next tool ends a wait", []string{
			`session-start => started: session started`,
			`permission-request Bash => waiting(Bash): permission needed: Bash`,
			`tool-use Read => running: using Read`,
		}},
		{"a question", []string{
			`session-start => started: session started`,
			`tool-use AskUserQuestion => waiting(AskUserQuestion): using AskUserQuestion`,
			`permission-request AskUserQuestion => waiting(AskUserQuestion): permission needed: AskUserQuestion`,
			`tool-done AskUserQuestion => running: using AskUserQuestion`,
			`tool-use ExitPlanMode => waiting(ExitPlanMode): using ExitPlanMode`,
			`tool-done Read => waiting(ExitPlanMode): using ExitPlanMode`,
			`tool-done ExitPlanMode => running: using ExitPlanMode`,
		}},
		{"a form is answered", []string{
			`session-start => started: session started`,
			`elicitation => waiting(): waiting for user input`,
			`notification notification_type=elicitation_dialog "message=tracker asks" => waiting(): tracker asks`,
			`notification notification_type=elicitation_response => running`,
		}},
		{"the idle notification ends a wait of the main agent", []string{
			`session-start => started: session started`,
			`permission-request Bash => waiting(Bash): permission needed: Bash`,
			`notification notification_type=idle_prompt message=Waiting => idle: Waiting`,
		}},
		{"stop, interrupt and a prompt end a wait of the main agent", []string{
			`session-start => started: session started`,
			`permission-request Bash => waiting(Bash): permission needed: Bash`,
			`stop => idle`,
			`permission-request Bash => waiting(Bash): permission needed: Bash`,
			`interrupt => idle: interrupted`,
			`permission-request Bash => waiting(Bash): permission needed: Bash`,
			`prompt-submit => running: processing prompt`,
		}},

		{"what the main agent does never ends the wait of a subagent", []string{
			`session-start => started: session started`,
			`prompt-submit => running: processing prompt`,
			`permission-request Bash @a1 => waiting(a1 Bash): permission needed: Bash`,
			`tool-use Bash => waiting(a1 Bash): permission needed: Bash`,
			`tool-done Bash => waiting(a1 Bash): permission needed: Bash`,
			`notification notification_type=idle_prompt message=Waiting => waiting(a1 Bash): permission needed: Bash`,
			`notification notification_type=elicitation_response => waiting(a1 Bash): permission needed: Bash`,
			`compact => waiting(a1 Bash): permission needed: Bash`,
			`session-start source=compact => waiting(a1 Bash): permission needed: Bash`,
			`compact-done trigger=auto => waiting(a1 Bash): permission needed: Bash`,
			`compact-done trigger=manual => waiting(a1 Bash): permission needed: Bash`,
			`stop last_assistant_message=Done. => waiting(a1 Bash): permission needed: Bash`,
			`stop tasks=2 => waiting(a1 Bash) tasks=2: permission needed: Bash`,
		}},
		{"what another subagent does ends no wait", []string{
			`session-start => started: session started`,
			`permission-request Bash @a1 => waiting(a1 Bash): permission needed: Bash`,
			`tool-use Bash @a2 => waiting(a1 Bash): permission needed: Bash`,
			`tool-done Bash @a2 => waiting(a1 Bash): permission needed: Bash`,
			`subagent-stop @a2 => waiting(a1 Bash): permission needed: Bash`,
			`notification notification_type=elicitation_response @a2 => waiting(a1 Bash): permission needed: Bash`,
		}},
		{"a subagent does not end the wait of the main agent", []string{
			`session-start => started: session started`,
			`permission-request Bash => waiting(Bash): permission needed: Bash`,
			`tool-use Bash @a1 => waiting(Bash): permission needed: Bash`,
			`tool-done Bash @a1 => waiting(Bash): permission needed: Bash`,
			`subagent-stop @a1 => waiting(Bash): permission needed: Bash`,
			`notification notification_type=elicitation_response @a1 => waiting(Bash): permission needed: Bash`,
		}},
		{"a subagent's tool ends its own wait", []string{
			`session-start => started: session started`,
			`permission-request Bash @a1 => waiting(a1 Bash): permission needed: Bash`,
			`tool-done Read @a1 => waiting(a1 Bash): permission needed: Bash`,
			`tool-done Bash @a1 => running: using Bash`,
		}},
		{"a subagent's next tool ends its own wait", []string{
			`session-start => started: session started`,
			`permission-request Bash @a1 => waiting(a1 Bash): permission needed: Bash`,
			`tool-use Read @a1 => running: using Read`,
		}},
		{"a subagent that stops ends its own wait", []string{
			`session-start => started: session started`,
			`subagent-start @a1 => started subagents=1: session started`,
			`permission-request Bash @a1 => waiting(a1 Bash) subagents=1: permission needed: Bash`,
			`subagent-stop @a1 => running: processing prompt`,
		}},
		{"a subagent's form is answered", []string{
			`session-start => started: session started`,
			`elicitation @a1 => waiting(a1): waiting for user input`,
			`notification notification_type=elicitation_response @a1 => running: processing prompt`,
		}},
		{"a subagent's question", []string{
			`session-start => started: session started`,
			`tool-use AskUserQuestion @a1 => waiting(a1 AskUserQuestion): using AskUserQuestion`,
			`notification notification_type=permission_prompt message=Say => waiting(a1 AskUserQuestion): Say`,
			`tool-done AskUserQuestion @a1 => running: using AskUserQuestion`,
		}},
		{"who asks last is waited for", []string{
			`session-start => started: session started`,
			`permission-request Bash @a1 => waiting(a1 Bash): permission needed: Bash`,
			`tool-use AskUserQuestion => waiting(AskUserQuestion): using AskUserQuestion`,
			`permission-request Write @a2 => waiting(a2 Write): permission needed: Write`,
			`permission-request Read => waiting(Read): permission needed: Read`,
		}},
		{"an interrupt, a prompt and a failed turn end the wait of a subagent", []string{
			`session-start => started: session started`,
			`permission-request Bash @a1 => waiting(a1 Bash): permission needed: Bash`,
			`interrupt => idle: interrupted`,
			`permission-request Bash @a1 => waiting(a1 Bash): permission needed: Bash`,
			`prompt-submit => running: processing prompt`,
			`permission-request Bash @a1 => waiting(a1 Bash): permission needed: Bash`,
			`stop-failure => error: turn failed (API error)`,
		}},
		{"a subagent that stops after the turn", []string{
			`session-start => started: session started`,
			`subagent-start @a1 => started subagents=1: session started`,
			`stop tasks=1 last_assistant_message=Bye => idle subagents=1 tasks=1: Bye`,
			`tool-use Bash @a1 => idle subagents=1 tasks=1: Bye`,
			`subagent-stop @a1 => idle tasks=1: Bye`,
		}},

		{"counts", []string{
			`session-start => started: session started`,
			`subagent-start @a1 => started subagents=1: session started`,
			`subagent-start @a2 => started subagents=2: session started`,
			`subagent-start @a3 agent_type= => started subagents=2: session started`,
			`subagent-stop @a3 agent_type= => started subagents=2: session started`,
			`subagent-stop @a1 => started subagents=1: session started`,
			`subagent-stop @a2 => started: session started`,
			`subagent-stop @a2 => started: session started`,
			`subagent-start @a4 => started subagents=1: session started`,
			`stop => idle`,
		}},
		{"a stop with running tasks keeps the subagents", []string{
			`session-start => started: session started`,
			`subagent-start @a1 => started subagents=1: session started`,
			`stop tasks=3 => idle subagents=1 tasks=3`,
			`stop tasks=1 => idle subagents=1 tasks=1`,
			`stop tasks=0 => idle`,
		}},
		{"a prompt keeps the counts, a start does not", []string{
			`session-start => started: session started`,
			`subagent-start @a1 => started subagents=1: session started`,
			`stop tasks=1 => idle subagents=1 tasks=1`,
			`prompt-submit => running subagents=1 tasks=1: processing prompt`,
			`session-start source=compact => running subagents=1 tasks=1: processing prompt`,
			`session-start => started: session started`,
		}},

		{"an error stays until the next prompt, tool or start", []string{
			`session-start => started: session started`,
			`stop-failure => error: turn failed (API error)`,
			`notification notification_type=idle_prompt message=Waiting => error: turn failed (API error)`,
			`stop last_assistant_message=Bye => error: turn failed (API error)`,
			`interrupt => error: turn failed (API error)`,
			`tool-done Bash => error: turn failed (API error)`,
			`subagent-stop @a1 => error: turn failed (API error)`,
			`session-start source=compact => error: turn failed (API error)`,
			`prompt-submit => running: processing prompt`,
			`stop-failure => error: turn failed (API error)`,
			`tool-use Bash => running: using Bash`,
			`stop-failure => error: turn failed (API error)`,
			`session-start => started: session started`,
		}},
		{"a failure after the idle notification", []string{
			`session-start => started: session started`,
			`prompt-submit => running: processing prompt`,
			`notification notification_type=idle_prompt message=Waiting => idle: Waiting`,
			`stop-failure => error: turn failed (API error)`,
		}},
		{"a stop counts tasks even after a failed turn", []string{
			`session-start => started: session started`,
			`stop-failure => error: turn failed (API error)`,
			`stop tasks=2 => error tasks=2: turn failed (API error)`,
		}},

		{"compaction by the user", []string{ // in the order in which Claude Code was seen to send it
			`session-start => started: session started`,
			`stop => idle`,
			`compact trigger=manual => running: compacting`,
			`session-start source=compact => running: compacting`,
			`subagent-stop @internal agent_type= => running: compacting`,
			`compact-done trigger=manual => idle: compacted`,
		}},
		{"compaction in a turn", []string{
			`session-start => started: session started`,
			`compact trigger=auto => running: compacting`,
			`compact-done trigger=auto => running: compacting`,
			`tool-use Bash => running: using Bash`,
		}},
		{"compaction ends a wait of the main agent", []string{
			`session-start => started: session started`,
			`permission-request Bash => waiting(Bash): permission needed: Bash`,
			`compact => running: compacting`,
		}},

		{"nothing but a start or a prompt revives", []string{
			`session-start => started: session started`,
			`session-end reason=other => ended: session closed`,
			`tool-use Bash => ended: session closed`,
			`tool-done Bash => ended: session closed`,
			`permission-request Bash => ended: session closed`,
			`permission-request Bash @a1 => ended: session closed`,
			`subagent-start @a1 => ended: session closed`,
			`stop => ended: session closed`,
			`stop-failure => ended: session closed`,
			`session-start source=compact => ended: session closed`,
			`session-start source=reload => ended: session closed`,
			`session-start @a1 => ended: session closed`,
			`prompt-submit @a1 => ended: session closed`,
			`session-end reason=clear => ended: session closed`,
			`prompt-submit => running: processing prompt`,
		}},
		{"events that make no record", []string{
			`tool-use Bash => none`, `tool-done Bash => none`, `stop => none`, `stop-failure => none`, `interrupt => none`,
			`permission-request Bash => none`, `permission-request Bash @a1 => none`, `elicitation => none`,
			`notification notification_type=permission_prompt => none`, `notification notification_type=idle_prompt => none`,
			`subagent-start @a1 => none`, `subagent-stop @a1 => none`, `compact => none`, `compact-done => none`, `session-end => none`,
			`session-start @a1 => none`, `prompt-submit @a1 => none`,
			`prompt-submit => running: processing prompt`,
		}},
		{"a session first heard of when it is compacted", []string{
			`session-start source=compact => started: session started`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { newMachine(t, "claude").story(tt.story...) })
	}
}

// A harness that has no start event is known by its first tool, if its process
// is found.
func TestNoStartEvent(t *testing.T) {
	m := newMachine(t, "crush")
	m.story(`tool-done Bash => none`, `tool-use Bash => running: using Bash`)
	m = newMachine(t, "crush")
	m.owner = nil
	m.story(`tool-use Bash => none`)
}

// A harness whose notifications have no kind sends them for questions.
func TestKindlessNotification(t *testing.T) {
	m := newMachine(t, "droid")
	m.story(
		`session-start => started: session started`,
		`notification "message=Droid needs\nyour  permission" => waiting(): Droid needs your permission`,
		`tool-done Execute => running: using Execute`,
	)
}

// What a record says besides the state.
func TestFields(t *testing.T) {
	m := newMachine(t, "claude")
	m.do(`session-start model=opus session_title="A  title" transcript_path=/t/s1.jsonl at=500`)
	r := m.r
	if r.Harness != "claude" || r.Session != "s1" || r.Instance != "4194305:4242" || r.Kind != "session" ||
		r.PID != "4194305" || r.ProcessStart != "4242" || r.Identity != "identified" || r.Source != "hook" ||
		r.Cwd != "/home/dana/src/ledger-api" || r.Repo != "ledger-api" || r.Title != "A title" || r.Model != "opus" ||
		r.TranscriptPath != "/t/s1.jsonl" || r.LastEvent != "claude.session-start" || r.BootID != thisBoot ||
		r.Boottime != 500 || r.Started != r.TS || r.Mode != "headless" ||
		strings.Join(r.Resume, " ") != "claude --resume s1" {
		t.Errorf("got %+v", r)
	}
	started := r.Started

	m.do(`prompt-submit cwd=/home/dana/src/other/`)
	if r = m.r; r.Cwd != "/home/dana/src/other/" || r.Repo != "other" || r.Title != "A title" || r.Started != started {
		t.Errorf("a prompt in another directory: got %+v", r)
	}
	m.do(`tool-use Bash`)
	if m.r.Tool != "Bash" {
		t.Errorf("tool in use: got %q", m.r.Tool)
	}
	m.do(`session-end reason=clear`)
	if m.r.EndReason != "clear" || m.r.Started != started {
		t.Errorf("after the end: end_reason %q, started %d, want %d", m.r.EndReason, m.r.Started, started)
	}
	m.r.RemovedAt = 99
	m.do(`tool-use Bash`)
	if m.r.RemovedAt == 0 {
		t.Error("an event that changes nothing brought a removed session back")
	}
	m.do(`session-start source=resume`)
	if m.r.EndReason != "" || m.r.Started != m.r.TS || m.r.RemovedAt != 0 {
		t.Errorf("started anew: end_reason %q, started %d at %d, removed_at %d", m.r.EndReason, m.r.Started, m.r.TS, m.r.RemovedAt)
	}
}

// A tool is named while it is in use or waited for, and not beyond.
func TestTool(t *testing.T) {
	for event, want := range map[string]string{
		"tool-use Read": "Read", "tool-done Bash": "Bash", "permission-request Write": "Write", "tool-use AskUserQuestion": "AskUserQuestion",
		"notification notification_type=permission_prompt": "Bash", // of the same question
		"elicitation": "", "prompt-submit": "", "session-start": "", "session-end": "", "compact": "", "compact-done": "",
		"stop": "", "interrupt": "", "stop-failure": "", "notification notification_type=idle_prompt": "",
		"tool-use Read @a1": "Bash", "subagent-stop @a1": "Bash", "session-start source=compact": "Bash",
	} {
		m := newMachine(t, "claude")
		m.do("session-start")
		m.do("permission-request Bash")
		m.do(event)
		if m.r.Tool != want {
			t.Errorf("%s: got tool %q, want %q", event, m.r.Tool, want)
		}
	}
}

// An event of a subagent speaks of the subagent, not of the session.
func TestSubagentDescribesNothing(t *testing.T) {
	m := newMachine(t, "claude")
	m.do(`session-start model=opus session_title=Title transcript_path=/t/s1.jsonl`)
	want := *m.r
	for _, event := range []string{
		"tool-use Bash", "tool-done Bash", "permission-request Bash", "subagent-start", "subagent-stop",
		"notification notification_type=permission_prompt", "prompt-submit", "stop", "session-end", "session-start",
	} {
		m.do(event + " @a1 cwd=/elsewhere model=haiku session_title=Other transcript_path=/t/a1.jsonl")
		if r := m.r; r.Cwd != want.Cwd || r.Repo != want.Repo || r.Title != want.Title || r.Model != want.Model ||
			r.TranscriptPath != want.TranscriptPath || strings.Join(r.Resume, " ") != strings.Join(want.Resume, " ") {
			t.Errorf("%s: got cwd %q, title %q, model %q, transcript_path %q, resume %q", event, r.Cwd, r.Title, r.Model, r.TranscriptPath, r.Resume)
		}
	}
}

// A session with an --agent of its own has an agent type and no agent id: it is
// the main agent.
func TestAgentTypeWithoutID(t *testing.T) {
	newMachine(t, "claude").story(
		`session-start agent_type=reviewer => started: session started`,
		`prompt-submit agent_type=reviewer => running: processing prompt`,
		`stop agent_type=reviewer last_assistant_message=Hi => idle: Hi`,
	)
}

func TestTexts(t *testing.T) {
	m := newMachine(t, "claude")
	m.do("session-start")
	m.do(`stop "last_assistant_message= \n\t` + strings.Repeat("é ", 200) + `"`)
	if got, want := m.r.Detail, strings.Repeat("é ", 59)+"é"; got != want {
		t.Errorf("last message: got %d bytes %q, want %q", len(got), got, want)
	}
	m.do(`notification notification_type=permission_prompt message=` + strings.Repeat("漢", 600))
	if got, want := m.r.Detail, strings.Repeat("漢", fsstore.MaxDetail/3); got != want {
		t.Errorf("message: got %d bytes, want %d", len(got), len(want))
	}
	m.do(`permission-request ` + strings.Repeat("t", 600))
	if len(m.r.Tool) != fsstore.MaxTool || len(m.r.Detail) > fsstore.MaxDetail {
		t.Errorf("tool: got %d bytes, detail %d", len(m.r.Tool), len(m.r.Detail))
	}
	m.do("session-end reason=" + strings.Repeat("r", 99))
	if len(m.r.EndReason) != fsstore.MaxReason {
		t.Errorf("end_reason: got %d bytes", len(m.r.EndReason))
	}
}

// Private mode is applied where the payload is read, see TestPrivate; a record
// without texts says what happened all the same.
func TestWithoutTexts(t *testing.T) {
	newMachine(t, "claude").story(
		`session-start => started: session started`,
		`notification notification_type=permission_prompt => waiting(): waiting for user input`,
		`stop => idle`,
		`notification notification_type=elicitation_complete => idle`,
	)
}
