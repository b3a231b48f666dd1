/*
 * Reads arguments by their locations.  A probe without a site has its arguments
 * in the words of the hit; all others use the table of the site.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/args.h"

#include "dlang/vm/vm_impl.h"

/* Keep the low `size' bytes, extended as the location says. */
static uint64_t
extend(const struct argloc *a, uint64_t v)
{
	switch (a->size) {
	case 1: return a->is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case 2: return a->is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 4: return a->is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	}
	return v;
}

static uint64_t
reg(struct vm_env *env, uint8_t n)
{
	return n < UREG_COUNT ? vm_reg(env, n) : 0;
}

/* Read `size' bytes at addr.  False if they cannot be read. */
static bool
load(struct vm_env *env, const struct argloc *a, uint64_t addr, uint64_t *v)
{
	*v = 0;
	if (addr == 0 ||
	    env->ops->load(env, addr, v, a->size <= 8 ? a->size : 8) != 0)
		return false;
	*v = extend(a, *v);
	return true;
}

/* base + index * scale + disp */
static uint64_t
sum(struct vm_env *env, const struct argloc *a)
{
	uint64_t addr = (uint64_t)a->disp;

	if (a->reg != ARGLOC_NOREG)
		addr += reg(env, a->reg);
	if (a->index != ARGLOC_NOREG)
		addr += reg(env, a->index) * a->scale;
	return addr;
}

/* The address that is read at base + the low half of disp, plus the high
 * half. */
static uint64_t
via(struct vm_env *env, const struct argloc *a)
{
	const struct argloc word = { .size = 8 };
	uint64_t at = reg(env, a->reg) + (uint64_t)(int64_t)(int32_t)a->disp;
	uint64_t v;

	if (!load(env, &word, at, &v)) {
		vm_fault(env, FLT_BADADDR, at);
		return 0;
	}
	return v + (uint64_t)(a->disp >> 32);
}

/* The value at addr, or a fault. */
static uint64_t
at(struct vm_env *env, const struct argloc *a, uint64_t addr)
{
	uint64_t v;

	if (!load(env, a, addr, &v))
		vm_fault(env, FLT_BADADDR, addr);
	return v;
}

static uint64_t
evaluate(struct vm_env *env, const struct argloc *a)
{
	uint64_t v = 0, addr = (uint64_t)a->disp;

	switch ((enum argloc_kind)a->kind) {
	case ARGLOC_NONE: vm_fault(env, FLT_ILLOP, 0); break;
	case ARGLOC_ZERO: break;
	case ARGLOC_REG: return extend(a, reg(env, a->reg) >> (a->shift & 63));
	case ARGLOC_CONST: return (uint64_t)a->disp;
	case ARGLOC_MEM: return at(env, a, sum(env, a));
	case ARGLOC_SUM: return extend(a, sum(env, a));
	case ARGLOC_VIA: return at(env, a, via(env, a));
	case ARGLOC_VIA_SUM: return extend(a, via(env, a));
	case ARGLOC_STACK:
		addr += reg(env, UREG_SP);
		if (!load(env, a, addr, &v))
			v = 0;
		break;
	case ARGLOC_HIT:
		if (addr < VM_ARGS)
			v = extend(a, env->hit[addr]);
		break;
	}
	return v;
}

uint64_t
args_get(struct vm_env *env, uint64_t n)
{
	if (env->args == NULL)
		return n < VM_ARGS ? env->hit[n] : 0;
	return n < env->nargs ? evaluate(env, &env->args[n]) : 0;
}
