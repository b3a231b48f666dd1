/*
 * Places: where the probes of a process are in its memory, and in that of the
 * processes that descend from it.
 *
 * A provider whose probes have places says so (struct provider, `places').  It
 * keeps a struct places first in what hangs on probe->data, and a struct place
 * first in each of its own.
 */
#ifndef TRACER_SITES_PLACES_H
#define TRACER_SITES_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracer/base/provider.h"

struct addrspace;
struct func_names;
struct load;
struct probe;
struct proc;
struct state;
struct sym;

struct place {
	struct place *next;
	uint32_t space; /* addrspace_id() */
	uint64_t addr;  /* in memory */
	const struct load *load;
	bool enabled;
};

struct places {
	pid_t family; /* of the processes that they are in */
	struct place *first;
};

/* The link to the place at addr, or the one that it would be hung on. */
struct place **places_find(struct places *all, uint32_t space, uint64_t addr);

/* object_func_names() as the user wants them (option demangle). */
const struct func_names *places_func_names(
    const struct state *st, const struct load *l, const struct sym *s);
/* Does a function field mean the function, by any of its names? */
bool places_func_matches(const struct state *st, const struct load *l,
    const struct sym *s, const char *field);

/* Call `one' for each place that is mapped and not enabled yet. */
typedef void place_enable(
    struct state *st, struct proc *proc, struct probe *p, struct place *pl);
void places_enable(struct state *st, struct probe *p, place_enable *one);

/* An object was unmapped: its places have no tracepoints any more. */
void places_unloaded(struct state *st, const struct load *l);

/* A space has ended (exec, exit): its places are forgotten. */
void places_space_end(struct state *st, const struct addrspace *as);

void places_free(struct places *all);

/* A provider's hook: a module field names the object of some place. */
bool places_module_matches(const struct probe *p, const char *module);

/* The same: each place is a site. */
void places_sites(const struct probe *p, probe_site_fn each, void *ctx);

#endif
