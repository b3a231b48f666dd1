/*
 * Bodies of clauses (dlang/jit/jit.h) beside the VM: bodies N SEED FILE...
 *
 * Each of N probes with generated clauses, and each clause of the D programs in the
 * files that has a body, alone and with those behind it, fires some times from random
 * registers: by ecb_fire_site(), and by its body from the same state.  The thread store
 * must be the same afterwards.  A body may give up, with nothing changed, only if the VM recorded
 * a fault, made a new entry, or was not allowed to fire.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dlang/base/mem.h"
#include "dlang/cc/cc.h"
#include "dlang/jit/jit.h"
#include "dlang/vm/agg.h"
#include "dlang/vm/dyn.h"
#include "inject/agent/agent.h"
#include "inject/stub.h"
#include "t/fake/env.h"
#include "t/fake/world.h"

#define CODE_SIZE 8192U
/* Variables of the thread and of the clause, with ids that are the same. */
#define VARIABLES 8
#define FIRINGS   32 /* of one probe */

static uint64_t nbodies, nseveral, nwithout, nfirings, ngiven_up;

/* ---- random numbers ---- */

static uint64_t state;

static uint64_t
draw(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static uint32_t
below(uint32_t n)
{
	return (uint32_t)(draw() % n);
}

static uint64_t
any_word(void)
{
	static const uint64_t edges[] = { 0, 1, (uint64_t)-1, (uint64_t)-2,
		(uint64_t)INT64_MIN, INT64_MAX, 1ULL << 32, 0xffffffff };

	switch (below(4)) {
	case 0: return below(16);
	case 1: return edges[below(8)];
	case 2: return (1ULL << below(64)) + below(3) - 1;
	default: return draw();
	}
}

static uint32_t strsize; /* the option */

/* Of a string: few, so that there are keys more than once; at the end of what can be
 * read; behind it. */
static uint64_t
any_address(void)
{
	static const uint16_t offs[] = { 0, 1, 8, 16, 50, 90, 130, 531, 1000,
		2003, 4070 };

	switch (below(16)) {
	case 0: /* as long as the longest string, or nearly */
		return FAKE_MEM_BASE + FAKE_MEM_SIZE - strsize + below(3) - 1;
	case 1: return FAKE_MEM_BASE + FAKE_MEM_SIZE + below(9);
	case 2: return FAKE_MEM_BASE + below(FAKE_MEM_SIZE);
	default: return FAKE_MEM_BASE + offs[below(sizeof(offs) / 2)];
	}
}

#include "t/vm/call_body.h"

/* ---- one firing, both ways ---- */

/* Clauses on one probe at one site, in lane 0 of the thread store. */
struct rig {
	struct kit *k;
	struct jit_body b;
	uint32_t probe, site;
	const char *name;
	size_t size; /* of the code */
};

static _Noreturn void
wrong(const struct rig *r, const char *what)
{
	printf("%s: %s\ncode:", r->name, what);
	for (size_t n = 0; n < r->size; n++)
		printf(" %02x", ((uint8_t *)body_code)[n]);
	printf("\n");
	exit(1);
}

static struct lane *
lane(const struct rig *r)
{
	return r->k->lanes[0].lane;
}

static void
any_registers(const struct rig *r)
{
	for (unsigned n = 0; n < 16; n++) {
		regs_site[n] = below(3) == 0 ? any_word() : any_address();
		regs_in[n] = is_saved(&r->b, n) ? draw() : regs_site[n];
		if (n != 4)
			lane(r)->regs.r[uregs[n]] = regs_site[n];
	}
	flags_in = 0x202 | (below(2) == 0 ? DIRECTION : 0);
	regs_in[1] = (uintptr_t)&row;
	regs_in[3] = (uintptr_t)lane(r);
}

static void
check_registers(const struct rig *r)
{
	if (body_stack != 0)
		wrong(r, "the stack pointer has changed");
	if ((flags_in ^ flags_out) & DIRECTION)
		wrong(r, "the direction flag has changed");
	if (regs_out[3] != (uintptr_t)lane(r))
		wrong(r, "the lane is not where it was");
	for (unsigned n = 0; n < 16; n++)
		if (n != 4 && !is_saved(&r->b, n) && regs_out[n] != regs_in[n])
			wrong(r, "a register has changed that is not saved");
}

static uint8_t *
copy_of(const struct region *r)
{
	uint8_t *p = mem_alloc(r->size);

	memcpy(p, r->base, r->size);
	return p;
}

/* Bytes of the buffer that no reader sees. */
static void
forget_free(const struct lane_view *v, const struct lane *l, uint8_t *buf)
{
	uint32_t size = v->buf_size;

	for (uint64_t at = l->head; size != 0 && at < l->tail + size; at++)
		buf[at % size] = 0;
}

/* Pins that the body does not use. */
static void
forget_pins(const struct rig *r, struct agg_pin *pins)
{
	for (uint32_t n = 0; n < r->b.nclauses; n++)
		if (!(r->b.pins >> n & 1) && row.epid[n] < r->k->lanes[0].npins)
			pins[row.epid[n]] = (struct agg_pin){ 0 };
}

/* What only the VM's own run leaves: in its environment, in scratch, and in
 * clause-locals, which the next firing sets to 0; and pins.  What only a body leaves: on the
 * lane's stack. */
static void
forget(const struct rig *r, uint8_t *store)
{
	const struct lane_view *v = &r->k->lanes[0];
	ptrdiff_t move = store - r->k->threads.base;

	forget_free(v, (void *)((uint8_t *)v->lane + move), v->buf + move);
	if (v->npins != 0)
		forget_pins(r, (void *)((uint8_t *)v->pins + move));
	memset((uint8_t *)lane_env(v->lane) + move, 0, sizeof(struct vm_env));
	memset(v->scratch + move, 0, v->scratch_size);
	memset(v->locals + move, 0, v->image->locals_size);
	memset((uint8_t *)v->lane + move - LANE_STACK, 0, LANE_STACK);
}

static void
compare(const struct rig *r, uint8_t *vm, uint8_t *body)
{
	forget(r, vm);
	forget(r, body);
	for (size_t i = 0; i < r->k->threads.size; i++)
		if (vm[i] != body[i]) {
			printf("byte %zu of the store, %zd of the lane: "
			       "%02x, by the body %02x\n",
			    i,
			    (ssize_t)(r->k->threads.base + i -
				(uint8_t *)lane(r)),
			    vm[i], body[i]);
			wrong(r, "the stores differ");
		}
}

/* The size of the record with this EPID; 0: it is not one of the clauses. */
static uint32_t
record_size(const struct rig *r, uint32_t epid)
{
	for (uint32_t n = 0; n < r->b.nclauses; n++) {
		const struct img_clause *c =
		    (const void *)(r->k->image.base + r->b.clauses[n]);
		if (row.epid[n] == epid)
			return VM_ALIGN(c->rec_size);
	}
	return 0;
}

/* Has the VM written nothing, or just records of the clauses? */
static bool
has_records(const struct rig *r, const struct lane *before)
{
	const struct lane_view *v = &r->k->lanes[0];
	uint64_t at = before->head;
	uint32_t size = 1;

	for (; at < lane(r)->head && size != 0; at += size) {
		const struct rec_hdr *h =
		    (const void *)(v->buf + at % v->buf_size);
		size = record_size(r, h->epid);
	}
	return size != 0;
}

/* Bytes of an area of aggregations. */
static uint32_t
used_of(const struct rig *r, unsigned area)
{
	const uint32_t *used = (const void *)r->k->lanes[0].aggs[area].hdr;

	return used != NULL ? *used : 0;
}

/* Has the VM pinned an entry? */
static bool
has_pinned(const struct rig *r, const uint8_t *before)
{
	const struct lane_view *v = &r->k->lanes[0];
	const uint8_t *pins = (const void *)v->pins;

	return v->npins != 0 &&
	    memcmp(pins, before + (pins - v->base),
		v->npins * sizeof(*v->pins)) != 0;
}

/* Is there little room for variables of the thread?  A body that reads one after
 * it has set it gives up then. */
static bool
is_narrow(const struct rig *r)
{
	const struct dyn_view *d = &r->k->lanes[0].self;
	const uint8_t *hdr = (const void *)d->hdr;
	uint32_t used;

	if (hdr == NULL)
		return false;
	memcpy(&used, hdr + DYN_USED, sizeof(used));
	return used + VARIABLES > d->chunks;
}

/* Is there little scratch memory?  A body that reads a string gives up then. */
static bool
is_scratch_small(const struct rig *r)
{
	return r->k->lanes[0].scratch_size < 8192;
}

/* May the body give up where the VM has made this of the store? */
static bool
may_give_up(const struct rig *r, const uint8_t *store,
    const struct lane *before, const uint32_t used[2])
{
	const struct lane *l = lane(r);
	bool grown =
	    has_pinned(r, store) || is_narrow(r) || is_scratch_small(r);

	for (unsigned i = 0; i < 2; i++)
		grown |= used_of(r, i) != used[i];
	return grown || !has_records(r, before) ||
	    memcmp(l->drops, before->drops, sizeof(l->drops)) != 0 ||
	    store_hdr(&r->k->threads)->activity != ACTIVITY_ACTIVE ||
	    l->clock == 0 || refused || (r->b.own && l->followed);
}

/* What the lane would tell from the processor's count now, if it has told `last'. */
static uint64_t
told_now(const struct lane *l, uint64_t last)
{
	uint64_t ns = l->tick_ns +
	    ((__builtin_ia32_rdtsc() - l->tick_at) * l->tick_rate >> 32);

	return ns > last ? ns : last;
}

static void
check_clock(const struct rig *r)
{
	if (clock_stack == 0)
		return;
	if (clock_stack % 16 != 8 || clock_stack > (uintptr_t)lane(r) ||
	    clock_stack < (uintptr_t)lane(r) - LANE_STACK / 2)
		wrong(r, "the clock has another stack");
	if (clock_flags & DIRECTION)
		wrong(r, "the clock has another direction");
	if (clock_lane != (uintptr_t)lane(r))
		wrong(r, "the clock has another lane");
}

/* Run the body.  The VM gets the time that it has told. */
static uint32_t
fire_body(struct rig *r, uint64_t *time)
{
	uint64_t was = lane(r)->tick_last, least = told_now(lane(r), was);
	bool late =
	    __builtin_ia32_rdtsc() - lane(r)->tick_at > lane(r)->tick_most;

	*time = clock_now;
	clock_stack = 0;
	refused = false;
	lane(r)->busy = any_word() | 1;
	lane(r)->call = below(4) == 0;
	uint32_t result = run_body();
	if (lane(r)->busy != 0)
		wrong(r, "the lane stays busy");
	if (!flags_tell(result, lane(r)->call != 0))
		wrong(r, "the flags are wrong");
	lane(r)->call = 0;
	check_registers(r);
	check_clock(r);
	if (clock_stack == 0 && lane(r)->tick_most != 0)
		*time = lane(r)->tick_last;
	if (lane(r)->tick_last != was &&
	    (late || *time < least || *time > told_now(lane(r), was)))
		wrong(r, "it is not the time");
	lane(r)->tick_last = was;
	return result;
}

static void
compare_done(const struct rig *r, uint8_t *vm, uint8_t *body)
{
	struct lane *l =
	    (void *)(body + ((uint8_t *)lane(r) - r->k->threads.base));

	if (l->hits != lane(r)->hits + 1)
		wrong(r, "the hit is not counted");
	l->hits--;
	compare(r, vm, body);
}

/* The reader may have seen a writer that was busy. */
static void
compare_none(const struct rig *r, uint8_t *before, uint8_t *body)
{
	ptrdiff_t at = (uint8_t *)lane(r) - r->k->threads.base;
	struct lane *was = (void *)(before + at), *l = (void *)(body + at);

	if (l->agg_busy & 1 && l->agg_busy != was->agg_busy)
		wrong(r, "it is busy for ever");
	l->agg_busy = was->agg_busy;
	compare(r, before, body);
}

static void
fire_both(struct rig *r)
{
	struct kit *k = r->k;
	uint8_t *before = copy_of(&k->threads);
	struct lane was = *lane(r);
	const uint32_t used[2] = { used_of(r, 0), used_of(r, 1) };
	uint64_t time;

	uint32_t result = fire_body(r, &time);
	uint8_t *by_body = copy_of(&k->threads);
	memcpy(k->threads.base, before, k->threads.size);
	lane_env(lane(r))->timestamp = time;
	ecb_fire_site(lane_env(lane(r)), r->site);
	uint8_t *by_vm = copy_of(&k->threads);
	if (result == 0)
		compare_done(r, by_vm, by_body);
	else if (result != 1)
		wrong(r, "a strange result");
	else if (!may_give_up(r, before, &was, used))
		wrong(r, "it has given up");
	else
		compare_none(r, before, by_body);
	ngiven_up += result;
	nfirings++;
	mem_free(before);
	mem_free(by_body);
	mem_free(by_vm);
}

/* ---- one clause ---- */

/* There is no more room for variables of the thread, but for what is freed. */
static void
fill_variables(const struct dyn_view *d)
{
	uint8_t *hdr = (void *)d->hdr;

	if (hdr == NULL)
		return;
	*(uint32_t *)(void *)(hdr + DYN_USED) = d->chunks;
	*(uint32_t *)(void *)(hdr + DYN_FREED) = 0;
}

/* The time is told by the function, or from the processor's count, or not at all. */
static void
any_clock(struct lane *l)
{
	uint64_t ns = any_word() / 4, rate = draw() >> 31;
	uint64_t ago = below(1000000);

	clock_now = 1 + any_word() / 2;
	l->clock = below(32) == 0 ? 0 : (uintptr_t)clock_double;
	l->tick_most = l->clock == 0 || below(2) == 0 ? 0 :
	    below(4) == 0                             ? ago / 2 :
							~0ULL >> 32;
	l->tick_rate = rate;
	l->text = (uintptr_t)text_double;
	l->tick_ns = ns;
	l->tick_at = __builtin_ia32_rdtsc() - ago;
	l->tick_last = 1 + ns + below(2) * (ago * rate >> 31);
}

static void
any_time(struct rig *r)
{
	struct store_hdr *h = store_hdr(&r->k->threads);

	if (below(3) == 0)
		any_registers(r);
	h->activity =
	    below(24) == 0 ? below(ACTIVITY_STOPPED + 1) : ACTIVITY_ACTIVE;
	lane(r)->followed = below(8) == 0;
	lane_env(lane(r))->followed = lane(r)->followed != 0;
	if (below(64) == 0)
		fill_variables(&r->k->lanes[0].self);
	if (below(2) == 0)
		lane(r)->tail = lane(r)->head;
	any_clock(lane(r));
	lane_env(lane(r))->cpu = (uint32_t)sched_getcpu();
	if (r->k->lanes[0].aggs[0].hdr != NULL && below(16) == 0)
		agg_flip(&r->k->lanes[0], ++lane(r)->agg_area);
	if (below(16) == 0)
		lane(r)->agg_busy = below(4);
}

static struct argloc args[VM_ARGS];

static void
any_arguments(void)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8, 8, 8 };
	static const uint8_t kinds[] = { ARGLOC_REG, ARGLOC_REG, ARGLOC_REG,
		ARGLOC_REG, ARGLOC_CONST, ARGLOC_ZERO };

	for (unsigned i = 0; i < VM_ARGS; i++)
		args[i] = (struct argloc){
			.kind = below(40) == 0 ? (uint8_t)ARGLOC_NONE :
						 kinds[below(6)],
			.size = sizes[below(6)],
			.is_signed = below(2) == 0,
			.reg = uregs[below(16)] % UREG_COUNT,
			.shift = below(8) == 0 ? 8 : 0,
			.disp = (int64_t)any_word(),
		};
}

