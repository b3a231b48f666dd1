/*
 * What the files of dlang/vm/ share: addresses to memory, scratch, strings,
 * and the tuple stack.
 *
 * A function here that fails has called vm_fault().  Its caller returns, and
 * the interpreter stops at its next check.
 */
#ifndef DLANG_VM_VM_IMPL_H
#define DLANG_VM_VM_IMPL_H

#include "dlang/vm/store.h"
#include "dlang/vm/vm.h"

/* A member of the tuple stack: a key, or an argument of a subroutine. */
struct vm_tuple {
	uint64_t value; /* or, by reference, the address of the data */
	uint64_t size;  /* by reference: bytes; strings: at most, 0 strsize */
	uint32_t kind;  /* enum vm_tuple_kind */
};

enum vm_tuple_kind { TUPLE_VALUE, TUPLE_STRING, TUPLE_BYTES };

static inline bool
vm_faulted(const struct vm_env *env)
{
	return env->fault.code != FLT_NONE;
}

/* A register of the hit: enum ureg, or one of those from UREG_FP on. */
static inline uint64_t
vm_reg(struct vm_env *env, unsigned ureg)
{
	if (env->regs != NULL && ureg < UREG_COUNT)
		return env->regs->r[ureg];
	return env->ops->reg(env, ureg);
}

/* Whose clause-locals and self-> are meant. */
static inline const struct lane_view *
vm_own(const struct vm_env *env)
{
	return env->own != NULL ? env->own : &env->at;
}

/* Afterwards env->timestamp and env->cpu are set. */
static inline void
vm_when(struct vm_env *env)
{
	if (env->timestamp == 0 && env->ops->when != NULL)
		env->ops->when(env);
}

static inline uint32_t
vm_strsize(const struct vm_env *env)
{
	return env->at.image->strsize;
}

/* The greatest length of a string, without the NUL. */
static inline uint32_t
vm_strmax(const struct vm_env *env)
{
	return vm_strsize(env) - 1;
}

/* Memory of `len' bytes at a VM address that may be written: allocated scratch
 * of this lane, or the data of a by-reference variable.  Otherwise NULL. */
uint8_t *vm_writable(const struct vm_env *env, uint64_t addr, uint64_t len);
/* Memory that may be read: the image and the whole store, because after a cast
 * the bounds of a variable are unknown.  Of scratch only allocated memory may
 * be read, and nothing just before it. */
const uint8_t *vm_readable(
    const struct vm_env *env, uint64_t addr, uint64_t len);
/* The same, with the number of readable bytes in *room; 0 with NULL. */
const uint8_t *vm_readable_at(
    const struct vm_env *env, uint64_t addr, uint64_t *room);
/* Allocated scratch only, for writing. */
uint8_t *vm_scratch_at(const struct vm_env *env, uint64_t addr, uint64_t *room);

/* Allocate zeroed scratch, 8-byte aligned.  Returns its VM address, and its
 * memory in *mem; 0 after the fault NOSCRATCH. */
uint64_t vm_alloc(struct vm_env *env, uint64_t size, uint8_t **mem);

/*
 * Make a string: fill(env, what, of, buf, strsize) writes it to scratch; the
 * rest of the buffer is freed again.  Returns the VM address, or 0 with a
 * fault.
 */
typedef int (*vm_text_fn)(
    struct vm_env *env, uint64_t what, uint64_t of, char *buf, uint32_t size);
uint64_t vm_text(
    struct vm_env *env, vm_text_fn fill, uint64_t what, uint64_t of);
/*
 * The number of bytes to allocate for a string of len characters: strsize,
 * because a program may access every byte of a string.  If scratch is short,
 * only as much as the string needs.
 */
uint64_t vm_string_room(const struct vm_env *env, uint64_t len);

/* A load of 1, 2, 4 or 8 bytes, zero-extended; 0 with a fault (BADADDR). */
uint64_t vm_load(struct vm_env *env, uint64_t addr, uint32_t size);
/* A store of as many to an address that clauses may write (BADADDR). */
void vm_store(struct vm_env *env, uint64_t addr, uint64_t v, uint32_t size);
/* Copy len bytes from any address to one that clauses may write.  Both are checked
 * before anything is written (BADADDR). */
void vm_copy_to(struct vm_env *env, uint64_t src, uint64_t len, uint64_t dst);

/* Copy len bytes from any address.  0 or -1 (BADADDR). */
int vm_copy(struct vm_env *env, void *dst, uint64_t addr, uint64_t len);
/* Copy a string from any address into `size' bytes, terminated, the rest zero.
 * 0 or -1 (BADADDR). */
int vm_copy_str(struct vm_env *env, char *dst, uint64_t addr, uint32_t size);

/*
 * A string to read.  `s' may lack its NUL and, if it is in the store, may
 * change meanwhile; len was measured once.  addr is its VM address: the
 * argument, or a copy in scratch if the argument is in the target.
 */
struct vm_str {
	const char *s;
	uint32_t len; /* without NUL; at most the limit */
	uint64_t addr;
};

/* Find the string at addr; at most `limit' bytes are read.  0 or -1 (BADADDR,
 * NOSCRATCH). */
int vm_str(
    struct vm_env *env, uint64_t addr, uint32_t limit, struct vm_str *out);

/* A member of a built-in array, and a built-in variable; 0 with a fault. */
uint64_t vm_array(struct vm_env *env, uint32_t id, uint64_t n);
uint64_t vm_builtin(struct vm_env *env, uint32_t id);

/* The order of two strings as -1, 0 or 1; address 0 is "".  0 with a fault. */
int vm_compare(struct vm_env *env, uint64_t a, uint64_t b);

#endif
