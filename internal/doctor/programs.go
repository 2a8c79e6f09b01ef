package doctor

import (
	"debug/buildinfo"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"tongs-agents/internal/shell"
)

// reinstall puts both programs where they belong, from their sources.
const reinstall = "make install"

// programs looks at this program and the hook.
func (p *patient) programs() []Finding {
	found := []Finding{ok("tongs-agents %s, %s", p.Version, p.exe)}
	if p.hook.err != nil {
		return append(found, fail("%v: nothing can report", p.hook.err).with(reinstall))
	}
	if p.hook.warning != "" {
		lasting := filepath.Join(p.Env.Home, ".local/bin", filepath.Base(p.hook.path))
		found = append(found, warn("%s", p.hook.warning).with(
			shell.Command([]string{"ln", "-s", p.hook.path, lasting})+" && "+p.self("install")))
	}
	own, _ := debug.ReadBuildInfo()
	return append(found, p.release(own))
}

// release says whether the hook is of the release that this program is of. It
// has no option that would tell, as it prints nothing.
func (p *patient) release(own *debug.BuildInfo) Finding {
	info, err := buildinfo.ReadFile(p.hook.path)
	if err != nil { // a script that runs it, or somebody else's program
		return ok("hook %s; its release cannot be told", p.hook.path)
	}
	if difference := differ(own, info); difference != "" {
		return warn("hook %s is not of this program's release: %s", p.hook.path, difference).with(reinstall)
	}
	return ok("hook %s, of the same release", p.hook.path)
}

// differ says in what two programs' builds differ, if they are not of one
// release. What a build does not tell is the same as anything.
func differ(own, other *debug.BuildInfo) string {
	if own == nil {
		return ""
	}
	for _, part := range []struct {
		name string
		of   func(*debug.BuildInfo) string
	}{
		{"module", func(b *debug.BuildInfo) string { return b.Main.Path }},
		{"revision", func(b *debug.BuildInfo) string { return setting(b, "vcs.revision") }},
		{"version", version},
	} {
		if a, b := part.of(own), part.of(other); a != "" && b != "" && a != b {
			return fmt.Sprintf("its %s is %s, not %s", part.name, b, a)
		}
	}
	return ""
}

// version is the release that a program was built from.
func version(b *debug.BuildInfo) string {
	if b.Main.Version == "(devel)" {
		return ""
	}
	return b.Main.Version
}

func setting(b *debug.BuildInfo, key string) string {
	for _, s := range b.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
