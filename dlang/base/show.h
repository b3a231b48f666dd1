/*
 * Makes foreign text safe to print.  Control characters, which a terminal would
 * obey, and characters that make text look like other text become escapes as in
 * C.
 */
#ifndef DLANG_BASE_SHOW_H
#define DLANG_BASE_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum show {
	SHOW_TEXT, /* newlines, tabs and changes of direction are kept */
	SHOW_NAME, /* these are escaped too: the result is one line */
};

#define SHOW_BYTES 4 /* the longest result for one character */
#define SHOW_NONE  UINT32_MAX

/* The first code point of s, which has n > 0 bytes. *len is how many bytes it
 * has.  SHOW_NONE, and 1 in *len, if these bytes are not UTF-8. */
uint32_t show_decode(const char *s, size_t n, size_t *len);

/* Is the code point visible where it stands (blanks count)?  False for control
 * characters, line ends and characters that change the direction of text. */
bool show_is_seen(uint32_t c);

/* Write one byte as an escape of C. Returns the number of characters. */
size_t show_escape(unsigned char c, char to[SHOW_BYTES]);

/* Show the first character of s, which has n > 0 bytes: *len bytes in `to'.
 * Returns the number of bytes of s that were used.  Allocates no memory. */
size_t show_next(
    enum show how, const char *s, size_t n, char to[SHOW_BYTES], size_t *len);

#endif
