/*
 * Values, statements and aggregations as JSON; see json.h.  Names of members
 * are those of FreeBSD's dtrace where it has one (doc/json.md).
 */
#include "tracer/consume/json.h"

#include <math.h>
#include <string.h>

#include "symbols/langname.h"

#define JSON_NAME 2048 /* a symbol's; longer ones are cut */

void
json_int(struct str *to, const struct prog_rec *rec, const void *v)
{
	if (rec->is_signed)
		str_printf(to, "%lld", (long long)value_int(v, rec->size));
	else
		str_printf(
		    to, "%llu", (unsigned long long)value_uint(v, rec->size));
}

/* With as many digits as distinguish all numbers of the type. */
void
json_float(struct str *to, const void *v, uint32_t size)
{
	long double f = value_float(v, size);
	int digits = size == 4 ? 9 : size == 8 ? 17 : 21;

	if (isfinite(f))
		str_printf(to, "%.*Lg", digits, f);
	else
		str_add(to,
		    isnan(f)  ? "\"nan\"" :
			f > 0 ? "\"inf\"" :
				"\"-inf\"");
}

void
json_hex(struct str *to, uint64_t v)
{
	str_printf(to, "\"0x%llx\"", (unsigned long long)v);
}

void
json_bytes(struct str *to, const void *v, size_t size)
{
	const uint8_t *at = v;

	str_addc(to, '"');
	for (size_t i = 0; i < size; i++)
		str_printf(to, "%02x", at[i]);
	str_addc(to, '"');
}

/* ---- names of addresses ---- */

static void
json_parts(struct str *to, const char *module, const struct symbol_parts *s)
{
	if (s->module != NULL) {
		str_printf(to, ",\"%s\":", own(module));
		text_add_json_n(to, s->module, s->module_len);
	}
	if (s->name != NULL) {
		str_add(to, ",\"name\":");
		text_add_json_n(to, s->name, s->name_len);
	}
	if (s->offset != NULL) {
		str_add(to, ",\"offset\":");
		text_add_json(to, s->offset);
	}
	if (s->file != NULL) {
		str_add(to, ",\"filename\":");
		text_add_json(to, s->file);
	}
	if (s->line != 0)
		str_printf(to, ",\"line\":%d", s->line);
}

struct frames {
	struct str *to;
	bool any;
};

static void
json_frame(void *ctx, const struct stack_frame *f)
{
	struct frames *fs = ctx;
	struct str *to = fs->to;

	str_add(to, fs->any ? ",{\"symbol\":" : "{\"symbol\":");
	fs->any = true;
	text_add_json(to, f->s.text);
	json_parts(to, "module", &f->s);
	if (!f->is_lang) {
		str_add(to, ",\"address\":");
		json_hex(to, f->pc);
	}
	if (f->is_note)
		str_add(to, ",\"note\":true");
	str_addc(to, '}');
}

static void
json_stack(struct printer *p, enum dif_act kind, const struct prog_rec *rec,
    const uint8_t *v)
{
	struct frames fs = { .to = p->to };

	str_printf(p->to, "\"%s\":[",
	    kind == ACT_STACK ? "stack-frames" : "ustack-frames");
	stack_parts(p, v, rec->size, json_frame, &fs);
	str_addc(p->to, ']');
	if (stack_is_full(v, rec->size))
		str_add(p->to, ",\"cut\":true");
}

static void
json_sym(struct printer *p, const struct prog_rec *rec, const uint8_t *v)
{
	static const char *const names[] = {
		[REC_USYM] = "usym",
		[REC_UMOD] = "umod",
		[REC_UADDR] = "uaddr",
		[REC_SYM] = "sym",
		[REC_MOD] = "mod",
	};
	struct symbol_parts s;
	struct rec_sym sym = { 0 };
	char text[JSON_NAME];

	if (rec->size >= sizeof(sym))
		memcpy(&sym, v, sizeof(sym));
	sym_text(p, rec->kind, &sym, text, sizeof(text));
	str_printf(p->to, "\"%s\":", own(names[rec->kind]));
	text_add_json(p->to, text);
	if (rec->kind != REC_UMOD && rec->kind != REC_MOD) {
		symbol_parts(&s, text, false);
		json_parts(p->to, "object", &s);
		if (langname_of(sym.addr) != NULL)
			return; /* of another host */
		str_add(p->to, ",\"address\":");
		json_hex(p->to, sym.addr);
	}
}

