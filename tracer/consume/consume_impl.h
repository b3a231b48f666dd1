/*
 * Shared by the files of the consumer.
 *
 *	lanes.c -> consume.c -> record.c -> sink_text -> print, printf, printa
 *	   |                        |          |            |
 *	   |                        |       sink_json ...   +--> stack_text
 *	   |                        |          |            |
 *	   +-> snapshot.c ------> aggs.c <-----+------------+--> hist
 *
 * All text is made in a `struct str' and written by out.c.  Bytes of the store
 * are copied before they are decoded, because the target may change them.  The
 * layout comes from the compiled program, never from the store.
 */
#ifndef TRACER_CONSUME_CONSUME_IMPL_H
#define TRACER_CONSUME_CONSUME_IMPL_H

#include "dlang/base/hash.h"
#include "dlang/base/str.h"
#include "dlang/base/vec.h"
#include "dlang/vm/store.h"
#include "symbols/addrspace.h"
#include "tracer/consume/consume.h"
#include "tracer/consume/sink.h"
#include "tracer/consume/text.h"

struct feed;
struct page;
struct lanes;
struct type;
struct type_member;

/* ---- out.c: where output goes ---- */

struct out {
	FILE *base;   /* the environment's: borrowed */
	FILE *own;    /* after freopen(), or NULL */
	bool escape;  /* it is a terminal: see text.h */
	int error;    /* the first errno, negative; nothing is written after */
	size_t limit; /* of the text that waits to be written */
	bool apart;   /* what commands print goes to standard error */
	bool patient; /* wait for a slow reader, */
	bool (*enough)(void); /* until this returns true; or NULL */
};

void out_init(struct out *o, FILE *base, size_t limit, bool (*enough)(void));
void out_fini(struct out *o);
/* Write the text and clear it. */
void out_write(struct out *o, struct str *text);
/* Does too much text wait?  Then print no more now. */
bool out_full(struct out *o);
/* 0 or the error, which stays. */
int out_flush(struct out *o);
/* Append to a file from now on; "" goes back to the first output.  0, or a
 * negative errno, and then nothing has changed. */
