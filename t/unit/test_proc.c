/*
 * tracer: launch, seize, follow, stop and detach, on live processes.
 */
#include <sys/time.h>

#include "t/unit/tracee.h"

/* Launching */

START_TEST(launch_runs_to_completion)
{
	struct proc *p = launch("exit", "7");

	ck_assert(thread_stopped(p->threads.at[0]));
	thread_resume(p->threads.at[0]);
	ck_assert(p->role.launch == LAUNCH_RUNS);
	run_to_end(7);
	ck_assert_uint_eq(seen_events.len, 2);
	ck_assert_int_eq(seen_events.at[0].kind, EV_EXIT);
	ck_assert_int_eq(seen_events.at[0].status, 7 << 8);
	ck_assert_int_eq(seen_events.at[1].kind, EV_GONE);
}
END_TEST

START_TEST(launch_says_why_it_failed)
{
	static const char *const none[] = { "no-such-program-here", NULL };
	static const char *const dir[] = { "/", NULL };
	struct proc *p;

	ck_assert_int_eq(
	    proc_launch_file(su, NULL, (char *const *)none, NULL, &p, &err),
	    -ENOENT);
	ck_assert_str_eq(err.text,
	    "failed to execute no-such-program-here: "
	    "No such file or directory");
	ck_assert_int_eq(
	    proc_launch_file(su, NULL, (char *const *)dir, NULL, &p, &err),
	    -EACCES);
	ck_assert_ptr_null(super_next(su, NULL));
}
END_TEST

START_TEST(launch_runs_scripts)
{
	char path[] = "/tmp/dtrap-test-XXXXXX";
	int fd = mkstemp(path);
	const char *const args[] = { path, NULL };
	struct proc *p;

	ck_assert_int_eq(write(fd, "exit 6\n", 7), 7);
	fchmod(fd, 0700);
	close(fd);
	int r = proc_launch_file(su, NULL, (char *const *)args, NULL, &p, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	thread_resume(p->threads.at[0]);
	run_to_end(6);
	unlink(path);
}
END_TEST

/* exit(0) and its ELF header, as a program of 32 bits. */
static const char *
write_elf32(void)
{
	static char path[] = "/tmp/dtrap-test-XXXXXX";
	struct {
		Elf32_Ehdr e;
		Elf32_Phdr p;
		uint8_t code[12];
	} file = {
		.e = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
			   ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
		    .e_type = ET_EXEC,
		    .e_machine = EM_386,
		    .e_version = EV_CURRENT,
		    .e_entry =
			0x8048000 + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
		    .e_phoff = sizeof(Elf32_Ehdr),
		    .e_ehsize = sizeof(Elf32_Ehdr),
		    .e_phentsize = sizeof(Elf32_Phdr),
		    .e_phnum = 1 },
		.p = { .p_type = PT_LOAD,
		    .p_vaddr = 0x8048000,
		    .p_filesz = sizeof(file),
		    .p_memsz = sizeof(file),
		    .p_flags = PF_R | PF_X,
		    .p_align = 4096 },
		/* xor ebx,ebx; xor eax,eax; inc eax; int 0x80 */
		.code = { 0x31, 0xdb, 0x31, 0xc0, 0x40, 0xcd, 0x80 },
	};
	int fd = mkstemp(path);

	ck_assert_int_eq(write(fd, &file, sizeof(file)), sizeof(file));
	fchmod(fd, 0700);
	close(fd);
	return path;
}

START_TEST(launch_refuses_32_bit_programs)
{
	const char *args[] = { write_elf32(), NULL };
	struct proc *p;
	int status;

	/* A kernel without them cannot tell us anything either. */
	pid_t pid = fork();
	if (pid == 0) {
		execv(args[0], (char *const *)args);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	if (status == 0) {
		int r = proc_launch_file(
		    su, NULL, (char *const *)args, NULL, &p, &err);
		ck_assert_int_eq(r, -ENOEXEC);
		ck_assert_ptr_nonnull(strstr(err.text, "32-bit program"));
		ck_assert_ptr_null(super_next(su, NULL));
		ck_assert_int_eq(waitpid(-1, &status, WNOHANG), -1);
	}
	unlink(args[0]);
}
END_TEST

START_TEST(launch_hands_on_the_signals_of_the_start)
{
	sigset_t mask;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, SIG_DFL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	super_destroy(su);
	su = super_create();

	signal(SIGPIPE, SIG_DFL);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGINT, on_any);
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	struct proc *p = launch("inherited", "");
	thread_resume(p->threads.at[0]);
	run_to_end(0);
}
END_TEST

