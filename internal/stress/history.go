package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/anishathalye/porcupine"

	"tongs-agents/linux"
)

const partHistory = "one record"

// A history is what some clients do with one record, each of them some
// operations in a row.
const (
	clients       = 4
	clientActions = 12
)

// checkTime is how long the checker may search for an order of one history.
const checkTime = 30 * time.Second

// historyOrder asks a client for its part of a history. It begins at a moment of
// CLOCK_BOOTTIME.
type historyOrder struct {
	State  string
	Client int
	Seed   uint64
	Start  int64
}

// line is what a client tells: of each operation first that it begins, then what
// came of it. The last line says that it is done.
type line struct {
	Time   int64
	Input  *input  `json:",omitempty"`
	Output *output `json:",omitempty"`
	Err    string  `json:",omitempty"`
	Done   bool    `json:",omitempty"`
}

// recordedHistories records histories and checks that each is one that a record
// could have if the operations came one after the other, each at some moment
// between its begin and its end.
func (d *driver) recordedHistories() error {
	histories := d.report.add(partHistory, fmt.Sprintf("histories of %d processes: linearizable", clients))
	operations := d.report.add(partHistory, "operations")
	overlapping := d.report.add(partHistory, "of them at the same time as others")
	killed := d.report.add(partHistory, "of them cut off by a kill")
	r := &recorder{driver: d}
	defer r.stop()
	drawn := false
	for i := range d.histories {
		history, err := r.record(filepath.Join(d.dir, fmt.Sprintf("history-%d", i)))
		if err != nil {
			return fmt.Errorf("history %d: %w", i, err)
		}
		operations.seen(len(history))
		overlapping.seen(overlaps(history))
		killed.seen(pending(history))
		histories.seen(1)
		result, info := porcupine.CheckOperationsVerbose(recordModel, history, checkTime)
		if result == porcupine.Ok {
			continue
		}
		if !drawn {
			if err := draw(info); err != nil {
				return err
			}
			drawn = true
		}
		histories.fail("history %d: %s", i, result)
	}
	return nil
}

// recorder has the clients.
type recorder struct {
	*driver
	all [clients]*child
}

func (r *recorder) stop() {
	for _, c := range r.all {
		if c != nil {
			c.killGroup()
		}
	}
}

// record lets the clients use a new record, and returns what they tell. In one
// history of three a client is killed at some moment.
func (r *recorder) record(state string) ([]porcupine.Operation, error) {
	defer os.RemoveAll(state)
	start := linux.Boottime() + int64(2*time.Millisecond)
	for i := range r.all {
		if r.all[i] == nil {
			c, err := r.start(roleClient, state)
			if err != nil {
				return nil, err
			}
			r.all[i] = c
		}
		if err := r.all[i].tell(historyOrder{state, i, rand.Uint64(), start}); err != nil {
			return nil, err
		}
	}
	victim := rand.IntN(3 * clients)
	if victim < clients {
		moment := start + rand.Int64N(int64(3*time.Millisecond))
		time.Sleep(time.Duration(moment - linux.Boottime()))
		r.all[victim].cmd.Process.Kill()
	}
	var history []porcupine.Operation
	for i, c := range r.all {
		part, err := follow(c, i)
		if i == victim && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
			err = nil
		}
		if err != nil {
			<-c.silent
			return nil, fmt.Errorf("client %d: %w %s", i, err, c.said)
		}
		history = append(history, part...)
	}
	if victim < clients {
		r.all[victim].wait()
		r.all[victim] = nil
	}
	return history, nil
}

// never is when an operation ended of which nobody was told.
const never = 1<<63 - 1

// follow reads what a client tells of its part of a history.
func follow(c *child, client int) (part []porcupine.Operation, err error) {
	for {
		var l line
		if err := c.out.Decode(&l); err != nil {
			return part, err
		}
		switch {
		case l.Done:
			return part, nil
		case l.Err != "":
			return part, errors.New(l.Err)
		case l.Input != nil:
			part = append(part, porcupine.Operation{ClientId: client, Input: *l.Input, Call: l.Time, Output: output{Unknown: true}, Return: never})
		default:
			last := &part[len(part)-1]
			last.Output, last.Return = *l.Output, l.Time
		}
	}
}

// overlaps counts the operations that another client's overlap.
func overlaps(history []porcupine.Operation) (n int) {
	for _, a := range history {
		for _, b := range history {
			if a.ClientId != b.ClientId && a.Call <= b.Return && b.Call <= a.Return {
				n++
				break
			}
		}
	}
	return n
}

func pending(history []porcupine.Operation) (n int) {
	for _, o := range history {
		if o.Return == never {
			n++
		}
	}
	return n
}

// draw makes a picture of a history that is wrong, which stays.
func draw(info porcupine.LinearizationInfo) error {
	f, err := os.CreateTemp(os.Getenv(envKeep), "tongs-agents-history-*.html")
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Println("the next one is drawn in", f.Name())
	return porcupine.Visualize(recordModel, info, f)
}

// client does its part of histories.
func client() error {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o historyOrder
		if err := in.Decode(&o); err != nil {
			return ended(err)
		}
		if err := takePart(o, out); err != nil {
			out.Encode(line{Err: err.Error()})
			return err
		}
		if err := out.Encode(line{Done: true}); err != nil {
			return err
		}
	}
}
