/*
 * Go's calling conventions, and the numbers of goroutines; see golang.h.
 *
 * A function is Go's if the run time's table has frames for it (gosym.c).  From
 * Go 1.17 on arguments are in registers; those of assembly, and of what
 * assembly calls, are on the stack.  A function that is called in both ways has
 * two symbols: the linker adds ".abi0" to the name of that which has its
 * arguments on the stack.  What calls assembly in Go's way, and is compiled for
 * it, has the plain name.
 *
 * The structure of a goroutine, "g", is known by register r14, where functions
 * with arguments in registers keep it, and by the thread's own memory, where it
 * always is.  Which of its members is the number says the program's debug
 * information.
 */
#include "symbols/golang.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dlang/base/base.h"
#include "symbols/addrspace.h"
#include "symbols/dwarf/entries.h"

/* ---- the version of Go ---- */

/*
 * .go.buildinfo: 16 bytes that say what it is, the last of them flags; with
 * flag 2 a text stands at 32, its length in the byte before it.  Before Go 1.18
 * there is the address of a pointer to the text at 16.
 */
#define INFO_MARK    "\xff Go buildinf:"
#define INFO_FLAGS   15
#define INFO_INLINE  2
#define INFO_POINTER 16
#define INFO_TEXT    32

static bool
version_text(struct object *o, char *buf, size_t size)
{
	Elf64_Shdr sh;
	Elf_Scn *scn = elf_file_section(&o->file, ".go.buildinfo", &sh);
	Elf_Data *d = scn != NULL ? elf_file_data(scn, &sh) : NULL;
	const uint8_t *p = d != NULL ? d->d_buf : NULL;
	uint64_t at[2];

	memset(buf, 0, size);
	if (p == NULL || d->d_size < INFO_TEXT ||
	    memcmp(p, INFO_MARK, sizeof(INFO_MARK) - 1) != 0)
		return false;
	if ((p[INFO_FLAGS] & INFO_INLINE) != 0) {
		size_t len = d->d_size > INFO_TEXT ? p[INFO_TEXT] : 0;
		len = MIN(len, size - 1);
		if (d->d_size - INFO_TEXT < len + 1)
			return false;
		memcpy(buf, p + INFO_TEXT + 1, len);
		return true;
	}
	memcpy(at, p + INFO_POINTER, sizeof(at[0]));
	return object_read(o, at[0], at, sizeof(at)) == 0 &&
	    object_read(o, at[0], buf, MIN(at[1], size - 1)) == 0;
}

/* 19 of "go1.19.8"; 0: not known. */
static int
go_minor(struct object *o)
{
	char text[32];
	int minor;

	return version_text(o, text, sizeof(text)) &&
		sscanf(text, "go1.%d", &minor) == 1 && minor > 0 ?
	    minor :
	    0;
}

/* ---- calls ---- */

/* The first version with arguments in registers. */
#define MINOR_REGISTERS 17

static bool
has_symbols(struct object *o)
{
	const struct elf_file *debug;
	Elf64_Shdr sh;

	if (elf_file_section(&o->file, ".symtab", &sh) != NULL)
		return true;
	debug = debuglink_of(o);
	return debug != NULL && elf_file_section(debug, ".symtab", &sh) != NULL;
}

static enum go_calls
calls_of(struct object *o, const struct gosym_told *told, const char *name)
{
	size_t len = strlen(name);

	if (told->age == GOSYM_1_2)
		return GO_STACK;
	if (told->age == GOSYM_1_16) {
		int minor = go_minor(o);
		if (minor < MINOR_REGISTERS)
			return minor == 0 ? GO_UNKNOWN : GO_STACK;
	}
	if (len > 5 && strcmp(name + len - 5, ".abi0") == 0)
		return GO_STACK;
	/* The table's own names tell no such difference. */
	return told->assembly && !has_symbols(o) ? GO_UNKNOWN : GO_REGISTERS;
}

/* Assembly that only the compiler's code calls, by an ordinary call, and that leaves r14
 * as it is (asm_amd64.s, memmove_amd64.s, memclr_amd64.s, equal_amd64.s,
 * compare_amd64.s, sys_linux_amd64.s of Go 1.17 to 1.22).  Those that are called often
 * are enough. */
