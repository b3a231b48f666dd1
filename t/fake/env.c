/*
 * See env.h.  Nothing here asserts: it aborts when it is misused.
 */
#include "t/fake/env.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/mem.h"

/* ---- the environment ---- */

static struct fake_env *
target(struct vm_env *env)
{
	return env->ctx;
}

static uint8_t *
place(struct fake_env *t, uint64_t addr, uint64_t len)
{
	if (addr < FAKE_MEM_BASE || addr - FAKE_MEM_BASE > FAKE_MEM_SIZE ||
	    len > FAKE_MEM_SIZE - (addr - FAKE_MEM_BASE))
		return NULL;
	return t->mem + (addr - FAKE_MEM_BASE);
}

static int
fake_load(struct vm_env *env, uint64_t addr, void *buf, uint32_t len)
{
	const uint8_t *p = place(target(env), addr, len);

	target(env)->loads++;
	if (p == NULL)
		return -1;
	memcpy(buf, p, len);
	return 0;
}

static int64_t
fake_load_str(struct vm_env *env, uint64_t addr, char *buf, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++) {
		const uint8_t *p = place(target(env), addr + i, 1);
		if (p == NULL)
			return -1;
		buf[i] = (char)*p;
		if (*p == 0)
			return i + 1;
	}
	return size;
}

static int
fake_store(struct vm_env *env, uint64_t addr, const void *buf, uint32_t len)
{
	uint8_t *p = place(target(env), addr, len);

	if (p == NULL)
		return -1;
	memcpy(p, buf, len);
	return 0;
}

static uint64_t
fake_reg(struct vm_env *env, unsigned reg)
{
	/* Those beyond uregs[] are told apart by their number. */
	return reg < UREG_COUNT ? target(env)->regs[reg] :
	    reg < UREG_ALL      ? 0xf0000000 + reg :
				  0;
}

static int
fake_var(struct vm_env *env, uint32_t id, uint64_t *value)
{
	target(env)->vars++;
	switch (id) {
	case DIF_VAR_PID: *value = target(env)->pid; return 0;
	case DIF_VAR_TID: *value = env->tid; return 0;
	case DIF_VAR_CPU: *value = env->cpu; return 0;
	case DIF_VAR_UID: *value = 1000; return 0;
	}
	return -1;
}

static int
fake_var_str(struct vm_env *env, uint32_t id, char *buf, uint32_t size)
{
	if (id != DIF_VAR_EXECNAME)
		return -1;
	memset(buf, 0, size);
	size_t n = strlen(target(env)->execname);
	memcpy(buf, target(env)->execname, n < size - 1 ? n : size - 1);
	return 0;
}

static uint32_t
fake_stack(struct vm_env *env, uint64_t *pcs, uint32_t max, bool lang)
{
	uint32_t n = target(env)->nstack;

	if (n > max)
		n = max;
	for (uint32_t i = 0; i < n; i++)
		pcs[i] = (lang ? 0x2000 : 0x1000) + i;
	return n;
}

/* Symbols stand at the beginning of memory, by their number. */
static int
fake_symbol(struct vm_env *env, uint64_t ref, uint64_t *addr)
{
	*addr = FAKE_MEM_BASE + ref * 8;
	return ref < 8 ? 0 : -1;
}

static uint32_t
fake_space(struct vm_env *env)
{
	return 7;
}

static int
fake_control(struct vm_env *env, enum img_op op, int64_t arg)
{
	target(env)->control_op = (int)op;
	target(env)->control_arg = arg;
	return target(env)->control_fails ? -1 : 0;
}

static int
fake_state(struct vm_env *env, uint64_t what, uint64_t of, uint64_t *value)
{
	*value = what * 1000 + of;
	return what == DIF_STATE_PR_PPID ? 0 : -1;
}

static int
fake_state_str(
    struct vm_env *env, uint64_t what, uint64_t of, char *buf, uint32_t size)
{
	snprintf(buf, size, "name of %lu", (unsigned long)of);
	return what == DIF_STATE_PR_FNAME ? 0 : -1;
}

static bool
fake_progenyof(struct vm_env *env, int64_t pid)
{
	return pid == 1 || pid == (int64_t)target(env)->pid;
}

