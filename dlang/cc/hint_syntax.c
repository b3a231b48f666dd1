/*
 * Hints about syntax errors: what is missing or superfluous where the parser
 * stopped.  The parser knows only the unexpected token.
 */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "dlang/cc/lex.h"
#include "dlang/cc/parse.h"

static const char *const begins[] = { "BEGIN", "END", "ERROR", NULL };
static const char blanks[] = " \t\n\r\f\v";
static const char in_description[] = "abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_:$*?.`-[]!\"";

static const char *
skip_blanks(const char *p)
{
	return p + strspn(p, blanks);
}

static bool
is_word(const char *s, size_t n, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strlen(*words) == n && strncmp(s, *words, n) == 0)
			return true;
	return false;
}

/* ---- clauses and their brackets ---- */

/* "of BEGIN, line 3," or "of BEGIN": text of the command line has no lines to
 * speak of. */
static const char *
clause_name(const struct lexer *lx)
{
	const struct span *at = &lx->clause_span;
	const char *what = lx->clause != NULL ? lx->clause : "this";

	if (at->source == NULL || !at->source->is_file)
		return arena_printf(&lx->c->cc->arena, "of %s", what);
	return arena_printf(&lx->c->cc->arena, "of %s, line %d,", what,
	    at->file_line > 0 ? at->file_line : at->line);
}

/* Is this a predicate, followed by the begin of actions? */
static bool
is_predicate(const char *p)
{
	const char *end = p + strcspn(p, ";{");

	if (*p != '/' || *end != '{')
		return false;
	do
		end--;
	while (strchr(blanks, *end) != NULL);
	return end > p && *end == '/';
}

/* The length of the first description, if the text begins like a clause; 0 if
 * it does not. */
static size_t
clause_begins(const char *text)
{
	size_t first = strspn(text, in_description);
	const char *p = text;

	if (!is_word(text, first, begins) && memchr(text, ':', first) == NULL &&
	    memchr(text, '-', first) == NULL)
		return 0;
	for (;; p++) {
		p = skip_blanks(p);
		size_t n = strspn(p, in_description);
		p = skip_blanks(p + n);
		if (n == 0 || *p != ',')
			break;
	}
	return *p == '{' || is_predicate(p) ? first : 0;
}

/* The previous clause has no closing brace. */
static bool
hint_clause(const struct lexer *lx, int token)
{
	const char *text = lx->text + lx->statement;
	size_t n = lx->mode == MODE_CLAUSE ? clause_begins(text) : 0;

	if (token == '{' && lx->prev2 == ',') {
		diag_hint(
		    lx->c->diags, "a probe description must follow the comma");
		return true;
	}
	if (n > 0)
		diag_hint(lx->c->diags, "the clause %s has no } before %.*s",
		    clause_name(lx), (int)n, text);
	return n > 0;
}

static void
hint_end(const struct lexer *lx)
{
	switch (lx->mode) {
	case MODE_CLAUSE:
		diag_hint(
		    lx->c->diags, "the clause %s has no }", clause_name(lx));
		break;
	case MODE_PRED:
		diag_hint(lx->c->diags, "the predicate has no / at its end");
		break;
	case MODE_DECL:
		diag_hint(lx->c->diags, "a %c is missing",
		    lx->braces > 0 ? '}' : ';');
		break;
	case MODE_OUTER: break;
	}
}

/* One of these tokens also ends an expression in brackets. */
static bool
hint_bracket(const struct lexer *lx, int token)
{
	char open = token == ';' ? lx->unclosed : lex_opened(lx);

	if ((token != ';' && token != '{' && token != '}') || open == '\0')
		return false;
	diag_hint(
	    lx->c->diags, "a %c is missing before it", open == '(' ? ')' : ']');
	return true;
}

/* Actions without braces.  A word that is not a description was read as a
 * type. */
static bool
hint_braces(const struct lexer *lx)
{
	const char *clause = lx->clause;

	if (clause == NULL ||
	    (strpbrk(clause, ":-") == NULL &&
		!is_word(clause, strlen(clause), begins)))
		return false;
	diag_hint(lx->c->diags, "actions go inside { }");
	return true;
}

static bool
hint_outside(const struct lexer *lx, int token, const char *text)
{
	if (lx->mode == MODE_OUTER && text[0] == ';' && lx->prev2 == '}')
		diag_hint(lx->c->diags,
		    "remove the ; after the } of the "
		    "clause");
	else if (lx->mode == MODE_OUTER && token == BAD && text[0] == '}')
		diag_hint(lx->c->diags, "it has no matching {");
	else if (lx->mode == MODE_PRED && token == '{')
		diag_hint(lx->c->diags, "the predicate has no / at its end");
	else
		return lx->mode == MODE_OUTER &&
		    (token == PSPEC || token == BAD) && hint_braces(lx);
	return true;
}

static unsigned
count_colons(const char *text)
{
	unsigned n = 0;

	for (; *text != '\0'; text++)
		n += *text == ':';
	return n;
}

