/*
 * tracer/survive/panic: what the emergency exit puts back and in which order, which
 * stops it waits for, and from where threads go on.  Threads and their memory are
 * doubles, so the file itself is included below.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/fault.h"
#include "dlang/base/str.h"
#include "inject/tracepoint.h"
#include "inject/trap/area.h"
#include "t/unit/suite.h"
#include "tracer/ptrace/event.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"
#include "tracer/survive/panic.h"
#include "tracer/survive/semaphore.h"

static struct str calls;
static struct super super;
static struct space spaces[3];
static struct proc procs[3];
static struct thread threads[3];

static unsigned
index_of(const struct space *sp)
{
	return (unsigned)(sp - spaces);
}

/* ---- memory ---- */

#define TEXT  0x100
#define SAVED 0x55

static struct tracepoint tps[2]; /* of every table: at TEXT, and a late one */
static int copies;               /* the memory of children */
static bool cannot_open, cannot_reopen;
static unsigned fails; /* the space whose restoring faults, + 1 */

static int
double_open(const char *path)
{
	str_printf(&calls, "%s ", path);
	return cannot_open ? -1 : dup(copies);
}

static struct tracepoint *
double_tp_next(struct tracepoint *tp)
{
	return tp == NULL ? &tps[0] : tp == &tps[0] ? &tps[1] : NULL;
}

static size_t
double_undo(const struct tracepoint *tp, uint8_t *bytes)
{
	/* They were read where the jump would begin. */
	if (bytes[tp->before] != TRAP_INSN)
		return 0;
	str_add(&calls, tp->late ? "late " : "first ");
	bytes[tp->before] = SAVED;
	return tp->before + 1U;
}

static void
double_restore(struct tptable *tab)
{
	const unsigned n = (unsigned)(uintptr_t)tab - 8;

	if (fails == n + 1) {
		fails = 0;
		raise(SIGSEGV);
	}
	str_printf(&calls, "restore(%u) ", n);
}

static bool
double_reopen(struct space *sp)
{
	str_printf(&calls, "reopen(%u) ", index_of(sp));
	if (cannot_reopen)
		return false;
	sp->mem_fd = dup(copies);
	return true;
}

/* ---- threads ---- */

/* The statuses that the kernel has, by thread: 0: none. */
static int statuses[3];
static bool asleep[3];
static unsigned naps;
static unsigned stops_after; /* naps, the first thread does */
static unsigned long message;
static int message_error, same_memory;
static char kernel_state = 't';
static siginfo_t info;
static int info_error;
static bool pending, trapped, watched, has_data_watch;
static int run_error;

static unsigned
number(const struct thread *th)
{
	return (unsigned)(th - threads);
}

static long
double_peek(pid_t tid, int *status, bool take)
{
	const unsigned n = (unsigned)tid - 10;

	*status = statuses[n];
	if (*status == 0)
		return 0;
	if (take) {
		str_printf(&calls, "take(%u) ", n);
		statuses[n] = 0;
	}
	return tid;
}

static int
double_nap(void)
{
	if (++naps == stops_after)
		statuses[0] = SIGUSR1 << 8 | 0x7f;
	return 0;
}

static int
double_message(unsigned long *out)
{
	*out = message;
	return message_error;
}

static int
double_siginfo(siginfo_t *si)
{
	*si = info;
	return info_error;
}

static int
double_run(struct thread *th)
{
	if (run_error == 0)
		statuses[number(th)] = SIGTRAP << 8 | 0x7f;
	return run_error;
}

static struct thread *
double_thread(pid_t tid)
{
	return tid >= 10 && tid < 13 ? &threads[tid - 10] : NULL;
}

static struct proc *
double_proc(pid_t pid)
{
	for (size_t i = 0; i < super.procs.len; i++)
		if (super.procs.at[i]->pid == pid)
			return super.procs.at[i];
	return NULL;
}