START_TEST(launched_program_is_let_go)
{
	struct proc *p = launch("ready", "");
	pid_t pid = p->pid;

	proc_detach(p, NULL, NULL);
	await_ready();
	ck_assert_int_eq(status_of(pid).tracer, 0);
	finishes(pid);
}
END_TEST

/* Signals and job control */

START_TEST(signals_keep_their_siginfo)
{
	struct proc *p = launch("siginfo", "");
	struct event ev;
	siginfo_t si;
	int n = 0;

	thread_resume(p->threads.at[0]);
	while (run_until(EV_SIGNAL, &ev)) {
		ck_assert_int_eq(ev.sig, SIGUSR1);
		ck_assert_int_eq(thread_siginfo(ev.thread, &si), 0);
		ck_assert_int_eq(si.si_value.sival_int, 42);
		thread_resume(ev.thread);
		n++;
	}
	ck_assert_int_eq(n, 3);
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 0);
}
END_TEST

START_TEST(stop_and_continue_work_as_without_us)
{
	struct proc *p = launch("stop", "");
	pid_t pid = p->pid;
	struct event ev;

	thread_resume(p->threads.at[0]);
	ck_assert(run_until(EV_SIGNAL, &ev));
	ck_assert_int_eq(ev.sig, SIGSTOP);
	thread_resume(ev.thread);
	ck_assert(run_until(EV_GROUP_STOP, &ev));
	ck_assert_int_eq(ev.sig, SIGSTOP);
	thread_resume(ev.thread);

	/* Stopping the space twice does not start it, and says nothing. */
	for (int i = 0; i < 2; i++) {
		space_stop(p->space);
		ck_assert_ptr_nonnull(thread_regs(p->threads.at[0]));
		space_resume(p->space);
	}
	ck_assert_int_eq(event_poll(su, &ev, false), 0);
	ck_assert_int_eq(p->threads.at[0]->stop.state, TH_LISTENING);

	kill(pid, SIGCONT);
	ck_assert(run_until(EV_SIGNAL, &ev));
	ck_assert_int_eq(ev.sig, SIGCONT);
	thread_resume(ev.thread);
	run_to_end(0);
}
END_TEST

START_TEST(detach_leaves_a_stopped_process_stopped)
{
	struct proc *p = launch("stop", "");
	pid_t pid = p->pid;
	struct event ev;
	int status;

	thread_resume(p->threads.at[0]);
	ck_assert(run_until(EV_GROUP_STOP, &ev));
	if (_i == 1)
		thread_resume(ev.thread);
	proc_detach(p, NULL, NULL);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	await_state(pid, "T");
	kill(pid, SIGCONT);
	finishes(pid);
}
END_TEST

START_TEST(attach_leaves_a_stopped_process_stopped)
{
	pid_t pid = start("stop", "");
	struct event ev;
	int status;

	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	struct proc *p = attach(pid);
	ck_assert_int_eq(p->threads.at[0]->stop.kind, EV_GROUP_STOP);
	resume_all(p);
	ck_assert_int_eq(event_poll(su, &ev, false), 0);
	ck_assert_int_eq(p->threads.at[0]->stop.state, TH_LISTENING);
	proc_detach(p, NULL, NULL);
	await_state(pid, "T");
	ck_assert_int_eq(status_of(pid).tracer, 0);
	kill(pid, SIGCONT);
	finishes(pid);
}
END_TEST

START_TEST(detach_delivers_a_pending_signal)
{
	pid_t pid = start("blocked", "sigsuspend");

	await_ready();
	await_state(pid, "S");
	struct proc *p = attach(pid);
	resume_all(p);
	kill(pid, SIGUSR1);
	await_state(pid, "t");
	proc_detach(p, NULL, NULL); /* the event is still in the kernel */
	finishes(pid);
}
END_TEST

/* Attaching */

