/*
 * See inside.h.  The image is our own: references lead where they say.
 *
 * Arguments and registers are asked for by number, and the number is a constant
 * as a rule.  Branches go forward only: a register that is set to a constant has
 * it up to the next place where a branch may lead.
 */
#include "dlang/image/inside.h"

#include "dlang/argloc.h"
#include "dlang/base/mem.h"
#include "dlang/forms.h"
#include "dlang/needs.h"

/* Where a clause would run. */
struct place {
	const struct inside *in;
	const struct argloc *args; /* of the site; NULL: words of the hit */
	uint32_t nargs;
	bool any_args; /* `args' and `nargs' are a site's */
	struct str *why;
};

/* What was seen in the text of DIFOs. */
struct seen {
	bool allots; /* scratch memory may be allocated */
	bool sets;   /* a variable is set */
	bool scans;  /* strtok() is called */
	bool splits; /* a predicate runs inside, and its actions do not */
};

static const void *
at(const struct place *p, uint32_t ref)
{
	return p->in->image.base + ref;
}

static bool
no(const struct place *p, const char *why)
{
	str_add(p->why, why);
	return false;
}

/* ---- registers and arguments ---- */

/* What code at a site keeps of the registers: inject/agent/agent.h. */
static bool
is_kept(uint64_t reg)
{
	return reg < UREG_COUNT && ureg_is_general((unsigned)reg);
}

static bool
location(const struct place *p, uint64_t n)
{
	const struct argloc *a = &p->args[n];
	bool kept = true;

	switch ((enum argloc_kind)a->kind) {
	case ARGLOC_NONE:
	case ARGLOC_ZERO:
	case ARGLOC_CONST: return true;
	case ARGLOC_STACK: return true;
	case ARGLOC_REG:
	case ARGLOC_VIA:
	case ARGLOC_VIA_SUM: kept = is_kept(a->reg); break;
	case ARGLOC_SUM:
	case ARGLOC_MEM:
		kept = (a->reg == ARGLOC_NOREG || is_kept(a->reg)) &&
		    (a->index == ARGLOC_NOREG || is_kept(a->index));
		break;
	case ARGLOC_HIT:
		str_printf(p->why, "argument %u is known only to the tracer",
		    (unsigned)n);
		return false;
	}
	if (!kept)
		str_printf(p->why,
		    "argument %u is in a register that a jump does not save",
		    (unsigned)n);
	return kept;
}

static bool
argument(const struct place *p, uint64_t n)
{
	return !p->any_args || n >= p->nargs || location(p, n);
}

static bool
all_arguments(const struct place *p)
{
	for (uint32_t n = 0; n < p->nargs; n++)
		if (!argument(p, n))
			return false;
	return true;
}

/* uregs[n], as the program or the compiler numbers them. */
static bool
a_register(const struct place *p, uint64_t n)
{
	if (n >= UREG_RAW)
		n -= UREG_RAW;
	return is_kept(n) || no(p, "a register that a jump does not save");
}

/* ---- the text of a DIFO ---- */

struct constants {
	bool known[DIF_REGS];
	uint64_t value[DIF_REGS];
};

static void
forget(struct constants *c)
{
	*c = (struct constants){ .known[0] = true };
}

/* An array is asked for its member r2. */
static bool
member(const struct place *p, const struct constants *c, dif_instr i)
{
	uint32_t r = DIF_R2(i);

	switch (DIF_R1(i)) {
	case DIF_VAR_ARGS:
		return c->known[r] ? argument(p, c->value[r]) :
				     all_arguments(p);
	case DIF_VAR_REGS:
	case DIF_VAR_UREGS:
		return c->known[r] ?
		    a_register(p, c->value[r]) :
		    no(p, "a register whose number is not a constant");
	}
	return true; /* the rest is a need */
}

static void
result(struct constants *c, const uint64_t *ints, dif_instr i)
{
	uint32_t rd = DIF_RD(i);

	if (dif_form(DIF_OP_OF(i)) == DIF_FORM_SETX) {
		c->known[rd] = true;
		c->value[rd] = ints[DIF_INDEX(i)];
	} else if (dif_uses(i) & DIF_WRITES_RD) {
		c->known[rd] = false;
	}
	if (rd == 0) {
		c->known[0] = true;
		c->value[0] = 0;
	}
}

static bool
instruction(const struct place *p, const struct constants *c, dif_instr i)
{
	uint32_t op = DIF_OP_OF(i), id = DIF_INDEX(i);

	if (op == DIF_OP_LDGA || op == DIF_OP_LDTA)
		return member(p, c, i);
	if (op == DIF_OP_LDGS && id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9)
		return argument(p, id - DIF_VAR_ARG0);
	return true;
}

static void
see(struct seen *seen, dif_instr i)
{
	uint32_t op = DIF_OP_OF(i);
	bool calls = dif_form(op) == DIF_FORM_CALL;

	seen->allots |= calls || op == DIF_OP_ALLOCS;
	seen->sets |= dif_form(op) == DIF_FORM_STVAR;
	seen->scans |= calls && DIF_INDEX(i) == DIF_SUBR_STRTOK;
}

