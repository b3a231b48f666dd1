/*
 * inject/stub.h: the code of a site is left at each of its instructions, in each state
 * in which a thread can be there.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "t/unit/stub_fixture.h"

static int
read_child(struct target *t, uint64_t addr, void *buf, size_t len)
{
	/* Memory of ours but for the stack, which is the child's. */
	for (size_t i = 0; i < len; i += 8) {
		long word = ptrace(PTRACE_PEEKDATA,
		    *(pid_t *)((char *)t + sizeof(struct target)),
		    (void *)(uintptr_t)(addr + i), NULL);
		memcpy((char *)buf + i, &word, 8);
	}
	return 0;
}

static const struct target_ops child_ops = { .read = read_child };

static struct child {
	struct target target;
	pid_t pid;
} child = { .target = { &child_ops } };

static void
fetch(struct uregs *r)
{
	struct user_regs_struct u;

	static_assert(sizeof(u) == sizeof(*r), "uregs.h");
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, child.pid, NULL, &u), 0);
	memcpy(r, &u, sizeof(u));
}

static void
is_at_site(const struct uregs *now, const struct uregs *site, size_t at)
{
	for (unsigned i = 0; i < UREG_COUNT; i++) {
		uint64_t mask = i == UREG_RFLAGS ? FLAGS : UINT64_MAX;
		if (i != UREG_ORIG_RAX)
			ck_assert_msg((now->r[i] & mask) == (site->r[i] & mask),
			    "at +%zu register %u is %lx, not %lx", at, i,
			    (long)now->r[i], (long)site->r[i]);
	}
}

/* At another displaced instruction: only the pc is changed. */
static void
is_displaced(const struct stub *s, const struct uregs *now,
    const struct uregs *was, size_t at, bool ahead)
{
	struct uregs want = *was;

	for (unsigned i = 0; i <= s->n; i++)
		if (at == s->displaced[i]) {
			ck_assert_int_eq(ahead, i < s->first);
			ck_assert_uint_ne(i, s->first);
			want.r[UREG_PC] = s->site[i];
		}
	is_at_site(now, &want, at);
}

/* The window that is left. */
static const char *window_bytes = NOPS;
static unsigned window_len = 5, window_site;

/* A word of the child. */
static uint64_t
peek(const void *at)
{
	errno = 0;
	long word =
	    ptrace(PTRACE_PEEKDATA, child.pid, (void *)(uintptr_t)at, NULL);
	ck_assert_int_eq(errno, 0);
	return (unsigned long)word;
}

/* Firings of the child. */
static unsigned
fired_there(void)
{
	return (unsigned)(uint32_t)peek(&hits) +
	    (body_result == 0 ? (unsigned)peek(&body_count) : 0);
}

/* A thread behind the site has fired there: it was neither told to pass, nor had no
 * lane or tracer. */
static bool must_fire;

/* Where the thread is in the code of the site, and run(), is compared with the
 * registers at the site, and with the firings before and since. */
static enum stub_place
is_left(const struct stub *s, const struct uregs *now, const struct uregs *site,
    unsigned before, bool in_run)
{
	struct uregs r = *now;
	uint64_t pc = now->r[UREG_PC];
	size_t at = in_run ? pc - run.addr + 10000 : stub_offset(s, pc);
	enum stub_place p = STUB_FIRING;
	if (!in_run)
		p = stub_leave(s, &child.target, &r);
	else if (!stub_run_fires(&run, pc))
		p = stub_run_leave(&run, s, &child.target, &r);
	unsigned since = fired_there() - before;

	if (p == STUB_BEFORE)
		ck_assert_msg(since == 0, "+%zu has fired", at);
	if (p == STUB_FIRED && must_fire)
		ck_assert_msg(since == 1, "+%zu has not fired", at);
	if (p == STUB_BEFORE || p == STUB_FIRED)
		is_at_site(&r, site, at);
	else if (p == STUB_FIRING)
		ck_assert_mem_eq(&r, now, sizeof(r));
	else
		is_displaced(s, &r, now, at, p == STUB_AHEAD);
	if (in_run && !stub_run_fires(&run, pc))
		ck_assert_uint_eq(peek((void *)(uintptr_t)now->r[UREG_RSP]),
		    stub_address(s, s->back));
	else if (in_run)
		ck_assert_int_eq(p, STUB_FIRING);
	else
		ck_assert_uint_eq(stub_text_pc(s, pc),
		    p == STUB_FIRING ? site->r[UREG_PC] : r.r[UREG_PC]);
	return p;
}

