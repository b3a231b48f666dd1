/*
 * The guardian; see guardian.h.
 *
 * It is simple on purpose: it allocates no memory and uses only the records.
 * These are in shared memory, and are consistent even if the tracer is killed
 * between two writes: `live' is set last when a record is made, and cleared
 * first when it is removed.
 */
#include "tracer/survive/guardian.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
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

#include "dlang/base/clock.h"
#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "inject/trapmend.h"
#include "inject/trapset.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"

#define RECORDS 16384
/* How long the guardian may take to answer on a machine that is overloaded. */
#define ANSWER_MS 10000
/* Meanwhile the tracer checks at this interval whether the guardian lives. */
#define LOOK_NS 20000000
/* A thread that has not been seen elsewhere by then may stay as it is: it may
 * wait for a processor, but also never sleep. */
#define LEFT_S 10
/* Of how many threads it is known whether they have had a processor. */
#define STARVED_MAX 4096
#define NAP_MAX     50000000 /* ns */

/* The guardian's answer: does it have the memory of a record? */
enum answer { ANSWER_NONE, ANSWER_KEPT, ANSWER_REFUSED };

struct record {
	uint64_t area; /* 0: nothing has been changed yet */
	pid_t pid;
	bool live;
	uint32_t answer; /* enum answer: a futex */
};

struct shared {
	bool well; /* the tracer ended normally */
	struct remote_left left;
	struct record records[RECORDS];
};

static struct shared *shared;

/* ---- in the guardian ---- */

static int mems[RECORDS]; /* /proc/PID/mem of each record, + 1 */

/* The next tracer has attached and restores the rest. */
static volatile sig_atomic_t relieved;

static void
on_term(int sig)
{
	relieved = 1;
}

/* Restore what the area lists; fd is the memory. */
static void
restore(int fd, uint64_t area)
{
	if (area == 0)
		return;
	unsigned left = trapmend_text(fd, area);
	trapmend_semaphores(fd, area);
	if (left == 0)
		trapmend_done(fd, area);
}

/*
 * Restore the children of one thread: a child that was made just before the
 * tracer's end has a copy of the int3s and of the area, and may not have been
 * cleaned.
 */
static bool
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
			return true;
		snprintf(path, sizeof(path), "/proc/%ld/mem", child);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		restore(fd, area);
		close(fd);
	}
}

/* For each thread of the process, until fn returns false. */
static void
each_thread(
    pid_t pid, uint64_t area, bool (*fn)(pid_t pid, long tid, uint64_t area))
{
	union {
		struct dirent64 d; /* as getdents64(2) has them */
		char bytes[4096];
	} buf;
	char path[64];
	bool more = true;
	long n;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && more &&
	    (n = syscall(SYS_getdents64, fd, &buf, sizeof(buf))) > 0)
		for (long at = 0; at < n && more;) {
			const struct dirent64 *d =
			    (const void *)(buf.bytes + at);
			long tid = strtol(d->d_name, NULL, 10);
			if (tid > 0)
				more = fn(pid, tid, area);
			at += d->d_reclen;
		}
	if (fd >= 0)
		close(fd);
}

/* A thread that had no processor when we came, and how long it had run. */
struct starved {
	pid_t tid;
	uint64_t ran;
};

static struct starved starved[STARVED_MAX];
static size_t starving;
static bool late, first_look;
static bool handled; /* a program has set SIGTRAP's action */

/* Processor time, in ticks: fields 14 and 15. */
static uint64_t
ran_for(pid_t tid)
{
	uint64_t user = 0, kernel = 0;

	procfs_stat(tid, 14, &user);
	procfs_stat(tid, 15, &kernel);
	return user + kernel;
}

/* Does it still wait for its first turn since we came? */
static bool
starves(pid_t tid)
{
	if (!handled || procfs_state(tid) != 'R')
		return false;
	uint64_t ran = ran_for(tid);
	if (first_look && starving < STARVED_MAX)
		starved[starving++] = (struct starved){ tid, ran };
	for (size_t i = 0; i < starving; i++)
		if (starved[i].tid == tid && starved[i].ran == ran)
			return true;
	return false;
}

