/*
 * Memory that clauses read in the target; inject/agent/agent.h says how.
 *
 *	fast_answer	reads for a thread that asks for it
 *	fast_mends	moves a thread behind a load that has faulted, or behind
 *			the reading of the clock
 *
 * There are two tables of memory that can be read, and the agent uses one of
 * them.  When a thread has asked for memory that is not in it, the other one is
 * written.  A thread may still be in the table that is overwritten: then its
 * load may fault.
 */
#include <signal.h>
#include <string.h>

#include "dlang/base/clock.h"
#include "symbols/maps.h"
#include "tracer/fast/fast_impl.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"

#define RANGES_MOST                                        \
	((RANGES_SIZE / 2 - sizeof(struct agent_ranges)) / \
	    sizeof(struct agent_range))

/* Of the tracer's time, at most one part in so many is for reading maps. */
#define REFRESH_PART 20U

/* Memory of which a plain load gives what a reader of the tracer does.  Code
 * has breakpoints in it, a device may do something, a shared file may become
 * shorter. */
static bool
is_plain(const struct map *m)
{
	bool anonymous = strncmp(m->path, "/dev/zero", 9) == 0 ||
	    strncmp(m->path, "/SYSV", 5) == 0;

	if (!m->read || m->exec || strncmp(m->path, "[v", 2) == 0)
		return false;
	return anonymous || (!m->shared && strncmp(m->path, "/dev/", 5) != 0);
}

/* What does not fit is asked for. */
static void
write_table(struct agent_ranges *r, const struct maps *maps)
{
	uint64_t n = 0;

	vec_foreach(m, &maps->list) {
		if (!is_plain(m))
			continue;
		if (n > 0 && r->at[n - 1].end == m->start)
			r->at[n - 1].end = m->end;
		else if (n < RANGES_MOST)
			r->at[n++] = (struct agent_range){ m->start, m->end };
	}
	r->n = n;
}

bool
loads_refresh(struct fast_space *f, pid_t pid)
{
	uint64_t begun = clock_ns(CLOCK_MONOTONIC);
	struct agent_ranges *r = f->tables[f->table ^ 1];
	struct maps maps = { 0 };

	if (begun < f->next_refresh || maps_read(pid, &maps) < 0)
		return false;
	write_table(r, &maps);
	maps_fini(&maps);
	f->table ^= 1;
	__atomic_store_n(&f->agent->ranges, fast_addr(f, r), __ATOMIC_RELEASE);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	f->next_refresh = now + REFRESH_PART * (now - begun);
	return true;
}

/* Copy to the thread's buffer, by way of a small one. */
static int
copy(struct space *sp, uint64_t addr, uint64_t to, uint64_t size)
{
	struct target *t = &sp->target;
	uint8_t buf[4096];

	for (uint64_t n; size > 0; size -= n, addr += n, to += n) {
		n = MIN(size, sizeof(buf));
		if (reader_read(&sp->text, addr, buf, n) != 0 ||
		    t->ops->write(t, to, buf, n) != 0)
			return -1;
	}
	return 0;
}

static int64_t
copy_string(struct space *sp, uint64_t addr, uint64_t to, uint64_t size)
{
	struct target *t = &sp->target;
	uint64_t done = 0;
	char buf[4096];

	while (done < size) {
		int64_t n = reader_string(&sp->text, addr + done, buf,
		    (uint32_t)MIN(size - done, sizeof(buf)));
		if (n <= 0 || t->ops->write(t, to + done, buf, (size_t)n) != 0)
			return -1;
		done += (uint64_t)n;
		if (buf[n - 1] == '\0')
			break;
	}
	return (int64_t)done;
}

/* The arguments are the thread's: they may be anything. */
static int64_t
answer(struct space *sp, const struct fast_space *f, const struct uregs *regs)
{
	uint64_t what = regs->r[ureg_arg(0)], addr = regs->r[ureg_arg(1)];
	uint64_t to = regs->r[ureg_arg(2)], size = regs->r[ureg_arg(3)];

	if (size > f->size || to - f->addr > f->size - size)
		return -1;
	if (what == AGENT_BYTES)
		return copy(sp, addr, to, size);
	return what == AGENT_STRING ? copy_string(sp, addr, to, size) : -1;
}

