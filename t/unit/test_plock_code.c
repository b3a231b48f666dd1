/*
 * tracer/prov/plock/ plock_code: what is found in the code of lock functions,
 * instruction by instruction, where their ends are known and where they are not.
 * The code and the symbols of the library are made here.
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "disasm/func.h"
#include "dlang/base/str.h"
#include "symbols/addrspace.h"
#include "t/unit/suite.h"
#include "tracer/prov/plock/plock_code.h"

#define BIAS  UINT64_C(0x100000)
#define LIB   (BIAS + 0x1000) /* its text */
#define LIB_N 0x8000U

static uint8_t machine_code[LIB_N];
static struct sym symbols[12];
static size_t n_symbols;
static uint64_t fde_lo, fde_hi;
static unsigned reads; /* at the begin of code */
static struct load load = { .bias = BIAS };

static int
double_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	if (addr < LIB || addr - LIB > LIB_N - len)
		return -EFAULT;
	reads += addr == LIB;
	memcpy(buf, machine_code + (addr - LIB), len);
	return 0;
}

static const struct sym *
double_func(uint64_t addr)
{
	for (size_t i = 0; i < n_symbols; i++)
		if (addr - symbols[i].addr < symbols[i].size)
			return &symbols[i];
	return NULL;
}

static int
double_fde(uint64_t addr, uint64_t *lo, uint64_t *hi)
{
	*lo = fde_lo;
	*hi = fde_hi;
	return addr >= fde_lo && addr < fde_hi ? 0 : -ENOENT;
}

#define object_is_text(o, a)           ((a) >= 0x1000 && (a) < 0x1000 + LIB_N)
#define object_func_at(o, a)           double_func(a)
#define object_fde_range(o, a, lo, hi) double_fde(a, lo, hi)
#include "tracer/prov/plock/plock_code.c"

static uint64_t at; /* where the next instruction goes */
static struct plock_code *pc;
static plock_fns fns;

static void
setup(void)
{
	static const struct reader text = { .read = double_read };

	memset(machine_code, 0x06, sizeof(machine_code)); /* no instruction */
	at = LIB;
	pc = plock_code_create(&text, &load);
}

static void
teardown(void)
{
	vec_fini(&fns);
	plock_code_destroy(pc);
	plock_code_destroy(NULL);
}

/* ---- an assembler ---- */

static void
put(const char *bytes, size_t n)
{
	memcpy(machine_code + (at - LIB), bytes, n);
	at += n;
}

#define RET      put("\xc3", 1)
#define NOP      put("\x90", 1)
#define PAUSE    put("\xf3\x90", 2)
#define SYSCALL  put("\x0f\x05", 2)
#define CALL_RAX put("\xff\xd0", 2)
#define JMP_RAX  put("\xff\xe0", 2)
#define UD       put("\x0f\x0b", 2)
#define EAX(n)   put((char[]){ '\xb8', (char)(n), 0, 0, 0 }, 5)
#define EDI(n)   put((char[]){ '\xbf', (char)(n), 0, 0, 0 }, 5)

static void
to(char opcode, uint64_t target)
{
	int32_t distance = (int32_t)(target - (at + 5));

	put(&opcode, 1);
	put((const char *)&distance, 4);
}
#define CALL(target) to('\xe8', target)
#define JMP(target)  to('\xe9', target)

static void
JZ(uint64_t target)
{
	char near[2] = { 0x74, (char)(target - (at + 2)) };

	put(near, 2);
}

static void
sym(const char *name, uint64_t addr, uint64_t size)
{
	symbols[n_symbols++] =
	    (struct sym){ .name = name, .addr = addr - BIAS, .size = size };
}

/* All that was found, by offsets. */
static const char *
found(const struct plock_fn *fn)
{
	static char text[400];
	char *p = text;

	if (fn == NULL)
		return "none";
	p += sprintf(
	    p, "%lx-%lx", (long)(fn->start - LIB), (long)(fn->end - LIB));
	vec_foreach(a, &fn->rets)
		p += sprintf(p, " ret %lx", (long)(*a - LIB));
	vec_foreach(a, &fn->pauses)
		p += sprintf(p, " pause %lx", (long)(*a - LIB));
	vec_foreach(w, &fn->waits)
		p += sprintf(p, " %s %lx",
		    w->how == PLOCK_CALL ? "waits-by-call" : "waits",
		    (long)(w->addr - LIB));
	vec_foreach(a, &fn->calls)
		p += sprintf(p, " call %lx", (long)(*a - LIB));
	vec_foreach(a, &fn->tails)
		p += sprintf(p, " tail %lx", (long)(*a - LIB));
	return text;
}

