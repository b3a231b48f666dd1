/*
 * The machine: addresses, scratch, strings, and the interpreter loop.
 *
 * Invariant: an address from a register becomes memory in vm_readable(),
 * vm_writable() and vm_scratch_at() and nowhere else; every other address goes
 * to the environment as a number.  The image may be read, never written; of
 * the store, what clauses may write is listed in vm_writable().
 *
 * vm_run() checks nothing that the verifier has checked: registers, tables,
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
	const struct lane_view *at = &env->at;

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
		if ((p = vars_writable(&own->self, ref, room)) != NULL)
			return p;
	}
	if (VMA_REGION(addr) != VMA_STORE)
		return NULL;
	if (inside(ref, at->statics_ref, at->statics_size, room))
		return at->statics + (ref - at->statics_ref);
	return vars_writable(&at->dyn, ref, room);
}

uint8_t *
vm_writable(const struct vm_env *env, uint64_t addr, uint64_t len)
{
	uint64_t room;
	uint8_t *p = writable_at(env, addr, &room);

	return p != NULL && len <= room ? p : NULL;
}

/* Of a lane of a thread store: what is the thread's. */
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
		/* Around what is allocated of scratch there is nothing. */
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

	/* Compared before it is rounded up, which could wrap. */
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
	uint64_t room = env->scratch_size - off;
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
	case DIF_VAR_TIMESTAMP: vm_when(env); return env->timestamp;
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
	if (env->ops->var(env, id, &v) != 0)
		vm_fault(env, FLT_ILLOP, id);
	return v;
}

uint64_t
vm_reg(struct vm_env *env, unsigned ureg)
{
	if (env->regs != NULL && ureg < UREG_COUNT)
		return env->regs->r[ureg];
	return env->ops->reg(env, ureg);
}

