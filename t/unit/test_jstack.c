/*
 * symbols/lang/v8 and php on memory that is not what it should be: another
 * layout, a heap that changes, anything.  A walk ends, and nothing is read that
 * was not asked for; names made of what makes sense are right.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbols/lang.h"
#include "symbols/lang/v8_impl.h"
#include "t/fake/fixture.h"

/* Numbers as V8 11.3 (or, with OLD, 10.2) has them in its symbols; and enough
 * of PHP 8.2 that its frames begin somewhere. */
static const char program[] =
    "#include <stdio.h>\n#include <stdint.h>\n#include <sys/mman.h>\n"
    "#define V8(n, v) int v8dbg_##n = v;\n"
    "#include \"numbers.h\"\n"
    "#ifdef OLD\n"
    "int _ZN2v88internal7Version6major_E = 10;\n"
    "int _ZN2v88internal7Version6minor_E = 2;\n"
    "#else\n"
    "int _ZN2v88internal7Version6major_E = 11;\n"
    "int _ZN2v88internal7Version6minor_E = 3;\n"
    "#endif\n"
    "unsigned char _ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE"
    "[594] = { [0 ... 593] = 2 };\n"
    "uint64_t executor_globals[100] = { [61] = 0x100000000100 };\n"
    "uint32_t module[4] = { 168, 20220829 };\n"
    "uint64_t bucket[4] = { (uintptr_t)module };\n"
    "uint64_t module_registry[8] = { [2] = (uintptr_t)bucket, [3] = 1 };\n"
    "void __attribute__((noinline)) execute_ex(void) { getchar(); }\n"
    "int main(void) {\n"
    "	printf(\"%p\\n\", mmap(0, 1 << 20, PROT_READ | PROT_EXEC,\n"
    "	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));\n"
    "	fflush(stdout); execute_ex(); return 0; }\n";

/* clang-format off */
static const struct number {
	const char *name;
	int value, old;
} numbers[] = {
	{ "off_fp_context", -8, -8 }, { "off_fp_function", -16, -16 },
	{ "class_Map__instance_type__uint16_t", 12, 12 },
	{ "class_JSFunction__shared__SharedFunctionInfo", 24, 24 },
	{ "class_SharedFunctionInfo__function_data__Object", 8, 8 },
	{ "class_SharedFunctionInfo__name_or_scope_info__Object", 16, 16 },
	{ "class_SharedFunctionInfo__script_or_debug_info__HeapObject", 32, 32 },
	{ "class_Script__source__Object", 8, 8 },
	{ "class_Script__name__Object", 16, 16 },
	{ "class_Script__line_ends__Object", 56, 56 },
	{ "class_FixedArrayBase__length__SMI", 8, 8 },
	{ "class_FixedArray__data__uintptr_t", 16, 16 },
	{ "class_BytecodeArray__data__uintptr_t", 54, 56 },
	{ "class_String__length__int32_t", 12, 12 },
	{ "class_SeqOneByteString__chars__char", 16, 16 },
	{ "class_SeqTwoByteString__chars__char", 16, 16 },
	{ "class_ConsString__first__String", 16, 16 },
	{ "class_ConsString__second__String", 24, 24 },
	{ "class_SlicedString__offset__SMI", 24, 24 },
	{ "class_SlicedString__parent__String", 16, 16 },
	{ "class_ExternalString__resource__Object", 16, 16 },
	{ "FirstNonstringType", 128, 128 },
	{ "StringRepresentationMask", 7, 7 }, { "StringEncodingMask", 8, 8 },
	{ "OneByteStringTag", 8, 8 }, { "ConsStringTag", 1, 1 },
	{ "ExternalStringTag", 2, 2 }, { "SlicedStringTag", 3, 3 },
	{ "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", 262, 257 },
	{ "type_ScopeInfo__SCOPE_INFO_TYPE", 261, 256 },
	{ "type_Script__SCRIPT_TYPE", 167, 170 },
	{ "type_FixedArray__FIXED_ARRAY_TYPE", 175, 179 },
	{ "type_ByteArray__BYTE_ARRAY_TYPE", 190, 194 },
	{ "type_BytecodeArray__BYTECODE_ARRAY_TYPE", 191, 195 },
	{ "type_InterpreterData__INTERPRETER_DATA_TYPE", 159, 160 },
	{ "type_Code__CODE_TYPE", 245, 240 },
	{ "type_InstructionStream__INSTRUCTION_STREAM_TYPE", 252, -1 },
	{ "frametype_BuiltinExitFrame", 25, 22 },
};

/* Types of objects that are looked at, some more often than others. */
static const uint16_t types[] = { 262, 257, 262, 257, 262, 257, 262, 257, 261,
	256, 261, 256, 167, 170, 167, 170, 175, 179, 190, 194, 191, 195, 159,
	245, 240, 252, 8, 40, 32, 41, 33, 42, 34, 43, 35, 45, 37 };
