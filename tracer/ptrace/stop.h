/*
 * The ptrace-stops of a thread: which one it is in, how it will continue, and
 * which requests are pending.  Only stop.c writes struct stop.
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
 * A stop that begins while the tracer waits for another thread is queued: the
 * thread is TH_STOPPED, and `queued' counts its events that event_poll() has
 * not returned yet.
 *
 * Will an event-stop still come as the answer to a PTRACE_INTERRUPT?
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

#include <signal.h>
#include <stdbool.h>

#include "tracer/ptrace/event.h"

struct thread;

enum thread_state {
	/* Reported by its parent's event; its first stop is still to come. */
	TH_NEW,
	TH_RUNNING,
	/* In group-stop, under PTRACE_LISTEN.  Also a thread that has been
	 * seized and may be in group-stop. */
	TH_LISTENING,
	TH_STOPPED,
	/* Stopped; it continues when its space does. */
	TH_WAITING,
	/* Reaped, or removed by another thread's exec; EV_GONE reports it. */
	TH_GONE,
};

enum thread_asked { ASK_NOTHING, ASK_STOP, ASK_EVENT };
enum thread_call { CALL_UNKNOWN, CALL_OUTSIDE, CALL_INSIDE };
enum thread_life { LIFE_RUNS, LIFE_VFORK, LIFE_ENDS };

/* Reasons why a thread runs with syscall-stops even without
 * super_want_syscalls().  Each has one owner. */
enum call_want {
	WANT_LAUNCH = 1 << 0, /* evaltime.c: until the launched program
			       * begins */
	WANT_EXIT = 1 << 1,   /* until the end of the call at which dtrap's
			       * filter stopped it */
	WANT_HIDE = 1 << 2, /* sigtrap.c: SIGTRAP is hidden at the call's end */
	WANT_ACTION = 1 << 3, /* trapcall.c: the next call is a sigaction() */
	WANT_RETURN = 1 << 4, /* sigwatch.c: an rt_sigreturn() */
	WANT_TIME = 1 << 5,   /* restart.c: the present call must end when its
			     * time is over */
};

struct stop {
	enum thread_state state;
	enum event_kind kind; /* of the stop, or of the last one */
	int sig; /* the signal to deliver when it is resumed; 0: none.  The
		  * kernel keeps the siginfo if this is the signal it stopped
		  * for */
	bool has_info;  /* the kernel's siginfo of this stop has been read: */
	siginfo_t info; /* is the same until it is resumed, or it is set */
	enum thread_asked asked;
	enum thread_call call;
	enum thread_life life;
	unsigned queued; /* its events in event_poll()'s queue; it is not
			  * resumed before these are handed out */
	bool executed;   /* it has executed a program, and EV_EXEC is among
			* these: thread_at_hand() */
	unsigned wants;  /* enum call_want */
	bool untaken;    /* the stop is left with the kernel: event.c */
	bool held;       /* thread_resume() leaves it stopped */
	bool broken_off; /* at EV_SYSCALL_EXIT: a PTRACE_INTERRUPT was pending
			  * when the call returned */
	bool asleep;     /* space_stop() did not wait for it: it sleeps in the
		      * kernel (a vfork parent), and will stop before it runs an
		      * instruction */
	/* By remote_syscall(): */
	bool
	    past_event; /* it moved from an event-stop to the end of the call */
	bool regroup;   /* a group-stop has begun meanwhile; it joins that when
			 * it is resumed */
};

/* A ptrace-stop has come: TH_STOPPED, without a signal.  Returns the previous
 * state. */
enum thread_state stop_begin(struct thread *th);
/* Set the kind of the stop. */
void stop_is(struct thread *th, enum event_kind kind);
/* The event-stop of a PTRACE_INTERRUPT has come. */
void stop_answered(struct thread *th);
/* Change the kind of the stop: it was another one, or it has been handled. */
void stop_becomes(struct thread *th, enum event_kind kind);
/* Set the signal with which it is resumed; 0: none. */
void stop_signal(struct thread *th, int sig);

/* The kernel's siginfo of this stop; NULL: it is not known any more. */
void stop_info(struct thread *th, const siginfo_t *si);

/* It was resumed: TH_RUNNING, or TH_LISTENING. */
void stop_end(struct thread *th, bool listens);
/* It will be resumed with its space (TH_WAITING); or not (TH_STOPPED). */
void stop_wait(struct thread *th);
void stop_stay(struct thread *th);
/* remote.c: it runs for a remote call; it is back in its stop. */
enum thread_state stop_lend(struct thread *th);
void stop_return(struct thread *th, enum thread_state was);
void stop_pass_event(struct thread *th);
void stop_regroup(struct thread *th, bool regroup);
/* The end of the call that it passed will be reported after all. */
void stop_owe_exit(struct thread *th);

void stop_gone(struct thread *th);
/* panic.c: set the state, because the tables may be in the middle of a
 * change. */
void stop_force(
    struct thread *th, enum thread_state state, enum event_kind kind, int sig);

/* A PTRACE_INTERRUPT has been sent; `event': its stop becomes an EV_STOP. */
void stop_ask(struct thread *th, bool event);
/* It runs without syscall-stops. */
void stop_lose_calls(struct thread *th);
void stop_want_calls(struct thread *th, enum call_want want, bool on);
void stop_hold(struct thread *th, bool held);
void stop_sleeps(struct thread *th, bool asleep);

/* An event of it was queued, or removed from the queue. */
void stop_queue(struct thread *th);
void stop_unqueue(struct thread *th);
/* The one that was queued is its EV_EXEC. */
void stop_executed(struct thread *th);

/* Its stop is left with the kernel; or was taken.  The supervisor counts those
 * that are left. */
void stop_leave_untaken(struct thread *th);
void stop_take(struct thread *th);

#endif
