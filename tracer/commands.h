/*
 * Words after "dtrap" that are programs of their own: "dtrap merge".
 */
#ifndef TRACER_COMMANDS_H
#define TRACER_COMMANDS_H

struct command {
	const char *name;
	/* argv[0] is the word; `name' is "dtrap", for messages.  Returns the
	 * exit status. */
	int (*main)(int argc, char **argv, const char *name);
};

/* The command of this name, or NULL. */
const struct command *command_of(const char *word);

#endif
