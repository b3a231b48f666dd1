/*
 * inject/agent/mem.c and that of the machine do what the C library does, at each
 * alignment and for sizes below and above those at which the way changes.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/vm/port.h"
#include "t/unit/suite.h"

#define memcpy  agent_memcpy
#define memmove agent_memmove
#define memset  agent_memset
#define memcmp  agent_memcmp
void *memcpy(void *restrict, const void *restrict, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
#include "inject/agent/mem.c"
#include "inject/agent/x86_64/mem.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp

#define ROOM 1100U

static uint8_t got[ROOM], want[ROOM], from[ROOM];

static void
setup(void)
{
	for (size_t i = 0; i < ROOM; i++) {
		from[i] = (uint8_t)(i * 7 + i / 256);
		got[i] = want[i] = (uint8_t)(i * 3 + 1);
	}
}

/* All up to 160 bytes, then some. */
static size_t
next_size(size_t n)
{
	return n < 160 ? n + 1 : n < 500 ? n + 57 : n + 1;
}

static void
same(size_t n)
{
	ck_assert_msg(memcmp(got, want, ROOM) == 0, "%zu bytes", n);
}

START_TEST(bytes_are_copied)
{
	for (size_t n = 0; n < 520; n = next_size(n))
		for (size_t at = 0; at < 9; at++) {
			ck_assert_ptr_eq(
			    agent_memcpy(got + at, from + 9 - at, n), got + at);
			memcpy(want + at, from + 9 - at, n);
			same(n);
		}
}
END_TEST

START_TEST(bytes_are_moved)
{
	for (size_t n = 0; n < 520; n = next_size(n))
		for (size_t at = 0; at < 40; at++) {
			setup();
			agent_memmove(got + at, got + 20, n);
			memmove(want + at, want + 20, n);
			same(n);
		}
}
END_TEST

START_TEST(bytes_are_set)
{
	for (size_t n = 0; n < 520; n = next_size(n))
		for (size_t at = 0; at < 9; at++) {
			setup();
			ck_assert_ptr_eq(
			    agent_memset(got + at, 0x1f0 + (int)n, n),
			    got + at);
			memset(want + at, 0x1f0 + (int)n, n);
			same(n);
		}
}
END_TEST

static int
sign(int n)
{
	return (n > 0) - (n < 0);
}

START_TEST(the_first_difference_decides)
{
	for (size_t n = 1; n < 520; n = next_size(n))
		for (size_t at = 0; at < n; at += 1 + n / 16) {
			memcpy(got, from + 1, n);
			got[at]++;
			got[n - 1] ^= 0x80;
			ck_assert_int_eq(sign(agent_memcmp(got, from + 1, n)),
			    sign(memcmp(got, from + 1, n)));
			ck_assert_int_eq(agent_memcmp(got, from + 1, at), 0);
		}
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { bytes_are_copied, bytes_are_moved,
		bytes_are_set, the_first_difference_decides };

	return suite_run("agent_mem", setup, NULL, tests, ARRAY_SIZE(tests));
}
