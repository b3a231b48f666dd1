/*
 * The machine: addresses, scratch, strings, and the interpreter loop.
 *
 * Invariant: an address from a register becomes memory in vm_readable(),
 * vm_writable() and vm_scratch_at() and nowhere else; every other address goes
 * to the environment as a number.  The image may be read, never written; of
 * the store, what clauses may write is listed in vm_writable().
 *
 * The loop checks nothing that the verifier has checked: registers, tables,
 * branch targets and the final `ret' are as they must be (verify.c has the
 * list), and as branches only go forward, a run ends.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/vm.h"

#include "dlang/vm/args.h"
#include "dlang/vm/subr.h"
#include "dlang/vm/vars.h"
#include "dlang/vm/vm_impl.h"

/* ---- addresses ---- */

/* Is ref in the `size' bytes at `at'?  Then *room is what follows it there. */
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
	const struct vm_lane *at = &env->at;

	*room = 0;
	if (!VMA_IS(addr) || VMA_REGION(addr) != VMA_STORE ||
	    !inside(VMA_REF(addr), at->scratch_ref, env->scratch_used, room))
		return NULL;
	return at->scratch + (VMA_REF(addr) - at->scratch_ref);
}

/* What clauses may write at an address, and how much of it there is. */
static uint8_t *
writable_at(const struct vm_env *env, uint64_t addr, uint64_t *room)
{
	const struct vm_lane *at = &env->at;
	uint8_t *p = vm_scratch_at(env, addr, room);
	uint32_t ref = VMA_REF(addr);

	if (p != NULL)
		return p;
	if (!VMA_IS(addr) || VMA_REGION(addr) != VMA_STORE)
		return NULL;
	if (inside(ref, at->statics_ref, at->image->statics_size, room))
		return at->statics + (ref - at->statics_ref);
	if (inside(ref, at->locals_ref, at->image->locals_size, room))
		return at->locals + (ref - at->locals_ref);
	return vars_writable(env, ref, room);
}

uint8_t *
vm_writable(const struct vm_env *env, uint64_t addr, uint64_t len)
{
	uint64_t room;
	uint8_t *p = writable_at(env, addr, &room);

	return p != NULL && len <= room ? p : NULL;
}

