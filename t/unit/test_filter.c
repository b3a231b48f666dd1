/*
 * tracer/drive/filter: the seccomp filter, run here as the kernel would, and how
 * it comes into a process.  What the file asks of ptrace is a double, so the file
 * itself is read in below.
 */
#include <check.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "dlang/base/str.h"
#include "t/fake/target.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/fire/syscalls.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/remote.h"

#define SP UINT64_C(0x7ffd00003000)

static struct fake_target ft;
static struct str said;
static struct proc *procs[2];
static int64_t answers[4]; /* of the calls that are made in the process */
static unsigned made, taken;
static long numbers[4];
static uint64_t first[4];
static int take_error;
static struct sock_filter loaded[512]; /* what seccomp() was given */
static unsigned short loaded_len;

static void PRINTF_LIKE(2, 3) say(struct state *st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vprintf(&said, fmt, ap);
	str_addc(&said, '\n');
	va_end(ap);
}

static int
double_call(struct thread *th, long nr, const uint64_t args[6], int64_t *result)
{
	ck_assert_uint_lt(made, ARRAY_SIZE(answers));
	numbers[made] = nr;
	first[made] = args[0];
	if (nr == SYS_seccomp) {
		struct sock_fprog prog;
		memcpy(&prog, fake_target_at(&ft, args[2]), sizeof(prog));
		loaded_len = prog.len;
		memcpy(loaded,
		    fake_target_at(&ft, (uint64_t)(uintptr_t)prog.filter),
		    prog.len * sizeof(loaded[0]));
		/* Clear of what a function may keep below its stack pointer. */
		ck_assert_uint_le((uint64_t)(uintptr_t)prog.filter +
			prog.len * sizeof(loaded[0]),
		    SP - 128);
	}
	*result = answers[made++];
	return 0;
}

static struct proc *
double_next(struct super *s, struct proc *p)
{
	return p == NULL ? procs[0] : p == procs[0] ? procs[1] : NULL;
}

#define state_notice            say
#define remote_syscall          double_call
#define super_next              double_next
#define thread_regs(th)         (&(th)->regs.user)
#define thread_take_seccomp(th) (taken++, take_error)
#define kill(pid, sig)          ((void)(numbers[3] = (sig)))
#include "tracer/drive/filter.c"

static int
double_read(struct target *t, uint64_t addr, void *buf, size_t len)
{
	memcpy(buf, fake_target_at(&ft, addr), len);
	return 0;
}

static int
double_write(struct target *t, uint64_t addr, const void *buf, size_t len)
{
	memcpy(fake_target_at(&ft, addr), buf, len);
	return 0;
}

static const struct target_ops ops = { .read = double_read,
	.write = double_write };
static struct state st;
static struct space space[2];
static struct proc proc[2];
static struct thread th[2];

static void
setup(void)
{
	memset(&st, 0, sizeof(st));
	memset(procs, 0, sizeof(procs));
	memset(answers, 0, sizeof(answers));
	made = taken = loaded_len = 0;
	take_error = 0;
	str_clear(&said);
	options_init(&st.opts);
	st.opts.value[OPT_SYSCALLFILTER] = 1;
	st.follow = true;
	st.syscalls = mem_zalloc(sizeof(*st.syscalls));
	fake_target_init(&ft);
	fake_target_map(&ft, SP - 8192, 16384);
	for (unsigned i = 0; i < ARRAY_SIZE(proc); i++) {
		memset(&space[i], 0, sizeof(space[i]));
		memset(&proc[i], 0, sizeof(proc[i]));
		memset(&th[i], 0, sizeof(th[i]));
		space[i].target.ops = &ops;
		space[i].refs = 1;
		proc[i].space = &space[i];
		proc[i].pid = 100 + (int)i;
		proc[i].role.launch = LAUNCH_RUNS;
		*vec_push(&proc[i].threads) = &th[i];
		th[i].proc = &proc[i];
		th[i].regs.user.r[UREG_RSP] = SP;
	}
	procs[0] = &proc[0];
}

static void
teardown(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(proc); i++)
		vec_fini(&proc[i].threads);
	syscalls_fini(st.syscalls);
	mem_free(st.syscalls);
	str_fini(&said);
	fake_target_fini(&ft);
}

static void
want(unsigned nr, enum syscall_side side)
{
	*vec_push(&st.syscalls->of[nr][side]) = (struct syscall_sub){ 0 };
}

