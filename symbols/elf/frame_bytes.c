/*
 * Reads the bytes of unwind entries; see frame_bytes.h.
 */
#include "symbols/elf/frame_bytes.h"

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

/* What the letters behind "z" say. */
static bool
take_augmentation(struct frame_bytes b, const char *letter, struct frame_cie *c)
{
	uint8_t enc;
	uint64_t personality;

	for (; *letter != '\0'; letter++) {
		switch (*letter) {
		case 'R':
			if (!frame_take(&b, &c->enc, 1))
				return false;
			break;
		case 'L':
			if (!frame_take(&b, &c->lsda, 1))
				return false;
			break;
		case 'P':
			if (!frame_take(&b, &enc, 1) ||
			    !frame_take_pointer(
				&b, enc & PE_FORM, 0, &personality))
				return false;
			break;
		case 'S': c->signal = true; break;
		case 'B': break;
		default: c->strange = true; return true;
		}
	}
	return true;
}

bool
frame_take_cie(struct frame_bytes b, struct frame_cie *c)
{
	/* Version 4 has the sizes of an address and of a segment number. */
	uint8_t version, sizes[2] = { 8, 0 };
	const char *aug, *nul;
	uint64_t n;

	*c = (struct frame_cie){ .enc = PE_ABSPTR, .lsda = PE_OMIT };
	if (!frame_take(&b, &version, 1))
		return false;
	aug = (const char *)b.p;
	nul = memchr(aug, '\0', (size_t)(b.end - b.p));
	if (nul == NULL || !frame_take(&b, NULL, (size_t)(nul - aug) + 1) ||
	    (version != 1 && version != 3 && version != 4) ||
	    (version == 4 && !frame_take(&b, sizes, 2)) || sizes[0] != 8 ||
	    sizes[1] != 0)
		return false;
	/* The alignment factors of code and data, and the register of the
	 * return address, which is a byte in version 1. */
	if (!frame_take_leb(&b, &n))
		return false;
	if (!frame_take_leb(&b, &n) ||
	    (version == 1 ? !frame_take(&b, NULL, 1) : !frame_take_leb(&b, &n)))
		return false;
	c->sized = aug[0] == 'z';
	if (!c->sized && aug[0] != '\0')
		return false;
	if (c->sized) {
		struct frame_bytes data;

		if (!frame_take_leb(&b, &n) || n > (uint64_t)(b.end - b.p))
			return false;
		data = (struct frame_bytes){ b.p, b.p + n, b.addr };
		if (!take_augmentation(data, aug + 1, c) ||
		    !frame_take(&b, NULL, n))
			return false;
	}
	c->instructions = b;
	return true;
}
