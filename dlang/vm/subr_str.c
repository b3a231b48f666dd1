/*
 * Subroutines over strings.
 *
 * Inputs are looked at up to strsize, a NULL pointer is a bad address.  A
 * result that is the end of the input (strchr, strrchr, strstr) is an address
 * in it when it is in a region, else in the copy in scratch.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/subr_impl.h"

static int
arg_str(struct vm_env *env, const struct vm_tuple *a, struct vm_str *s)
{
	return vm_str(env, a->value, vm_strmax(env), s);
}

uint64_t
subr_string(struct vm_env *env, const struct vm_str *s, uint32_t off,
    uint32_t len, char **d)
{
	uint32_t max = vm_strmax(env);
	uint8_t *mem;

	if (len > max)
		len = max;
	uint64_t addr = vm_alloc(env, vm_string_room(env, len), &mem);
	if (addr == 0)
		return 0;
	memcpy(mem, s->s + off, len);
	*d = (char *)mem;
	return addr;
}

SUBR(strlen)
{
	uint64_t used = env->scratch_used;
	struct vm_str s;

	if (arg_str(env, &a[0], &s) != 0)
		return 0;
	env->scratch_used = used;
	return s.len;
}

SUBR(strjoin)
{
	struct vm_str s, t;
	uint8_t *mem;

	if (arg_str(env, &a[0], &s) != 0 || arg_str(env, &a[1], &t) != 0)
		return 0;
	/* Cut at the end as any other string is. */
	t.len = VM_MIN(t.len, vm_strmax(env) - s.len);
	uint64_t size = vm_string_room(env, (uint64_t)s.len + t.len);
	uint64_t addr = vm_alloc(env, size, &mem);
	if (addr == 0)
		return 0;
	memcpy(mem, s.s, s.len);
	memcpy(mem + s.len, t.s, t.len);
	return addr;
}

/* ---- numbers as text ---- */

static bool
bad_base(struct vm_env *env, int64_t base)
{
	if (base >= 2 && base <= 36)
		return false;
	vm_fault(env, FLT_ILLOP, (uint64_t)base);
	return true;
}

SUBR(lltostr)
{
	char text[2 + 64]; /* "0x" or a sign, and 64 binary digits */
	char *p = text + sizeof(text), *d;
	uint64_t v = a[0].value;
	int64_t base = n > 1 ? (int32_t)a[1].value : 10;
	bool minus = base == 10 && (int64_t)v < 0;

	if (bad_base(env, base))
		return 0;
	if (minus)
		v = -v;
	do {
		*--p = "0123456789abcdefghijklmnopqrstuvwxyz"[v % base];
		v /= base;
	} while (v != 0);
	if (minus)
		*--p = '-';
	if (base == 16)
		*--p = 'x';
	if (base == 16 || (base == 8 && *p != '0'))
		*--p = '0';
	struct vm_str s = { p, (uint32_t)(text + sizeof(text) - p), 0 };
	return subr_string(env, &s, 0, s.len, &d);
}

static uint32_t
digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 36;
}

SUBR(strtoll)
{
	uint64_t used = env->scratch_used, v = 0;
	int64_t base = n > 1 ? (int32_t)a[1].value : 10;
	struct vm_str s;
	uint32_t i = 0;

	if (bad_base(env, base) || arg_str(env, &a[0], &s) != 0)
		return 0;
	while (i < s.len && (s.s[i] == ' ' || (s.s[i] >= 9 && s.s[i] <= 13)))
		i++;
	bool minus = i < s.len && s.s[i] == '-';
	if (i < s.len && (s.s[i] == '-' || s.s[i] == '+'))
		i++;
	if (base == 16 && s.len - i > 2 && s.s[i] == '0' &&
	    (s.s[i + 1] | 0x20) == 'x' && digit(s.s[i + 2]) < 16)
		i += 2;
	for (; i < s.len && digit(s.s[i]) < base; i++)
		v = v * (uint64_t)base + digit(s.s[i]);
	env->scratch_used = used;
	return minus ? -v : v;
}

/* ---- searching ---- */

SUBR(strchr)
{
	struct vm_str s;
	char c = (char)a[1].value;

	if (arg_str(env, &a[0], &s) != 0)
		return 0;
	for (uint32_t i = 0; i < s.len; i++)
		if (s.s[i] == c)
			return s.addr + i;
	return c == 0 ? s.addr + s.len : 0;
}

SUBR(strrchr)
{
	struct vm_str s;
	char c = (char)a[1].value;

	if (arg_str(env, &a[0], &s) != 0)
		return 0;
	for (uint32_t i = s.len; i > 0; i--)
		if (s.s[i - 1] == c && c != 0)
			return s.addr + i - 1;
	return c == 0 ? s.addr + s.len : 0;
}

static bool
matches(const struct vm_str *s, uint32_t at, const struct vm_str *t)
{
	return memcmp(s->s + at, t->s, t->len) == 0;
}

/* First place of t in s from `from' on, or -1. */
static int64_t
find(const struct vm_str *s, const struct vm_str *t, uint32_t from)
{
	for (uint32_t i = from; i <= s->len && t->len <= s->len - i; i++)
		if (matches(s, i, t))
			return i;
	return -1;
}

