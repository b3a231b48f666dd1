/*
 * tracer: what programs are told of processes, files and signals is what the
 * system calls say of them.
 */
#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlang/dif.h"
#include "tracer/fire/eval.h"
#include "tracer/ptrace/proc.h"
#include "tracer/fire/procstate.h"
#include "tracer/base/state.h"

static struct firing firing;
static struct state st;
static pid_t child;
static char **own_argv;

static uint64_t
number(enum dif_state what, uint64_t of)
{
	uint64_t v = 77;

	procstate_forget(&firing.read);
	ck_assert_int_eq(procstate_number(&firing, what, of, &v), 0);
	return v;
}

static const char *
string(enum dif_state what, uint64_t of)
{
	static char buf[256];

	memset(buf, 'x', sizeof(buf));
	ck_assert_int_eq(
	    procstate_string(&firing, what, of, buf, sizeof(buf)), 0);
	return buf;
}

/* A process that has stopped itself, of this name, alone in its session. */
static void
setup(void)
{
	int status;

	memset(&firing, 0, sizeof(firing));
	firing.st = &st;
	st = (struct state){ 0 };
	st.super = super_create();
	st.env.pid = (uint32_t)getpid(); /* as eval_begin() says in BEGIN */
	st.env.tid = (uint32_t)gettid();
	child = fork();
	if (child == 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		sched_getaffinity(0, sizeof(set), &set);
		int cpu = 0;
		while (!CPU_ISSET(cpu, &set))
			cpu++;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
		setsid();
		prctl(PR_SET_NAME, "two) words");
		raise(SIGSTOP);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
	ck_assert(WIFSTOPPED(status));
}

static void
teardown(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	super_destroy(st.super);
}

#define NUM(what) number(DIF_STATE_##what, (uint64_t)child)
#define STR(what) string(DIF_STATE_##what, (uint64_t)child)

START_TEST(a_process)
{
	ck_assert_uint_eq(NUM(PR_PID), (uint64_t)child);
	ck_assert_uint_eq(NUM(PR_PPID), (uint64_t)getpid());
	ck_assert_uint_eq(NUM(PR_PGID), (uint64_t)child);
	ck_assert_uint_eq(NUM(PR_SID), (uint64_t)child);
	ck_assert_uint_eq(NUM(PR_UID), getuid());
	ck_assert_uint_eq(NUM(PR_EUID), geteuid());
	ck_assert_uint_eq(NUM(PR_GID), getgid());
	ck_assert_uint_eq(NUM(PR_EGID), getegid());
	ck_assert_uint_eq(NUM(PR_NLWP), 1);
	ck_assert_uint_eq(NUM(PR_TTYDEV), 0);
	ck_assert_uint_eq(NUM(PR_DMODEL), 2);
	ck_assert_str_eq(STR(PR_FNAME), "two) words");
}
END_TEST

START_TEST(a_thread)
{
	cpu_set_t set;

	ck_assert_uint_eq(NUM(PR_STATE), 4); /* SSTOP */
	ck_assert_uint_eq(NUM(PR_SNAME), 'T');
	ck_assert_uint_eq(NUM(PR_FLAG), 1); /* PR_STOPPED */
	ck_assert_int_eq(
	    (int)NUM(PR_PRI), 20 + getpriority(PRIO_PROCESS, (id_t)child));
	ck_assert_str_eq(STR(PR_NAME), "two) words");
	ck_assert_str_eq(STR(PR_CLNAME), "TS");
	ck_assert_int_eq(sched_getaffinity(child, sizeof(set), &set), 0);
	ck_assert(CPU_ISSET((int)NUM(PR_BINDPRO), &set));
	ck_assert_uint_eq(NUM(PR_ONPRO), NUM(PR_BINDPRO));
}
END_TEST

START_TEST(a_zombie)
{
	siginfo_t si;

	kill(child, SIGKILL);
	waitid(P_PID, (id_t)child, &si, WEXITED | WNOWAIT);
	ck_assert_uint_eq(NUM(PR_STATE), 3); /* SZOMB */
	ck_assert_uint_eq(NUM(PR_SNAME), 'Z');
	ck_assert_uint_eq(NUM(PR_WSTAT), SIGKILL);
	ck_assert_str_eq(STR(PR_PSARGS), "");
	ck_assert_uint_eq(NUM(PR_ARGV), 0);
	ck_assert_uint_eq(NUM(PR_ARGC), 0);
}
END_TEST

START_TEST(nobody)
{
	const uint64_t none = 0x3fffffff; /* above every pid_max */

	ck_assert_uint_eq(number(DIF_STATE_PR_PID, none), 0);
	ck_assert_uint_eq(number(DIF_STATE_PR_PPID, none), 0);
	ck_assert_uint_eq(number(DIF_STATE_PR_NLWP, none), 0);
	ck_assert_str_eq(string(DIF_STATE_PR_FNAME, none), "");
	ck_assert_str_eq(string(DIF_STATE_PR_PSARGS, none), "");
}
END_TEST

/* No thread has the id 0, as the next one of sched:::off-cpu. */
START_TEST(no_thread)
{
	memset(&firing.read, 0x5a, sizeof(firing.read));
	ck_assert_uint_eq(number(DIF_STATE_PR_PID, 0), 0);
	ck_assert_uint_eq(number(DIF_STATE_PR_UID, 0), 0);
	ck_assert_str_eq(string(DIF_STATE_PR_FNAME, 0), "");
}
END_TEST

START_TEST(arguments_and_environment)
{
	uint64_t self = (uint64_t)getpid(), n = 0;

	while (own_argv[n] != NULL)
		n++;
	ck_assert_uint_eq(number(DIF_STATE_PR_ARGC, self), n);
	ck_assert_uint_eq(number(DIF_STATE_PR_ARGV, self), (uintptr_t)own_argv);
	ck_assert_uint_eq(
	    number(DIF_STATE_PR_ENVP, self), (uintptr_t)(own_argv + n + 1));
}
END_TEST

START_TEST(times)
{
	uint64_t begun = NUM(PR_PROC_START), ns = 1000000000;

	/* A clock tick, 10 ms, either way. */
	ck_assert_uint_le(begun / ns, (uint64_t)time(NULL) + 1);
	ck_assert_uint_ge(begun / ns, (uint64_t)time(NULL) - 3600);
	ck_assert_uint_eq(NUM(PR_LWP_START), begun);
	ck_assert_uint_gt(NUM(PR_LWP_TIME), 0);
}
END_TEST

START_TEST(kept_for_a_firing)
{
	uint64_t v;

	ck_assert_uint_eq(NUM(PR_NLWP), 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	procstate_number(&firing, DIF_STATE_PR_SID, (uint64_t)child, &v);
	ck_assert_uint_eq(v, (uint64_t)child);
	procstate_forget(&firing.read);
	procstate_number(&firing, DIF_STATE_PR_SID, (uint64_t)child, &v);
	ck_assert_uint_eq(v, 0);
}
END_TEST

#define FSTR(what, fd) string(DIF_STATE_##what, (uint64_t)(fd))
#define FNUM(what, fd) number(DIF_STATE_##what, (uint64_t)(fd))

static bool
is_mounted(const char *where)
{
	char line[4096], point[4096];
	bool found = false;
	FILE *f = fopen("/proc/self/mountinfo", "r");

	ck_assert_ptr_nonnull(f);
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found = sscanf(line, "%*s %*s %*s %*s %4095s", point) == 1 &&
		    strcmp(point, where) == 0;
	fclose(f);
	return found;
}

START_TEST(files)
{
	char path[] = "/tmp/dtrap-test-XXXXXX", name[32];
	int fd = mkstemp(path);

	snprintf(name, sizeof(name), "%s", path + strlen("/tmp/"));
	ck_assert_int_eq(write(fd, "twelve bytes", 12), 12);
	ck_assert_str_eq(FSTR(FI_PATHNAME, fd), path);
	ck_assert_str_eq(FSTR(FI_DIRNAME, fd), "/tmp");
	ck_assert_str_eq(FSTR(FI_NAME, fd), name);
	ck_assert_uint_eq(FNUM(FI_OFFSET, fd), 12);
	ck_assert_uint_eq(FNUM(FI_OFLAGS, fd) & O_ACCMODE, O_RDWR);
	unlink(path); /* it was called so, and is not "... (deleted)" */
	ck_assert_str_eq(FSTR(FI_PATHNAME, fd), path);
	close(fd);

	fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_str_eq(FSTR(FI_PATHNAME, fd), "/");
	ck_assert_str_eq(FSTR(FI_DIRNAME, fd), "/");
	ck_assert_str_eq(FSTR(FI_NAME, fd), "");
	/* Below chroot(2) it need not be a mount point that one can see. */
	if (is_mounted("/"))
		ck_assert_str_eq(FSTR(FI_MOUNT, fd), "/");
	ck_assert_uint_ne(FNUM(FI_OFLAGS, fd) & O_DIRECTORY, 0);
	close(fd);

	fd = open("/proc/version", O_RDONLY);
	ck_assert_str_eq(FSTR(FI_FS, fd), "proc");
	ck_assert_str_eq(FSTR(FI_MOUNT, fd), "/proc");
	close(fd);
}
END_TEST

START_TEST(what_is_no_file)
{
	int fds[2], s = socket(AF_UNIX, SOCK_STREAM, 0);

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_str_eq(FSTR(FI_FS, fds[0]), "pipefs");
	ck_assert_str_eq(FSTR(FI_DIRNAME, fds[0]), ".");
	ck_assert_str_eq(FSTR(FI_MOUNT, fds[0]), "<unknown>");
	ck_assert_uint_eq(FNUM(FI_OFLAGS, fds[1]) & O_ACCMODE, O_WRONLY);
	ck_assert_str_eq(FSTR(FI_FS, s), "sockfs");
	close(s);
	ck_assert_str_eq(FSTR(FI_NAME, s), "<none>");
	ck_assert_str_eq(FSTR(FI_MOUNT, s), "<none>");
	ck_assert_str_eq(FSTR(FI_FS, (uint64_t)1 << 32), "<none>");
	ck_assert_uint_eq(FNUM(FI_OFLAGS, s), 0);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

START_TEST(signals)
{
	siginfo_t si = { .si_signo = SIGSEGV, .si_code = -6 };

	si.si_pid = 12;
	si.si_uid = 34;
	firing.about.siginfo = &si;
	ck_assert_uint_eq(number(DIF_STATE_SI_SIGNO, 0), SIGSEGV);
	ck_assert_int_eq((int)number(DIF_STATE_SI_CODE, 0), -6);
	ck_assert_uint_eq(number(DIF_STATE_SI_PID, 0), 12);
	ck_assert_uint_eq(number(DIF_STATE_SI_UID, 0), 34);
	si.si_addr = &si;
	ck_assert_uint_eq(number(DIF_STATE_SI_ADDR, 0), (uintptr_t)&si);
	firing.about.siginfo = NULL;
	ck_assert_uint_eq(number(DIF_STATE_SI_SIGNO, 0), 0);
}
END_TEST

START_TEST(rows_that_are_none)
{
	char buf[8];
	uint64_t v;

	ck_assert_int_eq(procstate_number(&firing, 0, 1, &v), -1);
	ck_assert_int_eq(procstate_number(&firing, 60, 1, &v), -1);
	ck_assert_int_eq(procstate_number(&firing, 1 << 20, 1, &v), -1);
	ck_assert_int_eq(
	    procstate_number(&firing, DIF_STATE_PR_FNAME, 1, &v), -1);
	ck_assert_int_eq(
	    procstate_string(&firing, DIF_STATE_PR_PID, 1, buf, 8), -1);
	ck_assert_int_eq(
	    procstate_string(&firing, DIF_STATE_SI_CODE, 1, buf, 8), -1);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite *s = suite_create("procstate");
	TCase *tc = tcase_create("procstate");

	own_argv = argv;
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_process);
	tcase_add_test(tc, a_thread);
	tcase_add_test(tc, a_zombie);
	tcase_add_test(tc, nobody);
	tcase_add_test(tc, no_thread);
	tcase_add_test(tc, arguments_and_environment);
	tcase_add_test(tc, times);
	tcase_add_test(tc, kept_for_a_firing);
	tcase_add_test(tc, files);
	tcase_add_test(tc, what_is_no_file);
	tcase_add_test(tc, signals);
	tcase_add_test(tc, rows_that_are_none);
	suite_add_tcase(s, tc);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
