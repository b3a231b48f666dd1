/*
 * tracer/abi: where functions' arguments are, against the tables of the System V
 * ABI for x86-64; the prototypes are those that compilers write of functions
 * which are built here (symbols/dwarf_proto).
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/str.h"
#include "symbols/dwarf.h"
#include "symbols/object.h"
#include "t/fake/fixture.h"
#include "tracer/names/abi.h"

static struct types *ts;
static struct dwtypes *dw;
static struct object *o;

/* ---- places as text ---- */

static void
reg_text(struct str *s, uint8_t reg)
{
	static const char *const names[UREG_COUNT] = { [UREG_RDI] = "rdi",
		[UREG_RSI] = "rsi",
		[UREG_RDX] = "rdx",
		[UREG_RCX] = "rcx",
		[UREG_R8] = "r8",
		[UREG_R9] = "r9",
		[UREG_RAX] = "rax",
		[UREG_RBX] = "rbx",
		[UREG_R10] = "r10",
		[UREG_R11] = "r11",
		[UREG_RSP] = "rsp" };

	if (reg < UREG_COUNT)
		str_add(s, names[reg] != NULL ? names[reg] : "?");
	else if (reg < UREG_ST(0, 0))
		str_printf(s, "xmm%d%s", (reg - UREG_FP) / 2,
		    (reg & 1) != 0 ? "h" : "");
	else
		str_printf(s, "st%d%s", (reg - UREG_ST(0, 0)) / 2,
		    (reg & 1) != 0 ? "h" : "");
}

static void
place_text(struct str *s, const struct argplace *p)
{
	switch ((enum argplace_kind)p->kind) {
	case ARGPLACE_ARG: str_add(s, "arg"); break;
	case ARGPLACE_EMPTY: str_add(s, "-"); break;
	case ARGPLACE_UNKNOWN: str_add(s, "?"); break;
	case ARGPLACE_REG: reg_text(s, p->reg); break;
	case ARGPLACE_MEM:
	case ARGPLACE_AT:
		str_add(s, p->kind == ARGPLACE_AT ? "*[" : "[");
		reg_text(s, p->reg);
		if (p->disp != 0)
			str_printf(s, "+%d", p->disp);
		str_addc(s, ']');
		break;
	case ARGPLACE_PIECES:
		for (unsigned i = 0; i < p->npieces; i++) {
			str_addc(s, i == 0 ? '{' : ',');
			reg_text(s, p->piece[i].reg);
			if (p->piece[i].size != 8 ||
			    p->piece[i].offset != 8 * i)
				str_printf(s, ":%u+%u", p->piece[i].offset,
				    p->piece[i].size);
		}
		str_addc(s, '}');
		break;
	}
}

/* "rdi [rsp+8] = rax"; `?' for what is not known, nothing behind it. */
static const char *
places(const struct type *fn, enum abi abi, struct str *s)
{
	struct argplace p[32];
	size_t n = abi_args(fn, abi, p);

	str_clear(s);
	for (size_t i = 0; i < n; i++) {
		place_text(s, &p[i]);
		str_addc(s, ' ');
	}
	if (n < fn->nmembers)
		str_add(s, "? ");
	str_add(s, "= ");
	if (abi_result(fn, abi, &p[0]))
		place_text(s, &p[0]);
	else
		str_addc(s, '?');
	return str_c(s);
}

/* ---- C and C++ ---- */

struct row {
	const char *proto, *places;
};

static const char types[] =
    "#include <complex.h>\n"
    "struct i2 { int a, b; }; struct l2 { long a, b; };\n"
    "struct f3 { float x, y, z; }; struct df { double d; float f; };\n"
    "struct dl { double d; long l; }; struct fi { float f; int i; };\n"
    "struct big { long a[3]; }; struct ld { long double x; };\n"
    "struct __attribute__((packed)) tight { char c; int i; };\n"
    "struct c9 { char c[9]; }; union lf { long l; double d; };\n"
    "struct nest { struct { short s; } in[2]; float f; };\n"
    "struct bits { int a : 20; int b : 20; long c : 50; };\n"
    "enum e { A, B }; typedef struct l2 l2_t; struct none { };\n"
    "typedef float v2 __attribute__((vector_size(8)));\n"
    "typedef float v4 __attribute__((vector_size(16)));\n"
    "typedef float v8 __attribute__((vector_size(32)));\n"
    "struct sv { v4 v; }; struct hasbool { _Bool b; char *p; };\n";

