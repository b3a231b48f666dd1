/*
 * symbols/dwarf_source: a program built here in every way that compilers
 * describe lines, inlined functions and variables; lines are compared with
 * what objdump decodes.  That locations give the right values is seen at work,
 * in t/e2e/88-lines.sh.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "dlang/base/vec.h"
#include "symbols/dwarf_source.h"
#include "t/fake/fixture.h"
#include "t/unit/typed_object.h"

/* clang-format off */
static const char program[] =
    "#define KEEP(x) __asm__ volatile(\"\" : : \"r\"(x))\n"		/* 1 */
    "struct pair { long one, two; char name[8]; };\n"			/* 2 */
    "struct small { int a, b; };\n"					/* 3 */
    "int shared; static int own = 5; extern int far;\n"			/* 4 */
    "static inline __attribute__((always_inline)) int\n"		/* 5 */
    "inner(int given)\n"						/* 6 */
    "{\n"								/* 7 */
    "	int made = given + 1;\n"					/* 8 */
    "	__asm__ volatile(\"nop\");\n"					/* 9 */
    "	KEEP(made);\n"							/* 10 */
    "	return made;\n"							/* 11 */
    "}\n"								/* 12 */
    "static inline __attribute__((always_inline)) int\n"		/* 13 */
    "middle(int given) { return inner(given * 2); }\n"			/* 14 */
    "__attribute__((noinline)) long\n"					/* 15 */
    "work(struct pair *p, signed char c, struct small s, long tail)\n"	/* 16 */
    "{\n"								/* 17 */
    "	static int times = 7;\n"					/* 18 */
    "	struct pair copy = *p;\n"					/* 19 */
    "	long local = c;\n"						/* 20 */
    "	double real = 2.5;\n"						/* 21 */
    "	__asm__ volatile(\"\" : : \"r\"(&copy), \"x\"(real) : \"memory\");\n"
    "	{ long local = tail;\n"						/* 23 */
    "	  __asm__ volatile(\"nop\"); KEEP(local);\n"			/* 24 */
    "	}\n"								/* 25 */
    "	times++;\n"							/* 26 */
    "	return local + middle(c) + inner(s.a) + times + own + copy.two;\n"
    "}\n"								/* 28 */
    "int main(int argc, char **argv)\n"					/* 29 */
    "{\n"								/* 30 */
    "	struct pair p = { argc, argc, \"pair\" };\n"			/* 31 */
    "	struct small s = { argc, 2 };\n"				/* 32 */
    "	KEEP(argv);\n"							/* 33 */
    "	return (int)(work(&p, (signed char)argc, s, argc) + inner(argc));\n"
    "}\n";								/* 35 */
/* clang-format on */

/* ---- lines ---- */

struct rows {
	const char *tail; /* what a path has to end in */
	VEC(struct row {
		int line;
		uint64_t addr;
	})
	list;
};

static bool
meant(void *ctx, const char *path)
{
	const struct rows *r = ctx;
	size_t n = strlen(r->tail), len = strlen(path);

	return len >= n && strcmp(path + len - n, r->tail) == 0;
}

static void
seen(void *ctx, const char *path, int line, uint64_t addr)
{
	struct rows *r = ctx;

	*vec_push(&r->list) = (struct row){ line, addr };
}

static bool
has_row(const struct rows *r, int line, uint64_t addr)
{
	vec_foreach(row, &r->list)
		if (row->line == line && (addr == 0 || row->addr == addr))
			return true;
	return false;
}

/* Every row found is one of objdump's, and each line that has a statement
 * there is found. */
