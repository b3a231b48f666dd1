/*
 * tracer/fast/memory.c: the memory in a target in which clauses run.  The target
 * is this process, so that the memory is really mapped, with its protections; the
 * calls that the tracer has made in a thread are made here.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlang/base/mem.h"
#include "symbols/addrspace.h"
#include "symbols/maps.h"
#include "t/fake/env.h"
#include "tracer/base/state.h"
#include "tracer/consume/consume.h"
#include "tracer/fast/fast_impl.h"
#include "tracer/ptrace/event.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"

#define CLOCK_AT UINT64_C(0x4440)

/* Calls in the target before the memory is there, and writes. */
#define CALLS  9
#define WRITES 2

static struct kit kit;
static struct state state;
static struct space space;
static struct proc proc, second;
static struct thread threads[3];

/* ---- doubles ---- */

static unsigned calls;      /* made in the target */
static unsigned fail_at;    /* this one fails; 0: none */
static unsigned writes;     /* to its memory by the tracer */
static unsigned fail_write; /* the same */
static int stopped;         /* space_stop() calls not yet undone */
static bool asleep[3];      /* threads that can make no call */
static const char *status_text = "Name: x\nVmLck:	       0 kB\n";
static bool other_time;        /* another time namespace */
static int calling_clock = -1; /* see double_clock() */
static bool alive_fails;
static bool consumer_refuses;
static unsigned stores, stores_ended;
static bool firing; /* a thread is in the middle of a firing */
static unsigned let_go, given_up;
static unsigned began; /* threads that were given a lane */

static int
double_call(long nr, const uint64_t a[6], int64_t *result)
{
	ck_assert_int_gt(stopped, 0);
	if (++calls == fail_at) {
		*result = -EPERM;
		return 0;
	}
	*result = syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (*result < 0)
		*result = -errno;
	else if (nr == SYS_mmap && (a[2] & PROT_WRITE)) /* as remote.c does */
		memset((void *)(uintptr_t)*result, 0xaa, 64);
	return 0;
}

static int
double_data(const struct thread *th, long nr, const uint64_t a[6], void *data,
    int64_t *result)
{
	ck_assert_int_gt(stopped, 0);
	ck_assert_uint_eq(a[0], REMOTE_DATA);
	if (asleep[th - threads])
		return -EBUSY;
	if (++calls == fail_at)
		return -EPERM;
	*result = syscall(nr, data, a[1]);
	return 0;
}

static struct thread *
double_next(const struct proc *p, const struct thread *prev)
{
	if (p != &proc || prev == &threads[2])
		return NULL;
	return &threads[prev == NULL ? 0 : prev - threads + 1];
}

static int
target_write(struct target *t, uint64_t addr, const void *buf, size_t len)
{
	ck_assert_ptr_nonnull(t);
	if (++writes == fail_write)
		return -EFAULT;
	memcpy((void *)(uintptr_t)addr, buf, len);
	return 0;
}

static ssize_t
double_text(const char *name, char *buf, size_t size)
{
	ck_assert_str_eq(name, "status");
	return snprintf(buf, size, "%s", status_text);
}

static ssize_t
double_link(pid_t pid, const char *name, char *buf, size_t size)
{
	static int n;

	ck_assert_str_eq(name, "ns/time");
	return snprintf(buf, size, "time:[%d]", other_time ? n++ : 7);
}

