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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlang/cc/cc.h"
#include "dlang/image.h"
#include "symbols/addrspace.h"
#include "symbols/debuginfod.h"
#include "tracer/begin.h"
#include "tracer/consume/consume.h"
#include "tracer/cpp.h"
#include "tracer/dlib.h"
#include "tracer/enable.h"
#include "tracer/fetch.h"
#include "tracer/list.h"
#include "tracer/loop.h"
#include "tracer/panic.h"
#include "tracer/proc.h"
#include "tracer/provider.h"
#include "tracer/run.h"
#include "tracer/sdt_build.h"
#include "tracer/state.h"
#include "tracer/targets.h"

#define VERSION   "0.1"

#define E_SUCCESS 0
#define E_ERROR   1
#define E_USAGE   2

static const char OPTSTRING[] =
    "3:6:aAb:Bc:CD:ef:FGhHi:I:lL:m:n:o:p:P:qs:SU:vVwx:X:Z";

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
	VEC(pid_t) pids;            /* -p */
	const char *output;         /* -o */
	bool list, compile_only, verbose, version;
	bool header, link;    /* -h, -G */
	enum sdt_model model; /* -32, -64 */
	int argc;             /* operands: $1 ... */
	char **argv;          /* argv[0] is $0 */
	char **objects;       /* operands of -G */
	size_t nobjects;
};

static int
usage(const char *name)
{
	fprintf(stderr,
	    "Usage: %s [-32|-64] [-CeFGhHlqSvVwZ] [-b bufsz] [-c cmd]\n"
	    "\t[-D name[=def]] [-I path] [-L path] [-o output] [-p pid] [-s script] "
	    "[-U name]\n"
	    "\t[-x opt[=val]] [-X a|c|s|t]\n\n"
	    "\t[-P provider [[ predicate ] action ]]\n"
	    "\t[-m [ provider: ] module [[ predicate ] action ]]\n"
	    "\t[-f [[ provider: ] module: ] func [[ predicate ] action ]]\n"
	    "\t[-n [[[ provider: ] module: ] func: ] name "
	    "[[ predicate ] action ]]\n"
	    "\t[-i probe-id [[ predicate ] action ]] [ args ... ]\n\n"
	    "\tpredicate -> '/' D-expression '/'\n"
	    "\t   action -> '{' D-statements '}'\n\n",
	    name);
	fputs("\t-b  set trace buffer size\n"
	      "\t-c  run specified command and exit upon its completion\n"
	      "\t-C  run cpp(1) preprocessor on script files\n"
	      "\t-D  define symbol when invoking preprocessor\n"
	      "\t-e  exit after compiling request but prior to enabling "
	      "probes\n"
	      "\t-f  enable or list probes matching the specified function "
	      "name\n"
	      "\t-F  coalesce trace output by function\n"
	      "\t-G  generate an ELF file with the types of static "
	      "probes\n"
	      "\t-h  generate a header file with definitions for static "
	      "probes\n"
	      "\t-H  print included files when invoking preprocessor\n"
	      "\t-i  enable or list probes matching the specified probe id\n"
	      "\t-I  add include directory to preprocessor search path\n"
	      "\t-l  list probes matching specified criteria\n"
	      "\t-L  add library directory to library search path\n"
	      "\t-m  enable or list probes matching the specified module "
	      "name\n"
	      "\t-n  enable or list probes matching the specified probe "
	      "name\n"
	      "\t-o  set output file\n"
	      "\t-p  grab specified process-ID and trace it\n"
	      "\t-P  enable or list probes matching the specified provider "
	      "name\n"
	      "\t-q  set quiet mode (only output explicitly traced data)\n"
	      "\t-s  enable or list probes according to the specified D "
	      "script\n"
	      "\t-S  print D compiler intermediate code\n"
	      "\t-U  undefine symbol when invoking preprocessor\n"
	      "\t-v  set verbose mode (report stability attributes, what "
	      "could not be probed)\n"
	      "\t-V  report the version of D (and with -v that of dtrap)\n"
	      "\t-w  permit destructive actions\n"
	      "\t-x  enable or modify compiler and tracing options\n"
	      "\t-X  specify ISO C conformance settings for preprocessor\n"
	      "\t-Z  permit probe descriptions that match zero probes\n",
	    stderr);
	return E_USAGE;
}

/* ---- the command line ---- */

static int
set_option(struct cli *c, const char *arg)
{
	int error = option_parse(&c->st.opts, arg, false);

	if (error == 0)
		return 0;
	state_message(&c->st, "failed to set -x %.*s: %s",
	    (int)strcspn(arg, "="), arg, option_error(error));
	return error;
}

