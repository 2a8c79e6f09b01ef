package install

import (
	"os"
	"path/filepath"

	"tongs-agents/fsstore"
)

// Env is the part of the environment that decides which files are meant.
type Env struct {
	Home    string // of the user: absolute
	State   string // our state directory: absolute
	Invoked string // the running program, as it was called: argv[0]
	Getenv  func(string) string
}

// Environment returns the environment of this process.
func Environment() (Env, error) {
	state, err := fsstore.StateDir()
	if err != nil {
		return Env{}, err
	}
	home, err := fsstore.HomeDir()
	if err != nil {
		return Env{}, err
	}
	return Env{Home: home, State: state, Invoked: os.Args[0], Getenv: os.Getenv}, nil
}

// place is a directory of an agent: below the directory that a variable names,
// else below the home directory.
type place struct {
	variable string
	below    string
	home     string
}

// in returns the directory. Values that are not absolute count as unset.
func (p place) in(env Env) string {
	if p.variable != "" {
		if dir := env.Getenv(p.variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, p.below)
		}
	}
	return filepath.Join(env.Home, p.home)
}