/* ABI 1.0, 3.2.3 and figure 3.4. */
static const struct row c_rows[] = {
	{ "void f(int a, char *b, _Bool c, enum e d, short g, long h, int i)",
	    "rdi rsi rdx rcx r8 r9 [rsp+8] = ?" },
	{ "double f(float a, int b, double c)", "xmm0 rdi xmm1 = xmm0" },
	{ "float f(double a, double b, double c, double d, double e, double g,"
	  " double h, double i, double j, int k)",
	    "xmm0 xmm1 xmm2 xmm3 xmm4 xmm5 xmm6 xmm7 [rsp+8] rdi = xmm0" },
	{ "struct i2 f(struct i2 a, struct l2 b)", "{rdi} {rsi,rdx} = {rax}" },
	{ "struct l2 f(struct f3 a, struct df b)",
	    "{xmm0,xmm1} {xmm2,xmm3} = {rax,rdx}" },
	{ "struct dl f(struct dl a, struct fi b)",
	    "{xmm0,rdi} {rsi} = {xmm0,rax}" },
	{ "struct f3 f(union lf a)", "{rdi} = {xmm0,xmm1}" },
	{ "struct big f(int a, struct big b, int c)",
	    "rsi [rsp+8] rdx = [rax]" },
	{ "long double f(int a, long double b, int c)",
	    "rdi [rsp+8] rsi = {st0,st0h}" },
	{ "struct ld f(long a, long b, long c, long d, long e, long g, int h,"
	  " struct ld i)",
	    "rdi rsi rdx rcx r8 r9 [rsp+8] [rsp+24] = {st0,st0h}" },
	{ "struct tight f(struct tight a, int b)", "[rsp+8] rsi = [rax]" },
	{ "struct c9 f(struct nest a, struct bits b)",
	    "{rdi} {rsi,rdx} = {rax,rdx}" },
	/* Both eightbytes in registers, or none; what is left is used. */
	{ "l2_t f(long a, l2_t b, l2_t c, l2_t d, long e)",
	    "rdi {rsi,rdx} {rcx,r8} [rsp+8] r9 = {rax,rdx}" },
	{ "v4 f(v2 a, v4 b, struct sv c)",
	    "{xmm0} {xmm1,xmm1h} {xmm2,xmm2h} = {xmm0,xmm0h}" },
	{ "int f(int a, v8 b, int c)", "rdi ? = rax" },
	{ "float _Complex f(float _Complex a, double _Complex b)",
	    "{xmm0} {xmm1,xmm2} = {xmm0}" },
	{ "double _Complex f(int a)", "rdi = {xmm0,xmm1}" },
	{ "long double _Complex f(long double _Complex a, int b)",
	    "[rsp+8] rdi = {st0,st0h,st1,st1h}" },
	{ "__int128 f(int a, __int128 b)", "rdi {rsi,rdx} = {rax,rdx}" },
	{ "_Float128 f(_Float128 a)", "{xmm0,xmm0h} = {xmm0,xmm0h}" },
	{ "struct hasbool f(struct none a, int b)", "- rdi = {rax,rdx}" },
	{ "int f(const char *a, ...)", "rdi = rax" },
};

static const char classes[] =
    "#include <string>\n"
    "struct empty { }; struct copied { long a; copied(const copied &); };\n"
    "struct ended { int a; ~ended(); }; struct holds { ended e; char c; };\n"
    "struct moved { char *p; moved(moved &&); };\n"
    "struct virt { int a; virtual void g() { } }; virt one;\n"
    "struct plain { int a; plain(int n) : a(n) { } ~plain() = default; };\n"
    "struct base { long x; }; struct derived : base { double d; };\n"
    "struct from : ended { }; struct has { static ended shared; int n; };\n"
    "struct methods { int n; int m(int a); static int s(int a); };\n";

static const struct row cc_rows[] = {
	{ "int f(copied a, ended b, int c)", "[rdi] [rsi] rdx = rax" },
	{ "ended f(holds a, virt b, from c)", "[rsi] [rdx] [rcx] = [rax]" },
	{ "derived f(derived a, plain b, has c)",
	    "{rdi,xmm0} {rsi} {rdx} = {rax,xmm0}" },
	{ "moved f(empty a, int b)", "- rsi = [rax]" },
	{ "std::string& f(const std::string &a, std::string b, int &&c)",
	    "rdi [rsi] rdx = rax" },
	{ "void f(int a, int b, int c, int d, int e, int g, copied h, int i)",
	    "rdi rsi rdx rcx r8 r9 *[rsp+8] [rsp+16] = ?" },
	{ "decltype(nullptr) f(int (methods::*a)(int), int methods::*b)",
	    "{rdi,rsi} rdx = rax" },
};