static const char *
read_at(uint64_t addr)
{
	return found(plock_code_fn(pc, addr));
}

static const char *
starts(void)
{
	static char text[400];
	char *p = text;

	text[0] = '\0';
	vec_foreach(fn, &fns)
		p += sprintf(p, "%lx ", (long)((*fn)->start - LIB));
	return text;
}

/* ---- a function whose end is known ---- */

/* 24 bytes; it is the same whether its end is known or not. */
static void
lock(void)
{
	EAX(SYS_futex);      /* 0 */
	JZ(LIB + 9);         /* 5 */
	PAUSE;               /* 7 */
	SYSCALL;             /* 9 */
	CALL(LIB + 0x100);   /* b */
	CALL(LIB + 0x100);   /* 10 */
	RET;                 /* 15 */
	JZ(LIB + 0x18 + 16); /* 16 */
}

START_TEST(a_symbol_tells_the_end)
{
	lock();
	sym("lock", LIB, 0x18);
	ck_assert_str_eq(
	    read_at(LIB), "0-18 ret 15 pause 7 waits 9 call 100 tail 28");
	/* It is read once. */
	ck_assert_ptr_eq(plock_code_fn(pc, LIB), plock_code_fn(pc, LIB));
	ck_assert_uint_eq(reads, 1);
}
END_TEST

START_TEST(an_unwind_entry_tells_it_better)
{
	lock();
	sym("lock", LIB, 8);
	fde_lo = LIB - BIAS;
	fde_hi = LIB + 0x18 - BIAS;
	ck_assert_str_eq(
	    read_at(LIB), "0-18 ret 15 pause 7 waits 9 call 100 tail 28");
	ck_assert(plock_code_unwinds(pc, LIB + 0x17));
	ck_assert(!plock_code_unwinds(pc, LIB + 0x18));
}
END_TEST

START_TEST(a_guess_or_another_symbol_does_not)
{
	lock();
	sym("lock", LIB, 0x18);
	symbols[0].size_guessed = true;
	ck_assert_str_eq(read_at(LIB), "0-0 ret 15 pause 7 waits 9 call 100");
	/* The symbol begins before. */
	symbols[0].size_guessed = false;
	ck_assert_str_eq(read_at(LIB + 9), "9-9 ret 15 call 100");
}
END_TEST

START_TEST(none_is_longer_than_16k)
{
	memset(machine_code, 0x90, 0x4001);
	machine_code[0x3fff] = machine_code[0x4000] = 0xc3;
	sym("long", LIB, 0x4000);
	ck_assert_str_eq(read_at(LIB), "0-4000 ret 3fff");
	plock_code_destroy(pc);
	setup();
	memset(machine_code, 0x90, 0x4001);
	machine_code[0x4000] = 0xc3;
	symbols[0].size = 0x4001;
	ck_assert_str_eq(read_at(LIB), "0-0 ret 4000");
	plock_code_destroy(pc);
	setup();
	memset(machine_code, 0x90, 0x4001);
	machine_code[0x4001] = 0xc3;
	ck_assert_str_eq(read_at(LIB), "0-0");
}
END_TEST

START_TEST(calls_and_jumps_out_of_the_text_are_nothing)
{
	CALL(LIB - 1);
	CALL(LIB);
	JZ(LIB - 2);
	RET;
	sym("f", LIB, at - LIB);
	ck_assert_str_eq(read_at(LIB), "0-d ret c call 0");
}
END_TEST

START_TEST(jumps_out_are_tails_once)
{
	JZ(LIB + 0x40);
	JZ(LIB + 0x40);
	JMP(LIB + 0x50);
	sym("f", LIB, at - LIB);
	ck_assert_str_eq(read_at(LIB), "0-9 tail 40 tail 50");
}
END_TEST

