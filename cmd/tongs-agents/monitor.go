package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tongs-agents/fsstore"
	"tongs-agents/fsstore/liveness"
	"tongs-agents/fsstore/maintain"
	"tongs-agents/internal/focus"
	"tongs-agents/internal/listing"
	"tongs-agents/internal/monitor"
	"tongs-agents/internal/text"
	"tongs-agents/proc"
)

func newMonitor() *cobra.Command {
	var f filter
	var c monitor.Config
	var once, notify bool
	var width int
	cmd := &cobra.Command{
		Use:   "monitor",
		Short: "The live view: who needs you, and one key to get there",
		Long: `monitor shows the sessions as they change, those that need you first, and keeps
the list up to date as cleanup does. enter brings the terminal of the selected
session to the front, n selects the next one that needs you, / shows only what
matches, space shows the details, ? has all keys. With --sidebar it fits a pane of
30 columns; with --exit-on-focus it ends once a session was focused, and says so
if not all could be done. In tmux it can be a popup and a sidebar:

  bind-key a display-popup -E -w 90% -h 60% 'tongs-agents monitor --exit-on-focus'
  bind-key A split-window -hb -l 30 'tongs-agents monitor --sidebar'

With --once it prints what the view would show, a row a line, and ends.`,
		Example: `  tongs-agents monitor
  tongs-agents monitor --here --state waiting,idle
  tongs-agents monitor --sidebar
  tongs-agents monitor --once --width 100`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("width") && !once {
				return errors.New("--width is for --once")
			}
			if once && (notify || c.ExitOnFocus) {
				return errors.New("--once shows one frame and no more: not with --notify or --exit-on-focus")
			}
			if width < 0 {
				return fmt.Errorf("--width: no number of columns: %d", width)
			}
			var err error
			if c.Filter, err = f.wanted(); err != nil {
				return err
			}
			if c.Dir, err = fsstore.StateDir(); err != nil {
				return fail(err)
			}
			c.ASCII = !text.UTF8()
			if once {
				return monitorOnce(cmd, c, width)
			}
			if err := checkScreen(); err != nil {
				return failure{err: err, hint: "tongs-agents monitor --once and tongs-agents status print to anything"}
			}
			if !c.NoMaintain {
				c.Cleanup = func() maintain.Result { return maintain.Run(c.Dir, maintain.Options{Forced: true}) }
			}
			c.Focus = focus.Focus
			c.Resume = resumeHere
			c.Copy = func(r *fsstore.Record) string {
				if len(r.Resume) == 0 {
					return ""
				}
				return resumeCommand(r, nil)
			}
			if notify {
				c.Notify = notifyOf
			}
			debug.SetGCPercent(100) // unlike other commands it lives long
			focused, err := monitor.Run(cmd.Context(), c)
			if err == nil && focused.State == focus.Partial {
				err = printFocus(cmd.OutOrStdout(), focused, false)
			}
			return fail(err)
		},
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&c.Sidebar, "sidebar", false, "a sign, the repo and the age only, for a pane of 30 columns")
	flags.BoolVar(&c.ExitOnFocus, "exit-on-focus", false, "end once a session was focused")
	flags.BoolVar(&notify, "notify", false, "show a notification when a session comes to need you")
	flags.BoolVar(&c.NoMaintain, "no-maintain", false, "only look: remove, add and correct nothing")
	flags.BoolVar(&once, "once", false, "print one frame with all rows, and end")
	flags.IntVar(&width, "width", 0, "columns of the frame (default: the terminal's, or 80)")
	return cmd
}

// notifyOf begins to show notifications of the rows that come to need the user.
func notifyOf(warn func(error)) (rows func([]*fsstore.Annotated), end func()) {
	notifier := newNotifier(warn)
	var transitions listing.Transitions
	return func(rows []*fsstore.Annotated) {
		for _, c := range transitions.Next(rows) {
			notifier.Follow(c)
		}
	}, notifier.Close
}

// checkScreen says why a view cannot be drawn.
func checkScreen() error {
	if !term.IsTerminal(int(os.Stdout.Fd())) {
		return errors.New("standard output is not a terminal")
	}
	if t := os.Getenv("TERM"); t == "" || t == "dumb" {
		return fmt.Errorf("the terminal (TERM=%s) cannot move its cursor", text.Clean(t))
	}
	return nil
}

// monitorOnce prints one frame.
func monitorOnce(cmd *cobra.Command, c monitor.Config, width int) error {
	var maintained error
	if !c.NoMaintain {
		maintained = maintain.Run(c.Dir, maintain.Options{}).Err
	}
	l, err := readListing(cmd.ErrOrStderr())
	if err != nil {
		return err // maybe for the same reason
	}
	if maintained != nil {
		warn(cmd.ErrOrStderr(), fmt.Errorf("cleanup: %w", storeError(maintained)))
	}
	s := screenOf(cmd.OutOrStdout())
	if width == 0 {
		width = s.width
	}
	if width == 0 {
		width = 80
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), monitor.Once(c, l, time.Now(), width, s.colour))
	return fail(err)
}

// resumeHere is the command that continues a session of which no process is
// left, in its directory.
func resumeHere(r *fsstore.Record) (*exec.Cmd, error) {
	if r.Status != fsstore.Ended {
		switch answer, why := liveness.NewProcesses(proc.Root).Check(r); answer {
		case proc.Alive:
			return nil, fmt.Errorf("it lives in process %s", r.PID)
		case proc.Unknown:
			return nil, fmt.Errorf("it may still live: %s", why)
		}
	}
	switch {
	case len(r.Resume) == 0:
		return nil, errors.New("no command resumes it")
	case !filepath.IsAbs(r.Cwd):
		return nil, fmt.Errorf("directory %q has no absolute path", r.Cwd)
	}
	p, err := findProgramElsewhere(r.Resume[0])
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(p.file) {
		return nil, fmt.Errorf("%s has no absolute path", p.file)
	}
	return &exec.Cmd{Path: p.file, Args: r.Resume, Dir: r.Cwd, Env: withPWD(os.Environ(), r.Cwd)}, nil
}
