/*
 * The tree that the parser builds and the passes annotate.
 *
 * All kinds use one struct.  The comment beside each kind says what `a', `b',
 * `c' and `list' are.  That keeps the walker, the copy and the dump short.
 * Nodes live in the session's arena (inlines and translators outlive the
 * program that declares them) and are never freed alone.
 *
 * After check_*() every expression node has a type.
 */
#ifndef DLANG_CC_AST_H
#define DLANG_CC_AST_H

#include <stdbool.h>
#include <stdio.h>

#include "dlang/base/arena.h"
#include "dlang/base/diag.h"

struct ident;
struct type;

/* clang-format off */
#define NODE_KINDS(X)                                                          \
	/* expressions */                                                      \
	X(INT)		/* value, type */                                      \
	X(STRING)	/* name: the bytes up to NUL */                        \
	X(NAME)		/* name, as written; bind makes it one of the next */  \
	X(VAR)		/* ident: variable, built-in, symbol */                \
	X(AGG)		/* name, ident; a: N_INDEX makes it the base */        \
	X(SELF)		/* `self', left of `->' only */                        \
	X(THIS)                                                                \
	X(MEMBER)	/* op: O_DOT or O_ARROW; a; name; offset in value */   \
	X(INDEX)	/* a[list] */                                          \
	X(CALL)		/* a(list); ident */                                   \
	X(UNARY)	/* op a */                                             \
	X(POSTFIX)	/* a op */                                             \
	X(BINARY)	/* a op b */                                           \
	X(ASSIGN)	/* a op b; op is O_SET or the operator of `op=' */     \
	X(COND)		/* a ? b : c */                                        \
	X(COMMA)	/* a, b */                                             \
	X(CAST)		/* (a: N_TYPENAME) b; a may be NULL after check */     \
	X(SIZEOF)	/* a: expression, or b: N_TYPENAME */                  \
	X(OFFSETOF)	/* a: N_TYPENAME, name */                              \
	X(XLATE)	/* a: N_TYPENAME, b; xlator */                         \
	X(INLINE)	/* a: copy of an inline's body; ident */               \
	/* statements */                                                       \
	X(EXPR)		/* a; */                                               \
	X(IF)		/* if (a) b else c; b, c: N_BLOCK */                   \
	X(BLOCK)	/* { list } */                                         \
	/* outer level */                                                      \
	X(PROGRAM)	/* list */                                             \
	X(CLAUSE)	/* list: N_PDESC; a: predicate; b: N_BLOCK or NULL */  \
	X(PDESC)	/* name: as written */                                 \
	X(DECL)		/* a: N_SPECS; list: declarators */                    \
	X(INLINEDEF)	/* a: N_SPECS; b: declarator; c: expression */         \
	X(XLATOR)	/* a, b: N_TYPENAME; name: parameter; list: N_XMEMBER */ \
	X(XMEMBER)	/* name = a */                                         \
	X(PROVIDER)	/* name; list: N_PROBE */                              \
	X(PROBE)	/* name; list: N_PARAM; a: N_PARAMS or NULL */         \
	/* declarations */                                                     \
	X(SPECS)	/* value: words; flags: storage; a: N_SOU, N_ENUM;     \
			 * name: typedef name */                               \
	X(SOU)		/* op: O_STRUCT, O_UNION; name; list: N_DECL;
			 * has_body */ \
	X(ENUM)		/* name; list: N_ENUMERATOR; has_body */               \
	X(ENUMERATOR)	/* name; a: value or NULL */                           \
	X(DNAME)	/* name, or NULL when abstract */                      \
	X(DPOINTER)	/* a: inner declarator */                              \
	X(DARRAY)	/* a[b], a[list: N_PARAM], or a[] */                   \
	X(DFUNC)	/* a(list: N_PARAM) */                                 \
	X(DBITS)	/* a : b */                                            \
	X(PARAM)	/* a: N_SPECS or NULL for `...'; b: declarator */      \
	X(PARAMS)	/* list */                                             \
	X(TYPENAME)	/* a: N_SPECS; b: abstract declarator */

enum node_kind {
#define X(k) N_##k,
	NODE_KINDS(X)
#undef X
	N_COUNT
};

