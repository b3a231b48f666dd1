/*
 * Where arg0 and on are at a site of the pid provider.
 */
#include <string.h>

#include "dlang/argloc.h"
#include "dlang/base/base.h"
#include "dlang/types.h"
#include "symbols/addrspace.h"
#include "symbols/golang.h"
#include "tracer/base/probe.h"
#include "tracer/names/prototype.h"
#include "tracer/prov/pid/pid_impl.h"

#define REG_ARG(ureg)                                                        \
	{                                                                    \
		.kind = ARGLOC_REG, .size = 8, .is_signed = 1, .reg = (ureg) \
	}
#define STACK_ARG(off)                                                         \
	{                                                                      \
		.kind = ARGLOC_STACK, .size = 8, .is_signed = 1, .disp = (off) \
	}
#define ABI_REGS                                                 \
	REG_ARG(UREG_RDI), REG_ARG(UREG_RSI), REG_ARG(UREG_RDX), \
	    REG_ARG(UREG_RCX), REG_ARG(UREG_R8), REG_ARG(UREG_R9)
#define GO_REGS                                                     \
	REG_ARG(UREG_RAX), REG_ARG(UREG_RBX), REG_ARG(UREG_RCX),    \
	    REG_ARG(UREG_RDI), REG_ARG(UREG_RSI), REG_ARG(UREG_R8), \
	    REG_ARG(UREG_R9), REG_ARG(UREG_R10), REG_ARG(UREG_R11)

/* x86-64 ABI: six in registers, the rest above the return address... */
static const struct argloc entry_args[] = { ABI_REGS, STACK_ARG(8),
	STACK_ARG(16), STACK_ARG(24), STACK_ARG(32) };
/* ... which, inside a function, is not accounted for. */
static const struct argloc offset_args[] = { ABI_REGS, STACK_ARG(0),
	STACK_ARG(8), STACK_ARG(16), STACK_ARG(24) };

/* Go: nine in registers, or all of them on the stack (tracer/names/x86_64/abi_go.c).
 * Results are in the same registers; those on the stack stand behind the
 * arguments, and debug information tells how large these are. */
static const struct argloc go_args[] = { GO_REGS, STACK_ARG(8) };
static const struct argloc go_offset_args[] = { GO_REGS, STACK_ARG(0) };
static const struct argloc go_stack_args[] = { STACK_ARG(8), STACK_ARG(16),
	STACK_ARG(24), STACK_ARG(32), STACK_ARG(40), STACK_ARG(48),
	STACK_ARG(56), STACK_ARG(64), STACK_ARG(72), STACK_ARG(80) };
static const struct argloc unknown_args[PID_ARGS] = { { .kind = ARGLOC_NONE } };

static_assert(ARRAY_SIZE(go_args) == PID_ARGS, "");

static void
copy_args(struct argloc *to, const struct argloc *from)
{
	memcpy(to, from, PID_ARGS * sizeof(*to));
}

static enum go_calls
go_calls_of(const struct probe *p, const struct pid_place *pl)
{
	const struct load *l = pl->place.load;

	return go_func(l->object, pl->place.addr - l->bias, p->func).calls;
}

/* arg0 and on where the function begins, or inside of it. */
static void
begin_args(enum go_calls go, struct argloc *args)
{
	switch (go) {
	case GO_NOT: copy_args(args, entry_args); break;
	case GO_REGISTERS: copy_args(args, go_args); break;
	case GO_STACK: copy_args(args, go_stack_args); break;
	case GO_UNKNOWN: copy_args(args, unknown_args); break;
	}
}

static void
inside_args(enum go_calls go, struct argloc *args)
{
	copy_args(args, go == GO_REGISTERS ? go_offset_args : offset_args);
}

/*
 * The words of results on the stack, from args[1] on: as many as the types of the
 * results fill, and none where one of these or of the arguments is not known.
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
		if (at->kind != ARGPLACE_MEM || at->reg != UREG_RSP)
			return;
		begin = MIN(begin, at->disp);
		end = MAX(end,
		    at->disp + (int64_t)type_resolve(t.args[i].native)->size);
	}
	for (size_t i = 1; i < PID_ARGS && begin < end; i++, begin += 8)
		args[i] = (struct argloc)STACK_ARG(begin);
}

/* arg0 is the offset, the others are the results; how many there are. */
static uint32_t
return_args(struct state *st, const struct probe *p, const struct pid_place *pl,
    int64_t offset, struct argloc *args)
{
	enum go_calls go = go_calls_of(p, pl);

	args[0] =
	    (struct argloc){ .kind = ARGLOC_CONST, .size = 8, .disp = offset };
	switch (go) {
	case GO_REGISTERS:
		memcpy(args + 1, go_args, (PID_ARGS - 1) * sizeof(*args));
		return PID_ARGS;
	case GO_STACK:
		memcpy(args + 1, unknown_args, (PID_ARGS - 1) * sizeof(*args));
		stack_results(st, p, pl, args);
		return PID_ARGS;
	case GO_UNKNOWN:
		memcpy(args + 1, unknown_args, (PID_ARGS - 1) * sizeof(*args));
		return PID_ARGS;
	case GO_NOT: break;
	}
	args[1] = (struct argloc)REG_ARG(UREG_RAX);
	args[2] = (struct argloc)REG_ARG(UREG_RBX);
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
