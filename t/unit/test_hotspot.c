/*
 * symbols/lang/hotspot: a Java machine's memory, built by hand, and memory
 * that makes no sense.  What a real one has is in t/e2e/93-jstack-java.sh.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/lang/hotspot_impl.h"
#include "t/fake/hotspot_layout.h"

#define BASE        0x7f0000000000ULL
#define SIZE        (512 * 1024)
#define HEAP        (BASE + 0x20000) /* of code */
#define STACK       (BASE + 0x60000)
#define SEGMENT_LOG 7

extern const struct lang_ops lang_hotspot;

static uint8_t bytes[SIZE];
static uint64_t top; /* what is taken */
static unsigned long reads;
static struct hotspot hs;
static struct lang_walk walk;

static int
memory_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	reads++;
	if (addr < BASE || addr - BASE > SIZE || SIZE - (addr - BASE) < len)
		return -EFAULT;
	memcpy(buf, bytes + (addr - BASE), len);
	return 0;
}

static const struct reader memory = { .read = memory_read };
static const struct lang_thread thread = { .inner_tid = 1 };

static void
put(uint64_t addr, uint64_t value, size_t size)
{
	memcpy(bytes + (addr - BASE), &value, size);
}

static void
put_bytes(uint64_t addr, const void *p, size_t n)
{
	if (n != 0)
		memcpy(bytes + (addr - BASE), p, n);
}

static uint64_t
take(size_t n)
{
	uint64_t addr = BASE + top;

	top += (n + 15) & ~15ULL;
	return addr;
}

#define SET(member, offset, bytes_) HS_SET(&hs, member, offset, bytes_)

static void
set_layout(void)
{
	hotspot_layout(&hs);
	SET(heap_segmap, 120, 8), SET(heap_log2, 256, -4);
	hs.l.version = 17;
	hs.ready = true;
}

/* What was read of it is not true any more. */
static void
changed(void)
{
	for (size_t i = 0; i < LANG_LINES; i++)
		walk.lines[i].addr = UINT64_MAX;
}

static void
begin(void)
{
	changed();
	vec_clear(&walk.pushed);
	lang_hotspot.begin(&hs, &walk);
}

static void
setup(void)
{
	uint64_t list, data, heap, map;

	memset(bytes, 0, sizeof(bytes));
	memset(&hs, 0, sizeof(hs));
	memset(&walk, 0, sizeof(walk));
	top = 0x1000;
	walk.mem = &memory;
	walk.th = &thread;
	walk.as = addrspace_create(getpid(), &memory);
	walk.unwinder = unwinder_create(walk.as);
	set_layout();
	/* One heap of 256 segments. */
	SET(heaps, take(8), 8);
	list = take(16), data = take(8), heap = take(272), map = take(256);
	put(hs.l.heaps.at, list, 8);
	put(list, 1, 4), put(list + 8, data, 8), put(data, heap, 8);
	put(heap + 8, HEAP, 8), put(heap + 16, HEAP + (256 << SEGMENT_LOG), 8);
	put(heap + 120, map, 8), put(heap + 128, map + 256, 8);
	put(heap + 256, SEGMENT_LOG, 4);
	memset(bytes + (map - BASE), 0xff, 256);
	hs.heaps[0].segmap = map; /* for blob() */
	begin();
}

static void
teardown(void)
{
	hs_methods_fini(&hs.methods);
	hs_scopes_fini(&hs.scopes);
	hash_foreach(e, &hs.threads)
		mem_free(e->value);
	hash_fini(&hs.threads);
	vec_fini(&walk.pushed);
	unwinder_destroy(walk.unwinder);
	addrspace_put(walk.as);
	langname_reset();
}

static uint64_t
text(const char *s)
{
	uint64_t at = take(strlen(s) + 1);

	put_bytes(at, s, strlen(s) + 1);
	return at;
}

static uint64_t
symbol(const char *s)
{
	uint64_t at = take(6 + strlen(s));

	put(at + 4, strlen(s), 2);
	put_bytes(at + 6, s, strlen(s));
	return at;
}

