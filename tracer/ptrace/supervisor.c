/*
 * The supervisor from its begin to its end, and how it lets a process go.
 */
#include <time.h>

#include "dlang/base/fault.h"
#include "tracer/ptrace/super.h"
#include "tracer/ptrace/target_ptrace.h"

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

/* An event that nobody has handled is undone: the thread goes on as if we had
 * not been there. */
static void
undo_queued(struct thread *th)
{
	thread_take_trap(th);
	if (th->stop.queued == 0 || !thread_stopped(th) ||
	    th->stop.kind != EV_TRAP)
		return; /* of a queued EV_SIGNAL th->stop.sig is set */
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

/* With an interrupt of ours pending such a call is one that we have broken off,
 * and no instruction of the program runs. */
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
		undo_queued(*th);
	enter_calls(p);
	fault_kill("detach-undone");
	/* A thread that sleeps cannot be asked to write. */
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
			/* In a group-stop it stays: the kernel takes it
			 * back there. */
			thread_release(th);
			fault_kill("detach-thread");
		} else {
			/* While others are in the space, and might give back
			 * the memory of the slot that it sleeps in. */
			thread_pc(th, vec_push(&sp->left), &stack);
			*vec_push(&su->leaving.list) = th->tid;
		}
	}
	if (sp->procs.len == 1)
		space_runs(sp);
	sp->refs++; /* until resumed */
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
	/* Those that sleep may wake now that their vfork children run; for the
	 * rest our end is enough. */
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
