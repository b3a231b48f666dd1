/*
 * What the compiler asks about probes, types and symbols.
 * tracer/program/world.c answers, and tables in t/fake/world.c do in tests.
 */
#ifndef DLANG_WORLD_H
#define DLANG_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/argloc.h"
#include "dlang/attr.h"
#include "dlang/base/diag.h"
#include "dlang/base/str.h"

struct type;
struct types;

/* The 4-tuple of a clause; "" matches everything.  Macro variables are
 * already replaced.  Strings live as long as the program. */
struct probe_desc {
	const char *prov, *mod, *func, *name;
	uint32_t id; /* the probe's number, if it was given instead of names;
		      * else 0 */
	bool family; /* `prov' was written with $target or as a glob:
		      * descendants of that process are meant too */
};

struct world_arg {
	struct type *native;     /* the type of the probe's own argument */
	struct type *translated; /* the declared type of args[n]; without a
				  * translation the same */
	unsigned source;         /* the number of the native argument */
	struct argplace place;   /* where the argument is */
	const char *why;         /* with -ENOENT: what is wrong, or NULL */
};

struct world_symbol {
	uint64_t ref; /* a number for the symbol; the VM asks for its address in
		       * a process at the hit (DIF_VAR_EXTERN) */
	struct type *type; /* NULL: unknown */
	const char *object;
	bool function;
	const char *why; /* with -ENOENT: what is wrong with it, or NULL */
};

struct world_local {
	struct type *type;
	uint32_t arg;    /* the variable is argument `arg' of the hit
		       * (args_get()) */
	const char *why; /* with -ENOENT: what is wrong with it; lives as long
			  * as the types */
};

struct world_ops {
	/*
	 * Create the probes that this description matches.  Returns their
	 * number (0: none yet), or a negative errno after reporting a
	 * diagnostic (D_PROC_*, D_PDESC_INVAL) at `at'.
	 */
	int64_t (*probes)(void *w, const struct probe_desc *pd,
	    const struct span *at, struct diags *d);

	/* Append text for a hint to *to: why the description matches no probe,
	 * and which one may have been meant.  The function pointer may be
	 * NULL. */
	void (*unmatched)(void *w, const struct probe_desc *pd, struct str *to);

	/* Does this provider field, which may be a glob, name an existing
	 * provider?  The function pointer may be NULL: none exists. */
	bool (*provider)(void *w, const char *field);

	/* nargs: the number of typed arguments of the described probes.
	 * -ENOTUNIQ if the probes differ (D_ARGS_MULTI), -ENOENT if none has
	 * types; then *why may be a sentence with the reason. arg: the type and
	 * place of argument n. */
	int (*nargs)(void *w, const struct probe_desc *pd, struct types *ts,
	    const char **why);
	int (*arg)(void *w, const struct probe_desc *pd, unsigned n,
	    struct types *ts, struct world_arg *out);

	/* Find a variable or function of the target.  An empty object means
	 * any.  0 or -ENOENT. */
	int (*symbol)(void *w, const char *object, const char *name,
	    struct types *ts, struct world_symbol *out);

	/* Find a local variable at the place of the described probes.  The
	 * argument in *out is its value (for a struct, union or array its
	 * address), or with `address' set its address.  0 or -ENOENT. */
	int (*local)(void *w, const struct probe_desc *pd, const char *name,
	    bool address, struct types *ts, struct world_local *out);

	/* Find a type by name in the debug information of an object.  0 or
	 * -ENOENT. */
	int (*type)(void *w, const char *object, const char *name,
	    struct types *ts, struct type **out);

	/* The stability of the provider that the description names, for each
	 * part.  False if it names none, a pattern, or one that does not exist.
	 * The function pointer may be NULL: no provider exists. */
	bool (*stability)(void *w, const struct probe_desc *pd,
	    struct attr parts[ATTR_PARTS]);

	/* The value of the macro $target, $pid, $uid ...; name is without the
	 * `$'.  0 or -ENOENT. */
	int (*macro)(void *w, const char *name, int64_t *value);
};

struct world {
	const struct world_ops *ops;
	void *ctx;
};

#endif
