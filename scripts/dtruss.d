#!/usr/bin/env -S dtrap -qs
/*
 * dtruss - the system calls of a program, with arguments, as strace shows them
 *
 * usage: dtruss.d -c COMMAND | -p PID
 *
 * One line for each call when it returns: names of files and the bytes of reads
 * and writes as text, the rest as numbers, then the result or the error.  Calls
 * that do not return (exit_group, a successful execve) are shown at their entry.
 *
 *	$ dtruss.d -c 'echo hello there'
 *	...
 *	21994.21994: write(1, "hello there\n", 12) = 12
 *	21994.21994: close(0x1, 0x55e82db07b60, 0x7f91c5c399e0, 0x7f91c5a80c58) = 0x0
 *	21994.21994: close(0x2, 0xfbad2006, 0x7f91c5c399e0, 0x7f91c5a80c58) = 0x0
 *	21994.21994: exit_group(0)
 */
#pragma D option strsize=80

syscall:::entry
{
	self->seen = 1;
	self->a0 = arg0;
	self->a1 = arg1;
	self->a2 = arg2;
	self->a3 = arg3;
}

syscall::exit:entry,
syscall::exit_group:entry
{
	printf("%d.%d: %s(%d)\n", pid, tid, probefunc, (int)arg0);
}

syscall::execve:entry
{
	printf("%d.%d: %s(\"%S\", 0x%x, 0x%x)\n", pid, tid, probefunc,
	    copyinstr(arg0), arg1, arg2);
}

/* The file is the first argument. */
syscall::open:return, syscall::creat:return, syscall::stat:return,
syscall::lstat:return, syscall::access:return, syscall::chdir:return,
syscall::unlink:return, syscall::rmdir:return, syscall::mkdir:return,
syscall::chmod:return, syscall::chown:return, syscall::truncate:return,
syscall::readlink:return, syscall::statfs:return
/self->seen == 1/
{
	printf("%d.%d: %s(\"%S\", 0x%x, 0x%x) = %d", pid, tid, probefunc,
	    copyinstr(self->a0), self->a1, self->a2, errno != 0 ? -1 : (int)arg0);
	self->seen = 2;
}

/* It is the second, behind a directory. */
syscall::openat:return, syscall::newfstatat:return, syscall::faccessat:return,
syscall::faccessat2:return, syscall::unlinkat:return, syscall::mkdirat:return,
syscall::fchmodat:return, syscall::fchownat:return, syscall::readlinkat:return,
syscall::statx:return, syscall::openat2:return
/self->seen == 1/
{
	printf("%d.%d: %s(%d, \"%S\", 0x%x, 0x%x) = %d", pid, tid, probefunc,
	    (int)self->a0, copyinstr(self->a1), self->a2, self->a3,
	    errno != 0 ? -1 : (int)arg0);
	self->seen = 2;
}

syscall::rename:return, syscall::link:return, syscall::symlink:return
/self->seen == 1/
{
	printf("%d.%d: %s(\"%S\", \"%S\") = %d", pid, tid, probefunc,
	    copyinstr(self->a0), copyinstr(self->a1),
	    errno != 0 ? -1 : (int)arg0);
	self->seen = 2;
}

/* Bytes go out, or came in. */
syscall::read:return, syscall::pread64:return, syscall::recvfrom:return,
syscall::write:return, syscall::pwrite64:return, syscall::sendto:return
/self->seen == 1 && errno == 0 && arg0 > 0/
{
	printf("%d.%d: %s(%d, \"%S\", %d) = %d", pid, tid, probefunc,
	    (int)self->a0, stringof(copyin(self->a1,
	    arg0 < 79 ? arg0 : 79)), self->a2, errno != 0 ? -1 : (int)arg0);
	self->seen = 2;
}

syscall:::return
/self->seen == 1/
{
	printf("%d.%d: %s(0x%x, 0x%x, 0x%x, 0x%x) = 0x%x", pid, tid, probefunc,
	    self->a0, self->a1, self->a2, self->a3, errno != 0 ? -1 : arg0);
	self->seen = 2;
}

syscall:::return
/self->seen == 2 && errno != 0/
{
	printf(" errno %d", errno);
}

syscall:::return
/self->seen == 2/
{
	printf("\n");
	self->seen = 0;
}
