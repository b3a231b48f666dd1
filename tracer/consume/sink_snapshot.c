/*
 * The format snapshot: a stream of what changed, for `dtrap merge'.
 * doc/snapshot.md describes the lines.
 *
 * The rows of the consumer's aggregations hold what was added since the last
 * snapshot: a row is written if it has something, and emptied.  So the reader
 * adds rows of any number of streams, and needs no memory for each of them.  A
 * smallest or largest value must be forgotten by the lanes as well, or a
 * clear() at the reader would not clear it.
 *
 * Names of functions are looked up here, where the processes are.  A name is
 * written once, and its number afterwards.
 */
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "dlang/vm/agg.h"
#include "dlang/where.h"
#include "symbols/langname.h"
#include "tracer/consume/consume_impl.h"
#include "tracer/consume/wire.h"

/* What print() has printed is a text of at most so many bytes there. */
#define PRINTED_MOST 16384
/* When there are so many names, the numbers begin at 0 again. */
#ifdef DTRAP_SHRINK
#define NAMES_MOST 4
#else
#define NAMES_MOST 16384
#endif
#define SNAPSHOT_NAME 2048

struct snapshots {
	bool begun;        /* aggregations and clauses are described */
	struct hash names; /* number of a name plus 1, by its text */
	struct intern texts;
	uint64_t nnames;
	struct hash probes; /* EPIDs that are described */
	struct str row;     /* of the line that is being made */
	uint32_t epid;      /* of the record */
	struct aggs whole;  /* since the begin, if somebody may ask for it */
	bool keeps;         /* `whole' is kept */
	uint64_t number, rows;
	uint64_t records, errors, drops;
};

/* One in a process: it begins before the consumer's format exists. */
static struct wire wire;

#define LINE(to, type, ...)                      \
	do {                                     \
		size_t start_ = (to)->len;       \
		wire_begin(&wire, (to), (type)); \
		__VA_ARGS__;                     \
		wire_end(&wire, (to), start_);   \
	} while (0)

/* ---- the head ---- */

static void
add_source(struct str *to, const struct asked *a, const struct asked_program *p)
{
	wire_number(to, (uint64_t)p->level);
	wire_number(to, p->merged);
	wire_string(to, p->name);
	wire_string(to, p->text);
	wire_number(to, a->noperands);
	for (size_t i = 0; i < a->noperands; i++)
		wire_string(to, a->operands[i]);
}

static void
add_option(struct str *to, const struct options *opts, enum option_id id)
{
	char text[32];

	wire_string(to, option_name(id));
	if (opts->text[id] != NULL) {
		wire_string(to, opts->text[id]);
		return;
	}
	snprintf(text, sizeof(text), "%lld", (long long)opts->value[id]);
	wire_string(to, text);
}

static void
add_head(struct str *to, const struct asked *a)
{
	char host[256] = "";
	const char *name = a->opts->text[OPT_VMNAME];

	if (name == NULL && gethostname(host, sizeof(host) - 1) == 0)
		name = host;
	wire_string(to, a->version);
	wire_string(to, name != NULL ? name : "");
	wire_number(to, (uint64_t)getpid());
	wire_number(to, consume_now());
	wire_number(to, clock_ns(CLOCK_REALTIME));
	wire_number(to, (uint64_t)option_get(a->opts, OPT_SNAPRATE));
}

static void
snapshot_begin(struct str *to, const struct asked *a)
{
	if (getrandom(&wire.stream, sizeof(wire.stream), GRND_NONBLOCK) !=
	    sizeof(wire.stream))
		wire.stream =
		    clock_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 40;
	LINE(to, WIRE_HEAD, add_head(to, a));
	for (enum option_id id = 0; id < OPT_COUNT; id++)
		if (a->opts->set[id])
			LINE(to, WIRE_OPTION, add_option(to, a->opts, id));
	for (size_t i = 0; i < a->nprograms; i++)
		LINE(to, WIRE_SOURCE, add_source(to, a, &a->programs[i]));
}

/* ---- aggregations and clauses ---- */

static void
add_rec(struct str *to, const struct prog_rec *r)
{
	wire_number(to, (uint64_t)r->kind);
	wire_number(to, r->is_signed);
	wire_number(to, r->is_pointer);
	wire_number(to, r->size);
	wire_number(to, r->kind == REC_STACK ? r->arg : 0);
}

static void
add_agg(struct str *to, const struct prog_agg *a)
{
	wire_number(to, a->id);
	wire_string(to, a->name);
	wire_number(to, (uint64_t)a->func);
	wire_number(to, a->param);
	wire_number(to, a->words);
	wire_number(to, a->is_signed);
	wire_number(to, a->nkeys);
	for (size_t i = 0; i < a->nkeys; i++)
		add_rec(to, &a->keys[i]);
}

