/*
 * symbols/dwarf: programs built here, in every way that compilers lay out
 * their debug information, compared with what the compiler itself says of
 * sizes and offsets.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/mem.h"
#include "t/fake/fixture.h"
#include "t/unit/typed_object.h"

static const char program[] =
    "#include <stddef.h>\n"
    "#include <stdio.h>\n"
    "enum color { RED, GREEN = 5, BLUE = -1 };\n"
    "enum big { HUGE_ONE = 0x100000000 };\n"
    "struct node; typedef struct node node_t;\n"
    "struct node { char tag; node_t *next; short rows[2][3];\n"
    "	unsigned a : 3, b : 9; int c : 5; long long w : 40;\n"
    "	union { int i; float f; }; enum color color; double d;\n"
    "	int (*call)(int, ...); char tail[]; };\n"
    "struct __attribute__((packed)) tight { char c; int i;\n"
    "	unsigned long x : 60, y : 10; };\n"
    "struct opaque; struct opaque *secret;\n"
    "extern int elsewhere(void); struct shared *lent;\n"
    "int counter = 3; static long hidden = 4; volatile const char *text;\n"
    "node_t list[4]; struct tight tight; enum big big; __thread int own;\n"
    "long f(node_t *n, const char *s) { return n->c + s[0] + hidden; }\n"
    "static int unused_but_told = 7;\n"
    "int main(void) { own++; counter = unused_but_told + (int)f(list, \"\");\n"
    "	hidden++;\n"
    "	return elsewhere(); }\n";

static const char other[] =
    "struct shared { int x, y; }; struct shared common = { 1, 2 };\n"
    "static long hidden = 9; extern int counter;\n"
    "int elsewhere(void) { return (int)hidden++ + counter + common.x; }\n";

/* What the compiler says of what the tests look at. */
static const char facts[] =
    "int main(void) {\n"
    "printf(\"%zu %zu %zu %zu %zu\\n\", sizeof(struct node),\n"
    "	offsetof(struct node, next), offsetof(struct node, rows),\n"
    "	offsetof(struct node, d), sizeof(struct tight)); }\n";

/* The bits of a member in an object of all ones but for it: do its offset and
 * width say where the compiler put it?  The value is read as the VM does. */
static void
check_bits(struct type *t, const char *name, unsigned width)
{
	uint64_t at;
	const struct type_member *m = member(t, name, &at);

	ck_assert_uint_eq(m->bit_size, width);
	ck_assert_uint_le(m->bit_offset + width, m->type->size * 8);
}

static void
check_node(struct opened *x, struct type *t, const unsigned long size[5])
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
	check_name(m->type, "short [2][3]");
	ck_assert_uint_eq(m->type->size, 12);
	check_bits(t, "a", 3);
	check_bits(t, "b", 9);
	check_bits(t, "c", 5);
	check_bits(t, "w", 40);
	m = member(t, "f", &at); /* through the unnamed union */
	check_name(m->type, "float");
	m = member(t, "color", &at);
	struct type *e = type_resolve(m->type);
	ck_assert_int_eq(e->kind, TYPE_ENUM);
	ck_assert_uint_eq(e->nenumerators, 3);
	ck_assert_str_eq(e->enumerators[2].name, "BLUE");
	ck_assert_int_eq(e->enumerators[2].value, -1);
	member(t, "d", &at);
	ck_assert_uint_eq(at, size[3]);
	check_name(member(t, "call", &at)->type, "int (*)(int, ...)");
	ck_assert_uint_eq(member(t, "tail", &at)->type->nelems, 0);
}

static void
check_tight(struct opened *x, const unsigned long size[5])
{
	struct type *t;
	uint64_t at;

	ck_assert_int_eq(dwarf_type(x->dw, x->o, "struct tight", &t), 0);
	t = type_resolve(t);
	ck_assert_uint_eq(t->size, size[4]);
	member(t, "i", &at);
	ck_assert_uint_eq(at, 1);
	/* 5 bytes, 60 bits: bits 100 to 109, across two words. */
	const struct type_member *m = member(t, "y", &at);
	ck_assert_uint_eq(at * 8 + m->bit_offset, 100);
	ck_assert_uint_le(m->bit_offset + 10, 64);
}

