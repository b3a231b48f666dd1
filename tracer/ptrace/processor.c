/*
 * Keeps the tracer on the processor of the thread that hits, and makes it run
 * in time for samples; see processor.h.
 *
 * Most of what a trap costs is the wake-up of a tracer on another processor,
 * and of the thread in turn: 58 us a round trip against 10 us on one processor
 * of a virtual machine, 12 us against 6 us on another.  It takes two things to
 * stay on one:
 *
 *  - the tracer is pinned to the processor of the thread that hits most;
 *  - while it hands the thread back, that processor must look idle, or the
 *    scheduler moves the thread to one that is.  To the scheduler a processor
 *    that runs only SCHED_IDLE tasks is an idle one (sched_idle_cpu(), Linux
 *    5.4), so the tracer becomes one.  Pinning alone gains nothing: the two
 *    chase each other (measured).
 *
 * SCHED_IDLE starves as soon as another task wants the processor, and the
 * target would wait for the tracer: 380 us a hit beside two busy loops.  So it
 * is used only at a high rate of hits, only while nothing but us is running,
 * and only if we can leave it again, which needs CAP_SYS_NICE or an RLIMIT_NICE
 * of 20 (sched(7)).
 *
 * For samples, the tracer must run as soon as its timer expires.  As SCHED_FIFO
 * it does, however many threads are busy.  To leave them enough time, it is
 * SCHED_FIFO only for a fraction of a millisecond before each sample if it is
 * busy itself for half of the time.  Without the permission (CAP_SYS_NICE or
 * RLIMIT_RTPRIO), it requests short time slices instead, and is late if many
 * threads are busy.
 *
 *	NORMAL --LOOK_HITS hits within LOOK_NS, nobody else runs--> YIELDING
 *	YIELDING --fewer hits, or somebody else runs--> NORMAL
 */
#include "tracer/ptrace/processor.h"

#include <fcntl.h>
#include <sched.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "dlang/base/log.h"
#include "tracer/ptrace/proc.h"

#define SHORT_SLICE 100000 /* ns, the shortest there is */

#define LOOK_HITS   64
#define LOOK_NS     10000000 /* 64 hits in 10 ms: 6,400 a second */

static bool
set_policy(int policy)
{
	struct sched_param sp = { .sched_priority = policy == SCHED_FIFO };

	return sched_setscheduler(0, policy, &sp) == 0;
}

static bool
may_return(void)
{
	struct rlimit r;

	/* For root the capability is not checked: if it was taken away, the
	 * attempt to return fails once and is not repeated. */
	if (geteuid() == 0)
		return true;
	return getrlimit(RLIMIT_NICE, &r) == 0 && r.rlim_cur >= 20;
}

void
processor_init(struct processor *p)
{
	bool plain = sched_getscheduler(0) == SCHED_OTHER;

	*p = (struct processor){
		.cpu = -1,
		.plain = plain,
		.can_return = plain && may_return(),
	};
}

static void
set_yielding(struct processor *p, bool yielding)
{
	if (p->yielding == yielding)
		return;
	if (!set_policy(yielding ? SCHED_IDLE : SCHED_OTHER)) {
		LOG("processor", "cannot change the policy");
		p->can_return = false;
		return;
	}
	p->yielding = yielding;
}

/* The number of runnable tasks, the tracer included; "0.0 0.0 0.0 2/345
 * 678". */
static long
running(void)
{
	char text[128];
	int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return LONG_MAX;
	text[n] = '\0';
	const char *slash = strchr(text, '/');
	if (slash == NULL)
		return LONG_MAX;
	while (slash > text && slash[-1] != ' ')
		slash--;
	return strtol(slash, NULL, 10);
}

/* The processors that the user allows. */
static bool
learn_found(struct processor *p)
{
	return p->cpu >= 0 ||
	    sched_getaffinity(0, sizeof(p->found), &p->found) == 0;
}

static void
pin(struct processor *p, int cpu)
{
	cpu_set_t set;

	if (cpu < 0 || cpu == p->cpu || cpu >= CPU_SETSIZE)
		return;
	if (!learn_found(p))
		return;
	/* Do not move to a processor that the user has excluded. */
	if (!CPU_ISSET((unsigned)cpu, &p->found))
		return;
	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) == 0)
		p->cpu = cpu;
}

static void
unpin(struct processor *p)
{
	if (p->cpu < 0)
		return;
	sched_setaffinity(0, sizeof(p->found), &p->found);
	p->cpu = -1;
}

void
processor_fix(struct processor *p, int cpu)
{
	pin(p, cpu);
	p->fixed = true;
	p->fixed_cpu = cpu;
}

bool
processor_may_visit(struct processor *p, const cpu_set_t *set)
{
	cpu_set_t both;

	if (p->fixed || !learn_found(p))
		return false;
	CPU_AND(&both, &p->found, set);
	return CPU_EQUAL(&both, set);
}

bool
processor_visit(struct processor *p, int cpu)
{
	if (!p->fixed)
		pin(p, cpu);
	return p->cpu == cpu;
}

/* Set the tracer's time slice in ns; 0: the kernel's choice.  A task with a
 * shorter slice preempts at once (Linux 6.12); older kernels ignore it. */
static void
set_slice(uint64_t ns)
{
	struct { /* the first version of struct sched_attr */
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr;

	/* The rest stays as it is. */
	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) != 0)
		return;
	attr.size = sizeof(attr);
	attr.runtime = ns;
	if (syscall(SYS_sched_setattr, 0, &attr, 0) != 0)
		LOG("processor", "cannot change the slice");
}

void
processor_hurry(struct processor *p, bool hurry)
{
	if (p->hurrying == hurry || !p->plain)
		return;
	if (!hurry) {
		set_policy(p->yielding ? SCHED_IDLE : SCHED_OTHER);
		p->hurrying = false;
		return;
	}
	p->no_fifo = p->no_fifo || !set_policy(SCHED_FIFO);
	p->hurrying = !p->no_fifo;
	if (p->no_fifo)
		processor_short(p);
}

void
processor_short(struct processor *p)
{
	if (p->short_slice || !p->plain)
		return;
	set_slice(SHORT_SLICE);
	p->short_slice = true;
}

void
processor_calm(struct processor *p)
{
	if (!p->hurrying)
		return;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (used - p->used > (now - p->calmed) / 2)
		processor_hurry(p, false);
	p->calmed = now;
	p->used = used;
}

void
processor_again(struct processor *p)
{
	if (p->fixed)
		pin(p, p->fixed_cpu);
}

void
processor_hit(struct processor *p, struct thread *th, uint64_t now)
{
	if (!p->can_return || p->fixed || p->hurrying)
		return;
	p->hits++;
	if (now - p->looked > LOOK_NS) {
		/* Hits are rare: moving would gain nothing. */
		set_yielding(p, false);
		unpin(p);
	} else if (p->hits < LOOK_HITS) {
		return;
	} else if (running() <= 1) {
		pin(p, thread_cpu(th));
		set_yielding(p, true);
	} else {
		set_yielding(p, false);
		unpin(p);
	}
	p->hits = 0;
	p->looked = now;
}

void
processor_restore(struct processor *p)
{
	processor_hurry(p, false);
	if (p->short_slice)
		set_slice(0);
	p->short_slice = false;
	set_yielding(p, false);
	unpin(p);
}
