/*
 * Shared by the passes of the compiler: the session, the current compilation,
 * and the function of each pass.
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

/* The passes recurse over a tree, so deeper ones are refused.  No program that
 * a person writes is nearly as deep. */
#define DEPTH_MAX 1000
/* The most nodes that expanding inlines, translators and descriptions may
 * make. */
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
	struct hash typedefs;  /* names that the lexer returns as types */
	struct hash no_types;  /* names that are no types in the world either */
	struct hash providers; /* N_PROVIDER by name */
	struct prog_globals shared;
	uint32_t next_var;
	unsigned anon;   /* for hidden names */
	bool in_library; /* compiling dtrap's own library: names of the target
			  * are not looked up */
	/* Types that every pass needs. */
	struct type *t_int, *t_uint, *t_long, *t_ulong, *t_llong, *t_ullong;
	struct type *t_void, *t_char, *t_string, *t_dyn, *t_int64, *t_uint64,
	    *t_ptrdiff, *t_size, *t_voidp;
};

/* A pragma about an identifier that is not declared yet. */
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
	/* The current clause; NULL outside of one: */
	const struct probe_desc *desc;
	struct prog_clause *clause;
	struct node clause_begin; /* where it begins, for messages */
	struct ident **params;    /* of the inline or translator whose body
				       * is being checked */
	size_t nparams;
	bool speculating; /* the clause has called speculate() */
	bool untyped;     /* the clause uses args[] of a probe that does not
		       * exist */
};

/* comp.c */
int comp_error(struct comp *c, enum diag_tag tag, const struct node *at,
    const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Copy a tree.  NULL, after a diagnostic, if COPIES_MAX is reached. */
struct node *comp_copy(struct comp *c, const struct node *n);

/* lex.l, parse.y: the text as N_PROGRAM. */
int parse_program(struct comp *c, struct node **out);

/* pragma.c: handle one control line, without its `#' and its comments; *pos is
 * changed by a #line. */
struct lexer_position;
int pragma_line(struct comp *c, const char *text, const struct span *at,
    struct lexer_position *pos);
/* Apply waiting pragmas to the identifiers that are declared now. */
int pragma_apply(struct comp *c);
/* After the last clause: report pragmas that still wait (D_PRAGMA_UNUSED). */
int pragma_finish(struct comp *c);
/* The file and line that #line or the preprocessor gave for the text. */
struct lexer_position {
	const char *file; /* NULL: no mark yet */
	int delta;        /* reported line = line of the text + delta */
};

/* decl.c */
int decl_process(struct comp *c, struct node *n);
int decl_inline(struct comp *c, struct node *n);
int decl_provider(struct comp *c, struct node *n);
/* The type of an N_TYPENAME. */
int decl_type(struct comp *c, struct node *tn, struct type **out);

/* bind.c */
/* Resolve an N_NAME, N_AGG, or MEMBER of self/this in place. */
int bind_expr(struct comp *c, struct node *n, bool assigning);
/* A name with this prefix is a local variable at the probe.  bind_local() binds
 * it to its value, or with `address' to its address in memory. */
#define BIND_LOCAL "local`"
int bind_local(struct comp *c, struct node *n, const char *full, bool address);
/* Bind &`name of a symbol without a type: its address is known without debug
 * information.  False if n is anything else. */
bool bind_untyped_address(struct comp *c, struct node *n);

/* desc.c */
/* Choose the reading that matches probes, and create these probes.  If none
 * matches, *none is set, and that is an error unless option zdefs is set;
 * several are an error too.  0, or -EINVAL after a diagnostic. */
int desc_match(
    struct comp *c, struct node *n, struct probe_desc *out, bool *none);

/* check.c, check_expr.c, check_call.c */
int check_clause(struct comp *c, struct node *clause);
int check_expr(struct comp *c, struct node *n);
/* Check an expression in which params are visible. */
int check_with(
    struct comp *c, struct node *n, struct ident **params, size_t nparams);
/* The value of a checked expression that must be an integer constant.  False if
 * it is not one. */
bool check_const(const struct node *n, int64_t *value);
int check_call(struct comp *c, struct node *n);
int check_agg_assign(struct comp *c, struct node *n);
/* Check arguments (brackets "()") or keys (brackets "[]") against a
 * prototype. */
int check_args(struct comp *c, struct node *n, struct ident *id,
    const struct proto *p, const char *brackets);
/* Can a value of type *from be used where type `to' is expected? */
bool check_compatible(struct type *to, const struct node *from);
/* Is this call one of ustack(), usym() ...: an action whose result can be
 * recorded as a value or a key? */
bool check_is_recordable_call(const struct node *n);
int check_key(struct comp *c, struct node *key, const char *kind, size_t n);

/* fold.c: replace a constant expression by its value; its operands are
 * checked. */
int fold_expr(struct comp *c, struct node *n);
/* The type of an integer constant; NULL: no type can hold it. */
struct type *fold_int_type(
    struct cc *cc, uint64_t value, bool decimal, bool u, unsigned longs);

/* xlate.c */
int xlate_declare(struct comp *c, struct node *n);
int xlate_check(struct comp *c, struct node *n);
/* The translator for these types; an exact source type is preferred.  NULL:
 * none. */
struct xlator *xlate_find(
    struct comp *c, struct type *dst, const struct type *src);
/* Replace `x.member', where x is an N_XLATE, by the member's expression. */
int xlate_member(struct comp *c, struct node *n);

/* host.c: take the host off a description.  *here: it is of this host.  0, or
 * -EINVAL after a diagnostic. */
int host_strip(struct comp *c, struct node *d, bool *here);

/* sugar.c: turn a clause with if statements into several clauses without. */
int sugar_clause(struct comp *c, struct node *clause, struct nlist *out);

/* stab.c: the stability of a description, of the names in a checked clause, and
 * of one name.  Each lowers the program's own; below option amin it is
 * D_ATTR_MIN. */
int stab_desc(
    struct comp *c, const struct node *clause, const struct probe_desc *pd);
int stab_clause(struct comp *c, const struct node *n);
int stab_name(struct comp *c, const struct node *n, const struct ident *id);

/*
 * leave.c: with -Z, a clause that has an error may be left out if its
 * description `desc' matches no probe.  True if it is left out: the diagnostic
 * has become a note, and c->diags is empty.
 */
bool leave_clause(struct comp *c, const struct node *clause, const char *desc);
/* Is this an action on aggregations that only left-out clauses assign? */
bool leave_stmt(struct comp *c, const struct node *n);

/* cg.c: generate code for a checked clause, into c->clause. */
int cg_clause(struct comp *c, struct node *clause);

#endif
