/*
 * Where a thread in the code of a site would be in the text; see stub.h.
 */
#include "inject/x86_64/stub_impl.h"

#include "dlang/base/base.h"
#include "dlang/base/log.h"
#include "dlang/base/x86_64/emit.h"

static uint64_t
pushed(struct target *t, uint64_t addr)
{
	uint64_t word = 0;

	if (t->ops->read(t, addr, &word, sizeof(word)) != 0)
		LOG("stub", "no stack at %#lx", (unsigned long)addr);
	return word;
}

/* What lahf and seto have made. */
static void
take_flags(struct uregs *regs, uint64_t word)
{
	uint64_t flags =
	    (word >> 8 & FLAGS_LOW) | ((word & 1) != 0 ? FLAG_OF : 0);

	regs->r[UREG_RFLAGS] = (regs->r[UREG_RFLAGS] & ~FLAGS_KEPT) | flags;
}

/* rax is on top of the stack. */
static void
take_rax(struct target *t, struct uregs *regs)
{
	regs->r[UREG_RAX] = pushed(t, regs->r[UREG_RSP]);
	regs->r[UREG_RSP] += 8 + RED_ZONE;
}

/* All three words are on the stack: restore the registers from them. */
static void
take_all(struct target *t, struct uregs *regs)
{
	uint64_t *sp = &regs->r[UREG_RSP];

	regs->r[UREG_RCX] = pushed(t, *sp + ON_RCX);
	take_flags(regs, pushed(t, *sp + ON_FLAGS));
	*sp += ON_RAX;
	take_rax(t, regs);
}

/* The thread is `at' bytes into a way out: do the rest of it. */
static void
take_rest(struct target *t, struct uregs *regs, unsigned at)
{
	uint64_t *sp = &regs->r[UREG_RSP];

	if (at < OUT_RCX) {
		take_all(t, regs);
		return;
	}
	if (at < OUT_FLAGS) {
		take_flags(regs, pushed(t, *sp));
		*sp += 8;
	} else if (at < OUT_OF) {
		take_flags(regs, regs->r[UREG_RAX]);
	} else if (at < OUT_SAHF) {
		bool of = (regs->r[UREG_RFLAGS] & FLAG_OF) != 0;
		take_flags(regs, (regs->r[UREG_RAX] & ~UINT64_C(1)) | of);
	}
	if (at < OUT_RAX)
		take_rax(t, regs);
	else if (at < OUT_RSP)
		*sp += RED_ZONE;
}

/* The thread is `at' bytes into the beginning of the stub: undo what it has
 * pushed.  The first instructions change no flags. */
static void
take_begun(struct uregs *regs, struct target *t, unsigned at)
{
	uint64_t *sp = &regs->r[UREG_RSP];

	if (at >= IN_RCX) {
		take_all(t, regs);
	} else if (at >= IN_RAX) {
		*sp += at >= IN_FLAGS ? 8 : 0;
		take_rax(t, regs);
	} else if (at >= IN_LEA) {
		*sp += RED_ZONE;
	}
}

/* The thread has asked whether it is called: it is on its way to that int3, or the
 * firing is over. */
static enum stub_place
by_call(const struct uregs *regs)
{
	return regs->r[UREG_RFLAGS] & RFLAGS_ZF ? STUB_FIRED : STUB_FIRING;
}

/* run() has returned with these registers, or is about to. */
static enum stub_place
by_answer(const struct uregs *regs)
{
	return (uint32_t)regs->r[UREG_RAX] == 0 ? by_call(regs) : STUB_BEFORE;
}

/* The first `n' of the registers that are pushed for the body are on the stack, the
 * last one on top, and then the three words. */
static void
take_pushed(
    const struct stub *s, struct target *t, struct uregs *regs, unsigned n)
{
	uint64_t *sp = &regs->r[UREG_RSP];

	for (unsigned number = 0, i = 0; i < n; number++) {
		unsigned u = ureg_by_number(number);
		if (s->saves & 1U << u)
			regs->r[u] = pushed(t, *sp + 8 * (n - ++i));
	}
	*sp += 8 * n;
	take_all(t, regs);
}

/* The number of registers that are pushed for the body. */
static unsigned
count_pushed(const struct stub *s)
{
	return (unsigned)__builtin_popcount(s->saves);
}

