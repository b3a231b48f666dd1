/* Which signal is in which state in which turn. */
#include "sigtable.h"

struct row rows[LAST_SIGNAL + 1];

bool
is_unusable(int sig)
{
	return sig == SIGKILL || sig == SIGSTOP;
}

bool
is_librarys(int sig)
{
	return sig == 32 || sig == 33;
}

static bool
is_nothing_by_default(int sig)
{
	return sig == SIGCHLD || sig == SIGCONT || sig == SIGURG ||
	    sig == SIGWINCH;
}

bool
is_natural(int sig)
{
	switch (sig) {
	case SIGALRM:
	case SIGCHLD:
	case SIGIO:
	case SIGPIPE:
	case SIGPROF:
	case SIGURG:
	case SIGVTALRM:
	case SIGXFSZ: return true;
	default: return false;
	}
}

enum whom
sent_to(int sig)
{
	switch (rows[sig].sender) {
	case TGKILL_A:
	case QUEUE_A:
	case TIMER_A:
	case FILE_A: return THREAD_A;
	case TGKILL_B:
	case QUEUE_B:
	case TIMER_B:
	case FILE_B: return THREAD_B;
	case NATURAL:
		return sig == SIGPIPE || sig == SIGXFSZ ? THREAD_A : PROCESS;
	default: return PROCESS;
	}
}

/* May the thread take the signal when it is sent? */
bool
takes_it(int sig, enum whom thread)
{
	const struct row *r = &rows[sig];
	enum whom to = sent_to(sig);

	return r->sender != NOBODY && (to == PROCESS || to == thread) &&
	    !(thread == THREAD_A ? r->in_a : r->in_b);
}

/* Any bits that differ from signal to signal and from turn to turn. */
static uint64_t
scrambled(int sig, int turn)
{
	uint64_t x = (uint64_t)sig * 1000 + (uint64_t)turn + 1;

	x *= 0x9e3779b97f4a7c15;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9;
	return x ^ x >> 32;
}

/* A program that dies of what it is sent tells nothing: deaths.c has those. */
static void
survive(int sig)
{
	struct row *r = &rows[sig];

	if (r->treatment != DEFAULT || is_nothing_by_default(sig))
		return;
	if (takes_it(sig, THREAD_A))
		r->in_a = true;
	if (takes_it(sig, THREAD_B))
		r->in_b = true;
}

static void
make_handler(int sig, int turn)
{
	static const int flags[] = { SA_RESTART, SA_NODEFER, SA_ONSTACK };
	struct row *r = &rows[sig];
	uint64_t bits = scrambled(sig, turn);

	r->flags = SA_SIGINFO;
	for (int i = 0; i < 3; i++)
		if (bits >> (40 + i) & 1)
			r->flags |= flags[i];
	/* It is handled once, and sent twice. */
	if ((bits >> 43 & 1) && !takes_it(sig, THREAD_A) &&
	    !takes_it(sig, THREAD_B))
		r->flags |= SA_RESETHAND;
	/* None, some, all. */
	if (bits >> 44 & 1)
		r->mask = bits >> 45 & 1 ? ~0UL : scrambled(sig + 100, turn);
	r->mask &= ~(BIT(SIGKILL) | BIT(SIGSTOP));
}

/* In a thread that it makes the C library unblocks what it cancels by. */
static void
spare_the_young(void)
{
	struct row *r = &rows[32];

	if (r->treatment == DEFAULT && sent_to(32) == PROCESS)
		r->sender = NOBODY;
}

/* By $ONLY, a list of numbers: who looks for the cause of a difference wants no
 * other signals. */
static void
keep_only(const char *list)
{
	struct row kept[LAST_SIGNAL + 1] = { 0 };
	char *end;

	for (;; list = end) {
		long sig = strtol(list, &end, 10);

		if (end == list)
			break;
		if (sig > 0 && sig <= LAST_SIGNAL)
			kept[sig] = rows[sig];
	}
	memcpy(rows, kept, sizeof(rows));
}

void
make_rows(int turn, bool makes_threads)
{
	for (int sig = 1; sig <= LAST_SIGNAL; sig++) {
		/* 37 has no divisor in common with TURNS. */
		unsigned n = (unsigned)(turn + sig * 37) % TURNS;
		struct row *r = &rows[sig];

		if (is_unusable(sig))
			continue;
		r->treatment = (enum treatment)(n % 3);
		r->in_a = (n / 3 & 1) != 0;
		r->in_b = (n / 6 & 1) != 0;
		r->sender = (enum sender)(n / 12);
		survive(sig);
		if (r->treatment == HANDLED)
			make_handler(sig, turn);
	}
	if (makes_threads)
		spare_the_young();
	if (getenv("ONLY") != NULL)
		keep_only(getenv("ONLY"));
}