#define open(path, flags)             double_open(path)
#define tracepoint_next(tab, tp)      ((void)(tab), double_tp_next(tp))
#define tracepoint_undo(tp, bytes)    double_undo(tp, bytes)
#define tracepoint_restore_all(tab)   double_restore(tab)
#define semaphores_lower(sp)          str_printf(&calls, "lower(%u) ", index_of(sp))
#define semaphores_lower_copy(of, fd) str_add(&calls, "lower-copy ")
#define space_reopen(sp)              double_reopen(sp)
#define reserve_spend(su)             str_add(&calls, "spend ")
#define reserve_keep(su)              str_add(&calls, "keep ")
#define super_proc(su, pid)           double_proc(pid)
#define super_thread(su, tid)         double_thread(tid)
#define tid_eventmsg(tid, out)        double_message(out)
#define event_same_memory(a, b)       same_memory
#define wait_peek(tid, st, opt, flag) \
	((void)(flag), double_peek(tid, st, false))
#define wait_call(tid, st, opt, flag) ((void)(flag), double_peek(tid, st, true))
#define thread_interrupt(th)          str_printf(&calls, "interrupt(%u) ", number(th))
#define thread_asleep(th)             asleep[number(th)]
#define nanosleep(ts, left)           ((void)(ts), double_nap())
#define procfs_state(tid)             kernel_state
#define thread_siginfo(th, si)        double_siginfo(si)
#define thread_regs(th)               (&(th)->regs.user)
#define thread_regs_dirty(th)         ((void)((th)->regs.state = REGS_CHANGED))
#define regs_begin(th)                ((void)(th))
#define regs_forget(th)               ((void)((th)->regs.state = REGS_UNKNOWN))
#define text_is_trapped(tab, addr)    ((void)(addr), trapped)
#define thread_expects_trap(th, tab, regs) \
	((void)(tab),                      \
	    trapped || has_data_watch ||   \
		(regs)->r[UREG_PC] == (th)->regs.watch)
#define thread_trap_pending(th) pending
#define thread_run_to_trap(th)  double_run(th)
#define thread_at_watch(th)     watched
#define thread_release(th)      str_printf(&calls, "release(%u) ", number(th))
#include "tracer/survive/panic.c"

static void
setup(void)
{
	const uint8_t int3 = TRAP_INSN;

	copies = memfd_create("copies", 0);
	for (unsigned i = 0; i < 2; i++) {
		tps[i].addr = TEXT + (1 - i); /* the late one is before */
		tps[i].late = i == 1;
		pwrite(copies, &int3, 1, (off_t)tps[i].addr);
	}
	ftruncate(copies, 4096);
	for (unsigned i = 0; i < ARRAY_SIZE(procs); i++) {
		spaces[i].tab = (struct tptable *)(uintptr_t)(8 + i);
		spaces[i].mem_fd = 100;
		procs[i].pid = 10 + (pid_t)i;
		procs[i].space = &spaces[i];
		procs[i].super = &super;
		threads[i].tid = 10 + (pid_t)i;
		threads[i].proc = &procs[i];
		threads[i].stop.state = TH_STOPPED;
		threads[i].stop.kind = EV_STOP;
	}
	*vec_push(&super.procs) = &procs[0];
	hash_set(&super.threads, 10, &threads[0]);
	panic_guard(&super);
	ck_assert_str_eq(str_c(&calls), "keep ");
	str_clear(&calls);
}

static void
teardown(void)
{
	panic_guard(NULL);
	vec_fini(&super.procs);
	vec_fini(&super.early);
	hash_fini(&super.threads);
	str_fini(&calls);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(str_c(&calls), want);
	str_clear(&calls);
}

static void
let_all_go(void)
{
	entered = 0;
	on_panic("because");
}

static void
add_process(unsigned n)
{
	*vec_push(&super.procs) = &procs[n];
	hash_set(&super.threads, 10 + n, &threads[n]);
	threads[n].stop.state = TH_GONE; /* nothing of it but its memory */
}

/* ---- text and semaphores ---- */

START_TEST(text_comes_first)
{
	let_all_go();
	expect("spend restore(0) lower(0) release(0) ");
	/* Once, whatever happens on the way. */
	on_panic("again");
	expect("");
}
END_TEST

