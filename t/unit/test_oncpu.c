/*
 * tracer/fire/oncpu: which threads are sampled: the one that ran on the processor
 * whose turn it is, and none that only waited.  Processors and threads are
 * doubles, so the file itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/clock.h"
#include "dlang/base/str.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/fire/oncpu.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"
#include "tracer/ptrace/processor.h"

#define THREADS 12
#define PERIOD  UINT64_C(100000000)

static struct state session;
static struct oncpu oncpu;
static struct proc procs[2];
static struct thread threads[THREADS];
static struct {
	char state;
	int cpu;
	uint64_t ran;
	bool gone, untimed;
} kernel[THREADS];

static bool may_visit, can_visit;
static int visited; /* the processor of the tracer */
static struct str hurried;

static struct proc *
double_next(const struct proc *p)
{
	if (p == NULL)
		return &procs[0];
	return p == &procs[0] ? &procs[1] : NULL;
}

static int
double_where(pid_t tid, char *state, int *cpu)
{
	if (kernel[tid].gone)
		return -ESRCH;
	*state = kernel[tid].state;
	*cpu = kernel[tid].cpu;
	return 0;
}

static int
double_sched(pid_t tid, struct procfs_sched *out)
{
	if (kernel[tid].untimed)
		return -ENOENT;
	*out = (struct procfs_sched){ .ran = kernel[tid].ran };
	return 0;
}

/* The processor time of the tracer. */
static uint64_t own_clock = 1000;

static bool
double_visit(int cpu)
{
	visited = cpu;
	return can_visit;
}

#define super_next(su, p)             double_next(p)
#define procfs_where(tid, state, cpu) double_where(tid, state, cpu)
#define procfs_sched(tid, out)        double_sched(tid, out)
#define processor_may_visit(p, set)   may_visit
#define processor_visit(p, cpu)       double_visit(cpu)
#define processor_hurry(p, alone)     str_add(&hurried, (alone) ? "alone " : "all ")
#define processor_calm(p)             str_add(&hurried, "calm ")
#define clock_ns(id)                  own_clock
#include "tracer/fire/oncpu.c"

/* Threads 0, 2, 4 and so on are of the first process, the others of the second;
 * all run on processor 0. */
static void
setup(void)
{
	session.oncpu = &oncpu;
	oncpu.turns = 1;
	may_visit = can_visit = true;
	for (int i = 0; i < THREADS; i++) {
		threads[i].tid = i;
		threads[i].proc = &procs[i % 2];
		threads[i].stop.state = TH_RUNNING;
		kernel[i].state = 'S';
		*vec_push(&procs[i % 2].threads) = &threads[i];
	}
}

static void
teardown(void)
{
	for (int i = 0; i < THREADS; i++)
		parts_end(&threads[i].parts);
	for (int i = 0; i < 2; i++)
		vec_fini(&procs[i].threads);
	str_fini(&hurried);
}

static void
runs(int tid, int cpu)
{
	kernel[tid].state = 'R';
	kernel[tid].cpu = cpu;
}

/* The sampled threads, with '!' if they certainly ran. */
static void
expect(const char *want)
{
	oncpu_threads found = { 0 };
	struct str text = { 0 };

	oncpu_find(&session, &found);
	vec_foreach(f, &found)
		str_printf(&text, "%d%s ", (int)f->thread->tid,
		    f->late == ONCPU_LATE ? "" : "!");
	ck_assert_str_eq(str_c(&text), want);
	str_fini(&text);
	vec_fini(&found);
}

static void
looks(void)
{
	str_clear(&hurried);
	visited = -1;
	oncpu_look(&session, PERIOD);
}

/* ---- one processor ---- */

START_TEST(the_one_that_ran_is_sampled)
{
	runs(0, 3);
	runs(1, 3);
	runs(2, 3);
	looks();
	ck_assert_int_eq(visited, 3);
	ck_assert_str_eq(str_c(&hurried), "alone ");
	kernel[1].ran += 70;
	kernel[2].ran += 20; /* it had the processor before */
	expect("1! ");
	ck_assert_str_eq(str_c(&hurried), "alone calm ");
}
END_TEST

