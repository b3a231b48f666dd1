/*
 * symbols/dof: declarations of static probes that are made up here.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "symbols/dof.h"
#include "symbols/elf/parts.h"
#include "symbols/sdt.h"
#include "t/fake/fixture.h"

#define SECTIONS_MOST 64
#define TEXT          "\0p\0q\0other\0int\0char *\0f"
enum { P = 1, Q = 3, OTHER = 5, INT = 11, F = 22 };

/* A DOF that grows. */
struct made {
	uint8_t bytes[16384];
	struct dof_section sections[SECTIONS_MOST];
	uint32_t count;
	size_t size;
};

static uint32_t
add(struct made *m, enum dof_kind kind, const void *bytes, size_t n)
{
	m->sections[m->count] = (struct dof_section){
		.kind = kind, .flags = DOF_LOAD, .offset = m->size, .size = n
	};
	memcpy(m->bytes + m->size, bytes, n);
	m->size += (n + 7) / 8 * 8;
	return m->count++;
}

static void
begin(struct made *m)
{
	memset(m, 0, sizeof(*m));
	m->size = sizeof(struct dof_header) +
	    SECTIONS_MOST * sizeof(struct dof_section);
	add(m, DOF_STRINGS, TEXT, sizeof(TEXT));
}

static void
add_provider(struct made *m, uint32_t probes)
{
	const struct dof_provider p = {
		.strings = 0, .probes = probes, .map = DOF_NOTHING, .name = P
	};

	add(m, DOF_PROVIDER, &p, sizeof(p));
}

/* The object that has it, and what it says of p:q. */
static int
types_of(struct made *m, struct sdt_types *out)
{
	struct dof_header h = {
		.magic = { 0x7f, 'D', 'O', 'F' },
		.model = DOF_LP64,
		.encoding = DOF_LITTLE,
		.version = DOF_VERSION,
		.header_size = sizeof(h),
		.entry_size = sizeof(m->sections[0]),
		.count = m->count,
		.table = sizeof(h),
		.load_size = m->size,
		.file_size = m->size,
	};
	static struct object *o;
	const char *why;
	FILE *f = fopen(fixture_path("dof"), "w");

	memcpy(m->bytes, &h, sizeof(h));
	memcpy(m->bytes + sizeof(h), m->sections, sizeof(m->sections));
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(m->bytes, m->size, 1, f), 1);
	fclose(f);
	char *text = mem_printf("__asm__(\".section " DOF_SECTION
				"\\n.incbin \\\"%s\\\"\\n\");\n",
	    fixture_path("dof"));
	const char *path = fixture_cc("dof.so", text, "-shared");
	mem_free(text);
	ck_assert_int_eq(object_open(path, path, &o, &why), 0);
	/* What is told is in its bytes: it stays. */
	return object_sdt_types(o, "p", "f", "q", out);
}

static const struct dof_probe wanted = { .name = Q,
	.args = INT,
	.xargs = INT,
	.nargs = 2,
	.nxargs = 1 };

START_TEST(types_are_found)
{
	struct sdt_types types;
	struct dof_probe probes[2] = { { .name = OTHER }, wanted };
	struct made m;

	begin(&m);
	add_provider(&m, add(&m, DOF_PROBES, probes, sizeof(probes)));
	ck_assert_int_eq(types_of(&m, &types), 0);
	ck_assert_uint_eq(types.nargs, 2);
	ck_assert_uint_eq(types.nxargs, 1);
	ck_assert_str_eq(types.args[0], "int");
	ck_assert_str_eq(types.args[1], "char *");
}
END_TEST

/* Functions may have probes of one name with other arguments. */
START_TEST(the_probe_of_the_function_counts)
{
	struct sdt_types types;
	struct dof_probe probes[] = {
		{ .name = Q, .function = OTHER, .args = INT, .nargs = 1 },
		wanted
	};
	struct made m;

	probes[1].function = F;
	begin(&m);
	add_provider(&m, add(&m, DOF_PROBES, probes, sizeof(probes)));
	ck_assert_int_eq(types_of(&m, &types), 0);
	ck_assert_uint_eq(types.nargs, 2);
	/* No such function: the first. */
	probes[1].function = OTHER;
	begin(&m);
	add_provider(&m, add(&m, DOF_PROBES, probes, sizeof(probes)));
	ck_assert_int_eq(types_of(&m, &types), 0);
	ck_assert_uint_eq(types.nargs, 1);
}
END_TEST

/* A name that has no end, or is the begin of another. */
START_TEST(names_are_whole)
{
	struct sdt_types types;
	struct dof_probe probe = wanted;
	struct made m;

	begin(&m);
	probe.name = sizeof(TEXT) - 1;
	add_provider(&m, add(&m, DOF_PROBES, &probe, sizeof(probe)));
	probe.name = UINT32_MAX;
	add_provider(&m, add(&m, DOF_PROBES, &probe, sizeof(probe)));
	probe.name = OTHER;
	add_provider(&m, add(&m, DOF_PROBES, &probe, sizeof(probe)));
	ck_assert_int_eq(types_of(&m, &types), -ENOENT);
}
END_TEST

/* Providers without end whose probes are all the same: no more are looked at
 * than there is room for. */
START_TEST(a_search_is_as_long_as_the_file)
{
	struct sdt_types types;
	struct dof_probe probes[40];
	struct made m;

	memset(probes, 0, sizeof(probes));
	begin(&m);
	uint32_t same = add(&m, DOF_PROBES, probes, sizeof(probes));
	for (int i = 0; i < 50; i++)
		add_provider(&m, same);
	add_provider(&m, add(&m, DOF_PROBES, &wanted, sizeof(wanted)));
	ck_assert_int_eq(types_of(&m, &types), -ENOENT);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("symbols/dof");
	TCase *tc = tcase_create("dof");
	SRunner *r = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, types_are_found);
	tcase_add_test(tc, the_probe_of_the_function_counts);
	tcase_add_test(tc, names_are_whole);
	tcase_add_test(tc, a_search_is_as_long_as_the_file);
	fixture_setup();
	srunner_run_all(r, CK_NORMAL);
	fixture_teardown();
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
