#!/usr/bin/env -S dtrap -qs
/*
 * errinfo - which system calls fail, and with what
 *
 * usage: errinfo.d -c COMMAND | -p PID
 *
 * Counts, at the end, by program, call and error.  Calls that a signal
 * interrupted, and that the kernel begins again by itself, are left out.
 *
 *	$ errinfo.d -c './work-files d 2 3 4 5'
 *	COMM             CALL                    ERR NAME              COUNT
 *	work-files       openat                    2 ENOENT                3
 */
syscall:::return
/errno != 0 && errno < 512/
{
	@[execname, probefunc, errno, errno_name[errno]] = count();
}

END
{
	printf("%-16s %-22s %4s %-14s %8s\n", "COMM", "CALL", "ERR", "NAME",
	    "COUNT");
	printa("%-16s %-22s %4d %-14s %@8d\n", @);
}
