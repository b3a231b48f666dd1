/*
 * Stores verified programs in the image region, together with probes, sites and
 * ECBs.
 *
 *	+---------+-------------+-------------+--------------------------+----
 *	| img_hdr | tracepoints | ECBs by     | variables, aggregations, | ...
 *	|         | by id       | EPID        | DIFOs, clauses, probes   |
 *	+---------+-------------+-------------+--------------------------+----
 *	                                                          `used' ---^
 *
 * Space is allocated from the front and never freed.  An item is complete
 * before the word that refers to it is written, with release order, so a reader
 * in the target sees all of it or nothing.  The two tables are sized at
 * creation and not written before use: in a sparse region only used parts take
 * memory.
 */
#include "dlang/image/image.h"

#include <errno.h>
#include <string.h>

#include "dlang/base/hash.h"
#include "dlang/base/mem.h"
#include "dlang/needs.h"
#include "dlang/vm/agg.h"
#include "dlang/vm/store.h"

/* Most tracepoint ids and EPIDs; small regions have fewer. */
#define TABLE_MAX (1U << 20)
/* The part of a region that each of the two tables may take. */
#define TABLE_SHARE 16

static_assert((int)BUF_SWITCH == (int)POLICY_SWITCH &&
	(int)BUF_FILL == (int)POLICY_FILL && (int)BUF_RING == (int)POLICY_RING,
    "the store's policy is the option's");

struct image {
	struct region r;
	struct hash strings;   /* text in the region to reference */
	struct hash tables;    /* hash of an argument table to its entry */
	struct hash difos;     /* hash of a DIFO to its entry */
	VEC(uint32_t) clauses; /* references, by global_index */
};

/* Entries of `tables' and `difos' are references stored as pointers. */
static void *
as_value(uint32_t ref)
{
	return (void *)(uintptr_t)ref;
}

static uint32_t
as_ref(const void *value)
{
	return (uint32_t)(uintptr_t)value;
}

static struct img_hdr *
hdr(const struct image *im)
{
	return (struct img_hdr *)im->r.base;
}

static void *
at(const struct image *im, uint32_t ref)
{
	return im->r.base + ref;
}

/* Allocate `size' zero bytes, 8-byte aligned.  0 if the region is full. */
static uint32_t
take(struct image *im, uint64_t size)
{
	struct img_hdr *h = hdr(im);
	uint32_t ref = h->used;

	if (size > h->size - ref)
		return 0;
	uint64_t end = ROUND_UP(ref + size, 8);
	h->used = end > h->size ? h->size : (uint32_t)end;
	return ref;
}

static uint32_t
put(struct image *im, const void *p, uint64_t size)
{
	uint32_t ref = take(im, size);

	if (ref != 0 && size > 0)
		memcpy(at(im, ref), p, size);
	return ref;
}

/* Equal texts are stored once. */
static uint32_t
put_string(struct image *im, const char *s)
{
	void *known = hash_get_str(&im->strings, s);

	if (known != NULL)
		return as_ref(known);
	uint32_t ref = put(im, s, strlen(s) + 1);
	if (ref != 0)
		hash_set_str(&im->strings, at(im, ref), as_value(ref));
	return ref;
}

struct image *
image_create(struct region r)
{
	uint64_t share = r.size / TABLE_SHARE / sizeof(uint32_t);
	uint32_t n = (uint32_t)MIN(share, TABLE_MAX);

	ASSERT(r.size >= sizeof(struct img_hdr) && (uintptr_t)r.base % 8 == 0);
	struct image *im = mem_zalloc(sizeof(*im));
	im->r = r;

	struct img_hdr *h = hdr(im);
	h->magic = IMAGE_MAGIC;
	h->version = IMAGE_VERSION;
	h->size = r.size;
	h->used = ROUND_UP(sizeof(*h), 8);
	h->tps_ref = take(im, (uint64_t)n * sizeof(uint32_t));
	h->tps_max = n;
	h->ecbs_ref = take(im, (uint64_t)n * sizeof(uint32_t));
	h->ecbs_max = n;
	return im;
}

