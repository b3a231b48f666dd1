/*
 * The static probes of an object: what its ".note.stapsdt" section says of
 * their places, and its ".SUNW_dof" section of the types of their arguments.
 */
#ifndef SYMBOLS_SDT_H
#define SYMBOLS_SDT_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/object.h"

/* One place.  Addresses are the file's own; text is borrowed from it. */
struct sdt_note {
	const char *provider, *name; /* as written: `__' for `-' */
	const char *args;            /* see sdtarg.h */
	uint64_t pc;                 /* the probe's instruction */
	uint64_t semaphore;          /* 0: none */
};

/* The notes that make sense, in the file's order.  Read when first asked
 * for. */
size_t object_sdt_notes(struct object *o, const struct sdt_note **notes);

/* What a provider declaration said of a probe. */
#define SDT_TYPES_MAX 16
struct sdt_types {
	size_t nargs, nxargs;
	const char *args[SDT_TYPES_MAX];  /* what the program passes */
	const char *xargs[SDT_TYPES_MAX]; /* what args[] has */
	uint8_t map[SDT_TYPES_MAX];       /* index in args of each xargs */
};

/* By names with `-'.  0 or -ENOENT. */
int object_sdt_types(struct object *o, const char *provider, const char *name,
    struct sdt_types *out);

#endif
