/*
 * The body of a function; see body.h.
 *
 *	walk a range --jumps out of it, landing pads--> pieces, to be walked
 *	all walked: each jump is told by where it goes
 *
 * An indirect jump stays in the function if more than the return address is on
 * the stack then, as unwinders are told, or if it goes by a table of addresses
 * inside.  Which of the others do is seen when they are made.
 *
 * Whether a direct jump to the begin is a loop or a call of itself cannot be
 * told where the stack is bare before and behind it; both go on with the same
 * return address.  It is a call where it has just taken a frame down.
 */
#include "disasm/body.h"

#include <errno.h>
#include <string.h>

#include "disasm/func.h"
#include "disasm/jumptable.h"

/* A switch has a case for each value of a byte, or so; a longer table need not
 * be read to its end. */
#define TABLE_MOST 4096

struct jump {
	uint64_t addr, target;
	uint8_t kind;        /* enum insn_kind */
	bool torn;           /* the frame has just been removed */
	bool tabled, proved; /* by a table, of destinations inside */
	struct jumptable table;
	bool shaped; /* through a table by these registers */
	struct jumpshape shape;
};

/* Before the instruction at addr this register has the value in question. */
struct use {
	uint64_t addr;
	uint8_t reg;
};

struct table {
	struct jumptable at;
	bool inside; /* destinations in the function */
};

/* Table number `table' leads to addr. */
struct landing {
	uint64_t addr;
	size_t table;
};

struct finding {
	const struct body_world *w;
	struct body *b;
	VEC(struct jump) jumps;
	VEC(uint64_t) calls; /* out of the range that they are in */
	VEC(struct table) tables;
	VEC(uint64_t) doors; /* where landing pads and other functions lead */
	VEC(struct landing) landings;
	bool framed; /* the frame pointer is used as such */
	/* While a table is read: a block of its entries. */
	uint8_t entries[512];
	bool read; /* all of the block */
	/* While a range is walked: */
	uint8_t *begins; /* of this range, in b->begins */
	struct insn seen[2 * JUMPTABLE_WINDOW]; /* the last instructions, at
						 * least a window */
	size_t nseen;
	bool torn;
};

bool
body_has(const struct body_range *r, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (addr >= r[i].start && addr < r[i].end)
			return true;
	return false;
}

static bool
is_inside(const struct body *b, uint64_t addr)
{
	return body_has(b->ranges.at, b->ranges.len, addr);
}

/* ---- one range ---- */

/* Is the frame being removed?  True until something else is pushed or this run
 * of instructions ends. */
static bool
is_torn(const struct insn *in, bool torn)
{
	switch (in->kind) {
	case INSN_POP_REG:
	case INSN_LEAVE: return true;
	case INSN_ADD_SP: return in->imm > 0;
	case INSN_PUSH_REG:
	case INSN_CALL:
	case INSN_CALL_IND:
	case INSN_JMP:
	case INSN_JMP_IND:
	case INSN_RET:
	case INSN_UD: return false;
	default: return torn;
	}
}

static void
see(struct finding *f, const struct insn *in)
{
	const size_t keep = JUMPTABLE_WINDOW - 1;

	if (f->nseen == ARRAY_SIZE(f->seen)) {
		memcpy(f->seen, f->seen + f->nseen - keep, keep * sizeof(*in));
		f->nseen = keep;
	}
	f->seen[f->nseen++] = *in;
}

static void
note_jump(struct finding *f, const struct insn *in)
{
	struct jump j = { .addr = in->addr,
		.target = in->target,
		.kind = in->kind,
		.torn = f->torn };

	if (in->kind == INSN_JMP_IND) {
		j.shaped = jumptable_shape(f->seen, f->nseen, &j.shape);
		j.tabled = j.shaped &&
		    jumptable_find(f->seen, f->nseen, &j.shape, &j.table);
	}
	*vec_push(&f->jumps) = j;
}

/* Is the last instruction the end of the unwinder, which continues in another
 * function on that function's stack (gcc's __builtin_eh_return)? */
static bool
is_unwinding(const struct finding *f)
{
	size_t i = f->nseen - 1;

	while (i > 0 && f->seen[i - 1].kind == INSN_POP_REG)
		i--;
	if (i == 0)
		return false;
	return insn_is_unwound(&f->seen[i - 1]);
}

