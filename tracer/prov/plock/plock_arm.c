/*
 * The tracepoints of the plockstat provider: which places of a library an event
 * needs (plock.c has the table), and where these are.
 */
#include "dlang/base/base.h"
#include "inject/tracepoint.h"
#include "symbols/unwind.h"
#include "tracer/base/state.h"
#include "tracer/fire/stack.h"
#include "tracer/prov/plock/plock.h"
#include "tracer/prov/plock/plock_impl.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/site.h"

/* What all probes in one address space share. */
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

struct plock_space *
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
		site_tell(tp, ps->arrival);
		site_probed(sp);
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

/* Read the unwind rules now, so that the first thread that blocks is not
 * stopped for as long as that takes. */
static void
warm_unwinder(struct space *sp, uint64_t pc)
{
	struct uregs nowhere = { 0 };
	uint64_t pcs[2];

	nowhere.r[UREG_PC] = pc;
	unwind(space_unwinder(sp), &nowhere, &sp->text, pcs, ARRAY_SIZE(pcs));
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

/* The places (PLOCK_AT_ bits) that must have tracepoints for an event. */
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
		/* In musl the function may be entered by a tail call. It is
		 * recognised as one by a call that has not returned, so returns
		 * must be seen. */
		if (row->verb == PLOCK_CONDWAIT && !ps->musl)
			return PLOCK_AT_ENTRY;
		break;
	default: break;
	}
	return PLOCK_AT_ENTRY | PLOCK_AT_RETURN;
}

/* A call whose entry is seen ends at its return. Without a tracepoint there it
 * would seem to continue. */
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

void
plock_arm(struct state *st, struct space *sp, struct probe *p, size_t row,
    enum plock_event event)
{
	struct plock_space *ps = plock_of(sp);

	ps->funcs[row].probes[event] = p;
	arm(st, sp, p, row, needs(ps, &plock_rows[row], event));
}

void
plock_unwatched(struct state *st, struct space *sp)
{
	struct plock_space *ps = plock_of(sp);

	ps->unwatched = true;
	for (size_t row = 0; row < plock_nrows; row++)
		for (int e = 0; e < PLOCK_EVENTS; e++)
			if (ps->funcs[row].probes[e] != NULL)
				plock_arm(
				    st, sp, ps->funcs[row].probes[e], row, e);
	sites_commit(st, sp);
}
