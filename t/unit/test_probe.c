/*
 * The probe table: ids, names, which descriptions mean which probes.
 */
#include <check.h>
#include <string.h>

#include "tracer/base/probe.h"
#include "tracer/base/provider.h"

static struct probes table;
static int destroyed;

/* "a.out" is any module called "main". */
static bool
module_matches(const struct probe *p, const char *module)
{
	return strcmp(module, "a.out") == 0 && strcmp(p->mod, "main") == 0;
}

static void
destroy(struct probe *p)
{
	destroyed++;
}

static const struct provider plain = { .name = "plain" };
static const struct provider special = { .name = "special",
	.module_matches = module_matches,
	.destroy = destroy };

static struct probe *
add(const struct provider *pr, const char *prov, const char *mod,
    const char *func, const char *name)
{
	bool fresh = false;
	struct probe *p = probe_add(&table, pr, prov, mod, func, name, &fresh);

	ck_assert(fresh);
	return p;
}

static bool
matches(const struct probe *p, const char *prov, const char *mod,
    const char *func, const char *name)
{
	const struct probe_desc pd = {
		.prov = prov, .mod = mod, .func = func, .name = name
	};

	return probe_matches(p, &pd);
}

static void
setup(void)
{
	probes_init(&table);
	destroyed = 0;
}

static void
teardown(void)
{
	probes_fini(&table);
}

START_TEST(ids_and_names)
{
	bool fresh = true;
	char name[] = "entry";
	struct probe *p = add(&plain, "pid1", "libc", "read", name);
	struct probe *q = add(&plain, "pid1", "libc", "read", "return");

	name[0] = 'x'; /* the table has its own */
	ck_assert_str_eq(p->name, "entry");
	ck_assert_uint_eq(p->id, 1);
	ck_assert_uint_eq(q->id, 2);
	ck_assert_ptr_eq(probe_by_id(&table, 2), q);
	ck_assert_ptr_null(probe_by_id(&table, 0));
	ck_assert_ptr_null(probe_by_id(&table, 3));
	ck_assert_ptr_eq(
	    probe_add(&table, &plain, "pid1", "libc", "read", "entry", &fresh),
	    p);
	ck_assert(!fresh);
	ck_assert_uint_eq(table.list.len, 2);
}
END_TEST

START_TEST(many_stay_where_they_are)
{
	bool fresh;
	char func[16];
	struct probe *first = add(&plain, "p", "m", "first", "n");

	for (int i = 0; i < 5000; i++) {
		snprintf(func, sizeof(func), "f%d", i);
		add(&plain, "p", "m", func, "n");
	}
	ck_assert_ptr_eq(probe_by_id(&table, 1), first);
	ck_assert_ptr_eq(
	    probe_add(&table, &plain, "p", "m", "first", "n", &fresh), first);
	ck_assert_uint_eq(
	    probe_add(&table, &plain, "p", "m", "f4999", "n", &fresh)->id,
	    5001);
}
END_TEST

/* A function by any of its names; the probe has the first. */
START_TEST(other_names_of_a_function)
{
	const char *const names[] = { "read", "__read", "__libc_read", NULL };
	struct probe *p = add(&plain, "pid1", "libc", "read", "entry");

	ck_assert(!matches(p, "pid1", "libc", "__read", "entry"));
	probe_also(&table, p, names);
	ck_assert(matches(p, "pid1", "libc", "read", "entry"));
	ck_assert(matches(p, "pid1", "libc", "__read", "entry"));
	ck_assert(matches(p, "pid1", "libc", "__libc_*", "entry"));
	ck_assert(!matches(p, "pid1", "libc", "__write", "entry"));
	ck_assert(!matches(p, "pid1", "libm", "__read", "entry"));
	ck_assert_str_eq(p->func, "read");
}
END_TEST

