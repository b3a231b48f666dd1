/*
 * Words for what is easily done wrong on a command line.
 *
 * Each function gives a hint, a few words that follow the message as those of
 * diag_hint() do, or NULL where it has nothing to say.  The caller frees it.
 */
#ifndef TRACER_DRIVE_MISTAKES_H
#define TRACER_DRIVE_MISTAKES_H

struct prog;

/* Operands that nothing uses: a command without -c, or the arguments of that of
 * -c, which may be NULL; the number of a process without -p, a script without -s,
 * an action apart from its probe.  `argv' ends with NULL. */
char *mistakes_operands(const char *command, char *const *argv);

/* What -p was given that is no number: the name of a program, most likely.
 * Never NULL. */
char *mistakes_pid(const char *arg);

/* An operand of -l.  Never NULL. */
char *mistakes_listed(const char *arg);

/* Text of -n and its like that is the name of a script. */
char *mistakes_script(const char *text);

/* A long option that there is not, as written: "--pid=12". */
char *mistakes_long_option(const char *arg);

/* A letter that is no option; `letters' are the options, as for getopt(). */
char *mistakes_letter(int letter, const char *letters);

/* A command of -c, in words as well, that could not be executed for this errno:
 * what is missing, and whether it is written for a shell. */
char *mistakes_command(const char *command, char *const *argv, int error);

/* A command in which words have a meaning for a shell alone: "ls | wc". */
char *mistakes_shell(const char *command);

/* A program for another machine: "for AArch64, and this is an x86-64 ...". */
char *mistakes_machine(const char *path);

/* Probes of processes, where no process is traced. */
struct state;
char *mistakes_untraced(struct state *st);

/* The actions of a program that need -w: "system(), copyout()". */
char *mistakes_destructive(const struct prog *p);

#endif
