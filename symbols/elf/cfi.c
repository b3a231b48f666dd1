/*
 * CFI rules of a load object, by libdw: from .eh_frame, else from .debug_frame
 * of the file or of its separate debug file; in a stripped Go program, from the
 * run time's own table of frames (gosym.c).
 *
 * libdw runs the program of an unwind entry up to an address and describes each
 * register by a DWARF expression. This file converts the common expressions to
 * a kind and an offset, and keeps the result by address, because the same call
 * sites are on most stacks.
 *
 * Invariant: a row is borrowed until the next call for the same object; the
 * expressions in it live as long as the object.
 */
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "symbols/elf/cfi_check.h"

/* A row takes some 200 bytes. When there are this many, all are dropped. */
#ifdef DTRAP_SHRINK
#define ROWS_MOST 2
#else
#define ROWS_MOST 8192
#endif

struct cfi {
	Dwarf_CFI *eh;
	Dwarf *dwarf; /* owns `debug' */
	Dwarf_CFI *debug;
	bool debug_tried;
	struct hash rows; /* address -> struct cfi_row, or &no_row */
};

static struct cfi_row no_row;

/* Convert libdw's description of a register to a rule. */
static void
rule_compile(struct cfi_rule *r, const Dwarf_Op *ops, size_t n)
{
	bool value = n > 0 && ops[n - 1].atom == DW_OP_stack_value;
	size_t body = value ? n - 1 : n;

	if (body == 1 && ops[0].atom == DW_OP_call_frame_cfa) {
		r->kind = value ? CFI_CFA_PLUS : CFI_AT_CFA;
	} else if (body == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
	    ops[1].atom == DW_OP_plus_uconst) {
		r->kind = value ? CFI_CFA_PLUS : CFI_AT_CFA;
		r->offset = (int64_t)ops[1].number;
	} else if (n == 1 && ops[0].atom == DW_OP_regx &&
	    ops[0].number < CFI_REGS) {
		r->kind = CFI_REG;
		r->reg = (uint8_t)ops[0].number;
	} else if (n == 1 && ops[0].atom >= DW_OP_reg0 &&
	    ops[0].atom < DW_OP_reg0 + CFI_REGS) {
		r->kind = CFI_REG;
		r->reg = (uint8_t)(ops[0].atom - DW_OP_reg0);
	} else {
		r->kind = value ? CFI_EXPR : CFI_AT_EXPR;
		r->ops = ops;
		r->op_count = body;
	}
}

/* The rule for the CFA itself: an expression whose result is its value. */
static bool
cfa_compile(Dwarf_Frame *frame, struct cfi_rule *r)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n == 0)
		return false;
	*r = (struct cfi_rule){ 0 };
	if (n == 1 && ops[0].atom == DW_OP_bregx) {
		if (ops[0].number >= CFI_REGS)
			return false;
		r->kind = CFI_REG;
		r->reg = (uint8_t)ops[0].number;
		r->offset = (int64_t)ops[0].number2;
	} else if (n == 1 && ops[0].atom >= DW_OP_breg0 &&
	    ops[0].atom < DW_OP_breg0 + CFI_REGS) {
		r->kind = CFI_REG;
		r->reg = (uint8_t)(ops[0].atom - DW_OP_breg0);
		r->offset = (int64_t)ops[0].number;
	} else {
		r->kind = CFI_EXPR;
		r->ops = ops;
		r->op_count = n;
	}
	return true;
}

static struct cfi_row *
row_compile(Dwarf_Frame *frame)
{
	struct cfi_rule rules[CFI_REGS], cfa;
	struct cfi_row *row;
	unsigned count = 0;
	bool sig = false;
	int ra = dwarf_frame_info(frame, NULL, NULL, &sig);

	if (ra < 0 || ra >= CFI_REGS || !cfa_compile(frame, &cfa))
		return NULL;
	for (int i = 0; i < CFI_REGS; i++) {
		struct cfi_rule *r = &rules[count];
		Dwarf_Op mem[3], *ops;
		size_t n;

		*r = (struct cfi_rule){ .of = (uint8_t)i };
		if (dwarf_frame_register(
			frame, i == CFI_PC ? ra : i, mem, &ops, &n) != 0)
			continue;
		if (n == 0 && ops != NULL && i != CFI_PC)
			continue;
		if (n == 0)
			r->kind = ops == NULL ? CFI_SAME : CFI_UNDEFINED;
		else
			rule_compile(r, ops, n);
		/* The operations are in our own array, which does not outlive
		 * this function. */
		if (n > 0 && ops == mem && r->ops != NULL)
			continue;
		count++;
	}
	row = mem_alloc(sizeof(*row) + count * sizeof(rules[0]));
	row->signal = sig;
	row->cfa = cfa;
	row->count = count;
	memcpy(row->rules, rules, count * sizeof(rules[0]));
	return row;
}

