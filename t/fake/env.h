/*
 * A double of the VM's environment: fake target memory, fixed answers, a log
 * of what was asked for; and a kit that puts programs made by hand through
 * the verifier into an image and fires them.
 */
#ifndef T_FAKE_ENV_H
#define T_FAKE_ENV_H

#include "dlang/image/image.h"
#include "dlang/prog.h"
#include "dlang/verify.h"
#include "dlang/vm/ecb.h"
#include "dlang/vm/lane.h"
#include "dlang/vm/store.h"

/* Fake target memory: FAKE_MEM_SIZE bytes at FAKE_MEM_BASE; all else faults. */
#define FAKE_MEM_BASE 0x7f0000001000ULL
#define FAKE_MEM_SIZE 8192

struct fake_env {
	uint8_t mem[FAKE_MEM_SIZE];
	uint64_t regs[UREG_COUNT];
	uint32_t nstack; /* frames that stack() has: 0x1000, 0x1001 ... */
	int control_op;  /* the last one asked for, -1 none */
	int64_t control_arg;
	bool control_fails;
	unsigned loads, vars; /* calls */
	uint64_t pid;
	const char *execname;
};

extern const struct vm_ops fake_env_ops;

/* Put text at an offset of the target's memory; its address. */
uint64_t fake_env_put(
    struct fake_env *t, uint32_t off, const void *p, size_t size);
uint64_t fake_env_str(struct fake_env *t, uint32_t off, const char *s);

/* ---- the kit ---- */

struct kit {
	struct arena arena;
	struct prog_globals globals;
	struct options opts;
	struct image *im;
	struct region image, store, threads;
	struct store_sizes sizes;
	struct vm_env env;
	struct lane_view *lanes; /* of the thread store */
	struct fake_env target;
	struct prog_clause *clause; /* being built */
	uint32_t next_probe;
};

/* An empty program; options and sizes have small defaults, to be changed
 * before kit_publish(). */
void kit_init(struct kit *k);
void kit_fini(struct kit *k);

/* A DIFO of these instructions and integers; strs is its string table of
 * strs_len bytes (NULL: one NUL).  Not verified yet. */
struct difo *kit_difo(struct kit *k, const dif_instr *text, uint32_t len,
    const uint64_t *ints, uint32_t nints, const char *strs, uint32_t strs_len);
#define KIT_TEXT(...)                       \
	(const dif_instr[]){ __VA_ARGS__ }, \
	    sizeof((const dif_instr[]){ __VA_ARGS__ }) / sizeof(dif_instr)
/* A DIFO that returns a constant, a variable, or the string given. */
struct difo *kit_const(struct kit *k, uint64_t value);
struct difo *kit_load(struct kit *k, uint32_t var);
struct difo *kit_string(struct kit *k, const char *s);

/* A variable of 8 bytes, or of `size' bytes by reference (kind string). */
struct prog_var *kit_var(
    struct kit *k, enum dif_scope scope, enum dif_kind kind, uint32_t id);
struct prog_var *kit_ref_var(struct kit *k, enum dif_scope scope,
    enum dif_kind kind, uint32_t id, bool string, uint32_t size);
struct prog_agg *kit_agg(
    struct kit *k, enum dif_agg func, uint32_t key_size, uint64_t param);

/* Begin a clause with a record of rec_size bytes; its acts follow. */
struct prog_clause *kit_clause(
    struct kit *k, struct difo *pred, uint32_t rec_size);
struct prog_act *kit_act(struct kit *k, enum img_op op, struct difo *d);
/* An expression recorded at off in size bytes. */
struct prog_act *kit_rec(
    struct kit *k, struct difo *d, uint32_t off, uint32_t size, unsigned flags);

/* Verify everything and lay it out; make the store; activity ACTIVE. */
void kit_publish(struct kit *k);
/* A probe with these clauses (by index, -1 ends); its reference. */
uint32_t kit_probe(struct kit *k, uint32_t flags, ...);

/* After kit_publish(): a thread store of n lanes, that are nobody's. */
void kit_threads(struct kit *k, uint32_t n);
/* Give lane n to a thread. */
void kit_give(struct kit *k, uint32_t n, uint64_t thread);
/* An environment as a thread has it in its lane, but for the ops, which are
 * those of the double. */
void kit_inside(struct kit *k, uint32_t n, struct vm_env *env);

struct lane *kit_lane(struct kit *k);
const struct lane_view *kit_view(const struct kit *k);
/* The next record that was not read yet, or NULL. */
const void *kit_record(struct kit *k);

/* Verify one DIFO, and put it into the image as the predicate of no clause.  The
 * kit is published by it if it was not. */
const struct img_difo *kit_place(struct kit *k, struct difo *d);
/* The same, and run it once. */
int kit_run(struct kit *k, struct difo *d, uint64_t *value);

#endif
