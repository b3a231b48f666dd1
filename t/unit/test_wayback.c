/*
 * tracer: killed in the middle of a system call that it makes in a thread.
 *
 * A child of the test is the tracer, and ends at one of the steps (fault.h).
 * The thread must then be exactly where it would have been: its registers,
 * vectors, flags and mask, the call that it was in, its signals.
 */
#include "t/unit/tracee.h"

#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/rseq.h>

#include "dlang/base/fault.h"
#include "inject/trap/area.h"

/* Memory that test and fixture share. */
#define SHARED 102

struct shared {
	_Atomic uint32_t stop; /* a spinning thread ends; a futex */
	uint64_t addr;         /* of trapped_fn(), sequence_abort */
	uint64_t begin, end;   /* of the sequence */
	struct remote_left left;
};

static struct shared *sh;

static void
share(void)
{
	sh = mmap(
	    NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED, SHARED, 0);
}

/* ---- fixtures ---- */

/* Known values in all registers until sh->stop is set, with no instruction that
 * changes any or the flags. */
void exact_spin(void *stop);
extern uint64_t exact_in[14], exact_out[14], exact_flags, exact_flags_out;
extern uint8_t exact_ymm[16][32], exact_ymm_out[16][32];

#define ALL_YMM(f)                                                          \
	f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) \
	    f(13) f(14) f(15)
#define LOAD_YMM(n)  "	vmovdqu exact_ymm + 32 * " #n "(%rip), %ymm" #n "\n"
#define STORE_YMM(n) "	vmovdqu %ymm" #n ", exact_ymm_out + 32 * " #n "(%rip)\n"
#define ALL_REGS(f)                                                         \
	f(0, rax) f(1, rbx) f(2, rdx) f(3, rsi) f(4, rbp) f(5, r8) f(6, r9) \
	    f(7, r10) f(8, r11) f(9, r12) f(10, r13) f(11, r14) f(12, r15)  \
		f(13, rdi)
#define LOAD_REG(n, r)  "	movq exact_in + 8 * " #n "(%rip), %" #r "\n"
#define STORE_REG(n, r) "	movq %" #r ", exact_out + 8 * " #n "(%rip)\n"

asm(".pushsection .text\n"
    "	.globl exact_spin\n"
    "	.type exact_spin, @function\n"
    "exact_spin:\n"
    "	pushq %rbx\n	pushq %rbp\n"
    "	pushq %r12\n	pushq %r13\n	pushq %r14\n	pushq %r15\n"
    "	movq %rsp, exact_sp(%rip)\n"
    "	movq %rdi, exact_in + 8 * 13(%rip)\n" ALL_YMM(
	LOAD_YMM) "	pushq exact_flags(%rip)\n"
		  "	popfq\n" ALL_REGS(
		      LOAD_REG) "1:	movl (%rdi), %ecx\n"
				"	jrcxz 1b\n" ALL_REGS(
				    STORE_REG) "	pushfq\n"
					       "	popq exact_flags_out(%rip)\n"
					       "	cld\n" ALL_YMM(
						   STORE_YMM) "	cmpq %rsp, exact_sp(%rip)\n"
							      "	je 2f\n"
							      "	ud2\n"
							      "2:	vzeroupper\n"
							      "	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n"
							      "	popq %rbp\n	popq %rbx\n"
							      "	ret\n"
							      "	.size exact_spin, . - exact_spin\n"
							      "	.globl trapped_fn\n"
							      "	.type trapped_fn, @function\n"
							      /* From its second byte on this is another instruction, which faults. */
							      "trapped_fn:\n"
							      "	movl $1, %eax\n"
							      "	ret\n"
							      "	.size trapped_fn, . - trapped_fn\n"
							      ".popsection\n"
							      ".pushsection .bss\n"
							      "	.balign 32\n"
							      "	.globl exact_in, exact_out, exact_flags, exact_flags_out\n"
							      "	.globl exact_ymm, exact_ymm_out\n"
							      "exact_ymm: .zero 512\n"
							      "exact_ymm_out: .zero 512\n"
							      "exact_in: .zero 112\n"
							      "exact_out: .zero 112\n"
							      "exact_flags: .zero 8\n"
							      "exact_flags_out: .zero 8\n"
							      "exact_sp: .zero 8\n"
							      ".popsection\n");

