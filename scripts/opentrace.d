#!/usr/bin/env -S dtrap -qs
/*
 * opentrace - who opens which file, how, and what comes of it
 *
 * usage: opentrace.d -c COMMAND | -p PID
 *
 * One line for each call: name[pid(uid:gid)] open("path", flags) = descriptor,
 * or -1 and the error.
 *
 *	$ opentrace.d -c 'tee -a new'
 *	...
 *	tee[11943(0:0)] open("new", O_WRONLY|O_CREAT|O_APPEND) = 3
 */
syscall::open:entry
{
	self->path = arg0;
	self->flags = (int)arg1;
}

syscall::creat:entry
{
	self->path = arg0;
	self->flags = O_CREAT | O_WRONLY | O_TRUNC;
}

syscall::openat:entry
{
	self->path = arg1;
	self->flags = (int)arg2;
}

syscall::open:return,
syscall::creat:return,
syscall::openat:return
/self->path/
{
	printf("%s[%d(%d:%d)] open(\"%s\", %s) = %d%s\n", execname, pid, uid,
	    gid, copyinstr(self->path), open_flags[self->flags],
	    errno == 0 ? (int)arg0 : -1,
	    errno == 0 ? "" : strjoin(" ", errno_name[errno]));
	self->path = 0;
	self->flags = 0;
}
