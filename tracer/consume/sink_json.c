/*
 * The format json: JSON Lines, an object a line, which its member "type"
 * classifies.  doc/json.md describes them for those who read them.
 *
 * A record is a line.  If the output goes elsewhere in the middle of a record
 * (freopen()), it is two lines with the same head.
 */
#include <string.h>
#include <time.h>

#include "tracer/consume/json.h"

/* The version of what doc/json.md describes. */
#define JSON_FORMAT 1

struct json {
	struct probe_text probe; /* of the record */
	bool inside;             /* a record is being written */
	size_t n;                /* objects that its line has */
	struct str after;        /* lines that follow it */
	uint64_t records, errors, drops;
	VEC(uint64_t) dropped; /* so far, by kind */
};

/* ---- what was asked ---- */

static void
add_time(struct str *to)
{
	struct timespec now;
	struct tm tm;
	char text[64] = "";

	clock_gettime(CLOCK_REALTIME, &now);
	if (gmtime_r(&now.tv_sec, &tm) != NULL)
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	str_printf(to, "\"time\":\"%s.%09ldZ\",\"timestamp\":%llu", own(text),
	    now.tv_nsec, (unsigned long long)consume_now());
}

static void
add_programs(struct str *to, const struct asked *a)
{
	for (size_t i = 0; i < a->nprograms; i++) {
		const struct asked_program *p = &a->programs[i];
		str_printf(to,
		    "%s{\"kind\":\"%s\",\"name\":", i != 0 ? "," : "",
		    own(p->kind));
		text_add_json(to, p->name);
		str_add(to, ",\"text\":");
		text_add_json(to, p->text);
		if (p->matched >= 0)
			str_printf(
			    to, ",\"probes\":%lld", (long long)p->matched);
		str_addc(to, '}');
	}
}

static void
add_processes(struct str *to, const struct asked *a)
{
	for (size_t i = 0; i < a->nprocesses; i++) {
		str_printf(to, "%s{\"pid\":%d,\"command\":", i != 0 ? "," : "",
		    a->processes[i].pid);
		text_add_json(to, a->processes[i].command);
		str_addc(to, '}');
	}
}

/* Those that the user has set. */
static void
add_options(struct str *to, const struct options *opts)
{
	bool any = false;

	for (enum option_id id = 0; id < OPT_COUNT; id++) {
		if (!opts->set[id])
			continue;
		str_add(to, any ? "," : "");
		any = true;
		text_add_json(to, option_name(id));
		str_addc(to, ':');
		if (opts->text[id] != NULL)
			text_add_json(to, opts->text[id]);
		else
			str_printf(to, "%lld", (long long)opts->value[id]);
	}
}

void
json_line_begin(struct str *to, const struct asked *a)
{
	str_printf(
	    to, "{\"type\":\"begin\",\"format\":%d,\"version\":", JSON_FORMAT);
	text_add_json(to, a->version);
	str_addc(to, ',');
	add_time(to);
	str_add(to, ",\"programs\":[");
	add_programs(to, a);
	str_add(to, "],\"operands\":[");
	for (size_t i = 0; i < a->noperands; i++) {
		str_add(to, i != 0 ? "," : "");
		text_add_json(to, a->operands[i]);
	}
	str_add(to, "],\"processes\":[");
	add_processes(to, a);
	str_add(to, "],\"options\":{");
	add_options(to, a->opts);
	str_add(to, "}}\n");
}

/* ---- a list of probes ---- */

static void
add_attributes(
    struct str *to, const char *what, const struct listed_attributes *a)
{
	str_printf(to,
	    ",\"%s\":{\"name\":\"%s\",\"data\":\"%s\",\"class\":\"%s\"}",
	    own(what), own(a->name), own(a->data), own(a->class));
}

static void
add_text(struct str *to, const char *name, const char *text)
{
	if (text == NULL)
		return;
	str_printf(to, ",\"%s\":", own(name));
	text_add_json(to, text);
}

