/*
 * One callback that reads memory at an address: a live process, a snapshot of
 * a stack, a byte array in a test.
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
 * A string, with its NUL if that is among the first size bytes: how many bytes of
 * it are in buf, or -EFAULT.  What follows the NUL on another page need not be
 * mapped.
 */
int64_t reader_string(
    const struct reader *r, uint64_t addr, char *buf, uint32_t size);

#endif
