/*
 * plockstat: contention and hold times of locks, by lock and caller.
 *
 * A front end: the program that it runs is D, of the plockstat provider's
 * probes (-V shows it); what is its own are the tables (consume/locks.c) and
 * the picture of who holds what (prov/plock_holds.c).
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/str.h"
#include "dlang/cc/cc.h"
#include "symbols/maps.h"
#include "tracer/drive/asked.h"
#include "tracer/drive/begin.h"
#include "tracer/consume/consume.h"
#include "tracer/consume/locks.h"
#include "tracer/consume/sink.h"
#include "tracer/consume/sink.h"
#include "tracer/program/dlib.h"
#include "tracer/drive/loop.h"
#include "tracer/drive/mistakes.h"
#include "tracer/fire/moments.h"
#include "tracer/survive/panic.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/progress.h"
#include "tracer/prov/plock/plock_holds.h"
#include "tracer/base/provider.h"
#include "tracer/drive/run.h"
#include "tracer/drive/session.h"
#include "tracer/base/state.h"
#include "tracer/drive/targets.h"
#include "tracer/build.h"

#define E_SUCCESS  0
#define E_ERROR    1
#define E_USAGE    2

#define DEPTH_MOST 500

#define LETTERS    "+:ACde:Hjn:p:s:vVx:"

/* What --help and --version are for getopt_long(). */
enum { HELP = 256, ITSELF };

struct cli {
	struct state st;
	const char *name;
	bool contention, hold, deadlock, verbose, show, json;
	bool help, itself; /* --help, --version */
	long seconds, top, depth;
	pid_t pid;
	char *command; /* as targets_launch() takes it apart; NULL: -p */
	struct lock_report report;
	struct str program;
	struct source source;
	/* What was mapped where when the target ended. */
	struct maps maps;
	int maps_pid;
};

static void
help(FILE *out, const char *name)
{
	fprintf(out,
	    "Usage: %s [-ACHVjv] [-e secs] [-n count] [-s depth] "
	    "[-x opt[=val]] -p pid\n"
	    "       %s [-ACHVjv] [-e secs] [-n count] [-s depth] "
	    "[-x opt[=val]] command [args]\n"
	    "       %s -d [-j] -p pid\n\n",
	    name, name, name);
	fputs("\t-A  contention and hold times: -C and -H\n"
	      "\t-C  contention: who waits for which lock (the default)\n"
	      "\t-d  who holds what now; names deadlocks\n"
	      "\t-e  exit after so many seconds\n"
	      "\t-H  how long locks are held\n"
	      "\t-j, --json  JSON instead of tables\n"
	      "\t-n  at most so many entries a table\n"
	      "\t-p  the process to watch\n"
	      "\t-s  stacks of so many frames, with distributions of times\n"
	      "\t-v  say when tracing begins; distributions of times\n"
	      "\t-V  show the D program\n"
	      "\t-x  set an option of dtrap\n"
	      "\t--help, --version\n",
	    out);
}

static int
usage(const char *name)
{
	help(stderr, name);
	return E_USAGE;
}

/* What was wrong has been said: where to look. */
static int
see_usage(const struct cli *c)
{
	fprintf(stderr,
	    "Usage: %s [option ...] -p PID | COMMAND [argument ...]; --help "
	    "tells more\n",
	    c->name);
	return E_USAGE;
}

/* The message, and the hint behind it, which is freed and may be NULL. */
static void
say_hint(struct cli *c, char *what, char *hint)
{
	state_message(&c->st, "%s%s%s", what, hint != NULL ? "; " : "",
	    hint != NULL ? hint : "");
	mem_free(what);
	mem_free(hint);
}

/* ---- the command line ---- */

static int
number(struct cli *c, const char *what, const char *arg, long max, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(arg, &end, 10);
	if (errno == 0 && end != arg && *end == '\0' && *out > 0 && *out <= max)
		return 0;
	state_message(&c->st, "invalid %s: %s", what, arg);
	return -EINVAL;
}

