/*
 * tracer/ptrace/trapqueue: SIGTRAPs that a program blocks are still pending, in
 * their order and unchanged, after dtrap has changed the action of the signal.
 * The kernel's queues are doubles, so the file itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "dlang/base/fault.h"
#include "inject/trap/area.h"
#include "t/unit/suite.h"
#include "tracer/ptrace/event.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"

#define THREADS 2
#define TID     100 /* outside; the process sees 10 */
#define INNER   10
#define TIMER   3

struct queued {
	siginfo_t si;
	struct thread *th; /* NULL: pending for the process */
};

static struct super tracer;
static struct proc proc;
static struct thread threads[THREADS];
static VEC(struct queued) kernel;
static bool can_call[THREADS];
static unsigned calls;
static struct itimerspec timer;
static unsigned expires_after; /* calls, once it is set to the past */
static bool no_timer;          /* it was deleted */
static int inner_error;
static siginfo_t stop; /* the thread is stopped for it */
static unsigned settled, moved, sets;
static unsigned intruders; /* another process sends so many first */

static void
comes(struct thread *th, int sig, int code, int value)
{
	struct queued q = { .th = th };

	q.si.si_signo = sig;
	q.si.si_code = code;
	q.si.si_pid = 7;
	q.si.si_value.sival_int = value;
	*vec_push(&kernel) = q;
}

static bool
double_pending(const struct thread *th, bool shared, unsigned i, siginfo_t *si)
{
	vec_foreach(q, &kernel) {
		if (q->th != (shared ? NULL : th))
			continue;
		if (i-- == 0) {
			*si = q->si;
			return true;
		}
	}
	return false;
}

/* The thread takes its first SIGTRAP, or the first of the process. */
static int64_t
takes(const struct thread *th)
{
	size_t found = kernel.len;

	for (size_t i = kernel.len; i > 0; i--) {
		const struct queued *q = &kernel.at[i - 1];
		bool better = found == kernel.len || q->th != NULL ||
		    kernel.at[found].th == NULL;
		if (q->si.si_signo == SIGTRAP && better &&
		    (q->th == th || q->th == NULL))
			found = i - 1;
	}
	if (found == kernel.len)
		return -EAGAIN;
	kernel.len--;
	memmove(&kernel.at[found], &kernel.at[found + 1],
	    (kernel.len - found) * sizeof(kernel.at[0]));
	return SIGTRAP;
}

/* A siginfo is queued for the thread, or for the process. */
static int64_t
queues(const struct thread *sender, uint64_t tid, struct thread *to,
    const siginfo_t *si)
{
	if ((si->si_code >= 0 || si->si_code == SI_TKILL) &&
	    (uint64_t)(sender->tid - TID + INNER) != tid)
		return -EPERM;
	if (to != NULL && intruders > 0) {
		intruders--;
		comes(to, SIGTRAP, SI_USER, 99);
	}
	*vec_push(&kernel) = (struct queued){ .si = *si, .th = to };
	return 0;
}

static int64_t
sets_timer(const struct itimerspec *its, bool absolute)
{
	timer = *its;
	if (!absolute)
		return 0;
	/* A time in the past. */
	ck_assert_int_eq(its->it_value.tv_sec, 0);
	ck_assert_int_eq(its->it_value.tv_nsec, 1);
	if (expires_after == 0)
		timer.it_value = (struct timespec){ 0, 0 };
	return 0;
}

static int64_t
gets_timer(struct itimerspec *its)
{
	if (expires_after > 0 && --expires_after == 0 &&
	    timer.it_value.tv_nsec == 1)
		timer.it_value = (struct timespec){ 0, 0 };
	*its = timer;
	return 0;
}

