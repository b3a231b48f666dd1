/*
 * symbols/lang/perfmap: names of code made at run time, by the file that a process
 * writes for perf.  The process is this one, and the code is nowhere.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/lang/lang_impl.h"
#include "symbols/langname.h"

#define CODE UINT64_C(0x123456780000)

static char path[64];
static void *self;
static struct lang_walk walk;
static struct lang_thread thread;

static int
no_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	return -EFAULT;
}

static const struct reader memory = { no_memory, NULL };

static void
setup(void)
{
	const struct load load = { .is_exec = true };

	memset(&walk, 0, sizeof(walk));
	walk.mem = &memory;
	walk.th = &thread;
	walk.as = addrspace_create(getpid(), &memory);
	thread.pid = thread.inner_pid = getpid();
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
	self = lang_perfmap.attach(&walk, &load);
	ck_assert_ptr_nonnull(self);
}

static void
teardown(void)
{
	lang_perfmap.detach(self);
	unlink(path);
	addrspace_put(walk.as);
	vec_fini(&walk.pushed);
	langname_reset();
}

static void
map_is(const char *mode, const char *text)
{
	FILE *f = fopen(path, mode);

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

/* The name of the frame at CODE + offset, or "" if it stays as it is. */
static const char *
name_at(uint64_t offset, bool exact)
{
	struct frame f = { .exact = exact };
	static char text[256];

	frame_set(&f, CFI_RIP, CODE + offset);
	vec_clear(&walk.pushed);
	lang_perfmap.begin(self, &walk);
	text[0] = '\0';
	if (!lang_perfmap.frames(self, &walk, &f, NULL)) {
		ck_assert_uint_eq(walk.pushed.len, 0);
		return text;
	}
	ck_assert_uint_eq(walk.pushed.len, 1);
	const struct lang_name *n = langname_of(walk.pushed.at[0]);
	ck_assert_ptr_nonnull(n);
	snprintf(text, sizeof(text), "%s", n->function);
	return text;
}

START_TEST(the_code_that_holds_a_pc_names_it)
{
	map_is("w",
	    "123456780100 40 second\n"
	    "123456780000 20 first\n"
	    "123456780800 10 third one, with blanks\n");
	ck_assert_str_eq(name_at(0, true), "first");
	ck_assert_str_eq(name_at(0x1f, true), "first");
	ck_assert_str_eq(name_at(0x20, true), "");
	ck_assert_str_eq(name_at(0x100, true), "second");
	ck_assert_str_eq(name_at(0x13f, true), "second");
	ck_assert_str_eq(name_at(0x140, true), "");
	ck_assert_str_eq(name_at(0x805, true), "third one, with blanks");
	ck_assert_str_eq(name_at(0x900, true), "");
	/* Behind a call is the caller's still. */
	ck_assert_str_eq(name_at(0x20, false), "first");
	ck_assert_str_eq(name_at(0x100, false), "");
}
END_TEST

START_TEST(the_later_line_is_right)
{
	map_is("w", "123456780000 200 old\n123456780080 20 inner\n");
	ck_assert_str_eq(name_at(0x90, true), "inner");
	ck_assert_str_eq(name_at(0x10, true), "old");
	map_is("a", "123456780000 100 new\n");
	ck_assert_str_eq(name_at(0x90, true), "new");
	ck_assert_str_eq(name_at(0x150, true), "old");
	/* A file that was written anew. */
	unlink(path);
	map_is("w", "123456780000 10 other\n");
	ck_assert_str_eq(name_at(0x8, true), "other");
	ck_assert_str_eq(name_at(0x90, true), "");
}
END_TEST

START_TEST(only_a_plain_file_is_read)
{
	ck_assert_str_eq(name_at(0, true), "");
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_str_eq(name_at(0, true), "");
	unlink(path);
	ck_assert_int_eq(symlink("/proc/self/maps", path), 0);
	ck_assert_str_eq(name_at(0, true), "");
	unlink(path);
	/* Lines that make no sense are passed over. */
	map_is("w", "nonsense\n\n123456780000\n123456780000 20 first\n zz\n");
	ck_assert_str_eq(name_at(0, true), "first");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("perfmap");
	TCase *t = tcase_create("perfmap");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_code_that_holds_a_pc_names_it);
	tcase_add_test(t, the_later_line_is_right);
	tcase_add_test(t, only_a_plain_file_is_read);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
