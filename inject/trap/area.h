/*
 * What the tracer leaves in a target for the time when it is gone: the places
 * where it has put an int3, with the bytes that belong there, and a handler of
 * SIGTRAP that puts them back (handler.c).
 *
 *	chunk 0   struct trap_area | code ... | entries ...
 *	chunk 1   struct trap_area | entries ...            (chunk 0's `next')
 *
 * Written by the tracer through /proc/PID/mem (inject/trapset.c), read by the
 * handler, and by whoever puts back what a dead tracer has left: its guardian
 * (tracer/survive/guardian.c), or the next tracer (tracer/survive/leftover.c).  Entries are
 * written before `count' is raised, and count before any of their int3s.
 * Addresses of the target are numbers.
 */
#ifndef INJECT_TRAP_AREA_H
#define INJECT_TRAP_AREA_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The machine's file defines
 *
 *	trap_insn	the type of a trap instruction, as wide as it is
 *	TRAP_INSN	the instruction: as short as the shortest of the machine, so
 *			that it never covers two of the program's
 *	TRAP_PC_AFTER	how far behind its begin the pc is of a thread that has
 *			executed it, in bytes
 *	TRAP_CODE	si_code of its SIGTRAP
 *	TRAP_JUMP	the byte that a jump begins with which takes its place, and
 *	TRAP_JUMP_LEN	how long that is: behind the byte it has the distance from
 *			its end
 *	TRAP_MARK	what memory for slots begins with, a string of at most 16
 *			bytes: a trap instruction, for who runs into it, and words
 */
#include "inject/trap/machine/trap.h"

#define TRAP_TAIL (TRAP_JUMP_LEN - 1)

/* A thread that has executed an int3 may have been put off its processor before
 * that became a SIGTRAP: late places stay so long.  And as long as a thread has
 * one pending, a tenth of that each time. */
#define TRAP_LATE_MS    100
#define TRAP_LATE_TRIES 1000

#define TRAP_MAGIC      UINT64_C(0x3270617274617472)

/* Which si_code the tracer gives the SIGTRAP of an int3 that it has dealt with,
 * just before it sets the registers; si_value is the pc that they will have.
 * No sender can use this one by mistake: programs send SI_QUEUE, SI_TKILL, and
 * what the kernel sends is positive. */
#define TRAP_DONE (-0x7472)

enum trap_kind {
	TRAP_NONE,
	TRAP_TEXT,      /* an int3 at addr; saved is the program's code */
	TRAP_SLOTS,     /* size bytes of slots at addr */
	TRAP_SEMAPHORE, /* the 16-bit counter at addr was raised by one */
	TRAP_MASK,      /* thread number addr blocks SIGTRAP, but its mask, of
			 * which these are the low 32 bits, does not say so */
};

struct trap_entry {
	uint64_t addr;
	uint32_t size;   /* TRAP_SLOTS, TRAP_MASK; TRAP_TEXT with `jump': the
			* program's bytes behind the first, as they lie there */
	uint8_t kind;    /* enum trap_kind */
	trap_insn saved; /* TRAP_TEXT */
	/* The same: the last to be put back, as it marks a call that changes
	 * SIGTRAP's action or a mask, or the coming of libraries that have such
	 * calls.  A thread that comes there is in the handler then, and not on
	 * its way to an int3 that would kill it. */
	uint8_t late;
	/* The same: a jump of TRAP_JUMP_LEN bytes may stand there in place of the
	 * int3.  Whoever comes by it is in no danger when we are gone, so it stays
	 * for the next tracer. */
	uint8_t jump;
};

/* Does a trap instruction stand at these bytes?  They need not be aligned. */
static inline bool
trap_is_at(const void *bytes)
{
	trap_insn now;

	__builtin_memcpy(&now, bytes, sizeof(now));
	return now == TRAP_INSN;
}

struct trap_area {
	uint64_t magic;
	uint64_t next;  /* address of another chunk, or 0 */
	uint32_t first; /* offset of the first entry */
	uint32_t count; /* entries that count */
	uint64_t size;  /* of the chunk, bytes */
	/* Of the first chunk.  Everything has been put back: no int3 is left,
	 * no semaphore raised.  And who is to do that if the tracer dies: a
	 * process, by its number and when it began (field 22 of its stat). */
	uint32_t mended;
	uint32_t keeper;
	uint64_t keeper_since;
	uint32_t alone;   /* some places are in memory that the program itself
			 * may write: byte by byte, never what is between */
	uint32_t handles; /* the program has set an action on SIGTRAP, and may
			   * set the next while an int3's is on its way */
	uint64_t handler; /* offset of the handler, of what it returns to */
	uint64_t restorer;
	/* The action that ours stands for, as the kernel has it: what the handler
	 * does with a SIGTRAP that is none of ours. */
	uint64_t old_handler, old_flags, old_restorer, old_mask;
	/* For rt_sigaction(): a struct sigaction as the kernel has it. */
	uint64_t action[4];
};

#endif
