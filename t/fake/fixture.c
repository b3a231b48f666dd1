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
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
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
	trace_end(c->pid);
}

static void
wait_trap(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
	ck_assert_msg(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP,
	    "status %#x", status);
}

pid_t
trace_start(const char *path, char *const argv[])
{
	char *const alone[] = { (char *)(uintptr_t)path, NULL };
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		close(0);
		unsetenv("ASAN_OPTIONS");
		execv(path, argv != NULL ? argv : alone);
		_exit(127);
	}
	wait_trap(pid);
	return pid;
}

void
trace_run_to(pid_t pid, uint64_t addr)
{
	struct uregs r;
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, addr, 0);
	ck_assert_int_eq(errno, 0);
	ck_assert_int_eq(
	    ptrace(PTRACE_POKETEXT, pid, addr, (word & ~0xffL) | 0xcc), 0);
	ck_assert_int_eq(ptrace(PTRACE_CONT, pid, 0, 0), 0);
	wait_trap(pid);
	ck_assert_int_eq(ptrace(PTRACE_POKETEXT, pid, addr, word), 0);
	r = trace_regs(pid);
	ck_assert_uint_eq(r.r[UREG_RIP], addr + 1);
	r.r[UREG_RIP] = addr;
	trace_set_regs(pid, &r);
}

void
trace_step(pid_t pid)
{
	ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, pid, 0, 0), 0);
	wait_trap(pid);
}

struct uregs
trace_regs(pid_t pid)
{
	struct uregs r;

	static_assert(sizeof(r) == sizeof(struct user_regs_struct), "regs");
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, pid, 0, &r), 0);
	return r;
}

void
trace_set_regs(pid_t pid, const struct uregs *r)
{
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, pid, 0, r), 0);
}

void
trace_attach(pid_t tid)
{
	int status;

	ck_assert_int_eq(ptrace(PTRACE_SEIZE, tid, 0, 0), 0);
	ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, tid, 0, 0), 0);
	ck_assert_int_eq(waitpid(tid, &status, __WALL), tid);
	ck_assert(WIFSTOPPED(status));
}

void
trace_end(pid_t pid)
{
	pid_t got;

	kill(pid, SIGKILL);
	/* A traced thread is waited for first, or its leader never ends. */
	do
		got = waitpid(-1, NULL, __WALL);
	while (got != pid && got > 0);
}
