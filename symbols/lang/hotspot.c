/*
 * Java: frames of HotSpot, the virtual machine of OpenJDK, from 8 to 21, and
 * later versions as far as they are compatible.
 *
 * Java runs in code that was created at run time, all of it in the code cache:
 * compiled methods (several for one frame, if one was inlined into another);
 * the interpreter, whose frames contain the method and the bytecode; and stubs
 * between these and native code.  In the output they replace the program
 * counter; stubs have the names that the JVM gives them.
 */
#include <string.h>

#include "dlang/base/mem.h"
#include "symbols/lang/hotspot_impl.h"

/* While libjvm is being relocated, its tables are empty; those of an unknown
 * HotSpot are never usable.  After so many walks the tables are read less and
 * less often. */
#define TRIES_MOST 32

static void *
hotspot_attach(struct lang_walk *w, const struct load *l)
{
	struct hotspot *hs;

	/* By its name: otherwise the symbols of every mapped object would have
	 * to be read. */
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
	/* The call stub is created after the tables become readable. */
	if (hs->ready && hs->call_stub_return == 0)
		hs->call_stub_return = hs_static(w, &hs->l.call_stub_return);
}

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
	uint64_t pc = f->r[CFI_PC];

	if (b->kind == HS_NMETHOD) {
		if (!f->exact)
			pc = hs_scopes_pc(hs, w, b, pc, f->r[CFI_SP]);
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
	    !hs_blob_at(hs, w, f->r[CFI_PC] - (f->exact ? 0 : 1), &b))
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
