/*
 * The C preprocessor; see cpp.h.
 *
 * The text is written to an unlinked file, which becomes cpp's standard input.
 * To a pipe, dtrap would have to write while it reads the output.
 */
#include "tracer/program/cpp.h"
#include "tracer/program/cpp_headers.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracer/ptrace/event.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/state.h"

/* The name under which cpp knows its input. */
#define CPP_INPUT "/dev/stdin"

extern char **environ;

typedef VEC(char *) args_vec;

static void
add(args_vec *args, const char *prefix, const char *value)
{
	*vec_push(args) = mem_printf("%s%s", prefix, value);
}

/* Add several arguments, separated by blanks. */
static void
add_words(args_vec *args, const char *words)
{
	while (words != NULL && *(words += strspn(words, " \t\n")) != '\0') {
		size_t n = strcspn(words, " \t\n");
		*vec_push(args) = mem_strndup(words, n);
		words += n;
	}
}

/* Add an option that may occur several times: one value in each line. */
static void
add_lines(args_vec *args, const char *prefix, const char *lines)
{
	while (lines != NULL && *lines != '\0') {
		size_t n = strcspn(lines, "\n");
		*vec_push(args) = mem_printf("%s%.*s", prefix, (int)n, lines);
		lines += n + (lines[n] == '\n');
	}
}

/* The compiler's option for -X: c is strict, s is C before the standard. */
static const char *
standard(const struct state *st)
{
	const char *mode = st->opts.text[OPT_STDC];

	if (mode != NULL && strcasecmp(mode, "s") == 0)
		return "-traditional-cpp";
	return mode != NULL && strcasecmp(mode, "c") == 0 ? "-std=c99" :
							    "-std=gnu99";
}

static const char *
program(const struct state *st)
{
	const char *given = st->opts.text[OPT_CPPPATH];

	return given != NULL ? given : "cpp";
}

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static void
make_args(struct state *st, const char *path, args_vec *args)
{
	char *copy = mem_strdup(path);

	add(args, "", last_part(program(st)));
	add(args, "-D__SUNW_D=1", "");
	add(args, "-D__SUNW_D_VERSION=0x00010013", "");
	add_lines(args, "-D", st->opts.text[OPT_DEFINE]);
	add_lines(args, "-U", st->opts.text[OPT_UNDEF]);
	add_lines(args, "-I", st->opts.text[OPT_INCDIR]);
	add(args, standard(st), "");
	add_words(args, st->opts.text[OPT_CPPARGS]);
	if (option_get(&st->opts, OPT_CPPHDRS) != 0)
		add(args, "-H", "");
	/* #include "..." searches the directory of the script, though cpp reads
	 * it from standard input. */
	add(args, "-iquote", "");
	add(args, "", dirname(copy));
	add(args, "-", "");
	*vec_push(args) = NULL;
	mem_free(copy);
}

static int
write_all(int fd, const char *s, size_t n)
{
	while (n > 0) {
		ssize_t w = write(fd, s, n);
		if (w < 0)
			return -errno;
		s += w;
		n -= (size_t)w;
	}
	return 0;
}

/* Create the input: the script without its #! line.  cpp's messages name
 * CPP_INPUT: see say(). */
