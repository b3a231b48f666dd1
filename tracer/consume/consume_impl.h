/*
 * What the files of the consumer share.
 *
 *	lanes.c -> consume.c -> record.c -> print, printf, printa, stack_text
 *	   |                        |              |
 *	   +-> snapshot.c ------> aggs.c <---------+--> hist
 *
 * Everything is rendered into a `struct str' and written by out.c.  Bytes that
 * come from the store are copied before they are looked at; what is decoded is
 * the copy, by layouts that only the compiler wrote.
 */
#ifndef TRACER_CONSUME_CONSUME_IMPL_H
#define TRACER_CONSUME_CONSUME_IMPL_H

#include "dlang/base/hash.h"
#include "dlang/base/str.h"
#include "dlang/base/vec.h"
#include "dlang/vm/store.h"
#include "symbols/addrspace.h"
#include "tracer/consume/consume.h"
#include "tracer/consume/text.h"

struct feed;
struct lanes;

/* ---- out.c: where output goes ---- */

struct out {
	FILE *base;   /* the environment's: borrowed */
	FILE *own;    /* after freopen(), or NULL */
	bool escape;  /* it is a terminal: see text.h */
	int error;    /* the first errno, negative; nothing is written after */
	size_t limit; /* of what waits to be written */
	bool patient; /* from now on writing may take its time, */
	bool (*enough)(void); /* until this says so; or NULL */
};

void out_init(struct out *o, FILE *base, size_t limit, bool (*enough)(void));
void out_fini(struct out *o);
/* Write the text and clear it. */
void out_write(struct out *o, struct str *text);
/* Too much waits: print no more now. */
bool out_full(struct out *o);
/* 0 or the error, which stays. */
int out_flush(struct out *o);
/* Append to a file from now on; "" goes back to the first.  0 or a negative
 * errno, and then nothing has changed. */
