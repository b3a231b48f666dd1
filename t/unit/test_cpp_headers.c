/*
 * tracer/program/cpp_headers.c: what is left of a system header.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/program/cpp_headers.h"

#define SYS  "# 1 \"/usr/include/x.h\" 1 3 4\n"
#define BACK "# 2 \"<stdin>\" 2\n"

/* clang-format off */
static const struct row {
	const char *from, *to;
} rows[] = {
	/* Functions go, their lines stay. */
	{ SYS "typedef int a;\nstatic int\nf (a x)\n{\n  return x;\n}\nint b;\n",
	  SYS "typedef int a;\n          \n       \n \n           \n \nint b;\n" },
	/* Structs, enums and initialisers have braces, too. */
	{ SYS "struct s { int x; struct { int y; } z; };\nenum e { A };\n",
	  SYS "struct s { int x; struct { int y; } z; };\nenum e { A };\n" },
	/* What was open when the file was left and entered is closed. */
	{ SYS "int g(void) {\n# 5 \"/usr/include/x.h\" 3 4\n};\nint h;\n",
	  SYS "             \n# 5 \"/usr/include/x.h\" 3 4\n ;\nint h;\n" },
	/* The compiler's words, alone and with arguments. */
	{ SYS "__extension__ typedef int a __attribute__ ((x (\")\")));\n",
	  SYS "              typedef int a                          ;\n" },
	{ SYS "int f(char *__restrict p) __asm__ (\"\" \"g\");\n",
	  SYS "int f(char *           p)                 ;\n" },
	{ SYS "int my__inline, __inlined;\n", SYS "int my__inline, __inlined;\n" },
	/* The program itself is not touched. */
	{ "BEGIN { f(1); }\nstatic int f(int x) { }\n__inline\n",
	  "BEGIN { f(1); }\nstatic int f(int x) { }\n__inline\n" },
	{ SYS "int f() { }\n" BACK "BEGIN /(1)/ { x(); }\nf() {}\n",
	  SYS "           \n" BACK "BEGIN /(1)/ { x(); }\nf() {}\n" },
	/* Text that ends too early. */
	{ SYS "int f() {", SYS "int f() {" },
	{ SYS "__attribute__ ((", SYS "__attribute__ ((" },
	{ SYS "\"abc", SYS "\"abc" },
	{ SYS "'\\", SYS "'\\" },
	{ "", "" },
	{ "#", "#" },
};
/* clang-format on */

START_TEST(headers_are_reduced)
{
	char *text = strdup(rows[_i].from);

	cpp_headers_reduce(text);
	ck_assert_str_eq(text, rows[_i].to);
	free(text);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("cpp_headers");
	TCase *tc = tcase_create("cpp_headers");
	SRunner *sr = srunner_create(s);

	tcase_add_loop_test(
	    tc, headers_are_reduced, 0, (int)(sizeof(rows) / sizeof(*rows)));
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