/* Clause n of the program becomes the next one of the probe. */
static void
add_clause(struct rig *r, unsigned n)
{
	const struct img_hdr *im = (const void *)r->k->image.base;
	uint32_t epid = image_add_ecb(
	    r->k->im, r->probe, n, below(4) == 0 ? IMG_ECB_OWN : 0);
	const uint32_t *ecbs = (const void *)(r->k->image.base + im->ecbs_ref);
	const struct img_ecb *e = (const void *)(r->k->image.base + ecbs[epid]);
	struct jit_body *b = &r->b;

	if (below(4) != 0 && epid < r->k->lanes[0].npins)
		b->pins |= 1U << b->nclauses;
	b->own |= (e->flags & IMG_ECB_OWN) != 0;
	row.epid[b->nclauses] = epid;
	b->clauses[b->nclauses++] = e->clause_ref;
}

/* Fire `many' clauses of the program, from n on, if they have a body. */
static bool
clauses_both(struct kit *k, unsigned n, unsigned many, const char *name)
{
	struct rig r = { .k = k, .name = name };

	r.probe = image_add_probe(
	    k->im, ++k->next_probe, "prov", "mod", "func", "name", 0);
	row.probe = k->next_probe;
	any_arguments();
	r.b = (struct jit_body){ .image = k->image,
		.rdpid = below(2) == 0 && stub_processor() != 0,
		.args = args,
		.nargs = below(4) == 0 ? below(VM_ARGS + 1) : VM_ARGS };
	for (unsigned i = 0; i < many; i++)
		add_clause(&r, n + i);
	if (!jit_body_plan(&r.b)) {
		nwithout++;
		return false;
	}
	r.site = image_add_site(k->im, r.probe, 0,
	    image_add_args(k->im, args, r.b.nargs), r.b.nargs);
	place_registers(&r.b);
	r.size = jit_body(&r.b, body_code, CODE_SIZE);
	if (r.site == 0 || r.size == 0)
		wrong(&r, "it cannot be written");
	if (!returns_there(&r.b))
		wrong(&r, "it does not return there");
	nbodies++;
	nseveral += many > 1;
	/* Entries of the clauses before stay in the lane. */
	memset(lane_env(lane(&r)), 0, sizeof(struct vm_env));
	any_registers(&r);
	/* Its environment is not open yet. */
	if (run_body() != 1)
		wrong(&r, "it does not see that the lane is not open");
	kit_inside(k, 0, lane_env(lane(&r)));
	for (unsigned i = 0; i < FIRINGS; i++) {
		any_time(&r);
		fire_both(&r);
	}
	return true;
}

