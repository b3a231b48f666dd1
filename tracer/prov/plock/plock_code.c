/*
 * Functions of a C library; see plock_code.h.
 *
 * If a symbol or an unwind entry gives the range of a function, all of it is
 * decoded, jump tables included. Otherwise (stripped musl) its jumps are
 * followed from its start.
 */
#include "tracer/prov/plock/plock_code.h"

#include <string.h>
#include <sys/syscall.h>

#include "disasm/func.h"
#include "dlang/base/hash.h"
#include "dlang/base/mem.h"
#include "dlang/uregs.h"
#include "symbols/addrspace.h"

/* Between a lock function and its futex call there are at most three other
 * functions. */
#define DEPTH_MOST 4
/* No function of a C library's locks is longer, in bytes; and of glibc's, none
 * leads to more than two dozen others. */
#define SIZE_MOST 0x4000
#define FNS_MOST  256

struct plock_code {
	struct reader text;
	const struct load *load;
	struct hash fns; /* struct plock_fn by start */
};

struct plock_code *
plock_code_create(const struct reader *text, const struct load *l)
{
	struct plock_code *pc = mem_zalloc(sizeof(*pc));

	pc->text = *text;
	pc->load = l;
	return pc;
}

void
plock_code_destroy(struct plock_code *pc)
{
	if (pc == NULL)
		return;
	hash_foreach(e, &pc->fns) {
		struct plock_fn *fn = e->value;
		vec_fini(&fn->rets);
		vec_fini(&fn->pauses);
		vec_fini(&fn->waits);
		vec_fini(&fn->calls);
		vec_fini(&fn->tails);
		mem_free(fn);
	}
	hash_fini(&pc->fns);
	mem_free(pc);
}

bool
plock_code_unwinds(struct plock_code *pc, uint64_t addr)
{
	uint64_t lo, hi;

	return object_fde_range(
		   pc->load->object, addr - pc->load->bias, &lo, &hi) == 0;
}

/* ---- one function ---- */

/* The state while one function is read. */
struct reading {
	struct plock_code *pc;
	struct plock_fn *fn;
	bool futex;     /* SYS_futex was loaded for a system call */
	bool futex_arg; /* SYS_futex was loaded as first argument */
	VEC(uint64_t) syscalls;
	VEC(uint64_t) todo; /* jump targets still to be read */
	struct hash seen;
};

static bool
inside(const struct plock_fn *fn, uint64_t addr)
{
	return addr >= fn->start && addr < fn->end;
}

/* Add the target to the list, unless it is in it already. */
static void
add_once(struct reading *r, bool tail, uint64_t target)
{
	if (!object_is_text(r->pc->load->object, target - r->pc->load->bias))
		return;
	if (tail) {
		vec_foreach(at, &r->fn->tails)
			if (*at == target)
				return;
		*vec_push(&r->fn->tails) = target;
	} else {
		vec_foreach(at, &r->fn->calls)
			if (*at == target)
				return;
		*vec_push(&r->fn->calls) = target;
	}
}

static void
note_call(struct reading *r, const struct insn *in)
{
	if (r->futex_arg && in->kind == INSN_CALL)
		*vec_push(&r->fn->waits) =
		    (struct plock_site){ in->addr, PLOCK_CALL };
	else if (in->kind == INSN_CALL)
		add_once(r, false, in->target);
	r->futex_arg = false;
}

static void
note_insn(struct reading *r, const struct insn *in)
{
	uint64_t value;
	uint8_t reg;

	if (insn_constant(in, &reg, &value)) {
		if (reg == ureg_arg(0))
			r->futex_arg = value == SYS_futex;
		else
			r->futex |= value == SYS_futex;
	} else if (insn_is_pause(in)) {
		*vec_push(&r->fn->pauses) = in->addr;
	}
	switch (in->kind) {
	case INSN_RET: *vec_push(&r->fn->rets) = in->addr; break;
	case INSN_CALL:
	case INSN_CALL_IND: note_call(r, in); break;
	case INSN_SYSCALL: *vec_push(&r->syscalls) = in->addr; break;
	default: break;
	}
}

static int
each(void *ctx, const struct func_insn *fi)
{
	struct reading *r = ctx;

	note_insn(r, &fi->insn);
	if (fi->exit == FUNC_TAIL_JMP || fi->exit == FUNC_TAIL_JCC)
		add_once(r, true, fi->insn.target);
	return 0;
}

static bool
read_range(struct reading *r)
{
	struct plock_fn *fn = r->fn;
	size_t size = fn->end - fn->start;
	uint8_t *code = mem_alloc(size);
	bool ok = reader_read(&r->pc->text, fn->start, code, size) == 0;

	if (ok)
		func_walk(code, size, fn->start, each, r, NULL);
	mem_free(code);
	return ok;
}

/* Read from addr to the first instruction that does not continue with the next
 * one. */
