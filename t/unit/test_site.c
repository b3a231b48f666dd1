/*
 * tracer/sites/site: which tracepoints a probe's sites need, what a tracepoint
 * knows of its sites, and when both are given up.  The tracepoints are those of
 * inject/, in a target of byte arrays; the image and the processes are doubles,
 * so the file itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/diag.h"
#include "dlang/image/image.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "symbols/addrspace.h"
#include "t/fake/target.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/state.h"
#include "tracer/names/locals.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"
#include "tracer/sites/jumps.h"

#define TEXT UINT64_C(0x7f0000000000)

/* Sites of the image: what was added, and by which tracepoint it was removed. */
static struct {
	uint32_t probe_ref, tp_id, args_ref, nargs, removed_by;
	bool removed;
} image_sites[16];
static uint32_t n_sites;
static bool image_is_full;
static uint64_t args_seen[2]; /* the first two arguments of the last table */
static bool with_locals;  /* the probe has a variable behind its arguments */
static struct load *load; /* at every address; NULL: none */
static unsigned alone;    /* trapset_alone() calls */
static unsigned jumps_freed;

static uint32_t
double_add_args(const struct argloc *args, uint32_t nargs)
{
	for (uint32_t i = 0; i < 2; i++)
		args_seen[i] = i < nargs ? (uint64_t)args[i].disp : 0;
	return 1000 + nargs;
}

static uint32_t
double_add_site(
    uint32_t probe_ref, uint32_t tp_id, uint32_t args_ref, uint32_t nargs)
{
	if (image_is_full)
		return 0;
	ck_assert_uint_lt(n_sites, ARRAY_SIZE(image_sites));
	image_sites[n_sites].probe_ref = probe_ref;
	image_sites[n_sites].tp_id = tp_id;
	image_sites[n_sites].args_ref = args_ref;
	image_sites[n_sites].nargs = nargs;
	return ++n_sites;
}

static void
double_remove_site(uint32_t ref, uint32_t tp_id)
{
	ck_assert_uint_ge(ref, 1);
	ck_assert_uint_le(ref, n_sites);
	ck_assert(!image_sites[ref - 1].removed);
	image_sites[ref - 1].removed = true;
	image_sites[ref - 1].removed_by = tp_id;
}

static struct argloc *
double_locals(const struct argloc *args, uint32_t nargs, uint32_t *total)
{
	if (!with_locals)
		return NULL;
	struct argloc *all = mem_zalloc((nargs + 1) * sizeof(*all));
	for (uint32_t i = 0; i < nargs; i++)
		all[i] = args[i];
	all[nargs].disp = 77;
	*total = nargs + 1;
	return all;
}

static struct proc procs[3];
static unsigned n_procs;
static struct load *const *mapped;
static size_t n_mapped;

static struct proc *
double_next(struct proc *p)
{
	size_t i = p == NULL ? 0 : (size_t)(p - procs) + 1;

	return i < n_procs ? &procs[i] : NULL;
}

static struct proc *
double_proc(pid_t pid)
{
	for (size_t i = 0; i < n_procs; i++)
		if (procs[i].pid == pid)
			return &procs[i];
	return NULL;
}

#define image_add_args(im, args, n)          double_add_args(args, n)
#define image_add_site(im, p, tp, a, n)      double_add_site(p, tp, a, n)
#define image_remove_site(im, ref, tp)       double_remove_site(ref, tp)
#define locals_table(st, sp, p, at, a, n, t) double_locals(a, n, t)
#define addrspace_load_at(as, addr)          load
#define addrspace_loads(as, out)             (*(out) = mapped, n_mapped)
#define trapset_alone(ts)                    ((void)alone++)
#define jump_free(j)                         ((void)(jumps_freed += (j) != NULL))
#define super_next(s, p)                     double_next(p)
#define super_proc(s, pid)                   double_proc(pid)
#include "tracer/sites/site.c"

static struct fake_target ft;
static struct state st;
static struct space space;
static struct load file;
static struct probe first = { .prov = "pid1",
	.mod = "a.out",
	.func = "main",
	.name = "entry",
	.image_ref = 11 };
static struct probe second = { .prov = "pid1",
	.mod = "a.out",
	.func = "main",
	.name = "return",
	.image_ref = 22 };

