package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/internal/harness"
	"tongs-agents/internal/hook"
	"tongs-agents/internal/text"
	"tongs-agents/proc"
)

func newNotify() *cobra.Command {
	n := hook.Notice{}
	var status string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "notify --status STATUS [--detail TEXT]",
		Short: "Report what a program of your own does",
		Long: `notify records what any program does, so that it is listed with the agents. The
session is the launch that the caller descends from, else the calling process;
--session names another one. With --agent and --session it updates the live
record of that session. A record without a process (--pid none) is dropped if it
is not reported again within 10 minutes.`,
		Example: `  tongs-agents notify --status running --detail "nightly build"
  tongs-agents notify --status waiting --detail "needs a password"
  tongs-agents notify --status idle --session backup --pid none`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkNotice(&n, status); err != nil {
				return err
			}
			r, err := notify(n)
			if err != nil {
				return err
			}
			if asJSON {
				row := fsstore.Annotate(r, time.Now())
				_, err := cmd.OutOrStdout().Write(append(row.AppendJSON(nil), '\n'))
				return fail(err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s: %s\n", r.Harness, text.Clean(r.Session), r.Status)
			return fail(err)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&status, "status", "", "what it does: "+strings.Join(noticeStatuses(), " "))
	flags.StringVar(&n.Detail, "detail", "", "what it does or needs, one line")
	flags.StringVar(&n.Session, "session", "", "the session; default: the launch, else the process")
	flags.StringVar(&n.Agent, "agent", harness.Other, "whose session: "+strings.Join(agentIDs(), " "))
	flags.StringVar(&n.PID, "pid", "", "the session's process, or none; default: the launched process, else the caller")
	flags.BoolVar(&asJSON, "json", false, "print the record as JSON")
	complete(cmd, "status", noticeStatuses())
	complete(cmd, "agent", agentIDs())
	return cmd
}

func noticeStatuses() []string {
	var names []string
	for _, s := range statusNames() {
		if s != string(fsstore.Discovered) {
			names = append(names, s)
		}
	}
	return names
}

// checkNotice finds wrong usage.
func checkNotice(n *hook.Notice, status string) error {
	if status == "" {
		return errors.New("--status is missing: " + strings.Join(noticeStatuses(), " "))
	}
	if err := oneOf("--status", []string{status}, noticeStatuses()); err != nil {
		return err
	}
	if err := oneOf("--agent", []string{n.Agent}, agentIDs()); err != nil {
		return err
	}
	if n.PID != "" && n.PID != hook.NoProcess {
		if pid, err := strconv.ParseInt(n.PID, 10, 32); err != nil || pid <= 0 {
			return fmt.Errorf("--pid: neither a process id nor %s: %q", hook.NoProcess, n.PID)
		}
	}
	if n.PID == hook.NoProcess && n.Session == "" && os.Getenv(fsstore.EnvLaunchID) == "" {
		return errors.New("--pid none needs --session")
	}
	switch {
	case len(n.Session) > fsstore.MaxSession:
		return fmt.Errorf("--session: longer than %d bytes", fsstore.MaxSession)
	case !utf8.ValidString(n.Session):
		return fmt.Errorf("--session: not UTF-8: %q", n.Session)
	}
	n.Status = fsstore.Status(status)
	return nil
}

func notify(n hook.Notice) (*fsstore.Record, error) {
	if n.Session != "" && n.PID == "" {
		live, err := liveRecord(n.Agent, n.Session)
		if err != nil {
			return nil, err
		}
		n.Live = live
	}
	n.Cwd = workingDirectory()
	r, err := hook.Notify(n)
	switch {
	case errors.Is(err, hook.ErrNothingToEnd):
		err = fmt.Errorf("no session of %s to end", n.Agent)
	case errors.Is(err, fsstore.ErrStale):
		err = fmt.Errorf("session %q orders its reports itself and takes none from elsewhere", n.Session)
	}
	return r, fail(storeError(err))
}

// liveRecord returns the record of a session that lives, the one reported last
// if it does so twice, or nil.
func liveRecord(agent, session string) (*fsstore.Record, error) {
	l, err := readListing(io.Discard)
	if err != nil {
		return nil, err
	}
	processes := liveness.NewProcesses(proc.Root)
	var live *fsstore.Record
	for i := range l.Rows {
		r := &l.Rows[i].Record
		if r.Harness != agent || r.Session != session || r.Legacy || r.Status == fsstore.Ended || processes.Dead(r) {
			continue
		}
		if live == nil || r.TS > live.TS {
			live = r
		}
	}
	return live, nil
}

// workingDirectory is what a record says of ours. A deleted one has no name.
func workingDirectory() string {
	cwd, err := os.Getwd()
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(cwd, "\ufffd")
}
