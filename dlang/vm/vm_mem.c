/*
 * The memory of a program: addresses, scratch and strings.
 *
 * Invariant: an address from a register becomes a pointer only in
 * vm_readable(), vm_writable() and vm_scratch_at(). Every other address is
 * passed to the environment as a number.  The image may be read and never
 * written.  vm_writable() lists the parts of the store that clauses may write.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/dyn.h"
#include "dlang/vm/vm_impl.h"

void
vm_fault(struct vm_env *env, enum dif_fault code, uint64_t value)
{
	if (vm_faulted(env))
		return;
	env->fault.code = code;
	env->fault.value = value;
}

/* ---- addresses ---- */

/* Is ref in the `size' bytes at `at'? Then *room is the number of bytes from it
 * to the end. */
static bool
inside(uint64_t ref, uint64_t at, uint64_t size, uint64_t *room)
{
	if (ref < at || ref - at >= size)
		return false;
	*room = size - (ref - at);
	return true;
}

uint8_t *
vm_scratch_at(const struct vm_env *env, uint64_t addr, uint64_t *room)
{
	const struct lane_view *at = &env->at;

	*room = 0;
	if (!VMA_IS(addr) || VMA_REGION(addr) != VMA_STORE ||
	    !inside(VMA_REF(addr), at->scratch_ref, env->scratch_used, room))
		return NULL;
	return at->scratch + (VMA_REF(addr) - at->scratch_ref);
}

/* The memory at an address that clauses may write, and its size. */
static uint8_t *
writable_at(const struct vm_env *env, uint64_t addr, uint64_t *room)
{
	const struct lane_view *at = &env->at, *own = vm_own(env);
	uint8_t *p = vm_scratch_at(env, addr, room);
	uint32_t ref = VMA_REF(addr);

	if (p != NULL)
		return p;
	if (!VMA_IS(addr))
		return NULL;
	if (VMA_REGION(addr) == lane_region(own)) {
		if (inside(ref, own->locals_ref, own->image->locals_size, room))
			return own->locals + (ref - own->locals_ref);
		if ((p = dyn_writable(&own->self, ref, room)) != NULL)
			return p;
	}
	if (VMA_REGION(addr) != VMA_STORE)
		return NULL;
	if (inside(ref, at->statics_ref, at->statics_size, room))
		return at->statics + (ref - at->statics_ref);
	return dyn_writable(&at->dyn, ref, room);
}

uint8_t *
vm_writable(const struct vm_env *env, uint64_t addr, uint64_t len)
{
	uint64_t room;
	uint8_t *p = writable_at(env, addr, &room);

	return p != NULL && len <= room ? p : NULL;
}

/* The parts of a lane of a thread store that its thread may read. */
static const uint8_t *
own_readable(const struct lane_view *own, uint64_t ref, uint64_t *room)
{
	if (!own->threads ||
	    !inside(
		ref, own->locals_ref, own->thread_end - own->locals_ref, room))
		return NULL;
	return own->base + ref;
}

const uint8_t *
vm_readable_at(const struct vm_env *env, uint64_t addr, uint64_t *room)
{
	const struct region *r = &env->image;
	uint64_t ref = VMA_REF(addr), end = r->size;
	const uint8_t *p = vm_scratch_at(env, addr, room);

	if (p != NULL || !VMA_IS(addr))
		return p;
	if (VMA_REGION(addr) == VMA_THREADS)
		return own_readable(vm_own(env), ref, room);
	if (VMA_REGION(addr) == VMA_STORE) {
		/* The memory around allocated scratch is not readable. */
		uint64_t gap = env->at.scratch_ref - SCRATCH_GAP;
		r = &env->store;
		end = ref < gap ? VM_MIN(gap, r->size) : r->size;
		if (inside(ref, gap, SCRATCH_GAP + env->scratch_size, room))
			return NULL;
	} else if (VMA_REGION(addr) != VMA_IMAGE) {
		return NULL;
	}
	p = region_at(r, (uint32_t)ref, 1);
	*room = p != NULL ? end - ref : 0;
	return p;
}

