/*
 * Names addresses: object`function+0xoffset, object`variable+0xoffset.
 */
#ifndef SYMBOLS_SYMBOLISE_H
#define SYMBOLS_SYMBOLISE_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/addrspace.h"

enum symbolise_flags {
	SYM_PLAIN = 0,
	SYM_NO_OFFSET = 1, /* object`function (usym) */
	SYM_MODULE = 2,    /* object only (umod) */
	SYM_DEMANGLE = 4,  /* C++, Rust and D names as in the source */
	SYM_RAW = 8,       /* object:0xaddr, a file address, as nm prints it */
	SYM_LINE = 16,     /* append " (file.c:12)" if it is known */
};

/*
 * Name addr by the present mappings of `as' (which may be NULL): object`sym,
 * object`sym+0x1a, object`sub_1139 for a function without a symbol
 * (object_unnamed()), object`0xaddr if no function is known there, 0xaddr if no
 * object is.  Always NUL-terminated; returns buf.
 */
char *symbolise(struct addrspace *as, uint64_t addr, unsigned flags, char *buf,
    size_t size);

/*
 * Set a function that tells to which function an unnamed range of code belongs:
 * 0 and the begin of that function in *start (a file address, as `addr'), or a
 * negative errno.  Code in the piece then gets that function's name; it may lie
 * before the function: object`sub_1139-0x40.  NULL: none.
 */
typedef int symbolise_owner(
    void *ctx, struct object *o, uint64_t addr, uint64_t *start);
void symbolise_by_owner(symbolise_owner *owner, void *ctx);

/* The same for an address in a record, by the stamp (addrspace_stamp()) in the
 * record, with the mappings at the time of the record. */
char *symbolise_then(
    uint32_t stamp, uint64_t addr, unsigned flags, char *buf, size_t size);

/*
 * Name a frame of a stack.  `inner' is the pc of the frame that it called, 0 if
 * it is the innermost.  A call can be the last instruction of its function
 * (abort(), a throw): the return address is then in the next function, and the
 * frame gets the name of the function before it.  A frame of a language
 * (langname.h) gives its name, "@name" if it belongs to the native frame before
 * it, and " (file:line)" unless SYM_NO_OFFSET.
 */
char *symbolise_frame(uint32_t stamp, uint64_t pc, uint64_t inner,
    unsigned flags, char *buf, size_t size);

/*
 * Name the address of a variable: object`name+0x8, or object`0xaddr if no
 * variable covers the address.  "" if it is not in the data of an object.
 */
char *symbolise_data(uint32_t stamp, uint64_t addr, char *buf, size_t size);

/* The start of the function or variable that covers addr, or addr itself.  For
 * keys of usym(). */
uint64_t symbolise_start(uint32_t stamp, uint64_t addr);

/* The lowest address of the module that covers addr, or addr itself.  For keys
 * of umod(). */
uint64_t symbolise_module(uint32_t stamp, uint64_t addr);

#endif