static int
double_await(pid_t pid)
{
	int status = 0;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* A clock that cannot be read in memory makes a system call. */
static int
double_clock(clockid_t clock)
{
	return clock == calling_clock ? (int)syscall(SYS_getpid) : 0;
}

static int
double_alive(int fd)
{
	return alive_fails ? -1 : (alive_add)(fd);
}

static struct load vdso = { .is_vdso = true, .bias = 0x4000 };
static struct load libc = { .bias = 0x9000 };
static struct sym clock_sym = { .addr = 0x440 };
static bool has_clock = true;

static size_t
double_loads(struct load *const **out)
{
	static struct load *list[] = { &libc, &vdso };

	*out = list;
	return 2;
}

static const struct sym *
double_sym(const char *name)
{
	ck_assert_str_eq(name, "__vdso_clock_gettime");
	return has_clock ? &clock_sym : NULL;
}

static bool
double_add(const struct region *store, uint32_t pid)
{
	ck_assert_uint_eq(pid, (uint32_t)proc.pid);
	ck_assert_ptr_nonnull(store->base);
	stores += !consumer_refuses;
	return !consumer_refuses;
}

static void
double_end(const struct region *store, int lane)
{
	ck_assert_int_eq(lane, -1);
	/* It can still be read. */
	ck_assert_uint_eq(store_hdr(store)->magic, STORE_MAGIC);
	stores_ended++;
}

#define remote_syscall_any(sp, nr, a, r)        double_call(nr, a, r)
#define remote_syscall_data(th, nr, a, d, n, r) double_data(th, nr, a, d, r)
#define remote_next_in(p, th)                   double_next(p, th)
#define space_stop(sp)                          stopped++
#define space_resume(sp)                        stopped--
#define procfs_text(pid, name, buf, n)          double_text(name, buf, n)
#define procfs_link(pid, name, buf, n)          double_link(pid, name, buf, n)
#define event_await_plain(su, pid)              double_await(pid)
#define addrspace_loads(as, out)                double_loads(out)
#define addrspace_stamp(as)                     77
#define object_sym(o, name)                     double_sym(name)
#define consume_lanes_add(c, s, pid)            double_add(s, pid)
#define consume_lanes_end(c, s, n)              double_end(s, n)
#define loads_refresh(f, pid)                   (void)(pid)
#define fast_begins(st, th)                     began++
#define fast_in_use(p)                          firing
#define lanes_let_go(st, p)                     let_go++
#define lanes_give_up(st, f)                    given_up++
#define clock_gettime(c, ts)                    ((void)(ts), double_clock(c))
#define alive_add(fd)                           double_alive(fd)
#include "tracer/fast/memory.c"

static const struct target_ops ops = { .write = target_write };

static void
setup_off(void)
{
	kit_init(&kit);
	kit_clause(&kit, kit_const(&kit, 3), 24);
	kit_publish(&kit);
	options_init(&state.opts);
	ck_assert_int_eq(option_parse(&state.opts, "fastpath=on", false), 0);
	ck_assert_int_eq(option_parse(&state.opts, "jit=on", false), 0);
	proc.pid = second.pid = getpid();
	proc.space = second.space = &space;
	space.target.ops = &ops;
	space.as = (struct addrspace *)&space;
	*vec_push(&space.procs) = &proc;
	for (unsigned i = 0; i < ARRAY_SIZE(threads); i++) {
		threads[i].proc = &proc;
		*vec_push(&proc.threads) = &threads[i];
	}
}

static void
setup(void)
{
	setup_off();
	fast_start(&state, &kit.image, &kit.sizes);
}

static void
teardown(void)
{
	fast_space_ends(&state, &space);
	fast_end(&state);
	ck_assert(!fast_is_on(&state));
	parts_end(&space.parts);
	vec_fini(&space.procs);
	vec_fini(&proc.threads);
	options_fini(&state.opts);
	kit_fini(&kit);
}

/* The mappings of the memory: "rw-s" and the like, one behind the other; first
 * the page before them. */
static const char *
protections(void)
{
	static char text[200];
	struct maps maps = { 0 };
	size_t n = 0;
	uint64_t start = fast_of(&space)->addr, end = start;

	text[0] = '\0';
	ck_assert_int_eq(maps_read(getpid(), &maps), 0);
	vec_foreach(m, &maps.list) {
		if (m->start < start || m->start > end ||
		    m->start >= start + fast_of(&space)->size)
			continue;
		end = m->end;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%c%c%c%c ",
		    m->read ? 'r' : '-', m->write ? 'w' : '-',
		    m->exec ? 'x' : '-', m->shared ? 's' : 'p');
	}
	maps_fini(&maps);
	return text;
}