void
image_destroy(struct image *im)
{
	if (im == NULL)
		return;
	hash_fini(&im->strings);
	hash_fini(&im->tables);
	hash_fini(&im->difos);
	vec_fini(&im->clauses);
	mem_free(im);
}

const struct img_hdr *
image_hdr(const struct image *im)
{
	return hdr(im);
}

/* ---- DIFOs ---- */

static bool
same_bytes(const struct image *im, uint32_t ref, const void *p, size_t size)
{
	return size == 0 || memcmp(at(im, ref), p, size) == 0;
}

static bool
difo_is(const struct image *im, const struct img_difo *i, const struct difo *d)
{
	return i->len == d->len && i->nints == d->nints &&
	    i->strs_len == d->strs_len && i->needs == d->needs &&
	    memcmp(&i->rtype, &d->rtype, sizeof(i->rtype)) == 0 &&
	    same_bytes(im, i->text_ref, d->text, d->len * sizeof(*d->text)) &&
	    same_bytes(im, i->ints_ref, d->ints, d->nints * sizeof(*d->ints)) &&
	    same_bytes(im, i->strs_ref, d->strs, d->strs_len);
}

static uint64_t
difo_hash(const struct difo *d)
{
	uint64_t h = hash_bytes(d->text, d->len * sizeof(*d->text));

	if (d->nints > 0)
		h ^= hash_u64(hash_bytes(d->ints, d->nints * sizeof(*d->ints)));
	if (d->strs_len > 0)
		h ^= hash_u64(hash_bytes(d->strs, d->strs_len)) << 1;
	return h;
}

/* Store a DIFO. Returns its reference; 0 for no DIFO, or if there is no room
 * (*full). */
static uint32_t
put_difo(struct image *im, const struct difo *d, bool *full)
{
	if (d == NULL)
		return 0;
	uint64_t key = difo_hash(d);
	uint32_t ref = as_ref(hash_get(&im->difos, key));
	if (ref != 0 && difo_is(im, at(im, ref), d))
		return ref;

	struct img_difo i = {
		.len = d->len,
		.nints = d->nints,
		.strs_len = d->strs_len,
		.needs = d->needs,
		.next_ref = hdr(im)->difos_ref,
		.rtype = d->rtype,
	};
	ref = take(im, sizeof(i));
	i.text_ref = put(im, d->text, d->len * sizeof(*d->text));
	i.ints_ref = put(im, d->ints, d->nints * sizeof(*d->ints));
	i.strs_ref = put(im, d->strs, d->strs_len);
	if (ref == 0 || i.text_ref == 0 || i.ints_ref == 0 || i.strs_ref == 0) {
		*full = true;
		return 0;
	}
	memcpy(at(im, ref), &i, sizeof(i));
	hdr(im)->difos_ref = ref;
	hash_set(&im->difos, key, as_value(ref));
	return ref;
}

/* ---- publishing ---- */

static uint32_t
value_size(const struct dif_type *t)
{
	return t->flags & DIF_BY_REF ? 8 + ROUND_UP(t->size, 8) : 8;
}

/* The most bytes of key and value of a dynamic variable: each member has a word
 * before its bytes, and padding after (vars.c). */
static uint32_t
dyn_size(const struct prog_var *v)
{
	uint32_t key = 0;

	if (v->kind == DIF_ARRAY)
		key = 16 * v->nkeys + ROUND_UP(v->key_size, 8);
	return key + value_size(&v->type);
}

/* The part of dynvarsize that one variable takes: the value with the size of
 * its type and, in an array, the number of the array and its keys. */
static uint32_t
dyn_cost(const struct prog_var *v)
{
	uint32_t key = 0;

	if (v->kind == DIF_ARRAY)
		key = 4 + v->key_size;
	return key + MAX(v->type.size, 1);
}

