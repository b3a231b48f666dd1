/*
 * The room symbols/elf/: one ELF file, its bytes and its parts.  A part is read
 * when it is first used.  The room knows no process and no other room of
 * symbols/.  Rooms of symbols/ include this header; other rooms include
 * object.h, sdt.h and so on.
 *
 *   elffile.c    the file in memory, headers
 *   object.c     opening, sharing, segments
 *   symtab.c     symbols
 *   funcname.c   what functions are called
 *   demangle.c   readable names
 *   unnamed.c    functions that no symbol names
 *   gosym.c      functions of a stripped Go program, and their frames
 *   debuglink.c  the separate debug file
 *   debuginfod.c  ... that a server has
 *   debugdata.c  the compressed one inside of the object
 *   ehframe.c    ranges of the unwind entries
 *   lsda.c       where unwinding may end in a function
 *   frame_bytes.c  ... their bytes
 *   cfi.c        rules to step from a frame to its caller, which libdw makes
 *   cfi_check.c  ... of entries that were looked at
 *   got.c        relocations that hold a function's address
 *   sdt.c        notes of static probes
 *   dof.c        types of their arguments
 *   machine.h    what the machine says; the folder of the machine answers
 *
 * Invariant: no code here trusts a size, an offset or an address from a file.
 * Data outside of the file's bytes counts as absent.
 */
#ifndef SYMBOLS_ELF_PARTS_H
#define SYMBOLS_ELF_PARTS_H

#include <elf.h>
#include <libelf.h>
#include <sys/stat.h>

#include "dlang/base/arena.h"
#include "dlang/base/hash.h"
#include "dlang/base/reader.h"
#include "symbols/elf/machine.h"
#include "symbols/object.h"

/* An ELF file in memory: mapped, or (an image) allocated. */
struct elf_file {
	const uint8_t *bytes;
	size_t size;
	bool mapped;
	Elf *elf;
	struct stat st; /* zero for an image */
};

/* A program header of type PT_LOAD, clipped to the bytes of the file. */
struct segment {
	uint64_t addr, offset;
	uint64_t file_size, mem_size; /* file_size <= mem_size */
	bool exec, write;
};

/*
 * The parts of an object.  A part is the data that one source file has read
 * from the object; that file creates it when it is first used, and destroys it.
 * An object destroys its parts in this order, because a part may point into
 * later ones.
 */
enum object_part {
	PART_FUNCNAMES, /* funcname.c */
	PART_SYMTAB,    /* symtab.c */
	PART_UNNAMED,   /* unnamed.c */
	PART_CFI,       /* cfi.c */
	PART_DWFUNCS,   /* dwarf_proto.c */
	PART_DWARF,     /* dwarf.c */
	PART_SDT,       /* sdt.c */
	PART_FDES,      /* ehframe.c */
	PART_GOID,      /* golang.c */
	PART_DEBUG,     /* debuglink.c */
	PART_MINI,      /* debugdata.c */
	PARTS
};

struct object {
	unsigned refs;
	uint64_t last_put; /* order in which unused objects are dropped */
	struct elf_file file;
	char *path;
	const char *base; /* in path */
	uint64_t entry;
	bool pie, go, has_dynamic, df_pie;
	char *interp;
	char *build_id;
	struct segment *segs;
	size_t seg_count;
	struct {
		void *is; /* NULL: not created yet */
		void (*fini)(void *part);
	} parts[PARTS];
};

/*
 * object_part(): a part of the object, or NULL.  object_part_new(): the part;
 * it is created, all zeroes, if it does not exist.  When the object is
 * destroyed, or in object_part_drop(), fini() (may be NULL) releases what the
 * part holds, and the object frees the part's memory.
 */
void *object_part(const struct object *o, enum object_part which);
void *object_part_new(struct object *o, enum object_part which, size_t size,
    void (*fini)(void *part));
void object_part_drop(struct object *o, enum object_part which);

/* Map a file.  0 or a negative errno; -ENOEXEC if it is not an ELF file. */
int elf_file_open(const char *path, struct elf_file *out);
/* The same from bytes of mem_alloc(), which *out then owns. */
int elf_file_image(uint8_t *bytes, size_t size, struct elf_file *out);
void elf_file_close(struct elf_file *f);

/* Program headers: their number; the i-th; the first of a type.  False: there
 * is none. */
size_t elf_file_phdrs(const struct elf_file *f);
bool elf_file_phdr(const struct elf_file *f, size_t i, Elf64_Phdr *out);
bool elf_file_segment(const struct elf_file *f, uint32_t type, Elf64_Phdr *out);