static bool
difo(const struct place *p, uint32_t ref, struct seen *seen)
{
	const struct img_difo *d = at(p, ref);
	struct constants c;
	bool ok = true;

	if (ref == 0)
		return true;
	const dif_instr *text = at(p, d->text_ref);
	bool *joined = mem_zalloc(d->len);
	forget(&c);
	for (uint32_t n = 0; n < d->len && ok; n++) {
		if (joined[n])
			forget(&c);
		if (dif_form(DIF_OP_OF(text[n])) == DIF_FORM_BRANCH)
			joined[DIF_LABEL(text[n])] = true;
		see(seen, text[n]);
		ok = instruction(p, &c, text[n]);
		result(&c, at(p, d->ints_ref), text[n]);
	}
	mem_free(joined);
	return ok;
}

/* ---- clauses ---- */

bool
inside_needs(
    bool outside, uint32_t needs, const uint32_t *pred, struct str *why)
{
	bool splits = outside && pred != NULL;

	needs = (splits ? *pred : needs) & dif_needs_tracer();
	if (needs == 0 && (splits || !outside))
		return true;
	str_add(why, "for ");
	if (needs != 0)
		needs_text(needs, why);
	else
		str_add(why, "its records");
	return false;
}

static bool
has_clock(const struct place *p, bool wanted)
{
	return !wanted || p->in->clock ||
	    no(p, "the process cannot read the clock");
}

/* The predicate runs inside.  If it is true, the tracer carries out the actions,
 * in scratch memory of its own: no pointer into that of the predicate may be
 * left in a variable. */
static bool
predicate(const struct place *p, const struct img_clause *c, struct seen *seen)
{
	const struct img_difo *d = at(p, c->pred_ref);
	struct seen own = { .splits = true };

	if (!has_clock(p, (d->needs & NEED_TIME) != 0) ||
	    !difo(p, c->pred_ref, &own))
		return false;
	seen->splits = true;
	seen->scans |= own.scans;
	return !own.allots || !own.sets ||
	    no(p, "the predicate may keep a pointer");
}

static bool
clause(const struct place *p, const struct img_clause *c, struct seen *seen)
{
	const struct img_act *acts = at(p, c->acts_ref);
	const struct img_difo *pred = at(p, c->pred_ref);
	bool outside = (c->flags & IMG_CLAUSE_OUTSIDE) != 0;

	if (!inside_needs(outside, c->needs,
		c->pred_ref != 0 && p->any_args ? &pred->needs : NULL, p->why))
		return false;
	if (outside)
		return predicate(p, c, seen);
	if (!has_clock(p, (c->needs & NEED_TIME) != 0 || c->rec_size != 0) ||
	    !difo(p, c->pred_ref, seen))
		return false;
	for (uint32_t i = 0; i < c->nacts; i++)
		if (!difo(p, acts[i].difo_ref, seen) ||
		    !difo(p, acts[i].difo2_ref, seen))
			return false;
	return true;
}

static bool
probe(const struct place *p, uint32_t probe_ref)
{
	const struct img_probe *pr = at(p, probe_ref);
	struct seen seen = { 0 };

	for (uint32_t ref = pr->ecb_ref; ref != 0;) {
		const struct img_ecb *e = at(p, ref);
		if (!clause(p, at(p, e->clause_ref), &seen))
			return false;
		ref = e->next_ref;
	}
	/* Its state lasts for a firing, and is that of one environment. */
	return !seen.splits || !seen.scans || no(p, "for strtok()");
}

/* Its arguments are what is known of the fault. */
static bool
error_probe(const struct inside *in, struct str *why)
{
	const struct img_hdr *im = (const void *)in->image.base;
	struct str words = { 0 };
	struct place p = { .in = in, .why = &words };
	bool ok = im->error_probe_ref == 0 || probe(&p, im->error_probe_ref);

	if (!ok)
		str_printf(why, "ERROR: %s", str_c(&words));
	str_fini(&words);
	return ok;
}

static bool
site(const struct inside *in, uint32_t ref, struct str *why)
{
	struct place p = { .in = in, .any_args = true, .why = why };
	const struct img_site *s = at(&p, ref);

	p.args = s->args_ref != 0 ? at(&p, s->args_ref) : NULL;
	p.nargs = p.args != NULL ? s->nargs : 0;
	return probe(&p, s->probe_ref);
}

bool
inside_tracepoint(const struct inside *in, uint32_t tp_id, struct str *why)
{
	const struct img_hdr *im = (const void *)in->image.base;

	if (tp_id == 0 || tp_id >= im->tps_max)
		return error_probe(in, why);
	const uint32_t *tps = (const void *)(in->image.base + im->tps_ref);
	for (uint32_t ref = tps[tp_id]; ref != 0;) {
		const struct img_site *s = (const void *)(in->image.base + ref);
		if (!site(in, ref, why))
			return false;
		ref = s->next_ref;
	}
	return error_probe(in, why);
}
