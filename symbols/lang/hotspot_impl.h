/*
 * Shared by the files for HotSpot, the Java virtual machine of OpenJDK:
 *
 *	hotspot_vmstructs.c  offsets of its members, from libjvm's own tables
 *	hotspot_heap.c       the code cache: which code is at an address
 *	hotspot_method.c     a method's name, file and lines
 *	hotspot_scopes.c     compiled code: the methods at an address
 *	hotspot_thread.c     the JavaThread and its anchor
 *	MACHINE/hotspot_interp.c  frames of the interpreter
 *	MACHINE/hotspot_step.c    the caller of a frame
 *	MACHINE/hotspot_return.c  return addresses
 *	hotspot.c the functions of lang_ops
 *
 * Other threads of the process may be changing the data while it is read.  So
 * each number is checked against a bound before it is used, and each list has a
 * maximum length.
 */
#ifndef SYMBOLS_LANG_HOTSPOT_IMPL_H
#define SYMBOLS_LANG_HOTSPOT_IMPL_H

#include "dlang/base/hash.h"
#include "dlang/base/vec.h"
#include "symbols/lang/lang_impl.h"

/* ---- hotspot_vmstructs.c ---- */

/* A member of a type: its offset, or its address if it is static.  Or the size
 * of a type, or a constant. */
struct hs_field {
	uint64_t at;
	int8_t size; /* bytes; negative: signed; 0: this JVM has none */
};

/* The rows in hotspot_vmstructs.c give their names in HotSpot. */
struct hs_layout {
	struct hs_field heaps, heap8, array_len, array_data, heap_memory,
	    heap_segmap, heap_log2, space_low, space_high, block_used,
	    block_size;
	struct hs_field blob_name, blob_size, blob_frame_size, blob_complete,
	    blob_code_begin, blob_code_end, blob_code_offset, blob_data_offset,
	    blob_reloc_size, blob_mutable;
	struct hs_field nm_method, nm_scopes_begin, nm_scopes_offset,
	    nm_pcs_offset, nm_deps_offset, nm_meta_offset, nm_immutable,
	    nm_orig_pc, nm_compile_id, nm_deopt_begin, nm_deopt_mh_begin,
	    nm_deopt, nm_deopt_mh, pcdesc_pc, pcdesc_scope, pcdesc_size;
	struct hs_field method_const, method_access, access_flags, cm_constants,
	    cm_flags, cm_code_size, cm_name, cm_size, pool_holder, pool_length,
	    pool_file, klass_file, pool_size, klass_name, symbol_length,
	    symbol_length_ref, symbol_body, has_lines;
	struct hs_field threads_list, list_length, list_threads, threads_first,
	    thread_next, thread_osthread, thread_anchor, osthread_id, anchor_sp,
	    anchor_pc, anchor_fp;
	struct hs_field call_stub_return, wrapper_anchor, cont_entry,
	    cont_return, vm_major;
	/* Version of the JDK: 8, 17 ... */
	int version;
};

/* Read libjvm's tables.  0; -EAGAIN if they are not filled in yet (or are not
 * of a known HotSpot). */
int hs_layout_read(
    struct lang_walk *w, const struct load *l, struct hs_layout *out);

/* The value of a member of the object at addr, extended to 64 bits; 0 if it
 * cannot be read or this JVM does not have it. */
uint64_t hs_get(
    struct lang_walk *w, uint64_t addr, const struct hs_field *field);
/* The same for a static member. */
uint64_t hs_static(struct lang_walk *w, const struct hs_field *field);

/* ---- hotspot_heap.c ---- */

struct hs_heap {
	uint64_t low, high, segmap, segments;
	unsigned log2;
};

/* 3 today; a row of bits in CodeBlobType. */
#define HS_HEAPS 8

enum hs_kind {
	HS_NONE,
	HS_INTERPRETER,
	HS_NMETHOD,
	HS_VTABLE,  /* runs between caller and callee, without a frame */
	HS_ADAPTER, /* the same, and it moves the return address */
	HS_CODE,    /* routines in assembly, each with a frame of its own */
	HS_STUB,    /* one routine with a frame of known size */
};

/* A blob: a unit of code in the code cache. */
struct hs_blob {
	uint64_t addr;
	uint64_t code, code_end;
	uint64_t frame;    /* size with the return address, bytes; 0: unknown */
	uint64_t complete; /* from this address on the frame is set up; at least
			    * `code' */
	enum hs_kind kind;
	char name[64];
};

