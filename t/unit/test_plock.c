/*
 * The plockstat provider without a process: what calls of lock functions mean
 * (prov/plock_call.h), and what is read from a lock's memory (plock_mem.h).
 */
#include <check.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dlang/base/base.h"
#include "symbols/addrspace.h"
#include "t/fake/fixture.h"
#include "dlang/base/str.h"
#include "tracer/consume/locks.h"
#include "tracer/consume/text.h"
#include "tracer/prov/plock/plock_holds.h"
#include "tracer/prov/plock/plock_impl.h"
#include "tracer/prov/plock/plock_mem.h"

#define LOCK 0x5000
#define COND 0x6000
#define SP   0x7ffe1000
#define RA   0x401234

static const struct plock_lib glibc = { .mutex_word = 0 };
static const struct plock_lib musl = { .mutex_word = 4, .cond_calls = true };

static const struct plock_row *
row(const char *func)
{
	for (size_t i = 0; i < plock_nrows; i++)
		if (strcmp(plock_rows[i].func, func) == 0)
			return &plock_rows[i];
	ck_abort_msg("no row %s", func);
	return NULL;
}

static struct plock_calls calls;
static struct plock_fires fires;

static void
setup(void)
{
	memset(&calls, 0, sizeof(calls));
	memset(&fires, 0, sizeof(fires));
}

static void
enter(const struct plock_lib *lib, const char *func, uint64_t sp, uint64_t a,
    uint64_t b, bool flag)
{
	plock_enter(&calls, lib,
	    &(struct plock_entry){ .row = row(func),
		.sp = sp,
		.args = { a, b, 0x11, 0x22 },
		.flag = flag,
		.returns = true },
	    &fires);
}

static void
leave(const struct plock_lib *lib, uint64_t sp, uint64_t result, bool flag)
{
	struct plock_call *c = plock_returning(&calls, sp, RA);

	fires.n = 0;
	if (c != NULL)
		plock_return(&calls, lib, c, result, flag, &fires);
}

/* Exactly these, as "name a b c, ..." */
static void
fired(const char *want)
{
	char got[400] = "", *p = got;

	for (unsigned i = 0; i < fires.n; i++)
		p += sprintf(p, "%s%s %lx %lx %lx", i > 0 ? ", " : "",
		    plock_names[fires.at[i].event].name,
		    (long)fires.at[i].args[0], (long)fires.at[i].args[1],
		    (long)fires.at[i].args[2]);
	ck_assert_str_eq(got, want);
}

START_TEST(an_uncontended_lock_is_acquired_and_released)
{
	enter(&glibc, "pthread_mutex_lock", SP, LOCK, 0, false);
	fired("");
	leave(&glibc, SP, 0, false);
	fired("mutex-acquire 5000 0 0");
	enter(&glibc, "pthread_mutex_unlock", SP, LOCK, 0, false);
	fired("");
	leave(&glibc, SP, 0, false);
	fired("mutex-release 5000 0 0");
	ck_assert_uint_eq(calls.n, 0);
	/* A return that belongs to no call: it was entered before we came. */
	leave(&glibc, SP, 0, false);
	fired("");
}
END_TEST

START_TEST(a_wait_is_one_however_often_it_is_woken)
{
	enter(&glibc, "pthread_mutex_lock", SP, LOCK, 0, false);
	struct plock_call *c = plock_in(&calls, SP - 32);
	ck_assert_ptr_nonnull(c);
	plock_blocks(c, &fires);
	fired("mutex-block 5000 0 0");
	plock_blocks(c, &fires);
	fired("");
	leave(&glibc, SP, 0, false);
	fired("mutex-blocked 5000 1 0, mutex-acquire 5000 0 0");
}
END_TEST

START_TEST(errors_are_told)
{
	enter(&glibc, "pthread_mutex_timedlock", SP, LOCK, 0, false);
	plock_blocks(plock_in(&calls, SP - 32), &fires);
	leave(&glibc, SP, ETIMEDOUT, false);
	fired("mutex-blocked 5000 0 0, mutex-error 5000 6e 0");
	/* trylock: EBUSY is an answer. */
	enter(&glibc, "pthread_mutex_trylock", SP, LOCK, 0, false);
	leave(&glibc, SP, EBUSY, false);
	fired("");
	enter(&glibc, "pthread_mutex_trylock", SP, LOCK, 0, false);
	leave(&glibc, SP, EINVAL, false);
	fired("mutex-error 5000 16 0");
	enter(&glibc, "pthread_mutex_lock", SP, LOCK, 0, false);
	leave(&glibc, SP, EBUSY, false);
	fired("mutex-error 5000 10 0");
	enter(&glibc, "pthread_mutex_unlock", SP, LOCK, 0, false);
	leave(&glibc, SP, EPERM, false);
	fired("mutex-error 5000 1 0");
	/* The owner of a robust mutex has died: it is ours. */
	enter(&glibc, "pthread_mutex_lock", SP, LOCK, 0, false);
	leave(&glibc, SP, EOWNERDEAD, false);
	fired("mutex-acquire 5000 0 0");
	/* rax is wider than what a function of type int returns. */
	enter(&glibc, "pthread_mutex_lock", SP, LOCK, 0, false);
	leave(&glibc, SP, 0xdead00000000, false);
	fired("mutex-acquire 5000 0 0");
}
END_TEST

