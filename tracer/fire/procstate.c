/*
 * Rows of dif_state.def; see procstate.h.
 *
 * A file is read when a value from it is needed: a predicate on pr_ppid costs
 * one file. The two files from which most values come are kept for the firing;
 * paths and command lines are read each time.
 */
#include "tracer/fire/procstate.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "dlang/base/str.h"
#include "tracer/ptrace/cpuinfo.h"
#include "tracer/fire/decode.h"
#include "tracer/fire/eval.h"
#include "tracer/fire/names.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/state.h"

/* Fields of /proc/TID/stat, as proc(5) counts them. */
enum {
	STAT_STATE = 3,
	STAT_PGRP = 5,
	STAT_SESSION = 6,
	STAT_TTY = 7,
	STAT_FLAGS = 9,
	STAT_UTIME = 14,
	STAT_STIME = 15,
	STAT_PRIORITY = 18,
	STAT_NUM_THREADS = 20,
	STAT_STARTTIME = 22,
	STAT_STARTSTACK = 28,
	STAT_WCHAN = 35,
	STAT_PROCESSOR = 39,
	STAT_POLICY = 41,
	STAT_EXIT_CODE = 52,
};

/* D's codes for the state of a thread, and bits of pr_flag. */
enum { SSLEEP = 1, SRUN, SZOMB, SSTOP, SIDL, SONPROC };
enum { PR_STOPPED = 0x1, PR_ASLEEP = 0x10, PR_ISSYS = 0x1000 };

#define PF_KTHREAD 0x00200000 /* in STAT_FLAGS */

void
procstate_forget(struct procstate *ps)
{
	ps->tid = 0;
	ps->have_status = false;
	ps->have_stat[false] = ps->have_stat[true] = false;
}

/* ---- what is kept ---- */

static struct procstate *
about(struct firing *f, pid_t tid)
{
	struct procstate *ps = &f->read;

	if (ps->tid != tid) {
		ps->tid = tid;
		ps->have_status = false;
		ps->have_stat[false] = ps->have_stat[true] = false;
	}
	return ps;
}

static const struct proc_status *
status(struct firing *f, pid_t tid)
{
	struct procstate *ps = about(f, tid);

	if (!ps->have_status && procfs_status(tid, &ps->status) != 0)
		memset(&ps->status, 0, sizeof(ps->status));
	ps->have_status = true;
	return &ps->status;
}

/* Field n of one thread's stat, or, if `whole', of its process, with the sums
 * over all threads. */
static uint64_t
kept_stat(struct firing *f, pid_t tid, bool whole, unsigned n)
{
	struct procstate *ps = about(f, tid);

	if (!ps->have_stat[whole])
		procfs_stat_all(tid, whole, ps->stat[whole]);
	ps->have_stat[whole] = true;
	return ps->stat[whole][n];
}

static uint64_t
stat_field(struct firing *f, pid_t tid, unsigned n)
{
	return kept_stat(f, tid, false, n);
}

static uint64_t
whole_field(struct firing *f, pid_t tid, unsigned n)
{
	return kept_stat(f, tid, true, n);
}

static pid_t
process_of(struct firing *f, pid_t tid)
{
	struct thread *th = super_thread(f->st->super, tid);

	return th != NULL ? th->proc->pid : status(f, tid)->tgid;
}

/* ---- numbers ---- */

/* Where the kernel put argc when the program was executed; the vectors of
 * arguments and of the environment follow it. */
static uint64_t
start_stack(struct firing *f, pid_t tid)
{
	return stat_field(f, tid, STAT_STARTSTACK);
}

static uint64_t
argument_count(struct firing *f, pid_t tid)
{
	uint64_t argc = 0, addr = start_stack(f, tid);
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	int fd = addr != 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	if (pread(fd, &argc, sizeof(argc), (off_t)addr) != sizeof(argc))
		argc = 0;
	close(fd);
	/* The program may have changed the value: limit it. */
	return argc <= INT_MAX ? argc : 0;
}

static uint64_t
vector(struct firing *f, pid_t tid, bool environment)
{
	uint64_t addr = start_stack(f, tid);

	if (addr == 0)
		return 0;
	addr += 8;
	return environment ? addr + 8 * (argument_count(f, tid) + 1) : addr;
}

/* Clock ticks to ns. */
static uint64_t
ticks(uint64_t n)
{
	static long hz;

	if (hz == 0)
		hz = sysconf(_SC_CLK_TCK);
	return n * (NS_PER_S / (uint64_t)(hz > 0 ? hz : 100));
}

/* Boot time, ns since 1970. Computed once, so that the start time of a thread
 * is the same at each reading. */
static uint64_t
boot_time(void)
{
	static uint64_t boot;

	if (boot == 0)
		boot = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
	return boot;
}