int trapped_fn(void);

/* Without end; what brings it to one is the abort. */
void sequence(uint64_t *cs);
extern const char sequence_begin[], sequence_end[], sequence_abort[];

asm(".pushsection .text\n"
    "	.globl sequence, sequence_begin, sequence_end, sequence_abort\n"
    "	.type sequence, @function\n"
    "sequence:\n"
    "	leaq sequence_cs(%rip), %rax\n"
    "	movq %rax, (%rdi)\n"
    "sequence_begin:\n"
    "	pause\n"
    "	jmp sequence_begin\n"
    "sequence_end:\n"
    "	.long 0x53053053\n" /* RSEQ_SIG */
    "sequence_abort:\n"
    "	ret\n"
    "	.size sequence, . - sequence\n"
    ".popsection\n"
    ".pushsection .data\n"
    "	.balign 32\n"
    "sequence_cs:\n"
    "	.long 0, 0\n"
    "	.quad sequence_begin, sequence_end - sequence_begin\n"
    "	.quad sequence_abort\n"
    ".popsection\n");

static sigset_t
mask_now(void)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	return now;
}

/* Some signals are blocked; are they still? */
static void
set_mask(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGRTMIN + 3);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

static bool
is_mask(void)
{
	sigset_t now = mask_now();

	for (int sig = 1; sig <= 64; sig++)
		if (sigismember(&now, sig) !=
		    (sig == SIGUSR2 || sig == SIGRTMIN + 3))
			return false;
	return true;
}

/* arg: how many signals are to come meanwhile. */
static int
fixture_exact(const char *arg)
{
	signal(SIGUSR1, on_any);
	set_mask();
	for (size_t i = 0; i < ARRAY_SIZE(exact_in); i++)
		exact_in[i] = 0x0123456789abcdefULL * (i + 1);
	for (size_t i = 0; i < sizeof(exact_ymm); i++)
		exact_ymm[i / 32][i % 32] = (uint8_t)(i * 7 + i / 256);
	exact_flags =
	    0x202 | RFLAGS_CF | RFLAGS_PF | RFLAGS_SF | RFLAGS_DF | RFLAGS_OF;
	say_ready();
	exact_spin(&sh->stop);
	if (memcmp(exact_in, exact_out, sizeof(exact_in)) != 0)
		return 1;
	if (memcmp(exact_ymm, exact_ymm_out, sizeof(exact_ymm)) != 0)
		return 2;
	if (exact_flags != exact_flags_out)
		return 3;
	if (!is_mask())
		return 4;
	return seen == atoi(arg) ? 0 : 5;
}

static int
fixture_waits(const char *arg)
{
	struct timespec ts = { 60, 0 };

	set_mask();
	if (strcmp(arg, "futex") != 0) {
		int r = fixture_blocked(arg);
		return r == 0 && !is_mask() ? 4 : r;
	}
	say_ready();
	if (syscall(SYS_futex, &sh->stop, FUTEX_WAIT, 0, &ts) != 0)
		return 1;
	return is_mask() ? 0 : 4;
}

/* System calls whose results are known. */
static int
fixture_calls(const char *arg)
{
	int ends[2], got;
	long before = -1;

	set_mask();
	if (pipe(ends) != 0)
		return 1;
	say_ready();
	for (int i = 0; sh->stop == 0 || before < 0; i++) {
		if (sh->stop != 0)
			before = i;
		if (write(ends[1], &i, sizeof(i)) != sizeof(i) ||
		    read(ends[0], &got, sizeof(got)) != sizeof(got) || got != i)
			return 2;
	}
	return is_mask() ? 0 : 4;
}

static int queued_next = 1;

