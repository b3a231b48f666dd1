/*
 * Fires a probe: for each of its ECBs the predicate, the reservation, the
 * actions and the commit.  No other file writes records.
 *
 *	predicate false ----------------------------> nothing
 *	no room for the record ---------------------> the whole ECB is a drop
 *	fault --> record discarded, rec_fault ------> ERROR fires
 *	all actions done ---------------------------> record committed
 *
 * Other effects of actions (variables, aggregations, signals) remain after a
 * fault.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/ecb.h"

#include "dlang/vm/agg.h"
#include "dlang/vm/buf.h"
#include "dlang/vm/spec.h"
#include "dlang/vm/vm_impl.h"

/* One ECB being run. */
struct run {
	struct vm_env *env;
	const struct img_ecb *ecb;
	const struct img_clause *clause;
	uint8_t *rec;    /* reserved space, or NULL */
	uint64_t spec;   /* id when rec is in a speculation */
	uint8_t *key;    /* aggregation key being built, or NULL */
	uint32_t action; /* for fault messages */
	bool committed;  /* commit() has committed the record already */
	bool dropped;    /* speculate() found no place: stop here */
};

/* No signal has a higher number on Linux. */
#define SIGNAL_MAX 64
/* chill() longer than this is refused, as DTrace does. */
#define CHILL_MAX 500000000

static const void *
at(const struct vm_env *env, uint32_t ref)
{
	/* References in the image are trusted: image.c wrote them. */
	return ref == 0 ? NULL : env->image.base + ref;
}

static uint64_t
evaluate(struct run *u, uint32_t difo_ref)
{
	uint64_t v = 0;

	vm_eval(u->env, at(u->env, difo_ref), &v);
	return v;
}

/* ---- records ---- */

static void
fill_header(struct vm_env *env, void *rec, uint32_t epid)
{
	struct rec_hdr *h = rec;

	vm_when(env);
	h->epid = epid;
	h->cpu = env->cpu;
	h->pid = env->pid;
	h->tid = env->tid;
	h->timestamp = env->timestamp;
}

static void *
reserve(struct vm_env *env, uint32_t size)
{
	buf_make_room(&env->image, &env->at, size);
	return buf_reserve(&env->at, size);
}

/* Reserve space for the record.  False if there is none. */
static bool
begin_record(struct run *u, void *rec)
{
	if (rec == NULL)
		return false;
	u->rec = rec;
	/* Padding between values must not show earlier data. */
	memset(rec, 0, VM_ALIGN(u->clause->rec_size));
	fill_header(u->env, rec, u->ecb->epid);
	return true;
}

static void
end_record(struct run *u)
{
	if (u->rec == NULL || u->committed)
		return;
	if (u->spec != 0)
		spec_keep(u->env, u->spec, u->clause->rec_size);
	else
		buf_commit(&u->env->at);
	u->committed = true;
}

static void
discard_record(struct run *u)
{
	if (u->rec != NULL && u->spec == 0 && !u->committed)
		buf_discard(&u->env->at);
}

/* ---- actions ---- */

/* An aggregation key begins with the first of its members. */
static bool
begin_key(struct run *u, const struct img_act *a)
{
	const struct img_hdr *im = u->env->at.image;
	const struct img_agg *aggs = at(u->env, im->aggs_ref);

	while (a->op != OP_AGG)
		a++;
	return vm_alloc(u->env, aggs[a->arg - 1].key_size, &u->key) != 0;
}

/* The place of an action's result, in the key or in the record. */
static uint8_t *
target(struct run *u, const struct img_act *a)
{
	if (!(a->flags & ACT_F_KEY))
		return u->rec != NULL ? u->rec + a->off : NULL;
	if (u->key == NULL && !begin_key(u, a))
		return NULL;
	return u->key + a->off;
}

/* A value that cannot be read is reported at the `ret' that returned its
 * address. */
static void
blame_result(struct run *u, const struct img_act *a)
{
	const struct img_difo *d = at(u->env, a->difo_ref);

	if (vm_faulted(u->env) && u->env->fault.offset < 0)
		u->env->fault.offset =
		    (int32_t)((d->len - 1) * sizeof(dif_instr));
}

/* The address of scratch memory differs at each firing and means nothing
 * outside.  In records, a pointer to it is its offset from the begin, from 8
 * on, since it is not NULL. */
static uint64_t
show_pointer(const struct vm_env *env, uint64_t v)
{
	const struct lane_view *at = &env->at;
	uint64_t begin = VMA(VMA_STORE, at->scratch_ref);

	return v - begin <= at->scratch_size ? v - begin + 8 : v;
}

static void
act_object(struct run *u, const struct img_act *a, uint8_t *p, uint64_t addr)
{
	memcpy(p, &addr, 8);
	vm_copy(u->env, p + 8, addr, a->size - 8);
}

