/*
 * symbols/unwind: stacks of programs that say what their stacks are (by
 * glibc's backtrace(), a different unwinder), and stacks that must not change
 * while a function runs.
 */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/symbolise.h"
#include "symbols/unwind/frame.h"
#include "t/fake/fixture.h"

#define FRAMES 600

/* Goes some way down, says its stack, waits. */
static const char program[] =
    "#define _GNU_SOURCE\n"
    "#include <alloca.h>\n#include <execinfo.h>\n#include <pthread.h>\n"
    "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
    "#include <string.h>\n#include <unistd.h>\n"
    "#define NI __attribute__((noinline, noclone))\n"
    "volatile int sink;\n"
    "NI void stop(void) {\n"
    "	static void *b[2000]; int i, n = backtrace(b, 2000); char c;\n"
    "	printf(\"%d\\n\", gettid());\n"
    "	for (i = 1; i < n; i++) printf(\"%p\\n\", b[i]);\n"
    "	printf(\"end\\n\"); fflush(stdout);\n"
    "	sink = read(0, &c, 1); }\n"
    "NI void deep(int n) { if (n == 0) stop(); else deep(n - 1); sink++; }\n"
    "NI void wide(int n) { char *p = alloca(n); memset(p, 1, n);\n"
    "	deep(3); sink += p[n / 2]; }\n"
    "NI void big(void) { char a[300000]; memset(a, 2, sizeof(a));\n"
    "	wide(100000); sink += a[1234]; }\n"
    "NI int compare(const void *a, const void *b) { stop(); sink++;\n"
    "	return *(const int *)a - *(const int *)b; }\n"
    "NI void handler(int s) { deep(2); sink++; }\n"
    "NI void signalled(int flags) { static char st[65536];\n"
    "	stack_t ss = { .ss_sp = st, .ss_size = sizeof(st) };\n"
    "	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };\n"
    "	sigaltstack(&ss, 0); sigaction(SIGUSR1, &sa, 0);\n"
    "	raise(SIGUSR1); sink++; }\n"
    "NI void crash(int flags) {\n"
    "	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };\n"
    "	sigaction(SIGTRAP, &sa, 0); __asm__ volatile(\"int3\"); sink++; }\n"
    "NI void *thread(void *arg) { deep(4); sink++; return arg; }\n"
    "NI void aligned(void) { char a[64] __attribute__((aligned(64)));\n"
    "	memset(a, 3, 64); wide(77); sink += a[5]; }\n"
    "int main(int argc, char **argv) {\n"
    "	const char *m = argv[1]; int v[] = { 3, 1, 2 }; pthread_t t;\n"
    "	if (!strcmp(m, \"plain\")) deep(5);\n"
    "	else if (!strcmp(m, \"recursion\")) deep(1500);\n"
    "	else if (!strcmp(m, \"big\")) big();\n"
    "	else if (!strcmp(m, \"aligned\")) aligned();\n"
    "	else if (!strcmp(m, \"qsort\")) qsort(v, 3, sizeof(int), compare);\n"
    "	else if (!strcmp(m, \"signal\")) signalled(0);\n"
    "	else if (!strcmp(m, \"altstack\")) signalled(SA_ONSTACK);\n"
    "	else if (!strcmp(m, \"crash\")) crash(0);\n"
    "	else if (!strcmp(m, \"thread\")) {\n"
    "		pthread_create(&t, 0, thread, 0); pthread_join(t, 0); }\n"
    "	return sink == 12345; }\n";

static const char *const modes[] = { "plain", "big", "aligned", "qsort",
	"signal", "altstack", "crash", "thread" };

struct stack {
	uint64_t pcs[2000];
	size_t n;
	pid_t tid;
};

static struct stack
stack_said(struct child *c)
{
	static struct stack s;
	char line[128];

	s.n = 0;
	s.tid = atoi(child_line(c, line, sizeof(line)));
	while (strcmp(child_line(c, line, sizeof(line)), "end") != 0)
		s.pcs[s.n++] = strtoull(line, NULL, 16);
	return s;
}

static void
describe(struct addrspace *as, const uint64_t *pcs, size_t n)
{
	char buf[256];

	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "%3zu %s\n", i,
		    symbolise(as, pcs[i], SYM_PLAIN, buf, sizeof(buf)));
}

static uint64_t told_twice; /* frames that rules and libunwind have found */

