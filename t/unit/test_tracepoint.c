/*
 * inject: the tracepoint table's states, what it writes and when, slots, and
 * getting out of them, on a target of byte arrays.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlang/base/base.h"
#include "dlang/base/fault.h"
#include "dlang/base/mem.h"
#include "inject/displaced.h"
#include "inject/resume.h"
#include "inject/slot.h"
#include "inject/trapset.h"
#include "t/fake/target.h"

#define TEXT      UINT64_C(0x7f0000000000)
#define TEXT_SIZE (64 * 1024)

static struct fake_target ft;
static struct tptable *tab;
static struct {
	unsigned n;
	struct tracepoint *tp[8];
	const char *why[8];
} failures;

static void
setup(void)
{
	fake_target_init(&ft);
	struct fake_region *r = fake_target_map(&ft, TEXT, TEXT_SIZE);
	memset(r->bytes, 0x55, TEXT_SIZE); /* push rbp, over and over */
	tab = tptable_create(&ft.target);
	tracepoint_unlisted(tab); /* the list is test_trapset.c's */
	memset(&failures, 0, sizeof(failures));
	fault_set(FAULT_SLOT, 0);
}

static void
teardown(void)
{
	tptable_destroy(tab);
	fake_target_fini(&ft);
}

static void
note_failure(void *ctx, struct tracepoint *tp, const char *why)
{
	failures.tp[failures.n] = tp;
	failures.why[failures.n++] = why;
}

static unsigned
commit(void)
{
	return tracepoint_commit(tab, note_failure, NULL);
}

static void
text(uint64_t at, const char *bytes, size_t n)
{
	memcpy(fake_target_at(&ft, at), bytes, n);
}

static uint8_t
byte(uint64_t at)
{
	return *fake_target_at(&ft, at);
}

static struct tracepoint *
get(uint64_t addr)
{
	struct tracepoint *tp;
	const char *why = "";

	ck_assert_msg(tracepoint_get(tab, addr, 7, &tp, &why) == 0, "%s", why);
	return tp;
}

static struct tracepoint *
arm(uint64_t addr)
{
	struct tracepoint *tp = get(addr);

	ck_assert_uint_eq(commit(), 0);
	ck_assert_int_eq(tp->state, TP_TRAP);
	return tp;
}

START_TEST(a_tracepoint_lives_and_dies)
{
	struct tracepoint *tp = get(TEXT + 0x10);

	ck_assert_int_eq(tp->state, TP_IDLE);
	ck_assert_uint_eq(tp->addr, TEXT + 0x10);
	ck_assert_uint_eq(tp->id, 7);
	ck_assert_uint_eq(byte(TEXT + 0x10), 0x55);
	ck_assert_ptr_null(tracepoint_lookup(tab, TEXT + 0x10));
	ck_assert_uint_eq(commit(), 0);
	ck_assert_int_eq(tp->state, TP_TRAP);
	ck_assert_uint_eq(byte(TEXT + 0x10), 0xcc);
	ck_assert_uint_eq(byte(TEXT + 0x11), 0x55);
	ck_assert_uint_eq(tp->saved, 0x55);
	ck_assert_ptr_eq(tracepoint_lookup(tab, TEXT + 0x10), tp);
	ck_assert_ptr_null(tracepoint_lookup(tab, TEXT + 0x11));
	ck_assert(!tracepoint_recent(tab, TEXT + 0x10));
	/* push rbp in the slot, then a jump to the next instruction */
	uint8_t *slot = fake_target_at(&ft, tp->slot);
	int32_t rel;
	ck_assert_uint_eq(slot[0], 0x55);
	ck_assert_uint_eq(slot[1], 0xe9);
	memcpy(&rel, slot + 2, 4);
	ck_assert_uint_eq(tp->slot + 6 + (uint64_t)(int64_t)rel, TEXT + 0x11);

	tracepoint_put(tab, tp);
	ck_assert_uint_eq(byte(TEXT + 0x10), 0xcc);
	ck_assert_uint_eq(commit(), 0);
	ck_assert_uint_eq(byte(TEXT + 0x10), 0x55);
	ck_assert_ptr_null(tracepoint_lookup(tab, TEXT + 0x10));
	ck_assert_ptr_null(tracepoint_next(tab, NULL));
	/* A thread may have hit it before. */
	ck_assert(tracepoint_recent(tab, TEXT + 0x10));
	ck_assert(!tracepoint_recent(tab, TEXT + 0x20));
	/* The program's own int3, put there later, is not ours. */
	*fake_target_at(&ft, TEXT + 0x10) = 0xcc;
	ck_assert(!tracepoint_recent(tab, TEXT + 0x10));
}
END_TEST

START_TEST(references_are_counted)
{
	struct tracepoint *a = get(TEXT), *b = get(TEXT);

	ck_assert_ptr_eq(a, b);
	ck_assert_uint_eq(a->refs, 2);
	commit();
	tracepoint_put(tab, a);
	commit();
	ck_assert_int_eq(a->state, TP_TRAP);
	/* Out and in again before anyone looks: nothing is written. */
	unsigned long writes = ft.writes;
	tracepoint_put(tab, a);
	ck_assert_ptr_eq(get(TEXT), a);
	commit();
	ck_assert_int_eq(a->state, TP_TRAP);
	ck_assert_uint_eq(ft.writes, writes);
	/* In and out again: neither. */
	struct tracepoint *c = get(TEXT + 8);
	tracepoint_put(tab, c);
	commit();
	ck_assert_uint_eq(ft.writes, writes);
	ck_assert_ptr_null(tracepoint_next(tab, a));
}
END_TEST

