package fsstore

import "testing"

func TestResumeObstacle(t *testing.T) {
	const headless = "it worked without the user"
	const ended = "it was ended, and not by a signal"
	end := func(reason, mode string) func(*Record) {
		return func(r *Record) { r.Status, r.EndReason, r.Mode = Ended, reason, mode }
	}
	for _, test := range []struct {
		name   string
		change func(*Record)
		want   string
	}{
		{"as it is", func(r *Record) {}, ""},
		{"legacy", func(r *Record) { r.Legacy = true }, "its record is a legacy one"},
		{"process", func(r *Record) { r.Kind = KindProcess }, "no hook has named its session"},
		{"tombstone", func(r *Record) { r.RemovedAt = 1 }, "it was removed"},
		{"no directory", func(r *Record) { r.Cwd = "" }, "its directory is not known"},
		{"no command", func(r *Record) { r.Resume = nil }, "there is no command that resumes it"},
		{"headless", func(r *Record) { r.Mode = Headless }, headless},
		{"background", func(r *Record) { r.Mode = Background }, ""},
		{"ended by the user", end("prompt_input_exit", Interactive), ended},
		{"ended by a signal", end("other", Interactive), ""},
		{"ended by a signal in the background", end("other", Background), ended},
		{"ended by a signal, headless", end("other", Headless), headless},
		{"ended, of a harness whose ends do not tell", func(r *Record) { end("other", Interactive)(r); r.Harness = "codex" }, ended},
		{"ended in another boot", func(r *Record) { end("", Interactive)(r); r.BootID = "earlier" }, ""},
		{"ended in no known boot", func(r *Record) { end("", Interactive)(r); r.BootID = "" }, ended},
	} {
		r := &Record{
			Key: Key{"claude", "s", "1:2"}, Kind: KindSession, Status: Running,
			Cwd: "/src", Resume: []string{"claude"}, BootID: "here",
		}
		test.change(r)
		if got := r.ResumeObstacle("here"); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if got := r.CanResume("here"); got != (test.want == "") {
			t.Errorf("%s: CanResume is %v", test.name, got)
		}
		for _, dead := range []bool{false, true} {
			want := test.want == "" && (dead || r.Status == Ended)
			if got := r.CutOff("here", dead); got != want {
				t.Errorf("%s, dead %v: CutOff is %v", test.name, dead, got)
			}
		}
	}
}
