/*
 * symbols/lang/ lang and lang_mem: a walk asks the runtimes of the objects that
 * are mapped, puts their frames among the native ones, and reads memory through
 * a cache.  The runtimes and the native frames are doubles.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "symbols/lang/lang_impl.h"
#include "t/unit/suite.h"

#define MEM   UINT64_C(0x10000)
#define MEM_N (16 * LANG_LINE)

/* ---- two runtimes, by the letters a and b ---- */

struct runtime {
	char letter;
	bool steps;    /* knows the caller of frame 0x500 */
	bool replaces; /* its frames replace the native one */
	unsigned begun, ended, detached, stepped;
};

static struct runtime a = { .letter = 'a' }, b = { .letter = 'b' };
static const struct lang_thread its_thread;
static unsigned seen;             /* the byte at MEM, at the begin of a walk */
static const struct load *wanted; /* the object that has them */

static void *
attach_a(struct lang_walk *w, const struct load *l)
{
	ck_assert_ptr_nonnull(w->as);
	return l == wanted ? &a : NULL;
}

static void *
attach_b(struct lang_walk *w, const struct load *l)
{
	ck_assert_ptr_nonnull(w->as);
	return l == wanted ? &b : NULL;
}

static void
detach(void *self)
{
	((struct runtime *)self)->detached++;
}

static void
begins(void *self, struct lang_walk *w)
{
	((struct runtime *)self)->begun++;
	ck_assert_uint_eq(w->pushed.len, 0);
	ck_assert_ptr_eq(w->th, &its_thread);
	ck_assert_ptr_eq(w->unwinder, (struct unwinder *)&its_thread);
	seen = lang_u8(w, MEM);
}

static void
ends(void *self, struct lang_walk *w)
{
	struct runtime *r = self;

	r->ended++;
	if (r->letter == 'a')
		lang_push(w, "outermost", NULL, 0, false);
}

static enum step
steps(void *self, struct lang_walk *w, const struct frame *f,
    struct frame *caller)
{
	struct runtime *r = self;

	r->stepped++;
	if (!r->steps)
		return STEP_FAIL;
	frame_set(caller, CFI_PC, 0x600 + (uint64_t)r->letter);
	return STEP_OK;
}

/* Two frames at the pc 0x200. */
static bool
frames(void *self, struct lang_walk *w, const struct frame *f,
    const struct frame *caller)
{
	struct runtime *r = self;

	if (f->r[CFI_PC] != 0x200)
		return false;
	ck_assert_uint_eq(caller->r[CFI_PC], 0x300);
	char name[] = { r->letter, '1', '\0' };
	lang_push(w, name, "file", 5, true);
	name[1]++;
	lang_push(w, name, NULL, 0, true);
	return r->replaces;
}

static const struct lang_ops ops_a = { "a", attach_a, detach, begins, ends,
	steps, frames };
static const struct lang_ops ops_b = { .name = "b",
	.attach = attach_b,
	.detach = detach,
	.frames = frames };

static void *
attach_none(struct lang_walk *w, const struct load *l)
{
	return NULL;
}

static const struct lang_ops ops_none = { .attach = attach_none };

/* ---- the rest ---- */

static struct load objects[2];
static size_t n_loads;
static unsigned visits;
static bool asks_step;
static struct frame stepped; /* what a step has found */
static enum step step_result;
static uint64_t pcs[8];
static unsigned frames_taken;

static size_t
double_loads(struct load *const **out)
{
	static struct load *list[] = { &objects[0], &objects[1] };

	*out = list;
	return n_loads;
}

static void
double_visit(const struct unwind_visitor *v)
{
	struct frame f = { 0 }, caller;

	visits++;
	if (asks_step) {
		frame_set(&f, CFI_PC, 0x500);
		step_result = v->step(v->ctx, &f, &stepped);
	}
	for (size_t i = 0; pcs[i] != 0; i++) {
		frame_set(&f, CFI_PC, pcs[i]);
		frame_set(&caller, CFI_PC, pcs[i + 1]);
		frames_taken++;
		if (!v->frame(v->ctx, &f, pcs[i + 1] != 0 ? &caller : NULL))
			break;
	}
}