START_TEST(recursion_and_writers_are_flags)
{
	enter(&glibc, "pthread_mutex_lock", SP, LOCK, 0, false);
	leave(&glibc, SP, 0, true);
	fired("mutex-acquire 5000 1 0");
	enter(&glibc, "pthread_mutex_unlock", SP, LOCK, 0, true);
	leave(&glibc, SP, 0, false);
	fired("mutex-release 5000 1 0");
	enter(&glibc, "pthread_rwlock_wrlock", SP, LOCK, 0, false);
	plock_blocks(plock_in(&calls, SP - 8), &fires);
	fired("rw-block 5000 1 0");
	leave(&glibc, SP, 0, false);
	fired("rw-blocked 5000 1 1, rw-acquire 5000 1 0");
	enter(&glibc, "pthread_rwlock_unlock", SP, LOCK, 0, true);
	leave(&glibc, SP, 0, false);
	fired("rw-release 5000 1 0");
	enter(&glibc, "pthread_rwlock_timedrdlock", SP, LOCK, 0, false);
	plock_blocks(plock_in(&calls, SP - 8), &fires);
	fired("rw-block 5000 0 0");
	leave(&glibc, SP, ETIMEDOUT, false);
	fired("rw-blocked 5000 0 0, rw-error 5000 0 6e");
	enter(&glibc, "pthread_rwlock_tryrdlock", SP, LOCK, 0, false);
	leave(&glibc, SP, EBUSY, false);
	fired("");
}
END_TEST

START_TEST(semaphores_and_threads)
{
	enter(&glibc, "sem_wait", SP, LOCK, 0, false);
	plock_blocks(plock_in(&calls, SP - 8), &fires);
	fired("sem-block 5000 0 0");
	leave(&glibc, SP, 0, false);
	fired("sem-blocked 5000 1 0, sem-acquire 5000 0 0");
	enter(&glibc, "sem_timedwait", SP, LOCK, 0, false);
	plock_blocks(plock_in(&calls, SP - 8), &fires);
	leave(&glibc, SP, (uint64_t)-1, false);
	fired("sem-blocked 5000 0 0");
	enter(&glibc, "sem_trywait", SP, LOCK, 0, false);
	leave(&glibc, SP, (uint64_t)-1, false);
	fired("");
	enter(&glibc, "sem_post", SP, LOCK, 0, false);
	fired("sem-post 5000 0 0");
	leave(&glibc, SP, 0, false);
	fired("");
	enter(&glibc, "pthread_cond_broadcast", SP, COND, 0, false);
	fired("cond-broadcast 6000 0 0");
	leave(&glibc, SP, 0, false);
	fired("");
	enter(&glibc, "pthread_create", SP, LOCK, 0, false);
	leave(&glibc, SP, 0, false);
	fired("thread-create 5000 11 22");
	enter(&glibc, "pthread_create", SP, LOCK, 0, false);
	leave(&glibc, SP, EAGAIN, false);
	fired("");
	enter(&glibc, "pthread_join", SP, 0x7777, 0, false);
	leave(&glibc, SP, EDEADLK, false);
	fired("thread-join 7777 23 0");
}
END_TEST

START_TEST(errors_of_rwlocks_are_told)
{
	enter(&glibc, "pthread_rwlock_unlock", SP, LOCK, 0, true);
	leave(&glibc, SP, EPERM, false);
	fired("rw-error 5000 1 1");
	enter(&glibc, "pthread_rwlock_trywrlock", SP, LOCK, 0, false);
	leave(&glibc, SP, EBUSY, false);
	fired("");
	enter(&glibc, "pthread_rwlock_trywrlock", SP, LOCK, 0, false);
	leave(&glibc, SP, EINVAL, false);
	fired("rw-error 5000 1 16");
	enter(&glibc, "pthread_rwlock_rdlock", SP, LOCK, 0, false);
	leave(&glibc, SP, EBUSY, false);
	fired("rw-error 5000 0 10");
	enter(&glibc, "pthread_rwlock_trywrlock", SP, LOCK, 0, false);
	leave(&glibc, SP, 0, false);
	fired("rw-acquire 5000 1 0");
}
END_TEST

