/*
 * tracer/prov/plock/ plock_holds: what plockstat -d writes about the threads of a
 * process, from their stacks, their futex calls and the locks in its memory.
 */
#include <check.h>
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "dlang/base/str.h"
#include "symbols/addrspace.h"
#include "symbols/symbolise.h"
#include "symbols/unwind.h"
#include "t/unit/suite.h"
#include "tracer/consume/locks.h"
#include "tracer/consume/text.h"
#include "tracer/prov/plock/plock_holds.h"
#include "tracer/prov/plock/plock_impl.h"
#include "tracer/prov/plock/plock_mem.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"

#define PID   100
#define LOCK  UINT64_C(0x5000) /* the memory of the process */
#define MEM_N 0x3000U
#define STACK UINT64_C(0x7000)
#define LIB   UINT64_C(0x70000)
#define USER  UINT64_C(0x400000)
#define CODE  64U /* bytes of a lock function */
#define MOST  6U

/* One thread: its ID in the process is TID - 99. */
struct fake {
	struct thread th;
	struct uregs regs;
	const char *name;
	bool dead, in_call;
	struct syscall_entry call;
	uint64_t pcs[3];
	size_t n;
};

static struct fake fakes[MOST];
static struct proc proc;
static struct space space;
static struct plock_space lib, *found_lib;
static struct plock_func funcs[64];
static struct load lib_load, user_load;
static uint8_t memory[MEM_N];
static bool detached, left;
static const char *no_status; /* what the file has instead of NSpid */
static int attach_error;
static FILE *output;

static int
double_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	if (addr < LOCK || addr - LOCK > MEM_N - len)
		return -EFAULT;
	memcpy(buf, memory + (addr - LOCK), len);
	return 0;
}

static struct fake *
fake_of(pid_t tid)
{
	ck_assert(tid >= PID && tid < PID + (int)MOST);
	return &fakes[tid - PID];
}

static int
double_attach(pid_t pid, struct proc **to, struct proc_error *err)
{
	ck_assert_int_eq(pid, PID);
	*to = &proc;
	if (attach_error != 0)
		*err = (struct proc_error){ attach_error, "it is not ours" };
	return attach_error;
}

/* The reader of the output may wait for the process. */
static void
double_detach(const struct proc *p)
{
	ck_assert_ptr_eq(p, &proc);
	fflush(output);
	ck_assert_int_eq(ftell(output), 0);
	detached = true;
}

static void
double_maps(struct maps *maps)
{
	static const char text[] = "00007000-00007800 rw-p 00000000 00:00 0\n"
				   "00007800-00008000 rw-p 00000000 00:00 0\n";

	maps_parse(text, sizeof(text) - 1, maps);
}

static void
double_text(pid_t tid, const char *path, char *buf, size_t size)
{
	struct fake *f = fake_of(tid);
	char want[40];

	snprintf(want, sizeof(want), "task/%d/comm", (int)tid);
	if (strcmp(path, want) == 0) {
		snprintf(buf, size, "%s", f->name);
		return;
	}
	snprintf(want, sizeof(want), "task/%d/status", (int)tid);
	ck_assert_str_eq(path, want);
	if (no_status != NULL)
		snprintf(buf, size, "%s", no_status);
	else
		snprintf(buf, size, "Name:\tx\nNSpid:\t%d\t%d\nNSpgid:\t9\n",
		    (int)tid, (int)tid - 99);
}

static size_t
double_unwind(const struct uregs *regs, uint64_t *pcs, size_t most)
{
	size_t i = 0;

	while (&fakes[i].regs != regs)
		ck_assert_uint_lt(++i, MOST);
	ck_assert_uint_ge(most, fakes[i].n);
	memcpy(pcs, fakes[i].pcs, fakes[i].n * sizeof(pcs[0]));
	return fakes[i].n;
}

static size_t
row_of(const char *func)
{
	size_t i = 0;

	while (strcmp(plock_rows[i].func, func) != 0)
		i++;
	return i;
}

