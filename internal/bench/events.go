package main

import (
	"fmt"
	"slices"
)

// contender is a program that the hook is compared with.
type contender struct {
	program
	n      int
	budget float64 // for the CPU time of the hook by its own; 0: none
	faults float64 // the same for page faults
	err    error   // why it is not there
}

// oneEvent compares the hook that updates a record with other programs.
func oneEvent(b *run) error {
	state := b.state(0)
	hook := b.hook("hook", state, prompt(session))
	if _, err := once(hook); err != nil {
		return err
	}
	others, err := b.contenders(state, hook)
	if err != nil {
		return err
	}
	t := &table{
		title: fmt.Sprintf("1. The hook, an update of a record (UserPromptSubmit), against other programs: medians of %d pairs", b.n),
		head:  slices.Concat([]string{"program"}, figuresHead, []string{"CPU, hook ÷ it", "faults, hook ÷ it"}),
	}
	for i := range others {
		o := &others[i]
		if o.err != nil {
			note(o.err.Error())
			t.add(slices.Concat([]string{o.name + " (not installed)"}, slices.Repeat([]string{none}, len(figuresHead)+2))...)
			continue
		}
		samples, err := b.checked(state, o.n, hook, &o.program)
		if err != nil {
			return err
		}
		if len(t.rows) == 0 {
			t.add(slices.Concat([]string{hook.name}, figures(hook, samples[0]), []string{"1", "1"})...)
		}
		t.add(slices.Concat([]string{o.name}, figures(&o.program, samples[1]),
			[]string{within(compare(samples[0], samples[1], cpu), o.budget), within(compare(samples[0], samples[1], faults), o.faults)})...)
	}
	t.print()
	fmt.Println("\nFaults are minor ones; they and the calls include children; KiB are the resident peak of the process alone.")
	return remarks(hook, others)
}

// within is a ratio and how it stands to its budget, if it has one.
func within(r ratio, budget float64) string {
	if budget == 0 {
		return r.String()
	}
	return r.String() + " " + atMost(r.mid, budget)
}

// remarks says what the table does not: whether the C program is still what it
// claims to be, and how little a Go program could take.
func remarks(hook *program, others []contender) error {
	empty, minimal, python := &others[0], &others[1], &others[3]
	if minimal.err == nil {
		switch text, err := difference(hook, &minimal.program); {
		case err != nil:
			note(err.Error())
		case text != "":
			fmt.Println("The C program is out of date:", text+".")
		default:
			fmt.Println("The C program and the hook make the same calls, once the Go runtime is up.")
		}
	}
	if python.err == nil {
		samples, err := rounds(max(python.n/2, 3), &empty.program, &python.program)
		if err != nil {
			return err
		}
		fmt.Printf("An empty Go program takes %v of what python3 -c takes.\n", compare(samples[0], samples[1], cpu))
	}
	return nil
}

// contenders are, in this order: an empty Go program, C with the same calls,
// an empty C program, Python, a shell.
func (b *run) contenders(state string, hook *program) ([]contender, error) {
	f, err := hookFiles(state)
	if err != nil {
		return nil, err
	}
	names := []string{state, f.identity, f.lock, f.record}
	empty, err := b.buildGo("empty.go")
	if err != nil {
		return nil, err
	}
	minimal, minimalErr := b.buildC("minimal.c")
	emptyC, emptyErr := b.buildC("empty.c")
	python, pythonErr := python()
	bash, bashErr := lookAll("bash", "jq", "flock", "mv")
	slow := max(b.n/4, 3)
	all := []contender{
		{program: program{name: "empty Go program", argv: []string{empty}}, n: b.n, budget: 1.35, faults: 1.2},
		{program: program{name: "C, the same calls", argv: append([]string{minimal}, names...)}, n: b.n, err: minimalErr},
		{program: program{name: "empty C program", argv: []string{emptyC}}, n: b.n, err: emptyErr},
		{program: program{name: "python3 -c", argv: append([]string{python, "-c", source("write.py")}, names...)}, n: slow, budget: 0.1, err: pythonErr},
		{program: program{name: "bash + jq", argv: append([]string{bash, "-c", source("write.sh"), "bash"}, names...)}, n: slow, err: bashErr},
	}
	for i := range all {
		all[i].env, all[i].input = hook.env, hook.input
	}
	return all, nil
}

// otherEvents compares events that do more or less with the update of a
// record.
func otherEvents(b *run) error {
	state := b.state(b.sizes[0])
	update := b.hook("update of a record", state, prompt(session))
	made := 0
	create := b.hook("new record", state, nil)
	create.input = func() []byte {
		made++
		return prompt(fmt.Sprintf("%08x-0000-4000-8000-000000000000", made))
	}
	unknown := b.hook("unknown event", state, []byte(common(session, "SomeFutureEvent")+"}"))
	late := b.hook("event without a record", state, []byte(common("00000000-0000-4000-8000-000000000000", "PostToolUse")+`,"tool_name":"Bash"}`))

	programs := []*program{update, create, unknown, late}
	samples, err := b.checked(state, max(b.n/2, 3), programs...)
	if err != nil {
		return err
	}
	t := &table{
		title: "2. The hook on other events",
		head:  slices.Concat([]string{"event"}, figuresHead, []string{"CPU ÷ update"}),
	}
	for i, p := range programs {
		t.add(slices.Concat([]string{p.name}, figures(p, samples[i]), []string{compare(samples[i], samples[0], cpu).String()})...)
	}
	t.print()
	return nil
}