START_TEST(code_that_is_not_mapped_is_none)
{
	sym("f", LIB + LIB_N - 4, 8);
	ck_assert_str_eq(read_at(LIB + LIB_N - 4), "none");
	ck_assert_str_eq(read_at(LIB + LIB_N), "none");
	/* Nor is what is no instruction, however often it is asked for; it is
	 * read once. */
	ck_assert_str_eq(read_at(LIB), "none");
	unsigned once = reads;
	ck_assert_str_eq(read_at(LIB), "none");
	ck_assert_uint_eq(reads, once);
	ck_assert_str_eq(read_at(LIB + LIB_N - 4), "none");
	plock_code_body(pc, LIB, &fns);
	plock_code_reach(pc, LIB, &fns);
	ck_assert_uint_eq(fns.len, 0);
}
END_TEST

/* ---- futex calls ---- */

START_TEST(a_call_of_another_number_is_no_wait)
{
	EAX(SYS_read);
	SYSCALL;
	RET;
	ck_assert_str_eq(read_at(LIB), "0-0 ret 7");
}
END_TEST

START_TEST(a_function_may_make_the_call)
{
	EDI(SYS_futex);    /* 0 */
	CALL(LIB + 0x100); /* 5 */
	CALL(LIB + 0x110); /* a: the register has been used */
	EDI(SYS_futex);    /* f */
	EDI(1);            /* 14 */
	CALL(LIB + 0x120); /* 19 */
	EDI(SYS_futex);    /* 1e */
	CALL_RAX;          /* 23 */
	CALL(LIB + 0x130); /* 25 */
	EAX(1);
	SYSCALL; /* of another number */
	RET;
	ck_assert_str_eq(read_at(LIB),
	    "0-0 ret 31 waits-by-call 5 call 110 call 120 call 130");
}
END_TEST

/* ---- a function whose end is not known ---- */

START_TEST(jumps_are_followed)
{
	JZ(LIB + 0x10); /* 0 */
	RET;            /* 2 */
	at = LIB + 0x10;
	PAUSE;           /* 10 */
	JZ(LIB + 0x10);  /* 12 */
	JMP(LIB + 0x30); /* 14 */
	RET;             /* 19: nothing leads here */
	at = LIB + 0x30;
	JZ(LIB + 0x40); /* 30 */
	JMP_RAX;        /* 32 */
	RET;            /* 34 */
	at = LIB + 0x40;
	JZ(LIB + 0x50); /* 40 */
	UD;             /* 42 */
	RET;            /* 44 */
	at = LIB + 0x50;
	NOP;
	JZ(LIB + 0x60);
	RET; /* 53; what follows is no instruction, nor is what is at 60 */
	ck_assert_str_eq(read_at(LIB), "0-0 ret 2 ret 53 pause 10");
}
END_TEST

START_TEST(jumps_to_others_are_tails)
{
	at = LIB + 0x100;
	JZ(LIB + 0x120);
	JZ(LIB + 0x130);
	JZ(LIB + 0xf0);
	JZ(LIB + 0x100);
	JMP(LIB + 0x4101);
	at = LIB + 0x120;
	RET;
	at = LIB + 0x130;
	RET;
	sym("f", LIB + 0x100, 0x25);
	sym("g", LIB + 0x130, 1);
	symbols[0].size_guessed = true;
	ck_assert_str_eq(
	    read_at(LIB + 0x100), "100-100 ret 120 tail 4101 tail f0 tail 130");
}
END_TEST

START_TEST(what_is_near_may_be_its_own)
{
	JMP(LIB + 0x4000);
	at = LIB + 0x4000;
	RET;
	ck_assert_str_eq(read_at(LIB), "0-0 ret 4000");
}
END_TEST

START_TEST(the_last_instruction_of_the_memory_is_read)
{
	at = LIB + LIB_N - 3;
	PAUSE;
	RET;
	ck_assert_str_eq(
	    read_at(LIB + LIB_N - 3), "7ffd-7ffd ret 7fff pause 7ffd");
}
END_TEST

/* ---- several ---- */

