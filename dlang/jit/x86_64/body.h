/*
 * What the files of a body share.  body.c says which registers have what.
 *
 * Functions that return false have found no room for their code.
 */
#ifndef DLANG_JIT_X86_64_BODY_H
#define DLANG_JIT_X86_64_BODY_H

#include "dlang/jit/x86_64/code.h"
#include "dlang/vm/lane.h"

/* What a body reads of the lane and of the environment behind it. */
#define IN_LANE(member) (int32_t) offsetof(struct lane, member)
#define IN_ENV(member) \
	(int32_t)(sizeof(struct lane) + offsetof(struct vm_env, member))

static inline uint32_t
bit_of(unsigned number)
{
	return 1U << ureg_by_number(number);
}

/* Keys with strings are on the lane's stack, below what the functions need that are
 * called there. */
#define FAR_KEYS (-4096)

/* Is there room for a piece of code?  What follows asks again. */
bool code_has_room(const struct code *c);

/* What the row has for a clause. */
static inline int32_t
epid_of(const struct code *c, const struct body_clause *k)
{
	return (int32_t)(offsetof(struct jit_row, epid) +
	    sizeof(uint32_t) * (size_t)(k - c->parts->clauses));
}

/* If the clause does not fire, jump to *over. */
void body_if_fires(struct code *c, const struct body_clause *k, uint32_t *over);

/* ---- body_vars.c ---- */

/* Keep the low bytes of a register. */
void body_extend(struct code *c, unsigned r, unsigned size, bool is_signed);
/* Store so many low bytes of rax. */
void body_put(struct code *c, unsigned base, int32_t disp, unsigned size);
/* The time, to its place. */
bool body_clock(struct code *c);
/* Copy the string at the address in rax, which is the value of the action, to
 * [base + disp], or give up: see agent_text().  Its length is in rax then. */
void body_text(struct code *c, const struct img_act *a, unsigned base,
    int32_t disp, uint32_t fill);
/* The variables' values, to their places: those that the predicate needs, or the
 * others. */
bool body_fetch(struct code *c, bool early);
/* The values of the thread's variables, from their places. */
bool body_store_all(struct code *c);
/* The functions that these two call. */
bool body_var_functions(struct code *c);

/* ---- body_record.c ---- */

/* Find a place for the clause's record, and write what is not the value of an action; or
 * give up. */
bool body_record(struct code *c);
/* The value in rax of an action to the record. */
void body_record_value(struct code *c, const struct img_act *a);
/* The reader may have all of them. */
void body_commit(struct code *c);

/* ---- body_aggs.c ---- */

/* The registers that body_update() changes besides rbx, rax, rcx and rdx. */
uint32_t body_agg_changes(const struct body_parts *p);
/* Update all aggregations, or give up. */
bool body_update(struct code *c);

#endif
