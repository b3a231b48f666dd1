/*
 * Programs that a test builds, runs and asks about themselves.
 */
#include "t/fake/fixture.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/dtrap-test-XXXXXX";
static pid_t owner;

void
fixture_setup(void)
{
	if (mkdtemp(dir) == NULL)
		abort();
	owner = getpid();
	setenv("DIR", dir, 1);
}

void
fixture_teardown(void)
{
	if (owner == getpid() && system("rm -rf \"$DIR\"") != 0)
		fprintf(stderr, "%s is left behind\n", dir);
}

const char *
fixture_path(const char *name)
{
	static char ring[8][256];
	static unsigned next;
	char *buf = ring[next++ % 8];

	snprintf(buf, sizeof(ring[0]), "%s/%s", dir, name);
	return buf;
}

const char *
fixture_compile(const char *compiler, const char *suffix, const char *name,
    const char *text, const char *options)
{
	char src[300];
	FILE *f;

	snprintf(src, sizeof(src), "%s%s", fixture_path(name), suffix);
	f = fopen(src, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
	fixture_sh(
	    "%s -o '%s' '%s' %s", compiler, fixture_path(name), src, options);
	return fixture_path(name);
}

const char *
fixture_cc(const char *name, const char *text, const char *options)
{
	return fixture_compile("cc", ".c", name, text, options);
}

void
fixture_sh(const char *fmt, ...)
{
	char cmd[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	ck_assert_msg(system(cmd) == 0, "failed: %s", cmd);
}

FILE *
fixture_open(const char *fmt, ...)
{
	char cmd[2048];
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	f = popen(cmd, "r");
	ck_assert_ptr_nonnull(f);
	return f;
}

static int
live_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	pid_t pid = (pid_t)(intptr_t)ctx;
	struct iovec to = { buf, len };
	struct iovec from = { (void *)(uintptr_t)addr, len };
	ssize_t n = process_vm_readv(pid, &to, 1, &from, 1, 0);

	return n == (ssize_t)len ? 0 : -EFAULT;
}

struct reader
fixture_reader(pid_t pid)
{
	return (struct reader){ live_read, (void *)(intptr_t)pid };
}

void
child_start(struct child *c, const char *path, char *const argv[])
{
	char *const alone[] = { (char *)(uintptr_t)path, NULL };
	int in[2], out[2];

	ck_assert_int_eq(pipe(in), 0);
	ck_assert_int_eq(pipe(out), 0);
	c->pid = fork();
	ck_assert_int_ge(c->pid, 0);
	if (c->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[0]);
		close(in[1]);
		close(out[0]);
		close(out[1]);
		unsetenv("ASAN_OPTIONS");
		execv(path, argv != NULL ? argv : alone);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	c->in = fdopen(in[1], "w");
	c->out = fdopen(out[0], "r");
	c->mem = fixture_reader(c->pid);
}

char *
child_line(struct child *c, char *buf, size_t size)
{
	ck_assert_ptr_nonnull(fgets(buf, (int)size, c->out));
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}

void
child_end(struct child *c)
{
	fclose(c->in);
	fclose(c->out);
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
}