static int
each_insn(void *ctx, const struct func_insn *fi)
{
	struct finding *f = ctx;
	const struct insn *in = &fi->insn;

	f->begins[fi->offset / 8] |= (uint8_t)(1U << fi->offset % 8);
	see(f, in);
	switch (in->kind) {
	case INSN_RET:
		if (!is_unwinding(f))
			*vec_push(&f->b->exits) =
			    (struct body_site){ in->addr, BODY_ALWAYS };
		break;
	case INSN_JMP_IND:
		if (is_unwinding(f))
			break;
		/* fallthrough */
	case INSN_JMP:
	case INSN_JCC:
	case INSN_LOOP: note_jump(f, in); break;
	case INSN_CALL: *vec_push(&f->calls) = in->target; break;
	default: break;
	}
	f->torn = is_torn(in, f->torn);
	f->framed |= insn_lays_frame(in);
	return 0;
}

static int
walk(struct finding *f, const struct body_range *r)
{
	size_t size = r->end - r->start;

	if (r->end <= r->start || size > BODY_MOST)
		return -EFBIG;
	uint8_t *code = mem_alloc(size);
	int error = reader_read(&f->w->mem, r->start, code, size);
	if (error == 0) {
		f->begins = mem_zalloc(size / 8 + 1);
		*vec_push(&f->b->ranges) = *r;
		*vec_push(&f->b->begins) = f->begins;
		f->nseen = 0;
		f->torn = false;
		if (func_walk(code, size, r->start, each_insn, f, NULL) !=
		    FUNC_COMPLETE)
			f->b->cut = true;
	}
	mem_free(code);
	return error;
}

/* ---- all ranges ---- */

/* The function may continue at addr: if that is a piece of it, walk that
 * range. */
static void
consider(void *ctx, uint64_t addr)
{
	struct finding *f = ctx;
	struct body_range r;

	*vec_push(&f->b->leads) = addr;
	if (is_inside(f->b, addr) || !f->w->piece(f->w->ctx, f->b, addr, &r))
		return;
	/* An outlined function, whatever it is called. */
	vec_foreach(called, &f->calls)
		if (*called == r.start)
			return;
	walk(f, &r);
}

static void
each_pad(void *ctx, uint64_t addr)
{
	struct finding *f = ctx;

	*vec_push(&f->doors) = addr;
	consider(f, addr);
}

static void
find_pieces(struct finding *f)
{
	size_t jumps = 0;

	for (size_t i = 0; i < f->b->ranges.len; i++) {
		struct body_range r = f->b->ranges.at[i];

		for (; jumps < f->jumps.len; jumps++)
			if (f->jumps.at[jumps].kind != INSN_JMP_IND)
				consider(f, f->jumps.at[jumps].target);
		f->w->pads(f->w->ctx, &r, each_pad, f);
	}
}

bool
body_begins(const struct body *b, uint64_t addr)
{
	for (size_t i = 0; i < b->ranges.len; i++) {
		const struct body_range *r = &b->ranges.at[i];
		uint64_t at = addr - r->start;

		if (addr >= r->start && addr < r->end)
			return b->begins.at[i][at / 8] >> at % 8 & 1;
	}
	return false;
}

/* The nth entry of a table.  False: there is none. */
static bool
entry(struct finding *f, const struct jumptable *t, unsigned n, uint64_t *to)
{
	const size_t size = t->relative ? 4 : 8;
	const unsigned block = sizeof(f->entries) / 8;
	const uint8_t *at = f->entries + n % block * size;
	int32_t distance;

	/* Memory may end behind the table. */
	if (n % block == 0)
		f->read = reader_read(&f->w->mem, t->addr + n * size,
			      f->entries, block * size) == 0;
	if (!f->read &&
	    reader_read(&f->w->mem, t->addr + n * size,
		f->entries + n % block * size, size) != 0)
		return false;
	memcpy(t->relative ? (void *)&distance : to, at, size);
	if (t->relative)
		*to = t->base + (uint64_t)(int64_t)distance;
	return true;
}

/* Does something lead between the instruction that loads the table's address and
 * the jump? */
static bool
is_entered(const struct finding *f, const struct jump *j)
{
	vec_foreach(at, &f->b->leads)
		if (*at > j->table.since && *at <= j->addr)
			return true;
	return false;
}

static bool
is_same_table(const struct jumptable *a, const struct jumptable *b)
{
	return a->addr == b->addr && a->relative == b->relative &&
	    (!a->relative || a->base == b->base);
}

/*
 * Is it a table of destinations inside the function?  No table of functions has
 * an address inside one.  How long it is need not be known: where the addresses
 * inside end, another table begins.  A piece of the function may be among the
 * destinations.
 */
