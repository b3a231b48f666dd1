/*
 * Hints about mistakes; see hint.h.
 */
#include "dlang/cc/hint.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/nearest.h"
#include "dlang/base/show.h"
#include "dlang/base/str.h"
#include "dlang/cc/cc_impl.h"

#define NAME_MAX_TEXT 160 /* of a type in a message */

/* Up to so many members are listed if none has a similar name; more would not
 * help. */
#define MEMBERS_SHOWN 8

/* ---- names ---- */

/* Names that users of C, awk or other tracers expect. */
static const struct word {
	const char *name, *instead;
} words[] = {
	{ "atoi", "strtoll( ) converts a string to a number" },
	{ "comm", "execname is the name of the program" },
	{ "hist", "quantize( ) is the aggregation by powers of two" },
	{ "kstack", "ustack( ) is the stack of the program" },
	{ "lhist", "lquantize( ) is the aggregation by equal steps" },
	{ "nsecs", "timestamp is the time in nanoseconds" },
	{ "puts", "use printf( ) or trace( )" },
	{ "retval", "arg1 of a return probe is what a function returns" },
	{ "sprintf", "strjoin( ) and lltostr( ) make strings" },
	{ "str", "copyinstr( ) reads a string from the process" },
	{ "strcmp", "strings are compared with == and <" },
	{ "NULL", "a pointer is compared with 0" },
};

static bool
hint_words(struct comp *c, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(words[i].name, name) == 0) {
			diag_hint(c->diags, "%s", words[i].instead);
			return true;
		}
	return false;
}

static bool
is_callable(const struct ident *id)
{
	return id->kind == ID_SUBR || id->kind == ID_ACTION ||
	    id->kind == ID_AGGFUNC;
}

/* Offer the names that the program may use. */
static void
offer_globals(struct comp *c, struct nearest *near, bool callable)
{
	hash_foreach(e, &c->cc->globals) {
		const struct ident *id = e->value;
		if (is_callable(id) == callable &&
		    (id->flags & IDF_KERNEL) == 0 &&
		    strncmp(id->name, "__", 2) != 0 &&
		    strcmp(id->name, near->want) != 0 &&
		    scope_global(c->cc, id->name) != NULL)
			nearest_offer(near, id->name);
	}
}

/* The variable of the traced program, if it has one of that name. */
static bool
hint_foreign(struct comp *c, const char *name)
{
	const struct world *w = c->cc->world;
	struct world_local local = { 0 };
	struct world_symbol sym = { 0 };

	if (c->desc != NULL && w->ops->local != NULL &&
	    w->ops->local(w->ctx, c->desc, name, false, c->cc->types, &local) ==
		0) {
		diag_hint(c->diags,
		    "the variable %s of the traced program is "
		    "local`%s",
		    name, name);
		return true;
	}
	if (w->ops->symbol == NULL ||
	    w->ops->symbol(w->ctx, "", name, c->cc->types, &sym) != 0 ||
	    sym.function)
		return false;
	diag_hint(c->diags, "the variable %s of the traced program is `%s",
	    name, name);
	return true;
}

static const char *
scope_prefix(enum dif_scope scope)
{
	switch (scope) {
	case DIF_THREAD: return "self->";
	case DIF_LOCAL: return "this->";
	case DIF_GLOBAL: break;
	}
	return "";
}

/* Suggest the same name in another scope. */
static bool
hint_scope(struct comp *c, enum dif_scope scope, const char *name)
{
	static const enum dif_scope scopes[] = { DIF_THREAD, DIF_LOCAL,
		DIF_GLOBAL };

	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++) {
		const struct ident *id = scope_lookup(c, scopes[i], name);
		if (scopes[i] == scope || id == NULL || is_callable(id))
			continue;
		diag_hint(c->diags, "did you mean %s%s?",
		    scope_prefix(scopes[i]), name);
		return true;
	}
	return false;
}

static bool
looks_like_type(const char *name)
{
	size_t n = strlen(name);

	return n > 2 && strcmp(name + n - 2, "_t") == 0;
}