const uint8_t *
vm_readable_at(const struct vm_env *env, uint64_t addr, uint64_t *room)
{
	const struct region *r = &env->image;
	uint64_t ref = VMA_REF(addr), end = r->size;
	const uint8_t *p = vm_scratch_at(env, addr, room);

	if (p != NULL || !VMA_IS(addr))
		return p;
	if (VMA_REGION(addr) == VMA_STORE) {
		/* Around what is allocated of scratch there is nothing. */
		uint64_t gap = env->at.scratch_ref - SCRATCH_GAP;
		r = &env->store;
		end = ref < gap ? VM_MIN(gap, r->size) : r->size;
		if (inside(ref, gap, SCRATCH_GAP + env->at.scratch_size, room))
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
	const struct vm_lane *at = &env->at;
	uint64_t off = env->scratch_used;

	/* Compared before it is rounded up, which could wrap. */
	if (size > at->scratch_size - off ||
	    VM_ALIGN(size) > at->scratch_size - off) {
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
	uint64_t left = env->at.scratch_size - env->scratch_used;
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

/* Length of the string at a VM address, at most `limit'.  Memory that ends
 * ends the string: copyin() gives characters without a NUL.  False when there
 * is none at all. */
static bool
vma_strlen(const struct vm_env *env, uint64_t addr, uint32_t limit,
    const uint8_t **s, uint32_t *len)
{
	uint64_t room;
	uint32_t n = 0;

	*len = 0;
	*s = vm_readable_at(env, addr, &room);
	if (*s == NULL)
		return false;
	while (n < limit && n < room && (*s)[n] != 0)
		n++;
	*len = n;
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
	uint64_t room = env->at.scratch_size - off;
	if (room == 0) {
		vm_fault(env, FLT_NOSCRATCH, 0);
		return -1;
	}
	/* One byte stays for the NUL. */
	uint32_t want = (uint32_t)VM_MIN(room - 1, limit);
	char *s = (char *)env->at.scratch + off;
	int64_t n = want > 0 ? env->ops->load_str(env, addr, s, want) : 0;
	if (n < 0)
		return bad_address(env, addr);
	uint32_t len = 0;
	while (len < (uint64_t)n && s[len] != 0)
		len++;
	if (len == n && len < limit) { /* no NUL, and no room to look on */
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

/* ---- built-in variables ---- */

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
	/* Give back what the text does not need. */
	while (n < size - 1 && s[n] != 0)
		n++;
	s[n] = 0;
	env->scratch_used = used;
	env->scratch_used += vm_string_room(env, n);
	return addr;
}

static int
fill_var(struct vm_env *env, uint64_t id, uint64_t of, char *buf, uint32_t size)
{
	return env->ops->var_str(env, (uint32_t)id, buf, size);
}

static uint64_t
builtin_str(struct vm_env *env, uint32_t id)
{
	return vm_text(env, fill_var, id, 0);
}

static uint64_t
builtin(struct vm_env *env, uint32_t id)
{
	const struct img_probe *p = env->probe;
	uint64_t v = 0;

	switch (id) {
	case DIF_VAR_IPL:
	case DIF_VAR_STACKDEPTH:
	case DIF_VAR_CALLER: return 0; /* a kernel's; we are in none */
	case DIF_VAR_TIMESTAMP: return env->timestamp;
	case DIF_VAR_EPID: return env->epid;
	case DIF_VAR_ID: return p != NULL ? p->id : 0;
	case DIF_VAR_PROBEPROV:
		return p != NULL ? VMA(VMA_IMAGE, p->prov_ref) : 0;
	case DIF_VAR_PROBEMOD:
		return p != NULL ? VMA(VMA_IMAGE, p->mod_ref) : 0;
	case DIF_VAR_PROBEFUNC:
		return p != NULL ? VMA(VMA_IMAGE, p->func_ref) : 0;
	case DIF_VAR_PROBENAME:
		return p != NULL ? VMA(VMA_IMAGE, p->name_ref) : 0;
	case DIF_VAR_EXECNAME:
	case DIF_VAR_EXECARGS:
	case DIF_VAR_CWD:
	case DIF_VAR_ROOT: return builtin_str(env, id);
	}
	if (id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9)
		return args_get(env, id - DIF_VAR_ARG0);
	if (env->ops->var(env, id, &v) != 0)
		vm_fault(env, FLT_ILLOP, id);
	return v;
}

/* D's documented numbers are ours up to 20; then they differ (uregs.h). */
static uint64_t
builtin_ureg(struct vm_env *env, uint64_t n)
{
	static const uint8_t rest[] = { UREG_DS, UREG_ES, UREG_FS, UREG_GS };

	if (n <= UREG_SS)
		return env->ops->reg(env, (unsigned)n);
	if (n >= UREG_RAW && n - UREG_RAW < UREG_ALL)
		return env->ops->reg(env, (unsigned)(n - UREG_RAW));
	if (n - UREG_SS - 1 < sizeof(rest))
		return env->ops->reg(env, rest[n - UREG_SS - 1]);
	if (n - UREG_SS - 1 > sizeof(rest)) /* 25 is R_TRAPNO: not known, 0 */
		vm_fault(env, FLT_ILLOP, n);
	return 0;
}

static uint64_t
builtin_array(struct vm_env *env, uint32_t id, uint64_t n)
{
	uint64_t addr = 0;

	switch (id) {
	case DIF_VAR_ARGS: return args_get(env, n);
	case DIF_VAR_EXTERN:
		if (env->ops->symbol(env, n, &addr) != 0)
			bad_address(env, 0);
		return addr;
	default: return builtin_ureg(env, n);
	}
}

/* ---- the interpreter ---- */

void
vm_fault(struct vm_env *env, enum dif_fault code, uint64_t value)
{
	if (vm_faulted(env))
		return;
	env->fault.code = code;
	env->fault.value = value;
}

int
vm_begin(struct vm_env *env)
{
	struct vm_lane *at = &env->at;
	const struct img_hdr *im = (const void *)env->image.base;
	struct lane *l =
	    region_at8(&env->store, env->lane_ref, sizeof(struct lane));

	env->fault = (struct vm_fault){ FLT_NONE, -1, 0 };
	env->scratch_used = 0;
	env->scan = (struct vm_scan){ 0 };
	if (l == NULL || env->image.size < sizeof(*im))
		return -1;
	at->image = im;
	at->store = store_hdr(&env->store);
	at->lane = l;
	at->statics_ref = LOAD_ONCE(&at->store->statics_ref);
	at->locals_ref = LOAD_ONCE(&l->locals_ref);
	at->scratch_ref = LOAD_ONCE(&l->scratch_ref);
	at->scratch_size = LOAD_ONCE(&l->scratch_size) & ~7U;
	at->statics =
	    region_at8(&env->store, at->statics_ref, im->statics_size);
	at->locals = region_at8(&env->store, at->locals_ref, im->locals_size);
	at->scratch =
	    region_at8(&env->store, at->scratch_ref, at->scratch_size);
	if (at->statics == NULL || at->locals == NULL || at->scratch == NULL) {
		at->lane = NULL;
		return -1;
	}
	memset(at->locals, 0, im->locals_size);
	return 0;
}

/* A load of 1, 2, 4 or 8 bytes, zero-extended. */
static uint64_t
load(struct vm_env *env, uint64_t addr, uint32_t size)
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

static void
store(struct vm_env *env, uint64_t addr, uint64_t v, uint32_t size)
{
	uint8_t *p = vm_writable(env, addr, size);

	if (p != NULL)
		memcpy(p, &v, size);
	else
		bad_address(env, addr);
}

/* r2 bytes from r1 to rd; checked before anything is written. */
static void
copy(struct vm_env *env, uint64_t src, uint64_t len, uint64_t dst)
{
	if (len == 0)
		return;
	uint8_t *p = vm_writable(env, dst, len);
	if (p == NULL)
		bad_address(env, dst);
	else
		vm_copy(env, p, src, len);
}

/* The order of two strings as -1, 0, 1; NULL is "". */
static int
compare(struct vm_env *env, uint64_t a, uint64_t b)
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

static uint64_t
sdiv(struct vm_env *env, int64_t a, int64_t b)
{
	if (b == 0)
		vm_fault(env, FLT_DIVZERO, 0);
	else if (b == -1)
		return -(uint64_t)a; /* INT64_MIN / -1 traps in hardware */
	return b == 0 ? 0 : (uint64_t)(a / b);
}

static uint64_t
srem(struct vm_env *env, int64_t a, int64_t b)
{
	if (b == 0)
		vm_fault(env, FLT_DIVZERO, 0);
	return b == 0 || b == -1 ? 0 : (uint64_t)(a % b);
}

static uint64_t
udivrem(struct vm_env *env, uint64_t a, uint64_t b, bool rem)
{
	if (b == 0) {
		vm_fault(env, FLT_DIVZERO, 0);
		return 0;
	}
	return rem ? a % b : a / b;
}

static void
push(struct vm_env *env, struct vm_tuple *t, uint32_t *n, uint32_t kind,
    uint64_t value, uint64_t size)
{
	if (*n == DIF_TUPLE) {
		vm_fault(env, FLT_TUPOFLOW, 0);
		return;
	}
	t[*n] = (struct vm_tuple){ value, size, kind };
	++*n;
}

/*
 * An instruction that cannot fault goes on with `continue'; one that can
 * leaves the switch, and the flag is looked at there.  Condition codes are the
 * two operands of the last comparison: a signed branch compares them signed,
 * which no set of flags without an overflow bit can do right.
 */
int /* NOLINTNEXTLINE(readability-function-size): one flat switch */
vm_run(struct vm_env *env, const struct img_difo *d, uint64_t *value)
{
	if (env->at.lane == NULL && vm_begin(env) != 0) {
		vm_fault(env, FLT_ILLOP, 0);
		return -1;
	}

	const dif_instr *text = (const void *)(env->image.base + d->text_ref);
	const dif_instr *pc = text;
	const uint64_t *ints = (const void *)(env->image.base + d->ints_ref);
	uint64_t r[DIF_REGS] = { 0 }, ca = 0, cb = 0;
	struct vm_tuple tuple[DIF_TUPLE];
	uint32_t ntuple = 0;
	int order;

	env->fault = (struct vm_fault){ FLT_NONE, -1, 0 };
	for (;;) {
		dif_instr i = *pc++;
#define R1     r[DIF_R1(i)]
#define R2     r[DIF_R2(i)]
#define RD     r[DIF_RD(i)]
#define ID     DIF_INDEX(i)
#define S(x)   ((int64_t)(x))
#define JUMP() (pc = text + DIF_LABEL(i))
		switch ((enum dif_op)DIF_OP_OF(i)) {
		case DIF_OP_OR: RD = R1 | R2; continue;
		case DIF_OP_XOR: RD = R1 ^ R2; continue;
		case DIF_OP_AND: RD = R1 & R2; continue;
		case DIF_OP_SLL: RD = R1 << (R2 & 63); continue;
		case DIF_OP_SRL: RD = R1 >> (R2 & 63); continue;
		case DIF_OP_SRA: RD = (uint64_t)(S(R1) >> (R2 & 63)); continue;
		case DIF_OP_SUB: RD = R1 - R2; continue;
		case DIF_OP_ADD: RD = R1 + R2; continue;
		case DIF_OP_MUL: RD = R1 * R2; continue;
		case DIF_OP_SDIV: RD = sdiv(env, S(R1), S(R2)); break;
		case DIF_OP_UDIV: RD = udivrem(env, R1, R2, false); break;
		case DIF_OP_SREM: RD = srem(env, S(R1), S(R2)); break;
		case DIF_OP_UREM: RD = udivrem(env, R1, R2, true); break;
		case DIF_OP_NOT: RD = ~R1; continue;
		case DIF_OP_MOV: RD = R1; continue;
		case DIF_OP_CMP: ca = R1, cb = R2; continue;
		case DIF_OP_TST: ca = R1 != 0, cb = 0; continue;
		case DIF_OP_SCMP:
			order = compare(env, R1, R2);
			ca = order > 0, cb = order < 0;
			break;
		case DIF_OP_BA: JUMP(); continue;
		case DIF_OP_BE:
			if (ca == cb)
				JUMP();
			continue;
		case DIF_OP_BNE:
			if (ca != cb)
				JUMP();
			continue;
		case DIF_OP_BG:
			if (S(ca) > S(cb))
				JUMP();
			continue;
		case DIF_OP_BGU:
			if (ca > cb)
				JUMP();
			continue;
		case DIF_OP_BGE:
			if (S(ca) >= S(cb))
				JUMP();
			continue;
		case DIF_OP_BGEU:
			if (ca >= cb)
				JUMP();
			continue;
		case DIF_OP_BL:
			if (S(ca) < S(cb))
				JUMP();
			continue;
		case DIF_OP_BLU:
			if (ca < cb)
				JUMP();
			continue;
		case DIF_OP_BLE:
			if (S(ca) <= S(cb))
				JUMP();
			continue;
		case DIF_OP_BLEU:
			if (ca <= cb)
				JUMP();
			continue;
		case DIF_OP_LDSB:
		case DIF_OP_ULDSB:
		case DIF_OP_RLDSB:
			RD = (uint64_t)(int8_t)load(env, R1, 1);
			break;
		case DIF_OP_LDSH:
		case DIF_OP_ULDSH:
		case DIF_OP_RLDSH:
			RD = (uint64_t)(int16_t)load(env, R1, 2);
			break;
		case DIF_OP_LDSW:
		case DIF_OP_ULDSW:
		case DIF_OP_RLDSW:
			RD = (uint64_t)(int32_t)load(env, R1, 4);
			break;
		case DIF_OP_LDUB:
		case DIF_OP_ULDUB:
		case DIF_OP_RLDUB: RD = load(env, R1, 1); break;
		case DIF_OP_LDUH:
		case DIF_OP_ULDUH:
		case DIF_OP_RLDUH: RD = load(env, R1, 2); break;
		case DIF_OP_LDUW:
		case DIF_OP_ULDUW:
		case DIF_OP_RLDUW: RD = load(env, R1, 4); break;
		case DIF_OP_LDX:
		case DIF_OP_ULDX:
		case DIF_OP_RLDX: RD = load(env, R1, 8); break;
		case DIF_OP_RET: *value = RD; return 0;
		case DIF_OP_NOP: continue;
		case DIF_OP_SETX: RD = ints[ID]; continue;
		case DIF_OP_SETS:
			RD = VMA(VMA_IMAGE, d->strs_ref + ID);
			continue;
		case DIF_OP_LDGA:
		case DIF_OP_LDTA: RD = builtin_array(env, DIF_R1(i), R2); break;
		case DIF_OP_LDGS:
			RD = ID < DIF_VAR_USER ?
			    builtin(env, ID) :
			    vars_load(env, DIF_GLOBAL, ID, NULL, 0, false);
			break;
		case DIF_OP_STGS:
			vars_store(env, DIF_GLOBAL, ID, NULL, 0, false, RD);
			break;
		case DIF_OP_LDTS:
			RD = vars_load(env, DIF_THREAD, ID, NULL, 0, false);
			break;
		case DIF_OP_STTS:
			vars_store(env, DIF_THREAD, ID, NULL, 0, false, RD);
			break;
		case DIF_OP_LDLS:
			RD = vars_load(env, DIF_LOCAL, ID, NULL, 0, false);
			break;
		case DIF_OP_STLS:
			vars_store(env, DIF_LOCAL, ID, NULL, 0, false, RD);
			break;
		case DIF_OP_LDGAA:
			RD =
			    vars_load(env, DIF_GLOBAL, ID, tuple, ntuple, true);
			break;
		case DIF_OP_LDTAA:
			RD =
			    vars_load(env, DIF_THREAD, ID, tuple, ntuple, true);
			break;
		case DIF_OP_STGAA:
			vars_store(
			    env, DIF_GLOBAL, ID, tuple, ntuple, true, RD);
			break;
		case DIF_OP_STTAA:
			vars_store(
			    env, DIF_THREAD, ID, tuple, ntuple, true, RD);
			break;
		case DIF_OP_CALL: RD = subr_call(env, ID, tuple, ntuple); break;
		case DIF_OP_PUSHTR:
			push(env, tuple, &ntuple,
			    DIF_R1(i) == DIF_TYPE_STRING ? TUPLE_STRING :
							   TUPLE_BYTES,
			    RD, R2);
			break;
		case DIF_OP_PUSHTV:
			push(env, tuple, &ntuple, TUPLE_VALUE, RD, 0);
			break;
		case DIF_OP_POPTS: ntuple -= ntuple > 0; continue;
		case DIF_OP_FLUSHTS: ntuple = 0; continue;
		case DIF_OP_ALLOCS: {
			uint8_t *mem;
			RD = vm_alloc(env, R1, &mem);
			break;
		}
		case DIF_OP_BOUND:
			if (R1 >= R2)
				vm_fault(env, FLT_BADINDEX, R1);
			break;
		case DIF_OP_COPYS: copy(env, R1, R2, RD); break;
		case DIF_OP_STB: store(env, RD, R1, 1); break;
		case DIF_OP_STH: store(env, RD, R1, 2); break;
		case DIF_OP_STW: store(env, RD, R1, 4); break;
		case DIF_OP_STX: store(env, RD, R1, 8); break;
		case DIF_OP_XLATE:
		case DIF_OP_XLARG:
		case DIF_OP_COUNT: vm_fault(env, FLT_ILLOP, i); break;
		}
#undef R1
#undef R2
#undef RD
#undef ID
#undef S
#undef JUMP
		if (vm_faulted(env)) {
			env->fault.offset = (int32_t)((const char *)(pc - 1) -
			    (const char *)text);
			*value = 0;
			return -1;
		}
	}
}
