/*
 * tracer/fire/syscalls: which entries and returns subscribers are told of.  The
 * stops of a thread are made up here: what the file asks of ptrace is a double,
 * so the file itself is read in below.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "dlang/base/str.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/event.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/processor.h"
#include "tracer/sites/sigwatch.h"
#include "tracer/survive/trapcall.h"

static struct syscall_entry now; /* the call that the thread is at */
static bool filter_is_ours, filters_ignored, wants_syscalls;
static unsigned refused, hidden, stops;

static int
double_entry(struct thread *th, struct syscall_entry *e)
{
	*e = now;
	return 0;
}

static bool
double_regs(struct thread *th, struct syscall_entry *e)
{
	*e = now;
	return true;
}

#define thread_syscall_entry         double_entry
#define thread_syscall_regs          double_regs
#define thread_regs(th)              (&(th)->regs.user)
#define thread_filter_is_ours(th)    filter_is_ours
#define thread_refuse_call(th)       ((void)refused++)
#define super_ignores_filters(s)     filters_ignored
#define super_ignore_filters(s)      ((void)(filters_ignored = true))
#define super_want_syscalls(s, want) ((void)(wants_syscalls = (want)))
#define sigtrap_hide(th)             ((void)hidden++)
#define trapcall_leave(th)           ((void)0)
#define trapcall_enter(th)           ((void)0)
#define sigwatch_enter(th)           ((void)0)
#define processor_hit(p, th, now)    ((void)stops++)
#include "tracer/fire/syscalls.c"

static struct state st;
static struct thread th;
static struct str said;

/* "enter NR:ARG0", with + where it is made again; "leave NR:ARG0=RESULT/ERRNO". */
static void
on_call(struct state *state, const struct syscall_hit *hit, void *arg)
{
	ck_assert_ptr_eq(hit->thread, &th);
	if (said.len > 0)
		str_add(&said, ", ");
	if (hit->side == SYSCALL_ENTRY)
		str_printf(&said, "enter %u:%d%s", hit->nr, (int)hit->args[0],
		    hit->restarted ? "+" : "");
	else
		str_printf(&said, "leave %u:%d=%d/%d", hit->nr,
		    (int)hit->args[0], (int)hit->result, hit->error);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&said), want);
	str_clear(&said);
}

static void
setup(void)
{
	memset(&st, 0, sizeof(st));
	memset(&th, 0, sizeof(th));
	memset(&now, 0, sizeof(now));
	filter_is_ours = filters_ignored = wants_syscalls = false;
	refused = hidden = 0;
	st.syscalls = mem_zalloc(sizeof(*st.syscalls));
	str_clear(&said);
}

static void
teardown(void)
{
	syscalls_fini(st.syscalls);
	mem_free(st.syscalls);
	str_fini(&said);
}

static void
subscribe(unsigned nr)
{
	syscalls_subscribe(&st, nr, SYSCALL_ENTRY, on_call, &said);
	syscalls_subscribe(&st, nr, SYSCALL_RETURN, on_call, &said);
}

static void
event(enum event_kind kind)
{
	struct event ev = { .kind = kind, .thread = &th };

	syscalls_event(&st, &ev);
}

/* The thread makes a call, from the place `ip'. */
static void
enter(int nr, uint64_t arg, uint64_t ip)
{
	now = (struct syscall_entry){
		.nr = nr, .ip = ip, .sp = 0x7000, .args = { arg }
	};
	th.regs.user.r[UREG_RIP] = ip;
	th.regs.user.r[UREG_RSP] = now.sp;
	event(EV_SYSCALL_ENTER);
}

static void
leave(int64_t result)
{
	th.regs.user.r[UREG_RAX] = (uint64_t)result;
	event(EV_SYSCALL_EXIT);
}

/* The tracer's own stop has interrupted the call. */
static void
break_off(int64_t result)
{
	th.stop.broken_off = true;
	leave(result);
	th.stop.broken_off = false;
}

