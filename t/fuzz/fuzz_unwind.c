/*
 * The walk over any stack, with any registers, by the unwind entries of any
 * file: .eh_frame and .debug_frame, Go's table, frame pointers, signal frames,
 * goroutines.
 *
 *	clang -fsanitize=fuzzer,address,undefined -I. -D_GNU_SOURCE ...
 *
 * The file comes from the input, or is the fuzzer itself, whose rules are sound
 * while the stack is not.  Memory is the input, again and again, at a few
 * places: what a read gives depends on its address only.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/symbolise.h"
#include "symbols/unwind/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FRAMES 600

static struct addrspace *as;
static struct unwinder *u;

/* How the input begins. */
struct head {
	uint32_t max;      /* frames asked for */
	uint32_t regs;     /* bit n: register n points into the text */
	uint32_t elf_size; /* bytes of the file; the rest is the stack */
	uint32_t spare;
	uint64_t r[UREG_COUNT];
};

struct memory {
	const uint8_t *bytes;
	size_t size;
	unsigned reads;
};

static int
memory_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct memory *m = ctx;

	m->reads++;
	if (m->size == 0 || addr < 4096 || addr > UINT64_MAX - len)
		return -1;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = m->bytes[(addr + i) % m->size];
	return 0;
}

/* Where the loads are, so that half of all words lead somewhere. */
static uint64_t
lead(uint64_t v)
{
	struct load *const *loads;
	size_t n = addrspace_loads(as, &loads);

	if (n == 0 || (v & 1))
		return v;
	const struct load *l = loads[(v >> 1) % n];
	return l->start + (v >> 8) % (l->end - l->start);
}

/* The rules of a file that is not to be believed. */
static void
rules_of(struct object *o, const struct head *h)
{
	uint64_t size;

	for (size_t i = 0; i < UREG_COUNT; i++) {
		const struct cfi_row *row = cfi_row(o, h->r[i]);

		if (row != NULL && row->count > CFI_REGS)
			abort();
		gosym_frame(o, h->r[i], &size);
		cfi_row(o, object_entry(o) + h->r[i] % 256);
	}
}

static void
on_differ(void *ctx, const char *text)
{
	if (text[0] == '\0')
		abort();
}

/* libunwind reads some words more; to compare it with the rules changes nothing
 * about what they say. */
static void
walk_checked(const struct uregs *regs, struct memory *m, const uint64_t *pcs,
    size_t n, size_t max)
{
	const struct reader mem = { memory_read, m };
	uint64_t again[FRAMES];

	unwind_choose(UNWINDER_CHECK, on_differ, NULL);
	if (unwind(u, regs, &mem, again, max) != n ||
	    memcmp(pcs, again, n * sizeof(*pcs)) != 0)
		abort();
	unwind_choose(UNWINDER_LIBUNWIND, on_differ, NULL);
	n = unwind(u, regs, &mem, again, max);
	if (n > max || (n == 0 && regs->r[UREG_RIP] != 0) ||
	    (regs->r[UREG_RIP] != 0 && again[0] != regs->r[UREG_RIP]))
		abort();
	unwind_choose(UNWINDER_RULES, on_differ, NULL);
}

static void
walk(const struct head *h, struct memory *m)
{
	const struct reader mem = { memory_read, m };
	uint64_t pcs[FRAMES];
	struct uregs regs;
	char name[256];
	size_t n, max = 1 + h->max % FRAMES;

	for (size_t i = 0; i < UREG_COUNT; i++)
		regs.r[i] = h->regs & (1u << i) ? lead(h->r[i]) : h->r[i];
	m->reads = 0;
	n = unwind(u, &regs, &mem, pcs, max);
	if (n > max || (n == 0 && regs.r[UREG_RIP] != 0) ||
	    (regs.r[UREG_RIP] != 0 && pcs[0] != regs.r[UREG_RIP]))
		abort();
	/* Not a system call a word: a frame may be far from the last, and its
	 * rules may look at some places. */
	if (m->reads > 16 * n + 200)
		abort();
	walk_checked(&regs, m, pcs, n, max);
	for (size_t i = 0; i < n && i < 8; i++)
		symbolise_frame(addrspace_stamp(as), pcs[i],
		    i > 0 ? pcs[i - 1] : 0, SYM_DEMANGLE, name, sizeof(name));
}

/* The same with the rules of the input where those of the fuzzer are. */
static void
walk_by(struct object *o, const struct head *h, struct memory *m)
{
	struct load *l = addrspace_exec(as);
	struct object *own = l->object;
	uint64_t bias = l->bias;

	l->object = o;
	l->bias = l->start + 4096 - (object_entry(o) & ~4095ULL);
	unwinder_flush(u);
	walk(h, m);
	l->object = own;
	l->bias = bias;
	unwinder_flush(u);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory m = { 0 };
	struct object *o;
	struct head h;
	size_t elf;

	if (as == NULL) {
		as = addrspace_create(getpid(), NULL);
		addrspace_refresh(as, NULL, NULL);
		u = unwinder_create(as);
	}
	if (size < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	data += sizeof(h);
	size -= sizeof(h);
	elf = h.elf_size % (size + 1);
	m.bytes = data + elf;
	m.size = size - elf;
	walk(&h, &m);
	if (object_open_image(data, elf, "fuzz", &o) == 0) {
		rules_of(o, &h);
		walk_by(o, &h, &m);
		object_put(o);
	}
	return 0;
}