static void
await_spinning(void)
{
	unsigned long before[8];

	for (int i = 0; i < 8; i++)
		before[i] = spins[i];
	for (int i = 0; i < 8; i++)
		while (spins[i] == before[i])
			sched_yield();
}

/* Blocked signals of the process, and of the thread. */
START_TEST(pending_signals_are_seen)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid_t pid = start("ready", "");
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	await_ready();
	struct proc *p = attach(pid);
	const struct thread *th = p->threads.at[0];
	ck_assert(!thread_has_pending(th, SIGUSR1));
	kill(pid, SIGUSR1);
	ck_assert(thread_has_pending(th, SIGUSR1));
	ck_assert(!thread_has_pending(th, SIGUSR2));
	syscall(SYS_tgkill, pid, pid, SIGUSR2);
	ck_assert(thread_has_pending(th, SIGUSR2));
	resume_all(p);
	proc_detach(p, NULL, NULL);
	finishes(pid);
}
END_TEST

START_TEST(attach_stop_resume_detach_many_threads)
{
	int fd = memfd_create("spins", 0);
	char arg[16];

	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	spins = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	snprintf(arg, sizeof(arg), "%d", fd);
	pid_t pid = start("spin", arg);
	await_ready();
	struct proc *p = attach(pid);
	ck_assert_uint_eq(p->threads.len, 9);
	ck_assert_str_ne(p->comm, "");
	vec_foreach(th, &p->threads)
		ck_assert(thread_stopped(*th));
	unsigned long before = spins[3];
	ck_assert_uint_eq(spins[3], before);
	resume_all(p);
	for (int i = 0; i < 20; i++) {
		space_stop(p->space);
		space_stop(p->space);
		vec_foreach(th, &p->threads)
			ck_assert_ptr_nonnull(thread_regs(*th));
		space_resume(p->space);
		vec_foreach(th, &p->threads)
			ck_assert(thread_stopped(*th));
		space_resume(p->space);
		vec_foreach(th, &p->threads)
			ck_assert(thread_runs(*th));
	}
	await_spinning();
	proc_detach(p, NULL, NULL);
	ck_assert_int_eq(status_of(pid).tracer, 0);
	await_spinning();
	finishes(pid);
}
END_TEST

START_TEST(attach_while_threads_come_and_go)
{
	pid_t pid = start("churn", "");
	struct event ev;

	await_ready();
	for (int i = 0; i < 10; i++) {
		struct proc *p = attach(pid);
		vec_foreach(th, &p->threads)
			ck_assert(!thread_runs(*th));
		resume_all(p);
		for (int n = 0; n < 60; n++) {
			ck_assert_int_eq(event_poll(su, &ev, true), 1);
			if (ev.kind == EV_CLONE)
				ck_assert_ptr_eq(ev.child->proc, p);
			if (n % 20 == 10) {
				space_stop(p->space);
				space_resume(p->space);
			}
			thread_resume(ev.thread);
		}
		proc_detach(p, NULL, NULL);
		ck_assert_int_eq(status_of(pid).tracer, 0);
	}
	finishes(pid);
}
END_TEST

START_TEST(attach_without_a_leader)
{
	pid_t pid = start("headless", "");

	await_ready();
	await_state(pid, "Z");
	struct proc *p = attach(pid);
	ck_assert_uint_eq(p->threads.len, 1);
	ck_assert_int_ne(p->threads.at[0]->tid, pid);
	int64_t r;
	const uint64_t args[6] = { 0 };
	ck_assert_int_eq(
	    remote_syscall(p->threads.at[0], SYS_getpid, args, &r), 0);
	ck_assert_int_eq(r, pid);
	resume_all(p);
	proc_detach(p, NULL, NULL);
	finishes(pid);
}
END_TEST

START_TEST(attach_by_thread_means_its_process)
{
	int fd = memfd_create("spins", 0);
	char arg[16];
	struct pids tasks = { 0 };

	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	snprintf(arg, sizeof(arg), "%d", fd);
	pid_t pid = start("spin", arg);
	await_ready();
	ck_assert_int_eq(procfs_tasks(pid, &tasks), 0);
	struct proc *p = attach(tasks.list.at[4]);
	vec_fini(&tasks.list);
	ck_assert_int_eq(p->pid, pid);
	ck_assert_int_eq(proc_attach(su, pid, &p, &err), -EBUSY);
	proc_detach(super_proc(su, pid), NULL, NULL);
	finishes(pid);
}
END_TEST

