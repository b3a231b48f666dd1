/*
 * Names of numbers; see names.h.  The rows are made from the system's headers
 * when dtrap is built: names.awk.
 */
#include "tracer/fire/names_headers.h"

#include "tracer/fire/names.h"

#include "dlang/base/str.h"

static const struct name_row {
	enum names group;
	const char *name;
	uint64_t value;
} rows[] = {
#define NAME(group, name) { NAMES_##group, #name, (uint64_t)(name) },
#include "tracer/fire/names.def"
#undef NAME
};

const char *
name_of(enum names group, uint64_t v)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].group == group && rows[i].value == v)
			return rows[i].name;
	return NULL;
}

void
names_add(struct str *to, enum names group, uint64_t v)
{
	const char *name = name_of(group, v);

	if (name != NULL)
		str_add(to, name);
	else
		str_printf(to, "%lld", (long long)v);
}

/* Does it come before the other?  O_SYNC contains O_DSYNC. */
static bool
is_before(const struct name_row *r, const struct name_row *other)
{
	int bits = __builtin_popcountll(r->value);
	int others = __builtin_popcountll(other->value);

	return bits != others ? bits > others : r->value < other->value;
}

/* The row with the most bits, all of which are set in v; of several the lowest.
 * NULL: there is none. */
static const struct name_row *
widest(enum names group, uint64_t v)
{
	const struct name_row *best = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct name_row *r = &rows[i];
		if (r->group != group || r->value == 0 ||
		    (r->value & v) != r->value)
			continue;
		if (best == NULL || is_before(r, best))
			best = r;
	}
	return best;
}

void
names_add_flags(struct str *to, enum names group, uint64_t v)
{
	const struct name_row *r;
	bool any = false;

	if (v == 0)
		names_add(to, group, 0);
	for (; v != 0 && (r = widest(group, v)) != NULL; v &= ~r->value) {
		str_add(to, any ? "|" : "");
		str_add(to, r->name);
		any = true;
	}
	if (v != 0)
		str_printf(
		    to, "%s0x%llx", any ? "|" : "", (unsigned long long)v);
}