static void
open_program(const char *suffix, const char *compiler, const char *before,
    const struct row *rows, size_t n, const char *options)
{
	struct str text = { 0 };
	const char *why;

	str_add(&text, before);
	for (size_t i = 0; i < n; i++) {
		const char *at = strstr(rows[i].proto, " f(");
		ck_assert_ptr_nonnull(at);
		str_printf(&text, "%.*s f%zu%s { for (;;); }\n",
		    (int)(at - rows[i].proto), rows[i].proto, i, at + 2);
	}
	str_add(&text, "int main() { return 0; }\n");
	fixture_compile(compiler, suffix, "prog", str_c(&text), options);
	str_fini(&text);
	ck_assert_int_eq(
	    object_open(fixture_path("prog"), "prog", &o, &why), 0);
	ts = types_create(256);
	dw = dwtypes_create(ts);
}

static void
close_program(void)
{
	types_destroy(ts);
	dwtypes_destroy(dw);
	object_put(o);
}

/* The function numbered i, whatever its symbol is. */
static const struct sym *
function(size_t i)
{
	const struct sym *syms;
	size_t n = object_funcs(o, &syms);
	char c[32], cc[64];

	snprintf(c, sizeof(c), "f%zu", i);
	snprintf(cc, sizeof(cc), "_Z%zu%s", strlen(c), c);
	for (size_t k = 0; k < n; k++) {
		size_t len = strlen(cc);
		if (strcmp(syms[k].name, c) == 0 ||
		    (strncmp(syms[k].name, cc, len) == 0))
			return &syms[k];
	}
	ck_abort_msg("no symbol of function %zu", i);
}

static void
check_rows(const struct row *rows, size_t n)
{
	struct str s = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct dwarf_proto p;
		const struct sym *f = function(i);

		ck_assert_int_eq(dwarf_proto(dw, o, f->addr, f->name, &p), 0);
		ck_assert_int_eq(p.calls, DWARF_CALLS_C);
		ck_assert_msg(
		    strcmp(places(p.type, ABI_C, &s), rows[i].places) == 0,
		    "%s: %s, expected %s", rows[i].proto, str_c(&s),
		    rows[i].places);
	}
	str_fini(&s);
}

static const char *const layouts[] = { "-O2 -g -w -Wno-psabi",
	"-O0 -gdwarf-4 -w -Wno-psabi", "-O2 -gdwarf-3 -w -Wno-psabi" };

START_TEST(c_functions)
{
	open_program(
	    ".c", "gcc", types, c_rows, ARRAY_SIZE(c_rows), layouts[_i]);
	check_rows(c_rows, ARRAY_SIZE(c_rows));
	close_program();
}
END_TEST

START_TEST(cplusplus_functions)
{
	open_program(
	    ".cc", "g++", classes, cc_rows, ARRAY_SIZE(cc_rows), layouts[_i]);
	check_rows(cc_rows, ARRAY_SIZE(cc_rows));
	close_program();
}
END_TEST

/* ---- Rust, by types made here ---- */

static struct type *
record(const char *text)
{
	static struct type_member pool[32][8];
	static unsigned next;
	struct type *t = types_new(ts, TYPE_STRUCT);
	uint64_t at = 0, align = 1;

	t->members = pool[next++ % ARRAY_SIZE(pool)];
	/* Letters: b byte, i 4 bytes, l and p 8, d a double. */
	for (; *text != '\0'; text++) {
		struct type *m = types_lookup(ts,
		    *text == 'b'     ? "unsigned char" :
			*text == 'i' ? "int" :
			*text == 'd' ? "double" :
			*text == 'p' ? "char *" :
				       "long");
		at = ROUND_UP(at, m->size);
		t->members[t->nmembers++] = (struct type_member){
			.name = "m", .type = m, .offset = at
		};
		at += m->size;
		align = MAX(align, m->size);
		t->size = ROUND_UP(at, align);
	}
	return t;
}

static const char *
rust_places(struct type *result, struct type *first, struct str *s)
{
	struct type_member m[2] = { { .type = first },
		{ .type = types_lookup(ts, "int") } };
	struct type fn = {
		.kind = TYPE_FUNC, .base = result, .members = m, .nmembers = 2
	};

	return places(&fn, ABI_RUST, s);
}

