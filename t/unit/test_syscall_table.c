/*
 * The table of system calls against the numbers that the C library knows.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "tracer/ptrace/syscall_table.h"
#include "tracer/fire/syscalls.h"

START_TEST(numbers_are_those_of_the_machine)
{
	static const struct {
		long nr;
		const char *name;
	} rows[] = {
		{ SYS_read, "read" },
		{ SYS_rt_sigreturn, "rt_sigreturn" },
		{ SYS_pread64, "pread64" },
		{ SYS_execve, "execve" },
		{ SYS_umount2, "umount2" },
		{ SYS__sysctl, "_sysctl" },
		{ SYS_tkill, "tkill" },
		{ SYS_restart_syscall, "restart_syscall" },
		{ SYS_exit_group, "exit_group" },
		{ SYS_newfstatat, "newfstatat" },
		{ SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo" },
		{ SYS_execveat, "execveat" },
		{ SYS_rseq, "rseq" },
		{ SYS_pidfd_send_signal, "pidfd_send_signal" },
		{ SYS_clone3, "clone3" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_str_eq(
		    syscall_name((unsigned)rows[i].nr), rows[i].name);
	/* A gap, and numbers that are none. */
	ck_assert_ptr_null(syscall_name(400));
	ck_assert_ptr_null(syscall_name(SYSCALL_MAX));
	ck_assert_ptr_null(syscall_name(UINT32_MAX));
}
END_TEST

/* Every name once: a probe has four names and no number. */
START_TEST(names_are_unique)
{
	for (unsigned a = 0; a < SYSCALL_MAX; a++)
		for (unsigned b = a + 1; b < SYSCALL_MAX; b++)
			if (syscall_name(a) != NULL && syscall_name(b) != NULL)
				ck_assert_str_ne(
				    syscall_name(a), syscall_name(b));
}
END_TEST

START_TEST(every_letter_has_a_type)
{
	static const char *const letters[] = {
#define CALL(nr, name, args) [nr] = args,
#include "tracer/ptrace/machine/syscalls.def"
#undef CALL
	};

	for (unsigned nr = 0; nr < sizeof(letters) / sizeof(letters[0]); nr++) {
		if (letters[nr] == NULL)
			continue;
		size_t n = strlen(letters[nr]);
		ck_assert_msg(n <= 6, "%s", syscall_name(nr));
		for (unsigned i = 0; i < n; i++)
			ck_assert_msg(syscall_arg(nr, i) != NULL, "%s %u",
			    syscall_name(nr), i);
		ck_assert_ptr_null(syscall_arg(nr, (unsigned)n));
	}
	ck_assert_str_eq(syscall_arg(SYS_openat, 1), "char *");
	ck_assert_str_eq(syscall_arg(SYS_write, 2), "size_t");
	ck_assert_ptr_null(syscall_arg(SYSCALL_MAX, 0));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("syscall_table");
	TCase *tc = tcase_create("syscall_table");

	tcase_add_test(tc, numbers_are_those_of_the_machine);
	tcase_add_test(tc, names_are_unique);
	tcase_add_test(tc, every_letter_has_a_type);
	suite_add_tcase(s, tc);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
