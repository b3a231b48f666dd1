/*
 * Subroutines: a table of functions by id.  Those for numbers and memory are in
 * this file, those for strings in subr_str.c, those for network addresses,
 * paths and JSON in subr_text.c.
 *
 * Arguments are on the tuple stack: values, or addresses with a kind.  A result
 * by address is in scratch memory, or in the input if that is in a region
 * already.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/subr.h"

#include "dlang/vm/spec.h"
#include "dlang/vm/subr_impl.h"

/* ---- numbers ---- */

static uint64_t
subr_rand(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	struct lane *l = env->at.lane;
	uint64_t x = l->random;

	/* Seeded by the first use; xorshift must not start from 0. */
	if (x == 0)
		vm_when(env);
	if (x == 0)
		x = (env->timestamp ^ env->at.scratch_ref) *
			0x9e3779b97f4a7c15ULL |
		    1;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	l->random = x;
	return x >> 32;
}

static uint64_t
subr_speculation(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	return spec_create(env);
}

static uint64_t
subr_progenyof(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	return env->ops->progenyof(env, (int32_t)a[0].value);
}

/* ---- the state of threads, files and processors ---- */

static uint64_t
subr_state(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	uint64_t v = 0;

	if (env->ops->state(env, a[0].value, a[1].value, &v) != 0)
		vm_fault(env, FLT_ILLOP, a[0].value);
	return v;
}

static uint64_t
subr_state_str(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	return vm_text(env, env->ops->state_str, a[0].value, a[1].value);
}

/* A cpuinfo_t (library.c): its number; set, chip and group are 0, because a
 * process cannot ask for them. */
struct cpuinfo {
	uint32_t id, set, chip, group;
	uint32_t state; /* 2: P_ONLINE, as it runs this */
	char type[16];
	char fpu[32];
	uint32_t clock; /* MHz */
};

static void
fill_cpuinfo(struct vm_env *env, uint64_t cpu, struct cpuinfo *c)
{
	uint64_t clock = 0;

	c->id = (uint32_t)cpu;
	c->state = 2;
	if (env->ops->state(env, DIF_STATE_PI_CLOCK, cpu, &clock) == 0)
		c->clock = (uint32_t)clock;
	if (env->ops->state_str(
		env, DIF_STATE_PI_TYPE, cpu, c->type, sizeof(c->type)) != 0)
		c->type[0] = '\0';
	if (env->ops->state_str(
		env, DIF_STATE_PI_FPUTYPES, cpu, c->fpu, sizeof(c->fpu)) != 0)
		c->fpu[0] = '\0';
}

static uint64_t
subr_curcpu(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	uint64_t cpu = env->cpu;
	uint8_t *mem;

	if (env->ops->var(env, DIF_VAR_CPU, &cpu) != 0)
		vm_fault(env, FLT_ILLOP, DIF_VAR_CPU);
	uint64_t addr = vm_alloc(env, sizeof(struct cpuinfo), &mem);
	if (addr != 0)
		fill_cpuinfo(env, cpu, (void *)mem);
	return addr;
}

/* Linux's dev_t: major in bits 8..19 and 44..63, minor in 0..7 and 20..43. */
static uint64_t
subr_getmajor(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	uint64_t dev = a[0].value;

	return (dev >> 8 & 0xfff) | (dev >> 32 & 0xfffff000);
}

static uint64_t
subr_getminor(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	uint64_t dev = a[0].value;

	return (dev & 0xff) | (dev >> 12 & 0xffffff00);
}

static uint64_t
subr_swap16(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	return __builtin_bswap16((uint16_t)a[0].value);
}

static uint64_t
subr_swap32(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	return __builtin_bswap32((uint32_t)a[0].value);
}

static uint64_t
subr_swap64(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	return __builtin_bswap64(a[0].value);
}

/* ---- memory ---- */

