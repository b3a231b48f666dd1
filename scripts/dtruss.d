#!/usr/bin/env -S dtrap -qs
/*
 * dtruss - the system calls of a program, with arguments, as strace shows them
 *
 * usage: dtruss.d -c COMMAND | -p PID
 *
 * One line for each call when it returns: the arguments that the call has, then
 * the result or the error.  Files, the first bytes of reads and writes, flags,
 * signals and addresses of sockets are shown by what they mean, pointers as
 * numbers.  Calls that do not return (exit_group, a successful execve) are shown
 * at their entry.
 *
 *	$ dtruss.d -c 'echo hello there'
 *	...
 *	21994.21994: openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3
 *	...
 *	21994.21994: write(1, "hello there\n", 12) = 12
 *	21994.21994: close(1) = 0
 *	21994.21994: close(2) = 0
 *	21994.21994: exit_group(0)
 */
#pragma D option strsize=512

syscall::exit:entry,
syscall::exit_group:entry,
syscall::execve:entry
{
	printf("%d.%d: %s(%s)\n", pid, tid, probefunc, call_arguments);
}

syscall:::return
/probefunc != "execve"/
{
	printf("%d.%d: %s(%s) = ", pid, tid, probefunc, call_arguments);
}

/* An address, or what may be one. */
syscall::mmap:return,
syscall::mremap:return,
syscall::brk:return,
syscall::shmat:return
/errno == 0/
{
	printf("0x%x\n", arg0);
	self->shown = 1;
}

syscall::umask:return
{
	printf("%#o\n", arg0);
	self->shown = 1;
}

syscall:::return
/errno == 0 && !self->shown && probefunc != "execve"/
{
	printf("%d\n", (int64_t)arg0);
}

/* The kernel begins a call with an error above those by itself again. */
syscall:::return
/errno != 0 && probefunc != "execve"/
{
	printf("%s\n", errno < 512 ?
	    strjoin("-1 ", errno_name[errno]) : "? (interrupted)");
}

syscall::execve:return
/errno != 0/
{
	printf("%d.%d: execve() = -1 %s\n", pid, tid, errno_name[errno]);
}

syscall:::return
{
	self->shown = 0;
}
