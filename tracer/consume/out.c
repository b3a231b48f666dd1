/*
 * The output stream: writing, freopen(), ftruncate(), system().
 *
 * The first error is kept and silences what follows: a reader that has gone
 * away is the end of the output, not of the tracer.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio_ext.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/consume/consume_impl.h"

static FILE *
out_file(const struct out *o)
{
	return o->own != NULL ? o->own : o->base;
}

static void
out_look(struct out *o)
{
	int fd = fileno(out_file(o));

	o->escape = fd >= 0 && isatty(fd);
}

/* What is not written yet is lost: nobody is to wait for it again. */
static void
out_failed(struct out *o)
{
	if (o->error == 0)
		o->error = errno != 0 ? -errno : -EIO;
	__fpurge(out_file(o));
}

void
out_init(struct out *o, FILE *base)
{
	*o = (struct out){ .base = base };
	out_look(o);
}

void
out_fini(struct out *o)
{
	out_flush(o);
	if (o->own != NULL)
		fclose(o->own);
	o->own = NULL;
}

void
out_write(struct out *o, struct str *text)
{
	if (text->len != 0 && o->error == 0) {
		errno = 0;
		if (fwrite(text->s, 1, text->len, out_file(o)) != text->len)
			out_failed(o);
	}
	str_clear(text);
}

int
out_flush(struct out *o)
{
	errno = 0;
	if (fflush(out_file(o)) != 0)
		out_failed(o);
	return o->error;
}

int
out_reopen(struct out *o, const char *path)
{
	FILE *f = NULL;

	if (*path != '\0') {
		f = fopen(path, "ae");
		if (f == NULL)
			return -errno;
	}
	out_flush(o);
	if (o->own != NULL)
		fclose(o->own);
	o->own = f;
	out_look(o);
	return 0;
}

/* Only a file can be truncated; anything else is left as it is. */
void
out_truncate(struct out *o)
{
	FILE *f = out_file(o);

	out_flush(o);
	if (fileno(f) >= 0 && ftruncate(fileno(f), 0) == 0)
		rewind(f);
}

/* As DTrace, which changes the stream in place: after freopen() the output of
 * commands goes to the file too. */
static void
out_spawn_files(const struct out *o, posix_spawn_file_actions_t *fa)
{
	if (o->own != NULL && fileno(o->base) == STDOUT_FILENO)
		posix_spawn_file_actions_adddup2(
		    fa, fileno(o->own), STDOUT_FILENO);
}

/* The tracer blocks and ignores signals for its own purposes. */
static void
out_spawn_signals(posix_spawnattr_t *attr)
{
	sigset_t set;

	sigemptyset(&set);
	posix_spawnattr_setsigmask(attr, &set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGCHLD);
	posix_spawnattr_setsigdefault(attr, &set);
	posix_spawnattr_setflags(
	    attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* Not system(3): it changes the tracer's own signals while it waits. */
void
out_system(struct out *o, const char *command)
{
	char sh[] = "sh", dash_c[] = "-c";
	char *text = mem_strdup(command);
	char *argv[] = { sh, dash_c, text, NULL };
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	pid_t pid;

	out_flush(o);
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&attr);
	out_spawn_files(o, &fa);
	out_spawn_signals(&attr);
	if (posix_spawn(&pid, "/bin/sh", &fa, &attr, argv, environ) == 0)
		while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
			;
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&fa);
	mem_free(text);
}
