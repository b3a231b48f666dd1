/*
 * What /proc says of a process or thread.
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
	uint64_t sig_pending; /* the thread's and its process's */
	int seccomp;          /* 0, 1 strict, 2 filter */
	int filters;          /* of them; -1 when the kernel does not say */
	bool no_new_privs;
	bool has_memory; /* false for kernel threads and zombies */
	char comm[16];
};

/* 0 or -errno (-ESRCH when there is no such thread). */
int procfs_status(pid_t tid, struct proc_status *out);
/* What a thread and its process are called in the innermost pid namespace that
 * they are in: as they see themselves.  0 or -errno. */
int procfs_inner(pid_t tid, pid_t *inner_pid, pid_t *inner_tid);
/* State letter of a thread, '\0' if it has gone. */
char procfs_state(pid_t tid);
/* Field n, counted from 1 as in proc(5), of /proc/TID/stat; 0 or -errno. */
#define STAT_SINCE 22 /* when it began */
int procfs_stat(pid_t tid, unsigned n, uint64_t *value);
/*
 * All of them: of one thread, or (whole) with the sums over its process.  What
 * is negative is so in two's complement; [2] and [3] hold nothing but the state
 * letter, at [3].  0 or -errno.
 */
#define PROCFS_STAT_FIELDS 52
int procfs_stat_all(
    pid_t tid, bool whole, uint64_t fields[PROCFS_STAT_FIELDS + 1]);
/* The state letter of a thread and its processor, or the last it had.  0 or
 * -errno. */
int procfs_where(pid_t tid, char *state, int *cpu);
/* How long a thread has run and has waited for a processor, in ns, and how often
 * it got one.  0 or -errno: a kernel may keep no account. */
struct procfs_sched {
	uint64_t ran, waited, turns;
};
int procfs_sched(pid_t tid, struct procfs_sched *out);
/* The pc and the stack pointer of a thread that sleeps in the kernel: 0, or
 * -errno. */
int procfs_pc(pid_t tid, uint64_t *pc, uint64_t *sp);
/* The system call that it sleeps in, or -errno. */
int procfs_syscall(pid_t tid, int64_t *nr, uint64_t args[6]);
/* Whether the executable of a process is not a 64-bit one for this machine;
 * false when it cannot be read. */
bool procfs_wrong_elf(pid_t pid);
/* The thread ids of a process, appended.  0 or -errno. */
int procfs_tasks(pid_t pid, struct pids *out);
/* The same of every process there is. */
int procfs_pids(struct pids *out);
/* What the kernel told a program at its start (AT_SYSINFO_EHDR: the address of
 * the vDSO), 0 if nothing. */
uint64_t procfs_auxv(pid_t pid, uint64_t type);

/*
 * The contents of a small file, of /proc/PID/NAME, or where the link
 * /proc/PID/NAME leads, as a string in buf: cut to its size, empty when it
 * cannot be read.  Its length or -errno.
 */
ssize_t procfs_slurp(const char *path, char *buf, size_t size);
ssize_t procfs_text(pid_t pid, const char *name, char *buf, size_t size);
ssize_t procfs_link(pid_t pid, const char *name, char *buf, size_t size);

#endif
