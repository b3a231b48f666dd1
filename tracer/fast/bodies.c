/*
 * Bodies of probes in a target (dlang/jit/jit.h), and the rows by which each is told
 * which site it is at.  The code of sites has the body's code (inject/stub.h); the
 * memory of lanes has the rows.
 *
 * Tracepoints have one body together if their clauses are the same, and the
 * arguments that it reads are in the same places.
 *
 * A body assumes that its tracepoint has one site, and that the ECBs of the probe
 * are those that it was made for.  If that changes, the row has the number of no body,
 * and the body of the site does nothing any more.
 */
#include <string.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "dlang/jit/jit.h"
#include "tracer/base/state.h"
#include "tracer/fast/fast_impl.h"

static_assert(ARRAY_SIZE(((struct body_what *)0)->args) == VM_ARGS,
    "all that clauses can read");

/* In place of the number of a body. */
#define NO_BODY 0U

void
bodies_begin(struct fast_space *f, uint8_t *base)
{
	f->bodies.base = base;
}

void
bodies_end(struct fast_space *f)
{
	vec_foreach(m, &f->bodies.made)
		mem_free(m->code);
	vec_fini(&f->bodies.made);
	vec_fini(&f->bodies.rows);
	hash_fini(&f->bodies.by_what);
	f->bodies = (struct bodies){ 0 };
}

/* ---- what a tracepoint has ---- */

/* The clauses of a probe; none: they are too many. */
static void
find_clauses(const struct region *image, const struct img_probe *p,
    struct body_seen *seen)
{
	uint32_t ref = p->ecb_ref;

	while (ref != 0) {
		const struct img_ecb *e = (const void *)(image->base + ref);
		ref = e->next_ref;
		if (e->flags & IMG_ECB_OFF)
			continue;
		if (seen->nclauses == JIT_BODY_CLAUSES) {
			seen->nclauses = 0;
			return;
		}
		seen->clauses[seen->nclauses] = e->clause_ref;
		seen->epids[seen->nclauses++] = e->epid;
		seen->own |= (e->flags & IMG_ECB_OWN) != 0;
	}
}

/* What a tracepoint has that has one site. */
static void
look(const struct region *image, uint32_t tp_id, struct body_seen *seen)
{
	const struct img_hdr *im = (const void *)image->base;
	const uint32_t *tps = (const void *)(image->base + im->tps_ref);

	memset(seen, 0, sizeof(*seen));
	if (tp_id == 0 || tp_id >= im->tps_max || tps[tp_id] == 0)
		return;
	const struct img_site *s = (const void *)(image->base + tps[tp_id]);
	const struct img_probe *p = (const void *)(image->base + s->probe_ref);
	if (s->next_ref != 0 || p->flags & IMG_PROBE_OFF)
		return;
	find_clauses(image, p, seen);
	seen->probe = p->id;
	if (s->args_ref == 0)
		return;
	seen->args = (const void *)(image->base + s->args_ref);
	seen->nargs = s->nargs;
}

/* ---- making ---- */

static void
describe(const struct jit_body *b, struct body_what *m)
{
	memset(m, 0, sizeof(*m));
	memcpy(m->clauses, b->clauses, sizeof(m->clauses));
	m->reads = b->reads;
	m->changes = b->changes;
	m->own = b->own;
	m->pins = b->pins;
	for (unsigned n = 0; n < ARRAY_SIZE(m->args); n++)
		if (b->reads & 1U << n)
			m->args[n] = b->args[n];
}

