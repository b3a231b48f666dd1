/*
 * The table of subcommands; see commands.h.
 */
#include "tracer/commands.h"

#include <stdarg.h>
#include <string.h>

#include "dlang/base/base.h"
#include "tracer/consume/text.h"
#include "tracer/merge/command.h"

static const struct {
	const char *name;
	command_main main;
} commands[] = {
	{ "merge", command_merge },
	{ "report", command_report },
	{ "top", command_top },
};

command_main
command_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(word, commands[i].name) == 0)
			return commands[i].main;
	return NULL;
}

void
command_message(const char *program, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_message(stderr, program, fmt, ap);
	va_end(ap);
}
