/*
 * tracer/ptrace/ perfring and perfevent: what is read from rings, in which order,
 * and what becomes of a thread for which an event cannot be opened.  The kernel is a
 * double that gives out memory for rings, so perfevent.c is included below.
 */
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dlang/base/str.h"
#include "t/unit/suite.h"
#include "tracer/ptrace/perfevent.h"
#include "tracer/ptrace/perfring.h"
#include "tracer/ptrace/proc.h"

#define CPUS 2
#define PAGE 4096

/* ---- the kernel ---- */

static struct {
	uint8_t *page; /* the mapping */
	size_t size;
	uint64_t head; /* where the next record goes */
} rings[2 * CPUS];     /* the second one of a processor is lossy */

static struct opened {
	struct perf_event_attr attr;
	pid_t tid;
	int cpu;
	bool closed, off;
} descs[64];
static int n_opened;
static int fails_at, fails_with; /* the call of that number */
static size_t may_lock;          /* bytes of a ring */

static long
double_open(long nr, struct perf_event_attr *attr, pid_t tid, int cpu)
{
	ck_assert_int_eq(nr, SYS_perf_event_open);
	if (fails_with != 0 && n_opened >= fails_at) {
		errno = fails_with;
		return -1;
	}
	ck_assert_int_lt(n_opened, (int)ARRAY_SIZE(descs));
	descs[n_opened] = (struct opened){ *attr, tid, cpu, false, false };
	return n_opened++;
}

static int
double_ioctl(int fd, unsigned long what, void *arg)
{
	switch (what) {
	case PERF_EVENT_IOC_ID:
		*(uint64_t *)arg = (uint64_t)fd + 1000;
		return 0;
	case PERF_EVENT_IOC_SET_OUTPUT:
		ck_assert_int_eq(descs[(intptr_t)arg].cpu, descs[fd].cpu);
		return 0;
	default: descs[fd].off = what == PERF_EVENT_IOC_DISABLE; return 0;
	}
}

static void *
double_map(size_t len, int fd)
{
	int cpu = descs[fd].cpu;

	if (rings[cpu].page != NULL)
		cpu += CPUS;
	if (len - PAGE > may_lock) {
		errno = EPERM;
		return MAP_FAILED;
	}
	rings[cpu].page = mem_zalloc(len);
	rings[cpu].size = len - PAGE;
	return rings[cpu].page;
}

static void
double_unmap(void *at)
{
	for (int i = 0; i < 2 * CPUS; i++)
		if (rings[i].page == at) {
			mem_free(at);
			rings[i].page = NULL;
		}
}

/* The value of an event, and what it has lost: as many records as its number. */
static ssize_t
double_count(int fd, uint64_t *v)
{
	v[0] = 0;
	v[1] = (uint64_t)fd;
	return descs[fd].attr.read_format != 0 ? 2 * sizeof(*v) : sizeof(*v);
}

#define read(fd, buf, len) double_count(fd, buf)
#define syscall(nr, attr, tid, cpu, group, flags) \
	double_open(nr, attr, tid, cpu)
#define ioctl(fd, what, arg)                double_ioctl(fd, what, (void *)(uintptr_t)(arg))
#define mmap(at, len, prot, flags, fd, off) double_map(len, fd)
#define munmap(at, len)                     double_unmap(at)
#define close(fd)                           (descs[fd].closed = true)
#define sysconf(what)                       ((what) == _SC_PAGESIZE ? PAGE : CPUS)
#define setrlimit(what, r)                  ((void)0)
#include "tracer/ptrace/perfevent.c" /* NOLINT: doubles above */
#undef syscall
#undef read
#undef ioctl
#undef mmap
#undef munmap
#undef close
#undef sysconf
#undef setrlimit

/* ---- records ---- */

static void
put(int cpu, const void *record, size_t len)
{
	for (size_t i = 0; i < len; i++)
		rings[cpu]
		    .page[PAGE + (rings[cpu].head + i) % rings[cpu].size] =
		    ((const uint8_t *)record)[i];
	rings[cpu].head += len;
	((struct perf_event_mmap_page *)rings[cpu].page)->data_head =
	    rings[cpu].head;
}

