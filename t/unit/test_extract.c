/*
 * tracer/fast/extract.c: a target's copy of the image has what its tracepoints lead
 * to, and nothing of the probes of other processes.
 */
#include <check.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "dlang/image/image.h"
#include "inject/tracepoint.h"
#include "t/fake/env.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/fast/fast_impl.h"
#include "tracer/ptrace/proc.h"

static struct tracepoint tps[3];
static unsigned n_tps;

static struct tracepoint *
double_next(struct tracepoint *tp)
{
	size_t i = tp == NULL ? 0 : (size_t)(tp - tps) + 1;

	return i < n_tps ? &tps[i] : NULL;
}

#define tracepoint_next(tab, tp) double_next(tp)
#include "tracer/fast/extract.c"

static struct kit kit;
static struct fast fast;
static struct state st = { .fast = &fast };
static struct space sp = { .tab = (struct tptable *)8 }; /* only passed on */
static struct fast_space f;
static uint32_t probes[3];

/* Probe n, with one site at tracepoint n + 1. */
static void
enable(unsigned n)
{
	const struct argloc args[] = { { .kind = ARGLOC_REG,
	    .reg = (uint8_t)n } };

	probes[n] = kit_probe(&kit, 0, 0, -1);
	uint32_t at = image_add_args(kit.im, args, 1);
	ck_assert_uint_ne(at, 0);
	ck_assert_uint_ne(image_add_site(kit.im, probes[n], n + 1, at, 1), 0);
	tps[n].id = n + 1;
}

static void
setup(void)
{
	kit_init(&kit);
	kit_clause(&kit, NULL, 0);
	kit_act(&kit, OP_EXPR, kit_const(&kit, 5));
	kit_publish(&kit);
	fast.image = kit.image;
	f.image.size = kit.image.size;
	f.image.base = mem_zalloc(kit.image.size);
	for (unsigned n = 0; n < 3; n++)
		enable(n);
}

static void
teardown(void)
{
	mem_free(f.image.base);
	vec_fini(&f.copied);
	kit_fini(&kit);
}

static const void *
here(uint32_t ref)
{
	return f.image.base + ref;
}

static const void *
there(uint32_t ref)
{
	return kit.image.base + ref;
}

static void
is_copied(uint32_t ref, size_t size)
{
	ck_assert_mem_eq(here(ref), there(ref), size);
}

static uint32_t
word(uint32_t ref)
{
	uint32_t w;

	memcpy(&w, here(ref), 4);
	return w;
}

/* Is the probe there with all that a firing of it reads? */
static void
is_whole(unsigned n)
{
	const struct img_hdr *im = there(0);
	const struct img_site *s = here(word(im->tps_ref + 4 * (n + 1)));
	const struct img_probe *p = here(probes[n]);
	const struct img_ecb *e = here(p->ecb_ref);

	ck_assert_uint_eq(s->probe_ref, probes[n]);
	is_copied(s->args_ref, sizeof(struct argloc));
	is_copied(probes[n], sizeof(*p));
	ck_assert_str_eq(here(p->func_ref), there(p->func_ref));
	ck_assert_uint_ne(strlen(here(p->prov_ref)), 0);
	ck_assert_uint_ne(e->epid, 0);
	ck_assert_uint_eq(word(im->ecbs_ref + 4 * e->epid), p->ecb_ref);
	is_copied(p->ecb_ref, sizeof(*e));
}

static bool
is_hole(unsigned n)
{
	const struct img_probe *p = here(probes[n]);

	return p->ecb_ref == 0;
}

START_TEST(only_what_a_process_needs)
{
	const struct img_hdr *im = there(0);

	tps[0].id = 2;
	n_tps = 1;
	extract_renew(&st, &sp, &f);
	is_whole(1);
	ck_assert(is_hole(0));
	ck_assert(is_hole(2));
	ck_assert_uint_eq(word(im->tps_ref + 4), 0);
	/* The programs are everybody's. */
	is_copied(0, sizeof(*im));
	is_copied(im->vars_ref, im->programs_end - im->vars_ref);
}
END_TEST

START_TEST(what_comes_later_is_added_and_what_goes_is_not_found)
{
	const struct img_hdr *im = there(0);

	n_tps = 2;
	extract_renew(&st, &sp, &f);
	is_whole(0);
	is_whole(1);
	ck_assert(is_hole(2));
	/* Nothing has changed: nothing is copied. */
	memset(f.image.base + probes[0], 0, sizeof(struct img_probe));
	extract_renew(&st, &sp, &f);
	ck_assert(is_hole(0));
	/* One site more, the first tracepoint has gone. */
	memcpy(&tps[0], &tps[1], sizeof(tps[0]));
	memcpy(&tps[1], &tps[2], sizeof(tps[0]));
	uint32_t more = image_add_site(kit.im, probes[1], 2, 0, 0);
	extract_renew(&st, &sp, &f);
	is_whole(1);
	is_whole(2);
	ck_assert_uint_eq(word(im->tps_ref + 4), 0);
	ck_assert_uint_eq(
	    ((const struct img_site *)here(word(im->tps_ref + 8)))->next_ref,
	    more);
	/* A probe that is off is so in the copy. */
	image_probe_off(kit.im, probes[2]);
	extract_renew(&st, &sp, &f);
	ck_assert(
	    ((const struct img_probe *)here(probes[2]))->flags & IMG_PROBE_OFF);
}
END_TEST

START_TEST(errors_find_their_probe)
{
	const struct img_hdr *im = there(0);
	uint32_t error = kit_probe(&kit, IMG_PROBE_ERROR, 0, -1);

	n_tps = 0;
	extract_renew(&st, &sp, &f);
	ck_assert_uint_eq(im->error_probe_ref, error);
	is_copied(error, sizeof(struct img_probe));
	ck_assert_uint_ne(((const struct img_probe *)here(error))->ecb_ref, 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { only_what_a_process_needs,
		what_comes_later_is_added_and_what_goes_is_not_found,
		errors_find_their_probe };

	return suite_run("extract", setup, teardown, tests,
	    sizeof(tests) / sizeof(tests[0]));
}
