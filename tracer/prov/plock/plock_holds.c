/*
 * Who holds what; see plock_holds.h.
 *
 *	stack of each thread -> the lock function it is in -> its lock
 *	lock in memory -> the thread that has it -> cycles
 *
 * A thread in pthread_join() is treated as one that waits for a lock which the
 * other thread holds.
 */
#include "tracer/prov/plock/plock_holds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/str.h"
#include "dlang/base/vec.h"
#include "symbols/symbolise.h"
#include "symbols/unwind.h"
#include "tracer/consume/locks.h"
#include "tracer/consume/text.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"
#include "tracer/prov/plock/plock_impl.h"
#include "tracer/prov/plock/plock_mem.h"

#define STACK_MOST 64
#define NAME_BYTES 1024
/* How many words of the stack scan() examines where there are no unwind
 * rules. */
#define SCAN_MOST 256

#define WAITING \
	(PLOCK_BLOCKING | PLOCK_BIT(PLOCK_SPINLOCK) | PLOCK_BIT(PLOCK_JOIN))

/* One thread. */
struct waiter {
	pid_t tid, own; /* own: as the process itself knows it */
	char name[32];
	const struct plock_row *row; /* the function it waits in, or NULL */
	bool cond;                   /* ... for the condition, not the mutex */
	uint64_t object;
	struct plock_owner owner;
	int next; /* index of the thread it waits for, or -1 */
	bool holds;
	uint64_t sp;
	size_t n;
	uint64_t pcs[STACK_MOST];
};

struct holds {
	struct proc *p;
	struct addrspace *as;
	struct unwinder *unwinder;
	struct plock_space *ps; /* NULL: no library */
	struct maps maps;
	VEC(struct waiter) all;
	bool json;
	struct str text;
	struct printer to; /* text */
	const char *comma; /* between cycles */
};

/* ---- one thread ---- */

/* The thread's ID as the process itself sees it. In a container it differs; it
 * is the last number in the line NSpid. */
static pid_t
own_tid(pid_t tid)
{
	char path[32], text[4096];

	snprintf(path, sizeof(path), "task/%d/status", (int)tid);
	procfs_text(tid, path, text, sizeof(text));
	const char *at = strstr(text, "\nNSpid:"), *end;
	if (at == NULL || (end = strchr(at + 1, '\n')) == NULL)
		return tid;
	while (end > at && end[-1] != '\t' && end[-1] != ' ')
		end--;
	return (pid_t)atoi(end);
}

static void
read_name(struct waiter *w)
{
	char path[32];

	snprintf(path, sizeof(path), "task/%d/comm", (int)w->tid);
	procfs_text(w->tid, path, w->name, sizeof(w->name));
	size_t n = strlen(w->name);
	if (n != 0) /* the kernel ends the name with a newline */
		w->name[n - 1] = '\0';
}

/*
 * Without unwind rules: find on the stack the first return address into a
 * function that waits, and above it the first one outside the library.
 */
static bool
scan(const struct holds *h, const struct uregs *regs, struct waiter *w,
    struct plock_found *f)
{
	uint64_t word, sp = regs->r[UREG_SP];
	bool found = false;

	for (unsigned i = 0; i < SCAN_MOST; i++) {
		if (reader_read(&h->p->space->mem, sp + 8 * i, &word, 8) != 0)
			break;
		for (size_t row = 0; row < plock_nrows && !found; row++)
			if ((WAITING & PLOCK_BIT(plock_rows[row].verb)) != 0 &&
			    plock_covers(&h->ps->funcs[row], word - 1)) {
				*f = (struct plock_found){ row, 1 };
				w->pcs[0] = word;
				found = true;
			}
		const struct load *l = addrspace_load_at(h->as, word);
		if (found && l != NULL &&
		    (word < h->ps->load->start || word >= h->ps->load->end) &&
		    object_is_text(l->object, word - l->bias)) {
			w->pcs[1] = word;
			w->n = 2;
			return true;
		}
	}
	return found;
}

