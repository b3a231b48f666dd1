/*
 * Address to text: object`function+0xoffset, object`variable+0xoffset.
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
	SYM_RAW = 8,       /* object:0xaddr, as nm of its file has it */
	SYM_LINE = 16,     /* " (file.c:12)" behind it, where that is known */
};

/*
 * Text for addr in `as' (which may be NULL) as it is now: object`sym,
 * object`sym+0x1a, object`sub_1139 for a function without a symbol
 * (object_unnamed()), object`0xaddr where the object is known but no function,
 * 0xaddr otherwise.  Always NUL-terminated; returns buf.
 */
char *symbolise(struct addrspace *as, uint64_t addr, unsigned flags, char *buf,
    size_t size);

/*
 * Who knows it tells which function a range of code without a name is a piece
 * of: 0 with where that begins (the file's own address, as `addr' is), or a
 * negative errno.  What is in the piece then has that function's name, and may be
 * before it: object`sub_1139-0x40.  owner = NULL: nobody knows.
 */
typedef int symbolise_owner(
    void *ctx, struct object *o, uint64_t addr, uint64_t *start);
void symbolise_by_owner(symbolise_owner *owner, void *ctx);

/* The same for what a record says: by the addrspace_stamp() in it, with what
 * was mapped when it was made. */
char *symbolise_then(
    uint32_t stamp, uint64_t addr, unsigned flags, char *buf, size_t size);

/*
 * A frame of a stack; `inner' is the address of the frame that it called, 0
 * when it called none.  A call can be the last instruction of its function
 * (abort(), a throw): where it would return to is then another function, and
 * the caller is the one before.  A frame that a language named (langname.h)
 * gives its name, "@name" if it is a note on the native frame before; and,
 * but for SYM_NO_OFFSET, " (file:line)".
 */
char *symbolise_frame(uint32_t stamp, uint64_t pc, uint64_t inner,
    unsigned flags, char *buf, size_t size);

/*
 * A variable: object`name+0x8, or object`0xaddr where none covers the address.
 * "" when it is in no object's data.
 */
char *symbolise_data(uint32_t stamp, uint64_t addr, char *buf, size_t size);

/* The start of the function or variable that covers addr, or addr itself:
 * usym() keys. */
uint64_t symbolise_start(uint32_t stamp, uint64_t addr);

/* The module that covers addr: its lowest address, or addr itself. */
uint64_t symbolise_module(uint32_t stamp, uint64_t addr);

#endif
