/*
 * symbols/object: programs built here, compared with what nm and readelf say
 * of them.
 */
#include <check.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/demangle.h"
#include "symbols/object.h"
#include "symbols/elf/parts.h"
#include "t/fake/fixture.h"

static const char program[] =
    "#include <stdio.h>\n"
    "int counter = 3, zeroed;\n"
    "static int __attribute__((noinline)) hidden(int x) { return x * 7; }\n"
    "int __attribute__((noinline)) visible(int x) { return hidden(x) + 1; }\n"
    "int __alias(int) __attribute__((alias(\"visible\")));\n"
    "int weak_one(int) __attribute__((weak, alias(\"visible\")));\n"
    "void __attribute__((cold, noinline)) rare(void) { puts(\"a\"); }\n"
    "int __attribute__((noinline)) unlikely(int x) {\n"
    "	if (x == 12345) { rare(); counter++; }\n"
    "	return x + counter; }\n"
    "__asm__(\".text\\n.globl sizeless\\n.type sizeless,@function\\n\"\n"
    "	\"sizeless:\\n.cfi_startproc\\nnop\\nnop\\nret\\n.cfi_endproc\\n\"\n"
    "	\".skip 64, 0xcc\\n\");\n"
    "static int choice(int x) { return x; }\n"
    "static void *resolve(void) { return choice; }\n"
    "int chosen(int) __attribute__((ifunc(\"resolve\")));\n"
    "int main(int argc, char **argv) {\n"
    "	return visible(argc) + unlikely(argc) + chosen(argc) == 1; }\n";

static const char library[] = "int lib_sum(int a, int b) { return a + b; }\n"
			      "int old_way(int a) { return a; }\n"
			      "int new_way(int a) { return a + 1; }\n"
			      "__asm__(\".symver old_way,way@V1\");\n"
			      "__asm__(\".symver new_way,way@@V2\");\n";

static const char plain_library[] =
    "static int __attribute__((noinline)) hidden(int x) { return x * 7; }\n"
    "int lib_sum(int a, int b) { return hidden(a) + b; }\n"
    "int lib_one(void) { return 1; }\n";

static struct object *
open_object(const char *path)
{
	struct object *o;
	const char *why = "";
	int err = object_open(path, path, &o, &why);

	ck_assert_msg(err == 0, "%s: %d %s", path, err, why);
	return o;
}

/* The function with this address and name, or NULL. */
static const struct sym *
func_named(struct object *o, uint64_t addr, const char *name)
{
	const struct sym *syms;
	size_t n = object_funcs(o, &syms);

	for (size_t i = 0; i < n; i++)
		if (syms[i].addr == addr && strcmp(syms[i].name, name) == 0)
			return &syms[i];
	return NULL;
}

/* Every function that nm tells of `file' is there, with its size, in order,
 * and there are as many. */
static size_t
compare_with_nm(struct object *o, const char *file, const char *options)
{
	FILE *f = fixture_open("nm %s -f sysv %s | awk -F'|' '$4 ~ "
			       "/FUNC|specific/ && $7 !~ /UND/'",
	    options, file);
	char line[2048];
	size_t seen = 0;
	const struct sym *syms;
	size_t n = object_funcs(o, &syms);

	while (fgets(line, sizeof(line), f) != NULL) {
		char *name = line, *field = strchr(line, '|'), *at;
		uint64_t addr, size = 0;
		const struct sym *s;

		ck_assert_ptr_nonnull(field);
		*field = '\0';
		name[strcspn(name, " @")] = '\0';
		addr = strtoull(field + 1, NULL, 16);
		/* name | value | class | type | size | line | section */
		at = field + 1;
		for (int i = 0; i < 3; i++)
			at = strchr(at, '|') + 1;
		size = strtoull(at, NULL, 16);
		if (addr == 0)
			continue;
		s = func_named(o, addr, name);
		ck_assert_msg(s != NULL, "%s: no %s at %#lx", file, name,
		    (unsigned long)addr);
		if (size != 0)
			ck_assert_msg(s->size == size, "%s: %s", file, name);
		else
			ck_assert(s->size_guessed);
		seen++;
	}
	pclose(f);
	for (size_t i = 1; i < n; i++)
		ck_assert_uint_le(syms[i - 1].addr, syms[i].addr);
	ck_assert_uint_ge(seen, n);
	return n;
}

