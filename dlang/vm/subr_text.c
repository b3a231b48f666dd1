/*
 * Subroutines over text with a grammar: paths, network addresses, JSON.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/subr_impl.h"

static int
arg_str(struct vm_env *env, const struct vm_tuple *a, struct vm_str *s)
{
	return vm_str(env, a->value, vm_strmax(env), s);
}

static uint64_t
constant(struct vm_env *env, const char *text, uint32_t len)
{
	struct vm_str s = { text, len, 0 };
	char *d;

	return subr_string(env, &s, 0, len, &d);
}

/* ---- paths ---- */

/* Length without slashes at the end; 1 for a path of slashes alone. */
static uint32_t
strip(const struct vm_str *s, uint32_t len)
{
	while (len > 1 && s->s[len - 1] == '/')
		len--;
	return len;
}

/* Where the last component of the first len bytes begins. */
static uint32_t
last_part(const struct vm_str *s, uint32_t len)
{
	while (len > 0 && s->s[len - 1] != '/')
		len--;
	return len;
}

/* POSIX: "" is ".", "/" is "/". */
SUBR(basename)
{
	struct vm_str s;
	char *d;

	if (arg_str(env, &a[0], &s) != 0)
		return 0;
	if (s.len == 0)
		return constant(env, ".", 1);
	uint32_t end = strip(&s, s.len);
	uint32_t at = last_part(&s, end);
	if (at == end)
		at = 0; /* a slash alone */
	return subr_string(env, &s, at, end - at, &d);
}

SUBR(dirname)
{
	struct vm_str s;
	char *d;

	if (arg_str(env, &a[0], &s) != 0)
		return 0;
	uint32_t at = last_part(&s, strip(&s, s.len));
	if (s.len > 0 && at == s.len)
		at = 1; /* a slash alone */
	if (at == 0)
		return constant(env, ".", 1);
	return subr_string(env, &s, 0, strip(&s, at), &d);
}

/* One component more, after a slash where there is something before. */
static uint32_t
append(char *d, uint32_t n, const char *part, uint32_t len)
{
	if (n > 0 && d[n - 1] != '/')
		d[n++] = '/';
	memcpy(d + n, part, len);
	return n + len;
}

/* The component before is taken back, with the slash that led to it. */
static uint32_t
take_back(const char *d, uint32_t n, uint32_t floor)
{
	while (n > floor && d[n - 1] != '/')
		n--;
	return n > floor ? n - 1 : n;
}

/*
 * Component by component: an empty one and `.' vanish, `..' takes back the one
 * before it, which never leads above the root.  With nothing to take back in a
 * relative path it stays.  A path that vanishes altogether is `.'; only the
 * empty one stays empty.
 */
static uint32_t
clean(const struct vm_str *s, char *d)
{
	uint32_t n = 0, i = 0, floor = 0; /* d[0 .. floor) is not taken back */
	bool root = s->len > 0 && s->s[0] == '/';

	if (root)
		d[n++] = '/', floor = i = 1;
	while (i < s->len) {
		uint32_t at = i, len;
		while (i < s->len && s->s[i] != '/')
			i++;
		len = i++ - at;
		bool dots = len == 2 && s->s[at] == '.' && s->s[at + 1] == '.';
		if (len == 0 || (len == 1 && s->s[at] == '.') ||
		    (dots && root && n == floor))
			continue;
		if (dots && n > floor) {
			n = take_back(d, n, floor);
			continue;
		}
		n = append(d, n, s->s + at, len);
		if (dots)
			floor = n;
	}
	if (n == 0 && s->len > 0)
		d[n++] = '.';
	return n;
}

SUBR(cleanpath)
{
	struct vm_str s;
	char *d;

	if (arg_str(env, &a[0], &s) != 0)
		return 0;
	/* Never longer than the input. */
	uint64_t addr = subr_string(env, &s, 0, s.len, &d);
	if (addr != 0) {
		s.len = VM_MIN(s.len, vm_strmax(env));
		/* One more only if the text changes while it is read. */
		uint32_t len = VM_MIN(clean(&s, d), s.len);
		memset(d + len, 0, s.len - len);
	}
	return addr;
}

/* ---- network addresses ---- */

