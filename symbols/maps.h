/*
 * Parses /proc/PID/maps.
 */
#ifndef SYMBOLS_MAPS_H
#define SYMBOLS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlang/base/vec.h"

struct map {
	uint64_t start, end, offset;
	uint64_t dev, inode;
	bool read, write, exec, shared;
	bool deleted; /* the path ended in " (deleted)", now cut off */
	char *path;   /* "" for anonymous memory; "[vdso]" and the like;
			  * octal escapes of the kernel undone */
};

struct maps {
	VEC(struct map) list; /* in address order */
};

/* 0 or a negative errno (-ESRCH, -EACCES).  Malformed lines are skipped. */
int maps_read(pid_t pid, struct maps *out);
/* The same from a text, for tests and the fuzzer. */
int maps_parse(const char *text, size_t len, struct maps *out);
void maps_fini(struct maps *m);

/* The mapping that holds addr, or NULL. */
const struct map *maps_at(const struct maps *m, uint64_t addr);

#endif
