#!/usr/bin/env -S dtrap -qCs
/*
 * dumptask - what there is to know of a process, at its start and at its end
 *
 * usage: dumptask.d -c COMMAND | -p PID
 *
 * After each successful exec and before each end: program, root, working
 * directory, arguments, and the first eight descriptors that are open.  The
 * file of the program is known of those that are executed while we look; of the
 * command itself it is <unknown>.
 *
 *	$ dumptask.d -c 'sh -c "exec /bin/true a b"'
 *	exec-success: task 12263/12263@0 true
 *	        exe: /bin/true
 *	        root: /
 *	        cwd: /srv
 *	        psargs: /bin/true a b
 *	        parent: 12247 uid: 0 gid: 0
 *	        file0: /dev/null, offset 0
 *	...
 */
string exe[int];

proc:::exec
{
	self->exe = args[0];
}

proc:::exec-success
{
	exe[pid] = self->exe;
	self->exe = 0;
}

#define TASK(probe)							\
	probe {								\
		printf("%s: task %d/%d@%d %s\n", probename, pid, tid,	\
		    cpu, execname);					\
		printf("\texe: %s\n",					\
		    exe[pid] != "" ? exe[pid] : "<unknown>");		\
		printf("\troot: %s\n\tcwd: %s\n", root, cwd);		\
		printf("\tpsargs: %s\n", curpsinfo->pr_psargs);		\
		printf("\tparent: %d uid: %d gid: %d\n", ppid, uid,	\
		    gid);						\
	}

#define DESCRIPTOR(probe, fd)						\
	probe /fds[fd].fi_pathname != "<none>"/ {			\
		printf("\tfile%d: %s, offset %d\n", fd,			\
		    fds[fd].fi_pathname, fds[fd].fi_offset);		\
	}

#define DUMP(probe)							\
	TASK(probe)							\
	DESCRIPTOR(probe, 0) DESCRIPTOR(probe, 1) DESCRIPTOR(probe, 2)	\
	DESCRIPTOR(probe, 3) DESCRIPTOR(probe, 4) DESCRIPTOR(probe, 5)	\
	DESCRIPTOR(probe, 6) DESCRIPTOR(probe, 7)

DUMP(proc:::exec-success)
DUMP(proc:::exit)

proc:::exit
{
	exe[pid] = 0;
}
