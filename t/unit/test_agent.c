/*
 * inject/agent: what a clause may ask for inside the target (ops.c, cpu.c): what
 * the thread itself knows.  Everything else is refused, as the tracer fires such
 * clauses.  And when a hit fires (hit.c).
 */
#include <check.h>
#include <sched.h>
#include <string.h>

#include "dlang/vm/ecb.h"
#include "inject/agent/agent.h"

/* It has one of its own, for the vDSO. */
#define timespec agent_timespec
#include "inject/agent/ops.c"

uint32_t machine_cpu(void);
#define agent_cpu machine_cpu
#include "inject/agent/x86_64/cpu.c"
#undef agent_cpu

static bool opens;          /* vm_open() succeeds */
static struct lane *opened; /* the lane that it finds */
static unsigned fired;

static bool
double_open(struct vm_env *e, uint32_t number)
{
	ck_assert_uint_eq(number, 7);
	e->at.lane = opened;
	return opens;
}

static void
double_fire(struct vm_env *e, uint32_t tp_id)
{
	fired += tp_id;
}

#define vm_open             double_open
#define ecb_fire_tracepoint double_fire
#include "inject/agent/hit.c"

static unsigned asked[2]; /* how often which clock was read */
static struct vm_env env;
/* As in a store: the environment stands behind it. */
static struct {
	struct lane lane;
	struct vm_env env;
} own;

uint32_t
agent_cpu(void)
{
	return 3;
}

static int
tell_time(int clock, struct agent_timespec *ts)
{
	ck_assert_int_ge(clock, 0);
	ck_assert_int_le(clock, 1);
	asked[clock]++;
	ts->sec = 5 + clock;
	ts->nsec = 999999999;
	return 0;
}

static void
setup(void)
{
	memset(&own, 0, sizeof(own));
	fired = 0;
	memset(&env, 0, sizeof(env));
	memset(asked, 0, sizeof(asked));
	env.ops = &agent_ops;
	env.ctx = &own.lane;
	env.pid = 1234;
	env.tid = 1235;
	agent.clock = (uint64_t)&tell_time;
	agent.space = 77;
}

START_TEST(the_thread_knows_itself)
{
	uint64_t v = 0;

	ck_assert_int_eq(agent_ops.var(&env, DIF_VAR_PID, &v), 0);
	ck_assert_uint_eq(v, 1234);
	ck_assert_int_eq(agent_ops.var(&env, DIF_VAR_TID, &v), 0);
	ck_assert_uint_eq(v, 1235);
	v = 0;
	ck_assert_int_eq(agent_ops.var(&env, DIF_VAR_CURTHREAD, &v), 0);
	ck_assert_uint_eq(v, 1235);
	ck_assert_int_eq(agent_ops.var(&env, DIF_VAR_CPU, &v), 0);
	ck_assert_uint_eq(v, 3);
	ck_assert_uint_eq(agent_ops.space(&env), 77);
}
END_TEST

START_TEST(time_is_that_of_the_vdso)
{
	uint64_t v = 0;

	/* Clock 1 is CLOCK_MONOTONIC of Linux, clock 0 CLOCK_REALTIME. */
	agent_ops.when(&env);
	ck_assert_uint_eq(env.timestamp, UINT64_C(6999999999));
	ck_assert_uint_eq(env.cpu, 3);
	ck_assert_uint_eq(asked[1], 1);
	ck_assert_int_eq(agent_ops.var(&env, DIF_VAR_WALLTIMESTAMP, &v), 0);
	ck_assert_uint_eq(v, UINT64_C(5999999999));
	/* It is the same for all clauses of a hit. */
	ck_assert_int_eq(agent_ops.var(&env, DIF_VAR_WALLTIMESTAMP, &v), 0);
	ck_assert_uint_eq(v, UINT64_C(5999999999));
	ck_assert_uint_eq(asked[0], 1);
	own.lane.wall = 0;
	ck_assert_int_eq(agent_ops.var(&env, DIF_VAR_WALLTIMESTAMP, &v), 0);
	ck_assert_uint_eq(asked[0], 2);
}
END_TEST

START_TEST(without_a_clock_the_time_is_0)
{
	agent.clock = 0;
	env.timestamp = 1;
	agent_ops.when(&env);
	ck_assert_uint_eq(env.timestamp, 0);
}
END_TEST

