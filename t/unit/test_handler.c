/*
 * inject/trap: SIGTRAP's handler in a target whose tracer is dead (handler.c):
 * which SIGTRAPs are about int3s that were left, what is put back then and in
 * which order, and who gets the others.
 *
 * The handler is read in, without the machine's half: the "system calls" here
 * read and write this process, and files that the test writes.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "inject/trap/area.h"

/* The machine's half. */
#define INJECT_TRAP_X86_64_HANDLER_H
#define INJECT_TRAP_NONE_HANDLER_H

#define MAX_THREADS 4

enum { FD_MEM = 10, FD_STATUS, FD_TASKS, FD_STAT };

/* What the process is like, and what was asked of it. */
static struct {
	bool no_files;               /* open() fails */
	bool no_mprotect;            /* so does mprotect() */
	char status[400];            /* /proc/thread-self/status */
	char stat[MAX_THREADS][400]; /* /proc/self/task/N/stat */
	int threads;
	bool threads_read; /* the directory has been read to its end */
	int opened, closed, slept, yielded, mprotected;
	int thread;     /* whose stat was opened */
	int ends_after; /* sleeps after which thread 0 has no signal any more */
	int mended_after;
	uint64_t put_back[32]; /* addresses, in the order of the writes */
	int writes, writes_before_sleep;
	int action_reset, sent;
	uint64_t blocked; /* its signal mask */
	bool broken_call, called_again;
	uint64_t pc;
} process;

static uint64_t *pc_in(ucontext_t *uc);
static void thread_is(int n, const char *pending, const char *blocked);
void trap_handle(void);
void trap_restore(void);
extern struct trap_area trap_area;

static long
list_threads(char *buf)
{
	char *p = buf;

	if (process.threads_read)
		return 0;
	process.threads_read = true;
	for (int i = -1; i < process.threads; i++) {
		memset(p, 0, 24);
		*(uint16_t *)(void *)(p + 16) = 24;
		if (i < 0)
			strcpy(p + 19, "..");
		else
			snprintf(p + 19, 5, "%u", (unsigned)(100 + i) % 1000);
		p += 24;
	}
	return p - buf;
}

static long
read_text(const char *text, long to, long size)
{
	size_t n = strlen(text);

	if (n > (size_t)size)
		n = (size_t)size;
	memcpy((void *)to, text, n);
	return (long)n;
}

static long
sys(long nr, long a, long b, long c, long d)
{
	switch (nr) {
	case SYS_pread64:
		if (a == FD_STATUS)
			return read_text(process.status, b, c);
		if (a == FD_STAT)
			return read_text(process.stat[process.thread], b, c);
		ck_assert_int_eq(a, FD_MEM);
		if (d < 4096)
			return -5; /* EIO: not mapped any more */
		memcpy((void *)b, (const void *)d, (size_t)c);
		return c;
	case SYS_pwrite64:
		ck_assert_int_eq(a, FD_MEM);
		memcpy((void *)d, (const void *)b, (size_t)c);
		if (d == (long)&trap_area.healed)
			return c;
		process.put_back[process.writes++] = (uint64_t)d;
		if (process.slept == 0)
			process.writes_before_sleep = process.writes;
		return c;
	case SYS_getdents64:
		ck_assert_int_eq(a, FD_TASKS);
		return list_threads((char *)b);
	case SYS_close: process.closed++; return 0;
	case SYS_mprotect:
		process.mprotected++;
		ck_assert_int_eq(b, 4096);
		ck_assert_int_eq(a % 4096, 0);
		return process.no_mprotect ? -13 : 0;
	case SYS_sched_yield: process.yielded++; return 0;
	case SYS_rt_sigaction:
		ck_assert_int_eq(a, 5);
		ck_assert_int_eq(d, 8);
		for (int i = 0; i < 4; i++)
			ck_assert_int_eq(((const long *)b)[i], 0);
		process.action_reset++;
		return 0;
	case SYS_rt_sigprocmask:
		ck_assert_int_eq(a, 2); /* SIG_SETMASK */
		ck_assert_int_eq(d, 8);
		if (c != 0)
			*(uint64_t *)c = process.blocked;
		process.blocked = *(const uint64_t *)b;
		return 0;
	case SYS_getpid: return 99;
	case SYS_gettid: return 99;
	case SYS_tgkill:
		ck_assert_int_eq(a, 99);
		ck_assert_int_eq(b, 99);
		ck_assert_int_eq(c, 5);
		process.sent++;
		return 0;
	}
	ck_abort_msg("system call %ld", nr);
}

