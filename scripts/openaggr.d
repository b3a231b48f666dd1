#!/usr/bin/env -S dtrap -qs
/*
 * openaggr - how many files are created and opened, by process
 *
 * usage: openaggr.d -c COMMAND | -p PID  [SECONDS]
 *
 * A table every so many seconds (1) and one at the end: calls that would create
 * a file (O_CREAT), other calls, and how many of both succeeded.
 *
 *	$ openaggr.d -c './work-files d 2 3 4 5'
 *	2026 Nov 22 06:56:20
 *	EXECNAME             PID  CREATE    OPEN  SUCCESS
 *	work-files         11946       1       6        4
 */
#pragma D option defaultargs

BEGIN
{
	seconds = $1 > 0 ? $1 : 1;
	passed = 0;
}

syscall::open:entry
{
	self->create = (arg1 & O_CREAT) != 0;
	self->in = 1;
}

syscall::creat:entry
{
	self->create = 1;
	self->in = 1;
}

syscall::openat:entry
{
	self->create = (arg2 & O_CREAT) != 0;
	self->in = 1;
}

syscall::open:return,
syscall::creat:return,
syscall::openat:return
/self->in/
{
	@create[execname, pid] = sum(self->create);
	@open[execname, pid] = sum(!self->create);
	@success[execname, pid] = sum(errno == 0);
	self->in = 0;
}

tick-1s
/++passed % seconds == 0/
{
	printf("%Y\n%-16s %7s %7s %7s %8s\n", walltimestamp, "EXECNAME", "PID",
	    "CREATE", "OPEN", "SUCCESS");
	printa("%-16s %7d %@7d %@7d %@8d\n", @create, @open, @success);
	trunc(@create);
	trunc(@open);
	trunc(@success);
}

END
{
	printf("%Y\n%-16s %7s %7s %7s %8s\n", walltimestamp, "EXECNAME", "PID",
	    "CREATE", "OPEN", "SUCCESS");
	printa("%-16s %7d %@7d %@7d %@8d\n", @create, @open, @success);
}