static bool
double_find(
    uint32_t verbs, const uint64_t *pcs, size_t n, struct plock_found *f)
{
	*f = (struct plock_found){ 0 };
	if (n == 0 || pcs[0] < LIB || pcs[0] >= lib_load.end)
		return false;
	*f = (struct plock_found){ (pcs[0] - LIB) / CODE, 1 };
	return (verbs & PLOCK_BIT(plock_rows[f->row].verb)) != 0;
}

static bool
double_covers(const struct plock_func *f, uint64_t pc)
{
	return f->start != 0 && pc >= f->start && pc < f->start + CODE;
}

static bool
double_call(struct thread *th, struct syscall_entry *se)
{
	*se = fake_of(th->tid)->call;
	return fake_of(th->tid)->in_call;
}

static struct uregs *
double_regs(struct thread *th)
{
	return fake_of(th->tid)->dead ? NULL : &fake_of(th->tid)->regs;
}

static const struct load *
double_load(uint64_t addr)
{
	if (addr >= lib_load.start && addr < lib_load.end)
		return &lib_load;
	return addr >= user_load.start && addr < user_load.end ? &user_load :
								 NULL;
}

/* Text is the first page of an object. */
static bool
double_is_text(const struct object *o, uint64_t addr)
{
	return addr < 0x1000;
}

#define super_create()                    NULL
#define super_destroy(su)                 (left = (su) == NULL)
#define proc_attach(su, pid, p, err)      double_attach(pid, p, err)
#define proc_detach(p, fn, ctx)           double_detach(p)
#define addrspace_create(pid, mem)        ((void)(mem), NULL)
#define addrspace_refresh(as, fn, ctx)    ck_assert_ptr_null(as)
#define addrspace_stamp(as)               7
#define addrspace_detach(as)              ck_assert(detached)
#define addrspace_put(as)                 ck_assert_ptr_null(as)
#define addrspace_load_at(as, a)          double_load(a)
#define object_is_text(o, a)              double_is_text(o, a)
#define maps_read(pid, maps)              double_maps(maps)
#define unwinder_create(as)               NULL
#define unwinder_destroy(u)               ck_assert_ptr_null(u)
#define unwind(u, regs, mem, pcs, n)      double_unwind(regs, pcs, n)
#define plock_space_create(as, text)      ((void)(text), found_lib)
#define plock_space_put(ps)               ck_assert_ptr_eq(ps, found_lib)
#define plock_find(ps, verbs, pcs, n, f)  double_find(verbs, pcs, n, f)
#define plock_covers(f, pc)               double_covers(f, pc)
#define thread_syscall_regs(th, se)       double_call(th, se)
#define thread_regs(th)                   double_regs(th)
#define procfs_text(tid, path, buf, size) double_text(tid, path, buf, size)
#define symbolise_frame(s, pc, inner, how, buf, size)                  \
	snprintf(buf, size, "f%lx\"%lx %d", (long)(pc), (long)(inner), \
	    how == SYM_DEMANGLE)
#define lock_name(stamp, maps, addr, buf, size) \
	snprintf(buf, size, "a\"lock%lx", (long)(addr))
#include "tracer/prov/plock/plock_holds.c"

static void
put(uint64_t addr, uint32_t value)
{
	memcpy(memory + (addr - LOCK), &value, 4);
}

static void
setup(void)
{
	static struct thread *list[MOST];

	output = tmpfile();
	space.mem.read = double_read;
	space.text = space.mem;
	proc.pid = PID;
	proc.space = &space;
	proc.threads.at = list;
	lib_load.start = LIB;
	lib_load.end = LIB + 0x10000;
	lib_load.bias = LIB;
	user_load.start = USER;
	user_load.end = USER + 0x10000;
	user_load.bias = USER;
	lib.funcs = funcs;
	lib.load = &lib_load;
	lib.unwinds = true;
	found_lib = &lib;
	for (size_t i = 0; i < plock_nrows; i++)
		funcs[i].start = LIB + i * CODE;
}

static void
teardown(void)
{
	fclose(output);
}

