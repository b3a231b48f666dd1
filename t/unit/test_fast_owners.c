/*
 * tracer/fast/ lanes and report: which thread has which lane of the memory in a
 * target, how it is asked to stop at the end of a firing, and what is counted.
 * The memory is real; threads, their registers and signals are doubles.
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/str.h"
#include "inject/resume.h"
#include "t/fake/env.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/consume/consume.h"
#include "tracer/fast/fast_impl.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"

#define THREADS 3
#define LANES   2
#define ADDR    UINT64_C(0x7f0000400000) /* of the memory in the target */

static struct kit kit;
static struct state state;
static struct fast fast;
static struct space space;
static struct proc proc;
static struct thread threads[THREADS];
static struct fast_space *mem;
static struct agent its_agent;

/* What the kernel has of a thread. */
static struct uregs its_regs[THREADS];
static unsigned dirty[THREADS];
static bool dead[THREADS]; /* no registers */
static siginfo_t stopped_by;
static int siginfo_error;
static siginfo_t raised[4]; /* signals that come instead of the trap */
static unsigned n_raised;
static enum slot_place stub_place;
static int ended[4]; /* lanes that the consumer has read for the last time */
static unsigned n_ended;

static unsigned
number(const struct thread *th)
{
	return (unsigned)(th - threads);
}

static int
double_siginfo(siginfo_t *si)
{
	*si = stopped_by;
	return siginfo_error;
}

static void
double_instead(const siginfo_t *si, size_t n)
{
	while (n-- > 0)
		raised[n_raised++] = *si++;
}

static void
double_end(const struct region *store, int lane)
{
	ck_assert_ptr_eq(store, &mem->store);
	ended[n_ended++] = lane;
}

#define thread_regs(th)                   (dead[number(th)] ? NULL : &its_regs[number(th)])
#define thread_regs_dirty(th)             dirty[number(th)]++
#define thread_siginfo(th, si)            double_siginfo(si)
#define thread_signals_instead(th, si, n) double_instead(si, n)
#define consume_lanes_end(c, s, n)        double_end(s, n)
#define resume_leave_stub(tab, r, t)      ((void)(r), *(t) = NULL, stub_place)
static uint64_t running_pc;
static int running_error;
static bool running_in_stub;
#define thread_pc(th, pc, sp) \
	(*(pc) = running_pc, *(sp) = 0, (void)(th), running_error)
static bool running_in_shared;
#define resume_stub_shared(tab, pc) (running_in_shared && (pc) == running_pc)
#define resume_stub_at(tab, pc) \
	(running_in_stub && (pc) == running_pc ? &a_tracepoint : NULL)
static struct tracepoint a_tracepoint;
#include "tracer/fast/lanes.c"
#include "tracer/fast/report.c"

static void
setup(void)
{
	kit_init(&kit);
	kit_clause(&kit, NULL, 24);
	kit_publish(&kit);
	kit_threads(&kit, LANES);
	state.fast = &fast;
	space.tab = (struct tptable *)&space;
	proc.space = &space;
	*vec_push(&space.procs) = &proc;
	for (unsigned i = 0; i < THREADS; i++) {
		threads[i].tid = (pid_t)(70 + i);
		threads[i].proc = &proc;
		threads[i].birth = 1 + i;
		threads[i].stop.state = TH_STOPPED;
		its_regs[i].r[UREG_THREAD] = 0x1000 * (i + 1);
		*vec_push(&proc.threads) = &threads[i];
	}
	mem = fast_begin(&space);
	mem->id = 1;
	mem->addr = ADDR;
	mem->agent = &its_agent;
	mem->now = 0x12340;
	mem->base = kit.threads.base;
	mem->store = kit.threads;
	mem->size = PAGE + kit.threads.size;
	struct lane_use use = { .owner = NULL };
	for (uint32_t n = 0; n < LANES; n++) {
		use.v = *(kit.lanes + n);
		*vec_push(&mem->lanes) = use;
	}
	*vec_push(&fast.spaces) = mem;
}

static void
teardown(void)
{
	for (unsigned i = 0; i < THREADS; i++)
		parts_end(&threads[i].parts);
	parts_end(&space.parts);
	vec_fini(&space.procs);
	vec_fini(&proc.threads);
	vec_fini(&fast.spaces);
	report_end(&fast);
	kit_fini(&kit);
}

