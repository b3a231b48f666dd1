/*
 * The globs of probe descriptions (d-language, probe specifiers): `*', `?',
 * `[set]' with ranges and a leading `!', and `\' before any of them.
 */
#ifndef DLANG_BASE_GLOB_H
#define DLANG_BASE_GLOB_H

#include <stdbool.h>

/* Does the text hold a glob character?  A text without one is compared
 * literally, escapes included. */
bool glob_is(const char *pattern);

/* Does the pattern match the whole text?  An empty pattern matches all.
 * A `[' without its `]' matches itself. */
bool glob_match(const char *pattern, const char *text);

/* A field of a description: a glob, a literal name, or, if empty, all.  A name
 * with characters of a glob, main.f[int], means itself as well. */
bool glob_field(const char *pattern, const char *text);

#endif