/* A fault may be that the stack is used up: the signal needs one of its own. */
START_TEST(fatal_signals_have_a_stack)
{
	stack_t ss;
	struct sigaction sa;

	ck_assert_int_eq(sigaltstack(NULL, &ss), 0);
	ck_assert_int_eq(ss.ss_flags & SS_DISABLE, 0);
	ck_assert_uint_ge(ss.ss_size, 16384);
	ck_assert_int_eq(sigaction(SIGSEGV, NULL, &sa), 0);
	ck_assert_int_ne(sa.sa_flags & SA_ONSTACK, 0);
}
END_TEST

START_TEST(without_a_supervisor_nothing_is_let_go)
{
	panic_guard(NULL);
	let_all_go();
	expect("");
}
END_TEST

START_TEST(memory_without_a_descriptor_gets_the_reserved_one)
{
	add_process(1);
	spaces[0].mem_fd = -1;
	let_all_go();
	expect("spend reopen(0) restore(0) lower(0) restore(1) lower(1) "
	       "restore(0) lower(0) release(0) ");
	ck_assert_int_eq(spaces[0].mem_fd, -1);
}
END_TEST

START_TEST(or_is_written_through_a_stopped_thread)
{
	spaces[0].mem_fd = -1;
	cannot_reopen = true;
	let_all_go();
	expect("spend reopen(0) restore(0) lower(0) release(0) ");
}
END_TEST

START_TEST(a_fault_ends_only_its_step)
{
	add_process(1);
	fails = 1;
	let_all_go();
	expect("spend restore(1) lower(1) release(0) ");
	/* The next fault too. */
	fails = 2;
	let_all_go();
	expect("spend restore(0) lower(0) release(0) ");
}
END_TEST

/* ---- copies ---- */

static void
is_own(uint64_t addr, bool own)
{
	uint8_t byte = 0;

	pread(copies, &byte, 1, (off_t)addr);
	ck_assert_uint_eq(byte, own ? SAVED : TRAP_INSN);
}

#define CLEANED(pid) "/proc/" #pid "/mem first late lower-copy "

START_TEST(a_child_without_a_table_has_its_parents_int3s)
{
	add_process(1);
	procs[1].parent = 10;
	spaces[1].tab = NULL;
	let_all_go();
	expect("spend " CLEANED(11) "restore(0) lower(0) release(0) ");
	is_own(TEXT, true);
	is_own(TEXT + 1, true);
}
END_TEST

/* The jump begins before the int3. */
START_TEST(a_childs_bytes_are_read_from_where_the_jump_begins)
{
	tps[0].before = 7;
	restore_copy_text(&spaces[0], copies);
	expect("first late ");
	is_own(TEXT, true);
	is_own(TEXT + 1, true);
}
END_TEST

START_TEST(other_children_have_none)
{
	add_process(1);
	procs[1].parent = 10;
	let_all_go(); /* a table of its own */
	expect("spend restore(0) lower(0) restore(1) lower(1) release(0) ");
	spaces[1].tab = spaces[0].tab = NULL;
	let_all_go();
	expect("spend release(0) ");
	spaces[0].tab = (struct tptable *)8;
	procs[1].parent = 0;
	let_all_go();
	expect("spend restore(0) lower(0) release(0) ");
	procs[1].parent = 10;
	cannot_open = true;
	let_all_go();
	expect("spend /proc/11/mem restore(0) lower(0) release(0) ");
	is_own(TEXT, false);
}
END_TEST

START_TEST(a_child_whose_parent_has_just_stopped)
{
	static const enum event_kind kinds[] = { EV_FORK, EV_VFORK, EV_CLONE };
	const uint8_t int3 = TRAP_INSN;

	message = 77;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		threads[0].stop.kind = kinds[i];
		for (unsigned k = 0; k < 2; k++)
			pwrite(copies, &int3, 1, TEXT + k);
		let_all_go();
		expect("spend " CLEANED(77) "restore(0) lower(0) release(0) ");
	}
}
END_TEST

#define NO_COPY "spend restore(0) lower(0) release(0) "

