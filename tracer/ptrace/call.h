/*
 * The system call that a thread is in, as its stops tell it.  Only call.c writes
 * this; tracer/fire/syscalls.c tells it of stops.
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
	CALL_NONE, /* it is in none, or in one that is not known */
	CALL_MADE,
	CALL_HELD, /* it returned `result', a -ERESTART..., but only because we
		    * stopped the thread: it will be made again */
};

struct syscall_call {
	enum call_state state;
	int nr; /* of the last that was known; -1: none of the 64-bit table */
	uint64_t args[6];
	int64_t result;
	/* Where the last call that returned a -ERESTART... was made, until it
	 * is made again; 0: none. */
	uint64_t again_ip, again_sp;
};

/* Is it in one that is known? */
static inline bool
call_is_known(const struct syscall_call *c)
{
	return c->state != CALL_NONE;
}

/* It enters this one.  True: it is the last one that returned a -ERESTART...,
 * made again. */
bool call_enter(struct thread *th, const struct syscall_entry *e);
/* It turns out to have been in this one. */
void call_found(struct thread *th, const struct syscall_entry *e);
/* It has returned this; nothing else has changed. */
void call_returned(struct thread *th, int64_t result);
/* What it returned is one of -ERESTART..., and was at ip: it comes again. */
void call_comes_again(struct thread *th, uint64_t ip, uint64_t sp);
/* The same, only because of us: it will go on, and does. */
void call_hold(struct thread *th);
void call_goes_on(struct thread *th);
/* It is over. */
void call_end(struct thread *th);

/* The thread runs without syscall-stops; or with them, which it had not before: a
 * call that our stop interrupted goes on. */
void call_lose(struct thread *th);
void call_adopt(struct thread *th);
/* A program has been executed by `caller', whose call the leader is in now. */
void call_inherit(const struct thread *caller, struct thread *th);

#endif
