/*
 * A callback that reads memory at an address: of a live process, of a copy of a
 * stack, of a byte array in a test.
 */
#ifndef DLANG_BASE_READER_H
#define DLANG_BASE_READER_H

#include <stddef.h>
#include <stdint.h>

struct reader {
	/* Read len bytes at addr.  0, or -EFAULT if any byte of them cannot be
	 * read (buf is then undefined). */
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t len);
	void *ctx;
};

static inline int
reader_read(const struct reader *r, uint64_t addr, void *buf, size_t len)
{
	return r->read(r->ctx, addr, buf, len);
}

/*
 * Read a string of at most size bytes, NUL included.  Returns the number of
 * bytes in buf, or -EFAULT; without a NUL among them the string is longer.
 * Memory behind the NUL need not be mapped.
 */
int64_t reader_string(
    const struct reader *r, uint64_t addr, char *buf, uint32_t size);

#endif
