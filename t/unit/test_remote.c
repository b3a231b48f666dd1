/*
 * tracer: system calls and memory of a live target, and leaving it unharmed.
 */
#include "dlang/base/fault.h"
#include "t/unit/tracee.h"

/* System calls in the target */

/* Bit 1 of the flags is always set in the processor; Linux 6.1 leaves it out at an
 * exec, where they have not been there yet. */
#define ALWAYS_SET 2

static void
same_registers(
    const struct thread *th, const struct uregs *a, const struct uregs *b)
{
	const uint64_t *x = (const void *)a, *y = (const void *)b;

	for (size_t i = 0; i < sizeof(*a) / sizeof(*x); i++)
		ck_assert_msg((x[i] ^ y[i]) == 0 ||
			(i == UREG_RFLAGS && (x[i] | ALWAYS_SET) == y[i]),
		    "at stop %d register %zu is %#lx, was %#lx", th->stop.kind,
		    i, (unsigned long)y[i], (unsigned long)x[i]);
}

static void
check_getpid(struct thread *th)
{
	const uint64_t args[6] = { 0 };
	int64_t result = 0;
	struct uregs before = *thread_regs(th);

	int r = remote_syscall(th, SYS_getpid, args, &result);
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(result, th->proc->pid);
	ck_assert(thread_stopped(th));
	struct uregs after;
	ck_assert_int_eq(regs_fetch(th->tid, &after), 0);
	same_registers(th, &before, &after);
	same_registers(th, &before, thread_regs(th));
}

static const char *const calls[] = { "read", "nanosleep", "poll",
	"sigsuspend" };

START_TEST(remote_syscall_in_a_blocked_thread)
{
	const char *call = calls[_i];
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	if (strcmp(call, "sigsuspend") == 0)
		sigprocmask(SIG_BLOCK, &mask, NULL);
	pid_t pid = start("blocked", call);
	await_ready();
	await_state(pid, "S");
	struct proc *p = attach(pid);
	struct thread *th = p->threads.at[0];
	resume_all(p);
	for (int i = 0; i < 5; i++) {
		space_stop(p->space);
		if (thread_stopped(th) && th->stop.kind == EV_STOP) {
			check_getpid(th);
			check_getpid(th);
		}
		space_resume(p->space);
	}
	if (strcmp(call, "sigsuspend") == 0) {
		await_state(pid, "S");
		kill(pid, SIGUSR1);
	} else {
		ck_assert_int_eq(write(go_fd, "x", 1), 1);
	}
	run_to_end(0);
}
END_TEST

START_TEST(the_call_that_a_thread_sleeps_in_is_known)
{
	pid_t pid = start("blocked", "nanosleep");
	uint64_t args[6];
	int64_t nr = 0;

	await_ready();
	await_state(pid, "S");
	ck_assert_int_eq(procfs_syscall(pid, &nr, args), 0);
	ck_assert(nr == SYS_nanosleep || nr == SYS_clock_nanosleep);
	ck_assert_uint_ne(args[nr == SYS_nanosleep ? 0 : 2], 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_int_lt(procfs_syscall(pid, &nr, args), 0);
}
END_TEST

START_TEST(remote_syscall_keeps_a_signal_in_delivery)
{
	struct proc *p = launch("siginfo", "");
	struct event ev;
	siginfo_t before, after;
	int n = 0;

	thread_resume(p->threads.at[0]);
	while (run_until(EV_SIGNAL, &ev)) {
		memset(&before, 0, sizeof(before));
		memset(&after, 0, sizeof(after));
		thread_siginfo(ev.thread, &before);
		check_getpid(ev.thread);
		ck_assert_int_eq(thread_siginfo(ev.thread, &after), 0);
		ck_assert_int_eq(memcmp(&before, &after, sizeof(after)), 0);
		thread_resume(ev.thread);
		n++;
	}
	ck_assert_int_eq(n, 3);
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 0);
}
END_TEST

START_TEST(remote_syscall_keeps_the_order_of_signals)
{
	struct proc *p = launch("queued", "");
	struct event ev;

	thread_resume(p->threads.at[0]);
	while (run_until(EV_SIGNAL, &ev)) {
		check_getpid(ev.thread);
		check_getpid(ev.thread);
		thread_resume(ev.thread);
	}
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 0);
}
END_TEST

START_TEST(detach_keeps_the_order_of_signals)
{
	struct proc *p = launch("queued", "");
	pid_t pid = p->pid;
	struct event ev;

	thread_resume(p->threads.at[0]);
	for (int i = 0; i <= _i; i++) {
		ck_assert(run_until(EV_SIGNAL, &ev));
		check_getpid(ev.thread);
		check_getpid(ev.thread);
		if (i < _i)
			thread_resume(ev.thread);
	}
	proc_detach(p, NULL, NULL);
	finishes(pid);
}
END_TEST

