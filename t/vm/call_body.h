/*
 * A body, called as the code of a site calls it.  For t/vm/bodies.c, which has
 * included what is used here.
 */
#ifndef T_VM_CALL_BODY_H
#define T_VM_CALL_BODY_H

/* By number; what a register in `changes' has when the body is called is not
 * what it had at the site. */
static union {
	struct jit_row row;
	uint32_t words[4 + JIT_BODY_CLAUSES];
} its;
#define row (its.row)

uint64_t regs_site[16], regs_in[16], regs_out[16];
void *body_code;
uint64_t body_stack, flags_in, flags_out;
uint32_t run_body(void);
__asm__(".text\n.globl run_body\nrun_body:\n"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"sub $128, %rsp\n"
	"lea regs_site(%rip), %rsi; mov %rsp, %rdi; mov $16, %ecx; cld\n"
	"rep movsq\n"
	"mov %rsp, body_stack(%rip)\n"
	"push flags_in(%rip); popfq\n"
	"lea regs_in(%rip), %r15\n"
	"mov 0(%r15), %rax; mov 8(%r15), %rcx; mov 16(%r15), %rdx\n"
	"mov 24(%r15), %rbx; mov 40(%r15), %rbp; mov 48(%r15), %rsi\n"
	"mov 56(%r15), %rdi; mov 64(%r15), %r8; mov 72(%r15), %r9\n"
	"mov 80(%r15), %r10; mov 88(%r15), %r11; mov 96(%r15), %r12\n"
	"mov 104(%r15), %r13; mov 112(%r15), %r14; mov 120(%r15), %r15\n"
	"call *body_code(%rip)\n"
	"pushfq; cld; pop flags_out(%rip)\n"
	"push %r15\n"
	"lea regs_out(%rip), %r15\n"
	"mov %rax, 0(%r15); mov %rcx, 8(%r15); mov %rdx, 16(%r15)\n"
	"mov %rbx, 24(%r15); mov %rbp, 40(%r15); mov %rsi, 48(%r15)\n"
	"mov %rdi, 56(%r15); mov %r8, 64(%r15); mov %r9, 72(%r15)\n"
	"mov %r10, 80(%r15); mov %r11, 88(%r15); mov %r12, 96(%r15)\n"
	"mov %r13, 104(%r15); mov %r14, 112(%r15)\n"
	"pop 120(%r15)\n"
	"sub %rsp, body_stack(%rip)\n"
	"add $128, %rsp\n"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"ret\n");

/* Do the flags say whether all has been done, and the thread is called? */
static bool
flags_tell(uint32_t result, bool called)
{
	bool zf = flags_out & 0x40, cf = flags_out & 1;

	return zf == (result == 0 && !called) && cf == (result == 0 && called);
}

/* Are its exits where it says? */
static bool
returns_there(const struct jit_body *b)
{
	const uint8_t *code = body_code;

	return b->exits[0] != b->exits[1] && code[b->exits[0]] == 0xc3 &&
	    code[b->exits[1]] == 0xc3;
}

/* agent_now() for bodies.  It is called on the lane's stack, and changes what a
 * function may change.  The next call would give another time. */
uint64_t clock_now, clock_lane, clock_stack, clock_flags;
uint64_t clock_double(struct lane *l);
__asm__(".text\n.globl clock_double\nclock_double:\n"
	"mov %rsp, clock_stack(%rip); pushfq; pop clock_flags(%rip)\n"
	"mov %rdi, clock_lane(%rip); mov clock_now(%rip), %rax\n"
	"incq clock_now(%rip)\n"
	"mov $-1, %rcx; mov %rcx, %rdx; mov %rcx, %rsi; mov %rcx, %rdi\n"
	"mov %rcx, %r8; mov %rcx, %r9; mov %rcx, %r10; mov %rcx, %r11\n"
	"ret\n");

/* agent_text() itself, of memory that has what the VM reads. */
struct agent agent;
static struct {
	uint64_t n;
	struct agent_range only;
} table = { 1, { FAKE_MEM_BASE, FAKE_MEM_BASE + FAKE_MEM_SIZE } };
static bool refused; /* what is not the program's */

#include "inject/agent/load.c"
#include "inject/agent/x86_64/load.c"

static int64_t
text_double(struct lane *l, uint64_t addr, char *buf, uint32_t limit,
    uint32_t size, uint32_t fill)
{
	uintptr_t at = (uintptr_t)__builtin_frame_address(0);

	if (at % 16 != 0 || at > (uintptr_t)l || at < (uintptr_t)l - 1024)
		abort();
	refused |= VMA_IS(addr);
	return agent_text(l, addr, buf, limit, size, fill);
}

#define DIRECTION 0x400U /* the flag */

static const uint8_t uregs[16] = { UREG_RAX, UREG_RCX, UREG_RDX, UREG_RBX,
	UREG_COUNT, UREG_RBP, UREG_RSI, UREG_RDI, UREG_R8, UREG_R9, UREG_R10,
	UREG_R11, UREG_R12, UREG_R13, UREG_R14, UREG_R15 };

static bool
is_saved(const struct jit_body *b, unsigned n)
{
	return n < 2 || (n != 4 && b->changes & 1U << uregs[n]);
}

/* Behind the return address, the values of all registers at the site. */
static void
place_registers(struct jit_body *b)
{
	for (unsigned u = 0; u < UREG_COUNT; u++)
		b->at[u] = JIT_IN_PLACE;
	for (unsigned n = 0; n < 16; n++)
		if (is_saved(b, n))
			b->at[uregs[n]] = 8 + 8 * (int32_t)n;
}

#endif
