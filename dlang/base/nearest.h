/*
 * Somebody wrote a name that nothing has: which name did they mean?
 *
 *	struct nearest near;
 *
 *	nearest_init(&near, "execnam");
 *	for each name there is
 *		nearest_offer(&near, name);
 *	error("no variable %s%s", "execnam", nearest_hint(&near));
 *	nearest_fini(&near);
 */
#ifndef DLANG_BASE_NEAREST_H
#define DLANG_BASE_NEAREST_H

#include <stdbool.h>

#include "dlang/base/str.h"

/* More than that many equally near names are no help. */
#define NEAREST_MAX 3

struct nearest {
	const char *want; /* borrowed */
	unsigned limit;   /* what is farther away is not meant */
	unsigned best;    /* how far those of `name' are */
	unsigned count; /* as many names are that near; may exceed the array */
	char *name[NEAREST_MAX]; /* owned; in the order of strcmp() */
	struct str hint;
};

/* `want' outlives *n. */
void nearest_init(struct nearest *n, const char *want);
void nearest_fini(struct nearest *n);

/* A name that exists; it is copied if it is wanted.  Where no name is near, the
 * shortest of those that begin with what was wanted is taken. */
void nearest_offer(struct nearest *n, const char *name);
/* The same of one whose distance the caller knows better. */
void nearest_offer_at(struct nearest *n, const char *name, unsigned d);
bool nearest_found(const struct nearest *n);

/*
 * What to put behind the message: "; did you mean execname?", with at most
 * NEAREST_MAX names, or "" where nothing is near.  Valid until nearest_fini().
 */
const char *nearest_hint(struct nearest *n);
/* The same without the semicolon. */
const char *nearest_question(struct nearest *n);

/* How far a name may be from this one to be meant. */
unsigned nearest_limit(const char *want);

/*
 * How far two names are from each other: 2 for each character that is put in,
 * left out, exchanged for another or for its neighbour; 1 for one that is a
 * capital in one of them alone, or is a dash in one and an underscore in the
 * other; 1 for all of them if they differ in capitals alone.  Anything above
 * `limit' is limit + 1.
 */
unsigned nearest_distance(const char *a, const char *b, unsigned limit);

#endif
