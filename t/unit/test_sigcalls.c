/*
 * Finding the system calls that change signal masks and actions, by bytes.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "dlang/base/base.h"
#include "tracer/sites/sigcalls.h"

#define AT 0x401000

static struct {
	uint64_t addr;
	int nr;
} seen[8];
static unsigned nseen;

static void
note(void *ctx, uint64_t addr, int nr)
{
	ck_assert_uint_lt(nseen, ARRAY_SIZE(seen));
	seen[nseen].addr = addr;
	seen[nseen++].nr = nr;
}

static void
find(const void *code, size_t size)
{
	nseen = 0;
	sigcalls_find(code, size, AT, note, NULL);
}

/* The code, where its `syscall' is, and the number there; 0: none of ours. */
static const struct {
	const char *code;
	size_t size, at;
	int nr;
} rows[] = {
#define ROW(code, at, nr)                      \
	{                                      \
		code, sizeof(code) - 1, at, nr \
	}
	/* mov $13,%eax; syscall */
	ROW("\xb8\x0d\0\0\0\x0f\x05", 5, SYS_rt_sigaction),
	ROW("\xb8\x0e\0\0\0\x0f\x05", 5, SYS_rt_sigprocmask),
	/* mov $14,%rax */
	ROW("\x48\xc7\xc0\x0e\0\0\0\x0f\x05\xc3", 7, SYS_rt_sigprocmask),
	/* mov $14,%eax; lea 0x8f0(%rbx),%rsi; syscall */
	ROW("\xb8\x0e\0\0\0\x48\x8d\xb3\xf0\x08\0\0\x0f\x05", 12,
	    SYS_rt_sigprocmask),
	/* mov $14,%eax; movq $32,(%rsp); syscall */
	ROW("\xb8\x0e\0\0\0\x48\xc7\x04\x24\x20\0\0\0\x0f\x05", 13,
	    SYS_rt_sigprocmask),
	/* mov $14,%eax; mov $13,%eax; syscall: the nearer one */
	ROW("\xb8\x0e\0\0\0\xb8\x0d\0\0\0\x0f\x05", 10, SYS_rt_sigaction),
	/* getpid; a number that only begins like ours */
	ROW("\xb8\x27\0\0\0\x0f\x05", 5, 0),
	ROW("\xb8\x0e\x01\0\0\x0f\x05", 5, 0),
	/* mov $14,%eax; jmp over; syscall of something else */
	ROW("\xb8\x0e\0\0\0\xeb\x05\x0f\x05", 7, 0),
	/* mov $14,%eax; ret; syscall */
	ROW("\xb8\x0e\0\0\0\xc3\x0f\x05", 6, 0),
	/* mov $14,%eax; mov $0x050f,%ecx: no instruction begins there */
	ROW("\xb8\x0e\0\0\0\xb9\x0f\x05\0\0", 6, 0),
	/* too far away */
	ROW("\xb8\x0e\0\0\0\x90\x90\x90\x90\x90\x90\x90\x90\x0f\x05", 13, 0),
	/* cut off */
	ROW("\xb8\x0e\0\0\0\x0f", 5, 0),
	ROW("\x0f\x05", 0, 0),
	ROW("\0\0\0\x0f\x05", 3, 0),
#undef ROW
};

START_TEST(a_call_is_found_by_its_number)
{
	find(rows[_i].code, rows[_i].size);
	ck_assert_uint_eq(nseen, rows[_i].nr != 0);
	if (nseen == 0)
		return;
	ck_assert_uint_eq(seen[0].addr, AT + rows[_i].at);
	ck_assert_int_eq(seen[0].nr, rows[_i].nr);
}
END_TEST

START_TEST(all_calls_are_found)
{
	char code[256];

	memset(code, 0x90, sizeof(code));
	memcpy(code, "\xb8\x0d\0\0\0\x0f\x05", 7);
	memcpy(code + 100, "\xb8\x0e\0\0\0\x0f\x05", 7);
	memcpy(code + sizeof(code) - 7, "\xb8\x0e\0\0\0\x0f\x05", 7);
	find(code, sizeof(code));
	ck_assert_uint_eq(nseen, 3);
	ck_assert_uint_eq(seen[0].addr, AT + 5);
	ck_assert_uint_eq(seen[1].addr, AT + 105);
	ck_assert_uint_eq(seen[2].addr, AT + sizeof(code) - 2);
	find(code, 0);
	ck_assert_uint_eq(nseen, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("sigcalls");
	TCase *t = tcase_create("find");

	tcase_add_loop_test(
	    t, a_call_is_found_by_its_number, 0, (int)ARRAY_SIZE(rows));
	tcase_add_test(t, all_calls_are_found);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