START_TEST(object_lists_what_nm_lists)
{
	static const char *const ways[] = { "-O2 -g", "-O2 -no-pie",
		"-O2 -static", "-O2 -static-pie", "-O0 -fomit-frame-pointer",
		"-O2 -Wl,--gc-sections -ffunction-sections", "-O2 -g -gz" };

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct object *o;
		const char *path = fixture_cc("prog", program, ways[i]);

		o = open_object(path);
		ck_assert_uint_gt(compare_with_nm(o, path, ""), 5);
		ck_assert_int_eq(object_is_pie(o),
		    strstr(ways[i], "no-pie") == NULL &&
			strcmp(ways[i], "-O2 -static") != 0);
		ck_assert_int_eq(
		    object_is_static(o), strstr(ways[i], "-static") != NULL);
		ck_assert_int_eq(object_interp(o) == NULL,
		    strstr(ways[i], "-static") != NULL);
		ck_assert(!object_is_go(o));
		object_put(o);
		unlink(path);
	}
}
END_TEST

START_TEST(object_says_what_a_person_would)
{
	const char *path = fixture_cc("aliases", program, "-O2");
	struct object *o = open_object(path);
	const struct sym *s = object_sym(o, "visible"), *at, *cold;

	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(s->kind, SYM_FUNC);
	ck_assert(s->global);
	at = object_func_at(o, s->addr + s->size - 1);
	ck_assert_str_eq(at->name, "visible");
	ck_assert_ptr_nonnull(func_named(o, s->addr, "__alias"));
	ck_assert_ptr_nonnull(func_named(o, s->addr, "weak_one"));

	s = object_sym(o, "hidden");
	ck_assert_ptr_nonnull(s);
	ck_assert(!s->global && !s->dynamic && !s->size_guessed);

	/* 3 bytes by its unwind entry, not the 67 up to the next. */
	s = object_sym(o, "sizeless");
	ck_assert(s->size_guessed);
	ck_assert_uint_eq(s->size, 3);
	ck_assert_ptr_null(object_func_at(o, s->addr + 3));

	ck_assert_int_eq(object_sym(o, "chosen")->kind, SYM_IFUNC);
	ck_assert_int_eq(object_sym(o, "counter")->kind, SYM_OBJECT);
	ck_assert_uint_eq(object_sym(o, "zeroed")->size, sizeof(int));
	ck_assert_ptr_null(object_sym(o, "puts"));
	ck_assert_ptr_null(object_sym(o, "no such name"));
	cold = object_sym(o, "unlikely.cold");
	ck_assert_ptr_nonnull(cold);
	ck_assert_str_eq(object_func_at(o, cold->addr)->name, "unlikely.cold");
	ck_assert_ptr_null(object_func_at(o, 0));
	ck_assert_ptr_null(object_func_at(o, UINT64_MAX));
	object_put(o);
}
END_TEST

START_TEST(object_strips_versions)
{
	struct object *o;
	const struct sym *way, *old, *fresh;

	fixture_sh("printf 'V1 { }; V2 { global: way; lib_sum; };' "
		   "> $DIR/versions");
	o = open_object(fixture_cc("libway.so", library,
	    "-O2 -shared -fPIC -Wl,--version-script,$DIR/versions"));
	old = object_sym(o, "old_way");
	fresh = object_sym(o, "new_way");
	way = object_sym(o, "way");
	ck_assert_ptr_nonnull(way);
	ck_assert(!way->old_version);
	ck_assert_ptr_nonnull(old);
	ck_assert_ptr_nonnull(fresh);
	ck_assert_uint_eq(way->addr, fresh->addr);
	ck_assert(func_named(o, old->addr, "way")->old_version);
	ck_assert(!object_is_static(o));
	ck_assert_ptr_null(object_interp(o));
	object_put(o);
}
END_TEST

/* A function that has a name with an old version, and the same name without any,
 * is not an old one, whichever of the two is met first. */