static long
sys_open(const char *path, int flags)
{
	int thread = 0;

	if (process.no_files)
		return -24;
	process.opened++;
	if (strcmp(path, "/proc/self/mem") == 0) {
		ck_assert_int_eq(flags & 3, 2);
		return FD_MEM;
	}
	ck_assert_int_eq(flags & 3, 0);
	if (strcmp(path, "/proc/thread-self/status") == 0)
		return FD_STATUS;
	process.threads_read = false;
	if (strcmp(path, "/proc/self/task/") == 0)
		return FD_TASKS;
	process.threads_read = true;
	ck_assert_msg(sscanf(path, "/proc/self/task/%d/stat", &thread) == 1 &&
		strcmp(path + strlen(path) - 5, "/stat") == 0,
	    "%s", path);
	ck_assert_int_ge(thread, 100);
	ck_assert_int_lt(thread, 100 + process.threads);
	process.thread = thread - 100;
	return FD_STAT;
}

static void
sys_sleep(int ms)
{
	ck_assert_int_eq(ms, TRAP_LATE_MS / 10);
	process.slept++;
	if (process.slept == process.ends_after)
		thread_is(0, "0", "0");
	if (process.slept == process.mended_after)
		trap_area.mended = 1;
}

static uint64_t *
pc_in(ucontext_t *uc)
{
	return &process.pc;
}

static bool
is_broken_call(ucontext_t *uc)
{
	return process.broken_call;
}

static void
call_again(ucontext_t *uc)
{
	process.called_again = true;
}

void
trap_handle(void)
{
}

void
trap_restore(void)
{
}

#include "inject/trap/handler.c"

/* ---- what the tracer has left --------------------------------------------- */

/* As t/unit/test_trapset.c tells of the list itself. */
static struct {
	struct trap_area area;
	struct trap_entry entries[8];
} second;

static struct trap_entry first_entries[8];
static uint8_t text[8192] __attribute__((aligned(4096)));

static void
thread_is(int n, const char *pending, const char *blocked)
{
	/* A name may have spaces and parentheses. */
	int at = snprintf(
	    process.stat[n], sizeof(process.stat[n]), "%d (a ) (b) S", 100 + n);

	for (int field = 4; field < 31; field++)
		at += snprintf(process.stat[n] + at, 12, " %d", 16 + field);
	snprintf(process.stat[n] + at, 60, " %s %s 0 0", pending, blocked);
}

static struct trap_entry *
entry(struct trap_area *a, struct trap_entry *entries, enum trap_kind kind,
    uint64_t addr)
{
	struct trap_entry *e = &entries[a->count++];

	a->first = (uint32_t)((uintptr_t)entries - (uintptr_t)a);
	e->kind = (uint8_t)kind;
	e->addr = addr;
	if (kind == TRAP_TEXT) {
		e->saved = 0x55;
		*(uint8_t *)addr = TRAP_INSN;
	}
	return e;
}

static struct trap_entry *
int3(unsigned at)
{
	return entry(
	    &trap_area, first_entries, TRAP_TEXT, (uint64_t)(text + at));
}