static int
set_named(struct cli *c, const char *name, const char *value)
{
	int error = option_set(&c->st.opts, name, value, false);

	if (error != 0)
		state_message(&c->st, "failed to set option %s%s%s: %s", name,
		    value != NULL ? " to " : "", value != NULL ? value : "",
		    option_error(error));
	return error;
}

static int
add_pid(struct cli *c, const char *arg)
{
	char *end;

	errno = 0;
	long pid = strtol(arg, &end, 10);
	if (errno != 0 || *end != '\0' || end == arg || pid <= 0 ||
	    pid > INT32_MAX) {
		state_message(&c->st, "invalid pid: %s", arg);
		return -EINVAL;
	}
	*vec_push(&c->pids) = (pid_t)pid;
	return 0;
}

static void
add_request(struct cli *c, enum cc_level level, const char *text)
{
	struct request r = { .level = level, .text = text };

	/* Messages name a description by what comes before its body. */
	r.spec =
	    level == CC_SCRIPT ? text : mem_strndup(text, strcspn(text, "{/;"));
	*vec_push(&c->requests) = r;
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

/* 0, a negative errno after a message, or 1 for bad usage. */
static int
apply(struct cli *c, int opt)
{
	const char *why = unsupported(opt);

	if (why != NULL) {
		state_message(&c->st, "-%c: %s", opt, why);
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
	case 'x': return set_option(c, optarg);
	case '3': c->model = SDT_ILP32; return strcmp(optarg, "2") != 0;
	case '6': c->model = SDT_LP64; return strcmp(optarg, "4") != 0;
	default: return 1;
	}
}

static int
parse_args(struct cli *c, int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, OPTSTRING)) != -1) {
		int r = apply(c, opt);
		if (r > 0)
			return usage(c->name);
		if (r < 0)
			return E_ERROR;
	}
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

/* ---- programs ---- */

static int
load_source(struct cli *c, struct request *r)
{
	if (r->source.text != NULL) /* fetch() needed it */
		return 0;
	r->source = (struct source){ .name = r->text, .text = r->text };
	if (r->level != CC_SCRIPT)
		return 0;
	errno = 0;
	FILE *f = strcmp(r->text, "-") == 0 ? stdin : fopen(r->text, "re");
	struct str all = { 0 };
	bool read = f != NULL && str_add_file(&all, f);
	char *text = str_take(&all);
	int error = errno;
	if (f != NULL && f != stdin)
		fclose(f);
	if (!read) {
		mem_free(text);
		state_message(
		    &c->st, "failed to open %s: %s", r->text, strerror(error));
		return -error;
	}
	r->source.is_file = true;
	if (option_get(&c->st.opts, OPT_CPP) != 0) {
		char *raw = text;
		text = cpp_run(&c->st, r->text, raw);
		mem_free(raw);
	}
	r->source.text = text;
	return text != NULL ? 0 : -EINVAL;
}

static int
compile(struct cli *c, struct request *r)
{
	struct diags d;
	char **argv = mem_zalloc((size_t)(c->argc + 2) * sizeof(*argv));

	argv[0] = r->level == CC_SCRIPT ? (char *)r->text : (char *)c->name;
	memcpy(argv + 1, c->argv, (size_t)c->argc * sizeof(*argv));
	struct cc_input in = {
		.source = &r->source,
		.level = r->level,
		.argc = c->argc + 1,
		.argv = argv,
		.listing = option_get(&c->st.opts, OPT_VERBOSE) != 0 ?
		    c->st.err :
		    NULL,
	};
	diags_init(&d);
	int error = dlibs_load(&c->st, &d);
	if (error == 0)
		error = cc_compile(c->st.cc, &in, &r->prog, &d);
	if (error != 0) {
		char *prefix = mem_printf("%s: %s %s: ", c->name,
		    r->level == CC_SCRIPT ? "failed to compile script" :
					    "invalid probe specifier",
		    r->text);
		fflush(c->st.out);
		diag_render(c->st.err, &d.first, prefix,
		    option_get(&c->st.opts, OPT_ERRTAGS) != 0, !c->st.testing);
		fflush(c->st.err);
		mem_free(prefix);
	} else {
		*vec_push(&c->st.progs) = r->prog;
	}
	diags_fini(&d);
	mem_free(argv);
	return error;
}

static void
say_notes(struct cli *c, const struct prog *p)
{
	for (const struct prog_note *n = p->notes; n != NULL; n = n->next)
		state_message(&c->st, "%s", n->text);
}