static void
setup(void)
{
	fake_target_init(&ft);
	struct fake_region *r = fake_target_map(&ft, TEXT, 4096);
	memset(r->bytes, 0x55, 4096); /* push %rbp, over and over */
	space.tab = tptable_create(&ft.target);
	tracepoint_unlisted(space.tab);
	st.image = (struct image *)8; /* only passed on */
	load = &file;
}

static void
teardown(void)
{
	tptable_destroy(space.tab);
	fake_target_fini(&ft);
	parts_end(&st.parts);
}

static void
failed(void *ctx, struct tracepoint *tp, const char *why)
{
	ck_abort_msg("%s", why);
}

static void
commit(struct space *sp)
{
	tracepoint_commit(sp->tab, failed, NULL);
}

static uint8_t
byte_at(uint64_t addr)
{
	return *fake_target_at(&ft, addr);
}

static unsigned
sites_at(struct space *sp, uint64_t addr, struct probe *const probes[])
{
	struct tracepoint *tp = tracepoint_lookup(sp->tab, addr);
	unsigned n = 0;

	if (tp == NULL)
		return 0;
	const struct tp_user *u = tp->user;
	for (const struct site *s = u->sites; s != NULL; s = s->next, n++)
		if (probes != NULL)
			ck_assert_ptr_eq(s->probe, probes[n]);
	return n;
}

START_TEST(a_site_is_in_the_image_and_at_its_tracepoint)
{
	const struct argloc args[] = { { .disp = 5 }, { .disp = 6 } };

	site_add(&st, &space, TEXT, &first, args, 2);
	ck_assert(space.probed);
	commit(&space);
	ck_assert_uint_eq(byte_at(TEXT), 0xcc);
	struct tracepoint *tp = tracepoint_lookup(space.tab, TEXT);
	const struct tp_user *u = tp->user;
	ck_assert_ptr_eq(u->sites->probe, &first);
	ck_assert_uint_eq(u->sites->image->ref, 1);
	ck_assert_uint_eq(u->sites->image->nranges, 0);
	ck_assert(u->sites->when == SITE_ALWAYS && !u->choosy);
	ck_assert_uint_eq(image_sites[0].probe_ref, 11);
	ck_assert_uint_eq(image_sites[0].tp_id, tp->id);
	ck_assert_uint_eq(image_sites[0].args_ref, 1002);
	ck_assert_uint_eq(image_sites[0].nargs, 2);
	ck_assert_uint_eq(args_seen[0], 5);
	ck_assert_uint_eq(args_seen[1], 6);
	ck_assert_ptr_null(site_failures(&st));
	sites_drop(&st, &space);
	ck_assert(image_sites[0].removed);
}
END_TEST

START_TEST(variables_of_a_clause_follow_the_arguments)
{
	const struct argloc arg = { .disp = 5 };

	with_locals = true;
	site_add(&st, &space, TEXT, &first, &arg, 1);
	ck_assert_uint_eq(image_sites[0].nargs, 2);
	ck_assert_uint_eq(image_sites[0].args_ref, 1002);
	ck_assert_uint_eq(args_seen[0], 5);
	ck_assert_uint_eq(args_seen[1], 77);
	sites_drop(&st, &space);
}
END_TEST

START_TEST(sites_fire_in_the_order_in_which_they_were_added)
{
	struct probe *const order[] = { &first, &second, &first };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		site_add(&st, &space, TEXT, order[i], NULL, 0);
	commit(&space);
	ck_assert_uint_eq(sites_at(&space, TEXT, order), 3);
	struct tracepoint *tp = tracepoint_lookup(space.tab, TEXT);
	ck_assert_uint_eq(tp->refs, 3);
	ck_assert_uint_eq(image_sites[2].tp_id, tp->id);
	sites_drop(&st, &space);
}
END_TEST

/* Numbers of tracepoints are those of lists in the image: none is used twice,
 * also in another process, and none is left out. */