int
hint_variable(struct comp *c, enum dif_scope scope, const char *name)
{
	struct nearest near;

	if (hint_scope(c, scope, name) ||
	    (scope == DIF_GLOBAL &&
		(hint_words(c, name) || hint_foreign(c, name))))
		return -EINVAL;
	nearest_init(&near, name);
	if (scope == DIF_GLOBAL) {
		offer_globals(c, &near, false);
		for (size_t i = 0; i < c->nparams; i++)
			nearest_offer(&near, c->params[i]->name);
	} else {
		struct hash *t =
		    scope == DIF_THREAD ? &c->cc->threads : &c->locals;
		hash_foreach(e, t)
			nearest_offer(&near, e->str);
	}
	bool found = nearest_found(&near);
	if (found && scope != DIF_GLOBAL)
		diag_hint(c->diags, "did you mean %s%s?", scope_prefix(scope),
		    near.name[0]);
	diag_nearest(c->diags, &near);
	if (!found && looks_like_type(name))
		return hint_no_type(c, name);
	return found || scope == DIF_GLOBAL ?
	    -EINVAL :
	    diag_hint(c->diags, "assign it in a clause before this one");
}

int
hint_function(struct comp *c, const char *name)
{
	const struct world *w = c->cc->world;
	struct world_symbol sym = { 0 };
	struct nearest near;

	if (hint_words(c, name))
		return -EINVAL;
	nearest_init(&near, name);
	offer_globals(c, &near, true);
	if (nearest_found(&near))
		return diag_nearest(c->diags, &near);
	nearest_fini(&near);
	if (w->ops->symbol != NULL &&
	    w->ops->symbol(w->ctx, "", name, c->cc->types, &sym) == 0 &&
	    sym.function)
		return diag_hint(c->diags,
		    "%s( ) is a function of the traced program and cannot be "
		    "called",
		    name);
	return -EINVAL;
}

int
hint_agg(struct comp *c, const char *name)
{
	struct nearest near;

	nearest_init(&near, name);
	hash_foreach(e, &c->cc->aggs) {
		const struct ident *id = e->value;
		if (id->agg != NULL)
			nearest_offer(&near, id->name);
	}
	if (!nearest_found(&near)) {
		nearest_fini(&near);
		return diag_hint(c->diags,
		    "fill it in a clause before this one: @%s = count( )",
		    strcmp(name, "_") == 0 ? "" : name);
	}
	/* With the @. */
	diag_hint(c->diags, "did you mean @%s?", near.name[0]);
	nearest_fini(&near);
	return -EINVAL;
}

/* Offer the names of all members, including those of unnamed members.  Returns
 * their number. */
static size_t
each_member(const struct type *t, struct nearest *near, struct str *list)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nmembers; i++) {
		const struct type_member *m = &t->members[i];
		const struct type *in = type_resolve(m->type);
		if (m->name != NULL && *m->name != '\0') {
			nearest_offer(near, m->name);
			str_printf(
			    list, "%s%s", list->len > 0 ? ", " : "", m->name);
			n++;
		} else if (in->kind == TYPE_STRUCT || in->kind == TYPE_UNION) {
			n += each_member(in, near, list);
		}
	}
	return n;
}

int
hint_member(struct comp *c, const struct type *t, const char *name)
{
	struct nearest near;
	struct str list = { 0 };

	nearest_init(&near, name);
	size_t n = each_member(t, &near, &list);
	diag_nearest(c->diags, &near);
	if (n > 0 && n <= MEMBERS_SHOWN)
		diag_hint(c->diags, "it has %s", str_c(&list));
	str_fini(&list);
	return -EINVAL;
}

int
hint_conversion(struct comp *c, const struct xlator *x, const char *name)
{
	struct nearest near;
	struct str list = { 0 };
	size_t n = 0;

	nearest_init(&near, name);
	for (const struct node *m = x->members; m != NULL; m = m->next, n++) {
		nearest_offer(&near, m->name);
		str_printf(&list, "%s%s", n > 0 ? ", " : "", m->name);
	}
	diag_nearest(c->diags, &near);
	if (n > 0 && n <= MEMBERS_SHOWN)
		diag_hint(c->diags, "it has %s", str_c(&list));
	str_fini(&list);
	return -EINVAL;
}

/* ---- types, options, words ---- */

static void
offer_type(void *ctx, const char *name)
{
	if (strncmp(name, "__", 2) != 0)
		nearest_offer(ctx, name);
}

int
hint_type(struct comp *c, const char *name)
{
	struct nearest near;

	nearest_init(&near, name);
	types_each_name(c->cc->types, offer_type, &near);
	return diag_nearest(c->diags, &near);
}