START_TEST(object_name_is_old_only_with_a_version)
{
	static const char text[] =
	    "static int near(int a) { return a * 3; }\n"
	    "int near_alias(int) __attribute__((alias(\"near\")));\n"
	    "__asm__(\".symver near_alias,near@V1\");\n"
	    "static int far(int a) { return a * 5; }\n"
	    "int far_alias(int) __attribute__((alias(\"far\")));\n"
	    "__asm__(\".symver far_alias,far@V1\");\n"
	    "int only(int a) { return a * 7; }\n"
	    "__asm__(\".symver only,only@V1\");\n";
	struct object *o;

	fixture_sh(
	    "printf 'V1 { global: far; only; local: *; };' > $DIR/versions");
	o = open_object(fixture_cc("libold.so", text,
	    "-O2 -shared -fPIC -Wl,--version-script,$DIR/versions"));
	ck_assert(!object_sym(o, "near")->old_version);
	ck_assert(!object_sym(o, "near")->global);
	ck_assert(!object_sym(o, "far")->old_version);
	ck_assert(object_sym(o, "far")->global);
	ck_assert(object_sym(o, "only")->old_version);
	object_put(o);
}
END_TEST

START_TEST(object_stripped_knows_its_dynamic_symbols)
{
	struct object *o;
	const struct sym *syms, *sum;
	size_t n;
	uint64_t start, end;

	fixture_cc("libplain.so", plain_library, "-O2 -shared -fPIC");
	fixture_sh("strip -o $DIR/libbare.so $DIR/libplain.so");
	o = open_object(fixture_path("libbare.so"));
	compare_with_nm(o, fixture_path("libbare.so"), "-D");
	sum = object_sym(o, "lib_sum");
	ck_assert(sum->dynamic);
	n = object_funcs(o, &syms);
	for (size_t i = 0; i < n; i++)
		ck_assert(syms[i].dynamic);
	ck_assert_int_eq(object_fde_range(o, sum->addr + 1, &start, &end), 0);
	ck_assert_uint_eq(start, sum->addr);
	ck_assert_uint_eq(end, sum->addr + sum->size);
	ck_assert_int_eq(object_fde_range(o, 1, &start, &end), -ENOENT);
	object_put(o);
}
END_TEST

static void
note_pad(void *ctx, uint64_t pad)
{
	*(uint64_t *)ctx = pad;
}

/* A destructor in C: the unwinder runs it. */
START_TEST(object_knows_landing_pads)
{
	static const char text[] =
	    "void work(int *); void tidy(int *p) { *p = 0; }\n"
	    "int none(int n) { return n + 1; }\n"
	    "int tidied(int n) {\n"
	    "  __attribute__((cleanup(tidy))) int k = n;\n"
	    "  work(&k); return n; }\n";
	const struct sym *none, *tidied;
	const struct fde *fdes;
	struct object *o;

	fixture_cc("libpads.so", text, "-O2 -shared -fPIC -fexceptions");
	o = open_object(fixture_path("libpads.so"));
	none = object_sym(o, "none");
	tidied = object_sym(o, "tidied");
	size_t n = object_fdes(o, &fdes), found = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t pad = 0;
		object_landing_pads(o, &fdes[i], note_pad, &pad);
		if (fdes[i].start == none->addr)
			ck_assert_uint_eq(pad, 0);
		if (fdes[i].start != tidied->addr)
			continue;
		ck_assert(object_is_text(o, pad));
		ck_assert_uint_ne(pad, tidied->addr);
		found++;
	}
	ck_assert_uint_eq(found, 1);
	ck_assert_int_eq(object_frame(o, none->addr), FRAME_BARE);
	ck_assert_int_eq(
	    object_frame(o, tidied->addr + tidied->size - 1), FRAME_LAID);
	ck_assert_int_eq(object_frame(o, 1), FRAME_UNKNOWN);
	object_put(o);
}
END_TEST

START_TEST(names_of_pieces)
{
	ck_assert(sym_is_piece("f.cold"));
	ck_assert(sym_is_piece("f.cold.0"));
	ck_assert(sym_is_piece("f.constprop.0.cold"));
	ck_assert(sym_is_piece("f.part.12.cold.345"));
	ck_assert(sym_is_piece("f.warm"));
	ck_assert(sym_is_piece("f.__part.3"));
	ck_assert(!sym_is_piece("f.part.0"));
	ck_assert(!sym_is_piece("f.cold."));
	ck_assert(!sym_is_piece("f.colder"));
	ck_assert(!sym_is_piece("f.cold.isra"));
	ck_assert(!sym_is_piece(".cold"));
	ck_assert(!sym_is_piece("cold"));
}
END_TEST

