/*
 * Offsets of HotSpot's members.  libjvm exports tables of its types, fields and
 * constants for debuggers (gHotSpotVMStructs etc., vmStructs.hpp of the JDK),
 * and variables that describe the layout of an entry.
 *
 * The tables are read from memory, because relocations fill them in.
 */
#include <errno.h>
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/log.h"
#include "symbols/lang/hotspot_impl.h"

/* Longer tables (17 has 800 fields) or names are invalid. */
#define ENTRIES_MOST 16384
#define NAME_BYTES   80

/* A row: a field of a type; without a field, the size of the type; without a
 * type, a constant.  If a name changed between versions, several rows set the
 * same member. */
struct row {
	const char *type, *field;
	bool needed; /* by this row or another of the same member */
	uint16_t member;
};

#define AT(member) offsetof(struct hs_layout, member)

/* clang-format off */
static const struct row rows[] = {
	/* The code cache: heaps of blobs; 8 has one heap. */
	{ "CodeCache", "_heaps", false, AT(heaps) },
	{ "CodeCache", "_heap", false, AT(heap8) },
	{ "GrowableArrayBase", "_len", false, AT(array_len) },
	{ "GenericGrowableArray", "_len", false, AT(array_len) },
	{ "GrowableArray<int>", "_data", false, AT(array_data) },
	{ "CodeHeap", "_memory", true, AT(heap_memory) },
	{ "CodeHeap", "_segmap", true, AT(heap_segmap) },
	{ "CodeHeap", "_log2_segment_size", true, AT(heap_log2) },
	{ "VirtualSpace", "_low_boundary", true, AT(space_low) },
	{ "VirtualSpace", "_high_boundary", true, AT(space_high) },
	{ "HeapBlock::Header", "_used", true, AT(block_used) },
	{ "HeapBlock", NULL, true, AT(block_size) },
	/* A blob.  Where its code is: 9 to 22 have an address, others an
	 * offset from the blob. */
	{ "CodeBlob", "_name", true, AT(blob_name) },
	{ "CodeBlob", "_size", true, AT(blob_size) },
	{ "CodeBlob", "_frame_size", true, AT(blob_frame_size) },
	{ "CodeBlob", "_frame_complete_offset", true, AT(blob_complete) },
	{ "CodeBlob", "_code_begin", false, AT(blob_code_begin) },
	{ "CodeBlob", "_code_end", false, AT(blob_code_end) },
	{ "CodeBlob", "_code_offset", false, AT(blob_code_offset) },
	{ "CodeBlob", "_data_offset", false, AT(blob_data_offset) },
	{ "CodeBlob", "_relocation_size", false, AT(blob_reloc_size) },
	{ "CodeBlob", "_mutable_data", false, AT(blob_mutable) },
	/* Compiled code. */
	{ "CompiledMethod", "_method", true, AT(nm_method) },
	{ "nmethod", "_method", true, AT(nm_method) },
	{ "CompiledMethod", "_scopes_data_begin", false, AT(nm_scopes_begin) },
	{ "nmethod", "_scopes_data_offset", false, AT(nm_scopes_offset) },
	{ "nmethod", "_scopes_pcs_offset", true, AT(nm_pcs_offset) },
	{ "nmethod", "_dependencies_offset", false, AT(nm_deps_offset) },
	{ "nmethod", "_metadata_offset", false, AT(nm_meta_offset) },
	{ "nmethod", "_immutable_data", false, AT(nm_immutable) },
	{ "nmethod", "_orig_pc_offset", true, AT(nm_orig_pc) },
	{ "nmethod", "_compile_id", true, AT(nm_compile_id) },
	{ "CompiledMethod", "_deopt_handler_begin", false, AT(nm_deopt_begin) },
	{ "CompiledMethod", "_deopt_mh_handler_begin", false, AT(nm_deopt_mh_begin) },
	{ "nmethod", "_deopt_handler_offset", false, AT(nm_deopt) },
	{ "nmethod", "_deopt_handler_entry_offset", false, AT(nm_deopt) },
	{ "nmethod", "_deoptimize_offset", false, AT(nm_deopt) },
	{ "nmethod", "_deopt_mh_handler_offset", false, AT(nm_deopt_mh) },
	{ "nmethod", "_deoptimize_mh_offset", false, AT(nm_deopt_mh) },
	{ "PcDesc", "_pc_offset", true, AT(pcdesc_pc) },
	{ "PcDesc", "_scope_decode_offset", true, AT(pcdesc_scope) },
	{ "PcDesc", NULL, true, AT(pcdesc_size) },
	/* Methods and their names. */
	{ "Method", "_constMethod", true, AT(method_const) },
	{ "Method", "_access_flags", true, AT(method_access) },
	{ "AccessFlags", "_flags", true, AT(access_flags) },
	{ "ConstMethod", "_constants", true, AT(cm_constants) },
	{ "ConstMethod", "_flags", false, AT(cm_flags) },
	{ "ConstMethod", "_flags._flags", false, AT(cm_flags) },
	{ "ConstMethod", "_code_size", true, AT(cm_code_size) },
	{ "ConstMethod", "_name_index", true, AT(cm_name) },
	{ "ConstMethod", NULL, true, AT(cm_size) },
	{ "ConstantPool", "_pool_holder", true, AT(pool_holder) },
	{ "ConstantPool", "_length", true, AT(pool_length) },
	{ "ConstantPool", "_source_file_name_index", false, AT(pool_file) },
	{ "InstanceKlass", "_source_file_name_index", false, AT(klass_file) },
	{ "ConstantPool", NULL, true, AT(pool_size) },
	{ "Klass", "_name", true, AT(klass_name) },
	{ "Symbol", "_length", false, AT(symbol_length) },
	{ "Symbol", "_length_and_refcount", false, AT(symbol_length_ref) },
	{ "Symbol", "_body", true, AT(symbol_body) },
	{ NULL, "ConstMethod::_has_linenumber_table", true, AT(has_lines) },
	{ NULL, "ConstMethodFlags::_misc_has_linenumber_table", true, AT(has_lines) },
	/* Threads: a list of pointers, or chained. */
	{ "ThreadsSMRSupport", "_java_thread_list", false, AT(threads_list) },
	{ "ThreadsList", "_length", false, AT(list_length) },
	{ "ThreadsList", "_threads", false, AT(list_threads) },
	{ "Threads", "_thread_list", false, AT(threads_first) },
	{ "JavaThread", "_next", false, AT(thread_next) },
	{ "JavaThread", "_osthread", true, AT(thread_osthread) },
	{ "Thread", "_osthread", true, AT(thread_osthread) },
	{ "JavaThread", "_anchor", true, AT(thread_anchor) },
	{ "OSThread", "_thread_id", true, AT(osthread_id) },
	{ "JavaFrameAnchor", "_last_Java_sp", true, AT(anchor_sp) },
	{ "JavaFrameAnchor", "_last_Java_pc", true, AT(anchor_pc) },
	{ "JavaFrameAnchor", "_last_Java_fp", true, AT(anchor_fp) },
	/* Frames, and which JDK it is. */
	{ "StubRoutines", "_call_stub_return_address", true, AT(call_stub_return) },
	{ "JavaCallWrapper", "_anchor", true, AT(wrapper_anchor) },
	/* Virtual threads; some versions that have them do not export these. */
	{ "JavaThread", "_cont_entry", false, AT(cont_entry) },
	{ "ContinuationEntry", "_return_pc", false, AT(cont_return) },
	{ "Abstract_VM_Version", "_vm_major_version", false, AT(vm_major) },
};
/* clang-format on */

