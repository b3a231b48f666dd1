/*
 * C declarations to types: shared by decl.c and sou.c.
 */
#ifndef DLANG_CC_DECL_H
#define DLANG_CC_DECL_H

#include "dlang/cc/cc_impl.h"

/* The result of a declarator. */
struct declared {
	const char *name; /* NULL: abstract */
	struct node *at;  /* the name's node */
	struct type *type;
	bool external; /* set by the caller: `[]' without a size is allowed */
	bool assoc;    /* an associative array: `type' is that of its values */
	bool bare_array; /* `[]', or an array of constant size; inlines refuse
			  * it */
	struct type **keys;
	struct node *params; /* N_PARAM list of the signature */
	size_t nkeys;
};

/* The type of specifiers.  The caller handles storage classes. */
int decl_specs(struct comp *c, struct node *specs, struct type **out);
/* Apply a declarator (NULL: none) to a base type. */
int decl_declarator(
    struct comp *c, struct node *d, struct type *base, struct declared *out);
/* Refuse void and incomplete objects. */
int decl_object(struct comp *c, const struct declared *d);

/* A parameter.  With `decay' arrays become pointers, as in C. */
int decl_param(
    struct comp *c, struct node *p, bool decay, struct declared *out);

/*
 * decl_prov.c: the declaration of the probe that a description means, by the
 * provider declarations of the program.  NULL if there is none, several fit, or its
 * args[] are not what the traced program passes (a second list): for that the probe
 * itself must be there.
 */
const struct prog_sdt_probe *decl_probe(
    const struct comp *c, const struct probe_desc *pd);

/* sou.c: struct, union and enum specifiers, defined or named. */
int decl_tag(struct comp *c, struct node *n, struct type **out);

#endif
