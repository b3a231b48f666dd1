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
	tcase_add_test(tc, symbolise_without_a_space_gives_the_address);
	fixture_setup();
	srunner_run_all(r, CK_NORMAL);
	fixture_teardown();
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
