package doctor

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/fsstore"
)

func TestPlace(t *testing.T) {
	h := newHome(t)
	h.vars["TONGS_AGENTS_STATE_DIR"] = h.path("state")
	h.wants("missing", h.patient().place(), "ok: ~/state (by TONGS_AGENTS_STATE_DIR) is not there yet: the first session makes it\n")

	h.put(record("s"))
	p := h.patient()
	p.mounts = []mount{{point: "/", kind: "ext4"}}
	delete(h.vars, "TONGS_AGENTS_STATE_DIR")
	const fine = "ok: ~/state (by the password file), on ext4\n"
	h.wants("fine", p.place(), fine)

	h.chmod("state/sessions", 0o755)
	h.wants("wide", p.place(), fine+`warn: ~/state/sessions has mode 0755: others may enter
  chmod 700 ~/state/sessions
`)
	h.chmod("state/sessions", 0o500)
	h.wants("not writable", p.place(), `error: ~/state/sessions has mode 0500: it cannot be used
  chmod 700 ~/state/sessions
`)
	h.chmod("state/sessions", 0o700)
	h.rename("state", "real")
	if err := os.Symlink("real", h.path("state")); err != nil {
		t.Fatal(err)
	}
	h.wants("link", h.patient().place(), `error: ~/state is a symbolic link or no directory, which is refused
  mv ~/state ~/state.old
`)
}

func TestForeignPlace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	h := newHome(t)
	h.put(record("s"))
	if err := os.Chown(h.path("state"), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	h.wants("foreign", h.patient().place(), `error: ~/state belongs to uid 65534, which is refused
  sudo chown -R 0 ~/state
`)
}

func (h *home) chmod(name string, mode os.FileMode) {
	h.t.Helper()
	if err := os.Chmod(h.path(name), mode); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) rename(from, to string) {
	h.t.Helper()
	if err := os.Rename(h.path(from), h.path(to)); err != nil {
		h.t.Fatal(err)
	}
}

func TestRoom(t *testing.T) {
	h := newHome(t)
	const plenty = 1 << 20
	for _, test := range []struct {
		name string
		st   unix.Statfs_t
		want string
	}{
		{"plenty", unix.Statfs_t{Bsize: 4096, Blocks: plenty, Bavail: plenty, Files: plenty, Ffree: plenty}, ""},
		{"uncounted", unix.Statfs_t{Bsize: 4096}, ""},
		{"nearly full", unix.Statfs_t{Bsize: 4096, Blocks: plenty, Bavail: 512, Files: plenty, Ffree: 7},
			"warn: /s is on a file system that is nearly full: 2 MiB are free\n  df -h /s\n" +
				"warn: /s is on a file system with few free inodes: 7\n  df -i /s\n"},
		{"full", unix.Statfs_t{Bsize: 4096, Blocks: plenty, Files: plenty},
			"error: /s is on a full file system\n  df -h /s\nerror: /s is on a file system without free inodes\n  df -i /s\n"},
		{"read-only", unix.Statfs_t{Flags: unix.ST_RDONLY},
			"error: /s is on a file system that is mounted read-only\n  findmnt -T /s\n"},
	} {
		h.wants(test.name, room("/s", &test.st), test.want)
	}
}

func TestOverNetwork(t *testing.T) {
	h := newHome(t)
	h.wants("locks elsewhere", []Finding{overNetwork("/s", "nfs4", "/run/user/1/tongs-agents")},
		"warn: /s is on nfs4: locks are in /run/user/1/tongs-agents, so that only writes of this machine are ordered\n")
	h.wants("no locks", []Finding{overNetwork("/s", "nfs4", "")},
		"warn: /s is on nfs4, and there is no run-time directory for locks: of events that arrive at once some may be lost\n  loginctl enable-linger\n")
}

func TestRecords(t *testing.T) {
	h := newHome(t)
	if got := h.patient().records(); got != nil {
		t.Errorf("without a store: %+v", got)
	}
	h.put(record("here"))
	h.wants("one", h.patient().records(), "ok: 1 record\n")

	elsewhere, sandboxed := record("elsewhere"), record("sandboxed")
	elsewhere.BootID, elsewhere.MachineID = "another", strings.Repeat("0", 64)
	sandboxed.PIDNamespace = "1"
	h.put(elsewhere)
	h.put(sandboxed)
	h.write("state/sessions/old.json", `{"agent": "claude", "session_id": "old", "status": "idle", "ts": 1}`, 0o600)
	h.write("state/sessions/a b.json", `{"schema_version": 1`, 0o600)
	h.write("state/sessions/.fleet-tmp-1-x-1.tmp", "", 0o600)
	h.write("state/launches/"+strings.Repeat("0", 32)+".json", "{", 0o600)
	h.write("state/resumable/"+strings.Repeat("0", 64)+".json", `{"schema_version": 2}`, 0o600)
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(h.path("state/sessions/.fleet-tmp-1-x-1.tmp"), past, past); err != nil {
		t.Fatal(err)
	}
	got := h.lines(h.patient().records())
	for _, want := range []string{
		"ok: 4 records; 1 legacy; 1 of another machine, whose processes cannot be looked at from here; " +
			"1 of another container or sandbox, whose processes cannot be looked at from here\n",
		"warn: ~/state/sessions/a b.json is no record: invalid record: ",
		"\n  rm -r '~/state/sessions/a b.json'\n",
		"warn: ~/state/resumable/" + strings.Repeat("0", 64) + ".json: invalid record: schema_version is newer than this program\n  make install\n",
		"warn: ~/state/launches/" + strings.Repeat("0", 32) + ".json is no launch: ",
		"warn: 1 temporary file left by writers that were killed\n  ~/bin/tongs-agents cleanup\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// Of many bad files, some are named.
func TestManyUnreadable(t *testing.T) {
	var files []fsstore.Unreadable
	for _, name := range []string{"e", "d", "c", "b", "a"} {
		files = append(files, fsstore.Unreadable{Name: name, Err: fsstore.ErrInvalid})
	}
	h := newHome(t)
	h.wants("five", unreadable("/s", "record", files), `
warn: /s/a is no record: invalid record
  rm -r /s/a
warn: /s/b is no record: invalid record
  rm -r /s/b
warn: /s/c is no record: invalid record
  rm -r /s/c
warn: 2 more files are no record
`)
}

func TestErrors(t *testing.T) {
	h := newHome(t)
	h.wants("no store", h.patient().errors(), "ok: no hook has failed\n")
	h.put(record("s"))
	note := func(ago time.Duration) {
		if err := fsstore.NoteHookError(h.path("state"), "disk full", time.Now().Add(-ago).Unix()); err != nil {
			t.Fatal(err)
		}
	}
	note(26 * time.Hour)
	if got := h.lines(h.patient().errors()); !strings.HasPrefix(got, "ok: hooks have failed 1 times, the last one 1d2h ago") {
		t.Error(got)
	}
	note(time.Hour)
	if got := h.lines(h.patient().errors()); !strings.HasPrefix(got, "warn: hooks have failed 2 times, the last one 1h0m") ||
		!strings.HasSuffix(got, " ago: disk full\n  rm ~/state/hook-errors\n") {
		t.Error(got)
	}
	h.write("state/hook-errors", "{", 0o600)
	if got := h.lines(h.patient().errors()); !strings.HasPrefix(got, "warn: ~/state/hook-errors: invalid record") {
		t.Error(got)
	}
}
