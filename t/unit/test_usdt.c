/*
 * tracer/prov/usdt.c: static probes that a file describes in notes: which
 * descriptions mean them, where their arguments are, and what is done in a
 * process when they are enabled.  Objects and processes are doubles.
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/str.h"
#include "dlang/cc/cc.h"
#include "symbols/addrspace.h"
#include "symbols/sdt.h"
#include "t/fake/world.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/places.h"
#include "tracer/sites/site.h"
#include "tracer/survive/semaphore.h"

#define BIAS UINT64_C(0x10000)

static struct state state;
static struct super *super = (struct super *)&state;
static struct space its_space;
static struct proc its_proc;
static struct load load = { .bias = BIAS,
	.start = BIAS,
	.end = BIAS + 0x10000,
	.module = "app",
	.seen = true };
static struct str done; /* what was done in the process */

static struct sdt_note all_notes[8];
static size_t n_notes;
static struct sdt_types declared;
static bool has_types, is_matched;
static struct sym function = { .name = "main", .addr = 0x100 };
static int grab_error;
static bool is_target; /* the named process is traced */
static bool is_child;  /* a child of it is */

static size_t
double_loads(struct load *const **out)
{
	static struct load *list[] = { &load };

	*out = list;
	return 1;
}

static size_t
double_notes(const struct sdt_note **out)
{
	*out = all_notes;
	return n_notes;
}

static int
double_types(const char *prov, const char *name, struct sdt_types *out)
{
	if (!has_types)
		return -ENOENT;
	ck_assert_str_eq(prov, "my-app");
	ck_assert_str_eq(name, "go-now");
	*out = declared;
	return 0;
}

static struct proc *
double_next(const struct proc *prev)
{
	return prev == NULL && (is_target || is_child) ? &its_proc : NULL;
}

static int
double_grab(pid_t pid, struct proc **out)
{
	ck_assert_int_eq(pid, its_proc.pid);
	*out = is_target ? &its_proc : NULL;
	return grab_error;
}

/* Three other processes, with numbers that no process has; the maps of the first
 * cannot be read. */
#define OTHER_PID 900000011
static int others[3];
static int held;
static int attach_error;

static void
double_candidates(struct pids *out)
{
	for (pid_t pid = OTHER_PID; pid < OTHER_PID + 3; pid++)
		*vec_push(&out->list) = pid;
}

static struct addrspace *
double_create(pid_t pid, const struct reader *mem)
{
	uint8_t byte;

	/* No memory of it is read. */
	ck_assert_int_ne(mem->read(mem->ctx, BIAS, &byte, 1), 0);
	held++;
	return (struct addrspace *)&others[pid - OTHER_PID];
}

static int
attach(struct state *st, pid_t pid, bool named, char *why, size_t size)
{
	ck_assert(!named);
	snprintf(why, size, "no");
	str_printf(&done, "attach %d; ", (int)pid);
	return attach_error;
}

static const struct drive_ops drive = { .attach = attach };

static void
double_site(uint64_t addr, const struct argloc *args, uint32_t n)
{
	str_printf(&done, "site %lx %u; ", (long)addr, n);
	ck_assert(n == 0 || args != NULL);
}

static void
double_enable(struct state *st, struct probe *p, place_enable *one)
{
	for (struct place *pl = ((struct places *)p->data)->first; pl != NULL;
	     pl = pl->next) {
		if (!pl->enabled)
			one(st, &its_proc, p, pl);
		pl->enabled = true;
	}
}

