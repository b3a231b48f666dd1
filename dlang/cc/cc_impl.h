/*
 * What the passes share: the session and the compilation under way.
 *
 *	text --lex, parse--> nodes
 *	  for each outer node, in order:
 *	    declaration --decl--> types and identifiers
 *	    clause, once for each of its descriptions, on a copy:
 *	      --bind, check, fold--> typed nodes --cg, asm--> DIFOs, records
 *
 * Every pass returns 0, or -EINVAL after one diagnostic.
 */
#ifndef DLANG_CC_CC_IMPL_H
#define DLANG_CC_CC_IMPL_H

#include <errno.h>

#include "dlang/base/str.h"
#include "dlang/cc/ast.h"
#include "dlang/cc/cc.h"
#include "dlang/cc/hint.h"
#include "dlang/cc/scope.h"
#include "dlang/types.h"

/* Trees deeper than this are refused: the passes recurse over them.  No
 * program written by a person comes near. */
#define DEPTH_MAX 1000
/* Nodes that inlines, translators and descriptions may multiply into. */
#define COPIES_MAX 4000000

struct xlator {
	struct type *dst, *src;
	const char *param;
	struct node *members; /* N_XMEMBER */
	struct span span;
};

struct cc {
	const struct world *world;
	struct options *opts;
	struct types *types;
	struct arena arena; /* nodes, identifiers, names */
	struct hash globals, threads, aggs;
	VEC(struct xlator *) xlators;
	struct hash typedefs;  /* names the lexer must give as types */
	struct hash no_types;  /* names the world does not know as types */
	struct hash providers; /* N_PROVIDER by name */
	struct prog_globals shared;
	uint32_t next_var;
	unsigned anon;   /* for hidden names */
	bool in_library; /* our own library is read: the target has no part
			  * in it */
	/* Types that every pass needs. */
	struct type *t_int, *t_uint, *t_long, *t_ulong, *t_llong, *t_ullong;
	struct type *t_void, *t_char, *t_string, *t_dyn, *t_stack, *t_symaddr,
	    *t_usymaddr, *t_int64, *t_uint64, *t_ptrdiff, *t_size, *t_voidp;
};

/* A pragma that waits for its identifier, or an attribute. */
struct pragma {
	const char *what; /* "attributes", "binding" */
	const char *ident;
	struct attr attr;
	int32_t since;
	struct span span;
	bool used;
};

struct lexer;

/* One compilation. */
struct comp {
	struct cc *cc;
	struct prog *prog;
	const struct cc_input *in;
	struct diags *diags;
	struct hash locals; /* this-> */
	VEC(struct pragma) pragmas;
	VEC(struct prog_clause *) clauses; /* so far */
	uint64_t args_used;                /* highest $n referenced, + 1 */
	unsigned long copies;
	bool had_effect; /* a clause, declaration or pragma */
	/* The clause under way, or NULL outside: */
	const struct probe_desc *desc;
	struct prog_clause *clause;
	struct node clause_begin; /* where it begins, for messages */
	struct ident **params;    /* of the inline or translator whose body
				       * is being checked */
	size_t nparams;
	bool speculating; /* the clause has called speculate() */
	bool untyped;     /* it takes args[] of a probe that is not there */
};

/* comp.c */
int comp_error(struct comp *c, enum diag_tag tag, const struct node *at,
    const char *fmt, ...) PRINTF_LIKE(4, 5);
/* A copy of a tree, counted; NULL after a diagnostic. */
struct node *comp_copy(struct comp *c, const struct node *n);

/* lex.l, parse.y: the text as N_PROGRAM. */
int parse_program(struct comp *c, struct node **out);

/* pragma.c: one control line, `#' excluded, comments removed.  `next_line' is
 * the number of the line that follows. */
struct lexer_position;
int pragma_line(struct comp *c, const char *text, const struct span *at,
    struct lexer_position *pos);
/* Give what waits to the identifiers that are declared by now. */
int pragma_apply(struct comp *c);
/* After the last clause: D_PRAGMA_UNUSED. */
int pragma_finish(struct comp *c);
/* Where #line and the preprocessor say that the text comes from. */
struct lexer_position {
	const char *file; /* NULL: no mark yet */
	int delta;        /* reported line = line of the text + delta */
};

