/*
 * tracer/fire/ hit, stray and trail: whose a trap is, which probes it fires, and
 * where the thread goes on.  The tracepoints are those of inject/, in a target of
 * byte arrays; ptrace and the VM are doubles, so the files themselves are read in
 * below.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/fault.h"
#include "dlang/vm/ecb.h"
#include "inject/resume.h"
#include "inject/tracepoint_impl.h"
#include "inject/trap/area.h"
#include "inject/trapset.h"
#include "symbols/addrspace.h"
#include "t/fake/target.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/fast/fast.h"
#include "tracer/fire/deadman.h"
#include "tracer/fire/eval.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/stores.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/processor.h"
#include "tracer/sites/jumps.h"
#include "tracer/sites/sigwatch.h"
#include "tracer/sites/site.h"

#define TEXT UINT64_C(0x7f0000000000)
#define SP   UINT64_C(0x7ffd00001000)
#define ID   7

static siginfo_t info;         /* the signal that has stopped the thread */
static bool blocked;           /* SIGTRAP is, in the thread */
static bool tells, is_reset;   /* sigtrap_tells(), and what it tells */
static unsigned mended;        /* thread_mend_sigtrap() calls */
static unsigned commits;       /* sites_commit() calls */
static unsigned fired, atsite; /* ecb_fire_...() calls */
static uint32_t rest_site, rest_ecb;
static uint64_t rest_pc, rest_time; /* as they are during ecb_fire_rest() */
static bool within;                 /* ... and what eval_begin() was told */
static struct tracepoint *asks;     /* the thread is in ask() of its stub */
static struct fast_rest rest;       /* what it asks for, if site_ref is not 0 */
static bool answers;                /* else the tracer can answer */
static unsigned rested, refused;    /* fast_rested(), jumps_asked() calls */
static bool wanted = true;          /* by option cpu */

static int
double_siginfo(struct thread *th, siginfo_t *si)
{
	*si = info;
	return 0;
}

static int
double_set_siginfo(struct thread *th, const siginfo_t *si)
{
	info = *si;
	return 0;
}

static bool
double_tells(struct thread *th, bool *reset)
{
	*reset = is_reset;
	return tells;
}

static struct tracepoint *let; /* jumps_let(); jumps_lower(): at 0 */
static uint64_t let_at;
static bool was_called, lets_signals, is_away;

static void
double_let(struct tracepoint *tp, uint64_t at)
{
	let = tp;
	let_at = at;
}

static uint64_t instead_pc; /* at thread_fault() */
static bool instead_known;  /* its registers were marked as changed by then */

static void
double_fault(struct thread *th, int sig, int code, uint64_t addr)
{
	instead_pc = th->regs.user.r[UREG_PC];
	instead_known = th->regs.state == REGS_CHANGED;
	info = (siginfo_t){ .si_signo = sig, .si_code = code };
	info.si_addr = (void *)(uintptr_t)addr;
}

/* The registers are written then: no jump may be where the thread goes on. */
static void
double_let_signals(const struct thread *th)
{
	ck_assert_ptr_nonnull(let);
	ck_assert_uint_eq(th->regs.user.r[UREG_PC], let_at);
	ck_assert(th->regs.state == REGS_CHANGED);
}

static bool
double_asks_rest(struct thread *th, struct fast_rest *asked)
{
	*asked = rest;
	return rest.site_ref != 0;
}

static void double_rest(struct vm_env *env, uint32_t site, uint32_t ecb);

#define thread_siginfo               double_siginfo
#define thread_set_siginfo           double_set_siginfo
#define sigtrap_tells                double_tells
#define sigtrap_blocked(th)          blocked
#define thread_mend_sigtrap(th)      ((void)mended++)
#define thread_at_watch(th)          false
#define sigwatch_delivered(th)       ((void)0)
#define ecb_fire_tracepoint(env, id) ((void)(fired += (id) == ID))
#define ecb_fire_site(env, ref)      ((void)(atsite += (ref)))
#define fire_wants_cpu(st, th)       wanted
#define ecb_fire_rest                double_rest
#define fast_is_on(st)               true
#define resume_stub_asks(tab, addr)  asks
#define fast_asks_rest               double_asks_rest
#define fast_answer(th)              answers
#define fast_rested(st)              ((void)rested++)
#define jumps_asked(sp, tp)          ((void)refused++)
#define eval_begin(f, st, th, about) ((void)(f), within = (about).within)
#define eval_end(f)                  ((void)(f))
#define processor_hit(pr, th, at)    ((void)0)
#define fire_after(st)               ((void)0)
#define sites_commit(st, sp)         ((void)commits++)
#define deadman_fired(st, probe)     ((void)0)
#define jumps_let(st, sp, tp, pc)    ((void)(st), (void)(sp), double_let(tp, pc))
#define jumps_lower(sp, tp)          ((void)(sp), double_let(tp, 0))
#define fast_was_called(th)          was_called
#define fast_is_away(th)             ((void)(th), is_away)
#define fast_keeps_signals(th)       lets_signals
#define fast_let_signals             double_let_signals
#define thread_fault                 double_fault
#include "tracer/fire/hit.c"
#include "tracer/fire/hit_signal.c"
#include "tracer/fire/stray.c"
#include "tracer/fire/trail.c"