/* The maker of the thread was led there. */
static void
was_led(unsigned n, uint64_t addr, uint64_t size)
{
	struct led *led = part_of(&threads[n].parts, &led_part);

	*led = (struct led){ addr, size };
}

static uint64_t
lane_of(unsigned n)
{
	return its_regs[n].r[UREG_LANE];
}

static struct lane *
lane(unsigned n)
{
	return mem->lanes.at[n].v.lane;
}

/* ---- giving ---- */

START_TEST(each_thread_gets_a_lane_of_its_own)
{
	fast_begins(&state, &threads[0]);
	fast_begins(&state, &threads[1]);
	ck_assert_uint_eq(lane_of(0), fast_addr(mem, lane(0)));
	ck_assert_uint_eq(lane_of(1), fast_addr(mem, lane(1)));
	ck_assert_uint_eq(dirty[0], 1);
	/* The code of a site knows it by these. */
	ck_assert_uint_eq(lane(1)->self, lane_of(1));
	ck_assert_uint_eq(lane(1)->clock, mem->now);
	ck_assert_uint_eq(lane(1)->memory, 0x2000);
	ck_assert_uint_eq(lane(1)->tid, 71);
	ck_assert_uint_ne(lane(0)->thread, lane(1)->thread);
	ck_assert_uint_ne(lane(0)->thread, 0);
	/* Nothing changes at further stops. */
	fast_begins(&state, &threads[0]);
	ck_assert_uint_eq(dirty[0], 1);
	ck_assert_ptr_eq(fast_lane(&state, &threads[0])->lane, lane(0));
	ck_assert_uint_eq(dirty[0], 1);
}
END_TEST

START_TEST(a_thread_knows_whether_its_process_is_followed)
{
	proc.pid = 70;
	proc.role.followed = true;
	fast_begins(&state, &threads[0]);
	ck_assert_uint_eq(lane(0)->followed, 1);
	ck_assert_uint_eq(lane(0)->pid, 70);
}
END_TEST

/* The stub finds no lane at the beginning of the store, so it traps. */
START_TEST(without_a_free_lane_a_thread_traps)
{
	for (unsigned i = 0; i < THREADS; i++)
		fast_begins(&state, &threads[i]);
	ck_assert_uint_eq(lane_of(2), fast_addr(mem, mem->store.base));
	ck_assert_ptr_null(fast_lane(&state, &threads[2]));
	ck_assert_ptr_null(fast_firing(&threads[2]));
	ck_assert(!fast_skip(&threads[2], 1, 2));
	/* A lane that becomes free is for threads that begin later. */
	fast_ends(&state, &threads[0]);
	ck_assert_ptr_null(fast_lane(&state, &threads[2]));
	its_regs[0].r[UREG_LANE] = 0;
	parts_end(&threads[0].parts);
	threads[0].parts = (struct parts){ 0 }; /* a new thread */
	fast_begins(&state, &threads[0]);
	ck_assert_uint_eq(lane_of(0), fast_addr(mem, lane(0)));
}
END_TEST

START_TEST(a_thread_without_a_lane_gets_one_in_another_space)
{
	for (unsigned i = 0; i < THREADS; i++)
		fast_begins(&state, &threads[i]);
	fast_ends(&state, &threads[0]);
	mem->id = 2; /* it has executed a program */
	fast_begins(&state, &threads[2]);
	ck_assert_uint_eq(lane_of(2), fast_addr(mem, lane(0)));
	ck_assert_ptr_eq(fast_firing(&threads[2])->lane, lane(0));
}
END_TEST

START_TEST(a_register_of_the_program_is_left_alone)
{
	its_regs[0].r[UREG_LANE] = 0x1234;
	fast_begins(&state, &threads[0]);
	ck_assert_uint_eq(lane_of(0), 0x1234);
	ck_assert_uint_eq(dirty[0], 0);
	its_regs[0].r[UREG_LANE] = 0; /* it is looked at once */
	fast_begins(&state, &threads[0]);
	ck_assert_uint_eq(dirty[0], 0);
	/* It has a lane all the same: the tracer fires there. */
	ck_assert_ptr_nonnull(fast_lane(&state, &threads[0]));
	/* What is left of a parent's lane is no value of the program. */
	its_regs[1].r[UREG_LANE] = mem->addr + mem->size - 1;
	fast_begins(&state, &threads[1]);
	ck_assert_uint_eq(lane_of(1), fast_addr(mem, lane(1)));
	/* Behind the memory it is. */
	its_regs[2].r[UREG_LANE] = mem->addr + mem->size;
	fast_begins(&state, &threads[2]);
	ck_assert_uint_eq(lane_of(2), mem->addr + mem->size);
}
END_TEST

