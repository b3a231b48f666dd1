/*
 * What every room says to the user; see state.h.
 */
#include "tracer/base/state.h"

#include <stdarg.h>

#include "tracer/consume/text.h"

static void PRINTF_LIKE(2, 0)
    message(struct state *st, const char *fmt, va_list ap)
{
	fflush(st->output.out);
	text_message(st->output.err, st->name, fmt, ap);
}

void
state_message(struct state *st, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(st, fmt, ap);
	va_end(ap);
}

void
state_notice(struct state *st, const char *fmt, ...)
{
	va_list ap;

	if (option_get(&st->opts, OPT_QUIET) != 0)
		return;
	va_start(ap, fmt);
	message(st, fmt, ap);
	va_end(ap);
}