static void
add_more(struct str *to, const struct listed_more *m)
{
	add_attributes(to, "description-attributes", &m->description);
	add_attributes(to, "argument-attributes", &m->arguments);
	str_add(to, ",\"arguments\":[");
	for (size_t i = 0; i < m->ntypes; i++) {
		str_add(to, i != 0 ? "," : "");
		text_add_json(to, m->types[i]);
	}
	str_addc(to, ']');
	add_text(to, "note", m->note);
	add_text(to, "predicate-by-tracer", m->predicate);
	add_text(to, "actions-by-tracer", m->actions);
	add_text(to, "places", m->places);
}

static void
json_listed(struct printer *to, const struct listed *l)
{
	const struct probe_text probe = { .id = l->id,
		.prov = l->prov,
		.mod = l->mod,
		.func = l->func,
		.name = l->name };

	str_add(to->to, "{\"type\":\"description\",");
	json_probe(to->to, &probe);
	if (l->more != NULL)
		add_more(to->to, l->more);
	str_add(to->to, "}\n");
}

/* ---- records ---- */

static void
json_create(struct consume *c)
{
	c->format = mem_zalloc(sizeof(struct json));
}

static void
json_destroy(struct consume *c)
{
	struct json *j = c->format;

	str_fini(&j->after);
	vec_fini(&j->dropped);
	mem_free(j);
}

static void
line_open(struct consume *c)
{
	struct json *j = c->format;

	str_printf(&c->line,
	    "{\"type\":\"probe\",\"timestamp\":%llu,\"cpu\":%u,",
	    (unsigned long long)c->rec.hdr->timestamp, c->rec.hdr->cpu);
	json_probe(&c->line, &j->probe);
	str_printf(&c->line, ",\"pid\":%u,\"tid\":%u", c->rec.hdr->pid,
	    c->rec.hdr->tid);
	add_text(&c->line, "host", c->host);
	str_add(&c->line, ",\"output\":[");
	j->n = 0;
}

static void
line_close(struct consume *c)
{
	struct json *j = c->format;

	str_add(&c->line, "]}\n");
	out_write(&c->out, &c->line);
	out_write(&c->out, &j->after);
}

static void
json_open(struct consume *c, const struct probe_text *probe,
    const struct rec_hdr *next)
{
	struct json *j = c->format;

	j->probe = *probe;
	j->inside = true;
	j->records++;
	line_open(c);
}

static void
json_sink_stmt(struct consume *c, const struct prog_stmt *st)
{
	struct json *j = c->format;
	struct printer p = record_printer(c, &c->line);

	json_stmt(c, &p, st, &j->n);
}

static void
json_cut(struct consume *c)
{
	struct json *j = c->format;

	if (j->n == 0)
		return;
	line_close(c);
	line_open(c);
}

static void
json_close(struct consume *c)
{
	struct json *j = c->format;

	line_close(c);
	j->inside = false;
}

/* ---- what goes wrong ---- */

/* A line that is no record: behind the record that is being written. */
static struct str *
line_apart(struct consume *c)
{
	struct json *j = c->format;

	return j->inside ? &j->after : &c->line;
}

static void
line_done(struct consume *c)
{
	const struct json *j = c->format;

	if (!j->inside)
		out_write(&c->out, &c->line);
}

static void
add_fault(struct str *to, const struct sink_error *e)
{
	str_printf(to, ",\"fault\":\"%s\"", own(e->fault));
	if (e->has_value && e->is_address) {
		str_add(to, ",\"address\":");
		json_hex(to, e->value);
	} else if (e->has_value) {
		str_printf(to, ",\"value\":%lld", (long long)e->value);
	}
	add_text(to, "filename", e->file);
	if (e->line != 0)
		str_printf(to, ",\"line\":%d,\"col\":%d", e->line, e->col);
}