START_TEST(bad_places_are_named)
{
	struct tracepoint *tp;
	const char *why;

	text(TEXT, "\x06", 1);
	ck_assert_int_eq(tracepoint_get(tab, TEXT, 1, &tp, &why), -EILSEQ);
	ck_assert_str_eq(why, "not an instruction");
	text(TEXT, "\xcd\x80", 2);
	ck_assert_int_eq(tracepoint_get(tab, TEXT, 1, &tp, &why), -EOPNOTSUPP);
	ck_assert_str_eq(why, "software interrupt");
	ck_assert_int_eq(tracepoint_get(tab, 0x1000, 1, &tp, &why), -EFAULT);
	ck_assert_str_eq(why, "text cannot be read");
	ck_assert_ptr_null(tracepoint_next(tab, NULL));
	/* The last byte of the mapping is an instruction; half of one is not. */
	get(TEXT + TEXT_SIZE - 1);
	text(TEXT + TEXT_SIZE - 8, "\x48\xb8", 2);
	ck_assert_int_eq(
	    tracepoint_get(tab, TEXT + TEXT_SIZE - 8, 1, &tp, &why), -EILSEQ);
}
END_TEST

START_TEST(many_are_written_at_once)
{
	unsigned long reads, writes;
	struct tracepoint *tp[TEXT_SIZE / 8];

	for (unsigned i = 0; i < ARRAY_SIZE(tp); i++)
		tp[i] = get(TEXT + i * 8);
	reads = ft.reads;
	writes = ft.writes;
	ck_assert_uint_eq(commit(), 0);
	/* 16 pages of 512 tracepoints, in runs of 1,024; chunks of slots */
	ck_assert_uint_le(ft.reads - reads, 8);
	ck_assert_uint_le(ft.writes - writes, 8 + ft.maps);
	/* Each takes 16 bytes; the first of a chunk is its mark. */
	size_t per_chunk = SLOT_MEMORY / 16 - 1;
	ck_assert_uint_le(
	    ft.maps, (ARRAY_SIZE(tp) + per_chunk - 1) / per_chunk);
	for (unsigned i = 0; i < TEXT_SIZE; i++)
		ck_assert_uint_eq(byte(TEXT + i), i % 8 ? 0x55 : 0xcc);
	for (unsigned i = 0; i < ARRAY_SIZE(tp); i++)
		tracepoint_put(tab, tp[i]);
	writes = ft.writes;
	commit();
	ck_assert_uint_le(ft.writes - writes, 8);
	for (unsigned i = 0; i < TEXT_SIZE; i++)
		ck_assert_uint_eq(byte(TEXT + i), 0x55);
}
END_TEST

/* Writing to a page makes it the process's own, so none is without need. */
START_TEST(pages_between_are_left_alone)
{
	const unsigned pages[] = { 1, 2, 3, 5, 7, 8 };

	arm(TEXT);
	unsigned long writes = ft.writes, bytes = ft.bytes_written;
	for (unsigned i = 0; i < ARRAY_SIZE(pages); i++)
		get(TEXT + pages[i] * 0x1000);
	unsigned long reads = ft.reads;
	ck_assert_uint_eq(commit(), 0);
	/* 1 to 3, 5, 7 to 8; the slots in one */
	ck_assert_uint_eq(ft.reads - reads, 3);
	ck_assert_uint_eq(ft.writes - writes, 4);
	ck_assert_uint_le(ft.bytes_written - bytes,
	    (2 + 1) * 0x1000 + 3 + ARRAY_SIZE(pages) * 16);
}
END_TEST

/* What a commit does with every thread stopped is the text alone. */
START_TEST(what_is_prepared_needs_no_stop)
{
	enum { N = TEXT_SIZE / 8 };
	struct trapset *traps = tptable_traps(tab);

	ck_assert_int_eq(trapset_map(traps, TEXT), 0);
	for (unsigned i = 0; i < N; i++)
		get(TEXT + (N - 1 - i) * 8);
	ck_assert_uint_eq(tptable_arming(tab), N);
	unsigned long maps = ft.maps;
	tracepoint_reserve(tab);
	/* once for slots, once for the list, however many pieces */
	ck_assert_uint_eq(ft.maps - maps, 2);
	maps = ft.maps;
	ft.map_error = -EPERM; /* nobody may be asked from now on */
	tracepoint_prepare(tab);
	for (unsigned i = 0; i < TEXT_SIZE; i++)
		ck_assert_uint_eq(byte(TEXT + i), 0x55);
	unsigned long writes = ft.writes, bytes = ft.bytes_written;
	tracepoint_prepare(tab);
	ck_assert_uint_eq(ft.writes, writes);
	ck_assert_uint_eq(commit(), 0);
	ck_assert_uint_eq(ft.maps, maps);
	ck_assert_uint_le(ft.writes - writes, N / 1024);
	ck_assert_uint_le(ft.bytes_written - bytes, TEXT_SIZE);
	for (unsigned i = 0; i < TEXT_SIZE; i++)
		ck_assert_uint_eq(byte(TEXT + i), i % 8 ? 0x55 : 0xcc);
	ck_assert_uint_eq(tracepoint_restore_all(tab), 0);
	tptable_release_slots(tab);
	trapset_release(traps);
	ck_assert_uint_eq(ft.regions, 1);
}
END_TEST

