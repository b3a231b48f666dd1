/*
 * Other people's bytes, shown; see show.h.
 */
#include "dlang/base/show.h"

#include <string.h>

uint32_t
show_decode(const char *s, size_t n, size_t *len)
{
	/* The least that needs so many bytes: what could have had less is a
	 * disguise, which a lenient reader sees through. */
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)s;
	size_t want = u[0] < 0x80 ? 1 :
	    (u[0] & 0xe0) == 0xc0 ? 2 :
	    (u[0] & 0xf0) == 0xe0 ? 3 :
	    (u[0] & 0xf8) == 0xf0 ? 4 :
				    0;
	uint32_t c = want < 2 ? u[0] : u[0] & (0x7fU >> want);

	*len = 1;
	if (want == 0 || want > n)
		return SHOW_NONE;
	for (size_t i = 1; i < want; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return SHOW_NONE;
		c = c << 6 | (u[i] & 0x3f);
	}
	if (c < least[want] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return SHOW_NONE;
	*len = want;
	return c;
}

static bool
is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/* Ends of lines, and what Unicode has to turn the direction of text. */
static bool
is_direction(uint32_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f ||
	    (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

bool
show_is_seen(uint32_t c)
{
	return c != SHOW_NONE && !is_control(c) && !is_direction(c);
}

size_t
show_escape(unsigned char c, char to[SHOW_BYTES])
{
	static const char letters[] = "abtnvfr"; /* of 7 to 13 */

	to[0] = '\\';
	if (c >= 7 && c <= 13) {
		to[1] = letters[c - 7];
		return 2;
	}
	to[1] = (char)('0' + (c >> 6));
	to[2] = (char)('0' + (c >> 3 & 7));
	to[3] = (char)('0' + (c & 7));
	return 4;
}

size_t
show_next(
    enum show how, const char *s, size_t n, char to[SHOW_BYTES], size_t *len)
{
	size_t bytes;
	uint32_t c = show_decode(s, n, &bytes);

	if (!show_is_seen(c) &&
	    (how == SHOW_NAME ||
		!(c == '\n' || c == '\t' || is_direction(c)))) {
		/* Byte by byte: the next is none without this. */
		*len = show_escape((unsigned char)*s, to);
		return 1;
	}
	memcpy(to, s, bytes);
	*len = bytes;
	return bytes;
}
