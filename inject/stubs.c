/*
 * The code of sites in the target: its memory is cut from that of slots, and what
 * is to be put back there when we are gone is on the list before a jump leads to
 * it.
 */
#include <errno.h>

#include "dlang/base/fault.h"
#include "inject/slot.h"
#include "inject/tracepoint_impl.h"
#include "inject/trapset.h"

/* What an int3 in the code becomes. */
#define NOTHING 0x90

/* Room for what sites share. */
#define RUNS_USUAL 8192

/* Places for code that are tried; few are such that a jump cannot lead there. */
#define PLACES_TRIED 8

/* List the memory of slots that contains addr.  0, or -errno. */
static int
list_memory(struct tptable *tab, uint64_t addr)
{
	uint64_t start;
	size_t size;

	return slot_bounds(tab->slots, addr, &start, &size) ?
	    trapset_add(tab->traps, TRAP_SLOTS, start, (uint32_t)size) :
	    0;
}

#define TRAPS 3U

/* The address of one of its int3s. */
static uint64_t
trap_of(const struct stub *s, unsigned n)
{
	const uint16_t at[TRAPS] = { s->trap, s->called_trap, s->asked };

	return stub_address(s, at[n]);
}

/* List its memory and its int3s.  0, or -errno. */
static int
list(struct tptable *tab, const struct stub *s)
{
	int r = list_memory(tab, s->addr);

	if (r == 0 && s->rare != 0)
		r = list_memory(tab, s->rare);
	for (unsigned i = 0; r == 0 && i < TRAPS; i++)
		r = trapset_add(tab->traps, TRAP_TEXT, trap_of(s, i), NOTHING);
	return r;
}

static bool
is_same(const struct stub *s, const struct window *w)
{
	bool same = s->n == w->n && s->first == w->site &&
	    s->taken == w->taken && s->onto == w->onto &&
	    s->site[w->n] == window_leads(w);

	for (unsigned i = 0; same && i < w->n; i++)
		same = s->site[i] == w->insn[i].addr;
	return same;
}

/* Where the code can be: both pieces, and run(). */
struct range {
	uint64_t lo, hi;
};

static int
find_some(struct tptable *tab, struct tracepoint *tp, const struct range *in,
    unsigned size, bool dense, uint64_t *addr)
{
	return (dense ? slot_alloc_dense : slot_alloc_mapped)(
	    tab->slots, tp->addr, in->lo, in->hi, size, tp, addr);
}

/* A place for the first piece, to which a jump can lead.  0 or a negative errno. */
static int
find_place(struct tptable *tab, struct tracepoint *tp, const struct window *w,
    const struct range *in, unsigned size, bool dense, uint64_t *addr)
{
	uint64_t bad[PLACES_TRIED];
	uint8_t jump[TRAP_JUMP_LEN];
	unsigned n = 0;
	int r;

	/* The next tracer takes a jump for ours by the memory to which it
	 * leads. */
	while ((r = find_some(tab, tp, in, size, dense, addr)) == 0 &&
	    !jump_write(
		w->board != 0 ? w->board : w->insn[0].addr, *addr, jump)) {
		bad[n++] = *addr;
		r = -ENOMEM;
		if (n == PLACES_TRIED)
			break;
	}
	while (n > 0)
		slot_free(tab->slots, bad[--n], size);
	return r;
}

/* The pieces and run() are near enough to one another. */
static void
narrow(struct range *in, uint64_t addr)
{
	uint64_t reach = (UINT64_C(1) << 31) - SLOT_MEMORY;

	in->lo = MAX(in->lo, addr > reach ? addr - reach : 0);
	in->hi =
	    MIN(in->hi, addr < UINT64_MAX - reach ? addr + reach : UINT64_MAX);
}

/* A run() in this range; it is made if there is none.  0 or a negative errno. */
static int
find_run(struct tptable *tab, uint64_t near, const struct stub_world *world,
    const struct stub_body *body, bool goroutine, const struct range *in,
    uint64_t *entry)
{
	uint8_t code[STUB_RUN_MAX];
	struct stub_run r;
	uint64_t addr;
	int err;

	vec_foreach(have, &tab->runs) {
		if (have->number != body->number ||
		    have->goroutine != goroutine || have->addr < in->lo ||
		    have->addr > in->hi)
			continue;
		*entry = have->addr + have->entry;
		return 0;
	}
	unsigned size = stub_run_write(&r, world, body, goroutine, 0, code);
	err = slot_alloc_mapped(
	    tab->slots, near, in->lo, in->hi, size, &tab->shared.tp, &addr);
	if (err != 0)
		return err;
	if (list_memory(tab, addr) != 0) {
		slot_free(tab->slots, addr, size);
		return -ENOMEM;
	}
	stub_run_write(&r, world, body, goroutine, addr, code);
	slot_write(tab->slots, addr, code, size);
	*vec_push(&tab->runs) = r;
	*entry = addr + r.entry;
	return 0;
}

/* Free what is not 0. */
static void
free_places(
    struct tptable *tab, const struct stub *s, const struct stub_places *at)
{
	if (at->addr != 0)
		slot_free(tab->slots, at->addr, s->first_size);
	if (at->rare != 0)
		slot_free(tab->slots, at->rare, s->size - s->first_size);
}

