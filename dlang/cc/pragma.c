/*
 * Control lines: #pragma, #line, #error and those that the preprocessor leaves.
 * Each takes effect when the scanner reads it, so an option is valid for the
 * text after it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/cc/cc_impl.h"

/* More words than any pragma takes: provider attributes have 5. */
#define WORDS_MAX 16

struct words {
	struct comp *c;
	const struct span *at;
	const char *w[WORDS_MAX];
	bool quoted[WORDS_MAX];
	size_t n;
};

/* Replace comments and continuations of the line by blanks. */
static char *
clean_line(struct comp *c, const char *text)
{
	char *s = arena_strdup(&c->cc->arena, text);
	bool quoted = false;

	for (char *p = s; *p != '\0'; p++) {
		if (*p == '"')
			quoted = !quoted;
		if (*p == '\\' && p[1] == '\n')
			p[0] = p[1] = ' ';
		if (quoted || p[0] != '/' || p[1] != '*')
			continue;
		char *end = strstr(p + 2, "*/");
		size_t len = end != NULL ? (size_t)(end + 2 - p) : strlen(p);
		memset(p, ' ', len);
	}
	for (size_t n = strlen(s); n > 0 && isspace((unsigned char)s[n - 1]);)
		s[--n] = '\0';
	return s;
}

static void
split(struct words *ws, const char *line)
{
	struct arena *a = &ws->c->cc->arena;

	for (const char *p = line; ws->n < WORDS_MAX;) {
		p += strspn(p, " \t\r\f\v\n");
		if (*p == '\0')
			break;
		ws->quoted[ws->n] = *p == '"';
		size_t len = *p == '"' ? strcspn(p + 1, "\"") :
					 strcspn(p, " \t\r\f\v\n");
		const char *from = p + (*p == '"');
		ws->w[ws->n++] = arena_strndup(a, from, len);
		p = from + len;
		p += *p == '"' && from != p;
		p += *p == '"' && len == 0;
	}
}

static int
malformed(struct words *ws, const char *what)
{
	return diag_error(
	    ws->c->diags, D_PRAGMA_MALFORM, ws->at, "malformed #%s", what);
}

/* ---- #line ---- */

/* `LINE ["FILE" [STATE]]', from word i on. */
static int
line_mark(struct words *ws, size_t i, struct lexer_position *pos)
{
	char *end;

	if (i >= ws->n || !isdigit((unsigned char)ws->w[i][0]))
		return malformed(ws, "line directive: expected a number");
	unsigned long n = strtoul(ws->w[i], &end, 10);
	if (*end != '\0' || n > INT32_MAX / 2)
		return malformed(ws, "line directive: expected a number");
	if (i + 1 < ws->n) {
		if (!ws->quoted[i + 1])
			return malformed(ws,
			    "line directive: expected a file name in quotes");
		/* Back in the program text itself, whose name need not be
		 * stored. */
		pos->file = strcmp(ws->w[i + 1], ws->at->source->name) != 0 ||
			ws->c->in->library ?
		    ws->w[i + 1] :
		    NULL;
	}
	pos->delta = (int)n - (ws->at->end_line + 1);
	return 0;
}

/* ---- #pragma D ---- */

static int
pragma_option(struct words *ws, size_t i)
{
	struct comp *c = ws->c;

	if (i >= ws->n)
		return malformed(ws, "pragma D option: expected name[=value]");
	if (i + 1 < ws->n)
		return diag_error(c->diags, D_PRAGMA_MALFORM, ws->at,
		    "superfluous arguments specified for #pragma option");
	char *name = arena_strdup(&c->cc->arena, ws->w[i]);
	char *value = strchr(name, '=');
	if (value != NULL)
		*value++ = '\0';
	int error = option_set(c->cc->opts, name, value, true);
	if (error == 0) {
		if (strcmp(name, "strsize") == 0)
			types_set_strsize(c->cc->types,
			    (uint32_t)option_get(c->cc->opts, OPT_STRSIZE));
		return 0;
	}
	if (value != NULL)
		diag_error(c->diags, D_PRAGMA_OPTSET, ws->at,
		    "failed to set option '%s' to '%s': %s", name, value,
		    option_error(error));
	else
		diag_error(c->diags, D_PRAGMA_OPTSET, ws->at,
		    "failed to set option '%s': %s", name, option_error(error));
	return hint_option(c, name, error);
}