/* Without section headers the dynamic section has to do. */
START_TEST(object_without_sections_has_dynamic_symbols)
{
	struct object *o;
	Elf64_Ehdr h;
	FILE *f;
	uint64_t start, end;
	const struct sym *s;

	fixture_cc("libhead.so", plain_library, "-O2 -shared -fPIC");
	f = fopen(fixture_path("libhead.so"), "r+");
	ck_assert_uint_eq(fread(&h, sizeof(h), 1, f), 1);
	h.e_shoff = 0;
	h.e_shnum = h.e_shstrndx = 0;
	rewind(f);
	ck_assert_uint_eq(fwrite(&h, sizeof(h), 1, f), 1);
	fclose(f);
	o = open_object(fixture_path("libhead.so"));
	s = object_sym(o, "lib_sum");
	ck_assert_ptr_nonnull(s);
	ck_assert(s->dynamic);
	ck_assert_ptr_null(object_sym(o, "hidden"));
	ck_assert_int_eq(object_fde_range(o, s->addr, &start, &end), 0);
	ck_assert_uint_eq(start, s->addr);
	object_put(o);
}
END_TEST

/* Debug data split off, found by link: beside the file and in .debug. */
START_TEST(object_finds_its_debug_file_by_link)
{
	static const char *const ids[] = { "-Wl,--build-id=none",
		"-Wl,--build-id" };
	static const char *const where[] = { "", ".debug/" };

	fixture_sh("mkdir -p $DIR/split/.debug");
	for (size_t i = 0; i < 4; i++) {
		const char *to = where[i / 2], *id = ids[i % 2];
		struct object *o;

		fixture_cc("split/whole", program, "-O2 -g");
		fixture_sh("cd $DIR/split && cc -O2 -g %s -o whole whole.c && "
			   "objcopy --only-keep-debug whole %swhole.debug && "
			   "strip -o bare%zu whole && objcopy "
			   "--add-gnu-debuglink=%swhole.debug bare%zu",
		    id, to, i, to, i);
		char name[32];
		snprintf(name, sizeof(name), "split/bare%zu", i);
		o = open_object(fixture_path(name));
		ck_assert_ptr_nonnull(object_sym(o, "hidden"));
		ck_assert(!object_sym(o, "hidden")->dynamic);
		compare_with_nm(o, fixture_path("split/whole"), "");
		object_put(o);
		fixture_sh("rm -f $DIR/split/*.debug $DIR/split/.debug/*");
	}
}
END_TEST

START_TEST(object_refuses_another_build_s_debug_file)
{
	struct object *o;

	fixture_cc("mine", program, "-O2 -g -Wl,--build-id");
	fixture_sh("cd $DIR && cc -O0 -g -Wl,--build-id -DOTHER mine.c -o his"
		   " && objcopy --only-keep-debug mine mine.debug && strip mine"
		   " && objcopy --add-gnu-debuglink=mine.debug mine"
		   " && objcopy --only-keep-debug his mine.debug");
	o = open_object(fixture_path("mine"));
	ck_assert_ptr_null(object_sym(o, "hidden"));
	object_put(o);
}
END_TEST

START_TEST(object_is_one_for_one_file)
{
	const char *path = fixture_cc("same", program, "-O2 -Wl,--build-id");
	struct object *a = open_object(path), *b, *c;
	const char *why = "as it was";
	FILE *f;
	char line[256], want[256] = "";

	fixture_sh("ln $DIR/same $DIR/same-link");
	b = open_object(fixture_path("same-link"));
	ck_assert_ptr_eq(a, b);
	ck_assert_int_eq(object_open(path, path, &c, &why), 0);
	ck_assert_ptr_eq(a, c);
	ck_assert_ptr_null(why);
	object_put(c);
	ck_assert_str_eq(object_basename(a), "same");
	f = fixture_open("readelf -n %s", path);
	while (fgets(line, sizeof(line), f) != NULL)
		sscanf(line, " Build ID: %255s", want);
	pclose(f);
	ck_assert_str_eq(object_build_id(a), want);
	object_put(b);
	object_put(a);
	/* Kept for a while after the last use. */
	b = open_object(path);
	ck_assert_ptr_eq(a, b);
	/* Another file in its place is another object. */
	fixture_sh("cc -O1 -o $DIR/same $DIR/same.c");
	c = open_object(path);
	ck_assert_ptr_ne(b, c);
	ck_assert_ptr_nonnull(object_sym(b, "hidden"));
	object_put(b);
	object_put(c);
}
END_TEST

