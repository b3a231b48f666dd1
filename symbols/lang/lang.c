/*
 * Stacks with the frames of languages; see lang.h and lang_impl.h.
 *
 * Invariant: a language may report a wrong frame, but the walk still ends as
 * unwind.c's does, and no more words are written than there is room for.
 */
#include "symbols/lang.h"

#include "dlang/base/base.h"
#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "symbols/lang/lang_impl.h"

static const struct lang_ops *const languages[] = {
	&lang_cpython,
	&lang_hotspot,
	&lang_php,
	&lang_ruby,
	&lang_v8,
	/* The last one: a runtime that knows more about its own code is asked
	 * first. */
	&lang_perfmap,
};

struct lang {
	const struct lang_ops *ops;
	const struct load *load;
	void *self;
};

struct langs {
	struct addrspace *as;
	bool looked; /* all present loads were examined */
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

/* Write out the pushed frames. */
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
		k->out[k->n++] = f->r[CFI_PC];
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
