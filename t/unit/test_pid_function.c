/*
 * tracer/prov/pid/ pid_function and pid_enable: which names of probes a description
 * means, which sites a function gets, and what becomes of an IFUNC when its
 * resolver returns.  The function's body and its object are doubles, so the files
 * themselves are included below.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/func.h"
#include "dlang/argloc.h"
#include "dlang/base/diag.h"
#include "dlang/base/str.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/names/bodies.h"
#include "tracer/names/prototype.h"
#include "tracer/prov/pid/pid_impl.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/site.h"

#define TEXT  UINT64_C(0x401000)
#define BIAS  UINT64_C(0x400000)
#define SPACE 7

/* push %rbp; mov %rsp, %rbp; pop %rbp; ret */
static const uint8_t own_code[] = { 0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3 };

static struct body body; /* of every function */
static int body_error, read_error;
static bool wants_exits;
static struct load file = { .bias = BIAS, .module = "a.out" };
static bool has_load;
static const struct sym *sym_here;
static bool has_fde;
static struct func_names known_names;
static bool has_names;
static struct str calls; /* sites, by name and offset */
static bool agrees;
static unsigned refused;

static int
double_bodies(bool exits, struct body *b)
{
	wants_exits = exits;
	*b = body;
	return body_error;
}

static int
double_range(uint64_t addr, uint64_t *start, uint64_t *end)
{
	if (!has_fde)
		return -ENOENT;
	*start = addr & ~UINT64_C(0xff);
	*end = *start + 0x80;
	return 0;
}

static int
read_code(void *ctx, uint64_t addr, void *buf, size_t len)
{
	ck_assert_uint_le(len, sizeof(own_code));
	memcpy(buf, own_code, len);
	return read_error;
}

static void
note(const char *what, uint64_t addr)
{
	str_printf(&calls, "%s@%lld ", what, (long long)(addr - TEXT));
}

static void
double_choosy(uint64_t addr, uint32_t nargs, const struct site_choice *c)
{
	static const char *const whens[] = { "always", "taken", "outside",
		"entry" };
	char how[64];

	ck_assert_uint_eq(nargs, 2);
	snprintf(how, sizeof(how), "%s%s%s", whens[c->when],
	    c->doors ? "+doors" : "", c->nranges > 0 ? "+ranges" : "");
	if (c->nranges > 0) {
		ck_assert_uint_eq(c->nranges, body.ranges.len);
		ck_assert_uint_eq(c->ranges[0].start, TEXT);
		ck_assert_uint_eq(c->ranges[0].end, TEXT + 6);
		if (c->nranges == 2) {
			ck_assert_uint_eq(c->ranges[1].start, 0x500000);
			ck_assert_uint_eq(c->ranges[1].end, 0x500010);
		}
	} else {
		ck_assert_ptr_null(c->ranges);
	}
	note(how, addr);
}

static void
double_jump(uint64_t addr, enum site_when when)
{
	note(when == SITE_LOOP ? "loop" : "door", addr);
}

static struct proc traced;
static struct space memory;
static struct thread thread;

static void
double_enable(struct state *st, struct probe *p,
    void (*one)(struct state *, struct proc *, struct probe *, struct place *))
{
	struct places *all = p->data;

	for (struct place *pl = all->first; pl != NULL; pl = pl->next)
		if (!pl->enabled) {
			pl->enabled = true;
			one(st, &traced, p, pl);
		}
}

static struct tracepoint watched;
static const struct arrival *hook; /* of the resolver's returns */
static bool no_tracepoint;

static struct tracepoint *
double_tracepoint(uint64_t addr)
{
	note("watch", addr);
	watched.addr = addr;
	return no_tracepoint ? NULL : &watched;
}

