/*
 * The deadman; see deadman.h.
 *
 * A short peak is no reason to remove a probe (the first stack, for example,
 * reads the tables of a large object). The cost must be above the limit over
 * the last second, and at every tick of half a second.
 */
#include "tracer/fire/deadman.h"

#include "dlang/image/image.h"
#include "tracer/ptrace/event.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/site.h"
#include "tracer/base/provider.h"
#include "tracer/fire/syscalls.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/super.h"

#define TICK_NS 125000000ULL
/* Each tick multiplies the earlier cost by this. The sum then covers about 8
 * ticks, a second. */
#define KEEP (7.0 / 8)
/* Nothing is removed in the first TICKS_MIN ticks (a second), nor before the
 * cost was above the limit at OVER_MIN ticks in sequence (half a second). */
#define TICKS_MIN 8
#define OVER_MIN  4
/* A longer time is work of the thread, not a context switch, ns. */
#define WAY_MAX 50000
/* A probe whose cost falls below this is dropped from the list, ns. */
#define COST_MIN 1000.0

/* ---- what hits cost ---- */

void
deadman_fired(struct state *st, struct probe *p)
{
	if (st->deadman->on)
		*vec_push(&st->deadman->fired) = p;
}

void
deadman_woken(struct state *st, const struct event *ev, bool waited)
{
	struct deadman *d = st->deadman;
	uint64_t now = timer_now(), gap = now - d->resumed;

	if (!waited && ev != NULL)
		d->other += (double)gap;
	else if (ev != NULL && d->last == ev->thread && gap < d->way)
		d->way = gap;
	d->waited = waited;
	d->last = NULL;
	d->resumed = d->woken = now;
}

void
deadman_begin(struct state *st)
{
	struct deadman *d = st->deadman;
	uint64_t now = timer_now();

	d->other += (double)(now - d->woken);
	d->woken = now;
	vec_clear(&d->fired);
}

static void
charge(struct deadman *d, struct probe *p, double ns)
{
	if (p->cost == 0)
		*vec_push(&d->costly) = p;
	p->cost += ns;
}

void
deadman_end(struct state *st, const struct event *ev)
{
	struct deadman *d = st->deadman;
	uint64_t now = timer_now(), ns = now - d->woken;
	bool call = ev->kind == EV_SYSCALL_ENTER ||
	    ev->kind == EV_SYSCALL_EXIT || ev->kind == EV_SECCOMP;

	if (d->waited && d->way < WAY_MAX)
		ns += d->way;
	if (d->fired.len != 0 || call)
		d->since += (double)ns;
	if (d->fired.len == 0 && call)
		d->calls += (double)ns;
	vec_foreach(p, &d->fired)
		charge(d, *p, (double)ns / (double)d->fired.len);
	d->last = ev->thread;
	d->resumed = now;
}

/* ---- judging ---- */

static void
fade(struct deadman *d)
{
	size_t to = 0;

	d->elapsed *= KEEP;
	d->calls *= KEEP;
	d->other *= KEEP;
	vec_foreach(p, &d->costly) {
		(*p)->cost *= KEEP;
		if ((*p)->cost < COST_MIN || (*p)->off)
			(*p)->cost = 0;
		else
			d->costly.at[to++] = *p;
	}
	d->costly.len = to;
}

static void
on_tick(struct state *st, void *arg, uint64_t late)
{
	struct deadman *d = st->deadman;
	double most = (double)option_get(&st->opts, OPT_MAXLOAD) / 100;
	uint64_t now = timer_now();
	double passed = (double)(now - d->looked);

	d->looked = now;
	d->ticks++;
	d->over = d->since > passed * most ? d->over + 1 : 0;
	d->since = 0;
	d->elapsed += passed;
	d->due = d->ticks >= TICKS_MIN && d->over >= OVER_MIN;
	if (!d->due)
		fade(d);
}

static bool
is_call(const struct probe *p)
{
	return p->provider->at_calls && p->image_ref != 0 && !p->off;
}

/* While one system call is probed, every system call of a thread stops it. The
 * cost of these stops is divided equally among the probes at system calls. */
static void
share_calls(struct state *st)
{
	struct deadman *d = st->deadman;
	size_t n = 0;

	vec_foreach(p, &st->probes.list)
		n += is_call(*p);
	if (n == 0 || d->calls == 0)
		return;
	vec_foreach(p, &st->probes.list)
		if (is_call(*p))
			charge(d, *p, d->calls / (double)n);
	d->calls = 0;
}

