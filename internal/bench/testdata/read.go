// Command read opens, reads and closes the records of a directory, with as
// little of Go as does that; and unlinks those whose text has a given word.
//
//	read DIRECTORY [WORD]
package main

import (
	"bytes"
	"os"
	"strings"
	"syscall"
)

func main() {
	os.Chdir(os.Args[1])
	dir, err := os.Open(".")
	if err != nil {
		os.Exit(1)
	}
	names, _ := dir.Readdirnames(-1)
	word := []byte(nil)
	if len(os.Args) > 2 {
		word = []byte(os.Args[2])
	}
	space := make([]byte, 64<<10)
	for _, name := range names {
		if strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".json") {
			continue
		}
		fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			os.Exit(1)
		}
		over := false
		for n := 1; n > 0; {
			n, _ = syscall.Read(fd, space)
			over = over || word != nil && n > 0 && bytes.Contains(space[:n], word)
		}
		syscall.Close(fd)
		if over {
			syscall.Unlink(name)
		}
	}
}