START_TEST(what_is_no_such_child)
{
	threads[0].stop.kind = EV_FORK;
	message = 12; /* it is in the tables */
	let_all_go();
	expect(NO_COPY);
	message = 77;
	same_memory = 1;
	let_all_go();
	expect(NO_COPY);
	same_memory = 0;
	message_error = -ESRCH;
	let_all_go();
	expect(NO_COPY);
	message_error = 0;
	threads[0].stop.kind = EV_EXEC;
	let_all_go();
	expect(NO_COPY);
	threads[0].stop.kind = EV_FORK;
	spaces[0].tab = NULL;
	let_all_go();
	expect("spend release(0) ");
	is_own(TEXT, false);
	same_memory = -1; /* it is not known: rather too often */
	spaces[0].tab = (struct tptable *)8;
	let_all_go();
	expect("spend " CLEANED(77) "restore(0) lower(0) release(0) ");
}
END_TEST

START_TEST(a_child_that_stops_before_its_parent)
{
	const struct early early = { 78, SIGSTOP << 8 | 0x7f, 10 };

	*vec_push(&super.early) = early;
	let_all_go();
	/* Its semaphores are counted by its parent. */
	expect("spend /proc/78/mem first late restore(0) lower(0) "
	       "release(0) ");
	super.early.at[0].status = 0; /* it has ended */
	let_all_go();
	expect(NO_COPY);
	super.early.at[0] = early;
	super.early.at[0].parent = 99;
	let_all_go();
	expect(NO_COPY);
	super.early.at[0] = early;
	cannot_open = true;
	let_all_go();
	expect("spend /proc/78/mem restore(0) lower(0) release(0) ");
	spaces[0].tab = NULL;
	let_all_go();
	expect("spend release(0) ");
}
END_TEST

/* ---- stops ---- */

#define RESTORED "spend restore(0) lower(0) "

START_TEST(a_running_thread_is_stopped)
{
	threads[0].stop.state = TH_RUNNING;
	stops_after = 3;
	let_all_go();
	/* Its signal is left with the kernel. */
	expect(RESTORED "interrupt(0) release(0) ");
	ck_assert_uint_eq(naps, 3);
	ck_assert(threads[0].stop.untaken);
	ck_assert_int_eq(threads[0].stop.sig, SIGUSR1);
	ck_assert_int_eq(threads[0].stop.kind, EV_SIGNAL);
}
END_TEST

START_TEST(the_stop_that_was_asked_for_is_taken)
{
	threads[0].stop.state = TH_RUNNING;
	statuses[0] = PTRACE_EVENT_STOP << 16 | SIGTRAP << 8 | 0x7f;
	let_all_go();
	expect(RESTORED "interrupt(0) take(0) release(0) ");
	ck_assert_int_eq(threads[0].stop.sig, 0);
	ck_assert_int_eq(threads[0].stop.kind, EV_SIGNAL);
	ck_assert(!threads[0].stop.untaken);
	ck_assert_uint_eq(naps, 0);
	/* So is that of a system call. */
	threads[0].stop.state = TH_RUNNING;
	statuses[0] = (SIGTRAP | 0x80) << 8 | 0x7f;
	let_all_go();
	expect(RESTORED "interrupt(0) take(0) release(0) ");
	ck_assert_int_eq(threads[0].stop.sig, 0);
}
END_TEST

START_TEST(a_new_thread_is_waited_for)
{
	threads[0].stop.state = TH_NEW;
	stops_after = 2;
	let_all_go();
	expect(RESTORED "release(0) ");
	ck_assert_uint_eq(naps, 2);
}
END_TEST

START_TEST(a_fork_that_is_seen_now_has_a_copy)
{
	threads[0].stop.state = TH_RUNNING;
	statuses[0] = PTRACE_EVENT_FORK << 16 | SIGTRAP << 8 | 0x7f;
	message = 77;
	let_all_go();
	expect(RESTORED "interrupt(0) take(0) " CLEANED(77) "release(0) ");
	threads[0].stop.state = TH_RUNNING;
	statuses[0] = PTRACE_EVENT_EXEC << 16 | SIGTRAP << 8 | 0x7f;
	let_all_go();
	expect(RESTORED "interrupt(0) take(0) release(0) ");
}
END_TEST

