/* Processes that may not do everything: sandboxes, limits, other roots. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "behave.h"

static int
strict(void)
{
	char text[64];

	fflush(stdout);
	setvbuf(stdout, NULL, _IOFBF, 4096);
	printf("strict\n"); /* what comes later finds its buffer */
	fflush(stdout);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
		return skip("seccomp");
	midway();
	long sum = hot(50);
	int len = snprintf(text, sizeof(text), "sum %ld\n", sum);
	if (write(1, text, (size_t)len) != len)
		sum = 0;
	syscall(SYS_exit, sum == 1275 ? 0 : 1);
	return 1;
}

/* Only what is named may be done; anything else is death. */
static int
jailed(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };

	printf("jailed\n");
	fflush(stdout);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) != 0)
		return skip("seccomp");
	midway();
	printf("sum %ld\n", hot(50));
	fflush(stdout);
	getppid();
	syscall(SYS_exit_group, 4);
	return 1;
}

/* A filter that answers by a signal, as sandboxes that emulate calls do. */
static volatile int emulated;

static void
on_sys(int sig, siginfo_t *si, void *uc)
{
	emulated = work(emulated);
}

static int
trapped_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };

	printf("trapped\n");
	catch_signal(SIGSYS, on_sys, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) != 0)
		return skip("seccomp");
	midway();
	for (int i = 0; i < 20; i++) {
		syscall(SYS_getppid);
		work(i);
	}
	printf("emulated %d\n", emulated);
	return 0;
}

/* Calls from outside a range of addresses come as signals when the selector
 * says so. */
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON           1
#define PR_SYS_DISPATCH_OFF          0
#endif

static volatile char selector;

static void
on_dispatch(int sig, siginfo_t *si, void *uc)
{
	selector = 0;
	emulated = work(emulated);
}

static int
dispatched(void)
{
	catch_signal(SIGSYS, on_dispatch, 0);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0,
		&selector) != 0)
		return skip("PR_SET_SYSCALL_USER_DISPATCH");
	midway();
	for (int i = 0; i < 20; i++) {
		selector = 1;
		work(i);
		syscall(SYS_getppid);
		work(i);
	}
	printf("emulated %d\n", emulated);
	/* Ours for long, as an emulator's: whoever comes meanwhile finds it so. */
	selector = 1;
	long sum = hot(5000);
	selector = 0;
	printf("sum %ld emulated %d\n", sum, emulated);
	return 0;
}

static int
limited(void)
{
	static const struct {
		int which;
		rlim_t value;
	} limits[] = {
		{ RLIMIT_NOFILE, 3 },
		{ RLIMIT_STACK, 65536 },
		{ RLIMIT_DATA, 1 << 20 },
		{ RLIMIT_FSIZE, 1 << 20 },
		{ RLIMIT_MEMLOCK, 0 },
		{ RLIMIT_SIGPENDING, 0 },
		{ RLIMIT_CORE, 0 },
		{ RLIMIT_NPROC, 1 },
		{ RLIMIT_AS, 4096 },
	};

	printf("limited\n");
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct rlimit lim = { limits[i].value, limits[i].value };
		if (setrlimit(limits[i].which, &lim) != 0)
			printf("%d: %s\n", limits[i].which, strerror(errno));
	}
	midway();
	printf("sum %ld\n", hot(50));
	printf("map %d\n",
	    mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
		MAP_FAILED);
	printf("open %d\n", open("/dev/null", O_RDONLY) < 0);
	for (int r = RLIMIT_CPU; r <= RLIMIT_RTTIME; r++) {
		struct rlimit lim;
		getrlimit((__rlimit_resource_t)r, &lim);
		printf(
		    "%d: %ld %ld\n", r, (long)lim.rlim_cur, (long)lim.rlim_max);
	}
	return 0;
}

