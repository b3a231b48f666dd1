/*
 * disasm/pieces: which ranges without a name are pieces of which function.
 */
#include <check.h>

#include "disasm/pieces.h"
#include "dlang/base/base.h"
#include "t/unit/body_memory.h"
#include "t/unit/suite.h"

static uint64_t pad_of_first, word, laid;

static void
range_pads(void *ctx, const struct piece_range *r,
    void (*each)(void *arg, uint64_t pad), void *arg)
{
	if (r->start == 0x1000 && pad_of_first != 0)
		each(arg, pad_of_first);
}

static void
held(void *ctx, void (*each)(void *arg, uint64_t addr), void *arg)
{
	each(arg, word);
}

static bool
is_laid(void *ctx, uint64_t addr)
{
	return addr == laid;
}

/* Two functions at 1000 and 2000; ranges at 3001 and 4000. */
static struct piece_range ranges[4];

static void
owners(void)
{
	static const struct piece_range all[] = {
		{ 0x1000, 0x1040, true, 9 },
		{ 0x2000, 0x2040, true, 9 },
		{ 0x3001, 0x3020, false, 9 },
		{ 0x4000, 0x4020, false, 9 },
	};

	memcpy(ranges, all, sizeof(ranges));
	pieces_find(ranges, ARRAY_SIZE(ranges),
	    &(struct piece_world){ .code = { read_memory, NULL },
		.fixed = true,
		.pads = range_pads,
		.held = held,
		.laid = is_laid });
	ck_assert_uint_eq(ranges[0].owner, 0);
	ck_assert_uint_eq(ranges[1].owner, 1);
}

static void
setup_ranges(void)
{
	memset(memory, 0x90, sizeof(memory));
	pad_of_first = word = laid = 0;
}

START_TEST(owners_are_told_by_jumps)
{
	/* jmp 3001; from there jmp 4000 */
	put(0x1000, "e9 fc 1f 00 00");
	put(0x3001, "e9 fa 0f 00 00");
	put(0x4000, "eb 00 e9 fe cf ff ff"); /* back to 1005 */
	owners();
	ck_assert_uint_eq(ranges[2].owner, 0);
	ck_assert_uint_eq(ranges[3].owner, 0);
	/* Of two functions: of none, and so are its own pieces not theirs. */
	put(0x2000, "e9 fc 0f 00 00");
	owners();
	ck_assert_uint_eq(ranges[2].owner, 2);
	ck_assert_uint_eq(ranges[3].owner, 2);
}
END_TEST

START_TEST(owners_are_told_by_the_unwinder)
{
	pad_of_first = 0x4004;
	owners();
	ck_assert_uint_eq(ranges[2].owner, 2);
	ck_assert_uint_eq(ranges[3].owner, 0);
}
END_TEST

START_TEST(functions_are_called_or_held)
{
	put(0x1000, "e9 fc 1f 00 00");
	put(0x2000, "e8 fc 0f 00 00");
	owners();
	ck_assert_uint_eq(ranges[2].owner, 2);
	/* By itself: a recursion. */
	put(0x2000, "90 90 90 90 90");
	put(0x3001, "e8 fb ff ff ff");
	owners();
	ck_assert_uint_eq(ranges[2].owner, 2);
	put(0x3001, "90 90 90 90 90");
	owners();
	ck_assert_uint_eq(ranges[2].owner, 0);
	/* Its address: in data, in a lea, in a constant. */
	word = 0x3001;
	owners();
	ck_assert_uint_eq(ranges[2].owner, 2);
	word = 0;
	put(0x2000, "48 8d 05 fa 0f 00 00");
	owners();
	ck_assert_uint_eq(ranges[2].owner, 2);
	put(0x2000, "bf 01 30 00 00 90 90");
	owners();
	ck_assert_uint_eq(ranges[2].owner, 2);
	/* ... but a function has nothing on the stack at its begin. */
	laid = 0x3001;
	owners();
	ck_assert_uint_eq(ranges[2].owner, 0);
}
END_TEST

START_TEST(aligned_ranges_are_functions)
{
	/* jmp 4000 */
	put(0x1000, "e9 fb 2f 00 00");
	owners();
	ck_assert_uint_eq(ranges[3].owner, 3);
	laid = 0x4000;
	owners();
	ck_assert_uint_eq(ranges[3].owner, 0);
	laid = 0;
	/* It jumps into the middle of another: 1005 */
	put(0x4000, "e9 00 d0 ff ff");
	owners();
	ck_assert_uint_eq(ranges[3].owner, 0);
	/* It is jumped into. */
	put(0x4000, "90 90 90 90 90");
	put(0x1000, "e9 fc 2f 00 00");
	owners();
	ck_assert_uint_eq(ranges[3].owner, 0);
}
END_TEST

START_TEST(stubs_of_the_linker_are_nobodys)
{
	put(0x1000, "e9 fc 1f 00 00");
	put(0x3001, "f3 0f 1e fa ff 25 00 10 00 00"); /* jmp [rip + 1000] */
	owners();
	ck_assert_uint_eq(ranges[2].owner, 2);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		owners_are_told_by_jumps,
		owners_are_told_by_the_unwinder,
		functions_are_called_or_held,
		aligned_ranges_are_functions,
		stubs_of_the_linker_are_nobodys,
	};

	return suite_run(
	    "pieces", setup_ranges, NULL, tests, ARRAY_SIZE(tests));
}
