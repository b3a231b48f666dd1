/*
 * Differential execution: every case of insns.S is run at home and displaced,
 * from several register sets, with the slot near and with it out of reach, and
 * everything the instruction can change is compared.  In a second pass the
 * thread is taken out of the slot after each of its instructions and goes on.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "dlang/base/base.h"
#include "inject/slot.h"
#include "t/reloc/rig.h"

struct insn_case {
	const uint8_t *start, *end;
	const char *text;
};

extern const struct insn_case insn_cases[], insn_cases_end[];

#define HIGH UINT64_C(0x200000000000) /* where shared objects are */
#define LOW  UINT64_C(0x10000000)     /* where old programs are */

/* Home's offset in its pages: in the middle, and such that nearly every
 * instruction crosses into the second page. */
#define IN_PAGE  0x800U
#define CROSSING (RIG_PAGE - 1U)

static const uint64_t arith_flags[] = { 0x1, 0x4, 0x10, 0x40, 0x80, 0x800 };

/* The n-th combination of the six arithmetic flags. */
static uint64_t
flags_of(unsigned n)
{
	uint64_t flags = 0x202;

	for (unsigned i = 0; i < ARRAY_SIZE(arith_flags); i++)
		if (n >> i & 1)
			flags |= arith_flags[i];
	return flags;
}

/*
 * Register sets beyond the default: counts for loops and strings, indices,
 * pointers to code in memory, and a bad one for each kind of fault.
 */
#define SETS 7

static void
register_set(struct rig *rig, unsigned n, struct user_regs_struct *r)
{
	rig_default_regs(rig, r);
	switch (n) {
	case 0: break;
	case 1:
		r->rcx = 1;
		r->rax = SYS_getpid;
		r->eflags = flags_of(0x3f);
		break;
	case 2:
		r->rcx = 0;
		r->rdx = 3;
		r->rax = rig->home + 0x123;
		r->eflags = flags_of(0x15);
		break;
	case 3:
		r->rcx = 5;
		r->rax = 0xffffffffffffff;
		r->rbx = r->rbp = 0;
		r->r13 = 3;
		r->eflags = flags_of(0x2a) | 0x400; /* DF */
		break;
	case 4: /* faults */
		r->rcx = UINT64_C(0x100000001);
		/* A slot out of reach of its data needs a stack. */
		r->rsp = rig->map_far || rig->map_error || rig->home == LOW ?
		    rig->stack + 0x800 :
		    0x1000;
		r->rbp = 0x8000000000000000;
		r->rax = 0x1800000000000000;
		r->rdx = (unsigned long long)-1;
		break;
	case 5: /* the red zone and the top of the stack in the data */
		r->rcx = 2;
		r->rsp = rig->data + RIG_DATA_SIZE - 0x200;
		r->rbp = r->rsp;
		r->rax = (unsigned long long)-1;
		break;
	case 6: /* text to jump to */
		r->rax = r->rbx = r->rsi = r->r8 = r->r12 = r->r15 =
		    rig->home + 0x77;
		r->rcx = 4;
		r->eflags = flags_of(9);
		break;
	}
}

/* Pointers to home where indirect branches and returns find them. */
static void
plant_pointers(struct rig *rig)
{
	uint8_t *data = rig->initial.data, *stack = rig->initial.stack;

	for (unsigned i = 0; i + 8 <= RIG_DATA_SIZE; i += 24) {
		uint64_t to = rig->home + 0x200 + i % 0x200;
		memcpy(data + i, &to, 8);
	}
	for (unsigned i = 8; i + 8 <= RIG_DATA_SIZE; i += 40) {
		uint64_t to = rig->home + 0x300 + i % 0x80;
		memcpy(stack + i, &to, 8);
	}
	uint64_t top = rig->home + 0x345, data_top = rig->home + 0x355;
	memcpy(stack + RIG_DATA_SIZE / 2, &top, 8);
	memcpy(data + RIG_DATA_SIZE - 0x200, &data_top, 8);
	/* D of insns.S from offset 0x800, for instructions of 6 and 7 bytes */
	memcpy(data + 0x2800 + 6, &top, 8);
}

static bool
is_branch(const struct insn_case *c)
{
	return c->text[0] == 'j' || strncmp(c->text, "loop", 4) == 0 ||
	    strncmp(c->text, "set", 3) == 0 || strncmp(c->text, "cmov", 4) == 0;
}

