/*
 * The plockstat provider: locks of the C library, from outside.
 *
 *	plockstat123:libc.so.6:pthread_mutex_lock:mutex-block
 *
 * What a probe costs depends on what it must see.  Whoever sleeps for a lock
 * makes a futex call: for contention alone, the system-call instructions that
 * the lock functions can come by have tracepoints, and a lock that nobody waits
 * for costs nothing.  Acquisitions and releases need the entry and the returns
 * of their functions.
 *
 *	event			tracepoints
 *	block, blocked		futex calls; the return is watched in the thread
 *				that blocks and in no other (thread_watch())
 *	spin, spun		the pause of pthread_spin_lock(), and as above
 *	acquire, release, ...	entry and returns
 *	cond-wait, -signal	entry
 *
 * Where callers cannot be told from the stack (musl has no unwind tables)
 * contention needs the entries as well.
 */
#include "tracer/prov/plock/plock.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/glob.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "symbols/unwind.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/prov/plock/plock_impl.h"
#include "tracer/sites/site.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"

#define PREFIX "plockstat"

/* Of a space. */
struct shared {
	struct plock_space *ps;
};

static void
shared_end(void *part)
{
	plock_space_put(((struct shared *)part)->ps);
}

static const struct part shared_part = { .size = sizeof(struct shared),
	.end = shared_end };

struct plock_space *
plock_of(const struct space *sp)
{
	const struct shared *s = part_had(&sp->parts, &shared_part);

	return s != NULL ? s->ps : NULL;
}

static struct plock_space *
plock_space(struct space *sp)
{
	struct shared *s = part_of(&sp->parts, &shared_part);

	if (s->ps == NULL)
		s->ps = plock_space_create(sp->as, &sp->text);
	return s->ps;
}

void
plock_fork(struct space *parent, struct space *child)
{
	struct plock_space *ps = plock_of(parent);

	if (ps == NULL)
		return;
	((struct shared *)part_of(&child->parts, &shared_part))->ps = ps;
	ps->refs++;
}

/* ---- tracepoints ---- */

static void
mark(struct state *st, struct space *sp, struct probe *p, uint64_t addr,
    enum plock_mark_kind kind, size_t row, enum plock_wait how)
{
	struct plock_space *ps = plock_of(sp);
	const char *why = "";
	struct plock_mark *m = hash_get(&ps->marks, addr);

	if (m == NULL) {
		struct tracepoint *tp = site_tracepoint(st, sp, addr, &why);
		if (tp == NULL) {
			site_failed(st, p, addr, why);
			return;
		}
		site_tell(tp, &plock_arrival);
		sp->probed = true;
		m = mem_zalloc(sizeof(*m));
		hash_set(&ps->marks, addr, m);
	}
	m->kinds |= kind;
	if (kind == PLOCK_AT_ENTRY || kind == PLOCK_AT_PAUSE)
		m->row = row;
	if (kind == PLOCK_AT_WAIT)
		m->how = how;
}

static void
mark_returns(struct state *st, struct space *sp, struct probe *p, size_t row)
{
	vec_foreach(fn, &plock_of(sp)->funcs[row].body)
		vec_foreach(addr, &(*fn)->rets)
			mark(st, sp, p, *addr, PLOCK_AT_RETURN, row, 0);
}

/* The rules for unwinding are read now, not while the first thread that blocks
 * is stopped for it. */
static void
warm_unwinder(struct space *sp, uint64_t pc)
{
	struct uregs nowhere = { 0 };
	uint64_t pcs[2];

	if (sp->unwinder == NULL)
		sp->unwinder = unwinder_create(sp->as);
	nowhere.r[UREG_PC] = pc;
	unwind(sp->unwinder, &nowhere, &sp->text, pcs, ARRAY_SIZE(pcs));
}

static void
mark_waits(struct state *st, struct space *sp, struct probe *p, size_t row)
{
	struct plock_space *ps = plock_of(sp);
	plock_fns fns = { 0 };

	plock_code_reach(ps->code, ps->funcs[row].start, &fns);
	vec_foreach(fn, &fns)
		vec_foreach(w, &(*fn)->waits)
			mark(st, sp, p, w->addr, PLOCK_AT_WAIT, row, w->how);
	if (fns.len > 0 && ps->unwinds)
		warm_unwinder(sp, ps->funcs[row].start);
	vec_fini(&fns);
}

