/*
 * The command line of -c as words, the program that it names, and its
 * environment; see targets.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlang/base/mem.h"
#include "dlang/base/str.h"
#include "dlang/base/vec.h"
#include "tracer/base/state.h"
#include "tracer/drive/targets.h"

/* May this character be escaped by a backslash, inside double quotes or
 * unquoted? */
static bool
is_escaped(const char *p, bool quoted)
{
	if (p[0] != '\\' || p[1] == '\0')
		return false;
	return !quoted || strchr("\"\\$`\n", p[1]) != NULL;
}

/* Skip blanks and escaped newlines. */
static const char *
skip_blanks(const char *p)
{
	for (;; p += 2) {
		p += strspn(p, " \t\n\v\f\r");
		if (p[0] != '\\' || p[1] != '\n')
			return p;
	}
}

/* The word at *p, which is moved behind it. NULL and *why on error. */
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
			if (*++*p != '\n') /* an escaped newline */
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

/* ---- the program ---- */

static bool
is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(path, X_OK) == 0;
}

char *
targets_find_program(const char *name)
{
	const char *dirs = getenv("PATH");

	if (strchr(name, '/') != NULL)
		return is_program(name) ? mem_strdup(name) : NULL;
	if (dirs == NULL)
		dirs = "/bin:/usr/bin";
	for (;; dirs++) {
		size_t n = strcspn(dirs, ":");
		char *path = mem_printf(
		    "%.*s%s%s", (int)n, dirs, n > 0 ? "/" : "", name);
		if (is_program(path))
			return path;
		mem_free(path);
		dirs += n;
		if (*dirs == '\0')
			return NULL;
	}
}

/* ---- the environment of what is launched: options setenv and unsetenv ---- */

typedef VEC(char *) env_vec;

/* Remove the variable `name', of `len' characters. */
static void
env_unset(env_vec *env, const char *name, size_t len)
{
	for (size_t i = 0; i < env->len; i++) {
		char *e = env->at[i];
		if (strncmp(e, name, len) != 0 || e[len] != '=')
			continue;
		mem_free(e);
		memmove(&env->at[i], &env->at[i + 1],
		    (env->len - i - 1) * sizeof(e));
		env->len--;
		i--;
	}
}

/* Apply each line of an option's text. */
static void
env_change(env_vec *env, const char *text, bool set)
{
	for (; text != NULL && *text != '\0'; text += *text == '\n') {
		size_t len = strcspn(text, "\n");
		env_unset(env, text, set ? strcspn(text, "=\n") : len);
		if (set && memchr(text, '=', len) != NULL)
			*vec_push(env) = mem_strndup(text, len);
		else if (set)
			*vec_push(env) = mem_printf("%.*s=", (int)len, text);
		text += len;
	}
}

char **
targets_env(const struct state *st)
{
	env_vec env = { 0 };

	for (char **e = environ; *e != NULL; e++)
		*vec_push(&env) = mem_strdup(*e);
	env_change(&env, st->opts.text[OPT_UNSETENV], false);
	env_change(&env, st->opts.text[OPT_SETENV], true);
	*vec_push(&env) = NULL;
	return env.at;
}
