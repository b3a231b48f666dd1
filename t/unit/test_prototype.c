/*
 * tracer/names/prototype.c and prototype_go.c: which types and places the
 * arguments and the result of a function get, and why they get none.  Objects,
 * debug information and the calling convention are made up here.
 */
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dlang/cc/cc.h"
#include "dlang/types.h"
#include "symbols/addrspace.h"
#include "symbols/dwarf.h"
#include "symbols/golang.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/state.h"
#include "tracer/names/abi.h"
#include "tracer/names/external.h"
#include "tracer/names/prototype.h"
#include "tracer/names/prototype_go.h"

struct object {
	bool present; /* has debug information */
	const char *id;
	struct sym sym; /* the only one */
	int held;
};

static struct types *types;
static struct state state;
static struct object lib, other_lib;
static struct load load, load2;

/* What the debug information says of the function at 0x100, and in Go of the one
 * at 0x200. */
static struct dwarf_proto said_of;
static unsigned asked; /* how often it was read */
static struct object *asked_of;
static uint64_t asked_at;
static struct go_func go_is;
static size_t placed; /* as many arguments have a place */
static bool returns;  /* the result has a place */
static enum abi convention;
static char message[256];

static int
double_proto(struct object *o, uint64_t addr, struct dwarf_proto *out)
{
	asked++;
	asked_of = o;
	asked_at = addr;
	*out = said_of;
	return o->present && said_of.type != NULL ? 0 : -ENOENT;
}

static struct object *
double_get(struct object *o)
{
	o->held++;
	return o;
}

static struct argplace
reg(uint8_t n)
{
	return (struct argplace){ .kind = ARGPLACE_REG, .reg = n };
}

static size_t
double_args(const struct type *fn, enum abi how, struct argplace *places)
{
	convention = how;
	for (size_t i = 0; i < fn->nmembers; i++)
		places[i] = reg((uint8_t)(10 + i));
	return placed;
}

static bool
double_result(struct argplace *place)
{
	*place = reg(9);
	return returns;
}

/* Registers from 20 on for parameters and from 30 on for results; where the
 * debug information says a register, that; and 40 on the stack. */
static struct abi_go told;

static void
double_go(
    const struct abi_go *g, struct argplace *params, struct argplace *results)
{
	told = *g;
	for (size_t i = 0; i < g->fn->nmembers; i++) {
		params[i] = g->said[i];
		if (i != 1 && params[i].kind == ARGPLACE_UNKNOWN)
			params[i] = reg((uint8_t)(20 + i));
	}
	for (size_t i = 0; i < g->nresults; i++)
		results[i] = reg((uint8_t)(30 + i));
}

static void
double_message(struct state *st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
}

static const struct sym *
double_sym(const struct object *o, const char *name)
{
	return o->sym.name != NULL && strcmp(o->sym.name, name) == 0 ? &o->sym :
								       NULL;
}

#define external_proto(st, o, addr, name, out) double_proto(o, addr, out)
#define external_present(o)                    ((o)->present)
#define object_build_id(o)                     ((o)->id)
#define object_get(o)                          double_get(o)
#define object_put(o)                          ((o)->held--)
#define object_sym(o, name)                    double_sym(o, name)
#define abi_args(fn, how, places)              double_args(fn, how, places)
#define abi_result(fn, how, place)             double_result(place)
#define abi_go(g, params, results)             double_go(g, params, results)
#define go_func(o, addr, name)                 go_is
#define cc_types(cc)                           types
#define state_message                          double_message
#include "tracer/names/kept.c"
#include "tracer/names/prototype.c"
#include "tracer/names/prototype_go.c"
#undef abi_go

static void
setup(void)
{
	types = types_create(256);
	lib = (struct object){ .present = true };
	other_lib = (struct object){ .present = true };
	load = (struct load){
		.object = &lib, .bias = 0x7000, .module = "libx.so"
	};
	load2 = (struct load){
		.object = &other_lib, .bias = 0x9000, .module = "liby.so"
	};
	said_of = (struct dwarf_proto){ 0 };
	go_is = (struct go_func){ .calls = GO_NOT };
	asked = 0;
	placed = 8;
	returns = true;
}

