/*
 * See progress.h.
 */
#include "tracer/base/progress.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "dlang/base/str.h"
#include "tracer/consume/writer.h"
#include "tracer/base/state.h"

#define SILENCE_NS 1000000000ULL
/* How often a part of many is looked at. */
#define PART_NS 50000000ULL

void
progress_begin(struct state *st)
{
	const char *text = getenv("DTRAP_PROGRESS");
	char *end;

	st->progress.after = SILENCE_NS;
	if (text != NULL) {
		unsigned long ms = strtoul(text, &end, 10);
		if (end == text || *end != '\0')
			return;
		st->progress.after = ms * 1000000ULL;
	}
	/* In the background do not overwrite what the user types. */
	int fd = writer_fd(st->output.err);
	pid_t group = tcgetpgrp(fd);
	st->progress.on = isatty(fd) && (group < 0 || group == getpgrp());
}

static void PRINTF_LIKE(2, 0)
    show(struct state *st, const char *fmt, va_list ap)
{
	struct str text = { 0 };

	str_printf(&text, "%s: ", st->name);
	str_vprintf(&text, fmt, ap);
	str_add(&text, " ...");
	writer_status(st->output.err, str_c(&text), st->progress.after);
	str_fini(&text);
}

void
progress(struct state *st, const char *fmt, ...)
{
	va_list ap;

	if (!st->progress.on)
		return;
	va_start(ap, fmt);
	show(st, fmt, ap);
	va_end(ap);
}

void
progress_part(struct state *st, size_t done, size_t all, const char *what,
    const char *name)
{
	if (!st->progress.on)
		return;
	uint64_t at = clock_ns(CLOCK_MONOTONIC);
	if (done != 0 && at - st->progress.part < PART_NS)
		return;
	st->progress.part = at;
	progress(st, "%s %s: %zu of %zu", what, name, done, all);
}

void
progress_pause(struct state *st)
{
	if (st->progress.on)
		writer_status(st->output.err, NULL, 0);
}

void
progress_end(struct state *st)
{
	progress_pause(st);
	st->progress.on = false;
}