/* Functions of 16 bytes that jump to the next ones. */
START_TEST(a_body_has_the_tails_of_tails_once)
{
	JZ(LIB + 0x10);
	JMP(LIB + 0x20);
	at = LIB + 0x10;
	JMP(LIB + 0x20);
	at = LIB + 0x20;
	CALL(LIB + 0x30);
	JMP(LIB);
	at = LIB + 0x30;
	RET;
	for (uint64_t i = 0; i < 4; i++)
		sym("f", LIB + 16 * i, 16);
	plock_code_body(pc, LIB, &fns);
	ck_assert_str_eq(starts(), "0 10 20 ");
	plock_code_body(pc, LIB + 0x30, &fns);
	ck_assert_str_eq(starts(), "0 10 20 30 ");
	plock_code_body(pc, LIB + 0x10, &fns);
	ck_assert_str_eq(starts(), "0 10 20 30 ");
	plock_code_body(pc, LIB + LIB_N, &fns);
	ck_assert_str_eq(starts(), "0 10 20 30 ");
}
END_TEST

START_TEST(callees_are_reached_by_their_names)
{
	static const char *const names[] = { "f", "my_lock", "a_futex", "mutex",
		"condition", "await", "sem_x", "__lll", "assert" };

	for (uint64_t i = 1; i <= ARRAY_SIZE(names); i++)
		CALL(LIB + 0x100 * i); /* the last one has no name */
	RET;
	sym(names[0], LIB, at - LIB);
	for (uint64_t i = 1; i <= ARRAY_SIZE(names); i++) {
		at = LIB + 0x100 * i;
		RET;
		if (i < ARRAY_SIZE(names))
			sym(names[i], LIB + 0x100 * i, 1);
	}
	plock_code_reach(pc, LIB, &fns);
	ck_assert_str_eq(starts(), "0 100 200 300 400 500 600 700 900 ");
}
END_TEST

/* Each calls the next one, and the first. */
START_TEST(callees_are_reached_four_deep)
{
	for (uint64_t i = 0; i < 8; i++) {
		at = LIB + 0x100 * i;
		CALL(LIB);
		CALL(LIB + 0x100 * (i + 1));
		RET;
		sym("lock", LIB + 0x100 * i, 11);
	}
	plock_code_reach(pc, LIB, &fns);
	ck_assert_str_eq(starts(), "0 100 200 300 400 ");
	plock_code_reach(pc, LIB + 0x100, &fns);
	ck_assert_str_eq(starts(), "0 100 200 300 400 ");
}
END_TEST

START_TEST(there_is_an_end_to_it)
{
	/* 300 functions, each tail-calls the next. */
	for (uint64_t i = 0; i < 300; i++) {
		at = LIB + 16 * i;
		JMP(LIB + 16 * (i + 1));
		symbols[0] = (struct sym){ 0 };
	}
	fde_lo = 0;
	fde_hi = 0;
	for (uint64_t i = 0; i < 300; i++) {
		n_symbols = 0;
		sym("lock", LIB + 16 * i, 5);
		plock_code_fn(pc, LIB + 16 * i);
	}
	plock_code_body(pc, LIB, &fns);
	ck_assert_uint_eq(fns.len, 256);
	vec_clear(&fns);
	plock_code_reach(pc, LIB, &fns);
	ck_assert_uint_eq(fns.len, 256);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_symbol_tells_the_end,
		an_unwind_entry_tells_it_better,
		a_guess_or_another_symbol_does_not,
		none_is_longer_than_16k,
		calls_and_jumps_out_of_the_text_are_nothing,
		jumps_out_are_tails_once,
		code_that_is_not_mapped_is_none,
		a_call_of_another_number_is_no_wait,
		a_function_may_make_the_call,
		jumps_are_followed,
		jumps_to_others_are_tails,
		what_is_near_may_be_its_own,
		the_last_instruction_of_the_memory_is_read,
		a_body_has_the_tails_of_tails_once,
		callees_are_reached_by_their_names,
		callees_are_reached_four_deep,
		there_is_an_end_to_it,
	};

	return suite_run(
	    "plock_code", setup, teardown, tests, ARRAY_SIZE(tests));
}
