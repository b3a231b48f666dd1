/*
 * Bytes that a target chose, as text.
 *
 * What %s and trace() print goes out as it is to files and pipes.  A terminal
 * obeys escape sequences, and those are not the target's to send: there,
 * control characters other than newline and tab are shown, not sent.
 */
#include <string.h>

#include "tracer/consume/consume_impl.h"

/* Bytes of the UTF-8 sequence at s, 2 to 4; 0 when it is none, or is a C1
 * control (which terminals obey). */
static size_t
text_sequence(const unsigned char *s, size_t n)
{
	size_t len = s[0] >= 0xf0 && s[0] < 0xf5 ? 4 :
	    s[0] >= 0xe0 && s[0] < 0xf0          ? 3 :
	    s[0] >= 0xc2 && s[0] < 0xe0          ? 2 :
						   0;
	if (len == 0 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len == 2 && s[0] == 0xc2 && s[1] < 0xa0 ? 0 : len;
}

static bool
text_is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f;
}

/* Bytes of the character at s if it can be seen (or is a blank); 0: it is a
 * control character, or no text. */
size_t
text_symbol(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;

	return text_is_plain(u[0]) ? 1 : text_sequence(u, n);
}

/* Where the first byte that must not reach a terminal is; n for none. */
static size_t
text_safe(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;

	for (size_t i = 0; i < n;) {
		size_t len = text_sequence(u + i, n - i);
		if (len == 0 &&
		    (text_is_plain(u[i]) || u[i] == '\n' || u[i] == '\t'))
			len = 1;
		if (len == 0)
			return i;
		i += len;
	}
	return n;
}

static void
text_add_escape(struct str *to, unsigned char c)
{
	static const char letters[] = "abtnvfr"; /* of 7 to 13 */

	if (c >= 7 && c <= 13)
		str_printf(to, "\\%c", letters[c - 7]);
	else
		str_printf(to, "\\%03o", c);
}

void
text_add(struct printer *p, const char *s, size_t n)
{
	while (p->escape && n != 0) {
		size_t ok = text_safe(s, n);
		str_addn(p->to, s, ok);
		if (ok == n)
			return;
		text_add_escape(p->to, (unsigned char)s[ok]);
		s += ok + 1;
		n -= ok + 1;
	}
	str_addn(p->to, s, n);
}

void
text_add_quoted(struct str *to, const char *s, size_t n, char quote)
{
	for (; n != 0; s++, n--) {
		unsigned char c = (unsigned char)*s;
		if (c == '\\' || c == (unsigned char)quote)
			str_printf(to, "\\%c", c);
		else if (c == '\0' && n == 1)
			str_add(to, "\\0");
		else if (text_is_plain(c))
			str_addc(to, (char)c);
		else
			text_add_escape(to, c);
	}
}

void
text_add_padded(struct printer *p, const char *s, size_t n, int width)
{
	size_t want = (size_t)(width < 0 ? -(long)width : width);
	size_t start = p->to->len;

	text_add(p, s, n);
	size_t len = p->to->len - start;
	if (len >= want)
		return;
	for (size_t i = len; i < want; i++)
		str_addc(p->to, ' ');
	if (width > 0) {
		char *at = p->to->s + start;
		memmove(at + (want - len), at, len);
		memset(at, ' ', want - len);
	}
}

void
text_add_utf8(struct str *to, uint32_t c)
{
	char bytes[4];

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd; /* the replacement character */
	str_addn(to, bytes, utf8_put(c, bytes));
}

/* As DTrace: blanks, backspace and bell count; and so do, unlike there, the
 * letters of other alphabets. */
bool
text_is_printable(const void *p, size_t size, size_t *len)
{
	const unsigned char *s = p;
	size_t i = 0;

	while (i < size && s[i] != '\0') {
		size_t n = text_sequence(s + i, size - i);
		if (n == 0 &&
		    (text_is_plain(s[i]) || (s[i] >= '\a' && s[i] <= '\r')))
			n = 1;
		if (n == 0)
			return false;
		i += n;
	}
	*len = i;
	return true;
}
