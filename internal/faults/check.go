package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// checkHook: status 0 and not a word, whatever happens.
func checkHook(t trial, r ran, ref *reference, got observation) (wrong []string) {
	if r.status != 0 || r.signal != "" {
		wrong = append(wrong, r.String())
	}
	if r.stdout != "" || r.stderr != "" {
		wrong = append(wrong, fmt.Sprintf("it printed %q and %q", r.stdout, r.stderr))
	}
	return wrong
}

// checkCLI: status 0, or 1 and why. It reports whether there is more to check:
// what was printed is not if the fault is in the printing.
func checkCLI(t trial, r ran) (wrong []string, more bool) {
	printing := t.Call.Name == "write" && (strings.HasSuffix(t.Call.Role, " stdout") || strings.HasSuffix(t.Call.Role, " stderr"))
	switch {
	case printing && t.Fault == "EPIPE" && r.signal == "SIGPIPE": // as a program in a pipe ends
		return nil, false
	case r.signal != "" || r.status > 1:
		return []string{r.String() + ": " + r.stderr}, false
	case printing:
		return nil, false
	case r.status == 0 && r.stderr != "":
		return []string{"it says " + r.stderr}, false
	case r.status == 1 && !strings.HasPrefix(r.stderr, "tongs-agents: error: "):
		return []string{fmt.Sprintf("exit status 1, but it says %q", r.stderr)}, false
	}
	return nil, true
}

// checkImport: an answer for each record, which is true.
func checkImport(t trial, r ran, ref *reference, got observation) []string {
	wrong, more := checkCLI(t, r)
	if !more || r.status == 1 && r.stdout == "" {
		return wrong
	}
	var result struct {
		Records []struct {
			Line    int
			Written bool
			Error   string
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &result); err != nil {
		return []string{fmt.Sprintf("%v in %q", err, r.stdout)}
	}
	all := true
	for _, a := range result.Records {
		session := map[int]string{1: "s", 2: "n"}[a.Line]
		want := ref.old
		if a.Written {
			want = ref.new
		}
		if all = all && a.Written; !same(got[0], want[0], session, true) {
			wrong = append(wrong, fmt.Sprintf("the answer of line %d is written %t %s, but the record is %s", a.Line, a.Written, a.Error, describe(got[0], session)))
		}
	}
	all = all && len(result.Records) == 2
	unread := strings.Contains(r.stderr, "standard input: ") // there might have been more
	if r.status == 0 && !all || r.status == 1 && all && !unread {
		wrong = append(wrong, fmt.Sprintf("%v with the answers %s", r, r.stdout))
	}
	return wrong
}

// checkNotify: done and said so, or neither.
func checkNotify(t trial, r ran, ref *reference, got observation) []string {
	wrong, more := checkCLI(t, r)
	if !more {
		return wrong
	}
	want, printed := ref.old, r.stdout == ""
	if r.status == 0 {
		want, printed = ref.new, json.Valid([]byte(r.stdout))
	}
	if !printed {
		wrong = append(wrong, fmt.Sprintf("%v, but it printed %q", r, r.stdout))
	}
	for _, d := range differences(got[:1], true, want[:1]) {
		wrong = append(wrong, fmt.Sprintf("%v, but %s", r, d))
	}
	return wrong
}

// checkCleanup: it says what it has done, and whether something failed.
func checkCleanup(t trial, r ran, ref *reference, got observation) []string {
	wrong, more := checkCLI(t, r)
	if !more {
		return wrong
	}
	type change struct {
		Session string `json:"session_id"`
	}
	var result struct {
		Removed, Added, Mended []change
		Skipped                string
	}
	if err := json.Unmarshal([]byte(r.stdout), &result); err != nil {
		return []string{fmt.Sprintf("%v in %q", err, r.stdout)}
	}
	want := map[int]string{1: "unavailable"}[r.status]
	if t.Fault == "EAGAIN" && strings.Contains(t.Call.Role, "maintenance.lock") { // somebody else holds it
		want = "busy"
	}
	if result.Skipped != want {
		wrong = append(wrong, fmt.Sprintf("%v, but skipped is %q", r, result.Skipped))
	}
	for _, c := range result.Removed {
		if s, there := got[0][c.Session]; there {
			wrong = append(wrong, fmt.Sprintf("removed %s, but it is %s", c.Session, s.Row))
		}
	}
	for _, c := range slices.Concat(result.Added, result.Mended) {
		if !same(got[0], ref.new[0], c.Session, true) {
			wrong = append(wrong, fmt.Sprintf("changed %s, but it is %s", c.Session, describe(got[0], c.Session)))
		}
	}
	return wrong
}