static void
compare_lines(const struct rows *r, const char *path)
{
	FILE *f = fixture_open("objdump --dwarf=decodedline %s", path);
	char text[512], name[256], mark[8] = "", view[8];
	struct rows all = { 0 };
	unsigned long addr;
	int line;

	while (fgets(text, sizeof(text), f) != NULL) {
		mark[0] = view[0] = '\0';
		if (sscanf(text, "%255s %d 0x%lx %7s %7s", name, &line, &addr,
			view, mark) < 3 ||
		    strstr(name, "p.c") == NULL)
			continue;
		*vec_push(&all.list) = (struct row){ line, addr };
		if (strcmp(mark, "x") == 0 || strcmp(view, "x") == 0)
			ck_assert_msg(has_row(r, line, 0), "line %d", line);
	}
	pclose(f);
	ck_assert_uint_gt(all.list.len, 10);
	vec_foreach(row, &r->list)
		ck_assert_msg(has_row(&all, row->line, row->addr),
		    "line %d at %lx", row->line, (unsigned long)row->addr);
	vec_fini(&all.list);
}

static const struct way {
	const char *compiler, *options;
	bool optimised;
} ways[] = {
	{ "gcc", "-g -O0", false },
	{ "gcc", "-g -O2", true },
	{ "gcc", "-g -O0 -gdwarf-4 -no-pie", false },
	{ "gcc", "-g -O2 -gdwarf-4 -gz", true },
	{ "gcc", "-g -O0 -gdwarf-3 -gstrict-dwarf", false },
	{ "gcc", "-g -O0 -gsplit-dwarf", false },
	{ "gcc", "-g -O2 -gdwarf-5 -gsplit-dwarf", true },
	{ "gcc", "-g -O3 -flto", true },
	{ "clang", "-g -O0", false },
	{ "clang", "-g -O2", true },
	{ "clang", "-g -O0 -gdwarf-4", false },
};

static bool
have_compiler(const struct way *w)
{
	return strcmp(w->compiler, "gcc") == 0 ||
	    system("clang --version >/dev/null 2>&1") == 0;
}

/* The source has a name that is known. */
static const char *
build_program(const struct way *w)
{
	FILE *f = fopen(fixture_path("p.c"), "w");

	fputs(program, f);
	fclose(f);
	fixture_sh("cd $DIR && %s %s -o p $DIR/p.c", w->compiler, w->options);
	return fixture_path("p");
}

START_TEST(lines_are_objdumps)
{
	const struct way *w = &ways[_i];
	struct rows r = { .tail = "/p.c" };

	if (!have_compiler(w))
		return;
	const char *path = build_program(w);
	struct opened x = open_path(path);

	ck_assert(dwarf_rows(x.o, "p.c", meant, seen, &r));
	/* Split information keeps its lines in the file. */
	compare_lines(&r, path);
	ck_assert(has_row(&r, 24, 0));
	ck_assert(!has_row(&r, 2, 0) && !has_row(&r, 35 + 1, 0));
	vec_clear(&r.list);
	ck_assert(dwarf_rows(x.o, NULL, meant, seen, &r));
	ck_assert(has_row(&r, 24, 0));
	/* A name that stands nowhere, and one that is not asked for. */
	vec_clear(&r.list);
	ck_assert(dwarf_rows(x.o, "no such.c", meant, seen, &r));
	r.tail = "/q.c";
	ck_assert(dwarf_rows(x.o, NULL, meant, seen, &r));
	ck_assert_uint_eq(r.list.len, 0);
	vec_fini(&r.list);
	close_path(&x);
}
END_TEST

/* The line of an inlined function begins in each copy, that of a body in one
 * line once. */
START_TEST(each_copy_of_a_line)
{
	struct rows r = { .tail = "/p.c" };
	struct opened x = open_path(build_program(&ways[_i]));
	size_t nops = 0, once = 0;

	dwarf_rows(x.o, "p.c", meant, seen, &r);
	vec_foreach(row, &r.list) {
		nops += row->line == 9;
		once += row->line == 24;
	}
	ck_assert_uint_eq(nops, 3);
	ck_assert_uint_eq(once, 1);
	vec_fini(&r.list);
	close_path(&x);
}
END_TEST

/* ---- inlined functions ---- */

struct copies {
	const char *name;
	VEC(uint64_t) at;
};

static void
copy_seen(void *ctx, const char *name, const char *linkage, uint64_t addr)
{
	struct copies *c = ctx;

	if (strcmp(name, c->name) == 0)
		*vec_push(&c->at) = addr;
}

