/* What a thread sees of its signals: masks, actions, what is pending. */
#include <stdarg.h>
#include <time.h>

#include "sigtable.h"

/* As the kernel has it. */
struct action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

#define FLAG_RESTORER 0x04000000

struct handled {
	int sig;
	pid_t tid;
	uint64_t mask;
	siginfo_t si;
};

static struct handled handled[1024];
static int handled_n;
static int handled_times[LAST_SIGNAL + 1]; /* since the program began */

void own_restorer(void);
__asm__(".globl own_restorer\n"
	"own_restorer:\n"
	"	mov $15, %eax\n"
	"	syscall\n");

/* By the library, where a tracer may look for it. */
static uint64_t
mask_now(void)
{
	sigset_t set;
	uint64_t mask;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	memcpy(&mask, &set, sizeof(mask));
	return mask;
}

static void
note(int sig, siginfo_t *si)
{
	int n = __atomic_fetch_add(&handled_n, 1, __ATOMIC_RELAXED);

	if (n >= (int)(sizeof(handled) / sizeof(handled[0])))
		die("too many signals");
	handled[n] = (struct handled){
		.sig = sig, .tid = gettid(), .mask = mask_now(), .si = *si
	};
	__atomic_fetch_add(&handled_times[sig], 1, __ATOMIC_RELEASE);
}

int
times_handled(int sig)
{
	return __atomic_load_n(&handled_times[sig], __ATOMIC_ACQUIRE);
}

bool
is_handled_now(int sig)
{
	struct sigaction sa;

	sigaction(sig, NULL, &sa);
	return sa.sa_handler != SIG_DFL && sa.sa_handler != SIG_IGN;
}

static void
on_even(int sig, siginfo_t *si, void *uc)
{
	int error = errno;

	note(sig, si);
	work(sig);
	errno = error;
}

static void
on_odd(int sig, siginfo_t *si, void *uc)
{
	on_even(sig, si, uc);
}

/* ---- telling it ---- */

void
say(const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	write_all(STDOUT_FILENO, text, (size_t)n);
}

static const char *
name_of(pid_t pid)
{
	return pid == 0     ? "none" :
	    pid == getpid() ? "self" :
	    pid == helper   ? "helper" :
	    pid == child    ? "child" :
			      "another";
}

static void
say_info(const char *stage, const char *who, const siginfo_t *si)
{
	char more[160] = "";

	switch (si->si_code) {
	case SI_TIMER:
		snprintf(more, sizeof(more), "timer %d overrun %d value %d",
		    si->si_timerid, si->si_overrun, si->si_value.sival_int);
		break;
	case POLL_IN:
		if (si->si_signo == SIGCHLD)
			snprintf(more, sizeof(more), "%s exited %d",
			    name_of(si->si_pid), si->si_status);
		else
			snprintf(more, sizeof(more), "fd %d band %#lx",
			    si->si_fd, (unsigned long)si->si_band);
		break;
	case SI_QUEUE:
		snprintf(more, sizeof(more), "from %s user %d value %d",
		    name_of(si->si_pid), si->si_uid == getuid(),
		    si->si_value.sival_int);
		break;
	default:
		snprintf(more, sizeof(more), "from %s user %d",
		    name_of(si->si_pid), si->si_uid == getuid());
	}
	say("%s %s signal %d code %d errno %d %s\n", stage, who, si->si_signo,
	    si->si_code, si->si_errno, more);
}

static void
say_handled(const char *stage, const struct handled *h)
{
	char who[60];
	/* Which of two the kernel has asked is nobody's business. */
	bool either = takes_it(h->sig, THREAD_A) && takes_it(h->sig, THREAD_B);

	/* The end of a child is told to the process, whoever else sends. */
	if (h->sig == SIGCHLD)
		either = !rows[SIGCHLD].in_a && !rows[SIGCHLD].in_b;
	snprintf(who, sizeof(who), "handled by %s mask %016lx",
	    either              ? "either" :
		h->tid == tid_a ? "A" :
		h->tid == tid_b ? "B" :
				  "another",
	    either ? 0 : h->mask);
	say_info(stage, who, &h->si);
}

void
report_handled(const char *stage, bool in_order)
{
	int n = handled_n;

	for (int sig = 1; sig <= LAST_SIGNAL; sig++)
		for (int i = 0; i < n; i++)
			if (in_order ? sig == 1 : handled[i].sig == sig)
				say_handled(stage, &handled[i]);
	handled_n = 0;
}

/* "proc": what a tracer is known to change there is taken out by the test. */
static void
report_proc(const char *stage, const char *thread)
{
	char path[64], line[256];
	FILE *f;

	snprintf(
	    path, sizeof(path), "/proc/self/task/%d/status", (int)gettid());
	f = fopen(path, "re");
	if (f == NULL)
		die(path);
	while (fgets(line, sizeof(line), f) != NULL)
		/* Not SigQ, which is of all that the user has. */
		if ((strncmp(line, "Sig", 3) == 0 && line[3] != 'Q') ||
		    strncmp(line, "ShdPnd", 6) == 0)
			say("%s %s proc %s", stage, thread, line);
	fclose(f);
}

