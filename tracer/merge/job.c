/*
 * The job of a host; see job.h.
 *
 * It comes by standard input and not as arguments, because what is between here
 * and there (ssh, a shell, ClusterShell) reads arguments in ways of its own.
 */
#include "tracer/merge/job.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/vec.h"
#include "tracer/consume/text.h"
#include "tracer/consume/wire.h"
#include "tracer/drive/heart.h"

/* The type of the line, which no stream has. */
#define JOB        'J'
#define WORDS_MOST 4096

static struct {
	VEC(char *) argv;
	VEC(char *) scripts; /* name, text, name, text ... */
} job;

void
job_write(struct str *to, char *const *argv, size_t argc, char *const *scripts,
    size_t nscripts)
{
	struct wire w = { 0 };
	size_t start = to->len;

	wire_begin(&w, to, (enum wire_type)JOB);
	wire_number(to, argc);
	for (size_t i = 0; i < argc; i++)
		wire_string(to, argv[i]);
	wire_number(to, nscripts);
	for (size_t i = 0; i < 2 * nscripts; i++)
		wire_string(to, scripts[i]);
	wire_end(&w, to, start);
}

/* One line, byte by byte: what follows it belongs to others. */
static int
read_line(int fd, struct str *line)
{
	char c;
	ssize_t n;

	while (line->len < WIRE_LINE) {
		n = read(fd, &c, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENODATA;
		if (c == '\n')
			return 0;
		str_addc(line, c);
	}
	return -EMSGSIZE;
}

static char *
get_text(struct wire_line *l)
{
	char *text = wire_get_string(l, WIRE_LINE);

	l->bad |= text == NULL;
	return text;
}

/* 0, or a negative errno. */
static int
read_job(int fd, const char *name, int *argc, char ***argv)
{
	struct str line = { 0 };
	struct wire_line l;
	int error = read_line(fd, &line);

	if (error == 0)
		error = wire_open(&l, str_c(&line), line.len);
	if (error == 0 && l.type != JOB)
		error = -EINVAL;
	if (error == 0) {
		*vec_push(&job.argv) = mem_strdup(name);
		uint64_t n = wire_get_most(&l, WORDS_MOST);
		for (uint64_t i = 0; i < n && !l.bad; i++)
			*vec_push(&job.argv) = get_text(&l);
		n = wire_get_most(&l, WORDS_MOST);
		for (uint64_t i = 0; i < 2 * n && !l.bad; i++)
			*vec_push(&job.scripts) = get_text(&l);
		if (!wire_is_over(&l))
			error = -EINVAL;
	}
	str_fini(&line);
	if (error != 0)
		return error;
	*argc = (int)job.argv.len;
	*vec_push(&job.argv) = NULL;
	*argv = job.argv.at;
	return 0;
}

bool
job_take(const char *name, int *argc, char ***argv)
{
	int error =
	    *argc == 2 ? read_job(STDIN_FILENO, name, argc, argv) : -EINVAL;
	struct str text = { 0 };

	if (error == 0) {
		heart_keep_input();
		return true;
	}
	str_printf(&text,
	    "%s host: there is no job on standard input; dtrap -H starts this\n",
	    name);
	text_put(stderr, &text);
	return false;
}

const char *
job_script(const char *name)
{
	for (size_t i = 0; i + 1 < job.scripts.len; i += 2)
		if (strcmp(job.scripts.at[i], name) == 0)
			return job.scripts.at[i + 1];
	return NULL;
}
