/*
 * Format strings of printf(), printa(), system() and freopen(), taken apart
 * once, at compile time.  Which letters exist and what they take is fmt.def;
 * which length modifiers go with which letter is the table below.
 */
#include "dlang/fmt.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/str.h"
#include "dlang/base/vec.h"

/* Above any width that makes sense, far below what would hurt. */
#define FMT_MAX_WIDTH (1 << 24)

/* What can print the value of an aggregation. */
#define FMT_AGG_LETTERS "dioxXuTY"

static const struct fmt_row {
	char letter;
	enum fmt_class class;
} fmt_rows[] = {
#define FMT_CONV(letter, class) { letter, FMT_##class },
#include "dlang/fmt.def"
#undef FMT_CONV
};

/* clang-format off */
static const struct fmt_mod_row {
	const char *text;
	enum fmt_mod mod;
	const char *letters; /* with which it may stand */
} fmt_mods[] = {
	{ "ll", FMT_MOD_LL, "dioxXu" }, /* before "l" */
	{ "l",  FMT_MOD_L,  "dioxXucs" },
	{ "h",  FMT_MOD_H,  "dioxXu" },
	{ "L",  FMT_MOD_LD, "feEgG" },
	{ "w",  FMT_MOD_W,  "cs" },
};
/* clang-format on */

struct fmt_parser {
	struct arena *arena;
	const char *p; /* what comes next */
	size_t number; /* of the conversion being parsed, from 1 */
	const char **error;
	VEC(char) literal;
	VEC(struct fmt_conv) convs;
};

static int PRINTF_LIKE(2, 3)
    fmt_error(struct fmt_parser *ps, const char *how, ...)
{
	va_list ap;
	struct str s = { 0 };

	va_start(ap, how);
	str_vprintf(&s, how, ap);
	va_end(ap);
	*ps->error = arena_printf(
	    ps->arena, "format conversion #%zu %s", ps->number, str_c(&s));
	str_fini(&s);
	return -EINVAL;
}

static char *
fmt_take_literal(struct fmt_parser *ps, size_t *len)
{
	char *s = arena_strndup(ps->arena,
	    ps->literal.len != 0 ? ps->literal.at : "", ps->literal.len);
	*len = ps->literal.len;
	vec_clear(&ps->literal);
	return s;
}

static unsigned
fmt_flag(char c)
{
	switch (c) {
	case '-': return FMT_LEFT;
	case '+': return FMT_PLUS;
	case ' ': return FMT_SPACE;
	case '#': return FMT_ALT;
	case '0': return FMT_ZERO;
	case '\'': return FMT_GROUP;
	case '?': return FMT_PTRW;
	}
	return 0;
}

static const struct fmt_row *
fmt_row(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(fmt_rows); i++)
		if (fmt_rows[i].letter == letter)
			return &fmt_rows[i];
	return NULL;
}

/* `*', digits, or nothing. */
static int
fmt_number(struct fmt_parser *ps, int *value, bool *dyn, const char *what)
{
	if (*ps->p == '*') {
		*dyn = true;
		if (*++ps->p == '*')
			return fmt_error(ps,
			    "has more than one '*' specified for the output %s",
			    what);
		return 0;
	}
	long n = 0;
	while (isdigit((unsigned char)*ps->p)) {
		n = n * 10 + (*ps->p++ - '0');
		if (n > FMT_MAX_WIDTH)
			return fmt_error(
			    ps, "has a %s larger than %d", what, FMT_MAX_WIDTH);
	}
	*value = (int)n;
	return 0;
}

/* After `%@': is what follows no conversion, so that `%@' stands alone? */
static bool
fmt_agg_is_bare(const char *p)
{
	/* A blank flag would make most sentences conversions. */
	if (*p == ' ')
		return true;
	p += strspn(p, "-+#0'?");
	p += strspn(p, "0123456789*");
	if (*p == '.')
		p += 1 + strspn(p + 1, "0123456789*");
	p += strspn(p, "hlLw");
	return *p == '\0' || strchr(FMT_AGG_LETTERS, *p) == NULL;
}