static uint64_t
subr_alloca(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	uint8_t *mem;

	return vm_alloc(env, a[0].value, &mem);
}

static uint64_t
subr_copyin(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	uint8_t *mem;
	uint64_t addr = vm_alloc(env, a[1].value, &mem);

	return addr == 0 || vm_copy(env, mem, a[0].value, a[1].value) != 0 ?
	    0 :
	    addr;
}

/* Copy into allocated scratch memory.  A wrong begin is a bad address, a wrong
 * end a bad size. */
static void
copy_to_scratch(struct vm_env *env, uint64_t src, uint64_t dst, uint64_t len)
{
	uint64_t room, have = len;

	if (len == 0)
		return;
	uint8_t *mem = vm_scratch_at(env, dst, &room);
	if (mem == NULL)
		vm_fault(env, FLT_BADADDR, dst);
	else if (VMA_IS(src) && vm_readable_at(env, src, &have) == NULL)
		vm_fault(env, FLT_BADADDR, src);
	else if (len > room || len > have)
		vm_fault(env, FLT_BADSIZE, len);
	else
		vm_copy(env, mem, src, len);
}

static uint64_t
subr_copyinto(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	copy_to_scratch(env, a[0].value, a[2].value, a[1].value);
	return 0;
}

static uint64_t
subr_bcopy(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	copy_to_scratch(env, a[0].value, a[1].value, a[2].value);
	return 0;
}

static uint64_t
subr_copyinstr(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	uint32_t max = vm_strmax(env);
	struct vm_str s;
	char *d;

	/* A given size includes the NUL. */
	if (n > 1)
		max = (uint32_t)VM_MIN(a[1].value, max);
	if (n > 1 && max > 0)
		max--;
	if (vm_str(env, a[0].value, max, &s) != 0)
		return 0;
	/* A string of the target has been copied and terminated just now. */
	return VMA_IS(a[0].value) ? subr_string(env, &s, 0, s.len, &d) : s.addr;
}

/* Write to the target.  The VM's own regions cannot be written. */
static void
store_out(struct vm_env *env, const void *src, uint64_t addr, uint64_t len)
{
	if (len == 0)
		return;
	if (addr == 0 || VMA_IS(addr) || len > UINT32_MAX ||
	    env->ops->store(env, addr, src, (uint32_t)len) != 0)
		vm_fault(env, FLT_BADADDR, addr);
}

static uint64_t
subr_copyout(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	uint64_t used = env->scratch_used, len = a[2].value;
	const uint8_t *src = vm_readable(env, a[0].value, len);
	uint8_t *mem;

	if (src == NULL && len > 0) {
		if (vm_alloc(env, len, &mem) == 0 ||
		    vm_copy(env, mem, a[0].value, len) != 0)
			return 0;
		src = mem;
	}
	store_out(env, src, a[1].value, len);
	env->scratch_used = used;
	return 0;
}

static uint64_t
subr_copyoutstr(struct vm_env *env, const struct vm_tuple *a, uint32_t n)
{
	uint64_t used = env->scratch_used;
	uint64_t size = VM_MIN(a[2].value, vm_strsize(env));
	struct vm_str s;
	char *d;

	if (vm_str(env, a[0].value, (uint32_t)size, &s) != 0)
		return 0;
	/* The NUL is written too if the size allows. */
	if (subr_string(env, &s, 0, s.len, &d) != 0)
		store_out(env, d, a[1].value,
		    s.len < size ? (uint64_t)s.len + 1 : size);
	env->scratch_used = used;
	return 0;
}

/* ---- the table ---- */

