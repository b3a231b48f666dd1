/*
 * The command line of dtrap, as dtrap.c has read it, and the programs that it
 * names.
 */
#ifndef TRACER_CLI_H
#define TRACER_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "dlang/base/diag.h"
#include "dlang/cc/cc.h"
#include "tracer/base/state.h"
#include "tracer/build/sdt_build.h"

#define E_SUCCESS 0
#define E_ERROR   1
#define E_USAGE   2

/* One -n, -P, -m, -f, -i or -s. */
struct request {
	enum cc_level level;
	const char *text; /* as given: the program, or a script's path */
	const char *spec; /* what messages call it */
	struct source source;
	struct prog *prog;
};

struct cli {
	struct state st;
	const char *name;
	VEC(struct request) requests;
	VEC(const char *) commands; /* -c */
	const char *behind;     /* the option that follows the last of them */
	VEC(pid_t) pids;        /* -p */
	VEC(const char *) sets; /* -p @NAME, without the @ */
	const char *output;     /* -o */
	bool top;               /* the command is `dtrap top' */
	bool list, compile_only, verbose, version;
	bool help, itself;    /* --help, --version */
	bool header, link;    /* -h, -G */
	enum sdt_model model; /* -32, -64 */
	int argc;             /* operands: $1 ... */
	char **argv;          /* argv[0] is $0 */
	char **objects;       /* operands of -G */
	size_t nobjects;
};

/* The message, and the hint behind it, which is freed and may be NULL.  Those
 * who compare with DTrace's messages get none. */
void cli_say(struct cli *c, char *hint, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The last command of -c.  NULL: there is none. */
const char *cli_command(const struct cli *c);

/* Read the text of each program.  E_SUCCESS, or E_ERROR after a message. */
int programs_load(struct cli *c);
/* The same: compile them. */
int programs_compile(struct cli *c);
/* What a script says of its use; NULL: nothing. */
char *request_usage(const struct request *r);

#endif
