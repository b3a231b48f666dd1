/*
 * dlang/jit/body.c: which clauses have a body, and what its caller is told of it.
 * What bodies do is compared with the VM by t/vm/bodies.c.
 */
#include <check.h>

#include "dlang/base/base.h"
#include "dlang/jit/jit.h"
#include "t/fake/env.h"
#include "t/unit/suite.h"

static struct kit kit;
static struct argloc args[VM_ARGS];
static struct jit_body body;
static bool pin;

static void
setup(void)
{
	kit_init(&kit);
	pin = true;
	for (unsigned i = 0; i < VM_ARGS; i++)
		args[i] = (struct argloc){
			.kind = ARGLOC_REG, .size = 8, .reg = UREG_RDI
		};
}

static void
teardown(void)
{
	kit_fini(&kit);
}

/* Have the clauses of the program a body on one probe?  The next program is
 * empty. */
static bool
has_body(void)
{
	static uint8_t code[8192];
	uint32_t nclauses = (uint32_t)kit.globals.clauses.len;

	kit_publish(&kit);
	const struct img_hdr *im = image_hdr(kit.im);
	uint32_t probe = image_add_probe(
	    kit.im, ++kit.next_probe, "prov", "mod", "func", "name", 0);
	body = (struct jit_body){ .image = kit.image,
		.nclauses = nclauses,
		.pins = pin ? ~0U : 0,
		.args = args,
		.nargs = VM_ARGS };
	for (uint32_t n = 0; n < nclauses; n++) {
		uint32_t epid = image_add_ecb(kit.im, probe, n, 0);
		const uint32_t *ecbs =
		    (const void *)(kit.image.base + im->ecbs_ref);
		const struct img_ecb *e =
		    (const void *)(kit.image.base + ecbs[epid]);
		if (n < JIT_BODY_CLAUSES)
			body.clauses[n] = e->clause_ref;
	}
	bool has = jit_body_plan(&body);
	size_t n = jit_body(&body, code, sizeof(code));
	ck_assert_int_eq(n > 0, has);
	/* Without room it is not written. */
	for (size_t size = 0; size < n; size += 16)
		ck_assert_uint_eq(jit_body(&body, code, size), 0);
	teardown();
	setup();
	return has;
}

static struct prog_act *
aggregate(enum dif_agg func, uint32_t key_size, struct difo *value)
{
	struct prog_act *a = kit_act(&kit, OP_AGG, value);

	a->arg = kit_agg(&kit, func, key_size, 0)->id;
	return a;
}

static void
key(struct difo *d, uint32_t off, uint32_t size)
{
	kit_rec(&kit, d, off, size, ACT_F_KEY);
}

/* A value that is stored in the variable. */
static struct difo *
assign(enum dif_scope scope, uint32_t id)
{
	return kit_difo(&kit,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_LDGS, DIF_VAR_ARG0, 1),
		DIF_INSTR_INDEX(
		    scope == DIF_LOCAL ? DIF_OP_STLS : DIF_OP_STTS, id, 1),
		DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    NULL, 0, NULL, 0);
}