static uint64_t
builtin_ureg(struct vm_env *env, uint64_t n)
{
	if (n >= UREG_RAW && n - UREG_RAW < UREG_ALL)
		return vm_reg(env, (unsigned)(n - UREG_RAW));
	if (n >= UREG_D_COUNT)
		vm_fault(env, FLT_ILLOP, n);
	else if (ureg_of_d(n) < UREG_COUNT)
		return vm_reg(env, ureg_of_d(n));
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

bool
vm_open(struct vm_env *env, uint32_t lane)
{
	store_view(&env->image, &env->store, lane, &env->at);
	return vm_begin(env) == 0;
}

int
vm_begin(struct vm_env *env)
{
	const struct lane_view *at = &env->at;

	if (at->lane == NULL)
		return -1;
	env->fault = (struct vm_fault){ FLT_NONE, -1, 0 };
	env->scratch_used = 0;
	env->scratch_size = at->scratch_size;
	env->scan.begun = false;
	if (at->image->locals_size != 0)
		memset(vm_own(env)->locals, 0, at->image->locals_size);
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

/* Argument n: of most probes it is a whole register, and that is at hand. */
static inline uint64_t
arg(struct vm_env *env, uint32_t n)
{
	const struct argloc *a = &env->args[n];

	if (env->args == NULL)
		return env->hit[n];
	if (n < env->nargs && a->kind == ARGLOC_REG && a->size == 8 &&
	    a->shift == 0 && env->regs != NULL && a->reg < UREG_COUNT)
		return env->regs->r[a->reg];
	return args_get(env, n);
}

static_assert(DIF_VAR_ARG9 - DIF_VAR_ARG0 == VM_ARGS - 1, "words of a hit");

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "vm_run() takes the bytes of an instruction from the lowest up");

static inline uint64_t
global(struct vm_env *env, uint32_t id)
{
	if (id >= DIF_VAR_USER)
		return vars_load(env, DIF_GLOBAL, id, NULL, 0, false);
	if (id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9)
		return arg(env, id - DIF_VAR_ARG0);
	return builtin(env, id);
}

/*
 * The loop goes from the end of one instruction straight to the next one's
 * code, by a table of where that begins: NEXT.  What can fault ends with
 * CHECKED, which looks at the flag.  Opcodes that do not exist, and those that
 * never reach the machine, are `none'.
 *
 * Condition codes are the two operands of the last comparison: a signed branch
 * compares them signed, which no set of flags without an overflow bit can do
 * right.
 */
int /* NOLINTNEXTLINE(readability-function-size): one flat table */
vm_run(struct vm_env *env, const struct img_difo *d, uint64_t *value)
{
	/* Differences, as addresses would have to be relocated in the agent. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpointer-arith"
#define AT(op) [DIF_OP_##op] = (int32_t)(&&op_##op - &&none)
	/* cppcheck-suppress internalAstError ; it knows no address of a label */
	static const int32_t code[256] = { AT(OR), AT(XOR), AT(AND), AT(SLL),
		AT(SRL), AT(SUB), AT(ADD), AT(MUL), AT(SDIV), AT(UDIV),
		AT(SREM), AT(UREM), AT(NOT), AT(MOV), AT(CMP), AT(TST), AT(BA),
		AT(BE), AT(BNE), AT(BG), AT(BGU), AT(BGE), AT(BGEU), AT(BL),
		AT(BLU), AT(BLE), AT(BLEU), AT(LDSB), AT(LDSH), AT(LDSW),
		AT(LDUB), AT(LDUH), AT(LDUW), AT(LDX), AT(RET), AT(NOP),
		AT(SETX), AT(SETS), AT(SCMP), AT(LDGA), AT(LDGS), AT(STGS),
		AT(LDTA), AT(LDTS), AT(STTS), AT(SRA), AT(CALL), AT(PUSHTR),
		AT(PUSHTV), AT(POPTS), AT(FLUSHTS), AT(LDGAA), AT(LDTAA),
		AT(STGAA), AT(STTAA), AT(LDLS), AT(STLS), AT(ALLOCS), AT(COPYS),
		AT(STB), AT(STH), AT(STW), AT(STX), AT(ULDSB), AT(ULDSH),
		AT(ULDSW), AT(ULDUB), AT(ULDUH), AT(ULDUW), AT(ULDX), AT(RLDSB),
		AT(RLDSH), AT(RLDSW), AT(RLDUB), AT(RLDUH), AT(RLDUW), AT(RLDX),
		AT(BOUND) };
#undef AT
#pragma GCC diagnostic pop

	if (env->at.lane == NULL) {
		vm_fault(env, FLT_ILLOP, 0);
		return -1;
	}

	const uint8_t *text = env->image.base + d->text_ref, *pc = text;
	const uint64_t *ints = (const void *)(env->image.base + d->ints_ref);
	uint64_t r[DIF_REGS] = { 0 }, ca = 0, cb = 0;
	struct vm_tuple tuple[DIF_TUPLE];
	uint32_t ntuple = 0;
	uint8_t *mem;
	int order;

	env->fault = (struct vm_fault){ FLT_NONE, -1, 0 };
	/* pc is at the instruction that runs.  Its fields are bytes, which are
	 * loaded one by one: cheaper than to take the word apart. */
#define WORD (*(const dif_instr *)(const void *)pc)
#define R1   r[pc[2]]
#define R2   r[pc[1]]
#define RD   r[pc[0]]
#define ID   DIF_INDEX(WORD)
#define S(x) ((int64_t)(x))
#define RUN  goto *(const void *)((const char *)&&none + code[pc[3]])
#define NEXT                             \
	do {                             \
		pc += sizeof(dif_instr); \
		RUN;                     \
	} while (0)
#define CHECKED                                               \
	do {                                                  \
		if (__builtin_expect(vm_faulted(env), false)) \
			goto fault;                           \
		NEXT;                                         \
	} while (0)
#define BRANCH(if_so)                                            \
	do {                                                     \
		if (!(if_so))                                    \
			NEXT;                                    \
		pc = text + sizeof(dif_instr) * DIF_LABEL(WORD); \
		RUN;                                             \
	} while (0)

	RUN;

	/* clang-format off */
op_OR: RD = R1 | R2; NEXT;
op_XOR: RD = R1 ^ R2; NEXT;
op_AND: RD = R1 & R2; NEXT;
op_SLL: RD = R1 << (R2 & 63); NEXT;
op_SRL: RD = R1 >> (R2 & 63); NEXT;
op_SRA: RD = (uint64_t)(S(R1) >> (R2 & 63)); NEXT;
op_SUB: RD = R1 - R2; NEXT;
op_ADD: RD = R1 + R2; NEXT;
op_MUL: RD = R1 * R2; NEXT;
op_NOT: RD = ~R1; NEXT;
op_MOV: RD = R1; NEXT;
op_SDIV: RD = sdiv(env, S(R1), S(R2)); CHECKED;
op_UDIV: RD = udivrem(env, R1, R2, false); CHECKED;
op_SREM: RD = srem(env, S(R1), S(R2)); CHECKED;
op_UREM: RD = udivrem(env, R1, R2, true); CHECKED;
op_CMP: ca = R1, cb = R2; NEXT;
op_TST: ca = R1 != 0, cb = 0; NEXT;
op_SCMP:
	order = compare(env, R1, R2);
	ca = order > 0, cb = order < 0;
	CHECKED;
op_BOUND: if (R1 >= R2) vm_fault(env, FLT_BADINDEX, R1); CHECKED;
op_BA: BRANCH(true);
op_BE: BRANCH(ca == cb);
op_BNE: BRANCH(ca != cb);
op_BG: BRANCH(S(ca) > S(cb));
op_BGU: BRANCH(ca > cb);
op_BGE: BRANCH(S(ca) >= S(cb));
op_BGEU: BRANCH(ca >= cb);
op_BL: BRANCH(S(ca) < S(cb));
op_BLU: BRANCH(ca < cb);
op_BLE: BRANCH(S(ca) <= S(cb));
op_BLEU: BRANCH(ca <= cb);
op_NOP: NEXT;
op_RET: *value = RD; return 0;
op_SETX: RD = ints[ID]; NEXT;
op_SETS: RD = VMA(VMA_IMAGE, d->strs_ref + ID); NEXT;
op_LDSB: op_ULDSB: op_RLDSB: RD = (uint64_t)(int8_t)load(env, R1, 1); CHECKED;
op_LDSH: op_ULDSH: op_RLDSH:
	RD = (uint64_t)(int16_t)load(env, R1, 2);
	CHECKED;
op_LDSW: op_ULDSW: op_RLDSW:
	RD = (uint64_t)(int32_t)load(env, R1, 4);
	CHECKED;
op_LDUB: op_ULDUB: op_RLDUB: RD = load(env, R1, 1); CHECKED;
op_LDUH: op_ULDUH: op_RLDUH: RD = load(env, R1, 2); CHECKED;
op_LDUW: op_ULDUW: op_RLDUW: RD = load(env, R1, 4); CHECKED;
op_LDX: op_ULDX: op_RLDX: RD = load(env, R1, 8); CHECKED;
op_STB: store(env, RD, R1, 1); CHECKED;
op_STH: store(env, RD, R1, 2); CHECKED;
op_STW: store(env, RD, R1, 4); CHECKED;
op_STX: store(env, RD, R1, 8); CHECKED;
op_ALLOCS: RD = vm_alloc(env, R1, &mem); CHECKED;
op_COPYS: copy(env, R1, R2, RD); CHECKED;
op_LDGA: op_LDTA: RD = builtin_array(env, pc[2], R2); CHECKED;
op_LDGS: RD = global(env, ID); CHECKED;
op_LDTS: RD = vars_load(env, DIF_THREAD, ID, NULL, 0, false); CHECKED;
op_LDLS: RD = vars_load(env, DIF_LOCAL, ID, NULL, 0, false); CHECKED;
op_LDGAA: RD = vars_load(env, DIF_GLOBAL, ID, tuple, ntuple, true); CHECKED;
op_LDTAA: RD = vars_load(env, DIF_THREAD, ID, tuple, ntuple, true); CHECKED;
op_STGS: vars_store(env, DIF_GLOBAL, ID, NULL, 0, false, RD); CHECKED;
op_STTS: vars_store(env, DIF_THREAD, ID, NULL, 0, false, RD); CHECKED;
op_STLS: vars_store(env, DIF_LOCAL, ID, NULL, 0, false, RD); CHECKED;
op_STGAA: vars_store(env, DIF_GLOBAL, ID, tuple, ntuple, true, RD); CHECKED;
op_STTAA: vars_store(env, DIF_THREAD, ID, tuple, ntuple, true, RD); CHECKED;
op_CALL: RD = subr_call(env, ID, tuple, ntuple); CHECKED;
op_PUSHTR:
	push(env, tuple, &ntuple,
	    pc[2] == DIF_TYPE_STRING ? TUPLE_STRING : TUPLE_BYTES, RD, R2);
	CHECKED;
op_PUSHTV: push(env, tuple, &ntuple, TUPLE_VALUE, RD, 0); CHECKED;
op_POPTS: ntuple -= ntuple > 0; NEXT;
op_FLUSHTS: ntuple = 0; NEXT;
	/* clang-format on */
none:
	vm_fault(env, FLT_ILLOP, WORD);
fault:
	env->fault.offset = (int32_t)(pc - text);
	*value = 0;
	return -1;
#undef WORD
#undef RUN
#undef R1
#undef R2
#undef RD
#undef ID
#undef S
#undef NEXT
#undef CHECKED
#undef BRANCH
}
