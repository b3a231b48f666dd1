/*
 * What an earlier trace has left in a process: memory of slots that a thread
 * was in, and, if it was killed, SIGTRAP's handler with its area.
 */
#ifndef TRACER_LEFTOVER_H
#define TRACER_LEFTOVER_H

struct proc;

/*
 * A process was attached to, its threads are stopped or asleep, and nothing is
 * in it yet: the program has its own action for SIGTRAP again, and what no
 * thread is in or comes back to is unmapped.
 */
void leftover_release(struct proc *p);

#endif
