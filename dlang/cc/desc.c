/*
 * Parses probe descriptions.
 *
 *	provider:module:function:name
 *
 * Fields are assigned from the right; the last one is the field that the level
 * names.  Fields that are left out on the left are empty.  A field in quotes is
 * one field whatever it contains: "shop::*". Inside, a backslash removes the
 * meaning of `"' and `$', as it removes that of glob characters everywhere.
 *
 * Names of C++ and Rust functions contain colons.  Without quotes, two adjacent
 * colons belong to the name if they cannot separate fields.  If they can, there
 * are two readings, of which one may match:
 *
 *	pid1:a.out:shop::put:entry	function shop::put
 *	shop::put:entry			function put of provider shop, or
 *					function shop::put
 *
 * If a description begins with the name of a provider, nothing can precede
 * that, so syscall::read:entry has one reading.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/glob.h"
#include "dlang/cc/cc_impl.h"
#include "dlang/prog.h"

/* Field sizes of a description, including the NUL. In DTrace, functions have
 * 192, which is too short for C++, and modules 64, which is too short for a
 * path. */
static const size_t field_max[4] = { 64, 4096, 4096, 64 };
static const char *const field_name[4] = { "provider", "module", "function",
	"name" };

static int
bad_desc(struct comp *c, const struct node *n, const char *why)
{
	return comp_error(c, D_PDESC_INVAL, n,
	    "invalid probe description \"%s\": %s", n->name, why);
}

/* ---- text ---- */

/* The description with the values of its macro variables, without quotes. */
struct desc_text {
	struct str s;
	struct str
	    marks; /* a QUOTED for each character of s that was, or ' ' */
};

#define QUOTED '"'

static void
text_mark(struct desc_text *t, bool quoted)
{
	while (t->marks.len < t->s.len)
		str_addc(&t->marks, quoted ? QUOTED : ' ');
}

/* Append the value of `$name' or `$n' (s is without the `$'). Returns the
 * number of characters used, or 0 if it is not defined. */
static size_t
expand_macro(struct comp *c, const char *s, struct str *out)
{
	const struct world *w = c->cc->world;
	size_t len = 0;
	int64_t value;

	if (isdigit((unsigned char)*s)) {
		char *end;
		unsigned long n = strtoul(s, &end, 10);
		if (n < INT32_MAX)
			c->args_used = MAX(c->args_used, n + 1);
		if (n < (unsigned long)c->in->argc)
			str_add(out, c->in->argv[n]);
		else if (option_get(c->cc->opts, OPT_DEFAULTARGS) == 0)
			return 0;
		return (size_t)(end - s);
	}
	while (isalnum((unsigned char)s[len]) || s[len] == '_')
		len++;
	char *name = arena_strndup(&c->cc->arena, s, len);
	if (len == 0 || w->ops->macro == NULL ||
	    w->ops->macro(w->ctx, name, &value) != 0)
		return 0;
	str_printf(out, "%ld", (long)value);
	return len;
}

/* There is a dollar at p: append its value.  Returns the number of characters
 * used, or 0. */
static size_t
expand_dollar(struct comp *c, const char *p, struct str *out)
{
	size_t dollars = p[1] == '$' ? 2 : 1;
	size_t used = expand_macro(c, p + dollars, out);

	return used > 0 ? dollars + used : 0;
}

/* Is there $target at p, although no process was launched or attached to? */
static bool
is_no_target(struct comp *c, const char *p)
{
	static const char name[] = "target";
	const struct world *w = c->cc->world;
	int64_t value;

	p += strspn(p, "$");
	return strncmp(p, name, sizeof(name) - 1) == 0 &&
	    !isalnum((unsigned char)p[sizeof(name) - 1]) &&
	    w->ops->macro(w->ctx, name, &value) == 0 && value == 0;
}

/* Is there $target at p, and does it mean a set of processes?  Returns the length
 * of the word. */
