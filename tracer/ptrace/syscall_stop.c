/*
 * Number and arguments of the system call that a thread is about to make, is
 * in, or has just left.
 *
 * PTRACE_GET_SYSCALL_INFO (Linux 5.3) reports to which system call table the
 * number belongs.  The registers do not show that: int 0x80 makes a 32-bit call
 * from 64-bit code.
 */
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "dlang/base/machine.h"
#include "tracer/ptrace/super.h"

bool
syscall_restarts(int64_t result)
{
	return result == -ERESTARTSYS || result == -ERESTARTNOINTR ||
	    result == -ERESTARTNOHAND || result == -ERESTART_RESTARTBLOCK;
}

/*
 * For ERESTARTSYS the kernel also looks at SA_RESTART of the handler: without
 * it, the call returns EINTR.  Here the call is restarted in both cases.
 */
void
regs_restart(struct uregs *regs, bool handler)
{
	int64_t result = regs_result(regs);

	if (regs_syscall_nr(regs) < 0 || !syscall_restarts(result))
		return;
	if (handler &&
	    (result == -ERESTARTNOHAND || result == -ERESTART_RESTARTBLOCK)) {
		regs_skip_syscall(regs, -EINTR);
		return;
	}
	/* restart_syscall needs no arguments: the kernel has saved them, until
	 * the next call of the thread that sleeps. */
	if (result == -ERESTART_RESTARTBLOCK)
		regs_set_syscall_nr(regs, SYS_restart_syscall);
	regs_redo_syscall(regs);
}

static bool untold;

bool
syscall_info_untold(void)
{
	return untold;
}

/* False before Linux 5.3, and for a thread that has ended. */
static bool
get_info(struct thread *th, struct __ptrace_syscall_info *info)
{
	long r = ptrace(PTRACE_GET_SYSCALL_INFO, th->tid, sizeof(*info), info);

	untold |= r < 0 && errno == EIO;
	return r > 0;
}

bool
thread_at_entry(struct thread *th)
{
	struct __ptrace_syscall_info info;

	if (get_info(th, &info))
		return info.op == PTRACE_SYSCALL_INFO_ENTRY;
	/* At a syscall-enter-stop the result register has -ENOSYS. */
	struct uregs *regs = thread_regs(th);
	return regs != NULL && regs_result(regs) == -ENOSYS;
}

static int
own_number(int64_t nr, bool is_64)
{
	return !is_64 || nr < 0 || (nr & MACHINE_CALL_OTHER) != 0 ||
		nr > INT32_MAX ?
	    -1 :
	    (int)nr;
}

int
thread_syscall_entry(struct thread *th, struct syscall_entry *out)
{
	struct __ptrace_syscall_info info;

	/* At a seccomp-stop the kernel fills in the same members. */
	if (get_info(th, &info) &&
	    (info.op == PTRACE_SYSCALL_INFO_ENTRY ||
		info.op == PTRACE_SYSCALL_INFO_SECCOMP)) {
		out->nr = own_number(
		    (int64_t)info.entry.nr, info.arch == MACHINE_AUDIT);
		memcpy(out->args, info.entry.args, sizeof(out->args));
		out->ip = info.instruction_pointer;
		out->sp = info.stack_pointer;
		out->sure = true;
		return 0;
	}
	return thread_syscall_regs(th, out) ? 0 : -ESRCH;
}

bool
thread_syscall_regs(struct thread *th, struct syscall_entry *out)
{
	struct __ptrace_syscall_info info;
	struct uregs *regs = thread_regs(th);

	if (regs == NULL || regs_syscall_nr(regs) < 0)
		return false;
	bool is_64 = get_info(th, &info) ? info.arch == MACHINE_AUDIT :
					   !regs_compat(regs);
	out->nr = own_number(regs_syscall_nr(regs), is_64);
	out->sure = false;
	regs_syscall_args(regs, out->args);
	out->ip = regs->r[UREG_PC];
	out->sp = regs->r[UREG_SP];
	return true;
}

bool
thread_filter_is_ours(struct thread *th)
{
	unsigned long data = 0;

	return tid_eventmsg(th->tid, &data) == 0 && data == SECCOMP_TAG;
}

void
thread_refuse_call(struct thread *th)
{
	struct uregs *regs = thread_regs(th);

	if (regs == NULL)
		return;
	regs_skip_syscall(regs, -ENOSYS);
	thread_regs_dirty(th);
}
