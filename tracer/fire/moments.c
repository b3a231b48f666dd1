/*
 * Reports events of processes and threads to subscribers; see moments.h.
 */
#include "tracer/fire/moments.h"

#include "tracer/base/state.h"

void
moments_subscribe(
    struct state *st, enum event_kind kind, moment_fn fn, void *arg)
{
	*vec_push(&st->moments->of[kind]) =
	    (struct moment_sub){ .fn = fn, .arg = arg };
}

void
moments_tell(struct state *st, const struct event *ev)
{
	/* By index, because a subscriber may add subscriptions. */
	for (size_t i = 0; i < st->moments->of[ev->kind].len; i++) {
		struct moment_sub s = st->moments->of[ev->kind].at[i];
		s.fn(st, ev, s.arg);
	}
}

void
moments_fini(struct moments *m)
{
	for (size_t kind = 0; kind < ARRAY_SIZE(m->of); kind++)
		vec_fini(&m->of[kind]);
}