/* clang-format on */

/* ---- a process whose heap is noise ---- */

struct noise {
	struct child child;
	struct addrspace *as;
	uint64_t code, seed;
	struct reader mem;
	unsigned long reads;
};

/* Frame pointers here lead from one to the next, to code. */
#define STACK_START 0x200000000000
#define STACK_END   0x200000000800
#define HEAP_START  0x100000000000
#define HEAP_MASK   0xffff8

static uint64_t
mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9;
	return x ^ x >> 32;
}

/* The word at an address: often an object's or a number's. */
static uint64_t
noise_word(const struct noise *n, uint64_t addr)
{
	uint64_t r = mix(addr ^ n->seed), q = mix(r);

	if (addr >= STACK_START && addr < STACK_END) {
		if (addr % 128 == 64)
			return addr + 128;
		if (addr % 128 == 72)
			return n->code + 4096 + (r % 65536);
	}
	/* What would be the type of a map. */
	if (addr % 16 == 8 && r % 8 != 0)
		return (uint64_t)types[q % ARRAY_SIZE(types)] << 32;
	switch (r % 8) {
	case 0: return q;
	case 1: return (q & 0xff) << 32;
	case 2: return (q & 0xffff) << 32;
	case 3: return q & ~0xffffffffULL;
	case 4: return HEAP_START + (q & HEAP_MASK);
	default: return HEAP_START + (q & HEAP_MASK & ~15ULL) + 1;
	}
}

static int
noise_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct noise *n = ctx;
	const struct load *l = addrspace_load_at(n->as, addr);

	n->reads++;
	if (l != NULL)
		return reader_read(&n->child.mem, addr, buf, len);
	for (size_t i = 0; i < len;) {
		size_t off = (addr + i) % 8, some = MIN(8 - off, len - i);
		uint64_t word = noise_word(n, addr + i - off) >> (8 * off);
		memcpy((uint8_t *)buf + i, &word, some);
		i += some;
	}
	return 0;
}

static void
noise_start(struct noise *n, bool old)
{
	char line[64];
	char *argv[] = { (char *)"noise", NULL };
	const char *path;
	FILE *f = fopen(fixture_path("numbers.h"), "w");

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!old || numbers[i].old >= 0)
			fprintf(f, "V8(%s, %d)\n", numbers[i].name,
			    old ? numbers[i].old : numbers[i].value);
	fclose(f);
	path = fixture_cc("noise", program, old ? "-O1 -DOLD" : "-O1");
	*n = (struct noise){ 0 };
	child_start(&n->child, path, argv);
	n->code = strtoull(child_line(&n->child, line, sizeof(line)), NULL, 16);
	n->as = addrspace_create(n->child.pid, &n->child.mem);
	ck_assert_int_gt(addrspace_refresh(n->as, NULL, NULL), 0);
	n->mem = (struct reader){ noise_read, n };
}

static void
noise_end(struct noise *n)
{
	addrspace_put(n->as);
	child_end(&n->child);
}

static uint64_t
sym_addr(const struct noise *n, const char *name)
{
	const struct load *l = addrspace_exec(n->as);

	return l->bias + object_sym(l->object, name)->addr;
}

/* Walks from many places; how many frames of languages there were. */
static unsigned long
walks(struct noise *n, unsigned many, uint64_t pc, bool exact)
{
	struct langs *ls = langs_create(n->as);
	struct unwinder *u = unwinder_create(n->as);
	struct lang_thread th = { n->child.pid, n->child.pid, n->child.pid, 0 };
	unsigned long named = 0;
	uint64_t words[300], lost = 0;

	for (unsigned i = 0; i < many; i++) {
		struct uregs r;
		size_t got, max = 1 + mix(i) % ARRAY_SIZE(words);

		n->seed = mix(i);
		for (unsigned j = 0; j < ARRAY_SIZE(r.r); j++)
			r.r[j] = noise_word(n, HEAP_START + 8 * j);
		r.r[UREG_RIP] = pc + (exact ? 0 : mix(i) % 60000);
		r.r[UREG_RSP] = STACK_START + 16;
		r.r[UREG_RBP] = STACK_START + 64;
		got = langs_unwind(ls, u, &r, &n->mem, &th, words, max, &lost);
		ck_assert_uint_ge(got, 1);
		ck_assert_uint_le(got, max);
		for (size_t j = 0; j < got; j++)
			named += langname_of(words[j]) != NULL;
	}
	unwinder_destroy(u);
	langs_destroy(ls);
	langname_reset();
	return named;
}

START_TEST(v8_in_noise)
{
	struct noise n;

	noise_start(&n, _i == 1);
	/* Some of the frames that make no sense have names all the same. */
	ck_assert_uint_gt(walks(&n, 12, n.code + 4096, false), 0);
	noise_end(&n);
}
END_TEST

