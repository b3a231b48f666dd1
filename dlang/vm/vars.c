/*
 * Variables.  Globals are at fixed offsets in the statics, clause-locals in the
 * lane.  Thread-locals and associative arrays are dynamic (dyn.h): the
 * thread-locals of a thread with a lane are in the lane, all others are with
 * the arrays.
 *
 * A key has, for each member, one word (the value, or the length) followed by
 * the bytes of a string or struct, padded to 8. A value is one word.  A value
 * by reference has 8 bytes, the first of which is 0xff for NULL, and then the
 * data.
 *
 * There is one writer at a time: only the tracer writes arrays, and a lane has
 * one writer.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/vars.h"

#include "dlang/vm/agg.h"
#include "dlang/vm/dyn.h"

/* ---- keys: built above the allocated scratch, gone after the call ---- */

static int
key_add(struct vm_env *env, struct dyn_key *k, uint64_t word, uint64_t addr,
    uint64_t len)
{
	if (8 + VM_ALIGN(len) > k->room - k->size) {
		vm_fault(env, FLT_NOSCRATCH, 0);
		return -1;
	}
	memcpy(k->bytes + k->size, &word, 8);
	if (len > 0) {
		uint64_t last = 0;
		memcpy(k->bytes + k->size + VM_ALIGN(len), &last, 8);
		if (vm_copy(env, k->bytes + k->size + 8, addr, len) != 0)
			return -1;
	}
	k->size += 8 + (uint32_t)VM_ALIGN(len);
	return 0;
}

static int
key_member(struct vm_env *env, struct dyn_key *k, const struct vm_tuple *t)
{
	if (t->kind == TUPLE_VALUE)
		return key_add(env, k, t->value, 0, 0);
	if (t->kind == TUPLE_BYTES) {
		if (t->size > env->at.image->dyn_data) {
			vm_fault(env, FLT_TUPOFLOW, 0);
			return -1;
		}
		return key_add(env, k, t->size, t->value, t->size);
	}
	/* A string in the target is first copied to scratch memory, above the
	 * present part of the key, because free scratch begins there. */
	uint64_t used = env->scratch_used;
	struct vm_str s;
	uint32_t limit = vm_strmax(env);
	if (t->size != 0 && t->size < limit)
		limit = (uint32_t)t->size;
	env->scratch_used += k->size;
	int error = vm_str(env, t->value, limit, &s);
	env->scratch_used = used;
	if (error)
		return -1;
	uint64_t len = s.len;
	if (8 + VM_ALIGN(len) > k->room - k->size) {
		vm_fault(env, FLT_NOSCRATCH, 0);
		return -1;
	}
	/* The copy, if any, may overlap its place in the key. */
	uint8_t *at = k->bytes + k->size;
	memmove(at + 8, s.s, len);
	memset(at + 8 + len, 0, VM_ALIGN(len) - len);
	memcpy(at, &len, 8);
	k->size += 8 + (uint32_t)VM_ALIGN(len);
	return 0;
}

static int
key_build(struct vm_env *env, struct dyn_key *k, const struct img_var *v,
    const struct vm_tuple *t, uint32_t n)
{
	k->bytes = env->at.scratch + env->scratch_used;
	k->room = env->scratch_size - (uint32_t)env->scratch_used;
	k->size = 0;
	k->id = v->id;
	k->thread = v->scope == DIF_THREAD ? env->thread : 0;
	for (uint32_t i = 0; i < n; i++)
		if (key_member(env, k, &t[i]) != 0)
			return -1;
	if (k->size + (v->flags & DIF_BY_REF ? 8 + (uint64_t)v->size : 8) >
	    env->at.image->dyn_data) {
		vm_fault(env, FLT_TUPOFLOW, 0);
		return -1;
	}
	k->hash = agg_key_hash(k->id ^ k->thread, k->bytes, k->size);
	return 0;
}

/* ---- values by reference ---- */

/* The result of a load of the value at p, which is at a VM address. */
static uint64_t
value_load(const struct img_var *v, const uint8_t *p, uint64_t addr)
{
	uint64_t word;

	if (v->flags & DIF_BY_REF)
		return *p == 0xff ? 0 : addr + 8;
	memcpy(&word, p, 8);
	return word;
}

static int
value_store(
    struct vm_env *env, const struct img_var *v, uint8_t *p, uint64_t value)
{
	if (!(v->flags & DIF_BY_REF)) {
		memcpy(p, &value, 8);
		return 0;
	}
	if (value == 0) {
		*p = 0xff;
		return 0;
	}
	int error = v->flags & IMG_VAR_STRING ?
	    vm_copy_str(env, (char *)p + 8, value, v->size) :
	    vm_copy(env, p + 8, value, v->size);
	if (error == 0)
		*p = 0;
	return error;
}

