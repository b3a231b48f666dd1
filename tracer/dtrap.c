/*
 * dtrap: options to calls.  The only main(), the only reader of argv, the only
 * place that exits.
 *
 *	modes and options (two passes over argv)
 *	-> debug files of servers -> launch and attach -> compile -> list, or
 *	-> publish, enable, arm -> BEGIN, run -> release, END, report
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/where.h"
#include "symbols/debuginfod.h"
#include "tracer/program/absent.h"
#include "tracer/drive/asked.h"
#include "tracer/drive/begin.h"
#include "tracer/build.h"
#include "tracer/cli.h"
#include "tracer/commands.h"
#include "tracer/consume/sink.h"
#include "tracer/program/enable.h"
#include "tracer/drive/display.h"
#include "tracer/figures.h"
#include "tracer/drive/fetch.h"
#include "tracer/help.h"
#include "tracer/drive/list.h"
#include "tracer/drive/loop.h"
#include "tracer/drive/mistakes.h"
#include "tracer/drive/named_set.h"
#include "tracer/merge/hosts.h"
#include "tracer/merge/job.h"
#include "tracer/survive/panic.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/progress.h"
#include "tracer/base/provider.h"
#include "tracer/drive/run.h"
#include "tracer/drive/session.h"
#include "tracer/fire/stores.h"
#include "tracer/drive/targets.h"

/* What --help and --version are for getopt_long(). */
enum { HELP = 256, DTRAP_ITSELF };

static const char OPTSTRING[] =
    ":3:6:aAb:Bc:CD:ef:FGhHi:I:lL:m:n:o:p:P:qs:SU:vVwx:X:Z";

/* One screen. */
static void
help(FILE *out, const char *name)
{
	fprintf(out,
	    "Usage: %s [option ...] -c 'COMMAND ARG...' | -p PID  [argument "
	    "...]\n",
	    name);
	fputs(help_text, out);
}

static int
usage(const char *name)
{
	help(stderr, name);
	return E_USAGE;
}

/* ---- messages ---- */

/* What was wrong has been said: where to look. */
static int
see_usage(const struct cli *c)
{
	fprintf(stderr,
	    "Usage: %s [option ...] -c 'COMMAND' | -p PID  [argument ...]; "
	    "--help tells more\n",
	    c->name);
	return E_USAGE;
}

/* ---- the command line ---- */

static int
set_option(struct cli *c, const char *arg)
{
	int error = option_parse(&c->st.opts, arg, false);

	if (error == 0)
		return 0;
	char *name = mem_strndup(arg, strcspn(arg, "="));
	cli_say(c, option_hint(name, error), "failed to set -x %s: %s", name,
	    option_error(error));
	mem_free(name);
	return error;
}

static int
set_named(struct cli *c, const char *name, const char *value)
{
	int error = option_set(&c->st.opts, name, value, false);

	if (error != 0)
		cli_say(c, option_hint(name, error),
		    "failed to set option %s%s%s: %s", name,
		    value != NULL ? " to " : "", value != NULL ? value : "",
		    option_error(error));
	return error;
}

static int
add_pid(struct cli *c, const char *arg)
{
	char *end;

	if (*arg == '@') { /* all processes of a name */
		*vec_push(&c->sets) = arg + 1;
		return 0;
	}

	errno = 0;
	long pid = strtol(arg, &end, 10);
	if (errno != 0 || *end != '\0' || end == arg || pid <= 0 ||
	    pid > INT32_MAX) {
		cli_say(c, mistakes_pid(arg), "invalid pid: %s", arg);
		return -EINVAL;
	}
	*vec_push(&c->pids) = (pid_t)pid;
	return 0;
}

/* Up to the body or the predicate of a program.  A module that is a path has
 * slashes, too, and a colon behind it. */
static size_t
spec_length(const char *text)
{
	size_t n = strcspn(text, "{/;");

	while (text[n] == '/') {
		size_t path = strcspn(text + n, ":{;,? \t\n");
		if (text[n + path] != ':')
			break;
		n += path + strcspn(text + n + path, "{/;");
	}
	return n;
}