START_TEST(object_refuses_what_it_cannot_use)
{
	struct object *o;
	const char *why = NULL;
	Elf64_Ehdr h = { .e_type = ET_DYN,
		.e_machine = EM_AARCH64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr) };
	FILE *f;

	ck_assert_int_eq(object_open("/no/such/file", "x", &o, &why), -ENOENT);
	ck_assert_int_eq(object_open("/dev/null", "x", &o, &why), -ENOEXEC);
	ck_assert_int_eq(object_open("/", "x", &o, &why), -ENOEXEC);
	fixture_sh("echo not an object > $DIR/text; "
		   "yes not an object | head -c 9000 > $DIR/long-text");
	ck_assert_int_eq(
	    object_open(fixture_path("text"), "x", &o, &why), -ENOEXEC);
	ck_assert_int_eq(
	    object_open(fixture_path("long-text"), "x", &o, &why), -ENOEXEC);
	ck_assert_ptr_nonnull(why);

	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	h.e_ident[EI_VERSION] = EV_CURRENT;
	f = fopen(fixture_path("arm"), "w");
	fwrite(&h, sizeof(h), 1, f);
	fclose(f);
	ck_assert_int_eq(
	    object_open(fixture_path("arm"), "x", &o, &why), -ENOEXEC);
	ck_assert_str_eq(why, "not x86-64");
	h.e_ident[EI_CLASS] = ELFCLASS32;
	f = fopen(fixture_path("narrow"), "w");
	fwrite(&h, sizeof(h), 1, f);
	fclose(f);
	ck_assert_int_eq(
	    object_open(fixture_path("narrow"), "x", &o, &why), -ENOEXEC);
	ck_assert_str_eq(why, "32-bit");
	/* A relocatable file is not mapped by anybody. */
	fixture_cc("part.o", program, "-c");
	ck_assert_int_eq(
	    object_open(fixture_path("part.o"), "x", &o, &why), -ENOEXEC);
}
END_TEST

START_TEST(object_reads_bytes)
{
	const char *path = fixture_cc("bytes", program, "-O2 -no-pie");
	struct object *o = open_object(path);
	const struct sym *s = object_sym(o, "sizeless");
	uint8_t code[3];
	int value;

	ck_assert_int_eq(object_read(o, s->addr, code, sizeof(code)), 0);
	ck_assert_mem_eq(code, "\x90\x90\xc3", 3);
	ck_assert(object_is_text(o, s->addr));
	s = object_sym(o, "counter");
	ck_assert(!object_is_text(o, s->addr));
	ck_assert_int_eq(object_read(o, s->addr, &value, sizeof(value)), 0);
	ck_assert_int_eq(value, 3);
	/* In .bss there are no bytes of the file. */
	s = object_sym(o, "zeroed");
	ck_assert_int_eq(
	    object_read(o, s->addr, &value, sizeof(value)), -EFAULT);
	ck_assert_int_eq(object_read(o, 0, &value, sizeof(value)), -EFAULT);
	ck_assert_int_eq(
	    object_read(o, object_entry(o), &value, SIZE_MAX), -EFAULT);
	object_put(o);
}
END_TEST

/* A table as Go's linkers lay it out, in each layout, in a stripped file. */
static const char go_table[] =
    "__asm__(\".text\\n.globl _start\\n_start:\\nalpha: .fill 16,1,0x90\\n\"\n"
    "	\"beta: .fill 24,1,0x90\\n\"\n"
    "	\"omega: .section .gopclntab,\\\"a\\\"\\n.balign 8\\ntab:\\n\"\n"
    "	\".long MAGIC\\n.byte 0,0,1,8\\n\"\n"
    "#if OFFSETS < 0\n"
    "	\".quad 2\\nfuncs: .quad alpha,fa-tab,beta,fb-tab,omega\\n\"\n"
    "	\"fa: .quad alpha\\n.long na-tab\\nfb: .quad beta\\n\"\n"
    "	\".long nb-tab\\nna: .asciz \\\"main.alpha\\\"\\n\"\n"
    "	\"nb: .asciz \\\"main.(*T).beta\\\"\\n\"\n"
    "#else\n"
    "	\".quad 2,0\\n\"\n"
    "#if OFFSETS\n"
    "	\".quad _start\\n\"\n"
    "#endif\n"
    "	\".quad names-tab,0,0,0,funcs-tab\\n\"\n"
    "	\"names: .byte 0\\nna: .asciz \\\"main.alpha\\\"\\n\"\n"
    "	\"nb: .asciz \\\"main.(*T).beta\\\"\\n.balign 8\\n\"\n"
    "#if OFFSETS\n"
    "	\"funcs: .long 0,fa-funcs,16,fb-funcs,40\\n\"\n"
    "	\"fa: .long 0,na-names\\nfb: .long 16,nb-names\\n\"\n"
    "#else\n"
    "	\"funcs: .quad alpha,fa-funcs,beta,fb-funcs,omega\\n\"\n"
    "	\"fa: .quad alpha\\n.long na-names\\nfb: .quad beta\\n\"\n"
    "	\".long nb-names\\n\"\n"
    "#endif\n"
    "#endif\n"
    "	\".text\\n\");\n";

