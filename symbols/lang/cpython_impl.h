/*
 * Between the files of CPython's stacks: where its structures have what, by
 * version; its strings.
 */
#ifndef SYMBOLS_LANG_CPYTHON_IMPL_H
#define SYMBOLS_LANG_CPYTHON_IMPL_H

#include "symbols/lang/cpython_line.h"

/*
 * How Python's frames and the C frames of the interpreter's loop,
 * _PyEval_EvalFrameDefault(), belong together.
 */
enum py_frames {
	PY_CALLS,   /* to 3.9: a C frame of the loop for each */
	PY_CFRAME,  /* 3.10: the same; a _PyCFrame in the C frame stands for it.
		     * They are a list */
	PY_CFRAMES, /* 3.11: several, up to one that is_entry; a _PyCFrame */
	PY_SHIMS,   /* 3.12 and later: several, up to one that is no code's and
		     * is itself in the C frame */
};

/* Offsets in bytes, by structure. */
struct py_layout {
	unsigned version; /* 0x030b: 3.11 */
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
 * The layout of the interpreter in an object, whose _PyRuntime is at
 * `runtime'; false where it is of no version that is known.
 */
bool py_layout_find(struct py_layout *out, struct lang_walk *w,
    const struct load *l, uint64_t runtime);

/*
 * A str object as UTF-8, at most size - 1 bytes of whole characters.  `type' is
 * what str objects are of, 0 when that is not known.  "" where it is none.
 * Returns buf.
 */
char *py_text(const struct py_layout *o, struct lang_walk *w, uint64_t type,
    uint64_t addr, char *buf, size_t size);

#endif