START_TEST(a_thread_that_has_ended_is_not_released)
{
	threads[0].stop.state = TH_RUNNING;
	statuses[0] = 3 << 8;
	let_all_go();
	expect(RESTORED "interrupt(0) take(0) ");
	ck_assert_int_eq(threads[0].stop.state, TH_GONE);
}
END_TEST

START_TEST(those_that_will_not_stop_are_not_waited_for)
{
	threads[0].stop.state = TH_RUNNING;
	asleep[0] = true;
	let_all_go();
	expect(RESTORED "interrupt(0) ");
	ck_assert_uint_eq(naps, 0);
	asleep[0] = false;
	threads[0].stop.life = LIFE_ENDS;
	let_all_go();
	expect(RESTORED "interrupt(0) ");
	ck_assert_uint_eq(naps, 0);
}
END_TEST

START_TEST(no_thread_is_waited_for_for_ever)
{
	threads[0].stop.state = TH_RUNNING;
	kernel_state = 'R';
	let_all_go();
	expect(RESTORED "interrupt(0) ");
	ck_assert_uint_eq(naps, ROUNDS);
}
END_TEST

START_TEST(a_stop_that_nobody_will_report)
{
	threads[0].stop.state = TH_RUNNING;
	info.si_signo = SIGUSR1;
	let_all_go();
	expect(RESTORED "interrupt(0) release(0) ");
	ck_assert_uint_eq(naps, ROUNDS_HEARD + 1);
	ck_assert_int_eq(threads[0].stop.kind, EV_SIGNAL);
	ck_assert_int_eq(threads[0].stop.sig, SIGUSR1);
	/* Of an event, or of nothing that can be told. */
	threads[0].stop.state = TH_RUNNING;
	info.si_code = 0x105;
	let_all_go();
	ck_assert_int_eq(threads[0].stop.kind, EV_STOP);
	ck_assert_int_eq(threads[0].stop.sig, 0);
	threads[0].stop.state = TH_RUNNING;
	info.si_code = 0;
	info_error = -ESRCH;
	let_all_go();
	ck_assert_int_eq(threads[0].stop.kind, EV_STOP);
	info_error = 0;
	info.si_signo = SIGTRAP;
	threads[0].stop.state = TH_RUNNING;
	let_all_go();
	ck_assert_int_eq(threads[0].stop.kind, EV_TRAP);
}
END_TEST

/* ---- where threads go on ---- */

#define PC UINT64_C(0x401001)

static void
goes_on_at(uint64_t pc)
{
	threads[0].regs.user.r[UREG_PC] = PC;
	let_all_go();
	ck_assert_uint_eq(threads[0].regs.user.r[UREG_PC], pc);
}

START_TEST(a_hit_is_set_back)
{
	threads[0].stop.kind = EV_TRAP;
	threads[0].stop.sig = SIGTRAP;
	trapped = true;
	goes_on_at(PC - TRAP_PC_AFTER);
	ck_assert_int_eq(threads[0].stop.sig, 0);
	ck_assert_int_eq(threads[0].regs.state, REGS_CHANGED);
}
END_TEST

START_TEST(what_is_no_hit_is_not)
{
	threads[0].stop.kind = EV_TRAP;
	threads[0].stop.sig = SIGTRAP;
	goes_on_at(PC); /* an int3 of the program */
	ck_assert_int_eq(threads[0].stop.sig, SIGTRAP);
	has_data_watch = true; /* that is something else */
	goes_on_at(PC);
	ck_assert_int_eq(threads[0].stop.sig, SIGTRAP);
	trapped = true;
	threads[0].regs.state = REGS_CHANGED; /* in the middle of its hit */
	goes_on_at(PC);
	threads[0].regs.state = REGS_KNOWN;
	spaces[0].tab = NULL; /* nobody's child */
	goes_on_at(PC);
	ck_assert_int_eq(threads[0].stop.sig, SIGTRAP);
}
END_TEST

START_TEST(a_watched_address_is_where_it_stands)
{
	threads[0].stop.kind = EV_TRAP;
	threads[0].stop.sig = SIGTRAP;
	threads[0].regs.watch = PC;
	watched = true;
	goes_on_at(PC);
	ck_assert_int_eq(threads[0].stop.sig, 0);
}
END_TEST

