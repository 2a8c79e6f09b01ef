// Command stress uses a store as hard as the machine can, with many processes
// at once, and looks whether everything that the store promises holds.
//
//	stress [-bin DIR] [-part REGEXP] [-for D] [-writers N] [-events N]
//	       [-sessions N] [-histories N]
//
// One session is written by many processes at a time. Then many sessions come,
// change, end and are killed while readers, a live view, a feed and a maintainer
// are at work. Then short histories of one record are recorded and checked for
// linearizability.
//
// It prints a table and, above it, what was wrong. The exit status is 1 if
// anything was.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// The roles of this program. Without one it is what the user has started.
const (
	envRole = "STRESS_ROLE"
	envDir  = "STRESS_DIR"  // the temporary directory of the run
	envKeep = "STRESS_KEEP" // where a file that the user is to see may stay

	roleInit       = "init"
	roleDriver     = "driver"
	roleCounter    = "counter"
	roleAgent      = "agent"
	roleHost       = "host"
	roleMaintainer = "maintainer"
	roleClient     = "client"
)

func main() {
	var err error
	switch os.Getenv(envRole) {
	case "":
		err = stage()
	case roleInit:
		err = initialize()
	case roleDriver:
		err = drive()
	case roleCounter:
		err = counter(os.Args[1:])
	case roleAgent:
		err = agent(os.Args[1:])
	case roleHost:
		err = host(os.Args[1:])
	case roleMaintainer:
		err = maintainer(os.Args[1:])
	case roleClient:
		err = client()
	}
	switch {
	case errors.Is(err, errFailed): // it has said why
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "stress:", err)
		os.Exit(1)
	}
}

// errFailed says that the exit status is 1 and why was printed already.
var errFailed = errors.New("failed")

// config is what the user asks for.
type config struct {
	bin             string
	part            *regexp.Regexp
	period          time.Duration
	writers, events int
	sessions        int
	histories       int
}

func parseConfig() (c config, err error) {
	flag.StringVar(&c.bin, "bin", "bin", "directory of tongs-agents and tongs-agents-hook")
	part := flag.String("part", "", "only parts whose name matches this regular `expression`")
	flag.DurationVar(&c.period, "for", time.Minute, "how long the many sessions go on")
	flag.IntVar(&c.writers, "writers", 64, "processes that write one session")
	flag.IntVar(&c.events, "events", 200, "events of each of them")
	flag.IntVar(&c.sessions, "sessions", 1000, "sessions at once")
	flag.IntVar(&c.histories, "histories", 500, "histories of one record")
	flag.Parse()
	if c.part, err = regexp.Compile(*part); err != nil {
		return c, err
	}
	if c.writers < 1 || c.events < 1 || c.histories < 1 || c.sessions < 10 || c.period < time.Second {
		return c, errors.New("at least 1 writer, event and history, 10 sessions and -for 1s")
	}
	c.bin, err = filepath.Abs(c.bin)
	return c, err
}

// driver runs the parts.
type driver struct {
	config
	dir    string // of the run
	report report
}

// parts are what there is to run, by the names in the table.
var parts = []struct {
	name string
	run  func(*driver) error
}{
	{partOne, (*driver).oneSession},
	{partMany, (*driver).manySessions},
	{partHistory, (*driver).recordedHistories},
}

func drive() error {
	c, err := parseConfig()
	if err != nil {
		return err
	}
	d := &driver{config: c, dir: os.Getenv(envDir)}
	began := time.Now()
	for _, p := range parts {
		if !c.part.MatchString(p.name) {
			continue
		}
		if err := p.run(d); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if err := d.report.print(os.Stdout); err != nil {
		return err
	}
	fs, err := fileSystem(d.dir)
	if err != nil {
		return err
	}
	fmt.Printf("\n%v on %s.\n", time.Since(began).Round(time.Second), fs)
	if !d.report.good() {
		return errFailed
	}
	return nil
}
