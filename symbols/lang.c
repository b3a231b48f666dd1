/*
 * Stacks with the frames of languages; see lang.h and lang_impl.h.
 *
 * Invariant: a language may be wrong about a frame, but not about the walk: it
 * ends as unwind.c's does, and no more words are written than there is room
 * for.
 */
#include "symbols/lang.h"

#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "symbols/lang_impl.h"

static const struct lang_ops *const languages[] = {
	&lang_cpython,
	&lang_hotspot,
	&lang_php,
	&lang_ruby,
	&lang_v8,
	/* The last: who knows more about its own code goes first. */
	&lang_perfmap,
};

struct lang {
	const struct lang_ops *ops;
	const struct load *load;
	void *self;
};

struct langs {
	struct addrspace *as;
	bool looked; /* at every load there is now */
	struct hash seen;
	VEC(struct lang) list;
	struct lang_walk walk;
};

struct langs *
langs_create(struct addrspace *as)
{
	struct langs *ls = mem_zalloc(sizeof(*ls));

	ls->as = addrspace_get(as);
	ls->walk.as = as;
	return ls;
}

void
langs_destroy(struct langs *ls)
{
	if (ls == NULL)
		return;
	vec_foreach(l, &ls->list)
		l->ops->detach(l->self);
	vec_fini(&ls->list);
	vec_fini(&ls->walk.pushed);
	hash_fini(&ls->seen);
	addrspace_put(ls->as);
	mem_free(ls);
}

void
langs_flush(struct langs *ls)
{
	ls->looked = false;
}

/* ---- what languages may use ---- */

static struct lang_line *
line_at(struct lang_walk *w, uint64_t addr)
{
	uint64_t at = addr & ~(uint64_t)(LANG_LINE - 1);
	/* Heaps put things at equal places of their blocks: the low bits of an
	 * address alone would have them push each other out, and so would any
	 * other bits some time, if there were one line for each address. */
	uint64_t spread = at / LANG_LINE * 0x9e3779b97f4a7c15ULL >> 32;
	struct lang_line *set =
	    &w->lines[spread % (LANG_LINES / LANG_WAYS) * LANG_WAYS];
	struct lang_line *l = set;

	for (size_t i = 0; i < LANG_WAYS; i++) {
		if (set[i].addr == at) {
			set[i].used = ++w->reads;
			return &set[i];
		}
		if (set[i].used < l->used)
			l = &set[i];
	}
	/* A line is a part of a page: all of it can be read, or nothing. */
	l->addr = UINT64_MAX;
	if (reader_read(w->mem, at, l->bytes, sizeof(l->bytes)) != 0)
		return NULL;
	l->addr = at;
	l->used = ++w->reads;
	return l;
}

bool
lang_read(struct lang_walk *w, uint64_t addr, void *buf, size_t len)
{
	uint8_t *to = buf;

	for (size_t done = 0; done < len;) {
		uint64_t at = addr + done;
		size_t off = at % LANG_LINE,
		       n = MIN(len - done, LANG_LINE - off);
		const struct lang_line *l = line_at(w, at);

		if (l == NULL) {
			memset(buf, 0, len);
			return false;
		}
		memcpy(to + done, l->bytes + off, n);
		done += n;
	}
	return true;
}

/* The lowest bytes of a word: the target's order is ours (x86-64). */
static uint64_t
word(struct lang_walk *w, uint64_t addr, size_t size)
{
	uint64_t v = 0;

	lang_read(w, addr, &v, size);
	return v;
}

uint64_t
lang_u64(struct lang_walk *w, uint64_t addr)
{
	return word(w, addr, 8);
}

uint32_t
lang_u32(struct lang_walk *w, uint64_t addr)
{
	return (uint32_t)word(w, addr, 4);
}

uint16_t
lang_u16(struct lang_walk *w, uint64_t addr)
{
	return (uint16_t)word(w, addr, 2);
}

uint8_t
lang_u8(struct lang_walk *w, uint64_t addr)
{
	return (uint8_t)word(w, addr, 1);
}

