/*
 * dlang/vm/ecb.c: predicates, records, keys, faults and ERROR, exit() and the
 * activity, sites and tracepoints.
 */
#include <check.h>
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/vm/agg.h"
#include "t/fake/env.h"

static struct kit k;

static void
setup(void)
{
	kit_init(&k);
}

static void
teardown(void)
{
	kit_fini(&k);
}

static uint64_t
word(const void *rec, uint32_t off)
{
	uint64_t v;

	memcpy(&v, (const char *)rec + off, 8);
	return v;
}

/* A DIFO that faults with this address. */
static struct difo *
bad_load(uint64_t addr)
{
	return kit_difo(&k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
		DIF_INSTR(DIF_OP_LDX, 1, 0, 1), DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    &addr, 1, NULL, 0);
}

START_TEST(a_record_has_its_header_and_its_values)
{
	static const char bytes[8] = "\1\2\3\4\5\6\7";

	kit_clause(&k, NULL, 24 + 8 + 16 + 8 + 8);
	kit_rec(&k, kit_const(&k, 0x1122334455667788), 24, 4, 0);
	kit_rec(&k, kit_const(&k, 0x99aa), 28, 1, 0);
	kit_rec(&k, kit_string(&k, "a string too long for it"), 32, 16,
	    ACT_F_STRING);
	kit_rec(&k, kit_const(&k, FAKE_MEM_BASE), 48, 8, ACT_F_BYREF);
	kit_rec(&k, kit_const(&k, FAKE_MEM_BASE), 56, 8, ACT_F_STRING);
	kit_publish(&k);
	fake_env_put(&k.target, 0, bytes, 8);
	ecb_fire_probe(&k.env, kit_probe(&k, 0, 0, -1));

	const struct rec_hdr *r = kit_record(&k);
	ck_assert_ptr_nonnull(r);
	ck_assert_uint_eq(r->epid, 1);
	ck_assert_uint_eq(r->cpu, 3);
	ck_assert_uint_eq(r->pid, 4242);
	ck_assert_uint_eq(r->tid, 4243);
	ck_assert_uint_eq(r->timestamp, 123456789);
	const char *p = (const char *)r;
	ck_assert(memcmp(p + 24, "\x88\x77\x66\x55\xaa\0\0\0", 8) == 0);
	ck_assert_str_eq(p + 32, "a string too lo");
	ck_assert(memcmp(p + 48, bytes, 8) == 0);
	ck_assert(memcmp(p + 56, "\1\2\3\4\5\6\7\0", 8) == 0);
	ck_assert_ptr_null(kit_record(&k));
}
END_TEST

START_TEST(predicates_guard_each_clause)
{
	kit_clause(&k, kit_load(&k, DIF_VAR_ARG0), 24);
	kit_clause(&k, kit_load(&k, DIF_VAR_ARG1), 24);
	kit_clause(&k, NULL, 24);
	kit_publish(&k);
	uint32_t probe = kit_probe(&k, 0, 0, 1, 2, -1);
	for (uint64_t i = 0; i < 4; i++) {
		k.env.hit[0] = i & 1;
		k.env.hit[1] = i & 2;
		ecb_fire_probe(&k.env, probe);
		for (uint32_t epid = 1; epid <= 3; epid++) {
			if (epid < 3 && !(i & epid))
				continue;
			const struct rec_hdr *r = kit_record(&k);
			ck_assert_ptr_nonnull(r);
			ck_assert_uint_eq(r->epid, epid);
		}
		ck_assert_ptr_null(kit_record(&k));
	}
}
END_TEST

START_TEST(stacks_and_symbols_are_recorded)
{
	kit_clause(&k, NULL, 24 + 16 + 32 + 24);
	struct prog_act *a = kit_act(&k, OP_STACK, NULL);
	a->off = 24;
	a->arg = 4;
	kit_act(&k, OP_SYM, kit_const(&k, 0xabc))->off = 72;
	kit_publish(&k);
	k.target.nstack = 2;
	uint32_t probe = kit_probe(&k, 0, 0, -1);
	ecb_fire_probe(&k.env, probe);
	const char *r = kit_record(&k);
	const struct rec_stack *s = (const void *)(r + 24);
	ck_assert_uint_eq(s->pid, 4242);
	ck_assert_uint_eq(s->space, 7);
	ck_assert_uint_eq(s->pc[0], 0x1000);
	ck_assert_uint_eq(s->pc[1], 0x1001);
	ck_assert_uint_eq(s->pc[2], 0);
	ck_assert_uint_eq(s->pc[3], 0);
	const struct rec_sym *y = (const void *)(r + 72);
	ck_assert_uint_eq(y->pid, 4242);
	ck_assert_uint_eq(y->space, 7);
	ck_assert_uint_eq(y->addr, 0xabc);
}
END_TEST

