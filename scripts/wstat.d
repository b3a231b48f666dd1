#!/usr/bin/env -S dtrap -qs
/*
 * wstat - who writes how much, by descriptor, once a second
 *
 * usage: wstat.d -c COMMAND | -p PID
 *
 * A table every second, and one at the end, of the calls of write, pwrite64,
 * writev and sendto that succeeded, with the kilobytes they have taken.
 *
 *	$ wstat.d -c 'dd if=/dev/zero of=/dev/null bs=64k count=100 status=none'
 *	    PID EXECNAME           FD       OPS    KBYTES
 *	  11969 dd                  1       100      6400
 */
#pragma D option aggsortkey

syscall::write:entry,
syscall::pwrite64:entry,
syscall::writev:entry,
syscall::sendto:entry
{
	self->fd = (int)arg0;
	self->in = 1;
}

syscall::write:return,
syscall::pwrite64:return,
syscall::writev:return,
syscall::sendto:return
/self->in && errno == 0/
{
	@ops[pid, execname, self->fd] = count();
	@kbytes[pid, execname, self->fd] = sum(arg0);
}

syscall::write:return,
syscall::pwrite64:return,
syscall::writev:return,
syscall::sendto:return
{
	self->in = 0;
}

tick-1s,
END
{
	normalize(@kbytes, 1024);
	printf("%7s %-16s %4s %9s %9s\n", "PID", "EXECNAME", "FD", "OPS",
	    "KBYTES");
	printa("%7d %-16s %4d %@9d %@9d\n", @ops, @kbytes);
	trunc(@ops);
	trunc(@kbytes);
}
