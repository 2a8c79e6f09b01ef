package main

import (
	"strings"
	"testing"
)

const digest = "51966870c53e73d8ffb6ba1cd7bbac08d25a4352a34c0fd7bf9d67cf2b3c14a3"

func TestParseTrace(t *testing.T) {
	events, err := parseTrace(`10  openat(AT_FDCWD</src>, "/proc/self/stat", O_RDONLY) = 3</proc/10/stat>
10  read(3</proc/10/stat>,  <unfinished ...>
11  gettid()          = 11
10  --- SIGURG {si_signo=SIGURG, si_code=SI_TKILL} ---
10  <... read resumed>""..., 1024) = 316
11  ???( <unfinished ...>
11  futex(0x1, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>
10  renameat(4</s>, "a", 4</s>, "b") = -1 EIO (Input/output error) (INJECTED)
10  flock(5</s/l>, LOCK_EX) = ?
11  <... futex resumed>) = ? <unavailable>
11  +++ exited with 0 +++
10  +++ killed by SIGSEGV (core dumped) +++
`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		line := strings.Join([]string{e.name, e.result}, " = ")
		if e.injected() {
			line += " !"
		}
		got = append(got, line)
	}
	const want = "openat = 3</proc/10/stat>, read = 316, gettid = 11, futex = , renameat = -1 EIO (Input/output error) (INJECTED) !, " +
		"flock = ,  = exited with 0,  = killed by SIGSEGV (core dumped)"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	main := mainThread(events)
	if len(main) != 5 {
		t.Errorf("%d events of the main thread, want 5", len(main))
	}
	if status, signal, ok := end(main); status != 0 || signal != "SIGSEGV" || !ok {
		t.Errorf("end: got %d, %q, %t", status, signal, ok)
	}
	if _, _, ok := end(main[:4]); ok {
		t.Error("a trace without an end has one")
	}
	for _, bad := range []string{"strace: not found\n", "10  something else\n"} {
		if events, err := parseTrace(bad); err == nil {
			t.Errorf("%q: got %v", bad, events)
		}
	}
}

func TestRoles(t *testing.T) {
	r := &roles{strings.NewReplacer("/t/world-1/state", "STATE", "/t/world-1", "WORLD"), map[string]string{digest: "(s)"}}
	const sessions = "4</t/world-1/state/sessions>"
	for line, want := range map[string]string{
		`openat(` + sessions + `, ".fleet-v1-` + digest + `.lock", O_RDWR|O_CREAT|O_NOFOLLOW, 0600) = 5`:      "openat STATE/sessions/.fleet-v1-(s).lock O_CREAT",
		`openat(AT_FDCWD</t/world-1>, "/proc/4711/stat", O_RDONLY) = 3`:                                       "openat /proc/N/stat",
		`newfstatat(3</proc>, "4711", {st_mode=S_IFDIR}, AT_SYMLINK_NOFOLLOW) = 0`:                            "newfstatat /proc/N",
		`flock(5</t/world-1/state/sessions/a.lock>, LOCK_EX|LOCK_NB) = 0`:                                     "flock STATE/sessions/a.lock LOCK_EX LOCK_NB",
		`renameat(` + sessions + `, ".fleet-tmp-12-ab1-1.tmp", ` + sessions + `, "b") = 0`:                    "renameat STATE/sessions/TEMP STATE/sessions/b",
		`write(1<pipe:[4303596]>, ""..., 5) = 5`:                                                              "write stdout",
		`read(0</dev/null>, ""..., 5) = 0`:                                                                    "read stdin",
		`exit_group(0) = ?`:                                                                                   "exit_group",
		`getppid() = 5`:                                                                                       "getppid",
		`openat(` + sessions + `, "fleet-v1-` + strings.Repeat("a", 64) + `.json", O_RDONLY) = -1 ENOENT (x)`: "openat STATE/sessions/fleet-v1-DIGEST.json",
	} {
		events, err := parseTrace("9  " + line + "\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := r.role(events[0]); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestCalls(t *testing.T) {
	events, err := parseTrace(`9  close(3</a>) = 0
9  read(3</b>, ""..., 1) = 0
9  close(3</b>) = 0
9  close(3</a>) = 0
9  +++ exited with 0 +++
`)
	if err != nil {
		t.Fatal(err)
	}
	r := &roles{strings.NewReplacer(), nil}
	want := []Call{
		{"close", 1, "close /a", 1, false}, {"read", 1, "read /b", 1, false},
		{"close", 2, "close /b", 1, false}, {"close", 3, "close /a", 2, false},
	}
	got := r.calls(events)
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}
