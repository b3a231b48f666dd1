/*
 * What the files of dlang/vm/ share: addresses to memory, scratch, strings,
 * and the tuple stack.
 *
 * Faults: each of these that fails has called vm_fault(); the caller returns
 * and the interpreter stops at its next check.
 */
#ifndef DLANG_VM_VM_IMPL_H
#define DLANG_VM_VM_IMPL_H

#include "dlang/vm/store.h"
#include "dlang/vm/vm.h"

/* A member of the tuple stack: a key, or an argument of a subroutine. */
struct vm_tuple {
	uint64_t value; /* or the address of what the key is */
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

/* The time of the firing, and its processor in env->cpu, are known afterwards. */
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

/* Characters that a string has at most; one byte more is the NUL's. */
static inline uint32_t
vm_strmax(const struct vm_env *env)
{
	return vm_strsize(env) - 1;
}

/* `len' bytes at a VM address, for writing: this lane's allocated scratch, and
 * the data of variables held by reference; NULL elsewhere. */
uint8_t *vm_writable(const struct vm_env *env, uint64_t addr, uint64_t len);
/* For reading: the image and the store, as a cast takes bounds away; but of
 * scratch only what is allocated, and nothing just before it. */
const uint8_t *vm_readable(
    const struct vm_env *env, uint64_t addr, uint64_t len);
/* The same, and in *room how many bytes there are, 0 with NULL. */
const uint8_t *vm_readable_at(
    const struct vm_env *env, uint64_t addr, uint64_t *room);
/* Allocated scratch only, for writing. */
uint8_t *vm_scratch_at(const struct vm_env *env, uint64_t addr, uint64_t *room);

/* Zeroed scratch, 8-byte aligned: its VM address, and in *mem its memory; 0
 * after NOSCRATCH. */
uint64_t vm_alloc(struct vm_env *env, uint64_t size, uint8_t **mem);

/*
 * A string of the environment's: fill(env, what, of, buf, strsize) writes it to
 * scratch, which is given back as far as the text does not need it.  The VM
 * address, or 0 with a fault.
 */
typedef int (*vm_text_fn)(
    struct vm_env *env, uint64_t what, uint64_t of, char *buf, uint32_t size);
uint64_t vm_text(
    struct vm_env *env, vm_text_fn fill, uint64_t what, uint64_t of);
/*
 * How much to allocate for a string of so many characters: as much as any
 * string has, as a program may look at each of them; but where scratch runs
 * short, only what it needs.
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
/* Copy a string of any address into `size' bytes, terminated, the rest zero.
 * 0 or -1 (BADADDR). */
int vm_copy_str(struct vm_env *env, char *dst, uint64_t addr, uint32_t size);

/*
 * A string to look at.  `s' is not NUL-terminated reliably and, in the store,
 * may change; len was measured once.  addr is where it is for the VM: the
 * argument, or a copy in scratch when the argument is in the target.
 */
struct vm_str {
	const char *s;
	uint32_t len; /* without NUL; at most the limit */
	uint64_t addr;
};

/* At most `limit' bytes are looked at.  0 or -1 (BADADDR, NOSCRATCH). */
int vm_str(
    struct vm_env *env, uint64_t addr, uint32_t limit, struct vm_str *out);

/* The order of two strings as -1, 0 or 1; address 0 is "".  0 with a fault. */
int vm_compare(struct vm_env *env, uint64_t a, uint64_t b);

#endif
