package text

import (
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	for _, test := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "Fix the login", "Fix the login"},
		{"long word", long, long},
		{"long after a sequence", "\x1b[31m" + long, long},

		{"CSI", "a\x1b[31mred\x1b[0m b", "ared b"},
		{"CSI, parameters and intermediates", "a\x1b[?1049;1:2 qb", "ab"},
		{"CSI, C1", "a\u009b31mb", "ab"},
		{"CSI without end", "a\x1b[31", "a"},
		{"CSI, ended by another", "a\x1b[1;\x1b[2mb", "ab"},
		{"CSI, ended by CAN", "a\x1b[31\x18mb", "amb"},
		{"CSI, ended by SUB", "a\x1b[31\x1amb", "amb"},
		{"CSI with a control inside", "a\x1b[3\n1mb", "a b"},
		{"CSI with DEL inside", "a\x1b[3\x7f1mb", "ab"},
		{"CSI with a character inside", "a\x1b[3✓1mb", "a✓1mb"},

		{"OSC, BEL", "\x1b]0;title\x07tail", "tail"},
		{"OSC, ST", "\x1b]0;title\x1b\\tail", "tail"},
		{"OSC, C1", "a\u009d0;t\u009cb", "ab"},
		{"OSC of characters with a byte 9C", "\x1b]0;done ✓ 中文 Ü\x07tail", "tail"},
		{"OSC, ended by CAN", "\x1b]0;t\x18b", "b"},
		{"OSC, ended by another sequence", "\x1b]0;t\x1b[31mb", "b"},
		{"OSC with C1 inside", "\x1b]0;a\u009bb\x07c", "c"},
		{"OSC with a line end inside", "a\x1b]0;x\ny\u0085z\x07b", "ab"},
		{"OSC without end", "a\x1b]0;title", "a"},
		{"link", "a\x1b]8;;http://x/✓\x1b\\link\x1b]8;;\x1b\\b", "alinkb"},

		{"DCS", "a\x1bPq#1✓\x1b\\b", "ab"},
		{"DCS with BEL inside", "a\x1bPq\x07#1\x1b\\b", "ab"},
		{"DCS, C1", "a\u0090q\u009cb", "ab"},
		{"SOS", "a\x1bXx ✓ y\x1b\\b", "ab"},
		{"SOS, C1", "a\u0098x\u009cb", "ab"},
		{"PM", "a\x1b^x ✓ y\x1b\\b", "ab"},
		{"PM, C1", "a\u009ex\u009cb", "ab"},
		{"APC", "a\x1b_x ✓ y\x1b\\b", "ab"},
		{"APC, C1", "a\u009fx\u009cb", "ab"},

		{"ESC, two characters", "a\x1b7b\x1bcd", "abd"},
		{"ESC, three characters", "a\x1b(Bb\x1b#8c\x1b%Gd", "abcd"},
		{"ESC, a bracket that is a final character", "a\x1b([b\x1b(]c", "abc"},
		{"ESC at the end", "a\x1b", "a"},
		{"ESC twice", "a\x1b\x1b[31mb", "ab"},
		{"ESC before a character", "a\x1b✓b", "a✓b"},
		{"ESC before a line end", "a\x1b\n[31mb", "a b"},
		{"C1, others", "a\u0084\u008d\u009cb", "ab"},
		{"C1 in one byte", "a\x9b31mb", "a\ufffd31mb"}, // no character at all

		{"controls", "a\x00\x07\x08\x0e\x7fb", "ab"},
		{"bidi overrides", "a\u202db\u202ec\u202ad\u202be\u202c", "abcde"},
		{"bidi isolates", "a\u2066b\u2067c\u2068d\u2069", "abcd"},
		{"bidi marks", "a\u200eb\u200fc\u061cd", "abcd"},
		{"right to left text", "שלום עולם", "שלום עולם"},
		{"zero width", "a\u200bb\u2060c\ufeffd\u00ade\u180ef\u2063g\u3164h\u115fi\u034fj", "abcdefghij"},
		{"tags", "a\U000e0041\U000e007fb", "ab"},
		{"annotation", "a\ufff9b\ufffac\ufffb", "abc"},
		{"joiners", "می\u200cخواهم 👩\u200d💻", "می\u200cخواهم 👩\u200d💻"},
		{"joiners after a sequence", "م\u200c\x1b[31mن", "م\u200cن"},
		{"joiners that join nothing", "\u200dم\u200c \u200d👩\u200d", "م 👩"},
		{"joiners among others", "a\u200db م\u200dc d\u200cن", "ab مc dن"},
		{"joiners in a row", "م\u200c\u200d\u200cن", "م\u200cن"},
		{"combining", "e\u0301 हिन्दी", "e\u0301 हिन्दी"},
		{"variation", "❤\ufe0f", "❤\ufe0f"},
		{"sign around a number", "\u06dd١", "١"},
		{"no characters", "a\ufffeb\uffffc\U0010ffffd\ufdd0e", "abcde"},
		{"private use", "\ue0b0", "\ue0b0"}, // fonts have symbols there

		{"line ends", "a\nb\r\nc\u0085d\u2028e\u2029f\vg\fh", "a b c d e f g h"},
		{"spaces", "  a \t b  \u00a0\u3000 c  ", "a b c"},
		{"spaces alone", " \t\n\u3000", ""},
		{"spaces around a sequence", "a \x1b[0m b \x1b[0m", "a b"},
		{"not UTF-8", "a\xff\xfeb\xe4\xb8", "a\ufffd\ufffdb\ufffd\ufffd"},
		{"NUL in a word", "a\x00b", "ab"},
	} {
		got := Clean(test.in)
		if got != test.want {
			t.Errorf("%s: Clean(%.80q) = %.80q, want %.80q", test.name, test.in, got, test.want)
		}
		if again := Clean(got); again != got {
			t.Errorf("%s: Clean(%.80q) = %.80q, not the same", test.name, got, again)
		}
	}
}