int out_reopen(struct out *o, const char *path);
void out_truncate(struct out *o);
/* Run a shell command and wait for it. */
void out_system(struct out *o, const char *command);
/* "dtrap: ..." on a line of its own, behind what was printed so far. */
void consume_message(struct consume *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- stack_text.c: addresses ---- */

/* Print a newline and a line for each frame, indented by `indent' blanks (-1:
 * by option stackindent).  With stackformat=folded as stack_fold(). */
void stack_print(struct printer *p, const void *stack, size_t size, int indent);
bool stack_is_folded(const struct options *opts);
/* Print one word: the functions from the outermost on, separated by `;'; "-" if
 * there is no frame. */
void stack_fold(struct printer *p, const void *stack, size_t size);
/* Call frame() with the name of each function, the outermost first. */
typedef void (*stack_frame_fn)(void *ctx, const char *name);
void stack_functions(struct printer *p, const void *stack, size_t size,
    stack_frame_fn frame, void *ctx);
/* Has it as many frames as there is room for?  Then it may have had more. */
bool stack_is_full(const void *stack, size_t size);
/* Call name() with the text of each frame, the innermost first. */
typedef void (*stack_name_fn)(void *ctx, uint64_t pc, const char *name);
void stack_names(struct printer *p, const void *stack, size_t size,
    stack_name_fn name, void *ctx);
/* A name of symbolise.h in its parts, which point into text. */
struct symbol_parts {
	const char *text;   /* all of it, without the line */
	const char *module; /* NULL: not known */
	size_t module_len;
	const char *name; /* NULL: no function is known there */
	size_t name_len;
	const char *offset; /* "0x1a", "-0x40"; NULL: none */
	const char *file;   /* NULL: not known */
	int line;
};
/* Split text, of which a part may be overwritten; `line': it may end in
 * " (file:12)". */
void symbol_parts(struct symbol_parts *s, char *text, bool line);

struct stack_frame {
	uint64_t pc; /* no address if is_lang */
	bool is_lang;
	bool is_note; /* it belongs to the frame before it */
	struct symbol_parts s;
};
/* Call frame() for each frame, the innermost first. */
typedef void (*stack_parts_fn)(void *ctx, const struct stack_frame *f);
void stack_parts(struct printer *p, const void *stack, size_t size,
    stack_parts_fn frame, void *ctx);
/* The text of a struct rec_sym for this kind of value. */
void sym_text(struct printer *p, enum rec_kind kind, const void *sym, char *buf,
    size_t size);
/* The text of a plain integer as an address in the record's process. */
void addr_text(struct printer *p, uint64_t addr, char *buf, size_t size);

/* ---- print.c: values in their default form ---- */

uint64_t value_uint(const void *p, uint32_t size);
int64_t value_int(const void *p, uint32_t size);
long double value_float(const void *p, uint32_t size);
/* trace(): a value in its column. */
void print_value(struct printer *p, const struct prog_rec *rec, const void *v);
/* A member of an aggregation's key. */
void print_key(struct printer *p, const struct prog_rec *rec, const void *v);
/* The same without padding, and always on one line. */
void print_key_short(
    struct printer *p, const struct prog_rec *rec, const void *v);
/* tracemem(): hex and characters. */
void print_dump(struct printer *p, const void *v, size_t size);
/* print(): a value by its type, at most `printsize' bytes of it. */
void print_typed(
    struct printer *p, const struct type *t, const void *v, size_t size);
/* The same for an object at an address, which is printed first. */
void print_object(struct printer *p, uint64_t addr, const struct type *t,
    const void *v, size_t size);

/* print_type.c: the type behind names, which may be read only now; or NULL. */
const struct type *print_type_resolve(const struct type *type);
/* Its name; without one, just what it is. */
void print_type_name(const struct type *type, char *buf, size_t size);
/* The value of a bit-field in the `size' bytes at `at', where its type begins. */
uint64_t print_type_bits(
    const struct type_member *m, const uint8_t *at, size_t size);

/* ---- snapshot.c ---- */

/* The aggregations of one lane as they were last read. */
struct snapshot {
	uint32_t area;    /* the area in use */
	uint8_t *copy[2]; /* of each area as it was last read; NULL: not read
			   * yet */
	uint32_t read[2]; /* bytes of header and entries in the copy */
	bool leaving;     /* a writer may still be in the other area */
	uint32_t since;   /* for agg_is_busy() */
	uint32_t seen;    /* value of agg_busy when everything had been read; 1:
			* not everything was read (it is even between
			* updates) */
};

/* Add new data of each lane to c->aggs, and switch a lane whose area is half
 * full to its other area.  Returns whether anything was new. */
bool snapshots_read(struct consume *c);
/* Switch each lane to its other area, so that later values are not merged with
 * earlier ones (minima, maxima). */
void snapshots_flip(struct consume *c);
/* The lane has no writer any more: read the rest, and empty it. */
void snapshot_end(struct consume *c, struct feed *s);
void snapshot_forget(struct snapshot *s);

/* ---- lanes.c ---- */

struct feed { /* a lane that the consumer reads */
	struct lanes *lanes;
	struct lane_view v;
	struct snapshot snapshot;
	uint64_t drops[DROP_COUNT]; /* already counted */
};

struct lanes {         /* the lanes of one store */
	uint8_t *base; /* begin of the store; NULL: it is not read any more */
	bool threads;  /* a thread store; its drops are reported for: */
	uint32_t pid;  /* this process */
	uint64_t drops[DROP_COUNT]; /* not reported yet */
	uint8_t *left; /* a copy of the records of an ended lane; then this is
			* the only lane */
	uint32_t n;
	struct feed at[];
};

struct next { /* the next record of a lane, in the heap of a pass */
	uint64_t when;
	uint32_t order; /* of records with equal times */
	struct feed *feed;
};

/* Read the lanes of a store from now on.  Call it before a target can write
 * there.  False: the store has no valid lanes. */
bool lanes_add(struct consume *c, const struct region *store, uint32_t pid);
void lanes_fini(struct consume *c);
/* Has a lane of a thread store records for a quarter of its buffer, or aggregations
 * for half of theirs? */
bool lanes_fill(const struct consume *c);
/* Begin a pass over the records that exist now. */
void lanes_begin(struct consume *c);
/* Move the oldest record of the pass to c->rec.  If *followed, *next is the
 * header of the record behind it in the same lane.  False: the pass is over. */
bool lanes_take(struct consume *c, struct rec_hdr *next, bool *followed);
/* lanes_end() reads and empties lane n; records that must wait until they are
 * printed are copied.  lanes_end_all() does so for all lanes, and forgets the
 * store. */
void lanes_end(struct consume *c, const struct region *store, uint32_t n);
void lanes_end_all(struct consume *c, const struct region *store);
/* After a pass: free lanes that have nothing left. */
void lanes_tidy(struct consume *c);
/* The number of drops of a kind in a lane since the last call. */
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
	bool empty;      /* nothing was added since it was created or cleared */
	uint64_t *value; /* def->words */
	uint8_t key[];   /* def->key_size */
};