START_TEST(php_in_noise)
{
	struct noise n;

	noise_start(&n, false);
	ck_assert_uint_gt(walks(&n, 4, sym_addr(&n, "execute_ex"), true), 0);
	noise_end(&n);
}
END_TEST

/* ---- objects that are right ---- */

static uint8_t heap[8192];
#define HEAP_AT 0x10000

static int
heap_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	memset(buf, 0, len);
	for (size_t i = 0; i < len; i++)
		if (addr + i >= HEAP_AT && addr + i < HEAP_AT + sizeof(heap))
			((uint8_t *)buf)[i] = heap[addr + i - HEAP_AT];
	return 0;
}

static size_t heap_used;

static uint64_t
object_new(const struct v8 *v, int type, size_t bytes)
{
	size_t map = heap_used, at = map + 16;

	memcpy(heap + map + v->map_type, &(uint16_t){ (uint16_t)type }, 2);
	memcpy(heap + at, &(uint64_t){ HEAP_AT + map + 1 }, 8);
	heap_used = ROUND_UP(at + bytes, 16);
	return HEAP_AT + at + 1;
}

static void
object_set(uint64_t object, int offset, uint64_t word, size_t bytes)
{
	memcpy(heap + (object - 1 - HEAP_AT) + offset, &word, bytes);
}

static uint64_t
smi(int n)
{
	return (uint64_t)(uint32_t)n << 32;
}

static void
v8_numbers(struct v8 *v)
{
	*v = (struct v8){ .layout = v8_layout_of(11, 3) };
#define V8(member, symbol)                                \
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)  \
		if (strcmp(numbers[i].name, symbol) == 0) \
			v->member = numbers[i].value;
#define V8_ELSE(member, symbol, value) \
	v->member = value;             \
	V8(member, symbol)
#include "symbols/lang/v8dbg.def"
#undef V8
#undef V8_ELSE
	heap_used = 0;
	memset(heap, 0, sizeof(heap));
}

static uint64_t
one_byte(const struct v8 *v, const char *s)
{
	uint64_t o = object_new(v, 8, 16 + strlen(s));

	object_set(o, v->string_length, strlen(s), 4);
	for (size_t i = 0; s[i] != '\0'; i++)
		object_set(o, v->one_chars + (int)i, (uint8_t)s[i], 1);
	return o;
}

static uint64_t
two_byte(const struct v8 *v, const uint16_t *s, unsigned n)
{
	uint64_t o = object_new(v, 0, 16 + 2 * n);

	object_set(o, v->string_length, n, 4);
	memcpy(heap + (o - 1 - HEAP_AT) + 16, s, 2 * n);
	return o;
}

static uint64_t
pair(const struct v8 *v, int type, unsigned n, uint64_t a, uint64_t b)
{
	uint64_t o = object_new(v, type, 32);

	object_set(o, v->string_length, n, 4);
	object_set(o, 16, a, 8);
	object_set(o, 24, b, 8);
	return o;
}

/* A function of that name, in a script of that source, at a place in it. */
static const struct lang_name *
named(struct v8 *v, uint64_t name, const char *source, int start)
{
	static struct lang_walk w;
	static const struct reader mem = { heap_read, NULL };
	uint64_t script = object_new(v, v->type_script, 120),
		 shared = object_new(v, v->type_shared, 64);
	struct v8_at at = { .shared = shared, .offset = -1 };

	object_set(script, v->script_name, one_byte(v, "/a.js"), 8);
	object_set(script, v->script_source, one_byte(v, source), 8);
	object_set(shared, v->shared_script, script, 8);
	if (start >= 0) { /* a ScopeInfo with a name and a position */
		uint64_t scope = object_new(v, v->type_scope, 64);
		object_set(scope, 8, smi(2 | 1 << 12), 8);
		object_set(scope, 32, name, 8);
		object_set(scope, 48, smi(start), 8);
		object_set(scope, 56, smi(start + 1), 8);
		name = scope;
	}
	object_set(shared, v->shared_name, name, 8);
	w.mem = &mem;
	for (size_t i = 0; i < LANG_LINES; i++)
		w.lines[i].addr = UINT64_MAX;
	vec_clear(&w.pushed);
	v8_push(v, &w, &at);
	ck_assert_uint_eq(w.pushed.len, 1);
	return langname_of(w.pushed.at[0]);
}

