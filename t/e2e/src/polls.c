/*
 * Waits for its input by a poll() with a time, whose system call instruction is
 * its own: poll_once().  "ready PID", then "poll RESULT".
 */
#include <poll.h>
#include <sys/syscall.h>

#include "trigger.h"

NOINLINE static long
poll_once(struct pollfd *p, long ms)
{
	long ret;

	asm volatile("syscall"
		     : "=a"(ret)
		     : "0"((long)SYS_poll), "D"(p), "S"(1L), "d"(ms)
		     : "rcx", "r11", "memory");
	return ret;
}

int
main(void)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };

	trigger_init();
	printf("ready %d\n", (int)getpid());
	printf("poll %ld\n", poll_once(&p, 600000));
	return 0;
}
