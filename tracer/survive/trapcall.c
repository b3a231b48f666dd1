/*
 * See trapcall.h.  The kernel's own code is do_sigaction() in kernel/signal.c.
 * It checks the size of the signal set, reads and installs the new action, and
 * then writes the old one.
 *
 * The call is answered at the marker before it.  If dtrap is killed meanwhile,
 * the thread executes the marker again.  dtrap's handler then removes all
 * int3s, and the kernel makes the call.
 *
 * If system calls are traced, probes are told at the marker (`call_made' of the
 * supervisor's hooks).  The call is not left to the kernel: if dtrap was killed
 * before the syscall-enter-stop, the kernel would make it while the int3s are
 * still in the text.  A call without a marker, and a call under dtrap's filter,
 * is answered at its syscall-enter-stop.
 */
#include "tracer/survive/trapcall.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"
#include "tracer/survive/trapguard.h"

/* UAPI_SA_FLAGS of include/linux/signal_types.h and the flags of x86.  The
 * kernel clears all other flags. */
#define KERNEL_FLAGS                                                        \
	((uint64_t)(SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | \
	     SA_RESTART | SA_NODEFER | 0x800 | 0x04000000) |                \
	    (uint32_t)SA_RESETHAND)

/* The result that a call gets at its syscall-exit-stop, and its own arguments,
 * if a filter checks the call (trapcall_enter()). */
struct answer {
	bool due;
	int64_t result;
	uint64_t act, old; /* rsi and rdx */
};

static const struct part answer_part = { .size = sizeof(struct answer) };

static struct answer *
answer_of(struct thread *th)
{
	return part_of(&th->parts, &answer_part);
}

/* Copy from or to the thread's memory.  Like the kernel, it fails where the
 * program itself could not read or write: -EFAULT. */
static int
copy(struct thread *th, bool out, uint64_t addr, void *buf, size_t size)
{
	struct iovec here = { buf, size };
	struct iovec there = { (void *)(uintptr_t)addr, size };

	ssize_t n = out ? process_vm_writev(th->tid, &here, 1, &there, 1, 0) :
			  process_vm_readv(th->tid, &here, 1, &there, 1, 0);
	return n == (ssize_t)size ? 0 : -EFAULT;
}

static int64_t
answer(struct thread *th, const uint64_t args[6])
{
	struct proc *p = th->proc;
	uint64_t old[ACTION_WORDS], new[ACTION_WORDS];

	if (args[3] != SET_SIZE)
		return -EINVAL;
	memcpy(old, p->trap.action, sizeof(old));
	if (args[1] != 0) {
		if (copy(th, false, args[1], new, sizeof(new)) < 0)
			return -EFAULT;
		new[ACTION_FLAGS] &= KERNEL_FLAGS;
		new[ACTION_MASK] &= ~(SIGBIT(SIGKILL) | SIGBIT(SIGSTOP));
		trapguard_becomes(th, new);
	}
	return args[2] != 0 ? copy(th, true, args[2], old, sizeof(old)) : 0;
}

static int64_t
answer_aloud(struct thread *th, const uint64_t args[6])
{
	int64_t result = answer(th, args);

	LOG("trap", "%d: sigaction(%#lx, %#lx): %lld", (int)th->tid,
	    (unsigned long)args[1], (unsigned long)args[2], (long long)result);
	return result;
}

/* The call that the thread is about to make. */
static struct syscall_entry
call_at(const struct uregs *regs)
{
	struct syscall_entry e = { .nr = (int)regs->r[UREG_CALL],
		.sp = regs->r[UREG_SP],
		.sure = true };

	regs_syscall_args(regs, e.args);
	return e;
}

static void
tell_made(struct thread *th, const struct syscall_entry *e, int64_t result)
{
	const struct super *su = th->proc->super;

	if (su->want_syscalls && su->hooks.call_made != NULL)
		su->hooks.call_made(su->hooks_ctx, th, e, result);
}

bool
trapcall_hit(struct thread *th, struct uregs *regs)
{
	const struct proc *p = th->proc;
	const struct syscall_entry e = call_at(regs);

	if (!proc_guarded(p))
		return false;
	/* Under dtrap's filter, ask for this call if the filter stops at it. */
	stop_want_calls(th, WANT_ACTION, p->filtered);
	if (p->filtered)
		return false;
	int64_t result = answer_aloud(th, e.args);
	regs_called(regs, result);
	tell_made(th, &e, result);
	return true;
}

/* May dtrap make this rt_sigprocmask() instead of the kernel?  Then *result is
 * its result, and the old mask has been written to the program's memory. */
