/*
 * The provider contract.  A provider is a constant struct, one line in
 * providers.c; whatever it keeps of a probe hangs on probe->data.
 *
 * No provider runs at a hit: where arguments are found is written down as
 * locations when a probe is enabled.
 */
#ifndef TRACER_BASE_PROVIDER_H
#define TRACER_BASE_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>

struct diags;
struct dwarf_sense;
struct load;
struct probe;
struct probe_desc;
struct span;
struct state;
struct typed_args;
struct types;
struct world_arg;

/* Name/data/class of the five parts, as -l -v prints them. */
struct stability {
	const char *name, *data, *class;
};

/* One typed argument of a probe, types by their D names. */
struct probe_arg {
	const char *type;       /* what the probe has; NULL: see `otherwise' */
	const char *translated; /* what args[n] is declared as; NULL: `type'.
				 * "string": the type is a char pointer */
	unsigned source;        /* args[n] is made from this argN */
	const char *otherwise;  /* ... where that type is not known; or NULL */
};

typedef void (*probe_site_fn)(void *ctx, const struct load *l, uint64_t addr);

enum { STAB_PROVIDER, STAB_MODULE, STAB_FUNCTION, STAB_NAME, STAB_ARGS };

struct provider {
	const char *name; /* "profile"; "pid" stands for pid123 as well */
	struct stability stability[5];

	/*
	 * Publish the probes that match the description and exist now.
	 * Called while compiling and again when an object is mapped or a
	 * process arrives; must not publish what the description does not
	 * mean.  `d' is NULL on later calls: what cannot be is then silent.
	 * Returns 0, or a negative errno after reporting to d.  NULL: the
	 * probes are published by init().
	 */
	int (*provide)(struct state *st, const struct probe_desc *pd,
	    const struct span *at, struct diags *d);

	/* Publish fixed probes, once, before anything is compiled. */
	void (*init)(struct state *st);

	/*
	 * The probe got its first ECB, or new places of an enabled probe were
	 * published: make them fire.  probe->image_ref is set.  Tracepoints
	 * are queued; the caller commits them.  All threads of all targets
	 * are stopped or about to be for the commit.
	 */
	void (*enable)(struct state *st, struct probe *p);

	/*
	 * It is not to fire any more, nor to cost anything: stop what is done
	 * for it alone.  Its sites, and its interests in system calls, are
	 * taken away by the caller.  NULL: there is nothing else.
	 */
	void (*disable)(struct state *st, struct probe *p);

	/* What -l -v adds of the probe: one sentence, or NULL.  NULL: nothing
	 * ever. */
	const char *(*note)(const struct probe *p);

	/*
	 * It fires in the children of a target as well; of a provider that is
	 * named after a process only clauses do whose description says so
	 * (`family').
	 */
	bool follows;
	/* But for this probe, which fires in no process.  NULL: none. */
	bool (*aside)(const struct probe *p);
	bool per_process; /* it is named after a process: pid123 */

	/* A module field that is not its literal name ("a.out", "libc"). */
	bool (*module_matches)(const struct probe *p, const char *module);
	/* The same for a function field: another name of the function. */
	bool (*function_matches)(const struct probe *p, const char *func);

	/* A description whose fields match may not mean it for all that: it
	 * has to ask for probes of this kind.  NULL: it does. */
	bool (*means)(const struct probe *p, const struct probe_desc *pd);

	/* Call each() with every address in memory where it is, as far as is
	 * known.  NULL: it is at none. */
	void (*sites)(const struct probe *p, probe_site_fn each, void *ctx);

	/* What its sites are the begin of.  NULL: of nothing. */
	struct dwarf_sense (*sense)(const struct probe *p);

	/* The type of args[n]: false behind the last one.  NULL: no argument
	 * has a type. */
	bool (*arg)(const struct probe *p, unsigned n, struct probe_arg *out);

	/*
	 * The same where types come from debug information, which is read when
	 * this is called.  0; -ENOTUNIQ when the probe has places that differ.
	 * NULL: see arg().
	 */
	int (*typed)(
	    struct state *st, const struct probe *p, struct typed_args *out);

	/* A provider field that is not its literal name (without a pid). */
	bool (*prov_matches)(const struct probe *p, const char *prov);

	/* Its probes fire where threads stop at system calls. */
	bool at_calls;

	/* Its probes have places: probe->data begins with a struct places
	 * (prov/places.h). */
	bool places;

	/* Free probe->data. */
	void (*destroy)(struct probe *p);
};

extern const struct provider *const providers[]; /* NULL-terminated */

extern const struct provider prov_dtrace, prov_pid, prov_plockstat, prov_proc,
    prov_profile, prov_syscall, prov_usdt;

#endif