/* A method of a class of its own. */
static uint64_t
method(const char *klass, const char *name, const char *file, bool native,
    const void *lines, size_t n)
{
	uint64_t m = take(64), cm = take(48 + 64 + n), pool = take(72 + 4 * 8),
		 holder = take(64);

	put(m + 8, cm, 8), put(m + 40, native ? 0x100 : 1, 4);
	put(cm + 8, pool, 8), put(cm + 28, n != 0, 2), put(cm + 32, 64, 2);
	put(cm + 34, 1, 2);
	put_bytes(cm + 48 + 64, lines, n);
	put(pool + 24, holder, 8), put(pool + 60, 4, 4);
	put(pool + 54, file != NULL ? 2 : 0, 2);
	put(pool + 72 + 8, symbol(name), 8);
	if (file != NULL)
		put(pool + 72 + 16, symbol(file), 8);
	put(holder + 24, symbol(klass), 8);
	changed();
	return m;
}

/* A blob at a segment, with its code behind 256 bytes. */
static uint64_t
blob(unsigned first, unsigned n, const char *name, unsigned frame_words,
    unsigned complete)
{
	uint64_t block = HEAP + ((uint64_t)first << SEGMENT_LOG),
		 b = block + 16, map = hs.heaps[0].segmap;

	for (unsigned i = 0; i < n; i++)
		put(map + first + i, MIN(i, 3), 1);
	put(block + 8, 1, 1);
	put(b, text(name), 8), put(b + 8, (n << SEGMENT_LOG) - 16, 4);
	put(b + 12, frame_words, 4), put(b + 16, complete, 4);
	put(b + 24, b + 256, 8), put(b + 32, b + (n << SEGMENT_LOG) - 16, 8);
	return b;
}

static void
check_pushed(size_t i, const char *function, const char *file, int line)
{
	ck_assert_uint_gt(walk.pushed.len, i);
	const struct lang_name *n = langname_of(walk.pushed.at[i]);
	ck_assert_str_eq(n->function, function);
	if (file != NULL)
		ck_assert_str_eq(n->file, file);
	else
		ck_assert_ptr_null(n->file);
	ck_assert_int_eq(n->line, line);
	ck_assert(!n->note);
}

START_TEST(blobs)
{
	uint64_t b = blob(4, 40, "nmethod", 4, 8);
	struct hs_blob got;

	ck_assert(hs_blob_at(&hs, &walk, b + 256, &got));
	ck_assert_uint_eq(got.addr, b);
	ck_assert_int_eq(got.kind, HS_NMETHOD);
	ck_assert_uint_eq(got.frame, 32);
	ck_assert_uint_eq(got.complete, b + 264);
	/* By many hops. */
	hs.last.kind = HS_NONE;
	ck_assert(hs_blob_at(&hs, &walk, b + (40 << SEGMENT_LOG) - 17, &got));
	ck_assert_uint_eq(got.addr, b);
	/* Its header, what is free, what no heap holds. */
	ck_assert(!hs_blob_at(&hs, &walk, b + 8, &got));
	ck_assert(!hs_blob_at(&hs, &walk, HEAP, &got));
	ck_assert(!hs_blob_at(&hs, &walk, HEAP - 1, &got));
	ck_assert(!hs_blob_at(&hs, &walk, 0, &got));
	/* Freed, but for the map. */
	put(b - 8, 0, 1);
	begin();
	ck_assert(!hs_blob_at(&hs, &walk, b + 256, &got));
}
END_TEST

