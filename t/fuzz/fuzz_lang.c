/*
 * The walk with the frames of languages (Python, PHP, Ruby, V8, the map for
 * perf) in a process whose memory is the input.  It ends, and gives as many
 * words as there is room for.
 *
 * The process is the fuzzer itself: it has the symbols by which a runtime is
 * known, and functions of the names of their interpreters.  So from nothing
 * there is an interpreter, and what it holds is the input:
 *
 *	language, version, code that runs, flags, number of changes,
 *	changes (which, value (4)) to what the runtime says of itself,
 *	then words of memory (words.h)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/base.h"
#include "dlang/base/mem.h"
#include "symbols/lang.h"
#include "symbols/unwind.h"
#include "t/fuzz/words.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- what the runtimes are known by ---- */

#define VAR __attribute__((used, section("fuzzvars")))

extern char __start_fuzzvars[], __stop_fuzzvars[];

/* Numbers of V8 11.3. */
#define NUMBERS                                                           \
	N(off_fp_context, -8)                                             \
	N(off_fp_function, -16)                                           \
	N(off_fp_bytecode_array, -32)                                     \
	N(off_fp_bytecode_offset, -40)                                    \
	N(class_Map__instance_type__uint16_t, 12)                         \
	N(class_JSFunction__shared__SharedFunctionInfo, 24)               \
	N(class_SharedFunctionInfo__function_data__Object, 8)             \
	N(class_SharedFunctionInfo__name_or_scope_info__Object, 16)       \
	N(class_SharedFunctionInfo__script_or_debug_info__HeapObject, 32) \
	N(class_Script__source__Object, 8)                                \
	N(class_Script__name__Object, 16)                                 \
	N(class_Script__line_ends__Object, 56)                            \
	N(class_FixedArrayBase__length__SMI, 8)                           \
	N(class_FixedArray__data__uintptr_t, 16)                          \
	N(class_BytecodeArray__data__uintptr_t, 54)                       \
	N(class_String__length__int32_t, 12)                              \
	N(class_SeqOneByteString__chars__char, 16)                        \
	N(class_SeqTwoByteString__chars__char, 16)                        \
	N(class_ConsString__first__String, 16)                            \
	N(class_ConsString__second__String, 24)                           \
	N(class_SlicedString__offset__SMI, 24)                            \
	N(class_SlicedString__parent__String, 16)                         \
	N(class_ExternalString__resource__Object, 16)                     \
	N(class_UncompiledData__inferred_name__String, 8)                 \
	N(class_UncompiledData__start_position__int32_t, 16)              \
	N(FirstNonstringType, 128)                                        \
	N(StringRepresentationMask, 7)                                    \
	N(StringEncodingMask, 8)                                          \
	N(OneByteStringTag, 8)                                            \
	N(ConsStringTag, 1)                                               \
	N(ExternalStringTag, 2)                                           \
	N(SlicedStringTag, 3)                                             \
	N(type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE, 262)        \
	N(type_ScopeInfo__SCOPE_INFO_TYPE, 261)                           \
	N(type_Script__SCRIPT_TYPE, 167)                                  \
	N(type_FixedArray__FIXED_ARRAY_TYPE, 175)                         \
	N(type_ByteArray__BYTE_ARRAY_TYPE, 190)                           \
	N(type_BytecodeArray__BYTECODE_ARRAY_TYPE, 191)                   \
	N(type_InterpreterData__INTERPRETER_DATA_TYPE, 159)               \
	N(type_Code__CODE_TYPE, 245)                                      \
	N(type_InstructionStream__INSTRUCTION_STREAM_TYPE, 252)           \
	N(frametype_BuiltinExitFrame, 25)

#define N(name, value) VAR int32_t v8dbg_##name;
NUMBERS
#undef N
VAR uint32_t _ZN2v88internal7Version6major_E;
VAR uint32_t _ZN2v88internal7Version6minor_E;
extern const uint8_t
    _ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE[594];
const uint8_t _ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE[594]
    __attribute__((used)) = { [0 ... 593] = 2 };

