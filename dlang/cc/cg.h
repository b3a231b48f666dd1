/*
 * What the files of the code generator share.
 */
#ifndef DLANG_CC_CG_H
#define DLANG_CC_CG_H

#include "dlang/cc/asm.h"
#include "dlang/cc/cc_impl.h"

struct cg {
	struct comp *c;
	struct as as;
	int error; /* a diagnostic was given: what is emitted no longer counts */
};

/* The register with the value; the caller frees it.  By-reference types give
 * the address. */
unsigned cg_expr(struct cg *g, struct node *n);
/* Option `tregs', or the machine, does not have room for the keys at n. */
int cg_too_many_keys(struct comp *c, const struct node *n);
/* Change a value in place from what `n' is to type `to'. */
void cg_convert(
    struct cg *g, unsigned r, const struct node *n, const struct type *to);

/*
 * A whole DIFO for an expression, converted to `to' (NULL: as it is), verified
 * and listed.
 */
int cg_difo(struct comp *c, struct node *n, struct type *to, struct difo **out);

/* cg_act.c: one statement into the clause under way. */
struct cg_clause {
	struct comp *c;
	struct prog_clause *clause;
	VEC(struct prog_act) acts;
	VEC(struct prog_stmt) stmts;
	uint32_t off; /* end of the record so far */
	bool marks;   /* something has to be seen by the consumer */
	bool quiet;   /* something that alone records nothing */
};

int cg_stmt(struct cg_clause *k, struct node *stmt);

#endif