static void
add_request(struct cli *c, enum cc_level level, const char *text)
{
	struct request r = { .level = level, .text = text };

	/* Messages name a description by what comes before its body. */
	r.spec =
	    level == CC_SCRIPT ? text : mem_strndup(text, spec_length(text));
	*vec_push(&c->requests) = r;
}

/* `dtrap -c ls -l': is the option one of the command's?  The hint, or NULL. */
static char *
one_argument(const struct cli *c)
{
	return c->behind == NULL ?
	    NULL :
	    mem_printf("quote the command as one argument: -c '%s %s'",
		c->commands.at[c->commands.len - 1], c->behind);
}

static const char *
unsupported(int opt)
{
	switch (opt) {
	case 'a':
	case 'A':
		return "anonymous tracing needs a kernel, and there is none "
		       "in this";
	case 'B': return "this option is not available in this version";
	default: return NULL;
	}
}

/* Options that are a letter for an option by name. */
static const struct {
	int letter;
	const char *name;
} letters[] = {
	{ 'b', "bufsize" },
	{ 'C', "cpp" },
	{ 'D', "define" },
	{ 'F', "flowindent" },
	{ 'H', "cpphdrs" },
	{ 'I', "incdir" },
	{ 'L', "libdir" },
	{ 'q', "quiet" },
	{ 'S', "verbose" },
	{ 'U', "undef" },
	{ 'X', "stdc" },
	{ 'w', "destructive" },
	{ 'Z', "zdefs" },
};

/* -32 and -64 are options 3 and 6 with an argument. */
static int
bad_model(struct cli *c, int opt, char second)
{
	if (optarg[0] == second && optarg[1] == '\0')
		return 0;
	state_message(&c->st, "unknown option -%c%s; did you mean -%c%c?", opt,
	    optarg, opt, second);
	return 1;
}

/* 0, a negative errno, or 1 for bad usage, after a message. */
static int
apply(struct cli *c, int opt)
{
	const char *why = unsupported(opt);

	if (why != NULL) {
		cli_say(c, one_argument(c), "-%c: %s", opt, why);
		return -ENOTSUP;
	}
	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		if (letters[i].letter == opt)
			return set_named(c, letters[i].name,
			    strchr("bDILUX", opt) != NULL ? optarg : NULL);
	switch (opt) {
	case 'c': *vec_push(&c->commands) = optarg; return 0;
	case 'p': return add_pid(c, optarg);
	case 'P': add_request(c, CC_PROV, optarg); return 0;
	case 'm': add_request(c, CC_MOD, optarg); return 0;
	case 'f': add_request(c, CC_FUNC, optarg); return 0;
	case 'n': add_request(c, CC_NAME, optarg); return 0;
	case 'i': add_request(c, CC_ID, optarg); return 0;
	case 's': add_request(c, CC_SCRIPT, optarg); return 0;
	case 'o': c->output = optarg; return 0;
	case 'e': c->compile_only = true; return 0;
	case 'G': c->link = true; return 0;
	case 'h': c->header = true; return 0;
	case 'l': c->list = true; return 0;
	case 'v': c->verbose = true; return 0;
	case 'V': c->version = true; return 0;
	case HELP: c->help = true; return 0;
	case DTRAP_ITSELF: c->itself = true; return 0;
	case 'x': return set_option(c, optarg);
	case '3': c->model = SDT_ILP32; return bad_model(c, opt, '2');
	case '6': c->model = SDT_LP64; return bad_model(c, opt, '4');
	default: return 1;
	}
}

/* getopt() says which: 1, after a message. */
static int
bad_option(struct cli *c, int why, const char *arg)
{
	if (why == ':')
		state_message(&c->st, "option -%c needs an argument", optopt);
	else if (optopt == 0)
		cli_say(c, mistakes_long_option(arg), "unknown option %.*s",
		    (int)strcspn(arg, "="), arg);
	else if (optopt >= HELP)
		state_message(&c->st, "%.*s takes no argument",
		    (int)strcspn(arg, "="), arg);
	else
		cli_say(c, mistakes_letter(optopt, OPTSTRING),
		    "unknown option -%c", optopt);
	return 1;
}

