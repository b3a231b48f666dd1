/*
 * The table of commands; see commands.h.
 */
#include "tracer/commands.h"

#include <string.h>

#include "dlang/base/base.h"
#include "tracer/merge/command.h"

static const struct command commands[] = {
	{ "merge", merge_main },
};

const struct command *
command_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(word, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}