static bool
leads_inside(struct finding *f, const struct jumptable *t)
{
	uint64_t begin = f->b->ranges.at[0].start, to;
	struct body_range piece;
	bool inside = false;

	/* Many jumps of an interpreter go by one table. */
	vec_foreach(known, &f->tables)
		if (is_same_table(&known->at, t))
			return known->inside;
	for (unsigned n = 0; n < TABLE_MOST && entry(f, t, n, &to); n++) {
		if (to != begin && body_begins(f->b, to)) {
			*vec_push(&f->b->leads) = to;
			*vec_push(&f->landings) =
			    (struct landing){ to, f->tables.len };
			inside = true;
		} else if (is_inside(f->b, to) ||
		    !f->w->piece(f->w->ctx, f->b, to, &piece)) {
			break;
		}
	}
	*vec_push(&f->tables) = (struct table){ *t, inside };
	return inside;
}

/* ---- pointers ---- */

/* The most instructions that are looked at for one jump. */
#define USES_MOST 400

struct pointer {
	struct finding *f;
	VEC(struct use) uses;
	bool torn; /* the jump's */
	/* It is asked for a constant: the one that was found, if it is any. */
	bool constant, found;
	uint64_t value;
};

static void
use_add(struct pointer *p, uint64_t addr, uint8_t reg)
{
	vec_foreach(u, &p->uses)
		if (u->addr == addr && u->reg == reg)
			return;
	*vec_push(&p->uses) = (struct use){ addr, reg };
}

/* The instruction at addr, which is known to begin there. */
static bool
decode_at(const struct finding *f, uint64_t addr, struct insn *in)
{
	uint8_t code[INSN_MAX_LEN];

	for (size_t len = INSN_MAX_LEN; len > 0; len--)
		if (reader_read(&f->w->mem, addr, code, len) == 0)
			return insn_decode(code, len, addr, in) == 0;
	return false;
}

/* Has `in', which sets the register, given it the value that is asked for? */
static bool
is_value(struct pointer *p, const struct insn *in, uint8_t reg, enum giving by)
{
	uint64_t value;

	if (!p->constant)
		return by == GIVES_WORD ||
		    (by == GIVES_FRAMED && !p->f->framed);
	if (!insn_gives_constant(in, reg, &value))
		return false;
	bool same = !p->found || value == p->value;
	p->found = true;
	p->value = value;
	return same;
}

/* Behind `in' the register has the value.  False: it is no pointer that has been
 * loaded, or that is not known; or not the constant. */
static bool
look_at(struct pointer *p, const struct insn *in, uint8_t reg)
{
	uint8_t from = reg;
	enum giving by = insn_gives(in, &from);

	if (by != GIVES_NOTHING && by != GIVES_COPY)
		return is_value(p, in, reg, by);
	use_add(p, in->addr, from);
	return true;
}

/* May another indirect jump lead to addr? */
static bool
is_named(const struct finding *f, uint64_t addr)
{
	return f->w->named != NULL &&
	    f->w->named(f->w->ctx, &(struct body_range){ addr - 1, addr + 1 });
}

/* May control come to addr from elsewhere than other instructions of the body? */
static bool
may_come_to(const struct finding *f, uint64_t addr)
{
	if (addr == f->b->ranges.at[0].start || is_named(f, addr))
		return true;
	vec_foreach(door, &f->doors)
		if (*door == addr)
			return true;
	return false;
}

/* The instruction that stands before addr.  1; 0: none is known to; or a negative
 * errno. */
static int
decode_before(const struct finding *f, uint64_t addr, struct insn *in)
{
	uint64_t at = addr - 1;

	while (addr - at < INSN_MAX_LEN && !body_begins(f->b, at))
		at--;
	if (!body_begins(f->b, at))
		return 0;
	return decode_at(f, at, in) && at + in->len == addr ? 1 : -EINVAL;
}

static bool
is_end(const struct insn *in)
{
	return in->kind == INSN_JMP || in->kind == INSN_JMP_IND ||
	    in->kind == INSN_RET || in->kind == INSN_UD;
}

/* Is the nop at addr padding, to which control never comes: nops behind an end, to
 * none of which a jump leads? */
static bool
is_padding(const struct finding *f, uint64_t addr)
{
	struct insn in = { .kind = INSN_NOP, .addr = addr };

	while (in.kind == INSN_NOP) {
		if (may_come_to(f, in.addr))
			return false;
		vec_foreach(l, &f->landings)
			if (l->addr == in.addr)
				return false;
		vec_foreach(j, &f->jumps)
			if (j->kind != INSN_JMP_IND && j->target == in.addr)
				return false;
		if (decode_before(f, in.addr, &in) != 1)
			return false;
	}
	return is_end(&in);
}

