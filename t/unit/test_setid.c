/*
 * tracer/ptrace/ setid and filters: programs to which the kernel has denied the
 * rights of their file, and processes with seccomp filters of their own.  Files
 * and /proc are doubles.
 */
#include <check.h>
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "t/unit/suite.h"
#include "tracer/ptrace/again.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"
#include "tracer/ptrace/remote.h"

#define PID 500
#define OWN 300 /* dtrap */

static struct proc proc;
static struct thread thread;

/* Processes, by pid. */
static struct proc_status status[600];
static bool is_there[600];
/* The file. */
static struct stat file;
static int stat_error;
static bool nosuid, no_statvfs;
static struct vfs_cap_data its_caps;
static ssize_t caps_size; /* -1: it has none */
/* The exec. */
static bool wrong_elf;
static int again_error, next_error;
static unsigned nexts;

static int
double_status(pid_t pid, struct proc_status *st)
{
	if (pid <= 0 || pid >= 600 || !is_there[pid])
		return -ESRCH;
	*st = status[pid];
	return 0;
}

static int
double_stat(const char *path, struct stat *sb)
{
	ck_assert_str_eq(path, "/proc/500/exe");
	*sb = file;
	return stat_error;
}

static int
double_statvfs(const char *path, struct statvfs *fs)
{
	ck_assert_str_eq(path, "/proc/500/exe");
	fs->f_flag = ST_RELATIME | (nosuid ? ST_NOSUID : 0);
	return no_statvfs ? -1 : 0;
}

static ssize_t
double_xattr(const char *path, const char *name, void *buf, size_t size)
{
	ck_assert_str_eq(path, "/proc/500/exe");
	ck_assert_str_eq(name, "security.capability");
	ck_assert_uint_ge(size, sizeof(its_caps));
	memcpy(buf, &its_caps, sizeof(its_caps));
	return caps_size;
}

static int
double_again(struct again *out)
{
	*out = (struct again){ .name = 0x10, .argv = 0x20, .envp = 0x30 };
	return again_error;
}

static int
double_next(const struct thread *th, long nr, const uint64_t args[6])
{
	ck_assert_ptr_eq(th, &thread);
	ck_assert_int_eq(nr, SYS_execve);
	ck_assert_uint_eq(args[0], 0x10);
	ck_assert_uint_eq(args[1], 0x20);
	ck_assert_uint_eq(args[2], 0x30);
	nexts++;
	return next_error;
}

#define procfs_status(pid, st)     double_status(pid, st)
#define procfs_wrong_elf(pid)      wrong_elf
#define getpid()                   OWN
#define stat(path, sb)             double_stat(path, sb)
#define statvfs(path, fs)          double_statvfs(path, fs)
#define getxattr(path, name, b, n) double_xattr(path, name, b, n)
#define again_find(th, words, out) double_again(out)
#define remote_next(th, nr, args)  double_next(th, nr, args)
#include "tracer/ptrace/filters.c"
#include "tracer/ptrace/setid.c"

static struct proc_status *
process(pid_t pid, pid_t parent)
{
	is_there[pid] = true;
	status[pid].ppid = parent;
	return &status[pid];
}

/* init, a shell, dtrap and a target beside it. */
static void
setup(void)
{
	proc.pid = PID;
	thread.proc = &proc;
	thread.tid = PID;
	process(1, 0);
	process(200, 1);
	process(OWN, 200);
	process(PID, 200);
	status[PID].uid[1] = status[PID].gid[1] = 1000;
	file.st_mode = S_IFREG | 0755;
	file.st_uid = file.st_gid = 0;
	caps_size = -1;
}

static bool
withheld(void)
{
	return setid_withheld(&proc);
}

/* ---- rights of a file ---- */

START_TEST(an_ordinary_program_has_no_rights)
{
	ck_assert(!withheld());
}
END_TEST

START_TEST(the_rights_of_another_user)
{
	file.st_mode |= S_ISUID;
	ck_assert(withheld());
	file.st_uid = 1000; /* that is the user */
	ck_assert(!withheld());
	status[PID].uid[1] = 0;
	ck_assert(withheld());
}
END_TEST

START_TEST(the_rights_of_another_group)
{
	file.st_mode |= S_ISGID;
	ck_assert(withheld());
	file.st_gid = 1000;
	ck_assert(!withheld());
	file.st_gid = 0;
	/* Nobody may execute it as that group: then the bit means locking. */
	file.st_mode &= ~(mode_t)S_IXGRP;
	ck_assert(!withheld());
}
END_TEST

START_TEST(nobody_gets_them_there)
{
	file.st_mode |= S_ISUID;
	nosuid = true;
	ck_assert(!withheld());
	no_statvfs = true; /* not known */
	ck_assert(withheld());
	nosuid = no_statvfs = false;
	status[PID].no_new_privs = true;
	ck_assert(!withheld());
	status[PID].no_new_privs = false;
	stat_error = -1;
	ck_assert(!withheld());
	stat_error = 0;
	is_there[PID] = false;
	ck_assert(!withheld());
}
END_TEST

