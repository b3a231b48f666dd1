/*
 * A text that grows, always NUL-terminated; interned strings.
 */
#ifndef DLANG_BASE_STR_H
#define DLANG_BASE_STR_H

#include <stdarg.h>

#include <stdio.h>

#include "dlang/base/base.h"
#include "dlang/base/show.h"
#include "dlang/base/hash.h"

struct str {
	char *s; /* NULL until the first write; use str_c() to read */
	size_t len, cap;
};

void str_fini(struct str *b);
void str_clear(struct str *b);
const char *str_c(const struct str *b);

void str_add(struct str *b, const char *s);
void str_addn(struct str *b, const void *s, size_t n);
void str_addc(struct str *b, char c);
void str_printf(struct str *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void str_vprintf(struct str *b, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);

/* Append the n bytes at s, escaped by show.h. */
void str_add_shown(struct str *to, enum show how, const char *s, size_t n);

/* Returns the text, which the caller frees with mem_free(); *b is empty
 * then. */
char *str_take(struct str *b);

/* Interned strings: equal texts have equal pointers, until intern_fini(). */
struct intern {
	struct hash by_text;
};

const char *intern(struct intern *in, const char *s);
void intern_fini(struct intern *in);

/* Write a code point of at most 0x10ffff as UTF-8.  Returns the number of
 * bytes.  The caller must exclude surrogates, which have no UTF-8 form (RFC
 * 3629). */
size_t utf8_put(uint32_t c, char to[4]);

/* Append the rest of f.  False on a read error. */
bool str_add_file(struct str *s, FILE *f);

#endif
