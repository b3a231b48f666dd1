/*
 * tracer/survive/guardian: what it puts back after the tracer's death, what it
 * waits for, and what the tracer knows of it.  Target, tracer and guardian are real
 * processes.  What the guardian reads of threads, and its clock, are doubles in
 * memory that all of them share, so the file itself is included below.
 */
#include <check.h>

#include "t/unit/guardian_doubles.h"
#include "t/unit/suite.h"
#include "tracer/survive/guardian.c"

/* ---- targets ---- */

/* Addresses in a target, which has copies of these pages. */
static uint8_t *text, *areas;
static uint16_t *counters;
#define AREAS  (1U << 20)
#define FIRST  0x10
#define SECOND 0x20
#define LATE   0x30
#define OWN    0x55 /* push %rbp */
#define INT3   0xcc

struct victim {
	struct target target; /* first */
	struct space space;
	struct proc proc;
	uint64_t mapped; /* of areas */
	int mem, command;
};

static struct victim victims[3];

static int
victim_read(struct target *t, uint64_t addr, void *buf, size_t len)
{
	const struct victim *v = (struct victim *)t;

	return pread(v->mem, buf, len, (off_t)addr) == (ssize_t)len ? 0 :
								      -EFAULT;
}

static int
victim_write(struct target *t, uint64_t addr, const void *buf, size_t len)
{
	const struct victim *v = (struct victim *)t;

	return pwrite(v->mem, buf, len, (off_t)addr) == (ssize_t)len ? 0 :
								       -EFAULT;
}

static int
victim_map(struct target *t, uint64_t near, size_t size, uint64_t *addr)
{
	struct victim *v = (struct victim *)t;

	if (v->mapped + size > AREAS)
		return -ENOMEM;
	*addr = (uintptr_t)areas + v->mapped;
	v->mapped += size;
	return 0;
}

static int
victim_thread(struct target *t, unsigned n, uint64_t *pc)
{
	return -ENOENT;
}

static const struct target_ops ops = {
	.read = victim_read,
	.write = victim_write,
	.map_near = victim_map,
	.thread_pc = victim_thread,
};

/* A thread of a target that forks. */
static void *
make_child(void *arg)
{
	const pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	stage->grandchild = pid;
	for (;;)
		pause();
	return NULL;
}

static void
victim_main(int command)
{
	pthread_t t;
	char c;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (read(command, &c, 1) == 1)
		pthread_create(&t, NULL, make_child, NULL);
	for (;;)
		pause();
}

static uint64_t
address(unsigned offset)
{
	return (uintptr_t)text + offset;
}

static void
arm(struct victim *v, unsigned offset, bool is_late)
{
	struct tracepoint *tp;
	const char *why = "";

	ck_assert_msg(tracepoint_get(v->space.tab, address(offset), offset, &tp,
			  &why) == 0,
	    "%s", why);
	tp->late = is_late;
}

/* A process with int3s and a raised semaphore. */
static void
victim_start(struct victim *v)
{
	const uint16_t raised = 1;
	int pipes[2];
	char path[64];

	ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
	v->proc.pid = fork();
	if (v->proc.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		victim_main(pipes[0]);
	}
	close(pipes[0]);
	v->command = pipes[1];
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)v->proc.pid);
	v->mem = v->space.mem_fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(v->mem, 0);
	v->target.ops = &ops;
	v->proc.space = &v->space;
	*vec_push(&v->space.procs) = &v->proc;
	v->space.tab = tptable_create(&v->target);
	ck_assert_int_eq(
	    trapset_map(tptable_traps(v->space.tab), address(0)), 0);
	arm(v, FIRST, false);
	arm(v, SECOND, false);
	arm(v, LATE, true);
	ck_assert_uint_eq(tracepoint_commit(v->space.tab, NULL, NULL), 0);
	struct trapset *ts = tptable_traps(v->space.tab);
	ck_assert_int_eq(
	    trapset_add(ts, TRAP_SEMAPHORE, (uintptr_t)&counters[1], 0), 0);
	ck_assert_int_eq(trapset_flush(ts), 0);
	victim_write(&v->target, (uintptr_t)&counters[1], &raised, 2);
	victim_write(&v->target, (uintptr_t)&counters[2], &raised, 2);
}