/* ---- generated clauses ---- */

static void
declare_variables(struct kit *k)
{
	for (uint32_t i = 0; i < VARIABLES; i++) {
		kit_var(k, DIF_THREAD, DIF_SCALAR, DIF_VAR_USER + i);
		kit_var(k, DIF_LOCAL, DIF_SCALAR, DIF_VAR_USER + i);
	}
}

static uint32_t
any_builtin(void)
{
	static const uint32_t ids[] = { DIF_VAR_PID, DIF_VAR_TID,
		DIF_VAR_TIMESTAMP, DIF_VAR_TIMESTAMP, DIF_VAR_EPID,
		DIF_VAR_ID };

	return below(3) != 0 ? DIF_VAR_ARG0 + below(10) : ids[below(6)];
}

static dif_instr
any_instr(uint32_t at, uint32_t len, dif_instr before, bool *compared)
{
	static const uint8_t ops[] = { DIF_OP_OR, DIF_OP_XOR, DIF_OP_AND,
		DIF_OP_SLL, DIF_OP_SRL, DIF_OP_SRA, DIF_OP_SUB, DIF_OP_ADD,
		DIF_OP_MUL, DIF_OP_SDIV, DIF_OP_UDIV, DIF_OP_SREM, DIF_OP_UREM,
		DIF_OP_NOT, DIF_OP_MOV };
	static const uint8_t variables[] = { DIF_OP_LDTS, DIF_OP_LDLS,
		DIF_OP_STTS, DIF_OP_STLS };
	uint32_t r1 = below(8), r2 = below(8), rd = 1 + below(7);
	bool branches = *compared;
	uint32_t op = ops[below(sizeof(ops))];

	/* Most divisions would be by 0, and nothing could be compared. */
	if (op >= DIF_OP_SDIV && op <= DIF_OP_UREM && below(12) != 0)
		op = DIF_OP_ADD;

	*compared = false;
	if (branches)
		return DIF_INSTR_BRANCH(DIF_OP_BA + below(11),
		    at + 1 + below(VM_MIN(len - at - 1, 6)));
	switch (below(8)) {
	case 0:
		*compared = at + 3 < len;
		return below(3) != 0 ? DIF_INSTR(DIF_OP_CMP, r1, r2, 0) :
				       DIF_INSTR(DIF_OP_TST, r1, 0, 0);
	case 1: return DIF_INSTR_INDEX(DIF_OP_SETX, below(16), rd);
	case 3:
		if (at == 0 || DIF_OP_OF(before) != DIF_OP_SETX)
			return DIF_INSTR_INDEX(DIF_OP_SETX, below(16), rd);
		return DIF_INSTR(DIF_OP_LDGA,
		    below(2) == 0 ? DIF_VAR_ARGS : DIF_VAR_UREGS,
		    DIF_RD(before), rd);
	case 2: return DIF_INSTR_INDEX(DIF_OP_LDGS, any_builtin(), rd);
	case 4:
		return DIF_INSTR_INDEX(
		    variables[below(8) == 0 ? below(4) : below(2)],
		    DIF_VAR_USER + below(VARIABLES), rd);
	default:
		return op == DIF_OP_NOT || op == DIF_OP_MOV ?
		    DIF_INSTR(op, r1, 0, rd) :
		    DIF_INSTR(op, r1, r2, rd);
	}
}

