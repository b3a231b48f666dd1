/*
 * tracer/names/locals.c: which argument of a hit a local variable is, and what
 * a site's table says of it.  Debug information and objects are made up here.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/types.h"
#include "symbols/addrspace.h"
#include "symbols/dwarf_source.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/names/external.h"
#include "tracer/names/locals.h"
#include "tracer/ptrace/proc.h"

#define BIAS UINT64_C(0x7000)

struct dwtypes {
	int none;
};

static struct dwtypes dwtypes;
static struct types *types;
static struct state state;
static struct load mapped = { .bias = BIAS };
static struct space space;
static int line_asked; /* of the sense */

/* What is known of a variable at an address of the file. */
static const struct {
	uint64_t addr;
	const char *name, *type;
	enum dwarf_have value, place;
	bool relative;
} rows[] = {
	{ 0x100, "n", "int", DWARF_HAVE, DWARF_REGISTER, false },
	{ 0x200, "n", "int", DWARF_HAVE, DWARF_HAVE, false },
	{ 0x300, "n", "long", DWARF_HAVE, DWARF_HAVE, false },
	{ 0x100, "s", "short", DWARF_HAVE, DWARF_HAVE, true },
	{ 0x100, "gone", "int", DWARF_AWAY, DWARF_AWAY, false },
	{ 0x200, "gone", NULL, DWARF_NO_NAME, DWARF_NO_NAME, false },
	{ 0x400, "n", NULL, DWARF_NO_SCOPE, DWARF_NO_SCOPE, false },
	{ 0x400, "gone", NULL, DWARF_NO_SCOPE, DWARF_NO_SCOPE, false },
	{ 0x500, "gone", NULL, DWARF_PIECES, DWARF_PIECES, false },
};

static void
double_local(struct dwtypes *dw, uint64_t addr, const struct dwarf_sense *sense,
    const char *name, struct dwarf_local *out)
{
	ck_assert_ptr_eq(dw, &dwtypes);
	line_asked = sense->line;
	ck_assert(!sense->entry);
	ck_assert_ptr_null(sense->inlined);
	*out = (struct dwarf_local){ .value = DWARF_NO_NAME,
		.place = DWARF_NO_NAME };
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].addr != addr || strcmp(rows[i].name, name) != 0)
			continue;
		out->value = rows[i].value;
		out->place = rows[i].place;
		out->relative = rows[i].relative;
		out->type = rows[i].type != NULL ?
		    types_lookup(types, rows[i].type) :
		    NULL;
		out->value_loc = (struct argloc){ .kind = ARGLOC_MEM,
			.disp = (int64_t)addr };
		out->place_loc = (struct argloc){ .kind = ARGLOC_SUM,
			.disp = (int64_t)addr };
	}
}

static struct load *
double_load_at(uint64_t addr)
{
	return addr >= BIAS ? &mapped : NULL;
}

#define external_types(st, ts) (&dwtypes)
#define dwarf_local(dw, o, addr, sense, name, out) \
	double_local(dw, addr, sense, name, out)
#define addrspace_load_at(as, addr) double_load_at(addr)
#include "tracer/names/locals.c"

/* ---- probes: the name of a function is its place ---- */

static void
each_site(const struct probe *p, probe_site_fn each, void *ctx)
{
	/* "100,200": two places */
	for (const char *s = p->func; *s != '\0'; s += strspn(s, ",")) {
		char *end;
		each(ctx, &mapped, BIAS + strtoull(s, &end, 16), true);
		s = end;
	}
}

static struct dwarf_sense
line_42(const struct probe *p)
{
	return (struct dwarf_sense){ .line = 42 };
}

static const struct provider sited = { .name = "sited",
	.sites = each_site,
	.sense = line_42 };
static const struct provider plain = { .name = "plain", .sites = each_site };
static const struct provider placeless = { .name = "placeless" };

static const struct probe *
add(const struct provider *p, const char *func)
{
	bool fresh;

	return probe_add(&state.probes, p, p->name, "m", func, "go", &fresh);
}

static void
setup(void)
{
	types = types_create(256);
	probes_init(&state.probes);
	/* Only whether there are objects counts. */
	space.as = (struct addrspace *)&space;
}

static void
teardown(void)
{
	parts_end(&state.parts);
	state.parts = (struct parts){ 0 };
	probes_fini(&state.probes);
	types_destroy(types);
}

