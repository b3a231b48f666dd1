/*
 * Watches on data: a thread stops when it has written to an address, or has read
 * it.
 *
 * A watch is a perf event of the kernel (perf_event_open(2), a breakpoint with
 * `sigtrap'), which uses a debug register of the processor.  It belongs to a
 * descriptor of the tracer's: if the tracer dies, the watch goes with it, and
 * nothing in the process has to be restored.
 *
 * The kernel reports an access by a SIGTRAP that stops the thread behind the
 * instruction.  A thread that blocks SIGTRAP does not stop; its accesses are
 * counted, and datawatch_next() tells how many there were.  Accesses by the kernel, as in read(2), are not seen.
 */
#ifndef TRACER_PTRACE_DATAWATCH_H
#define TRACER_PTRACE_DATAWATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct thread;

enum datawatch_how {
	DATAWATCH_WRITE,
	DATAWATCH_ACCESS, /* also where it is read */
};

/* A length that can be watched at this address: 1, 2, 4 or 8 bytes, and the
 * address is a multiple of it. */
bool datawatch_fits(uint64_t addr, uint64_t len);

/*
 * Watch in one thread; `id' tells this watch from others of the thread, and is
 * not watched twice.  An exec ends it.  0, or -errno: -ENOSPC,
 * the thread has no debug register left (the processor has four); -EACCES, the
 * system forbids perf events (kernel.perf_event_paranoid); -ENOENT, -EINVAL or
 * -EOPNOTSUPP, machine or kernel have no such events (Linux 5.13); -EMFILE.
 */
int datawatch_add(struct thread *th, uint32_t id, uint64_t addr, unsigned len,
    enum datawatch_how how);

/* End the thread's watch `id', or all of them.  A stop for one may still come. */
void datawatch_drop(struct thread *th, uint32_t id);
void datawatch_end(struct thread *th);

/* At EV_TRAP: is the stop for watches of the thread?  One stop may be for
 * several. */
bool datawatch_at(struct thread *th);

/* The next watch that has seen accesses since it was told of: *id, and *n of them.
 * False: there is none.  More than one: there was no stop for the others. */
bool datawatch_next(struct thread *th, uint32_t *id, uint64_t *n);

/* Is it the signal of a watch of dtrap's? */
bool datawatch_is(const siginfo_t *si);

/* Has the thread had a watch?  Then such a SIGTRAP may be pending. */
bool datawatch_had(const struct thread *th);

#endif