START_TEST(rust_functions)
{
	static const struct {
		const char *result, *first, *places;
	} rows[] = {
		{ "l", "pl", "{rdi,rsi} rdx = {rax}" }, /* &str */
		{ "pl", "i", "{rdi} rsi = {rax,rdx}" },
		{ "dl", "ld", "{rdi,xmm0} rsi = {xmm0,rax}" },
		{ "pll", "l", "{rsi} rdx = [rax]" }, /* String */
		{ "l", "pll", "[rdi] rsi = {rax}" },
		{ "l", "ii", "? = {rax}" }, /* one register or two */
		{ "ib", "l", "? = ?" },     /* perhaps by address */
		{ "", "", "- rdi = -" },
	};
	struct str s = { 0 };

	ts = types_create(256);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_str_eq(rust_places(record(rows[i].result),
				     record(rows[i].first), &s),
		    rows[i].places);
	str_fini(&s);
	types_destroy(ts);
}
END_TEST

/* ---- Go, by types made here ---- */

static struct type *
go_type(char c)
{
	struct type *t;

	switch (c) {
	case 'b': return types_lookup(ts, "unsigned char");
	case 'h': return types_lookup(ts, "short");
	case 'i': return types_lookup(ts, "int");
	case 'l': return types_lookup(ts, "long");
	case 'f': return types_lookup(ts, "float");
	case 'd': return types_lookup(ts, "double");
	case 'p': return types_lookup(ts, "char *");
	case 'S': return record("pl");  /* string, interface */
	case 'V': return record("pll"); /* slice */
	case 'M': return record("bid");
	case 'Z': return record("");
	case '1': return types_array(ts, types_lookup(ts, "int"), 1);
	case '2': return types_array(ts, types_lookup(ts, "long"), 2);
	case 'C':
		t = types_array(ts, types_lookup(ts, "double"), 2);
		t->complex = true;
		return t;
	default: return types_new(ts, TYPE_FORWARD);
	}
}

static size_t
go_list(const char *letters, struct type_member *m)
{
	size_t n = strlen(letters);

	for (size_t i = 0; i < n; i++)
		m[i] = (struct type_member){ .type = go_type(letters[i]) };
	return n;
}

/* A word for each parameter: digits, of registers in Go's order; @N, that far
 * above the return address; -. */
static void
go_said(const char *text, struct argplace *said, size_t n)
{
	uint8_t reg = 0;

	for (size_t i = 0; i < n; i++, text += strcspn(text, " ")) {
		text += strspn(text, " ");
		said[i] = (struct argplace){ .kind = ARGPLACE_UNKNOWN };
		if (*text == '@') {
			said[i].kind = ARGPLACE_MEM;
			said[i].reg = UREG_RSP;
			said[i].disp = 8 + (int32_t)atoi(text + 1);
		}
		for (const char *d = text; *d >= '0' && *d <= '9'; d++) {
			ck_assert(abi_go_register((unsigned)(*d - '0'), &reg));
			said[i].kind = ARGPLACE_PIECES;
			said[i].piece[said[i].npieces++].reg = reg;
		}
	}
}

static void
go_places(struct str *s, const struct argplace *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		place_text(s, &p[i]);
		str_addc(s, ' ');
	}
}