static struct hs_field *
member_of(struct hs_layout *l, const struct row *r)
{
	return (struct hs_field *)((char *)l + r->member);
}

static bool
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void
fill(struct hs_layout *l, const char *type, const char *field, uint64_t at,
    int8_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct hs_field *m = member_of(l, &rows[i]);

		if (m->size == 0 && same(rows[i].type, type) &&
		    same(rows[i].field, field))
			*m = (struct hs_field){ at, size };
	}
}

static bool
is_wanted(const char *type)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].type != NULL && strcmp(rows[i].type, type) == 0)
			return true;
	return false;
}

/* The size of a member by the type in the table.  For other types it does not
 * matter, as only parts of them are read. */
static int8_t
size_of(const char *type)
{
	static const struct {
		const char *name;
		int8_t size;
	} sizes[] = {
		{ "int", -4 },
		{ "jint", -4 },
		{ "const uint", 4 },
		{ "uint", 4 },
		{ "u4", 4 },
		{ "unsigned int", 4 },
		{ "pid_t", -4 },
		{ "OSThread::thread_id_t", -4 },
		{ "u2", 2 },
		{ "jushort", 2 },
		{ "uint16_t", 2 },
		{ "unsigned short", 2 },
		{ "int16_t", -2 },
		{ "u1", 1 },
		{ "bool", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (strcmp(type, sizes[i].name) == 0)
			return sizes[i].size;
	return 8;
}

/* The value of a variable of libjvm that describes the layout of a table. */
static uint64_t
variable(struct lang_walk *w, const struct load *l, const char *name)
{
	uint64_t addr = lang_sym(l, name);

	return addr != 0 ? lang_u64(w, addr) : 0;
}

struct table {
	uint64_t at, stride;
};

static bool
table_begin(struct lang_walk *w, const struct load *l, const char *array,
    const char *stride, struct table *t)
{
	t->at = variable(w, l, array);
	t->stride = variable(w, l, stride);
	return t->at != 0 && t->stride >= 16 && t->stride <= 256;
}

/* Read the string to which the entry points.  False and "" if there is none. */
static bool
text_at(struct lang_walk *w, uint64_t at, char buf[NAME_BYTES])
{
	uint64_t addr = lang_u64(w, at);

	buf[0] = '\0';
	return addr != 0 &&
	    lang_text(w, addr, NAME_BYTES - 1, buf, NAME_BYTES)[0] != '\0';
}

static bool
read_fields(struct lang_walk *w, const struct load *l, struct hs_layout *out)
{
#define PART(p) variable(w, l, "gHotSpotVMStructEntry" p "Offset")
	const uint64_t type = PART("TypeName"), field = PART("FieldName"),
		       text = PART("TypeString"), fixed = PART("IsStatic"),
		       offset = PART("Offset"), addr = PART("Address");
#undef PART
	char a[NAME_BYTES], b[NAME_BYTES], c[NAME_BYTES];
	struct table t;

	if (!table_begin(w, l, "gHotSpotVMStructs",
		"gHotSpotVMStructEntryArrayStride", &t))
		return false;
	for (size_t i = 0; i < ENTRIES_MOST; i++, t.at += t.stride) {
		if (!text_at(w, t.at + type, a))
			break;
		if (!is_wanted(a) || !text_at(w, t.at + field, b))
			continue;
		text_at(w, t.at + text, c);
		fill(out, a, b,
		    lang_u64(
			w, t.at + (lang_u32(w, t.at + fixed) ? addr : offset)),
		    size_of(c));
	}
	return true;
}

static bool
read_sizes(struct lang_walk *w, const struct load *l, struct hs_layout *out)
{
	const uint64_t name =
			   variable(w, l, "gHotSpotVMTypeEntryTypeNameOffset"),
		       size = variable(w, l, "gHotSpotVMTypeEntrySizeOffset");
	char a[NAME_BYTES];
	struct table t;

	if (!table_begin(
		w, l, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride", &t))
		return false;
	for (size_t i = 0; i < ENTRIES_MOST; i++, t.at += t.stride) {
		if (!text_at(w, t.at + name, a))
			break;
		if (is_wanted(a))
			fill(out, a, NULL, lang_u64(w, t.at + size), 8);
	}
	return true;
}

static bool
read_constants(struct lang_walk *w, const struct load *l, struct hs_layout *out)
{
	const uint64_t name = variable(
			   w, l, "gHotSpotVMIntConstantEntryNameOffset"),
		       value = variable(
			   w, l, "gHotSpotVMIntConstantEntryValueOffset");
	char a[NAME_BYTES];
	struct table t;

	if (!table_begin(w, l, "gHotSpotVMIntConstants",
		"gHotSpotVMIntConstantEntryArrayStride", &t))
		return false;
	for (size_t i = 0; i < ENTRIES_MOST; i++, t.at += t.stride) {
		if (!text_at(w, t.at + name, a))
			break;
		fill(out, NULL, a, lang_u32(w, t.at + value), 4);
	}
	return true;
}

/* Are all needed members known and plausible?  Arrays are walked by these
 * sizes. */
static bool
is_whole(const struct hs_layout *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].needed &&
		    member_of((struct hs_layout *)l, &rows[i])->size == 0) {
			LOG("lang", "HotSpot without %s::%s",
			    rows[i].type != NULL ? rows[i].type : "",
			    rows[i].field != NULL ? rows[i].field : "");
			return false;
		}
	return (l->heaps.size != 0 || l->heap8.size != 0) &&
	    (l->blob_code_begin.size != 0 || l->blob_code_offset.size != 0) &&
	    (l->symbol_length.size != 0 || l->symbol_length_ref.size != 0) &&
	    l->cm_size.at <= 1024 && l->pool_size.at <= 1024 &&
	    l->pcdesc_size.at >= 8 && l->pcdesc_size.at <= 64 &&
	    l->block_size.at <= 64;
}

/* JDK 8 calls itself 25, by a numbering of HotSpot: it is recognised by its
 * single code heap. */
static int
version_of(struct lang_walk *w, const struct hs_layout *l)
{
	return l->heaps.size == 0 ? 8 : (int)hs_static(w, &l->vm_major);
}

int
hs_layout_read(struct lang_walk *w, const struct load *l, struct hs_layout *out)
{
	*out = (struct hs_layout){ 0 };
	if (!read_fields(w, l, out) || !read_sizes(w, l, out) ||
	    !read_constants(w, l, out) || !is_whole(out))
		return -EAGAIN;
	out->version = version_of(w, out);
	LOG("lang", "HotSpot of JDK %d", out->version);
	return 0;
}

uint64_t
hs_get(struct lang_walk *w, uint64_t addr, const struct hs_field *field)
{
	uint64_t at = addr + field->at;

	switch (field->size) {
	case 1: return lang_u8(w, at);
	case 2: return lang_u16(w, at);
	case -2: return (uint64_t)(int16_t)lang_u16(w, at);
	case 4: return lang_u32(w, at);
	case -4: return (uint64_t)(int32_t)lang_u32(w, at);
	case 8: return lang_u64(w, at);
	}
	return 0;
}

uint64_t
hs_static(struct lang_walk *w, const struct hs_field *field)
{
	return hs_get(w, 0, field);
}