/* One more thread, which runs in the program. */
static struct fake *
another(const char *name)
{
	struct fake *f = &fakes[proc.threads.len];

	f->name = name;
	f->th.tid = PID + (int)proc.threads.len;
	f->th.stop.state = TH_STOPPED;
	f->pcs[0] = USER + 16 * proc.threads.len;
	f->n = 1;
	proc.threads.at[proc.threads.len++] = &f->th;
	return f;
}

static void
sleeps(struct fake *f, uint64_t addr, uint32_t op, uint32_t value)
{
	f->in_call = true;
	f->call.nr = SYS_futex;
	f->call.args[0] = addr;
	f->call.args[1] = op;
	f->call.args[2] = value;
}

/* One more thread, which waits in the function for a futex. */
static struct fake *
waits(const char *name, const char *func, uint64_t addr, uint32_t value)
{
	struct fake *f = another(name);

	f->pcs[1] = f->pcs[0];
	f->pcs[0] = LIB + row_of(func) * CODE + 4;
	f->n = 2;
	sleeps(f, addr, FUTEX_WAIT, value);
	return f;
}

/* glibc: the thread with this ID in the process owns the mutex. */
static void
owned(uint64_t mutex, uint32_t by)
{
	put(mutex, 2);
	put(mutex + 8, by);
}

static const char *
written(bool json)
{
	static char text[8000];
	char why[80] = "";

	ck_assert_int_eq(holds_print(PID, json, output, why, sizeof(why)), 0);
	ck_assert_str_eq(why, "");
	ck_assert(detached && left);
	rewind(output);
	text[fread(text, 1, sizeof(text) - 1, output)] = '\0';
	return text;
}

/* The line that begins so, without that begin and its newline. */
static const char *
line(const char *begin)
{
	static char copy[300];
	const char *at = strstr(written(false), begin);

	if (at == NULL)
		return "none";
	snprintf(copy, sizeof(copy), "%s", at + strlen(begin));
	copy[strcspn(copy, "\n")] = '\0';
	return copy;
}

START_TEST(a_deadlock_is_told_with_the_stacks_that_lead_to_it)
{
	waits("one\n", "pthread_mutex_lock", LOCK, 2);
	waits("two\n", "pthread_mutex_lock", LOCK + 64, 2);
	another("idle\n");
	owned(LOCK, 2);
	owned(LOCK + 64, 1);
	ck_assert_str_eq(written(false),
	    "process 100: 3 threads, 2 waiting for locks\n"
	    "\nthread 100 (one) waits for mutex a\"lock5000, "
	    "held by thread 101 (two)\n"
	    "              f70004\"0 1\n"
	    "              f400000\"70004 1\n"
	    "\nthread 101 (two) waits for mutex a\"lock5040, "
	    "held by thread 100 (one)\n"
	    "              f70004\"0 1\n"
	    "              f400010\"70004 1\n"
	    "\nDEADLOCK of 2 threads:\n"
	    "    thread 100 (one) waits for a\"lock5000, "
	    "held by thread 101 (two)\n"
	    "    thread 101 (two) waits for a\"lock5040, "
	    "held by thread 100 (one)\n");
}
END_TEST