/* What the kernel does at that call. */
static uint32_t
run(uint32_t arch, uint32_t nr)
{
	uint32_t a = 0;

	for (unsigned pc = 0; pc < loaded_len; pc++) {
		const struct sock_filter *i = &loaded[pc];
		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			ck_assert(i->k == offsetof(struct seccomp_data, arch) ||
			    i->k == offsetof(struct seccomp_data, nr));
			a = i->k == offsetof(struct seccomp_data, nr) ? nr :
									arch;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == i->k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K: return i->k;
		default: ck_abort_msg("instruction %#x", i->code);
		}
	}
	ck_abort_msg("the filter has no end");
	return 0;
}

#define STOPS (SECCOMP_RET_TRACE | SECCOMP_TAG)

START_TEST(calls_that_are_named_stop)
{
	want(SYS_read, SYSCALL_ENTRY);
	want(SYS_openat, SYSCALL_RETURN);
	filter_install(&st);
	ck_assert_str_eq(str_c(&said), "");
	ck_assert(proc[0].filtered);
	for (unsigned nr = 0; nr < SYSCALL_MAX + 10; nr++) {
		bool named = nr == SYS_read || nr == SYS_openat ||
		    nr == SYS_restart_syscall;
		ck_assert_uint_eq(run(AUDIT_ARCH_X86_64, nr),
		    named ? STOPS : SECCOMP_RET_ALLOW);
		/* The same number means another call there. */
		ck_assert_uint_eq(run(AUDIT_ARCH_I386, nr), SECCOMP_RET_ALLOW);
	}
	/* x32 */
	ck_assert_uint_eq(
	    run(AUDIT_ARCH_X86_64, 0x40000000 | SYS_read), SECCOMP_RET_ALLOW);
}
END_TEST

START_TEST(restart_syscall_is_there_once)
{
	unsigned n = 0;

	want(SYS_restart_syscall, SYSCALL_ENTRY);
	filter_install(&st);
	for (unsigned i = 0; i < loaded_len; i++)
		n += loaded[i].code == (BPF_JMP | BPF_JEQ | BPF_K) &&
		    loaded[i].k == SYS_restart_syscall;
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(run(AUDIT_ARCH_X86_64, SYS_restart_syscall), STOPS);
}
END_TEST

/* The stack's bytes are the program's again. */
START_TEST(nothing_is_left_below_the_stack)
{
	uint8_t before[8192];

	for (size_t i = 0; i < sizeof(before); i++)
		before[i] = (uint8_t)(i * 7);
	memcpy(fake_target_at(&ft, SP - 8192), before, sizeof(before));
	want(SYS_read, SYSCALL_ENTRY);
	filter_install(&st);
	ck_assert(proc[0].filtered);
	ck_assert_uint_eq(made, 1);
	ck_assert(memcmp(fake_target_at(&ft, SP - 8192), before,
		      sizeof(before)) == 0);
	/* The option that makes the filter's calls stop is there before it. */
	ck_assert_uint_eq(taken, 1);
}
END_TEST

START_TEST(without_rights_it_gives_up_new_ones)
{
	answers[0] = -EACCES;
	want(SYS_read, SYSCALL_ENTRY);
	filter_install(&st);
	ck_assert_uint_eq(made, 3);
	ck_assert_int_eq(numbers[0], SYS_seccomp);
	ck_assert_uint_eq(first[0], SECCOMP_SET_MODE_FILTER);
	ck_assert_int_eq(numbers[1], SYS_prctl);
	ck_assert_uint_eq(first[1], PR_SET_NO_NEW_PRIVS);
	ck_assert_int_eq(numbers[2], SYS_seccomp);
	ck_assert(proc[0].filtered);
}
END_TEST

START_TEST(a_filter_that_cannot_be_had_is_told)
{
	want(SYS_read, SYSCALL_ENTRY);
	answers[0] = -EINVAL;
	filter_install(&st);
	ck_assert(!proc[0].filtered);
	ck_assert_uint_eq(made, 1);
	ck_assert_str_eq(str_c(&said),
	    "syscallfilter: not used for process 100: Invalid argument\n");
	str_clear(&said);
	made = 0;
	answers[0] = -EACCES;
	answers[1] = -EPERM;
	filter_install(&st);
	ck_assert_uint_eq(made, 2);
	ck_assert(!proc[0].filtered);
	ck_assert_str_eq(str_c(&said),
	    "syscallfilter: not used for process 100: Operation not "
	    "permitted\n");
	str_clear(&said);
	/* Without the ptrace option the calls would fail: no filter. */
	made = 0;
	take_error = -EIO;
	filter_install(&st);
	ck_assert_uint_eq(made, 0);
	ck_assert(!proc[0].filtered);
	ck_assert_str_eq(str_c(&said),
	    "syscallfilter: not used for process 100: Input/output error\n");
}
END_TEST