static int64_t
makes(struct thread *th, long nr, const uint64_t a[6], void *data)
{
	static const char at_once[16];

	switch (nr) {
	case SYS_timer_gettime:
		ck_assert_uint_eq(a[0], TIMER);
		ck_assert(a[1] == REMOTE_DATA);
		return no_timer ? -EINVAL : gets_timer(data);
	case SYS_timer_settime:
		ck_assert_uint_eq(a[0], TIMER);
		ck_assert(a[2] == REMOTE_DATA && a[3] == 0);
		return sets_timer(data, a[1] == TIMER_ABSTIME);
	case SYS_rt_tgsigqueueinfo:
		ck_assert_uint_eq(a[0], INNER);
		ck_assert_uint_eq(a[2], SIGTRAP);
		ck_assert(a[3] == REMOTE_DATA);
		ck_assert_uint_lt(a[1] - INNER, THREADS);
		return queues(th, a[1], &threads[a[1] - INNER], data);
	case SYS_rt_sigqueueinfo:
		ck_assert_uint_eq(a[1], SIGTRAP);
		ck_assert(a[2] == REMOTE_DATA);
		ck_assert_uint_lt(a[0] - INNER, THREADS);
		return queues(th, a[0], NULL, data);
	case SYS_rt_sigtimedwait:
		ck_assert_uint_eq(*(uint64_t *)data, SIGBIT(SIGTRAP));
		ck_assert(a[0] == REMOTE_DATA && a[1] == 0);
		ck_assert_uint_eq(a[2] - REMOTE_DATA, 8);
		ck_assert_uint_eq(a[3], 8);
		ck_assert_int_eq(memcmp((char *)data + 8, at_once, 16), 0);
		return takes(th);
	default: ck_abort_msg("call %ld", nr);
	}
	return -ENOSYS;
}

static int
double_call(struct thread *th, long nr, const uint64_t args[6], void *data,
    size_t size, int64_t *result)
{
	ck_assert_uint_le(size, REMOTE_DATA_MAX);
	calls++;
	if (!can_call[th - threads])
		return -EBUSY;
	*result = makes(th, nr, args, data);
	return 0;
}

static struct thread *
double_next(const struct thread *prev)
{
	size_t i = prev == NULL ? 0 : (size_t)(prev - threads) + 1;

	return i < THREADS ? &threads[i] : NULL;
}

static int
double_inner(pid_t tid, pid_t *pid, pid_t *inner)
{
	*pid = INNER;
	*inner = tid - TID + INNER;
	return inner_error;
}

static int
double_siginfo(siginfo_t *si)
{
	*si = stop;
	return stop.si_signo == 0 ? -ESRCH : 0;
}

static struct uregs its_regs;
static bool is_dead; /* the registers cannot be read */

#define thread_pending(th, shared, i, si) double_pending(th, shared, i, si)
#define remote_syscall_data(th, nr, args, data, size, result) \
	double_call(th, nr, args, data, size, result)
#define remote_next_in(p, prev)    double_next(prev)
#define procfs_inner(tid, pid, in) double_inner(tid, pid, in)
#define thread_siginfo(th, si)     double_siginfo(si)
#define thread_set_siginfo(th, si) (sets++, stop = *(si))
#define thread_regs(th)            (is_dead ? NULL : &its_regs)
#define thread_regs_moved(th)      moved++
#define thread_settle(th)          settled++
#include "tracer/ptrace/requeue.c"
#include "tracer/ptrace/trapqueue.c"

static void
setup(void)
{
	proc.pid = TID;
	proc.super = &tracer;
	for (int i = 0; i < THREADS; i++) {
		threads[i].tid = TID + i;
		threads[i].proc = &proc;
		threads[i].stop.state = TH_STOPPED;
		can_call[i] = true;
		*vec_push(&proc.threads) = &threads[i];
	}
}

static void
teardown(void)
{
	vec_fini(&kernel);
	vec_fini(&proc.threads);
}

/* What is pending, in order: where, the code, the value. */
static void
expect(const char *want)
{
	char text[256] = "";
	size_t n = 0;

	vec_foreach(q, &kernel)
		if (q->si.si_signo == SIGTRAP)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    "%s%d:%d ",
			    q->th == NULL        ? "p" :
				q->th == threads ? "a" :
						   "b",
			    q->si.si_code, q->si.si_value.sival_int);
	ck_assert_str_eq(text, want);
}

