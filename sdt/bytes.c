/*
 * Bytes that grow; see bytes.h.
 */
#include "sdt/bytes.h"

#include <stdlib.h>
#include <string.h>

/* Room for n more; false if there is no memory. */
static bool
grow(struct bytes *b, size_t n)
{
	size_t room = b->room;

	if (b->failed)
		return false;
	if (n <= room - b->len)
		return true;
	while (room - b->len < n)
		room = room == 0 ? 4096 : room * 2;
	uint8_t *at = realloc(b->at, room);
	if (at == NULL) {
		b->failed = true;
		return false;
	}
	b->at = at;
	b->room = room;
	return true;
}

size_t
bytes_add(struct bytes *b, const void *from, size_t n)
{
	size_t at = b->len;

	if (n > 0 && grow(b, n)) {
		memcpy(b->at + at, from, n);
		b->len += n;
	}
	return at;
}

size_t
bytes_text(struct bytes *b, const char *s)
{
	return bytes_add(b, s, strlen(s) + 1);
}

size_t
bytes_pad(struct bytes *b, size_t to)
{
	size_t n = (to - b->len % to) % to;

	if (grow(b, n) && n > 0) {
		memset(b->at + b->len, 0, n);
		b->len += n;
	}
	return b->len;
}

void
bytes_set(struct bytes *b, size_t at, const void *from, size_t n)
{
	if (!b->failed)
		memcpy(b->at + at, from, n);
}

void
bytes_fini(struct bytes *b)
{
	free(b->at);
	*b = (struct bytes){ 0 };
}