static void
check_types(struct opened *x, const unsigned long size[5])
{
	struct type *t;

	ck_assert_int_eq(dwarf_type(x->dw, x->o, "struct node", &t), 0);
	check_name(t, "struct node");
	check_node(x, t, size);
	ck_assert_int_eq(dwarf_type(x->dw, x->o, "node_t", &t), 0);
	check_name(t, "node_t");
	check_node(x, t, size);
	check_tight(x, size);
	ck_assert_int_eq(dwarf_type(x->dw, x->o, "enum big", &t), 0);
	ck_assert_uint_eq(type_resolve(t)->size, 8);
	ck_assert_int_eq(type_resolve(t)->enumerators[0].value, 0x100000000);
	ck_assert_int_eq(dwarf_type(x->dw, x->o, "union node", &t), -ENOENT);
	ck_assert_int_eq(dwarf_type(x->dw, x->o, "struct nod", &t), -ENOENT);
	ck_assert_int_eq(dwarf_type(x->dw, x->o, "node", &t), -ENOENT);
	ck_assert_int_eq(dwarf_type(x->dw, x->o, "struct opaque", &t), -ENOENT);
	ck_assert_int_eq(dwarf_type(x->dw, x->o, "counter", &t), -ENOENT);
	ck_assert_int_eq(dwarf_type(x->dw, x->o, "", &t), -ENOENT);
}

static void
check_var(struct opened *x, const char *name, const char *type)
{
	const struct sym *s = object_sym(x->o, name);
	struct dwarf_var v;

	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(dwarf_var(x->dw, x->o, name, s->addr, &v), 0);
	ck_assert_int_eq(v.place, DWARF_AT);
	ck_assert_uint_eq(v.addr, s->addr);
	check_name(v.type, type);
	ck_assert_int_eq(dwarf_var(x->dw, x->o, name, UINT64_MAX, &v), 0);
	ck_assert_int_eq(v.place, DWARF_AT);
}

static void
check_vars(struct opened *x)
{
	struct dwarf_var v;

	check_var(x, "counter", "int");
	check_var(x, "hidden", "long");
	check_var(x, "text", "volatile const char *");
	check_var(x, "list", "node_t [4]");
	check_var(x, "f", "long (node_t *, const char *)");
	ck_assert_int_eq(dwarf_var(x->dw, x->o, "own", UINT64_MAX, &v), 0);
	ck_assert_int_eq(v.place, DWARF_THREAD);
	ck_assert_int_eq(dwarf_var(x->dw, x->o, "nothing", 0, &v), -ENOENT);
	/* Declared here and defined there: one type with its members. */
	ck_assert_int_eq(dwarf_var(x->dw, x->o, "lent", UINT64_MAX, &v), 0);
	struct type *t = type_resolve(type_resolve(v.type)->base);
	ck_assert_int_eq(t->kind, TYPE_STRUCT);
	ck_assert_uint_eq(t->nmembers, 2);
	ck_assert_int_eq(dwarf_var(x->dw, x->o, "secret", UINT64_MAX, &v), 0);
	t = type_resolve(type_resolve(v.type)->base);
	ck_assert_int_eq(t->kind, TYPE_FORWARD);
	check_name(t, "struct opaque");
}

static void
read_facts(unsigned long size[5])
{
	char *text = mem_printf("%.*s%s",
	    (int)(strstr(program, "int counter") - program), program, facts);

	fixture_cc("facts", text, "-O0");
	mem_free(text);
	FILE *f = fixture_open("$DIR/facts");
	ck_assert_int_eq(fscanf(f, "%lu %lu %lu %lu %lu", &size[0], &size[1],
			     &size[2], &size[3], &size[4]),
	    5);
	pclose(f);
}

static const char *
build(const char *options)
{
	char *all = mem_printf("%s -c", options);

	fixture_cc("p.o", program, all);
	fixture_cc("q.o", other, all);
	mem_free(all);
	fixture_sh("gcc %s -o $DIR/prog $DIR/p.o $DIR/q.o", options);
	return fixture_path("prog");
}

