/*
 * symbols/lang/hotspot_vmstructs: the tables in which libjvm says where its
 * members are, made up in memory.  What a real one says is in
 * t/e2e/93-jstack-java.sh.
 */
#include "symbols/lang/hotspot_vmstructs.c"

#include "t/unit/lang_memory.h"
#include "t/unit/suite.h"

#define STRIDE 48U /* of each table */
#define FIELDS (ARENA + 0x0040)
#define TYPES  (ARENA + 0x1800)
#define INTS   (ARENA + 0x2000)
#define MAJOR  (ARENA + 0x2800) /* the version of the machine */
#define TEXTS  (ARENA + 0x3000)

/* libjvm's variables.  The members of an entry: names at 0 and 8, the type's name
 * at 16, whether it is static at 24, then an offset and an address. */
static const struct {
	const char *name;
	uint64_t value;
} variables[] = {
	{ "gHotSpotVMStructs", FIELDS },
	{ "gHotSpotVMStructEntryArrayStride", STRIDE },
	{ "gHotSpotVMStructEntryTypeNameOffset", 0 },
	{ "gHotSpotVMStructEntryFieldNameOffset", 8 },
	{ "gHotSpotVMStructEntryTypeStringOffset", 16 },
	{ "gHotSpotVMStructEntryIsStaticOffset", 24 },
	{ "gHotSpotVMStructEntryOffsetOffset", 32 },
	{ "gHotSpotVMStructEntryAddressOffset", 40 },
	{ "gHotSpotVMTypes", TYPES },
	{ "gHotSpotVMTypeEntryArrayStride", STRIDE },
	{ "gHotSpotVMTypeEntryTypeNameOffset", 8 },
	{ "gHotSpotVMTypeEntrySizeOffset", 32 },
	{ "gHotSpotVMIntConstants", INTS },
	{ "gHotSpotVMIntConstantEntryArrayStride", STRIDE },
	{ "gHotSpotVMIntConstantEntryNameOffset", 16 },
	{ "gHotSpotVMIntConstantEntryValueOffset", 40 },
};

static const struct {
	const char *name;
	int8_t size;
} kinds[] = { { "int", -4 }, { "u2", 2 }, { "address", 8 }, { "bool", 1 },
	{ "int16_t", -2 }, { "u4", 4 } };

static uint64_t text_end, size_of_pcdesc = 16;

static uint64_t
text(const char *s)
{
	uint64_t at = text_end;

	put(at, s, strlen(s) + 1);
	text_end += strlen(s) + 1;
	return at;
}

/* What the tables say of row i. */
static uint64_t
value_of(size_t i)
{
	return rows[i].member == AT(vm_major) ? MAJOR :
	    rows[i].member == AT(pcdesc_size) ? size_of_pcdesc :
						i + 8;
}

static int8_t
size_of_row(size_t i)
{
	return rows[i].type == NULL        ? 4 :
	    rows[i].field == NULL          ? 8 :
	    rows[i].member == AT(vm_major) ? -4 :
					     kinds[i % ARRAY_SIZE(kinds)].size;
}

/* Every row but one; SIZE_MAX: every row. */
static void
put_tables(size_t but)
{
	uint64_t field = FIELDS, type = TYPES, constant = INTS;

	memset(arena, 0, sizeof(arena));
	text_end = TEXTS;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		bool fixed = i % 2 != 0 || r->member == AT(vm_major);
		if (i == but)
			continue;
		if (r->type == NULL) {
			put64(constant + 16, text(r->field));
			put64(constant + 40, value_of(i) | 1ULL << 32);
			constant += STRIDE;
		} else if (r->field == NULL) {
			put64(type + 8, text(r->type));
			put64(type + 32, value_of(i));
			type += STRIDE;
		} else {
			put64(field, text(r->type));
			put64(field + 8, text(r->field));
			put64(field + 16,
			    text(r->member == AT(vm_major) ?
				    "int" :
				    kinds[i % ARRAY_SIZE(kinds)].name));
			put64(field + 24, fixed);
			put64(field + (fixed ? 40 : 32), value_of(i));
			field += STRIDE;
		}
	}
	ck_assert_uint_lt(field, TYPES);
	ck_assert_uint_lt(type, INTS);
	ck_assert_uint_lt(constant, MAJOR);
	put64(MAJOR, 17);
	walk_reset();
}

static void
setup(void)
{
	char program[4096] = "";

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		snprintf(program + strlen(program),
		    sizeof(program) - strlen(program), "long %s = 1;\n",
		    variables[i].name);
	memory_setup(program);
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		put64(at_sym(variables[i].name), variables[i].value);
}

static size_t
first_of_member(uint16_t member, size_t but)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].member == member && i != but)
			return i;
	return SIZE_MAX;
}

/* The first of the tables that names a member has the word: fields, sizes,
 * constants. */
START_TEST(members_are_where_the_tables_say)
{
	struct hs_layout l;

	put_tables(SIZE_MAX);
	ck_assert_int_eq(hs_layout_read(&walk, &load, &l), 0);
	ck_assert_int_eq(l.version, 17);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct hs_field *m = member_of(&l, &rows[i]);
		size_t first = first_of_member(rows[i].member, SIZE_MAX);
		ck_assert_uint_eq(m->at, value_of(first));
		ck_assert_int_eq(m->size, size_of_row(first));
	}
}
END_TEST

START_TEST(what_is_needed_must_be_there)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct hs_layout l;
		size_t other = first_of_member(rows[i].member, i);
		put_tables(i);
		int error = hs_layout_read(&walk, &load, &l);
		if (rows[i].needed && other == SIZE_MAX)
			ck_assert_int_eq(error, -EAGAIN);
		else
			ck_assert_int_eq(error, 0);
		if (rows[i].member == AT(heaps))
			ck_assert_int_eq(l.version, 8);
	}
}
END_TEST

/* Tables that are not there yet, or make no sense. */
START_TEST(tables_must_be_tables)
{
	static const struct {
		const char *name;
		uint64_t value;
	} bad[] = {
		{ "gHotSpotVMStructs", 0 },
		{ "gHotSpotVMTypes", 0 },
		{ "gHotSpotVMIntConstants", 0 },
		{ "gHotSpotVMStructEntryArrayStride", 8 },
		{ "gHotSpotVMTypeEntryArrayStride", 257 },
		{ "gHotSpotVMIntConstantEntryArrayStride", 0 },
	};
	static const uint64_t sizes[] = { 7, 8, 64, 65 };
	struct hs_layout l;

	put_tables(SIZE_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint64_t at = at_sym(bad[i].name), was;
		memcpy(&was, memory_at(at, 8), 8);
		put64(at, bad[i].value);
		walk_reset();
		ck_assert_int_eq(hs_layout_read(&walk, &load, &l), -EAGAIN);
		put64(at, was);
	}
	/* Sizes by which nothing can be walked. */
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_of_pcdesc = sizes[i];
		put_tables(SIZE_MAX);
		ck_assert_int_eq(hs_layout_read(&walk, &load, &l),
		    i == 0 || i == 3 ? -EAGAIN : 0);
	}
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { members_are_where_the_tables_say,
		what_is_needed_must_be_there, tables_must_be_tables };

	fixture_setup();
	int failed = suite_run(
	    "vmstructs", setup, memory_teardown, tests, ARRAY_SIZE(tests));
	fixture_teardown();
	return failed;
}