/* Store a pragma until its identifier is declared, which may be before or after
 * it. */
static void
add_pragma(struct words *ws, const char *what, const char *ident,
    const struct pragma *values)
{
	struct pragma *p = vec_push(&ws->c->pragmas);

	*p = *values;
	p->what = what;
	p->ident = ident;
	p->span = *ws->at;
}

static int
pragma_attributes(struct words *ws, size_t i)
{
	static const char *const parts[] = { "provider", "module", "function",
		"name", "args" };
	struct attr attr;

	if (i + 1 >= ws->n)
		return malformed(ws, "pragma attributes <attributes> <ident>");
	if (!attr_parse(ws->w[i], &attr))
		return diag_error(ws->c->diags, D_PRAGMA_INVAL, ws->at,
		    "invalid attributes specified by #pragma attributes");
	if (strcmp(ws->w[i + 1], "provider") == 0) {
		if (i + 4 != ws->n)
			return malformed(ws, "pragma D attributes provider");
		size_t k = 0;
		while (k < ARRAY_SIZE(parts) &&
		    strcasecmp(parts[k], ws->w[i + 3]) != 0)
			k++;
		if (k == ARRAY_SIZE(parts))
			return diag_error(ws->c->diags, D_PRAGMA_INVAL, ws->at,
			    "invalid component \"%s\" in attributes #pragma "
			    "for provider %s",
			    ws->w[i + 3], ws->w[i + 2]);
		return 0; /* needs nothing: no provider of ours depends on it */
	}
	if (i + 2 != ws->n)
		return diag_error(ws->c->diags, D_PRAGMA_MALFORM, ws->at,
		    "superfluous arguments specified for #pragma attributes");
	add_pragma(
	    ws, "attributes", ws->w[i + 1], &(struct pragma){ .attr = attr });
	return 0;
}

static int
pragma_binding(struct words *ws, size_t i)
{
	int64_t version;

	if (i + 2 != ws->n || !ws->quoted[i])
		return malformed(ws,
		    "pragma D binding: expected \"version\" and identifier");
	if (option_version(ws->w[i], &version) == -EINVAL)
		return diag_error(ws->c->diags, D_PRAGMA_INVAL, ws->at,
		    "invalid version specified by #pragma binding");
	add_pragma(ws, "binding", ws->w[i + 1],
	    &(struct pragma){ .since = (int32_t)version });
	return 0;
}

static int
pragma_depends(struct words *ws, size_t i)
{
	if (i + 2 != ws->n)
		return malformed(ws, "pragma D depends_on <class> <name>");
	if (strcmp(ws->w[i], "library") == 0 && ws->c->in->library)
		return 0; /* tracer/program/dlib.c has handled it */
	if (strcmp(ws->w[i], "library") == 0)
		return diag_error(ws->c->diags, D_PRAGMA_DEPEND, ws->at,
		    "main program may not explicitly depend on a library");
	if (strcmp(ws->w[i], "provider") != 0 &&
	    strcmp(ws->w[i], "module") != 0)
		return diag_error(ws->c->diags, D_PRAGMA_INVAL, ws->at,
		    "invalid class %s specified by #pragma depends_on",
		    ws->w[i]);
	return 0;
}

static int
pragma_error(struct words *ws, size_t i)
{
	struct str text = { 0 };

	for (; i < ws->n; i++)
		str_printf(&text, "%s ", ws->w[i]);
	int error = diag_error(
	    ws->c->diags, D_PRAGERR, ws->at, "#error: %s", str_c(&text));
	str_fini(&text);
	return error;
}

