/*
 * The dtrace provider: BEGIN, END and ERROR.
 */
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"

static void
init(struct state *st)
{
	static const char *const names[] = { "BEGIN", "END", "ERROR" };
	bool fresh;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		probe_add(&st->probes, &prov_dtrace, "dtrace", "", "", names[i],
		    &fresh);
}

const struct provider prov_dtrace = {
	.name = "dtrace",
	.stability = STABILITY("Stable", "Common"),
	.init = init,
};