static int
parse_args(struct cli *c, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, DTRAP_ITSELF },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	opterr = 0;
	for (int word = 1;
	     (opt = getopt_long(argc, argv, OPTSTRING, longs, NULL)) != -1;
	     word = optind) {
		/* Before it stood the argument of a -c. */
		bool follows = word > 2 && c->commands.len > 0 &&
		    argv[word - 1] == c->commands.at[c->commands.len - 1];
		c->behind = follows ? argv[word] : NULL;
		int r = opt == '?' || opt == ':' ?
		    bad_option(c, opt, argv[optind - 1]) :
		    apply(c, opt);
		if (r > 0)
			return see_usage(c);
		if (r < 0)
			return E_ERROR;
	}
	if (c->itself || c->help)
		return E_SUCCESS;
	c->argc = argc - optind;
	c->argv = argv + optind;
	if (c->list + c->version + c->header + c->link > 1) {
		state_message(&c->st,
		    "only one of the [-GhlV] options can be specified at a "
		    "time");
		return E_USAGE;
	}
	if (c->model == SDT_ILP32 && !c->header && !c->link) {
		state_message(&c->st,
		    "-32: only 64-bit programs can be traced; -G and -h take "
		    "it");
		return E_ERROR;
	}
	if (c->link) { /* operands are objects */
		c->objects = c->argv;
		c->nobjects = (size_t)c->argc;
		c->argc = 0;
	}
	if (c->list || c->header || c->link)
		set_named(c, "zdefs", NULL);
	return E_SUCCESS;
}

/* DTRACE_OPT_<NAME>=value sets an option, before the command line does. */
static int
options_from_environment(struct cli *c)
{
	static const char prefix[] = "DTRACE_OPT_";
	extern char **environ;

	for (char **e = environ; *e != NULL; e++) {
		if (strncmp(*e, prefix, sizeof(prefix) - 1) != 0)
			continue;
		char *arg = mem_strdup(*e + sizeof(prefix) - 1);
		for (char *p = arg; *p != '\0' && *p != '='; p++)
			if (*p >= 'A' && *p <= 'Z')
				*p = (char)(*p - 'A' + 'a');
		int error = set_option(c, arg);
		mem_free(arg);
		if (error != 0)
			return error;
	}
	return 0;
}

/* ---- what is to be done ---- */

/* Debug files that servers have: before any process would have to wait. */
static void
fetch(struct cli *c)
{
	struct fetch f = {
		.commands = c->commands.at,
		.ncommands = c->commands.len,
		.pids = c->pids.at,
		.npids = c->pids.len,
	};
	struct str text = { 0 };

	if (!debuginfod_wanted())
		return;
	vec_foreach(r, &c->requests)
		str_printf(&text, "%s\n", r->source.text);
	f.text = str_c(&text);
	fetch_debug_files(&c->st, &f);
	str_fini(&text);
}

static int
start_targets(struct cli *c)
{
	char why[256];

	vec_foreach(name, &c->sets)
		if (named_set_add(&c->st, *name) != 0)
			return E_ERROR;
	if (c->sets.len != 0) /* they may come later */
		set_named(c, "zdefs", NULL);
	vec_foreach(cmd, &c->commands)
		if (targets_launch(&c->st, *cmd) != 0)
			return E_ERROR;
	vec_foreach(pid, &c->pids) {
		if (targets_attach(&c->st, *pid, true, why, sizeof(why)) != 0) {
			if (!loop_stopping())
				state_message(&c->st, "%s", why);
			return E_ERROR;
		}
	}
	return E_SUCCESS;
}

/* The program as messages call it. */
static const char *
kind_name(const struct request *r)
{
	return r->level == CC_SCRIPT ? "script" : "description";
}

