/*
 * Finds out why a process cannot be traced.  The kernel returns EPERM for a
 * dozen causes; the user needs to know which one it is, and what to do.
 *
 * The causes are checked by /proc, in the order in which the kernel checks them
 * (ptrace_attach, __ptrace_may_access, yama).
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tracer/ptrace/super.h"

#define PF_KTHREAD     0x00200000 /* include/linux/sched.h; stat field 9 */
#define CAP_PTRACE_BIT (1ULL << 19)

int
proc_refuse(struct proc_error *err, int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	err->error = error;
	return error;
}

static void
comm_of(pid_t pid, char name[16])
{
	struct proc_status st;

	if (procfs_status(pid, &st) == 0)
		memcpy(name, st.comm, 16);
	else
		snprintf(name, 16, "?");
}

static int
explain_tracer(pid_t pid, const struct proc_status *st, struct proc_error *err)
{
	char name[16];

	comm_of(st->tracer, name);
	return proc_refuse(err, -EBUSY,
	    "process %d is already traced by %s (pid %d); end that first",
	    (int)pid, name, (int)st->tracer);
}

static bool
is_kernel_thread(pid_t pid, const struct proc_status *st)
{
	uint64_t flags = 0;

	return !st->has_memory && procfs_stat(pid, 9, &flags) == 0 &&
	    (flags & PF_KTHREAD) != 0;
}

/* Has the process ended?  A leader may end before its other threads.  While one
 * of them executes another program, the process looks ended for a moment. */
