// Command dist makes the archives of a release, one for each architecture, and
// their checksums. It is run in the root of the source tree:
//
//	dist [-o DIR] [ARCH...]
//
// The same source, version, time and Go release give the same bytes, whatever
// the directory, the user and the day. VERSION, if not set, is what git says of
// the tree; the time of all files, SOURCE_DATE_EPOCH, that of its commit.
package main

import (
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var architectures = []string{"amd64", "arm64", "arm", "386", "riscv64"}

func main() {
	out := flag.String("o", "dist", "directory of the archives")
	flag.Parse()
	archs := flag.Args()
	if len(archs) == 0 {
		archs = architectures
	}
	if err := dist(*out, archs); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func dist(out string, archs []string) error {
	r, err := currentRelease()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "tongs-agents-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	share := filepath.Join(scratch, "share")
	if err := r.generate(share); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	var sums strings.Builder
	for _, arch := range archs {
		bin := filepath.Join(scratch, arch)
		if err := r.build(bin, arch); err != nil {
			return err
		}
		dir := fmt.Sprintf("tongs-agents-%s-linux-%s", r.version, arch)
		archive, err := pack(dir, r.time, bin, share)
		if err != nil {
			return err
		}
		name := dir + ".tar.gz"
		if err := os.WriteFile(filepath.Join(out, name), archive, 0o666); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(archive), name)
		fmt.Println(filepath.Join(out, name))
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o666)
}

type release struct {
	version string
	time    time.Time
}

var (
	tag    = regexp.MustCompile(`^v(\d)`)
	inName = regexp.MustCompile(`^\w[\w.+~-]*$`)
)

func currentRelease() (release, error) {
	version, err := fromGit("VERSION", "describe", "--tags", "--always", "--dirty", "--abbrev=12")
	if err != nil {
		return release{}, err
	}
	version = tag.ReplaceAllString(version, "$1")
	if !inName.MatchString(version) {
		return release{}, fmt.Errorf("VERSION: %q cannot be part of a file's name", version)
	}
	epoch, err := fromGit("SOURCE_DATE_EPOCH", "log", "-1", "--format=%ct")
	if err != nil {
		return release{}, err
	}
	seconds, err := strconv.ParseUint(epoch, 10, 33) // as far as the archive's format goes
	if err != nil {
		return release{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return release{version, time.Unix(int64(seconds), 0)}, nil
}

// fromGit returns a variable of the environment, else what git prints.
func fromGit(variable string, args ...string) (string, error) {
	if value := os.Getenv(variable); value != "" {
		return value, nil
	}
	cmd := exec.Command("git", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s is not set, and %v: %w", variable, cmd, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// generate writes manual pages and completions. What does that runs here, so it
// is built for this machine.
func (r release) generate(share string) error {
	return run([]string{
		"GOOS=", "GOARCH=", "SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.time.Unix(), 10),
	}, "run", "-trimpath", "-tags=share", "-ldflags=-X main.version="+r.version, "./cmd/tongs-agents", share)
}

// build builds the programs. The variables are those that change the code, with
// the oldest processors that Go supports; an arm has floating point, though.
func (r release) build(bin, arch string) error {
	return run([]string{
		"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + arch, "GOAMD64=v1", "GOARM64=v8.0", "GOARM=6", "GO386=sse2",
		"GORISCV64=rva20u64", "GOEXPERIMENT=", "GOFIPS140=off",
	}, "build", "-trimpath", "-buildvcs=false", "-tags=", "-ldflags=-s -w -X main.version="+r.version, "-ldflags=./cmd/tongs-agents-hook=-s -w -E main.entry", "-o", bin+"/", "./cmd/...")
}

func run(env []string, args ...string) error {
	cmd := exec.Command(cmp.Or(os.Getenv("GO"), "go"), args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%v: %w", cmd, err)
	}
	return nil
}
