/*
 * Where a variable is at an instruction, as an argument location.
 *
 * A DWARF expression is a program for a stack machine. It is run here, when the
 * probe is created, on values that are not known yet: sums of registers and
 * constants, and at most one pointer that is read. Most expressions of
 * compilers have this form and become a location that costs as much at a hit as
 * an argument. Any other expression is refused, with a reason.
 *
 * The frame base of most functions is the CFA: a register plus an offset, by
 * the unwind rule for the instruction.
 */

#include <dwarf.h>

#include "symbols/dwarf/entries.h"
#include "symbols/dwarf/dwarf_scope.h"

/* What is not a number yet. */
struct sum {
	bool known; /* else nothing is known of it */
	bool relative;
	uint8_t base, index, scale; /* registers (enum ureg), as in argloc */
	/* The value is the pointer at base + via, plus disp. */
	bool through;
	int64_t via;
	int64_t disp;
	uint8_t bytes; /* bytes that were read through the pointer; 0: none */
};

enum { PLACE_NONE, PLACE_MEMORY, PLACE_REGISTER, PLACE_VALUE };

/* An expression being run. */
struct machine {
	struct object *o;
	uint64_t addr;
	Dwarf_Die *func;
	Dwarf_Attribute *attr;
	bool in_frame_base; /* a frame base has none itself */
	bool of_frame;      /* the frame base was asked for */
	struct sum stack[8];
	unsigned depth;
	enum dwarf_have why; /* DWARF_HAVE as long as all is well */
	/* The result. */
	int place;
	uint8_t reg;
};

static void
refuse(struct machine *m, enum dwarf_have why)
{
	if (m->why == DWARF_HAVE)
		m->why = why;
}

static struct sum
number(int64_t n)
{
	return (struct sum){ .known = true,
		.base = ARGLOC_NOREG,
		.index = ARGLOC_NOREG,
		.scale = 1,
		.disp = n };
}

static void
push(struct machine *m, struct sum v)
{
	if (m->depth == ARRAY_SIZE(m->stack))
		refuse(m, DWARF_COMPUTED);
	else
		m->stack[m->depth++] = v;
}

static struct sum
pop(struct machine *m)
{
	if (m->depth == 0) {
		refuse(m, DWARF_COMPUTED);
		return number(0);
	}
	return m->stack[--m->depth];
}

static bool
is_number(const struct sum *v)
{
	return v->base == ARGLOC_NOREG && v->index == ARGLOC_NOREG &&
	    !v->through && !v->relative && v->bytes == 0;
}

static void
push_register(struct machine *m, uint64_t dwarf, int64_t offset)
{
	struct sum v = number(offset);

	if (dwarf >= CFI_REGS) {
		refuse(m, DWARF_VECTOR);
		return;
	}
	v.base = machine_uregs[dwarf];
	push(m, v);
}

/* ---- frames ---- */

static void
push_cfa(struct machine *m)
{
	const struct cfi_row *row = cfi_row(m->o, m->addr);
	struct sum v;

	if (row == NULL || row->cfa.kind != CFI_REG) {
		refuse(m, DWARF_COMPUTED);
		return;
	}
	v = number(row->cfa.offset);
	v.base = machine_uregs[row->cfa.reg];
	push(m, v);
}

static void run(struct machine *m, const Dwarf_Op *ops, size_t n);

/* If the frame base is a register, it is valid only when the function has set
 * that register. The unwind rules say when. */
static bool
is_frame_up(struct machine *m, uint8_t reg)
{
	const struct cfi_row *row = cfi_row(m->o, m->addr);

	return row != NULL && row->cfa.kind == CFI_REG &&
	    machine_uregs[row->cfa.reg] == reg;
}

static void
push_frame(struct machine *m, int64_t offset)
{
	struct machine base = { .o = m->o,
		.addr = m->addr,
		.func = m->func,
		.in_frame_base = true };
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	m->of_frame = true;
	if (m->in_frame_base ||
	    dwarf_attr_integrate(m->func, DW_AT_frame_base, &attr) == NULL ||
	    dwarf_getlocation_addr(&attr, m->addr, &ops, &n, 1) != 1) {
		refuse(m, DWARF_COMPUTED);
		return;
	}
	base.attr = &attr;
	run(&base, ops, n);
	struct sum v = base.depth > 0 ? base.stack[base.depth - 1] : number(0);
	if (base.place == PLACE_REGISTER) {
		v = number(0);
		v.base = base.reg;
		if (base.reg == machine_uregs[CFI_FP] &&
		    !is_frame_up(m, base.reg))
			refuse(m, DWARF_NOT_YET);
	}
	refuse(m, base.why);
	v.disp = (int64_t)((uint64_t)v.disp + (uint64_t)offset);
	push(m, v);
}