/* Two that were taken from the kernel, of which one is sent again behind those
 * that are pending. */
START_TEST(detach_keeps_the_order_of_a_signal_that_was_sent_again)
{
	struct proc *p = launch("queued", "");
	struct thread *th = p->threads.at[0];
	pid_t pid = p->pid;
	siginfo_t first, second;
	struct event ev;

	thread_resume(th);
	ck_assert(run_until(EV_SIGNAL, &ev));
	ck_assert_int_eq(thread_siginfo(th, &first), 0);
	stop_signal(th, 0);
	thread_resume(th);
	ck_assert(run_until(EV_SIGNAL, &ev));
	ck_assert_int_eq(thread_siginfo(th, &second), 0);
	if (_i == 0) { /* in delivery */
		thread_set_siginfo(th, &first);
		signals_again(th, &second, 1);
	} else {
		stop_signal(th, 0);
		signals_again(th, &first, 1);
		signals_again(th, &second, 1);
	}
	proc_detach(p, NULL, NULL);
	finishes(pid);
}
END_TEST

START_TEST(remote_syscall_keeps_a_signal_that_is_pending)
{
	struct proc *p = launch("queued", "twice");
	struct event ev;
	siginfo_t first, second;
	int n = 0;

	thread_resume(p->threads.at[0]);
	while (run_until(EV_SIGNAL, &ev)) {
		n++;
		if (n == 1) {
			thread_siginfo(ev.thread, &first);
			syscall(SYS_tgkill, p->pid, p->pid, SIGUSR1);
		}
		check_getpid(ev.thread);
		ck_assert_int_eq(thread_siginfo(ev.thread, &second), 0);
		ck_assert_int_eq(
		    second.si_code, n == 1 ? first.si_code : SI_TKILL);
		thread_resume(ev.thread);
	}
	ck_assert_int_eq(n, 2);
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 0);
}
END_TEST

/* A thread in rt_sigreturn(2) stands on the frame that it returns by: nothing
 * on its stack leads there any more. */
START_TEST(the_frame_of_a_handler_that_returns_is_found)
{
	const uint64_t like =
	    SIGBIT(SIGILL) | SIGBIT(SIGBUS) | SIGBIT(SIGFPE) | SIGBIT(SIGSEGV);
	struct proc *p = launch("handler", "");
	struct syscall_entry call;
	struct event ev;
	unsigned returns = 0;

	stop_want_calls(p->threads.at[0], WANT_LAUNCH, true);
	thread_resume(p->threads.at[0]);
	while (next(&ev)) {
		if (ev.kind == EV_SYSCALL_ENTER &&
		    thread_syscall_entry(ev.thread, &call) == 0 &&
		    call.nr == SYS_rt_sigreturn) {
			returns++;
			ck_assert_uint_eq(sigframes_change(ev.thread, like,
					      SIGBIT(SIGTRAP), false),
			    1);
		}
		thread_resume(ev.thread);
	}
	ck_assert_uint_eq(returns, 1);
	ck_assert_int_eq(
	    WEXITSTATUS(seen_events.at[seen_events.len - 1].status), 0);
}
END_TEST

START_TEST(remote_syscall_at_syscall_and_event_stops)
{
	struct proc *p = launch("family", "");
	struct event ev;
	unsigned enters = 0, exits = 0;

	stop_want_calls(p->threads.at[0], WANT_LAUNCH, true);
	thread_resume(p->threads.at[0]);
	while (next(&ev)) {
		enters += ev.kind == EV_SYSCALL_ENTER;
		exits += ev.kind == EV_SYSCALL_EXIT;
		switch (ev.kind) {
		case EV_FORK:
		case EV_CLONE:
		case EV_EXEC:
		case EV_VFORK_DONE:
		case EV_STOP:
		case EV_SIGNAL:
		case EV_SYSCALL_ENTER:
		case EV_SYSCALL_EXIT: {
			int64_t r;
			const uint64_t args[6] = { 0 };
			ck_assert_int_eq(
			    remote_syscall(ev.thread, SYS_getpid, args, &r), 0);
			ck_assert_int_eq(r, ev.thread->proc->pid);
			check_getpid(ev.thread);
			break;
		}
		case EV_VFORK:
		case EV_EXIT: {
			int64_t r;
			const uint64_t args[6] = { 0 };
			ck_assert_int_eq(
			    remote_syscall(ev.thread, SYS_getpid, args, &r),
			    -EBUSY);
			break;
		}
		default: break;
		}
		if (ev.kind != EV_GONE)
			thread_resume(ev.thread);
	}
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 5 << 8);
	/* Each call that was entered has come back but exit_group, and the
	 * first execve was entered before we asked. */
	ck_assert_uint_gt(enters, 10);
	ck_assert_uint_eq(enters, exits);
}
END_TEST

