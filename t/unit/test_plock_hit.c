/*
 * tracer/prov/plock/ plock_arm and plock_hit: where the tracepoints of an event
 * are, and what fires when a thread comes there, from its registers and its
 * memory.  Two lock functions at made-up addresses, in a made-up C library.
 */
#include <check.h>
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "dlang/base/machine.h"
#include "dlang/base/str.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "symbols/unwind.h"
#include "t/unit/suite.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fire/fire.h"
#include "tracer/fire/hit.h"
#include "tracer/fire/moments.h"
#include "tracer/fire/stack.h"
#include "tracer/prov/plock/plock_impl.h"
#include "tracer/prov/plock/plock_mem.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/processor.h"
#include "tracer/sites/site.h"

#define LOCK  UINT64_C(0x5000) /* a mutex, and other objects */
#define STACK UINT64_C(0x6000)
#define MEM_N 0x3000U
#define LIB   UINT64_C(0x70000)
#define RA    UINT64_C(0x401234) /* in the program */
#define SELF  UINT64_C(0x9999)   /* pthread_self() */

/* Offsets in the code of each function. */
enum { PAUSE = 8, WAIT = 16, RET = 40, TAIL_RET = 48, CODE = 64 };

static struct state state;
static struct space space, child_space;
static struct proc proc;
static struct thread thread, second;
static struct uregs its_regs;
static bool dead;
static uint8_t memory[MEM_N];
static struct plock_space *lib;
static struct plock_fn bodies[64]; /* of each row */
static struct probe probes[64][PLOCK_EVENTS];
static bool unwanted;
static struct str fired;
static unsigned hits;

/* Tracepoints. */
static struct tracepoint tracepoints[64];
static unsigned n_tracepoints;
static uint64_t no_tracepoint; /* there can be none */
static unsigned told, failed, commits, warmed;
static const struct arrival *tells;
/* Of the thread. */
static uint64_t frames[12];
static size_t n_frames;
static uint64_t watched;
static int watch_error;
static unsigned lost;
static watch_fn on_watch;
static moment_fn moments[EV_GONE + 1];

static int
double_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	if (addr < LOCK || addr - LOCK > MEM_N - len)
		return -EFAULT;
	memcpy(buf, memory + (addr - LOCK), len);
	return 0;
}

static struct tracepoint *
double_tracepoint(uint64_t addr, const char **why)
{
	if (addr == no_tracepoint) {
		*why = "because";
		return NULL;
	}
	struct tracepoint *tp = &tracepoints[n_tracepoints++];
	tp->addr = addr;
	return tp;
}

static void
double_reach(uint64_t start, plock_fns *out)
{
	*vec_push(out) = &bodies[(start - LIB) / CODE];
}

static size_t
double_stack(uint64_t *out, size_t most)
{
	ck_assert_uint_ge(most, n_frames);
	memcpy(out, frames, n_frames * sizeof(frames[0]));
	return n_frames;
}

static int
double_watch(struct thread *th, uint64_t addr)
{
	if (watch_error == 0)
		th->regs.watch = watched = addr;
	return watch_error;
}

static void
double_fire(const struct probe *p, const uint64_t *words, unsigned n)
{
	ck_assert_uint_eq(n, 3);
	str_printf(&fired, "%s %lx %lx %lx, ", p->name, (long)words[0],
	    (long)words[1], (long)words[2]);
}

static bool
double_tell_watch(watch_fn fn)
{
	bool first = on_watch == NULL;

	on_watch = fn;
	return first;
}

static void
double_unwind(const struct uregs *regs, const uint64_t *out)
{
	ck_assert_uint_ge(regs->r[UREG_PC], LIB);
	ck_assert_ptr_nonnull(out);
	warmed++;
}

#define plock_space_create(as, text)  lib
#define plock_code_reach(pc, a, out)  double_reach(a, out)
#define space_unwinder(sp)            NULL
#define unwind(u, r, mem, pcs, n)     double_unwind(r, pcs)
#define site_tracepoint(st, sp, a, w) double_tracepoint(a, w)
#define site_failed(st, p, a, why)    failed++
#define site_tell(tp, a)              (tells = (a), told++)
#define site_probed(sp)               ((sp)->probed = true)
#define sites_commit(st, sp)          commits++
#define thread_regs(th)               (dead ? NULL : &its_regs)
#define thread_watch(th, addr)        double_watch(th, addr)
#define thread_watch_lost(th)         lost++
#define stack_user(th, out, n)        double_stack(out, n)
#define fire_wants_proc(st, p)        !unwanted
#define fire_probe(st, p, th, w, n)   double_fire(p, w, n)
#define processor_hit(p, th, now)     hits++
#define hit_tell_watch(st, fn)        double_tell_watch(fn)
#define moments_subscribe(s, e, f, a) (moments[e] = (f))
#include "tracer/prov/plock/plock_arm.c"
#include "tracer/prov/plock/plock_hit.c"

