/*
 * The names of hosts: "a,web[01-40]", "@group".
 */
#ifndef TRACER_MERGE_NODES_H
#define TRACER_MERGE_NODES_H

#include "dlang/base/vec.h"

struct nodes {
	VEC(char *) list;
};

/* More hosts than this are refused. */
#define NODES_MOST 16384

/* Append the names that a text means, each once.  0, or -EINVAL with the reason
 * in *why, which is static.  A part that begins with "@" is left to expand(),
 * which appends what it means or returns why it cannot. */
int nodes_parse(struct nodes *n, const char *text,
    const char *(*expand)(struct nodes *n, const char *group),
    const char **why);
void nodes_fini(struct nodes *n);

#endif