/* What print() writes is known here alone. */
static enum dif_act
kind_there(const struct prog_stmt *st)
{
	return st->kind == ACT_PRINT ? ACT_PRINTF : st->kind;
}

/* Does the reader carry the statement out? */
static bool
is_read_there(const struct prog_stmt *st)
{
	return wire_carries(kind_there(st));
}

/* Does the format print argument i of printf() as an address of the process?
 * Its name is found here. */
static bool
is_address(const struct prog_stmt *st, size_t i)
{
	size_t at = 0;

	if (st->kind != ACT_PRINTF || st->fmt == NULL ||
	    st->recs[i].kind != REC_INT)
		return false;
	for (size_t n = 0; n < st->fmt->nconvs; n++) {
		const struct fmt_conv *c = &st->fmt->convs[n];
		at += c->dyn_width + c->dyn_prec;
		if (at++ == i)
			return c->class == FMT_SYM || c->class == FMT_USYM;
	}
	return false;
}

/* The statement as the reader has it: print() needs types, which are here. */
static struct prog_rec
rec_there(const struct prog_stmt *st, size_t i)
{
	struct prog_rec r = st->recs[i];

	if (!is_address(st, i))
		return r;
	return (struct prog_rec){ .kind = REC_UADDR,
		.size = sizeof(struct rec_sym) };
}

static void
add_stmt(struct str *to, const struct prog_stmt *st)
{
	bool print = st->kind == ACT_PRINT;
	static const struct prog_rec printed = { .kind = REC_STRING,
		.size = PRINTED_MOST };

	wire_number(to, kind_there(st));
	wire_string(to, print ? "%s" : st->fmt != NULL ? st->fmt->text : NULL);
	wire_string(to, st->strs[0]);
	wire_string(to, st->strs[1]);
	wire_number(to, st->has_arg);
	wire_number(to, st->naggs);
	for (size_t i = 0; i < st->naggs; i++)
		wire_number(to, st->aggs[i]);
	wire_number(to, print ? 1 : st->nrecs);
	for (size_t i = 0; !print && i < st->nrecs; i++) {
		struct prog_rec r = rec_there(st, i);
		add_rec(to, &r);
	}
	if (print)
		add_rec(to, &printed);
}

static void
add_clause(struct str *to, const struct prog_clause *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->nstmts; i++)
		n += is_read_there(&p->stmts[i]);
	wire_number(to, p->global_index);
	wire_number(to, n);
	for (size_t i = 0; i < p->nstmts; i++)
		if (is_read_there(&p->stmts[i]))
			add_stmt(to, &p->stmts[i]);
}

static void
describe_program(struct consume *c)
{
	struct snapshots *s = c->format;
	const struct prog_globals *g = c->env.globals;

	if (s->begun)
		return;
	s->begun = true;
	vec_foreach(a, &g->aggs)
		LINE(&c->line, WIRE_AGG, add_agg(&c->line, *a));
	vec_foreach(p, &g->clauses)
		if ((*p)->records && !where_is_merged(&(*p)->desc))
			LINE(&c->line, WIRE_CLAUSE, add_clause(&c->line, *p));
	LINE(&c->line, WIRE_BEGIN, wire_number(&c->line, consume_now()));
}

/* ---- names ---- */

struct name {
	unsigned flags; /* 1: of a native frame or an address; 2: a note */
	const char *text, *file;
	int line;
};

/* Before a line is begun: may the numbers begin again? */
static void
names_look(struct snapshots *s)
{
	if (s->nnames < NAMES_MOST)
		return;
	hash_fini(&s->names);
	intern_fini(&s->texts);
	s->nnames = 0;
}

static uint64_t
name_number(struct consume *c, const struct name *n)
{
	struct snapshots *s = c->format;
	char *key = mem_printf("%u %d %s\n%s", n->flags, n->line, n->text,
	    n->file != NULL ? n->file : "");
	uintptr_t had = (uintptr_t)hash_get_str(&s->names, key);

	if (had == 0) {
		hash_set_str(&s->names, intern(&s->texts, key),
		    (void *)(uintptr_t)++s->nnames);
		had = s->nnames;
		LINE(&c->line, WIRE_NAME, {
			wire_number(&c->line, had - 1);
			wire_number(&c->line, n->flags);
			wire_string(&c->line, n->text);
			wire_string(&c->line, n->file);
			wire_number(&c->line, (uint64_t)n->line);
		});
	}
	mem_free(key);
	return had - 1;
}

