/*
 * The table of formats; see sink.h.
 */
#include "tracer/consume/sink.h"

#include <strings.h>

/* option_words[] of dlang/options.c has the same names. */
static const struct sink *const sinks[] = {
	&sink_text, /* the default */
	&sink_json,
	&sink_folded,
	&sink_pprof,
	&sink_chrome,
	&sink_prometheus,
	&sink_top,
	&sink_snapshot,
};

const struct sink *
sink_of(const struct options *opts)
{
	const char *name = opts->text[OPT_OFORMAT];

	for (size_t i = 0; i < ARRAY_SIZE(sinks); i++)
		if (name != NULL && strcasecmp(name, sinks[i]->name) == 0)
			return sinks[i];
	return sinks[0];
}
