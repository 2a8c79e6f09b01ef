package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// release is a pinned release of a package of npm.
type release struct{ name, pkg, version string }

// node runs the agents that are scripts: some need a newer one than a
// distribution has. The package is the program alone.
func node() release {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	return release{"node", "node-linux-" + arch, "24.22.3"}
}

// fetching is what an installation may take.
const fetching = 15 * time.Minute

// cache is a directory that keeps what was installed, each release in its own.
type cache string

// openCache is TONGS_AGENTS_E2E_CACHE, or a place in the user's cache.
func openCache() (cache, error) {
	dir := os.Getenv("TONGS_AGENTS_E2E_CACHE")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, "tongs-agents-e2e")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return cache(dir), os.MkdirAll(dir, 0o755)
}

// install returns the node_modules of a release. One that is there is not asked for again.
func (c cache) install(ctx context.Context, r release) (string, error) {
	dir := filepath.Join(string(c), r.name+"-"+r.version)
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return modules, nil
	}
	fmt.Printf("installing %s %s into %s\n", r.pkg, r.version, c)
	temp, err := os.MkdirTemp(string(c), ".installing-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	// Without a package.json npm installs into the nearest directory above that has one.
	if err := os.WriteFile(filepath.Join(temp, "package.json"), []byte("{}\n"), 0o644); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, fetching)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error", r.pkg+"@"+r.version)
	cmd.Dir, cmd.WaitDelay = temp, again
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install %s@%s: %w\n%s", r.pkg, r.version, err, output)
	}
	return modules, os.Rename(temp, dir)
}
