package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// pack makes an archive of one directory. What it has in bin and share is what
// PREFIX/bin and PREFIX/share get.
func pack(dir string, mtime time.Time, bin, share string) ([]byte, error) {
	files := map[string]string{} // where each name in dir comes from
	for to, from := range map[string]string{"bin": bin, "share": share} {
		err := filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(from, file)
			files[path.Join(to, name)] = file
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for to, pattern := range map[string]string{
		"share/systemd/user": "systemd/tongs-agents-*.*",
		"docs":               "docs/*.md",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			files[path.Join(to, filepath.Base(file))] = file
		}
	}
	for _, name := range []string{"CHANGELOG.md", "LICENSE", "README.md"} {
		files[name] = name
	}

	// The header of gzip has no name and no time: the zero value.
	var archive bytes.Buffer
	zip, err := gzip.NewWriterLevel(&archive, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := writer{tar.NewWriter(zip), dir, mtime, map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data, err := os.ReadFile(files[name])
		if err == nil {
			err = w.add(name, data)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.tar.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return archive.Bytes(), nil
}

// writer writes an archive with nothing of this machine in it.
type writer struct {
	tar     *tar.Writer
	dir     string
	mtime   time.Time
	written map[string]bool // directories
}

func (w *writer) add(name string, data []byte) error {
	if err := w.mkdir(path.Dir(path.Join(w.dir, name))); err != nil {
		return err
	}
	mode := int64(0o644)
	if path.Dir(name) == "bin" {
		mode = 0o755
	}
	if err := w.header(tar.TypeReg, path.Join(w.dir, name), mode, len(data)); err != nil {
		return err
	}
	_, err := w.tar.Write(data)
	return err
}

// mkdir adds a directory and those above it, if they are not there yet.
func (w *writer) mkdir(dir string) error {
	if dir == "." || w.written[dir] {
		return nil
	}
	if err := w.mkdir(path.Dir(dir)); err != nil {
		return err
	}
	w.written[dir] = true
	return w.header(tar.TypeDir, dir+"/", 0o755, 0)
}

func (w *writer) header(kind byte, name string, mode int64, size int) error {
	return w.tar.WriteHeader(&tar.Header{
		Typeflag: kind, Name: name, Mode: mode, Size: int64(size), ModTime: w.mtime, Format: tar.FormatUSTAR,
	})
}
