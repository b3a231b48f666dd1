/*
 * inject/target.h over proc and remote: the ops of every struct space's
 * target.
 */
#ifndef TRACER_TARGET_PTRACE_H
#define TRACER_TARGET_PTRACE_H

#include "inject/target.h"

struct maps;
struct space;

extern const struct target_ops target_ptrace_ops;

/* size bytes of executable memory that nobody uses, all of them zero, aligned
 * to 16: the end of the vDSO, or of the text of a file.  0 or -ENOENT. */
int space_find_cave(struct space *sp, size_t size, uint64_t *addr);

/* Each place where that may have been, whatever stands there now: from *cookie 0
 * on.  0 or -ENOENT after the last. */
int space_next_cave(struct space *sp, const struct maps *maps, size_t size,
    unsigned *cookie, uint64_t *addr);

#endif