static int
var_order(const struct img_var *a, const struct img_var *b)
{
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->scope > b->scope) - (a->scope < b->scope);
}

static struct img_var
lay_var(struct img_hdr *h, const struct prog_var *v)
{
	struct img_var i = {
		.id = v->id,
		.scope = (uint8_t)v->scope,
		.kind = (uint8_t)v->kind,
		.flags = v->type.flags & DIF_BY_REF,
		.size = v->type.flags & DIF_BY_REF ? v->type.size : 8,
	};
	uint32_t size = value_size(&v->type);

	if (i.flags && v->type.kind == DIF_TYPE_STRING)
		i.flags |= IMG_VAR_STRING;
	if (v->kind == DIF_ARRAY || v->scope == DIF_THREAD) {
		h->dyn_data = MAX(h->dyn_data, dyn_size(v));
		h->dyn_cost = MAX(h->dyn_cost, dyn_cost(v));
	} else if (v->scope == DIF_GLOBAL) {
		i.off = h->statics_size;
		h->statics_size += size;
	} else {
		i.off = h->locals_size;
		h->locals_size += size;
	}
	return i;
}

/* All globals, or all clause-locals: an offset has 32 bits. */
#define VARS_MAX (1U << 30)

static int
publish_vars(struct image *im, const struct prog_globals *g)
{
	struct img_hdr *h = hdr(im);
	uint32_t n = (uint32_t)g->vars.len;

	h->vars_ref = take(im, (uint64_t)n * sizeof(struct img_var));
	if (h->vars_ref == 0)
		return -ENOSPC;
	struct img_var *vars = at(im, h->vars_ref);
	for (uint32_t i = 0; i < n; i++) {
		struct img_var v = lay_var(h, g->vars.at[i]);
		uint32_t j = i;
		if (h->statics_size > VARS_MAX || h->locals_size > VARS_MAX)
			return -ENOSPC;
		for (; j > 0 && var_order(&v, &vars[j - 1]) < 0; j--)
			vars[j] = vars[j - 1];
		vars[j] = v;
	}
	h->nvars = n;
	return 0;
}

static int
publish_aggs(struct image *im, const struct prog_globals *g)
{
	struct img_hdr *h = hdr(im);
	uint32_t n = (uint32_t)g->aggs.len;

	h->aggs_ref = take(im, (uint64_t)n * sizeof(struct img_agg));
	if (h->aggs_ref == 0)
		return -ENOSPC;
	struct img_agg *aggs = at(im, h->aggs_ref);
	for (uint32_t i = 0; i < n; i++) {
		struct prog_agg *a = g->aggs.at[i];
		/* The number of words depends on the parameters, which are
		 * known here. */
		a->words = agg_words(a->func, a->param);
		ASSERT(a->id == i + 1 && a->words != 0);
		aggs[i] = (struct img_agg){ a->id, a->func, a->key_size,
			a->words, a->param };
		h->agg_data =
		    MAX(h->agg_data, ROUND_UP(a->key_size, 8) + 8 * a->words);
	}
	h->naggs = n;
	return 0;
}

/* Does the place of the action's result satisfy what the VM assumes? */
static bool
act_fits(const struct prog_act *a, uint32_t limit)
{
	uint64_t size = a->size;

	if (a->op == OP_STACK || a->op == OP_JSTACK)
		size = sizeof(struct rec_stack) + 8 * (uint64_t)a->arg;
	else if (a->op == OP_SYM)
		size = sizeof(struct rec_sym);
	else if (a->op == OP_EXPR &&
	    !(a->flags & (ACT_F_STRING | ACT_F_BYREF | ACT_F_OBJECT)))
		return size <= 8 && a->off <= limit && size <= limit - a->off;
	else
		return a->off <= limit && size <= limit - a->off;
	return a->arg >= 0 && a->arg <= INT32_MAX && a->off % 8 == 0 &&
	    a->off <= limit && size <= limit - a->off;
}