static char *
put_number(char *p, uint32_t v, uint32_t base)
{
	uint32_t place = 1;

	while (v / place >= base)
		place *= base;
	for (; place != 0; place /= base)
		*p++ = "0123456789abcdef"[v / place % base];
	return p;
}

static char *
put_ipv4(char *p, const uint8_t *b)
{
	for (int i = 0; i < 4; i++) {
		if (i > 0)
			*p++ = '.';
		p = put_number(p, b[i], 10);
	}
	return p;
}

/*
 * RFC 5952: lower case, no leading zeros, the longest run of two or more zero
 * groups (the first of equals) as `::'; IPv4-mapped and -compatible addresses
 * end in dotted form, or are nothing else when `bare'.
 */
static char *
put_ipv6(char *p, const uint8_t *b, bool bare)
{
	uint32_t w[8];
	int run = -1, len = 1;

	for (int i = 0; i < 8; i++)
		w[i] = (uint32_t)b[2 * i] << 8 | b[2 * i + 1];
	for (int i = 0; i < 8; i++) {
		int j = i;
		while (j < 8 && w[j] == 0)
			j++;
		if (j - i > len)
			run = i, len = j - i;
	}
	bool v4 = run == 0 && (len == 6 || (len == 5 && w[5] == 0xffff));
	if (v4 && bare)
		return put_ipv4(p, b + 12);
	for (int i = 0; i < 8;) {
		if (i == run) {
			*p++ = ':';
			if (i + len == 8)
				*p++ = ':';
			i += len;
			continue;
		}
		if (i > 0)
			*p++ = ':';
		if (v4 && i == 6)
			return put_ipv4(p, b + 12);
		p = put_number(p, w[i++], 16);
	}
	return p;
}

static uint64_t
ipv4_text(struct vm_env *env, uint64_t addr)
{
	uint8_t b[4];
	char text[16];

	if (vm_copy(env, b, addr, sizeof(b)) != 0)
		return 0;
	return constant(env, text, (uint32_t)(put_ipv4(text, b) - text));
}

static uint64_t
ipv6_text(struct vm_env *env, uint64_t addr, bool bare)
{
	uint8_t b[16];
	char text[48]; /* the longest is 45 */

	if (vm_copy(env, b, addr, sizeof(b)) != 0)
		return 0;
	return constant(env, text, (uint32_t)(put_ipv6(text, b, bare) - text));
}

#define LINUX_AF_INET  2
#define LINUX_AF_INET6 10

SUBR(inet_ntop)
{
	uint32_t family = (uint32_t)a[0].value;

	if (family == LINUX_AF_INET)
		return ipv4_text(env, a[1].value);
	if (family == LINUX_AF_INET6)
		return ipv6_text(env, a[1].value, false);
	vm_fault(env, FLT_ILLOP, family);
	return 0;
}

SUBR(inet_ntoa)
{
	return ipv4_text(env, a[0].value);
}

SUBR(inet_ntoa6)
{
	/* The second argument asks for the form of the RFC. */
	return ipv6_text(env, a[0].value, n < 2 || a[1].value == 0);
}

/* Kinds of link-layer addresses, as in <net/if_arp.h>. */
#define LINUX_ARPHRD_ETHER      1
#define LINUX_ARPHRD_INFINIBAND 32

SUBR(link_ntop)
{
	uint32_t type = (uint32_t)a[0].value, len;
	uint8_t b[20];
	char text[3 * sizeof(b)];

	switch (type) {
	case LINUX_ARPHRD_ETHER: len = 6; break;
	case LINUX_ARPHRD_INFINIBAND: len = 20; break;
	default: vm_fault(env, FLT_ILLOP, type); return 0;
	}
	if (vm_copy(env, b, a[1].value, len) != 0)
		return 0;
	for (uint32_t i = 0; i < len; i++) {
		text[3 * i] = "0123456789abcdef"[b[i] >> 4];
		text[3 * i + 1] = "0123456789abcdef"[b[i] & 15];
		text[3 * i + 2] = ':';
	}
	return constant(env, text, 3 * len - 1);
}

/* ---- JSON ---- */

/*
 * A scanner, not a parser: it walks over values by their brackets and quotes,
 * and enters only those on the path.  Text that is not JSON gives NULL, or the
 * value found before it went wrong.  Depth costs a counter, not a stack.
 */
