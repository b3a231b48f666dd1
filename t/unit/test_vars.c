/*
 * dlang/vm/vars.c: globals, clause-locals, thread-locals, associative arrays.
 */
#include <check.h>
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/vm/vars.h"
#include "t/fake/env.h"

static struct kit k;

enum {
	GLOBAL = 0x500,
	GSTR,
	GSTRUCT,
	LOCAL,
	LSTR,
	SELF,
	SELFSTR,
	ASSOC,
	SELFASSOC,
	ASSOCSTR
};

static void
setup(void)
{
	kit_init(&k);
	k.opts.value[OPT_STRSIZE] = 16;
	kit_var(&k, DIF_GLOBAL, DIF_SCALAR, GLOBAL);
	kit_ref_var(&k, DIF_GLOBAL, DIF_SCALAR, GSTR, true, 17);
	kit_ref_var(&k, DIF_GLOBAL, DIF_SCALAR, GSTRUCT, false, 12);
	kit_var(&k, DIF_LOCAL, DIF_SCALAR, LOCAL);
	kit_ref_var(&k, DIF_LOCAL, DIF_SCALAR, LSTR, true, 17);
	kit_var(&k, DIF_THREAD, DIF_SCALAR, SELF);
	kit_ref_var(&k, DIF_THREAD, DIF_SCALAR, SELFSTR, true, 17);
	kit_var(&k, DIF_GLOBAL, DIF_ARRAY, ASSOC);
	kit_var(&k, DIF_THREAD, DIF_ARRAY, SELFASSOC);
	kit_ref_var(&k, DIF_GLOBAL, DIF_ARRAY, ASSOCSTR, true, 17);
	/* The same id in another scope is another variable. */
	kit_var(&k, DIF_LOCAL, DIF_SCALAR, GLOBAL);
	kit_publish(&k);
	vm_begin(&k.env);
	k.env.fault.code = FLT_NONE;
}

static void
teardown(void)
{
	kit_fini(&k);
}

static const struct {
	enum dif_scope scope;
	bool assoc;
} kinds[] = {
	{ DIF_GLOBAL, false },
	{ DIF_GLOBAL, false },
	{ DIF_GLOBAL, false },
	{ DIF_LOCAL, false },
	{ DIF_LOCAL, false },
	{ DIF_THREAD, false },
	{ DIF_THREAD, false },
	{ DIF_GLOBAL, true },
	{ DIF_THREAD, true },
	{ DIF_GLOBAL, true },
};

static uint64_t
get(uint32_t id, const struct vm_tuple *key, uint32_t n)
{
	return vars_load(&k.env, kinds[id - GLOBAL].scope, id, key, n,
	    kinds[id - GLOBAL].assoc);
}

static void
set(uint32_t id, const struct vm_tuple *key, uint32_t n, uint64_t v)
{
	vars_store(&k.env, kinds[id - GLOBAL].scope, id, key, n,
	    kinds[id - GLOBAL].assoc, v);
}

static const char *
str(uint64_t addr)
{
	return addr == 0 ? NULL : (char *)k.store.base + VMA_REF(addr);
}

static struct vm_tuple
num(uint64_t v)
{
	return (struct vm_tuple){ v, 0, TUPLE_VALUE };
}

static struct vm_tuple
text(uint32_t off, const char *s)
{
	return (struct vm_tuple){ fake_env_str(&k.target, off, s), 0,
		TUPLE_STRING };
}

START_TEST(scalars)
{
	ck_assert_uint_eq(get(GLOBAL, NULL, 0), 0);
	set(GLOBAL, NULL, 0, 7);
	ck_assert_uint_eq(get(GLOBAL, NULL, 0), 7);
	ck_assert_uint_eq(
	    vars_load(&k.env, DIF_LOCAL, GLOBAL, NULL, 0, false), 0);
	set(LOCAL, NULL, 0, 8);
	ck_assert_uint_eq(get(LOCAL, NULL, 0), 8);
	vm_begin(&k.env); /* the next firing */
	ck_assert_uint_eq(get(LOCAL, NULL, 0), 0);
	ck_assert_uint_eq(get(GLOBAL, NULL, 0), 7);
}
END_TEST