/* Does this action store a value? */
static bool
act_stores(const struct prog_act *a)
{
	switch (a->op) {
	case OP_EXPR: return a->size != 0;
	case OP_STACK:
	case OP_JSTACK:
	case OP_SYM: return true;
	case OP_EXIT: return a->size != 0;
	default: return false;
	}
}

/* 0, or -EINVAL if the layout of the clause is inconsistent. */
static int
check_clause(const struct prog_clause *c, const struct prog_globals *g)
{
	uint32_t key_limit = 0;

	if (c->rec_size != 0 &&
	    (c->rec_size < sizeof(struct rec_hdr) || c->rec_size % REC_ALIGN))
		return -EINVAL;
	/* From the end, so that a key member meets its aggregation first. */
	for (size_t i = c->nacts; i-- > 0;) {
		const struct prog_act *a = &c->acts[i];
		if (a->op == OP_AGG) {
			if (a->arg < 1 || (uint64_t)a->arg > g->aggs.len)
				return -EINVAL;
			key_limit = g->aggs.at[a->arg - 1]->key_size;
		}
		if (a->op == OP_SPECULATE && c->rec_size == 0)
			return -EINVAL;
		if (act_stores(a) &&
		    !act_fits(
			a, a->flags & ACT_F_KEY ? key_limit : c->rec_size))
			return -EINVAL;
	}
	return 0;
}

bool
image_is_outside(const struct prog_clause *c, const struct options *opts)
{
	return (needs_of_acts(c) & dif_needs_tracer()) != 0 ||
	    (c->rec_size != 0 &&
		(option_get(opts, OPT_BUFPOLICY) != POLICY_SWITCH ||
		    options_fastpath(opts) != FASTPATH_ON));
}

static bool
difo_ok(const struct difo *d)
{
	return d == NULL || d->verified;
}

/* Does the expression have the same value at each hit of a probe, in a thread? */
static bool
is_known(const struct difo *d)
{
	dif_instr first = d->text[0];
	uint32_t op = DIF_OP_OF(first);

	if (d->len != 2 || DIF_OP_OF(d->text[1]) != DIF_OP_RET ||
	    DIF_RD(d->text[1]) != DIF_RD(first))
		return false;
	if (op != DIF_OP_LDGS)
		return op == DIF_OP_SETX || op == DIF_OP_SETS;
	switch (DIF_INDEX(first)) {
	case DIF_VAR_PROBEPROV:
	case DIF_VAR_PROBEMOD:
	case DIF_VAR_PROBEFUNC:
	case DIF_VAR_PROBENAME:
	case DIF_VAR_ID:
	case DIF_VAR_PID:
	case DIF_VAR_TID: return true;
	}
	return false;
}

/* Is the last action the only aggregation, with a key of known members or none? */
static bool
act_pins(const struct prog_clause *c)
{
	const struct prog_act *last = &c->acts[c->nacts - 1];

	if (last->op != OP_AGG)
		return false;
	for (size_t i = 0; i + 1 < c->nacts; i++) {
		const struct prog_act *a = &c->acts[i];
		if (a->op != OP_EXPR || !(a->flags & ACT_F_KEY) ||
		    a->difo == NULL || !is_known(a->difo))
			return false;
	}
	return true;
}

static int
publish_acts(struct image *im, const struct prog_clause *c, uint32_t *ref)
{
	bool full = false;

	*ref = take(im, c->nacts * sizeof(struct img_act));
	if (*ref == 0)
		return -ENOSPC;
	struct img_act *acts = at(im, *ref);
	for (size_t i = 0; i < c->nacts && !full; i++) {
		const struct prog_act *a = &c->acts[i];
		ASSERT(difo_ok(a->difo) && difo_ok(a->difo2));
		acts[i] = (struct img_act){
			.op = (uint8_t)a->op,
			.flags = (uint8_t)a->flags,
			.index = (uint16_t)a->index,
			.difo_ref = put_difo(im, a->difo, &full),
			.difo2_ref = put_difo(im, a->difo2, &full),
			.off = a->off,
			.size = a->size,
			.nkeys = a->nkeys,
			.arg = a->arg,
		};
	}
	if (c->nacts > 0 && act_pins(c)) {
		acts[c->nacts - 1].flags |= ACT_F_PIN;
		hdr(im)->flags |= IMG_PINS;
	}
	return full ? -ENOSPC : 0;
}