/* ---- operations ---- */

static void
add(struct machine *m, bool minus)
{
	struct sum b = pop(m), a = pop(m), r;

	if (minus) {
		if (!is_number(&b))
			refuse(m, DWARF_COMPUTED);
		b.disp = (int64_t) - (uint64_t)b.disp;
	} else if (is_number(&a)) {
		r = a, a = b, b = r;
	}
	r = a;
	r.disp = (int64_t)((uint64_t)a.disp + (uint64_t)b.disp);
	/* A location has room for two registers, one of them scaled. With a
	 * pointer it has room for one. */
	if (!is_number(&b)) {
		if (a.through || b.through || a.index != ARGLOC_NOREG ||
		    (b.index != ARGLOC_NOREG && b.base != ARGLOC_NOREG) ||
		    (a.relative && b.relative))
			refuse(m, DWARF_COMPUTED);
		bool scaled = b.index != ARGLOC_NOREG;
		r.index = scaled ? b.index : b.base;
		r.scale = scaled ? b.scale : 1;
		r.relative |= b.relative;
	}
	if (a.bytes != 0 || b.bytes != 0)
		refuse(m, DWARF_COMPUTED);
	push(m, r);
}

/* Multiply by 1, 2, 4 or 8: an address may be scaled by these. */
static void
scale(struct machine *m, uint64_t by)
{
	struct sum v = pop(m);

	if (is_number(&v)) {
		v.disp = (int64_t)((uint64_t)v.disp * by);
	} else if ((by == 1 || by == 2 || by == 4 || by == 8) && !v.through &&
	    !v.relative && v.disp == 0 && v.bytes == 0 &&
	    v.index == ARGLOC_NOREG) {
		v.index = v.base;
		v.base = ARGLOC_NOREG;
		v.scale = (uint8_t)by;
	} else {
		refuse(m, DWARF_COMPUTED);
	}
	push(m, v);
}

/* shl and mul take the factor from the stack. */
static void
scale_by_top(struct machine *m, bool shift)
{
	struct sum by = pop(m);

	if (!is_number(&by) || (shift && (by.disp < 0 || by.disp > 63)))
		refuse(m, DWARF_COMPUTED);
	else
		scale(m, shift ? 1ULL << by.disp : (uint64_t)by.disp);
}

static void
deref(struct machine *m, uint64_t size)
{
	struct sum v = pop(m), r = number(0);

	/* The last read is done by the location itself; it can also do one
	 * before. */
	if (v.bytes != 0 || size > 8 || (size & (size - 1)) != 0) {
		refuse(m, DWARF_COMPUTED);
		return;
	}
	if (size == 8 && !v.through && !v.relative && v.base != ARGLOC_NOREG &&
	    v.index == ARGLOC_NOREG && v.disp == (int32_t)v.disp) {
		r.base = v.base;
		r.through = true;
		r.via = v.disp;
	} else {
		r = v;
		r.bytes = (uint8_t)size;
	}
	push(m, r);
}

static void
constant(struct machine *m, const Dwarf_Op *op)
{
	Dwarf_Attribute value;
	Dwarf_Addr at;
	struct sum v = number((int64_t)op->number);

	switch (op->atom) {
	case DW_OP_addr: v.relative = true; break;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		if (dwarf_getlocation_attr(m->attr, op, &value) != 0 ||
		    dwarf_formaddr(&value, &at) != 0)
			refuse(m, DWARF_COMPUTED);
		else
			v.disp = (int64_t)at;
		v.relative = true;
		break;
	default: break;
	}
	push(m, v);
}

static void
in_register(struct machine *m, uint64_t dwarf)
{
	if (dwarf >= CFI_REGS) {
		refuse(m,
		    machine_vector(dwarf, NULL) ? DWARF_VECTOR :
						  DWARF_COMPUTED);
		return;
	}
	m->place = PLACE_REGISTER;
	m->reg = machine_uregs[dwarf];
}

/* The other operations: they give the kind of the place. */
static void
special(struct machine *m, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_regx: in_register(m, op->number); break;
	case DW_OP_stack_value: m->place = PLACE_VALUE; break;
	case DW_OP_piece:
	case DW_OP_bit_piece: refuse(m, DWARF_PIECES); break;
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value: refuse(m, DWARF_ENTRY); break;
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address: refuse(m, DWARF_TLS); break;
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer: refuse(m, DWARF_AWAY); break;
	default: refuse(m, DWARF_COMPUTED);
	}
}