static void
teardown(void)
{
	parts_end(&state.parts);
	state.parts = (struct parts){ 0 };
	ck_assert_int_eq(lib.held, 0);
	ck_assert_int_eq(other_lib.held, 0);
	types_destroy(types);
}

static struct type_member members[4];

/* A function with these parameters. */
static struct type *
function(const char *result, const char *a, const char *b)
{
	struct type *fn = types_new(types, TYPE_FUNC);

	fn->base = types_lookup(types, result);
	fn->members = members;
	members[0].type = a != NULL ? types_lookup(types, a) : NULL;
	members[1].type = b != NULL ? types_lookup(types, b) : NULL;
	fn->nmembers = (a != NULL) + (b != NULL);
	return fn;
}

static struct typed_args
args_of(const char *name, bool result)
{
	struct typed_args out;

	prototype_args(&state, &load, 0x7100, name, result, &out);
	return out;
}

static void
check_type(const struct type *t, const char *want)
{
	char buf[64];

	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(type_name(t, buf, sizeof(buf)), want);
}

/* Argument n has a type and the register. */
static void
check_arg(const struct typed_args *t, size_t n, const char *type, uint8_t r)
{
	ck_assert_uint_lt(n, t->n);
	check_type(t->args[n].native, type);
	ck_assert_ptr_eq(t->args[n].native, t->args[n].translated);
	ck_assert_ptr_null(t->args[n].why);
	ck_assert_int_eq(t->args[n].place.kind, ARGPLACE_REG);
	ck_assert_uint_eq(t->args[n].place.reg, r);
}

static void
check_without(const struct typed_args *t, size_t n, const char *why)
{
	ck_assert_uint_lt(n, t->n);
	ck_assert_ptr_null(t->args[n].native);
	ck_assert_ptr_null(t->args[n].translated);
	ck_assert_str_eq(t->args[n].why, why);
}

/* Neither arguments nor a result, for this reason. */
static void
check_none(const char *name, const char *why)
{
	for (int result = 0; result < 2; result++) {
		struct typed_args t = args_of(name, result);
		ck_assert_uint_eq(t.n, 0);
		ck_assert_str_eq(t.why, why);
	}
	parts_end(&state.parts);
	state.parts = (struct parts){ 0 };
}

/* ---- C ---- */

START_TEST(a_function_has_arguments_and_a_result)
{
	said_of.type = function("short", "int", "char");
	struct typed_args t = args_of("f", false);

	ck_assert_uint_eq(asked_at, 0x100);
	ck_assert_int_eq(convention, ABI_C);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_ptr_null(t.why);
	check_arg(&t, 0, "int", 10);
	check_arg(&t, 1, "char", 11);
	t = args_of("f", true);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_ptr_null(t.why);
	check_type(t.args[0].native, "unsigned long");
	check_type(t.args[0].translated, "unsigned long");
	ck_assert_int_eq(t.args[0].place.kind, ARGPLACE_ARG);
	check_arg(&t, 1, "short", 9);
}
END_TEST

START_TEST(what_has_no_place_has_no_type)
{
	said_of.type = function("short", "int", "char");
	placed = 1;
	returns = false;
	struct typed_args t = args_of("f", false);

	ck_assert_uint_eq(t.n, 2);
	check_arg(&t, 0, "int", 10);
	check_without(&t, 1, "it is not known where it is passed");
	t = args_of("f", true);
	ck_assert_uint_eq(t.n, 2);
	check_without(&t, 1, "it is not known where it is returned");
}
END_TEST

START_TEST(no_parameters_and_no_result)
{
	said_of.type = function("void", NULL, NULL);
	struct typed_args t = args_of("f", false);

	ck_assert_uint_eq(t.n, 0);
	ck_assert_str_eq(t.why, "the function has no parameters");
	t = args_of("f", true);
	ck_assert_uint_eq(t.n, 1);
	ck_assert_str_eq(t.why, "the function returns nothing");
	check_type(t.args[0].native, "unsigned long");
}
END_TEST