START_TEST(inlined_copies)
{
	const struct way *w = &ways[_i];

	if (!have_compiler(w))
		return;
	struct opened x = open_path(build_program(w));
	struct copies inner = { .name = "inner" },
		      middle = { .name = "middle" }, work = { .name = "work" };

	ck_assert(dwarf_inlines(x.o, copy_seen, &inner));
	ck_assert(dwarf_inlines(x.o, copy_seen, &middle));
	ck_assert(dwarf_inlines(x.o, copy_seen, &work));
	ck_assert_uint_eq(inner.at.len, 3);
	ck_assert_uint_eq(middle.at.len, 1);
	ck_assert_uint_eq(work.at.len, 0);
	vec_foreach(a, &inner.at)
		ck_assert(object_is_text(x.o, *a));
	vec_fini(&inner.at);
	vec_fini(&middle.at);
	close_path(&x);
}
END_TEST

/* ---- variables ---- */

static struct dwarf_local
local(struct opened *x, uint64_t addr, const char *name)
{
	struct dwarf_sense any = { 0 };
	struct dwarf_local out;

	dwarf_local(x->dw, x->o, addr, &any, name, &out);
	return out;
}

static void
check_type(const struct dwarf_local *l, const char *want)
{
	char buf[128];

	ck_assert_ptr_nonnull(l->type);
	ck_assert_str_eq(type_name(l->type, buf, sizeof(buf)), want);
}

static uint64_t
line_addr(struct opened *x, int line)
{
	struct rows r = { .tail = "/p.c" };
	uint64_t addr = 0;

	dwarf_rows(x->o, "p.c", meant, seen, &r);
	vec_foreach(row, &r.list)
		if (row->line == line)
			addr = row->addr;
	vec_fini(&r.list);
	ck_assert_uint_ne(addr, 0);
	return addr;
}

/* What a name means on a line of work(), and of which type it is. */
START_TEST(names_in_scope)
{
	const struct way *w = &ways[_i];

	if (!have_compiler(w))
		return;
	struct opened x = open_path(build_program(w));
	uint64_t addr = line_addr(&x, 24);
	struct dwarf_local l = local(&x, addr, "copy");

	check_type(&l, "struct pair");
	ck_assert_int_eq(l.value, DWARF_HAVE);
	ck_assert_int_eq(l.place, DWARF_HAVE);
	ck_assert(memcmp(&l.value_loc, &l.place_loc, sizeof(l.value_loc)) == 0);
	l = local(&x, addr, "local");
	check_type(&l, "long");
	ck_assert_int_eq(l.value, DWARF_HAVE);
	l = local(&x, addr, "p");
	check_type(&l, "struct pair *");
	l = local(&x, addr, "c");
	check_type(&l, "signed char");
	if (l.value == DWARF_HAVE) {
		ck_assert_uint_eq(l.value_loc.size, 1);
		ck_assert_uint_eq(l.value_loc.is_signed, 1);
	}
	/* In the file, static in the function, and outside of all. */
	l = local(&x, addr, "times");
	check_type(&l, "int");
	struct dwarf_local file = local(&x, addr, "shared");
	check_type(&file, "int");
	/* With all of the program at hand, neither is kept in memory. */
	if (strstr(w->options, "lto") == NULL) {
		ck_assert_int_eq(l.place, DWARF_HAVE);
		ck_assert(l.relative);
		ck_assert_int_eq(l.value_loc.kind, ARGLOC_MEM);
		ck_assert(object_is_data(x.o, (uint64_t)l.place_loc.disp, 4));
		ck_assert_int_eq(file.value, DWARF_HAVE);
		ck_assert(file.relative);
	}
	l = local(&x, addr, "argc");
	ck_assert_int_eq(l.value, DWARF_NO_NAME);
	ck_assert_ptr_null(l.type);
	l = local(&x, addr, "");
	ck_assert_int_eq(l.value, DWARF_NO_NAME);
	l = local(&x, 0, "copy");
	ck_assert_int_eq(l.value, DWARF_NO_SCOPE);
	l = local(&x, UINT64_MAX, "copy");
	ck_assert_int_eq(l.value, DWARF_NO_SCOPE);
	close_path(&x);
}
END_TEST

