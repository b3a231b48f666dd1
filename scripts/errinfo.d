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
BEGIN
{
	name[EPERM] = "EPERM";
	name[ENOENT] = "ENOENT";
	name[ESRCH] = "ESRCH";
	name[EINTR] = "EINTR";
	name[EIO] = "EIO";
	name[ENXIO] = "ENXIO";
	name[E2BIG] = "E2BIG";
	name[ENOEXEC] = "ENOEXEC";
	name[EBADF] = "EBADF";
	name[ECHILD] = "ECHILD";
	name[EAGAIN] = "EAGAIN";
	name[ENOMEM] = "ENOMEM";
	name[EACCES] = "EACCES";
	name[EFAULT] = "EFAULT";
	name[EBUSY] = "EBUSY";
	name[EEXIST] = "EEXIST";
	name[EXDEV] = "EXDEV";
	name[ENODEV] = "ENODEV";
	name[ENOTDIR] = "ENOTDIR";
	name[EISDIR] = "EISDIR";
	name[EINVAL] = "EINVAL";
	name[EMFILE] = "EMFILE";
	name[ENOTTY] = "ENOTTY";
	name[ETXTBSY] = "ETXTBSY";
	name[EFBIG] = "EFBIG";
	name[ENOSPC] = "ENOSPC";
	name[ESPIPE] = "ESPIPE";
	name[EROFS] = "EROFS";
	name[EMLINK] = "EMLINK";
	name[EPIPE] = "EPIPE";
	name[ERANGE] = "ERANGE";
	name[ENAMETOOLONG] = "ENAMETOOLONG";
	name[ENOSYS] = "ENOSYS";
	name[ENOTEMPTY] = "ENOTEMPTY";
	name[ELOOP] = "ELOOP";
	name[ENODATA] = "ENODATA";
	name[EOVERFLOW] = "EOVERFLOW";
	name[ENOTSOCK] = "ENOTSOCK";
	name[EOPNOTSUPP] = "EOPNOTSUPP";
	name[EADDRINUSE] = "EADDRINUSE";
	name[EADDRNOTAVAIL] = "EADDRNOTAVAIL";
	name[ENETUNREACH] = "ENETUNREACH";
	name[ECONNRESET] = "ECONNRESET";
	name[EISCONN] = "EISCONN";
	name[ENOTCONN] = "ENOTCONN";
	name[ETIMEDOUT] = "ETIMEDOUT";
	name[ECONNREFUSED] = "ECONNREFUSED";
	name[EHOSTUNREACH] = "EHOSTUNREACH";
	name[EALREADY] = "EALREADY";
	name[EINPROGRESS] = "EINPROGRESS";
}

syscall:::return
/errno != 0 && errno < 512/
{
	@[execname, probefunc, errno, name[errno]] = count();
}

END
{
	printf("%-16s %-22s %4s %-14s %8s\n", "COMM", "CALL", "ERR", "NAME",
	    "COUNT");
	printa("%-16s %-22s %4d %-14s %@8d\n", @);
}