/* Places for the code, whose sizes *s has.  0 or a negative errno. */
static int
find_places(struct tptable *tab, struct tracepoint *tp,
    const struct stub_world *world, const struct stub_body *body,
    const struct window *w, const struct stub *s, struct stub_places *at)
{
	bool two = body != NULL && s->rare != 0;
	struct range in;
	int r = 0;

	*at = (struct stub_places){ 0 };
	stub_reach(w, &in.lo, &in.hi);
	if (two)
		r = find_run(
		    tab, tp->addr, world, body, w->goroutine, &in, &at->run);
	if (r == 0 && two) {
		narrow(&in, at->run);
		r = find_some(
		    tab, tp, &in, s->size - s->first_size, false, &at->rare);
	}
	if (r == 0 && two)
		narrow(&in, at->rare);
	if (r == 0)
		r = find_place(tab, tp, w, &in, s->first_size, two, &at->addr);
	if (r != 0)
		free_places(tab, s, at);
	return r;
}

/* Note for what the code was made. */
static void
take(struct entry *e, const struct stub *s, const struct window *w)
{
	uint64_t start = w->insn[0].addr;

	e->stub = *s;
	e->board = w->board;
	e->tp.before = (uint8_t)(e->tp.addr - start);
	e->made = 0;
	for (unsigned i = 0; i < w->n; i++)
		for (unsigned k = 0;
		     k < w->insn[i].len && e->made < entry_len(e); k++)
			e->made_for[e->made++] = w->insn[i].bytes[k];
}

int
tracepoint_stub(struct tptable *tab, struct tracepoint *tp,
    const struct stub_world *world, const struct stub_body *body,
    const struct window *w, const char **why)
{
	struct entry *e = entry_of(tp);
	uint8_t code[STUB_SIZE_MAX];
	struct stub_places at = { tp->addr, tp->addr, tp->addr };
	struct stub s;

	if (e->stub.addr != 0 ||
	    (e->raised &&
		(tracepoint_start(tp) != w->insn[0].addr ||
		    e->board != w->board))) {
		*why = "other code was there before";
		return e->stub.addr != 0 && e->board == w->board &&
			is_same(&e->stub, w) ?
		    0 :
		    -EINVAL;
	}
	if (body != NULL &&
	    STUB_RUN_MAX - STUB_BODY_MAX + body->size > SLOT_MEMORY / 4)
		body = NULL;
	*why = "no room within reach";
	if (stub_write(&s, world, body, w, tp->id, &at, code) == 0 ||
	    find_places(tab, tp, world, body, w, &s, &at) != 0)
		return -ENOMEM;
	if (stub_write(&s, world, body, w, tp->id, &at, code) == 0 ||
	    list(tab, &s) != 0) {
		free_places(tab, &s, &at);
		return -ENOMEM;
	}
	slot_write(tab->slots, at.addr, code, s.first_size);
	if (at.rare != 0)
		slot_write(tab->slots, at.rare, code + s.first_size,
		    (size_t)s.size - s.first_size);
	take(e, &s, w);
	return 0;
}

uint64_t
tracepoint_stub_at(const struct tracepoint *tp)
{
	return ((const struct entry *)tp)->stub.addr;
}

unsigned
tracepoint_stub_pieces(
    const struct tracepoint *tp, uint64_t addr[2], size_t size[2])
{
	const struct stub *s = &((const struct entry *)tp)->stub;

	addr[0] = s->addr;
	size[0] = s->first_size;
	addr[1] = s->rare;
	size[1] = (size_t)s->size - s->first_size;
	return (s->addr != 0) + (s->rare != 0);
}

size_t
stubs_shared(const struct tptable *tab, size_t n, uint64_t *addr)
{
	if (n >= tab->runs.len)
		return 0;
	*addr = tab->runs.at[n].addr;
	return tab->runs.at[n].size;
}

void
stubs_reserve(struct tptable *tab, uint64_t near, size_t n)
{
	uint64_t reach = UINT64_C(1) << 30;
	uint64_t lo = near > reach ? near - reach : 0, hi = near + reach;
	size_t first = n * slot_room(STUB_FIRST_MAX);
	size_t size = n * slot_room(STUB_REST_MAX);

	trapset_reserve(
	    tab->traps, (1 + TRAPS) * n + (size + first) / SLOT_MEMORY + 3);
	slots_reserve(tab->slots, near, lo, hi, size + RUNS_USUAL, false);
	slots_reserve(tab->slots, near, lo, hi, first, true);
}

bool
stubs_trap(const struct tptable *tab, uint64_t addr)
{
	const struct entry *e = entry_at_stub(tab, addr);
	bool is = false;

	for (unsigned i = 0; e != NULL && i < TRAPS; i++)
		is |= addr == trap_of(&e->stub, i);
	return is;
}

void
stubs_silence(struct tptable *tab)
{
	const uint8_t nothing = NOTHING;

	for (struct entry *e = tab->first; e != NULL; e = e->next) {
		const struct stub *s = &e->stub;
		if (s->addr == 0)
			continue;
		for (unsigned i = 0; i < TRAPS; i++)
			slot_write(tab->slots, trap_of(s, i), &nothing, 1);
	}
	slots_flush(tab->slots);
}

int
stubs_flush(struct tptable *tab)
{
	int r = slots_flush(tab->slots);

	fault_kill("stubs-written");
	return trapset_flush(tab->traps) != 0 ? -EFAULT : r;
}
