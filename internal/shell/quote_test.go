package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tongs-agents/internal/text"
)

func TestWord(t *testing.T) {
	for _, test := range []struct{ word, want string }{
		{"", "''"},
		{"claude", "claude"},
		{"--resume=872de908-a5e1", "--resume=872de908-a5e1"},
		{"/usr/bin/a_b:c@d%e+f,g", "/usr/bin/a_b:c@d%e+f,g"},
		{"=ls", "'=ls'"}, // zsh would look for ls
		{"a b", "'a b'"},
		{"$HOME `id` \"x\" \\", "'$HOME `id` \"x\" '\\\\"},
		{"it's", `'it'\''s'`},
		{"~", "'~'"},
		{"漢字", "'漢字'"},
		{"a  b", `$'a\040\040b'`}, // two spaces would be shown as one
		{"a\nb", `$'a\012b'`},
		{"\x1b[31m'\\", `$'\033\13331m\047\134'`},
		{"a\u202eb", `$'a\342\200\256b'`},
	} {
		got := Word(test.word)
		if got != test.want {
			t.Errorf("Word(%q) = %s, want %s", test.word, got, test.want)
		}
		if clean := text.Clean("x " + got); clean != "x "+got {
			t.Errorf("Word(%q) = %q is shown as %q", test.word, got, clean)
		}
	}
}

// What is printed as a command, a shell reads as the same words.
func TestCommand(t *testing.T) {
	visible := []string{
		"", "plain", "two words", "it's", `back\slash`, `end\`, "$HOME", "`id`", "*", "~root", "#", "a;b",
		"漢字", "'", "''", `\'`, `'\`, "!x", "=ls", "-n", "{a,b}", "%1", "(x)", "$(id)", "a&&b", "^x^y",
	}
	invisible := []string{"two  spaces", "a\nb\tc", "\x1b[2J", "\x7f\u0085\u202e\u2028", "1\u00a02", "'\n; id #", "\\\n'; id #"}
	for _, shell := range []struct {
		name string
		args []string
	}{
		{"bash", append(visible, invisible...)},
		{"zsh", append(visible, invisible...)},
		{"dash", visible},
		{"fish", visible},
	} {
		path, err := exec.LookPath(shell.name)
		if err != nil {
			t.Log(err)
			continue
		}
		command := Command(append([]string{"printf", `%s\0`}, shell.args...))
		out, err := exec.Command(path, "-c", command).Output()
		if err != nil {
			t.Errorf("%s: %v", shell.name, err)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if !slices.Equal(got, shell.args) {
			t.Errorf("%s reads %s as\n%q, want\n%q", shell.name, command, got, shell.args)
		}
	}
}

// A shell that does not know how a word is quoted runs nothing that is in it.
func TestCommandElsewhere(t *testing.T) {
	for _, word := range []string{"\n'; echo ran #", "\\\n'; echo ran #", "\n\\'; echo ran; '", "\n$(echo ran)`echo ran`"} {
		out, _ := exec.Command("sh", "-c", Command([]string{"true", word})).CombinedOutput()
		if strings.Contains(string(out), "ran") {
			t.Errorf("%q: %s", word, out)
		}
	}
}

// The name of a command is none of the shell's own words for something else.
func TestCommandName(t *testing.T) {
	for name, want := range map[string]string{
		"claude": "claude x", "/opt/a-b/claude": "/opt/a-b/claude x", "A=b": "'A=b' x", "%1": "env %1 x", "%A=b": "'%A=b' x", "=x": "'=x' x",
		"if": "env if x", "eval": "env eval x", ".": "env . x", "evaluate": "evaluate x", "env": "env x",
	} {
		if got := Command([]string{name, "x"}); got != want {
			t.Errorf("Command(%q, x) = %s, want %s", name, got, want)
		}
	}
	if got := Command(nil); got != "" {
		t.Errorf("no command is %q", got)
	}
}

// Whatever a shell has of its own, the program of that name runs. The exceptions
// do what their program does.
func TestOwnWords(t *testing.T) {
	same := []string{"[", "echo", "false", "kill", "login", "printf", "pwd", "test", "true", "realpath"}
	dir := t.TempDir()
	for name, list := range map[string]string{
		"bash": "compgen -k; compgen -b",
		"zsh":  "print -l ${(k)builtins} ${(k)reswords}",
		"fish": "builtin -n",
	} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Log(err)
			continue
		}
		words, err := exec.Command(path, "-c", list).Output()
		if err != nil || len(words) < 100 {
			t.Fatalf("%s: %q, %v", name, words, err)
		}
		var script, want strings.Builder
		for _, word := range strings.Fields(string(words)) {
			if slices.Contains(same, word) || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_:") != "" || strings.HasPrefix(word, "_") || strings.HasPrefix(word, "comp") {
				continue // what is quoted is none, and what only works in a completion does nothing
			}
			if err := os.WriteFile(filepath.Join(dir, word), []byte("#!/bin/sh\necho \"${0##*/} $*\"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			script.WriteString(Command([]string{word, "x"}) + "\n")
			want.WriteString(word + " x\n")
		}
		cmd := exec.Command(path, "-c", script.String())
		cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "HOME=" + dir}
		if out, _ := cmd.CombinedOutput(); string(out) != want.String() {
			t.Errorf("%s runs\n%s, want\n%s", name, out, want.String())
		}
	}
}
