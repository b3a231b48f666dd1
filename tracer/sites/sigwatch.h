/*
 * Watching a program change how it treats SIGTRAP: markers on the `syscall'
 * instructions by which its libraries change a signal's action or the mask.
 * What is seen goes to sigtrap.c, which puts it back after a hit.
 */
#ifndef TRACER_SITES_SIGWATCH_H
#define TRACER_SITES_SIGWATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct space;
struct state;
struct thread;
struct uregs;

/* The space is to get its first probe: queue a marker on every place where its
 * processes change how they treat SIGTRAP.  Its threads may run. */
void sigwatch_look(struct state *st, struct space *sp);

/* It is about to: read how they treat it now.  All its threads are stopped; the
 * caller commits. */
void sigwatch_begin(struct state *st, struct space *sp);

/* Objects have come: queue markers in them. */
void sigwatch_loads(struct state *st, struct space *sp);

/* A fork's child has the markers of its parent, and is watched as that is; its
 * loads are copies in the same order. */
void sigwatch_fork(struct space *parent, struct space *child);

/* Forget everything; the tracepoints go with their table. */
void sigwatch_end(struct space *sp);

/* th->stop.sig is about to be delivered.  A handler whose end is to be seen makes
 * its thread stop at system calls. */
void sigwatch_delivered(struct thread *th);

/* The thread is at the beginning of a system call: if a handler returns by it,
 * the mask is that of the frame afterwards. */
void sigwatch_enter(struct thread *th);

/*
 * Call each(ctx, addr, nr) with the address of every `syscall' instruction in
 * code[0 .. size), which lies at addr, that the constant nr, rt_sigaction or
 * rt_sigprocmask, is loaded for a few instructions before.  Bytes that look so
 * inside of other instructions are possible; the caller confirms.
 */
void sigwatch_find(const uint8_t *code, size_t size, uint64_t addr,
    void (*each)(void *ctx, uint64_t addr, int nr), void *ctx);

#endif
