/*
 * symbols/maps: the kernel's text, and text that is not the kernel's.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int read_error; /* of the next read */

static ssize_t
double_read(int fd, void *buf, size_t size)
{
	errno = read_error;
	if (read_error == 0)
		return read(fd, buf, size);
	if (read_error == EINTR)
		read_error = 0;
	return -1;
}

#define read(fd, buf, size) double_read(fd, buf, size)
#include "symbols/space/maps.c"

#define LINE(s) s "\n"

START_TEST(maps_reads_each_field)
{
	static const char text[] = LINE(
	    "00400000-00401000 r-xp 00002000 fe:01 247134     /bin/a b")
	    LINE(
		"7f0000000000-7f0000001000 rw-s 00000000 00:05 7 /dev/zero (deleted)")
		LINE("7f0000001000-7f0000002000 ---p 00000000 00:00 0 ") LINE(
		    "7f0000002000-7f0000003000 ---p 00000000 00:00 0")
		    LINE(
			"7f0000003000-7f0000004000 r--p 00000000 00:00 0    [vvar]")
			LINE(
			    "7f0000004000-7f0000005000 r--p 00000000 08:02 9    /a\\012b\\101") "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]";
	struct maps m;

	ck_assert_int_eq(maps_parse(text, strlen(text), &m), 0);
	ck_assert_uint_eq(m.list.len, 7);

	const struct map *e = &m.list.at[0];
	ck_assert_uint_eq(e->start, 0x400000);
	ck_assert_uint_eq(e->end, 0x401000);
	ck_assert(e->read && !e->write && e->exec && !e->shared);
	ck_assert_uint_eq(e->offset, 0x2000);
	ck_assert_uint_eq(e->dev, makedev(0xfe, 1));
	ck_assert_uint_eq(e->inode, 247134);
	ck_assert_str_eq(e->path, "/bin/a b");
	ck_assert(!e->deleted);

	e = &m.list.at[1];
	ck_assert(e->read && e->write && !e->exec && e->shared && e->deleted);
	ck_assert_str_eq(e->path, "/dev/zero");
	ck_assert_str_eq(m.list.at[2].path, "");
	ck_assert_str_eq(m.list.at[3].path, "");
	ck_assert_str_eq(m.list.at[4].path, "[vvar]");
	/* Only newlines are escaped: the second backslash is the name's. */
	ck_assert_str_eq(m.list.at[5].path, "/a\nb\\101");
	ck_assert_str_eq(m.list.at[6].path, "[vsyscall]");

	ck_assert_ptr_eq(maps_at(&m, 0x400000), &m.list.at[0]);
	ck_assert_ptr_eq(maps_at(&m, 0x400fff), &m.list.at[0]);
	ck_assert_ptr_null(maps_at(&m, 0x401000));
	ck_assert_ptr_null(maps_at(&m, 0x3fffff));
	ck_assert_ptr_eq(maps_at(&m, 0x7f0000001000), &m.list.at[2]);
	ck_assert_ptr_null(maps_at(&m, UINT64_MAX));
	maps_fini(&m);
}
END_TEST

START_TEST(maps_skips_what_makes_no_sense)
{
	static const char *const bad[] = {
		"",
		"\n\n\n",
		"1000-2000",
		"1000-2000r-xp 00000000 00:00 0 /no-blank",
		"1000-2000 r-xp00000000 00:00 0 /no-blank",
		"1000-1000 r-xp 00000000 00:00 0 /empty",
		"2000-1000 r-xp 00000000 00:00 0 /backwards",
		"1000-2000 rwxz 00000000 00:00 0 /flag",
		"1000-2000 r-xp 0000000g 00:00 0 /offset",
		"1000-2000 r-xp 00000000 00:00 0x /inode",
		"11111111111111111-2000 r-xp 0 00:00 0 /too-long",
		"1000-22222222222222222222 r-xp 0 00:00 0 /too-long",
		"1000-2000 r-xp 0 00:00 99999999999999999999 /too-long",
		"1000-2000 r-xp 0 ffffffffff:00 1 /device",
		"-2000 r-xp 0 00:00 1 /no-start",
	};
	struct maps m;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_eq(maps_parse(bad[i], strlen(bad[i]), &m), 0);
		ck_assert_msg(m.list.len == 0, "taken: %s", bad[i]);
		maps_fini(&m);
	}
	/* A bad line does not hide the next, nor one that overlaps. */
	static const char text[] = "rubbish\n"
				   "1000-3000 r--p 0 00:00 0 /one\n"
				   "2000-4000 r--p 0 00:00 0 /overlaps\n"
				   "3000-4000 r--p 0 00:00 0 /two\n";
	ck_assert_int_eq(maps_parse(text, strlen(text), &m), 0);
	ck_assert_uint_eq(m.list.len, 2);
	ck_assert_str_eq(m.list.at[1].path, "/two");
	maps_fini(&m);
}
END_TEST

START_TEST(maps_of_this_process_hold_what_it_uses)
{
	int on_stack = 0;
	struct maps m;
	const struct map *e;

	ck_assert_int_eq(maps_read(getpid(), &m), 0);
	e = maps_at(&m, (uint64_t)(uintptr_t)&on_stack);
	ck_assert_ptr_nonnull(e);
	ck_assert(e->read && e->write && !e->exec);
	ck_assert_str_eq(e->path, "[stack]");
	e = maps_at(&m, (uint64_t)(uintptr_t)maps_read);
	ck_assert_ptr_nonnull(e);
	ck_assert(e->exec && e->inode != 0);
	maps_fini(&m);
}
END_TEST

/* The process may end while its maps are read. */
START_TEST(maps_that_cannot_be_read_are_an_error)
{
	struct maps m;

	read_error = ESRCH;
	ck_assert_int_eq(maps_read(getpid(), &m), -ESRCH);
	ck_assert_uint_eq(m.list.len, 0);
	read_error = EINTR;
	ck_assert_int_eq(maps_read(getpid(), &m), 0);
	ck_assert_uint_gt(m.list.len, 0);
	maps_fini(&m);
}
END_TEST

START_TEST(maps_of_no_process_are_an_error)
{
	struct maps m;

	/* Above the highest pid that Linux gives out (2^22). */
	ck_assert_int_eq(maps_read(1 << 23, &m), -ESRCH);
	maps_fini(&m);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("symbols/maps");
	TCase *tc = tcase_create("maps");
	SRunner *r = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, maps_reads_each_field);
	tcase_add_test(tc, maps_skips_what_makes_no_sense);
	tcase_add_test(tc, maps_of_this_process_hold_what_it_uses);
	tcase_add_test(tc, maps_that_cannot_be_read_are_an_error);
	tcase_add_test(tc, maps_of_no_process_are_an_error);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
