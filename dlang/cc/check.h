/*
 * Shared by the files of the checker (check*.c).  A check function returns 0,
 * or -EINVAL after a diagnostic.
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

/* The result of a translator: only its members have values. */
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

/* Report a destructive action behind speculate() (D_ACT_SPEC). */
int check_destructive_after_speculate(struct comp *c, const struct node *n);
/*
 * Is this certainly not a pointer into scratch?  For a variable that depends on
 * the assignments so far; scratch ends with its clause.  A value loaded from
 * memory or from an array may be any pointer.
 */
bool never_scratch(const struct node *n);

/* Check each expression of a list. */
int check_list(struct comp *c, struct node *list);
/* Report a wrong number of arguments, and an argument of the wrong type. */
int check_mismatch(
    struct comp *c, enum diag_tag tag, const struct node *n, const char *what);
int check_wrong_arg(struct comp *c, const struct node *arg, const char *name,
    const char *brackets, size_t i, const struct type *want);
/* Check that argument #i of an action is an aggregation. */
int check_agg_arg(struct comp *c, const struct node *n, struct node *a,
    size_t i, enum diag_tag not_agg, enum diag_tag unknown);
/* check_printf.c */
int check_printf(struct comp *c, struct node *n);
int check_printa(struct comp *c, struct node *n);
/* Report a function that has a meaning only in a kernel (D_UNKNOWN). */
int check_kernel_only(struct comp *c, const struct node *n);
int check_subr(struct comp *c, struct node *n);
#define NAME_MAX_TEXT 160 /* of a type in a message */

/* Change a node to an integer, in place, because it may be a member of a
 * list. */
void check_become_int(struct node *n, uint64_t value, struct type *type);

/* Replace `CONSTANT ?  x : y' by the chosen operand.  That may be an action,
 * and the names in the other need not exist.  Programs use this for their
 * options. */
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

/* Check the left side of `=', `++' and so on.  A new variable gets `type'. */
int check_target(
    struct comp *c, const struct node *n, struct node *to, struct type *type);
int check_writable(struct comp *c, const struct node *n, const struct node *to);
int check_operator(struct comp *c, struct node *n);
int check_assign(struct comp *c, struct node *n);
/* Report the operands of n (D_OP_INCOMPAT); suffix is "=" for `op='. */
int check_incompatible(struct comp *c, const struct node *n,
    const struct node *a, const struct node *b, const char *suffix);

#endif