/* How often this process has the memory mapped, and how many files are open. */
static unsigned
mappings(void)
{
	struct maps maps = { 0 };
	unsigned n = 0;

	ck_assert_int_eq(maps_read(getpid(), &maps), 0);
	vec_foreach(m, &maps.list)
		n += strstr(m->path, STUB_MEMORY) != NULL;
	maps_fini(&maps);
	return n;
}

/* What is mapped without access: the memory before its parts are mapped. */
static uint64_t
mapped_bytes(void)
{
	struct maps maps = { 0 };
	uint64_t n = 0;

	ck_assert_int_eq(maps_read(getpid(), &maps), 0);
	vec_foreach(m, &maps.list)
		n += m->read ? 0 : m->end - m->start;
	maps_fini(&maps);
	return n;
}

static unsigned
files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static uint32_t
word(uint64_t addr)
{
	return *(const uint32_t *)(uintptr_t)addr;
}

/* ---- the option ---- */

static bool
is_on(const char *fastpath, const char *cpu)
{
	struct state st = { 0 };

	options_init(&st.opts);
	if (fastpath != NULL)
		ck_assert_int_eq(option_parse(&st.opts, fastpath, false), 0);
	if (cpu != NULL)
		ck_assert_int_eq(option_parse(&st.opts, cpu, false), 0);
	fast_start(&st, &kit.image, &kit.sizes);
	bool on = fast_is_on(&st);
	ck_assert(on == (fast_barrier(&st) != NULL));
	if (on) {
		ck_assert_ptr_eq(fast_image(&st).base, kit.image.base);
		fast_barrier (&st)();
	}
	fast_end(&st);
	options_fini(&st.opts);
	return on;
}

START_TEST(the_option_decides)
{
	ck_assert(is_on("fastpath=on", NULL));
	ck_assert(is_on("fastpath=ON", NULL));
	ck_assert(is_on(NULL, NULL));
	ck_assert(is_on("fastpath=auto", NULL));
	ck_assert(!is_on("fastpath=off", NULL));
	/* One processor: the tracer sees on which one a hit is. */
	ck_assert(!is_on("fastpath=on", "cpu=0"));
	ck_assert(!is_on("fastpath=on", "cpu=1"));
}
END_TEST

START_TEST(the_code_is_shown_on_demand)
{
	char *text;
	size_t len;

	fast_end(&state);
	state.output.err = open_memstream(&text, &len);
	fast_start(&state, &kit.image, &kit.sizes);
	fast_end(&state);
	fflush(state.output.err);
	ck_assert_uint_eq(len, 0);
	ck_assert_int_eq(option_parse(&state.opts, "verbose", false), 0);
	fast_start(&state, &kit.image, &kit.sizes);
	fclose(state.output.err);
	ck_assert_ptr_nonnull(strstr(text, "DIFO in machine code"));
	free(text);
}
END_TEST

START_TEST(clauses_are_compiled_if_the_option_says_so)
{
	ck_assert_uint_gt(state.fast->code_size, 0);
	fast_end(&state);
	ck_assert_int_eq(option_parse(&state.opts, "jit=off", false), 0);
	fast_start(&state, &kit.image, &kit.sizes);
	ck_assert_uint_eq(state.fast->code_size, 0);
}
END_TEST

START_TEST(with_auto_they_are_compiled_when_there_is_memory)
{
	fast_end(&state);
	ck_assert_int_eq(option_parse(&state.opts, "fastpath=auto", false), 0);
	fast_start(&state, &kit.image, &kit.sizes);
	ck_assert_uint_eq(state.fast->code_size, 0);
	ck_assert(fast_map(&state, &space));
	ck_assert_uint_gt(state.fast->code_size, 0);
}
END_TEST

/* ---- mapping ---- */

