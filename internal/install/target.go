package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// target is a file that may be replaced: where a path leads in the end.
type target struct {
	path  string // without symbolic links in its last element
	named string // as the agent knows it
}

// content is what a file held when it was read.
type content struct {
	text   []byte
	exists bool
	info   fs.FileInfo // of the file, if it exists
}

var (
	errChanged  = errors.New("another program changes it all the time")
	errReadOnly = errors.New("read-only")
)

// longest is far more than any settings.
const longest = 16 << 20

// resolve follows the symbolic links that a path may be.
func resolve(path string) (target, error) {
	const mostLinks = 40 // as in the kernel, see path_resolution(7)
	t := target{path: path, named: path}
	for range mostLinks {
		link, err := os.Readlink(t.path)
		switch {
		case errors.Is(err, unix.EINVAL): // no link
			return t, nil
		case errors.Is(err, fs.ErrNotExist) && t.path != path:
			if _, err := os.Stat(filepath.Dir(t.path)); err != nil {
				return t, fmt.Errorf("is a link to %s, whose directory is not there", t.path)
			}
			return t, nil
		case errors.Is(err, fs.ErrNotExist):
			return t, nil
		case err != nil:
			return t, cause(err)
		}
		if !filepath.IsAbs(link) {
			// From the directory that the link is in, behind the links on the way there.
			dir, err := filepath.EvalSymlinks(filepath.Dir(t.path))
			if err != nil {
				return t, cause(err)
			}
			link = dir + "/" + link
		}
		slash := strings.LastIndexByte(link, '/')
		if dir, err := filepath.EvalSymlinks(link[:slash+1]); err == nil {
			link = filepath.Join(dir, link[slash+1:])
		}
		t.path = filepath.Clean(link)
	}
	return t, unix.ELOOP
}

// read reads the file, if there is one.
func (t target) read() (content, error) {
	f, err := os.OpenFile(t.path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, nil
	}
	if err != nil {
		return content{}, cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return content{}, cause(err)
	case !info.Mode().IsRegular():
		return content{}, errors.New("no regular file")
	case info.Size() > longest:
		return content{}, fmt.Errorf("longer than %d MiB", longest>>20)
	}
	text, err := io.ReadAll(io.LimitReader(f, longest+1))
	if err != nil {
		return content{}, cause(err)
	}
	return content{text, true, info}, nil
}

// writable reports why the file cannot be replaced, as far as it can be known
// before. A file that nobody may write is one that somebody else manages, even
// if this user could replace it.
func (t target) writable(old content) error {
	dir := filepath.Dir(t.path)
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) && !old.exists {
		return nil // it will be made
	}
	if err != nil {
		return cause(err)
	}
	if old.exists && (old.info.Mode().Perm()&0o222 == 0 || unix.Access(t.path, unix.W_OK) != nil) {
		return errReadOnly
	}
	if info.Mode().Perm()&0o222 == 0 || unix.Access(dir, unix.W_OK|unix.X_OK) != nil {
		return fmt.Errorf("its directory %s is %w", dir, errReadOnly)
	}
	return nil
}

// makeParents makes the directories above the file, and returns those that it
// made, the uppermost first.
func (t target) makeParents() (made []string, err error) {
	dir := filepath.Dir(t.path)
	var missing []string
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break // that it is no directory, Mkdir says
		}
		missing = append(missing, dir)
		dir = filepath.Dir(dir)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := os.Mkdir(missing[i], 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return made, err
		}
		made = append(made, missing[i])
	}
	return made, nil
}

// replace makes text the content of the file. If it no longer is what it was
// when it was read, nothing happens and the error is errChanged.
func (t target) replace(old content, text []byte) error {
	dir, err := os.OpenRoot(filepath.Dir(t.path))
	if err != nil {
		return cause(err)
	}
	defer dir.Close()
	temp, err := writeTemp(dir, old, text)
	if err != nil {
		return cause(err)
	}
	defer dir.Remove(temp) // after the rename it is gone
	if err := t.unchanged(old); err != nil {
		return err
	}
	name := filepath.Base(t.path)
	if old.exists {
		err = dir.Rename(temp, name)
	} else if err = dir.Link(temp, name); errors.Is(err, fs.ErrExist) { // unlike a rename, never over another one
		return errChanged
	} else if err != nil { // a file system without hard links
		err = dir.Rename(temp, name)
	}
	if err != nil {
		return cause(err)
	}
	return syncDir(dir)
}

// remove removes the file, under the condition of replace.
func (t target) remove(old content) error {
	if err := t.unchanged(old); err != nil {
		return err
	}
	return cause(os.Remove(t.path))
}

func (t target) unchanged(old content) error {
	now, err := t.read()
	if err != nil {
		return err
	}
	if now.exists != old.exists || !bytes.Equal(now.text, old.text) {
		return errChanged
	}
	return nil
}

// The name of a temporary file has the pid of its writer between these.
const (
	tempPrefix = ".tongs-agents-"
	tempSuffix = ".tmp"
)

// removeLeftovers removes the temporary files of writers that were killed, or
// that had our pid.
func removeLeftovers(dir *os.Root) {
	names, err := fs.Glob(dir.FS(), tempPrefix+"*"+tempSuffix)
	if err != nil {
		return
	}
	for _, name := range names {
		pid, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, tempPrefix), tempSuffix))
		if err == nil && (pid == os.Getpid() || errors.Is(unix.Kill(pid, 0), unix.ESRCH)) {
			dir.Remove(name)
		}
	}
}

// writeTemp writes a durable file beside the target, with the owner and the
// mode of the old one.
func writeTemp(dir *os.Root, old content, text []byte) (name string, err error) {
	removeLeftovers(dir)
	name = tempPrefix + strconv.Itoa(os.Getpid()) + tempSuffix
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err == nil && old.exists {
		err = likeOld(f, old.info)
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		dir.Remove(name)
		return "", err
	}
	return name, nil
}

func likeOld(f *os.File, old fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	was, is := old.Sys().(*syscall.Stat_t), info.Sys().(*syscall.Stat_t)
	if was.Uid != is.Uid || was.Gid != is.Gid {
		if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
			return fmt.Errorf("a new file cannot have its owner: %w", cause(err))
		}
	}
	return f.Chmod(old.Mode().Perm())
}

// syncDir makes the names in a directory durable. File systems that cannot do
// that say EINVAL.
func syncDir(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return cause(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return cause(err)
	}
	return nil
}
