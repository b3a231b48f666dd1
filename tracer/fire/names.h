/*
 * Names of the numbers that system calls take and return, as in the system's
 * headers: ENOENT, SIGTERM, O_CREAT.
 */
#ifndef TRACER_FIRE_NAMES_H
#define TRACER_FIRE_NAMES_H

#include <stdint.h>

struct str;

enum names {
	NAMES_ERRNO,
	NAMES_SIGNAL,
	NAMES_OPEN,
	NAMES_ACCMODE,
	NAMES_FAMILY,
	NAMES_SOCKTYPE,
	NAMES_SOCKFLAG,
	NAMES_PROTOCOL,
	NAMES_PROT,
	NAMES_MAP,
	NAMES_FCNTL,
	NAMES_AT,
	NAMES_UNLINK,
	NAMES_WHENCE,
	NAMES_SIGHOW,
	NAMES_CLOCK,
	NAMES_MSG,
	NAMES_MADVISE,
	NAMES_FUTEX,
	NAMES_ACCESS,
};

/* The name of a value; NULL: it has none. */
const char *name_of(enum names group, uint64_t v);

/* Append the name, or the number in decimal. */
void names_add(struct str *to, enum names group, uint64_t v);

/* Append the names of the bits of v with `|' between them, and what is left in
 * hexadecimal.  If nothing is set, the name of 0, or 0. */
void names_add_flags(struct str *to, enum names group, uint64_t v);

#endif
