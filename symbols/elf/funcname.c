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
 *	plain			size			shop::put
 *	with parameters					shop::put(int)
 *	with what a copy gets	size.constprop.0	shop::put(int) [clone .isra.0]
 *	and the variant					shop::Box::~Box() [deleting]
 *	the symbol					_ZN4shop3putEi.isra.0
 *
 * Without demangling there are the plain symbol and the symbol; with all of it,
 * no text is without parameters.
 *
 * Symbols at one address are one function, and so are symbols of one name
 * (static functions of several files), which no text tells apart.
 *
 * Invariant: after table_of() nothing moves.
 */
#include <ctype.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "dlang/base/str.h"
#include "symbols/demangle.h"
#include "symbols/elf/parts.h"

enum { LEVELS = 5 };

/* If a name would be longer, the symbol is shown instead. */
#define TEXT_MOST FUNC_NAME_MOST

struct texts {
	struct func_names names; /* first: the result of object_func_names() */
	const char *level[LEVELS];
};

struct funcnames {
	enum func_style style;
	struct arena arena;
	struct texts **of; /* by the index of the symbol; NULL: the symbol's
			    * name */
};

/* ---- copies ---- */

/* Is the last component of the name, from its last `.', a suffix of a copy?
 * `digits': a number follows it. */
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

/* The length of name[0..n) without its last component; n if it has only one. */
static size_t
without_last(const char *name, size_t n)
{
	size_t at = n;

	while (at > 0 && name[at - 1] != '.')
		at--;
	return at > 1 ? at - 1 : n;
}

/* The length of the name without the suffixes of copies. */
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

/* The length of the mangled name itself: a compiler appends suffixes behind a
 * dot. Rust's older names contain dots and end in a number of 16 digits. */
static size_t
mangled_length(const char *name)
{
	static const char hex[] = "0123456789abcdef";

	for (const char *p = strstr(name, "17h"); p != NULL;
	     p = strstr(p + 1, "17h"))
		if (strspn(p + 3, hex) == 16 && p[19] == 'E' &&
		    (p[20] == '.' || p[20] == '\0'))
			return (size_t)(p + 20 - name);
	return strncmp(name, "_GLOBAL_", 8) == 0 ? strlen(name) :
						   strcspn(name, ".");
}

/* Write the suffixes, ".isra.0.constprop.1", in the way of c++filt: " [clone
 * .isra.0] [clone .constprop.1]". */
static void
add_notes(struct str *to, const char *from, const char *end)
{
	while (from < end) {
		const char *p = from + 1;

		while (p < end && (*p != '.' || isdigit((unsigned char)p[1])))
			p++;
		str_add(to, " [clone ");
		str_addn(to, from, (size_t)(p - from));
		str_addc(to, ']');
		from = p;
	}
}

/* The parts of a symbol: the mangled name, what else belongs to the plain name,
 * and the suffixes of a copy. */
struct parts {
	const char *name, *extra, *copy, *end;
};

/* The demangled name with the rest of the symbol up to `end'; NULL if there is
 * none, or it is too long. */
static const char *
readable(struct funcnames *t, const struct parts *p, enum demangle_form form,
    const char *end)
{
	char *mangled = mem_strndup(p->name, (size_t)(p->extra - p->name));
	char buf[TEXT_MOST];
	const char *text = NULL;

	if (demangle_as(mangled, form, buf, sizeof(buf)) &&
	    strlen(buf) < sizeof(buf) - 1) {
		struct str s = { 0 };

		str_add(&s, buf);
		add_notes(&s, p->extra, end);
		text = arena_strdup(&t->arena, str_c(&s));
		str_fini(&s);
	}
	mem_free(mangled);
	return text;
}

struct readings {
	const char *bare, *full, *text; /* of the plain name */
	const char *full_copy, *variant;
};

/* Used without demangling, and for names that are not mangled. */
static void
levels_plain(struct texts *x, const char *plain, const char *symbol)
{
	for (unsigned i = 0; i < LEVELS; i++)
		x->level[i] = i == 0 ? plain : symbol;
}

