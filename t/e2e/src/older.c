/*
 * older [-l|-k] COMMAND...: runs it as Linux 4.18 would, as far as dtrap can see:
 * a filter refuses what came later, with the error of a kernel that does not know
 * it.  What it refuses is the table of doc/kernels.md.
 *
 *	-l	a filter as that of a container instead, with a list of what is
 *		allowed: every system call, but not a number that is none
 *	-k	the same, which kills
 *	-p	one that refuses to attach to a process
 *	-e	one that refuses perf events, as that of containers
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

/* asm/unistd_64.h: the last number of 4.18 is that of rseq(2). */
#define LAST_NR 334
/* linux/ptrace.h: PTRACE_SECCOMP_GET_METADATA is of 4.16. */
#define LAST_REQUEST      0x420d
#define SEAL_FUTURE_WRITE 0x10 /* linux/fcntl.h, 5.1 */

#define LOAD(member) \
	BPF_STMT(    \
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define SKIP(test, value, yes, no) \
	BPF_JUMP(BPF_JMP | BPF_K | (test), value, yes, no)
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter code[] = {
	LOAD(nr),
	SKIP(BPF_JGT, LAST_NR, 0, 1),
	REFUSE(ENOSYS),
	SKIP(BPF_JEQ, SYS_ptrace, 0, 5),
	LOAD(args[0]),
	SKIP(BPF_JGT, LAST_REQUEST, 0, 2),
	SKIP(BPF_JGT, LAST_REQUEST + 0xff, 1, 0),
	REFUSE(EIO),
	ALLOW,
	SKIP(BPF_JEQ, SYS_fcntl, 0, 5),
	LOAD(args[1]),
	SKIP(BPF_JEQ, F_ADD_SEALS, 0, 3),
	LOAD(args[2]),
	SKIP(BPF_JSET, SEAL_FUTURE_WRITE, 0, 1),
	REFUSE(EINVAL),
	ALLOW,
};

/* No kernel has as many. */
#define ANY_NR 1023

static struct sock_filter list[] = {
	LOAD(nr),
	SKIP(BPF_JGT, ANY_NR, 0, 1),
	REFUSE(EPERM),
	ALLOW,
};

static struct sock_filter seize[] = {
	LOAD(nr),
	SKIP(BPF_JEQ, SYS_ptrace, 0, 3),
	LOAD(args[0]),
	SKIP(BPF_JEQ, PTRACE_SEIZE, 0, 1),
	REFUSE(EPERM),
	ALLOW,
};

static struct sock_filter events[] = {
	LOAD(nr),
	SKIP(BPF_JEQ, SYS_perf_event_open, 0, 1),
	REFUSE(EPERM),
	ALLOW,
};

static int
install(const struct sock_fprog *prog)
{
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, prog);
}

int
main(int argc, char **argv)
{
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	if (argc > 1 && strcmp(argv[1], "-p") == 0) {
		prog = (struct sock_fprog){ sizeof(seize) / sizeof(seize[0]),
			seize };
		argv++;
		argc--;
	} else if (argc > 1 && strcmp(argv[1], "-e") == 0) {
		prog = (struct sock_fprog){ sizeof(events) / sizeof(events[0]),
			events };
		argv++;
		argc--;
	} else if (argc > 1 && argv[1][0] == '-') {
		prog =
		    (struct sock_fprog){ sizeof(list) / sizeof(list[0]), list };
		if (argv[1][1] == 'k')
			list[2].k = SECCOMP_RET_KILL_PROCESS;
		argv++;
		argc--;
	}
	if (argc < 2)
		return 2;
	if (install(&prog) != 0 &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		install(&prog) != 0)) {
		perror("older: seccomp");
		return 77;
	}
	execv(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
