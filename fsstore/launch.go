package fsstore

import "strconv"

// Launch is what is known of one command that a launch started: the file
// launches/ID.json.
type Launch struct {
	ID, Profile       string
	PID, ProcessStart string // as in a Record
	BootID            string
}

// IsLaunchID reports whether id has the form of a launch id: 32 hexadecimal
// digits in lower case.
func IsLaunchID(id string) bool {
	if len(id) != 32 {
		return false
	}
	for i := range len(id) {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Launch reads a launch: fs.ErrNotExist if there is none of that id.
func (s *Store) Launch(id string) (Launch, error) {
	l := Launch{ID: id}
	if !IsLaunchID(id) {
		return l, invalid("launch id", "is not 32 hexadecimal digits: "+strconv.Quote(id))
	}
	dir, err := openPrivate(s.state, "launches", Read)
	if err != nil {
		return l, openError(err, Read)
	}
	defer dir.Close()
	text, err := readPrivate(dir, id+".json", nil)
	if err != nil {
		return l, err
	}
	d := newDecoder(1)
	d.begin(text)
	err = d.Object(func(key []byte) error {
		switch string(key) {
		case "profile":
			return d.str(&l.Profile)
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
		return l, &wrapped{ErrInvalid, err}
	}
	return l, nil
}
