/*
 * tracer/sites/places: which places of a probe are enabled, in which processes,
 * and which are forgotten.  Processes and address spaces are doubles, so the file
 * itself is included below.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "symbols/addrspace.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"

static struct proc procs[4];

static struct proc *
double_next(struct super *s, struct proc *p)
{
	size_t i = p == NULL ? 0 : (size_t)(p - procs) + 1;

	return i < ARRAY_SIZE(procs) ? &procs[i] : NULL;
}

/* An address space is a pointer to its number. */
#define addrspace_id(as)        (*(const uint32_t *)(const void *)(as))
#define super_next              double_next
#define load_matches(l, module) (strcmp((l)->module, module) == 0)
#include "tracer/sites/places.c"

static uint32_t ids[] = { 1, 2, 3 };
static struct space spaces[ARRAY_SIZE(procs)];
static struct load near = { .module = "near", .seen = true };
static struct load far = { .module = "far", .seen = true };
static const struct provider with = { .name = "with", .places = true };
static const struct provider without = { .name = "without" };
static struct places all, other;
static struct probe probe = { .provider = &with, .data = &all };
static struct probe second = { .provider = &with, .data = &other };
static struct probe plain = { .provider = &without };
static struct state st;

/* Addresses in the order in which they were enabled, and where. */
static struct {
	const struct proc *proc;
	uint64_t addr;
} enabled[8];
static unsigned n_enabled;

static void
enable(
    struct state *state, struct proc *proc, struct probe *p, struct place *pl)
{
	ck_assert_ptr_eq(state, &st);
	ck_assert_ptr_eq(p, &probe);
	ck_assert(pl->enabled);
	ck_assert_uint_lt(n_enabled, ARRAY_SIZE(enabled));
	enabled[n_enabled].proc = proc;
	enabled[n_enabled++].addr = pl->addr;
}

static struct place *
add(struct places *to, uint32_t space, uint64_t addr, const struct load *l)
{
	struct place **at = places_find(to, space, addr, l);

	ck_assert_ptr_null(*at);
	*at = mem_zalloc(sizeof(**at));
	**at = (struct place){ .space = space, .addr = addr, .load = l };
	return *at;
}

static void
setup(void)
{
	memset(&st, 0, sizeof(st));
	memset(procs, 0, sizeof(procs));
	memset(spaces, 0, sizeof(spaces));
	all = (struct places){ .family = 10 };
	other = (struct places){ .family = 10 };
	probe.off = false;
	near.seen = far.seen = true;
	n_enabled = 0;
	for (size_t i = 0; i < ARRAY_SIZE(procs); i++)
		procs[i].space = &spaces[i];
	/* Two of the family, another process, one of no known memory. */
	procs[0].role.family = procs[1].role.family = procs[3].role.family = 10;
	procs[2].role.family = 11;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		spaces[i].as = (struct addrspace *)(void *)&ids[i];
	/* A probe whose data is not places: nothing may look into it. */
	plain.data = (void *)8;
	*vec_push(&st.probes.list) = &plain;
	*vec_push(&st.probes.list) = &probe;
	*vec_push(&st.probes.list) = &second;
}

static void
teardown(void)
{
	places_free(&all);
	places_free(&other);
	vec_fini(&st.probes.list);
}

START_TEST(a_place_is_found_by_space_and_address)
{
	struct place *a = add(&all, 1, 0x10, &near);
	struct place *b = add(&all, 1, 0x20, &near);
	struct place *c = add(&all, 2, 0x10, &near);

	ck_assert_ptr_eq(*places_find(&all, 1, 0x10, &near), a);
	ck_assert_ptr_eq(*places_find(&all, 1, 0x20, &near), b);
	ck_assert_ptr_eq(*places_find(&all, 2, 0x10, &near), c);
	ck_assert_ptr_eq(places_find(&all, 1, 0x10, &near), &all.first);
	/* The end of the list, for a new one. */
	ck_assert_ptr_eq(places_find(&all, 2, 0x20, &near), &c->next);
}
END_TEST

START_TEST(an_object_that_is_mapped_where_another_was_has_its_own_place)
{
	struct place *stays = add(&all, 2, 0x10, &near);
	add(&all, 1, 0x10, &near);

	near.seen = false;
	struct place *comes = add(&all, 1, 0x10, &far);
	ck_assert_ptr_eq(all.first, stays);
	ck_assert_ptr_eq(stays->next, comes);
	ck_assert_ptr_null(comes->next);
	places_enable(&st, &probe, enable);
	ck_assert_uint_eq(n_enabled, 1);
	ck_assert_ptr_eq(enabled[0].proc, &procs[0]);
}
END_TEST