static void
act_expr(struct run *u, const struct img_act *a)
{
	uint64_t v = evaluate(u, a->difo_ref);

	if (vm_faulted(u->env) || a->size == 0)
		return;
	uint8_t *p = target(u, a);
	if (p == NULL)
		return;
	if (a->flags & ACT_F_STRING)
		vm_copy_str(u->env, (char *)p, v, a->size);
	else if (a->flags & ACT_F_BYREF)
		vm_copy(u->env, p, v, a->size);
	else if (a->flags & ACT_F_OBJECT && a->size > 8)
		act_object(u, a, p, v);
	else {
		if (a->flags & ACT_F_POINTS)
			v = show_pointer(u->env, v);
		memcpy(p, &v, VM_MIN(a->size, 8));
	}
	blame_result(u, a);
}

static void
act_stack(struct run *u, const struct img_act *a, bool lang)
{
	struct vm_env *env = u->env;
	struct rec_stack *s = (void *)target(u, a);
	uint32_t max = (uint32_t)a->arg;

	if (s == NULL)
		return;
	s->pid = env->pid;
	s->space = env->ops->space(env);
	uint32_t n = env->ops->stack(env, s->pc, max, lang);
	if (n < max)
		memset(s->pc + n, 0, (size_t)(max - n) * 8);
}

static void
act_sym(struct run *u, const struct img_act *a)
{
	uint64_t v = evaluate(u, a->difo_ref);

	if (vm_faulted(u->env))
		return;
	struct rec_sym *s = (void *)target(u, a);
	if (s == NULL)
		return;
	s->pid = u->env->pid;
	s->space = u->env->ops->space(u->env);
	s->addr = v;
}

static void
act_agg(struct run *u, const struct img_act *a)
{
	struct vm_env *env = u->env;
	const struct img_agg *aggs = at(env, env->at.image->aggs_ref);
	int64_t value = 1, increment = 1;

	if (a->difo_ref != 0)
		value = (int64_t)evaluate(u, a->difo_ref);
	if (a->difo2_ref != 0 && !vm_faulted(env))
		increment = (int64_t)evaluate(u, a->difo2_ref);
	uint32_t cpu = 0;
	if (env->at.image->flags & IMG_AGGPERCPU) {
		vm_when(env);
		cpu = env->cpu + 1;
	}
	if (!vm_faulted(env))
		agg_update(&env->at, &aggs[a->arg - 1],
		    u->key != NULL ? (const void *)u->key : "", cpu, value,
		    increment,
		    a->flags & ACT_F_PIN ? u->ecb->epid : AGG_NO_PIN);
	u->key = NULL;
}