static void
mark_pauses(struct state *st, struct space *sp, struct probe *p, size_t row)
{
	vec_foreach(fn, &plock_of(sp)->funcs[row].body)
		vec_foreach(addr, &(*fn)->pauses)
			mark(st, sp, p, *addr, PLOCK_AT_PAUSE, row, 0);
}

/* What must be seen for an event. */
static unsigned
needs(const struct plock_space *ps, const struct plock_row *row,
    enum plock_event event)
{
	unsigned contended = ps->unwatched ? PLOCK_AT_RETURN : 0;

	switch (event) {
	case PLOCK_MUTEX_BLOCK:
	case PLOCK_MUTEX_BLOCKED:
	case PLOCK_RW_BLOCK:
	case PLOCK_RW_BLOCKED:
	case PLOCK_SEM_BLOCK:
	case PLOCK_SEM_BLOCKED:
		return contended | PLOCK_AT_WAIT |
		    (ps->unwinds ? 0 : PLOCK_AT_ENTRY);
	case PLOCK_MUTEX_SPIN:
	case PLOCK_MUTEX_SPUN: return contended | PLOCK_AT_PAUSE;
	case PLOCK_COND_SIGNAL:
	case PLOCK_COND_BROADCAST:
	case PLOCK_SEM_POST:
	case PLOCK_THREAD_START: return PLOCK_AT_ENTRY;
	case PLOCK_THREAD_EXIT: return 0;
	case PLOCK_COND_WAIT:
	case PLOCK_MUTEX_RELEASE:
		/* There it may be a tail call, which is told by what has not
		 * returned. */
		if (row->verb == PLOCK_CONDWAIT && !ps->musl)
			return PLOCK_AT_ENTRY;
		break;
	default: break;
	}
	return PLOCK_AT_ENTRY | PLOCK_AT_RETURN;
}

/* A call whose entry is seen is over at its return, or it would be taken for
 * one that goes on. */
static void
arm(struct state *st, struct space *sp, struct probe *p, size_t row,
    unsigned kinds)
{
	struct plock_func *f = &plock_of(sp)->funcs[row];

	kinds &= ~f->armed;
	f->armed |= kinds;
	if (kinds & PLOCK_AT_ENTRY)
		mark(st, sp, p, f->start, PLOCK_AT_ENTRY, row, 0);
	if (kinds & PLOCK_AT_RETURN)
		mark_returns(st, sp, p, row);
	if (kinds & PLOCK_AT_WAIT)
		mark_waits(st, sp, p, row);
	if (kinds & PLOCK_AT_PAUSE)
		mark_pauses(st, sp, p, row);
}

static void
enable_place(
    struct state *st, struct proc *proc, struct probe *p, struct place *pl)
{
	const struct plock_probe *pp = p->data;
	struct plock_space *ps = plock_space(proc->space);

	ps->funcs[pp->row].probes[pp->event] = p;
	arm(st, proc->space, p, pp->row,
	    needs(ps, &plock_rows[pp->row], pp->event));
}

static void
enable(struct state *st, struct probe *p)
{
	plock_subscribe(st);
	places_enable(st, p, enable_place);
}

void
plock_unwatched(struct state *st, struct space *sp)
{
	struct plock_space *ps = plock_of(sp);

	ps->unwatched = true;
	for (size_t row = 0; row < plock_nrows; row++)
		for (int e = 0; e < PLOCK_EVENTS; e++)
			if (ps->funcs[row].probes[e] != NULL)
				arm(st, sp, ps->funcs[row].probes[e], row,
				    needs(ps, &plock_rows[row], e));
	sites_commit(st, sp);
}

/* ---- publishing ---- */

static void
publish(struct state *st, struct proc *proc, const struct load *l, size_t row,
    enum plock_event event)
{
	char prov[32];
	bool fresh;
	uint32_t space = addrspace_id(proc->space->as);

	snprintf(prov, sizeof(prov), PREFIX "%d", proc->family);
	struct probe *p = probe_add(&st->probes, &prov_plockstat, prov,
	    l->module, plock_rows[row].func, plock_names[event].name, &fresh);
	if (p->provider != &prov_plockstat)
		return;
	if (fresh) {
		struct plock_probe *pp = mem_zalloc(sizeof(*pp));
		*pp = (struct plock_probe){
			.places.family = proc->family,
			.row = row,
			.event = event,
		};
		p->data = pp;
	}
	struct plock_probe *pp = p->data;
	struct place **at = places_find(&pp->places, space, l->start);
	if (*at == NULL) {
		*at = mem_zalloc(sizeof(**at));
		**at = (struct place){
			.space = space, .addr = l->start, .load = l
		};
	}
	if (p->image_ref != 0)
		enable(st, p);
}

