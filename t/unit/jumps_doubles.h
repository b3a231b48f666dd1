/*
 * What tracer/sites/jumps.c stands on, as doubles: option fastpath, tracepoints,
 * code, threads.  The file is included after this.
 */
#ifndef T_UNIT_JUMPS_DOUBLES_H
#define T_UNIT_JUMPS_DOUBLES_H

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/window.h"
#include "dlang/base/fault.h"
#include "dlang/base/str.h"
#include "dlang/image/inside.h"
#include "inject/resume.h"
#include "inject/stub.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "symbols/addrspace.h"
#include "symbols/golang.h"
#include "symbols/maps.h"
#include "tracer/base/state.h"
#include "tracer/fast/fast.h"
#include "tracer/names/bodies.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"
#include "tracer/sites/jumps.h"
#include "tracer/sites/boards.h"
#include "tracer/sites/sequences.h"
#include "tracer/sites/site.h"
#include "tracer/sites/windows.h"

#define BIAS  UINT64_C(0x400000)
#define TEXT  UINT64_C(0x401000)
#define NEXT  (UINT64_C(1) << 28)
#define STUBS UINT64_C(0x900000)

/* ---- option fastpath and the memory inside the target ---- */

static bool is_on, is_auto, maps_memory, with_clock;
static const char *memory_why;
static struct stub_world code_world;
static bool has_world;
static struct str notes; /* fast_note(), by line */
static unsigned starts;

static void
double_note(const char *why, uint64_t trapped)
{
	str_add(&notes, why != NULL ? why : "a jump");
	if (trapped > 0)
		str_printf(&notes, ", %lu hits", trapped);
	str_addc(&notes, '\n');
}

static bool
double_space(void)
{
	has_world |= maps_memory;
	return maps_memory;
}

/* ---- tracepoints ---- */

#define TPS 80

static struct tracepoint tps[TPS];
static unsigned n_tps;
static struct tp_user users[TPS];
static struct site one_site;
static unsigned lowered[TPS], lowered_all, stops, resumes, flushes;
static unsigned raised[TPS], stubs[TPS];
static bool for_taken;                  /* the last stub's window */
static uint64_t onto[TPS], boards[TPS]; /* of each */
static int stub_error, flush_error, jump_error;
static uint64_t list_area = 0x50000;
static struct str reserved;        /* "addr*n " of each stubs_reserve() */
static struct tracepoint *stub_at; /* of every pc, */
static uint64_t stub_pc;           /* or of this one */
static uint64_t shared_pc;         /* code that sites share */
static uint64_t stub_leads[2];     /* where that leads */
static struct tracepoint *slot_tp; /* whose slot: NULL: the first one's */
static uint64_t slot_pc;           /* a pc that is in a slot */
static bool slot_knows;            /* its tracepoint */

static struct tracepoint *
double_tp_next(struct tracepoint *tp)
{
	size_t i = tp == NULL ? 0 : (size_t)(tp - tps) + 1;

	return i < n_tps ? &tps[i] : NULL;
}

static int
double_lower(struct tracepoint *tp)
{
	lowered[tp - tps]++;
	tp->jumps = false;
	return 0;
}

static void
double_lower_all(uint64_t start, uint64_t end)
{
	lowered_all++;
	for (unsigned i = 0; i < n_tps; i++)
		if (tps[i].jumps && tps[i].addr >= start && tps[i].addr < end)
			double_lower(&tps[i]);
}

static int
double_stub(struct tracepoint *tp, const struct stub_world *w,
    const struct window *window, const char **why)
{
	ck_assert_ptr_eq(w, &code_world);
	ck_assert_uint_eq(window->insn[window->site].addr, tp->addr);
	stubs[tp - tps]++;
	for_taken = window->taken;
	onto[tp - tps] = window->onto;
	boards[tp - tps] = window->board;
	if (window->onto != 0) /* It has been made before. */
		ck_assert_uint_gt(stubs[(window->onto - STUBS) / 0x1000], 0);
	if (stub_error != 0)
		*why = "no room for its code";
	tp->before = (uint8_t)(tp->addr - window->insn[0].addr);
	return stub_error;
}

