//go:build !(386 || arm)

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// shell is one into which a command can be pasted.
type shell struct {
	name  string
	argv  []string
	octal bool // it knows $'\ooo', by which a command has what no terminal shows
}

// allShells are tried if they are there; bash and dash have to be. An interactive
// one has more that a text could hit: history, aliases, jobs.
var allShells = []shell{
	{name: "bash", argv: []string{"bash", "--norc", "-i"}, octal: true},
	{name: "bash, posix", argv: []string{"bash", "--norc", "--posix", "-i"}, octal: true},
	{name: "dash", argv: []string{"dash", "-i"}},
	{name: "zsh", argv: []string{"zsh", "-f", "-i"}, octal: true},
	{name: "fish", argv: []string{"fish", "--no-config", "-i"}},
	{name: "mksh", argv: []string{"mksh", "-i"}, octal: true},
	{name: "busybox sh", argv: []string{"busybox", "sh", "-i"}, octal: true},
	{name: "yash", argv: []string{"yash", "--norc", "-i"}},
}

func findShells() []shell {
	return slices.DeleteFunc(slices.Clone(allShells), func(s shell) bool {
		_, err := exec.LookPath(s.argv[0])
		return err != nil
	})
}

// A spy is this program under the name of an agent: it notes how it was called.
const envSpy = "HOSTILE_SPY"

// call is what a spy notes.
type call struct {
	Argv []string
	Cwd  string
}

// spy notes how this process was called, a line for each.
func spy(file string) error {
	cwd, err := os.Readlink("/proc/self/cwd")
	if err != nil {
		return err
	}
	text, err := json.Marshal(call{os.Args, cwd})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

func (w *world) spies() string { return filepath.Join(w.dir, "spies") }

// newSpies makes a directory for PATH in which agents are spies.
func (w *world) newSpies() error {
	if err := os.Mkdir(w.spies(), 0o755); err != nil {
		return err
	}
	return w.newSpy(agentName)
}

func (w *world) newSpy(name string) error {
	err := os.Symlink(filepath.Join(w.dir, agentName), filepath.Join(w.spies(), name))
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// spied runs a command and returns the calls of spies in it.
func (t *trial) spied(c command) (ran, []call, error) {
	file := filepath.Join(t.dir, "calls")
	c.env = append(c.env, envSpy+"="+file, "PATH="+t.spies()+":"+t.bin+":/usr/bin:/bin", "HISTFILE=", "PS1=", "PS2=")
	r, err := t.run(t.state, c)
	if err != nil {
		return r, nil, err
	}
	noted, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return r, nil, err
	}
	os.Remove(file)
	var calls []call
	for line := range strings.Lines(string(noted)) {
		var c call
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			return r, nil, err
		}
		calls = append(calls, c)
	}
	return r, calls, nil
}

// tryPaste pastes the commands that resumable prints into every shell. Exactly
// the session's command runs, in its directory. A shell without $'…' may get a
// word wrong, and then runs the command with that or none at all.
func tryPaste(t *trial) error {
	r, err := t.out(cli("resumable"))
	if err != nil {
		return err
	}
	lines := strings.Split(r.stdout, "\n")
	pasted := 0
	for _, record := range t.cutOffs {
		there := os.MkdirAll(record.Cwd, 0o755) == nil
		if err := t.newSpy(record.Resume[0]); err != nil {
			return err
		}
		i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "    cd ") })
		if i < 0 {
			t.check(false, "resumable has no command for %q: %q", record.Session, r.stdout)
			continue
		}
		command := strings.TrimSpace(lines[i])
		lines = lines[i+1:]
		for _, shell := range t.stage.shells {
			r, calls, err := t.spied(paste(shell, command))
			if err != nil {
				return err
			}
			pasted++
			t.check(!r.late, "%s: pasted %q, it does not end", shell.name, command)
			known := shell.octal || !strings.Contains(command, "$'")
			what := fmt.Sprintf("%s: pasted %q, the calls are %q, want %q in %q; %v", shell.name, command, calls, record.Resume, record.Cwd, r)
			switch {
			case !there:
				t.check(len(calls) == 0, "%s", what)
			case known:
				t.check(len(calls) == 1 && slices.Equal(calls[0].Argv, record.Resume) && sameFile(calls[0].Cwd, record.Cwd), "%s", what)
			default:
				t.check(len(calls) == 0 || len(calls) == 1 && len(calls[0].Argv) == len(record.Resume), "%s", what)
			}
			t.unharmed()
		}
	}
	t.check(pasted == len(t.cutOffs)*len(t.stage.shells), "%d commands were pasted", pasted)
	return nil
}

