/*
 * Glob matching; see glob.h.  Iterative, with one point to go back to, so
 * that no pattern takes more than length(pattern) * length(text) steps.
 */
#include "dlang/base/glob.h"

#include <string.h>

bool
glob_is(const char *pattern)
{
	return strpbrk(pattern, "*?[\\") != NULL;
}

/* The end of the set that begins at p ('['), or NULL if it has none. */
static const char *
set_end(const char *p)
{
	p++;
	if (*p == '!')
		p++;
	if (*p == ']')
		p++;
	return strchr(p, ']');
}

static bool
set_has(const char *p, const char *end, unsigned char c)
{
	bool not = p[1] == '!';
	bool in = false;

	p += 1 + not ;
	for (bool first = true; first || p < end; first = false) {
		unsigned char lo = (unsigned char)*p, hi = lo;
		if (p + 2 < end && p[1] == '-') {
			hi = (unsigned char)p[2];
			p += 2;
		}
		in |= lo <= c && c <= hi;
		p++;
	}
	return in != not ;
}

/* Does one element of the pattern at p match c?  *next is what follows it. */
static bool
match_one(const char *p, unsigned char c, const char **next)
{
	const char *end;

	*next = p + 1;
	if (*p == '?')
		return true;
	if (*p == '[' && (end = set_end(p)) != NULL) {
		*next = end + 1;
		return set_has(p, end, c);
	}
	if (*p == '\\' && p[1] != '\0') {
		p++;
		*next = p + 1;
	}
	return (unsigned char)*p == c;
}

bool
glob_match(const char *pattern, const char *text)
{
	const char *star = NULL, *retry = NULL, *next;

	if (*pattern == '\0')
		return true;
	while (*text != '\0') {
		if (*pattern == '*') {
			star = ++pattern;
			retry = text;
		} else if (*pattern != '\0' &&
		    match_one(pattern, (unsigned char)*text, &next)) {
			pattern = next;
			text++;
		} else if (star != NULL) {
			pattern = star;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

bool
glob_field(const char *pattern, const char *text)
{
	if (*pattern == '\0')
		return true;
	return strcmp(pattern, text) == 0 ||
	    (glob_is(pattern) && glob_match(pattern, text));
}