static struct difo *
load(enum dif_scope scope, uint32_t id)
{
	return kit_difo(&kit,
	    KIT_TEXT(DIF_INSTR_INDEX(
			 scope == DIF_LOCAL ? DIF_OP_LDLS : DIF_OP_LDTS, id, 1),
		DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    NULL, 0, NULL, 0);
}

START_TEST(aggregations)
{
	kit_clause(&kit, NULL, 0);
	aggregate(AGG_COUNT, 0, NULL);
	ck_assert(has_body());
	ck_assert_uint_eq(body.reads, 0);
	/* Four, with keys of several members. */
	kit_clause(&kit, kit_load(&kit, DIF_VAR_ARG0 + 3), 0);
	for (unsigned n = 0; n < 4; n++) {
		key(kit_load(&kit, DIF_VAR_PID), 0, 4);
		key(kit_load(&kit, DIF_VAR_ARG0), 8, 8);
		aggregate(AGG_SUM, 16, kit_load(&kit, DIF_VAR_ARG0 + n));
	}
	ck_assert(has_body());
	ck_assert_uint_eq(body.reads, 15);
	/* Five. */
	kit_clause(&kit, NULL, 0);
	for (unsigned n = 0; n < 5; n++)
		aggregate(AGG_COUNT, 0, NULL);
	ck_assert(!has_body());
	/* A string of the image as a key, one that is pinned, one with an increment. */
	kit_clause(&kit, NULL, 0);
	kit_rec(&kit, kit_load(&kit, DIF_VAR_PROBEFUNC), 0, 32,
	    ACT_F_KEY | ACT_F_STRING);
	key(kit_load(&kit, DIF_VAR_ARG0), 32, 8);
	aggregate(AGG_COUNT, 40, NULL);
	ck_assert(!has_body());
	kit_clause(&kit, NULL, 0);
	kit_rec(&kit, kit_load(&kit, DIF_VAR_PROBEFUNC), 0, 32,
	    ACT_F_KEY | ACT_F_STRING);
	aggregate(AGG_COUNT, 32, NULL)->nkeys = 1;
	ck_assert(has_body());
	/* Where there is no pin for it: keys that are not integers. */
	pin = false;
	kit_clause(&kit, NULL, 0);
	kit_rec(&kit, kit_load(&kit, DIF_VAR_PROBEFUNC), 0, 32,
	    ACT_F_KEY | ACT_F_STRING);
	aggregate(AGG_COUNT, 32, NULL)->nkeys = 1;
	ck_assert(!has_body());
	pin = false;
	kit_clause(&kit, NULL, 0);
	aggregate(AGG_COUNT, 0, NULL);
	ck_assert(has_body());
	kit_clause(&kit, NULL, 0);
	aggregate(AGG_QUANTIZE, 0, kit_const(&kit, 1))->difo2 =
	    kit_const(&kit, 2);
	ck_assert(!has_body());
}
END_TEST

/* Gives the string at the address in an argument. */
static struct difo *
copyinstr(enum dif_subr subr)
{
	return kit_difo(&kit,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_LDGS, DIF_VAR_ARG0, 1),
		DIF_INSTR(DIF_OP_FLUSHTS, 0, 0, 0),
		DIF_INSTR(DIF_OP_PUSHTV, 0, 0, 1),
		DIF_INSTR_INDEX(DIF_OP_CALL, subr, 1),
		DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    NULL, 0, NULL, 0);
}

/* A count by this string, of so many bytes, and by a word behind it. */
static void
count_by(struct difo *d, uint32_t size, uint32_t key_size)
{
	kit_clause(&kit, NULL, 0);
	kit_rec(&kit, d, 0, size, ACT_F_KEY | ACT_F_STRING);
	if (key_size > 32 && size < 32)
		key(kit_load(&kit, DIF_VAR_ARG0), 32, 4);
	aggregate(AGG_COUNT, key_size, NULL);
}

START_TEST(strings)
{
	for (uint32_t size = 30; size <= 32; size++) {
		kit.opts.value[OPT_STRSIZE] = 30;
		count_by(copyinstr(DIF_SUBR_COPYINSTR), size, 32);
		ck_assert_int_eq(has_body(), size == 31);
	}
	for (uint32_t more = 4; more <= 8; more++) {
		kit.opts.value[OPT_STRSIZE] = 30;
		count_by(kit_load(&kit, DIF_VAR_ARG0), 31, 32 + more);
		/* The hash of the others is another one. */
		ck_assert_int_eq(has_body(), more == 8);
	}
	kit.opts.value[OPT_STRSIZE] = 30;
	count_by(copyinstr(DIF_SUBR_DIRNAME), 31, 32);
	ck_assert(!has_body());
	/* As long as the lane's stack has room. */
	kit.opts.value[OPT_STRSIZE] = 2040;
	count_by(kit_load(&kit, DIF_VAR_ARG0), 2041, 2048);
	ck_assert(has_body());
	kit.opts.value[OPT_STRSIZE] = 2048;
	count_by(kit_load(&kit, DIF_VAR_ARG0), 2049, 2056);
	ck_assert(!has_body());
}
END_TEST

START_TEST(variables)
{
	static const enum dif_scope scopes[] = { DIF_THREAD, DIF_LOCAL };

	for (unsigned i = 0; i < 2; i++) {
		kit_var(&kit, scopes[i], DIF_SCALAR, DIF_VAR_USER);
		kit_clause(&kit, load(scopes[i], DIF_VAR_USER), 0);
		kit_act(&kit, OP_EXPR, assign(scopes[i], DIF_VAR_USER));
		ck_assert(has_body());
	}
	/* Twice. */
	for (unsigned i = 0; i < 2; i++) {
		kit_var(&kit, scopes[i], DIF_SCALAR, DIF_VAR_USER);
		kit_clause(&kit, NULL, 0);
		kit_act(&kit, OP_EXPR, assign(scopes[i], DIF_VAR_USER));
		kit_act(&kit, OP_EXPR, assign(scopes[i], DIF_VAR_USER));
		ck_assert_int_eq(has_body(), scopes[i] == DIF_LOCAL);
	}
	/* By a predicate. */
	for (unsigned i = 0; i < 2; i++) {
		kit_var(&kit, scopes[i], DIF_SCALAR, DIF_VAR_USER);
		kit_clause(&kit, assign(scopes[i], DIF_VAR_USER), 0);
		aggregate(AGG_COUNT, 0, NULL);
		ck_assert_int_eq(has_body(), scopes[i] == DIF_LOCAL);
	}
	/* A string. */
	kit_ref_var(&kit, DIF_THREAD, DIF_SCALAR, DIF_VAR_USER, true, 32);
	kit_clause(&kit, NULL, 0);
	kit_act(&kit, OP_EXPR, assign(DIF_THREAD, DIF_VAR_USER));
	ck_assert(!has_body());
	/* Seven. */
	kit_clause(&kit, NULL, 0);
	for (uint32_t i = 0; i < 7; i++) {
		kit_var(&kit, DIF_LOCAL, DIF_SCALAR, DIF_VAR_USER + i);
		kit_act(&kit, OP_EXPR, assign(DIF_LOCAL, DIF_VAR_USER + i));
	}
	ck_assert(!has_body());
}
END_TEST

