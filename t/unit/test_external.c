/*
 * tracer/names/external.c: in which object of which target a variable, a
 * function or a type is found, and where it is in a process.  Processes, objects
 * and debug information are made up here.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "dlang/base/vec.h"
#include "dlang/cc/cc.h"
#include "dlang/types.h"
#include "symbols/addrspace.h"
#include "symbols/ctf.h"
#include "symbols/dwarf.h"
#include "t/unit/suite.h"
#include "tracer/base/progress.h"
#include "tracer/base/state.h"
#include "tracer/names/external.h"
#include "tracer/ptrace/proc.h"

struct object {
	const char *name;
	bool dwarf, ctf;
	const struct sym *syms;   /* up to one without a name */
	const struct known *vars; /* the same */
	int held;
};

/* A variable in debug information. */
struct known {
	const char *name, *type;
	enum dwarf_place place;
	uint64_t addr;
};

struct dwtypes {
	int n;
};

struct ctftypes {
	int n;
};

struct addrspace {
	struct load *loads[4];
	size_t n;
};

struct super {
	struct proc *procs[4]; /* up to a NULL */
};

static struct types *types;
static struct dwtypes the_dwarf;
static struct ctftypes the_ctf;
static struct state state;
static struct super super;
static const char *shown;   /* in the status */
static uint64_t asked_addr; /* of a variable */

static int
double_var(struct object *o, const char *name, uint64_t addr, const char *by,
    struct dwarf_var *out)
{
	asked_addr = addr;
	for (const struct known *v = o->vars; v != NULL && v->name; v++)
		if (strcmp(v->name, name) == 0) {
			out->type =
			    types_lookup(types, v->type != NULL ? v->type : by);
			out->place = v->place;
			out->addr = v->addr;
			return 0;
		}
	return -ENOENT;
}

/* An object has its variables' types, and no other. */
static int
double_type(struct object *o, const char *name, struct type **out)
{
	for (const struct known *v = o->vars; v != NULL && v->name; v++)
		if (v->type != NULL && strcmp(v->type, name) == 0) {
			*out = types_lookup(types, name);
			return 0;
		}
	return -ENOENT;
}

static int
double_proto(struct object *o, const char *by, struct dwarf_proto *out)
{
	*out = (struct dwarf_proto){ .type = types_lookup(types, by) };
	return o->dwarf || o->ctf ? 0 : -ENOENT;
}

