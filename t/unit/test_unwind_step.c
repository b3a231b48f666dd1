/*
 * symbols/unwind: one step, from registers that the test makes up: what the rules
 * of an unwind entry say, and which addresses may be return addresses.  The code
 * is this program's own.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/addrspace.h"
#include "symbols/unwind/frame.h"

/*
 * A frame of 8 bytes whose rules are expressions; numbers of registers are DWARF's.
 *
 *	CFA	8, 16, rsp; rot; minus; minus		rsp + 8
 *	rbx	a value: CFA - 24
 *	rbp	20 mod 3
 *	r8	5, 9; pick 1				5
 *	r9	4; dup; plus				8
 *	r10	6, 2; over; minus			2 - 6
 *	r12	7 shl 2
 *	r13	-7 shra 2
 *	r14	5 lt 9
 *	r15	1, 2; swap; minus			1
 */
asm(".pushsection .text\n"
    "	.p2align 4, 0x90\n"
    "	.fill 16, 1, 0x90\n"
    "rules:\n"
    "	.cfi_startproc\n"
    "	.cfi_escape 0x0f, 7, 0x38, 0x40, 0x77, 0, 0x17, 0x1c, 0x1c\n"
    "	.cfi_val_offset %rbx, -24\n"
    "	.cfi_escape 0x16, 6, 3, 0x44, 0x33, 0x1d\n"
    "	.cfi_escape 0x16, 8, 4, 0x35, 0x39, 0x15, 1\n"
    "	.cfi_escape 0x16, 9, 3, 0x34, 0x12, 0x22\n"
    "	.cfi_escape 0x16, 10, 4, 0x36, 0x32, 0x14, 0x1c\n"
    "	.cfi_escape 0x16, 12, 3, 0x37, 0x32, 0x24\n"
    "	.cfi_escape 0x16, 13, 4, 0x09, 0xf9, 0x32, 0x26\n"
    "	.cfi_escape 0x16, 14, 3, 0x35, 0x39, 0x2d\n"
    "	.cfi_escape 0x16, 15, 4, 0x31, 0x32, 0x16, 0x1c\n"
    "	.fill 16, 1, 0x90\n"
    "	.cfi_endproc\n"
    "	.fill 16, 1, 0x90\n"
    ".popsection\n");
extern const char rules[] __attribute__((visibility("hidden")));

static uint8_t *code; /* memory that has neither names nor rules */
static uint64_t stack[64];
static int mem; /* all of it */
static struct unwinder *u;
static struct addrspace *as;

static int
own_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	return pread(mem, buf, len, (off_t)addr) == (ssize_t)len ? 0 : -EFAULT;
}

static const struct reader own = { own_read, NULL };

static void
setup(void)
{
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(code, MAP_FAILED);
	memset(code, 0x90, 4096);
	mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	as = addrspace_create(getpid(), NULL);
	addrspace_refresh(as, NULL, NULL);
	u = unwinder_create(as);
	u->mem = &own;
	memset(stack, 0, sizeof(stack));
}

static void
teardown(void)
{
	unwinder_destroy(u);
	addrspace_put(as);
	close(mem);
	munmap(code, 4096);
}

/* A thread that is about to run pc. */
static struct frame
frame_at(uint64_t pc)
{
	struct frame f = { .exact = true };

	frame_set(&f, CFI_RIP, pc);
	frame_set(&f, CFI_RSP, (uint64_t)(stack + 32));
	return f;
}

START_TEST(rules_are_followed)
{
	struct frame f = frame_at((uint64_t)rules + 8), caller = { 0 };

	stack[32] = 0x1234567;
	ck_assert_int_eq(unwind_cfi_step(u, &f, &caller), STEP_OK);
	ck_assert_uint_eq(caller.r[CFI_RIP], 0x1234567);
	ck_assert_uint_eq(caller.r[CFI_RSP], (uint64_t)(stack + 33));
	ck_assert(frame_knows(&caller, 3));
	ck_assert_uint_eq(caller.r[3], (uint64_t)(stack + 33) - 24);
	ck_assert_uint_eq(caller.r[6], 2);
	ck_assert_uint_eq(caller.r[8], 5);
	ck_assert_uint_eq(caller.r[9], 8);
	ck_assert_int_eq((int64_t)caller.r[10], -4);
	ck_assert_uint_eq(caller.r[12], 28);
	ck_assert_int_eq((int64_t)caller.r[13], -2);
	ck_assert_uint_eq(caller.r[14], 1);
	ck_assert_uint_eq(caller.r[15], 1);
}
END_TEST

static bool
is_call(const char *insn, size_t len)
{
	memset(code, 0x90, 64);
	memcpy(code + 32 - len, insn, len);
	return unwind_is_after_call(u, (uint64_t)code + 32);
}