START_TEST(a_child_hits_its_parents_int3s)
{
	*vec_push(&super.procs) = &procs[1];
	procs[0].parent = 11;
	spaces[0].tab = NULL;
	threads[0].stop.kind = EV_TRAP;
	threads[0].stop.sig = SIGTRAP;
	trapped = true;
	cannot_open = true;
	goes_on_at(PC - TRAP_PC_AFTER);
}
END_TEST

/* Stopped by us just behind an int3: its SIGTRAP would kill it. */
START_TEST(a_pending_trap_is_taken)
{
	trapped = pending = true;
	goes_on_at(PC - TRAP_PC_AFTER);
	ck_assert_int_eq(threads[0].stop.kind, EV_TRAP);
	ck_assert_int_eq(threads[0].stop.sig, 0);
}
END_TEST

START_TEST(if_there_is_one)
{
	trapped = true;
	goes_on_at(PC);
	pending = true;
	run_error = -ESRCH;
	goes_on_at(PC);
	ck_assert_int_eq(threads[0].stop.kind, EV_STOP);
}
END_TEST

/* ---- signals of the tracer itself ---- */

START_TEST(a_file_that_was_cut_is_read_as_zeroes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("cut", 0);
	const char full[] = "x";

	ftruncate(fd, 2 * (off_t)page);
	pwrite(fd, full, 1, 0);
	pwrite(fd, full, 1, (off_t)page);
	volatile char *at = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, 0);
	ftruncate(fd, (off_t)page);
	ck_assert_int_eq(at[page], 0);
	ck_assert_int_eq(at[0], 'x');
	ck_assert_uint_eq(panic_faults(), 1);
	expect(""); /* nobody is let go */
	ftruncate(fd, 0);
	ck_assert_int_eq(at[0], 0); /* again */
	ck_assert_uint_eq(panic_faults(), 2);
}
END_TEST

START_TEST(any_other_fault_is_the_end)
{
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	char text[200], want[100];
	int fds[2], how;

	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++) {
		ck_assert_int_eq(pipe(fds), 0);
		pid_t pid = fork();
		if (pid == 0) {
			const struct rlimit none = { 0, 0 };
			setrlimit(RLIMIT_CORE, &none);
			dup2(fds[1], 2);
			raise(fatal[i]);
			_exit(0);
		}
		close(fds[1]);
		ssize_t n = read(fds[0], text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = '\0';
		snprintf(want, sizeof(want),
		    "dtrap: internal error: signal %d; detaching from all processes\n",
		    fatal[i]);
		ck_assert_str_eq(text, want);
		ck_assert_int_eq(waitpid(pid, &how, 0), pid);
		ck_assert(WIFSIGNALED(how) && WTERMSIG(how) == fatal[i]);
		close(fds[0]);
	}
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		text_comes_first,
		fatal_signals_have_a_stack,
		without_a_supervisor_nothing_is_let_go,
		memory_without_a_descriptor_gets_the_reserved_one,
		or_is_written_through_a_stopped_thread,
		a_fault_ends_only_its_step,
		a_child_without_a_table_has_its_parents_int3s,
		a_childs_bytes_are_read_from_where_the_jump_begins,
		other_children_have_none,
		a_child_whose_parent_has_just_stopped,
		what_is_no_such_child,
		a_child_that_stops_before_its_parent,
		a_running_thread_is_stopped,
		the_stop_that_was_asked_for_is_taken,
		a_new_thread_is_waited_for,
		a_fork_that_is_seen_now_has_a_copy,
		a_thread_that_has_ended_is_not_released,
		those_that_will_not_stop_are_not_waited_for,
		no_thread_is_waited_for_for_ever,
		a_stop_that_nobody_will_report,
		a_hit_is_set_back,
		what_is_no_hit_is_not,
		a_watched_address_is_where_it_stands,
		a_child_hits_its_parents_int3s,
		a_pending_trap_is_taken,
		if_there_is_one,
		a_file_that_was_cut_is_read_as_zeroes,
		any_other_fault_is_the_end,
	};

	return suite_run("panic", setup, teardown, tests, ARRAY_SIZE(tests));
}