/* Go on with the instruction that stands before the use, if control goes on
 * there. */
static bool
look_above(struct pointer *p, struct use u, bool *known)
{
	struct insn in;
	int is = decode_before(p->f, u.addr, &in);

	if (is != 1)
		return is == 0;
	if (is_end(&in) || (in.kind == INSN_NOP && is_padding(p->f, in.addr)))
		return true;
	*known = true;
	return look_at(p, &in, u.reg);
}

/* Is it an argument, by which the function jumps when it has taken its frame down?
 * So calls of functions by arguments look.  Only the function itself computes
 * addresses of places within it, and it would need the frame there. */
static bool
is_argument(const struct pointer *p, struct use u)
{
	return p->torn && u.addr == p->f->b->ranges.at[0].start &&
	    insn_is_argument(u.reg);
}

/* Go on with the jumps through a table.  False: there is none. */
static bool
look_through(struct pointer *p, size_t table, uint8_t reg)
{
	const struct jumptable *t = &p->f->tables.at[table].at;
	bool any = false;

	vec_foreach(j, &p->f->jumps) {
		if (j->kind != INSN_JMP_IND || !j->tabled ||
		    !is_same_table(&j->table, t))
			continue;
		any = true;
		use_add(p, j->addr, reg);
	}
	return any;
}

/* Go on with all that may come before the use.  False as for look_at(), or if
 * nothing is known to come. */
static bool
look_before(struct pointer *p, struct use u)
{
	bool known = is_argument(p, u);

	if (!known && (may_come_to(p->f, u.addr) || !look_above(p, u, &known)))
		return false;
	vec_foreach(l, &p->f->landings)
		known |= l->addr == u.addr && look_through(p, l->table, u.reg);
	vec_foreach(j, &p->f->jumps) {
		if (j->kind == INSN_JMP_IND || j->target != u.addr)
			continue;
		known = true;
		if (j->kind == INSN_LOOP)
			return false;
		use_add(p, j->addr, u.reg);
	}
	return known;
}

/*
 * Does it go by a pointer as it has been loaded, wherever the jump is reached
 * from?  So calls of functions by pointers look that are the last thing that a
 * function does.
 */
static bool
is_pointed(struct finding *f, const struct jump *j)
{
	struct pointer p = { .f = f, .torn = j->torn };
	struct insn in;
	uint8_t reg;
	bool is = decode_at(f, j->addr, &in);
	enum giving by = is ? insn_jumps_by(&in, &reg) : GIVES_ELSE;

	if (by != GIVES_COPY)
		return by == GIVES_WORD || (by == GIVES_FRAMED && !f->framed);
	use_add(&p, j->addr, reg);
	for (size_t i = 0; is && i < p.uses.len; i++)
		is = i < USES_MOST && look_before(&p, p.uses.at[i]);
	vec_fini(&p.uses);
	return is;
}

/* ---- tables ---- */

/* The constant that a base has when it is used.  `all': on every way there. */
static bool
find_base(struct finding *f, const struct jumpbase *b, bool all, uint64_t *addr)
{
	struct pointer p = { .f = f, .constant = true };
	bool is = true;

	*addr = b->add;
	if (b->reg == INSN_NOREG)
		return true;
	use_add(&p, b->at, b->reg);
	for (size_t i = 0; i < p.uses.len && (all ? is : !p.found); i++)
		is = p.uses.len < USES_MOST && look_before(&p, p.uses.at[i]);
	vec_fini(&p.uses);
	*addr += p.value;
	return p.found && (is || !all);
}

static bool
find_bases(
    struct finding *f, const struct jump *j, bool all, struct jumptable *t)
{
	*t = (struct jumptable){ .relative = j->shape.relative,
		.since = j->addr };
	return find_base(f, &j->shape.table, all, &t->addr) &&
	    (!t->relative || find_base(f, &j->shape.from, all, &t->base));
}

/*
 * First the tables that the instructions before a jump name, then those whose
 * address was loaded elsewhere, in front of a loop, say: where the first way that
 * is found brings it from.  When it is known where all lead, each of the latter
 * must come from there on every way.
 */
