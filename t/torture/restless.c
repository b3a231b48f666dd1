/*
 * restless THREADS [plain]: threads in every state that a thread can be found in, each
 * of which checks what it does.
 *
 *	busy	calls of work() and steps(), whose results are known; one of
 *		four blocks all signals
 *	timer	a signal every 50 us whose handler calls work(), one of two
 *		on an alternate stack
 *	born	makes a thread, takes its result, all the time
 *	vfork	a child that sleeps and then executes true, or exits
 *	asleep	the rest: read, futex, nanosleep, poll, epoll_wait, sem_wait
 *
 * "ready PID" when all run.  A line "check" is a round: every thread is woken
 * and has to come by; then "ok wrong N sem N" says how often something was not
 * as it should be, and what the static probe's semaphore is.  A thread that is
 * lost hangs the round.  It ends with its input.
 *
 * plain: the siginfo of a timer's signal is not looked at.  With fastpath it is lost
 * if the tracer is killed while the signal waits for the end of a firing.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include <dtrap-sdt.h>
#include "t/e2e/src/trigger.h"

#define THREADS_MAX 2000
#define TICK        SIGRTMIN
#define SIGNALS     64

/* The static probe's. */
__attribute__((section(".probes"))) volatile unsigned short restless_turn_sem;

static atomic_bool stop;
static atomic_long wrong;
static atomic_uint turn_of_all;
static struct sigaction actions[SIGNALS + 1];

struct one {
	pthread_t id;
	int number;
	int event_fd;
	atomic_uint seen; /* the round it came by last */
	sigset_t mask;    /* as it set it */
	void (*role)(struct one *);
};

static struct one all[THREADS_MAX];

/* What everybody sleeps on. */
static int pipe_fd[2];
static atomic_uint futex_word;
static sem_t sem;

static void complain(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

static void
complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	wrong++;
}

/* ---- what is probed ---- */

NOINLINE uint64_t
work(uint64_t n)
{
	uint64_t r = n;

	for (int i = 0; i < 4; i++)
		r = r * 6364136223846793005ull + 1442695040888963407ull;
	DTRAP_SDT1("restless_turn_sem", "restless", "turn", n);
	return r ^ n;
}

static uint64_t
work_again(uint64_t n)
{
	const uint64_t a = 6364136223846793005ull, c = 1442695040888963407ull;
	uint64_t r = a * n + c;

	r = a * r + c;
	r = a * r + c;
	return (a * r + c) ^ n;
}

/* Memory, calls, jumps and the stack: probed at every instruction. */
NOINLINE unsigned
steps(const unsigned char *text, unsigned len)
{
	unsigned table[4] = { 1, 2, 3, 4 }, sum = 0;

	for (unsigned i = 0; i < len; i++) {
		switch (text[i] & 3) {
		case 0: sum += table[text[i] >> 2 & 3]; break;
		case 1: sum ^= (unsigned)work(text[i]); break;
		case 2: table[i & 3] += sum; break;
		default: sum = sum << 1 | sum >> 31;
		}
	}
	return sum;
}

static unsigned steps_want;

static void
turn(uint64_t n)
{
	static const unsigned char text[] = "restless, day and night";
	char buf[32], copy[32];

	if (work(n) != work_again(n))
		complain("work(%llu)\n", (unsigned long long)n);
	unsigned got = steps(text, sizeof(text));
	if (steps_want != 0 && got != steps_want)
		complain("steps() is %u\n", got);
	steps_want = got;
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)n);
	memcpy(copy, buf, sizeof(copy));
	if (strtoull(copy, NULL, 10) != n)
		complain("strtoull(%s)\n", copy);
}

/* ---- rounds ---- */

/* A thread comes by: is its mask what it was? */
static void
pass(struct one *me)
{
	unsigned now = turn_of_all;
	sigset_t mask;

	if (me->seen == now)
		return;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (int sig = 1; sig <= SIGNALS; sig++)
		if (sigismember(&mask, sig) != sigismember(&me->mask, sig))
			complain("thread %d: signal %d\n", me->number, sig);
	me->seen = now;
}

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ---- roles ---- */

static void
be_busy(struct one *me)
{
	if (me->number % 4 == 0) {
		sigfillset(&me->mask);
		sigdelset(&me->mask, 32); /* the C library's own */
		sigdelset(&me->mask, 33);
		pthread_sigmask(SIG_SETMASK, &me->mask, NULL);
		pthread_sigmask(SIG_SETMASK, NULL, &me->mask);
	}
	for (uint64_t n = (uint64_t)me->number << 32; !stop; n++) {
		turn(n);
		pass(me);
		if (n % 16 == 0)
			sched_yield();
	}
}