static uint64_t
double_stub_at(const struct tracepoint *tp)
{
	size_t i = (size_t)(tp - tps);

	return stubs[i] != 0 ? STUBS + 0x1000 * i : 0;
}

static int
double_flush(void)
{
	flushes++;
	return flush_error;
}

static void
double_jumps(struct tracepoint *const *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		/* Never before its stub is in the target. */
		ck_assert_uint_gt(flushes, 0);
		ck_assert_uint_gt(stubs[at[i] - tps], 0);
		ck_assert(i == 0 || at[i - 1]->addr < at[i]->addr);
		raised[at[i] - tps]++;
		at[i]->jumps = jump_error == 0;
		for (uint64_t to = onto[at[i] - tps]; to != 0;) {
			size_t k = (to - STUBS) / 0x1000;
			tps[k].jumps = tps[k].rides = jump_error == 0;
			to = onto[k];
		}
	}
}

static enum slot_place
double_leave(const struct uregs *regs, struct tracepoint **tp)
{
	if (slot_pc == 0 || regs->r[UREG_PC] != slot_pc)
		return SLOT_OUTSIDE;
	*tp = !slot_knows ? NULL : slot_tp != NULL ? slot_tp : &tps[0];
	return SLOT_AFTER;
}

static bool
in_stub(uint64_t pc)
{
	return stub_pc == 0 || pc == stub_pc;
}

static unsigned
double_leads(const uint64_t **at)
{
	*at = stub_leads;
	return ARRAY_SIZE(stub_leads);
}

static struct tracepoint *
double_lookup(uint64_t addr)
{
	for (unsigned i = 0; i < n_tps; i++)
		if (tps[i].addr == addr)
			return &tps[i];
	return NULL;
}

static uint64_t removed; /* an int3 was here */

/* ---- the code ---- */

static struct load file = { .bias = BIAS, .end = BIAS + 0x9000 };
static struct load *load;
static bool is_go, is_piece, unnamed, has_fde;
static struct sym funcs[2];
static uint64_t owner; /* of all code; 0: it is not known */
static struct fde entry;
static uint64_t led_to; /* a file address; 0: none */
static const struct sym *sym_here;
static uint64_t bodies_start, bodies_end, limit;
static int bodies_error, window_error;
static unsigned windows; /* window_find() calls */
static unsigned n_insns, n_before;

static struct go_func go_here = { .calls = GO_REGISTERS, .alike = true };
static bool on_goroutines = true, parked_known = true;
static enum insn_kind kind_here; /* of the instruction at each place */
static uint64_t leads_here;

static int
double_decode(struct insn *in)
{
	*in = (struct insn){ .kind = kind_here, .target = leads_here };
	return 0;
}

static const struct sym *
double_code_at(uint64_t addr)
{
	for (size_t i = 0; owner != 0 && i < ARRAY_SIZE(funcs); i++)
		if (addr == funcs[i].addr)
			return &funcs[i];
	return sym_here;
}

static int
double_owner(uint64_t *start)
{
	*start = owner;
	return owner != 0 ? 0 : -ENOENT;
}

static bool
double_lead_between(uint64_t from, uint64_t to)
{
	return led_to > from && led_to < to;
}

static int
double_bodies(uint64_t start, uint64_t end, bool exits)
{
	ck_assert(!exits);
	bodies_start = start;
	bodies_end = end;
	return bodies_error;
}

static bool window_is_call; /* its last instruction */
static bool short_window;   /* there is one of two bytes */
static uint64_t board_here; /* near it; 0: none */

