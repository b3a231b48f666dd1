/*
 * A layout of HotSpot's for memory that a test makes up: what its tests and its
 * fuzzer have in common.  Sizes and order are those of OpenJDK 17.
 */
#ifndef T_FAKE_HOTSPOT_LAYOUT_H
#define T_FAKE_HOTSPOT_LAYOUT_H

#include "symbols/lang/hotspot_impl.h"

#define HS_SET(hs, member, offset, bytes) \
	((hs)->l.member = (struct hs_field){ (offset), (bytes) })

static inline void
hotspot_layout(struct hotspot *hs)
{
	/* clang-format off */
#define S(member, offset, bytes) HS_SET(hs, member, offset, bytes)
	S(array_len, 0, -4), S(array_data, 8, 8), S(heap_memory, 8, 8);
	S(space_low, 0, 8), S(space_high, 8, 8);
	S(block_used, 8, 1), S(block_size, 16, 8);
	S(blob_name, 0, 8), S(blob_size, 8, -4), S(blob_frame_size, 12, -4);
	S(blob_complete, 16, -4);
	S(blob_code_begin, 24, 8), S(blob_code_end, 32, 8);
	S(nm_method, 40, 8), S(nm_scopes_begin, 48, 8);
	S(nm_pcs_offset, 56, -4), S(nm_deps_offset, 60, -4);
	S(nm_meta_offset, 64, -4), S(nm_orig_pc, 68, -4);
	S(nm_compile_id, 72, -4), S(nm_deopt_begin, 80, 8);
	S(pcdesc_pc, 0, -4), S(pcdesc_scope, 4, -4), S(pcdesc_size, 16, 8);
	S(method_const, 8, 8), S(method_access, 40, 8);
	S(access_flags, 0, -4), S(cm_constants, 8, 8);
	S(cm_flags, 28, 2), S(cm_code_size, 32, 2), S(cm_name, 34, 2);
	S(cm_size, 48, 8), S(pool_holder, 24, 8), S(pool_length, 60, -4);
	S(pool_file, 54, 2), S(pool_size, 72, 8), S(klass_name, 24, 8);
	S(symbol_length, 4, 2), S(symbol_body, 6, 8), S(has_lines, 1, 4);
	S(wrapper_anchor, 32, 8), S(thread_osthread, 0, 8);
	S(anchor_sp, 0, 8), S(anchor_pc, 8, 8), S(anchor_fp, 16, 8);
	S(osthread_id, 0, -4);
#undef S
	/* clang-format on */
}

#endif