START_TEST(a_deadlock_is_json)
{
	waits("one\n", "pthread_mutex_lock", LOCK, 2);
	waits("t\"2\n", "pthread_rwlock_wrlock", LOCK + 64 + 12, 2);
	waits("me\n", "pthread_mutex_lock", LOCK + 256, 2);
	waits("rd\n", "pthread_rwlock_wrlock", LOCK + 128 + 12, 2);
	owned(LOCK, 2);
	put(LOCK + 64 + 24, 1);
	owned(LOCK + 256, 3);
	put(LOCK + 128, 5 << 3);
	ck_assert_str_eq(written(true),
	    "{\"pid\": 100, \"threads\": [\n"
	    "  {\"tid\": 100, \"name\": \"one\", "
	    "\"in\": \"pthread_mutex_lock\", \"lock\": "
	    "{\"address\": \"0x5000\", \"name\": \"a\\\"lock5000\"}, "
	    "\"waits_for\": 101,\n"
	    "   \"stack\": [\"f70004\\\"0 1\", \"f400000\\\"70004 1\"]},\n"
	    "  {\"tid\": 101, \"name\": \"t\\\"2\", "
	    "\"in\": \"pthread_rwlock_wrlock\", \"lock\": "
	    "{\"address\": \"0x5040\", \"name\": \"a\\\"lock5040\"}, "
	    "\"waits_for\": 100,\n"
	    "   \"stack\": [\"f70304\\\"0 1\", \"f400010\\\"70304 1\"]},\n"
	    "  {\"tid\": 102, \"name\": \"me\", "
	    "\"in\": \"pthread_mutex_lock\", \"lock\": "
	    "{\"address\": \"0x5100\", \"name\": \"a\\\"lock5100\"}, "
	    "\"waits_for\": 102,\n"
	    "   \"stack\": [\"f70004\\\"0 1\", \"f400020\\\"70004 1\"]},\n"
	    "  {\"tid\": 103, \"name\": \"rd\", "
	    "\"in\": \"pthread_rwlock_wrlock\", \"lock\": "
	    "{\"address\": \"0x5080\", \"name\": \"a\\\"lock5080\"}, "
	    "\"readers\": 5,\n"
	    "   \"stack\": [\"f70304\\\"0 1\", \"f400030\\\"70304 1\"]}"
	    "\n], \"deadlocks\": [[100, 101], [102]]}\n");
}
END_TEST

START_TEST(conditions_and_joins_are_no_locks_in_json)
{
	waits("c\n", "pthread_cond_wait", LOCK + 40, 0);
	fakes[0].call.args[1] = FUTEX_WAIT_BITSET;
	waits("j\n", "pthread_join", LOCK + 720, 3);
	another("k\n");
	ck_assert_str_eq(written(true),
	    "{\"pid\": 100, \"threads\": [\n"
	    "  {\"tid\": 100, \"name\": \"c\", \"in\": \"pthread_cond_wait\",\n"
	    "   \"stack\": [\"f70444\\\"0 1\", \"f400000\\\"70444 1\"]},\n"
	    "  {\"tid\": 101, \"name\": \"j\", \"in\": \"pthread_join\", "
	    "\"waits_for\": 102,\n"
	    "   \"stack\": [\"f70704\\\"0 1\", \"f400010\\\"70704 1\"]},\n"
	    "  {\"tid\": 102, \"name\": \"k\",\n"
	    "   \"stack\": [\"f400020\\\"0 1\"]}"
	    "\n], \"deadlocks\": []}\n");
}
END_TEST

START_TEST(a_thread_that_holds_is_told_though_it_runs)
{
	waits("one\n", "pthread_mutex_lock", LOCK, 2);
	another("busy\n");
	owned(LOCK, 2);
	const char *text = written(false);
	ck_assert_ptr_nonnull(
	    strstr(text, "\nthread 101 (busy) holds what others wait for\n"));
	ck_assert_ptr_null(strstr(text, "DEADLOCK"));
}
END_TEST

START_TEST(a_thread_alone_can_lock_itself_up)
{
	waits("one\n", "pthread_mutex_lock", LOCK, 2);
	owned(LOCK, 1);
	const char *text = written(false);
	ck_assert_ptr_eq(
	    strstr(text, "process 100: 1 thread, 1 waiting"), text);
	ck_assert_ptr_nonnull(strstr(text,
	    "\nDEADLOCK of 1 thread:\n    thread 100 (one) waits for "
	    "a\"lock5000, held by thread 100 (one)\n"));
}
END_TEST

START_TEST(joins_are_part_of_deadlocks)
{
	waits("one\n", "pthread_join", LOCK + 720, 2);
	waits("two\n", "pthread_mutex_lock", LOCK, 2);
	waits("three\n", "pthread_join", LOCK + 720, 9);
	owned(LOCK, 1);
	ck_assert_str_eq(line("\nthread 100 (one) waits"),
	    " for the end of thread 101 (two)");
	rewind(output);
	const char *text = written(false);
	ck_assert_ptr_nonnull(strstr(
	    text, "\nthread 102 (three) waits for the end of thread 9\n"));
	ck_assert_ptr_nonnull(strstr(text,
	    "DEADLOCK of 2 threads:\n    thread 100 (one) waits for "
	    "the end of thread 101 (two)\n    thread 101 (two) waits for "
	    "a\"lock5000, held by thread 100 (one)\n"));
}
END_TEST

