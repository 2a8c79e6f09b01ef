package main_test

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEntry: the program of all tests here begins at our entry point, and finds
// its arguments and its environment, however few or many they are.
func TestEntry(t *testing.T) {
	program, err := elf.Open(hookPath())
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	symbols, err := program.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	entry := uint64(0)
	for _, s := range symbols {
		if s.Name == "main.entry" {
			entry = s.Value
		}
	}
	if program.Entry != entry {
		t.Errorf("the program begins at %#x, main.entry is at %#x", program.Entry, entry)
	}
	many := make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprintf("VARIABLE_%d=%d", i, i)
	}
	for name, extra := range map[string][]string{"one": nil, "two": {"A="}, "many": many} {
		for args := range 4 {
			state := t.TempDir()
			cmd := exec.Command(hookPath(), strings.Fields("prompt-submit --agent claude")[:args]...)
			cmd.Env = append(extra, "TONGS_AGENTS_STATE_DIR="+state)
			cmd.Stdin = strings.NewReader(`{"session_id":"` + name + `","hook_event_name":"UserPromptSubmit"}`)
			out, err := cmd.CombinedOutput()
			if err != nil || len(out) > 0 {
				t.Errorf("%s variables, %d arguments: %v, %q", name, args, err, out)
			}
			records, err := filepath.Glob(state + "/sessions/*.json")
			if len(records) != 1 {
				t.Errorf("%s variables, %d arguments: %d records, %v", name, args, len(records), err)
			}
		}
	}
}
