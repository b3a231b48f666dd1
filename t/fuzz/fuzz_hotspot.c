/*
 * Stacks of Java in memory that is the input: code cache, methods, compiled
 * code, frames of the interpreter, threads; and the tables that say where
 * everything is.
 *
 *	flags, thread, then four runs of segments (start, length): code; where
 *	the walk begins (2), changes of the layout (number, then which, offset,
 *	size), words of memory (words.h)
 */
#include <unistd.h>

#include "symbols/lang/hotspot_impl.h"
#include "t/fake/hotspot_layout.h"
#include "t/fuzz/words.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct lang_ops lang_hotspot;

/* The heap of code: words at `made', a byte of the map for each segment. */
#define SEGMENT_LOG 7
#define SEGMENTS    128
#define HEAP        0x20000000ULL /* the list of heaps, and the heap */
#define MAP         0x20001000ULL

enum { READ_TABLES = 1, LISTED = 2, EXACT = 4, EXACT_AGAIN = 8, NEWER = 16 };

/* Where libjvm's tables are: these are not filled in by a linker, but lead to
 * memory. */
#define TABLE __attribute__((used))
TABLE uint64_t gHotSpotVMStructs, gHotSpotVMStructEntryArrayStride,
    gHotSpotVMStructEntryTypeNameOffset, gHotSpotVMStructEntryFieldNameOffset,
    gHotSpotVMStructEntryTypeStringOffset, gHotSpotVMStructEntryIsStaticOffset,
    gHotSpotVMStructEntryOffsetOffset, gHotSpotVMStructEntryAddressOffset,
    gHotSpotVMTypes, gHotSpotVMTypeEntryArrayStride,
    gHotSpotVMTypeEntryTypeNameOffset, gHotSpotVMTypeEntrySizeOffset,
    gHotSpotVMIntConstants, gHotSpotVMIntConstantEntryArrayStride,
    gHotSpotVMIntConstantEntryNameOffset, gHotSpotVMIntConstantEntryValueOffset;

static const struct {
	uint64_t *at, value;
} tables[] = {
	{ &gHotSpotVMStructs, ARENA },
	{ &gHotSpotVMStructEntryArrayStride, 48 },
	{ &gHotSpotVMStructEntryTypeNameOffset, 0 },
	{ &gHotSpotVMStructEntryFieldNameOffset, 8 },
	{ &gHotSpotVMStructEntryTypeStringOffset, 16 },
	{ &gHotSpotVMStructEntryIsStaticOffset, 24 },
	{ &gHotSpotVMStructEntryOffsetOffset, 32 },
	{ &gHotSpotVMStructEntryAddressOffset, 40 },
	{ &gHotSpotVMTypes, ARENA },
	{ &gHotSpotVMTypeEntryArrayStride, 48 },
	{ &gHotSpotVMTypeEntryTypeNameOffset, 0 },
	{ &gHotSpotVMTypeEntrySizeOffset, 40 },
	{ &gHotSpotVMIntConstants, ARENA },
	{ &gHotSpotVMIntConstantEntryArrayStride, 48 },
	{ &gHotSpotVMIntConstantEntryNameOffset, 8 },
	{ &gHotSpotVMIntConstantEntryValueOffset, 32 },
};

static struct addrspace *as;
static struct unwinder *unwinder;
static uint64_t heap[64];
static uint8_t map[ROUND_UP(SEGMENTS, 4096)];

static uint64_t
code_at(unsigned n, unsigned offset)
{
	return (uintptr_t)made + offset % (SEGMENTS << SEGMENT_LOG);
}

/* Names that the JVM gives, as words of text, and a method's flags. */
static uint64_t
known(unsigned n)
{
	static const char texts[][9] = { "nmethod", "Interpre", "ter",
		"vtable c", "hunks", "I2C/C2I ", "adapters", "StubRout", "ines",
		"native n", "method" };
	uint64_t v = 0;

	if (n % 16 >= ARRAY_SIZE(texts))
		return 1;
	memcpy(&v, texts[n % 16], 8);
	return v;
}

static int
memory_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	if (words_at(addr, buf, len) == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if ((addr & ~1023ULL) <= (uintptr_t)tables[i].at &&
		    (uintptr_t)tables[i].at < (addr & ~1023ULL) + 1024) {
			memset(buf, 0, len);
			for (size_t k = 0; k < ARRAY_SIZE(tables); k++)
				if (within(
					(uintptr_t)tables[k].at, 8, addr, len))
					memcpy((char *)buf +
						((uintptr_t)tables[k].at -
						    addr),
					    tables[k].at, 8);
			return 0;
		}
	memset(buf, 0, len);
	if (within(addr, len, HEAP, 4096)) {
		uint64_t off = addr - HEAP;
		if (off < sizeof(heap))
			memcpy(buf, (const uint8_t *)heap + off,
			    MIN(len, sizeof(heap) - off));
	} else if (within(addr, len, MAP, 4096))
		memcpy(buf, map + (addr - MAP), len);
	else
		return -1;
	return 0;
}

static const struct reader memory = { memory_read, NULL };

/* ---- the layout ---- */

#define SET(member, offset, bytes) HS_SET(hs, member, offset, bytes)

