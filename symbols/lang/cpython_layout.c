/*
 * The layout of CPython's structures, by version; see cpython_impl.h.
 *
 * The offsets are those of the headers in Include/internal and Include/cpython
 * on x86-64. All releases of a version have the layout of the first.  3.13 has
 * the offsets in _Py_DebugOffsets at the start of _PyRuntime
 * (Include/internal/pycore_runtime.h), also in the build without the global
 * lock.
 */
#include <stdlib.h>
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/log.h"
#include "symbols/lang/cpython_impl.h"

/* clang-format off */
#define OBJECT_TO_3_11 .object = { .type = 8, .bytes_size = 16, .bytes = 32, \
	.length = 16, .state = 32, .ascii_text = 48, .compact_text = 72 }
#define OBJECT_3_12 .object = { .type = 8, .bytes_size = 16, .bytes = 32, \
	.length = 16, .state = 32, .ascii_text = 40, .compact_text = 56 }

static const struct py_layout layouts[] = {
	{
		.version = 0x0307, .frames = PY_CALLS, .lines = PYLINE_LNOTAB,
		.runtime = { .interpreters = 24 },
		.interp = { .next = 0, .threads = 8 },
		.thread = { .next = 8, .id = 176, .frame = 24 },
		.frame = { .previous = 24, .code = 32, .instr = 104 },
		.code = { .firstlineno = 36, .filename = 96, .name = 104,
			.lines = 112 },
		OBJECT_TO_3_11,
	}, {
		.version = 0x0308, .until = 0x0309,
		.frames = PY_CALLS, .lines = PYLINE_LNOTAB,
		.runtime = { .interpreters = 32 },
		.interp = { .next = 0, .threads = 8 },
		.thread = { .next = 8, .id = 176, .frame = 24 },
		.frame = { .previous = 24, .code = 32, .instr = 104 },
		.code = { .firstlineno = 40, .filename = 104, .name = 112,
			.lines = 120 },
		OBJECT_TO_3_11,
	}, {
		.version = 0x030a, .frames = PY_CFRAME, .lines = PYLINE_RANGES,
		.runtime = { .interpreters = 32 },
		.interp = { .next = 0, .threads = 8 },
		.thread = { .next = 8, .id = 176, .frame = 24, .cframe = 48 },
		.cframe = { .previous = 8 },
		.frame = { .previous = 24, .code = 32, .instr = 96 },
		.code = { .firstlineno = 40, .filename = 104, .name = 112,
			.lines = 120 },
		OBJECT_TO_3_11,
	}, {
		.version = 0x030b, .frames = PY_CFRAMES,
		.lines = PYLINE_LOCATIONS,
		.runtime = { .interpreters = 40 },
		.interp = { .next = 0, .threads = 16 },
		.thread = { .next = 8, .id = 152, .cframe = 56 },
		.cframe = { .current = 8, .previous = 16 },
		.frame = { .previous = 48, .code = 32, .instr = 56,
			.owner = 69, .is_entry = 68 },
		.code = { .firstlineno = 72, .filename = 112, .name = 128,
			.lines = 136, .bytecode = 184 },
		OBJECT_TO_3_11,
	}, {
		.version = 0x030c, .frames = PY_SHIMS,
		.lines = PYLINE_LOCATIONS,
		.runtime = { .interpreters = 40 },
		.interp = { .next = 0, .threads = 72 },
		.thread = { .next = 8, .id = 136, .cframe = 56 },
		.cframe = { .current = 0, .previous = 8 },
		.frame = { .previous = 8, .code = 0, .instr = 56, .owner = 70 },
		.code = { .firstlineno = 68, .filename = 112, .name = 128,
			.lines = 136, .bytecode = 192 },
		OBJECT_3_12,
	},
};

/* Words of 3.13's _Py_DebugOffsets. */
enum {
	AT_COOKIE = 0, AT_VERSION = 1,
	AT_RUNTIME_INTERPRETERS = 5,
	AT_INTERP_NEXT = 8, AT_INTERP_THREADS = 9,
	AT_THREAD_NEXT = 21, AT_THREAD_FRAME = 23, AT_THREAD_ID = 24,
	AT_FRAME_PREVIOUS = 29, AT_FRAME_CODE = 30, AT_FRAME_INSTR = 31,
	AT_FRAME_OWNER = 33,
	AT_CODE_FILENAME = 35, AT_CODE_QUALNAME = 37, AT_CODE_LINES = 38,
	AT_CODE_FIRSTLINENO = 39, AT_CODE_BYTECODE = 43,
	AT_OBJECT_TYPE = 45,
	AT_BYTES_SIZE = 65, AT_BYTES = 66,
	AT_STR_STATE = 68, AT_STR_LENGTH = 69, AT_STR_ASCII_SIZE = 70,
	AT_WORDS = 71
};
/* clang-format on */

