/*
 * inject/stub.h: the code of a site, run by this processor.  test_stub_leave.c leaves
 * it at each of its instructions.
 */
#include <signal.h>
#include <ucontext.h>

#include "t/unit/suite.h"

#include "t/unit/stub_fixture.h"

static void
make(struct stub *s, const void *bytes, size_t len)
{
	make_at(s, bytes, len, 0);
}

static void
run_and_compare(void)
{
	run_at(text);
	for (unsigned i = 0; i < 16; i++)
		if (i == 4)
			ck_assert_uint_eq(
			    regs_out[4] & FLAGS, regs_in[4] & FLAGS);
		else
			ck_assert_msg(regs_out[i] == regs_in[i],
			    "register %u: %lx", i, (long)regs_out[i]);
}

START_TEST(registers_and_flags_are_as_before)
{
	struct stub s;

	make(&s, NOPS, 5);
	/* Every flag, and all of them. */
	for (unsigned bit = 0; bit < 13; bit++) {
		unsigned f = bit == 12 ? FLAGS : (1U << bit) & FLAGS;
		regs_in[4] = 0x202 | f;
		run_and_compare();
		ck_assert_uint_eq(hits, bit + 1);
		ck_assert_uint_eq(lane->regs.r[UREG_RFLAGS] & FLAGS, f);
	}
	ck_assert_uint_eq(id_seen, 5);
	ck_assert_uint_eq(lane->busy, 0);
	ck_assert_uint_eq(lane->lost, 0);
	ck_assert_uint_eq(lane->regs.r[UREG_RAX], regs_in[0]);
	ck_assert_uint_eq(lane->regs.r[UREG_RCX], regs_in[1]);
	ck_assert_uint_eq(lane->regs.r[UREG_R15], regs_in[15]);
	ck_assert_uint_eq(lane->regs.r[UREG_RIP], address(text));
}
END_TEST

START_TEST(instructions_are_displaced)
{
	static const struct {
		const char *bytes;
		unsigned len, site;
	} rows[] = {
		{ "\x55\x48\x89\xe5\x5d", 5, 0 }, /* push, mov rbp, pop */
		{ "\xc3\x90\x90\x90\x90", 1, 0 }, /* ret, and padding */
		{ "\x48\x8d\x05\x04\x00\x00\x00", 7,
		    0 },                          /* lea rax, [rip + 4] */
		{ "\xeb\x03\xcc\xcc\xcc", 2, 0 }, /* jmp to the ret */
		{ "\x75\x03\x0f\x1f\x00", 5, 0 }, /* jne to the ret */
		{ "\x83\xc0\x01\x66\x90", 5, 0 }, /* add eax, 1 */
		{ "\x83\xc0\x01\x66\x90", 5, 1 }, /* ... before it */
		{ "\x55\x48\x89\xe5\x5d", 5, 2 }, /* the pop */
		{ "\x55\x48\x89\xe5\x5d", 5, 1 }, /* the mov */
		{ "\x66\x90\x5b\x53\xc3", 5, 3 }, /* nop, pop, push, ret */
		/* lea rax, [rip + 4]; ret */
		{ "\x48\x8d\x05\x04\x00\x00\x00\xc3", 8, 1 },
		{ "\xe8\x7b\x00\x00\x00", 5, 0 }, /* call CALLEE */
		/* push, pop, call CALLEE */
		{ "\x53\x5b\xe8\x79\x00\x00\x00", 7, 0 },
		{ "\x53\x5b\xe8\x79\x00\x00\x00", 7, 2 },
		{ "\x38\xc0\x74\x01\x90", 5, 2 }, /* cmp, je over the nop */
	};
	const unsigned passed = 1; /* by the last of them */
	struct stub s;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t want[16];
		struct window w;
		window_of(&w, rows[i].bytes, rows[i].len);
		run_at(text);
		memcpy(want, regs_out, sizeof(want));
		make_at(&s, rows[i].bytes, rows[i].len, rows[i].site);
		run_at(text);
		ck_assert_mem_eq(want, regs_out, sizeof(want));
	}
	ck_assert_uint_eq(hits, ARRAY_SIZE(rows) - passed);
}
END_TEST