const struct vm_ops fake_env_ops = {
	.load = fake_load,
	.load_str = fake_load_str,
	.store = fake_store,
	.reg = fake_reg,
	.var = fake_var,
	.var_str = fake_var_str,
	.symbol = fake_symbol,
	.state = fake_state,
	.state_str = fake_state_str,
	.stack = fake_stack,
	.space = fake_space,
	.control = fake_control,
	.progenyof = fake_progenyof,
};

uint64_t
fake_env_put(struct fake_env *t, uint32_t off, const void *p, size_t size)
{
	if (off > FAKE_MEM_SIZE || size > FAKE_MEM_SIZE - off)
		abort();
	memcpy(t->mem + off, p, size);
	return FAKE_MEM_BASE + off;
}

uint64_t
fake_env_str(struct fake_env *t, uint32_t off, const char *s)
{
	return fake_env_put(t, off, s, strlen(s) + 1);
}

/* ---- the kit ---- */

#define IMAGE_SIZE (1U << 20)

static void
kit_options(struct options *o)
{
	memset(o, 0, sizeof(*o));
#define OPTION(id, name, kind, phase, def, text) o->value[OPT_##id] = (def);
#include "dlang/options.def"
#undef OPTION
}

void
kit_init(struct kit *k)
{
	memset(k, 0, sizeof(*k));
	arena_init(&k->arena);
	kit_options(&k->opts);
	/* Records are the thread's. */
	k->opts.text[OPT_FASTPATH] = mem_strdup("on");
	k->opts.value[OPT_SPECSIZE] = 1024;
	k->sizes = (struct store_sizes){ .nlanes = 1,
		.bufsize = 4096,
		.aggsize = 8192,
		.dynvarsize = 8192,
		.scratch = 4096,
		.policy = POLICY_SWITCH };
	k->target.control_op = -1;
	k->target.pid = 4242;
	k->target.execname = "victim";
	for (unsigned i = 0; i < UREG_COUNT; i++)
		k->target.regs[i] = 0x100 + i;
	k->image.size = IMAGE_SIZE;
	k->image.base = mem_zalloc(IMAGE_SIZE);
	k->im = image_create(k->image);
}

void
kit_fini(struct kit *k)
{
	mem_free(k->opts.text[OPT_FASTPATH]);
	image_destroy(k->im);
	mem_free(k->image.base);
	mem_free(k->store.base);
	mem_free(k->threads.base);
	mem_free(k->lanes);
	vec_fini(&k->globals.vars);
	vec_fini(&k->globals.aggs);
	vec_fini(&k->globals.clauses);
	arena_fini(&k->arena);
}

static void *
copy_in(struct kit *k, const void *p, size_t size)
{
	void *d = arena_alloc(&k->arena, size + 1);

	if (size > 0)
		memcpy(d, p, size);
	return d;
}

struct difo *
kit_difo(struct kit *k, const dif_instr *text, uint32_t len,
    const uint64_t *ints, uint32_t nints, const char *strs, uint32_t strs_len)
{
	struct difo *d = arena_alloc(&k->arena, sizeof(*d));

	d->text = copy_in(k, text, len * sizeof(*text));
	d->len = len;
	d->ints = copy_in(k, ints, nints * sizeof(*ints));
	d->nints = nints;
	d->strs =
	    copy_in(k, strs != NULL ? strs : "", strs != NULL ? strs_len : 1);
	d->strs_len = strs != NULL ? strs_len : 1;
	d->rtype = (struct dif_type){ DIF_TYPE_CTF, CTF_INTEGER, 0, 1, 8 };
	return d;
}

struct difo *
kit_const(struct kit *k, uint64_t value)
{
	return kit_difo(k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
		DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    &value, 1, NULL, 0);
}

struct difo *
kit_load(struct kit *k, uint32_t var)
{
	return kit_difo(k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_LDGS, var, 1),
		DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    NULL, 0, NULL, 0);
}

struct difo *
kit_string(struct kit *k, const char *s)
{
	struct difo *d = kit_difo(k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_SETS, 0, 1),
		DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    NULL, 0, s, (uint32_t)strlen(s) + 1);

	d->rtype = (struct dif_type){ DIF_TYPE_STRING, CTF_UNKNOWN, DIF_BY_REF,
		0, 256 };
	return d;
}