/* The action is set to SIG_IGN, which discards all of them; they are sent
 * again. */
static bool
goes_round(void)
{
	struct trapqueue q = { 0 };
	size_t kept = 0;

	trapqueue_read(&proc, &q);
	vec_foreach(k, &kernel)
		if (k->si.si_signo != SIGTRAP)
			kernel.at[kept++] = *k;
	kernel.len = kept;
	bool sent = trapqueue_send(&proc, &q);
	ck_assert_uint_eq(q.list.len, 0);
	return sent;
}

/* ---- read and sent again ---- */

START_TEST(all_of_them_are_sent_again)
{
	comes(&threads[0], SIGTRAP, SI_TKILL, 1);
	comes(NULL, SIGTRAP, SI_USER, 2);
	comes(&threads[1], SIGTRAP, SI_QUEUE, 3);
	comes(&threads[0], SIGUSR1, SI_USER, 4);
	comes(&threads[1], SIGTRAP, SI_KERNEL, 5);
	ck_assert(goes_round());
	expect("a-6:1 p0:2 b-1:3 b128:5 ");
}
END_TEST

START_TEST(of_a_thread_that_runs_nothing_is_read)
{
	threads[0].stop.state = TH_RUNNING;
	comes(&threads[0], SIGTRAP, SI_TKILL, 1);
	comes(&threads[1], SIGTRAP, SI_TKILL, 2);
	comes(NULL, SIGTRAP, SI_USER, 3);
	struct trapqueue q = { 0 };
	trapqueue_read(&proc, &q);
	ck_assert_uint_eq(q.list.len, 2);
	ck_assert_ptr_eq(q.list.at[0].th, &threads[1]);
	/* Those of the process are read once. */
	ck_assert_ptr_null(q.list.at[1].th);
	vec_fini(&q.list);
}
END_TEST

/* Only the thread itself may send what kill() and the kernel send. */
START_TEST(a_thread_sends_its_own)
{
	can_call[0] = false;
	comes(&threads[0], SIGTRAP, SI_QUEUE, 1);
	ck_assert(goes_round());
	expect("a-1:1 ");
	kernel.len = 0;
	comes(&threads[0], SIGTRAP, SI_TKILL, 2);
	comes(&threads[1], SIGTRAP, SI_TKILL, 3);
	ck_assert(!goes_round());
	expect("b-6:3 ");
	kernel.len = 0;
	comes(&threads[0], SIGTRAP, SI_USER, 2);
	ck_assert(!goes_round());
	expect("");
}
END_TEST

START_TEST(those_of_the_process_are_sent_by_any)
{
	can_call[0] = false;
	comes(NULL, SIGTRAP, SI_USER, 1);
	ck_assert(goes_round());
	expect("p0:1 ");
	can_call[1] = false;
	ck_assert(!goes_round());
	expect("");
	can_call[1] = true;
	inner_error = -ESRCH;
	comes(NULL, SIGTRAP, SI_USER, 1);
	comes(&threads[0], SIGTRAP, SI_QUEUE, 1);
	ck_assert(!goes_round());
	expect("");
}
END_TEST

/* ---- timers ---- */

static void
timer_expires(void)
{
	comes(NULL, SIGTRAP, SI_TIMER, 1);
	kernel.at[kernel.len - 1].si.si_timerid = TIMER;
}

START_TEST(a_timer_that_has_expired_sends_again)
{
	timer_expires();
	ck_assert(goes_round());
	/* It is the timer's signal, not a copy. */
	expect("");
	ck_assert(is_zero(&timer.it_value));
	timer_expires();
	expires_after = 5;
	ck_assert(goes_round());
	ck_assert(is_zero(&timer.it_value));
	expect("");
}
END_TEST

START_TEST(it_is_not_waited_for_for_ever)
{
	timer_expires();
	expires_after = 100000;
	ck_assert(goes_round());
	ck_assert_uint_lt(calls, 110);
}
END_TEST

