/*
 * inject/stub.h: the code of a site, run by this processor, and left at each of
 * its instructions.
 */
#include <asm/prctl.h>
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "disasm/window.h"
#include "dlang/base/base.h"
#include "dlang/vm/store.h"
#include "inject/stub.h"

/* What the code works on: one page of text, one of stubs, one lane. */
static uint8_t *text, *code;
static struct lane *lane;
static struct words {
	uint32_t alive, mine;
} * words;

/* By run(): the registers as the site gets them and leaves them, rax to r15 with
 * the flags in place of rsp. */
static uint64_t regs_in[16], regs_out[16];
static unsigned hits, id_seen;

/* ask() of the stub, and what it gave; only if it is to be called. */
static bool asks;
static int64_t gave;

static void
on_hit(struct lane *l, uint32_t id,
    int64_t (*ask)(uint64_t, uint64_t, uint64_t, uint64_t))
{
	hits++;
	id_seen = id;
	ck_assert_ptr_eq(l, lane);
	if (asks)
		gave = ask(1, 2, 3, 4);
	/* All that a function may change. */
	__asm__ volatile("xor %%eax, %%eax; xor %%ecx, %%ecx; xor %%edx, %%edx;"
			 "xor %%esi, %%esi; xor %%edi, %%edi; xor %%r8d, %%r8d;"
			 "xor %%r9d, %%r9d; xor %%r10d, %%r10d;"
			 "xor %%r11d, %%r11d; cmp $1, %%eax" ::
			     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9",
			 "r10", "r11", "cc");
}

/* The body: what the stub is given, how it was called, what it returns.  It changes
 * the registers of its kind, and the flags but for that of the direction. */
static struct stub_body body;
static uint64_t body_row;
/* Of the code below. */
uint64_t body_lane, body_stack[32], body_count;
uint32_t body_result;

#define FEW (1U << UREG_RBX | 1U << UREG_RDX | 1U << UREG_RSI | 1U << UREG_RDI)
#define ALL                                                     \
	(FEW | 1U << UREG_RBP | 1U << UREG_R8 | 1U << UREG_R9 | \
	    1U << UREG_R10 | 1U << UREG_R11 | 1U << UREG_R12 |  \
	    1U << UREG_R13 | 1U << UREG_R14 | 1U << UREG_R15)

void few_body(void), all_body(void);
__asm__(".text\nall_body:\n"
	"xor %ebp, %ebp; xor %r8d, %r8d; xor %r9d, %r9d; xor %r10d, %r10d\n"
	"xor %r11d, %r11d; xor %r12d, %r12d; xor %r13d, %r13d\n"
	"xor %r14d, %r14d; xor %r15d, %r15d\n"
	"few_body:\n"
	"mov %rbx, body_lane(%rip)\n"
	"incq body_count(%rip)\n"
	"mov %rsp, %rsi; lea body_stack(%rip), %rdi; mov $32, %ecx\n"
	"pushfq; cld; rep movsq; popfq\n"
	"xor %edx, %edx\n"
	"mov body_result(%rip), %eax\n"
	"cmp $-1, %rsp\n"
	"ret\n");

/* Call `to' with all registers from regs_in, and what is there afterwards into
 * regs_out. */
void run_at(void *to);
__asm__(".text\n.globl run_at\nrun_at:\n"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"push %rdi\n"
	"lea regs_in(%rip), %r15\n"
	"push 32(%r15); popfq\n"
	"mov 0(%r15), %rax; mov 8(%r15), %rcx; mov 16(%r15), %rdx\n"
	"mov 24(%r15), %rbx; mov 40(%r15), %rbp; mov 48(%r15), %rsi\n"
	"mov 56(%r15), %rdi; mov 64(%r15), %r8; mov 72(%r15), %r9\n"
	"mov 80(%r15), %r10; mov 88(%r15), %r11; mov 96(%r15), %r12\n"
	"mov 104(%r15), %r13; mov 112(%r15), %r14; mov 120(%r15), %r15\n"
	"call *(%rsp)\n"
	"push %r15\n"
	"lea regs_out(%rip), %r15\n"
	"mov %rax, 0(%r15); mov %rcx, 8(%r15); mov %rdx, 16(%r15)\n"
	"mov %rbx, 24(%r15); mov %rbp, 40(%r15); mov %rsi, 48(%r15)\n"
	"mov %rdi, 56(%r15); mov %r8, 64(%r15); mov %r9, 72(%r15)\n"
	"mov %r10, 80(%r15); mov %r11, 88(%r15); mov %r12, 96(%r15)\n"
	"mov %r13, 104(%r15); mov %r14, 112(%r15)\n"
	"pop 120(%r15)\n"
	"pushfq; cld; pop 32(%r15)\n"
	"pop %rdi\n"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"ret\n");

