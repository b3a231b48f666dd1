/*
 * Speculations (spec.h has the states).  In the lane:
 *
 *	spec_ref
 *	+---------------+----------+----------+-----
 *	| spec [nspec]  | buffer 1 | buffer 2 | ...
 *	+---------------+----------+----------+-----
 *
 * A record gets its time when it is committed.  So it is stored without the
 * last word of its header.  The word after a buffer is for the record that is
 * being written.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/spec.h"

#include "dlang/vm/buf.h"

/* The part of the header that is stored, and the part that is not. */
#define KEPT_HDR offsetof(struct rec_hdr, timestamp)
#define LEFT_OUT ((uint32_t)(sizeof(struct rec_hdr) - KEPT_HDR))

static_assert(KEPT_HDR == 16, "specsize is counted in such records");

struct spec {
	uint32_t state; /* enum spec_state */
	uint32_t used;  /* bytes */
};

uint64_t
spec_size(uint32_t n, uint32_t bytes)
{
	return n * (sizeof(struct spec) + (bytes & ~7ULL) + LEFT_OUT);
}

/* The size of a buffer, in whole words. */
static uint32_t
buf_bytes(const struct vm_env *env)
{
	return env->at.image->specsize & ~7U;
}

/* The speculation with this id, from 1; NULL if there is none. */
static struct spec *
spec_at(const struct vm_env *env, uint64_t id)
{
	struct spec *s = env->at.spec;

	return s == NULL || id == 0 || id > env->at.image->nspec ? NULL :
								   &s[id - 1];
}

static uint8_t *
spec_buf(const struct vm_env *env, const struct spec *s, uint64_t id)
{
	uint64_t n = env->at.image->nspec;

	/* s is in the checked area, at index id - 1. */
	return (uint8_t *)(s - (id - 1)) + n * sizeof(*s) +
	    (id - 1) * (buf_bytes(env) + LEFT_OUT);
}

/* The speculation with this id, if it can be written, committed or
 * discarded. */
static struct spec *
active(struct vm_env *env, uint64_t id)
{
	struct spec *s = spec_at(env, id);

	return s == NULL || s->state == SPEC_INACTIVE ? NULL : s;
}

/* The same for commit and discard: one that cannot be ended is an error. */
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
	if (used > buf_bytes(env) ||
	    VM_ALIGN(size) - LEFT_OUT > buf_bytes(env) - used) {
		env->at.lane->drops[DROP_SPEC]++;
		return NULL;
	}
	return spec_buf(env, s, id) + used;
}

void
spec_keep(struct vm_env *env, uint64_t id, uint32_t size)
{
	struct spec *s = active(env, id);
	uint32_t kept = VM_ALIGN(size) - LEFT_OUT;

	if (s == NULL)
		return;
	uint32_t used = LOAD_ONCE(&s->used) & ~7U;
	if (used > buf_bytes(env) || kept > buf_bytes(env) - used)
		return; /* it is not the reserved record */
	uint8_t *rec = spec_buf(env, s, id) + used;
	memmove(rec + KEPT_HDR, rec + sizeof(struct rec_hdr), kept - KEPT_HDR);
	s->state = SPEC_FILLED;
	s->used = used + kept;
}

/* The bytes that the `used' bytes at rec take as ordinary records, up to the
 * first invalid one. */
static uint32_t
full_size(const struct vm_env *env, const uint8_t *rec, uint32_t used)
{
	uint32_t full = 0;

	for (uint32_t n, at = 0; at < used; at += n - LEFT_OUT) {
		n = buf_rec_size(&env->image, rec + at, used - at + LEFT_OUT);
		if (n < sizeof(struct rec_hdr))
			break;
		full += n;
	}
	return full;
}

/* Copy the records.  The target may have changed them since they were counted,
 * so both sizes are checked.  The copies have the time and processor of the
 * commit. */
static void
copy_out(const struct vm_env *env, uint8_t *to, uint32_t full,
    const uint8_t *rec, uint32_t used)
{
	for (uint32_t n, at = 0; at < used; at += n - LEFT_OUT) {
		n = buf_rec_size(&env->image, rec + at, used - at + LEFT_OUT);
		if (n < sizeof(struct rec_hdr) || n > full)
			break;
		struct rec_hdr *h = (void *)to;
		memcpy(h, rec + at, KEPT_HDR);
		memcpy(h + 1, rec + at + KEPT_HDR, n - sizeof(*h));
		h->timestamp = env->timestamp;
		h->cpu = env->cpu;
		to += n;
		full -= n;
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
		const uint8_t *kept = spec_buf(env, s, id);
		uint32_t full = full_size(env, kept, used);
		buf_make_room(&env->image, &env->at, full);
		uint8_t *rec = buf_reserve(&env->at, full);
		if (rec != NULL) {
			copy_out(env, rec, full, kept, used);
			buf_commit(&env->at);
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
