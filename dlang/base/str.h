/*
 * A growing text, always NUL-terminated, and interned strings.
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

/* The n bytes at s, as show.h shows them. */
void str_add_shown(struct str *to, enum show how, const char *s, size_t n);

/* The text, to be freed with mem_free(); the builder is empty again. */
char *str_take(struct str *b);

/* Interned strings: equal texts have equal pointers, until intern_fini(). */
struct intern {
	struct hash by_text;
};

const char *intern(struct intern *in, const char *s);
void intern_fini(struct intern *in);

/* A code point of at most 0x10ffff as UTF-8: how many bytes.  Surrogates are
 * the caller's affair (RFC 3629 has no bytes for them). */
size_t utf8_put(uint32_t c, char to[4]);

/* All that is left to read of f; false on an error. */
bool str_add_file(struct str *s, FILE *f);

#endif