/* ---- values ---- */

/* What the text shows as a dump has its bytes, too: the string alone does not
 * tell which they were. */
static void
json_text(struct str *to, const struct prog_rec *rec, const uint8_t *v)
{
	size_t len;
	bool printable = text_is_printable(v, rec->size, &len);

	str_add(to, "\"value\":");
	text_add_json_n(to, (const char *)v, len);
	if (printable)
		return;
	str_add(to, ",\"bytes\":");
	json_bytes(to, v, rec->kind == REC_CHARS ? rec->size : len);
}

void
json_value(struct printer *p, enum dif_act kind, const struct prog_rec *rec,
    const uint8_t *v)
{
	bool raw = option_get(p->c->env.opts, OPT_RAWBYTES) != 0;

	str_addc(p->to, '{');
	switch (raw && rec->kind < REC_STACK ? REC_BYTES : rec->kind) {
	case REC_INT:
		str_add(p->to, "\"value\":");
		json_int(p->to, rec, v);
		break;
	case REC_FLOAT:
		str_add(p->to, "\"value\":");
		json_float(p->to, v, rec->size);
		break;
	case REC_STRING:
	case REC_CHARS: json_text(p->to, rec, v); break;
	case REC_BYTES:
		str_add(p->to, "\"bytes\":");
		json_bytes(p->to, v, rec->size);
		break;
	case REC_STACK: json_stack(p, kind, rec, v); break;
	case REC_USYM:
	case REC_UMOD:
	case REC_UADDR:
	case REC_SYM:
	case REC_MOD: json_sym(p, rec, v); break;
	case REC_EPID: break;
	}
	str_addc(p->to, '}');
}

/* ---- aggregations ---- */

static const char *
agg_function(const struct prog_agg *def)
{
	static const struct {
		enum dif_agg func;
		const char *name;
	} rows[] = {
#define DIF_AGG(kind, id, name, proto, words) { AGG_##id, name },
#include "dlang/dif_aggs.def"
#undef DIF_AGG
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].func == def->func)
			return rows[i].name;
	return "";
}

struct buckets {
	struct str *to;
	bool any;
};

static void
json_bucket(void *ctx, const struct hist_bucket *b)
{
	struct buckets *bs = ctx;

	str_printf(bs->to, "%s{\"value\":%lld,\"count\":%lld",
	    bs->any ? "," : "", (long long)b->value, (long long)b->shown);
	bs->any = true;
	if (!b->open_below)
		str_printf(bs->to, ",\"min\":%lld", (long long)b->low);
	if (!b->open_above)
		str_printf(bs->to, ",\"max\":%lld", (long long)b->high);
	str_addc(bs->to, '}');
}

/* The value as members of an object. */
static void
json_words(struct str *to, const struct prog_agg *def, const uint64_t *value,
    uint64_t normal, bool empty)
{
	struct buckets bs = { .to = to };

	if (agg_is_hist(def)) {
		str_add(to, "\"buckets\":[");
		hist_each(def, value, normal, json_bucket, &bs);
		str_addc(to, ']');
		return;
	}
	int64_t v = empty ? 0 : agg_scalar(def, value, normal);
	str_printf(to, "\"%s\":", own(agg_function(def)));
	if (def->func == AGG_STDDEV || def->func == AGG_COUNT)
		str_printf(to, "%llu", (unsigned long long)v);
	else
		str_printf(to, "%lld", (long long)v);
	if (def->func == AGG_AVG || def->func == AGG_STDDEV)
		str_printf(to, ",\"count\":%lld,\"total\":%lld",
		    empty ? 0LL : (long long)value[0],
		    empty ? 0LL : (long long)value[1]);
}

static void
json_row(struct printer *p, const struct agg_row *row, uint64_t normal)
{
	const struct prog_agg *def = row->def;
	bool any = false;

	str_add(p->to, "{\"keys\":[");
	for (size_t i = 0; i < def->nkeys; i++) {
		str_add(p->to, i != 0 ? "," : "");
		json_value(
		    p, ACT_NONE, &def->keys[i], row->key + def->keys[i].off);
	}
	str_add(p->to, "],");
	json_words(p->to, def, row->value, normal, row->empty);
	vec_foreach(part, &row->parts) {
		str_printf(p->to, "%s{\"cpu\":%u,", any ? "," : ",\"cpus\":[",
		    part->cpu);
		any = true;
		json_words(p->to, def, part->value, normal, row->empty);
		str_addc(p->to, '}');
	}
	str_add(p->to, any ? "]}" : "}");
}

