package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestPlan(t *testing.T) {
	call := func(name, role string, runtime bool) Call { return Call{Name: name, Role: role, Runtime: runtime} }
	for _, tt := range []struct {
		name  string
		calls []Call
		want  string
	}{
		{"ours", []Call{call("fchmod", "fchmod /a", false)},
			"fchmod /a: SIGKILL, fchmod /a: EINTR, fchmod /a: EIO, fchmod /a: EPERM, fchmod /a: EROFS"},
		{"without errors", []Call{call("getppid", "getppid", false)}, "getppid: SIGKILL"},
		{"the first and the last of the runtime's", []Call{
			call("rt_sigaction", "a", true), call("rt_sigaction", "b", true), call("rt_sigaction", "c", true),
		}, "a: SIGKILL, c: SIGKILL"},
		{"all of ours", []Call{call("getpid", "a", false), call("getpid", "b", false), call("getpid", "c", false)},
			"a: SIGKILL, b: SIGKILL, c: SIGKILL"},
		{"execve", []Call{call("execve", "execve", true)}, ""},
	} {
		trials, err := plan(tt.calls)
		var got []string
		for _, trial := range trials {
			got = append(got, fmt.Sprint(trial))
		}
		if s := strings.Join(got, ", "); s != tt.want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", tt.name, s, err, tt.want)
		}
	}
	if _, err := plan([]Call{call("io_uring_enter", "io_uring_enter", false)}); err == nil {
		t.Error("a call that no table knows has a plan")
	}
}

func TestFaultsOf(t *testing.T) {
	for role, want := range map[string]string{
		"openat STATE/a":         "",
		"openat STATE/a O_CREAT": "ENOSPC",
		"read STATE/std":         "",
		"read stdin":             "EAGAIN",
		"write stdout":           "EAGAIN",
		"read /proc/stat":        "",
	} {
		name, _, _ := strings.Cut(role, " ")
		faults, err := faultsOf(Call{Name: name, Role: role})
		got := ""
		for _, errno := range []string{"ENOSPC", "EAGAIN"} {
			if slices.Contains(faults, errno) && (name != "write" || errno != "ENOSPC") {
				got = errno
			}
		}
		if got != want || err != nil || faults[0] != kill {
			t.Errorf("%s: got %q, %v", role, faults, err)
		}
	}
}
