package lockfile

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
)

// A lock is awaited this long where it must come: slowness fails no test.
const patience = time.Minute

// The test binary is its own second process: with this variable set it takes
// the lock of that path, says so, and holds it until its standard input ends.
const holdEnv = "LOCKFILE_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdEnv); path != "" {
		hold(path)
		return
	}
	os.Exit(m.Run())
}

func hold(path string) {
	dir, err := linux.Openat(linux.CWD, filepath.Dir(path), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err == nil {
		_, err = Acquire(dir, filepath.Base(path), time.Now().Add(patience))
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	os.Stdin.Read(make([]byte, 1))
}

// holder starts a process that holds the lock.
func holder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), holdEnv+"="+path)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // kept open until Wait
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("holder: %q, %v", line, err)
	}
	return cmd
}

func openDir(t *testing.T, path string) linux.FD {
	t.Helper()
	dir, err := linux.Openat(linux.CWD, path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

func mustTry(t *testing.T, dir linux.FD, name string) Lock {
	t.Helper()
	l, err := Try(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func release(t *testing.T, l Lock) {
	t.Helper()
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

func TestTry(t *testing.T) {
	dir := openDir(t, t.TempDir())
	first := mustTry(t, dir, "lock")
	if _, err := Try(dir, "lock"); !errors.Is(err, ErrLocked) {
		t.Errorf("second Try: got %v, want ErrLocked", err)
	}
	release(t, mustTry(t, dir, "another lock"))
	release(t, first)
	release(t, mustTry(t, dir, "lock"))
}

func TestTryOfAnotherProcess(t *testing.T) {
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	holder(t, filepath.Join(tmp, "lock"))
	if _, err := Try(dir, "lock"); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
}

func TestKilledHolder(t *testing.T) {
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	cmd := holder(t, filepath.Join(tmp, "lock"))
	got := make(chan error)
	go func() {
		l, err := Acquire(dir, "lock", time.Now().Add(patience))
		if err == nil {
			err = l.Release()
		}
		got <- err
	}()
	waitBlocked(t, filepath.Join(tmp, "lock"), 1)
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestAcquireTimeout(t *testing.T) {
	dir := openDir(t, t.TempDir())
	held := mustTry(t, dir, "lock")
	descriptors, goroutines := openDescriptors(t), runtime.NumGoroutine()

	for name, deadline := range map[string]time.Time{
		"passed":  time.Now().Add(-time.Second),
		"zero":    {},
		"to come": time.Now().Add(20 * time.Millisecond),
	} {
		if _, err := Acquire(dir, "lock", deadline); !errors.Is(err, ErrTimeout) {
			t.Errorf("deadline %s: got %v, want ErrTimeout", name, err)
		}
		if time.Now().Before(deadline) {
			t.Errorf("deadline %s: gave up %v before", name, time.Until(deadline))
		}
	}

	// What waited in vain gets the lock now, and must let go of it.
	release(t, held)
	l, err := Acquire(dir, "lock", time.Now().Add(patience))
	if err != nil {
		t.Fatal(err)
	}
	release(t, l)
	eventually(t, func() string {
		// One descriptor less: that of the lock that was held at the beginning.
		if n := openDescriptors(t); n != descriptors-1 {
			return fmt.Sprintf("%d descriptors are open, want %d", n, descriptors-1)
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			return fmt.Sprintf("%d goroutines, want %d", n, goroutines)
		}
		return ""
	})
}

// TestAcquireExpired: a lock that is free is taken even if the time is over.
func TestAcquireExpired(t *testing.T) {
	dir := openDir(t, t.TempDir())
	l, err := Acquire(dir, "lock", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	release(t, l)
}

// TestWaiters: every waiter gets the lock, one at a time.
func TestWaiters(t *testing.T) {
	const waiters, rounds = 16, 20
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	held := mustTry(t, dir, "lock")
	var (
		inside sync.Mutex
		turns  [waiters]int
		group  sync.WaitGroup
	)
	for i := range waiters {
		group.Go(func() {
			for range rounds {
				l, err := Acquire(dir, "lock", time.Now().Add(patience))
				if err != nil {
					t.Error(err)
					return
				}
				if !inside.TryLock() {
					t.Error("two holders at once")
				} else {
					turns[i]++
					inside.Unlock()
				}
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	waitBlocked(t, filepath.Join(tmp, "lock"), waiters)
	release(t, held)
	group.Wait()
	for i, n := range turns {
		if n != rounds {
			t.Errorf("waiter %d had %d turns, want %d", i, n, rounds)
		}
	}
}

// TestOrder: the kernel wakes the waiters in the order in which they came.
func TestOrder(t *testing.T) {
	const waiters = 6
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	held := mustTry(t, dir, "lock")
	turn := make(chan int, waiters)
	var group sync.WaitGroup
	for i := range waiters {
		group.Go(func() {
			l, err := Acquire(dir, "lock", time.Now().Add(patience))
			if err != nil {
				t.Error(err)
				return
			}
			turn <- i
			l.Release()
		})
		waitBlocked(t, filepath.Join(tmp, "lock"), i+1)
	}
	release(t, held)
	group.Wait()
	close(turn)
	want := 0
	for got := range turn {
		if got != want {
			t.Errorf("turn %d went to waiter %d", want, got)
		}
		want++
	}
}

func TestRemovedWhileWaiting(t *testing.T) {
	tmp := t.TempDir()
	path := filepath.Join(tmp, "lock")
	dir := openDir(t, tmp)
	for _, test := range []struct {
		name   string
		remove func() error
	}{
		{"removed", func() error { return os.Remove(path) }},
		{"replaced", func() error {
			if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		}},
	} {
		held := mustTry(t, dir, "lock")
		got := make(chan Lock)
		go func() {
			l, err := Acquire(dir, "lock", time.Now().Add(patience))
			if err != nil {
				t.Error(test.name, err)
			}
			got <- l
		}()
		waitBlocked(t, path, 1)
		if err := test.remove(); err != nil {
			t.Fatal(err)
		}
		release(t, held)
		l := <-got
		// The lock that came is on the file that has the name now.
		if _, err := Try(dir, "lock"); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: Try beside the waiter: got %v, want ErrLocked", test.name, err)
		}
		release(t, l)
	}
}

func TestUnsafe(t *testing.T) {
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	path := filepath.Join(tmp, "lock")
	target := filepath.Join(t.TempDir(), "target")
	for _, test := range []struct {
		name string
		make func() error
	}{
		{"symbolic link to a file", func() error {
			if err := os.WriteFile(target, []byte("untouched"), 0o644); err != nil {
				return err
			}
			return os.Symlink(target, path)
		}},
		{"dangling link", func() error { return os.Symlink(target+"-missing", path) }},
		{"link to itself", func() error { return os.Symlink("lock", path) }},
		{"directory", func() error { return os.Mkdir(path, 0o700) }},
		{"FIFO", func() error { return unix.Mkfifo(path, 0o600) }},
		{"socket", func() error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.Bind(fd, &unix.SockaddrUnix{Name: path})
		}},
	} {
		if err := test.make(); err != nil {
			t.Fatal(test.name, err)
		}
		descriptors := openDescriptors(t)
		if _, err := Try(dir, "lock"); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: Try: got %v, want ErrUnsafe", test.name, err)
		}
		if _, err := Acquire(dir, "lock", time.Now().Add(patience)); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: Acquire: got %v, want ErrUnsafe", test.name, err)
		}
		if n := openDescriptors(t); n != descriptors {
			t.Errorf("%s: %d descriptors are open, want %d", test.name, n, descriptors)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(target); string(text) != "untouched" {
		t.Errorf("target of the link: %q, %v", text, err)
	}
	if st, err := os.Stat(target); err != nil || st.Mode().Perm() != 0o644 {
		t.Errorf("target of the link: %v, %v", st.Mode(), err)
	}
	if _, err := os.Lstat(target + "-missing"); err == nil {
		t.Error("the target of a dangling link was made")
	}
}

// TestHardLink: a lock that is somebody's file under another name excludes, and
// the file stays as it is.
func TestHardLink(t *testing.T) {
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte("untouched"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(target, filepath.Join(tmp, "lock")); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(target)
	if err != nil {
		t.Fatal(err)
	}
	held, err := Try(dir, "lock")
	if err != nil {
		t.Fatal(err)
	}
	defer release(t, held)
	if _, err := Try(dir, "lock"); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	after, err := os.Stat(target)
	if err != nil || after.Mode() != before.Mode() || after.ModTime() != before.ModTime() {
		t.Errorf("the file is %v, was %v; %v", after.Mode(), before.Mode(), err)
	}
}

func TestForeignOwner(t *testing.T) {
	path := foreignFile(t)
	dir := openDir(t, filepath.Dir(path))
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Try(dir, filepath.Base(path)); !errors.Is(err, ErrUnsafe) {
		t.Errorf("got %v, want ErrUnsafe", err)
	}
	if after, err := os.Stat(path); err != nil || after.Mode() != before.Mode() {
		t.Errorf("mode %v became %v, %v", before.Mode(), after.Mode(), err)
	}
}

// foreignFile returns a regular file of another user that we may write. A user
// other than root cannot make one, but proc file systems have some.
func foreignFile(t *testing.T) string {
	if os.Geteuid() == 0 {
		path := filepath.Join(t.TempDir(), "lock")
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		return path
	}
	candidates := []string{"/proc/pressure/cpu", "/proc/sys/kernel/ns_last_pid"}
	for _, path := range candidates {
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil && st.Mode&0o002 != 0 && int(st.Uid) != os.Geteuid() {
			return path
		}
	}
	t.Fatalf("no file of another user to try the lock on: run this test as root, or with one of %v", candidates)
	return ""
}

func TestMode(t *testing.T) {
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	for _, umask := range []int{0, 0o022, 0o177, 0o277, 0o777} {
		path := filepath.Join(tmp, fmt.Sprintf("lock-%03o", umask))
		err := withUmask(umask, func() error {
			l, err := Try(dir, filepath.Base(path))
			if err != nil {
				return err
			}
			return l.Release()
		})
		if err != nil {
			t.Errorf("umask %03o: %v", umask, err)
		}
		checkMode(t, path)
	}
	// One that another program made.
	path := filepath.Join(tmp, "wide")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	release(t, mustTry(t, dir, "wide"))
	checkMode(t, path)
}

// TestUnreadable: under a umask that takes from the owner, a writer that is
// killed between making the lock and mending its mode leaves one that none but
// root could open.
func TestUnreadable(t *testing.T) {
	tmp := t.TempDir()
	dir := openDir(t, tmp)
	for _, mode := range []os.FileMode{0, 0o200, 0o400} {
		path := filepath.Join(tmp, fmt.Sprintf("lock-%03o", mode))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		unprivileged(t, func() {
			l, err := Try(dir, filepath.Base(path))
			if err != nil {
				t.Errorf("mode %03o: %v", mode, err)
				return
			}
			l.Release()
		})
		checkMode(t, path)
	}
}

func checkMode(t *testing.T, path string) {
	t.Helper()
	if st, err := os.Stat(path); err != nil || st.Mode() != 0o600 {
		t.Errorf("%s: got mode %v, %v, want 0600", filepath.Base(path), st.Mode(), err)
	}
}

func withUmask(umask int, do func() error) error {
	defer unix.Umask(unix.Umask(umask))
	return do()
}

// unprivileged calls do in a thread that the modes of files apply to, even if
// we are root.
func unprivileged(t *testing.T, do func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var sets [2]unix.CapUserData
		err := unix.Capget(&header, &sets[0])
		if err == nil {
			sets[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
			err = unix.Capset(&header, &sets[0])
		}
		if err == nil {
			do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestMissingDirectory(t *testing.T) {
	tmp := t.TempDir()
	sub := filepath.Join(tmp, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := openDir(t, sub)
	if err := os.Remove(sub); err != nil {
		t.Fatal(err)
	}
	if _, err := Try(dir, "lock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

// TestUnsupported: no file system at hand refuses flock(2), so the errnos are
// given by hand.
func TestUnsupported(t *testing.T) {
	dir := openDir(t, t.TempDir())
	for _, errno := range []unix.Errno{unix.ENOLCK, unix.EOPNOTSUPP, unix.ENOSYS} {
		descriptors := openDescriptors(t)
		_, err := acquire(dir, "lock", func(linux.FD) error { return &linux.CallError{Call: "flock", Err: errno} })
		if !errors.Is(err, ErrUnsupported) {
			t.Errorf("%v: got %v, want ErrUnsupported", errno, err)
		}
		if n := openDescriptors(t); n != descriptors {
			t.Errorf("%v: %d descriptors are open, want %d", errno, n, descriptors)
		}
	}
	if _, err := acquire(dir, "lock", func(linux.FD) error { return unix.EIO }); !errors.Is(err, unix.EIO) {
		t.Errorf("EIO: got %v", err)
	}
}

// TestErrors: the text names the lock.
func TestErrors(t *testing.T) {
	dir := openDir(t, t.TempDir())
	defer mustTry(t, dir, "lock").Release()
	_, err := Try(dir, "lock")
	if want := "lock lock: locked"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = Acquire(dir, "lock", time.Time{})
	if want := "lock lock: lock timed out"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// waitBlocked waits until n requests for the lock wait in the kernel's queue:
// the lines of /proc/locks with an arrow, see proc_locks(5).
func waitBlocked(t *testing.T, path string, n int) {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	inode := fmt.Sprintf(":%d ", st.Ino) // not the device: stat(2) has another one on btrfs
	eventually(t, func() string {
		locks, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Fatal(err)
		}
		waiting := 0
		for line := range strings.Lines(string(locks)) {
			if strings.Contains(line, "-> FLOCK") && strings.Contains(line, inode) {
				waiting++
			}
		}
		if waiting < n {
			return fmt.Sprintf("%d requests wait for the lock, want %d", waiting, n)
		}
		return ""
	})
}

func eventually(t *testing.T, problem func() string) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		what := problem()
		if what == "" {
			return
		}
		if time.Since(start) > patience {
			t.Fatal(what)
		}
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