START_TEST(a_condition_that_is_found_waiting_knows_its_mutex)
{
	struct plock_call *c =
	    plock_found(&calls, row("pthread_cond_wait"), SP - 40, RA, LOCK);

	plock_blocks(c, &fires);
	fired("mutex-block 5000 0 0");
	/* Which condition it was is not known. */
	leave(&glibc, SP, EOWNERDEAD, false);
	fired("mutex-blocked 5000 1 0, mutex-acquire 5000 0 0");
	/* Not released, so not acquired. */
	c = plock_found(&calls, row("pthread_cond_wait"), SP - 40, RA, LOCK);
	plock_blocks(c, &fires);
	leave(&glibc, SP, EINVAL, false);
	fired("mutex-blocked 5000 0 0, mutex-acquire 5000 0 0");
	/* No wait of another verb has a mutex. */
	c = plock_found(&calls, row("pthread_mutex_lock"), SP, RA, LOCK);
	ck_assert_uint_eq(c->mutex, 0);
	/* A condition whose return is not seen may be entered anew. */
	setup();
	const struct plock_entry en = { .row = row("pthread_cond_wait"),
		.sp = SP,
		.args = { COND, LOCK } };
	plock_enter(&calls, &musl, &en, &fires);
	enter(&musl, "pthread_cond_timedwait", SP, COND, LOCK, false);
	fired("cond-wait 6000 5000 0");
}
END_TEST

START_TEST(a_condition_gives_its_mutex_back)
{
	enter(&glibc, "pthread_cond_wait", SP, COND, LOCK, false);
	fired("cond-wait 6000 5000 0, mutex-release 5000 0 0");
	plock_blocks(plock_in(&calls, SP - 64), &fires);
	fired("mutex-block 5000 0 0");
	leave(&glibc, SP, 0, false);
	fired("mutex-blocked 5000 1 0, mutex-acquire 5000 0 0, "
	      "cond-waited 6000 5000 0");
	enter(&glibc, "pthread_cond_signal", SP, COND, 0, false);
	fired("cond-signal 6000 0 0");
	/* musl calls its own functions, which are seen. */
	setup();
	enter(&musl, "pthread_cond_timedwait", SP, COND, LOCK, false);
	fired("cond-wait 6000 5000 0");
	enter(&musl, "pthread_mutex_unlock", SP - 80, LOCK, 0, false);
	leave(&musl, SP - 80, 0, false);
	fired("mutex-release 5000 0 0");
	enter(&musl, "pthread_mutex_lock", SP - 80, LOCK, 0, false);
	leave(&musl, SP - 80, 0, false);
	fired("mutex-acquire 5000 0 0");
	leave(&musl, SP, ETIMEDOUT, false);
	fired("cond-waited 6000 5000 6e");
}
END_TEST

START_TEST(the_librarys_own_calls_are_not_told)
{
	/* A tail call has the same return address: it is the call now. */
	enter(&musl, "pthread_mutex_lock", SP, LOCK, 0, false);
	enter(&musl, "pthread_mutex_timedlock", SP, LOCK, 0, false);
	ck_assert_uint_eq(calls.n, 1);
	enter(&musl, "pthread_mutex_trylock", SP - 80, LOCK, 0, false);
	leave(&musl, SP - 80, 0, false);
	fired("");
	struct plock_call *c = plock_returning(&calls, SP, RA);
	ck_assert_str_eq(c->row->func, "pthread_mutex_lock");
	leave(&musl, SP, 0, false);
	fired("mutex-acquire 5000 0 0");
	enter(&musl, "pthread_cond_wait", SP, COND, LOCK, false);
	fired("cond-wait 6000 5000 0");
	enter(&musl, "pthread_cond_timedwait", SP, COND, LOCK, false);
	fired("");
	leave(&musl, SP, 0, false);
	fired("cond-waited 6000 5000 0");
	/* Of another lock it is a call of its own: longjmp() left the first. */
	enter(&musl, "pthread_mutex_lock", SP, LOCK, 0, false);
	enter(&musl, "pthread_mutex_timedlock", SP, LOCK + 64, 0, false);
	ck_assert_uint_eq(calls.n, 1);
	c = plock_returning(&calls, SP, RA);
	ck_assert_str_eq(c->row->func, "pthread_mutex_timedlock");
	leave(&musl, SP, 0, false);
	fired("mutex-acquire 5040 0 0");
	/* Another lock, in a signal handler, is the program's. */
	enter(&musl, "pthread_mutex_timedlock", SP, LOCK, 0, false);
	enter(&musl, "pthread_mutex_trylock", SP - 800, LOCK + 64, 0, false);
	leave(&musl, SP - 800, 0, false);
	fired("mutex-acquire 5040 0 0");
	leave(&musl, SP, 0, false);
	fired("mutex-acquire 5000 0 0");
}
END_TEST

