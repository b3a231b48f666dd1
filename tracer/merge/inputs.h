/*
 * Where streams come from: files and pipes, cut into lines.
 */
#ifndef TRACER_MERGE_INPUTS_H
#define TRACER_MERGE_INPUTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlang/base/str.h"
#include "dlang/base/vec.h"

struct stream;

struct input {
	const char *name;
	int fd; /* -1: it is over */
	bool own;
	bool messages;   /* it has no stream, but what a host's dtrap says */
	struct str text; /* that is no whole line yet */
	size_t from;     /* of it has been used */
	bool too_long;   /* the rest of the line is left out */
	struct stream *last; /* whose line was the last; or NULL */
	bool said;           /* that it has text that is no stream */
	uint64_t now; /* recorded files: the time to which it has been read */
};

struct inputs {
	VEC(struct input *) list;
	size_t open;   /* with streams */
	bool recorded; /* all are files: their own time counts */
};

/* "-" is standard input.  0 or a negative errno. */
int inputs_add(struct inputs *in, const char *path);
/* A descriptor that the list owns from now on. */
struct input *inputs_add_fd(struct inputs *in, const char *name, int fd);
/* The same for messages. */
struct input *inputs_add_messages(struct inputs *in, const char *name, int fd);
void inputs_fini(struct inputs *in);

/* Wait until one has something, a signal of those that are blocked comes, or
 * until `ms' have passed (-1: for ever).  Then call ready() for each that has
 * something. */
void inputs_wait(struct inputs *in, const sigset_t *mask, int ms,
    void (*ready)(void *ctx, struct input *i), void *ctx);

/* Read what there is.  False: the input is over. */
bool input_read(struct inputs *in, struct input *i);
/* The next whole line, without its newline; NULL: there is none yet.  At the end
 * of the input the rest of the text is one. */
const char *input_line(struct input *i, size_t *n);

#endif
