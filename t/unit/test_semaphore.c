/*
 * tracer/survive/semaphore: counters of static probes are raised once, known in
 * the target before that, and lowered when we leave.  The target is one of byte
 * arrays.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inject/tracepoint.h"
#include "inject/trap/area.h"
#include "inject/trapset.h"
#include "t/fake/target.h"
#include "tracer/ptrace/proc.h"
#include "tracer/survive/semaphore.h"

#define TEXT UINT64_C(0x7f0000000000)
#define DATA UINT64_C(0x10000000) /* an offset of a file, too */

static struct fake_target ft;
static struct space space, child;
static int write_error;

static int
read_target(struct target *t, uint64_t addr, void *buf, size_t len)
{
	return ft.target.ops->read(&ft.target, addr, buf, len);
}

static int
write_target(struct target *t, uint64_t addr, const void *buf, size_t len)
{
	return write_error != 0 ?
	    write_error :
	    ft.target.ops->write(&ft.target, addr, buf, len);
}

static const struct target_ops ops = {
	.read = read_target,
	.write = write_target,
};

static void
setup(void)
{
	fake_target_init(&ft);
	fake_target_map(&ft, TEXT, 4096);
	fake_target_map(&ft, DATA, 4096);
	memset(&space, 0, sizeof(space));
	memset(&child, 0, sizeof(child));
	space.target.ops = &ops;
	space.tab = tptable_create(&ft.target);
	write_error = 0;
}

static void
teardown(void)
{
	semaphores_drop(&space);
	semaphores_drop(&child);
	tptable_destroy(space.tab);
	fake_target_fini(&ft);
}

static uint16_t
count_at(uint64_t addr)
{
	uint16_t count;

	memcpy(&count, fake_target_at(&ft, addr), sizeof(count));
	return count;
}

static void
count_set(uint64_t addr, uint16_t count)
{
	memcpy(fake_target_at(&ft, addr), &count, sizeof(count));
}

static void
have_list(void)
{
	ck_assert_int_eq(trapset_map(tptable_traps(space.tab), TEXT), 0);
}

/* How many semaphores the list in the target has at that address. */
static unsigned
listed(uint64_t addr)
{
	const uint8_t *at =
	    fake_target_at(&ft, trapset_area(tptable_traps(space.tab)));
	const struct trap_area *a = (const void *)at;
	const struct trap_entry *e = (const void *)(at + a->first);
	unsigned n = 0;

	for (uint32_t i = 0; i < a->count; i++)
		n += e[i].kind == TRAP_SEMAPHORE && e[i].addr == addr;
	return n;
}

START_TEST(it_is_counted_and_raised_once)
{
	have_list();
	count_set(DATA, 7); /* by another tracer */
	semaphore_raise(&space, DATA);
	semaphore_raise(&space, DATA + 2);
	semaphore_raise(&space, DATA);
	ck_assert_uint_eq(count_at(DATA), 7);
	semaphores_commit(&space, false);
	semaphores_commit(&space, false);
	ck_assert_uint_eq(count_at(DATA), 8);
	ck_assert_uint_eq(count_at(DATA + 2), 1);
	ck_assert_uint_eq(listed(DATA), 1);
	ck_assert_uint_eq(listed(DATA + 2), 1);
	semaphores_lower(&space);
	ck_assert_uint_eq(count_at(DATA), 7);
	ck_assert_uint_eq(count_at(DATA + 2), 0);
	/* Not twice. */
	semaphores_lower(&space);
	ck_assert_uint_eq(count_at(DATA), 7);
	/* And up again. */
	semaphores_commit(&space, false);
	ck_assert_uint_eq(count_at(DATA), 8);
}
END_TEST

/* One that cannot be raised is not in the list: whoever restores the code after
 * us would lower it. */
START_TEST(one_that_is_not_raised_is_not_listed)
{
	have_list();
	semaphore_raise(&space, DATA);
	write_error = -EFAULT;
	semaphores_commit(&space, false);
	ck_assert_uint_eq(listed(DATA), 0);
	write_error = 0;
	semaphores_commit(&space, false);
	ck_assert_uint_eq(listed(DATA), 1);
	/* What was raised is not asked for again. */
	unsigned changes = space.changes;
	semaphores_commit(&space, false);
	ck_assert_uint_eq(space.changes, changes);
	semaphores_lower(&space);
	ck_assert_uint_eq(listed(DATA), 0);
	ck_assert_uint_gt(space.changes, changes);
}
END_TEST

