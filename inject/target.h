/*
 * What the patcher needs of whoever controls a process.  A door: answered by
 * tracer/ptrace/target_ptrace.c, and by byte arrays in t/fake/.
 *
 * A target is one address space.  Everything here is called with every thread
 * that shares it in ptrace-stop, except read(), which may be called with
 * threads running.
 */
#ifndef INJECT_TARGET_H
#define INJECT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target;

struct target_ops {
	/* Read memory as it is (our int3 included).  0 or -EFAULT. */
	int (*read)(struct target *, uint64_t addr, void *buf, size_t len);

	/* Write memory whatever its protection, as /proc/PID/mem does.
	 * 0 or -EFAULT, and then nothing is said of how much was written. */
	int (*write)(
	    struct target *, uint64_t addr, const void *buf, size_t len);

	/*
	 * Map `size' bytes (page multiple), private, readable and executable,
	 * all of it within +-2 GiB less 1 MiB of `near'.  0 and the address in
	 * *addr; -ENOMEM if there is no room in reach; another negative errno if
	 * the target is not allowed to (seccomp, execmem): do not ask again.
	 */
	int (*map_near)(
	    struct target *, uint64_t near, size_t size, uint64_t *addr);
	int (*unmap)(struct target *, uint64_t addr, size_t size);

	/*
	 * Executable bytes of the target's own that nothing uses (the zero
	 * tail of a text segment's last page), within reach of `near'; the
	 * plan when map_near() is refused.  0 with *addr and *size, or -ENOENT.
	 * Calls with rising *cookie (from 0) walk the candidates.
	 */
	int (*cave)(struct target *, uint64_t near, unsigned *cookie,
	    uint64_t *addr, size_t *size);

	/*
	 * The program counters of all threads: for quiescing.  Threads are
	 * numbered from 0; -ENOENT past the last.  Those that run no more in
	 * our hands but were let go asleep count, with where they slept.
	 * -EAGAIN: this one's cannot be told, it may be anywhere.
	 */
	int (*thread_pc)(struct target *, unsigned n, uint64_t *pc);
	int (*thread_set_pc)(struct target *, unsigned n, uint64_t pc);
};

struct target {
	const struct target_ops *ops;
};

#endif
