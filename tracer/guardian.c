/*
 * The guardian; see guardian.h.
 *
 * It has little to go wrong: no memory is allocated, nothing of the tracer's
 * state is looked at but the records.  They are in memory that both share and
 * outlive the one who is killed between two writes: a record counts from when
 * `live' is set, which is last, until it is cleared, which is first.
 */
#include "tracer/guardian.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/log.h"
#include "inject/trap/area.h"
#include "tracer/proc.h"
#include "tracer/remote.h"

#define RECORDS 16384
/* Entries at a time; chunks of an area, which may be damaged. */
#define BATCH      256
#define CHUNKS_MAX 4096
/* A thread that has not been seen elsewhere by then may stay as it is: it may
 * wait for a processor, but also never sleep. */
#define LEFT_S  10
#define NAP_MAX 50000000 /* ns */

struct record {
	uint64_t area;
	pid_t pid;
	bool live;
};

struct shared {
	bool well; /* the tracer ended as it should */
	struct remote_left left;
	struct record records[RECORDS];
};

static struct shared *shared;
static int to_guardian = -1;
static pid_t guardian;
static unsigned next_record;

/* ---- in the guardian ---- */

static int mems[RECORDS]; /* /proc/PID/mem of each record, + 1 */

static void
put_back(int fd, const struct trap_entry *e)
{
	uint8_t byte;
	uint16_t count;

	switch ((enum trap_kind)e->kind) {
	case TRAP_TEXT:
		if (pread(fd, &byte, 1, (off_t)e->addr) == 1 && byte == INT3 &&
		    pwrite(fd, &e->saved, 1, (off_t)e->addr) < 0)
			return;
		break;
	case TRAP_SEMAPHORE:
		if (pread(fd, &count, 2, (off_t)e->addr) == 2 && count-- > 0 &&
		    pwrite(fd, &count, 2, (off_t)e->addr) < 0)
			return;
		break;
	case TRAP_SLOTS:
	case TRAP_NONE: break;
	}
}

/* What the area lists, in the memory behind fd. */
static void
restore(int fd, uint64_t area)
{
	struct trap_entry batch[BATCH];
	struct trap_area head;

	for (int chunks = 0; area != 0 && chunks < CHUNKS_MAX; chunks++) {
		if (pread(fd, &head, sizeof(head), (off_t)area) !=
			sizeof(head) ||
		    head.magic != TRAP_MAGIC)
			return;
		uint64_t at = area + head.first;
		for (uint32_t left = head.count; left > 0;) {
			size_t n = MIN(left, (uint32_t)BATCH);
			ssize_t got =
			    pread(fd, batch, n * sizeof(*batch), (off_t)at);
			if (got != (ssize_t)(n * sizeof(*batch)))
				return;
			for (size_t i = 0; i < n; i++)
				put_back(fd, &batch[i]);
			at += n * sizeof(*batch);
			left -= (uint32_t)n;
		}
		area = head.next;
	}
}

