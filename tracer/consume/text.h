/*
 * The one door for text that a target chose: strings that it has, and names of
 * its functions, files, types and threads.  Nothing else of this room, nor who
 * prints names outside of it, puts into its output what is not its own:
 * t/lint/text.sh looks.
 */
#ifndef TRACER_CONSUME_TEXT_H
#define TRACER_CONSUME_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dlang/base/str.h"

struct consume;

struct printer {
	struct str *to;
	struct consume *c;
	bool escape;  /* to is for a terminal */
	bool quiet;   /* no columns */
	uint32_t pid; /* whose addresses those without a space are */
};

/* Text of ours, or of the script that we run: anything but a target's. */
static inline const char *
own(const char *s)
{
	return s;
}

/* For text that is to go to `out'; text_put() writes it, and frees it. */
struct printer text_printer(FILE *out, struct str *to);
void text_put(FILE *out, struct str *text);

/* A value.  On a terminal, control characters other than newline and tab become
 * escapes. */
void text_add(struct printer *p, const char *s, size_t n);
/* The same, blank-padded to a width of bytes; a negative width pads on the
 * right. */
void text_add_padded(struct printer *p, const char *s, size_t n, int width);

/* A name.  On a terminal, newlines and what turns the direction of text become
 * escapes as well: it is one line, and no other than it looks. */
void text_name(struct printer *p, const char *s);
void text_name_padded(struct printer *p, const char *s, int width);

/* Wherever it goes to: */

/* As a C string literal would show it (%S), without quotes. */
void text_add_quoted(struct str *to, const char *s, size_t n, char quote);
/* One line: a question mark for each byte that cannot be seen. */
void text_add_line(struct str *to, const char *s, size_t n);
/* One word without a semicolon: a frame of a folded stack. */
void text_add_word(struct str *to, const char *s);
/* A string of JSON, quotes and all; a byte that is no text is \u00XX. */
void text_add_json(struct str *to, const char *s);
/* Text of XML; what that cannot hold, or nobody can see, is U+FFFD. */
void text_add_xml(struct str *to, const char *s);
/* The same, cut to so many characters. */
void text_add_xml_cut(struct str *to, const char *s, size_t chars);
/* One code point. */
void text_add_utf8(struct str *to, uint32_t c);

/* "WHO: " and the message on a line of its own, shown as a name is, wherever it
 * goes to.  A newline at its end stays. */
void text_message(FILE *err, const char *who, const char *fmt, va_list ap)
    PRINTF_LIKE(3, 0);

/* Only what a person can read, up to a NUL or the end; *len is the length. */
bool text_is_printable(const void *p, size_t size, size_t *len);

#endif