START_TEST(attach_says_why_it_failed)
{
	struct proc *p;

	ck_assert_int_eq(proc_attach(su, 0, &p, &err), -ESRCH);
	ck_assert_int_eq(proc_attach(su, 0x3ffffff, &p, &err), -ESRCH);
	ck_assert_int_eq(proc_attach(su, getpid(), &p, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "itself"));
	if (procfs_state(2) != '\0' && !status_of(2).has_memory) {
		ck_assert_int_eq(proc_attach(su, 2, &p, &err), -EPERM);
		ck_assert_ptr_nonnull(strstr(err.text, "kernel thread"));
	}

	pid_t zombie = start("exit", "0");
	await_state(zombie, "Z");
	ck_assert_int_eq(proc_attach(su, zombie, &p, &err), -ESRCH);
	ck_assert_ptr_nonnull(strstr(err.text, "zombie"));
	waitpid(zombie, NULL, 0);

	/* Traced by somebody else. */
	pid_t pid = start("ready", "");
	await_ready();
	int done[2], traced[2];
	ck_assert_int_eq(pipe(done), 0);
	ck_assert_int_eq(pipe(traced), 0);
	pid_t other = fork();
	if (other == 0) {
		char c;
		close(done[1]);
		long r = ptrace(PTRACE_SEIZE, pid, 0, 0);
		if (write(traced[1], r == 0 ? "y" : "n", 1) != 1)
			_exit(1);
		_exit(read(done[0], &c, 1) == 0 ? 0 : 1);
	}
	char c = 0;
	ck_assert_int_eq(read(traced[0], &c, 1), 1);
	ck_assert_int_eq(c, 'y');
	ck_assert_int_eq(proc_attach(su, pid, &p, &err), -EBUSY);
	char want[32];
	snprintf(want, sizeof(want), "(pid %d)", (int)other);
	ck_assert_ptr_nonnull(strstr(err.text, want));
	close(done[1]);
	waitpid(other, NULL, 0);
	ck_assert_ptr_null(super_next(su, NULL));
	finishes(pid);
}
END_TEST

START_TEST(attach_needs_the_same_user)
{
	if (getuid() != 0)
		return;
	pid_t pid = start("ready", "");
	await_ready();
	pid_t other = fork();
	if (other == 0) {
		struct proc *p;
		if (setgid(65534) != 0 || setuid(65534) != 0)
			_exit(2);
		int r = proc_attach(su, pid, &p, &err);
		_exit(r == -EPERM && strstr(err.text, "belongs to user 0") ? 0 :
									     1);
	}
	int status;
	waitpid(other, &status, 0);
	ck_assert_int_eq(status, 0);
	finishes(pid);
}
END_TEST

START_TEST(a_process_that_is_killed_is_gone)
{
	pid_t pid = start("ready", "");
	struct event ev;

	await_ready();
	struct proc *p = attach(pid);
	struct thread *th = p->threads.at[0];
	ck_assert_ptr_nonnull(thread_regs(th));
	kill(pid, SIGKILL);
	thread_resume(th);
	while (next(&ev))
		thread_resume(ev.thread);
	ck_assert_uint_ge(seen_events.len, 1);
	struct event *last = &seen_events.at[seen_events.len - 1];
	ck_assert_int_eq(last->kind, EV_GONE);
	ck_assert_int_eq(last->status, SIGKILL);
}
END_TEST

/* Families */

static void
expect(size_t *i, enum event_kind kind, pid_t tid)
{
	/* SIGCHLD and syscalls come between. */
	while (*i < seen_events.len &&
	    !(seen_events.at[*i].kind == kind &&
		(tid == 0 || seen_tids.at[*i] == tid)))
		++*i;
	ck_assert_msg(
	    *i < seen_events.len, "no event %d of %d", (int)kind, (int)tid);
	++*i;
}