START_TEST(each_tracepoint_has_a_number_of_its_own)
{
	struct fake_target other;
	struct space elsewhere = { 0 };
	const char *why = NULL;

	fake_target_init(&other);
	memset(fake_target_map(&other, TEXT, 4096)->bytes, 0x55, 4096);
	elsewhere.tab = tptable_create(&other.target);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(
		    site_tracepoint(&st, &space, TEXT + i, &why)->id, i + 1);
	/* One that is there already takes none. */
	ck_assert_uint_eq(site_tracepoint(&st, &space, TEXT, &why)->id, 1);
	ck_assert_uint_eq(site_tracepoint(&st, &elsewhere, TEXT, &why)->id, 4);
	ck_assert_uint_eq(site_tracepoint(&st, &space, TEXT + 3, &why)->id, 5);
	sites_drop(&st, &space);
	sites_drop(&st, &elsewhere);
	tptable_destroy(elsewhere.tab);
	fake_target_fini(&other);
}
END_TEST

START_TEST(what_is_known_of_a_tracepoint_stays_when_it_is_asked_for_again)
{
	const char *why = NULL;
	struct tracepoint *tp = site_tracepoint(&st, &space, TEXT, &why);
	void *user = tp->user;

	ck_assert_ptr_nonnull(user);
	ck_assert_ptr_eq(site_tracepoint(&st, &space, TEXT, &why), tp);
	ck_assert_ptr_eq(tp->user, user);
	sites_drop(&st, &space);
}
END_TEST

START_TEST(text_that_the_program_may_write_is_restored_by_the_handler_alone)
{
	const char *why = NULL;

	site_tracepoint(&st, &space, TEXT, &why);
	ck_assert_uint_eq(alone, 0);
	file.writable_text = true;
	site_tracepoint(&st, &space, TEXT + 1, &why);
	ck_assert_uint_eq(alone, 1);
	load = NULL;
	site_tracepoint(&st, &space, TEXT + 2, &why);
	ck_assert_uint_eq(alone, 2);
	sites_drop(&st, &space);
}
END_TEST

START_TEST(a_failure_is_told_in_words)
{
	site_add(&st, &space, 0x1000, &first, NULL, 0);
	const struct site_failures *all = site_failures(&st);
	ck_assert_ptr_nonnull(all);
	ck_assert_uint_eq(all->count, 1);
	ck_assert_str_eq(all->list.at[0],
	    "pid1:a.out:main:entry at 0x1000: text cannot be read");
	site_add_jump(&st, &space, 0x1000, &second, SITE_LOOP);
	ck_assert_uint_eq(all->count, 2);
	ck_assert_str_eq(all->list.at[1],
	    "pid1:a.out:main:return at 0x1000: text cannot be read");
	ck_assert_uint_eq(n_sites, 0);
	ck_assert(!space.probed);
}
END_TEST

START_TEST(a_thousand_failures_are_named_and_all_are_counted)
{
	for (unsigned i = 0; i < 1002; i++)
		site_failed(&st, &first, i, "no");
	ck_assert_uint_eq(site_failures(&st)->count, 1002);
	ck_assert_uint_eq(site_failures(&st)->list.len, 1000);
	ck_assert_str_eq(site_failures(&st)->list.at[999],
	    "pid1:a.out:main:entry at 0x3e7: no");
}
END_TEST

START_TEST(a_full_image_leaves_no_tracepoint)
{
	image_is_full = true;
	site_add(&st, &space, TEXT, &first, NULL, 0);
	ck_assert_uint_eq(site_failures(&st)->count, 1);
	ck_assert_ptr_nonnull(
	    strstr(site_failures(&st)->list.at[0], "not enough memory"));
	ck_assert(!space.probed);
	commit(&space);
	ck_assert_uint_eq(byte_at(TEXT), 0x55);
	ck_assert_ptr_null(tracepoint_next(space.tab, NULL));
}
END_TEST

static const struct arrival hooks[ARRIVALS_MAX + 1];

