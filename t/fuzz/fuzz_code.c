/*
 * What the locks of a C library do, found out from any code: it ends, and every
 * place that is told lies in a function.  The code is at the fuzzer's own text,
 * so that there are functions of known size, calls and jumps between them.
 *
 *	where it begins (2), then code, again and again
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/addrspace.h"
#include "tracer/prov/plock/plock_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REACH 2048

static struct addrspace *as;
static const uint8_t *code;
static size_t code_size;
static uint64_t code_addr; /* it is near there, and nowhere else */

static int
text_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	size_t at = addr % code_size;

	if (addr - (code_addr - REACH) > 2 * REACH)
		return -1;
	for (size_t i = 0; i < len; i++) {
		((uint8_t *)buf)[i] = code[at];
		at = at + 1 < code_size ? at + 1 : 0;
	}
	return 0;
}

static const struct reader text = { text_read, NULL };

static void
check(const struct plock_fn *fn)
{
	if (fn->end < fn->start)
		abort();
	if (fn->end == fn->start) /* nothing tells it */
		return;
	vec_foreach(at, &fn->rets)
		if (*at < fn->start || *at >= fn->end)
			abort();
	vec_foreach(at, &fn->pauses)
		if (*at < fn->start || *at >= fn->end)
			abort();
	vec_foreach(s, &fn->waits)
		if (s->addr < fn->start || s->addr >= fn->end)
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plock_fns fns = { 0 };

	if (as == NULL) {
		as = addrspace_create(getpid(), NULL);
		addrspace_refresh(as, NULL, NULL);
	}
	if (size < 3)
		return 0;
	const struct load *l = addrspace_exec(as);
	uint64_t at = (uintptr_t)LLVMFuzzerTestOneInput + data[0] +
	    ((uint64_t)data[1] << 8);
	code_addr = at;
	code = data + 2;
	code_size = size - 2;
	struct plock_code *pc = plock_code_create(&text, l);
	const struct plock_fn *fn = plock_code_fn(pc, at);
	if (fn != NULL)
		check(fn);
	plock_code_unwinds(pc, at);
	plock_code_body(pc, at, &fns);
	vec_foreach(f, &fns)
		check(*f);
	vec_clear(&fns);
	plock_code_reach(pc, at, &fns);
	vec_foreach(f, &fns)
		check(*f);
	vec_fini(&fns);
	plock_code_destroy(pc);
	return 0;
}
