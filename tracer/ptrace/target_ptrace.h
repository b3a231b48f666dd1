/*
 * inject/target.h over proc and remote: the ops of every struct space's
 * target.
 */
#ifndef TRACER_PTRACE_TARGET_PTRACE_H
#define TRACER_PTRACE_TARGET_PTRACE_H

#include <sys/types.h>

#include "inject/target.h"

struct map;
struct maps;
struct space;

extern const struct target_ops target_ptrace_ops;

/* size bytes of executable memory that nobody uses, all of them zero, aligned
 * to 16: the end of the vDSO, or of the text of a file.  0 or -ENOENT. */
int space_find_cave(struct space *sp, size_t size, uint64_t *addr);

/* A process of the space whose /proc entries show the memory: one with a leader
 * that lives. */
pid_t space_pid(const struct space *sp);

/* The cave at the end of this mapping, if it is large enough for a slot and holds
 * nothing. */
bool space_cave_in(struct space *sp, const struct maps *maps,
    const struct map *m, uint64_t *addr, size_t *size);

/* Each place where that may have been, whatever stands there now: from *cookie 0
 * on.  0 or -ENOENT after the last. */
int space_next_cave(struct space *sp, const struct maps *maps, size_t size,
    unsigned *cookie, uint64_t *addr);

/*
 * May a process that traces nobody write to read-only memory through
 * /proc/PID/mem?  The guardian has to, and so has the handler in the target.
 * Since Linux 6.12 the administrator may forbid it (proc_mem.force_override=
 * on the kernel's command line, CONFIG_PROC_MEM_NO_FORCE): -EPERM.  Else 0.
 */
int target_may_force(void);

#endif