static void *
map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

static uint64_t
address(const void *p)
{
	return (uintptr_t)p;
}

static uint64_t
thread_memory(void)
{
	unsigned long at = 0;

	syscall(SYS_arch_prctl, ARCH_GET_FS, &at);
	return at;
}

static struct stub_world world;

/* Where in the text a function is that returns its return address. */
#define CALLEE 0x80

static void
setup(void)
{
	uint8_t *store = map(16 * 4096);

	text = map(2 * 4096);
	memcpy(text + CALLEE, "\x58\x50\xc3", 3); /* pop rax; push rax; ret */
	code = text + 4096;
	words = map(4096);
	*words = (struct words){ 77, 1 };
	lane = (void *)(store + 8 * 4096);
	lane->self = address(lane);
	lane->memory = thread_memory();
	lane->stack_len = UINT64_MAX;
	world = (struct stub_world){ .hit = (uintptr_t)on_hit,
		.lanes = address(store),
		.span = 16 * 4096,
		.alive = address(&words->alive),
		.mine = address(&words->mine),
		.owner = 77 };
	syscall(SYS_arch_prctl, ARCH_SET_GS, lane);
	for (unsigned i = 0; i < 16; i++)
		regs_in[i] = 0x1111111111111111ULL * (i + 1);
	regs_in[4] = 0x246;
	hits = 0;
	body = (struct stub_body){ 0 };
	body_row = body_count = 0;
	body_result = 0;
}

/* The window is all of the `len' bytes at text; what is behind them returns. */
static void
window_of(struct window *w, const void *bytes, size_t len)
{
	size_t at = 0;

	memset(text, 0xc3, 64);
	memcpy(text, bytes, len);
	*w = (struct window){ .next = address(text) + len };
	while (at < len) {
		struct insn *in = &w->insn[w->n++];
		ck_assert_int_eq(
		    insn_decode(text + at, len - at, address(text) + at, in),
		    0);
		at += in->len;
		w->ends = in->kind == INSN_RET;
	}
}

/* Passes of the site count only if its branch is taken. */
static bool taken;
static bool goroutine;

/* The site is the instruction of this number. */
static void
make_at(struct stub *s, const void *bytes, size_t len, unsigned site)
{
	struct window w;
	uint8_t buf[STUB_SIZE_MAX];

	window_of(&w, bytes, len);
	w.site = site;
	w.taken = taken;
	w.goroutine = goroutine;
	unsigned size = stub_write(s, &world, &body, &w, 5, address(code), buf);
	ck_assert_uint_gt(size, 0);
	memcpy(code, buf, size);
	int32_t far = (int32_t)(code - text - 5);
	text[0] = 0xe9;
	memcpy(text + 1, &far, 4);
}

static void
make(struct stub *s, const void *bytes, size_t len)
{
	make_at(s, bytes, len, 0);
}

#define FLAGS 0xcd5U

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

#define NOPS "\x0f\x1f\x00\x66\x90" /* nop of three bytes, of two */

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
	ck_assert_uint_eq(trapped_at, s.addr + s.asked);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(arguments[i], i + 1);
	/* Who puts back the dead tracer's int3s makes it a nop. */
	code[s.asked] = 0x90;
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