static void
step(struct machine *m, const Dwarf_Op *op)
{
	struct sum v;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		push(m, number(op->atom - DW_OP_lit0));
		return;
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		push_register(m, op->atom - DW_OP_breg0, (int64_t)op->number);
		return;
	}
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		in_register(m, op->atom - DW_OP_reg0);
		return;
	}
	if (dwarf_op_is_constant(op->atom)) {
		constant(m, op);
		return;
	}
	switch (op->atom) {
	case DW_OP_addr:
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index: constant(m, op); break;
	case DW_OP_bregx:
		push_register(m, op->number, (int64_t)op->number2);
		break;
	case DW_OP_fbreg: push_frame(m, (int64_t)op->number); break;
	case DW_OP_call_frame_cfa: push_cfa(m); break;
	case DW_OP_dup:
		v = pop(m);
		push(m, v);
		push(m, v);
		break;
	case DW_OP_plus_uconst:
		push(m, number((int64_t)op->number));
		add(m, false);
		break;
	case DW_OP_plus: add(m, false); break;
	case DW_OP_minus: add(m, true); break;
	case DW_OP_shl: scale_by_top(m, true); break;
	case DW_OP_mul: scale_by_top(m, false); break;
	case DW_OP_deref: deref(m, 8); break;
	case DW_OP_deref_size: deref(m, op->number); break;
	case DW_OP_nop: break;
	default: special(m, op); break;
	}
}

static void
run(struct machine *m, const Dwarf_Op *ops, size_t n)
{
	/* A piece operation follows the expression of each piece. */
	for (size_t i = 0; i < n; i++)
		if (ops[i].atom == DW_OP_piece ||
		    ops[i].atom == DW_OP_bit_piece)
			refuse(m, DWARF_PIECES);
	for (size_t i = 0; i < n && m->why == DWARF_HAVE; i++) {
		if (m->place != PLACE_NONE) {
			refuse(m, DWARF_COMPUTED); /* what follows the end? */
			break;
		}
		step(m, &ops[i]);
	}
	if (m->why != DWARF_HAVE || m->place == PLACE_REGISTER)
		return;
	if (m->depth == 0)
		refuse(m, DWARF_COMPUTED);
	else if (m->place == PLACE_NONE)
		m->place = PLACE_MEMORY;
}

/* ---- results ---- */

static uint64_t
cut(uint64_t v, uint8_t size, bool is_signed)
{
	switch (size) {
	case 1: return is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case 2: return is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 4: return is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	default: return v;
	}
}

/* The location whose value is the sum or, with `load', what is in memory at
 * that address. */
static bool
locate(const struct sum *v, bool load, struct argloc *a)
{
	a->reg = v->base;
	a->index = v->index;
	a->scale = v->scale;
	a->disp = v->disp;
	if (v->through) {
		if (v->disp != (int32_t)v->disp)
			return false;
		a->kind = load ? ARGLOC_VIA : ARGLOC_VIA_SUM;
		a->disp = ARGLOC_VIA_DISP(v->via, v->disp);
	} else if (load) {
		a->kind = ARGLOC_MEM;
	} else {
		a->kind = ARGLOC_SUM;
	}
	return true;
}

static void
result_memory(const struct machine *m, struct dwarf_local *out, bool byref)
{
	const struct sum *v = &m->stack[m->depth - 1];
	struct argloc at = { .size = 8 };

	if (v->bytes != 0 || !locate(v, false, &at) ||
	    !locate(v, true, &out->value_loc)) {
		out->value = out->place = DWARF_COMPUTED;
		return;
	}
	out->relative = v->relative;
	out->place_loc = at;
	out->place = DWARF_HAVE;
	if (byref)
		out->value_loc = at;
}

static void
result_value(const struct machine *m, struct dwarf_local *out)
{
	const struct sum *v = &m->stack[m->depth - 1];
	struct argloc *a = &out->value_loc;
	uint8_t size = a->size;

	out->place = DWARF_VALUE;
	out->relative = v->relative;
	if (is_number(v)) {
		a->kind = ARGLOC_CONST;
		a->disp =
		    (int64_t)cut((uint64_t)v->disp, size, a->is_signed != 0);
	} else if (v->bytes == 0) {
		if (!locate(v, false, a))
			out->value = DWARF_COMPUTED;
	} else if (!locate(v, true, a)) {
		out->value = DWARF_COMPUTED;
	} else {
		/* Fewer bytes were read: the value has only those. */
		a->size = MIN(size, v->bytes);
		a->is_signed = a->is_signed && size <= v->bytes;
	}
}

