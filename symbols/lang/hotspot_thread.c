/*
 * Finds the JavaThread of a thread, and its anchor: the place where the thread
 * last left Java.
 */
#include "dlang/base/mem.h"
#include "symbols/lang/hotspot_impl.h"

/* A longer list of threads is invalid. */
#define THREADS_MOST 65536

static bool
is_thread(struct hotspot *hs, struct lang_walk *w, uint64_t thread, pid_t tid)
{
	uint64_t os = hs_get(w, thread, &hs->l.thread_osthread);

	return os != 0 && (pid_t)hs_get(w, os, &hs->l.osthread_id) == tid;
}

static uint64_t
thread_listed(struct hotspot *hs, struct lang_walk *w, pid_t tid)
{
	const struct hs_layout *l = &hs->l;
	uint64_t list = hs_static(w, &l->threads_list), n, threads;

	if (list == 0)
		return 0;
	n = MIN(hs_get(w, list, &l->list_length), THREADS_MOST);
	threads = hs_get(w, list, &l->list_threads);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t thread = lang_u64(w, threads + i * 8);
		if (thread != 0 && is_thread(hs, w, thread, tid))
			return thread;
	}
	return 0;
}

static uint64_t
thread_chained(struct hotspot *hs, struct lang_walk *w, pid_t tid)
{
	uint64_t thread = hs_static(w, &hs->l.threads_first);

	for (size_t n = 0; thread != 0 && n < THREADS_MOST; n++) {
		if (is_thread(hs, w, thread, tid))
			return thread;
		thread = hs_get(w, thread, &hs->l.thread_next);
	}
	return 0;
}

uint64_t
hs_thread_of(struct hotspot *hs, struct lang_walk *w)
{
	pid_t tid = w->th->inner_tid;
	uint64_t *known = hash_get(&hs->threads, (uint64_t)tid);

	if (known == NULL) {
		known = mem_zalloc(sizeof(*known));
		hash_set(&hs->threads, (uint64_t)tid, known);
	}
	if (*known == 0 || !is_thread(hs, w, *known, tid))
		*known = hs->l.threads_list.size != 0 ?
		    thread_listed(hs, w, tid) :
		    thread_chained(hs, w, tid);
	return *known;
}

void
hs_anchor_read(struct hotspot *hs, struct lang_walk *w, uint64_t addr)
{
	struct hs_anchor *a = &hs->anchor;

	a->looked = true;
	a->sp = hs_get(w, addr, &hs->l.anchor_sp);
	a->pc = hs_get(w, addr, &hs->l.anchor_pc);
	a->fp = hs_get(w, addr, &hs->l.anchor_fp);
	if ((a->sp & 7) != 0)
		a->sp = 0;
	/* The pc is not always stored; then it is the return address that the
	 * call pushed. */
	if (a->sp != 0 && a->pc == 0)
		a->pc = lang_u64(w, a->sp - 8);
}

const struct hs_anchor *
hs_anchor_of(struct hotspot *hs, struct lang_walk *w)
{
	uint64_t thread;

	if (hs->anchor.looked)
		return &hs->anchor;
	hs->anchor.looked = true;
	thread = hs_thread_of(hs, w);
	if (thread != 0)
		hs_anchor_read(hs, w, thread + hs->l.thread_anchor.at);
	return &hs->anchor;
}
