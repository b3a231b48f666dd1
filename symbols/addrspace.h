/*
 * An address space: the load objects of one process, with their load biases.
 *
 * It is reference counted.  Processes that share the memory hold it, and so do
 * unprinted records that were made in it; so it outlives the process, and
 * addresses can be named after exit, dlclose and exec.  An unmapped object
 * stays in the list, with the range of generations in which it was mapped.  A
 * record refers to the space by a stamp (addrspace_stamp()).
 */
#ifndef SYMBOLS_ADDRSPACE_H
#define SYMBOLS_ADDRSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlang/base/reader.h"
#include "symbols/maps.h"
#include "symbols/object.h"

struct addrspace;

struct load {
	struct object *object;
	uint64_t bias;       /* memory address - file's own address */
	uint64_t start, end; /* lowest to highest mapped address */
	const char *module; /* the value of probemod: the base name, borrowed */
	bool is_exec;       /* the executable: matches "a.out" too */
	bool is_vdso;
	bool is_interp;     /* the run-time linker */
	bool writable_text; /* its text is mapped writable or shared, so it is
			     * not changed */
	bool seen;          /* mapped now */
	uint32_t from, to;  /* generations in which it was mapped; to is
			       * UINT32_MAX while it is */
	void *user;         /* the tracer's; NULL at first */
};

/* `mem' reads the process's memory and is borrowed until
 * addrspace_detach(). */
struct addrspace *addrspace_create(pid_t pid, const struct reader *mem);
struct addrspace *addrspace_get(struct addrspace *as);
void addrspace_put(struct addrspace *as);

uint32_t addrspace_id(const struct addrspace *as);
pid_t addrspace_pid(const struct addrspace *as);
struct addrspace *addrspace_by_id(uint32_t id); /* borrowed, or NULL */

/* The process has ended: its memory is not read any more. */
void addrspace_detach(struct addrspace *as);

/* The address space of a fork's child: the same loads, another id. */
struct addrspace *addrspace_fork(
    const struct addrspace *as, pid_t child, const struct reader *mem);

/*
 * Read the maps again.  Returns the number of new loads plus the number of
 * unmapped ones, or a negative errno.  `changed' (may be NULL) is called for
 * each, the unmapped ones first; load->seen tells whether it is mapped.  An
 * object that is mapped again at its old place is the same load.
 */
int addrspace_refresh(
    struct addrspace *as, void (*changed)(void *ctx, struct load *), void *ctx);

size_t addrspace_loads(const struct addrspace *as, struct load *const **out);
struct load *addrspace_exec(const struct addrspace *as); /* or NULL */
const struct maps *addrspace_maps(const struct addrspace *as);

/* The load that contains addr now, or contained it last; or NULL. */
struct load *addrspace_load_at(const struct addrspace *as, uint64_t addr);

/*
 * The number by which new records refer to the space.  It is the id until an
 * object is mapped where another one was, and another number from then on
 * (epochs.h).  addrspace_by_id() accepts stamps too.
 */
uint32_t addrspace_stamp(const struct addrspace *as);
/* The load that contained addr when a record with that stamp was made, or
 * NULL. */
struct load *addrspace_load_then(uint32_t stamp, uint64_t addr);
/* Returns the first stamp of the space if all of the addresses mean the same
 * under it, so that equal keys of aggregations stay equal; otherwise
 * `stamp'. */
uint32_t addrspace_stamp_of(uint32_t stamp, const uint64_t *addrs, size_t n);

/*
 * Does the module field of a probe description match this load?  As in DTrace,
 * "" matches all, "a.out" the executable, and another field the base name,
 * exactly or as a glob.  "libc" and "libc.so" match "libc.so.6" (the base name
 * is cut at ".so", or at "-VERSION.so"), "ld" matches a run-time linker named
 * ld-..., "[vdso]" the vDSO.  A field with '/' is compared with the whole path;
 * if it names a link, also the file behind the link counts.
 */
bool load_matches(const struct load *l, const char *module);

/*
 * The implementation that an IFUNC symbol of `l' was resolved to, read from the
 * slots that relocations have filled (object_got_slots) in any load.  0 with
 * the address in memory; -EAGAIN: no slot is resolved yet; -ENOENT: no slot
 * refers to it.
 */
int addrspace_ifunc(struct addrspace *as, const struct load *l,
    const struct sym *resolver, uint64_t *addr);

#endif
