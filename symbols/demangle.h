/*
 * C++, Rust and D names as their authors wrote them, by libiberty.
 *
 * Names come from the target's files.  Parts of a mangled name refer back to
 * others, so that 200 bytes may stand for gigabytes: what is more than a limit,
 * whatever the caller has room for, is not worked out.
 */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include <stddef.h>

/* buf holds the readable name, as much of it as there is room for, or a copy of
 * the name itself if it is none of these or its text would be too long.  Returns
 * buf.  size > 0. */
char *demangle(const char *name, char *buf, size_t size);

#endif