/* What a clause sees are the registers at the site, behind what was displaced
 * before it. */
START_TEST(the_site_is_behind_other_instructions)
{
	struct stub s;

	make_at(&s, "\x31\xc0\x50\x58\xc3", 5, 2); /* xor, push, pop, ret */
	run_at(text);
	ck_assert_uint_eq(hits, 1);
	uint64_t sp = lane->regs.r[UREG_RSP];
	ck_assert_uint_eq(lane->regs.r[UREG_RAX], 0);
	ck_assert_uint_eq(lane->regs.r[UREG_RFLAGS] & 0x40, 0x40);
	ck_assert_uint_eq(lane->regs.r[UREG_RIP], address(text) + 3);
	make_at(&s, "\x31\xc0\x50\x58\xc3", 5, 3);
	run_at(text);
	ck_assert_uint_eq(lane->regs.r[UREG_RSP], sp + 8);
	ck_assert_uint_eq(lane->regs.r[UREG_RIP], address(text) + 4);
	/* The second trap is at the site. */
	hits = 0;
	lane->skip_at = address(text) + 4;
	lane->skip_sp = sp + 8;
	run_at(text);
	ck_assert_uint_eq(hits, 0);
	ck_assert_uint_eq(lane->skip_sp, 0);
}
END_TEST

START_TEST(a_branch_that_is_not_taken_does_not_fire)
{
	/* jcc to the ret, or a nop before it. */
	char bytes[] = "\x70\x03\x0f\x1f\x00";
	struct stub s;

	taken = true;
	for (unsigned cond = 0; cond < 16; cond++)
		for (unsigned f = 0; f < 64; f++) {
			uint64_t flags = 0x202 | (f & 1) | (f & 2) << 1 |
			    (f & 4) << 4 | (f & 8) << 4 | (f & 16) << 7;
			bool cf = f & 1, pf = f & 2, zf = f & 4, sf = f & 8;
			bool of = f & 16,
			     goes[] = { of, cf, zf, cf || zf, sf, pf, sf != of,
				     zf || sf != of };
			bytes[0] = (char)(0x70 + cond);
			make(&s, bytes, 5);
			hits = 0;
			regs_in[4] = flags;
			run_and_compare();
			ck_assert_uint_eq(hits, goes[cond / 2] != cond % 2);
			if (hits != 0)
				ck_assert_uint_eq(
				    lane->regs.r[UREG_RFLAGS] & FLAGS,
				    flags & FLAGS);
		}
	/* Behind other instructions. */
	make_at(&s, "\x85\xc0\x74\x01\x90", 5, 1); /* test, je */
	for (hits = 0, regs_in[0] = 0; regs_in[0] < 3; regs_in[0]++) {
		run_at(text);
		ck_assert_uint_eq(hits, 1);
	}
}
END_TEST

/* Nothing is done, and no lane is written to. */
START_TEST(the_dead_and_the_copied_go_round)
{
	struct lane before = *lane;
	struct stub s;

	make(&s, NOPS, 5);
	words->alive = 0x40000000;
	run_and_compare();
	words->alive = 77;
	words->mine = 0;
	run_and_compare();
	ck_assert_uint_eq(hits, 0);
	ck_assert_mem_eq(&before, lane, sizeof(before));
	/* The same as long as it fires. */
	words->mine = 1;
	lane->busy = 4;
	run_and_compare();
	ck_assert_uint_eq(hits, 0);
	ck_assert_uint_eq(lane->lost, 1);
}
END_TEST

static uint64_t trapped_at;
static greg_t arguments[4];