static bool
is_zombie(pid_t pid)
{
	const struct timespec nap = { 0, 1000000 };

	for (int i = 0; i < 5; i++) {
		struct pids tasks = { 0 };
		procfs_tasks(pid, &tasks);
		bool alone = tasks.list.len <= 1;
		vec_fini(&tasks.list);
		char state = procfs_state(pid);
		if (!alone || (state != 'Z' && state != 'X'))
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

/* Does the process exist, although /proc does not show it? */
static bool
is_hidden(pid_t pid)
{
	return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

int
access_check(pid_t pid, struct proc_error *err)
{
	struct proc_status st, own;

	int r = pid > 0 ? procfs_status(pid, &st) : -ESRCH;
	if (r == -ESRCH && is_hidden(pid))
		return proc_refuse(err, -EPERM,
		    "process %d is not visible in /proc, which is mounted "
		    "with hidepid or belongs to another pid namespace: run "
		    "as its user or as root, in its namespace",
		    (int)pid);
	if (r == -ESRCH)
		return proc_refuse(err, r,
		    "no process with pid %d; if it is in a "
		    "container, use its pid as seen from here",
		    (int)pid);
	if (r < 0)
		return proc_refuse(err, r,
		    "process %d: /proc/%d/status: %s; /proc may be mounted with "
		    "hidepid: run as its user or as root",
		    (int)pid, (int)pid, strerror(-r));
	if (pid == getpid())
		return proc_refuse(err, -EINVAL,
		    "process %d is the tracer itself; name another", (int)pid);
	if (is_kernel_thread(pid, &st))
		return proc_refuse(err, -EPERM,
		    "%s (pid %d) is a kernel thread; only processes can be "
		    "traced, perf or bpftrace see kernel threads",
		    st.comm, (int)pid);
	if (is_zombie(pid))
		return proc_refuse(err, -ESRCH,
		    "process %d (%s) has ended and waits for its parent %d to "
		    "notice (a zombie); it cannot be traced, trace that parent",
		    (int)pid, st.comm, (int)st.ppid);
	if (procfs_status(getpid(), &own) == 0 && own.tracer == pid)
		return proc_refuse(err, -EPERM,
		    "process %d (%s) is tracing this "
		    "tracer; tracing it in turn would stop both for ever",
		    (int)pid, st.comm);
	if (st.tracer != 0 && st.tracer != getpid())
		return explain_tracer(pid, &st, err);
	if (procfs_wrong_elf(pid))
		return proc_refuse(err, -ENOEXEC,
		    "process %d (%s) is a 32-bit program; only 64-bit "
		    "programs are supported; strace can trace the system "
		    "calls of others",
		    (int)pid, st.comm);
	return 0;
}

static int
read_number(const char *path, int none)
{
	FILE *f = fopen(path, "re");
	int n = none;

	if (f == NULL)
		return none;
	if (fscanf(f, "%d", &n) != 1)
		n = none;
	fclose(f);
	return n;
}

static bool
all_ids(const uint32_t ids[3], uint32_t id)
{
	return ids[0] == id && ids[1] == id && ids[2] == id;
}

/* Is pid a descendant of dtrap? */
static bool
descends(pid_t pid)
{
	struct proc_status st;

	while (pid > 1 && procfs_status(pid, &st) == 0) {
		if (st.ppid == getpid())
			return true;
		pid = st.ppid;
	}
	return false;
}

static bool
other_user_namespace(pid_t pid)
{
	char path[48];
	struct stat own, its;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return stat("/proc/self/ns/user", &own) == 0 && stat(path, &its) == 0 &&
	    own.st_ino != its.st_ino;
}

/* The kernel gives the /proc files of a process that is not dumpable to
 * root. */
static bool
not_dumpable(pid_t pid, const struct proc_status *st)
{
	char path[40];
	struct stat sb;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return stat(path, &sb) == 0 && sb.st_uid != st->uid[1];
}

static int
explain_yama(pid_t pid, int scope, bool capable, struct proc_error *err)
{
	if (scope == 3)
		return proc_refuse(err, -EPERM,
		    "no process may be traced on this "
		    "system: kernel.yama.ptrace_scope is 3 (until reboot)");
	if (scope == 2 && !capable)
		return proc_refuse(err, -EPERM,
		    "process %d: "
		    "kernel.yama.ptrace_scope is 2: run as root, or set it to "
		    "0 (sysctl kernel.yama.ptrace_scope=0)",
		    (int)pid);
	if (scope == 1 && !capable && !descends(pid))
		return proc_refuse(err, -EPERM,
		    "process %d: "
		    "kernel.yama.ptrace_scope is 1: only launched programs may "
		    "be traced (-c); run as root, or sysctl "
		    "kernel.yama.ptrace_scope=0",
		    (int)pid);
	return 0;
}

/* The credentials of the process do not allow dtrap to trace it: say why. */
static int
explain_credentials(pid_t pid, const struct proc_status *st,
    const struct proc_status *own, struct proc_error *err)
{
	if (!all_ids(st->uid, own->uid[0]))
		return proc_refuse(err, -EPERM,
		    "process %d (%s) belongs to user "
		    "%u, you are %u: run as that user or as root "
		    "(CAP_SYS_PTRACE)",
		    (int)pid, st->comm, st->uid[1], own->uid[0]);
	if (!all_ids(st->gid, own->gid[0]))
		return proc_refuse(err, -EPERM,
		    "process %d (%s) runs with group "
		    "%u, you with %u: run with that group or as root "
		    "(CAP_SYS_PTRACE)",
		    (int)pid, st->comm, st->gid[1], own->gid[0]);
	if (not_dumpable(pid, st))
		return proc_refuse(err, -EPERM,
		    "process %d (%s) is not dumpable: "
		    "it was set-id, its file may not be read, or it asked for "
		    "it (PR_SET_DUMPABLE): run as root (CAP_SYS_PTRACE)",
		    (int)pid, st->comm);
	if ((st->cap_permitted & ~own->cap_permitted) != 0)
		return proc_refuse(err, -EPERM,
		    "process %d (%s) has capabilities "
		    "that you lack: run as root (CAP_SYS_PTRACE)",
		    (int)pid, st->comm);
	return 0;
}

void
access_explain(pid_t pid, int error, struct proc_error *err)
{
	struct proc_status st, own;

	if (procfs_status(pid, &st) < 0 || error == -ESRCH) {
		proc_refuse(err, -ESRCH,
		    "process %d ended while it was being attached", (int)pid);
		return;
	}
	procfs_status(getpid(), &own);
	bool capable = (own.cap_permitted & CAP_PTRACE_BIT) != 0;
	if (st.tracer != 0) {
		explain_tracer(pid, &st, err);
		return;
	}
	int scope = read_number("/proc/sys/kernel/yama/ptrace_scope", 0);
	if (!capable && explain_credentials(pid, &st, &own, err) != 0)
		return;
	if (explain_yama(pid, scope, capable, err) != 0)
		return;
	if (other_user_namespace(pid))
		proc_refuse(err, error,
		    "process %d (%s) is in another user "
		    "namespace (a container): run the tracer inside it, or as "
		    "root outside",
		    (int)pid, st.comm);
	else if (error == -ENOSYS || own.seccomp == 2)
		proc_refuse(err, error,
		    "ptrace is refused by the seccomp filter "
		    "of this container: start it with --cap-add=SYS_PTRACE or "
		    "--security-opt seccomp=unconfined");
	else if (pid == 1 && capable)
		proc_refuse(err, error,
		    "process 1 (%s) is the first of this system or container, "
		    "which protects it: ptrace: %s; name one of the processes "
		    "that it has started, or trace it from outside",
		    st.comm, strerror(-error));
	else
		proc_refuse(err, error,
		    "process %d (%s): ptrace: %s; a security "
		    "module (SELinux, AppArmor) may forbid it: see its log",
		    (int)pid, st.comm, strerror(-error));
}

/* ---- whom to ask about at all ---- */

static bool
is_ancestor(pid_t pid)
{
	uint64_t at = (uint64_t)getpid();

	/* Field 4 is the parent; the first process has 0. */
	do {
		if (at == (uint64_t)pid)
			return true;
	} while (procfs_stat((pid_t)at, 4, &at) == 0 && at != 0);
	return false;
}

void
super_candidates(struct super *su, struct pids *out)
{
	struct pids all = { 0 };

	procfs_pids(&all);
	vec_foreach(pid, &all.list)
		if (super_proc(su, *pid) == NULL && !is_ancestor(*pid))
			*vec_push(&out->list) = *pid;
	vec_fini(&all.list);
}