START_TEST(a_changed_function_is_not_believed)
{
	static const char *const changed = "the compiler has changed how it is "
					   "called";
	static const char *const own = "its compiler has given it a calling "
				       "convention of its own";

	said_of.type = function("int", "int", NULL);
	check_none("f.isra.0", changed);
	check_none("f.constprop.1", changed);
	check_none("f.part.0", changed);
	check_none("f.cold.3", changed);
	ck_assert_uint_eq(args_of("f.localalias", false).n, 1);
	parts_end(&state.parts);
	state.parts = (struct parts){ 0 };
	said_of.calls = DWARF_CALLS_OWN;
	check_none("f", own);
	said_of.calls = DWARF_CALLS_GO;
	check_none("f", own);
	said_of.calls = DWARF_CALLS_RUST;
	ck_assert_uint_eq(args_of("f", false).n, 1);
	ck_assert_int_eq(convention, ABI_RUST);
}
END_TEST

START_TEST(missing_debug_information_is_told)
{
	check_none(
	    "f", "the debug information of libx.so does not describe it");
	lib.present = false;
	check_none("f", "there is no debug information in libx.so");
	lib.id = "ab";
	check_none("f", "there is no debug information in libx.so");
	lib.id = "abc";
	check_none("f",
	    "there is no debug information in libx.so, and no "
	    "/usr/lib/debug/.build-id/ab/c.debug (Debian: a package whose name "
	    "ends in -dbgsym)");
}
END_TEST

/* Objects may have functions at the same address, and be mapped at several. */
START_TEST(a_prototype_is_read_once_for_an_object)
{
	struct load again = load;
	struct typed_args t;

	said_of.type = function("int", "int", NULL);
	args_of("f", false);
	args_of("f", true);
	again.bias = 0x17000;
	prototype_args(&state, &again, 0x17100, "f", false, &t);
	ck_assert_uint_eq(asked, 1);
	check_arg(&t, 0, "int", 10);

	said_of.type = function("int", "long", NULL);
	prototype_args(&state, &load2, 0x9100, "g", false, &t);
	ck_assert_uint_eq(asked, 2);
	ck_assert_ptr_eq(asked_of, &other_lib);
	check_arg(&t, 0, "long", 10);
	t = args_of("f", false);
	check_arg(&t, 0, "int", 10);

	prototype_args(&state, &load, 0x7108, "h", false, &t);
	check_arg(&t, 0, "long", 10);
	prototype_args(&state, &load2, 0x9108, "h", false, &t);
	prototype_args(&state, &load2, 0x9100, "g", false, &t);
	ck_assert_uint_eq(asked, 4);
	/* An object lives as long as the types that came from it. */
	ck_assert_int_eq(lib.held, 1);
	ck_assert_int_eq(other_lib.held, 1);
}
END_TEST

/* ---- comparing ---- */

static bool
equal_args(struct world_arg a, struct world_arg b)
{
	struct typed_args x = { .n = 1, .args = &a },
			  y = { .n = 1, .args = &b };
	bool same = typed_args_equal(&x, &y);

	ck_assert_int_eq(typed_args_equal(&y, &x), same);
	ck_assert(typed_args_equal(&x, &x));
	return same;
}

static bool
equal_types(struct type *a, struct type *b)
{
	return equal_args((struct world_arg){ .native = a },
	    (struct world_arg){ .native = b });
}

static bool
equal_places(struct argplace a, struct argplace b)
{
	return equal_args(
	    (struct world_arg){ .place = a }, (struct world_arg){ .place = b });
}

/* A "struct s" with two members; one of the last 16 that were made. */
static struct type *
structure(enum type_kind kind)
{
	static struct type_member pool[16][2];
	static unsigned next;
	struct type *t = types_new(types, kind);

	t->name = "s";
	t->size = 16;
	t->nmembers = 2;
	t->members = pool[next++ % ARRAY_SIZE(pool)];
	t->members[0] = (struct type_member){ .name = "a",
		.type = types_lookup(types, "int") };
	t->members[1] = (struct type_member){
		.name = "b", .type = types_lookup(types, "long"), .offset = 8
	};
	return t;
}