int
hint_no_type(struct comp *c, const char *name)
{
	struct nearest near;

	nearest_init(&near, name);
	types_each_name(c->cc->types, offer_type, &near);
	diag_hint(c->diags, "no type %s is known%s", name, nearest_hint(&near));
	nearest_fini(&near);
	return -EINVAL;
}

int
hint_tag(struct comp *c, const char *full)
{
	struct nearest near;

	nearest_init(&near, full);
	types_each_defined(c->cc->types, offer_type, &near);
	bool found = nearest_found(&near);
	diag_nearest(c->diags, &near);
	return found ?
	    -EINVAL :
	    diag_hint(c->diags,
		"neither the program nor the debug information of a traced "
		"process defines it");
}

int
hint_option(struct comp *c, const char *name, int error)
{
	char *hint = option_hint(name, error);

	if (hint != NULL)
		diag_hint(c->diags, "%s", hint);
	mem_free(hint);
	return -EINVAL;
}

int
hint_word(struct comp *c, const char *name, const char *const *list)
{
	struct nearest near;

	nearest_init(&near, name);
	for (; *list != NULL; list++)
		nearest_offer(&near, *list);
	return diag_nearest(c->diags, &near);
}

/* ---- arguments and operands ---- */

/* Suggest the prototype, as "size_t(const char *)", after the name. */
static int
hint_prototype(struct comp *c, const struct ident *id)
{
	const char *list =
	    id->proto_text != NULL ? strchr(id->proto_text, '(') : NULL;

	return list != NULL && strchr(list, '@') == NULL ?
	    diag_hint(c->diags, "write %s%s", id->name, list) :
	    -EINVAL;
}

int
hint_form(struct comp *c, const struct ident *id, const struct proto *p)
{
	char buf[NAME_MAX_TEXT];
	struct str keys = { 0 };

	if (is_callable(id))
		return hint_prototype(c, id);
	if (p == NULL || p->nargs == 0 ||
	    (id->kind != ID_AGG && id->kind != ID_ASSOC))
		return -EINVAL;
	for (size_t i = 0; i < p->nargs; i++)
		str_printf(&keys, "%s%s", i > 0 ? ", " : "",
		    type_name(p->args[i], buf, sizeof(buf)));
	diag_hint(
	    c->diags, "line %d uses it with [%s]", id->line, str_c(&keys));
	str_fini(&keys);
	return -EINVAL;
}