/* The children of one thread. */
static void
restore_children_of(pid_t pid, long tid, uint64_t area)
{
	char path[64], text[4096];
	char *p = text, *end;

	snprintf(
	    path, sizeof(path), "/proc/%d/task/%ld/children", (int)pid, tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (;; p = end) {
		long child = strtol(p, &end, 10);
		if (end == p)
			return;
		snprintf(path, sizeof(path), "/proc/%ld/mem", child);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		restore(fd, area);
		close(fd);
	}
}

/*
 * A child that was made just before the end has a copy of the area, as of its
 * int3s, and perhaps nobody had come to clean it.
 */
static void
restore_children(pid_t pid, uint64_t area)
{
	union {
		struct dirent64 d; /* as getdents64(2) has them */
		char bytes[4096];
	} buf;
	char path[64];
	long n;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (
	    fd >= 0 && (n = syscall(SYS_getdents64, fd, &buf, sizeof(buf))) > 0)
		for (long at = 0; at < n;) {
			const struct dirent64 *d =
			    (const void *)(buf.bytes + at);
			long tid = strtol(d->d_name, NULL, 10);
			if (tid > 0)
				restore_children_of(pid, tid, area);
			at += d->d_reclen;
		}
	if (fd >= 0)
		close(fd);
}

/* The code of a system call that was being made in a target: once the thread
 * has come out of it. */
static void
clear_left(void)
{
	struct timespec nap = { 0, 1000000 }, begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	now = begin;
	while (now.tv_sec - begin.tv_sec < LEFT_S &&
	    !remote_clear(&shared->left)) {
		nanosleep(&nap, NULL);
		nap.tv_nsec += nap.tv_nsec < NAP_MAX ? nap.tv_nsec / 8 : 0;
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
}

static void
take_over(void)
{
	for (size_t i = 0; i < RECORDS; i++) {
		const struct record *r = &shared->records[i];
		if (!r->live || mems[i] == 0)
			continue;
		restore(mems[i] - 1, r->area);
		restore_children(r->pid, r->area);
	}
	clear_left();
}

/* A record's number with its file.  False at the end of the tracer. */
static bool
receive(int sock)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	uint32_t n;
	int fd;
	struct iovec iov = { &n, sizeof(n) };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);

	if (got < 0)
		return errno == EINTR;
	if (got != sizeof(n))
		return false;
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	if (n >= RECORDS || c == NULL || c->cmsg_type != SCM_RIGHTS)
		return true;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (mems[n] != 0)
		close(mems[n] - 1);
	mems[n] = fd + 1;
	return true;
}

/* Nobody's terminal, nobody's pipe, nobody's signals but SIGKILL. */
static void
settle(int sock)
{
	struct rlimit lim;

	setsid();
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_IGN);
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	dup2(sock, 3);
	close_range(4, ~0U, 0);
	prctl(PR_SET_NAME, "dtrap-guardian");
	if (chdir("/") < 0)
		return;
	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
}

static _Noreturn void
guard(int sock)
{
	settle(sock);
	while (receive(3))
		;
	if (!shared->well)
		take_over();
	_exit(0);
}

/* ---- in the tracer ---- */

void
guardian_start(void)
{
	int pair[2];

	if (shared != NULL)
		return;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared == MAP_FAILED) {
		shared = NULL;
		return;
	}
	remote_leaves(&shared->left);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	guardian = fork();
	if (guardian == 0)
		guard(pair[0]);
	close(pair[0]);
	if (guardian < 0) {
		LOG("guardian", "none: %s", strerror(errno));
		close(pair[1]);
		return;
	}
	to_guardian = pair[1];
}

static void
send_memory(uint32_t n, int fd)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { &n, sizeof(n) };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(to_guardian, &msg, MSG_NOSIGNAL) < 0)
		LOG("guardian", "not told: %s", strerror(errno));
}

void
guardian_add(struct space *sp, uint64_t area)
{
	if (to_guardian < 0 || sp->mem_fd < 0 || sp->procs.len == 0)
		return;
	for (unsigned tries = 0; tries < RECORDS; tries++) {
		unsigned n = next_record++ % RECORDS;
		struct record *r = &shared->records[n];
		if (r->live)
			continue;
		r->area = area;
		r->pid = sp->procs.at[0]->pid;
		send_memory(n, sp->mem_fd);
		__atomic_store_n(&r->live, true, __ATOMIC_RELEASE);
		sp->guardian = n + 1;
		return;
	}
}

void
guardian_drop(struct space *sp)
{
	if (sp->guardian != 0)
		__atomic_store_n(&shared->records[sp->guardian - 1].live, false,
		    __ATOMIC_RELEASE);
	sp->guardian = 0;
}

void
guardian_end(void)
{
	if (to_guardian < 0)
		return;
	shared->well = true;
	close(to_guardian);
	to_guardian = -1;
	waitpid(guardian, NULL, 0);
}
