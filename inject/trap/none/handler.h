/*
 * A machine that has not been written: the handler is never put into a target.
 */
#ifndef INJECT_TRAP_NONE_HANDLER_H
#define INJECT_TRAP_NONE_HANDLER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

void
trap_handle(void)
{
}

void
trap_restore(void)
{
}

static long
sys(long nr, long a, long b, long c, long d)
{
	return -1;
}

static long
sys_open(const char *path, int flags)
{
	return -1;
}

static void
sys_sleep(int ms)
{
}

static uint64_t *
pc_in(ucontext_t *uc)
{
	return (uint64_t *)(void *)uc;
}

static bool
is_broken_call(const ucontext_t *uc)
{
	return false;
}

static void
call_again(const ucontext_t *uc)
{
}

#endif