char *
lang_text(
    struct lang_walk *w, uint64_t addr, uint64_t len, char *buf, size_t size)
{
	size_t n = MIN(len, size - 1);

	if (!lang_read(w, addr, buf, n))
		n = 0;
	buf[n] = '\0';
	return buf;
}

uint64_t
lang_sym(const struct load *l, const char *name)
{
	const struct sym *s = object_sym(l->object, name);

	return s != NULL && s->kind != SYM_TLS ? l->bias + s->addr : 0;
}

void
lang_push(struct lang_walk *w, const char *function, const char *file, int line,
    bool note)
{
	const struct lang_name name = { function, file, line, note };
	uint64_t word = langname_word(&name);

	if (word != 0)
		*vec_push(&w->pushed) = word;
	else
		w->lost += function[0] != '\0';
}

/* ---- the walk ---- */

static void
attach(struct langs *ls, struct load *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++) {
		void *self = languages[i]->attach(&ls->walk, l);

		if (self == NULL)
			continue;
		LOG("lang", "%s in %s", languages[i]->name, l->module);
		*vec_push(&ls->list) = (struct lang){ languages[i], l, self };
	}
}

static void
look(struct langs *ls)
{
	struct load *const *loads;
	size_t n = addrspace_loads(ls->as, &loads);

	for (size_t i = 0; i < n; i++)
		if (loads[i]->seen &&
		    hash_set(&ls->seen, (uintptr_t)loads[i], loads[i]) == NULL)
			attach(ls, loads[i]);
	ls->looked = true;
}

struct walking {
	struct langs *ls;
	uint64_t *out;
	size_t n, max;
};

static enum step
walk_step(void *ctx, const struct frame *f, struct frame *caller)
{
	struct walking *k = ctx;
	enum step s = STEP_FAIL;

	vec_foreach(l, &k->ls->list)
		if (s == STEP_FAIL && l->load->seen && l->ops->step != NULL)
			s = l->ops->step(l->self, &k->ls->walk, f, caller);
	return s;
}

/* What was pushed goes out. */
static void
walk_put(struct walking *k)
{
	struct lang_walk *w = &k->ls->walk;

	vec_foreach(word, &w->pushed)
		if (k->n < k->max)
			k->out[k->n++] = *word;
	vec_clear(&w->pushed);
}

static bool
walk_frame(void *ctx, const struct frame *f, const struct frame *caller)
{
	struct walking *k = ctx;
	struct lang_walk *w = &k->ls->walk;
	bool replaced = false;

	vec_foreach(l, &k->ls->list)
		if (!replaced && l->load->seen)
			replaced = l->ops->frames(l->self, w, f, caller);
	if (!replaced || w->pushed.len == 0)
		k->out[k->n++] = f->r[CFI_RIP];
	walk_put(k);
	return k->n < k->max;
}

size_t
langs_unwind(struct langs *ls, struct unwinder *u, const struct uregs *regs,
    const struct reader *mem, const struct lang_thread *th, uint64_t *out,
    size_t max, uint64_t *lost)
{
	struct walking k = { .ls = ls, .out = out, .max = max };
	const struct unwind_visitor v = {
		.ctx = &k, .step = walk_step, .frame = walk_frame
	};
	struct lang_walk *w = &ls->walk;

	w->mem = mem;
	w->th = th;
	w->unwinder = u;
	w->lost = 0;
	for (size_t i = 0; i < LANG_LINES; i++)
		w->lines[i].addr = UINT64_MAX;
	if (!ls->looked)
		look(ls);
	vec_foreach(l, &ls->list)
		if (l->load->seen && l->ops->begin != NULL)
			l->ops->begin(l->self, w);
	unwind_visit(u, regs, mem, &v);
	vec_foreach(l, &ls->list)
		if (l->load->seen && l->ops->end != NULL)
			l->ops->end(l->self, w);
	walk_put(&k);
	*lost += w->lost;
	return k.n;
}