/* What may be refused, and only this, by how its text begins. */
static bool
may_be_refused(const struct insn_case *c, const char *why)
{
	static const char *const far_only[] = { "ud1", "push", "pop",
		"mov ah,[rip", "mov [rip+D],ch", "xadd [rip+D],ah",
		"xchg [rip+D],dh", "test [rip+D],bh", "cmpxchg [rip+D],ch",
		"add ah", "or ah", "adc ah", "sbb ah", "and ah", "sub ah",
		"xor ah", "cmp ah", "add [rip+D],bh", "or [rip+D],bh",
		"adc [rip+D],bh", "sbb [rip+D],bh", "and [rip+D],bh",
		"sub [rip+D],bh", "xor [rip+D],bh", "cmp [rip+D],bh",
		"mov rsp,[rip", "mov [rip+D],rsp", "cmp rsp,[rip",
		"add [rip+D],rsp", "xchg [rip+D],rsp", "lock xadd [rip+D],rsp",
		"mov esp,[rip" };

	if (strcmp(why, "refused: no room for a slot within reach") != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(far_only); i++)
		if (strncmp(c->text, far_only[i], strlen(far_only[i])) == 0)
			return true;
	return false;
}

struct tally {
	unsigned cases, refused, wrong;
};

static void
run_case(struct rig *rig, const struct insn_case *c, unsigned offset,
    const struct user_regs_struct *regs, unsigned set, bool step,
    struct tally *t)
{
	const char *why = rig_compare(
	    rig, c->start, (size_t)(c->end - c->start), offset, regs, step);

	t->cases++;
	if (why == NULL)
		return;
	if ((rig->map_far || rig->map_error) && may_be_refused(c, why)) {
		t->refused++;
		return;
	}
	/* One line each is enough for a table that is wrong everywhere. */
	if (t->wrong++ < 40)
		printf("%s (set %u, offset %#x, %s): %s\n", c->text, set,
		    offset, rig->map_far ? "far" : "near", why);
}

/* pushf stores the trap flag that stepping sets. */
static bool
may_step(const struct insn_case *c)
{
	return strncmp(c->text, "pushf", 5) != 0;
}

/* A loop onto itself ends this century only with a small count. */
static bool
may_run(const struct insn_case *c, const struct user_regs_struct *regs)
{
	return strcmp(c->text, "loop .") != 0 ||
	    (regs->rcx != 0 && regs->rcx < 100);
}

static void
run_all(struct rig *rig, unsigned offset, bool step, bool flags)
{
	struct user_regs_struct regs;
	struct tally t = { 0 };

	plant_pointers(rig);
	for (const struct insn_case *c = insn_cases; c < insn_cases_end; c++) {
		for (unsigned set = 0; set < SETS; set++) {
			register_set(rig, set, &regs);
			if (!may_run(c, &regs))
				continue;
			run_case(rig, c, offset, &regs, set,
			    step && may_step(c), &t);
		}
		for (unsigned n = 0; flags && is_branch(c) && n < 64; n++) {
			register_set(rig, 1, &regs);
			regs.eflags = flags_of(n);
			run_case(rig, c, offset, &regs, 1, false, &t);
		}
	}
	printf("%td instructions, %u comparisons, %u refused, %lu runs, %lu "
	       "steps, %u wrong\n",
	    insn_cases_end - insn_cases, t.cases, t.refused, rig->runs,
	    rig->steps, t.wrong);
	fflush(stdout);
	ck_assert_uint_eq(t.wrong, 0);
}

START_TEST(displaced_is_as_at_home)
{
	struct rig rig;

	rig_init(&rig, HIGH);
	run_all(&rig, IN_PAGE, false, true);
	rig_fini(&rig);
}
END_TEST

START_TEST(displaced_low_and_across_pages)
{
	struct rig rig;

	rig_init(&rig, LOW);
	run_all(&rig, CROSSING, false, false);
	rig_fini(&rig);
}
END_TEST

START_TEST(displaced_out_of_reach)
{
	struct rig rig;

	rig_init(&rig, HIGH);
	rig.map_far = true;
	run_all(&rig, IN_PAGE, false, false);
	rig_fini(&rig);
}
END_TEST