static const struct plock_lib glibc = { .mutex_word = 0 };

static size_t
row_of(const char *func)
{
	size_t i = 0;

	while (strcmp(plock_rows[i].func, func) != 0)
		i++;
	return i;
}

static void
put(uint64_t addr, uint64_t value, size_t size)
{
	memcpy(memory + (addr - LOCK), &value, size);
}

static void
setup(void)
{
	static struct load load = { .start = LIB, .end = LIB + 0x10000 };

	lib = mem_zalloc(sizeof(*lib));
	lib->refs = 1;
	lib->load = &load;
	lib->lib = &glibc;
	lib->unwinds = true;
	lib->arrival = &plock_arrival;
	lib->funcs = mem_zalloc(plock_nrows * sizeof(lib->funcs[0]));
	for (size_t i = 0; i < plock_nrows; i++) {
		struct plock_fn *fn = &bodies[i];
		uint64_t at = LIB + i * CODE;

		lib->funcs[i].start = fn->start = at;
		fn->end = at + CODE;
		*vec_push(&fn->rets) = at + RET;
		*vec_push(&fn->rets) = at + TAIL_RET;
		*vec_push(&fn->pauses) = at + PAUSE;
		*vec_push(&fn->waits) =
		    (struct plock_site){ at + WAIT, PLOCK_SYSCALL };
		*vec_push(&lib->funcs[i].body) = fn;
		for (int e = 0; e < PLOCK_EVENTS; e++)
			probes[i][e].name = plock_names[e].name;
	}
	space.mem.read = double_read;
	space.text = space.mem;
	proc.space = &space;
	thread.proc = second.proc = &proc;
	its_regs.r[UREG_SP] = STACK;
	its_regs.r[UREG_THREAD] = SELF;
	ck_assert_ptr_null(plock_of(&space));
	ck_assert_ptr_eq(plock_space(&space), lib);
	ck_assert_ptr_eq(plock_space(&space), lib);
	ck_assert_ptr_eq(plock_of(&space), lib);
}

static void
teardown(void)
{
	parts_end(&thread.parts);
	parts_end(&second.parts);
	parts_end(&space.parts);
	for (size_t i = 0; i < plock_nrows; i++) {
		vec_fini(&bodies[i].rets);
		vec_fini(&bodies[i].pauses);
		vec_fini(&bodies[i].waits);
	}
	str_fini(&fired);
}

static void
arm_event(const char *func, enum plock_event event)
{
	size_t row = row_of(func);

	plock_arm(&state, &space, &probes[row][event], row, event);
}

/* All events of the function. */
static void
arm_all(const char *func)
{
	uint32_t events = plock_events_of(plock_rows[row_of(func)].verb);

	for (int e = 0; e < PLOCK_EVENTS; e++)
		if ((events & PLOCK_BIT(e)) != 0)
			arm_event(func, e);
}

/* Where the function has tracepoints: "entry wait ". */
static const char *
traps(const char *func)
{
	static char text[80];
	uint64_t at = LIB + row_of(func) * CODE;
	static const struct {
		unsigned offset;
		const char *name;
	} places[] = { { 0, "entry " }, { PAUSE, "pause " }, { WAIT, "wait " },
		{ RET, "return " }, { TAIL_RET, "return " } };

	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		for (unsigned n = 0; n < n_tracepoints; n++)
			if (tracepoints[n].addr == at + places[i].offset)
				strcat(text, places[i].name);
	return text;
}

static void
come_to(const char *func, unsigned offset)
{
	struct tracepoint tp = { .addr = LIB + row_of(func) * CODE + offset };

	plock_arrival.before(&state, &thread, &tp);
}

