/*
 * inject/agent: what a clause may ask for inside the target (ops.c, cpu.c): what
 * the thread itself knows.  Everything else is refused, as the tracer fires such
 * clauses.  When a hit fires (hit.c), and what it reads (load.c).
 */
#include <check.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "dlang/vm/ecb.h"
#include "inject/agent/agent.h"

/* It has one of its own, for the vDSO. */
#define timespec agent_timespec
#include "inject/agent/ops.c"

uint32_t machine_cpu(void);
uint64_t machine_count(void);
#define agent_cpu   machine_cpu
#define agent_ticks machine_count
#include "inject/agent/x86_64/cpu.c"
#undef agent_cpu
#undef agent_ticks

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

#include "inject/agent/load.c"
#include "inject/agent/x86_64/load.c"

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

/* The processor's count, which goes on with each look at it. */
static uint64_t count, step;

uint64_t
agent_ticks(void)
{
	count += step;
	return count;
}

static int64_t nsec;

static int
tell_time(int clock, struct agent_timespec *ts)
{
	ck_assert_int_ge(clock, 0);
	ck_assert_int_le(clock, 1);
	asked[clock]++;
	ts->sec = 5 + clock;
	ts->nsec = nsec;
	return 0;
}

/* What the tracer is asked for. */
static struct {
	unsigned times;
	uint64_t what, addr, size;
	void *buf;
	int64_t answer;
} question;

static int64_t
ask_the_test(uint64_t what, uint64_t addr, void *buf, uint64_t size)
{
	question.times++;
	question.what = what;
	question.addr = addr;
	question.buf = buf;
	question.size = size;
	return question.answer;
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
	nsec = 999999999;
	count = step = 0;
	memset(&question, 0, sizeof(question));
	question.answer = -1;
	own.lane.ask = (uintptr_t)ask_the_test;
	agent.ranges = 0;
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

/* Half a nanosecond a count, for a million of them. */
static void
by_count(int64_t now)
{
	own.lane.tick_most = 1000000;
	own.lane.tick_rate = UINT64_C(1) << 31;
	count = 5000000000;
	nsec = now;
}

START_TEST(time_is_told_from_the_count)
{
	const uint64_t s = UINT64_C(6000000000);

	by_count(1000);
	ck_assert_uint_eq(agent_now(&own.lane), s + 1000);
	ck_assert_uint_eq(asked[1], 1);
	count += 500;
	ck_assert_uint_eq(agent_now(&own.lane), s + 1250);
	agent_ops.when(&env);
	ck_assert_uint_eq(env.timestamp, s + 1250);
	count += 999500;
	ck_assert_uint_eq(agent_now(&own.lane), s + 501000);
	ck_assert_uint_eq(asked[1], 1);
	/* Then the clock is asked again, which may be a little behind. */
	count++;
	nsec = 500900;
	ck_assert_uint_eq(agent_now(&own.lane), s + 501000);
	ck_assert_uint_eq(asked[1], 2);
	count += 400;
	ck_assert_uint_eq(agent_now(&own.lane), s + 501100);
	ck_assert_uint_eq(asked[1], 2);
	/* A count that has begun anew. */
	count = 7;
	nsec = 900000;
	ck_assert_uint_eq(agent_now(&own.lane), s + 900000);
	ck_assert_uint_eq(asked[1], 3);
	ck_assert_uint_ne(own.lane.tick_most, 0);
}
END_TEST

START_TEST(time_is_not_told_from_a_count_that_was_not_at_it)
{
	by_count(1000);
	agent_now(&own.lane);
	/* The thread did not run between count and clock. */
	count += 1000001;
	step = 1002;
	nsec = 501000;
	for (unsigned n = 2; n < 5; n++) {
		agent_now(&own.lane);
		ck_assert_uint_eq(asked[1], n);
	}
	step = 1000;
	nsec = 504600;
	agent_now(&own.lane);
	agent_now(&own.lane);
	ck_assert_uint_eq(asked[1], 5);
}
END_TEST

/* What the clock is ahead by when 600 us are over. */
static bool
goes_on(int64_t error)
{
	memset(&own.lane, 0, sizeof(own.lane));
	by_count(1000);
	agent_now(&own.lane);
	count += 1200000;
	nsec = 601000 + error;
	agent_now(&own.lane);
	return own.lane.tick_most != 0;
}

START_TEST(time_is_not_told_from_a_count_with_another_rate)
{
	ck_assert(goes_on(0));
	ck_assert(goes_on(1000));
	ck_assert(goes_on(-1000));
	ck_assert(!goes_on(1001));
	ck_assert(!goes_on(-1001));
	unsigned n = asked[1];
	agent_now(&own.lane);
	agent_now(&own.lane);
	ck_assert_uint_eq(asked[1], n + 2);
	/* Of longer times nothing is known. */
	by_count(1000);
	memset(&own.lane, 0, sizeof(own.lane));
	by_count(1000);
	agent_now(&own.lane);
	count += 8000001;
	nsec = 900000000;
	agent_now(&own.lane);
	ck_assert_uint_ne(own.lane.tick_most, 0);
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
	agent_hit(&own.lane, 12, ask_the_test);
	agent.image_size = 8192;
	agent_hit(&own.lane, 30, ask_the_test);
	ck_assert_uint_eq(fired, 42);
	ck_assert_uint_eq(own.lane.hits, 2);
	ck_assert_uint_eq(own.lane.lost, 0);
	ck_assert_uint_eq(own.lane.wall, 0);
	ck_assert_uint_eq(own.lane.ask, (uintptr_t)ask_the_test);
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
		agent_hit(&own.lane, 12, ask_the_test);
		ck_assert_uint_eq(agent.broken, 1);
		ck_assert_ptr_null(lane_env(&own.lane)->at.lane);
		opens = true;
		opened = &own.lane;
		agent_hit(&own.lane, 12, ask_the_test);
		ck_assert_uint_eq(fired, 0);
		ck_assert_uint_eq(own.lane.hits, 0);
		ck_assert_uint_eq(own.lane.lost, 2);
	}
}
END_TEST

