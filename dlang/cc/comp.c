/*
 * Used by every pass of the compiler: a diagnostic at a node, a copy of a tree.
 */
#include <stdarg.h>

#include "dlang/cc/cc_impl.h"

int
comp_error(struct comp *c, enum diag_tag tag, const struct node *at,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int error =
	    diag_verror(c->diags, tag, at != NULL ? &at->span : NULL, fmt, ap);
	va_end(ap);
	return error;
}

static int
count_node(struct node *n, void *ctx)
{
	(*(unsigned long *)ctx)++;
	return 0;
}

struct node *
comp_copy(struct comp *c, const struct node *n)
{
	node_walk((struct node *)(uintptr_t)n, count_node, &c->copies);
	if (c->copies > COPIES_MAX) {
		comp_error(c, D_UNKNOWN, n,
		    "the program is too large: inlines and descriptions "
		    "multiply it beyond %d nodes",
		    COPIES_MAX);
		return NULL;
	}
	return node_copy(&c->cc->arena, n);
}
