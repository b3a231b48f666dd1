/*
 * What the files of the checker share.
 */
#ifndef DLANG_CC_CHECK_H
#define DLANG_CC_CHECK_H

#include "dlang/cc/cc_impl.h"

static inline enum type_kind
kind_of(const struct node *n)
{
	return type_resolve(n->type)->kind;
}

static inline bool
is_arith(const struct node *n)
{
	return type_is_integer(n->type);
}

static inline bool
is_pointer(const struct node *n)
{
	enum type_kind k = kind_of(n);

	return k == TYPE_POINTER || k == TYPE_ARRAY;
}

static inline bool
is_zero(const struct node *n)
{
	return n->kind == N_INT && n->value == 0 && is_arith(n);
}

static inline struct type *
pointee(const struct node *n)
{
	return type_resolve(type_resolve(n->type)->base);
}

/* A call of an action or aggregating function, which gives no value. */
static inline bool
is_action(const struct node *n)
{
	return n->kind == N_CALL && n->ident != NULL &&
	    (n->ident->kind == ID_ACTION || n->ident->kind == ID_AGGFUNC);
}

/* An object that only a translator knows: its members have values. */
static inline bool
is_translated(const struct node *n)
{
	while (n->kind == N_INLINE)
		n = n->a;
	return n->kind == N_XLATE;
}

/* A pointer into scratch memory? */
static inline bool
is_scratch(const struct node *n)
{
	return (n->flags & NF_ALLOCA) != 0;
}

/* D_ACT_SPEC */
int check_destructive_after_speculate(struct comp *c, const struct node *n);
/*
 * Is this surely no pointer into scratch?  A variable is what it was assigned
 * so far, and nothing in scratch outlives its clause; but what was stored in
 * memory or in an array may be anything.
 */
bool never_scratch(const struct node *n);

/* Each expression of a list. */
int check_list(struct comp *c, struct node *list);
/* Its length. */
size_t check_count(const struct node *list);
/* The wrong number of arguments, and the type of one. */
int check_mismatch(
    struct comp *c, enum diag_tag tag, const struct node *n, const char *what);
int check_wrong_arg(struct comp *c, const struct node *arg, const char *name,
    const char *brackets, size_t i, const struct type *want);
/* Argument #i of an action on aggregations. */
int check_agg_arg(struct comp *c, const struct node *n, struct node *a,
    size_t i, enum diag_tag not_agg, enum diag_tag unknown);
/* check_printf.c */
int check_printf(struct comp *c, struct node *n);
int check_printa(struct comp *c, struct node *n);
/* D_UNKNOWN: what is called means something in a kernel only. */
int check_kernel_only(struct comp *c, const struct node *n);
int check_subr(struct comp *c, struct node *n);
#define NAME_MAX_TEXT 160 /* of a type in a message */

/* In place, as the node may be a member of a list. */
void check_become_int(struct node *n, uint64_t value, struct type *type);

/* `CONSTANT ? x : y' becomes what the constant chooses.  That stands there alone:
 * it may be an action, and the other need not be known here.  Programs have
 * their options that way. */
int check_choice(struct comp *c, struct node *n);

/* check_name.c */
int check_name(struct comp *c, struct node *n);
int check_var(struct comp *c, struct node *n);
int check_index(struct comp *c, struct node *n);
/* check_memory.c */
int check_member(struct comp *c, struct node *n);
int check_element(struct comp *c, struct node *n);
int check_deref(struct comp *c, struct node *n);
int check_address(struct comp *c, struct node *n);
/* check_type.c */
int check_cast(struct comp *c, struct node *n);
int check_sizeof(struct comp *c, struct node *n);
int check_offsetof(struct comp *c, struct node *n);

/* The left side of `=', `++' and the like; declared with `type' if new. */
int check_target(
    struct comp *c, const struct node *n, struct node *to, struct type *type);
int check_writable(struct comp *c, const struct node *n, const struct node *to);
int check_operator(struct comp *c, struct node *n);
int check_assign(struct comp *c, struct node *n);
/* D_OP_INCOMPAT about the operands of n; suffix is "=" for `op='. */
int check_incompatible(struct comp *c, const struct node *n,
    const struct node *a, const struct node *b, const char *suffix);

#endif
