/*
 * Tracepoints of one address space: the only place that changes a byte of its
 * text.  What the table holds is in tptable.c.
 *
 * Invariants:
 *   - by_addr holds every tracepoint that is not GONE, one per address;
 *   - a byte of text differs from the program's only for a tracepoint in state
 *     TRAP, and only where patch_run() wrote it;
 *   - between the write of an int3 and its being noted nothing is allocated:
 *     the emergency exit takes out what is noted;
 *   - an int3 is written after its slot, and what takes it out when we are
 *     gone (trapset.h), have reached the target;
 *   - what is not the byte we wrote is not restored.
 *
 * Text is changed by runs: tracepoints of one page in address order are read,
 * compared and written with one system call each way.  Writing back the bytes
 * between them is safe as all threads are stopped, and a run does not leave
 * its page, so no page is copied that would not have been.
 *
 * A tracepoint that lost its last reference lives on while a thread is in its
 * slot; a GONE one as well, as its slot is not in the memory that went.
 */
#include "inject/tracepoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "inject/quiesce.h"
#include "inject/slot.h"
#include "inject/tracepoint_impl.h"
#include "inject/trapset.h"

/* Tracepoints in one run: bounds the stack, not the table. */
#define RUN_MAX 128

/* ---- get and put ---- */

/* The program's own bytes at addr, as many as there are up to an instruction's
 * worth.  Returns how many; 0 when addr cannot be read. */
static size_t
read_text(struct tptable *tab, uint64_t addr, uint8_t *buf)
{
	struct target *t = tab->target;
	size_t len = INSN_MAX_LEN;

	if (t->ops->read(t, addr, buf, len) != 0) {
		/* The mapping may end inside the next page. */
		len = MIN(len, PAGE - addr % PAGE);
		if (t->ops->read(t, addr, buf, len) != 0)
			return 0;
	}
	tracepoint_overlay(tab, addr, buf, len);
	return len;
}

static int
decode_at(
    struct tptable *tab, uint64_t addr, struct insn *insn, const char **why)
{
	uint8_t code[INSN_MAX_LEN];
	size_t len = read_text(tab, addr, code);

	if (len == 0) {
		*why = "text cannot be read";
		return -EFAULT;
	}
	if (insn_decode(code, len, addr, insn) != 0) {
		*why = "not an instruction";
		return -EILSEQ;
	}
	/* Nobody agrees on the length of ud0 and ud1, and it does not matter. */
	if (insn->kind != INSN_UD && !insn_agreed(insn)) {
		*why = "instruction of uncertain length";
		return -EILSEQ;
	}
	return 0;
}

/* Look at e's text and plan for what is there. */
static int
entry_plan(struct tptable *tab, struct entry *e, const char **why)
{
	struct displaced plan;
	struct insn insn;
	int err = decode_at(tab, e->tp.addr, &insn, why);

	if (err == 0)
		err = displaced_plan(&plan, &insn, why);
	if (err != 0)
		return err;
	e->plan = plan;
	e->tp.saved = insn.bytes[0];
	e->tp.len = insn.len;
	e->tp.was_int3 = plan.how == DISP_OWN_TRAP;
	return 0;
}

int
tracepoint_get(struct tptable *tab, uint64_t addr, uint32_t id,
    struct tracepoint **tp, const char **why)
{
	struct entry *e = hash_get(&tab->by_addr, addr);
	int err = 0;

	if (e == NULL) {
		e = entry_add(tab);
		e->tp.addr = addr;
		e->tp.id = id;
		hash_set(&tab->by_addr, addr, e);
		err = entry_plan(tab, e, why);
	} else if (e->tp.state == TP_IDLE && !e->tp.queued) {
		/* It failed before; its text may be another by now. */
		err = entry_plan(tab, e, why);
	}
	if (err != 0) {
		entry_reap(tab, e);
		return err;
	}
	/* Where it is on its way out, commit will see that it is wanted. */
	e->tp.refs++;
	if (e->tp.state != TP_TRAP)
		entry_queue(tab, e);
	*tp = &e->tp;
	return 0;
}