func paste(s shell, pasted string) command {
	return command{argv: s.argv, input: pasted + "\n"}
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// tryResume: resume runs what the record says, and nothing where it cannot.
func tryResume(t *trial) error {
	for _, record := range t.cutOffs {
		there := sameFile(record.Cwd, record.Cwd)
		r, calls, err := t.spied(cli("resume", record.Session))
		if err != nil {
			return err
		}
		if there {
			t.check(len(calls) == 1 && slices.Equal(calls[0].Argv, record.Resume) && sameFile(calls[0].Cwd, record.Cwd),
				"the calls are %q, want %q in %q; %v", calls, record.Resume, record.Cwd, r)
			continue
		}
		t.check(len(calls) == 0 && r.status == 1, "the calls are %q where there is no directory; %v", calls, r)
		t.check(acts(r.stderr, false) == "" && strings.Count(r.stderr, "tongs-agents: ") == strings.Count(r.stderr, "\n"), "prints %s on standard error: %q", acts(r.stderr, false), r.stderr)
	}
	return nil
}

// shellWords are what bash takes for its words.
func (t *trial) shellWords(words []string) ([]string, error) {
	r, err := t.run(t.state, command{argv: []string{"bash", "--norc"}, input: `printf '%s\0' ` + strings.Join(words, " ") + "\n"})
	if err == nil && r.status != 0 {
		err = fmt.Errorf("bash: %v", r)
	}
	return strings.Split(strings.TrimSuffix(r.stdout, "\x00"), "\x00"), err
}

// tryCompletion: what the shell is offered is a word to it, and nothing of it is
// run, neither while it completes nor when the line is.
func tryCompletion(t *trial) error {
	r, err := t.out(cli("__complete", "show", ""))
	if err != nil {
		return err
	}
	t.check(acts(strings.ReplaceAll(r.stdout, "\t", ""), false) == "", "prints %s: %q", acts(strings.ReplaceAll(r.stdout, "\t", ""), false), r.stdout)
	got := strings.Count(r.stdout, "\n")
	t.check(got == len(t.sessions)+1, "%d lines, want %d: %q", got, len(t.sessions)+1, r.stdout)

	// bash-completion, which splits the line, need not be there for this.
	const complete = `source <(tongs-agents completion bash)
_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
__ltrim_colon_completions() { :; }
compopt() { :; }
COMP_WORDS=(tongs-agents show "$1") COMP_CWORD=2 COMP_LINE="tongs-agents show $1" COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9
__start_tongs-agents
tongs-agents() { printf '%s\0' "$#"; }
((${#COMPREPLY[@]} == 1)) && eval "tongs-agents show $COMPREPLY" || printf '%s\0' "${COMPREPLY[@]}"
`
	session := ""
	for name, harness := range t.sessions {
		if harness == "claude" && !strings.HasPrefix(name, t.cutOff) {
			session = name
		}
	}
	for _, begun := range []string{"", "impor", cut(session, 3), `\$`} {
		r, err := t.out(command{argv: []string{"bash", "--norc", "-c", complete, "bash", begun}})
		if err != nil {
			return err
		}
		words := strings.Split(strings.TrimSuffix(r.stdout, "\x00"), "\x00")
		switch {
		case begun == "":
			t.check(len(words) >= len(t.sessions)-1, "bash is offered %d words, want %d: %q", len(words), len(t.sessions), words)
		case begun == "impor":
			t.check(len(words) == 1 && words[0] == "2", "bash completes %q to %q", begun, words)
		case len(words) == 1 && words[0] != "":
			t.check(words[0] == "2", "bash completes %q to %s words", begun, words[0])
		}
	}
	return nil
}