/* Offsets of instructions that were executed. */
static bool seen[STUB_SIZE_MAX], seen_in_run[STUB_RUN_MAX];

/* One step after another, and at each the thread is put where it would be.  Returns
 * how many int3s it has executed. */
static unsigned
step_through(const struct stub *s, unsigned places[8])
{
	struct uregs site = { 0 }, now;
	unsigned before = fired_there(), traps = 0;
	enum stub_place was = STUB_OUTSIDE;
	int status;

	for (;;) {
		fetch(&now);
		uint64_t pc = now.r[UREG_PC];
		bool in_run;
		size_t at = offset_in(s, pc, &in_run);
		/* A goroutine's r12 and flags are nobody's. */
		if (!in_run &&
		    (at == s->begin ||
			(goroutine && at > s->begin && at <= s->asks))) {
			site = now;
			site.r[UREG_PC] = s->site[s->first];
		}
		if (in_run || at < s->size) {
			was = is_left(s, &now, &site, before, in_run);
			places[was]++;
			traps +=
			    !in_run && (at == s->trap || at == s->called_trap);
			(in_run ? seen_in_run : seen)[at] = true;
			/* A thread that is called goes on to the int3. */
			if (traps == 0 && peek(&lane->call) != 0)
				ck_assert_int_ne(was, STUB_FIRED);
		}
		if (pc == address(text) + window_len)
			return traps;
		ptrace(PTRACE_SINGLESTEP, child.pid, NULL, NULL);
		ck_assert_int_eq(waitpid(child.pid, &status, 0), child.pid);
		ck_assert_msg(WIFSTOPPED(status), "%x", (unsigned)status);
		if (WSTOPSIG(status) != SIGTRAP)
			ck_abort_msg("signal %d", WSTOPSIG(status));
	}
}

/* What the child is to find. */
struct way {
	uint64_t flags;
	uint32_t alive;
	long
	    skip; /* how far above the site's stack pointer skip_sp is; -1: there
		    * is none */
	bool orphan;   /* in memory that a fork has copied */
	bool stranger; /* the lane is not the thread's */
	bool busy, call;
	bool elsewhere; /* skip_at is not the site */
};

static unsigned
leave_by(const struct stub *s, const struct way *way, unsigned places[8])
{
	int status;

	regs_in[4] = way->flags;
	must_fire = way->alive == 77 && !way->orphan && !way->busy &&
	    !way->stranger && way->skip == -1 && !s->taken;
	child.pid = fork();
	if (child.pid == 0) {
		words->alive = 77;
		words->mine = 1;
		lane->memory = thread_memory();
		lane->skip_sp = lane->skip_at = lane->call = lane->busy = 0;
		uint32_t result = body_result;
		body_result =
		    1; /* hit() is called, and notes the stack pointer */
		run_at(text);
		body_result = result;
		words->alive = way->alive;
		words->mine = !way->orphan;
		lane->memory += way->stranger;
		lane->busy = way->busy ? 4 : 0;
		lane->call = way->call;
		if (way->skip != -1) {
			lane->skip_sp =
			    lane->regs.r[UREG_RSP] + (uint64_t)way->skip;
			lane->skip_at = s->site[s->first] + way->elsewhere;
		}
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		run_at(text);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child.pid, &status, 0), child.pid);
	unsigned traps = step_through(s, places);
	kill(child.pid, SIGKILL);
	waitpid(child.pid, &status, 0);
	return traps;
}

static void
leave_everywhere(uint64_t flags, uint32_t alive, long skip, unsigned places[8])
{
	const struct way way = { .flags = flags, .alive = alive, .skip = skip };
	struct stub s;

	make_at(&s, window_bytes, window_len, window_site);
	ck_assert_uint_eq(leave_by(&s, &way, places), 0);
}

/* All instructions in code[0 .. size) have been executed. */
static void
is_all_seen(const uint8_t *at, size_t size, const bool *was, const char *what)
{
	struct insn in;

	for (size_t n = 0; n < size; n += in.len) {
		ck_assert_int_eq(
		    insn_decode(at + n, size - n, address(at + n), &in), 0);
		ck_assert_msg(was[n], "%s +%zu", what, n);
	}
}

