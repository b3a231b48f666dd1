/*
 * symbols/space/linkmap: where the run-time linker tells of its changes, in
 * programs at each stage of their start, whatever their memory says.  Loads and
 * their symbols are doubles, so the file itself is included below.
 */
#include <check.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/base.h"
#include "symbols/addrspace.h"
#include "symbols/elf/parts.h"
#include "symbols/linkmap.h"
#include "t/unit/suite.h"

#define EXEC   UINT64_C(0x400000)
#define LINKER UINT64_C(0x7f0000000000)
#define DYN    0x3000 /* the dynamic section of the program */
#define DEBUG  (LINKER + 0x2000)
#define BRK    (LINKER + 0x1000)

static struct load program = { .bias = EXEC,
	.start = EXEC,
	.end = EXEC + 0x10000,
	.seen = true };
static struct load interpreter = { .bias = LINKER,
	.start = LINKER,
	.end = LINKER + 0x10000,
	.seen = true,
	.is_interp = true };
static struct load *known[] = { &program, &interpreter };
static size_t n_known;
static bool has_exec, is_static;
static const char *interp;
static bool has_dynamic;
static uint64_t dynamic_size;

/* Memory: of the program's dynamic section, and of the linker's struct. */
static Elf64_Dyn dyn[520];
static struct r_debug debug;
static uint64_t pointer; /* musl's, at LINKER + 0x2800 */

static int
read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	if (addr >= EXEC + DYN && addr + len <= EXEC + DYN + sizeof(dyn))
		memcpy(buf, (char *)dyn + (addr - EXEC - DYN), len);
	else if (addr == DEBUG && len == sizeof(debug))
		memcpy(buf, &debug, len);
	else if (addr == LINKER + 0x2800 && len == sizeof(pointer))
		memcpy(buf, &pointer, len);
	else
		return -EFAULT;
	return 0;
}

static const struct reader target = { .read = read_memory };

/* The linker's symbols: its function, its struct, musl's pointer to that. */
static const char *brk_name, *debug_name, *pointer_name;

static const struct sym *
double_sym(const char *name)
{
	static struct sym s;

	if (brk_name != NULL && strcmp(name, brk_name) == 0)
		s.addr = 0x1000;
	else if (debug_name != NULL && strcmp(name, debug_name) == 0)
		s.addr = 0x2000;
	else if (pointer_name != NULL && strcmp(name, pointer_name) == 0)
		s.addr = 0x2800;
	else
		return NULL;
	return &s;
}

static const struct load *
double_load_at(uint64_t addr)
{
	for (size_t i = 0; i < n_known; i++)
		if (addr >= known[i]->start && addr < known[i]->end)
			return known[i];
	return NULL;
}

static uint64_t
double_dynamic(uint64_t *size)
{
	*size = dynamic_size;
	return has_dynamic ? DYN : 0;
}

#define addrspace_load_at(as, addr)  double_load_at(addr)
#define addrspace_loads(as, out)     (*(out) = known, n_known)
#define addrspace_exec(as)           (has_exec ? &program : NULL)
#define object_is_text(o, addr)      ((addr) == 0x1000)
#define object_dynamic_addr(o, size) double_dynamic(size)
#define object_sym(o, name)          double_sym(name)
#define object_interp(o)             interp
#define object_is_static(o)          is_static
#include "symbols/space/linkmap.c"

static struct linkmap lm;

static void
setup(void)
{
	n_known = 2;
	has_exec = has_dynamic = true;
	interp = "/lib/ld.so";
	dynamic_size = sizeof(dyn);
	for (size_t i = 0; i < ARRAY_SIZE(dyn); i++)
		dyn[i].d_tag = DT_NEEDED;
	dyn[3].d_tag = DT_DEBUG;
	dyn[3].d_un.d_ptr = DEBUG;
	debug.r_version = 1;
	debug.r_brk = BRK;
	brk_name = "_dl_debug_state";
	debug_name = "_r_debug";
	lm = (struct linkmap){ 1, 2 };
}

static int
find(void)
{
	return linkmap_find(NULL, &target, &lm);
}

static void
is_found(uint64_t r_debug, uint64_t brk)
{
	ck_assert_int_eq(find(), 0);
	ck_assert_uint_eq(lm.r_debug, r_debug);
	ck_assert_uint_eq(lm.brk_addr, brk);
}

START_TEST(a_program_that_runs_says_where)
{
	brk_name = debug_name = NULL; /* a linker without symbols */
	is_found(DEBUG, BRK);
}
END_TEST

START_TEST(before_it_runs_the_symbols_of_the_linker_do)
{
	dyn[3].d_un.d_ptr = 0;
	is_found(DEBUG, BRK);
	brk_name = "dl_debug_state"; /* of old ones */
	is_found(DEBUG, BRK);
	debug_name = NULL;
	is_found(0, BRK);
	/* Its text must be there. */
	brk_name = NULL;
	ck_assert_int_eq(find(), -ENOENT);
}
END_TEST

