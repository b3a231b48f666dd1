/*
 * tracer/prov/pid/ pid: the processes and objects that a description means, and
 * what is said of one that means nothing.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "dlang/base/diag.h"
#include "dlang/base/glob.h"
#include "dlang/base/str.h"
#include "symbols/addrspace.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/prov/pid/pid_impl.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/site.h"

#define BIAS  UINT64_C(0x400000)
#define PROCS 3
#define LOADS 3

extern const struct provider its_prov; /* pid.c calls it prov_pid */
static struct state session;
static struct diags diags;
static struct proc procs[PROCS];
static struct space spaces[PROCS];
static struct load objects[LOADS], *list[LOADS];
static struct probe_desc desc;
static struct str done; /* what was published: "PROCESS:object " */
static bool matched[LOADS];
static bool is_source, has_offset, no_exec;
static int number_error, grab_error, name_error, source_error, unnamed_error;
static int walk_error;
static bool gone; /* site_grab() finds no process */
static uint64_t functions, size, offset;
static unsigned finished;

static struct proc *
double_next(const struct proc *prev)
{
	static unsigned asked;
	const struct proc *next = prev == NULL ? &procs[0] : prev + 1;

	ck_assert_uint_lt(asked++, 100); /* there is an end */
	return next < procs + PROCS ? (struct proc *)next : NULL;
}

static int
double_number(const char *prefix, const struct diags *d, pid_t *pid)
{
	ck_assert_str_eq(prefix, "pid");
	ck_assert_ptr_eq(d, &diags);
	*pid = 100;
	return number_error;
}

static int
double_grab(pid_t pid, struct proc **out)
{
	ck_assert_int_eq(pid, 100);
	*out = gone ? NULL : &procs[0];
	return grab_error;
}

static size_t
double_loads(struct load *const **out)
{
	*out = list;
	return LOADS;
}

static void
double_publish(struct pid_request *r, const char *how)
{
	ck_assert_ptr_eq(r->provider, &its_prov);
	ck_assert_ptr_eq(r->pd, &desc);
	ck_assert_ptr_eq(r->st, &session);
	r->functions += functions;
	r->found_offset = has_offset;
	r->size = size;
	str_printf(&done, "%d%s%s ", (int)r->proc->pid, how, r->load->module);
}

static void
double_source(struct pid_request *r)
{
	r->source.kind = is_source ? PID_LINE : PID_ENTRY;
}

static int
double_name(struct pid_request *r)
{
	r->offset = offset;
	return name_error;
}

static int
double_check(const struct pid_request *r, int error)
{
	str_printf(&done, "(%d) ", (int)r->loads);
	return error;
}

/* The one function is at 0x1000, of 0x40 bytes. */
static int
double_around(struct pid_request *r, uint64_t addr, uint64_t *start)
{
	*start = 0x1000;
	r->size = 0x40;
	return addr >= 0x1000 && addr < 0x1040 ? 0 : -ENOENT;
}

static int
double_walk(struct pid_request *r)
{
	r->found_offset = has_offset;
	return walk_error;
}

static void
double_offset(const struct pid_request *r, const char *name)
{
	str_printf(&done, "%d:%s %s %lx+%lx ", (int)r->proc->pid, r->sym->name,
	    name, (long)r->start, (long)r->offset);
}

#define super_next(su, p)                   double_next(p)
#define site_number(pd, prefix, at, d, pid) double_number(prefix, d, pid)
#define site_grab(st, pid, at, d, out)      double_grab(pid, out)
#define addrspace_loads(as, out)            double_loads(out)
#define addrspace_exec(as)                  (no_exec ? NULL : &objects[0])
#define load_matches(l, mod)                glob_field(mod, (l)->module)
#define load_is_matched(l)                  matched[(l)-objects]
#define pid_source_parse(r)                 double_source(r)
#define pid_source_publish(r)               double_publish(r, "@")
#define pid_publish_load(r)                 double_publish(r, ":")
#define pid_source_check(r)                 double_check(r, source_error)
#define pid_unnamed_check(r)                double_check(r, unnamed_error)
#define pid_parse_name(r)                   double_name(r)
#define pid_parse_hex(text, v)              (sscanf(text, "%lx", (unsigned long *)(v)) == 1)
#define pid_around(r, addr, start)          double_around(r, addr, start)
#define pid_walk(r)                         double_walk(r)
#define pid_publish_offset(r, name)         double_offset(r, name)
#define pid_request_fini(r)                 finished++
#define prov_pid                            its_prov
#include "tracer/prov/pid/pid.c"

static void
setup(void)
{
	static const char *const modules[] = { "prog", "liba.so", "libb.so" };

	options_init(&session.opts);
	diags_init(&diags);
	for (int i = 0; i < PROCS; i++) {
		procs[i].pid = 100 + i;
		procs[i].space = &spaces[i];
		procs[i].role.family = 100;
		spaces[i].as = (struct addrspace *)&spaces[i];
	}
	procs[0].role.named = true;
	procs[1].role.followed = true;
	for (int i = 0; i < LOADS; i++) {
		list[i] = &objects[i];
		objects[i].module = modules[i];
		objects[i].seen = true;
		objects[i].bias = BIAS;
		objects[i].start = BIAS;
		objects[i].end = BIAS + 0x2000;
	}
	desc = (struct probe_desc){
		.prov = "pid100", .mod = "", .func = "f", .name = "entry"
	};
	number_error = 1;
	functions = 1;
	offset = UINT64_MAX;
	has_offset = true;
}

