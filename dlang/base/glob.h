/*
 * The globs of probe descriptions (d-language, probe specifiers): `*', `?',
 * `[set]' with ranges and a leading `!', and `\' before any of them.
 */
#ifndef DLANG_BASE_GLOB_H
#define DLANG_BASE_GLOB_H

#include <stdbool.h>

/* Does the pattern contain a glob character?  A pattern without one is compared
 * literally, backslashes included. */
bool glob_is(const char *pattern);

/* Does the pattern match the whole text?  An empty pattern matches all.
 * A `[' without its `]' matches itself. */
bool glob_match(const char *pattern, const char *text);

/* Does a field of a probe description match?  The field is a glob, a literal
 * name, or empty, which matches everything.  A field like main.f[int], a glob
 * by its characters, also matches the equal name. */
bool glob_field(const char *pattern, const char *text);

#endif
