/*
 * A machine that has not been written: there are no tracees to wait for.
 */
#include "tracer/ptrace/super.h"

#include <errno.h>

long
wait_call(pid_t pid, int *status, int options, const volatile int *flag)
{
	return -ECHILD;
}

long
wait_peek(pid_t pid, int *status, int options, const volatile int *flag)
{
	return -ECHILD;
}

int
wait_seize(pid_t tid, unsigned options, const volatile int *flag)
{
	return -ENOSYS;
}

void
wait_skip(void *ucontext)
{
}