START_TEST(each_part_has_its_protection)
{
	ck_assert_ptr_null(fast_world(&space));
	ck_assert_ptr_nonnull(fast_why(&space));
	ck_assert(fast_map(&state, &space));
	ck_assert_ptr_null(fast_why(&space));
	ck_assert_uint_eq(calls, CALLS + 1); /* and close() */
	ck_assert_uint_eq(writes, WRITES);
	/* own; alive; text; data; code; tables and image; store. */
	ck_assert_str_eq(protections(), "rw-p rw-s r-xs rw-s r-xs r--s rw-s ");
	ck_assert_int_eq(stopped, 0);
	/* The code of a site checks these before anything else. */
	const struct stub_world *w = fast_world(&space);
	ck_assert_uint_eq(word(w->mine), 1);
	ck_assert_uint_eq(word(w->alive), w->owner);
	ck_assert_uint_eq(word(w->mine + 4) | word(w->alive + 4), 0);
	ck_assert_uint_eq(w->owner, (uint32_t)gettid());
	ck_assert_uint_eq(w->alive, w->mine + PAGE);
	const struct fast_space *f = fast_of(&space);
	ck_assert_uint_ge(w->hit, f->addr + 2 * PAGE);
	ck_assert_uint_lt(w->hit, (uint64_t)(uintptr_t)f->agent);
	/* All lanes are in that range, and no whole lane begins behind it. */
	ck_assert_uint_ge(f->lanes.len, 32);
	vec_foreach(u, &f->lanes) {
		uint64_t at = fast_addr(f, u->v.lane);
		ck_assert_uint_ge(at, w->lanes);
		ck_assert_uint_lt(at, w->lanes + w->span);
		ck_assert_ptr_null(u->owner);
	}
	ck_assert_uint_le(
	    w->lanes + w->span + sizeof(struct lane), f->addr + f->size);
	ck_assert_uint_eq(stores, 1);
	ck_assert_uint_eq(began, 0); /* threads may run */
}
END_TEST

/* The target cannot write to the code, and nobody can cut the file, whose pages
 * the tracer reads. */
START_TEST(the_file_is_sealed)
{
	char path[64];

	ck_assert(fast_map(&state, &space));
	const struct fast_space *f = fast_of(&space);
	void *text = (void *)(uintptr_t)(f->addr + 2 * PAGE);
	void *image = (void *)(uintptr_t)fast_addr(f, f->image.base);
	ck_assert_int_ne(mprotect(text, PAGE, PROT_READ | PROT_WRITE), 0);
	ck_assert_int_eq(errno, EACCES);
	ck_assert_int_ne(mprotect(image, PAGE, PROT_READ | PROT_WRITE), 0);
	struct maps maps = { 0 };
	ck_assert_int_eq(maps_read(getpid(), &maps), 0);
	vec_foreach(m, &maps.list) {
		if (m->start != (uintptr_t)text)
			continue;
		snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx",
		    (unsigned long)m->start, (unsigned long)m->end);
		int fd = open(path, O_RDWR);
		if (fd < 0) { /* who has no rights may not open it */
			ck_assert_int_eq(errno, EPERM);
			continue;
		}
		ck_assert_int_ne(ftruncate(fd, PAGE), 0);
		ck_assert_ptr_eq(
		    mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
		    MAP_FAILED);
		close(fd);
	}
	maps_fini(&maps);
}
END_TEST

START_TEST(both_see_the_same_memory)
{
	unsigned open = files();

	ck_assert(fast_map(&state, &space));
	struct fast_space *f = fast_of(&space);
	ck_assert_uint_eq(files(), open);
	ck_assert_uint_eq(f->agent->magic, AGENT_MAGIC);
	const struct agent *there =
	    (const void *)(uintptr_t)fast_addr(f, f->agent);
	f->agent->space = 3;
	ck_assert_uint_eq(there->space, 3);
	/* The addresses in it are the target's. */
	ck_assert_uint_eq(
	    ((const struct store_hdr *)(uintptr_t)there->store_base)->magic,
	    STORE_MAGIC);
	ck_assert_uint_eq(there->store_size, f->store.size);
	ck_assert_mem_eq(
	    (const void *)(uintptr_t)(there->code + state.fast->code_at),
	    state.fast->code, state.fast->code_size);
	ck_assert_uint_gt(f->nfixups, 0);
	ck_assert_mem_eq((const void *)(uintptr_t)f->fixups_at, f->fixups,
	    f->nfixups * sizeof(*f->fixups));
	ck_assert_ptr_nonnull(f->tables[0]);
	ck_assert_ptr_eq(
	    (uint8_t *)f->tables[0] + RANGES_SIZE / 2, f->tables[1]);
	ck_assert_uint_le(
	    (uintptr_t)f->tables[0] + RANGES_SIZE, (uintptr_t)f->image.base);
}
END_TEST