static struct fake_target ft;
static struct tptable *tab;
static struct state st;
static struct stores stores;
static struct deadman deadman;
static struct space space;
static struct proc proc;
static struct thread th;
static struct tp_user user;
static struct image_site image[2];
static struct site sites[2];

static void
setup(void)
{
	fake_target_init(&ft);
	struct fake_region *r = fake_target_map(&ft, TEXT, 4096);
	memset(r->bytes, 0x55, 4096); /* push %rbp, over and over */
	tab = tptable_create(&ft.target);
	tracepoint_unlisted(tab);
	st.deadman = &deadman;
	st.stores = &stores;
	stores.store_mem.base = r->bytes;
	space.tab = tab;
	proc.space = &space;
	th.proc = &proc;
	th.stop.state = TH_STOPPED;
	th.regs.state = REGS_KNOWN;
	info.si_signo = SIGTRAP;
	info.si_code = SI_KERNEL;
	for (size_t i = 0; i < ARRAY_SIZE(sites); i++) {
		sites[i].image = &image[i];
		image[i].ref = i == 0 ? 1 : 100;
	}
	user.sites = &sites[0];
}

static void
teardown(void)
{
	parts_end(&th.parts);
	parts_end(&space.parts);
	tptable_destroy(tab);
	fake_target_fini(&ft);
}

static struct tracepoint *
arm(uint64_t addr, const char *bytes, size_t n)
{
	struct tracepoint *tp;
	const char *why = "";

	memcpy(fake_target_at(&ft, addr), bytes, n);
	ck_assert_msg(tracepoint_get(tab, addr, ID, &tp, &why) == 0, "%s", why);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
	tp->user = &user;
	return tp;
}

static void
disarm(struct tracepoint *tp)
{
	tp->user = NULL;
	tracepoint_put(tab, tp);
	ck_assert_uint_eq(tracepoint_commit(tab, NULL, NULL), 0);
}

/* The thread stops at an int3 that lies at addr. */
static bool
trap(uint64_t addr, uint64_t sp)
{
	th.regs.user.r[UREG_RIP] = th.regs.kernel_pc = addr + 1;
	th.regs.user.r[UREG_RSP] = sp;
	th.regs.state = REGS_KNOWN;
	th.stop.sig = 0;
	return hit_trap(&st, &th);
}

static uint64_t
pc(void)
{
	return th.regs.user.r[UREG_RIP];
}

START_TEST(a_hit_fires_and_goes_on_in_the_slot)
{
	struct tracepoint *tp = arm(TEXT, "\x55", 1);

	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 1);
	ck_assert_uint_eq(pc(), tp->slot);
	ck_assert(th.regs.into_slot);
	ck_assert(th.regs.state == REGS_CHANGED);
	ck_assert_int_eq(th.stop.sig, 0);
	ck_assert_uint_eq(mended, 1);
	/* Not on the processor that the user has named: it runs on alike. */
	wanted = false;
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 1);
	ck_assert_uint_eq(pc(), tp->slot);
	wanted = true;
	/* Nor without a place for records. */
	stores.store_mem.base = NULL;
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 1);
}
END_TEST

/* A clause that runs in the target asks the vDSO for the time. */
START_TEST(what_dtrap_has_called_fires_nothing)
{
	struct tracepoint *tp = arm(TEXT, "\x55", 1);

	is_away = true;
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 0);
	ck_assert_uint_eq(pc(), tp->slot);
	is_away = false;
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 1);
}
END_TEST

/* A nop needs no slot, and the trap has left the pc behind it: nothing is
 * written. */
