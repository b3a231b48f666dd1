/*
 * Shared by the files for V8: v8.c reads the stack, v8_code.c compiled code,
 * v8_blob.c built-in code, v8_heap.c objects.
 *
 * Words are as they stand in V8's memory: an object's address with its lowest
 * bit set, or a small integer in the upper half (a "Smi").  Pointers are not
 * compressed: Node does not do that.
 *
 * The heap is in use while it is read, and its layout may differ from the
 * expected one.  So an object is read only if it has the expected type, and
 * every loop has a bound.
 */
#ifndef SYMBOLS_LANG_V8_IMPL_H
#define SYMBOLS_LANG_V8_IMPL_H

#include "dlang/base/vec.h"
#include "symbols/lang/lang_impl.h"

/* Bytes of a name, with its NUL. */
#define V8_TEXT (LANG_NAME_BYTES + 1)

/* The line ends of a script for which V8 has not computed them. */
struct v8_lines {
	int32_t id;
	uint32_t length; /* of its source; 0: none here */
	uint64_t name;   /* hash of it */
	VEC(uint32_t) ends;
};

/* Limit of searches in one walk; a frame needs several. */
#define V8_LOOKS   16384u

#define V8_SCRIPTS 64
#define V8_PCS     256

/* A place in a function, and the word of its name (langname.h).  It is valid as
 * long as the same objects describe the function. */
struct v8_named {
	uint64_t shared, bytecode, offset;
	uint64_t name, script, data, lines;
	uint64_t word; /* 0: none here */
};

#define V8_NAMED 512

struct v8_layout;

struct v8 {
	const struct load *load;
	/* By its symbols (v8dbg.def). */
#define V8(member, symbol)             int32_t member;
#define V8_ELSE(member, symbol, value) int32_t member;
#include "symbols/lang/v8dbg.def"
#undef V8
#undef V8_ELSE
	/* By its version. */
	const struct v8_layout *layout;
	/* Bytes of each bytecode: plain, wide, extra wide. */
	uint8_t sizes[3 * 256];
	unsigned bytecodes;
	/* What was found before: where code begins, ends of lines. */
	struct {
		uint64_t pc, start; /* 0: there was none, */
		uint64_t bytes;     /* while these were at pc */
	} pcs[V8_PCS];
	struct v8_named named[V8_NAMED];
	unsigned looks; /* searches for code that are left in this walk */
	struct v8_lines scripts[V8_SCRIPTS];
	unsigned scripts_next;
};

/* A function at a place in it. */
struct v8_at {
	uint64_t shared;
	uint64_t bytecode; /* its BytecodeArray; 0: look for it */
	int offset;        /* in the bytecode; -1: its beginning, or unknown */
};

static inline bool
v8_is_object(uint64_t word)
{
	return (word & 3) == 1;
}

static inline bool
v8_is_smi(uint64_t word)
{
	return (uint32_t)word == 0;
}

static inline int32_t
v8_smi(uint64_t word)
{
	return (int32_t)(word >> 32);
}

/* A word of an object. */
static inline uint64_t
v8_field(struct lang_walk *w, uint64_t object, int offset)
{
	return lang_u64(w, object - 1 + (uint64_t)(int64_t)offset);
}

/* v8_heap.c */

/* The type of an object, or -1. */
int v8_type(const struct v8 *v, struct lang_walk *w, uint64_t object);
/* The SharedFunctionInfo of a JSFunction, or 0. */
uint64_t v8_shared(const struct v8 *v, struct lang_walk *w, uint64_t function);
/* Is it a built-in of V8 or of its embedder, without JavaScript code? */
bool v8_is_builtin(const struct v8 *v, struct lang_walk *w, uint64_t shared);
/* Push a frame. */
void v8_push(struct v8 *v, struct lang_walk *w, const struct v8_at *at);

/* v8_blob.c */

/* Set text to the name of the built-in code at pc, "node`Builtins_ArrayMap", if
 * pc is where V8 has mapped it again.  False: it is not. */
bool v8_blob_name(
    struct v8 *v, struct lang_walk *w, uint64_t pc, char *text, size_t size);

/* v8_code.c */

/* What differs between versions of V8 and has no symbol, or NULL. */
const struct v8_layout *v8_layout_of(unsigned major, unsigned minor);

enum v8_kind {
	V8_NONE, /* no function's */
	V8_INTERPRETED,
	V8_BASELINE,
	V8_OPTIMISED,
};

struct v8_code {
	enum v8_kind kind;
	uint64_t start; /* its first instruction */
	uint32_t size;
	uint64_t fields; /* the object that describes it */
};

/* The code in V8's heap that contains pc; its size is 0 if there is none. */
struct v8_code v8_code_at(struct v8 *v, struct lang_walk *w, uint64_t pc);
/* The offset in the bytecode that corresponds to pc in baseline code. */
int v8_baseline_offset(struct v8 *v, struct lang_walk *w,
    const struct v8_code *c, uint64_t bytecode, uint64_t pc);
/* The functions at a return address in optimised code, the outermost first.
 * Returns their number; 0: V8 has no data about this address. */
size_t v8_inlined(struct v8 *v, struct lang_walk *w, const struct v8_code *c,
    uint64_t pc, struct v8_at *out, size_t max);

#endif