static int
fmt_modifier(struct fmt_parser *ps, struct fmt_conv *c)
{
	const struct fmt_mod_row *row = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(fmt_mods) && row == NULL; i++)
		if (strncmp(
			ps->p, fmt_mods[i].text, strlen(fmt_mods[i].text)) == 0)
			row = &fmt_mods[i];
	if (row == NULL)
		return 0;
	ps->p += strlen(row->text);
	if (*ps->p != '\0' && fmt_row(*ps->p) != NULL &&
	    strchr(row->letters, *ps->p) == NULL)
		return fmt_error(ps, "cannot have length \"%s\" before %%%c",
		    row->text, *ps->p);
	c->mod = row->mod;
	return 0;
}

static int
fmt_letter(struct fmt_parser *ps, struct fmt_conv *c, bool agg)
{
	char letter = *ps->p;
	const struct fmt_row *row = fmt_row(letter);

	if (letter == '\0')
		return fmt_error(
		    ps, "name expected before end of format string");
	if (letter == '%')
		return fmt_error(
		    ps, "cannot be combined with other format flags: %%%%");
	if (letter == '.')
		return fmt_error(ps, "has more than one '.' specified");
	if (letter == '$' ||
	    (isdigit((unsigned char)letter) &&
		ps->p[strspn(ps->p, "0123456789")] == '$'))
		return fmt_error(
		    ps, "uses unsupported positional format (%%n$)");
	if (row == NULL && isprint((unsigned char)letter))
		return fmt_error(ps, "is undefined: %%%c", letter);
	if (row == NULL)
		return fmt_error(
		    ps, "is undefined: %%\\%03o", (unsigned char)letter);
	if (agg && strchr(FMT_AGG_LETTERS, letter) == NULL)
		return fmt_error(
		    ps, "cannot print an aggregation: %%@%c", letter);
	c->letter = letter;
	c->class = agg ? FMT_AGG : row->class;
	ps->p++;
	return 0;
}

/* ps->p is after the `%'. */
static int
fmt_conversion(struct fmt_parser *ps, struct fmt_conv *c)
{
	bool agg = false;
	int r;

	for (;; ps->p++) {
		if (*ps->p == '@') {
			agg = true;
			if (fmt_agg_is_bare(ps->p + 1)) {
				c->class = FMT_AGG;
				ps->p++;
				return 0;
			}
		} else if (fmt_flag(*ps->p) != 0) {
			c->flags |= fmt_flag(*ps->p);
		} else {
			break;
		}
	}
	if (*ps->p == '*' || isdigit((unsigned char)*ps->p))
		if ((r = fmt_number(ps, &c->width, &c->dyn_width, "width")))
			return r;
	if (*ps->p == '@') { /* `%8@d' as well as `%@8d' */
		agg = true;
		ps->p++;
	}
	if (*ps->p == '.') {
		ps->p++;
		r = fmt_number(ps, &c->prec, &c->dyn_prec, "precision");
		if (r != 0)
			return r;
		if (c->prec == 0) /* every DTrace takes it for none */
			c->prec = -1;
	}
	if ((r = fmt_modifier(ps, c)) != 0)
		return r;
	return fmt_letter(ps, c, agg);
}

static int
fmt_scan(struct fmt_parser *ps)
{
	while (*ps->p != '\0') {
		if (*ps->p != '%') {
			*vec_push(&ps->literal) = *ps->p++;
			continue;
		}
		if (ps->p[1] == '%') {
			*vec_push(&ps->literal) = '%';
			ps->p += 2;
			continue;
		}
		struct fmt_conv c = { .width = -1, .prec = -1 };
		ps->number++;
		ps->p++;
		int r = fmt_conversion(ps, &c);
		if (r != 0)
			return r;
		c.literal = fmt_take_literal(ps, &c.literal_len);
		*vec_push(&ps->convs) = c;
	}
	return 0;
}

int
fmt_parse(
    struct arena *a, const char *text, struct fmt **out, const char **error)
{
	struct fmt_parser ps = {
		.arena = a,
		.p = text,
		.error = error,
	};
	int r = fmt_scan(&ps);

	if (r == 0) {
		struct fmt *f = arena_alloc(a, sizeof(*f));
		f->text = arena_strdup(a, text);
		f->nconvs = ps.convs.len;
		f->convs = arena_alloc(a, f->nconvs * sizeof(f->convs[0]));
		if (f->nconvs != 0)
			memcpy(f->convs, ps.convs.at,
			    f->nconvs * sizeof(f->convs[0]));
		f->tail = fmt_take_literal(&ps, &f->tail_len);
		*out = f;
	}
	vec_fini(&ps.literal);
	vec_fini(&ps.convs);
	return r;
}
