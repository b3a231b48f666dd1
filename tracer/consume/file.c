/*
 * Whole files; see file.h.
 *
 * A new file is written beside its place under a name that nobody can guess.
 * When it is complete, it replaces the old file and gets its mode and owner, so
 * a reader never sees an incomplete file. If something else is there (a link, a
 * FIFO, a device, our own output), it is not replaced, and the text is written
 * into it.
 */
#include "tracer/consume/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer/consume/writer.h"

static int
file_fill(const struct consume_env *env, int fd, const struct str *text)
{
	return writer_write(fd, text->s, text->len, env->enough);
}

/* The mode and owner are those of the old file; without one they are those that
 * open() would give. */
static int
file_dress(int fd, const struct stat *old)
{
	if (old != NULL)
		return fchown(fd, old->st_uid, old->st_gid) != 0 ||
			fchmod(fd, old->st_mode & 0777) != 0 ?
		    -errno :
		    0;
	mode_t mask = umask(0);
	umask(mask);
	return fchmod(fd, 0666 & ~mask) != 0 ? -errno : 0;
}

bool
file_is_regular(const char *path)
{
	struct stat st;

	return lstat(path, &st) != 0 ? errno == ENOENT : S_ISREG(st.st_mode);
}

static int
file_replace(const struct consume_env *env, const char *path,
    const struct stat *old, const struct str *text)
{
	const char *slash = strrchr(path, '/');
	char *temp = mem_printf("%.*s.dtrap-XXXXXX",
	    slash != NULL ? (int)(slash + 1 - path) : 0, path);
	int fd = mkostemp(temp, O_CLOEXEC);
	int r = fd < 0 ? -errno : file_fill(env, fd, text);

	if (r == 0)
		r = file_dress(fd, old);
	if (fd >= 0 && close(fd) != 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(temp, path) != 0)
		r = -errno;
	if (r != 0 && fd >= 0)
		unlink(temp);
	mem_free(temp);
	return r;
}

/* The file descriptor of ours that is open on path, or -1: if the file were
 * opened once more, writing would begin at its start. */
static int
file_is_open(const struct consume_env *env, const char *path)
{
	const int fds[] = { writer_fd(env->out), STDOUT_FILENO, STDERR_FILENO };
	struct stat at, st;

	if (stat(path, &at) != 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fstat(fds[i], &st) == 0 && st.st_dev == at.st_dev &&
		    st.st_ino == at.st_ino)
			return fds[i];
	return -1;
}

/* A FIFO without a reader is an error; do not wait for one. */
static int
file_write(
    const struct consume_env *env, const char *path, const struct str *text)
{
	int fd = open(path,
	    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
	    0666);
	int r = fd < 0 || fcntl(fd, F_SETFL, 0) != 0 ? -errno :
						       file_fill(env, fd, text);

	if (fd >= 0 && close(fd) != 0 && r == 0)
		r = -errno;
	return r;
}

int
file_renew(
    const struct consume_env *env, const char *path, const struct str *text)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return file_replace(env, path, NULL, text);
	if (!S_ISREG(st.st_mode))
		return file_write(env, path, text);
	int r = file_replace(env, path, &st, text);
	/* The file, or its directory, belongs to somebody else: it can only be
	 * written to, not replaced. */
	return r == -EPERM || r == -EACCES ? file_write(env, path, text) : r;
}

int
file_put(
    const struct consume_env *env, const char *path, const struct str *text)
{
	int fd = file_is_open(env, path);

	return fd >= 0 ? file_fill(env, fd, text) : file_renew(env, path, text);
}