START_TEST(what_is_not_listed_is_not_raised)
{
	semaphore_raise(&space, DATA);
	semaphores_commit(&space, false);
	ck_assert_uint_eq(count_at(DATA), 0);
	semaphores_lower(&space);
	ck_assert_uint_eq(count_at(DATA), 0);
	/* Unless that was asked for. */
	semaphores_commit(&space, true);
	ck_assert_uint_eq(count_at(DATA), 1);
	semaphores_lower(&space);
	ck_assert_uint_eq(count_at(DATA), 0);
}
END_TEST

/* What the program has set to 0 stays that. */
START_TEST(one_that_was_reset_is_not_lowered)
{
	have_list();
	semaphore_raise(&space, DATA);
	semaphores_commit(&space, false);
	count_set(DATA, 0);
	semaphores_lower(&space);
	ck_assert_uint_eq(count_at(DATA), 0);
}
END_TEST

START_TEST(memory_that_cannot_be_written)
{
	have_list();
	semaphore_raise(&space, DATA);
	semaphore_raise(&space, DATA + 0x100000); /* not mapped */
	write_error = -EFAULT;
	semaphores_commit(&space, false);
	write_error = 0;
	semaphores_lower(&space);
	ck_assert_uint_eq(count_at(DATA), 0);
	/* The next commit tries again. */
	semaphores_commit(&space, false);
	ck_assert_uint_eq(count_at(DATA), 1);
}
END_TEST

START_TEST(those_of_memory_that_is_gone_are_forgotten)
{
	have_list();
	for (unsigned i = 0; i < 4; i++)
		semaphore_raise(&space, DATA + 16 * i);
	semaphores_commit(&space, false);
	semaphores_forget(&space, DATA + 16, DATA + 48);
	semaphores_lower(&space);
	ck_assert_uint_eq(count_at(DATA), 0);
	ck_assert_uint_eq(count_at(DATA + 16), 1);
	ck_assert_uint_eq(count_at(DATA + 32), 1);
	ck_assert_uint_eq(count_at(DATA + 48), 0);
}
END_TEST

START_TEST(a_childs_copy_is_lowered_too)
{
	FILE *f = tmpfile();
	uint16_t before[3] = { 1, 0, 5 }, after[3];

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(
	    pwrite(fileno(f), before, sizeof(before), DATA), sizeof(before));
	have_list();
	for (unsigned i = 0; i < 3; i++)
		semaphore_raise(&space, DATA + 2 * i);
	semaphores_commit(&space, false);
	semaphores_lower_copy(&space, fileno(f));
	ck_assert_int_eq(
	    pread(fileno(f), after, sizeof(after), DATA), sizeof(after));
	fclose(f);
	ck_assert_uint_eq(after[0], 0);
	ck_assert_uint_eq(after[1], 0);
	ck_assert_uint_eq(after[2], 4);
	/* Ours are as they were. */
	ck_assert_uint_eq(count_at(DATA), 1);

	/* A child that is kept knows what is raised. */
	semaphores_fork(&space, &child);
	child.target.ops = &ops;
	child.tab = space.tab;
	semaphores_lower(&child);
	ck_assert_uint_eq(count_at(DATA), 0);
	ck_assert_uint_eq(count_at(DATA + 2), 0);
}
END_TEST

START_TEST(without_any_nothing_happens)
{
	semaphores_commit(&space, true);
	semaphores_lower(&space);
	semaphores_forget(&space, 0, UINT64_MAX);
	semaphores_fork(&space, &child);
	semaphores_lower_copy(&space, -1);
	ck_assert_ptr_null(child.sems);
	ck_assert_uint_eq(ft.reads + ft.writes, 0);
	/* They are there again after all were dropped. */
	have_list();
	semaphore_raise(&space, DATA);
	semaphores_drop(&space);
	ck_assert_ptr_null(space.sems);
	semaphores_drop(&space);
	semaphore_raise(&space, DATA);
	semaphores_commit(&space, false);
	ck_assert_uint_eq(count_at(DATA), 1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("semaphore");
	TCase *t = tcase_create("semaphore");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, it_is_counted_and_raised_once);
	tcase_add_test(t, one_that_is_not_raised_is_not_listed);
	tcase_add_test(t, what_is_not_listed_is_not_raised);
	tcase_add_test(t, one_that_was_reset_is_not_lowered);
	tcase_add_test(t, memory_that_cannot_be_written);
	tcase_add_test(t, those_of_memory_that_is_gone_are_forgotten);
	tcase_add_test(t, a_childs_copy_is_lowered_too);
	tcase_add_test(t, without_any_nothing_happens);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
