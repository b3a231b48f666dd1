/*
 * See reader.h.
 */
#include "dlang/base/reader.h"

#include <errno.h>
#include <string.h>

#include "dlang/base/base.h"

#define PAGE 4096

int64_t
reader_string(const struct reader *r, uint64_t addr, char *buf, uint32_t size)
{
	uint32_t done = 0;

	while (done < size) {
		uint64_t at = addr + done;
		uint32_t n = MIN(size - done, PAGE - (uint32_t)(at % PAGE));
		if (reader_read(r, at, buf + done, n) != 0)
			return -EFAULT;
		const char *nul = memchr(buf + done, '\0', n);
		if (nul != NULL)
			return nul + 1 - buf;
		done += n;
	}
	return done;
}
