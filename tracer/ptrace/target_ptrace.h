/*
 * Implements inject/target.h: the operations of the target of every struct
 * space.
 */
#ifndef TRACER_PTRACE_TARGET_PTRACE_H
#define TRACER_PTRACE_TARGET_PTRACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "inject/target.h"

struct map;
struct maps;
struct space;

extern const struct target_ops target_ptrace_ops;

/* Find `size' bytes of unused executable memory, all zero, aligned to 16: at
 * the end of the vDSO, or of the text of a file.  0 or -ENOENT. */
int space_find_cave(struct space *sp, size_t size, uint64_t *addr);

/* A process of the space whose /proc entries show the memory, that is, whose
 * leader lives. */
pid_t space_pid(const struct space *sp);

/* The cave at the end of this mapping, if it is unused and large enough for a
 * slot. */
bool space_cave_in(struct space *sp, const struct maps *maps,
    const struct map *m, uint64_t *addr, size_t *size);

/* Each address that space_find_cave() may have returned earlier, whatever is
 * there now.  *cookie is 0 at first.  0, or -ENOENT after the last. */
int space_next_cave(struct space *sp, const struct maps *maps, size_t size,
    unsigned *cookie, uint64_t *addr);

/*
 * May a process that is not a tracer write to read-only memory through
 * /proc/PID/mem?  The guardian and the handler in the target must do that.
 * Since Linux 6.12 the administrator may forbid it (proc_mem.force_override= on
 * the kernel's command line, CONFIG_PROC_MEM_NO_FORCE): -EPERM.  Else 0.
 */
int target_may_force(void);

#endif