START_TEST(every_layout_says_the_same)
{
	static const char *const ways[] = { "-g", "-g -O2", "-g -gdwarf-4",
		"-g -gdwarf-2 -gstrict-dwarf", "-g -gdwarf-5 -no-pie", "-g -gz",
		"-g -fdebug-types-section",
		"-g -gdwarf-4 -fdebug-types-section", "-g -gsplit-dwarf",
		"-g -static", "-ggdb3" };
	unsigned long size[5];

	read_facts(size);
	struct opened x = open_path(build(ways[_i]));
	ck_assert(dwarf_present(x.o));
	check_types(&x, size);
	check_vars(&x);
	close_path(&x);
}
END_TEST

START_TEST(debug_files_are_read)
{
	unsigned long size[5];

	read_facts(size);
	build("-g");
	fixture_sh("cd $DIR && objcopy --only-keep-debug prog prog.debug && "
		   "objcopy --strip-debug --add-gnu-debuglink=prog.debug prog "
		   "&& readelf -S prog | { ! grep -q debug_info; }");
	struct opened x = open_path(fixture_path("prog"));
	check_types(&x, size);
	check_vars(&x);
	close_path(&x);
}
END_TEST

START_TEST(without_debug_information)
{
	struct opened x = open_path(build("-g0"));
	struct dwarf_var v;
	struct type *t;

	ck_assert(!dwarf_present(x.o));
	ck_assert_int_eq(
	    dwarf_var(x.dw, x.o, "counter", UINT64_MAX, &v), -ENOENT);
	ck_assert_int_eq(dwarf_type(x.dw, x.o, "struct node", &t), -ENOENT);
	close_path(&x);
}
END_TEST

/* Every name stands where it is used: there is no section of strings. */
START_TEST(no_section_of_strings)
{
	struct dwarf_var v;

	fixture_cc("short", "int abc = 3; int main(void) { return abc; }",
	    "-g -gdwarf-4 -nostdlib -Wl,-e,main");
	fixture_sh("objcopy --remove-section .debug_str $DIR/short");
	struct opened x = open_path(fixture_path("short"));
	ck_assert(dwarf_present(x.o));
	ck_assert_int_eq(dwarf_var(x.dw, x.o, "abc", UINT64_MAX, &v), 0);
	ck_assert_int_eq(
	    dwarf_var(x.dw, x.o, "no such name", UINT64_MAX, &v), -ENOENT);
	close_path(&x);
}
END_TEST

/* The entries of one unit, and types that come after it in a section of their
 * own. */
START_TEST(one_unit_and_its_types)
{
	struct dwarf_var v;
	uint64_t at;

	fixture_cc("prog",
	    "typedef struct big { long a; struct { int b; } c; } big_t;"
	    "big_t big;"
	    "int main(void) { return big.c.b; }",
	    "-g -gdwarf-4 -fdebug-types-section");
	struct opened x = open_path(fixture_path("prog"));
	ck_assert_int_eq(dwarf_var(x.dw, x.o, "big", UINT64_MAX, &v), 0);
	ck_assert_int_eq(v.place, DWARF_AT);
	member(type_resolve(v.type), "c", &at);
	ck_assert_uint_eq(at, 8);
	close_path(&x);
}
END_TEST

/* Two variables of one name are told apart by their addresses. */
START_TEST(static_variables_of_one_name)
{
	struct dwarf_var v, w;

	fixture_cc("p.o",
	    "static int twin = 1; int one(void) { return twin++; }", "-g -c");
	fixture_cc("q.o",
	    "static char *twin = \"\"; int one(void);"
	    "int main(void) { return one() + *twin++; }",
	    "-g -c");
	fixture_sh("gcc -g -o $DIR/prog $DIR/p.o $DIR/q.o");
	struct opened x = open_path(fixture_path("prog"));
	FILE *f = fixture_open("nm $DIR/prog | grep twin");
	char line[128];

	for (int i = 0; i < 2; i++) {
		ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
		uint64_t addr = strtoull(line, NULL, 16);
		ck_assert_int_eq(
		    dwarf_var(x.dw, x.o, "twin", addr, i ? &v : &w), 0);
		ck_assert_uint_eq(i ? v.addr : w.addr, addr);
	}
	pclose(f);
	ck_assert(!type_equal(v.type, w.type));
	close_path(&x);
}
END_TEST

