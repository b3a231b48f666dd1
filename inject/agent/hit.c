/*
 * A hit inside the target: find the thread's lane, keep out what comes while
 * we are at it, fire.
 *
 * Nothing here aborts, prints or waits.  A thread that is in a firing already
 * (a signal handler of the target that runs into a tracepoint of its own) goes
 * straight on, and the hit is counted as lost.
 */
#include "inject/agent/agent.h"
#include "inject/agent/sys.h"

#include "dlang/vm/ecb.h"
#include "dlang/vm/store.h"

/* entry.S builds the frame with these numbers. */
static_assert(UREG_COUNT == 27 && UREG_R15 == 0 && UREG_RAX == 10 &&
	UREG_RIP == 16 && UREG_RFLAGS == 18 && UREG_RSP == 19,
    "entry.S");
static_assert(offsetof(struct agent_hit, tp_id) == 27 * 8 &&
	offsetof(struct agent_hit, agent) == 28 * 8 &&
	sizeof(struct agent_hit) == 29 * 8,
    "entry.S");

/* The lane of a thread, taken at its first hit; -1 when all are taken. */
static int
lane_of(struct agent *a, uint32_t tid)
{
	uint32_t n = VM_MIN(a->nlanes, 64);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t owner = LOAD_ONCE(&a->lane_tid[i]);
		if (owner == tid)
			return (int)i;
		if (owner == 0 &&
		    __atomic_compare_exchange_n(&a->lane_tid[i], &owner, tid,
			false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return (int)i;
	}
	return -1;
}

static void
lose(struct agent *a)
{
	__atomic_fetch_add(&a->lost, 1, __ATOMIC_RELAXED);
}

static void
fire(struct agent_hit *h, uint32_t tid, uint32_t lane)
{
	struct agent *a = h->agent;
	struct vm_env env;

	memset(&env, 0, sizeof(env));
	env.ops = &agent_ops;
	env.ctx = h;
	env.regs = &h->regs;
	env.image.base = (uint8_t *)(uintptr_t)a->image_base;
	env.image.size = a->image_size;
	env.store.base = (uint8_t *)(uintptr_t)a->store_base;
	env.store.size = a->store_size;
	if (!vm_open(&env, lane)) {
		a->broken = 1;
		return;
	}
	env.thread = (uint64_t)a->pid << 32 | tid;
	env.pid = a->pid;
	env.tid = tid;
	env.timestamp = agent_time();
	sys_call(SYS_NR_GETCPU, (uint64_t)(uintptr_t)&env.cpu, 0, 0, 0, 0, 0);
	ecb_fire_tracepoint(&env, (uint32_t)h->tp_id);
}

void
agent_hit(struct agent_hit *h)
{
	struct agent *a = h->agent;
	uint32_t tid = (uint32_t)sys_call0(SYS_NR_GETTID);
	int lane = a->broken ? -1 : lane_of(a, tid);

	if (lane < 0) {
		lose(a);
		return;
	}
	if (__atomic_exchange_n(&a->lane_busy[lane], 1, __ATOMIC_ACQUIRE)) {
		lose(a);
		return;
	}
	fire(h, tid, (uint32_t)lane);
	STORE_RELEASE(&a->lane_busy[lane], 0);
}

const struct agent_table agent_table = {
	.magic = AGENT_MAGIC,
	.version = AGENT_VERSION,
	.hit = agent_entry,
	.fire_tracepoint = ecb_fire_tracepoint,
	.fire_probe = ecb_fire_probe,
	.run = vm_run,
};