/* In every way, with the body that `body' has. */
static void
leave_in_every_way(void)
{
	static const struct way ways[] = {
		{ .flags = 0x202 | FLAGS, .alive = 77, .skip = -1 },
		{ .flags = 0x202, .alive = 77, .skip = -1 },
		{ .flags = 0x202 | FLAGS, .alive = 0, .skip = -1 },
		{ .flags = 0x202, .alive = 77, .skip = -1, .orphan = true },
		{ .flags = 0x202 | FLAGS, .alive = 77, .skip = 0 },
		{ .flags = 0x202, .alive = 77, .skip = 64 },
		{ .flags = 0x202 | FLAGS, .alive = 77, .skip = -8 },
		{ .flags = 0x202, .alive = 77, .skip = 0, .elsewhere = true },
		{ .flags = 0x202 | FLAGS,
		    .alive = 77,
		    .skip = -1,
		    .busy = true },
		{ .flags = 0x202 | FLAGS,
		    .alive = 77,
		    .skip = -1,
		    .stranger = true },
		{ .flags = 0x202, .alive = 77, .skip = -1, .call = true },
		{ .flags = 0x202 | FLAGS,
		    .alive = 77,
		    .skip = -1,
		    .call = true },
	};
	const size_t last = ARRAY_SIZE(ways) - 3; /* that do not trap */
	struct stub s;

	memset(seen, 0, sizeof(seen));
	memset(seen_in_run, 0, sizeof(seen_in_run));
	make_at(&s, window_bytes, window_len, window_site);
	for (body_result = 0; body_result < 2; body_result++)
		for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
			unsigned places[8] = { 0 };
			unsigned traps = leave_by(&s, &ways[i], places);
			ck_assert_uint_eq(traps, i >= last);
			ck_assert_uint_eq(places[STUB_OUTSIDE], 0);
			ck_assert_uint_eq(places[STUB_AHEAD], window_site);
		}
	body_result = 0;
	is_all_seen(
	    code, s.rare != 0 ? s.displaced[s.n] : s.out, seen, "first piece");
	if (s.rare != 0) {
		is_all_seen(code + RARE, s.trap - s.first_size,
		    seen + s.first_size, "second piece");
		is_all_seen(code + RUN + run.entry, run.size - run.entry,
		    seen_in_run + run.entry, "run()");
		ck_assert(seen_in_run[run.entry - 4]);
	}
	is_all_seen((uint8_t *)(uintptr_t)stub_address(&s, s.lost),
	    s.ask - s.lost, seen + s.lost, "what is rare");
}