static bool
is_same(const struct body_what *a, const struct body_what *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void
write_body(struct body_made *m, struct jit_body *b)
{
	uint8_t code[STUB_BODY_MAX];

	for (unsigned u = 0; u < UREG_COUNT; u++)
		b->at[u] = stub_saved_at(b->changes, u);
	if (!fault_due(FAULT_JIT))
		m->size = jit_body(b, code, sizeof(code));
	LOG("jit", "body of %u clauses: %zu bytes", b->nclauses, m->size);
	memcpy(m->exits, b->exits, sizeof(m->exits));
	if (m->size == 0)
		return;
	m->code = mem_alloc(m->size);
	memcpy(m->code, code, m->size);
}

/* An index in `made'. */
static size_t
find_made(struct bodies *bs, struct jit_body *b)
{
	struct body_made m = { .size = 0 };

	describe(b, &m.what);
	uint64_t key = hash_bytes(&m.what, sizeof(m.what));
	size_t i = (size_t)(uintptr_t)hash_get(&bs->by_what, key);
	if (i > 0 && is_same(&bs->made.at[i - 1].what, &m.what))
		return i - 1;
	write_body(&m, b);
	*vec_push(&bs->made) = m;
	hash_set(&bs->by_what, key, (void *)(uintptr_t)bs->made.len);
	return bs->made.len - 1;
}

/* The ECBs for which each lane has a pin, as bits. */
static uint32_t
pins_of(const struct fast_space *f, const struct body_seen *seen)
{
	uint32_t npins = f->lanes.len > 0 ? f->lanes.at[0].v.npins : 0;
	uint32_t pins = 0;

	for (uint32_t n = 0; n < seen->nclauses; n++)
		pins |= (uint32_t)(seen->epids[n] < npins) << n;
	return pins;
}

/* The body for what a tracepoint has, or NONE_MADE. */
static size_t
make(const struct state *st, struct fast_space *f, const struct body_seen *seen)
{
	struct bodies *bs = &f->bodies;
	struct jit_body b = {
		.image = st->fast->image,
		.nclauses = seen->nclauses,
		.pins = pins_of(f, seen),
		.own = seen->own != 0,
		.rdpid = f->agent->processor != 0,
		.args = seen->args,
		.nargs = seen->nargs,
	};

	memcpy(b.clauses, seen->clauses, sizeof(b.clauses));
	if (!jit_body_plan(&b))
		return NONE_MADE;
	size_t i = find_made(bs, &b);
	return bs->made.at[i].size != 0 ? i : NONE_MADE;
}

/* ---- rows ---- */

static uint32_t
units_of(uint32_t nclauses)
{
	return (uint32_t)(sizeof(struct jit_row) + nclauses * sizeof(uint32_t) +
		   ROW_UNIT - 1) /
	    ROW_UNIT;
}

/* `made' is what make() has returned for the tracepoint. */
static void
set_row(struct fast_space *f, const struct body_row *r, size_t made)
{
	struct bodies *bs = &f->bodies;
	struct jit_row *row = (void *)(bs->base + ROW_UNIT * (size_t)r->at);
	bool fits = made == r->made;

	row->probe = r->seen.probe;
	for (uint32_t n = 0; fits && n < r->seen.nclauses; n++)
		row->epid[n] = r->seen.epids[n];
	__atomic_store_n(
	    &row->body, fits ? (uint32_t)made + 1 : NO_BODY, __ATOMIC_RELEASE);
}

void
fast_body(const struct state *st, const struct space *sp, uint32_t tp_id,
    struct stub_body *body)
{
	struct fast_space *f = fast_of(sp);
	struct bodies *bs = f != NULL ? &f->bodies : NULL;
	struct body_row r = { .tp_id = tp_id };

	body->row = 0;
	if (bs == NULL || bs->base == NULL)
		return;
	look(&st->fast->image, tp_id, &r.seen);
	size_t made = make(st, f, &r.seen);
	r.at = bs->units;
	r.units = units_of(r.seen.nclauses);
	if (made == NONE_MADE || r.units > ROWS_MOST - bs->units)
		return;
	r.made = made;
	bs->units += r.units;
	*vec_push(&bs->rows) = r;
	set_row(f, &r, made);
	const struct body_made *m = &bs->made.at[made];
	*body = (struct stub_body){
		.row = fast_addr(f, bs->base + ROW_UNIT * (size_t)r.at),
		.number = (uint32_t)made + 1,
		.code = m->code,
		.size = (uint32_t)m->size,
		.exits = { m->exits[0], m->exits[1] },
		.saves = m->what.changes,
	};
}

void
bodies_renew(const struct state *st, struct fast_space *f)
{
	struct body_seen now;

	vec_foreach(r, &f->bodies.rows) {
		look(&st->fast->image, r->tp_id, &now);
		if (memcmp(&now, &r->seen, sizeof(now)) == 0)
			continue;
		r->seen = now;
		set_row(f, r, make(st, f, &now));
	}
}

void
bodies_stop(struct fast_space *f)
{
	vec_foreach(r, &f->bodies.rows)
		set_row(f, r, NONE_MADE);
}