#define bodies_find(st, mem, l, start, end, exits, b) double_bodies(exits, b)
#define body_fini(b)                                  ((void)(b))
#define object_code_at(o, addr)                       sym_here
#define object_func_at(o, addr)                       ((void)(addr), sym_here)
#define object_fde_range(o, addr, lo, hi)             double_range(addr, lo, hi)
#define addrspace_load_at(as, addr)                   (has_load ? &file : NULL)
#define addrspace_id(as)                              SPACE
#define places_func_names(st, l, s)                   (has_names ? &known_names : NULL)
#define pid_args(st, p, pl, off, args)                ((void)(args), 2)
#define pid_place_agrees(st, p, at)                   agrees
#define prototype_refused(st, p)                      ((void)refused++)
#define places_enable(st, p, one)                     double_enable(st, p, one)
#define site_add(st, sp, addr, p, args, n)            note("plain", addr)
#define site_add_choosy(st, sp, addr, p, args, n, c)  double_choosy(addr, n, c)
#define site_add_jump(st, sp, addr, p, when)          double_jump(addr, when)
#define site_tracepoint(st, sp, addr, why) \
	((void)(why), double_tracepoint(addr))
#define site_tell(tp, arrival) ((void)(tp), (void)(hook = (arrival)))
#define sites_commit(st, sp)   str_add(&calls, "commit ")
#define thread_regs(th)        (&(th)->regs.user)
#include "tracer/prov/pid/pid_enable.c"
#include "tracer/prov/pid/pid_function.c"

static const struct provider pid = { .name = "pid", .enable = pid_enable };
static const struct provider other = { .name = "other" };
static struct state run;
static struct probe_desc desc = { .prov = "pid1", .mod = "", .func = "f" };
static const struct sym sym = { .name = "f", .addr = 0x1000, .size = 6 };
static struct pid_request request;

static struct body_range ranges[] = { { TEXT, TEXT + 6 },
	{ 0x500000, 0x500010 } };
static struct body_site exits[] = { { TEXT + 5, BODY_ALWAYS },
	{ TEXT + 4, BODY_TAKEN }, { TEXT + 1, BODY_OUTSIDE } };
static uint64_t loops[] = { TEXT + 4, TEXT + 1 };
static uint64_t doors[] = { TEXT - 0x100 };

static void
setup(void)
{
	probes_init(&run.probes);
	traced.space = &memory;
	traced.role.family = 1;
	memory.text.read = read_code;
	thread.proc = &traced;
	has_load = agrees = true;
	request = (struct pid_request){ .st = &run,
		.provider = &pid,
		.pd = &desc,
		.proc = &traced,
		.load = &file,
		.sym = &sym,
		.start = TEXT,
		.size = sizeof(own_code) };
	body.ranges.at = ranges;
	body.ranges.len = 1;
	body.exits.at = exits;
	body.exits.len = 1;
}

static void
free_data(struct probe *p)
{
	struct pid_probe *pp = p->data;

	vec_foreach(a, &pp->aliases)
		mem_free(*a);
	vec_fini(&pp->aliases);
	places_free(&pp->places);
	mem_free(pp);
}

static void
teardown(void)
{
	vec_foreach(p, &run.probes.list)
		if (*p != NULL && (*p)->provider == &pid)
			free_data(*p);
	pid_request_fini(&request);
	probes_fini(&run.probes);
	str_fini(&calls);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&calls), want);
	str_clear(&calls);
}

/* Publish what the name means, and enable it: the sites, probe by probe. */
static void
publish(const char *name)
{
	desc.name = name;
	ck_assert_int_eq(pid_parse_name(&request), 0);
	pid_publish_function(&request);
	vec_foreach(p, &run.probes.list) {
		str_printf(&calls, "%s: ", (*p)->name);
		pid_enable(&run, *p);
	}
}

static unsigned
probes(void)
{
	return (unsigned)run.probes.list.len;
}

/* ---- names ---- */

static void
means(const char *name, bool entry, bool ret, bool offsets, uint64_t offset)
{
	desc.name = name;
	ck_assert_int_eq(pid_parse_name(&request), 0);
	ck_assert_msg(request.entry == entry, "%s", name);
	ck_assert_msg(request.ret == ret, "%s", name);
	ck_assert_msg(request.offsets == offsets, "%s", name);
	ck_assert_uint_eq(request.offset, offset);
}