START_TEST(records)
{
	uint32_t off = sizeof(struct rec_hdr);

	kit_clause(&kit, NULL, off + 16);
	kit_rec(&kit, kit_load(&kit, DIF_VAR_ARG0), off, 8, 0);
	kit_rec(&kit, kit_load(&kit, DIF_VAR_TIMESTAMP), off + 8, 8, 0);
	kit_act(&kit, OP_MARK, NULL);
	ck_assert(has_body());
	/* The clock is a function. */
	ck_assert_uint_ne(body.changes & 1U << UREG_R11, 0);
	kit_clause(&kit, NULL, off + 32);
	kit_rec(&kit, kit_load(&kit, DIF_VAR_PROBEFUNC), off, 32, ACT_F_STRING);
	ck_assert(!has_body());
	kit_clause(&kit, NULL, 1032);
	kit_rec(&kit, kit_load(&kit, DIF_VAR_ARG0), off, 8, 0);
	ck_assert(!has_body());
	kit_clause(&kit, NULL, off + 8);
	kit_act(&kit, OP_STACK, NULL)->off = off;
	ck_assert(!has_body());
}
END_TEST

/* The clauses of one probe share the frame, and what a clause does at most once is
 * done once by all of them. */
START_TEST(clauses)
{
	uint32_t off = sizeof(struct rec_hdr);

	for (unsigned n = 1; n <= JIT_BODY_CLAUSES + 1; n++) {
		for (unsigned i = 0; i < n; i++) {
			kit_clause(
			    &kit, kit_load(&kit, DIF_VAR_ARG0 + i), off + 8);
			kit_rec(&kit, kit_load(&kit, DIF_VAR_ARG0), off, 8, 0);
		}
		ck_assert_int_eq(has_body(), n <= JIT_BODY_CLAUSES);
	}
	/* One of them can have none. */
	kit_clause(&kit, NULL, 0);
	aggregate(AGG_COUNT, 0, NULL);
	kit_clause(&kit, NULL, off + 8);
	kit_act(&kit, OP_STACK, NULL)->off = off;
	ck_assert(!has_body());
	/* Each has a key that is pinned. */
	for (unsigned n = 0; n < 2; n++) {
		kit_clause(&kit, NULL, 0);
		kit_rec(&kit, kit_load(&kit, DIF_VAR_PROBEFUNC), 0, 32,
		    ACT_F_KEY | ACT_F_STRING);
		aggregate(AGG_COUNT, 32, NULL)->nkeys = 1;
	}
	ck_assert(has_body());
	/* A variable of the thread is stored by both. */
	kit_var(&kit, DIF_THREAD, DIF_SCALAR, DIF_VAR_USER);
	for (unsigned n = 0; n < 2; n++) {
		kit_clause(&kit, NULL, 0);
		kit_act(&kit, OP_EXPR, assign(DIF_THREAD, DIF_VAR_USER));
	}
	ck_assert(!has_body());
	/* Five aggregations in two clauses. */
	for (unsigned n = 0; n < 5; n++) {
		if (n % 3 == 0)
			kit_clause(&kit, NULL, 0);
		aggregate(AGG_COUNT, 0, NULL);
	}
	ck_assert(!has_body());
}
END_TEST

START_TEST(arguments)
{
	args[1].kind = ARGLOC_MEM;
	kit_clause(&kit, kit_load(&kit, DIF_VAR_ARG0), 0);
	aggregate(AGG_COUNT, 0, NULL);
	ck_assert(has_body());
	args[1].kind = ARGLOC_MEM;
	kit_clause(&kit, kit_load(&kit, DIF_VAR_ARG0 + 1), 0);
	aggregate(AGG_COUNT, 0, NULL);
	ck_assert(!has_body());
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { aggregations, strings, variables,
		records, clauses, arguments };

	if (!jit_possible())
		return 77;
	return suite_run("jit_body", setup, teardown, tests, ARRAY_SIZE(tests));
}