START_TEST(where_nothing_is_mapped_a_thread_has_no_lane)
{
	mem->addr = 0;
	its_regs[0].r[UREG_LANE] = 1; /* an address in what was mapped */
	was_led(0, 0, 2);
	its_regs[1].r[UREG_LANE] = 1; /* the same, and it is its own */
	fast_begins(&state, &threads[0]);
	fast_begins(&state, &threads[1]);
	ck_assert_uint_eq(lane_of(0), 0);
	ck_assert_uint_eq(lane_of(1), 1);
	ck_assert_ptr_null(fast_lane(&state, &threads[0]));
	ck_assert_ptr_null(fast_firing(&threads[0]));
	ck_assert_ptr_null(fast_there(&threads[0]));
	ck_assert(!fast_skips(&threads[0], 1, 2));
	/* Once: what the program sets later is its own. */
	its_regs[0].r[UREG_LANE] = 1;
	fast_begins(&state, &threads[0]);
	ck_assert_uint_eq(lane_of(0), 1);
	/* It is mapped: the thread begins again. */
	its_regs[0].r[UREG_LANE] = 0;
	mem->addr = ADDR;
	mem->size = PAGE + kit.threads.size;
	fast_begins(&state, &threads[0]);
	ck_assert_uint_eq(lane_of(0), fast_addr(mem, lane(0)));
	mem->id = 0; /* never begun */
	ck_assert_ptr_null(fast_of(&space));
	threads[1].proc = NULL;
	ck_assert_ptr_null(fast_there(&threads[1]));
}
END_TEST

START_TEST(a_thread_whose_registers_are_not_to_be_had)
{
	dead[0] = true;
	fast_begins(&state, &threads[0]);
	ck_assert_uint_eq(lane_of(0), 0);
	/* It is tried again. */
	dead[0] = false;
	fast_begins(&state, &threads[0]);
	ck_assert_uint_eq(lane_of(0), fast_addr(mem, lane(0)));
	threads[1].stop.state = TH_GONE;
	fast_begins(&state, &threads[1]);
	ck_assert_ptr_null(fast_lane(&state, &threads[1]));
	threads[2].stop.life = LIFE_ENDS;
	fast_begins(&state, &threads[2]);
	ck_assert_ptr_null(fast_lane(&state, &threads[2]));
	ck_assert_uint_eq(dirty[1] + dirty[2], 0);
	ck_assert_ptr_null(mem->lanes.at[1].owner);
	state.fast = NULL; /* the option is off */
	threads[2].stop.life = LIFE_RUNS;
	fast_begins(&state, &threads[2]);
	ck_assert_uint_eq(dirty[2], 0);
}
END_TEST

/* Its thread-local storage may be moved (arch_prctl). */
START_TEST(the_lane_follows_the_threads_memory)
{
	fast_begins(&state, &threads[0]);
	its_regs[0].r[UREG_THREAD] = 0x9000;
	fast_lane(&state, &threads[0]);
	ck_assert_uint_eq(lane(0)->memory, 0x9000);
}
END_TEST

/* Its stack is learned at a hit by trap. */
START_TEST(a_thread_can_be_kept_from_jumps)
{
	uint64_t here = 0;

	proc.pid = getpid();
	its_regs[0].r[UREG_SP] = (uintptr_t)&here;
	/* Also before it has a lane. */
	fast_by_trap(&threads[0], true);
	fast_begins(&state, &threads[0]);
	fast_lane(&state, &threads[0]);
	ck_assert_uint_eq(lane(0)->stack_len, 0);
	fast_by_trap(&threads[0], false);
	fast_lane(&state, &threads[0]);
	ck_assert_uint_lt(
	    (uintptr_t)&here - lane(0)->stack_at, lane(0)->stack_len);
	const uint64_t len = lane(0)->stack_len;
	for (int i = 0; i < 2; i++) {
		fast_by_trap(&threads[0], true);
		fast_lane(&state, &threads[0]);
		ck_assert_uint_eq(lane(0)->stack_len, 0);
	}
	fast_by_trap(&threads[0], false);
	ck_assert_uint_eq(lane(0)->stack_len, len);
}
END_TEST

