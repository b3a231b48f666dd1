/*
 * sandbox errno|kill: a process whose seccomp filter refuses to map memory, by
 * an error or by death.  Says "ready PID"; for each line read, calls work() ten
 * times and says so.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "trigger.h"

NOINLINE int
work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

int
main(int argc, char **argv)
{
	int kill = argc > 1 && strcmp(argv[1], "kill") == 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K,
		    kill ? SECCOMP_RET_KILL_PROCESS :
			   SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };
	char line[80];
	int sum = 0;

	trigger_init();
	printf("starting\n"); /* stdio has its buffers from here on */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) != 0) {
		printf("no seccomp: %s\n", strerror(errno));
		return 77;
	}
	printf("ready %d\n", (int)getpid());
	for (;;) {
		ssize_t n = read(0, line, sizeof(line));

		if (n <= 0)
			break;
		for (int i = 0; i < 10; i++)
			sum += work(i);
		printf("worked 10 sum %d\n", sum);
	}
	printf("end\n");
	return 0;
}
