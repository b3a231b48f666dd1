#!/usr/bin/env -S dtrap -qs
/*
 * cpuprof - which processes, threads and functions are on a processor
 *
 * usage: cpuprof.d -c COMMAND | -p PID
 *
 * A sample of each running thread 997 times a second; at the end, counts by
 * thread and by function, the most last.
 *
 *	$ cpuprof.d -c './work-calls 100'
 *	EXECNAME             PID     TID  SAMPLES
 *	work-calls         12023   12023      419
 *
 *	FUNCTION                                                  SAMPLES
 *	work-calls`inner                                                6
 *	libc.so.6`clock_gettime                                         6
 *	work-calls`slow                                                 8
 *	linux-vdso.so.1`clock_gettime                                 399
 */
profile-997
{
	@threads[execname, pid, tid] = count();
}

profile-997
/arg1/
{
	@functions[usym(arg1)] = count();
}

END
{
	printf("%-16s %7s %7s %8s\n", "EXECNAME", "PID", "TID", "SAMPLES");
	printa("%-16s %7d %7d %@8d\n", @threads);
	trunc(@functions, 20);
	printf("\n%-56s %8s\n", "FUNCTION", "SAMPLES");
	printa("%-56A %@8d\n", @functions);
}
