/*
 * files DIR OPENS MISSES READS WRITES: works with files of DIR and says, line
 * by line, what it did: WHAT COUNT BYTES.
 *
 * Each round of `open' opens and closes DIR/there, each of `miss' fails to open
 * DIR/missing; each read takes 64 bytes from DIR/there, each write puts 100
 * bytes into DIR/written.
 */
#include <errno.h>
#include <fcntl.h>

#include "t/workload/workload.h"

static int
file(const char *dir, const char *name, int flags)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return open(path, flags, 0600);
}

int
main(int argc, char **argv)
{
	char bytes[100] = { 0 };
	const char *dir;
	int fd;

	if (argc != 6)
		return 2;
	dir = argv[1];
	for (int i = 0; i < atoi(argv[2]); i++) {
		fd = file(dir, "there", O_RDONLY | O_CLOEXEC);
		must(fd >= 0);
		must(close(fd) == 0);
	}
	for (int i = 0; i < atoi(argv[3]); i++)
		must(file(dir, "missing", O_WRONLY) < 0 && errno == ENOENT);
	fd = file(dir, "there", O_RDONLY);
	for (int i = 0; i < atoi(argv[4]); i++)
		must(pread(fd, bytes, 64, 0) == 64);
	for (int i = 0; i < atoi(argv[4]); i++)
		must(lseek(fd, 0, SEEK_SET) == 0 && read(fd, bytes, 64) == 64);
	close(fd);
	fd = file(dir, "written", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
	for (int i = 0; i < atoi(argv[5]); i++)
		must(write(fd, bytes, sizeof(bytes)) == sizeof(bytes));
	close(fd);
	return 0;
}