void
report_thread(const char *stage, const char *thread)
{
	sigset_t pending;
	uint64_t bits;
	stack_t st;

	sigpending(&pending);
	memcpy(&bits, &pending, sizeof(bits));
	sigaltstack(NULL, &st);
	say("%s %s mask %016lx pending %016lx stack %d %zu\n", stage, thread,
	    mask_now(), bits, st.ss_flags, st.ss_size);
	report_proc(stage, thread);
}

/* The library does not speak of its own. */
static int
action_of(int sig, const struct action *set, struct action *get)
{
	return (int)syscall(SYS_rt_sigaction, sig, set, get, sizeof(uint64_t));
}

void
report_actions(const char *stage)
{
	for (int sig = 1; sig <= LAST_SIGNAL; sig++) {
		struct sigaction sa;
		struct action raw = { 0 };
		uint64_t mask;
		bool own;

		if (is_librarys(sig)) {
			action_of(sig, NULL, &raw);
			sa.sa_sigaction = raw.handler;
			sa.sa_flags = (int)raw.flags;
			mask = raw.mask;
			own = raw.restorer == own_restorer;
		} else {
			sigaction(sig, NULL, &sa);
			memcpy(&mask, &sa.sa_mask, sizeof(mask));
			own = sa.sa_restorer == own_restorer;
		}
		say("%s action %d %s flags %x mask %016lx restorer %s\n", stage,
		    sig,
		    sa.sa_handler == SIG_DFL       ? "default" :
			sa.sa_handler == SIG_IGN   ? "ignored" :
			sa.sa_sigaction == on_even ? "even" :
			sa.sa_sigaction == on_odd  ? "odd" :
						     "other",
		    sa.sa_flags, mask, own ? "own" : "other");
	}
}

/* ---- making it so ---- */

static void
set_action(int sig, const struct row *r)
{
	struct sigaction sa = { .sa_flags = r->flags };
	struct action raw = { .flags = (unsigned)r->flags | FLAG_RESTORER,
		.restorer = own_restorer,
		.mask = r->mask };

	if (r->treatment == HANDLED)
		sa.sa_sigaction = sig & 1 ? on_odd : on_even;
	else
		sa.sa_handler = r->treatment == IGNORED ? SIG_IGN : SIG_DFL;
	raw.handler = sa.sa_sigaction;
	memcpy(&sa.sa_mask, &r->mask, sizeof(r->mask));
	if ((is_librarys(sig) ? action_of(sig, &raw, NULL) :
				sigaction(sig, &sa, NULL)) != 0)
		die("sigaction");
}

void
set_actions(void)
{
	for (int sig = 1; sig <= LAST_SIGNAL; sig++)
		if (!is_unusable(sig))
			set_action(sig, &rows[sig]);
}

/* The library's own go by the kernel, and first: a tracer that looks at what
 * the library does has seen the last of it. */
static void
change_mask(uint64_t block)
{
	uint64_t raw = BIT(32) | BIT(33), other = ~block & raw;
	sigset_t set;

	raw &= block;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &raw, NULL, sizeof(raw));
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &other, NULL, sizeof(other));
	sigemptyset(&set);
	memcpy(&set, &block, sizeof(block));
	sigprocmask(SIG_BLOCK, &set, NULL);
	block = ~block & ~(BIT(32) | BIT(33));
	memcpy(&set, &block, sizeof(block));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void
set_mask(enum whom thread)
{
	uint64_t block = 0;

	for (int sig = 1; sig <= LAST_SIGNAL; sig++)
		if (thread == THREAD_A ? rows[sig].in_a : rows[sig].in_b)
			block |= BIT(sig);
	change_mask(block);
}

void
set_stack(enum whom thread)
{
	static char stacks[2][65536];
	int n = thread == THREAD_A ? 0 : 1;
	stack_t st = { .ss_sp = stacks[n],
		.ss_size = sizeof(stacks[n]) - 4096UL * n };

	if (sigaltstack(&st, NULL) != 0)
		die("sigaltstack");
}

/* ---- taking it out ---- */

void
take_by_wait(const char *stage, const char *thread)
{
	uint64_t all = ~0UL;
	struct timespec now = { 0 };
	siginfo_t si;

	for (;;) {
		memset(&si, 0, sizeof(si));
		if (syscall(SYS_rt_sigtimedwait, &all, &si, &now, sizeof(all)) <
		    0) {
			if (errno == EINTR)
				continue;
			break;
		}
		say_info(stage, thread, &si);
	}
	if (errno != EAGAIN)
		die("rt_sigtimedwait");
}

void
handle_all(void)
{
	const struct row all = { .treatment = HANDLED,
		.flags = SA_SIGINFO | SA_RESTART,
		.mask = ~(BIT(SIGKILL) | BIT(SIGSTOP)) };

	for (int sig = 1; sig <= LAST_SIGNAL; sig++)
		if (!is_unusable(sig))
			set_action(sig, &all);
}

void
take_by_handlers(void)
{
	change_mask(0);
}