static int held;     /* references of the address space */
static bool is_full; /* the table of names */

#define langname_word(n)           (is_full ? 0 : langname_word(n))
#define lang_cpython               ops_a
#define lang_hotspot               ops_b
#define lang_php                   ops_none
#define lang_ruby                  ops_none
#define lang_v8                    ops_none
#define lang_perfmap               ops_none
#define addrspace_get(as)          (held++, as)
#define addrspace_put(as)          ((void)(as), held--)
#define addrspace_loads(as, out)   double_loads(out)
#define unwind_visit(u, r, mem, v) double_visit(v)
#include "symbols/lang/lang.c"
#include "symbols/lang/lang_mem.c"

static uint8_t bytes[MEM_N];
static unsigned reads;
static uint64_t hole; /* a line that cannot be read */

static int
read_bytes(void *ctx, uint64_t addr, void *buf, size_t len)
{
	reads++;
	if (addr < MEM || addr + len > MEM + MEM_N || addr == hole)
		return -EFAULT;
	memcpy(buf, bytes + (addr - MEM), len);
	return 0;
}

static const struct reader mem = { .read = read_bytes };
static struct langs *ls;
static uint64_t out[16], lost;

static void
setup(void)
{
	langname_reset();
	ls = langs_create((struct addrspace *)&mem);
	objects[0].seen = objects[1].seen = true;
	n_loads = 2;
	wanted = &objects[1];
	for (size_t i = 0; i < MEM_N; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251);
}

static void
teardown(void)
{
	ck_assert_int_eq(held, 1);
	langs_destroy(ls);
	ck_assert_int_eq(held, 0);
	langname_reset();
}

/* The stack as text: numbers, and names with file and line. */
static const char *
stack(size_t max)
{
	static char text[300];
	size_t at = 0,
	       n = langs_unwind(ls, (struct unwinder *)&its_thread, NULL, &mem,
		   &its_thread, out, max, &lost);

	ck_assert_uint_le(n, max);
	text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		const struct lang_name *name = langname_of(out[i]);
		if (name == NULL)
			at += (size_t)snprintf(
			    text + at, sizeof(text) - at, "%lx ", (long)out[i]);
		else
			at += (size_t)snprintf(text + at, sizeof(text) - at,
			    "%s%s:%s:%d ", name->note ? "+" : "",
			    name->function,
			    name->file != NULL ? name->file : "", name->line);
	}
	return text;
}

static void
native(const uint64_t *p, size_t n)
{
	memset(pcs, 0, sizeof(pcs));
	memcpy(pcs, p, n * sizeof(*p));
}