/*
 * Has a thread that has executed an int3 not come to our handler yet?  Fields
 * 31 and 32 of its stat are what is pending and blocked.  One that stood at its
 * int3 when the tracer died has nothing pending, and looks for the handler when
 * it has a processor.
 */
static bool
is_on_its_way(pid_t pid, long tid, uint64_t area)
{
	uint64_t pending = 0, blocked = 0;

	late |= procfs_stat((pid_t)tid, 31, &pending) == 0 &&
	    procfs_stat((pid_t)tid, 32, &blocked) == 0 &&
	    (pending & ~blocked & SIGBIT(SIGTRAP)) != 0;
	late |= starves((pid_t)tid);
	return first_look || !late;
}

/* Clear the code of a remote call that was being made, after the thread has
 * left it. */
static void
clear_left(void)
{
	struct timespec nap = { 0, 1000000 };
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + LEFT_S * NS_PER_S;

	while (!relieved && clock_ns(CLOCK_MONOTONIC) < end &&
	    !remote_clear(&shared->left)) {
		nanosleep(&nap, NULL);
		nap.tv_nsec += nap.tv_nsec < NAP_MAX ? nap.tv_nsec / 8 : 0;
	}
}

/* The record i, if it is live and its memory is open. */
static const struct record *
record_at(size_t i)
{
	const struct record *r = &shared->records[i];

	return r->live && mems[i] != 0 ? r : NULL;
}

/* Restore all text except the markers: these int3s could kill a program.  True:
 * a program sets the action of SIGTRAP itself. */
static bool
restore_most(void)
{
	const struct record *r;
	struct trap_area head;
	bool handles = false;

	for (size_t i = 0; i < RECORDS; i++) {
		if ((r = record_at(i)) == NULL)
			continue;
		trapmend_most(mems[i] - 1, r->area);
		handles |= trapmend_head(mems[i] - 1, r->area, &head) &&
		    head.handles != 0;
	}
	return handles;
}

static bool
any_on_its_way(void)
{
	const struct record *r;

	late = false;
	for (size_t i = 0; i < RECORDS && (first_look || !late); i++)
		if ((r = record_at(i)) != NULL)
			each_thread(r->pid, r->area, is_on_its_way);
	return late;
}

/* Wait until no thread is between an int3 and the handler: without the markers
 * a program could then set the action of SIGTRAP and die.  False: the next
 * tracer has attached, and removes the markers while all threads are
 * stopped. */
static bool
await_latecomers(bool handles)
{
	struct timespec nap = { 0, TRAP_LATE_MS * 1000000L };

	handled = handles;
	first_look = true;
	bool any = any_on_its_way();
	first_look = false;
	if (!handles && !any)
		return true;
	for (int i = 0; i < TRAP_LATE_TRIES && !relieved; i++) {
		nanosleep(&nap, NULL); /* a signal from the next tracer ends
					* it */
		nap.tv_nsec = TRAP_LATE_MS * 100000L;
		if (!relieved && !any_on_its_way())
			return true;
	}
	return !relieved;
}

static void
take_over(void)
{
	const struct record *r;
	bool handles = restore_most();

	for (size_t i = 0; i < RECORDS; i++)
		if ((r = record_at(i)) != NULL)
			each_thread(r->pid, r->area, restore_children_of);
	bool all = await_latecomers(handles);
	for (size_t i = 0; i < RECORDS && all; i++)
		if ((r = record_at(i)) != NULL)
			restore(mems[i] - 1, r->area);
	clear_left();
}

