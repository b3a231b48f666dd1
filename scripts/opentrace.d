#!/usr/bin/env -S dtrap -qs
/*
 * opentrace - who opens which file, how, and what comes of it
 *
 * usage: opentrace.d -c COMMAND | -p PID
 *
 * One line for each call: name[pid(uid:gid)] open("path", flags) = descriptor,
 * or the error as a negative number.  Other flags than those five are a number.
 *
 *	$ opentrace.d -c 'tee -a new'
 *	...
 *	tee[11943(0:0)] open("new", O_WRONLY|O_APPEND|O_CREAT) = 3
 */
inline int O_ACC = O_WRONLY | O_RDWR;
inline int O_NAMED = O_ACC | O_APPEND | O_CREAT;

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
	printf("%s[%d(%d:%d)] open(\"%s\", %s%s%s", execname, pid, uid, gid,
	    copyinstr(self->path),
	    (self->flags & O_ACC) == O_RDWR ? "O_RDWR" :
	    (self->flags & O_ACC) == O_WRONLY ? "O_WRONLY" : "O_RDONLY",
	    self->flags & O_APPEND ? "|O_APPEND" : "",
	    self->flags & O_CREAT ? "|O_CREAT" : "");
	self->path = 0;
}

syscall::open:return,
syscall::creat:return,
syscall::openat:return
/self->flags & ~O_NAMED/
{
	printf("|0x%x", self->flags & ~O_NAMED);
}

syscall::open:return,
syscall::creat:return,
syscall::openat:return
{
	printf(") = %d\n", (int)arg0);
	self->flags = 0;
}
