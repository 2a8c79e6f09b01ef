package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tongs-agents/fsstore"
	"tongs-agents/proc"
)

// Files of Claude Code 2.1.332 and 2.1.197.
func TestClaudeSamples(t *testing.T) {
	for _, test := range []struct {
		name  string
		pid   int
		start string
		want  string
	}{
		{"starting", 32098, "1027744", ""},
		{"idle", 32098, "1027744", `16:52:25.371 idle 3c7268fa "/home/me/work"`},
		{"busy", 32098, "1027744", `16:52:45.107 running 3c7268fa "/home/me/work"`},
		{"waiting", 32098, "1027744", `16:53:32.950 waiting 3c7268fa "permission prompt" "/home/me/work"`},
		{"cleared", 32098, "1027744", `16:54:28.483 running 1d4ec227 "/home/me/work"`},
		{"headless", 7667, "1051417", `16:56:23.700 running dfe9f89a "/home/me/work"`},
		{"background", 9368, "1055165", `16:57:01.180 running 9fc56444 "/home/me/work" "background"`},
		{"renamed", 9363, "1055161", `16:57:43.047 running 00d6aebe "/home/me/work" "background"`},
		{"idle-2.1.197", 1554, "1045452", `16:55:22.804 idle 828b7773 "/home/me/work"`},
		{"waiting-2.1.197", 1554, "1045452", `16:56:07.591 waiting 828b7773 "permission prompt" "/home/me/work"`},
		{"dialog-2.1.197", 1554, "1045452", ""},
	} {
		file := []byte(read(t, "claude/"+test.name+".json"))
		if got := summary(ParseClaude(file, test.pid, test.start)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
		for n := range file {
			if o, ok := ParseClaude(file[:n], test.pid, test.start); ok {
				t.Errorf("%s, %d bytes: got %+v, want nothing", test.name, n, o)
				break
			}
		}
	}
}

func TestParseClaude(t *testing.T) {
	const before, after = `{"pid":7,"procStart":"55","sessionId":"s","status":"idle","statusUpdatedAt":1500`, `}`
	const plain = "00:00:01.500 idle s"
	for _, test := range []struct{ name, file, want string }{
		{"least", before + after, plain},
		{"white space", " \n" + before + " \t" + after + "\n", plain},
		{"start as a number", before + `,"procStart":55` + after, plain},
		{"of several members the last", before + `,"status":"idle","status":"busy"` + after, "00:00:01.500 running s"},
		{"other case", before + `,"Status":"busy","PID":8` + after, plain},
		{"escapes", strings.Replace(before, `"idle"`, `"\u0069dle"`, 1) + after, plain},
		{"unknown keys", before + `,"x":{"status":"busy"},"y":[null,{"pid":8}]` + after, plain},
		{"unknown wait", before + `,"status":"waiting","waitingFor":"Godot"` + after, `00:00:01.500 waiting s "Godot"`},
		{"wait without a reason", before + `,"status":"waiting"` + after, "00:00:01.500 waiting s"},
		{"reason of a former wait", before + `,"waitingFor":"input needed"` + after, plain},
		{"relative cwd", before + `,"cwd":"?"` + after, plain},

		{"no pid", strings.Replace(before, `"pid":7,`, ``, 1) + after, ""},
		{"other pid", before + `,"pid":8` + after, ""},
		{"pid as text", before + `,"pid":"7"` + after, ""},
		{"pid with a fraction", before + `,"pid":7.0` + after, ""},
		{"no start", strings.Replace(before, `"procStart":"55",`, ``, 1) + after, ""},
		{"other start", before + `,"procStart":"56"` + after, ""},
		{"start of another form", before + `,"procStart":"55 "` + after, ""},
		{"start without a value", before + `,"procStart":null` + after, ""},
		{"keys of former releases", `{"pid":7,"session_id":"s","started_at":1500}`, ""},
		{"no session", strings.Replace(before, `"sessionId":"s",`, ``, 1) + after, ""},
		{"empty session", before + `,"sessionId":""` + after, ""},
		{"long session", before + `,"sessionId":"` + strings.Repeat("s", fsstore.MaxSession+1) + `"` + after, ""},
		{"NUL in the session", before + `,"sessionId":"s\u0000"` + after, ""},
		{"half a character in the session", before + `,"sessionId":"s\ud800"` + after, ""},
		{"no UTF-8 in the session", before + ",\"sessionId\":\"s\xff\"" + after, ""},
		{"long reason", before + `,"waitingFor":"` + strings.Repeat("r", fsstore.MaxDetail+1) + `"` + after, ""},
		{"no status", strings.Replace(before, `"status":"idle",`, ``, 1) + after, ""},
		{"unknown status", before + `,"status":"dreaming"` + after, ""},
		{"status of another type", before + `,"status":true` + after, ""},
		{"menu", before + `,"status":"waiting","waitingFor":"dialog open"` + after, ""},
		{"no time", strings.Replace(before, `,"statusUpdatedAt":1500`, ``, 1) + after, ""},
		{"time 0", before + `,"statusUpdatedAt":0` + after, ""},
		{"time before 1970", before + `,"statusUpdatedAt":-1500` + after, ""},
		{"time as text", before + `,"statusUpdatedAt":"2026-11-29T16:58:03.087Z"` + after, ""},
		{"time out of range", before + `,"statusUpdatedAt":9223372036854775808` + after, ""},
		{"more behind it", before + after + "x", ""},
		{"twice", before + after + before + after, ""},
		{"rest of a longer one", before + after + `"waitingFor":"permission prompt"}`, ""},
		{"array", "[" + before + after + "]", ""},
		{"control character", before + ",\"x\":\"\n\"" + after, ""},
		{"NUL", before + "\x00" + after, ""},
		{"deep", before + `,"x":` + strings.Repeat("[", 1<<16) + after, ""},
		{"", "", ""},
	} {
		if got := summary(ParseClaude([]byte(test.file), 7, "55")); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if o, ok := ParseClaude([]byte(strings.Replace(before, `"55"`, `""`, 1)+after), 7, ""); ok {
		t.Errorf("empty start: got %+v, want nothing", o)
	}
}

// home has the file of a process, as idle.json has it, and its environment.
func home(t testing.TB, env ...string) (dir string, root proc.FS) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, ".claude/sessions/32098.json"), read(t, "claude/idle.json"))
	root = proc.FS(t.TempDir())
	for i, v := range env {
		env[i] = strings.ReplaceAll(v, "HERE", dir)
	}
	write(t, filepath.Join(string(root), "32098/environ"), strings.Join(env, "\x00"))
	return dir, root
}

