/*
 * Executes a process's program again; see again.h.
 *
 * For a script, the kernel replaces the first argument by the interpreter, its
 * option and the path of the script.
 */
#include "tracer/ptrace/again.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "tracer/ptrace/super.h"

/* Look the name up as the process would.  0, and *to_exe is whether it is the
 * file that the process executes; or -errno. */
static int
name_leads(pid_t pid, const char *name, bool *to_exe)
{
	char path[4096 + 40];
	struct stat exe, sb;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (stat(path, &exe) < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d/%s/%s", (int)pid,
	    name[0] == '/' ? "root" : "cwd", name);
	if (stat(path, &sb) < 0)
		return -errno;
	*to_exe = sb.st_dev == exe.st_dev && sb.st_ino == exe.st_ino;
	return 0;
}

int
again_find(struct thread *th, unsigned words, struct again *out)
{
	struct proc *p = th->proc;
	struct uregs *regs = thread_regs(th);
	uint64_t name = procfs_auxv(p->pid, AT_EXECFN), argc, before = 0;
	char text[4096];
	bool to_exe = false;

	if (regs == NULL || name == 0)
		return -ENOEXEC;
	uint64_t sp = regs->r[UREG_SP];
	if (reader_read(&p->space->mem, sp, &argc, sizeof(argc)) < 0 ||
	    reader_string(&p->space->mem, name, text, sizeof(text)) < 0)
		return -EFAULT;
	if (memchr(text, '\0', sizeof(text)) == NULL)
		return -ENAMETOOLONG;
	if (name_leads(p->pid, text, &to_exe) < 0 || (!to_exe && words == 0))
		return -ENOENT;
	if (!to_exe) {
		if (argc < words)
			return -ENOEXEC;
		before = argc - words;
	}
	*out = (struct again){ .name = name,
		.argv = sp + 8 + before * 8,
		.envp = sp + 8 + (argc + 1) * 8 };
	return 0;
}

void
again_instead(struct thread *th, struct again *what)
{
	struct uregs *regs = thread_regs(th);
	const uint64_t args[6] = { what->name, what->argv, what->envp };

	if (regs == NULL)
		return;
	what->call = *regs;
	regs_change_syscall(regs, SYS_execve, args);
	thread_regs_dirty(th);
}

void
again_failed(struct thread *th, const struct again *what)
{
	struct uregs *regs = thread_regs(th);

	if (regs == NULL)
		return;
	*regs = what->call;
	regs_redo_syscall(regs);
	thread_regs_dirty(th);
}
