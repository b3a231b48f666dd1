/*
 * The environment from inside the target: what the thread itself knows without
 * a system call.  The rest is refused here, and clauses that ask for it are not
 * run inside (dlang/image/inside.h).
 */
#include "inject/agent/agent.h"

static struct lane *
lane_of(const struct vm_env *env)
{
	return env->ctx;
}

static int
ops_store(struct vm_env *env, uint64_t addr, const void *buf, uint32_t len)
{
	return -1;
}

static uint64_t
ops_reg(struct vm_env *env, unsigned reg)
{
	return 0; /* vector registers are not kept */
}

/* Clocks of Linux, as the vDSO's function takes them. */
enum clock { CLOCK_REAL = 0, CLOCK_MONO = 1 };

struct timespec {
	int64_t sec, nsec;
};

static uint64_t
clock_ns(enum clock clock)
{
	int (*fn)(int, struct timespec *) =
	    (int (*)(int, struct timespec *))(uintptr_t)agent.clock;
	struct timespec ts = { 0, 0 };

	if (fn != NULL)
		fn((int)clock, &ts);
	return (uint64_t)ts.sec * 1000000000 + (uint64_t)ts.nsec;
}

static uint64_t
latest(struct lane *l, uint64_t ns)
{
	if (ns < l->tick_last)
		ns = l->tick_last;
	l->tick_last = ns;
	return ns;
}

/* What is an error of more than this is found.  An error by half of it can come of
 * the time between reading the count and the clock. */
#define TICK_ERROR 1000U

/* The time at `count', which is at most so many times tick_most later than
 * tick_at. */
#define FAR 8U

static uint64_t
ticks_ns(const struct lane *l, uint64_t count)
{
	return l->tick_ns + ((count - l->tick_at) * l->tick_rate >> 32);
}

/* It was `ns' between two counts: the lane tells the time from there on.  If it was
 * wrong before, because the clocks do not go at one rate, it tells no more. */
static void
begin_ticks(struct lane *l, uint64_t from, uint64_t ns, uint64_t to)
{
	bool was_near = from - l->tick_at <= FAR * l->tick_most;
	uint64_t error = ticks_ns(l, to) - ns + TICK_ERROR;

	if ((to - from) * l->tick_rate >> 32 > TICK_ERROR / 2)
		return; /* the thread did not run, or reading takes long */
	if (was_near && error > 2 * TICK_ERROR)
		l->tick_most = 0;
	l->tick_at = to;
	l->tick_ns = ns;
}

uint64_t
agent_now(struct lane *l)
{
	if (l->tick_most == 0)
		return latest(l, clock_ns(CLOCK_MONO));
	uint64_t from = agent_ticks();
	if (from - l->tick_at <= l->tick_most)
		return latest(l, ticks_ns(l, from));
	uint64_t ns = clock_ns(CLOCK_MONO);
	begin_ticks(l, from, ns, agent_ticks());
	return latest(l, ns);
}

static void
ops_when(struct vm_env *env)
{
	env->cpu = agent_cpu();
	env->timestamp = agent_now(lane_of(env));
}

static uint64_t
walltime(struct lane *l)
{
	if (l->wall == 0)
		l->wall = clock_ns(CLOCK_REAL);
	return l->wall;
}

static int
ops_var(struct vm_env *env, uint32_t id, uint64_t *value)
{
	switch (id) {
	case DIF_VAR_PID: *value = env->pid; return 0;
	case DIF_VAR_CURTHREAD:
	case DIF_VAR_TID: *value = env->tid; return 0;
	case DIF_VAR_CPU: *value = agent_cpu(); return 0;
	case DIF_VAR_WALLTIMESTAMP: *value = walltime(lane_of(env)); return 0;
	}
	return -1;
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

static uint32_t
ops_stack(struct vm_env *env, uint64_t *pcs, uint32_t max, bool lang)
{
	return 0;
}

static uint32_t
ops_space(struct vm_env *env)
{
	return agent.space;
}

static int
ops_control(struct vm_env *env, enum img_op op, int64_t arg)
{
	return -1;
}

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

static void
ops_rest(struct vm_env *env, uint32_t ecb_ref)
{
	agent_ask(env, AGENT_REST, agent_rest(env->site_ref, ecb_ref), NULL,
	    env->timestamp);
}

static bool
ops_progenyof(struct vm_env *env, int64_t pid)
{
	return false;
}

const struct vm_ops agent_ops = {
	.load = agent_load,
	.load_str = agent_load_str,
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
	.when = ops_when,
	.rest = ops_rest,
	.progenyof = ops_progenyof,
};