START_TEST(what_was_prepared_in_vain)
{
	struct trapset *traps = tptable_traps(tab);
	struct tracepoint *tp[100];

	ck_assert_int_eq(trapset_map(traps, TEXT), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(tp); i++)
		tp[i] = get(TEXT + i * 8);
	tracepoint_reserve(tab);
	tracepoint_prepare(tab);
	/* Not wanted any more; and another program's by now. */
	for (unsigned i = 0; i < 50; i++)
		tracepoint_put(tab, tp[i]);
	text(TEXT + 50 * 8, "\x90", 1);
	ck_assert_uint_eq(commit(), 1);
	ck_assert_ptr_eq(failures.tp[0], tp[50]);
	ck_assert_str_eq(failures.why[0], "text has changed");
	ck_assert_uint_eq(tp[50]->slot, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(tp); i++)
		ck_assert_uint_eq(byte(TEXT + i * 8),
		    i < 50      ? 0x55 :
			i == 50 ? 0x90 :
				  0xcc);
	/* Their slots are had by others. */
	unsigned long maps = ft.maps;
	for (unsigned i = 0; i < 50; i++)
		get(TEXT + 0x4000 + i * 8);
	ck_assert_uint_eq(commit(), 0);
	ck_assert_uint_eq(ft.maps, maps);
}
END_TEST

START_TEST(a_hundred_thousand_take_no_time_to_speak_of)
{
	enum { N = 100000, PITCH = 16 };
	struct fake_region *r =
	    fake_target_map(&ft, TEXT + (1 << 28), (uint64_t)N * PITCH);
	uint64_t at = r->start;

	memset(r->bytes, 0x55, r->size);
	for (unsigned i = 0; i < N; i++)
		get(at + (uint64_t)i * PITCH);
	ck_assert_uint_eq(commit(), 0);
	/* runs of 32 pages, and a write per chunk of slots */
	ck_assert_uint_le(
	    ft.writes, N / 1024 + N * PITCH / (32 * 4096) + 1 + ft.maps);
	ck_assert_uint_eq(tracepoint_restore_all(tab), 0);
	for (uint64_t i = 0; i < r->size; i++)
		ck_assert_uint_eq(r->bytes[i], 0x55);
	tptable_release_slots(tab);
	ck_assert_uint_eq(ft.regions, 2);
}
END_TEST

START_TEST(a_thread_in_a_slot_keeps_it)
{
	struct tracepoint *tp = arm(TEXT);
	uint64_t slot = tp->slot;

	ft.threads = 2;
	ft.pc[0] = TEXT + 0x100;
	ft.pc[1] = slot + 1;
	tracepoint_put(tab, tp);
	commit();
	ck_assert_int_eq(tp->state, TP_DRAINING);
	ck_assert_uint_eq(byte(TEXT), 0x55);
	ck_assert_uint_eq(tp->slot, slot);
	ck_assert(tracepoint_recent(tab, TEXT));
	/* Its slot is not handed out. */
	struct tracepoint *other = arm(TEXT + 0x20);
	ck_assert_uint_ne(other->slot, slot);
	ck_assert_int_eq(tp->state, TP_DRAINING);
	/* Wanted again: the same, with the same slot. */
	ck_assert_ptr_eq(arm(TEXT), tp);
	ck_assert_uint_eq(tp->slot, slot);
	tracepoint_put(tab, tp);
	commit();
	ck_assert_int_eq(tp->state, TP_DRAINING);
	/* The first might be anywhere. */
	ft.pc[0] = FAKE_ANYWHERE;
	ft.pc[1] = TEXT + 1;
	commit();
	ck_assert_int_eq(tp->state, TP_DRAINING);
	ft.pc[0] = TEXT + 0x100;
	commit();
	ck_assert_ptr_eq(tracepoint_next(tab, NULL), other);
	ck_assert_ptr_null(tracepoint_next(tab, other));
}
END_TEST

START_TEST(other_bytes_are_left_alone)
{
	struct tracepoint *tp = arm(TEXT), *later = get(TEXT + 0x10);

	/* Someone patched there between the look and the commit. */
	text(TEXT + 0x10, "\xe9", 1);
	ck_assert_uint_eq(commit(), 1);
	ck_assert_ptr_eq(failures.tp[0], later);
	ck_assert_str_eq(failures.why[0], "text has changed");
	ck_assert_int_eq(later->state, TP_IDLE);
	ck_assert_uint_eq(later->slot, 0);
	ck_assert_uint_eq(byte(TEXT + 0x10), 0xe9);
	/* Another look makes another plan. */
	text(TEXT + 0x10, "\x90", 1);
	ck_assert_ptr_eq(arm(TEXT + 0x10), later);
	ck_assert_uint_eq(later->saved, 0x90);

	text(TEXT, "\xe9", 1);
	tracepoint_put(tab, tp);
	ck_assert_uint_eq(commit(), 0);
	ck_assert_uint_eq(byte(TEXT), 0xe9);

	text(TEXT + 0x10, "\xe8", 1);
	ck_assert_uint_eq(tracepoint_restore_all(tab), 1);
	ck_assert_uint_eq(byte(TEXT + 0x10), 0xe8);
}
END_TEST

START_TEST(neighbours_do_not_see_each_other)
{
	/* mov eax, 5: a tracepoint on it, and one inside it */
	text(TEXT, "\xb8\x05\x55\x00\x00", 5);
	struct tracepoint *outer = arm(TEXT), *inner;

	ck_assert_int_eq(outer->plan->insn.len, 5);
	inner = arm(TEXT + 2);
	ck_assert_uint_eq(inner->saved, 0x55);
	/* Planned while the other's int3 stands in its bytes */
	tracepoint_put(tab, outer);
	commit();
	outer = arm(TEXT);
	ck_assert_uint_eq(outer->saved, 0xb8);
	ck_assert_mem_eq(
	    fake_target_at(&ft, outer->slot), "\xb8\x05\x55\x00\x00", 5);
	tracepoint_restore_all(tab);
	ck_assert_mem_eq(fake_target_at(&ft, TEXT), "\xb8\x05\x55\x00\x00", 5);
}
END_TEST