static void
use_body(void (*code_of_it)(void), uint32_t saves)
{
	body_row = (uintptr_t)code_of_it;
	body = (struct stub_body){ address(&body_row), saves };
}

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
			ck_assert_uint_eq(body_stack[at / 8], regs_in[n]);
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
	/* The row may lead to another body. */
	lane->busy = 0;
	body_row = (uintptr_t)all_body;
	body.saves = ALL;
	make(&s, NOPS, 5);
	run_and_compare();
	body_row = (uintptr_t)few_body;
	run_and_compare();
	ck_assert_uint_eq(body_count, 2);
}
END_TEST

static struct stub *in_stub;
static uint8_t *guard;
static volatile sig_atomic_t overflows;

/* The thread is put where it would be in the text, which is made to return. */
static void
on_overflow(int sig, siginfo_t *si, void *uc)
{
	greg_t *r = ((ucontext_t *)uc)->uc_mcontext.gregs;
	uint64_t at = (uint64_t)r[REG_RIP] - in_stub->addr;

	ck_assert_uint_lt(address(si->si_addr) - address(guard), 4096);
	ck_assert_uint_lt(at, in_stub->busy);
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

/* As the tracer does: not at an own stack, which is that of the code. */
static void
on_fault(int sig, siginfo_t *si, void *uc)
{
	greg_t *r = ((ucontext_t *)uc)->uc_mcontext.gregs;
	uint64_t at = (uint64_t)r[REG_RIP] - at_fault->addr;

	ck_assert(at == at_fault->finds[0]);
	faulted++;
	r[REG_RIP] = (greg_t)(at_fault->addr + at_fault->trap_out);
}

static void
on_trap(int sig)
{
	trapped++;
}

START_TEST(a_lane_that_is_not_the_threads_is_not_written_to)
{
	struct lane before;
	struct stub s;

	struct sigaction sa = { .sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO };
	sigaction(SIGSEGV, &sa, NULL);
	signal(SIGTRAP, on_trap);
	make(&s, NOPS, 5);
	at_fault = &s;
	uint64_t lie[8] = { 0 };
	uint64_t page[8] = { [3] = address(lane) + 64 };
	const uint64_t bases[] = { 0, 0x1000, UINT64_C(0x700000000000),
		address(lane) + 64, address(lie), address(page) };
	before = *lane;
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
	lane->stack_at = before.stack_at;
	lane->stack_len = before.stack_len;
	ck_assert_int_eq(faulted, 3);
	ck_assert_mem_eq(&before, lane, sizeof(before));
	ck_assert_uint_eq(hits, 0);
	/* Asked to, it traps when the firing is over. */
	lane->call = 1;
	run_and_compare();
	ck_assert_uint_eq(hits, 1);
	ck_assert_uint_eq(lane->busy, 0);
	ck_assert_int_eq(trapped, ARRAY_SIZE(bases) + 5);
	/* As long as it is on its stack. */
	lane->call = 0;
	lane->stack_at = here - 3 * 4096;
	lane->stack_len = 5 * 4096;
	run_and_compare();
	ck_assert_uint_eq(hits, 2);
	ck_assert_int_eq(trapped, ARRAY_SIZE(bases) + 5);
	/* With a body, too. */
	lane->call = 1;
	use_body(few_body, FEW);
	make(&s, NOPS, 5);
	run_and_compare();
	ck_assert_uint_eq(hits, 2);
	ck_assert_uint_eq(lane->busy, 0);
	ck_assert_int_eq(trapped, ARRAY_SIZE(bases) + 6);
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
	uint64_t sp = 0;
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
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		g.lo = sp + (uint64_t)rows[i].lo;
		g.hi = sp + (uint64_t)rows[i].hi;
		hits = 0;
		trapped = 0;
		run_at(text);
		ck_assert_uint_eq(hits, rows[i].room);
		ck_assert_int_eq(trapped, !rows[i].room);
		/* All but the flags and r12 are as before. */
		for (unsigned r = 0; r < 16; r++)
			if (r != 4 && r != 12)
				ck_assert_uint_eq(regs_out[r], regs_in[r]);
	}
	/* A thread that has no goroutine. */
	regs_in[14] = 0;
	run_at(text);
	ck_assert_uint_eq(hits, 0);
	/* Where there is no word with the address of the thread's memory in it. */
	regs_in[14] = address(&g);
	g.lo = 0;
	g.hi = UINT64_MAX;
	uint64_t *self = (uint64_t *)(uintptr_t)thread_memory(), was = *self;
	*self = 0;
	run_at(text);
	*self = was;
	ck_assert_uint_eq(hits, 1);
	goroutine = false;
}
END_TEST