START_TEST(strings_are_null_copied_and_cut)
{
	static const uint32_t ids[] = { GSTR, LSTR, SELFSTR };

	ck_assert_uint_eq(get(GSTR, NULL, 0), 0);
	ck_assert_uint_eq(get(SELFSTR, NULL, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		uint64_t s = fake_env_str(&k.target, 0, "short");
		set(ids[i], NULL, 0, s);
		k.target.mem[0] = 'X'; /* it was copied */
		ck_assert_str_eq(str(get(ids[i], NULL, 0)), "short");
		set(ids[i], NULL, 0,
		    fake_env_str(&k.target, 0, "0123456789abcdefghi"));
		ck_assert_str_eq(str(get(ids[i], NULL, 0)), "0123456789abcdef");
		/* To itself, and from its own middle. */
		set(ids[i], NULL, 0, get(ids[i], NULL, 0));
		ck_assert_str_eq(str(get(ids[i], NULL, 0)), "0123456789abcdef");
		set(ids[i], NULL, 0, get(ids[i], NULL, 0) + 3);
		ck_assert_str_eq(str(get(ids[i], NULL, 0)), "3456789abcdef");
		set(ids[i], NULL, 0, 0);
		ck_assert_uint_eq(get(ids[i], NULL, 0), 0);
		ck_assert_int_eq(k.env.fault.code, FLT_NONE);
	}
	set(GSTR, NULL, 0, 12);
	ck_assert_int_eq(k.env.fault.code, FLT_BADADDR);
	ck_assert_uint_eq(get(GSTR, NULL, 0), 0);
}
END_TEST

START_TEST(structs_are_zero_and_copied_whole)
{
	uint64_t at = get(GSTRUCT, NULL, 0);

	ck_assert_uint_ne(at, 0);
	ck_assert(memcmp(str(at), "\0\0\0\0\0\0\0\0\0\0\0", 12) == 0);
	set(GSTRUCT, NULL, 0,
	    fake_env_put(&k.target, 0, "a\0b\0c\0d\0e\0f\0ghij", 16));
	ck_assert(memcmp(str(at), "a\0b\0c\0d\0e\0f\0\0\0\0\0", 16) == 0);
}
END_TEST

START_TEST(thread_locals_belong_to_their_thread)
{
	set(SELF, NULL, 0, 5);
	k.env.thread++;
	ck_assert_uint_eq(get(SELF, NULL, 0), 0);
	set(SELF, NULL, 0, 6);
	k.env.thread--;
	ck_assert_uint_eq(get(SELF, NULL, 0), 5);
	set(SELF, NULL, 0, 0);
	ck_assert_uint_eq(get(SELF, NULL, 0), 0);
	k.env.thread++;
	ck_assert_uint_eq(get(SELF, NULL, 0), 6);
}
END_TEST

START_TEST(keys_are_values_and_contents)
{
	struct vm_tuple a[2] = { num(1), text(0, "key") };
	struct vm_tuple b[2] = { num(1), text(100, "key") };
	struct vm_tuple c[2] = { num(1), text(200, "kez") };
	struct vm_tuple d[2] = { num(2), text(0, "key") };

	set(ASSOC, a, 2, 10);
	ck_assert_uint_eq(get(ASSOC, b, 2), 10);
	ck_assert_uint_eq(get(ASSOC, c, 2), 0);
	ck_assert_uint_eq(get(ASSOC, d, 2), 0);
	set(ASSOC, c, 2, 11);
	set(SELFASSOC, a, 2, 12);
	ck_assert_uint_eq(get(ASSOC, a, 2), 10);
	ck_assert_uint_eq(get(SELFASSOC, b, 2), 12);
	k.env.thread++;
	ck_assert_uint_eq(get(SELFASSOC, b, 2), 0);
	ck_assert_uint_eq(get(ASSOC, b, 2), 10);
	set(ASSOC, b, 2, 0);
	ck_assert_uint_eq(get(ASSOC, a, 2), 0);
	ck_assert_uint_eq(get(ASSOC, c, 2), 11);

	/* A struct by its bytes; a string only up to its size. */
	struct vm_tuple e = { fake_env_put(&k.target, 300, "abcd\0\0\0\0", 8),
		8, TUPLE_BYTES };
	set(ASSOC, &e, 1, 20);
	k.target.mem[307] = 1;
	ck_assert_uint_eq(get(ASSOC, &e, 1), 0);
	struct vm_tuple f = { fake_env_str(&k.target, 400, "abcdef"), 3,
		TUPLE_STRING };
	set(ASSOC, &f, 1, 21);
	struct vm_tuple g = text(500, "abc");
	ck_assert_uint_eq(get(ASSOC, &g, 1), 21);
	ck_assert_uint_eq(k.env.scratch_used, 0);
	ck_assert_int_eq(k.env.fault.code, FLT_NONE);
}
END_TEST

START_TEST(bad_keys_fault)
{
	struct vm_tuple t = { 0, 0, TUPLE_STRING };

	ck_assert_uint_eq(get(ASSOC, &t, 1), 0);
	ck_assert_int_eq(k.env.fault.code, FLT_BADADDR);
	k.env.fault.code = FLT_NONE;
	t = (struct vm_tuple){ FAKE_MEM_BASE, 4000, TUPLE_BYTES };
	get(ASSOC, &t, 1);
	ck_assert_int_eq(k.env.fault.code, FLT_TUPOFLOW);
}
END_TEST

START_TEST(full_store_counts_drops_and_frees_are_reused)
{
	uint64_t n = 0;

	while (kit_lane(&k)->drops[DROP_DYNAMIC] == 0) {
		struct vm_tuple t = num(++n);
		set(ASSOC, &t, 1, n * 2);
		ck_assert_uint_lt(n, 1000);
	}
	ck_assert_uint_gt(n, 10);
	for (uint64_t i = 1; i < n; i++) {
		struct vm_tuple t = num(i);
		ck_assert_uint_eq(get(ASSOC, &t, 1), i * 2);
	}
	/* Replacing needs no room; a new one does; zero to an absent one is
	 * no drop; a freed one makes room for exactly one. */
	struct vm_tuple one = num(1), more = num(n), absent = num(n + 1);
	set(ASSOC, &one, 1, 99);
	ck_assert_uint_eq(get(ASSOC, &one, 1), 99);
	set(ASSOC, &absent, 1, 0);
	ck_assert_uint_eq(kit_lane(&k)->drops[DROP_DYNAMIC], 1);
	set(SELF, NULL, 0, 1);
	ck_assert_uint_eq(kit_lane(&k)->drops[DROP_DYNAMIC], 2);
	set(ASSOC, &one, 1, 0);
	set(ASSOC, &more, 1, 5);
	ck_assert_uint_eq(get(ASSOC, &more, 1), 5);
	set(ASSOC, &absent, 1, 6);
	ck_assert_uint_eq(kit_lane(&k)->drops[DROP_DYNAMIC], 3);
	for (uint64_t i = 2; i <= n; i++) {
		struct vm_tuple t = num(i);
		ck_assert_uint_eq(get(ASSOC, &t, 1), i == n ? 5 : i * 2);
		set(ASSOC, &t, 1, 0);
		ck_assert_uint_eq(get(ASSOC, &t, 1), 0);
	}
	ck_assert_int_eq(k.env.fault.code, FLT_NONE);
}
END_TEST

START_TEST(a_fault_in_the_value_leaves_no_new_element)
{
	struct vm_tuple t = num(3);

	set(ASSOCSTR, &t, 1, 12);
	ck_assert_int_eq(k.env.fault.code, FLT_BADADDR);
	k.env.fault.code = FLT_NONE;
	ck_assert_uint_eq(get(ASSOCSTR, &t, 1), 0);
	set(ASSOCSTR, &t, 1, fake_env_str(&k.target, 0, "here"));
	ck_assert_str_eq(str(get(ASSOCSTR, &t, 1)), "here");
}
END_TEST

START_TEST(only_the_data_of_a_chunk_is_writable)
{
	struct vm_tuple t = num(3);

	set(ASSOCSTR, &t, 1, fake_env_str(&k.target, 0, "here"));
	uint64_t at = get(ASSOCSTR, &t, 1);
	ck_assert_ptr_nonnull(vm_writable(&k.env, at, 16));
	ck_assert_ptr_null(vm_writable(&k.env, at - 1, 1));
	ck_assert_ptr_null(vm_writable(&k.env, at - 8, 8));
	ck_assert_ptr_null(vm_writable(&k.env, at, 1000));
	ck_assert_ptr_null(vm_writable(&k.env, at - 24, 1));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("vars");
	TCase *tc = tcase_create("vars");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, scalars);
	tcase_add_test(tc, strings_are_null_copied_and_cut);
	tcase_add_test(tc, structs_are_zero_and_copied_whole);
	tcase_add_test(tc, thread_locals_belong_to_their_thread);
	tcase_add_test(tc, keys_are_values_and_contents);
	tcase_add_test(tc, bad_keys_fault);
	tcase_add_test(tc, full_store_counts_drops_and_frees_are_reused);
	tcase_add_test(tc, a_fault_in_the_value_leaves_no_new_element);
	tcase_add_test(tc, only_the_data_of_a_chunk_is_writable);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