#define CALL(bytes)     ck_assert(is_call(bytes, sizeof(bytes) - 1))
#define NOT_CALL(bytes) ck_assert(!is_call(bytes, sizeof(bytes) - 1))

START_TEST(every_form_of_a_call_is_known)
{
	CALL("\xe8\x01\x02\x03\x04");         /* call f */
	CALL("\xff\xd0");                     /* call *%rax */
	CALL("\x41\xff\xd4");                 /* call *%r12 */
	CALL("\xff\x10");                     /* call *(%rax) */
	CALL("\xff\x14\x24");                 /* call *(%rsp) */
	CALL("\xff\x50\x08");                 /* call *8(%rax) */
	CALL("\xff\x54\x24\x08");             /* call *8(%rsp) */
	CALL("\xff\x90\x01\x02\x03\x04");     /* call *disp32(%rax) */
	CALL("\xff\x15\x01\x02\x03\x04");     /* call *disp32(%rip) */
	CALL("\xff\x14\x25\x01\x02\x03\x04"); /* call *addr32 */
	CALL("\xff\x94\x24\x01\x02\x03\x04"); /* call *disp32(%rsp) */
	NOT_CALL("\x90");
	NOT_CALL("\xff\xe0");                     /* jmp *%rax */
	NOT_CALL("\xff\x60\x08");                 /* jmp *8(%rax) */
	NOT_CALL("\xff\x08");                     /* decl (%rax) */
	NOT_CALL("\xff\xd0\x90");                 /* not at its end */
	NOT_CALL("\xe9\x01\x02\x03\x04");         /* jmp f */
	NOT_CALL("\xff\x15\x01\x02\x03\x04\x90"); /* with something behind */
	ck_assert(!unwind_is_after_call(u, 4));
	ck_assert(!unwind_is_after_call(u, (uint64_t)stack + 16));
}
END_TEST

/* A call of what is no code: its return address is on top of the stack. */
START_TEST(a_wild_call_came_from_behind_a_call)
{
	struct frame f = frame_at(16), caller = { 0 };

	frame_set(&f, 3, 77); /* rbx is the caller's */
	memcpy(code + 30, "\xff\xd0", 2);
	stack[32] = (uint64_t)code + 32;
	ck_assert_int_eq(unwind_fp_step(u, &f, &caller), STEP_OK);
	ck_assert_uint_eq(caller.r[CFI_RIP], (uint64_t)code + 32);
	ck_assert_uint_eq(caller.r[CFI_RSP], (uint64_t)(stack + 33));
	ck_assert_uint_eq(caller.r[3], 77);
}
END_TEST

START_TEST(a_function_that_was_pushed_may_be_returned_to)
{
	struct frame f = frame_at(16), caller = { 0 };

	stack[32] = (uint64_t)rules;
	ck_assert_int_eq(unwind_fp_step(u, &f, &caller), STEP_OK);
	ck_assert_uint_eq(caller.r[CFI_RIP], (uint64_t)rules);
	/* Not into its middle. */
	stack[32] = (uint64_t)rules + 4;
	u->window_len = 0; /* another stack */
	ck_assert_int_eq(unwind_fp_step(u, &f, &caller), STEP_FAIL);
}
END_TEST

/* A caller at a place in code, above f. */
static enum step
some_caller(void *ctx, const struct frame *f, struct frame *caller)
{
	*caller = (struct frame){ 0 };
	frame_set(caller, CFI_RIP, (uint64_t)code + 32);
	frame_set(caller, CFI_RSP, f->r[CFI_RSP] + 8);
	if (*(bool *)ctx)
		caller->known &= ~(1u << CFI_RSP);
	return STEP_OK;
}

static unsigned frames_seen;

static bool
count_frame(void *ctx, const struct frame *f, const struct frame *caller)
{
	frames_seen++;
	return true;
}

/* Nothing can be found from a frame whose stack pointer is not known. */
START_TEST(a_caller_without_a_stack_pointer_is_none)
{
	bool loses = false;
	const struct unwind_visitor v = { .ctx = &loses,
		.step = some_caller,
		.frame = count_frame,
		.most = 9 };
	struct uregs regs = { 0 };

	regs.r[UREG_RIP] = (uint64_t)rules + 8;
	regs.r[UREG_RSP] = (uint64_t)(stack + 32);
	unwind_visit(u, &regs, &own, &v);
	ck_assert_uint_eq(frames_seen, 9);
	loses = true;
	frames_seen = 0;
	unwind_visit(u, &regs, &own, &v);
	ck_assert_uint_eq(frames_seen, 1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("unwind_step");
	TCase *t = tcase_create("unwind_step");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, rules_are_followed);
	tcase_add_test(t, every_form_of_a_call_is_known);
	tcase_add_test(t, a_wild_call_came_from_behind_a_call);
	tcase_add_test(t, a_function_that_was_pushed_may_be_returned_to);
	tcase_add_test(t, a_caller_without_a_stack_pointer_is_none);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