START_TEST(aggregations_build_their_keys)
{
	kit_agg(&k, AGG_COUNT, 0, 0);
	kit_agg(&k, AGG_SUM, 16, 0);
	kit_agg(&k, AGG_QUANTIZE, 8, 0);
	kit_clause(&k, NULL, 0);
	kit_act(&k, OP_AGG, NULL)->arg = 1;
	kit_rec(&k, kit_load(&k, DIF_VAR_ARG0), 0, 8, ACT_F_KEY);
	kit_rec(&k, kit_string(&k, "keys"), 8, 8, ACT_F_KEY | ACT_F_STRING);
	kit_act(&k, OP_AGG, kit_load(&k, DIF_VAR_ARG1))->arg = 2;
	kit_rec(&k, kit_load(&k, DIF_VAR_ARG0), 0, 4, ACT_F_KEY);
	struct prog_act *a = kit_act(&k, OP_AGG, kit_load(&k, DIF_VAR_ARG1));
	a->arg = 3;
	a->difo2 = kit_load(&k, DIF_VAR_ARG2);
	kit_publish(&k);
	uint32_t probe = kit_probe(&k, 0, 0, -1);
	for (int i = 0; i < 3; i++) {
		k.env.hit[0] = 0xff00000001;
		k.env.hit[1] = 5;
		k.env.hit[2] = 4;
		ecb_fire_probe(&k.env, probe);
	}
	uint32_t cookie = 0;
	const struct agg_entry *e = agg_next(kit_view(&k), 0, &cookie);
	ck_assert_uint_eq(e->id, 1);
	ck_assert_uint_eq(word(e->data, 0), 3);
	e = agg_next(kit_view(&k), 0, &cookie);
	ck_assert_uint_eq(word(e->data, 0), 0xff00000001);
	ck_assert(memcmp(e->data + 8, "keys\0\0\0\0", 8) == 0);
	ck_assert_uint_eq(word(e->data, 16), 15);
	e = agg_next(kit_view(&k), 0, &cookie);
	ck_assert_uint_eq(word(e->data, 0), 1);
	ck_assert_uint_eq(word(e->data, 8 + 8 * 66), 12);
	ck_assert_ptr_null(agg_next(kit_view(&k), 0, &cookie));
	ck_assert_ptr_null(kit_record(&k));
}
END_TEST

