/*
 * What is mapped where in one process: load objects with their biases.
 *
 * Counted: the processes that share the memory hold it, and so do records that
 * were made in it and are not printed yet; it therefore outlives the process,
 * and names can be given after exit, dlclose and exec.  An object that is
 * unmapped stays in the list with the range of generations in which it was
 * there; a record names the space by id, which is new for every exec (and see
 * addrspace_stamp()).
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
	const char *module;  /* what probemod says: base name, borrowed */
	bool is_exec;        /* the executable: matches "a.out" too */
	bool is_vdso;
	bool is_interp;     /* the run-time linker */
	bool writable_text; /* its text is mapped writable or shared: it is
			       * not patched */
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

/* The process is gone: never read it again. */
void addrspace_detach(struct addrspace *as);

/* A fork's child: the same loads, an id of its own. */
struct addrspace *addrspace_fork(
    const struct addrspace *as, pid_t child, const struct reader *mem);

/*
 * Read the maps again.  Returns the number of loads that appeared plus those
 * that went, or a negative errno; `changed' (may be NULL) is called for each,
 * with load->seen telling which; those that went come first.  An object that
 * comes back to where it was is the same load again.
 */
int addrspace_refresh(
    struct addrspace *as, void (*changed)(void *ctx, struct load *), void *ctx);

size_t addrspace_loads(const struct addrspace *as, struct load *const **out);
struct load *addrspace_exec(const struct addrspace *as); /* or NULL */
const struct maps *addrspace_maps(const struct addrspace *as);

/* The load whose mapping holds addr now, or held it last; or NULL. */
struct load *addrspace_load_at(const struct addrspace *as, uint64_t addr);

/*
 * What records name their space by: its id, until an object comes to lie where
 * another was, and another number from then on (epochs.h).  addrspace_by_id()
 * takes it, too.
 */
uint32_t addrspace_stamp(const struct addrspace *as);
/* The load that held addr when a record with that stamp was made, or NULL. */
struct load *addrspace_load_then(uint32_t stamp, uint64_t addr);
/* The first stamp if all of the addresses mean the same under it, so that keys
 * of aggregations are not told apart without need; else the stamp itself. */
uint32_t addrspace_stamp_of(uint32_t stamp, const uint64_t *addrs, size_t n);

/*
 * Does the module field of a probe description mean this load?  As DTrace:
 * "" is all; "a.out" the executable; else the base name, exactly or by glob;
 * "libc" for "libc.so.6" (the base name cut at ".so", or at "-VERSION.so"),
 * "libc.so" too; "ld" for any run-time linker named ld-...; "[vdso]";
 * a field with '/' is compared with the whole path, and so is the file that it
 * leads to.
 */
bool load_matches(const struct load *l, const char *module);

/*
 * The implementation that an IFUNC symbol of `l' was resolved to, read from
 * the slots that relocations have filled (object_got_slots) in any load.
 * 0 with the address in memory; -EAGAIN when no slot is resolved yet; -ENOENT
 * when nothing refers to it.
 */
int addrspace_ifunc(struct addrspace *as, const struct load *l,
    const struct sym *resolver, uint64_t *addr);

#endif
