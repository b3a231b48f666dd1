/*
 * inject: the list of what is to be put back (trapset.h), who is armed with it
 * and who is not, and the putting back (trapmend.h), on memory of our own.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dlang/base/base.h"
#include "inject/tracepoint.h"
#include "inject/trapmend.h"
#include "inject/trapset.h"
#include "t/fake/target.h"

#define TEXT      UINT64_C(0x7f0000000000)
#define TEXT_SIZE (64 * 1024)

static struct fake_target ft;
static struct tptable *tab;

static void
setup(void)
{
	fake_target_init(&ft);
	struct fake_region *r = fake_target_map(&ft, TEXT, TEXT_SIZE);
	memset(r->bytes, 0x55, TEXT_SIZE); /* push rbp, over and over */
	tab = tptable_create(&ft.target);
}

static void
teardown(void)
{
	tptable_destroy(tab);
	fake_target_fini(&ft);
}

static struct tracepoint *
get(uint64_t addr)
{
	struct tracepoint *tp;
	const char *why = "";

	ck_assert_msg(tracepoint_get(tab, addr, 7, &tp, &why) == 0, "%s", why);
	return tp;
}

static uint8_t
byte(uint64_t at)
{
	return *fake_target_at(&ft, at);
}

static const struct trap_area *
area(void)
{
	return (const void *)fake_target_at(
	    &ft, trapset_area(tptable_traps(tab)));
}

START_TEST(nothing_is_armed_without_the_list)
{
	struct tracepoint *tp = get(TEXT + 16);

	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 1);
	ck_assert_int_eq(tp->state, TP_IDLE);
	ck_assert_uint_eq(byte(TEXT + 16), 0x55);
	/* Nor is it when there is no room for more. */
	ck_assert_int_eq(trapset_map(tptable_traps(tab), TEXT), 0);
	ft.map_error = -ENOMEM;
	for (unsigned i = 0; i < 8192; i++)
		get(TEXT + i);
	unsigned failed = tracepoint_commit(tab, NULL, NULL), int3s = 0;
	for (unsigned i = 0; i < 8192; i++)
		int3s += byte(TEXT + i) == INT3;
	ck_assert_uint_gt(int3s, 0);
	ck_assert_uint_eq(failed, 8192 - int3s);
	ck_assert_uint_ge(area()->count, int3s);
}
END_TEST

START_TEST(the_option_arms_all_the_same)
{
	struct tracepoint *tp = get(TEXT + 16);

	tracepoint_unlisted(tab);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	ck_assert_int_eq(tp->state, TP_TRAP);
}
END_TEST

START_TEST(suspended_tracepoints_come_back)
{
	struct tracepoint *a = get(TEXT + 16), *b, *gone = get(TEXT + 40);

	ck_assert_int_eq(trapset_map(tptable_traps(tab), TEXT), 0);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	tracepoint_suspend(tab, true);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	ck_assert_uint_eq(byte(TEXT + 16), 0x55);
	ck_assert(tracepoint_lookup(tab, TEXT + 16) == NULL);
	/* What comes and goes meanwhile. */
	b = get(TEXT + 32);
	tracepoint_put(tab, gone);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	ck_assert_uint_eq(byte(TEXT + 32), 0x55);
	tracepoint_suspend(tab, false);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	ck_assert_int_eq(a->state, TP_TRAP);
	ck_assert_int_eq(b->state, TP_TRAP);
	ck_assert_uint_eq(byte(TEXT + 16), INT3);
	ck_assert_uint_eq(byte(TEXT + 32), INT3);
	ck_assert_uint_eq(byte(TEXT + 40), 0x55);
}
END_TEST

START_TEST(an_area_that_is_overwritten_is_lost)
{
	struct trapset *ts = tptable_traps(tab);

	ck_assert(trapset_intact(ts)); /* there is none yet */
	ck_assert_int_eq(trapset_map(ts, TEXT), 0);
	get(TEXT + 16);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	ck_assert(trapset_intact(ts));
	memset(fake_target_at(&ft, trapset_area(ts)), 0, 8);
	ck_assert(!trapset_intact(ts));
	trapset_lost(ts);
	ck_assert_uint_eq(trapset_area(ts), 0);
	ck_assert_int_eq(trapset_map(ts, TEXT), 0);
	ck_assert_uint_eq(area()->magic, TRAP_MAGIC);
}
END_TEST

START_TEST(the_area_names_its_keeper)
{
	struct trapset *ts = tptable_traps(tab);

	ck_assert_int_eq(trapset_keeper(ts, 12, 34), 0);
	ck_assert_int_eq(trapset_map(ts, TEXT), 0);
	ck_assert_uint_eq(area()->keeper, 12);
	ck_assert_uint_eq(area()->keeper_since, 34);
	ck_assert_int_eq(trapset_keeper(ts, 56, 78), 0);
	ck_assert_uint_eq(area()->keeper, 56);
	ck_assert_uint_eq(area()->mended, 0);
	trapset_mended(ts);
	ck_assert_uint_eq(area()->mended, 1);
	trapset_alone(ts);
	ck_assert_uint_eq(area()->alone, 1);
}
END_TEST

