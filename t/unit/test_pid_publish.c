/*
 * tracer/prov/pid/pid_publish: which functions of an object a description means,
 * and by which of their names.  The object is a list of symbols, so the file itself
 * is included below.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/glob.h"
#include "dlang/base/str.h"
#include "symbols/addrspace.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/progress.h"
#include "tracer/base/state.h"
#include "tracer/prov/pid/pid_impl.h"
#include "tracer/ptrace/proc.h"

#define BIAS UINT64_C(0x400000)

static struct sym functions[8];
static size_t n_functions;
static struct str calls; /* names with addresses of what was published */
static int ifunc_error, measure_error;
static const char *piece; /* the name of one */
static unsigned unnamed;

static int
double_ifunc(uint64_t *impl)
{
	*impl = BIAS + 0x5000;
	return ifunc_error;
}

static void
note(const char *what, const struct pid_request *r)
{
	str_printf(&calls, "%s%s@%llx+%llu ", what, r->sym->name,
	    (unsigned long long)(r->start - BIAS), (unsigned long long)r->size);
}

static int
double_measure(struct pid_request *r)
{
	r->size = 99;
	return measure_error;
}

#define object_funcs(o, out)     (*(out) = functions, n_functions)
#define object_is_text(o, addr)  ((addr) < 0x8000)
#define object_is_piece(o, name) (piece != NULL && strcmp(name, piece) == 0)
#define places_func_matches(st, l, s, func) \
	(*(func) == '\0' || glob_match(func, (s)->name))
#define addrspace_ifunc(as, l, s, out) double_ifunc(out)
#define pid_measure(r)                 double_measure(r)
#define pid_publish_function(r)        note("", r)
#define pid_add_place(r, kind, name, sites, n) \
	note((r)->pending ? name " of " : "!", r)
#define pid_publish_unnamed(r)        ((void)(r), (void)unnamed++)
#define pid_line_matches(p, func)     (strcmp(func, "f.c:1") == 0)
#define progress(st, ...)             ((void)(st))
#define progress_part(st, i, n, a, b) ((void)(i))
#include "tracer/prov/pid/pid_publish.c"

static struct load file = { .bias = BIAS, .module = "a.out" };
static struct space space1;
static struct proc proc1 = { .space = &space1 };
static struct probe_desc desc;
static struct pid_request request;

static void
setup(void)
{
	request = (struct pid_request){ .pd = &desc,
		.proc = &proc1,
		.load = &file,
		.entry = true,
		.ret = true };
}

static void
teardown(void)
{
	str_fini(&calls);
}

static struct sym *
add(const char *name, uint64_t addr)
{
	struct sym *s = &functions[n_functions++];

	*s = (struct sym){ .name = name, .addr = addr, .size = 16 };
	return s;
}

static void
means(const char *func, const char *want)
{
	desc.func = func;
	pid_publish_load(&request);
	ck_assert_str_eq(str_c(&calls), want);
	str_clear(&calls);
}

START_TEST(a_function_by_its_name)
{
	add("f", 0x1000);
	add("g", 0x2000);
	means("f", "f@1000+16 ");
	ck_assert_uint_eq(request.functions, 1);
	ck_assert(!request.globs);
	means("*", "f@1000+16 g@2000+16 ");
	ck_assert(request.globs);
	means("", "f@1000+16 g@2000+16 ");
	ck_assert(request.globs);
	means("h", "");
	ck_assert_uint_eq(request.functions, 5);
	/* Functions without a name are asked for each time. */
	ck_assert_uint_eq(unnamed, 4);
}
END_TEST

START_TEST(what_is_no_code_is_no_function)
{
	add("f", 0x1000)->size = 0;
	add("g", 0x9000);
	means("*", "");
	means("f", "");
	ck_assert_uint_eq(request.functions, 0);
}
END_TEST

