/*
 * Lines of a snapshot stream (doc/snapshot.md): how they are written, and how a
 * reader takes them apart.  What the lines mean is known by sink_snapshot.c,
 * which writes them, and by tracer/merge/, which reads them.
 *
 *	^dt1 STREAM SEQUENCE TYPE TOKEN ... CRC
 *
 * A reader trusts nothing: each function is bounded by the line, and the first
 * thing that is wrong makes the line bad for good.
 */
#ifndef TRACER_CONSUME_WIRE_H
#define TRACER_CONSUME_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlang/base/str.h"
#include "dlang/dif.h"

/* The longest line, in bytes, without its newline. */
#define WIRE_LINE (1u << 20)
/* Lines with rows end when they are longer than this. */
#define WIRE_ROWS (32u << 10)

/* Types of lines. */
enum wire_type {
	WIRE_HEAD = 'H',
	WIRE_OPTION = 'O',
	WIRE_SOURCE = 'S',
	WIRE_AGG = 'A',
	WIRE_CLAUSE = 'C',
	WIRE_BEGIN = 'B',
	WIRE_PROBE = 'P',
	WIRE_NAME = 'N',
	WIRE_RECORD = 'R',
	WIRE_KEYS = 'K',
	WIRE_WHOLE = 'W',
	WIRE_TIME = 'T',
	WIRE_DROP = 'D',
	WIRE_ERROR = 'E',
	WIRE_END = 'Z',
};

/* Can a statement of this kind be in a stream?  The reader carries it out: it prints,
 * or changes what is printed. */
bool wire_carries(enum dif_act kind);

/* ---- writing ---- */

struct wire {
	uint64_t stream; /* its number, at random */
	uint64_t next;   /* the sequence number of the next line */
};

/* Begin a line at the end of `to', and end it.  `start' is to->len before
 * wire_begin(). */
void wire_begin(struct wire *w, struct str *to, enum wire_type type);
void wire_end(struct wire *w, struct str *to, size_t start);

void wire_number(struct str *to, uint64_t v);
/* Any bytes. */
void wire_text(struct str *to, const void *s, size_t n);
/* A text that ends at its NUL; NULL: wire_nothing(). */
void wire_string(struct str *to, const char *s);
void wire_nothing(struct str *to);

/* ---- reading ---- */

struct wire_line {
	uint64_t stream, sequence;
	char type;
	const char *at, *end; /* the tokens that are left */
	bool bad;             /* a token was not what was asked for */
};

/*
 * Find the frame in a line of n bytes, which has no newline.  What a transport
 * has put before it ("web-01: ") is not part of it.  0; -ENOMSG: the line has
 * none; -ENOTSUP: one of another version; -EBADMSG: it is damaged.
 */
int wire_open(struct wire_line *l, const char *line, size_t n);

/* The next token, which must be a number; 0 if it is not one, and the line is
 * bad then. */
uint64_t wire_get_number(struct wire_line *l);
/* The same, at most `most'. */
uint64_t wire_get_most(struct wire_line *l, uint64_t most);
/* The next token, which must be a text of at most `size' bytes; returns how
 * many it has. */
size_t wire_get_text(struct wire_line *l, void *to, size_t size);
/* The same as a string without a NUL in it, in memory that the caller frees;
 * NULL: it is wire_nothing(), or the line is bad. */
char *wire_get_string(struct wire_line *l, size_t most);
/* Is the next token wire_nothing()?  Then it is taken. */
bool wire_get_nothing(struct wire_line *l);
/* The line must be over now.  Returns whether all of it was good. */
bool wire_is_over(struct wire_line *l);

#endif
