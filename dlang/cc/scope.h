/*
 * Identifiers: the meaning of names in the scopes of a session.
 *
 * A session has four name spaces: globals (with built-ins, functions, inlines
 * and enumerators), thread-locals, clause-locals (one for each program) and
 * aggregations.  The globals are filled from the .def rows when the session
 * begins; prototypes are strings until the first call.
 */
#ifndef DLANG_CC_SCOPE_H
#define DLANG_CC_SCOPE_H

#include "dlang/attr.h"
#include "dlang/base/hash.h"
#include "dlang/cc/ast.h"
#include "dlang/prog.h"

struct cc;
struct comp;

enum ident_kind {
	ID_SCALAR,  /* the program's own variable */
	ID_ASSOC,   /* associative array */
	ID_BUILTIN, /* built-in scalar; id is its DIF id */
	ID_ARRAY,   /* built-in array: args, regs, uregs */
	ID_SUBR,    /* subroutine; id */
	ID_ACTION,  /* action; id is enum dif_act */
	ID_AGGFUNC, /* aggregating function; id is enum dif_agg */
	ID_AGG,     /* aggregation; agg */
	ID_INLINE,  /* body, params */
	ID_ENUM,    /* enumerator; value */
	ID_SYMBOL,  /* variable or function of the target; value: ref */
	ID_LOCAL,   /* variable of the source at the probe; value: argument */
	ID_PARAM,   /* parameter of an inline or translator; node */
};

/* One parameter of a prototype; NULL type: any (`@'). */
struct proto {
	struct type *result;
	struct type **args;
	size_t nargs;
	size_t nrequired;
	bool varargs;
};

#define IDF_FLOATING (1U << 0) /* no type before the first assignment */
#define IDF_KERNEL   (1U << 1) /* only a kernel tracer has it */
#define IDF_SHARED   (1U << 2) /* in prog_globals */
#define IDF_ALLOCA   (1U << 3) /* holds a pointer into scratch */
#define IDF_NOALLOCA (1U << 4) /* holds another pointer */
#define IDF_ATTR     (1U << 5) /* has attributes from #pragma D attributes */

struct ident {
	const char *name;
	enum ident_kind kind;
	enum dif_scope scope;
	uint32_t id;
	uint32_t flags;     /* IDF_* */
	uint32_t def_flags; /* the row's own: A_*, S_*, V_* */
	struct type *type;  /* value's; NULL while floating */
	struct type **keys; /* ID_ASSOC, ID_AGG */
	size_t nkeys;
	bool keys_known;
	const char *proto_text;
	struct proto *proto; /* once parsed */
	struct node *body;   /* ID_INLINE; ID_PARAM: the argument */
	struct ident **formals;
	size_t nformals;
	uint64_t value;
	struct prog_var *var;
	struct prog_agg *agg;
	struct attr attr;
	int32_t since;    /* the version of D that added it, as
			* OPTION_D_VERSION() */
	struct span span; /* where it was declared or first used */
	int line;
};

struct ident *ident_new(struct cc *cc, const char *name, enum ident_kind kind);

/* Fill the session's globals from the rows of the .def files.  Adds constants
 * (names of errnos, signals ...)  too, unless option nolibs is set. */
void builtins_add(struct cc *cc);
/* The rest of the built-in definitions, as D text. */
extern const char builtins_library[];
/* The prototype, parsed at the first call.  Never NULL. */
struct proto *ident_proto(struct cc *cc, struct ident *id);
/* How a message calls this kind: "variable", "aggregation" ... */
const char *ident_kind_name(const struct ident *id);

/* The global of that name, or NULL.  Also NULL if it is newer than the version
 * of D that the program requires. */
struct ident *scope_global(struct cc *cc, const char *name);

/* A new variable of the program, with its DIF id, known to prog_globals; its
 * type may still be open.  NULL after D_ID_OFLOW was reported at `at'. */
struct ident *scope_variable(struct comp *c, enum dif_scope scope,
    const char *name, enum ident_kind kind, const struct span *at);
struct ident *scope_lookup(
    struct comp *c, enum dif_scope scope, const char *name);
/* Call it when the type (and the keys) are known: copies them to ident->var,
 * and adds the variable to prog_globals.  -EINVAL after a diagnostic when no
 * variable can be that large. */
int scope_settle(struct comp *c, struct ident *id, const struct node *at);

/* The aggregation of that name.  A new one is created, without function and
 * keys. */
struct ident *scope_agg(
    struct comp *c, const char *name, const struct span *at);

#endif
