/*
 * One ELF file: its symbols, its code ranges, what it needs.  Counted and
 * shared by every process that maps it (keyed by device and inode, checked by
 * build id); parts are loaded when first asked for.
 */
#ifndef SYMBOLS_OBJECT_H
#define SYMBOLS_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct object;

enum sym_kind {
	SYM_FUNC,
	SYM_IFUNC,
	SYM_OBJECT,
	SYM_TLS /* addr is an offset in a thread's block */
};

/*
 * A symbol.  Addresses are the file's own (link-time); add the load bias.
 * Names are borrowed from the object.
 */
struct sym {
	const char *name; /* without @VERSION */
	uint64_t addr;
	uint64_t size; /* as in the file, or, where that is 0, up to the
			      * end of the unwind entry that covers addr, else
			      * to the next symbol or the section's end */
	enum sym_kind kind;
	bool size_guessed;
	bool untyped;     /* FUNC by the section that it lies in */
	bool global;      /* else local or weak-less static */
	bool dynamic;     /* from .dynsym (a stripped object has no other) */
	bool old_version; /* name@VERSION that is not the default one */
};

/*
 * Open by path as `display' names it to the user, reading through `path'
 * (which may be /proc/PID/map_files/...).  A second open of the same file
 * gives the same object.  0; -ENOEXEC with *why when it is no ELF file for
 * this machine ("32-bit", "not x86-64", ...), or the errno of opening it.
 */
int object_open(const char *path, const char *display, struct object **out,
    const char **why);

/* From memory that is no file (the vDSO).  The bytes are copied. */
int object_open_image(
    const void *bytes, size_t size, const char *display, struct object **out);

struct object *object_get(struct object *o);
void object_put(struct object *o);

const char *object_path(const struct object *o);     /* as displayed */
const char *object_basename(const struct object *o); /* last component */
bool object_is_pie(const struct object *o);          /* ET_DYN */
bool object_is_static(const struct object *o);       /* no PT_INTERP and no
						      * PT_DYNAMIC but for
						      * static-pie */
bool object_is_go(const struct object *o);
uint64_t object_entry(const struct object *o);     /* e_entry, file's own */
const char *object_interp(const struct object *o); /* PT_INTERP or NULL */
/* The build id as lower-case hex, or NULL. */
const char *object_build_id(const struct object *o);

/*
 * The functions, in address order, one entry per name: .symtab of the file or
 * of its separate debug file (by build id under /usr/lib/debug/.build-id, by
 * .gnu_debuglink) or of the compressed one in .gnu_debugdata, else a Go program's own table (.gopclntab); and .dynsym.
 * Aliases are adjacent.  Loaded when first asked for.
 */
size_t object_funcs(struct object *o, const struct sym **syms);

/* Is there a table of all symbols (else there is at most what it exports)? */
bool object_has_symtab(struct object *o);

/* The first of them that begins at addr or behind; their number: none. */
size_t object_funcs_from(struct object *o, uint64_t addr);

/* Is it part of a function rather than one: what compilers and linkers call
 * NAME.cold, NAME.cold.N, NAME.warm, NAME.__part.N?  (NAME.part.N is a function
 * that was split off.) */
bool sym_is_piece(const char *name);

/* The same of a function of the object.  In Go a dot stands between package and
 * function: none is. */
bool object_is_piece(const struct object *o, const char *name);

/* What a function is called besides its symbol's name. */
#define FUNC_NAMES_MOST 7
struct func_names {
	const char *shown; /* in probefunc and lists */
	/* What a description may call it: the symbol's name, and others. */
	const char *all[FUNC_NAMES_MOST + 1];
};

/* How names of C++, Rust and D are shown. */
enum func_style {
	FUNC_MANGLED,  /* as symbols */
	FUNC_READABLE, /* without parameters where that is enough */
	FUNC_FULL,
};

/* The room that a readable name has; one that is longer is not used. */
#define FUNC_NAME_MOST 4096

