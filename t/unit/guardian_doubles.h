/*
 * What the guardian reads of threads, its clock and its naps, as doubles in memory
 * that a test shares with it.  tracer/survive/guardian.c is included after this.
 */
#ifndef T_UNIT_GUARDIAN_DOUBLES_H
#define T_UNIT_GUARDIAN_DOUBLES_H

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "dlang/base/fault.h"
#include "inject/tracepoint.h"
#include "inject/trapmend.h"
#include "inject/trapset.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"
#include "tracer/survive/guardian.h"

/* ---- what all processes of a test share ---- */

static struct stage {
	pid_t test;
	pid_t guardian;
	/* Of the target's threads: */
	_Atomic char state;
	_Atomic uint64_t ran[2], pending, blocked;
	/* Naps of the guardian: how many it may take, took, and how long. */
	_Atomic unsigned naps_allowed, naps;
	long nap_first, nap_second, nap_longest;
	_Atomic unsigned clears, clear_at; /* remote_clear() is true then */
	_Atomic uint64_t now, step;        /* the clock, and each look at it */
	bool no_fifo, no_priority;
	int policy, priority;
	_Atomic pid_t grandchild;
} * stage;

/* The guardian's naps end when the test allows it, or by SIGTERM. */
static int
double_nap(const struct timespec *ts, const volatile sig_atomic_t *relieved_now)
{
	unsigned n = ++stage->naps;
	long ns = (long)ts->tv_sec * 1000000000 + ts->tv_nsec;

	if (n == 1)
		stage->nap_first = ns;
	if (n == 2)
		stage->nap_second = ns;
	if (ns > stage->nap_longest)
		stage->nap_longest = ns;
	while (n > stage->naps_allowed && !*relieved_now) {
		if (kill(stage->test, 0) != 0)
			_exit(1);
		sched_yield();
	}
	return 0;
}

static int
double_stat(pid_t tid, unsigned n, uint64_t *value)
{
	switch (n) {
	case 14:
	case 15: *value = stage->ran[n - 14]; return 0;
	case 31: *value = stage->pending; return 0;
	case 32: *value = stage->blocked; return 0;
	default: return procfs_stat(tid, n, value);
	}
}

static int
double_scheduler(int policy)
{
	if (stage->no_fifo)
		return -1;
	stage->policy = policy;
	return 0;
}

static int
double_priority(int value)
{
	if (stage->no_priority && value == -20)
		return -1;
	stage->priority = value;
	return 0;
}

static int
double_limit(int which, struct rlimit *lim)
{
	if (which == (int)RLIMIT_NICE) {
		lim->rlim_cur = 30;
		return 0;
	}
	return getrlimit(which, lim);
}

static bool no_socket;                   /* there is none to be had */
static volatile sig_atomic_t interrupts; /* of event_poll() */

static struct proc *procs[3];
static unsigned n_procs;

static struct proc *
double_next(struct proc *p)
{
	unsigned i = 0;

	while (p != NULL && procs[i++] != p)
		;
	return i < n_procs ? procs[i] : NULL;
}

#define event_interrupt(uc) ((void)(uc), (void)interrupts++)
#define socketpair(domain, type, protocol, pair) \
	(no_socket ? (errno = EMFILE, -1) :      \
		     (socketpair)(domain, type, protocol, pair))
#define nanosleep(ts, left)           double_nap(ts, &relieved)
#define procfs_stat                   double_stat
#define procfs_state(tid)             ((void)(tid), stage->state)
#define clock_ns(which)               (stage->now += stage->step)
#define clock_coarse_ms()             (stage->now += stage->step)
#define remote_clear(left)            (++stage->clears >= stage->clear_at)
#define sched_setscheduler(p, pol, a) ((void)(a), double_scheduler(pol))
#define setpriority(which, who, v)    double_priority(v)
#define getrlimit(which, lim)         double_limit((int)(which), lim)
#define super_next(su, p)             double_next(p)

#endif
