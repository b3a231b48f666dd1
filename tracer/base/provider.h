/*
 * The provider contract.  A provider is a constant struct, and a line in
 * tracer/drive/providers.c.  Its data of a probe is probe->data.
 *
 * No provider runs at a hit: the locations of arguments (dlang/argloc.h) are
 * computed when a probe is enabled.
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
	const char *type; /* of the probe's argument; NULL: see `otherwise' */
	const char *translated; /* type of args[n]; NULL: the same as `type'.
				 * "string": `type' is a char pointer */
	unsigned source;        /* args[n] comes from this argN */
	const char *otherwise;  /* used if `type' is not known; or NULL */
};

/* At which passes of an address the probe fires. */
enum probe_passes {
	PASSES_ALL,
	PASSES_TAKEN, /* if the branch there is taken */
	PASSES_SOME,  /* by what only the tracer knows */
};

typedef void (*probe_site_fn)(
    void *ctx, const struct load *l, uint64_t addr, enum probe_passes passes);

enum { STAB_PROVIDER, STAB_MODULE, STAB_FUNCTION, STAB_NAME, STAB_ARGS };

/* Of most providers: modules and functions are private, the rest is alike. */
/* clang-format off */
#define STABILITY(level, class) { \
	[STAB_PROVIDER] = { level, level, class }, \
	[STAB_MODULE] = { "Private", "Private", "Unknown" }, \
	[STAB_FUNCTION] = { "Private", "Private", "Unknown" }, \
	[STAB_NAME] = { level, level, class }, \
	[STAB_ARGS] = { level, level, class }, \
}
/* clang-format on */

struct provider {
	const char *name; /* "profile"; "pid" stands for pid123 as well */
	struct stability stability[5];

	/*
	 * Create the probes that match the description and exist now.  Called
	 * while compiling, and again when an object is mapped or a process is
	 * added.  It must not create probes that the description does not
	 * match.  `d' is NULL on later calls: errors are then not reported.
	 * Returns 0, or a negative errno after a diagnostic in d.  NULL: init()
	 * creates the probes.
	 */
	int (*provide)(struct state *st, const struct probe_desc *pd,
	    const struct span *at, struct diags *d);

	/* Create fixed probes, once, before anything is compiled. */
	void (*init)(struct state *st);

	/*
	 * The probe got its first ECB, or an enabled probe got new places: make
	 * them fire.  probe->image_ref is set.  Tracepoints are only queued;
	 * the caller commits them.  All threads of all targets are stopped, or
	 * will be for the commit.
	 */
	void (*enable)(struct state *st, struct probe *p);

	/*
	 * The probe must not fire any more, nor cost anything: stop all work
	 * that is only for it.  The caller removes its sites and its
	 * subscriptions to system calls.  NULL: there is nothing else to do.
	 */
	void (*disable)(struct state *st, struct probe *p);

	/* A sentence about the probe for -l -v, or NULL.  The function pointer
	 * may be NULL. */
	const char *(*note)(const struct probe *p);

	/*
	 * Its probes also fire in children of a target.  If the provider is
	 * named after a process, only those clauses do whose description sets
	 * `family'.
	 */
	bool follows;
	/* Is this probe an exception, which fires in no process?  NULL: there
	 * is none. */
	bool (*aside)(const struct probe *p);
	bool per_process; /* its name contains a process: pid123 */

	/* Does a module field match although it is not the literal name
	 * ("a.out", "libc")? */
	bool (*module_matches)(const struct probe *p, const char *module);
	/* The same for a function field, by another name of the function. */
	bool (*function_matches)(const struct probe *p, const char *func);

	/* Does a description whose fields match really mean this probe?  (Some
	 * kinds must be requested.)  NULL: always. */
	bool (*means)(const struct probe *p, const struct probe_desc *pd);

	/* Call each() with every known address of the probe in memory.  NULL:
	 * it has no address. */
	void (*sites)(const struct probe *p, probe_site_fn each, void *ctx);

	/* What begins at its sites: a function, a line, an inlined function.
	 * NULL: nothing. */
	struct dwarf_sense (*sense)(const struct probe *p);

	/* The type of args[n]; false behind the last argument.  NULL: no
	 * argument has a type. */
	bool (*arg)(const struct probe *p, unsigned n, struct probe_arg *out);

	/*
	 * The same if types come from debug information, which this call reads.
	 * 0; -ENOTUNIQ: places of the probe differ.  NULL: see arg().
	 */
	int (*typed)(
	    struct state *st, const struct probe *p, struct typed_args *out);

	/* Does a provider field match although it is not the literal name? */
	bool (*prov_matches)(const struct probe *p, const char *prov);

	/* Its probes fire at system-call stops. */
	bool at_calls;

	/* Its probes have places: probe->data begins with a struct places
	 * (tracer/sites/places.h). */
	bool places;

	/* Free probe->data. */
	void (*destroy)(struct probe *p);
};

extern const struct provider *const providers[]; /* NULL-terminated */

extern const struct provider prov_cpc, prov_dtrace, prov_pid, prov_plockstat,
    prov_proc, prov_profile, prov_sched, prov_syscall, prov_usdt, prov_vminfo,
    prov_watch;

#endif