/*
 * The names of a function of object_funcs(); NULL where its symbol's name is all
 * there is to say.  A mangled name is also called shop::put and shop::put(int); a
 * copy that the compiler made of a function (size.constprop.0) also as the
 * function.  It is shown by the shortest name that no other function of the
 * object has.  Loaded when first asked for; borrowed from the object, until it is
 * asked for in another style.
 */
const struct func_names *object_func_names(
    struct object *o, const struct sym *s, enum func_style style);

/* The function that covers addr (the file's own address), or NULL; among
 * aliases the one a person would say: global before local, fewest leading
 * underscores, then shortest. */
const struct sym *object_func_at(struct object *o, uint64_t addr);

/*
 * Functions without a symbol: the unwind entries (.eh_frame) that no function of
 * object_funcs() covers, in address order.  Their names are sub_ and the file's
 * own address in hexadecimal, as objdump prints it.  Loaded when first asked
 * for.
 */
size_t object_unnamed(struct object *o, const struct sym **syms);
/* The one that covers addr (the file's own address), or NULL. */
const struct sym *object_unnamed_at(struct object *o, uint64_t addr);
/* Does it look like one of them? */
bool object_is_unnamed(const struct sym *s);
/* object_func_at(), else object_unnamed_at(). */
const struct sym *object_code_at(struct object *o, uint64_t addr);

/* The variable that covers addr (the file's own address), or NULL; among
 * aliases one that is global, then that of the shortest name. */
const struct sym *object_data_at(struct object *o, uint64_t addr);

/* A symbol by exact name, of any kind, or NULL. */
const struct sym *object_sym(struct object *o, const char *name);

/* The range of the unwind entry (.eh_frame) that covers addr.  0 or -ENOENT. */
int object_fde_range(
    struct object *o, uint64_t addr, uint64_t *start, uint64_t *end);

/* One such range, and where the language's own data for it are (its exception
 * table), or 0. */
struct fde {
	uint64_t start, end;
	uint64_t lsda;
	uint64_t at; /* of the entry itself */
	bool signal; /* entered by the kernel alone */
};

/* All of them in address order. */
size_t object_fdes(struct object *o, const struct fde **out);

/* The one that covers addr, or NULL. */
const struct fde *object_fde_at(struct object *o, uint64_t addr);

/* Where the unwinder may let the code of an unwind entry go on, as its
 * exception table says: calls each() with addresses in the text, and with some
 * of them more than once. */
void object_landing_pads(struct object *o, const struct fde *f,
    void (*each)(void *ctx, uint64_t pad), void *ctx);

/*
 * What lies on the stack at an instruction, by the rules that unwinders go by:
 * only the return address, at the stack pointer, as at the begin of a function
 * and before it goes on to another in its own place; or more.
 */
enum frame_kind { FRAME_UNKNOWN, FRAME_BARE, FRAME_LAID };
enum frame_kind object_frame(struct object *o, uint64_t addr);

/* The bytes of the file at an address of its own; -EFAULT outside. */
int object_read(struct object *o, uint64_t addr, void *buf, size_t len);

/* Is addr inside an executable segment? */
bool object_is_text(const struct object *o, uint64_t addr);

/* Each aligned word of the file's segments that may be an address of its text,
 * relocations' among them: pointers to functions are there. */
void object_words(
    struct object *o, void (*each)(void *ctx, uint64_t addr), void *ctx);

/* Are these bytes in a segment that the program may write? */
bool object_is_data(const struct object *o, uint64_t addr, size_t len);

/*
 * Every relocation that stores the address of function `name' somewhere in
 * this object's data: JUMP_SLOT and GLOB_DAT by name, IRELATIVE where
 * `resolver' (the file's own address of the IFUNC symbol, or 0) is its addend.
 * Calls each(ctx, address of the slot, file's own).
 */
void object_got_slots(struct object *o, const char *name, uint64_t resolver,
    void (*each)(void *ctx, uint64_t slot), void *ctx);

#endif
