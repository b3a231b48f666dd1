/*
 * The plockstat provider: locks of the C library, from outside.
 *
 *	plockstat123:libc.so.6:pthread_mutex_lock:mutex-block
 *
 * What a probe costs depends on what it must see. A thread that waits for a
 * lock makes a futex call. For contention alone, the futex calls that the lock
 * functions can reach have tracepoints, so a lock that nobody waits for costs
 * nothing. Acquisitions and releases need tracepoints at the entry and the
 * returns of the lock functions.
 *
 *	event			tracepoints
 *	block, blocked		futex calls; the return is watched in the thread
 *				that blocks and in no other (thread_watch())
 *	spin, spun		the pause of pthread_spin_lock(), and as above
 *	acquire, release, ...	entry and returns
 *	cond-wait, -signal	entry
 *
 * If the stack cannot be unwound to the caller (musl has no unwind tables),
 * contention needs tracepoints at the entries too.
 */
#include "tracer/prov/plock/plock.h"

#include <stdio.h>
#include <string.h>

#include "dlang/base/glob.h"
#include "symbols/addrspace.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/prov/plock/plock_impl.h"
#include "tracer/sites/site.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"

#define PREFIX "plockstat"

static void
enable_place(
    struct state *st, struct proc *proc, struct probe *p, struct place *pl)
{
	const struct plock_probe *pp = p->data;
	struct plock_space *ps = plock_space(proc->space);

	ps->arrival = &plock_arrival;
	plock_arm(st, proc->space, p, pp->row, pp->event);
}

static void
enable(struct state *st, struct probe *p)
{
	plock_subscribe(st);
	places_enable(st, p, enable_place);
}

/* ---- publishing ---- */

static void
publish(struct state *st, struct proc *proc, const struct load *l, size_t row,
    enum plock_event event)
{
	char prov[32];
	bool fresh;
	uint32_t space = addrspace_id(proc->space->as);

	snprintf(prov, sizeof(prov), PREFIX "%d", proc->role.family);
	struct probe *p = probe_add(&st->probes, &prov_plockstat, prov,
	    l->module, plock_rows[row].func, plock_names[event].name, &fresh);
	if (p->provider != &prov_plockstat)
		return;
	if (fresh) {
		struct plock_probe *pp = mem_zalloc(sizeof(*pp));
		*pp = (struct plock_probe){
			.places.family = proc->role.family,
			.row = row,
			.event = event,
		};
		p->data = pp;
	}
	struct plock_probe *pp = p->data;
	struct place **at = places_find(&pp->places, space, l->start, l);
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

/* Create the probes of one process; if `family' is set, of its descendants
 * too. */
static int
provide_number(struct state *st, const struct probe_desc *pd,
    const struct span *at, struct diags *d)
{
	struct proc *p = NULL;
	pid_t pid;
	int error = site_number(pd, PREFIX, at, d, &pid);

	if (error <= 0)
		return error;
	error = site_grab(st, pid, at, d, &p);
	if (error == 0 && p != NULL)
		answer(st, p, pd, d == NULL);
	p = NULL;
	while (
	    pd->family && error == 0 && (p = super_next(st->super, p)) != NULL)
		if (p->role.family == pid && p->role.followed)
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
		snprintf(prov, sizeof(prov), PREFIX "%d", p->role.family);
		if ((p->role.named || p->role.followed) &&
		    glob_match(pd->prov, prov))
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

const struct provider prov_plockstat = {
	.name = PREFIX,
	.stability = STABILITY("Evolving", "ISA"),
	.provide = provide,
	.enable = enable,
	.follows = true,
	.places = true,
	.per_process = true,
	.module_matches = places_module_matches,
	.arg = arg,
	.destroy = places_destroy,
};
