package linux

import "golang.org/x/sys/unix"

// retry calls fn until it fails with something other than EINTR. The runtime
// installs its handlers with SA_RESTART, but signal(7) lists calls that return
// EINTR all the same, and file systems in user space return it freely.
//
// close(2) must never come here: Linux frees the descriptor even on EINTR.
func retry[T any](fn func() (T, error)) (T, error) {
	for {
		v, err := fn()
		if err != unix.EINTR {
			return v, err
		}
	}
}

// retryErr is retry for a call that returns nothing but its error.
func retryErr(fn func() error) error {
	for {
		if err := fn(); err != unix.EINTR {
			return err
		}
	}
}