START_TEST(a_nop_costs_no_registers)
{
	arm(TEXT, "\x90", 1);
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 1);
	ck_assert_uint_eq(pc(), TEXT + 1);
	ck_assert(th.regs.state != REGS_CHANGED);
	ck_assert(!th.regs.into_slot);
	/* One of two bytes: the pc has to move. */
	arm(TEXT + 0x20, "\x66\x90", 2);
	ck_assert(trap(TEXT + 0x20, SP));
	ck_assert_uint_eq(pc(), TEXT + 0x22);
	ck_assert(th.regs.state == REGS_CHANGED);
}
END_TEST

/* Two threads ran into it, and the first one's hit has taken it away. */
START_TEST(a_trap_that_arrives_late_is_made_undone)
{
	disarm(arm(TEXT, "\x55", 1));
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 0);
	ck_assert_uint_eq(pc(), TEXT);
	ck_assert(th.regs.state == REGS_CHANGED);
	ck_assert_int_eq(th.stop.sig, 0);
	ck_assert_uint_eq(mended, 1);
}
END_TEST

START_TEST(the_programs_own_int3_is_its_own)
{
	struct tracepoint *tp;

	/* Where nothing of ours is or was. */
	arm(TEXT, "\x55", 1);
	*fake_target_at(&ft, TEXT + 8) = 0xcc;
	ck_assert(trap(TEXT + 8, SP));
	ck_assert_int_eq(th.stop.sig, SIGTRAP);
	ck_assert_uint_eq(pc(), TEXT + 9);
	ck_assert_uint_eq(fired, 0);
	/* In a process without tracepoints. */
	space.tab = NULL;
	ck_assert(trap(TEXT, SP));
	ck_assert_int_eq(th.stop.sig, SIGTRAP);
	ck_assert_uint_eq(pc(), TEXT + 1);
	space.tab = tab;
	/* Under ours: the probe fires, then the program has its trap. */
	tp = arm(TEXT + 16, "\xcc", 1);
	ck_assert(tp->was_trap);
	ck_assert(trap(TEXT + 16, SP));
	ck_assert_uint_eq(fired, 1);
	ck_assert_int_eq(th.stop.sig, SIGTRAP);
	ck_assert_uint_eq(pc(), TEXT + 17);
}
END_TEST

/* A trap that an earlier tracer has left in the process, which was killed. */
START_TEST(an_inherited_trap_is_nobodys)
{
	static const int codes[] = { TRAP_BRKPT, TRAP_TRACE, TRAP_HWBKPT,
		TRAP_HWBKPT };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		bool is_watch = codes[i] == TRAP_HWBKPT;
		info.si_code = codes[i];
		space.inherited = true;
		ck_assert(trap(TEXT + 8, SP));
		ck_assert_int_eq(th.stop.sig, is_watch ? 0 : SIGTRAP);
		space.inherited = false;
		ck_assert(trap(TEXT + 8, SP));
		ck_assert_int_eq(th.stop.sig, SIGTRAP);
	}
}
END_TEST

/* kill(pid, SIGTRAP) while the pc is one behind a tracepoint. */
START_TEST(a_stray_trap_fires_nothing)
{
	arm(TEXT, "\x55", 1);
	info.si_code = SI_USER;
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 0);
	ck_assert_int_eq(th.stop.sig, SIGTRAP);
	ck_assert_uint_eq(pc(), TEXT + 1);
	/* An int3 where SIGTRAP is blocked arrives as if it was sent. */
	blocked = true;
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 1);
	ck_assert_int_eq(th.stop.sig, 0);
	/* Where the handler tells more than the mask, it is believed. */
	tells = true;
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 1);
	ck_assert_int_eq(th.stop.sig, SIGTRAP);
	is_reset = true;
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 2);
	tells = is_reset = blocked = false;
	info.si_code = TRAP_BRKPT;
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 3);
	info.si_code = TRAP_TRACE;
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 3);
	/* Inside of a longer instruction no thread stops. */
	arm(TEXT + 0x20, "\x48\x89\xe5", 3);
	info.si_code = SI_USER;
	ck_assert(trap(TEXT + 0x20, SP));
	ck_assert_uint_eq(fired, 4);
	ck_assert_int_eq(th.stop.sig, 0);
}
END_TEST

/* A signal comes before the instruction in the slot has run: the program sees
 * its own pc, and the trap that comes after the handler fires nothing. */