static int
set_option(struct cli *c, const char *arg)
{
	int error = option_parse(&c->st.opts, arg, false);

	char *name = mem_strndup(arg, strcspn(arg, "="));

	/* The tables are this program's own. */
	if (error == 0 && sink_of(&c->st.opts) != &sink_text) {
		say_hint(c, mem_strdup("-x oformat: only dtrap has formats"),
		    mem_strdup("-j prints JSON"));
		error = -EINVAL;
	} else if (error != 0)
		say_hint(c,
		    mem_printf(
			"failed to set -x %s: %s", name, option_error(error)),
		    option_hint(name, error));
	mem_free(name);
	return error;
}

/* getopt() says which. */
static int
bad_option(struct cli *c, int why, const char *arg)
{
	if (why == ':')
		state_message(&c->st, "option -%c needs an argument", optopt);
	else if (optopt == 0)
		state_message(
		    &c->st, "unknown option %.*s", (int)strcspn(arg, "="), arg);
	else if (optopt >= HELP || optopt == 'j')
		state_message(&c->st, "%.*s takes no argument",
		    (int)strcspn(arg, "="), arg);
	else
		say_hint(c, mem_printf("unknown option -%c", optopt),
		    mistakes_letter(optopt, LETTERS));
	return see_usage(c);
}

/* `now' is the argument that it stands in. */
static int
one_option(struct cli *c, int opt, const char *arg, const char *now)
{
	long pid;
	int error = 0;

	switch (opt) {
	case 'A': c->contention = c->hold = true; break;
	case 'C': c->contention = true; break;
	case 'd': c->deadlock = true; break;
	case 'e': error = number(c, "time", arg, 1000000, &c->seconds); break;
	case 'H': c->hold = true; break;
	case 'j': c->json = true; break;
	case 'n': error = number(c, "count", arg, INT32_MAX, &c->top); break;
	case 'p':
		error = number(c, "pid", arg, INT32_MAX, &pid);
		c->pid = error == 0 ? (pid_t)pid : 0;
		break;
	case 's': error = number(c, "depth", arg, DEPTH_MOST, &c->depth); break;
	case 'v': c->verbose = true; break;
	case 'V': c->show = true; break;
	case 'x': error = set_option(c, arg); break;
	case HELP: c->help = true; break;
	case ITSELF: c->itself = true; break;
	default: return bad_option(c, opt, now);
	}
	return error == 0 ? E_SUCCESS : E_USAGE;
}

/* The words as one command line that targets_launch() takes apart again. */
static char *
quoted(char *const *words)
{
	struct str line = { 0 };

	for (; *words != NULL; words++) {
		str_addc(&line, '\'');
		for (const char *s = *words; *s != '\0'; s++) {
			if (*s == '\'')
				str_add(&line, "'\\''");
			else
				str_addc(&line, *s);
		}
		str_add(&line, words[1] != NULL ? "' " : "'");
	}
	return str_take(&line);
}

static int
parse_args(struct cli *c, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, ITSELF },
		{ NULL, 0, NULL, 0 },
	};
	int opt, r = E_SUCCESS;

	opterr = 0;
	while (r == E_SUCCESS &&
	    (opt = getopt_long(argc, argv, LETTERS, longs, NULL)) != -1)
		r = one_option(c, opt, optarg, argv[optind - 1]);
	if (r != E_SUCCESS || c->help || c->itself)
		return r;
	if (optind < argc)
		c->command = quoted(argv + optind);
	if (!c->contention && !c->hold)
		c->contention = true;
	bool traces = c->pid != 0 || c->command != NULL;
	if (argc == 1)
		return usage(c->name);
	if (c->pid != 0 && c->command != NULL)
		state_message(&c->st,
		    "-p %d and a command, %s: only one can be watched",
		    (int)c->pid, argv[optind]);
	else if (c->deadlock && c->pid == 0)
		state_message(&c->st, "-d needs a process: -p PID");
	else if (!traces && !c->show)
		state_message(
		    &c->st, "there is nothing to watch: -p PID, or a command");
	else
		return E_SUCCESS;
	return see_usage(c);
}