/* ---- leaving ---- */

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

/* One step after another, and at each the thread is put where it would be. */
static void
step_through(const struct stub *s, unsigned places[8])
{
	struct uregs site = { 0 }, now;
	int status;

	for (;;) {
		fetch(&now);
		uint64_t pc = now.r[UREG_PC];
		size_t at = pc - s->addr;
		/* A goroutine's r12 and flags are nobody's. */
		if (at == s->begin ||
		    (goroutine && at > s->begin && at <= s->asks)) {
			site = now;
			site.r[UREG_PC] = s->site[s->first];
		}
		if (at < s->size) {
			struct uregs r = now;
			enum stub_place p = stub_leave(s, &child.target, &r);
			places[p]++;
			if (p == STUB_BEFORE || p == STUB_FIRED)
				is_at_site(&r, &site, at);
			else if (p != STUB_FIRING)
				is_displaced(s, &r, &now, at, p == STUB_AHEAD);
			ck_assert_uint_eq(stub_text_pc(s, pc),
			    p == STUB_FIRING ? site.r[UREG_PC] : r.r[UREG_PC]);
		}
		if (pc == address(text) + window_len)
			return;
		ptrace(PTRACE_SINGLESTEP, child.pid, NULL, NULL);
		ck_assert_int_eq(waitpid(child.pid, &status, 0), child.pid);
		ck_assert_msg(WIFSTOPPED(status), "%x", (unsigned)status);
		if (WSTOPSIG(status) != SIGTRAP)
			ck_abort_msg("signal %d", WSTOPSIG(status));
	}
}

/* `skip': how far above the site's stack pointer skip_sp is; -1: there is none. */
static void
leave_everywhere(uint64_t flags, uint32_t alive, long skip, unsigned places[8])
{
	struct stub s;
	int status;

	make_at(&s, window_bytes, window_len, window_site);
	words->alive = alive;
	regs_in[4] = flags;
	child.pid = fork();
	if (child.pid == 0) {
		lane->memory = thread_memory();
		run_at(text);
		lane->skip_sp =
		    skip < 0 ? 0 : lane->regs.r[UREG_RSP] + (uint64_t)skip;
		lane->skip_at = s.site[s.first];
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		run_at(text);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child.pid, &status, 0), child.pid);
	step_through(&s, places);
	kill(child.pid, SIGKILL);
	waitpid(child.pid, &status, 0);
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
	/* With a body, of which no instruction is the stub's. */
	for (body_result = 0; body_result < 2; body_result++) {
		use_body(all_body, ALL);
		memset(places, 0, sizeof(places));
		leave_everywhere(0x202 | FLAGS, 77, -1, places);
		ck_assert_uint_ge(places[STUB_FIRING], 20);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("stub");
	TCase *t = tcase_create("stub");

	if (!stub_possible())
		return 77;
	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, registers_and_flags_are_as_before);
	tcase_add_test(t, instructions_are_displaced);
	tcase_add_test(t, the_site_is_behind_other_instructions);
	tcase_add_test(t, a_branch_that_is_not_taken_does_not_fire);
	tcase_add_test(t, the_dead_and_the_copied_go_round);
	tcase_add_test(t, a_goroutines_stack_may_have_no_room);
	tcase_add_test(t, a_lane_that_is_not_the_threads_is_not_written_to);
	tcase_add_test(t, the_tracer_is_asked_by_an_int3);
	tcase_add_test(t, what_has_fired_is_skipped_once);
	tcase_add_test(t, the_body_comes_first);
	tcase_add_test(t, a_body_is_called_only_in_a_firing);
	tcase_add_test(t, a_body_has_the_stack_that_it_needs);
	tcase_add_test(t, it_is_left_at_every_instruction);
	suite_add_tcase(suite, t);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