START_TEST(strings_of_all_kinds)
{
	static const uint16_t wide[] = { 'a', 0x43b, 0x20ac, 0xd835, 0xdcb3 };
	struct v8 v;
	uint64_t a, b;

	v8_numbers(&v);
#define NAMED(string, text) \
	ck_assert_str_eq(named(&v, string, "", -1)->function, text)
	NAMED(one_byte(&v, "plain"), "plain");
	NAMED(one_byte(&v, "na\xefve\n"), "na\xc3\xafve?");
	NAMED(two_byte(&v, wide, 5), "aл€𝒳");
	a = one_byte(&v, "left.");
	b = one_byte(&v, "right");
	NAMED(pair(&v, 41, 10, a, b), "left.right");
	NAMED(pair(&v, 41, 20, pair(&v, 41, 10, a, b), pair(&v, 41, 10, b, a)),
	    "left.rightrightleft.");
	NAMED(pair(&v, 43, 5, pair(&v, 41, 10, a, b), smi(3)), "t.rig");
	NAMED(pair(&v, 45, 5, b, 0), "right");
	NAMED(pair(&v, 42, 4, 0, b - 1 + 17), "ight");
	/* No strings: a number, nothing, something else, one of itself. */
	NAMED(smi(5), "<anonymous>");
	NAMED(0, "<anonymous>");
	NAMED(object_new(&v, v.type_array, 16), "<anonymous>");
	a = pair(&v, 41, 10, 0, 0);
	object_set(a, 16, a, 8);
	object_set(a, 24, a, 8);
	NAMED(a, "<anonymous>");
	langname_reset();
}
END_TEST

START_TEST(lines_of_a_source)
{
	static const struct {
		const char *source;
		int start, line;
	} cases[] = { { "f", 0, 1 }, { "\nf", 0, 1 }, { "\nf", 1, 2 },
		{ "a\nb\n\nf()", 5, 4 }, { "a\nb", 3, 2 }, { "", 7, 0 } };
	struct v8 v;

	v8_numbers(&v);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct lang_name *n = named(
		    &v, one_byte(&v, "f"), cases[i].source, cases[i].start);
		ck_assert_str_eq(n->function, "f");
		ck_assert_str_eq(n->file, "/a.js");
		ck_assert_int_eq(n->line, cases[i].line);
	}
	for (unsigned i = 0; i < V8_SCRIPTS; i++)
		vec_fini(&v.scripts[i].ends);
	langname_reset();
}
END_TEST

/* Numbers that lead out of what an int holds: `make asan' sees if one does. */
START_TEST(numbers_are_as_large_as_they_like)
{
	static const uint8_t table[] = { 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0x01 };
	static struct lang_walk w;
	static const struct reader mem = { heap_read, NULL };
	struct v8 v;

	v8_numbers(&v);
	w.mem = &mem;
	uint64_t script = object_new(&v, v.type_script, 120),
		 shared = object_new(&v, v.type_shared, 64),
		 scope = object_new(&v, v.type_scope, 64),
		 ends = object_new(&v, v.type_array, 16),
		 bytes = object_new(&v, v.type_bytes, 64),
		 bytecode = object_new(&v, v.type_bytecode, 64);
	object_set(script, v.script_source, one_byte(&v, "f"), 8);
	object_set(script, v.script_name + 8, smi(INT32_MAX), 8);
	object_set(script, v.script_ends, ends, 8);
	object_set(shared, v.shared_script, script, 8);
	object_set(shared, v.shared_name, scope, 8);
	object_set(scope, 8, smi(2), 8);
	object_set(scope, 32, smi(0), 8);
	object_set(scope, 40, smi(1), 8);
	/* The first line of the script; its table of lines; positions. */
	for (int i = 0; i < 3; i++) {
		struct v8_at at = { .shared = shared, .offset = -1 };
		if (i == 1)
			object_set(ends, v.array_length, smi(INT32_MAX), 8);
		if (i == 2) {
			object_set(bytes, v.array_length, smi(40), 8);
			for (int k = 0; k < 40; k++)
				object_set(
				    bytes, v.array_data + k, table[k % 10], 1);
			object_set(bytecode, 32, bytes, 8);
			at.bytecode = bytecode;
			at.offset = INT32_MAX;
		}
		for (size_t k = 0; k < LANG_LINES; k++)
			w.lines[k].addr = UINT64_MAX;
		vec_clear(&w.pushed);
		v8_push(&v, &w, &at);
		ck_assert_uint_eq(w.pushed.len, 1);
		ck_assert_int_eq(langname_of(w.pushed.at[0])->line, 0);
	}
	for (unsigned i = 0; i < V8_SCRIPTS; i++)
		vec_fini(&v.scripts[i].ends);
	langname_reset();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("jstack");
	TCase *tc = tcase_create("jstack");
	SRunner *sr;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, v8_in_noise, 0, 2);
	tcase_add_test(tc, php_in_noise);
	tcase_add_test(tc, strings_of_all_kinds);
	tcase_add_test(tc, lines_of_a_source);
	tcase_add_test(tc, numbers_are_as_large_as_they_like);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	fixture_setup();
	srunner_run_all(sr, CK_NORMAL);
	fixture_teardown();
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
