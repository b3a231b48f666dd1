/*
 * Growing text and interned strings; see str.h.
 */
#include "dlang/base/str.h"

#include <stdio.h>
#include <string.h>

#include "dlang/base/mem.h"

/* In the shrunken build a short text has no byte to spare. */
#ifdef DTRAP_SHRINK
#define SPARE(cap) ((cap) < 256 ? 0 : (cap)*2)
#else
#define SPARE(cap) ((cap)*2)
#endif

static void
reserve(struct str *b, size_t more)
{
	if (b->len + more + 1 <= b->cap)
		return;
	size_t cap = MAX(SPARE(b->cap), b->len + more + 1);
	b->s = mem_realloc(b->s, cap);
	b->cap = cap;
}

void
str_fini(struct str *b)
{
	mem_free(b->s);
	*b = (struct str){ 0 };
}

void
str_clear(struct str *b)
{
	b->len = 0;
	if (b->s != NULL)
		b->s[0] = '\0';
}

const char *
str_c(const struct str *b)
{
	return b->s != NULL ? b->s : "";
}

void
str_addn(struct str *b, const void *s, size_t n)
{
	reserve(b, n);
	memcpy(b->s + b->len, s, n);
	b->len += n;
	b->s[b->len] = '\0';
}

void
str_add(struct str *b, const char *s)
{
	str_addn(b, s, strlen(s));
}

void
str_addc(struct str *b, char c)
{
	str_addn(b, &c, 1);
}

void
str_vprintf(struct str *b, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	if (n > 0) {
		reserve(b, (size_t)n);
		vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void
str_printf(struct str *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vprintf(b, fmt, ap);
	va_end(ap);
}

void
str_add_shown(struct str *to, enum show how, const char *s, size_t n)
{
	char bytes[SHOW_BYTES];
	size_t len;

	while (n != 0) {
		size_t used = show_next(how, s, n, bytes, &len);
		str_addn(to, bytes, len);
		s += used;
		n -= used;
	}
}

char *
str_take(struct str *b)
{
	reserve(b, 0);
	b->s[b->len] = '\0';
	char *s = b->s;
	*b = (struct str){ 0 };
	return s;
}

const char *
intern(struct intern *in, const char *s)
{
	char *known = hash_get_str(&in->by_text, s);

	if (known == NULL) {
		known = mem_strdup(s);
		hash_set_str(&in->by_text, known, known);
	}
	return known;
}

void
intern_fini(struct intern *in)
{
	hash_foreach(e, &in->by_text)
		mem_free(e->value);
	hash_fini(&in->by_text);
}

size_t
utf8_put(uint32_t c, char to[4])
{
	size_t n = 0;

	if (c < 0x80) {
		to[n++] = (char)c;
		return n;
	}
	if (c < 0x800) {
		to[n++] = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			to[n++] = (char)(0xe0 | c >> 12);
		} else {
			to[n++] = (char)(0xf0 | c >> 18);
			to[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		}
		to[n++] = (char)(0x80 | (c >> 6 & 0x3f));
	}
	to[n++] = (char)(0x80 | (c & 0x3f));
	return n;
}

bool
str_add_file(struct str *s, FILE *f)
{
	char buf[8192];
	size_t n;

	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		str_addn(s, buf, n);
	return !ferror(f);
}