START_TEST(a_signal_in_the_slot_does_not_fire_twice)
{
	struct tracepoint *tp = arm(TEXT, "\x55", 1);

	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 1);
	th.stop.sig = SIGUSR1;
	hit_signal(&st, &th);
	ck_assert_uint_eq(pc(), TEXT);
	/* The handler comes by, further down the stack. */
	ck_assert(trap(TEXT, SP - 800));
	ck_assert_uint_eq(fired, 2);
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 2);
	ck_assert_uint_eq(pc(), tp->slot);
	/* That was the second trap; the next is a hit. */
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 3);
	/* Left for good, by longjmp(): a hit further up is none of that. */
	hit_signal(&st, &th);
	ck_assert(trap(TEXT, SP + 64));
	ck_assert_uint_eq(fired, 4);
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 5);
	/* After the instruction: it will not trap again. */
	th.regs.user.r[UREG_RIP] = tp->slot + 1;
	hit_signal(&st, &th);
	ck_assert_uint_eq(pc(), TEXT + 1);
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(fired, 6);
	/* Outside of slots nothing is changed. */
	th.regs.user.r[UREG_RIP] = TEXT + 0x100;
	th.regs.state = REGS_KNOWN;
	hit_signal(&st, &th);
	ck_assert_uint_eq(pc(), TEXT + 0x100);
	ck_assert(th.regs.state != REGS_CHANGED);
}
END_TEST

/* The address that a handler reads is one of the program's text. */
START_TEST(a_fault_in_the_slot_names_the_programs_place)
{
	struct tracepoint *tp = arm(TEXT, "\x0f\x0b", 2); /* ud2 */

	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(pc(), tp->slot);
	th.stop.sig = SIGILL;
	info = (siginfo_t){ .si_signo = SIGILL, .si_code = ILL_ILLOPN };
	info.si_addr = (void *)(uintptr_t)tp->slot; /* NOLINT */
	hit_signal(&st, &th);
	ck_assert_uint_eq((uintptr_t)info.si_addr, TEXT);
	/* One that was sent carries no address. */
	ck_assert(trap(TEXT, SP - 8));
	th.stop.sig = SIGILL;
	info = (siginfo_t){ .si_signo = SIGILL, .si_code = SI_USER };
	info.si_addr = (void *)(uintptr_t)tp->slot; /* NOLINT */
	hit_signal(&st, &th);
	ck_assert_uint_eq((uintptr_t)info.si_addr, tp->slot);
}
END_TEST

/* The code of a site whose window begins two instructions before it. */
static const struct stub *
code_of(struct tracepoint *tp)
{
	static const struct stub_world world;
	struct window w = { .n = 5, .next = tp->addr + 3, .site = 2 };
	const char *why = "";

	for (unsigned i = 0; i < w.n; i++)
		ck_assert_int_eq(insn_decode((const uint8_t *)"\x55", 1,
				     tp->addr - 2 + i, &w.insn[i]),
		    0);
	ck_assert_int_eq(trapset_map(tptable_traps(tab), TEXT), 0);
	ck_assert_msg(
	    tracepoint_stub(tab, tp, &world, NULL, &w, &why) == 0, "%s", why);
	return &entry_of(tp)->stub;
}

/* Whoever leaves the code for the program's text says where, so that the program's
 * bytes are there. */
