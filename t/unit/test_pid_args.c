/*
 * tracer/prov/pid/ pid_args, pid_typed and pid_unnamed: where the arguments of a
 * probe are, which types they have, and which functions without a name a
 * description means.  Objects and debug information are doubles, so the files
 * themselves are included below.
 */
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/argloc.h"
#include "dlang/base/diag.h"
#include "dlang/base/machine.h"
#include "dlang/base/str.h"
#include "dlang/types.h"
#include "symbols/addrspace.h"
#include "symbols/golang.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/state.h"
#include "tracer/names/abi.h"
#include "tracer/names/bodies.h"
#include "tracer/names/prototype.h"
#include "tracer/prov/pid/pid_impl.h"

#define BIAS UINT64_C(0x400000)
#define GO   2 /* registers of Go's convention here */
#define FUNC "f"

static struct state session;
static struct load exec_load = { .bias = BIAS,
	.module = "prog",
	.is_exec = true };
static struct load lib_load = { .bias = BIAS, .module = "libx.so" };
static struct object *const object = (struct object *)&session;
static enum go_calls convention;

static struct go_func
double_go(const struct object *o, uint64_t addr, const char *name)
{
	ck_assert_ptr_eq(o, object);
	ck_assert_uint_eq(addr, 0x1000);
	ck_assert_str_eq(name, FUNC);
	return (struct go_func){ .calls = convention };
}

static bool
double_register(unsigned n, uint8_t *reg)
{
	*reg = (uint8_t)(20 + n);
	return n < GO;
}

/* ---- types ---- */

static struct world_arg its_args[4];
static struct typed_args its_types;
static bool asked_results;
static uint64_t asked_addr;
static unsigned differs_at; /* the place whose types are others; 0: none */

static void
double_types(const struct load *l, uint64_t addr, const char *name, bool result,
    struct typed_args *out)
{
	ck_assert_str_eq(name, FUNC);
	asked_results = result;
	asked_addr = addr;
	*out = its_types;
	if (differs_at != 0 && addr == differs_at)
		out->n++;
}

static bool
double_equal(const struct typed_args *a, const struct typed_args *b)
{
	return a->n == b->n && a->why == b->why;
}

/* ---- symbols ---- */

static struct sym symbols[4], unnamed[4];
static size_t n_syms, n_unnamed;
static bool has_symtab;
static uint64_t part_of_other; /* a piece of a function elsewhere */
static int owner_error;
static struct str published, said_text;

static int
double_owner(uint64_t addr, uint64_t *start)
{
	*start = addr == part_of_other ? 0x10 : addr;
	return owner_error;
}

static void
double_publish(const struct pid_request *r)
{
	ck_assert_uint_eq(r->start, BIAS + r->sym->addr);
	ck_assert_uint_eq(r->size, r->sym->size);
	str_printf(&published, "%s%s ", r->sym->name, r->aside ? "-aside" : "");
}

static void PRINTF_LIKE(2, 3) say(struct state *st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vprintf(&said_text, fmt, ap);
	va_end(ap);
}

#define go_func(o, addr, name)  double_go(o, addr, name)
#define abi_go_register(n, reg) double_register(n, reg)
#define prototype_args(st, l, addr, name, result, out) \
	double_types(l, addr, name, result, out)
#define typed_args_equal(a, b)           double_equal(a, b)
#define type_resolve(t)                  (t)
#define object_funcs(o, out)             (*(out) = symbols, n_syms)
#define object_unnamed(o, out)           (*(out) = unnamed, n_unnamed)
#define object_has_symtab(o)             has_symtab
#define bodies_owner(st, o, addr, start) double_owner(addr, start)
#define pid_publish_function(r)          double_publish(r)
#define state_notice                     say
#include "tracer/prov/pid/pid_args.c"
#include "tracer/prov/pid/pid_typed.c"
#undef PREFIX
#include "tracer/prov/pid/pid_unnamed.c"

static struct pid_probe probe_data;
static struct probe probe = { .func = FUNC, .data = &probe_data };
static struct pid_place places[2];
static struct argloc args[PID_ARGS];