START_TEST(how_long_the_tracer_has_been_there_is_told)
{
	oncpu_threads found = { 0 };

	runs(0, 3);
	looks();
	kernel[0].ran += 70;
	own_clock += 30;
	oncpu_find(&session, &found);
	ck_assert_uint_eq(found.len, 1);
	ck_assert_uint_eq(found.at[0].late, 30);
	vec_fini(&found);
}
END_TEST

START_TEST(one_that_sleeps_is_not)
{
	runs(1, 3);
	kernel[2].cpu = 3;
	looks();
	kernel[1].ran += 5;
	kernel[1].state = 'S';
	kernel[2].ran += 9;
	expect("");
}
END_TEST

START_TEST(nobody_runs)
{
	looks();
	ck_assert_int_eq(visited, -1);
	expect("");
}
END_TEST

/* It may have preempted the other, or wait. */
START_TEST(a_new_one_is_not_certain)
{
	runs(1, 3);
	looks();
	runs(5, 3);
	expect("5 ");
	/* If another has certainly run, it is that one. */
	kernel[5].state = 'S';
	looks();
	runs(5, 3);
	kernel[1].ran++;
	expect("1! ");
}
END_TEST

START_TEST(one_that_comes_from_another_processor_is_not_certain)
{
	runs(1, 3);
	runs(2, 4);
	looks();
	int cpu = visited;
	kernel[1].cpu = kernel[2].cpu = cpu;
	expect(cpu == 3 ? "2 " : "1 ");
}
END_TEST

START_TEST(one_that_is_stopped_at_a_tracepoint_was_running)
{
	runs(1, 3);
	threads[2].stop.state = TH_STOPPED;
	threads[2].stop.kind = EV_TRAP;
	kernel[2].cpu = 3;
	kernel[2].state = 't';
	threads[3].stop.state = TH_STOPPED;
	threads[3].stop.kind = EV_STOP;
	kernel[3].cpu = 3;
	looks();
	kernel[1].ran += 5;
	expect("2! 1! ");
}
END_TEST

START_TEST(one_that_owes_a_sample_counts_as_running)
{
	kernel[1].cpu = 3;
	oncpu_owes(&threads[1], true);
	looks();
	ck_assert_int_eq(visited, 3);
	kernel[1].ran += 1;
	expect("1! ");
	oncpu_owes(&threads[1], false);
	looks();
	ck_assert_int_eq(visited, -1);
	expect("");
}
END_TEST

START_TEST(one_that_has_ended_is_left_out)
{
	runs(1, 3);
	kernel[1].gone = true;
	runs(2, -1);
	runs(3, CPU_SETSIZE);
	looks();
	ck_assert_int_eq(visited, -1);
	expect("");
}
END_TEST

/* ---- several processors ---- */

START_TEST(processors_take_turns)
{
	runs(1, 3);
	runs(2, 0);
	runs(4, 7);
	int order[6];
	for (int i = 0; i < 6; i++) {
		looks();
		ck_assert_uint_eq(oncpu.turns, 3);
		order[i] = visited;
		for (int t = 0; t < 5; t++)
			kernel[t].ran += 5;
		expect(visited == 3 ? "1! " : visited == 0 ? "2! " : "4! ");
	}
	for (int i = 0; i < 3; i++) {
		ck_assert_int_ne(order[i], order[(i + 1) % 3]);
		ck_assert_int_eq(order[i], order[i + 3]);
	}
}
END_TEST