static const struct number {
	int32_t *at, value;
} numbers[] = {
#define N(name, value) { &v8dbg_##name, value },
	NUMBERS
#undef N
};

VAR uint64_t executor_globals[100];
VAR uint32_t php_module[4];
VAR uint64_t php_bucket[4];
VAR uint64_t module_registry[8];

VAR uint32_t ruby_api_version[3];
VAR uint64_t ruby_global_symbols[3];
VAR uint64_t ruby_tls[8]; /* with the list of a thread's blocks */
VAR uint64_t ruby_context;
extern __thread uint64_t ruby_current_ec;
__thread uint64_t ruby_current_ec __attribute__((used));

VAR uint64_t Py_Version;
VAR uint64_t _PyRuntime[160];
VAR uint64_t PyCode_Type[4];
VAR uint64_t PyUnicode_Type[4];

/* The interpreters; larger than an offset in them that an input names. */
#define INTERPRETER(name)                                          \
	void name(volatile int *p);                                \
	__attribute__((noinline, used)) void name(volatile int *p) \
	{                                                          \
		int a[64] = { *p };                                \
		for (int i = 0; i < *p; i++)                       \
			a[i % 64] += *p * a[(i + 1) % 64];         \
		*p = a[*p % 64];                                   \
	}
INTERPRETER(_PyEval_EvalFrameDefault)
INTERPRETER(rb_vm_exec)
INTERPRETER(rb_ary_each)
INTERPRETER(execute_ex)

/* ---- memory ---- */

/* Code of the n-th kind. */
static uint64_t
code_at(unsigned n, unsigned offset)
{
	switch (n % 6) {
	case 0: return (uintptr_t)_PyEval_EvalFrameDefault + offset % 32;
	case 1: return (uintptr_t)rb_vm_exec + offset % 32;
	case 2: return (uintptr_t)rb_ary_each + offset % 32;
	case 3: return (uintptr_t)execute_ex + offset % 32;
	default: return (uintptr_t)made + offset % MADE_BYTES;
	}
}

/* Words that have a meaning. */
static uint64_t
known(unsigned n)
{
	static const uint64_t values[] = { 0x64, 0x30, 0x78, 3, 0x5005, 0x705a,
		0x601a, 0x201a, 0x55550001, 0x22220021, 0x2007, 0x20000,
		0x100000000 };

	switch (n % 16) {
	case 0: return (uintptr_t)PyCode_Type;
	case 1: return (uintptr_t)PyUnicode_Type;
	case 2: return (uintptr_t)rb_ary_each;
	default: return values[n % 16 - 3];
	}
}

/* Behind variables nothing is, but whole lines of a walk's cache can be read. */
static int
memory_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	uint64_t vars = (uintptr_t)__start_fuzzvars,
		 end = (uintptr_t)__stop_fuzzvars;

	if (words_at(addr, buf, len) == 0)
		return 0;
	if (!within(addr, len, vars & ~4095ULL, end - vars + 8192))
		return -1;
	memset(buf, 0, len);
	for (uint64_t at = MAX(addr, vars); at < MIN(addr + len, end); at++)
		((uint8_t *)buf)[at - addr] = *(const uint8_t *)(uintptr_t)at;
	return 0;
}

static const struct reader memory = { memory_read, NULL };

/* ---- a runtime ---- */

static struct addrspace *as;
static struct unwinder *unwinder;

enum { PYTHON, PHP, RUBY, V8, PERF, LANGUAGES };

static void
set_python(unsigned version)
{
	Py_Version = (uint64_t)(0x0307 + version % 7) << 16;
	memcpy(&_PyRuntime[0], "xdebugpy", 8);
	_PyRuntime[1] = 0x030d00f0;
	for (unsigned i = 2; i < 71; i++)
		_PyRuntime[i] = i * 40 % 256;
	if (version % 7 == 6) {
		_PyRuntime[5] = 1024;
		_PyRuntime[128] = ARENA;
	} else
		_PyRuntime[3] = _PyRuntime[4] = _PyRuntime[5] = ARENA;
}

