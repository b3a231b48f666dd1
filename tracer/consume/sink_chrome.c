/*
 * The format chrome: Trace Event JSON, which Perfetto and chrome://tracing
 * show.
 *
 *	entry and return of a function     a slice of the thread (B, E)
 *	any other record                   an instant of the thread (i)
 *	aggregation, at each printa() and  counters, a series for each key (C)
 *	at the end
 *	error, drop                        an instant of all (i)
 *
 * What a record has printed is in the member args of its event, as in the
 * format json.  Slices of a thread nest.  An entry begins a slice only if the
 * return of the function is traced too; what has not returned when a function
 * around it does, or when the trace ends, ends there and says so.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracer/consume/json.h"

/* The most open slices of a thread; further entries are instants. */
#define SLICES_MOST (1 << 20)

enum phase { BEGIN = 'B', END = 'E', INSTANT = 'i' };

struct slices { /* of one thread */
	uint32_t pid, tid;
	VEC(uint64_t) open; /* functions that it has entered */
	uint32_t epid;      /* of its last record, 0 for none */
	uint64_t timestamp; /* of that */
};

struct chrome {
	struct hash threads; /* struct slices by pid and tid */
	struct hash returns; /* functions whose return is traced */
	uint32_t looked;     /* EPIDs that were looked at for this */
	struct str after;    /* events that follow that of the record */
	bool inside;
	size_t n; /* objects in the args of the record's event */
};

/* ---- events ---- */

/* Nanoseconds as the microseconds of the format. */
static void
add_ts(struct str *to, uint64_t ns)
{
	str_printf(to, "\"ts\":%llu.%03u", (unsigned long long)(ns / 1000),
	    (unsigned)(ns % 1000));
}

static void
add_thread(struct str *to, uint32_t pid, uint32_t tid)
{
	str_printf(to, ",\"pid\":%u,\"tid\":%u", pid, tid);
}

static void
add_end(struct str *to, const struct slices *s, uint64_t ns, const char *why)
{
	str_add(to, "{\"ph\":\"E\",");
	add_ts(to, ns);
	add_thread(to, s->pid, s->tid);
	str_printf(to, ",\"args\":{\"%s\":true}},\n", own(why));
}

static struct slices *
slices_of(struct consume *c)
{
	struct chrome *t = c->format;
	const struct rec_hdr *hdr = c->rec.hdr;
	uint64_t key = (uint64_t)hdr->pid << 32 | hdr->tid;
	struct slices *s = hash_get(&t->threads, key);

	if (s == NULL) {
		s = mem_zalloc(sizeof(*s));
		s->pid = hdr->pid;
		s->tid = hdr->tid;
		hash_set(&t->threads, key, s);
	}
	return s;
}

/* ---- which entries have a return ---- */

static bool
name_is(const char *name, const char *word)
{
	size_t n = strlen(name), w = strlen(word);

	return n >= w && strcmp(name + n - w, word) == 0 &&
	    (n == w || name[n - w - 1] == '-');
}

/* Of a probe: "entry" and "return", "method-entry" and "method-return" are of
 * one function. */
static uint64_t
function_key(const struct probe_text *p)
{
	const char *dash = strrchr(p->name, '-');
	size_t kind = dash != NULL ? (size_t)(dash - p->name) : 0;

	return hash_u64(hash_bytes(p->prov, strlen(p->prov)) ^
		   hash_u64(hash_bytes(p->mod, strlen(p->mod)) ^
		       hash_u64(hash_bytes(p->func, strlen(p->func))))) ^
	    hash_bytes(p->name, kind);
}

/* ECBs are added while the trace runs, when libraries are loaded. */
static bool
returns(struct consume *c, const struct probe_text *probe)
{
	const struct img_hdr *h = (const void *)c->env.image.base;
	struct chrome *t = c->format;

	while (t->looked < h->necbs) {
		struct probe_text p;
		if (record_probe(c, ++t->looked, &p) &&
		    name_is(p.name, "return"))
			hash_set(&t->returns, function_key(&p), t);
	}
	return hash_get(&t->returns, function_key(probe)) != NULL;
}

/* ---- records ---- */

static bool
slice_begin(struct consume *c, struct slices *s, const struct probe_text *p)
{
	/* What else another host traces is not known here. */
	if (c->host != NULL || !returns(c, p) || s->open.len >= SLICES_MOST)
		return false;
	*vec_push(&s->open) = function_key(p);
	return true;
}

