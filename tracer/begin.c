/*
 * The first steps of a program; see begin.h.
 */
#include "tracer/begin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

void
begin_descriptors(void)
{
	/* The lowest that is free is the one that open() gives.  "/" is there
	 * whatever is mounted, and O_PATH answers reads and writes with EBADF,
	 * as a closed one does. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/", O_PATH | O_CLOEXEC);
}

bool
begin_refused(const char *name)
{
	if (getauxval(AT_SECURE) == 0 && getuid() == geteuid() &&
	    getgid() == getegid())
		return false;
	fprintf(stderr,
	    "%s: not run with rights that its user does not have (set-user-ID, "
	    "set-group-ID or capabilities of its file): take them away\n",
	    name);
	return true;
}
