/*
 * plockstat -d: the threads of a process that wait for locks, the threads that
 * hold these locks, and deadlocks.
 *
 * The process is stopped, read, and detached; nothing is written to its memory.
 */
#ifndef TRACER_PROV_PLOCK_PLOCK_HOLDS_H
#define TRACER_PROV_PLOCK_PLOCK_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Print it for process pid: text or JSON.  0, or a negative errno with the
 * reason in why.
 */
int holds_print(pid_t pid, bool json, FILE *out, char *why, size_t size);

/*
 * The cycles of a graph in which node i waits for next[i] (a node, or -1).
 * Calls each(ctx, nodes, n) once for every cycle, its nodes in order.
 */
void holds_cycles(const int *next, size_t n,
    void (*each)(void *ctx, const int *nodes, size_t n), void *ctx);

#endif