#define addrspace_loads(as, out)             double_loads(out)
#define addrspace_id(as)                     7
#define object_sdt_notes(o, out)             double_notes(out)
#define object_sdt_types(o, prov, f, n, out) double_types(prov, n, out)
#define object_code_at(o, addr)              ((addr) < 0x1000 ? &function : NULL)
#define object_is_data(o, addr, n)           ((addr) >= 0x8000 && (n) == 2)
#define object_sym(o, name)                  (strcmp(name, "var") == 0 ? &function : NULL)
#define load_matches(l, mod)                 (*(mod) == '\0' || strcmp(mod, (l)->module) == 0)
#define load_is_matched(l)                   is_matched
#define places_func_names(st, l, s)          NULL
#define places_func_matches(st, l, s, f)     glob_field(f, (s)->name)
#define places_enable(st, p, one)            double_enable(st, p, one)
#define site_add(st, sp, addr, p, args, n)   double_site(addr, args, n)
#define semaphore_raise(sp, addr)            str_printf(&done, "raise %lx; ", (long)(addr))
#define super_next(su, prev)                 double_next(prev)
#define site_grab(st, pid, at, d, out)       double_grab(pid, out)
#define super_candidates(su, out)            double_candidates(out)
#define addrspace_create(pid, mem)           double_create(pid, mem)
#define addrspace_put(as)                    ((void)(as), held--)
#define addrspace_refresh(as, each, ctx) \
	((int *)(as) == &others[0] ? -EPERM : 2)
#define addrspace_pid(as)                 ((pid_t)((int *)(as)-others) + OTHER_PID)
#define super_proc(su, pid)               ((pid) == OTHER_PID + 1 ? &its_proc : NULL)
#define progress_part(st, i, n, what, of) ((void)(i))
#include "tracer/prov/usdt.c"

static const struct provider *const all_of_them[] = { &prov_usdt, NULL };
static struct diags diags;

static void
setup(void)
{
	options_init(&state.opts);
	state.compiled.cc = cc_create(&fake_world, &state.opts);
	state.providers = all_of_them;
	state.super = super;
	state.named.any = true; /* so others are not searched */
	probes_init(&state.probes);
	diags_init(&diags);
	its_space.as = (struct addrspace *)&its_space;
	its_proc.space = &its_space;
	its_proc.pid = its_proc.role.family = getpid();
	its_proc.role.named = true;
	is_target = true;
	all_notes[0] = (struct sdt_note){ .provider = "my__app",
		.name = "go__now",
		.args = "-4@%edi 8@%rsi",
		.pc = 0x120 };
	n_notes = 1;
}

static void
teardown(void)
{
	probes_fini(&state.probes);
	cc_destroy(state.compiled.cc);
	options_fini(&state.opts);
	str_fini(&done);
}

/* Ask for the probes of a description; how many there are in all. */
static size_t
provide_four(
    const char *prov, const char *mod, const char *func, const char *name)
{
	const struct probe_desc pd = {
		.prov = prov, .mod = mod, .func = func, .name = name
	};

	ck_assert_int_eq(
	    prov_usdt.provide(&state, &pd, NULL, is_matched ? NULL : &diags),
	    0);
	return state.probes.list.len;
}

static const char *
own(const char *name)
{
	static char text[40];

	snprintf(text, sizeof(text), "%s%d", name, (int)getpid());
	return text;
}

static struct probe *
the_probe(void)
{
	ck_assert_uint_eq(provide_four("my-app*", "", "", ""), 1);
	return state.probes.list.at[0];
}

/* ---- descriptions ---- */

START_TEST(a_note_is_a_probe)
{
	const struct probe *p = the_probe();

	ck_assert_str_eq(p->prov, own("my-app"));
	ck_assert_str_eq(p->mod, "app");
	ck_assert_str_eq(p->func, "main");
	ck_assert_str_eq(p->name, "go-now");
	ck_assert_ptr_eq(p->provider, &prov_usdt);
	/* Once, however often it is asked for. */
	ck_assert_uint_eq(provide_four("my-app*", "", "", ""), 1);
}
END_TEST