START_TEST(a_call_may_be_found_when_it_waits)
{
	struct plock_call *c =
	    plock_found(&calls, row("pthread_mutex_lock"), SP - 40, RA, LOCK);

	plock_blocks(c, &fires);
	fired("mutex-block 5000 0 0");
	/* A return inside of it, and one of another caller. */
	ck_assert_ptr_null(plock_returning(&calls, SP - 40, RA + 1));
	ck_assert_ptr_null(plock_returning(&calls, SP - 48, RA));
	leave(&glibc, SP, 0, false);
	fired("mutex-blocked 5000 1 0, mutex-acquire 5000 0 0");
	ck_assert_uint_eq(calls.n, 0);
	c = plock_found(&calls, row("pthread_spin_lock"), SP, RA, LOCK);
	plock_spins(c, &fires);
	fired("mutex-spin 5000 0 0");
	plock_spins(c, &fires);
	fired("");
	leave(&glibc, SP, 0, false);
	fired("mutex-spun 5000 1 2, mutex-acquire 5000 0 2");
}
END_TEST

START_TEST(calls_that_never_return_do_not_pile_up)
{
	for (uint64_t i = 0; i < 100; i++)
		enter(&glibc, "pthread_mutex_lock", SP - 8 * i, LOCK + i, 0,
		    false);
	ck_assert_uint_eq(calls.n, PLOCK_DEPTH);
	leave(&glibc, SP - 8 * 99, 0, false);
	fired("mutex-acquire 5063 0 0");
	/* One further out returns: those within were left by longjmp(). */
	enter(&glibc, "pthread_mutex_lock", SP - 8 * 99, LOCK, 0, false);
	leave(&glibc, SP - 8 * 95, 0, false);
	fired("mutex-acquire 505f 0 0");
	ck_assert_ptr_null(plock_returning(&calls, SP - 8 * 99, RA));
}
END_TEST

START_TEST(every_verb_has_events_and_every_event_a_name)
{
	uint32_t all = 0;

	for (size_t i = 0; i < plock_nrows; i++) {
		ck_assert_uint_ne(plock_events_of(plock_rows[i].verb), 0);
		all |= plock_events_of(plock_rows[i].verb);
	}
	ck_assert_uint_eq(all, PLOCK_BIT(PLOCK_EVENTS) - 1);
	for (int e = 0; e < PLOCK_EVENTS; e++)
		ck_assert_ptr_nonnull(plock_names[e].types[0]);
}
END_TEST

/* Which probes a function has: all that a user can ask for, and no others. */
static const struct {
	const char *func, *events;
} has[] = {
	{ "pthread_mutex_lock",
	    "mutex-acquire mutex-block mutex-blocked mutex-error " },
	{ "pthread_mutex_timedlock",
	    "mutex-acquire mutex-block mutex-blocked mutex-error " },
	{ "pthread_mutex_clocklock",
	    "mutex-acquire mutex-block mutex-blocked mutex-error " },
	{ "pthread_mutex_trylock", "mutex-acquire mutex-error " },
	{ "pthread_mutex_unlock", "mutex-release mutex-error " },
	{ "pthread_spin_lock", "mutex-acquire mutex-spin mutex-spun " },
	{ "pthread_spin_trylock", "mutex-acquire mutex-error " },
	{ "pthread_spin_unlock", "mutex-release mutex-error " },
	{ "pthread_rwlock_rdlock", "rw-acquire rw-block rw-blocked rw-error " },
	{ "pthread_rwlock_timedrdlock",
	    "rw-acquire rw-block rw-blocked rw-error " },
	{ "pthread_rwlock_clockrdlock",
	    "rw-acquire rw-block rw-blocked rw-error " },
	{ "pthread_rwlock_tryrdlock", "rw-acquire rw-error " },
	{ "pthread_rwlock_wrlock", "rw-acquire rw-block rw-blocked rw-error " },
	{ "pthread_rwlock_timedwrlock",
	    "rw-acquire rw-block rw-blocked rw-error " },
	{ "pthread_rwlock_clockwrlock",
	    "rw-acquire rw-block rw-blocked rw-error " },
	{ "pthread_rwlock_trywrlock", "rw-acquire rw-error " },
	{ "pthread_rwlock_unlock", "rw-release rw-error " },
	{ "pthread_cond_wait",
	    "mutex-acquire mutex-block mutex-blocked mutex-release "
	    "cond-wait cond-waited " },
	{ "pthread_cond_timedwait",
	    "mutex-acquire mutex-block mutex-blocked mutex-release "
	    "cond-wait cond-waited " },
	{ "pthread_cond_clockwait",
	    "mutex-acquire mutex-block mutex-blocked mutex-release "
	    "cond-wait cond-waited " },
	{ "pthread_cond_signal", "cond-signal " },
	{ "pthread_cond_broadcast", "cond-broadcast " },
	{ "sem_wait", "sem-acquire sem-block sem-blocked " },
	{ "sem_timedwait", "sem-acquire sem-block sem-blocked " },
	{ "sem_clockwait", "sem-acquire sem-block sem-blocked " },
	{ "sem_trywait", "sem-acquire " },
	{ "sem_post", "sem-post " },
	{ "pthread_create", "thread-create thread-start thread-exit " },
	{ "pthread_join", "thread-join " },
	{ "pthread_timedjoin_np", "thread-join " },
	{ "pthread_clockjoin_np", "thread-join " },
	{ "pthread_tryjoin_np", "thread-join " },
};