/* Receive the number of a record with its file descriptor.  False: the tracer
 * has ended. */
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
	if (n >= RECORDS)
		return true;
	if (mems[n] != 0)
		close(mems[n] - 1);
	mems[n] = 0;
	/* If the guardian has no more descriptors, the message arrives without
	 * one. */
	if (c != NULL && c->cmsg_type == SCM_RIGHTS) {
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
		mems[n] = fd + 1;
	}
	uint32_t *answer = &shared->records[n].answer;
	__atomic_store_n(answer, mems[n] != 0 ? ANSWER_KEPT : ANSWER_REFUSED,
	    __ATOMIC_RELEASE);
	syscall(SYS_futex, answer, FUTEX_WAKE, 1, NULL, NULL, 0);
	return true;
}

/* Raise the priority: threads execute int3s until the work is done. */
static void
hurry(void)
{
	const struct sched_param fifo = { .sched_priority = 1 };
	struct rlimit lim;

	if (sched_setscheduler(0, SCHED_FIFO, &fifo) == 0 ||
	    setpriority(PRIO_PROCESS, 0, -20) == 0)
		return;
	if (getrlimit(RLIMIT_NICE, &lim) == 0 && lim.rlim_cur > 20)
		setpriority(PRIO_PROCESS, 0, 20 - (int)MIN(lim.rlim_cur, 40UL));
}

/* Leave terminal, session and pipes, and block all signals (SIGKILL cannot be
 * blocked). */
static void
settle(int sock)
{
	struct rlimit lim;

	setsid();
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_IGN);
	signal(SIGTERM, on_term);
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	dup2(sock, 3);
	closefrom(4);
	hurry();
	prctl(PR_SET_NAME, GUARDIAN_NAME);
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
	if (!shared->well && !fault_due(FAULT_GUARDIAN))
		take_over();
	_exit(0);
}

/* ---- in the tracer ---- */

static int to_guardian = -1;
static pid_t guardian;
static uint64_t since; /* when the guardian was started */
static volatile sig_atomic_t stirred;

static void
on_io(int sig, siginfo_t *si, void *uc)
{
	stirred = 1;
	event_interrupt(uc);
}

bool
guardian_stirred(void)
{
	bool was = stirred != 0;

	stirred = 0;
	return was;
}

static int
share(void)
{
	if (shared != NULL)
		return 0;
	void *at = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return -errno;
	shared = at;
	remote_leaves(&shared->left);
	return 0;
}

/* SIGIO when the guardian ends. */
static void
listen_to(int sock)
{
	struct sigaction sa = { .sa_sigaction = on_io,
		.sa_flags = SA_SIGINFO | SA_RESTART };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGIO, &sa, NULL);
	fcntl(sock, F_SETOWN, getpid());
	fcntl(sock, F_SETFL, fcntl(sock, F_GETFL) | O_ASYNC);
}

