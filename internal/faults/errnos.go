package main

import "regexp"

// kill is the fault that ends the program at the call, before it takes effect.
const kill = "SIGKILL"

// pathCalls are the calls that name a file.
var pathCalls = map[string]bool{
	"openat": true, "newfstatat": true, "stat": true, "lstat": true, "faccessat": true, "faccessat2": true,
	"mkdirat": true, "fchmodat": true, "renameat": true, "renameat2": true, "unlinkat": true,
	"utimensat": true, "readlinkat": true, "execve": true, "statfs": true,
}

// errnos are what the calls of our programs can give, by their man pages, and
// EIO, ENOMEM and EINTR for all that reach a file system: some that live in user
// space or on a network return them from any call. Left out is what only a
// wrong call gives (EBADF, EFAULT, EINVAL), and what says that a file is not
// there, which is an answer.
var errnos = map[string][]string{
	"openat":       {"EINTR", "EACCES", "EPERM", "EIO", "ENOMEM", "EMFILE", "ENFILE"},
	"read":         {"EINTR", "EIO"},
	"pread64":      {"EINTR", "EIO"},
	"write":        {"EINTR", "EIO", "ENOSPC", "EDQUOT", "EFBIG", "EPERM", "EPIPE"},
	"close":        {"EINTR", "EIO", "ENOSPC", "EDQUOT"},
	"fstat":        {"EINTR", "EIO", "ENOMEM"},
	"newfstatat":   {"EINTR", "EIO", "ENOMEM", "EACCES"},
	"faccessat":    {"EINTR", "EIO", "ENOMEM", "EACCES", "EROFS"},
	"faccessat2":   {"EINTR", "EIO", "ENOMEM", "EACCES", "EROFS"},
	"readlinkat":   {"EINTR", "EIO", "ENOMEM", "EACCES"},
	"getdents64":   {"EINTR", "EIO", "ENOMEM"},
	"mkdirat":      {"EINTR", "EIO", "ENOMEM", "EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "EMLINK"},
	"fchmod":       {"EINTR", "EIO", "EPERM", "EROFS"},
	"fchmodat":     {"EINTR", "EIO", "ENOMEM", "EACCES", "EPERM", "EROFS"},
	"renameat":     {"EINTR", "EIO", "ENOMEM", "EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "EBUSY", "EMLINK"},
	"unlinkat":     {"EINTR", "EIO", "ENOMEM", "EACCES", "EPERM", "EROFS", "EBUSY"},
	"utimensat":    {"EINTR", "EIO", "ENOMEM", "EACCES", "EPERM", "EROFS"},
	"flock":        {"EINTR", "ENOLCK", "EAGAIN", "EIO"},
	"fstatfs":      {"EINTR", "EIO", "ENOMEM", "ENOSYS"},
	"statfs":       {"EINTR", "EIO", "ENOMEM", "EACCES", "ENOSYS"},
	"fsync":        {"EINTR", "EIO", "ENOSPC", "EDQUOT", "EROFS"},
	"syncfs":       {"EINTR", "EIO", "ENOSPC", "EDQUOT"},
	"poll":         {"EINTR", "ENOMEM"},
	"ppoll":        {"EINTR", "ENOMEM"},
	"ioctl":        {"EINTR", "EIO"},
	"getcwd":       {"ENOMEM", "EACCES", "ENOENT"},
	"kill":         {"EPERM"},
	"uname":        nil, // these cannot fail
	"getpid":       nil,
	"getppid":      nil,
	"getuid":       nil,
	"geteuid":      nil,
	"rt_sigreturn": nil,

	"clock_gettime": nil,
}

// Errnos that a call can give on some files alone.
var (
	creating  = []string{"EROFS", "ENOSPC", "EDQUOT"} // what is not there yet
	inherited = []string{"EAGAIN"}                    // standard descriptors: another program may have set O_NONBLOCK
)

// runtimeErrnos are those of the calls that the Go runtime makes.
var runtimeErrnos = map[string][]string{
	"execve":            nil,
	"mmap":              {"ENOMEM"},
	"munmap":            {"ENOMEM"},
	"madvise":           {"ENOMEM", "EAGAIN"},
	"mprotect":          {"ENOMEM"},
	"clone":             {"EAGAIN", "ENOMEM"},
	"clone3":            {"EAGAIN", "ENOMEM"},
	"futex":             {"EINTR", "EAGAIN"},
	"nanosleep":         {"EINTR"},
	"sched_yield":       nil,
	"sched_getaffinity": {"ENOMEM"},
	"prctl":             nil,
	"exit_group":        nil,
	"gettid":            nil,
	"arch_prctl":        nil,
	"set_tid_address":   nil,
	"sigaltstack":       {"ENOMEM"},
	"rt_sigaction":      nil, // fails for a wrong number alone
	"rt_sigprocmask":    nil,
	"tgkill":            {"EAGAIN"},
	"prlimit64":         {"EPERM"},
	"getrandom":         {"EINTR", "EAGAIN"},
	"epoll_create1":     {"EMFILE", "ENFILE", "ENOMEM"},
	"epoll_ctl":         {"ENOMEM", "ENOSPC"},
	"epoll_pwait":       {"EINTR"},
	"eventfd2":          {"EMFILE", "ENFILE", "ENOMEM"},
	"pipe2":             {"EMFILE", "ENFILE", "ENOMEM"},
	"fcntl":             {"EINTR"},
	"timer_create":      {"EAGAIN", "ENOMEM"},
	"timer_settime":     nil,
	"timer_delete":      nil,
	"restart_syscall":   nil,
}

// isRuntime reports whether a call is of the Go runtime: by its name, or as
// what the runtime reads about the machine before main.
func isRuntime(name, role string) bool {
	_, ok := runtimeErrnos[name]
	return ok || machine.MatchString(role)
}

// machine matches calls that ask how many processors and what pages there are.
var machine = regexp.MustCompile(` (/sys/kernel/mm/|/sys/fs/cgroup/|/proc/\w+/(cgroup|mountinfo)$|anon_inode$)`)