START_TEST(the_rest_is_refused)
{
	char buf[16] = "as it was";
	uint64_t v = 12;

	for (uint32_t id = 0; id < 0x400; id++)
		if (id != DIF_VAR_PID && id != DIF_VAR_TID &&
		    id != DIF_VAR_CURTHREAD && id != DIF_VAR_CPU &&
		    id != DIF_VAR_WALLTIMESTAMP)
			ck_assert_int_eq(agent_ops.var(&env, id, &v), -1);
	ck_assert_int_eq(agent_ops.var_str(&env, 0, buf, sizeof(buf)), -1);
	ck_assert_int_eq(agent_ops.load(&env, (uint64_t)&v, buf, 8), -1);
	ck_assert_int_eq(
	    agent_ops.load_str(&env, (uint64_t)buf, buf, sizeof(buf)), -1);
	ck_assert_int_eq(agent_ops.store(&env, (uint64_t)&v, buf, 8), -1);
	ck_assert_int_eq(agent_ops.symbol(&env, 0, &v), -1);
	ck_assert_int_eq(agent_ops.control(&env, 0, 0), -1);
	ck_assert_int_eq(agent_ops.state(&env, 0, 0, &v), -1);
	ck_assert_int_eq(agent_ops.state_str(&env, 0, 0, buf, sizeof(buf)), -1);
	ck_assert(!agent_ops.progenyof(&env, 1));
	ck_assert_uint_eq(agent_ops.stack(&env, &v, 1, false), 0);
	ck_assert_uint_eq(agent_ops.reg(&env, 0), 0);
	ck_assert_uint_eq(v, 12);
	ck_assert_str_eq(buf, "as it was");
}
END_TEST

START_TEST(the_processor_is_told_by_a_segment)
{
	cpu_set_t was, one;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(was), &was), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (CPU_ISSET(cpu, &was) &&
		    sched_setaffinity(0, sizeof(one), &one) == 0)
			ck_assert_uint_eq(machine_cpu(), (uint32_t)cpu);
	}
}
END_TEST

START_TEST(a_hit_fires_in_its_lane)
{
	own.lane.thread = 1;
	own.lane.number = 7;
	own.lane.wall = 5;
	opens = true;
	opened = &own.lane;
	agent.image_size = 4096;
	agent_hit(&own.lane, 12);
	agent.image_size = 8192;
	agent_hit(&own.lane, 30);
	ck_assert_uint_eq(fired, 42);
	ck_assert_uint_eq(own.lane.hits, 2);
	ck_assert_uint_eq(own.lane.lost, 0);
	ck_assert_uint_eq(own.lane.wall, 0);
	ck_assert_uint_eq(lane_env(&own.lane)->image.size, 8192);
}
END_TEST

/* A store that the tracer or the target has spoilt: nothing fires any more. */
START_TEST(a_lane_that_makes_no_sense_ends_it)
{
	struct lane *const found[] = { &own.lane, NULL };

	for (unsigned i = 0; i < 2; i++) {
		setup();
		agent.broken = 0;
		own.lane.thread = 1;
		own.lane.number = 7;
		opens = i == 1;
		opened = found[i];
		agent_hit(&own.lane, 12);
		ck_assert_uint_eq(agent.broken, 1);
		ck_assert_ptr_null(lane_env(&own.lane)->at.lane);
		opens = true;
		opened = &own.lane;
		agent_hit(&own.lane, 12);
		ck_assert_uint_eq(fired, 0);
		ck_assert_uint_eq(own.lane.hits, 0);
		ck_assert_uint_eq(own.lane.lost, 2);
	}
}
END_TEST

START_TEST(a_lane_without_a_thread_fires_nothing)
{
	own.lane.number = 7;
	agent_hit(&own.lane, 12);
	ck_assert_uint_eq(fired, 0);
	ck_assert_uint_eq(own.lane.lost, 1);
	ck_assert_uint_eq(agent.broken, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("agent");
	TCase *t = tcase_create("agent");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, the_thread_knows_itself);
	tcase_add_test(t, time_is_that_of_the_vdso);
	tcase_add_test(t, without_a_clock_the_time_is_0);
	tcase_add_test(t, the_rest_is_refused);
	tcase_add_test(t, the_processor_is_told_by_a_segment);
	tcase_add_test(t, a_hit_fires_in_its_lane);
	tcase_add_test(t, a_lane_that_makes_no_sense_ends_it);
	tcase_add_test(t, a_lane_without_a_thread_fires_nothing);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