static void
on_queued(int sig, siginfo_t *si, void *uc)
{
	if (si->si_code == SI_QUEUE && si->si_pid == getpid() &&
	    si->si_value.sival_int == queued_next)
		queued_next++;
	else
		queued_next = -1;
}

/* Signals to itself, each with contents: as many as are sent. */
static int
fixture_queues(const char *arg)
{
	struct sigaction sa = { .sa_sigaction = on_queued,
		.sa_flags = SA_SIGINFO };
	char c;

	set_mask();
	sigaction(SIGUSR1, &sa, NULL);
	say_ready();
	if (read(GO, &c, 1) != 1)
		return 1;
	for (int i = 1; i <= 5; i++)
		sigqueue(getpid(), SIGUSR1, (union sigval){ .sival_int = i });
	if (!is_mask())
		return 4;
	return queued_next == 6 ? 0 : 5;
}

static int
fixture_trapped(const char *arg)
{
	set_mask();
	sh->addr = (uint64_t)(uintptr_t)&trapped_fn;
	say_ready();
	while (sh->stop == 0)
		if (trapped_fn() != 1)
			return 1;
	return is_mask() ? 0 : 4;
}

/* Stays in a restartable sequence, again and again, until it is aborted. */
static int
fixture_sequence(const char *arg)
{
	struct rseq *rs =
	    (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	uint64_t *cs = (uint64_t *)&rs->rseq_cs;

	sh->addr = (uint64_t)(uintptr_t)sequence_abort;
	sh->begin = (uint64_t)(uintptr_t)sequence_begin;
	sh->end = (uint64_t)(uintptr_t)sequence_end;
	say_ready();
	do
		sequence(cs);
	while (sh->stop == 0);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(const char *arg);
} own_fixtures[] = {
	{ "exact", fixture_exact },
	{ "waits", fixture_waits },
	{ "calls", fixture_calls },
	{ "queues", fixture_queues },
	{ "trapped", fixture_trapped },
	{ "sequence", fixture_sequence },
};

static void
own_fixture(const char *name, const char *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_fixtures); i++)
		if (strcmp(own_fixtures[i].name, name) == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			share();
			_exit(own_fixtures[i].run(arg));
		}
}

/* ---- the tracer that dies ---- */

static void
own_setup(void)
{
	int fd = memfd_create("shared", MFD_CLOEXEC);

	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	dup2(fd, SHARED);
	close(fd);
	share();
	setup();
}

/* The stop that a thread is in when the call is made. */
typedef struct thread *(*reach_fn)(struct proc *p);

/* A call in a thread of pid that reach() brings to a stop; the tracer is killed
 * at the point. */
static void
die_in(pid_t pid, const char *point, reach_fn reach, long nr,
    const uint64_t args[6])
{
	int status;
	pid_t tracer = fork();

	if (tracer == 0) {
		int64_t result;

		struct thread *th = reach(attach(pid));
		fault_kill_set(point);
		int r = remote_syscall(th, nr, args, &result);
		_exit(r == 0 ? 10 : 11);
	}
	ck_assert_int_eq(waitpid(tracer, &status, 0), tracer);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
	    "%s: the tracer's status is %x", point, (unsigned)status);
	ck_assert_int_eq(status_of(pid).tracer, 0);
}

static void
die_at(pid_t pid, const char *point, reach_fn reach)
{
	const uint64_t args[6] = { 0 };

	die_in(pid, point, reach, SYS_getpid, args);
}

static void
ends_well(pid_t pid, const char *point)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	    "%s: status %x", point, (unsigned)status);
}

static struct thread *
as_attached(struct proc *p)
{
	return p->threads.at[0];
}

/* ---- in the middle of the program's code ---- */

/* Every step of a call in a thread that was stopped by an interrupt. */
static const char *const steps[] = { "remote-written:1", "remote-regs:1",
	"remote-mask:1", "remote-go:1", "remote-stop:1", "remote-go:2",
	"remote-stop:2", "remote-go:3", "remote-stop:3", "remote-finish:1",
	"remote-unmask:1", "remote-back:1", "remote-cleared:1" };