START_TEST(a_fault_discards_the_record_and_fires_error)
{
	kit_agg(&k, AGG_COUNT, 0, 0);
	kit_clause(&k, NULL, 32); /* 0: faults in its third action */
	kit_act(&k, OP_AGG, NULL)->arg = 1;
	kit_rec(&k, kit_const(&k, 1), 24, 8, 0);
	kit_rec(&k, bad_load(0x10), 24, 8, 0);
	kit_act(&k, OP_AGG, NULL)->arg = 1;
	kit_clause(&k, bad_load(0), 24);  /* 1: in its predicate */
	kit_clause(&k, NULL, 24 + 8 * 6); /* 2: ERROR */
	for (uint32_t i = 0; i < 6; i++)
		kit_rec(&k, kit_load(&k, DIF_VAR_ARG0 + i), 24 + 8 * i, 8, 0);
	kit_clause(&k, NULL, 32); /* 3: runs after the others */
	kit_rec(&k, kit_load(&k, DIF_VAR_ARG0), 24, 8, 0);
	kit_publish(&k);
	kit_probe(&k, IMG_PROBE_ERROR, 2, -1); /* EPID 1 */
	uint32_t probe = kit_probe(&k, 0, 0, 1, 3, -1);
	k.env.hit[0] = 77;
	ecb_fire_probe(&k.env, probe);

	/* ERROR is told the probe and the clause. */
	static const uint64_t want[2][6] = {
		{ 0, 2, 0, 4, FLT_BADADDR, 0x10 },
		{ 0, 2, 1, 4, FLT_BADADDR, 0 },
	};
	static const uint32_t epids[2] = { 2, 3 }, actions[2] = { 3, 0 };
	for (int i = 0; i < 2; i++) {
		const struct rec_fault *f = kit_record(&k);
		ck_assert_uint_eq(f->hdr.epid, EPID_FAULT);
		ck_assert_uint_eq(f->epid, epids[i]);
		ck_assert_uint_eq(f->action, actions[i]);
		ck_assert_int_eq(f->offset, 4);
		ck_assert_uint_eq(f->code, FLT_BADADDR);
		ck_assert_uint_eq(f->value, want[i][5]);
		ck_assert_uint_eq(f->hdr.timestamp, 123456789);
		const struct rec_hdr *r = kit_record(&k);
		ck_assert_uint_eq(r->epid, 1);
		for (uint32_t j = 0; j < 6; j++)
			ck_assert_uint_eq(word(r, 24 + 8 * j), want[i][j]);
	}
	/* The firing goes on with its own arguments. */
	const struct rec_hdr *r = kit_record(&k);
	ck_assert_uint_eq(r->epid, 4);
	ck_assert_uint_eq(word(r, 24), 77);
	ck_assert_ptr_null(kit_record(&k));
	uint32_t cookie = 0;
	const struct agg_entry *e = agg_next(kit_view(&k), 0, &cookie);
	ck_assert_uint_eq(word(e->data, 0), 1); /* before the fault only */
}
END_TEST

START_TEST(a_fault_in_error_is_counted)
{
	kit_clause(&k, NULL, 24);
	kit_rec(&k, bad_load(8), 0, 0, 0);
	kit_publish(&k);
	uint32_t error = kit_probe(&k, IMG_PROBE_ERROR, 0, -1);
	uint32_t probe = kit_probe(&k, 0, 0, -1);
	ecb_fire_probe(&k.env, probe);
	const struct rec_fault *f = kit_record(&k);
	ck_assert_uint_eq(f->hdr.epid, EPID_FAULT);
	ck_assert_uint_eq(f->epid, 2);
	ck_assert_ptr_null(kit_record(&k));
	ck_assert_uint_eq(kit_lane(&k)->drops[DROP_DBLERROR], 1);
	ck_assert_uint_eq(k.env.depth, 0);
	(void)error;
}
END_TEST

START_TEST(null_strings_are_bad_addresses)
{
	kit_ref_var(&k, DIF_GLOBAL, DIF_SCALAR, 0x500, true, 32);
	kit_clause(&k, NULL, 24 + 32);
	kit_rec(&k, kit_load(&k, 0x500), 24, 32, ACT_F_STRING);
	kit_publish(&k);
	ecb_fire_probe(&k.env, kit_probe(&k, 0, 0, -1));
	const struct rec_fault *f = kit_record(&k);
	ck_assert_uint_eq(f->hdr.epid, EPID_FAULT);
	ck_assert_uint_eq(f->code, FLT_BADADDR);
	ck_assert_uint_eq(f->value, 0);
}
END_TEST

START_TEST(no_room_skips_the_whole_clause)
{
	kit_agg(&k, AGG_COUNT, 0, 0);
	k.sizes.bufsize = 64;
	kit_clause(&k, NULL, 48);
	kit_act(&k, OP_AGG, NULL)->arg = 1;
	kit_publish(&k);
	uint32_t probe = kit_probe(&k, 0, 0, -1);
	ecb_fire_probe(&k.env, probe);
	ecb_fire_probe(&k.env, probe);
	uint32_t cookie = 0;
	const struct agg_entry *e = agg_next(kit_view(&k), 0, &cookie);
	ck_assert_uint_eq(word(e->data, 0), 1);
	ck_assert_uint_eq(kit_lane(&k)->drops[DROP_PRINCIPAL], 1);
}
END_TEST

