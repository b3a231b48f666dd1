/*
 * Calls that change signals; see sigcalls.h.
 *
 * All text of an object is searched, because any library may have such calls.  A
 * followed child usually maps objects that were searched before.
 */
#include "tracer/sites/sigcalls.h"

#include <string.h>
#include <sys/syscall.h>

#include "disasm/func.h"
#include "dlang/uregs.h"
#include "symbols/object.h"
#include "tracer/base/part.h"
#include "tracer/names/kept.h"

/* Bytes and instructions between the load of the number and the system call,
 * where compilers load the arguments. */
#define BACK_MAX   32
#define BACK_INSNS 6

/* A function longer than this is not walked. */
#define FUNC_MAX (1U << 20)

#define CHUNK    0x40000U

static void
sigcalls_end(void *part)
{
	struct sigcalls *calls = part;

	vec_fini(&calls->list);
}

static const struct part sigcalls_part = { .size = sizeof(struct sigcalls),
	.end = sigcalls_end };

/* The system call whose number is loaded at p[0 ..  len); 0 if it is not a
 * watched one. */
static int
loaded_number(const uint8_t *p, size_t len)
{
	struct insn insn;
	uint64_t value;
	uint8_t reg;

	if (insn_decode(p, len, 0, &insn) != 0 ||
	    !insn_constant(&insn, &reg, &value) || reg != UREG_CALL)
		return 0;
	return value == SYS_rt_sigaction || value == SYS_rt_sigprocmask ?
	    (int)value :
	    0;
}

/* Do whole instructions lead from code to code + len, none of them a branch? */
static bool
leads_on(const uint8_t *code, size_t len, uint64_t addr)
{
	struct insn insn;
	size_t at = 0;

	for (int n = 0; at < len && n < BACK_INSNS; n++) {
		if (insn_decode(code + at, len - at, addr + at, &insn) != 0)
			return false;
		switch (insn.kind) {
		case INSN_PLAIN:
		case INSN_NOP:
		case INSN_PUSH_REG:
		case INSN_POP_REG:
		case INSN_MOV_REG:
		case INSN_LEA:
		case INSN_ADD_SP: break;
		default: return false;
		}
		at += insn.len;
	}
	return at == len;
}

/* The number of the system call at code[at]; 0 if it is not a watched one. */
static int
watched_call(const uint8_t *code, size_t at, uint64_t addr)
{
	for (size_t back = 1; back <= BACK_MAX && back <= at; back++) {
		const uint8_t *p = code + at - back;
		int nr = loaded_number(p, back);
		if (nr != 0 && leads_on(p, back, addr + at - back))
			return nr;
	}
	return 0;
}

void
sigcalls_find(const uint8_t *code, size_t size, uint64_t addr,
    void (*each)(void *ctx, uint64_t addr, int nr), void *ctx)
{
	const uint8_t *end = code + size, *p = code;

	while ((p = memmem(p, (size_t)(end - p), INSN_SYSCALL_BYTES,
		    sizeof(INSN_SYSCALL_BYTES) - 1)) != NULL) {
		size_t at = (size_t)(p - code);
		int nr = watched_call(code, at, addr);
		if (nr != 0)
			each(ctx, addr + at, nr);
		p++;
	}
}

static int
look_for(void *ctx, const struct func_insn *fi)
{
	uint64_t *want = ctx;

	if (fi->insn.addr < *want)
		return 0;
	if (fi->insn.addr == *want && fi->insn.kind == INSN_SYSCALL)
		*want = 0;
	return 1;
}

/*
 * Does an instruction of its function begin at addr (the file's own)?  If no
 * functions are known (musl, stripped), the seven bytes that were found are
 * enough proof: by chance they occur once in 2^56.
 */
static bool
confirm(struct object *o, uint64_t addr)
{
	uint64_t start, end, want = addr;

	if (object_fde_range(o, addr, &start, &end) != 0) {
		const struct sym *s = object_func_at(o, addr);
		if (s == NULL || s->size_guessed)
			return object_is_text(o, addr);
		start = s->addr;
		end = s->addr + s->size;
	}
	if (addr < start || addr >= end || end - start > FUNC_MAX)
		return false;
	size_t size = (size_t)(end - start);
	uint8_t *code = mem_alloc(size);
	if (object_read(o, start, code, size) == 0)
		func_walk(code, size, start, look_for, &want, NULL);
	mem_free(code);
	return want == 0;
}

struct search {
	struct sigcalls *calls;
	struct object *object;
	uint64_t after; /* found up to here already: chunks overlap */
};

static void
found(void *ctx, uint64_t addr, int nr)
{
	struct search *s = ctx;

	if (addr < s->after || !confirm(s->object, addr))
		return;
	s->after = addr + 1;
	*vec_push(&s->calls->list) = (struct sigcall){ addr, nr };
}

static void
search_code(struct search *s, uint64_t lo, uint64_t hi)
{
	const size_t overlap = BACK_MAX + INSN_MAX_LEN;
	uint8_t *code = mem_alloc(CHUNK);

	s->after = lo;
	for (uint64_t at = lo; at < hi; at += CHUNK - overlap) {
		size_t size = (size_t)MIN(hi - at, (uint64_t)CHUNK);
		if (object_read(s->object, at, code, size) == 0)
			sigcalls_find(code, size, at, found, s);
		if (size < CHUNK)
			break;
	}
	mem_free(code);
}

const struct sigcalls *
sigcalls_of(struct state *st, struct object *o)
{
	struct sigcalls *calls = part_of(object_parts(st, o), &sigcalls_part);
	struct search s = { .calls = calls, .object = o };
	uint64_t start, end;

	if (calls->searched)
		return calls;
	calls->searched = true;
	for (size_t i = 0; object_code(o, i, &start, &end); i++)
		search_code(&s, start, end);
	return calls;
}