START_TEST(a_name_is_entry_return_or_an_offset)
{
	means("entry", true, false, false, UINT64_MAX);
	means("return", false, true, false, UINT64_MAX);
	means("1f", false, false, false, 0x1f);
	means("", true, true, true, UINT64_MAX);
	means("*", true, true, true, UINT64_MAX);
	means("e*", true, false, true, UINT64_MAX);
	means("r*n", false, true, true, UINT64_MAX);
}
END_TEST

START_TEST(any_other_name_is_an_error)
{
	struct diags d;

	desc.name = "enter";
	ck_assert_int_eq(pid_parse_name(&request), -EINVAL);
	desc.name = "ffffffffffffffff";
	ck_assert_int_eq(pid_parse_name(&request), -EINVAL);
	diags_init(&d);
	request.d = &d;
	desc.name = "enter";
	ck_assert_int_eq(pid_parse_name(&request), -EINVAL);
	ck_assert(d.any);
	ck_assert_ptr_nonnull(strstr(d.first.text, "enter is not a probe"));
	diags_fini(&d);
}
END_TEST

/* ---- the function ---- */

START_TEST(the_function_around_an_address)
{
	static const struct sym big = { .addr = 0x1200, .size = 0x44 };
	uint64_t start = 0;

	ck_assert_int_eq(pid_around(&request, 0x1234, &start), -ENOENT);
	has_fde = true;
	ck_assert_int_eq(pid_around(&request, 0x1234, &start), 0);
	ck_assert_uint_eq(start, 0x1200);
	ck_assert_uint_eq(request.size, 0x80);
	sym_here = &big;
	ck_assert_int_eq(pid_around(&request, 0x1234, &start), 0);
	ck_assert_uint_eq(start, 0x1200);
	ck_assert_uint_eq(request.size, 0x44);
}
END_TEST

START_TEST(how_large_a_function_is)
{
	static const struct sym at = { .addr = 0x1000, .size = 0x44 };
	static const struct sym around = { .addr = 0x0ff0, .size = 0x99 };

	ck_assert_int_eq(pid_measure(&request), -EAGAIN);
	sym_here = &at;
	ck_assert_int_eq(pid_measure(&request), 0);
	ck_assert_uint_eq(request.size, 0x44);
	/* Not at its begin: up to the end of the unwind entry. */
	sym_here = &around;
	ck_assert_int_eq(pid_measure(&request), -EAGAIN);
	has_fde = true;
	request.start = TEXT + 0x10;
	ck_assert_int_eq(pid_measure(&request), 0);
	ck_assert_uint_eq(request.size, 0x70);
	has_load = false;
	ck_assert_int_eq(pid_measure(&request), -EAGAIN);
}
END_TEST

/* ---- sites ---- */

START_TEST(entry_is_the_first_instruction)
{
	publish("entry");
	expect("entry: always@0 ");
	ck_assert(!wants_exits);
	ck_assert_str_eq(run.probes.list.at[0]->prov, "pid1");
	ck_assert_str_eq(run.probes.list.at[0]->mod, "a.out");
	ck_assert_str_eq(run.probes.list.at[0]->func, "f");
}
END_TEST

START_TEST(a_turn_of_a_loop_is_no_entry)
{
	body.loops.at = loops;
	body.loops.len = 2;
	publish("entry");
	expect("entry: entry@0 loop@4 loop@1 ");
}
END_TEST

START_TEST(returns_are_the_exits)
{
	body.exits.len = 3;
	body.ranges.len = 2;
	publish("return");
	expect("return: always@5 taken@4 outside+ranges@1 ");
	ck_assert(wants_exits);
	/* Only such an exit needs to know the ranges. */
	const struct pid_probe *pp = run.probes.list.at[0]->data;
	ck_assert_uint_eq(((struct pid_place *)pp->places.first)->nranges, 2);
}
END_TEST

