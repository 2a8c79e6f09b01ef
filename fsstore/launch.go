package fsstore

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tongs-agents/linux"
)

// Launch is what is known of one command that a launch started: the file
// launches/ID.json. It is written once and never changed.
type Launch struct {
	ID                string   // 32 hexadecimal digits
	Profile           string   // the user's label, at most MaxProfile bytes
	Argv              []string // at most MaxLaunchArgs, of MaxLaunchArgv bytes together
	Cwd               string
	PID, ProcessStart string // as in a Record
	BootID            string
}

// Limits of a launch, in bytes unless said otherwise. A file of the longest
// texts, each byte of them escaped, is still shorter than MaxRecord.
const (
	MaxProfile    = 128
	MaxLaunchArgs = 128 // arguments
	MaxLaunchArgv = 4096
)

// LaunchFile is an entry of the launches.
type LaunchFile struct {
	Launch        // only the ID if Err is not nil
	Written int64 // seconds since the epoch: the time of the file, 0 if that cannot be read
	Err     error // why it is no launch
}

const (
	launches     = "launches"
	launchSuffix = ".json"
)

// IsLaunchID reports whether id has the form of a launch id: 32 hexadecimal
// digits in lower case.
func IsLaunchID(id string) bool { return len(id) == 32 && isHex(id) }

// Launch reads a launch: fs.ErrNotExist if there is none of that id.
func (s *Store) Launch(id string) (Launch, error) {
	dir, err := s.openLaunches(id, Read)
	if err != nil {
		return Launch{ID: id}, err
	}
	defer dir.Close()
	return readLaunch(dir, id)
}

// Launches lists all launches, in no order. A file that cannot be read is
// among them.
func (s *Store) Launches() ([]LaunchFile, error) {
	dir, err := openPrivate(s.state, launches, Read)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	defer dir.Close()
	names, err := namesIn(dir)
	if err != nil {
		return nil, unavailable(err)
	}
	var files []LaunchFile
	for _, name := range names {
		id, isJSON := strings.CutSuffix(name, launchSuffix)
		if !isJSON || !IsLaunchID(id) {
			continue
		}
		if f := readLaunchFile(dir, id); !errors.Is(f.Err, fs.ErrNotExist) { // else removed since we read the names
			files = append(files, f)
		}
	}
	return files, nil
}

func readLaunchFile(dir linux.FD, id string) LaunchFile {
	f := LaunchFile{Launch: Launch{ID: id}}
	var st unix.Stat_t
	if f.Err = linux.Fstatat(dir, id+launchSuffix, &st); f.Err == nil {
		f.Written = int64(st.Mtim.Sec)
		f.Launch, f.Err = readLaunch(dir, id)
	}
	return f
}

// AddLaunch writes a launch. An id is used once: fs.ErrExist if it was.
func (s *Store) AddLaunch(l *Launch) error {
	if err := l.validate(); err != nil {
		return err
	}
	dir, err := s.openLaunches(l.ID, Create)
	if err != nil {
		return err
	}
	defer dir.Close()
	name := l.ID + launchSuffix
	reserved, err := linux.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	if err != nil {
		return unavailable(err)
	}
	reserved.Close()
	if err := writeFile(dir, name, l.encode()); err != nil {
		linux.Unlinkat(dir, name)
		return err
	}
	return nil
}

// RemoveLaunch removes a launch: fs.ErrNotExist if there is none of that id.
func (s *Store) RemoveLaunch(id string) error {
	dir, err := s.openLaunches(id, Write)
	if err != nil {
		return err
	}
	defer dir.Close()
	err = linux.Unlinkat(dir, id+launchSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = unavailable(err)
	}
	return err
}

// openLaunches opens the directory of the launches, for the file of one.
func (s *Store) openLaunches(id string, access Access) (linux.FD, error) {
	if !IsLaunchID(id) {
		return -1, invalid("launch id", "is not 32 hexadecimal digits: "+strconv.Quote(id))
	}
	dir, err := openPrivate(s.state, launches, access)
	if err != nil {
		return -1, openError("", err, access)
	}
	return dir, nil
}

func readLaunch(dir linux.FD, id string) (Launch, error) {
	l := Launch{ID: id}
	text, err := readPrivate(dir, id+launchSuffix, nil)
	if err != nil {
		return l, err
	}
	d := newDecoder(1)
	d.begin(text)
	err = d.Object(func(key []byte) error {
		switch string(key) {
		case "profile":
			return d.str(&l.Profile)
		case "argv":
			l.Argv = nil
			return d.Array(func() error {
				var arg string
				err := d.str(&arg)
				l.Argv = append(l.Argv, arg)
				return err
			})
		case "cwd":
			return d.str(&l.Cwd)
		case "pid":
			return d.str(&l.PID)
		case "process_start":
			return d.str(&l.ProcessStart)
		case "boot_id":
			return d.str(&l.BootID)
		}
		return d.Skip()
	})
	if err != nil {
		return Launch{ID: id}, &wrapped{ErrInvalid, err}
	}
	return l, nil
}

func (l *Launch) validate() error {
	for _, t := range [...]struct {
		key, text string
		max       int
	}{
		{"profile", l.Profile, MaxProfile},
		{"cwd", l.Cwd, MaxCwd},
		{"pid", l.PID, maxNumber},
		{"process_start", l.ProcessStart, maxNumber},
		{"boot_id", l.BootID, maxID},
	} {
		if err := validateText(t.key, t.text, t.max); err != nil {
			return err
		}
	}
	switch {
	case !isDecimal(l.PID):
		return invalid("pid", "is not decimal")
	case !isDecimal(l.ProcessStart):
		return invalid("process_start", "is not decimal")
	case len(l.Argv) > MaxLaunchArgs:
		return invalid("argv", "has more than "+strconv.Itoa(MaxLaunchArgs)+" arguments")
	}
	left := MaxLaunchArgv
	for _, arg := range l.Argv {
		if err := validateText("argv", arg, left); err != nil {
			return err
		}
		left -= len(arg)
	}
	return nil
}

func (l *Launch) encode() []byte {
	o := object{b: []byte{'{'}}
	o.optionalText("profile", l.Profile)
	o.texts("argv", l.Argv)
	o.text("cwd", l.Cwd)
	o.text("pid", l.PID)
	o.text("process_start", l.ProcessStart)
	o.text("boot_id", l.BootID)
	return append(o.b, '}', '\n')
}