/* One in four is a single argument, as most are. */
static struct difo *
any_difo(struct kit *k)
{
	dif_instr text[24];
	uint64_t ints[16];
	uint32_t len = 2 + below(22);
	bool compared = false;
	struct difo *d;
	const char *why;
	uint32_t at;

	if (below(4) == 0)
		return kit_load(k, DIF_VAR_ARG0 + below(VM_ARGS));
	do {
		for (unsigned i = 0; i < 16; i++)
			ints[i] = i < 6 ? below(20) :
			    i < 10      ? UREG_RAW + below(20) :
					  any_word();
		compared = false;
		for (uint32_t n = 0; n + 1 < len; n++)
			text[n] = any_instr(
			    n, len, n > 0 ? text[n - 1] : 0, &compared);
		text[len - 1] = DIF_INSTR(DIF_OP_RET, 0, 0, below(8));
		d = kit_difo(k, text, len, ints, 16, NULL, 0);
	} while (verify_difo(&k->arena, d, &k->globals, &why, &at) != 0);
	return d;
}

/* One bit of a value that may change with each firing. */
static struct difo *
any_bit(struct kit *k)
{
	uint64_t bits[] = { 1 + below(4) };

	return kit_difo(k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_LDGS, any_builtin(), 1),
		DIF_INSTR_INDEX(DIF_OP_SETX, 0, 2),
		DIF_INSTR(DIF_OP_AND, 1, 2, 1), DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    bits, 1, NULL, 0);
}