START_TEST(each_function_has_its_events)
{
	ck_assert_uint_eq(plock_nrows, ARRAY_SIZE(has));
	for (size_t i = 0; i < ARRAY_SIZE(has); i++) {
		uint32_t events = plock_events_of(row(has[i].func)->verb);
		struct str got = { 0 };
		for (int e = 0; e < PLOCK_EVENTS; e++)
			if ((events & PLOCK_BIT(e)) != 0)
				str_printf(&got, "%s ", plock_names[e].name);
		ck_assert_msg(strcmp(str_c(&got), has[i].events) == 0, "%s: %s",
		    has[i].func, str_c(&got));
		ck_assert_int_eq(row(has[i].func)->spin,
		    strncmp(has[i].func, "pthread_spin", 12) == 0);
		str_fini(&got);
	}
}
END_TEST

START_TEST(arguments_have_types)
{
	static const struct {
		enum plock_event event;
		const char *types;
	} want[] = {
		{ PLOCK_MUTEX_ACQUIRE, "pthread_mutex_t *, int, int, " },
		{ PLOCK_MUTEX_BLOCK, "pthread_mutex_t *, " },
		{ PLOCK_RW_BLOCKED, "pthread_rwlock_t *, int, int, " },
		{ PLOCK_COND_WAITED,
		    "pthread_cond_t *, pthread_mutex_t *, int, " },
		{ PLOCK_SEM_BLOCKED, "sem_t *, int, " },
		{ PLOCK_THREAD_START, "pthread_t, void *, void *, " },
		{ PLOCK_THREAD_EXIT, "pthread_t, " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		const char *const *types = plock_names[want[i].event].types;
		struct str got = { 0 };
		for (unsigned k = 0; k < 3 && types[k] != NULL; k++)
			str_printf(&got, "%s, ", types[k]);
		ck_assert_str_eq(str_c(&got), want[i].types);
		str_fini(&got);
	}
}
END_TEST

/* ---- memory ---- */

static uint32_t memory[16]; /* at LOCK */

static int
read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	if (addr < LOCK || addr - LOCK + len > sizeof(memory))
		return -EFAULT;
	memcpy(buf, (char *)memory + (addr - LOCK), len);
	return 0;
}

static const struct reader mem = { .read = read_memory };

START_TEST(futex_calls_are_told_from_others)
{
	struct uregs r = { 0 };
	struct plock_futex fx;

	r.r[UREG_RAX] = SYS_futex;
	r.r[UREG_RDI] = LOCK;
	r.r[UREG_RSI] = FUTEX_WAIT | FUTEX_PRIVATE_FLAG;
	r.r[UREG_RDX] = 2;
	ck_assert(plock_futex(&r, PLOCK_SYSCALL, &fx));
	ck_assert(fx.addr == LOCK && fx.op == FUTEX_WAIT && fx.value == 2);
	memory[0] = 2;
	ck_assert(plock_sleeps(&mem, &fx));
	memory[0] = 1;
	ck_assert(!plock_sleeps(&mem, &fx));
	r.r[UREG_RSI] = FUTEX_WAKE;
	ck_assert(!plock_futex(&r, PLOCK_SYSCALL, &fx));
	r.r[UREG_RSI] = FUTEX_LOCK_PI;
	ck_assert(plock_futex(&r, PLOCK_SYSCALL, &fx));
	memory[0] = 0;
	ck_assert(!plock_sleeps(&mem, &fx));
	memory[0] = FUTEX_WAITERS | 77;
	ck_assert(plock_sleeps(&mem, &fx));
	r.r[UREG_RAX] = SYS_read;
	ck_assert(!plock_futex(&r, PLOCK_SYSCALL, &fx));
	/* By a function that makes calls: all is one further on. */
	r = (struct uregs){ 0 };
	r.r[UREG_RDI] = SYS_futex;
	r.r[UREG_RSI] = LOCK;
	r.r[UREG_RDX] = FUTEX_WAIT_BITSET;
	r.r[UREG_RCX] = 5;
	ck_assert(plock_futex(&r, PLOCK_CALL, &fx));
	ck_assert(fx.addr == LOCK && fx.op == FUTEX_WAIT_BITSET);
	ck_assert_uint_eq(fx.value, 5);
}
END_TEST