static int
compile_all(struct cli *c)
{
	c->st.cc = cc_create(&c->st.world, &c->st.opts);
	vec_foreach(r, &c->requests) {
		if (load_source(c, r) != 0 || compile(c, r) != 0)
			return E_ERROR;
		say_notes(c, r->prog);
	}
	return E_SUCCESS;
}

/* ---- what is to be done ---- */

/* Debug files that servers have: before any process would have to wait. */
static int
fetch(struct cli *c)
{
	struct fetch f = {
		.commands = c->commands.at,
		.ncommands = c->commands.len,
		.pids = c->pids.at,
		.npids = c->pids.len,
	};
	struct str text = { 0 };
	int r = E_SUCCESS;

	if (!debuginfod_wanted())
		return E_SUCCESS;
	for (size_t i = 0; i < c->requests.len && r == E_SUCCESS; i++) {
		struct request *req = &c->requests.at[i];
		if (load_source(c, req) != 0)
			r = E_ERROR;
		else
			str_printf(&text, "%s\n", req->source.text);
	}
	f.text = str_c(&text);
	if (r == E_SUCCESS)
		fetch_debug_files(&c->st, &f);
	str_fini(&text);
	return r;
}

static int
start_targets(struct cli *c)
{
	char why[256];

	vec_foreach(cmd, &c->commands)
		if (targets_launch(&c->st, *cmd) != 0)
			return E_ERROR;
	vec_foreach(pid, &c->pids) {
		if (targets_attach(&c->st, *pid, true, why, sizeof(why)) != 0) {
			state_message(&c->st, "%s", why);
			return E_ERROR;
		}
	}
	return E_SUCCESS;
}

static int
list(struct cli *c)
{
	static const struct probe_desc everything = { "", "", "", "", 0,
		false };

	list_header(&c->st);
	if (c->requests.len == 0) {
		enable_provide(&c->st, &everything, NULL, NULL);
		list_all(&c->st, c->verbose);
	}
	vec_foreach(r, &c->requests)
		list_program(&c->st, r->prog, c->verbose);
	list_failures(&c->st, c->verbose);
	return E_SUCCESS;
}

static int
fail_to_enable(struct cli *c, const char *why)
{
	state_message(&c->st, "could not enable tracing: %s", why);
	return E_ERROR;
}

static bool
wants_destructive(const struct cli *c)
{
	vec_foreach(r, &c->requests)
		if (r->prog->destructive)
			return true;
	return false;
}

/*
 * The least bufsize that never drops a record from an empty buffer.  With policy
 * switch that is two: a record that does not fit before the end of the buffer
 * leaves that part unused.
 */
static uint32_t
least_bufsize(const struct cli *c)
{
	uint32_t size = 0;

	vec_foreach(r, &c->requests)
		for (size_t i = 0; i < r->prog->nclauses; i++)
			size = MAX(size, r->prog->clauses[i]->rec_size);
	if (option_get(&c->st.opts, OPT_BUFPOLICY) == POLICY_SWITCH)
		size *= 2;
	return size;
}

/* Stores, ECBs, tracepoints; every target is stopped. */
static int
enable(struct cli *c)
{
	struct state *st = &c->st;

	if (wants_destructive(c) && option_get(&st->opts, OPT_DESTRUCTIVE) == 0)
		return fail_to_enable(c, "Destructive actions not allowed");
	if (least_bufsize(c) > option_get(&st->opts, OPT_BUFSIZE))
		return fail_to_enable(c, "Enabling exceeds size of buffer");
	if (option_get(&st->opts, OPT_BUFPOLICY) == POLICY_FILL &&
	    (int64_t)enable_end_size(st) > option_get(&st->opts, OPT_BUFSIZE))
		return fail_to_enable(
		    c, "END enablings exceed size of principal buffer");
	const char *why = run_enable(st, NULL);
	if (why != NULL)
		return fail_to_enable(c, why);
	return E_SUCCESS;
}

/* Who knows DTrace expects the whole system to be traced where no process is
 * named: say why nothing comes.  (profile has a processor of its own then.) */
static void
say_untraced(struct cli *c)
{
	struct state *st = &c->st;

	if (st->had_targets || super_next(st->super, NULL) != NULL)
		return;
	vec_foreach(p, &st->probes.list) {
		const struct provider *prov = (*p)->provider;
		if ((*p)->image_ref == 0 || !prov->follows ||
		    prov == &prov_profile)
			continue;
		state_notice(st,
		    "no process is traced: %s probes fire in those of -p and "
		    "-c alone",
		    prov->name);
		return;
	}
}