static void
publish_row(struct state *st, struct proc *proc, const struct load *l,
    size_t row, const struct probe_desc *pd)
{
	uint32_t events = plock_events_of(plock_rows[row].verb);

	if (!glob_field(pd->func, plock_rows[row].func) ||
	    plock_function(l->object, plock_rows[row].func) == NULL)
		return;
	for (int e = 0; e < PLOCK_EVENTS; e++)
		if ((events & PLOCK_BIT(e)) != 0 &&
		    glob_field(pd->name, plock_names[e].name))
			publish(st, proc, l, row, e);
}

static void
answer(struct state *st, struct proc *proc, const struct probe_desc *pd,
    bool again)
{
	const struct load *l =
	    proc->space->as != NULL ? plock_library(proc->space->as) : NULL;

	if (l == NULL || !load_matches(l, pd->mod) ||
	    (again && load_is_matched(l)))
		return;
	for (size_t row = 0; row < plock_nrows; row++)
		publish_row(st, proc, l, row, pd);
}

/* Of a process by number, and with `family' of those that descend from it. */
static int
provide_number(struct state *st, const struct probe_desc *pd,
    const struct span *at, struct diags *d)
{
	const char *digits = pd->prov + strlen(PREFIX);
	struct proc *p = NULL;
	char *end;
	long pid = strtol(digits, &end, 10);

	if (*digits == '\0' || *end != '\0')
		return d == NULL || *digits != '\0' ?
		    0 :
		    diag_error(d, D_PROC_BADPROV, at,
			"the plockstat provider needs the number of a "
			"process: plockstat123 or plockstat$target");
	if (pid <= 0 || pid > INT32_MAX)
		return d == NULL ?
		    0 :
		    diag_error(d, D_PROC_BADPID, at,
			"%s is not the number of a process (plockstat$target "
			"needs -p or -c)",
			pd->prov);
	int error = site_grab(st, (pid_t)pid, at, d, &p);
	if (error == 0 && p != NULL)
		answer(st, p, pd, d == NULL);
	p = NULL;
	while (
	    pd->family && error == 0 && (p = super_next(st->super, p)) != NULL)
		if (p->family == pid && p->followed)
			answer(st, p, pd, d == NULL);
	return error;
}

static int
provide(struct state *st, const struct probe_desc *pd, const struct span *at,
    struct diags *d)
{
	struct proc *p = NULL;
	char prov[32];

	if (pd->id != 0)
		return 0;
	if (!glob_is(pd->prov))
		return strncmp(pd->prov, PREFIX, strlen(PREFIX)) == 0 ?
		    provide_number(st, pd, at, d) :
		    0;
	while (st->super != NULL && (p = super_next(st->super, p)) != NULL) {
		snprintf(prov, sizeof(prov), PREFIX "%d", p->family);
		if ((p->target || p->followed) && glob_match(pd->prov, prov))
			answer(st, p, pd, d == NULL);
	}
	return 0;
}

static bool
arg(const struct probe *p, unsigned n, struct probe_arg *out)
{
	const struct plock_probe *pp = p->data;

	if (n >= 3 || plock_names[pp->event].types[n] == NULL)
		return false;
	*out = (struct probe_arg){
		.type = plock_names[pp->event].types[n],
		.otherwise = n == 0 ? "uintptr_t" : "int",
		.source = n,
	};
	return true;
}

static void
destroy(struct probe *p)
{
	struct plock_probe *pp = p->data;

	places_free(&pp->places);
	mem_free(pp);
}

const struct provider prov_plockstat = {
	.name = PREFIX,
	.stability = {
		[STAB_PROVIDER] = { "Evolving", "Evolving", "ISA" },
		[STAB_MODULE] = { "Private", "Private", "Unknown" },
		[STAB_FUNCTION] = { "Private", "Private", "Unknown" },
		[STAB_NAME] = { "Evolving", "Evolving", "ISA" },
		[STAB_ARGS] = { "Evolving", "Evolving", "ISA" },
	},
	.provide = provide,
	.enable = enable,
	.follows = true,
	.places = true,
	.per_process = true,
	.module_matches = places_module_matches,
	.arg = arg,
	.destroy = destroy,
};