static struct difo *
any_predicate(struct kit *k)
{
	return below(2) == 0 ? NULL : below(3) == 0 ? any_bit(k) : any_difo(k);
}

static uint64_t
any_param(enum dif_agg func)
{
	if (func == AGG_LQUANTIZE)
		return LQUANTIZE_ENCODE(
		    (int32_t)any_word(), 1 + below(50), 1 + below(1000));
	return func == AGG_LLQUANTIZE ? LLQUANTIZE_ENCODE(10, 0, 3, 20) : 0;
}

/* Members of a key that are always the same. */
static struct prog_act *
known_member(struct kit *k, uint32_t off)
{
	struct prog_act *a;

	switch (below(3)) {
	case 0:
		a = kit_rec(
		    k, kit_load(k, DIF_VAR_PROBEFUNC), off, 32, ACT_F_STRING);
		break;
	case 1:
		a = kit_rec(k, kit_string(k, "abc"), off, 32, ACT_F_STRING);
		break;
	default: a = kit_rec(k, kit_load(k, DIF_VAR_PID), off, 4, 0);
	}
	a->flags |= ACT_F_KEY;
	return a;
}

/* With a key that is pinned. */
static void
pinned_clause(struct kit *k)
{
	enum dif_agg func = AGG_COUNT + below(AGG_LQUANTIZE - AGG_COUNT + 1);
	uint32_t members = 1 + below(3);
	struct prog_agg *agg = kit_agg(k, func, 32 * members, any_param(func));

	kit_clause(k, any_predicate(k), 0);
	for (uint32_t i = 0; i < members; i++)
		known_member(k, 32 * i);
	struct prog_act *a =
	    kit_act(k, OP_AGG, func == AGG_COUNT ? NULL : any_difo(k));
	a->arg = agg->id;
	a->nkeys = members;
}

