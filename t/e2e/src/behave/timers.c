/* Timers that are fast, and calls that signals interrupt or restart. */
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include "behave.h"

static volatile sig_atomic_t ticks;
static volatile long strange;

/* Set again by the handler: one that takes longer than the timer, as it does
 * with a tracer's probes in it, would be all that ever runs. */
static const struct itimerval soon = { { 0, 0 }, { 0, 500 } };
static const struct itimerspec soon_ns = { { 0, 0 }, { 0, 500000 } };
static timer_t timer;

static void
again(int sig)
{
	if (sig == SIGALRM)
		setitimer(ITIMER_REAL, &soon, NULL);
	else
		timer_settime(timer, 0, &soon_ns, NULL);
}

static void
on_tick(int sig, siginfo_t *si, void *uc)
{
	ticks++;
	work(sig);
	if (!in_file_text(
		(uint64_t)((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP]))
		strange++;
	again(sig);
}

/* A sum that only undisturbed registers and flags give. */
static int
until(int n)
{
	int wrong = 0;

	for (int i = 0; ticks < n; i = (i + 1) & 0xffff)
		if (work(i) != i + 1)
			wrong++;
	return wrong;
}

static int
itimer(void)
{
	catch_signal(SIGALRM, on_tick, SA_RESTART);
	in_file_text(0);
	again(SIGALRM);
	int wrong = until(1000);
	signal(SIGALRM, SIG_IGN);
	printf("wrong %d strange %ld\n", wrong, strange);
	return 0;
}

static void *
timed_thread(void *arg)
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGRTMIN };

	ev._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) != 0)
		return (void *)1;
	again(SIGRTMIN);
	int wrong = until(1000);
	signal(SIGRTMIN, SIG_IGN);
	timer_delete(timer);
	return (void *)(intptr_t)wrong;
}

static int
posix_timer(void)
{
	pthread_t t;
	void *wrong;

	catch_signal(SIGRTMIN, on_tick, SA_RESTART);
	in_file_text(0);
	pthread_create(&t, NULL, timed_thread, NULL);
	pthread_join(t, &wrong);
	printf("wrong %d strange %ld\n", (int)(intptr_t)wrong, strange);
	return 0;
}

/* Signals that come while calls are made, one after the other. */
static int
itimer_calls(void)
{
	int p[2], wrong = 0;
	char c = 'x';

	if (pipe(p) != 0)
		return 1;
	catch_signal(SIGALRM, on_tick, SA_RESTART);
	in_file_text(0);
	again(SIGALRM);
	while (ticks < 500)
		if (write(p[1], &c, 1) != 1 || read(p[0], &c, 1) != 1 ||
		    getppid() <= 0 || work(7) != 8)
			wrong++;
	signal(SIGALRM, SIG_IGN);
	printf("wrong %d strange %ld\n", wrong, strange);
	return 0;
}

/* Restarted and interrupted calls: what ends a call is in the handler. */
static int fd_to = -1;

static void
on_write(int sig, siginfo_t *si, void *uc)
{
	work(sig);
	ticks++;
	if (fd_to >= 0 && write(fd_to, "x", 1) != 1)
		strange++;
}

/* SIGALRM for the thread that asks, once it sleeps in the call behind: a timer
 * would be too early where that thread waits for a processor, or a tracer. */
static pid_t to_alarm;

static void *
alarm_asleep(void *arg)
{
	pid_t tid;

	while ((tid = __atomic_load_n(&to_alarm, __ATOMIC_ACQUIRE)) == 0)
		sched_yield();
	await_state(tid, "S");
	syscall(SYS_tgkill, getpid(), tid, SIGALRM);
	return NULL;
}

static pthread_t
alarm_next(void)
{
	pthread_t t;

	to_alarm = 0;
	if (pthread_create(&t, NULL, alarm_asleep, NULL) != 0)
		abort();
	__atomic_store_n(&to_alarm, gettid(), __ATOMIC_RELEASE);
	return t;
}

