/*
 * trapmask WHAT: SIGTRAP blocked, ignored and handled in every way a program
 * can, with calls of work() between.  It says after each step what the kernel
 * (/proc) and the library think of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include "trigger.h"

static volatile sig_atomic_t traps, depth;
static siginfo_t seen;
static sigjmp_buf env;

NOINLINE int
work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

/* One line of /proc/thread-self/status as a number: its bit of SIGTRAP. */
static int
proc_bit(const char *status, const char *key)
{
	const char *p = strstr(status, key);
	uint64_t set = p != NULL ? strtoull(p + strlen(key), NULL, 16) : 0;

	return (int)(set >> (SIGTRAP - 1) & 1);
}

static void
say(const char *step)
{
	char status[4096] = "";
	struct sigaction sa;
	sigset_t set;
	int fd = open("/proc/thread-self/status", O_RDONLY);
	ssize_t n = read(fd, status, sizeof(status) - 1);

	close(fd);
	if (n <= 0)
		exit(4);
	sigaction(SIGTRAP, NULL, &sa);
	sigprocmask(SIG_BLOCK, NULL, &set);
	printf("%s: kernel: blocked %d ignored %d caught %d pending %d %d; "
	       "library: blocked %d usr1 %d %s flags %x mask %d; traps %d\n",
	    step, proc_bit(status, "SigBlk:"), proc_bit(status, "SigIgn:"),
	    proc_bit(status, "SigCgt:"), proc_bit(status, "SigPnd:"),
	    proc_bit(status, "ShdPnd:"), sigismember(&set, SIGTRAP),
	    sigismember(&set, SIGUSR1),
	    sa.sa_handler == SIG_DFL     ? "default" :
		sa.sa_handler == SIG_IGN ? "ignored" :
					   "handled",
	    (unsigned)sa.sa_flags, sigismember(&sa.sa_mask, SIGUSR2), traps);
}

static int
blocked(void)
{
	sigset_t set;

	pthread_sigmask(SIG_BLOCK, NULL, &set);
	return sigismember(&set, SIGTRAP);
}

static void
change(int how, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(how, &set, NULL);
}

static void
on_trap(int sig, siginfo_t *info, void *uc)
{
	int was = errno;

	seen = *info;
	traps = work(traps);
	if (work(traps) != traps + 1 || work(traps) != traps + 1)
		abort();
	if (depth > 0) {
		depth--;
		raise(SIGTRAP); /* at once, or when we return */
		work(0);
	}
	errno = was;
}

static void
on_jump(int sig)
{
	traps = work(traps);
	siglongjmp(env, work(0));
}

static void
handle(int sig, void (*fn)(int, siginfo_t *, void *), int flags, int more)
{
	struct sigaction sa = { .sa_sigaction = fn,
		.sa_flags = SA_SIGINFO | flags };

	if (more != 0)
		sigaddset(&sa.sa_mask, more);
	sigaction(sig, &sa, NULL);
}

/* What is pending stays so, and says who sent it. */
static void
waiting(void)
{
	struct timespec now = { 0 };
	union sigval v = { .sival_int = 4711 };
	siginfo_t si;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	change(SIG_BLOCK, SIGTRAP);
	for (int i = 0; i < 4; i++) {
		work(i);
		if (i == 0)
			raise(SIGTRAP);
		else if (i == 1)
			kill(getpid(), SIGTRAP);
		else if (i == 2)
			sigqueue(getpid(), SIGTRAP, v);
		work(i);
		work(i);
		say("before wait");
		memset(&si, 0, sizeof(si));
		int r = sigtimedwait(&set, &si, &now);
		printf("wait %d: code %d from us %d value %d\n", r, si.si_code,
		    si.si_pid == getpid(),
		    si.si_code == SI_QUEUE ? si.si_value.sival_int : 0);
		work(i);
	}
	raise(SIGTRAP);
	work(0);
	int sig = 0;
	sigwait(&set, &sig);
	printf("sigwait: %d\n", sig);
	say("after");
}

static void
toggling(void)
{
	int wrong = 0;

	for (int i = 0; i < 300; i++) {
		change(SIG_BLOCK, SIGTRAP);
		work(i);
		wrong += !blocked();
		if (i % 3 == 0)
			change(SIG_BLOCK, SIGUSR1);
		work(i);
		wrong += !blocked();
		change(SIG_UNBLOCK, SIGTRAP);
		work(i);
		wrong += blocked();
		change(SIG_UNBLOCK, SIGUSR1);
		wrong += blocked();
	}
	printf("toggled: wrong %d\n", wrong);
	say("after");
}