START_TEST(heaps_come_one_by_one)
{
	uint64_t b = blob(4, 4, "nmethod", 4, 8),
		 list = lang_u64(&walk, hs.l.heaps.at),
		 heap = lang_u64(&walk, lang_u64(&walk, list + 8)),
		 other = take(272), data = take(16);
	struct hs_blob got;

	/* Another heap is the first, and the only one at first. */
	memcpy(bytes + (other - BASE), bytes + (heap - BASE), 272);
	put(other + 8, BASE + 0x70000, 8), put(other + 16, BASE + 0x78000, 8);
	put(data, other, 8), put(data + 8, heap, 8);
	put(list + 8, data, 8);
	begin();
	ck_assert(!hs_blob_at(&hs, &walk, b + 256, &got));
	put(list, 2, 4);
	begin();
	ck_assert(hs_blob_at(&hs, &walk, b + 256, &got));
}
END_TEST

START_TEST(names_and_lines)
{
	/* 5 of bci and 2 of line; 100 and 1000; back to line 3. */
	static const uint8_t old[] = { 5 << 3 | 2, 0xff, 62, 0xd0, 0x1c, 0 };
	static const uint8_t new[] = { 5 << 3 | 2, 0xff, 63, 0xd1, 0x1d, 0 };
	uint64_t m = method("a/b/C", "f", "C.java", false, old, sizeof(old));

	hs_method_push(&walk, hs_method_at(&hs, &walk, m), 4);
	hs_method_push(&walk, hs_method_at(&hs, &walk, m), 5);
	hs_method_push(&walk, hs_method_at(&hs, &walk, m), 35);
	hs_method_push(&walk, hs_method_at(&hs, &walk, m), 36);
	hs_method_push(&walk, hs_method_at(&hs, &walk, m), 60);
	check_pushed(0, "a.b.C.f", "C.java", 0);
	check_pushed(1, "a.b.C.f", "C.java", 2);
	check_pushed(2, "a.b.C.f", "C.java", 2);
	const int line = 2 + ((0xd0 + (0x1c << 6)) >> 1);
	check_pushed(3, "a.b.C.f", "C.java", line);
	check_pushed(4, "a.b.C.f", "C.java", line);

	hs.l.version = 21;
	m = method("a/b/C", "f", "C.java", false, new, sizeof(new));
	hs_method_push(&walk, hs_method_at(&hs, &walk, m), 36);
	check_pushed(5, "a.b.C.f", "C.java", line);

	m = method("L$$Lambda$1+0x0000000800c03000", "g", NULL, false, NULL, 0);
	hs_method_push(&walk, hs_method_at(&hs, &walk, m), 0);
	check_pushed(
	    6, "L$$Lambda$1/0x0000000800c03000.g", "Unknown Source", 0);
	m = method("kt/a+b", "h", "K.kt", true, NULL, 0);
	hs_method_push(&walk, hs_method_at(&hs, &walk, m), 0);
	check_pushed(7, "kt.a+b.h", "Native Method", 0);
}
END_TEST

START_TEST(another_method_at_the_same_place)
{
	uint64_t m = method("A", "f", "A.java", false, NULL, 0),
		 n = method("B", "g", "B.java", false, NULL, 0);

	hs_method_push(&walk, hs_method_at(&hs, &walk, m), 0);
	put(m + 8, lang_u64(&walk, n + 8), 8);
	changed();
	hs_method_push(&walk, hs_method_at(&hs, &walk, m), 0);
	check_pushed(0, "A.f", "A.java", 0);
	check_pushed(1, "B.g", "B.java", 0);
	put(m + 8, 0, 8);
	changed();
	ck_assert_ptr_null(hs_method_at(&hs, &walk, m));
	ck_assert_ptr_null(hs_method_at(&hs, &walk, m + 1));
	ck_assert_ptr_null(hs_method_at(&hs, &walk, 0));
}
END_TEST

