/*
 * Gives lanes of a thread store to threads; see lane.h.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/lane.h"

#include "dlang/vm/agg_impl.h"
#include "dlang/vm/dyn.h"

/* The bytes of a stack that most firings use; keys of bodies are there, too
 * (dlang/jit/x86_64/body.h). */
#define STACK_USED 4096

static void
reset_words(const struct lane_view *v)
{
	struct lane *l = v->lane;
	uint32_t area = LOAD_ONCE(&l->agg_area);

	memset(l, 0, sizeof(*l));
	l->agg_area = area; /* agg_reset() goes on from there */
	l->number = v->number;
	l->size = v->lane_size;
	l->locals_ref = v->locals_ref;
	l->locals_size = v->image->locals_size;
	l->self_ref = v->self.hdr == NULL ?
	    0 :
	    (uint32_t)((uint8_t *)v->self.hdr - v->base);
	l->scratch_ref = v->scratch_ref;
	l->scratch_size = v->scratch_size;
	l->buf_ref = (uint32_t)(v->buf - v->base);
	l->buf_size = v->buf_size;
}

/* Write to a page, so that it is allocated. */
static void
touch(volatile uint8_t *p, uint32_t size)
{
	if (size > 0)
		*p = 0;
}

void
lane_give(const struct lane_view *v, const struct lane_owner *owner)
{
	struct lane *l = v->lane;

	reset_words(v);
	agg_reset(v);
	dyn_reset(&v->self, v->base, v->image);
	memset(lane_env(l), 0, sizeof(struct vm_env));
	memset(v->locals, 0, v->image->locals_size);
	memset((uint8_t *)l - STACK_USED, 0, STACK_USED);
	/* The rest is written before it is read. */
	touch(v->scratch, v->scratch_size);
	touch(v->buf, v->buf_size);
	if (v->self.hdr != NULL)
		touch(v->self.chunk, v->self.chunk_size);
	if (v->aggs[0].hdr != NULL)
		touch(v->base + v->aggs[0].first,
		    v->aggs[0].end - v->aggs[0].first);
	l->pid = owner->pid;
	l->tid = owner->tid;
	l->followed = owner->followed;
	l->memory = owner->memory;
	l->clock = owner->clock;
	l->text = owner->text;
	l->tick_most = owner->tick_most;
	l->tick_rate = owner->tick_rate;
	l->self = owner->self;
	STORE_RELEASE(&l->thread, owner->thread);
}

void
lane_take(const struct lane_view *v)
{
	STORE_RELEASE(&v->lane->thread, 0);
	v->lane->self = 0;
	memset(lane_env(v->lane), 0, sizeof(struct vm_env));
}

bool
lane_is_busy(const struct lane_view *v)
{
	return LOAD_ACQUIRE(&v->lane->busy) != 0;
}