static int
double_window(struct window *w, uint64_t lim, uint64_t addr, unsigned bytes,
    const char **why)
{
	if (bytes == TRAP_SHORT_LEN && short_window) {
		w->n = 1;
		w->insn[0] = (struct insn){ .addr = addr, .len = 2 };
		w->next = addr + 2;
		return 0;
	}
	ck_assert(bytes == TRAP_JUMP_LEN || bytes == TRAP_SHORT_LEN);
	windows += bytes == TRAP_JUMP_LEN;
	limit = lim;
	if (window_error != 0) {
		*why = "a jump goes into it";
		return window_error;
	}
	/* Instructions of two bytes each. */
	w->n = n_insns;
	w->site = n_before;
	for (unsigned i = 0; i < n_insns; i++)
		w->insn[i] = (struct insn){ .addr = addr + 2 * i - 2 * n_before,
			.len = 2 };
	if (window_is_call)
		w->insn[n_insns - 1].kind = INSN_CALL;
	w->next = addr + 2 * n_insns - 2 * n_before;
	return 0;
}

static uint64_t sequence; /* an address in one, or 0 */
#define sequences_contain(q, sp, l, from, to) \
	((void)(q), sequence >= (from) && sequence < (to))
#define sequences_end(q) ((void)(q))

static const char *kept_why; /* by windows_keep() */
static bool shadow_stack;
static int
double_status(struct proc_status *ps)
{
	ps->shadow_stack = shadow_stack;
	return 0;
}
#define procfs_status(pid, ps) double_status(ps)

static const char *not_inside;
static struct inside inside_seen;

static bool
double_inside(const struct inside *in, struct str *why)
{
	inside_seen = *in;
	if (not_inside != NULL)
		str_add(why, not_inside);
	else
		str_add(why, "nothing that counts");
	return not_inside == NULL;
}

/* ---- threads ---- */

static uint64_t pcs[2], stacks[2];
static bool fires;   /* the threads are in the middle of a firing */
static bool is_away; /* on the stacks of their lanes */
static struct uregs its_regs;
static int pc_error, maps_error, siginfo_error;
static siginfo_t info;
static struct map stack_map = { .start = 0x7000, .end = 0x7000 };
static uint64_t stack_words[2048]; /* from 0x7000 on */
static unsigned stack_reads;
static int read_error;
static struct thread threads[2];

static int
double_pc(struct thread *th, uint64_t *pc, uint64_t *at)
{
	*pc = pcs[th - threads];
	*at = stacks[th - threads];
	return pc_error;
}

static int
double_siginfo(siginfo_t *si)
{
	*si = info;
	return siginfo_error;
}

static const struct map *
double_map(uint64_t addr)
{
	return addr >= stack_map.start && addr < stack_map.end ? &stack_map :
								 NULL;
}

static int
read_stack(void *ctx, uint64_t addr, void *buf, size_t len)
{
	stack_reads++;
	if (addr - 0x7000 + len <= sizeof(stack_words))
		memcpy(buf, (char *)stack_words + (addr - 0x7000), len);
	else
		memset(buf, 0, len);
	return read_error;
}

/* Shared code returns to where the word on top of the stack leads. */
static uint64_t
double_back(uint64_t pc, uint64_t sp)
{
	return pc == shared_pc ? stack_words[(sp - 0x7000) / 8] : pc;
}

/* The stacks of goroutines that no thread runs. */
static uint64_t parked[2];
static bool parked_whole;
static int parked_error;
static uint64_t its_stack_end; /* of each thread */

static int
double_parked(void (*fn)(void *, const struct go_part *), void *ctx)
{
	const struct go_part part = { parked[0], parked[1], parked_whole };

	if (parked[0] != 0)
		fn(ctx, &part);
	return parked_error;
}

static struct proc procs[2];
static struct space spaces[2];
static timer_fn timer;
static uint64_t timer_ns, timer_next;

static struct proc *
double_next(struct proc *p)
{
	size_t i = p == NULL ? 0 : (size_t)(p - procs) + 1;

	return i < ARRAY_SIZE(procs) ? &procs[i] : NULL;
}

static void
double_add(uint64_t ns, timer_fn fn)
{
	timer_ns = ns;
	timer = fn;
}

