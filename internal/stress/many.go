package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"tongs-agents/fsstore"
)

const partMany = "many sessions"

// readers are the processes that list the sessions at any time.
const readers = 8

// burst is the most events of one agent that are reported at once.
const burst = 4

// hostSessions is how many sessions a host has, about.
const hostSessions = 100

// many are the many sessions.
type many struct {
	*driver
	state string
	fleet *fleet
	store *fsstore.Store

	time context.Context // until when the sessions go on
	full chan struct{}   // closed when all have begun
	turn chan struct{}   // holds what agents may report at once

	mu   sync.Mutex
	kept map[*child]bool // to be ended with the part

	begins, hook, library          *check
	whole, recent, missing, ghosts *check
	maintained, resumable          *check
	feed, monitor                  *check
	memory, descriptors, litter    *check
}

func (d *driver) manySessions() error {
	m := &many{
		driver: d, state: filepath.Join(d.dir, "many"), fleet: newFleet(), kept: map[*child]bool{},
		full: make(chan struct{}), turn: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	add := func(what string) *check { return d.report.add(partMany, what) }
	m.begins = add(fmt.Sprintf("sessions, %d at once", d.sessions))
	m.hook = add("events through the hook: none lost")
	m.library = add("events through the library: none lost")
	m.whole = add("rows of status and ps: whole")
	m.recent = add("rows: no older than what was over or seen")
	m.missing = add("sessions that live: listed")
	m.ghosts = add("sessions that are over: not listed")
	m.maintained = add("maintenance runs: removed what is over alone")
	m.resumable = add("killed sessions: resumable")
	m.feed = add("watch: in step at the end")
	m.monitor = add("monitor: alive at the end")
	if m.period >= shortestFlat {
		m.memory = add("memory, in samples: flat")
		m.descriptors = add("descriptors, in samples: flat")
	}
	m.litter = add("files at the end: no litter, no lock held")
	defer m.killAll()
	var err error
	if m.store, err = fsstore.Open(m.state, fsstore.Create); err != nil {
		return err
	}
	defer m.store.Close()
	return m.run()
}

// run lets the sessions live, and looks at what comes of it.
func (m *many) run() error {
	w, err := m.startWatch() // before there is anything
	if err != nil {
		return err
	}
	defer w.stop()
	screen, err := m.startMonitor()
	if err != nil {
		return err
	}
	defer screen.stop()
	keeper, err := m.start(roleMaintainer, m.state, m.state)
	if err != nil {
		return err
	}
	m.keep(keeper)

	over, stop := context.WithCancel(context.Background())
	defer stop()
	m.time = over
	all, ctx := errgroup.WithContext(over)
	context.AfterFunc(ctx, stop) // at the first error
	begun := m.liveAll(all)
	select {
	case <-begun:
	case <-ctx.Done():
		return all.Wait()
	}
	if err := m.maintain(keeper); err != nil { // it has all the memory that it needs
		return err
	}
	close(m.full)
	for i := range readers {
		all.Go(func() error { return m.readOn([]string{"status", "ps"}[i%2]) })
	}
	all.Go(func() error { return m.maintainOn(keeper) })
	long := []*sampled{{name: "watch", pid: w.pid()}, {name: "monitor", pid: screen.pid()}, {name: "maintainer", pid: keeper.pid()}}
	all.Go(func() error { return m.sampleOn(long) })
	time.AfterFunc(m.period, stop)
	if err := all.Wait(); err != nil {
		return err
	}
	if m.period >= shortestFlat {
		for _, s := range long {
			if err := s.settle(); err != nil {
				return err
			}
			m.checkFlat(s)
		}
	}
	if err := m.checkEnd(keeper, w); err != nil {
		return err
	}
	m.checkMonitor(screen)
	return m.checkAfter(keeper)
}

// over reports whether the time of the sessions is over.
func (m *many) over() bool { return m.time.Err() != nil }

// keep ends a child with the part, unless it is dropped before.
func (m *many) keep(c *child) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[c] = true
}