START_TEST(capabilities_of_a_file)
{
	its_caps.data[0].permitted = 1U << CAP_NET_RAW;
	caps_size = XATTR_CAPS_SZ_2;
	ck_assert(withheld());
	status[PID].cap_permitted = UINT64_C(1) << CAP_NET_RAW;
	ck_assert(!withheld());
	its_caps.data[1].permitted = 1; /* number 32 */
	ck_assert(withheld());
	status[PID].cap_permitted |= UINT64_C(1) << 32;
	ck_assert(!withheld());
	status[PID].cap_permitted = 0;
	caps_size = XATTR_CAPS_SZ_1; /* version 1 has 32 of them */
	ck_assert(withheld());
	its_caps.data[0].permitted = 0;
	ck_assert(!withheld());
	its_caps.data[0].permitted = 1;
	caps_size = XATTR_CAPS_SZ_1 - 1; /* nothing valid */
	ck_assert(!withheld());
}
END_TEST

START_TEST(the_exec_is_made_again)
{
	ck_assert_int_eq(setid_again(&thread), 0);
	ck_assert_uint_eq(nexts, 1);
	next_error = -ENOENT;
	ck_assert_int_eq(setid_again(&thread), -ENOENT);
	again_error = -EFAULT;
	ck_assert_int_eq(setid_again(&thread), -EFAULT);
	wrong_elf = true; /* a program of 32 bits has its arguments elsewhere */
	again_error = 0;
	ck_assert_int_eq(setid_again(&thread), -ENOEXEC);
	ck_assert_uint_eq(nexts, 2);
}
END_TEST

/* ---- filters ---- */

static int
allows(int mode, int filters)
{
	const struct proc_status its = { .seccomp = mode, .filters = filters };

	return filters_allow(&thread, &its);
}

START_TEST(without_a_filter_calls_can_be_made)
{
	ck_assert_int_eq(allows(0, -1), 0);
	ck_assert_int_eq(allows(1, 0), -EPERM); /* strict */
	ck_assert_int_eq(allows(2, 1), -EPERM);
	ck_assert_int_eq(allows(2, -1), -EPERM); /* how many is not known */
}
END_TEST

START_TEST(dtraps_own_filter_does_no_harm)
{
	proc.filtered = true;
	ck_assert_int_eq(allows(2, 1), 0);
	ck_assert_int_eq(allows(2, 2), -EPERM);
}
END_TEST

/* All of a container are under its filters, dtrap too. */
static void
filtered(pid_t pid, int n)
{
	status[pid].seccomp = 2;
	status[pid].filters = n;
}

START_TEST(filters_of_a_common_ancestor_do_no_harm)
{
	filtered(OWN, 3);
	filtered(200, 2);
	ck_assert_int_eq(allows(2, 2), 0);
	ck_assert_int_eq(allows(2, 3), -EPERM); /* it has one of its own */
	proc.filtered = true;
	ck_assert_int_eq(allows(2, 3), 0);
	/* The shell has got more since. */
	proc.filtered = false;
	filtered(200, 9);
	ck_assert_int_eq(allows(2, 3), 0);
	ck_assert_int_eq(allows(2, 4), -EPERM);
}
END_TEST

START_TEST(the_nearest_common_ancestor_counts)
{
	filtered(OWN, 3);
	filtered(200, 3);
	filtered(1, 1);
	status[PID].ppid = 1; /* the target is not below the shell */
	ck_assert_int_eq(allows(2, 1), 0);
	ck_assert_int_eq(allows(2, 2), -EPERM);
	/* The ancestor has none, though dtrap has. */
	status[1].seccomp = 0;
	status[1].filters = 5;
	ck_assert_int_eq(allows(2, 1), -EPERM);
}
END_TEST

START_TEST(a_child_of_dtrap)
{
	filtered(OWN, 2);
	status[PID].ppid = OWN;
	ck_assert_int_eq(allows(2, 2), 0);
	ck_assert_int_eq(allows(2, 3), -EPERM);
	status[OWN].seccomp = 0; /* what dtrap is not under may harm */
	ck_assert_int_eq(allows(2, 1), -EPERM);
}
END_TEST

START_TEST(dtrap_came_into_the_container_from_outside)
{
	filtered(OWN, 2);
	/* Neither has an ancestor that can be seen. */
	status[OWN].ppid = 0;
	status[PID].ppid = 0;
	ck_assert_int_eq(allows(2, 2), 0);
	ck_assert_int_eq(allows(2, 3), -EPERM);
	/* Its parent has ended in the meantime. */
	status[OWN].ppid = 250;
	ck_assert_int_eq(allows(2, 1), -EPERM);
	is_there[OWN] = false;
	ck_assert_int_eq(allows(2, 1), -EPERM);
}
END_TEST

START_TEST(a_target_whose_parents_have_ended)
{
	filtered(OWN, 2);
	filtered(200, 2);
	filtered(1, 2);
	status[PID].ppid = 250;
	/* No common ancestor: then they are the container's. */
	ck_assert_int_eq(allows(2, 2), 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		an_ordinary_program_has_no_rights,
		the_rights_of_another_user,
		the_rights_of_another_group,
		nobody_gets_them_there,
		capabilities_of_a_file,
		the_exec_is_made_again,
		without_a_filter_calls_can_be_made,
		dtraps_own_filter_does_no_harm,
		filters_of_a_common_ancestor_do_no_harm,
		the_nearest_common_ancestor_counts,
		a_child_of_dtrap,
		dtrap_came_into_the_container_from_outside,
		a_target_whose_parents_have_ended,
	};

	return suite_run("setid", setup, NULL, tests, ARRAY_SIZE(tests));
}