struct agg_table {
	VEC(struct agg_row *) rows;
	uint64_t normal;  /* normalize(): 1 for none */
	bool printed;     /* by a printa() */
	bool reported;    /* the same, and live.c has it */
	uint64_t cleared; /* when clear() began it anew; 0: never */
};

struct aggs {
	const struct prog_globals *globals;
	VEC(struct agg_table) tables; /* index is id - 1 */
	struct hash by_key;
	size_t used, most; /* bytes of all rows */
	uint64_t drops;    /* updates of keys for which there was no room */
};

void aggs_init(struct aggs *a, const struct prog_globals *g, size_t most);
void aggs_fini(struct aggs *a);
/* The table of an aggregation, or NULL when there is no such id. */
struct agg_table *aggs_table(struct aggs *a, uint32_t id);
/* Add a value under a key.  Changes the key: the address in a symbol key
 * becomes the begin of the symbol.  `cpu' is as in struct agg_entry. */
void aggs_add(struct aggs *a, uint32_t id, uint8_t *key, uint32_t cpu,
    const uint64_t *value);
/* The same for a key whose addresses have been looked up.  False: there was no
 * room for it. */
bool aggs_merge(struct aggs *a, uint32_t id, const uint8_t *key, uint32_t cpu,
    const uint64_t *value);
void aggs_clear(struct aggs *a, uint32_t id);
/* Keep the n largest values; if n is negative, the -n smallest; 0: none. */
void aggs_trunc(struct aggs *a, uint32_t id, int64_t n);

/* The value as one number (the mean for avg, the deviation for stddev), divided
 * by normal; 0 for histograms. */
int64_t agg_scalar(
    const struct prog_agg *def, const uint64_t *value, uint64_t normal);
bool agg_is_hist(const struct prog_agg *def);
/* The same of a row, as histograms are sorted: by the sum of each value times its
 * count.  NULL: there is none. */
long double agg_weight(const struct prog_agg *def, const struct agg_row *row);

/* One line of output: the rows of several aggregations under one key.  A row is
 * NULL if that aggregation does not have the key. */
