/*
 * Types by name; see typename.h.
 */
#include "tracer/names/typename.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "dlang/types.h"

/* Remove one of these words from the begin of *s. */
static bool
take_qualifier(const char **s)
{
	static const char *const words[] = { "const", "volatile", "restrict",
		"userland" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i]);
		if (strncmp(*s, words[i], n) == 0 &&
		    (isspace((unsigned char)(*s)[n]) || (*s)[n] == '\0' ||
			(*s)[n] == '*')) {
			*s += n;
			*s += strspn(*s, " ");
			return true;
		}
	}
	return false;
}

static struct type *
incomplete(struct types *ts, const char *name)
{
	static const struct {
		const char *word;
		enum type_kind kind;
	} kinds[] = { { "struct ", TYPE_STRUCT }, { "union ", TYPE_UNION },
		{ "enum ", TYPE_ENUM } };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t n = strlen(kinds[i].word);
		if (strncmp(name, kinds[i].word, n) != 0)
			continue;
		struct type *t = types_new(ts, TYPE_FORWARD);
		t->name = types_strdup(ts, name + n);
		t->forward_of = kinds[i].kind;
		types_define(ts, name, t);
		return t;
	}
	return NULL;
}

static struct type *
base_type(struct types *ts, const char *s, size_t len)
{
	char *name = mem_strndup(s, len);

	while (len > 0 && isspace((unsigned char)name[len - 1]))
		name[--len] = '\0';
	struct type *t = strcmp(name, "string") == 0 ?
	    types_pointer(ts, types_lookup(ts, "char")) :
	    types_lookup(ts, name);
	if (t == NULL)
		t = incomplete(ts, name);
	mem_free(name);
	return t;
}

/* More dimensions than this are refused. */
#define DIMENSIONS_MOST 8

/* The array that the dimensions at *s make of `of': "[2][3]" is two of three. */
static struct type *
array_type(struct types *ts, struct type *of, const char **s)
{
	uint64_t counts[DIMENSIONS_MOST];
	size_t n = 0;
	char *end;

	while (**s == '[') {
		uint64_t count = strtoull(*s + 1, &end, 10);
		if (n == DIMENSIONS_MOST || *end != ']' || count == 0 ||
		    count > 1U << 20)
			return NULL;
		counts[n++] = count;
		*s = end + 1;
		*s += strspn(*s, " ");
	}
	while (n > 0)
		of = types_array(ts, of, counts[--n]);
	return of;
}

struct type *
typename_parse(struct types *ts, const char *text)
{
	if (text == NULL)
		return NULL;
	text += strspn(text, " ");
	while (take_qualifier(&text))
		;
	size_t n = strcspn(text, "*[(");
	struct type *t = base_type(ts, text, n);
	/* A pointer to an unknown type is a pointer to void. */
	if (t == NULL && text[n] == '*')
		t = types_lookup(ts, "void");
	for (text += n; t != NULL && *text != '\0';) {
		if (*text == '*') {
			t = types_pointer(ts, t);
			text++;
		} else if (*text == '[') {
			t = array_type(ts, t, &text);
		} else if (*text == ' ' || take_qualifier(&text)) {
			text += strspn(text, " ");
		} else {
			return NULL;
		}
	}
	return t;
}