START_TEST(which_descriptions_mean_it)
{
	ck_assert_uint_eq(provide_four("other*", "", "", ""), 0);
	ck_assert_uint_eq(provide_four("my-app*", "lib", "", ""), 0);
	ck_assert_uint_eq(provide_four("my-app*", "", "mai", ""), 0);
	ck_assert_uint_eq(provide_four("my-app*", "", "", "go"), 0);
	ck_assert_uint_eq(provide_four("my_app*", "", "", ""), 0);
	/* A process that is not there; no name; another provider's. */
	ck_assert_uint_eq(provide_four("my-app999999999", "", "", ""), 0);
	ck_assert_uint_eq(provide_four("1", "", "", ""), 0);
	ck_assert_uint_eq(provide_four("pid1", "", "", ""), 0);
	ck_assert_uint_eq(provide_four("my-app9999999999", "", "", ""), 0);
	ck_assert_uint_eq(
	    provide_four(own("my-app"), "app", "main", "go-*"), 1);
}
END_TEST

START_TEST(a_provider_without_the_number)
{
	ck_assert_uint_eq(provide_four("my-ap", "", "", ""), 0);
	ck_assert_uint_eq(provide_four("my-app", "", "", ""), 1);
	const struct probe *p = state.probes.list.at[0];
	ck_assert(prov_usdt.prov_matches(p, "my-app"));
	ck_assert(!prov_usdt.prov_matches(p, "my-ap"));
	ck_assert(!prov_usdt.prov_matches(p, ""));
	ck_assert(!prov_usdt.prov_matches(p, p->prov));
	char part[40];
	snprintf(part, sizeof(part), "%.*s", 7, p->prov);
	ck_assert(!prov_usdt.prov_matches(p, part));
}
END_TEST

START_TEST(a_probe_outside_of_any_function)
{
	all_notes[0].pc = 0x2000;
	ck_assert_uint_eq(provide_four("my-app*", "", "main", ""), 0);
	ck_assert_uint_eq(provide_four("my-app*", "", "", ""), 1);
	ck_assert_str_eq(state.probes.list.at[0]->func, "");
}
END_TEST

START_TEST(objects_that_are_not_looked_at)
{
	load.writable_text = true; /* its text is not changed */
	ck_assert_uint_eq(provide_four("my-app*", "", "", ""), 0);
	load.writable_text = false;
	load.seen = false;
	ck_assert_uint_eq(provide_four("my-app*", "", "", ""), 0);
	load.seen = true;
	is_matched = true; /* by all clauses, and there is no new one */
	ck_assert_uint_eq(provide_four("my-app*", "", "", ""), 0);
	is_matched = false;
	its_space.as = NULL;
	ck_assert_uint_eq(provide_four("my-app*", "", "", ""), 0);
	ck_assert_uint_eq(provide_four(own("my-app"), "", "", ""), 0);
	its_space.as = (struct addrspace *)&its_space;
	ck_assert_uint_eq(provide_four("my-app*", "", "", ""), 1);
}
END_TEST

START_TEST(processes_that_are_not_meant)
{
	its_proc.role.named = false;
	ck_assert_uint_eq(provide_four("my-app*", "", "", ""), 0);
	its_proc.role.found = true;
	ck_assert_uint_eq(provide_four("my-app*", "", "", ""), 1);
}
END_TEST

START_TEST(a_child_of_the_process)
{
	const struct probe_desc pd = { .prov = own("my-app"),
		.mod = "",
		.func = "",
		.name = "",
		.family = true };

	grab_error = 0;
	n_notes = 0;
	ck_assert_int_eq(prov_usdt.provide(&state, &pd, NULL, &diags), 0);
	n_notes = 1;
	grab_error = -ESRCH;
	ck_assert_int_eq(prov_usdt.provide(&state, &pd, NULL, &diags), -ESRCH);
	ck_assert_uint_eq(state.probes.list.len, 0);
	const struct probe_desc by_id = { .id = 3, .prov = own("my-app") };
	ck_assert_int_eq(prov_usdt.provide(&state, &by_id, NULL, &diags), 0);
}
END_TEST

/* ---- processes that the user has not named ---- */

