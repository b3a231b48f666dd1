/*
 * victim [WORD]...: a busy program that notices when something is done to it.
 *
 * Eight threads compute, send each other signals whose number and contents are
 * counted, have timers, sleep in system calls with known registers, pass bytes
 * through a pipe, and fork.  Words say what it does besides, or does not:
 *
 *	blocked		threads that expect no signal block SIGTRAP, too
 *	asks		a thread asks for the action on SIGTRAP, and no more
 *	ignores		SIGTRAP is ignored, and sent
 *	handles		it is handled, raised by an int3 and sent
 *	changes		its action is changed all the time, and raised
 *	alone		no children
 *	dlopens=FILE	a thread opens and closes this library (libdlo.so)
 *	in=, out=, err=FILE	instead of the descriptors it was given
 *
 * "ready PID SEMAPHORE" says that all of them run;
 * then for each line of input
 *
 *	progress	wait until every thread has come further:
 *			"progress ok", or which of them has not in LIMIT
 *			seconds, as one does not whose signal was lost
 *
 * At the end of the input "done wrong N": how many checks have failed.  The
 * signal masks and the action on SIGTRAP are among them.
 */
#include <dlfcn.h>
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
#include "t/torture/crowd.h"

DTRAP_SDT_SEMAPHORE(victim_turn_semaphore);

#define LIMIT   30 /* seconds that a thread may need for one turn */
#define SIGSEQ  (SIGRTMIN + 1)
#define SIGTICK (SIGRTMIN + 2)
#define AHEAD   8 /* signals under way */

/* The last two are there when they are asked for. */
enum {
	WORK1,
	WORK2,
	SENDER,
	RECEIVER,
	TIMER,
	READER,
	SLEEPER,
	FORKER,
	TRAPPER,
	LOADER,
	PARTS
};

static const char *const names[PARTS] = { "work1", "work2", "sender",
	"receiver", "timer", "reader", "sleeper", "forker", "trapper",
	"loader" };
static bool absent[PARTS];

/* What the program does with SIGTRAP. */
static enum { NOTHING, ASKS, IGNORES, HANDLES, CHANGES } conduct;
static const char *library;

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
	for (uint64_t i = 4 * n; i < 4 * n + 4; i++)
		if (!crowd_is_right(i, n))
			is_wrong("the crowd");
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

/* ---- SIGTRAP ---- */

static _Atomic long traps, sent_traps;

static void
on_trap(int sig, siginfo_t *si, void *uc)
{
	if (si->si_code == SI_KERNEL)
		traps++;
	else if (si->si_code == SI_TKILL && si->si_pid == getpid())
		sent_traps++;
	else
		is_wrong("a SIGTRAP");
}

/* The same by another name: one that was set instead. */
static void
on_trap_too(int sig, siginfo_t *si, void *uc)
{
	on_trap(sig, si, uc);
}

/* The action of the nth turn of one that changes it. */
static struct sigaction
nth_action(uint64_t n)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };

	if (n % 4 == 2)
		sa.sa_flags |= SA_NODEFER;
	sigemptyset(&sa.sa_mask);
	if (n % 4 == 0 || n % 4 == 2)
		sa.sa_sigaction = n % 4 == 0 ? on_trap : on_trap_too;
	else
		sa = (struct sigaction){ .sa_handler =
					     n % 4 == 1 ? SIG_IGN : SIG_DFL };
	return sa;
}

static void
trap_is(const struct sigaction *want, const struct sigaction *have)
{
	const int flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;

	if (have->sa_sigaction != want->sa_sigaction ||
	    (have->sa_flags & flags) != (want->sa_flags & flags))
		is_wrong("the action on SIGTRAP");
}

/* What it was last set to. */
static struct sigaction
set_action_of(uint64_t turns_made)
{
	switch (conduct) {
	case IGNORES: return nth_action(1);
	case HANDLES: return nth_action(0);
	case CHANGES:
		return turns_made > 0 ? nth_action(turns_made - 1) :
					nth_action(3);
	default: return nth_action(3);
	}
}

static void
ask_for_trap(void)
{
	struct sigaction want = set_action_of((uint64_t)turns[TRAPPER]), have;

	if (sigaction(SIGTRAP, NULL, &have) != 0)
		is_wrong("sigaction");
	trap_is(&want, &have);
}

/* Both ways to get one, where it is handled. */
static void
be_trapped(void)
{
	long before = traps, sent = sent_traps;

	asm volatile("int3");
	if (traps != before + 1)
		is_wrong("an int3 of its own");
	pthread_kill(pthread_self(), SIGTRAP);
	if (sent_traps != sent + 1)
		is_wrong("a SIGTRAP that was sent");
}

