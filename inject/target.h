/*
 * What inject/ needs from the code that controls a process.
 * tracer/ptrace/target_ptrace.c implements it, and byte arrays in t/fake/ do in
 * tests.
 *
 * A target is one address space.  All functions but read() are called while
 * every thread that shares it is in ptrace-stop; read() may be called while
 * threads run.
 */
#ifndef INJECT_TARGET_H
#define INJECT_TARGET_H

#include <stddef.h>
#include <stdint.h>

struct target;

struct target_ops {
	/* Read memory as it is (our int3 included).  0 or -EFAULT. */
	int (*read)(struct target *, uint64_t addr, void *buf, size_t len);

	/* Write memory whatever its protection, as /proc/PID/mem does.  0 or
	 * -EFAULT; after -EFAULT some of the bytes may have been written. */
	int (*write)(
	    struct target *, uint64_t addr, const void *buf, size_t len);

	/*
	 * Map `size' bytes (page multiple), private, readable and executable,
	 * all of it within +-2 GiB less 1 MiB of `near'.  0 and the address in
	 * *addr; -ENOMEM if there is no room within reach; another negative
	 * errno if the target may not map memory (seccomp, execmem): do not try
	 * again.
	 */
	int (*map_near)(
	    struct target *, uint64_t near, size_t size, uint64_t *addr);
	int (*unmap)(struct target *, uint64_t addr, size_t size);

	/*
	 * Find a cave: executable bytes of the target that nothing uses (the
	 * zeros behind the end of a text segment, on its last page), within
	 * reach of `near'.  Used if map_near() is refused.  0 with *addr and
	 * *size, or -ENOENT.  *cookie is 0 for the first candidate; each call
	 * advances it.
	 */
	int (*cave)(struct target *, uint64_t near, unsigned *cookie,
	    uint64_t *addr, size_t *size);

	/*
	 * The program counter of each thread, to find out which slots are in
	 * use.  Threads are numbered from 0; -ENOENT past the last.  Threads
	 * that were detached while asleep count too, with the pc at which they
	 * slept.  -EAGAIN: the pc of this thread is unknown.
	 */
	int (*thread_pc)(struct target *, unsigned n, uint64_t *pc);
};

struct target {
	const struct target_ops *ops;
};

#endif