const (
	claudeSession = "3c7268fa-e1b9-4951-a22e-94f5864aec9b"
	claudeStart   = "1027744"
)

func claudeRecord(transcript string) *fsstore.Record {
	r := record("claude", claudeSession)
	r.PID, r.ProcessStart, r.TranscriptPath = "32098", claudeStart, transcript
	return r
}

func TestClaudeObserve(t *testing.T) {
	const want = `16:52:25.371 idle 3c7268fa "interrupted" "/home/me/work"`
	const transcript = "/.claude/projects/-home-me-work/" + claudeSession + ".jsonl"
	dir, root := home(t, "HOME=HERE")
	for _, test := range []struct {
		name   string
		change func(r *fsstore.Record)
		want   string
	}{
		{"by the transcript", func(r *fsstore.Record) {}, want},
		{"of a subagent", func(r *fsstore.Record) {
			r.TranscriptPath = strings.TrimSuffix(r.TranscriptPath, ".jsonl") + "/subagents/agent-a1.jsonl"
		}, want},
		{"by the environment", func(r *fsstore.Record) { r.TranscriptPath = "" }, want},
		{"by the environment, for a transcript elsewhere", func(r *fsstore.Record) { r.TranscriptPath = "/x.jsonl" }, want},
		{"relative transcript", func(r *fsstore.Record) { r.TranscriptPath = "x/projects/y/z.jsonl" }, want},
		{"transcript of another place", func(r *fsstore.Record) { r.TranscriptPath = "/x/projects/y/z.jsonl" }, ""},
		{"other session", func(r *fsstore.Record) { r.Session = "1d4ec227-d9cf-43c0-84b0-f37b8ffb7652" }, ""},
		{"other process", func(r *fsstore.Record) { r.PID = "32099" }, ""},
		{"other start", func(r *fsstore.Record) { r.ProcessStart = "1027745" }, ""},
		{"no process", func(r *fsstore.Record) { r.PID, r.ProcessStart = "", "" }, ""},
		{"no pid", func(r *fsstore.Record) { r.PID = "99999999999999999999" }, ""},
	} {
		r := claudeRecord(dir + transcript)
		test.change(r)
		if got := summary(ByHarness("claude", root).Observe(r)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestClaudeIdentify(t *testing.T) {
	const want = `16:52:25.371 idle 3c7268fa "/home/me/work"`
	for _, test := range []struct {
		name string
		env  []string
		want string
	}{
		{"home", []string{"A=1", "HOME=HERE", "B=2"}, want},
		{"configuration directory", []string{"HOME=/x", "CLAUDE_CONFIG_DIR=HERE/.claude"}, want},
		{"the first of two", []string{"HOME=HERE", "HOME=/x"}, want},
		{"slash at the end", []string{"CLAUDE_CONFIG_DIR=HERE/.claude/"}, want},
		{"empty", []string{"HOME=HERE", "CLAUDE_CONFIG_DIR="}, want},
		{"relative", []string{"HOME=HERE", "CLAUDE_CONFIG_DIR=.claude"}, want},
		{"other directory", []string{"HOME=HERE", "CLAUDE_CONFIG_DIR=/x"}, ""},
		{"relative home", []string{"HOME=."}, ""},
		{"other names", []string{"HOMES=HERE", "XHOME=HERE", "HOME"}, ""},
		{"none", nil, ""},
		{"beyond all bounds", []string{"X=" + strings.Repeat("x", 1<<20), "HOME=HERE"}, ""},
	} {
		_, root := home(t, test.env...)
		source := ByHarness("claude", root).(Identifier)
		if got := summary(source.Identify(32098, claudeStart)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
		if got := summary(source.Identify(32098, "1027745")); got != "" {
			t.Errorf("%s, other start: got %s, want nothing", test.name, got)
		}
		if got := summary(source.Identify(32099, claudeStart)); got != "" {
			t.Errorf("%s, no such process: got %s, want nothing", test.name, got)
		}
	}
}

func TestClaudeHostile(t *testing.T) {
	dir, root := home(t, "HOME=HERE")
	r := claudeRecord("")
	testHostile(t, dir+"/.claude/sessions/32098.json", func() (Observation, bool) {
		return ByHarness("claude", root).Observe(r)
	})
	t.Run("too long", func(t *testing.T) {
		for _, more := range []int{0, 1} {
			path := dir + "/.claude/sessions/32098.json"
			contents := read(t, "claude/idle.json")
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			write(t, path, contents+strings.Repeat(" ", maxClaude-len(contents)+more))
			if o, ok := ByHarness("claude", root).Observe(r); ok != (more == 0) {
				t.Errorf("%d bytes: got %+v, %t", maxClaude+more, o, ok)
			}
		}
	})
}

func BenchmarkClaude(b *testing.B) {
	dir, root := home(b, "HOME=HERE")
	for _, transcript := range []string{dir + "/.claude/projects/x/y.jsonl", ""} {
		r := claudeRecord(transcript)
		b.Run(fmt.Sprintf("transcript=%t", transcript != ""), func(b *testing.B) {
			source := ByHarness("claude", root)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := source.Observe(r); !ok {
					b.Fatal("nothing")
				}
			}
		})
	}
}