START_TEST(object_reads_the_table_of_a_stripped_go_program)
{
	static const struct {
		const char *magic;
		int offsets;
	} layouts[] = { { "0xfffffff1", 1 }, { "0xfffffff0", 1 },
		{ "0xfffffffa", 0 }, { "0xfffffffb", -1 } };

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		char text[4096];
		struct object *o;
		const struct sym *a, *b, *all;
		/* The assembler's text takes no macros. */
		const char *magic = strstr(go_table, "MAGIC");

		snprintf(text, sizeof(text), "#define OFFSETS %d\n%.*s%s%s",
		    layouts[i].offsets, (int)(magic - go_table), go_table,
		    layouts[i].magic, magic + 5);
		o = open_object(fixture_cc(
		    "go", text, "-nostdlib -static -s -Wl,--build-id=none"));
		ck_assert(object_is_go(o));
		ck_assert_uint_eq(object_funcs(o, &all), 2);
		a = object_sym(o, "main.alpha");
		b = object_sym(o, "main.(*T).beta");
		ck_assert_ptr_nonnull(a);
		ck_assert_ptr_nonnull(b);
		ck_assert_uint_eq(a->addr, object_entry(o));
		ck_assert_uint_eq(a->size, 16);
		ck_assert_uint_eq(b->addr, a->addr + 16);
		ck_assert_uint_eq(b->size, 24);
		ck_assert_ptr_eq(object_func_at(o, b->addr + 23), b);
		ck_assert_ptr_null(object_func_at(o, b->addr + 24));
		object_put(o);
		unlink(fixture_path("go"));
	}
}
END_TEST

/* Where a function has moved its stack pointer to, up to the padding behind it;
 * of the second function the table does not say it. */
static const char go_stack[] =
    "__asm__(\".text\\n.globl _start\\n_start: .fill 24,1,0x90\\n\"\n"
    "	\".section .gopclntab,\\\"a\\\"\\n.balign 8\\ntab:\\n\"\n"
    "	\".long 0xfffffff1\\n.byte 0,0,1,8\\n.quad 2,0,_start\\n\"\n"
    "	\".quad names-tab,0,0,pcs-tab,funcs-tab\\n\"\n"
    "	\"names: .byte 0\\nna: .asciz \\\"main.a\\\"\\n\"\n"
    "	\"nb: .asciz \\\"main.b\\\"\\npcs: .byte 0,2,4,16,8,0\\n\"\n"
    "	\".balign 8\\nfuncs: .long 0,fa-funcs,16,fb-funcs,24\\n\"\n"
    "	\"fa: .long 0,na-names,0,0,1,0,0,0,0,0,0\\n\"\n"
    "	\"fb: .long 16,nb-names,0,0,0,0,0,0,0,0,0\\n.text\\n\");\n";

START_TEST(object_knows_the_stack_of_a_go_function)
{
	static const struct {
		unsigned at;
		int size;
	} want[] = { { 0, 0 }, { 3, 0 }, { 4, 8 }, { 11, 8 }, { 12, -1 },
		{ 16, -1 } };
	struct object *o = open_object(fixture_cc(
	    "gostack", go_stack, "-nostdlib -static -s -Wl,--build-id=none"));
	uint64_t at = object_entry(o), size = 77;

	ck_assert_uint_eq(object_sym(o, "main.a")->size, 12);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		ck_assert_int_eq(gosym_frame(o, at + want[i].at, &size),
		    want[i].size < 0 ? -ENOENT : 0);
		if (want[i].size >= 0)
			ck_assert_uint_eq(size, want[i].size);
	}
	object_put(o);
}
END_TEST

