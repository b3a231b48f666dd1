/*
 * What programs do that a tracer may disturb: each behaviour writes a
 * transcript that is the same in every run, and calls work() in the middle of
 * it, where the tests have their probes.
 */
#ifndef T_E2E_BEHAVE_H
#define T_E2E_BEHAVE_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../trigger.h"

/* What a behaviour returns that cannot be had here; it has said why. */
#define SKIP 77

struct behaviour {
	const char *name;
	int (*run)(void);
};

/* Each ends with an empty row. */
extern const struct behaviour behave_signals[], behave_faults[],
    behave_timers[], behave_waits[], behave_family[], behave_threads[],
    behave_flow[], behave_memory[], behave_limits[], behave_debuggers[];

NOINLINE int work(int n);
/* work(0) to work(n - 1): the sum of what they return. */
NOINLINE long hot(int n);
/* "WHAT: exited 3", "WHAT: signal 9 core", and so on. */
void say_status(const char *what, int status);
/* Wait for the child, and say how it ended. */
void say_end(const char *what, pid_t pid);
/* Why this cannot be tried: SKIP. */
int skip(const char *what);
/* Begin catching a signal. */
void catch_signal(
    int sig, void (*handler)(int, siginfo_t *, void *), int flags);
/* Is addr in the text of a file, as the program's own always is? */
bool in_file_text(uint64_t addr);
/* Wait until a thread of ours is in one of the states that /proc/PID/stat shows
 * as these letters; until it sleeps in a system call. */
void await_state(pid_t tid, const char *states);
void await_sleep(pid_t tid);
/* With -m: say "ready PID" and wait for a line.  By system calls alone, as a
 * sandbox may allow no more. */
void midway(void);
bool midway_asked(void);
/* This program again, with the words; for execve() and its like. */
extern const char *behave_self;

#endif