START_TEST(a_lane_without_a_thread_fires_nothing)
{
	own.lane.number = 7;
	agent_hit(&own.lane, 12, ask_the_test);
	ck_assert_uint_eq(fired, 0);
	ck_assert_uint_eq(own.lane.lost, 1);
	ck_assert_uint_eq(agent.broken, 0);
}
END_TEST

/* ---- memory of the program ---- */

#define TEST_PAGE 4096U

static struct {
	struct agent_ranges head;
	struct agent_range at[5];
} known;

/* Three pages of memory, of which the middle one can be read; in the table there
 * is other memory on both sides of it. */
static char *
three_pages(void)
{
	char *p = mmap(NULL, 3 * TEST_PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	memset(p, 'x', 3 * TEST_PAGE);
	mprotect(p, TEST_PAGE, PROT_NONE);
	mprotect(p + 2 * TEST_PAGE, TEST_PAGE, PROT_NONE);
	uint64_t at = (uintptr_t)p + TEST_PAGE;
	known.head.n = 5;
	known.at[0] = (struct agent_range){ 1, 2 };
	known.at[1] = (struct agent_range){ 4096, 8192 };
	known.at[2] = (struct agent_range){ at, at + TEST_PAGE };
	known.at[3] = (struct agent_range){ UINT64_MAX - 9, UINT64_MAX - 8 };
	known.at[4] = (struct agent_range){ UINT64_MAX - 1, UINT64_MAX };
	agent.ranges = (uintptr_t)&known;
	return p + TEST_PAGE;
}

static int64_t
string_at(const char *p, char *buf, uint32_t size)
{
	return agent_ops.load_str(&env, (uintptr_t)p, buf, size);
}

START_TEST(known_memory_is_read_without_the_tracer)
{
	char *p = three_pages(), buf[TEST_PAGE];

	for (uint32_t i = 0; i < TEST_PAGE; i++)
		p[i] = (char)(i * 7 + i / 256);
	for (uint32_t len = 0; len < 40; len++)
		for (uint32_t at = 0; at < 20; at++) {
			memset(buf, 0x55, sizeof(buf));
			ck_assert_int_eq(
			    agent_ops.load(&env, (uintptr_t)p + at, buf, len),
			    0);
			ck_assert_mem_eq(buf, p + at, len);
			ck_assert_int_eq(buf[len], 0x55);
		}
	ck_assert_int_eq(agent_ops.load(&env, (uintptr_t)p, buf, TEST_PAGE), 0);
	ck_assert_mem_eq(buf, p, TEST_PAGE);
	ck_assert_int_eq(
	    agent_ops.load(&env, (uintptr_t)p + TEST_PAGE - 8, buf, 8), 0);
	ck_assert_uint_eq(question.times, 0);
}
END_TEST

START_TEST(other_memory_is_the_tracers)
{
	char *p = three_pages(), buf[16];

	question.answer = 0;
	ck_assert_int_eq(agent_ops.load(&env, (uintptr_t)p - 1, buf, 2), 0);
	ck_assert_uint_eq(question.what, AGENT_BYTES);
	ck_assert_uint_eq(question.addr, (uintptr_t)p - 1);
	ck_assert_ptr_eq(question.buf, buf);
	ck_assert_uint_eq(question.size, 2);
	question.answer = -1;
	ck_assert_int_eq(
	    agent_ops.load(&env, (uintptr_t)p + TEST_PAGE - 1, buf, 2), -1);
	ck_assert_int_eq(
	    agent_ops.load(&env, (uintptr_t)p + TEST_PAGE, buf, 1), -1);
	ck_assert_uint_eq(question.times, 3);
	agent.ranges = 0;
	ck_assert_int_eq(agent_ops.load(&env, (uintptr_t)p, buf, 8), -1);
	ck_assert_uint_eq(question.times, 4);
	own.lane.ask = 0;
	ck_assert_int_eq(agent_ops.load(&env, (uintptr_t)p, buf, 8), -1);
	ck_assert_uint_eq(question.times, 4);
}
END_TEST

START_TEST(actions_are_asked_for)
{
	env.site_ref = 0x30;
	env.timestamp = 99;
	agent_ops.rest(&env, 0x50);
	ck_assert_uint_eq(question.times, 1);
	ck_assert_uint_eq(question.what, AGENT_REST);
	ck_assert_uint_eq(question.addr, UINT64_C(0x5000000030));
	ck_assert_uint_eq(question.size, 99);
	/* There is no tracer. */
	own.lane.ask = 0;
	agent_ops.rest(&env, 0x50);
	ck_assert_uint_eq(question.times, 1);
}
END_TEST

/* Every length at every place of a word, up to the page's last byte, with every
 * limit. */
START_TEST(strings_end_where_they_do)
{
	char *p = three_pages(), buf[64];

	for (uint32_t len = 0; len < 20; len++)
		for (uint32_t at = 0; at < 9; at++)
			for (uint32_t size = 0; size < 24; size++) {
				char *s = p + TEST_PAGE - 1 - len - at;
				uint32_t want = VM_MIN(len + 1, size);
				memset(p, 'y', TEST_PAGE);
				s[len] = 0;
				memset(buf, 0x55, sizeof(buf));
				ck_assert_int_eq(string_at(s, buf, size), want);
				ck_assert_mem_eq(buf, s, want);
				ck_assert_int_eq(buf[size], 0x55);
			}
	/* Bytes of 0x80 and 0x01 are no end. */
	memset(p, 0x80, 8);
	memset(p + 8, 1, 8);
	p[16] = 0;
	ck_assert_int_eq(string_at(p, buf, 64), 17);
	ck_assert_uint_eq(question.times, 0);
}
END_TEST

START_TEST(a_string_that_goes_on_is_the_tracers)
{
	char *p = three_pages(), buf[64];

	question.answer = 33;
	ck_assert_int_eq(string_at(p + TEST_PAGE - 3, buf, 64), 33);
	ck_assert_uint_eq(question.what, AGENT_STRING);
	ck_assert_uint_eq(question.addr, (uintptr_t)p + TEST_PAGE - 3);
	ck_assert_uint_eq(question.size, 64);
	ck_assert_int_eq(string_at(p - 1, buf, 64), 33);
	ck_assert_uint_eq(question.times, 2);
}
END_TEST

static unsigned mended;

/* As the tracer does it. */
static void
mend(int sig, siginfo_t *si, void *ctx)
{
	greg_t *regs = ((ucontext_t *)ctx)->uc_mcontext.gregs;

	for (const struct agent_fixup *f = __start_agent_fixups;
	     f < __stop_agent_fixups; f++)
		if ((uintptr_t)&f->load + (uint64_t)(int64_t)f->load ==
		    (uint64_t)regs[REG_RIP]) {
			regs[REG_RIP] = (greg_t)((uintptr_t)&f->on +
			    (uint64_t)(int64_t)f->on);
			regs[REG_RAX] = -1;
			mended++;
			return;
		}
	signal(SIGSEGV, SIG_DFL);
}

START_TEST(memory_that_is_gone_is_the_tracers)
{
	struct sigaction act = { .sa_sigaction = mend, .sa_flags = SA_SIGINFO };
	char *p = three_pages(), buf[64];

	sigaction(SIGSEGV, &act, NULL);
	mprotect(p, TEST_PAGE, PROT_NONE);
	ck_assert_int_eq(agent_ops.load(&env, (uintptr_t)p, buf, 8), -1);
	ck_assert_uint_eq(mended, 1);
	ck_assert_int_eq(agent_ops.load(&env, (uintptr_t)p + 1, buf, 64), -1);
	ck_assert_uint_eq(mended, 2);
	ck_assert_int_eq(string_at(p + 9, buf, 64), -1);
	ck_assert_uint_eq(mended, 3);
	ck_assert_uint_eq(question.times, 3);
}
END_TEST

/* As dlang/vm/vm_mem.c does, and not more of the 0s than is asked for. */
START_TEST(strings_of_bodies_are_as_the_vm_copies_them)
{
	char *end = three_pages() + TEST_PAGE, buf[48];

	memcpy(end - 40, "abcdefg", 8);
	memset(buf, '-', sizeof(buf));
	ck_assert_int_eq(
	    agent_text(&own.lane, (uintptr_t)end - 40, buf, 25, 25, 0), 8);
	ck_assert_mem_eq(buf, "abcdefg\0", 8);
	ck_assert_int_eq(
	    agent_text(&own.lane, (uintptr_t)end - 40, buf, 25, 25, 32), 8);
	ck_assert_mem_eq(
	    buf, "abcdefg\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
	ck_assert_int_eq(buf[32], '-');
	/* Cut; the last byte that may be looked at is the last that can be. */
	ck_assert_int_eq(
	    agent_text(&own.lane, (uintptr_t)end - 24, buf, 24, 25, 0), 25);
	ck_assert_mem_eq(buf, "xxxxxxxxxxxxxxxxxxxxxxxx\0\0\0\0\0\0\0", 32);
	ck_assert_int_eq(buf[32], '-');
	/* What only the VM can do; nobody is asked. */
	ck_assert_int_eq(
	    agent_text(&own.lane, (uintptr_t)end - 24, buf, 25, 25, 0), -1);
	ck_assert_int_eq(agent_text(&own.lane, 0, buf, 25, 25, 0), -1);
	ck_assert_int_eq(
	    agent_text(&own.lane, VMA(VMA_IMAGE, 8), buf, 25, 25, 0), -1);
	ck_assert_uint_eq(question.times, 0);
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
	tcase_add_test(t, time_is_told_from_the_count);
	tcase_add_test(t, time_is_not_told_from_a_count_that_was_not_at_it);
	tcase_add_test(t, time_is_not_told_from_a_count_with_another_rate);
	tcase_add_test(t, the_rest_is_refused);
	tcase_add_test(t, the_processor_is_told_by_a_segment);
	tcase_add_test(t, a_hit_fires_in_its_lane);
	tcase_add_test(t, a_lane_that_makes_no_sense_ends_it);
	tcase_add_test(t, a_lane_without_a_thread_fires_nothing);
	tcase_add_test(t, known_memory_is_read_without_the_tracer);
	tcase_add_test(t, other_memory_is_the_tracers);
	tcase_add_test(t, actions_are_asked_for);
	tcase_add_test(t, strings_end_where_they_do);
	tcase_add_test(t, a_string_that_goes_on_is_the_tracers);
	tcase_add_test(t, memory_that_is_gone_is_the_tracers);
	tcase_add_test(t, strings_of_bodies_are_as_the_vm_copies_them);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
