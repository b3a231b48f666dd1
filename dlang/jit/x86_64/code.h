/*
 * What write.c and body.c share: code that is being written, and jumps in it.
 */
#ifndef DLANG_JIT_X86_64_CODE_H
#define DLANG_JIT_X86_64_CODE_H

#include "dlang/base/vec.h"
#include "dlang/jit/jit_impl.h"
#include "dlang/jit/x86_64/encode.h"

enum fault_kind {
	FAULT_SET, /* the helper has set it */
	FAULT_ZERO,
	FAULT_INDEX,
	FAULT_TUPLE
};

/* A jump to the code of a fault. */
struct fault_jump {
	size_t at; /* of its distance */
	uint32_t n;
	enum fault_kind kind;
};

struct code {
	struct emit e;
	struct jit_plan *p;
	const struct vm_helpers *helpers;
	const struct jit_body *body; /* NULL: this is not a body */
	struct body_parts *parts;
	const struct body_clause *clause; /* the one that is computed */
	bool time_is_read, time_may_be_read;
	struct jit_point *point; /* of the instruction that is written */
	uint32_t n;              /* its number */
	int32_t conds, result, tuple, frame; /* offsets from rsp; size */
	uint32_t ends;                       /* jumps to the end */
	/* Body: jumps and calls there. */
	uint32_t gives_up, find_self, put_self;
	uint32_t exits[2];    /* its returns */
	unsigned entry, busy; /* registers: see body_aggs.c */
	VEC(struct fault_jump) faults;
};

/* The registers of DIF; %r0 has none, and rax here. */
extern const uint8_t code_mapped[DIF_REGS];

/* mov to, from; nothing if they are the same. */
void code_move(struct code *c, unsigned to, unsigned from);

/* A jump to a place that is not known yet: it becomes part of a list, which is 0
 * at first. */
void code_jump_if(struct code *c, unsigned cc, uint32_t *list);
void code_jump(struct code *c, uint32_t *list);
void code_call(struct code *c, uint32_t *list);
/* The place of a list is here. */
void code_land(struct code *c, uint32_t list);
/* A jump over less than 128 bytes, by an opcode of one byte.  code_land_near()
 * says where to. */
size_t code_jump_near(struct code *c, unsigned opcode);
void code_land_near(struct code *c, size_t from);
/* A jump to an offset in the code that there is. */
void code_jump_back(struct code *c, size_t to);

/* Write the instructions of the plan, with the result in rax; jumps to the end
 * are in c->ends.  False: there is no room. */
bool code_text(struct code *c);

/* body.c: the value of a built-in variable to a register. */
void body_builtin(struct code *c, unsigned to, uint32_t id);
/* The same for a member of a built-in array, by the instruction c->n. */
void body_member(struct code *c, unsigned to, uint32_t id);
/* A variable of the thread or the clause from or to a register. */
void body_load_var(
    struct code *c, unsigned to, enum dif_scope scope, uint32_t id);
void body_store_var(
    struct code *c, unsigned from, enum dif_scope scope, uint32_t id);

#endif
