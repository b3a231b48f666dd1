/*
 * Compiled Java: the methods at an address.
 *
 * A compiled method has a PcDesc for each call and each place where the JVM may
 * stop it, sorted by address.  It points into the scopes data: compressed
 * numbers for the method, the bytecode, and the position of the scope into
 * which this one was inlined (pcDesc.hpp, debugInfo.hpp of the JDK). Methods
 * are indices, from 1, into the compiled method's table of metadata.
 *
 * Results are cached by address and compilation number, because other code may
 * be at the same address later.
 */

#include "dlang/base/mem.h"
#include "symbols/lang/hotspot_impl.h"

/* The deepest inlining that is read; compilers stay below. */
#define DEPTH_MOST 256

#ifdef DTRAP_SHRINK
#define PLACES_MOST 2
#else
#define PLACES_MOST 16384
#endif

#define PCS_MOST  (1u << 20)
#define META_MOST (1u << 16)

struct scope {
	uint64_t method;
	int bci;
};

/* An address in compiled code, for the cache. */
struct place {
	uint64_t nmethod, method, pc;
	uint32_t compile_id;
	bool exact;
	VEC(struct scope) scopes;
};

/* The addresses of a compiled method's tables. */
struct tables {
	uint64_t pcs, n_pcs, scopes, meta;
};

static void
place_free(struct place *p)
{
	vec_fini(&p->scopes);
	mem_free(p);
}

void
hs_scopes_fini(struct hs_scopes *s)
{
	hash_foreach(e, &s->by_pc)
		place_free(e->value);
	hash_fini(&s->by_pc);
}

/*
 * The place of the tables differs between versions:
 */
static bool
tables_find(struct hotspot *hs, struct lang_walk *w, const struct hs_blob *b,
    struct tables *t)
{
	const struct hs_layout *l = &hs->l;
	uint64_t base = b->addr, end;

	if (l->nm_immutable.size != 0)
		base = hs_get(w, b->addr, &l->nm_immutable);
	t->pcs = base + hs_get(w, b->addr, &l->nm_pcs_offset);
	t->scopes = l->nm_scopes_begin.size != 0 ?
	    hs_get(w, b->addr, &l->nm_scopes_begin) :
	    base + hs_get(w, b->addr, &l->nm_scopes_offset);
	end = l->nm_immutable.size != 0 ?
	    t->scopes :
	    base + hs_get(w, b->addr, &l->nm_deps_offset);
	t->meta = b->addr + hs_get(w, b->addr, &l->nm_meta_offset);
	if (l->blob_mutable.size != 0)
		t->meta = hs_get(w, b->addr, &l->blob_mutable) +
		    hs_get(w, b->addr, &l->blob_reloc_size);
	else if (l->nm_immutable.size != 0)
		t->meta += hs_get(w, b->addr, &l->blob_data_offset);
	if (end < t->pcs || base == 0)
		return false;
	t->n_pcs = (end - t->pcs) / l->pcdesc_size.at;
	return t->n_pcs <= PCS_MOST;
}

/* The position of the scope of the first PcDesc at the offset or, for an
 * instruction, after it; 0 if there is none. */
static uint32_t
scope_at(struct hotspot *hs, struct lang_walk *w, const struct tables *t,
    int64_t offset, bool exact)
{
	const struct hs_layout *l = &hs->l;
	uint64_t lo = 0, hi = t->n_pcs;
	int64_t least = offset + exact;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;
		uint64_t desc = t->pcs + mid * l->pcdesc_size.at;
		if ((int64_t)hs_get(w, desc, &l->pcdesc_pc) < least)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* The last PcDesc is only an end mark. */
	if (lo + 1 >= t->n_pcs)
		return 0;
	return (uint32_t)hs_get(
	    w, t->pcs + lo * l->pcdesc_size.at, &l->pcdesc_scope);
}