static void
say_call(const char *what, long r)
{
	int error = errno;

	printf("%s: %ld%s%s handled %d\n", what, r, r < 0 ? " " : "",
	    r < 0 ? strerror(error) : "", (int)ticks);
	ticks = 0;
}

/* With an alarm on the way, as often as the call is made. */
#define ALARMED(call)                        \
	({                                   \
		pthread_t t_ = alarm_next(); \
		long r_ = (call);            \
		int error_ = errno;          \
		pthread_join(t_, NULL);      \
		errno = error_;              \
		r_;                          \
	})

static void
restart_calls(int p[2], bool restart)
{
	struct pollfd pfd = { .fd = p[0], .events = POLLIN };
	struct timespec ts = { 3000, 0 }, rem = { 0, 0 };
	struct epoll_event ev = { .events = EPOLLIN };
	char c;

	fd_to = p[1];
	say_call("read", ALARMED(read(p[0], &c, 1)));
	if (!restart)
		say_call("again", read(p[0], &c, 1));
	say_call("poll", ALARMED(poll(&pfd, 1, -1)));
	say_call("again", read(p[0], &c, 1));
	fd_set set;
	FD_ZERO(&set);
	FD_SET(p[0], &set);
	say_call("select", ALARMED(select(p[0] + 1, &set, NULL, NULL, NULL)));
	say_call("again", read(p[0], &c, 1));
	int ep = epoll_create1(0);
	epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev);
	say_call("epoll_wait", ALARMED(epoll_wait(ep, &ev, 1, -1)));
	say_call("again", read(p[0], &c, 1));
	close(ep);
	say_call("pause", ALARMED(pause()));
	say_call("again", read(p[0], &c, 1));
	fd_to = -1;
	say_call("nanosleep", ALARMED(nanosleep(&ts, &rem)));
	printf("remain %d\n", rem.tv_sec > 0);
	rem.tv_sec = 0;
	long r = ALARMED(clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &rem));
	printf(
	    "clock_nanosleep %s remain %d\n", strerror((int)r), rem.tv_sec > 0);
	ticks = 0;
}

static int
restarts(void)
{
	int p[2], status;
	char c;

	if (pipe(p) != 0)
		return 1;
	for (int restart = 0; restart < 2; restart++) {
		printf("restart %d\n", restart);
		catch_signal(SIGALRM, on_write, restart ? SA_RESTART : 0);
		restart_calls(p, restart);
		/* The child ends only after the alarm has been handled. */
		int q[2];
		if (pipe(q) != 0)
			return 1;
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			close(q[1]);
			status = (int)read(q[0], &c, 1);
			_exit(5);
		}
		fd_to = q[1];
		long got = ALARMED(waitpid(pid, &status, 0));
		say_call("waitpid", got == pid ? 1 : got);
		if (got != pid)
			waitpid(pid, &status, 0);
		say_status("child", status);
		close(q[0]);
		close(q[1]);
	}
	return 0;
}

/* A call with a time that is stopped and continued goes on with what is left;
 * nothing but its end shows. */
static long
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int
sleeps(void)
{
	struct timespec ts = { 0, 30000000 }, at;
	long begin = now_ms();

	hot(5);

	say_call("nanosleep", nanosleep(&ts, NULL));
	printf("not early %d\n", now_ms() - begin >= 29);
	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec += 30000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000;
	}
	begin = now_ms();
	printf("clock_nanosleep: %d\n",
	    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL));
	printf("not early %d\n", now_ms() - begin >= 28);
	begin = now_ms();
	say_call("poll", poll(NULL, 0, 30));
	printf("not early %d\n", now_ms() - begin >= 29);
	int ep = epoll_create1(0);
	struct epoll_event ev;
	begin = now_ms();
	say_call("epoll_wait", epoll_wait(ep, &ev, 1, 30));
	printf("not early %d\n", now_ms() - begin >= 29);
	int tfd = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec it = { { 0, 0 }, { 0, 30000000 } };
	uint64_t n = 0;
	timerfd_settime(tfd, 0, &it, NULL);
	say_call("timerfd", read(tfd, &n, sizeof(n)));
	printf("expired %d\n", (int)n);
	return 0;
}