/* Compiled code with a method inlined into another, called at offset 32. */
static uint64_t
compiled(void)
{
	static const uint8_t scopes[] = { 0, 0, 1, 7, 1, 2, 9, 0 };
	uint64_t b = blob(4, 16, "nmethod", 6, 12), data = b + 1024;

	put(b + 40, method("A", "f", "A.java", false, "\x01\x29", 3), 8);
	put(b + 48, data, 8);
	put_bytes(data, scopes, sizeof(scopes));
	put(b + 56, 1040, 4), put(b + 60, 1040 + 3 * 16, 4);
	put(data + 16, (uint32_t)-1, 4);
	put(data + 32, 32, 4), put(data + 36, 4, 4);
	put(data + 48, 0x7fffffff, 4);
	put(b + 64, 1200, 4);
	put(b + 1200, lang_u64(&walk, b + 40), 8);
	put(b + 1208, method("B", "g", "B.java", false, "\x02\x2b", 3), 8);
	put(b + 72, 77, 4), put(b + 80, b + 256 + 128, 8), put(b + 68, 16, 4);
	put_bytes(
	    b + 256, "\x89\x84\x24\x00\xc0\xfe\xff\x55\x48\x83\xec\x20", 12);
	put_bytes(b + 256 + 27, "\xe8\0\0\0\0", 5);
	put_bytes(b + 256 + 64,
	    "\x48\x83\xc4\x20\x5d\x49\x3b\xa7\x58\x03\0\0"
	    "\x0f\x87\1\1\0\0\xc3",
	    19);
	changed();
	return b;
}

START_TEST(inlined)
{
	uint64_t b = compiled();
	struct hs_blob got;

	ck_assert(hs_blob_at(&hs, &walk, b + 256, &got));
	ck_assert(hs_scopes_push(&hs, &walk, &got, b + 256 + 32, false));
	ck_assert_uint_eq(walk.pushed.len, 2);
	check_pushed(0, "B.g", "B.java", 5);
	check_pushed(1, "A.f", "A.java", 2);
	/* An instruction before it; in the prologue; behind all. */
	ck_assert(hs_scopes_push(&hs, &walk, &got, b + 256 + 20, true));
	ck_assert_uint_eq(walk.pushed.len, 4);
	ck_assert(hs_scopes_push(&hs, &walk, &got, b + 256 + 7, true));
	ck_assert_uint_eq(walk.pushed.len, 5);
	check_pushed(4, "A.f", "A.java", 1);
	ck_assert(hs_scopes_push(&hs, &walk, &got, b + 256 + 70, true));
	ck_assert_uint_eq(walk.pushed.len, 6);
	check_pushed(5, "A.f", "A.java", 0);
	/* Left for the interpreter: the old address is in the frame. */
	put(STACK + 16, b + 256 + 32, 8);
	ck_assert_uint_eq(
	    hs_scopes_pc(&hs, &walk, &got, b + 256 + 128, STACK), b + 256 + 32);
	ck_assert_uint_eq(
	    hs_scopes_pc(&hs, &walk, &got, b + 256 + 40, STACK), b + 256 + 40);
}
END_TEST

/* The caller of compiled code at the offset, exactly. */
static void
check_step(uint64_t b, unsigned offset, unsigned slots, bool saved)
{
	struct frame f = { .exact = true }, caller;
	uint64_t ret = b + 256 + 32;

	memset(bytes + (STACK - BASE), 0, 256);
	frame_set(&f, CFI_RIP, b + 256 + offset);
	frame_set(&f, CFI_RSP, STACK);
	frame_set(&f, CFI_RBP, 0x1111);
	put(STACK + slots * 8, ret, 8);
	if (saved)
		put(STACK + slots * 8 - 8, 0x2222, 8);
	begin();
	ck_assert_int_eq(hs_step(&hs, &walk, &f, &caller), STEP_OK);
	ck_assert_uint_eq(caller.r[CFI_RIP], ret);
	ck_assert_uint_eq(caller.r[CFI_RSP], STACK + slots * 8 + 8);
	ck_assert_uint_eq(caller.r[CFI_RBP], saved ? 0x2222 : 0x1111);
	ck_assert(!caller.exact && caller.sure);
}

/* Out-of-line code that enters a safepoint has no frame any more, even if there
 * is a return address where the frame had it. */