/* The stack of a child that waits in stop() is what it said it is. */
static void
check_mode(const char *path, const char *mode)
{
	char *argv[] = { (char *)(uintptr_t)path, (char *)(uintptr_t)mode,
		NULL };
	uint64_t pcs[FRAMES], whole[FRAMES];
	const struct sym *stop;
	struct addrspace *as;
	struct unwinder *u;
	struct child c;
	struct uregs r;
	size_t n;

	child_start(&c, path, argv);
	struct stack said = stack_said(&c);
	trace_attach(said.tid);
	as = addrspace_create(c.pid, &c.mem);
	ck_assert_int_ge(addrspace_refresh(as, NULL, NULL), 1);
	u = unwinder_create(as);
	r = trace_regs(said.tid);
	n = unwind(u, &r, &c.mem, pcs, FRAMES);
	ck_assert_uint_eq(pcs[0], r.r[UREG_RIP]);
	ck_assert_uint_eq(unwind_whole(u, &r, &c.mem, whole, FRAMES), n);
	ck_assert_mem_eq(whole, pcs, n * sizeof(pcs[0]));
	/* The last one is not looked at for its caller. */
	ck_assert_uint_eq(unwind_whole(u, &r, &c.mem, whole, n), 0);
	if (n <= said.n ||
	    memcmp(pcs + n - said.n, said.pcs, said.n * sizeof(pcs[0])) != 0) {
		describe(as, pcs, n);
		fprintf(stderr, "but it said:\n");
		describe(as, said.pcs, said.n);
		ck_abort_msg("%s %s", path, mode);
	}
	/* Above those is stop() itself, in whatever it does now. */
	stop = object_func_at(addrspace_exec(as)->object,
	    pcs[n - said.n - 1] - addrspace_exec(as)->bias);
	if (stop != NULL)
		ck_assert_str_eq(stop->name, "stop");
	told_twice += u->compared;
	unwinder_destroy(u);
	addrspace_put(as);
	child_end(&c);
}

START_TEST(unwind_agrees_with_the_program)
{
	static const char *const ways[] = { "-O0", "-O2 -fomit-frame-pointer",
		"-O2 -no-pie", "-O1 -static", "-O2 -static-pie",
		"-O2 -fno-omit-frame-pointer -Wl,-z,now" };

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const char *path = fixture_cc("stacks", program, ways[i]);

		for (size_t m = 0; m < ARRAY_SIZE(modes); m++)
			check_mode(path, modes[m]);
		unlink(path);
	}
}
END_TEST

static void
differs(void *ctx, const char *text)
{
	ck_abort_msg("%s", text);
}

/* By our rules, by libunwind, and by both. */
START_TEST(unwinders_agree)
{
	const char *path = fixture_cc("both", program, "-O2");

	for (size_t m = 0; m < ARRAY_SIZE(modes); m++) {
		unwind_choose(UNWINDER_CHECK, differs, NULL);
		told_twice = 0;
		check_mode(path, modes[m]);
		ck_assert_uint_gt(told_twice, 5);
		unwind_choose(UNWINDER_LIBUNWIND, differs, NULL);
		check_mode(path, modes[m]);
	}
}
END_TEST

/* What is stripped of symbols keeps its unwind entries. */
START_TEST(unwind_needs_no_symbols)
{
	const char *path = fixture_cc("bare", program, "-O2 -s");

	for (size_t m = 0; m < ARRAY_SIZE(modes); m++)
		check_mode(path, modes[m]);
}
END_TEST

START_TEST(unwind_ends_at_512_frames)
{
	const char *path = fixture_cc("recurse", program, "-O1");
	char *argv[] = { (char *)(uintptr_t)path, (char *)"recursion", NULL };
	uint64_t pcs[FRAMES], whole[FRAMES];
	struct addrspace *as;
	struct unwinder *u;
	struct child c;
	struct uregs r;
	size_t k;

	child_start(&c, path, argv);
	struct stack said = stack_said(&c);
	ck_assert_uint_gt(said.n, 1500);
	trace_attach(c.pid);
	as = addrspace_create(c.pid, &c.mem);
	addrspace_refresh(as, NULL, NULL);
	u = unwinder_create(as);
	r = trace_regs(c.pid);
	ck_assert_uint_eq(unwind(u, &r, &c.mem, pcs, FRAMES), 512);
	ck_assert_uint_eq(unwind_whole(u, &r, &c.mem, whole, FRAMES), 0);
	for (k = 0; k < 512 && pcs[k] != said.pcs[0]; k++)
		;
	ck_assert_uint_lt(k, 12);
	ck_assert_mem_eq(pcs + k, said.pcs, (512 - k) * sizeof(pcs[0]));
	/* As many as asked for, the same ones. */
	for (size_t max = 1; max < 100; max += 7) {
		uint64_t few[100];

		ck_assert_uint_eq(unwind(u, &r, &c.mem, few, max), max);
		ck_assert_mem_eq(few, pcs, max * sizeof(few[0]));
	}
	unwinder_destroy(u);
	addrspace_put(as);
	child_end(&c);
}
END_TEST

