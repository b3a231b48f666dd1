/*
 * symbols/ctf: libraries built here with -gctf, compared with what the compiler
 * says of sizes and offsets; sections that lie.
 */
#include <check.h>
#include <ctf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "symbols/dwarf/ctf_impl.h"
#include "t/fake/fixture.h"
#include "t/unit/typed_object.h"

static const char program[] =
    "#include <stddef.h>\n"
    "#include <stdio.h>\n"
    "enum color { RED, GREEN = 5, BLUE = -1 };\n"
    "struct node; typedef struct node node_t;\n"
    "struct node { char tag; node_t *next; short rows[6];\n"
    "	unsigned a : 3, b : 9; int c : 5; long long w : 40;\n"
    "	union { int i; float f; }; enum color color; double d;\n"
    "	int (*call)(int, ...); const char *volatile name; };\n"
    "struct opaque; struct opaque *secret; struct later *lent;\n"
    "int counter = 3; node_t list[4]; _Bool flag;\n"
    "long double _Complex z; __int128 i128; struct clash { int one; } cone;\n"
    "long f(node_t *n, const char *s, enum color c, float d)\n"
    "{ return n->c + s[0] + (long)d; }\n"
    "struct node g(void) { return list[0]; }\n"
    "void h(struct clash *c, ...) { c->one++; }\n"
    "int told(void) { printf(\"%zu %zu %zu %zu\\n\", sizeof(struct node),\n"
    "	offsetof(struct node, next), offsetof(struct node, rows),\n"
    "	offsetof(struct node, d)); return 0; }\n";

/* Another `struct clash': two dictionaries, and what they share. */
static const char other[] =
    "enum color { RED, GREEN = 5, BLUE = -1 };\n"
    "struct later { int x, y; } later;\n"
    "struct clash { long a, two; enum color hue; } ctwo;\n"
    "long second(struct clash *c, enum color e) { return c->two + e; }\n";

static void
build(const char *options)
{
	fixture_cc("one.o", program, "-c -fPIC -gctf -w");
	fixture_cc("two.o", other, "-c -fPIC -gctf -w");
	fixture_sh("cd $DIR && gcc -shared %s -o lib.so one.o two.o", options);
	fixture_sh("cd $DIR && echo 'int told(void); int main(void) "
		   "{ return told(); }' >m.c && gcc -o m m.c ./lib.so");
}

static void
check_bits(struct type *t, const char *name, unsigned width, uint64_t bits)
{
	uint64_t at;
	const struct type_member *m = member(t, name, &at);

	ck_assert_uint_eq(m->bit_size, width);
	ck_assert_uint_eq(at * 8 + m->bit_offset, bits);
}

static void
check_node(struct type *t, const unsigned long size[4])
{
	uint64_t at;

	t = type_resolve(t);
	ck_assert_int_eq(t->kind, TYPE_STRUCT);
	ck_assert_uint_eq(t->size, size[0]);
	const struct type_member *m = member(t, "next", &at);
	ck_assert_uint_eq(at, size[1]);
	check_name(m->type, "node_t *");
	ck_assert_ptr_eq(type_resolve(type_resolve(m->type)->base), t);
	m = member(t, "rows", &at);
	ck_assert_uint_eq(at, size[2]);
	check_name(m->type, "short [6]");
	/* What follows the array of 12 bytes, with the room that GCC uses. */
	check_bits(t, "a", 3, (size[2] + 12) * 8);
	check_bits(t, "b", 9, (size[2] + 12) * 8 + 3);
	check_bits(t, "c", 5, (size[2] + 12) * 8 + 12);
	member(t, "w", &at);
	m = member(t, "f", &at); /* through the unnamed union */
	check_name(m->type, "float");
	struct type *e = type_resolve(member(t, "color", &at)->type);
	ck_assert_int_eq(e->kind, TYPE_ENUM);
	ck_assert_uint_eq(e->nenumerators, 3);
	ck_assert_str_eq(e->enumerators[2].name, "BLUE");
	ck_assert_int_eq(e->enumerators[2].value, -1);
	member(t, "d", &at);
	ck_assert_uint_eq(at, size[3]);
	check_name(member(t, "call", &at)->type, "int (*)(int, ...)");
	check_name(member(t, "name", &at)->type, "const char *volatile");
}

static struct type *
named(struct opened *x, const char *name)
{
	struct type *t = NULL;

	ck_assert_int_eq(ctftypes_type(x->c, x->o, name, &t), 0);
	return t;
}