START_TEST(what_is_optimised_away)
{
	struct dwarf_var v;

	fixture_cc("prog",
	    "static int gone = 5; int main(int c, char **v) {"
	    "	return c * gone; }",
	    "-g -O2");
	struct opened x = open_path(fixture_path("prog"));
	ck_assert_int_eq(dwarf_var(x.dw, x.o, "gone", UINT64_MAX, &v), 0);
	ck_assert_int_eq(v.place, DWARF_NOWHERE);
	close_path(&x);
}
END_TEST

START_TEST(cplusplus)
{
	struct dwarf_var v;
	struct type *t;
	uint64_t at;

	fixture_compile("g++", ".cc", "prog",
	    "struct base { int first; static int shared; };\n"
	    "int base::shared = 2;\n"
	    "namespace ns { class conn : public base {\n"
	    "	public: int fd; conn &self; conn(int f) : fd(f), self(*this)\n"
	    "	{} };\n"
	    "conn one(3); }\n"
	    "int main() { return ns::one.self.fd - 3; }\n",
	    "-g");
	struct opened x = open_path(fixture_path("prog"));
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(
		    dwarf_type(x.dw, x.o, i ? "conn" : "struct conn", &t), 0);
		t = type_resolve(t);
		ck_assert_int_eq(t->kind, TYPE_STRUCT);
		member(t, "first", &at);
		ck_assert_uint_eq(at, 0);
		member(t, "fd", &at);
		ck_assert_uint_eq(at, 4);
	}
	at = 0;
	ck_assert_ptr_null(type_member(t, "shared", &at));
	ck_assert_int_eq(
	    type_resolve(member(t, "self", &at)->type)->kind, TYPE_POINTER);
	ck_assert_int_eq(
	    dwarf_var(x.dw, x.o, "_ZN2ns3oneE", UINT64_MAX, &v), 0);
	ck_assert_int_eq(v.place, DWARF_AT);
	ck_assert_ptr_eq(type_resolve(v.type), t);
	close_path(&x);
}
END_TEST

/* A file whose debug information is cut off or overwritten gives no wrong
 * memory access; what it says does not matter. */