START_TEST(a_lane_in_the_middle_of_a_firing_is_not_for_the_tracer)
{
	fast_begins(&state, &threads[0]);
	lane(0)->busy = 0x1000;
	ck_assert_ptr_null(fast_lane(&state, &threads[0]));
	ck_assert_ptr_eq(fast_firing(&threads[0])->lane, lane(0));
	/* The thread will never finish it. */
	threads[0].stop.life = LIFE_ENDS;
	ck_assert_ptr_nonnull(fast_lane(&state, &threads[0]));
}
END_TEST

/* ---- taking ---- */

START_TEST(a_lane_is_taken_back_at_the_end)
{
	fast_begins(&state, &threads[0]);
	fast_begins(&state, &threads[1]);
	lane(1)->hits = 7;
	fast_ends(&state, &threads[1]);
	ck_assert_uint_eq(n_ended, 1);
	ck_assert_int_eq(ended[0], 1);
	ck_assert_uint_eq(lane(1)->thread, 0);
	ck_assert_uint_eq(fast.hits, 7);
	fast_ends(&state, &threads[1]); /* once */
	fast_ends(&state, &threads[2]); /* it had none */
	ck_assert_uint_eq(n_ended, 1);
	lane(0)->hits = 5;
	ck_assert_uint_eq(lanes_hits(&state), 12);
	fast_begins(&state, &threads[2]);
	ck_assert_uint_eq(lane_of(2), fast_addr(mem, lane(1)));
	ck_assert_uint_eq(lane(1)->hits, 0);
	state.fast = NULL;
	fast_ends(&state, &threads[0]);
	ck_assert_uint_eq(n_ended, 1);
	ck_assert_uint_eq(lanes_hits(&state), 0);
}
END_TEST

START_TEST(hits_are_counted_when_the_memory_goes)
{
	fast_begins(&state, &threads[0]);
	lane(0)->hits = 3;
	lane(1)->hits = 100; /* nobody's */
	lanes_give_up(&state, mem);
	ck_assert_uint_eq(fast.hits, 3);
}
END_TEST

START_TEST(at_a_detach_threads_have_no_lanes)
{
	for (unsigned i = 0; i < THREADS; i++)
		fast_begins(&state, &threads[i]);
	lane(0)->call = lane(0)->ask = 1;
	lane(1)->call = lane(1)->ask = 1;
	/* This one is in the middle of a firing. */
	its_regs[1].r[UREG_SP] = mem->addr + mem->size - 1;
	lanes_let_go(&state, &proc);
	ck_assert_uint_eq(lane_of(0), 0);
	ck_assert_uint_eq(lane_of(2), 0);
	ck_assert_uint_eq(lane(0)->thread, 0);
	/* It needs its lane to the end, and nobody will be there when it
	 * traps. */
	ck_assert_uint_eq(lane_of(1), fast_addr(mem, lane(1)));
	ck_assert_uint_ne(lane(1)->thread, 0);
	ck_assert_uint_eq(lane(1)->call | lane(1)->ask, 0);
	ck_assert_uint_eq(lane(0)->call | lane(0)->ask, 0);
}
END_TEST

START_TEST(at_a_detach_of_a_process_without_memory)
{
	its_regs[0].r[UREG_LANE] = ADDR; /* of its parent */
	was_led(0, ADDR, 1);
	threads[1].stop.state = TH_GONE;
	its_regs[1].r[UREG_LANE] = ADDR;
	its_regs[2].r[UREG_LANE] = 0x77; /* its own */
	struct space forked = { .tab = NULL };
	proc.space = &forked;
	lanes_let_go(&state, &proc);
	ck_assert_uint_eq(lane_of(0), 0);
	ck_assert_uint_eq(lane_of(1), ADDR);
	ck_assert_uint_eq(lane_of(2), 0x77);
}
END_TEST

/* ---- hits that do not fire ---- */

