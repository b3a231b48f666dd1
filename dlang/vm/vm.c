/*
 * The machine: built-in variables and the interpreter loop.
 *
 * vm_run() does not repeat checks of the verifier: registers, tables, branch
 * targets and the final `ret' are valid (verify.c has the list). Branches only
 * go forward, so a run ends.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/vm.h"

#include "dlang/vm/args.h"
#include "dlang/vm/subr.h"
#include "dlang/vm/vars.h"
#include "dlang/vm/vm_impl.h"

/* ---- built-in variables ---- */

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
	case DIF_VAR_CALLER: return 0; /* of a kernel only */
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
	case DIF_VAR_VMNAME:
	case DIF_VAR_ROOT: return builtin_str(env, id);
	}
	if (env->ops->var(env, id, &v) != 0)
		vm_fault(env, FLT_ILLOP, id);
	return v;
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

uint64_t
vm_array(struct vm_env *env, uint32_t id, uint64_t n)
{
	uint64_t addr = 0;

	switch (id) {
	case DIF_VAR_ARGS: return args_get(env, n);
	case DIF_VAR_EXTERN:
		if (env->ops->symbol(env, n, &addr) != 0)
			vm_fault(env, FLT_BADADDR, 0);
		return addr;
	default: return builtin_ureg(env, n);
	}
}

/* ---- the interpreter ---- */

bool
vm_open(struct vm_env *env, uint32_t lane)
{
	store_view(&env->image, &env->store, lane, &env->at);
	return vm_begin(env) == 0;
}

int
vm_go_on(struct vm_env *env)
{
	const struct lane_view *at = &env->at;

	if (at->lane == NULL)
		return -1;
	env->fault = (struct vm_fault){ FLT_NONE, -1, 0 };
	env->scratch_used = 0;
	env->scratch_size = at->scratch_size;
	env->scan.begun = false;
	return 0;
}

int
vm_begin(struct vm_env *env)
{
	if (vm_go_on(env) != 0)
		return -1;
	if (env->at.image->locals_size != 0)
		memset(vm_own(env)->locals, 0, env->at.image->locals_size);
	return 0;
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

/* Argument n.  In most probes it is a whole register, which is read
 * directly. */
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

uint64_t
vm_builtin(struct vm_env *env, uint32_t id)
{
	if (id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9)
		return arg(env, id - DIF_VAR_ARG0);
	return builtin(env, id);
}

static inline uint64_t
global(struct vm_env *env, uint32_t id)
{
	if (id >= DIF_VAR_USER)
		return vars_load(env, DIF_GLOBAL, id, NULL, 0, false);
	return vm_builtin(env, id);
}

int
vm_eval(struct vm_env *env, const struct img_difo *d, uint64_t *value)
{
	if (env->code == NULL || d->code == 0)
		return vm_run(env, d, value);
	int (*fn)(struct vm_env *, const struct img_difo *, uint64_t *) =
	    (int (*)(struct vm_env *, const struct img_difo *, uint64_t *))(
		uintptr_t)(env->code + d->code);
	return fn(env, d, value);
}

/*
 * Each instruction ends with a jump directly to the code of the next one, by a
 * table of addresses: NEXT. One that can fault ends with CHECKED, which tests
 * the flag.  Opcodes that do not exist or never reach the machine are `none'.
 *
 * The condition codes are the two operands of the last comparison.  A signed
 * branch compares them as signed numbers, which a set of flags without an
 * overflow bit cannot do.
 */
int /* NOLINTNEXTLINE(readability-function-size): one flat table */
vm_run(struct vm_env *env, const struct img_difo *d, uint64_t *value)
{
	/* Differences of addresses, because addresses would need relocations in
	 * the agent. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpointer-arith"
	static const int32_t code[256] = {
#define DIF_OP(n, NAME, text, form) [n] = (int32_t)(&&op_##NAME - &&none),
#include "dlang/dif_ops.def"
#undef DIF_OP
	};
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
	/* pc is the running instruction.  Its fields are bytes, which are
	 * loaded one by one: this is faster than to split the word. */
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
	order = vm_compare(env, R1, R2);
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
op_LDSB: op_ULDSB: op_RLDSB: RD = (uint64_t)(int8_t)vm_load(env, R1, 1); CHECKED;
op_LDSH: op_ULDSH: op_RLDSH:
	RD = (uint64_t)(int16_t)vm_load(env, R1, 2);
	CHECKED;
op_LDSW: op_ULDSW: op_RLDSW:
	RD = (uint64_t)(int32_t)vm_load(env, R1, 4);
	CHECKED;
op_LDUB: op_ULDUB: op_RLDUB: RD = vm_load(env, R1, 1); CHECKED;
op_LDUH: op_ULDUH: op_RLDUH: RD = vm_load(env, R1, 2); CHECKED;
op_LDUW: op_ULDUW: op_RLDUW: RD = vm_load(env, R1, 4); CHECKED;
op_LDX: op_ULDX: op_RLDX: RD = vm_load(env, R1, 8); CHECKED;
op_STB: vm_store(env, RD, R1, 1); CHECKED;
op_STH: vm_store(env, RD, R1, 2); CHECKED;
op_STW: vm_store(env, RD, R1, 4); CHECKED;
op_STX: vm_store(env, RD, R1, 8); CHECKED;
op_ALLOCS: RD = vm_alloc(env, R1, &mem); CHECKED;
op_COPYS: vm_copy_to(env, R1, R2, RD); CHECKED;
op_LDGA: op_LDTA: RD = vm_array(env, pc[2], R2); CHECKED;
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
op_XLATE: op_XLARG: /* never reach the VM */
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