START_TEST(hooks_are_kept_once_and_in_order)
{
	const char *why = NULL;
	struct tracepoint *tp = site_tracepoint(&st, &space, TEXT, &why);
	const struct tp_user *u = tp->user;

	for (size_t i = 0; i < ARRIVALS_MAX; i++)
		site_tell(tp, &hooks[i]);
	/* No more than these are needed, since none is there twice. */
	for (size_t i = 0; i < ARRIVALS_MAX; i++)
		site_tell(tp, &hooks[i]);
	for (size_t i = 0; i < ARRIVALS_MAX; i++)
		ck_assert_ptr_eq(u->arrivals[i], &hooks[i]);
	site_tell_no_more(tp, &hooks[1]);
	ck_assert_ptr_eq(u->arrivals[0], &hooks[0]);
	ck_assert_ptr_eq(u->arrivals[1], &hooks[2]);
	ck_assert_ptr_eq(u->arrivals[3], &hooks[4]);
	ck_assert_ptr_null(u->arrivals[4]);
	/* One that is not there. */
	site_tell_no_more(tp, &hooks[1]);
	ck_assert_ptr_eq(u->arrivals[3], &hooks[4]);
	ck_assert_ptr_null(u->arrivals[4]);
	site_tell(tp, &hooks[5]);
	ck_assert_ptr_eq(u->arrivals[4], &hooks[5]);
	sites_drop(&st, &space);
}
END_TEST

static const struct tp_user *
user_with(enum site_when when, bool doors)
{
	static uint64_t at = TEXT;
	const struct site_choice choice = { .when = when, .doors = doors };

	site_add_choosy(&st, &space, ++at, &first, NULL, 0, &choice);
	commit(&space);
	return tracepoint_lookup(space.tab, at)->user;
}

START_TEST(a_tracepoint_knows_whether_its_sites_are_choosy)
{
	const struct tp_user *u = user_with(SITE_TAKEN, false);
	ck_assert(u->choosy && !u->loops && !u->doors);
	u = user_with(SITE_ENTRY, false);
	ck_assert(u->choosy && !u->loops && !u->doors);
	u = user_with(SITE_ALWAYS, true);
	ck_assert(u->choosy && !u->loops && !u->doors);
	ck_assert(u->sites->doors);
	u = user_with(SITE_ALWAYS, false);
	ck_assert(!u->choosy && !u->sites->doors);
	/* One more that is not does not change that of the others. */
	site_add_jump(&st, &space, TEXT, &first, SITE_LOOP);
	site_add_jump(&st, &space, TEXT + 100, &first, SITE_DOOR);
	site_add(&st, &space, TEXT, &first, NULL, 0);
	site_add(&st, &space, TEXT + 100, &first, NULL, 0);
	commit(&space);
	u = tracepoint_lookup(space.tab, TEXT)->user;
	ck_assert(u->choosy && u->loops && !u->doors);
	ck_assert(u->sites->when == SITE_LOOP);
	u = tracepoint_lookup(space.tab, TEXT + 100)->user;
	ck_assert(u->choosy && !u->loops && u->doors);
	/* Such a site never fires: it is not in the image. */
	ck_assert_ptr_null(u->sites->image);
	ck_assert_uint_eq(n_sites, 6);
	sites_drop(&st, &space);
}
END_TEST

START_TEST(the_ranges_of_a_function_are_copied)
{
	struct site_range ranges[] = { { 1, 2 }, { 3, 4 } };
	const struct site_choice choice = {
		.when = SITE_OUTSIDE, .ranges = ranges, .nranges = 2
	};

	site_add_choosy(&st, &space, TEXT, &first, NULL, 0, &choice);
	memset(ranges, 0, sizeof(ranges));
	commit(&space);
	const struct tp_user *u = tracepoint_lookup(space.tab, TEXT)->user;
	const struct image_site *image = u->sites->image;
	ck_assert_uint_eq(image->nranges, 2);
	ck_assert_uint_eq(image->ranges[0].start, 1);
	ck_assert_uint_eq(image->ranges[0].end, 2);
	ck_assert_uint_eq(image->ranges[1].start, 3);
	ck_assert_uint_eq(image->ranges[1].end, 4);
	ck_assert_uint_eq(image->users, 1);
	sites_drop(&st, &space);
}
END_TEST