/* The first line of formats that have one. */
static void
describe(struct cli *c)
{
	VEC(struct asked_program) programs = { 0 };

	vec_foreach(r, &c->requests)
		*vec_push(&programs) = (struct asked_program){
			.kind = kind_name(r),
			.name = r->spec,
			.text = r->source.text,
			.level = (int)r->level,
			.merged = r->prog != NULL && where_any_merged(r->prog),
			.matched = c->list || r->prog == NULL ?
			    -1 :
			    (int64_t)r->prog->matched,
		};
	asked_begin(&c->st,
	    &(struct asked){
		.version = DTRAP_VERSION,
		.lists = c->list,
		.programs = programs.at,
		.nprograms = programs.len,
		.operands = c->argv,
		.noperands = (size_t)c->argc,
	    });
	vec_fini(&programs);
}

static int
list(struct cli *c)
{
	static const struct probe_desc everything = { "", "", "", "", 0,
		false };

	if (c->requests.len == 0 && c->argc > 0) {
		cli_say(c, mistakes_listed(c->argv[0]),
		    "extraneous argument '%s' (there is no program to use it)",
		    c->argv[0]);
		return E_ERROR;
	}
	if (c->requests.len == 0)
		enable_provide(&c->st, &everything, NULL, NULL);
	progress_end(&c->st);
	describe(c);
	list_header(&c->st);
	if (c->requests.len == 0)
		list_all(&c->st, c->verbose);
	if (c->requests.len == 0 && c->behind != NULL)
		cli_say(c, one_argument(c), "-l lists probes");
	vec_foreach(r, &c->requests)
		list_program(&c->st, r->prog, c->verbose);
	list_failures(&c->st, c->verbose);
	return E_SUCCESS;
}

/* The hint is freed; it may be NULL. */
static int
fail_to_enable(struct cli *c, const char *why, char *hint)
{
	cli_say(c, hint, "could not enable tracing: %s", why);
	return E_ERROR;
}

/* What the first program with destructive actions needs; NULL: there is
 * none. */
static char *
destructive_hint(const struct cli *c)
{
	vec_foreach(r, &c->requests)
		if (r->prog->destructive)
			return mistakes_destructive(r->prog);
	return NULL;
}

/* Stores, ECBs, tracepoints; every target is stopped. */
static int
enable(struct cli *c)
{
	struct state *st = &c->st;
	char *hint = destructive_hint(c);
	char size[32];

	if (hint != NULL && option_get(&st->opts, OPT_DESTRUCTIVE) == 0)
		return fail_to_enable(
		    c, "Destructive actions not allowed", hint);
	mem_free(hint);
	if ((int64_t)run_least_bufsize(st) > option_get(&st->opts, OPT_BUFSIZE))
		return fail_to_enable(
		    c, "Enabling exceeds size of buffer", run_bufsize_hint(st));
	uint64_t end = enable_end_size(st);
	if (option_get(&st->opts, OPT_BUFPOLICY) == POLICY_FILL &&
	    (int64_t)end > option_get(&st->opts, OPT_BUFSIZE)) {
		stores_size_text(end, size);
		return fail_to_enable(c,
		    "END enablings exceed size of principal buffer",
		    mem_printf("-b %s or more", size));
	}
	hint = NULL;
	const char *why = run_enable(st, NULL, &hint);
	if (why != NULL)
		return fail_to_enable(c, why, hint);
	return E_SUCCESS;
}

/* What a script says of itself, "; usage: ..."; "" if none does. */
static char *
script_usage(const struct cli *c)
{
	vec_foreach(r, &c->requests) {
		char *usage = request_usage(r);
		if (usage == NULL)
			continue;
		char *text = mem_printf("; %s", usage);
		mem_free(usage);
		return text;
	}
	return mem_strdup("");
}

static void
say_untraced(struct cli *c)
{
	char *text = mistakes_untraced(&c->st);
	char *usage = script_usage(c);

	/* Quiet or not: else it looks as if nothing happened. */
	if (text != NULL)
		state_message(&c->st, "%s%s", text, usage);
	mem_free(usage);
	mem_free(text);
}

static void
say_stability(struct cli *c, const struct request *r)
{
	if (!c->verbose)
		return;
	char *name = mem_printf("%s %s", kind_name(r), r->spec);
	list_stability(&c->st, r->prog, name, c->compile_only);
	mem_free(name);
}