static uint64_t
lwp_time(pid_t tid)
{
	char text[128], name[32];

	snprintf(name, sizeof(name), "task/%d/schedstat", (int)tid);
	procfs_text(tid, name, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

/* The state letter. The thread that fires is running (O). Another one that
 * dtrap has stopped counts as running (R). */
static char
state_letter(struct firing *f, pid_t tid)
{
	if (tid == (pid_t)f->st->env.tid)
		return 'O';
	char c = (char)stat_field(f, tid, STAT_STATE);
	switch (c) {
	case 't':
	case 'R': return 'R';
	case 'D':
	case 'S': return 'S';
	case 'I': return 'I';
	case 'T': return 'T';
	default: return 'Z';
	}
}

static uint64_t
state_number(char letter)
{
	switch (letter) {
	case 'O': return SONPROC;
	case 'R': return SRUN;
	case 'S': return SSLEEP;
	case 'I': return SIDL;
	case 'T': return SSTOP;
	default: return SZOMB;
	}
}

static uint64_t
lwp_flags(struct firing *f, pid_t tid)
{
	char c = state_letter(f, tid);
	uint64_t flags = c == 'T' ? PR_STOPPED : c == 'S' ? PR_ASLEEP : 0;

	if ((stat_field(f, tid, STAT_FLAGS) & PF_KTHREAD) != 0)
		flags |= PR_ISSYS;
	return flags;
}

/* The processor that a thread is bound to, or -1. */
static uint64_t
bound_to(pid_t tid)
{
	cpu_set_t set;

	if (sched_getaffinity(tid, sizeof(set), &set) != 0 ||
	    CPU_COUNT(&set) != 1)
		return (uint64_t)-1;
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			return i;
	return (uint64_t)-1;
}

#define MODEL_ILP32 1
#define MODEL_LP64  2

static uint64_t
lwp_processor(struct firing *f, pid_t tid)
{
	return tid == 0 ? (uint64_t)-1 : stat_field(f, tid, STAT_PROCESSOR);
}

/* ---- the signal ---- */

static uint64_t
signal_number(const siginfo_t *si, uint64_t what)
{
	static const siginfo_t none;

	if (si == NULL)
		si = &none;
	switch (what) {
	case DIF_STATE_SI_SIGNO: return (uint64_t)si->si_signo;
	case DIF_STATE_SI_ERRNO: return (uint64_t)si->si_errno;
	case DIF_STATE_SI_CODE: return (uint64_t)si->si_code;
	case DIF_STATE_SI_PID: return (uint64_t)si->si_pid;
	case DIF_STATE_SI_UID: return si->si_uid;
	case DIF_STATE_SI_STATUS: return (uint64_t)si->si_status;
	case DIF_STATE_SI_ADDR: return (uintptr_t)si->si_addr;
	case DIF_STATE_SI_VALUE: return (uintptr_t)si->si_value.sival_ptr;
	case DIF_STATE_SI_BAND: return (uint64_t)si->si_band;
	default: return (uint64_t)si->si_fd;
	}
}

/* ---- open files ---- */

static const char none[] = "<none>", unknown[] = "<unknown>";

/* The path of an open file descriptor. False if it is not open. */
static bool
file_path(pid_t pid, uint64_t fd, char *buf, size_t size)
{
	char name[32], path[64];
	struct stat sb;

	snprintf(name, sizeof(name), "fd/%d", (int)fd);
	if (fd > INT_MAX || procfs_link(pid, name, buf, size) <= 0)
		return false;
	/* The kernel appends a mark to the path of a deleted file: remove
	 * it. */
	char *mark = strstr(buf, " (deleted)");
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	if (mark != NULL && mark[strlen(" (deleted)")] == '\0' &&
	    stat(path, &sb) == 0 && sb.st_nlink == 0)
		*mark = '\0';
	return true;
}

/* The number behind `field' in fdinfo. */
static uint64_t
file_number(pid_t pid, uint64_t fd, const char *field, int base)
{
	char name[32], text[1024];

	snprintf(name, sizeof(name), "fdinfo/%d", (int)fd);
	if (fd > INT_MAX || procfs_text(pid, name, text, sizeof(text)) <= 0)
		return 0;
	const char *p = strstr(text, field);
	return p != NULL ? strtoull(p + strlen(field), NULL, base) : 0;
}

/* The type of a file system that has no mount point. */
static const char *
special_fs(pid_t pid, uint64_t fd)
{
	char path[64];
	struct statfs fs;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, (int)fd);
	if (statfs(path, &fs) != 0)
		return unknown;
	switch ((unsigned long)fs.f_type) {
	case PIPEFS_MAGIC: return "pipefs";
	case SOCKFS_MAGIC: return "sockfs";
	case ANON_INODE_FS_MAGIC: return "anon_inodefs";
	default: return unknown;
	}
}

/* "36 35 98:0 /root /mount/point options - type source": octal escapes for
 * blanks in names. */
static void
unescape(char *s)
{
	char *to = s;

	for (; *s != '\0'; s++) {
		unsigned c;
		if (s[0] == '\\' && sscanf(s + 1, "%3o", &c) == 1) {
			*to++ = (char)c;
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* Mount point and type of the mount with this id, as the process sees it. */
static bool
find_mount(pid_t pid, uint64_t id, char where[PATH_MAX], char type[64])
{
	char path[40], line[2 * PATH_MAX];
	bool found = false;
	unsigned long n;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	FILE *f = fopen(path, "re");
	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL) {
		const char *dash = strstr(line, " - ");
		found = dash != NULL && sscanf(line, "%lu", &n) == 1 &&
		    n == id &&
		    sscanf(line, "%*s %*s %*s %*s %4095s", where) == 1 &&
		    sscanf(dash + 3, "%63s", type) == 1;
	}
	if (f != NULL)
		fclose(f);
	if (found)
		unescape(where);
	return found;
}

static void
file_mount(pid_t pid, uint64_t fd, bool want_type, char *buf, uint32_t size)
{
	char where[PATH_MAX], type[64];

	if (find_mount(pid, file_number(pid, fd, "mnt_id:", 10), where, type))
		snprintf(buf, size, "%s", want_type ? type : where);
	else
		snprintf(
		    buf, size, "%s", want_type ? special_fs(pid, fd) : unknown);
}

static void
file_string(pid_t pid, uint64_t what, uint64_t fd, char *buf, uint32_t size)
{
	char path[PATH_MAX];

	if (!file_path(pid, fd, path, sizeof(path))) {
		snprintf(buf, size, "%s", none);
		return;
	}
	char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;
	switch (what) {
	case DIF_STATE_FI_PATHNAME: snprintf(buf, size, "%s", path); break;
	case DIF_STATE_FI_NAME:
		snprintf(buf, size, "%s", slash != NULL ? slash + 1 : path);
		break;
	case DIF_STATE_FI_DIRNAME:
		if (slash != NULL)
			slash[slash == path] = '\0';
		snprintf(buf, size, "%s", slash != NULL ? path : ".");
		break;
	default: file_mount(pid, fd, what == DIF_STATE_FI_FS, buf, size);
	}
}

/* ---- strings of a thread ---- */

/* The first line of a file. */
static void
line_of(pid_t tid, const char *name, char *buf, uint32_t size)
{
	procfs_text(tid, name, buf, size);
	buf[strcspn(buf, "\n")] = '\0';
}

void
procstate_command(pid_t tid, char *buf, uint32_t size)
{
	ssize_t n = procfs_text(tid, "cmdline", buf, size);

	while (n > 0 && buf[n - 1] == '\0')
		n--;
	for (ssize_t i = 0; i < n; i++)
		if (buf[i] == '\0')
			buf[i] = ' ';
}

/* Scheduling classes by the letters of ps(1). */
static const char *
class_name(uint64_t policy)
{
	switch (policy) {
	case SCHED_OTHER: return "TS";
	case SCHED_FIFO: return "FF";
	case SCHED_RR: return "RR";
	case SCHED_BATCH: return "B";
	case SCHED_IDLE: return "IDL";
	case 6: return "DLN"; /* SCHED_DEADLINE */
	default: return "?";
	}
}

/* ---- the rows ---- */

static uint64_t
task_number(struct firing *f, uint64_t what, pid_t tid)
{
	switch (what) {
	case DIF_STATE_PR_PID: return (uint64_t)process_of(f, tid);
	case DIF_STATE_PR_PPID: return (uint64_t)status(f, tid)->ppid;
	case DIF_STATE_PR_PGID: return stat_field(f, tid, STAT_PGRP);
	case DIF_STATE_PR_SID: return stat_field(f, tid, STAT_SESSION);
	case DIF_STATE_PR_UID: return status(f, tid)->uid[0];
	case DIF_STATE_PR_EUID: return status(f, tid)->uid[1];
	case DIF_STATE_PR_GID: return status(f, tid)->gid[0];
	case DIF_STATE_PR_EGID: return status(f, tid)->gid[1];
	case DIF_STATE_PR_NLWP: return stat_field(f, tid, STAT_NUM_THREADS);
	case DIF_STATE_PR_TTYDEV: return stat_field(f, tid, STAT_TTY);
	case DIF_STATE_PR_WSTAT: return stat_field(f, tid, STAT_EXIT_CODE);
	case DIF_STATE_PR_DMODEL:
		return procfs_wrong_elf(tid) ? MODEL_ILP32 : MODEL_LP64;
	case DIF_STATE_PR_ARGC: return argument_count(f, tid);
	case DIF_STATE_PR_ARGV: return vector(f, tid, false);
	case DIF_STATE_PR_ENVP: return vector(f, tid, true);
	case DIF_STATE_PR_FLAG: return lwp_flags(f, tid);
	case DIF_STATE_PR_WCHAN: return stat_field(f, tid, STAT_WCHAN);
	case DIF_STATE_PR_STATE: return state_number(state_letter(f, tid));
	case DIF_STATE_PR_SNAME: return (uint8_t)state_letter(f, tid);
	case DIF_STATE_PR_PRI: return stat_field(f, tid, STAT_PRIORITY);
	case DIF_STATE_PR_ONPRO: return lwp_processor(f, tid);
	case DIF_STATE_PR_BINDPRO: return bound_to(tid);
	case DIF_STATE_PR_PROC_START:
		return boot_time() +
		    ticks(whole_field(f, process_of(f, tid), STAT_STARTTIME));
	case DIF_STATE_PR_LWP_START:
		return boot_time() + ticks(stat_field(f, tid, STAT_STARTTIME));
	case DIF_STATE_PR_PROC_TIME:
		return ticks(whole_field(f, tid, STAT_UTIME) +
		    whole_field(f, tid, STAT_STIME));
	default: return lwp_time(tid);
	}
}

static void
task_string(
    struct firing *f, uint64_t what, pid_t tid, char *buf, uint32_t size)
{
	switch (what) {
	case DIF_STATE_PR_FNAME:
		line_of(process_of(f, tid), "comm", buf, size);
		break;
	case DIF_STATE_PR_PSARGS:
		procstate_command(
		    tid, buf, MIN(size, 80)); /* the declared size */
		break;
	case DIF_STATE_PR_NAME: line_of(tid, "comm", buf, size); break;
	default:
		snprintf(buf, size, "%s",
		    class_name(stat_field(f, tid, STAT_POLICY)));
	}
}

/* Texts of the meaning of a number; cut to the size of buf. */
static void
meaning_string(const struct firing *f, uint64_t what, uint64_t of, char *buf,
    uint32_t size)
{
	const struct thread *th = f->thread;
	struct str text = { 0 };

	switch (what) {
	case DIF_STATE_DC_ERRNO: names_add(&text, NAMES_ERRNO, of); break;
	case DIF_STATE_DC_SIGNAL: decode_signal(&text, of); break;
	case DIF_STATE_DC_OPEN: decode_open(&text, (uint32_t)of); break;
	case DIF_STATE_DC_ADDRESS:
		if (th != NULL)
			decode_address(&text, &th->proc->space->text, of, 0);
		break;
	default:
		if (th != NULL)
			decode_call(
			    &text, &th->proc->space->text, &th->call, of != 0);
	}
	snprintf(buf, size, "%s", str_c(&text));
	str_fini(&text);
}

enum of { TASK = 1, FD, SIGNAL, CPU, MEANING };

static const struct {
	uint8_t of, how;
} rows[] = {
#define DIF_STATE(n, NAME, of, how) [n] = { of, how },
#include "dlang/dif_state.def"
#undef DIF_STATE
};

static enum of
row_of(uint64_t what, enum dif_var_how how)
{
	return what < ARRAY_SIZE(rows) && rows[what].how == how ?
	    rows[what].of :
	    0;
}

int
procstate_number(struct firing *f, uint64_t what, uint64_t of, uint64_t *value)
{
	pid_t pid = (pid_t)f->st->env.pid;

	switch (row_of(what, V_INT)) {
	case TASK: *value = task_number(f, what, (pid_t)of); return 0;
	case FD:
		*value = what == DIF_STATE_FI_OFFSET ?
		    file_number(pid, of, "pos:", 10) :
		    file_number(pid, of, "flags:", 8);
		return 0;
	case SIGNAL: *value = signal_number(f->about.siginfo, what); return 0;
	case CPU: *value = cpuinfo_mhz(of); return 0;
	case MEANING: break;
	}
	return -1;
}

int
procstate_string(
    struct firing *f, uint64_t what, uint64_t of, char *buf, uint32_t size)
{
	switch (row_of(what, V_STR)) {
	case TASK: task_string(f, what, (pid_t)of, buf, size); return 0;
	case FD:
		file_string((pid_t)f->st->env.pid, what, of, buf, size);
		return 0;
	case CPU:
		if (what == DIF_STATE_PI_TYPE)
			cpuinfo_type(buf, size);
		else
			cpuinfo_fpu(buf, size);
		return 0;
	case MEANING: meaning_string(f, what, of, buf, size); return 0;
	case SIGNAL: break;
	}
	return -1;
}
