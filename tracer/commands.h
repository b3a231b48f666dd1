/*
 * Subcommands: `dtrap NAME ...'.  Each is a row in commands.c and a main of its
 * own, which traces nobody unless it says so.
 */
#ifndef TRACER_COMMANDS_H
#define TRACER_COMMANDS_H

/* argv[0] is the name of the subcommand; `program' is that of dtrap, for
 * messages.  Returns the exit status: 0, 1 after an error, 2 if it was called in
 * a wrong way. */
typedef int (*command_main)(const char *program, int argc, char **argv);

/* NULL: the word names no subcommand. */
command_main command_of(const char *word);

/* A message on standard error: "dtrap: ..." */
void command_message(const char *program, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

int command_report(const char *program, int argc, char **argv);
/* It traces, as dtrap does (dtrap.c). */
int command_top(const char *program, int argc, char **argv);

#endif