START_TEST(the_image_is_copied_when_threads_are_stopped)
{
	const struct img_hdr *im = (const void *)kit.image.base;

	ck_assert(fast_space(&state, &space));
	struct fast_space *f = fast_of(&space);
	ck_assert_uint_eq(began, 3);
	ck_assert_mem_eq(
	    (const void *)(uintptr_t)f->agent->image_base, im, im->used);
	ck_assert_uint_eq(f->agent->image_size, im->used);
	ck_assert_uint_eq(f->agent->space, 77);
	/* It is mapped once, and copied each time. */
	unsigned before = calls;
	f->agent->image_size = 0;
	ck_assert(fast_space(&state, &space));
	ck_assert_uint_eq(calls, before);
	ck_assert_uint_eq(f->agent->image_size, im->used);
	ck_assert_uint_eq(state.fast->spaces.len, 1);
	/* Nothing fires when it does not fit any more. */
	f->image.size = im->used;
	ck_assert(fast_space(&state, &space));
	f->image.size = im->used - 1;
	ck_assert(!fast_space(&state, &space));
	ck_assert_uint_ne(f->agent->broken, 0);
	ck_assert_str_eq(fast_why(&space), "there are too many probes");
	ck_assert(!fast_map(&state, &space));
}
END_TEST

START_TEST(there_is_room_for_probes_that_are_enabled_later)
{
	const struct img_hdr *im = (const void *)kit.image.base;

	ck_assert(fast_map(&state, &space));
	ck_assert_uint_ge(fast_of(&space)->image.size, im->used + (1U << 20));
}
END_TEST

/* Those of all the libraries that a program may load, and of its children. */
START_TEST(there_is_as_much_room_as_in_the_image)
{
	struct img_hdr *im = (void *)kit.image.base;

	im->size = 100U << 20;
	state.fast->whole.bufsize = 4U << 20;
	ck_assert(fast_map(&state, &space));
	ck_assert_uint_ge(fast_of(&space)->image.size, im->size);
	ck_assert_uint_eq(fast_of(&space)->lanes.at[0].v.buf_size, 1U << 19);
}
END_TEST

START_TEST(a_process_with_little_memory_gets_little_room)
{
	struct img_hdr *im = (void *)kit.image.base;
	const struct rlimit limit = { UINT64_C(1) << 40, UINT64_C(1) << 40 };

	im->size = 100U << 20;
	state.fast->whole.bufsize = 4U << 20;
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	ck_assert(fast_map(&state, &space));
	ck_assert_uint_eq(fast_of(&space)->lanes.at[0].v.buf_size, 1U << 17);
	ck_assert_uint_le(
	    fast_of(&space)->image.size, im->used + (1U << 20) + PAGE);
}
END_TEST

START_TEST(a_child_of_a_fork_has_none_of_it)
{
	int status, fd[2];

	ck_assert(fast_map(&state, &space));
	const struct stub_world *w = fast_world(&space);
	ck_assert_int_eq(pipe(fd), 0);
	pid_t pid = fork();
	if (pid == 0) {
		/* The kernel says which addresses are not mapped. */
		bool ok = word(w->mine) == 0 && word(w->alive) == w->owner &&
		    write(fd[1], (void *)(uintptr_t)w->hit, 1) < 0 &&
		    write(fd[1], (void *)(uintptr_t)w->lanes, 1) < 0;
		_exit(ok ? 3 : 4);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 3);
}
END_TEST

/* A page has memory once it is written, so many lanes cost little. */
START_TEST(lanes_for_the_threads_that_there_are)
{
	for (unsigned i = 0; i < 37; i++)
		*vec_push(&second.threads) = &threads[0];
	*vec_push(&space.procs) = &second;
	ck_assert(fast_map(&state, &space));
	ck_assert_uint_eq(fast_of(&space)->lanes.len, 80);
	/* They share the buffers that the user wants. */
	struct store_sizes share =
	    store_share((const void *)kit.image.base, &kit.sizes, 80, true);
	ck_assert_uint_ge(
	    fast_of(&space)->lanes.at[0].v.buf_size, share.bufsize);
	space.procs.len = 1;
	vec_fini(&second.threads);
}
END_TEST