START_TEST(a_probe_is_taken_out_and_others_stay)
{
	struct probe *const others[] = { &second };

	site_add(&st, &space, TEXT, &first, NULL, 0);
	site_add(&st, &space, TEXT, &second, NULL, 0);
	site_add(&st, &space, TEXT, &first, NULL, 0);
	site_add(&st, &space, TEXT + 1, &first, NULL, 0);
	site_add(&st, &space, TEXT + 2, &second, NULL, 0);
	commit(&space);
	uint32_t id = tracepoint_lookup(space.tab, TEXT)->id;
	sites_take_out(&st, &space, &first);
	commit(&space);
	ck_assert_uint_eq(sites_at(&space, TEXT, others), 1);
	ck_assert_uint_eq(sites_at(&space, TEXT + 2, others), 1);
	ck_assert_uint_eq(tracepoint_lookup(space.tab, TEXT)->refs, 1);
	ck_assert_uint_eq(byte_at(TEXT), 0xcc);
	ck_assert_uint_eq(byte_at(TEXT + 1), 0x55);
	ck_assert_uint_eq(byte_at(TEXT + 2), 0xcc);
	ck_assert(image_sites[0].removed && !image_sites[1].removed);
	ck_assert(image_sites[2].removed && image_sites[3].removed);
	ck_assert(!image_sites[4].removed);
	ck_assert_uint_eq(image_sites[0].removed_by, id);
	sites_take_out(&st, &space, &second);
	commit(&space);
	ck_assert_uint_eq(byte_at(TEXT), 0x55);
	ck_assert_uint_eq(byte_at(TEXT + 2), 0x55);
	ck_assert_ptr_null(tracepoint_next(space.tab, NULL));
}
END_TEST

/* A marker needs the tracepoint too: the probe's going leaves its hooks. */
START_TEST(a_tracepoint_that_somebody_else_needs_keeps_its_hooks)
{
	const char *why = NULL;
	struct tracepoint *tp = site_tracepoint(&st, &space, TEXT, &why);

	site_tell(tp, &hooks[0]);
	site_add(&st, &space, TEXT, &first, NULL, 0);
	commit(&space);
	sites_take_out(&st, &space, &first);
	commit(&space);
	ck_assert_uint_eq(byte_at(TEXT), 0xcc);
	const struct tp_user *u = tp->user;
	ck_assert_ptr_nonnull(u);
	ck_assert_ptr_eq(u->arrivals[0], &hooks[0]);
	ck_assert_ptr_null(u->sites);
	sites_drop(&st, &space);
	ck_assert_ptr_null(tp->user);
	/* One whose user has gone has no sites to take out. */
	sites_take_out(&st, &space, &first);
	ck_assert_uint_eq(tp->refs, 1);
}
END_TEST

START_TEST(unmapped_memory_takes_its_sites_with_it)
{
	for (uint64_t at = TEXT; at < TEXT + 4; at++)
		site_add(&st, &space, at, &first, NULL, 0);
	site_add(&st, &space, TEXT + 1, &second, NULL, 0);
	commit(&space);
	unsigned changes = space.changes;
	sites_unmap(&st, &space, TEXT + 1, TEXT + 3);
	ck_assert_uint_ne(space.changes, changes);
	ck_assert_uint_eq(sites_at(&space, TEXT, NULL), 1);
	ck_assert_uint_eq(sites_at(&space, TEXT + 1, NULL), 0);
	ck_assert_uint_eq(sites_at(&space, TEXT + 2, NULL), 0);
	ck_assert_uint_eq(sites_at(&space, TEXT + 3, NULL), 1);
	ck_assert(!image_sites[0].removed && image_sites[1].removed);
	ck_assert(image_sites[2].removed && !image_sites[3].removed);
	ck_assert(image_sites[4].removed);
	/* Nothing was written. */
	commit(&space);
	ck_assert_uint_eq(byte_at(TEXT + 1), 0xcc);
	/* All that is left is what is still mapped. */
	unsigned left = 0;
	for (struct tracepoint *tp = NULL;
	     (tp = tracepoint_next(space.tab, tp)) != NULL; left++)
		ck_assert_ptr_nonnull(tp->user);
	ck_assert_uint_eq(left, 2);
	sites_drop(&st, &space);
}
END_TEST

START_TEST(a_space_that_ends_frees_its_jumps)
{
	site_add(&st, &space, TEXT, &first, NULL, 0);
	site_add(&st, &space, TEXT + 1, &first, NULL, 0);
	commit(&space);
	struct tracepoint *tp = tracepoint_lookup(space.tab, TEXT);
	((struct tp_user *)tp->user)->jump = (struct fast_jump *)8;
	/* The run is at its end: the image has gone before. */
	st.image = NULL;
	sites_drop(&st, &space);
	ck_assert_uint_eq(jumps_freed, 1);
	ck_assert(!image_sites[0].removed);
	ck_assert_ptr_null(tp->user);
	ck_assert_ptr_null(tracepoint_lookup(space.tab, TEXT + 1)->user);
}
END_TEST