START_TEST(steps_into_a_safepoint)
{
	uint64_t b = compiled(), outer = b + 256 + 32;
	struct frame f = { .exact = true }, caller;

	put_bytes(b + 256 + 90,
	    "\x4c\x8d\x15\1\1\0\0\x4d\x89\x97\x58\3\0\0\xe9\1\1\0\0", 19);
	frame_set(&f, CFI_RIP, b + 256 + 90);
	frame_set(&f, CFI_RSP, STACK);
	frame_set(&f, CFI_RBP, 0x1111);
	put(STACK, outer, 8), put(STACK + 5 * 8, outer, 8);
	begin();
	ck_assert_int_eq(hs_step(&hs, &walk, &f, &caller), STEP_OK);
	ck_assert_uint_eq(caller.r[CFI_RSP], STACK + 8);
	ck_assert_uint_eq(caller.r[CFI_RBP], 0x1111);
}
END_TEST

START_TEST(steps_of_compiled_code)
{
	uint64_t b = compiled();

	check_step(b, 0, 0, false);  /* nothing done */
	check_step(b, 7, 0, false);  /* at the push */
	check_step(b, 8, 1, true);   /* behind it */
	check_step(b, 12, 5, true);  /* in the body */
	check_step(b, 64, 5, true);  /* at the add */
	check_step(b, 68, 1, true);  /* at the pop */
	check_step(b, 69, 0, false); /* asking */
	check_step(b, 76, 0, false);
	check_step(b, 82, 0, false); /* at the ret */
	/* What stands before the code is no part of its prologue. */
	put_bytes(b + 240, "\x48\x83\xec\x28", 4);
	check_step(b, 7, 0, false);
	check_step(b, 8, 1, true);
	/* The other prologue. */
	put_bytes(
	    b + 256, "\x48\x83\xec\x28\x48\x89\x6c\x24\x20\x90\x90\x90", 12);
	check_step(b, 0, 0, false);
	check_step(b, 4, 5, false);
	check_step(b, 9, 5, true);
}
END_TEST

static enum step
step(void *ctx, const struct frame *f, struct frame *caller)
{
	return lang_hotspot.step(&hs, &walk, f, caller);
}

static bool
count_frame(void *ctx, const struct frame *f, const struct frame *caller)
{
	++*(int *)ctx;
	return true;
}

