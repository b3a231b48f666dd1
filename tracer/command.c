/*
 * The command line of -c as words; see targets.h.
 */
#include <errno.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "dlang/base/str.h"
#include "dlang/base/vec.h"
#include "tracer/targets.h"

/* One character inside double quotes or bare, after a backslash. */
static bool
is_escaped(const char *p, bool quoted)
{
	if (p[0] != '\\' || p[1] == '\0')
		return false;
	return !quoted || strchr("\"\\$`\n", p[1]) != NULL;
}

/* Blanks, and the ends of lines that go on. */
static const char *
skip_blanks(const char *p)
{
	for (;; p += 2) {
		p += strspn(p, " \t\n\v\f\r");
		if (p[0] != '\\' || p[1] != '\n')
			return p;
	}
}

/* One word from *p on; NULL with *why. */
static char *
split_word(const char **p, const char **why)
{
	struct str word = { 0 };
	char quote = '\0';

	for (; **p != '\0'; ++*p) {
		char c = **p;
		if (quote == '\0' && strchr(" \t\n\v\f\r", c) != NULL)
			break;
		if (quote != '\'' && is_escaped(*p, quote == '"')) {
			if (*++*p != '\n') /* a line that goes on */
				str_addc(&word, **p);
		} else if (quote == '\0' && (c == '\'' || c == '"')) {
			quote = c;
		} else if (quote != '\0' && c == quote) {
			quote = '\0';
		} else {
			str_addc(&word, c);
		}
	}
	if (quote != '\0') {
		*why = "a quote is not closed";
		str_fini(&word);
		return NULL;
	}
	return str_take(&word);
}

int
targets_split(const char *cmd, char ***argv, const char **why)
{
	VEC(char *) words = { 0 };

	for (const char *p = cmd;;) {
		p = skip_blanks(p);
		if (*p == '\0')
			break;
		char *word = split_word(&p, why);
		*vec_push(&words) = word;
		if (word == NULL) {
			targets_free_argv(words.at);
			return -EINVAL;
		}
	}
	*vec_push(&words) = NULL;
	*argv = words.at;
	if (words.len == 1) {
		*why = "the command is empty";
		targets_free_argv(words.at);
		return -EINVAL;
	}
	return 0;
}

void
targets_free_argv(char **argv)
{
	for (char **p = argv; *p != NULL; p++)
		mem_free(*p);
	mem_free(argv);
}
