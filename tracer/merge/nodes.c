/*
 * Names of hosts; see nodes.h.
 *
 * A name becomes a word of a command line.  So it does not begin with a minus
 * sign, and has only letters, digits and a few marks.
 */
#include "tracer/merge/nodes.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char bad_name[] =
    "a name has letters, digits and . _ - : @ /, and begins with a letter or a "
    "digit";
static const char too_many[] = "there are too many";

static const char *
add(struct nodes *n, const char *name)
{
	if (!isalnum((unsigned char)*name))
		return bad_name;
	for (const char *p = name; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && strchr("._-:@/", *p) == NULL)
			return bad_name;
	vec_foreach(at, &n->list)
		if (strcmp(*at, name) == 0)
			return NULL;
	if (n->list.len >= NODES_MOST)
		return too_many;
	*vec_push(&n->list) = mem_strdup(name);
	return NULL;
}

static const char *part(struct nodes *n, const char *before, const char *text);

/* "01-40" or "7": each number as wide as the first, then the rest. */
static const char *
range(struct nodes *n, const char *before, const char *from, const char *rest)
{
	char *end;
	size_t width = strspn(from, "0123456789");
	unsigned long lo = strtoul(from, &end, 10), hi = lo;

	if (width == 0 || width > 9)
		return "a range is two numbers: web[01-40]";
	if (*end == '-') {
		if (!isdigit((unsigned char)end[1]))
			return "a range is two numbers: web[01-40]";
		hi = strtoul(end + 1, &end, 10);
	}
	if (*end != '\0' || hi < lo)
		return "a range goes from the lesser number to the greater";
	if (hi - lo >= NODES_MOST)
		return too_many;
	for (unsigned long i = lo; i <= hi; i++) {
		char *so_far = mem_printf(
		    "%s%0*lu", before, *from == '0' ? (int)width : 1, i);
		const char *why = part(n, so_far, rest);
		mem_free(so_far);
		if (why != NULL)
			return why;
	}
	return NULL;
}

static const char *
ranges(struct nodes *n, const char *before, char *list, const char *rest)
{
	char *save;

	for (char *at = strtok_r(list, ",", &save); at != NULL;
	     at = strtok_r(NULL, ",", &save)) {
		const char *why = range(n, before, at, rest);
		if (why != NULL)
			return why;
	}
	return NULL;
}

/* `before' is expanded, `text' is not. */
static const char *
part(struct nodes *n, const char *before, const char *text)
{
	const char *open = strchr(text, '[');

	if (open == NULL) {
		char *name = mem_printf("%s%s", before, text);
		const char *why = add(n, name);
		mem_free(name);
		return why;
	}
	const char *close = strchr(open, ']');
	if (close == NULL)
		return "a [ has no ]";
	char *so_far = mem_printf("%s%.*s", before, (int)(open - text), text);
	char *list = mem_strndup(open + 1, (size_t)(close - open - 1));
	const char *why = *list == '\0' ? "an empty range" :
					  ranges(n, so_far, list, close + 1);
	mem_free(list);
	mem_free(so_far);
	return why;
}

/* The length up to a comma that is in no brackets. */
static size_t
part_length(const char *text)
{
	size_t i;
	bool inside = false;

	for (i = 0; text[i] != '\0' && (inside || text[i] != ','); i++)
		inside = text[i] == '[' || (inside && text[i] != ']');
	return i;
}

int
nodes_parse(struct nodes *n, const char *text,
    const char *(*expand)(struct nodes *n, const char *group), const char **why)
{
	*why = *text == '\0' ? "no host is named" : NULL;
	while (*why == NULL && *text != '\0') {
		size_t len = part_length(text);
		char *one = mem_strndup(text, len);
		*why = *one == '@' ? expand(n, one) : part(n, "", one);
		mem_free(one);
		text += len + (text[len] == ',');
	}
	return *why == NULL ? 0 : -EINVAL;
}

void
nodes_fini(struct nodes *n)
{
	vec_foreach(at, &n->list)
		mem_free(*at);
	vec_fini(&n->list);
}
