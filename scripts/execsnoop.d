#!/usr/bin/env -S dtrap -qs
/*
 * execsnoop - every program that is executed, with its arguments
 *
 * usage: execsnoop.d -c COMMAND | -p PID
 *
 * One line for each exec: when it has succeeded, the new program with its
 * arguments; when it has failed, the file and the error.
 *
 *	$ execsnoop.d -c 'sh -c "uname; /bin/true a b; /no/such; :"'
 *	    UID     PID    PPID  ERR ARGS
 *	Linux
 *	sh: 1: /no/such: not found
 *	      0   11978   11977    0 uname
 *	      0   11979   11977    0 /bin/true a b
 *	      0   11980   11977    2 /no/such
 */
BEGIN
{
	printf("%7s %7s %7s %4s %s\n", "UID", "PID", "PPID", "ERR", "ARGS");
}

proc:::exec
{
	self->file = args[0];
}

proc:::exec-success
{
	printf("%7d %7d %7d %4d %s\n", uid, pid, ppid, 0,
	    curpsinfo->pr_psargs);
}

proc:::exec-failure
{
	printf("%7d %7d %7d %4d %s\n", uid, pid, ppid, -args[0], self->file);
}