START_TEST(damaged_files)
{
	static const char *const names[] = { "counter", "list", "struct node",
		"node_t", "struct tight", "enum color", "struct shared" };

	build("-g");
	fixture_sh("cd $DIR && cp prog damaged && "
		   "set -- $(readelf -SW prog | sed -n "
		   "'s/.*\\.debug_%s  *PROGBITS *[0-9a-f]* *\\([0-9a-f]*\\) "
		   "*\\([0-9a-f]*\\).*/0x\\1 0x\\2/p') && "
		   "off=$(($1)) size=$(($2)) i=0 && "
		   "while [ $i -lt 60 ]; do "
		   "printf \"\\\\$(printf %%o $((i * 37 %% 256)))\" | "
		   "dd of=damaged bs=1 conv=notrunc status=none "
		   "seek=$((off + 12 + i * 7919 * (%d + 1) %% (size - 12))); "
		   "i=$((i + 1)); done",
	    _i % 2 ? "info" : "abbrev", _i);
	struct opened x = open_path(fixture_path("damaged"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct dwarf_var v;
		struct type *t = NULL;
		uint64_t at = 0;

		if (dwarf_var(x.dw, x.o, names[i], UINT64_MAX, &v) == 0)
			type_resolve(v.type);
		if (dwarf_type(x.dw, x.o, names[i], &t) == 0)
			type_member(t, "nothing", &at);
	}
	close_path(&x);
}
END_TEST

static struct dwarf_proto
proto_of(struct opened *x, const char *symbol, const char *name)
{
	struct dwarf_proto p = { 0 };
	const struct sym *s = object_sym(x->o, symbol);

	ck_assert_msg(s != NULL, "no symbol %s", symbol);
	ck_assert_msg(dwarf_proto(x->dw, x->o, s->addr, name, &p) == 0,
	    "no prototype of %s", symbol);
	return p;
}

/* Functions that have no entry of their own name, or not where it is sought. */
START_TEST(functions_by_address)
{
	static const char *const options[] = { "-O2 -g -freorder-functions",
		"-O2 -gdwarf-4 -fno-reorder-functions",
		"-O0 -g -gsplit-dwarf" };

	fixture_compile("g++", ".cc", "prog",
	    "#include <stdlib.h>\n"
	    "#define FN __attribute__((noipa))\n"
	    "struct thing { int n; FN thing(int a, char *b) : n(a + *b) { }\n"
	    "	struct in { FN static int deep(unsigned char c) { return c; } };\n"
	    "	FN long m(short s) const { return n + s; } };\n"
	    "namespace a { namespace { FN int hid(float f) { return (int)f; } } }\n"
	    "extern \"C\" FN int real(double *p, int n) {\n"
	    "	if (n > 5) { p[0] = 3; abort(); } return n; }\n"
	    "extern \"C\" int other(double *p, int n)\n"
	    "	__attribute__((alias(\"real\")));\n"
	    "int main(int c, char **v) { auto l = [](int x) FN { return x; };\n"
	    "	struct local { FN static int f(char **p) { return **p; } };\n"
	    "	thing t(c, v[0]); double d; return l(c) + real(&d, c) +\n"
	    "	local::f(v) + a::hid(2) + thing::in::deep(3) + (int)t.m(1); }\n",
	    options[_i]);
	struct opened x = open_path(fixture_path("prog"));
	struct dwarf_proto p = { 0 };
	check_name(proto_of(&x, "real", "real").type, "int (double *, int)");
	check_name(proto_of(&x, "other", "other").type, "int (double *, int)");
	check_name(proto_of(&x, "_ZN5thingC1EiPc", "_ZN5thingC1EiPc").type,
	    "void (struct thing *const, int, char *)");
	check_name(proto_of(&x, "_ZNK5thing1mEs", "").type,
	    "long (const struct thing *const, short)");
	check_name(proto_of(&x, "_ZN5thing2in4deepEh", "").type,
	    "int (unsigned char)");
	check_name(
	    proto_of(&x, "_ZN1a12_GLOBAL__N_13hidEf", "").type, "int (float)");
	check_name(
	    proto_of(&x, "_ZZ4mainEN5local1fEPPc", "").type, "int (char **)");
	ck_assert_int_eq(
	    dwarf_proto(x.dw, x.o, object_entry(x.o), "_start", &p), -ENOENT);
	ck_assert_int_eq(dwarf_proto(x.dw, x.o, 0, "", &p), -ENOENT);
	close_path(&x);
}
END_TEST

/* A line number that is no int. */
START_TEST(lines)
{
	const char *file;
	int line;

	fixture_compile("gcc", ".s", "prog",
	    "	.file 1 \"dir/x.c\"\n	.globl main\n	.type main,@function\nmain:\n"
	    "	.loc 1 3000000000\n	nop\n	.loc 1 7\n	ret\n"
	    "	.section .note.GNU-stack,\"\",@progbits\n",
	    "-g");
	struct opened x = open_path(fixture_path("prog"));
	const struct sym *s = object_sym(x.o, "main");
	ck_assert_ptr_nonnull(s);
	ck_assert(!dwarf_line(x.o, s->addr, &file, &line));
	ck_assert(dwarf_line(x.o, s->addr + 1, &file, &line));
	ck_assert_str_eq(file, "x.c");
	ck_assert_int_eq(line, 7);
	close_path(&x);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("symbols/dwarf");
	TCase *tc = tcase_create("all");
	SRunner *sr = srunner_create(s);

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, every_layout_says_the_same, 0, 11);
	tcase_add_test(tc, debug_files_are_read);
	tcase_add_test(tc, without_debug_information);
	tcase_add_test(tc, no_section_of_strings);
	tcase_add_test(tc, one_unit_and_its_types);
	tcase_add_test(tc, static_variables_of_one_name);
	tcase_add_test(tc, what_is_optimised_away);
	tcase_add_test(tc, cplusplus);
	tcase_add_loop_test(tc, functions_by_address, 0, 3);
	tcase_add_test(tc, lines);
	tcase_add_loop_test(tc, damaged_files, 0, 8);
	suite_add_tcase(s, tc);
	fixture_setup();
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	fixture_teardown();
	return failed != 0;
}