START_TEST(it_is_left_at_every_instruction)
{
	unsigned places[8] = { 0 };

	leave_everywhere(0x202 | FLAGS, 77, -1, places);
	leave_everywhere(0x202, 77, -1, places);
	ck_assert_uint_ge(places[STUB_BEFORE], 20);
	ck_assert_uint_ge(places[STUB_FIRING], 20);
	ck_assert_uint_ge(places[STUB_FIRED], 15);
	ck_assert_uint_ge(places[STUB_BEHIND], 2);
	leave_everywhere(0x202 | FLAGS, 0, -1, places);
	leave_everywhere(0x202 | FLAGS, 77, 0, places);
	leave_everywhere(0x202 | FLAGS, 77, 64, places);
	ck_assert_uint_eq(places[STUB_AHEAD], 0);
	/* Two instructions before its site. */
	window_bytes = "\x53\x5b\x90\x66\x90";
	window_site = 2;
	memset(places, 0, sizeof(places));
	leave_everywhere(0x202 | FLAGS, 77, -1, places);
	leave_everywhere(0x202, 0, -1, places);
	leave_everywhere(0x202 | FLAGS, 77, 0, places);
	ck_assert_uint_eq(places[STUB_AHEAD], 3 * 2);
	ck_assert_uint_eq(places[STUB_BEHIND], 3 * 2);
	ck_assert_uint_ge(places[STUB_BEFORE], 30);
	ck_assert_uint_ge(places[STUB_FIRED], 20); /* of two ways out */
	/* Of a branch that is to be taken. */
	taken = true;
	window_bytes = "\x66\x90\x75\x01\x90"; /* nop, jne over the next one */
	window_site = 1;
	for (unsigned flags = 0x202; flags <= 0x242; flags += 0x40) {
		memset(places, 0, sizeof(places));
		leave_everywhere(flags, 77, -1, places);
		ck_assert_int_eq(places[STUB_FIRING] > 0, flags == 0x202);
		ck_assert_uint_ge(places[STUB_BEFORE], 1);
	}
	taken = false;
	/* A call, alone and behind other instructions: with its return address
	 * on the stack the thread is where it leads. */
	window_bytes = "\xe8\x7b\x00\x00\x00";
	window_site = 0;
	memset(places, 0, sizeof(places));
	leave_everywhere(0x202 | FLAGS, 77, -1, places);
	ck_assert_uint_eq(places[STUB_BEHIND], 1);
	window_bytes = "\x53\x5b\xe8\x79\x00\x00\x00";
	window_len = 7;
	leave_everywhere(0x202 | FLAGS, 77, -1, places);
	ck_assert_uint_eq(places[STUB_BEHIND], 1 + 3);
	window_site = 2;
	leave_everywhere(0x202, 0, -1, places);
	ck_assert_uint_eq(places[STUB_AHEAD], 2);
	ck_assert_uint_eq(places[STUB_BEHIND], 1 + 3 + 1);
	/* On a goroutine's stack, with room and without. */
	uint64_t g[2] = { 0, UINT64_MAX };
	window_bytes = NOPS;
	window_len = 5;
	window_site = 0;
	goroutine = stub_on_goroutines();
	regs_in[14] = address(g);
	memset(places, 0, sizeof(places));
	leave_everywhere(0x202 | FLAGS, 77, -1, places);
	ck_assert_uint_ge(places[STUB_FIRING], 20);
	ck_assert_uint_ge(places[STUB_BEFORE], 20);
	goroutine = false;
}
END_TEST

static const struct {
	void (*code)(void); /* NULL: none */
	uint32_t saves;
} bodies[] = { { NULL, 0 }, { few_body, FEW }, { all_body, ALL },
	{ few_body, ALL & ~(1U << UREG_R9) } };

START_TEST(both_pieces_are_left_at_every_instruction)
{
	uint64_t g[2] = { 0, UINT64_MAX };

	if (bodies[_i / 4].code != NULL)
		use_body(bodies[_i / 4].code, bodies[_i / 4].saves);
	switch (_i % 4) {
	case 0: break;
	case 1: /* two instructions before its site */
		window_bytes = "\x53\x5b\x90\x66\x90";
		window_site = 2;
		break;
	case 2: /* a call behind two instructions */
		window_bytes = "\x53\x5b\xe8\x79\x00\x00\x00";
		window_len = 7;
		window_site = 2;
		break;
	case 3:
		goroutine = stub_on_goroutines();
		regs_in[14] = address(g);
		break;
	}
	leave_in_every_way();
}
END_TEST

/* A body is not done if the branch is not taken. */
START_TEST(a_branch_and_a_body)
{
	unsigned places[8] = { 0 };
	struct stub s;

	use_body(few_body, FEW);
	taken = true;
	window_bytes = "\x66\x90\x75\x01\x90"; /* nop, jne over the next one */
	window_site = 1;
	for (unsigned zf = 0; zf < 2; zf++) {
		const struct way way = {
			.flags = 0x202 | zf << 6, .alive = 77, .skip = -1
		};
		make_at(&s, window_bytes, window_len, window_site);
		body_count = 0;
		regs_in[4] = way.flags;
		run_at(text);
		ck_assert_uint_eq(body_count, !zf);
		leave_by(&s, &way, places);
	}
	ck_assert_uint_ge(places[STUB_FIRED], 10);
	taken = false;
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("stub_leave");
	TCase *t = tcase_create("stub_leave");

	if (!stub_possible())
		return 77;
	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, it_is_left_at_every_instruction);
	tcase_add_loop_test(t, both_pieces_are_left_at_every_instruction, 0,
	    4 * (int)ARRAY_SIZE(bodies));
	tcase_add_test(t, a_branch_and_a_body);
	suite_add_tcase(suite, t);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
