/*
 * Reads one stream of snapshots (doc/snapshot.md).  What the lines say is
 * checked here, and handed on as what the consumer has: rows, records, drops.
 *
 *	        H, O, S, A, C          B                    Z
 *	HEAD ------------------> HEAD ---> ready: RUNS ----------> OVER
 *	  |                                  |  K P N R D E T W      ^
 *	  +-- something is wrong: refused ---+-----------------------+
 *
 * A stream that says what cannot be is refused from there on.  A line that is
 * lost, damaged or repeated is counted, and the stream goes on.
 */
#ifndef TRACER_MERGE_STREAM_H
#define TRACER_MERGE_STREAM_H

#include "dlang/base/arena.h"
#include "dlang/base/hash.h"
#include "dlang/base/vec.h"
#include "dlang/prog.h"
#include "tracer/consume/sink.h"
#include "tracer/consume/wire.h"

/* What a stream may make its reader keep. */
#define STREAM_DESCRIBED (16u << 20) /* bytes of lines that describe */
#define STREAM_LINES     65536       /* of them */
#define STREAM_NAMES     32768       /* numbers of names */

struct stream;

struct stream_source {
	int level; /* enum cc_level */
	bool merged;
	const char *name, *text;
	char **operands;
	size_t noperands;
};

struct stream_option {
	const char *name, *value;
};

/* What is called.  The texts and memory are valid during the call. */
struct stream_ops {
	/* The description is complete.  Sets ids[] of the stream to the
	 * reader's.  A text refuses the stream, and says why. */
	const char *(*ready)(void *ctx, struct stream *s);
	/* Rows of an aggregation, each with this. */
	void (*row)(void *ctx, struct stream *s, const struct prog_agg *a,
	    const uint8_t *key, uint32_t cpu, const uint64_t *value);
	void (*record)(void *ctx, struct stream *s,
	    const struct probe_text *probe, uint8_t *rec, uint32_t size);
	void (*error)(void *ctx, struct stream *s, const struct sink_error *e,
	    const struct rec_hdr *hdr);
	void (*drop)(void *ctx, struct stream *s, const struct sink_drop *d);
	/* A snapshot is complete. */
	void (*snapshot)(void *ctx, struct stream *s);
	/* Something about the stream that its reader's user should know. */
	void (*say)(void *ctx, struct stream *s, const char *what);
};

enum stream_state { STREAM_HEAD, STREAM_RUNS, STREAM_OVER };

struct stream {
	const struct stream_ops *ops;
	void *ctx;
	uint64_t number;
	enum stream_state state;
	bool refused, ended; /* ended: with its last line */
	struct arena arena;  /* everything described */
	const char *host, *version;
	uint32_t pid;
	uint64_t next;      /* the sequence number that is expected */
	uint64_t described; /* bytes so far */
	uint64_t lines;     /* that describe */
	VEC(struct stream_option) options;
	VEC(struct stream_source) sources;
	VEC(struct prog_agg *) aggs;       /* in the order of their ids */
	VEC(const struct prog_agg *) ids;  /* the reader's, by id - 1 */
	VEC(struct prog_clause *) clauses; /* by index; NULL: none */
	struct hash probes;                /* struct probe_text by EPID */
	VEC(uint64_t) names;               /* words of langname.h */
	bool whole; /* rows of all that there is follow: not of a change */
	uint64_t at, realtime; /* of the last line with a time, ns */
	uint64_t first_at, first_realtime; /* of the head */
	uint64_t rate;                     /* of snapshots, ns */
	uint64_t rows;                     /* since the last snapshot */
	int status;
	/* What went wrong, and what of it has been said. */
	uint64_t lost, repeated, damaged, short_rows, noname;
	bool said_lost, said_repeated, said_damaged;
	/* The reader's own: */
	struct input *input; /* by which it comes */
	uint64_t heard;      /* when */
	bool stalls;
	uint64_t snapshots;
	int64_t least_late, most_late; /* arrival after its clock, ns */
};

void stream_init(
    struct stream *s, uint64_t number, const struct stream_ops *ops, void *ctx);
void stream_fini(struct stream *s);

/* A line of this stream.  Returns whether it had a time. */
bool stream_line(struct stream *s, struct wire_line *l);
/* A line that seems to be of this stream is damaged. */
void stream_damaged(struct stream *s);
/* Nothing more comes. */
void stream_over(struct stream *s);
/* What was lost and so on, that has not been said in figures yet. */
void stream_tell(struct stream *s);

/* The most bytes of a record. */
#define STREAM_RECORD (1u << 20)

#endif