static int
make_input(const char *text)
{
	static const char mark[] = "# 1 \"" CPP_INPUT "\"\n";
	int fd = memfd_create("dtrap-cpp", MFD_CLOEXEC);

	if (strncmp(text, "#!", 2) == 0)
		text += strcspn(text, "\n");
	int error = fd < 0 ? -errno : write_all(fd, mark, sizeof(mark) - 1);
	if (error == 0)
		error = write_all(fd, text, strlen(text));
	if (error == 0 && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return error < 0 ? error : -EIO;
}

static int
spawn(const char *file, char **argv, const int fds[3], pid_t *pid)
{
	posix_spawn_file_actions_t fa;

	posix_spawn_file_actions_init(&fa);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&fa, fds[i], i);
	int error = posix_spawnp(pid, file, &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	return -error;
}

/* Replace the input's name in line marks (# 12 "/dev/stdin") by the
 * script's. */
static char *
name_marks(const char *text, const char *path)
{
	static const char input[] = " \"" CPP_INPUT "\"";
	struct str s = { 0 };

	while (*text != '\0') {
		size_t n = strcspn(text, "\n");
		size_t number = strncmp(text, "# ", 2) == 0 ?
		    strspn(text + 2, "0123456789") :
		    0;
		const char *file = text + 2 + number;
		n += text[n] == '\n';
		if (number > 0 &&
		    strncmp(file, input, sizeof(input) - 1) == 0) {
			const char *rest = file + sizeof(input) - 1;
			str_addn(&s, text, (size_t)(file - text));
			str_printf(&s, " \"%s\"", path);
			str_addn(&s, rest, (size_t)(text + n - rest));
		} else {
			str_addn(&s, text, n);
		}
		text += n;
	}
	return str_take(&s);
}

/*
 * Print cpp's messages, with the script's name instead of CPP_INPUT. True if a
 * file was missing.
 */
static bool
say(struct state *st, int fd, const char *path)
{
	static const char last[] = "compilation terminated.\n";
	struct str said = { 0 }, shown = { 0 };
	char buf[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		str_addn(&said, buf, (size_t)n);
	const char *text = str_c(&said), *at;
	bool missing = strstr(text, strerror(ENOENT)) != NULL;
	while (!st->testing && (at = strstr(text, CPP_INPUT)) != NULL) {
		str_addn(&shown, text, (size_t)(at - text));
		str_add(&shown, path);
		text = at + sizeof(CPP_INPUT) - 1;
	}
	str_add(&shown, text);
	/* Omit cpp's last line, as dtrap's own message reports the failure.
	 * The lines are cpp's, about the user's script; -H prints lines for
	 * other programs. */
	size_t end = sizeof(last) - 1;
	if (!st->testing && shown.len >= end &&
	    strcmp(shown.s + shown.len - end, last) == 0)
		shown.s[shown.len - end] = '\0';
	fputs(str_c(&shown), st->output.err);
	fflush(st->output.err);
	str_fini(&said);
	str_fini(&shown);
	return missing;
}

/* Read cpp's output and wait for its end.  NULL if it failed. */
static char *
collect(struct state *st, int fd, pid_t pid)
{
	struct str text = { 0 };
	char buf[8192];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		str_addn(&text, buf, (size_t)n);
	int status = event_await_plain(st->super, pid);
	if (n == 0 && status == 0)
		return str_take(&text);
	str_fini(&text);
	return NULL;
}

char *
cpp_run(struct state *st, const char *path, const char *text)
{
	args_vec args = { 0 };
	char *raw = NULL;
	int out[2];
	pid_t pid;

	bool missing = false;
	int in = make_input(text);
	int said = in < 0 ? -1 : memfd_create("dtrap-cpp", MFD_CLOEXEC);
	if (said < 0 || pipe2(out, O_CLOEXEC) != 0) {
		state_message(st, "failed to compile script %s: %s", path,
		    strerror(in < 0 ? -in : errno));
		if (in >= 0)
			close(in);
		if (said >= 0)
			close(said);
		return NULL;
	}
	make_args(st, path, &args);
	int error = spawn(
	    program(st), args.at, (const int[3]){ in, out[1], said }, &pid);
	close(in);
	close(out[1]);
	if (error == 0) {
		raw = collect(st, out[0], pid);
		missing = say(st, said, path);
	}
	close(out[0]);
	close(said);
	if (error != 0)
		state_message(st,
		    "failed to compile script %s: Preprocessor not found (%s: "
		    "%s)",
		    path, program(st), strerror(-error));
	else if (raw == NULL)
		state_message(st,
		    "failed to compile script %s: Preprocessor failed to "
		    "process input program%s",
		    path,
		    missing && !st->testing ?
			"; -I FOLDER adds one in which to look for files" :
			"");
	vec_foreach(a, &args)
		mem_free(*a);
	vec_fini(&args);
	if (raw != NULL)
		cpp_headers_reduce(raw);
	char *result = raw != NULL ? name_marks(raw, path) : NULL;
	mem_free(raw);
	return result;
}
