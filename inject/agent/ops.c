/*
 * The environment from inside the target.
 *
 * Memory goes through process_vm_readv() on ourselves: an address that is not
 * mapped is an error and not a signal that the target's handlers would see.
 * What this place cannot answer returns -1; the tracer reads the needs of a
 * clause and leaves such tracepoints on the trap path.
 */
#include "inject/agent/agent.h"
#include "inject/agent/sys.h"

static const struct agent_hit *
hit_of(const struct vm_env *env)
{
	return env->ctx;
}

static int64_t
transfer(int64_t nr, struct vm_env *env, uint64_t addr, const void *buf,
    uint64_t len)
{
	struct sys_iovec here = { (uint64_t)(uintptr_t)buf, len };
	struct sys_iovec there = { addr, len };

	return sys_call(nr, hit_of(env)->agent->pid, (uint64_t)(uintptr_t)&here,
	    1, (uint64_t)(uintptr_t)&there, 1, 0);
}

static int
ops_load(struct vm_env *env, uint64_t addr, void *buf, uint32_t len)
{
	return transfer(SYS_NR_PROCESS_VM_READV, env, addr, buf, len) == len ?
	    0 :
	    -1;
}

/* Where the end of a string lies is not known before it is read: read to the
 * end of the page, and on only when no NUL was met. */
static int64_t
ops_load_str(struct vm_env *env, uint64_t addr, char *buf, uint32_t size)
{
	uint32_t done = 0;

	while (done < size) {
		uint32_t n = 4096 - (uint32_t)((addr + done) & 4095);
		n = VM_MIN(n, size - done);
		if (ops_load(env, addr + done, buf + done, n) != 0)
			return -1;
		for (uint32_t end = done + n; done < end; done++)
			if (buf[done] == 0)
				return done + 1;
	}
	return size;
}

static int
ops_store(struct vm_env *env, uint64_t addr, const void *buf, uint32_t len)
{
	return transfer(SYS_NR_PROCESS_VM_WRITEV, env, addr, buf, len) == len ?
	    0 :
	    -1;
}

static uint64_t
ops_reg(struct vm_env *env, unsigned reg)
{
	return 0; /* vector registers are not kept */
}

static uint64_t
clock_ns(uint64_t clock)
{
	struct sys_timespec ts = { 0, 0 };

	sys_call(
	    SYS_NR_CLOCK_GETTIME, clock, (uint64_t)(uintptr_t)&ts, 0, 0, 0, 0);
	return (uint64_t)ts.sec * 1000000000 + (uint64_t)ts.nsec;
}

/* Clocks of Linux: realtime 0, monotonic 1, this thread's time 3. */
uint64_t
agent_time(void)
{
	return clock_ns(1);
}

static int
ops_var(struct vm_env *env, uint32_t id, uint64_t *value)
{
	int64_t v;

	switch (id) {
	case DIF_VAR_PID: v = env->pid; break;
	case DIF_VAR_TID: v = env->tid; break;
	case DIF_VAR_CPU: v = env->cpu; break;
	case DIF_VAR_PPID: v = sys_call0(SYS_NR_GETPPID); break;
	case DIF_VAR_UID: v = sys_call0(SYS_NR_GETUID); break;
	case DIF_VAR_GID: v = sys_call0(SYS_NR_GETGID); break;
	case DIF_VAR_VTIMESTAMP: v = (int64_t)clock_ns(3); break;
	case DIF_VAR_WALLTIMESTAMP: v = (int64_t)clock_ns(0); break;
	default: return -1;
	}
	*value = (uint64_t)v;
	return 0;
}

static int
ops_var_str(struct vm_env *env, uint32_t id, char *buf, uint32_t size)
{
	return -1;
}

/* Only the tracer knows what is mapped where. */
static int
ops_symbol(struct vm_env *env, uint64_t ref, uint64_t *addr)
{
	return -1;
}

/* By frame pointers, as long as they grow and stay on the stack. */
static uint32_t
ops_stack(struct vm_env *env, uint64_t *pcs, uint32_t max, bool lang)
{
	const struct agent_hit *h = hit_of(env);
	uint64_t fp = h->regs.r[UREG_RBP], low = h->regs.r[UREG_RSP];
	uint64_t frame[2] = { 0, 0 };
	uint32_t n = 0;

	if (max > 0)
		pcs[n++] = h->regs.r[UREG_RIP];
	while (n < max && fp >= low && fp - low < h->agent->stack_max &&
	    (fp & 7) == 0 && ops_load(env, fp, frame, sizeof(frame)) == 0 &&
	    frame[1] != 0) {
		pcs[n++] = frame[1];
		low = fp + sizeof(frame);
		fp = frame[0];
	}
	return n;
}

static uint32_t
ops_space(struct vm_env *env)
{
	return hit_of(env)->agent->space;
}

static int
ops_control(struct vm_env *env, enum img_op op, int64_t arg)
{
	return -1;
}

/* /proc is not read from inside. */
static int
ops_state(struct vm_env *env, uint64_t what, uint64_t of, uint64_t *value)
{
	return -1;
}

static int
ops_state_str(
    struct vm_env *env, uint64_t what, uint64_t of, char *buf, uint32_t size)
{
	return -1;
}

static bool
ops_progenyof(struct vm_env *env, int64_t pid)
{
	return pid == env->pid || pid == sys_call0(SYS_NR_GETPPID);
}

const struct vm_ops agent_ops = {
	.load = ops_load,
	.load_str = ops_load_str,
	.store = ops_store,
	.reg = ops_reg,
	.var = ops_var,
	.var_str = ops_var_str,
	.symbol = ops_symbol,
	.state = ops_state,
	.state_str = ops_state_str,
	.stack = ops_stack,
	.space = ops_space,
	.control = ops_control,
	.progenyof = ops_progenyof,
};
