/*
 * The system calls of this machine: numbers, names, arguments.
 */
#ifndef TRACER_PTRACE_SYSCALL_TABLE_H
#define TRACER_PTRACE_SYSCALL_TABLE_H

/* Numbers are below it; a call above has no name here. */
#define SYSCALL_MAX 512

/* NULL when there is none of this number. */
const char *syscall_name(unsigned nr);

/* The D type of argument n, from 0; NULL behind the last. */
const char *syscall_arg(unsigned nr, unsigned n);

#endif
