/*
 * Bytes that somebody else chose, shown: what a terminal would obey, and what
 * makes text look like other text, becomes an escape as in C.
 */
#ifndef DLANG_BASE_SHOW_H
#define DLANG_BASE_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum show {
	SHOW_TEXT, /* newlines and tabs stay, as does the direction of text */
	SHOW_NAME, /* is one line, and reads in one direction */
};

#define SHOW_BYTES 4 /* of one character, at most */
#define SHOW_NONE  UINT32_MAX

/* The code point that s, of n > 0 bytes, begins with, and its bytes; SHOW_NONE
 * and 1 where that is no UTF-8. */
uint32_t show_decode(const char *s, size_t n, size_t *len);

/* Can it be seen, be it as a blank, where it stands?  Controls, ends of lines
 * and what turns the direction of text round cannot. */
bool show_is_seen(uint32_t c);

/* One byte as C writes it: how many characters. */
size_t show_escape(unsigned char c, char to[SHOW_BYTES]);

/* What s, of n > 0 bytes, begins with, as it is shown: its `len' bytes in `to'.
 * Returns how many bytes of s that was.  Takes no memory. */
size_t show_next(
    enum show how, const char *s, size_t n, char to[SHOW_BYTES], size_t *len);

#endif