static const char *const ordinary[] = { "runtime.memmove",
	"runtime.memclrNoHeapPointers", "runtime.memequal",
	"runtime.memequal_varlen", "runtime.memhash", "runtime.memhash32",
	"runtime.memhash64", "runtime.strhash", "runtime.cmpstring",
	"runtime.nanotime1.abi0", "runtime.publicationBarrier.abi0" };

static bool
is_ordinary(const char *name)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(ordinary) && strcmp(name, ordinary[i]) != 0)
		i++;
	return i < ARRAY_SIZE(ordinary);
}

struct go_func
go_func(struct object *o, uint64_t addr, const char *name)
{
	struct go_func f = { .calls = GO_NOT, .width = -1 };
	struct gosym_told told;

	if (!object_is_go(o) || !gosym_told(o, addr, &told))
		return f;
	f.calls = calls_of(o, &told, name);
	f.assembly = told.assembly;
	/* Older tables do not say what is assembly. */
	f.alike = told.age == GOSYM_1_18 &&
	    (told.assembly ? is_ordinary(name) : f.calls == GO_REGISTERS);
	f.width = told.args;
	return f;
}

/* ---- goroutines ---- */

/* g: lowest and highest address of its stack, ..., its number. */
struct stack {
	uint64_t lo, hi;
};

/* Where the number is without debug information (runtime2.go, type g). */
static const struct {
	int from, to; /* Go 1.N */
	uint32_t goid;
} known[] = {
	{ 5, 22, 152 },
	{ 23, 24, 160 },
};

static bool
told_goid(struct object *o, uint64_t *off)
{
	Dwarf_Die g, member;
	Dwarf_Attribute attr;
	Dwarf_Word at;

	if (!dwarf_definition(o, DW_TAG_structure_type, "runtime.g", &g) ||
	    dwarf_child(&g, &member) != 0)
		return false;
	do {
		const char *name = dwarf_diename(&member);
		if (name == NULL || strcmp(name, "goid") != 0)
			continue;
		if (dwarf_attr(&member, DW_AT_data_member_location, &attr) ==
			NULL ||
		    dwarf_formudata(&attr, &at) != 0 || at > UINT16_MAX)
			return false;
		*off = at;
		return true;
	} while (dwarf_siblingof(&member, &member) == 0);
	return false;
}

/* Where the number is in g; 0: not known. */
static uint64_t
goid_offset(struct object *o)
{
	uint64_t *kept = object_part(o, PART_GOID), off = 0;

	if (kept != NULL)
		return *kept;
	int minor = told_goid(o, &off) ? 0 : go_minor(o);
	for (size_t i = 0; minor > 0 && i < ARRAY_SIZE(known); i++)
		if (minor >= known[i].from && minor <= known[i].to)
			off = known[i].goid;
	kept = object_part_new(o, PART_GOID, sizeof(*kept), NULL);
	*kept = off;
	return off;
}

/* The program, or library, of Go that the thread is in, or else the first. */
static struct object *
go_object(const struct addrspace *as, uint64_t pc)
{
	struct load *at = addrspace_load_at(as, pc), *const * loads;
	size_t n = addrspace_loads(as, &loads);

	if (at != NULL && at->seen && object_is_go(at->object))
		return at->object;
	for (size_t i = 0; i < n; i++)
		if (loads[i]->seen && object_is_go(loads[i]->object))
			return loads[i]->object;
	return NULL;
}

bool
go_there(const struct addrspace *as)
{
	return go_object(as, 0) != NULL;
}

/* Is it that of the goroutine on whose stack sp is? */
static bool
is_own(const struct reader *mem, uint64_t g, uint64_t sp, struct stack *s)
{
	return g != 0 && (g & 7) == 0 &&
	    reader_read(mem, g, s, sizeof(*s)) == 0 && sp >= s->lo &&
	    sp < s->hi;
}

