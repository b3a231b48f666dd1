/*
 * Shared by the files of the code generator.
 */
#ifndef DLANG_CC_CG_H
#define DLANG_CC_CG_H

#include "dlang/cc/asm.h"
#include "dlang/cc/cc_impl.h"

struct cg {
	struct comp *c;
	struct as as;
	int error; /* a diagnostic was reported: the output will not be used */
};

/* Generate code for n.  Returns the register with the value (for by-reference
 * types the address); the caller frees it. */
unsigned cg_expr(struct cg *g, struct node *n);
/* Report that n has more keys than option `tregs' or the VM allows. */
int cg_too_many_keys(struct comp *c, const struct node *n);
/* Convert the value of n, in register r, to type `to'. */
void cg_convert(
    struct cg *g, unsigned r, const struct node *n, const struct type *to);

/*
 * Make a verified DIFO for an expression, converted to `to' (NULL: not
 * converted), and print it for -S.
 */
int cg_difo(struct comp *c, struct node *n, struct type *to, struct difo **out);

/* cg_act.c: the clause for which code is being generated. */
struct cg_clause {
	struct comp *c;
	struct prog_clause *clause;
	VEC(struct prog_act) acts;
	VEC(struct prog_stmt) stmts;
	uint32_t off; /* end of the record so far */
	bool marks;   /* an action for the consumer: the record must exist */
	bool quiet;   /* an action that alone makes no record */
};

int cg_stmt(struct cg_clause *k, struct node *stmt);

#endif