static void
check_proto(struct opened *x, const char *name, const char *expected)
{
	struct dwarf_proto p;

	ck_assert_int_eq(ctftypes_proto(x->c, x->o, name, &p), 0);
	check_name(p.type, expected);
}

/* Plain; compressed; the debug information elsewhere. */
START_TEST(what_the_compiler_says)
{
	static const char *const how[] = { "", "-Wl,-z,defs", "-Wl,-s" };
	unsigned long size[4];
	struct dwarf_var v;
	struct type *t;
	FILE *f;

	build(how[_i]);
	f = fixture_open("cd $DIR && ./m");
	ck_assert_int_eq(fscanf(f, "%lu %lu %lu %lu", &size[0], &size[1],
			     &size[2], &size[3]),
	    4);
	pclose(f);
	struct opened x = open_path(fixture_path("lib.so"));
	ck_assert(ctftypes_present(x.o));
	ck_assert(!dwarf_present(x.o));
	check_node(named(&x, "struct node"), size);
	check_node(named(&x, "node_t"), size);
	check_proto(
	    &x, "f", "long (node_t *, const char *, enum color, float)");
	check_proto(&x, "g", "struct node ()");
	check_proto(&x, "h", "void (struct clash *, ...)");
	ck_assert_int_eq(ctftypes_var(x.c, x.o, "counter", 0x4000, &v), 0);
	ck_assert_int_eq(v.place, DWARF_AT);
	ck_assert_uint_eq(v.addr, 0x4000);
	check_name(v.type, "int");
	ck_assert_int_eq(ctftypes_var(x.c, x.o, "z", 0x4000, &v), 0);
	check_name(v.type, "long double [2]");
	ck_assert_int_eq(ctftypes_var(x.c, x.o, "list", 0x4000, &v), 0);
	check_name(v.type, "node_t [4]");
	ck_assert_uint_eq(v.type->size, 4 * size[0]);
	/* What one file only declares, another one defines. */
	ck_assert_int_eq(ctftypes_var(x.c, x.o, "lent", 0x4000, &v), 0);
	t = type_resolve(type_resolve(v.type)->base);
	ck_assert_int_eq(t->kind, TYPE_STRUCT);
	ck_assert_uint_eq(t->size, 8);
	ck_assert_int_eq(ctftypes_var(x.c, x.o, "secret", 0x4000, &v), 0);
	t = type_resolve(type_resolve(v.type)->base);
	ck_assert_int_eq(t->kind, TYPE_FORWARD);
	ck_assert_int_eq(ctftypes_var(x.c, x.o, "nosuch", 0, &v), -ENOENT);
	ck_assert_int_eq(ctftypes_type(x.c, x.o, "struct opaque", &t), -ENOENT);
	ck_assert_int_eq(ctftypes_type(x.c, x.o, "", &t), -ENOENT);
	close_path(&x);
}
END_TEST

/* Two structures of one name: the linker leaves a name where either is pointed
 * to, and we do not guess; objects have their own. */
START_TEST(types_that_conflict)
{
	struct dwarf_proto p;
	struct dwarf_var v;
	uint64_t at;

	build("");
	struct opened x = open_path(fixture_path("lib.so"));
	ck_assert_int_eq(ctftypes_proto(x.c, x.o, "second", &p), 0);
	struct type *t =
	    type_resolve(type_resolve(p.type->members[0].type)->base);
	ck_assert_int_eq(t->kind, TYPE_FORWARD);
	check_name(t, "struct clash");
	/* In the dictionary that both share. */
	t = type_resolve(p.type->members[1].type);
	ck_assert_int_eq(t->kind, TYPE_ENUM);
	ck_assert_int_eq(ctftypes_var(x.c, x.o, "ctwo", 1, &v), 0);
	member(v.type, "two", &at);
	ck_assert_uint_eq(at, 8);
	ck_assert_int_eq(ctftypes_var(x.c, x.o, "cone", 1, &v), 0);
	member(v.type, "one", &at);
	ck_assert_uint_eq(type_resolve(v.type)->size, 4);
	/* What both share is one type, from whichever of them it is met. */
	ck_assert_int_eq(ctftypes_var(x.c, x.o, "ctwo", 1, &v), 0);
	ck_assert_ptr_eq(type_resolve(member(v.type, "hue", &at)->type), t);
	close_path(&x);
}
END_TEST

/* ---- sections that lie ---- */

/* A dictionary by hand: a header, types, strings. */
struct made {
	ctf_header_t h;
	uint32_t types[16];
	char strings[8];
};

