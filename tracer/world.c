/*
 * Answers to the compiler; see world.h.
 */
#include "tracer/world.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tracer/enable.h"
#include "tracer/provider.h"
#include "tracer/state.h"

static int64_t
world_probes(void *ctx, const struct probe_desc *pd, const struct span *at,
    struct diags *d)
{
	return enable_provide(ctx, pd, at, d);
}

/* No provider of ours describes its arguments with types yet. */
static int
world_nargs(void *ctx, const struct probe_desc *pd)
{
	return -ENOENT;
}

static int
world_arg(void *ctx, const struct probe_desc *pd, unsigned n, struct types *ts,
    struct world_arg *out)
{
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

static bool
world_stability(
    void *ctx, const struct probe_desc *pd, struct attr parts[ATTR_PARTS])
{
	const struct state *st = ctx;
	const struct provider *prov = NULL;

	if (pd->prov[0] == '\0' && pd->id == 0)
		return false;
	vec_foreach(p, &st->probes.list) {
		if (pd->id != 0 ? (*p)->id == pd->id :
				  strcmp((*p)->prov, pd->prov) == 0) {
			prov = (*p)->provider;
			break;
		}
	}
	for (int i = 0; prov != NULL && i < ATTR_PARTS; i++) {
		const struct stability *s = &prov->stability[i];
		if (!attr_words(s->name, s->data, s->class, &parts[i]))
			return false;
	}
	return prov != NULL;
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
	.stability = world_stability,
	.macro = world_macro,
};