/* E_ERROR when there is nothing to wait for. */
static int
say_matches(struct cli *c)
{
	uint64_t matched = 0;

	if (option_get(&c->st.opts, OPT_DESTRUCTIVE) != 0)
		state_notice(&c->st, "allowing destructive actions");
	vec_foreach(r, &c->requests) {
		state_notice(&c->st, "%s '%s' matched %llu probe%s",
		    kind_name(r), r->spec, (unsigned long long)r->prog->matched,
		    r->prog->matched == 1 ? "" : "s");
		say_stability(c, r);
		matched += r->prog->matched;
	}
	if (matched == 0 && option_get(&c->st.opts, OPT_ZDEFS) == 0) {
		state_message(&c->st, "no probes matched");
		return E_ERROR;
	}
	return E_SUCCESS;
}

static int
trace(struct cli *c)
{
	int r = say_matches(c);

	if (r == E_SUCCESS)
		r = enable(c);
	if (r != E_SUCCESS)
		return r;
	progress_end(&c->st);
	list_failures(&c->st, c->verbose);
	if (option_get(&c->st.opts, OPT_ZDEFS) != 0)
		absent_tell(&c->st);
	describe(c);
	session_start(&c->st);
	if (!c->st.draining)
		say_untraced(c);
	loop_run(&c->st);
	int status = session_finish(&c->st);
	if (c->verbose)
		figures_tell(&c->st);
	return session_wrote(&c->st) ? status : E_ERROR;
}

/* -h and -G: nothing is traced. */
static int
build(struct cli *c)
{
	VEC(struct sdt_program) programs = { 0 };
	struct sdt_job job = {
		.header = c->header,
		.count = c->requests.len,
		.output = c->output,
		.model = c->model,
		.objects = c->objects,
		.nobjects = c->nobjects,
	};

	vec_foreach(r, &c->requests)
		*vec_push(&programs) = (struct sdt_program){ r->spec,
			r->level == CC_SCRIPT, &r->source };
	job.programs = programs.at;
	int error = programs_compile(c);
	if (error == E_SUCCESS && !c->compile_only)
		error = sdt_build(&c->st, &job);
	vec_fini(&programs);
	if (error == -EINVAL)
		return E_USAGE;
	return error == 0 ? E_SUCCESS : E_ERROR;
}

/* What is traced without a program. */
static void
add_default(struct cli *c)
{
	const char *name = c->top ? "samples of functions" : "system calls";

	state_notice(&c->st,
	    c->top ? "no program given (-n, -s): counting which functions run, "
		     "99 times a second" :
		     "no program given (-n, -s): counting system calls and the "
		     "time in them, until the end or an interrupt");
	*vec_push(&c->requests) = (struct request){
		.level = CC_SCRIPT,
		.text = name,
		.spec = name,
		.source = { .name = name,
		    .text = c->top ? help_top_program : help_count_program },
	};
}

/* No program: with a process to trace, there is one of ours.  False after a
 * message. */
static bool
default_program(struct cli *c)
{
	bool traces = c->commands.len + c->pids.len + c->sets.len != 0;

	if (c->header || c->link) {
		cli_say(c, mem_strdup("-s SCRIPT names the file with them"),
		    "no providers specified");
		return false;
	}
	if (traces && c->argc > 0) {
		cli_say(c, mistakes_operands(cli_command(c), c->argv),
		    "extraneous argument '%s' (there is no program to use it)",
		    c->argv[0]);
		return false;
	}
	if (!traces) {
		char *hint = mistakes_operands(cli_command(c), c->argv);
		cli_say(c,
		    hint != NULL ? hint :
				   mem_strdup("-n 'PROBE { ACTIONS }' or -s "
					      "SCRIPT names them, -c COMMAND "
					      "or -p PID alone counts system "
					      "calls"),
		    "no probes specified");
		return false;
	}
	add_default(c);
	return true;
}