static void
setup(void)
{
	options_init(&session.opts);
	exec_load.object = lib_load.object = object;
	for (int i = 0; i < 2; i++) {
		places[i].place.load = &lib_load;
		places[i].place.addr = BIAS + 0x1000 + 0x100 * (unsigned)i;
	}
	probe_data.places.first = &places[0].place;
	probe_data.kind = PID_ENTRY;
}

static void
teardown(void)
{
	parts_end(&session.parts);
	options_fini(&session.opts);
	str_fini(&published);
	str_fini(&said_text);
}

static uint32_t
locate(enum pid_kind kind, enum go_calls calls, int64_t offset)
{
	memset(args, 0x55, sizeof(args));
	probe_data.kind = kind;
	convention = calls;
	return pid_args(&session, &probe, &places[0], offset, args);
}

static void
in_register(unsigned n, unsigned reg)
{
	ck_assert_int_eq(args[n].kind, ARGLOC_REG);
	ck_assert_int_eq(args[n].reg, reg);
	ck_assert_int_eq(args[n].size, 8);
	ck_assert_int_eq(args[n].is_signed, 1);
	ck_assert_int_eq(args[n].shift, 0);
}

static void
on_stack(unsigned n, int64_t disp)
{
	ck_assert_int_eq(args[n].kind, ARGLOC_STACK);
	ck_assert_int_eq(args[n].disp, disp);
	ck_assert_int_eq(args[n].size, 8);
	ck_assert_int_eq(args[n].is_signed, 1);
}

static void
unknown(unsigned from, unsigned to)
{
	for (; from < to; from++)
		ck_assert_int_eq(args[from].kind, ARGLOC_NONE);
}

/* ---- where ---- */

START_TEST(at_the_entry_of_a_function)
{
	ck_assert_uint_eq(locate(PID_ENTRY, GO_NOT, 0), PID_ARGS);
	for (unsigned i = 0; i < PID_ARGS; i++)
		if (i < UREG_ARGS)
			in_register(i, ureg_arg(i));
		else /* above the return address */
			on_stack(i, MACHINE_CALL_BYTES + 8 * (i - UREG_ARGS));
}
END_TEST

START_TEST(inside_of_a_function)
{
	static const enum pid_kind kinds[] = { PID_OFFSET, PID_LINE,
		PID_INLINE };

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		ck_assert_uint_eq(locate(kinds[k], GO_NOT, 8), PID_ARGS);
		in_register(0, ureg_arg(0));
		on_stack(UREG_ARGS, 0);
		on_stack(UREG_ARGS + 1, 8);
		locate(kinds[k], GO_REGISTERS, 8);
		in_register(1, 21);
		on_stack(GO, 0);
		locate(kinds[k], GO_STACK, 8);
		unknown(0, PID_ARGS);
		locate(kinds[k], GO_UNKNOWN, 8);
		unknown(0, PID_ARGS);
	}
}
END_TEST

START_TEST(at_the_entry_of_a_go_function)
{
	locate(PID_ENTRY, GO_REGISTERS, 0);
	in_register(0, 20);
	in_register(1, 21);
	on_stack(2, MACHINE_CALL_BYTES);
	on_stack(9, MACHINE_CALL_BYTES + 8 * 7);
	locate(PID_ENTRY, GO_STACK, 0);
	on_stack(0, MACHINE_CALL_BYTES);
	on_stack(9, MACHINE_CALL_BYTES + 8 * 9);
	ck_assert_uint_eq(locate(PID_ENTRY, GO_UNKNOWN, 0), PID_ARGS);
	unknown(0, PID_ARGS);
}
END_TEST

START_TEST(at_a_return)
{
	ck_assert_uint_eq(locate(PID_RETURN, GO_NOT, 0x25), 3);
	ck_assert_int_eq(args[0].kind, ARGLOC_CONST);
	ck_assert_int_eq(args[0].disp, 0x25);
	ck_assert_int_eq(args[0].size, 8);
	in_register(1, UREG_RESULT);
	in_register(2, UREG_RESULT_2);
	ck_assert_uint_eq(locate(PID_RETURN, GO_REGISTERS, -3), PID_ARGS);
	ck_assert_int_eq(args[0].disp, -3);
	in_register(1, 20);
	in_register(2, 21);
	on_stack(3, MACHINE_CALL_BYTES);
	ck_assert_uint_eq(locate(PID_RETURN, GO_UNKNOWN, 0x25), PID_ARGS);
	ck_assert_int_eq(args[0].kind, ARGLOC_CONST);
	unknown(1, PID_ARGS);
}
END_TEST

