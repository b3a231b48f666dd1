#!/usr/bin/env -S dtrap -qs
/*
 * rwsnoop - every read and write: how many bytes of which file
 *
 * usage: rwsnoop.d -c COMMAND | -p PID
 *
 * One line for each call of the families of read, write, recv and send on a
 * descriptor, when it returns: R or W, the bytes (-1: it failed), the descriptor
 * and what it is open on.
 *
 *	$ rwsnoop.d -c './work-files d 0 0 2 1'
 *	    PID COMM             D     BYTES   FD FILE
 *	  11949 work-files       R        64    3 /srv/d/there
 *	  11949 work-files       R        64    3 /srv/d/there
 *	  11949 work-files       R        64    3 /srv/d/there
 *	  11949 work-files       W       100    3 /srv/d/written
 */
BEGIN
{
	printf("%7s %-16s %s %9s %4s %s\n", "PID", "COMM", "D", "BYTES", "FD",
	    "FILE");
}

syscall::read:entry, syscall::pread64:entry, syscall::readv:entry,
syscall::preadv:entry, syscall::preadv2:entry, syscall::recvfrom:entry,
syscall::recvmsg:entry
{
	self->dir = "R";
	self->fd = (int)arg0;
}

syscall::write:entry, syscall::pwrite64:entry, syscall::writev:entry,
syscall::pwritev:entry, syscall::pwritev2:entry, syscall::sendto:entry,
syscall::sendmsg:entry
{
	self->dir = "W";
	self->fd = (int)arg0;
}

syscall::read:return, syscall::pread64:return, syscall::readv:return,
syscall::preadv:return, syscall::preadv2:return, syscall::recvfrom:return,
syscall::recvmsg:return, syscall::write:return, syscall::pwrite64:return,
syscall::writev:return, syscall::pwritev:return, syscall::pwritev2:return,
syscall::sendto:return, syscall::sendmsg:return
/self->dir != NULL/
{
	printf("%7d %-16s %s %9d %4d %s\n", pid, execname, self->dir,
	    errno == 0 ? (int)arg0 : -1, self->fd, fds[self->fd].fi_pathname);
	self->dir = NULL;
}