/* The thread calls the function; its return address is on the stack. */
static void
enters(const char *func, uint64_t a, uint64_t b)
{
	its_regs.r[ureg_arg(0)] = a;
	its_regs.r[ureg_arg(1)] = b;
	its_regs.r[ureg_arg(2)] = 0x33;
	its_regs.r[ureg_arg(3)] = 0x44;
	its_regs.r[UREG_SP] = STACK;
	put(STACK, RA, 8);
	come_to(func, 0);
}

static void
leaves(const char *func, uint64_t result)
{
	its_regs.r[UREG_SP] = STACK;
	its_regs.r[UREG_RESULT] = result;
	come_to(func, RET);
}

/* It makes a futex call about the word at addr, which has this value; 40 bytes
 * deeper on the stack. */
static void
sleeps(const char *func, uint64_t addr, uint32_t value)
{
	its_regs.r[UREG_CALL] = SYS_futex;
	its_regs.r[ureg_call_arg(0)] = addr;
	its_regs.r[ureg_call_arg(1)] = FUTEX_WAIT;
	its_regs.r[ureg_call_arg(2)] = value;
	its_regs.r[UREG_SP] = STACK - 40;
	put(addr, value, 4);
	come_to(func, WAIT);
}

/* The function has returned to the program, where the thread is watched. */
static void
comes_back(uint64_t result)
{
	its_regs.r[UREG_SP] = STACK + MACHINE_CALL_BYTES;
	its_regs.r[UREG_PC] = RA;
	its_regs.r[UREG_RESULT] = result;
	on_watch(&state, &thread);
}

static void
fires(const char *want)
{
	ck_assert_str_eq(str_c(&fired), want);
	str_clear(&fired);
}

/* ---- where the tracepoints are ---- */

START_TEST(contention_needs_the_waits_alone)
{
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCK);
	ck_assert_str_eq(traps("pthread_mutex_lock"), "wait ");
	ck_assert_str_eq(traps("pthread_mutex_unlock"), "");
	ck_assert_uint_eq(told, 1);
	ck_assert_ptr_eq(tells, &plock_arrival);
	ck_assert(space.probed);
	ck_assert_uint_eq(warmed, 1); /* not while a thread is stopped */
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCKED);
	ck_assert_uint_eq(n_tracepoints, 1);
	arm_event("sem_wait", PLOCK_SEM_BLOCK);
	arm_event("sem_timedwait", PLOCK_SEM_BLOCKED);
	arm_event("pthread_rwlock_rdlock", PLOCK_RW_BLOCK);
	arm_event("pthread_rwlock_wrlock", PLOCK_RW_BLOCKED);
	ck_assert_str_eq(traps("sem_wait"), "wait ");
	ck_assert_str_eq(traps("sem_timedwait"), "wait ");
	ck_assert_str_eq(traps("pthread_rwlock_rdlock"), "wait ");
	ck_assert_str_eq(traps("pthread_rwlock_wrlock"), "wait ");
}
END_TEST

START_TEST(without_unwinding_entries_are_needed_too)
{
	lib->unwinds = false;
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCK);
	ck_assert_str_eq(traps("pthread_mutex_lock"), "entry wait ");
	ck_assert_uint_eq(warmed, 0);
}
END_TEST

START_TEST(an_acquisition_needs_entry_and_returns)
{
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_ACQUIRE);
	ck_assert_str_eq(traps("pthread_mutex_lock"), "entry return return ");
	arm_event("pthread_mutex_unlock", PLOCK_MUTEX_RELEASE);
	ck_assert_str_eq(traps("pthread_mutex_unlock"), "entry return return ");
	arm_event("pthread_join", PLOCK_THREAD_JOIN);
	ck_assert_str_eq(traps("pthread_join"), "entry return return ");
}
END_TEST

START_TEST(what_an_entry_tells)
{
	arm_event("pthread_cond_signal", PLOCK_COND_SIGNAL);
	arm_event("pthread_cond_broadcast", PLOCK_COND_BROADCAST);
	arm_event("sem_post", PLOCK_SEM_POST);
	arm_event("pthread_create", PLOCK_THREAD_START);
	ck_assert_str_eq(traps("pthread_cond_signal"), "entry ");
	ck_assert_str_eq(traps("pthread_cond_broadcast"), "entry ");
	ck_assert_str_eq(traps("sem_post"), "entry ");
	ck_assert_str_eq(traps("pthread_create"), "entry ");
	arm_event("pthread_create", PLOCK_THREAD_EXIT);
	ck_assert_str_eq(traps("pthread_create"), "entry ");
	arm_event("pthread_create", PLOCK_THREAD_CREATE);
	ck_assert_str_eq(traps("pthread_create"), "entry return return ");
}
END_TEST