static void
searches(const char *prov, const char *want)
{
	provide_four(prov, "", "", "");
	ck_assert_str_eq(str_c(&done), want);
	str_clear(&done);
	ck_assert_int_eq(held, 0);
}

START_TEST(processes_that_have_the_probe_are_attached)
{
	state.named.any = false;
	state.drive = &drive;
	state.output.err = stderr;
	its_proc.role.named = false;
	searches("my-app", "attach 900000012; attach 900000013; ");
	ck_assert(its_proc.role.found);
	ck_assert_uint_eq(state.probes.list.len, 1);
	/* Only those that have it are touched. */
	searches("other*", "");
	searches("my-app900000012", "");
	n_notes = 0;
	searches("my-app", "");
	n_notes = 1;
	its_proc.role.found = false;
	attach_error = -EPERM;
	option_parse(&state.opts, "quiet", false);
	searches("my-app", "attach 900000012; attach 900000013; ");
	ck_assert(!its_proc.role.found);
}
END_TEST

START_TEST(nobody_is_searched_for)
{
	state.drive = &drive;
	searches("my-app", ""); /* there are targets that the user has named */
	state.named.any = false;
	searches("", "");
	searches("usdt", ""); /* another provider's name */
	is_matched = true;    /* a later call */
	searches("my-app", "");
	is_matched = false;
	state.super = NULL;
	searches("my-app", "");
}
END_TEST

START_TEST(a_followed_child_has_its_parents_name)
{
	const struct probe_desc pd = { .prov = own("my-app"),
		.mod = "",
		.func = "",
		.name = "",
		.family = true };

	is_target = false; /* the parent has ended, its child is followed */
	is_child = true;
	its_proc.role.followed = true;
	ck_assert_int_eq(prov_usdt.provide(&state, &pd, NULL, &diags), 0);
	ck_assert_uint_eq(state.probes.list.len, 1);
	ck_assert_str_eq(state.probes.list.at[0]->prov, own("my-app"));
}
END_TEST

START_TEST(somebody_elses_child_has_not)
{
	const struct probe_desc pd = { .prov = own("my-app"),
		.mod = "",
		.func = "",
		.name = "",
		.family = true };

	is_target = false;
	is_child = true;
	ck_assert_int_eq(prov_usdt.provide(&state, &pd, NULL, &diags), 0);
	its_proc.role.followed = true;
	its_proc.role.family = 3;
	ck_assert_int_eq(prov_usdt.provide(&state, &pd, NULL, &diags), 0);
	ck_assert_uint_eq(state.probes.list.len, 0);
}
END_TEST

/* ---- arguments ---- */

static void
is_arg(unsigned n, const char *type, const char *otherwise, const char *to)
{
	struct probe_arg a;

	ck_assert(prov_usdt.arg(state.probes.list.at[0], n, &a));
	ck_assert_uint_eq(a.source, n);
	if (type == NULL)
		ck_assert_ptr_null(a.type);
	else
		ck_assert_str_eq(a.type, type);
	ck_assert_str_eq(a.otherwise, otherwise);
	if (to == NULL)
		ck_assert_ptr_null(a.translated);
	else
		ck_assert_str_eq(a.translated, to);
}

static const struct usdt_place *
the_place(void)
{
	const struct usdt_probe *up = the_probe()->data;

	ck_assert_ptr_nonnull(up->places.first);
	ck_assert_ptr_null(up->places.first->next);
	return (const void *)up->places.first;
}

START_TEST(operands_have_types_by_their_size)
{
	struct probe_arg a;

	all_notes[0].args =
	    "-4@%edi 8@%rsi -1@%dl 1@%cl -2@%ax 2@%bx 4@%r8d -8@%r9";
	const struct probe *p = the_probe();
	is_arg(0, NULL, "int", NULL);
	is_arg(1, NULL, "uint64_t", NULL);
	is_arg(2, NULL, "int8_t", NULL);
	is_arg(3, NULL, "uint8_t", NULL);
	is_arg(4, NULL, "int16_t", NULL);
	is_arg(5, NULL, "uint16_t", NULL);
	is_arg(6, NULL, "uint32_t", NULL);
	is_arg(7, NULL, "int64_t", NULL);
	ck_assert(!prov_usdt.arg(p, 8, &a));
}
END_TEST

