/*
 * The format pprof: at the end a profile for `go tool pprof' and its like, the
 * message Profile of profile.proto (google/pprof), compressed by gzip.
 *
 * Each aggregation is a type of sample, each of its keys a sample; members of
 * the key that are no stack are labels.  A frame is a location with the
 * function that it belongs to, a module is a mapping.
 *
 * Only two forms of the wire format of protocol buffers are needed, varints and
 * bytes with their length, so they are written here: a library for them would
 * build the whole profile from objects in memory first, and need its compiler
 * at build time.
 */
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "tracer/consume/samples.h"

/* The numbers of the members. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,
	MAPPING_ID = 1,
	MAPPING_FILENAME = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

#define WIRE_VARINT 0
#define WIRE_BYTES  2

struct pprof {
	uint64_t begun; /* CLOCK_MONOTONIC, ns */
	int64_t time;   /* of day, ns */
};

/* A profile that is being made. */
struct profile {
	struct consume *c;
	const struct prog_agg **defs;
	size_t ndefs;
	struct str out;
	/* The number of each text, function, mapping and location by a hash of
	 * what it is; texts count from 0, the others from 1. */
	struct hash texts, functions, mappings, locations;
	uint64_t ntexts, nfunctions, nmappings, nlocations;
	struct str ids; /* the locations of a sample */
};

/* ---- the wire format ---- */

static void
add_varint(struct str *to, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		str_addc(to, (char)(v | 0x80));
	str_addc(to, (char)v);
}

static void
add_number(struct str *to, unsigned member, uint64_t v)
{
	add_varint(to, member << 3 | WIRE_VARINT);
	add_varint(to, v);
}

static void
add_bytes(struct str *to, unsigned member, const void *at, size_t n)
{
	add_varint(to, member << 3 | WIRE_BYTES);
	add_varint(to, n);
	str_addn(to, own(at), n); /* the format is for programs */
}

/* Append a message, which is freed. */
static void
add_message(struct str *to, unsigned member, struct str *message)
{
	add_bytes(to, member, str_c(message), message->len);
	str_fini(message);
}

/* ---- tables ---- */

/* The number of what has this hash; 0: it is new, and gets number n. */
static uint64_t
number_of(struct hash *h, uint64_t hash, uint64_t n)
{
	uint64_t known = (uint64_t)(uintptr_t)hash_get(h, hash);

	if (known == 0)
		hash_set(h, hash, (void *)(uintptr_t)n);
	return known;
}

static uint64_t
text_n(struct profile *p, const char *s, size_t n)
{
	struct str text = { 0 };
	uint64_t known = number_of(&p->texts, hash_bytes(s, n), p->ntexts + 1);

	if (known != 0)
		return known - 1;
	/* Protocol buffers have only valid UTF-8. */
	text_add_valid(&text, s, n);
	add_bytes(&p->out, PROFILE_STRING, str_c(&text), text.len);
	str_fini(&text);
	return p->ntexts++;
}

static uint64_t
text(struct profile *p, const char *s)
{
	return text_n(p, s, strlen(s));
}

static uint64_t
mapping(struct profile *p, const char *name, size_t n)
{
	struct str m = { 0 };

	if (name == NULL)
		return 0;
	uint64_t file = text_n(p, name, n);
	uint64_t known = number_of(&p->mappings, file, p->nmappings + 1);
	if (known != 0)
		return known;
	add_number(&m, MAPPING_ID, ++p->nmappings);
	add_number(&m, MAPPING_FILENAME, file);
	add_number(&m, MAPPING_HAS_FUNCTIONS, 1);
	add_message(&p->out, PROFILE_MAPPING, &m);
	return p->nmappings;
}

static uint64_t
function(struct profile *p, const struct stack_frame *f)
{
	uint64_t name = f->s.name != NULL ?
	    text_n(p, f->s.name, f->s.name_len) :
	    text(p, f->s.text);
	uint64_t file = text(p, f->s.file != NULL ? f->s.file : "");
	uint64_t module = mapping(p, f->s.module, f->s.module_len);
	struct str m = { 0 };
	uint64_t known = number_of(&p->functions,
	    hash_u64(name ^ hash_u64(file ^ hash_u64(module))),
	    p->nfunctions + 1);

	if (known != 0)
		return known;
	add_number(&m, FUNCTION_ID, ++p->nfunctions);
	add_number(&m, FUNCTION_NAME, name);
	add_number(&m, FUNCTION_SYSTEM_NAME, name);
	add_number(&m, FUNCTION_FILENAME, file);
	add_message(&p->out, PROFILE_FUNCTION, &m);
	return p->nfunctions;
}