/* ---- the door ---- */

/* The variable's row; ids of one program are dense, so the first guess is
 * nearly always right.  The verifier has seen that it exists. */
static const struct img_var *
var_lookup(const struct vm_env *env, enum dif_scope scope, uint32_t id)
{
	const struct img_hdr *im = env->at.image;
	const struct img_var *v =
	    (const void *)(env->image.base + im->vars_ref);
	uint32_t guess = id - DIF_VAR_USER, lo = 0, hi = im->nvars;

	if (guess < im->nvars && v[guess].id == id && v[guess].scope == scope)
		return &v[guess];
	/* Sorted by id, then scope. */
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (v[mid].id < id || (v[mid].id == id && v[mid].scope < scope))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < im->nvars && v[lo].id == id && v[lo].scope == scope)
		return &v[lo];
	return NULL;
}

/* The memory of a global or clause-local, and its VM address.  NULL if there
 * are no globals. */
static uint8_t *
static_at(const struct vm_env *env, const struct img_var *v, uint64_t *addr)
{
	const struct lane_view *own = vm_own(env);

	if (v->scope == DIF_GLOBAL) {
		*addr = VMA(VMA_STORE, (uint64_t)env->at.statics_ref + v->off);
		return env->at.statics == NULL ? NULL :
						 env->at.statics + v->off;
	}
	*addr = VMA(lane_region(own), (uint64_t)own->locals_ref + v->off);
	return own->locals + v->off;
}

/* The dynamic variables of this scope, and the base of their addresses. */
static const struct dyn_view *
dyn_of(const struct vm_env *env, enum dif_scope scope, uint64_t *region)
{
	const struct lane_view *own = vm_own(env);

	*region = scope == DIF_THREAD ? lane_region(own) : VMA_STORE;
	return scope == DIF_THREAD ? &own->self : &env->at.dyn;
}

uint64_t
vars_load(struct vm_env *env, enum dif_scope scope, uint32_t id,
    const struct vm_tuple *key, uint32_t nkeys, bool assoc)
{
	const struct img_var *v = var_lookup(env, scope, id);
	uint64_t region, addr;
	const struct dyn_view *d = dyn_of(env, scope, &region);
	struct dyn_key k;
	uint32_t *link;

	if (v == NULL) {
		vm_fault(env, FLT_ILLOP, id);
		return 0;
	}
	if (scope != DIF_THREAD && !assoc) {
		const uint8_t *p = static_at(env, v, &addr);
		if (p != NULL)
			return value_load(v, p, addr);
		vm_fault(env, FLT_ILLOP, id);
		return 0;
	}
	if (key_build(env, &k, v, key, nkeys) != 0 || d->hdr == NULL)
		return 0;
	struct dyn_chunk *c = dyn_lookup(d, &k, &link);
	if (c == NULL)
		return 0;
	const uint8_t *p = c->data + k.size;
	return value_load(
	    v, p, VMA(region, d->chunk_ref + (uint64_t)(p - d->chunk)));
}

static void
dyn_store(struct vm_env *env, const struct img_var *v, const struct dyn_key *k,
    uint64_t value)
{
	uint64_t region;
	const struct dyn_view *d =
	    dyn_of(env, (enum dif_scope)v->scope, &region);
	uint32_t *link;

	if (d->hdr == NULL) {
		if (value != 0)
			env->at.lane->drops[DROP_DYNAMIC]++;
		return;
	}
	struct dyn_chunk *c = dyn_lookup(d, k, &link);
	if (value == 0) {
		if (c != NULL)
			dyn_free(d, c, link);
		return;
	}
	bool added = c == NULL;
	if (added && (c = dyn_add(d, k)) == NULL) {
		env->at.lane->drops[DROP_DYNAMIC]++;
		return;
	}
	if (value_store(env, v, c->data + k->size, value) != 0 && added)
		dyn_free(d, c, &d->bucket[k->hash & d->mask]);
}

void
vars_store(struct vm_env *env, enum dif_scope scope, uint32_t id,
    const struct vm_tuple *key, uint32_t nkeys, bool assoc, uint64_t value)
{
	const struct img_var *v = var_lookup(env, scope, id);
	bool dynamic = scope == DIF_THREAD || assoc;
	uint8_t *p = NULL;
	struct dyn_key k;
	uint64_t addr;

	if (v != NULL && !dynamic)
		p = static_at(env, v, &addr);
	if (v == NULL || (!dynamic && p == NULL))
		vm_fault(env, FLT_ILLOP, id);
	else if (!dynamic)
		value_store(env, v, p, value);
	else if (key_build(env, &k, v, key, nkeys) == 0)
		dyn_store(env, v, &k, value);
}