static bool
is_in_table(const struct fast_space *f, uint64_t addr)
{
	const struct agent_ranges *r = f->tables[f->table];

	return agent_room(r, MIN(r->n, (uint64_t)RANGES_MOST), addr) != 0;
}

bool
fast_answer(struct thread *th)
{
	struct space *sp = th->proc->space;
	struct fast_space *f = fast_there(th);
	struct uregs *regs = thread_regs(th);

	if (f == NULL || regs == NULL)
		return true;
	uint64_t addr = regs->r[ureg_arg(1)];
	int64_t result = answer(sp, f, regs);
	regs->r[UREG_RESULT] = (uint64_t)result;
	thread_regs_dirty(th);
	if (result < 0)
		return false;
	/* Memory that is not in an old table may be in the next one. */
	return !loads_refresh(f, th->proc->pid) || is_in_table(f, addr);
}

bool
fast_asks_rest(struct thread *th, struct fast_rest *asked)
{
	struct uregs *regs = thread_regs(th);
	const struct lane_view *v = fast_firing(th);

	if (regs == NULL || v == NULL || regs->r[ureg_arg(0)] != AGENT_REST)
		return false;
	*asked = (struct fast_rest){
		.site_ref = (uint32_t)regs->r[ureg_arg(1)],
		.ecb_ref = (uint32_t)(regs->r[ureg_arg(1)] >> 32),
		.timestamp = regs->r[ureg_arg(3)],
		.regs = *regs,
	};
	for (unsigned n = 0; n < UREG_COUNT; n++)
		if (ureg_is_general(n))
			asked->regs.r[n] = v->lane->regs.r[n];
	regs->r[UREG_RESULT] = 0;
	thread_regs_dirty(th);
	return true;
}

/* Move the thread behind the load, if one has faulted. */
static bool
mend_load(const struct fast_space *f, struct uregs *regs)
{
	for (size_t i = 0; i < f->nfixups; i++) {
		const struct agent_fixup *x = &f->fixups[i];
		uint64_t at = f->fixups_at + i * sizeof(*x);
		if (regs->r[UREG_PC] != at + (uint64_t)(int64_t)x->load)
			continue;
		regs->r[UREG_PC] = at + offsetof(struct agent_fixup, on) +
		    (uint64_t)(int64_t)x->on;
		regs->r[UREG_RESULT] = (uint64_t)-1;
		return true;
	}
	return false;
}

/* A thread may be forbidden to read the processor's clock (PR_SET_TSC of
 * prctl(2), strict seccomp), and the kernel does not say which one is.  During a
 * firing the tracer reads it for the thread. */
static bool
mend_clock(struct thread *th, struct uregs *regs)
{
	uint8_t code[CLOCK_INSN_MAX];

	if (th->stop.sig != SIGSEGV || !fast_fires(th) ||
	    reader_read(&th->proc->space->text, regs->r[UREG_PC], code,
		sizeof(code)) != 0 ||
	    !regs_read_clock(regs, code))
		return false;
	const struct lane_view *v = fast_firing(th);
	if (v != NULL)
		v->lane->tick_most = 0; /* it asks the kernel's clock only */
	return true;
}

bool
fast_mends(struct thread *th)
{
	struct fast_space *f = fast_there(th);
	struct uregs *regs;
	siginfo_t si;

	if ((th->stop.sig != SIGSEGV && th->stop.sig != SIGBUS) || f == NULL ||
	    (regs = thread_regs(th)) == NULL || thread_siginfo(th, &si) < 0 ||
	    si.si_code <= 0)
		return false;
	if (!mend_load(f, regs) && !mend_clock(th, regs))
		return false;
	thread_regs_dirty(th);
	stop_signal(th, 0);
	return true;
}