static __thread long ticks;
static bool plain;

static void
on_tick(int sig, siginfo_t *si, void *uc)
{
	uint64_t n = (uint64_t)++ticks;

	if (work(n) != work_again(n) || (si->si_code != SI_TIMER && !plain))
		complain("tick %llu: work() or code %d, value %p, signal %d\n",
		    (unsigned long long)n, si->si_code, si->si_ptr, sig);
}

static void
be_timer(struct one *me)
{
	static char stacks[4][65536];
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = TICK + me->number % 2 };
	const struct itimerspec every = { { 0, 50000 }, { 0, 50000 } };
	stack_t alt = { .ss_sp = stacks[me->number % 4],
		.ss_size = sizeof(stacks[0]) };
	timer_t timer;
	long before = 0;

	sigaltstack(&alt, NULL);
	ev._sigev_un._tid = (int)gettid();
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) != 0)
		complain("timer_create: %m\n");
	timer_settime(timer, 0, &every, NULL);
	for (uint64_t n = 0; !stop; n++) {
		turn(n);
		/* A round counts when the timer has come by, too. */
		if (me->seen != turn_of_all && ticks != before) {
			before = ticks;
			pass(me);
		}
	}
	timer_delete(timer);
}

static void *
short_life(void *arg)
{
	uint64_t n = (uintptr_t)arg;

	return (void *)(uintptr_t)(work(n) ^ n);
}

static void
be_born(struct one *me)
{
	pthread_t child;
	void *got;

	for (uint64_t n = 1; !stop; n++) {
		int r = pthread_create(
		    &child, NULL, short_life, (void *)(uintptr_t)n);
		if (r != 0) {
			complain("pthread_create: %s\n", strerror(r));
			continue;
		}
		pthread_join(child, &got);
		if ((uintptr_t)got != (work_again(n) ^ n))
			complain("the thread's result is %p\n", got);
		pass(me);
	}
}

static void
be_vfork(struct one *me)
{
	char *const argv[] = { "true", NULL };
	char *const env[] = { NULL };
	int status;

	for (volatile unsigned n = 0; !stop; n++) {
		const struct timespec nap = { 0, (long)(n % 7) * 1000000 };
		const bool exec = n % 2 == 0;
		pid_t child = vfork();
		if (child == 0) {
			/* Nothing but system calls: the memory is the
			 * parent's. */
			syscall(SYS_nanosleep, &nap, NULL);
			if (exec)
				execve("/bin/true", argv, env);
			_exit(7);
		}
		if (child < 0)
			complain("vfork: %m\n");
		else if (waitpid(child, &status, 0) != child)
			complain("waitpid: %m\n");
		else if (status != (exec ? 0 : 7 << 8))
			complain("the child's status is %x\n", status);
		pass(me);
	}
}

static void
sleep_read(struct one *me)
{
	char c = 0;

	while (!stop) {
		if (read(pipe_fd[0], &c, 1) != 1 || c != 'x')
			complain("read: %d, %m\n", c);
		pass(me);
	}
}

static void
sleep_futex(struct one *me)
{
	while (!stop) {
		unsigned word = futex_word;
		pass(me);
		if (syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, word,
			NULL, NULL, 0) != 0 &&
		    errno != EAGAIN)
			complain("futex: %m\n");
	}
}

static void
sleep_nap(struct one *me)
{
	while (!stop) {
		const struct timespec nap = { 0,
			20000000 + me->number * 10000 };
		uint64_t begin = now_ns();
		if (nanosleep(&nap, NULL) != 0)
			complain("nanosleep: %m\n");
		if (now_ns() - begin < (uint64_t)nap.tv_nsec)
			complain("nanosleep is short\n");
		pass(me);
	}
}

