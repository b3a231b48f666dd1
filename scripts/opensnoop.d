#!/usr/bin/env -S dtrap -qs
/*
 * opensnoop - every file that is opened, and by whom
 *
 * usage: opensnoop.d -c COMMAND | -p PID
 *
 * One line for each open, openat, openat2 and creat, when it returns: the file
 * as the program named it, the descriptor or -1, and the error, - for none.
 *
 *	$ opensnoop.d -c './work-files d 2 1 1 1'
 *	    UID     PID COMM               FD ERR      PATH
 *	      0   11940 work-files          3 -        d/there
 *	      0   11940 work-files          3 -        d/there
 *	      0   11940 work-files         -1 ENOENT   d/missing
 *	      0   11940 work-files          3 -        d/there
 *	      0   11940 work-files          3 -        d/written
 */
BEGIN
{
	printf("%7s %7s %-16s %4s %-8s %s\n", "UID", "PID", "COMM", "FD", "ERR",
	    "PATH");
}

syscall::open:entry,
syscall::creat:entry
{
	self->path = arg0;
}

syscall::openat:entry,
syscall::openat2:entry
{
	self->path = arg1;
}

/* Read on the way out: the call has brought the page in by then. */
syscall::open:return,
syscall::creat:return,
syscall::openat:return,
syscall::openat2:return
/self->path/
{
	printf("%7d %7d %-16s %4d %-8s %s\n", uid, pid, execname,
	    errno == 0 ? (int)arg0 : -1, errno == 0 ? "-" : errno_name[errno],
	    copyinstr(self->path));
	self->path = 0;
}