START_TEST(entries_and_returns)
{
	subscribe(SYS_read);
	ck_assert(wants_syscalls);
	enter(SYS_read, 3, 0x1000);
	expect("enter 0:3");
	leave(17);
	expect("leave 0:3=17/0");
	enter(SYS_read, 4, 0x1000);
	expect("enter 0:4");
	leave(-9);
	expect("leave 0:4=-9/9");
	/* The last number that is an error, and the first that is none. */
	enter(SYS_read, 5, 0x1000);
	leave(-4095);
	expect("enter 0:5, leave 0:5=-4095/4095");
	enter(SYS_read, 5, 0x1000);
	leave(-4096);
	expect("enter 0:5, leave 0:5=-4096/0");
	enter(SYS_write, 1, 0x1000);
	leave(1);
	expect("");
}
END_TEST

START_TEST(who_came_in_the_middle_sees_the_return)
{
	syscalls_subscribe(&st, SYS_read, SYSCALL_RETURN, on_call, &said);
	now = (struct syscall_entry){ .nr = SYS_read, .args = { 6 } };
	leave(2);
	expect("leave 0:6=2/0");
	/* What is known of one call is not taken for the next. */
	now = (struct syscall_entry){ .nr = SYS_write, .args = { 7 } };
	leave(2);
	expect("");
}
END_TEST

/* Interrupted by our own stop, a call is one call. */
START_TEST(a_held_call_goes_on)
{
	subscribe(SYS_read);
	enter(SYS_read, 3, 0x1000);
	expect("enter 0:3");
	break_off(-512);
	expect("");
	enter(SYS_read, 3, 0x1000);
	leave(5);
	expect("leave 0:3=5/0");
	/* The kernel goes on with it under another number. */
	enter(SYS_read, 3, 0x1000);
	break_off(-516);
	enter(SYS_restart_syscall, 0, 0x1000);
	leave(6);
	expect("enter 0:3, leave 0:3=6/0");
}
END_TEST

/* A handler runs before it goes on, and makes calls of its own. */
START_TEST(a_held_call_is_known_by_its_arguments)
{
	subscribe(SYS_read);
	enter(SYS_read, 3, 0x1000);
	break_off(-512);
	expect("enter 0:3");
	enter(SYS_read, 4, 0x2000);
	expect("leave 0:3=-512/512, enter 0:4");
	leave(1);
	expect("leave 0:4=1/0");
}
END_TEST

START_TEST(a_held_call_is_known_by_its_number)
{
	subscribe(SYS_read);
	subscribe(SYS_write);
	enter(SYS_read, 3, 0x1000);
	break_off(-512);
	expect("enter 0:3");
	enter(SYS_write, 3, 0x2000);
	expect("leave 0:3=-512/512, enter 1:3");
}
END_TEST

START_TEST(a_signal_ends_what_is_held)
{
	subscribe(SYS_read);
	enter(SYS_read, 3, 0x1000);
	break_off(-512);
	expect("enter 0:3");
	syscalls_signal(&st, &th);
	expect("leave 0:3=-512/512");
	/* Once. */
	syscalls_signal(&st, &th);
	expect("");
	/* After the handler it is made again, from the same place. */
	enter(SYS_read, 3, 0x1000);
	expect("enter 0:3+");
	leave(1);
	expect("leave 0:3=1/0");
	enter(SYS_read, 3, 0x1000);
	expect("enter 0:3");
}
END_TEST

/* Interrupted by a signal, the call returns to the kernel and comes again. */
START_TEST(restarted_calls_say_so)
{
	subscribe(SYS_read);
	enter(SYS_read, 3, 0x1000);
	leave(-512);
	expect("enter 0:3, leave 0:3=-512/512");
	/* The handler's own call is made elsewhere. */
	enter(SYS_read, 9, 0x3000);
	leave(0);
	expect("enter 0:9, leave 0:9=0/0");
	enter(SYS_read, 3, 0x1000);
	expect("enter 0:3+");
	leave(8);
	expect("leave 0:3=8/0");
	/* Other results that begin with "restart", and one that does not. */
	static const int again[] = { 513, 514, 516 };
	for (size_t i = 0; i < ARRAY_SIZE(again); i++) {
		enter(SYS_read, 3, 0x1000);
		leave(-again[i]);
		enter(SYS_read, 3, 0x1000);
		leave(0);
		struct str want = { 0 };
		str_printf(&want,
		    "enter 0:3, leave 0:3=-%d/%d, enter 0:3+, leave 0:3=0/0",
		    again[i], again[i]);
		expect(str_c(&want));
		str_fini(&want);
	}
	enter(SYS_read, 3, 0x1000);
	leave(-515);
	enter(SYS_read, 3, 0x1000);
	expect("enter 0:3, leave 0:3=-515/515, enter 0:3");
}
END_TEST