struct hotspot;

/* The blob whose code contains pc; false: none. */
bool hs_blob_at(
    struct hotspot *hs, struct lang_walk *w, uint64_t pc, struct hs_blob *out);

/* ---- hotspot_method.c ---- */

struct hs_method;

/* The method at addr, or NULL if it is not a method.  Valid until the next
 * call. */
struct hs_method *hs_method_at(
    struct hotspot *hs, struct lang_walk *w, uint64_t addr);
/* The index of the bytecode at bcp; -1: it is not in this method. */
int hs_method_bci(const struct hs_method *m, uint64_t bcp);
/* Push the method as a frame; bci -1: at its beginning; HS_NO_BCI: unknown. */
#define HS_NO_BCI (-2)
void hs_method_push(struct lang_walk *w, const struct hs_method *m, int bci);

struct hs_methods {
	struct hash by_addr;
};

void hs_methods_fini(struct hs_methods *ms);

/* Read a number of a compressed stream at *at, and move *at behind it. */
uint32_t hs_unsigned5(struct hotspot *hs, struct lang_walk *w, uint64_t *at);

/* ---- hotspot_scopes.c ---- */

/* Push the methods at pc of compiled code, the innermost first.  With `exact'
 * pc is the next instruction, else a return address.  False: none was
 * pushed. */
bool hs_scopes_push(struct hotspot *hs, struct lang_walk *w,
    const struct hs_blob *b, uint64_t pc, bool exact);

/* If HotSpot has changed the return address of a frame because its code must
 * not continue (deoptimisation), the original address; else pc itself. */
uint64_t hs_scopes_pc(struct hotspot *hs, struct lang_walk *w,
    const struct hs_blob *b, uint64_t pc, uint64_t sp);

struct hs_scopes {
	struct hash by_pc;
};

void hs_scopes_fini(struct hs_scopes *s);

/* ---- MACHINE/hotspot_step.c ---- */

enum step hs_step(struct hotspot *hs, struct lang_walk *w,
    const struct frame *f, struct frame *caller);

/* ---- MACHINE/hotspot_return.c ---- */

/* Can pc be a return address of a Java call?  New code may be in the code cache
 * but not in the maps yet. */
bool hs_is_return(struct hotspot *hs, struct lang_walk *w, uint64_t pc);
/* The kind of call instruction that ends at pc. */
enum hs_call {
	HS_CALL_NONE,
	HS_CALL_DIRECT, /* calls *target */
	HS_CALL_OTHER,
};
enum hs_call hs_call_before(struct lang_walk *w, uint64_t pc, uint64_t *target);
/* Set up a caller frame of which only pc and sp are known. */
void hs_caller_at(struct hotspot *hs, struct lang_walk *w, struct frame *caller,
    uint64_t pc, uint64_t sp);

/* ---- MACHINE/hotspot_interp.c ---- */

/* The caller of the method that the interpreter runs. */
bool hs_interp_step(struct hotspot *hs, struct lang_walk *w,
    const struct frame *f, struct frame *caller);
/* Push that method.  False: it is unknown. */
bool hs_interp_push(
    struct hotspot *hs, struct lang_walk *w, const struct frame *f);

/* ---- hotspot.c ---- */

struct hotspot {
	const struct load *load;
	struct hs_layout l;
	bool ready; /* l is read */
	unsigned tries;
	uint64_t call_stub_return;
	struct hs_heap heaps[HS_HEAPS];
	size_t n_heaps;
	bool heaps_read;     /* in this walk */
	struct hs_blob last; /* found in this walk */
	/* A frame without memory of its own, above the current one; "":
	 * none. */
	char between[64];
	struct hs_methods methods;
	struct hs_scopes scopes;
	/* The JavaThread of each thread, by the thread's id in the process. */
	struct hash threads;
	/* Where Java code was left last, above the current frame. */
	struct hs_anchor {
		bool looked;
		uint64_t sp, pc, fp; /* sp 0: nowhere */
	} anchor;
};

/* ---- hotspot_thread.c ---- */

/* The JavaThread of the walked thread; 0: it runs no Java. */
uint64_t hs_thread_of(struct hotspot *hs, struct lang_walk *w);
/* Its anchor. */
const struct hs_anchor *hs_anchor_of(struct hotspot *hs, struct lang_walk *w);
/* Use the anchor at addr from now on. */
void hs_anchor_read(struct hotspot *hs, struct lang_walk *w, uint64_t addr);

#endif
