/*
 * The lines of a stream that carry values: names, rows, records.
 */
#include <string.h>

#include "dlang/vm/agg.h"
#include "symbols/langname.h"
#include "tracer/merge/stream_impl.h"

/* Names are kept as those of languages' frames are, so that a stack is a row of
 * words again, and equal stacks of different hosts are equal words. */
bool
value_name(struct stream *s, struct wire_line *l)
{
	uint64_t number = wire_get_most(l, STREAM_NAMES - 1);
	uint64_t flags = wire_get_most(l, 3);
	char *text = wire_get_string(l, LANG_NATIVE_BYTES);
	char *file = wire_get_string(l, LANG_NATIVE_BYTES);
	int line = (int)wire_get_most(l, INT32_MAX);
	bool good = wire_is_over(l) && text != NULL;

	if (good) {
		uint64_t word = langname_word(&(struct lang_name){
		    .function = text,
		    .file = file,
		    .line = line,
		    .native = flags & 1,
		    .note = flags & 2,
		});
		while (s->names.len <= number)
			*vec_push(&s->names) = 0;
		s->names.at[number] = word;
		s->noname += word == 0 && *text != '\0';
	}
	mem_free(text);
	mem_free(file);
	return good;
}

static uint64_t
get_name(struct stream *s, struct wire_line *l)
{
	uint64_t number = wire_get_number(l);

	if (number < s->names.len)
		return s->names.at[number];
	l->bad = true;
	return 0;
}

static void
get_stack(struct stream *s, struct wire_line *l, const struct prog_rec *r,
    uint8_t *to)
{
	uint64_t n = wire_get_most(l, r->arg);

	for (uint64_t i = 0; i < n && !l->bad; i++) {
		uint64_t word = get_name(s, l);
		memcpy(to + sizeof(struct rec_stack) + 8 * i, &word, 8);
	}
}

/* A value, at the place where it belongs; the place is zero. */
static void
get_value(struct stream *s, struct wire_line *l, const struct prog_rec *r,
    uint8_t *to)
{
	struct rec_sym sym = { 0 };
	uint64_t v;

	switch (r->kind) {
	case REC_INT:
		v = wire_get_number(l);
		memcpy(to, &v, r->size); /* little-endian, like records */
		break;
	case REC_STRING: wire_get_text(l, to, r->size - 1); break;
	case REC_CHARS:
	case REC_BYTES:
	case REC_FLOAT: wire_get_text(l, to, r->size); break;
	case REC_STACK: get_stack(s, l, r, to); break;
	case REC_USYM:
	case REC_UMOD:
	case REC_UADDR:
	case REC_SYM:
	case REC_MOD:
		sym.addr = get_name(s, l);
		memcpy(to, &sym, sizeof(sym));
		break;
	case REC_EPID: break;
	}
}

/* ---- rows ---- */

/* Only the buckets that are not empty are sent. */
static bool
is_hist(const struct prog_agg *a)
{
	return a->func == AGG_QUANTIZE || a->func == AGG_LQUANTIZE ||
	    a->func == AGG_LLQUANTIZE;
}

static void
get_words(struct wire_line *l, const struct prog_agg *a, uint64_t *value)
{
	bool hist = is_hist(a);
	uint64_t n = hist ? wire_get_most(l, a->words) : a->words;
	uint32_t first = a->func == AGG_LQUANTIZE || a->func == AGG_LLQUANTIZE;

	agg_zero(a->func, a->param, a->words, value);
	for (uint64_t i = 0; i < n && !l->bad; i++) {
		uint64_t at = hist ? wire_get_most(l, a->words - 1) : i;
		uint64_t v = wire_get_number(l);
		if (hist && at < first)
			l->bad = true;
		else
			value[at] = v;
	}
}

/* How a row's memory is reset: strings are short, and their places are not. */
static void
clear_key(const struct prog_agg *a, uint8_t *key)
{
	if (a->key_size > 0)
		memset(key, 0, a->key_size);
}

bool
value_rows(struct stream *s, struct wire_line *l)
{
	uint64_t id = wire_get_most(l, s->aggs.len);
	uint32_t cpu = (uint32_t)wire_get_most(l, UINT16_MAX);
	uint64_t n = wire_get_number(l);

	if (l->bad || id == 0)
		return false;
	const struct prog_agg *a = s->aggs.at[id - 1];
	uint8_t *key = mem_alloc(a->key_size + 8);
	uint64_t *value = mem_alloc((size_t)a->words * 8);
	for (; n > 0 && !l->bad; n--) {
		clear_key(a, key);
		for (size_t i = 0; i < a->nkeys; i++)
			get_value(s, l, &a->keys[i], key + a->keys[i].off);
		get_words(l, a, value);
		if (l->bad)
			break;
		s->rows++;
		if (!s->whole)
			s->ops->row(
			    s->ctx, s, s->ids.at[id - 1], key, cpu, value);
	}
	mem_free(key);
	mem_free(value);
	return wire_is_over(l);
}

/* ---- records ---- */

/* The streams' EPIDs are none of the reader's image. */
#define FAR_EPID 0x80000000u

bool
value_record(struct stream *s, struct wire_line *l)
{
	const struct probe_text *p =
	    hash_get(&s->probes, wire_get_most(l, UINT32_MAX));
	struct rec_hdr hdr = { .epid = FAR_EPID };

	hdr.timestamp = wire_get_number(l);
	hdr.cpu = (uint32_t)wire_get_most(l, UINT32_MAX);
	hdr.pid = (uint32_t)wire_get_most(l, UINT32_MAX);
	hdr.tid = (uint32_t)wire_get_most(l, UINT32_MAX);
	if (l->bad || p == NULL)
		return false;
	hdr.epid |= p->clause->global_index;
	uint8_t *rec = mem_zalloc(p->clause->rec_size);
	memcpy(rec, &hdr, sizeof(hdr));
	for (size_t i = 0; i < p->clause->nstmts && !l->bad; i++) {
		const struct prog_stmt *st = &p->clause->stmts[i];
		for (size_t j = 0; j < st->nrecs; j++)
			get_value(s, l, &st->recs[j], rec + st->recs[j].off);
	}
	if (wire_is_over(l)) {
		s->at = hdr.timestamp;
		s->ops->record(s->ctx, s, p, rec, p->clause->rec_size);
	}
	mem_free(rec);
	return !l->bad;
}