START_TEST(the_members_of_structures_are_compared)
{
	struct type *a = structure(TYPE_STRUCT), *b;

	b = structure(TYPE_STRUCT);
	ck_assert(equal_types(a, b));
	ck_assert(
	    equal_types(types_pointer(types, a), types_pointer(types, b)));
	for (int i = 0; i < 9; i++) {
		b = structure(TYPE_STRUCT);
		struct type_member *m = &b->members[1];
		switch (i) {
		case 0: b->size = 24; break;
		case 1: b->nmembers = 1; break;
		case 2: m->offset = 0; break;
		case 3: m->bit_size = 3; break;
		case 4: m->bit_offset = 3; break;
		case 5: m->name = NULL; break;
		case 6: m->name = "c"; break;
		case 7: m->type = types_lookup(types, "int"); break;
		case 8: b->members[0].name = "b"; break;
		}
		ck_assert_msg(!equal_types(a, b), "change %d", i);
		ck_assert(!equal_types(
		    types_pointer(types, a), types_pointer(types, b)));
		ck_assert(
		    !equal_types(types_pointer(types, types_pointer(types, a)),
			types_pointer(types, types_pointer(types, b))));
	}
	struct type *c = types_new(types, TYPE_CONST);
	c->base = a;
	ck_assert(!equal_types(c, b));
	struct type *u = structure(TYPE_UNION), *v = structure(TYPE_UNION);
	ck_assert(equal_types(u, v));
	v->members[0].name = "c";
	ck_assert(!equal_types(u, v));
	ck_assert(!equal_types(a, u));
}
END_TEST

START_TEST(other_types_are_compared)
{
	struct type *i = types_lookup(types, "int");
	struct type *c = types_new(types, TYPE_CONST);

	c->base = i;
	ck_assert(equal_types(NULL, NULL));
	ck_assert(!equal_types(i, NULL));
	ck_assert(equal_types(i, c));
	ck_assert(!equal_types(i, types_lookup(types, "long")));
	ck_assert(!equal_types(i, types_pointer(types, i)));
	ck_assert(!equal_types(types_pointer(types, i),
	    types_pointer(types, types_lookup(types, "long"))));
	struct type *p = types_new(types, TYPE_POINTER);
	p->base = i;
	p->size = 8;
	ck_assert(equal_types(p, types_pointer(types, i)));
	struct typed_args none = { 0 },
			  one = { .n = 1,
				  .args = &(struct world_arg){ .native = i } };
	ck_assert(!typed_args_equal(&none, &one));
	ck_assert(typed_args_equal(&none, &none));
}
END_TEST

/* The code that fetches an argument is compiled for one place. */
START_TEST(places_are_compared)
{
	struct argplace a = { .kind = ARGPLACE_PIECES,
		.npieces = 2,
		.piece = { { 1, 8, 0 }, { 2, 8, 8 } } };
	struct argplace b = a;

	b.piece[2].reg = 7; /* is not a piece */
	ck_assert(equal_places(a, b));
	for (int i = 0; i < 7; i++) {
		b = a;
		switch (i) {
		case 0: b.kind = ARGPLACE_MEM; break;
		case 1: b.npieces = 1; break;
		case 2: b.piece[0].reg = 3; break;
		case 3: b.piece[1].size = 4; break;
		case 4: b.piece[1].offset = 4; break;
		case 5: b.reg = 1; break;
		case 6: b.disp = 8; break;
		}
		ck_assert_msg(!equal_places(a, b), "change %d", i);
	}
}
END_TEST

START_TEST(a_refused_probe_is_named)
{
	prototype_refused(&state,
	    &(struct probe){
		.prov = "pid42", .mod = "m", .func = "f", .name = "entry" });
	ck_assert_str_eq(message,
	    "pid42:m:f:entry does not fire: its args[] have other types than "
	    "those that the program was compiled for");
}
END_TEST

/* ---- Go ---- */

static struct type_member results[2];
static struct argplace said_places[4];

static void
go_function(void)
{
	said_of.type = function("void", "int", "char");
	said_of.calls = DWARF_CALLS_GO;
	said_of.go.results = results;
	said_of.go.nresults = 2;
	said_of.go.said = said_places;
	results[0].type = types_lookup(types, "short");
	results[1].type = NULL;
	said_places[0] = reg(5);
	said_places[1] = (struct argplace){ .kind = ARGPLACE_UNKNOWN };
	go_is = (struct go_func){ .calls = GO_REGISTERS, .width = 24 };
}