/* The program as messages call it. */
static const char *
kind_name(const struct request *r)
{
	return r->level == CC_SCRIPT ? "script" : "description";
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

/* What a client of the traced program may have waited at once. */
static void
say_longest_stop(struct cli *c)
{
	uint64_t us = super_longest_stop(c->st.super) / 1000;

	if (c->verbose && us != 0)
		state_message(&c->st, "longest stop: %lu.%03lu ms",
		    (unsigned long)(us / 1000), (unsigned long)(us % 1000));
}

static int
trace(struct cli *c)
{
	int r = say_matches(c);

	if (r == E_SUCCESS)
		r = enable(c);
	if (r != E_SUCCESS)
		return r;
	list_failures(&c->st, c->verbose);
	state_start(&c->st);
	if (!c->st.draining)
		say_untraced(c);
	loop_run(&c->st);
	int status = state_finish(&c->st);
	say_longest_stop(c);
	/* A reader that went away (head, less) is no error of ours, nor is a
	 * user who would not wait for a slow one; a full disk is. */
	if (c->st.output_error != 0 && c->st.output_error != EPIPE &&
	    c->st.output_error != EINTR) {
		state_message(&c->st, "cannot write output: %s",
		    strerror(c->st.output_error));
		return E_ERROR;
	}
	return status;
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
	int error = compile_all(c);
	if (error == E_SUCCESS && !c->compile_only)
		error = sdt_build(&c->st, &job);
	vec_fini(&programs);
	if (error == -EINVAL)
		return E_USAGE;
	return error == 0 ? E_SUCCESS : E_ERROR;
}

static int
open_output(struct cli *c)
{
	FILE *f = c->output != NULL ? fopen(c->output, "ae") : stdout;

	if (f != NULL) {
		state_open_output(&c->st, f);
		return E_SUCCESS;
	}
	state_message(&c->st, "failed to open output file '%s': %s", c->output,
	    strerror(errno));
	return E_ERROR;
}

static int
run(struct cli *c)
{
	if (c->version) {
		fprintf(c->st.out, "%s: D %d.%d\n", c->name, OPTIONS_D_MAJOR,
		    OPTIONS_D_MINOR);
		if (c->verbose)
			fprintf(c->st.out, "This is dtrap %s\n", VERSION);
		return E_SUCCESS;
	}
	if (c->requests.len == 0 && c->compile_only)
		return E_SUCCESS;
	if (c->requests.len == 0 && !c->list) {
		state_message(&c->st, "no probes specified");
		return E_ERROR;
	}
	c->st.super = super_create();
	if (c->header || c->link)
		return build(c);
	targets_init(&c->st);
	loop_signals(&c->st);
	int r = fetch(c);
	if (r != E_SUCCESS || loop_stopping())
		return r;
	r = open_output(c);
	if (r == E_SUCCESS && c->st.opts.set[OPT_GRABANON]) {
		state_message(&c->st, "grabanon: %s", unsupported('a'));
		r = E_ERROR;
	}
	/* From before the first target on; it keeps a descriptor. */
	panic_guard(c->st.super);
	if (r == E_SUCCESS)
		r = start_targets(c);
	if (r == E_SUCCESS)
		r = compile_all(c);
	if (r != E_SUCCESS)
		return r;
	if (c->list)
		return list(c);
	if (!c->compile_only)
		return trace(c);
	vec_foreach(req, &c->requests)
		say_stability(c, req);
	return E_SUCCESS;
}

static void
cli_fini(struct cli *c)
{
	state_fini(&c->st);
	vec_foreach(r, &c->requests) {
		if (r->level == CC_SCRIPT && r->source.is_file)
			mem_free((char *)r->source.text);
		else if (r->level != CC_SCRIPT)
			mem_free((char *)r->spec);
	}
	vec_fini(&c->requests);
	vec_fini(&c->commands);
	vec_fini(&c->pids);
}

int
main(int argc, char **argv)
{
	struct cli c = { 0 };
	const char *slash = strrchr(argv[0], '/');

	begin_descriptors();
	c.name = slash != NULL ? slash + 1 : argv[0];
	if (begin_refused(c.name))
		return E_ERROR;
	if (argc <= 1)
		return usage(c.name);
	state_init(&c.st, c.name);
	c.st.testing = getenv("_DTRACE_TESTING") != NULL;
	int r = options_from_environment(&c) == 0 ? E_SUCCESS : E_ERROR;
	if (r == E_SUCCESS)
		r = parse_args(&c, argc, argv);
	if (r == E_SUCCESS)
		r = run(&c);
	cli_fini(&c);
	return r;
}