static void
put_switch(int cpu, uint64_t id, uint64_t time, uint16_t misc)
{
	struct {
		struct perf_event_header h;
		struct trailer t;
	} r = { { PERF_RECORD_SWITCH, misc, sizeof(r) },
		{ 1, 2, time, (uint32_t)cpu, 0, id } };

	put(cpu, &r, sizeof(r));
}

static void
put_lost(int cpu, uint64_t id, uint64_t n)
{
	struct {
		struct perf_event_header h;
		uint64_t id, lost;
		struct trailer t;
	} r = { { PERF_RECORD_LOST, 0, sizeof(r) }, id, n,
		{ 1, 2, 1, (uint32_t)cpu, 0, id } };

	put(cpu, &r, sizeof(r));
}

#define STACK 64

static void
put_sample(int cpu, uint64_t id, uint64_t time, uint64_t valid)
{
	size_t nregs = (size_t)__builtin_popcountll(perfregs_mask());
	uint64_t r[64 + 3 + STACK / 8 + 8];
	struct sample s = { { PERF_RECORD_SAMPLE, 0, 0 }, id, 0x4000, 1, 2,
		time, 0, (uint32_t)cpu, 0 };
	size_t n = sizeof(s) / 8;

	r[n++] = PERF_SAMPLE_REGS_ABI_64;
	for (size_t i = 0; i < nregs; i++)
		r[n++] = 100 + i;
	r[n++] = STACK;
	memset(&r[n], 0x5a, STACK);
	n += STACK / 8;
	r[n++] = valid;
	s.h.size = (uint16_t)(n * 8);
	memcpy(r, &s, sizeof(s));
	put(cpu, r, n * 8);
}

static struct perfevents *pe;
static struct thread thread;
static struct str seen;
static struct perf_record last;
static uint64_t ran_at; /* asked of perfevents_ran_since() */

static void
note(void *ctx, const struct perf_record *r)
{
	last = *r;
	str_printf(&seen, "%llu%s ", (unsigned long long)r->time,
	    !r->out          ? "" :
		r->preempted ? "p" :
			       "o");
	if (ran_at != 0)
		str_add(&seen,
		    perfevents_ran_since(pe, &thread, ran_at) ? "ran " :
								"waits ");
}

static void
has_seen(const char *want)
{
	str_clear(&seen);
	perfevents_read(pe, note, NULL);
	ck_assert_str_eq(str_c(&seen), want);
}

static void
setup(void)
{
	int error;

	n_opened = fails_at = fails_with = 0;
	may_lock = 1UL << 30;
	ran_at = 0;
	memset(rings, 0, sizeof(rings));
	memset(&thread, 0, sizeof(thread));
	thread.tid = 42;
	pe = perfevents_create(PERF_RING_SIZE, &error);
	ck_assert_ptr_nonnull(pe);
}

static void
teardown(void)
{
	parts_end(&thread.parts);
	if (pe != NULL)
		perfevents_destroy(pe);
	str_fini(&seen);
	for (int i = 0; i < n_opened; i++)
		ck_assert(descs[i].closed);
	for (int i = 0; i < 2 * CPUS; i++)
		ck_assert_ptr_null(rings[i].page);
}

/* The ids of the thread's events on both processors. */
static uint64_t
add(enum perf_source source, uint32_t tag)
{
	const struct perf_wish w = { .source = source,
		.tag = tag,
		.period = 1000,
		.stack_max = source == PERF_CLOCK ? STACK : 0 };

	ck_assert_int_eq(perfevents_add(pe, &thread, &w), 0);
	return (uint64_t)n_opened - CPUS + 1000;
}

START_TEST(an_event_belongs_to_a_thread_and_a_processor)
{
	add(PERF_SWITCHES, 3);
	ck_assert_int_eq(n_opened, 2 * CPUS);
	for (int i = 0; i < 2 * CPUS; i++) {
		ck_assert_int_eq(descs[i].tid, i < CPUS ? 0 : 42);
		ck_assert_int_eq(descs[i].cpu, i % CPUS);
		ck_assert(descs[i].attr.exclude_kernel);
		ck_assert(descs[i].attr.use_clockid);
		ck_assert_int_eq(descs[i].attr.context_switch, i >= CPUS);
		ck_assert_int_eq(descs[i].attr.disabled, i < CPUS);
	}
	/* Once for each tag. */
	add(PERF_SWITCHES, 3);
	ck_assert_int_eq(n_opened, 2 * CPUS);
}
END_TEST