static void
run_trapper(uint64_t n)
{
	const struct timespec ts = { 0, 2000000 };
	struct sigaction want, next, have;

	switch (conduct) {
	case ASKS: ask_for_trap(); break;
	case IGNORES: pthread_kill(pthread_self(), SIGTRAP); break;
	case HANDLES: be_trapped(); break;
	case CHANGES:
		want = set_action_of(n);
		next = nth_action(n);
		sigaction(SIGTRAP, &next, &have);
		trap_is(&want, &have);
		if (n % 2 == 0)
			be_trapped();
		break;
	case NOTHING: break;
	}
	nanosleep(&ts, NULL);
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

/* Its constructor has called the function, too. */
static void
run_loader(uint64_t n)
{
	const struct timespec ts = { 0, 2000000 };
	void *lib = dlopen(library, RTLD_NOW);
	long (*triple)(long) = NULL;

	if (lib != NULL)
		*(void **)&triple = dlsym(lib, "from_ctor");
	if (triple == NULL || triple((long)n) != 3 * (long)n)
		is_wrong("the library");
	if (lib != NULL)
		dlclose(lib);
	nanosleep(&ts, NULL);
}

static void
mask_is(const sigset_t *want)
{
	sigset_t have;

	pthread_sigmask(SIG_SETMASK, NULL, &have);
	for (int sig = 1; sig < NSIG; sig++)
		if (sigismember(&have, sig) != sigismember(want, sig)) {
			fprintf(stderr, "victim: signal %d\n", sig);
			is_wrong("a signal mask");
		}
}

static void *
run(void *arg)
{
	int part = (int)(intptr_t)arg;
	sigset_t mask;
	uint64_t n = 0;

	if (part == RECEIVER) {
		let_in(SIGSEQ);
		let_in(SIGUSR1);
	}
	if (part == TIMER)
		start_timer();
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (; !stop; n++) {
		switch (part) {
		case SENDER: run_sender(); break;
		case READER: run_reader(n); break;
		case SLEEPER: run_sleeper(n); break;
		case FORKER: run_forker(n); break;
		case TRAPPER: run_trapper(n); break;
		case LOADER: run_loader(n); break;
		default: turn(n);
		}
		if (part != TIMER)
			turns[part]++;
	}
	mask_is(&mask);
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
		while (part < PARTS &&
		    (absent[part] || turns[part] > before[part]))
			part++;
		if (part == PARTS && seq_handled > seq)
			return NULL;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > end.tv_sec)
			return part < PARTS ? names[part] : "signals";
		nanosleep(&nap, NULL);
	}
}

static bool
read_word(const char *word, sigset_t *blocked)
{
	static const char *const conducts[] = { "", "asks", "ignores",
		"handles", "changes" };

	for (int i = ASKS; i <= CHANGES; i++)
		if (strcmp(word, conducts[i]) == 0) {
			conduct = i;
			return true;
		}
	if (strcmp(word, "blocked") == 0)
		return sigfillset(blocked) == 0;
	if (strcmp(word, "alone") == 0)
		return absent[FORKER] = true;
	if (strncmp(word, "dlopens=", 8) == 0)
		return (library = word + 8) != NULL;
	if (strncmp(word, "in=", 3) == 0)
		return freopen(word + 3, "r", stdin) != NULL;
	if (strncmp(word, "out=", 4) == 0)
		return freopen(word + 4, "w", stdout) != NULL;
	if (strncmp(word, "err=", 4) == 0)
		return freopen(word + 4, "w", stderr) != NULL;
	return false;
}

static void
prepare(void)
{
	struct sigaction sa = set_action_of(0);

	trigger_init();
	setvbuf(stderr, NULL, _IONBF, 0);
	catch_signal(SIGSEQ, on_seq);
	catch_signal(SIGUSR1, on_usr);
	catch_signal(SIGTICK, on_tick);
	absent[TRAPPER] = conduct == NOTHING;
	absent[LOADER] = library == NULL;
	if (conduct == IGNORES || conduct == HANDLES)
		sigaction(SIGTRAP, &sa, NULL);
}

static bool
start_threads(void)
{
	/* The receiver is there before the sender. */
	for (int i = PARTS - 1; i >= 0; i--)
		if (!absent[i] &&
		    pthread_create(
			&thread[i], NULL, run, (void *)(intptr_t)i) != 0)
			return false;
	return stuck() == NULL;
}

int
main(int argc, char **argv)
{
	static const int faults[] = { SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE,
		SIGSYS };
	char line[80];
	sigset_t set;

	sigfillset(&set);
	/* As programs do that know which signals are of no use blocked. */
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&set, faults[i]);
	for (int i = 1; i < argc; i++)
		if (!read_word(argv[i], &set)) {
			perror(argv[i]);
			return 2;
		}
	prepare();
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	if (pipe(the_pipe) != 0)
		return 2;
	turn(1);
	if (!start_threads())
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
		if (i != READER && !absent[i])
			pthread_join(thread[i], NULL);
	mask_is(&set);
	/* After a kill it is told of the handler that protects it, until the
	 * next trace: that is for those who ask at all. */
	if (conduct != NOTHING)
		ask_for_trap();
	printf("done wrong %ld\n", (long)wrong);
	return wrong != 0;
}