START_TEST(a_condition_is_entered_by_a_tail_call_in_musl)
{
	arm_event("pthread_cond_wait", PLOCK_COND_WAIT);
	arm_event("pthread_cond_wait", PLOCK_MUTEX_RELEASE);
	ck_assert_str_eq(traps("pthread_cond_wait"), "entry ");
	lib->musl = true;
	arm_event("pthread_cond_timedwait", PLOCK_COND_WAIT);
	ck_assert_str_eq(
	    traps("pthread_cond_timedwait"), "entry return return ");
}
END_TEST

START_TEST(a_spin_needs_the_pause)
{
	arm_event("pthread_spin_lock", PLOCK_MUTEX_SPIN);
	ck_assert_str_eq(traps("pthread_spin_lock"), "pause ");
	arm_event("pthread_spin_lock", PLOCK_MUTEX_SPUN);
	ck_assert_str_eq(traps("pthread_spin_lock"), "pause ");
}
END_TEST

START_TEST(where_no_tracepoint_can_be)
{
	no_tracepoint = LIB + row_of("sem_post") * CODE;
	arm_event("sem_post", PLOCK_SEM_POST);
	ck_assert_uint_eq(failed, 1);
	ck_assert_uint_eq(told, 0);
	ck_assert(!space.probed);
	enters("sem_post", LOCK, 0); /* of somebody else */
	fires("");
}
END_TEST

/* No thread can be watched any more: all that were armed for contention. */
START_TEST(without_a_debug_register_returns_have_tracepoints)
{
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCK);
	arm_event("pthread_spin_lock", PLOCK_MUTEX_SPIN);
	arm_event("sem_post", PLOCK_SEM_POST);
	plock_unwatched(&state, &space);
	ck_assert_str_eq(traps("pthread_mutex_lock"), "wait return return ");
	ck_assert_str_eq(traps("pthread_spin_lock"), "pause return return ");
	ck_assert_str_eq(traps("sem_post"), "entry ");
	ck_assert_uint_eq(commits, 1);
}
END_TEST

START_TEST(a_child_has_what_its_parent_has)
{
	plock_fork(&space, &child_space);
	ck_assert_ptr_eq(plock_of(&child_space), lib);
	ck_assert_uint_eq(lib->refs, 2);
	parts_end(&child_space.parts);
	ck_assert_uint_eq(lib->refs, 1);
	struct space empty = { 0 }, its_child = { 0 };
	plock_fork(&empty, &its_child);
	ck_assert_ptr_null(plock_of(&its_child));
}
END_TEST

/* ---- entry and return ---- */

START_TEST(a_lock_is_acquired)
{
	arm_all("pthread_mutex_lock");
	enters("pthread_mutex_lock", LOCK, 0);
	fires("");
	leaves("pthread_mutex_lock", 0);
	fires("mutex-acquire 5000 0 0, ");
	ck_assert_uint_eq(hits, 1);
	/* A second time, recursively. */
	put(LOCK + 16, 1, 4); /* its kind */
	put(LOCK + 4, 2, 4);  /* its count */
	enters("pthread_mutex_lock", LOCK, 0);
	leaves("pthread_mutex_lock", 0);
	fires("mutex-acquire 5000 1 0, ");
	enters("pthread_mutex_lock", LOCK, 0);
	leaves("pthread_mutex_lock", EINVAL);
	fires("mutex-error 5000 16 0, ");
	leaves("pthread_mutex_lock", 0); /* of a call that was not seen */
	fires("");
}
END_TEST

START_TEST(a_try_may_be_recursive_but_a_spin_lock_is_not)
{
	put(LOCK + 16, 1, 4);
	put(LOCK + 4, 2, 4);
	arm_all("pthread_mutex_trylock");
	enters("pthread_mutex_trylock", LOCK, 0);
	leaves("pthread_mutex_trylock", 0);
	fires("mutex-acquire 5000 1 0, ");
	arm_all("pthread_spin_trylock");
	enters("pthread_spin_trylock", LOCK, 0);
	leaves("pthread_spin_trylock", 0);
	fires("mutex-acquire 5000 0 0, ");
	arm_all("pthread_spin_unlock");
	enters("pthread_spin_unlock", LOCK, 0);
	leaves("pthread_spin_unlock", 0);
	fires("mutex-release 5000 0 0, ");
}
END_TEST