/* In a copy of an inlined function: its own names, then the caller's. */
START_TEST(names_in_inlined_functions)
{
	const struct way *w = &ways[_i];
	struct rows r = { .tail = "/p.c" };
	size_t with_p = 0, with_argc = 0, with_made = 0;

	if (!have_compiler(w))
		return;
	struct opened x = open_path(build_program(w));
	dwarf_rows(x.o, "p.c", meant, seen, &r);
	vec_foreach(row, &r.list) {
		if (row->line != 9)
			continue;
		struct dwarf_local l = local(&x, row->addr, "made");
		with_made += l.value == DWARF_HAVE;
		l = local(&x, row->addr, "tail");
		with_p += l.type != NULL;
		l = local(&x, row->addr, "argc");
		with_argc += l.type != NULL;
	}
	ck_assert_uint_eq(with_made, 3);
	ck_assert_uint_eq(with_p, 2);
	ck_assert_uint_eq(with_argc, 1);
	vec_fini(&r.list);
	close_path(&x);
}
END_TEST

static bool
knows(struct opened *x, uint64_t addr, struct dwarf_sense m, const char *name)
{
	struct dwarf_local l;

	dwarf_local(x->dw, x->o, addr, &m, name, &l);
	return l.type != NULL;
}

/* Where a copy begins, the line of the call is the caller's; where two begin,
 * one in the other, that is meant which is named; where a function begins, it
 * itself. */
START_TEST(names_where_several_begin)
{
	const struct way *w = &ways[_i];
	struct copies inner = { .name = "inner" };
	size_t inside = 0, made = 0, given = 0, entry = 0;

	if (!have_compiler(w))
		return;
	struct opened x = open_path(build_program(w));
	dwarf_inlines(x.o, copy_seen, &inner);
	vec_foreach(at, &inner.at) {
		struct dwarf_sense on = { .line = 14 }, of = { .inlined = "f" };
		inside += knows(&x, *at, of, "made");
		made += knows(&x, *at, on, "made");
		given += knows(&x, *at, on, "given");
		entry += knows(
		    &x, *at, (struct dwarf_sense){ .entry = true }, "made");
	}
	ck_assert_uint_eq(inside, 3);
	/* The one in middle(), which has a `given' of its own. */
	ck_assert_uint_eq(made, 2);
	ck_assert_uint_eq(given, 3);
	ck_assert_uint_eq(entry, 0);
	vec_fini(&inner.at);
	close_path(&x);
}
END_TEST

/* A copy in a copy, with the same first instruction. */
START_TEST(names_of_the_copy_that_is_named)
{
	struct copies two = { .name = "two" };

	fixture_cc("nest",
	    "#define I static inline __attribute__((always_inline))\n"
	    "I void three(int deep) {"
	    "	__asm__ volatile(\"nop\" : : \"r\"(deep)); }\n"
	    "I void two(int mid) { three(mid); }\n"
	    "__attribute__((noinline)) void one(int top) { two(top); }\n"
	    "int main(int c, char **v) { one(c); return 0; }\n",
	    "-g -O2");
	struct opened x = open_path(fixture_path("nest"));
	dwarf_inlines(x.o, copy_seen, &two);
	ck_assert_uint_eq(two.at.len, 1);
	uint64_t at = two.at.at[0];
	/* All four begin with the nop. */
	ck_assert_uint_eq(at, object_sym(x.o, "one")->addr);
	struct dwarf_sense mid = { .inlined = "two" }, top = { .entry = true };
	struct dwarf_sense deep = { .inlined = "three" };
	ck_assert(knows(&x, at, deep, "deep"));
	ck_assert(knows(&x, at, mid, "mid"));
	ck_assert(!knows(&x, at, mid, "deep"));
	ck_assert(knows(&x, at, top, "top"));
	ck_assert(!knows(&x, at, top, "mid"));
	vec_fini(&two.at);
	close_path(&x);
}
END_TEST