static void
answer(int sig, siginfo_t *si, void *ctx)
{
	greg_t *regs = ((ucontext_t *)ctx)->uc_mcontext.gregs;

	trapped_at = (uint64_t)regs[REG_RIP] - 1;
	arguments[0] = regs[REG_RDI];
	arguments[1] = regs[REG_RSI];
	arguments[2] = regs[REG_RDX];
	arguments[3] = regs[REG_RCX];
	regs[REG_RAX] = 123;
}

START_TEST(the_tracer_is_asked_by_an_int3)
{
	struct sigaction act = { .sa_sigaction = answer,
		.sa_flags = SA_SIGINFO };
	struct stub s;

	make(&s, NOPS, 5);
	sigaction(SIGTRAP, &act, NULL);
	asks = true;
	run_and_compare();
	ck_assert_int_eq(gave, 123);
	ck_assert_uint_eq(trapped_at, stub_address(&s, s.asked));
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(arguments[i], i + 1);
	/* Who puts back the dead tracer's int3s makes it a nop. */
	code[s.asked] = 0x90; /* there is one piece */
	run_and_compare();
	ck_assert_int_eq(gave, -1);
	ck_assert_uint_eq(hits, 2);
	struct uregs regs = { .r[UREG_PC] = s.addr + s.asked + 1 };
	ck_assert_int_eq(stub_leave(&s, NULL, &regs), STUB_FIRING);
	ck_assert_uint_eq(regs.r[UREG_PC], s.addr + s.asked + 1);
}
END_TEST

START_TEST(what_has_fired_is_skipped_once)
{
	struct stub s;

	make(&s, NOPS, 5);
	run_and_compare();
	const uint64_t sp = lane->regs.r[UREG_RSP], site = address(text);
	const struct {
		uint64_t sp, at;
		bool fires, kept;
	} rows[] = {
		{ sp, site, false, false },
		{ sp, site + 1, true, false },
		{ sp - 8, site, true, false },
		{ sp + 8, site, true, true },
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		lane->skip_sp = rows[i].sp;
		lane->skip_at = rows[i].at;
		hits = 0;
		run_and_compare();
		ck_assert_uint_eq(hits, rows[i].fires);
		ck_assert_uint_eq(lane->skip_sp, rows[i].kept ? sp + 8 : 0);
	}
	ck_assert_uint_eq(lane->lost, 0);
}
END_TEST

/* The numbers of the registers of regs_in. */
static const uint8_t uregs[16] = { UREG_RAX, UREG_RCX, UREG_RDX, UREG_RBX,
	UREG_COUNT, UREG_RBP, UREG_RSI, UREG_RDI, UREG_R8, UREG_R9, UREG_R10,
	UREG_R11, UREG_R12, UREG_R13, UREG_R14, UREG_R15 };

static void
saved_values_are_found(uint32_t saves)
{
	for (unsigned n = 0; n < 16; n++) {
		bool pushed = n < 2 || (n != 4 && saves & 1U << uregs[n]);
		int32_t at = n != 4 ? stub_saved_at(saves, uregs[n]) : 0;
		if (!pushed && n != 4)
			ck_assert_int_eq(at, INT32_MIN);
		else if (n != 4)
			/* Behind the call of it. */
			ck_assert_uint_eq(body_stack[at / 8 + 1], regs_in[n]);
	}
}

START_TEST(the_body_comes_first)
{
	static const struct {
		void (*code)(void);
		uint32_t saves;
	} rows[] = { { few_body, FEW }, { all_body, ALL },
		{ few_body, ALL & ~(1U << UREG_R9) } };
	struct stub s;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (body_result = 0; body_result < 2; body_result++) {
			use_body(rows[i].code, rows[i].saves);
			make(&s, NOPS, 5);
			hits = 0;
			body_count = 0;
			memset(&lane->regs, 0, sizeof(lane->regs));
			regs_in[4] = 0x202 | FLAGS;
			run_and_compare();
			regs_in[4] = 0x202;
			run_and_compare();
			ck_assert_uint_eq(body_count, 2);
			ck_assert_uint_eq(body_lane, address(lane));
			ck_assert_uint_eq(hits, 2 * body_result);
			ck_assert_uint_eq(lane->busy, 0);
			saved_values_are_found(rows[i].saves);
			for (unsigned n = 0; n < 16; n++)
				ck_assert_uint_eq(
				    n == 4 ? 0 : lane->regs.r[uregs[n]],
				    n == 4 || body_result == 0 ? 0 :
								 regs_in[n]);
		}
}
END_TEST