START_TEST(a_function_in_one_piece_has_one_range)
{
	body.exits.len = 3;
	publish("return");
	expect("return: always@5 taken@4 outside+ranges@1 ");
}
END_TEST

START_TEST(without_an_exit_there_is_no_return)
{
	body.exits.len = 0;
	publish("return");
	ck_assert_uint_eq(probes(), 0);
}
END_TEST

START_TEST(who_comes_by_a_door_does_not_return)
{
	body.doors.at = doors;
	body.doors.len = 1;
	publish("return");
	expect("return: always+doors@5 door@-256 ");
}
END_TEST

START_TEST(an_offset_is_an_instruction)
{
	publish("4");
	expect("4: plain@4 ");
	ck_assert(request.found_offset);
}
END_TEST

START_TEST(between_two_instructions_is_none)
{
	publish("2");
	ck_assert_uint_eq(probes(), 0);
	ck_assert(!request.found_offset);
}
END_TEST

START_TEST(all_that_a_function_has)
{
	publish("");
	expect("entry: always@0 return: always@5 0: plain@0 1: plain@1 "
	       "4: plain@4 5: plain@5 ");
}
END_TEST

START_TEST(a_glob_of_names)
{
	publish("[e1]*");
	expect("entry: always@0 1: plain@1 ");
}
END_TEST

START_TEST(an_offset_that_is_known)
{
	desc.name = "*";
	ck_assert_int_eq(pid_parse_name(&request), 0);
	ck_assert_int_eq(pid_walk(&request), 0);
	ck_assert_uint_eq(request.insns.len, 4);
	/* A second walk begins anew. */
	ck_assert_int_eq(pid_walk(&request), 0);
	ck_assert_uint_eq(request.insns.len, 4);
	ck_assert_uint_eq(request.entries.len, 1);
	ck_assert_uint_eq(request.exits.len, 1);
	pid_publish_offset(&request, "some");
	ck_assert_uint_eq(probes(), 1);
	ck_assert_str_eq(run.probes.list.at[0]->name, "some");
}
END_TEST

START_TEST(of_code_that_cannot_be_read_there_is_the_entry)
{
	body_error = -EFAULT;
	publish("");
	expect("entry: always@0 ");
	ck_assert_ptr_nonnull(
	    strstr(pid_note(run.probes.list.at[0]), "entry fires again"));
}
END_TEST

START_TEST(so_it_is_of_code_of_no_object)
{
	has_load = false;
	publish("entry");
	expect("entry: always@0 ");
	ck_assert_int_eq(pid_walk(&request), -EAGAIN);
}
END_TEST

START_TEST(a_function_may_be_too_large)
{
	request.size = BODY_MOST + 1;
	means("4", false, false, false, 4);
	ck_assert_int_eq(pid_walk(&request), -EFBIG);
	request.size = sizeof(own_code);
	read_error = -EFAULT;
	ck_assert_int_eq(pid_walk(&request), -EFAULT);
	ck_assert_uint_eq(request.insns.len, 0);
}
END_TEST

START_TEST(code_that_is_cut_is_told)
{
	publish("*");
	vec_foreach(p, &run.probes.list)
		ck_assert_ptr_null(pid_note(*p));
	body.cut = true;
	request.start += 0x100;
	desc.func = "g";
	request.sym = &(struct sym){ .name = "g", .addr = 0x1100, .size = 6 };
	pid_publish_function(&request);
	ck_assert_ptr_nonnull(
	    strstr(pid_note(run.probes.list.at[probes() / 2]), "jumps back"));
	ck_assert_ptr_nonnull(
	    strstr(pid_note(run.probes.list.at[probes() / 2 + 1]), "A return"));
	ck_assert_ptr_null(pid_note(run.probes.list.at[probes() - 1]));
}
END_TEST

/* ---- places ---- */

