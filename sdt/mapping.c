/*
 * Loads an object by the run-time linker, so that debuggers, which ask that for its
 * list, and tracers know of it.
 *
 * The file is a memfd.  Its path says whose descriptor it is, not "self", because
 * others read it, too.  Where a memfd is refused, or may not be mapped as code,
 * it is a file in the user's own folder for what runs.
 */
#include "sdt/mapping.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linux 6.3; it is asked for where the default is that nothing may be run. */
#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* ---- the bytes in a file ---- */

static int
write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size > 0) {
		ssize_t n = write(fd, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

/* May the file's code be mapped?  The run-time linker says only that it may
 * not. */
static int
check_code(int fd, size_t text)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
	    (off_t)(text / page * page));

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, page);
	return 0;
}

static int
fill(int fd, const void *bytes, size_t size, size_t text)
{
	int error = write_all(fd, bytes, size);

	return error != 0 ? error : check_code(fd, text);
}

static int
memory_file(struct mapping *m, const char *name, const void *bytes, size_t size,
    size_t text)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	char label[128];
	struct stat st;

	snprintf(label, sizeof(label), "%s.so", name);
	m->fd = memfd_create(label, flags | MFD_EXEC);
	if (m->fd < 0 && errno == EINVAL)
		m->fd = memfd_create(label, flags);
	if (m->fd < 0)
		return -errno;
	int error = fill(m->fd, bytes, size, text);
	if (error == 0 && fstat(m->fd, &st) != 0)
		error = -errno;
	if (error != 0) {
		close(m->fd);
		m->fd = -1;
		return error;
	}
	/* Who opens the file cannot change it.  It is as good without. */
	(void)fcntl(m->fd, F_ADD_SEALS, SEALS);
	m->dev = st.st_dev;
	m->inode = st.st_ino;
	return 0;
}

static int
runtime_file(struct mapping *m, const char *name, const void *bytes,
    size_t size, size_t text)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");

	if (dir == NULL || *dir != '/')
		return -EACCES;
	if (asprintf(&m->path, "%s/%s-%d-XXXXXX.so", dir, name, (int)getpid()) <
	    0) {
		m->path = NULL;
		return -ENOMEM;
	}
	int fd = mkostemps(m->path, 3, O_CLOEXEC);
	int error = fd < 0 ? -errno : fill(fd, bytes, size, text);
	if (fd >= 0)
		close(fd);
	if (error != 0) {
		if (fd >= 0)
			unlink(m->path);
		free(m->path);
		m->path = NULL;
	}
	return error;
}

/* Is it not allowed, so that another kind of file may be? */
static bool
is_refused(int error)
{
	return error == -EPERM || error == -EACCES || error == -ENOSYS;
}

/* The answer to `refused' memory is what the file says; a missing folder says
 * nothing new. */
static int
make_file(struct mapping *m, const char *name, const void *bytes, size_t size,
    size_t text)
{
	int error = memory_file(m, name, bytes, size, text);

	if (!is_refused(error))
		return error;
	error = runtime_file(m, name, bytes, size, text);
	return error == -ENOENT || error == -ENOTDIR || error == -EROFS ?
	    -EACCES :
	    error;
}

/* ---- loading ---- */

static int
load_file(struct mapping *m)
{
	char path[64];
	struct link_map *map;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), m->fd);
	errno = 0;
	m->handle =
	    dlopen(m->path != NULL ? m->path : path, RTLD_NOW | RTLD_LOCAL);
	if (m->handle == NULL)
		return errno == ENOMEM || errno == EMFILE || errno == ENFILE ?
		    -errno :
		    -ENOEXEC;
	if (dlinfo(m->handle, RTLD_DI_LINKMAP, &map) != 0)
		return -ENOEXEC;
	m->base = map->l_addr;
	return 0;
}

int
mapping_load(struct mapping *m, const char *name, const void *bytes,
    size_t size, size_t text)
{
	*m = (struct mapping){ .fd = -1 };
	int error = make_file(m, name, bytes, size, text);
	if (error == 0)
		error = load_file(m);
	if (error != 0)
		mapping_unload(m);
	return error;
}

/* A program may have closed all descriptors; then the number may be another
 * file's. */
static bool
is_ours(const struct mapping *m)
{
	struct stat st;

	return m->fd >= 0 && fstat(m->fd, &st) == 0 && st.st_dev == m->dev &&
	    st.st_ino == m->inode;
}

void
mapping_unload(struct mapping *m)
{
	if (m->handle != NULL)
		dlclose(m->handle);
	if (is_ours(m))
		close(m->fd);
	if (m->path != NULL)
		unlink(m->path);
	free(m->path);
	*m = (struct mapping){ .fd = -1 };
}
