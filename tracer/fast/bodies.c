/*
 * Bodies of clauses in a target (dlang/jit/jit.h): the code of a site finds the
 * body of its tracepoint by a row.
 *
 *	row	row	...  | code that gives up, body, body, ...
 *	struct jit_row	       BODIES_CODE
 *
 * Tracepoints have one body together if their clause is the same, and the
 * arguments that it reads are in the same places.  Code of a body is never
 * overwritten, as a thread may be in it.
 *
 * A body assumes that its tracepoint has one site, whose probe has one ECB.  If
 * that changes, the row leads to the code that gives up, which is always there.
 */
#include <string.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "dlang/jit/jit.h"
#include "tracer/base/state.h"
#include "tracer/fast/fast_impl.h"

static_assert(ARRAY_SIZE(((struct body_what *)0)->args) == VM_ARGS,
    "all that clauses can read");

/* The most code of one body. */
#define BODY_BYTES 4096U
#define BODY_ALIGN 16U

static uint8_t *
code_of(const struct bodies *b)
{
	return b->base + sizeof(struct jit_row) * ROWS_MOST;
}

void
bodies_begin(struct fast_space *f, uint8_t *base)
{
	struct bodies *b = &f->bodies;

	b->base = base;
	b->used = jit_body_none(code_of(b));
}

void
bodies_end(struct fast_space *f)
{
	vec_fini(&f->bodies.made);
	vec_fini(&f->bodies.rows);
	hash_fini(&f->bodies.by_what);
	f->bodies = (struct bodies){ 0 };
}

/* ---- what a tracepoint has ---- */

/* The clause of a tracepoint that has one site with one ECB; of another one
 * clause_ref is 0. */
static void
find_clause(const struct region *image, uint32_t tp_id, struct jit_body *b,
    struct body_seen *seen)
{
	const struct img_hdr *im = (const void *)image->base;
	const uint32_t *tps = (const void *)(image->base + im->tps_ref);

	*b = (struct jit_body){ .image = *image };
	*seen = (struct body_seen){ 0 };
	if (tp_id == 0 || tp_id >= im->tps_max || tps[tp_id] == 0)
		return;
	const struct img_site *s = (const void *)(image->base + tps[tp_id]);
	const struct img_probe *p = (const void *)(image->base + s->probe_ref);
	if (s->next_ref != 0 || p->ecb_ref == 0 || p->flags & IMG_PROBE_OFF)
		return;
	const struct img_ecb *e = (const void *)(image->base + p->ecb_ref);
	if (e->next_ref != 0 || e->flags & IMG_ECB_OFF)
		return;
	b->clause_ref = e->clause_ref;
	b->own = (e->flags & IMG_ECB_OWN) != 0;
	b->args =
	    s->args_ref != 0 ? (const void *)(image->base + s->args_ref) : NULL;
	b->nargs = b->args != NULL ? s->nargs : 0;
	*seen = (struct body_seen){ b->clause_ref, b->nargs, e->epid, p->id,
		b->own, b->args };
}

/* ---- making ---- */

static void
describe(const struct jit_body *b, struct body_what *m)
{
	memset(m, 0, sizeof(*m));
	m->clause_ref = b->clause_ref;
	m->reads = b->reads;
	m->changes = b->changes;
	m->own = b->own;
	m->pin = b->pin;
	for (unsigned n = 0; n < ARRAY_SIZE(m->args); n++)
		if (b->reads & 1U << n)
			m->args[n] = b->args[n];
}