static void
setup(void)
{
	memset(&process, 0, sizeof(process));
	memset(&second, 0, sizeof(second));
	memset(first_entries, 0, sizeof(first_entries));
	memset(text, 0x90, sizeof(text));
	strcpy(process.status, "Name:\ta\nTracerPid:\t0\nUid:\t0\n");
	process.threads = 1;
	thread_is(0, "0", "0");
	trap_area.count = trap_area.mended = 0;
	trap_area.next = trap_area.old_handler = 0;
}

/* The SIGTRAP of an int3 that a thread executed at text + at. */
static uint64_t
trap_at(unsigned at)
{
	siginfo_t si = { .si_signo = SIGTRAP, .si_code = TRAP_CODE };

	process.pc = (uint64_t)(text + at + TRAP_PC_AFTER);
	return trap_look(SIGTRAP, &si, NULL);
}

static uint64_t
sent_by(int code)
{
	siginfo_t si = { .si_signo = SIGTRAP, .si_code = code };

	process.pc = (uint64_t)(text + 4000);
	return trap_look(SIGTRAP, &si, NULL);
}

START_TEST(all_int3s_go_with_the_first)
{
	int3(16);
	int3(32);
	entry(&trap_area, first_entries, TRAP_SEMAPHORE, (uint64_t)(text + 48));
	int3(4096);
	ck_assert_uint_eq(trap_at(32), 0);
	ck_assert_uint_eq(process.pc, (uint64_t)(text + 32));
	ck_assert_uint_eq(text[16], 0x55);
	ck_assert_uint_eq(text[32], 0x55);
	ck_assert_uint_eq(text[4096], 0x55);
	ck_assert_uint_eq(text[48], 0x90);
	ck_assert_int_eq(process.writes, 3);
	/* What it opened is closed, and text was not made writable. */
	ck_assert_int_eq(process.opened, process.closed);
	ck_assert_int_eq(process.mprotected, 0);
	ck_assert_int_eq(process.sent + process.action_reset, 0);
	ck_assert(!process.called_again);
}
END_TEST

START_TEST(other_chunks_of_the_list_count)
{
	int3(16);
	trap_area.next = (uint64_t)&second.area;
	entry(&second.area, second.entries, TRAP_TEXT, (uint64_t)(text + 64));
	entry(&second.area, second.entries, TRAP_TEXT, (uint64_t)(text + 80));
	ck_assert_uint_eq(trap_at(64), 0);
	ck_assert_uint_eq(process.pc, (uint64_t)(text + 64));
	ck_assert_uint_eq(text[16], 0x55);
	ck_assert_uint_eq(text[64], 0x55);
	ck_assert_uint_eq(text[80], 0x55);
}
END_TEST

/* Text that is unmapped, and places where another has been meanwhile. */
START_TEST(only_int3s_are_replaced)
{
	int3(16);
	int3(32);
	text[32] = 0xc3;
	first_entries[trap_area.count++] =
	    (struct trap_entry){ .addr = 1234, .kind = TRAP_TEXT };
	ck_assert_uint_eq(trap_at(16), 0);
	ck_assert_uint_eq(text[32], 0xc3);
	ck_assert_int_eq(process.writes, 1);
	/* The thread whose int3 has just gone goes on from there. */
	ck_assert_uint_eq(trap_at(32), 0);
	ck_assert_uint_eq(process.pc, (uint64_t)(text + 32));
	ck_assert_int_eq(process.writes, 1);
}
END_TEST

START_TEST(late_places_wait_for_the_others)
{
	int3(16)->late = 1;
	int3(32);
	ck_assert_uint_eq(trap_area.healed, 0);
	ck_assert_uint_eq(trap_at(32), 0);
	ck_assert_uint_eq(trap_area.healed, 1);
	ck_assert_int_eq(process.writes, 2);
	ck_assert_int_eq(process.writes_before_sleep, 1);
	ck_assert_uint_eq(process.put_back[0], (uint64_t)(text + 32));
	ck_assert_uint_eq(process.put_back[1], (uint64_t)(text + 16));
	/* A thread may be about to be told, without being marked yet. */
	ck_assert_int_eq(process.slept, 10);
}
END_TEST