static void
declare(const char *a, const char *b)
{
	has_types = true;
	declared = (struct sdt_types){ .nargs = 2,
		.args = { a, b },
		.nxargs = 2,
		.xargs = { "string", "long" },
		.map = { 1, 0 } };
}

START_TEST(declared_types_come_in_their_order)
{
	declare("short", "char *");
	const struct usdt_place *pl = the_place();
	is_arg(0, "char *", "uint64_t", "string");
	is_arg(1, "short", "int16_t", "long");
	ck_assert_uint_eq(pl->nargs, 2);
	/* args[0] is the second operand; the other is as wide as declared. */
	ck_assert_uint_eq(pl->args[0].size, 8);
	ck_assert_uint_eq(pl->args[1].size, 2);
	ck_assert(pl->args[1].is_signed);
}
END_TEST

START_TEST(a_narrow_operand_stays_as_it_is)
{
	declare("long", "unsigned long");
	const struct usdt_place *pl = the_place();
	ck_assert_uint_eq(pl->args[1].size, 4);
	ck_assert(pl->args[1].is_signed);
	ck_assert(!pl->args[0].is_signed);
}
END_TEST

START_TEST(a_sign_is_that_of_the_declaration)
{
	declare("unsigned int", "long");
	const struct usdt_place *pl = the_place();
	ck_assert(!pl->args[1].is_signed);
	ck_assert(pl->args[0].is_signed);
}
END_TEST

START_TEST(a_constant_is_converted)
{
	all_notes[0].args = "-4@$-1 8@%rsi";
	declare("unsigned char", "long");
	const struct usdt_place *pl = the_place();
	ck_assert_int_eq(pl->args[1].kind, ARGLOC_CONST);
	ck_assert_int_eq(pl->args[1].disp, 255);
}
END_TEST

START_TEST(an_argument_that_is_not_passed_is_zero)
{
	all_notes[0].args = "-4@%edi";
	declare("int", "long");
	const struct usdt_place *pl = the_place();
	ck_assert_int_eq(pl->args[0].kind, ARGLOC_ZERO);
	is_arg(0, "long", "int", "string");
	is_arg(1, "int", "int", "long");
}
END_TEST

START_TEST(an_operand_may_be_a_variable)
{
	all_notes[0].args = "-4@var(%rip)";
	const struct usdt_place *pl = the_place();
	ck_assert_uint_eq(pl->nargs, 1);
	/* Its address in memory, and no register. */
	ck_assert_int_eq(pl->args[0].kind, ARGLOC_MEM);
	ck_assert_uint_eq(pl->args[0].reg, ARGLOC_NOREG);
	ck_assert_int_eq(pl->args[0].disp, (int64_t)(BIAS + function.addr));
}
END_TEST

START_TEST(an_operand_that_is_not_known)
{
	struct probe_arg a;

	all_notes[0].args = "-4@nobody(%rip) 8@%rsi";
	declare("char", "char *");
	const struct usdt_place *pl = the_place();
	ck_assert_int_eq(pl->args[1].kind, ARGLOC_NONE);
	ck_assert(prov_usdt.arg(state.probes.list.at[0], 1, &a));
	ck_assert_ptr_null(a.otherwise);
	ck_assert_uint_eq(pl->args[0].size, 8); /* a pointer stays as it is */
	ck_assert(!pl->args[0].is_signed);
}
END_TEST

START_TEST(types_are_those_of_the_first_place)
{
	the_probe();
	all_notes[1] = all_notes[0];
	all_notes[1].pc = 0x140;
	all_notes[1].args = "-1@%dil";
	n_notes = 2;
	the_probe();
	is_arg(0, NULL, "int", NULL);
	is_arg(1, NULL, "uint64_t", NULL);
}
END_TEST