START_TEST(remote_syscall_during_a_group_stop)
{
	struct proc *p = launch("ready", "");
	struct thread *th = p->threads.at[0];
	pid_t pid = p->pid;
	struct event ev;

	kill(pid, SIGSTOP); /* arrives in the middle of the call */
	int64_t r;
	const uint64_t args[6] = { 0 };
	ck_assert_int_eq(remote_syscall(th, SYS_getpid, args, &r), 0);
	ck_assert_int_eq(r, pid);
	thread_resume(th);
	ck_assert(run_until(EV_GROUP_STOP, &ev));
	thread_resume(ev.thread);
	kill(pid, SIGCONT);
	close(go_fd);
	run_to_end(0);
}
END_TEST

START_TEST(remote_syscall_does_not_risk_a_filter)
{
	pid_t pid = start("seccomp", "");
	const uint64_t args[6] = { 0 };
	int64_t r;
	uint64_t addr;

	await_ready();
	struct proc *p = attach(pid);
	struct thread *th = p->threads.at[0];
	struct target *t = &p->space->target;
	ck_assert_int_eq(remote_syscall(th, SYS_getpid, args, &r), -EPERM);
	uint64_t pc = thread_regs(th)->r[UREG_RIP];
	ck_assert_int_eq(t->ops->map_near(t, pc, 4096, &addr), -EPERM);
	ck_assert(p->space->no_map);
	proc_detach(p, NULL, NULL);
	finishes(pid);
}
END_TEST

/* The program's handler would be called for our call, and what the program does
 * next be taken for it. */
START_TEST(remote_syscall_is_not_dispatched)
{
	struct proc *p = launch("dispatched", "");
	const uint64_t args[6] = { 0 };
	siginfo_t before, after;
	struct event ev;
	int64_t r;
	int n = 0;

	thread_resume(p->threads.at[0]);
	for (; run_until(EV_SIGNAL, &ev); n++) {
		struct uregs regs = *thread_regs(ev.thread);
		memset(&before, 0, sizeof(before));
		memset(&after, 0, sizeof(after));
		thread_siginfo(ev.thread, &before);
		ck_assert_int_eq(before.si_signo, SIGSYS);
		/* Where the kernel tells, -EBUSY. */
		ck_assert_int_lt(
		    remote_syscall(ev.thread, SYS_getpid, args, &r), 0);
		ck_assert_int_eq(
		    memcmp(&regs, thread_regs(ev.thread), sizeof(regs)), 0);
		thread_siginfo(ev.thread, &after);
		ck_assert_int_eq(memcmp(&before, &after, sizeof(after)), 0);
		thread_resume(ev.thread);
	}
	int status = seen_events.at[seen_events.len - 1].status;
	if (n == 0 && WEXITSTATUS(status) == 77)
		return; /* a kernel without it */
	ck_assert_int_eq(n, 3);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* At the stop of a filter the call is still to be made, once. */
START_TEST(remote_syscall_at_a_filter_of_ours)
{
	struct proc *p = launch("filtered", "");
	struct thread *th = p->threads.at[0];
	struct event ev;
	unsigned stops = 0, exits = 0;

	ck_assert_int_eq(thread_take_seccomp(th), 0);
	p->filtered = true;
	thread_resume(th);
	while (next(&ev)) {
		ck_assert_int_ne(ev.kind, EV_SYSCALL_ENTER);
		if (ev.kind == EV_SECCOMP) {
			struct syscall_entry e;
			stops++;
			ck_assert(thread_filter_is_ours(th));
			ck_assert_int_eq(thread_syscall_entry(th, &e), 0);
			ck_assert_int_eq(e.nr, SYS_getppid);
			check_getpid(th);
			stop_want_calls(th, WANT_EXIT, true);
		} else if (ev.kind == EV_SYSCALL_EXIT) {
			exits++;
			ck_assert_int_eq(
			    (pid_t)thread_regs(th)->r[UREG_RAX], getpid());
			stop_want_calls(th, WANT_EXIT, false);
		}
		if (ev.kind != EV_GONE)
			thread_resume(ev.thread);
	}
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 0);
	ck_assert_uint_eq(stops, 3);
	ck_assert_uint_eq(exits, 3);
}
END_TEST

