/*
 * The C preprocessor; see cpp.h.
 *
 * The text is written to an unlinked file that becomes cpp's standard input:
 * a pipe would have to be fed while the output is read.
 */
#include "tracer/cpp.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracer/event.h"
#include "tracer/proc.h"
#include "tracer/state.h"

extern char **environ;

typedef VEC(char *) args_vec;

static void
add(args_vec *args, const char *prefix, const char *value)
{
	*vec_push(args) = mem_printf("%s%s", prefix, value);
}

/* An option that may have been given several times: a value a line. */
static void
add_lines(args_vec *args, const char *prefix, const char *lines)
{
	while (lines != NULL && *lines != '\0') {
		size_t n = strcspn(lines, "\n");
		*vec_push(args) = mem_printf("%s%.*s", prefix, (int)n, lines);
		lines += n + (lines[n] == '\n');
	}
}

/* Arguments as they are: words, as no shell takes them apart. */
static void
add_words(args_vec *args, const char *text)
{
	while (text != NULL && *text != '\0') {
		text += strspn(text, " \t\n");
		size_t n = strcspn(text, " \t\n");
		if (n > 0)
			*vec_push(args) = mem_printf("%.*s", (int)n, text);
		text += n;
	}
}

/* -X as compilers take it; c is strict, a and t are not. */
static const char *
standard(const struct state *st)
{
	const char *mode = st->opts.text[OPT_STDC];

	return mode != NULL && strcmp(mode, "c") == 0 ? "-std=c99" :
							"-std=gnu99";
}

static void
make_args(struct state *st, const char *path, args_vec *args)
{
	const char *program = st->opts.text[OPT_CPPPATH];
	char *copy = mem_strdup(path);

	add(args, "", program != NULL ? program : "cpp");
	add(args, standard(st), "");
	add(args, "-D__SUNW_D=1", "");
	add(args, "-D__SUNW_D_VERSION=0x00010013", "");
	add_lines(args, "-D", st->opts.text[OPT_DEFINE]);
	add_lines(args, "-U", st->opts.text[OPT_UNDEF]);
	add_lines(args, "-I", st->opts.text[OPT_INCDIR]);
	add_words(args, st->opts.text[OPT_CPPARGS]);
	if (option_get(&st->opts, OPT_CPPHDRS) != 0)
		add(args, "-H", "");
	/* #include "..." looks beside the script, though it is read from
	 * standard input. */
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

/* The input: the script under its own name, a #! line taken out. */
static int
make_input(const char *path, const char *text)
{
	int fd = memfd_create("dtrap-cpp", MFD_CLOEXEC);
	char *mark = mem_printf("# 1 \"%s\"\n", path);

	if (strncmp(text, "#!", 2) == 0)
		text += strcspn(text, "\n");
	int error = fd < 0 ? -errno : write_all(fd, mark, strlen(mark));
	if (error == 0)
		error = write_all(fd, text, strlen(text));
	mem_free(mark);
	if (error == 0 && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return error < 0 ? error : -EIO;
}

static int
spawn(char **argv, int in, int out, pid_t *pid)
{
	posix_spawn_file_actions_t fa;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, in, 0);
	posix_spawn_file_actions_adddup2(&fa, out, 1);
	int error = posix_spawnp(pid, argv[0], &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	return -error;
}

/* Read what it writes, wait for its end.  NULL when it failed. */
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
	char *result = NULL;
	int out[2];
	pid_t pid;

	int in = make_input(path, text);
	if (in < 0 || pipe2(out, O_CLOEXEC) != 0) {
		state_message(st, "failed to compile script %s: %s", path,
		    strerror(in < 0 ? -in : errno));
		if (in >= 0)
			close(in);
		return NULL;
	}
	make_args(st, path, &args);
	int error = spawn(args.at, in, out[1], &pid);
	close(in);
	close(out[1]);
	if (error == 0)
		result = collect(st, out[0], pid);
	close(out[0]);
	if (error != 0)
		state_message(st,
		    "failed to compile script %s: Preprocessor not found (%s: "
		    "%s)",
		    path, args.at[0], strerror(-error));
	else if (result == NULL)
		state_message(st,
		    "failed to compile script %s: Preprocessor failed to "
		    "process input program",
		    path);
	vec_foreach(a, &args)
		mem_free(*a);
	vec_fini(&args);
	return result;
}