static void
act_exit(struct run *u, const struct img_act *a)
{
	struct vm_env *env = u->env;
	struct store_hdr *h = env->at.store;
	int32_t status = (int32_t)evaluate(u, a->difo_ref);

	if (vm_faulted(env))
		return;
	if (u->rec != NULL)
		memcpy(u->rec + a->off, &status, VM_MIN(a->size, 4));
	if (!h->exit_called ||
	    (env->probe != NULL && env->probe->flags & IMG_PROBE_END)) {
		h->exit_status = status;
		h->exit_called = 1;
	}
	/* The first firing that leaves these two states decides. */
	uint32_t from = ACTIVITY_ACTIVE;
	if (!__atomic_compare_exchange_n(&h->activity, &from, ACTIVITY_DRAINING,
		false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		from = ACTIVITY_WARMUP;
		__atomic_compare_exchange_n(&h->activity, &from,
		    ACTIVITY_DRAINING, false, __ATOMIC_ACQ_REL,
		    __ATOMIC_ACQUIRE);
	}
}

static void
act_spec(struct run *u, const struct img_act *a)
{
	struct vm_env *env = u->env;
	/* The type is int in D. */
	uint64_t id = (uint64_t)(int32_t)evaluate(u, a->difo_ref);

	if (vm_faulted(env))
		return;
	switch (a->op) {
	case OP_SPECULATE:
		u->spec = id;
		u->dropped = !begin_record(
		    u, spec_reserve(env, id, u->clause->rec_size));
		break;
	case OP_COMMIT:
		end_record(u);
		spec_commit(env, id);
		break;
	case OP_DISCARD: spec_discard(env, id); break;
	}
}

static void
act_control(struct run *u, const struct img_act *a)
{
	struct vm_env *env = u->env;
	int64_t v = 0;

	if (a->difo_ref != 0)
		v = (int64_t)evaluate(u, a->difo_ref);
	if (vm_faulted(env))
		return;
	if ((a->op == OP_RAISE && (v < 0 || v > SIGNAL_MAX)) ||
	    (a->op == OP_CHILL && (v < 0 || v > CHILL_MAX)) ||
	    env->ops->control(env, (enum img_op)a->op, v) != 0)
		vm_fault(env, FLT_ILLOP, (uint64_t)v);
}

/* Report a fault of an action that refuses its value at the instruction that
 * computed it. */
static void
fault_of_value(struct run *u, const struct img_act *a)
{
	const struct img_difo *d = at(u->env, a->difo_ref);

	if (vm_faulted(u->env) && u->env->fault.offset < 0 && d != NULL &&
	    d->len > 0)
		u->env->fault.offset =
		    (int32_t)((d->len - 1) * sizeof(dif_instr));
}

static void
run_act(struct run *u, const struct img_act *a)
{
	u->action = a->index;
	switch ((enum img_op)a->op) {
	case OP_EXPR: act_expr(u, a); break;
	case OP_STACK: act_stack(u, a, false); break;
	case OP_JSTACK: act_stack(u, a, true); break;
	case OP_SYM: act_sym(u, a); break;
	case OP_AGG: act_agg(u, a); break;
	case OP_EXIT: act_exit(u, a); break;
	case OP_MARK: break;
	case OP_SPECULATE:
	case OP_COMMIT:
	case OP_DISCARD: act_spec(u, a); break;
	case OP_STOP:
	case OP_RAISE:
	case OP_CHILL: act_control(u, a); break;
	}
	fault_of_value(u, a);
}

/* ---- firing ---- */

static void fire_error(struct vm_env *env, const struct img_ecb *ecb);

static void
record_fault(struct vm_env *env, uint32_t epid, uint32_t action)
{
	struct rec_fault *f = reserve(env, sizeof(*f));

	if (f == NULL)
		return;
	fill_header(env, f, EPID_FAULT);
	f->epid = epid;
	f->action = action;
	f->offset = env->fault.offset;
	f->code = (uint32_t)env->fault.code;
	f->value = env->fault.value;
	buf_commit(&env->at);
}

static void
fault(struct run *u)
{
	struct vm_env *env = u->env;

	discard_record(u);
	if (env->depth > 0) {
		env->at.lane->drops[DROP_DBLERROR]++;
		return;
	}
	record_fault(env, u->ecb->epid, u->action);
	fire_error(env, u->ecb);
}

static void
run_acts(struct vm_env *env, const struct img_ecb *e)
{
	const struct img_clause *c = at(env, e->clause_ref);
	const struct img_act *acts = at(env, c->acts_ref);
	struct run u = { .env = env, .ecb = e, .clause = c };

	if (c->rec_size != 0 && !(c->flags & IMG_CLAUSE_SPECULATES) &&
	    !begin_record(&u, reserve(env, c->rec_size)))
		return;
	for (uint32_t i = 0; i < c->nacts && !u.dropped; i++) {
		run_act(&u, &acts[i]);
		if (vm_faulted(env)) {
			fault(&u);
			return;
		}
	}
	end_record(&u);
}

static void
begin_ecb(struct vm_env *env, const struct img_ecb *e)
{
	env->epid = e->epid;
	env->fault = (struct vm_fault){ FLT_NONE, -1, 0 };
}

static void
run_ecb(struct vm_env *env, const struct img_ecb *e, uint32_t ref)
{
	const struct img_clause *c = at(env, e->clause_ref);
	uint64_t so = 1;

	begin_ecb(env, e);
	if (c->pred_ref != 0)
		vm_eval(env, at(env, c->pred_ref), &so);
	if (vm_faulted(env)) {
		struct run u = { .env = env, .ecb = e, .clause = c };
		fault(&u);
	} else if (so != 0) {
		if (c->flags & IMG_CLAUSE_OUTSIDE && env->ops->rest != NULL)
			env->ops->rest(env, ref);
		else
			run_acts(env, e);
	}
}

/* Does a probe with these flags fire in the present state?  The tracer decides
 * when END fires; here only exit() must not prevent it. */
static bool
may_fire(const struct vm_env *env, uint32_t flags)
{
	if (flags & IMG_PROBE_OFF)
		return false;
	switch ((enum activity)LOAD_ACQUIRE(&env->at.store->activity)) {
	case ACTIVITY_INACTIVE:
	case ACTIVITY_STOPPED: return false;
	case ACTIVITY_WARMUP:
		return (flags & (IMG_PROBE_BEGIN | IMG_PROBE_ERROR)) != 0;
	case ACTIVITY_ACTIVE: return true;
	case ACTIVITY_DRAINING:
	case ACTIVITY_COOLDOWN:
		return (flags & (IMG_PROBE_END | IMG_PROBE_ERROR)) != 0;
	}
	return false;
}

static bool
is_on(const struct vm_env *env, const struct img_ecb *e)
{
	uint32_t off = IMG_ECB_OFF | (env->followed ? IMG_ECB_OWN : 0U);

	return (LOAD_ONCE(&e->flags) & off) == 0;
}

/* Run the ECBs of a probe.  After exit() in one, the later ones do not run.
 * Each begins with the same scratch memory, so what one allocated is free for
 * the next. */
static void
fire(struct vm_env *env, uint32_t probe_ref)
{
	const struct img_probe *p = at(env, probe_ref);
	uint32_t ref = LOAD_ACQUIRE(&p->ecb_ref);
	uint64_t used = env->scratch_used;

	env->probe = p;
	env->probe_ref = probe_ref;
	while (ref != 0 && may_fire(env, LOAD_ONCE(&p->flags))) {
		const struct img_ecb *e = at(env, ref);
		env->scratch_used = used;
		if (is_on(env, e))
			run_ecb(env, e, ref);
		ref = LOAD_ACQUIRE(&e->next_ref);
	}
}

/* Fire ERROR within the firing that had the fault.  It uses the rest of scratch
 * memory, and the state is restored afterwards. */
static void
fire_error(struct vm_env *env, const struct img_ecb *ecb)
{
	const struct img_probe *probe = at(env, ecb->probe_ref);
	const struct img_clause *clause = at(env, ecb->clause_ref);
	uint32_t ref = env->at.image->error_probe_ref;

	if (ref == 0)
		return;
	struct vm_env saved = *env;
	env->hit[0] = 0;
	env->hit[1] = probe->id;
	env->hit[2] = clause->index;
	env->hit[3] = (uint64_t)(int64_t)saved.fault.offset;
	env->hit[4] = (uint64_t)(int64_t)saved.fault.code;
	env->hit[5] = saved.fault.value;
	for (int i = 6; i < VM_ARGS; i++)
		env->hit[i] = 0;
	env->args = NULL;
	env->nargs = 0;
	env->scan = (struct vm_scan){ 0 };
	env->depth++;
	fire(env, ref);
	/* Not the whole struct is restored: members of the owner may have
	 * changed. */
	env->depth--;
	memcpy(env->hit, saved.hit, sizeof(saved.hit));
	env->args = saved.args;
	env->nargs = saved.nargs;
	env->probe = saved.probe;
	env->probe_ref = saved.probe_ref;
	env->epid = saved.epid;
	env->fault = saved.fault;
	env->scratch_used = saved.scratch_used;
	env->scan = saved.scan;
	env->scratch_size = saved.scratch_size;
}

void
ecb_fire_probe(struct vm_env *env, uint32_t probe_ref)
{
	if (probe_ref == 0 || vm_begin(env) != 0)
		return;
	env->site_ref = 0;
	env->args = NULL;
	env->nargs = 0;
	fire(env, probe_ref);
}

static const struct img_site *
begin_site(struct vm_env *env, uint32_t site_ref)
{
	const struct img_site *s = at(env, site_ref);

	env->site_ref = site_ref;
	env->args = at(env, s->args_ref);
	/* A site without a table has no arguments, and no words of the hit
	 * either. */
	env->nargs = env->args != NULL ? s->nargs : 0;
	if (env->args == NULL)
		env->args = (const struct argloc *)env->image.base;
	return s;
}

void
ecb_fire_site(struct vm_env *env, uint32_t site_ref)
{
	if (site_ref == 0 || vm_begin(env) != 0)
		return;
	fire(env, begin_site(env, site_ref)->probe_ref);
}

void
ecb_fire_rest(struct vm_env *env, uint32_t site_ref, uint32_t ecb_ref)
{
	const struct img_ecb *e = at(env, ecb_ref);

	if (site_ref == 0 || vm_go_on(env) != 0)
		return;
	env->probe_ref = begin_site(env, site_ref)->probe_ref;
	env->probe = at(env, env->probe_ref);
	uint32_t ref = LOAD_ACQUIRE(&env->probe->ecb_ref);
	while (ref != 0 && ref != ecb_ref)
		ref = LOAD_ACQUIRE(
		    &((const struct img_ecb *)at(env, ref))->next_ref);
	if (ref == 0 || !is_on(env, e) ||
	    !may_fire(env, LOAD_ONCE(&env->probe->flags)))
		return;
	begin_ecb(env, e);
	run_acts(env, e);
}

void
ecb_fire_tracepoint(struct vm_env *env, uint32_t tp_id)
{
	const struct img_hdr *im = (const void *)env->image.base;

	if (tp_id == 0 || tp_id >= im->tps_max)
		return;
	const uint32_t *tps = at(env, im->tps_ref);
	uint32_t ref = LOAD_ACQUIRE(&tps[tp_id]);
	while (ref != 0) {
		const struct img_site *s = at(env, ref);
		ecb_fire_site(env, ref);
		ref = LOAD_ACQUIRE(&s->next_ref);
	}
}
