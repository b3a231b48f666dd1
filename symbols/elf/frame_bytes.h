/*
 * The bytes of unwind entries (.eh_frame, .debug_frame), taken one by one.
 * Every read is inside the bytes that were given.
 */
#ifndef SYMBOLS_ELF_FRAME_BYTES_H
#define SYMBOLS_ELF_FRAME_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pointer encodings (LSB, "DWARF Exception Header Encoding"). */
enum {
	PE_ABSPTR = 0x00,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORM = 0x0f,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_BASE = 0x70,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

/* Bytes that are being read, and where they are in memory. */
struct frame_bytes {
	const uint8_t *p, *end;
	uint64_t addr; /* of p */
};

/* Each returns false where there is less than it needs. */
bool frame_take(struct frame_bytes *b, void *out, size_t n);
/* An LEB128 number; of the signed ones only that they end. */
bool frame_take_leb(struct frame_bytes *b, uint64_t *out);
bool frame_take_pointer(
    struct frame_bytes *b, uint8_t enc, uint64_t data_base, uint64_t *out);
/* What a CIE says of its FDEs. */
struct frame_cie {
	uint8_t enc;  /* how their addresses are written */
	uint8_t lsda; /* ... what leads to the exception table; PE_OMIT */
	bool sized;   /* data of a length that is given stand before their
			 * instructions */
	bool signal;  /* their code is entered by the kernel alone */
	bool strange; /* it says more, which is not known here */
	struct frame_bytes instructions; /* those of the CIE itself */
};

/* The CIE whose body, behind its id, is b. */
bool frame_take_cie(struct frame_bytes b, struct frame_cie *out);

/* An entry's length, and its body; false when nothing can follow it. */
bool frame_take_entry(struct frame_bytes *b, struct frame_bytes *body);

#endif