static void
set_php(unsigned version)
{
	php_module[0] = 168;
	php_module[1] = version & 1 ? 20240924 : 20220829;
	php_bucket[0] = (uintptr_t)php_module;
	module_registry[2] = (uintptr_t)php_bucket;
	module_registry[3] = 1;
	executor_globals[61] = ARENA;
}

static void
set_v8(unsigned version)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		*numbers[i].at = numbers[i].value;
	_ZN2v88internal7Version6major_E = version & 1 ? 10 : 11;
	_ZN2v88internal7Version6minor_E = version & 1 ? 2 : 3;
	if (version & 1) {
		v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE = 257;
		v8dbg_type_Code__CODE_TYPE = 240;
	}
}

/* The thread's pointer leads to where its context's address is. */
static void
set_ruby(unsigned version)
{
	const struct sym *s =
	    object_sym(addrspace_exec(as)->object, "ruby_current_ec");

	ruby_api_version[0] = 3;
	ruby_api_version[1] = version % 4;
	ruby_global_symbols[0] = 1000;
	ruby_global_symbols[2] = ARENA + 8;
	ruby_tls[1] = (uintptr_t)&ruby_tls[4];
	ruby_tls[2] = 1;
	ruby_tls[6] = (uintptr_t)&ruby_context - s->addr;
	ruby_context = ARENA;
}

static void
set_runtime(unsigned language, unsigned version)
{
	memset(
	    __start_fuzzvars, 0, (size_t)(__stop_fuzzvars - __start_fuzzvars));
	switch (language) {
	case PYTHON: set_python(version); break;
	case PHP: set_php(version); break;
	case RUBY: set_ruby(version); break;
	case V8: set_v8(version); break;
	}
}

static void
change(struct input *in, unsigned language)
{
	unsigned which = (unsigned)take(in, 1);
	uint32_t value = (uint32_t)take(in, 4);

	if (language == V8)
		*numbers[which % ARRAY_SIZE(numbers)].at = (int32_t)value;
	else if (language == PYTHON)
		_PyRuntime[which % 71] = value;
	else if (language == RUBY)
		ruby_global_symbols[which % 3] = value;
	else if (language == PHP)
		executor_globals[61] = value;
}

static void
put_map(const struct input *in)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(path, "w");
	if (f == NULL)
		return;
	fwrite(in->at, 1, (size_t)(in->end - in->at), f);
	fclose(f);
}

static void
remove_map(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
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
	return 0;
}

static void
walk(struct langs *ls, uint64_t pc, bool by_rbp)
{
	struct lang_thread th = { getpid(), getpid(), getpid(), words[0] };
	uint64_t out[300], lost = 0;
	struct uregs r;

	if (ruby_context != 0)
		th.thread_base = (uintptr_t)ruby_tls;
	for (size_t i = 0; i < UREG_COUNT; i++)
		r.r[i] = words[i % nwords];
	r.r[UREG_RIP] = pc;
	r.r[UREG_RSP] = ARENA;
	if (by_rbp)
		r.r[UREG_RBP] = ARENA + 8 * (words[1 % nwords] & 0xff);
	size_t max = 1 + words[2 % nwords] % ARRAY_SIZE(out);
	size_t n =
	    langs_unwind(ls, unwinder, &r, &memory, &th, out, max, &lost);
	if (n > max || (n == 0 && pc != 0))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };

	if (size < 8)
		return 0;
	unsigned language = (unsigned)take(&in, 1) % LANGUAGES;
	set_runtime(language, (unsigned)take(&in, 1));
	uint64_t which = take(&in, 2), flags = take(&in, 1);
	for (uint64_t i = take(&in, 1) % 8; i > 0; i--)
		change(&in, language);
	if (language == PERF)
		put_map(&in);
	take_words(&in);
	struct langs *ls = langs_create(as);
	uint64_t pc = language == PERF ?
	    words[0] :
	    code_at((unsigned)which >> 8, (unsigned)which * 64 + 4);
	walk(ls, pc, flags & 1);
	/* The same in memory that has changed. */
	words[flags % nwords] += 8;
	walk(ls, pc, flags & 2);
	langs_destroy(ls);
	langname_reset();
	if (language == PERF)
		remove_map();
	return 0;
}
