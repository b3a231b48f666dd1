/*
 * A hit inside the target; agent.h has what comes before and after.
 *
 * Nothing here aborts, prints or waits.
 */
#include "inject/agent/agent.h"

#include "dlang/vm/ecb.h"

/* In the data segment, not in .bss, as it is not all 0. */
struct agent agent = { .magic = AGENT_MAGIC, .version = AGENT_VERSION };

/*
 * The lane's environment, which lane_give() has left empty, for its owner.  It
 * is made by the target for itself: the tracer never reads it.
 */
static bool
open_lane(struct lane *l, struct vm_env *env)
{
	if (agent.broken || l->thread == 0)
		return false;
	env->ops = &agent_ops;
	env->ctx = l;
	env->image.base = (uint8_t *)(uintptr_t)agent.image_base;
	env->image.size = agent.image_size;
	env->store.base = (uint8_t *)(uintptr_t)agent.store_base;
	env->store.size = agent.store_size;
	env->code = (const uint8_t *)(uintptr_t)agent.code;
	if (!vm_open(env, l->number) || env->at.lane != l) {
		env->at.lane = NULL;
		agent.broken = 1;
		return false;
	}
	env->thread = l->thread;
	env->pid = l->pid;
	env->tid = l->tid;
	env->followed = l->followed != 0;
	env->regs = &l->regs;
	return true;
}

void
agent_hit(struct lane *l, uint32_t tp_id, agent_ask_fn *ask)
{
	struct vm_env *env = lane_env(l);

	if (env->at.lane != l && !open_lane(l, env)) {
		l->lost++;
		return;
	}
	l->hits++;
	l->wall = 0;
	l->ask = (uintptr_t)ask;
	env->timestamp = 0;
	env->image.size = agent.image_size; /* it grows */
	ecb_fire_tracepoint(env, tp_id);
}

const struct agent_table agent_table = {
	.magic = AGENT_MAGIC,
	.version = AGENT_VERSION,
	.agent = &agent,
	.hit = agent_hit,
	.now = agent_now,
	.text = agent_text,
	.fixups = __start_agent_fixups,
	.fixups_end = __stop_agent_fixups,
	.helpers = &vm_helpers,
	.fire_tracepoint = ecb_fire_tracepoint,
	.fire_probe = ecb_fire_probe,
	.run = vm_run,
};