/* End the slices of functions that were entered after it. */
static bool
slice_end(struct consume *c, struct slices *s, const struct probe_text *p)
{
	uint64_t key = function_key(p);
	size_t i = s->open.len;

	while (i > 0 && s->open.at[i - 1] != key)
		i--;
	if (i == 0)
		return false;
	for (; s->open.len > i; s->open.len--)
		add_end(&c->line, s, c->rec.hdr->timestamp, "no-return");
	s->open.len--;
	return true;
}

/* Another clause of the same firing begins or ends nothing. */
static enum phase
phase_of(struct consume *c, const struct probe_text *p)
{
	struct slices *s = slices_of(c);
	uint32_t epid = c->rec.hdr->epid;
	bool again = s->timestamp == c->rec.hdr->timestamp && s->epid != epid &&
	    record_same_probe(c, s->epid, epid);
	enum phase phase = INSTANT;

	if (!again && name_is(p->name, "entry") && slice_begin(c, s, p))
		phase = BEGIN;
	else if (!again && name_is(p->name, "return") && slice_end(c, s, p))
		phase = END;
	s->epid = epid;
	s->timestamp = c->rec.hdr->timestamp;
	return phase;
}

static void
add_name(struct str *to, const struct probe_text *p, enum phase phase)
{
	char *name = phase == INSTANT && *p->func != '\0' ?
	    mem_printf("%s:%s", p->func, p->name) :
	    mem_strdup(phase == INSTANT ? p->name : p->func);

	str_add(to, ",\"name\":");
	text_add_json(to, name);
	str_add(to, ",\"cat\":");
	text_add_json(to, p->prov);
	mem_free(name);
}

static void
chrome_open(struct consume *c, const struct probe_text *probe,
    const struct rec_hdr *next)
{
	struct chrome *t = c->format;
	enum phase phase = phase_of(c, probe);
	struct str *to = &c->line;

	str_printf(to, "{\"ph\":\"%c\",", (char)phase);
	add_ts(to, c->rec.hdr->timestamp);
	add_thread(to, c->rec.hdr->pid, c->rec.hdr->tid);
	add_name(to, probe, phase);
	str_add(
	    to, phase == INSTANT ? ",\"s\":\"t\",\"args\":{" : ",\"args\":{");
	str_add(to, "\"module\":");
	text_add_json(to, probe->mod);
	str_add(to, ",\"output\":[");
	t->inside = true;
	t->n = 0;
}

/* ---- counters ---- */

/* The members of the key in one line. */
static void
add_key(struct printer *p, const struct agg_row *row, struct str *to)
{
	struct printer key = *p;

	key.to = to;
	key.escape = false;
	for (size_t i = 0; i < row->def->nkeys; i++) {
		const struct prog_rec *rec = &row->def->keys[i];
		str_add(to, i != 0 ? " " : "");
		if (rec->kind == REC_STACK)
			stack_fold(&key, row->key + rec->off, rec->size);
		else
			print_key_short(&key, rec, row->key + rec->off);
	}
}

struct series {
	struct str *to;
	bool any;
};

static void
add_bucket(void *ctx, const struct hist_bucket *b)
{
	struct series *s = ctx;

	str_add(s->to, s->any ? "," : "");
	s->any = true;
	text_add_json(s->to, b->label);
	str_printf(s->to, ":%lld", (long long)b->shown);
}

/* An event for each key: tools show it as a track of its own. */
static void
add_counter(struct printer *p, struct str *to, const struct agg_row *row,
    uint64_t normal, uint64_t ns)
{
	struct series s = { .to = to };
	struct str name = { 0 };

	str_printf(&name, "@%s ", own(row->def->name));
	add_key(p, row, &name);
	str_add(to, "{\"ph\":\"C\",");
	add_ts(to, ns);
	add_thread(to, (uint32_t)getpid(), 0);
	str_add(to, ",\"name\":");
	text_add_json_n(
	    to, str_c(&name), row->def->nkeys != 0 ? name.len : name.len - 1);
	str_add(to, ",\"args\":{");
	if (agg_is_hist(row->def))
		hist_each(row->def, row->value, normal, add_bucket, &s);
	else
		str_printf(to, "\"value\":%lld",
		    row->empty ?
			0LL :
			(long long)agg_scalar(row->def, row->value, normal));
	str_add(to, "}},\n");
	str_fini(&name);
}

