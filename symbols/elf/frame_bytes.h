/*
 * Reads the bytes of unwind entries (.eh_frame, .debug_frame).  Every read is
 * bounds checked.
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

/* The bytes to read next, and their address in memory. */
struct frame_bytes {
	const uint8_t *p, *end;
	uint64_t addr; /* address of p */
};

/* These return false if too few bytes are left. */
bool frame_take(struct frame_bytes *b, void *out, size_t n);
/* An LEB128 number.  For signed numbers only its end is found. */
bool frame_take_leb(struct frame_bytes *b, uint64_t *out);
bool frame_take_pointer(
    struct frame_bytes *b, uint8_t enc, uint64_t data_base, uint64_t *out);
/* The properties of the FDEs of a CIE. */
struct frame_cie {
	uint8_t enc;  /* encoding of their addresses */
	uint8_t lsda; /* encoding of the address of the exception table, or
		       * PE_OMIT */
	bool sized;   /* augmentation data with a length precedes their
		     * instructions */
	bool signal;  /* signal frames: only the kernel enters their code */
	bool strange; /* has an unknown augmentation */
	struct frame_bytes instructions; /* those of the CIE itself */
};

/* Parse a CIE; b is its body behind the id. */
bool frame_take_cie(struct frame_bytes b, struct frame_cie *out);

/* Read the length of an entry, and set its body; *b moves behind it.  False if
 * there is no further entry. */
bool frame_take_entry(struct frame_bytes *b, struct frame_bytes *body);

#endif
