/*
 * Shared by the files for Ruby's stacks: ruby.c walks, ruby_object.c reads
 * strings, names and lines from the heap.
 */
#ifndef SYMBOLS_LANG_RUBY_IMPL_H
#define SYMBOLS_LANG_RUBY_IMPL_H

#include "symbols/lang/lang_impl.h"

/* What differs between versions; offsets and sizes in bytes. */
struct ruby_layout {
	unsigned version;    /* 0x0301: 3.1 */
	unsigned frame_size; /* rb_control_frame_t */
	unsigned insns_info; /* in rb_iseq_constant_body */
	unsigned insn_entry; /* struct iseq_insn_info_entry */
	unsigned last_op_id; /* tLAST_OP_ID */
	/* The length of every string is a separate member, and the text of a
	 * short string follows it; otherwise the length of a short string is in
	 * its flags. */
	bool long_strings;
};

/* Types of heap objects, internal ones included. */
enum {
	RUBY_STRING = 0x05,
	RUBY_ARRAY = 0x07,
	RUBY_IMEMO = 0x1a,
	RUBY_IMEMO_SVAR = RUBY_IMEMO | 2 << 12,
	RUBY_IMEMO_MENT = RUBY_IMEMO | 6 << 12,
	RUBY_IMEMO_ISEQ = RUBY_IMEMO | 7 << 12,
};

/* The type of an object: one of those above, or another value of its flags. */
unsigned ruby_type(struct lang_walk *w, uint64_t object);

/* Read a String as text; "" if it is not one.  Returns buf. */
char *ruby_text(const struct ruby_layout *o, struct lang_walk *w, uint64_t str,
    char *buf, size_t size);

/* The n-th element of an Array; 0 if there is none. */
uint64_t ruby_element(struct lang_walk *w, uint64_t array, uint64_t n);

/* The name of an ID, from ruby_global_symbols at `symbols'; "" if it has none.
 * Returns buf. */
char *ruby_id_text(const struct ruby_layout *o, struct lang_walk *w,
    uint64_t symbols, uint64_t id, char *buf, size_t size);

/* Do the words at `symbols' look like ruby_global_symbols? */
bool ruby_is_symbols(struct lang_walk *w, uint64_t symbols);

/* The line of the instruction before `pc' in an iseq's body; 0: not known. */
int ruby_line(const struct ruby_layout *o, struct lang_walk *w, uint64_t body,
    uint64_t pc);

#endif
