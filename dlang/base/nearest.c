/*
 * The nearest of many names; see nearest.h.
 */
#include "dlang/base/nearest.h"

#include <ctype.h>
#include <string.h>

#include "dlang/base/mem.h"

#define EDIT  2 /* a character more, less, or another */
#define SHAPE 1 /* the same character in another shape */

/* A typing error for each so many characters, and four at most. */
#define CHARS_PER_ERROR 3
#define ERRORS_MAX      4

/* A name that begins so is farther than any that is mistyped, and the farther the
 * longer it is.  Few letters begin too many names. */
#define BEGINS       1
#define BEGINS_LEAST 3

/* Names of more than this are compared with their equal alone: three rows of
 * this many numbers are what a comparison takes. */
#define LONGEST 255

unsigned
nearest_limit(const char *want)
{
	size_t errors = (strlen(want) + 1) / CHARS_PER_ERROR;

	return MAX(EDIT * (unsigned)MIN(errors, ERRORS_MAX), (unsigned)SHAPE);
}

void
nearest_init(struct nearest *n, const char *want)
{
	*n = (struct nearest){ .want = want, .limit = nearest_limit(want) };
	n->best = n->limit + BEGINS + LONGEST;
}

static void
forget_names(struct nearest *n)
{
	for (unsigned i = 0; i < MIN(n->count, NEAREST_MAX); i++)
		mem_free(n->name[i]);
	n->count = 0;
}

void
nearest_fini(struct nearest *n)
{
	forget_names(n);
	str_fini(&n->hint);
}

static bool
is_dash(char c)
{
	return c == '-' || c == '_';
}

static unsigned
exchange(char a, char b)
{
	if (a == b)
		return 0;
	if (tolower((unsigned char)a) == tolower((unsigned char)b))
		return SHAPE;
	return is_dash(a) && is_dash(b) ? SHAPE : EDIT;
}

/*
 * The usual table of what each beginning of b is from each beginning of a, of
 * which three rows are kept: `row[0]' is the one being filled, the two above it
 * follow.  Two neighbours may be exchanged once.
 */
unsigned
nearest_distance(const char *a, const char *b, unsigned limit)
{
	unsigned short rows[3][LONGEST + 1], *row[3];
	size_t alen = strlen(a), blen = strlen(b);
	size_t more = alen > blen ? alen - blen : blen - alen;

	if (strcmp(a, b) == 0)
		return 0;
	if (strcasecmp(a, b) == 0)
		return MIN((unsigned)SHAPE, limit + 1);
	if (alen > LONGEST || blen > LONGEST || more * EDIT > limit)
		return limit + 1;
	for (unsigned i = 0; i < 3; i++)
		row[i] = rows[i];
	for (size_t j = 0; j <= blen; j++)
		row[0][j] = (unsigned short)(EDIT * j);
	for (size_t i = 1; i <= alen; i++) {
		unsigned short *reused = row[2];
		row[2] = row[1];
		row[1] = row[0];
		row[0] = reused;
		row[0][0] = (unsigned short)(EDIT * i);
		unsigned least = row[0][0];
		for (size_t j = 1; j <= blen; j++) {
			unsigned d =
			    row[1][j - 1] + exchange(a[i - 1], b[j - 1]);
			d = MIN(d, row[1][j] + (unsigned)EDIT);
			d = MIN(d, row[0][j - 1] + (unsigned)EDIT);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				d = MIN(d, row[2][j - 2] + (unsigned)EDIT);
			row[0][j] = (unsigned short)d;
			least = MIN(least, d);
		}
		if (least > limit)
			return limit + 1;
	}
	return MIN((unsigned)row[0][blen], limit + 1);
}

/* Names of one distance, those that come first in the order of strcmp(). */
static void
insert(struct nearest *n, const char *name)
{
	unsigned kept = MIN(n->count, NEAREST_MAX), at = kept;

	for (unsigned i = 0; i < kept; i++)
		if (strcmp(n->name[i], name) == 0)
			return;
	n->count++;
	while (at > 0 && strcmp(name, n->name[at - 1]) < 0)
		at--;
	if (at == NEAREST_MAX)
		return;
	if (kept == NEAREST_MAX)
		mem_free(n->name[--kept]);
	for (unsigned i = kept; i > at; i--)
		n->name[i] = n->name[i - 1];
	n->name[at] = mem_strdup(name);
}

static bool
begins_with(const char *name, const char *want, size_t len)
{
	return strncmp(name, want, len) == 0 && strlen(name) - len < LONGEST;
}

void
nearest_offer(struct nearest *n, const char *name)
{
	unsigned limit = MIN(n->limit, n->best);
	unsigned d = nearest_distance(n->want, name, limit);
	size_t len = strlen(n->want);

	if (d > limit && len >= BEGINS_LEAST && begins_with(name, n->want, len))
		d = n->limit + BEGINS + (unsigned)(strlen(name) - len);
	else if (d > limit)
		return;
	nearest_offer_at(n, name, d);
}

void
nearest_offer_at(struct nearest *n, const char *name, unsigned d)
{
	if (d > n->best || *name == '\0')
		return;
	if (d < n->best)
		forget_names(n);
	n->best = d;
	insert(n, name);
}

bool
nearest_found(const struct nearest *n)
{
	return n->count > 0;
}

const char *
nearest_hint(struct nearest *n)
{
	unsigned count = MIN(n->count, NEAREST_MAX);

	str_clear(&n->hint);
	for (unsigned i = 0; i < count; i++) {
		str_add(&n->hint,
		    i == 0             ? "; did you mean " :
			i + 1 == count ? " or " :
					 ", ");
		str_add(&n->hint, n->name[i]);
	}
	if (count > 0)
		str_addc(&n->hint, '?');
	return str_c(&n->hint);
}

const char *
nearest_question(struct nearest *n)
{
	const char *hint = nearest_hint(n);

	return hint + strspn(hint, "; ");
}