static void
count_slot(void *ctx, uint64_t slot)
{
	ck_assert_uint_ne(slot, 0);
	++*(int *)ctx;
}

START_TEST(object_knows_the_slots_of_a_function)
{
	struct object *o;
	int n = 0;

	o = open_object(fixture_cc("slots", program, "-O2"));
	object_got_slots(o, "puts", 0, count_slot, &n);
	ck_assert_int_eq(n, 1);
	n = 0;
	object_got_slots(o, "put", 0, count_slot, &n);
	ck_assert_int_eq(n, 0);
	n = 0;
	object_got_slots(
	    o, "chosen", object_sym(o, "chosen")->addr, count_slot, &n);
	ck_assert_int_eq(n, 1);
	object_put(o);
}
END_TEST

/* Bytes of an object changed one place at a time: an answer or an error. */
START_TEST(object_survives_damage)
{
	const char *path = fixture_cc("victim", program, "-O2 -g");
	FILE *f = fopen(path, "r");
	static uint8_t whole[1 << 20], bytes[1 << 20];
	size_t size = fread(whole, 1, sizeof(whole), f);
	uint32_t seed = 12345;

	fclose(f);
	for (int round = 0; round < 400; round++) {
		struct object *o;
		const struct sym *syms;
		uint64_t a, b;
		size_t n = size;

		memcpy(bytes, whole, size);
		for (int k = 0; k < 8; k++) {
			seed = seed * 1103515245 + 12345;
			/* Half of the damage to headers, which are read. */
			size_t at = seed >> 4;
			at = k & 1 ? at % size :
			    k & 2  ? at % 1024 :
				     size - 1 - at % 3000;
			bytes[at] = (uint8_t)(seed >> 20);
		}
		if (round % 4 == 0)
			n = seed % size;
		if (object_open_image(bytes, n, "victim", &o) != 0)
			continue;
		size_t count = object_funcs(o, &syms);
		for (size_t i = 0; i < count; i++)
			object_func_at(o, syms[i].addr);
		object_sym(o, "main");
		object_fde_range(o, object_entry(o), &a, &b);
		int slots = 0;
		object_got_slots(o, "puts", 0x1234, count_slot, &slots);
		object_put(o);
	}
}
END_TEST

START_TEST(demangle_knows_three_languages)
{
	static const struct {
		const char *name, *text;
	} rows[] = {
		{ "main", "main" },
		{ "_Z3addii", "add(int, int)" },
		{ "_ZN5space5thing3runEv", "space::thing::run()" },
		{ "_ZN4core3fmt5write17h0123456789abcdefE",
		    "core::fmt::write" },
		{ "_RNvC5crate4main", "crate::main" },
		{ "_D3mod3addFiiZi", "mod.add(int, int)" },
		{ "_Zwhatever", "_Zwhatever" },
		{ "_RC0", "_RC0" },
		{ "", "" },
	};
	char buf[256];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_str_eq(
		    demangle(rows[i].name, buf, sizeof(buf)), rows[i].text);
	ck_assert_str_eq(demangle("_Z3addii", buf, 4), "add");
}
END_TEST

static void
number(char *name, unsigned n, unsigned base, const char *digits)
{
	if (n >= base)
		number(name, n / base, base, digits);
	const char last[] = { digits[n % base], '\0' };
	strcat(name, last);
}

/* A reference of C++ ("S1_") or of Rust ("B1_") to its nth place. */
static void
refer(char *name, const char *to, unsigned n, unsigned base)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
			  upper[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	strcat(name, to);
	if (n > 0)
		number(name, n - 1, base, base == 36 ? upper : digits);
	strcat(name, "_");
}

static void
repeat(char *name, const char *what, unsigned times)
{
	while (times-- > 0)
		strcat(name, what);
}

/* Types of which each has the one before it twice: as many levels as this
 * would take for ever, or all memory. */
#define LEVELS 60

/* Behind `begin': p<p<p<A, A>, p<A, A> >, ...>. */
static void
doubled_cxx(char *name, const char *begin, unsigned levels)
{
	strcpy(name, begin);
	strcat(name, "1pI");
	repeat(name, "S_I", levels - 1);
	strcat(name, "1AS0_E");
	for (unsigned i = 2; i <= levels; i++) {
		refer(name, "S", i, 36);
		strcat(name, "E");
	}
}

