/*
 * dlang/types: names, sizes, equality, members, and how DIF sees a type.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "dlang/base/base.h"
#include "dlang/types.h"

static struct types *ts;

static void
setup(void)
{
	ts = types_create(256);
}

static void
teardown(void)
{
	types_destroy(ts);
}

START_TEST(built_in_types_have_the_sizes_of_lp64)
{
	/* clang-format off */
	static const struct { const char *name; unsigned size; int sign; }
	rows[] = {
		{ "char", 1, 1 }, { "unsigned char", 1, 0 }, { "short", 2, 1 },
		{ "unsigned short", 2, 0 }, { "int", 4, 1 },
		{ "unsigned", 4, 0 }, { "long", 8, 1 },
		{ "unsigned long", 8, 0 }, { "long long", 8, 1 },
		{ "unsigned long long int", 8, 0 }, { "int8_t", 1, 1 },
		{ "uint8_t", 1, 0 }, { "int16_t", 2, 1 }, { "uint16_t", 2, 0 },
		{ "int32_t", 4, 1 }, { "uint32_t", 4, 0 }, { "int64_t", 8, 1 },
		{ "uint64_t", 8, 0 }, { "size_t", 8, 0 }, { "ssize_t", 8, 1 },
		{ "uintptr_t", 8, 0 }, { "intptr_t", 8, 1 },
		{ "ptrdiff_t", 8, 1 }, { "pid_t", 4, 1 }, { "id_t", 4, 1 },
		{ "uid_t", 4, 0 }, { "_Bool", 1, 0 }, { "uchar_t", 1, 0 },
		{ "u_longlong_t", 8, 0 }, { "signed char", 1, 1 },
		{ "long unsigned int", 8, 0 },
	};
	/* clang-format on */
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct type *t = types_lookup(ts, rows[i].name);
		ck_assert_msg(t != NULL, "%s", rows[i].name);
		ck_assert_msg(type_is_integer(t), "%s", rows[i].name);
		ck_assert_msg(type_dif(t).size == rows[i].size &&
			type_dif(t).is_signed == rows[i].sign,
		    "%s: %u", rows[i].name, type_dif(t).size);
	}
	ck_assert_uint_eq(types_lookup(ts, "long double")->size, 16);
	ck_assert_uint_eq(types_lookup(ts, "void")->size, 0);
	ck_assert_ptr_null(types_lookup(ts, "nosuch"));
	ck_assert_ptr_null(types_lookup(ts, "nosuch *"));
	ck_assert_ptr_null(types_lookup(ts, "*"));
}
END_TEST

START_TEST(strings_have_the_size_they_are_given)
{
	struct type *s = types_lookup(ts, "string");

	ck_assert_uint_eq(s->size, 256);
	types_set_strsize(ts, 32);
	ck_assert_uint_eq(s->size, 32);
	ck_assert_uint_eq(type_dif(s).size, 33); /* and a NUL */
	ck_assert_int_eq(type_dif(s).kind, DIF_TYPE_STRING);
	ck_assert_int_eq(type_dif(s).flags, DIF_BY_REF);
	ck_assert(type_is_string(s) && type_is_stringlike(s));
	ck_assert(type_is_byref(s) && !type_is_scalar(s));
}
END_TEST

static struct type *
by_name(const char *name)
{
	struct type *t = types_lookup(ts, name);

	ck_assert_msg(t != NULL, "%s", name);
	return t;
}

START_TEST(pointers_and_arrays_are_written_as_c_does)
{
	char buf[64];
	struct type *c = by_name("char");
	struct type *a = types_array(ts, c, 16);
	struct type *f = types_new(ts, TYPE_FUNC);
	struct type_member arg = { .type = types_pointer(ts, c) };

	f->base = by_name("int");
	f->members = &arg;
	f->nmembers = 1;
	f->varargs = true;
#define NAMED(t, text) ck_assert_str_eq(type_name(t, buf, sizeof(buf)), text)
	NAMED(types_pointer(ts, c), "char *");
	NAMED(by_name("const char *"), "const char *");
	NAMED(by_name("char **"), "char **");
	NAMED(by_name("uint32_t"), "uint32_t");
	NAMED(a, "char [16]");
	NAMED(types_array(ts, a, 2), "char [2][16]");
	NAMED(types_array(ts, types_pointer(ts, c), 3), "char *[3]");
	NAMED(types_pointer(ts, a), "char (*)[16]");
	NAMED(types_pointer(ts, f), "int (*)(char *, ...)");
	NAMED(by_name("<DYN>"), "<DYN>");
	struct type *fixed = types_new(ts, TYPE_CONST);
	fixed->base = types_pointer(ts, c);
	NAMED(fixed, "char *const");
	NAMED(types_pointer(ts, fixed), "char *const *");
	NAMED(types_array(ts, fixed, 2), "char *const[2]");
	struct type *loose = types_new(ts, TYPE_VOLATILE);
	loose->base = fixed;
	NAMED(loose, "char *const volatile");
	fixed->base = a;
	NAMED(types_pointer(ts, fixed), "char (*)[16]");
	char small[4];
	ck_assert_str_eq(type_name(a, small, sizeof(small)), "cha");
	ck_assert_uint_eq(types_array(ts, a, 2)->size, 32);
}
END_TEST