static void
scopes_read(struct hotspot *hs, struct lang_walk *w, const struct tables *t,
    uint32_t scope, struct place *p)
{
	for (int n = 0; scope != 0 && n < DEPTH_MOST; n++) {
		uint64_t at = t->scopes + scope;
		uint32_t outer = hs_unsigned5(hs, w, &at),
			 method = hs_unsigned5(hs, w, &at),
			 bci = hs_unsigned5(hs, w, &at);

		if (method == 0 || method > META_MOST)
			break;
		/* The number is bci + 1; -1 means the entry of the method. */
		*vec_push(&p->scopes) = (struct scope){
			.method = lang_u64(w, t->meta + (method - 1) * 8),
			.bci = (int)(bci - 1),
		};
		/* An outer scope has a lower position. */
		if (outer >= scope)
			break;
		scope = outer;
	}
}

static void
place_fill(struct hotspot *hs, struct lang_walk *w, const struct hs_blob *b,
    struct place *p)
{
	struct tables t;
	uint32_t scope = 0;

	/* Before the frame is complete, no inlined method can be running. */
	if (p->exact && p->pc < b->complete) {
		*vec_push(&p->scopes) = (struct scope){ p->method, -1 };
		return;
	}
	if (tables_find(hs, w, b, &t)) {
		scope =
		    scope_at(hs, w, &t, (int64_t)(p->pc - b->code), p->exact);
		scopes_read(hs, w, &t, scope, p);
	}
	if (p->scopes.len == 0)
		*vec_push(&p->scopes) = (struct scope){ p->method, HS_NO_BCI };
}

static bool
is_same(const struct place *a, const struct place *b)
{
	return a->nmethod == b->nmethod && a->method == b->method &&
	    a->pc == b->pc && a->compile_id == b->compile_id &&
	    a->exact == b->exact;
}

static const struct place *
place_at(struct hotspot *hs, struct lang_walk *w, const struct hs_blob *b,
    uint64_t pc, bool exact)
{
	const struct place key = {
		.nmethod = b->addr,
		.method = hs_get(w, b->addr, &hs->l.nm_method),
		.pc = pc,
		.compile_id =
		    (uint32_t)hs_get(w, b->addr, &hs->l.nm_compile_id),
		.exact = exact,
	};
	uint64_t slot = pc * 2 + exact;
	struct place *p = hash_get(&hs->scopes.by_pc, slot);

	if (p != NULL && is_same(p, &key))
		return p;
	if (hs->scopes.by_pc.count >= PLACES_MOST) {
		hs_scopes_fini(&hs->scopes);
		hs->scopes = (struct hs_scopes){ 0 };
	}
	p = mem_alloc(sizeof(*p));
	*p = key;
	place_fill(hs, w, b, p);
	struct place *old = hash_set(&hs->scopes.by_pc, slot, p);
	if (old != NULL)
		place_free(old);
	return p;
}

bool
hs_scopes_push(struct hotspot *hs, struct lang_walk *w, const struct hs_blob *b,
    uint64_t pc, bool exact)
{
	const struct place *p = place_at(hs, w, b, pc, exact);
	bool any = false;

	vec_foreach(s, &p->scopes) {
		const struct hs_method *m = hs_method_at(hs, w, s->method);
		if (m == NULL)
			continue;
		hs_method_push(w, m, s->bci);
		any = true;
	}
	return any;
}

static uint64_t
handler(struct hotspot *hs, struct lang_walk *w, const struct hs_blob *b,
    const struct hs_field *address, const struct hs_field *offset)
{
	if (address->size != 0)
		return hs_get(w, b->addr, address);
	return offset->size != 0 ? b->addr + hs_get(w, b->addr, offset) : 0;
}

uint64_t
hs_scopes_pc(struct hotspot *hs, struct lang_walk *w, const struct hs_blob *b,
    uint64_t pc, uint64_t sp)
{
	const struct hs_layout *l = &hs->l;
	uint64_t offset = hs_get(w, b->addr, &l->nm_orig_pc), old;

	if (pc != handler(hs, w, b, &l->nm_deopt_begin, &l->nm_deopt) &&
	    pc != handler(hs, w, b, &l->nm_deopt_mh_begin, &l->nm_deopt_mh))
		return pc;
	if (offset >= b->frame)
		return pc;
	old = lang_u64(w, sp + offset);
	return old > b->code && old <= b->code_end ? old : pc;
}