/* Memory of the target */

START_TEST(map_near_finds_room_in_reach)
{
	struct proc *p = launch("ready", "");
	struct target *t = &p->space->target;
	uint64_t pc = thread_regs(p->threads.at[0])->r[UREG_RIP];
	uint64_t addr[16];
	char text[32] = "";

	for (size_t i = 0; i < ARRAY_SIZE(addr); i++) {
		ck_assert_int_eq(
		    t->ops->map_near(t, pc, 4096 << (i % 4), &addr[i]), 0);
		ck_assert_int_lt(llabs((int64_t)(addr[i] - pc)), 1LL << 31);
		ck_assert_int_eq(t->ops->write(t, addr[i], "slot", 5), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(addr); i++) {
		ck_assert_int_eq(
		    reader_read(&p->space->mem, addr[i], text, 5), 0);
		ck_assert_str_eq(text, "slot");
		ck_assert_int_eq(t->ops->unmap(t, addr[i], 4096 << (i % 4)), 0);
		ck_assert_int_eq(t->ops->read(t, addr[i], text, 5), -EFAULT);
	}
	/* Nothing is put where the heap will grow. */
	uint64_t brk = 0;
	ck_assert_int_eq(procfs_stat(p->pid, 47, &brk), 0);
	for (size_t i = 0; i < ARRAY_SIZE(addr); i++)
		ck_assert(addr[i] < brk || addr[i] - brk >= 1 << 30);
	ck_assert_int_eq(
	    t->ops->map_near(t, pc, 1ULL << 40, &addr[0]), -ENOMEM);

	thread_resume(p->threads.at[0]);
	close(go_fd);
	run_to_end(0);
}
END_TEST

/* A child that was made before is a copy of another memory. */
START_TEST(mapping_changes_the_space)
{
	struct proc *p = launch("ready", "");
	struct space *sp = p->space;
	struct target *t = &sp->target;
	uint64_t pc = thread_regs(p->threads.at[0])->r[UREG_RIP], addr;
	unsigned before = sp->changes;

	ck_assert_int_eq(t->ops->map_near(t, pc, 1ULL << 40, &addr), -ENOMEM);
	ck_assert_uint_eq(sp->changes, before);
	ck_assert_int_eq(t->ops->map_near(t, pc, 4096, &addr), 0);
	ck_assert_uint_ne(sp->changes, before);
	before = sp->changes;
	ck_assert_int_eq(t->ops->unmap(t, addr, 4096), 0);
	ck_assert_uint_ne(sp->changes, before);
}
END_TEST

START_TEST(map_near_can_be_made_to_fail)
{
	struct proc *p = launch("ready", "");
	struct target *t = &p->space->target;
	uint64_t pc = thread_regs(p->threads.at[0])->r[UREG_RIP], addr;

	fault_set(FAULT_MAP, 2);
	ck_assert_int_eq(t->ops->map_near(t, pc, 4096, &addr), 0);
	ck_assert_int_eq(t->ops->map_near(t, pc, 4096, &addr), -ENOMEM);
	ck_assert_int_eq(t->ops->map_near(t, pc, 4096, &addr), 0);
}
END_TEST

START_TEST(caves_are_zeros_in_text)
{
	struct proc *p = launch("ready", "");
	struct target *t = &p->space->target;
	uint64_t pc = thread_regs(p->threads.at[0])->r[UREG_RIP], addr;
	struct maps maps = { 0 };
	unsigned cookie = 0, n = 0;
	size_t size;
	uint8_t bytes[4096];

	ck_assert_int_eq(maps_read(p->pid, &maps), 0);
	while (t->ops->cave(t, pc, &cookie, &addr, &size) == 0) {
		const struct map *m = maps_at(&maps, addr);
		ck_assert(m != NULL && m->exec && addr + size == m->end);
		ck_assert_uint_le(size, sizeof(bytes));
		ck_assert_int_eq(t->ops->read(t, addr, bytes, size), 0);
		for (size_t i = 0; i < size; i++)
			ck_assert_uint_eq(bytes[i], 0);
		n++;
	}
	ck_assert_uint_gt(n, 0); /* the run-time linker's, at least */
	maps_fini(&maps);
}
END_TEST

/* SIGTRAP */

static const char *const trap_states[] = { "", "b", "bf", "h", "bh", "bfh", "i",
	"bi" };

START_TEST(sigtrap_is_as_before_after_a_hit)
{
	struct event ev;
	int hits = 0;

	pid_t pid = start("int3", trap_states[_i]);
	await_ready();
	struct proc *p = attach(pid);
	resume_all(p);
	close(go_fd);
	while (run_until(EV_TRAP, &ev)) {
		hits++;
		thread_mend_sigtrap(ev.thread);
		thread_resume(ev.thread);
	}
	ck_assert_int_eq(hits, 3);
	struct event *last = &seen_events.at[seen_events.len - 1];
	ck_assert_msg(last->status == 0, "%s: status %x", trap_states[_i],
	    (unsigned)last->status);
}
END_TEST

/* The kernel has one SIGTRAP of a thread at a time.  One that somebody sends as
 * the int3 is executed takes its place: it is a hit, and the signal is owed. */
START_TEST(sigtrap_that_has_met_a_hit_is_pending)
{
	siginfo_t sent = { .si_signo = SIGTRAP, .si_code = SI_TKILL }, si;
	struct event ev;

	pid_t pid = start("int3", "");
	await_ready();
	struct proc *p = attach(pid);
	p->space->masks_watched = true;
	resume_all(p);
	close(go_fd);
	ck_assert(run_until(EV_TRAP, &ev));
	thread_mend_sigtrap(ev.thread); /* knows the mask from here on */
	ck_assert(!thread_pending(ev.thread, false, 0, &si));
	sent.si_pid = 1;
	thread_set_siginfo(ev.thread, &sent);
	thread_mend_sigtrap(ev.thread);
	ck_assert(thread_pending(ev.thread, false, 0, &si));
	ck_assert_int_eq(si.si_signo, SIGTRAP);
	ck_assert_int_eq(si.si_code, SI_TKILL);
	ck_assert_int_eq(si.si_pid, 1);
	ck_assert(!thread_pending(ev.thread, false, 1, &si));
	thread_resume(ev.thread);
	ck_assert(run_until(EV_TRAP, &ev));
	ck_assert_int_eq(thread_siginfo(ev.thread, &si), 0);
	ck_assert_int_eq(si.si_pid, 1);
}
END_TEST

/* Of the SIGTRAPs that are pending for a thread the kernel takes the first for
 * that of an int3.  It and the others stay, in order, also if dtrap makes calls
 * in the thread before it looks at them. */
START_TEST(sigtraps_of_timers_are_pending_after_a_hit)
{
	const char n[] = { (char)('1' + _i / 2), '\0' };
	struct event ev;

	pid_t pid = start("timers", n);
	await_ready();
	struct proc *p = attach(pid);
	p->space->masks_watched = true;
	resume_all(p);
	close(go_fd);
	ck_assert(run_until(EV_TRAP, &ev));
	for (int i = 0; _i % 2 != 0 && i < 5; i++)
		check_getpid(ev.thread);
	thread_mend_sigtrap(ev.thread);
	thread_resume(ev.thread);
	ck_assert(!run_until(EV_TRAP, &ev));
	struct event *last = &seen_events.at[seen_events.len - 1];
	ck_assert_msg(last->status == 0, "%s timers: status %x", n,
	    (unsigned)last->status);
}
END_TEST

/* An int3 was executed, but the stop of an interrupt came first: its SIGTRAP is
 * pending, behind all that were sent before. */
START_TEST(sigtrap_of_a_hit_is_seen_behind_other_signals)
{
	struct event ev;

	pid_t pid = start("int3", "");
	await_ready();
	struct proc *p = attach(pid);
	resume_all(p);
	close(go_fd);
	ck_assert(run_until(EV_TRAP, &ev));
	struct thread *th = ev.thread;
	ck_assert_int_eq(thread_set_sigmask(th, ~0ULL), 0);
	for (int sig = SIGRTMIN; sig < SIGRTMIN + 20; sig++)
		ck_assert_int_eq(syscall(SYS_tgkill, pid, th->tid, sig), 0);
	ck_assert(!thread_trap_pending(th));
	stop_hold(th, true);
	stop_signal(th, SIGTRAP);
	thread_deliver(th);
	ck_assert_int_eq(th->stop.kind, EV_STOP);
	ck_assert(thread_trap_pending(th));
}
END_TEST

/* The SIGTRAP of a timer is pending for the thread, which blocks it.  Then no other
 * one is queued for an int3, and when the stop of an interrupt comes first, only the
 * mask shows that there was one. */
START_TEST(hit_that_has_met_a_sigtrap_is_undone)
{
	static struct tptable tab;
	static const uint8_t nop = 0x90;
	struct event ev;

	pid_t pid = start("timers", "1");
	await_ready();
	struct proc *p = attach(pid);
	struct thread *th = p->threads.at[0];
	p->space->masks_watched = true;
	sigtrap_begin(p->space);
	ck_assert(!thread_trap_pending(th));
	resume_all(p);
	close(go_fd);
	ck_assert(run_until(EV_TRAP, &ev));
	/* Back into the queue, as if the interrupt had come first. */
	ck_assert_int_eq(thread_set_sigmask(th, ~0ULL), 0);
	stop_hold(th, true);
	stop_signal(th, SIGTRAP);
	thread_deliver(th);
	ck_assert_int_eq(th->stop.kind, EV_STOP);
	ck_assert(!thread_trap_pending(th));
	ck_assert_int_eq(thread_set_sigmask(th, 0), 0);
	ck_assert(thread_trap_pending(th));
	tab.target = &p->space->target;
	tab.stub_trap = thread_regs(th)->r[UREG_PC] - sizeof(trap_insn);
	tab.tp.state = TP_GONE;
	p->space->tab = &tab;
	ck_assert_int_eq(tab.target->ops->write(
			     tab.target, tab.stub_trap, &nop, sizeof(nop)),
	    0);
	proc_detach(p, NULL, NULL);
	finishes(pid);
}
END_TEST

/* At the hit of a thread for which n timers have sent a SIGTRAP, which it blocks.  To
 * keep that one, dtrap has made calls in the thread. */
static struct thread *
at_a_mended_hit(const char *n)
{
	struct event ev;

	pid_t pid = start("timers", n);
	await_ready();
	struct proc *p = attach(pid);
	p->space->masks_watched = true;
	sigtrap_begin(p->space);
	resume_all(p);
	close(go_fd);
	ck_assert(run_until(EV_TRAP, &ev));
	thread_mend_sigtrap(ev.thread);
	return ev.thread;
}

static const char *const no_or_one[] = { "0", "1" };

/* A signal that is due after a hit comes all the same. */
START_TEST(signal_comes_instead_of_a_mended_hit)
{
	const siginfo_t due = { .si_signo = SIGUSR1, .si_code = SI_USER };
	struct thread *th = at_a_mended_hit(no_or_one[_i]);
	struct event ev;

	thread_signals_instead(th, &due, 1);
	thread_resume(th);
	while (run_until(EV_SIGNAL, &ev))
		thread_resume(ev.thread);
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, SIGUSR1);
}
END_TEST