/* Sets a variable of the thread, or not. */
static struct difo *
maybe_assign(struct kit *k)
{
	return kit_difo(k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_LDGS, any_builtin(), 1),
		DIF_INSTR_INDEX(DIF_OP_LDGS, any_builtin(), 2),
		DIF_INSTR(DIF_OP_CMP, 1, 2, 0), DIF_INSTR_BRANCH(DIF_OP_BLU, 5),
		DIF_INSTR_INDEX(
		    DIF_OP_STTS, DIF_VAR_USER + below(VARIABLES), below(3)),
		DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    NULL, 0, NULL, 0);
}

/* Computes a value, and most often keeps it in a variable. */
static void
any_assignment(struct kit *k)
{
	struct difo *d = any_difo(k);
	dif_instr text[3];

	if (below(2) == 0) {
		kit_act(k, OP_EXPR, below(2) == 0 ? d : maybe_assign(k));
		return;
	}
	text[0] = DIF_INSTR_INDEX(DIF_OP_LDGS, any_builtin(), 1);
	text[1] = DIF_INSTR_INDEX(below(3) == 0 ? DIF_OP_STLS : DIF_OP_STTS,
	    DIF_VAR_USER + below(VARIABLES), below(3) == 0 ? 0 : 1);
	text[2] = DIF_INSTR(DIF_OP_RET, 0, 0, 1);
	kit_act(k, OP_EXPR, kit_difo(k, text, 3, NULL, 0, NULL, 0));
}