struct prog_var *
kit_var(struct kit *k, enum dif_scope scope, enum dif_kind kind, uint32_t id)
{
	struct prog_var *v = arena_alloc(&k->arena, sizeof(*v));

	v->name = "v";
	v->id = id;
	v->scope = scope;
	v->kind = kind;
	v->type = (struct dif_type){ DIF_TYPE_CTF, CTF_INTEGER, 0, 1, 8 };
	if (kind == DIF_ARRAY) {
		v->nkeys = DIF_TUPLE;
		v->key_size = 64;
	}
	*vec_push(&k->globals.vars) = v;
	return v;
}

struct prog_var *
kit_ref_var(struct kit *k, enum dif_scope scope, enum dif_kind kind,
    uint32_t id, bool string, uint32_t size)
{
	struct prog_var *v = kit_var(k, scope, kind, id);

	v->type = (struct dif_type){ string ? DIF_TYPE_STRING : DIF_TYPE_CTF,
		string ? CTF_UNKNOWN : CTF_STRUCT, DIF_BY_REF, 0, size };
	return v;
}

struct prog_agg *
kit_agg(struct kit *k, enum dif_agg func, uint32_t key_size, uint64_t param)
{
	struct prog_agg *a = arena_alloc(&k->arena, sizeof(*a));

	a->name = "a";
	a->func = func;
	a->key_size = key_size;
	a->param = param;
	a->id = (uint32_t)k->globals.aggs.len + 1;
	*vec_push(&k->globals.aggs) = a;
	return a;
}

/* Enough for any test. */
#define ACTS_MAX 32

struct prog_clause *
kit_clause(struct kit *k, struct difo *pred, uint32_t rec_size)
{
	struct prog_clause *c = arena_alloc(&k->arena, sizeof(*c));

	c->pred = pred;
	c->rec_size = rec_size;
	c->records = rec_size != 0;
	c->acts = arena_alloc(&k->arena, ACTS_MAX * sizeof(*c->acts));
	c->global_index = (unsigned)k->globals.clauses.len;
	*vec_push(&k->globals.clauses) = c;
	k->clause = c;
	return c;
}

struct prog_act *
kit_act(struct kit *k, enum img_op op, struct difo *d)
{
	struct prog_clause *c = k->clause;

	if (c->nacts == ACTS_MAX)
		abort();
	struct prog_act *a = &c->acts[c->nacts++];
	a->op = op;
	a->difo = d;
	a->index = (unsigned)c->nacts;
	return a;
}

struct prog_act *
kit_rec(
    struct kit *k, struct difo *d, uint32_t off, uint32_t size, unsigned flags)
{
	struct prog_act *a = kit_act(k, OP_EXPR, d);

	a->off = off;
	a->size = size;
	a->flags = flags;
	return a;
}

static void
verify(struct kit *k, struct difo *d)
{
	const char *why;
	uint32_t at;

	if (d != NULL && verify_difo(&k->arena, d, &k->globals, &why, &at)) {
		fprintf(stderr, "verifier: %s at %u\n", why, at);
		abort();
	}
}

void
kit_publish(struct kit *k)
{
	for (size_t n = 0; n < k->globals.clauses.len; n++) {
		struct prog_clause *c = k->globals.clauses.at[n];
		verify(k, c->pred);
		for (size_t i = 0; i < c->nacts; i++) {
			verify(k, c->acts[i].difo);
			verify(k, c->acts[i].difo2);
		}
	}
	int error = image_publish(k->im, &k->globals, &k->opts);
	if (error) {
		fprintf(stderr, "image_publish: %d\n", error);
		abort();
	}
	k->store.size = store_size(image_hdr(k->im), &k->sizes);
	k->store.base = mem_zalloc(k->store.size);
	if (store_init(&k->store, image_hdr(k->im), &k->sizes) != 0)
		abort();
	store_hdr(&k->store)->activity = ACTIVITY_ACTIVE;

	struct vm_env *env = &k->env;
	env->ops = &fake_env_ops;
	env->ctx = &k->target;
	env->image = k->image;
	env->store = k->store;
	if (!vm_open(env, 0))
		abort();
	env->thread = 0x10001;
	env->pid = (uint32_t)k->target.pid;
	env->tid = 4243;
	env->cpu = 3;
	env->timestamp = 123456789;
}

