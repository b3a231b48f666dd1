/*
 * symbols/: what is known of programs that were stripped, compared with what
 * they were before.
 */
#include <check.h>
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/object.h"
#include "t/fake/fixture.h"

static const char program[] =
    "#include <signal.h>\n"
    "#include <stdio.h>\n"
    "int counter;\n"
    "static int __attribute__((noinline)) hidden(int x) { return x * 7; }\n"
    "int __attribute__((noinline)) visible(int x) { return hidden(x) + 1; }\n"
    "__asm__(\".text\\n.globl sizeless\\n.type sizeless,@function\\n\"\n"
    "	\"sizeless: nop\\nret\\n.skip 30, 0xcc\\n\");\n"
    "void sizeless(void);\n"
    "int main(int argc, char **argv) { sizeless(); puts(argv[0]);\n"
    "	return visible(argc + counter) == 1; }\n";

static struct object *
open_object(const char *path)
{
	struct object *o;
	const char *why = "";
	int err = object_open(path, path, &o, &why);

	ck_assert_msg(err == 0, "%s: %d %s", path, err, why);
	return o;
}

/* Every function of `whole' that has an unwind entry is in `bare', where it is
 * called by its address. */
static size_t
compare_unnamed(struct object *whole, struct object *bare)
{
	const struct sym *syms, *s;
	size_t n = object_funcs(whole, &syms), seen = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t start, end;
		char name[32];

		if (object_fde_range(whole, syms[i].addr, &start, &end) != 0 ||
		    start != syms[i].addr || syms[i].size_guessed)
			continue;
		if (object_func_at(bare, start) != NULL) /* exported */
			continue;
		s = object_unnamed_at(bare, start);
		ck_assert_msg(s != NULL, "%s", syms[i].name);
		snprintf(name, sizeof(name), "sub_%" PRIx64, start);
		ck_assert_str_eq(s->name, name);
		ck_assert_uint_eq(s->addr, start);
		ck_assert_uint_eq(s->size, syms[i].size);
		ck_assert_ptr_eq(object_code_at(bare, end - 1), s);
		seen++;
	}
	return seen;
}

/* A copy that was stripped, its section headers taken away too if so wished. */
static const char *
bare_copy(const char *of, bool no_headers)
{
	const char *path = fixture_path("bare");
	Elf64_Ehdr h;

	fixture_sh("rm -f %s && strip -o %s %s", path, path, of);
	if (!no_headers)
		return path;
	FILE *f = fopen(path, "r+");
	ck_assert_uint_eq(fread(&h, sizeof(h), 1, f), 1);
	h.e_shoff = 0;
	h.e_shnum = h.e_shstrndx = 0;
	rewind(f);
	ck_assert_uint_eq(fwrite(&h, sizeof(h), 1, f), 1);
	fclose(f);
	return path;
}

START_TEST(stripped_functions_are_called_by_their_addresses)
{
	static const char *const ways[] = { "-O2", "-O2 -no-pie",
		"-O2 -Wl,-z,lazy", "-O2 -fcf-protection -Wl,-z,ibtplt",
		"-O2 -static", "-O2 -fno-plt", "-O0" };

	for (size_t i = 0; i < 2 * ARRAY_SIZE(ways); i++) {
		const char *path = fixture_cc("whole", program, ways[i / 2]);
		bool no_headers = i % 2 == 1;
		bool is_static = strstr(ways[i / 2], "-static") != NULL;
		struct object *whole = open_object(path), *bare;
		const struct sym *syms;

		/* Only a section leads to the entries of a static program. */
		if (is_static && no_headers) {
			object_put(whole);
			continue;
		}
		bare = open_object(bare_copy(path, no_headers));
		size_t expected = compare_unnamed(whole, bare);
		size_t n = object_unnamed(bare, &syms);
		ck_assert_uint_ge(expected, 4);
		/* But for what the linker has made, and what the C library's
		 * assembly has no entries of. */
		if (!is_static) {
			ck_assert_msg(n == expected, "%s: %zu, expected %zu",
			    ways[i / 2], n, expected);
			ck_assert(!object_has_symtab(bare));
		}
		ck_assert(object_has_symtab(whole));
		object_put(whole);
		object_put(bare);
	}
}
END_TEST

/* What has a name is never called by its address as well. */
START_TEST(stripped_or_not_no_function_has_two_names)
{
	static const char *const ways[] = { "-O2", "-O2 -static",
		"-O2 -shared -fPIC", "-O2 -shared -fPIC -s" };

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct object *o =
		    open_object(fixture_cc("named", program, ways[i]));
		const struct sym *named, *others;
		size_t n = object_funcs(o, &named);
		size_t m = object_unnamed(o, &others);

		for (size_t k = 0; k < m; k++) {
			const struct sym *s = &others[k];

			ck_assert_ptr_null(object_func_at(o, s->addr));
			for (size_t j = 0; j < n; j++)
				ck_assert(named[j].addr < s->addr ||
				    named[j].addr >= s->addr + s->size);
		}
		if (i == 0)
			ck_assert_uint_eq(m, 0);
		object_put(o);
		unlink(fixture_path("named"));
	}
}
END_TEST

/* A symbol without a size, of code without an unwind entry, ends where the next
 * entry begins: what follows has no symbol any more. */
START_TEST(stripped_library_keeps_no_function_in_another)
{
	struct object *o =
	    open_object(fixture_cc("libbare.so", program, "-O2 -shared -fPIC"));
	uint64_t hidden = object_sym(o, "hidden")->addr;
	const struct sym *s;

	object_put(o);
	o = open_object(bare_copy(fixture_path("libbare.so"), false));
	s = object_sym(o, "sizeless");
	ck_assert_ptr_nonnull(s);
	ck_assert(s->size_guessed);
	ck_assert_ptr_null(object_sym(o, "hidden"));
	ck_assert_ptr_null(object_func_at(o, hidden));
	s = object_unnamed_at(o, hidden);
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(s->addr, hidden);
	ck_assert(!object_has_symtab(o));
	object_put(o);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("stripped");
	TCase *t = tcase_create("all");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, 300);
	tcase_add_test(t, stripped_functions_are_called_by_their_addresses);
	tcase_add_test(t, stripped_or_not_no_function_has_two_names);
	tcase_add_test(t, stripped_library_keeps_no_function_in_another);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	fixture_setup();
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	fixture_teardown();
	return failed != 0;
}