/* A function that is entered, calls others in several ways, and returns. */
static const char walk[] =
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "#include <time.h>\n#include <alloca.h>\n"
    "#define NI __attribute__((noinline, noclone))\n"
    "volatile int sink;\n"
    "NI int leaf(int a, int b) { return a * b + sink; }\n"
    "NI int pushes(int a) { int b = leaf(a, 1), c = leaf(b, 2),\n"
    "	d = leaf(c, 3), e = leaf(d, 4); return leaf(a, b) + leaf(c, d) + e; }\n"
    "NI int early(int a) { if (a < 1000) return a; return pushes(a) + 1; }\n"
    "NI int walked(int n) {\n"
    "	int s = pushes(n) + early(n);\n"
    "#ifdef LIBC\n"
    "	struct timespec ts; char text[64]; char *p = alloca(n + 100);\n"
    "	clock_gettime(CLOCK_MONOTONIC, &ts);\n"
    "	snprintf(text, sizeof(text), \"%d %s\", n, \"hello\");\n"
    "	memset(p, 1, n); s += abs((int)strlen(text)) + p[0];\n"
    "	free(malloc(100));\n"
    "#endif\n"
    "	return s; }\n"
    "NI int caller(int n) { int s = walked(n); sink += s; return s + 1; }\n"
    "int main(int argc, char **argv) { return caller(argc) == 7; }\n";

static uint64_t
function(struct addrspace *as, const char *name)
{
	const struct load *l = addrspace_exec(as);
	const struct sym *s = object_sym(l->object, name);

	ck_assert_ptr_nonnull(s);
	return l->bias + s->addr;
}

struct walk {
	pid_t pid;
	struct reader mem;
	struct addrspace *as;
	struct unwinder *u;
	uint64_t below[FRAMES]; /* the callers of walked() */
	size_t depth;
	uint64_t sp; /* in walked()'s caller, after the return */
};

/* To the first instruction of walked(). */
static void
walk_start(struct walk *w, const char *path)
{
	struct uregs r;
	uint64_t pcs[FRAMES], ret;

	w->pid = trace_start(path, NULL);
	w->mem = fixture_reader(w->pid);
	w->as = addrspace_create(w->pid, &w->mem);
	addrspace_refresh(w->as, NULL, NULL);
	trace_run_to(w->pid, function(w->as, "walked"));
	addrspace_refresh(w->as, NULL, NULL);
	w->u = unwinder_create(w->as);
	r = trace_regs(w->pid);
	w->sp = r.r[UREG_RSP] + 8;
	w->depth = unwind(w->u, &r, &w->mem, pcs, FRAMES) - 1;
	memcpy(w->below, pcs + 1, w->depth * sizeof(pcs[0]));
	/* The caller is there at the first instruction. */
	ck_assert_uint_ge(w->depth, 1);
	ck_assert_int_eq(
	    reader_read(&w->mem, r.r[UREG_RSP], &ret, sizeof(ret)), 0);
	ck_assert_uint_eq(w->below[0], ret);
	ck_assert_uint_ge(ret, function(w->as, "caller"));
}

static void
walk_end(struct walk *w)
{
	unwinder_destroy(w->u);
	addrspace_put(w->as);
	trace_end(w->pid);
}

/* At each instruction until walked() returns its callers are the same. */
static unsigned
walk_all(struct walk *w, unsigned most)
{
	uint64_t pcs[FRAMES];
	unsigned steps = 0;

	for (; steps < most; steps++) {
		struct uregs r = trace_regs(w->pid);
		size_t n;

		if (r.r[UREG_RSP] == w->sp && r.r[UREG_RIP] == w->below[0])
			return steps;
		n = unwind(w->u, &r, &w->mem, pcs, FRAMES);
		if (n <= w->depth ||
		    memcmp(pcs + n - w->depth, w->below,
			w->depth * sizeof(pcs[0])) != 0) {
			fprintf(stderr, "after %u steps, rsp %#lx\n", steps,
			    (unsigned long)r.r[UREG_RSP]);
			describe(w->as, pcs, n);
			fprintf(stderr, "should end in\n");
			describe(w->as, w->below, w->depth);
			ck_abort();
		}
		trace_step(w->pid);
	}
	return steps;
}

START_TEST(unwind_holds_at_every_instruction)
{
	static const char *const ways[] = {
		"-O0 -DLIBC -Wl,-z,lazy",
		"-O2 -DLIBC -fomit-frame-pointer -Wl,-z,lazy",
		"-O2 -DLIBC -fcf-protection=full -Wl,-z,now",
		"-O1 -DLIBC -static",
		"-Os -DLIBC -no-pie -Wl,-z,lazy",
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const char *path = fixture_cc("walk", walk, ways[i]);
		struct walk w;
		unsigned steps;

		walk_start(&w, path);
		/* main() and what glibc calls it from. */
		ck_assert_uint_ge(w.depth, 4);
		steps = walk_all(&w, 20000);
		ck_assert_uint_gt(steps, 300);
		walk_end(&w);
		unlink(path);
	}
}
END_TEST

