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

/* Places for code that are tried; few are such that a jump cannot lead there. */
#define PLACES_TRIED 8

/* List its memory and its int3s.  0, or -errno. */
static int
list(struct tptable *tab, const struct stub *s)
{
	uint64_t start;
	size_t size;
	int r = 0;

	if (slot_bounds(tab->slots, s->addr, &start, &size))
		r = trapset_add(tab->traps, TRAP_SLOTS, start, (uint32_t)size);
	if (r == 0)
		r = trapset_add(
		    tab->traps, TRAP_TEXT, s->addr + s->trap, NOTHING);
	if (r == 0)
		r = trapset_add(
		    tab->traps, TRAP_TEXT, s->addr + s->asked, NOTHING);
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

/* A place for the code to which a jump can lead.  0 or a negative errno. */
static int
find_place(struct tptable *tab, struct tracepoint *tp, const struct window *w,
    unsigned size, uint64_t *addr)
{
	uint64_t lo, hi, bad[PLACES_TRIED];
	uint8_t jump[TRAP_JUMP_LEN];
	unsigned n = 0;
	int r;

	stub_reach(w, &lo, &hi);
	/* The next tracer takes a jump for ours by the memory to which it
	 * leads. */
	while ((r = slot_alloc_mapped(
		    tab->slots, tp->addr, lo, hi, size, tp, addr)) == 0 &&
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
	struct stub s;
	uint64_t addr;

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
	*why = "no room within reach";
	unsigned size = stub_write(&s, world, body, w, tp->id, tp->addr, code);
	if (size == 0 || find_place(tab, tp, w, size, &addr) != 0)
		return -ENOMEM;
	if (stub_write(&s, world, body, w, tp->id, addr, code) == 0 ||
	    list(tab, &s) != 0) {
		slot_free(tab->slots, addr, size);
		return -ENOMEM;
	}
	slot_write(tab->slots, addr, code, size);
	take(e, &s, w);
	return 0;
}

uint64_t
tracepoint_stub_at(const struct tracepoint *tp)
{
	return ((const struct entry *)tp)->stub.addr;
}

size_t
tracepoint_stub_size(const struct tracepoint *tp)
{
	return ((const struct entry *)tp)->stub.size;
}

void
stubs_reserve(struct tptable *tab, uint64_t near, size_t n)
{
	uint64_t reach = UINT64_C(1) << 30;
	size_t size = slot_room(STUB_SIZE_MAX);

	trapset_reserve(tab->traps, 3 * n + n * size / SLOT_MEMORY + 1);
	slots_reserve(tab->slots, near, near > reach ? near - reach : 0,
	    near + reach, n * size, false);
}

bool
stubs_trap(const struct tptable *tab, uint64_t addr)
{
	const struct entry *e = entry_at_stub(tab, addr);

	return e != NULL &&
	    (addr == e->stub.addr + e->stub.trap ||
		addr == e->stub.addr + e->stub.asked);
}

void
stubs_silence(struct tptable *tab)
{
	const uint8_t nothing = NOTHING;

	for (struct entry *e = tab->first; e != NULL; e = e->next) {
		const struct stub *s = &e->stub;
		if (s->addr == 0)
			continue;
		slot_write(tab->slots, s->addr + s->trap, &nothing, 1);
		slot_write(tab->slots, s->addr + s->asked, &nothing, 1);
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
