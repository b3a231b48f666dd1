/*
 * The types of the arguments of pid probes, from the debug information of the
 * object that the function is in.
 */
#include <errno.h>

#include "symbols/addrspace.h"
#include "tracer/base/probe.h"
#include "tracer/names/prototype.h"
#include "tracer/prov/pid/pid_impl.h"

static void
args_at(struct state *st, const struct probe *p, const struct pid_place *pl,
    struct typed_args *out)
{
	const struct pid_probe *pp = p->data;

	*out = (struct typed_args){ 0 };
	if (pp->kind != PID_ENTRY && pp->kind != PID_RETURN)
		out->why = "inside a function their location is not known";
	else if (pl->pending != NULL)
		out->why = "the function is chosen when it is first called";
	else
		prototype_args(st, pl->place.load, pl->place.addr, p->func,
		    pp->kind == PID_RETURN, out);
}

int
pid_typed(struct state *st, const struct probe *p, struct typed_args *out)
{
	const struct pid_probe *pp = p->data;
	struct typed_args other;

	*out = (struct typed_args){ 0 };
	for (struct place *pl = pp->places.first; pl != NULL; pl = pl->next) {
		const struct pid_place *at = (struct pid_place *)pl;
		if (pl == pp->places.first) {
			args_at(st, p, at, out);
			continue;
		}
		args_at(st, p, at, &other);
		if (!typed_args_equal(out, &other))
			return -ENOTUNIQ;
	}
	return 0;
}

bool
pid_place_agrees(
    struct state *st, const struct probe *p, const struct pid_place *pl)
{
	struct typed_args a;

	/* One that is pending has its own say when it is known. */
	if (p->typed.n == 0 || pl->pending != NULL)
		return true;
	args_at(st, p, pl, &a);
	return typed_args_equal(&p->typed, &a);
}
