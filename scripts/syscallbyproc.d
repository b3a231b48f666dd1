#!/usr/bin/env -S dtrap -qs
/*
 * syscallbyproc - system calls counted by process and call
 *
 * usage: syscallbyproc.d -c COMMAND | -p PID
 *
 *	$ syscallbyproc.d -c 'sh -c "uname; :"'
 *	Linux
 *	    PID COMM             CALL                        COUNT
 *	...
 *	  12008 uname            write                           1
 *	  12004 sh               brk                             2
 *	  12004 sh               geteuid                         2
 *	  12004 sh               rt_sigprocmask                  2
 *	  12004 sh               wait4                           2
 */
syscall:::entry
{
	@[pid, execname, probefunc] = count();
}

END
{
	printf("%7s %-16s %-24s %8s\n", "PID", "COMM", "CALL", "COUNT");
	printa("%7d %-16s %-24s %@8d\n", @);
}