/* Where a function begins, nothing is in its frame yet. */
START_TEST(parameters_on_entry)
{
	const struct way *w = &ways[_i];

	if (!have_compiler(w) || w->optimised)
		return;
	struct opened x = open_path(build_program(w));
	uint64_t addr = object_sym(x.o, "work")->addr;
	struct dwarf_local l = local(&x, addr, "p");

	check_type(&l, "struct pair *");
	ck_assert_int_eq(l.value, DWARF_HAVE);
	ck_assert_int_eq(l.value_loc.kind, ARGLOC_REG);
	ck_assert_int_eq(l.value_loc.reg, UREG_RDI);
	ck_assert_int_eq(l.place, DWARF_REGISTER);
	l = local(&x, addr, "c");
	ck_assert_int_eq(l.value_loc.kind, ARGLOC_REG);
	ck_assert_int_eq(l.value_loc.reg, UREG_RSI);
	ck_assert_uint_eq(l.value_loc.size, 1);
	/* A struct that fits into registers: which ones is not told, nor what
	 * comes behind it. */
	l = local(&x, addr, "s");
	ck_assert_int_eq(l.value, DWARF_NOT_YET);
	l = local(&x, addr, "tail");
	ck_assert_int_eq(l.value, DWARF_NOT_YET);
	/* One instruction on, it is neither here nor there. */
	uint8_t byte;
	ck_assert_int_eq(object_read(x.o, addr, &byte, 1), 0);
	ck_assert_uint_eq(byte, 0x55); /* push %rbp */
	l = local(&x, addr + 1, "p");
	ck_assert_int_eq(l.value, DWARF_NOT_YET);
	addr = line_addr(&x, 24);
	l = local(&x, addr, "tail");
	ck_assert_int_eq(l.value, DWARF_HAVE);
	ck_assert_int_eq(l.value_loc.kind, ARGLOC_MEM);
	close_path(&x);
}
END_TEST

START_TEST(what_cannot_be_read)
{
	struct opened x;
	struct dwarf_local l;

	fixture_cc("away",
	    "static inline __attribute__((always_inline)) int f(int unused,"
	    "    int n) { int gone = n * 0; return n + gone; }"
	    "__attribute__((noinline)) double g(double d, int n) {"
	    "    __asm__ volatile(\"\" : : \"x\"(d));"
	    "    return d + f(n, n); }"
	    "int main(int c, char **v) { return (int)g(c, c); }",
	    "-g -O2");
	x = open_path(fixture_path("away"));
	uint64_t addr = object_sym(x.o, "g")->addr;
	l = local(&x, addr, "d");
	check_type(&l, "double");
	ck_assert_int_eq(l.value, DWARF_VECTOR);
	l = local(&x, addr, "n");
	ck_assert_int_eq(l.value, DWARF_HAVE);
	ck_assert_int_eq(l.value_loc.kind, ARGLOC_REG);
	ck_assert_int_eq(l.value_loc.reg, UREG_RDI);
	ck_assert_int_eq(l.place, DWARF_REGISTER);
	close_path(&x);

	fixture_cc("bare", "int main(void) { return 0; }", "-g0");
	x = open_path(fixture_path("bare"));
	ck_assert(!dwarf_rows(
	    x.o, "bare.c", meant, seen, &(struct rows){ .tail = "" }));
	ck_assert(
	    !dwarf_inlines(x.o, copy_seen, &(struct copies){ .name = "" }));
	l = local(&x, object_sym(x.o, "main")->addr, "x");
	ck_assert_int_eq(l.value, DWARF_NO_SCOPE);
	close_path(&x);
}
END_TEST

/* Without them nobody knows where a frame is; where the function begins, the
 * calling convention still does. */
