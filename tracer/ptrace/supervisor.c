/*
 * Creating and destroying the supervisor, and detaching from a process.
 */
#include <time.h>

#include "dlang/base/fault.h"
#include "tracer/ptrace/datawatch.h"
#include "tracer/ptrace/super.h"
#include "tracer/ptrace/target_ptrace.h"
#include "tracer/ptrace/trapqueue.h"

/* The supervisor */

struct super *
super_create(void)
{
	struct super *su = mem_zalloc(sizeof(*su));
	struct sigaction sa;

	sigprocmask(SIG_BLOCK, NULL, &su->start_mask);
	for (int sig = 1; sig <= 64; sig++)
		if (sigaction(sig, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN)
			su->start_ignored |= SIGBIT(sig);
	su->reserve = -1;
	su->target_ops = &target_ptrace_ops;
	return su;
}

/* If an event of the thread was not handled, change the thread so that it
 * continues as if it had not been traced: the pc is set back after an int3, and
 * a signal is delivered. */
static void
undo_queued(struct thread *th)
{
	thread_take_trap(th);
	if (th->stop.queued == 0 || !thread_stopped(th) ||
	    th->stop.kind != EV_TRAP)
		return; /* for a queued EV_SIGNAL, th->stop.sig is set */
	struct uregs *regs = thread_regs(th);
	if (regs == NULL)
		return;
	uint64_t addr = regs->r[UREG_PC] - TRAP_PC_AFTER;
	if (thread_at_watch(th)) {
		thread_mend_sigtrap(th);
	} else if (text_is_trapped(th->proc->space->tab, addr)) {
		regs->r[UREG_PC] = addr;
		thread_regs_dirty(th);
		thread_mend_sigtrap(th);
	} else {
		stop_signal(th, SIGTRAP);
	}
}

/* Let threads enter the system calls that a detach would end
 * (thread_must_enter()).  With a PTRACE_INTERRUPT pending, the call is
 * interrupted, and will be restarted by thread_restart_call(); the thread
 * executes no instruction of the program. */
static void
enter_calls(struct proc *p)
{
	vec_foreach(thp, &p->threads) {
		struct thread *th = *thp;
		if (!thread_must_enter(th))
			continue;
		thread_interrupt(th);
		thread_run(th);
	}
	space_await(p->space);
}

void
proc_detach(
    struct proc *p, void (*prepare)(void *ctx, struct proc *), void *ctx)
{
	struct super *su = p->super;
	struct space *sp = p->space;
	uint64_t stack;

	space_stop(sp);
	vec_foreach(th, &p->threads)
		datawatch_end(*th);
	vec_foreach(th, &p->threads)
		undo_queued(*th);
	vec_foreach(th, &p->threads)
		signals_settle(*th);
	vec_foreach(th, &p->threads)
		if (thread_stopped(*th) && datawatch_had(*th))
			trapqueue_discard_data(*th);
	enter_calls(p);
	fault_kill("detach-undone");
	/* Without a descriptor, memory is written through a stopped thread; all
	 * threads may be asleep. */
	bool borrowed = space_borrow(sp);
	if (prepare != NULL)
		prepare(ctx, p);
	if (borrowed)
		space_return(sp);
	fault_kill("detach-prepared");
	vec_foreach(thp, &p->threads) {
		struct thread *th = *thp;
		if (thread_gone(th))
			continue;
		if (thread_stopped(th)) {
			/* A thread in group-stop stays in it. */
			thread_release(th);
			fault_kill("detach-thread");
		} else {
			/* Note its pc: while other processes are traced in the
			 * space, its slot must not be freed. */
			thread_pc(th, vec_push(&sp->left), &stack);
			*vec_push(&su->leaving.list) = th->tid;
		}
	}
	if (sp->procs.len == 1)
		space_runs(sp);
	space_keep(sp); /* until resumed */
	sp->parted = true;
	proc_drop(p);
	space_resume(sp);
	space_leave(sp, NULL);
	fault_kill("detach-end");
}

void
super_destroy(struct super *su)
{
	while (su->procs.len > 0)
		proc_detach(su->procs.at[0], NULL, NULL);
	/* Sleeping threads may wake now, because their vfork children run:
	 * detach them.  The kernel detaches the others when the tracer ends. */
	const struct timespec nap = { 0, 1000000 };
	for (int i = 0; i < 50 && su->leaving.list.len > 0; i++) {
		while (event_take(su))
			;
		nanosleep(&nap, NULL);
	}
	if (su->dead_thread != NULL)
		thread_free(su->dead_thread);
	if (su->dead_proc != NULL)
		proc_free(su->dead_proc);
	hash_fini(&su->threads);
	hash_fini(&su->ended);
	vec_fini(&su->procs);
	vec_fini(&su->queue);
	vec_fini(&su->early);
	vec_fini(&su->round);
	vec_fini(&su->leaving.list);
	vec_fini(&su->orphans.list);
	reserve_spend(su);
	mem_free(su);
}