static const struct {
	uint64_t (*fn)(struct vm_env *, const struct vm_tuple *, uint32_t);
	uint8_t nargs; /* at least */
} subrs[DIF_SUBR_COUNT] = {
	/* clang-format off */
	[DIF_SUBR_RAND]        = { subr_rand, 0 },
	[DIF_SUBR_COPYIN]      = { subr_copyin, 2 },
	[DIF_SUBR_COPYINSTR]   = { subr_copyinstr, 1 },
	[DIF_SUBR_SPECULATION] = { subr_speculation, 0 },
	[DIF_SUBR_PROGENYOF]   = { subr_progenyof, 1 },
	[DIF_SUBR_STRLEN]      = { subr_strlen, 1 },
	[DIF_SUBR_COPYOUT]     = { subr_copyout, 3 },
	[DIF_SUBR_COPYOUTSTR]  = { subr_copyoutstr, 3 },
	[DIF_SUBR_ALLOCA]      = { subr_alloca, 1 },
	[DIF_SUBR_BCOPY]       = { subr_bcopy, 3 },
	[DIF_SUBR_COPYINTO]    = { subr_copyinto, 3 },
	[DIF_SUBR_GETMAJOR]    = { subr_getmajor, 1 },
	[DIF_SUBR_GETMINOR]    = { subr_getminor, 1 },
	[DIF_SUBR_STRJOIN]     = { subr_strjoin, 2 },
	[DIF_SUBR_LLTOSTR]     = { subr_lltostr, 1 },
	[DIF_SUBR_BASENAME]    = { subr_basename, 1 },
	[DIF_SUBR_DIRNAME]     = { subr_dirname, 1 },
	[DIF_SUBR_CLEANPATH]   = { subr_cleanpath, 1 },
	[DIF_SUBR_STRCHR]      = { subr_strchr, 2 },
	[DIF_SUBR_STRRCHR]     = { subr_strrchr, 2 },
	[DIF_SUBR_STRSTR]      = { subr_strstr, 2 },
	[DIF_SUBR_STRTOK]      = { subr_strtok, 2 },
	[DIF_SUBR_SUBSTR]      = { subr_substr, 2 },
	[DIF_SUBR_INDEX]       = { subr_index, 2 },
	[DIF_SUBR_RINDEX]      = { subr_rindex, 2 },
	[DIF_SUBR_HTONS]       = { subr_swap16, 1 },
	[DIF_SUBR_HTONL]       = { subr_swap32, 1 },
	[DIF_SUBR_HTONLL]      = { subr_swap64, 1 },
	[DIF_SUBR_NTOHS]       = { subr_swap16, 1 },
	[DIF_SUBR_NTOHL]       = { subr_swap32, 1 },
	[DIF_SUBR_NTOHLL]      = { subr_swap64, 1 },
	[DIF_SUBR_INET_NTOP]   = { subr_inet_ntop, 2 },
	[DIF_SUBR_INET_NTOA]   = { subr_inet_ntoa, 1 },
	[DIF_SUBR_INET_NTOA6]  = { subr_inet_ntoa6, 1 },
	[DIF_SUBR_TOUPPER]     = { subr_toupper, 1 },
	[DIF_SUBR_TOLOWER]     = { subr_tolower, 1 },
	[DIF_SUBR_JSON]        = { subr_json, 2 },
	[DIF_SUBR_STRTOLL]     = { subr_strtoll, 1 },
	[DIF_SUBR_STATE]       = { subr_state, 2 },
	[DIF_SUBR_STATE_STR]   = { subr_state_str, 2 },
	[DIF_SUBR_CURCPU]      = { subr_curcpu, 0 },
	[DIF_SUBR_LINK_NTOP]   = { subr_link_ntop, 2 },
	/* clang-format on */
};

uint64_t
subr_call(
    struct vm_env *env, uint32_t id, const struct vm_tuple *args, uint32_t n)
{
	if (id >= DIF_SUBR_COUNT || subrs[id].fn == NULL ||
	    n < subrs[id].nargs) {
		vm_fault(env, FLT_ILLOP, id);
		return 0;
	}
	uint64_t v = subrs[id].fn(env, args, n);
	return vm_faulted(env) ? 0 : v;
}