START_TEST(a_timer_that_is_set_goes_on)
{
	timer_expires();
	timer.it_value.tv_sec = 5;
	ck_assert(goes_round());
	expect("p-2:1 ");
	ck_assert_int_eq(timer.it_value.tv_sec, 5);
	kernel.len = 0;
	timer_expires();
	timer.it_interval.tv_nsec = 7;
	ck_assert(goes_round());
	expect("p-2:1 ");
	ck_assert_int_eq(timer.it_value.tv_sec, 5);
	ck_assert_int_eq(timer.it_interval.tv_nsec, 7);
}
END_TEST

START_TEST(the_signal_of_a_timer_that_is_deleted)
{
	timer_expires();
	no_timer = true;
	ck_assert(goes_round());
	expect("p-2:1 ");
}
END_TEST

/* ---- who has sent it ---- */

static bool
is_sent(int code)
{
	const siginfo_t si = { .si_signo = SIGTRAP, .si_code = code };

	return trapqueue_is_sent(&si);
}

START_TEST(what_a_process_has_sent)
{
	ck_assert(is_sent(SI_USER));
	ck_assert(is_sent(SI_TKILL));
	ck_assert(is_sent(SI_QUEUE));
	ck_assert(is_sent(SI_SIGIO));
	ck_assert(!is_sent(SI_KERNEL)); /* an int3 */
	ck_assert(!is_sent(TRAP_TRACE));
	ck_assert(!is_sent(TRAP_DONE)); /* handled by dtrap */
}
END_TEST

/* ---- discarded ---- */

START_TEST(what_was_sent_is_discarded)
{
	comes(&threads[0], SIGTRAP, SI_TKILL, 1);
	comes(&threads[0], SIGUSR1, SI_USER, 4);
	comes(&threads[1], SIGTRAP, SI_QUEUE, 2);
	comes(NULL, SIGTRAP, SI_USER, 3);
	trapqueue_discard(&proc);
	expect("");
	ck_assert_uint_eq(kernel.len, 1);
}
END_TEST

START_TEST(a_trap_of_an_int3_stays)
{
	comes(&threads[0], SIGTRAP, SI_TKILL, 1);
	comes(&threads[0], SIGTRAP, SI_KERNEL, 2);
	trapqueue_discard(&proc);
	expect("a-6:1 a128:2 ");
	/* Its process's own ones are removed by another thread. */
	comes(NULL, SIGTRAP, SI_USER, 3);
	trapqueue_discard(&proc);
	expect("a-6:1 a128:2 ");
	threads[1].stop.state = TH_RUNNING;
	comes(NULL, SIGTRAP, SI_USER, 3);
	trapqueue_discard(&proc);
	expect("a-6:1 a128:2 p0:3 ");
}
END_TEST

START_TEST(is_one_pending_for_the_thread)
{
	comes(NULL, SIGTRAP, SI_USER, 1);
	comes(&threads[1], SIGTRAP, SI_USER, 1);
	comes(&threads[0], SIGUSR1, SI_USER, 1);
	ck_assert(!trapqueue_has(&threads[0]));
	ck_assert(trapqueue_has(&threads[1]));
}
END_TEST

/* ---- kept at a stop ---- */

static void
stops_for(int code, int value)
{
	stop = (siginfo_t){ .si_signo = SIGTRAP, .si_code = code };
	stop.si_pid = 7;
	stop.si_value.sival_int = value;
	threads[0].stop.kind = EV_TRAP;
}

START_TEST(it_is_pending_again_before_the_others)
{
	comes(&threads[0], SIGTRAP, SI_TKILL, 2);
	comes(&threads[0], SIGTRAP, SI_QUEUE, 3);
	stops_for(SI_TKILL, 1);
	ck_assert(trapqueue_keep(&threads[0]));
	expect("a-6:1 a-6:2 a-1:3 ");
	/* Two are taken out, three are sent, at once. */
	ck_assert_uint_eq(calls, 5);
	ck_assert_int_eq(threads[0].stop.kind, EV_STOP);
	ck_assert_uint_eq(settled, 1);
	ck_assert_uint_eq(moved, 1);
	ck_assert_uint_eq(sets, 0);
}
END_TEST

