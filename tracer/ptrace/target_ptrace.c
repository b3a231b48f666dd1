/*
 * inject/target.h over a traced process.
 *
 * Memory is read and written through /proc/PID/mem, which ignores the
 * protection of a mapping.  Memory is mapped by a system call in one of the
 * threads.
 */
#include "tracer/ptrace/target_ptrace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "symbols/maps.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define PAGE    4096ULL
#define MIB     (1ULL << 20)
#define GIB     (1ULL << 30)
#define REACH   (2 * GIB - MIB) /* of a rel32, less a margin */
#define LOWEST  MIB             /* well above vm.mmap_min_addr */
#define HIGHEST (0x7fffffffULL << 16)
/* Kept free above the heap and below the stack, because they grow. */
#define HEAP_ROOM  GIB
#define STACK_ROOM (256 * MIB)

static_assert(offsetof(struct space, target) == 0, "cast below");

static struct space *
space_of(struct target *t)
{
	return (struct space *)t;
}

/*
 * Read or write memory word by word with ptrace.  This is used if dtrap has no
 * file descriptor left for the space: a child of a fork has our int3s in its
 * memory, and these must be removed in any case.
 */
static int
word_by_word(
    struct space *sp, uint64_t addr, char *to, const char *from, size_t len)
{
	struct thread *stopped = NULL;

	space_foreach_thread(th, sp)
	{
		if (thread_stopped(th))
			stopped = th;
	}
	if (stopped == NULL)
		return -ESRCH;
	while (len > 0) {
		uint64_t at = addr & ~(sizeof(long) - 1), off = addr - at;
		size_t n = MIN(len, sizeof(long) - off);
		errno = 0;
		long word = ptrace(
		    PTRACE_PEEKDATA, stopped->tid, (void *)(uintptr_t)at, NULL);
		if (errno != 0)
			return -EFAULT;
		if (to != NULL)
			memcpy(to, (char *)&word + off, n);
		else
			memcpy((char *)&word + off, from, n);
		if (to == NULL &&
		    ptrace(PTRACE_POKEDATA, stopped->tid, (void *)(uintptr_t)at,
			(void *)word) != 0)
			return -EFAULT;
		to = to != NULL ? to + n : NULL;
		from = from != NULL ? from + n : NULL;
		addr += n;
		len -= n;
	}
	return 0;
}

