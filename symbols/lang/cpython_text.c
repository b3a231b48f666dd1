/*
 * CPython's strings as UTF-8; see cpython_impl.h.
 *
 * A string has 1, 2 or 4 bytes for each character, depending on the widest one
 * (PEP 393). Names and files of code are "compact" strings: the characters
 * follow the header, whose length depends on whether all are ASCII.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/str.h"
#include "symbols/lang/cpython_impl.h"

/* Bits of PyASCIIObject.state; the same since 3.3. */
#define STATE_KIND(s)    ((s) >> 2 & 7)
#define STATE_COMPACT(s) ((s) >> 5 & 1)
#define STATE_ASCII(s)   ((s) >> 6 & 1)

/* Bytes of a file name that are not UTF-8 are represented by these characters
 * (PEP 383); they are converted back. */
#define ESCAPE_FIRST 0xdc80
#define ESCAPE_LAST  0xdcff

static size_t
put(char to[4], uint32_t c)
{
	if (c >= ESCAPE_FIRST && c <= ESCAPE_LAST) {
		*to = (char)c;
		return 1;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = 0xfffd;
	return utf8_put(c, to);
}

char *
py_text(const struct py_layout *o, struct lang_walk *w, uint64_t type,
    uint64_t addr, char *buf, size_t size)
{
	uint64_t len = lang_u64(w, addr + o->object.length);
	uint32_t state = lang_u32(w, addr + o->object.state);
	unsigned kind = STATE_KIND(state);
	size_t n = 0;

	buf[0] = '\0';
	if (addr == 0 || !STATE_COMPACT(state) ||
	    (type != 0 && lang_u64(w, addr + o->object.type) != type) ||
	    (kind != 1 && kind != 2 && kind != 4))
		return buf;
	addr +=
	    STATE_ASCII(state) ? o->object.ascii_text : o->object.compact_text;
	/* Each character takes at least one byte, which bounds a wrong
	 * length. */
	for (uint64_t i = 0; i < MIN(len, size - 1); i++) {
		char utf8[4];
		uint32_t c = 0;

		if (!lang_read(w, addr + i * kind, &c, kind) || c == 0)
			break;
		size_t more = put(utf8, c);
		if (n + more > size - 1)
			break;
		memcpy(buf + n, utf8, more);
		n += more;
	}
	buf[n] = '\0';
	return buf;
}
