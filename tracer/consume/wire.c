/*
 * Lines of a snapshot stream; see wire.h.
 *
 * A token is a number in hexadecimal digits, a text behind an apostrophe, or a
 * minus sign for nothing.  In a text every byte that is not a visible character
 * of ASCII, and % and ^, is % and two digits.  So a line is one line whatever
 * it carries, no terminal obeys it, and "^dt" is in it once.
 */
#include "tracer/consume/wire.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "dlang/base/mem.h"

#define MARK     "^dt"
#define VERSION  "1 "
#define MARK_LEN (sizeof(MARK) - 1)
/* The CRC and the blank before it. */
#define TAIL_LEN 9

static const char digits[] = "0123456789abcdef";

bool
wire_carries(enum dif_act kind)
{
	switch (kind) {
	case ACT_TRACE:
	case ACT_PRINTF:
	case ACT_PRINTA:
	case ACT_CLEAR:
	case ACT_TRUNC:
	case ACT_NORMALIZE:
	case ACT_DENORMALIZE:
	case ACT_SETOPT:
	case ACT_TRACEMEM:
	case ACT_USTACK:
	case ACT_JSTACK:
	case ACT_STACK:
	case ACT_USYM:
	case ACT_UFUNC:
	case ACT_UMOD:
	case ACT_UADDR:
	case ACT_SYM:
	case ACT_FUNC:
	case ACT_MOD: return true;
	default: return false;
	}
}

/* ---- writing ---- */

static void
add_digits(struct str *to, uint64_t v)
{
	char text[16];
	size_t n = sizeof(text);

	do
		text[--n] = digits[v & 15];
	while ((v >>= 4) != 0);
	for (; n < sizeof(text); n++)
		str_addc(to, text[n]);
}

void
wire_begin(struct wire *w, struct str *to, enum wire_type type)
{
	str_add(to, "^dt1 ");
	add_digits(to, w->stream);
	wire_number(to, w->next++);
	str_addc(to, ' ');
	str_addc(to, (char)type);
}

void
wire_end(struct wire *w, struct str *to, size_t start)
{
	uint64_t sum =
	    crc32(0, (const Bytef *)to->s + start, (uInt)(to->len - start));

	str_addc(to, ' ');
	for (int shift = 28; shift >= 0; shift -= 4)
		str_addc(to, digits[sum >> shift & 15]);
	str_addc(to, '\n');
}

void
wire_number(struct str *to, uint64_t v)
{
	str_addc(to, ' ');
	add_digits(to, v);
}

static bool
is_plain(unsigned char c)
{
	return c > 0x20 && c < 0x7f && c != '%' && c != '^';
}

void
wire_text(struct str *to, const void *s, size_t n)
{
	const unsigned char *p = s;

	str_add(to, " '");
	for (size_t i = 0; i < n; i++) {
		if (is_plain(p[i])) {
			str_addc(to, (char)p[i]);
			continue;
		}
		str_addc(to, '%');
		str_addc(to, digits[p[i] >> 4]);
		str_addc(to, digits[p[i] & 15]);
	}
}

void
wire_string(struct str *to, const char *s)
{
	if (s == NULL)
		wire_nothing(to);
	else
		wire_text(to, s, strlen(s));
}

void
wire_nothing(struct str *to)
{
	str_add(to, " -");
}

/* ---- reading ---- */

/* The value of a digit; 16: it is none. */
static unsigned
digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* The digits from *at on; *at moves behind them.  False: there are none, or
 * too many. */
static bool
get_digits(const char **at, const char *end, uint64_t *v)
{
	const char *p = *at;
	uint64_t n = 0;
	unsigned d;

	for (; p < end && (d = digit(*p)) < 16; p++) {
		if (p - *at == 16)
			return false;
		n = n << 4 | d;
	}
	if (p == *at)
		return false;
	*at = p;
	*v = n;
	return true;
}

/* Move behind the blank before a token.  False, and the line is bad: there is
 * none. */