START_TEST(readers_get_the_original)
{
	uint8_t buf[3 * 4096], want[sizeof(buf)];

	for (unsigned i = 0; i < TEXT_SIZE; i += 7)
		get(TEXT + i);
	commit();
	memset(want, 0x55, sizeof(want));
	for (unsigned len = 1; len < 40; len++) {
		ft.target.ops->read(&ft.target, TEXT + 3, buf, len);
		tracepoint_overlay(tab, TEXT + 3, buf, len);
		ck_assert_mem_eq(buf, want, len);
	}
	ft.target.ops->read(&ft.target, TEXT + 4090, buf, sizeof(buf));
	tracepoint_overlay(tab, TEXT + 4090, buf, sizeof(buf));
	ck_assert_mem_eq(buf, want, sizeof(buf));
	/* Other memory is not touched. */
	memset(buf, 0xcc, 64);
	tracepoint_overlay(tab, TEXT - 64, buf, 64);
	tracepoint_overlay(tab, TEXT + TEXT_SIZE, buf, 64);
	for (unsigned i = 0; i < 64; i++)
		ck_assert_uint_eq(buf[i], 0xcc);
	tracepoint_overlay(tab, TEXT - 60, buf, 64);
	ck_assert_uint_eq(buf[60], 0x55);
	ck_assert_uint_eq(buf[61], 0xcc);
}
END_TEST

START_TEST(the_programs_own_int3)
{
	struct uregs regs = { 0 };
	uint64_t fault;

	text(TEXT, "\xcc", 1);
	struct tracepoint *tp = arm(TEXT);
	ck_assert(tp->was_trap);
	ck_assert_uint_eq(tp->slot, 0);
	regs.r[UREG_RIP] = TEXT;
	ck_assert_int_eq(resume_from(tab, tp, &regs, &fault), 0);
	ck_assert_uint_eq(regs.r[UREG_RIP], TEXT + 1);
	tracepoint_put(tab, tp);
	commit();
	ck_assert_uint_eq(byte(TEXT), 0xcc);
	ck_assert(!tracepoint_recent(tab, TEXT));
}
END_TEST

START_TEST(a_slot_that_cannot_be_had)
{
	struct tracepoint *a = get(TEXT), *b = get(TEXT + 8),
			  *c = get(TEXT + 16);

	fault_set(FAULT_SLOT, 2);
	ck_assert_uint_eq(commit(), 0); /* out of reach will do as well */
	ck_assert_int_eq(b->state, TP_TRAP);

	/* Without a far plan (ret has no window) it is the end. */
	text(TEXT + 0x20, "\xc3", 1);
	struct tracepoint *ret = get(TEXT + 0x20), *d = get(TEXT + 0x28);
	fault_set(FAULT_SLOT, 1);
	ck_assert_uint_eq(commit(), 1);
	ck_assert_ptr_eq(failures.tp[0], ret);
	ck_assert_str_eq(failures.why[0], "no room for a slot within reach");
	ck_assert_int_eq(ret->state, TP_IDLE);
	ck_assert_uint_eq(byte(TEXT + 0x20), 0xc3);
	ck_assert_int_eq(d->state, TP_TRAP);
	ck_assert_int_eq(a->state, TP_TRAP);
	ck_assert_int_eq(c->state, TP_TRAP);
	/* Asked for again, it is tried again. */
	tracepoint_put(tab, ret);
	ck_assert_ptr_eq(get(TEXT + 0x20), ret);
	ck_assert_uint_eq(commit(), 0);
	ck_assert_int_eq(ret->state, TP_TRAP);
}
END_TEST

START_TEST(a_process_that_may_not_map)
{
	ft.map_error = -EPERM;
	struct tracepoint *tp = get(TEXT), *nop;

	ck_assert_uint_eq(commit(), 1);
	ck_assert_str_eq(
	    failures.why[0], "the process may not map memory for slots");
	/* What is emulated needs no memory. */
	text(TEXT + 0x10, "\x90", 1);
	nop = arm(TEXT + 0x10);
	ck_assert_uint_eq(nop->slot, 0);
	ck_assert_uint_eq(ft.maps, 1);

	/* A cave will do, until it is full. */
	struct fake_region *r = fake_target_map(&ft, TEXT + 0x100000, 4096);
	memset(r->bytes, 0x77, 4096);
	r->cave = true;
	r->cave_at = TEXT + 0x100000 + 4096 - 100;
	ck_assert_ptr_eq(get(TEXT), tp);
	ck_assert_uint_eq(commit(), 0);
	ck_assert_uint_ge(tp->slot, r->cave_at);
	ck_assert_uint_eq(tp->slot % 16, 0);
	for (unsigned i = 0; i < 8; i++)
		get(TEXT + 0x40 + i * 8);
	failures.n = 0;
	ck_assert_uint_eq(commit(), 3); /* 96 bytes of 16 */
	ck_assert_uint_eq(ft.maps, 1);
	/* And is given back as it was. */
	tracepoint_restore_all(tab);
	tptable_release_slots(tab);
	for (unsigned i = 0; i < 4096; i++)
		ck_assert_uint_eq(r->bytes[i], 0x77);
	ck_assert_uint_eq(tp->slot, 0);
}
END_TEST