void
tracepoint_put(struct tptable *tab, struct tracepoint *tp)
{
	struct entry *e = entry_of(tp);

	ASSERT(tp->refs != 0);
	if (--tp->refs != 0)
		return;
	if (tp->state == TP_GONE)
		entry_reap(tab, e);
	else
		entry_queue(tab, e);
}

/* ---- changing text ---- */

static int
entry_cmp(const void *a, const void *b)
{
	uint64_t x = (*(struct entry *const *)a)->tp.addr;
	uint64_t y = (*(struct entry *const *)b)->tp.addr;

	return x < y ? -1 : x > y;
}

/* How many of at[0 .. n) make a run: rising addresses in one page. */
static size_t
run_length(struct entry *const *at, size_t n)
{
	size_t len = 1;

	while (len < n && len < RUN_MAX &&
	    at[len]->tp.addr > at[len - 1]->tp.addr &&
	    at[len]->tp.addr / PAGE == at[0]->tp.addr / PAGE)
		len++;
	return len;
}

/* Does the text at tp, of which buf[0 .. len) was read, start with the
 * instruction that was planned for?  Only the run's page is looked at. */
static bool
text_unchanged(const struct entry *e, const uint8_t *buf, size_t len)
{
	return memcmp(buf, e->plan.insn.bytes, MIN(len, e->plan.insn.len)) == 0;
}

enum patch { PATCH_ARM, PATCH_RESTORE };

/*
 * Write the int3s of a run, or restore its bytes, after comparing what is
 * there.  done[i] tells for each whether text is now as asked for: 0, -EFAULT,
 * or -EBUSY when other bytes stand there.
 */
static void
patch_run(struct tptable *tab, struct entry *const *at, size_t n,
    enum patch what, int *done)
{
	struct target *t = tab->target;
	uint8_t raw[PAGE], text[PAGE], before[PAGE];
	uint64_t start = at[0]->tp.addr;
	uint64_t page_end = (start / PAGE + 1) * PAGE;
	uint64_t last = at[n - 1]->tp.addr;
	size_t len = MIN(last + at[n - 1]->plan.insn.len, page_end) - start;

	int err = t->ops->read(t, start, raw, len);
	if (err == 0) {
		memcpy(text, raw, len);
		memcpy(before, raw, len);
		tracepoint_overlay(tab, start, text, len);
	}
	for (size_t i = 0; i < n; i++) {
		const struct tracepoint *tp = &at[i]->tp;
		size_t off = tp->addr - start;

		done[i] = err;
		if (err != 0)
			continue;
		if (what == PATCH_ARM) {
			done[i] = text_unchanged(at[i], text + off, len - off) ?
			    0 :
			    -EBUSY;
			raw[off] = done[i] == 0 ? INT3 : raw[off];
		} else {
			done[i] = raw[off] == INT3 ? 0 : -EBUSY;
			raw[off] = done[i] == 0 ? tp->saved : raw[off];
		}
	}
	if (err != 0 || t->ops->write(t, start, raw, last + 1 - start) == 0)
		return;
	/* Some of it may be there.  What can be taken back, is. */
	t->ops->write(t, start, before, last + 1 - start);
	for (size_t i = 0; i < n; i++)
		done[i] = done[i] == 0 ? -EFAULT : done[i];
}

/* As patch_run().  A run that failed as a whole is tried one by one. */
static void
patch_each(struct tptable *tab, struct entry *const *at, size_t n,
    enum patch what, int *done)
{
	bool failed = false;

	patch_run(tab, at, n, what, done);
	for (size_t i = 0; i < n; i++)
		failed = failed || done[i] == -EFAULT;
	for (size_t i = 0; failed && n > 1 && i < n; i++)
		patch_run(tab, &at[i], 1, what, &done[i]);
}

/* ---- commit: in ---- */

struct commit {
	entry_vec arm, disarm, failed;
};

static const char *
slot_phrase(int err)
{
	return err == -ENOMEM ? "no room for a slot within reach" :
				"the process may not map memory for slots";
}

