/*
 * Debug files from debuginfod servers; see fetch.h.
 *
 * A child asks the servers for one file after the other, and writes lines to
 * the tracer:
 *
 *	ask NAME		a server is asked for the file of this object
 *	got BYTES ALL		so much of it is there
 *	have ID PATH		it is there
 *	none NAME ERRNO		it is not
 *	library			the library that asks is not installed
 *
 *	fork -> lines ... -> end of the lines --------+
 *	          |                                   +--> child reaped
 *	          +-> time over, user wants to end,   |
 *	              kill of the child's group ------+
 *
 * When the child is killed, what it has written so far counts; the library
 * keeps complete files in its cache.
 */
#include "tracer/drive/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "symbols/debuginfod.h"
#include "symbols/maps.h"
#include "symbols/object.h"
#include "tracer/ptrace/event.h"
#include "tracer/drive/loop.h"
#include "tracer/base/state.h"
#include "tracer/drive/targets.h"

/* How often progress of a download is reported, in nanoseconds; how often dtrap
 * checks whether the user wants to end, in milliseconds. */
#define TELL_NS 2000000000LL
#define LOOK_MS 200

extern char **environ;

static int64_t
now_ns(void)
{
	return (int64_t)clock_ns(CLOCK_MONOTONIC);
}

/* ---- the child ---- */

struct asker {
	const struct fetch *f;
	bool all; /* also libraries that no D program names */
	int out;
	const char *name; /* the object whose file is asked for */
	bool asked;       /* the `ask' line was written */
	int64_t told;
	VEC(char *) done; /* build ids */
};

static void PRINTF_LIKE(2, 3) say(const struct asker *a, const char *fmt, ...)
{
	char line[PATH_MAX + 256];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	/* The tracer has closed its end: stop. */
	if (n > 0 && (size_t)n < sizeof(line) &&
	    write(a->out, line, (size_t)n) != n)
		_exit(0);
}

/* Not called for a file that is in the cache. */
static void
on_progress(void *ctx, long done, long all)
{
	struct asker *a = ctx;
	int64_t now = now_ns();

	if (!a->asked) {
		say(a, "ask %s\n", a->name);
		a->asked = true;
		a->told = now;
	}
	if (now - a->told < TELL_NS)
		return;
	say(a, "got %ld %ld\n", done, all);
	a->told = now;
}

static bool
is_done(struct asker *a, const char *build_id)
{
	vec_foreach(id, &a->done)
		if (strcmp(*id, build_id) == 0)
			return true;
	*vec_push(&a->done) = mem_strdup(build_id);
	return false;
}

static void
ask(struct asker *a, const struct object *o)
{
	const char *build_id = object_build_id(o);
	char *path;

	a->name = object_basename(o);
	a->asked = false;
	int error = debuginfod_fetch(build_id, on_progress, a, &path);
	if (error == -ELIBACC) {
		say(a, "library\n");
		_exit(0);
	}
	if (error == 0)
		say(a, "have %s %s\n", build_id, path);
	else
		say(a, "none %d %s\n", -error, a->name);
}

