/*
 * tracer/ptrace/launch: a process that shares the memory of the one attached to,
 * and executes a program at some moment of the attach.  What the kernel is asked
 * meanwhile goes through the test, on live processes.
 */
#include <dlfcn.h>
#include <stdarg.h>

#include "t/unit/tracee.h"

enum moment { NEVER, FOUND, SEIZED };

static enum moment moment;
static pid_t parent, child;
static bool executed;

static void
let_execute(void)
{
	executed = true;
	ck_assert_int_eq(write(go_fd, "", 1), 1);
}

/* The child executes its program once it has been found. */
long
syscall(long n, ...)
{
	long (*real)(long, ...) = dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list ap;
	char c;

	va_start(ap, n);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	long r = real(n, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (n == SYS_kcmp && r == 0 && !executed && (pid_t)a[1] != parent) {
		child = (pid_t)a[1];
		if (moment == FOUND) {
			let_execute();
			ck_assert_int_eq(read(ready_fd, &c, 1), 1);
		}
	}
	return r;
}

/* The child executes its program before it is told to stop. */
long
ptrace(enum __ptrace_request what, ...)
{
	long (*real)(enum __ptrace_request, ...) = dlsym(RTLD_NEXT, "ptrace");
	va_list ap;

	va_start(ap, what);
	pid_t tid = va_arg(ap, pid_t);
	void *addr = va_arg(ap, void *), *data = va_arg(ap, void *);
	va_end(ap);
	if (what == PTRACE_INTERRUPT && tid == child && moment == SEIZED &&
	    !executed) {
		let_execute();
		await_state(tid, "t");
	}
	return real(what, tid, addr, data);
}

/* Where the parent's program lies, which the child's has elsewhere. */
static uint64_t
first_mapping(pid_t pid)
{
	struct maps maps = { 0 };

	ck_assert_int_eq(maps_read(pid, &maps), 0);
	uint64_t start = maps.list.at[0].start;
	maps_fini(&maps);
	return start;
}

static struct proc *
attach_at(enum moment when)
{
	parent = start("vfork", "exec");
	await_ready();
	await_state(parent, "D");
	moment = when;
	struct proc *p = attach(parent);
	moment = NEVER;
	ck_assert_int_eq(executed, when != NEVER);
	return p;
}

static void
can_read(struct proc *p)
{
	uint32_t magic = 0;

	ck_assert_int_eq(reader_read(&p->space->mem, first_mapping(p->pid),
			     &magic, sizeof(magic)),
	    0);
	ck_assert_int_eq(memcmp(&magic, ELFMAG, SELFMAG), 0);
}

START_TEST(one_that_has_executed_a_program_is_let_go)
{
	struct proc *p = attach_at(FOUND);

	ck_assert_ptr_null(super_proc(su, child));
	ck_assert_uint_eq(p->space->procs.len, 1);
	can_read(p);
	close(go_fd);
	resume_all(p);
	run_to_end(0);
}
END_TEST

START_TEST(one_that_executes_a_program_keeps_its_own_memory)
{
	struct proc *p = attach_at(SEIZED);
	struct event ev;

	ck_assert_ptr_nonnull(super_proc(su, child));
	can_read(p);
	resume_all(p);
	ck_assert(run_until(EV_EXEC, &ev));
	ck_assert_int_eq(ev.thread->tid, child);
	ck_assert_ptr_ne(ev.thread->proc->space, p->space);
	ck_assert_uint_eq(p->space->procs.len, 1);
	can_read(p);
	can_read(ev.thread->proc);
	thread_resume(ev.thread);
	close(go_fd);
	run_to_end(0);
}
END_TEST

int
main(int argc, char **argv)
{
	tracee_main(argc, argv);
	Suite *s = suite_create("sharers");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 60);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, one_that_has_executed_a_program_is_let_go);
	tcase_add_test(tc, one_that_executes_a_program_keeps_its_own_memory);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