START_TEST(what_is_released_is_read_before_it_is)
{
	put(LOCK + 16, 1, 4);
	put(LOCK + 4, 2, 4);
	arm_all("pthread_mutex_unlock");
	enters("pthread_mutex_unlock", LOCK, 0);
	put(LOCK + 4, 1, 4);
	leaves("pthread_mutex_unlock", 0);
	fires("mutex-release 5000 1 0, ");
	arm_all("pthread_rwlock_unlock");
	put(LOCK + 24, 70, 4); /* the writer */
	enters("pthread_rwlock_unlock", LOCK, 0);
	put(LOCK + 24, 0, 4);
	leaves("pthread_rwlock_unlock", 0);
	fires("rw-release 5000 1 0, ");
	enters("pthread_rwlock_unlock", LOCK, 0);
	leaves("pthread_rwlock_unlock", 0);
	fires("rw-release 5000 0 0, ");
}
END_TEST

START_TEST(nothing_fires_in_a_process_that_is_not_traced)
{
	arm_all("sem_post");
	unwanted = true;
	enters("sem_post", LOCK, 0);
	fires("");
	ck_assert_uint_eq(hits, 0);
	unwanted = false;
	enters("sem_post", LOCK, 0);
	fires("sem-post 5000 0 0, ");
}
END_TEST

START_TEST(events_without_a_probe_do_not_fire)
{
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_ERROR);
	enters("pthread_mutex_lock", LOCK, 0);
	leaves("pthread_mutex_lock", 0);
	fires("");
	enters("pthread_mutex_lock", LOCK, 0);
	leaves("pthread_mutex_lock", EPERM);
	fires("mutex-error 5000 1 0, ");
}
END_TEST

START_TEST(a_stack_that_cannot_be_read)
{
	arm_all("pthread_mutex_lock");
	enters("pthread_mutex_lock", LOCK, 0);
	its_regs.r[UREG_SP] = 0x100;
	come_to("pthread_mutex_lock", RET);
	fires("");
}
END_TEST

/* ---- waiting ---- */

static void
subscribed(void)
{
	plock_subscribe(&state);
	ck_assert_ptr_nonnull(on_watch);
}

START_TEST(a_wait_whose_entry_was_seen)
{
	subscribed();
	arm_all("pthread_mutex_lock");
	enters("pthread_mutex_lock", LOCK, 0);
	sleeps("pthread_mutex_lock", LOCK, 2);
	fires("mutex-block 5000 0 0, ");
	ck_assert_uint_eq(watched, 0);         /* the return has a tracepoint */
	sleeps("pthread_mutex_lock", LOCK, 2); /* it was woken for nothing */
	fires("");
	leaves("pthread_mutex_lock", 0);
	fires("mutex-blocked 5000 1 0, mutex-acquire 5000 0 0, ");
}
END_TEST

/* The stack says which function it is in. */
static void
in_function(const char *func)
{
	frames[0] = LIB + row_of(func) * CODE + WAIT;
	frames[1] = RA;
	put(STACK, RA, 8);
	n_frames = 2;
}

START_TEST(a_wait_whose_entry_was_not_seen)
{
	subscribed();
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCK);
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCKED);
	in_function("pthread_mutex_lock");
	sleeps("pthread_mutex_lock", LOCK, 2);
	fires("mutex-block 5000 0 0, ");
	/* Its return is watched, in this thread alone. */
	ck_assert_uint_eq(watched, RA);
	sleeps("pthread_mutex_lock", LOCK, 2);
	fires("");
	comes_back(0);
	fires("mutex-blocked 5000 1 0, ");
	ck_assert_uint_eq(watched, 0);
	/* By now the thread is somewhere else. */
	comes_back(0);
	fires("");
	ck_assert_uint_eq(commits, 0);
}
END_TEST

