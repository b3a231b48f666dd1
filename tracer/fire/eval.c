/*
 * The VM's environment; see eval.h.
 */
#include "tracer/fire/eval.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "dlang/vm/store.h"
#include "symbols/addrspace.h"
#include "symbols/golang.h"
#include "tracer/fast/fast.h"
#include "tracer/names/external.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/perfevent.h"
#include "tracer/ptrace/procfs.h"
#include "tracer/fire/procstate.h"
#include "tracer/fire/stack.h"
#include "tracer/base/state.h"
#include "tracer/base/timer.h"

/* The process and thread in whose context a clause runs; dtrap itself for
 * BEGIN, END and tick. */
static pid_t
pid_of(const struct firing *f)
{
	return f->thread != NULL ? f->thread->proc->pid : getpid();
}

static pid_t
tid_of(const struct firing *f)
{
	return f->thread != NULL ? f->thread->tid : gettid();
}

/* The registers that are known without a system call. */
static const struct uregs *
seen_regs(const struct firing *f)
{
	const struct perf_record *seen = f->about.seen;

	if (seen != NULL)
		return seen->has_regs ? &seen->regs : NULL;
	return f->thread != NULL ? thread_regs_had(f->thread) : NULL;
}

/* The registers of the moment at which the probe fires; NULL: not known. */
static const struct uregs *
regs_of(const struct firing *f)
{
	if (f->thread == NULL || f->about.seen != NULL)
		return seen_regs(f);
	return thread_regs(f->thread);
}

void
eval_begin(struct firing *f, struct state *st, struct thread *th,
    struct occasion about)
{
	struct vm_env *env = &st->env;

	f->st = st;
	f->thread = th;
	f->about = about;
	env->ctx = f;
	env->timestamp = about.seen != NULL ? about.seen->time : timer_now();
	f->wall = 0;
	f->fp_known = false;
	env->regs = seen_regs(f);
	procstate_forget(&f->read);
	env->pid = (uint32_t)pid_of(f);
	env->tid = (uint32_t)tid_of(f);
	/* 0 means no thread; 1 is the tracer, less than that of any thread. */
	env->thread = th != NULL ? th->birth + 1 : 1;
	env->followed = th != NULL && th->proc->role.followed;
	env->own = th == NULL || about.seen != NULL ? NULL :
	    about.within                            ? fast_firing(th) :
						      fast_lane(st, th);
	/* The tracer usually runs on the processor on which the thread ran.
	 * Clauses that read `cpu' get the number for the thread itself. */
	env->cpu = about.seen != NULL ? about.seen->cpu :
					(uint32_t)MAX(sched_getcpu(), 0);
}

void
eval_end(struct firing *f)
{
	f->st->env.ctx = NULL;
	f->st->env.regs = NULL;
}

/*
 * The address space in which addresses are read: that of the process that hit
 * the probe. BEGIN, tick and the like are hit by no process; they read $target
 * while it exists. It may be running then, so a value may be read while it
 * changes.
 */
static struct space *
context_space(const struct firing *f)
{
	const struct state *st = f->st;
	struct proc *p;

	if (f->thread != NULL)
		return f->thread->proc->space;
	p = st->super != NULL ? super_proc(st->super, st->named.pid) : NULL;
	return p != NULL ? p->space : NULL;
}

static int
eval_load(struct vm_env *env, uint64_t addr, void *buf, uint32_t len)
{
	const struct space *sp = context_space(env->ctx);

	if (sp == NULL)
		return -1;
	return reader_read(&sp->text, addr, buf, len) == 0 ? 0 : -1;
}

static int
eval_symbol(struct vm_env *env, uint64_t ref, uint64_t *addr)
{
	const struct firing *f = env->ctx;
	const struct space *sp = context_space(f);

	if (sp == NULL)
		return -1;
	return external_addr(f->st, sp, ref, addr) == 0 ? 0 : -1;
}

static int64_t
eval_load_str(struct vm_env *env, uint64_t addr, char *buf, uint32_t size)
{
	const struct space *sp = context_space(env->ctx);
	int64_t n = sp != NULL ? reader_string(&sp->text, addr, buf, size) : -1;

	return n < 0 ? -1 : n;
}

static int
eval_store(struct vm_env *env, uint64_t addr, const void *buf, uint32_t len)
{
	struct firing *f = env->ctx;

	if (f->thread == NULL)
		return -1;
	struct target *t = &f->thread->proc->space->target;
	return t->ops->write(t, addr, buf, len) == 0 ? 0 : -1;
}

/* Vector and x87 registers. They are fetched at the first use in a firing,
 * since few clauses need them. */