START_TEST(globs_do_not_mean_pieces_and_start_up_code)
{
	add("_init", 0x1000);
	add("f.cold", 0x2000);
	add("_fini", 0x3000);
	add("f", 0x4000);
	piece = "f.cold";
	means("*", "f@4000+16 ");
	/* Who names them gets them. */
	means("_init", "_init@1000+16 ");
	means("_fini", "_fini@3000+16 ");
	means("f.cold", "f.cold@2000+16 ");
}
END_TEST

START_TEST(a_function_is_meant_once)
{
	add("a", 0x1000);
	add("b", 0x1000);
	means("*", "a@1000+16 ");
	/* The next description begins anew. */
	means("b", "b@1000+16 ");
	means("[ab]", "a@1000+16 ");
}
END_TEST

START_TEST(underscores_are_no_name_of_their_own)
{
	add("open", 0x1000);
	add("__open", 0x1000);
	add("_open", 0x1000);
	add("open64", 0x1000);
	means("_open", "open@1000+16 ");
	means("__open", "open@1000+16 ");
	means("open64", "open64@1000+16 ");
	means("open", "open@1000+16 ");
	/* Of another size, kind or place it is another function. */
	functions[0].size = 32;
	means("_open", "__open@1000+16 ");
	functions[0].size = 16;
	functions[0].kind = SYM_IFUNC;
	means("_open", "__open@1000+16 ");
	functions[0].kind = functions[1].kind;
	functions[0].addr = 0x900;
	means("__open", "__open@1000+16 ");
}
END_TEST

START_TEST(an_ifunc_is_where_it_was_resolved_to)
{
	add("impl", 0x5000);
	add("memcpy", 0x1000)->kind = SYM_IFUNC;
	means("memcpy", "memcpy@5000+99 ");
	/* Its name says more than that of the implementation. */
	means("*", "memcpy@5000+99 ");
	means("impl", "impl@5000+16 ");
}
END_TEST

START_TEST(one_that_is_not_resolved_is_promised)
{
	add("memcpy", 0x1000)->kind = SYM_IFUNC;
	ifunc_error = -EAGAIN;
	means("memcpy", "entry of memcpy@1000+16 return of memcpy@1000+16 ");
	ck_assert(!request.pending);
	request.ret = false;
	means("memcpy", "entry of memcpy@1000+16 ");
	request.ret = true;
	request.entry = false;
	means("memcpy", "return of memcpy@1000+16 ");
	/* So it is where nobody knows how large the function is. */
	ifunc_error = 0;
	measure_error = -EAGAIN;
	means("memcpy", "return of memcpy@5000+99 ");
	ck_assert_uint_eq(request.functions, 4);
}
END_TEST

START_TEST(names_that_match_a_probe)
{
	static char alias[] = "alias";
	struct pid_probe pp = { .kind = PID_ENTRY };
	const struct probe p = { .func = "f", .data = &pp };

	*vec_push(&pp.aliases) = alias;
	ck_assert(pid_function_matches(&p, "f"));
	ck_assert(pid_function_matches(&p, "alias"));
	ck_assert(!pid_function_matches(&p, "g"));
	ck_assert(!pid_function_matches(&p, "f.c:1"));
	pp.kind = PID_LINE;
	ck_assert(pid_function_matches(&p, "f"));
	ck_assert(pid_function_matches(&p, "f.c:1"));
	ck_assert(!pid_function_matches(&p, "alias"));
	vec_fini(&pp.aliases);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_function_by_its_name,
		what_is_no_code_is_no_function,
		globs_do_not_mean_pieces_and_start_up_code,
		a_function_is_meant_once,
		underscores_are_no_name_of_their_own,
		an_ifunc_is_where_it_was_resolved_to,
		one_that_is_not_resolved_is_promised,
		names_that_match_a_probe,
	};

	return suite_run(
	    "pid_publish", setup, teardown, tests, ARRAY_SIZE(tests));
}
