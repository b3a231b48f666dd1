/*
 * C++, Rust and D names as their authors wrote them, by libiberty.
 *
 * Names come from the target's files.  Parts of a mangled name refer back to
 * others, so that 200 bytes may stand for gigabytes: what is more than a limit,
 * whatever the caller has room for, is not worked out.
 */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

enum demangle_form {
	DEMANGLE_TEXT, /* as c++filt writes it */
	/* without parameters, result and, of C++, what behind them qualifies a
	 * method */
	DEMANGLE_BARE,
	/* as TEXT; a template of C++ without its result, and Rust's with the
	 * number that tells apart what has the same text:
	 * core::fmt::write::h0123456789abcdef */
	DEMANGLE_FULL,
};

/* buf holds the readable name, as much of it as there is room for.  False: it is
 * no such name, or too long; what buf holds then means nothing.  size > 0. */
bool demangle_as(
    const char *name, enum demangle_form form, char *buf, size_t size);

/* A class of C++ may have a constructor or destructor several times, by one text:
 * "base" is that for a part of another object, "deleting" the one that frees
 * the object's memory.  NULL: it is neither. */
const char *demangle_variant(const char *name);

/* DEMANGLE_TEXT, or a copy of the name itself if it has none.  Returns buf. */
char *demangle(const char *name, char *buf, size_t size);

#endif
