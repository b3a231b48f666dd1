/*
 * See keep.h.
 */
#include "tracer/consume/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "dlang/base/base.h"
#include "tracer/consume/writer.h"

#define COPIED 65536 /* bytes at a time */

static int kept = -1; /* the file */
/* What 0, 1 and 2 were; -1: they are that. */
static int before[3] = { -1, -1, -1 };

static int
file_open(void)
{
	FILE *f = tmpfile();
	int fd = f != NULL ? fcntl(fileno(f), F_DUPFD_CLOEXEC, 3) : -1;

	if (f != NULL)
		fclose(f);
	/* Several write to it. */
	if (fd >= 0)
		fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

/* Errors leave the descriptor as it is. */
static void
replace(int fd, int by)
{
	if (by < 0 || !isatty(fd))
		return;
	before[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (before[fd] >= 0)
		dup2(by, fd);
}

bool
keep_begin(void)
{
	if (kept >= 0)
		return true;
	if (!isatty(STDOUT_FILENO))
		return false;
	kept = file_open();
	if (kept < 0)
		return false;
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	replace(STDIN_FILENO, nothing);
	replace(STDOUT_FILENO, kept);
	replace(STDERR_FILENO, kept);
	if (nothing >= 0)
		close(nothing);
	return true;
}

int
keep_terminal(void)
{
	return before[STDOUT_FILENO];
}

static void
put_back(void)
{
	for (int fd = 0; fd < (int)ARRAY_SIZE(before); fd++) {
		if (before[fd] < 0)
			continue;
		dup2(before[fd], fd);
		close(before[fd]);
		before[fd] = -1;
	}
}

void
keep_end(bool (*enough)(void))
{
	char text[COPIED];
	off_t at = 0;
	ssize_t n;

	put_back();
	if (kept < 0)
		return;
	while ((n = pread(kept, text, sizeof(text), at)) > 0 &&
	    writer_write(STDOUT_FILENO, text, (size_t)n, enough) == 0)
		at += n;
	close(kept);
	kept = -1;
}

void
keep_rescue(void)
{
	char text[512];
	off_t at = 0;
	ssize_t n;

	put_back();
	if (kept < 0)
		return;
	/* This is our own description, which the terminal's others do not share:
	 * it may be set not to block. */
	const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int fd = open("/proc/self/fd/1", flags);
	if (fd < 0)
		fd = open("/dev/tty", flags);
	while (fd >= 0 && (n = pread(kept, text, sizeof(text), at)) > 0 &&
	    write(fd, text, (size_t)n) == n)
		at += n;
}
