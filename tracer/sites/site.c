/*
 * Sites; see site.h.
 */
#include "tracer/sites/site.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/image/image.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "symbols/addrspace.h"
#include "tracer/names/locals.h"
#include "tracer/base/probe.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/state.h"
#include "tracer/sites/jumps.h"

static void
failures_end(void *part)
{
	struct site_failures *all = part;

	vec_foreach(f, &all->list)
		mem_free(*f);
	vec_fini(&all->list);
}

static const struct part failures_part = { .size = sizeof(struct site_failures),
	.end = failures_end };

const struct site_failures *
site_failures(const struct state *st)
{
	return part_had(&st->parts, &failures_part);
}

void
site_failed(
    struct state *st, const struct probe *p, uint64_t addr, const char *why)
{
	struct site_failures *all = part_of(&st->parts, &failures_part);

	all->count++;
	/* A few names show which instructions these are; the count is exact. */
	if (all->list.len < 1000)
		*vec_push(&all->list) =
		    mem_printf("%s:%s:%s:%s at 0x%llx: %s", p->prov, p->mod,
			p->func, p->name, (unsigned long long)addr, why);
}

/* Part of the run: how many ids of tracepoints have been used. */
static uint32_t *
ids_used(struct state *st)
{
	static const struct part part = { .size = sizeof(uint32_t) };

	return part_of(&st->parts, &part);
}

struct tracepoint *
site_tracepoint(
    struct state *st, struct space *sp, uint64_t addr, const char **why)
{
	struct tracepoint *tp;

	uint32_t *used = ids_used(st);
	if (tracepoint_get(sp->tab, addr, *used + 1, &tp, why) != 0)
		return NULL;
	*used += tp->id == *used + 1;
	if (tp->user == NULL)
		tp->user = mem_zalloc(sizeof(struct tp_user));
	const struct load *l = addrspace_load_at(sp->as, addr);
	if (l == NULL || l->writable_text)
		trapset_alone(tptable_traps(sp->tab));
	return tp;
}

void
site_probed(struct space *sp)
{
	sp->probed = true;
}

void
site_tell(struct tracepoint *tp, const struct arrival *a)
{
	struct tp_user *u = tp->user;
	size_t i = 0;

	while (u->arrivals[i] != NULL && u->arrivals[i] != a)
		i++;
	ASSERT(i < ARRIVALS_MAX);
	u->arrivals[i] = a;
}

void
site_tell_no_more(struct tracepoint *tp, const struct arrival *a)
{
	struct tp_user *u = tp->user;
	size_t kept = 0;

	for (size_t i = 0; i < ARRIVALS_MAX; i++) {
		const struct arrival *other = u->arrivals[i];
		u->arrivals[i] = NULL;
		if (other != a)
			u->arrivals[kept++] = other;
	}
}

/* Append the site: sites fire in the order in which they were enabled. */
static void
hang_on(struct space *sp, struct tracepoint *tp, const struct site *site)
{
	struct tp_user *u = tp->user;
	struct site *s = mem_zalloc(sizeof(*s));
	struct site **at = &u->sites;

	*s = *site;
	site_probed(sp);
	u->choosy |= s->when != SITE_ALWAYS || s->doors;
	u->loops |= s->when == SITE_LOOP;
	u->doors |= s->when == SITE_DOOR;
	while (*at != NULL)
		at = &(*at)->next;
	*at = s;
}

static struct image_site *
image_site_make(uint32_t ref, const struct site_choice *c)
{
	struct image_site *image =
	    mem_zalloc(sizeof(*image) + c->nranges * sizeof(image->ranges[0]));

	*image = (struct image_site){ ref, 1, c->nranges };
	for (unsigned i = 0; i < c->nranges; i++)
		image->ranges[i] = c->ranges[i];
	return image;
}

static void
site_free(struct state *st, struct tracepoint *tp, struct site *s)
{
	if (s->image != NULL && --s->image->users == 0) {
		if (st->image != NULL)
			image_remove_site(st->image, s->image->ref, tp->id);
		mem_free(s->image);
	}
	mem_free(s);
}

static void
user_free(struct state *st, struct tracepoint *tp)
{
	struct tp_user *u = tp->user;

	tp->user = NULL;
	if (u == NULL)
		return;
	for (struct site *s = u->sites, *next; s != NULL; s = next) {
		next = s->next;
		site_free(st, tp, s);
	}
	jump_free(u->jump);
	mem_free(u);
}

/* Drop n references.  The last one takes the tracepoint with it. */
static void
drop_refs(struct state *st, struct space *sp, struct tracepoint *tp, uint32_t n)
{
	if (n != 0 && tp->refs == n)
		user_free(st, tp);
	while (n-- > 0)
		tracepoint_put(sp->tab, tp);
}

void
site_add(struct state *st, struct space *sp, uint64_t addr, struct probe *p,
    const struct argloc *args, uint32_t nargs)
{
	site_add_choosy(st, sp, addr, p, args, nargs,
	    &(struct site_choice){ .when = SITE_ALWAYS });
}

void
site_add_jump(struct state *st, struct space *sp, uint64_t addr,
    struct probe *p, enum site_when when)
{
	const char *why = "not enough memory for probes";
	struct tracepoint *tp = site_tracepoint(st, sp, addr, &why);

	if (tp == NULL)
		site_failed(st, p, addr, why);
	else
		hang_on(sp, tp, &(struct site){ .probe = p, .when = when });
}