/* Read the futex call that the thread sleeps in. False if it is in none. */
static bool
futex_of(struct thread *th, struct plock_futex *fx)
{
	struct syscall_entry se;
	struct uregs regs = { 0 };

	if (!thread_syscall_regs(th, &se))
		return false;
	regs.r[UREG_CALL] = (uint64_t)se.nr;
	for (unsigned i = 0; i < 3; i++)
		regs.r[ureg_call_arg(i)] = se.args[i];
	return plock_futex(&regs, PLOCK_SYSCALL, fx);
}

/* Find out what the thread waits for, if it waits. */
static void
read_wait(const struct holds *h, struct thread *th, const struct uregs *regs,
    struct waiter *w)
{
	const struct reader *mem = &h->p->space->mem;
	struct plock_found f;
	struct plock_futex fx;

	if (h->ps == NULL)
		return;
	if (!plock_find(h->ps, WAITING, w->pcs, w->n, &f) &&
	    (h->ps->unwinds || !futex_of(th, &fx) || !scan(h, regs, w, &f)))
		return;
	const struct plock_row *row = &plock_rows[f.row];
	if (row->verb == PLOCK_SPINLOCK) {
		w->row = row;
		w->object = regs->r[ureg_arg(0)];
		return;
	}
	if (!futex_of(th, &fx))
		return;
	w->row = row;
	if (row->verb == PLOCK_JOIN) {
		w->object = fx.addr;
		w->owner = (struct plock_owner){ .tid = (pid_t)fx.value };
		return;
	}
	if (!plock_object_of(h->ps->musl, row->verb, &fx, &w->object)) {
		w->cond = true;
		return;
	}
	w->owner = plock_owner(mem, h->ps->musl, row->verb, w->object);
}

static void
read_thread(struct holds *h, struct thread *th)
{
	const struct uregs *regs = thread_regs(th);
	struct waiter *w = vec_push(&h->all);

	*w = (struct waiter){ .tid = th->tid, .next = -1 };
	w->own = own_tid(th->tid);
	read_name(w);
	if (regs == NULL)
		return;
	w->sp = regs->r[UREG_SP];
	w->n = unwind(
	    h->unwinder, regs, &h->p->space->text, w->pcs, ARRAY_SIZE(w->pcs));
	read_wait(h, th, regs, w);
}

/* ---- whom they wait for ---- */

static void
link_waiters(struct holds *h)
{
	for (size_t i = 0; i < h->all.len; i++) {
		struct waiter *w = &h->all.at[i];
		for (size_t k = 0; w->owner.tid != 0 && k < h->all.len; k++) {
			if (h->all.at[k].own != w->owner.tid)
				continue;
			w->next = (int)k;
			h->all.at[k].holds = true;
		}
	}
}

void
holds_cycles(const int *next, size_t n,
    void (*each)(void *ctx, const int *nodes, size_t n), void *ctx)
{
	/* The walk that first reached each node; 0: none yet. */
	size_t *walk = mem_zalloc((n + 1) * sizeof(*walk));
	int *nodes = mem_zalloc((n + 1) * sizeof(*nodes));

	for (size_t i = 0; i < n; i++) {
		int at = (int)i;
		while (at >= 0 && walk[at] == 0) {
			walk[at] = i + 1;
			at = next[at];
		}
		if (at < 0 || walk[at] != i + 1)
			continue;
		size_t len = 0;
		int first = at;
		do {
			nodes[len++] = at;
			at = next[at];
		} while (at != first);
		each(ctx, nodes, len);
	}
	mem_free(walk);
	mem_free(nodes);
}

static void
each_cycle(struct holds *h, void (*each)(void *ctx, const int *nodes, size_t n))
{
	int *next = mem_zalloc((h->all.len + 1) * sizeof(*next));

	for (size_t i = 0; i < h->all.len; i++)
		next[i] = h->all.at[i].next;
	holds_cycles(next, h->all.len, each, h);
	mem_free(next);
}

/* ---- names ---- */

static const char *
noun(const struct waiter *w)
{
	if (w->cond)
		return "condition";
	switch (w->row->verb) {
	case PLOCK_RDLOCK: return "rwlock, to read,";
	case PLOCK_WRLOCK: return "rwlock, to write,";
	case PLOCK_SEMWAIT: return "semaphore";
	case PLOCK_SPINLOCK: return "spin lock";
	default: return "mutex";
	}
}

