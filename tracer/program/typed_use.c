/*
 * See typed_use.h.
 */
#include "tracer/program/typed_use.h"

#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/names/prototype.h"

/* A clause, by its description, that was compiled for these args[]. */
struct typed_use {
	const struct probe_desc *desc;
	struct typed_args args;
};

/* Part of the run. */
struct typed {
	VEC(struct typed_use) list;
};

static void
typed_end(void *part)
{
	vec_fini(&((struct typed *)part)->list);
}

static const struct part typed_part = { .size = sizeof(struct typed),
	.end = typed_end };

void
typed_use_note(struct state *st, const struct probe_desc *pd,
    const struct typed_args *args)
{
	struct typed *typed = part_of(&st->parts, &typed_part);

	vec_foreach(u, &typed->list)
		if (u->desc == pd)
			return;
	*vec_push(&typed->list) = (struct typed_use){ pd, *args };
}

bool
typed_use_fits(struct state *st, const struct probe_desc *pd, struct probe *p)
{
	struct typed *typed = part_of(&st->parts, &typed_part);
	struct typed_args a;

	vec_foreach(u, &typed->list) {
		if (u->desc != pd)
			continue;
		if (p->provider->typed == NULL ||
		    p->provider->typed(st, p, &a) != 0 ||
		    !typed_args_equal(&u->args, &a))
			return false;
		p->typed = u->args;
	}
	return true;
}
