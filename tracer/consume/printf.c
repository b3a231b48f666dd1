/*
 * Formats with their values: printf(), system(), freopen(), and lines of
 * printa(). fmt.def lists the conversions; this file prints each class of them.
 *
 * Integers are formatted here and not by the C library, because their size and
 * sign come from the record, not from the format.
 */
#include <arpa/inet.h>
#include <locale.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tracer/consume/consume_impl.h"

/* The largest width that is used if the target has chosen it. */
#define PRINTF_MAX_WIDTH 65536
#define PRINTF_NAME      2048

struct render {
	struct printer *p;
	const struct fmt_args *args;
	size_t next; /* of args->recs */
	size_t next_agg;
};

static const struct prog_rec *
render_next(struct render *r, const uint8_t **v)
{
	while (r->next < r->args->nrecs) {
		const struct prog_rec *rec = &r->args->recs[r->next++];
		if (rec->off <= r->args->size &&
		    rec->size <= r->args->size - rec->off) {
			*v = r->args->base + rec->off;
			return rec;
		}
	}
	return NULL;
}

static void
render_text(struct render *r, const struct fmt_conv *c, const char *s, size_t n)
{
	int width = MAX(c->width, 0);

	if (c->prec >= 0)
		n = MIN(n, (size_t)c->prec);
	text_add_padded(r->p, s, n, c->flags & FMT_LEFT ? -width : width);
}

static void
render_name(struct render *r, const struct fmt_conv *c, char *name)
{
	int width = MAX(c->width, 0);

	if (c->prec >= 0 && strlen(name) > (size_t)c->prec)
		name[c->prec] = '\0';
	text_name_padded(r->p, name, c->flags & FMT_LEFT ? -width : width);
}

/* The digits of v, grouped by thousands if this is requested and the locale has
 * a separator. */
static void
render_digits(struct str *to, const struct fmt_conv *c, uint64_t v)
{
	const char *sep =
	    c->flags & FMT_GROUP ? localeconv()->thousands_sep : "";
	char digits[32];

	int n = snprintf(digits, sizeof(digits),
	    c->letter == 'o'                    ? "%llo" :
		c->letter == 'X'                ? "%llX" :
		strchr("px", c->letter) != NULL ? "%llx" :
						  "%llu",
	    (unsigned long long)v);
	for (int i = n; i < c->prec; i++)
		str_addc(to, '0');
	for (int i = 0; i < n; i++) {
		str_addc(to, digits[i]);
		if (strchr("oxXp", c->letter) == NULL && i + 1 < n &&
		    (n - i - 1) % 3 == 0)
			str_add(to, own(sep));
	}
}

static const char *
render_prefix(const struct fmt_conv *c, uint64_t v, bool is_signed, bool neg)
{
	if (neg)
		return "-";
	if (is_signed && c->flags & FMT_PLUS)
		return "+";
	if (is_signed && c->flags & FMT_SPACE)
		return " ";
	if (c->flags & FMT_ALT && v != 0 && c->letter != 0)
		return c->letter == 'X'             ? "0X" :
		    strchr("xp", c->letter) != NULL ? "0x" :
		    c->letter == 'o'                ? "0" :
						      "";
	return "";
}

static void
render_integer(
    struct render *r, const struct fmt_conv *c, uint64_t v, bool is_signed)
{
	bool neg = is_signed && (int64_t)v < 0;
	const char *prefix = render_prefix(c, v, is_signed, neg);
	struct str digits = { 0 };
	int width = MAX(c->width, 0);

	if (c->flags & FMT_PTRW)
		width = MAX(width, 16);
	render_digits(&digits, c, neg ? -v : v);
	size_t len = digits.len + strlen(prefix);
	int pad = width > (int)len ? width - (int)len : 0;
	bool zero =
	    c->flags & FMT_ZERO && !(c->flags & FMT_LEFT) && c->prec < 0;
	if (!(c->flags & FMT_LEFT) && !zero)
		str_printf(r->p->to, "%*s", pad, "");
	str_add(r->p->to, own(prefix));
	for (int i = 0; zero && i < pad; i++)
		str_addc(r->p->to, '0');
	str_add(r->p->to, own(str_c(&digits)));
	if (c->flags & FMT_LEFT)
		str_printf(r->p->to, "%*s", pad, "");
	str_fini(&digits);
}

/* %d and %i: the sign of the argument's type counts. %u, %x and so on:
 * unsigned, and no wider than the argument. The compiler has checked that
 * lengths and types match. */
static void
render_int(struct render *r, const struct fmt_conv *c,
    const struct prog_rec *rec, const uint8_t *v)
{
	uint32_t size = rec->kind == REC_INT ? rec->size : MIN(rec->size, 8);
	bool is_signed = c->class == FMT_SINT && rec->is_signed;

	if (c->mod == FMT_MOD_H)
		size = MIN(size, 2);
	render_integer(r, c,
	    is_signed ? (uint64_t)value_int(v, size) : value_uint(v, size),
	    is_signed);
}

