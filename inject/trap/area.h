/*
 * The area: memory in a target that works when the tracer has died.  It
 * contains the list of places where the tracer has written an int3, with the
 * bytes that belong there, and a handler for SIGTRAP that restores them
 * (handler.c).
 *
 *	chunk 0   struct trap_area | code ... | entries ...
 *	chunk 1   struct trap_area | entries ...            (chunk 0's `next')
 *
 * The tracer writes it through /proc/PID/mem (inject/trapset.c).  The handler
 * reads it, and so do the guardian (tracer/survive/guardian.c) and the next
 * tracer (tracer/survive/leftover.c), which restore what a dead tracer has
 * left.  An entry is written before `count' is raised, and `count' before the
 * int3 of the entry.  Addresses of the target are numbers, not pointers.
 */
#ifndef INJECT_TRAP_AREA_H
#define INJECT_TRAP_AREA_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The file of each machine defines
 *
 *	trap_insn	an unsigned type as wide as the trap instruction
 *	TRAP_INSN	the trap instruction; as short as the shortest one of the
 *			machine, so that it never covers two instructions
 *	TRAP_PC_AFTER	bytes from the trap instruction to the pc of a thread that
 *			has executed it
 *	TRAP_CODE	si_code of its SIGTRAP
 *	TRAP_JUMP	first byte of the jump that may replace it
 *	TRAP_JUMP_LEN	length of that jump: behind the first byte it has the
 *			distance from its end to the target
 *	TRAP_SHORT	first byte of a shorter jump, of TRAP_SHORT_LEN bytes, whose
 *			distance is a signed byte; that length is 0 if there is none
 *	TRAP_MARK	the first bytes of slot memory, a string of at most 16: a
 *			trap instruction, in case a thread runs into it, and text
 */
#include "inject/trap/machine/trap.h"

#define TRAP_TAIL (TRAP_JUMP_LEN - 1)

/* How long late places stay after the others.  A thread that has executed an
 * int3 may be preempted before it has its SIGTRAP.  While a thread has a
 * SIGTRAP pending, a tenth of that is waited again, up to TRAP_LATE_TRIES
 * times. */
#define TRAP_LATE_MS    100
#define TRAP_LATE_TRIES 1000

#define TRAP_MAGIC      UINT64_C(0x3270617274617472)

/* The si_code that the tracer gives to the SIGTRAP of an int3 when it has
 * handled the hit, just before it sets the registers; si_value is their new pc.
 * No other sender uses it by mistake: programs send SI_QUEUE or SI_TKILL, and
 * the kernel sends positive values. */
#define TRAP_DONE (-0x7472)

/* The si_code of a SIGTRAP for a watch on data (tracer/ptrace/datawatch.h):
 * TRAP_PERF.  The kernel stores a value that the tracer chose, si_perf_data, at
 * this offset of the siginfo (include/uapi/asm-generic/siginfo.h, 64 bits); its
 * upper half is the mark. */
#define TRAP_DATA_CODE 6
#define TRAP_DATA_AT   24
#define TRAP_DATA_MARK (UINT64_C(0x64747261) << 32)

/* The value in a siginfo with TRAP_DATA_CODE. */
static inline uint64_t
trap_data(const void *siginfo)
{
	uint64_t data;

	__builtin_memcpy(
	    &data, (const char *)siginfo + TRAP_DATA_AT, sizeof(data));
	return data;
}

static inline bool
trap_data_is_ours(uint64_t data)
{
	return data >> 32 == TRAP_DATA_MARK >> 32;
}

enum trap_kind {
	TRAP_NONE,
	TRAP_TEXT,  /* an int3 at addr; `saved' is the program's byte there */
	TRAP_SLOTS, /* size bytes of slots at addr */
	TRAP_SEMAPHORE, /* the 16-bit counter at addr was raised by one */
	TRAP_MASK,      /* thread `addr' wants SIGTRAP blocked, but the bit is
		    * cleared in its mask in the kernel; `size' is the low 32
		    * bits of that mask */
	/* A jump of TRAP_JUMP_LEN or TRAP_SHORT_LEN bytes may be at addr; `saved'
	 * and `size' are the program's bytes there.  The jump works without the
	 * tracer, so it stays until the next tracer removes it. */
	TRAP_LEAP,
	/* A board: at addr, in padding, a jump of TRAP_JUMP_LEN bytes, to which
	 * only a short one leads.  It is restored after that one, when no thread
	 * can be at it. */
	TRAP_BOARD,
};

struct trap_entry {
	uint64_t addr;
	uint32_t size;   /* TRAP_SLOTS, TRAP_MASK; TRAP_LEAP, TRAP_BOARD: the
			* program's bytes behind the first, as they lie there */
	uint8_t kind;    /* enum trap_kind */
	trap_insn saved; /* TRAP_TEXT, TRAP_LEAP, TRAP_BOARD */
	/* TRAP_TEXT: this place is restored last, because it marks a call that
	 * changes the action of SIGTRAP or a mask, or the loading of libraries
	 * with such calls.  As long as it stays, a thread that makes such a
	 * call enters the handler first, instead of an int3 later that would
	 * kill it. */
	uint8_t late;
	int8_t
	    way; /* TRAP_BOARD: the distance in the short jump that leads here */
};

/* The address of the short jump that leads to a board. */
static inline uint64_t
trap_board_from(const struct trap_entry *e)
{
	return e->addr - (uint64_t)(int64_t)e->way - TRAP_SHORT_LEN;
}

/* Is this a trap instruction?  The bytes need not be aligned. */
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
	uint32_t count; /* number of valid entries */
	uint64_t size;  /* of the chunk, bytes */
	/* The rest is valid in the first chunk only.  mended: everything is
	 * restored, no int3 is left and no semaphore raised.  keeper: the
	 * process that restores everything if the tracer dies, and its start
	 * time (field 22 of /proc/PID/stat). */
	uint32_t mended;
	uint32_t keeper;
	uint64_t keeper_since;
	uint32_t alone; /* some places are in memory that the program itself may
			 * write: restore single bytes, never those between */
	uint32_t handles; /* the program has set an action for SIGTRAP, and may
			   * set another one while a thread is between an int3
			   * and its SIGTRAP */
	uint64_t handler; /* offsets of the handler and of its restorer */
	uint64_t restorer;
	/* The action that ours stands for, as the kernel has it: what the handler
	 * does with a SIGTRAP that is none of ours. */
	uint64_t old_handler, old_flags, old_restorer, old_mask;
	/* For rt_sigaction(): a struct sigaction as the kernel has it. */
	uint64_t action[4];
	/* The handler has restored places.  If the tracer still lives, a thread
	 * that it does not trace has executed an int3. */
	uint64_t healed;
};

#endif