START_TEST(memory_that_cannot_be_written)
{
	struct tracepoint *a = get(TEXT), *b = get(TEXT + 0x1000),
			  *c = get(TEXT + 0x1008);

	/* Writes: one chunk, then the text; that fails half-way. */
	ft.fail_write = 2;
	ck_assert_uint_eq(commit(), 0); /* one by one it works */
	ck_assert_int_eq(c->state, TP_TRAP);
	ck_assert_uint_eq(byte(TEXT + 0x1008), 0xcc);
	tracepoint_put(tab, b);
	ft.region[0].read_only = true;
	commit();
	ck_assert_int_eq(a->state, TP_TRAP);
	struct tracepoint *d = get(TEXT + 0x2000);
	failures.n = 0;
	ck_assert_uint_eq(commit(), 1);
	ck_assert_ptr_eq(failures.tp[0], d);
	ck_assert_str_eq(failures.why[0], "text cannot be written");
	ck_assert_int_eq(d->state, TP_IDLE);
	ck_assert_uint_eq(byte(TEXT + 0x2000), 0x55);
	ft.region[0].read_only = false;
	ft.fail_write = 1; /* the chunk */
	get(TEXT + 0x3000);
	failures.n = 0;
	ck_assert_uint_eq(commit(), 1);
	ck_assert_str_eq(failures.why[0], "slot memory cannot be written");
	ck_assert_uint_eq(byte(TEXT + 0x3000), 0x55);
}
END_TEST

START_TEST(a_forked_child_has_its_own)
{
	struct fake_target child;
	struct tracepoint *tp = arm(TEXT), *queued = get(TEXT + 0x20);
	struct tracepoint *draining = arm(TEXT + 0x30);

	ck_assert_int_eq(queued->state, TP_TRAP);
	tp->user = &child;
	ft.threads = 1;
	ft.pc[0] = draining->slot;
	tracepoint_put(tab, draining);
	commit();
	queued = get(TEXT + 0x40);
	fake_target_fork(&ft, &child);
	struct tptable *copy = tptable_fork(tab, &child.target);
	struct tracepoint *ctp = tracepoint_lookup(copy, TEXT);

	ck_assert_ptr_nonnull(ctp);
	ck_assert_ptr_ne(ctp, tp);
	ck_assert_ptr_null(ctp->user);
	ck_assert_uint_eq(ctp->slot, tp->slot);
	ck_assert_uint_eq(ctp->refs, 1);
	ck_assert_uint_eq(resume_text_pc(copy, tp->slot), TEXT);
	/* Each goes its way. */
	ck_assert_uint_eq(tracepoint_restore_all(copy), 0);
	ck_assert_uint_eq(*fake_target_at(&child, TEXT), 0x55);
	ck_assert_uint_eq(byte(TEXT), 0xcc);
	/* A change that was waiting waits in both. */
	commit();
	ck_assert_int_eq(queued->state, TP_TRAP);
	tracepoint_commit(copy, NULL, NULL);
	ck_assert_ptr_nonnull(tracepoint_lookup(copy, TEXT + 0x40));
	tracepoint_restore_all(copy);
	ck_assert(tracepoint_recent(copy, TEXT));
	child.threads = 0;
	tptable_release_slots(copy);
	ck_assert_ptr_null(fake_target_at(&child, tp->slot));
	ck_assert_ptr_nonnull(fake_target_at(&ft, tp->slot));
	tptable_destroy(copy);
	fake_target_fini(&child);
}
END_TEST

/* Bytes of a slot that were not written before the fork are written in both. */
START_TEST(bytes_that_wait_are_written_in_a_fork_too)
{
	struct slots *s = slots_create(&ft.target);
	struct fake_target child;
	uint64_t first, second;

	ck_assert_int_eq(
	    slot_alloc(s, TEXT, 0, UINT64_MAX, 8, NULL, &first), 0);
	ck_assert_int_eq(
	    slot_alloc(s, TEXT, 0, UINT64_MAX, 8, NULL, &second), 0);
	slot_write(s, first, "first...", 8);
	ck_assert_int_eq(slots_flush(s), 0);
	slot_write(s, second, "second..", 8);
	fake_target_fork(&ft, &child);
	struct slots *copy = slots_fork(s, &child.target);
	ck_assert(slot_written(copy, first) == slot_written(s, first));
	ck_assert(!slot_written(copy, second));
	ck_assert_int_eq(slots_flush(copy), 0);
	ck_assert_mem_eq(fake_target_at(&child, first), "first...", 8);
	ck_assert_mem_eq(fake_target_at(&child, second), "second..", 8);
	ck_assert_int_ne(*fake_target_at(&ft, second), 's');
	slots_destroy(copy);
	slots_destroy(s);
	fake_target_fini(&child);
}
END_TEST

