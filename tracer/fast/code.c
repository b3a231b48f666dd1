/*
 * Machine code for the clauses of the image (dlang/jit/), for use in targets.
 *
 * It lies behind the VM's blob, at the same distance in each target.  So it is
 * made once, for a blob at address 0.  struct img_difo says where the code of a
 * DIFO begins, counted from the blob.  What cannot be compiled is run by the VM.
 */
#include <string.h>

#include "disasm/text.h"
#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "dlang/jit/jit.h"
#include "dlang/verify.h"
#include "tracer/fast/fast_impl.h"

/* The most code of one DIFO. */
#define CODE_MOST (1U << 20)
/* All of it; the rest of the DIFOs are run by the VM. */
#define CODES_MOST (64U << 20)

#define CODE_ALIGN 16U

/* ---- as text ---- */

static void
print_code(FILE *out, const uint8_t *code, size_t from, size_t to)
{
	char text[128];

	while (from < to) {
		size_t n =
		    insn_text(code + from, to - from, from, text, sizeof(text));
		fprintf(out, "%20s%4zx: %s\n", "", from,
		    n > 0 ? text : "(no disassembler)");
		from += n > 0 ? n : to - from;
	}
}

/* A DIFO, and behind each instruction its machine code.  Targets of calls are
 * distances, too. */
static void
print(FILE *out, const struct fast *f, const struct img_difo *i,
    const uint8_t *code, size_t size, const uint32_t *starts)
{
	const struct difo d = {
		.text = (void *)(f->image.base + i->text_ref),
		.len = i->len,
		.ints = (void *)(f->image.base + i->ints_ref),
		.nints = i->nints,
		.strs = (void *)(f->image.base + i->strs_ref),
		.strs_len = i->strs_len,
	};
	size_t at = 0;

	fprintf(out, "\nDIFO in machine code, %zu bytes\n", size);
	for (uint32_t n = 0; n < d.len; n++) {
		print_code(out, code, at, starts[n]);
		at = starts[n];
		dis_instr(out, &d, n);
	}
	print_code(out, code, at, size);
}

/* ---- compiling ---- */

/* Write the code of d at the end of the code that there is. */
static const char *
compile(struct fast *f, struct img_difo *d, const struct vm_helpers *helpers,
    uint8_t *buf, FILE *listing)
{
	size_t at = ROUND_UP(f->code_size, (size_t)CODE_ALIGN);
	struct jit_place place = { f->code_at + at, helpers };
	const char *why = NULL;

	if (fault_due(FAULT_JIT))
		return "a test wants it so";
	if (at > CODES_MOST)
		return "there is too much of it";
	uint32_t *starts = mem_zalloc(d->len * sizeof(*starts));
	size_t n = jit_difo(&f->image, d, &place, buf, CODE_MOST, starts, &why);
	if (n > 0 && listing != NULL)
		print(listing, f, d, buf, n, starts);
	mem_free(starts);
	if (n == 0)
		return why;
	f->code = mem_realloc(f->code, at + n);
	memset(f->code + f->code_size, 0, at - f->code_size);
	memcpy(f->code + at, buf, n);
	f->code_size = at + n;
	d->code = (uint32_t)place.addr;
	return NULL;
}

void
code_make(struct fast *f, FILE *listing)
{
	const struct img_hdr *im = (const void *)f->image.base;
	struct blob blob;
	unsigned done = 0, left = 0;

	if (!blob_measure(&blob))
		return;
	uint8_t *loaded = mem_zalloc(blob.size), *buf = mem_alloc(CODE_MOST);
	const struct agent_table *table =
	    (const void *)(loaded + blob_load(loaded, 0));
	const struct vm_helpers *helpers =
	    (const void *)(loaded + (uintptr_t)table->helpers);
	f->code_at = blob.size;
	for (uint32_t ref = im->difos_ref; ref != 0;) {
		struct img_difo *d = (void *)(f->image.base + ref);
		const char *why = compile(f, d, helpers, buf, listing);
		if (why != NULL)
			LOG("jit", "DIFO %u: %s", ref, why);
		*(why != NULL ? &left : &done) += 1;
		ref = d->next_ref;
	}
	LOG("jit", "%u DIFOs compiled to %zu bytes, %u not", done, f->code_size,
	    left);
	mem_free(loaded);
	mem_free(buf);
}
