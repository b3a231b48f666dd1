/*
 * See past.h.
 */
#include "tracer/drive/past.h"

#include <string.h>

#include "symbols/addrspace.h"
#include "tracer/base/state.h"

/* The number of ended address spaces that are kept. Addresses in older ones are
 * printed as numbers. */
#define PAST_MAX 1024

struct past {
	VEC(struct addrspace *) list;
};

static void
past_end(void *part)
{
	struct past *past = part;

	vec_foreach(as, &past->list)
		addrspace_put(*as);
	vec_fini(&past->list);
}

static const struct part past_part = { .size = sizeof(struct past),
	.end = past_end };

void
past_add(struct state *st, struct addrspace *as)
{
	struct past *past = part_of(&st->parts, &past_part);

	if (past->list.len == PAST_MAX) {
		addrspace_put(past->list.at[0]);
		past->list.len--;
		memmove(past->list.at, past->list.at + 1,
		    past->list.len * sizeof(past->list.at[0]));
	}
	*vec_push(&past->list) = as;
}

struct addrspace *
past_of(const struct state *st, pid_t pid)
{
	const struct past *past = part_had(&st->parts, &past_part);

	for (size_t i = past != NULL ? past->list.len : 0; i > 0; i--)
		if (addrspace_pid(past->list.at[i - 1]) == pid)
			return past->list.at[i - 1];
	return NULL;
}