static unsigned
places_of(const struct probe *p)
{
	const struct pid_probe *pp = p->data;
	unsigned n = 0;

	for (const struct place *pl = pp->places.first; pl != NULL;
	     pl = pl->next, n++) {
		ck_assert_uint_eq(pl->space, SPACE);
		ck_assert_ptr_eq(pl->load, &file);
	}
	ck_assert_int_eq(pp->places.family, 1);
	return n;
}

START_TEST(a_place_is_added_once)
{
	publish("entry");
	pid_publish_function(&request);
	ck_assert_uint_eq(probes(), 1);
	ck_assert_uint_eq(places_of(run.probes.list.at[0]), 1);
	request.start += 0x100; /* a static function of the same name */
	pid_publish_function(&request);
	ck_assert_uint_eq(places_of(run.probes.list.at[0]), 2);
	str_clear(&calls);
	pid_enable(&run, run.probes.list.at[0]);
	expect("always@256 ");
}
END_TEST

START_TEST(a_place_of_an_enabled_probe_is_enabled)
{
	publish("entry");
	str_clear(&calls);
	request.start += 0x100;
	run.probes.list.at[0]->image_ref = 5;
	pid_publish_function(&request);
	expect("always@256 ");
}
END_TEST

START_TEST(arguments_of_another_type_are_refused)
{
	agrees = false;
	publish("entry");
	expect("entry: ");
	ck_assert_uint_eq(refused, 1);
}
END_TEST

START_TEST(a_function_has_several_names)
{
	has_names = true;
	known_names.shown = "f(int)";
	known_names.all[0] = "f(int)";
	known_names.all[1] = "_Z1fi";
	publish("entry");
	struct probe *p = run.probes.list.at[0];
	const struct pid_probe *pp = p->data;
	ck_assert_str_eq(p->func, "f(int)");
	ck_assert_str_eq(p->also[1], "_Z1fi");
	/* The text that it was asked for by. */
	ck_assert_uint_eq(pp->aliases.len, 1);
	ck_assert_str_eq(pp->aliases.at[0], "f");
	pid_publish_function(&request);
	ck_assert_uint_eq(pp->aliases.len, 1);
	desc.func = "_Z1fi";
	pid_publish_function(&request);
	ck_assert_uint_eq(pp->aliases.len, 2);
	/* A glob is none, and its own name is none. */
	request.globs = true;
	desc.func = "f*";
	pid_publish_function(&request);
	request.globs = false;
	desc.func = "f(int)";
	pid_publish_function(&request);
	ck_assert_uint_eq(pp->aliases.len, 2);
	desc.func = "f";
}
END_TEST

START_TEST(a_function_without_a_name_is_aside)
{
	static const char *const also[] = { "sub_1000", NULL };

	request.aside = true;
	request.also = also;
	publish("entry");
	const struct pid_probe *pp = run.probes.list.at[0]->data;
	ck_assert(pp->aside);
	ck_assert_str_eq(run.probes.list.at[0]->also[0], "sub_1000");
}
END_TEST

static void
add_up(void *ctx, const struct load *l, uint64_t addr, enum probe_passes passes)
{
	ck_assert_ptr_eq(l, &file);
	*(uint64_t *)ctx += addr - TEXT;
	/* A loop to the entry is led past it. */
	ck_assert_int_eq(passes,
	    addr - TEXT == 5 || addr == TEXT ? PASSES_ALL :
		addr - TEXT == 4             ? PASSES_TAKEN :
					       PASSES_SOME);
}

START_TEST(sites_that_fire)
{
	uint64_t sum = 0;

	body.loops.at = loops;
	body.loops.len = 2;
	body.exits.len = 3;
	body.ranges.len = 2;
	body.doors.at = doors;
	body.doors.len = 1;
	publish("[er]*");
	pid_sites(run.probes.list.at[0], add_up, &sum);
	ck_assert_uint_eq(sum, 0);
	pid_sites(run.probes.list.at[1], add_up, &sum);
	ck_assert_uint_eq(sum, 5 + 4 + 1);
}
END_TEST

/* ---- an IFUNC ---- */