/* The address of the g on whose stack the thread is, and that stack; 0: none. */
static uint64_t
g_of(const struct reader *mem, const struct uregs *regs, struct stack *s)
{
	uint64_t sp = regs->r[machine_uregs[CFI_SP]],
		 g = regs->r[machine_uregs[CFI_GOROUTINE]];

	/* Go's one word of thread-local memory is at the end of the block. */
	if (is_own(mem, g, sp, s) ||
	    (reader_read(mem, regs->r[UREG_THREAD] + MACHINE_GOROUTINE, &g,
		 sizeof(g)) == 0 &&
		is_own(mem, g, sp, s)))
		return g;
	return 0;
}

uint64_t
go_routine(const struct addrspace *as, const struct reader *mem,
    const struct uregs *regs)
{
	struct object *o = go_object(as, regs->r[machine_uregs[CFI_PC]]);
	struct stack s;
	uint64_t g = o != NULL ? g_of(mem, regs, &s) : 0, off, id;

	if (g == 0)
		return 0;
	off = goid_offset(o);
	return off != 0 && reader_read(mem, g + off, &id, sizeof(id)) == 0 ?
	    id :
	    0;
}

uint64_t
go_stack_end(const struct addrspace *as, const struct reader *mem,
    const struct uregs *regs)
{
	struct stack s;

	return go_object(as, regs->r[machine_uregs[CFI_PC]]) != NULL &&
		g_of(mem, regs, &s) != 0 ?
	    s.hi :
	    0;
}

/* ---- goroutines that a signal has interrupted ---- */

/* The slice of all g that were ever made: address of the first pointer, number.  A
 * signal's handler has the goroutine call the function, which gives it up; asyncPreempt
 * is between, and saves all registers (preempt.go).  The handler, on a stack of its
 * own, pushes the address at which the goroutine goes on; from then on until it is
 * given up, the goroutine has a thread. */
#define ALL_G     "runtime.allgs"
#define PREEMPTED "runtime.asyncPreempt2"
#define ALL_MOST  100000U

/* The frames of both fit. */
#define PARKED_MOST 2048U

/* runtime2.go, type g, the same in Go 1.5 to 1.25. */
struct g {
	struct stack stack;
	uint64_t guard[2], panic, defer, m;
	uint64_t sp, pc; /* where it goes on; of one that runs, where it did */
};

bool
go_parked_known(struct object *o)
{
	return object_sym(o, ALL_G) != NULL && object_sym(o, PREEMPTED) != NULL;
}

static int
parked_in(const struct load *l, const struct reader *mem,
    void (*fn)(void *ctx, const struct go_part *part), void *ctx)
{
	const struct sym *all = object_sym(l->object, ALL_G);
	const struct sym *by = object_sym(l->object, PREEMPTED);
	uint64_t slice[2], at[512];
	struct g g;

	if (reader_read(mem, l->bias + all->addr, slice, sizeof(slice)) != 0)
		return -EFAULT;
	if (slice[1] > ALL_MOST)
		return -E2BIG;
	for (uint64_t i = 0; i < slice[1]; i++) {
		uint64_t k = i % ARRAY_SIZE(at);
		size_t n = MIN(ARRAY_SIZE(at), slice[1] - i);
		if ((k == 0 &&
			reader_read(mem, slice[0] + 8 * i, at, 8 * n) != 0) ||
		    reader_read(mem, at[k], &g, sizeof(g)) != 0)
			return -EFAULT;
		struct go_part part = { g.stack.lo, g.stack.hi, g.m != 0 };
		bool by_signal = g.pc - l->bias - by->addr < by->size;
		if (!part.whole && by_signal) {
			/* Its stack may be about to be moved. */
			if (g.sp < g.stack.lo || g.sp >= g.stack.hi)
				return -EAGAIN;
			part.start = g.sp;
			part.end = MIN(g.stack.hi, g.sp + PARKED_MOST);
		}
		if (part.whole || by_signal)
			fn(ctx, &part);
	}
	return 0;
}

int
go_parked(const struct addrspace *as, const struct reader *mem,
    void (*fn)(void *ctx, const struct go_part *part), void *ctx)
{
	struct load *const *loads;
	size_t n = addrspace_loads(as, &loads);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		if (loads[i]->seen && object_is_go(loads[i]->object) &&
		    go_parked_known(loads[i]->object))
			r = parked_in(loads[i], mem, fn, ctx);
	return r;
}