START_TEST(children_are_followed_in_order)
{
	struct proc *p = launch("family", "");
	struct space *space = p->space;
	pid_t pid = p->pid, forked = 0, vforked = 0;
	struct event ev;

	thread_resume(p->threads.at[0]);
	while (next(&ev)) {
		struct proc *child = ev.child != NULL ? ev.child->proc : NULL;
		if (ev.kind == EV_FORK) {
			forked = child->pid;
			ck_assert_ptr_ne(child->space, space);
			ck_assert_int_ge(child->space->mem_fd, 0);
			ck_assert_int_eq(child->parent, pid);
		} else if (ev.kind == EV_VFORK) {
			vforked = child->pid;
			ck_assert_ptr_eq(child->space, space);
			ck_assert_uint_eq(space->refs, 2);
			ck_assert(child->vfork_child);
		} else if (ev.kind == EV_EXEC) {
			ck_assert_ptr_ne(ev.thread->proc->space, space);
			ck_assert(!ev.thread->proc->vfork_child);
			if (ev.thread->tid == vforked)
				ck_assert_uint_eq(space->refs, 1);
		}
		thread_resume(ev.thread);
	}
	size_t i = 0;
	expect(&i, EV_FORK, pid);
	expect(&i, EV_STOP, forked);
	expect(&i, EV_EXIT, forked);
	expect(&i, EV_GONE, forked);
	expect(&i, EV_VFORK, pid);
	expect(&i, EV_STOP, vforked);
	expect(&i, EV_EXEC, vforked);
	expect(&i, EV_EXIT, vforked);
	expect(&i, EV_EXEC, pid);
	expect(&i, EV_EXIT, pid);
	ck_assert_int_eq(seen_events.at[i - 1].status, 5 << 8);
	expect(&i, EV_GONE, pid);
	ck_assert_uint_eq(i, seen_events.len);
}
END_TEST

static int ends[3];

static void
count_thread(void *part)
{
	struct thread *th = *(struct thread **)part;

	ck_assert_ptr_null(super_thread(su, th->tid));
	ends[0]++;
}

static void
count_proc(void *part)
{
	ck_assert_ptr_null(super_proc(su, *(pid_t *)part));
	ends[1]++;
}

static void
count_space(void *ctx, struct space *sp)
{
	ck_assert_ptr_eq(ctx, ends);
	ck_assert_uint_eq(sp->refs, 0);
	ends[2]++;
}

START_TEST(parts_and_spaces_end_once)
{
	static const struct part in_thread = { .size = sizeof(struct thread *),
		.end = count_thread };
	static const struct part in_proc = { .size = sizeof(pid_t),
		.end = count_proc };
	static const struct super_hooks hooks = { .space_end = count_space };
	struct event ev;
	struct proc *p = launch("family", "");

	super_set_hooks(su, &hooks, ends);
	thread_resume(p->threads.at[0]);
	while (next(&ev)) {
		p = ev.thread->proc;
		*(struct thread **)part_of(&ev.thread->parts, &in_thread) =
		    ev.thread;
		*(pid_t *)part_of(&p->parts, &in_proc) = p->pid;
		thread_resume(ev.thread);
	}
	/* The last are freed at the poll that finds nobody left. */
	ck_assert_int_eq(ends[0], 3);
	ck_assert_int_eq(ends[1], 3);
	/* One of each program that was run, and the copy of a fork. */
	ck_assert_int_eq(ends[2], 4);
}
END_TEST

/* Parts of a process that forks: one that its child has, and one that is not for
 * it. */
START_TEST(a_fork_has_what_is_inherited)
{
	static const struct part given = { .size = sizeof(int),
		.inherited = true };
	static const struct part kept = { .size = sizeof(int) };
	struct event ev;
	struct proc *p = launch("family", "");
	struct thread *th = p->threads.at[0];
	unsigned forks = 0;

	ck_assert_ptr_null(part_had(&p->parts, &given));
	*(int *)part_of(&p->parts, &given) = 1;
	*(int *)part_of(&th->parts, &given) = 2;
	*(int *)part_of(&p->parts, &kept) = 3;
	*(int *)part_of(&th->parts, &kept) = 4;
	ck_assert_int_eq(*(int *)part_had(&p->parts, &given), 1);
	ck_assert_int_eq(*(int *)part_of(&p->parts, &kept), 3);
	thread_resume(th);
	while (next(&ev)) {
		struct thread *child = ev.child;
		if (child != NULL && child->proc != p && ev.thread == th) {
			forks++;
			ck_assert_int_eq(
			    *(int *)part_had(&child->proc->parts, &given), 1);
			ck_assert_int_eq(
			    *(int *)part_had(&child->parts, &given), 2);
			ck_assert_ptr_null(
			    part_had(&child->proc->parts, &kept));
			ck_assert_ptr_null(part_had(&child->parts, &kept));
		}
		thread_resume(ev.thread);
	}
	ck_assert_uint_gt(forks, 0);
}
END_TEST

