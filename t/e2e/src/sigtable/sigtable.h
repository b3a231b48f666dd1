/*
 * Two threads, A and B, and a state for each of the 64 signals: how it is
 * treated, who blocks it, who has sent it.  What the program finds of all that
 * it writes as text, which is the same in every run of a turn.
 *
 *	sigtable table TURN PHASE LIBRARY
 *	sigtable deaths
 *
 * A turn gives each signal a row of the product of treatments, masks and
 * senders; from turn 0 to TURNS - 1 each signal has had them all.  The program
 * says "ready" and waits for a line, does what the phase is, says "phased" and
 * waits for another, and takes out what is pending.
 */
#ifndef T_E2E_SIGTABLE_H
#define T_E2E_SIGTABLE_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "../trigger.h"

#define LAST_SIGNAL 64
#define BIT(sig)    (1UL << ((sig)-1))

enum treatment { DEFAULT, IGNORED, HANDLED };

/* P: to the process, A and B: to that thread.  What NATURAL is depends on the
 * signal: some the kernel sends for a reason of their own. */
enum sender {
	NOBODY,
	KILL_P,
	QUEUE_P,
	TGKILL_A,
	TGKILL_B,
	QUEUE_A,
	QUEUE_B,
	HELPER_KILL_P,
	HELPER_QUEUE_P,
	TIMER_P,
	TIMER_A,
	TIMER_B,
	FILE_P,
	FILE_A,
	FILE_B,
	NATURAL,
	SENDERS
};

#define TURNS (3 * 4 * SENDERS)

enum whom { PROCESS, THREAD_A, THREAD_B };

struct row {
	enum treatment treatment;
	bool in_a, in_b; /* blocks it */
	enum sender sender;
	int flags; /* of the handler */
	uint64_t mask;
};

/* The rows of this turn, by number. */
extern struct row rows[LAST_SIGNAL + 1];
void make_rows(int turn, bool makes_threads);
enum whom sent_to(int sig);
bool takes_it(int sig, enum whom thread);
bool is_natural(int sig);
/* Neither can be blocked, ignored or handled. */
bool is_unusable(int sig);
/* The two that the C library keeps for itself. */
bool is_librarys(int sig);

/* ---- what one thread sees ---- */

void set_actions(void);
void set_mask(enum whom thread);
void set_stack(enum whom thread);
/* Masks and pending signals of the thread that calls, under a name. */
void report_thread(const char *stage, const char *thread);
void report_actions(const char *stage);
/* How often its handler has been called; and will it be, for the next one? */
int times_handled(int sig);
bool is_handled_now(int sig);
/* What handlers have seen, by signal or in order, and no more of it. */
void report_handled(const char *stage, bool in_order);
/* Take out what is pending, by waiting for it or by unblocking. */
void take_by_wait(const char *stage, const char *thread);
void handle_all(void);
void take_by_handlers(void);

/* ---- the two threads ---- */

extern pid_t tid_a, tid_b, helper, child;
extern int turn_now;
extern const char *self_path;
void start_b(int turn);
/* Have B do something, and wait until it has. */
void in_b(void (*what)(void));
/* Whatever has been sent and is not blocked has been taken afterwards. */
void settle(void);
/* Until a line comes: asleep, running, or with another mask. */
void await_line(int fd, int how);

/* ---- sending ---- */

void start_helper(void);
/* Two descriptors, which are to come through an exec. */
void helper_at(pid_t pid, int to, int from);
int helper_to(void);
int helper_from(void);
void send_all(int round);

/* ---- phases ---- */

struct phase {
	const char *name;
	void (*run)(void);
	bool makes_threads;
};

extern const struct phase phases[];
extern const char *library;
void execute_self(const char *mode);
int deaths(void);
int victim(void);

NOINLINE long work(long n);
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void die(const char *what);
/* What is left of a read or write that signals break off. */
void read_all(int fd, void *buf, size_t len);
void write_all(int fd, const void *buf, size_t len);

#endif