static void
prove_tables(struct finding *f)
{
	struct jumptable t;

	vec_foreach(j, &f->jumps)
		if (j->kind == INSN_JMP_IND)
			j->proved = j->tabled && !is_entered(f, j) &&
			    leads_inside(f, &j->table);
	vec_foreach(j, &f->jumps) {
		if (j->kind != INSN_JMP_IND || j->proved)
			continue;
		j->tabled = j->shaped && find_bases(f, j, false, &j->table) &&
		    leads_inside(f, &j->table);
	}
	vec_foreach(j, &f->jumps)
		if (j->kind == INSN_JMP_IND && j->tabled &&
		    (!j->proved || is_entered(f, j)))
			j->proved = find_bases(f, j, true, &t) &&
			    is_same_table(&t, &j->table);
}

/* The linker has put a pointer into memory, from data, or code that has it in an
 * instruction.  Can it be one of a place within the function? */
static bool
may_stay(const struct finding *f)
{
	bool may = f->w->named == NULL;

	vec_foreach(r, &f->b->ranges)
		may = may || f->w->named(f->w->ctx, r);
	return may;
}

static void
tell_indirect(struct finding *f, const struct jump *j)
{
	/* Nothing more is asked for. */
	if (j->proved || (f->b->open && f->w->frame == NULL))
		return;
	const bool pointed = is_pointed(f, j);
	f->b->open |= !pointed;
	if (f->w->frame == NULL ||
	    (f->w->frame(f->w->ctx, j->addr) == BODY_FRAME_LAID && !j->torn))
		return;
	*vec_push(&f->b->exits) = (struct body_site){ j->addr,
		pointed && !may_stay(f) ? BODY_ALWAYS : BODY_OUTSIDE };
}

static void
tell_direct(struct finding *f, const struct jump *j)
{
	struct body *b = f->b;
	bool begin = j->target == b->ranges.at[0].start;

	if (begin && !j->torn)
		*vec_push(&b->loops) = j->addr;
	else if (begin || !is_inside(b, j->target))
		*vec_push(&b->exits) = (struct body_site){ j->addr,
			j->kind == INSN_JMP ? BODY_ALWAYS : BODY_TAKEN };
}

/* ---- other functions ---- */

static int
each_foreign(void *ctx, const struct func_insn *fi)
{
	struct finding *f = ctx;
	const struct insn *in = &fi->insn;

	if (fi->exit != FUNC_TAIL_JMP && fi->exit != FUNC_TAIL_JCC)
		return 0;
	if (in->target == f->b->ranges.at[0].start ||
	    !is_inside(f->b, in->target))
		return 0;
	*vec_push(&f->b->doors) = in->addr;
	*vec_push(&f->doors) = in->target;
	return 0;
}

static void
look_for_doors(void *ctx, const struct body_range *r)
{
	struct finding *f = ctx;
	size_t size = r->end - r->start;

	if (r->end <= r->start || size > BODY_MOST || is_inside(f->b, r->start))
		return;
	uint8_t *code = mem_alloc(size);
	if (reader_read(&f->w->mem, r->start, code, size) == 0)
		func_walk(code, size, r->start, each_foreign, f, NULL);
	mem_free(code);
}

static bool
has_indirect(const struct finding *f)
{
	vec_foreach(j, &f->jumps)
		if (j->kind == INSN_JMP_IND)
			return true;
	return false;
}

int
body_find(
    struct body *b, uint64_t start, uint64_t end, const struct body_world *w)
{
	struct finding f = { .w = w, .b = b };

	*b = (struct body){ 0 };
	int error = walk(&f, &(struct body_range){ start, end });
	if (error == 0)
		find_pieces(&f);
	if (error == 0 && w->others != NULL &&
	    (w->frame != NULL || has_indirect(&f)))
		w->others(w->ctx, b, look_for_doors, &f);
	/* They may lead to any place. */
	prove_tables(&f);
	vec_foreach(j, &f.jumps)
		if (j->kind != INSN_JMP_IND)
			tell_direct(&f, j);
		else
			tell_indirect(&f, j);
	vec_fini(&f.jumps);
	vec_fini(&f.calls);
	vec_fini(&f.tables);
	vec_fini(&f.doors);
	vec_fini(&f.landings);
	return error;
}

void
body_fini(struct body *b)
{
	vec_foreach(begins, &b->begins)
		mem_free(*begins);
	vec_fini(&b->begins);
	vec_fini(&b->ranges);
	vec_fini(&b->exits);
	vec_fini(&b->loops);
	vec_fini(&b->doors);
	vec_fini(&b->leads);
}
