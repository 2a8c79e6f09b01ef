package manual

import (
	"testing"

	"github.com/spf13/cobra"
)

func run(*cobra.Command, []string) {}

func TestCommand(t *testing.T) {
	root := &cobra.Command{Use: "tongs-agents", Short: "All"}
	cmd := &cobra.Command{
		Use:     "list [FILE...]",
		Aliases: []string{"ls"},
		Short:   "Print \"names\"",
		Long: `list's output is sorted, see --sort-by
below.

  .hidden 'a' \b
    ~/c

# Heading:
…`,
		Example: "  tongs-agents list > `x`",
		Run:     run,
	}
	cmd.Flags().StringP("sort-by", "s", "name", "one of: name size")
	cmd.Flags().Bool("secret", false, "")
	cmd.Flags().MarkHidden("secret")
	cmd.AddCommand(&cobra.Command{Use: "all", Short: "Print all", Run: run})
	root.AddCommand(cmd, &cobra.Command{Use: "internal", Hidden: true, Run: run})

	pages := Pages(root, Edition{Date: "2026-01-02", Version: "1.0-rc1"})
	const want = `.TH "TONGS\-AGENTS\-LIST" 1 "2026-01-02" "tongs\-agents 1.0\-rc1" "User Commands"
.nr HY 0
.nh
.ad l
.ss 12 0
.SH "NAME"
tongs\-agents\-list \- Print \(dqnames\(dq
.SH "SYNOPSIS"
\fBtongs\-agents list\fR [\fIFILE\fR...] [\fIOPTION\fR...] [\fICOMMAND\fR]
.SH "DESCRIPTION"
list\(aqs output is sorted, see \fB\-\-sort\-by\fR
below.
.PP
.RS 2
.EX
\&.hidden \(aqa\(aq \eb
  \(ti/c
.EE
.RE
.PP
Heading:
\[u2026]
.PP
Another name: ls.
.SH "OPTIONS"
.TP
\fB\-h\fR, \fB\-\-help\fR
help for list
.TP
\fB\-s\fR, \fB\-\-sort\-by\fR \fIstring\fR
one of: name size (default name)
.SH "COMMANDS"
.SS "tongs\-agents list all"
Print all.
.TP
\fB\-h\fR, \fB\-\-help\fR
help for all
.SH "EXAMPLES"
.RS 2
.EX
tongs\-agents list > \(gax\(ga
.EE
.RE
.SH "SEE ALSO"
.BR "tongs\-agents" "(1)"
`
	if got := pages["tongs-agents-list.1"]; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(pages) != 3 || pages["tongs-agents.1"] == "" || pages["tongs-agents-hook.1"] == "" {
		t.Errorf("got %d pages", len(pages))
	}
}

func TestUsage(t *testing.T) {
	got := usage("usage: tool [--flag NAME] < FILE\n\nDoes one thing. Then\nanother.\n\nNAME   a name,\n       of two words\n", Edition{})
	const want = `.TH "TOOL" 1 "" "tongs\-agents" "User Commands"
.nr HY 0
.nh
.ad l
.ss 12 0
.SH "NAME"
tool \- Does one thing
.SH "SYNOPSIS"
\fBtool\fR [\fB\-\-flag\fR \fINAME\fR] < \fIFILE\fR
.SH "DESCRIPTION"
Does one thing. Then
another.
.TP
.B "NAME"
a name,
of two words
.SH "ENVIRONMENT"
`
	if len(got) < len(want) || got[:len(want)] != want {
		t.Errorf("got\n%s\nwant, at first,\n%s", got, want)
	}
}
