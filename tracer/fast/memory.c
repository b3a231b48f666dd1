/*
 * The memory in the target (fast_impl.h draws it).  System calls in one of the
 * target's threads create a memfd and map it; the tracer maps it as well.
 *
 * The target creates the file, because a tracer may open the files of a process
 * that it may trace, by /proc/PID/fd, and a target may not open the tracer's.
 * A page takes up memory when it is first written.  The tracer writes first to
 * the pages that every firing needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "tracer/base/state.h"
#include "tracer/consume/consume.h"
#include "tracer/fast/fast_impl.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/event.h"
#include "tracer/ptrace/procfs.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"

/* The number of lanes: at least, at most, and for each thread that exists when
 * the memory is mapped. */
#define LANES_LEAST    32U
#define LANES_MOST     1024U
#define LANES_FOR_EACH 2U

/* Room in the image for probes that are enabled later: where the process may have
 * as much memory as it likes, and elsewhere. */
#define IMAGE_MORE  (1U << 29)
#define IMAGE_LEAST (1U << 20)

/* A stub compares the offset of a lane with a signed 32-bit immediate. */
#define STORE_MOST 0x7fffffffU

const char *
fast_why(const struct space *sp)
{
	const struct fast_space *f = fast_of(sp);

	return f == NULL ? "its memory is not mapped" : f->why;
}

const struct stub_world *
fast_world(const struct space *sp)
{
	const struct fast_space *f = fast_of(sp);

	return f != NULL && f->addr != 0 ? &f->world : NULL;
}

static const struct load *
vdso_of(const struct space *sp)
{
	struct load *const *loads;
	size_t n = addrspace_loads(sp->as, &loads);

	for (size_t i = 0; i < n; i++)
		if (loads[i]->is_vdso)
			return loads[i];
	return NULL;
}

/* Has the vDSO probes?  Each time a clause in the target asks it for the time, it
 * traps, and the probes do not fire (fast_is_away()). */
static bool
vdso_is_probed(const struct space *sp)
{
	const struct load *l = vdso_of(sp);
	struct tracepoint *tp = NULL;

	while (l != NULL && (tp = tracepoint_next(sp->tab, tp)) != NULL)
		if (tp->addr >= l->start && tp->addr < l->end)
			return true;
	return false;
}

bool
fast_has_clock(const struct space *sp)
{
	struct fast_space *f = fast_of(sp);

	if (f == NULL || f->addr == 0)
		return false;
	if (f->agent->clock != 0 && !f->counts && sp->tab != NULL &&
	    vdso_is_probed(sp))
		f->agent->clock = 0;
	return f->agent->clock != 0;
}

/* The pid of a process of the space. */
static pid_t
pid_in(const struct space *sp)
{
	return sp->procs.at[0]->pid;
}

/* ---- calls in the target ---- */

static int64_t
call(struct space *sp, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
    uint64_t e, uint64_t f)
{
	const uint64_t args[6] = { a, b, c, d, e, f };
	int64_t result;
	int r = remote_syscall_any(sp, nr, args, &result);

	return r < 0 ? r : result;
}

/* Create a memfd.  Returns its file descriptor in the target, or -errno. */
static int64_t
make_file(struct space *sp)
{
	const uint64_t args[6] = { REMOTE_DATA,
		MFD_CLOEXEC | MFD_ALLOW_SEALING };
	int64_t result = -ESRCH;

	vec_foreach(p, &sp->procs)
		for (struct thread *th = NULL;
		     (th = remote_next_in(*p, th)) != NULL;) {
			char name[16] = STUB_MEMORY;
			int r = remote_syscall_data(th, SYS_memfd_create, args,
			    name, sizeof(name), &result);
			if (r == 0)
				return result;
			result = r;
		}
	return result;
}

static int
open_file(const struct space *sp, int64_t fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%lld", (int)pid_in(sp),
	    (long long)fd);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* ---- sizes ---- */

struct plan {
	struct blob blob;
	struct store_sizes store;
	size_t code, image, store_size, size; /* whole pages */
	size_t bodies;                        /* of `code', at its end */
};

static size_t
count_threads(const struct space *sp)
{
	size_t n = 0;

	vec_foreach(p, &sp->procs)
		n += (*p)->threads.len;
	return n;
}

/* May the process have as much memory as it likes?  Then what is never used costs
 * it nothing. */
static bool
is_roomy(const struct space *sp)
{
	struct rlimit limit;

	return prlimit(pid_in(sp), RLIMIT_AS, NULL, &limit) == 0 &&
	    limit.rlim_cur == RLIM_INFINITY;
}