START_TEST(places_are_enabled_once_and_in_the_family_only)
{
	add(&all, 1, 0x10, &near);
	add(&all, 2, 0x20, &near);
	add(&all, 3, 0x30, &near); /* of another family */
	add(&all, 1, 0x40, &near);
	places_enable(&st, &probe, enable);
	ck_assert_uint_eq(n_enabled, 3);
	ck_assert_uint_eq(enabled[0].addr, 0x10);
	ck_assert_ptr_eq(enabled[0].proc, &procs[0]);
	ck_assert_uint_eq(enabled[1].addr, 0x40);
	ck_assert_uint_eq(enabled[2].addr, 0x20);
	ck_assert_ptr_eq(enabled[2].proc, &procs[1]);
	ck_assert(!(*places_find(&all, 3, 0x30, &near))->enabled);
	places_enable(&st, &probe, enable);
	ck_assert_uint_eq(n_enabled, 3);
	/* One that has come since. */
	add(&all, 2, 0x50, &near);
	places_enable(&st, &probe, enable);
	ck_assert_uint_eq(n_enabled, 4);
	ck_assert_uint_eq(enabled[3].addr, 0x50);
}
END_TEST

START_TEST(a_removed_probe_is_not_enabled)
{
	add(&all, 1, 0x10, &near);
	probe.off = true;
	places_enable(&st, &probe, enable);
	ck_assert_uint_eq(n_enabled, 0);
}
END_TEST

START_TEST(an_unmapped_object_has_no_enabled_places)
{
	struct place *gone = add(&all, 1, 0x10, &near);
	struct place *stays = add(&all, 1, 0x20, &far);
	struct place *late = add(&other, 1, 0x30, &near);

	late->enabled = true;
	places_enable(&st, &probe, enable);
	ck_assert_uint_eq(n_enabled, 2);
	near.seen = false;
	places_unloaded(&st, &near);
	ck_assert(!gone->enabled);
	ck_assert(stays->enabled);
	ck_assert(!late->enabled);
	/* Not while it is away. */
	places_enable(&st, &probe, enable);
	ck_assert_uint_eq(n_enabled, 2);
	near.seen = true;
	places_enable(&st, &probe, enable);
	ck_assert_uint_eq(n_enabled, 3);
	ck_assert_uint_eq(enabled[2].addr, 0x10);
}
END_TEST

START_TEST(the_places_of_a_space_end_with_it)
{
	add(&all, 1, 0x10, &near);
	struct place *stays = add(&all, 2, 0x20, &near);
	add(&all, 1, 0x30, &near);
	add(&all, 1, 0x40, &near);
	add(&other, 1, 0x50, &near);
	places_space_end(&st, spaces[0].as);
	ck_assert_ptr_eq(all.first, stays);
	ck_assert_ptr_null(stays->next);
	ck_assert_ptr_null(other.first);
}
END_TEST

START_TEST(a_module_is_that_of_some_place)
{
	ck_assert(!places_module_matches(&probe, "near"));
	add(&all, 1, 0x10, &near);
	ck_assert(places_module_matches(&probe, "near"));
	ck_assert(!places_module_matches(&probe, "far"));
	add(&all, 1, 0x20, &far);
	ck_assert(places_module_matches(&probe, "far"));
}
END_TEST

static void
sum(void *ctx, const struct load *l, uint64_t addr, enum probe_passes passes)
{
	ck_assert_ptr_eq(l, addr == 0x10 ? &near : &far);
	ck_assert_int_eq(passes, PASSES_ALL);
	*(uint64_t *)ctx += addr;
}

START_TEST(each_place_is_a_site)
{
	uint64_t total = 0;

	add(&all, 1, 0x10, &near);
	add(&all, 1, 0x20, &far);
	places_sites(&probe, sum, &total);
	ck_assert_uint_eq(total, 0x30);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_place_is_found_by_space_and_address,
		an_object_that_is_mapped_where_another_was_has_its_own_place,
		places_are_enabled_once_and_in_the_family_only,
		a_removed_probe_is_not_enabled,
		an_unmapped_object_has_no_enabled_places,
		the_places_of_a_space_end_with_it,
		a_module_is_that_of_some_place,
		each_place_is_a_site,
	};

	return suite_run("places", setup, teardown, tests, ARRAY_SIZE(tests));
}