/* By a call that dtrap has not seen: nobody watches the program's calls here. */
START_TEST(what_a_new_handler_blocks_is_learnt)
{
	struct proc *p = launch("siginfo", "");
	struct thread *th = p->threads.at[0];
	const uint64_t usr1 = SIGBIT(SIGUSR1);
	struct event ev;

	p->space->masks_watched = true;
	sigtrap_begin(p->space);
	thread_resume(th);
	ck_assert(run_until(EV_SIGNAL, &ev));
	ck_assert_uint_eq(p->trap.handler_known & usr1, 0);
	ck_assert(!sigtrap_delivered(th));
	sigtrap_learn(th);
	ck_assert_uint_eq(p->trap.handler_known & usr1, usr1);
	ck_assert_uint_eq(p->trap.handler_mask[SIGUSR1 - 1], usr1);
	ck_assert_uint_eq(th->mask.now & usr1, usr1);
	thread_resume(th);
	/* Without a handler there is nothing to learn. */
	p->trap.handler_known = 0;
	ck_assert(run_until(EV_SIGNAL, &ev));
	stop_signal(th, SIGURG);
	sigtrap_learn(th);
	ck_assert_uint_eq(p->trap.handler_known, 0);
	ck_assert_int_eq(th->stop.kind, EV_SIGNAL);
}
END_TEST

START_TEST(exec_by_another_thread_leaves_the_leader)
{
	struct proc *p = launch("thread_exec", "");
	pid_t pid = p->pid, caller = 0;
	struct event ev;

	thread_resume(p->threads.at[0]);
	while (next(&ev)) {
		if (ev.kind == EV_CLONE)
			caller = ev.child->tid;
		if (ev.kind == EV_EXEC) {
			ck_assert_int_eq(ev.thread->tid, pid);
			ck_assert_uint_eq(p->threads.len, 1);
			ck_assert_ptr_eq(p->threads.at[0], ev.thread);
			ck_assert_ptr_null(super_thread(su, caller));
		}
		thread_resume(ev.thread);
	}
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 5 << 8);
}
END_TEST

/* While the stop of the leader is handled (0), or before it is (1).  What is done for
 * that stop must not be done to the new program. */
START_TEST(exec_by_another_thread_ends_the_stop_of_the_leader)
{
	struct proc *p = launch("overtaken", "");
	struct thread *th = p->threads.at[0];
	siginfo_t si = { .si_signo = SIGUSR1 };
	static const volatile int never;
	struct uregs regs;
	struct event ev;
	int status = 0;
	long r;

	thread_resume(th);
	ck_assert(run_until(EV_TRAP, &ev));
	ck_assert_ptr_eq(ev.thread, th);
	ck_assert_ptr_nonnull(thread_regs(th));
	while (!thread_runs(p->threads.at[1])) {
		ck_assert(next(&ev));
		thread_resume(ev.thread);
	}
	if (_i == 1)
		event_push(
		    su, &(struct event){ .kind = EV_TRAP, .thread = th });
	/* As a call in the thread: it is continued, and has been killed. */
	thread_take_stop(th);
	close(go_fd);
	do
		r = wait_peek(th->tid, &status, __WALL | WNOHANG, &never);
	while (r != th->tid || status >> 16 == 0);
	if (status >> 16 == PTRACE_EVENT_EXIT)
		ck_assert_int_eq(tid_go(th->tid, GO_FREE, 0), 0);
	while (th->stop.kind != EV_EXEC)
		event_take(su);
	if (_i == 1) {
		ck_assert(next(&ev));
		ck_assert_int_eq(ev.kind, EV_TRAP);
	}
	ck_assert(thread_stopped(th) && !thread_at_hand(th));
	ck_assert_ptr_null(thread_regs(th));
	regs = th->regs.user;
	th->regs.user.r[UREG_PC] = 16;
	thread_regs_dirty(th);
	thread_regs_moved(th);
	stop_signal(th, SIGKILL);
	thread_fault(th, SIGSEGV, SEGV_MAPERR, 16);
	ck_assert_int_eq(thread_siginfo(th, &si), -ESRCH);
	ck_assert_int_eq(thread_set_siginfo(th, &si), -ESRCH);
	ck_assert_int_eq(thread_set_sigmask(th, ~0ULL), -ESRCH);
	ck_assert_int_eq(remote_go_on(th, &regs, ~0ULL), -EBUSY);
	thread_mend_sigtrap(th);
	thread_resume(th);
	ck_assert(run_until(EV_EXEC, &ev));
	ck_assert_ptr_eq(ev.thread, th);
	ck_assert_ptr_nonnull(thread_regs(th));
	ck_assert_uint_ne(thread_regs(th)->r[UREG_PC], 16);
	thread_resume(th);
	run_to_end(5);
}
END_TEST