START_TEST(registers_vectors_flags_and_mask_are_the_programs)
{
	if (!__builtin_cpu_supports("avx"))
		return;
	pid_t pid = start("exact", "0");
	await_ready();
	die_at(pid, steps[_i], as_attached);
	sh->stop = 1;
	ends_well(pid, steps[_i]);
}
END_TEST

static struct thread *
with_signals(struct proc *p)
{
	kill(p->pid, SIGUSR1);
	return p->threads.at[0];
}

START_TEST(a_signal_that_waits_is_handled_once)
{
	if (!__builtin_cpu_supports("avx"))
		return;
	pid_t pid = start("exact", "1");
	await_ready();
	die_at(pid, steps[_i], with_signals);
	sh->stop = 1;
	ends_well(pid, steps[_i]);
}
END_TEST

/* ---- in a call that sleeps ---- */

static const char *const waits[] = { "read", "nanosleep", "poll", "sigsuspend",
	"futex" };

START_TEST(a_call_that_sleeps_goes_on)
{
	const char *call = waits[(size_t)_i / ARRAY_SIZE(steps)];
	const char *step = steps[(size_t)_i % ARRAY_SIZE(steps)];

	pid_t pid = start("waits", call);
	await_ready();
	await_state(pid, "S");
	die_at(pid, step, as_attached);
	if (strcmp(call, "sigsuspend") == 0) {
		await_state(pid, "S");
		kill(pid, SIGUSR1);
	} else if (strcmp(call, "futex") == 0) {
		await_state(pid, "S");
		sh->stop = 1;
		/* It may be awake on its way to sleep again. */
		while (procfs_state(pid) != 'Z') {
			syscall(SYS_futex, &sh->stop, FUTEX_WAKE, 1);
			sched_yield();
		}
	} else {
		ck_assert_int_eq(write(go_fd, "x", 1), 1);
	}
	ends_well(pid, call);
}
END_TEST

/* ---- at the entry and the end of a call ---- */

static struct thread *
to_stop(struct proc *p, enum event_kind kind, int times)
{
	struct event ev;

	stop_want_calls(p->threads.at[0], WANT_LAUNCH, true);
	thread_resume(p->threads.at[0]);
	while (next(&ev)) {
		if (ev.kind == kind && --times == 0)
			return ev.thread;
		thread_resume(ev.thread);
	}
	_exit(12);
}

static struct thread *
to_entry(struct proc *p)
{
	return to_stop(p, EV_SYSCALL_ENTER, 7);
}

static struct thread *
to_exit(struct proc *p)
{
	return to_stop(p, EV_SYSCALL_EXIT, 6);
}

static const char *const entry_steps[] = { "remote-written:1", "remote-regs:1",
	"remote-mask:1", "remote-go:1", "remote-stop:1", "remote-go:2",
	"remote-stop:2", "remote-go:3", "remote-stop:3", "remote-redo:1",
	"remote-go:4", "remote-stop:4", "remote-finish:1", "remote-unmask:1",
	"remote-back:1", "remote-cleared:1" };

START_TEST(a_call_that_was_about_to_be_made_is_made)
{
	pid_t pid = start("calls", "");
	await_ready();
	die_at(pid, entry_steps[_i], to_entry);
	sh->stop = 1;
	ends_well(pid, entry_steps[_i]);
}
END_TEST

/* Under a filter that refuses what is no call, ours takes its place. */
static const char *const place_steps[] = { "remote-written:1", "remote-regs:1",
	"remote-mask:1", "remote-go:1", "remote-stop:1", "remote-redo:1",
	"remote-go:2", "remote-stop:2", "remote-finish:1", "remote-unmask:1",
	"remote-back:1", "remote-cleared:1" };

START_TEST(a_call_that_a_filter_is_to_look_at_is_made)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_K | BPF_JGT, 1023, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(code), code };

	/* Of the target and of the tracer, which are our children. */
	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), 0);
	pid_t pid = start("calls", "");
	await_ready();
	die_at(pid, place_steps[_i], to_entry);
	sh->stop = 1;
	ends_well(pid, place_steps[_i]);
}
END_TEST