START_TEST(a_condition_has_no_owner)
{
	waits("one\n", "pthread_cond_wait", LOCK + 40, 0);
	fakes[0].call.args[1] = FUTEX_WAIT_BITSET;
	ck_assert_str_eq(written(false),
	    "process 100: 1 thread, 0 waiting for locks\n"
	    "\nthread 100 (one) waits for a condition\n"
	    "              f70444\"0 1\n"
	    "              f400000\"70444 1\n");
}
END_TEST

START_TEST(a_condition_that_was_signalled_waits_for_its_mutex)
{
	waits("one\n", "pthread_cond_wait", LOCK, 2);
	owned(LOCK, 7);
	ck_assert_str_eq(line("(one) "),
	    "waits for mutex a\"lock5000, held by thread 7, "
	    "which is not there");
}
END_TEST

START_TEST(one_reader_and_several_are_counted)
{
	waits("one\n", "pthread_rwlock_wrlock", LOCK + 12, 3);
	put(LOCK, 1 << 3);
	waits("two\n", "pthread_rwlock_rdlock", LOCK + 64 + 8, 3);
	put(LOCK + 64, 3 << 3);
	ck_assert_str_eq(line("(one) "),
	    "waits for rwlock, to write, a\"lock5000, held by 1 reader");
	rewind(output);
	detached = false;
	ck_assert_ptr_nonnull(strstr(written(false),
	    "(two) waits for rwlock, to read, a\"lock5040, "
	    "held by 3 readers\n"));
}
END_TEST

START_TEST(musl_may_not_record_the_holder)
{
	lib.musl = true;
	waits("one\n", "pthread_mutex_timedlock", LOCK + 4, 2);
	put(LOCK + 4, 0x80000010);
	ck_assert_str_eq(line("(one) "),
	    "waits for mutex a\"lock5000, whose holder is not recorded");
}
END_TEST

START_TEST(a_semaphore_has_no_owner)
{
	waits("one\n", "sem_wait", LOCK, 0);
	ck_assert_str_eq(line("(one) "), "waits for semaphore a\"lock5000");
}
END_TEST

START_TEST(a_spin_lock_is_in_a_register)
{
	struct fake *f = waits("one\n", "pthread_spin_lock", 0, 0);

	f->in_call = false;
	f->regs.r[ureg_arg(0)] = LOCK + 8;
	ck_assert_str_eq(line("(one) "), "waits for spin lock a\"lock5008");
}
END_TEST

START_TEST(a_lock_on_a_stack_names_the_thread)
{
	another("zero\n")->regs.r[UREG_SP] = STACK + 0x7ff;
	another("one\n")->regs.r[UREG_SP] = STACK + 0x800;
	waits("two\n", "pthread_mutex_lock", STACK + 0x900, 2);
	waits("three\n", "sem_wait", STACK + 0x100, 0);
	fakes[2].regs.r[UREG_SP] = STACK + 0x1000;
	ck_assert_str_eq(
	    line("(two) "), "waits for mutex stack of thread 101 0x7900");
	rewind(output);
	ck_assert_ptr_nonnull(strstr(written(false),
	    "(three) waits for semaphore stack of thread 100 0x7100\n"));
}
END_TEST

START_TEST(what_is_in_no_call_does_not_wait)
{
	/* About to make it, in another one, and one that wakes others. */
	waits("one\n", "pthread_mutex_lock", LOCK, 2)->in_call = false;
	waits("two\n", "pthread_mutex_lock", LOCK, 2)->call.nr = SYS_read;
	waits("three\n", "sem_wait", LOCK, 2)->call.args[1] = FUTEX_WAKE;
	waits("four\n", "pthread_mutex_unlock", LOCK, 2);
	ck_assert_str_eq(
	    written(false), "process 100: 4 threads, 0 waiting for locks\n");
}
END_TEST