START_TEST(a_hit_that_is_made_again_does_not_fire)
{
	fast_begins(&state, &threads[0]);
	ck_assert(fast_skip(&threads[0], 0x500, 0x8000));
	ck_assert(!fast_skips(&threads[0], 0x500, 0x7ff8)); /* a handler's */
	ck_assert(fast_skips(&threads[0], 0x500, 0x8000));
	ck_assert(!fast_skips(&threads[0], 0x500, 0x8000)); /* once */
	/* Another place, at or above that stack pointer: it never comes. */
	fast_skip(&threads[0], 0x500, 0x8000);
	ck_assert(!fast_skips(&threads[0], 0x504, 0x8000));
	ck_assert(!fast_skips(&threads[0], 0x500, 0x8000));
	fast_skip(&threads[0], 0x500, 0x8000);
	ck_assert(!fast_skips(&threads[0], 0x500, 0x8010));
	ck_assert(!fast_skips(&threads[0], 0x500, 0x8000));
	ck_assert(!fast_skips(&threads[0], 0, 0));
	ck_assert(!fast_skips(&threads[1], 0x500, 0x8000));
}
END_TEST

/* ---- in the middle of a firing ---- */

START_TEST(when_a_thread_fires)
{
	struct thread *th = &threads[0];

	fast_begins(&state, th);
	ck_assert(!fast_fires(th));
	stub_place = SLOT_FIRING;
	ck_assert(fast_fires(th));
	stub_place = SLOT_ENTERED;
	ck_assert(!fast_fires(th));
	its_regs[0].r[UREG_SP] = mem->addr;
	ck_assert(fast_fires(th));
	dead[0] = true;
	ck_assert(!fast_fires(th));
	dead[0] = false;
	th->stop.life = LIFE_ENDS;
	ck_assert(!fast_fires(th));
	th->stop.life = LIFE_RUNS;
	th->stop.state = TH_RUNNING;
	ck_assert(!fast_fires(th));
	th->stop.state = TH_STOPPED;
	mem->addr = 0;
	stub_place = SLOT_FIRING;
	ck_assert(!fast_fires(th));
}
END_TEST

START_TEST(a_thread_is_asked_to_trap_at_the_end_of_its_firing)
{
	fast_begins(&state, &threads[0]);
	ck_assert(!fast_was_called(&threads[0]));
	fast_call(&threads[0]);
	ck_assert_uint_ne(lane(0)->call, 0);
	ck_assert(fast_was_called(&threads[0]));
	ck_assert_uint_eq(lane(0)->call, 0);
	ck_assert(!fast_was_called(&threads[0]));
	fast_call(&threads[1]); /* without a lane it is not */
	ck_assert(!fast_was_called(&threads[1]));
	ck_assert(!fast_was_called(&threads[2]));
	/* Its memory is gone by the time it traps. */
	fast_call(&threads[0]);
	mem->addr = 0;
	ck_assert(fast_was_called(&threads[0]));
	fast_call(&threads[0]);
	ck_assert(!fast_was_called(&threads[0]));
}
END_TEST

static void
hold(int sig)
{
	stopped_by = (siginfo_t){ .si_signo = sig, .si_code = 9 };
	stop_signal(&threads[0], sig);
	fast_hold_signal(&threads[0]);
	ck_assert_int_eq(threads[0].stop.sig, 0);
}

START_TEST(signals_wait_for_the_end_of_the_firing)
{
	threads[0].stop.kind = EV_SIGNAL;
	fast_begins(&state, &threads[0]);
	ck_assert(!fast_keeps_signals(&threads[0]));
	hold(SIGINT);
	ck_assert_uint_ne(lane(0)->call, 0);
	hold(SIGUSR1);
	hold(SIGUSR2);
	ck_assert(fast_keeps_signals(&threads[0]));
	fast_let_signals(&threads[0]);
	ck_assert_uint_eq(n_raised, 3);
	ck_assert_int_eq(raised[0].si_signo, SIGINT);
	ck_assert_int_eq(raised[0].si_code, 9);
	ck_assert_int_eq(raised[1].si_signo, SIGUSR1);
	ck_assert_int_eq(raised[2].si_signo, SIGUSR2);
	ck_assert(!fast_keeps_signals(&threads[0]));
	/* A thread that was killed meanwhile has none. */
	siginfo_error = -ESRCH;
	hold(SIGINT);
	ck_assert(!fast_keeps_signals(&threads[0]));
	ck_assert(!fast_keeps_signals(&threads[1]));
}
END_TEST

