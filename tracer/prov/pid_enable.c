/*
 * The pid provider's tracepoints: which sites a probe has, and what becomes of an
 * IFUNC when it is resolved.
 */
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "tracer/probe.h"
#include "tracer/proc.h"
#include "tracer/prototype.h"
#include "tracer/prov/pid.h"
#include "tracer/prov/pid_impl.h"
#include "tracer/prov/site.h"
#include "tracer/state.h"

static void
enable_site(struct state *st, struct space *sp, struct probe *p,
    const struct pid_place *pl, const struct pid_site *s)
{
	const struct pid_probe *pp = p->data;
	uint64_t addr = pl->place.addr + s->offset;
	struct argloc args[PID_ARGS];
	uint32_t n = pid_args(p, pl, s->offset, args);

	if (pp->kind == PID_RETURN)
		site_add(st, sp, addr, p, args, n, pl->place.addr,
		    s->conditional ? pl->size : 0);
	else
		site_add(st, sp, addr, p, args, n, 0, 0);
}

/* Watch the resolver of an IFUNC at its returns. */
static void
enable_pending(struct state *st, struct proc *p, const struct pid_place *pl)
{
	struct pid_request r = { .st = st,
		.proc = p,
		.start = pl->place.addr,
		.size = pl->size,
		.offset = UINT64_MAX,
		.ret = true };
	const char *why;

	pid_walk(&r);
	vec_foreach(s, &r.exits) {
		struct tracepoint *tp =
		    site_tracepoint(st, p->space, r.start + s->offset, &why);
		if (tp != NULL)
			((struct tp_user *)tp->user)->ifunc = true;
	}
	pid_request_fini(&r);
}

static void
enable_place(
    struct state *st, struct proc *proc, struct probe *p, struct place *pl)
{
	const struct pid_place *at = (struct pid_place *)pl;

	if (!pid_place_agrees(st, p, at)) {
		prototype_refused(st, p);
		return;
	}
	if (at->pending != NULL)
		enable_pending(st, proc, at);
	for (uint32_t i = 0; i < at->nsites; i++)
		enable_site(st, proc->space, p, at, &at->sites[i]);
}

void
pid_enable(struct state *st, struct probe *p)
{
	places_enable(st, p, enable_place);
}

void
pid_sites(const struct probe *p, probe_site_fn each, void *ctx)
{
	const struct pid_probe *pp = p->data;

	for (const struct place *pl = pp->places.first; pl != NULL;
	     pl = pl->next) {
		const struct pid_place *at = (const struct pid_place *)pl;
		for (uint32_t i = 0; i < at->nsites; i++)
			each(ctx, pl->load, pl->addr + at->sites[i].offset);
	}
}

/* The probe's function turned out to be at impl. */
static void
resolve(struct state *st, struct proc *proc, struct probe *p,
    const struct pid_place *pl, uint64_t impl)
{
	const struct probe_desc pd = {
		.prov = p->prov, .mod = p->mod, .func = p->func, .name = p->name
	};
	struct pid_request r = { .st = st,
		.pd = &pd,
		.proc = proc,
		.load = pl->place.load,
		.sym = pl->pending,
		.start = impl };

	if (pid_parse_name(&r) == 0 && pid_measure(&r) == 0)
		pid_publish_function(&r);
	pid_request_fini(&r);
}

void
pid_resolved(struct state *st, struct proc *proc, uint64_t pc, uint64_t impl)
{
	uint32_t space = addrspace_id(proc->space->as);

	/* By index: what is resolved may publish. */
	for (size_t i = 0; i < st->probes.list.len; i++) {
		struct probe *p = st->probes.list.at[i];
		struct pid_probe *pp = p->data;
		if (p->provider != &prov_pid)
			continue;
		for (struct place *pl = pp->places.first; pl != NULL;
		     pl = pl->next) {
			const struct pid_place *at = (struct pid_place *)pl;
			if (at->pending != NULL && pl->space == space &&
			    pc >= pl->addr && pc - pl->addr < at->size)
				resolve(st, proc, p, at, impl);
		}
	}
	sites_commit(st, proc->space);
}