static void
result(const struct machine *m, struct dwarf_local *out, bool byref)
{
	out->value = m->why;
	out->place = m->why;
	if (m->why != DWARF_HAVE)
		return;
	switch (m->place) {
	case PLACE_MEMORY: result_memory(m, out, byref); break;
	case PLACE_REGISTER:
		out->place = DWARF_REGISTER;
		out->value_loc.kind = ARGLOC_REG;
		out->value_loc.reg = m->reg;
		if (byref)
			out->value = DWARF_REGISTER;
		break;
	case PLACE_VALUE:
		result_value(m, out);
		if (byref)
			out->value = DWARF_VALUE;
		break;
	default: out->value = out->place = DWARF_COMPUTED; break;
	}
}

/* The compiler knows the value: it needs no place. */
static bool
known_value(Dwarf_Die *var, struct dwarf_local *out, bool byref)
{
	Dwarf_Attribute attr;
	Dwarf_Word u;
	Dwarf_Sword s;
	struct argloc *a = &out->value_loc;

	if (dwarf_attr_integrate(var, DW_AT_const_value, &attr) == NULL)
		return false;
	out->place = DWARF_VALUE;
	if (a->is_signed ? dwarf_formsdata(&attr, &s) == 0 :
			   dwarf_formudata(&attr, &u) == 0) {
		a->kind = ARGLOC_CONST;
		a->disp = (int64_t)cut(
		    a->is_signed ? (uint64_t)s : u, a->size, a->is_signed != 0);
		out->value = byref ? DWARF_VALUE : DWARF_HAVE;
	} else {
		out->value = DWARF_COMPUTED; /* a block of bytes */
	}
	return true;
}

/* A place in the frame that is given for the whole function is not valid before
 * the function has stored the value there. */
static bool
holds_everywhere(Dwarf_Attribute *attr)
{
	switch (dwarf_whatform(attr)) {
	case DW_FORM_exprloc:
	case DW_FORM_block:
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4: return true;
	default: return false; /* a list, by address */
	}
}

/* What the caller has stored on the stack is valid from the first instruction
 * on. */
static bool
is_callers(const struct machine *m)
{
	const struct cfi_row *row = cfi_row(m->o, m->addr);

	if (m->why != DWARF_HAVE || m->place != PLACE_MEMORY || row == NULL ||
	    row->cfa.kind != CFI_REG)
		return false;
	const struct sum *v = &m->stack[m->depth - 1];
	return !v->through && v->index == ARGLOC_NOREG &&
	    v->base == machine_uregs[row->cfa.reg] &&
	    v->disp >= row->cfa.offset;
}

/* A parameter in the prologue, or before it: the place to which the caller
 * passed it. */
static void
mind_prologue(struct machine *m, struct dwarf_scopes *s, Dwarf_Die *var)
{
	uint8_t reg = ARGLOC_NOREG;
	int64_t offset;

	if (!m->of_frame || !s->own ||
	    dwarf_tag(var) != DW_TAG_formal_parameter ||
	    !holds_everywhere(m->attr) || !dwarf_in_prologue(s, m->addr) ||
	    is_callers(m))
		return;
	m->why = dwarf_passed(s, var, m->addr, &reg, &offset);
	m->place = reg != ARGLOC_NOREG ? PLACE_REGISTER : PLACE_MEMORY;
	m->reg = reg;
	m->depth = 0;
	push_register(m, CFI_SP, offset);
}

void
dwarf_place(struct object *o, struct dwarf_scopes *s, Dwarf_Die *var,
    uint64_t addr, struct dwarf_local *out)
{
	struct type *t = type_resolve(out->type);
	bool byref = type_is_byref(t) || t->kind == TYPE_FORWARD;
	struct dif_type d = type_dif(t);
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;
	struct machine m = {
		.o = o, .addr = addr, .func = &s->at[0], .attr = &attr
	};

	out->value_loc = (struct argloc){ .size = byref ? 8 : (uint8_t)d.size,
		.is_signed = d.is_signed };
	out->value = out->place = DWARF_AWAY;
	if (dwarf_attr(var, DW_AT_location, &attr) == NULL) {
		known_value(var, out, byref);
		return;
	}
	if (dwarf_getlocation_addr(&attr, addr, &ops, &n, 1) != 1 || n == 0)
		return;
	run(&m, ops, n);
	mind_prologue(&m, s, var);
	result(&m, out, byref);
	if (!byref && out->value == DWARF_HAVE && t->size != 1 &&
	    t->size != 2 && t->size != 4 && t->size != 8)
		out->value = DWARF_LARGE;
}
