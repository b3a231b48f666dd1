/*
 * victim [blocked]: a busy program that notices when something is done to it.
 *
 * Eight threads compute, send each other signals whose number and contents are
 * counted, have timers, sleep in system calls with known registers, pass bytes
 * through a pipe, and fork.  "ready PID SEMAPHORE" says that all of them run;
 * then for each line of input
 *
 *	progress	wait until every thread has come further:
 *			"progress ok", or which of them has not in LIMIT
 *			seconds, as one does not whose signal was lost
 *
 * At the end of the input "done wrong N": how many checks have failed.  With
 * `blocked' threads that expect no signal block SIGTRAP, too.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include <dtrap-sdt.h>
#include "t/e2e/src/figures.h"
#include "t/e2e/src/trigger.h"

DTRAP_SDT_SEMAPHORE(victim_turn_semaphore);

#define LIMIT   30 /* seconds that a thread may need for one turn */
#define SIGSEQ  (SIGRTMIN + 1)
#define SIGTICK (SIGRTMIN + 2)
#define AHEAD   8 /* signals under way */

enum { WORK1, WORK2, SENDER, RECEIVER, TIMER, READER, SLEEPER, FORKER, PARTS };

static const char *const names[PARTS] = { "work1", "work2", "sender",
	"receiver", "timer", "reader", "sleeper", "forker" };
static _Atomic long turns[PARTS];
static _Atomic long wrong;
static atomic_bool stop;
static _Atomic long seq_handled, usr_handled, usr_sent;
static pthread_t thread[PARTS];
static int the_pipe[2];

static void
is_wrong(const char *what)
{
	wrong++;
	fprintf(stderr, "victim: %s\n", what);
}

/* ---- what is traced ---- */

NOINLINE double
mixed(double x, int n)
{
	double r = 0;

	for (int i = 1; i <= n; i++)
		r += x / i;
	return r;
}

static void
turn(uint64_t n)
{
	char text[64], copy[64];

	if (work(n) != work_again(n))
		is_wrong("work");
	if (recurse(7) != 13)
		is_wrong("recurse");
	if (mixed(60, 5) != 60. + 60. / 2 + 60. / 3 + 60. / 4 + 60. / 5)
		is_wrong("mixed");
	if (DTRAP_SDT_ENABLED(victim_turn_semaphore))
		DTRAP_SDT1("victim_turn_semaphore", "victim", "turn", n);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	memcpy(copy, text, sizeof(copy));
	if (strtoull(copy, NULL, 10) != n)
		is_wrong("libc");
}

/*
 * A system call with known values in the registers that it leaves alone.
 */
static long
checked_call(long nr, long a, long b, long c)
{
	uint64_t diff;
	long ret;

	asm volatile("movq $0x1b1b, %%rbx\n"
		     "movq $0x1212, %%r12\n"
		     "movq $0x1313, %%r13\n"
		     "movq $0x1414, %%r14\n"
		     "movq $0x1515, %%r15\n"
		     "movq %%r12, %%xmm6\n"
		     "movq %%r13, %%xmm15\n"
		     "syscall\n"
		     "xorq $0x1b1b, %%rbx\n"
		     "movq %%xmm6, %%rcx\n"
		     "movq %%xmm15, %%r11\n"
		     "xorq $0x1212, %%r12\n"
		     "xorq $0x1313, %%r13\n"
		     "xorq $0x1414, %%r14\n"
		     "xorq $0x1515, %%r15\n"
		     "xorq $0x1212, %%rcx\n"
		     "xorq $0x1313, %%r11\n"
		     "orq %%r12, %%rbx\n"
		     "orq %%r13, %%rbx\n"
		     "orq %%r14, %%rbx\n"
		     "orq %%r15, %%rbx\n"
		     "orq %%rcx, %%rbx\n"
		     "orq %%r11, %%rbx\n"
		     : "=a"(ret), "=&b"(diff)
		     : "0"(nr), "D"(a), "S"(b), "d"(c)
		     : "rcx", "r11", "r12", "r13", "r14", "r15", "xmm6",
		     "xmm15", "memory", "cc");
	if (diff != 0)
		is_wrong("registers");
	return ret;
}

/* ---- signals ---- */

static void
on_seq(int sig, siginfo_t *si, void *uc)
{
	if (si->si_code != SI_QUEUE || si->si_pid != getpid() ||
	    si->si_value.sival_int != (int)(seq_handled + 1))
		is_wrong("a queued signal");
	seq_handled++;
}

static void
on_usr(int sig, siginfo_t *si, void *uc)
{
	if (si->si_code != SI_USER || si->si_pid != getpid() ||
	    usr_handled + 1 != usr_sent)
		is_wrong("SIGUSR1");
	usr_handled++;
}

static void
on_tick(int sig, siginfo_t *si, void *uc)
{
	if (si->si_code != SI_TIMER || si->si_value.sival_int != 77)
		is_wrong("a timer's signal");
	turns[TIMER]++;
}

