/*
 * Programs with rights of their own; see setid.h.
 *
 * dtrap sees an exec only after it has happened; the kernel has then already
 * withheld the rights.  But the new program has not executed an instruction,
 * and its stack has all arguments of the exec, so the call can be made again.
 * For that only registers are changed, just before the detach.  If another file
 * has the name by then, that is no danger: the user could have executed that
 * file without dtrap, too.
 */
#include "tracer/ptrace/setid.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "dlang/base/log.h"
#include "tracer/ptrace/again.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"
#include "tracer/ptrace/remote.h"

/* The capabilities that a file gives; version 1 has 32 of them. */
static uint64_t
file_caps(const char *path)
{
	struct vfs_cap_data v = { 0 };
	char raw[64];
	ssize_t n = getxattr(path, "security.capability", raw, sizeof(raw));

	if (n < (ssize_t)XATTR_CAPS_SZ_1)
		return 0;
	memcpy(&v, raw, MIN((size_t)n, sizeof(v)));
	uint64_t caps = v.data[0].permitted;
	if (n >= (ssize_t)XATTR_CAPS_SZ_2)
		caps |= (uint64_t)v.data[1].permitted << 32;
	return caps;
}

bool
setid_withheld(const struct proc *p)
{
	struct proc_status st;
	struct statvfs fs;
	struct stat sb;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)p->pid);
	if (stat(path, &sb) < 0 || procfs_status(p->pid, &st) < 0 ||
	    st.no_new_privs ||
	    (statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOSUID) != 0))
		return false;
	if ((sb.st_mode & S_ISUID) != 0 && sb.st_uid != st.uid[1])
		return true;
	/* Without the right to execute it the bit means locking. */
	if ((sb.st_mode & S_ISGID) != 0 && (sb.st_mode & S_IXGRP) != 0 &&
	    sb.st_gid != st.gid[1])
		return true;
	return (file_caps(path) & ~st.cap_permitted) != 0;
}

int
setid_again(struct thread *th)
{
	struct again what;
	int r = procfs_wrong_elf(th->proc->pid) ? -ENOEXEC :
						  again_find(th, 0, &what);

	if (r == 0) {
		const uint64_t args[6] = { what.name, what.argv, what.envp };
		r = remote_next(th, SYS_execve, args);
	}
	LOG("setid", "%d: once more: %d", (int)th->proc->pid, r);
	return r;
}