START_TEST(unmapped_text_is_forgotten)
{
	struct tracepoint *gone = arm(TEXT), *stays = arm(TEXT + 0x2000);
	struct tracepoint *queued = get(TEXT + 0x10);

	ft.threads = 1;
	ft.pc[0] = gone->slot;
	memset(fake_target_at(&ft, TEXT), 0x11, 0x1000);
	tracepoint_forget(tab, TEXT, TEXT + 0x1000);
	ck_assert_int_eq(gone->state, TP_GONE);
	ck_assert_int_eq(queued->state, TP_GONE);
	ck_assert_int_eq(stays->state, TP_TRAP);
	ck_assert(!tracepoint_recent(tab, TEXT));
	ck_assert_ptr_null(tracepoint_lookup(tab, TEXT));
	ck_assert_uint_eq(byte(TEXT), 0x11);
	/* Other text is mapped there; the thread is still in the old slot. */
	text(TEXT, "\x90", 1);
	struct tracepoint *fresh = arm(TEXT);
	ck_assert_ptr_ne(fresh, gone);
	ck_assert_uint_eq(resume_text_pc(tab, gone->slot), TEXT);
	tracepoint_put(tab, gone);
	tracepoint_put(tab, queued);
	commit();
	ck_assert_int_eq(gone->state, TP_GONE);
	ft.threads = 0;
	commit();
	unsigned n = 0;
	for (struct tracepoint *tp = NULL;
	     (tp = tracepoint_next(tab, tp)) != NULL;)
		n++;
	ck_assert_uint_eq(n, 2);
	tracepoint_restore_all(tab);
	ck_assert_uint_eq(byte(TEXT), 0x90);
	ck_assert_uint_eq(byte(TEXT + 1), 0x11);
}
END_TEST

START_TEST(slots_in_use_stay_mapped)
{
	struct tracepoint *tp = arm(TEXT);
	uint64_t slot = tp->slot;

	ft.threads = 1;
	ft.pc[0] = slot + 1;
	tracepoint_restore_all(tab);
	ck_assert_int_eq(tp->state, TP_DRAINING);
	tptable_release_slots(tab);
	ck_assert_uint_eq(ft.unmaps, 0);
	ck_assert_uint_eq(tp->slot, slot);
	ft.pc[0] = FAKE_ANYWHERE;
	tptable_release_slots(tab);
	ck_assert_uint_eq(ft.unmaps, 0);
	ft.pc[0] = TEXT;
	tptable_release_slots(tab);
	ck_assert_uint_eq(ft.unmaps, 1);
	ck_assert_uint_eq(tp->slot, 0);
	ck_assert_uint_eq(resume_text_pc(tab, slot), slot);
	/* The table can be used again. */
	tracepoint_put(tab, tp);
	commit();
	arm(TEXT);
}
END_TEST

/* ---- plans, and ways out of slots ---- */

struct plan_row {
	const char *bytes;
	size_t len;
	int how;
	bool slot;
};

