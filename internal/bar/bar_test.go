package bar

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/shell"
)

var now = time.Unix(1_700_000_000, 0)

// row is of a session that was reported some seconds ago.
func row(status fsstore.Status, ago int64, change ...func(*fsstore.Record)) *fsstore.Annotated {
	r := &fsstore.Record{
		Key: fsstore.Key{Harness: "claude", Session: "s", Instance: fsstore.Unresolved}, Status: status, TS: now.Unix() - ago,
	}
	for _, f := range change {
		f(r)
	}
	a := fsstore.Annotate(r, now)
	return &a
}

func named(repo, title, detail string) func(*fsstore.Record) {
	return func(r *fsstore.Record) { r.Repo, r.Title, r.Detail = repo, title, detail }
}

// evil is a text that means something to each of the bars.
const evil = `#(touch x) #{host} #[fg=red] <b>&amp;"'\ ` + "\x1b[31m\nb\u202e"

// show words rows, which are in the order of a listing.
func show(t *testing.T, format string, rows ...*fsstore.Annotated) string {
	t.Helper()
	f, err := Parse(format)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Text(NewData(rows))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMain(m *testing.M) {
	os.Setenv("LC_ALL", "C.UTF-8")
	os.Exit(m.Run())
}

// Each session that has not ended is counted once.
func TestCounts(t *testing.T) {
	all := []*fsstore.Annotated{
		row(fsstore.Waiting, 9), row(fsstore.Waiting, 1), row(fsstore.Idle, 500), row(fsstore.Error, 1),
		row(fsstore.Idle, 1), row(fsstore.Running, 1), row(fsstore.Started, 1), row(fsstore.Discovered, 1), row(fsstore.Ended, 1),
	}
	for _, test := range []struct {
		rows        []*fsstore.Annotated
		want, ascii string
	}{
		{nil, "", ""},
		{all[8:], "", ""},
		{all, "2● 2○ 1✗ 3⚠\n", "2* 2o 1x 3!\n"},
		{all[:3], "3⚠\n", "3!\n"},
		{all[3:4], "1✗\n", "1x\n"},
		{all[4:5], "1○\n", "1o\n"},
		{all[5:7], "2●\n", "2*\n"},
		{[]*fsstore.Annotated{all[0], all[5], all[5]}, "2● 1⚠\n", "2* 1!\n"},
	} {
		for _, format := range []string{"starship", "{{.Counts}}"} {
			t.Setenv("LC_ALL", "C.UTF-8")
			if got := show(t, format, test.rows...); got != test.want {
				t.Errorf("%s shows %q, want %q", format, got, test.want)
			}
			t.Setenv("LC_ALL", "C")
			if got := show(t, format, test.rows...); got != test.ascii {
				t.Errorf("without UTF-8 %s shows %q, want %q", format, got, test.ascii)
			}
		}
	}
}

// A format has nothing to show of nothing.
func TestNothing(t *testing.T) {
	for _, format := range append(Names(), "{{range .Sessions}}{{.Status}}{{end}}") {
		if got := show(t, format); got != "" {
			t.Errorf("%s shows %q", format, got)
		}
		if format[0] == '{' {
			continue
		}
		if got := show(t, format, row(fsstore.Ended, 1)); got != "" {
			t.Errorf("%s shows %q of a session that has ended", format, got)
		}
	}
}

func TestTmux(t *testing.T) {
	for _, test := range []struct {
		rows []*fsstore.Annotated
		want string
	}{
		{[]*fsstore.Annotated{row(fsstore.Running, 1, named("app", "", ""))}, "1●\n"},
		{[]*fsstore.Annotated{row(fsstore.Waiting, 9, named("app", "", "")), row(fsstore.Waiting, 1), row(fsstore.Running, 1)},
			"1● #[reverse]2⚠ app#[noreverse]\n"},
		{[]*fsstore.Annotated{row(fsstore.Waiting, 9, named("", "the title", ""))}, "#[reverse]1⚠ the title#[noreverse]\n"},
		{[]*fsstore.Annotated{row(fsstore.Waiting, 9)}, "#[reverse]1⚠ claude#[noreverse]\n"},
		{[]*fsstore.Annotated{row(fsstore.Waiting, 9, named("#(touch x)#{x}#[fg", "", ""))},
			"#[reverse]1⚠ ##(touch x)##{x}##[fg#[noreverse]\n"},
		{[]*fsstore.Annotated{row(fsstore.Waiting, 9, named("1234567890123456789012345", "", ""))},
			"#[reverse]1⚠ 1234567890123456789…#[noreverse]\n"},
	} {
		if got := show(t, "tmux", test.rows...); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// unmarkup reads Pango markup, which is XML, as the text that it shows. There
// must be no element in it.
func unmarkup(t *testing.T, markup string) string {
	t.Helper()
	var b strings.Builder
	for d := xml.NewDecoder(strings.NewReader("<markup>" + markup + "</markup>")); ; {
		token, err := d.Token()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			t.Fatalf("%v in %q", err, markup)
		}
		switch token := token.(type) {
		case xml.CharData:
			b.Write(token)
		case xml.StartElement:
			if token.Name.Local != "markup" {
				t.Errorf("<%s> in %q", token.Name.Local, markup)
			}
		}
	}
}

type waybarOutput struct{ Text, Tooltip, Class, Alt string }

func decodeWaybar(t *testing.T, s string) waybarOutput {
	t.Helper()
	if strings.Count(s, "\n") != 1 { // it reads the first line
		t.Errorf("not one line: %q", s)
	}
	var o waybarOutput
	d := json.NewDecoder(strings.NewReader(s))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		t.Fatalf("%v in %q", err, s)
	}
	o.Text, o.Tooltip = unmarkup(t, o.Text), unmarkup(t, o.Tooltip)
	return o
}

func TestWaybar(t *testing.T) {
	waiting := row(fsstore.Waiting, 65, named("a<b>&c", "", evil))
	failed, idle, running := row(fsstore.Error, 5), row(fsstore.Idle, 5), row(fsstore.Running, 5, named("app", "", "using Bash"))
	ended := row(fsstore.Ended, 5)
	for _, test := range []struct {
		rows []*fsstore.Annotated
		want waybarOutput
	}{
		{[]*fsstore.Annotated{waiting, failed, idle, running, ended}, waybarOutput{
			"1● 1○ 1✗ 1⚠",
			`claude a<b>&c: waiting 1m, #(touch x) #{host} #[fg=red] <b>&amp;"'\ b` +
				"\nclaude: error 5s\nclaude: idle 5s\nclaude app: running 5s, using Bash",
			"attention", "attention",
		}},
		{[]*fsstore.Annotated{failed, running}, waybarOutput{"1● 1✗", "claude: error 5s\nclaude app: running 5s, using Bash", "error", "error"}},
		{[]*fsstore.Annotated{idle, running}, waybarOutput{"1● 1○", "claude: idle 5s\nclaude app: running 5s, using Bash", "active", "active"}},
		{[]*fsstore.Annotated{idle}, waybarOutput{"1○", "claude: idle 5s", "quiet", "quiet"}},
		{[]*fsstore.Annotated{row(fsstore.Running, now.Unix())}, waybarOutput{"1●", "claude: running", "active", "active"}},
	} {
		if got := decodeWaybar(t, show(t, "waybar", test.rows...)); got != test.want {
			t.Errorf("got %+v\nwant %+v", got, test.want)
		}
	}
}

// A tooltip fits a screen.
func TestTooltip(t *testing.T) {
	var rows []*fsstore.Annotated
	for range 23 {
		rows = append(rows, row(fsstore.Running, 5, named("app", "", strings.Repeat("long ", 100))))
	}
	lines := strings.Split(decodeWaybar(t, show(t, "waybar", rows...)).Tooltip, "\n")
	if len(lines) != 21 || lines[20] != "and 3 more" {
		t.Errorf("%d lines, the last one %q", len(lines), lines[len(lines)-1])
	}
	if n := len([]rune(lines[0])); n != 100 {
		t.Errorf("a line of %d cells", n)
	}
}

func TestI3blocks(t *testing.T) {
	for _, test := range []struct {
		rows []*fsstore.Annotated
		want string
	}{
		{[]*fsstore.Annotated{row(fsstore.Running, 1), row(fsstore.Idle, 1)}, "1● 1○\n"},
		{[]*fsstore.Annotated{row(fsstore.Error, 1)}, "1✗\n1✗\n#FF5F5F\n"},
		{[]*fsstore.Annotated{row(fsstore.Waiting, 1, named("a<b>&c", "", "")), row(fsstore.Error, 1)},
			"1✗ 1⚠ a&lt;b&gt;&amp;c\n1✗ 1⚠\n#FFD700\n"},
	} {
		if got := show(t, "i3blocks", test.rows...); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestFailed(t *testing.T) {
	err := errors.New("store /src/<b> unavailable:\x1b[31m no directory")
	for name, want := range map[string]string{
		"tmux":     "#[reverse]agents ✗#[noreverse]\n",
		"i3blocks": "agents ✗\nagents ✗\n#FF5F5F\n",
		"starship": "agents ✗\n",
		"{{.}}":    "",
	} {
		f, e := Parse(name)
		if e != nil {
			t.Fatal(e)
		}
		if got := f.Failed(err); got != want {
			t.Errorf("%s shows %q, want %q", name, got, want)
		}
		if hides := name == "i3blocks" || name == "starship"; f.HidesFailures != hides {
			t.Errorf("%s hides failures: %v", name, f.HidesFailures)
		}
	}
	f, e := Parse("waybar")
	if e != nil {
		t.Fatal(e)
	}
	want := waybarOutput{"agents ✗", "store /src/<b> unavailable: no directory", "unavailable", "unavailable"}
	if got := decodeWaybar(t, f.Failed(err)); got != want || !f.HidesFailures {
		t.Errorf("got %+v (hides failures: %v)\nwant %+v", got, f.HidesFailures, want)
	}
}

func TestTemplate(t *testing.T) {
	rows := []*fsstore.Annotated{
		row(fsstore.Waiting, 65, named("app", evil, evil), func(r *fsstore.Record) {
			r.Subagents, r.BackgroundTasks, r.Tool, r.Cwd, r.Model, r.PID, r.TTY = 1, 2, "Bash\a", "/src/app\n", "m\x00", "7", "pts/7"
			r.TerminalEnv = []fsstore.Var{{Name: fsstore.EnvLaunchID, Value: "0a"}, {Name: fsstore.EnvProfileID, Value: "night\a"}}
		}),
		row(fsstore.Running, 5),
	}
	const clean = `#(touch x) #{host} #[fg=red] <b>&amp;"'\ b`
	for _, test := range []struct{ template, want string }{
		{"{{.Total}} {{.Active}} {{.Idle}} {{.NeedsAttention}}", "2 1 0 1\n"},
		{"{{.Running}} {{.Started}} {{.Waiting}} {{.Error}} {{.Discovered}} {{.Ended}}", "1 0 1 0 0 0\n"},
		{"{{range .Sessions}}{{.Agent}} {{.Status}} {{.Session}}\n{{end}}", "claude waiting s\nclaude running s\n"},
		{"{{range .Attention}}{{.Title}}{{end}}", clean + "\n"},
		{"{{range .Attention}}{{.Detail}}{{end}}", clean + " (2 in background) (1 subagent)\n"},
		{"{{range .Attention}}{{.Tool}}|{{.Cwd}}|{{.Model}}|{{.PID}}|{{.TTY}}|{{.Launch}}|{{.Profile}}{{end}}", "Bash|/src/app|m|7|pts/7|0a|night\n"},
		{"{{range .Attention}}{{.Age}} {{.AgeSeconds}} {{age .AgeSeconds}} {{.NeedsAttention}} {{.Duplicate}}{{end}}", "1m 65 1m true false\n"},
		{"{{range .Attention}}{{.Subagents}} {{.BackgroundTasks}} {{.ID}}{{end}}", "1 2 " + rows[0].CanonicalID() + "\n"},
		{"{{range .Attention}}{{.Title | tmux}}{{end}}", strings.ReplaceAll(clean, "#", "##") + "\n"},
		{"{{range .Attention}}{{.Title | cut 9}}{{end}}", "#(touch …\n"},
		{"{{age 7200}}", "2h0m\n"},
		{"two\nlines\n{{.Total}}\n", "two\nlines\n2\n"},
		{"{{if .Error}}x{{end}}", ""},
	} {
		if got := show(t, test.template, rows...); got != test.want {
			t.Errorf("%s shows %q, want %q", test.template, got, test.want)
		}
	}

	var s string
	if err := json.Unmarshal([]byte(show(t, "{{range .Attention}}{{.Title | json}}{{end}}", rows...)), &s); err != nil || s != clean {
		t.Errorf("as JSON %q, %v", s, err)
	}
	if got := unmarkup(t, show(t, "{{range .Attention}}{{.Title | pango}}{{end}}", rows...)); got != clean+"\n" {
		t.Errorf("as markup %q", got)
	}
	words, ok := shell.Split(strings.TrimSpace(show(t, "{{range .Attention}}{{.Title | shell}}{{end}}", rows...)))
	if !ok || !reflect.DeepEqual(words, []string{clean}) {
		t.Errorf("in a shell %q, %v", words, ok)
	}
}

func TestBadTemplate(t *testing.T) {
	for _, test := range []struct{ template, want string }{
		{"{{.Active", "--format:1: unclosed action"},
		{"{{.Active}}\n{{nope}}", `--format:2: function "nope" not defined`},
		{"{{if .Active}}x", "--format:1: unexpected EOF"},
		{"waybr", `--format: unknown format "waybr", want one of: tmux waybar i3blocks starship, or a template such as {{.Active}}`},
		{"", `--format: unknown format "", want one of: tmux waybar i3blocks starship, or a template such as {{.Active}}`},
	} {
		if _, err := Parse(test.template); err == nil || err.Error() != test.want {
			t.Errorf("%q: got %v, want %s", test.template, err, test.want)
		}
	}
	for _, test := range []struct{ template, want string }{
		{"{{.Active}} {{.Nope}}", `--format:1:14: executing "--format" at <.Nope>: can't evaluate field Nope`},
		{"x\n{{index .Sessions 5}}", `--format:2:2: executing "--format" at <index .Sessions 5>: error calling index`},
		{"{{.Active | json}}", `--format:1:12: executing "--format" at <json>: wrong type for value; expected string; got int`},
	} {
		f, err := Parse(test.template)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := f.Text(NewData(nil)); err == nil || !strings.HasPrefix(err.Error(), test.want) || s != "" {
			t.Errorf("%q: got %q, %v, want %s", test.template, s, err, test.want)
		}
	}
}

// Whatever a template can name is in the documentation.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/status-bars.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range functions() {
		names = append(names, name)
	}
	for _, of := range []reflect.Type{reflect.TypeFor[*Data](), reflect.TypeFor[Session]()} {
		for i := range of.NumMethod() {
			names = append(names, "."+of.Method(i).Name)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Data]()) {
		if f.IsExported() && !f.Anonymous {
			names = append(names, "."+f.Name)
		}
	}
	if len(names) < 35 {
		t.Errorf("only %d names: %s", len(names), fmt.Sprint(names))
	}
	for _, name := range append(names, Names()...) {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("%s is not documented", name)
		}
	}
}