START_TEST(a_handler_comes_by_while_it_waits)
{
	subscribed();
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCKED);
	in_function("pthread_mutex_lock");
	sleeps("pthread_mutex_lock", LOCK, 2);
	its_regs.r[UREG_SP] = STACK - 400;
	its_regs.r[UREG_PC] = RA;
	on_watch(&state, &thread);
	fires("");
	ck_assert_uint_eq(watched, RA);
	comes_back(0);
	fires("mutex-blocked 5000 1 0, ");
}
END_TEST

START_TEST(other_calls_of_a_futex_are_no_wait)
{
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCK);
	in_function("pthread_mutex_lock");
	/* The word has changed: it will not sleep. */
	its_regs.r[UREG_CALL] = SYS_futex;
	its_regs.r[ureg_call_arg(0)] = LOCK;
	its_regs.r[ureg_call_arg(1)] = FUTEX_WAIT;
	its_regs.r[ureg_call_arg(2)] = 2;
	come_to("pthread_mutex_lock", WAIT);
	fires("");
	put(LOCK, 2, 4);
	its_regs.r[ureg_call_arg(1)] = FUTEX_WAKE;
	come_to("pthread_mutex_lock", WAIT);
	fires("");
	/* In no lock function, or none that waits. */
	frames[0] = RA;
	sleeps("pthread_mutex_lock", LOCK, 2);
	fires("");
	in_function("pthread_mutex_unlock");
	sleeps("pthread_mutex_lock", LOCK, 2);
	fires("");
	n_frames = 0;
	sleeps("pthread_mutex_lock", LOCK, 2);
	fires("");
	in_function("pthread_mutex_lock");
	sleeps("pthread_mutex_lock", LOCK, 2);
	fires("mutex-block 5000 0 0, ");
}
END_TEST

/* Is a call that waits at offset n of its object a wait for that? */
static void
waits_at(const char *func, uint64_t n, const char *want)
{
	enters(func, LOCK, LOCK + 0x100);
	str_clear(&fired);
	sleeps(func, LOCK + n, 2);
	fires(want);
	parts_end(&thread.parts);
	thread.parts = (struct parts){ 0 };
}

START_TEST(a_wait_for_something_else_is_none)
{
	arm_all("pthread_mutex_lock");
	arm_all("pthread_rwlock_rdlock");
	arm_all("pthread_rwlock_wrlock");
	arm_all("sem_wait");
	waits_at("pthread_mutex_lock", 0, "mutex-block 5000 0 0, ");
	waits_at("pthread_mutex_lock", 4, "");
	waits_at("pthread_rwlock_rdlock", 8, "rw-block 5000 0 0, ");
	waits_at("pthread_rwlock_rdlock", 0, "rw-block 5000 0 0, ");
	waits_at("pthread_rwlock_rdlock", 52, "rw-block 5000 0 0, ");
	waits_at("pthread_rwlock_rdlock", 56, "");
	waits_at("pthread_rwlock_wrlock", 12, "rw-block 5000 1 0, ");
	waits_at("pthread_rwlock_wrlock", 56, "");
	waits_at("sem_wait", 4, "sem-block 5000 0 0, ");
	waits_at("sem_wait", 8, "");
	ck_assert_str_eq(traps("sem_wait"), "entry wait return return ");
}
END_TEST

START_TEST(a_condition_waits_for_its_mutex)
{
	arm_all("pthread_cond_wait");
	enters("pthread_cond_wait", LOCK, LOCK + 0x100);
	fires("cond-wait 5000 5100 0, mutex-release 5100 0 0, ");
	sleeps("pthread_cond_wait", LOCK + 4, 2);
	fires("");
	sleeps("pthread_cond_wait", LOCK + 0x100, 2);
	fires("mutex-block 5100 0 0, ");
	leaves("pthread_cond_wait", 0);
	fires("mutex-blocked 5100 1 0, mutex-acquire 5100 0 0, "
	      "cond-waited 5000 5100 0, ");
}
END_TEST

START_TEST(without_unwinding_only_calls_that_were_entered_count)
{
	lib->unwinds = false;
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCK);
	in_function("pthread_mutex_lock");
	sleeps("pthread_mutex_lock", LOCK, 2);
	fires("");
	enters("pthread_mutex_lock", LOCK, 0);
	sleeps("pthread_mutex_lock", LOCK, 2);
	fires("mutex-block 5000 0 0, ");
	ck_assert_uint_eq(watched, RA); /* read from the stack */
}
END_TEST