/* They wait when only late ones are left, too. */
START_TEST(late_places_wait_alone)
{
	int3(16)->late = 1;
	ck_assert_uint_eq(trap_at(16), 0);
	ck_assert_int_eq(process.slept, 10);
	ck_assert_int_eq(process.writes, 1);
	ck_assert_int_eq(process.writes_before_sleep, 0);
}
END_TEST

START_TEST(late_places_wait_as_long_as_a_thread_is_on_its_way)
{
	int3(16)->late = 1;
	process.threads = 3;
	thread_is(0, "16", "0"); /* SIGTRAP is 5: bit 4 */
	thread_is(1, "0", "0");
	thread_is(2, "15", "0"); /* others */
	process.ends_after = 25;
	ck_assert_uint_eq(trap_at(16), 0);
	ck_assert_int_eq(process.slept, 25);
	ck_assert_uint_eq(text[16], 0x55);
	ck_assert_int_eq(process.opened, process.closed);
}
END_TEST

START_TEST(a_blocked_sigtrap_is_on_no_way)
{
	int3(16)->late = 1;
	process.threads = 2;
	thread_is(0, "8208", "16");
	thread_is(1, "4294967279", "0"); /* all but bit 4 */
	ck_assert_uint_eq(trap_at(16), 0);
	ck_assert_int_eq(process.slept, 10);
}
END_TEST

START_TEST(another_thread_is_seen_too)
{
	int3(16)->late = 1;
	process.threads = 3;
	thread_is(1, "8208", "8192");
	thread_is(2, "0", "0");
	/* It never ends: what waits gives up in the end. */
	ck_assert_uint_eq(trap_at(16), 0);
	ck_assert_int_eq(process.slept, 10 + TRAP_LATE_TRIES);
	ck_assert_uint_eq(text[16], 0x55);
}
END_TEST

/* The guardian may be quicker: from then on nothing here is ours. */
START_TEST(nothing_is_touched_once_all_is_mended)
{
	int3(16)->late = 1;
	int3(32);
	process.mended_after = 3;
	ck_assert_uint_eq(trap_at(32), 0);
	ck_assert_int_eq(process.slept, 3);
	ck_assert_uint_eq(text[32], 0x55);
	ck_assert_uint_eq(text[16], TRAP_INSN);

	setup();
	int3(16);
	trap_area.mended = 1;
	trap_area.healed = 0;
	sent_by(SI_TKILL);
	ck_assert_uint_eq(text[16], TRAP_INSN);
	ck_assert_int_eq(process.writes + process.slept, 0);
	ck_assert_uint_eq(trap_area.healed, 0);
	/* The next tracer has an int3 there: the thread executes it again. */
	ck_assert_uint_eq(trap_at(16), 0);
	ck_assert_uint_eq(text[16], TRAP_INSN);
	ck_assert_int_eq(process.writes + process.mprotected, 0);
	ck_assert_uint_eq(process.pc, (uint64_t)(text + 16));
}
END_TEST

START_TEST(without_proc_the_page_is_made_writable)
{
	int3(5000);
	int3(16);
	process.no_files = true;
	ck_assert_uint_eq(trap_at(5000), 0);
	ck_assert_int_eq(process.mprotected, 2);
	ck_assert_uint_eq(text[5000], 0x55);
	ck_assert_uint_eq(text[16], TRAP_INSN);
	ck_assert_int_eq(process.yielded, 0);

	process.no_mprotect = true;
	ck_assert_uint_eq(trap_at(16), 0);
	ck_assert_uint_eq(text[16], TRAP_INSN);
	ck_assert_int_eq(process.yielded, 1);
	ck_assert_uint_eq(process.pc, (uint64_t)(text + 16));
}
END_TEST