/* Give e a slot if its plan wants one.  NULL, or the reason why not. */
static const char *
give_slot(struct tptable *tab, struct entry *e)
{
	struct tracepoint *tp = &e->tp;
	uint8_t bytes[SLOT_SIZE_MAX];
	uint64_t lo, hi;
	int err;

	if (tp->slot != 0 || e->plan.size == 0)
		return NULL;
	displaced_window(&e->plan, &lo, &hi);
	err = slot_alloc(
	    tab->slots, tp->addr, lo, hi, e->plan.size, tp, &tp->slot);
	if (err != 0 && displaced_go_far(&e->plan)) {
		if (e->plan.size == 0)
			return NULL;
		err = slot_alloc(tab->slots, tp->addr, 0, UINT64_MAX,
		    e->plan.size, tp, &tp->slot);
	}
	if (err != 0)
		return slot_phrase(err);
	unsigned len = displaced_write(&e->plan, tp->slot, bytes);
	slot_write(tab->slots, tp->slot, bytes, len);
	return NULL;
}

static void
drop_slot(struct tptable *tab, struct entry *e)
{
	if (e->tp.slot != 0)
		slot_free(tab->slots, e->tp.slot, e->plan.size);
	e->tp.slot = 0;
}

/* A failure to be told at the end of the commit, when the table is at rest. */
static void
commit_fail(struct commit *c, struct entry *e, const char *why)
{
	LOG("tracepoint", "%#lx: %s", (unsigned long)e->tp.addr, why);
	e->why = why;
	*vec_push(&c->failed) = e;
}

static void
fill_slots(struct tptable *tab, struct commit *c)
{
	vec_foreach(at, &c->arm) {
		const char *why = give_slot(tab, *at);
		if (why != NULL)
			commit_fail(c, *at, why);
	}
	if (slots_flush(tab->slots) == 0)
		return;
	vec_foreach(at, &c->arm)
		if ((*at)->tp.slot != 0 &&
		    !slot_written(tab->slots, (*at)->tp.slot))
			commit_fail(c, *at, "slot memory cannot be written");
}

/* Take the failed out of the list of those to be armed. */
static void
drop_failed(entry_vec *v)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->len; i++)
		if (v->at[i]->why == NULL)
			v->at[kept++] = v->at[i];
	v->len = kept;
}

static void
sort_entries(entry_vec *v)
{
	if (v->len > 1)
		qsort(v->at, v->len, sizeof(*v->at), entry_cmp);
}

/* What is to be armed is known in the target first. */
static void
add_traps(struct tptable *tab, const struct commit *c)
{
	uint64_t start;
	size_t size;

	for (size_t i = 0; i < c->arm.len; i++) {
		const struct tracepoint *tp = &c->arm.at[i]->tp;
		if (tp->was_int3)
			continue;
		if (tp->slot != 0 &&
		    slot_bounds(tab->slots, tp->slot, &start, &size))
			trapset_add(
			    tab->traps, TRAP_SLOTS, start, (uint32_t)size);
		trapset_add(tab->traps, TRAP_TEXT, tp->addr, tp->saved);
	}
	if (trapset_flush(tab->traps) != 0)
		LOG("tracepoint", "what outlives us cannot be written");
}

static void
arm_all(struct tptable *tab, struct commit *c)
{
	int done[RUN_MAX];

	fill_slots(tab, c);
	fault_kill("arm-begin");
	drop_failed(&c->arm);
	add_traps(tab, c);
	sort_entries(&c->arm);
	entries_arming(tab, c->arm.at, c->arm.len);
	for (size_t i = 0, n; i < c->arm.len; i += n) {
		struct entry **at = &c->arm.at[i];
		n = run_length(at, c->arm.len - i);
		patch_each(tab, at, n, PATCH_ARM, done);
		fault_kill("arm-run");
		for (size_t k = 0; k < n; k++)
			if (done[k] == 0)
				entry_armed(tab, at[k]);
		for (size_t k = 0; k < n; k++)
			if (done[k] != 0)
				commit_fail(c, at[k],
				    done[k] == -EBUSY ? "text has changed" :
							"text cannot be "
							"written");
	}
}

/* ---- commit: out ---- */

/* Restore the bytes of a run and let the slots drain.  Allocates nothing: it
 * is on the way of a dying tracer.  Returns how many were left alone. */
