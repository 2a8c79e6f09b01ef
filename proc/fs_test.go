package proc_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tongs-agents/proc"
)

func TestOwnProcess(t *testing.T) {
	pid := os.Getpid()
	st, err := proc.Root.Stat(pid)
	if err != nil || st.PID != pid || st.PPID != os.Getppid() {
		t.Errorf("Stat: got %+v, %v, want pid %d, parent %d", st, err, pid, os.Getppid())
	}
	args, err := proc.Root.Cmdline(pid)
	if err != nil || !slices.Equal(args, os.Args) {
		t.Errorf("Cmdline: got %q, %v, want %q", args, err, os.Args)
	}
	if _, err := proc.Root.Environ(pid); err != nil {
		t.Errorf("Environ: %v", err)
	}
	wantExe, _ := os.Executable()
	if exe, err := proc.Root.Exe(pid); err != nil || exe != wantExe {
		t.Errorf("Exe: got %q, %v, want %q", exe, err, wantExe)
	}
	wantCwd, _ := os.Getwd()
	if cwd, err := proc.Root.Cwd(pid); err != nil || cwd != wantCwd {
		t.Errorf("Cwd: got %q, %v, want %q", cwd, err, wantCwd)
	}
}

func TestGoneProcess(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	_, statErr := proc.Root.Stat(pid)
	_, argsErr := proc.Root.Cmdline(pid)
	_, envErr := proc.Root.Environ(pid)
	_, exeErr := proc.Root.Exe(pid)
	for _, err := range []error{statErr, argsErr, envErr, exeErr} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want fs.ErrNotExist", err)
		}
	}
}

func TestCmdlineSizes(t *testing.T) {
	for _, test := range []struct {
		name, file string
		want       []string
	}{
		{"empty", "", nil},
		{"only NUL", "\x00\x00", nil},
		{"title", "pi\x00\x00\x00\x00", []string{"pi"}},
		{"no NUL at the end", "a\x00b", []string{"a", "b"}},
		{"empty in between", "a\x00\x00b\x00", []string{"a", "", "b"}},
		{"not UTF-8", "a\xff\x00\xfe\n\x00", []string{"a\xff", "\xfe\n"}},
		{"a page", strings.Repeat("x", 4095) + "\x00", []string{strings.Repeat("x", 4095)}},
		{"more", strings.Repeat("x", 5000) + "\x00y\x00", []string{strings.Repeat("x", 5000), "y"}},
		{"too much", strings.Repeat("x", 1<<20), []string{strings.Repeat("x", 64<<10)}},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "7"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "7/cmdline"), []byte(test.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := proc.FS(dir).Cmdline(7); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: got %d arguments %.40q, %v, want %d", test.name, len(got), got, err, len(test.want))
		}
	}
}

// TestEnviron reads the environment of a process that this one started.
func TestEnviron(t *testing.T) {
	for _, test := range []struct {
		name string
		env  []string
	}{
		{"two", []string{"A=1", "B=2\n=\xff"}},
		{"none", nil},
		{"many pages", []string{"A=" + strings.Repeat("x", 100<<10), "B=2"}},
	} {
		cmd := exec.Command("/bin/cat")
		cmd.Env = append([]string{}, test.env...)
		stdin, inErr := cmd.StdinPipe()
		stdout, outErr := cmd.StdoutPipe()
		if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		// Once it answers: in the middle of execve(2) a process has no environment.
		fmt.Fprintln(stdin)
		if _, err := stdout.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if got, err := proc.Root.Environ(cmd.Process.Pid); err != nil || !slices.Equal(got, test.env) {
			t.Errorf("%s: got %.40q, %v, want %.40q", test.name, got, err, test.env)
		}
		stdin.Close()
		cmd.Wait()
	}
}

func TestEnvironTooLong(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "7"), 0o700); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]error{256<<10 - 1: nil, 256 << 10: proc.ErrFormat, 1 << 20: proc.ErrFormat} {
		if err := os.WriteFile(filepath.Join(dir, "7/environ"), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := proc.FS(dir).Environ(7); got != nil || !errors.Is(err, want) {
			t.Errorf("%d bytes: got %d variables, %v, want %v", size, len(got), err, want)
		}
	}
}

func TestHost(t *testing.T) {
	here := proc.Root.Host()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSpace(string(boot)); here.BootID != want {
		t.Errorf("BootID: got %q, want %q", here.BootID, want)
	}
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	if want := "pid:[" + here.PIDNamespace + "]"; link != want {
		t.Errorf("PIDNamespace: got %q, want %q", want, link)
	}
	want := ""
	if id, err := os.ReadFile("/etc/machine-id"); err == nil {
		name, _ := os.Hostname()
		sum := sha256.Sum256([]byte(strings.TrimSpace(string(id)) + "\n" + name))
		want = hex.EncodeToString(sum[:])
	}
	if here.MachineID != want {
		t.Errorf("MachineID: got %q, want %q", here.MachineID, want)
	}
	if got := proc.FS(t.TempDir()).Host(); got.BootID != "" || got.PIDNamespace != "" {
		t.Errorf("Host of an empty tree: got %+v, want no boot id and no namespace", got)
	}
}
