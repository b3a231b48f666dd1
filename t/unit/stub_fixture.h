/*
 * The code of a site (inject/stub.h), to be run by this processor.
 */
#ifndef T_UNIT_STUB_FIXTURE_H
#define T_UNIT_STUB_FIXTURE_H

#include <asm/prctl.h>
#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "disasm/window.h"
#include "dlang/base/base.h"
#include "dlang/vm/store.h"
#include "inject/stub.h"

/* What the code works on: a page of text, one of each piece of stubs and one of run(),
 * one lane. */
static uint8_t *text, *code;
static struct lane *lane;
static struct words {
	uint32_t alive, mine, row;
} * words;
static struct stub_run run;
#define RARE 4096
#define RUN  8192

/* By run(): the registers as the site gets them and leaves them, rax to r15 with
 * the flags in place of rsp. */
uint64_t regs_in[16], regs_out[16]; /* not static: assembly has them */
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

	text = map(4 * 4096);
	memcpy(text + CALLEE, "\x58\x50\xc3", 3); /* pop rax; push rax; ret */
	code = text + 4096;
	words = map(4096);
	*words = (struct words){ 77, 1, 0 };
	run = (struct stub_run){ 0 };
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
	body_count = 0;
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

static void
make_run(uint64_t entry)
{
	uint8_t buf[STUB_RUN_MAX];

	ck_assert_uint_gt(stub_run_write(&run, &world, &body, goroutine,
			      address(code) + RUN, buf),
	    0);
	ck_assert_uint_eq(entry, run.addr + run.entry);
	memcpy(code + RUN, buf, run.size);
}

/* The site is the instruction of this number. */
static void
make_at(struct stub *s, const void *bytes, size_t len, unsigned site)
{
	const struct stub_places at = { address(code), address(code) + RARE,
		address(code) + RUN + 16 };
	struct window w;
	uint8_t buf[STUB_SIZE_MAX];

	window_of(&w, bytes, len);
	w.site = site;
	w.taken = taken;
	w.goroutine = goroutine;
	unsigned size = stub_write(s, &world, &body, &w, 5, &at, buf);
	ck_assert_uint_gt(size, 0);
	ck_assert_uint_eq(size, s->size);
	memset(code, 0xf4, 2 * 4096); /* hlt */
	memcpy(code, buf, s->first_size);
	if (body.row != 0) {
		ck_assert_uint_le(s->first_size, STUB_FIRST_MAX);
		memcpy(code + RARE, buf + s->first_size, size - s->first_size);
	}
	ck_assert_uint_le(
	    body.row != 0 ? size - s->first_size : size, STUB_REST_MAX);
	if (body.row != 0)
		make_run(at.run);
	int32_t far = (int32_t)(code - text - 5);
	text[0] = 0xe9;
	memcpy(text + 1, &far, 4);
}

#define FLAGS 0xcd5U

#define NOPS  "\x0f\x1f\x00\x66\x90" /* nop of three bytes, of two */

/* The site has a body: the function is called. */
static void
use_body(void (*code_of_it)(void), uint32_t saves)
{
	/* Calls it, and ends as bodies do. */
	static uint8_t bytes[64];
	static const uint8_t before[] = { 0x48, 0xb8 }; /* movabs rax, */
	static const uint8_t behind[] = { 0xff, 0xd0,   /* call rax */
		0x48, 0xc7, 0x03, 0, 0, 0, 0,           /* mov qword [rbx], 0 */
		0x85, 0xc0, 0x74, 0x01, /* test eax, eax; je over the ret */
		0xc3, 0x48, 0x3b, 0x43, LANE_CALL, /* cmp rax, [rbx + call] */
		0xc3 };
	uint64_t to = (uintptr_t)code_of_it;

	memcpy(bytes, before, 2);
	memcpy(bytes + 2, &to, 8);
	memcpy(bytes + 10, behind, sizeof(behind));
	body = (struct stub_body){ .row = address(&words->row),
		.number = 3,
		.code = bytes,
		.size = 10 + sizeof(behind),
		.exits = { 10 + sizeof(behind) - 1, 10 + 13 },
		.saves = saves };
	words->row = body.number;
}

/* The offset in code of the site, or in run(); or a large number. */
static unsigned
offset_in(const struct stub *s, uint64_t pc, bool *in_run)
{
	*in_run = pc - run.addr < run.size;
	return *in_run ? (unsigned)(pc - run.addr) : stub_offset(s, pc);
}

#endif