START_TEST(locks_are_found_by_their_words)
{
	struct plock_futex fx = { LOCK, FUTEX_WAIT, 2 };
	uint64_t o;

	ck_assert(plock_object_of(false, PLOCK_LOCK, &fx, &o) && o == LOCK);
	fx.addr = LOCK + 4;
	ck_assert(plock_object_of(true, PLOCK_LOCK, &fx, &o) && o == LOCK);
	/* A condition's own word, and its mutex's. */
	fx = (struct plock_futex){ COND + 40, FUTEX_WAIT_BITSET, 0 };
	ck_assert(!plock_object_of(false, PLOCK_CONDWAIT, &fx, &o));
	fx = (struct plock_futex){ LOCK, FUTEX_WAIT, 2 };
	ck_assert(plock_object_of(false, PLOCK_CONDWAIT, &fx, &o) && o == LOCK);
	/* The words of a read-write lock. */
	fx = (struct plock_futex){ LOCK + 8, FUTEX_WAIT_BITSET, 3 };
	ck_assert(plock_object_of(false, PLOCK_RDLOCK, &fx, &o) && o == LOCK);
	fx = (struct plock_futex){ LOCK + 12, FUTEX_WAIT_BITSET, 3 };
	ck_assert(plock_object_of(false, PLOCK_WRLOCK, &fx, &o) && o == LOCK);
	fx = (struct plock_futex){ LOCK, FUTEX_WAIT_BITSET, 13 };
	ck_assert(plock_object_of(false, PLOCK_RDLOCK, &fx, &o) && o == LOCK);
	ck_assert(plock_object_of(false, PLOCK_SEMWAIT, &fx, &o) && o == LOCK);
	ck_assert(!plock_object_of(false, PLOCK_JOIN, &fx, &o));
}
END_TEST

START_TEST(recursion_and_writers_are_read)
{
	memset(memory, 0, sizeof(memory));
	memory[4] = 1; /* glibc: kind */
	memory[1] = 1; /* and count */
	ck_assert(!plock_is_recursive(&mem, false, LOCK));
	memory[1] = 2;
	ck_assert(plock_is_recursive(&mem, false, LOCK));
	memory[4] = 0;
	ck_assert(!plock_is_recursive(&mem, false, LOCK));
	ck_assert(!plock_is_writer(&mem, false, LOCK));
	memory[6] = 1234;
	ck_assert(plock_is_writer(&mem, false, LOCK));
	/* musl: type, and a count that begins at 0 */
	memset(memory, 0, sizeof(memory));
	memory[0] = 1;
	ck_assert(!plock_is_recursive(&mem, true, LOCK));
	memory[5] = 1;
	ck_assert(plock_is_recursive(&mem, true, LOCK));
	memory[0] = 2; /* two readers */
	ck_assert(!plock_is_writer(&mem, true, LOCK));
	memory[0] = 0xffffffff; /* a writer, and somebody waits */
	ck_assert(plock_is_writer(&mem, true, LOCK));
	/* Memory that is not there is no lock. */
	ck_assert(!plock_is_recursive(&mem, false, 0));
	ck_assert(!plock_is_writer(&mem, true, 0));
}
END_TEST

static void
check_owner(bool is_musl, enum plock_verb verb, pid_t tid, unsigned readers,
    bool unknown)
{
	struct plock_owner o = plock_owner(&mem, is_musl, verb, LOCK);

	ck_assert_int_eq(o.tid, tid);
	ck_assert_uint_eq(o.readers, readers);
	ck_assert_int_eq(o.unknown, unknown);
}