static struct world_local found;

static int
find(const char *func, const char *name, bool address)
{
	struct probe_desc pd = {
		.prov = "", .mod = "", .func = func, .name = "go"
	};

	found = (struct world_local){ 0 };
	return locals_find(&state, &pd, name, address, types, &found);
}

static void
check_missing(const char *func, const char *name, const char *why)
{
	ck_assert_int_eq(find(func, name, false), -ENOENT);
	ck_assert_str_eq(found.why, why);
	ck_assert_ptr_null(found.type);
}

static struct argloc *
table_of(const struct probe *p, uint64_t addr, uint32_t *total)
{
	static const struct argloc args[2] = { { .kind = ARGLOC_REG, .reg = 1 },
		{ .kind = ARGLOC_REG, .reg = 2 } };

	*total = 99;
	return locals_table(&state, &space, p, addr, args, 2, total);
}

/* ---- names ---- */

START_TEST(a_name_becomes_a_number)
{
	add(&sited, "100");
	add(&sited, "200");
	ck_assert_int_eq(find("100", "n", false), 0);
	ck_assert_uint_eq(found.arg, ARGLOC_LOCALS);
	ck_assert_ptr_eq(found.type, types_lookup(types, "int"));
	ck_assert_int_eq(line_asked, 42);
	ck_assert_int_eq(find("100", "s", false), 0);
	ck_assert_uint_eq(found.arg, ARGLOC_LOCALS + 1);
	ck_assert_ptr_eq(found.type, types_lookup(types, "short"));
	/* Its address, and another description, are others. */
	ck_assert_int_eq(find("100", "s", true), 0);
	ck_assert_uint_eq(found.arg, ARGLOC_LOCALS + 2);
	ck_assert_int_eq(find("200", "n", false), 0);
	ck_assert_uint_eq(found.arg, ARGLOC_LOCALS + 3);
	ck_assert_int_eq(find("", "n", false), 0);
	ck_assert_uint_eq(found.arg, ARGLOC_LOCALS + 4);
	/* The same once more has the same number. */
	ck_assert_int_eq(find("200", "n", false), 0);
	ck_assert_uint_eq(found.arg, ARGLOC_LOCALS + 3);
	ck_assert_int_eq(find("100", "n", false), 0);
	ck_assert_uint_eq(found.arg, ARGLOC_LOCALS);
}
END_TEST

/* Each field of a description tells it from others. */
START_TEST(a_number_is_of_one_description)
{
	struct probe_desc pd[6];

	add(&sited, "100");
	for (size_t i = 0; i < ARRAY_SIZE(pd); i++)
		pd[i] = (struct probe_desc){
			.prov = "", .mod = "", .func = "", .name = "go"
		};
	pd[1].prov = "sited";
	pd[2].mod = "m";
	pd[3].func = "100";
	pd[4].name = "g*";
	pd[5].id = add(&sited, "100")->id;
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < ARRAY_SIZE(pd); i++) {
			ck_assert_int_eq(locals_find(&state, &pd[i], "n", false,
					     types, &found),
			    0);
			ck_assert_uint_eq(found.arg, ARGLOC_LOCALS + i);
		}
}
END_TEST

START_TEST(a_variable_may_be_at_some_places_only)
{
	add(&sited, "100");
	add(&sited, "400");
	ck_assert_int_eq(find("", "n", false), 0);
	ck_assert_ptr_eq(found.type, types_lookup(types, "int"));
	add(&plain, "400,100");
	ck_assert_int_eq(find("400,100", "n", false), 0);
	ck_assert_int_eq(line_asked, 0);
}
END_TEST

START_TEST(why_a_variable_is_not_there)
{
	static const char *const differs =
	    "It has different types at the places of this probe";
	static const char *const nowhere =
	    "The probe is at no place in a program";

	add(&sited, "100");
	add(&sited, "200,300");
	add(&sited, "200,100");
	add(&sited, "400,100");
	add(&sited, "100,400");
	add(&sited, "400,200,500");
	add(&sited, "200,400");
	add(&sited, "100,500");
	add(&placeless, "nowhere");
	check_missing("200,300", "n", differs);
	ck_assert_int_eq(find("200,100", "n", false), 0);
	ck_assert_int_eq(find("100", "n", true), -ENOENT);
	ck_assert_str_eq(found.why, dwarf_have_text(DWARF_REGISTER));
	/* Of several reasons, the one that says most; else the first. */
	check_missing("100", "gone", dwarf_have_text(DWARF_AWAY));
	check_missing("200,100", "gone", dwarf_have_text(DWARF_AWAY));
	check_missing("400,100", "gone", dwarf_have_text(DWARF_AWAY));
	check_missing("100,400", "gone", dwarf_have_text(DWARF_AWAY));
	check_missing("400,200,500", "gone", dwarf_have_text(DWARF_PIECES));
	check_missing("200,400", "gone", dwarf_have_text(DWARF_NO_NAME));
	check_missing("100,500", "gone", dwarf_have_text(DWARF_AWAY));
	check_missing("nowhere", "n", nowhere);
	check_missing("absent", "n", nowhere);
}
END_TEST