static void
teardown(void)
{
	options_fini(&session.opts);
	diags_fini(&diags);
	str_fini(&done);
}

/* What the description publishes, or the error's text. */
static const char *
provided(void)
{
	str_clear(&done);
	diags_fini(&diags);
	diags_init(&diags);
	int error = its_prov.provide(&session, &desc, NULL, &diags);
	ck_assert_int_eq(error, diags.any ? -EINVAL : 0);
	return diags.any ? diags.first.text : str_c(&done);
}

START_TEST(a_number_means_one_process)
{
	ck_assert_str_eq(provided(), "100:prog 100:liba.so 100:libb.so (3) ");
	ck_assert_uint_eq(finished, 1);
	gone = true;
	ck_assert_str_eq(provided(), "");
	gone = false;
	number_error = 0;
	ck_assert_str_eq(provided(), "");
	number_error = 1;
	desc.prov = "proc100";
	ck_assert_str_eq(provided(), "");
	desc.prov = "pid100";
	desc.id = 7;
	ck_assert_str_eq(provided(), "");
}
END_TEST

START_TEST(an_error_ends_it)
{
	number_error = -EINVAL;
	ck_assert_int_eq(
	    its_prov.provide(&session, &desc, NULL, &diags), -EINVAL);
	number_error = 1;
	grab_error = -EPERM;
	ck_assert_int_eq(
	    its_prov.provide(&session, &desc, NULL, &diags), -EPERM);
	grab_error = 0;
	name_error = -EINVAL;
	desc.family = true;
	ck_assert_int_eq(
	    its_prov.provide(&session, &desc, NULL, &diags), -EINVAL);
	ck_assert_str_eq(str_c(&done), "");
	name_error = 0;
	unnamed_error = -ENOENT;
	ck_assert_int_eq(
	    its_prov.provide(&session, &desc, NULL, &diags), -ENOENT);
	ck_assert_ptr_null(strstr(str_c(&done), "101"));
	unnamed_error = 0;
	is_source = true;
	source_error = -ENOTDIR;
	ck_assert_int_eq(
	    its_prov.provide(&session, &desc, NULL, &diags), -ENOTDIR);
	desc.prov = "p*";
	procs[0].role.named = false;
	str_clear(&done);
	ck_assert_int_eq(
	    its_prov.provide(&session, &desc, NULL, &diags), -ENOTDIR);
	ck_assert_str_eq(str_c(&done), "101@prog 101@liba.so 101@libb.so (3) ");
}
END_TEST

START_TEST(descendants_are_meant_with_their_process)
{
	desc.mod = "prog";
	desc.family = true;
	ck_assert_str_eq(provided(), "100:prog (1) 101:prog (1) ");
	procs[2].role.followed = true;
	procs[2].role.family = 102;
	procs[1].role.followed = false;
	ck_assert_str_eq(provided(), "100:prog (1) ");
	procs[2].role.family = 100;
	ck_assert_str_eq(provided(), "100:prog (1) 102:prog (1) ");
	/* A function that a descendant lacks is no error. */
	gone = true;
	functions = 0;
	ck_assert_str_eq(provided(), "102:prog (1) ");
}
END_TEST

START_TEST(a_glob_means_named_and_followed_processes)
{
	desc.mod = "prog";
	desc.prov = "pid1*";
	ck_assert_str_eq(provided(), "100:prog (1) 101:prog (1) ");
	desc.prov = "pid2*";
	ck_assert_str_eq(provided(), "");
	desc.prov = "pid?02";
	procs[2].role.followed = true;
	procs[2].role.family = 102;
	ck_assert_str_eq(provided(), "102:prog (1) ");
}
END_TEST

START_TEST(objects_are_those_that_are_mapped_and_match)
{
	desc.mod = "lib*";
	ck_assert_str_eq(provided(), "100:liba.so 100:libb.so (2) ");
	objects[1].seen = false;
	ck_assert_str_eq(provided(), "100:libb.so (1) ");
	objects[2].writable_text = true;
	ck_assert_str_eq(provided(), "(0) ");
	spaces[0].as = NULL;
	desc.mod = "";
	ck_assert_str_eq(provided(), "(0) ");
}
END_TEST

/* Objects that were matched are matched again only for a new description. */
START_TEST(an_object_is_matched_once)
{
	matched[0] = matched[2] = true;
	ck_assert_str_eq(provided(), "100:prog 100:liba.so 100:libb.so (3) ");
	desc.prov = "pid*";
	desc.mod = "*";
	procs[1].role.followed = false;
	ck_assert_str_eq(provided(), "100:liba.so (1) ");
}
END_TEST

START_TEST(lines_are_published_otherwise)
{
	is_source = true;
	functions = 0;
	desc.mod = "prog";
	ck_assert_str_eq(provided(), "100@prog (1) ");
	ck_assert_uint_eq(finished, 1);
}
END_TEST

