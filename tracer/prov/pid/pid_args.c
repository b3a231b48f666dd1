/*
 * The places of arg0, arg1, ... at a site of the pid provider.
 */
#include <string.h>

#include "dlang/argloc.h"
#include "dlang/base/base.h"
#include "dlang/base/machine.h"
#include "dlang/types.h"
#include "symbols/addrspace.h"
#include "symbols/golang.h"
#include "tracer/base/probe.h"
#include "tracer/names/abi.h"
#include "tracer/names/prototype.h"
#include "tracer/prov/pid/pid_impl.h"

static struct argloc
reg_arg(unsigned ureg)
{
	return (struct argloc){ .kind = ARGLOC_REG,
		.size = 8,
		.is_signed = 1,
		.reg = (uint8_t)ureg };
}

/* The n-th argument on the stack; the first is at sp + off. */
static struct argloc
stack_arg(unsigned n, int64_t off)
{
	return (struct argloc){ .kind = ARGLOC_STACK,
		.size = 8,
		.is_signed = 1,
		.disp = off + 8 * n };
}

static void
unknown_args(struct argloc *args, size_t n)
{
	memset(args, 0, n * sizeof(*args));
	static_assert(ARGLOC_NONE == 0, "");
}

/* Arguments that are not in registers are above the return address.  Inside a
 * function their place is not known. */
static void
c_args(struct argloc *args, bool inside)
{
	for (unsigned i = 0; i < PID_ARGS; i++)
		args[i] = i < UREG_ARGS ?
		    reg_arg(ureg_arg(i)) :
		    stack_arg(i - UREG_ARGS, inside ? 0 : MACHINE_CALL_BYTES);
}

/* Go: arguments are in registers first (abi_go.c of the machine), or all on the
 * stack.  Results are in the same registers; on the stack they follow the
 * arguments, whose size the debug information has. */
static void
go_args(struct argloc *args, bool inside)
{
	unsigned in_regs = 0;
	uint8_t reg;

	for (unsigned i = 0; i < PID_ARGS; i++)
		if (abi_go_register(i, &reg)) {
			args[i] = reg_arg(reg);
			in_regs = i + 1;
		} else {
			args[i] = stack_arg(
			    i - in_regs, inside ? 0 : MACHINE_CALL_BYTES);
		}
}

static void
go_stack_args(struct argloc *args)
{
	for (unsigned i = 0; i < PID_ARGS; i++)
		args[i] = stack_arg(i, MACHINE_CALL_BYTES);
}

static enum go_calls
go_calls_of(const struct probe *p, const struct pid_place *pl)
{
	const struct load *l = pl->place.load;

	return go_func(l->object, pl->place.addr - l->bias, p->func).calls;
}

/* The arguments at the entry of a function, or inside it. */
static void
begin_args(enum go_calls go, struct argloc *args)
{
	switch (go) {
	case GO_NOT: c_args(args, false); break;
	case GO_REGISTERS: go_args(args, false); break;
	case GO_STACK: go_stack_args(args); break;
	case GO_UNKNOWN: unknown_args(args, PID_ARGS); break;
	}
}

/* Inside a function the distance from sp to the arguments is not known. */
static void
inside_args(enum go_calls go, struct argloc *args)
{
	switch (go) {
	case GO_NOT: c_args(args, true); break;
	case GO_REGISTERS: go_args(args, true); break;
	case GO_STACK:
	case GO_UNKNOWN: unknown_args(args, PID_ARGS); break;
	}
}

/*
 * The words of results on the stack, from args[1] on: as many as the types of
 * the results need; none if one of these, or of the arguments, is not known.
 */
static void
stack_results(struct state *st, const struct probe *p,
    const struct pid_place *pl, struct argloc *args)
{
	int64_t begin = INT64_MAX, end = 0;
	struct typed_args t = { 0 };

	prototype_args(st, pl->place.load, pl->place.addr, p->func, true, &t);
	for (size_t i = 1; i < t.n; i++) {
		const struct argplace *at = &t.args[i].place;
		if (at->kind == ARGPLACE_EMPTY)
			continue;
		if (at->kind != ARGPLACE_MEM || at->reg != UREG_SP)
			return;
		begin = MIN(begin, at->disp);
		end = MAX(end,
		    at->disp + (int64_t)type_resolve(t.args[i].native)->size);
	}
	for (size_t i = 1; i < PID_ARGS && begin < end; i++, begin += 8)
		args[i] = stack_arg(0, begin);
}

/* arg0 is the offset, the others are results.  Returns the number of
 * arguments. */
static uint32_t
return_args(struct state *st, const struct probe *p, const struct pid_place *pl,
    int64_t offset, struct argloc *args)
{
	enum go_calls go = go_calls_of(p, pl);
	struct argloc results[PID_ARGS];

	args[0] =
	    (struct argloc){ .kind = ARGLOC_CONST, .size = 8, .disp = offset };
	switch (go) {
	case GO_REGISTERS:
		go_args(results, false);
		memcpy(args + 1, results, (PID_ARGS - 1) * sizeof(*args));
		return PID_ARGS;
	case GO_STACK:
		unknown_args(args + 1, PID_ARGS - 1);
		stack_results(st, p, pl, args);
		return PID_ARGS;
	case GO_UNKNOWN: unknown_args(args + 1, PID_ARGS - 1); return PID_ARGS;
	case GO_NOT: break;
	}
	args[1] = reg_arg(UREG_RESULT);
	args[2] = reg_arg(UREG_RESULT_2);
	return 3;
}

uint32_t
pid_args(struct state *st, const struct probe *p, const struct pid_place *pl,
    int64_t offset, struct argloc *args)
{
	const struct pid_probe *pp = p->data;

	switch (pp->kind) {
	case PID_ENTRY: begin_args(go_calls_of(p, pl), args); break;
	case PID_RETURN: return return_args(st, p, pl, offset, args);
	case PID_OFFSET:
	case PID_LINE:
	case PID_INLINE: inside_args(go_calls_of(p, pl), args); break;
	}
	return PID_ARGS;
}
