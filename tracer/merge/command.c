/*
 * The command line of `dtrap merge'.
 */
#include "tracer/merge/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/consume/text.h"
#include "tracer/drive/begin.h"
#include "tracer/drive/loop.h"
#include "tracer/drive/session.h"
#include "tracer/drive/targets.h"
#include "tracer/merge/merge.h"
#include "tracer/ptrace/proc.h"
#include "tracer/survive/panic.h"

static const char usage_text[] =
    "[-qvw] [-o FILE] [-x OPTION[=VALUE]] STREAM...\n"
    "Merge streams of dtrap -x oformat=snapshot, and print them as one run "
    "would.\n"
    "A STREAM is a file or a pipe; - is standard input, which may have many.\n";

static int
usage(struct merge *m, FILE *to)
{
	struct str text = { 0 };

	str_printf(&text, "Usage: %s merge %s", m->st.name, usage_text);
	text_put(to, &text);
	return to == stdout ? 0 : 2;
}

static int
set_option(struct merge *m, const char *arg)
{
	int error = option_parse(&m->st.opts, arg, false);

	if (error != 0)
		state_message(&m->st, "failed to set -x %.*s: %s",
		    (int)strcspn(arg, "="), arg, option_error(error));
	return error;
}

/* Status, or -1: go on. */
static int
parse(struct merge *m, int argc, char **argv, const char **output)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	optind = 0;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":ho:qvwx:", longs, NULL)) != -1)
		switch (opt) {
		case 'h': return usage(m, stdout);
		case 'o': *output = optarg; break;
		case 'q': option_set(&m->st.opts, "quiet", NULL, false); break;
		case 'v': m->verbose = true; break;
		case 'w':
			option_set(&m->st.opts, "destructive", NULL, false);
			break;
		case 'x':
			if (set_option(m, optarg) != 0)
				return 1;
			break;
		default:
			state_message(
			    &m->st, "unknown option %s", argv[optind - 1]);
			return usage(m, stderr);
		}
	return optind < argc ? -1 : usage(m, stderr);
}

static int
run(struct merge *m, int argc, char **argv)
{
	const char *output = NULL;
	int r = parse(m, argc, argv, &output);

	if (r >= 0)
		return r;
	m->st.where = WHERE_MERGE;
	m->st.super = super_create();
	targets_init(&m->st);
	loop_signals(&m->st);
	for (int i = optind; i < argc; i++) {
		int error = inputs_add(&m->inputs, argv[i]);
		if (error == 0)
			continue;
		state_message(
		    &m->st, "failed to open %s: %s", argv[i], strerror(-error));
		return 1;
	}
	if (session_open_output(&m->st, output) != 0)
		return 1;
	panic_guard(m->st.super);
	r = merge_run(m);
	return session_wrote(&m->st) ? r : 1;
}

int
command_merge(const char *name, int argc, char **argv)
{
	struct merge m = { 0 };

	session_init(&m.st, name);
	m.st.testing = getenv("_DTRACE_TESTING") != NULL;
	int r = run(&m, argc, argv);
	if (loop_stopping() && !m.st.started)
		state_message(&m.st, BEGIN_ENDED);
	merge_fini(&m);
	return r;
}