/* The text of the expression in the program, if it is short. */
static const char *
text_of(struct comp *c, const struct node *n, const char *otherwise)
{
	const struct span *at = &n->span;
	int len = at->end_col - at->col;
	const char *line = at->source != NULL ? at->source->text : NULL;

	for (int i = 1; line != NULL && i < at->line; i++) {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	if (line == NULL || at->line < 1 || at->end_line != at->line ||
	    len <= 0 || len > 32 || (int)strcspn(line, "\n") < at->end_col - 1)
		return otherwise;
	return arena_strndup(&c->cc->arena, line + at->col - 1, (size_t)len);
}

/* May it be the address of characters in the traced program? */
static bool
may_be_address(const struct node *n)
{
	const struct type *t = type_resolve(n->type);

	if (type_is_integer(t))
		return n->kind != N_INT && t->size == 8;
	if (t->kind != TYPE_POINTER)
		return false;
	t = type_resolve(t->base);
	return t->kind == TYPE_VOID || (t->kind == TYPE_INT && t->size == 1);
}

/* List the members, as one of them may have been meant. */
static int
hint_members(struct comp *c, const struct node *n)
{
	char buf[NAME_MAX_TEXT];
	const struct type *t = type_resolve(n->type);

	if (t->kind == TYPE_POINTER)
		t = type_resolve(t->base);
	if (t->kind != TYPE_STRUCT && t->kind != TYPE_UNION)
		return -EINVAL;
	struct nearest none;
	struct str list = { 0 };
	nearest_init(&none, "");
	size_t count = each_member(t, &none, &list);
	nearest_fini(&none);
	if (count > 0 && count <= MEMBERS_SHOWN)
		diag_hint(c->diags, "a %s has %s",
		    type_name(t, buf, sizeof(buf)), str_c(&list));
	str_fini(&list);
	return -EINVAL;
}

static int
hint_copyinstr(struct comp *c, const struct node *n)
{
	const char *text = text_of(c, n, "the address");

	return diag_hint(
	    c->diags, "copyinstr(%s) reads the string there", text);
}

int
hint_argument(struct comp *c, const struct node *arg, const struct type *want)
{
	char buf[NAME_MAX_TEXT];
	const struct type *t = type_resolve((struct type *)(uintptr_t)want);
	const char *text = text_of(c, arg, "it");

	if (type_is_stringlike(t) && may_be_address(arg))
		return hint_copyinstr(c, arg);
	hint_members(c, arg);
	if (type_is_stringlike(t) && type_is_integer(arg->type))
		return diag_hint(c->diags,
		    "lltostr(%s) converts a number to a string", text);
	if (type_is_integer(t) && type_is_string(arg->type))
		return want->name != NULL &&
			strcmp(want->name, "uintptr_t") == 0 ?
		    diag_hint(c->diags,
			"%s is a string already, not the address of one",
			text) :
		    diag_hint(c->diags,
			"strtoll(%s) converts a string to a number", text);
	if (t->kind == TYPE_POINTER && type_is_scalar(arg->type))
		return diag_hint(c->diags, "cast it to the type: (%s)%s",
		    type_name(want, buf, sizeof(buf)), text);
	return -EINVAL;
}

int
hint_value(
    struct comp *c, enum fmt_class class, const struct node *arg, bool key)
{
	const struct type *t = type_resolve(arg->type);
	bool number = class == FMT_INT || class == FMT_SINT;

	if (arg->kind == N_AGG)
		return key ?
		    -EINVAL :
		    diag_hint(c->diags,
			"printa(\"%%@d\\n\", %s) prints an aggregation",
			text_of(c, arg, "@"));
	if (number && type_is_stringlike(t))
		return diag_hint(c->diags, "%%s shows a string");
	if (number && t->kind == TYPE_POINTER)
		return diag_hint(c->diags, "%%p shows an address");
	if (class != FMT_STR || !type_is_scalar(t))
		return -EINVAL;
	if (!may_be_address(arg))
		return diag_hint(c->diags, "%%d shows a number");
	return diag_hint(c->diags,
	    "%%d shows a number, copyinstr(%s) reads the string at an address",
	    text_of(c, arg, "x"));
}

int
hint_quotes(
    struct comp *c, unsigned op, const struct node *a, const struct node *b)
{
	if ((op != O_EQ && op != O_NE) || b->kind != N_NAME ||
	    !type_is_string(a->type))
		return -EINVAL;
	return diag_hint(c->diags, "put text in quotes: \"%s\"", b->name);
}

int
hint_call(struct comp *c, const struct ident *id)
{
	return is_callable(id) ?
	    diag_hint(c->diags, "%s( ) calls it", id->name) :
	    -EINVAL;
}

int
hint_step(struct comp *c, const struct node *n)
{
	if (n->kind != N_AGG && (n->kind != N_INDEX || n->a->kind != N_AGG))
		return -EINVAL;
	return diag_hint(c->diags, "%s = count( ) counts in an aggregation",
	    text_of(c, n, "@"));
}

static bool
is_pointer_type(const struct node *n)
{
	return type_resolve(n->type)->kind == TYPE_POINTER;
}

int
hint_operands(
    struct comp *c, unsigned op, const struct node *a, const struct node *b)
{
	bool sa = type_is_string(a->type), sb = type_is_string(b->type);
	char x[NAME_MAX_TEXT], y[NAME_MAX_TEXT];

	if (a->type == NULL || b->type == NULL)
		return -EINVAL;
	if (sa && sb)
		return op == O_ADD ?
		    diag_hint(c->diags, "strjoin(%s, %s) joins them",
			text_of(c, a, "a"), text_of(c, b, "b")) :
		    -EINVAL;
	if ((sa && may_be_address(b)) || (sb && may_be_address(a)))
		return hint_copyinstr(c, sa ? b : a);
	if (op == O_ADD && is_pointer_type(a) && is_pointer_type(b))
		return diag_hint(c->diags,
		    "a number can be added to a pointer, but not another "
		    "pointer");
	hint_members(c, type_is_scalar(a->type) || sa ? b : a);
	const char *ta = text_of(c, a, NULL), *tb = text_of(c, b, NULL);
	if (ta == NULL || tb == NULL || a->kind == N_INT || b->kind == N_INT)
		return -EINVAL;
	return diag_hint(c->diags, "%s is %s, %s is %s", ta,
	    type_name(a->type, x, sizeof(x)), tb,
	    type_name(b->type, y, sizeof(y)));
}

/* ---- macro variables ---- */

/* The highest $n of the program; 0 if there is none. */
static unsigned long
highest_argument(const char *text)
{
	unsigned long most = 0;

	for (const char *p = text; (p = strchr(p, '$')) != NULL;) {
		p += strspn(p, "$");
		if (isdigit((unsigned char)*p))
			most = MAX(most, strtoul(p, NULL, 10));
	}
	return most;
}

int
hint_usage(struct comp *c)
{
	size_t len;
	const char *usage = source_usage(c->in->source, &len);

	if (usage != NULL)
		diag_hint(c->diags, "%.*s", (int)len, usage);
	return -EINVAL;
}

static int
hint_missing(struct comp *c)
{
	unsigned long most = highest_argument(c->in->source->text);
	int given = MAX(c->in->argc - 1, 0);

	hint_usage(c); /* the first hint counts */
	return diag_hint(c->diags,
	    "%s takes %lu argument%s, $1%s%.0lu, but %d given; write %s "
	    "after the options",
	    c->in->level == CC_SCRIPT ? "the script" : "the program", most,
	    most == 1 ? "" : "s", most > 1 ? " to $" : "", most > 1 ? most : 0,
	    given, most == 1 ? "it" : "them");
}

int
hint_macro(struct comp *c, const char *name)
{
	static const char *const names[] = { "target", "pid", "ppid", "pgid",
		"sid", "uid", "euid", "gid", "egid", NULL };

	name += strspn(name, "$");
	if (isdigit((unsigned char)*name))
		return hint_missing(c);
	struct nearest near;
	nearest_init(&near, name);
	for (size_t i = 0; names[i] != NULL; i++)
		nearest_offer(&near, names[i]);
	if (nearest_found(&near))
		diag_hint(c->diags, "did you mean $%s?", near.name[0]);
	nearest_fini(&near);
	return -EINVAL;
}

/* ---- characters ---- */

/* Characters that word processors, web pages and mail put in place of typed
 * ones. */
static const struct pasted {
	uint32_t from, to;
	const char *instead; /* NULL: nothing */
} pasted[] = {
	{ 0x00a0, 0x00a0, "a blank" },
	{ 0x00ab, 0x00ab, "\"" },
	{ 0x00ad, 0x00ad, NULL },
	{ 0x00b4, 0x00b4, "'" },
	{ 0x00bb, 0x00bb, "\"" },
	{ 0x00d7, 0x00d7, "*" },
	{ 0x00f7, 0x00f7, "/" },
	{ 0x2000, 0x200a, "a blank" },
	{ 0x200b, 0x200f, NULL },
	{ 0x2010, 0x2015, "-" },
	{ 0x2018, 0x201b, "'" },
	{ 0x201c, 0x201f, "\"" },
	{ 0x2026, 0x2026, "..." },
	{ 0x2028, 0x2029, "a newline" },
	{ 0x202a, 0x202e, NULL },
	{ 0x202f, 0x202f, "a blank" },
	{ 0x2192, 0x2192, "->" },
	{ 0x2212, 0x2212, "-" },
	{ 0x2260, 0x2260, "!=" },
	{ 0x2264, 0x2264, "<=" },
	{ 0x2265, 0x2265, ">=" },
	{ 0x3000, 0x3000, "a blank" },
	{ 0xfeff, 0xfeff, NULL },
};

int
hint_character(struct comp *c, const struct span *at, const char *s, size_t n)
{
	size_t len;
	uint32_t code = show_decode(s, n, &len);

	if (code == SHOW_NONE || code < 0x80)
		return diag_error(c->diags, D_SYNTAX, at,
		    "syntax error near \"%.*s\"", (int)len, s);
	diag_error(c->diags, D_SYNTAX, at,
	    "syntax error near \"%.*s\" (U+%04X)", (int)len, s, code);
	for (size_t i = 0; i < ARRAY_SIZE(pasted); i++)
		if (code >= pasted[i].from && code <= pasted[i].to)
			return pasted[i].instead != NULL ?
			    diag_hint(c->diags, "write %s", pasted[i].instead) :
			    diag_hint(c->diags, "remove it");
	return diag_hint(
	    c->diags, "it is allowed only in strings and comments");
}
