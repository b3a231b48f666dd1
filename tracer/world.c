/*
 * Answers to the compiler; see world.h.
 */
#include "tracer/world.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "dlang/cc/cc.h"
#include "dlang/types.h"
#include "tracer/enable.h"
#include "tracer/probe.h"
#include "tracer/provider.h"
#include "tracer/state.h"

static int64_t
world_probes(void *ctx, const struct probe_desc *pd, const struct span *at,
    struct diags *d)
{
	return enable_provide(ctx, pd, at, d);
}

/* Do two probes have the same arguments? */
static bool
same_args(struct types *ts, const struct probe *a, const struct probe *b, int n)
{
	struct world_arg x, y;

	if (a->provider->arg == NULL || b->provider->nargs == NULL ||
	    b->provider->nargs(b) != n)
		return false;
	for (int i = 0; i < n; i++) {
		int error = a->provider->arg(a, (unsigned)i, ts, &x);
		if (b->provider->arg(b, (unsigned)i, ts, &y) != error)
			return false;
		if (error == 0 &&
		    (!type_equal(x.native, y.native) || x.source != y.source))
			return false;
	}
	return true;
}

static int
world_nargs(void *ctx, const struct probe_desc *pd)
{
	struct state *st = ctx;
	const struct probe *first = NULL;
	int n = -ENOENT;

	vec_foreach(p, &st->probes.list) {
		if (!probe_matches(*p, pd))
			continue;
		if (first == NULL) {
			first = *p;
			if (first->provider->nargs != NULL)
				n = first->provider->nargs(first);
		} else if (n < 0 ? (*p)->provider->nargs != NULL :
				   !same_args(cc_types(st->cc), first, *p, n)) {
			return -ENOTUNIQ;
		}
	}
	return n;
}

static int
world_arg(void *ctx, const struct probe_desc *pd, unsigned n, struct types *ts,
    struct world_arg *out)
{
	struct state *st = ctx;

	vec_foreach(p, &st->probes.list)
		if (probe_matches(*p, pd))
			return (*p)->provider->arg != NULL ?
			    (*p)->provider->arg(*p, n, ts, out) :
			    -ENOENT;
	return -ENOENT;
}

static int
world_symbol(void *ctx, const char *object, const char *name, struct types *ts,
    struct world_symbol *out)
{
	return -ENOENT;
}

static int
world_type(void *ctx, const char *object, const char *name, struct types *ts,
    struct type **out)
{
	return -ENOENT;
}

static int
world_macro(void *ctx, const char *name, int64_t *value)
{
	const struct state *st = ctx;
	const struct {
		const char *name;
		int64_t value;
	} rows[] = {
		{ "target", st->target_pid },
		{ "pid", getpid() },
		{ "ppid", getppid() },
		{ "pgid", getpgid(0) },
		{ "sid", getsid(0) },
		{ "uid", getuid() },
		{ "euid", geteuid() },
		{ "gid", getgid() },
		{ "egid", getegid() },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].name, name) == 0) {
			*value = rows[i].value;
			return 0;
		}
	}
	return -ENOENT;
}

const struct world_ops world_ops = {
	.probes = world_probes,
	.nargs = world_nargs,
	.arg = world_arg,
	.symbol = world_symbol,
	.type = world_type,
	.macro = world_macro,
};