START_TEST(equality_goes_by_structure_and_tag)
{
	struct type *s = types_new(ts, TYPE_STRUCT);
	struct type *u = types_new(ts, TYPE_STRUCT);
	struct type *fwd = types_new(ts, TYPE_FORWARD);

	s->name = u->name = fwd->name = "node";
	fwd->forward_of = TYPE_STRUCT;
	ck_assert(type_equal(s, u));
	ck_assert(type_equal(s, fwd));
	ck_assert(type_equal(types_pointer(ts, s), types_pointer(ts, fwd)));
	u->name = NULL;
	ck_assert(!type_equal(s, u));
	fwd->forward_of = TYPE_UNION;
	ck_assert(!type_equal(s, fwd));
	ck_assert(type_equal(by_name("int"), by_name("int32_t")));
	ck_assert(type_equal(by_name("long"), by_name("long long")));
	ck_assert(!type_equal(by_name("int"), by_name("unsigned")));
	ck_assert(!type_equal(by_name("int"), by_name("char")));
	ck_assert(type_equal(by_name("const char *"), by_name("char *")));
	ck_assert(!type_equal(by_name("int *"), by_name("char *")));
	ck_assert(!type_equal(types_array(ts, by_name("int"), 2),
	    types_array(ts, by_name("int"), 3)));
}
END_TEST

START_TEST(members_are_found_through_unnamed_ones)
{
	struct type *i = by_name("int");
	struct type *inner = types_new(ts, TYPE_UNION);
	struct type *outer = types_new(ts, TYPE_STRUCT);
	struct type_member in[] = { { .name = "b", .type = i },
		{ .name = "c", .type = i, .offset = 4 } };
	struct type_member out[] = { { .name = "a", .type = i },
		{ .type = inner, .offset = 8 } };
	uint64_t off = 100;

	inner->members = in;
	inner->nmembers = outer->nmembers = 2;
	outer->members = out;
	ck_assert_ptr_eq(type_member(outer, "c", &off), &in[1]);
	ck_assert_uint_eq(off, 112);
	off = 0;
	ck_assert_ptr_null(type_member(outer, "d", &off));
	ck_assert_uint_eq(off, 0);
	ck_assert_ptr_null(type_member(i, "a", &off));
	/* Damaged debug information: a struct inside itself. */
	out[1].type = outer;
	ck_assert_ptr_null(type_member(outer, "d", &off));
}
END_TEST

START_TEST(a_typedef_of_itself_ends)
{
	struct type *t = types_new(ts, TYPE_TYPEDEF);
	char buf[64];

	t->name = "loop";
	t->base = t;
	type_resolve(t);
	type_name(types_pointer(ts, t), buf, sizeof(buf));
	ck_assert_str_eq(buf, "loop *");
}
END_TEST

START_TEST(names_are_defined_once)
{
	struct type *t = types_new(ts, TYPE_STRUCT);

	ck_assert_int_eq(types_define(ts, "struct x", t), 0);
	ck_assert_int_eq(types_define(ts, "struct x", t), -EEXIST);
	ck_assert_ptr_eq(types_lookup(ts, "struct x"), t);
	ck_assert_ptr_eq(types_lookup(ts, "struct x *")->base, t);
}
END_TEST

START_TEST(dif_sees_values_and_references)
{
	struct type *wide = types_new(ts, TYPE_INT);

	wide->name = "__int128";
	wide->size = 16;
	ck_assert_int_eq(type_dif(by_name("char *")).ckind, CTF_POINTER);
	ck_assert_int_eq(type_dif(by_name("char *")).flags, 0);
	ck_assert_int_eq(type_dif(by_name("double")).ckind, CTF_FLOAT);
	ck_assert_int_eq(type_dif(by_name("int")).ckind, CTF_INTEGER);
	ck_assert_int_eq(type_dif(types_new(ts, TYPE_ENUM)).ckind, CTF_ENUM);
	ck_assert_int_eq(type_dif(types_new(ts, TYPE_UNION)).ckind, CTF_UNION);
	ck_assert_int_eq(
	    type_dif(types_new(ts, TYPE_STRUCT)).ckind, CTF_STRUCT);
	ck_assert(type_dif(by_name("long double")).flags & DIF_BY_REF);
	ck_assert(type_dif(wide).flags & DIF_BY_REF);
	ck_assert(!type_is_integer(wide));
	ck_assert(type_is_stringlike(by_name("char *")));
	ck_assert(type_is_stringlike(types_array(ts, by_name("char"), 4)));
	ck_assert(!type_is_stringlike(by_name("int *")));
	ck_assert(type_is_scalar(by_name("int *")));
}
END_TEST

