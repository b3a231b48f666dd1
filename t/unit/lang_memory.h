/*
 * For the tests of symbols/lang/: memory that a test makes up, a walk in it,
 * and a runtime's object that is no more than its symbols.
 *
 * Memory is ARENA, and the object's own, at LOAD_BIAS; everything else cannot be
 * read.
 */
#ifndef T_UNIT_LANG_MEMORY_H
#define T_UNIT_LANG_MEMORY_H

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/lang/lang_impl.h"
#include "t/fake/fixture.h"

/* No test uses all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"

#define ARENA       0x10000000ULL
#define ARENA_BYTES (64 * 1024ULL)
#define LOAD_BIAS   0x700000000000ULL
#define LOAD_BYTES  (128 * 1024ULL)

static uint8_t arena[ARENA_BYTES], image[LOAD_BYTES];
static struct load load;
static struct lang_walk walk;
static struct lang_thread thread;

/* Where that is that is at addr, or NULL. */
static uint8_t *
memory_at(uint64_t addr, size_t len)
{
	if (addr >= ARENA && addr < ARENA + ARENA_BYTES &&
	    len <= ARENA + ARENA_BYTES - addr)
		return arena + (addr - ARENA);
	if (addr >= LOAD_BIAS && addr < LOAD_BIAS + LOAD_BYTES &&
	    len <= LOAD_BIAS + LOAD_BYTES - addr)
		return image + (addr - LOAD_BIAS);
	return NULL;
}

static int
memory_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	const uint8_t *at = memory_at(addr, len);

	if (at == NULL)
		return -EFAULT;
	memcpy(buf, at, len);
	return 0;
}

static const struct reader memory = { memory_read, NULL };

static void
put(uint64_t addr, const void *bytes, size_t len)
{
	uint8_t *at = memory_at(addr, len);

	if (at == NULL)
		ck_abort_msg("no memory at 0x%llx", (unsigned long long)addr);
	memcpy(at, bytes, len);
}

static void
put64(uint64_t addr, uint64_t v)
{
	put(addr, &v, sizeof(v));
}

/* Memory was changed. */
static void
walk_reset(void)
{
	for (size_t i = 0; i < LANG_LINES; i++)
		walk.lines[i].addr = UINT64_MAX;
	vec_clear(&walk.pushed);
	walk.lost = 0;
}

static uint64_t
at_sym(const char *name)
{
	const struct sym *s = object_sym(load.object, name);

	if (s == NULL)
		ck_abort_msg("no symbol %s", name);
	return LOAD_BIAS + s->addr;
}

/* An object of the symbols in C text. */
static void
memory_setup(const char *text)
{
	const char *path = fixture_cc("runtime.so", text, "-shared -fPIC");
	const char *why = NULL;

	memset(&load, 0, sizeof(load));
	ck_assert_int_eq(object_open(path, path, &load.object, &why), 0);
	for (uint64_t at = 0, n; at < LOAD_BYTES; at += n) {
		n = at % 1024 == 0 ? 1024 : 8;
		if (object_read(load.object, at, image + at, n) == 0)
			continue;
		n = 8;
		if (object_read(load.object, at, image + at, n) != 0)
			memset(image + at, 0, n);
	}
	load.bias = load.start = LOAD_BIAS;
	load.end = LOAD_BIAS + LOAD_BYTES;
	load.module = "runtime.so";
	load.seen = true;
	memset(&walk, 0, sizeof(walk));
	walk.mem = &memory;
	walk.th = &thread;
	walk.as = addrspace_create(getpid(), &memory);
	walk.unwinder = unwinder_create(walk.as);
	walk.unwinder->mem = &memory;
	walk_reset();
}

static void
memory_teardown(void)
{
	unwinder_destroy(walk.unwinder);
	addrspace_put(walk.as);
	vec_fini(&walk.pushed);
	object_put(load.object);
	langname_reset();
}

static uint64_t seed;

static uint64_t
rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Words that lead to one another, that are small, of `likely', or anything. */
static void
memory_random(uint64_t n, const uint64_t *likely, size_t count)
{
	seed = n * 0x9e3779b97f4a7c15ULL + 1;
	for (size_t i = 0; i < ARENA_BYTES; i += 8) {
		uint64_t kind = rnd() % 16, v;

		if (kind < 8)
			v = ARENA + (rnd() % ARENA_BYTES & ~7ULL);
		else if (kind < 10)
			v = rnd() % 300;
		else if (kind < 14 && count != 0)
			v = likely[rnd() % count];
		else
			v = rnd();
		memcpy(arena + i, &v, sizeof(v));
	}
	walk_reset();
}

/* A walk of some C frames whose stack is in the arena, as lang.c does it. */
static void
walk_frames(const struct lang_ops *ops, void *self, uint64_t pc)
{
	struct frame f = { .exact = true }, caller;

	frame_set(&f, CFI_RSP, ARENA);
	frame_set(&f, CFI_RIP, pc);
	ops->begin(self, &walk);
	for (int i = 0; i < 64; i++) {
		caller = f;
		caller.exact = false;
		frame_set(&caller, CFI_RSP, f.r[CFI_RSP] + ARENA_BYTES / 64);
		if (ops->step != NULL)
			ops->step(self, &walk, &f, &(struct frame){ 0 });
		ck_assert(
		    !ops->frames(self, &walk, &f, i < 63 ? &caller : NULL));
		f = caller;
	}
	ops->end(self, &walk);
}

#endif