static int
target_read(struct target *t, uint64_t addr, void *buf, size_t len)
{
	struct space *sp = space_of(t);
	char *to = buf;

	if (sp->mem_fd < 0)
		return word_by_word(sp, addr, buf, NULL, len);
	while (len > 0) {
		ssize_t n = pread(sp->mem_fd, to, len, (off_t)addr);
		if (n <= 0)
			return -EFAULT;
		to += n;
		addr += (size_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* The kernel has one rule for all processes, so dtrap tries to write to a
 * read-only page of its own.  If it cannot try now, writing counts as
 * allowed. */
int
target_may_force(void)
{
	static bool known;
	static int answer;

	if (known)
		return answer;
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	char *page =
	    mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	known = fd >= 0 && page != MAP_FAILED;
	if (known && pwrite(fd, "", 1, (off_t)(uintptr_t)page) != 1)
		answer = -EPERM;
	if (page != MAP_FAILED)
		munmap(page, 1);
	if (fd >= 0)
		close(fd);
	return answer;
}

static int
target_write(struct target *t, uint64_t addr, const void *buf, size_t len)
{
	struct space *sp = space_of(t);
	const char *from = buf;

	if (sp->mem_fd < 0)
		return word_by_word(sp, addr, NULL, buf, len);
	while (len > 0) {
		ssize_t n = pwrite(sp->mem_fd, from, len, (off_t)addr);
		if (n <= 0)
			return target_may_force() == 0 ?
			    -EFAULT :
			    word_by_word(sp, addr, NULL, from, len);
		from += n;
		addr += (size_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* Looking for room */

struct room {
	uint64_t near, size;
	uint64_t best, distance; /* distance UINT64_MAX: none yet */
};

static uint64_t
distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void
consider(struct room *r, uint64_t addr)
{
	uint64_t d =
	    MAX(distance(addr, r->near), distance(addr + r->size, r->near));

	if (d <= REACH && d < r->distance) {
		r->best = addr;
		r->distance = d;
	}
}

/* [start, end) is free: consider the address in it that is closest to
 * `near'. */
static void
consider_gap(struct room *r, uint64_t start, uint64_t end)
{
	start = ROUND_UP(start, PAGE);
	end &= ~(PAGE - 1);
	if (end <= start || end - start < r->size)
		return;
	consider(r, start);
	consider(r, end - r->size);
	uint64_t near = r->near & ~(PAGE - 1);
	if (near >= start && near <= end - r->size)
		consider(r, near);
}

/*
 * The range of the mapping, with the memory into which it may grow.  If there
 * is no heap yet, it will begin at start_brk.
 */
static void
claims(const struct map *m, uint64_t start_brk, uint64_t *start, uint64_t *end)
{
	*start = m->start;
	*end = m->end;
	if (strcmp(m->path, "[heap]") == 0)
		*end += HEAP_ROOM;
	else if (strcmp(m->path, "[stack]") == 0)
		*start -= MIN(*start, STACK_ROOM);
	if (start_brk >= m->end && start_brk - m->end < 64 * MIB)
		*end = MAX(*end, start_brk + HEAP_ROOM);
}

/* The free address closest to `near' with room for size bytes.  0 or
 * -ENOMEM. */
static int
find_room(const struct maps *maps, uint64_t start_brk, uint64_t near,
    uint64_t size, uint64_t *addr)
{
	struct room r = { near, size, 0, UINT64_MAX };
	uint64_t from = LOWEST, start, end;

	vec_foreach(m, &maps->list) {
		claims(m, start_brk, &start, &end);
		consider_gap(&r, from, start);
		from = MAX(from, end);
	}
	consider_gap(&r, from, HIGHEST);
	*addr = r.best;
	return r.distance != UINT64_MAX ? 0 : -ENOMEM;
}

static int
remote_map(struct space *sp, uint64_t addr, size_t size)
{
	const uint64_t args[6] = { addr, size, PROT_READ | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, (uint64_t)-1,
		0 };
	const uint64_t undo[6] = { 0, size };
	int64_t result;

	int r = remote_syscall_any(sp, SYS_mmap, args, &result);
	if (r < 0)
		return r;
	if (result < 0 && result > -4096)
		return (int)result;
	if ((uint64_t)result == addr)
		return 0;
	/* Linux before 4.17 ignores MAP_FIXED_NOREPLACE, and takes the address
	 * for a hint. */
	uint64_t back[6];
	memcpy(back, undo, sizeof(back));
	back[0] = (uint64_t)result;
	remote_syscall_any(sp, SYS_munmap, back, &result);
	return -EEXIST;
}

static int
target_map_near(struct target *t, uint64_t near, size_t size, uint64_t *addr)
{
	struct space *sp = space_of(t);
	struct maps maps = { 0 };
	uint64_t start_brk = 0;

	if (sp->no_map)
		return -EPERM;
	if (fault_due(FAULT_MAP))
		return -ENOMEM;
	pid_t pid = space_pid(sp);
	int r = maps_read(pid, &maps);
	if (r < 0)
		return r;
	procfs_stat(pid, 47, &start_brk);
	r = find_room(&maps, start_brk, near, size, addr);
	if (r == 0)
		r = remote_map(sp, *addr, size);
	maps_fini(&maps);
	sp->changes += r == 0;
	LOG("proc", "%d: %zu bytes near %#llx: %d", (int)pid, size,
	    (unsigned long long)near, r);
	if (r == -EPERM || r == -EACCES)
		sp->no_map = true;
	return r == -EEXIST ? -ENOMEM : r;
}

static int
target_unmap(struct target *t, uint64_t addr, size_t size)
{
	const uint64_t args[6] = { addr, size };
	struct space *sp = space_of(t);
	int64_t result = 0;
	int r = remote_syscall_any(sp, SYS_munmap, args, &result);

	sp->changes++;
	return r < 0 ? r : (int)result;
}

static int
target_cave(struct target *t, uint64_t near, unsigned *cookie, uint64_t *addr,
    size_t *size)
{
	struct space *sp = space_of(t);
	struct maps maps = { 0 };
	int r = maps_read(space_pid(sp), &maps);

	if (r < 0)
		return -ENOENT;
	r = -ENOENT;
	while (r != 0 && *cookie < maps.list.len) {
		const struct map *m = &maps.list.at[(*cookie)++];
		if (distance(m->start, near) <= REACH &&
		    distance(m->end, near) <= REACH &&
		    space_cave_in(sp, &maps, m, addr, size))
			r = 0;
	}
	maps_fini(&maps);
	return r;
}

/* Threads */

/* The n-th thread of the space, from 0.  NULL if there is none; then the number
 * of threads has been subtracted from *n. */
static struct thread *
nth_thread(struct space *sp, unsigned *n)
{
	vec_foreach(p, &sp->procs) {
		if (*n < (*p)->threads.len)
			return (*p)->threads.at[*n];
		*n -= (unsigned)(*p)->threads.len;
	}
	return NULL;
}

/* The pc of the n-th thread: first the traced threads, then those that are to
 * be detached when they wake. */
static int
target_thread_pc(struct target *t, unsigned n, uint64_t *pc)
{
	struct space *sp = space_of(t);
	struct thread *th = nth_thread(sp, &n);
	uint64_t stack;

	*pc = 0; /* if the thread has ended */
	if (th != NULL)
		return !thread_gone(th) ? thread_pc(th, pc, &stack) : 0;
	if (n >= sp->left.len)
		return -ENOENT;
	*pc = sp->left.at[n];
	return *pc != 0 ? 0 : -EAGAIN;
}

const struct target_ops target_ptrace_ops = {
	.read = target_read,
	.write = target_write,
	.map_near = target_map_near,
	.unmap = target_unmap,
	.cave = target_cave,
	.thread_pc = target_thread_pc,
};
