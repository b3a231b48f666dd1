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

/* The static functions' symbols, as distributions pack them into what they
 * strip. */
static void
add_debugdata(const char *whole, const char *xz)
{
	fixture_sh("cd $DIR && nm -D --defined-only -f posix %s | cut -d' ' "
		   "-f1 | sort >exported && nm --defined-only -f posix %s | "
		   "awk '$2 ~ /[TtD]/ { print $1 }' | sort >all && "
		   "comm -13 exported all >keep && "
		   "objcopy --only-keep-debug %s mini.debug && "
		   "objcopy -S --remove-section .comment "
		   "--keep-symbols=keep mini.debug mini && "
		   "rm -f mini.xz bare && xz %s mini && "
		   "strip -o bare %s && "
		   "objcopy --add-section .gnu_debugdata=mini.xz bare",
	    whole, whole, whole, xz, whole);
}

START_TEST(stripped_static_functions_are_in_the_packed_symbols)
{
	static const char *const ways[] = { "-O2", "-O2 -no-pie",
		"-O2 -rdynamic", "-O2 -shared -fPIC" };
	static const char *const packers[] = { "", "-9e", "--check=none",
		"--check=sha256" };

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const char *path = fixture_cc("whole", program, ways[i]);
		struct object *whole = open_object(path), *bare;
		const struct sym *syms, *s;

		add_debugdata(path, packers[i]);
		bare = open_object(fixture_path("bare"));
		ck_assert(object_has_symtab(bare));
		size_t n = object_funcs(whole, &syms);
		for (size_t k = 0; k < n; k++) {
			s = object_sym(bare, syms[k].name);
			ck_assert_msg(
			    s != NULL, "%s: %s", ways[i], syms[k].name);
			ck_assert_uint_eq(s->addr, syms[k].addr);
			ck_assert_uint_eq(s->size, syms[k].size);
		}
		ck_assert_uint_eq(object_funcs(bare, &syms), n);
		ck_assert_uint_eq(object_unnamed(bare, &syms), 0);
		object_put(whole);
		object_put(bare);
	}
}
END_TEST

/* Bytes of the section, changed one at a time: its check tells, and the object
 * has no symbols, as if it had none. */
START_TEST(stripped_packed_symbols_may_be_damaged)
{
	static uint8_t whole[1 << 20], bytes[1 << 20];
	uint64_t at;
	size_t size, packed;
	struct object *o;
	FILE *f;

	add_debugdata(fixture_cc("whole", program, "-O2"), "");
	f = fixture_open("readelf -SW $DIR/bare | sed -n 's/.*gnu_debugdata "
			 "*[A-Z]* *[0-9a-f]* \\([0-9a-f]*\\) "
			 "\\([0-9a-f]*\\).*/\\1 \\2/p'");
	ck_assert_int_eq(fscanf(f, "%" SCNx64 " %zx", &at, &packed), 2);
	pclose(f);
	f = fopen(fixture_path("bare"), "r");
	size = fread(whole, 1, sizeof(whole), f);
	fclose(f);
	for (size_t i = 0; i < packed; i += i < 64 ? 1 : 7) {
		memcpy(bytes, whole, size);
		bytes[at + i] ^= 0x41;
		ck_assert_int_eq(object_open_image(bytes, size, "hurt", &o), 0);
		ck_assert_ptr_null(object_sym(o, "hidden"));
		object_put(o);
	}
	ck_assert_int_eq(object_open_image(whole, size, "well", &o), 0);
	ck_assert_ptr_nonnull(object_sym(o, "hidden"));
	object_put(o);
}
END_TEST

/* A table of a hundred times the size of what it was packed into is none; nor
 * is what is no ELF file, or one of another machine. */
START_TEST(stripped_packed_symbols_are_symbols)
{
	static const char *const made[] = {
		"head -c 100000000 /dev/zero",
		"head -c 3000 /dev/urandom",
		"printf '\\177ELF'",
		"(printf '\\177ELF\\1\\1\\1'; head -c 3000 /dev/zero)",
		"true",
	};

	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		struct object *o;
		const char *path = fixture_cc("whole", program, "-O2");

		fixture_sh("cd $DIR && rm -f bare && %s | xz -0 >bomb.xz && "
			   "strip -o bare %s && objcopy --add-section "
			   ".gnu_debugdata=bomb.xz bare",
		    made[i], path);
		o = open_object(fixture_path("bare"));
		ck_assert_ptr_null(object_sym(o, "hidden"));
		ck_assert(!object_has_symtab(o));
		object_put(o);
	}
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
	tcase_add_test(t, stripped_static_functions_are_in_the_packed_symbols);
	tcase_add_test(t, stripped_packed_symbols_may_be_damaged);
	tcase_add_test(t, stripped_packed_symbols_are_symbols);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	fixture_setup();
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	fixture_teardown();
	return failed != 0;
}
