/*
 * A main() that is called as a command would be: each call in a process of its own,
 * with what it has written and its status.  CALLS_MAIN is its name.
 */
#ifndef T_UNIT_CALLS_H
#define T_UNIT_CALLS_H

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char out[65536], err[65536]; /* of the last call */
static int status;

static void
text_of(int fd, char *to)
{
	ssize_t n = pread(fd, to, sizeof(out) - 1, 0);

	to[n > 0 ? n : 0] = '\0';
	close(fd);
}

static void
call(char *const argv[])
{
	int fds[] = { memfd_create("out", 0), memfd_create("err", 0) };
	int argc = 0, how;
	pid_t pid = fork();

	if (pid == 0) {
		dup2(open("/dev/null", O_RDONLY), 0);
		dup2(fds[0], 1);
		dup2(fds[1], 2);
		while (argv[argc] != NULL)
			argc++;
		exit(CALLS_MAIN(argc, (char **)argv));
	}
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	ck_assert(WIFEXITED(how));
	status = WEXITSTATUS(how);
	text_of(fds[0], out);
	text_of(fds[1], err);
}

#define W(word) (char *)(word)

static void
ends(int want, const char *says)
{
	ck_assert_msg(status == want, "status %d: %s", status, err);
	ck_assert_msg(strstr(err, says) != NULL, "%s", err);
}

static void
is_quiet(const char *want)
{
	ck_assert_msg(status == 0, "status %d: %s", status, err);
	ck_assert_str_eq(err, "");
	ck_assert_str_eq(out, want);
}

#endif
