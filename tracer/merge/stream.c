/*
 * One stream; see stream.h.
 */
#include "tracer/merge/stream_impl.h"

#include <stdio.h>

void
stream_init(
    struct stream *s, uint64_t number, const struct stream_ops *ops, void *ctx)
{
	*s = (struct stream){ .number = number, .ops = ops, .ctx = ctx };
	arena_init(&s->arena);
}

void
stream_fini(struct stream *s)
{
	arena_fini(&s->arena);
	vec_fini(&s->options);
	vec_fini(&s->sources);
	vec_fini(&s->aggs);
	vec_fini(&s->ids);
	vec_fini(&s->clauses);
	vec_fini(&s->names);
	hash_fini(&s->probes);
}

static void PRINTF_LIKE(2, 3) say(struct stream *s, const char *fmt, ...)
{
	struct str text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	str_vprintf(&text, fmt, ap);
	va_end(ap);
	s->ops->say(s->ctx, s, str_c(&text));
	str_fini(&text);
}

static void
refuse(struct stream *s, const char *why)
{
	s->refused = true;
	s->state = STREAM_OVER;
	say(s, "refused: %s", why);
}

/* ---- lines in their order ---- */

/* False: the line was there before. */
static bool
in_order(struct stream *s, uint64_t sequence)
{
	if (sequence < s->next) {
		s->repeated++;
		if (!s->said_repeated)
			say(s, "lines are repeated: the second is left out");
		s->said_repeated = true;
		return false;
	}
	if (sequence > s->next) {
		s->lost += sequence - s->next;
		if (!s->said_lost)
			say(s,
			    "lines are missing: what was in them is not "
			    "in the answer");
		s->said_lost = true;
	}
	s->next = sequence + 1;
	return true;
}

void
stream_damaged(struct stream *s)
{
	s->damaged++;
	if (!s->said_damaged)
		say(s, "a line is damaged: it is left out");
	s->said_damaged = true;
}

/* ---- what goes wrong there ---- */

static bool
get_drop(struct stream *s, struct wire_line *l)
{
	struct sink_drop d = { 0 };
	char *tag = wire_get_string(l, 64);

	d.kind = (int)wire_get_most(l, 255);
	d.n = wire_get_number(l);
	d.cpu = (int)wire_get_most(l, UINT16_MAX) - 1;
	d.pid = (uint32_t)wire_get_most(l, UINT32_MAX);
	char *what = wire_get_string(l, 4096);
	bool good = wire_is_over(l) && tag != NULL && what != NULL;
	d.tag = tag;
	d.what = what;
	for (char *p = tag; good && *p != '\0'; p++)
		good = *p >= 'A' && *p <= 'Z';
	if (good)
		s->ops->drop(s->ctx, s, &d);
	mem_free(tag);
	mem_free(what);
	return good;
}

static bool
get_error(struct stream *s, struct wire_line *l)
{
	char *text[6] = { NULL };
	struct probe_text probe = { 0 };
	struct sink_error e = { 0 };
	struct rec_hdr hdr = { 0 };

	text[0] = wire_get_string(l, 4096);
	text[1] = wire_get_string(l, 256);
	probe.id = (uint32_t)wire_get_most(l, UINT32_MAX);
	for (size_t i = 2; i < 6; i++)
		text[i] = wire_get_string(l, 4096);
	hdr.timestamp = wire_get_number(l);
	hdr.cpu = (uint32_t)wire_get_most(l, UINT32_MAX);
	hdr.pid = (uint32_t)wire_get_most(l, UINT32_MAX);
	hdr.tid = (uint32_t)wire_get_most(l, UINT32_MAX);
	e.count = wire_get_number(l);
	e.what = text[0];
	probe.prov = text[2];
	probe.mod = text[3];
	probe.func = text[4];
	probe.name = text[5];
	if (probe.prov != NULL && probe.mod != NULL && probe.func != NULL &&
	    probe.name != NULL)
		e.probe = &probe;
	bool good = wire_is_over(l) && e.what != NULL;
	if (good)
		s->ops->error(s->ctx, s, &e, &hdr);
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		mem_free(text[i]);
	return good;
}

static bool
get_time(struct stream *s, struct wire_line *l)
{
	wire_get_number(l); /* of the snapshot */
	uint64_t at = wire_get_number(l), realtime = wire_get_number(l);
	uint64_t rows = wire_get_number(l);
	bool whole = wire_get_most(l, 1);

	if (!wire_is_over(l))
		return false;
	/* Rows of lost lines; without one the stream lies. */
	if (rows > s->rows)
		s->short_rows += rows - s->rows;
	if (rows != s->rows && s->lost == 0 && s->damaged == 0)
		return false;
	s->rows = 0;
	s->whole = false;
	s->at = at;
	s->realtime = realtime;
	if (!whole)
		s->ops->snapshot(s->ctx, s);
	return true;
}