/* ---- enabling ---- */

static void
did(const char *want)
{
	ck_assert_str_eq(str_c(&done), want);
	str_clear(&done);
}

START_TEST(an_enabled_probe_has_its_semaphore_raised)
{
	all_notes[0].semaphore = 0x8010;
	struct probe *p = the_probe();
	did("");
	p->image_ref = 1;
	prov_usdt.enable(&state, p);
	did("site 10120 2; raise 18010; ");
	/* Another place, in code that was inlined, is enabled at once. */
	all_notes[1] = all_notes[0];
	all_notes[1].pc = 0x140;
	n_notes = 2;
	the_probe();
	did("site 10140 2; raise 18010; ");
	the_probe();
	did("");
}
END_TEST

START_TEST(a_wrong_note_writes_nowhere)
{
	all_notes[0].semaphore = 0x100; /* code */
	struct probe *p = the_probe();
	prov_usdt.enable(&state, p);
	did("site 10120 2; ");
}
END_TEST

/* An interpreter looks at it only if another probe is watched, too. */
START_TEST(a_probe_that_depends_on_another_one)
{
	load.module = "python3.11";
	all_notes[0].provider = "python";
	all_notes[0].name = "function__entry";
	all_notes[0].semaphore = 0x8010;
	all_notes[1] = all_notes[0];
	all_notes[1].name = "line";
	all_notes[1].semaphore = 0x8020;
	all_notes[1].pc = 0x140;
	all_notes[2] = all_notes[1];
	all_notes[2].provider = "other";
	all_notes[2].semaphore = 0x8030;
	struct sdt_note swap = all_notes[1];
	all_notes[1] = all_notes[2];
	all_notes[2] = swap;
	n_notes = 3;
	ck_assert_uint_eq(provide_four("python*", "", "", "function-entry"), 1);
	prov_usdt.enable(&state, state.probes.list.at[0]);
	did("site 10120 2; raise 18010; raise 18020; ");
	/* Not the line itself, nor other programs. */
	ck_assert_uint_eq(provide_four("python*", "", "", "line"), 2);
	prov_usdt.enable(&state, state.probes.list.at[1]);
	did("site 10140 2; raise 18020; ");
}
END_TEST

START_TEST(other_programs_do_not_depend)
{
	load.module = "python3.12";
	all_notes[0].provider = "python";
	all_notes[0].name = "function__entry";
	all_notes[1] = all_notes[0];
	all_notes[1].name = "line";
	all_notes[1].semaphore = 0x8020;
	n_notes = 2;
	ck_assert_uint_eq(provide_four("python*", "", "", "function-entry"), 1);
	prov_usdt.enable(&state, state.probes.list.at[0]);
	did("site 10120 2; ");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_note_is_a_probe,
		which_descriptions_mean_it,
		a_provider_without_the_number,
		a_probe_outside_of_any_function,
		objects_that_are_not_looked_at,
		processes_that_are_not_meant,
		a_child_of_the_process,
		processes_that_have_the_probe_are_attached,
		nobody_is_searched_for,
		a_followed_child_has_its_parents_name,
		somebody_elses_child_has_not,
		operands_have_types_by_their_size,
		declared_types_come_in_their_order,
		a_narrow_operand_stays_as_it_is,
		a_sign_is_that_of_the_declaration,
		a_constant_is_converted,
		an_argument_that_is_not_passed_is_zero,
		an_operand_may_be_a_variable,
		an_operand_that_is_not_known,
		types_are_those_of_the_first_place,
		an_enabled_probe_has_its_semaphore_raised,
		a_wrong_note_writes_nowhere,
		a_probe_that_depends_on_another_one,
		other_programs_do_not_depend,
	};

	return suite_run("usdt", setup, teardown, tests, ARRAY_SIZE(tests));
}