START_TEST(what_the_program_says_must_be_text)
{
	debug.r_brk = LINKER + 0x1001;
	is_found(DEBUG, BRK); /* by the symbols */
	debug.r_brk = BRK;
	brk_name = debug_name = NULL;
	is_found(DEBUG, BRK);
	interpreter.seen = false; /* it was unmapped */
	ck_assert_int_eq(find(), -ENOENT);
	interpreter.seen = true;
	debug.r_brk = 0x1000;
	ck_assert_int_eq(find(), -ENOENT);
	/* Memory that cannot be read. */
	dyn[3].d_un.d_ptr = 0x50;
	ck_assert_int_eq(find(), -ENOENT);
	ck_assert_uint_eq(lm.r_debug, 0);
}
END_TEST

START_TEST(the_dynamic_section_is_read_to_its_end)
{
	debug_name = NULL;
	dyn[2].d_tag = DT_NULL;
	is_found(0, BRK);
	dyn[2].d_tag = DT_NEEDED;
	dynamic_size = 3 * sizeof(dyn[0]);
	is_found(0, BRK);
	dynamic_size = 4 * sizeof(dyn[0]);
	is_found(DEBUG, BRK);
	has_dynamic = false;
	is_found(0, BRK);
}
END_TEST

/* A damaged one is not read for ever. */
START_TEST(but_not_beyond_what_one_may_have)
{
	debug_name = NULL;
	dyn[3].d_tag = DT_NEEDED;
	dyn[511] = (Elf64_Dyn){ DT_DEBUG, { DEBUG } };
	is_found(DEBUG, BRK);
	dyn[511].d_tag = DT_NEEDED;
	dyn[512] = (Elf64_Dyn){ DT_DEBUG, { DEBUG } };
	is_found(0, BRK);
}
END_TEST

START_TEST(musl_has_a_pointer_to_it)
{
	dyn[3].d_un.d_ptr = 0;
	debug_name = NULL;
	pointer_name = "_dl_debug_addr";
	pointer = DEBUG;
	is_found(DEBUG, BRK);
	pointer = 0x50; /* not relocated yet */
	is_found(0, BRK);
	/* The struct itself is preferred. */
	pointer = DEBUG + 8;
	debug_name = "_r_debug";
	is_found(DEBUG, BRK);
}
END_TEST

START_TEST(a_static_program_has_none)
{
	n_known = 1; /* no linker */
	interp = NULL;
	is_static = true;
	ck_assert_int_eq(find(), -ENOENT);
	ck_assert_uint_eq(lm.brk_addr, 0);
	/* It may be the linker itself, started by its name. */
	is_static = false;
	program.bias = program.start = LINKER;
	program.end = LINKER + 0x10000;
	dyn[3].d_tag = DT_NEEDED;
	has_dynamic = false;
	is_found(DEBUG, BRK);
	/* Not if it has a linker that is not mapped. */
	interp = "/lib/ld.so";
	ck_assert_int_eq(find(), -ENOENT);
	interp = NULL;
	has_exec = false;
	ck_assert_int_eq(find(), -ENOENT);
}
END_TEST

START_TEST(a_linker_that_was_unmapped_is_none)
{
	interpreter.seen = false;
	ck_assert_int_eq(find(), -ENOENT);
	interpreter.seen = true;
	interpreter.is_interp = false;
	ck_assert_int_eq(find(), -ENOENT);
}
END_TEST

START_TEST(without_the_program_the_linker_is_enough)
{
	has_exec = false;
	is_found(DEBUG, BRK);
}
END_TEST

static int
state_now(enum linkmap_state *state)
{
	const struct linkmap at = { .r_debug = DEBUG };

	return linkmap_state(&at, &target, state);
}

START_TEST(the_state_of_the_list)
{
	enum linkmap_state state;
	const struct linkmap nowhere = { .r_debug = 0x50 };
	const struct linkmap unknown = { .r_debug = 0 };

	debug.r_state = RT_CONSISTENT;
	ck_assert_int_eq(state_now(&state), 0);
	ck_assert_int_eq(state, LINKMAP_CONSISTENT);
	debug.r_state = RT_ADD;
	ck_assert_int_eq(state_now(&state), 0);
	ck_assert_int_eq(state, LINKMAP_ADD);
	debug.r_state = RT_DELETE;
	ck_assert_int_eq(state_now(&state), 0);
	ck_assert_int_eq(state, LINKMAP_DELETE);
	memset(&debug.r_state, 0x77, sizeof(debug.r_state));
	ck_assert_int_eq(state_now(&state), -EFAULT);
	debug.r_version = 0; /* not initialised */
	ck_assert_int_eq(state_now(&state), -EAGAIN);
	ck_assert_int_eq(linkmap_state(&unknown, &target, &state), -EAGAIN);
	ck_assert_int_eq(linkmap_state(&nowhere, &target, &state), -EFAULT);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_program_that_runs_says_where,
		before_it_runs_the_symbols_of_the_linker_do,
		what_the_program_says_must_be_text,
		the_dynamic_section_is_read_to_its_end,
		but_not_beyond_what_one_may_have,
		musl_has_a_pointer_to_it,
		a_static_program_has_none,
		a_linker_that_was_unmapped_is_none,
		without_the_program_the_linker_is_enough,
		the_state_of_the_list,
	};

	return suite_run("linkmap", setup, NULL, tests, ARRAY_SIZE(tests));
}
