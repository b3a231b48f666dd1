/*
 * tracer/prov/plock/ plock_lib: which object is the C library whose locks a
 * program uses, and in which of its functions a stack is.
 */
#include <check.h>
#include <string.h>

#include "symbols/addrspace.h"
#include "t/unit/suite.h"
#include "tracer/prov/plock/plock_impl.h"

#define LOADS 3
#define BIAS  UINT64_C(0x10000)

static struct load its_loads[LOADS], *list[LOADS];
static size_t n_loads;
static struct sym symbols[3];
static const char *glibc_has; /* a symbol of the library */
static bool no_text;
static struct plock_fn body;

static size_t
double_loads(struct load *const **out)
{
	*out = list;
	return n_loads;
}

#define addrspace_loads(as, out) double_loads(out)
#define object_funcs(o, out)     (*(out) = symbols, ARRAY_SIZE(symbols))
#define object_is_text(o, a)     (!no_text)
#define object_sym(o, n) \
	(glibc_has != NULL && strcmp(n, glibc_has) == 0 ? symbols : NULL)
#define plock_code_create(text, l)   ((void)(text), NULL)
#define plock_code_destroy(c)        ck_assert_ptr_null(c)
#define plock_code_body(c, a, out)   (*vec_push(out) = &body)
#define plock_code_unwinds(c, start) ((start) == BIAS + 0x100)
#include "tracer/prov/plock/plock_lib.c"

static void
setup(void)
{
	static const char *const names[] = { "pthread_mutex_lock",
		"pthread_mutex_unlock", "pthread_join" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		symbols[i] = (struct sym){ .name = names[i],
			.kind = SYM_FUNC,
			.addr = 0x100 * (i + 1) };
	body = (struct plock_fn){ .start = BIAS + 0x100, .end = BIAS + 0x110 };
	n_loads = 0;
	glibc_has = NULL;
	no_text = false;
}

static struct load *
object(const char *module)
{
	struct load *l = list[n_loads] = &its_loads[n_loads];

	n_loads++;
	*l = (struct load){ .module = module,
		.bias = BIAS,
		.start = BIAS,
		.end = BIAS + 0x1000,
		.seen = true };
	return l;
}

static const char *
library(void)
{
	const struct load *l = plock_library(NULL);

	return l != NULL ? l->module : "none";
}

START_TEST(the_library_is_known_by_its_name)
{
	static const char *const names[] = { "libc.so.6", "libc-2.31.so",
		"ld-musl-x86_64.so.1", "libpthread.so.0" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		n_loads = 0;
		object("libx.so");
		object(names[i]);
		ck_assert_str_eq(library(), names[i]);
	}
	n_loads = 1;
	ck_assert_str_eq(library(), "none");
}
END_TEST

START_TEST(threads_come_before_libc_before_the_program)
{
	object("prog")->is_exec = true;
	ck_assert_str_eq(library(), "prog");
	object("libc.so.6");
	ck_assert_str_eq(library(), "libc.so.6");
	object("libpthread-2.31.so");
	ck_assert_str_eq(library(), "libpthread-2.31.so");
	n_loads = 0;
	object("libc.so.6");
	object("prog")->is_exec = true;
	ck_assert_str_eq(library(), "libc.so.6");
}
END_TEST

START_TEST(a_library_has_locks_that_can_be_traced)
{
	struct load *l = object("libc.so.6");

	l->seen = false;
	ck_assert_str_eq(library(), "none");
	l->seen = l->writable_text = true;
	ck_assert_str_eq(library(), "none");
	l->writable_text = false;
	l->is_vdso = true;
	ck_assert_str_eq(library(), "none");
	l->is_vdso = false;
	for (int i = 0; i < 2; i++) {
		symbols[i].old_version = true;
		ck_assert_str_eq(library(), "none");
		symbols[i].old_version = false;
		symbols[i].kind = SYM_FUNC + 1;
		ck_assert_str_eq(library(), "none");
		symbols[i].kind = SYM_FUNC;
	}
	ck_assert_str_eq(library(), "libc.so.6");
	no_text = true;
	ck_assert_str_eq(library(), "none");
	ck_assert_ptr_null(plock_space_create(NULL, NULL));
}
END_TEST

START_TEST(which_library_it_is)
{
	static const char *const names[] = { "gnu_get_libc_version",
		"__lll_lock_wait", "__lll_lock_wait_private" };

	object("libc.so.6");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		glibc_has = names[i];
		struct plock_space *ps = plock_space_create(NULL, NULL);
		ck_assert(!ps->musl && !ps->lib->cond_calls);
		ck_assert_uint_eq(ps->lib->mutex_word, 0);
		plock_space_put(ps);
	}
	glibc_has = "other";
	struct plock_space *ps = plock_space_create(NULL, NULL);
	ck_assert(ps->musl && ps->lib->cond_calls);
	ck_assert_uint_eq(ps->lib->mutex_word, 4);
	ck_assert_ptr_eq(ps->load, &its_loads[0]);
	ck_assert(ps->unwinds);
	ck_assert_uint_eq(ps->refs, 1);
	for (size_t i = 0; i < plock_nrows; i++) {
		const char *func = plock_rows[i].func;
		uint64_t at = 0;
		for (size_t k = 0; k < ARRAY_SIZE(symbols); k++)
			if (strcmp(func, symbols[k].name) == 0)
				at = BIAS + symbols[k].addr;
		ck_assert_uint_eq(ps->funcs[i].start, at);
		ck_assert_uint_eq(ps->funcs[i].body.len, at != 0);
	}
	ps->refs++;
	plock_space_put(ps);
	ck_assert_uint_eq(ps->refs, 1);
	plock_space_put(ps);
	plock_space_put(NULL);
}
END_TEST