/* So many that nobody will want to watch, and then in earnest. */
static void
busily(void)
{
	int wrong = 0;

	for (int i = 0; i < 3000; i++) {
		change(SIG_BLOCK, SIGUSR1);
		work(i);
		wrong += blocked();
		change(SIG_UNBLOCK, SIGUSR1);
	}
	sigset_t all, old;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	work(0);
	say("all");
	sigprocmask(SIG_SETMASK, &old, NULL);
	work(0);
	printf("busy: wrong %d\n", wrong);
	say("after");
}

static void
actions(void)
{
	for (int i = 0; i < 2; i++) {
		signal(SIGTRAP, SIG_IGN);
		work(i);
		say("ignored");
		raise(SIGTRAP);
		work(i);
		handle(SIGTRAP, on_trap, SA_RESTART, SIGUSR2);
		work(i);
		say("handled");
		raise(SIGTRAP);
		work(i);
		say("raised");
		change(SIG_BLOCK, SIGTRAP);
		work(i);
		say("and blocked");
		raise(SIGTRAP);
		work(i);
		say("and pending");
		change(SIG_UNBLOCK, SIGTRAP);
		work(i);
		say("unblocked");
		handle(SIGTRAP, on_trap, SA_NODEFER, 0);
		depth = 3;
		raise(SIGTRAP);
		say("nested");
		handle(SIGTRAP, on_trap, 0, 0);
		depth = 3;
		raise(SIGTRAP);
		say("one by one");
		handle(SIGTRAP, on_trap, SA_RESETHAND, 0);
		raise(SIGTRAP);
		work(i);
		say("reset");
		signal(SIGTRAP, SIG_DFL);
		work(i);
		say("default");
	}
}

static void
on_usr(int sig, siginfo_t *info, void *uc)
{
	work(sig);
	say("in handler");
	work(sig);
}

/* Handlers of other signals that block SIGTRAP, and every way out of them. */
static void
handlers(void)
{
	sigset_t none, but;

	handle(SIGUSR1, on_usr, 0, SIGTRAP);
	work(0);
	raise(SIGUSR1);
	work(0);
	say("returned");
	raise(SIGUSR1);
	say("returned");

	sigemptyset(&none);
	change(SIG_BLOCK, SIGUSR1);
	change(SIG_BLOCK, SIGTRAP);
	raise(SIGUSR1);
	work(0);
	sigsuspend(&none);
	work(0);
	say("suspended");
	change(SIG_UNBLOCK, SIGTRAP);
	change(SIG_UNBLOCK, SIGUSR1);

	/* In a mask of sigsuspend()'s own. */
	handle(SIGUSR1, on_usr, 0, 0);
	change(SIG_BLOCK, SIGUSR1);
	raise(SIGUSR1);
	sigfillset(&but);
	sigdelset(&but, SIGUSR1);
	sigsuspend(&but);
	work(0);
	say("suspended");
	change(SIG_UNBLOCK, SIGUSR1);

	signal(SIGTRAP, on_jump);
	for (int save = 0; save < 2; save++) {
		if (sigsetjmp(env, save) == 0) {
			work(0);
			raise(SIGTRAP);
		}
		work(0);
		say(save ? "jumped" : "jumped, mask kept");
		change(SIG_UNBLOCK, SIGTRAP);
	}
}

/* By the library alone. */
static void
ask(const char *step)
{
	sigset_t set;

	sigpending(&set);
	printf("%s: blocked %d pending %d; traps %d\n", step, blocked(),
	    sigismember(&set, SIGTRAP), traps);
	fflush(stdout);
}

static void
on_work(int sig, siginfo_t *info, void *uc)
{
	work(sig);
}

static void
in_child(const char *how)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		work(0);
		ask("child");
		execl("/proc/self/exe", "trapmask", how, NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	printf("its end: %x\n", status);
}

