/*
 * The bytes of unwind entries; see frame_bytes.h.
 */
#include "symbols/frame_bytes.h"

#include <string.h>

bool
frame_take(struct frame_bytes *b, void *out, size_t n)
{
	if ((size_t)(b->end - b->p) < n)
		return false;
	if (out != NULL)
		memcpy(out, b->p, n);
	b->p += n;
	b->addr += n;
	return true;
}

bool
frame_take_leb(struct frame_bytes *b, uint64_t *out)
{
	uint8_t byte;
	unsigned shift = 0;

	*out = 0;
	do {
		if (!frame_take(b, &byte, 1))
			return false;
		if (shift < 64)
			*out |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return true;
}

bool
frame_take_pointer(
    struct frame_bytes *b, uint8_t enc, uint64_t data_base, uint64_t *out)
{
	uint64_t at = b->addr, v = 0;
	int16_t s2;
	int32_t s4;

	switch (enc & PE_FORM) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		if (!frame_take(b, &v, 8))
			return false;
		break;
	case PE_UDATA4:
		if (!frame_take(b, &v, 4))
			return false;
		break;
	case PE_UDATA2:
		if (!frame_take(b, &v, 2))
			return false;
		break;
	case PE_SDATA4:
		if (!frame_take(b, &s4, 4))
			return false;
		v = (uint64_t)(int64_t)s4;
		break;
	case PE_SDATA2:
		if (!frame_take(b, &s2, 2))
			return false;
		v = (uint64_t)(int64_t)s2;
		break;
	default: return false;
	}
	if ((enc & PE_BASE) == PE_PCREL)
		v += at;
	else if ((enc & PE_BASE) == PE_DATAREL)
		v += data_base;
	else if ((enc & PE_BASE) != PE_ABSPTR)
		return false;
	*out = v;
	return true;
}

bool
frame_take_entry(struct frame_bytes *b, struct frame_bytes *body)
{
	uint32_t len32;
	uint64_t len;

	if (!frame_take(b, &len32, 4) || len32 == 0)
		return false;
	len = len32;
	if (len32 == UINT32_MAX && !frame_take(b, &len, 8))
		return false;
	if (len < 4 || len > (uint64_t)(b->end - b->p))
		return false;
	*body = (struct frame_bytes){ b->p, b->p + len, b->addr };
	b->p += len;
	b->addr += len;
	return true;
}