static int
pragma_d(struct words *ws, size_t i)
{
	static const struct {
		const char *name;
		int (*fn)(struct words *, size_t);
	} table[] = {
		{ "option", pragma_option },
		{ "attributes", pragma_attributes },
		{ "binding", pragma_binding },
		{ "depends_on", pragma_depends },
		{ "error", pragma_error },
	};
	static const char *const names[] = { "option", "attributes", "binding",
		"depends_on", "error", "ident", "line", NULL };

	if (i >= ws->n)
		return malformed(ws, "pragma D: expected a directive");
	if (strcmp(ws->w[i], "ident") == 0)
		return 0;
	for (size_t k = 0; k < ARRAY_SIZE(table); k++)
		if (strcmp(ws->w[i], table[k].name) == 0)
			return table[k].fn(ws, i + 1);
	diag_error(ws->c->diags, D_PRAGMA_INVAL, ws->at,
	    "invalid directive: #pragma D %s", ws->w[i]);
	return hint_word(ws->c, ws->w[i], names);
}

static int
pragma_word(struct words *ws, struct lexer_position *pos)
{
	if (ws->n < 2)
		return malformed(ws, "pragma directive: expected a name");
	if (strcmp(ws->w[1], "D") == 0) {
		ws->c->had_effect = true;
		if (ws->n > 2 && strcmp(ws->w[2], "line") == 0)
			return line_mark(ws, 3, pos);
		return pragma_d(ws, 2);
	}
	if (strcmp(ws->w[1], "error") == 0)
		return pragma_error(ws, 2);
	if (strcmp(ws->w[1], "line") == 0)
		return line_mark(ws, 2, pos);
	return 0; /* other compilers' pragmas */
}

/* Directives of C need the preprocessor: suggest -C. */
static int
hint_directive(struct comp *c, const char *name)
{
	static const char *const ours[] = { "pragma", "line", "error", "ident",
		NULL };
	static const char *const cpp[] = { "include", "define", "undef", "if",
		"ifdef", "ifndef", "elif", "else", "endif", NULL };

	for (size_t i = 0; cpp[i] != NULL; i++)
		if (strcmp(cpp[i], name) == 0)
			return diag_hint(
			    c->diags, "-C runs the C preprocessor");
	return hint_word(c, name, ours);
}

int
pragma_line(struct comp *c, const char *text, const struct span *at,
    struct lexer_position *pos)
{
	struct words ws = { .c = c, .at = at };

	split(&ws, clean_line(c, text));
	if (ws.n == 0)
		return 0; /* the null directive */
	if (isdigit((unsigned char)ws.w[0][0]))
		return line_mark(&ws, 0, pos);
	if (strcmp(ws.w[0], "line") == 0)
		return line_mark(&ws, 1, pos);
	if (strcmp(ws.w[0], "error") == 0)
		return pragma_error(&ws, 1);
	if (strcmp(ws.w[0], "ident") == 0)
		return ws.n == 2 && ws.quoted[1] ? 0 : malformed(&ws, "ident");
	if (strcmp(ws.w[0], "pragma") == 0)
		return pragma_word(&ws, pos);
	diag_error(c->diags, D_PRAGCTL_INVAL, at,
	    "invalid control directive: #%s", ws.w[0]);
	return hint_directive(c, ws.w[0]);
}

/* Apply the pragmas whose identifiers are declared by now. */
int
pragma_apply(struct comp *c)
{
	vec_foreach(p, &c->pragmas) {
		struct ident *id =
		    p->used ? NULL : hash_get_str(&c->cc->globals, p->ident);
		if (id == NULL)
			continue;
		if (id->kind != ID_SCALAR && id->kind != ID_ASSOC &&
		    id->kind != ID_INLINE)
			return diag_error(c->diags, D_PRAGMA_SCOPE, &p->span,
			    "#pragma %s cannot modify entity defined outside "
			    "program scope",
			    p->what);
		p->used = true;
		if (strcmp(p->what, "binding") == 0) {
			id->since = p->since;
		} else {
			id->attr = p->attr;
			id->flags |= IDF_ATTR;
		}
	}
	return 0;
}

int
pragma_finish(struct comp *c)
{
	if (pragma_apply(c) != 0)
		return -EINVAL;
	vec_foreach(p, &c->pragmas)
		if (!p->used)
			return diag_error(c->diags, D_PRAGMA_UNUSED, &p->span,
			    "unused #pragma %s", p->what);
	return 0;
}
