/*
 * The pid provider's tracepoints: which sites a probe has, and what becomes of an
 * IFUNC when it is resolved.
 */
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/names/prototype.h"
#include "tracer/prov/pid/pid_impl.h"
#include "tracer/sites/site.h"
#include "tracer/base/state.h"

static void
enable_site(struct state *st, struct space *sp, struct probe *p,
    const struct pid_place *pl, const struct pid_site *s)
{
	const struct pid_probe *pp = p->data;
	uint64_t addr = pl->place.addr + (uint64_t)s->offset;
	struct argloc args[PID_ARGS];
	uint32_t n = pid_args(st, p, pl, s->offset, args);
	const struct site_choice returns = {
		.when = s->when,
		.doors = s->doors,
		.ranges = s->when == SITE_OUTSIDE ? pl->ranges : NULL,
		.nranges = s->when == SITE_OUTSIDE ? pl->nranges : 0,
	};

	switch (pp->kind) {
	case PID_ENTRY:
		if (s->when == SITE_LOOP)
			site_add_jump(st, sp, addr, p, SITE_LOOP);
		else
			site_add_choosy(st, sp, addr, p, args, n,
			    &(struct site_choice){ .when = s->when });
		break;
	case PID_OFFSET:
	case PID_LINE:
	case PID_INLINE: site_add(st, sp, addr, p, args, n); break;
	case PID_RETURN:
		if (s->when == SITE_DOOR)
			site_add_jump(st, sp, addr, p, SITE_DOOR);
		else
			site_add_choosy(st, sp, addr, p, args, n, &returns);
		break;
	}
}

static const struct arrival resolver;

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
		if (s->when == SITE_OUTSIDE || s->when == SITE_DOOR)
			continue;
		struct tracepoint *tp = site_tracepoint(
		    st, p->space, r.start + (uint64_t)s->offset, &why);
		if (tp != NULL)
			site_tell(tp, &resolver);
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

const char *
pid_note(const struct probe *p)
{
	const struct pid_probe *pp = p->data;
	bool cut = false;

	for (const struct place *pl = pp->places.first; pl != NULL;
	     pl = pl->next)
		cut |= ((const struct pid_place *)pl)->cut;
	if (!cut)
		return NULL;
	switch (pp->kind) {
	case PID_ENTRY:
		return "The code of the function could not be decoded to its "
		       "end. If the rest jumps back to the first "
		       "instruction, entry fires again.";
	case PID_RETURN:
		return "The code of the function could not be decoded to its "
		       "end. A return in the rest does not fire.";
	default: return NULL;
	}
}

/* A thread that comes to a SITE_ENTRY by a SITE_LOOP is led past it. */
static enum probe_passes
passes_of(const struct pid_site *s)
{
	switch (s->when) {
	case SITE_ALWAYS:
	case SITE_ENTRY: return PASSES_ALL;
	case SITE_TAKEN: return PASSES_TAKEN;
	default: return PASSES_SOME;
	}
}

void
pid_sites(const struct probe *p, probe_site_fn each, void *ctx)
{
	const struct pid_probe *pp = p->data;

	for (const struct place *pl = pp->places.first; pl != NULL;
	     pl = pl->next) {
		const struct pid_place *at = (const struct pid_place *)pl;
		for (uint32_t i = 0; i < at->nsites; i++)
			if (at->sites[i].when != SITE_LOOP &&
			    at->sites[i].when != SITE_DOOR)
				each(ctx, pl->load,
				    pl->addr + (uint64_t)at->sites[i].offset,
				    passes_of(&at->sites[i]));
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
		.provider = p->provider,
		.pd = &pd,
		.proc = proc,
		.load = pl->place.load,
		.sym = pl->pending,
		.start = impl };

	if (pid_parse_name(&r) == 0 && pid_measure(&r) == 0)
		pid_publish_function(&r);
	pid_request_fini(&r);
}

/* The resolver of an IFUNC, whose code holds pc, is about to return `impl':
 * probes on the function go there, before its first call. */
static void
resolved(struct state *st, struct proc *proc, uint64_t pc, uint64_t impl)
{
	uint32_t space = addrspace_id(proc->space->as);

	/* By index: what is resolved may publish. */
	for (size_t i = 0; i < st->probes.list.len; i++) {
		struct probe *p = st->probes.list.at[i];
		struct pid_probe *pp = p->data;
		if (p->provider->enable != pid_enable)
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

static bool
resolver_returns(struct state *st, struct thread *th, struct tracepoint *tp)
{
	resolved(st, th->proc, tp->addr, thread_regs(th)->r[UREG_RESULT]);
	return false;
}

static const struct arrival resolver = { .keeps = resolver_returns };