static void
catch_signal(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction sa = { .sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | SA_RESTART };

	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

static void
let_in(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- the threads ---- */

static void
run_sender(void)
{
	static long sent;
	union sigval v = { .sival_int = (int)(sent + 1) };

	if (pthread_sigqueue(thread[RECEIVER], SIGSEQ, v) == 0)
		sent++;
	while (!stop && seq_handled + AHEAD < sent)
		sched_yield();
	if (sent % 16 != 0)
		return;
	usr_sent++;
	kill(getpid(), SIGUSR1);
	while (!stop && usr_handled < usr_sent)
		sched_yield();
}

static void
start_timer(void)
{
	const struct itimerspec every = { { 0, 500000 }, { 0, 500000 } };
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGTICK,
		.sigev_value = { .sival_int = 77 } };
	timer_t timer;

	let_in(SIGTICK);
	ev._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) != 0 ||
	    timer_settime(timer, 0, &every, NULL) != 0)
		is_wrong("timer_create");
}

/* Nothing but the thread itself ends its sleep. */
static void
run_sleeper(uint64_t n)
{
	const struct timespec ts = { 0, 700000 };
	unsigned char byte = (unsigned char)n;

	if (checked_call(SYS_nanosleep, (long)&ts, 0, 0) != 0)
		is_wrong("nanosleep");
	if (checked_call(SYS_write, the_pipe[1], (long)&byte, 1) != 1)
		is_wrong("write");
}

static void
run_reader(uint64_t n)
{
	unsigned char byte = 0;

	if (checked_call(SYS_read, the_pipe[0], (long)&byte, 1) != 1) {
		if (!stop)
			is_wrong("read");
	} else if (byte != (unsigned char)n) {
		is_wrong("a byte in the pipe");
	}
}

static void
run_forker(uint64_t n)
{
	const struct timespec ts = { 0, 3000000 };
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		long before = wrong;
		for (uint64_t i = 0; i < 20; i++)
			turn(n + i);
		_exit(wrong == before ? 42 : 1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		is_wrong("fork");
	} else if (!WIFEXITED(status) || WEXITSTATUS(status) != 42) {
		fprintf(stderr, "victim: child's status %x\n", status);
		wrong++;
	}
	nanosleep(&ts, NULL);
}

static void *
run(void *arg)
{
	int part = (int)(intptr_t)arg;
	uint64_t n = 0;

	if (part == RECEIVER) {
		let_in(SIGSEQ);
		let_in(SIGUSR1);
	}
	if (part == TIMER)
		start_timer();
	for (; !stop; n++) {
		switch (part) {
		case SENDER: run_sender(); break;
		case READER: run_reader(n); break;
		case SLEEPER: run_sleeper(n); break;
		case FORKER: run_forker(n); break;
		default: turn(n);
		}
		if (part != TIMER)
			turns[part]++;
	}
	/* The reader waits for a last byte. */
	if (part == SLEEPER)
		close(the_pipe[1]);
	return NULL;
}

/* ---- what we are asked ---- */

static const char *
stuck(void)
{
	const struct timespec nap = { 0, 500000 };
	long before[PARTS], seq = seq_handled;
	struct timespec now, end;
	int part = 0;

	for (int i = 0; i < PARTS; i++)
		before[i] = turns[i];
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += LIMIT;
	for (;;) {
		while (part < PARTS && turns[part] > before[part])
			part++;
		if (part == PARTS && seq_handled > seq)
			return NULL;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > end.tv_sec)
			return part < PARTS ? names[part] : "signals";
		nanosleep(&nap, NULL);
	}
}

int
main(int argc, char **argv)
{
	static const int faults[] = { SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE,
		SIGSYS };
	char line[80];
	sigset_t set;

	trigger_init();
	catch_signal(SIGSEQ, on_seq);
	catch_signal(SIGUSR1, on_usr);
	catch_signal(SIGTICK, on_tick);
	sigfillset(&set);
	/* As programs do that know which signals are of no use blocked. */
	for (size_t i = 0; argc < 2 && i < sizeof(faults) / sizeof(*faults);
	     i++)
		sigdelset(&set, faults[i]);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pipe(the_pipe) != 0)
		return 2;
	turn(1);
	/* The receiver is there before the sender. */
	for (int i = PARTS - 1; i >= 0; i--)
		if (pthread_create(
			&thread[i], NULL, run, (void *)(intptr_t)i) != 0)
			return 2;
	if (stuck() != NULL)
		return 2;
	printf("ready %d %#lx\n", (int)getpid(),
	    (unsigned long)(uintptr_t)&victim_turn_semaphore);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		const char *who = stuck();
		if (who == NULL)
			printf("progress ok wrong %ld\n", (long)wrong);
		else
			printf("progress stuck: %s\n", who);
	}
	stop = true;
	for (int i = 0; i < PARTS; i++)
		if (i != READER)
			pthread_join(thread[i], NULL);
	printf("done wrong %ld\n", (long)wrong);
	return wrong != 0;
}