/* Frames of different processes with equal addresses may differ. */
static void
add_location(void *ctx, const struct stack_frame *f)
{
	struct profile *p = ctx;
	uint64_t func = function(p, f);
	uint64_t known = number_of(&p->locations,
	    hash_u64(f->pc ^ hash_u64(func ^ hash_u64((uint64_t)f->s.line))),
	    p->nlocations + 1);
	struct str m = { 0 }, line = { 0 };

	add_varint(&p->ids, known != 0 ? known : p->nlocations + 1);
	if (known != 0)
		return;
	add_number(&m, LOCATION_ID, ++p->nlocations);
	add_number(
	    &m, LOCATION_MAPPING, mapping(p, f->s.module, f->s.module_len));
	if (!f->is_lang)
		add_number(&m, LOCATION_ADDRESS, f->pc);
	add_number(&line, LINE_FUNCTION, func);
	if (f->s.line != 0)
		add_number(&line, LINE_LINE, (uint64_t)f->s.line);
	add_message(&m, LOCATION_LINE, &line);
	add_message(&p->out, PROFILE_LOCATION, &m);
}

/* ---- samples ---- */

static void
add_label(struct profile *p, struct str *sample, const struct prog_rec *rec,
    size_t i, const uint8_t *key)
{
	char name[32];
	struct str value = { 0 }, m = { 0 };

	snprintf(name, sizeof(name), "key%zu", i);
	add_number(&m, LABEL_KEY, text(p, name));
	if (rec->kind == REC_INT) {
		add_number(&m, LABEL_NUM,
		    rec->is_signed ? (uint64_t)value_int(key, rec->size) :
				     value_uint(key, rec->size));
	} else {
		sample_label(p->c, rec, key, &value);
		add_number(&m, LABEL_STR, text_n(p, str_c(&value), value.len));
	}
	add_message(sample, SAMPLE_LABEL, &m);
	str_fini(&value);
}

static void
add_sample(void *ctx, const struct sample *s)
{
	struct profile *p = ctx;
	struct printer printer = record_printer(p->c, &p->ids);
	struct str sample = { 0 }, values = { 0 };

	str_clear(&p->ids);
	for (size_t i = 0; i < s->def->nkeys; i++) {
		const struct prog_rec *rec = &s->def->keys[i];
		const uint8_t *key = s->key + rec->off;
		if (rec->kind == REC_STACK)
			stack_parts(&printer, key, rec->size, add_location, p);
		else
			add_label(p, &sample, rec, i, key);
	}
	for (size_t i = 0; i < p->ndefs; i++)
		add_varint(
		    &values, p->defs[i] == s->def ? (uint64_t)s->value : 0);
	add_bytes(&sample, SAMPLE_LOCATION, str_c(&p->ids), p->ids.len);
	add_message(&sample, SAMPLE_VALUE, &values);
	add_message(&p->out, PROFILE_SAMPLE, &sample);
}

static void
add_types(struct profile *p)
{
	for (size_t i = 0; i < p->ndefs; i++) {
		char *name = mem_printf("@%s", p->defs[i]->name);
		struct str m = { 0 };
		add_number(&m, TYPE_TYPE, text(p, name));
		add_number(&m, TYPE_UNIT, text(p, "count"));
		add_message(&p->out, PROFILE_SAMPLE_TYPE, &m);
		mem_free(name);
	}
}

/* ---- compression ---- */

/* gzip: the window of zlib plus this. */
#define GZIP (15 + 16)

static bool
compress_out(struct consume *c, const struct str *in)
{
	z_stream z = { .next_in = (Bytef *)str_c(in), .avail_in = 0 };
	size_t left = in->len;
	char part[16384];
	int r = deflateInit2(
	    &z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY);

	if (r != Z_OK)
		return false;
	do {
		if (z.avail_in == 0) {
			z.avail_in = (uInt)MIN(left, UINT32_MAX / 2);
			left -= z.avail_in;
		}
		z.next_out = (Bytef *)part;
		z.avail_out = sizeof(part);
		r = deflate(&z, left == 0 ? Z_FINISH : Z_NO_FLUSH);
		str_addn(&c->line, own(part), sizeof(part) - z.avail_out);
		out_write(&c->out, &c->line);
	} while (r == Z_OK || r == Z_BUF_ERROR);
	deflateEnd(&z);
	return r == Z_STREAM_END;
}

/* ---- the format ---- */

static void
pprof_create(struct consume *c)
{
	struct pprof *s = mem_zalloc(sizeof(*s));
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	s->time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	s->begun = consume_now();
	c->format = s;
}

static void
pprof_destroy(struct consume *c)
{
	mem_free(c->format);
}

static void
pprof_report(struct consume *c)
{
	const struct pprof *s = c->format;
	struct profile p = { .c = c };

	p.ndefs = samples_aggs(c, &p.defs);
	text(&p, ""); /* text 0 must be empty */
	add_types(&p);
	samples_each(c, add_sample, &p);
	add_number(&p.out, PROFILE_TIME_NANOS, (uint64_t)s->time);
	add_number(&p.out, PROFILE_DURATION_NANOS, consume_now() - s->begun);
	if (!compress_out(c, &p.out))
		consume_message(c, "cannot compress the profile");
	samples_tell(c);
	hash_fini(&p.texts);
	hash_fini(&p.functions);
	hash_fini(&p.mappings);
	hash_fini(&p.locations);
	str_fini(&p.out);
	str_fini(&p.ids);
	mem_free(p.defs);
}

const struct sink sink_pprof = {
	.name = "pprof",
	.document = true,
	.create = pprof_create,
	.destroy = pprof_destroy,
	.stmt = samples_stmt,
	.report = pprof_report,
};