START_TEST(ids_of_what_comes_later)
{
	struct probe *early = add(&plain, "p", "m", "early", "n");

	probes_fixed(&table);
	struct probe *first = add(&plain, "p", "m", "first", "n");
	struct probe *second = add(&plain, "p", "m", "second", "n");
	ck_assert_uint_eq(early->id, 1);
	ck_assert_uint_eq(first->id, PROBE_FIRST_MADE);
	ck_assert_ptr_eq(probe_by_id(&table, 1), early);
	ck_assert_ptr_eq(probe_by_id(&table, PROBE_FIRST_MADE), first);
	ck_assert_ptr_eq(probe_by_id(&table, PROBE_FIRST_MADE + 1), second);
	ck_assert_ptr_null(probe_by_id(&table, PROBE_FIRST_MADE + 2));
	ck_assert_ptr_null(probe_by_id(&table, 2));
	ck_assert_ptr_null(probe_by_id(&table, PROBE_FIRST_MADE - 1));
	ck_assert_ptr_null(probe_by_id(&table, 0));
	ck_assert_ptr_null(probe_by_id(&table, UINT32_MAX));
}
END_TEST

START_TEST(fields)
{
	struct probe *p = add(&plain, "pid12", "libc.so.6", "read", "entry");

	ck_assert(matches(p, "pid12", "libc.so.6", "read", "entry"));
	ck_assert(matches(p, "", "", "read", ""));
	ck_assert(matches(p, "pid*", "libc*", "r??d", "[d-f]ntry"));
	ck_assert(!matches(p, "pid1", "", "", ""));
	ck_assert(!matches(p, "", "libc", "", ""));
	ck_assert(!matches(p, "", "", "rea", ""));
	ck_assert(!matches(p, "", "", "r*x", ""));
	ck_assert(!matches(p, "", "", "", "return"));
	ck_assert(!matches(p, "pid12", "libc.so.6", "write", "entry"));
}
END_TEST

START_TEST(all_empty_means_anchored)
{
	ck_assert(matches(add(&plain, "p", "m", "f", "n"), "", "", "", ""));
	ck_assert(!matches(add(&plain, "p", "", "", "n"), "", "", "", ""));
	/* One field is enough to mean unanchored ones. */
	ck_assert(matches(add(&plain, "p", "", "", "o"), "p", "", "", ""));
}
END_TEST

START_TEST(modules_by_the_provider)
{
	struct probe *p = add(&special, "p", "main", "f", "n");
	struct probe *q = add(&special, "p", "other", "f", "n");
	struct probe *r = add(&plain, "q", "main", "f", "n");

	ck_assert(matches(p, "", "a.out", "", ""));
	ck_assert(matches(p, "", "main", "", ""));
	ck_assert(!matches(q, "", "a.out", "", ""));
	ck_assert(!matches(r, "", "a.out", "", ""));
	/* The other fields count all the same. */
	ck_assert(!matches(p, "", "a.out", "g", ""));
}
END_TEST

START_TEST(by_id_alone)
{
	struct probe *p = add(&plain, "p", "m", "f", "n");
	struct probe_desc pd = {
		.id = 1, .prov = "no", .mod = "", .func = "", .name = ""
	};

	ck_assert(probe_matches(p, &pd));
	pd.id = 2;
	ck_assert(!probe_matches(p, &pd));
}
END_TEST

START_TEST(providers_free_their_data)
{
	add(&special, "p", "m", "f", "n");
	add(&plain, "p", "m", "g", "n");
	add(&special, "p", "m", "h", "n");
	probes_fini(&table);
	ck_assert_int_eq(destroyed, 2);
	probes_init(&table);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("probe");
	TCase *tc = tcase_create("probe");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, ids_and_names);
	tcase_add_test(tc, many_stay_where_they_are);
	tcase_add_test(tc, other_names_of_a_function);
	tcase_add_test(tc, ids_of_what_comes_later);
	tcase_add_test(tc, fields);
	tcase_add_test(tc, all_empty_means_anchored);
	tcase_add_test(tc, modules_by_the_provider);
	tcase_add_test(tc, by_id_alone);
	tcase_add_test(tc, providers_free_their_data);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
