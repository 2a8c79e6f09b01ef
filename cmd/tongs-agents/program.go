package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
	"tongs-agents/proc"
)

// program is a program that can be executed, as execvp(3) finds it. Package
// os/exec has other rules: it does not run what a relative element of PATH
// leads to, nor a script without "#!".
type program struct {
	files []string // to try in turn
	file  string   // the first one that looks executable
}

// findProgram looks for the program of a command. The failure has the exit
// status of one that was not found, or may not be executed.
func findProgram(name string) (program, error) { return findAmong(name, candidates(name)) }

// findProgramElsewhere is findProgram for a command that is to run in a
// directory which is not the caller's: that gives it no programs by a relative
// element of PATH.
func findProgramElsewhere(name string) (program, error) {
	all := candidates(name)
	if strings.Contains(name, "/") {
		return findAmong(name, all)
	}
	p, err := findAmong(name, slices.DeleteFunc(slices.Clone(all), isRelative))
	if err != nil {
		if here, e := findAmong(name, all); e == nil && isRelative(here.file) {
			err = cannotRun(name, errors.New("found only by a relative directory in PATH"))
		}
	}
	return p, err
}

func isRelative(file string) bool { return !filepath.IsAbs(file) }

// findAmong finds the program of a command among the files that its name may
// mean.
func findAmong(name string, files []string) (program, error) {
	p := program{files: files}
	err := tryEach(p.files, func(file string) error {
		p.file = file
		return executable(file)
	})
	if err != nil {
		return program{}, cannotRun(name, err)
	}
	return p, nil
}

// candidates are the files that a program's name may mean.
func candidates(name string) []string {
	if name == "" || strings.Contains(name, "/") {
		return []string{name}
	}
	path, set := os.LookupEnv("PATH")
	if !set {
		path = "/bin:/usr/bin" // as in the C library
	}
	var files []string
	for dir := range strings.SplitSeq(path, ":") {
		if dir == "" {
			dir = "."
		}
		files = append(files, dir+"/"+name)
	}
	return files
}

// executable reports why execve(2) would refuse a file, as far as it can be
// known before.
func executable(file string) error {
	var st unix.Stat_t
	if err := linux.Stat(file, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return unix.EACCES
	}
	return linux.Faccessat(linux.CWD, file, unix.X_OK)
}

// tryEach tries one file after the other, like execvp(3): it passes over those
// that are not there, and those that may not be executed, which is the error
// if none of the others can be either.
func tryEach(files []string, try func(file string) error) error {
	var denied error
	var last error = unix.ENOENT
	for _, file := range files {
		switch err := try(file); {
		case errors.Is(err, unix.EACCES):
			denied = err
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ESTALE),
			errors.Is(err, unix.ENODEV), errors.Is(err, unix.ETIMEDOUT):
			last = err
		default:
			return err
		}
	}
	if denied != nil {
		return denied
	}
	return last
}

// isHarness reports whether a process of the program with these arguments is a
// harness.
func (p program) isHarness(argv []string) bool {
	exe, err := filepath.EvalSymlinks(p.file)
	if err != nil {
		exe = p.file
	}
	h, _ := proc.Command(argv, p.file, exe).Harness(false)
	return h != nil
}

// exec replaces this process by the program. It returns only if that failed.
func (p program) exec(argv, env []string) error {
	err := tryEach(p.files, func(file string) error {
		err := unix.Exec(file, argv, env)
		if err == unix.ENOEXEC { // a script without "#!" is one of the shell
			err = unix.Exec("/bin/sh", append([]string{"/bin/sh", file}, argv[1:]...), env)
		}
		return err
	})
	if errors.Is(err, unix.ENOENT) && executable(p.file) == nil {
		err = fmt.Errorf("%w: its interpreter is missing", err)
	}
	return cannotRun(argv[0], err)
}

// cannotRun is the failure to run a program.
func cannotRun(name string, err error) error {
	status := 126
	if errors.Is(err, unix.ENOENT) {
		status = 127
	}
	return failure{err: fmt.Errorf("cannot run %q: %w", name, bare(err)), status: status}
}