/* decl.c */
int decl_process(struct comp *c, struct node *n);
int decl_inline(struct comp *c, struct node *n);
int decl_provider(struct comp *c, struct node *n);
/* The type that an N_TYPENAME says. */
int decl_type(struct comp *c, struct node *tn, struct type **out);

/* bind.c */
/* Resolve an N_NAME, N_AGG, or MEMBER of self/this in place. */
int bind_expr(struct comp *c, struct node *n, bool assigning);
/* A name that begins so is a variable of the source at the probe; with
 * `address', where it lies in memory is wanted and not its value. */
#define BIND_LOCAL "local`"
int bind_local(struct comp *c, struct node *n, const char *full, bool address);
/* &`name of a symbol without a type: where it is can be said without debug
 * information.  False for anything else. */
bool bind_untyped_address(struct comp *c, struct node *n);

/* desc.c */
#define DESC_READINGS 4
struct desc_readings {
	struct probe_desc at[DESC_READINGS];
	size_t n;
};
/* What the description may mean: at least one reading.  0, or reported. */
int desc_read(struct comp *c, const struct node *n, struct desc_readings *out);
/* The one that matches probes, which exist then.  Where none does (*none), an
 * error but for option zdefs; where several do, too.  0, or reported. */
int desc_match(
    struct comp *c, struct node *n, struct probe_desc *out, bool *none);

/* check.c, check_expr.c, check_call.c */
int check_clause(struct comp *c, struct node *clause);
int check_stmt(struct comp *c, struct node *stmt);
int check_expr(struct comp *c, struct node *n);
/* An expression in which the names of params mean these. */
int check_with(
    struct comp *c, struct node *n, struct ident **params, size_t nparams);
/* Type, constness and value of an expression that has to be an integer
 * constant; false if it is not one. */
bool check_const(const struct node *n, int64_t *value);
int check_call(struct comp *c, struct node *n);
int check_action(struct comp *c, struct node *n);
int check_agg_assign(struct comp *c, struct node *n);
/* Arguments (or keys) against a prototype; what is '(' or '['. */
int check_args(struct comp *c, struct node *n, struct ident *id,
    const struct proto *p, const char *brackets);
bool check_assignable(
    const struct comp *c, struct type *to, const struct node *from);
/* Can a value of this type be given where the other is expected? */
bool check_compatible(struct type *to, const struct node *from);
/* Is this call one of ustack(), usym() ...: an action whose result can be
 * recorded as a value or a key? */
bool check_is_recordable_call(const struct node *n);
int check_key(struct comp *c, struct node *key, const char *kind, size_t n);

/* fold.c: constants in place, after the operands were checked. */
int fold_expr(struct comp *c, struct node *n);
/* Type of an integer constant, by the language's rules; NULL: none holds it. */
struct type *fold_int_type(
    struct cc *cc, uint64_t value, bool decimal, bool u, unsigned longs);

/* xlate.c */
int xlate_declare(struct comp *c, struct node *n);
int xlate_check(struct comp *c, struct node *n);
/* The translator to apply, exact source first; NULL if none is declared. */
struct xlator *xlate_find(
    struct comp *c, struct type *dst, const struct type *src);
/* `x.member' where x is an N_XLATE: becomes the member's expression. */
int xlate_member(struct comp *c, struct node *n);

/* sugar.c: a clause with if statements as several without. */
int sugar_clause(struct comp *c, struct node *clause, struct nlist *out);

/* stab.c: the stability of a description, of what a checked clause names, and
 * of one name: kept in the program, D_ATTR_MIN below the option amin. */
int stab_desc(
    struct comp *c, const struct node *clause, const struct probe_desc *pd);
int stab_clause(struct comp *c, const struct node *n);
int stab_name(struct comp *c, const struct node *n, const struct ident *id);

/*
 * leave.c: under -Z, a clause that was refused and whose description, shown as
 * `desc', matches no probe.  True if the program can do without it: then the
 * diagnostic has become a note, and c->diags is empty.
 */
bool leave_clause(struct comp *c, const struct node *clause, const char *desc);
/* Is this an action on aggregations that only clauses assign which were left
 * out? */
bool leave_stmt(struct comp *c, const struct node *n);

/* cg.c: a checked clause into c->clause. */
int cg_clause(struct comp *c, struct node *clause);

#endif