func TestWidth(t *testing.T) {
	for _, test := range []struct {
		s          string
		width, max int
	}{
		{"", 0, 0},
		{"login", 5, 5},
		{"é", 1, 1},
		{"e\u0301", 1, 1},
		{"中文", 4, 4},
		{"한글", 4, 4},
		{"ｆｕｌｌ", 8, 8},
		{"…—", 2, 2},
		{"👍", 2, 2},
		{"👍🏽", 2, 4},
		{"👩\u200d💻", 2, 4},
		{"👨\u200d👩\u200d👧\u200d👦", 2, 8},
		{"🇩🇪", 2, 4},
		{"❤", 1, 1},
		{"❤\ufe0f", 2, 2},
		{"1\ufe0f\u20e3", 2, 2},
	} {
		if got := Width(test.s); got != test.width {
			t.Errorf("Width(%q) = %d, want %d", test.s, got, test.width)
		}
		if got := MaxWidth(test.s); got != test.max {
			t.Errorf("MaxWidth(%q) = %d, want %d", test.s, got, test.max)
		}
	}
}

func TestFit(t *testing.T) {
	for _, test := range []struct {
		s         string
		width     int
		tail      string
		want, end string // of Fit, of FitEnd
	}{
		{"", 0, "…", "", ""},
		{"login", 5, "…", "login", "login"},
		{"login", 4, "…", "log…", "…gin"},
		{"login", 1, "…", "…", "…"},
		{"login", 0, "…", "", ""},
		{"login", -3, "…", "", ""},
		{"login", 4, "...", "l...", "...n"},
		{"login", 2, "...", "", ""},
		{"login", 3, "", "log", "gin"},
		{"中文字", 6, "…", "中文字", "中文字"},
		{"中文字", 5, "…", "中文…", "…文字"},
		{"中文字", 4, "…", "中…", "…字"}, // no half of one
		{"e\u0301e\u0301e\u0301", 2, "…", "e\u0301…", "…e\u0301"},
		{"👩\u200d💻👩\u200d💻", 5, "…", "👩\u200d💻…", "…👩\u200d💻"},
		{"👩\u200d💻👩\u200d💻", 4, "…", "…", "…"}, // as a terminal may draw it
		{"🇩🇪🇫🇷", 6, "…", "🇩🇪…", "…🇫🇷"},
		{"1\ufe0f\u20e32\ufe0f\u20e3", 3, "…", "1\ufe0f\u20e3…", "…2\ufe0f\u20e3"},
	} {
		if got := Fit(test.s, test.width, test.tail); got != test.want {
			t.Errorf("Fit(%q, %d, %q) = %q, want %q", test.s, test.width, test.tail, got, test.want)
		}
		if got := FitEnd(test.s, test.width, test.tail); got != test.end {
			t.Errorf("FitEnd(%q, %d, %q) = %q, want %q", test.s, test.width, test.tail, got, test.end)
		}
	}
}

func TestPad(t *testing.T) {
	for _, test := range []struct {
		s     string
		width int
		want  string
	}{
		{"", 2, "  "},
		{"a", 3, "a  "},
		{"中", 3, "中 "},
		{"👩\u200d💻", 3, "👩\u200d💻 "},
		{"abc", 3, "abc"},
		{"abcd", 3, "abcd"}, // Pad does not cut
		{"a", -1, "a"},
		{"\u0d4e", 3, "\u0d4e   "}, // one cell with the first space
	} {
		if got := Pad(test.s, test.width); got != test.want {
			t.Errorf("Pad(%q, %d) = %q, want %q", test.s, test.width, got, test.want)
		}
	}
}

func TestUTF8(t *testing.T) {
	for _, test := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "", false},
		{"", "", "C", false},
		{"", "", "POSIX", false},
		{"", "", "C.UTF-8", true},
		{"", "", "de_DE.utf8", true},
		{"", "", "de_DE@euro", false},
		{"", "", "de_DE.ISO-8859-1", false},
		{"", "C", "C.UTF-8", false},
		{"", "C.UTF-8", "C", true},
		{"C", "C.UTF-8", "C.UTF-8", false},
		{"en_US.UTF-8", "", "C", true},
	} {
		t.Setenv("LC_ALL", test.all)
		t.Setenv("LC_CTYPE", test.ctype)
		t.Setenv("LANG", test.lang)
		if got := UTF8(); got != test.want {
			t.Errorf("UTF8 with LC_ALL=%s LC_CTYPE=%s LANG=%s is %v", test.all, test.ctype, test.lang, got)
		}
	}
}

// However long a cluster of characters is, it is cut.
func TestLongCluster(t *testing.T) {
	for _, part := range []string{"\x1b[", "\x1b]", "\u0301", "\u200d", "👩\u200d", "🇩", "\u0600", "\u093e", " ", "\xff"} {
		s := Clean("a" + strings.Repeat(part, 64<<10/len(part)))
		for _, got := range []string{Fit(s, 10, "…"), FitEnd(s, 10, "…")} {
			if MaxWidth(got) > 10 {
				t.Errorf("many %q, cut, take %d cells", part, MaxWidth(got))
			}
		}
	}
}
