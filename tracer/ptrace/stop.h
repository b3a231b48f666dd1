/*
 * The stops of a thread under ptrace: which one it is in, what it does when it
 * leaves that, and what it owes us meanwhile.  Only stop.c writes this.
 *
 * Does it run?
 *
 *	TH_NEW -------+
 *	TH_RUNNING ---+- stop_begin() -> TH_STOPPED - stop_wait() -> TH_WAITING
 *	TH_LISTENING -+                    |    ^                         |
 *	     ^                             |    +------ stop_stay() ------+
 *	     +--- stop_end(): resumed -----+
 *
 *	any but TH_GONE - stop_gone(): it has ended -> TH_GONE
 *
 * A stop that begins while somebody waits for another thread is queued: the
 * thread is TH_STOPPED, and `queued' counts its events that event_poll() has
 * not handed out yet.
 *
 * Is a PTRACE_INTERRUPT of ours still to be answered, by an event-stop?
 *
 *	ASK_NOTHING --stop_ask(th, false)--> ASK_STOP      it is swallowed
 *	            --stop_ask(th, true)---> ASK_EVENT     it becomes an EV_STOP
 *	ASK_EVENT   --any other stop-------> ASK_STOP      (that takes it away)
 *	any         --the event-stop, exec-> ASK_NOTHING
 *
 * Is it in a system call?
 *
 *	CALL_UNKNOWN --syscall-stop, by what the kernel says--+
 *	                                                      v
 *	CALL_OUTSIDE --enter-stop, filter's stop, exec--> CALL_INSIDE
 *	CALL_OUTSIDE <---------exit-stop----------------- CALL_INSIDE
 *	any --resumed without syscall-stops--> CALL_UNKNOWN
 *
 * Does it come back to the program?
 *
 *	LIFE_RUNS --EV_VFORK--> LIFE_VFORK --any other event--> LIFE_RUNS
 *	any --EV_EXIT--> LIFE_ENDS --EV_EXEC, as the leader--> LIFE_RUNS
 */
#ifndef TRACER_PTRACE_STOP_H
#define TRACER_PTRACE_STOP_H

#include <stdbool.h>

#include "tracer/ptrace/event.h"

struct thread;

enum thread_state {
	/* Named by its maker's event; its first stop is to come. */
	TH_NEW,
	TH_RUNNING,
	/* In group-stop, under PTRACE_LISTEN; also one that has been seized and
	 * may be in one. */
	TH_LISTENING,
	TH_STOPPED,
	/* Stopped, and goes on with its space, which is. */
	TH_WAITING,
	/* Reaped, or swept away by another's exec; EV_GONE tells of it. */
	TH_GONE,
};

enum thread_asked { ASK_NOTHING, ASK_STOP, ASK_EVENT };
enum thread_call { CALL_UNKNOWN, CALL_OUTSIDE, CALL_INSIDE };
enum thread_life { LIFE_RUNS, LIFE_VFORK, LIFE_ENDS };

/* Why a thread runs with syscall-stops, whatever super_want_syscalls() says:
 * each row is one asker's. */
enum call_want {
	WANT_LAUNCH = 1 << 0, /* evaltime.c: until its program has begun */
	WANT_EXIT = 1 << 1,   /* the end of the call that our filter, or what
			       * came of that, stopped it at */
	WANT_HIDE = 1 << 2, /* sigtrap.c: SIGTRAP is hidden at the call's end */
	WANT_ACTION = 1 << 3, /* trapcall.c: the next call is a sigaction() */
	WANT_RETURN = 1 << 4, /* sigwatch.c: an rt_sigreturn() */
	WANT_TIME = 1 << 5, /* restart.c: the call that it is in ends in time */
	WANT_MASK = 1 << 6, /* sigwatch.c: the next call is a sigprocmask() */
};

struct stop {
	enum thread_state state;
	enum event_kind kind; /* of the stop, or of the last one */
	int sig; /* to deliver when it is resumed; 0: none.  The kernel keeps
		  * the siginfo as long as the number is the one that it
		  * stopped with */
	enum thread_asked asked;
	enum thread_call call;
	enum thread_life life;
	unsigned queued; /* events that wait in event_poll()'s queue: it is not
			  * resumed before */
	unsigned wants;  /* enum call_want */
	bool untaken;    /* wait4() has not taken it from the kernel: event.c */
	bool held;       /* thread_resume() leaves it stopped */
	bool broken_off; /* at EV_SYSCALL_EXIT: an interrupt of ours was to be
			  * answered when the call returned */
	bool asleep;     /* space_stop() did not wait for it: it sleeps in the
			  * kernel (a vfork parent) and stops before it runs an
			  * instruction */
	/* By remote_syscall(): */
	bool
	    past_event; /* it moved from an event-stop to the end of the call */
	bool regroup;   /* it passed the beginning of a group-stop, which it
			  * joins when it is resumed */
};

/* A ptrace-stop has come: TH_STOPPED, with no signal.  The state before. */
enum thread_state stop_begin(struct thread *th);
/* It is this one. */
void stop_is(struct thread *th, enum event_kind kind);
/* The event-stop that was asked for. */
void stop_answered(struct thread *th);
/* What a stop was taken for turns out to be another, or has been dealt with. */
void stop_becomes(struct thread *th, enum event_kind kind);
/* The signal that it is resumed with; 0: none. */
void stop_signal(struct thread *th, int sig);

/* It is resumed: TH_RUNNING, or TH_LISTENING. */
void stop_end(struct thread *th, bool listens);
/* It is to be resumed with its space; or, if it was, not yet. */
void stop_wait(struct thread *th);
void stop_stay(struct thread *th);
/* remote.c: it runs for us, and is back in the stop that it was in. */
enum thread_state stop_lend(struct thread *th);
void stop_return(struct thread *th, enum thread_state was);
void stop_pass_event(struct thread *th);
void stop_regroup(struct thread *th, bool regroup);
/* The end of the call that it passed is told after all. */
void stop_owe_exit(struct thread *th);

void stop_gone(struct thread *th);
/* panic.c: whatever the tables say, which may be half-way through a change. */
void stop_force(
    struct thread *th, enum thread_state state, enum event_kind kind, int sig);

/* A PTRACE_INTERRUPT has been sent; `event': somebody wants to hear of it. */
void stop_ask(struct thread *th, bool event);
/* It runs without syscall-stops. */
void stop_lose_calls(struct thread *th);
void stop_want_calls(struct thread *th, enum call_want want, bool on);
void stop_hold(struct thread *th, bool held);
void stop_sleeps(struct thread *th, bool asleep);

/* An event of it is queued, or is in the queue no longer. */
void stop_queue(struct thread *th);
void stop_unqueue(struct thread *th);

/* Its stop is left with the kernel; or is not, or no longer.  The supervisor
 * counts them. */
void stop_leave_untaken(struct thread *th);
void stop_take(struct thread *th);

#endif
