/*
 * The static probes of an object: their places from the section
 * ".note.stapsdt", and the types of their arguments from ".SUNW_dof".
 */
#ifndef SYMBOLS_SDT_H
#define SYMBOLS_SDT_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/object.h"

/* One place of a probe.  Addresses are file addresses; text is borrowed from
 * the object. */
struct sdt_note {
	const char *provider, *name; /* as written: `__' for `-' */
	const char *args;            /* see sdtarg.h */
	uint64_t pc;                 /* the probe's instruction */
	uint64_t semaphore;          /* 0: none */
};

/* The valid notes, in the order of the file.  Read when first used. */
size_t object_sdt_notes(struct object *o, const struct sdt_note **notes);

/* The types of a probe in its provider declaration. */
#define SDT_TYPES_MAX 16
struct sdt_types {
	size_t nargs, nxargs;
	const char *args[SDT_TYPES_MAX];  /* native: passed by the program */
	const char *xargs[SDT_TYPES_MAX]; /* translated: of args[] */
	uint8_t map[SDT_TYPES_MAX]; /* for each of xargs its index in args */
};

/* The types of a probe; names are written with `-'.  If several functions have a
 * declared probe of this name, those of `function' (which may be NULL).  0 or
 * -ENOENT. */
int object_sdt_types(struct object *o, const char *provider,
    const char *function, const char *name, struct sdt_types *out);

#endif