void
json_agg(struct printer *p, uint32_t id, json_flush_fn flush, void *ctx)
{
	struct aggs *a = &p->c->aggs;
	struct agg_table *t = aggs_table(a, id);
	const struct prog_agg *def = a->globals->aggs.at[id - 1];
	struct agg_lines lines;

	aggs_lines(a, &id, 1, p->c->env.opts, &lines);
	str_add(p->to, "\"aggregation-data\":[");
	for (size_t i = 0; i < lines.len; i++) {
		str_add(p->to, i != 0 ? "," : "");
		json_row(p, lines.at[i].rows[0], t->normal);
		if (flush != NULL)
			flush(ctx, p->to);
	}
	str_add(p->to, "],\"aggregation-name\":");
	text_add_json(p->to, def->name);
	str_printf(p->to, ",\"function\":\"%s\"", own(agg_function(def)));
	if (t->cleared != 0)
		str_printf(
		    p->to, ",\"since\":%llu", (unsigned long long)t->cleared);
	agg_lines_fini(&lines);
}

/* ---- statements ---- */

struct elements {
	struct consume *c;
	struct printer *p;
	size_t *n;
};

static void
next_element(struct elements *e)
{
	if ((*e->n)++ != 0)
		str_addc(e->p->to, ',');
}

static void
json_message(struct elements *e, const struct prog_stmt *st)
{
	struct str text = { 0 };
	struct printer p = record_printer(e->c, &text);

	p.escape = false;
	if (st->kind == ACT_PRINTA)
		printa(&p, st->aggs, st->naggs, st->fmt, false);
	else
		record_format(e->c, &p, st);
	next_element(e);
	str_add(e->p->to, "{\"message\":");
	text_add_json_n(e->p->to, str_c(&text), text.len);
	str_addc(e->p->to, '}');
	str_fini(&text);
}

static void
json_values(struct elements *e, const struct prog_stmt *st)
{
	for (size_t i = 0; i < st->nrecs; i++) {
		const uint8_t *v = record_value(e->c, &st->recs[i]);
		if (v == NULL || st->recs[i].kind == REC_EPID)
			continue;
		next_element(e);
		json_value(e->p, st->kind, &st->recs[i], v);
	}
}

static void
json_print(struct elements *e, const struct prog_stmt *st)
{
	const uint8_t *v, *addr;
	const struct prog_rec *rec = record_object(e->c, st, &v, &addr);

	if (rec == NULL)
		return;
	next_element(e);
	str_add(e->p->to, "{\"type\":[");
	json_object(e->p, addr, rec->type, v, rec->size);
	str_add(e->p->to, "]}");
}

static void
json_tracemem(struct elements *e, const struct prog_stmt *st)
{
	const uint8_t *v;
	size_t size = record_memory(e->c, st, &v);

	if (v == NULL)
		return;
	next_element(e);
	str_add(e->p->to, "{\"tracemem\":");
	json_bytes(e->p->to, v, size);
	str_addc(e->p->to, '}');
}

void
json_stmt(
    struct consume *c, struct printer *p, const struct prog_stmt *st, size_t *n)
{
	struct elements e = { c, p, n };

	if (st->fmt != NULL)
		json_message(&e, st);
	if (st->kind == ACT_TRACEMEM)
		json_tracemem(&e, st);
	else if (st->kind == ACT_PRINT)
		json_print(&e, st);
	else if (st->kind != ACT_PRINTA)
		json_values(&e, st);
	for (size_t i = 0; st->kind == ACT_PRINTA && i < st->naggs; i++) {
		struct agg_table *t = aggs_table(&c->aggs, st->aggs[i]);
		if (t == NULL)
			continue;
		t->printed |= t->rows.len != 0;
		next_element(&e);
		str_addc(p->to, '{');
		json_agg(p, st->aggs[i], NULL, NULL);
		str_addc(p->to, '}');
	}
}

void
json_probe(struct str *to, const struct probe_text *probe)
{
	str_printf(to, "\"id\":%u,\"provider\":", probe->id);
	text_add_json(to, probe->prov);
	str_add(to, ",\"module\":");
	text_add_json(to, probe->mod);
	str_add(to, ",\"function\":");
	text_add_json(to, probe->func);
	str_add(to, ",\"name\":");
	text_add_json(to, probe->name);
}