START_TEST(without_a_library_nobody_waits)
{
	found_lib = NULL;
	waits("one\n", "pthread_mutex_lock", LOCK, 2);
	ck_assert_str_eq(
	    written(false), "process 100: 1 thread, 0 waiting for locks\n");
}
END_TEST

START_TEST(only_threads_that_stand_still_are_read)
{
	waits("one\n", "pthread_mutex_lock", LOCK, 2)->th.stop.state =
	    TH_RUNNING;
	waits("two\n", "pthread_mutex_lock", LOCK, 2)->dead = true;
	another("")->th.stop.state = TH_WAITING;
	ck_assert_str_eq(written(true),
	    "{\"pid\": 100, \"threads\": [\n"
	    "  {\"tid\": 101, \"name\": \"two\",\n   \"stack\": []},\n"
	    "  {\"tid\": 102, \"name\": \"\",\n"
	    "   \"stack\": [\"f400020\\\"0 1\"]}"
	    "\n], \"deadlocks\": []}\n");
}
END_TEST

/* Outside a container the kernel writes one number, and an old one none. */
START_TEST(ids_may_be_the_same_inside_and_outside)
{
	static const char *const texts[] = { "Name:\tx\n", "Name:\tx\nNSpid:" };

	waits("one\n", "pthread_mutex_lock", LOCK, 2);
	owned(LOCK, PID);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		no_status = texts[i];
		rewind(output);
		ck_assert_str_eq(line("\nthread 100 (one) waits for mutex "),
		    "a\"lock5000, held by thread 100 (one)");
	}
	no_status = "Name:\tx\nNSpid:\t44\nNSpgid:\t1\n";
	owned(LOCK, 44);
	rewind(output);
	ck_assert_str_eq(line("\nthread 100 (one) waits for mutex "),
	    "a\"lock5000, held by thread 100 (one)");
}
END_TEST

static void
on_stack(unsigned word, uint64_t value)
{
	memcpy(memory + (STACK - LOCK) + 8 * word, &value, 8);
}

/* Its stack: a library's frame, the lock function's, the program's. */
static void
sleeps_unseen(const char *func)
{
	struct fake *f = another("one\n");

	lib.unwinds = false;
	f->pcs[0] = LIB + 0x8000;
	f->n = 0;
	f->regs.r[UREG_SP] = STACK;
	sleeps(f, LOCK, FUTEX_WAIT, 2);
	on_stack(0, LIB + 0x8000);
	on_stack(1, USER + 8); /* not above the lock function's frame */
	on_stack(3, LIB + row_of(func) * CODE + CODE);
	on_stack(4, LIB + 0x20);
	on_stack(5, USER + 0x1000); /* data */
	on_stack(6, USER + 0x40);
	on_stack(7, LIB + row_of("sem_wait") * CODE + 4);
	on_stack(8, USER + 0x80);
}

START_TEST(without_rules_the_stack_is_searched)
{
	sleeps_unseen("pthread_mutex_lock");
	ck_assert_str_eq(written(false),
	    "process 100: 1 thread, 1 waiting for locks\n"
	    "\nthread 100 (one) waits for mutex a\"lock5000\n"
	    "              f70040\"0 1\n"
	    "              f400040\"70040 1\n");
}
END_TEST

START_TEST(what_does_not_wait_is_passed_over)
{
	sleeps_unseen("pthread_mutex_unlock");
	/* LIB + 0x20 is in pthread_mutex_lock(). */
	ck_assert_ptr_nonnull(strstr(written(false),
	    "thread 100 (one) waits for mutex a\"lock5000\n"
	    "              f70020\"0 1\n"));
}
END_TEST

START_TEST(the_search_needs_a_futex_call)
{
	sleeps_unseen("pthread_mutex_lock");
	fakes[0].in_call = false;
	ck_assert_str_eq(
	    written(false), "process 100: 1 thread, 0 waiting for locks\n");
}
END_TEST

