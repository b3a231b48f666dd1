/*
 * What is mapped, by a process whose maps and memory are the input: a file that
 * is gone is put together again from memory, and the run-time linker tells
 * where it calls when something is loaded.
 *
 *	text of maps, a byte 0, memory (again and again)
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/space/addrspace_impl.h"
#include "symbols/linkmap.h"
#include "t/fuzz/look.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *bytes;
static size_t nbytes;

static int
memory_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	if (nbytes == 0 || addr < 4096 || addr > UINT64_MAX - len)
		return -1;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = bytes[(addr % 4096 + i) % nbytes];
	return 0;
}

static const struct reader memory = { memory_read, NULL };

static void
look_at_file(const struct maps *maps, struct map *m)
{
	const struct mapped_in in = { getpid(), &memory, maps };
	const char *why = NULL;
	struct object *o;

	/* There is no such file. */
	m->deleted = true;
	if (mapped_open(&in, m, &o, &why) != 0)
		return;
	look_at_object(o);
	object_put(o);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, 0, size);
	struct linkmap lm;
	enum linkmap_state state;
	struct maps maps;
	uint64_t left = 1 << 20;

	if (end == NULL)
		return 0;
	bytes = end + 1;
	nbytes = size - (size_t)(bytes - data);
	struct addrspace *as = addrspace_create(getpid(), &memory);
	if (maps_parse((const char *)data, (size_t)(end - data), &maps) != 0)
		abort();
	vec_foreach(m, &maps.list) {
		uint64_t len = m->end - m->start;
		if (len > left || m->offset > left)
			continue;
		left -= len;
		look_at_file(&maps, m);
	}
	maps_fini(&maps);
	addrspace_refresh(as, NULL, NULL);
	if (linkmap_find(as, &memory, &lm) == 0 &&
	    addrspace_load_at(as, lm.brk_addr) == NULL)
		abort();
	linkmap_state(&lm, &memory, &state);
	addrspace_put(as);
	return 0;
}
