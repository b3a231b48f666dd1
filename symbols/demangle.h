/*
 * C++, Rust and D names as their authors wrote them, by libiberty.
 */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include <stddef.h>

/* buf holds the readable name, or a copy of the name itself; returns buf. */
char *demangle(const char *name, char *buf, size_t size);

#endif
