/*
 * The system call that a thread is in, by its syscall-stops.  Only call.c
 * writes this; tracer/fire/syscalls.c reports the stops.
 *
 *	CALL_NONE --call_enter(), call_found()------> CALL_MADE
 *	CALL_MADE --call_end()----------------------> CALL_NONE
 *	CALL_MADE --call_hold()---------------------> CALL_HELD
 *	CALL_HELD --call_goes_on()------------------> CALL_MADE
 *	CALL_HELD --call_end(): a signal comes first-> CALL_NONE
 *	any --call_adopt(): the kernel says it------> CALL_NONE or CALL_HELD
 *	CALL_MADE --call_lose(): no syscall-stops---> CALL_NONE
 */
#ifndef TRACER_PTRACE_CALL_H
#define TRACER_PTRACE_CALL_H

#include <stdbool.h>
#include <stdint.h>

struct syscall_entry;
struct thread;

enum call_state {
	CALL_NONE, /* in no call, or in an unknown one */
	CALL_MADE,
	CALL_HELD, /* the call returned `result', a -ERESTART..., only because
		    * dtrap stopped the thread; it will be restarted */
};

struct syscall_call {
	enum call_state state;
	int nr; /* of the last known call; -1: not in the 64-bit table */
	uint64_t args[6];
	int64_t result;
	/* pc and sp of the last call that returned a -ERESTART..., until it is
	 * restarted; 0: none. */
	uint64_t again_ip, again_sp;
};

/* Is the thread in a known call? */
static inline bool
call_is_known(const struct syscall_call *c)
{
	return c->state != CALL_NONE;
}

/* The thread enters this call.  True: it is the restart of the last one that
 * returned a -ERESTART... */
bool call_enter(struct thread *th, const struct syscall_entry *e);
/* The thread was already in this call when it was noticed. */
void call_found(struct thread *th, const struct syscall_entry *e);
/* The call has returned this; nothing else has changed. */
void call_returned(struct thread *th, int64_t result);
/* It returned a -ERESTART..., and was made at ip: it will be restarted. */
void call_comes_again(struct thread *th, uint64_t ip, uint64_t sp);
/* The same, but only because dtrap stopped the thread; it continues now. */
void call_hold(struct thread *th);
void call_goes_on(struct thread *th);
/* The call is over. */
void call_end(struct thread *th);

/* call_lose(): the thread runs without syscall-stops now.  call_adopt(): it
 * runs with them now; a call that dtrap's stop interrupted goes on. */
void call_lose(struct thread *th);
void call_adopt(struct thread *th);
/* `caller' has executed a program; the leader th is now in its call. */
void call_inherit(const struct thread *caller, struct thread *th);

#endif