START_TEST(a_wait_by_a_function_for_system_calls)
{
	bodies[row_of("pthread_mutex_lock")].waits.at[0].how = PLOCK_CALL;
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCK);
	in_function("pthread_mutex_lock");
	its_regs.r[ureg_arg(0)] = SYS_futex;
	its_regs.r[ureg_arg(1)] = LOCK;
	its_regs.r[ureg_arg(2)] = FUTEX_WAIT;
	its_regs.r[ureg_arg(3)] = 2;
	its_regs.r[UREG_CALL] = UINT64_MAX;
	put(LOCK, 2, 4);
	come_to("pthread_mutex_lock", WAIT);
	fires("mutex-block 5000 0 0, ");
}
END_TEST

START_TEST(the_word_of_a_mutex_in_musl)
{
	static const struct plock_lib musl = { .mutex_word = 4,
		.cond_calls = true };

	lib->lib = &musl;
	lib->musl = true;
	lib->unwinds = false;
	subscribed();
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCK);
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCKED);
	enters("pthread_mutex_lock", LOCK, 0);
	sleeps("pthread_mutex_lock", LOCK, 2);
	fires("");
	sleeps("pthread_mutex_lock", LOCK + 4, 2);
	fires("mutex-block 5000 0 0, ");
	/* The call was entered, and its return is watched. */
	comes_back(0);
	fires("mutex-blocked 5000 1 0, ");
}
END_TEST

START_TEST(the_next_lock_is_a_new_wait)
{
	subscribed();
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCK);
	in_function("pthread_mutex_lock");
	sleeps("pthread_mutex_lock", LOCK, 2);
	fires("mutex-block 5000 0 0, ");
	/* Its return was not seen, and the same stack waits for another. */
	sleeps("pthread_mutex_lock", LOCK + 0x40, 2);
	fires("mutex-block 5040 0 0, ");
	/* The watch is gone, so the return may have been missed. */
	thread.regs.watch = 0;
	sleeps("pthread_mutex_lock", LOCK + 0x40, 2);
	fires("mutex-block 5040 0 0, ");
}
END_TEST

START_TEST(no_debug_register_is_free)
{
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCK);
	in_function("pthread_mutex_lock");
	watch_error = -ENOSPC;
	sleeps("pthread_mutex_lock", LOCK, 2);
	fires("mutex-block 5000 0 0, ");
	ck_assert_str_eq(traps("pthread_mutex_lock"), "wait return return ");
	ck_assert_uint_eq(commits, 1);
	/* The return of this call is seen there, */
	arm_event("pthread_mutex_lock", PLOCK_MUTEX_BLOCKED);
	leaves("pthread_mutex_lock", 0);
	fires("mutex-blocked 5000 1 0, ");
	/* and nobody is watched from now on. */
	sleeps("pthread_mutex_lock", LOCK, 2);
	ck_assert_uint_eq(commits, 1);
}
END_TEST

/* ---- spinning ---- */

static void
spins(uint64_t object)
{
	its_regs.r[ureg_arg(0)] = object;
	its_regs.r[UREG_SP] = STACK;
	put(STACK, RA, 8);
	come_to("pthread_spin_lock", PAUSE);
}

START_TEST(a_spin_is_counted)
{
	subscribed();
	arm_event("pthread_spin_lock", PLOCK_MUTEX_SPIN);
	arm_event("pthread_spin_lock", PLOCK_MUTEX_SPUN);
	spins(LOCK);
	fires("mutex-spin 5000 0 0, ");
	ck_assert_uint_eq(watched, RA);
	watched = 0;
	spins(LOCK);
	spins(LOCK);
	fires("");
	ck_assert_uint_eq(watched, 0); /* once is enough */
	comes_back(0);
	fires("mutex-spun 5000 1 3, ");
	/* A return that was missed: another lock is another spin. */
	spins(LOCK);
	spins(LOCK + 8);
	fires("mutex-spin 5000 0 0, mutex-spin 5008 0 0, ");
	its_regs.r[UREG_SP] = 0x100;
	come_to("pthread_spin_lock", PAUSE);
	fires("");
}
END_TEST

/* ---- threads ---- */

static void
moment(
    enum event_kind kind, struct thread *th, struct thread *child, bool first)
{
	moments[kind](&state,
	    &(struct event){
		.kind = kind, .thread = th, .child = child, .first = first },
	    NULL);
}