/* One that had ended before the attach. */
START_TEST(exec_by_another_thread_brings_the_leader_back)
{
	pid_t pid = start("headless", "exec");
	struct event ev;
	unsigned execs = 0;

	await_ready();
	await_state(pid, "Z");
	struct proc *p = attach(pid);
	pid_t caller = p->threads.at[0]->tid;
	resume_all(p);
	close(go_fd);
	while (next(&ev)) {
		if (ev.kind == EV_EXEC) {
			ck_assert_int_eq(ev.thread->tid, pid);
			ck_assert_ptr_eq(super_thread(su, pid), ev.thread);
			ck_assert_ptr_null(super_thread(su, caller));
			execs++;
		}
		thread_resume(ev.thread);
	}
	ck_assert_uint_eq(execs, 1);
	ck_assert_int_eq(seen_events.at[seen_events.len - 1].status, 5 << 8);
}
END_TEST

START_TEST(vfork_parent_is_let_go_when_it_wakes)
{
	pid_t pid = start("vfork", "");

	await_ready();
	await_state(pid, "D");
	struct proc *p = attach(pid);
	ck_assert(p->threads.at[0]->stop.asleep);
	/* The child was found: it is in the same memory. */
	ck_assert_uint_eq(su->procs.len, 2);
	ck_assert_uint_eq(p->space->refs, 2);
	resume_all(p);
	space_stop(p->space);
	ck_assert_ptr_null(thread_regs(p->threads.at[0]));
	uint64_t pc = 0;
	ck_assert_int_eq(
	    p->space->target.ops->thread_pc(&p->space->target, 0, &pc), 0);
	ck_assert_uint_ne(pc, 0);
	space_resume(p->space);
	if (_i == 0) {
		while (su->procs.len > 0)
			proc_detach(su->procs.at[0], NULL, NULL);
		finishes(pid);
		return;
	}
	close(go_fd);
	run_to_end(0);
}
END_TEST

/* Waiting */

static void
on_interrupt(int sig, siginfo_t *si, void *uc)
{
	event_interrupt(uc);
}

/* One that has ended has no status as long as other threads live. */
START_TEST(a_leader_that_ends_is_not_waited_for)
{
	struct sigaction sa = { .sa_sigaction = on_interrupt,
		.sa_flags = SA_SIGINFO | SA_RESTART };
	const struct itimerval often = { { 0, 10000 }, { 0, 10000 } },
			       off = { 0 };
	struct proc *p = launch("headless", "");
	struct thread *th = p->threads.at[0];
	struct event ev;
	int status;

	sigaction(SIGALRM, &sa, NULL);
	thread_resume(th);
	while (next(&ev) && (ev.kind != EV_EXIT || ev.thread != th))
		thread_resume(ev.thread);
	ck_assert_int_eq(ptrace(PTRACE_CONT, th->tid, NULL, NULL), 0);
	stop_lend(th);
	setitimer(ITIMER_REAL, &often, NULL);
	ck_assert_int_eq(event_wait_thread(th, &status), -ESRCH);
	setitimer(ITIMER_REAL, &off, NULL);
	/* The loop hears of the timer all the same. */
	ck_assert_int_eq(event_poll(su, &ev, true), -EINTR);
	close(go_fd);
	run_to_end(0);
}
END_TEST