static uint64_t
fp_reg(struct firing *f, unsigned n)
{
	if (n >= UREG_FP_COUNT || f->about.seen != NULL)
		return 0;
	if (!f->fp_known && !thread_fp_regs(f->thread, f->fp))
		return 0;
	f->fp_known = true;
	return f->fp[n];
}

static uint64_t
eval_reg(struct vm_env *env, unsigned ureg)
{
	struct firing *f = env->ctx;
	const struct uregs *regs;

	if (f->thread != NULL && ureg >= UREG_FP)
		return fp_reg(f, ureg - UREG_FP);
	if (f->thread == NULL || (regs = regs_of(f)) == NULL)
		return 0;
	return ureg < UREG_COUNT ? regs->r[ureg] : 0;
}

/* The value of a row of dif_state.def for the thread. */
static uint64_t
own_state(struct firing *f, enum dif_state what)
{
	uint64_t v = 0;

	procstate_number(f, what, (uint64_t)tid_of(f), &v);
	return v;
}

/*
 * The thread's processor time, ns. A stopped thread does not run, so the first
 * number of schedstat is exact.
 */
static uint64_t
cpu_time(const struct firing *f)
{
	char name[32], text[128];

	if (f->thread == NULL)
		return clock_ns(CLOCK_THREAD_CPUTIME_ID);
	snprintf(name, sizeof(name), "task/%d/schedstat", tid_of(f));
	procfs_text(tid_of(f), name, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

/* Read once for a firing, like timestamp, so that all uses agree. */
static uint64_t
walltime(struct firing *f)
{
	if (f->wall != 0)
		return f->wall;
	f->wall = clock_ns(CLOCK_REALTIME);
	if (f->about.seen != NULL)
		f->wall -= timer_now() - f->about.seen->time;
	return f->wall;
}

static uint64_t
goid(const struct firing *f)
{
	const struct uregs *regs = f->thread != NULL ? regs_of(f) : NULL;
	const struct space *sp =
	    f->thread != NULL ? f->thread->proc->space : NULL;

	return regs != NULL && sp->as != NULL ?
	    go_routine(sp->as, &sp->text, regs) :
	    0;
}

static size_t
user_stack(struct firing *f, uint64_t *pcs, size_t max)
{
	return f->about.seen != NULL ?
	    stack_seen(f->st, f->thread, f->about.seen, pcs, max) :
	    stack_user(f->thread, pcs, max);
}

/* The number of frames of the whole stack, at most option maxframes, or 512 if that
 * is not valid. */
static uint64_t
depth(struct firing *f)
{
	int64_t max = option_get(&f->st->opts, OPT_MAXFRAMES);

	max = max < 1 || max > 4096 ? 512 : max;
	uint64_t *pcs = mem_alloc((size_t)max * sizeof(*pcs));
	size_t n = user_stack(f, pcs, (size_t)max);
	mem_free(pcs);
	return n;
}

static int
eval_var(struct vm_env *env, uint32_t id, uint64_t *value)
{
	struct firing *f = env->ctx;
	uint64_t pcs[2];

	switch (id) {
	case DIF_VAR_TIMESTAMP: *value = env->timestamp; return 0;
	case DIF_VAR_VTIMESTAMP: *value = cpu_time(f); return 0;
	case DIF_VAR_WALLTIMESTAMP: *value = walltime(f); return 0;
	case DIF_VAR_PID: *value = (uint64_t)pid_of(f); return 0;
	case DIF_VAR_TID: *value = (uint64_t)tid_of(f); return 0;
	case DIF_VAR_PPID: *value = own_state(f, DIF_STATE_PR_PPID); return 0;
	case DIF_VAR_UID: *value = own_state(f, DIF_STATE_PR_UID); return 0;
	case DIF_VAR_GID: *value = own_state(f, DIF_STATE_PR_GID); return 0;
	case DIF_VAR_CURTHREAD: *value = (uint64_t)tid_of(f); return 0;
	case DIF_VAR_ERRNO: *value = (uint64_t)f->about.sys_errno; return 0;
	case DIF_VAR_CPU: {
		int cpu = f->about.seen != NULL ? (int)env->cpu :
		    f->thread != NULL           ? thread_cpu(f->thread) :
						  -1;
		*value = (uint64_t)(cpu >= 0 ? cpu : (int)env->cpu);
		return 0;
	}
	case DIF_VAR_UCALLER:
		*value = user_stack(f, pcs, 2) > 1 ? pcs[1] : 0;
		return 0;
	case DIF_VAR_GOID: *value = goid(f); return 0;
	case DIF_VAR_USTACKDEPTH: *value = depth(f); return 0;
	default: return -1;
	}
}

/* A thread of which something was recorded may have ended since. */
static int
execname(struct firing *f, char *buf, uint32_t size)
{
	int r = procstate_string(
	    f, DIF_STATE_PR_FNAME, (uint64_t)tid_of(f), buf, size);

	if (r == 0 && buf[0] == '\0' && f->about.seen != NULL)
		snprintf(buf, size, "%s", f->thread->proc->comm);
	return r;
}

static void
vmname(struct firing *f, char *buf, uint32_t size)
{
	const char *name = f->st->opts.text[OPT_VMNAME];

	*buf = '\0';
	if (name != NULL)
		snprintf(buf, size, "%s", name);
	else if (gethostname(buf, size) != 0 && size > 0)
		buf[size - 1] = '\0';
}

static int
eval_var_str(struct vm_env *env, uint32_t id, char *buf, uint32_t size)
{
	struct firing *f = env->ctx;
	pid_t tid = tid_of(f);

	switch (id) {
	case DIF_VAR_EXECNAME: return execname(f, buf, size);
	case DIF_VAR_EXECARGS: procstate_command(tid, buf, size); return 0;
	case DIF_VAR_CWD: procfs_link(tid, "cwd", buf, size); return 0;
	case DIF_VAR_VMNAME: vmname(f, buf, size); return 0;
	case DIF_VAR_ROOT: procfs_link(tid, "root", buf, size); return 0;
	default: return -1;
	}
}

static int
eval_state(struct vm_env *env, uint64_t what, uint64_t of, uint64_t *value)
{
	return procstate_number(env->ctx, what, of, value);
}

static int
eval_state_str(
    struct vm_env *env, uint64_t what, uint64_t of, char *buf, uint32_t size)
{
	return procstate_string(env->ctx, what, of, buf, size);
}

static uint32_t
eval_stack(struct vm_env *env, uint64_t *pcs, uint32_t max, bool lang)
{
	struct firing *f = env->ctx;

	if (!lang || f->about.seen != NULL)
		return (uint32_t)user_stack(f, pcs, max);
	return (uint32_t)stack_lang(
	    f->thread, pcs, max, &env->at.lane->drops[DROP_STKSTR]);
}

static uint32_t
eval_space(struct vm_env *env)
{
	struct firing *f = env->ctx;

	if (f->thread == NULL || f->thread->proc->space->as == NULL)
		return 0;
	return addrspace_stamp(f->thread->proc->space->as);
}

/* chill() may spend at most this much, as in DTrace. */
#define CHILL_MAX ((int64_t)NS_PER_S / 2)

static int
eval_control(struct vm_env *env, enum img_op op, int64_t arg)
{
	struct firing *f = env->ctx;
	pid_t pid = f->thread != NULL ? f->thread->proc->pid : 0;

	switch (op) {
	case OP_STOP:
		/* An ordinary SIGSTOP: any process with the right to signal it
		 * can continue it. */
		return pid != 0 && kill(pid, SIGSTOP) != 0 ? -1 : 0;
	case OP_RAISE:
		if (arg <= 0 || arg >= NSIG)
			return -1;
		return pid != 0 &&
			syscall(SYS_tgkill, pid, f->thread->tid, (int)arg) !=
			    0 ?
		    -1 :
		    0;
	case OP_CHILL: {
		if (arg < 0 || arg > CHILL_MAX)
			return -1;
		uint64_t end = timer_now() + (uint64_t)arg;
		while (timer_now() < end)
			;
		return 0;
	}
	default: return -1;
	}
}

static bool
eval_progenyof(struct vm_env *env, int64_t pid)
{
	struct firing *f = env->ctx;
	pid_t at = pid_of(f);

	/* The limit ends a loop, which is possible only if pids are reused
	 * while the parents are read. Process trees are never so deep. */
	for (int i = 0; i < 1000 && at > 0; i++) {
		uint64_t parent;
		if (at == pid)
			return true;
		if (procfs_stat(at, 4, &parent) != 0)
			return false;
		at = (pid_t)parent;
	}
	return false;
}

const struct vm_ops eval_ops = {
	.load = eval_load,
	.load_str = eval_load_str,
	.store = eval_store,
	.reg = eval_reg,
	.var = eval_var,
	.var_str = eval_var_str,
	.symbol = eval_symbol,
	.state = eval_state,
	.state_str = eval_state_str,
	.stack = eval_stack,
	.space = eval_space,
	.control = eval_control,
	.progenyof = eval_progenyof,
};