static bool
finds(struct plock_space *ps, uint32_t verbs, uint64_t a, uint64_t b,
    size_t caller)
{
	const uint64_t pcs[] = { a, b, 0x1 };
	struct plock_found f = { 99, 99 };
	bool found = plock_find(ps, verbs, pcs, 3, &f);

	ck_assert(!found || (f.row == 0 && f.caller == caller));
	return found;
}

START_TEST(a_stack_is_in_a_lock_function)
{
	object("libc.so.6");
	symbols[2].name = "other";
	struct plock_space *ps = plock_space_create(NULL, NULL);
	uint32_t locks = PLOCK_BIT(PLOCK_LOCK);
	uint64_t in = BIAS + 0x100, end = BIAS + 0x110;

	ck_assert(plock_covers(&ps->funcs[0], in));
	ck_assert(!plock_covers(&ps->funcs[0], in - 1));
	ck_assert(!plock_covers(&ps->funcs[0], end));
	ck_assert(finds(ps, locks, in, 1, 1));
	ck_assert(finds(ps, locks, end - 1, 1, 1));
	ck_assert(!finds(ps, locks, end, 1, 0));
	/* A return address may be behind the call that ends the function. */
	ck_assert(finds(ps, locks, BIAS + 0x800, end, 2));
	ck_assert(!finds(ps, locks, BIAS + 0x800, in, 0));
	ck_assert(finds(ps, locks, in, in + 1, 2));
	ck_assert(!finds(ps, locks, BIAS - 1, in + 1, 0));
	ck_assert(!finds(ps, locks, BIAS + 0x1000, in + 1, 0));
	ck_assert(finds(ps, locks, BIAS, in + 1, 2));
	ck_assert(finds(ps, locks, BIAS + 0xfff, in + 1, 2));
	ck_assert(!finds(ps, PLOCK_BIT(PLOCK_JOIN), in, 1, 0));
	/* The last frame has no caller. */
	struct plock_found f;
	ck_assert(!plock_find(ps, locks, &in, 1, &f));
	ck_assert(!plock_find(ps, locks, &in, 0, &f));
	plock_space_put(ps);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		the_library_is_known_by_its_name,
		threads_come_before_libc_before_the_program,
		a_library_has_locks_that_can_be_traced,
		which_library_it_is,
		a_stack_is_in_a_lock_function,
	};

	return suite_run("plock_lib", setup, NULL, tests, ARRAY_SIZE(tests));
}
