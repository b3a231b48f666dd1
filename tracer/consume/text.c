/*
 * Bytes that a target chose, as text; see text.h.
 *
 * %s and trace() write them unchanged to files and pipes. A terminal executes
 * escape sequences, so a target must not send them to it.
 */
#include "tracer/consume/text.h"

#include <string.h>
#include <unistd.h>

#include "dlang/base/show.h"
#include "dlang/base/str.h"
#include "tracer/consume/writer.h"

/* ---- for terminals, files and pipes ---- */

struct printer
text_printer(FILE *out, struct str *to)
{
	return (struct printer){ .to = to, .escape = isatty(writer_fd(out)) };
}

void
text_put(FILE *out, struct str *text)
{
	fwrite(str_c(text), 1, text->len, out);
	str_fini(text);
}

static void
add(struct printer *p, enum show how, const char *s, size_t n)
{
	if (p->escape)
		str_add_shown(p->to, how, s, n);
	else
		str_addn(p->to, s, n);
}

static void
add_padded(struct printer *p, enum show how, const char *s, size_t n, int width)
{
	size_t want = (size_t)(width < 0 ? -(long)width : width);
	size_t start = p->to->len;

	add(p, how, s, n);
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
text_add(struct printer *p, const char *s, size_t n)
{
	add(p, SHOW_TEXT, s, n);
}

void
text_add_padded(struct printer *p, const char *s, size_t n, int width)
{
	add_padded(p, SHOW_TEXT, s, n, width);
}

void
text_name(struct printer *p, const char *s)
{
	add(p, SHOW_NAME, s, strlen(s));
}

void
text_name_padded(struct printer *p, const char *s, int width)
{
	add_padded(p, SHOW_NAME, s, strlen(s), width);
}

/* ---- for formats ---- */

/* The first character of *s, which moves behind it; NUL at the end. */
static uint32_t
next(const char **s, size_t *n)
{
	size_t len;
	uint32_t c = show_decode(*s, *n, &len);

	*s += len;
	*n -= len;
	return c;
}

void
text_add_quoted(struct str *to, const char *s, size_t n, char quote)
{
	char bytes[SHOW_BYTES];

	for (; n != 0; s++, n--) {
		unsigned char c = (unsigned char)*s;
		if (c == '\\' || c == (unsigned char)quote)
			str_printf(to, "\\%c", c);
		else if (c == '\0' && n == 1)
			str_add(to, "\\0");
		else if (c >= 0x20 && c < 0x7f)
			str_addc(to, (char)c);
		else
			str_addn(to, bytes, show_escape(c, bytes));
	}
}

void
text_add_line(struct str *to, const char *s, size_t n)
{
	while (n != 0) {
		const char *at = s;
		bool seen = show_is_seen(next(&s, &n));
		for (; at < s; at++)
			str_addc(to, seen ? *at : '?');
	}
}

/* Replace characters that have a meaning in the format, or that a line cannot
 * contain. */
void
text_add_word(struct str *to, const char *s)
{
	size_t start = to->len;

	text_add_line(to, s, strlen(s));
	for (size_t i = start; i < to->len; i++)
		if (to->s[i] == ' ' || to->s[i] == ';')
			to->s[i] = to->s[i] == ' ' ? '_' : ':';
}

static void
add_json(struct str *to, uint32_t c)
{
	if (c == '"' || c == '\\')
		str_printf(to, "\\%c", (char)c);
	else if (show_is_seen(c))
		text_add_utf8(to, c);
	else
		str_printf(to, "\\u%04x", c);
}

void
text_add_json(struct str *to, const char *s)
{
	text_add_json_n(to, s, strlen(s));
}

void
text_add_json_n(struct str *to, const char *s, size_t n)
{
	str_addc(to, '"');
	while (n != 0) {
		unsigned char byte = (unsigned char)*s;
		uint32_t c = next(&s, &n);
		if (c != SHOW_NONE)
			add_json(to, c);
		else
			str_printf(to, "\\u%04x", byte);
	}
	str_addc(to, '"');
}

static void
add_valid(struct str *to, uint32_t c)
{
	text_add_utf8(to, show_is_seen(c) ? c : SHOW_NONE);
}

void
text_add_valid(struct str *to, const char *s, size_t n)
{
	while (n != 0)
		add_valid(to, next(&s, &n));
}

void
text_add_label(struct str *to, const char *s, size_t n)
{
	while (n != 0) {
		uint32_t c = next(&s, &n);
		if (c == '"' || c == '\\')
			str_addc(to, '\\');
		if (c == '\n')
			str_add(to, "\\n");
		else
			add_valid(to, c);
	}
}

static void
add_xml(struct str *to, uint32_t c)
{
	switch (c) {
	case '&': str_add(to, "&amp;"); break;
	case '<': str_add(to, "&lt;"); break;
	case '>': str_add(to, "&gt;"); break;
	case '"': str_add(to, "&quot;"); break;
	case 0xfffe:
	case 0xffff: text_add_utf8(to, SHOW_NONE); break;
	default: text_add_utf8(to, show_is_seen(c) ? c : SHOW_NONE); break;
	}
}

void
text_add_xml(struct str *to, const char *s)
{
	size_t n = strlen(s);

	while (n != 0)
		add_xml(to, next(&s, &n));
}

void
text_add_xml_cut(struct str *to, const char *s, size_t chars)
{
	size_t n = strlen(s), all = 0;

	for (const char *at = s; n != 0; all++)
		next(&at, &n);
	n = strlen(s);
	for (size_t i = 0; n != 0 && (all <= chars || i + 2 < chars); i++)
		add_xml(to, next(&s, &n));
	str_add(to, n != 0 ? ".." : "");
}

void
text_add_utf8(struct str *to, uint32_t c)
{
	char bytes[4];

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd; /* the replacement character */
	str_addn(to, bytes, utf8_put(c, bytes));
}

static size_t messages;

size_t
text_messages(void)
{
	return messages;
}

void
text_message(FILE *err, const char *who, const char *fmt, va_list ap)
{
	struct str what = { 0 }, line = { 0 };

	str_vprintf(&what, fmt, ap);
	bool empty_line = what.len != 0 && what.s[what.len - 1] == '\n';
	str_printf(&line, "%s: ", who);
	str_add_shown(&line, SHOW_NAME, str_c(&what), what.len - empty_line);
	str_add(&line, empty_line ? "\n\n" : "\n");
	text_put(err, &line);
	fflush(err);
	messages++;
	str_fini(&what);
}

/* As in DTrace, blanks, backspace and bell count as printable. Unlike there,
 * letters of other alphabets do, too. */
bool
text_is_printable(const void *p, size_t size, size_t *len)
{
	const char *s = p;
	size_t left = strnlen(s, size);

	*len = left;
	while (left != 0) {
		uint32_t c = next(&s, &left);
		if (c == SHOW_NONE || (c < 0x20 && (c < '\a' || c > '\r')) ||
		    (c >= 0x7f && c < 0xa0))
			return false;
	}
	return true;
}
