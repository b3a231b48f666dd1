/*
 * HotSpot's code cache: it consists of heaps, each of which is divided into
 * segments of equal size.  A blob is a sequence of segments.  The segment map
 * has a byte for each segment: how far back the first segment of its blob is,
 * or 0xff if it belongs to no blob.
 *
 *	segments  | blob        | blob   | free   |
 *	map         0  1  2  3    0  1     ff  ff
 *
 * In a long blob the first segment is several hops back.  Each blob is preceded
 * by a block header (heap.hpp, codeBlob.hpp of the JDK).
 */
#include <string.h>

#include "dlang/base/base.h"
#include "symbols/lang/hotspot_impl.h"

/* A blob of 32 MB, larger than any, takes this many hops of 254 segments of 128
 * bytes.  Segments that were freed and used again may need more. */
#define HOPS_MOST 4096

/* No blob is larger: it is more than the default size of the code cache. */
#define BLOB_MOST (512u << 20)

static bool
heap_read(
    struct hotspot *hs, struct lang_walk *w, uint64_t addr, struct hs_heap *h)
{
	const struct hs_layout *l = &hs->l;
	uint64_t memory = addr + l->heap_memory.at,
		 segmap = addr + l->heap_segmap.at, size;

	h->low = hs_get(w, memory, &l->space_low);
	h->high = hs_get(w, memory, &l->space_high);
	h->segmap = hs_get(w, segmap, &l->space_low);
	h->log2 = (unsigned)hs_get(w, addr, &l->heap_log2);
	if (h->low == 0 || h->high <= h->low || h->segmap == 0 || h->log2 < 3 ||
	    h->log2 > 20)
		return false;
	size = h->high - h->low;
	h->segments = size >> h->log2;
	return size <= 1ULL << 40 &&
	    h->segments <= hs_get(w, segmap, &l->space_high) - h->segmap;
}

/* Read the current heaps.  While the JVM starts, it adds some. */
static void
heaps_read(struct hotspot *hs, struct lang_walk *w)
{
	const struct hs_layout *l = &hs->l;
	uint64_t list = hs_static(w, &l->heaps), data, n;

	hs->n_heaps = 0;
	if (l->heaps.size == 0) {
		if (heap_read(hs, w, hs_static(w, &l->heap8), &hs->heaps[0]))
			hs->n_heaps = 1;
		return;
	}
	if (list == 0)
		return;
	n = MIN(hs_get(w, list, &l->array_len), HS_HEAPS);
	data = hs_get(w, list, &l->array_data);
	for (size_t i = 0; i < n; i++)
		if (heap_read(hs, w, lang_u64(w, data + i * 8),
			&hs->heaps[hs->n_heaps]))
			hs->n_heaps++;
}

static const struct hs_heap *
heap_of(const struct hotspot *hs, uint64_t pc)
{
	for (size_t i = 0; i < hs->n_heaps; i++)
		if (pc - hs->heaps[i].low <
		    hs->heaps[i].high - hs->heaps[i].low)
			return &hs->heaps[i];
	return NULL;
}

/* The block that contains pc; 0 if there is none. */
static uint64_t
block_of(struct hotspot *hs, struct lang_walk *w, const struct hs_heap *h,
    uint64_t pc)
{
	uint64_t i = (pc - h->low) >> h->log2, addr;
	unsigned hops = 0;
	uint8_t back;

	if (i >= h->segments || !lang_read(w, h->segmap + i, &back, 1))
		return 0;
	while (back != 0) {
		if (back == 0xff || back > i || ++hops > HOPS_MOST)
			return 0;
		i -= back;
		if (!lang_read(w, h->segmap + i, &back, 1))
			return 0;
	}
	addr = h->low + (i << h->log2);
	return hs_get(w, addr, &hs->l.block_used) == 1 ? addr : 0;
}

/* The kind of a blob by its name, the only mark that all versions have.  An
 * unknown name means a stub, as most blobs are. */
static enum hs_kind
kind_of(const char *name)
{
	static const struct {
		const char *begin;
		enum hs_kind kind;
	} kinds[] = {
		{ "nmethod", HS_NMETHOD },
		{ "native nmethod", HS_NMETHOD },
		{ "Interpreter", HS_INTERPRETER },
		{ "vtable chunks", HS_VTABLE },
		{ "I2C/C2I adapters", HS_ADAPTER },
		{ "MethodHandles adapters", HS_ADAPTER },
		{ "StubRoutines", HS_CODE },
		/* 20 and later have several. */
		{ "Stub Generator", HS_CODE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strncmp(name, kinds[i].begin, strlen(kinds[i].begin)) == 0)
			return kinds[i].kind;
	return HS_STUB;
}

/* Is this a valid name: printable ASCII? */
static bool
is_name(const char *s)
{
	if (s[0] == '\0')
		return false;
	for (; *s != '\0'; s++)
		if (*s < ' ' || *s > '~')
			return false;
	return true;
}

static bool
blob_read(
    struct hotspot *hs, struct lang_walk *w, uint64_t addr, struct hs_blob *b)
{
	const struct hs_layout *l = &hs->l;
	int64_t complete = (int64_t)hs_get(w, addr, &l->blob_complete),
		frame = (int64_t)hs_get(w, addr, &l->blob_frame_size);
	uint64_t size = hs_get(w, addr, &l->blob_size), name;

	*b = (struct hs_blob){ .addr = addr };
	if (size == 0 || size > BLOB_MOST)
		return false;
	b->code_end = addr + size;
	if (l->blob_code_begin.size != 0) {
		b->code = hs_get(w, addr, &l->blob_code_begin);
		if (l->blob_code_end.size != 0)
			b->code_end = hs_get(w, addr, &l->blob_code_end);
	} else {
		b->code = addr + hs_get(w, addr, &l->blob_code_offset);
		if (l->blob_data_offset.size != 0)
			b->code_end =
			    addr + hs_get(w, addr, &l->blob_data_offset);
	}
	if (b->code < addr || b->code_end < b->code ||
	    b->code_end > addr + size)
		return false;
	/* The size is in words; -1: not known. */
	b->frame = frame > 0 && frame < (1 << 20) ? (uint64_t)frame * 8 : 0;
	b->complete = b->code;
	if (complete > 0 && (uint64_t)complete <= b->code_end - b->code)
		b->complete += (uint64_t)complete;
	name = hs_get(w, addr, &l->blob_name);
	lang_text(w, name, sizeof(b->name) - 1, b->name, sizeof(b->name));
	if (!is_name(b->name))
		return false;
	b->kind = kind_of(b->name);
	return true;
}

bool
hs_blob_at(
    struct hotspot *hs, struct lang_walk *w, uint64_t pc, struct hs_blob *out)
{
	const struct hs_heap *h;
	uint64_t block;

	if (hs->last.kind != HS_NONE && pc >= hs->last.code &&
	    pc < hs->last.code_end) {
		*out = hs->last;
		return true;
	}
	h = heap_of(hs, pc);
	if (h == NULL && !hs->heaps_read &&
	    addrspace_load_at(w->as, pc) == NULL) {
		heaps_read(hs, w);
		hs->heaps_read = true;
		h = heap_of(hs, pc);
	}
	if (h == NULL)
		return false;
	block = block_of(hs, w, h, pc);
	if (block == 0 || !blob_read(hs, w, block + hs->l.block_size.at, out) ||
	    pc < out->code || pc >= out->code_end)
		return false;
	hs->last = *out;
	return true;
}