#define fast_is_on(st)                           is_on
#define fast_is_auto(st)                         is_auto
#define fast_world(sp)                           (has_world ? &code_world : NULL)
#define fast_space(st, sp)                       double_space()
#define fast_map(st, sp)                         double_space()
#define fast_why(sp)                             memory_why
#define fast_has_clock(sp)                       with_clock
#define fast_image(st)                           ((struct region){ .base = NULL, .size = 77 })
#define fast_start(st, image, size)              ((void)starts++)
#define fast_note(st, why, trapped)              double_note(why, trapped)
#define space_stop(sp)                           ((void)stops++)
#define space_resume(sp)                         ((void)resumes++)
#define tracepoint_next(tab, tp)                 double_tp_next(tp)
#define tracepoint_lookup(tab, at)               ((void)(tab), double_lookup(at))
#define tracepoint_lower(tab, tp)                double_lower(tp)
#define text_is_trapped(tab, at)                 ((at) == removed || double_lookup(at) != NULL)
#define tracepoint_lower_all(t, s, e)            double_lower_all(s, e)
#define fast_body(st, sp, id, body)              ((body)->row = 0)
#define tracepoint_stub(t, tp, world, b, w, why) double_stub(tp, world, w, why)
#define tracepoints_jump(tab, at, n)             double_jumps(at, n)
#define stubs_reserve(tab, at, n) \
	str_printf(&reserved, "%llx*%zu ", (unsigned long long)(at), n)
#define tracepoint_stub_at(tp)      double_stub_at(tp)
#define tptable_traps(tab)          ((void)(tab), NULL)
#define trapset_area(ts)            list_area
#define stubs_flush(tab)            double_flush()
#define resume_stub_at(tab, pc)     (in_stub(pc) ? stub_at : NULL)
#define resume_stub_pc(tab, pc, sp) double_back(pc, sp)
#define resume_stub_leads(t, pc, a) (in_stub(pc) ? double_leads(a) : 0)
#define resume_stub_onto(tab, pc)   ((void)(pc), UINT64_C(0))
#define resume_leave_slot(t, r, tp) double_leave(r, tp)
#define object_is_go(o)             is_go
#define go_func(o, addr, name)      go_here
#define go_parked_known(o)          parked_known
#define go_parked(as, mem, fn, ...) double_parked(fn, __VA_ARGS__)
#define go_stack_end(as, mem, regs) ((void)(regs), its_stack_end)
#define stub_on_goroutines()        on_goroutines
#define insn_decode(p, n, at, in)   double_decode(in)
#define go_there(as)                is_go
#define object_code_at(o, addr)     double_code_at(addr)
#define object_fde_at(o, addr)      ((void)(addr), has_fde ? &entry : NULL)
#define object_is_piece(o, name)    (is_piece && (name)[0] != 'f')
#define object_is_unnamed(s)        unnamed
#define addrspace_load_at(as, addr) load
#define bodies_find(st, mem, l, start, end, exits, b) \
	double_bodies(start, end, exits)
#define bodies_owner(st, o, addr, out)       double_owner(out)
#define bodies_lead_between(st, o, from, to) double_lead_between(from, to)
#define window_find(w, b, mem, limit, addr, bytes, why) \
	double_window(w, limit, addr, bytes, why)
/* Nothing is known before. */
#define windows_known(st, sp, l, addr, w, why) ((void)(why), false)
#define windows_keep(st, l, addr, w, why)      ((void)(kept_why = (why)))
#define boards_find(st, sp, l, addr, q, own)   ((void)(addr), board_here)
#define inside_tracepoint(in, id, why)         double_inside(in, why)
#define thread_pc                              double_pc
#define fast_fires(th)                         ((void)(th), fires || is_away)
#define fast_is_away(th)                       ((void)(th), is_away)
#define thread_regs(th)                        ((void)(th), &its_regs)
#define thread_siginfo(th, si)                 double_siginfo(si)
#define maps_read(pid, out)                    maps_error
#define maps_at(maps, addr)                    double_map(addr)
#define super_next(s, p)                       double_next(p)
#define timer_add(ts, ns, fn, arg)             double_add(ns, fn)
#define timer_set_next(ts, fn, arg, ns)        ((void)(fn), timer_next = (ns))
#define timer_now()                            UINT64_C(1000)

#endif
