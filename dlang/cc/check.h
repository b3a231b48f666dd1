/*
 * What the three files of the checker share.
 */
#ifndef DLANG_CC_CHECK_H
#define DLANG_CC_CHECK_H

#include "dlang/cc/cc_impl.h"

int check_var(struct comp *c, struct node *n);
/* The left side of `=', `++' and the like; declared with `type' if new. */
int check_target(struct comp *c, const struct node *n, struct node *to,
    struct type *type);
int check_writable(struct comp *c, const struct node *n,
    const struct node *to);
int check_operator(struct comp *c, struct node *n);

#endif
