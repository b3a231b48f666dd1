#!/usr/bin/env -S dtrap -qs
/*
 * proc - the life of processes: what they fork, execute and wait for
 *
 * usage: proc.d -c COMMAND | -p PID
 *
 * One line for each event of the proc provider and each call of the families of
 * fork, exec and wait, with the process, its parent, and what there is to say.
 *
 *	$ proc.d -c 'sh -c "/bin/true x; :"'
 *	  12229[              sh]/  12227  syscall:vfork:entry
 *	  12229[              sh]/  12227     proc::create
 *	        PID: 12229 -> 12230
 *	  12230[              sh]/  12229     proc::start
 *	...
 *	  12230[            true]/  12229     proc::exec-success
 *	        arguments: /bin/true x
 *	...
 */
proc:::,
syscall::fork:entry, syscall::vfork:entry, syscall::clone:entry,
syscall::clone3:entry, syscall::execve:entry, syscall::execveat:entry,
syscall::wait4:entry, syscall::waitid:entry
{
	printf("%7d[%16s]/%7d %8s:%s:%s\n", pid, execname, ppid, probeprov,
	    probefunc, probename);
}

proc:::create
{
	printf("\tPID: %d -> %d\n", pid, args[0]->pr_pid);
}

proc:::exec
{
	printf("\tfilename: %s\n", args[0]);
}

proc:::exec-failure
{
	printf("\terror: %s\n", errno_name[-args[0]]);
}

proc:::exec-success
{
	printf("\targuments: %s\n", curpsinfo->pr_psargs);
}

proc:::exit
{
	printf("\treason: %s\n", args[0] == CLD_EXITED ? "it ended" :
	    args[0] == CLD_KILLED ? "a signal" : "a signal, dumping core");
}

proc:::signal-send
{
	printf("\tsignal: %s to %d\n", signal_name[args[2]],
	    args[1]->pr_pid);
}

proc:::signal-handle
{
	printf("\tsignal: %s\n", signal_name[args[0]]);
}
