//go:build !(386 || arm)

package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// play plays the part that the environment of this process has for it, if any.
func play() bool {
	var err error
	file := os.Getenv(envSpy)
	switch {
	case file != "":
		err = spy(file)
	case os.Getenv(envActor) != "":
		var a actor
		if err = json.NewDecoder(os.Stdin).Decode(&a); err == nil {
			err = a.act()
		}
	default:
		return false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
	return true
}
