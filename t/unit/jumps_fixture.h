/*
 * tracer/sites/jumps.c on doubles, with a space and threads to begin with.
 */
#ifndef T_UNIT_JUMPS_FIXTURE_H
#define T_UNIT_JUMPS_FIXTURE_H

#include "t/unit/jumps_doubles.h"
#include "t/unit/suite.h"
#include "tracer/sites/raising.c"

#include "tracer/sites/function.c"
#include "tracer/sites/jumps.c"

#define BUSY "a thread was within the bytes to be replaced\n"

static struct state st;
static struct space *const space = &spaces[0];

static struct tracepoint *
add(uint64_t addr)
{
	struct tracepoint *tp = &tps[n_tps];

	*tp = (struct tracepoint){ .addr = addr,
		.id = n_tps + 1,
		.len = 2,
		.state = TP_TRAP,
		.user = &users[n_tps] };
	users[n_tps++].sites = &one_site;
	return tp;
}

static void
setup(void)
{
	is_on = maps_memory = slot_knows = true;
	n_insns = 3;
	load = &file;
	funcs[0] = (struct sym){ .name = "f", .addr = 0x1000, .size = 0x100 };
	sym_here = &funcs[0];
	for (size_t i = 0; i < ARRAY_SIZE(procs); i++) {
		procs[i].space = &spaces[i];
		procs[i].pid = 100 + (pid_t)i;
		*vec_push(&spaces[i].procs) = &procs[i];
		spaces[i].tab = (struct tptable *)8; /* only passed on */
		spaces[i].mem.read = spaces[i].text.read = read_stack;
		threads[i].proc = &procs[0];
		threads[i].stop.state = TH_STOPPED;
	}
	*vec_push(&procs[0].threads) = &threads[0];
}

static void
teardown(void)
{
	for (unsigned i = 0; i < n_tps; i++)
		jump_free(users[i].jump);
	for (size_t i = 0; i < ARRAY_SIZE(procs); i++) {
		parts_end(&spaces[i].parts);
		vec_fini(&spaces[i].procs);
		vec_fini(&procs[i].threads);
	}
	str_fini(&notes);
	str_fini(&reserved);
}

static void
commit(void)
{
	jumps_prepare(&st, space);
	jumps_commit(&st, space);
}

/* Why there is no jump at the tracepoints: what the report says. */
static void
expect(const char *want)
{
	str_clear(&notes);
	jumps_account(&st, space);
	ck_assert_str_eq(str_c(&notes), want);
}

/* A tracepoint at another place has no jump, for this reason. */
static inline void
not_in(const char *why)
{
	static uint64_t at = TEXT;
	unsigned before = n_tps;
	char want[100];

	add(at += 0x20);
	jumps_prepare(&st, space);
	n_tps = before + 1;
	jumps_commit(&st, space);
	ck_assert_uint_eq(raised[before], 0);
	snprintf(want, sizeof(want), "%s\n", why);
	str_clear(&notes);
	jumps_account(&st, space);
	const char *last = str_c(&notes) + notes.len - strlen(want);
	ck_assert_str_eq(last, want);
}

/* Is the commit tried again at the next period of the timer? */
static bool
is_tried_again(void)
{
	unsigned before = stops;

	if (timer == NULL)
		jumps_start(&st, NULL, NULL);
	/* With auto there is no timer before a space has many hits. */
	if (timer != NULL)
		timer(&st, NULL, 0);
	return stops != before;
}

#endif
