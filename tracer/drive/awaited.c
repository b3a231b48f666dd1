/*
 * See awaited.h.
 */
#include "tracer/drive/awaited.h"

#include <stddef.h>

#include "tracer/base/state.h"

static const struct part part = { .size = sizeof(struct awaited) };

struct awaited
awaited_now(const struct state *st)
{
	const struct awaited *a = part_had(&st->parts, &part);

	return a != NULL ? *a : (struct awaited){ 0 };
}

bool
awaited_is(const struct state *st, const struct proc *p)
{
	return awaited_now(st).proc == p;
}

static void
become(struct state *st, enum awaited_state state, struct proc *p)
{
	struct awaited *a = part_of(&st->parts, &part);

	*a = (struct awaited){ state, p };
}

void
awaited_begin(struct state *st, struct proc *p, bool at_mark)
{
	become(st, at_mark ? AWAITED_AT_MARK : AWAITED_AT_LINKER, p);
}

void
awaited_came(struct state *st)
{
	become(st, AWAITED_NOBODY, NULL);
}

void
awaited_executed(struct state *st)
{
	become(st, AWAITED_ANEW, NULL);
}

bool
awaited_retry(struct state *st)
{
	bool anew = awaited_now(st).state == AWAITED_ANEW;

	become(st, AWAITED_NOBODY, NULL);
	return anew;
}