struct frames {
	struct consume *c;
	struct str *to;
	uint64_t n;
};

static void
add_frame(void *ctx, uint64_t pc, const char *text)
{
	struct frames *f = ctx;
	const struct lang_name *lang = langname_of(pc);
	struct name name = { .flags = 1, .text = text };

	if (lang != NULL)
		name = (struct name){ .flags = lang->note ? 2 : 0,
			.text = lang->function,
			.file = lang->file,
			.line = lang->line };
	wire_number(f->to, name_number(f->c, &name));
	f->n++;
}

static void
add_stack(struct printer *p, const struct prog_rec *rec, const uint8_t *v)
{
	struct str numbers = { 0 };
	struct frames f = { .c = p->c, .to = &numbers };

	stack_names(p, v, rec->size, add_frame, &f);
	wire_number(p->to, f.n);
	str_addn(p->to, own(str_c(&numbers)), numbers.len);
	str_fini(&numbers);
}

/* ---- values ---- */

static void
add_name(struct printer *p, const char *text)
{
	struct name name = { .flags = 1, .text = text };

	wire_number(p->to, name_number(p->c, &name));
}

/* Zeroes at the end are left out: the reader knows the size. */
static void
add_bytes(struct str *to, const uint8_t *v, size_t size)
{
	while (size > 0 && v[size - 1] == 0)
		size--;
	wire_text(to, v, size);
}

static void
add_value(struct printer *p, const struct prog_rec *rec, const uint8_t *v)
{
	char name[SNAPSHOT_NAME] = "";

	switch (rec->kind) {
	case REC_INT: wire_number(p->to, value_uint(v, rec->size)); break;
	case REC_STRING:
		wire_text(p->to, v, strnlen((const char *)v, rec->size));
		break;
	case REC_CHARS:
	case REC_BYTES:
	case REC_FLOAT: add_bytes(p->to, v, rec->size); break;
	case REC_STACK: add_stack(p, rec, v); break;
	case REC_USYM:
	case REC_UMOD:
	case REC_UADDR:
	case REC_SYM:
	case REC_MOD:
		if (rec->size >= sizeof(struct rec_sym))
			sym_text(p, rec->kind, v, name, sizeof(name));
		add_name(p, name);
		break;
	case REC_EPID: break;
	}
}

static void
add_words(struct str *to, const struct prog_agg *def, const uint64_t *value)
{
	uint64_t n = 0;
	uint32_t first =
	    def->func == AGG_LQUANTIZE || def->func == AGG_LLQUANTIZE;

	if (!agg_is_hist(def)) {
		for (uint32_t i = 0; i < def->words; i++)
			wire_number(to, value[i]);
		return;
	}
	for (uint32_t i = first; i < def->words; i++)
		n += value[i] != 0;
	wire_number(to, n);
	for (uint32_t i = first; i < def->words; i++) {
		if (value[i] == 0)
			continue;
		wire_number(to, i);
		wire_number(to, value[i]);
	}
}

/* ---- aggregations ---- */

/* A line with rows of one aggregation, made behind the names that it uses. */
struct rows {
	struct consume *c;
	const struct prog_agg *def;
	uint32_t cpu;
	uint64_t n;
};

static void
rows_end(struct rows *r)
{
	struct consume *c = r->c;
	struct snapshots *s = c->format;

	if (r->n == 0)
		return;
	LINE(&c->line, WIRE_KEYS, {
		wire_number(&c->line, r->def->id);
		wire_number(&c->line, r->cpu);
		wire_number(&c->line, r->n);
		str_addn(&c->line, own(str_c(&s->row)), s->row.len);
	});
	s->rows += r->n;
	str_clear(&s->row);
	r->n = 0;
	names_look(s);
	out_write(&c->out, &c->line);
}

static void
rows_add(
    struct rows *r, uint32_t cpu, const uint8_t *key, const uint64_t *value)
{
	struct snapshots *s = r->c->format;
	struct printer p = { .to = &s->row, .c = r->c };

	if (cpu != r->cpu || s->row.len > WIRE_ROWS)
		rows_end(r);
	r->cpu = cpu;
	for (size_t i = 0; i < r->def->nkeys; i++)
		add_value(&p, &r->def->keys[i], key + r->def->keys[i].off);
	add_words(&s->row, r->def, value);
	r->n++;
}

static void
row_write(struct rows *r, const struct agg_row *row)
{
	if (row->parts.len == 0)
		rows_add(r, 0, row->key, row->value);
	vec_foreach(part, &row->parts)
		rows_add(r, part->cpu + 1, row->key, part->value);
}