START_TEST(is_any_thread_in_a_firing)
{
	for (unsigned i = 0; i < LANES; i++)
		fast_begins(&state, &threads[i]);
	ck_assert(!fast_in_use(&proc));
	ck_assert(!fast_was_called(&threads[0]));
	its_regs[0].r[UREG_SP] = its_regs[1].r[UREG_SP] = mem->addr + 8;
	threads[1].stop.state = TH_GONE;
	ck_assert(fast_in_use(&proc));
	ck_assert(fast_was_called(&threads[0]));
	ck_assert(!fast_was_called(&threads[1]));
	threads[0].stop.state = TH_GONE;
	ck_assert(!fast_in_use(&proc));
	/* One that could not be stopped: its code leads to other code. */
	threads[0].stop.state = TH_RUNNING;
	running_pc = 0x1234;
	ck_assert(!fast_in_use(&proc));
	running_in_stub = true;
	ck_assert(fast_in_use(&proc));
	running_in_stub = false;
	ck_assert(!fast_in_use(&proc));
	running_in_shared = true;
	ck_assert(fast_in_use(&proc));
	running_in_shared = false;
	running_error = -EAGAIN;
	ck_assert(fast_in_use(&proc));
}
END_TEST

/* ---- the report ---- */

static void
report_is(const char *want)
{
	struct str text = { 0 };

	fast_report(&state, &text);
	ck_assert_str_eq(str_c(&text), want);
	str_fini(&text);
}

START_TEST(the_report_counts)
{
	fast_begins(&state, &threads[0]);
	lane(0)->hits = 40;
	fast_trapped(&state);
	fast_trapped(&state);
	fast_note(&state, NULL, 3);
	fast_note(&state, NULL, 4);
	report_is("40 hits by jump, 2 by trap\n"
		  "2 places by jump, where 7 hits were by trap all the same\n");
	fast_rested(&state);
	report_is("40 hits by jump, 2 by trap\n"
		  "1 traps within hits by jump, for actions\n"
		  "2 places by jump, where 7 hits were by trap all the same\n");
}
END_TEST

START_TEST(the_reason_with_the_most_hits_comes_first)
{
	fast_note(&state, "few", 1);
	fast_note(&state, "two", 2);
	report_is("0 hits by jump, 0 by trap\n"
		  "0 places by jump, where 0 hits were by trap all the same\n"
		  "1 places by trap, with 2 hits: two\n"
		  "1 places by trap, with 1 hits: few\n");
	fast_note(&state, "many places", 9);
	fast_note(&state, "much", 20);
	fast_note(&state, "many places", 1);
	fast_note(&state, "one place", 10);
	report_is("0 hits by jump, 0 by trap\n"
		  "0 places by jump, where 0 hits were by trap all the same\n"
		  "1 places by trap, with 20 hits: much\n"
		  "2 places by trap, with 10 hits: many places\n"
		  "1 places by trap, with 10 hits: one place\n"
		  "1 places by trap, with 2 hits: two\n"
		  "1 places by trap, with 1 hits: few\n");
}
END_TEST

START_TEST(without_the_option_nothing_is_counted)
{
	state.fast = NULL;
	fast_trapped(&state);
	fast_rested(&state);
	fast_note(&state, NULL, 3);
	fast_note(&state, "why", 3);
	report_is("");
	ck_assert_uint_eq(fast.traps + fast.rests + fast.jumps, 0);
	ck_assert_uint_eq(fast.notes.len, 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		each_thread_gets_a_lane_of_its_own,
		a_thread_knows_whether_its_process_is_followed,
		without_a_free_lane_a_thread_traps,
		a_thread_without_a_lane_gets_one_in_another_space,
		a_register_of_the_program_is_left_alone,
		where_nothing_is_mapped_a_thread_has_no_lane,
		a_thread_whose_registers_are_not_to_be_had,
		the_lane_follows_the_threads_memory,
		a_thread_can_be_kept_from_jumps,
		a_lane_in_the_middle_of_a_firing_is_not_for_the_tracer,
		a_lane_is_taken_back_at_the_end,
		hits_are_counted_when_the_memory_goes,
		at_a_detach_threads_have_no_lanes,
		at_a_detach_of_a_process_without_memory,
		a_hit_that_is_made_again_does_not_fire,
		when_a_thread_fires,
		a_thread_is_asked_to_trap_at_the_end_of_its_firing,
		signals_wait_for_the_end_of_the_firing,
		is_any_thread_in_a_firing,
		the_report_counts,
		the_reason_with_the_most_hits_comes_first,
		without_the_option_nothing_is_counted,
	};

	return suite_run(
	    "fast lanes", setup, teardown, tests, ARRAY_SIZE(tests));
}
