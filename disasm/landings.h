/*
 * Landings: the addresses in the code of an object to which something may lead
 * other than the instruction before them.
 */
#ifndef DISASM_LANDINGS_H
#define DISASM_LANDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No object has more code; more is an error in the file. */
#define LANDINGS_MOST (UINT64_C(1) << 30)

struct landings {
	uint64_t start, end;
	/* One for each byte in [start, end): of all, and of those that are an
	 * address in data or in an instruction, so that an indirect jump may
	 * lead there. */
	uint8_t *bits, *named;
};

/* Begin with none in [start, end), which is at most LANDINGS_MOST. */
void landings_init(struct landings *l, uint64_t start, uint64_t end);
void landings_fini(struct landings *l);

/* Add an address; `named', one that is held somewhere.  One outside [start, end) is
 * ignored. */
void landings_add(struct landings *l, uint64_t addr, bool named);

/*
 * Add the addresses to which code jumps, which it calls, and which it computes
 * without jumping there; `low' as in insn_names().  If `known', one instruction
 * follows the other from addr on; bytes that are no instruction end that.
 * Otherwise an instruction may begin at each byte, as in code of which it is not
 * known where it begins.
 */
void landings_add_code(struct landings *l, const uint8_t *code, size_t size,
    uint64_t addr, bool known, bool low);

/* Is there one behind `from' and before `to'?  One that is held somewhere? */
bool landings_between(const struct landings *l, uint64_t from, uint64_t to);
bool landings_named(const struct landings *l, uint64_t from, uint64_t to);

#endif