static bool
is_same(const struct body_what *a, const struct body_what *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Returns where its code is; 0: there is none. */
static size_t
write_body(struct bodies *bs, struct jit_body *b)
{
	size_t at = ROUND_UP(bs->used, (size_t)BODY_ALIGN), n = 0;

	for (unsigned u = 0; u < UREG_COUNT; u++)
		b->at[u] = stub_saved_at(b->changes, u);
	if (!fault_due(FAULT_JIT) && at + BODY_BYTES <= BODIES_CODE)
		n = jit_body(b, code_of(bs) + at, BODY_BYTES);
	LOG("jit", "body of clause %u: %zu bytes", b->clause_ref, n);
	bs->used = n > 0 ? at + n : bs->used;
	return n > 0 ? at : 0;
}

/* An index in `made'. */
static size_t
find_made(struct bodies *bs, struct jit_body *b)
{
	struct body_what m;

	describe(b, &m);
	uint64_t key = hash_bytes(&m, sizeof(m));
	size_t i = (size_t)(uintptr_t)hash_get(&bs->by_what, key);
	if (i > 0 && is_same(&bs->made.at[i - 1].what, &m))
		return i - 1;
	*vec_push(&bs->made) = (struct body_made){ m, write_body(bs, b) };
	hash_set(&bs->by_what, key, (void *)(uintptr_t)bs->made.len);
	return bs->made.len - 1;
}

/* Does each lane have a pin for this EPID? */
static bool
has_pin(const struct fast_space *f, uint32_t epid)
{
	return f->lanes.len > 0 && epid < f->lanes.at[0].v.npins;
}

/* The body for a tracepoint with this EPID, or NONE_MADE. */
static size_t
make(struct fast_space *f, struct jit_body *b, uint32_t epid)
{
	struct bodies *bs = &f->bodies;

	b->pin = has_pin(f, epid);
	b->rdpid = f->agent->processor != 0;
	if (b->clause_ref == 0 || !jit_body_plan(b))
		return NONE_MADE;
	size_t i = find_made(bs, b);
	return bs->made.at[i].at != 0 ? i : NONE_MADE;
}

/* ---- rows ---- */

static struct jit_row *
row_at(const struct bodies *bs, size_t n)
{
	return (struct jit_row *)(void *)bs->base + n;
}

/* `made' is what make() has returned for the tracepoint. */
static void
set_row(struct fast_space *f, size_t n, size_t made)
{
	struct bodies *bs = &f->bodies;
	const struct body_row *r = &bs->rows.at[n];
	struct jit_row *row = row_at(bs, n);
	bool fits =
	    made != NONE_MADE && bs->made.at[made].what.changes == r->saves;

	row->epid = r->seen.epid;
	row->probe = r->seen.probe;
	__atomic_store_n(&row->body,
	    fast_addr(f, code_of(bs) + (fits ? bs->made.at[made].at : 0)),
	    __ATOMIC_RELEASE);
}

void
fast_body(const struct state *st, const struct space *sp, uint32_t tp_id,
    struct stub_body *body)
{
	struct fast_space *f = fast_of(sp);
	struct bodies *bs = f != NULL ? &f->bodies : NULL;
	struct body_row r = { .tp_id = tp_id };
	struct jit_body b;

	body->row = 0;
	if (bs == NULL || bs->base == NULL || bs->rows.len == ROWS_MOST)
		return;
	find_clause(&st->fast->image, tp_id, &b, &r.seen);
	size_t made = make(f, &b, r.seen.epid), n = bs->rows.len;
	if (made == NONE_MADE)
		return;
	r.saves = b.changes;
	*vec_push(&bs->rows) = r;
	set_row(f, n, made);
	*body = (struct stub_body){ fast_addr(f, row_at(bs, n)), b.changes };
}

static bool
is_seen(const struct body_seen *a, const struct body_seen *b)
{
	return a->clause_ref == b->clause_ref && a->nargs == b->nargs &&
	    a->epid == b->epid && a->own == b->own && a->args == b->args;
}

void
bodies_renew(const struct state *st, struct fast_space *f)
{
	struct body_seen now;
	struct jit_body b;

	vec_foreach(r, &f->bodies.rows) {
		find_clause(&st->fast->image, r->tp_id, &b, &now);
		if (is_seen(&now, &r->seen))
			continue;
		size_t made = make(f, &b, now.epid);
		r->seen = now;
		set_row(f, (size_t)(r - f->bodies.rows.at), made);
	}
}

void
bodies_stop(struct fast_space *f)
{
	for (size_t n = 0; n < f->bodies.rows.len; n++)
		set_row(f, n, NONE_MADE);
}