START_TEST(a_function_that_is_not_there_is_told)
{
	static const char *const may[][2] = { { "", "f" }, { "pr*", "f" },
		{ "prog", "" }, { "prog", "f*" }, { "nobody", "f" } };

	functions = 0;
	desc.mod = "prog";
	ck_assert_str_eq(provided(), "failed to lookup 'f' in module 'prog'");
	ck_assert_int_eq(diags.first.tag, D_PROC_FUNC);
	for (size_t i = 0; i < ARRAY_SIZE(may); i++) {
		desc.mod = may[i][0];
		desc.func = may[i][1];
		provided();
		ck_assert(!diags.any);
	}
	desc.mod = "prog";
	desc.func = "f";
	ck_assert_int_eq(option_set(&session.opts, "zdefs", NULL, false), 0);
	ck_assert_str_eq(provided(), "100:prog (1) ");
}
END_TEST

START_TEST(an_offset_that_is_no_instruction_is_told)
{
	offset = 0x3f;
	size = 0x40;
	desc.mod = "p*";
	has_offset = false;
	ck_assert_str_eq(
	    provided(), "offset 0x3f is not aligned on an instruction of 'f'");
	ck_assert_int_eq(diags.first.tag, D_PROC_ALIGN);
	offset = 0x40;
	ck_assert_str_eq(provided(), "offset 0x40 outside of function 'f'");
	ck_assert_int_eq(diags.first.tag, D_PROC_OFF);
	functions = 0;
	ck_assert_str_eq(provided(), "100:prog (1) ");
	functions = 1;
	has_offset = true;
	ck_assert_str_eq(provided(), "100:prog (1) ");
	has_offset = false;
	offset = UINT64_MAX;
	ck_assert_str_eq(provided(), "100:prog (1) ");
	/* Of a glob of processes nothing is said. */
	offset = 1;
	desc.prov = "pid*";
	ck_assert_str_eq(provided(), "100:prog (1) 101:prog (1) ");
}
END_TEST

START_TEST(an_address_is_in_the_file_or_in_memory)
{
	desc.func = "-";
	desc.name = "1004";
	ck_assert_str_eq(provided(), "100:- 1004 401000+4 ");
	ck_assert_uint_eq(finished, 1);
	desc.name = "401004";
	ck_assert_str_eq(provided(), "100:- 401004 401000+4 ");
	objects[0].start = BIAS + 0x1004;
	ck_assert_str_eq(provided(), "100:- 401004 401000+4 ");
	objects[0].start++;
	ck_assert_str_eq(
	    provided(), "address 0x401004 is in no known function of 'prog'");
	ck_assert_int_eq(diags.first.tag, D_PROC_OFF);
	objects[0].start = BIAS;
	objects[0].end = BIAS + 0x1004;
	ck_assert_str_eq(
	    provided(), "address 0x401004 is in no known function of 'prog'");
}
END_TEST

START_TEST(an_address_may_be_wrong)
{
	desc.func = "-";
	desc.name = "x";
	ck_assert_str_eq(provided(), "'x' is not an address in hexadecimal");
	ck_assert_int_eq(diags.first.tag, D_PROC_NAME);
	desc.name = "1004";
	desc.mod = "liba.so";
	ck_assert_str_eq(provided(),
	    "only the executable has probes by address, not 'liba.so'");
	ck_assert_int_eq(diags.first.tag, D_PROC_LIB);
	desc.mod = "prog";
	has_offset = false;
	ck_assert_str_eq(
	    provided(), "address 0x1004 is not that of an instruction");
	ck_assert_int_eq(diags.first.tag, D_PROC_ALIGN);
	has_offset = true;
	walk_error = -EIO;
	ck_assert_str_eq(
	    provided(), "address 0x1004 is not that of an instruction");
	no_exec = true;
	ck_assert_str_eq(provided(), "");
	no_exec = false;
	spaces[0].as = NULL;
	ck_assert_str_eq(provided(), "");
}
END_TEST

/* A program that a descendant executes has other addresses. */
START_TEST(an_address_is_of_the_program_that_was_named)
{
	desc.prov = "pid*";
	desc.func = "-";
	desc.name = "1004";
	ck_assert_str_eq(provided(), "");
	procs[1].role.launch = LAUNCH_AT_EXEC;
	ck_assert_str_eq(provided(), "101:- 1004 401000+4 ");
	desc.name = "2004";
	ck_assert_str_eq(provided(), "");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_number_means_one_process,
		an_error_ends_it,
		descendants_are_meant_with_their_process,
		a_glob_means_named_and_followed_processes,
		objects_are_those_that_are_mapped_and_match,
		an_object_is_matched_once,
		lines_are_published_otherwise,
		a_function_that_is_not_there_is_told,
		an_offset_that_is_no_instruction_is_told,
		an_address_is_in_the_file_or_in_memory,
		an_address_may_be_wrong,
		an_address_is_of_the_program_that_was_named,
	};

	return suite_run("pid", setup, teardown, tests, ARRAY_SIZE(tests));
}
