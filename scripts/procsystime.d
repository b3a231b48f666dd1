#!/usr/bin/env -S dtrap -qs
/*
 * procsystime - where the time in system calls goes
 *
 * usage: procsystime.d -c COMMAND | -p PID
 *
 * At the end, for each system call: how often, the time from entry to return in
 * microseconds (sum and average), and how much of it the thread was on a
 * processor.  What tracing itself costs is in it: compare the rows, and take no
 * number for what an untraced program needs.
 *
 *	$ procsystime.d -p "$(pgrep -f 'nginx: worker')"
 *	^C
 *	CALL                    COUNT     TIME(us)    AVG(us)      CPU(us)
 *	...
 *	recvfrom                   10          180         18           48
 *	close                      10          260         26           74
 *	writev                     10          504         50           58
 *	epoll_ctl                  15          235         15           64
 *	epoll_wait                 24        30381       1265          178
 */
syscall:::entry
{
	self->start = timestamp;
	self->cpu = vtimestamp;
}

syscall:::return
/self->start/
{
	@n[probefunc] = count();
	@sum[probefunc] = sum(timestamp - self->start);
	@avg[probefunc] = avg(timestamp - self->start);
	@cpu[probefunc] = sum(vtimestamp - self->cpu);
	self->start = 0;
}

END
{
	normalize(@sum, 1000);
	normalize(@avg, 1000);
	normalize(@cpu, 1000);
	printf("%-20s %8s %12s %10s %12s\n", "CALL", "COUNT", "TIME(us)",
	    "AVG(us)", "CPU(us)");
	printa("%-20s %@8d %@12d %@10d %@12d\n", @n, @sum, @avg, @cpu);
}
