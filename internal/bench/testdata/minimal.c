// The system calls of tongs-agents-hook that updates a record, once the Go
// runtime is up, and nothing else: no JSON is read, no digest computed, and
// the record is written back as it was. The bench compares the calls of both.
//
//	minimal STATE_DIR SESSION_LOCK RECORD_LOCK RECORD < PAYLOAD
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { common = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };

static char buf[64 << 10];

// Not clock_gettime(3): it would not enter the kernel, as the hook does.
static long long boottime(void) {
	struct timespec ts;
	syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void must(int ok) {
	if (!ok)
		_exit(1);
}

static void slurp(const char *path, size_t size) {
	int fd = openat(AT_FDCWD, path, O_RDONLY | common);
	must(fd >= 0 && read(fd, buf, size) > 0);
	close(fd);
}

static int directory(int dir, const char *name) {
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | common);
	must(fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid());
	return fd;
}

static int lock(int dir, const char *name) {
	struct stat st;
	int fd = openat(dir, name, O_RDWR | O_CREAT | common, 0600);
	must(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid());
	return fd;
}

int main(int argc, char **argv) {
	must(argc == 5);
	boottime();
	int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGQUIT, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGSTKFLT, SIGXFSZ};
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	struct termios terminal;
	ioctl(0, TCGETS, &terminal);

	slurp("/proc/self/environ", sizeof buf);
	slurp("/proc/self/cmdline", 4096);
	int parent = getppid();
	char path[64];
	must(readlinkat(AT_FDCWD, "/proc/self", path, sizeof path) > 0 && getpid() > 0);
	snprintf(path, sizeof path, "/proc/%d/stat", parent);
	slurp(path, 1024);
	struct pollfd in = {.fd = 0, .events = POLLIN};
	must(ppoll(&in, 1, &(struct timespec){1, 0}, NULL) == 1);
	must(read(0, buf, sizeof buf) > 0);
	slurp("/proc/sys/kernel/random/boot_id", 64);

	struct statfs fs;
	int state = directory(AT_FDCWD, argv[1]);
	int sessions = directory(state, "sessions");
	fstatfs(sessions, &fs);
	int identity = lock(sessions, argv[2]);
	int record = lock(sessions, argv[3]);

	struct stat st;
	int fd = openat(sessions, argv[4], O_RDONLY | common);
	must(fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid());
	must(read(fd, buf, st.st_size) == st.st_size);
	close(fd);

	char temp[64];
	int pid = getpid();
	snprintf(temp, sizeof temp, ".fleet-tmp-%d-%llx-1.tmp", pid, boottime());
	struct stat made;
	fd = openat(sessions, temp, O_WRONLY | O_CREAT | O_EXCL | common, 0600);
	must(fd >= 0 && fstat(fd, &made) == 0);
	must(write(fd, buf, st.st_size) == st.st_size);
	must(close(fd) == 0);
	must(renameat(sessions, temp, sessions, argv[4]) == 0);
	fstatat(sessions, "fleet-v1-of-the-unresolved-record.json", &st, AT_SYMLINK_NOFOLLOW);
	close(record);
	close(identity);
	_exit(0);
}