/* Does the text contain the word, and not as a part of a longer one? */
static bool
has_word(const char *text, const char *word, size_t len)
{
	static const char more[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-";

	for (const char *p = text; (p = strstr(p, word)) != NULL; p++)
		if ((p == text || strchr(more, p[-1]) == NULL) &&
		    (p[len] == '\0' || strchr(more, p[len]) == NULL))
			return true;
	return false;
}

/* Does a D program name the library, as libfoo.so.6 or libfoo? */
static bool
is_named(const struct asker *a, const char *name)
{
	size_t len = strcspn(name, ".");
	char *stem = mem_strndup(name, len);
	bool named = len > 0 && has_word(a->f->text, stem, len);

	mem_free(stem);
	return named;
}

/* Ask for the debug file of one file that is or will be mapped, if it is
 * needed. */
static void
consider(struct asker *a, const char *path, const char *display, bool program)
{
	struct object *o;

	if (object_open(path, display, &o, NULL) != 0)
		return;
	if ((program || a->all || is_named(a, object_basename(o))) &&
	    object_build_id(o) != NULL && !object_has_symtab(o) &&
	    !is_done(a, object_build_id(o)))
		ask(a, o);
	object_put(o);
}

static bool
is_program(pid_t pid, const struct map *m)
{
	char link[64], path[PATH_MAX];

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	return n > 0 && strncmp(m->path, path, (size_t)n) == 0 &&
	    (m->path[n] == '\0' || m->path[n] == ' ');
}

static void
consider_process(struct asker *a, pid_t pid)
{
	struct maps maps;

	if (maps_read(pid, &maps) != 0)
		return;
	vec_foreach(m, &maps.list) {
		if (!m->exec || m->path[0] != '/')
			continue;
		char *path = mem_printf("/proc/%d/root%s", (int)pid, m->path);
		consider(a, path, m->path, is_program(pid, m));
		mem_free(path);
	}
	maps_fini(&maps);
}

/* Processes that a D program names only by number: pid1234:::entry. */
static void
consider_numbers(struct asker *a)
{
	static const char prefix[] = "pid";
	char *end;

	for (const char *p = a->f->text; (p = strstr(p, prefix)) != NULL;) {
		p += sizeof(prefix) - 1;
		long pid = strtol(p, &end, 10);
		if (*p >= '1' && *p <= '9' && pid <= INT_MAX)
			consider_process(a, (pid_t)pid);
	}
}

/* The output of the run-time linker: the libraries that it would load. */
static FILE *
list_libraries(const char *interp, const char *path)
{
	static char list[] = "--list";
	char *const argv[] = { (char *)interp, list, (char *)path, NULL };
	posix_spawn_file_actions_t fa;
	int out[2];
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) != 0)
		return NULL;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, out[1], 1);
	posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
	int error = posix_spawn(&pid, interp, &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	close(out[1]);
	if (error == 0)
		return fdopen(out[0], "r");
	close(out[0]);
	return NULL;
}

/* Lines `name => /path (0x...)', `/path (0x...)'. */
static void
consider_libraries(struct asker *a, const char *interp, const char *path)
{
	FILE *f = list_libraries(interp, path);
	char *line = NULL;
	size_t room = 0;

	while (f != NULL && getline(&line, &room, f) > 0) {
		char *from = strstr(line, "=> /"), *end;
		from = from != NULL ? from + 3 : strchr(line, '/');
		end = strstr(line, " (0x");
		if (from == NULL || end == NULL || end < from)
			continue;
		*end = '\0';
		consider(a, from, from, false);
	}
	free(line);
	if (f != NULL)
		fclose(f);
}

/* The interpreter in the first line of a script, for the caller to free; NULL
 * if there is none. */
static char *
script_interpreter(const char *path)
{
	char line[256] = "";
	FILE *f = fopen(path, "re");

	if (f == NULL)
		return NULL;
	size_t n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	if (strncmp(line, "#!", 2) != 0)
		return NULL;
	char *name = line + 2 + strspn(line + 2, " \t");
	name[strcspn(name, " \t\n")] = '\0';
	return *name != '\0' ? mem_strdup(name) : NULL;
}

static void
consider_command(struct asker *a, const char *command)
{
	struct object *o;
	const char *why;
	char **argv, *path;

	if (targets_split(command, &argv, &why) != 0)
		return;
	path = targets_find_program(argv[0]);
	targets_free_argv(argv);
	char *interp = path != NULL ? script_interpreter(path) : NULL;
	if (interp != NULL) {
		mem_free(path);
		path = interp;
	}
	if (path != NULL && object_open(path, path, &o, NULL) == 0) {
		consider(a, path, path, true);
		if (object_interp(o) != NULL)
			consider_libraries(a, object_interp(o), path);
		object_put(o);
	}
	mem_free(path);
}

NORETURN static void
child_main(const struct fetch *f, bool all, int out, pid_t parent)
{
	struct asker a = { .f = f, .all = all, .out = out };
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it died before that */
		_exit(0);
	setpgid(0, 0);
	for (int sig = 1; sig <= 64; sig++)
		signal(sig, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN); /* the linker is not waited for */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; i < f->ncommands; i++)
		consider_command(&a, f->commands[i]);
	for (size_t i = 0; i < f->npids; i++)
		consider_process(&a, f->pids[i]);
	consider_numbers(&a);
	_exit(0);
}