/* The header of a section.  False when it is damaged, or scn NULL. */
bool elf_file_shdr(Elf_Scn *scn, Elf64_Shdr *out);
/* elf_file_section(): the section of that name and its header, or NULL.
 * elf_file_data(): the data of a section, or NULL if it has none. */
Elf_Scn *elf_file_section(
    const struct elf_file *f, const char *name, Elf64_Shdr *shdr);
Elf_Data *elf_file_data(Elf_Scn *scn, const Elf64_Shdr *shdr);

/* The build id as hex (mem_alloc'd), or NULL. */
char *elf_file_build_id(const struct elf_file *f);

/* The bytes of the file at a file address; *avail is their number up to the end
 * of the segment's data.  NULL if no segment contains the address. */
const uint8_t *object_bytes(
    const struct object *o, uint64_t addr, size_t *avail);

/*
 * Compute the load bias of a mapping of the file at address `start' from file
 * offset `offset'.  0, or -ENOENT if no segment (with `exec': no executable
 * one) begins in it or before it.
 */
int object_mapping_bias(const struct object *o, uint64_t start, uint64_t offset,
    bool exec, uint64_t *bias);

/* The stat() of the opened file; zero for an image. */
struct stat object_stat(const struct object *o);

/* The lowest address of the segments, and one past the highest, in whole
 * pages. */
void object_extent(const struct object *o, uint64_t *lo, uint64_t *hi);

/* The entry of the dynamic section with this tag.  0 or -ENOENT. */
int object_dynamic(const struct object *o, int64_t tag, uint64_t *value);
/* The address of the dynamic section and its size, or 0. */
uint64_t object_dynamic_addr(const struct object *o, uint64_t *size);

/* The number of symbols that begin at addr or before it, of n in address
 * order. */
size_t syms_to(const struct sym *syms, size_t n, uint64_t addr);

/* The begin of the first unwind entry behind addr, or UINT64_MAX. */
uint64_t ehframe_next(struct object *o, uint64_t addr);

/* Call each() for the functions in a Go program's own table, in address order,
 * with the names that .symtab would have.  Names that the table does not
 * contain literally are allocated in `names'. */
void gosym_each(const struct object *o, struct arena *names,
    void (*each)(void *ctx, const struct sym *), void *ctx);

/* The distance from the stack pointer to the return address, in bytes, at the
 * instruction addr (a file address) of a Go function.  0 or -ENOENT. */
int gosym_frame(const struct object *o, uint64_t addr, uint64_t *size);

/* What the table says about the Go function that begins at addr (a file
 * address).  False if it is not in the table, or is C code, which the table
 * contains without frames. */
struct gosym_told {
	int32_t args; /* bytes in the caller's frame for its arguments and
		       * results, and for spilling those that come in registers;
		       * INT32_MIN: unknown, it is assembly */
	bool assembly;
	enum {
		GOSYM_1_2,
		GOSYM_1_16,
		GOSYM_1_18
	} age; /* Go is at least this
							 * version */
};
bool gosym_told(const struct object *o, uint64_t addr, struct gosym_told *out);

/* The separate debug file that belongs to the object, or NULL. */
const struct elf_file *debuglink_of(struct object *o);

/* The compressed file in the object's section .gnu_debugdata, or NULL.  It
 * contains only symbols. */
const struct elf_file *debugdata_of(struct object *o);

/* A CFI rule: how to find one register of the caller. */
enum cfi_kind {
	CFI_UNDEFINED, /* cannot be recovered; for the return address: the
			* outermost frame */
	CFI_SAME,      /* unchanged */
	CFI_AT_CFA,    /* in memory at CFA + offset */
	CFI_CFA_PLUS,  /* the value CFA + offset */
	CFI_REG,       /* register `reg' + offset */
	CFI_AT_EXPR,   /* in memory at the value of a DWARF expression */
	CFI_EXPR,      /* the value of a DWARF expression */
};

struct cfi_rule {
	uint8_t kind;
	uint8_t of;  /* DWARF number of the register the rule recovers */
	uint8_t reg; /* CFI_REG */
	int64_t offset;
	const void *ops; /* Dwarf_Op[], borrowed from the CFI */
	size_t op_count;
};

struct cfi_row {
	bool signal; /* a signal trampoline: the frame above was interrupted, it
		      * did not call this one */
	struct cfi_rule cfa;
	unsigned count;
	struct cfi_rule rules[]; /* registers without a rule are undefined */
};

/* Are the entries of .eh_frame valid? */
bool cfi_is_good(struct object *o);

/* The rules at addr (a file address); NULL: there are none.  Borrowed until the
 * next call for the same object. */
const struct cfi_row *cfi_row(struct object *o, uint64_t addr);

#endif