/* What the tracer had dealt with when it died. */
START_TEST(a_stop_that_was_dealt_with_goes_on_where_it_is)
{
	siginfo_t si = { .si_signo = SIGTRAP, .si_code = TRAP_DONE };
	uint64_t pc = (uint64_t)(text + 200);

	int3(16);
	process.pc = pc;
	si.si_value.sival_ptr = (void *)pc;
	ck_assert_uint_eq(trap_look(SIGTRAP, &si, NULL), 0);
	ck_assert_uint_eq(process.pc, pc);
	ck_assert_int_eq(process.sent + process.writes, 0);
	/* Its registers were not set: the int3 is executed once more. */
	process.pc = (uint64_t)(text + 16 + TRAP_PC_AFTER);
	ck_assert_uint_eq(trap_look(SIGTRAP, &si, NULL), 0);
	ck_assert_uint_eq(process.pc, (uint64_t)(text + 16));
	ck_assert_uint_eq(text[16], 0x55);
}
END_TEST

START_TEST(a_slot_is_gone_on_from)
{
	siginfo_t si = { .si_signo = SIGTRAP, .si_code = TRAP_CODE };
	struct trap_entry *e = entry(
	    &trap_area, first_entries, TRAP_SLOTS, (uint64_t)(text + 100));

	e->size = 50;
	process.pc = (uint64_t)(text + 100);
	ck_assert_uint_eq(trap_look(SIGTRAP, &si, NULL), 0);
	ck_assert_uint_eq(process.pc, (uint64_t)(text + 100));
	process.pc = (uint64_t)(text + 149);
	ck_assert_uint_eq(trap_look(SIGTRAP, &si, NULL), 0);
	ck_assert_uint_eq(process.pc, (uint64_t)(text + 149));
	ck_assert_int_eq(process.sent, 0);
	/* Behind it is the program. */
	process.pc = (uint64_t)(text + 150);
	ck_assert_uint_eq(trap_look(SIGTRAP, &si, NULL), 0);
	ck_assert_int_eq(process.sent, 1);
	process.pc = (uint64_t)(text + 99);
	ck_assert_uint_eq(trap_look(SIGTRAP, &si, NULL), 0);
	ck_assert_int_eq(process.sent, 2);
}
END_TEST

/* The tracer was making the stop again: the thread is on the way back from a
 * system call, in the area, and goes on there. */
START_TEST(a_thread_on_the_way_back_goes_on)
{
	siginfo_t si = { .si_signo = SIGTRAP, .si_code = TRAP_CODE };
	uint64_t pc = (uint64_t)&trap_area + 8;

	int3(16);
	trap_area.size = sizeof(trap_area);
	trap_area.old_handler = 0x1234;
	process.pc = pc;
	ck_assert_uint_eq(trap_look(SIGTRAP, &si, NULL), 0);
	ck_assert_uint_eq(process.pc, pc);
	ck_assert_int_eq(process.sent, 0);
}
END_TEST

START_TEST(a_trap_in_front_of_an_int3_is_the_programs)
{
	int3(16);
	trap_at(16 - TRAP_PC_AFTER);
	ck_assert_int_eq(process.sent, 1);

	/* And a tracer that lives delivers what is the program's own. */
	setup();
	int3(16);
	strcpy(process.status, "Name:\ta\nTracerPid:\t12\n");
	trap_at(16 - TRAP_PC_AFTER);
	ck_assert_int_eq(process.sent, 1);
	ck_assert_uint_eq(text[16], TRAP_INSN);
}
END_TEST

START_TEST(a_debug_register_that_was_left_is_passed_by)
{
	int3(16);
	trap_area.old_handler = 0x1234;
	ck_assert_uint_eq(sent_by(4), 0);
	ck_assert_int_eq(process.sent + process.opened, 0);
}
END_TEST

