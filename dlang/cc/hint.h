/*
 * Advice about the error that was just reported, added by diag_hint().  Each
 * function returns -EINVAL, and adds nothing if it has no advice.
 */
#ifndef DLANG_CC_HINT_H
#define DLANG_CC_HINT_H

#include <stdbool.h>

#include "dlang/cc/scope.h"
#include "dlang/fmt.h"

struct comp;
struct lexer;
struct node;
struct proto;
struct source;
struct span;
struct type;
struct xlator;

/* The name is not a variable (of this scope). */
int hint_variable(struct comp *c, enum dif_scope scope, const char *name);
int hint_function(struct comp *c, const char *name);
int hint_agg(struct comp *c, const char *name);
int hint_member(struct comp *c, const struct type *t, const char *name);
/* The translator does not define this member of its destination. */
int hint_conversion(struct comp *c, const struct xlator *x, const char *name);
int hint_type(struct comp *c, const char *name);
/* The same if the error message does not say that the name should be a type. */
int hint_no_type(struct comp *c, const char *name);
/* A tag, like struct pt, that is declared but not defined. */
int hint_tag(struct comp *c, const char *full);
/* Setting the option failed with that error. */
int hint_option(struct comp *c, const char *name, int error);
/* The word is not in the list of allowed words, which ends with NULL. */
int hint_word(struct comp *c, const char *name, const char *const *list);

/* Show how the function is called; for an array or aggregation, how it was used
 * before. */
int hint_form(struct comp *c, const struct ident *id, const struct proto *p);
/* The argument does not have type `want'. */
int hint_argument(
    struct comp *c, const struct node *arg, const struct type *want);
/* The value does not fit a conversion of printf().  With `key': a key of the
 * aggregation `arg' does not fit one of printa(). */
int hint_value(
    struct comp *c, enum fmt_class class, const struct node *arg, bool key);
/* The operands do not fit: was the right one meant to be a string in quotes? */
int hint_quotes(
    struct comp *c, unsigned op, const struct node *a, const struct node *b);
/* The function is used as a value, but has none. */
int hint_call(struct comp *c, const struct ident *id);
/* The operand of ++ or -- cannot be incremented. */
int hint_step(struct comp *c, const struct node *n);
/* The two operands do not fit together. */
int hint_operands(
    struct comp *c, unsigned op, const struct node *a, const struct node *b);

/* Show the text behind "usage:" in the program's first comment. */
int hint_usage(struct comp *c);
/* There is no $name, or the argument $n was not given. */
int hint_macro(struct comp *c, const char *name);

/* Report a character that is allowed only in strings and comments, with its
 * name and its replacement.  s has n > 0 bytes.  This one also reports the
 * error. */
int hint_character(
    struct comp *c, const struct span *at, const char *s, size_t n);

/* The parser stopped with a syntax error at that text.  NULL: it has reported a
 * reason. */
void hint_syntax(struct lexer *lx, const char *text);

#endif