/* How many of them are on the stack there, in the first piece? */
static unsigned
count_on_stack(const struct stub *s, unsigned at)
{
	unsigned end = s->asks + IN_RCX, n = 0;

	if (at >= s->back) {
		/* From the last one on, they are popped. */
		n = count_pushed(s);
		end = s->back;
		for (unsigned number = UREG_NUMBERS; number-- > 0;) {
			if (!(s->saves & 1U << ureg_by_number(number)))
				continue;
			end += number >= R8 ? 2 : 1;
			n -= end <= at;
		}
		return n;
	}
	for (unsigned number = 0; number < UREG_NUMBERS; number++) {
		if (!(s->saves & 1U << ureg_by_number(number)))
			continue;
		end += number >= R8 ? 2 : 1;
		n += end <= at;
	}
	return n;
}

/* Has the thread asked whether it is called, and not gone on? */
static bool
is_answered(const struct stub *s, unsigned at)
{
	return s->rare != 0 &&
	    ((at >= s->back && at < s->done) ||
		(at >= s->again && at < s->again + AGAIN_JB));
}

/* The pc is in the first piece, behind the instructions before the site, or at the
 * begin of the second one. */
static enum stub_place
leave_first(
    const struct stub *s, struct target *t, struct uregs *regs, unsigned at)
{
	enum stub_place place =
	    is_answered(s, at) ? by_answer(regs) : STUB_BEFORE;

	if (at < s->asks + IN_RCX) {
		take_begun(regs, t, at - s->asks);
	} else if (at < s->done) {
		take_pushed(s, t, regs, count_on_stack(s, at));
	} else if (at <= s->displaced[s->first]) {
		take_rest(t, regs, at - s->done);
		place = STUB_FIRED;
	} else if (at < s->ends) {
		place = STUB_BEHIND;
	} else if (is_answered(s, at)) {
		take_all(t, regs);
	} else {
		take_rest(t, regs, at - s->again - AGAIN_JB);
	}
	return place;
}

/* The lane is busy, or the thread will execute the int3 of who is called. */
static bool
fires(const struct stub *s, const struct uregs *regs, unsigned at)
{
	if (is_answered(s, at))
		return by_answer(regs) == STUB_FIRING;
	return (at >= s->busy && at < s->free) || at >= s->ask ||
	    (at == s->free && by_call(regs) == STUB_FIRING) ||
	    (at >= s->called_out && at <= s->called_trap);
}

enum stub_place
stub_run_leave(const struct stub_run *r, const struct stub *s, struct target *t,
    struct uregs *regs)
{
	enum stub_place place = regs->r[UREG_PC] - r->addr < r->busy ?
	    STUB_BEFORE :
	    by_answer(regs);

	if (place == STUB_FIRING)
		return place;
	regs->r[UREG_PC] = s->site[s->first];
	regs->r[UREG_RSP] += 8;
	take_pushed(s, t, regs, count_pushed(s));
	return place;
}

enum stub_place
stub_leave(const struct stub *s, struct target *t, struct uregs *regs)
{
	unsigned at = stub_offset(s, regs->r[UREG_PC]);

	if (fires(s, regs, at))
		return STUB_FIRING;
	regs->r[UREG_PC] = stub_text_pc(s, regs->r[UREG_PC]);
	if (at < s->begin)
		return STUB_AHEAD;
	if (at < s->asks)
		return STUB_BEFORE;
	if (at < s->start)
		return leave_first(s, t, regs, at);
	if (at < s->busy) {
		take_begun(regs, t, at - s->start);
		return STUB_BEFORE;
	}
	if (at < s->out) {
		take_all(t, regs);
		return STUB_FIRED;
	}
	if (at < s->trap_out) {
		/* The instructions behind it are in the other piece, or here. */
		if (s->rare == 0 && at > s->displaced[s->first])
			return STUB_BEHIND;
		take_rest(t, regs, at - s->out);
		return STUB_FIRED;
	}
	if (at <= s->trap) {
		take_rest(t, regs, at - s->trap_out);
		return STUB_BEFORE;
	}
	if (at >= s->lost) {
		take_all(t, regs);
		return at == s->skipped ? STUB_FIRED : STUB_BEFORE;
	}
	return STUB_FIRED;
}

uint64_t
stub_text_pc(const struct stub *s, uint64_t pc)
{
	unsigned at = stub_offset(s, pc), i = s->first;

	if (at < s->begin)
		for (i--; at < s->displaced[i];)
			i--;
	else if (at >= s->displaced[i] && at < s->ends)
		for (i = s->n; at < s->displaced[i];)
			i--;
	return s->site[i];
}