static bool
get_blank(struct wire_line *l)
{
	if (l->bad || l->at >= l->end || *l->at != ' ') {
		l->bad = true;
		return false;
	}
	l->at++;
	return true;
}

static bool
sum_fits(const char *from, const char *tail)
{
	uint64_t want = 0;
	const char *at = tail + 1;

	return *tail == ' ' && get_digits(&at, tail + TAIL_LEN, &want) &&
	    at == tail + TAIL_LEN &&
	    want == crc32(0, (const Bytef *)from, (uInt)(tail - from));
}

int
wire_open(struct wire_line *l, const char *line, size_t n)
{
	*l = (struct wire_line){ .bad = true };
	const char *from =
	    n > WIRE_LINE ? NULL : memmem(line, n, MARK, MARK_LEN);
	if (from == NULL)
		return -ENOMSG;
	const char *end = line + n, *at = from + MARK_LEN;
	if (end > at && end[-1] == '\r') /* of a transport with a terminal */
		end--;
	size_t version = strlen(VERSION);
	if ((size_t)(end - at) < version)
		return -EBADMSG;
	if (memcmp(at, VERSION, version) != 0)
		return digit(*at) < 10 ? -ENOTSUP : -ENOMSG;
	at += version;
	if (end - at < TAIL_LEN || !sum_fits(from, end - TAIL_LEN))
		return -EBADMSG;
	l->end = end - TAIL_LEN;
	l->at = at;
	l->bad = false;
	if (!get_digits(&l->at, l->end, &l->stream))
		return -EBADMSG;
	l->sequence = wire_get_number(l);
	if (!get_blank(l) || l->at >= l->end)
		return -EBADMSG;
	l->type = *l->at++;
	return l->bad ? -EBADMSG : 0;
}

uint64_t
wire_get_number(struct wire_line *l)
{
	uint64_t v = 0;

	if (!get_blank(l))
		return 0;
	if (!get_digits(&l->at, l->end, &v))
		l->bad = true;
	return v;
}

uint64_t
wire_get_most(struct wire_line *l, uint64_t most)
{
	uint64_t v = wire_get_number(l);

	if (v <= most)
		return v;
	l->bad = true;
	return 0;
}

size_t
wire_get_text(struct wire_line *l, void *to, size_t size)
{
	unsigned char *out = to;
	size_t n = 0;

	if (!get_blank(l) || l->at >= l->end || *l->at++ != '\'') {
		l->bad = true;
		return 0;
	}
	while (l->at < l->end && *l->at != ' ') {
		unsigned char c = (unsigned char)*l->at++;
		if (c == '%') {
			unsigned high = 16, low = 16;
			if (l->end - l->at >= 2) {
				high = digit(l->at[0]);
				low = digit(l->at[1]);
				l->at += 2;
			}
			l->bad |= high > 15 || low > 15;
			c = (unsigned char)(high << 4 | (low & 15));
		} else {
			l->bad |= !is_plain(c);
		}
		if (n == size)
			l->bad = true;
		if (l->bad)
			return 0;
		out[n++] = c;
	}
	return n;
}

char *
wire_get_string(struct wire_line *l, size_t most)
{
	if (wire_get_nothing(l))
		return NULL;
	size_t room = MIN(most, (size_t)(l->end - l->at));
	char *text = mem_alloc(room + 1);
	size_t n = wire_get_text(l, text, room);
	if (memchr(text, '\0', n) != NULL)
		l->bad = true;
	text[n] = '\0';
	if (!l->bad)
		return text;
	mem_free(text);
	return NULL;
}

bool
wire_get_nothing(struct wire_line *l)
{
	if (l->bad || l->end - l->at < 2 || l->at[0] != ' ' ||
	    l->at[1] != '-' || (l->end - l->at > 2 && l->at[2] != ' '))
		return false;
	l->at += 2;
	return true;
}

bool
wire_is_over(struct wire_line *l)
{
	l->bad |= l->at != l->end;
	return !l->bad;
}
