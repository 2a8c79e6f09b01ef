package fsstore

import (
	"tongs-agents/internal/sha256"

	"tongs-agents/internal/jsonstream"
)

// Key names a record: a harness, its session, and the process or emitter that
// works on it. The parts are any text; file names hold only digests of them.
type Key struct {
	Harness, Session, Instance string
}

// SessionDigest names a session in file names.
func (k Key) SessionDigest() string { return digest(k.Harness, k.Session) }

// Unresolved is the instance of a record whose process was not found.
const Unresolved = "unresolved"

// CanonicalID is the key as one word, the same in every implementation.
func (k Key) CanonicalID() string { return string(k.appendCanonicalID(nil)) }

func (k Key) appendCanonicalID(b []byte) []byte {
	b = append(append(append(b, "fleet:v1:"...), k.Harness...), ':')
	return appendDigest(b, k.Harness, k.Session, k.Instance)
}

// File is the name of a schema 1 record in the sessions directory.
func (k Key) File() string { return recordFile(k.digest()) }

func (k Key) digest() string  { return digest(k.Harness, k.Session, k.Instance) }
func (k Key) unresolved() Key { return Key{k.Harness, k.Session, Unresolved} }
func (k Key) sessionLock() string {
	return lockPrefix + "session-" + k.SessionDigest() + lockSuffix
}

const (
	recordPrefix = "fleet-v1-"
	recordSuffix = ".json"
	lockPrefix   = ".fleet-v1-"
	lockSuffix   = ".lock"
	tempPrefix   = ".fleet-tmp-"
	tempSuffix   = ".tmp"
	hexDigest    = 2 * sha256.Size
)

func recordFile(digest string) string { return recordPrefix + digest + recordSuffix }
func recordLock(digest string) string { return lockPrefix + digest + lockSuffix }

// isRecordFile reports whether a name is that of a schema 1 record.
func isRecordFile(name string) bool {
	if len(name) != len(recordPrefix)+hexDigest+len(recordSuffix) ||
		name[:len(recordPrefix)] != recordPrefix || name[len(recordPrefix)+hexDigest:] != recordSuffix {
		return false
	}
	return isDigest(name[len(recordPrefix) : len(recordPrefix)+hexDigest])
}

func isDigest(s string) bool { return len(s) == hexDigest && isHex(s) }

// isHex reports whether a text is made of hexadecimal digits in lower case.
func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// digest is the lower-case hexadecimal SHA-256 of the parts as a compact JSON
// array.
func digest(parts ...string) string { return string(appendDigest(nil, parts...)) }

func appendDigest(b []byte, parts ...string) []byte {
	var space [256]byte
	tuple := append(space[:0], '[')
	for i, part := range parts {
		if i > 0 {
			tuple = append(tuple, ',')
		}
		tuple = jsonstream.AppendMinimal(tuple, part)
	}
	return sha256.AppendHex(b, append(tuple, ']'))
}