/* ---- the tracer ---- */

struct waiter {
	struct state *st;
	pid_t child;
	int in;
	char name[NAME_MAX + 1]; /* what is being asked for, or "" */
	char line[PATH_MAX + 256];
	size_t len;
};

static void
on_none(struct waiter *w, const char *text)
{
	char *name;
	int error = (int)strtol(text, &name, 10);

	name += *name == ' ';
	if (error == ENOENT)
		state_notice(
		    w->st, "no debuginfod server has the symbols of %s", name);
	else
		state_message(w->st, "no symbols of %s from debuginfod: %s",
		    name, strerror(error));
}

static void
on_have(char *text)
{
	char *path = strchr(text, ' ');

	if (path == NULL)
		return;
	*path++ = '\0';
	debuginfod_add(text, path);
}

static void
on_line(struct waiter *w, char *line)
{
	long done, all;

	if (strncmp(line, "ask ", 4) == 0) {
		snprintf(w->name, sizeof(w->name), "%.*s", NAME_MAX, line + 4);
		state_notice(
		    w->st, "asking debuginfod for the symbols of %s", w->name);
	} else if (sscanf(line, "got %ld %ld", &done, &all) == 2) {
		state_message(w->st, "debuginfod: %s: %ld of %ld KiB", w->name,
		    done / 1024, all / 1024);
	} else if (strncmp(line, "have ", 5) == 0) {
		on_have(line + 5);
		w->name[0] = '\0';
	} else if (strncmp(line, "none ", 5) == 0) {
		on_none(w, line + 5);
		w->name[0] = '\0';
	} else if (strcmp(line, "library") == 0) {
		state_message(w->st,
		    "DEBUGINFOD_URLS is set, but libdebuginfod is not "
		    "installed: symbols are not downloaded");
	}
}

/* Handle the lines that have arrived. False at the end of them. */
static bool
take_lines(struct waiter *w)
{
	ssize_t n = read(w->in, w->line + w->len, sizeof(w->line) - 1 - w->len);
	char *end;

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	w->len += (size_t)n;
	w->line[w->len] = '\0';
	while ((end = strchr(w->line, '\n')) != NULL) {
		*end++ = '\0';
		on_line(w, w->line);
		w->len -= (size_t)(end - w->line);
		memmove(w->line, end, w->len + 1);
	}
	return w->len < sizeof(w->line) - 1;
}

/* Wait until the child has written all lines. False: the time is over, or the
 * user wants to end. */
static bool
wait_for_lines(struct waiter *w, int64_t until)
{
	for (;;) {
		struct pollfd p = { .fd = w->in, .events = POLLIN };
		int64_t left = (until - now_ns()) / 1000000;

		if (left <= 0 || loop_stopping())
			return false;
		int n = poll(&p, 1, (int)MIN(left, LOOK_MS));
		if (n > 0 && !take_lines(w))
			return true;
	}
}

static void
run(struct state *st, const struct fetch *f, bool all, int64_t seconds)
{
	struct waiter w = { .st = st };
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return;
	pid_t parent = getpid();
	w.in = fds[0];
	w.child = fork();
	if (w.child == 0)
		child_main(f, all, fds[1], parent);
	close(fds[1]);
	if (w.child > 0) {
		int64_t until = now_ns() + seconds * 1000000000LL;
		if (!wait_for_lines(&w, until)) {
			if (!loop_stopping())
				state_message(st,
				    "debuginfod took more than %ld seconds: "
				    "going on without the symbols of %s",
				    (long)seconds,
				    w.name[0] != '\0' ? w.name : "the targets");
			kill(-w.child, SIGKILL);
		}
		kill(w.child, SIGKILL); /* if it has no group of its own yet */
		event_await_plain(st->super, w.child);
	}
	close(w.in);
}

void
fetch_debug_files(struct state *st, const struct fetch *f)
{
	const char *which = st->opts.text[OPT_DEBUGINFOD];
	int64_t seconds = option_get(&st->opts, OPT_DEBUGINFODTIME);

	if (!debuginfod_wanted() || seconds == 0 ||
	    (which != NULL && strcmp(which, "none") == 0))
		return;
	run(st, f, which != NULL && strcmp(which, "all") == 0, seconds);
}
