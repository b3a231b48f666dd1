/*
 * Events, and the merging of their records; see perfevent.h.
 *
 * The kernel maps a ring for one event and lets others write there that are on the
 * same processor (PERF_EVENT_IOC_SET_OUTPUT).  The rings belong to events of dtrap
 * itself that record nothing, so they outlive all traced threads.  An event of a
 * thread on all processors (cpu -1) could not share a ring, so there is one for
 * each processor.
 *
 * All events have the same sample_type but for registers and stack, so that time
 * and id are at the same place in each record, whichever event it is from.
 */
#include "tracer/ptrace/perfevent.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/hash.h"
#include "dlang/base/log.h"
#include "tracer/ptrace/perfregs.h"
#include "tracer/ptrace/perfring.h"
#include "tracer/ptrace/proc.h"

#define SAMPLE_BASE                                                  \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
	    PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU)

/* The begin of a PERF_RECORD_SAMPLE with SAMPLE_BASE; registers follow. */
struct sample {
	struct perf_event_header h;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time, addr;
	uint32_t cpu, reserved;
};

/* The end of every other record. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t id;
};

static_assert(sizeof(struct sample) == 56, "as the kernel writes it");
static_assert(sizeof(struct trailer) == 32, "as the kernel writes it");

/* The smallest ring that is of use. */
#define RING_LEAST (32UL << 10)

struct ring {
	struct perf_ring r;
	int fd;     /* of dtrap's own event; -1: the processor is off */
	bool lossy; /* for PERF_LEAVES */
	/* During perfevents_read(): heads as they were at its first and its
	 * second look, up to where perfevents_ran_since() has looked, and the
	 * time of the record at r.at. */
	uint64_t first, second, looked;
	uint64_t time;
};

struct event_of {
	struct perfevents *pe;
	struct thread *thread; /* NULL: of a processor */
	struct perf_wish wish;
	uint64_t id;
	int fd;
};

typedef VEC(struct event_of *) event_list;

struct perfevents {
	VEC(struct ring)
	rings; /* of each processor; then again, if there are
				 * lossy ones */
	unsigned ncpus;
	struct hash by_id; /* struct event_of */
	event_list all;    /* those of processors */
	uint64_t lost;     /* not told to the caller */
	uint64_t said;     /* by records, in all */
	uint64_t ended;    /* by events that have been closed */
	bool reading;
};

/* Part of a thread. */
struct thread_events {
	event_list list;
	uint64_t got; /* when it got a processor the last time, as far as
		       * perfevents_ran_since() has looked */
};

/* How many of its records could not be written; 0: the kernel does not count. */
static uint64_t
event_lost(const struct event_of *e)
{
	uint64_t v[2]; /* its value, and this */

	if (e->wish.source == PERF_LEAVES)
		return 0;
	return read(e->fd, v, sizeof(v)) == sizeof(v) ? v[1] : 0;
}

static void
event_end(struct event_of *e)
{
	e->pe->ended += event_lost(e);
	hash_remove(&e->pe->by_id, e->id);
	close(e->fd);
	mem_free(e);
}

static void
thread_events_end(void *part)
{
	struct thread_events *te = part;

	vec_foreach(e, &te->list)
		event_end(*e);
	vec_fini(&te->list);
}

static const struct part events_part = { .size = sizeof(struct thread_events),
	.end = thread_events_end };

/* ---- rings ---- */

static int
perf_open(struct perf_event_attr *attr, pid_t tid, unsigned cpu)
{
	int fd = (int)syscall(
	    SYS_perf_event_open, attr, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EINVAL && attr->read_format != 0) {
		attr->read_format = 0;
		return perf_open(attr, tid, cpu);
	}
	return fd < 0 ? -errno : fd;
}

