package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"tongs-agents/internal/text"
)

// FindHook returns the path of the hook that entries should name: beside the
// program that runs, by the path that it was called by, else in PATH. Links in
// it stay, since they may outlive what they lead to now. A path that goes with
// its release gives way to one that leads to the same program and does not; if
// there is none, the warning says so.
func FindHook(env Env) (hook, warning string, err error) { return find(env, hookName, "hooks") }

// FindProgram returns the path of tongs-agents that entries should name, by the
// rules of FindHook.
func FindProgram(env Env) (program, warning string, err error) {
	return find(env, programName, "entries")
}

// find returns the path of a program of ours, for entries of that kind.
func find(env Env, name, entries string) (program, warning string, err error) {
	program, err = first(env, name)
	if err != nil {
		return "", "", err
	}
	if bad := unfit(program); bad != "" {
		return "", "", fmt.Errorf("%s: its path has %s, which settings cannot hold", text.Clean(program), bad)
	}
	dir := releaseDir(program)
	if dir == "" {
		return program, "", nil
	}
	for _, path := range stable(env, program) {
		if executable(path) == nil && sameFile(path, program) && releaseDir(path) == "" && unfit(path) == "" {
			return path, "", nil
		}
	}
	return program, fmt.Sprintf("%s belongs to one release, and %s that name it end with %s: a link to it in a directory of PATH would last", program, entries, dir), nil
}

func first(env Env, name string) (string, error) {
	var tried []string
	for _, dir := range append(besideProgram(env), absolute(filepath.SplitList(env.Getenv("PATH")))...) {
		path := filepath.Join(dir, name)
		err := executable(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			tried = append(tried, fmt.Sprintf("; %s: %v", path, cause(err)))
		}
	}
	if exe, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(exe), name)
		if executable(path) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s was not found beside tongs-agents nor in PATH%s", name, strings.Join(slices.Compact(tried), ""))
}

// besideProgram returns the directory of the running program, as it was called.
func besideProgram(env Env) []string {
	path := env.Invoked
	switch {
	case filepath.IsAbs(path):
	case strings.Contains(path, "/"):
		cwd, err := os.Getwd()
		if err != nil {
			return nil
		}
		path = cwd + "/" + path
	default:
		for _, dir := range absolute(filepath.SplitList(env.Getenv("PATH"))) {
			if executable(filepath.Join(dir, path)) == nil {
				return []string{dir}
			}
		}
		return nil
	}
	dir, _ := filepath.Split(path)
	clean := filepath.Clean(dir)
	if !sameFile(clean, dir) { // behind a link, ".." is somewhere else
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil
		}
		clean = real
	}
	return []string{clean}
}

func absolute(dirs []string) []string {
	return slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return !filepath.IsAbs(dir) })
}

// unfit says what in a path neither JSON nor a shell takes as it is.
func unfit(path string) string {
	switch {
	case !utf8.ValidString(path):
		return "bytes that are no UTF-8"
	case strings.ContainsFunc(path, unicode.IsControl):
		return "control characters"
	}
	return ""
}

// releases are directories that have one for each release: the next element of
// a path, or the one after the name of the program.
var releases = []struct {
	dir   string
	named bool
}{
	{"/nix/store/", false}, {"/gnu/store/", false},
	{"/versions/", false}, {"/releases/", false}, {"/generations/", false},
	{"/Cellar/", true}, {"/installs/", true},
}

// releaseDir returns the directory of a path that goes with the release, or
// with the run of "go run", "" if there is none.
func releaseDir(path string) string {
	for _, r := range releases {
		before, rest, found := strings.Cut(path, r.dir)
		if !found {
			continue
		}
		elements := strings.Split(rest, "/")
		n := 1
		if r.named {
			n = 2
		}
		if n < len(elements) {
			return before + r.dir + strings.Join(elements[:n], "/")
		}
	}
	elements := strings.Split(path, "/")
	for i, element := range elements[:len(elements)-1] {
		if isVersion(element) || strings.HasPrefix(element, "go-build") {
			return strings.Join(elements[:i+1], "/")
		}
	}
	return ""
}

// isVersion reports whether a directory is named for a release: 1.2, v1.2.3,
// tongs-agents-1.2.3.
func isVersion(name string) bool {
	name = strings.TrimPrefix(name[strings.LastIndexByte(name, '-')+1:], "v")
	digits, dots := 0, 0
	for _, c := range []byte(name) {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case c == '.':
			dots++
		default:
			return false
		}
	}
	return digits > dots && dots > 0 && name[0] != '.'
}

// stable are the paths that package managers and users give a program that
// lives in the directory of its release.
func stable(env Env, program string) []string {
	dirs := absolute(filepath.SplitList(env.Getenv("PATH")))
	dirs = append(dirs,
		filepath.Join(env.Home, ".local/bin"), filepath.Join(env.Home, "bin"),
		filepath.Join(env.Home, ".nix-profile/bin"), filepath.Join(env.Home, ".local/state/nix/profile/bin"),
		"/etc/profiles/per-user/"+env.Getenv("USER")+"/bin", "/run/current-system/sw/bin",
		filepath.Join(env.Home, ".guix-profile/bin"), "/usr/local/bin")
	if prefix, _, ok := strings.Cut(program, "/Cellar/"); ok {
		dirs = append(dirs, prefix+"/bin")
	}
	var paths []string
	for _, dir := range dirs {
		paths = append(paths, filepath.Join(dir, filepath.Base(program)))
	}
	return paths
}

// executable reports why a file cannot be run.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("no regular file")
	case unix.Access(path, unix.X_OK) != nil:
		return errors.New("not executable")
	}
	return nil
}

// sameFile reports whether two paths lead to the same file.
func sameFile(a, b string) bool {
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}

// cause is the error below the path that it names.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