static void
table_write(struct consume *c, struct aggs *a, uint32_t id)
{
	struct rows r = { .c = c, .def = c->env.globals->aggs.at[id - 1] };

	vec_foreach(row, &aggs_table(a, id)->rows)
		if (!(*row)->empty)
			row_write(&r, *row);
	rows_end(&r);
}

static void
keep(struct consume *c, uint32_t id)
{
	struct snapshots *s = c->format;

	if (!s->keeps)
		return;
	vec_foreach(row, &aggs_table(&c->aggs, id)->rows) {
		if ((*row)->empty)
			continue;
		if ((*row)->parts.len == 0)
			aggs_merge(
			    &s->whole, id, (*row)->key, 0, (*row)->value);
		vec_foreach(part, &(*row)->parts)
			aggs_merge(&s->whole, id, (*row)->key, part->cpu + 1,
			    part->value);
	}
}

static void
time_write(struct consume *c, bool whole)
{
	struct snapshots *s = c->format;

	LINE(&c->line, WIRE_TIME, {
		wire_number(&c->line, s->number);
		wire_number(&c->line, consume_now());
		wire_number(&c->line, clock_ns(CLOCK_REALTIME));
		wire_number(&c->line, s->rows);
		wire_number(&c->line, whole);
	});
	s->rows = 0;
	out_write(&c->out, &c->line);
}

static bool
has_extremes(const struct prog_globals *g)
{
	vec_foreach(a, &g->aggs)
		if ((*a)->func == AGG_MIN || (*a)->func == AGG_MAX)
			return true;
	return false;
}

static void
snapshot_write(struct consume *c)
{
	struct snapshots *s = c->format;
	uint32_t n = (uint32_t)c->env.globals->aggs.len;

	describe_program(c);
	names_look(s);
	for (uint32_t id = 1; id <= n; id++) {
		keep(c, id);
		table_write(c, &c->aggs, id);
		aggs_clear(&c->aggs, id);
	}
	if (!c->over && has_extremes(c->env.globals))
		snapshots_flip(c);
	s->number++;
	time_write(c, false);
}

static void
snapshot_whole(struct consume *c)
{
	struct snapshots *s = c->format;
	uint32_t n = (uint32_t)c->env.globals->aggs.len;

	if (!s->keeps)
		return;
	snapshot_write(c);
	LINE(&c->line, WIRE_WHOLE, wire_number(&c->line, s->number));
	for (uint32_t id = 1; id <= n; id++)
		table_write(c, &s->whole, id);
	time_write(c, true);
}

/* ---- records ---- */

static void
snapshot_create(struct consume *c)
{
	struct snapshots *s = mem_zalloc(sizeof(*s));

	c->format = s;
	s->keeps = option_get(c->env.opts, OPT_HEARTBEAT) > 0;
	aggs_init(&s->whole, c->env.globals,
	    (size_t)option_get(c->env.opts, OPT_AGGMAX));
}

static void
snapshot_destroy(struct consume *c)
{
	struct snapshots *s = c->format;

	hash_fini(&s->names);
	intern_fini(&s->texts);
	hash_fini(&s->probes);
	str_fini(&s->row);
	aggs_fini(&s->whole);
	mem_free(s);
}

static void
describe_probe(struct consume *c, const struct probe_text *p, uint32_t epid)
{
	struct snapshots *s = c->format;

	describe_program(c);
	if (hash_get(&s->probes, epid) != NULL)
		return;
	hash_set(&s->probes, epid, s);
	LINE(&c->line, WIRE_PROBE, {
		wire_number(&c->line, epid);
		wire_number(&c->line, p->id);
		wire_string(&c->line, p->prov);
		wire_string(&c->line, p->mod);
		wire_string(&c->line, p->func);
		wire_string(&c->line, p->name);
		wire_number(&c->line,
		    p->clause != NULL ? p->clause->global_index : UINT32_MAX);
	});
}

static void
snapshot_open(struct consume *c, const struct probe_text *probe,
    const struct rec_hdr *next)
{
	struct snapshots *s = c->format;

	s->epid = c->rec.hdr->epid;
	describe_probe(c, probe, s->epid);
	names_look(s);
}

static void
add_printed(struct consume *c, const struct prog_stmt *st)
{
	struct snapshots *s = c->format;
	struct str text = { 0 };
	struct printer p = record_printer(c, &text);
	const uint8_t *v, *addr;
	const struct prog_rec *rec = record_object(c, st, &v, &addr);

	p.escape = false;
	if (rec != NULL && addr != NULL)
		print_object(&p, value_uint(addr, 8), rec->type, v, rec->size);
	else if (rec != NULL)
		print_typed(&p, rec->type, v, rec->size);
	wire_text(&s->row, str_c(&text), MIN(text.len, PRINTED_MOST - 1));
	str_fini(&text);
}