/* Which of BEGIN, an ordinary probe, END and ERROR fire, as bits. */
static unsigned
fires(enum activity activity, const uint32_t probes[4])
{
	unsigned mask = 0;

	store_hdr(&k.store)->activity = activity;
	for (unsigned i = 0; i < 4; i++) {
		ecb_fire_probe(&k.env, probes[i]);
		if (kit_record(&k) != NULL)
			mask |= 1U << i;
	}
	return mask;
}

START_TEST(the_activity_decides_who_fires)
{
	kit_clause(&k, NULL, 24);
	kit_publish(&k);
	const uint32_t probes[] = { kit_probe(&k, IMG_PROBE_BEGIN, 0, -1),
		kit_probe(&k, 0, 0, -1), kit_probe(&k, IMG_PROBE_END, 0, -1),
		kit_probe(&k, IMG_PROBE_ERROR, 0, -1) };

	ck_assert_uint_eq(fires(ACTIVITY_INACTIVE, probes), 0);
	ck_assert_uint_eq(fires(ACTIVITY_WARMUP, probes), 1 | 8);
	ck_assert_uint_eq(fires(ACTIVITY_ACTIVE, probes), 15);
	ck_assert_uint_eq(fires(ACTIVITY_DRAINING, probes), 4 | 8);
	ck_assert_uint_eq(fires(ACTIVITY_COOLDOWN, probes), 4 | 8);
	ck_assert_uint_eq(fires(ACTIVITY_STOPPED, probes), 0);
	ck_assert_uint_eq(fires((enum activity)99, probes), 0);
	image_probe_off(k.im, probes[1]);
	ck_assert_uint_eq(fires(ACTIVITY_ACTIVE, probes), 13);
}
END_TEST

START_TEST(exit_lets_its_clause_finish_and_no_other_run)
{
	struct store_hdr *h;

	kit_clause(&k, NULL, 40);
	kit_rec(&k, kit_load(&k, DIF_VAR_ARG0), 0, 0, 0);
	struct prog_act *a = kit_act(&k, OP_EXIT, kit_load(&k, DIF_VAR_ARG0));
	a->off = 24;
	a->size = 4;
	kit_rec(&k, kit_const(&k, 42), 32, 8, 0);
	kit_clause(&k, NULL, 24);
	kit_publish(&k);
	uint32_t probe = kit_probe(&k, IMG_PROBE_BEGIN, 0, 1, -1);
	uint32_t end = kit_probe(&k, IMG_PROBE_END, 1, 0, 1, -1);

	h = store_hdr(&k.store);
	h->activity = ACTIVITY_WARMUP;
	k.env.hit[0] = 5;
	ecb_fire_probe(&k.env, probe);
	ck_assert_uint_eq(h->activity, ACTIVITY_DRAINING);
	ck_assert_uint_eq(h->exit_called, 1);
	ck_assert_int_eq(h->exit_status, 5);
	const struct rec_hdr *r = kit_record(&k);
	ck_assert_uint_eq(r->epid, 1);
	ck_assert_uint_eq(word(r, 24), 5);
	ck_assert_uint_eq(word(r, 32), 42);
	ck_assert_ptr_null(kit_record(&k));
	ecb_fire_probe(&k.env, probe);
	ck_assert_ptr_null(kit_record(&k));

	h->activity = ACTIVITY_COOLDOWN;
	k.env.hit[0] = -1ULL;
	ecb_fire_probe(&k.env, end);
	ck_assert_int_eq(h->exit_status, -1);
	ck_assert_uint_eq(h->activity, ACTIVITY_COOLDOWN);
	for (uint32_t epid = 3; epid <= 5; epid++) {
		r = kit_record(&k);
		ck_assert_ptr_nonnull(r);
		ck_assert_uint_eq(r->epid, epid);
	}
}
END_TEST

