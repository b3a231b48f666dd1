/*
 * The only functions that may print text from a target: its strings, and names
 * of its functions, files, types and threads.  Control characters are escaped
 * here.  t/lint/text.sh checks that no other code prints such text.
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
	bool escape;  /* `to' is for a terminal */
	bool quiet;   /* no columns */
	uint32_t pid; /* the process of addresses without an address space */
};

/* Marks text that does not come from a target: dtrap's own, or the script's. */
static inline const char *
own(const char *s)
{
	return s;
}

/* A printer that appends to `to', for output to `out'; text_put() writes the
 * text and frees it. */
struct printer text_printer(FILE *out, struct str *to);
void text_put(FILE *out, struct str *text);

/* Append a value.  On a terminal, control characters other than newline and tab
 * are escaped. */
void text_add(struct printer *p, const char *s, size_t n);
/* The same, padded with blanks to `width' bytes; a negative width pads on the
 * right. */
void text_add_padded(struct printer *p, const char *s, size_t n, int width);

/* Append a name.  On a terminal, newlines and characters that change the
 * direction of text are escaped too, so a name is one line and cannot look like
 * another. */
void text_name(struct printer *p, const char *s);
void text_name_padded(struct printer *p, const char *s, int width);

/* These escape whatever the output is: */

/* As in a C string literal (%S), without quotes. */
void text_add_quoted(struct str *to, const char *s, size_t n, char quote);
/* One line: a question mark for each invisible byte. */
void text_add_line(struct str *to, const char *s, size_t n);
/* One word, a frame of a folded stack: like text_add_line(), and a blank
 * becomes `_', a semicolon `:'. */
void text_add_word(struct str *to, const char *s);
/* A JSON string, with quotes; a byte that is not UTF-8 is \u00XX. */
void text_add_json(struct str *to, const char *s);
void text_add_json_n(struct str *to, const char *s, size_t n);
/* Valid UTF-8; invalid or invisible characters become U+FFFD. */
void text_add_valid(struct str *to, const char *s, size_t n);
/* The same as the value of a label of Prometheus, without quotes. */
void text_add_label(struct str *to, const char *s, size_t n);
/* XML text; invalid or invisible characters become U+FFFD. */
void text_add_xml(struct str *to, const char *s);
/* The same, cut to `chars' characters. */
void text_add_xml_cut(struct str *to, const char *s, size_t chars);
/* One code point. */
void text_add_utf8(struct str *to, uint32_t c);

/* Print "WHO: " and a message on a line of its own, escaped like a name
 * whatever the output is.  A newline at its end is kept. */
void text_message(FILE *err, const char *who, const char *fmt, va_list ap)
    PRINTF_LIKE(3, 0);

/* How many messages text_message() has printed so far. */
size_t text_messages(void);

/* Are all bytes up to a NUL or the end printable?  *len is their number. */
bool text_is_printable(const void *p, size_t size, size_t *len);

#endif