/* There is a tracepoint on its instruction by now. */
START_TEST(a_call_is_made_though_an_int3_stands_on_it)
{
	static const uint8_t int3 = 0xcc;
	const uint64_t args[6] = { 0 };
	int64_t result;
	uint8_t byte;
	pid_t pid = start("calls", "");

	await_ready();
	struct proc *p = attach(pid);
	struct thread *th = to_entry(p);
	struct target *t = &p->space->target;
	struct uregs before = *thread_regs(th), after;
	uint64_t addr = before.r[UREG_RIP] - 2;
	ck_assert_int_eq(t->ops->read(t, addr, &byte, 1), 0);
	ck_assert_uint_eq(byte, 0x0f);
	ck_assert_int_eq(t->ops->write(t, addr, &int3, 1), 0);
	ck_assert_int_eq(remote_syscall(th, SYS_getpid, args, &result), 0);
	ck_assert_int_eq(result, pid);
	ck_assert_int_eq(t->ops->write(t, addr, &byte, 1), 0);
	ck_assert_int_eq(regs_fetch(th->tid, &after), 0);
	ck_assert_int_eq(memcmp(&before, &after, sizeof(after)), 0);
	ck_assert(thread_at_entry(th));
	sh->stop = 1;
	thread_resume(th);
	run_to_end(0);
}
END_TEST

START_TEST(a_call_that_was_made_has_its_result)
{
	pid_t pid = start("calls", "");
	await_ready();
	die_at(pid, steps[_i], to_exit);
	sh->stop = 1;
	ends_well(pid, steps[_i]);
}
END_TEST

/* ---- in delivery ---- */

static struct thread *
to_signal(struct proc *p)
{
	struct event ev;

	if (write(go_fd, "x", 1) != 1)
		_exit(13);
	thread_resume(p->threads.at[0]);
	return run_until(EV_SIGNAL, &ev) ? ev.thread : NULL;
}

/* From where the signal is in its queue again to where it is taken out. */
static const char *const signal_steps[] = { "remote-go:1", "remote-stop:1",
	"remote-go:2", "remote-stop:2", "remote-go:3" };

START_TEST(a_signal_in_delivery_keeps_its_contents)
{
	pid_t pid = start("queues", "");

	await_ready();
	die_at(pid, signal_steps[_i], to_signal);
	ends_well(pid, signal_steps[_i]);
}
END_TEST

/* Behind an int3 that was taken away again: its instruction is to be run. */
static struct thread *
to_trap(struct proc *p)
{
	static const uint8_t int3 = 0xcc;
	static struct tptable tab;
	struct target *t = &p->space->target;
	struct event ev;

	tab = (struct tptable){ .target = t,
		.tp = { .addr = sh->addr, .state = TP_TRAP } };
	if (t->ops->read(t, sh->addr, &tab.tp.saved, 1) != 0 ||
	    t->ops->write(t, sh->addr, &int3, 1) != 0)
		_exit(14);
	p->space->tab = &tab;
	thread_resume(p->threads.at[0]);
	if (event_poll(su, &ev, true) != 1 || ev.kind != EV_TRAP)
		_exit(15);
	tracepoint_restore_all(&tab);
	return ev.thread;
}

/* From where the thread has left the stop to where that is made again. */
static const char *const trap_steps[] = { "remote-regs:1", "remote-mask:1",
	"remote-go:1", "remote-stop:1", "remote-go:2", "remote-stop:2",
	"remote-inject:1" };

START_TEST(an_instruction_behind_an_int3_is_run)
{
	pid_t pid = start("trapped", "");
	await_ready();
	die_at(pid, trap_steps[_i], to_trap);
	sh->stop = 1;
	ends_well(pid, trap_steps[_i]);
}
END_TEST

/* ---- restartable sequences ---- */