START_TEST(displaced_in_a_cave)
{
	struct rig rig;

	rig_init(&rig, HIGH);
	rig.map_error = -EPERM;
	run_all(&rig, IN_PAGE, false, false);
	rig_fini(&rig);
}
END_TEST

START_TEST(leaving_a_slot_anywhere_changes_nothing)
{
	struct rig rig;

	rig_init(&rig, HIGH);
	run_all(&rig, IN_PAGE, true, false);
	rig_fini(&rig);
}
END_TEST

START_TEST(leaving_a_far_slot_anywhere_changes_nothing)
{
	struct rig rig;

	rig_init(&rig, HIGH);
	rig.map_far = true;
	run_all(&rig, IN_PAGE, true, false);
	rig_fini(&rig);
}
END_TEST

/* The child's next stop after `how', and its registers there. */
static int
next_stop(
    struct rig *rig, enum __ptrace_request how, struct user_regs_struct *regs)
{
	int status;

	ck_assert_int_eq(ptrace(how, rig->pid, 0, 0), 0);
	ck_assert_int_eq(waitpid(rig->pid, &status, __WALL), rig->pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, rig->pid, 0, regs), 0);
	return WSTOPSIG(status);
}

/*
 * A system call made from a slot and interrupted: the thread is seen after
 * the instruction at home, and the kernel, which sets pc back by the two
 * bytes of a system call, restarts it at home, where the int3 is.
 */
START_TEST(a_system_call_is_restarted_at_home)
{
	union {
		struct user_regs_struct user;
		struct uregs u;
	} r;
	struct tracepoint *tp;
	struct rig rig;
	const char *why;
	uint64_t home, fault;

	rig_init(&rig, HIGH);
	home = rig.home + IN_PAGE;
	struct tptable *tab = tptable_create(&rig.target);
	tracepoint_unlisted(tab);
	rig.target.ops->write(&rig.target, home, "\x0f\x05\xcc", 3);
	ck_assert_int_eq(tracepoint_get(tab, home, 1, &tp, &why), 0);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);

	rig_default_regs(&rig, &r.user);
	r.user.rax = SYS_pause;
	r.user.rip = home;
	ck_assert_int_eq(resume_from(tab, tp, &r.u, &fault), 0);
	ptrace(PTRACE_SETREGS, rig.pid, 0, &r.user);
	ck_assert_int_eq(next_stop(&rig, PTRACE_SYSCALL, &r.user), SIGTRAP);
	ck_assert_uint_eq(r.user.orig_rax, SYS_pause);
	ck_assert_uint_eq(r.user.rip, tp->slot + 2);
	ck_assert_uint_eq(resume_text_pc(tab, r.user.rip), home + 2);
	/* Pending before the call is made, so it does not wait. */
	kill(rig.pid, SIGUSR1);
	ck_assert_int_eq(next_stop(&rig, PTRACE_CONT, &r.user), SIGUSR1);
	ck_assert_int_eq((int)r.user.rax, -514); /* ERESTARTNOHAND */
	ck_assert_int_eq(resume_leave_slot(tab, &r.u, NULL), SLOT_AFTER);
	ck_assert_uint_eq(r.user.rip, home + 2);
	ck_assert_uint_eq(r.user.rcx, home + 2);
	ptrace(PTRACE_SETREGS, rig.pid, 0, &r.user);
	/* No handler: the call is restarted, and that is a hit. */
	ck_assert_int_eq(next_stop(&rig, PTRACE_CONT, &r.user), SIGTRAP);
	ck_assert_uint_eq(r.user.rip, home + 1);
	ck_assert_uint_eq(r.user.rax, SYS_pause);
	tracepoint_restore_all(tab);
	tptable_destroy(tab);
	rig_fini(&rig);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("displaced");
	TCase *t = tcase_create("displaced");

	tcase_set_timeout(t, 120);
	tcase_add_test(t, displaced_is_as_at_home);
	tcase_add_test(t, displaced_low_and_across_pages);
	tcase_add_test(t, displaced_out_of_reach);
	tcase_add_test(t, displaced_in_a_cave);
	tcase_add_test(t, leaving_a_slot_anywhere_changes_nothing);
	tcase_add_test(t, leaving_a_far_slot_anywhere_changes_nothing);
	tcase_add_test(t, a_system_call_is_restarted_at_home);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