int
guardian_start(void)
{
	int pair[2], r = 0;

	if (to_guardian >= 0)
		return 0;
	if ((r = share()) != 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	guardian = fork();
	if (guardian == 0)
		guard(pair[0]);
	if (guardian < 0)
		r = -errno;
	close(pair[0]);
	if (r != 0) {
		LOG("guardian", "none: %s", strerror(-r));
		close(pair[1]);
		return r;
	}
	listen_to(pair[1]);
	procfs_stat(guardian, STAT_SINCE, &since);
	to_guardian = pair[1];
	return 0;
}

/* Check that the guardian has not ended.  Waits if the socket is full. */
static int
check(int timeout_ms)
{
	struct pollfd p = { .fd = to_guardian,
		.events = timeout_ms != 0 ? POLLOUT : 0 };
	int r = poll(&p, 1, timeout_ms);

	if (r < 0 && errno != EINTR)
		return -errno;
	return r > 0 && (p.revents & (POLLHUP | POLLERR)) != 0 ? -EPIPE : 0;
}

/* Send the number of a record with its file descriptor. */
static int
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
	uint64_t deadline = clock_coarse_ms() + ANSWER_MS;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	shared->records[n].answer = ANSWER_NONE;
	while (sendmsg(to_guardian, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		int r = errno == EAGAIN ? check(LOOK_NS / 1000000) : -errno;
		/* The guardian has ended with messages that it has not read. */
		if (r == -ECONNRESET)
			r = -EPIPE;
		if (r != 0)
			return r;
		if (clock_coarse_ms() > deadline)
			return -ETIMEDOUT;
	}
	return 0;
}

int
guardian_add(struct space *sp, uint64_t area)
{
	unsigned n = 0;

	if (sp->guardian != 0)
		return 0;
	int r = guardian_start();
	if (r != 0)
		return r;
	if (sp->mem_fd < 0 || sp->procs.len == 0)
		return -EMFILE;
	/* Take the first free record, because the guardian keeps one descriptor
	 * for each record that was ever used. */
	while (n < RECORDS && shared->records[n].live)
		n++;
	if (n == RECORDS)
		return -ENOMEM;
	shared->records[n] =
	    (struct record){ .area = area, .pid = sp->procs.at[0]->pid };
	r = send_memory(n, sp->mem_fd);
	if (r != 0)
		return r;
	__atomic_store_n(&shared->records[n].live, true, __ATOMIC_RELEASE);
	sp->guardian = n + 1;
	return 0;
}

static int
await_answer(uint32_t *answer)
{
	const struct timespec look = { 0, LOOK_NS };
	uint64_t deadline = clock_coarse_ms() + ANSWER_MS;
	uint32_t got;
	int r = 0;

	while (
	    (got = __atomic_load_n(answer, __ATOMIC_ACQUIRE)) == ANSWER_NONE &&
	    r == 0) {
		syscall(
		    SYS_futex, answer, FUTEX_WAIT, ANSWER_NONE, &look, NULL, 0);
		/* A target waits for the answer; the guardian may have been
		 * stopped. */
		kill(guardian, SIGCONT);
		r = check(0);
		if (r == 0 && clock_coarse_ms() > deadline)
			r = -ETIMEDOUT;
	}
	if (got != ANSWER_NONE)
		return got == ANSWER_KEPT ? 0 : -EMFILE;
	return r;
}

int
guardian_has(struct space *sp, uint64_t area)
{
	int r = guardian_add(sp, area);

	if (r != 0)
		return r;
	struct record *rec = &shared->records[sp->guardian - 1];
	rec->area = area;
	r = await_answer(&rec->answer);
	if (r == -EMFILE)
		guardian_drop(sp);
	if (r == 0)
		r = trapset_keeper(
		    tptable_traps(sp->tab), (uint32_t)guardian, since);
	fault_kill("guardian-has");
	return r;
}

void
guardian_drop(struct space *sp)
{
	if (sp->guardian != 0)
		__atomic_store_n(&shared->records[sp->guardian - 1].live, false,
		    __ATOMIC_RELEASE);
	sp->guardian = 0;
}

bool
guardian_is_alive(void)
{
	if (to_guardian < 0)
		return false;
	/* If the guardian was stopped, continue it. */
	kill(guardian, SIGCONT);
	return check(0) == 0;
}

/* Forget the guardian; it has ended or must end. */
static void
dismiss(void)
{
	close(to_guardian);
	to_guardian = -1;
	/* A stopped guardian would never end by itself. */
	kill(guardian, SIGKILL);
}

int
guardian_revive(struct super *su)
{
	struct proc *p = NULL;

	if (to_guardian >= 0) {
		dismiss();
		waitpid(guardian, NULL, 0);
	}
	int r = guardian_start();
	while (r == 0 && (p = super_next(su, p)) != NULL) {
		struct space *sp = p->space;
		if (sp->guardian != 0)
			r = send_memory(sp->guardian - 1, sp->mem_fd);
		if (r == 0 && sp->guardian != 0)
			r = guardian_has(
			    sp, shared->records[sp->guardian - 1].area);
	}
	return r;
}

void
guardian_end(void)
{
	if (to_guardian < 0)
		return;
	shared->well = true;
	dismiss();
}