static void
check_stays(struct thread *th)
{
	const uint64_t args[6] = { 0 };
	uint64_t pc = thread_regs(th)->r[UREG_RIP];
	int64_t result;

	ck_assert_int_eq(remote_syscall(th, SYS_getpid, args, &result), 0);
	ck_assert_uint_eq(thread_regs(th)->r[UREG_RIP], pc);
}

START_TEST(a_sequence_is_aborted_by_a_call)
{
	const uint64_t args[6] = { 0 };
	int64_t result;

	if (__rseq_size == 0)
		return;
	pid_t pid = start("sequence", "");
	await_ready();
	struct proc *p = attach(pid);
	struct thread *th = p->threads.at[0];
	space_stop(p->space);
	while (
	    thread_regs(th)->r[UREG_RIP] - sh->begin >= sh->end - sh->begin) {
		space_resume(p->space);
		resume_all(p);
		space_stop(p->space);
	}
	ck_assert_int_eq(remote_syscall(th, SYS_getpid, args, &result), 0);
	ck_assert_uint_eq(thread_regs(th)->r[UREG_RIP], sh->addr);
	/* Without a sequence it is where it was. */
	check_stays(th);
	sh->stop = 1;
	space_resume(p->space);
	resume_all(p);
	run_to_end(0);
}
END_TEST

/* ---- nothing is left ---- */

/* What we leave behind is taken away when the thread is out of it. */
START_TEST(what_is_left_is_cleared_when_the_thread_sleeps_elsewhere)
{
	static const uint8_t zeros[WAYBACK_SIZE];
	uint8_t bytes[WAYBACK_SIZE];
	char path[40];
	pid_t pid = start("waits", "read");

	await_ready();
	await_state(pid, "S");
	ck_assert(remote_clear(&sh->left));
	remote_leaves(&sh->left);
	die_at(pid, steps[_i], as_attached);
	bool cleared = strcmp(steps[_i], "remote-cleared:1") == 0;
	ck_assert_int_eq(sh->left.tid, pid);
	ck_assert_uint_ne(sh->left.addr, 0);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(pread(fd, bytes, sizeof(bytes), (off_t)sh->left.addr),
	    sizeof(bytes));
	ck_assert((memcmp(bytes, zeros, sizeof(bytes)) == 0) == cleared);
	while (!remote_clear(&sh->left))
		sched_yield();
	ck_assert_int_eq(pread(fd, bytes, sizeof(bytes), (off_t)sh->left.addr),
	    sizeof(bytes));
	ck_assert_int_eq(memcmp(bytes, zeros, sizeof(bytes)), 0);
	close(fd);
	ck_assert_int_eq(write(go_fd, "x", 1), 1);
	ends_well(pid, steps[_i]);
}
END_TEST

/* Stopped, not in the way back. */
static void
stop_elsewhere(pid_t pid)
{
	uint64_t pc, sp;

	for (;;) {
		kill(pid, SIGSTOP);
		await_state(pid, "T");
		ck_assert_int_eq(procfs_pc(pid, &pc, &sp), 0);
		if (pc - sh->left.addr >= WAYBACK_SIZE)
			return;
		kill(pid, SIGCONT);
	}
}

static const char *const map_steps[] = { "remote-written:1", "remote-regs:1",
	"remote-mask:1", "remote-go:1", "remote-stop:1", "remote-go:2",
	"remote-stop:2", "remote-mapped:1", "remote-go:3", "remote-stop:3",
	"remote-finish:1", "remote-unmask:1", "remote-back:1",
	"remote-cleared:1" };