START_TEST(control_is_asked_of_the_environment)
{
	static const struct {
		enum img_op op;
		int64_t arg;
		bool ok;
	} rows[] = {
		{ OP_STOP, 0, true },
		{ OP_RAISE, 15, true },
		{ OP_RAISE, 65, false },
		{ OP_RAISE, -1, false },
		{ OP_CHILL, 500000000, true },
		{ OP_CHILL, 500000001, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		kit_clause(&k, NULL, 0);
		kit_act(&k, rows[i].op,
		    rows[i].op == OP_STOP ? NULL : kit_const(&k, rows[i].arg));
	}
	kit_publish(&k);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t probe = kit_probe(&k, 0, (int)i, -1);
		k.target.control_op = -1;
		ecb_fire_probe(&k.env, probe);
		const struct rec_fault *f = kit_record(&k);
		ck_assert(rows[i].ok == (f == NULL));
		ck_assert_int_eq(
		    k.target.control_op, rows[i].ok ? (int)rows[i].op : -1);
		if (f != NULL)
			ck_assert_uint_eq(f->code, FLT_ILLOP);
		k.target.control_fails = true;
		ecb_fire_probe(&k.env, probe);
		ck_assert_ptr_nonnull(kit_record(&k));
		k.target.control_fails = false;
	}
}
END_TEST

START_TEST(tracepoints_fire_their_sites_in_order)
{
	static const struct argloc rdi = { ARGLOC_REG, 8, 0, UREG_RDI, 0, 0, 0,
		0, 0 };

	kit_clause(&k, NULL, 40);
	kit_rec(&k, kit_load(&k, DIF_VAR_ARG0), 24, 8, 0);
	kit_rec(&k, kit_load(&k, DIF_VAR_ID), 32, 8, 0);
	kit_publish(&k);
	uint32_t a = kit_probe(&k, 0, 0, -1), b = kit_probe(&k, 0, 0, -1);
	uint32_t args = image_add_args(k.im, &rdi, 1);
	uint32_t s = image_add_site(k.im, a, 5, args, 1);
	image_add_site(k.im, b, 5, 0, 0);
	k.env.hit[0] = 9;
	ecb_fire_tracepoint(&k.env, 5);
	const void *r = kit_record(&k);
	ck_assert_uint_eq(word(r, 24), 0x100 + UREG_RDI);
	ck_assert_uint_eq(word(r, 32), 1);
	r = kit_record(&k);
	ck_assert_uint_eq(word(r, 24), 0); /* a site without arguments */
	ck_assert_uint_eq(word(r, 32), 2);
	ck_assert_ptr_null(kit_record(&k));

	ecb_fire_site(&k.env, s);
	ck_assert_uint_eq(word(kit_record(&k), 32), 1);
	image_remove_site(k.im, s, 5);
	ecb_fire_tracepoint(&k.env, 5);
	ck_assert_uint_eq(word(kit_record(&k), 32), 2);
	ecb_fire_tracepoint(&k.env, 6);
	ecb_fire_tracepoint(&k.env, 0);
	ecb_fire_tracepoint(&k.env, 0xffffffff);
	ecb_fire_site(&k.env, 0);
	ecb_fire_probe(&k.env, 0);
	ck_assert_ptr_null(kit_record(&k));
}
END_TEST

static uint32_t left; /* the ECB that was left to the tracer */
static unsigned lefts;

static void
leave_to_tracer(struct vm_env *env, uint32_t ecb_ref)
{
	left = ecb_ref;
	lefts++;
}

/* A tracepoint's clauses: one sets this->x; actions of the next need the
 * tracer; the last records this->x. */