static struct type types[4];

static void
result_at(unsigned n, int32_t disp, unsigned size)
{
	types[n].size = size;
	its_args[n] = (struct world_arg){ .native = &types[n],
		.place = {
		    .kind = ARGPLACE_MEM, .reg = UREG_SP, .disp = disp } };
}

START_TEST(results_on_the_stack_are_behind_the_arguments)
{
	its_types = (struct typed_args){ .n = 4, .args = its_args };
	result_at(1, 40, 8);
	result_at(2, 24, 16);
	its_args[3] = (struct world_arg){ .place.kind = ARGPLACE_EMPTY };
	ck_assert_uint_eq(locate(PID_RETURN, GO_STACK, 7), PID_ARGS);
	ck_assert(asked_results);
	ck_assert_uint_eq(asked_addr, BIAS + 0x1000);
	ck_assert_int_eq(args[0].disp, 7);
	on_stack(1, 24);
	on_stack(2, 32);
	on_stack(3, 40);
	unknown(4, PID_ARGS);
	/* A word for the rest of one. */
	types[1].size = 9;
	locate(PID_RETURN, GO_STACK, 7);
	on_stack(4, 48);
	unknown(5, PID_ARGS);
	/* More than there is room for. */
	types[1].size = 900;
	locate(PID_RETURN, GO_STACK, 7);
	on_stack(9, 24 + 8 * 8);
}
END_TEST

START_TEST(without_every_type_no_result_is_known)
{
	its_types = (struct typed_args){ .n = 3, .args = its_args };
	result_at(1, 24, 8);
	result_at(2, 32, 8);
	its_args[2].place.kind = ARGPLACE_UNKNOWN;
	locate(PID_RETURN, GO_STACK, 7);
	unknown(1, PID_ARGS);
	result_at(2, 32, 8);
	its_args[2].place.reg = UREG_RESULT;
	locate(PID_RETURN, GO_STACK, 7);
	unknown(1, PID_ARGS);
	its_types.n = 0;
	locate(PID_RETURN, GO_STACK, 7);
	unknown(1, PID_ARGS);
	its_types.n = 1; /* the offset alone */
	locate(PID_RETURN, GO_STACK, 7);
	unknown(1, PID_ARGS);
}
END_TEST

/* ---- types ---- */

static int
typed(enum pid_kind kind, struct typed_args *out)
{
	probe_data.kind = kind;
	return pid_typed(&session, &probe, out);
}

START_TEST(types_come_from_debug_information)
{
	struct typed_args out;

	its_types.n = 2;
	ck_assert_int_eq(typed(PID_ENTRY, &out), 0);
	ck_assert_uint_eq(out.n, 2);
	ck_assert(!asked_results);
	ck_assert_int_eq(typed(PID_RETURN, &out), 0);
	ck_assert(asked_results);
	ck_assert_int_eq(typed(PID_LINE, &out), 0);
	ck_assert_uint_eq(out.n, 0);
	ck_assert_ptr_nonnull(strstr(out.why, "inside a function"));
	places[0].pending = &symbols[0];
	ck_assert_int_eq(typed(PID_ENTRY, &out), 0);
	ck_assert_uint_eq(out.n, 0);
	ck_assert_ptr_nonnull(strstr(out.why, "first called"));
	probe_data.places.first = NULL;
	ck_assert_int_eq(typed(PID_ENTRY, &out), 0);
	ck_assert_uint_eq(out.n, 0);
}
END_TEST

START_TEST(places_with_other_types_are_told)
{
	struct typed_args out;

	places[0].place.next = &places[1].place;
	its_types.n = 2;
	ck_assert_int_eq(typed(PID_ENTRY, &out), 0);
	differs_at = BIAS + 0x1100;
	ck_assert_int_eq(typed(PID_ENTRY, &out), -ENOTUNIQ);
	differs_at = BIAS + 0x1000;
	ck_assert_int_eq(typed(PID_ENTRY, &out), -ENOTUNIQ);
}
END_TEST