START_TEST(owners_are_read)
{
	memset(memory, 0, sizeof(memory));
	memory[0] = 2;
	memory[2] = 77;
	check_owner(false, PLOCK_LOCK, 77, 0, false);
	/* Robust: the word is ahead of the owner. */
	memory[4] = 16;
	memory[0] = FUTEX_WAITERS | 78;
	check_owner(false, PLOCK_LOCK, 78, 0, false);
	memset(memory, 0, sizeof(memory));
	memory[0] = 3 << 3;
	check_owner(false, PLOCK_WRLOCK, 0, 3, false);
	memory[6] = 79;
	check_owner(false, PLOCK_RDLOCK, 79, 0, false);
	check_owner(false, PLOCK_SEMWAIT, 0, 0, false);
	/* musl: a normal mutex does not say, another does. */
	memset(memory, 0, sizeof(memory));
	memory[1] = 0x80000010;
	check_owner(true, PLOCK_LOCK, 0, 0, true);
	memory[0] = 2;
	memory[1] = 0x80000000 | 80;
	check_owner(true, PLOCK_LOCK, 80, 0, false);
	memory[0] = 0xffffffff;
	check_owner(true, PLOCK_RDLOCK, 0, 0, true);
	memory[0] = 2;
	check_owner(true, PLOCK_WRLOCK, 0, 2, false);
}
END_TEST

/* ---- cycles ---- */

static void
note_cycle(void *ctx, const int *nodes, size_t n)
{
	struct str *to = ctx;

	str_add(to, "(");
	for (size_t i = 0; i < n; i++)
		str_printf(to, " %d", nodes[i]);
	str_add(to, " )");
}

static void
check_cycles(const int *next, size_t n, const char *want)
{
	struct str got = { 0 };

	holds_cycles(next, n, note_cycle, &got);
	ck_assert_str_eq(str_c(&got), want);
	str_fini(&got);
}

START_TEST(cycles_are_found_once)
{
	check_cycles((int[]){ 1, 0 }, 2, "( 0 1 )");
	check_cycles((int[]){ 0 }, 1, "( 0 )");
	check_cycles((int[]){ -1, 0, 1 }, 3, "");
	check_cycles(NULL, 0, "");
	/* Two that lead into a ring of three, one beside it. */
	check_cycles((int[]){ 1, 2, 3, 4, 2, -1 }, 6, "( 2 3 4 )");
	check_cycles((int[]){ 1, 0, 3, 2, 0, 4 }, 6, "( 0 1 )( 2 3 )");
}
END_TEST

START_TEST(strings_are_json)
{
	struct str got = { 0 };

	text_add_json(&got, "a\"b\\c\n\x01`d\xc3\xa9");
	ck_assert_str_eq(
	    str_c(&got), "\"a\\\"b\\\\c\\u000a\\u0001`d\xc3\xa9\"");
	str_fini(&got);
	/* No UTF-8: the byte is kept as a character of that number. */
	text_add_json(&got, "\xff");
	ck_assert_str_eq(str_c(&got), "\"\\u00ff\"");
	str_fini(&got);
	/* What turns the direction of text, and a disguised escape. */
	text_add_json(&got, "\xe2\x80\xae|\xe0\x80\x9b|\xe2\x82\xac");
	ck_assert_str_eq(
	    str_c(&got), "\"\\u202e|\\u00e0\\u0080\\u009b|\xe2\x82\xac\"");
	str_fini(&got);
}
END_TEST

/* ---- a real library ---- */

static const char program[] =
    "#include <pthread.h>\n"
    "#include <stdio.h>\n"
    "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
    "int main(void) { pthread_mutex_lock(&m); puts(\"here\");\n"
    "	fflush(stdout); getchar(); return pthread_mutex_unlock(&m); }\n";

static size_t
row_of(const char *func)
{
	return (size_t)(row(func) - plock_rows);
}

/* Its futex calls are system-call instructions in text of the library, and not
 * in what is run for a lock that is free. */
static void
check_waits(const struct plock_space *ps, const struct child *c)
{
	const struct plock_func *f = &ps->funcs[row_of("pthread_mutex_lock")];
	plock_fns fns = { 0 };
	size_t waits = 0;
	uint8_t code[2];

	plock_code_reach(ps->code, f->start, &fns);
	vec_foreach(fn, &fns)
		vec_foreach(w, &(*fn)->waits) {
			ck_assert_int_eq(w->how, PLOCK_SYSCALL);
			ck_assert_int_eq(
			    reader_read(&c->mem, w->addr, code, 2), 0);
			ck_assert(code[0] == 0x0f && code[1] == 0x05);
			ck_assert(w->addr < f->start ||
			    w->addr >= f->body.at[0]->end);
			waits++;
		}
	ck_assert_uint_gt(waits, 0);
	vec_fini(&fns);
}

