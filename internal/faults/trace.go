package main

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// event is one system call of a trace, or the end of a thread.
type event struct {
	pid    int
	name   string // empty: the end
	args   string // as strace prints them, up to where it was interrupted
	result string // after the "=": empty if the call did not return
	line   string
}

// injected reports whether strace made the call fail.
func (e event) injected() bool { return strings.HasSuffix(e.result, "(INJECTED)") }

var (
	traceCall    = regexp.MustCompile(`^(\w+|\?+)\((.*?)(?: <unfinished \.\.\.>|\)\s+= (.*))$`)
	traceResumed = regexp.MustCompile(`^<\.\.\. (\w+) resumed>.*?\)\s+= (.*)$`)
	traceEnd     = regexp.MustCompile(`^\+\+\+ (.*) \+\+\+$`)
)

// parseTrace reads what strace -f -o writes:
//
//	4738  openat(AT_FDCWD</src>, "/proc/self/stat", O_RDONLY) = 3</proc/4738/stat>
//	4738  read(3</proc/4738/stat>,  <unfinished ...>
//	4738  <... read resumed>""..., 1024) = 316
//	4738  renameat(4</s>, "a", 4</s>, "b") = -1 EIO (Input/output error) (INJECTED)
//	4738  flock(5</s/l>, LOCK_EX) = ?
//	4738  +++ killed by SIGKILL +++
//
// Lines about signals are left out.
func parseTrace(text string) ([]event, error) {
	var events []event
	open := map[int]int{} // by pid, the index of a call that has not returned
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		number, rest, _ := strings.Cut(line, " ")
		pid, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("strace printed %q", line)
		}
		rest = strings.TrimLeft(rest, " ")
		if m := traceResumed.FindStringSubmatch(rest); m != nil {
			if i, ok := open[pid]; ok {
				events[i].result = result(m[2])
				events[i].line += " " + rest
				delete(open, pid)
			}
			continue
		}
		if m := traceEnd.FindStringSubmatch(rest); m != nil {
			events = append(events, event{pid: pid, result: m[1], line: line})
			continue
		}
		m := traceCall.FindStringSubmatch(rest)
		switch {
		case m != nil && m[1][0] == '?': // ended before strace could read which call it was
		case m != nil:
			if strings.HasSuffix(rest, "<unfinished ...>") {
				open[pid] = len(events)
			}
			events = append(events, event{pid, m[1], m[2], result(m[3]), line})
		case strings.HasPrefix(rest, "---"), strings.HasPrefix(rest, "<..."):
		default:
			return nil, fmt.Errorf("strace printed %q", line)
		}
	}
	return events, nil
}

// result is empty for a call that the end of its process interrupted.
func result(text string) string {
	if text == "?" || strings.HasPrefix(text, "? <") {
		return ""
	}
	return text
}

// mainThread keeps the events of the thread that the trace begins with.
func mainThread(events []event) []event {
	var of []event
	for _, e := range events {
		if e.pid == events[0].pid {
			of = append(of, e)
		}
	}
	return of
}

// end is the exit status of the process whose events those of the main thread
// are, or the signal that killed it.
func end(main []event) (status int, signal string, ok bool) {
	if len(main) == 0 || main[len(main)-1].name != "" {
		return 0, "", false
	}
	text := main[len(main)-1].result
	if n, found := strings.CutPrefix(text, "exited with "); found {
		status, err := strconv.Atoi(n)
		return status, "", err == nil
	}
	if s, found := strings.CutPrefix(text, "killed by "); found {
		signal, _, _ = strings.Cut(s, " ") // "SIGSEGV (core dumped)"
		return 0, signal, true
	}
	return 0, "", false
}

// Call is a system call of a run.
type Call struct {
	Name    string
	N       int    // 1 for the first of its name in its thread, as strace counts
	Role    string // what it works on: the same in every run and every world
	Nth     int    // 1 for the first of its role
	Runtime bool   // of the Go runtime, and no program can do a thing about it
}

func (c Call) String() string { return c.Role }

// roles says what calls work on, with the paths and numbers of one world taken
// out. A new one needs the places: pairs of a path and what stands for it.
type roles struct {
	places  *strings.Replacer
	digests map[string]string // the sessions by the digests in the names of files
}

var (
	argFD      = regexp.MustCompile(`(?:\b\d+|AT_FDCWD)<([^>]*)>(?:, "((?:[^"\\]|\\.)*)")?`)
	argPath    = regexp.MustCompile(`^"((?:[^"\\]|\\.)*)"`)
	argFlag    = regexp.MustCompile(`\b(?:O_CREAT|O_EXCL|O_DIRECTORY|LOCK_\w+|F_\w+|TCGETS|AT_REMOVEDIR)\b`)
	roleDigest = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	roleTemp   = regexp.MustCompile(`\.fleet-tmp-[0-9a-z-]+\.tmp`)
	roleProc   = regexp.MustCompile(`/proc/\d+\b`)
	rolePipe   = regexp.MustCompile(`(pipe|socket|anon_inode):\[?\w*\]?`)
)

// calls describes the calls of one thread.
func (r *roles) calls(events []event) []Call {
	names, roles := map[string]int{}, map[string]int{}
	var calls []Call
	for _, e := range events {
		if e.name == "" {
			continue
		}
		role := r.role(e)
		names[e.name]++
		roles[role]++
		calls = append(calls, Call{e.name, names[e.name], role, roles[role], isRuntime(e.name, role)})
	}
	return calls
}

// role is the name of a call with the files that it works on, and the flags
// that decide which errors it can give.
func (r *roles) role(e event) string {
	b := []string{e.name}
	takesPath := pathCalls[e.name]
	if m := argPath.FindStringSubmatch(e.args); m != nil && takesPath {
		b = append(b, m[1])
	}
	for _, m := range argFD.FindAllStringSubmatch(e.args, -1) {
		file := m[1]
		if name := m[2]; takesPath && name != "" {
			if path.IsAbs(name) {
				file = name
			} else {
				file = path.Join(file, name)
			}
		}
		b = append(b, file)
	}
	if n, _, ok := strings.Cut(e.args, "<"); ok && !takesPath && (n == "0" || n == "1" || n == "2") {
		b = []string{e.name, [...]string{"stdin", "stdout", "stderr"}[n[0]-'0']}
	}
	b = append(b, argFlag.FindAllString(e.args, -1)...)
	role := r.places.Replace(strings.Join(b, " "))
	role = roleTemp.ReplaceAllString(role, "TEMP")
	role = roleProc.ReplaceAllString(role, "/proc/N")
	role = rolePipe.ReplaceAllString(role, "$1")
	return roleDigest.ReplaceAllStringFunc(role, func(digest string) string {
		return cmp.Or(r.digests[digest], "DIGEST")
	})
}