static size_t
set_length(struct comp *c, const char *p)
{
	static const char name[] = "$target";
	const struct world *w = c->cc->world;
	size_t n = sizeof(name) - 1;
	int64_t set = 0;

	if (strncmp(p, name, n) != 0 || isalnum((unsigned char)p[n]) ||
	    p[n] == '_' || w->ops->macro(w->ctx, "target set", &set) != 0 ||
	    set == 0)
		return 0;
	return n;
}

/* The length of a dollar, or two, and a name or a number. */
static size_t
macro_length(const char *p)
{
	size_t n = strspn(p, "$");

	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return n;
}

static int
expand(struct comp *c, const struct node *n, struct desc_text *out)
{
	bool quoted = false;

	for (const char *p = n->name; *p != '\0'; text_mark(out, quoted)) {
		size_t set = *p == '$' ? set_length(c, p) : 0;
		if (set > 0) { /* any of those that are traced */
			str_addc(&out->s, '*');
			p += set;
			continue;
		}
		size_t used = *p == '$' ? expand_dollar(c, p, &out->s) : 0;

		if (used > 0 && is_no_target(c, p)) {
			comp_error(c, D_PDESC_INVAL, n,
			    "$target is the process of -c or -p, and neither "
			    "is given");
			return hint_usage(c);
		} else if (used > 0) {
			p += used;
		} else if (*p == '"') {
			quoted = !quoted;
			p++;
			/* An empty field in quotes is empty. */
		} else if (*p == '$' && !quoted) {
			bad_desc(c, n,
			    "Undefined macro variable in probe description");
			return hint_macro(c,
			    arena_strndup(&c->cc->arena, p, macro_length(p)));
		} else if (*p == '\\' && quoted && p[1] != '\0') {
			if (p[1] != '"' && p[1] != '$')
				str_addc(&out->s, '\\');
			str_addc(&out->s, p[1]);
			p += 2;
		} else {
			str_addc(&out->s, *p++);
		}
	}
	return 0;
}

/* ---- fields ---- */

struct part {
	size_t from, len;
	bool quoted; /* part of it is quoted */
};

struct parts {
	VEC(struct part) list;
	const char *text;
	unsigned last; /* of the four fields: what the level says */
};

/* Split the text at colons that are not quoted. */
static void
parts_find(struct parts *ps, const struct desc_text *t, size_t from)
{
	struct part part = { .from = from };

	ps->text = str_c(&t->s);
	for (size_t i = from; i <= t->s.len; i++) {
		if (i < t->s.len &&
		    (ps->text[i] != ':' || t->marks.s[i] == QUOTED)) {
			part.quoted |= t->marks.s[i] == QUOTED;
			continue;
		}
		part.len = i - part.from;
		*vec_push(&ps->list) = part;
		part = (struct part){ .from = i + 1 };
	}
	/* An empty part to the left of the provider is ignored. */
	if (ps->list.len == ps->last + 2 && ps->list.at[0].len == 0) {
		for (size_t i = 1; i < ps->list.len; i++)
			ps->list.at[i - 1] = ps->list.at[i];
		ps->list.len--;
	}
}

/* A reading: the `func' parts from `at' on are the function; each other part is
 * a field.  func is 1 if all colons are separators. */
struct reading {
	size_t at, func;
};

static int
reading_desc(struct comp *c, const struct node *n, const struct parts *ps,
    struct reading r, struct probe_desc *out)
{
	const char *f[4] = { "", "", "", "" };
	size_t count = ps->list.len - (r.func - 1);
	size_t field = ps->last + 1 - count;

	for (size_t i = 0; i < ps->list.len; field++) {
		bool func = r.func > 1 && i == r.at;
		const struct part *p = &ps->list.at[i];
		i += func ? r.func : 1;
		const struct part *end = &ps->list.at[i - 1];
		size_t len = end->from + end->len - p->from;
		if (len >= field_max[field])
			return comp_error(c, D_PDESC_INVAL, n,
			    "invalid probe description \"%s\": %s field is "
			    "too long",
			    n->name, field_name[field]);
		f[field] =
		    arena_strndup(&c->prog->arena, ps->text + p->from, len);
	}
	*out = (struct probe_desc){ f[0], f[1], f[2], f[3], 0, false };
	/* $target makes sense in the provider's field alone. */
	out->family = *f[0] == '\0' || glob_is(f[0]) ||
	    strstr(n->name, "$target") != NULL;
	return 0;
}

