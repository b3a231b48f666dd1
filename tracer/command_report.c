/*
 * dtrap report: pictures of a saved run.
 *
 *	dtrap report [-o FILE] RUN.json [EARLIER.json]
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "dlang/base/mem.h"
#include "tracer/commands.h"
#include "tracer/consume/consume.h"
#include "tracer/consume/page.h"

#define PIECE 65536 /* bytes that are read at once */

static const char help_text[] =
    "Usage: %s report [-o FILE] RUN.json [EARLIER.json]\n"
    "Make pictures of a run that was saved with -x oformat=json.\n"
    "\n"
    "  -o FILE   the file to write, an HTML page, or SVG if its name does\n"
    "            not end in .html; without it RUN.html beside RUN.json\n"
    "  RUN.json  - is standard input\n"
    "  EARLIER.json  a run to compare with: the page shows what differs\n";

static int
usage(const char *program)
{
	fprintf(stderr,
	    "Usage: %s report [-o FILE] RUN.json [EARLIER.json]; --help tells "
	    "more\n",
	    program);
	return 2;
}

/* True after the whole file; false after a message. */
static bool
read_file(const char *program, const char *path, FILE *f, struct page *p)
{
	char *text = mem_alloc(PIECE);
	size_t n;
	bool ok = true;

	while (ok && (n = fread(text, 1, PIECE, f)) != 0)
		ok = page_text(p, text, n);
	mem_free(text);
	if (ferror(f)) {
		command_message(
		    program, "failed to read '%s': %s", path, strerror(errno));
		return false;
	}
	if (!page_complete(p)) {
		command_message(program,
		    "%s: %s; it is not, or not all, of what "
		    "-x oformat=json writes",
		    path, page_wrong(p));
		return false;
	}
	return true;
}

/* NULL after a message. */
static struct page *
read_run(const char *program, const char *path)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *f = is_stdin ? stdin : fopen(path, "re");
	struct page *p = page_create();
	bool ok = f != NULL;

	if (!ok)
		command_message(
		    program, "failed to open '%s': %s", path, strerror(errno));
	else
		ok = read_file(program, path, f, p);
	if (f != NULL && !is_stdin)
		fclose(f);
	if (!ok) {
		page_destroy(p);
		return NULL;
	}
	if (page_runs(p) > 1)
		command_message(program, "%s has %u runs: the last is shown",
		    path, page_runs(p));
	if (!page_ended(p))
		command_message(
		    program, "%s has no end: the run was cut short", path);
	return p;
}

/* RUN.html for RUN.json. */
static char *
output_of(const char *run)
{
	size_t n = strlen(run);

	if (strcmp(run, "-") == 0)
		return mem_strdup("report.html");
	if (n > 5 && strcasecmp(run + n - 5, ".json") == 0)
		n -= 5;
	return mem_printf("%.*s.html", (int)n, run);
}

static int
make(const char *program, const char *run, const char *before, const char *to)
{
	const struct consume_env env = { .out = stdout };
	struct page *p = read_run(program, run), *earlier = NULL;
	int r = -EINVAL;

	if (p != NULL && before != NULL)
		earlier = read_run(program, before);
	if (p != NULL && (before == NULL || earlier != NULL)) {
		r = consume_page_write(&env, to, p, earlier);
		if (r != 0)
			command_message(program,
			    "failed to write report '%s': %s", to,
			    strerror(-r));
	}
	page_destroy(earlier);
	page_destroy(p);
	return r == 0 ? 0 : 1;
}

/* getopt() says which. */
static int
bad_option(const char *program, int why, const char *arg)
{
	if (why == ':')
		command_message(
		    program, "option -%c needs an argument", optopt);
	else if (optopt == 0)
		command_message(program, "unknown option %s", arg);
	else
		command_message(program, "unknown option -%c", optopt);
	return usage(program);
}

int
command_report(const char *program, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *output = NULL;
	int opt;

	/* Nothing is traced that an interrupt would have to leave. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":o:", longs, NULL)) != -1) {
		if (opt == 'h') {
			fprintf(stdout, help_text, program);
			return 0;
		}
		if (opt != 'o')
			return bad_option(program, opt, argv[optind - 1]);
		output = optarg;
	}
	argc -= optind;
	argv += optind;
	if (argc < 1 || argc > 2) {
		command_message(program,
		    argc < 1 ? "report: no saved run is named" :
			       "report: at most two runs can be compared");
		return usage(program);
	}
	char *to = output != NULL ? mem_strdup(output) : output_of(argv[0]);
	int status = make(program, argv[0], argc == 2 ? argv[1] : NULL, to);
	mem_free(to);
	return status;
}
