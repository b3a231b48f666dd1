/*
 * One ELF file: its symbols, its unwind entries, its segments.  All processes
 * that map it share one struct object, which is reference counted (found by
 * device and inode, checked by build id).  Its parts are read when they are
 * first used.
 */
#ifndef SYMBOLS_OBJECT_H
#define SYMBOLS_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object;

enum sym_kind {
	SYM_FUNC,
	SYM_IFUNC,
	SYM_OBJECT,
	SYM_TLS /* addr is an offset in a thread's block */
};

/*
 * A symbol.  Addresses are file addresses (as linked); add the load bias for
 * memory.  Names are borrowed from the object.
 */
struct sym {
	const char *name; /* without @VERSION */
	uint64_t addr;
	uint64_t size; /* as in the file; if that is 0, up to the end of the
			* unwind entry that covers addr, else to the next symbol
			* or the section's end */
	enum sym_kind kind;
	bool size_guessed;
	bool untyped;     /* a FUNC only because it is in a section of code */
	bool global;      /* else local or weak-less static */
	bool dynamic;     /* from .dynsym (a stripped object has no other) */
	bool old_version; /* name@VERSION that is not the default one */
};

/*
 * Open the file `path' (which may be /proc/PID/map_files/...); messages call it
 * `display'.  A second open of the same file gives the same object.  0;
 * -ENOEXEC with the reason in *why if it is not an ELF file for this machine
 * ("32-bit", "not x86-64", ...); or the errno of opening it.
 */
int object_open(const char *path, const char *display, struct object **out,
    const char **why);

/* The same from memory without a file (the vDSO).  The bytes are copied. */
int object_open_image(
    const void *bytes, size_t size, const char *display, struct object **out);

struct object *object_get(struct object *o);
void object_put(struct object *o);

const char *object_path(const struct object *o); /* as displayed */
/* The last component of the path; of a memfd the name that the program gave it. */
const char *object_basename(const struct object *o);
bool object_is_pie(const struct object *o);    /* ET_DYN */
bool object_is_static(const struct object *o); /* no PT_INTERP and no
						      * PT_DYNAMIC but for
						      * static-pie */
bool object_is_go(const struct object *o);
uint64_t object_entry(const struct object *o);     /* e_entry, a file address */
const char *object_interp(const struct object *o); /* PT_INTERP or NULL */
/* The build id as lower-case hex, or NULL. */
const char *object_build_id(const struct object *o);

/*
 * The functions, in address order, one entry for each name.  They come from
 * .symtab of the file, of its separate debug file (found by build id under
 * /usr/lib/debug/.build-id, or by .gnu_debuglink) or of the compressed file in
 * .gnu_debugdata, else from a Go program's own table (.gopclntab); and from
 * .dynsym.  Aliases are adjacent.  Read when first used.
 */
size_t object_funcs(struct object *o, const struct sym **syms);

/* Is there a table of all symbols?  If not, only exported symbols are known. */
bool object_has_symtab(struct object *o);

/* The index of the first function that begins at addr or behind it; the number
 * of functions if there is none. */
size_t object_funcs_from(struct object *o, uint64_t addr);

/* Is this the name of a piece of a function: NAME.cold, NAME.cold.N, NAME.warm,
 * NAME.__part.N?  (NAME.part.N is a function that was split off.) */
bool sym_is_piece(const char *name);

/* The same for a function of the object.  False for Go, where a dot separates
 * package and function. */
bool object_is_piece(const struct object *o, const char *name);

/* The names of a function. */
#define FUNC_NAMES_MOST 7
struct func_names {
	const char *shown; /* the name in probefunc and lists */
	/* Names that a description may use: the symbol's name, and others. */
	const char *all[FUNC_NAMES_MOST + 1];
};

/* How names of C++, Rust and D are shown. */
enum func_style {
	FUNC_MANGLED,  /* as symbols */
	FUNC_READABLE, /* without parameters if that is unique */
	FUNC_FULL,
};

/* The size of a readable name; a longer one is not used. */
#define FUNC_NAME_MOST 4096

