package proc

import "strings"

// Word is the form in which names of programs are compared: the base name
// without what packaging adds to it. Nix renames a program that it wraps to
// .claude-wrapped, and one that it wraps twice to .claude-wrapped_; npm ships
// the executable for Linux as claude.exe.
func Word(name string) string {
	word := strings.TrimLeft(base(name), ".")
	for {
		rest := word
		for _, suffix := range [...]string{".exe", ".js", ".mjs", ".cjs"} {
			rest = strings.TrimSuffix(rest, suffix)
		}
		for _, suffix := range [...]string{"-wrapped", "-unwrapped"} {
			if s, ok := strings.CutSuffix(strings.TrimRight(rest, "_"), suffix); ok {
				rest = s
			}
		}
		if rest == word {
			return word
		}
		word = rest
	}
}

// base is what follows the last slash. Nothing does in a directory's "x/".
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// inPackage reports whether path leads to the own program of the package that
// is in the directory pkg, given as consecutive path elements: not to something
// that the package carries along, like the ripgrep that Claude Code has in
// vendor.
func inPackage(path, pkg string) bool {
	rest, found := "/"+path, true
	for found {
		if _, rest, found = strings.Cut(rest, "/"+pkg); found && ownProgram(rest) {
			return true
		}
	}
	return false
}

// ownProgram judges by what follows the directory of a package in a path.
func ownProgram(rest string) bool {
	return (rest == "" || rest[0] == '/') &&
		!strings.Contains(rest, "/vendor/") && !strings.Contains(rest, "/node_modules/")
}

// inDirectory reports whether path is an entry of the directory dir, given as
// consecutive path elements.
func inDirectory(path, dir string) bool {
	i := strings.LastIndexByte(path, '/')
	return i >= 0 && i+1 < len(path) && strings.HasSuffix("/"+path[:i], "/"+dir)
}