START_TEST(a_body_is_called_only_in_a_firing)
{
	struct stub s;

	use_body(few_body, FEW);
	make(&s, NOPS, 5);
	words->alive = 0x40000000;
	run_and_compare();
	words->alive = 77;
	lane->busy = 4;
	run_and_compare();
	ck_assert_uint_eq(body_count, 0);
	ck_assert_uint_eq(lane->lost, 1);
	/* The row may be for another body. */
	lane->busy = 0;
	hits = 0;
	for (words->row = 0; words->row < 5; words->row++)
		run_and_compare();
	ck_assert_uint_eq(body_count, 1);
	ck_assert_uint_eq(hits, 4);
}
END_TEST

static struct stub *in_stub;
static uint8_t *guard;
static volatile sig_atomic_t overflows;

static void
on_overflow(int sig, siginfo_t *si, void *uc)
{
	greg_t *r = ((ucontext_t *)uc)->uc_mcontext.gregs;
	bool in_run;
	unsigned at = offset_in(in_stub, (uint64_t)r[REG_RIP], &in_run);

	ck_assert_uint_lt(address(si->si_addr) - address(guard), 4096);
	ck_assert_uint_lt(at, in_run ? run.busy : in_stub->back);
	ck_assert_uint_eq(lane->busy, 0);
	overflows++;
	mprotect(guard, 4096, PROT_READ | PROT_WRITE);
}

/* Call `to' on another stack. */
void run_on(void *to, void *stack);
__asm__(".text\n.globl run_on\nrun_on:\n"
	"push %rbp; mov %rsp, %rbp; mov %rsi, %rsp; call *%rdi\n"
	"mov %rbp, %rsp; pop %rbp; ret\n");

static void
run_text(void)
{
	run_at(text);
}

