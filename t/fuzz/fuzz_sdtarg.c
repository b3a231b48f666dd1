/*
 * The argument strings of static probes: whatever the text, every location is
 * one that the VM can evaluate.
 *
 *	clang -fsanitize=fuzzer,address,undefined -I. -D_GNU_SOURCE ...
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/sdtarg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
symbol(void *ctx, const char *name, uint64_t *addr)
{
	*addr = strlen(name) << 12;
	return name[0] == 'x' ? -ENOENT : 0;
}

static void
check(const struct argloc *a)
{
	if (a->kind == ARGLOC_NONE)
		return;
	if (a->size != 1 && a->size != 2 && a->size != 4 && a->size != 8)
		abort();
	if (a->kind == ARGLOC_REG && a->reg >= UREG_COUNT)
		abort();
	if (a->kind != ARGLOC_MEM)
		return;
	if ((a->reg != ARGLOC_NOREG && a->reg >= UREG_COUNT) ||
	    (a->index != ARGLOC_NOREG && a->index >= UREG_COUNT) ||
	    a->scale > 8)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sdt_place at = { .addr = 0x400000, .symbol = symbol };
	struct argloc args[ARGLOC_MAX];
	char *text = strndup((const char *)data, size);

	size_t n = sdt_args(text, &at, args, ARGLOC_MAX);
	if (n > ARGLOC_MAX)
		abort();
	for (size_t i = 0; i < n; i++)
		check(&args[i]);
	free(text);
	return 0;
}