extern const char wait_begin[], wait_end[];

START_TEST(a_signal_ends_the_wait)
{
	struct sigaction sa = { .sa_sigaction = on_interrupt,
		.sa_flags = SA_SIGINFO | SA_RESTART };
	struct proc *p = launch("ready", "");
	struct event ev;

	sigaction(SIGUSR1, &sa, NULL);
	thread_resume(p->threads.at[0]);
	for (int i = 0; i < 2; i++) {
		raise(SIGUSR1); /* before the wait */
		ck_assert_int_eq(event_poll(su, &ev, true), -EINTR);
		ck_assert_int_eq(ev.kind, EV_NONE);
	}
	/* While it blocks: another process waits until it sleeps. */
	pid_t self = getpid(), other = fork();
	if (other == 0) {
		await_state(self, "S");
		kill(self, SIGUSR1);
		_exit(0);
	}
	ck_assert_int_eq(event_poll(su, &ev, true), -EINTR);
	/* Its end is no event of ours, and not lost. */
	int status = -1;
	while (event_plain_child(su, other, &status) == 0 &&
	    waitpid(other, &status, WNOHANG) == 0)
		sched_yield();
	ck_assert_int_eq(status, 0);
	close(go_fd);
	run_to_end(0);

	/* Between looking and waiting. */
	ucontext_t uc;
	memset(&uc, 0, sizeof(uc));
	greg_t *gregs = uc.uc_mcontext.gregs;
	for (const char *pc = wait_begin - 1; pc <= wait_end; pc++) {
		bool inside = pc >= wait_begin && pc < wait_end;
		gregs[REG_RIP] = (greg_t)pc;
		gregs[REG_RAX] = 61;
		wait_skip(&uc);
		ck_assert_int_eq(
		    gregs[REG_RIP], (greg_t)(inside ? wait_end : pc));
		ck_assert_int_eq(gregs[REG_RAX], inside ? -EINTR : 61);
	}
}
END_TEST

int
main(int argc, char **argv)
{
	tracee_main(argc, argv);

	Suite *s = suite_create("proc");
	TCase *tc = tcase_create("proc");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, launch_runs_to_completion);
	tcase_add_test(tc, launch_says_why_it_failed);
	tcase_add_test(tc, launch_runs_scripts);
	tcase_add_test(tc, launch_refuses_32_bit_programs);
	tcase_add_test(tc, launch_hands_on_the_signals_of_the_start);
	tcase_add_test(tc, launched_program_is_let_go);
	tcase_add_test(tc, signals_keep_their_siginfo);
	tcase_add_test(tc, stop_and_continue_work_as_without_us);
	tcase_add_loop_test(tc, detach_leaves_a_stopped_process_stopped, 0, 2);
	tcase_add_test(tc, attach_leaves_a_stopped_process_stopped);
	tcase_add_test(tc, detach_delivers_a_pending_signal);
	tcase_add_test(tc, pending_signals_are_seen);
	tcase_add_test(tc, attach_stop_resume_detach_many_threads);
	tcase_add_test(tc, attach_while_threads_come_and_go);
	tcase_add_test(tc, attach_without_a_leader);
	tcase_add_test(tc, attach_by_thread_means_its_process);
	tcase_add_test(tc, attach_says_why_it_failed);
	tcase_add_test(tc, attach_needs_the_same_user);
	tcase_add_test(tc, a_process_that_is_killed_is_gone);
	tcase_add_test(tc, children_are_followed_in_order);
	tcase_add_test(tc, parts_and_spaces_end_once);
	tcase_add_test(tc, a_fork_has_what_is_inherited);
	tcase_add_test(tc, what_a_new_handler_blocks_is_learnt);
	tcase_add_test(tc, exec_by_another_thread_leaves_the_leader);
	tcase_add_loop_test(
	    tc, exec_by_another_thread_ends_the_stop_of_the_leader, 0, 2);
	tcase_add_test(tc, exec_by_another_thread_brings_the_leader_back);
	tcase_add_loop_test(tc, vfork_parent_is_let_go_when_it_wakes, 0, 2);
	tcase_add_test(tc, a_leader_that_ends_is_not_waited_for);
	tcase_add_test(tc, a_signal_ends_the_wait);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