int out_reopen(struct out *o, const char *path);
void out_truncate(struct out *o);
/* Run a shell command and wait for it. */
void out_system(struct out *o, const char *command);
/* "dtrap: ..." on a line of its own, behind what was printed so far. */
void consume_message(struct consume *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- stack_text.c: addresses ---- */

/* Newline, then a line for each frame, `indent' blanks before it; -1: as the
 * option says.  With stackformat=folded: as stack_fold(). */
void stack_print(struct printer *p, const void *stack, size_t size, int indent);
bool stack_is_folded(const struct options *opts);
/* One word, the functions from the outermost on with `;' between them; "-" for
 * no frame. */
void stack_fold(struct printer *p, const void *stack, size_t size);
/* The name of each function, the outermost first. */
typedef void (*stack_frame_fn)(void *ctx, const char *name);
void stack_functions(struct printer *p, const void *stack, size_t size,
    stack_frame_fn frame, void *ctx);
/* The name of a struct rec_sym, by the kind of value. */
void sym_text(struct printer *p, enum rec_kind kind, const void *sym, char *buf,
    size_t size);
/* An address without a space, in the process of the record. */
void addr_text(struct printer *p, uint64_t addr, char *buf, size_t size);

/* ---- print.c: values in their default form ---- */

uint64_t value_uint(const void *p, uint32_t size);
int64_t value_int(const void *p, uint32_t size);
long double value_float(const void *p, uint32_t size);
/* trace(): a value in its column. */
void print_value(struct printer *p, const struct prog_rec *rec, const void *v);
/* A member of an aggregation's key. */
void print_key(struct printer *p, const struct prog_rec *rec, const void *v);
/* The same in as few columns as it takes, and never more than one line. */
void print_key_short(
    struct printer *p, const struct prog_rec *rec, const void *v);
/* tracemem(): hex and characters. */
void print_dump(struct printer *p, const void *v, size_t size);
/* print(): a value by its type, as many bytes of it as `printsize' says. */
void print_typed(
    struct printer *p, const struct type *t, const void *v, size_t size);
/* The same of what is at an address, which comes first. */
void print_object(struct printer *p, uint64_t addr, const struct type *t,
    const void *v, size_t size);

/* ---- snapshot.c ---- */

/* What was read of the aggregations of one lane. */
struct snapshot {
	uint32_t area;    /* the one that is written */
	uint8_t *copy[2]; /* of each area as it was read; NULL: nothing was */
	uint32_t read[2]; /* so many bytes of it are entries, and head */
	bool leaving;     /* somebody may be writing to the other one */
	uint32_t since;   /* agg_is_busy()'s */
	uint32_t seen;    /* agg_busy as it was when all of it had been read;
			   * 1, which it never is between updates: it was not */
};

/* Add what is new in each lane to c->aggs; a lane whose area is half full goes
 * over to its other one.  Was anything new? */
bool snapshots_read(struct consume *c);
/* Have each lane go over to its other area: what comes from now on is not
 * merged with what was. */
void snapshots_flip(struct consume *c);
/* Nobody writes to the lane any more: read what is left, and empty it. */
void snapshot_end(struct consume *c, struct feed *s);
void snapshot_forget(struct snapshot *s);

/* ---- lanes.c ---- */

struct feed { /* a lane, as the consumer reads it */
	struct lanes *lanes;
	struct lane_view v;
	struct snapshot snapshot;
	uint64_t drops[DROP_COUNT]; /* counted so far */
};

struct lanes {         /* of one store */
	uint8_t *base; /* of the store; NULL: it has ended, or is none */
	bool threads;  /* a thread store: drops are told for the process, */
	uint32_t pid;  /* this one */
	uint64_t drops[DROP_COUNT]; /* not told yet */
	uint8_t *left; /* what an ended lane has left, and then the only lane
			* is in there */
	uint32_t n;
	struct feed at[];
};

struct next { /* in the heap */
	uint64_t when;
	uint32_t order; /* of those of one time */
	struct feed *feed;
};

/* Read the lanes of a store from now on: as it is before a target can write
 * there.  False: there are none that make sense. */
bool lanes_add(struct consume *c, const struct region *store, uint32_t pid);
void lanes_fini(struct consume *c);
/* Begin a pass over what has been written. */
void lanes_begin(struct consume *c);
/* Move the oldest record of the pass to c->rec; *next is the header of the one
 * behind it in its lane, if *followed.  False: the pass is over. */
bool lanes_take(struct consume *c, struct rec_hdr *next, bool *followed);
/* The last of what was written there: it is emptied, and what has to wait until
 * it is printed is kept here.  All lanes: the store is forgotten. */
void lanes_end(struct consume *c, const struct region *store, uint32_t n);
void lanes_end_all(struct consume *c, const struct region *store);
/* After a pass: forget what is over. */
void lanes_tidy(struct consume *c);
/* What was lost in a lane, by cause, since this was last asked. */
uint64_t lane_drops(struct feed *s, unsigned kind);

/* ---- aggs.c: the consumer's own copy of the aggregations ---- */

/* The share of one processor, with aggpercpu. */
struct agg_part {
	uint32_t cpu;
	uint64_t *value;
};

struct agg_row {
	struct agg_row *next;       /* with the same hash */
	VEC(struct agg_part) parts; /* by processor */
	const struct prog_agg *def;
	bool empty;      /* nothing was added since it was made or cleared */
	uint64_t *value; /* def->words */
	uint8_t key[];   /* def->key_size */
};

struct agg_table {
	VEC(struct agg_row *) rows;
	uint64_t normal; /* normalize(): 1 for none */
	bool printed;    /* by a printa() */
};

struct aggs {
	const struct prog_globals *globals;
	VEC(struct agg_table) tables; /* index is id - 1 */
	struct hash by_key;
	size_t used, most; /* bytes of all rows */
	uint64_t drops;    /* updates of keys that found no room */
};

void aggs_init(struct aggs *a, const struct prog_globals *g, size_t most);
void aggs_fini(struct aggs *a);
/* The table of an aggregation, or NULL when there is no such id. */
struct agg_table *aggs_table(struct aggs *a, uint32_t id);
/* Add a value under a key, which may be changed: symbol keys to where their
 * symbol starts.  `cpu' is that of struct agg_entry. */
void aggs_add(struct aggs *a, uint32_t id, uint8_t *key, uint32_t cpu,
    const uint64_t *value);
void aggs_clear(struct aggs *a, uint32_t id);
/* Keep the n largest values; negative: the smallest; 0: none. */
void aggs_trunc(struct aggs *a, uint32_t id, int64_t n);

/* The value as one number: mean, deviation, as it is; the histograms have
 * none (0).  Divided by normal. */
int64_t agg_scalar(
    const struct prog_agg *def, const uint64_t *value, uint64_t normal);
bool agg_is_hist(const struct prog_agg *def);

/* One line of output: the rows of several aggregations under one key.  NULL
 * where an aggregation has none. */
struct agg_line {
	const struct agg_row **rows;
	const uint8_t *key;
	const struct prog_agg *keydef; /* whose key it is */
};

struct agg_lines {
	struct agg_line *at;
	size_t len;
	const struct agg_row **cells;
};

/* All keys of the aggregations `ids', sorted as the options say.  Rows are
 * borrowed. */
void aggs_lines(struct aggs *a, const uint32_t *ids, size_t nids,
    const struct options *opts, struct agg_lines *out);
void agg_lines_fini(struct agg_lines *l);

/* ---- hist.c ---- */

struct hist_style {
	bool zoom, utf8, pack_utf8;
};

struct hist_style hist_style(const struct options *opts);
/* Header and rows of a quantization. */
void hist_print(struct str *to, const struct prog_agg *def,
    const uint64_t *value, uint64_t normal, const struct hist_style *style);

/* The same rows, from the top: the count, and the count divided. */
typedef void (*hist_row_fn)(
    void *ctx, const char *label, int64_t v, int64_t shown);
void hist_each(const struct prog_agg *def, const uint64_t *value,
    uint64_t normal, hist_row_fn row, void *ctx);

/* llquantize: values of its buckets times their counts. */
long double hist_ll_weight(const struct prog_agg *def, const uint64_t *value);

/* The buckets that a packed line shows, and by what they are scaled. */
struct hist_range {
	uint32_t first, last;
	int min_width, max_width;
	bool any;
};

/* Widen the range by a value's. */
void hist_range_add(
    struct hist_range *r, const struct prog_agg *def, const uint64_t *value);
/* " min :packed: max | count", and its header; no newline. */
void hist_pack(struct str *to, const struct prog_agg *def,
    const uint64_t *value, uint64_t normal, const struct hist_range *r,
    const struct hist_style *style);
void hist_pack_header(
    struct str *to, const struct prog_agg *def, const struct hist_range *r);
/* "|@@@   |": the bar of `v' in 40 columns. */
void hist_bar(struct str *to, int64_t v, double total, bool neg, bool pos,
    const struct hist_style *style);
void hist_header(struct str *to, int width, const char *what);

/* ---- printf.c ---- */

struct fmt_args {
	const struct prog_rec *recs; /* values or members of the key */
	size_t nrecs;
	const uint8_t *base; /* what their offsets count from */
	size_t size;
	/* printa(): */
	const struct agg_row **rows; /* NULL where there is none */
	const struct prog_agg *const *defs;
	const uint64_t *normals;
	size_t naggs;
};

void printf_render(
    struct printer *p, const struct fmt *f, const struct fmt_args *args);

/* ---- printa.c ---- */

/* One or several aggregations, joined by key; fmt NULL: the default form, a
 * newline first if `lead'. */
void printa(struct printer *p, const uint32_t *ids, size_t nids,
    const struct fmt *fmt, bool lead);

/* ---- record.c ---- */

struct flow {                 /* -F, of one thread */
	VEC(uint64_t) inside; /* which functions it has entered, by hash */
	uint32_t epid;        /* of the last record, 0 for none */
	uint64_t timestamp;
};

struct probe_text { /* of an ECB; "" for what the image does not say */
	uint32_t id;
	uint32_t probe_ref;
	const char *prov, *mod, *func, *name;
	const struct prog_clause *clause; /* NULL: it cannot be decoded */
};

/* False when there is no such EPID. */
bool record_probe(const struct consume *c, uint32_t epid, struct probe_text *p);
/* Bytes of a record, by its EPID; 0 when there is no such thing. */
uint32_t record_size(const struct consume *c, uint32_t epid);
/* For text of the process of the record in c->rec. */
struct printer record_printer(struct consume *c, struct str *to);
/* The record in c->rec.  `next' is the one that follows in its lane, or
 * NULL. */
void record_print(struct consume *c, const struct rec_hdr *next);
/* Forget how deep each thread is. */
void flows_fini(struct consume *c);
/* A clause as messages name it. */
#define CLAUSE_NAME 32
const char *record_clause_name(
    const struct prog_clause *clause, char *buf, size_t size);
/* What went wrong while a record of ecb epid was carried out. */
void record_error(struct consume *c, uint32_t epid, const char *what);

/* ---- faults.c ---- */

/* The record in c->rec, which is a fault. */
void record_fault(struct consume *c);
/* At the end: of which there were too many to be shown. */
void faults_tell(struct consume *c);
void faults_fini(struct consume *c);

/* ---- consume.c ---- */

struct consume {
	struct consume_env env;
	struct out out;
	struct str line; /* of the record being printed */
	struct aggs aggs;
	uint64_t aggs_at;   /* when they were last read; 0: there was nothing */
	struct hash flows;  /* struct flow by pid and tid */
	struct hash faults; /* struct fault_kind, faults.c */
	bool header;        /* printed */
	struct {            /* the record being printed, copied */
		union {
			struct rec_hdr *hdr;
			uint8_t *at;
		};
		uint32_t size, cap;
	} rec;
	VEC(struct lanes *) lanes; /* the tracer's first */
	VEC(struct next) heap;     /* of the pass: the oldest is the first */
	uint64_t until;            /* the pass takes what has no later time */
	uint64_t budget;           /* bytes that it may still take */
	uint64_t left;             /* bytes of what ended lanes have left */
	bool over;                 /* nobody writes any more */
	uint64_t damaged;          /* bytes skipped, not reported yet */
};

/* now.c: CLOCK_MONOTONIC, nanoseconds. */
uint64_t consume_now(void);

#endif
