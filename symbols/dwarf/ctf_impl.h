/*
 * Shared by ctf.c, which calls libctf, and ctf_check.c, which checks the data
 * before libctf reads it.
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
 * Check and copy the dictionary (version 3) at the begin of the bytes.  True if
 * everything in it is within its bounds, every name is a string, and every type
 * refers to existing types without a cycle.  `strings' is the size of the
 * string table that it shares with the symbols; `parent_types' is the number of
 * types of its parent, if it has one (its name is not empty).
 */
bool ctfcheck_dict(const uint8_t *bytes, size_t size, size_t strings,
    uint32_t parent_types, struct ctfbytes *out);

/* Does the dictionary have a parent?  The bytes need not be checked before. */
bool ctfcheck_is_child(const uint8_t *bytes, size_t size);

/*
 * The n-th dictionary of an archive.  If the section is not an archive, it has
 * dictionary 0 alone.  False behind the last one.
 */
bool ctfcheck_member(const uint8_t *bytes, size_t size, size_t n,
    const uint8_t **dict, size_t *dict_size);

#endif