/* ---- the program ---- */

/* Times from one probe to another, as kind `name'; key is a lock or "". */
static void
add_pair(struct cli *c, const char *name, const char *from, const char *to,
    const char *when, bool by_lock)
{
	char var[64];
	long frames = c->report.depth + LOCK_FRAMES_OWN;

	snprintf(var, sizeof(var), "self->%s%s", name, by_lock ? "[arg0]" : "");
	str_printf(&c->program,
	    "plockstat$target:::%s\n%s%s%s{\n\t%s = timestamp;\n}\n\n", from,
	    *when != '\0' ? "/" : "", when, *when != '\0' ? "/\n" : "", var);
	str_printf(&c->program,
	    "plockstat$target:::%s\n/%s%s%s/\n{\n"
	    "\t@%s[arg0, ustack(%ld)] = quantize(timestamp - %s);\n"
	    "\t@%s_ns[arg0, ustack(%ld)] = sum(timestamp - %s);\n"
	    "\t%s = 0;\n}\n\n",
	    to, var, *when != '\0' ? " && " : "", when, name, frames, var, name,
	    frames, var, var);
}

static void
write_program(struct cli *c)
{
	if (c->contention) {
		add_pair(c, "mutex_block", "mutex-block", "mutex-blocked", "",
		    false);
		add_pair(
		    c, "mutex_spin", "mutex-spin", "mutex-spun", "", false);
		add_pair(c, "rw_reader_block", "rw-block", "rw-blocked",
		    "arg1 == 0", false);
		add_pair(c, "rw_writer_block", "rw-block", "rw-blocked",
		    "arg1 == 1", false);
		add_pair(c, "sem_block", "sem-block", "sem-blocked", "", false);
	}
	if (c->hold) {
		/* A recursive acquisition is part of the first one. */
		add_pair(c, "mutex_hold", "mutex-acquire", "mutex-release",
		    "arg1 == 0", true);
		add_pair(c, "rw_reader_hold", "rw-acquire", "rw-release",
		    "arg1 == 0", true);
		add_pair(c, "rw_writer_hold", "rw-acquire", "rw-release",
		    "arg1 == 1", true);
	}
	if (c->seconds > 0)
		str_printf(
		    &c->program, "tick-%lds\n{\n\texit(0);\n}\n", c->seconds);
}

static int
compile(struct cli *c)
{
	struct diags d;
	struct prog *prog;
	char *argv[] = { (char *)c->name, NULL };

	c->source = (struct source){
		.name = c->name, .text = str_c(&c->program), .is_file = true
	};
	struct cc_input in = {
		.source = &c->source,
		.level = CC_SCRIPT,
		.argc = 1,
		.argv = argv,
	};
	c->st.compiled.cc = cc_create(&c->st.compiled.world, &c->st.opts);
	diags_init(&d);
	int error = dlibs_load(&c->st, &d);
	if (error == 0)
		error = cc_compile(c->st.compiled.cc, &in, &prog, &d);
	if (error != 0) {
		char *prefix = mem_printf("%s: ", c->name);
		diag_render(c->st.output.err, &d.first, prefix, false, false);
		fflush(c->st.output.err);
		mem_free(prefix);
	} else {
		*vec_push(&c->st.compiled.progs) = prog;
	}
	diags_fini(&d);
	return error;
}

/* ---- where locks are ---- */

static const struct maps *
maps_of(void *ctx, int pid)
{
	struct cli *c = ctx;

	if (c->maps_pid == pid)
		return &c->maps;
	maps_fini(&c->maps);
	c->maps_pid = maps_read(pid, &c->maps) == 0 ? pid : 0;
	return c->maps_pid != 0 ? &c->maps : NULL;
}