/* No unwind entries in the program: frame pointers and what a call leaves. */
START_TEST(unwind_without_entries_uses_frame_pointers)
{
	static const char none[] = "-fno-asynchronous-unwind-tables "
				   "-fno-unwind-tables -fno-omit-frame-pointer";
	static const char *const levels[] = { "-O0", "-O1", "-O2" };

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		char options[200];
		uint64_t pcs[FRAMES];
		struct uregs r;
		struct walk w;

		snprintf(options, sizeof(options), "%s %s", levels[i], none);
		walk_start(&w, fixture_cc("frames", walk, options));
		ck_assert_uint_gt(walk_all(&w, 20000), 50);
		walk_end(&w);
		walk_start(&w, fixture_cc("frames", walk, options));
		/* That is not for certain. */
		r = trace_regs(w.pid);
		ck_assert_uint_gt(unwind(w.u, &r, &w.mem, pcs, FRAMES), 2);
		ck_assert_uint_eq(
		    unwind_whole(w.u, &r, &w.mem, pcs, FRAMES), 0);
		walk_end(&w);
	}
}
END_TEST

/* musl has no unwind entries, and an entry of its own to main(). */
START_TEST(unwind_knows_the_callers_in_a_musl_program)
{
	static const char *const ways[] = { "-O2", "-O0", "-O2 -static" };

	if (system("command -v musl-gcc >/dev/null") != 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct walk w;

		walk_start(&w,
		    fixture_compile(
			"musl-gcc", ".c", "walk-musl", walk, ways[i]));
		ck_assert_uint_ge(w.depth, 2);
		ck_assert_uint_ge(w.below[1], function(w.as, "main"));
		ck_assert_uint_gt(walk_all(&w, 20000), 50);
		walk_end(&w);
	}
}
END_TEST

/* A call of a pointer that is no function: the caller is still known. */
START_TEST(unwind_out_of_nowhere_finds_the_caller)
{
	struct walk w;
	struct uregs r;
	uint64_t pcs[FRAMES];
	size_t n;

	walk_start(&w, fixture_cc("nowhere", walk, "-O2"));
	r = trace_regs(w.pid);
	r.r[UREG_RIP] = 0x10;
	n = unwind(w.u, &r, &w.mem, pcs, FRAMES);
	ck_assert_uint_eq(n, w.depth + 1);
	ck_assert_mem_eq(pcs + 1, w.below, w.depth * sizeof(pcs[0]));
	walk_end(&w);
}
END_TEST

static uint64_t
next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Registers that mean nothing: an end, of at least one frame. */
START_TEST(unwind_of_garbage_ends)
{
	struct walk w;
	uint64_t pcs[FRAMES], seed = 88172645463325252;

	walk_start(&w, fixture_cc("garbage", walk, "-O2 -DLIBC"));
	const struct maps *maps = addrspace_maps(w.as);

	for (int round = 0; round < 3000; round++) {
		struct uregs r = trace_regs(w.pid);
		size_t n;

		for (int i = 0; i < UREG_COUNT; i++) {
			const struct map *m =
			    &maps->list.at[next_random(&seed) % maps->list.len];

			if (next_random(&seed) % 3 == 0)
				continue;
			r.r[i] =
			    m->start + next_random(&seed) % (m->end - m->start);
			if (i == UREG_RSP && round % 2 == 0)
				r.r[i] =
				    w.sp - 64 + (next_random(&seed) % 32) * 8;
			if (next_random(&seed) % 16 == 0)
				r.r[i] = next_random(&seed);
		}
		n = unwind(w.u, &r, &w.mem, pcs, FRAMES);
		ck_assert_uint_ge(n, 1);
		ck_assert_uint_le(n, 512);
		ck_assert_uint_eq(pcs[0], r.r[UREG_RIP]);
	}
	walk_end(&w);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("symbols/unwind");
	TCase *tc = tcase_create("unwind");
	SRunner *r = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, unwind_agrees_with_the_program);
	tcase_add_test(tc, unwinders_agree);
	tcase_add_test(tc, unwind_needs_no_symbols);
	tcase_add_test(tc, unwind_ends_at_512_frames);
	tcase_add_test(tc, unwind_holds_at_every_instruction);
	tcase_add_test(tc, unwind_without_entries_uses_frame_pointers);
	tcase_add_test(tc, unwind_knows_the_callers_in_a_musl_program);
	tcase_add_test(tc, unwind_out_of_nowhere_finds_the_caller);
	tcase_add_test(tc, unwind_of_garbage_ends);
	fixture_setup();
	srunner_run_all(r, CK_NORMAL);
	fixture_teardown();
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