static uint8_t
byte_of(pid_t pid, unsigned offset)
{
	char path[64];
	uint8_t byte = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(pread(fd, &byte, 1, (off_t)address(offset)), 1);
	close(fd);
	return byte;
}

static struct trap_area
area_of(const struct victim *v)
{
	struct trap_area head;

	ck_assert(trapmend_head(
	    v->mem, trapset_area(tptable_traps(v->space.tab)), &head));
	return head;
}

/* Everything, or nothing, is as the program has it. */
static void
is_restored(const struct victim *v, bool restored)
{
	uint16_t count[3] = { 0 };

	for (unsigned at = FIRST; at <= LATE; at += SECOND - FIRST)
		ck_assert_uint_eq(
		    byte_of(v->proc.pid, at), restored ? OWN : INT3);
	pread(v->mem, count, sizeof(count), (off_t)(uintptr_t)counters);
	ck_assert_uint_eq(count[1], restored ? 0 : 1);
	ck_assert_uint_eq(count[2], 1); /* the program's own */
	ck_assert_uint_eq(area_of(v).mended, restored);
}

static int
has(struct victim *v)
{
	return guardian_has(
	    &v->space, trapset_area(tptable_traps(v->space.tab)));
}

/* ---- the tracer ---- */

static pid_t tracer;

/* A process that does these things as the tracer, and then waits for its end. */
static void
tracer_start(void (*trace)(void))
{
	int done[2];
	char c;

	ck_assert_int_eq(pipe2(done, O_CLOEXEC), 0);
	tracer = fork();
	if (tracer == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		trace();
		stage->guardian = guardian;
		if (write(done[1], "", 1) == 1)
			for (;;)
				pause();
	}
	close(done[1]);
	ck_assert_int_eq(read(done[0], &c, 1), 1);
	close(done[0]);
}

static void
tracer_kill(void)
{
	kill(tracer, SIGKILL);
	ck_assert_int_eq(waitpid(tracer, NULL, 0), tracer);
}