START_TEST(without_unwind_rules)
{
	struct dwarf_local l;

	build_program(&ways[0]);
	fixture_sh("cd $DIR && objcopy --remove-section .eh_frame "
		   "--remove-section .eh_frame_hdr p bare");
	struct opened x = open_path(fixture_path("bare"));
	l = local(&x, line_addr(&x, 24), "tail");
	check_type(&l, "long");
	ck_assert_int_eq(l.value, DWARF_COMPUTED);
	ck_assert_int_eq(l.place, DWARF_COMPUTED);
	l = local(&x, line_addr(&x, 24), "times");
	ck_assert_int_eq(l.value, DWARF_HAVE);
	l = local(&x, object_sym(x.o, "work")->addr, "p");
	ck_assert_int_eq(l.value, DWARF_HAVE);
	ck_assert_int_eq(l.value_loc.reg, UREG_RDI);
	close_path(&x);
}
END_TEST

/* Each reason has words of its own. */
START_TEST(reasons_have_words)
{
	ck_assert_str_eq(dwarf_have_text(DWARF_HAVE), "");
	for (int i = DWARF_HAVE + 1; i <= DWARF_LARGE; i++) {
		ck_assert_uint_gt(strlen(dwarf_have_text(i)), 10);
		for (int k = DWARF_HAVE + 1; k < i; k++)
			ck_assert_str_ne(
			    dwarf_have_text(i), dwarf_have_text(k));
	}
}
END_TEST

/* ---- damage ---- */

/* An offset in the frame that wraps round: an address like any other. */
START_TEST(offsets_that_overflow)
{
	FILE *f = fopen(fixture_path("far.c"), "w");

	fputs("int g(int a, int b, int c, int d, int e, int f, int h, int i)\n"
	      "{\n	return i;\n}\n"
	      "int main(void) { return g(1, 2, 3, 4, 5, 6, 7, 8); }\n",
	    f);
	fclose(f);
	fixture_sh("cd $DIR && gcc -g -O0 -S far.c && sed -i "
		   "'s/\\.cfi_def_cfa_register 6/&; .cfi_def_cfa_offset "
		   "9223372036854775807/' far.s && gcc -o far far.s");
	struct opened x = open_path(fixture_path("far"));
	struct rows r = { .tail = "far.c" };
	bool looked = false;

	dwarf_rows(x.o, NULL, meant, seen, &r);
	vec_foreach(row, &r.list) {
		if (row->line != 3)
			continue;
		struct dwarf_local l = local(&x, row->addr, "i");
		ck_assert_int_eq(l.value, DWARF_HAVE);
		ck_assert_int_eq(l.value_loc.disp, INT64_MIN + 7);
		looked = true;
	}
	ck_assert(looked);
	vec_fini(&r.list);
	close_path(&x);
}
END_TEST

/* Expressions of a location: what they come to.  Numbers of registers are DWARF's:
 * 0 rax, 3 rbx, 6 rbp. */
