/*
 * Speculations (spec.h has the states).  In the lane:
 *
 *	spec_ref
 *	+---------------+----------+----------+-----
 *	| spec [nspec]  | buffer 1 | buffer 2 | ...
 *	+---------------+----------+----------+-----
 */
#define DLANG_VM_IMPL
#include "dlang/vm/spec.h"

#include "dlang/vm/buf.h"

struct spec {
	uint32_t state; /* enum spec_state */
	uint32_t used;  /* bytes */
};

uint64_t
spec_size(uint32_t n, uint32_t bytes)
{
	return n * (sizeof(struct spec) + VM_ALIGN((uint64_t)bytes));
}

static uint32_t
buf_bytes(const struct vm_env *env)
{
	return VM_ALIGN(env->at.image->specsize);
}

/* Speculation id from 1, or NULL. */
static struct spec *
spec_at(const struct vm_env *env, uint64_t id)
{
	uint32_t n = env->at.image->nspec;
	struct spec *s =
	    region_at8(&env->store, LOAD_ONCE(&env->at.lane->spec_ref),
		spec_size(n, env->at.image->specsize));

	return s == NULL || id == 0 || id > n ? NULL : &s[id - 1];
}

static uint8_t *
spec_buf(const struct vm_env *env, const struct spec *s, uint64_t id)
{
	uint64_t n = env->at.image->nspec;

	/* s is in the checked area, at index id - 1. */
	return (uint8_t *)(s - (id - 1)) + n * sizeof(*s) +
	    (id - 1) * buf_bytes(env);
}

/* Speculation id if it can be written, committed or discarded. */
static struct spec *
active(struct vm_env *env, uint64_t id)
{
	struct spec *s = spec_at(env, id);

	return s == NULL || s->state == SPEC_INACTIVE ? NULL : s;
}

/* The same for its end, which of one that cannot be is a mistake. */
static struct spec *
ending(struct vm_env *env, uint64_t id)
{
	if (id > env->at.image->nspec)
		vm_fault(env, FLT_ILLOP, id);
	return active(env, id);
}

uint64_t
spec_create(struct vm_env *env)
{
	uint32_t n = env->at.image->nspec;

	for (uint32_t id = 1; id <= n; id++) {
		struct spec *s = spec_at(env, id);
		if (s != NULL && s->state == SPEC_INACTIVE) {
			s->state = SPEC_ACTIVE;
			s->used = 0;
			return id;
		}
	}
	env->at.lane->drops[DROP_SPEC_UNAVAIL]++;
	return 0;
}

void *
spec_reserve(struct vm_env *env, uint64_t id, uint32_t size)
{
	struct spec *s = active(env, id);

	if (s == NULL)
		return NULL;
	uint32_t used = LOAD_ONCE(&s->used) & ~7U;
	if (used > buf_bytes(env) || VM_ALIGN(size) > buf_bytes(env) - used) {
		env->at.lane->drops[DROP_SPEC]++;
		return NULL;
	}
	return spec_buf(env, s, id) + used;
}

void
spec_keep(struct vm_env *env, uint64_t id, uint32_t size)
{
	struct spec *s = active(env, id);

	if (s == NULL)
		return;
	s->state = SPEC_FILLED;
	s->used = (s->used & ~7U) + VM_ALIGN(size);
}

/* Copied records carry the time and processor of the commit. */
static void
stamp(struct vm_env *env, uint8_t *rec, uint32_t size)
{
	while (size > 0) {
		uint32_t n = buf_rec_size(&env->image, rec, size);
		if (n < sizeof(struct rec_hdr))
			return;
		struct rec_hdr *h = (void *)rec;
		h->timestamp = env->timestamp;
		h->cpu = env->cpu;
		rec += n;
		size -= n;
	}
}

void
spec_commit(struct vm_env *env, uint64_t id)
{
	struct spec *s = ending(env, id);

	if (s == NULL)
		return;
	uint32_t used = LOAD_ONCE(&s->used) & ~7U;
	if (used != 0 && used <= buf_bytes(env)) {
		struct lane *l = env->at.lane;
		buf_make_room(&env->image, &env->store, l, used);
		uint8_t *rec = buf_reserve(&env->store, l, used);
		if (rec != NULL) {
			memcpy(rec, spec_buf(env, s, id), used);
			stamp(env, rec, used);
			buf_commit(l);
		}
	}
	s->used = 0;
	s->state = SPEC_INACTIVE;
}

void
spec_discard(struct vm_env *env, uint64_t id)
{
	struct spec *s = ending(env, id);

	if (s == NULL)
		return;
	s->used = 0;
	s->state = SPEC_INACTIVE;
}
