/*
 * Seccomp filters; see filter.h.
 *
 * The process installs the filter itself, by a system call that dtrap makes in
 * it. That needs no_new_privs, unless dtrap has CAP_SYS_ADMIN. With
 * no_new_privs, a set-user-ID program that it executes does not get its
 * privileges, so dtrap need not detach from it.
 */
#include "tracer/drive/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "dlang/base/machine.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/remote.h"
#include "tracer/fire/syscalls.h"
#include "tracer/base/state.h"

/* If more system calls than this are traced, a filter saves little. */
#define NAMED_MAX 100

/* A function may use this memory below the stack pointer without moving it. */
#define RED_ZONE (2 * MACHINE_RED_ZONE)

typedef VEC(struct sock_filter) code_vec;

static void
emit(code_vec *code, struct sock_filter insn)
{
	*vec_push(code) = insn;
}

static void
emit_call(code_vec *code, unsigned nr)
{
	emit(code,
	    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1));
	emit(code,
	    (struct sock_filter)BPF_STMT(
		BPF_RET | BPF_K, SECCOMP_RET_TRACE | SECCOMP_TAG));
}

static bool
is_named(const struct state *st, unsigned nr)
{
	return st->syscalls->of[nr][SYSCALL_ENTRY].len > 0 ||
	    st->syscalls->of[nr][SYSCALL_RETURN].len > 0;
}

/* Write the filter. Returns the number of system calls that stop. */
static unsigned
write_code(const struct state *st, code_vec *code)
{
	unsigned named = 0;

	emit(code,
	    (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
	emit(code,
	    (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JEQ | BPF_K, MACHINE_AUDIT, 1, 0));
	emit(code,
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	emit(code,
	    (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	for (unsigned nr = 0; nr < SYSCALL_MAX; nr++) {
		if (!is_named(st, nr))
			continue;
		named++;
		emit_call(code, nr);
	}
	/* An interrupted system call may continue as this one. */
	if (!is_named(st, SYS_restart_syscall))
		emit_call(code, SYS_restart_syscall);
	emit(code,
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	return named;
}

/* Make a system call in the process. 0 or -errno. */
static int
call(struct thread *th, long nr, const uint64_t args[6])
{
	int64_t result;
	int r = remote_syscall(th, nr, args, &result);

	return r < 0 ? r : (int)result;
}

static int
load(struct thread *th, uint64_t prog)
{
	const uint64_t filter[6] = { SECCOMP_SET_MODE_FILTER, 0, prog };
	const uint64_t nnp[6] = { PR_SET_NO_NEW_PRIVS, 1 };

	int r = call(th, SYS_seccomp, filter);
	if (r != -EACCES)
		return r;
	r = call(th, SYS_prctl, nnp);
	return r < 0 ? r : call(th, SYS_seccomp, filter);
}

/* Write the code below the stack, install it, and restore the memory. */
static int
install(struct thread *th, const code_vec *code)
{
	struct target *t = &th->proc->space->target;
	struct uregs *regs = thread_regs(th);
	size_t size = code->len * sizeof(*code->at);
	struct {
		uint64_t len, code;
	} prog = { .len = code->len };
	char before[8192];

	if (regs == NULL)
		return -ESRCH;
	uint64_t addr =
	    (regs->r[UREG_SP] - RED_ZONE - sizeof(prog) - size) & ~15ULL;
	prog.code = addr + sizeof(prog);
	ASSERT(sizeof(prog) + size <= sizeof(before));
	if (t->ops->read(t, addr, before, sizeof(prog) + size) != 0 ||
	    t->ops->write(t, addr, &prog, sizeof(prog)) != 0 ||
	    t->ops->write(t, prog.code, code->at, size) != 0)
		return -EFAULT;
	/* Before the filter exists: without this ptrace option the calls that
	 * it stops would fail. */
	int r = thread_take_seccomp(th);
	if (r == 0)
		r = load(th, addr);
	t->ops->write(t, addr, before, sizeof(prog) + size);
	if (r == 0)
		th->proc->filtered = true;
	return r;
}

static void
install_one(struct state *st, struct proc *p, const code_vec *code)
{
	const char *why = NULL;
	char text[64];

	if (p->role.launch == LAUNCH_NOT)
		why = "it was not launched by dtrap";
	else if (p->threads.len != 1 || p->space->refs != 1)
		why = "it already has several threads";
	if (why == NULL) {
		int r = install(p->threads.at[0], code);
		if (r == 0 && p->role.launch == LAUNCH_AT_EXEC &&
		    is_named(st, SYS_execve))
			stop_want_calls(p->threads.at[0], WANT_EXIT, true);
		if (r == 0)
			return;
		snprintf(text, sizeof(text), "%s", strerror(-r));
		why = text;
	}
	state_notice(
	    st, "syscallfilter: not used for process %d: %s", (int)p->pid, why);
}

void
filter_install(struct state *st)
{
	code_vec code = { 0 };
	struct proc *p = NULL;
	const char *why = NULL;

	if (option_get(&st->opts, OPT_SYSCALLFILTER) == 0)
		return;
	unsigned named = write_code(st, &code);
	if (named > NAMED_MAX)
		why = "too many system calls are traced";
	else if (named > 0 && !st->follow)
		why = "children are not followed";
	if (why != NULL)
		state_notice(st, "syscallfilter: not used: %s", why);
	while (
	    named > 0 && why == NULL && (p = super_next(st->super, p)) != NULL)
		install_one(st, p, &code);
	vec_fini(&code);
}

void
filter_release(void *ctx, struct proc *p)
{
	struct state *st = ctx;

	state_notice(st,
	    "pid %d cannot continue without dtrap (-x syscallfilter): killed",
	    (int)p->pid);
	kill(p->pid, SIGKILL);
}
