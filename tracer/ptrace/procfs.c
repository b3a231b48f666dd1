/*
 * Reads what /proc reports about a process.  Every value is parsed with checks;
 * the field of a missing line is 0.
 */
#include "tracer/ptrace/super.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "dlang/base/machine.h"

static ssize_t
procfs_slurp(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 0;

	buf[0] = '\0';
	if (fd < 0)
		return -errno;
	while (len < size - 1 && (n = read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	int error = errno;
	close(fd);
	buf[len] = '\0';
	return n < 0 && len == 0 ? -error : (ssize_t)len;
}

ssize_t
procfs_text(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return procfs_slurp(path, buf, size);
}

ssize_t
procfs_link(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	ssize_t n = readlink(path, buf, size - 1);
	buf[n < 0 ? 0 : n] = '\0';
	return n < 0 ? -errno : n;
}

/* The value after "\nname:\t", or NULL. */
static const char *
status_value(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = text; line != NULL && *line != '\0';) {
		if (strncmp(line, name, len) == 0 && line[len] == ':') {
			line += len + 1;
			return line + strspn(line, "\t ");
		}
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	return NULL;
}

static uint64_t
status_number(const char *text, const char *name, int base, uint64_t none)
{
	const char *v = status_value(text, name);

	return v != NULL ? strtoull(v, NULL, base) : none;
}

/* Is the word part of the line? */
static bool
status_has(const char *text, const char *name, const char *word)
{
	const char *v = status_value(text, name), *at;

	return v != NULL && (at = strstr(v, word)) != NULL &&
	    at < v + strcspn(v, "\n");
}

static void
status_ids(const char *text, const char *name, uint32_t ids[3])
{
	const char *v = status_value(text, name);
	char *end;

	for (int i = 0; i < 3; i++) {
		ids[i] = v != NULL ? (uint32_t)strtoul(v, &end, 10) : 0;
		v = v != NULL ? end : NULL;
	}
}

int
procfs_status(pid_t tid, struct proc_status *out)
{
	char text[8192];
	ssize_t n = procfs_text(tid, "status", text, sizeof(text));

	if (n <= 0)
		return n == -ENOENT || n == 0 ? -ESRCH : (int)n;

	const char *state = status_value(text, "State");
	const char *name = status_value(text, "Name");
	*out = (struct proc_status){
		.state = state != NULL ? *state : '\0',
		.tgid = (pid_t)status_number(text, "Tgid", 10, 0),
		.tracer = (pid_t)status_number(text, "TracerPid", 10, 0),
		.ppid = (pid_t)status_number(text, "PPid", 10, 0),
		.cap_permitted = status_number(text, "CapPrm", 16, 0),
		.sig_blocked = status_number(text, "SigBlk", 16, 0),
		.sig_ignored = status_number(text, "SigIgn", 16, 0),
		.sig_caught = status_number(text, "SigCgt", 16, 0),
		.sig_pending = status_number(text, "SigPnd", 16, 0) |
		    status_number(text, "ShdPnd", 16, 0),
		.seccomp = (int)status_number(text, "Seccomp", 10, 0),
		.filters = (int)status_number(
		    text, "Seccomp_filters", 10, (uint64_t)-1),
		.no_new_privs = status_number(text, "NoNewPrivs", 10, 0) != 0,
		.has_memory = status_value(text, "VmSize") != NULL,
		.shadow_stack = status_has(text, MACHINE_FEATURES, "shstk"),
	};
	status_ids(text, "Uid", out->uid);
	status_ids(text, "Gid", out->gid);
	if (name != NULL)
		snprintf(out->comm, sizeof(out->comm), "%.*s",
		    (int)strcspn(name, "\n"), name);
	return 0;
}

/* The last number of a line: "NSpid:\t1234\t7". */
static pid_t
status_last(const char *text, const char *name)
{
	const char *v = status_value(text, name);
	pid_t last = 0;

	while (v != NULL && *v >= '0' && *v <= '9') {
		char *end;
		last = (pid_t)strtol(v, &end, 10);
		v = end + strspn(end, "\t ");
	}
	return last;
}

int
procfs_inner(pid_t tid, pid_t *inner_pid, pid_t *inner_tid)
{
	char text[8192];
	ssize_t n = procfs_text(tid, "status", text, sizeof(text));
	if (n <= 0)
		return n == 0 ? -ESRCH : (int)n;
	*inner_pid = status_last(text, "NStgid");
	*inner_tid = status_last(text, "NSpid");
	return *inner_tid != 0 ? 0 : -ESRCH;
}

/* The text of a stat file after the name, " S 1 2 ...".  The name may contain
 * any character. */
static const char *
behind_name(const char *text)
{
	const char *end = strrchr(text, ')');

	return end != NULL && end[1] == ' ' ? end + 1 : NULL;
}

static const char *
stat_fields(pid_t tid, char *text, size_t size)
{
	if (procfs_text(tid, "stat", text, size) <= 0)
		return NULL;
	return behind_name(text);
}

char
procfs_state(pid_t tid)
{
	char text[1024];
	const char *fields = stat_fields(tid, text, sizeof(text));

	return fields != NULL ? fields[1] : '\0';
}

/* The blank before field n; p is that before field 3. */
static const char *
field(const char *p, unsigned n)
{
	for (unsigned i = 3; p != NULL && i < n; i++)
		p = strchr(p + 1, ' ');
	return p;
}

int
procfs_stat(pid_t tid, unsigned n, uint64_t *value)
{
	char text[1024];
	const char *p = field(stat_fields(tid, text, sizeof(text)), n);

	if (p == NULL)
		return -ESRCH;
	*value = strtoull(p + 1, NULL, 10);
	return 0;
}

int
procfs_stat_all(pid_t tid, bool whole, uint64_t fields[PROCFS_STAT_FIELDS + 1])
{
	char name[32], text[1024];

	snprintf(name, sizeof(name), "task/%d/stat", (int)tid);
	memset(fields, 0, (PROCFS_STAT_FIELDS + 1) * sizeof(fields[0]));
	if (procfs_text(tid, whole ? "stat" : name, text, sizeof(text)) <= 0)
		return -ESRCH;
	const char *p = behind_name(text);
	if (p == NULL)
		return -ESRCH;
	fields[3] = (uint8_t)p[1];
	p = strchr(p + 1, ' ');
	for (unsigned n = 4; p != NULL && n <= PROCFS_STAT_FIELDS; n++) {
		char *end;
		fields[n] = strtoull(p, &end, 10);
		p = *end == ' ' ? end : NULL;
	}
	return 0;
}

int
procfs_where(pid_t tid, char *state, int *cpu)
{
	char text[1024];
	const char *p = stat_fields(tid, text, sizeof(text));

	*state = p != NULL ? p[1] : '\0';
	p = field(p, 39);
	if (p == NULL)
		return -ESRCH;
	*cpu = (int)strtol(p + 1, NULL, 10);
	return 0;
}

int
procfs_sched(pid_t tid, struct procfs_sched *out)
{
	char text[80], *end;

	if (procfs_text(tid, "schedstat", text, sizeof(text)) <= 0)
		return -ESRCH;
	out->ran = strtoull(text, &end, 10);
	out->waited = strtoull(end, &end, 10);
	out->turns = strtoull(end, &end, 10);
	return out->turns > 0 ? 0 : -ENOTSUP;
}

int
procfs_pc(pid_t tid, uint64_t *pc, uint64_t *sp)
{
	char text[256], *last;
	ssize_t n = procfs_text(tid, "syscall", text, sizeof(text));

	if (n <= 0)
		return n < 0 ? (int)n : -ESRCH;
	/* "running", or number, arguments, sp, pc. */
	last = strrchr(text, ' ');
	if (last == NULL)
		return -EBUSY;
	*pc = strtoull(last + 1, NULL, 16);
	*last = '\0';
	last = strrchr(text, ' ');
	if (last == NULL)
		return -EBUSY;
	*sp = strtoull(last + 1, NULL, 16);
	return 0;
}

int
procfs_syscall(pid_t tid, int64_t *nr, uint64_t args[6])
{
	char text[256], *at;
	ssize_t n = procfs_text(tid, "syscall", text, sizeof(text));

	if (n <= 0)
		return n < 0 ? (int)n : -ESRCH;
	*nr = strtoll(text, &at, 10);
	if (at == text || *nr < 0)
		return -EBUSY;
	for (int i = 0; i < 6; i++)
		args[i] = strtoull(at, &at, 16);
	return 0;
}

bool
procfs_wrong_elf(pid_t pid)
{
	char path[40];
	Elf64_Ehdr e; /* its beginning is the same in both classes */

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	ssize_t n = pread(fd, &e, sizeof(e), 0);
	close(fd);
	if (n != sizeof(e) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	return e.e_ident[EI_CLASS] != ELFCLASS64;
}

/* The numbers among the names in a directory. */
static int
numbers_in(const char *path, struct pids *out)
{
	struct dirent *d;
	DIR *dir = opendir(path);

	if (dir == NULL)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((d = readdir(dir)) != NULL) {
		pid_t id = atoi(d->d_name);
		if (id > 0)
			*vec_push(&out->list) = id;
	}
	closedir(dir);
	return 0;
}

int
procfs_tasks(pid_t pid, struct pids *out)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return numbers_in(path, out);
}

int
procfs_pids(struct pids *out)
{
	return numbers_in("/proc", out);
}

uint64_t
procfs_auxv(pid_t pid, uint64_t type)
{
	char path[40];
	Elf64_auxv_t aux[64]; /* the kernel passes about 25 */

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, aux, sizeof(aux));
	close(fd);
	for (ssize_t i = 0; i < n / (ssize_t)sizeof(aux[0]); i++)
		if (aux[i].a_type == type)
			return aux[i].a_un.a_val;
	return 0;
}