/*
 * The names of a function of object_funcs(); NULL if it has only its symbol's
 * name.  A function with a mangled name also has the names shop::put and
 * shop::put(int); a copy that the compiler made of a function
 * (size.constprop.0) also has the function's name.  It is shown by its shortest
 * unique name in the object.  Read when first used; borrowed from the object
 * until a call with another style.
 */
const struct func_names *object_func_names(
    struct object *o, const struct sym *s, enum func_style style);

/* The function that covers addr (a file address), or NULL.  Of aliases it is
 * the most readable one: global before local, fewest leading underscores, then
 * shortest. */
const struct sym *object_func_at(struct object *o, uint64_t addr);

/*
 * Functions without a symbol: unwind entries (.eh_frame) that no function of
 * object_funcs() covers, in address order.  Their names are sub_ and the file
 * address in hexadecimal, as objdump prints it.  Read when first used.
 */
size_t object_unnamed(struct object *o, const struct sym **syms);
/* The one that covers addr (a file address), or NULL. */
const struct sym *object_unnamed_at(struct object *o, uint64_t addr);
/* Is the symbol one of these? */
bool object_is_unnamed(const struct sym *s);
/* object_func_at(), else object_unnamed_at(). */
const struct sym *object_code_at(struct object *o, uint64_t addr);

/* The variable that covers addr (a file address), or NULL.  Of aliases it is a
 * global one, then the one with the shortest name. */
const struct sym *object_data_at(struct object *o, uint64_t addr);

/* A symbol by exact name, of any kind, or NULL. */
const struct sym *object_sym(struct object *o, const char *name);

/* The range of the unwind entry (.eh_frame) that covers addr.  0 or -ENOENT. */
int object_fde_range(
    struct object *o, uint64_t addr, uint64_t *start, uint64_t *end);

/* An unwind entry: its range, and the address of the language's data for it
 * (the exception table), or 0. */
struct fde {
	uint64_t start, end;
	uint64_t lsda;
	uint64_t at; /* address of the entry itself */
	bool signal; /* a signal frame: only the kernel enters its code */
};

/* All unwind entries in address order. */
size_t object_fdes(struct object *o, const struct fde **out);

/* The one that covers addr, or NULL. */
const struct fde *object_fde_at(struct object *o, uint64_t addr);

/* Call each() for the landing pads of an unwind entry, from its exception
 * table.  Some addresses may come more than once. */
void object_landing_pads(struct object *o, const struct fde *f,
    void (*each)(void *ctx, uint64_t pad), void *ctx);

/*
 * The state of the stack at an instruction, by the unwind entry.  FRAME_BARE:
 * only the return address is on the stack, as at the entry of a function and
 * before a tail call.  FRAME_LAID: more is on the stack.
 */
enum frame_kind { FRAME_UNKNOWN, FRAME_BARE, FRAME_LAID };
enum frame_kind object_frame(struct object *o, uint64_t addr);

/* Read bytes of the file at a file address.  0, or -EFAULT outside of it. */
int object_read(struct object *o, uint64_t addr, void *buf, size_t len);

/* Is addr inside an executable segment? */
bool object_is_text(const struct object *o, uint64_t addr);
/* The i-th executable segment, as far as its bytes are in the file; in order of
 * the program headers.  False: there are not so many. */
bool object_code(
    const struct object *o, size_t i, uint64_t *start, uint64_t *end);

/* Call each() for every aligned word in the file's segments, or from a
 * relocation, that may be an address of its text.  Pointers to functions are
 * among them. */
void object_words(
    struct object *o, void (*each)(void *ctx, uint64_t addr), void *ctx);

/* The file addresses of the section of that name, which is in memory.  False: there
 * is none. */
bool object_section(
    const struct object *o, const char *name, uint64_t *start, uint64_t *end);

/* Are these bytes in a writable segment? */
bool object_is_data(const struct object *o, uint64_t addr, size_t len);

/*
 * Call each() with the file address of every slot in this object's data in
 * which a relocation stores the address of function `name': JUMP_SLOT and
 * GLOB_DAT by name, IRELATIVE if its addend is `resolver' (the file address of
 * the IFUNC symbol, or 0).
 */
void object_got_slots(struct object *o, const char *name, uint64_t resolver,
    void (*each)(void *ctx, uint64_t slot), void *ctx);

#endif