/* The end of the stack is found before the lane is busy. */
START_TEST(a_body_has_the_stack_that_it_needs)
{
	static uint8_t other[65536];
	struct sigaction sa = { .sa_sigaction = on_overflow,
		.sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t alt = { .ss_sp = other, .ss_size = sizeof(other) };
	uint8_t *stack = map(3 * 4096);
	struct stub s;

	guard = stack + 4096;
	sigaltstack(&alt, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	use_body(all_body, ALL);
	make(&s, NOPS, 5);
	in_stub = &s;
	/* run_at() itself takes 72 bytes, and run_text() some. */
	for (unsigned room = 256; room < 1024; room += 8) {
		overflows = 0;
		mprotect(guard, 4096, PROT_NONE);
		run_on(run_text, guard + 4096 + room);
		ck_assert_int_le(overflows, 1);
		if (room == 256)
			ck_assert_int_eq(overflows, 1);
	}
	ck_assert_int_eq(overflows, 0);
	mprotect(guard, 4096, PROT_READ | PROT_WRITE);
}
END_TEST

static volatile sig_atomic_t trapped, faulted;
static struct stub *at_fault;

static int
read_own(struct target *t, uint64_t addr, void *buf, size_t len)
{
	memcpy(buf, (const void *)(uintptr_t)addr, len);
	return 0;
}

static const struct target_ops own_ops = { .read = read_own };
static struct target own = { .ops = &own_ops };

/* As in struct uregs. */
static const struct {
	unsigned reg, ureg;
} kept[] = { { REG_RAX, UREG_RAX }, { REG_RCX, UREG_RCX },
	{ REG_RDX, UREG_RDX }, { REG_RBX, UREG_RBX }, { REG_RSP, UREG_RSP },
	{ REG_RBP, UREG_RBP }, { REG_RSI, UREG_RSI }, { REG_RDI, UREG_RDI },
	{ REG_R8, UREG_R8 }, { REG_R9, UREG_R9 }, { REG_R10, UREG_R10 },
	{ REG_R11, UREG_R11 }, { REG_R12, UREG_R12 }, { REG_R13, UREG_R13 },
	{ REG_R14, UREG_R14 }, { REG_R15, UREG_R15 }, { REG_RIP, UREG_RIP },
	{ REG_EFL, UREG_RFLAGS } };

/* As the tracer does, but for the int3: that of the code is as good. */
static void
on_fault(int sig, siginfo_t *si, void *uc)
{
	greg_t *r = ((ucontext_t *)uc)->uc_mcontext.gregs;
	struct uregs regs = { 0 };
	bool in_run;
	unsigned at = offset_in(at_fault, (uint64_t)r[REG_RIP], &in_run);

	ck_assert_uint_eq(at, in_run ? run.finds[0] : at_fault->finds[0]);
	ck_assert_int_eq(in_run, body.row != 0);
	faulted++;
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		regs.r[kept[i].ureg] = (uint64_t)r[kept[i].reg];
	ck_assert_int_eq(in_run ? stub_run_leave(&run, at_fault, &own, &regs) :
				  stub_leave(at_fault, &own, &regs),
	    STUB_BEFORE);
	regs.r[UREG_PC] = stub_address(at_fault, at_fault->trap);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		r[kept[i].reg] = (greg_t)regs.r[kept[i].ureg];
}

static void
on_trap(int sig)
{
	trapped++;
}

/* Firings so far, of hit() and of the body. */
static unsigned
fired(void)
{
	return hits + (body_result == 0 ? (unsigned)body_count : 0);
}

static void
traps_without_a_lane(struct stub *s, const struct lane *before)
{
	const uint64_t lie[8] = { 0 }, page[8] = { [3] = address(lane) + 64 };
	const uint64_t bases[] = { 0, 0x1000, UINT64_C(0x700000000000),
		address(lane) + 64, address(lie), address(page) };

	at_fault = s;
	trapped = faulted = 0;
	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		syscall(SYS_arch_prctl, ARCH_SET_GS, bases[i]);
		run_and_compare();
		ck_assert_int_eq(trapped, i + 1);
	}
	syscall(SYS_arch_prctl, ARCH_SET_GS, lane);
	lane->memory++;
	run_and_compare();
	ck_assert_int_eq(trapped, ARRAY_SIZE(bases) + 1);
	lane->memory--;
	/* Another stack: a page above ours, and one below. */
	uint64_t here = address(&s) & ~UINT64_C(4095);
	lane->stack_at = here + 4096;
	lane->stack_len = 4096;
	run_and_compare();
	lane->stack_at = here - 3 * 4096;
	run_and_compare();
	ck_assert_int_eq(trapped, ARRAY_SIZE(bases) + 3);
	lane->stack_len = 0;
	run_and_compare();
	ck_assert_int_eq(trapped, ARRAY_SIZE(bases) + 4);
	lane->stack_at = before->stack_at;
	lane->stack_len = before->stack_len;
	ck_assert_int_eq(faulted, 3);
}

/* Asked to, it traps when the firing is over. */
static void
traps_when_called(const struct stub *s)
{
	uint64_t here = address(&s) & ~UINT64_C(4095);

	trapped = 0;
	lane->call = 1;
	run_and_compare();
	ck_assert_uint_eq(fired(), 1);
	ck_assert_uint_eq(lane->busy, 0);
	ck_assert_int_eq(trapped, 1);
	/* As long as it is on its stack. */
	lane->call = 0;
	lane->stack_at = here - 3 * 4096;
	lane->stack_len = 5 * 4096;
	run_and_compare();
	ck_assert_uint_eq(fired(), 2);
	ck_assert_int_eq(trapped, 1);
}

START_TEST(a_lane_that_is_not_the_threads_is_not_written_to)
{
	struct sigaction sa = { .sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO };
	const struct lane before = *lane;
	struct stub s;

	sigaction(SIGSEGV, &sa, NULL);
	signal(SIGTRAP, on_trap);
	for (unsigned n = 0; n < 4; n++) {
		body_result = n == 3;
		if (n > 0)
			use_body(
			    n == 1 ? few_body : all_body, n == 1 ? FEW : ALL);
		make(&s, NOPS, 5);
		hits = 0;
		body_count = 0;
		*lane = before;
		traps_without_a_lane(&s, &before);
		ck_assert_mem_eq(&before, lane, sizeof(before));
		ck_assert_uint_eq(hits, 0);
		ck_assert_uint_eq(body_count, 0);
		traps_when_called(&s);
	}
}
END_TEST

/* A goroutine's stack is one that r14's struct says, and the code of the site writes to
 * no word below it. */
START_TEST(a_goroutines_stack_may_have_no_room)
{
	struct {
		uint64_t lo, hi;
	} g = { 0 };
	struct stub s;

	if (!stub_on_goroutines())
		return;
	signal(SIGTRAP, on_trap);
	goroutine = true;
	make(&s, NOPS, 5);
	regs_in[14] = address(&g);
	uint64_t sp = 0, *self, was;
	const struct {
		int64_t lo, hi; /* from the stack pointer at the site */
		bool room;
	} rows[] = {
		{ -65536, 65536, true },
		{ -408, 0, true },
		{ -407, 8, false },
		{ 0, 8, false },
		{ -65536, -1, false }, /* another stack */
		{ 8, 65536, false },
	};
	g.hi = UINT64_MAX;
	run_at(text);
	sp = lane->regs.r[UREG_RSP];
	ck_assert_uint_eq(hits, 1);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		size_t n = i % ARRAY_SIZE(rows);
		if (i == ARRAY_SIZE(rows)) {
			use_body(all_body, ALL);
			make(&s, NOPS, 5);
		}
		g.lo = sp + (uint64_t)rows[n].lo;
		g.hi = sp + (uint64_t)rows[n].hi;
		hits = 0;
		body_count = 0;
		trapped = 0;
		run_at(text);
		ck_assert_uint_eq(fired(), rows[n].room);
		ck_assert_int_eq(trapped, !rows[n].room);
		/* All but the flags and r12 are as before. */
		for (unsigned r = 0; r < 16; r++)
			if (r != 4 && r != 12)
				ck_assert_uint_eq(regs_out[r], regs_in[r]);
	}
	for (unsigned n = 0; n < 2; n++) {
		body.row = n == 0 ? 0 : address(&words->row);
		make(&s, NOPS, 5);
		hits = 0;
		body_count = 0;
		/* A thread that has no goroutine. */
		regs_in[14] = 0;
		run_at(text);
		ck_assert_uint_eq(fired(), 0);
		/* Where there is no word with the address of the thread's memory
		 * in it. */
		regs_in[14] = address(&g);
		g.lo = 0;
		g.hi = UINT64_MAX;
		self = (uint64_t *)(uintptr_t)thread_memory();
		was = *self;
		*self = 0;
		run_at(text);
		*self = was;
		ck_assert_uint_eq(fired(), 1);
	}
	goroutine = false;
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		registers_and_flags_are_as_before,
		instructions_are_displaced,
		the_site_is_behind_other_instructions,
		a_branch_that_is_not_taken_does_not_fire,
		the_dead_and_the_copied_go_round,
		a_goroutines_stack_may_have_no_room,
		a_lane_that_is_not_the_threads_is_not_written_to,
		the_tracer_is_asked_by_an_int3,
		what_has_fired_is_skipped_once,
		the_body_comes_first,
		a_body_is_called_only_in_a_firing,
		a_body_has_the_stack_that_it_needs,
	};

	if (!stub_possible())
		return 77;
	return suite_run("stub", setup, NULL, tests, ARRAY_SIZE(tests));
}
