/* Debuggers in the family of a traced program. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "behave.h"

static volatile int secret = 4711;

/* One that traces its own child, as debuggers do. */
static int
traces_child(void)
{
	struct user_regs_struct regs;
	int status;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(90 + (errno == EPERM));
		raise(SIGSTOP);
		hot(10);
		_exit(3);
	}
	waitpid(pid, &status, 0);
	say_status("child", status);
	if (!WIFSTOPPED(status))
		return 0;
	printf("peek %ld\n",
	    ptrace(PTRACE_PEEKDATA, pid, &secret, NULL) & 0xffffffff);
	for (int i = 0; i < 10; i++) {
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
		waitpid(pid, &status, 0);
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
			say_status("step", status);
	}
	printf("regs %ld\n", ptrace(PTRACE_GETREGS, pid, NULL, &regs));
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	say_end("child", pid);
	return 0;
}

static int
seizes_child(void)
{
	int status, p[2];
	char c;

	if (pipe(p) != 0)
		return 1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		close(p[1]);
		status = (int)read(p[0], &c, 1);
		_exit(3);
	}
	long r = ptrace(PTRACE_SEIZE, pid, NULL, NULL);
	printf("seize %ld %s\n", r, r == 0 ? "" : strerror(errno));
	if (r == 0) {
		ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
		waitpid(pid, &status, 0);
		say_status("child", status);
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	}
	hot(20);
	close(p[1]);
	say_end("child", pid);
	return 0;
}

/* Text by its own eyes: the bytes of work(), as instructions and as data. */
static int
sums_itself(void)
{
	unsigned long sum = 0, file = 0;
	unsigned char buf[16];

	midway();
	for (int i = 0; i < 16; i++)
		sum = sum * 31 + ((volatile unsigned char *)work)[i];
	/* The same from the file. */
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512], mode[8];
	unsigned long start, end, off, at = (unsigned long)work;
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "%lx-%lx %7s %lx", &start, &end, mode, &off) ==
			4 &&
		    at >= start && at < end)
			off += at - start, start = end = 0, at = off;
	fclose(f);
	f = fopen("/proc/self/exe", "re");
	fseek(f, (long)at, SEEK_SET);
	if (fread(buf, 1, sizeof(buf), f) == sizeof(buf))
		for (int i = 0; i < 16; i++)
			file = file * 31 + buf[i];
	fclose(f);
	printf("%s\n", sum == file ? "same" : "differs");
	printf("%d\n", work(1));
	return 0;
}

/* Is it traced?  What /proc says. */
static int
asks_tracer(void)
{
	char line[256];

	midway();
	work(1);
	FILE *f = fopen("/proc/self/status", "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "TracerPid:", 10) == 0)
			printf("traced %d\n", atoi(line + 10) != 0);
	fclose(f);
	return 0;
}

/* Functions of a file that is mapped to be shared: what is written to it is
 * written to the file. */
static int
shared_text(void)
{
	char path[] = "/tmp/behave-shared.XXXXXX", from[256];
	struct stat st;

	ssize_t n = readlink("/proc/self/exe", from, sizeof(from) - 20);
	from[n > 0 ? n : 0] = '\0';
	strcpy(strrchr(from, '/') + 1, "libdlo.so");
	int lib = open(from, O_RDONLY), fd = mkstemp(path);
	if (lib < 0 || fstat(lib, &st) != 0 ||
	    sendfile(fd, lib, NULL, (size_t)st.st_size) != st.st_size) {
		unlink(path);
		return skip("copy");
	}
	size_t size = (size_t)st.st_size;
	unsigned char *text = mmap(
	    NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd, 0);
	unsigned char *own = malloc(size);
	midway();
	hot(20);
	int same = pread(fd, own, size, 0) == st.st_size &&
	    memcmp(own, text, size) == 0;
	lseek(lib, 0, SEEK_SET);
	unsigned char *orig = malloc(size);
	same &=
	    read(lib, orig, size) == st.st_size && memcmp(own, orig, size) == 0;
	printf("file %s\n", same ? "as it was" : "changed");
	unlink(path);
	return 0;
}

const struct behaviour behave_debuggers[] = {
	{ "sums-itself", sums_itself },
	{ "asks-tracer", asks_tracer },
	{ "shared-text", shared_text },
	{ "traces-child", traces_child },
	{ "seizes-child", seizes_child },
	{ 0 },
};