static bool
plan_mask(struct thread *th, const uint64_t args[6], struct mask_call *c,
    int64_t *result)
{
	uint64_t set, old;

	if (args[3] != SET_SIZE || (args[1] != 0 && args[1] == args[2]) ||
	    (args[1] != 0 && copy(th, false, args[1], &set, sizeof(set)) < 0) ||
	    (args[2] != 0 && copy(th, false, args[2], &old, sizeof(old)) < 0) ||
	    !sigtrap_mask_plan(th, (int)args[0], args[1] != 0 ? &set : NULL, c))
		return false;
	*result =
	    args[2] != 0 ? copy(th, true, args[2], &c->old, sizeof(c->old)) : 0;
	if (c->next == c->old)
		sigtrap_mask_set(th, SIG_SETMASK, c->next);
	return true;
}

/* dtrap has blocked these signals in the thread.  If the thread itself does
 * that, the kernel wakes another thread for signals that are pending for the
 * process.  It does not if a tracer sets the mask.  So all threads are stopped:
 * each looks for pending signals when it continues. */
static void
wake_others(struct thread *th, uint64_t blocked)
{
	siginfo_t si;

	for (unsigned i = 0; thread_pending(th, true, i, &si); i++)
		if ((SIGBIT(si.si_signo) & blocked) != 0) {
			space_stop(th->proc->space);
			space_resume(th->proc->space);
			return;
		}
}

/* Make the call instead of the kernel: the thread continues after it, with the
 * registers `on'.  The kernel has SIGTRAP unblocked all the time.  If dtrap is
 * killed meanwhile, the call has been made completely or not at all.  False:
 * nothing has changed. */
static bool
make_call(struct thread *th, const struct mask_call *c, const struct uregs *on)
{
	uint64_t mask = c->next & ~SIGBIT(SIGTRAP);

	if (!trapmask_goes(th, c->next))
		return false;
	bool done = remote_go_on(th, on, mask) == 0;
	trapmask_went(th, c->next, done);
	if (done)
		wake_others(th, mask & ~c->kernel);
	return done;
}

bool
trapcall_mask(struct thread *th, struct uregs *regs)
{
	const struct syscall_entry e = call_at(regs);
	struct uregs on = *regs;
	struct mask_call c;
	int64_t result;

	if (!plan_mask(th, e.args, &c, &result))
		return false;
	regs_called(&on, result);
	if (c.next == c.old) {
		*regs = on;
	} else {
		regs_past_syscall(&on);
		if (!make_call(th, &c, &on))
			return false;
	}
	tell_made(th, &e, result);
	return true;
}

/* A call for another signal, which the kernel makes.  Most of these are seen at
 * markers, but not those of syscall(3). */
static void
note_other(struct thread *th, const struct syscall_entry *e)
{
	uint64_t action[ACTION_WORDS];
	int sig = (int)e->args[0];

	if (sig > 0 && sig <= SIGNALS && sig != SIGKILL && sig != SIGSTOP &&
	    e->args[1] != 0 && e->args[3] == SET_SIZE &&
	    copy(th, false, e->args[1], action, sizeof(action)) == 0)
		sigtrap_action_set(th, sig, action);
}

void
trapcall_enter(struct thread *th)
{
	struct syscall_entry e;

	stop_want_calls(th, WANT_ACTION, false);
	if (!proc_guarded(th->proc) || thread_syscall_entry(th, &e) < 0 ||
	    e.nr != SYS_rt_sigaction)
		return;
	if ((int)e.args[0] != SIGTRAP) {
		note_other(th, &e);
		return;
	}
	if (trapguard_is_handler(th->proc, e.ip))
		return;
	int64_t result = answer_aloud(th, e.args);
	struct uregs *regs = thread_regs(th);
	if (regs == NULL)
		return;
	if (thread_filter_looks(th)) {
		*answer_of(th) = (struct answer){ true, result,
			regs->r[ureg_call_arg(1)], regs->r[ureg_call_arg(2)] };
		regs->r[ureg_call_arg(1)] = regs->r[ureg_call_arg(2)] = 0;
		stop_want_calls(th, WANT_EXIT, true);
	} else {
		regs_skip_syscall(regs, result);
	}
	thread_regs_dirty(th);
	fault_kill("trapcall");
}

void
trapcall_leave(struct thread *th)
{
	struct answer *a = part_had(&th->parts, &answer_part);
	struct uregs *regs = a != NULL && a->due ? thread_regs(th) : NULL;

	if (a != NULL)
		a->due = false;
	if (regs == NULL)
		return;
	regs->r[ureg_call_arg(1)] = a->act;
	regs->r[ureg_call_arg(2)] = a->old;
	if (regs_result(regs) == 0) /* otherwise the filter has refused it */
		regs_set_result(regs, a->result);
	thread_regs_dirty(th);
}
