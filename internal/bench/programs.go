package main

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// What the hook and the listing are compared with.
//
//go:embed testdata
var sources embed.FS

func source(name string) string {
	text, err := sources.ReadFile("testdata/" + name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// build compiles a source with a command that takes the output and the input
// as its last arguments.
func (b *run) build(name string, command ...string) (string, error) {
	in := filepath.Join(b.dir, name)
	if err := os.WriteFile(in, []byte(source(name)), 0o600); err != nil {
		return "", err
	}
	out := filepath.Join(b.dir, strings.ReplaceAll(name, ".", "-"))
	cmd := exec.Command(command[0], append(command[1:], out, in)...)
	cmd.Dir = b.dir // outside of any module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, text)
	}
	return out, b.copy(out)
}

// buildGo compiles with the flags of the Makefile.
func (b *run) buildGo(name string) (string, error) {
	return b.build(name, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o")
}

func (b *run) buildC(name string) (string, error) {
	if _, err := exec.LookPath("gcc"); err != nil {
		return "", err
	}
	out, err := b.build(name, "gcc", "-O2", "-static", "-o")
	if err != nil { // a system without the static libraries
		out, err = b.build(name, "gcc", "-O2", "-o")
	}
	return out, err
}

// python finds the interpreter itself: the command may be a script that looks
// for it, which would be measured too.
func python() (string, error) {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(out)), err
}

func lookAll(names ...string) (first string, err error) {
	for i, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", err
		}
		if i == 0 {
			first = path
		}
	}
	return first, nil
}
