package systemd_test

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// runMake runs make in a copy of the repository, without the variables of a
// make that runs this test.
func runMake(t *testing.T, repo, home string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("make", append([]string{"-C", repo, "GO=" + repo + "/go"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// standIn takes the place of go. It builds nothing, and runs the command that
// writes pages and completions as go run does.
const standIn = `#!/bin/sh
[ "$1" != run ] || { for dir; do :; done; umask 077; exec "${0%/*}/share" "$dir"; }
`

// copyRepo makes a copy of the repository as far as make install needs it, with
// stand-ins for the programs.
func copyRepo(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("make"); err != nil {
		t.Fatal(err)
	}
	repo := t.TempDir()
	write := func(name string, data []byte) {
		path := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil { // install sets the mode
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Makefile", "systemd/tongs-agents-cleanup.service", "systemd/tongs-agents-cleanup.timer"} {
		data, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		write(name, data)
	}
	write("bin/tongs-agents", []byte("#!/bin/sh\n"))
	write("bin/tongs-agents-hook", []byte("#!/bin/sh\n"))
	write("go", []byte(standIn))
	if err := os.Chmod(repo+"/go", 0o700); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-tags", "share", "-o", repo+"/share", "../cmd/tongs-agents")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	return repo
}

// pages returns the names of the manual pages: the programs' own and one for
// each command that help lists.
func pages(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "run", "../cmd/tongs-agents", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(out), "\nAvailable Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	names := []string{"tongs-agents.1", "tongs-agents-hook.1"}
	for line := range strings.Lines(list) {
		names = append(names, "tongs-agents-"+strings.Fields(line)[0]+".1")
	}
	if len(names) < 10 {
		t.Fatalf("got %v of\n%s", names, out)
	}
	return names
}

// files returns the mode of each file below dir. All must be able to read the
// directories.
func files(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	found := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if path != dir && info.Mode().Perm()&0o755 != 0o755 {
				t.Errorf("%s: %v", path, info.Mode())
			}
		default:
			found[strings.TrimPrefix(path, dir)] = info.Mode()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestInstall(t *testing.T) {
	repo, pages := copyRepo(t), pages(t)
	tests := []struct {
		name  string
		home  string
		args  func(root string) []string
		dir   string // below root: what is in PREFIX
		units string
		exec  func(root string) string
	}{
		{
			name:  "home",
			home:  "/me",
			args:  func(root string) []string { return nil },
			dir:   "/me/.local",
			units: "/me/.local/share/systemd/user",
			exec:  func(root string) string { return root + "/me/.local/bin/tongs-agents" },
		},
		{
			name:  "prefix",
			args:  func(root string) []string { return []string{"PREFIX=" + root + "/a  50% of &|$$c; {d}"} },
			dir:   "/a  50% of &|$c; {d}",
			units: "/a  50% of &|$c; {d}/share/systemd/user",
			exec:  func(root string) string { return root + "/a  50%% of &|$c; {d}/bin/tongs-agents" },
		},
		{
			name: "package",
			args: func(root string) []string {
				return []string{"DESTDIR=" + root + "/st age", "PREFIX=/usr", "UNITDIR=/usr/lib/systemd/user"}
			},
			dir:   "/st age/usr",
			units: "/st age/usr/lib/systemd/user",
			exec:  func(root string) string { return "/usr/bin/tongs-agents" },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			home := root + test.home
			if out, err := runMake(t, repo, home, append(test.args(root), "install")...); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			want := map[string]fs.FileMode{
				test.dir + "/bin/tongs-agents":                                  0o755,
				test.dir + "/bin/tongs-agents-hook":                             0o755,
				test.dir + "/share/bash-completion/completions/tongs-agents":    0o644,
				test.dir + "/share/zsh/site-functions/_tongs-agents":            0o644,
				test.dir + "/share/fish/vendor_completions.d/tongs-agents.fish": 0o644,
				test.units + "/tongs-agents-cleanup.service":                    0o644,
				test.units + "/tongs-agents-cleanup.timer":                      0o644,
			}
			for _, page := range pages {
				want[test.dir+"/share/man/man1/"+page] = 0o644
			}
			if got := files(t, root); !maps.Equal(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
			unit, err := os.ReadFile(root + test.units + "/tongs-agents-cleanup.service")
			if err != nil {
				t.Fatal(err)
			}
			line := "\nExecStart=\"" + test.exec(root) + "\" cleanup\n"
			if strings.Count(string(unit), "ExecStart=") != 1 || !strings.Contains(string(unit), line) {
				t.Errorf("no%sin\n%s", line, unit)
			}
			if out, err := runMake(t, repo, home, append(test.args(root), "uninstall")...); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := files(t, root); len(got) > 0 {
				t.Errorf("uninstall leaves %v", got)
			}
		})
	}
}

// systemd takes no such path for a program.
func TestInstallRefuses(t *testing.T) {
	repo := copyRepo(t)
	for _, prefix := range []string{"", "here", "~/.local", `/a"b`, "/a'b", `/a\b`} {
		stage := t.TempDir()
		if out, err := runMake(t, repo, stage, "DESTDIR="+stage, "PREFIX="+prefix, "install"); err == nil {
			t.Errorf("PREFIX=%s: %s", prefix, out)
		}
		if got := files(t, stage); len(got) > 0 {
			t.Errorf("PREFIX=%s: got %v", prefix, got)
		}
	}
}

// Each of these needs a user namespace, where the kernel does not let the
// cleanup read /proc/PID/exe of processes outside, or a capability that a user
// manager has not, so that the service does not start. Some versions of systemd
// ignore some of them.
func TestNoNamespace(t *testing.T) {
	unit, err := os.ReadFile("tongs-agents-cleanup.service")
	if err != nil {
		t.Fatal(err)
	}
	namespace := regexp.MustCompile(`(?m)^(Private|Protect|ProcSubset|Root|Mount|Bind|TemporaryFileSystem|DynamicUser|\w+Paths|` +
		`CapabilityBoundingSet|User|Group).*`)
	if found := namespace.FindAllString(string(unit), -1); found != nil {
		t.Errorf("got %q", found)
	}
}