/* Several come in order, with their siginfo, before the next instruction. */
START_TEST(signals_come_instead_of_a_mended_hit)
{
	siginfo_t due[] = { { .si_signo = SIGSEGV, .si_code = SEGV_MAPERR },
		{ .si_signo = SIGUSR1, .si_code = SI_USER },
		{ .si_signo = SIGRTMIN, .si_code = SI_QUEUE },
		{ .si_signo = SIGRTMIN, .si_code = SI_QUEUE } };
	struct thread *th = at_a_mended_hit(no_or_one[_i]);
	uint64_t pc = thread_regs(th)->r[UREG_PC];
	siginfo_t si;
	struct event ev;

	due[3].si_value.sival_int = 3;
	thread_signals_instead(th, due, ARRAY_SIZE(due));
	for (unsigned i = 0; i < ARRAY_SIZE(due); i++) {
		if (i > 0 || th->stop.kind != EV_SIGNAL) {
			thread_resume(th);
			ck_assert(run_until(EV_SIGNAL, &ev));
		}
		ck_assert_int_eq(th->stop.sig, due[i].si_signo);
		ck_assert_int_eq(thread_siginfo(th, &si), 0);
		ck_assert_int_eq(si.si_code, due[i].si_code);
		ck_assert_int_eq(
		    si.si_value.sival_int, due[i].si_value.sival_int);
		ck_assert_uint_eq(thread_regs(th)->r[UREG_PC], pc);
		stop_signal(th, 0);
	}
	thread_resume(th);
	run_to_end(0);
}
END_TEST