START_TEST(a_copy_of_it_is_not_kept)
{
	comes(&threads[0], SIGTRAP, SI_TKILL, 1);
	comes(&threads[0], SIGTRAP, SI_TKILL, 2);
	stops_for(SI_TKILL, 1);
	ck_assert(trapqueue_keep(&threads[0]));
	expect("a-6:1 a-6:2 ");
}
END_TEST

START_TEST(each_part_tells_two_apart)
{
	stops_for(SI_TKILL, 1);
	comes(&threads[0], SIGTRAP, SI_QUEUE, 1);
	comes(&threads[0], SIGTRAP, SI_TKILL, 1);
	kernel.at[1].si.si_pid = 8;
	comes(&threads[0], SIGTRAP, SI_TKILL, 1);
	kernel.at[2].si.si_uid = 5;
	ck_assert(trapqueue_keep(&threads[0]));
	expect("a-6:1 a-1:1 a-6:1 a-6:1 ");
}
END_TEST

/* Somebody sends one before. */
START_TEST(it_is_tried_again)
{
	intruders = 1;
	stops_for(SI_TKILL, 1);
	ck_assert(trapqueue_keep(&threads[0]));
	expect("a-6:1 a0:99 ");
	intruders = 100;
	kernel.len = 0;
	ck_assert(trapqueue_keep(&threads[0]));
	ck_assert_uint_lt(calls, 40);
}
END_TEST

START_TEST(if_it_cannot_be_kept_the_caller_is_told)
{
	can_call[0] = false;
	stops_for(SI_TKILL, 1);
	ck_assert(!trapqueue_keep(&threads[0]));
	/* The stop's siginfo is still this one. */
	ck_assert_uint_eq(sets, 1);
	ck_assert_int_eq(stop.si_value.sival_int, 1);
	can_call[0] = is_dead = true;
	ck_assert(!trapqueue_keep(&threads[0]));
	stop.si_signo = 0; /* the thread has ended */
	settled = 0;
	ck_assert(!trapqueue_keep(&threads[0]));
	ck_assert_uint_eq(settled, 0);
}
END_TEST

/* The kernel has the mark at this offset of the siginfo. */
static void
watch_comes(struct thread *th, uint64_t data)
{
	comes(th, SIGTRAP, TRAP_DATA_CODE, 0);
	memcpy((char *)&kernel.at[kernel.len - 1].si + TRAP_DATA_AT, &data,
	    sizeof(data));
}

/* Those of the program's own perf events stay, too. */
START_TEST(those_of_watches_are_discarded)
{
	comes(&threads[0], SIGTRAP, SI_QUEUE, 1);
	watch_comes(&threads[0], TRAP_DATA_MARK);
	watch_comes(&threads[0], 7);
	watch_comes(&threads[1], TRAP_DATA_MARK);
	trapqueue_discard_data(&threads[0]);
	expect("b6:0 a-1:1 a6:7 ");
	kernel.len = 0;
	comes(&threads[0], SIGTRAP, SI_QUEUE, 2);
	trapqueue_discard_data(&threads[0]);
	expect("a-1:2 ");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		those_of_watches_are_discarded,
		all_of_them_are_sent_again,
		of_a_thread_that_runs_nothing_is_read,
		a_thread_sends_its_own,
		those_of_the_process_are_sent_by_any,
		a_timer_that_has_expired_sends_again,
		it_is_not_waited_for_for_ever,
		a_timer_that_is_set_goes_on,
		the_signal_of_a_timer_that_is_deleted,
		what_a_process_has_sent,
		what_was_sent_is_discarded,
		a_trap_of_an_int3_stays,
		is_one_pending_for_the_thread,
		it_is_pending_again_before_the_others,
		a_copy_of_it_is_not_kept,
		each_part_tells_two_apart,
		it_is_tried_again,
		if_it_cannot_be_kept_the_caller_is_told,
	};

	return suite_run(
	    "trapqueue", setup, teardown, tests, ARRAY_SIZE(tests));
}