/* The size of the copy of the image beside `others' bytes. */
static size_t
image_room(const struct img_hdr *im, bool roomy, size_t others)
{
	size_t least = (size_t)im->used + IMAGE_LEAST, room = least;

	if (roomy && others < STORE_MOST)
		room = MIN((size_t)im->used + IMAGE_MORE, STORE_MOST - others);
	return ROUND_UP(MAX(MIN(room, (size_t)im->size), least), (size_t)PAGE);
}

static const char *
make_plan(const struct state *st, const struct space *sp, struct plan *p)
{
	const struct img_hdr *im = (const void *)st->fast->image.base;
	size_t n = LANES_FOR_EACH * count_threads(sp);
	bool roomy = is_roomy(sp);

	if (!stub_possible() || !blob_measure(&p->blob))
		return "dtrap has no code for it on this machine";
	n = MIN(MAX(n, (size_t)LANES_LEAST), (size_t)LANES_MOST);
	p->store = store_share(im, &st->fast->whole, (uint32_t)n, roomy);
	p->store_size = ROUND_UP(store_size(im, &p->store), (size_t)PAGE);
	p->bodies = st->fast->jit ? BODIES_SIZE : 0;
	p->code = ROUND_UP(st->fast->code_size, (size_t)PAGE) + p->bodies;
	p->size =
	    2 * PAGE + p->blob.size + p->code + RANGES_SIZE + p->store_size;
	p->image = image_room(im, roomy, p->size);
	p->size += p->image;
	return p->store_size == 0 || p->size > STORE_MOST ?
	    "its buffers are too large" :
	    NULL;
}

/* Does the process lock its memory (mlockall(2))?  Then all pages would be
 * allocated as soon as they are mapped. */
static bool
is_locked(pid_t pid)
{
	char text[4096];
	const char *at;

	procfs_text(pid, "status", text, sizeof(text));
	at = strstr(text, "VmLck:");
	return at == NULL || strtoull(at + strlen("VmLck:"), NULL, 10) != 0;
}

/* ---- the time ---- */

/* From now on any system call but exit() fails.  Not SECCOMP_MODE_STRICT: it
 * forbids rdtsc as well (disable_TSC() in the kernel's arch/x86), which then
 * raises SIGSEGV. */
