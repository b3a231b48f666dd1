/*
 * Demangles C++, Rust and D names, by libiberty.
 *
 * Names come from the target's files.  Parts of a mangled name refer back to
 * others, so 200 bytes may expand to gigabytes: a name above a limit is not
 * demangled, whatever the size of the buffer.
 */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

enum demangle_form {
	DEMANGLE_TEXT, /* as c++filt writes it */
	/* without parameters, result and, in C++, the qualifiers of a method */
	DEMANGLE_BARE,
	/* as TEXT, but templates of C++ without the result, and Rust names with
	 * the hash that distinguishes equal names:
	 * core::fmt::write::h0123456789abcdef */
	DEMANGLE_FULL,
};

/* Write the readable name to buf, cut to size > 0.  False: it is not a mangled
 * name, or it is too long; the contents of buf are then undefined. */
bool demangle_as(
    const char *name, enum demangle_form form, char *buf, size_t size);

/* A constructor or destructor of C++ may exist several times under the same
 * readable name.  Returns "base" for the one of a base-class part, "deleting"
 * for the one that also frees the memory, NULL otherwise. */
const char *demangle_variant(const char *name);

/* DEMANGLE_TEXT, or a copy of the name itself if it has none.  Returns buf. */
char *demangle(const char *name, char *buf, size_t size);

#endif