/* Do these parts form a name with `::'? */
static bool
is_scoped_name(const struct parts *ps, size_t at, size_t n)
{
	if (n < 3 || n % 2 == 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct part *p = &ps->list.at[at + i];

		if (p->quoted || (p->len == 0) != (i % 2 == 1))
			return false;
	}
	return true;
}

static bool
begins_with_provider(struct comp *c, const struct parts *ps)
{
	const struct world *w = c->cc->world;
	const struct part *p = &ps->list.at[0];

	return w->ops->provider != NULL &&
	    w->ops->provider(w->ctx,
		arena_strndup(&c->cc->arena, ps->text + p->from, p->len));
}

#define DESC_READINGS 4

struct desc_readings {
	struct probe_desc at[DESC_READINGS];
	size_t n;
};

/* Add to out[n] the readings whose function contains `::'. Returns the number
 * of all readings. */
static size_t
scoped_readings(
    struct comp *c, const struct parts *ps, struct reading *out, size_t n)
{
	size_t behind = ps->last == 3; /* the name */
	size_t end = ps->list.len - behind;

	if (ps->last < 2 || ps->list.len <= behind)
		return n;
	for (size_t at = 0; at <= 2 && at < end && n < DESC_READINGS; at++)
		if (is_scoped_name(ps, at, end - at) &&
		    (at == 2 || !begins_with_provider(c, ps)))
			out[n++] = (struct reading){ at, end - at };
	return n;
}

/* Has the text two colons that may be those of a name, and no others there? */
static bool
has_scope(const char *text)
{
	const char *p = text;

	while ((p = strstr(p, "::")) != NULL) {
		size_t n = strspn(p, ":");
		if (n == 2 && p > text && p[n] != '\0')
			return true;
		p += n;
	}
	return false;
}

static int
overspecified(struct comp *c, const struct node *n)
{
	return bad_desc(c, n,
	    !has_scope(n->name) ?
		"Overspecified probe description" :
		"Overspecified probe description (put a name with colons in "
		"quotes: provider:module:\"a::b\":name)");
}

/* Find the readings of the text from `from' on. */
static int
read_fields(struct comp *c, const struct node *n, const struct desc_text *t,
    size_t from, struct desc_readings *out)
{
	struct parts ps = { .last = c->in->level == CC_PROV ? 0 :
		    c->in->level == CC_MOD                  ? 1 :
		    c->in->level == CC_FUNC                 ? 2 :
							      3 };
	struct reading r[DESC_READINGS];
	size_t count = 0;
	int error = 0;

	parts_find(&ps, t, from);
	if (ps.list.len <= ps.last + 1)
		r[count++] = (struct reading){ 0, 1 };
	count = scoped_readings(c, &ps, r, count);
	if (count == 0)
		error = overspecified(c, n);
	for (size_t i = 0; error == 0 && i < count; i++)
		error = reading_desc(c, n, &ps, r[i], &out->at[i]);
	out->n = count;
	vec_fini(&ps.list);
	return error;
}

static int
read_number(struct comp *c, const struct node *n, const struct desc_text *t,
    struct desc_readings *out)
{
	enum cc_level level = c->in->level;
	const char *text = str_c(&t->s);
	char *end;

	errno = 0;
	unsigned long id = strtoul(text, &end, 0);
	/* A description that only begins with a number is one by name. */
	if (*end != '\0' && id != 0)
		return read_fields(c, n, t, (size_t)(end - text), out);
	if (level == CC_PROV || level == CC_MOD || level == CC_FUNC)
		return comp_error(c, D_PDESC_INVAL, n,
		    "probe identifier %lu not permitted when specifying %ss",
		    id, field_name[level]);
	if (errno != 0 || id > UINT32_MAX)
		return comp_error(c, D_PDESC_INVAL, n,
		    "identifier %lu exceeds maximum probe id", id);
	if (id == 0)
		return comp_error(c, D_PDESC_INVAL, n,
		    "invalid probe identifier %lu: Unknown probe identifier",
		    id);
	out->at[0] = (struct probe_desc){ "", "", "", "", (uint32_t)id, true };
	out->n = 1;
	return 0;
}

