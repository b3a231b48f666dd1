/*
 * Between ctf.c, which asks libctf, and ctf_check.c, which admits what libctf
 * gets to read.
 */
#ifndef SYMBOLS_DWARF_CTF_IMPL_H
#define SYMBOLS_DWARF_CTF_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ctf.h>

/* One dictionary, in memory of its own (mem_alloc), not compressed. */
struct ctfbytes {
	uint8_t *bytes;
	size_t size;
	uint32_t ntypes;
};

/*
 * A copy of the dictionary of version 3 that the bytes begin with, if it is one:
 * all that is in it lies in it, every name is a string and every type refers to
 * one that is there, in a way that comes to an end.  `strings' is the size of
 * the string table that it shares with the symbols; `parent_types' how many
 * types its parent has, if it has one (its name is not empty).
 */
bool ctfcheck_dict(const uint8_t *bytes, size_t size, size_t strings,
    uint32_t parent_types, struct ctfbytes *out);

/* Has it a parent?  (Of bytes that were not checked.) */
bool ctfcheck_is_child(const uint8_t *bytes, size_t size);

/*
 * The n-th dictionary of an archive, or, n being 0, of a section that is no
 * archive; false behind the last one.
 */
bool ctfcheck_member(const uint8_t *bytes, size_t size, size_t n,
    const uint8_t **dict, size_t *dict_size);

#endif
