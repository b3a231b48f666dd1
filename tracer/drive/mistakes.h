/*
 * Advice about mistakes on the command line.
 *
 * Each function returns a hint, text to append to the error message as with
 * diag_hint(), or NULL if it has no advice.  The caller frees it.
 */
#ifndef TRACER_DRIVE_MISTAKES_H
#define TRACER_DRIVE_MISTAKES_H

struct prog;

/* Unused operands: a command without -c, or arguments of the command of -c
 * (which may be NULL), the number of a process without -p, a script without -s,
 * an action separated from its probe by a blank.  `argv' ends with NULL. */
char *mistakes_operands(const char *command, char *const *argv);

/* The argument of -p is not a number; probably it is the name of a program.
 * Never NULL. */
char *mistakes_pid(const char *arg);

/* -l has an operand.  Never NULL. */
char *mistakes_listed(const char *arg);

/* The text of -n (or -m, -f, -P) is the name of a script. */
char *mistakes_script(const char *text);

/* An unknown long option, as written: "--pid=12". */
char *mistakes_long_option(const char *arg);

/* An unknown option letter; `letters' are the options, as for getopt(). */
char *mistakes_letter(int letter, const char *letters);

/* The command of -c (argv are its words) could not be executed, with this
 * errno: what is missing, and whether it is written for a shell. */
char *mistakes_command(const char *command, char *const *argv, int error);

/* The command contains words for a shell: "ls | wc". */
char *mistakes_shell(const char *command);

/* The program is for another machine: "for AArch64, and this is an x86-64
 * ...". */
char *mistakes_machine(const char *path);

/* The program has probes for processes, but no process is traced. */
struct state;
char *mistakes_untraced(struct state *st);

/* The list of actions of a program that need -w: "system(), copyout()". */
char *mistakes_destructive(const struct prog *p);

/* Why a program cannot be divided between hosts and a merge; NULL: it can.  The
 * caller frees the text. */
char *mistakes_merged(const struct state *st);

#endif