static int
publish_clause(struct image *im, const struct prog_clause *c,
    const struct prog_globals *g, const struct options *opts)
{
	bool full = false;
	int error = check_clause(c, g);

	if (error)
		return error;
	ASSERT(difo_ok(c->pred));
	struct img_clause i = {
		.pred_ref = put_difo(im, c->pred, &full),
		.nacts = (uint32_t)c->nacts,
		.rec_size = c->rec_size,
		.needs =
		    needs_of_acts(c) | (c->pred != NULL ? c->pred->needs : 0U),
		.index = c->global_index,
		.flags = (c->speculates ? IMG_CLAUSE_SPECULATES : 0U) |
		    (c->commits ? IMG_CLAUSE_COMMITS : 0U) |
		    (image_is_outside(c, opts) ? IMG_CLAUSE_OUTSIDE : 0U),
	};
	if (full)
		return -ENOSPC;
	error = publish_acts(im, c, &i.acts_ref);
	if (error)
		return error;
	uint32_t ref = put(im, &i, sizeof(i));
	if (ref == 0)
		return -ENOSPC;
	*vec_push(&im->clauses) = ref;
	hdr(im)->rec_max = MAX(hdr(im)->rec_max, c->rec_size);
	return 0;
}

/* The size of all speculations together.  It is address space; memory is
 * allocated when it is written. */
#define SPEC_TOTAL (256U << 20)

/* A speculation must fit into the principal buffer when it is committed.
 * Records that are only a header become half as large again then. */
static uint32_t
spec_bytes(const struct options *opts)
{
	int64_t n = MAX(option_get(opts, OPT_NSPEC), 1);
	int64_t most =
	    MIN(option_get(opts, OPT_BUFSIZE) / 3 * 2, SPEC_TOTAL / n);

	return (uint32_t)MAX(MIN(option_get(opts, OPT_SPECSIZE), most), 0);
}

int
image_publish(
    struct image *im, const struct prog_globals *g, const struct options *opts)
{
	struct img_hdr *h = hdr(im);
	int error;

	/* The option counts characters. */
	h->strsize = (uint32_t)option_get(opts, OPT_STRSIZE) + 1;
	h->nspec = (uint32_t)option_get(opts, OPT_NSPEC);
	h->specsize = spec_bytes(opts);
	h->flags = option_get(opts, OPT_DESTRUCTIVE) ? IMG_DESTRUCTIVE : 0;
	h->flags |= option_get(opts, OPT_AGGPERCPU) ? IMG_AGGPERCPU : 0;
	if (g->aggs.len > UINT16_MAX) /* struct agg_entry */
		return -ENOSPC;
	if ((error = publish_vars(im, g)) != 0 ||
	    (error = publish_aggs(im, g)) != 0)
		return error;
	for (size_t i = 0; i < g->clauses.len; i++)
		if ((error = publish_clause(im, g->clauses.at[i], g, opts)) !=
		    0)
			return error;
	h->programs_end = h->used;
	h->changes++;
	return 0;
}

/* ---- probes, sites, ECBs ---- */

static void
link_word(struct image *im, uint32_t *word, uint32_t ref)
{
	__atomic_store_n(word, ref, __ATOMIC_RELEASE);
	hdr(im)->changes++;
}