START_TEST(plans_are_the_cheapest)
{
	static const struct plan_row rows[] = {
		{ "\x90", 1, DISP_EMULATE, false },
		{ "\xf3\x0f\x1e\xfa", 4, DISP_EMULATE, false },
		{ "\xeb\x10", 2, DISP_EMULATE, false },
		{ "\x74\x10", 2, DISP_EMULATE, false },
		{ "\xff\xe0", 2, DISP_EMULATE, false },
		{ "\x48\x89\xe5", 3, DISP_EMULATE, false },
		{ "\x48\x83\xec\x08", 4, DISP_EMULATE, false },
		{ "\x48\x8d\x05\x10\x00\x00\x00", 7, DISP_EMULATE, false },
		{ "\x55", 1, DISP_COPY, true },
		{ "\xc9", 1, DISP_COPY, true },
		{ "\xc3", 1, DISP_LEAP, true },
		{ "\xff\x20", 2, DISP_LEAP, true },
		{ "\xe8\x00\x00\x00\x00", 5, DISP_CALL, true },
		{ "\xff\xd0", 2, DISP_CALL, true },
		{ "\xff\x10", 2, DISP_CALL_MEM, true },
		{ "\xff\xd4", 2, DISP_CALL_MEM, true },
		{ "\x0f\x05", 2, DISP_SYSCALL, true },
		{ "\x48\x8b\x05\x10\x00\x00\x00", 7, DISP_COPY, true },
		{ "\xcc", 1, DISP_OWN_TRAP, false },
		{ "\x0f\x0b", 2, DISP_LEAP, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t at = TEXT + 0x100 + i * 32;
		text(at, rows[i].bytes, rows[i].len);
		struct tracepoint *tp = arm(at);
		ck_assert_msg(tp->plan->how == rows[i].how, "row %zu: %d", i,
		    (int)tp->plan->how);
		ck_assert_msg((tp->slot != 0) == rows[i].slot, "row %zu", i);
	}
}
END_TEST

/* Slots byte by byte.  A slot is 1 MiB above TEXT's page, as the fake maps. */
START_TEST(slots_have_the_bytes_they_should)
{
	static const struct {
		const char *insn;
		size_t len;
		const char *slot;
		size_t slot_len;
	} rows[] = {
		/* mov rax, [rip + 0x10]: 0x10 less the way to the slot */
		{ "\x48\x8b\x05\x10\x00\x00\x00", 7,
		    "\x48\x8b\x05\x10\x00\xf0\xff\xe9\xfb\xff\xef\xff", 12 },
		/* jmp [rip + 8] */
		{ "\xff\x25\x08\x00\x00\x00", 6, "\xff\x25\x08\x00\xf0\xff",
		    6 },
		/* syscall; lea rcx, [next]; jmp next */
		{ "\x0f\x05", 2,
		    "\x0f\x05\x48\x8d\x0d\xf9\xff\xef\xff\xe9\xf4\xff\xef\xff",
		    14 },
		/* call +0: push [ret]; jmp next */
		{ "\xe8\x00\x00\x00\x00", 5,
		    "\xff\x35\x05\x00\x00\x00\xe9\xfa\xff\xef\xff"
		    "\x05\x00\x00\x00\x00\x7f\x00\x00",
		    19 },
		/* call rbx */
		{ "\xff\xd3", 2,
		    "\xff\x35\x02\x00\x00\x00\xff\xe3"
		    "\x02\x00\x00\x00\x00\x7f\x00\x00",
		    16 },
		/* call [rsp + 8] */
		{ "\xff\x54\x24\x08", 4,
		    "\xff\x74\x24\x08\xff\x34\x24\x48\x8d\x64\x24\x10"
		    "\xff\x35\x04\x00\x00\x00\xff\x64\x24\xf8"
		    "\x04\x00\x00\x00\x00\x7f\x00\x00",
		    30 },
		{ "\xc2\x10\x00", 3, "\xc2\x10\x00", 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		teardown();
		setup();
		text(TEXT, rows[i].insn, rows[i].len);
		ft.map_bias = (1 << 20) - SLOT_MARK;
		struct tracepoint *tp = arm(TEXT);
		const uint8_t *slot = fake_target_at(&ft, tp->slot);
		ck_assert(slot_memory_is_marked(slot - SLOT_MARK));
		int64_t way = (int64_t)(TEXT - tp->slot);
		ck_assert_msg(
		    way == -(1 << 20), "slot at %#lx", (long)tp->slot);
		for (size_t k = 0; k < rows[i].slot_len; k++)
			ck_assert_msg(slot[k] == (uint8_t)rows[i].slot[k],
			    "row %zu, byte %zu: %#x", i, k, slot[k]);
	}
}
END_TEST

START_TEST(ways_out_of_slots)
{
	struct uregs regs = { 0 };
	struct tracepoint *tp, *in;
	uint64_t fault, word = 0;
	struct fake_region *stack;

	/* Outside. */
	regs.r[UREG_RIP] = TEXT;
	ck_assert_int_eq(resume_leave_slot(tab, &regs, NULL), SLOT_OUTSIDE);
	ck_assert_uint_eq(regs.r[UREG_RIP], TEXT);

	/* A copy: before and after. */
	tp = arm(TEXT);
	ck_assert_int_eq(resume_from(tab, tp, &regs, &fault), 0);
	ck_assert_uint_eq(regs.r[UREG_RIP], tp->slot);
	ck_assert_uint_eq(resume_text_pc(tab, tp->slot), TEXT);
	ck_assert_uint_eq(resume_text_pc(tab, tp->slot + 1), TEXT + 1);
	ck_assert_int_eq(resume_leave_slot(tab, &regs, &in), SLOT_BEFORE);
	ck_assert_ptr_eq(in, tp);
	ck_assert_uint_eq(regs.r[UREG_RIP], TEXT);
	regs.r[UREG_RIP] = tp->slot + 1;
	ck_assert_int_eq(resume_leave_slot(tab, &regs, NULL), SLOT_AFTER);
	ck_assert_uint_eq(regs.r[UREG_RIP], TEXT + 1);

	/* A system call: rcx is the next address, not the slot's. */
	text(TEXT + 0x20, "\x0f\x05", 2);
	tp = arm(TEXT + 0x20);
	regs.r[UREG_RIP] = regs.r[UREG_RCX] = tp->slot + 2;
	ck_assert_uint_eq(resume_text_pc(tab, tp->slot + 2), TEXT + 0x22);
	ck_assert_int_eq(resume_leave_slot(tab, &regs, NULL), SLOT_AFTER);
	ck_assert_uint_eq(regs.r[UREG_RIP], TEXT + 0x22);
	ck_assert_uint_eq(regs.r[UREG_RCX], TEXT + 0x22);

	/* A call: once pushed, it is made. */
	text(TEXT + 0x40, "\xe8\xfb\x00\x00\x00", 5);
	tp = arm(TEXT + 0x40);
	regs.r[UREG_RIP] = tp->slot + 6;
	regs.r[UREG_RSP] = 0x10100;
	ck_assert_int_eq(resume_leave_slot(tab, &regs, NULL), SLOT_AFTER);
	ck_assert_uint_eq(regs.r[UREG_RIP], TEXT + 0x140);
	ck_assert_uint_eq(regs.r[UREG_RSP], 0x10100);

	/* call rax with rax no address: undone, to fault at home. */
	text(TEXT + 0x60, "\xff\xd0", 2);
	tp = arm(TEXT + 0x60);
	regs.r[UREG_RIP] = tp->slot + 6;
	regs.r[UREG_RAX] = UINT64_C(0x8000000000000000);
	ck_assert_int_eq(resume_leave_slot(tab, &regs, NULL), SLOT_BEFORE);
	ck_assert_uint_eq(regs.r[UREG_RIP], TEXT + 0x60);
	ck_assert_uint_eq(regs.r[UREG_RSP], 0x10108);

	/* jmp rax likewise, which is emulated. */
	text(TEXT + 0x80, "\xff\xe0", 2);
	tp = arm(TEXT + 0x80);
	regs.r[UREG_RIP] = TEXT + 0x80;
	ck_assert_int_eq(resume_from(tab, tp, &regs, &fault), -EFAULT);
	ck_assert_uint_eq(fault, 0);
	ck_assert_uint_eq(regs.r[UREG_RIP], TEXT + 0x80);

	/* A call through memory, far from it: emulated, with its faults. */
	teardown();
	setup();
	ft.map_bias = INT64_C(1) << 40;
	text(TEXT + 0xa0, "\xff\x15\x00\x0f\x00\x00", 6);
	stack = fake_target_map(&ft, 0x10000, 0x1000);
	tp = arm(TEXT + 0xa0);
	ck_assert_int_eq(tp->plan->how, DISP_EMULATE);
	word = TEXT + 0x200;
	memcpy(fake_target_at(&ft, TEXT + 0xa6 + 0xf00), &word, 8);
	regs.r[UREG_RIP] = TEXT + 0xa0;
	regs.r[UREG_RSP] = 0x10100;
	ck_assert_int_eq(resume_from(tab, tp, &regs, &fault), 0);
	ck_assert_uint_eq(regs.r[UREG_RIP], TEXT + 0x200);
	ck_assert_uint_eq(regs.r[UREG_RSP], 0x100f8);
	memcpy(&word, stack->bytes + 0xf8, 8);
	ck_assert_uint_eq(word, TEXT + 0xa6);
	regs.r[UREG_RIP] = TEXT + 0xa0;
	regs.r[UREG_RSP] = 0x8;
	ck_assert_int_eq(resume_from(tab, tp, &regs, &fault), -EFAULT);
	ck_assert_uint_eq(fault, 0);
	ck_assert_uint_eq(regs.r[UREG_RSP], 0x8);
}
END_TEST

START_TEST(where_branches_go)
{
	struct uregs regs = { 0 };

	uint64_t to, word = TEXT + 0x999;

	/* je +0x100 */
	text(TEXT, "\x0f\x84\x00\x01\x00\x00", 6);
	struct tracepoint *tp = get(TEXT);
	ck_assert(!resume_branch_goes(tab, tp, &regs, &to));
	regs.r[UREG_RFLAGS] = RFLAGS_ZF;
	ck_assert(resume_branch_goes(tab, tp, &regs, &to));
	ck_assert_uint_eq(to, TEXT + 0x106);
	/* jmp rax */
	text(TEXT + 0x20, "\xff\xe0", 2);
	regs.r[UREG_RAX] = TEXT - 1;
	ck_assert(resume_branch_goes(tab, get(TEXT + 0x20), &regs, &to));
	ck_assert_uint_eq(to, TEXT - 1);
	/* jmp [rax + rcx * 8 + 16]; memory that cannot be read */
	text(TEXT + 0x40, "\xff\x64\xc8\x10", 4);
	tp = get(TEXT + 0x40);
	memcpy(fake_target_at(&ft, TEXT + 0xa0), &word, 8);
	regs.r[UREG_RAX] = TEXT + 0x80;
	regs.r[UREG_RCX] = 2;
	ck_assert(resume_branch_goes(tab, tp, &regs, &to));
	ck_assert_uint_eq(to, word);
	regs.r[UREG_RAX] = 0;
	ck_assert(!resume_branch_goes(tab, tp, &regs, &to));
	/* ret is no branch */
	text(TEXT + 0x30, "\xc3", 1);
	ck_assert(!resume_branch_goes(tab, get(TEXT + 0x30), &regs, &to));
}
END_TEST

START_TEST(slots_are_used_again)
{
	uint64_t first = 0;

	for (unsigned i = 0; i < 20000; i++) {
		struct tracepoint *tp = arm(TEXT + i % 64 * 8);
		if (i == 0)
			first = tp->slot;
		tracepoint_put(tab, tp);
	}
	commit();
	ck_assert_uint_ne(first, 0);
	ck_assert_uint_eq(ft.maps, 1);
}
END_TEST
/* What the emergency exit does then. */
static void
expect_own_text(const char *why)
{
	const uint8_t *at = fake_target_at(&ft, TEXT);

	tracepoint_restore_all(tab);
	for (size_t i = 0; i < TEXT_SIZE; i++)
		if (at[i] != 0x55)
			_exit(2);
	_exit(1);
}

START_TEST(memory_that_runs_out_at_any_time)
{
	int status = 1;

	for (unsigned long n = 1; status != 0; n++) {
		pid_t pid = fork();
		if (pid == 0) {
			base_panic_hook(expect_own_text);
			fault_set(FAULT_ALLOC, n);
			for (uint64_t i = 0; i < 200; i++) {
				get(TEXT + i * 0x140);
				if (i % 60 == 0)
					commit();
			}
			_exit(commit() == 0 ? 0 : 3);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(status == 0 || status == 1 << 8,
		    "allocation %lu: status %x", n, (unsigned)status);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("tracepoint");
	TCase *t = tcase_create("tracepoint");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_tracepoint_lives_and_dies);
	tcase_add_test(t, references_are_counted);
	tcase_add_test(t, bad_places_are_named);
	tcase_add_test(t, many_are_written_at_once);
	tcase_add_test(t, pages_between_are_left_alone);
	tcase_add_test(t, what_is_prepared_needs_no_stop);
	tcase_add_test(t, what_was_prepared_in_vain);
	tcase_add_test(t, a_hundred_thousand_take_no_time_to_speak_of);
	tcase_add_test(t, a_thread_in_a_slot_keeps_it);
	tcase_add_test(t, other_bytes_are_left_alone);
	tcase_add_test(t, neighbours_do_not_see_each_other);
	tcase_add_test(t, readers_get_the_original);
	tcase_add_test(t, the_programs_own_int3);
	tcase_add_test(t, a_slot_that_cannot_be_had);
	tcase_add_test(t, a_process_that_may_not_map);
	tcase_add_test(t, memory_that_cannot_be_written);
	tcase_add_test(t, a_forked_child_has_its_own);
	tcase_add_test(t, bytes_that_wait_are_written_in_a_fork_too);
	tcase_add_test(t, unmapped_text_is_forgotten);
	tcase_add_test(t, slots_in_use_stay_mapped);
	tcase_add_test(t, plans_are_the_cheapest);
	tcase_add_test(t, slots_have_the_bytes_they_should);
	tcase_add_test(t, ways_out_of_slots);
	tcase_add_test(t, where_branches_go);
	tcase_add_test(t, slots_are_used_again);
	tcase_add_test(t, memory_that_runs_out_at_any_time);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
