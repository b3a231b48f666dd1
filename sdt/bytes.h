/*
 * Bytes that grow at the end.  When memory runs out they are marked `failed', and
 * what is added later is dropped, so that only the end has to ask.
 */
#ifndef SDT_BYTES_H
#define SDT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *at;
	size_t len, room;
	bool failed;
};

/* Append, and return the offset at which it is. */
size_t bytes_add(struct bytes *b, const void *from, size_t n);
size_t bytes_text(struct bytes *b, const char *s); /* with its NUL */
/* Append zeros until the length is a multiple of `to'.  Returns the length. */
size_t bytes_pad(struct bytes *b, size_t to);
/* Write over n bytes that are there, at an offset. */
void bytes_set(struct bytes *b, size_t at, const void *from, size_t n);
void bytes_fini(struct bytes *b);

#endif