static void
render_char(struct render *r, const struct fmt_conv *c,
    const struct prog_rec *rec, const uint8_t *v)
{
	struct str s = { 0 };

	if (c->letter == 'C')
		text_add_quoted(&s, (const char *)v, 1, '\'');
	else if (c->mod != FMT_MOD_NONE)
		text_add_utf8(&s, (uint32_t)value_uint(v, rec->size));
	else
		str_addc(&s, (char)*v);
	render_text(r, c, str_c(&s), s.len);
	str_fini(&s);
}

/* wchar_t to UTF-8. */
static void
render_wide(struct str *to, const uint8_t *v, size_t size)
{
	for (size_t i = 0; i + 4 <= size; i += 4) {
		uint32_t wide = (uint32_t)value_uint(v + i, 4);
		if (wide == 0)
			break;
		text_add_utf8(to, wide);
	}
}

static void
render_str(struct render *r, const struct fmt_conv *c,
    const struct prog_rec *rec, const uint8_t *v)
{
	size_t len = strnlen((const char *)v, rec->size);
	struct str s = { 0 };

	if (c->mod != FMT_MOD_NONE && rec->kind != REC_STRING)
		render_wide(&s, v, rec->size);
	else if (c->letter == 'S')
		text_add_quoted(&s, (const char *)v, len, '"');
	else
		return render_text(r, c, (const char *)v, len);
	render_text(r, c, str_c(&s), s.len);
	str_fini(&s);
}

/* Only here a format is made at run time: flags and letter come from the
 * parser, and each is copied only if it is in the lists below. */
static void
render_float(struct render *r, const struct fmt_conv *c,
    const struct prog_rec *rec, const uint8_t *v)
{
	/* clang-format off */
	static const struct { unsigned flag; char c; } flags[] = {
		{ FMT_LEFT, '-' }, { FMT_PLUS, '+' }, { FMT_SPACE, ' ' },
		{ FMT_ALT, '#' }, { FMT_ZERO, '0' }, { FMT_GROUP, '\'' },
	};
	/* clang-format on */
	char format[16];
	size_t n = 0;

	format[n++] = '%';
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (c->flags & flags[i].flag)
			format[n++] = flags[i].c;
	memcpy(format + n, "*.*L", 4);
	n += 4;
	format[n++] = strchr("feEgG", c->letter) != NULL ? c->letter : 'f';
	format[n] = '\0';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	str_printf(r->p->to, own(format), MAX(c->width, 0), c->prec,
	    value_float(v, rec->size));
#pragma GCC diagnostic pop
}

static void
render_sym(struct render *r, const struct fmt_conv *c,
    const struct prog_rec *rec, const uint8_t *v)
{
	char name[PRINTF_NAME];

	if (rec->kind >= REC_USYM && rec->kind <= REC_MOD) {
		if (rec->size < sizeof(struct rec_sym))
			return;
		sym_text(r->p, rec->kind, v, name, sizeof(name));
	} else {
		addr_text(r->p, value_uint(v, rec->size), name, sizeof(name));
	}
	render_name(r, c, name);
}

/* The name in /etc/hosts, which gethostent() reads. Names that only a server
 * knows are printed as addresses: a query may take minutes, and the targets
 * would be stopped meanwhile. */
static const char *
render_host_name(int family, const void *addr, size_t len)
{
	const char *name = NULL;
	struct hostent *h;

	sethostent(1);
	while (name == NULL && (h = gethostent()) != NULL)
		for (char **at = h->h_addr_list; *at != NULL; at++)
			if (h->h_addrtype == family &&
			    (size_t)h->h_length == len &&
			    memcmp(*at, addr, len) == 0)
				name = h->h_name;
	endhostent();
	return name;
}

static void
render_host(struct render *r, const struct fmt_conv *c,
    const struct prog_rec *rec, const uint8_t *v)
{
	bool is_text = rec->kind == REC_STRING || rec->kind == REC_CHARS;
	char text[INET6_ADDRSTRLEN] = "";
	uint8_t addr[16];
	int family = rec->size == 4 ? AF_INET : AF_INET6;

	if (is_text) {
		size_t len = strnlen((const char *)v, rec->size);
		if (len < sizeof(text))
			memcpy(text, v, len + 1 <= rec->size ? len + 1 : len);
		family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
		if (inet_pton(family, text, addr) != 1) {
			render_text(r, c, (const char *)v, len);
			return;
		}
	} else if (rec->size == 4 || rec->size == 16) {
		memcpy(addr, v, rec->size);
		inet_ntop(family, addr, text, sizeof(text));
	} else {
		return;
	}
	const char *name =
	    render_host_name(family, addr, family == AF_INET ? 4 : 16);
	if (name == NULL)
		name = text;
	render_text(r, c, name, strlen(name));
}

static void
render_port(struct render *r, const struct fmt_conv *c,
    const struct prog_rec *rec, const uint8_t *v)
{
	uint16_t port = (uint16_t)value_uint(v, rec->size);
	struct servent *s = getservbyport(port, "tcp");
	char text[8];

	if (s == NULL)
		s = getservbyport(port, "udp");
	if (s != NULL) {
		render_text(r, c, s->s_name, strlen(s->s_name));
		return;
	}
	snprintf(text, sizeof(text), "%u", ntohs(port));
	render_text(r, c, text, strlen(text));
}

