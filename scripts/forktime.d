#!/usr/bin/env -S dtrap -qs
/*
 * forktime - what it takes to start a program: fork, preparations, exec, run
 *
 * usage: forktime.d -c COMMAND | -p PID
 *
 * At the end, averages in microseconds by program and arguments: from the call
 * of fork (vfork, clone) to the child's first instruction; from there to its
 * exec; the exec; and from the new program's start to its end.  The child that
 * does not execute anything has only the first.  Being traced takes time, too:
 * what a row says of a program is to be compared with other rows.
 *
 *	$ forktime.d -c 'sh -c "/bin/sleep 0.05; /bin/true a; /bin/true a; exit 0"'
 *	COMMAND                               COUNT     FORK  PREPARE     EXEC        RUN
 *	/bin/sleep 0.05                           1      163       69     1356      53675
 *	/bin/true a                               2      867      182      614       3458
 */
uint64_t forked[int], started[int], execing[int], execed[int];
string command[int];

syscall::fork:entry, syscall::vfork:entry, syscall::clone:entry,
syscall::clone3:entry
{
	self->fork = timestamp;
}

proc:::create
/self->fork/
{
	forked[args[0]->pr_pid] = self->fork;
}

syscall::fork:return, syscall::vfork:return, syscall::clone:return,
syscall::clone3:return
{
	self->fork = 0;
}

proc:::start
{
	started[pid] = timestamp;
}

proc:::exec
{
	execing[pid] = timestamp;
}

proc:::exec-failure
{
	execing[pid] = 0;
}

proc:::exec-success
/execing[pid]/
{
	execed[pid] = timestamp;
	command[pid] = curpsinfo->pr_psargs;
}

proc:::exit
/command[pid] != NULL/
{
	this->what = command[pid];
	@n[this->what] = count();
	@run[this->what] = avg((timestamp - execed[pid]) / 1000);
	@exec[this->what] = avg((execed[pid] - execing[pid]) / 1000);
	@prepare[this->what] = avg(started[pid] && execing[pid] ?
	    (execing[pid] - started[pid]) / 1000 : 0);
	@fork[this->what] = avg(forked[pid] && started[pid] ?
	    (started[pid] - forked[pid]) / 1000 : 0);
}

proc:::exit
{
	forked[pid] = 0;
	started[pid] = 0;
	execing[pid] = 0;
	execed[pid] = 0;
	command[pid] = 0;
}

END
{
	printf("%-36s %6s %8s %8s %8s %10s\n", "COMMAND", "COUNT", "FORK",
	    "PREPARE", "EXEC", "RUN");
	printa("%-36s %@6d %@8d %@8d %@8d %@10d\n", @n, @fork, @prepare, @exec,
	    @run);
}