static void
take_event(struct one *me)
{
	uint64_t count;

	if (read(me->event_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		complain("eventfd: %m\n");
}

static void
sleep_poll(struct one *me)
{
	struct pollfd p = { .fd = me->event_fd, .events = POLLIN };

	while (!stop) {
		if (poll(&p, 1, -1) != 1)
			complain("poll: %m\n");
		take_event(me);
		pass(me);
	}
}

static void
sleep_epoll(struct one *me)
{
	struct epoll_event e = { .events = EPOLLIN };
	int epoll_fd = epoll_create1(0);

	if (epoll_fd < 0 ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, me->event_fd, &e) != 0)
		complain("epoll: %m\n");
	while (!stop) {
		/* Being attached to interrupts it, whoever attaches. */
		if (epoll_wait(epoll_fd, &e, 1, -1) != 1 && errno != EINTR)
			complain("epoll_wait: %m\n");
		take_event(me);
		pass(me);
	}
}

static void
sleep_sem(struct one *me)
{
	while (!stop) {
		if (sem_wait(&sem) != 0)
			complain("sem_wait: %m\n");
		pass(me);
	}
}

/* ---- all of them ---- */

/* Those that are not made for all the others. */
static void (*const few[])(struct one *) = { be_busy, be_busy, be_timer,
	be_timer, be_born, be_vfork, be_busy, be_vfork };
static void (*const sleepers[])(struct one *) = { sleep_read, sleep_futex,
	sleep_nap, sleep_poll, sleep_epoll, sleep_sem };

#define FEW      (sizeof(few) / sizeof(few[0]))
#define SLEEPERS (sizeof(sleepers) / sizeof(sleepers[0]))

/* So many of each kind. */
static void
wake(long count)
{
	int bytes = 0, posts = 0;

	futex_word++;
	syscall(
	    SYS_futex, &futex_word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
	/* What is there already wakes somebody, too. */
	ioctl(pipe_fd[0], FIONREAD, &bytes);
	for (long i = bytes; i < count; i++)
		if (write(pipe_fd[1], "x", 1) < 0)
			complain("pipe: %m\n");
	sem_getvalue(&sem, &posts);
	for (long i = posts; i < count; i++)
		sem_post(&sem);
}

static void
wake_one(struct one *who)
{
	const uint64_t one = 1;

	if (write(who->event_fd, &one, sizeof(one)) < 0)
		complain("eventfd: %m\n");
}

/* Somebody or other is woken all the time. */
static void *
alarm_clock(void *arg)
{
	const struct timespec nap = { 0, 2000000 };
	const long count = (long)(uintptr_t)arg;

	for (long i = 0; !stop; i = (i + 1) % count) {
		wake(1);
		wake_one(&all[i]);
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static void *
live(void *arg)
{
	struct one *me = arg;

	pthread_sigmask(SIG_SETMASK, NULL, &me->mask);
	me->role(me);
	return NULL;
}

static void
round_of_all(long count)
{
	unsigned now = ++turn_of_all;
	const struct timespec nap = { 0, 1000000 };
	struct sigaction sa;

	for (long i = 0; i < count; i++)
		while (all[i].seen != now) {
			wake(count / (long)SLEEPERS + 1);
			for (long k = i; k < count; k++)
				if (all[k].seen != now)
					wake_one(&all[k]);
			nanosleep(&nap, NULL);
		}
	for (int sig = 1; sig <= SIGNALS; sig++)
		if (sigaction(sig, NULL, &sa) == 0 &&
		    (sa.sa_sigaction != actions[sig].sa_sigaction ||
			sa.sa_flags != actions[sig].sa_flags))
			complain("signal %d has another action\n", sig);
	printf("ok wrong %ld sem %u\n", (long)wrong, restless_turn_sem);
}

static void
prepare(void)
{
	struct sigaction sa = { .sa_sigaction = on_tick,
		.sa_flags = SA_SIGINFO | SA_RESTART };

	sigaction(TICK, &sa, NULL);
	sa.sa_flags |= SA_ONSTACK;
	sigaction(TICK + 1, &sa, NULL);
	for (int sig = 1; sig <= SIGNALS; sig++)
		sigaction(sig, NULL, &actions[sig]);
	if (pipe(pipe_fd) != 0)
		exit(2);
	sem_init(&sem, 0, 0);
	turn(1); /* every lazy symbol is bound before we say ready */
}

int
main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 20;
	pthread_attr_t small;
	struct rlimit files;
	pthread_t clock;
	char line[80];

	if (count < (long)FEW || count > THREADS_MAX)
		return 2;
	trigger_init();
	plain = argc > 2 && strcmp(argv[2], "plain") == 0;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	prepare();
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 * 1024);
	for (long i = 0; i < count; i++) {
		all[i].event_fd = eventfd(0, EFD_NONBLOCK);
		all[i].number = (int)i;
		all[i].role = i < (long)FEW ? few[i] : sleepers[i % SLEEPERS];
		if (pthread_create(&all[i].id, &small, live, &all[i]) != 0)
			return 2;
	}
	if (pthread_create(
		&clock, &small, alarm_clock, (void *)(uintptr_t)count) != 0)
		return 2;
	round_of_all(count);
	printf("ready %d\n", (int)getpid());
	while (fgets(line, sizeof(line), stdin) != NULL)
		round_of_all(count);
	/* It has nothing to add to what the rounds have said. */
	_exit(wrong != 0);
}