/* Nobody has handled it, and the process is detached: it goes on at the
 * instruction, which does nothing by then. */
START_TEST(a_trap_in_the_code_of_a_site_is_undone)
{
	static struct tptable tab;
	static const uint8_t nop = 0x90;
	struct event ev;

	pid_t pid = start("int3", "");
	await_ready();
	struct proc *p = attach(pid);
	resume_all(p);
	close(go_fd);
	ck_assert(run_until(EV_TRAP, &ev));
	tab.target = &p->space->target;
	tab.stub_trap = thread_regs(ev.thread)->r[UREG_PC] - sizeof(trap_insn);
	tab.tp.state = TP_GONE;
	thread_mend_sigtrap(ev.thread);
	thread_resume(ev.thread);
	await_state(pid, "t");
	p->space->tab = &tab;
	ck_assert_int_eq(tab.target->ops->write(
			     tab.target, tab.stub_trap, &nop, sizeof(nop)),
	    0);
	proc_detach(p, NULL, NULL);
	finishes(pid);
}
END_TEST

START_TEST(sigtrap_of_the_program_is_delivered)
{
	struct event ev;
	int n = 0;

	struct proc *p = launch("int3", "h");
	close(go_fd);
	thread_resume(p->threads.at[0]);
	while (run_until(EV_TRAP, &ev)) {
		siginfo_t si;
		ck_assert_int_eq(thread_siginfo(ev.thread, &si), 0);
		ck_assert_int_eq(si.si_code, SI_KERNEL);
		if (_i == 1)
			check_getpid(ev.thread);
		stop_signal(ev.thread, SIGTRAP);
		thread_resume(ev.thread);
		n++;
	}
	ck_assert_int_eq(n, 3);
	/* The handler has run. */
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 4 << 8);
}
END_TEST

