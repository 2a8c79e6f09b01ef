// Package liveness answers whether the process of a record lives.
package liveness

import (
	"strconv"
	"sync"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// Processes answers what became of the processes of records. It asks once
// about each, so it is for a look at the store, and for one goroutine.
type Processes struct {
	root  proc.FS
	here  proc.Host
	asked map[proc.Identity]answer
}

type answer struct {
	proc.Answer
	why string
}

// NewProcesses asks the given proc file system.
func NewProcesses(root proc.FS) Processes {
	host := root.Host
	if root == proc.Root {
		host = rootHost
	}
	return Processes{root, host(), make(map[proc.Identity]answer)}
}

// rootHost is where this process runs: that stays as long as it does, and is
// looked up once by those that follow a store.
var rootHost = sync.OnceValue(proc.Root.Host)

// Here is where the answers are given.
func (p Processes) Here() proc.Host { return p.here }

// pluginActive is how long a plugin's report is as good as its process.
const pluginActive = 5 * time.Second

// Check says whether the process of a record lives, and why it thinks so.
func (p Processes) Check(r *fsstore.Record) (proc.Answer, string) {
	answer, why := p.ask(identity(r))
	if answer != proc.Alive && r.Source == fsstore.SourcePlugin && (r.BootID == "" || r.BootID == p.here.BootID) {
		if age := time.Now().Unix() - r.TS; 0 <= age && age <= int64(pluginActive/time.Second) {
			return proc.Alive, "its plugin reported it " + strconv.FormatInt(age, 10) + " s ago"
		}
	}
	return answer, why
}

// Dead reports whether the process of a record has certainly ended.
func (p Processes) Dead(r *fsstore.Record) bool {
	answer, _ := p.Check(r)
	return answer == proc.Dead
}

// CheckInstance is Check for the process of an emitter.
func (p Processes) CheckInstance(i *fsstore.Instance) (proc.Answer, string) {
	return p.ask(proc.Identity{
		PID: i.PID, Start: i.ProcessStart,
		Host: proc.Host{BootID: i.BootID, PIDNamespace: i.PIDNamespace, MachineID: i.MachineID},
	})
}

func (p Processes) ask(id proc.Identity) (proc.Answer, string) {
	a, known := p.asked[id]
	if !known {
		a.Answer, a.why = p.root.Check(id, p.here)
		p.asked[id] = a
	}
	return a.Answer, a.why
}

// identity is what a record says of its process. A process that was found by
// its name must still have one; that of an emitter, a plugin or a notice was
// told.
func identity(r *fsstore.Record) proc.Identity {
	id := proc.Identity{
		PID: r.PID, Start: r.ProcessStart,
		Host: proc.Host{BootID: r.BootID, PIDNamespace: r.PIDNamespace, MachineID: r.MachineID},
	}
	told := r.Source == fsstore.SourceNotify || r.Source == fsstore.SourcePlugin
	if r.Instance == r.PID+":"+r.ProcessStart && !told {
		id.Harness = r.Harness
	}
	return id
}
