/*
 * The output stream: writing, freopen(), ftruncate(), system(); and messages,
 * which are written after the text that was printed before them.
 *
 * The first error is kept, and later output is discarded: if the reader closes
 * its end, the output ends, but not the tracer. Until the end of the trace
 * dtrap does not wait for a slow reader: records stay in their buffer, and
 * become drops when it is full.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer/consume/consume_impl.h"
#include "tracer/consume/writer.h"

static FILE *
out_file(const struct out *o)
{
	return o->own != NULL ? o->own : o->base;
}

static void
out_look(struct out *o)
{
	int fd = writer_fd(out_file(o));

	o->escape = fd >= 0 && isatty(fd);
}

/* Discard the text that was not written, so that no later call waits for it. */
static void
out_failed(struct out *o)
{
	if (o->error == 0)
		o->error = errno != 0 ? -errno : -EIO;
	__fpurge(out_file(o));
}

void
out_init(struct out *o, FILE *base, size_t limit, bool (*enough)(void))
{
	*o = (struct out){ .base = base, .limit = limit, .enough = enough };
	out_look(o);
}

void
out_fini(struct out *o)
{
	o->patient = true;
	out_flush(o);
	if (o->own != NULL)
		writer_close(o->own);
	o->own = NULL;
}

/* Wait until at most `left' bytes are waiting. Returns at once if waiting is
 * not allowed. */
static void
out_wait(struct out *o, size_t left)
{
	if (!o->patient || o->error != 0)
		return;
	int error = writer_wait(out_file(o), left, o->enough);
	if (error != 0) {
		errno = -error;
		out_failed(o);
	}
}

bool
out_full(struct out *o)
{
	if (writer_waiting(out_file(o)) <= o->limit)
		return false;
	out_wait(o, o->limit);
	return !o->patient;
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
	out_wait(o, 0);
	return o->error;
}

int
out_reopen(struct out *o, const char *path)
{
	FILE *f = NULL;

	if (*path != '\0') {
		/* A FIFO without a reader is an error; opening it must not
		 * block. */
		int fd = open(path,
		    O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK |
			O_NOCTTY,
		    0666);
		if (fd < 0)
			return -errno;
		fcntl(fd, F_SETFL, O_APPEND);
		f = writer_open(fd, true, false, 0);
		if (f == NULL) {
			close(fd);
			return -ENOMEM;
		}
	}
	out_flush(o);
	if (o->own != NULL)
		writer_close(o->own);
	o->own = f;
	out_look(o);
	return 0;
}

/* Only a file can be truncated; anything else is not changed. */
void
out_truncate(struct out *o)
{
	FILE *f = out_file(o);
	int fd = writer_fd(f);
	struct stat st;

	out_flush(o);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	/* Earlier text must be written first. Writing to a file does not block
	 * for long. */
	writer_wait(f, 0, o->enough);
	if (ftruncate(fd, 0) == 0)
		lseek(fd, 0, SEEK_SET);
}

/* The stream is changed in place, as DTrace does it: after freopen(), the
 * output of commands also goes to the file.  In a format for programs it would
 * be in the way. */
static void
out_spawn_files(const struct out *o, posix_spawn_file_actions_t *fa)
{
	if (o->apart)
		posix_spawn_file_actions_adddup2(
		    fa, STDERR_FILENO, STDOUT_FILENO);
	else if (o->own != NULL && writer_fd(o->base) == STDOUT_FILENO)
		posix_spawn_file_actions_adddup2(
		    fa, writer_fd(o->own), STDOUT_FILENO);
}

/* The tracer blocks and ignores signals for its own purposes; the command must
 * not inherit that. */
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
	sigaddset(&set, SIGXFSZ);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTTIN);
	sigaddset(&set, SIGTTOU);
	posix_spawnattr_setsigdefault(attr, &set);
	posix_spawnattr_setflags(
	    attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* system(3) is not used: it changes the tracer's signals while it waits. */
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

void
consume_message(struct consume *c, const char *fmt, ...)
{
	va_list ap;

	out_flush(&c->out);
	va_start(ap, fmt);
	text_message(c->env.err, c->env.prog, fmt, ap);
	va_end(ap);
}