/* Gives a string, by copyinstr() or as it is. */
static struct difo *
any_text(struct kit *k)
{
	uint32_t arg = DIF_VAR_ARG0 + below(VM_ARGS);

	return below(2) == 0 ?
	    kit_load(k, arg) :
	    kit_difo(k,
		KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_LDGS, arg, 3),
		    DIF_INSTR(DIF_OP_FLUSHTS, 0, 0, 0),
		    DIF_INSTR(DIF_OP_PUSHTV, 0, 0, 3),
		    DIF_INSTR_INDEX(DIF_OP_CALL, DIF_SUBR_COPYINSTR, 1),
		    DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
		NULL, 0, NULL, 0);
}

/* A string behind `off'; returns what is behind it. */
static uint32_t
text_member(struct kit *k, uint32_t off, unsigned flags)
{
	uint32_t size = strsize + 1;

	off = VM_ALIGN(off);
	kit_rec(k, any_text(k), off, size, 0)->flags = flags | ACT_F_STRING;
	return off + size;
}

/* A key of some members, which are aligned to their sizes; its size. */
static uint32_t
any_key(struct kit *k, uint32_t *members)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8, 8, 8 };
	uint32_t off = 0;
	bool whole = below(2) == 0;

	*members = below(4) == 0 ? below(7) : below(2);
	for (uint32_t i = 0; i < *members; i++) {
		uint32_t size = sizes[below(6)];
		if (below(4) == 0) {
			off = text_member(k, off, ACT_F_KEY);
			whole = true; /* as the compiler does */
			continue;
		}
		off = (off + size - 1) & ~(size - 1);
		struct prog_act *a = kit_rec(k, any_difo(k), off, size, 0);
		a->flags = ACT_F_KEY;
		off += size;
	}
	return whole ? VM_ALIGN(off) : off;
}

static void
any_aggregation(struct kit *k)
{
	enum dif_agg func = AGG_COUNT + below(AGG_LLQUANTIZE - AGG_COUNT + 1);
	uint32_t members, size = any_key(k, &members);
	struct prog_agg *agg = kit_agg(k, func, size, any_param(func));
	struct prog_act *a =
	    kit_act(k, OP_AGG, func == AGG_COUNT ? NULL : any_difo(k));

	a->arg = agg->id;
	a->nkeys = members;
}

/* One aggregation, as most have, or several actions. */
static void
any_clause(struct kit *k)
{
	unsigned n = below(3) == 0 ? 1 + below(4) : 1;

	if (below(4) == 0) {
		pinned_clause(k);
		return;
	}
	kit_clause(k, any_predicate(k), 0);
	while (n-- > 0)
		if (n > 0 && below(2) == 0)
			any_assignment(k);
		else
			any_aggregation(k);
	if (below(3) == 0)
		any_assignment(k);
}

/* One that records integers, between other actions. */
static void
any_recording(struct kit *k)
{
	static const uint8_t sizes[] = { 0, 1, 2, 4, 8, 8 };
	struct prog_clause *c = kit_clause(k, any_predicate(k), 0);
	uint32_t off = sizeof(struct rec_hdr);

	for (unsigned n = below(5); n > 0; n--) {
		uint32_t size = sizes[below(6)];
		off = size > 1 ? (off + size - 1) & ~(size - 1) : off;
		if (below(6) == 0) {
			off = text_member(k, off, 0);
		} else {
			kit_rec(k, any_difo(k), off, size, 0);
			off += size;
		}
		if (below(6) == 0)
			any_assignment(k);
		if (below(6) == 0)
			any_aggregation(k);
		if (below(6) == 0)
			kit_act(k, OP_MARK, NULL);
	}
	c->rec_size = VM_ALIGN(off);
}

