/*
 * Reducing system headers to declarations; see cpp_headers.h.
 *
 * Headers of a C library contain inline functions and extensions of the
 * compiler, which D cannot parse.  cpp marks system headers with flag 3 in its
 * line marks; only text under such a mark is changed, never text of the
 * program.
 */
#include "tracer/program/cpp_headers.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "dlang/base/base.h"

struct reader {
	char *p;
	char *start; /* of the current declaration */
	char last;   /* previous character, except blanks */
	int depth;   /* of braces */
	bool system;
};

/* Words that are removed, with their arguments if they have any. */
static const struct word {
	const char *text;
	bool args;
} words[] = {
	{ "__extension__", false },
	{ "__inline", false },
	{ "__inline__", false },
	{ "__restrict", false },
	{ "__restrict__", false },
	{ "__const", false },
	{ "__volatile__", false },
	{ "__attribute__", true },
	{ "__asm__", true },
};

/* Replace text by blanks, except line marks and newlines. */
static void
blank(char *from, const char *to)
{
	bool mark = false;

	for (; from < to; from++) {
		mark = from[-1] == '\n' ? *from == '#' : mark;
		if (*from != '\n' && !mark)
			*from = ' ';
	}
}

/* Skip the literal that begins at p. */
static char *
skip_literal(char *p)
{
	char quote = *p++;

	while (*p != '\0' && *p != quote && *p != '\n')
		p += *p == '\\' && p[1] != '\0' ? 2 : 1;
	return p + (*p == quote);
}

/* Skip to after the bracket that closes the one at p; NULL if there is none. */
static char *
skip_brackets(char *p, char open, char close)
{
	int depth = 0;

	while (*p != '\0') {
		if (*p == '"' || *p == '\'') {
			p = skip_literal(p);
			continue;
		}
		depth += (*p == open) - (*p == close);
		p++;
		if (depth == 0)
			return p;
	}
	return NULL;
}

/* # 12 "/usr/include/x.h" 1 3 4 */
static void
read_mark(struct reader *r)
{
	char *end = r->p + strcspn(r->p, "\n");
	char *flags = end;
	bool was = r->system;

	while (flags > r->p && flags[-1] != '"')
		flags--;
	if (flags == r->p)
		return; /* a directive, not a line mark */
	r->system = false;
	for (; flags < end; flags++)
		r->system |= *flags == '3' && flags[-1] == ' ';
	if (r->system && !was) {
		r->start = end;
		r->depth = 0;
		r->last = 0;
	}
}

static void
read_word(struct reader *r)
{
	size_t len = 0;

	while (isalnum((unsigned char)r->p[len]) || r->p[len] == '_')
		len++;
	char *word = r->p;
	r->p += len;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strlen(words[i].text) != len ||
		    strncmp(words[i].text, word, len) != 0)
			continue;
		char *end = r->p, *args = end + strspn(end, " \t\n");
		if (words[i].args && *args == '(') {
			end = skip_brackets(args, '(', ')');
			if (end == NULL)
				return;
		}
		blank(word, end);
		r->p = end;
		return;
	}
	r->last = 'a';
}

static void
read_brace(struct reader *r)
{
	char *end = r->depth == 0 && r->last == ')' ?
	    skip_brackets(r->p, '{', '}') :
	    NULL;

	if (end == NULL) {
		r->depth++;
		r->last = *r->p++;
		return;
	}
	blank(r->start, end);
	r->p = r->start = end;
	r->last = 0;
}

void
cpp_headers_reduce(char *text)
{
	struct reader r = { .p = text, .start = text };

	while (*r.p != '\0') {
		if (*r.p == '#' && (r.p == text || r.p[-1] == '\n')) {
			read_mark(&r);
			r.p += strcspn(r.p, "\n");
		} else if (!r.system) {
			r.p += strcspn(r.p, "\n");
			r.p += *r.p == '\n';
		} else if (*r.p == '"' || *r.p == '\'') {
			r.p = skip_literal(r.p);
		} else if (isalpha((unsigned char)*r.p) || *r.p == '_') {
			read_word(&r);
		} else if (*r.p == '{') {
			read_brace(&r);
		} else {
			r.depth -= *r.p == '}';
			if (!isspace((unsigned char)*r.p))
				r.last = *r.p;
			if (*r.p++ == ';' && r.depth == 0)
				r.start = r.p;
		}
	}
}
