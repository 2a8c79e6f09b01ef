package main

import (
	"fmt"
	"slices"
	"strings"
)

// trial is one fault at one call.
type trial struct {
	Call  Call
	Fault string // kill, or an errno
}

func (t trial) String() string { return fmt.Sprintf("%s: %s", t.Call.Role, t.Fault) }

// plan lists the faults of a run. Of equal calls of the runtime in a row the
// first and the last are tried: between them nothing of ours happens.
func plan(calls []Call) ([]trial, error) {
	var all []trial
	for i, c := range calls {
		if c.Name == "execve" { // before it there is no program
			continue
		}
		if c.Runtime && i > 0 && i+1 < len(calls) && calls[i-1].Name == c.Name && calls[i+1].Name == c.Name {
			continue
		}
		faults, err := faultsOf(c)
		if err != nil {
			return nil, err
		}
		for _, f := range faults {
			all = append(all, trial{c, f})
		}
	}
	return all, nil
}

func faultsOf(c Call) ([]string, error) {
	known, ok := errnos[c.Name]
	if !ok {
		known, ok = runtimeErrnos[c.Name]
	}
	if !ok {
		return nil, fmt.Errorf("%s: the table of errnos does not know this call", c.Name)
	}
	faults := slices.Concat([]string{kill}, known)
	if strings.Contains(c.Role, " O_CREAT") {
		faults = append(faults, creating...)
	}
	if c.Name == "read" || c.Name == "write" {
		if strings.Contains(c.Role, " std") {
			faults = append(faults, inherited...)
		}
	}
	return faults, nil
}
