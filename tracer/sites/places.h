/*
 * Places: the addresses of a probe in the memory of a process and of its
 * descendants.
 *
 * A provider whose probes have places sets `places' in its struct provider.
 * Its probe->data begins with a struct places, and each of its own place
 * structs begins with a struct place.
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
	pid_t family; /* the process; places may also be in its descendants */
	struct place *first;
};

/* The link that points to the place of the object at addr, or the NULL link at the
 * end of the list.  A place of an object that was mapped there before is
 * forgotten. */
struct place **places_find(
    struct places *all, uint32_t space, uint64_t addr, const struct load *l);

/* object_func_names() in the style of option demangle. */
const struct func_names *places_func_names(
    const struct state *st, const struct load *l, const struct sym *s);
/* Does a function field match the function, by any of its names? */
bool places_func_matches(const struct state *st, const struct load *l,
    const struct sym *s, const char *field);

/* Mark each place that is mapped and not enabled yet as enabled, and call `one'
 * for it. */
typedef void place_enable(
    struct state *st, struct proc *proc, struct probe *p, struct place *pl);
void places_enable(struct state *st, struct probe *p, place_enable *one);

/* An object was unmapped: mark its places as not enabled. They are kept, for
 * places_enable() when the object is mapped again. */
void places_unloaded(struct state *st, const struct load *l);

/* A space has ended (exec, exit): remove its places. */
void places_space_end(struct state *st, const struct addrspace *as);

/* Free the places; `all' itself stays. */
void places_free(struct places *all);
/* For `destroy' of struct provider: free probe->data, of which only the places have
 * memory of their own. */
void places_destroy(struct probe *p);

/* A hook for struct provider: does a module field match the object of some
 * place? */
bool places_module_matches(const struct probe *p, const char *module);

/* A hook for struct provider: each place is a site. */
void places_sites(const struct probe *p, probe_site_fn each, void *ctx);

#endif
