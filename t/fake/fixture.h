/*
 * Programs that a test builds, runs and asks about themselves.  Everything is
 * made below one temporary directory, which is gone when the test has ended.
 */
#ifndef T_FAKE_FIXTURE_H
#define T_FAKE_FIXTURE_H

#include <stdio.h>
#include <sys/types.h>

#include "dlang/base/base.h"
#include "dlang/base/reader.h"
#include "dlang/uregs.h"

/* In main(), round srunner_run_all(). */
void fixture_setup(void);
void fixture_teardown(void);

/* DIR/name, in a buffer of its own for each of the last eight calls. */
const char *fixture_path(const char *name);

/* Compile C text to DIR/name with the given options; the test fails if the
 * compiler does.  Returns the path. */
const char *fixture_cc(const char *name, const char *text, const char *options);
/* The same with another compiler and source suffix ("g++", ".cc"). */
const char *fixture_compile(const char *compiler, const char *suffix,
    const char *name, const char *text, const char *options);

/* Run a shell command that must succeed, with the directory as $DIR. */
void fixture_sh(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* Its output, to be closed with pclose(). */
FILE *fixture_open(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* A running program with its standard input and output. */
struct child {
	pid_t pid;
	FILE *in, *out; /* what it reads, what it writes */
	struct reader mem;
};

void child_start(struct child *c, const char *path, char *const argv[]);
/* The next line without its newline; the test fails when there is none. */
char *child_line(struct child *c, char *buf, size_t size);
/* Kill it and wait for it. */
void child_end(struct child *c);

/* A reader of a live process's memory. */
struct reader fixture_reader(pid_t pid);

/*
 * Programs under ptrace: started and stopped before their first instruction
 * (with nothing to read), run to a breakpoint at addr (taken away again, the
 * pc on it), one instruction further, their registers.
 */
pid_t trace_start(const char *path, char *const argv[]);
void trace_run_to(pid_t pid, uint64_t addr);
void trace_step(pid_t pid);
struct uregs trace_regs(pid_t pid);
void trace_set_regs(pid_t pid, const struct uregs *r);
/* Attach to a running thread, and wait until it has stopped. */
void trace_attach(pid_t tid);
/* Kill a traced program and wait for it and its threads. */
void trace_end(pid_t pid);

#endif