/* Threads on other processors that did not run at the look: every few times. */
START_TEST(a_new_one_elsewhere_has_its_turn)
{
	char all[32] = "";
	oncpu_threads found = { 0 };

	runs(1, 3);
	runs(2, 4);
	for (int i = 0; i < 4; i++) {
		kernel[5].state = 'S';
		looks();
		runs(5, 9);
		vec_clear(&found);
		oncpu_find(&session, &found);
		bool has = false;
		vec_foreach(f, &found) {
			has |= f->thread == &threads[5];
			ck_assert(
			    f->thread != &threads[5] || f->late == ONCPU_LATE);
		}
		strcat(all, has ? "x" : "-");
	}
	vec_fini(&found);
	ck_assert_str_eq(all, "-x-x");
}
END_TEST

/* One that moved to a processor whose turn it is not is left to the next. */
START_TEST(one_that_has_moved_is_left)
{
	runs(1, 3);
	runs(2, 4);
	looks();
	looks();
	ck_assert_uint_eq(oncpu.waiting, 2);
	oncpu.waiting = 1;
	kernel[visited == 3 ? 1 : 2].cpu = 11;
	expect("");
}
END_TEST

/* ---- all at once ---- */

static void
all_at_once(void)
{
	looks();
	ck_assert_int_eq(oncpu.cpu, -1);
	ck_assert_uint_eq(oncpu.turns, 1);
	ck_assert_str_eq(str_c(&hurried), "all ");
	expect("2 1 ");
}

START_TEST(if_it_may_not_go_there)
{
	runs(1, 3);
	runs(2, 4);
	may_visit = false;
	all_at_once();
	ck_assert_int_eq(visited, -1);
	may_visit = true;
	can_visit = false;
	all_at_once();
}
END_TEST

START_TEST(if_processor_time_is_not_kept)
{
	runs(1, 3);
	runs(2, 4);
	kernel[1].untimed = kernel[2].untimed = true;
	all_at_once();
	/* Those of other processors do not matter. */
	kernel[2].untimed = false;
	oncpu.cpu = 3;
	looks();
	ck_assert_int_eq(visited, 4);
	ck_assert_int_eq(oncpu.cpu, 4);
}
END_TEST

START_TEST(if_the_period_is_too_short)
{
	runs(1, 3);
	runs(2, 4);
	oncpu_look(&session, 4 * ONCPU_LEAD - 1);
	ck_assert_int_eq(oncpu.cpu, -1);
	expect("2 1 ");
	oncpu_look(&session, 4 * ONCPU_LEAD);
	ck_assert_int_ge(oncpu.cpu, 0);
}
END_TEST

START_TEST(if_there_are_too_many_processors)
{
	for (int i = 0; i < 8; i++)
		runs(i, i);
	looks();
	ck_assert_int_ge(oncpu.cpu, 0);
	oncpu.waiting = 0;
	runs(8, 8);
	looks();
	ck_assert_int_eq(oncpu.cpu, -1);
}
END_TEST

/* ---- two probes ---- */

START_TEST(two_samples_share_a_look)
{
	runs(1, 3);
	looks();
	kernel[1].ran += 5;
	oncpu_look(&session, PERIOD);
	ck_assert_uint_eq(oncpu.looks, 1);
	expect("1! ");
	ck_assert_str_eq(str_c(&hurried), "alone ");
	expect("1! ");
	ck_assert_str_eq(str_c(&hurried), "alone calm ");
	looks();
	ck_assert_uint_eq(oncpu.looks, 2);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		the_one_that_ran_is_sampled,
		how_long_the_tracer_has_been_there_is_told,
		one_that_sleeps_is_not,
		nobody_runs,
		a_new_one_is_not_certain,
		one_that_comes_from_another_processor_is_not_certain,
		one_that_is_stopped_at_a_tracepoint_was_running,
		one_that_owes_a_sample_counts_as_running,
		one_that_has_ended_is_left_out,
		processors_take_turns,
		a_new_one_elsewhere_has_its_turn,
		one_that_has_moved_is_left,
		if_it_may_not_go_there,
		if_processor_time_is_not_kept,
		if_the_period_is_too_short,
		if_there_are_too_many_processors,
		two_samples_share_a_look,
	};

	return suite_run("oncpu", setup, teardown, tests, ARRAY_SIZE(tests));
}