static void
add_pending(const char *name)
{
	desc.name = name;
	request.pending = true;
	pid_add_place(&request,
	    strcmp(name, "entry") == 0 ? PID_ENTRY : PID_RETURN, name, NULL, 0);
	request.pending = false;
}

START_TEST(its_resolver_is_watched)
{
	body.exits.len = 3;
	add_pending("entry");
	struct probe *p = run.probes.list.at[0];
	const struct pid_probe *pp = p->data;
	ck_assert_ptr_eq(((struct pid_place *)pp->places.first)->pending, &sym);
	p->image_ref = 5;
	pid_enable(&run, p);
	/* At its returns that are certain. */
	expect("watch@5 watch@4 ");
	ck_assert_ptr_nonnull(hook);
	/* It returns the function. */
	static const struct sym impl = { .addr = 0x2000, .size = 6 };
	sym_here = &impl;
	watched.addr = TEXT + 5;
	thread.regs.user.r[UREG_RESULT] = BIAS + 0x2000;
	ck_assert(!hook->keeps(&run, &thread, &watched));
	expect("always@4096 commit ");
	ck_assert_uint_eq(probes(), 1);
	ck_assert_uint_eq(places_of(p), 2);
}
END_TEST

START_TEST(a_resolver_that_cannot_be_watched)
{
	no_tracepoint = true;
	add_pending("return");
	pid_enable(&run, run.probes.list.at[0]);
	expect("watch@5 ");
	ck_assert_ptr_null(hook);
}
END_TEST

START_TEST(another_resolver_says_nothing_of_it)
{
	static const struct sym impl = { .addr = 0x2000, .size = 6 };
	bool fresh;

	add_pending("entry");
	struct probe *p = run.probes.list.at[0];
	p->image_ref = 5;
	pid_enable(&run, p);
	str_clear(&calls);
	sym_here = &impl;
	thread.regs.user.r[UREG_RESULT] = BIAS + 0x2000;
	/* A probe of another kind has other data. */
	probe_add(&run.probes, &other, "other", "", "", "x", &fresh)->data =
	    (void *)8;
	watched.addr = TEXT + 6;
	hook->keeps(&run, &thread, &watched);
	watched.addr = TEXT - 1;
	hook->keeps(&run, &thread, &watched);
	expect("commit commit ");
	((struct pid_probe *)p->data)->places.first->space = SPACE + 1;
	watched.addr = TEXT;
	hook->keeps(&run, &thread, &watched);
	expect("commit ");
	((struct pid_probe *)p->data)->places.first->space = SPACE;
	/* The first address is one of its own; where the function is not known,
	 * nothing is there. */
	sym_here = NULL;
	hook->keeps(&run, &thread, &watched);
	expect("commit ");
	sym_here = &impl;
	hook->keeps(&run, &thread, &watched);
	expect("always@4096 commit ");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_name_is_entry_return_or_an_offset,
		any_other_name_is_an_error,
		the_function_around_an_address,
		how_large_a_function_is,
		entry_is_the_first_instruction,
		a_turn_of_a_loop_is_no_entry,
		returns_are_the_exits,
		a_function_in_one_piece_has_one_range,
		without_an_exit_there_is_no_return,
		who_comes_by_a_door_does_not_return,
		an_offset_is_an_instruction,
		between_two_instructions_is_none,
		all_that_a_function_has,
		a_glob_of_names,
		an_offset_that_is_known,
		of_code_that_cannot_be_read_there_is_the_entry,
		so_it_is_of_code_of_no_object,
		a_function_may_be_too_large,
		code_that_is_cut_is_told,
		a_place_is_added_once,
		a_place_of_an_enabled_probe_is_enabled,
		arguments_of_another_type_are_refused,
		a_function_has_several_names,
		a_function_without_a_name_is_aside,
		sites_that_fire,
		its_resolver_is_watched,
		a_resolver_that_cannot_be_watched,
		another_resolver_says_nothing_of_it,
	};

	return suite_run(
	    "pid_function", setup, teardown, tests, ARRAY_SIZE(tests));
}