static void
render_time(struct render *r, const struct fmt_conv *c, uint64_t ns)
{
	time_t sec = (time_t)(ns / 1000000000);
	char text[128] = "";
	struct tm tm;

	if (localtime_r(&sec, &tm) == NULL)
		return;
	if (c->letter == 'Y')
		strftime(text, sizeof(text), "%Y %b %e %H:%M:%S", &tm);
	else
		strftime(text, sizeof(text), "%a, %d %b %G %T %Z", &tm);
	render_text(r, c, text, strlen(text));
}

static void
render_hist(struct render *r, const struct prog_agg *def, const uint64_t *value,
    uint64_t normal)
{
	struct hist_style style = hist_style(r->p->c->env.opts);

	if (!option_get(r->p->c->env.opts, OPT_AGGPACK) ||
	    def->func == AGG_LLQUANTIZE) {
		hist_print(r->p->to, def, value, normal, &style);
		return;
	}
	struct hist_range range = { 0 };
	hist_range_add(&range, def, value);
	hist_pack(r->p->to, def, value, normal, &range, &style);
}

/* The next aggregation, or the last one again. */
static void
render_agg(struct render *r, const struct fmt_conv *c)
{
	const struct fmt_args *a = r->args;

	if (a->naggs == 0)
		return;
	size_t i = MIN(r->next_agg, a->naggs - 1);
	r->next_agg++;
	const struct prog_agg *def = a->defs[i];
	const struct agg_row *row = a->rows[i];
	uint64_t *zero = NULL;
	if (row == NULL)
		zero = mem_zalloc((size_t)def->words * 8);
	const uint64_t *value = row != NULL ? row->value : zero;
	bool empty = row == NULL || row->empty;

	if (agg_is_hist(def)) {
		render_hist(r, def, value, a->normals[i]);
	} else if (c->letter == 'T' || c->letter == 'Y') {
		render_time(r, c,
		    empty ? 0 :
			    (uint64_t)agg_scalar(def, value, a->normals[i]));
	} else {
		struct fmt_conv as = *c;
		if (as.letter == 0)
			as.letter = 'd';
		bool is_signed =
		    strchr("di", as.letter) != NULL && def->func != AGG_COUNT;
		int64_t v = empty ? 0 : agg_scalar(def, value, a->normals[i]);
		if (c->mod == FMT_MOD_H)
			v = is_signed ? (int16_t)v : (uint16_t)v;
		render_integer(r, &as, (uint64_t)v, is_signed);
	}
	mem_free(zero);
}

static void
render_value(struct render *r, const struct fmt_conv *c,
    const struct prog_rec *rec, const uint8_t *v)
{
	if (rec->size == 0)
		return;
	switch (c->class) {
	case FMT_INT:
	case FMT_SINT:
	case FMT_PTR: render_int(r, c, rec, v); break;
	case FMT_CHAR: render_char(r, c, rec, v); break;
	case FMT_STR: render_str(r, c, rec, v); break;
	case FMT_FLOAT: render_float(r, c, rec, v); break;
	case FMT_SYM:
	case FMT_USYM: render_sym(r, c, rec, v); break;
	case FMT_HOST: render_host(r, c, rec, v); break;
	case FMT_PORT: render_port(r, c, rec, v); break;
	case FMT_TIME: render_time(r, c, value_uint(v, rec->size)); break;
	case FMT_STACK: stack_print(r->p, v, rec->size, c->width); break;
	case FMT_AGG: break;
	}
}

/* The conversion, with the arguments in place of its `*'s. */
static struct fmt_conv
render_dynamic(struct render *r, const struct fmt_conv *conv)
{
	struct fmt_conv c = *conv;
	const struct prog_rec *rec;
	const uint8_t *v;

	if (c.dyn_width && (rec = render_next(r, &v)) != NULL) {
		int64_t w = value_int(v, rec->size);
		if (w < 0)
			c.flags |= FMT_LEFT;
		w = w < 0 ? -(w + 1) + 1 : w;
		c.width = (int)MIN(MAX(w, 0), PRINTF_MAX_WIDTH);
	}
	if (c.dyn_prec && (rec = render_next(r, &v)) != NULL) {
		int64_t p = value_int(v, rec->size);
		c.prec = p <= 0 ? -1 : (int)MIN(p, PRINTF_MAX_WIDTH);
	}
	return c;
}

void
printf_render(
    struct printer *p, const struct fmt *f, const struct fmt_args *args)
{
	struct render r = { .p = p, .args = args };

	for (size_t i = 0; i < f->nconvs; i++) {
		const struct prog_rec *rec;
		const uint8_t *v;

		str_addn(
		    p->to, own(f->convs[i].literal), f->convs[i].literal_len);
		struct fmt_conv c = render_dynamic(&r, &f->convs[i]);
		if (c.class == FMT_AGG)
			render_agg(&r, &c);
		else if ((rec = render_next(&r, &v)) != NULL)
			render_value(&r, &c, rec, v);
	}
	str_addn(p->to, own(f->tail), f->tail_len);
}
