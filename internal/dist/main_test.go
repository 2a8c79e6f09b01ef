package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	version = "1.2.3"
	epoch   = 1_700_000_000
)

// copySource copies the source tree, all files with one mode and time.
func copySource(t *testing.T, to string, mode os.FileMode, mtime time.Time) {
	t.Helper()
	const root = "../.."
	err := filepath.WalkDir(root, func(from string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, from)
		if err != nil {
			return err
		}
		path := filepath.Join(to, name)
		switch {
		case d.IsDir() && (d.Name() == ".git" || name == "bin" || name == "dist"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(path, 0o700)
		case !d.Type().IsRegular() || d.Name() == ".git": // a file in a worktree
			return nil
		}
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, data, mode); err != nil {
			return err
		}
		return os.Chtimes(path, mtime, mtime)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReproducible makes one archive in two trees that have only their content
// in common.
func TestReproducible(t *testing.T) {
	program := filepath.Join(t.TempDir(), "dist")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	name := "tongs-agents-" + version + "-linux-" + runtime.GOARCH
	var archives [2][]byte
	for i, v := range []struct {
		dir   string
		umask string
		mode  os.FileMode
		env   []string
	}{
		{"a", "022", 0o644, []string{"TZ=UTC", "VERSION=" + version}},
		{"another place/further down", "077", 0o600, []string{"TZ=Asia/Tokyo", "VERSION=v" + version, "GOAMD64=v2", "GOOS=plan9", "GOARCH=arm64"}},
	} {
		dir := filepath.Join(t.TempDir(), v.dir)
		copySource(t, dir, v.mode, time.Unix(int64(i+1)*1_000_000_000, 0))
		cmd := exec.Command("sh", "-c", "umask "+v.umask+` && exec "$0" "$@"`, program, "-o", "here/out", runtime.GOARCH)
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), v.env...), fmt.Sprint("SOURCE_DATE_EPOCH=", epoch))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var err error
		if archives[i], err = os.ReadFile(filepath.Join(dir, "here/out", name+".tar.gz")); err != nil {
			t.Fatal(err)
		}
		sums, err := os.ReadFile(filepath.Join(dir, "here/out/SHA256SUMS"))
		if want := fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(archives[i]), name); err != nil || string(sums) != want {
			t.Errorf("SHA256SUMS: got %q, %v; want %q", sums, err, want)
		}
		for path, data := range unpack(t, archives[i]) {
			if bytes.Contains(data, []byte(dir)) {
				t.Errorf("%s names the directory %s", path, dir)
			}
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("the archives differ")
	}
	files := unpack(t, archives[0])
	for _, want := range []string{
		"bin/tongs-agents", "bin/tongs-agents-hook",
		"share/man/man1/tongs-agents.1", "share/man/man1/tongs-agents-status.1", "share/man/man1/tongs-agents-hook.1",
		"share/bash-completion/completions/tongs-agents", "share/zsh/site-functions/_tongs-agents",
		"share/fish/vendor_completions.d/tongs-agents.fish",
		"share/systemd/user/tongs-agents-cleanup.service", "share/systemd/user/tongs-agents-cleanup.timer",
		"LICENSE", "README.md", "CHANGELOG.md", "docs/maintenance.md",
	} {
		if len(files[name+"/"+want]) == 0 {
			t.Errorf("no %s", want)
		}
	}
	if page := files[name+"/share/man/man1/tongs-agents-hook.1"]; !strings.Contains(string(page), `"2023-11-14" "tongs\-agents 1.2.3"`) {
		t.Errorf("got\n%s", page)
	}
	hook, err := elf.NewFile(bytes.NewReader(files[name+"/bin/tongs-agents-hook"]))
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 16)
	text := hook.Section(".text")
	if _, err := text.ReadAt(first, int64(hook.Entry-text.Addr)); err != nil {
		t.Fatal(err)
	}
	// Its first instruction on amd64; the runtime's own entry is a jump.
	if begin := []byte{0x48, 0x89, 0xe6}; runtime.GOARCH == "amd64" && !bytes.HasPrefix(first, begin) {
		t.Errorf("the hook begins with % x, not with main.entry", first)
	}
	shipped := filepath.Join(t.TempDir(), "tongs-agents")
	if err := os.WriteFile(shipped, files[name+"/bin/tongs-agents"], 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(shipped, "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "tongs-agents "+version+" (") {
		t.Errorf("version: %v\n%s", err, out)
	}
}

// unpack returns the files of an archive, and checks what is said of each.
func unpack(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	if zip.Name != "" || !zip.ModTime.IsZero() {
		t.Errorf("gzip: got %+v", zip.Header)
	}
	files := map[string][]byte{}
	var names []string
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		mode := int64(0o644)
		if h.Typeflag == tar.TypeDir || strings.Contains(h.Name, "/bin/") {
			mode = 0o755
		}
		if h.Mode != mode || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || h.ModTime.Unix() != epoch {
			t.Errorf("got %+v", h)
		}
		if h.Typeflag == tar.TypeReg {
			names = append(names, h.Name)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %v", names)
	}
	return files
}

func TestRelease(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	t.Setenv("GIT_AUTHOR_DATE", "@1000 +0000")
	t.Setenv("GIT_COMMITTER_DATE", "@2000 +0000")
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	t.Chdir(dir)
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	check := func(version, epoch, want string, seconds int64) {
		t.Helper()
		t.Setenv("VERSION", version)
		t.Setenv("SOURCE_DATE_EPOCH", epoch)
		r, err := currentRelease()
		switch {
		case want == "":
			if err == nil {
				t.Errorf("VERSION=%q SOURCE_DATE_EPOCH=%q: got %v", version, epoch, r)
			}
		case err != nil || r.version != want || r.time.Unix() != seconds:
			t.Errorf("VERSION=%q SOURCE_DATE_EPOCH=%q: got %v, %v; want %s, %d", version, epoch, r, err, want, seconds)
		}
	}
	check("", "1", "", 0)
	check("1.0", "", "", 0)
	check("v1.0", "1", "1.0", 1)
	check("vast", "1", "vast", 1)
	check("1.0", "yesterday", "", 0)
	check("1.0", "-1", "", 0)
	check("../1.0", "1", "", 0)
	check("1.0 -w", "1", "", 0)
	check("-w", "1", "", 0)

	git("init", "-q")
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", "file")
	git("commit", "-q", "-m", "x")
	git("tag", "v2.0.1")
	check("", "", "2.0.1", 2000)
	check("3", "", "3", 2000)
	if err := os.WriteFile("file", []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("", "", "2.0.1-dirty", 2000)
	git("tag", "-d", "v2.0.1")
	git("tag", "with/slash")
	check("", "", "", 0)
}