START_TEST(a_go_function_has_arguments_and_results)
{
	go_function();
	struct typed_args t = args_of("main.f", false);

	ck_assert_uint_eq(asked_at, 0x100);
	ck_assert_int_eq(told.width, 24);
	ck_assert(!told.stack);
	ck_assert_ptr_eq(told.fn, said_of.type);
	ck_assert_ptr_eq(told.results, results);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_ptr_null(t.why);
	check_arg(&t, 0, "int", 5);
	check_without(
	    &t, 1, "some parameters have no name, and it is not known which");
	t = args_of("main.f", true);
	ck_assert_uint_eq(t.n, 3);
	ck_assert_ptr_null(t.why);
	check_type(t.args[0].native, "unsigned long");
	check_type(t.args[0].translated, "unsigned long");
	ck_assert_int_eq(t.args[0].place.kind, ARGPLACE_ARG);
	check_arg(&t, 1, "short", 30);
	check_without(&t, 2, "it is not known where it is returned");
}
END_TEST

START_TEST(a_go_function_without_parameters)
{
	go_function();
	said_of.type = function("void", NULL, NULL);
	said_of.go.nresults = 0;
	go_is.calls = GO_STACK;
	struct typed_args t = args_of("main.f", false);

	ck_assert(told.stack);
	ck_assert_uint_eq(t.n, 0);
	ck_assert_str_eq(t.why, "the function has no parameters");
	t = args_of("main.f", true);
	ck_assert_uint_eq(t.n, 1);
	ck_assert_str_eq(t.why, "the function returns nothing");
}
END_TEST

/* Go calls it by a function of the same name that has types. */
START_TEST(go_in_assembly)
{
	go_function();
	go_is.calls = GO_STACK;
	go_is.assembly = true;
	lib.sym = (struct sym){ .name = "main.f", .addr = 0x200 };
	struct typed_args t = args_of("main.f.abi0", false);

	ck_assert_uint_eq(asked_at, 0x200);
	ck_assert(told.stack);
	/* What is said of the places is of the other code. */
	ck_assert_int_eq(told.said[0].kind, ARGPLACE_UNKNOWN);
	ck_assert_int_eq(told.said[1].kind, ARGPLACE_UNKNOWN);
	check_arg(&t, 0, "int", 20);
	parts_end(&state.parts);
	state.parts = (struct parts){ 0 };
	asked = 0;
	check_none("main.g.abi0", "it is written in assembly");
	check_none("f.abi", "it is written in assembly");
	lib.sym.name = "";
	check_none(".abi0", "it is written in assembly");
	lib.sym.name = "main.f";
	go_is.calls = GO_REGISTERS;
	check_none("main.f.abi0", "it is written in assembly");
	ck_assert_uint_eq(asked, 0);
}
END_TEST

START_TEST(a_go_function_that_is_not_known)
{
	go_function();
	go_is.calls = GO_UNKNOWN;
	check_none("main.f", "it is not known whether they are on the stack");
	ck_assert_uint_eq(asked, 0);
	go_is.calls = GO_REGISTERS;
	said_of.calls = DWARF_CALLS_C;
	check_none(
	    "main.f", "the debug information of libx.so does not describe it");
	said_of.type = NULL;
	check_none(
	    "main.f", "the debug information of libx.so does not describe it");
	lib.present = false;
	check_none("main.f", "there is no debug information in libx.so");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { a_function_has_arguments_and_a_result,
		what_has_no_place_has_no_type, no_parameters_and_no_result,
		a_changed_function_is_not_believed,
		missing_debug_information_is_told,
		a_prototype_is_read_once_for_an_object,
		the_members_of_structures_are_compared,
		other_types_are_compared, places_are_compared,
		a_refused_probe_is_named,
		a_go_function_has_arguments_and_results,
		a_go_function_without_parameters, go_in_assembly,
		a_go_function_that_is_not_known };

	return suite_run(
	    "prototype", setup, teardown, tests, ARRAY_SIZE(tests));
}