START_TEST(no_more_lanes_than_can_be)
{
	for (unsigned i = 0; i < 2000; i++)
		*vec_push(&second.threads) = &threads[0];
	*vec_push(&space.procs) = &second;
	ck_assert(fast_map(&state, &space));
	ck_assert_uint_eq(fast_of(&space)->lanes.len, 1024);
	space.procs.len = 1;
	vec_fini(&second.threads);
}
END_TEST

START_TEST(a_thread_that_sleeps_creates_no_file)
{
	asleep[0] = true;
	fail_at = 1; /* nor does one that may not */
	ck_assert(fast_map(&state, &space));
}
END_TEST

/* ---- what is not mapped ---- */

static void
refused(const char *why)
{
	ck_assert(!fast_map(&state, &space));
	ck_assert_str_eq(fast_why(&space), why);
	ck_assert_ptr_null(fast_world(&space));
	ck_assert(!fast_has_clock(&space));
	ck_assert_uint_eq(state.fast->spaces.len, 0);
	ck_assert_int_eq(stopped, 0);
	/* It is not tried again. */
	unsigned before = calls;
	ck_assert(!fast_space(&state, &space));
	ck_assert_uint_eq(calls, before);
	ck_assert_uint_eq(began, 0);
}

START_TEST(not_in_a_process_that_locks_its_memory)
{
	status_text = "VmLck:	       4 kB\n";
	refused("the process uses mlockall()");
	ck_assert_uint_eq(calls, 0);
}
END_TEST

START_TEST(not_where_that_is_not_known)
{
	status_text = "";
	refused("the process uses mlockall()");
}
END_TEST

START_TEST(not_with_buffers_that_are_too_large)
{
	state.fast->whole.bufsize = 0xf0000000;
	state.fast->whole.aggsize = 0x40000000;
	refused("its buffers are too large");
	ck_assert_uint_eq(calls, 0);
}
END_TEST

START_TEST(not_where_a_process_runs_untraced)
{
	space.parted = true;
	ck_assert(!fast_map(&state, &space));
	space.parted = false;
	struct addrspace *as = space.as;
	space.as = NULL;
	ck_assert(!fast_map(&state, &space));
	space.as = as;
	struct fast *f = state.fast;
	state.fast = NULL;
	ck_assert(!fast_map(&state, &space));
	state.fast = f;
	ck_assert_uint_eq(calls, 0);
	/* These may change. */
	ck_assert(fast_map(&state, &space));
}
END_TEST

#define CANNOT "memory for it cannot be mapped in the process"

START_TEST(whichever_call_fails_nothing_is_left)
{
	unsigned open = files();

	(alive_add)(-1); /* the tracer's own memory, which stays */
	uint64_t bytes = mapped_bytes();
	fail_at = (unsigned)_i + 1;
	refused(CANNOT);
	ck_assert_uint_eq(mappings(), 0);
	ck_assert_uint_le(mapped_bytes(), bytes);
	ck_assert_uint_eq(files(), open);
	ck_assert_uint_eq(stores, stores_ended);
}
END_TEST

START_TEST(a_write_fails)
{
	unsigned open = files();

	fail_write = (unsigned)_i + 1;
	refused(CANNOT);
	ck_assert_uint_eq(mappings(), 0);
	ck_assert_uint_eq(files(), open);
	ck_assert_uint_eq(stores, stores_ended);
}
END_TEST

START_TEST(the_consumer_refuses)
{
	consumer_refuses = true;
	refused(CANNOT);
	ck_assert_uint_eq(mappings(), 0);
}
END_TEST

START_TEST(its_file_cannot_be_opened)
{
	proc.pid = 0x7fffffff;
	refused(CANNOT);
}
END_TEST

START_TEST(the_kernel_cannot_tell_that_the_tracer_has_died)
{
	alive_fails = true;
	refused(CANNOT);
	ck_assert_uint_eq(stores, stores_ended);
}
END_TEST