START_TEST(actions_may_be_left_to_the_tracer)
{
	static const uint64_t seven = 7;
	struct vm_ops inside = fake_env_ops;

	inside.rest = leave_to_tracer;
	kit_var(&k, DIF_LOCAL, DIF_SCALAR, 0x500);
	kit_clause(&k, NULL, 0);
	kit_act(&k, OP_EXPR,
	    kit_difo(&k,
		KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
		    DIF_INSTR_INDEX(DIF_OP_STLS, 0x500, 1),
		    DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
		&seven, 1, NULL, 0));
	kit_clause(&k, kit_load(&k, DIF_VAR_ID), 32);
	kit_rec(&k,
	    kit_difo(&k,
		KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_LDLS, 0x500, 1),
		    DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
		NULL, 0, NULL, 0),
	    24, 8, 0);
	kit_act(&k, OP_RAISE, kit_const(&k, 10));
	kit_clause(&k, kit_const(&k, 0), 24);
	kit_act(&k, OP_RAISE, kit_const(&k, 11));
	kit_clause(&k, NULL, 24);
	kit_publish(&k);
	uint32_t probe = kit_probe(&k, 0, 0, 1, 2, 3, -1);
	uint32_t other = kit_probe(&k, 0, 1, -1);
	uint32_t s = image_add_site(k.im, probe, 5, 0, 0);
	uint32_t s2 = image_add_site(k.im, other, 6, 0, 0);

	k.env.ops = &inside;
	ecb_fire_tracepoint(&k.env, 5);
	ck_assert_uint_eq(lefts, 1);
	ck_assert_uint_eq(k.env.site_ref, s);
	ck_assert_int_eq(k.target.control_op, -1);
	ck_assert_uint_eq(((const struct rec_hdr *)kit_record(&k))->epid, 4);
	ck_assert_ptr_null(kit_record(&k));

	/* Not of this site; of no site; not an ECB. */
	k.env.ops = &fake_env_ops;
	ecb_fire_rest(&k.env, s2, left);
	ecb_fire_rest(&k.env, 0, left);
	ecb_fire_rest(&k.env, s, left + 1);
	ecb_fire_rest(&k.env, s, 0);
	ck_assert_int_eq(k.target.control_op, -1);

	k.env.scratch_used = 64;
	ecb_fire_rest(&k.env, s, left);
	ck_assert_int_eq(k.target.control_op, OP_RAISE);
	ck_assert_int_eq(k.target.control_arg, 10);
	const struct rec_hdr *r = kit_record(&k);
	ck_assert_uint_eq(r->epid, 2);
	ck_assert_uint_eq(word(r, 24), 7); /* set by the firing's first part */
	ck_assert_uint_eq(k.env.scratch_used, 0);
	ck_assert_ptr_null(kit_record(&k));

	/* After exit() in between, nothing fires. */
	store_hdr(&k.store)->activity = ACTIVITY_DRAINING;
	k.target.control_op = -1;
	ecb_fire_rest(&k.env, s, left);
	ck_assert_int_eq(k.target.control_op, -1);
}
END_TEST

START_TEST(scratch_lasts_for_a_clause)
{
	static const uint64_t ints[] = { 3000 };

	kit_clause(&k, NULL, 0);
	kit_rec(&k,
	    kit_difo(&k,
		KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
		    DIF_INSTR(DIF_OP_ALLOCS, 1, 0, 1),
		    DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
		ints, 1, NULL, 0),
	    0, 0, 0);
	kit_clause(&k, NULL, 0);
	for (int i = 0; i < 2; i++)
		kit_rec(&k,
		    kit_difo(&k,
			KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
			    DIF_INSTR(DIF_OP_ALLOCS, 1, 0, 1),
			    DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
			ints, 1, NULL, 0),
		    0, 0, 0);
	kit_publish(&k);
	uint32_t twice = kit_probe(&k, 0, 0, 0, -1);
	uint32_t both = kit_probe(&k, 0, 1, -1);
	ecb_fire_probe(&k.env, twice);
	ck_assert_ptr_null(kit_record(&k));
	ecb_fire_probe(&k.env, both);
	const struct rec_fault *f = kit_record(&k);
	ck_assert_uint_eq(f->code, FLT_NOSCRATCH);
	ck_assert_uint_eq(f->epid, 3);
	ck_assert_ptr_null(kit_record(&k));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("ecb");
	TCase *tc = tcase_create("ecb");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_record_has_its_header_and_its_values);
	tcase_add_test(tc, predicates_guard_each_clause);
	tcase_add_test(tc, stacks_and_symbols_are_recorded);
	tcase_add_test(tc, aggregations_build_their_keys);
	tcase_add_test(tc, a_fault_discards_the_record_and_fires_error);
	tcase_add_test(tc, a_fault_in_error_is_counted);
	tcase_add_test(tc, null_strings_are_bad_addresses);
	tcase_add_test(tc, no_room_skips_the_whole_clause);
	tcase_add_test(tc, the_activity_decides_who_fires);
	tcase_add_test(tc, exit_lets_its_clause_finish_and_no_other_run);
	tcase_add_test(tc, control_is_asked_of_the_environment);
	tcase_add_test(tc, tracepoints_fire_their_sites_in_order);
	tcase_add_test(tc, actions_may_be_left_to_the_tracer);
	tcase_add_test(tc, scratch_lasts_for_a_clause);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