START_TEST(a_signal_in_the_code_of_a_site)
{
	struct tracepoint *tp = arm(TEXT + 0x40, "\x55", 1);
	const struct stub *s = code_of(tp);
	const struct {
		uint64_t at, text;
	} rows[] = {
		{ s->addr, tp->addr - 2 },
		{ s->addr + 1, tp->addr - 1 },
		{ s->addr + s->begin, tp->addr },
		{ s->addr + s->displaced[2], tp->addr },
		{ s->addr + s->displaced[4], tp->addr + 2 },
		{ s->addr + s->displaced[5], tp->addr + 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		th.regs.user.r[UREG_RIP] = rows[i].at;
		th.stop.sig = SIGUSR1;
		let = NULL;
		hit_signal(&st, &th);
		ck_assert_uint_eq(pc(), rows[i].text);
		ck_assert_ptr_eq(let, tp);
		ck_assert_uint_eq(let_at, rows[i].text);
	}
	/* It steps from instruction to instruction. */
	th.regs.user.r[UREG_RIP] = s->addr;
	th.stop.sig = SIGTRAP;
	hit_signal(&st, &th);
	ck_assert_uint_eq(pc(), tracepoint_start(tp));
	ck_assert_uint_eq(let_at, 0);
	/* In the middle of a firing it stays where it is. */
	let = NULL;
	th.regs.user.r[UREG_RIP] = s->addr + s->busy;
	hit_signal(&st, &th);
	ck_assert_uint_eq(pc(), s->addr + s->busy);
	ck_assert_ptr_null(let);
}
END_TEST

/* The tracer had asked for a trap when the firing is over, for a signal. */
START_TEST(a_signal_that_had_to_wait_for_a_firing)
{
	struct tracepoint *tp = arm(TEXT + 0x40, "\x55", 1);
	const struct stub *s = code_of(tp);

	was_called = lets_signals = true;
	ck_assert(trap(s->addr + s->trap, SP));
	ck_assert_uint_eq(fired, 0);
	ck_assert_uint_eq(pc(), tp->addr);
	ck_assert_ptr_eq(let, tp);
	ck_assert_uint_eq(let_at, tp->addr);
	/* None is left: it goes on in the code. */
	lets_signals = false;
	let = NULL;
	tp->jumps = true;
	ck_assert(trap(s->addr + s->trap, SP));
	ck_assert_uint_eq(pc(), s->addr + s->displaced[s->first]);
	ck_assert_ptr_null(let);
	tp->jumps = false;
}
END_TEST

/* A jump through a bad pointer faults where it stands. */
START_TEST(a_jump_through_a_bad_pointer_faults_at_the_jump)
{
	struct tracepoint *tp = arm(TEXT + 0x40, "\xff\xe0", 2);

	th.regs.user.r[UREG_RAX] = UINT64_C(1) << 60;
	ck_assert(trap(tp->addr, SP));
	ck_assert_uint_eq(fired, 1);
	ck_assert_int_eq(info.si_signo, SIGSEGV);
	ck_assert_ptr_null(info.si_addr);
	/* The registers were final, and marked, when the signal was set. */
	ck_assert_uint_eq(instead_pc, tp->addr);
	ck_assert(instead_known);
	ck_assert_uint_eq(pc(), tp->addr);
}
END_TEST

/* A jump of a function to its own begin is no call: an entry probe there does
 * not fire for it, and the thread is spared the trap where nothing else would. */
START_TEST(a_loop_to_the_begin_is_no_call)
{
	struct tracepoint *entry = arm(TEXT, "\x55", 1), *jump;
	static struct tp_user at_jump;
	static struct site loop = { .when = SITE_LOOP };

	user.choosy = true;
	sites[0].when = SITE_ENTRY;
	at_jump =
	    (struct tp_user){ .sites = &loop, .choosy = true, .loops = true };
	jump = arm(TEXT + 0x20, "\xeb\xde", 2); /* jmp TEXT */
	jump->user = &at_jump;
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(atsite, 1);
	ck_assert(trap(TEXT + 0x20, SP));
	ck_assert_uint_eq(atsite, 1);
	ck_assert_uint_eq(pc(), entry->slot);
	/* With a probe there that every pass fires, it traps. */
	sites[1].when = SITE_ALWAYS;
	sites[0].next = &sites[1];
	ck_assert(trap(TEXT + 0x20, SP));
	ck_assert_uint_eq(pc(), TEXT);
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(atsite, 101);
	/* Once: the next to come calls it. */
	ck_assert(trap(TEXT, SP));
	ck_assert_uint_eq(atsite, 202);
	/* From elsewhere on the stack it is a call, too. */
	ck_assert(trap(TEXT + 0x20, SP));
	ck_assert(trap(TEXT, SP - 64));
	ck_assert_uint_eq(atsite, 303);
}
END_TEST

static unsigned order[4], told;
static bool keep, make, queued;

static void
before(struct state *s, struct thread *t, struct tracepoint *tp)
{
	order[0] = ++told;
	ck_assert_uint_eq(t->regs.user.r[UREG_RIP], tp->addr);
}

static bool
keeps(struct state *s, struct thread *t, struct tracepoint *tp)
{
	order[1] = ++told;
	return keep;
}

static bool
instead(struct thread *t, struct uregs *regs)
{
	order[2] = ++told;
	return make;
}

static bool
settled(struct space *sp)
{
	order[3] = ++told;
	return queued;
}

static unsigned undone_calls;

static void
undone(struct thread *t, const struct uregs *regs)
{
	undone_calls++;
}

START_TEST(arrivals_are_told_in_order)
{
	static const struct arrival all = { .before = before,
		.keeps = keeps,
		.instead = instead,
		.settled = settled,
		.undone = undone };
	static const struct arrival none;
	struct tracepoint *tp = arm(TEXT, "\x55", 1);

	user.arrivals[0] = &none;
	user.arrivals[1] = &all;
	ck_assert(trap(TEXT, SP));
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(order[i], i + 1);
	ck_assert_uint_eq(fired, 1);
	ck_assert_uint_eq(pc(), tp->slot);
	ck_assert_uint_eq(commits, 0);
	hit_signal(&st, &th);
	ck_assert_uint_eq(undone_calls, 1);
	/* What one of them has queued is committed. */
	queued = true;
	ck_assert(trap(TEXT, SP - 4));
	ck_assert_uint_eq(commits, 1);
	queued = false;
	/* Kept stopped. */
	keep = true;
	ck_assert(!trap(TEXT, SP - 8));
	keep = false;
	/* The instruction has been made in the thread's place. */
	make = true;
	order[3] = 0;
	ck_assert(trap(TEXT, SP - 16));
	ck_assert_uint_eq(pc(), TEXT + 1);
	ck_assert(th.regs.state == REGS_CHANGED);
	ck_assert_uint_eq(order[3], 0);
	/* A site without probes tells all the same. */
	user.sites = NULL;
	told = 0;
	make = false;
	ck_assert(trap(TEXT, SP - 24));
	ck_assert_uint_eq(told, 4);
	ck_assert_uint_eq(fired, 4);
}
END_TEST

static void
double_rest(struct vm_env *env, uint32_t site, uint32_t ecb)
{
	rest_site = site;
	rest_ecb = ecb;
	rest_pc = pc();
	rest_time = env->timestamp;
	ck_assert_ptr_eq(env, &st.env);
}

/* In the middle of a firing the thread asks for the actions of an ECB: they see
 * the registers of the site, and the thread goes on where it was. */
START_TEST(actions_within_a_firing)
{
	struct tracepoint *tp = arm(TEXT, "\x55", 1);

	asks = tp;
	th.regs.user.r[UREG_PC] = 0x1234;
	st.env.timestamp = 5;
	rest = (struct fast_rest){ .site_ref = 1, .ecb_ref = 9 };
	rest.regs.r[UREG_PC] = TEXT;
	mended = 0;
	ck_assert(hit_asks(&st, &th));
	ck_assert_uint_eq(rest_site, 1);
	ck_assert_uint_eq(rest_ecb, 9);
	ck_assert_uint_eq(rest_pc, TEXT);
	ck_assert_uint_eq(rest_time, 5);
	ck_assert(within);
	ck_assert_uint_eq(rested, 1);
	ck_assert_uint_eq(pc(), 0x1234);
	ck_assert_uint_eq(mended, 1);
	rest.timestamp = 77;
	ck_assert(hit_asks(&st, &th));
	ck_assert_uint_eq(rest_time, 77);
	/* A site of another tracepoint. */
	rest_site = 0;
	rest.site_ref = 100;
	ck_assert(hit_asks(&st, &th));
	ck_assert_uint_eq(rest_site, 0);
	ck_assert_uint_eq(rested, 2);
	/* It asks for memory. */
	rest.site_ref = 0;
	answers = true;
	ck_assert(hit_asks(&st, &th));
	ck_assert_uint_eq(refused, 0);
	answers = false;
	ck_assert(hit_asks(&st, &th));
	ck_assert_uint_eq(refused, 1);
	/* It is elsewhere. */
	asks = NULL;
	ck_assert(!hit_asks(&st, &th));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_hit_fires_and_goes_on_in_the_slot,
		what_dtrap_has_called_fires_nothing,
		a_nop_costs_no_registers,
		a_trap_that_arrives_late_is_made_undone,
		the_programs_own_int3_is_its_own,
		an_inherited_trap_is_nobodys,
		a_stray_trap_fires_nothing,
		a_signal_in_the_slot_does_not_fire_twice,
		a_fault_in_the_slot_names_the_programs_place,
		a_signal_in_the_code_of_a_site,
		a_signal_that_had_to_wait_for_a_firing,
		a_jump_through_a_bad_pointer_faults_at_the_jump,
		a_loop_to_the_begin_is_no_call,
		arrivals_are_told_in_order,
		actions_within_a_firing,
	};

	return suite_run("hit", setup, teardown, tests, ARRAY_SIZE(tests));
}