/* Code that was made a moment ago is in no map yet. */
START_TEST(code_that_the_maps_do_not_have)
{
	int frames = 0;
	const struct unwind_visitor v = {
		.ctx = &frames, .step = step, .frame = count_frame
	};
	struct uregs regs = { 0 };
	uint64_t b = compiled();
	/* As the JVM reserves it. */
	void *p = mmap((void *)BASE, SIZE, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	ck_assert_ptr_eq(p, (void *)BASE);
	ck_assert_int_ge(addrspace_refresh(walk.as, NULL, NULL), 0);
	begin();
	regs.r[UREG_RIP] = b + 256 + 12;
	regs.r[UREG_RSP] = STACK;
	put(STACK + 40, b + 256 + 32, 8);
	put(STACK + 88, b + 256 + 32, 8);
	unwind_visit(walk.unwinder, &regs, &memory, &v);
	ck_assert_int_eq(frames, 3);
	munmap(p, SIZE);
}
END_TEST

START_TEST(interpreter)
{
	uint64_t b = blob(40, 8, "Interpreter", 0, 0), m, rbp = STACK + 256;
	struct frame f = { .exact = false }, caller;

	m = method("A", "f", "A.java", false, "\x01\x29", 3);
	put(rbp, 0x3333, 8), put(rbp + 8, b + 300, 8);
	put(rbp - 8, rbp + 40, 8), put(rbp - 24, m, 8);
	put(rbp - 64, lang_u64(&walk, m + 8) + 48 + 5, 8);
	frame_set(&f, CFI_RIP, b + 280);
	frame_set(&f, CFI_RSP, STACK);
	frame_set(&f, CFI_RBP, rbp);
	begin();
	ck_assert(lang_hotspot.frames(&hs, &walk, &f, NULL));
	check_pushed(0, "A.f", "A.java", 2);
	ck_assert_int_eq(hs_step(&hs, &walk, &f, &caller), STEP_OK);
	ck_assert_uint_eq(caller.r[CFI_RSP], rbp + 40);
	ck_assert_uint_eq(caller.r[CFI_RBP], 0x3333);
	ck_assert_uint_eq(caller.r[CFI_RIP], b + 300);
	/* A frame that is none has the blob's name, and no caller. */
	put(rbp - 24, 1, 8), put(rbp + 8, 0, 8);
	begin();
	ck_assert(lang_hotspot.frames(&hs, &walk, &f, NULL));
	check_pushed(0, "Interpreter", NULL, 0);
	ck_assert_int_eq(hs_step(&hs, &walk, &f, &caller), STEP_END);
}
END_TEST

/* On the way in and out there is no frame: where the return address, the
 * caller's stack pointer and its rbp are. */
START_TEST(ways_into_the_interpreter_and_out)
{
	static const char in[] = "\x58\x4c\x8d\x74\xcc\xf8"
				 "\x50\x55\x48\x8b\xec\x41\x55";
	static const char out[] = "\x41\x5d\x48\x8b\xe3\x41\xff\xe5";
	static const struct {
		unsigned at; /* of `in', or behind it of `out' */
		int slot;    /* of the return address; -1: in ... */
		unsigned reg;
		unsigned sender; /* the caller's stack, in slots */
		bool saved;      /* its rbp is in slot 0 */
	} rows[] = {
		{ 0, 0, 0, 3, false },          /* pop %rax */
		{ 6, -1, CFI_RAX, 3, false },   /* push %rax */
		{ 7, 0, 0, 3, false },          /* push %rbp */
		{ 8, 1, 0, 3, true },           /* mov %rsp,%rbp */
		{ 100, 0, 0, 4, false },        /* pop %r13 */
		{ 102, -1, CFI_R13, 4, false }, /* mov %rbx,%rsp */
		{ 105, -1, CFI_R13, 0, false }, /* jmp *%r13 */
	};
	uint64_t b = blob(40, 8, "Interpreter", 0, 0), m;

	m = method("A", "f", "A.java", false, "\x01\x29", 3);
	put_bytes(b + 256, in, sizeof(in) - 1);
	put_bytes(b + 256 + 100, out, sizeof(out) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct frame f = { .exact = true }, caller;
		bool leaves = rows[i].at >= 100;
		memset(bytes + (STACK - BASE), 0, 256);
		frame_set(&f, CFI_RIP, b + 256 + rows[i].at);
		frame_set(&f, CFI_RSP, STACK);
		frame_set(&f, CFI_RBP, 0x1111);
		frame_set(&f, CFI_RBX, leaves ? STACK + 4 * 8 : m);
		frame_set(&f, CFI_R13, STACK + 3 * 8);
		if (rows[i].slot < 0)
			frame_set(&f, rows[i].reg, b + 300);
		else
			put(STACK + rows[i].slot * 8, b + 300, 8);
		if (rows[i].saved)
			put(STACK, 0x2222, 8);
		begin();
		ck_assert_msg(hs_step(&hs, &walk, &f, &caller) == STEP_OK,
		    "no caller at %u", rows[i].at);
		ck_assert_uint_eq(caller.r[CFI_RIP], b + 300);
		ck_assert_uint_eq(caller.r[CFI_RSP],
		    rows[i].sender != 0 ? STACK + rows[i].sender * 8 :
					  STACK + 1);
		ck_assert_uint_eq(
		    caller.r[CFI_RBP], rows[i].saved ? 0x2222 : 0x1111);
	}
}
END_TEST

static bool
fuzz_frame(void *ctx, const struct frame *f, const struct frame *caller)
{
	lang_hotspot.frames(&hs, &walk, f, caller);
	return true;
}

static void
fuzz_walk(void)
{
	const struct unwind_visitor v = { .step = step, .frame = fuzz_frame };
	struct uregs regs = { 0 };

	for (unsigned i = 0; i < UREG_COUNT; i++)
		regs.r[i] = BASE + ((uint64_t)random() % SIZE);
	regs.r[UREG_RIP] = HEAP + (uint64_t)random() % (64 << SEGMENT_LOG);
	regs.r[UREG_RSP] = STACK + (uint64_t)(random() % 512) * 8;
	regs.r[UREG_RBP] = STACK + (uint64_t)(random() % 1024) * 8;
	begin();
	reads = 0;
	unwind_visit(walk.unwinder, &regs, &memory, &v);
	/* 512 frames and no chain without an end. */
	ck_assert_uint_lt(reads, 20000000);
}

/* Pointers into the image, small numbers, and noise. */
static uint64_t
noise(void)
{
	switch (random() % 4) {
	case 0: return BASE + (uint64_t)random() % SIZE;
	case 1: return (BASE + (uint64_t)random() % SIZE) & ~7ULL;
	case 2: return (uint64_t)random() % 256;
	default: return (uint64_t)random() << 33 ^ (uint64_t)random();
	}
}

START_TEST(memory_that_changes)
{
	static uint8_t whole[SIZE];

	srandom(5);
	compiled();
	blob(40, 8, "Interpreter", 0, 0);
	blob(50, 2, "StubRoutines (1)", 0, 0);
	blob(52, 2, "vtable chunks", 0, 0);
	blob(54, 2, "I2C/C2I adapters", 0, 0);
	blob(56, 2, "resolve_static_call", 14, 4);
	/* A stack of addresses of code. */
	for (unsigned i = 0; i < 2048; i++)
		put(STACK + i * 8,
		    random() % 2 ?
			HEAP + (uint64_t)random() % (64 << SEGMENT_LOG) :
			STACK + (uint64_t)(random() % 2048) * 8,
		    8);
	memcpy(whole, bytes, SIZE);
	for (int round = 0; round < 3000; round++) {
		memcpy(bytes, whole, SIZE);
		for (long i = random() % 64; i > 0; i--)
			put(BASE + (uint64_t)(random() % (int)(top / 8)) * 8,
			    noise(), 8);
		for (long i = random() % 16; i > 0; i--)
			put(HEAP + (uint64_t)(random() % 8000) * 8, noise(), 8);
		fuzz_walk();
	}
}
END_TEST

START_TEST(memory_of_noise)
{
	srandom(6);
	for (int round = 0; round < 60; round++) {
		for (size_t i = 0; i < SIZE / 8; i++)
			put(BASE + i * 8, noise(), 8);
		for (size_t i = 0; i < offsetof(struct hs_layout, version) /
			 sizeof(struct hs_field);
		     i++) {
			struct hs_field *f = (struct hs_field *)&hs.l + i;
			if (f->size != 0 && f != &hs.l.heaps)
				f->at = (uint64_t)random() % 300;
		}
		hs.l.pcdesc_size.at = 8 + (uint64_t)random() % 32;
		hs.heaps[0] = (struct hs_heap){ HEAP, HEAP + 0x20000,
			BASE + 0x1000, 0x20000 >> SEGMENT_LOG, SEGMENT_LOG };
		hs.n_heaps = 1;
		for (int i = 0; i < 50; i++)
			fuzz_walk();
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("hotspot");
	TCase *tc = tcase_create("hotspot");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, blobs);
	tcase_add_test(tc, heaps_come_one_by_one);
	tcase_add_test(tc, names_and_lines);
	tcase_add_test(tc, another_method_at_the_same_place);
	tcase_add_test(tc, inlined);
	tcase_add_test(tc, steps_of_compiled_code);
	tcase_add_test(tc, steps_into_a_safepoint);
	tcase_add_test(tc, code_that_the_maps_do_not_have);
	tcase_add_test(tc, interpreter);
	tcase_add_test(tc, ways_into_the_interpreter_and_out);
	tcase_add_test(tc, memory_that_changes);
	tcase_add_test(tc, memory_of_noise);
	suite_add_tcase(s, tc);

	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
