/*
 * Why a process may not be traced, where this machine would not refuse: the
 * kernel's files are put in place in a mount namespace of the test's own, and
 * the rights given up.
 */
#include <check.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/ptrace/super.h"

#define NOBODY 65534

static void
put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

/* An ordinary user under kernel.yama.ptrace_scope.  False where that cannot be
 * had. */
static bool
under_yama(const char *scope)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "/proc/sys/kernel", "tmpfs", 0, NULL) != 0) {
		printf("not tried: no mounts of our own here\n");
		return false;
	}
	ck_assert_int_eq(mkdir("/proc/sys/kernel/yama", 0755), 0);
	put("/proc/sys/kernel/yama/ptrace_scope", scope);
	ck_assert_int_eq(setresgid(NOBODY, NOBODY, NOBODY), 0);
	ck_assert_int_eq(setresuid(NOBODY, NOBODY, NOBODY), 0);
	/* As of a program that has been executed. */
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
	return true;
}

/* What is said of a process of the same user that is no child of ours holds
 * these words. */
static void
other_is_refused(const char *scope, const char *const words[])
{
	struct proc_error err;
	int status;

	if (!under_yama(scope))
		return;
	pid_t pid = fork();
	if (pid == 0) {
		access_explain(getppid(), -EPERM, &err);
		for (; *words != NULL; words++)
			if (strstr(err.text, *words) == NULL) {
				fprintf(stderr, "no '%s' in: %s\n", *words,
				    err.text);
				_exit(1);
			}
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(yama_1_allows_children)
{
	static const char *const words[] = { "ptrace_scope is 1", "-c", "root",
		"sysctl kernel.yama.ptrace_scope=0", NULL };

	other_is_refused("1\n", words);
}
END_TEST

START_TEST(yama_2_allows_root)
{
	static const char *const words[] = { "ptrace_scope is 2", "root",
		"sysctl kernel.yama.ptrace_scope=0", NULL };

	other_is_refused("2\n", words);
}
END_TEST

START_TEST(yama_3_allows_nobody)
{
	static const char *const words[] = { "ptrace_scope is 3", "reboot",
		NULL };

	other_is_refused("3\n", words);
}
END_TEST

/* What remains when it is none of the rules that can be seen. */
START_TEST(a_security_module_has_a_log)
{
	static const char *const words[] = { "SELinux", "log", NULL };

	other_is_refused("0\n", words);
}
END_TEST

/* A child may be traced under 1: then it is something else. */
START_TEST(yama_1_is_not_blamed_for_a_child)
{
	struct proc_error err;
	int status;

	if (!under_yama("1\n"))
		return;
	pid_t pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	access_explain(pid, -EPERM, &err);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	ck_assert_ptr_null(strstr(err.text, "ptrace_scope"));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("access");
	TCase *t = tcase_create("access");
	SRunner *r;
	int failed;

	tcase_add_test(t, yama_1_allows_children);
	tcase_add_test(t, yama_2_allows_root);
	tcase_add_test(t, yama_3_allows_nobody);
	tcase_add_test(t, a_security_module_has_a_log);
	tcase_add_test(t, yama_1_is_not_blamed_for_a_child);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
