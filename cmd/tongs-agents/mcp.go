package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tongs-agents/fsstore"
	"tongs-agents/internal/mcpserver"
)

func newMCP() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve the sessions to an agent, as tools of the Model Context Protocol",
		Long: `mcp is a server of the Model Context Protocol on standard input and output. An
agent starts it, once install has entered it in the agent's settings; the agent's
model can then ask which other agents run, which of them waits for its user, and
wait for one. docs/mcp.md lists the tools.

It ends with its input, once all that was asked is answered, or at SIGTERM or
SIGINT: exit status 0.`,
		Example: `  claude mcp add --scope user tongs-agents -- tongs-agents mcp
  codex mcp add tongs-agents -- tongs-agents mcp`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := fsstore.StateDir()
			if err != nil {
				return fail(err)
			}
			if in, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(in.Fd())) {
				hint(cmd.ErrOrStderr(), "this is for an agent to start, see tongs-agents mcp --help")
			}
			debug.SetGCPercent(100) // unlike other commands it stays
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			server := mcpserver.New(mcpserver.Config{StateDir: dir, Version: currentVersion()})
			return fail(mcpserver.Serve(ctx, server, cmd.InOrStdin(), cmd.OutOrStdout()))
		},
	}
}