START_TEST(a_thread_is_created_and_starts)
{
	subscribed();
	arm_all("pthread_create");
	enters("pthread_create", LOCK, 0);
	moment(EV_CLONE, &thread, NULL, false); /* it was detached at once */
	moment(EV_CLONE, &thread, &second, false);
	put(LOCK, 0x7777, 8); /* its pthread_t */
	leaves("pthread_create", 0);
	fires("thread-create 7777 33 44, ");
	moment(EV_STOP, &thread, NULL, true);
	moment(EV_STOP, &second, NULL, false);
	fires("");
	moment(EV_STOP, &second, NULL, true);
	fires("thread-start 9999 33 44, ");
	moment(EV_STOP, &second, NULL, true); /* once */
	fires("");
	moment(EV_EXIT, &second, NULL, false);
	fires("thread-exit 9999 0 0, ");
	dead = true;
	moment(EV_EXIT, &second, NULL, false);
	fires("");
}
END_TEST

START_TEST(a_thread_that_could_not_be_created)
{
	subscribed();
	arm_all("pthread_create");
	enters("pthread_create", LOCK, 0);
	put(LOCK, 0x7777, 8);
	leaves("pthread_create", EAGAIN);
	fires("");
	/* A clone() without it. */
	moment(EV_CLONE, &thread, &second, false);
	moment(EV_CLONE, &second, &thread, false);
	arm_all("pthread_mutex_lock");
	enters("pthread_mutex_lock", LOCK, 0);
	moment(EV_CLONE, &thread, &second, false);
	moment(EV_STOP, &second, NULL, true);
	fires("");
}
END_TEST

START_TEST(an_exec_ends_every_call)
{
	subscribed();
	arm_all("pthread_mutex_lock");
	enters("pthread_mutex_lock", LOCK, 0);
	moment(EV_EXEC, &thread, NULL, false);
	ck_assert_uint_eq(lost, 1);
	leaves("pthread_mutex_lock", 0);
	fires("");
	moment(EV_EXEC, &second, NULL, false);
	ck_assert_uint_eq(lost, 2);
}
END_TEST

START_TEST(it_subscribes_once)
{
	plock_subscribe(&state);
	memset(moments, 0, sizeof(moments));
	plock_subscribe(&state);
	ck_assert_ptr_null(moments[EV_CLONE]);
}
END_TEST

START_TEST(a_thread_that_no_lock_function_has_seen)
{
	plock_subscribe(&state);
	comes_back(0);
	arm_all("pthread_mutex_lock");
	leaves("pthread_mutex_lock", 0);
	moment(EV_STOP, &thread, NULL, true);
	fires("");
	struct space none = { .mem = space.mem };
	proc.space = &none;
	enters("pthread_mutex_lock", LOCK, 0);
	moment(EV_EXIT, &thread, NULL, false);
	fires("");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		contention_needs_the_waits_alone,
		without_unwinding_entries_are_needed_too,
		an_acquisition_needs_entry_and_returns,
		what_an_entry_tells,
		a_condition_is_entered_by_a_tail_call_in_musl,
		a_spin_needs_the_pause,
		where_no_tracepoint_can_be,
		without_a_debug_register_returns_have_tracepoints,
		a_child_has_what_its_parent_has,
		a_lock_is_acquired,
		a_try_may_be_recursive_but_a_spin_lock_is_not,
		what_is_released_is_read_before_it_is,
		nothing_fires_in_a_process_that_is_not_traced,
		events_without_a_probe_do_not_fire,
		a_stack_that_cannot_be_read,
		a_wait_whose_entry_was_seen,
		a_wait_whose_entry_was_not_seen,
		a_handler_comes_by_while_it_waits,
		other_calls_of_a_futex_are_no_wait,
		a_wait_for_something_else_is_none,
		a_condition_waits_for_its_mutex,
		without_unwinding_only_calls_that_were_entered_count,
		a_wait_by_a_function_for_system_calls,
		the_word_of_a_mutex_in_musl,
		the_next_lock_is_a_new_wait,
		no_debug_register_is_free,
		a_spin_is_counted,
		a_thread_is_created_and_starts,
		a_thread_that_could_not_be_created,
		an_exec_ends_every_call,
		it_subscribes_once,
		a_thread_that_no_lock_function_has_seen,
	};

	return suite_run(
	    "plock hit", setup, teardown, tests, ARRAY_SIZE(tests));
}
