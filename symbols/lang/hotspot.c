/*
 * Java: frames of HotSpot, the virtual machine of OpenJDK, 8 to 21 and what
 * comes after as far as it is alike.
 *
 * Java runs in code that was made at run time, all of it in the code cache:
 * methods as they were compiled (several at a frame, where one was inlined
 * into the other), the interpreter, whose frames say themselves which method
 * and bytecode they are at, and stubs between them and native code.  Each takes
 * the place of the program counter; stubs have the JVM's own name for them.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "symbols/lang/hotspot_impl.h"

/* While libjvm is relocated its tables are empty, or those of a HotSpot that is
 * not known stay unknown: after so many walks they are looked at more and more
 * seldom. */
#define TRIES_MOST 32

/* Longer lists of threads are none. */
#define THREADS_MOST 65536

static void *
hotspot_attach(struct lang_walk *w, const struct load *l)
{
	struct hotspot *hs;

	/* By its name, as symbols of everything that is mapped would have to
	 * be read else. */
	if (strcmp(l->module, "libjvm.so") != 0 ||
	    lang_sym(l, "gHotSpotVMStructs") == 0)
		return NULL;
	hs = mem_zalloc(sizeof(*hs));
	hs->load = l;
	return hs;
}

static void
hotspot_detach(void *self)
{
	struct hotspot *hs = self;

	hs_methods_fini(&hs->methods);
	hs_scopes_fini(&hs->scopes);
	hash_foreach(e, &hs->threads)
		mem_free(e->value);
	hash_fini(&hs->threads);
	mem_free(hs);
}

static void
hotspot_begin(void *self, struct lang_walk *w)
{
	struct hotspot *hs = self;

	hs->last.kind = HS_NONE;
	hs->heaps_read = false;
	hs->between[0] = '\0';
	hs->anchor = (struct hs_anchor){ 0 };
	if (!hs->ready) {
		hs->tries++;
		if (hs->tries <= TRIES_MOST ||
		    (hs->tries & (hs->tries - 1)) == 0)
			hs->ready = hs_layout_read(w, hs->load, &hs->l) == 0;
	}
	/* It is made after the tables can be read. */
	if (hs->ready && hs->call_stub_return == 0)
		hs->call_stub_return = hs_static(w, &hs->l.call_stub_return);
}

/* ---- the thread ---- */

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
	/* Not always written: it is what the call pushed. */
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

/* ---- frames ---- */

static enum step
hotspot_step(void *self, struct lang_walk *w, const struct frame *f,
    struct frame *caller)
{
	struct hotspot *hs = self;

	return hs->ready ? hs_step(hs, w, f, caller) : STEP_FAIL;
}

static void
push_code(struct hotspot *hs, struct lang_walk *w, const struct hs_blob *b,
    const struct frame *f)
{
	uint64_t pc = f->r[CFI_RIP];

	if (b->kind == HS_NMETHOD) {
		if (!f->exact)
			pc = hs_scopes_pc(hs, w, b, pc, f->r[CFI_RSP]);
		if (hs_scopes_push(hs, w, b, pc, f->exact))
			return;
	}
	if (b->kind == HS_INTERPRETER && hs_interp_push(hs, w, f))
		return;
	lang_push(w,
	    pc == hs->call_stub_return ? "StubRoutines::call_stub" : b->name,
	    NULL, 0, false);
}

static bool
hotspot_frames(void *self, struct lang_walk *w, const struct frame *f,
    const struct frame *caller)
{
	struct hotspot *hs = self;
	struct hs_blob b;

	if (!hs->ready ||
	    !hs_blob_at(hs, w, f->r[CFI_RIP] - (f->exact ? 0 : 1), &b))
		return false;
	push_code(hs, w, &b, f);
	if (caller != NULL && hs->between[0] != '\0')
		lang_push(w, hs->between, NULL, 0, false);
	hs->between[0] = '\0';
	return true;
}

const struct lang_ops lang_hotspot = {
	.name = "HotSpot",
	.attach = hotspot_attach,
	.detach = hotspot_detach,
	.begin = hotspot_begin,
	.step = hotspot_step,
	.frames = hotspot_frames,
};