static struct probe *
worst(const struct deadman *d)
{
	struct probe *found = NULL;

	vec_foreach(p, &d->costly)
		if (!(*p)->off && (found == NULL || (*p)->cost > found->cost))
			found = *p;
	return found;
}

static void
condemn(struct state *st, struct probe *p, double share)
{
	int percent = (int)(share * 100 + 0.5);

	p->off = true;
	st->deadman->taken++;
	image_probe_off(st->image, p->image_ref);
	state_message(st,
	    "%s%s:%s:%s:%s disabled: it took %d%% of the time, maxload is "
	    "%lld%%",
	    option_get(&st->opts, OPT_DROPTAGS) != 0 ? "[DTRACEDROP_MAXLOAD] " :
						       "",
	    p->prov, p->mod, p->func, p->name, MIN(percent, 100),
	    (long long)option_get(&st->opts, OPT_MAXLOAD));
}

/* Remove the most expensive probes until the cost of the rest is below the
 * limit. True if any was removed. */
static bool
condemn_all(struct state *st)
{
	struct deadman *d = st->deadman;
	double most = (double)option_get(&st->opts, OPT_MAXLOAD) / 100;
	unsigned before = d->taken;
	double left = 0;
	struct probe *p;

	share_calls(st);
	vec_foreach(each, &d->costly)
		left += (*each)->cost;
	/* The cost that is charged to all probes is distributed in
	 * proportion. */
	double part = left > 0 ? (left + d->other) / left / d->elapsed : 0;
	while (left * part > most && (p = worst(d)) != NULL) {
		condemn(st, p, p->cost * part);
		left -= p->cost;
	}
	return d->taken != before;
}

/* ---- taking out ---- */

typedef VEC(struct space *) spaces;

static bool
stop_new(struct state *st, spaces *stopped)
{
	struct proc *p = NULL;
	bool any = false;

	while ((p = super_next(st->super, p)) != NULL) {
		bool known = false;
		vec_foreach(sp, stopped)
			known |= *sp == p->space;
		if (known)
			continue;
		space_keep(p->space);
		space_stop(p->space);
		*vec_push(stopped) = p->space;
		any = true;
	}
	return any;
}

static void
take_out(struct state *st, const spaces *from)
{
	vec_foreach(p, &st->probes.list) {
		if (!(*p)->off || (*p)->out)
			continue;
		(*p)->out = true;
		syscalls_unsubscribe(st, *p);
		if ((*p)->provider->disable != NULL)
			(*p)->provider->disable(st, *p);
		vec_foreach(sp, from)
			if ((*sp)->tab != NULL)
				sites_take_out(st, *sp, *p);
	}
	vec_foreach(sp, from)
		if ((*sp)->tab != NULL)
			sites_commit(st, *sp);
}

void
deadman_judge(struct state *st)
{
	struct deadman *d = st->deadman;
	spaces stopped = { 0 };

	d->due = false;
	bool any = condemn_all(st);
	fade(d);
	if (!any)
		return;
	d->over = 0;
	/* A forked child whose event has not arrived yet has our int3s in its
	 * copy of the memory. It must get its table before they are removed
	 * from the parent's memory. */
	while (stop_new(st, &stopped))
		st->drive->pending(st);
	take_out(st, &stopped);
	vec_foreach(sp, &stopped) {
		space_resume(*sp);
		space_leave(*sp, NULL);
	}
	vec_fini(&stopped);
	d->looked = timer_now();
	d->since = 0;
}

/* ---- begin and end ---- */

void
deadman_start(struct state *st)
{
	struct deadman *d = st->deadman;

	if (option_get(&st->opts, OPT_MAXLOAD) <= 0)
		return;
	d->on = true;
	d->way = UINT64_MAX;
	d->looked = d->resumed = timer_now();
	timer_add(&st->timers, TICK_NS, on_tick, NULL);
}

void
deadman_report(struct state *st)
{
	unsigned n = st->deadman->taken;

	if (n != 0)
		state_message(
		    st, "%u probe%s disabled by maxload", n, n == 1 ? "" : "s");
}

void
deadman_fini(struct state *st)
{
	vec_fini(&st->deadman->fired);
	vec_fini(&st->deadman->costly);
}