static unsigned
disarm_run(struct tptable *tab, struct entry *const *at, size_t n)
{
	int done[RUN_MAX];
	unsigned left = 0;

	patch_each(tab, at, n, PATCH_RESTORE, done);
	fault_kill("restore-run");
	for (size_t k = 0; k < n; k++) {
		if (done[k] == -EBUSY)
			left++;
		if (done[k] != 0)
			LOG("tracepoint", "%#lx is not restored: %s",
			    (unsigned long)at[k]->tp.addr, strerror(-done[k]));
		entry_disarmed(tab, at[k], TP_DRAINING);
		entry_drain(tab, at[k]);
	}
	return left;
}

static void
disarm_all(struct tptable *tab, struct commit *c)
{
	sort_entries(&c->disarm);
	for (size_t i = 0, n; i < c->disarm.len; i += n) {
		n = run_length(&c->disarm.at[i], c->disarm.len - i);
		disarm_run(tab, &c->disarm.at[i], n);
	}
}

/* Free the slots that no thread is in. */
static void
drain(struct tptable *tab)
{
	struct entry *list = tab->draining, *next;
	struct quiesce q;

	if (list == NULL)
		return;
	tab->draining = NULL;
	quiesce_init(&q, tab->target, tab->slots);
	for (struct entry *e = list; e != NULL; e = next) {
		next = e->drain_next;
		e->draining = false;
		if (e->tp.state == TP_TRAP)
			continue; /* armed again meanwhile, with its slot */
		if (quiesce_busy(&q, &e->tp)) {
			entry_drain(tab, e);
			continue;
		}
		drop_slot(tab, e);
		if (e->tp.state == TP_DRAINING)
			e->tp.state = TP_IDLE;
		entry_reap(tab, e);
	}
	quiesce_fini(&q);
}

/* ---- commit ---- */

/* Sort what is queued into what is to be done. */
static void
take_queue(struct tptable *tab, struct commit *c)
{
	entry_vec queue = tab->queue;

	tab->queue = (entry_vec){ 0 };
	vec_foreach(at, &queue) {
		struct entry *e = *at;
		bool wanted = e->tp.refs != 0 && e->tp.state != TP_GONE;

		e->tp.queued = false;
		e->why = NULL;
		if (wanted && e->tp.state != TP_TRAP)
			*vec_push(&c->arm) = e;
		else if (!wanted && e->tp.state == TP_TRAP)
			*vec_push(&c->disarm) = e;
		else
			entry_reap(tab, e);
	}
	vec_fini(&queue);
}

unsigned
tracepoint_commit(struct tptable *tab,
    void (*failed)(void *ctx, struct tracepoint *, const char *why), void *ctx)
{
	struct commit c = { 0 };

	take_queue(tab, &c);
	fault_kill("commit-begin");
	disarm_all(tab, &c);
	fault_kill("commit-disarmed");
	arm_all(tab, &c);
	fault_kill("commit-armed");
	drain(tab);
	fault_kill("commit-end");
	unsigned n = (unsigned)c.failed.len;

	/* The callback may put the tracepoint: that queues, it frees nothing
	 * before the next commit. */
	vec_foreach(at, &c.failed) {
		struct entry *e = *at;
		const char *why = e->why;

		e->why = NULL;
		if (e->tp.state == TP_IDLE)
			drop_slot(tab, e);
		if (failed != NULL)
			failed(ctx, &e->tp, why);
	}
	vec_fini(&c.arm);
	vec_fini(&c.disarm);
	vec_fini(&c.failed);
	return n;
}

/* ---- detach ---- */

unsigned
tracepoint_restore_all(struct tptable *tab)
{
	struct entry *run[RUN_MAX];
	size_t n = 0;
	unsigned left = 0;

	/* Nothing is sorted, as that might allocate; the order of the table is
	 * that of arming, which mostly rises. */
	for (struct entry *e = tab->first; e != NULL; e = e->next) {
		if (e->tp.state != TP_TRAP)
			continue;
		run[n++] = e;
		if (run_length(run, n) < n) {
			left += disarm_run(tab, run, n - 1);
			run[0] = e;
			n = 1;
		}
		if (n == RUN_MAX) {
			left += disarm_run(tab, run, n);
			n = 0;
		}
	}
	return n != 0 ? left + disarm_run(tab, run, n) : left;
}