#define OPERATORS(X)                                                           \
	X(ADD, "+") X(SUB, "-") X(MUL, "*") X(DIV, "/") X(MOD, "%")            \
	X(SHL, "<<") X(SHR, ">>")                                              \
	X(LT, "<") X(LE, "<=") X(GT, ">") X(GE, ">=") X(EQ, "==") X(NE, "!=")  \
	X(AND, "&") X(XOR, "^") X(OR, "|")                                     \
	X(LAND, "&&") X(LXOR, "^^") X(LOR, "||")                               \
	X(SET, "=")                                                            \
	X(NOT, "!") X(COMPL, "~") X(PLUS, "+") X(NEG, "-")                     \
	X(DEREF, "*") X(ADDR, "&") X(INC, "++") X(DEC, "--")                   \
	X(STRINGOF, "stringof") X(DOT, ".") X(ARROW, "->")                     \
	X(STRUCT, "struct") X(UNION, "union")
/* clang-format on */

enum oper {
#define X(k, s) O_##k,
	OPERATORS(X)
#undef X
};

/* Words of N_SPECS, in value: the counts of `long' are two bits. */
#define W_VOID     (1U << 0)
#define W_CHAR     (1U << 1)
#define W_SHORT    (1U << 2)
#define W_INT      (1U << 3)
#define W_LONG     (1U << 4)
#define W_LONGLONG (1U << 5)
#define W_FLOAT    (1U << 6)
#define W_DOUBLE   (1U << 7)
#define W_SIGNED   (1U << 8)
#define W_UNSIGNED (1U << 9)
#define W_CONST    (1U << 10)
#define W_VOLATILE (1U << 11)
#define W_RESTRICT (1U << 12)
#define W_USERLAND (1U << 13)
#define W_BAD      (1U << 14) /* words that do not combine */
#define W_QUALS    (W_CONST | W_VOLATILE | W_RESTRICT | W_USERLAND)

/* Storage classes of N_SPECS, in flags. */
#define C_TYPEDEF  (1U << 0)
#define C_EXTERN   (1U << 1)
#define C_SELF     (1U << 2)
#define C_THIS     (1U << 3)
#define C_AUTO     (1U << 4)
#define C_REGISTER (1U << 5)
#define C_STATIC   (1U << 6)
#define C_TWICE    (1U << 7) /* more than one was given */

/* Results of check for an expression, in flags. */
#define NF_LVALUE   (1U << 16) /* memory or a variable: has a place */
#define NF_WRITABLE (1U << 17)
#define NF_CONST    (1U << 18) /* N_INT after folding */
#define NF_BITFIELD (1U << 19)
#define NF_CANON    (1U << 20) /* the register holds the value extended */
#define NF_ALLOCA   (1U << 22) /* may point into scratch */
#define NF_MIXED    (1U << 23) /* or elsewhere, by the branch of a ?: */
/* Flags that an expression made from a pointer inherits. */
#define NF_POINTS (NF_ALLOCA | NF_MIXED)

struct node {
	uint8_t kind; /* enum node_kind */
	uint8_t op;   /* enum oper */
	bool has_body;
	uint8_t bit_offset, bit_size; /* MEMBER of a bit-field */
	uint16_t depth; /* of the tree below, to bound recursion */
	uint32_t flags;
	struct span span;
	struct type *type; /* NULL until checked */
	struct node *a, *b, *c;
	struct node *list, *next;
	const char *name;
	uint64_t value;
	struct ident *ident;
	void *extra; /* XLATE: struct xlator; CALL: struct fmt; INLINE: type of
		      * the translator's member, or NULL; INDEX of args[]:
		      * struct argplace, or NULL: arg `value' */
};

/* A list under construction. */
struct nlist {
	struct node *head, *tail;
};

struct node *node_new(
    struct arena *a, enum node_kind kind, const struct span *at);
void nlist_add(struct nlist *l, struct node *n);

/* A deep copy, with the list of n, but without the nodes behind n->next. */
struct node *node_copy(struct arena *a, const struct node *n);

/* Call fn on n and everything below, parents first, until it returns
 * non-zero, which is returned. */
typedef int (*node_fn)(struct node *n, void *ctx);
int node_walk(struct node *n, node_fn fn, void *ctx);

const char *oper_text(unsigned op);
/* The tree as indented text, for -xtree and for tests. */
void node_dump(FILE *out, const struct node *n, int depth);

/* The span from the first character of both to the last of both. */
struct span span_join(const struct span *a, const struct span *b);

#endif