/* ---- putting back, in memory of this process ---- */

#define PAGES 4
#define PAGE  4096

static struct {
	uint8_t *text;
	uint16_t *sems;
	struct {
		struct trap_area head;
		struct trap_entry e[600];
	} * list;
	int mem;
} own;

static void
own_setup(void)
{
	own.text = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	own.sems = calloc(8, sizeof(*own.sems));
	own.list = calloc(1, sizeof(*own.list));
	own.list->head.magic = TRAP_MAGIC;
	own.list->head.first = offsetof(typeof(*own.list), e);
	own.mem = open("/proc/self/mem", O_RDWR);
	ck_assert_int_ge(own.mem, 0);
}

static void
own_teardown(void)
{
	close(own.mem);
	munmap(own.text, PAGES * PAGE);
	free(own.sems);
	free(own.list);
}

static void
list(enum trap_kind kind, const void *addr, uint8_t saved)
{
	own.list->e[own.list->head.count++] = (struct trap_entry){
		.kind = (uint8_t)kind,
		.addr = (uintptr_t)addr,
		.saved = saved,
	};
}

#define LIST ((uintptr_t)own.list)

START_TEST(all_bytes_are_put_back)
{
	/* More than a batch, in pages that take turns now and then. */
	for (unsigned i = 0; i < 500; i++) {
		uint8_t *at = own.text + i * 31 % (PAGES * PAGE);
		*at = INT3;
		list(TRAP_TEXT, at, (uint8_t)(i | 1) & 0x7f);
	}
	own.text[7] = 0x42; /* not ours any more */
	list(TRAP_TEXT, own.text + 7, 1);
	own.text[8] = INT3; /* nobody's */
	ck_assert_uint_eq(trapmend_text(own.mem, LIST), 0);
	for (unsigned i = 0; i < 500; i++)
		ck_assert_uint_eq(
		    own.text[i * 31 % (PAGES * PAGE)], (uint8_t)(i | 1) & 0x7f);
	ck_assert_uint_eq(own.text[7], 0x42);
	ck_assert_uint_eq(own.text[8], INT3);
	trapmend_done(own.mem, LIST);
	ck_assert_uint_eq(own.list->head.mended, 1);
}
END_TEST

START_TEST(memory_that_is_gone_is_no_matter)
{
	own.text[0] = own.text[3 * PAGE] = INT3;
	list(TRAP_TEXT, own.text, 1);
	list(TRAP_TEXT, own.text + PAGE, 1);
	list(TRAP_TEXT, own.text + 3 * PAGE, 2);
	munmap(own.text + PAGE, PAGE);
	ck_assert_uint_eq(trapmend_text(own.mem, LIST), 0);
	ck_assert_uint_eq(own.text[0], 1);
	ck_assert_uint_eq(own.text[3 * PAGE], 2);
}
END_TEST

START_TEST(semaphores_are_lowered_once)
{
	own.sems[0] = 1;                 /* ours alone */
	own.sems[1] = 3;                 /* and somebody else's */
	for (unsigned i = 0; i < 3; i++) /* 2: somebody has reset it */
		list(TRAP_SEMAPHORE, &own.sems[i], 0);
	trapmend_semaphores(own.mem, LIST);
	trapmend_semaphores(own.mem, LIST);
	ck_assert_uint_eq(own.sems[0], 0);
	ck_assert_uint_eq(own.sems[1], 2);
	ck_assert_uint_eq(own.sems[2], 0);
}
END_TEST

START_TEST(damaged_lists_end)
{
	list(TRAP_TEXT, own.text, 1);
	own.text[0] = INT3;
	own.list->head.next = LIST; /* for ever */
	own.list->head.count = 0xffffffff;
	trapmend_text(own.mem, LIST);
	own.list->head.count = 1;
	trapmend_text(own.mem, LIST);
	ck_assert_uint_eq(own.text[0], 1);
	own.list->head.magic = 0;
	own.text[0] = INT3;
	trapmend_text(own.mem, LIST);
	ck_assert_uint_eq(own.text[0], INT3);
	trapmend_text(own.mem, 0);
	trapmend_text(own.mem, 8);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("trapset");
	TCase *t = tcase_create("list"), *m = tcase_create("mend");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nothing_is_armed_without_the_list);
	tcase_add_test(t, the_option_arms_all_the_same);
	tcase_add_test(t, suspended_tracepoints_come_back);
	tcase_add_test(t, an_area_that_is_overwritten_is_lost);
	tcase_add_test(t, the_area_names_its_keeper);
	tcase_add_checked_fixture(m, own_setup, own_teardown);
	tcase_add_test(m, all_bytes_are_put_back);
	tcase_add_test(m, memory_that_is_gone_is_no_matter);
	tcase_add_test(m, semaphores_are_lowered_once);
	tcase_add_test(m, damaged_lists_end);
	suite_add_tcase(s, t);
	suite_add_tcase(s, m);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