static void
levels_readable(struct texts *x, enum func_style style,
    const struct readings *r, const char *symbol)
{
	x->level[0] = style == FUNC_FULL ? r->full : r->bare;
	x->level[1] = r->full;
	x->level[2] = r->full_copy;
	x->level[3] = r->variant;
	x->level[4] = symbol;
}

/* False: it is no mangled name. */
static bool
read_name(struct funcnames *t, const struct parts *p, struct readings *r)
{
	const char *variant;

	r->bare = readable(t, p, DEMANGLE_BARE, p->copy);
	if (r->bare == NULL)
		return false;
	r->full = r->full_copy = readable(t, p, DEMANGLE_FULL, p->copy);
	r->text = readable(t, p, DEMANGLE_TEXT, p->copy);
	if (r->full == NULL || r->text == NULL)
		return false;
	if (p->copy != p->end)
		r->full_copy = readable(t, p, DEMANGLE_FULL, p->end);
	variant = demangle_variant(p->name);
	r->variant = variant == NULL ?
	    r->full_copy :
	    arena_printf(&t->arena, "%s [%s]", r->full_copy, variant);
	return true;
}

/* NULL if the text is the symbol itself. */
static struct texts *
texts_of(struct funcnames *t, const struct sym *s)
{
	const char *symbol = s->name, *plain = symbol;
	struct readings r = { 0 };
	struct parts p = { .name = symbol,
		.extra = symbol + mangled_length(symbol),
		.copy = symbol + plain_length(symbol),
		.end = symbol + strlen(symbol) };

	p.extra = MIN(p.extra, p.copy);
	bool mangled = read_name(t, &p, &r);
	if (!mangled && p.copy == p.end)
		return NULL;

	struct texts *x = arena_alloc(&t->arena, sizeof(*x));
	if (p.copy != p.end)
		plain =
		    arena_strndup(&t->arena, symbol, (size_t)(p.copy - symbol));
	levels_plain(x, plain, symbol);
	add_name(&x->names, symbol);
	add_name(&x->names, plain);
	if (!mangled)
		return x;
	add_name(&x->names, r.bare);
	add_name(&x->names, r.full);
	add_name(&x->names, r.text);
	add_name(&x->names, r.full_copy);
	add_name(&x->names, r.variant);
	if (t->style != FUNC_MANGLED)
		levels_readable(x, t->style, &r, symbol);
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

static const char *
shown_at(const struct funcnames *t, size_t i, const struct sym *s)
{
	return t->of[i] != NULL ? t->of[i]->names.shown : s->name;
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

/* Copies at the address of the function, and the two symbols of a constructor,
 * are one function: it has the name of the first. */
static void
agree(struct funcnames *t, const struct sym *syms, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct texts *x = t->of[i];

		for (size_t j = i;
		     x != NULL && j-- > 0 && syms[j].addr == syms[i].addr;)
			if (strcmp(text_at(t, j, &syms[j], 0), x->level[0]) ==
			    0)
				x->names.shown = shown_at(t, j, &syms[j]);
	}
}

static void
funcnames_fini(void *part)
{
	struct funcnames *t = part;

	arena_fini(&t->arena);
	mem_free(t->of);
}

static struct funcnames *
table_of(struct object *o, enum func_style style)
{
	const struct sym *syms;
	size_t n = object_funcs(o, &syms);
	struct funcnames *t = object_part(o, PART_FUNCNAMES);
	bool any = false;

	if (t != NULL && t->style == style)
		return t;
	object_part_drop(o, PART_FUNCNAMES);
	t = object_part_new(o, PART_FUNCNAMES, sizeof(*t), funcnames_fini);
	t->style = style;
	arena_init(&t->arena);
	t->of = mem_zalloc((n + 1) * sizeof(struct texts *));
	for (size_t i = 0; i < n; i++) {
		t->of[i] = texts_of(t, &syms[i]);
		any |= t->of[i] != NULL;
	}
	if (any) {
		choose(t, syms, n);
		agree(t, syms, n);
	}
	return t;
}

const struct func_names *
object_func_names(struct object *o, const struct sym *s, enum func_style style)
{
	const struct sym *syms;
	size_t n = object_funcs(o, &syms);

	if (s < syms || s >= syms + n)
		return NULL;
	const struct texts *x = table_of(o, style)->of[s - syms];
	return x != NULL ? &x->names : NULL;
}
