/*
 * tracer/names/kept: data about an object is the same at each call, begins as zeroes,
 * and ends with the run, which holds the object until then.
 */
#include <check.h>
#include <stdlib.h>

#include "symbols/object.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"

struct object {
	int held, ended;
};

static struct object *
double_get(struct object *o)
{
	o->held++;
	return o;
}

#define object_get(o) double_get(o)
#define object_put(o) ((o)->held--)
#include "tracer/names/kept.c"

struct notes {
	struct object *of;
	int n;
};

static void
notes_end(void *part)
{
	struct notes *notes = part;

	ck_assert_int_gt(notes->of->held, 0);
	notes->of->ended++;
}

static const struct part notes_part = { .size = sizeof(struct notes),
	.end = notes_end };

static struct notes *
notes_of(struct state *st, struct object *o)
{
	struct notes *notes = part_of(object_parts(st, o), &notes_part);

	notes->of = o;
	return notes;
}

START_TEST(an_object_keeps_its_own)
{
	struct state st = { 0 };
	struct object a = { 0 }, b = { 0 };

	ck_assert_int_eq(notes_of(&st, &a)->n, 0);
	notes_of(&st, &a)->n = 7;
	ck_assert_int_eq(notes_of(&st, &b)->n, 0);
	ck_assert_int_eq(notes_of(&st, &a)->n, 7);
	ck_assert_int_eq(a.held, 1);
	parts_end(&st.parts);
	ck_assert_int_eq(a.held, 0);
	ck_assert_int_eq(b.held, 0);
	ck_assert_int_eq(a.ended, 1);
	ck_assert_int_eq(b.ended, 1);
}
END_TEST

int
main(void)
{
	const TTest *tests[] = { an_object_keeps_its_own };

	return suite_run("kept", NULL, NULL, tests, ARRAY_SIZE(tests));
}