/* pid$target::net/http.Get:entry: the slash, which is not in the last of four
 * fields, began a predicate. */
static bool
hint_path(const struct lexer *lx)
{
	const char *clause = lx->clause, *at, *func, *name;
	size_t n, first;

	if (lx->mode != MODE_PRED || clause == NULL ||
	    (func = strrchr(clause, ':')) == NULL || count_colons(clause) > 2)
		return false;
	at = strstr(lx->text, arena_printf(&lx->c->cc->arena, "%s/", clause));
	if (at == NULL)
		return false;
	first = (size_t)(func + 1 - clause);
	n = strcspn(at, " \t\n\r{,\"");
	name = memrchr(at, ':', n);
	if (name == NULL || name <= at + strlen(clause))
		return false;
	diag_hint(lx->c->diags,
	    "put a name with a slash in quotes: %.*s\"%.*s\"%.*s", (int)first,
	    at, (int)(name - at - (ptrdiff_t)first), at + first,
	    (int)(at + n - name), name);
	return true;
}

/* ---- statements ---- */

static bool
begins_operand(int token)
{
	switch (token) {
	case IDENT:
	case INT:
	case STRING:
	case AGG:
	case SELF:
	case THIS:
	case SIZEOF:
	case STRINGOF:
	case IF: return true;
	default: return false;
	}
}

static bool
ends_operand(int token)
{
	switch (token) {
	case IDENT:
	case INT:
	case STRING:
	case AGG:
	case INC:
	case DEC:
	case ')':
	case ']': return true;
	default: return false;
	}
}

/* `int x' and `uint64_t x', as C has them in a function. */
static bool
hint_declaration(const struct lexer *lx, int token)
{
	static const char *const words[] = { "auto", "char", "const", "double",
		"enum", "float", "int", "long", "register", "short", "signed",
		"static", "struct", "union", "unsigned", "void", "volatile",
		NULL };
	const char *text = lx->text + lx->statement;
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	if (lx->mode != MODE_CLAUSE || n == 0)
		return false;
	char *first = arena_strndup(&lx->c->cc->arena, text, n);
	if (lx->given == lx->statement ? !is_word(text, n, words) :
					 token != IDENT || lx->prev2 != IDENT ||
		    types_lookup(lx->c->cc->types, first) == NULL)
		return false;
	diag_hint(lx->c->diags,
	    "variables are not declared in a clause: this->x = 0 creates "
	    "one, with the type of the value");
	return true;
}

/* A declaration before a clause or another declaration was not terminated. */
static bool
hint_ended(const struct lexer *lx, int token)
{
	const size_t places[] = { lx->before, lx->given };
	int braces = lx->braces - (token == '{');

	if (lx->mode != MODE_DECL)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const char *text = lx->text + places[i];
		size_t n = clause_begins(text);
		if (n == 0)
			continue;
		diag_hint(lx->c->diags, "%s is missing before %.*s",
		    braces > 0 ? "};" : "a ;", (int)n, text);
		return true;
	}
	return false;
}

/* Two operands without an operator. */
static void
hint_between(const struct lexer *lx, int token)
{
	if (lx->mode == MODE_DECL || !ends_operand(lx->prev2))
		return;
	if (token == '}' || token == ELSE) { /* if (x) trace(1) } */
		diag_hint(lx->c->diags, "a ; is missing before it");
		return;
	}
	if (lx->mode == MODE_OUTER || !begins_operand(token))
		return;
	if (lx->open > 0)
		diag_hint(lx->c->diags, "is a comma missing before it?");
	else if (lx->mode == MODE_CLAUSE)
		diag_hint(lx->c->diags, "is a ; missing before it?");
	else
		diag_hint(lx->c->diags, "is && or || missing before it?");
}

static bool
hint_loop(const struct lexer *lx, const char *text)
{
	static const char *const loops[] = { "for", "while", "do", NULL };

	if (!is_word(text, strlen(text), loops))
		return false;
	diag_hint(lx->c->diags,
	    "D has no loops: a clause runs whenever its probe fires");
	return true;
}

/* A word that was read as a type name, and is none. */
static bool
hint_not_type(const struct lexer *lx)
{
	if (lx->not_type == NULL ||
	    lx->tokens - lx->not_type_at > NOT_TYPE_NEAR)
		return false;
	hint_no_type(lx->c, lx->not_type);
	return true;
}

void
hint_syntax(struct lexer *lx, const char *text)
{
	int token = lx->prev; /* it was given to the parser */

	if (text == NULL)
		(void)(hint_braces(lx) || hint_not_type(lx));
	else if (text[0] == '\0')
		hint_end(lx);
	else if (!hint_path(lx) && !hint_loop(lx, text) &&
	    !hint_bracket(lx, token) && !hint_clause(lx, token) &&
	    !hint_outside(lx, token, text) && !hint_declaration(lx, token) &&
	    !hint_ended(lx, token) && !hint_not_type(lx))
		hint_between(lx, token);
}