static void
add_counters(struct consume *c, struct str *to, uint32_t id, uint64_t ns)
{
	struct agg_table *table = aggs_table(&c->aggs, id);
	struct printer p = record_printer(c, to);
	struct agg_lines lines;

	if (table == NULL)
		return;
	table->printed |= table->rows.len != 0;
	aggs_lines(&c->aggs, &id, 1, c->env.opts, &lines);
	for (size_t i = 0; i < lines.len; i++)
		add_counter(&p, to, lines.at[i].rows[0], table->normal, ns);
	agg_lines_fini(&lines);
}

static void
chrome_stmt(struct consume *c, const struct prog_stmt *st)
{
	struct chrome *t = c->format;
	struct printer p = record_printer(c, &c->line);

	if (st->kind != ACT_PRINTA) {
		json_stmt(c, &p, st, &t->n);
		return;
	}
	for (size_t i = 0; i < st->naggs; i++)
		add_counters(c, &t->after, st->aggs[i], c->rec.hdr->timestamp);
}

static void
chrome_close(struct consume *c)
{
	struct chrome *t = c->format;

	str_add(&c->line, "]}},\n");
	out_write(&c->out, &c->line);
	out_write(&c->out, &t->after);
	t->inside = false;
}

/* ---- what goes wrong ---- */

static void
add_incident(struct consume *c, const char *name, uint64_t ns, uint64_t n,
    const char *what)
{
	struct chrome *t = c->format;
	struct str *to = t->inside ? &t->after : &c->line;

	str_add(to, "{\"ph\":\"i\",\"s\":\"g\",");
	add_ts(to, ns);
	add_thread(to, (uint32_t)getpid(), 0);
	str_printf(to,
	    ",\"name\":\"%s\",\"cat\":\"dtrap\",\"args\":{\"count\":"
	    "%llu,\"msg\":",
	    own(name), (unsigned long long)n);
	text_add_json(to, what);
	str_add(to, "}},\n");
	if (!t->inside)
		out_write(&c->out, &c->line);
}

static void
chrome_error(struct consume *c, const struct sink_error *e)
{
	if (e->probe != NULL)
		add_incident(c, "error", c->rec.hdr->timestamp, 1, e->what);
}

static void
chrome_drop(struct consume *c, const struct sink_drop *d)
{
	add_incident(c, "drop", consume_now(), d->n, d->what);
}

/* ---- begin and end ---- */

static void
chrome_begin(struct str *to, const struct asked *a)
{
	str_add(to, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"version\":");
	text_add_json(to, a->version);
	str_add(to, ",\"program\":");
	text_add_json(to, a->nprograms != 0 ? a->programs[0].text : "");
	str_add(to, "},\"traceEvents\":[\n");
	for (size_t i = 0; i < a->nprocesses; i++) {
		str_printf(to,
		    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,"
		    "\"args\":{\"name\":",
		    a->processes[i].pid);
		text_add_json(to, a->processes[i].command);
		str_add(to, "}},\n");
	}
}

static void
chrome_create(struct consume *c)
{
	c->format = mem_zalloc(sizeof(struct chrome));
}

static void
chrome_destroy(struct consume *c)
{
	struct chrome *t = c->format;

	hash_foreach(e, &t->threads) {
		struct slices *s = e->value;
		vec_fini(&s->open);
		mem_free(s);
	}
	hash_fini(&t->threads);
	hash_fini(&t->returns);
	str_fini(&t->after);
	mem_free(t);
}

static void
chrome_report(struct consume *c)
{
	uint32_t n = (uint32_t)c->env.globals->aggs.len;

	for (uint32_t id = 1; id <= n; id++) {
		if (aggs_table(&c->aggs, id)->printed)
			continue;
		add_counters(c, &c->line, id, consume_now());
		out_write(&c->out, &c->line);
	}
}

/* The last event closes the list: no comma is behind it. */
static void
chrome_end(struct consume *c, int status)
{
	struct chrome *t = c->format;

	hash_foreach(e, &t->threads) {
		struct slices *s = e->value;
		for (; s->open.len > 0; s->open.len--)
			add_end(&c->line, s, s->timestamp, "unfinished");
		out_write(&c->out, &c->line);
	}
	str_printf(&c->line,
	    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,"
	    "\"args\":{\"name\":\"dtrap\"}}\n]}\n",
	    (int)getpid());
	out_write(&c->out, &c->line);
}

const struct sink sink_chrome = {
	.name = "chrome",
	.document = true,
	.begin = chrome_begin,
	.create = chrome_create,
	.destroy = chrome_destroy,
	.open = chrome_open,
	.stmt = chrome_stmt,
	.close = chrome_close,
	.error = chrome_error,
	.drop = chrome_drop,
	.report = chrome_report,
	.end = chrome_end,
};
