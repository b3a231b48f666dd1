/*
 * symbols/symbolise: text for addresses of a live program, and of one that
 * has gone.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/symbolise.h"
#include "t/fake/fixture.h"

static const char program[] =
    "#include <stdio.h>\n"
    "namespace deep { struct thing { static int __attribute__((noinline))\n"
    "	run(int x) { return x * 3; } }; }\n"
    "extern \"C\" int __attribute__((noinline)) plain(int x) {\n"
    "	return deep::thing::run(x) + 2; }\n"
    "int main(int argc, char **argv) {\n"
    "	printf(\"%p %p\\n\", (void *)plain, (void *)deep::thing::run);\n"
    "	fflush(stdout); getchar(); return plain(argc); }\n";

static void
check_all(struct addrspace *as, uint64_t plain, uint64_t run)
{
	const struct load *exec = addrspace_exec(as);
	char buf[128], want[128], tiny[8];

	ck_assert_str_eq(
	    symbolise(as, plain, SYM_PLAIN, buf, sizeof(buf)), "named`plain");
	ck_assert_str_eq(symbolise(as, plain + 2, SYM_PLAIN, buf, sizeof(buf)),
	    "named`plain+0x2");
	ck_assert_str_eq(
	    symbolise(as, plain + 2, SYM_NO_OFFSET, buf, sizeof(buf)),
	    "named`plain");
	ck_assert_str_eq(
	    symbolise(as, plain + 2, SYM_MODULE, buf, sizeof(buf)), "named");
	ck_assert_str_eq(symbolise(as, run, SYM_PLAIN, buf, sizeof(buf)),
	    "named`_ZN4deep5thing3runEi");
	ck_assert_str_eq(symbolise(as, run + 1, SYM_DEMANGLE, buf, sizeof(buf)),
	    "named`deep::thing::run(int)+0x1");
	ck_assert_str_eq(
	    symbolise(as, 0x10, SYM_PLAIN, buf, sizeof(buf)), "0x10");
	ck_assert_str_eq(
	    symbolise(as, 0x10, SYM_MODULE, buf, sizeof(buf)), "0x10");
	/* The ELF header is in the object, but in no function. */
	snprintf(want, sizeof(want), "named`0x%lx", (unsigned long)exec->start);
	ck_assert_str_eq(
	    symbolise(as, exec->start, SYM_PLAIN, buf, sizeof(buf)), want);
	ck_assert_str_eq(
	    symbolise(as, plain, SYM_PLAIN, tiny, sizeof(tiny)), "named`p");

	ck_assert_uint_eq(
	    symbolise_start(addrspace_stamp(as), plain + 2), plain);
	ck_assert_uint_eq(symbolise_start(addrspace_stamp(as), 0x10), 0x10);
	ck_assert_uint_eq(
	    symbolise_module(addrspace_stamp(as), plain), exec->start);
	ck_assert_uint_eq(symbolise_module(addrspace_stamp(as), 0x10), 0x10);
}

static const char variables[] =
    "#include <stdio.h>\n"
    "int words[4] = { 1 }; static char zeros[1 << 20];\n"
    "namespace deep { long one; }\n"
    "int main() { printf(\"%p %p %p\\n\", (void *)words, (void *)zeros,\n"
    "	(void *)&deep::one); fflush(stdout); getchar(); return 0; }\n";

static void
check_variables(uint32_t stamp, const unsigned long *at)
{
	char buf[128], want[128];

	ck_assert_str_eq(
	    symbolise_data(stamp, at[0], buf, sizeof(buf)), "vars`words");
	ck_assert_str_eq(symbolise_data(stamp, at[0] + 15, buf, sizeof(buf)),
	    "vars`words+0xf");
	/* Far into what the file has no bytes of. */
	ck_assert_str_eq(
	    symbolise_data(stamp, at[1] + 0x80000, buf, sizeof(buf)),
	    "vars`zeros+0x80000");
	ck_assert_str_eq(
	    symbolise_data(stamp, at[2], buf, sizeof(buf)), "vars`deep::one");
	ck_assert_str_eq(symbolise_data(stamp, 0x10, buf, sizeof(buf)), "");
	/* In the object, but in no variable. */
	const struct addrspace *as = addrspace_by_id(stamp);
	uint64_t start = addrspace_exec(as)->start;
	snprintf(want, sizeof(want), "vars`0x%lx", (unsigned long)start);
	ck_assert_str_eq(symbolise_data(stamp, start, buf, sizeof(buf)), want);
	/* The same where a function could be meant. */
	ck_assert_str_eq(
	    symbolise_then(stamp, at[0] + 4, SYM_PLAIN, buf, sizeof(buf)),
	    "vars`words+0x4");
	ck_assert_str_eq(symbolise_then(stamp, at[1] + 0x80000,
			     SYM_NO_OFFSET | SYM_DEMANGLE, buf, sizeof(buf)),
	    "vars`zeros");
	ck_assert_uint_eq(symbolise_start(stamp, at[1] + 0x80000), at[1]);
	ck_assert_uint_eq(symbolise_module(stamp, at[1] + 0x80000), start);
}

START_TEST(symbolise_names_variables)
{
	const char *path =
	    fixture_compile("g++", ".cc", "vars", variables, "-O1");
	struct child c;
	unsigned long at[3];
	char line[128];

	child_start(&c, path, NULL);
	child_line(&c, line, sizeof(line));
	ck_assert_int_eq(
	    sscanf(line, "%lx %lx %lx", &at[0], &at[1], &at[2]), 3);
	struct addrspace *as = addrspace_create(c.pid, &c.mem);
	addrspace_refresh(as, NULL, NULL);
	check_variables(addrspace_stamp(as), at);
	child_end(&c);
	addrspace_detach(as);
	check_variables(addrspace_stamp(as), at);
	addrspace_put(as);
}
END_TEST

START_TEST(symbolise_names_addresses)
{
	const char *path =
	    fixture_compile("g++", ".cc", "named", program, "-O1");
	struct child c;
	struct addrspace *as;
	char line[128];
	unsigned long plain, run;

	child_start(&c, path, NULL);
	child_line(&c, line, sizeof(line));
	ck_assert_int_eq(sscanf(line, "%lx %lx", &plain, &run), 2);
	as = addrspace_create(c.pid, &c.mem);
	addrspace_refresh(as, NULL, NULL);
	check_all(as, plain, run);
	child_end(&c);
	addrspace_detach(as);
	check_all(as, plain, run);
	addrspace_put(as);
}
END_TEST

START_TEST(symbolise_without_a_space_gives_the_address)
{
	char buf[32];

	ck_assert_str_eq(
	    symbolise(NULL, 0xdeadbeef, SYM_PLAIN, buf, sizeof(buf)),
	    "0xdeadbeef");
	ck_assert_uint_eq(symbolise_start(0, 7), 7);
	ck_assert_uint_eq(symbolise_module(0, 7), 7);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("symbols/symbolise");
	TCase *tc = tcase_create("symbolise");
	SRunner *r = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, symbolise_names_addresses);
	tcase_add_test(tc, symbolise_names_variables);
	tcase_add_test(tc, symbolise_without_a_space_gives_the_address);
	fixture_setup();
	srunner_run_all(r, CK_NORMAL);
	fixture_teardown();
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