func (m *many) drop(c *child) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, c)
}

func (m *many) killAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range m.kept {
		c.killGroup()
	}
	for c := range m.kept {
		<-c.silent
	}
	clear(m.kept)
}

// liveAll lets sessions live, one in five that of an agent of its own, until the
// time is over. All of them have begun once the channel is closed.
func (m *many) liveAll(all *errgroup.Group) <-chan struct{} {
	var first sync.WaitGroup
	live := func(life func(begun func()) error) {
		first.Add(1)
		all.Go(func() error {
			begun := sync.OnceFunc(func() {
				first.Done()
				select {
				case <-m.full:
				case <-m.time.Done():
				}
			})
			for !m.over() {
				if err := life(begun); err != nil {
					return err
				}
			}
			return nil
		})
	}
	agents := m.sessions / 5
	for range agents {
		live(m.agentLife)
	}
	for rest := m.sessions - agents; rest > 0; rest -= hostSessions {
		live(func(begun func()) error { return m.hostLife(min(rest, hostSessions), begun) })
	}
	begun := make(chan struct{})
	go func() {
		first.Wait()
		close(begun)
	}()
	return begun
}

// agentLife is an agent from its beginning to its end.
func (m *many) agentLife(begun func()) error {
	a, err := m.startAgent(m.state)
	if err != nil {
		return err
	}
	m.keep(a.child)
	s := m.fleet.add("agent")
	m.begins.seen(1)
	if err := m.events(a, s, "SessionStart", 1); err != nil {
		return err
	}
	begun()
	for range rand.IntN(30) {
		if m.over() {
			return nil
		}
		if err := m.events(a, s, "PreToolUse", 1+rand.IntN(burst)); err != nil {
			return err
		}
	}
	if m.over() {
		return nil
	}
	switch rand.IntN(3) {
	case 0:
		if err := m.events(a, s, "SessionEnd", 1); err != nil {
			return err
		}
		m.leaving(s)
		a.leave()
	case 1:
		m.leaving(s)
		a.kill()
	case 2:
		if err := m.killAmid(a, s); err != nil {
			return err
		}
	}
	m.drop(a.child)
	m.fleet.change(s, func(s *session) { s.dead = true })
	if <-a.silent; a.said != "" {
		m.hook.fail("the hooks say %s", a.said)
	}
	m.fleet.change(s, func(s *session) { s.quiet = true })
	return nil
}

func (m *many) leaving(s *session) { m.fleet.change(s, func(s *session) { s.leaving = true }) }

// events reports events of an agent, all at once, and looks for them in the
// store.
func (m *many) events(a agentChild, s *session, event string, n int) error {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	if err := a.run(m.payloads(s, event, n), 1); err != nil {
		return err
	}
	m.hook.seen(n)
	key := fsstore.Key{Harness: agentProgram, Session: s.id, Instance: fmt.Sprintf("%d:%s", a.pid(), startOf(a.pid()))}
	r, err := m.store.Get(key)
	if err != nil {
		m.hook.fail("%s after event %d: %v", s.id, s.invoked, err)
	} else if r.Arrival != s.invoked {
		m.hook.fail("%s has had %d events, but its record %d", s.id, s.invoked, r.Arrival)
	}
	m.fleet.ack(s)
	return nil
}

// payloads are the next events of a session.
func (m *many) payloads(s *session, event string, n int) (all []string) {
	last := m.fleet.invoke(s, int64(n), event == "SessionEnd")
	for i := range n {
		all = append(all, payload(s.id, event, last-int64(i)))
	}
	return all
}

// killAmid kills an agent while its events are reported, with or without the
// hooks that do it.
func (m *many) killAmid(a agentChild, s *session) error {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	m.leaving(s)
	if err := a.tell(runs{m.payloads(s, "PreToolUse", burst), 1}); err != nil {
		return err
	}
	time.Sleep(rand.N(10 * time.Millisecond))
	if rand.IntN(2) == 0 {
		a.kill()
	} else {
		a.killGroup()
	}
	return nil
}