void
site_add_choosy(struct state *st, struct space *sp, uint64_t addr,
    struct probe *p, const struct argloc *args, uint32_t nargs,
    const struct site_choice *choice)
{
	const char *why = "not enough memory for probes";
	struct tracepoint *tp = site_tracepoint(st, sp, addr, &why);

	if (tp == NULL) {
		site_failed(st, p, addr, why);
		return;
	}
	struct argloc *table =
	    locals_table(st, sp, p, addr, args, nargs, &nargs);
	uint32_t args_ref =
	    image_add_args(st->image, table != NULL ? table : args, nargs);
	uint32_t ref =
	    image_add_site(st->image, p->image_ref, tp->id, args_ref, nargs);
	mem_free(table);
	if (ref == 0) {
		site_failed(st, p, addr, "not enough memory for probes");
		drop_refs(st, sp, tp, 1);
		return;
	}
	hang_on(sp, tp,
	    &(struct site){ .probe = p,
		.image = image_site_make(ref, choice),
		.when = choice->when,
		.doors = choice->doors });
}

void
sites_unmap(struct state *st, struct space *sp, uint64_t start, uint64_t end)
{
	struct tracepoint *tp = tracepoint_next(sp->tab, NULL), *next;

	sp->changes++;
	tracepoint_forget(sp->tab, start, end);
	for (; tp != NULL; tp = next) {
		next = tracepoint_next(sp->tab, tp);
		if (tp->addr < start || tp->addr >= end)
			continue;
		user_free(st, tp);
		/* The last reference takes the tracepoint with it. */
		for (uint32_t refs = tp->refs; refs > 0; refs--)
			tracepoint_put(sp->tab, tp);
	}
}

/* Remove the probe's sites from the tracepoint.  Returns how many there
 * were. */
static uint32_t
free_those_of(struct state *st, struct tracepoint *tp, const struct probe *p)
{
	struct tp_user *u = tp->user;
	uint32_t n = 0;

	if (u == NULL)
		return 0;
	for (struct site **at = &u->sites; *at != NULL;) {
		struct site *s = *at;
		if (s->probe != p) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		site_free(st, tp, s);
		n++;
	}
	return n;
}

void
sites_take_out(struct state *st, struct space *sp, const struct probe *p)
{
	struct tracepoint *tp = tracepoint_next(sp->tab, NULL), *next;

	for (; tp != NULL; tp = next) {
		next = tracepoint_next(sp->tab, tp);
		drop_refs(st, sp, tp, free_those_of(st, tp, p));
	}
}

void
sites_drop(struct state *st, struct space *sp)
{
	struct tracepoint *tp = NULL;

	while ((tp = tracepoint_next(sp->tab, tp)) != NULL)
		user_free(st, tp);
}

/* The same, for a tracepoint with the same number. */
static struct tp_user *
user_copy(const struct tp_user *from)
{
	struct tp_user *u = mem_zalloc(sizeof(*u));
	struct site **at = &u->sites;

	*u = *from;
	u->jump = NULL;
	u->trapped = 0;
	for (const struct site *s = from->sites; s != NULL; s = s->next) {
		*at = mem_zalloc(sizeof(**at));
		**at = *s;
		if (s->image != NULL)
			s->image->users++;
		at = &(*at)->next;
	}
	*at = NULL;
	return u;
}

void
sites_fork(struct space *parent, struct space *child)
{
	struct tracepoint *tp = NULL;

	while ((tp = tracepoint_next(parent->tab, tp)) != NULL) {
		struct tracepoint *copy =
		    tracepoint_lookup(child->tab, tp->addr);
		if (copy != NULL && copy->id == tp->id && tp->user != NULL)
			copy->user = user_copy(tp->user);
	}
	child->probed = parent->probed;
}

/* ---- objects that need not be matched again: load->user says so ---- */

static char matched;

void
loads_matched_in(struct addrspace *as)
{
	struct load *const *loads;
	size_t n = addrspace_loads(as, &loads);

	for (size_t i = 0; i < n; i++)
		if (loads[i]->seen)
			loads[i]->user = &matched;
}

void
loads_matched(struct state *st)
{
	struct proc *p = NULL;

	while ((p = super_next(st->super, p)) != NULL)
		if (p->space->as != NULL)
			loads_matched_in(p->space->as);
}

bool
load_is_matched(const struct load *l)
{
	return l->user == &matched;
}

void
load_forget_match(struct load *l)
{
	l->user = NULL;
}

/* ---- processes ---- */

int
site_number(const struct probe_desc *pd, const char *prefix,
    const struct span *at, struct diags *d, pid_t *pid)
{
	const char *digits = pd->prov + strlen(prefix);
	char *end;
	long n = strtol(digits, &end, 10);

	if (*digits == '\0' || *end != '\0')
		return d == NULL || *digits != '\0' ?
		    0 :
		    diag_error(d, D_PROC_BADPROV, at,
			"the %s provider needs the number of a process: %s123 "
			"or %s$target, which the shell replaces in double "
			"quotes: write it in single ones",
			prefix, prefix, prefix);
	if (n <= 0 || n > INT32_MAX)
		return d == NULL ?
		    0 :
		    diag_error(d, D_PROC_BADPID, at,
			"%s is not the number of a process (%s$target needs -p "
			"or -c)",
			pd->prov, prefix);
	*pid = (pid_t)n;
	return 1;
}

int
site_grab(struct state *st, pid_t pid, const struct span *at, struct diags *d,
    struct proc **out)
{
	char why[256];

	*out = super_proc(st->super, pid);
	if (*out != NULL || d == NULL)
		return 0;
	if (pid == getpid())
		return diag_error(
		    d, D_PROC_GRAB, at, "process %d is the tracer itself", pid);
	if (st->drive->attach(st, pid, false, why, sizeof(why)) != 0)
		return diag_error(d, D_PROC_GRAB, at,
		    "failed to grab process %d: %s", pid, why);
	*out = super_proc(st->super, pid);
	return 0;
}