START_TEST(where_there_are_rules_no_stack_is_searched)
{
	sleeps_unseen("pthread_mutex_lock");
	lib.unwinds = true;
	ck_assert_str_eq(
	    written(false), "process 100: 1 thread, 0 waiting for locks\n");
}
END_TEST

START_TEST(the_search_ends_with_the_stack)
{
	struct fake *f = another("one\n");

	lib.unwinds = false;
	f->n = 0;
	/* The function's frame is there, its caller is not. */
	sleeps(f, LOCK, FUTEX_WAIT, 2);
	f->regs.r[UREG_SP] = LOCK + MEM_N - 8;
	uint64_t ra = LIB + 4;
	memcpy(memory + MEM_N - 8, &ra, 8);
	ck_assert_str_eq(line("(one) "), "waits for mutex a\"lock5000");
}
END_TEST

START_TEST(the_search_goes_256_words_deep)
{
	struct fake *f = another("one\n");

	lib.unwinds = false;
	f->n = 0;
	sleeps(f, LOCK, FUTEX_WAIT, 2);
	f->regs.r[UREG_SP] = STACK - 8 * 256;
	on_stack(0, LIB + 4);
	ck_assert_str_eq(line("one"), "none");
	f->regs.r[UREG_SP] += 8;
	rewind(output);
	ck_assert_str_eq(line("(one) "), "waits for mutex a\"lock5000");
}
END_TEST

START_TEST(a_process_that_cannot_be_traced_is_an_error)
{
	char why[80] = "";

	attach_error = -EPERM;
	ck_assert_int_eq(
	    holds_print(PID, false, output, why, sizeof(why)), -EPERM);
	ck_assert_str_eq(why, "it is not ours");
	ck_assert(left && !detached);
	ck_assert_int_eq(ftell(output), 0);
}
END_TEST

START_TEST(output_that_is_not_written_is_an_error)
{
	char why[80] = "";

	fclose(output);
	output = fopen("/dev/full", "w");
	another("one\n");
	ck_assert_int_eq(
	    holds_print(PID, false, output, why, sizeof(why)), -ENOSPC);
	ck_assert_str_eq(why, "cannot write output: No space left on device");
}
END_TEST

static void
note_cycle(void *ctx, const int *nodes, size_t n)
{
	str_add(ctx, "(");
	for (size_t i = 0; i < n; i++)
		str_printf(ctx, " %d", nodes[i]);
	str_add(ctx, " )");
}

START_TEST(cycles_are_found_once)
{
	static const int next[] = { 1, 0, 3, 2, 0, 4, 7, -1 };
	struct str got = { 0 };

	holds_cycles(next, ARRAY_SIZE(next), note_cycle, &got);
	ck_assert_str_eq(str_c(&got), "( 0 1 )( 2 3 )");
	str_fini(&got);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		a_deadlock_is_told_with_the_stacks_that_lead_to_it,
		a_deadlock_is_json,
		conditions_and_joins_are_no_locks_in_json,
		a_thread_that_holds_is_told_though_it_runs,
		a_thread_alone_can_lock_itself_up,
		joins_are_part_of_deadlocks,
		a_condition_has_no_owner,
		a_condition_that_was_signalled_waits_for_its_mutex,
		one_reader_and_several_are_counted,
		musl_may_not_record_the_holder,
		a_semaphore_has_no_owner,
		a_spin_lock_is_in_a_register,
		a_lock_on_a_stack_names_the_thread,
		what_is_in_no_call_does_not_wait,
		without_a_library_nobody_waits,
		only_threads_that_stand_still_are_read,
		ids_may_be_the_same_inside_and_outside,
		without_rules_the_stack_is_searched,
		what_does_not_wait_is_passed_over,
		the_search_needs_a_futex_call,
		where_there_are_rules_no_stack_is_searched,
		the_search_ends_with_the_stack,
		the_search_goes_256_words_deep,
		a_process_that_cannot_be_traced_is_an_error,
		output_that_is_not_written_is_an_error,
		cycles_are_found_once,
	};

	return suite_run(
	    "plock_holds", setup, teardown, tests, ARRAY_SIZE(tests));
}
