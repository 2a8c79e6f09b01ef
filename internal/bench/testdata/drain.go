// Command drain reads standard input to its end, as much at a time as a pipe
// holds, and nothing else.
package main

import "syscall"

var space [64 << 10]byte

func main() {
	for n := 1; n > 0; {
		n, _ = syscall.Read(0, space[:])
	}
}
