/*
 * Between the scanner and the parser: tracks in which part of a program the
 * text is, because the meaning of `/', `{' and names depends on that.
 *
 *	outer --word that is a type or declares--> EXPR, mode DECL --;--> outer
 *	  |--/--> EXPR, mode PRED --/ before { ; / or the end--> outer
 *	  '--{--> EXPR, mode CLAUSE --matching }--> outer
 */
#ifndef DLANG_CC_LEX_H
#define DLANG_CC_LEX_H

#include "dlang/cc/cc_impl.h"

/* The kinds of this many open brackets are remembered. */
#define OPEN_MAX 64

/* If a syntax error comes at most so many tokens behind a word that is not a
 * type, that word is the reason: `(T *)' in a cast, for example. */
#define NOT_TYPE_NEAR 4

enum lex_mode { MODE_OUTER, MODE_CLAUSE, MODE_PRED, MODE_DECL };

struct lexer {
	struct comp *c;
	const char *text;
	size_t begin;  /* of the current token, or the blanks */
	size_t pos;    /* just past it */
	int line, col; /* of pos */
	struct lexer_position where;
	enum lex_mode mode;
	int braces, parens;
	int params;            /* EXPR: parens in a function type's list */
	char opened[OPEN_MAX]; /* ( and [ of an expression */
	int peeked;            /* lines read ahead of the token */
	unsigned open; /* number of open brackets, also beyond OPEN_MAX */
	char unclosed; /* the bracket that was open before this `;' */
	int prev, prev2, prev3; /* the last tokens given to the parser */
	bool spec_seen; /* DECL: the type has been read, a declarator follows */
	/* The last word that is not a type, in a place where a type is
	 * expected, and the number of tokens before it. */
	const char *not_type;
	unsigned long not_type_at, tokens;
	/* For messages: the first description of this clause, and the first
	 * token of this statement. */
	const char *clause;
	struct span clause_span;
	size_t statement;
	size_t given, before; /* where the last two tokens begin */
	bool in_enum, in_init, in_xlator;
	int enum_depth;
	struct span span; /* of the current token */
	struct hash tags; /* structs and unions that this text has defined */
	struct node *program;
};

int lex_init_scanner(struct lexer *lx, void **scanner);
void lex_fini_scanner(void *scanner);
/* The text of the last token, for messages. */
const char *lex_text(void *scanner);
/* The innermost ( or [ that is open; 0 if there is none. */
char lex_opened(const struct lexer *lx);

#endif