START_TEST(a_new_place_agrees_or_not)
{
	probe.typed.n = 2;
	its_types.n = 2;
	ck_assert(pid_place_agrees(&session, &probe, &places[1]));
	its_types.n = 3;
	ck_assert(!pid_place_agrees(&session, &probe, &places[1]));
	places[1].pending = &symbols[0];
	ck_assert(pid_place_agrees(&session, &probe, &places[1]));
	places[1].pending = NULL;
	probe.typed.n = 0; /* no clause uses args[] */
	ck_assert(pid_place_agrees(&session, &probe, &places[1]));
}
END_TEST

/* ---- functions without a name ---- */

static struct probe_desc desc;
static struct diags diags;
static struct pid_request request;

/* The object has three functions without a name, and these with one. */
static void
matches(const char *func, bool globs, const char *want)
{
	static const char *const names[] = { "sub_1139", "sub_1150",
		"sub_12ff" };

	for (unsigned i = 0; i < 3; i++)
		unnamed[i] = (struct sym){
			.name = names[i], .addr = 0x1139 + i, .size = 5 + i
		};
	n_unnamed = 3;
	desc = (struct probe_desc){
		.prov = "pid1", .mod = desc.mod, .func = func, .name = "entry"
	};
	if (desc.mod == NULL)
		desc.mod = "";
	request = (struct pid_request){ .st = &session,
		.pd = &desc,
		.load = request.load != NULL ? request.load : &exec_load,
		.d = request.d,
		.globs = globs };
	str_clear(&published);
	str_clear(&said_text);
	pid_publish_unnamed(&request);
	ck_assert_str_eq(str_c(&published), want);
}

static void
names(const char *a, const char *b)
{
	n_syms = 0;
	if (a != NULL)
		symbols[n_syms++].name = a;
	if (b != NULL)
		symbols[n_syms++].name = b;
}

START_TEST(the_one_at_that_address)
{
	names("main", NULL);
	has_symtab = true;
	matches("sub_1150", false, "sub_1150-aside ");
	ck_assert_uint_eq(request.functions, 1);
	matches("sub_11", false, "");
	matches("sub_1151", false, "");
	/* In an object without names it is like any other. */
	names(NULL, NULL);
	matches("sub_1150", false, "sub_1150 ");
	ck_assert_str_eq(str_c(&said_text), "");
	ck_assert(!request.aside);
}
END_TEST

START_TEST(a_glob_that_begins_so)
{
	names("main", NULL);
	matches("sub_11*", true, "sub_1139-aside sub_1150-aside ");
	matches("sub_*", true, "sub_1139-aside sub_1150-aside sub_12ff-aside ");
	/* The part of another function is none. */
	part_of_other = 0x113a;
	matches("sub_*", true, "sub_1139-aside sub_12ff-aside ");
	matches("sub_1150", false, "sub_1150-aside ");
	owner_error = -ENOENT;
	matches("sub_*", true, "sub_1139-aside sub_1150-aside sub_12ff-aside ");
}
END_TEST

START_TEST(any_glob_where_no_function_has_a_name)
{
	names("main", NULL);
	matches("*", true, "");
	matches("*b_1*", true, "");
	/* Those of the start-up code do not count. */
	names("_init", "_fini");
	matches("*", true, "sub_1139 sub_1150 sub_12ff ");
	ck_assert_ptr_nonnull(
	    strstr(str_c(&said_text), "prog has no function symbols: '*'"));
	/* It is said once. */
	matches("*1139", true, "sub_1139 ");
	ck_assert_str_eq(str_c(&said_text), "");
	matches("main", false, "");
	/* For each module. */
	request.load = &lib_load;
	matches("", true, "sub_1139 sub_1150 sub_12ff ");
	ck_assert_ptr_nonnull(
	    strstr(str_c(&said_text), "libx.so has no function symbols: '*'"));
}
END_TEST

START_TEST(a_name_is_named_only_so)
{
	struct pid_probe plain = { .aside = false }, aside = { .aside = true };

	ck_assert(pid_unnamed_means(&plain, "*"));
	ck_assert(!pid_unnamed_means(&aside, "*"));
	ck_assert(!pid_unnamed_means(&aside, "sub"));
	ck_assert(pid_unnamed_means(&aside, "sub_*"));
}
END_TEST