START_TEST(all_threads_sleep)
{
	asleep[0] = asleep[1] = asleep[2] = true;
	refused(CANNOT);
	ck_assert_uint_eq(calls, 0);
}
END_TEST

/* ---- the clock ---- */

/* Whether this machine's clock can be read is asked once. */
START_TEST(the_clock_is_the_vdsos)
{
	ck_assert(fast_map(&state, &space));
	ck_assert_uint_eq(fast_of(&space)->agent->clock, CLOCK_AT);
	ck_assert(fast_has_clock(&space));
}
END_TEST

START_TEST(no_clock_without_the_function)
{
	has_clock = false;
	ck_assert(fast_map(&state, &space));
	ck_assert(!fast_has_clock(&space));
}
END_TEST

START_TEST(no_clock_in_another_time_namespace)
{
	other_time = true;
	ck_assert(fast_map(&state, &space));
	ck_assert(!fast_has_clock(&space));
}
END_TEST

/* The option is not set yet: a machine is asked once, at the start. */
static void
starts_with(int clock, bool can)
{
	calling_clock = clock;
	fast_start(&state, &kit.image, &kit.sizes);
	calling_clock = -1;
	ck_assert(fast_map(&state, &space));
	ck_assert(fast_has_clock(&space) == can);
}

START_TEST(a_clock_that_makes_no_call)
{
	starts_with(-1, true);
}
END_TEST

START_TEST(no_clock_that_makes_a_call)
{
	starts_with(CLOCK_MONOTONIC, false);
}
END_TEST

START_TEST(no_clock_of_which_one_half_makes_a_call)
{
	starts_with(CLOCK_REALTIME, false);
}
END_TEST

/* ---- the run, and its end ---- */

START_TEST(every_memory_knows_whether_the_trace_has_begun)
{
	fast_set_activity(&state, ACTIVITY_WARMUP);
	ck_assert(fast_map(&state, &space));
	const struct store_hdr *there =
	    (const void *)(uintptr_t)fast_world(&space)->lanes;
	ck_assert_uint_eq(there->activity, ACTIVITY_WARMUP);
	fast_set_activity(&state, ACTIVITY_ACTIVE);
	ck_assert_uint_eq(there->activity, ACTIVITY_ACTIVE);
	struct state off = { 0 };
	fast_set_activity(&off, ACTIVITY_ACTIVE);
}
END_TEST

START_TEST(a_detach_unmaps_it)
{
	ck_assert(fast_release(&state, &proc)); /* nothing is there */
	ck_assert_uint_eq(let_go, 1);
	ck_assert(fast_map(&state, &space));
	stopped = 1; /* as at a detach */
	uint64_t addr = fast_of(&space)->addr;
	ck_assert(fast_release(&state, &proc));
	ck_assert_uint_eq(let_go, 2);
	ck_assert_uint_eq(mappings(), 0);
	unsigned char vec;
	ck_assert_int_eq(mincore((void *)(uintptr_t)addr, PAGE, &vec), -1);
	ck_assert_uint_eq(given_up, 1);
	ck_assert_uint_eq(stores_ended, 1);
	ck_assert_uint_eq(state.fast->spaces.len, 0);
	ck_assert_ptr_null(fast_world(&space));
	ck_assert_ptr_nonnull(fast_why(&space));
}
END_TEST

START_TEST(a_detach_in_the_middle_of_a_firing_leaves_it)
{
	ck_assert(fast_map(&state, &space));
	struct stub_world w = *fast_world(&space);
	stopped = 1;
	firing = true;
	ck_assert(!fast_release(&state, &proc));
	/* The thread goes on there; and every site knows that the tracer has
	 * gone. */
	ck_assert_uint_eq(
	    ((const struct store_hdr *)(uintptr_t)w.lanes)->magic, STORE_MAGIC);
	ck_assert_uint_eq(word(w.alive), 0);
	ck_assert_ptr_null(fast_world(&space));
}
END_TEST