static void
on_nothing(int sig, siginfo_t *si, void *uc)
{
	ticks++;
	work(sig);
}

/* A signal that is ignored wakes nobody: calls that a handler would interrupt
 * go on. */
static void *
sender(void *arg)
{
	pid_t tid = *(pid_t *)arg;

	for (int i = 0; i < 20; i++) {
		await_sleep(tid);
		syscall(SYS_tgkill, getpid(), tid, SIGWINCH);
		syscall(SYS_tgkill, getpid(), tid, SIGUSR1);
		kill(getpid(), SIGCHLD);
	}
	return NULL;
}

static int
unheard(void)
{
	pid_t tid = gettid();
	struct timeval tv = { 0, 40000 };
	struct epoll_event ev;
	sigset_t set;
	siginfo_t si;
	pthread_t t;
	int s[2];
	char c;

	signal(SIGUSR1, SIG_IGN);
	catch_signal(SIGUSR2, on_nothing, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	int ep = epoll_create1(0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0)
		return 1;
	setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	pthread_create(&t, NULL, sender, &tid);
	say_call("epoll_wait", epoll_wait(ep, &ev, 1, 40));
	say_call("read", read(s[0], &c, 1));
	hot(5);
	struct timespec ts = { 0, 40000000 };
	say_call("sigtimedwait", sigtimedwait(&set, &si, &ts));
	pthread_join(t, NULL);
	return 0;
}

static volatile bool limits_over;
static int limited[2]; /* a pair of sockets; the first has a limit */

static void
limit(long sec, long usec)
{
	struct timeval tv = { sec, usec };

	setsockopt(limited[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
}

/* Signals that are ignored, for more than a second, and then what the first
 * call waits for; more of them until all have ended. */
static void *
nag(void *arg)
{
	const struct timespec pause = { 0, 5000000 };
	long begin = now_ms();
	bool written = false;

	while (!limits_over) {
		kill(getpid(), SIGWINCH);
		nanosleep(&pause, NULL);
		if (written || now_ms() - begin < 1500)
			continue;
		written = write(limited[1], "x", 1) == 1;
	}
	return NULL;
}

/* For what never comes. */
static void
ring_wait(void)
{
	struct __kernel_timespec ts = { 0, 200000000 };
	struct io_uring_getevents_arg arg = { .ts = (uintptr_t)&ts };
	struct io_uring_params p = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 8, &p);

	if (fd >= 0)
		say_call("ring",
		    syscall(SYS_io_uring_enter, fd, 0, 1,
			IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg,
			sizeof(arg)));
	close(fd);
}

/* Calls keep to their limits of time under signals that nobody hears. */
static int
time_limits(void)
{
	pthread_t nagger;
	char c;

	signal(SIGWINCH, SIG_IGN);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, limited) != 0)
		return 1;
	limit(600, 0);
	pthread_create(&nagger, NULL, nag, NULL);
	say_call("long", read(limited[0], &c, 1));
	hot(5);
	limit(0, 200000);
	say_call("short", recv(limited[0], &c, 1, 0));
	ring_wait();
	limits_over = true;
	pthread_join(nagger, NULL);
	return 0;
}

const struct behaviour behave_timers[] = {
	{ "itimer", itimer },
	{ "timer", posix_timer },
	{ "itimer-calls", itimer_calls },
	{ "restarts", restarts },
	{ "sleeps", sleeps },
	{ "unheard", unheard },
	{ "time-limits", time_limits },
	{ 0 },
};