static bool
forbid_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog prog = { ARRAY_SIZE(code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

/* Can the vDSO read the clock without a system call?  A child tries it. */
static bool
is_readable(struct state *st)
{
	static enum { UNKNOWN, NO, YES } answer;
	struct timespec ts;

	if (answer != UNKNOWN)
		return answer == YES;
	pid_t pid = fork();
	if (pid == 0)
		/* dtrap's own handler would detach from all targets. */
		syscall(SYS_exit,
		    signal(SIGSEGV, SIG_DFL) == SIG_ERR || !forbid_calls() ||
			clock_gettime(CLOCK_MONOTONIC, &ts) != 0 ||
			clock_gettime(CLOCK_REALTIME, &ts) != 0);
	answer = pid > 0 && event_await_plain(st->super, pid) == 0 ? YES : NO;
	return answer == YES;
}

/* Is the process in another time namespace than dtrap? */
static bool
is_elsewhen(pid_t pid)
{
	char own[64], its[64];

	procfs_link(getpid(), "ns/time", own, sizeof(own));
	procfs_link(pid, "ns/time", its, sizeof(its));
	return strcmp(own, its) != 0;
}

static uint64_t
find_clock(struct state *st, const struct space *sp)
{
	const struct load *l = vdso_of(sp);

	if (l == NULL || !is_readable(st) || is_elsewhen(pid_in(sp)))
		return 0;
	const struct sym *s = object_sym(l->object, "__vdso_clock_gettime");
	return s != NULL ? l->bias + s->addr : 0;
}

/* ---- making it ---- */

static bool
map_own(struct fast_space *f, int fd, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_NORESERVE, fd, 0);

	f->base = p == MAP_FAILED ? NULL : p;
	return f->base != NULL;
}

/* Write the file before a thread of the target can execute or read anything in
 * it. */
static bool
fill(struct state *st, struct space *sp, struct fast_space *f,
    const struct plan *p)
{
	uint8_t *text = f->base + PAGE, *code = text + p->blob.size;
	uint8_t *tables = code + p->code, *image = tables + RANGES_SIZE;
	size_t table_at = blob_load(text, fast_addr(f, text));
	const struct agent_table *table = (const void *)(text + table_at);

	f->image = (struct region){ image, (uint32_t)p->image };
	f->store = (struct region){ image + p->image, (uint32_t)p->store_size };
	if (store_init(
		&f->store, (const void *)st->fast->image.base, &p->store) != 0)
		return false;
	/* The table's words are the target's addresses. */
	f->agent =
	    (void *)(f->base + ((uintptr_t)table->agent - f->addr - PAGE));
	f->agent->image_base = fast_addr(f, f->image.base);
	f->agent->store_base = fast_addr(f, f->store.base);
	f->agent->store_size = f->store.size;
	f->agent->clock = find_clock(st, sp);
	f->counts = st->fast->ticks.ns != 0;
	f->agent->processor = stub_processor();
	if (st->fast->code_size > 0) {
		memcpy(code, st->fast->code, st->fast->code_size);
		f->agent->code = fast_addr(f, text);
	}
	if (p->bodies > 0)
		bodies_begin(f, code + p->code - p->bodies);
	f->now = f->agent->clock != 0 ? (uintptr_t)table->now : 0;
	f->text = (uintptr_t)table->text;
	f->fixups_at = (uintptr_t)table->fixups;
	f->fixups = blob_at(f->fixups_at - fast_addr(f, text));
	f->nfixups = (size_t)(table->fixups_end - table->fixups);
	f->tables[0] = (void *)tables;
	f->tables[1] = (void *)(tables + RANGES_SIZE / 2);
	f->world = (struct stub_world){
		.hit = (uintptr_t)table->hit,
		.lanes = fast_addr(f, f->store.base),
		.span = f->store.size - sizeof(struct lane),
		.mine = f->addr,
		.alive = f->addr + PAGE,
		.owner = alive_owner(),
	};
	return true;
}

static void
publish(const struct state *st, const struct space *sp, struct fast_space *f)
{
	const struct img_hdr *im = (const void *)st->fast->image.base;

	if (im->used > f->image.size) {
		f->agent->broken = 1;
		bodies_stop(f);
		f->why = "there are too many probes";
		return;
	}
	extract_renew(st, sp, f);
	f->agent->image_size = im->used;
	bodies_renew(st, f);
	f->agent->space = addrspace_stamp(sp->as);
}

static void
take_lanes(const struct state *st, struct fast_space *f)
{
	struct lane_use use = { .owner = NULL };

	for (uint32_t n = 0; store_view(&st->fast->image, &f->store, n, &use.v);
	     n++)
		*vec_push(&f->lanes) = use;
}

/* From now on nobody changes the size of the file: a page that is gone would
 * end the tracer.  And nobody maps it for writing: the kernel then never makes
 * the target's mapping of code writable, whoever asks (F_SEAL_FUTURE_WRITE;
 * kernels before 5.1 have no such seal). */
static int64_t
seal(int fd)
{
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
		return -errno;
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
	return 0;
}

/* Map the file from `addr' on again, with this protection. */
static int64_t
map_part(struct space *sp, const struct fast_space *f, int64_t fd,
    uint64_t addr, size_t size, int prot)
{
	int64_t r = size == 0 ? 0 :
				call(sp, SYS_mmap, addr, size, (uint64_t)prot,
				    MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
				    (uint64_t)fd, addr - f->addr - PAGE);

	return r < 0 && r > -4096 ? r : 0;
}

/* Map each part with its protection, and set what a child of a fork has. */
static int64_t
protect(struct space *sp, const struct fast_space *f, const struct plan *p,
    int64_t fd)
{
	uint64_t text = f->addr + 2 * PAGE, code = text + p->blob.size;
	uint64_t tables = code + p->code;
	int64_t r =
	    map_part(sp, f, fd, text, p->blob.text, PROT_READ | PROT_EXEC);

	if (r == 0)
		r = map_part(sp, f, fd, code, p->code, PROT_READ | PROT_EXEC);
	if (r == 0)
		r = map_part(
		    sp, f, fd, tables, RANGES_SIZE + p->image, PROT_READ);
	if (r == 0)
		r = call(sp, SYS_madvise, text, p->size - 2 * PAGE,
		    MADV_DONTFORK, 0, 0, 0);
	return r;
}

/* Map `own', and the file for writing. */
static int64_t
map_there(
    struct space *sp, struct fast_space *f, const struct plan *p, int64_t fd)
{
	int64_t r = call(sp, SYS_mmap, 0, p->size, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, (uint64_t)-1, 0);

	if (r < 0 && r > -4096)
		return r;
	f->addr = (uint64_t)r;
	f->size = p->size;
	r = call(
	    sp, SYS_mprotect, f->addr, PAGE, PROT_READ | PROT_WRITE, 0, 0, 0);
	if (r == 0)
		r = call(
		    sp, SYS_madvise, f->addr, PAGE, MADV_WIPEONFORK, 0, 0, 0);
	return r != 0 ? r :
			map_part(sp, f, fd, f->addr + PAGE, p->size - PAGE,
			    PROT_READ | PROT_WRITE);
}

/* remote.c has marked the new memory as dtrap's, at the begin of each mapping
 * that can be written.  Clear the marks. */
static int64_t
clear_marks(struct space *sp, const struct fast_space *f)
{
	const uint32_t none[PAGE / 4] = { 0 };
	struct target *t = &sp->target;

	memset(f->base, 0, PAGE);
	return t->ops->write(t, f->addr, none, PAGE);
}

/* Map the file in dtrap and in the target.  0, with its descriptor in *here, or
 * -errno. */
static int64_t
map_file(struct space *sp, struct fast_space *f, const struct plan *p,
    int64_t there, int *here)
{
	*here = open_file(sp, there);
	if (*here < 0 || ftruncate(*here, (off_t)(p->size - PAGE)) != 0 ||
	    !map_own(f, *here, p->size - PAGE))
		return -errno;
	int64_t r = map_there(sp, f, p, there);
	if (r == 0)
		r = clear_marks(sp, f);
	if (r < 0)
		return r;
	f->alive = alive_add(*here);
	if (f->alive < 0)
		return -EAGAIN;
	r = seal(*here);
	return r < 0 ? r : protect(sp, f, p, there);
}

/* The calls in the target.  Its threads are stopped for them alone: filling the
 * memory takes longer. */
static int64_t
map_both(
    struct space *sp, struct fast_space *f, const struct plan *p, int *here)
{
	int64_t r, fd;

	space_stop(sp);
	r = fd = make_file(sp);
	fault_kill("fast-file");
	if (fd >= 0) {
		r = map_file(sp, f, p, fd, here);
		call(sp, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
	}
	fault_kill("fast-closed");
	space_resume(sp);
	return r;
}

static int64_t
set_up(struct state *st, struct space *sp, struct fast_space *f,
    const struct plan *p)
{
	const uint32_t here_it_is = 1;
	struct target *t = &sp->target;

	if (!fill(st, sp, f, p))
		return -EFAULT;
	publish(st, sp, f); /* again when threads are stopped, and faster */
	loads_refresh(f, pid_in(sp)); /* later, when a thread asks */
	fault_kill("fast-filled");
	if (!consume_lanes_add(st->consume, &f->store, (uint32_t)pid_in(sp)))
		return -EINVAL;
	take_lanes(st, f);
	return t->ops->write(t, f->addr, &here_it_is, sizeof(here_it_is));
}

/* Release all that is mapped so far; with `unmap', in the target, too. */
static void
undo(struct state *st, struct space *sp, struct fast_space *f, bool unmap)
{
	if (f->store.base != NULL)
		consume_lanes_end(st->consume, &f->store, -1);
	alive_remove(f->alive);
	if (f->base != NULL)
		munmap(f->base, f->size - PAGE);
	if (unmap && f->addr != 0) {
		space_stop(sp);
		call(sp, SYS_munmap, f->addr, f->size, 0, 0, 0, 0);
		space_resume(sp);
	}
	f->alive = -1;
	f->base = NULL;
	f->addr = 0;
	f->store = f->image = (struct region){ 0 };
	vec_clear(&f->lanes);
	vec_fini(&f->copied);
	f->changes = 0;
	bodies_end(f);
}

static const char *
make(struct state *st, struct space *sp, struct fast_space *f)
{
	struct plan p = { 0 };
	const char *why = make_plan(st, sp, &p);

	f->alive = -1;
	if (why == NULL && is_locked(pid_in(sp)))
		why = "the process uses mlockall()";
	if (why != NULL)
		return why;
	fault_kill("fast-begin");
	int here = -1;
	int64_t r = map_both(sp, f, &p, &here);
	if (r == 0)
		r = set_up(st, sp, f, &p);
	if (here >= 0)
		close(here);
	LOG("fast", "%d: %zu bytes at %#lx: %lld", (int)pid_in(sp), p.size,
	    (unsigned long)f->addr, (long long)r);
	if (r == 0)
		return NULL;
	f->size = p.size;
	undo(st, sp, f, true);
	return "memory for it cannot be mapped in the process";
}

static bool
lists_code(const struct state *st)
{
	return option_get(&st->opts, OPT_VERBOSE) != 0 && !fast_is_auto(st);
}

/* Do what takes a while and does not depend on a process. */
static void
get_ready(struct state *st)
{
	if (st->fast->ready)
		return;
	st->fast->ready = true;
	is_readable(st); /* asks a child */
	if (st->fast->jit)
		code_make(st->fast, lists_code(st) ? st->output.err : NULL);
}

bool
fast_map(struct state *st, struct space *sp)
{
	struct fast_space *f = fast_of(sp);

	if (!fast_is_on(st) || sp->parted || sp->as == NULL)
		return false;
	if (f == NULL) {
		get_ready(st);
		f = fast_begin(sp);
		f->id = ++st->fast->last_id;
		f->why = make(st, sp, f);
		if (f->why != NULL)
			return false;
		*vec_push(&st->fast->spaces) = f;
		store_hdr(&f->store)->activity = st->fast->activity;
	}
	return f->why == NULL;
}

bool
fast_space(struct state *st, struct space *sp)
{
	if (!fast_map(st, sp))
		return false;
	struct fast_space *f = fast_of(sp);
	publish(st, sp, f);
	space_foreach_thread(th, sp) fast_begins(st, th);
	return f->why == NULL;
}

/* ---- the run ---- */

bool
fast_is_wanted(const struct state *st)
{
	return options_fastpath(&st->opts) != FASTPATH_OFF &&
	    !st->lanes_unfit && option_get(&st->opts, OPT_CPU) < 0;
}

bool
fast_is_auto(const struct state *st)
{
	return options_fastpath(&st->opts) == FASTPATH_AUTO;
}

/* A memory barrier on every processor. */
static void
barrier(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

void (*fast_barrier(const struct state *st))(void)
{
	return fast_is_wanted(st) ? barrier : NULL;
}

void
fast_start(struct state *st, const struct region *image,
    const struct store_sizes *whole)
{
	if (!fast_is_wanted(st))
		return;
	st->fast = mem_zalloc(sizeof(*st->fast));
	st->fast->image = *image;
	st->fast->whole = *whole;
	ticks_begin(&st->fast->ticks);
	st->fast->jit = option_get(&st->opts, OPT_JIT) != 0;
	if (!fast_is_auto(st))
		get_ready(st);
}

void
fast_end(struct state *st)
{
	if (st->fast != NULL) {
		vec_fini(&st->fast->spaces);
		mem_free(st->fast->code);
		report_end(st->fast);
	}
	mem_free(st->fast);
	st->fast = NULL;
}

bool
fast_is_on(const struct state *st)
{
	return st->fast != NULL;
}

struct region
fast_image(const struct state *st)
{
	return st->fast->image;
}

void
fast_set_activity(struct state *st, enum activity a)
{
	if (st->fast == NULL)
		return;
	st->fast->activity = a;
	vec_foreach(f, &st->fast->spaces)
		__atomic_store_n(
		    &store_hdr(&(*f)->store)->activity, a, __ATOMIC_RELEASE);
}

/* ---- its end ---- */

void
fast_space_ends(struct state *st, struct space *sp)
{
	struct fast_space *f = fast_of(sp);

	if (st->fast == NULL || f == NULL || f->base == NULL)
		return;
	for (size_t i = 0; i < st->fast->spaces.len; i++)
		if (st->fast->spaces.at[i] == f) {
			st->fast->spaces.at[i] = vec_pop(&st->fast->spaces);
			break;
		}
	lanes_give_up(st, f);
	undo(st, sp, f, false);
	f->why = "it has ended";
}

bool
fast_release(struct state *st, struct proc *p)
{
	struct space *sp = p->space;
	struct fast_space *f = fast_of(sp);

	if (st->fast == NULL)
		return true;
	lanes_let_go(st, p);
	if (f == NULL || f->addr == 0)
		return true;
	bool needed = fast_in_use(p) || sp->procs.len > 1 || sp->parted;
	uint64_t addr = f->addr;
	size_t size = f->size;
	if (sp->procs.len > 1)
		return false;
	fast_space_ends(st, sp);
	fault_kill("fast-release");
	if (!needed)
		call(sp, SYS_munmap, addr, size, 0, 0, 0, 0);
	fault_kill("fast-released");
	return !needed;
}
