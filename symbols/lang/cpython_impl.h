/*
 * Shared by the files for CPython's stacks: the layout of its structures in
 * each version, and its strings.
 */
#ifndef SYMBOLS_LANG_CPYTHON_IMPL_H
#define SYMBOLS_LANG_CPYTHON_IMPL_H

#include "symbols/lang/cpython_line.h"

/*
 * How Python frames correspond to C frames of the interpreter's loop,
 * _PyEval_EvalFrameDefault().
 */
enum py_frames {
	PY_CALLS,   /* to 3.9: one C frame of the loop for each Python frame */
	PY_CFRAME,  /* 3.10: the same; a _PyCFrame in the C frame stands for it.
		     * They are a list */
	PY_CFRAMES, /* 3.11: several, up to one that is_entry; a _PyCFrame */
	PY_SHIMS,   /* 3.12 and later: several, up to one that is no code's and
		     * is itself in the C frame */
};

/* Offsets in bytes, by structure. */
struct py_layout {
	unsigned version; /* 0x030b: 3.11 */
	unsigned until;   /* the last version with this layout; 0: no other */
	enum py_frames frames;
	enum pyline_form lines;
	struct {
		uint64_t interpreters; /* _PyRuntimeState */
	} runtime;
	struct {
		uint64_t next, threads; /* PyInterpreterState */
	} interp;
	struct {
		uint64_t next, id; /* PyThreadState; id: pthread_self() */
		uint64_t frame;    /* the innermost frame, but for ... */
		uint64_t cframe;   /* ... where it is in the _PyCFrame (or 3.12:
				    * 0, none) */
	} thread;
	struct {
		uint64_t current, previous; /* _PyCFrame */
	} cframe;
	struct {
		/* PyFrameObject to 3.10, then _PyInterpreterFrame.  `instr' is
		 * an index of bytes or (3.10) of code units, 32 bits wide; then
		 * a pointer. */
		uint64_t previous, code, instr, owner, is_entry;
	} frame;
	struct {
		uint64_t firstlineno, filename, name, lines, bytecode;
	} code;
	struct {
		uint64_t type;                     /* PyObject */
		uint64_t bytes_size, bytes;        /* PyBytesObject */
		uint64_t length, state;            /* PyASCIIObject */
		uint64_t ascii_text, compact_text; /* behind the headers */
	} object;
};

/* _PyInterpreterFrame.owner of a shim. */
#define PY_OWNER_SHIM 3

/*
 * Find the layout for the interpreter in an object, whose _PyRuntime is at
 * `runtime'.  False: an unknown version.
 */
bool py_layout_find(struct py_layout *out, struct lang_walk *w,
    const struct load *l, uint64_t runtime);

/*
 * Convert a str object to UTF-8, at most size - 1 bytes of whole characters.
 * `type' is the address of the type str, 0 if unknown.  "" if it is not a str.
 * Returns buf.
 */
char *py_text(const struct py_layout *o, struct lang_walk *w, uint64_t type,
    uint64_t addr, char *buf, size_t size);

#endif