static struct made
made(const uint32_t *types, size_t words)
{
	struct made m = { .h = { .cth_preamble = { CTF_MAGIC, CTF_VERSION_3,
				     CTF_F_NEWFUNCINFO } } };

	memcpy(m.types, types, words * 4);
	m.h.cth_stroff = (uint32_t)words * 4;
	memcpy((char *)m.types + m.h.cth_stroff, "\0int\0T\0", 8);
	m.h.cth_strlen = 7;
	return m;
}

#define HEAD(kind, vlen, ref) 1, CTF_TYPE_INFO((uint32_t)(kind), 1, vlen), ref

static bool
admitted(const struct made *m)
{
	struct ctfbytes out;
	bool yes = ctfcheck_dict((const uint8_t *)m,
	    sizeof(m->h) + m->h.cth_stroff + m->h.cth_strlen, 0, 0, &out);

	mem_free(out.bytes);
	return yes;
}

static bool
types_admitted(const uint32_t *types, size_t words)
{
	struct made m = made(types, words);

	return admitted(&m);
}

#define ADMITTED(...)                                     \
	types_admitted((const uint32_t[]){ __VA_ARGS__ }, \
	    sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

START_TEST(types_are_looked_at)
{
	/* int; a pointer to it; what points, counts or ends elsewhere. */
	ck_assert(ADMITTED(HEAD(CTF_K_INTEGER, 0, 4), 32));
	ck_assert(ADMITTED(HEAD(CTF_K_POINTER, 0, 1)));
	ck_assert(!ADMITTED(HEAD(CTF_K_POINTER, 0, 2)));
	ck_assert(!ADMITTED(HEAD(CTF_K_POINTER, 0, 0x80000001)));
	ck_assert(!ADMITTED(HEAD(CTF_K_TYPEDEF, 0, 1)));
	ck_assert(
	    !ADMITTED(HEAD(CTF_K_TYPEDEF, 0, 2), HEAD(CTF_K_CONST, 0, 1)));
	/* By way of one that stands behind it. */
	ck_assert(!ADMITTED(
	    HEAD(CTF_K_TYPEDEF, 0, 2), HEAD(CTF_K_CONST, 0, 0x7ffffff0)));
	ck_assert(!ADMITTED(HEAD(CTF_K_ARRAY, 0, 0), 1, 1, 3));
	ck_assert(!ADMITTED(HEAD(CTF_K_SLICE, 0, 4), 1, 3));
	ck_assert(!ADMITTED(HEAD(CTF_K_INTEGER, 0, 4)));
	ck_assert(!ADMITTED(HEAD(CTF_K_STRUCT, 1, 4), 1, 0, 2));
	ck_assert(ADMITTED(HEAD(CTF_K_STRUCT, 1, 4), 1, 0, 0));
	ck_assert(!ADMITTED(HEAD(CTF_K_STRUCT, 2, 4), 1, 0, 0));
	ck_assert(!ADMITTED(HEAD(CTF_K_STRUCT, 1, 4), 7, 0, 0));
	ck_assert(!ADMITTED(HEAD(CTF_K_STRUCT, 1, 4), 0x80000001, 0, 0));
	ck_assert(!ADMITTED(HEAD(CTF_K_FUNCTION, 1, 0), 2, 0));
	ck_assert(!ADMITTED(HEAD(CTF_K_FUNCTION, 0xffffff, 0)));
	ck_assert(!ADMITTED(HEAD(CTF_K_ENUM, 1, 4), 9, 0));
	ck_assert(ADMITTED(HEAD(CTF_K_FORWARD, 0, CTF_K_UNION)));
	/* libctf counts by kind, in an array. */
	ck_assert(!ADMITTED(HEAD(CTF_K_FORWARD, 0, 1000)));
	ck_assert(!ADMITTED(HEAD(15, 0, 0)));
	ck_assert(!ADMITTED(HEAD(63, 0, 0)));
}
END_TEST

START_TEST(headers_are_looked_at)
{
	static const uint32_t types[] = { HEAD(CTF_K_INTEGER, 0, 4), 32 };
	const struct made good = made(types, 4);
	struct made m;

#define REFUSED(...)                      \
	do {                              \
		m = good;                 \
		__VA_ARGS__;              \
		ck_assert(!admitted(&m)); \
	} while (0)

	ck_assert(admitted(&good));
	REFUSED(m.h.cth_magic = 0);
	REFUSED(m.h.cth_version = CTF_VERSION_2);
	REFUSED(m.h.cth_flags = 0x80);
	REFUSED(m.h.cth_typeoff = 2);
	REFUSED(m.h.cth_varoff = 8);
	REFUSED(m.h.cth_lbloff = 4, m.h.cth_objtoff = 0);
	REFUSED(m.h.cth_strlen = 0);
	REFUSED(m.h.cth_strlen = 6, m.strings[0] = 'x',
	    memset((char *)m.types + 16, 'x', 6));
	REFUSED(m.h.cth_cuname = 7);
	REFUSED(m.h.cth_flags = CTF_F_COMPRESS);
	struct ctfbytes out;
	for (size_t n = 0; n < sizeof(good.h) + 16 + 7; n++)
		ck_assert(
		    !ctfcheck_dict((const uint8_t *)&good, n, 0, 0, &out));
}
END_TEST

START_TEST(archives_are_looked_at)
{
	struct {
		struct ctf_archive a;
		ctf_archive_modent_t m[2];
		uint64_t size;
		char dict[8];
	} x = { .a = { .ctfa_magic = CTFA_MAGIC,
		    .ctfa_ndicts = 2,
		    .ctfa_ctfs = sizeof(x.a) + sizeof(x.m) },
		.m = { { 0, 0 }, { 0, UINT64_MAX - 8 } },
		.size = 8 };
	const uint8_t *p = (const uint8_t *)&x, *dict;
	size_t size;

	ck_assert(ctfcheck_member(p, sizeof(x), 0, &dict, &size));
	ck_assert_ptr_eq(dict, x.dict);
	ck_assert_uint_eq(size, 8);
	ck_assert(ctfcheck_member(p, sizeof(x), 1, &dict, &size));
	ck_assert_uint_eq(size, 0);
	ck_assert(!ctfcheck_member(p, sizeof(x), 2, &dict, &size));
	x.size = UINT64_MAX;
	ck_assert(ctfcheck_member(p, sizeof(x), 0, &dict, &size));
	ck_assert_uint_eq(size, 8);
	x.a.ctfa_ctfs = UINT64_MAX;
	ck_assert(ctfcheck_member(p, sizeof(x), 0, &dict, &size));
	ck_assert_uint_eq(size, 0);
	x.a.ctfa_ndicts = UINT64_MAX;
	ck_assert(!ctfcheck_member(p, sizeof(x.a) + 8, 0, &dict, &size));
	/* What is no archive is one dictionary. */
	ck_assert(ctfcheck_member(p, 3, 0, &dict, &size));
	ck_assert_uint_eq(size, 3);
	ck_assert(!ctfcheck_member(p, 3, 1, &dict, &size));
}
END_TEST

/* The whole way, with a section that is overwritten here and there: it does
 * not matter what is said. */
START_TEST(damaged_files)
{
	static const char *const names[] = { "counter", "list", "f", "h",
		"second", "struct node", "node_t", "enum color",
		"struct clash" };

	build("");
	fixture_sh("cd $DIR && cp lib.so damaged && "
		   "set -- $(readelf -SW lib.so | sed -n "
		   "'s/.*\\.ctf  *PROGBITS *[0-9a-f]* *\\([0-9a-f]*\\) "
		   "*\\([0-9a-f]*\\).*/0x\\1 0x\\2/p') && "
		   "off=$(($1)) size=$(($2)) i=0 && "
		   "while [ $i -lt %d ]; do "
		   "printf \"\\\\$(printf %%o $((i * 37 %% 256)))\" | "
		   "dd of=damaged bs=1 conv=notrunc status=none "
		   "seek=$((off + i * 7919 * (%d + 1) %% size)); "
		   "i=$((i + 1)); done",
	    _i + 1, _i);
	struct opened x = open_path(fixture_path("damaged"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct dwarf_var v;
		struct dwarf_proto p;
		struct type *t = NULL;
		uint64_t at = 0;

		if (ctftypes_var(x.c, x.o, names[i], 1, &v) == 0)
			type_resolve(v.type);
		if (ctftypes_type(x.c, x.o, names[i], &t) == 0)
			type_member(t, "nothing", &at);
		ctftypes_proto(x.c, x.o, names[i], &p);
	}
	close_path(&x);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("symbols/ctf");
	TCase *tc = tcase_create("all");
	SRunner *sr = srunner_create(s);

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, what_the_compiler_says, 0, 3);
	tcase_add_test(tc, types_that_conflict);
	tcase_add_test(tc, types_are_looked_at);
	tcase_add_test(tc, headers_are_looked_at);
	tcase_add_test(tc, archives_are_looked_at);
	tcase_add_loop_test(tc, damaged_files, 0, 8);
	suite_add_tcase(s, tc);
	fixture_setup();
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	fixture_teardown();
	return failed != 0;
}