static bool
read_run(struct reading *r, uint64_t addr)
{
	uint8_t code[INSN_MAX_LEN];
	struct insn in;

	for (;; addr += in.len) {
		size_t len = sizeof(code);
		if (addr - r->fn->start > SIZE_MOST ||
		    hash_set(&r->seen, addr, r) != NULL)
			return true;
		while (
		    len > 0 && reader_read(&r->pc->text, addr, code, len) != 0)
			len--;
		if (insn_decode(code, len, addr, &in) != 0)
			return addr != r->fn->start;
		note_insn(r, &in);
		if (in.kind == INSN_JCC || in.kind == INSN_JMP)
			*vec_push(&r->todo) = in.target;
		if (in.kind == INSN_JMP || in.kind == INSN_JMP_IND ||
		    in.kind == INSN_RET || in.kind == INSN_UD)
			return true;
	}
}

/* A jump is a tail call if its target is a function with another name, lies
 * before the start, or lies more than SIZE_MOST behind it. */
static bool
is_tail(const struct reading *r, uint64_t target)
{
	const struct sym *s =
	    object_func_at(r->pc->load->object, target - r->pc->load->bias);

	return target < r->fn->start || target - r->fn->start > SIZE_MOST ||
	    (s != NULL && r->pc->load->bias + s->addr != r->fn->start);
}

static bool
read_jumps(struct reading *r)
{
	bool ok = read_run(r, r->fn->start);

	while (ok && r->todo.len > 0) {
		uint64_t target = vec_pop(&r->todo);
		if (is_tail(r, target))
			add_once(r, true, target);
		else
			read_run(r, target);
	}
	return ok;
}

/* The end of the function at addr; addr if it is not known. */
static uint64_t
end_of(const struct plock_code *pc, uint64_t addr)
{
	uint64_t own = addr - pc->load->bias, lo, hi;
	const struct sym *s = object_func_at(pc->load->object, own);

	if (object_fde_range(pc->load->object, own, &lo, &hi) == 0)
		return pc->load->bias + hi;
	if (s != NULL && s->addr == own && !s->size_guessed)
		return addr + s->size;
	return addr;
}

const struct plock_fn *
plock_code_fn(struct plock_code *pc, uint64_t addr)
{
	struct plock_fn *fn = hash_get(&pc->fns, addr);
	struct reading r = { .pc = pc };

	if (fn != NULL)
		return fn->decoded ? fn : NULL;
	r.fn = fn = mem_zalloc(sizeof(*fn));
	fn->start = addr;
	fn->end = end_of(pc, addr);
	if (fn->end - fn->start > SIZE_MOST)
		fn->end = addr;
	fn->decoded = fn->end > addr ? read_range(&r) : read_jumps(&r);
	/* If the function never loads SYS_futex, its system calls are
	 * others. */
	vec_foreach(at, &r.syscalls)
		if (r.futex)
			*vec_push(&fn->waits) =
			    (struct plock_site){ *at, PLOCK_SYSCALL };
	vec_fini(&r.syscalls);
	vec_fini(&r.todo);
	hash_fini(&r.seen);
	/* Stored even if it was not decoded, so that it is not read again. */
	hash_set(&pc->fns, addr, fn);
	return fn->decoded ? fn : NULL;
}

/* ---- several ---- */

static bool
has_fn(const plock_fns *fns, const struct plock_fn *fn)
{
	vec_foreach(have, fns)
		if (*have == fn)
			return true;
	return false;
}

static bool
add_fn(plock_fns *out, const struct plock_fn *fn)
{
	if (fn == NULL || out->len >= FNS_MOST || has_fn(out, fn))
		return false;
	*vec_push(out) = fn;
	return true;
}

void
plock_code_body(struct plock_code *pc, uint64_t addr, plock_fns *out)
{
	size_t i = out->len;

	add_fn(out, plock_code_fn(pc, addr));
	for (; i < out->len; i++) {
		const struct plock_fn *fn = out->at[i];

		vec_foreach(tail, &fn->tails)
			if (!inside(fn, *tail) && out->len < FNS_MOST)
				add_fn(out, plock_code_fn(pc, *tail));
	}
}

/* May the function lead to a wait for a lock? Judged by its name: assert() and
 * the like lead to nearly all functions of the library, but not to a lock of
 * the program. */
static bool
may_wait(const struct plock_code *pc, uint64_t addr)
{
	static const char *const words[] = { "lock", "futex", "mutex", "cond",
		"wait", "sem_", "lll" };
	const struct sym *s =
	    object_func_at(pc->load->object, addr - pc->load->bias);

	if (s == NULL)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(s->name, words[i]) != NULL)
			return true;
	return false;
}

static void
reach(struct plock_code *pc, uint64_t addr, unsigned depth, plock_fns *out)
{
	plock_fns body = { 0 };

	/* The function may have been added already, as a tail call of another
	 * one. */
	if (out->len >= FNS_MOST || has_fn(out, plock_code_fn(pc, addr)))
		return;
	plock_code_body(pc, addr, &body);
	vec_foreach(fn, &body) {
		if (!add_fn(out, *fn) || depth == DEPTH_MOST)
			continue;
		vec_foreach(callee, &(*fn)->calls)
			if (may_wait(pc, *callee))
				reach(pc, *callee, depth + 1, out);
	}
	vec_fini(&body);
}

void
plock_code_reach(struct plock_code *pc, uint64_t addr, plock_fns *out)
{
	reach(pc, addr, 0, out);
}