START_TEST(a_detach_while_others_use_it_leaves_it)
{
	ck_assert(fast_map(&state, &space));
	stopped = 1;
	*vec_push(&space.procs) = &second;
	ck_assert(!fast_release(&state, &proc));
	ck_assert_ptr_nonnull(fast_world(&space));
	ck_assert_uint_eq(stores_ended, 0);
	space.procs.len = 1;
	space.parted = true; /* one that is not traced any more */
	uint64_t at = fast_world(&space)->lanes;
	ck_assert(!fast_release(&state, &proc));
	ck_assert_uint_eq(word(at), STORE_MAGIC);
	state.fast->spaces.len = 0;
	struct state off = { 0 };
	ck_assert(fast_release(&off, &proc));
}
END_TEST

START_TEST(a_space_that_ends_is_released_by_the_tracer_alone)
{
	struct space other_space = { .target = { &ops }, .as = space.as };

	*vec_push(&other_space.procs) = &proc;
	ck_assert(fast_map(&state, &space));
	ck_assert(fast_map(&state, &other_space));
	ck_assert_uint_ne(fast_of(&space)->id, fast_of(&other_space)->id);
	unsigned before = calls;
	uint64_t at = fast_world(&other_space)->lanes;
	fast_space_ends(&state, &other_space);
	fast_space_ends(&state, &other_space);
	ck_assert_uint_eq(calls, before);
	ck_assert_uint_eq(word(at), STORE_MAGIC);
	ck_assert_str_eq(fast_why(&other_space), "it has ended");
	ck_assert_uint_eq(stores_ended, 1);
	ck_assert_uint_eq(given_up, 1);
	/* The other one is still there. */
	ck_assert_uint_eq(state.fast->spaces.len, 1);
	ck_assert_ptr_eq(state.fast->spaces.at[0], fast_of(&space));
	fast_space_ends(&state, &space);
	ck_assert_uint_eq(state.fast->spaces.len, 0);
	parts_end(&other_space.parts);
	vec_fini(&other_space.procs);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("fast memory");
	TCase *tc = tcase_create("memory");
	const TTest *const tests[] = {
		the_option_decides,
		the_code_is_shown_on_demand,
		clauses_are_compiled_if_the_option_says_so,
		with_auto_they_are_compiled_when_there_is_memory,
		each_part_has_its_protection,
		the_file_is_sealed,
		both_see_the_same_memory,
		the_image_is_copied_when_threads_are_stopped,
		there_is_room_for_probes_that_are_enabled_later,
		there_is_as_much_room_as_in_the_image,
		a_process_with_little_memory_gets_little_room,
		a_child_of_a_fork_has_none_of_it,
		lanes_for_the_threads_that_there_are,
		no_more_lanes_than_can_be,
		a_thread_that_sleeps_creates_no_file,
		not_in_a_process_that_locks_its_memory,
		not_where_that_is_not_known,
		not_with_buffers_that_are_too_large,
		not_where_a_process_runs_untraced,
		the_consumer_refuses,
		its_file_cannot_be_opened,
		the_kernel_cannot_tell_that_the_tracer_has_died,
		all_threads_sleep,
		the_clock_is_the_vdsos,
		no_clock_without_the_function,
		no_clock_in_another_time_namespace,
		every_memory_knows_whether_the_trace_has_begun,
		a_detach_unmaps_it,
		a_detach_in_the_middle_of_a_firing_leaves_it,
		a_detach_while_others_use_it_leaves_it,
		a_space_that_ends_is_released_by_the_tracer_alone,
	};

	tcase_add_checked_fixture(tc, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(tc, tests[i]);
	tcase_add_loop_test(tc, whichever_call_fails_nothing_is_left, 1, CALLS);
	tcase_add_loop_test(tc, a_write_fails, 0, WRITES);
	suite_add_tcase(s, tc);
	tc = tcase_create("clock");
	tcase_add_checked_fixture(tc, setup_off, teardown);
	tcase_add_test(tc, a_clock_that_makes_no_call);
	tcase_add_test(tc, no_clock_that_makes_a_call);
	tcase_add_test(tc, no_clock_of_which_one_half_makes_a_call);
	suite_add_tcase(s, tc);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