void
json_line_error(
    struct str *to, const struct consume *c, const struct sink_error *e)
{
	str_add(to, "{\"type\":\"error\",");
	if (e->probe != NULL) {
		str_printf(to, "\"timestamp\":%llu,\"cpu\":%u,",
		    (unsigned long long)c->rec.hdr->timestamp, c->rec.hdr->cpu);
		json_probe(to, e->probe);
		str_printf(to, ",\"pid\":%u,\"tid\":%u,", c->rec.hdr->pid,
		    c->rec.hdr->tid);
	}
	str_add(to, "\"msg\":");
	text_add_json(to, e->what);
	add_text(to, "host", c->host);
	if (e->fault != NULL)
		add_fault(to, e);
	if (e->count != 0)
		str_printf(to, ",\"count\":%llu", (unsigned long long)e->count);
	str_add(to, "}\n");
}

static void
json_error(struct consume *c, const struct sink_error *e)
{
	struct json *j = c->format;

	j->errors += e->probe != NULL;
	json_line_error(line_apart(c), c, e);
	line_done(c);
}

static uint64_t
dropped_so_far(struct json *j, const struct sink_drop *d)
{
	while (j->dropped.len <= (size_t)d->kind)
		*vec_push(&j->dropped) = 0;
	j->drops += d->n;
	return j->dropped.at[d->kind] += d->n;
}

void
json_line_drop(struct str *to, const struct consume *c,
    const struct sink_drop *d, uint64_t total)
{
	str_printf(to,
	    "{\"type\":\"drop\",\"timestamp\":%llu,\"cpu\":%d,\"id\":-1,"
	    "\"provider\":\"dtrace\",\"module\":\"INTERNAL\","
	    "\"function\":\"INTERNAL\",\"name\":\"DROP\",\"count\":%llu,"
	    "\"total\":%llu,\"kind\":%d,\"tag\":\"%s\",\"msg\":",
	    (unsigned long long)consume_now(), d->cpu, (unsigned long long)d->n,
	    (unsigned long long)total, d->kind, own(d->tag));
	text_add_json(to, d->what);
	if (d->pid != 0)
		str_printf(to, ",\"pid\":%u", d->pid);
	add_text(to, "host", c->host);
	str_add(to, "}\n");
}

static void
json_drop(struct consume *c, const struct sink_drop *d)
{
	json_line_drop(line_apart(c), c, d, dropped_so_far(c->format, d));
	line_done(c);
}

/* ---- the end ---- */

static void
json_write(void *ctx, struct str *text)
{
	struct consume *c = ctx;

	out_write(&c->out, text);
}

/* A line for each aggregation, in the order in which text has them. */
static void
json_report(struct consume *c)
{
	bool reverse = option_get(c->env.opts, OPT_AGGSORTREV);
	uint32_t n = (uint32_t)c->env.globals->aggs.len;
	struct printer p = record_printer(c, &c->line);

	for (uint32_t i = 1; i <= n; i++) {
		uint32_t id = reverse ? n + 1 - i : i;
		struct agg_table *t = aggs_table(&c->aggs, id);
		if (t->printed)
			continue;
		t->printed |= t->rows.len != 0;
		str_printf(&c->line,
		    "{\"type\":\"aggregation\",\"timestamp\":%llu,",
		    (unsigned long long)consume_now());
		json_agg(&p, id, json_write, c);
		str_add(&c->line, "}\n");
		out_write(&c->out, &c->line);
	}
}

void
json_line_end(struct str *to, uint64_t records, uint64_t errors, uint64_t drops,
    int status)
{
	str_add(to, "{\"type\":\"end\",");
	add_time(to);
	str_printf(to,
	    ",\"records\":%llu,\"errors\":%llu,\"drops\":%llu,\"status\":%d}\n",
	    (unsigned long long)records, (unsigned long long)errors,
	    (unsigned long long)drops, status);
}

static void
json_end(struct consume *c, int status)
{
	const struct json *j = c->format;

	json_line_end(&c->line, j->records, j->errors, j->drops, status);
	out_write(&c->out, &c->line);
}

const struct sink sink_json = {
	.name = "json",
	.begin = json_line_begin,
	.probe = json_listed,
	.create = json_create,
	.destroy = json_destroy,
	.open = json_open,
	.stmt = json_sink_stmt,
	.cut = json_cut,
	.close = json_close,
	.error = json_error,
	.drop = json_drop,
	.report = json_report,
	.end = json_end,
};