/* All that can be blocked, as a thread does that wants no signals. */
static void
everything(void)
{
	const struct timespec soon = { 0, 0 };
	sigset_t all, trap;
	siginfo_t si;

	sigfillset(&all);
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	for (int i = 0; i < 2; i++) {
		pthread_sigmask(SIG_BLOCK, &all, NULL);
		for (int n = 0; n < 20; n++)
			work(n);
		ask("all");
		work(i);
		handle(SIGUSR1, on_work, 0, SIGTRAP);
		change(SIG_UNBLOCK, SIGUSR1);
		work(i);
		raise(SIGUSR1);
		work(i);
		ask("after a handler");
		in_child("asked");
		work(i);
		raise(SIGTRAP);
		work(i);
		ask("raised");
		printf("taken: %d\n", sigtimedwait(&trap, &si, &soon));
		work(i);
		ask("taken");
		handle(SIGTRAP, on_trap, 0, 0);
		work(i);
		kill(getpid(), SIGTRAP);
		work(i);
		ask("handled");
		pthread_sigmask(SIG_UNBLOCK, &all, NULL);
		work(i);
		ask("none");
		signal(SIGTRAP, SIG_DFL);
	}
}

static pthread_barrier_t both;

static void *
thread(void *arg)
{
	int block = (int)(intptr_t)arg, wrong = 0;

	wrong += blocked() != block;
	for (int i = 0; i < 100; i++) {
		pthread_barrier_wait(&both);
		work(i);
		wrong += blocked() != block;
		if (i % 7 == 6) {
			block = !block;
			change(block ? SIG_BLOCK : SIG_UNBLOCK, SIGTRAP);
			work(i);
			wrong += blocked() != block;
		}
	}
	return (void *)(intptr_t)wrong;
}

/* Each thread has a mask of its own, and gives it to those it makes. */
static void
threads(void)
{
	pthread_t th[4];
	void *wrong;

	handle(SIGTRAP, on_trap, 0, 0);
	pthread_barrier_init(&both, NULL, 4);
	for (int i = 0; i < 4; i++) {
		change(i % 2 ? SIG_BLOCK : SIG_UNBLOCK, SIGTRAP);
		work(i);
		if (pthread_create(
			&th[i], NULL, thread, (void *)(intptr_t)(i % 2)) != 0)
			exit(2);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(th[i], &wrong);
		printf("thread %d: wrong %d\n", i, (int)(intptr_t)wrong);
	}
	say("main");
}

/* Nothing but hits, in a thread that wants no signal. */
static void
quiet(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < 200; i++)
		work(i);
	ask("quiet");
}

/* Two that block it and handle it: the int3 of one resets what the other's has
 * just had put back, whatever else stops them meanwhile. */
static void *
one_of_two(void *arg)
{
	intptr_t wrong = 0;
	sigset_t set;

	(void)arg;
	for (int i = 0; i < 3000; i++) {
		work(i);
		pthread_sigmask(SIG_BLOCK, NULL, &set);
		wrong += sigismember(&set, SIGTRAP) != 1;
	}
	return (void *)wrong;
}

static void
two(void)
{
	pthread_t th[2];
	void *wrong;

	handle(SIGTRAP, on_trap, 0, 0);
	change(SIG_BLOCK, SIGTRAP);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&th[i], NULL, one_of_two, NULL) != 0)
			exit(2);
	for (int i = 0; i < 2; i++) {
		pthread_join(th[i], &wrong);
		printf("thread %d: wrong %d\n", i, (int)(intptr_t)wrong);
	}
}

/* Children and new programs begin with what they are given. */
static void
children(const char *self)
{
	int status;

	signal(SIGTRAP, SIG_IGN);
	change(SIG_BLOCK, SIGTRAP);
	work(0);
	for (int i = 0; i < 2; i++) {
		fflush(stdout);
		pid_t child = i == 0 ? fork() : vfork();
		if (child == 0) {
			work(1);
			if (i == 0)
				say("child");
			work(1);
			execl(self, self, "new", NULL);
			_exit(9);
		}
		waitpid(child, &status, 0);
		work(2);
		say("parent");
	}
	execl(self, self, "new", NULL);
}

static void new (void)
{
	say("new");
	work(0);
	say("new");
	change(SIG_UNBLOCK, SIGTRAP);
	work(0);
	raise(SIGTRAP);
	say("unblocked");
}