START_TEST(the_programs_own_handler_gets_its_sigtrap)
{
	int3(16);
	trap_area.old_handler = 0x1234;
	ck_assert_uint_eq(sent_by(SI_TKILL), 0x1234);
	/* It runs with SIGTRAP blocked, as the kernel would have it. */
	ck_assert_uint_eq(process.blocked, UINT64_C(1) << (SIGTRAP - 1));
	/* So no int3 may be left. */
	ck_assert_uint_eq(text[16], 0x55);
	ck_assert_int_eq(process.sent + process.action_reset, 0);
	/* With a tracer that lives they stay. */
	setup();
	int3(16);
	trap_area.old_handler = 2;
	strcpy(process.status, "Name:\tTracerPid:\nTracerPid:\t7\nUid:\t0\n");
	ck_assert_uint_eq(sent_by(SI_TKILL), 2);
	ck_assert_uint_eq(text[16], TRAP_INSN);
	ck_assert_int_eq(process.opened, process.closed);
	/* Who cannot be told is there. */
	strcpy(process.status, "Name:\ta\n");
	ck_assert_uint_eq(sent_by(SI_TKILL), 2);
	process.no_files = true;
	ck_assert_uint_eq(sent_by(SI_TKILL), 2);
	ck_assert_uint_eq(text[16], TRAP_INSN);
}
END_TEST

START_TEST(the_default_is_to_die_of_it)
{
	ck_assert_uint_eq(sent_by(SI_TKILL), 0);
	ck_assert_int_eq(process.action_reset, 1);
	ck_assert_int_eq(process.sent, 1);
}
END_TEST

START_TEST(an_ignored_one_is_dropped_unless_it_is_forced)
{
	trap_area.old_handler = 1;
	ck_assert_uint_eq(sent_by(SI_TKILL), 0);
	ck_assert_uint_eq(sent_by(SI_USER), 0);
	ck_assert_int_eq(process.sent, 0);
	ck_assert_uint_eq(sent_by(TRAP_BRKPT), 0);
	ck_assert_int_eq(process.sent, 1);
}
END_TEST

START_TEST(a_broken_call_is_made_again)
{
	int3(16);
	process.broken_call = true;
	ck_assert_uint_eq(trap_at(16), 0);
	ck_assert(process.called_again);
	process.called_again = false;
	trap_area.old_handler = 0x1234;
	ck_assert_uint_eq(sent_by(SI_TKILL), 0x1234);
	ck_assert(!process.called_again);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("handler");
	TCase *t = tcase_create("handler");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, all_int3s_go_with_the_first);
	tcase_add_test(t, other_chunks_of_the_list_count);
	tcase_add_test(t, only_int3s_are_replaced);
	tcase_add_test(t, late_places_wait_for_the_others);
	tcase_add_test(t, late_places_wait_alone);
	tcase_add_test(t, late_places_wait_as_long_as_a_thread_is_on_its_way);
	tcase_add_test(t, a_blocked_sigtrap_is_on_no_way);
	tcase_add_test(t, another_thread_is_seen_too);
	tcase_add_test(t, nothing_is_touched_once_all_is_mended);
	tcase_add_test(t, without_proc_the_page_is_made_writable);
	tcase_add_test(t, a_stop_that_was_dealt_with_goes_on_where_it_is);
	tcase_add_test(t, a_slot_is_gone_on_from);
	tcase_add_test(t, a_thread_on_the_way_back_goes_on);
	tcase_add_test(t, a_trap_in_front_of_an_int3_is_the_programs);
	tcase_add_test(t, a_debug_register_that_was_left_is_passed_by);
	tcase_add_test(t, the_programs_own_handler_gets_its_sigtrap);
	tcase_add_test(t, the_default_is_to_die_of_it);
	tcase_add_test(t, an_ignored_one_is_dropped_unless_it_is_forced);
	tcase_add_test(t, a_broken_call_is_made_again);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
