/*
 * What is known of a provider and its probes, for the files of this room.
 */
#ifndef SDT_PROBES_H
#define SDT_PROBES_H

#include <stddef.h>
#include <stdint.h>

#include "include/dtrap-provider.h"

struct probe {
	dtrap_probe visible; /* first: what the program has a pointer to */
	/* The function in the object; NULL if that is not loaded.  Atomic. */
	void (*code)(const uint64_t *args);
	char *function, *name;
	unsigned nargs;
	enum dtrap_arg types[DTRAP_PROBE_ARGS];
};

struct probes {
	const char *provider;
	struct probe **at;
	size_t count, room;
};

/* A type: its name in D, and its size in bytes, negative if it is signed. */
struct type {
	const char *name;
	int size;
};

/* NULL if there is no such type. */
const struct type *type_of(enum dtrap_arg arg);

#endif