/* The last look at the memory of the target. */
static void
on_exit_begins(struct state *st, const struct event *ev, void *arg)
{
	struct proc *p = ev->thread->proc;
	struct cli *c = arg;

	if (p->pid != st->named.pid ||
	    (ev->thread->tid != p->pid && p->threads.len > 1))
		return;
	c->maps_pid = 0;
	maps_of(c, p->pid);
}

/* ---- doing it ---- */

static int
start_target(struct cli *c)
{
	char why[256];

	if (c->command != NULL)
		return targets_launch(&c->st, c->command);
	int error = targets_attach(&c->st, c->pid, true, why, sizeof(why));
	if (error != 0)
		state_message(&c->st, "%s", why);
	return error;
}

static bool
any_lock_functions(const struct state *st)
{
	vec_foreach(p, &st->probes.list)
		if ((*p)->provider == &prov_plockstat)
			return true;
	return false;
}

static int
trace(struct cli *c)
{
	const struct consume_report report = { locks_print, &c->report };
	struct state *st = &c->st;

	st->super = super_create();
	targets_init(st);
	loop_signals(st);
	panic_guard(st->super);
	session_open_output(st, NULL);
	progress_begin(st);
	if (start_target(c) != 0 || compile(c) != 0)
		return E_ERROR;
	c->report.pid = st->named.pid;
	if (!any_lock_functions(st)) {
		state_message(st,
		    "process %d has no lock functions of glibc or musl",
		    (int)st->named.pid);
		return E_ERROR;
	}
	char *hint = NULL;
	const char *why = run_enable(st, &report, &hint);
	if (why != NULL) {
		say_hint(
		    c, mem_printf("could not enable tracing: %s", why), hint);
		return E_ERROR;
	}
	progress_end(st);
	asked_begin(st,
	    &(struct asked){ .version = DTRAP_VERSION,
		.programs = &(struct asked_program){ .kind = "script",
		    .name = "plockstat",
		    .text = str_c(&c->program),
		    .matched = -1 },
		.nprograms = 1 });
	moments_subscribe(st, EV_EXIT, on_exit_begins, c);
	session_start(st);
	if (c->verbose)
		state_message(
		    st, "tracing enabled for pid %d", (int)st->named.pid);
	loop_run(st);
	session_finish(st);
	return session_wrote(st) ? E_SUCCESS : E_ERROR;
}

static int
run(struct cli *c)
{
	char why[256];

	if (c->help) {
		help(stdout, c->name);
		return E_SUCCESS;
	}
	if (c->itself) {
		fprintf(stdout, "plockstat of dtrap %s\n", DTRAP_VERSION);
		return E_SUCCESS;
	}
	if (c->deadlock) {
		int error =
		    holds_print(c->pid, c->json, stdout, why, sizeof(why));
		if (error != 0)
			state_message(&c->st, "%s", why);
		return error == 0 ? E_SUCCESS : E_ERROR;
	}
	c->report = (struct lock_report){
		.json = c->json,
		.top = (unsigned)c->top,
		.depth = c->depth > 0 ? (unsigned)c->depth : 1,
		.hist = c->depth > 0 || c->verbose,
		.maps = maps_of,
		.ctx = c,
	};
	write_program(c);
	if (c->show)
		fputs(str_c(&c->program), stderr);
	return c->pid != 0 || c->command != NULL ? trace(c) : E_SUCCESS;
}

int
main(int argc, char **argv)
{
	struct cli c = { 0 };

	if (!begin(argv[0], &c.name))
		return E_ERROR;
	session_init(&c.st, c.name);
	option_set(&c.st.opts, "quiet", NULL, false);
	/* Not every program has every kind of lock, and libraries come late. */
	option_set(&c.st.opts, "zdefs", NULL, false);
	int r = parse_args(&c, argc, argv);
	if (r == E_SUCCESS)
		r = run(&c);
	if (loop_stopping() && !c.st.started)
		state_message(&c.st, BEGIN_ENDED);
	session_fini(&c.st);
	str_fini(&c.program);
	maps_fini(&c.maps);
	mem_free(c.command);
	return r;
}
