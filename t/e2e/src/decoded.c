/*
 * System calls whose arguments have a meaning, for comparison with what strace
 * shows.  The first argument is a directory for files.  A call of getpid()
 * begins and ends what is compared.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int
fd(const char *path, int flags)
{
	return openat(AT_FDCWD, path, flags, 0640);
}

static void
files(void)
{
	char text[64];
	int f = fd("written", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC);

	(void)!write(f, "some text\n", 10);
	(void)!pwrite(f, "a line that is longer than what is shown", 40, 10);
	lseek(f, 0, SEEK_SET);
	lseek(f, -5, SEEK_END);
	lseek(f, 3, SEEK_CUR);
	(void)!pread(f, text, sizeof(text), 0);
	(void)!read(f, text, 4);
	fcntl(f, F_GETFD);
	fcntl(f, F_DUPFD_CLOEXEC, 10);
	close(f);
	fd("written", O_WRONLY | O_APPEND | O_NONBLOCK | O_SYNC);
	fd("written", O_WRONLY | O_DSYNC | O_EXCL);
	fd(".", O_RDONLY | O_DIRECTORY | O_PATH);
	fd(".", O_WRONLY | O_TMPFILE);
	fd("missing \"\\", O_RDONLY);
	faccessat(AT_FDCWD, "written", R_OK | W_OK, 0);
	access("written", F_OK);
	access("missing", X_OK);
	syscall(SYS_mkdir, "new", 0750);
	syscall(SYS_chmod, "new", 0700);
	syscall(SYS_symlink, "new", "link");
	(void)!readlinkat(AT_FDCWD, "link", text, sizeof(text));
	syscall(SYS_rename, "link", "moved");
	unlinkat(AT_FDCWD, "moved", 0);
	unlinkat(AT_FDCWD, "new", AT_REMOVEDIR);
	umask(022);
	close(-1);
}

static void
memory(void)
{
	void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	mprotect(p, 4096, PROT_NONE);
	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	madvise(p, 4096, MADV_DONTNEED);
	munmap(p, 8192);
	syscall(SYS_futex, &(int){ 0 }, FUTEX_WAKE_PRIVATE, 1);
}

static void
sockets(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_port = htons(1),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "socket" };
	socklen_t len = sizeof(un);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	connect(s, (struct sockaddr *)&in, sizeof(in));
	close(s);
	s = socket(AF_UNIX, SOCK_DGRAM, 0);
	bind(s, (struct sockaddr *)&un, sizeof(un));
	connect(s, (struct sockaddr *)&un, sizeof(un));
	sendto(s, "hello", 5, MSG_NOSIGNAL, NULL, 0);
	sendto(s, "hello", 5, MSG_DONTWAIT | MSG_NOSIGNAL,
	    (struct sockaddr *)&un, sizeof(un));
	getsockname(s, (struct sockaddr *)&un, &len);
	close(s);
	/* A name of the kernel's, without a file. */
	s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
	un =
	    (struct sockaddr_un){ .sun_family = AF_UNIX, .sun_path = "\0name" };
	connect(s, (struct sockaddr *)&un,
	    offsetof(struct sockaddr_un, sun_path) + 5);
	close(s);
	socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP);
}

static void
signals(void)
{
	kill(0, 0);
	kill(1 << 22, SIGTERM);
	syscall(SYS_tgkill, 1 << 22, 1 << 22, SIGUSR1);
	syscall(SYS_tkill, 1 << 22, 34);
}

int
main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) != 0)
		return 1;
	syscall(SYS_getppid);
	files();
	memory();
	sockets();
	signals();
	syscall(SYS_getppid);
	return 0;
}