static bool
get_end(struct stream *s, struct wire_line *l)
{
	s->status = (int)wire_get_most(l, 255);
	for (int i = 0; i < 3; i++)
		wire_get_number(l);
	if (!wire_is_over(l))
		return false;
	s->ended = true;
	s->state = STREAM_OVER;
	return true;
}

/* ---- one line ---- */

/* Its rows are not the changes of others. */
static bool
get_whole(struct stream *s, struct wire_line *l)
{
	wire_get_number(l);
	s->whole = true;
	return wire_is_over(l);
}

/* Lines that make the reader keep something. */
static bool
may_describe(struct stream *s, const struct wire_line *l)
{
	s->described += (uint64_t)(l->end - l->at);
	s->lines++;
	return s->described <= STREAM_DESCRIBED && s->lines <= STREAM_LINES;
}

static bool
get_begin(struct stream *s, struct wire_line *l, const char **why)
{
	wire_get_number(l);
	if (!wire_is_over(l) || s->version == NULL)
		return false;
	vec_foreach(a, &s->aggs)
		*vec_push(&s->ids) = *a;
	*why = s->ops->ready(s->ctx, s);
	if (*why != NULL)
		return false;
	describe_translate(s);
	s->state = STREAM_RUNS;
	return true;
}

static bool
describe(struct stream *s, struct wire_line *l, const char **why)
{
	if (!may_describe(s, l)) {
		*why = "its description is too long";
		return false;
	}
	if (l->type != WIRE_HEAD && s->version == NULL) {
		*why = "its beginning is missing";
		return false;
	}
	switch (l->type) {
	case WIRE_HEAD: return describe_head(s, l);
	case WIRE_OPTION: return describe_option(s, l);
	case WIRE_SOURCE: return describe_source(s, l);
	case WIRE_AGG: return describe_agg(s, l);
	case WIRE_CLAUSE: return describe_clause(s, l);
	case WIRE_BEGIN: return get_begin(s, l, why);
	case WIRE_END: return get_end(s, l); /* it ended before it began */
	default: *why = "its beginning is missing"; return false;
	}
}

static bool
run(struct stream *s, struct wire_line *l, const char **why)
{
	switch (l->type) {
	case WIRE_PROBE:
		if (may_describe(s, l))
			return describe_probe(s, l);
		*why = "it has too many probes";
		return false;
	case WIRE_NAME: return value_name(s, l);
	case WIRE_RECORD: return value_record(s, l);
	case WIRE_KEYS: return value_rows(s, l);
	case WIRE_WHOLE: return get_whole(s, l);
	case WIRE_TIME: return get_time(s, l);
	case WIRE_DROP: return get_drop(s, l);
	case WIRE_ERROR: return get_error(s, l);
	case WIRE_END: return get_end(s, l);
	default: return false;
	}
}

/* After a line was lost, a later one may name what was in it. */
static bool
is_forgiven(const struct stream *s, const struct wire_line *l)
{
	return s->state == STREAM_RUNS && (s->lost != 0 || s->damaged != 0) &&
	    (l->type == WIRE_KEYS || l->type == WIRE_RECORD ||
		l->type == WIRE_PROBE || l->type == WIRE_TIME);
}

bool
stream_line(struct stream *s, struct wire_line *l)
{
	const char *why = "it says what cannot be";
	char text[96];

	if (s->state == STREAM_OVER || !in_order(s, l->sequence))
		return false;
	bool good =
	    s->state == STREAM_HEAD ? describe(s, l, &why) : run(s, l, &why);
	if (!good && !is_forgiven(s, l)) {
		snprintf(text, sizeof(text), "%s (line %llu, %c)", why,
		    (unsigned long long)l->sequence,
		    l->type >= 'A' && l->type <= 'Z' ? l->type : '?');
		refuse(s, s->state == STREAM_HEAD ? why : text);
	}
	return good &&
	    (l->type == WIRE_TIME || l->type == WIRE_RECORD ||
		l->type == WIRE_BEGIN || l->type == WIRE_END);
}

void
stream_over(struct stream *s)
{
	if (s->state == STREAM_OVER)
		return;
	s->state = STREAM_OVER;
	say(s,
	    s->version == NULL ?
		"ended before it began" :
		"ended without its last line: what it had not sent yet is not "
		"in the answer");
}

void
stream_tell(struct stream *s)
{
	if (s->lost != 0)
		say(s, "%llu lines were missing", (unsigned long long)s->lost);
	if (s->repeated != 0)
		say(s, "%llu lines were repeated",
		    (unsigned long long)s->repeated);
	if (s->damaged != 0)
		say(s, "%llu lines were damaged",
		    (unsigned long long)s->damaged);
	if (s->short_rows != 0)
		say(s, "%llu changes of aggregations are not in the answer",
		    (unsigned long long)s->short_rows);
	if (s->noname != 0)
		say(s, "%llu names were left out: there is no room for more",
		    (unsigned long long)s->noname);
}
