/*
 * The parser of /proc/PID/maps on any text: the list is in order, every
 * mapping is found again by its address.
 *
 *	clang -fsanitize=fuzzer,address,undefined -I. -D_GNU_SOURCE ...
 */
#include <stdlib.h>

#include "symbols/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct maps m;
	uint64_t last = 0;

	if (maps_parse((const char *)data, size, &m) != 0)
		abort();
	vec_foreach(e, &m.list) {
		if (e->start >= e->end || e->start < last || e->path == NULL ||
		    maps_at(&m, e->start) != e || maps_at(&m, e->end - 1) != e)
			abort();
		last = e->end;
	}
	maps_fini(&m);
	return 0;
}
