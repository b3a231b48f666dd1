/*
 * Shared by cg_expr.c and cg_place.c: code for variables, keys, memory, and the
 * places that assignments write to.
 */
#ifndef DLANG_CC_CG_PLACE_H
#define DLANG_CC_CG_PLACE_H

#include "dlang/cc/cg.h"

#define KEYS_MAX (DIF_TUPLE + 1)

static inline enum type_kind
kind_of(const struct type *t)
{
	return type_resolve((struct type *)(uintptr_t)t)->kind;
}

/* ---- cg_expr.c ---- */

/* Must a value of this size be extended in a register?  True for 1, 2 and 4. */
bool cg_is_int_size(uint32_t size);
/* Extend the low `size' bytes of r, in place. */
void cg_extend(struct cg *g, unsigned r, uint32_t size, bool is_signed);

/* ---- variables ---- */

struct difo_var cg_describe_var(
    const struct ident *id, const struct type *type);
void cg_load_var(
    struct cg *g, const struct ident *id, const struct type *type, unsigned r);

/* The address of a symbol of the target, in a register. */
unsigned cg_symbol_address(struct cg *g, const struct ident *id);

/* Element `index' of a built-in array of numbers. */
unsigned cg_builtin_at(struct cg *g, const char *name, uint32_t id,
    struct type *type, uint64_t index);

/* A local variable at the probe: its value or its address. */
unsigned cg_local(struct cg *g, const struct ident *id);
/* args[n] from its place by the calling convention.  The register has the
 * value, or the address of the object. */
unsigned cg_argument(struct cg *g, struct node *n);

/* copyinstr() or copyin() of the memory that a view (view.h) describes. */
unsigned cg_view(struct cg *g, struct node *n, enum dif_subr subr);

/* ---- keys and arguments ---- */

struct cg_keys {
	struct node *list;
	struct type *const
	    *types; /* convert to these types; NULL: do not convert */
	unsigned reg[KEYS_MAX];
	size_t n;
	bool late; /* too many for the registers: evaluate when pushed */
};

void cg_eval_keys(struct cg *g, const struct node *at, struct cg_keys *k);
void cg_push_keys(struct cg *g, struct cg_keys *k);
void cg_free_keys(struct cg *g, struct cg_keys *k);
void cg_access_assoc(
    struct cg *g, const struct ident *id, unsigned r, bool store);

/* ---- memory ---- */

/* r = r op value */
void cg_op_const(struct cg *g, enum dif_op op, unsigned r, uint64_t value);
void cg_load(struct cg *g, unsigned r, const struct type *t, bool userland);
/* The distance between two elements, in bytes. */
uint64_t cg_element_size(const struct node *n);
unsigned cg_address(struct cg *g, struct node *n);
unsigned cg_load_lvalue(struct cg *g, struct node *n);
/* Reduce the value in r to what bit-field n holds after its assignment.  Does
 * nothing if n is not a bit-field. */
void cg_cut_bits(struct cg *g, unsigned r, const struct node *n);

/* ---- places ---- */

/* The left side of an assignment: evaluated once, then read and written. */
struct cg_place {
	struct node *n;
	struct ident *id;    /* variable, or NULL: memory */
	struct cg_keys keys; /* ID_ASSOC */
	unsigned addr;       /* memory */
};

void cg_place_open(struct cg *g, struct node *n, struct cg_place *p);
unsigned cg_place_load(struct cg *g, struct cg_place *p);
void cg_place_store(struct cg *g, struct cg_place *p, unsigned r);
void cg_place_close(struct cg *g, struct cg_place *p);

#endif
