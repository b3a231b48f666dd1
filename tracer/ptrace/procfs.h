/*
 * Reads the state of processes and threads from /proc.
 */
#ifndef TRACER_PTRACE_PROCFS_H
#define TRACER_PTRACE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlang/base/vec.h"

struct pids {
	VEC(pid_t) list;
};

struct proc_status {
	char state;
	pid_t tgid, tracer, ppid;
	uint32_t uid[3], gid[3]; /* real, effective, saved */
	uint64_t cap_permitted;
	uint64_t sig_blocked, sig_ignored, sig_caught;
	uint64_t sig_pending; /* of the thread and its process */
	int seccomp;          /* 0, 1 strict, 2 filter */
	int filters;          /* number of seccomp filters; -1: unknown */
	bool no_new_privs;
	bool has_memory;   /* false for kernel threads and zombies */
	bool shadow_stack; /* returns are checked */
	char comm[16];
};

/* Read /proc/TID/status.  0 or -errno (-ESRCH: there is no such thread). */
int procfs_status(pid_t tid, struct proc_status *out);
/* The ids of a thread and its process in their innermost pid namespace, as they
 * see them themselves.  0 or -errno. */
int procfs_inner(pid_t tid, pid_t *inner_pid, pid_t *inner_tid);
/* The state letter of a thread, '\0' if it has ended. */
char procfs_state(pid_t tid);
/* Field n, counted from 1 as in proc(5), of /proc/TID/stat; 0 or -errno. */
#define STAT_SINCE 22 /* its start time */
int procfs_stat(pid_t tid, unsigned n, uint64_t *value);
/*
 * All fields: of one thread, or (`whole') of its process.  Negative numbers are
 * in two's complement.  [2] is not set, and [3] is the state letter.  0 or
 * -errno.
 */
#define PROCFS_STAT_FIELDS 52
int procfs_stat_all(
    pid_t tid, bool whole, uint64_t fields[PROCFS_STAT_FIELDS + 1]);
/* The state letter of a thread, and its present or last processor.  0 or
 * -errno. */
int procfs_where(pid_t tid, char *state, int *cpu);
/* The time that a thread has run and has waited for a processor, in ns, and how
 * often it got one.  0 or -errno; the kernel may not count these. */
struct procfs_sched {
	uint64_t ran, waited, turns;
};
int procfs_sched(pid_t tid, struct procfs_sched *out);
/* The pc and the stack pointer of a thread that sleeps in the kernel.  0 or
 * -errno. */
int procfs_pc(pid_t tid, uint64_t *pc, uint64_t *sp);
/* The system call in which a thread sleeps, and its arguments.  0 or -errno. */
int procfs_syscall(pid_t tid, int64_t *nr, uint64_t args[6]);
/* Is the executable of a process not a 64-bit one for this machine?  False if
 * it cannot be read. */
bool procfs_wrong_elf(pid_t pid);
/* The thread ids of a process, appended.  0 or -errno. */
int procfs_tasks(pid_t pid, struct pids *out);
/* The ids of all processes, appended.  0 or -errno. */
int procfs_pids(struct pids *out);
/* An entry of the auxiliary vector of a process (AT_SYSINFO_EHDR: the address
 * of the vDSO); 0: there is none. */
uint64_t procfs_auxv(pid_t pid, uint64_t type);

/*
 * Read a small file, the file /proc/PID/NAME, or the target of the link
 * /proc/PID/NAME, as a string into buf.  It is cut to the size of buf, and
 * empty if it cannot be read.  Returns its length or -errno.
 */
ssize_t procfs_text(pid_t pid, const char *name, char *buf, size_t size);
ssize_t procfs_link(pid_t pid, const char *name, char *buf, size_t size);

#endif