static const struct {
	const char *text; /* for the assembler */
	enum dwarf_have have;
	bool relative; /* to main() */
	uint8_t kind, reg, index, scale, size;
	int64_t disp;
} places[] = {
#define NO ARGLOC_NOREG
#define FAILS(t)                                           \
	{                                                  \
		t, DWARF_COMPUTED, false, 0, 0, 0, 0, 0, 0 \
	}
#define MEM(t, base, index, scale, disp)                                      \
	{                                                                     \
		t, DWARF_HAVE, false, ARGLOC_MEM, base, index, scale, 4, disp \
	}
	/* Two of four bytes, as a value. */
	{ ".byte 0x76, 0x6c, 0x94, 2, 0x9f", DWARF_HAVE, false, ARGLOC_MEM,
	    UREG_RBP, NO, 1, 2, -20 },
	/* rbp + 8 as a value; what is at it */
	{ ".byte 0x76, 8, 0x9f", DWARF_HAVE, false, ARGLOC_SUM, UREG_RBP, NO, 1,
	    4, 8 },
	MEM(".byte 0x76, 8", UREG_RBP, NO, 1, 8),
	/* 8 + rbp; rbp + 8 - 3; rbp + 8 + 4 */
	MEM(".byte 0x38, 0x76, 0, 0x22", UREG_RBP, NO, 1, 8),
	MEM(".byte 0x76, 8, 0x33, 0x1c", UREG_RBP, NO, 1, 5),
	MEM(".byte 0x76, 8, 0x23, 4", UREG_RBP, NO, 1, 12),
	/* rax + 4 + rbx + 5 */
	MEM(".byte 0x70, 4, 0x73, 5, 0x22", UREG_RAX, UREG_RBX, 1, 9),
	/* rbp + 8 + (rax << 2); rax * 8 + rbp */
	MEM(".byte 0x76, 8, 0x70, 0, 0x32, 0x24, 0x22", UREG_RBP, UREG_RAX, 4,
	    8),
	/* main + rax */
	{ ".byte 3; .quad main; .byte 0x70, 0, 0x22", DWARF_HAVE, true,
	    ARGLOC_MEM, NO, UREG_RAX, 1, 4, 0 },
	/* what the pointer at rbp + 8 leads to, 4 bytes on */
	{ ".byte 0x76, 8, 6, 0x23, 4", DWARF_HAVE, false, ARGLOC_VIA, UREG_RBP,
	    NO, 1, 4, ARGLOC_VIA_DISP(8, 4) },
	/* Three registers; one less another; one three times; two addresses; a
	 * pointer and a register; too far to the left; nothing to add to. */
	FAILS(".byte 0x70, 0, 0x73, 0, 0x22, 0x76, 0, 0x22"),
	FAILS(".byte 0x70, 0, 0x73, 0, 0x1c"),
	FAILS(".byte 0x70, 0, 0x33, 0x1e"),
	FAILS(".byte 3; .quad main; .byte 3; .quad main; .byte 0x22"),
	FAILS(".byte 0x76, 8, 6, 0x70, 0, 0x22"),
	FAILS(".byte 0x31, 8, 64, 0x24"),
	FAILS(".byte 0x31, 0x22"),
#undef NO
#undef FAILS
#undef MEM
};

START_TEST(what_expressions_come_to)
{
	FILE *c = fopen(fixture_path("place.c"), "w");
	FILE *s = fopen(fixture_path("place.sed"), "w");

	/* The length of the unit is no constant then, and what others refer to
	 * comes before the expressions. */
	fputs("s/Ldebug_info0:\\n\t.long\t0x[0-9a-f]*/"
	      "Ldebug_info0: .long 8f - 9f; 9:/\n"
	      "s/\t.section\t.debug_abbrev/8:\\n&/\n",
	    s);
	fputs("int first;\nint main(void)\n{\n", c);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		fprintf(c, "static int v%zu;\n", i);
		fprintf(s,
		    "s/uleb128 0x9\\n\\t.byte\\t0x3\\n\\t.quad\\tv%zu\\.[0-9]*/"
		    "uleb128 2f - 1f; 1: %s; 2:/\n",
		    i, places[i].text);
	}
	fputs("return 0", c);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		fprintf(c, " + v%zu", i);
	fputs(";\n}\n", c);
	fclose(c);
	fclose(s);
	fixture_sh("cd $DIR && gcc -g -O0 -S place.c && sed -i -z -f place.sed "
		   "place.s && gcc -o place place.s");
	struct opened x = open_path(fixture_path("place"));
	uint64_t at = object_sym(x.o, "main")->addr;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char name[8];
		snprintf(name, sizeof(name), "v%zu", i);
		struct dwarf_local l = local(&x, at + 4, name);
		ck_assert_msg(l.value == places[i].have, "%s: %s",
		    places[i].text, dwarf_have_text(l.value));
		if (l.value != DWARF_HAVE)
			continue;
		ck_assert_int_eq(l.relative, places[i].relative);
		ck_assert_int_eq(l.value_loc.kind, places[i].kind);
		ck_assert_int_eq(l.value_loc.reg, places[i].reg);
		ck_assert_int_eq(l.value_loc.index, places[i].index);
		ck_assert_int_eq(l.value_loc.scale, places[i].scale);
		ck_assert_int_eq(l.value_loc.size, places[i].size);
		ck_assert_int_eq(l.value_loc.disp,
		    places[i].disp + (places[i].relative ? (int64_t)at : 0));
	}
	close_path(&x);
}
END_TEST