struct json {
	const char *s;
	uint32_t len, i;
};

static void
skip_space(struct json *j)
{
	while (j->i < j->len &&
	    (j->s[j->i] == ' ' || (j->s[j->i] >= 9 && j->s[j->i] <= 13)))
		j->i++;
}

/* Take c if it comes next, after blanks. */
static bool
take(struct json *j, char c)
{
	skip_space(j);
	if (j->i == j->len || j->s[j->i] != c)
		return false;
	j->i++;
	return true;
}

/* Over a string whose opening quote has been taken; false: no end. */
static bool
skip_string(struct json *j)
{
	for (; j->i < j->len; j->i++) {
		if (j->s[j->i] == '"') {
			j->i++;
			return true;
		}
		if (j->s[j->i] == '\\')
			j->i++;
	}
	j->i = j->len;
	return false;
}

/* Over an object or array. */
static bool
skip_brackets(struct json *j)
{
	uint32_t depth = 0;

	while (j->i < j->len) {
		char c = j->s[j->i++];
		if (c == '"' && !skip_string(j))
			return false;
		if (c == '{' || c == '[')
			depth++;
		if ((c == '}' || c == ']') && --depth == 0)
			return true;
	}
	return false;
}

static bool
ends_word(char c)
{
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == ':' ||
	    (c >= 9 && c <= 13);
}

/* Over any value; false when there is none. */
static bool
skip_value(struct json *j)
{
	skip_space(j);
	uint32_t at = j->i;
	if (at == j->len)
		return false;
	if (j->s[at] == '{' || j->s[at] == '[')
		return skip_brackets(j);
	if (take(j, '"'))
		return skip_string(j);
	while (j->i < j->len && !ends_word(j->s[j->i]))
		j->i++;
	return j->i > at;
}

/* To the value of a key of the object that comes next. */
static bool
enter_key(struct json *j, const char *key, uint32_t len)
{
	if (!take(j, '{'))
		return false;
	do {
		if (!take(j, '"'))
			return false;
		uint32_t at = j->i;
		if (!skip_string(j))
			return false;
		bool found =
		    j->i - 1 - at == len && memcmp(j->s + at, key, len) == 0;
		if (!take(j, ':'))
			return false;
		if (found)
			return true;
	} while (skip_value(j) && take(j, ','));
	return false;
}

/* To element n of the array that comes next. */
static bool
enter_index(struct json *j, uint32_t n)
{
	if (!take(j, '['))
		return false;
	skip_space(j);
	if (j->i < j->len && j->s[j->i] == ']')
		return false;
	for (; n > 0; n--)
		if (!skip_value(j) || !take(j, ','))
			return false;
	return true;
}

/* Follow the path: keys with dots between, [n] after any of them. */
static bool
follow(struct json *j, const struct vm_str *path)
{
	uint32_t i = 0;

	while (i < path->len) {
		uint32_t at = i, index = 0;
		if (path->s[i] == '[') {
			for (i++; i < path->len && path->s[i] >= '0' &&
			     path->s[i] <= '9' && index < UINT16_MAX;)
				index = index * 10 + (path->s[i++] - '0');
			if (i == at + 1 || i == path->len ||
			    path->s[i++] != ']' || !enter_index(j, index))
				return false;
		} else {
			while (i < path->len && path->s[i] != '.' &&
			    path->s[i] != '[')
				i++;
			if (!enter_key(j, path->s + at, i - at))
				return false;
		}
		if (i < path->len && path->s[i] == '.')
			i++;
	}
	return true;
}

/* A string without its quotes (escapes are left as they are), anything else as
 * it stands. */
SUBR(json)
{
	struct vm_str text, path;
	char *d;

	if (arg_str(env, &a[0], &text) != 0 || arg_str(env, &a[1], &path) != 0)
		return 0;
	struct json j = { text.s, text.len, 0 };
	if (!follow(&j, &path))
		return 0;
	skip_space(&j);
	uint32_t at = j.i;
	if (!skip_value(&j))
		return 0;
	uint32_t quote = text.s[at] == '"';
	if (j.i - at < 2 * quote) /* the text has changed meanwhile */
		return 0;
	return subr_string(env, &text, at + quote, j.i - at - 2 * quote, &d);
}