static void
define_later(struct type *t)
{
	static struct type_member member = { .name = "x" };
	unsigned *calls = t->more;

	++*calls;
	t->complete = NULL;
	if (strcmp(t->name, "never") == 0)
		return;
	t->kind = TYPE_STRUCT;
	t->members = &member;
	t->nmembers = 1;
}

/* A forward with a definition elsewhere has it read when it is looked into,
 * once, and not by those who only pass it on. */
START_TEST(forwards_define_themselves)
{
	static const char *const names[] = { "later", "never" };
	unsigned calls = 0;
	uint64_t at = 0;
	char buf[64];

	struct type *t = types_new(ts, TYPE_FORWARD);
	t->name = names[_i];
	t->forward_of = TYPE_STRUCT;
	t->size = 4;
	t->foreign = true;
	t->complete = define_later;
	t->more = &calls;
	struct type *p = types_pointer(ts, t);
	ck_assert_uint_eq(types_array(ts, t, 3)->size, 12);
	type_name(p, buf, sizeof(buf));
	type_resolve(p);
	ck_assert_uint_eq(calls, 0);
	ck_assert_ptr_eq(type_resolve(t), t);
	ck_assert_uint_eq(calls, 1);
	ck_assert_int_eq(t->kind, _i == 0 ? TYPE_STRUCT : TYPE_FORWARD);
	ck_assert_int_eq(type_member(p->base, "x", &at) != NULL, _i == 0);
	ck_assert_uint_eq(calls, 1);
	type_disown(t);
	ck_assert_int_eq(t->kind, TYPE_FORWARD);
	ck_assert_int_eq(t->forward_of, TYPE_STRUCT);
	ck_assert_ptr_null(type_member(t, "x", &at));
}
END_TEST

/* Damaged debug information: each function takes two of the next one, each
 * structure holds two of the next one.  The ways through them are 2^60. */
START_TEST(types_that_breed)
{
	static struct type_member pairs[2][60][2], held[30][2];
	struct type *last[2];
	char buf[256];
	uint64_t offset = 0;

	for (int twin = 0; twin < 2; twin++) {
		struct type *t = by_name("int");
		for (int i = 0; i < 60; i++) {
			struct type *f = types_new(ts, TYPE_FUNC);
			pairs[twin][i][0].type = pairs[twin][i][1].type = t;
			f->base = by_name("void");
			f->members = pairs[twin][i];
			f->nmembers = 2;
			t = types_pointer(ts, f);
		}
		last[twin] = t;
	}
	ck_assert(!type_equal(last[0], last[1]));
	type_name(last[0], buf, sizeof(buf));
	struct type *s = types_new(ts, TYPE_STRUCT);
	for (int i = 0; i < 30; i++) {
		held[i][0].type = held[i][1].type = s;
		s = types_new(ts, TYPE_STRUCT);
		s->members = held[i];
		s->nmembers = 2;
	}
	ck_assert_ptr_null(type_member(s, "none", &offset));
	/* And one that is a qualified form of itself. */
	struct type *c = types_new(ts, TYPE_CONST);
	c->base = c;
	type_name(types_pointer(ts, c), buf, sizeof(buf));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("types");
	TCase *tc = tcase_create("types");
	SRunner *sr = srunner_create(s);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, forwards_define_themselves, 0, 2);
	tcase_add_test(tc, built_in_types_have_the_sizes_of_lp64);
	tcase_add_test(tc, strings_have_the_size_they_are_given);
	tcase_add_test(tc, pointers_and_arrays_are_written_as_c_does);
	tcase_add_test(tc, equality_goes_by_structure_and_tag);
	tcase_add_test(tc, types_that_breed);
	tcase_add_test(tc, members_are_found_through_unnamed_ones);
	tcase_add_test(tc, a_typedef_of_itself_ends);
	tcase_add_test(tc, names_are_defined_once);
	tcase_add_test(tc, dif_sees_values_and_references);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
