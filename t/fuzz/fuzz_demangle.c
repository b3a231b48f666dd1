/*
 * Names of functions as their authors wrote them, whatever the name: text, and
 * in bounded time.  The first byte chooses the mangling and the room.
 */
#include <stdlib.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "symbols/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const begins[] = { "_Z", "__Z", "_R", "_D",
		"_GLOBAL_", "_ZN", "_RNv", "" };
	char buf[256];

	if (size < 1)
		return 0;
	size_t room = 1 + data[0] / 8 * 8;
	char *rest = mem_strndup((const char *)data + 1, size - 1);
	char *name = mem_printf("%s%s", begins[data[0] % 8], rest);
	if (demangle(name, buf, room) != buf || strlen(buf) >= room)
		abort();
	for (int form = DEMANGLE_TEXT; form <= DEMANGLE_FULL; form++)
		if (demangle_as(name, (enum demangle_form)form, buf, room) &&
		    strlen(buf) >= room)
			abort();
	demangle_variant(name);
	mem_free(name);
	mem_free(rest);
	return 0;
}