/* _R's positions begin behind it. */
static void
doubled_rust(char *name, const char *begin, unsigned levels)
{
	strcpy(name, begin);
	unsigned first = (unsigned)strlen(name) - 2;
	repeat(name, "T", levels);
	strcat(name, "mmE");
	for (unsigned i = levels - 1; i > 0; i--) {
		refer(name, "B", first + i, 62);
		strcat(name, "E");
	}
	strcat(name, "E");
}

static void
doubled_d(char *name, unsigned levels)
{
	strcpy(name, "_D1fFS4abcd");
	repeat(name, "B2QiQk", levels);
	strcat(name, "Zv");
}

START_TEST(demangle_is_bounded)
{
	char name[2048], buf[2048];

	doubled_cxx(name, "_Z1f", 2);
	ck_assert_str_eq(
	    demangle(name, buf, sizeof(buf)), "f(p<p<A, A>, p<A, A> >)");
	doubled_cxx(name, "_Z1f", LEVELS);
	ck_assert_str_eq(demangle(name, buf, sizeof(buf)), name);
	doubled_cxx(name, "_Z1fDp", 2);
	ck_assert_str_eq(
	    demangle(name, buf, sizeof(buf)), "f((p<p<A, A>, p<A, A> >)...)");
	/* A pack is looked for in it before anything is written. */
	doubled_cxx(name, "_Z1fDp", LEVELS);
	ck_assert_str_eq(demangle(name, buf, sizeof(buf)), name);
	doubled_cxx(name, "_GLOBAL__I__Z1fDp", LEVELS);
	ck_assert_str_eq(demangle(name, buf, sizeof(buf)), name);

	doubled_rust(name, "_RINvC1a1f", 2);
	ck_assert_str_eq(demangle(name, buf, sizeof(buf)),
	    "a::f::<((u32, u32), (u32, u32))>");
	doubled_rust(name, "_RINvC1a1f", LEVELS);
	demangle(name, buf, sizeof(buf));
	ck_assert_uint_eq(strlen(buf), sizeof(buf) - 1);
	ck_assert_int_eq(strncmp(buf, "a::f::<((((", 11), 0);

	/* One that is not ASCII is cut where there is room for no more of it. */
	ck_assert_str_eq(demangle("_RNvC1au8gdel_5qa", buf, 7), "a::g\303\266");
	doubled_rust(name, "_RINvCu8gdel_5qa1f", 2);
	ck_assert_str_eq(demangle(name, buf, sizeof(buf)),
	    "g\303\266del::f::<((u32, u32), (u32, u32))>");
	doubled_rust(name, "_RINvCu8gdel_5qa1f", LEVELS);
	ck_assert_str_eq(demangle(name, buf, sizeof(buf)), name);

	doubled_d(name, 1);
	ck_assert_str_eq(
	    demangle(name, buf, sizeof(buf)), "f(abcd, Tuple!(abcd, abcd))");
	doubled_d(name, LEVELS);
	ck_assert_str_eq(demangle(name, buf, sizeof(buf)), name);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("symbols/object");
	TCase *tc = tcase_create("object");
	SRunner *r = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, object_lists_what_nm_lists);
	tcase_add_test(tc, object_says_what_a_person_would);
	tcase_add_test(tc, object_strips_versions);
	tcase_add_test(tc, object_name_is_old_only_with_a_version);
	tcase_add_test(tc, object_stripped_knows_its_dynamic_symbols);
	tcase_add_test(tc, object_knows_landing_pads);
	tcase_add_test(tc, names_of_pieces);
	tcase_add_test(tc, object_without_sections_has_dynamic_symbols);
	tcase_add_test(tc, object_finds_its_debug_file_by_link);
	tcase_add_test(tc, object_refuses_another_build_s_debug_file);
	tcase_add_test(tc, object_is_one_for_one_file);
	tcase_add_test(tc, object_refuses_what_it_cannot_use);
	tcase_add_test(tc, object_reads_bytes);
	tcase_add_test(tc, object_reads_the_table_of_a_stripped_go_program);
	tcase_add_test(tc, object_knows_the_stack_of_a_go_function);
	tcase_add_test(tc, object_knows_the_slots_of_a_function);
	tcase_add_test(tc, object_survives_damage);
	tcase_add_test(tc, demangle_knows_three_languages);
	tcase_add_test(tc, demangle_is_bounded);
	fixture_setup();
	srunner_run_all(r, CK_NORMAL);
	fixture_teardown();
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