const uint8_t *
vm_readable(const struct vm_env *env, uint64_t addr, uint64_t len)
{
	uint64_t room;
	const uint8_t *p = vm_readable_at(env, addr, &room);

	return p != NULL && len <= room ? p : NULL;
}

uint64_t
vm_alloc(struct vm_env *env, uint64_t size, uint8_t **mem)
{
	const struct lane_view *at = &env->at;
	uint64_t off = env->scratch_used;

	/* Compare before rounding up, which could wrap. */
	if (size > env->scratch_size - off ||
	    VM_ALIGN(size) > env->scratch_size - off) {
		vm_fault(env, FLT_NOSCRATCH, 0);
		return 0;
	}
	env->scratch_used += VM_ALIGN(size);
	*mem = at->scratch + off;
	memset(*mem, 0, VM_ALIGN(size));
	return VMA(VMA_STORE, at->scratch_ref + off);
}

uint64_t
vm_string_room(const struct vm_env *env, uint64_t len)
{
	uint64_t left = env->scratch_size - env->scratch_used;
	uint64_t whole = VM_ALIGN((uint64_t)vm_strsize(env));

	return whole <= left / 8 ? whole : VM_ALIGN(len + 1);
}

static int
bad_address(struct vm_env *env, uint64_t addr)
{
	vm_fault(env, FLT_BADADDR, addr);
	return -1;
}

int
vm_copy(struct vm_env *env, void *dst, uint64_t addr, uint64_t len)
{
	if (len == 0)
		return 0;
	if (VMA_IS(addr)) {
		const uint8_t *src = vm_readable(env, addr, len);
		if (src == NULL)
			return bad_address(env, addr);
		memmove(dst, src, len);
		return 0;
	}
	if (addr == 0 || len > UINT32_MAX ||
	    env->ops->load(env, addr, dst, (uint32_t)len) != 0)
		return bad_address(env, addr);
	return 0;
}

/* The number of bytes before the first NUL, at most max. */
static uint32_t
text_len(const uint8_t *s, uint64_t max)
{
	const uint64_t ones = 0x0101010101010101;
	uint32_t n = 0;
	uint64_t w;

	while (max - n >= 8) {
		memcpy(&w, s + n, 8);
		if (((w - ones) & ~w & ones << 7) != 0)
			break;
		n += 8;
	}
	while (n < max && s[n] != 0)
		n++;
	return n;
}

/* The length of the string at a VM address, at most `limit'. The end of the
 * memory ends the string, because copyin() gives characters without a NUL.
 * False if there is no memory at the address. */
static bool
vma_strlen(const struct vm_env *env, uint64_t addr, uint32_t limit,
    const uint8_t **s, uint32_t *len)
{
	uint64_t room;

	*len = 0;
	*s = vm_readable_at(env, addr, &room);
	if (*s == NULL)
		return false;
	*len = text_len(*s, VM_MIN(limit, room));
	return true;
}

int
vm_copy_str(struct vm_env *env, char *dst, uint64_t addr, uint32_t size)
{
	const uint8_t *src;
	uint32_t len;

	if (addr == 0)
		return bad_address(env, addr);
	if (size == 0)
		return 0;
	if (VMA_IS(addr)) {
		if (!vma_strlen(env, addr, size - 1, &src, &len))
			return bad_address(env, addr);
		memmove(dst, src, len);
	} else {
		int64_t n = env->ops->load_str(env, addr, dst, size);
		if (n < 0)
			return bad_address(env, addr);
		len = n > 0 && dst[n - 1] == 0 ? (uint32_t)n - 1 : (uint32_t)n;
		if (len >= size)
			len = size - 1;
	}
	memset(dst + len, 0, size - len);
	return 0;
}

