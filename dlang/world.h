/*
 * The questions a compiler may ask of the outside.  Answered by
 * tracer/program/world.c, and by tables in t/fake/world.c.
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
	uint32_t id; /* given as a number instead: else 0 */
	bool family; /* `prov' was written with $target or with a glob: means
		      * the processes that descend from that one as well */
};

struct world_arg {
	struct type *native;     /* what the probe has */
	struct type *translated; /* what args[n] is declared as; same if none */
	unsigned source;         /* which native argument it comes from */
	struct argplace place;   /* where it is */
	const char *why;         /* with -ENOENT: what is wrong, or NULL */
};

struct world_symbol {
	uint64_t ref;      /* what stands for it: its address in a process is
			    * asked for at the hit (DIF_VAR_EXTERN) */
	struct type *type; /* NULL: unknown */
	const char *object;
	bool function;
	const char *why; /* with -ENOENT: what is wrong with it, or NULL */
};

struct world_local {
	struct type *type;
	uint32_t arg;    /* it is argument `arg' of the hit (args_get()) */
	const char *why; /* with -ENOENT: what is wrong with it; lives as long
			  * as the types */
};

struct world_ops {
	/*
	 * Create what this description means and count what it matches.
	 * The number (0: none yet), or a negative errno after reporting a
	 * diagnostic (D_PROC_*, D_PDESC_INVAL) at `at'.
	 */
	int64_t (*probes)(void *w, const struct probe_desc *pd,
	    const struct span *at, struct diags *d);

	/* Why does a description match no probe, and what may have been meant?
	 * Words for a hint, added to *to.  NULL: nothing is known. */
	void (*unmatched)(void *w, const struct probe_desc *pd, struct str *to);

	/* Does a provider field, which may be a glob, name a provider that there
	 * is?  NULL: none is known. */
	bool (*provider)(void *w, const char *field);

	/* The number of typed arguments of the probes described, and their
	 * types; -ENOTUNIQ when they differ (D_ARGS_MULTI), -ENOENT when none
	 * has types: then *why may be a sentence that says why. */
	int (*nargs)(void *w, const struct probe_desc *pd, struct types *ts,
	    const char **why);
	int (*arg)(void *w, const struct probe_desc *pd, unsigned n,
	    struct types *ts, struct world_arg *out);

	/* Variable or function of the target: object may be "" for any.
	 * 0 or -ENOENT. */
	int (*symbol)(void *w, const char *object, const char *name,
	    struct types *ts, struct world_symbol *out);

	/* Variable of the source where the described probes are: its value
	 * (of a struct, union or array its address), or with `address' where
	 * it lies.  0 or -ENOENT. */
	int (*local)(void *w, const struct probe_desc *pd, const char *name,
	    bool address, struct types *ts, struct world_local *out);

	/* Type by name in an object's debug information.  0 or -ENOENT. */
	int (*type)(void *w, const char *object, const char *name,
	    struct types *ts, struct type **out);

	/* The stability of the provider that the description names, part by
	 * part; false if it names none, a pattern, or one that is not there.
	 * NULL: no provider is known. */
	bool (*stability)(void *w, const struct probe_desc *pd,
	    struct attr parts[ATTR_PARTS]);

	/* $target, $pid, $uid ... without the `$'.  0 or -ENOENT. */
	int (*macro)(void *w, const char *name, int64_t *value);
};

struct world {
	const struct world_ops *ops;
	void *ctx;
};

#endif