/* Attached to in the middle of it: block, ignore, handle, inside. */
static void
found(const char *how)
{
	handle(SIGTRAP, on_trap, SA_RESTART, SIGUSR2);
	if (strchr(how, 'b') != NULL)
		change(SIG_BLOCK, SIGTRAP);
	if (strchr(how, 'i') != NULL)
		signal(SIGTRAP, SIG_IGN);
	trigger_wait();
	for (int i = 0; i < 20; i++)
		work(i);
	say("found");
	raise(SIGTRAP);
	work(0);
	say("raised");
	change(SIG_UNBLOCK, SIGTRAP);
	work(0);
	say("unblocked");
	signal(SIGTRAP, SIG_DFL);
	work(0);
	say("default");
	trigger_wait();
	say("let go");
}

/* Instructions that fault, and one of one byte, under probes. */
void meet(void);
int divide(int a, int b);
void undefined(void);
__asm__(".globl divide, divides, undefined, undefines, stop, stops\n"
	".type divide, @function\n"
	"divide:\n"
	"	mov %edi, %eax\n"
	"	cltd\n"
	"divides:\n"
	"	idiv %esi\n"
	"	ret\n"
	".size divide, . - divide\n"
	".type undefined, @function\n"
	"undefined:\n"
	"	push %rbx\n"
	"undefines:\n"
	"	ud2\n"
	"	pop %rbx\n"
	"	ret\n"
	".size undefined, . - undefined\n"
	".type stop, @function\n"
	"stop:\n"
	"	push %rbx\n"
	"stops:\n"
	"	call meet\n"
	"	pop %rbx\n"
	"	ret\n"
	".size stop, . - stop\n");
extern const char divides[], undefines[], stops[];
void stop(void);

#define UD2_LEN 2

static void
on_fault(int sig, siginfo_t *info, void *uc)
{
	ucontext_t *c = uc;
	greg_t *pc = &c->uc_mcontext.gregs[REG_RIP];
	const char *at = sig == SIGFPE ? divides : undefines;

	printf("signal %d code %d: address %d pc %d\n", sig, info->si_code,
	    (const char *)info->si_addr == at, (const char *)*pc == at);
	*pc += UD2_LEN; /* idiv %esi is as long */
}

static void
faults(void)
{
	handle(SIGFPE, on_fault, 0, 0);
	handle(SIGILL, on_fault, 0, 0);
	for (int i = 0; i < 3; i++) {
		divide(7, 0);
		undefined();
	}
	printf("%d\n", divide(42, 6));
}

/*
 * A SIGTRAP for a thread that is just behind an instruction of one byte.  The
 * handler of SIGUSR1, in which SIGTRAP is blocked, leaves one pending and
 * returns to that place: the kernel then delivers it before the thread has run
 * an instruction there.
 */
static greg_t meet_from;
static volatile sig_atomic_t met;

static void
on_meet(int sig, siginfo_t *info, void *uc)
{
	ucontext_t *c = uc;
	greg_t *pc = &c->uc_mcontext.gregs[REG_RIP];

	if (sig == SIGUSR1) {
		raise(SIGTRAP);
		meet_from = *pc;
		*pc = (greg_t)(uintptr_t)stops;
		return;
	}
	met += *pc == (greg_t)(uintptr_t)stops && info->si_pid == getpid();
	*pc = meet_from;
}

void
meet(void)
{
	raise(SIGUSR1);
}

static void
stray(void)
{
	handle(SIGTRAP, on_meet, 0, 0);
	handle(SIGUSR1, on_meet, 0, SIGTRAP);
	for (int i = 0; i < 3; i++)
		stop();
	printf("met %d\n", met);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	trigger_init();
	if (strcmp(what, "waiting") == 0)
		waiting();
	else if (strcmp(what, "toggling") == 0)
		toggling();
	else if (strcmp(what, "busily") == 0)
		busily();
	else if (strcmp(what, "actions") == 0)
		actions();
	else if (strcmp(what, "handlers") == 0)
		handlers();
	else if (strcmp(what, "everything") == 0)
		everything();
	else if (strcmp(what, "asked") == 0)
		ask(work(0) == 1 ? "asked" : "wrong");
	else if (strcmp(what, "threads") == 0)
		threads();
	else if (strcmp(what, "quiet") == 0)
		quiet();
	else if (strcmp(what, "two") == 0)
		two();
	else if (strcmp(what, "children") == 0)
		children("/proc/self/exe");
	else if (strcmp(what, "new") == 0)
		new ();
	else if (strcmp(what, "found") == 0)
		found(argc > 2 ? argv[2] : "");
	else if (strcmp(what, "faults") == 0)
		faults();
	else if (strcmp(what, "stray") == 0)
		stray();
	else
		return 2;
	return 0;
}