/* ---- tables ---- */

START_TEST(a_site_has_its_arguments_and_the_variables)
{
	const struct probe *p = add(&sited, "100");
	uint32_t total;

	add(&sited, "200");
	ck_assert_int_eq(find("200", "n", false), 0);
	ck_assert_int_eq(find("100", "n", false), 0);
	ck_assert_int_eq(find("100", "s", false), 0);
	ck_assert_int_eq(find("100", "s", true), 0);
	struct argloc *t = table_of(p, BIAS + 0x100, &total);
	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(total, ARGLOC_LOCALS + 4);
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_int_eq(t[i].kind, ARGLOC_REG);
		ck_assert_uint_eq(t[i].reg, i + 1);
	}
	/* Arguments that it lacks, and the variable of another probe, are 0. */
	for (uint32_t i = 2; i <= ARGLOC_LOCALS; i++)
		ck_assert_int_eq(t[i].kind, ARGLOC_ZERO);
	ck_assert_int_eq(t[ARGLOC_LOCALS + 1].kind, ARGLOC_MEM);
	ck_assert_int_eq(t[ARGLOC_LOCALS + 1].disp, 0x100);
	/* An address of the file is moved to where it is mapped. */
	ck_assert_int_eq(t[ARGLOC_LOCALS + 2].kind, ARGLOC_MEM);
	ck_assert_int_eq(t[ARGLOC_LOCALS + 2].disp, 0x7100);
	ck_assert_int_eq(t[ARGLOC_LOCALS + 3].kind, ARGLOC_SUM);
	ck_assert_int_eq(t[ARGLOC_LOCALS + 3].disp, 0x7100);
	mem_free(t);
}
END_TEST

/* The clause was compiled for a variable of one type. */
START_TEST(another_variable_of_that_name_is_not_read)
{
	const struct probe *p = add(&sited, "100");
	uint32_t total;

	ck_assert_int_eq(find("100", "n", false), 0);
	struct argloc *t = table_of(p, BIAS + 0x300, &total);
	ck_assert_uint_eq(total, ARGLOC_LOCALS + 1);
	ck_assert_int_eq(t[ARGLOC_LOCALS].kind, ARGLOC_NONE);
	mem_free(t);
	t = table_of(p, BIAS + 0x400, &total);
	ck_assert_int_eq(t[ARGLOC_LOCALS].kind, ARGLOC_NONE);
	mem_free(t);
	t = table_of(p, BIAS + 0x200, &total);
	ck_assert_int_eq(t[ARGLOC_LOCALS].kind, ARGLOC_MEM);
	mem_free(t);
}
END_TEST

START_TEST(most_sites_need_no_table)
{
	const struct probe *p = add(&sited, "100"), *q = add(&sited, "200");
	uint32_t total;

	ck_assert_ptr_null(table_of(p, BIAS + 0x100, &total));
	ck_assert_int_eq(find("200", "n", false), 0);
	ck_assert_ptr_null(table_of(p, BIAS + 0x100, &total));
	ck_assert_ptr_null(table_of(q, 0x200, &total)); /* in no object */
	space.as = NULL;
	ck_assert_ptr_null(table_of(q, BIAS + 0x200, &total));
	ck_assert_uint_eq(total, 99);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { a_name_becomes_a_number,
		a_number_is_of_one_description,
		a_variable_may_be_at_some_places_only,
		why_a_variable_is_not_there,
		a_site_has_its_arguments_and_the_variables,
		another_variable_of_that_name_is_not_read,
		most_sites_need_no_table };

	return suite_run("locals", setup, teardown, tests, ARRAY_SIZE(tests));
}