START_TEST(the_library_is_found_and_read)
{
	const char *path =
	    fixture_compile("cc", ".c", "locker", program, "-O1");
	struct child c;
	char line[32];
	struct plock_found found;

	child_start(&c, path, NULL);
	child_line(&c, line, sizeof(line));
	struct addrspace *as = addrspace_create(c.pid, &c.mem);
	addrspace_refresh(as, NULL, NULL);
	struct plock_space *ps = plock_space_create(as, &c.mem);
	ck_assert_ptr_nonnull(ps);
	ck_assert(!ps->musl && ps->unwinds);
	for (size_t i = 0; i < plock_nrows; i++)
		if (ps->funcs[i].start != 0)
			ck_assert_uint_gt(ps->funcs[i].body.len, 0);
	check_waits(ps, &c);
	/* In the function, in one that it ends in, and by way of another. */
	uint64_t lock = ps->funcs[row_of("pthread_mutex_lock")].start;
	uint64_t cond = ps->funcs[row_of("pthread_cond_wait")].start;
	uint64_t user = addrspace_exec(as)->start + 8;
	uint64_t pcs[] = { lock + 4, cond + 20, user };
	ck_assert(plock_find(ps, PLOCK_BLOCKING, pcs, 3, &found));
	ck_assert_str_eq(plock_rows[found.row].func, "pthread_cond_wait");
	ck_assert_uint_eq(found.caller, 2);
	pcs[1] = user;
	ck_assert(plock_find(ps, PLOCK_BLOCKING, pcs, 3, &found));
	ck_assert_str_eq(plock_rows[found.row].func, "pthread_mutex_lock");
	ck_assert_uint_eq(found.caller, 1);
	/* What is behind the program's own code is none of its. */
	pcs[0] = user;
	pcs[1] = lock + 4;
	ck_assert(!plock_find(ps, PLOCK_BLOCKING, pcs, 3, &found));
	ck_assert(!plock_find(ps, PLOCK_BIT(PLOCK_JOIN), pcs + 1, 2, &found));
	plock_space_put(ps);
	child_end(&c);
	addrspace_put(as);
}
END_TEST

/* Jumps backwards everywhere: each is the end of a function, in another one. */
static int
jumps_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = (addr + i) % 2 == 0 ? 0xeb : 0x82;
	return 0;
}

START_TEST(code_that_leads_everywhere_has_an_end)
{
	const struct reader text = { jumps_read, NULL };
	struct addrspace *as = addrspace_create(getpid(), NULL);
	plock_fns fns = { 0 };

	addrspace_refresh(as, NULL, NULL);
	uint64_t at = ROUND_UP((uintptr_t)&plock_code_reach, 2);
	const struct load *l = addrspace_load_at(as, at);
	struct plock_code *pc = plock_code_create(&text, l);
	plock_code_body(pc, at, &fns);
	ck_assert_uint_gt(fns.len, 30);
	ck_assert_uint_le(fns.len, 256);
	vec_clear(&fns);
	plock_code_reach(pc, at, &fns);
	ck_assert_uint_gt(fns.len, 30);
	ck_assert_uint_le(fns.len, 256);
	vec_fini(&fns);
	plock_code_destroy(pc);
	addrspace_put(as);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("plock");
	TCase *t = tcase_create("plock");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, an_uncontended_lock_is_acquired_and_released);
	tcase_add_test(t, a_wait_is_one_however_often_it_is_woken);
	tcase_add_test(t, errors_are_told);
	tcase_add_test(t, recursion_and_writers_are_flags);
	tcase_add_test(t, semaphores_and_threads);
	tcase_add_test(t, errors_of_rwlocks_are_told);
	tcase_add_test(t, a_condition_that_is_found_waiting_knows_its_mutex);
	tcase_add_test(t, a_condition_gives_its_mutex_back);
	tcase_add_test(t, the_librarys_own_calls_are_not_told);
	tcase_add_test(t, a_call_may_be_found_when_it_waits);
	tcase_add_test(t, calls_that_never_return_do_not_pile_up);
	tcase_add_test(t, every_verb_has_events_and_every_event_a_name);
	tcase_add_test(t, each_function_has_its_events);
	tcase_add_test(t, arguments_have_types);
	tcase_add_test(t, futex_calls_are_told_from_others);
	tcase_add_test(t, locks_are_found_by_their_words);
	tcase_add_test(t, recursion_and_writers_are_read);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, the_library_is_found_and_read);
	tcase_add_test(t, code_that_leads_everywhere_has_an_end);
	tcase_add_test(t, owners_are_read);
	tcase_add_test(t, cycles_are_found_once);
	tcase_add_test(t, strings_are_json);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	fixture_setup();
	srunner_run_all(r, CK_NORMAL);
	fixture_teardown();
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