int
vm_str(struct vm_env *env, uint64_t addr, uint32_t limit, struct vm_str *out)
{
	out->addr = addr;
	out->s = NULL;
	out->len = 0;
	if (addr == 0)
		return bad_address(env, addr);
	if (VMA_IS(addr)) {
		const uint8_t *s;
		if (!vma_strlen(env, addr, limit, &s, &out->len))
			return bad_address(env, addr);
		out->s = (const char *)s;
		return 0;
	}
	uint64_t off = env->scratch_used;
	uint64_t room = env->scratch_size - off;
	if (room == 0) {
		vm_fault(env, FLT_NOSCRATCH, 0);
		return -1;
	}
	/* One byte is reserved for the NUL. */
	uint32_t want = (uint32_t)VM_MIN(room - 1, limit);
	char *s = (char *)env->at.scratch + off;
	int64_t n = want > 0 ? env->ops->load_str(env, addr, s, want) : 0;
	if (n < 0)
		return bad_address(env, addr);
	uint32_t len = (uint32_t)(n > 0 && s[n - 1] == 0 ? n - 1 : n);
	if (len == n && len < limit) { /* no NUL, and no room to continue */
		vm_fault(env, FLT_NOSCRATCH, 0);
		return -1;
	}
	uint64_t size = vm_string_room(env, len);
	memset(s + len, 0, size - len);
	env->scratch_used += size;
	out->s = s;
	out->len = len;
	out->addr = VMA(VMA_STORE, env->at.scratch_ref + off);
	return 0;
}

uint64_t
vm_load(struct vm_env *env, uint64_t addr, uint32_t size)
{
	uint64_t v = 0;

	if (VMA_IS(addr)) {
		const uint8_t *p = vm_readable(env, addr, size);
		if (p != NULL)
			memcpy(&v, p, size);
		else
			bad_address(env, addr);
	} else if (addr == 0 || env->ops->load(env, addr, &v, size) != 0) {
		bad_address(env, addr);
		v = 0;
	}
	return v;
}

void
vm_store(struct vm_env *env, uint64_t addr, uint64_t v, uint32_t size)
{
	uint8_t *p = vm_writable(env, addr, size);

	if (p != NULL)
		memcpy(p, &v, size);
	else
		bad_address(env, addr);
}

void
vm_copy_to(struct vm_env *env, uint64_t src, uint64_t len, uint64_t dst)
{
	if (len == 0)
		return;
	uint8_t *p = vm_writable(env, dst, len);
	if (p == NULL)
		bad_address(env, dst);
	else
		vm_copy(env, p, src, len);
}

int
vm_compare(struct vm_env *env, uint64_t a, uint64_t b)
{
	uint64_t used = env->scratch_used;
	struct vm_str s = { "", 0, 0 }, t = { "", 0, 0 };
	int r = 0;

	if ((a == 0 || vm_str(env, a, vm_strmax(env), &s) == 0) &&
	    (b == 0 || vm_str(env, b, vm_strmax(env), &t) == 0)) {
		r = memcmp(s.s, t.s, VM_MIN(s.len, t.len));
		if (r == 0)
			r = (s.len > t.len) - (s.len < t.len);
	}
	env->scratch_used = used;
	return (r > 0) - (r < 0);
}

uint64_t
vm_text(struct vm_env *env, vm_text_fn fill, uint64_t what, uint64_t of)
{
	uint32_t size = vm_strsize(env), n = 0;
	uint64_t used = env->scratch_used;
	uint8_t *s;
	uint64_t addr = vm_alloc(env, size, &s);

	if (addr == 0)
		return 0;
	if (fill(env, what, of, (char *)s, size) != 0) {
		vm_fault(env, FLT_ILLOP, what);
		return 0;
	}
	/* Free the bytes that the text does not need. */
	while (n < size - 1 && s[n] != 0)
		n++;
	s[n] = 0;
	env->scratch_used = used;
	env->scratch_used += vm_string_room(env, n);
	return addr;
}