/* Strings without end, of all lengths, and empty ones. */
static void
any_memory(struct kit *k)
{
	uint8_t *mem = k->target.mem;

	for (unsigned i = 0; i < FAKE_MEM_SIZE; i++)
		mem[i] =
		    i > FAKE_MEM_SIZE - 20 || below(i < 4096 ? 20 : 600) != 0 ?
		    (uint8_t)(1 + below(255)) :
		    0;
	memcpy((void *)(uintptr_t)FAKE_MEM_BASE, mem, FAKE_MEM_SIZE);
}

static void
generated(uint64_t n)
{
	while (nbodies < n) {
		struct kit k;
		unsigned clauses = 1 + below(6);
		kit_init(&k);
		strsize =
		    (uint32_t[]){ 1, 7, 8, 23, 31, 32, 40, 256 }[below(8)];
		k.opts.value[OPT_STRSIZE] = strsize;
		k.sizes.scratch = below(8) == 0 ? 64 + 8 * below(64) : 16384;
		any_memory(&k);
		declare_variables(&k);
		k.sizes.aggsize = 512; /* few buckets, long chains */
		k.sizes.dynvarsize = 16 << below(6);
		k.sizes.bufsize = 64 << below(6);
		for (unsigned i = 0; i < clauses; i++)
			if (below(3) == 0)
				any_recording(&k);
			else
				any_clause(&k);
		kit_publish(&k);
		kit_threads(&k, 1);
		kit_give(&k, 0, 77);
		for (unsigned i = 0; i < clauses; i++)
			if (!clauses_both(&k, i,
				below(2) == 0 ?
				    1 :
				    1 + below(VM_MIN(clauses - i, 4)),
				"generated"))
				clauses_both(&k, i, 1, "generated");
		kit_fini(&k);
	}
}

/* ---- programs in D ---- */

static char *
text_of(const char *name)
{
	static char text[1 << 16];
	FILE *f = fopen(name, "r");
	size_t n = f != NULL ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f != NULL)
		fclose(f);
	text[n] = 0;
	return text;
}

static void
program_both(const char *name)
{
	struct options opts;
	struct source source = { name, text_of(name), true };
	struct cc_input in = { .source = &source, .level = CC_NAME };
	struct prog *prog;
	struct diags d;
	struct kit k;

	options_init(&opts);
	struct cc *cc = cc_create(&fake_world, &opts);
	diags_init(&d);
	int error = cc_compile(cc, &in, &prog, &d);
	diags_fini(&d);
	if (error == 0) {
		kit_init(&k);
		k.globals = *cc_globals(cc);
		kit_publish(&k);
		kit_threads(&k, 1);
		kit_give(&k, 0, 77);
		size_t n = prog->nclauses;
		for (size_t i = 0; i < n; i++) {
			unsigned at = prog->clauses[i]->global_index;
			clauses_both(&k, at, 1, name);
			if (i + 1 < n)
				clauses_both(&k, at,
				    2 + below((uint32_t)VM_MIN(n - i - 1, 3)),
				    name);
		}
		memset(&k.globals, 0, sizeof(k.globals));
		kit_fini(&k);
		prog_destroy(prog);
	}
	cc_destroy(cc);
	options_fini(&opts);
}

/* The processor's number is not to change between two runs. */
static void
stay_here(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		exit(77);
}

int
main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: bodies N SEED FILE...\n");
		return 2;
	}
	if (!jit_possible())
		return 77;
	body_code = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *memory = (void *)(uintptr_t)FAKE_MEM_BASE;
	if (body_code == MAP_FAILED ||
	    mmap(memory, FAKE_MEM_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		0) != memory)
		return 77;
	agent.ranges = (uintptr_t)&table;
	stay_here();
	state = strtoull(argv[2], NULL, 10);
	generated(strtoull(argv[1], NULL, 10));
	printf("%" PRIu64 " firings of %" PRIu64 " generated probes alike, "
	       "%" PRIu64 " of them with several clauses; "
	       "%" PRIu64 " given up; %" PRIu64 " probes without a body\n",
	    nfirings, nbodies, nseveral, ngiven_up, nwithout);
	uint64_t firings = nfirings, bodies = nbodies, several = nseveral;
	for (int i = 3; i < argc; i++)
		program_both(argv[i]);
	printf("%" PRIu64 " firings of %" PRIu64 " probes of programs alike, "
	       "%" PRIu64 " of them with several clauses\n",
	    nfirings - firings, nbodies - bodies, nseveral - several);
	return (argc > 3 && nbodies == bodies) || several == 0 ||
	    ngiven_up * 2 > nfirings;
}
