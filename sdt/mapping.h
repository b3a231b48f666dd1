/*
 * An object that is loaded: where it is, and the file behind it, which other
 * programs open.
 */
#ifndef SDT_MAPPING_H
#define SDT_MAPPING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	void *handle; /* of dlopen(); NULL: nothing is loaded */
	uintptr_t base;
	int fd; /* the memfd, or -1 */
	dev_t dev;
	ino_t inode; /* of the memfd */
	char *path;  /* of the file, or NULL; else /proc/PID/fd/N is its path */
};

/*
 * Load the bytes; `name' becomes a part of the file's name.  `text' is where a page
 * of code is in it.  0, or an error as dtrap_provider_load() has them; then nothing
 * is mapped or open.
 */
int mapping_load(struct mapping *m, const char *name, const void *bytes,
    size_t size, size_t text);

/* Undo it.  Nothing happens if nothing is loaded. */
void mapping_unload(struct mapping *m);

#endif
