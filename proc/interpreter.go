package proc

import "strings"

// An interpreter runs the program that its arguments name.
type interpreter int

const (
	notInterpreter interpreter = iota
	env
	shell
	node
	bun
	deno
	python
)

// interpreterOf knows an interpreter by its name or path, with or without a
// version: node-22, python3.14.
func interpreterOf(name string) interpreter {
	switch strings.TrimRight(Word(name), "-.0123456789") {
	case "env":
		return env
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "fish":
		return shell
	case "node", "nodejs":
		return node
	case "bun":
		return bun
	case "deno":
		return deno
	case "python":
		return python
	}
	return notInterpreter
}

// program finds the script among the arguments that follow an interpreter's
// own name, and what follows the script. The script is "" where there is none:
// code on the command line or on standard input, a module.
func (in interpreter) program(args []string) (script string, rest []string) {
	switch in {
	case env:
		return envProgram(args)
	case shell:
		return after(args, shellOption)
	case node:
		return after(args, nodeOption)
	case bun:
		script, rest = after(args, bunOption)
		if script == "run" {
			script, rest = after(rest, bunOption)
		}
	case deno:
		script, rest = after(args, denoOption)
		if script == "run" || script == "serve" {
			script, rest = after(rest, denoOption)
		}
	case python:
		return after(args, pythonOption)
	}
	return script, rest
}

// What an option means for the search for the script.
type option int

const (
	plain     option = iota // nothing, or its value is part of it
	withValue               // the next argument is its value
	noScript                // there is no script
	lastOne                 // the next argument is the script
)

// after skips the options at the head of args.
func after(args []string, meaning func(string) option) (script string, rest []string) {
	for i := 0; i < len(args); i++ {
		if !isOption(args[i]) && !(len(args[i]) > 1 && args[i][0] == '+') { // +o is a shell's
			return args[i], args[i+1:]
		}
		switch meaning(args[i]) {
		case withValue:
			i++
		case noScript:
			return "", nil
		case lastOne:
			if i+1 < len(args) {
				return args[i+1], args[i+2:]
			}
		}
	}
	return "", nil
}

func isOption(arg string) bool { return len(arg) > 0 && arg[0] == '-' }

// envProgram follows env(1) to the program that it runs, and that program to
// its script if it is an interpreter: env -S "node --no-warnings" cli.js.
func envProgram(args []string) (script string, rest []string) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		text, split := strings.CutPrefix(arg, "-S")
		if !split {
			text, split = strings.CutPrefix(arg, "-vS") // the usual way to debug a "#!" line
		}
		if !split {
			text, split = strings.CutPrefix(arg, "--split-string=")
		}
		switch {
		case split && text == "" || arg == "--split-string":
			if len(args) > 0 {
				args = append(strings.Fields(args[0]), args[1:]...)
			}
		case split:
			args = append(strings.Fields(text), args...)
		case contains([]string{"-u", "--unset", "-C", "--chdir", "-a", "--argv0"}, arg):
			args = args[min(1, len(args)):]
		case isOption(arg) || strings.IndexByte(arg, '=') > 0:
		default:
			if in := interpreterOf(arg); in != notInterpreter {
				return in.program(args)
			}
			return arg, args
		}
	}
	return "", nil
}

func shellOption(arg string) option {
	switch {
	case arg == "-" || arg == "--":
		return lastOne
	case arg == "--rcfile" || arg == "--init-file":
		return withValue
	case strings.HasPrefix(arg, "--"):
		return plain
	case arg[0] == '-' && strings.ContainsAny(arg, "cs"): // as in -lc
		return noScript
	case strings.ContainsAny(arg[len(arg)-1:], "oO"): // as in -euo pipefail
		return withValue
	}
	return plain
}

func nodeOption(arg string) option {
	switch arg {
	case "-":
		return noScript
	case "--":
		return lastOne
	case "-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions",
		"--env-file", "--env-file-if-exists", "--title", "--icu-data-dir", "--openssl-config",
		"--input-type", "--experimental-default-type", "--unhandled-rejections", "--dns-result-order",
		"--max-http-header-size", "--inspect-port", "--debug-port", "--disable-warning",
		"--redirect-warnings", "--diagnostic-dir", "--report-dir", "--report-directory",
		"--report-filename", "--report-signal", "--trace-event-categories",
		"--trace-event-file-pattern", "--cpu-prof-dir", "--cpu-prof-name", "--heap-prof-dir",
		"--heap-prof-name", "--heapsnapshot-signal", "--heapsnapshot-near-heap-limit",
		"--localstorage-file", "--secure-heap", "--secure-heap-min", "--tls-cipher-list",
		"--tls-keylog", "--v8-pool-size", "--watch-path", "--allow-fs-read", "--allow-fs-write":
		return withValue
	}
	return codeOption(arg)
}

func bunOption(arg string) option {
	switch arg {
	case "-":
		return noScript
	case "--":
		return lastOne
	case "-r", "--preload", "--require", "--import", "--cwd", "--env-file", "--port", "-d", "--define",
		"-l", "--loader", "--tsconfig-override", "--main-fields", "--extension-order", "--conditions",
		"-F", "--filter", "--elide-lines", "--drop":
		return withValue
	}
	return codeOption(arg)
}

// codeOption finds the options of node and bun that bring code along or, -c,
// only check the script.
func codeOption(arg string) option {
	arg, _, _ = strings.Cut(arg, "=")
	if contains([]string{"-c", "--check", "-e", "--eval", "-p", "--print", "-pe", "--run"}, arg) {
		return noScript
	}
	return plain
}

func denoOption(arg string) option {
	switch arg {
	case "-", "-e":
		return noScript
	case "--":
		return lastOne
	case "-c", "--config", "--import-map", "--cert", "-L", "--log-level", "--location", "--seed",
		"--ext", "--preload", "--import":
		return withValue
	}
	return plain
}

func pythonOption(arg string) option {
	switch {
	case arg == "-":
		return noScript
	case arg == "--":
		return lastOne
	case arg == "--check-hash-based-pycs":
		return withValue
	case strings.HasPrefix(arg, "--"):
		return plain
	}
	// A letter that takes a value takes the rest of the argument, as in -Wd.
	switch i := strings.IndexAny(arg, "cmWX"); {
	case i < 0:
		return plain
	case arg[i] == 'c' || arg[i] == 'm':
		return noScript
	case i == len(arg)-1:
		return withValue
	}
	return plain
}
