/*
 * Finds the existing names that are nearest to a misspelt one.
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

/* At most so many names are suggested. If more are equally near, those that
 * come first in the order of strcmp() are. */
#define NEAREST_MAX 3

struct nearest {
	const char *want; /* the misspelt name; borrowed */
	unsigned limit;   /* names that are farther away are not suggested */
	unsigned best;    /* the distance of the names in name[] */
	unsigned count;   /* number of names at that distance; may exceed
			 * NEAREST_MAX */
	char *name[NEAREST_MAX]; /* owned; in the order of strcmp() */
	struct str hint;
};

/* `want' outlives *n. */
void nearest_init(struct nearest *n, const char *want);
void nearest_fini(struct nearest *n);

/* Offer a name that exists.  It is copied if it is among the nearest.  If no
 * name is near, the shortest of the names that begin with `want' is taken. */
void nearest_offer(struct nearest *n, const char *name);
/* The same, with a distance that the caller has computed. */
void nearest_offer_at(struct nearest *n, const char *name, unsigned d);
bool nearest_found(const struct nearest *n);

/*
 * Text to append to an error message: "; did you mean execname?", with at most
 * NEAREST_MAX names, or "" if no name is near.  Valid until nearest_fini().
 */
const char *nearest_hint(struct nearest *n);
/* The same without the semicolon. */
const char *nearest_question(struct nearest *n);

/* The greatest distance at which a name is still suggested for this one. */
unsigned nearest_limit(const char *want);

/*
 * The distance of two names: 2 for each character that is inserted, left out,
 * replaced or swapped with its neighbour; 1 for a letter that is a capital in
 * only one of the names, and for a dash in one and an underscore in the other.
 * If the names differ only in capitals, the distance is 1 in all.  A distance
 * above `limit' is returned as limit + 1.
 */
unsigned nearest_distance(const char *a, const char *b, unsigned limit);

#endif