struct agg_line {
	const struct agg_row **rows;
	const uint8_t *key;
	const struct prog_agg *keydef; /* the aggregation that the key comes
					* from */
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

struct hist_bucket {
	const char *label; /* the row's, as in text */
	int64_t value;     /* the number in it */
	int64_t low, high; /* the least and the greatest value counted here */
	bool open_below;   /* everything up to high */
	bool open_above;   /* everything from low on */
	int64_t count;
	int64_t shown; /* the count, divided by normal */
};

/* Call row() for each of these rows, from the top. */
typedef void (*hist_row_fn)(void *ctx, const struct hist_bucket *b);
void hist_each(const struct prog_agg *def, const uint64_t *value,
    uint64_t normal, hist_row_fn row, void *ctx);

/* llquantize: the sum of each bucket's value times its count. */
long double hist_ll_weight(const struct prog_agg *def, const uint64_t *value);

/* The buckets that a packed line shows, and the widths of its ends. */
struct hist_range {
	uint32_t first, last;
	int min_width, max_width;
	bool any;
};

/* Extend the range to include the buckets of a value. */
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
	const uint8_t *base; /* their offsets count from here */
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
/* The same as the statement says, line by line: row() is called when the text of
 * a line has been appended, with NULL for a header.  At most `most' lines, in the
 * order that `opts' says. */
typedef void (*printa_row_fn)(void *ctx, const struct agg_line *l);
void printa_rows(struct printer *p, const struct prog_stmt *st, size_t most,
    const struct options *opts, printa_row_fn row, void *ctx);

/* ---- record.c ---- */

struct flow {                 /* option -F: the state of one thread */
	VEC(uint64_t) inside; /* hashes of the functions that it has entered */
	uint32_t epid;        /* of the last record, 0 for none */
	uint64_t timestamp;
};

/* Set *p for an EPID.  False: there is no such EPID. */
bool record_probe(const struct consume *c, uint32_t epid, struct probe_text *p);
/* The size of records with this EPID, in bytes; 0: there is no such EPID. */
uint32_t record_size(const struct consume *c, uint32_t epid);
/* For text of the process of the record in c->rec. */
struct printer record_printer(struct consume *c, struct str *to);
/* The record in c->rec.  `next' is the one that follows in its lane, or
 * NULL. */
void record_print(struct consume *c, const struct rec_hdr *next);
/* The same for a record of this probe, whatever its EPID says. */
void record_print_as(struct consume *c, const struct probe_text *probe,
    const struct rec_hdr *next);
/* Free the state of -F (sink_text.c). */
void flows_fini(struct consume *c);
/* The name of a clause in messages. */
#define CLAUSE_NAME 32
const char *record_clause_name(
    const struct prog_clause *clause, char *buf, size_t size);
/* Report an error in a record with this EPID; sets e->probe. */
void record_fail(struct consume *c, uint32_t epid, struct sink_error *e);
/* Do these EPIDs belong to clauses of one probe? */
bool record_same_probe(const struct consume *c, uint32_t epid, uint32_t other);
/* A value of the record, or NULL. */
const uint8_t *record_value(
    const struct consume *c, const struct prog_rec *rec);
/* The text of printf(), system() or freopen(). */
void record_format(
    struct consume *c, struct printer *p, const struct prog_stmt *st);
/* tracemem(): its bytes and their number; *v is NULL if there are none. */
size_t record_memory(
    const struct consume *c, const struct prog_stmt *st, const uint8_t **v);
/* print(): the object, and *addr, its address as it was recorded, or NULL.
 * NULL: there is none. */
const struct prog_rec *record_object(const struct consume *c,
    const struct prog_stmt *st, const uint8_t **v, const uint8_t **addr);

/* ---- faults.c ---- */

/* Print the record in c->rec, which is a fault. */
void record_fault(struct consume *c);
/* At the end: print how many faults were not shown. */
void faults_tell(struct consume *c);
void faults_fini(struct consume *c);

/* ---- live.c: option report.  Without it these do nothing. ---- */

void live_create(struct consume *c);
void live_destroy(struct consume *c);
void live_record(struct consume *c, const struct probe_text *probe);
void live_printa(struct consume *c, const struct prog_stmt *st);
void live_error(struct consume *c, const struct sink_error *e);
void live_drop(struct consume *c, const struct sink_drop *d);
/* At the end: aggregations that no printa() has printed. */
void live_aggs(struct consume *c);
void live_end(struct consume *c, int status);

/* ---- consume.c ---- */

struct consume {
	struct consume_env env;
	const struct sink *sink; /* the format, */
	void *format;            /* and what it keeps; or NULL */
	struct page *page;       /* option report; or NULL */
	struct str page_line;    /* that it gets next */
	struct out out;
	struct str line; /* of the record being printed */
	struct aggs aggs;
	uint64_t aggs_at;   /* time of the last read; 0: never */
	struct hash flows;  /* struct flow by pid and tid */
	struct hash faults; /* struct fault_kind, faults.c */
	uint64_t unprinted; /* statements whose output the format leaves out */
	const char *host;   /* of the record or error; NULL: this one */
	bool header;        /* printed */
	bool bare;          /* the record being printed has no columns */
	struct {            /* the record being printed, copied */
		union {
			struct rec_hdr *hdr;
			uint8_t *at;
		};
		uint32_t size, cap;
	} rec;
	VEC(struct lanes *) lanes; /* the tracer's first */
	VEC(struct next)
	heap;             /* of the current pass; the oldest record is the
				* first */
	uint64_t until;   /* the pass takes records up to this time */
	uint64_t budget;  /* bytes that the pass may still take */
	uint64_t left;    /* bytes in copies of ended lanes */
	bool over;        /* no clause runs any more */
	uint64_t damaged; /* bytes skipped, not reported yet */
};

/* now.c: CLOCK_MONOTONIC, nanoseconds. */
uint64_t consume_now(void);

#endif