uint32_t
image_add_probe(struct image *im, uint32_t id, const char *prov,
    const char *mod, const char *func, const char *name, uint32_t flags)
{
	struct img_probe p = {
		.id = id,
		.prov_ref = put_string(im, prov),
		.mod_ref = put_string(im, mod),
		.func_ref = put_string(im, func),
		.name_ref = put_string(im, name),
		.flags = flags,
	};

	if (p.prov_ref == 0 || p.mod_ref == 0 || p.func_ref == 0 ||
	    p.name_ref == 0)
		return 0;
	uint32_t ref = put(im, &p, sizeof(p));
	if (ref != 0 && flags & IMG_PROBE_ERROR)
		link_word(im, &hdr(im)->error_probe_ref, ref);
	return ref;
}

uint32_t
image_add_args(struct image *im, const struct argloc *args, uint32_t nargs)
{
	uint64_t size = (uint64_t)nargs * sizeof(*args);
	uint64_t key = hash_bytes(args, size) ^ nargs;
	uint32_t ref = as_ref(hash_get(&im->tables, key));

	/* The size is part of the key, so what is there can be compared. */
	if (ref != 0 && size <= hdr(im)->used - ref &&
	    same_bytes(im, ref, args, size))
		return ref;
	ref = put(im, args, size);
	if (ref != 0)
		hash_set(&im->tables, key, as_value(ref));
	return ref;
}

uint32_t
image_add_site(struct image *im, uint32_t probe_ref, uint32_t tp_id,
    uint32_t args_ref, uint32_t nargs)
{
	struct img_hdr *h = hdr(im);
	struct img_site s = {
		.probe_ref = probe_ref,
		.args_ref = args_ref,
		.nargs = nargs,
	};

	if (tp_id >= h->tps_max)
		return 0;
	uint32_t ref = put(im, &s, sizeof(s));
	if (ref == 0 || tp_id == 0)
		return ref;
	uint32_t *link = (uint32_t *)at(im, h->tps_ref) + tp_id;
	while (*link != 0)
		link = &((struct img_site *)at(im, *link))->next_ref;
	link_word(im, link, ref);
	return ref;
}

/* The site itself stays: a reader may be standing on it. */
void
image_remove_site(struct image *im, uint32_t site_ref, uint32_t tp_id)
{
	struct img_hdr *h = hdr(im);

	if (tp_id == 0 || tp_id >= h->tps_max)
		return;
	uint32_t *link = (uint32_t *)at(im, h->tps_ref) + tp_id;
	while (*link != 0) {
		struct img_site *s = at(im, *link);
		if (*link == site_ref) {
			link_word(im, link, s->next_ref);
			return;
		}
		link = &s->next_ref;
	}
}

uint32_t
image_add_ecb(
    struct image *im, uint32_t probe_ref, unsigned clause_index, uint32_t flags)
{
	struct img_hdr *h = hdr(im);
	uint32_t epid = h->necbs + 1;

	if (clause_index >= im->clauses.len || epid >= h->ecbs_max)
		return 0;
	struct img_ecb e = {
		.epid = epid,
		.probe_ref = probe_ref,
		.clause_ref = im->clauses.at[clause_index],
		.flags = flags,
	};
	uint32_t ref = put(im, &e, sizeof(e));
	if (ref == 0)
		return 0;
	/* The consumer finds it by EPID before the first record can exist. */
	link_word(im, (uint32_t *)at(im, h->ecbs_ref) + epid, ref);
	link_word(im, &h->necbs, epid);
	uint32_t *link = &((struct img_probe *)at(im, probe_ref))->ecb_ref;
	while (*link != 0)
		link = &((struct img_ecb *)at(im, *link))->next_ref;
	link_word(im, link, ref);
	return epid;
}

void
image_probe_off(struct image *im, uint32_t probe_ref)
{
	struct img_probe *p = at(im, probe_ref);

	__atomic_fetch_or(&p->flags, IMG_PROBE_OFF, __ATOMIC_RELEASE);
	hdr(im)->changes++;
}