static void
set_layout(struct hotspot *hs, unsigned flags)
{
	hotspot_layout(hs);
	SET(heaps, HEAP, 8), SET(heap_segmap, 32, 8), SET(heap_log2, 64, -4);
	SET(threads_first, HEAP + 40, 8), SET(thread_next, 8, 8);
	SET(thread_anchor, 16, 8), SET(call_stub_return, HEAP + 48, 8);
	if (flags & LISTED) {
		SET(cont_entry, 40, 8), SET(cont_return, HEAP + 56, 8);
		SET(threads_list, HEAP + 40, 8), SET(list_length, 0, 1);
		SET(list_threads, 8, 8);
	}
	if (flags & NEWER) {
		SET(nm_immutable, 88, 8), SET(nm_scopes_offset, 48, -4);
		SET(blob_code_offset, 24, -4), SET(blob_data_offset, 28, -4);
		hs->l.nm_scopes_begin.size = hs->l.blob_code_begin.size = 0;
		hs->l.blob_code_end.size = hs->l.nm_deopt_begin.size = 0;
		SET(nm_deopt, 80, -4);
	}
	hs->l.version = flags & NEWER ? 23 : 17;
	hs->ready = true;
}

/* What tells how long things are is checked when the tables are read, so it is
 * left as it is. */
static void
change_layout(struct hotspot *hs, struct input *in)
{
	struct hs_field *fields = (struct hs_field *)&hs->l;
	size_t n = offsetof(struct hs_layout, version) / sizeof(*fields);
	struct hs_field *f = &fields[take(in, 1) % n];
	uint64_t at = take(in, 1);
	int8_t size = (int8_t)((1 << take(in, 1) % 4) * (at & 1 ? -1 : 1));

	if (f != &hs->l.pcdesc_size && f != &hs->l.cm_size &&
	    f != &hs->l.pool_size && f != &hs->l.block_size)
		*f = (struct hs_field){ at,
			size == -1 || size == -8 ? 8 : size };
}

static void
put_heap(struct input *in)
{
	memset(heap, 0, sizeof(heap));
	memset(map, 0xff, sizeof(map));
	heap[0] = HEAP + 64; /* the list: one */
	heap[5] = ARENA;     /* threads */
	heap[6] = code_at(0, 512);
	heap[7] = code_at(0, 1024);
	heap[8] = 1;
	heap[9] = HEAP + 96;
	heap[12] = HEAP + 128;
	heap[17] = (uintptr_t)made;
	heap[18] = (uintptr_t)made + (SEGMENTS << SEGMENT_LOG);
	heap[20] = MAP;
	heap[21] = MAP + SEGMENTS;
	heap[24] = SEGMENT_LOG;
	for (unsigned i = 0; i < 4; i++) {
		unsigned start = (unsigned)take(in, 1) % SEGMENTS;
		unsigned n = 1 + (unsigned)take(in, 1) % SEGMENTS;
		for (unsigned k = 0; k < n && start + k < SEGMENTS; k++)
			map[start + k] = (uint8_t)k;
	}
}

/* ---- walks ---- */

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	made_create();
	as = addrspace_create(getpid(), &memory);
	if (addrspace_refresh(as, NULL, NULL) <= 0)
		abort();
	unwinder = unwinder_create(as);
	unwinder->mem = &memory;
	return 0;
}

static void
walk(void *hs, struct lang_walk *w, uint64_t pc, bool exact)
{
	struct frame f = { .exact = exact }, caller;

	for (size_t i = 0; i < LANG_LINES; i++)
		w->lines[i].addr = UINT64_MAX;
	unwinder->window_len = 0;
	for (unsigned i = 0; i < CFI_REGS; i++)
		frame_set(&f, i, words[i % nwords]);
	frame_set(&f, CFI_RSP, ARENA);
	frame_set(&f, CFI_RBP, ARENA + (words[1 % nwords] & 0xff) * 8);
	frame_set(&f, CFI_RIP, pc);
	lang_hotspot.begin(hs, w);
	for (unsigned i = 0; i < 40; i++) {
		enum step s;

		caller = (struct frame){ 0 };
		s = lang_hotspot.step(hs, w, &f, &caller);
		lang_hotspot.frames(hs, w, &f, s == STEP_OK ? &caller : NULL);
		if (s != STEP_OK)
			break;
		f = caller;
	}
	vec_clear(&w->pushed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct lang_walk w;
	static struct lang_thread th;
	struct input in = { data, data + size };
	struct load load = *addrspace_exec(as);

	if (size < 12)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		*tables[i].at = tables[i].value;
	load.module = "libjvm.so";
	w.as = as;
	w.mem = &memory;
	w.th = &th;
	w.unwinder = unwinder;
	unsigned flags = (unsigned)take(&in, 1);
	th.inner_tid = 1 + (pid_t)take(&in, 1) % 4;
	put_heap(&in);
	uint64_t pc = code_at(0, (unsigned)take(&in, 2));
	struct hotspot *hs = lang_hotspot.attach(&w, &load);
	if (hs == NULL)
		abort();
	if (!(flags & READ_TABLES))
		set_layout(hs, flags);
	for (uint64_t i = take(&in, 1) % 8; i > 0; i--)
		change_layout(hs, &in);
	take_words(&in);
	walk(hs, &w, pc, flags & EXACT);
	words[flags % nwords] += 8;
	walk(hs, &w, pc, flags & EXACT_AGAIN);
	lang_hotspot.detach(hs);
	langname_reset();
	return 0;
}