static const struct sym *
double_sym(struct object *o, const char *name)
{
	for (const struct sym *s = o->syms; s != NULL && s->name != NULL; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

static struct object *
double_get(struct object *o)
{
	o->held++;
	return o;
}

static size_t
double_loads(struct addrspace *as, struct load *const **out)
{
	*out = as->loads;
	return as->n;
}

static struct proc *
double_next(struct super *su, const struct proc *prev)
{
	struct proc **p = su->procs;

	for (; prev != NULL && *p != NULL; p++)
		if (*p == prev)
			return p[1];
	return *p;
}

static struct proc *
double_proc(struct super *su, pid_t pid)
{
	for (struct proc **p = su->procs; *p != NULL; p++)
		if ((*p)->pid == pid)
			return *p;
	return NULL;
}

static unsigned made, destroyed; /* readers of types */

#define dwtypes_create(ts)         (made++, &the_dwarf)
#define ctftypes_create(ts)        (made++, &the_ctf)
#define dwtypes_destroy(x)         (destroyed++)
#define ctftypes_destroy(x)        (destroyed++)
#define dwarf_present(o)           ((o)->dwarf)
#define ctftypes_present(o)        ((o)->ctf)
#define dwarf_var(x, o, n, a, out) ((void)(x), double_var(o, n, a, "int", out))
#define ctftypes_var(x, o, n, a, out) \
	((void)(x), double_var(o, n, a, "short", out))
#define dwarf_type(x, o, n, out)     ((void)(x), double_type(o, n, out))
#define ctftypes_type(x, o, n, out)  ((void)(x), double_type(o, n, out))
#define dwarf_proto(x, o, a, n, out) ((void)(x), double_proto(o, "int", out))
#define ctftypes_proto(x, o, n, out) ((void)(x), double_proto(o, "short", out))
#define object_sym(o, n)             double_sym(o, n)
#define object_get(o)                double_get(o)
#define object_put(o)                ((o)->held--)
#define object_basename(o)           ((o)->name)
#define addrspace_loads(as, out)     double_loads(as, out)
#define load_matches(l, m)           (*(m) == '\0' || strcmp((l)->module, m) == 0)
#define super_next(su, p)            double_next(su, p)
#define super_proc(su, pid)          double_proc(su, pid)
#define cc_types(cc)                 types
#define progress(st, fmt, name)      (shown = (name))
#include "tracer/names/external.c"

/* ---- two processes: a library is first in the list of the second one ---- */

static const struct sym prog_syms[] = {
	{ .name = "count", .addr = 0x10, .kind = SYM_OBJECT },
	{ .name = "bare", .addr = 0x20, .kind = SYM_FUNC },
	{ .name = "mine", .addr = 0x28, .kind = SYM_TLS }, { 0 }
};
static const struct known prog_vars[] = { { .name = "count", .addr = 0x11 },
	{ .name = "hidden", .addr = 0x30, .type = "char" },
	{ .name = "away", .place = DWARF_NOWHERE },
	{ .name = "thread", .place = DWARF_THREAD },
	{ .name = "strange", .place = DWARF_UNSUPPORTED },
	{ .name = "declared", .place = DWARF_ELSEWHERE }, { 0 } };
static const struct sym lib_syms[] = {
	{ .name = "count", .addr = 0x40, .kind = SYM_OBJECT },
	{ .name = "declared", .addr = 0x50, .kind = SYM_OBJECT },
	{ .name = "away", .addr = 0x54, .kind = SYM_OBJECT }, /* another one */
	{ .name = "chosen", .addr = 0x58, .kind = SYM_IFUNC }, { 0 }
};
static const struct known lib_vars[] = { { .name = "declared" },
	{ .name = "x", .type = "long", .addr = 0x60 }, { 0 } };

static struct object prog, lib, late;
static struct load prog_load, lib_load, late_load, lib_load2;
static struct addrspace as1, as2;
static struct space space1, space2;
static struct proc proc1, proc2;

static void
setup(void)
{
	types = types_create(256);
	prog = (struct object){ .name = "prog",
		.dwarf = true,
		.syms = prog_syms,
		.vars = prog_vars };
	lib = (struct object){
		.name = "lib", .ctf = true, .syms = lib_syms, .vars = lib_vars
	};
	late = (struct object){ .name = "late", .vars = lib_vars };
	prog_load = (struct load){ .object = &prog,
		.module = "prog",
		.bias = 0x1000,
		.is_exec = true,
		.seen = true };
	lib_load = (struct load){
		.object = &lib, .module = "lib", .bias = 0x2000, .seen = true
	};
	lib_load2 = lib_load;
	lib_load2.bias = 0x3000;
	late_load = (struct load){
		.object = &late, .module = "late", .bias = 0x4000, .seen = true
	};
	as1 = (struct addrspace){ { &lib_load, &prog_load }, 2 };
	as2 = (struct addrspace){ { &lib_load2, &late_load }, 2 };
	space1.as = &as1;
	space2.as = &as2;
	proc1 = (struct proc){ .pid = 11, .space = &space1 };
	proc2 = (struct proc){ .pid = 12, .space = &space2 };
	super = (struct super){ { &proc2, &proc1 } };
	state.super = &super;
	state.named.pid = 11;
	made = destroyed = 0;
}

static void
teardown(void)
{
	parts_end(&state.parts);
	state.parts = (struct parts){ 0 };
	ck_assert_int_eq(prog.held, 0);
	ck_assert_int_eq(lib.held, 0);
	ck_assert_int_eq(late.held, 0);
	ck_assert_uint_eq(destroyed, made);
	types_destroy(types);
}

static struct world_symbol found;

static int
find(const char *object, const char *name)
{
	return external_symbol(&state, object, name, types, &found);
}

/* The symbol is found in that object, and has that address in that process. */
static void
check_found(const char *object, const char *name, const char *in,
    const struct space *sp, uint64_t addr)
{
	uint64_t at = 0;

	ck_assert_int_eq(find(object, name), 0);
	ck_assert_str_eq(found.object, in);
	ck_assert_ptr_null(found.why);
	ck_assert_int_eq(external_addr(&state, sp, found.ref, &at), 0);
	ck_assert_uint_eq(at, addr);
}

static void
check_missing(const char *object, const char *name, const char *why)
{
	ck_assert_int_eq(find(object, name), -ENOENT);
	if (why == NULL)
		ck_assert_ptr_null(found.why);
	else
		ck_assert_str_eq(found.why, why);
}

START_TEST(the_program_comes_first)
{
	check_found("", "count", "prog", &space1, 0x1010);
	ck_assert(!found.function);
	ck_assert_ptr_eq(found.type, types_lookup(types, "int"));
	ck_assert_uint_eq(asked_addr, 0x10);
	check_found("lib", "count", "lib", &space1, 0x2040);
	ck_assert_ptr_null(found.type);
	/* No symbol, but debug information. */
	check_found("", "hidden", "prog", &space1, 0x1030);
	ck_assert(!found.function);
	ck_assert_ptr_eq(found.type, types_lookup(types, "char"));
	ck_assert_uint_eq(asked_addr, UINT64_MAX);
	/* What is declared here is defined elsewhere. */
	check_found("", "declared", "lib", &space1, 0x2050);
	ck_assert_ptr_eq(found.type, types_lookup(types, "short"));
	ck_assert_str_eq(shown, "lib");
}
END_TEST

/* Of a function without debug information only the address is known. */
START_TEST(functions_have_a_type)
{
	check_found("", "bare", "prog", &space1, 0x1020);
	ck_assert(found.function);
	ck_assert_int_eq(found.type->kind, TYPE_FUNC);
	ck_assert(found.type->varargs);
	ck_assert_ptr_eq(found.type->base, types_lookup(types, "int"));
	check_found("", "chosen", "lib", &space1, 0x2058);
	ck_assert(found.function);
}
END_TEST

START_TEST(why_a_symbol_is_not_there)
{
	static const char *const thread =
	    "Thread-local variables cannot be read by name";

	check_missing("", "mine", thread);
	check_missing("", "thread", thread);
	check_missing("", "away", "The compiler optimised it away");
	check_missing("", "strange", "It has no fixed address");
	check_missing("", "nobody", NULL);
	check_missing("prog", "declared", NULL);
	check_missing("nolib", "count", "No object of that name is mapped");
	lib_load.seen = lib_load2.seen = false;
	check_missing("lib", "count", "No object of that name is mapped");
	state.super = NULL;
	check_missing("", "count", NULL);
}
END_TEST

START_TEST(other_targets_are_asked_too)
{
	check_found("late", "x", "late", &space2, 0x4060);
	/* The one that the user named comes first. */
	proc1.space = &space2;
	proc2.space = &space1;
	check_found("", "x", "lib", &space2, 0x3060);
	proc1.space = &space1;
	space1.as = NULL;
	proc2.space = &space2;
	check_found("", "x", "lib", &space2, 0x3060);
	/* It has ended. */
	state.named.pid = 13;
	check_found("", "x", "lib", &space2, 0x3060);
	space2.as = NULL;
	check_missing("", "x", NULL);
}
END_TEST

START_TEST(an_address_is_of_one_object)
{
	uint64_t at = 7, ref;

	ck_assert_int_eq(external_addr(&state, &space1, 0, &at), -ENOENT);
	ck_assert_int_eq(find("lib", "count"), 0);
	ref = found.ref;
	ck_assert_int_eq(find("", "count"), 0);
	ck_assert_uint_ne(found.ref, ref);
	/* This process does not map the program. */
	ck_assert_int_eq(
	    external_addr(&state, &space2, found.ref, &at), -ENOENT);
	ck_assert_int_eq(external_addr(&state, &space2, ref, &at), 0);
	ck_assert_uint_eq(at, 0x3040);
	/* One object has several symbols, and each one number. */
	ck_assert_int_eq(find("lib", "x"), 0);
	ck_assert_uint_eq(found.ref, 2);
	ck_assert_int_eq(find("lib", "count"), 0);
	ck_assert_uint_eq(found.ref, ref);
	ck_assert_int_eq(lib.held, 2);

	ck_assert_int_eq(external_addr(&state, &space1, 3, &at), -ENOENT);
	lib_load.seen = false;
	ck_assert_int_eq(external_addr(&state, &space1, ref, &at), -ENOENT);
	space2.as = NULL;
	ck_assert_int_eq(external_addr(&state, &space2, ref, &at), -ENOENT);
}
END_TEST

START_TEST(types_are_found_in_objects)
{
	struct type *t = NULL;

	ck_assert_int_eq(external_type(&state, "", "long", types, &t), 0);
	ck_assert_ptr_eq(t, types_lookup(types, "long"));
	ck_assert_str_eq(shown, "lib");
	ck_assert_int_eq(external_type(&state, "prog", "char", types, &t), 0);
	ck_assert_ptr_eq(t, types_lookup(types, "char"));
	ck_assert_int_eq(
	    external_type(&state, "prog", "long", types, &t), -ENOENT);
	state.super = NULL;
	ck_assert_int_eq(external_type(&state, "", "long", types, &t), -ENOENT);
}
END_TEST

/* CTF is asked where there is no DWARF. */
START_TEST(prototypes_are_found_in_objects)
{
	struct dwarf_proto p;

	ck_assert_int_eq(external_proto(&state, &prog, 0x20, "bare", &p), 0);
	ck_assert_ptr_eq(p.type, types_lookup(types, "int"));
	ck_assert_str_eq(shown, "prog");
	ck_assert_int_eq(external_proto(&state, &lib, 0x20, "bare", &p), 0);
	ck_assert_ptr_eq(p.type, types_lookup(types, "short"));
	ck_assert_int_eq(
	    external_proto(&state, &late, 0x20, "bare", &p), -ENOENT);
	ck_assert(external_present(&prog));
	ck_assert(external_present(&lib));
	ck_assert(!external_present(&late));
	/* One reader of each kind for the run. */
	ck_assert_ptr_eq(external_types(&state, types), &the_dwarf);
	ck_assert_uint_eq(made, 2);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { the_program_comes_first,
		functions_have_a_type, why_a_symbol_is_not_there,
		other_targets_are_asked_too, an_address_is_of_one_object,
		types_are_found_in_objects, prototypes_are_found_in_objects };

	return suite_run("external", setup, teardown, tests, ARRAY_SIZE(tests));
}
