package doctor

import (
	"slices"
	"testing"
)

func TestMounts(t *testing.T) {
	mounts := parseMounts(`22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
23 22 0:21 / /proc rw,nosuid shared:12 master:1 - proc proc rw,hidepid=invisible
24 22 0:40 / /home/a\040b ro - nfs4 server:/x rw,vers=4.2
25 24 0:41 / /home/a\040b rw - fuse.sshfs over rw
broken
26 22 0:42 / /homely rw - tmpfs tmpfs
`)
	if len(mounts) != 5 {
		t.Fatalf("got %+v", mounts)
	}
	for _, test := range []struct{ path, kind string }{
		{"/", "ext4"}, {"/home", "ext4"}, {"/home/a b", "fuse.sshfs"}, {"/home/a b/c", "fuse.sshfs"},
		{"/home/a bc", "ext4"}, {"/homely/x", "tmpfs"}, {"/proc/self", "proc"},
	} {
		if m, ok := mountOf(mounts, test.path); !ok || m.kind != test.kind {
			t.Errorf("%s is on %q, %v; want %s", test.path, m.kind, ok, test.kind)
		}
	}
	if m, _ := mountOf(mounts, "/proc"); m.option("hidepid") != "invisible" || !slices.Contains(m.options, "nosuid") {
		t.Errorf("%+v", m)
	}
	if _, ok := mountOf(nil, "/"); ok {
		t.Error("a mount was found in none")
	}
}

// What hidepid hides is said to be unknown.
func TestHidepid(t *testing.T) {
	h := newHome(t)
	p := h.patient()
	p.mounts = []mount{{point: "/proc", kind: "proc", options: []string{"hidepid=2"}}}
	h.wants("hidden", p.processes(), `
warn: /proc hides processes (hidepid=2): a session counts as unknown, not as over, if its process is hidden
`)
	for _, shown := range []string{"hidepid=0", "hidepid=off", "rw"} {
		p.mounts[0].options = []string{shown}
		if got := p.processes(); got[0].Level != OK {
			t.Errorf("%s: %+v", shown, got)
		}
	}
}