/* The thread whose stack is in the mapping that holds addr, or NULL. */
static const struct waiter *
stack_owner(const struct holds *h, uint64_t addr)
{
	const struct map *m = maps_at(&h->maps, addr);

	for (size_t i = 0; m != NULL && i < h->all.len; i++)
		if (h->all.at[i].sp >= m->start && h->all.at[i].sp < m->end)
			return &h->all.at[i];
	return NULL;
}

static char *
object_text(
    const struct holds *h, const struct waiter *w, char *buf, size_t size)
{
	const struct waiter *of = stack_owner(h, w->object);

	if (of != NULL) {
		snprintf(buf, size, "stack of thread %d 0x%llx", (int)of->tid,
		    (unsigned long long)w->object);
		return buf;
	}
	lock_name(addrspace_stamp(h->as), &h->maps, w->object, buf, size);
	return buf;
}

/* ---- text ---- */

static void
print_thread(struct holds *h, const struct waiter *w)
{
	str_printf(&h->text, "thread %d (", (int)w->tid);
	text_name(&h->to, w->name);
	str_addc(&h->text, ')');
}

static void
print_stack(struct holds *h, const struct waiter *w)
{
	char name[NAME_BYTES];

	for (size_t i = 0; i < w->n; i++) {
		symbolise_frame(addrspace_stamp(h->as), w->pcs[i],
		    i > 0 ? w->pcs[i - 1] : 0, SYM_DEMANGLE, name,
		    sizeof(name));
		str_add(&h->text, "              ");
		text_name(&h->to, name);
		str_addc(&h->text, '\n');
	}
}

static void
print_owner(struct holds *h, const struct waiter *w)
{
	if (w->next >= 0) {
		str_add(&h->text, ", held by ");
		print_thread(h, &h->all.at[w->next]);
	} else if (w->owner.tid != 0) {
		str_printf(&h->text, ", held by thread %d, which is not there",
		    (int)w->owner.tid);
	} else if (w->owner.readers != 0) {
		str_printf(&h->text, ", held by %u reader%s", w->owner.readers,
		    w->owner.readers == 1 ? "" : "s");
	} else if (w->owner.unknown) {
		str_add(&h->text, ", whose holder is not recorded");
	}
}

static void
print_waiter(struct holds *h, const struct waiter *w)
{
	char name[NAME_BYTES];

	str_add(&h->text, "\n");
	print_thread(h, w);
	if (w->row == NULL) {
		str_add(&h->text, " holds what others wait for\n");
	} else if (w->row->verb == PLOCK_JOIN) {
		str_add(&h->text, " waits for the end of ");
		if (w->next >= 0)
			print_thread(h, &h->all.at[w->next]);
		else
			str_printf(&h->text, "thread %d", (int)w->owner.tid);
		str_add(&h->text, "\n");
	} else if (w->cond) {
		str_add(&h->text, " waits for a condition\n");
	} else {
		str_printf(&h->text, " waits for %s ", own(noun(w)));
		text_name(&h->to, object_text(h, w, name, sizeof(name)));
		print_owner(h, w);
		str_add(&h->text, "\n");
	}
	print_stack(h, w);
}

static void
print_cycle(void *ctx, const int *nodes, size_t n)
{
	struct holds *h = ctx;
	char name[NAME_BYTES];

	str_printf(
	    &h->text, "\nDEADLOCK of %zu thread%s:\n", n, n == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++) {
		const struct waiter *w = &h->all.at[nodes[i]];
		str_add(&h->text, "    ");
		print_thread(h, w);
		str_add(&h->text, " waits for ");
		if (w->row->verb == PLOCK_JOIN)
			str_add(&h->text, "the end of ");
		else {
			text_name(
			    &h->to, object_text(h, w, name, sizeof(name)));
			str_add(&h->text, ", held by ");
		}
		print_thread(h, &h->all.at[w->next]);
		str_add(&h->text, "\n");
	}
}

static void
print_text(struct holds *h)
{
	size_t waiting = 0;

	vec_foreach(w, &h->all)
		waiting += w->row != NULL && !w->cond;
	str_printf(&h->text,
	    "process %d: %zu thread%s, %zu waiting for locks\n", (int)h->p->pid,
	    h->all.len, h->all.len == 1 ? "" : "s", waiting);
	vec_foreach(w, &h->all)
		if (w->row != NULL || w->holds)
			print_waiter(h, w);
	each_cycle(h, print_cycle);
}