START_TEST(a_child_has_the_sites_of_its_parent)
{
	struct probe *const order[] = { &first, &second };
	struct fake_target other;
	struct space child = { 0 };
	const char *why = NULL;

	site_add(&st, &space, TEXT, &first, NULL, 0);
	site_add(&st, &space, TEXT, &second, NULL, 0);
	site_add(&st, &space, TEXT + 1, &first, NULL, 0);
	site_add_jump(&st, &space, TEXT + 2, &first, SITE_LOOP);
	commit(&space);
	struct tracepoint *tp = tracepoint_lookup(space.tab, TEXT);
	site_tell(tp, &hooks[3]);
	((struct tp_user *)tp->user)->jump = (struct fast_jump *)8;
	fake_target_fork(&ft, &other);
	child.tab = tptable_fork(space.tab, &other.target);
	/* One that is the parent's alone. */
	site_add(&st, &space, TEXT + 3, &second, NULL, 0);
	sites_fork(&space, &child);
	ck_assert(child.probed);
	ck_assert_uint_eq(sites_at(&child, TEXT, order), 2);
	ck_assert_uint_eq(sites_at(&child, TEXT + 1, order), 1);
	ck_assert_uint_eq(sites_at(&child, TEXT + 2, order), 1);
	ck_assert_ptr_null(tracepoint_lookup(child.tab, TEXT + 3));
	const struct tp_user *u = tracepoint_lookup(child.tab, TEXT)->user;
	ck_assert_ptr_ne(u, tp->user);
	ck_assert_ptr_eq(u->arrivals[0], &hooks[3]);
	ck_assert_ptr_null(u->jump);
	ck_assert_ptr_eq(
	    u->sites->image, ((const struct tp_user *)tp->user)->sites->image);
	u = tracepoint_lookup(child.tab, TEXT + 2)->user;
	ck_assert(u->loops && u->sites->when == SITE_LOOP);
	/* A site of both is in the image until both have gone. */
	sites_drop(&st, &space);
	ck_assert(!image_sites[0].removed && !image_sites[1].removed);
	ck_assert(image_sites[3].removed);
	sites_drop(&st, &child);
	ck_assert(image_sites[0].removed && image_sites[1].removed);
	ck_assert(image_sites[2].removed);
	/* Nothing of it is left to be copied. */
	child.probed = false;
	space.probed = false;
	sites_fork(&space, &child);
	ck_assert_ptr_null(tracepoint_lookup(child.tab, TEXT)->user);
	ck_assert(!child.probed);
	ck_assert_ptr_null(why);
	tptable_destroy(child.tab);
	fake_target_fini(&other);
}
END_TEST

/* The child's memory may have changed before the copy was made. */
START_TEST(only_the_same_tracepoint_is_given_sites)
{
	struct fake_target other;
	struct space child = { 0 };
	const char *why = NULL;

	fake_target_init(&other);
	memset(fake_target_map(&other, TEXT, 4096)->bytes, 0x55, 4096);
	child.tab = tptable_create(&other.target);
	tracepoint_unlisted(child.tab);
	struct tracepoint *tp = site_tracepoint(&st, &child, TEXT, &why);
	commit(&child);
	site_add(&st, &space, TEXT, &first, NULL, 0);
	commit(&space);
	sites_fork(&space, &child);
	ck_assert_uint_eq(sites_at(&child, TEXT, NULL), 0);
	ck_assert_uint_eq(tp->refs, 1);
	sites_drop(&st, &space);
	ck_assert(image_sites[0].removed);
	sites_drop(&st, &child);
	tptable_destroy(child.tab);
	fake_target_fini(&other);
}
END_TEST