static struct perf_event_attr
attr_of(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = type,
		.config = config,
		.sample_type = SAMPLE_BASE,
		.sample_id_all = 1,
		.read_format = PERF_FORMAT_LOST, /* Linux 6.0 */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

static void
ring_close(struct ring *g)
{
	if (g->r.meta != NULL)
		munmap(g->r.meta, (size_t)sysconf(_SC_PAGESIZE) + g->r.size);
	if (g->fd >= 0)
		close(g->fd);
	mem_free(g->r.copy);
	*g = (struct ring){ .fd = -1 };
}

/* 0, also if the processor is off; or -errno. */
static int
ring_open(struct ring *g, unsigned cpu, size_t size)
{
	struct perf_event_attr attr =
	    attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	attr.disabled = 1;
	*g = (struct ring){ .fd = perf_open(&attr, 0, cpu) };
	if (g->fd < 0) {
		int error = g->fd;
		g->fd = -1;
		return error == -ENODEV ? 0 : error;
	}
	void *at = mmap(
	    NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, g->fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	g->r.meta = at;
	g->r.data = (uint8_t *)at + page;
	g->r.size = size;
	return 0;
}

/* Close the rings from the n-th on. */
static void
rings_close(struct perfevents *pe, size_t n)
{
	while (pe->rings.len > n) {
		struct ring g = vec_pop(&pe->rings);
		ring_close(&g);
	}
}

static int
rings_open(struct perfevents *pe, size_t size, bool lossy)
{
	for (unsigned cpu = 0; cpu < pe->ncpus; cpu++) {
		struct ring g;
		int error = ring_open(&g, cpu, size);
		g.lossy = lossy;
		*vec_push(&pe->rings) = g;
		if (error != 0)
			return error;
	}
	return 0;
}

/* There is a descriptor for each thread and processor. */
static void
allow_many(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

struct perfevents *
perfevents_create(size_t size, int *error)
{
	struct perfevents *pe = mem_zalloc(sizeof(*pe));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	pe->ncpus = (unsigned)MAX(cpus, 1L);
	allow_many();
	/* -EPERM: it is more memory than may be locked. */
	while ((*error = rings_open(pe, size, false)) == -EPERM &&
	    size > RING_LEAST) {
		rings_close(pe, 0);
		size /= 2;
	}
	LOG("perfevent", "%zu rings of %zu KiB: %d", pe->rings.len, size >> 10,
	    *error);
	if (*error == 0)
		return pe;
	perfevents_destroy(pe);
	return NULL;
}

void
perfevents_destroy(struct perfevents *pe)
{
	vec_foreach(e, &pe->all)
		event_end(*e);
	vec_fini(&pe->all);
	rings_close(pe, 0);
	vec_fini(&pe->rings);
	hash_fini(&pe->by_id);
	mem_free(pe);
}

size_t
perfevents_size(const struct perfevents *pe)
{
	vec_foreach(g, &pe->rings)
		if (g->fd >= 0)
			return g->r.size;
	return 0;
}

const char *
perfevents_why(int error)
{
	switch (error) {
	case -EACCES:
	case -EPERM:
		return "perf events are forbidden here (sysctl "
		       "kernel.perf_event_paranoid)";
	case -EMFILE: return "too many open files (ulimit -n)";
	case -ENFILE: return "the system has too many open files";
	case -ENOSYS: return "the kernel has no perf events";
	default: return strerror(-error);
	}
}

/* ---- events ---- */

static const struct {
	uint32_t type;
	uint64_t config;
} counters[] = {
	[COUNTER_CYCLES] = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	[COUNTER_INSTRUCTIONS] = { PERF_TYPE_HARDWARE,
	    PERF_COUNT_HW_INSTRUCTIONS },
	[COUNTER_CACHE_REFERENCES] = { PERF_TYPE_HARDWARE,
	    PERF_COUNT_HW_CACHE_REFERENCES },
	[COUNTER_CACHE_MISSES] = { PERF_TYPE_HARDWARE,
	    PERF_COUNT_HW_CACHE_MISSES },
	[COUNTER_BRANCHES] = { PERF_TYPE_HARDWARE,
	    PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	[COUNTER_BRANCH_MISSES] = { PERF_TYPE_HARDWARE,
	    PERF_COUNT_HW_BRANCH_MISSES },
	[COUNTER_BUS_CYCLES] = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	[COUNTER_REF_CYCLES] = { PERF_TYPE_HARDWARE,
	    PERF_COUNT_HW_REF_CPU_CYCLES },
	[COUNTER_CPU_CLOCK] = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	[COUNTER_TASK_CLOCK] = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
};

static struct perf_event_attr
wished(const struct perf_wish *w)
{
	static const uint64_t configs[] = {
		[PERF_SWITCHES] = PERF_COUNT_SW_DUMMY,
		[PERF_CLOCK] = PERF_COUNT_SW_CPU_CLOCK,
		[PERF_FAULTS] = PERF_COUNT_SW_PAGE_FAULTS,
		[PERF_MAJOR_FAULTS] = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
		[PERF_COUNTER] = 0, /* below */
		[PERF_LEAVES] = PERF_COUNT_SW_CONTEXT_SWITCHES,
	};
	struct perf_event_attr a =
	    attr_of(PERF_TYPE_SOFTWARE, configs[w->source]);

	if (w->source == PERF_SWITCHES) {
		a.context_switch = 1;
		return a;
	}
	if (w->source == PERF_COUNTER) {
		a.type = counters[w->counter].type;
		a.config = counters[w->counter].config;
		a.exclude_user = !w->user;
		a.exclude_kernel = !w->kernel;
	}
	if (w->source == PERF_LEAVES)
		a.exclude_kernel = 0;
	a.sample_period = w->period != 0 ? w->period : 1;
	a.context_switch = w->switches;
	a.sample_type |= PERF_SAMPLE_REGS_USER;
	a.sample_regs_user = perfregs_mask();
	if (w->stack_max != 0)
		a.sample_type |= PERF_SAMPLE_STACK_USER;
	a.sample_stack_user = w->stack_max;
	return a;
}

int
perfevents_try(const struct perf_wish *w)
{
	struct perf_event_attr a = wished(w);
	int fd;

	a.disabled = 1;
	fd = perf_open(&a, 0, (unsigned)-1); /* on any processor */
	if (fd >= 0)
		close(fd);
	return MIN(fd, 0);
}

/* An event on one processor, into its ring. */
static int
event_open(struct perfevents *pe, const struct ring *g, unsigned cpu,
    struct perf_event_attr *attr, struct event_of e, struct event_of **out)
{
	e.fd = perf_open(attr, e.thread != NULL ? e.thread->tid : -1, cpu);
	if (e.fd < 0)
		return e.fd;
	if (ioctl(e.fd, PERF_EVENT_IOC_SET_OUTPUT, g->fd) != 0 ||
	    ioctl(e.fd, PERF_EVENT_IOC_ID, &e.id) != 0) {
		int error = -errno;
		close(e.fd);
		return error;
	}
	e.pe = pe;
	*out = mem_alloc(sizeof(**out));
	**out = e;
	hash_set(&pe->by_id, e.id, *out);
	return 0;
}

/* Close the last events of a list, down to n of them. */
static void
list_cut(event_list *list, size_t n)
{
	while (list->len > n)
		event_end(vec_pop(list));
}

/* Events like `e' on all processors, appended to the list: all of them, or none and
 * a negative errno. */
static int
list_open(struct perfevents *pe, struct perf_event_attr *attr,
    struct event_of e, event_list *list)
{
	size_t had = list->len;
	unsigned first = e.wish.source == PERF_LEAVES ? pe->ncpus : 0;

	for (unsigned cpu = 0; cpu < pe->ncpus; cpu++) {
		const struct ring *g = &pe->rings.at[first + cpu];
		struct event_of *opened = NULL;
		int error = g->fd < 0 ?
		    -ENODEV :
		    event_open(pe, g, cpu, attr, e, &opened);
		if (error == -ENODEV)
			continue;
		if (error != 0) {
			LOG("perfevent", "%d on %u: %d",
			    e.thread != NULL ? (int)e.thread->tid : -1, cpu,
			    error);
			list_cut(list, had);
			return error;
		}
		*vec_push(list) = opened;
	}
	return 0;
}

/* Large, as there are stacks in them; who may have these records may lock memory. */
#define RING_LOSSY (8 * PERF_RING_SIZE)

/* 0, or -errno. */
static int
lossy_rings(struct perfevents *pe)
{
	if (pe->rings.len > pe->ncpus)
		return 0;
	int error = rings_open(pe, RING_LOSSY, true);
	if (error != 0)
		rings_close(pe, pe->ncpus);
	return error;
}

int
perfevents_add(
    struct perfevents *pe, struct thread *th, const struct perf_wish *w)
{
	struct thread_events *te = part_of(&th->parts, &events_part);
	struct perf_event_attr attr = wished(w);

	vec_foreach(e, &te->list)
		if ((*e)->wish.tag == w->tag)
			return 0;
	int error = w->source == PERF_LEAVES ? lossy_rings(pe) : 0;
	if (error != 0)
		return error;
	error = list_open(pe, &attr,
	    (struct event_of){ .thread = th, .wish = *w }, &te->list);
	return error == -ESRCH ? 0 : error;
}

int
perfevents_add_all(struct perfevents *pe, const struct perf_wish *w)
{
	struct perf_event_attr attr = wished(w);

	attr.disabled = 1;
	attr.exclude_kernel = 0;
	attr.exclude_idle = 1;
	return list_open(pe, &attr, (struct event_of){ .wish = *w }, &pe->all);
}

void
perfevents_start(struct perfevents *pe)
{
	vec_foreach(e, &pe->all)
		ioctl((*e)->fd, PERF_EVENT_IOC_ENABLE, 0);
}

bool
perfevents_has(const struct thread *th, uint32_t tag)
{
	const struct thread_events *te = part_had(&th->parts, &events_part);

	if (te != NULL)
		vec_foreach(e, &te->list)
			if ((*e)->wish.tag == tag)
				return true;
	return false;
}

void
perfevents_drop(struct thread *th)
{
	struct thread_events *te = part_had(&th->parts, &events_part);

	if (te != NULL)
		list_cut(&te->list, 0);
}

void
perfevents_close(struct perfevents *pe, uint32_t tag)
{
	hash_foreach(entry, &pe->by_id) {
		const struct event_of *e = entry->value;
		if (e->wish.tag == tag)
			ioctl(e->fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

/* ---- records ---- */

/* What every record has, at the places that SAMPLE_BASE gives it. */
struct stamp {
	uint64_t id, time;
	uint32_t pid, tid, cpu;
};

static struct stamp
stamp_of(const struct ring *g, uint64_t pos, const struct perf_event_header *h)
{
	struct sample s;
	struct trailer t;

	if (h->type == PERF_RECORD_SAMPLE && h->size >= sizeof(s)) {
		perf_ring_bytes(&g->r, pos, &s, sizeof(s));
		return (struct stamp){ s.id, s.time, s.pid, s.tid, s.cpu };
	}
	if (h->type == PERF_RECORD_SAMPLE || h->size < sizeof(*h) + sizeof(t))
		return (struct stamp){ 0 };
	perf_ring_bytes(&g->r, pos + h->size - sizeof(t), &t, sizeof(t));
	return (struct stamp){ t.id, t.time, t.pid, t.tid, t.cpu };
}

/* Set g->time for the record at g->r.at.  Within a ring times never fall, even
 * where an interrupt has come between a record's time and its place. */
static void
look_next(struct ring *g)
{
	struct perf_event_header h;

	if (g->r.at >= g->second)
		return;
	if (!perf_ring_header(&g->r, g->r.at, g->second, &h))
		g->r.at = g->second;
	else
		g->time = MAX(g->time, stamp_of(g, g->r.at, &h).time);
}

/*
 * What a record was caused by is in a ring before it.  If the head of its ring was
 * read at the first look, the cause lies before the head that its own ring has at
 * the second look.  So the records up to the second look are merged until all of
 * the first look have been read.
 */
static void
look_twice(struct perfevents *pe)
{
	vec_foreach(g, &pe->rings)
		if (g->fd >= 0)
			g->first = perf_ring_head(&g->r);
	vec_foreach(g, &pe->rings)
		if (g->fd >= 0) {
			g->second = perf_ring_head(&g->r);
			g->time = 0;
			g->looked = MAX(g->looked, g->r.at);
			look_next(g);
		}
}

static struct ring *
oldest(const struct perfevents *pe)
{
	struct ring *best = NULL;
	bool any = false;

	vec_foreach(g, &pe->rings) {
		if (g->fd < 0 || g->r.at >= g->second)
			continue;
		any |= g->r.at < g->first;
		if (best == NULL || g->time < best->time)
			best = g;
	}
	return any ? best : NULL;
}

/* Registers and stack, behind the begin of a sample. */
static void
take_context(struct perf_record *r, const struct event_of *e, const uint8_t *at,
    const uint8_t *end)
{
	const size_t nregs = (size_t)__builtin_popcountll(perfregs_mask());
	uint64_t abi, word[64];

	if ((size_t)(end - at) < sizeof(abi))
		return;
	memcpy(&abi, at, sizeof(abi));
	at += sizeof(abi);
	if (abi == PERF_SAMPLE_REGS_ABI_64 &&
	    (size_t)(end - at) >= nregs * sizeof(word[0])) {
		memcpy(word, at, nregs * sizeof(word[0]));
		at += nregs * sizeof(word[0]);
		perfregs_take(word, &r->regs);
		r->has_regs = true;
	} else if (abi != PERF_SAMPLE_REGS_ABI_NONE) {
		return;
	}
	/* The size, the bytes, and how many of them are valid; the last is left
	 * out if the size is 0. */
	uint64_t size, valid;
	if (e->wish.stack_max == 0 || (size_t)(end - at) < sizeof(size))
		return;
	memcpy(&size, at, sizeof(size));
	at += sizeof(size);
	if (size == 0 || size > (uint64_t)(end - at) ||
	    (uint64_t)(end - at) - size < sizeof(valid))
		return;
	memcpy(&valid, at + size, sizeof(valid));
	r->stack = at;
	r->stack_len = (uint32_t)MIN(valid, size);
	r->stack_cut = valid >= size;
}

static void
take(struct perfevents *pe, struct ring *g, const struct perf_event_header *h,
    perf_record_fn fn, void *ctx)
{
	const struct stamp s = stamp_of(g, g->r.at, h);
	const struct event_of *e = hash_get(&pe->by_id, s.id);
	uint64_t lost;

	if (h->type == PERF_RECORD_LOST && !g->lossy &&
	    h->size >= sizeof(*h) + 16) {
		perf_ring_bytes(&g->r, g->r.at + 16, &lost, sizeof(lost));
		pe->lost += lost;
		pe->said += lost;
	}
	if (e == NULL)
		return;
	struct perf_record r = {
		.source = e->wish.source,
		.tag = e->wish.tag,
		.thread = e->thread,
		.event = e->id,
		.pid = (pid_t)s.pid,
		.tid = (pid_t)s.tid,
		.time = g->time,
		.cpu = s.cpu,
	};
	if (h->type == PERF_RECORD_SWITCH) {
		r.source = PERF_SWITCHES;
		r.out = (h->misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
		r.preempted =
		    (h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
	} else if (h->type == PERF_RECORD_SAMPLE) {
		const uint8_t *at = perf_ring_record(&g->r, g->r.at, h);
		struct sample head;
		memcpy(&head, at, sizeof(head));
		r.addr = head.addr;
		r.pc = head.ip;
		take_context(&r, e, at + sizeof(head), at + h->size);
	} else {
		return;
	}
	fn(ctx, &r);
}

bool
perfevents_any(const struct perfevents *pe)
{
	vec_foreach(g, &pe->rings)
		if (g->fd >= 0 && perf_ring_head(&g->r) != g->r.at)
			return true;
	return false;
}

void
perfevents_read(struct perfevents *pe, perf_record_fn fn, void *ctx)
{
	struct perf_event_header h;
	struct ring *g;

	ASSERT(!pe->reading);
	pe->reading = true;
	look_twice(pe);
	while ((g = oldest(pe)) != NULL) {
		if (perf_ring_header(&g->r, g->r.at, g->second, &h)) {
			take(pe, g, &h, fn, ctx);
			g->r.at += h.size;
		} else {
			g->r.at = g->second;
		}
		perf_ring_done(&g->r);
		look_next(g);
	}
	pe->reading = false;
}

/* Note for each thread that has got a processor when that was, in the records up
 * to now. */
static void
look_on(const struct perfevents *pe, struct ring *g)
{
	struct perf_event_header h;
	uint64_t head = perf_ring_head(&g->r);

	for (; perf_ring_header(&g->r, g->looked, head, &h);
	     g->looked += h.size) {
		if (h.type != PERF_RECORD_SWITCH ||
		    (h.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0)
			continue;
		const struct stamp s = stamp_of(g, g->looked, &h);
		const struct event_of *e = hash_get(&pe->by_id, s.id);
		if (e == NULL || e->thread == NULL)
			continue;
		struct thread_events *te =
		    part_of(&e->thread->parts, &events_part);
		te->got = MAX(te->got, s.time);
	}
}

bool
perfevents_ran_since(
    const struct perfevents *pe, const struct thread *th, uint64_t time)
{
	bool fills = false;

	vec_foreach(g, &pe->rings)
		if (g->fd >= 0 && !g->lossy) {
			look_on(pe, g);
			fills |= perf_ring_fills(&g->r);
		}
	const struct thread_events *te = part_had(&th->parts, &events_part);
	return fills || te == NULL || te->got > time;
}

uint64_t
perfevents_lost(struct perfevents *pe)
{
	uint64_t n = pe->lost;

	pe->lost = 0;
	return n;
}

uint64_t
perfevents_lost_last(struct perfevents *pe)
{
	uint64_t all = pe->ended, n = perfevents_lost(pe);

	hash_foreach(entry, &pe->by_id)
		all += event_lost(entry->value);
	if (all > pe->said) {
		n += all - pe->said;
		pe->said = all;
	}
	return n;
}