/* All possible readings of a description, at least one.  0, or -EINVAL after a
 * diagnostic. */
static int
desc_read(struct comp *c, const struct node *n, struct desc_readings *out)
{
	struct desc_text t = { 0 };
	int error = expand(c, n, &t);

	if (error == 0) {
		const char *s = str_c(&t.s);
		if (isdigit((unsigned char)s[0]) && strchr(s, ':') == NULL &&
		    str_c(&t.marks)[0] != QUOTED)
			error = read_number(c, n, &t, out);
		else
			error = read_fields(c, n, &t, 0, out);
	}
	str_fini(&t.s);
	str_fini(&t.marks);
	return error;
}

/* ---- which reading ---- */

static int
several_match(
    struct comp *c, const struct node *n, const struct desc_readings *r)
{
	char *first = probe_desc_text(&r->at[0], true);
	char *second = probe_desc_text(&r->at[1], true);

	comp_error(c, D_PDESC_INVAL, n,
	    "probe description \"%s\" may be read in two ways: %s or %s",
	    n->name, first, second);
	mem_free(first);
	mem_free(second);
	return -EINVAL;
}

/* Give the hint for the reading with the longest function, if there is one. */
static int
hint_unmatched(struct comp *c, const struct desc_readings *r)
{
	const struct world *w = c->cc->world;
	struct str why = { 0 };

	for (size_t i = r->n;
	     i-- > 0 && w->ops->unmatched != NULL && why.len == 0;)
		w->ops->unmatched(w->ctx, &r->at[i], &why);
	if (why.len > 0)
		diag_hint(c->diags, "%s", str_c(&why));
	str_fini(&why);
	return -EINVAL;
}

static int
none_matches(
    struct comp *c, const struct node *n, const struct desc_readings *r)
{
	char *first = probe_desc_text(&r->at[0], r->n > 1);
	char *second = r->n > 1 ? probe_desc_text(&r->at[1], true) : NULL;

	if (r->at[0].id != 0)
		comp_error(c, D_PDESC_INVAL, n,
		    "invalid probe identifier %u: Unknown probe identifier",
		    r->at[0].id);
	else
		comp_error(c, D_PDESC_ZERO, n,
		    "probe description %s%s%s does not match any probes", first,
		    second != NULL ? " or " : "", second != NULL ? second : "");
	mem_free(first);
	mem_free(second);
	return hint_unmatched(c, r);
}

int
desc_match(struct comp *c, struct node *n, struct probe_desc *out, bool *none)
{
	const struct world *w = c->cc->world;
	struct desc_readings r = { 0 };
	size_t found = SIZE_MAX;

	if (desc_read(c, n, &r) != 0)
		return -EINVAL;
	for (size_t i = 0; i < r.n; i++) {
		int64_t count =
		    w->ops->probes(w->ctx, &r.at[i], &n->span, c->diags);
		if (count < 0 && !c->diags->any)
			comp_error(c, D_PDESC_INVAL, n,
			    "invalid probe description \"%s\": %s", n->name,
			    strerror((int)-count));
		if (count < 0)
			return -EINVAL;
		if (count > 0 && found != SIZE_MAX)
			return several_match(c, n, &r);
		if (count > 0)
			found = i;
		c->prog->matched += (uint64_t)count;
	}
	if (found == SIZE_MAX &&
	    (r.at[0].id != 0 || option_get(c->cc->opts, OPT_ZDEFS) == 0))
		return none_matches(c, n, &r);
	*none = found == SIZE_MAX;
	*out = r.at[found == SIZE_MAX ? 0 : found];
	return 0;
}