START_TEST(objects_are_matched_once)
{
	struct load seen = { .seen = true }, gone = { .seen = false };
	struct load *const all[] = { &seen, &gone };
	struct space spaces[3];

	memset(spaces, 0, sizeof(spaces));
	mapped = all;
	n_mapped = ARRAY_SIZE(all);
	n_procs = ARRAY_SIZE(procs);
	for (size_t i = 0; i < n_procs; i++)
		procs[i].space = &spaces[i];
	/* No memory is known of any. */
	loads_matched(&st);
	ck_assert(!load_is_matched(&seen));
	spaces[2].as = (struct addrspace *)8;
	loads_matched(&st);
	ck_assert(load_is_matched(&seen));
	ck_assert(!load_is_matched(&gone));
	load_forget_match(&seen);
	ck_assert(!load_is_matched(&seen));
	/* What the tracer notes besides is another thing. */
	seen.user = &seen;
	ck_assert(!load_is_matched(&seen));
	loads_matched_in(spaces[2].as);
	ck_assert(load_is_matched(&seen));
}
END_TEST

static int attach_error;
static unsigned attaches;

static int
attach(struct state *state, pid_t pid, bool named, char *why, size_t size)
{
	attaches++;
	ck_assert(!named);
	if (attach_error != 0)
		snprintf(why, size, "no such process");
	else
		n_procs = 2;
	return attach_error;
}

START_TEST(a_process_that_is_named_is_grabbed_once)
{
	static const struct drive_ops drive = { .attach = attach };
	struct diags d;
	struct proc *p = &procs[2];

	diags_init(&d);
	st.drive = &drive;
	n_procs = 1;
	procs[0].pid = 10;
	procs[1].pid = 20;
	ck_assert_int_eq(site_grab(&st, 10, NULL, &d, &p), 0);
	ck_assert_ptr_eq(p, &procs[0]);
	ck_assert_uint_eq(attaches, 0);
	/* Later calls only look. */
	ck_assert_int_eq(site_grab(&st, 20, NULL, NULL, &p), 0);
	ck_assert_ptr_null(p);
	ck_assert_uint_eq(attaches, 0);
	attach_error = -ESRCH;
	ck_assert_int_lt(site_grab(&st, 20, NULL, &d, &p), 0);
	ck_assert_ptr_null(p);
	ck_assert(d.any);
	ck_assert_ptr_nonnull(
	    strstr(d.first.text, "grab process 20: no such process"));
	attach_error = 0;
	ck_assert_int_eq(site_grab(&st, 20, NULL, &d, &p), 0);
	ck_assert_ptr_eq(p, &procs[1]);
	ck_assert_uint_eq(attaches, 2);
	diags_fini(&d);
}
END_TEST

START_TEST(the_tracer_does_not_grab_itself)
{
	static const struct drive_ops drive = { .attach = attach };
	struct diags d;
	struct proc *p = &procs[2];

	diags_init(&d);
	st.drive = &drive;
	ck_assert_int_lt(site_grab(&st, getpid(), NULL, &d, &p), 0);
	ck_assert_uint_eq(attaches, 0);
	ck_assert_ptr_nonnull(strstr(d.first.text, "the tracer itself"));
	diags_fini(&d);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_site_is_in_the_image_and_at_its_tracepoint,
		variables_of_a_clause_follow_the_arguments,
		sites_fire_in_the_order_in_which_they_were_added,
		each_tracepoint_has_a_number_of_its_own,
		what_is_known_of_a_tracepoint_stays_when_it_is_asked_for_again,
		text_that_the_program_may_write_is_restored_by_the_handler_alone,
		a_failure_is_told_in_words,
		a_thousand_failures_are_named_and_all_are_counted,
		a_full_image_leaves_no_tracepoint,
		hooks_are_kept_once_and_in_order,
		a_tracepoint_knows_whether_its_sites_are_choosy,
		the_ranges_of_a_function_are_copied,
		a_probe_is_taken_out_and_others_stay,
		a_tracepoint_that_somebody_else_needs_keeps_its_hooks,
		unmapped_memory_takes_its_sites_with_it,
		a_space_that_ends_frees_its_jumps,
		a_child_has_the_sites_of_its_parent,
		only_the_same_tracepoint_is_given_sites,
		objects_are_matched_once,
		a_process_that_is_named_is_grabbed_once,
		the_tracer_does_not_grab_itself,
	};

	return suite_run("site", setup, teardown, tests, ARRAY_SIZE(tests));
}