/* All memory locked, and that to come: more may not be had. */
static int
locked(void)
{
	struct rlimit lim = { 32 << 20, 32 << 20 };

	setrlimit(RLIMIT_MEMLOCK, &lim);
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		return skip("mlockall");
	midway();
	printf("sum %ld\n", hot(50));
	return 0;
}

#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

static int
no_exec_gain(void)
{
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
		return skip("PR_SET_MDWE");
	midway();
	printf("sum %ld\n", hot(50));
	return 0;
}

static int
not_dumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	midway();
	printf("sum %ld dumpable %d\n", hot(50), prctl(PR_GET_DUMPABLE));
	return 0;
}

static int
no_new_privileges(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	midway();
	printf("sum %ld set %d\n", hot(50),
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	return 0;
}

static int
no_tracer(void)
{
	prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	prctl(PR_SET_NAME, "renamed");
	midway();
	char name[16];
	prctl(PR_GET_NAME, name);
	printf("sum %ld name %s\n", hot(50), name);
	return 0;
}

static int
no_random(void)
{
	if (personality(0xffffffff) & ADDR_NO_RANDOMIZE) {
		printf("personality %x sum %ld\n",
		    (unsigned)personality(0xffffffff), hot(50));
		return 0;
	}
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		execl(behave_self, "behave", "no-random", NULL);
		_exit(9);
	}
	say_end("child", pid);
	return 0;
}

static int
other_user(void)
{
	if (getuid() == 0 &&
	    (setresgid(65534, 65534, 65534) != 0 ||
		setresuid(65534, 65534, 65534) != 0))
		return skip("setresuid");
	midway();
	printf("sum %ld dumpable %d\n", hot(50), prctl(PR_GET_DUMPABLE));
	return 0;
}

/* Other mounts and another root, where none of our files has its name. */
static int
other_root(void)
{
	if (unshare(CLONE_NEWNS) != 0)
		return skip("unshare");
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", "/mnt", "tmpfs", 0, NULL) != 0 ||
	    chroot("/mnt") != 0 || chdir("/") != 0)
		return skip("chroot");
	midway();
	printf("sum %ld nothing here %d\n", hot(50), access("/proc", F_OK));
	return 0;
}

/* The program's file has gone, or never had a name. */
static int
copy_self(int to)
{
	char buf[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, (size_t)n) != n)
			return -1;
	close(from);
	return n < 0 ? -1 : 0;
}

static int
deleted_child(void)
{
	char path[256];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	if (strncmp(path, "/tmp/behave.", 12) == 0)
		unlink(path);
	midway();
	printf("sum %ld\n", hot(50));
	return access(path, F_OK) < 0 ? 5 : 0;
}

static int
deleted(void)
{
	char path[] = "/tmp/behave.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || copy_self(fd) != 0 || fchmod(fd, 0700) != 0)
		return skip("copy");
	close(fd);
	fflush(stdout);
	execl(path, "behave", midway_asked() ? "-m" : "-n", "deleted-child",
	    NULL);
	unlink(path);
	return skip("execl");
}

static int
nameless(void)
{
	int fd = memfd_create("behave", MFD_CLOEXEC);

	if (fd < 0 || copy_self(fd) != 0)
		return skip("memfd_create");
	fflush(stdout);
	char *words[] = { "behave", midway_asked() ? "-m" : "-n", "exec-ed",
		NULL };
	fexecve(fd, words, environ);
	return skip("fexecve");
}

const struct behaviour behave_limits[] = {
	{ "strict", strict },
	{ "jailed", jailed },
	{ "trapped-calls", trapped_calls },
	{ "dispatched", dispatched },
	{ "limited", limited },
	{ "locked", locked },
	{ "no-exec-gain", no_exec_gain },
	{ "not-dumpable", not_dumpable },
	{ "no-new-privileges", no_new_privileges },
	{ "no-tracer", no_tracer },
	{ "no-random", no_random },
	{ "other-user", other_user },
	{ "other-root", other_root },
	{ "deleted", deleted },
	{ "deleted-child", deleted_child },
	{ "nameless", nameless },
	{ 0 },
};
