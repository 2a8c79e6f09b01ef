//go:build !(386 || arm)

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// tree describes all files below a directory: kind, mode, owner, size, time and
// text. With outside, those of the store are left out, but for their owners.
func tree(dir string, outside bool) (map[string]string, error) {
	found := map[string]string{}
	return found, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, dir)
		if outside && (name == "" || strings.HasPrefix(name, "/state")) {
			return nil
		}
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		line := fmt.Sprintf("%v %d:%d", info.Mode(), st.Uid, st.Gid)
		if !info.IsDir() {
			line += fmt.Sprintf(" %d bytes", info.Size())
		}
		line += fmt.Sprintf(" at %d", info.ModTime().UnixNano())
		if info.Mode().IsRegular() && info.Size() < 1<<20 {
			text, err := readHead(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %.6x", sha256.Sum256(text))
		}
		found[name] = line
		return nil
	})
}

func readHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// differences are the files that are not the same.
func differences(before, after map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if after[name] != before[name] {
			all = append(all, fmt.Sprintf("%s was %s, is %q", name, before[name], after[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, known := before[name]; !known {
			all = append(all, fmt.Sprintf("%s is new: %s", name, after[name]))
		}
	}
	return all
}
