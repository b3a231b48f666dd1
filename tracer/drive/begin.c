/*
 * The first steps of a program; see begin.h.
 */
#include "tracer/drive/begin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const char *program;

static void
say(const char *text)
{
	/* The write may fail; dtrap ends either way. */
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

static void
on_early_end(int sig)
{
	say(program);
	say(": " BEGIN_ENDED "\n");
	/* End by the signal itself, as if there were no handler: it is
	 * delivered when this handler returns. */
	signal(sig, SIG_DFL);
	raise(sig);
}

static void
catch_early_ends(const char *name)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_early_end }, old;

	program = name;
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (sigaction(ends[i], NULL, &old) == 0 &&
		    old.sa_handler != SIG_IGN)
			sigaction(ends[i], &sa, NULL);
}

static void
take_descriptors(void)
{
	/* open() returns the lowest free descriptor. "/" exists whatever is
	 * mounted, and a read or write of an O_PATH descriptor fails with
	 * EBADF, as on a closed one. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/", O_PATH | O_CLOEXEC);
}

static bool
is_refused(const char *name)
{
	if (getauxval(AT_SECURE) == 0 && getuid() == geteuid() &&
	    getgid() == getegid())
		return false;
	fprintf(stderr,
	    "%s: refusing to run with privileges that the user does not "
	    "have: remove the set-user-ID bit, the set-group-ID bit or the "
	    "capabilities of its file\n",
	    name);
	return true;
}

bool
begin(const char *argv0, const char **name)
{
	const char *slash = strrchr(argv0, '/');

	*name = slash != NULL ? slash + 1 : argv0;
	catch_early_ends(*name);
	take_descriptors();
	return !is_refused(*name);
}