/* Tracepoints left behind */

/* Put an int3 on probed(), which is where it is here, but for the bias. */
static void
arm(struct proc *p, struct tptable *tab)
{
	static const uint8_t int3 = 0xcc;
	struct maps own = { 0 }, its = { 0 };
	uint64_t addr = (uint64_t)(uintptr_t)&probed;

	ck_assert_int_eq(maps_read(getpid(), &own), 0);
	ck_assert_int_eq(maps_read(p->pid, &its), 0);
	const struct map *m = maps_at(&own, addr);
	vec_foreach(i, &its.list)
		if (i->inode == m->inode && i->offset == m->offset)
			addr = addr - m->start + i->start;
	maps_fini(&own);
	maps_fini(&its);

	*tab = (struct tptable){ .target = &p->space->target,
		.tp = { .addr = addr, .state = TP_TRAP } };
	space_stop(p->space);
	struct target *t = &p->space->target;
	ck_assert_int_eq(t->ops->read(t, addr, &tab->tp.saved, 1), 0);
	ck_assert_uint_ne(tab->tp.saved, int3);
	ck_assert_int_eq(t->ops->write(t, addr, &int3, 1), 0);
	p->space->tab = tab;
	uint8_t byte;
	reader_read(&p->space->mem, addr, &byte, 1);
	ck_assert_uint_eq(byte, int3);
	reader_read(&p->space->text, addr, &byte, 1);
	ck_assert_uint_eq(byte, tab->tp.saved);
	space_resume(p->space);
}

static void
restore(void *ctx, struct proc *p)
{
	tracepoint_restore_all(p->space->tab);
}

START_TEST(detach_undoes_a_hit_that_was_not_handled)
{
	struct tptable tab;
	pid_t pid = start("probed", "");

	await_ready();
	struct proc *p = attach(pid);
	struct thread *th = p->threads.at[1];
	pid_t tid = th->tid;
	resume_all(p);
	arm(p, &tab);
	await_state(tid, "t"); /* it has hit the int3 */
	proc_detach(p, restore, NULL);
	ck_assert_int_eq(status_of(tid).tracer, 0);
	finishes(pid);
}
END_TEST

/* Whatever a thread is doing: also with the SIGTRAP pending behind our stop. */
START_TEST(detach_harms_no_thread_that_hits)
{
	pid_t pid = start("probed", "");

	await_ready();
	for (int i = 0; i < 200; i++) {
		struct tptable tab;
		struct proc *p = attach(pid);
		struct space *sp = p->space;
		resume_all(p);
		arm(p, &tab);
		struct event ev;
		for (int n = 0; n < i % 4; n++) {
			ck_assert_int_eq(event_poll(su, &ev, true), 1);
			ck_assert_int_eq(ev.kind, EV_TRAP);
			/* Over it, as with the instruction restored. */
			struct uregs *regs = thread_regs(ev.thread);
			ck_assert_uint_eq(regs->r[UREG_RIP] - 1, tab.tp.addr);
			regs->r[UREG_RIP]--;
			thread_regs_dirty(ev.thread);
			thread_resume(ev.thread);
		}
		ck_assert_ptr_eq(sp, p->space);
		proc_detach(p, restore, NULL);
	}
	finishes(pid);
}
END_TEST