void
kit_threads(struct kit *k, uint32_t n)
{
	const struct img_hdr *im = image_hdr(k->im);
	struct store_sizes s = store_share(im, &k->sizes, n, true);

	k->threads.size = store_size(im, &s);
	k->threads.base = mem_zalloc(k->threads.size);
	k->lanes = mem_zalloc(n * sizeof(*k->lanes));
	if (store_init(&k->threads, im, &s) != 0)
		abort();
	store_hdr(&k->threads)->activity = ACTIVITY_ACTIVE;
	for (uint32_t i = 0; i < n; i++)
		if (!store_view(&k->image, &k->threads, i, &k->lanes[i]))
			abort();
}

void
kit_give(struct kit *k, uint32_t n, uint64_t thread)
{
	struct lane_owner owner = { .thread = thread,
		.pid = (uint32_t)k->target.pid,
		.tid = 5000 + n };

	lane_give(&k->lanes[n], &owner);
}

void
kit_inside(struct kit *k, uint32_t n, struct vm_env *env)
{
	const struct lane *l = k->lanes[n].lane;

	*env = (struct vm_env){ .ops = &fake_env_ops,
		.ctx = &k->target,
		.image = k->image,
		.store = k->threads };
	if (!vm_open(env, n))
		abort();
	env->thread = l->thread;
	env->pid = l->pid;
	env->tid = l->tid;
	env->regs = &l->regs;
	env->timestamp = 123456789;
}

uint32_t
kit_probe(struct kit *k, uint32_t flags, ...)
{
	va_list ap;
	int clause;
	uint32_t ref = image_add_probe(
	    k->im, ++k->next_probe, "prov", "mod", "func", "name", flags);

	va_start(ap, flags);
	while ((clause = va_arg(ap, int)) >= 0)
		if (image_add_ecb(k->im, ref, (unsigned)clause, 0) == 0)
			abort();
	va_end(ap);
	return ref;
}

const struct lane_view *
kit_view(const struct kit *k)
{
	return &k->env.at;
}

struct lane *
kit_lane(struct kit *k)
{
	return k->env.at.lane;
}

#include "dlang/vm/buf.h"

const void *
kit_record(struct kit *k)
{
	uint32_t avail;
	const void *rec = buf_peek(kit_view(k), &avail);

	if (rec == NULL)
		return NULL;
	uint32_t size = buf_rec_size(&k->image, rec, avail);
	if (size == 0)
		abort();
	buf_advance(kit_view(k), size);
	return rec;
}

const struct img_difo *
kit_place(struct kit *k, struct difo *d)
{
	/* One DIFO more in the image, as the predicate of no clause: laid
	 * out by hand behind what image.c has handed out. */
	if (k->store.base == NULL)
		kit_publish(k);
	verify(k, d);

	struct img_hdr *h = (void *)k->image.base;
	uint32_t ref = (h->used + 7) & ~7U;
	uint32_t text = d->len * 4 + 7, ints = d->nints * 8;
	struct img_difo *i = (void *)(k->image.base + ref);
	if (ref + sizeof(*i) + text + ints + d->strs_len > h->size)
		abort();
	i->ints_ref = ref + (uint32_t)sizeof(*i);
	i->text_ref = i->ints_ref + ints;
	i->strs_ref = i->text_ref + (text & ~7U);
	i->len = d->len;
	i->nints = d->nints;
	i->strs_len = d->strs_len;
	i->rtype = d->rtype;
	memcpy(k->image.base + i->text_ref, d->text, d->len * 4);
	memcpy(k->image.base + i->ints_ref, d->ints, ints);
	memcpy(k->image.base + i->strs_ref, d->strs, d->strs_len);
	h->used = i->strs_ref + d->strs_len;
	return i;
}

int
kit_run(struct kit *k, struct difo *d, uint64_t *value)
{
	return vm_run(&k->env, kit_place(k, d), value);
}