START_TEST(exported_functions_are_not_all)
{
	names("exported", "other");
	request.d = &diags;
	matches("*", true, "");
	ck_assert_ptr_nonnull(strstr(
	    str_c(&said_text), "'*' means the 2 functions that it exports"));
	matches("*", true, "");
	ck_assert_str_eq(str_c(&said_text), "");
	parts_end(&session.parts);
	session.parts = (struct parts){ 0 };
	names("exported", NULL);
	matches("a*", true, ""); /* that means some */
	ck_assert_str_eq(str_c(&said_text), "");
	request.load = &lib_load; /* a library is used by what it exports */
	matches("*", true, "");
	ck_assert_str_eq(str_c(&said_text), "");
	request.load = &exec_load;
	has_symtab = true;
	matches("*", true, "");
	ck_assert_str_eq(str_c(&said_text), "");
	has_symtab = false;
	request.d = NULL; /* matched again */
	matches("*", true, "");
	ck_assert_str_eq(str_c(&said_text), "");
	request.d = &diags;
	matches("*", true, "");
	ck_assert_ptr_nonnull(
	    strstr(str_c(&said_text), "means the 1 function that it exports"));
}
END_TEST

/* ---- why nothing matches ---- */

/* The message of the check; "": no error. */
static const char *
error(void)
{
	static char text[256];
	struct diags all;

	diags_init(&all);
	request.d = &all;
	int r = pid_unnamed_check(&request);
	ck_assert_int_eq(r, all.any ? -EINVAL : 0);
	snprintf(text, sizeof(text), "%s", all.any ? all.first.text : "");
	diags_fini(&all);
	return text;
}

START_TEST(a_library_without_names_is_the_reason)
{
	desc.mod = "libx.so";
	request.load = &lib_load;
	names(NULL, NULL);
	matches("f", false, "");
	ck_assert_ptr_nonnull(strstr(error(),
	    "failed to lookup 'f' in module 'libx.so', which has no symbol "
	    "table"));
	ck_assert_ptr_null(strstr(error(), "exports"));
	names("exported", NULL);
	ck_assert_ptr_nonnull(strstr(error(), "but that of what it exports"));
	request.globs = true;
	ck_assert_ptr_nonnull(strstr(error(),
	    "pid1:libx.so:f:entry does not match any probes: libx.so has"));
	ck_assert_ptr_nonnull(strstr(error(), "but that of what it exports"));
	request.functions = 1; /* something has matched elsewhere */
	ck_assert_str_eq(error(), "");
}
END_TEST

START_TEST(the_first_of_them_is_named)
{
	desc.mod = "*";
	names(NULL, NULL);
	request.load = &lib_load;
	matches("f", false, ""); /* it was not named */
	ck_assert_ptr_null(request.symless);
	desc.mod = "";
	request.load = &exec_load;
	matches("f", false, "");
	ck_assert_ptr_eq(request.symless, &exec_load);
	ck_assert_ptr_nonnull(strstr(error(), "prog has no symbol table"));
	ck_assert_ptr_null(strstr(error(), "exports"));
	has_symtab = true;
	matches("f", false, "");
	ck_assert_ptr_null(request.symless);
	ck_assert_str_eq(error(), "");
}
END_TEST

START_TEST(with_zdefs_it_is_told)
{
	names(NULL, NULL);
	matches("f", false, "");
	ck_assert_int_eq(option_parse(&session.opts, "zdefs", false), 0);
	ck_assert_str_eq(error(), "");
	ck_assert_str_eq(str_c(&said_text), "prog has no symbol table");
	str_clear(&said_text);
	ck_assert_str_eq(error(), "");
	ck_assert_str_eq(str_c(&said_text), "");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		at_the_entry_of_a_function,
		inside_of_a_function,
		at_the_entry_of_a_go_function,
		at_a_return,
		results_on_the_stack_are_behind_the_arguments,
		without_every_type_no_result_is_known,
		types_come_from_debug_information,
		places_with_other_types_are_told,
		a_new_place_agrees_or_not,
		the_one_at_that_address,
		a_glob_that_begins_so,
		any_glob_where_no_function_has_a_name,
		a_name_is_named_only_so,
		exported_functions_are_not_all,
		a_library_without_names_is_the_reason,
		the_first_of_them_is_named,
		with_zdefs_it_is_told,
	};

	return suite_run("pid_args", setup, teardown, tests, ARRAY_SIZE(tests));
}