/* The first word of _Py_DebugOffsets, as text. */
static const char cookie[8] = "xdebugpy";

/* How much shorter PyASCIIObject is than PyCompactUnicodeObject. */
#define COMPACT_MORE 16

/* No structure is longer; a greater offset is invalid. */
#define OFFSET_MOST (1u << 20)

static bool
layout_told(struct py_layout *o, struct lang_walk *w, uint64_t runtime)
{
	uint64_t at[AT_WORDS];

	if (!lang_read(w, runtime, at, sizeof(at)) ||
	    memcmp(&at[AT_COOKIE], cookie, sizeof(cookie)) != 0 ||
	    at[AT_VERSION] >> 16 != 0x030d)
		return false;
	for (size_t i = AT_VERSION + 1; i < AT_WORDS; i++)
		if (at[i] > OFFSET_MOST)
			return false;
	*o = (struct py_layout){
		.version = 0x030d,
		.frames = PY_SHIMS,
		.lines = PYLINE_LOCATIONS,
		.runtime = { .interpreters = at[AT_RUNTIME_INTERPRETERS] },
		.interp = { .next = at[AT_INTERP_NEXT],
		    .threads = at[AT_INTERP_THREADS] },
		.thread = { .next = at[AT_THREAD_NEXT],
		    .id = at[AT_THREAD_ID],
		    .frame = at[AT_THREAD_FRAME] },
		.frame = { .previous = at[AT_FRAME_PREVIOUS],
		    .code = at[AT_FRAME_CODE],
		    .instr = at[AT_FRAME_INSTR],
		    .owner = at[AT_FRAME_OWNER] },
		.code = { .firstlineno = at[AT_CODE_FIRSTLINENO],
		    .filename = at[AT_CODE_FILENAME],
		    .name = at[AT_CODE_QUALNAME],
		    .lines = at[AT_CODE_LINES],
		    .bytecode = at[AT_CODE_BYTECODE] },
		.object = { .type = at[AT_OBJECT_TYPE],
		    .bytes_size = at[AT_BYTES_SIZE],
		    .bytes = at[AT_BYTES],
		    .length = at[AT_STR_LENGTH],
		    .state = at[AT_STR_STATE],
		    .ascii_text = at[AT_STR_ASCII_SIZE],
		    .compact_text = at[AT_STR_ASCII_SIZE] + COMPACT_MORE },
	};
	return true;
}

/* The version of a text: 0x030a for "3.10.13"; 0 if it is none. */
static unsigned
version_of(const char *text)
{
	char *end;
	unsigned long minor;

	if (strncmp(text, "3.", 2) != 0)
		return 0;
	minor = strtoul(text + 2, &end, 10);
	if (end == text + 2 || *end != '.' || minor > 99)
		return 0;
	return 0x0300 + (unsigned)minor;
}

/*
 * Before 3.11 the version is only in a string that Py_GetVersion() uses.  It is
 * the one string of that form to which the code of the function refers,
 * relative to itself.
 */
static unsigned
version_in_code(const struct load *l)
{
	const struct sym *s = object_sym(l->object, "Py_GetVersion");
	uint8_t code[256];
	size_t len = s != NULL ? MIN(s->size, sizeof(code)) : 0;

	if (len == 0 || object_read(l->object, s->addr, code, len) != 0)
		return 0;
	for (size_t i = 0; i + 4 <= len; i++) {
		char text[16] = "";
		int32_t rel;

		memcpy(&rel, code + i, sizeof(rel));
		if (object_read(l->object, s->addr + i + 4 + (int64_t)rel, text,
			sizeof(text) - 1) == 0 &&
		    version_of(text) != 0)
			return version_of(text);
	}
	return 0;
}

bool
py_layout_find(struct py_layout *out, struct lang_walk *w, const struct load *l,
    uint64_t runtime)
{
	uint64_t at = lang_sym(l, "Py_Version");
	unsigned version = at != 0 ? lang_u32(w, at) >> 16 : version_in_code(l);

	if (version == 0x030d)
		return layout_told(out, w, runtime);
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (version >= layouts[i].version &&
		    version <= MAX(layouts[i].version, layouts[i].until)) {
			*out = layouts[i];
			out->version = version;
			return true;
		}
	LOG("lang", "%s: no layout of Python %u.%u is known", l->module,
	    version >> 8, version & 0xff);
	return false;
}
