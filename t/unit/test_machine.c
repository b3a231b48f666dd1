/*
 * symbols/elf/x86_64/machine: registers by DWARF's numbers, and what an entry of a
 * linkage table looks like.
 */
#include <check.h>
#include <string.h>

#include "dlang/argloc.h"
#include "dlang/uregs.h"
#include "symbols/elf/machine.h"

START_TEST(vector_registers_have_numbers_17_to_32)
{
	uint8_t reg = 0;

	ck_assert(!machine_vector(0, &reg));
	ck_assert(!machine_vector(16, &reg));
	ck_assert_uint_eq(reg, 0);
	for (unsigned i = 0; i < 16; i++) {
		ck_assert(machine_vector(17 + i, &reg));
		ck_assert_uint_eq(reg, UREG_XMM(i, 0));
	}
	ck_assert(!machine_vector(33, &reg));
	/* Is it one at all? */
	ck_assert(machine_vector(17, NULL));
	ck_assert(machine_vector(40, NULL));
	ck_assert(!machine_vector(16, NULL));
}
END_TEST

static bool
is_plt(const char *bytes, size_t n)
{
	return machine_is_plt((const uint8_t *)bytes, n);
}

#define PLT(bytes)     ck_assert(is_plt(bytes, sizeof(bytes) - 1))
#define NOT_PLT(bytes) ck_assert(!is_plt(bytes, sizeof(bytes) - 1))

START_TEST(linkage_tables_jump_through_memory)
{
	PLT("\xff\x25\x01\x02\x03\x04");
	PLT("\xf2\xff\x25\x01\x02\x03\x04");
	PLT("\xf3\x0f\x1e\xfa\xff\x25\x01\x02\x03\x04");
	PLT("\xf3\x0f\x1e\xfa\xf2\xff\x25\x01\x02\x03\x04");
	PLT("\xff\x35\x01\x02\x03\x04\xff\x25\x01\x02\x03\x04");
	NOT_PLT("\xff\x15\x01\x02\x03\x04");
	NOT_PLT("\xe9\x01\x02\x03\x04\x90");
	NOT_PLT("\xf3\x0f\x1e\xfa");
	NOT_PLT("\xf2");
	NOT_PLT("");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("machine");
	TCase *t = tcase_create("machine");
	SRunner *r;
	int failed;

	tcase_add_test(t, vector_registers_have_numbers_17_to_32);
	tcase_add_test(t, linkage_tables_jump_through_memory);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
