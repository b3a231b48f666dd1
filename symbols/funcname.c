/*
 * What functions are called where they are shown, and what else they answer to.
 *
 * A compiler that makes a copy of a function to suit its callers adds to the
 * name: size.constprop.0, size.isra.0.constprop.1.  Who writes `size' in a
 * description means the copies, too.
 *
 * A function has a list of texts, each saying more than the one before; it is
 * shown by the first that means it alone among the functions of its object:
 *
 *	the name without what a compiler has added	size
 *	the symbol					size.constprop.0
 *
 * Symbols at one address are one function, and so are symbols of one name
 * (static functions of several files), which no text tells apart.
 *
 * Invariant: after table_of() nothing moves.
 */
#include <ctype.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "symbols/object_impl.h"

enum { LEVELS = 2 };

struct texts {
	struct func_names names; /* first: what object_func_names() gives */
	const char *level[LEVELS];
};

struct funcnames {
	struct arena arena;
	struct texts **of; /* by the index of the symbol; NULL: its name */
};

/* ---- copies ---- */

/* Is the name's end, from its last `.' on, one that a copy gets?  `digits': a
 * number stands behind it. */
static bool
is_copy_word(const char *word, size_t n, bool digits)
{
	static const struct {
		const char *word;
		bool bare; /* also without a number */
	} rows[] = {
		{ "constprop", false },
		{ "isra", false },
		{ "lto_priv", false },
		{ "llvm", false },
		{ "localalias", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strlen(rows[i].word) == n &&
		    strncmp(rows[i].word, word, n) == 0)
			return digits || rows[i].bare;
	return false;
}

/* How much of name[0..n) is left without its last component; n if it has but
 * one. */
static size_t
without_last(const char *name, size_t n)
{
	size_t at = n;

	while (at > 0 && name[at - 1] != '.')
		at--;
	return at > 1 ? at - 1 : n;
}

/* The length of the name without what copies get. */
static size_t
plain_length(const char *name)
{
	size_t len = strlen(name);

	for (;;) {
		size_t end = len, word = without_last(name, len);
		bool digits = word < len &&
		    strspn(name + word + 1, "0123456789") == len - word - 1;

		if (digits && len - word > 1) {
			end = word;
			word = without_last(name, end);
		} else {
			digits = false;
		}
		if (word == end ||
		    !is_copy_word(name + word + 1, end - word - 1, digits))
			return len;
		len = word;
	}
}

/* ---- a function's texts ---- */

static void
add_name(struct func_names *n, const char *name)
{
	unsigned i = 0;

	for (; n->all[i] != NULL; i++)
		if (strcmp(n->all[i], name) == 0)
			return;
	n->all[i] = name;
}

/* NULL where the symbol says it all. */
static struct texts *
texts_of(struct funcnames *t, const struct sym *s)
{
	size_t len = plain_length(s->name);

	if (s->name[len] == '\0')
		return NULL;
	struct texts *x = arena_alloc(&t->arena, sizeof(*x));
	x->level[0] = arena_strndup(&t->arena, s->name, len);
	x->level[1] = s->name;
	for (unsigned i = 0; i < LEVELS; i++)
		add_name(&x->names, x->level[i]);
	return x;
}

/* ---- which of them means one function ---- */

static struct sym several;

static const char *
text_at(
    const struct funcnames *t, size_t i, const struct sym *s, unsigned level)
{
	return t->of[i] != NULL ? t->of[i]->level[level] : s->name;
}

/* by_text has the first symbol with each text, or `several'. */
static void
text_note(struct hash *by_text, const char *text, const struct sym *s)
{
	const struct sym *first = hash_get_str(by_text, text);

	if (first == NULL)
		hash_set_str(by_text, text, (void *)(uintptr_t)s);
	else if (first != &several && first->addr != s->addr &&
	    strcmp(first->name, s->name) != 0)
		hash_set_str(by_text, text, &several);
}

/* Names without a choice take part: they may be another's text. */
static bool
is_chosen(const struct funcnames *t, size_t i)
{
	return t->of[i] != NULL && t->of[i]->names.shown != NULL;
}

static void
choose(struct funcnames *t, const struct sym *syms, size_t n)
{
	for (unsigned level = 0; level < LEVELS; level++) {
		struct hash by_text = { 0 };

		for (size_t i = 0; i < n; i++)
			if (!is_chosen(t, i))
				text_note(&by_text,
				    text_at(t, i, &syms[i], level), &syms[i]);
		for (size_t i = 0; i < n; i++) {
			const char *text = text_at(t, i, &syms[i], level);

			if (t->of[i] != NULL && !is_chosen(t, i) &&
			    (level == LEVELS - 1 ||
				hash_get_str(&by_text, text) != &several))
				t->of[i]->names.shown = text;
		}
		hash_fini(&by_text);
	}
}

static struct funcnames *
table_of(struct object *o)
{
	const struct sym *syms;
	size_t n = object_funcs(o, &syms);
	struct funcnames *t = o->funcnames;
	bool any = false;

	if (t != NULL)
		return t;
	t = o->funcnames = mem_zalloc(sizeof(*t));
	arena_init(&t->arena);
	t->of = mem_zalloc((n + 1) * sizeof(struct texts *));
	for (size_t i = 0; i < n; i++) {
		t->of[i] = texts_of(t, &syms[i]);
		any |= t->of[i] != NULL;
	}
	if (any)
		choose(t, syms, n);
	return t;
}

void
funcnames_destroy(struct funcnames *t)
{
	if (t == NULL)
		return;
	arena_fini(&t->arena);
	mem_free(t->of);
	mem_free(t);
}

const struct func_names *
object_func_names(struct object *o, const struct sym *s)
{
	const struct sym *syms;
	size_t n = object_funcs(o, &syms);

	if (s < syms || s >= syms + n)
		return NULL;
	const struct texts *x = table_of(o)->of[s - syms];
	return x != NULL ? &x->names : NULL;
}
