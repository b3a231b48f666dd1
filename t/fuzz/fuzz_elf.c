/*
 * The reader of ELF files on any bytes: symbols, unwind entries, CFI rules,
 * relocations, debug information.
 */
#include "t/fuzz/look.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object *o;

	if (object_open_image(data, size, "fuzz", &o) != 0)
		return 0;
	look_at_object(o);
	object_put(o);
	return 0;
}