START_TEST(only_those_that_were_launched_and_are_alone)
{
	procs[1] = &proc[1];
	want(SYS_read, SYSCALL_ENTRY);
	proc[0].role.launch = LAUNCH_NOT;
	*vec_push(&proc[1].threads) = &th[0];
	filter_install(&st);
	ck_assert_uint_eq(made, 0);
	ck_assert_str_eq(str_c(&said),
	    "syscallfilter: not used for process 100: it was not launched by "
	    "dtrap\n"
	    "syscallfilter: not used for process 101: it already has several "
	    "threads\n");
	str_clear(&said);
	/* vfork() has somebody else in its memory. */
	proc[1].threads.len--;
	space[1].refs = 2;
	proc[0].role.launch = LAUNCH_RUNS;
	filter_install(&st);
	ck_assert(proc[0].filtered);
	ck_assert(!proc[1].filtered);
	ck_assert_str_eq(str_c(&said),
	    "syscallfilter: not used for process 101: it already has several "
	    "threads\n");
}
END_TEST

START_TEST(when_it_is_not_used)
{
	/* Nobody asks for it. */
	want(SYS_read, SYSCALL_ENTRY);
	st.opts.value[OPT_SYSCALLFILTER] = 0;
	filter_install(&st);
	ck_assert_uint_eq(made, 0);
	ck_assert_str_eq(str_c(&said), "");
	/* Children would inherit it. */
	st.opts.value[OPT_SYSCALLFILTER] = 1;
	st.follow = false;
	filter_install(&st);
	ck_assert_uint_eq(made, 0);
	ck_assert_str_eq(str_c(&said),
	    "syscallfilter: not used: children are not followed\n");
	str_clear(&said);
	/* A hundred are few enough. */
	st.follow = true;
	for (unsigned nr = 1; nr < 100; nr++)
		want(nr, SYSCALL_RETURN);
	filter_install(&st);
	ck_assert_uint_eq(made, 1);
	ck_assert_uint_eq(run(AUDIT_ARCH_X86_64, 99), STOPS);
	want(100, SYSCALL_ENTRY);
	filter_install(&st);
	ck_assert_uint_eq(made, 1);
	ck_assert_str_eq(str_c(&said),
	    "syscallfilter: not used: too many system calls are traced\n");
}
END_TEST

/* Where no call is named, nothing is to be filtered, and nothing is said. */
START_TEST(no_call_no_filter)
{
	st.follow = false;
	filter_install(&st);
	ck_assert_uint_eq(made, 0);
	ck_assert_str_eq(str_c(&said), "");
}
END_TEST

/* The exec that it was launched by is still under way, and is to be seen to
 * return. */
START_TEST(the_first_exec_returns)
{
	want(SYS_execve, SYSCALL_RETURN);
	proc[0].role.launch = LAUNCH_AT_EXEC;
	procs[1] = &proc[1];
	filter_install(&st);
	ck_assert((th[0].stop.wants & WANT_EXIT) != 0);
	ck_assert((th[1].stop.wants & WANT_EXIT) == 0);
}
END_TEST

START_TEST(who_would_be_left_ends)
{
	filter_release(&st, &proc[0]);
	ck_assert_int_eq(numbers[3], SIGKILL);
	ck_assert_str_eq(str_c(&said),
	    "pid 100 cannot continue without dtrap (-x syscallfilter): "
	    "killed\n");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		calls_that_are_named_stop,
		restart_syscall_is_there_once,
		nothing_is_left_below_the_stack,
		without_rights_it_gives_up_new_ones,
		a_filter_that_cannot_be_had_is_told,
		only_those_that_were_launched_and_are_alone,
		when_it_is_not_used,
		no_call_no_filter,
		the_first_exec_returns,
		who_would_be_left_ends,
	};

	return suite_run("filter", setup, teardown, tests, ARRAY_SIZE(tests));
}