/* ---- JSON ---- */

static void
json_waiter(struct holds *h, const struct waiter *w)
{
	char name[NAME_BYTES];

	str_printf(&h->text, "\n  {\"tid\": %d, \"name\": ", (int)w->tid);
	text_add_json(&h->text, w->name);
	if (w->row != NULL) {
		str_add(&h->text, ", \"in\": ");
		text_add_json(&h->text, w->row->func);
	}
	if (w->row != NULL && !w->cond && w->row->verb != PLOCK_JOIN) {
		str_printf(&h->text,
		    ", \"lock\": {\"address\": \"0x%llx\", \"name\": ",
		    (unsigned long long)w->object);
		text_add_json(&h->text, object_text(h, w, name, sizeof(name)));
		str_add(&h->text, "}");
	}
	if (w->next >= 0)
		str_printf(&h->text, ", \"waits_for\": %d",
		    (int)h->all.at[w->next].tid);
	if (w->owner.readers != 0)
		str_printf(&h->text, ", \"readers\": %u", w->owner.readers);
	str_add(&h->text, ",\n   \"stack\": [");
	for (size_t i = 0; i < w->n; i++) {
		symbolise_frame(addrspace_stamp(h->as), w->pcs[i],
		    i > 0 ? w->pcs[i - 1] : 0, SYM_DEMANGLE, name,
		    sizeof(name));
		str_add(&h->text, i > 0 ? ", " : "");
		text_add_json(&h->text, name);
	}
	str_add(&h->text, "]}");
}

static void
json_cycle(void *ctx, const int *nodes, size_t n)
{
	struct holds *h = ctx;

	str_printf(&h->text, "%s[", own(h->comma));
	for (size_t i = 0; i < n; i++)
		str_printf(&h->text, "%s%d", i > 0 ? ", " : "",
		    (int)h->all.at[nodes[i]].tid);
	str_add(&h->text, "]");
	h->comma = ", ";
}

static void
print_json(struct holds *h)
{
	str_printf(&h->text, "{\"pid\": %d, \"threads\": [", (int)h->p->pid);
	for (size_t i = 0; i < h->all.len; i++) {
		str_add(&h->text, i > 0 ? "," : "");
		json_waiter(h, &h->all.at[i]);
	}
	str_add(&h->text, "\n], \"deadlocks\": [");
	h->comma = "";
	each_cycle(h, json_cycle);
	str_add(&h->text, "]}\n");
}

/* ---- all of it ---- */

/* All threads are stopped. */
static void
read_process(struct holds *h)
{
	struct space *sp = h->p->space;

	h->as = addrspace_create(h->p->pid, &sp->mem);
	addrspace_refresh(h->as, NULL, NULL);
	maps_read(h->p->pid, &h->maps);
	h->unwinder = unwinder_create(h->as);
	h->ps = plock_space_create(h->as, &sp->text);
	vec_foreach(th, &h->p->threads)
		if (thread_stopped(*th))
			read_thread(h, *th);
	link_waiters(h);
}

static void
fini(struct holds *h)
{
	plock_space_put(h->ps);
	unwinder_destroy(h->unwinder);
	addrspace_put(h->as);
	maps_fini(&h->maps);
	vec_fini(&h->all);
}

int
holds_print(pid_t pid, bool json, FILE *out, char *why, size_t size)
{
	struct super *su = super_create();
	struct holds h = { .json = json };
	struct proc_error err = { 0 };
	int error = proc_attach(su, pid, &h.p, &err);

	if (error != 0) {
		snprintf(why, size, "%s", err.text);
		super_destroy(su);
		return error;
	}
	h.to = text_printer(out, &h.text);
	read_process(&h);
	if (json)
		print_json(&h);
	else
		print_text(&h);
	/* Detach before writing: the reader may be slow, or may wait for the
	 * process. */
	proc_detach(h.p, NULL, NULL);
	super_destroy(su);
	addrspace_detach(h.as);
	text_put(out, &h.text);
	error = fflush(out) == 0 ? 0 : -errno;
	if (error != 0)
		snprintf(
		    why, size, "cannot write output: %s", strerror(-error));
	fini(&h);
	return error;
}