static int
run(struct cli *c)
{
	if (c->help) {
		help(c->st.output.out, c->name);
		return E_SUCCESS;
	}
	if (c->itself) {
		fprintf(c->st.output.out, "dtrap %s%s\n", DTRAP_VERSION,
		    DTRAP_WITHOUT);
		return E_SUCCESS;
	}
	if (c->version) {
		fprintf(c->st.output.out, "%s: D %d.%d\n", c->name,
		    OPTIONS_D_MAJOR, OPTIONS_D_MINOR);
		if (c->verbose)
			fprintf(c->st.output.out, "This is dtrap %s%s\n",
			    DTRAP_VERSION, DTRAP_WITHOUT);
		return E_SUCCESS;
	}
	if (c->requests.len == 0 && c->compile_only)
		return E_SUCCESS;
	if (c->requests.len == 0 && !c->list && !default_program(c))
		return E_ERROR;
	c->st.super = super_create();
	c->st.where = sink_of(&c->st.opts)->elsewhere ? WHERE_HOST : WHERE_ALL;
	/* A signal ends dtrap while it waits for typed input. */
	if (programs_load(c) != E_SUCCESS)
		return E_ERROR;
	if (c->header || c->link)
		return build(c);
	targets_init(&c->st);
	loop_signals(&c->st);
	fetch(c);
	if (loop_stopping())
		return E_SUCCESS;
	int r =
	    session_open_output(&c->st, c->output) == 0 ? E_SUCCESS : E_ERROR;
	if (r == E_SUCCESS && c->st.opts.set[OPT_GRABANON]) {
		state_message(&c->st, "grabanon: %s", unsupported('a'));
		r = E_ERROR;
	}
	progress_begin(&c->st);
	if (r == E_SUCCESS && !c->list && c->commands.len != 0)
		display_prepare(&c->st);
	/* From before the first target on; it keeps a descriptor. */
	panic_guard(c->st.super);
	if (r == E_SUCCESS)
		r = start_targets(c);
	if (r == E_SUCCESS)
		r = programs_compile(c);
	if (r != E_SUCCESS)
		return r;
	if (c->list)
		return list(c);
	char *why = c->st.where == WHERE_HOST ? mistakes_merged(&c->st) : NULL;
	if (why != NULL) {
		state_message(&c->st, "%s", why);
		mem_free(why);
		return E_ERROR;
	}
	if (!c->compile_only)
		return trace(c);
	vec_foreach(req, &c->requests)
		say_stability(c, req);
	return E_SUCCESS;
}

static void
cli_fini(struct cli *c)
{
	session_fini(&c->st);
	vec_foreach(r, &c->requests) {
		if (r->level == CC_SCRIPT && r->source.is_file)
			mem_free((char *)r->source.text);
		else if (r->level != CC_SCRIPT)
			mem_free((char *)r->spec);
	}
	vec_fini(&c->requests);
	vec_fini(&c->commands);
	vec_fini(&c->pids);
	vec_fini(&c->sets);
}

static int
cli_main(const char *name, int argc, char **argv, bool top)
{
	struct cli c = { .name = name, .top = top };

	if (argc <= 1)
		return usage(c.name);
	session_init(&c.st, c.name);
	c.st.testing = getenv("_DTRACE_TESTING") != NULL;
	if (top)
		set_named(&c, "oformat", "top");
	int r = options_from_environment(&c) == 0 ? E_SUCCESS : E_ERROR;
	if (r == E_SUCCESS)
		r = parse_args(&c, argc, argv);
	if (r == E_SUCCESS)
		r = run(&c);
	if (loop_stopping() && !c.st.started && !c.list && !c.compile_only)
		state_message(&c.st, BEGIN_ENDED);
	cli_fini(&c);
	return r;
}

int
command_top(const char *program, int argc, char **argv)
{
	return cli_main(program, argc, argv, true);
}

int
main(int argc, char **argv)
{
	const char *name;

	if (!begin(argv[0], &name))
		return E_ERROR;
	command_main command = argc > 1 ? command_of(argv[1]) : NULL;
	if (command != NULL)
		return command(name, argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "host") == 0 &&
	    !job_take(name, &argc, &argv))
		return E_ERROR;
	if (hosts_are_named(argc, argv, OPTSTRING))
		return hosts_main(argc, argv, name, OPTSTRING);
	return cli_main(name, argc, argv, false);
}