/* Does one of the two files have a .debug_frame?  Opening all of DWARF takes
 * time. */
static const struct elf_file *
debug_frame_file(struct object *o)
{
	const struct elf_file *debug;
	Elf64_Shdr sh;

	if (elf_file_section(&o->file, ".debug_frame", &sh) != NULL ||
	    elf_file_section(&o->file, ".zdebug_frame", &sh) != NULL)
		return &o->file;
	debug = debuglink_of(o);
	if (debug != NULL &&
	    elf_file_section(debug, ".debug_frame", &sh) != NULL)
		return debug;
	return NULL;
}

static void
rows_drop(struct cfi *c)
{
	hash_foreach(e, &c->rows) {
		if (e->value != &no_row)
			mem_free(e->value);
	}
	hash_fini(&c->rows);
}

static void
cfi_fini(void *part)
{
	struct cfi *c = part;

	rows_drop(c);
	if (c->eh != NULL)
		dwarf_cfi_end(c->eh);
	if (c->dwarf != NULL)
		dwarf_end(c->dwarf);
}

static struct cfi *
cfi_of(struct object *o)
{
	struct cfi *c = object_part(o, PART_CFI);

	if (c == NULL) {
		c = object_part_new(o, PART_CFI, sizeof(*c), cfi_fini);
		if (cficheck_eh(&o->file))
			c->eh = dwarf_getcfi_elf(o->file.elf);
		else
			LOG("symbols", "%s: no use for .eh_frame", o->path);
	}
	return c;
}

bool
cfi_is_good(struct object *o)
{
	return cfi_of(o)->eh != NULL;
}

static Dwarf_CFI *
cfi_debug(struct object *o, struct cfi *c)
{
	const struct elf_file *f;

	if (c->debug_tried)
		return c->debug;
	c->debug_tried = true;
	f = debug_frame_file(o);
	if (f != NULL)
		c->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (c->dwarf != NULL && cficheck_debug(f))
		c->debug = dwarf_getcfi(c->dwarf);
	return c->debug;
}

/* A Go function's frame, by the run time's table: everything between the
 * stack pointer and the return address. The table has no rules for other
 * registers. */
static struct cfi_row *
row_of_go(const struct object *o, uint64_t addr)
{
	struct cfi_row *row;
	uint64_t size;

	if (!o->go || gosym_frame(o, addr, &size) != 0)
		return NULL;
	row = mem_zalloc(sizeof(*row) + 2 * sizeof(row->rules[0]));
	row->cfa = (struct cfi_rule){ .kind = CFI_REG,
		.reg = CFI_SP,
		.offset = (int64_t)size + MACHINE_CALL_BYTES };
	row->count = size == 0 ? 2 : 1;
	row->rules[0] = (struct cfi_rule){
		.kind = CFI_AT_CFA, .of = CFI_PC, .offset = -MACHINE_CALL_BYTES
	};
	row->rules[1] = (struct cfi_rule){ .kind = CFI_SAME, .of = CFI_FP };
	return row;
}

static struct cfi_row *
row_make(struct object *o, struct cfi *c, uint64_t addr)
{
	struct cfi_row *row = NULL;
	Dwarf_Frame *frame = NULL;
	Dwarf_CFI *debug;

	if (c->eh != NULL && dwarf_cfi_addrframe(c->eh, addr, &frame) == 0)
		row = row_compile(frame);
	free(frame);
	if (row != NULL)
		return row;
	frame = NULL;
	debug = cfi_debug(o, c);
	if (debug != NULL && dwarf_cfi_addrframe(debug, addr, &frame) == 0)
		row = row_compile(frame);
	free(frame);
	return row != NULL ? row : row_of_go(o, addr);
}

const struct cfi_row *
cfi_row(struct object *o, uint64_t addr)
{
	struct cfi *c = cfi_of(o);
	struct cfi_row *row = hash_get(&c->rows, addr);

	if (row == NULL) {
		if (c->rows.count >= ROWS_MOST)
			rows_drop(c);
		row = object_is_text(o, addr) ? row_make(o, c, addr) : NULL;
		hash_set(&c->rows, addr, row != NULL ? row : &no_row);
	}
	return row == &no_row ? NULL : row;
}

enum frame_kind
object_frame(struct object *o, uint64_t addr)
{
	const struct cfi_row *row = cfi_row(o, addr);

	if (row == NULL)
		return FRAME_UNKNOWN;
	return row->cfa.kind == CFI_REG && row->cfa.reg == CFI_SP &&
		row->cfa.offset == MACHINE_CALL_BYTES ?
	    FRAME_BARE :
	    FRAME_LAID;
}