START_TEST(go_functions)
{
	static const struct {
		const char *params, *results, *said;
		int64_t width;
		bool stack;
		const char *places;
	} rows[] = {
		{ "", "", "", 0, false, "= " },
		{ "bhilp", "l", "", 24, false, "rax rbx rcx rdi rsi = rax " },
		{ "lllllllllll", "bi", "", 88, false,
		    "rax rbx rcx rdi rsi r8 r9 r10 r11 [rsp+8] [rsp+16] "
		    "= rax rbx " },
		{ "fdlC", "dC", "", 40, false,
		    "xmm0 xmm1 rax {xmm2,xmm3} = xmm0 {xmm1,xmm2} " },
		/* Every part a register; those of an object, or none. */
		{ "SVM", "VS", "", 56, false,
		    "{rax,rbx} {rcx,rdi,rsi} "
		    "{r8:0+1,r9:4+4,xmm0:8+8} "
		    "= {rax,rbx,rcx} {rdi,rsi} " },
		{ "VVSSl", "S", "", 88, false,
		    "{rax,rbx,rcx} {rdi,rsi,r8} {r9,r10} [rsp+8] r11 "
		    "= {rax,rbx} " },
		/* Arrays of several elements; of one; nothing. */
		{ "2l1Zl", "2l", "", 56, false,
		    "[rsp+8] rax {rbx:0+4} - rcx = [rsp+24] rax " },
		/* Nothing is in a register. */
		{ "bhSl", "lS", "", 56, true,
		    "[rsp+8] [rsp+10] [rsp+16] [rsp+32] = [rsp+40] [rsp+48] " },
		/* What has no name is not told: before, between, behind. */
		{ "lS", "2", "1 23", 48, false, "rbx {rcx,rdi} = [rsp+8] " },
		{ "lS", "2", "0 23", 48, false, "rax {rcx,rdi} = [rsp+8] " },
		{ "lS", "2", "0 12", 48, false, "rax {rbx,rcx} = [rsp+8] " },
		{ "ll", "l", "@8 @16", 32, true,
		    "[rsp+16] [rsp+24] = [rsp+32] " },
		/* Room is the same with and without. */
		{ "b", "b", "1", 8, false, "rbx = rax " },
		/* More is not told than a word: only what is said counts, and
		 * what does not depend on it. */
		{ "lSl", "l2", "3 - 8", 96, false, "rdi ? r11 = rax ? " },
		{ "lZ", "l", "- -", 16, false, "? - = rax " },
		/* The width is not known; nor a type, and all behind it. */
		{ "l", "l", "0", -1, false, "rax = rax " },
		{ "l?l", "ll", "0 - 5", 24, false, "rax ? ? = ? ? " },
	};
	struct type_member params[16], results[16];
	struct argplace said[16], p[16], r[16];
	struct str s = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ts = types_create(256);
		struct type fn = { .kind = TYPE_FUNC, .members = params };
		struct abi_go go = { .fn = &fn,
			.results = results,
			.said = said,
			.width = rows[i].width,
			.stack = rows[i].stack };
		fn.nmembers = go_list(rows[i].params, params);
		go.nresults = go_list(rows[i].results, results);
		go_said(rows[i].said, said, fn.nmembers);
		abi_go(&go, p, r);
		str_clear(&s);
		go_places(&s, p, fn.nmembers);
		str_add(&s, "= ");
		go_places(&s, r, go.nresults);
		ck_assert_msg(strcmp(str_c(&s), rows[i].places) == 0,
		    "row %zu, %s: %s, expected %s", i, rows[i].params,
		    str_c(&s), rows[i].places);
		types_destroy(ts);
	}
	str_fini(&s);
}
END_TEST

/* A type that is declared only says nothing of its size, and so nothing of
 * what stands behind it. */
START_TEST(unknown_types)
{
	struct type *none;
	struct str s = { 0 };

	ts = types_create(256);
	none = types_new(ts, TYPE_FORWARD);
	none->forward_of = TYPE_STRUCT;
	struct type_member m[3] = { { .type = types_lookup(ts, "int") },
		{ .type = none }, { .type = types_lookup(ts, "int") } };
	struct type fn = { .kind = TYPE_FUNC,
		.base = types_lookup(ts, "void"),
		.members = m,
		.nmembers = 3 };
	ck_assert_str_eq(places(&fn, ABI_C, &s), "rdi ? = ?");
	fn.base = none;
	ck_assert_str_eq(places(&fn, ABI_C, &s), "? = ?");
	str_fini(&s);
	types_destroy(ts);
}
END_TEST

/* Each structure holds two of the next one, and none has a size. */
START_TEST(structures_that_breed)
{
	static struct type_member m[30][2];
	struct str s = { 0 };

	ts = types_create(256);
	struct type *t = types_new(ts, TYPE_STRUCT);
	for (int i = 0; i < 30; i++) {
		m[i][0].type = m[i][1].type = t;
		t = types_new(ts, TYPE_STRUCT);
		t->members = m[i];
		t->nmembers = 2;
		t->size = (uint64_t)i / 8;
	}
	struct type_member arg = { .type = t };
	struct type fn = {
		.kind = TYPE_FUNC, .base = t, .members = &arg, .nmembers = 1
	};
	ck_assert_str_eq(places(&fn, ABI_C, &s), "? = ?");
	ck_assert_str_eq(places(&fn, ABI_RUST, &s), "? = ?");
	str_fini(&s);
	types_destroy(ts);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("tracer/abi");
	TCase *tc = tcase_create("all");
	SRunner *sr = srunner_create(s);

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, c_functions, 0, ARRAY_SIZE(layouts));
	tcase_add_loop_test(tc, cplusplus_functions, 0, ARRAY_SIZE(layouts));
	tcase_add_test(tc, rust_functions);
	tcase_add_test(tc, go_functions);
	tcase_add_test(tc, unknown_types);
	tcase_add_test(tc, structures_that_breed);
	suite_add_tcase(s, tc);
	fixture_setup();
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	fixture_teardown();
	return failed != 0;
}
