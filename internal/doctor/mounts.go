package doctor

import (
	"os"
	"strconv"
	"strings"
)

// mount is a mounted file system.
type mount struct {
	point   string
	kind    string   // ext4, nfs4, fuse.sshfs
	options []string // of the mount, and of the file system
}

// readMounts returns the mounts that this process sees, the last one on top.
// Without a proc file system there are none.
func readMounts() []mount {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return parseMounts(string(text))
}

// parseMounts reads lines such as these, see proc_pid_mountinfo(5):
//
//	36 35 98:0 /root /mnt\0402 rw,noatime shared:1 - ext3 /dev/root rw,errors=continue
func parseMounts(text string) []mount {
	var mounts []mount
	for line := range strings.Lines(text) {
		left, right, ok := strings.Cut(line, " - ")
		fields, of := strings.Fields(left), strings.Fields(right)
		if !ok || len(fields) < 6 || len(of) < 1 {
			continue
		}
		m := mount{point: unescape(fields[4]), kind: of[0], options: strings.Split(fields[5], ",")}
		if len(of) > 2 {
			m.options = append(m.options, strings.Split(of[2], ",")...)
		}
		mounts = append(mounts, m)
	}
	return mounts
}

// unescape reads what the kernel writes for a space, tab, line end and
// backslash: three octal digits.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// mountOf returns the mount that a path without symbolic links is on.
func mountOf(mounts []mount, path string) (on mount, ok bool) {
	for _, m := range mounts {
		below := m.point == "/" || path == m.point || strings.HasPrefix(path, m.point+"/")
		if below && len(m.point) >= len(on.point) {
			on, ok = m, true
		}
	}
	return on, ok
}

// option returns the value of an option NAME=VALUE.
func (m mount) option(name string) string {
	for _, o := range m.options {
		if value, ok := strings.CutPrefix(o, name+"="); ok {
			return value
		}
	}
	return ""
}