static void
look_at_all(struct opened *x)
{
	static const char *const names[] = { "p", "c", "local", "copy", "made",
		"times", "s", "real" };
	struct rows r = { .tail = "p.c" };
	struct copies c = { .name = "inner" };
	const struct sym *syms;

	dwarf_rows(x->o, NULL, meant, seen, &r);
	dwarf_inlines(x->o, copy_seen, &c);
	size_t n = object_funcs(x->o, &syms);
	for (size_t i = 0; i < n; i++)
		for (uint64_t at = 0; at < syms[i].size && at < 400; at += 9)
			for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
				struct dwarf_local l =
				    local(x, syms[i].addr + at, names[k]);
				if (l.type != NULL)
					type_resolve(l.type);
			}
	vec_fini(&r.list);
	vec_fini(&c.at);
}

/* A file whose sections are overwritten here and there, or cut off, gives no
 * wrong memory access and an end; what it says does not matter. */
START_TEST(damaged_files)
{
	static const char *const sections[] = { "info", "abbrev", "line",
		"loclists", "rnglists", "line_str" };
	const char *section = sections[_i % ARRAY_SIZE(sections)];

	build_program(&(struct way){ "gcc", "-g -O2", true });
	fixture_sh("cd $DIR && cp p damaged && "
		   "set -- $(readelf -SW p | sed -n "
		   "'s/.*\\.debug_%s  *PROGBITS *[0-9a-f]* *\\([0-9a-f]*\\) "
		   "*\\([0-9a-f]*\\).*/0x\\1 0x\\2/p') && "
		   "off=$(($1)) size=$(($2)) i=0 && "
		   "while [ $i -lt 40 ]; do "
		   "printf \"\\\\$(printf %%o $(((i * 37 + %d) %% 256)))\" | "
		   "dd of=damaged bs=1 conv=notrunc status=none "
		   "seek=$((off + i * 7919 * (%d + 1) %% size)); "
		   "i=$((i + 1)); done",
	    section, _i * 11, _i);
	struct opened x = open_path(fixture_path("damaged"));
	look_at_all(&x);
	close_path(&x);
	/* Cut off in the middle of the section: zeroes from there on. */
	fixture_sh("cd $DIR && cp p cut && "
		   "set -- $(readelf -SW p | sed -n "
		   "'s/.*\\.debug_%s  *PROGBITS *[0-9a-f]* *\\([0-9a-f]*\\) "
		   "*\\([0-9a-f]*\\).*/0x\\1 0x\\2/p') && "
		   "keep=$(($2 * (%d + 1) / 25)) && "
		   "dd if=/dev/zero of=cut bs=1 conv=notrunc status=none "
		   "seek=$(($1 + keep)) count=$(($2 - keep))",
	    section, _i);
	x = open_path(fixture_path("cut"));
	look_at_all(&x);
	close_path(&x);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("symbols/dwarf_source");
	TCase *tc = tcase_create("all");
	SRunner *sr = srunner_create(s);
	int n = ARRAY_SIZE(ways);

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, lines_are_objdumps, 0, n);
	tcase_add_loop_test(tc, each_copy_of_a_line, 0, 4);
	tcase_add_loop_test(tc, inlined_copies, 0, n);
	tcase_add_loop_test(tc, names_in_scope, 0, n);
	tcase_add_loop_test(tc, names_in_inlined_functions, 0, n);
	tcase_add_loop_test(tc, names_where_several_begin, 0, n);
	tcase_add_test(tc, names_of_the_copy_that_is_named);
	tcase_add_loop_test(tc, parameters_on_entry, 0, n);
	tcase_add_test(tc, what_cannot_be_read);
	tcase_add_test(tc, without_unwind_rules);
	tcase_add_test(tc, reasons_have_words);
	tcase_add_test(tc, offsets_that_overflow);
	tcase_add_test(tc, what_expressions_come_to);
	tcase_add_loop_test(tc, damaged_files, 0, 24);
	suite_add_tcase(s, tc);
	fixture_setup();
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	fixture_teardown();
	return failed != 0;
}
