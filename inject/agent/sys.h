/*
 * Raw system calls: the target's libc is not ours to call, and its errno not
 * ours to change.
 */
#ifndef INJECT_AGENT_SYS_H
#define INJECT_AGENT_SYS_H

#include <stdint.h>

/* Numbers from the x86-64 table of Linux; fixed for ever. */
enum {
	SYS_NR_GETPID = 39,
	SYS_NR_GETUID = 102,
	SYS_NR_GETGID = 104,
	SYS_NR_GETPPID = 110,
	SYS_NR_GETTID = 186,
	SYS_NR_CLOCK_GETTIME = 228,
	SYS_NR_GETCPU = 309,
	SYS_NR_PROCESS_VM_READV = 310,
	SYS_NR_PROCESS_VM_WRITEV = 311,
};

struct sys_iovec {
	uint64_t base, len;
};

struct sys_timespec {
	int64_t sec, nsec;
};

/* The result, or a negative errno. */
static inline int64_t
sys_call(int64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
    uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d;
	register uint64_t r8 __asm__("r8") = e;
	register uint64_t r9 __asm__("r9") = f;
	int64_t result;

	__asm__ volatile(
	    "syscall"
	    : "=a"(result)
	    : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	    : "rcx", "r11", "memory");
	return result;
}

static inline int64_t
sys_call0(int64_t nr)
{
	return sys_call(nr, 0, 0, 0, 0, 0, 0);
}

#endif
