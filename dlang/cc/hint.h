/*
 * What to do about a mistake: words behind the sentence that was just reported
 * (diag_hint).  All of them return -EINVAL, and say nothing where there is
 * nothing to say.
 */
#ifndef DLANG_CC_HINT_H
#define DLANG_CC_HINT_H

#include <stdbool.h>
#include <stdint.h>

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

/* A name that is no variable, with or without self-> or this->. */
int hint_variable(struct comp *c, enum dif_scope scope, const char *name);
int hint_function(struct comp *c, const char *name);
int hint_agg(struct comp *c, const char *name);
int hint_member(struct comp *c, const struct type *t, const char *name);
/* A member of the destination that the translator says nothing of. */
int hint_conversion(struct comp *c, const struct xlator *x, const char *name);
int hint_type(struct comp *c, const char *name);
/* The same where the sentence does not say that it is one. */
int hint_no_type(struct comp *c, const char *name);
/* A tag, as struct pt, that is declared and not defined. */
int hint_tag(struct comp *c, const char *full);
/* Setting the option ended with that error. */
int hint_option(struct comp *c, const char *name, int error);
/* A word of which there are so many, up to a NULL. */
int hint_word(struct comp *c, const char *name, const char *const *list);

/* How is the function called?  With keys: how was it so far? */
int hint_form(struct comp *c, const struct ident *id, const struct proto *p);
/* The argument is of another type than the one that is wanted. */
int hint_argument(
    struct comp *c, const struct node *arg, const struct type *want);
/* A value that a conversion of printf() does not take, or a key of the aggregation
 * `arg' that one of printa() does not. */
int hint_value(
    struct comp *c, enum fmt_class class, const struct node *arg, bool key);
/* The right side of an operator is no expression: was it meant as a text? */
int hint_quotes(
    struct comp *c, unsigned op, const struct node *a, const struct node *b);
/* It stands where a value does, and is none. */
int hint_call(struct comp *c, const struct ident *id);
/* What cannot be counted up. */
int hint_step(struct comp *c, const struct node *n);
/* Two operands that do not go together. */
int hint_operands(
    struct comp *c, unsigned op, const struct node *a, const struct node *b);

/* What the program's first comment says behind "usage:". */
int hint_usage(struct comp *c);
/* $name, or $n which was not given. */
int hint_macro(struct comp *c, const char *name);

/* A character that is in no program outside of texts and comments: what it is,
 * and what to write for it.  s has n > 0 bytes.  Reports itself. */
int hint_character(
    struct comp *c, const struct span *at, const char *s, size_t n);

/* The parser gave up at that text; NULL where it has said why. */
void hint_syntax(struct lexer *lx, const char *text);

#endif