START_TEST(records_of_processors_are_merged_by_time)
{
	uint64_t id = add(PERF_SWITCHES, 0);

	ck_assert(!perfevents_any(pe));
	put_switch(0, id, 10, PERF_RECORD_MISC_SWITCH_OUT);
	put_switch(1, id + 1, 20, 0);
	put_switch(0, id, 50,
	    PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	put_switch(1, id + 1, 30, PERF_RECORD_MISC_SWITCH_OUT);
	put_switch(1, id + 1, 40, 0);
	ck_assert(perfevents_any(pe));
	has_seen("10o 20 30o 40 50p ");
	ck_assert_ptr_eq(last.thread, &thread);
	ck_assert_int_eq(last.tid, 2);
	ck_assert(!perfevents_any(pe));
	has_seen("");
	/* The kernel may write there. */
	for (int i = 0; i < CPUS; i++)
		ck_assert_uint_eq(
		    ((struct perf_event_mmap_page *)rings[i].page)->data_tail,
		    rings[i].head);
}
END_TEST

/* Within a ring the order of the records counts. */
START_TEST(a_time_never_falls_within_a_ring)
{
	uint64_t id = add(PERF_SWITCHES, 0);

	put_switch(0, id, 30, 0);
	put_switch(0, id, 20, PERF_RECORD_MISC_SWITCH_OUT);
	put_switch(1, id + 1, 25, 0);
	has_seen("25 30 30o ");
}
END_TEST

/* A record goes on at the beginning of the memory, whatever its length. */
START_TEST(a_record_may_not_lie_in_one_piece)
{
	uint64_t id = add(PERF_CLOCK, 0), time = 1;
	char want[32];
	bool whole = true;

	for (unsigned i = 0; i < 1800; i++) {
		put_sample(0, id, ++time, STACK - 8);
		snprintf(want, sizeof(want), "%llu ", (unsigned long long)time);
		has_seen(want);
		ck_assert(last.has_regs);
		ck_assert_uint_eq(last.stack_len, STACK - 8);
		for (unsigned k = 0; k < STACK; k++)
			whole &= last.stack[k] == 0x5a;
	}
	ck_assert(whole);
	ck_assert_uint_gt(rings[0].head, rings[0].size);
}
END_TEST

/* A clock of a thread that tells of its switches as well. */
START_TEST(a_clock_may_tell_of_switches)
{
	const struct perf_wish w = {
		.source = PERF_CLOCK, .tag = 7, .switches = true
	};

	ck_assert_int_eq(perfevents_add(pe, &thread, &w), 0);
	ck_assert(perfevents_has(&thread, 7));
	ck_assert(!perfevents_has(&thread, 6));
	const struct opened *d = &descs[n_opened - 1];
	ck_assert_uint_eq(d->attr.context_switch, 1);
	ck_assert_uint_eq(d->attr.exclude_kernel, 1);
	uint64_t id = (uint64_t)n_opened - 1 + 1000;
	put_switch(1, id, 5, PERF_RECORD_MISC_SWITCH_OUT);
	has_seen("5o ");
	ck_assert_int_eq(last.source, PERF_SWITCHES);
	ck_assert_uint_eq(last.tag, 7);
	ck_assert_uint_eq(last.event, id);
	put_sample(1, id, 6, STACK);
	has_seen("6 ");
	ck_assert_int_eq(last.source, PERF_CLOCK);
	perfevents_drop(&thread);
	ck_assert(!perfevents_has(&thread, 7));
	add(PERF_CLOCK, 8);
	ck_assert_uint_eq(descs[n_opened - 1].attr.context_switch, 0);
}
END_TEST

/* Stacks at switches have rings of their own, so that the switches are not lost among
 * them; their own losses do not count. */
START_TEST(stacks_at_switches_are_apart)
{
	const struct perf_wish w = {
		.source = PERF_LEAVES, .tag = 7, .stack_max = STACK
	};
	uint64_t on = add(PERF_SWITCHES, 1);

	ck_assert_int_eq(perfevents_add(pe, &thread, &w), 0);
	const struct opened *d = &descs[n_opened - 1];
	uint64_t id = (uint64_t)n_opened - CPUS + 1000;
	ck_assert_uint_eq(d->attr.config, PERF_COUNT_SW_CONTEXT_SWITCHES);
	ck_assert_uint_eq(d->attr.exclude_kernel, 0);
	ck_assert_uint_eq(d->attr.sample_period, 1);
	put_switch(0, on, 6, PERF_RECORD_MISC_SWITCH_OUT);
	put_sample(CPUS, id, 5, STACK);
	has_seen("5 6o ");
	put_lost(CPUS, id, 9);
	put_switch(0, on, 7, PERF_RECORD_MISC_SWITCH_OUT);
	has_seen("7o ");
	ck_assert_uint_eq(perfevents_lost(pe), 0);
	/* They can be had once more, and not at all. */
	size_t n = pe->rings.len;
	thread.tid = 43;
	perfevents_drop(&thread);
	ck_assert_int_eq(perfevents_add(pe, &thread, &w), 0);
	ck_assert_uint_eq(pe->rings.len, n);
	perfevents_drop(&thread);
	rings_close(pe, CPUS);
	may_lock = 1 << 20;
	ck_assert_int_eq(perfevents_add(pe, &thread, &w), -EPERM);
	ck_assert_uint_eq(pe->rings.len, CPUS);
}
END_TEST

START_TEST(registers_are_those_of_the_mask)
{
	uint64_t id = add(PERF_CLOCK, 7), sum = 0;
	size_t nregs = (size_t)__builtin_popcountll(perfregs_mask());

	put_sample(1, id + 1, 5, STACK);
	has_seen("5 ");
	ck_assert_uint_eq(last.tag, 7);
	ck_assert_uint_eq(last.cpu, 1);
	for (unsigned i = 0; i < UREG_COUNT; i++)
		sum += last.regs.r[i];
	ck_assert_uint_eq(sum, nregs * 100 + nregs * (nregs - 1) / 2);
	/* The stack pointer is the eighth bit, the pc the ninth. */
	ck_assert_uint_eq(last.regs.r[UREG_SP], 107);
	ck_assert_uint_eq(last.regs.r[UREG_PC], 108);
}
END_TEST

START_TEST(what_is_not_valid_is_skipped)
{
	uint64_t id = add(PERF_CLOCK, 0);
	struct perf_event_header h = { PERF_RECORD_SAMPLE, 0, 0 };

	put_switch(0, 77, 5, 0);         /* of no event */
	put_sample(0, id, 6, STACK + 8); /* more than there is */
	has_seen("6 ");
	ck_assert_uint_eq(last.stack_len, STACK);
	put(0, &h, sizeof(h));
	put_sample(0, id, 7, STACK);
	put_sample(1, id + 1, 8, STACK);
	has_seen("8 ");
	put_sample(0, id, 9, STACK);
	has_seen("9 ");
}
END_TEST

START_TEST(lost_records_are_counted)
{
	uint64_t id = add(PERF_SWITCHES, 0);

	put_lost(0, id, 3);
	put_switch(0, id, 10, 0);
	put_lost(1, id + 1, 4);
	has_seen("10 ");
	ck_assert_uint_eq(perfevents_lost(pe), 7);
	ck_assert_uint_eq(perfevents_lost(pe), 0);
	/* By both events, and 7 of them have been told. */
	ck_assert_uint_eq(CPUS, 2);
	add(PERF_CLOCK, 1);
	perfevents_drop(&thread);
	ck_assert_uint_eq(perfevents_lost_last(pe), 2 + 3 + 4 + 5 - 7);
	ck_assert_uint_eq(perfevents_lost_last(pe), 0);
}
END_TEST

START_TEST(a_thread_waits_until_it_gets_a_processor)
{
	uint64_t id = add(PERF_SWITCHES, 0);

	ran_at = 10;
	put_switch(0, id, 10, PERF_RECORD_MISC_SWITCH_OUT);
	has_seen("10o waits ");
	ran_at = 20;
	put_switch(1, id + 1, 15, 0);
	put_switch(1, id + 1, 20, PERF_RECORD_MISC_SWITCH_OUT);
	has_seen("15 waits 20o waits ");
	/* On the other processor, by a record that is not read yet. */
	ran_at = 30;
	put_switch(1, id + 1, 30, PERF_RECORD_MISC_SWITCH_OUT);
	put_switch(0, id, 31, 0);
	has_seen("30o ran 31 ran ");
}
END_TEST

START_TEST(a_full_ring_may_have_lost_that)
{
	uint64_t id = add(PERF_SWITCHES, 0);

	ran_at = 1000000;
	while (rings[0].size - rings[0].head >= rings[0].size / 8)
		put_switch(0, id, 10, 0);
	str_clear(&seen);
	perfevents_read(pe, note, NULL);
	ck_assert(strncmp(str_c(&seen), "10 ran ", 7) == 0);
	ck_assert_str_eq(str_c(&seen) + seen.len - 9, "10 waits ");
}
END_TEST

START_TEST(a_thread_is_recorded_on_all_processors_or_on_none)
{
	const struct perf_wish w = { .source = PERF_SWITCHES };

	fails_at = n_opened + 1;
	fails_with = EMFILE;
	ck_assert_int_eq(perfevents_add(pe, &thread, &w), -EMFILE);
	ck_assert_int_eq(n_opened, CPUS + 1);
	ck_assert(descs[CPUS].closed);
	/* A thread that has ended is no error. */
	fails_with = ESRCH;
	ck_assert_int_eq(perfevents_add(pe, &thread, &w), 0);
	/* Nor is a processor that is off. */
	fails_with = ENODEV;
	ck_assert_int_eq(perfevents_add(pe, &thread, &w), 0);
}
END_TEST

START_TEST(a_processor_is_recorded_with_the_kernel)
{
	const struct perf_wish w = { .source = PERF_CLOCK, .period = 5 };

	ck_assert_int_eq(perfevents_add_all(pe, &w), 0);
	ck_assert_int_eq(descs[CPUS].tid, -1);
	ck_assert(!descs[CPUS].attr.exclude_kernel);
	ck_assert(descs[CPUS].attr.exclude_idle);
	ck_assert(descs[CPUS].attr.disabled);
	descs[CPUS].off = true;
	perfevents_start(pe);
	ck_assert(!descs[CPUS].off);
	put_switch(0, CPUS + 1000, 5, 0);
	has_seen("5 ");
	ck_assert_ptr_null(last.thread);
	perfevents_close(pe, 0);
	ck_assert(descs[CPUS].off && descs[CPUS + 1].off);
}
END_TEST

START_TEST(a_thread_that_ends_leaves_no_event)
{
	uint64_t id = add(PERF_SWITCHES, 0);

	put_switch(0, id, 5, 0);
	perfevents_drop(&thread);
	ck_assert(descs[CPUS].closed && descs[CPUS + 1].closed);
	has_seen("");
}
END_TEST

START_TEST(rings_are_as_large_as_may_be)
{
	int error;

	ck_assert_uint_eq(perfevents_size(pe), PERF_RING_SIZE);
	perfevents_destroy(pe);
	may_lock = PERF_RING_SIZE / 4;
	pe = perfevents_create(PERF_RING_SIZE, &error);
	ck_assert_uint_eq(perfevents_size(pe), PERF_RING_SIZE / 4);
	perfevents_destroy(pe);
	may_lock = RING_LEAST - 1;
	pe = perfevents_create(PERF_RING_SIZE, &error);
	ck_assert_ptr_null(pe);
	ck_assert_int_eq(error, -EPERM);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		an_event_belongs_to_a_thread_and_a_processor,
		records_of_processors_are_merged_by_time,
		a_time_never_falls_within_a_ring,
		a_record_may_not_lie_in_one_piece,
		a_clock_may_tell_of_switches,
		stacks_at_switches_are_apart,
		registers_are_those_of_the_mask,
		what_is_not_valid_is_skipped,
		lost_records_are_counted,
		a_thread_waits_until_it_gets_a_processor,
		a_full_ring_may_have_lost_that,
		a_thread_is_recorded_on_all_processors_or_on_none,
		a_processor_is_recorded_with_the_kernel,
		a_thread_that_ends_leaves_no_event,
		rings_are_as_large_as_may_be,
	};

	return suite_run(
	    "perfevent", setup, teardown, tests, ARRAY_SIZE(tests));
}