START_TEST(restart_syscall_is_a_call_made_again)
{
	subscribe(SYS_restart_syscall);
	enter(SYS_restart_syscall, 0, 0x1000);
	expect("enter 219:0+");
}
END_TEST

START_TEST(filters)
{
	subscribe(SYS_read);
	now = (struct syscall_entry){
		.nr = SYS_read, .ip = 0x1000, .args = { 3 }
	};
	/* Of the program's own filter: the call is refused, and nobody's. */
	event(EV_SECCOMP);
	expect("");
	ck_assert_uint_eq(refused, 1);
	filter_is_ours = true;
	event(EV_SECCOMP);
	expect("enter 0:3");
	ck_assert_uint_eq(refused, 1);
	ck_assert((th.stop.wants & WANT_EXIT) != 0);
	leave(4);
	expect("leave 0:3=4/0");
	ck_assert((th.stop.wants & WANT_EXIT) == 0);
	/* Where every call stops, the filter's stop is one too many. */
	filters_ignored = true;
	event(EV_SECCOMP);
	expect("");
	ck_assert((th.stop.wants & WANT_EXIT) == 0);
}
END_TEST

START_TEST(subscribers_come_and_go)
{
	struct str other = { 0 };

	st.started = true;
	subscribe(SYS_read);
	ck_assert(filters_ignored);
	syscalls_subscribe(&st, SYS_read, SYSCALL_ENTRY, on_call, &other);
	enter(SYS_read, 3, 0x1000);
	expect("enter 0:3, enter 0:3");
	syscalls_unsubscribe(&st, &other);
	ck_assert(wants_syscalls);
	enter(SYS_read, 3, 0x1000);
	expect("enter 0:3");
	syscalls_unsubscribe(&st, &said);
	ck_assert(!wants_syscalls);
	/* The tracer stays near the thread all the same. */
	stops = 0;
	enter(SYS_read, 3, 0x1000);
	expect("");
	ck_assert_uint_eq(stops, 1);
	/* No number of the table. */
	enter(-1, 3, 0x1000);
	enter(SYSCALL_MAX, 3, 0x1000);
	expect("");
}
END_TEST

START_TEST(sigtrap_is_hidden_after_the_call_alone)
{
	stop_want_calls(&th, WANT_HIDE, true);
	enter(SYS_read, 3, 0x1000);
	ck_assert_uint_eq(hidden, 0);
	leave(0);
	ck_assert_uint_eq(hidden, 1);
	enter(SYS_read, 3, 0x1000);
	leave(0);
	ck_assert_uint_eq(hidden, 1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("syscalls");
	TCase *tc = tcase_create("syscalls");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, entries_and_returns);
	tcase_add_test(tc, who_came_in_the_middle_sees_the_return);
	tcase_add_test(tc, a_held_call_goes_on);
	tcase_add_test(tc, a_held_call_is_known_by_its_arguments);
	tcase_add_test(tc, a_held_call_is_known_by_its_number);
	tcase_add_test(tc, a_signal_ends_what_is_held);
	tcase_add_test(tc, restarted_calls_say_so);
	tcase_add_test(tc, restart_syscall_is_a_call_made_again);
	tcase_add_test(tc, filters);
	tcase_add_test(tc, subscribers_come_and_go);
	tcase_add_test(tc, sigtrap_is_hidden_after_the_call_alone);
	suite_add_tcase(s, tc);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