/* Else nobody could tell it from the program's own. */
START_TEST(what_was_mapped_is_given_back_or_says_whose_it_is)
{
	const size_t size = 4 * 4096;
	struct trap_area head;
	char path[40];

	if (!__builtin_cpu_supports("avx"))
		return;
	/* Where nothing is mapped, below the program and its libraries. */
	const uint64_t args[6] = { 0x10000000, size, PROT_READ | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		(uint64_t)-1 };
	pid_t pid = start("exact", "0");
	await_ready();
	remote_leaves(&sh->left);
	die_in(pid, map_steps[_i], as_attached, SYS_mmap, args);
	stop_elsewhere(pid);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool there = pread(fd, &head, sizeof(head), (off_t)args[0]) > 0;
	close(fd);
	/* The thread's registers are its own again, or it is on its way. */
	bool stays = _i >= (int)ARRAY_SIZE(map_steps) - 2;
	ck_assert_msg(there == stays, "%s", map_steps[_i]);
	ck_assert(!there ||
	    (head.magic == TRAP_MAGIC && head.size == size && head.mended));
	kill(pid, SIGCONT);
	sh->stop = 1;
	ends_well(pid, map_steps[_i]);
}
END_TEST

START_TEST(the_cave_is_empty_after_a_call)
{
	static const uint8_t zeros[WAYBACK_SIZE];
	uint8_t bytes[WAYBACK_SIZE];
	const uint64_t args[6] = { 0 };
	int64_t result;
	struct proc *p = launch("ready", "");
	struct thread *th = p->threads.at[0];

	ck_assert_int_eq(remote_syscall(th, SYS_getpid, args, &result), 0);
	uint64_t addr = p->space->wayback;
	ck_assert_uint_ne(addr, 0);
	ck_assert_int_eq(
	    reader_read(&p->space->mem, addr, bytes, sizeof(bytes)), 0);
	ck_assert_int_eq(memcmp(bytes, zeros, sizeof(bytes)), 0);
	/* Somebody else uses it: another is found. */
	struct target *t = &p->space->target;
	ck_assert_int_eq(t->ops->write(t, addr, "x", 1), 0);
	ck_assert_int_eq(remote_syscall(th, SYS_getpid, args, &result), 0);
	ck_assert_int_eq(result, p->pid);
	ck_assert_uint_ne(p->space->wayback, addr);
	ck_assert_int_eq(reader_read(&p->space->mem, addr, bytes, 1), 0);
	ck_assert_uint_eq(bytes[0], 'x');
	thread_resume(th);
	close(go_fd);
	run_to_end(0);
}
END_TEST

int
main(int argc, char **argv)
{
	if (argc >= 4 && strcmp(argv[1], "--fixture") == 0)
		own_fixture(argv[2], argv[3]);
	tracee_main(argc, argv);

	Suite *s = suite_create("wayback");
	TCase *tc = tcase_create("wayback");
	const int n = (int)ARRAY_SIZE(steps);
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, own_setup, teardown);
	tcase_add_loop_test(
	    tc, registers_vectors_flags_and_mask_are_the_programs, 0, n);
	tcase_add_loop_test(tc, a_signal_that_waits_is_handled_once, 0, n);
	tcase_add_loop_test(
	    tc, a_call_that_sleeps_goes_on, 0, n * (int)ARRAY_SIZE(waits));
	tcase_add_loop_test(tc, a_call_that_was_about_to_be_made_is_made, 0,
	    (int)ARRAY_SIZE(entry_steps));
	tcase_add_loop_test(tc, a_call_that_a_filter_is_to_look_at_is_made, 0,
	    (int)ARRAY_SIZE(place_steps));
	tcase_add_test(tc, a_call_is_made_though_an_int3_stands_on_it);
	tcase_add_loop_test(tc, a_call_that_was_made_has_its_result, 0, n);
	tcase_add_loop_test(tc, a_signal_in_delivery_keeps_its_contents, 0,
	    (int)ARRAY_SIZE(signal_steps));
	tcase_add_loop_test(tc, an_instruction_behind_an_int3_is_run, 0,
	    (int)ARRAY_SIZE(trap_steps));
	tcase_add_test(tc, a_sequence_is_aborted_by_a_call);
	tcase_add_loop_test(
	    tc, what_is_left_is_cleared_when_the_thread_sleeps_elsewhere, 0, n);
	tcase_add_loop_test(tc,
	    what_was_mapped_is_given_back_or_says_whose_it_is, 0,
	    (int)ARRAY_SIZE(map_steps));
	tcase_add_test(tc, the_cave_is_empty_after_a_call);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