#define NATIVE(...)                               \
	native((const uint64_t[]){ __VA_ARGS__ }, \
	    sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

START_TEST(frames_belong_to_the_native_one)
{
	NATIVE(0x100, 0x200, 0x300);
	ck_assert_str_eq(stack(16),
	    "100 200 +a1:file:5 +a2::0 +b1:file:5 +b2::0 300 outermost::0 ");
	ck_assert_uint_eq(a.begun, 1);
	ck_assert_uint_eq(a.ended, 1);
	ck_assert_uint_eq(lost, 0);
}
END_TEST

START_TEST(each_walk_reads_memory_anew)
{
	NATIVE(0x100);
	for (unsigned i = 3; i < 6; i++) {
		bytes[0] = (uint8_t)i;
		stack(16);
		ck_assert_uint_eq(seen, i);
	}
}
END_TEST

START_TEST(frames_that_have_no_room_are_counted)
{
	NATIVE(0x200, 0x300);
	is_full = true;
	lost = 10;
	ck_assert_str_eq(stack(16), "200 300 ");
	ck_assert_uint_eq(lost, 15);
	a.replaces = true; /* but not by nothing */
	ck_assert_str_eq(stack(16), "200 300 ");
}
END_TEST

START_TEST(frames_replace_the_native_one)
{
	NATIVE(0x100, 0x200, 0x300);
	a.replaces = true;
	/* The first that knows the frame has the word. */
	ck_assert_str_eq(stack(16), "100 +a1:file:5 +a2::0 300 outermost::0 ");
}
END_TEST

START_TEST(no_more_words_than_room)
{
	NATIVE(0x100, 0x200, 0x300, 0x400);
	ck_assert_str_eq(stack(1), "100 ");
	ck_assert_uint_eq(frames_taken, 1);
	ck_assert_str_eq(stack(2), "100 200 ");
	ck_assert_str_eq(stack(3), "100 200 +a1:file:5 ");
	ck_assert_str_eq(
	    stack(7), "100 200 +a1:file:5 +a2::0 +b1:file:5 +b2::0 300 ");
	/* The names of one walk are not in the next one. */
	NATIVE(0x100);
	ck_assert_str_eq(stack(16), "100 outermost::0 ");
}
END_TEST

START_TEST(objects_are_looked_at_once)
{
	NATIVE(0x100);
	ck_assert_str_eq(stack(16), "100 outermost::0 ");
	stack(16);
	ck_assert_uint_eq(a.begun, 2); /* not attached twice */
	langs_flush(ls);
	stack(16);
	ck_assert_uint_eq(a.begun, 3);
	/* It was unmapped. */
	objects[1].seen = false;
	ck_assert_str_eq(stack(16), "100 ");
	ck_assert_uint_eq(a.begun, 3);
	ck_assert_uint_eq(a.ended, 3);
	asks_step = true;
	a.steps = true;
	NATIVE(0x200, 0x300);
	ck_assert_str_eq(stack(16), "200 300 ");
	ck_assert_int_eq(step_result, STEP_FAIL);
	ck_assert_uint_eq(a.stepped, 0);
	/* The other one is mapped later. */
	langs_destroy(ls);
	ck_assert_int_eq(held, 0);
	ck_assert_uint_eq(a.detached, 1);
	ck_assert_uint_eq(b.detached, 1);
	ls = langs_create((struct addrspace *)&mem);
	objects[1].seen = true;
	n_loads = 1;
	ck_assert_str_eq(stack(16), "200 300 ");
	n_loads = 2;
	ck_assert_str_eq(stack(16), "200 300 "); /* nobody has said so */
	langs_flush(ls);
	ck_assert_ptr_nonnull(strstr(stack(16), "outermost"));
	langs_destroy(NULL);
}
END_TEST

START_TEST(every_object_is_looked_at)
{
	wanted = &objects[0];
	NATIVE(0x100);
	ck_assert_str_eq(stack(16), "100 outermost::0 ");
}
END_TEST

START_TEST(a_runtime_finds_callers_in_its_code)
{
	asks_step = true;
	NATIVE(0x100);
	stack(16);
	ck_assert_int_eq(step_result, STEP_FAIL);
	ck_assert_uint_eq(a.stepped, 1); /* b has no such code */
	a.steps = true;
	stack(16);
	ck_assert_int_eq(step_result, STEP_OK);
	ck_assert_uint_eq(stepped.r[CFI_PC], 0x600 + 'a');
}
END_TEST

/* ---- memory ---- */

static struct lang_walk walk;

static void
begin_walk(void)
{
	walk.mem = &mem;
	for (size_t i = 0; i < LANG_LINES; i++)
		walk.lines[i].addr = UINT64_MAX;
}

START_TEST(memory_is_read_once)
{
	uint8_t buf[3 * LANG_LINE];

	begin_walk();
	ck_assert(lang_read(&walk, MEM + 5, buf, 10));
	ck_assert_mem_eq(buf, bytes + 5, 10);
	ck_assert_uint_eq(reads, 1);
	ck_assert(lang_read(&walk, MEM, buf, LANG_LINE));
	ck_assert_mem_eq(buf, bytes, LANG_LINE);
	ck_assert_uint_eq(reads, 1);
	/* Over the borders of lines. */
	ck_assert(lang_read(&walk, MEM + LANG_LINE - 3, buf, LANG_LINE + 6));
	ck_assert_mem_eq(buf, bytes + LANG_LINE - 3, LANG_LINE + 6);
	ck_assert_uint_eq(reads, 3);
	ck_assert(lang_read(&walk, MEM + 7 * LANG_LINE, buf, 0));
	ck_assert_uint_eq(reads, 3);
}
END_TEST

START_TEST(what_cannot_be_read_is_zero)
{
	uint8_t buf[LANG_LINE + 8];
	uint8_t zero[LANG_LINE + 8] = { 0 };

	begin_walk();
	hole = MEM + LANG_LINE;
	memset(buf, 9, sizeof(buf));
	ck_assert(!lang_read(&walk, MEM + LANG_LINE - 4, buf, 8));
	ck_assert_mem_eq(buf, zero, 8);
	ck_assert_uint_eq(buf[8], 9);
	ck_assert_uint_eq(lang_u64(&walk, hole), 0);
	ck_assert_uint_eq(lang_u8(&walk, MEM - 1), 0);
	/* It is not remembered as what was there before. */
	hole = 0;
	ck_assert(lang_read(&walk, MEM + LANG_LINE, buf, 8));
	ck_assert_mem_eq(buf, bytes + LANG_LINE, 8);
}
END_TEST

START_TEST(numbers_and_texts)
{
	char text[6];

	begin_walk();
	memcpy(bytes + 16, "\x88\x77\x66\x55\x44\x33\x22\x11", 8);
	memcpy(bytes + 32, "abcdefg", 8);
	ck_assert_uint_eq(lang_u64(&walk, MEM + 16), 0x1122334455667788);
	ck_assert_uint_eq(lang_u32(&walk, MEM + 16), 0x55667788);
	ck_assert_uint_eq(lang_u16(&walk, MEM + 16), 0x7788);
	ck_assert_uint_eq(lang_u8(&walk, MEM + 16), 0x88);
	ck_assert_str_eq(
	    lang_text(&walk, MEM + 32, 7, text, sizeof(text)), "abcde");
	ck_assert_str_eq(
	    lang_text(&walk, MEM + 32, 3, text, sizeof(text)), "abc");
	ck_assert_str_eq(lang_text(&walk, 5, 3, text, sizeof(text)), "");
}
END_TEST

/* The line that was not used for longest goes. */
START_TEST(lines_that_are_used_stay)
{
	uint64_t same[LANG_WAYS + 1], n = 1;
	struct lang_line *set;

	begin_walk();
	same[0] = MEM;
	set = line_at(&walk, MEM);
	for (uint64_t i = 1; i < MEM_N / LANG_LINE && n <= LANG_WAYS; i++) {
		struct lang_line *l = line_at(&walk, MEM + i * LANG_LINE);
		if (l >= set && l < set + LANG_WAYS)
			same[n++] = MEM + i * LANG_LINE;
	}
	if (n <= LANG_WAYS) /* as many lines do not meet */
		return;
	reads = 0;
	begin_walk();
	lang_u8(&walk, same[0]);
	lang_u8(&walk, same[1]);
	lang_u8(&walk, same[0]);
	lang_u8(&walk, same[2]);
	ck_assert_uint_eq(reads, 3);
	lang_u8(&walk, same[0]);
	ck_assert_uint_eq(reads, 3);
	lang_u8(&walk, same[1]);
	ck_assert_uint_eq(reads, 4);
}
END_TEST

START_TEST(frames_without_a_name_are_lost)
{
	begin_walk();
	lang_push(&walk, "", NULL, 0, false); /* that is no frame */
	ck_assert_uint_eq(walk.lost, 0);
	ck_assert_uint_eq(walk.pushed.len, 0);
	lang_push(&walk, "f", NULL, 1, false);
	ck_assert_uint_eq(walk.pushed.len, 1);
	is_full = true;
	lang_push(&walk, "g", NULL, 1, false);
	ck_assert_uint_eq(walk.lost, 1);
	ck_assert_uint_eq(walk.pushed.len, 1);
	vec_fini(&walk.pushed);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		frames_belong_to_the_native_one,
		each_walk_reads_memory_anew,
		frames_that_have_no_room_are_counted,
		frames_replace_the_native_one,
		no_more_words_than_room,
		objects_are_looked_at_once,
		every_object_is_looked_at,
		a_runtime_finds_callers_in_its_code,
		memory_is_read_once,
		what_cannot_be_read_is_zero,
		numbers_and_texts,
		lines_that_are_used_stay,
		frames_without_a_name_are_lost,
	};

	return suite_run(
	    "lang walk", setup, teardown, tests, ARRAY_SIZE(tests));
}