/* Last place of t in s at or before `from', or -1. */
static int64_t
rfind(const struct vm_str *s, const struct vm_str *t, uint32_t from)
{
	if (t->len > s->len)
		return -1;
	for (int64_t i = VM_MIN(from, s->len - t->len); i >= 0; i--)
		if (matches(s, (uint32_t)i, t))
			return i;
	return -1;
}

SUBR(strstr)
{
	struct vm_str s, t;

	if (arg_str(env, &a[0], &s) != 0 || arg_str(env, &a[1], &t) != 0)
		return 0;
	int64_t i = find(&s, &t, 0);
	return i < 0 ? 0 : s.addr + (uint64_t)i;
}

SUBR(index)
{
	uint64_t used = env->scratch_used;
	int32_t from = n > 2 ? (int32_t)a[2].value : 0;
	struct vm_str s, t;

	if (arg_str(env, &a[0], &s) != 0 || arg_str(env, &a[1], &t) != 0)
		return 0;
	env->scratch_used = used;
	/* Places out of range are clamped, as in Perl. */
	uint32_t at = from < 0 ? 0 : VM_MIN((uint32_t)from, s.len);
	return (uint64_t)find(&s, &t, at);
}

SUBR(rindex)
{
	uint64_t used = env->scratch_used;
	int32_t from = n > 2 ? (int32_t)a[2].value : INT32_MAX;
	struct vm_str s, t;

	if (arg_str(env, &a[0], &s) != 0 || arg_str(env, &a[1], &t) != 0)
		return 0;
	env->scratch_used = used;
	/* Before the string, only the empty string is found (Perl). */
	if (from < 0)
		return t.len == 0 ? 0 : (uint64_t)-1;
	return (uint64_t)rfind(&s, &t, (uint32_t)from);
}

static bool
contains(const struct vm_str *set, char c)
{
	for (uint32_t i = 0; i < set->len; i++)
		if (set->s[i] == c)
			return true;
	return false;
}

/* Keep the string; where there is room for it already, there. */
static int
scan_begin(struct vm_env *env, const struct vm_str *s)
{
	struct vm_scan *scan = &env->scan;
	uint32_t room = VM_ALIGN(s->len);

	if (room > scan->room) {
		if (room > env->scratch_size - env->scratch_used) {
			vm_fault(env, FLT_NOSCRATCH, 0);
			return -1;
		}
		env->scratch_size -= room;
		scan->at = env->scratch_size;
		scan->room = room;
	}
	memmove(env->at.scratch + scan->at, s->s, s->len);
	scan->pos = 0;
	scan->end = s->len;
	scan->begun = true;
	return 0;
}

/*
 * The scan goes on at the delimiter that ended the token, not behind it, so
 * that it is part of the next token when the delimiters change.  A scan that
 * was never begun reads from NULL, a bad address; one that is over gives NULL.
 */
SUBR(strtok)
{
	struct vm_scan *scan = &env->scan;
	struct vm_str s, set;
	char *d;

	if (a[0].value != 0 &&
	    (arg_str(env, &a[0], &s) != 0 || scan_begin(env, &s) != 0))
		return 0;
	if (!scan->begun)
		vm_fault(env, FLT_BADADDR, 0);
	if (!scan->begun || arg_str(env, &a[1], &set) != 0)
		return 0;

	struct vm_str text = { (char *)env->at.scratch + scan->at, scan->end,
		0 };
	uint32_t i = scan->pos, end;
	while (i < text.len && contains(&set, text.s[i]))
		i++;
	for (end = i; end < text.len && !contains(&set, text.s[end]);)
		end++;
	scan->pos = end;
	return i == text.len ? 0 : subr_string(env, &text, i, end - i, &d);
}

SUBR(substr)
{
	struct vm_str s;
	int64_t at = (int32_t)a[1].value;
	int64_t len = n > 2 ? (int32_t)a[2].value : INT32_MAX;
	char *d;

	if (arg_str(env, &a[0], &s) != 0)
		return 0;
	if (at < 0) {
		at += s.len;
		/* A piece that begins before the string but reaches into it
		 * gives the part that is there. */
		if (at < 0 && len > 0 && at + len > 0) {
			len += at;
			at = 0;
		}
	}
	if (at < 0 || at >= s.len)
		return subr_string(env, &s, 0, 0, &d);
	if (len < 0)
		len += s.len - at;
	if (len < 0)
		len = 0;
	len = VM_MIN(len, s.len - at);
	return subr_string(env, &s, (uint32_t)at, (uint32_t)len, &d);
}

/* ---- case ---- */

static uint64_t
change_case(struct vm_env *env, const struct vm_tuple *a, char from)
{
	struct vm_str s;
	char *d;

	if (arg_str(env, &a[0], &s) != 0)
		return 0;
	uint64_t addr = subr_string(env, &s, 0, s.len, &d);
	if (addr == 0)
		return 0;
	uint32_t len = VM_MIN(s.len, vm_strmax(env));
	for (uint32_t i = 0; i < len; i++)
		if (d[i] >= from && d[i] <= from + 25)
			d[i] ^= 0x20;
	return addr;
}

SUBR(toupper)
{
	return change_case(env, a, 'a');
}

SUBR(tolower)
{
	return change_case(env, a, 'A');
}
