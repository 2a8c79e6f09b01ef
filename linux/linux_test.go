package linux

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// With this variable set the test binary ignores some signals, sends them to
// itself and says that it is still there.
const ignoreEnv = "LINUX_TEST_IGNORE"

// With this one it closes its standard input and says what came of it.
const closeEnv = "LINUX_TEST_CLOSE"

func TestMain(m *testing.M) {
	if os.Getenv(ignoreEnv) != "" {
		Ignore(unix.SIGPIPE, unix.SIGHUP, unix.SIGXFSZ)
		for _, sig := range []unix.Signal{unix.SIGPIPE, unix.SIGHUP, unix.SIGXFSZ} {
			unix.Kill(unix.Getpid(), sig)
		}
		fmt.Print("alive")
		return
	}
	if os.Getenv(closeEnv) != "" {
		fmt.Print(Stdin.Close())
		return
	}
	os.Exit(m.Run())
}

func openDir(t *testing.T, path string) FD {
	t.Helper()
	dir, err := Openat(CWD, path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

func TestOpenat(t *testing.T) {
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	if err := os.WriteFile(filepath.Join(tmp, "file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", filepath.Join(tmp, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".", filepath.Join(tmp, "dirlink")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(tmp, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		flags int
		want  error
	}{
		{"file", unix.O_RDONLY, nil},
		{"dirlink/file", unix.O_RDONLY, nil}, // a link that is not the last component
		{"link", unix.O_RDONLY, unix.ELOOP},
		{"link", unix.O_RDWR | unix.O_CREAT, unix.ELOOP},
		{"link", unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL, fs.ErrExist},
		{"dirlink", unix.O_RDONLY | unix.O_DIRECTORY, unix.ENOTDIR},
		{"fifo", unix.O_RDONLY, nil}, // has no writer, and does not wait for one
		{"fifo", unix.O_WRONLY, unix.ENXIO},
		{"missing", unix.O_RDONLY, fs.ErrNotExist},
		{"file", unix.O_RDONLY | unix.O_DIRECTORY, unix.ENOTDIR},
	} {
		fd, err := Openat(dir, test.name, test.flags, 0)
		if !errors.Is(err, test.want) {
			t.Errorf("%s, flags %#x: got %v, want %v", test.name, test.flags, err, test.want)
		}
		if err != nil {
			if fd != -1 {
				t.Errorf("%s, flags %#x: got descriptor %d with an error", test.name, test.flags, fd)
			}
			var pathError *fs.PathError
			if !errors.As(err, &pathError) || pathError.Path != test.name || pathError.Op != "openat" {
				t.Errorf("%s, flags %#x: got %#v, want a *fs.PathError", test.name, test.flags, err)
			}
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("%s: descriptor flags %#x, %v, want FD_CLOEXEC", test.name, flags, err)
		}
		if err := fd.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReadWrite(t *testing.T) {
	dir := openDir(t, t.TempDir())
	text := bytes.Repeat([]byte("0123456789"), 1000)
	fd, err := Openat(dir, "file", unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := fd.WriteAll(text); err != nil {
		t.Fatal(err)
	}
	if err := fd.WriteAll(nil); err != nil {
		t.Errorf("of nothing: %v", err)
	}
	fd.Close()
	fd, err = Openat(dir, "file", unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer fd.Close()
	var got []byte
	for {
		buf := make([]byte, 4096)
		n, err := fd.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		got = append(got, buf[:n]...)
	}
	if !bytes.Equal(got, text) {
		t.Errorf("read %d bytes, want the %d that were written", len(got), len(text))
	}
	for offset, want := range map[int64]string{0: "0123456", 9995: "56789", 10000: "", 20000: ""} {
		buf := make([]byte, 7)
		if n, err := fd.Pread(buf, offset); err != nil || string(buf[:n]) != want {
			t.Errorf("at %d: got %q, %v, want %q", offset, buf[:n], err, want)
		}
	}
	if err := fd.WriteAll(text); !errors.Is(err, unix.EBADF) {
		t.Errorf("write to a descriptor for reading: got %v, want EBADF", err)
	}
}

// TestWriteAll writes to a pipe that takes only a part in each call.
func TestWriteAll(t *testing.T) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	r, w := FD(p[0]), FD(p[1])
	defer r.Close()
	text := bytes.Repeat([]byte("0123456789"), 100<<10)
	wrote := make(chan error)
	go func() {
		err := w.WriteAll(text)
		w.Close()
		wrote <- err
	}()
	var got []byte
	buf := make([]byte, 10<<10)
	for {
		n, err := r.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		got = append(got, buf[:n]...)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	if !bytes.Equal(got, text) {
		t.Errorf("read %d bytes, want the %d that were written", len(got), len(text))
	}
}

// TestClosed: every call on a descriptor says what failed.
func TestClosed(t *testing.T) {
	fd := FD(-1)
	for call, got := range map[string]error{
		"close":      fd.Close(),
		"fstat":      fd.Fstat(new(unix.Stat_t)),
		"fchmod":     fd.Fchmod(0o600),
		"flock":      fd.Flock(unix.LOCK_EX),
		"write":      fd.WriteAll([]byte("x")),
		"read":       second(fd.Read(make([]byte, 1))),
		"pread":      second(fd.Pread(make([]byte, 1), 0)),
		"fstatfs":    second(fd.Fstatfs()),
		"getdents64": second(Readnames(fd)),
	} {
		want := call + ": bad file descriptor"
		if !errors.Is(got, unix.EBADF) || got.Error() != want {
			t.Errorf("%s: got %v, want %q", call, got, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestMissing: every call on a path names it.
func TestMissing(t *testing.T) {
	dir := openDir(t, t.TempDir())
	for call, got := range map[string]error{
		"openat":     second(Openat(dir, "none", unix.O_RDONLY, 0)),
		"fstatat":    Fstatat(dir, "none", new(unix.Stat_t)),
		"faccessat":  Faccessat(dir, "none", unix.F_OK),
		"mkdirat":    Mkdirat(dir, "none/sub", 0o700),
		"fchmodat":   Fchmodat(dir, "none", 0o700),
		"renameat":   Renameat(dir, "none", "none"),
		"unlinkat":   Unlinkat(dir, "none"),
		"readlinkat": second(Readlinkat(dir, "none")),
		"stat":       Stat("/none", new(unix.Stat_t)),
	} {
		var pathError *fs.PathError
		if !errors.Is(got, fs.ErrNotExist) || !errors.As(got, &pathError) ||
			pathError.Op != call || !strings.Contains(pathError.Path, "none") {
			t.Errorf("%s: got %#v", call, got)
		}
	}
}

func TestDirectory(t *testing.T) {
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	if err := Mkdirat(dir, "sub", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Mkdirat(dir, "sub", 0o700); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second Mkdirat: got %v, want fs.ErrExist", err)
	}
	if err := Fchmodat(dir, "sub", 0o711); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat(filepath.Join(tmp, "sub")); err != nil || st.Mode() != fs.ModeDir|0o711 {
		t.Errorf("got mode %v, %v", st.Mode(), err)
	}
	for _, name := range []string{"from", "to"} {
		if err := os.WriteFile(filepath.Join(tmp, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Renameat(dir, "from", "to"); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(tmp, "to")); string(text) != "from" {
		t.Errorf("got %q, %v after the rename", text, err)
	}
	if err := Renameat(dir, "to", "sub"); !errors.Is(err, unix.EISDIR) {
		t.Errorf("rename over a directory: got %v, want EISDIR", err)
	}
	if err := Unlinkat(dir, "to"); err != nil {
		t.Error(err)
	}
	if err := Unlinkat(dir, "sub"); !errors.Is(err, unix.EISDIR) {
		t.Errorf("unlink of a directory: got %v, want EISDIR", err)
	}
}

func TestStats(t *testing.T) {
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	if err := os.Symlink("/", filepath.Join(tmp, "link")); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := Fstatat(dir, "link", &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFLNK {
		t.Errorf("Fstatat of a link: got mode %#o, %v", st.Mode, err)
	}
	if err := Stat(filepath.Join(tmp, "link"), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		t.Errorf("Stat of a link: got mode %#o, %v", st.Mode, err)
	}
	if err := dir.Fstat(&st); err != nil || int(st.Uid) != os.Geteuid() {
		t.Errorf("Fstat: got uid %d, %v", st.Uid, err)
	}
	proc := openDir(t, "/proc")
	if magic, err := proc.Fstatfs(); err != nil || magic != unix.PROC_SUPER_MAGIC {
		t.Errorf("Fstatfs of /proc: got %#x, %v", magic, err)
	}
}

func TestFaccessat(t *testing.T) {
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	for name, mode := range map[string]fs.FileMode{"program": 0o700, "text": 0o600} {
		if err := os.WriteFile(filepath.Join(tmp, name), nil, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(name, filepath.Join(tmp, name+"-link")); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]error{"program": nil, "program-link": nil, "text": unix.EACCES, "text-link": unix.EACCES} {
		if err := Faccessat(dir, name, unix.X_OK); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
}

func TestReadlinkat(t *testing.T) {
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	longest := strings.Repeat("x/", 2047) + "x" // 4095 bytes: PATH_MAX without its NUL
	for name, target := range map[string]string{"short": "target", "bytes": "\xff \n", "longest": longest} {
		if err := os.Symlink(target, filepath.Join(tmp, name)); err != nil {
			t.Fatal(err)
		}
		if got, err := Readlinkat(dir, name); got != target || err != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if _, err := Readlinkat(CWD, "/"); !errors.Is(err, unix.EINVAL) {
		t.Errorf("of a directory: got %v, want EINVAL", err)
	}
}

// TestReadnames reads more names than one call returns.
func TestReadnames(t *testing.T) {
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	if names, err := Readnames(dir); len(names) != 0 || err != nil {
		t.Errorf("empty directory: got %q, %v", names, err)
	}
	var want []string
	for i := range 600 {
		name := fmt.Sprintf("%04d", i) + strings.Repeat("x", 200)
		want = append(want, name)
		if err := os.WriteFile(filepath.Join(tmp, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Readnames(openDir(t, tmp))
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(got)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %d names, want %d", len(got), len(want))
	}
	if _, err := Readnames(openNull(t)); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("of a file: got %v, want ENOTDIR", err)
	}
}

func openNull(t *testing.T) FD {
	t.Helper()
	fd, err := Openat(CWD, "/dev/null", unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fd.Close() })
	return fd
}

func TestPollIn(t *testing.T) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	r, w := FD(p[0]), FD(p[1])
	defer r.Close()
	check := func(name string, want bool) {
		t.Helper()
		if got, err := r.PollIn(0); got != want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		}
	}
	check("empty", false)
	if err := w.WriteAll([]byte("x")); err != nil {
		t.Fatal(err)
	}
	check("with a byte", true)
	r.Read(make([]byte, 1))
	check("empty again", false)
	w.Close()
	check("at the end", true)
	start := time.Now()
	if got, err := openFIFO(t).PollIn(30 * time.Millisecond); got || err != nil || time.Since(start) < 30*time.Millisecond {
		t.Errorf("wait: got %v, %v after %v, want false after 30 ms", got, err, time.Since(start))
	}
}

// openFIFO opens a FIFO for both ends, so that it never comes to an end.
func openFIFO(t *testing.T) FD {
	t.Helper()
	dir := openDir(t, t.TempDir())
	if err := unix.Mkfifoat(int(dir), "fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := Openat(dir, "fifo", unix.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fd.Close() })
	return fd
}

func TestIsTerminal(t *testing.T) {
	if openNull(t).IsTerminal() {
		t.Error("/dev/null is a terminal")
	}
	terminal, err := Openat(CWD, "/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		// A link to pts/ptmx in containers, which Openat refuses.
		terminal, err = Openat(CWD, "/dev/pts/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	if !terminal.IsTerminal() {
		t.Error("a pseudoterminal is none")
	}
}

func TestBoottime(t *testing.T) {
	before := Boottime()
	text, err := os.ReadFile("/proc/uptime")
	after := Boottime()
	if err != nil {
		t.Fatal(err)
	}
	var seconds float64
	if _, err := fmt.Sscan(string(text), &seconds); err != nil {
		t.Fatal(err)
	}
	// The file has hundredths, cut off.
	uptime := int64(seconds * 1e9)
	if before > uptime+1e7 || uptime > after {
		t.Errorf("got %d and %d, want %d between them", before, after, uptime)
	}
}

func TestPidfdOpen(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fd, err := PidfdOpen(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer fd.Close()
	if ended, err := fd.PollIn(0); ended || err != nil {
		t.Errorf("of a process that lives: %v, %v", ended, err)
	}
	stdin.Close()
	if ended, err := fd.PollIn(time.Minute); !ended || err != nil { // although nobody has waited for it
		t.Errorf("of a process that has ended: %v, %v", ended, err)
	}
	cmd.Wait()
	if _, err := PidfdOpen(cmd.Process.Pid); !errors.Is(err, unix.ESRCH) {
		t.Errorf("of no process: %v, want ESRCH", err)
	}
}

func TestHostname(t *testing.T) {
	want, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if got := Hostname(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestIgnore(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), ignoreEnv+"=1", "GORACE=atexit_sleep_ms=0")
	if out, err := cmd.CombinedOutput(); string(out) != "alive" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
}

// TestCloseInterrupted: the descriptor is closed all the same.
func TestCloseInterrupted(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	input, err := os.Create(filepath.Join(t.TempDir(), "input"))
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	for errno, want := range map[string]string{"EINTR": "<nil>", "EIO": "close: input/output error"} {
		// Of its input alone: the dynamic linker closes files, too.
		cmd := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "-P", input.Name(), "-e", "trace=close", "-e", "inject=close:error="+errno, exe)
		cmd.Stdin = input
		cmd.Env = append(os.Environ(), closeEnv+"=1", "GORACE=atexit_sleep_ms=0")
		if out, err := cmd.CombinedOutput(); string(out) != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", errno, out, err, want)
		}
	}
}

func TestRetry(t *testing.T) {
	for _, test := range []struct {
		name  string
		errs  []error
		want  error
		calls int
	}{
		{"at once", []error{nil}, nil, 1},
		{"interrupted twice", []error{unix.EINTR, unix.EINTR, nil}, nil, 3},
		{"interrupted, then failed", []error{unix.EINTR, unix.EIO, nil}, unix.EIO, 2},
		{"EAGAIN is no interruption", []error{unix.EAGAIN, nil}, unix.EAGAIN, 1},
	} {
		calls := 0
		call := func() error {
			calls++
			return test.errs[calls-1]
		}
		got, err := retry(func() (int, error) { return 7, call() })
		if got != 7 || err != test.want || calls != test.calls {
			t.Errorf("%s: retry: got %d, %v after %d calls, want 7, %v after %d", test.name, got, err, calls, test.want, test.calls)
		}
		calls = 0
		if err := retryErr(call); err != test.want || calls != test.calls {
			t.Errorf("%s: retryErr: got %v after %d calls, want %v after %d", test.name, err, calls, test.want, test.calls)
		}
	}
}