START_TEST(panic_lets_targets_live)
{
	pid_t pid = start("probed", "");

	await_ready();
	pid_t tracer = fork();
	if (tracer == 0) {
		struct tptable tab;
		struct event ev;
		freopen("/dev/null", "w", stderr);
		struct proc *p = attach(pid);
		panic_guard(su);
		resume_all(p);
		arm(p, &tab);
		if (_i > 0)
			event_poll(su, &ev, true); /* a hit in our hands */
		if (_i == 2)
			raise(SIGSEGV);
		base_panic("test");
	}
	int status;
	ck_assert_int_eq(waitpid(tracer, &status, 0), tracer);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), _i == 2 ? SIGSEGV : SIGABRT);
	ck_assert_int_eq(status_of(pid).tracer, 0);
	finishes(pid);
}
END_TEST

/* What the stop's user has changed is still to be written after a call, which
 * leaves the thread as the kernel has stopped it. */
START_TEST(registers_that_were_changed_are_written_after_a_call)
{
	struct proc *p = launch("siginfo", "");
	struct event ev;

	thread_resume(p->threads.at[0]);
	while (run_until(EV_SIGNAL, &ev)) {
		struct thread *th = ev.thread;
		uint64_t *pc = &thread_regs(th)->r[UREG_RIP], was = *pc;
		const uint64_t args[6] = { 0 };
		struct uregs regs;
		int64_t result;
		thread_regs_moved(th);
		ck_assert(th->regs.state != REGS_CHANGED);
		check_getpid(th);
		thread_regs_moved(th);
		ck_assert(th->regs.state != REGS_CHANGED);
		*pc = was - 1;
		ck_assert_int_eq(
		    remote_syscall(th, SYS_getpid, args, &result), 0);
		ck_assert_uint_eq(*pc, was - 1);
		ck_assert_int_eq(regs_fetch(th->tid, &regs), 0);
		ck_assert_uint_eq(regs.r[UREG_RIP], was);
		ck_assert(th->regs.state == REGS_CHANGED);
		*pc = was;
		thread_resume(th);
	}
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 0);
}
END_TEST

int
main(int argc, char **argv)
{
	tracee_main(argc, argv);

	Suite *s = suite_create("remote");
	TCase *tc = tcase_create("remote");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(
	    tc, remote_syscall_in_a_blocked_thread, 0, (int)ARRAY_SIZE(calls));
	tcase_add_test(tc, the_call_that_a_thread_sleeps_in_is_known);
	tcase_add_test(tc, remote_syscall_keeps_a_signal_in_delivery);
	tcase_add_test(tc, remote_syscall_keeps_the_order_of_signals);
	tcase_add_loop_test(tc, detach_keeps_the_order_of_signals, 0, 5);
	tcase_add_loop_test(
	    tc, detach_keeps_the_order_of_a_signal_that_was_sent_again, 0, 2);
	tcase_add_test(tc, remote_syscall_keeps_a_signal_that_is_pending);
	tcase_add_test(tc, the_frame_of_a_handler_that_returns_is_found);
	tcase_add_test(tc, remote_syscall_at_syscall_and_event_stops);
	tcase_add_test(tc, remote_syscall_during_a_group_stop);
	tcase_add_test(
	    tc, registers_that_were_changed_are_written_after_a_call);
	tcase_add_test(tc, remote_syscall_does_not_risk_a_filter);
	tcase_add_test(tc, remote_syscall_is_not_dispatched);
	tcase_add_test(tc, remote_syscall_at_a_filter_of_ours);
	tcase_add_test(tc, map_near_finds_room_in_reach);
	tcase_add_test(tc, mapping_changes_the_space);
	tcase_add_test(tc, map_near_can_be_made_to_fail);
	tcase_add_test(tc, caves_are_zeros_in_text);
	tcase_add_loop_test(tc, sigtrap_is_as_before_after_a_hit, 0,
	    (int)ARRAY_SIZE(trap_states));
	tcase_add_test(tc, sigtrap_that_has_met_a_hit_is_pending);
	tcase_add_loop_test(
	    tc, sigtraps_of_timers_are_pending_after_a_hit, 0, 8);
	tcase_add_test(tc, sigtrap_of_a_hit_is_seen_behind_other_signals);
	tcase_add_test(tc, hit_that_has_met_a_sigtrap_is_undone);
	tcase_add_loop_test(tc, signal_comes_instead_of_a_mended_hit, 0, 2);
	tcase_add_loop_test(tc, signals_come_instead_of_a_mended_hit, 0, 2);
	tcase_add_test(tc, a_trap_in_the_code_of_a_site_is_undone);
	tcase_add_loop_test(tc, sigtrap_of_the_program_is_delivered, 0, 2);
	tcase_add_test(tc, detach_undoes_a_hit_that_was_not_handled);
	tcase_add_test(tc, detach_harms_no_thread_that_hits);
	tcase_add_loop_test(tc, panic_lets_targets_live, 0, 3);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