/* The guardian is ours when its parent has gone. */
static void
await_guardian(void)
{
	int status;

	ck_assert_int_eq(waitpid(stage->guardian, &status, 0), stage->guardian);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void
setup(void)
{
	stage = mmap(NULL, sizeof(*stage), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	text = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	areas = mmap(NULL, AREAS, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(text, OWN, 4096);
	stage->test = getpid();
	stage->state = 'S';
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	victim_start(&victims[0]);
}

static void
teardown(void)
{
	guardian_end();
	for (size_t i = 0; i < ARRAY_SIZE(victims); i++) {
		struct victim *v = &victims[i];
		if (v->proc.pid == 0)
			continue;
		kill(v->proc.pid, SIGKILL);
		tptable_destroy(v->space.tab);
		vec_fini(&v->space.procs);
	}
}

/* ---- after the tracer's death ---- */

static void
guard_first(void)
{
	if (has(&victims[0]) != 0)
		_exit(1);
}

START_TEST(after_a_kill_all_is_put_back)
{
	uint64_t born = 0;

	tracer_start(guard_first);
	is_restored(&victims[0], false);
	/* The area says who will do it. */
	ck_assert_uint_eq(area_of(&victims[0]).keeper, stage->guardian);
	(procfs_stat)(stage->guardian, STAT_SINCE, &born);
	ck_assert_uint_eq(area_of(&victims[0]).keeper_since, born);
	tracer_kill();
	await_guardian();
	is_restored(&victims[0], true);
	ck_assert_uint_eq(stage->naps, 0);
}
END_TEST

static void
guard_and_end(void)
{
	guard_first();
	guardian_end();
	if (!shared->well || guardian_is_alive())
		_exit(1);
}

START_TEST(after_a_good_end_nothing_is)
{
	int status;

	tracer_start(guard_and_end);
	tracer_kill();
	waitpid(stage->guardian, &status, 0);
	is_restored(&victims[0], false);
}
END_TEST

static void
guard_two_and_drop(void)
{
	guard_first();
	if (has(&victims[1]) != 0 || victims[1].space.guardian == 0)
		_exit(1);
	guardian_drop(&victims[0].space);
	if (victims[0].space.guardian != 0)
		_exit(1);
}

START_TEST(a_dropped_space_is_left_alone)
{
	victim_start(&victims[1]);
	tracer_start(guard_two_and_drop);
	tracer_kill();
	await_guardian();
	is_restored(&victims[0], false);
	is_restored(&victims[1], true);
}
END_TEST

static void
add_without_area(void)
{
	guard_first();
	if (guardian_add(&victims[1].space, 0) != 0)
		_exit(1);
}

START_TEST(a_space_without_an_area_was_not_changed)
{
	victim_start(&victims[1]);
	tracer_start(add_without_area);
	tracer_kill();
	await_guardian();
	is_restored(&victims[0], true);
	is_restored(&victims[1], false);
}
END_TEST

/* A child that was made just before has copies of the int3s. */
START_TEST(children_of_every_thread_are_put_back)
{
	tracer_start(guard_first);
	ck_assert_int_eq(write(victims[0].command, "", 1), 1);
	while (stage->grandchild == 0)
		sched_yield();
	tracer_kill();
	await_guardian();
	for (unsigned at = FIRST; at <= LATE; at += SECOND - FIRST)
		ck_assert_uint_eq(byte_of(stage->grandchild, at), OWN);
	is_restored(&victims[0], true);
	kill(stage->grandchild, SIGKILL);
}
END_TEST

static void
guard_kill_revive(void)
{
	n_procs = 2;
	for (unsigned i = 0; i < n_procs; i++)
		procs[i] = &victims[i].proc;
	guard_first();
	pid_t before = guardian;
	kill(guardian, SIGKILL);
	if (guardian_revive(NULL) != 0 || guardian == before ||
	    !guardian_is_alive() || victims[1].space.guardian != 0)
		_exit(1);
}

START_TEST(another_guardian_has_the_same_memory)
{
	victim_start(&victims[1]); /* nobody has guarded it */
	tracer_start(guard_kill_revive);
	ck_assert_uint_eq(area_of(&victims[0]).keeper, stage->guardian);
	tracer_kill();
	await_guardian();
	is_restored(&victims[0], true);
	is_restored(&victims[1], false);
}
END_TEST

/* ---- those that come late ---- */

/* The guardian's next nap has begun, and no more than `n' are allowed. */
static void
await_nap(unsigned n)
{
	while (stage->naps < n)
		sched_yield();
}

/* All but the marker. */
static void
most_is_restored(void)
{
	const pid_t pid = victims[0].proc.pid;

	ck_assert_uint_eq(byte_of(pid, FIRST), OWN);
	ck_assert_uint_eq(byte_of(pid, SECOND), OWN);
	ck_assert_uint_eq(byte_of(pid, LATE), INT3);
	ck_assert_uint_eq(area_of(&victims[0]).mended, 0);
}

START_TEST(markers_stay_while_a_trap_is_pending)
{
	tracer_start(guard_first);
	stage->pending = SIGBIT(SIGTRAP);
	stage->naps_allowed = 3;
	tracer_kill();
	await_nap(4);
	most_is_restored();
	ck_assert_int_eq(stage->nap_first, 100000000);
	ck_assert_int_eq(stage->nap_second, 10000000);
	stage->pending = 0;
	stage->naps_allowed = 4;
	await_guardian();
	is_restored(&victims[0], true);
	ck_assert_uint_eq(stage->naps, 4);
}
END_TEST

START_TEST(other_pending_signals_do_not_matter)
{
	tracer_start(guard_first);
	stage->pending = SIGBIT(SIGTRAP) | SIGBIT(SIGUSR1);
	stage->blocked = SIGBIT(SIGTRAP);
	tracer_kill();
	await_guardian();
	is_restored(&victims[0], true);
	ck_assert_uint_eq(stage->naps, 0);
}
END_TEST

START_TEST(not_for_ever)
{
	tracer_start(guard_first);
	stage->pending = SIGBIT(SIGTRAP);
	stage->naps_allowed = UINT32_MAX;
	tracer_kill();
	await_guardian();
	is_restored(&victims[0], true);
	ck_assert_uint_eq(stage->naps, TRAP_LATE_TRIES);
}
END_TEST

START_TEST(the_next_tracer_removes_markers_itself)
{
	tracer_start(guard_first);
	stage->pending = SIGBIT(SIGTRAP);
	tracer_kill();
	await_nap(1);
	kill(stage->guardian, SIGTERM);
	await_guardian();
	most_is_restored();
}
END_TEST

/* The program sets actions of SIGTRAP. */
static void
handles(void)
{
	const uint32_t one = 1;
	const struct victim *v = &victims[0];

	pwrite(v->mem, &one, sizeof(one),
	    (off_t)(trapset_area(tptable_traps(v->space.tab)) +
		offsetof(struct trap_area, handles)));
}

START_TEST(a_program_that_sets_actions_is_given_time)
{
	handles();
	tracer_start(guard_first);
	tracer_kill();
	await_nap(1);
	most_is_restored();
	stage->naps_allowed = 1;
	await_guardian();
	is_restored(&victims[0], true);
	ck_assert_uint_eq(stage->naps, 1);
}
END_TEST

START_TEST(a_thread_without_a_processor_is_waited_for)
{
	handles();
	tracer_start(guard_first);
	stage->state = 'R';
	stage->ran[0] = 5;
	stage->ran[1] = 7;
	stage->naps_allowed = 2;
	tracer_kill();
	await_nap(3);
	most_is_restored();
	stage->ran[1] = 8;
	stage->naps_allowed = 3;
	await_guardian();
	is_restored(&victims[0], true);
	ck_assert_uint_eq(stage->naps, 3);
}
END_TEST

START_TEST(user_time_counts_too)
{
	handles();
	tracer_start(guard_first);
	stage->state = 'R';
	tracer_kill();
	await_nap(1);
	stage->ran[0] = 1;
	stage->naps_allowed = 1;
	await_guardian();
	ck_assert_uint_eq(stage->naps, 1);
}
END_TEST

START_TEST(one_that_sleeps_meanwhile_is_not)
{
	handles();
	tracer_start(guard_first);
	stage->state = 'R';
	tracer_kill();
	await_nap(1);
	stage->state = 'S';
	stage->naps_allowed = 1;
	await_guardian();
	ck_assert_uint_eq(stage->naps, 1);
}
END_TEST

START_TEST(without_such_a_program_nobody_is_waited_for)
{
	tracer_start(guard_first);
	stage->state = 'R';
	tracer_kill();
	await_guardian();
	ck_assert_uint_eq(stage->naps, 0);
}
END_TEST

/* ---- code of a call that was being made ---- */

START_TEST(code_of_a_call_is_cleared_at_last)
{
	tracer_start(guard_first);
	stage->clear_at = 61;
	stage->naps_allowed = UINT32_MAX;
	tracer_kill();
	await_guardian();
	ck_assert_uint_eq(stage->clears, 61);
	ck_assert_uint_eq(stage->naps, 60);
	/* It naps longer and longer, up to a limit. */
	ck_assert_int_eq(stage->nap_first, 1000000);
	ck_assert_int_eq(stage->nap_second, 1125000);
	ck_assert_int_ge(stage->nap_longest, NAP_MAX);
	ck_assert_int_lt(stage->nap_longest, 2L * NAP_MAX);
}
END_TEST

START_TEST(it_is_left_after_ten_seconds)
{
	tracer_start(guard_first);
	stage->clear_at = UINT32_MAX;
	stage->naps_allowed = UINT32_MAX;
	stage->step = NS_PER_S;
	tracer_kill();
	await_guardian();
	ck_assert_uint_eq(stage->clears, LEFT_S - 1);
	is_restored(&victims[0], true);
}
END_TEST

START_TEST(the_next_tracer_clears_it_itself)
{
	tracer_start(guard_first);
	stage->clear_at = UINT32_MAX;
	tracer_kill();
	await_nap(1);
	kill(stage->guardian, SIGTERM);
	await_guardian();
	ck_assert_uint_eq(stage->clears, 1);
}
END_TEST

/* ---- what kind of process it is ---- */

static unsigned
descriptors_of(pid_t pid)
{
	char path[64];
	unsigned n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n - 2; /* . and .. */
}

static void
is_link(const char *name, const char *want)
{
	char path[64], got[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)guardian, name);
	ck_assert_int_gt(readlink(path, got, sizeof(got) - 1), 0);
	ck_assert_str_eq(got, want);
}

START_TEST(it_stands_alone)
{
	struct proc_status status;
	struct rlimit lim;

	ck_assert_int_eq(has(&victims[0]), 0);
	ck_assert_int_eq(getsid(guardian), guardian);
	ck_assert_int_eq(procfs_status(guardian, &status), 0);
	ck_assert_str_eq(status.comm, "dtrap-guardian");
	/* Its socket, and the memory. */
	ck_assert_uint_eq(descriptors_of(guardian), 5);
	is_link("fd/0", "/dev/null");
	is_link("fd/1", "/dev/null");
	is_link("fd/2", "/dev/null");
	is_link("cwd", "/");
	ck_assert_int_eq(prlimit(guardian, RLIMIT_NOFILE, NULL, &lim), 0);
	ck_assert_uint_eq(lim.rlim_cur, lim.rlim_max);
	ck_assert_int_eq(stage->policy, SCHED_FIFO);
	ck_assert_int_eq(stage->priority, 0);
	/* No signal ends it, but SIGKILL. */
	for (int sig = 1; sig < 32; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			kill(guardian, sig);
	victim_start(&victims[1]);
	ck_assert_int_eq(has(&victims[1]), 0);
	ck_assert(guardian_is_alive());
}
END_TEST

START_TEST(without_real_time_it_takes_the_best_priority)
{
	stage->no_fifo = true;
	ck_assert_int_eq(has(&victims[0]), 0);
	ck_assert_int_eq(stage->priority, -20);
}
END_TEST

START_TEST(or_the_best_that_it_may_have)
{
	stage->no_fifo = stage->no_priority = true;
	ck_assert_int_eq(has(&victims[0]), 0);
	ck_assert_int_eq(stage->priority, 20 - 30);
}
END_TEST

/* ---- in the tracer ---- */

START_TEST(a_record_is_made_once_and_used_again)
{
	victim_start(&victims[1]);
	victim_start(&victims[2]);
	ck_assert_int_eq(has(&victims[0]), 0);
	const pid_t first = guardian;
	ck_assert_uint_eq(victims[0].space.guardian, 1);
	ck_assert_int_eq(has(&victims[0]), 0);
	ck_assert_uint_eq(victims[0].space.guardian, 1);
	ck_assert_int_eq(has(&victims[1]), 0);
	ck_assert_uint_eq(victims[1].space.guardian, 2);
	ck_assert_uint_eq(descriptors_of(guardian), 6);
	guardian_drop(&victims[0].space);
	ck_assert_int_eq(has(&victims[2]), 0);
	ck_assert_uint_eq(victims[2].space.guardian, 1);
	/* It has not kept the memory of the first. */
	ck_assert_uint_eq(descriptors_of(guardian), 6);
	ck_assert_int_eq(guardian, first);
}
END_TEST

START_TEST(there_are_not_more_records_than_that)
{
	ck_assert_int_eq(guardian_start(), 0);
	for (size_t i = 0; i < RECORDS; i++)
		shared->records[i].live = true;
	ck_assert_int_eq(has(&victims[0]), -ENOMEM);
	ck_assert_uint_eq(victims[0].space.guardian, 0);
	shared->records[RECORDS - 1].live = false;
	ck_assert_int_eq(has(&victims[0]), 0);
	ck_assert_uint_eq(victims[0].space.guardian, RECORDS);
}
END_TEST

START_TEST(memory_that_is_not_open_is_not_given)
{
	struct space sp = { .mem_fd = -1 };

	*vec_push(&sp.procs) = &victims[0].proc;
	ck_assert_int_eq(guardian_has(&sp, 0x1000), -EMFILE);
	sp.mem_fd = victims[0].mem;
	sp.procs.len = 0;
	ck_assert_int_eq(guardian_has(&sp, 0x1000), -EMFILE);
	ck_assert_uint_eq(sp.guardian, 0);
	vec_fini(&sp.procs);
}
END_TEST

START_TEST(without_a_guardian_nothing_is_guarded)
{
	no_socket = true;
	ck_assert_int_eq(has(&victims[0]), -EMFILE);
	ck_assert_uint_eq(victims[0].space.guardian, 0);
	no_socket = false;
	ck_assert_int_eq(has(&victims[0]), 0);
}
END_TEST

/* The kernel passes the message on without the descriptor. */
START_TEST(a_guardian_without_descriptors_says_so)
{
	struct rlimit lim = { 5, 5 };

	ck_assert_int_eq(has(&victims[0]), 0);
	ck_assert_int_eq(prlimit(guardian, RLIMIT_NOFILE, &lim, NULL), 0);
	victim_start(&victims[1]);
	ck_assert_int_eq(has(&victims[1]), -EMFILE);
	ck_assert_uint_eq(victims[1].space.guardian, 0);
	ck_assert_uint_eq(area_of(&victims[1]).keeper, 0);
	ck_assert(!shared->records[1].live);
}
END_TEST

static void
stop_guardian(void)
{
	int status;

	kill(guardian, SIGSTOP);
	ck_assert_int_eq(waitpid(guardian, &status, WUNTRACED), guardian);
	ck_assert(WIFSTOPPED(status));
}

START_TEST(a_stopped_guardian_is_continued)
{
	int status;

	ck_assert_int_eq(guardian_start(), 0);
	stop_guardian();
	ck_assert_int_eq(has(&victims[0]), 0);
	ck_assert_int_eq(waitpid(guardian, &status, WCONTINUED), guardian);
	ck_assert(WIFCONTINUED(status));
	stop_guardian();
	ck_assert(guardian_is_alive());
	ck_assert_int_eq(waitpid(guardian, &status, WCONTINUED), guardian);
	ck_assert(WIFCONTINUED(status));
	/* It would not end by itself. */
	stop_guardian();
	guardian_end();
	ck_assert_int_eq(waitpid(guardian, &status, 0), guardian);
	ck_assert(WIFSIGNALED(status));
}
END_TEST

START_TEST(its_end_is_noticed)
{
	siginfo_t si;

	ck_assert(!guardian_is_alive());
	ck_assert_int_eq(has(&victims[0]), 0);
	ck_assert(guardian_is_alive());
	guardian_stirred();
	interrupts = 0;
	kill(guardian, SIGKILL);
	ck_assert_int_eq(
	    waitid(P_PID, (id_t)guardian, &si, WEXITED | WNOWAIT), 0);
	ck_assert(guardian_stirred());
	ck_assert(!guardian_stirred());
	ck_assert_int_gt(interrupts, 0); /* the loop does not wait on */
	ck_assert(!guardian_is_alive());
	victim_start(&victims[1]);
	ck_assert_int_eq(has(&victims[1]), -EPIPE);
	ck_assert_uint_eq(victims[1].space.guardian, 0);
}
END_TEST

/* A guardian that never reads what it is sent. */
static int
deaf_guardian(void)
{
	int pair[2];

	ck_assert_int_eq(guardian_start(), 0);
	kill(guardian, SIGKILL);
	waitpid(guardian, NULL, 0);
	close(to_guardian);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	to_guardian = pair[0];
	guardian = victims[0].proc.pid;
	return pair[1];
}

START_TEST(an_answer_is_not_awaited_for_ever)
{
	deaf_guardian();
	stage->step = 3000;
	ck_assert_int_eq(has(&victims[0]), -ETIMEDOUT);
}
END_TEST

/* Its next guardian has not confirmed it yet. */
START_TEST(a_record_that_is_sent_again_is_confirmed_again)
{
	ck_assert_int_eq(has(&victims[0]), 0);
	deaf_guardian();
	ck_assert_int_eq(send_memory(0, victims[0].mem), 0);
	stage->step = 3000;
	ck_assert_int_eq(has(&victims[0]), -ETIMEDOUT);
}
END_TEST

START_TEST(nor_one_of_a_guardian_that_ends)
{
	int end = deaf_guardian();

	ck_assert_int_eq(guardian_add(&victims[0].space, 0), 0);
	close(end);
	ck_assert_int_eq(has(&victims[0]), -EPIPE);
}
END_TEST

START_TEST(nor_room_for_a_message)
{
	deaf_guardian();
	/* The socket becomes full. */
	while (send(to_guardian, "", 1, MSG_DONTWAIT) == 1)
		;
	stage->step = 3000;
	ck_assert_int_eq(has(&victims[0]), -ETIMEDOUT);
	ck_assert_uint_eq(victims[0].space.guardian, 0);
	ck_assert(!shared->records[0].live);
}
END_TEST

/* The kernel then tells a reset, once, and no broken pipe. */
START_TEST(a_message_that_it_has_not_read_is_no_other_error)
{
	int end = deaf_guardian();

	ck_assert_int_eq(guardian_add(&victims[0].space, 0), 0);
	close(end);
	guardian_drop(&victims[0].space);
	ck_assert_int_eq(guardian_add(&victims[0].space, 0), -EPIPE);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		after_a_kill_all_is_put_back,
		after_a_good_end_nothing_is,
		a_dropped_space_is_left_alone,
		a_space_without_an_area_was_not_changed,
		children_of_every_thread_are_put_back,
		another_guardian_has_the_same_memory,
		markers_stay_while_a_trap_is_pending,
		other_pending_signals_do_not_matter,
		not_for_ever,
		the_next_tracer_removes_markers_itself,
		a_program_that_sets_actions_is_given_time,
		a_thread_without_a_processor_is_waited_for,
		user_time_counts_too,
		one_that_sleeps_meanwhile_is_not,
		without_such_a_program_nobody_is_waited_for,
		code_of_a_call_is_cleared_at_last,
		it_is_left_after_ten_seconds,
		the_next_tracer_clears_it_itself,
		it_stands_alone,
		without_real_time_it_takes_the_best_priority,
		or_the_best_that_it_may_have,
		a_record_is_made_once_and_used_again,
		there_are_not_more_records_than_that,
		memory_that_is_not_open_is_not_given,
		without_a_guardian_nothing_is_guarded,
		a_guardian_without_descriptors_says_so,
		a_stopped_guardian_is_continued,
		its_end_is_noticed,
		an_answer_is_not_awaited_for_ever,
		a_record_that_is_sent_again_is_confirmed_again,
		nor_one_of_a_guardian_that_ends,
		nor_room_for_a_message,
		a_message_that_it_has_not_read_is_no_other_error,
	};

	return suite_run("guardian", setup, teardown, tests, ARRAY_SIZE(tests));
}