static void
snapshot_stmt(struct consume *c, const struct prog_stmt *st)
{
	struct snapshots *s = c->format;
	struct printer p = record_printer(c, &s->row);
	static const uint8_t nothing[sizeof(struct rec_sym)];
	char name[SNAPSHOT_NAME];

	if (st->kind == ACT_PRINT) {
		add_printed(c, st);
		return;
	}
	for (size_t i = 0; i < st->nrecs; i++) {
		const struct prog_rec *rec = &st->recs[i];
		const uint8_t *v = record_value(c, rec);
		if (v == NULL && rec->size > sizeof(nothing))
			continue; /* never: the compiler has laid it out */
		v = v != NULL ? v : nothing;
		if (is_address(st, i)) {
			addr_text(
			    &p, value_uint(v, rec->size), name, sizeof(name));
			add_name(&p, name);
			continue;
		}
		add_value(&p, rec, v);
	}
}

static void
snapshot_close(struct consume *c)
{
	struct snapshots *s = c->format;
	const struct rec_hdr *hdr = c->rec.hdr;

	LINE(&c->line, WIRE_RECORD, {
		wire_number(&c->line, s->epid);
		wire_number(&c->line, hdr->timestamp);
		wire_number(&c->line, hdr->cpu);
		wire_number(&c->line, hdr->pid);
		wire_number(&c->line, hdr->tid);
		str_addn(&c->line, own(str_c(&s->row)), s->row.len);
	});
	str_clear(&s->row);
	s->records++;
	out_write(&c->out, &c->line);
}

/* ---- what goes wrong ---- */

static void
snapshot_error(struct consume *c, const struct sink_error *e)
{
	struct snapshots *s = c->format;
	struct str line = { 0 };
	const struct rec_hdr *hdr = c->rec.at != NULL ? c->rec.hdr : NULL;

	describe_program(c);
	LINE(&line, WIRE_ERROR, {
		wire_string(&line, e->what);
		wire_string(&line, e->fault);
		wire_number(&line, e->probe != NULL ? e->probe->id : 0);
		wire_string(&line, e->probe != NULL ? e->probe->prov : NULL);
		wire_string(&line, e->probe != NULL ? e->probe->mod : NULL);
		wire_string(&line, e->probe != NULL ? e->probe->func : NULL);
		wire_string(&line, e->probe != NULL ? e->probe->name : NULL);
		wire_number(&line, hdr != NULL ? hdr->timestamp : 0);
		wire_number(&line, hdr != NULL ? hdr->cpu : 0);
		wire_number(&line, hdr != NULL ? hdr->pid : 0);
		wire_number(&line, hdr != NULL ? hdr->tid : 0);
		wire_number(&line, e->count);
	});
	s->errors++;
	out_write(&c->out, &c->line);
	out_write(&c->out, &line);
	str_fini(&line);
}

static void
snapshot_drop(struct consume *c, const struct sink_drop *d)
{
	struct snapshots *s = c->format;
	struct str line = { 0 };

	describe_program(c);
	LINE(&line, WIRE_DROP, {
		wire_string(&line, d->tag);
		wire_number(&line, (uint64_t)d->kind);
		wire_number(&line, d->n);
		wire_number(&line, (uint64_t)(d->cpu + 1));
		wire_number(&line, d->pid);
		wire_string(&line, d->what);
	});
	s->drops += d->n;
	out_write(&c->out, &c->line);
	out_write(&c->out, &line);
	str_fini(&line);
}

/* ---- the end ---- */

static void
snapshot_end_line(struct consume *c, int status)
{
	struct snapshots *s = c->format;

	describe_program(c);
	LINE(&c->line, WIRE_END, {
		wire_number(&c->line, (uint8_t)status);
		wire_number(&c->line, s->records);
		wire_number(&c->line, s->errors);
		wire_number(&c->line, s->drops);
	});
	out_write(&c->out, &c->line);
}

const struct sink sink_snapshot = {
	.name = "snapshot",
	.elsewhere = true,
	.begin = snapshot_begin,
	.create = snapshot_create,
	.destroy = snapshot_destroy,
	.open = snapshot_open,
	.stmt = snapshot_stmt,
	.close = snapshot_close,
	.snapshot = snapshot_write,
	.whole = snapshot_whole,
	.error = snapshot_error,
	.drop = snapshot_drop,
	.report = snapshot_write,
	.end = snapshot_end_line,
};
