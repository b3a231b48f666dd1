/*
 * symbols/elffile: tables of a file that do not lie where their type would.
 * The format asks for aligned tables, but who reads other people's files must
 * not depend on it.
 */
#include <check.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/mem.h"
#include "symbols/elf/parts.h"
#include "t/fake/fixture.h"

static const char program[] =
    "#include <string.h>\n"
    "static int __attribute__((noinline)) hidden(int x) { return x * 7; }\n"
    "int visible(int x) { return hidden(x) + 1; }\n"
    "int main(int argc, char **argv) {\n"
    "	char to[64];\n"
    "	memcpy(to, argv[0], (size_t)argc);\n"
    "	return visible(argc) + to[0] == 1; }\n";

struct image {
	uint8_t *at;
	size_t size;
};

static struct image
image_read(const char *path)
{
	struct image im = { 0 };
	FILE *f = fopen(path, "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
	im.size = (size_t)ftell(f);
	rewind(f);
	im.at = mem_alloc(im.size);
	ck_assert_uint_eq(fread(im.at, im.size, 1, f), 1);
	fclose(f);
	return im;
}

/* A copy of some bytes of the image at its end, at an odd offset. */
static uint64_t
image_copy_odd(struct image *im, uint64_t off, uint64_t len)
{
	size_t to = im->size | 1;

	im->at = mem_realloc(im->at, to + len);
	memset(im->at + im->size, 0, to - im->size);
	memcpy(im->at + to, im->at + off, len);
	im->size = to + len;
	return to;
}

/* Everything that is an array moves to an odd place, and last the headers. */
static void
image_make_odd(struct image *im)
{
	Elf64_Ehdr h;
	Elf64_Shdr sh;

	memcpy(&h, im->at, sizeof(h));
	for (size_t i = 0; i < h.e_shnum; i++) {
		uint64_t at = h.e_shoff + i * sizeof(sh);

		memcpy(&sh, im->at + at, sizeof(sh));
		if (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM &&
		    sh.sh_type != SHT_RELA && sh.sh_type != SHT_GNU_versym)
			continue;
		sh.sh_offset = image_copy_odd(im, sh.sh_offset, sh.sh_size);
		memcpy(im->at + at, &sh, sizeof(sh));
	}
	h.e_shoff = image_copy_odd(im, h.e_shoff, h.e_shnum * sizeof(sh));
	h.e_phoff =
	    image_copy_odd(im, h.e_phoff, h.e_phnum * sizeof(Elf64_Phdr));
	memcpy(im->at, &h, sizeof(h));
}

static void
sum_slot(void *ctx, uint64_t slot)
{
	*(uint64_t *)ctx += slot;
}

static void
compare(struct object *a, struct object *b)
{
	const struct sym *sa, *sb;
	size_t n = object_funcs(a, &sa);
	uint64_t slots_a = 0, slots_b = 0;

	ck_assert_uint_gt(n, 4);
	ck_assert_uint_eq(object_funcs(b, &sb), n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_str_eq(sa[i].name, sb[i].name);
		ck_assert_uint_eq(sa[i].addr, sb[i].addr);
		ck_assert_uint_eq(sa[i].size, sb[i].size);
	}
	ck_assert_str_eq(object_interp(a), object_interp(b));
	ck_assert_int_eq(object_is_pie(a), object_is_pie(b));
	object_got_slots(a, "memcpy", 0, sum_slot, &slots_a);
	object_got_slots(b, "memcpy", 0, sum_slot, &slots_b);
	ck_assert_uint_ne(slots_a, 0);
	ck_assert_uint_eq(slots_a, slots_b);
}

START_TEST(tables_may_lie_at_odd_offsets)
{
	const char *path = fixture_cc("odd", program, "-O0 -fno-builtin");
	struct image im = image_read(path);
	struct object *even, *odd;

	ck_assert_int_eq(object_open_image(im.at, im.size, "even", &even), 0);
	image_make_odd(&im);
	ck_assert_int_eq(object_open_image(im.at, im.size, "odd", &odd), 0);
	compare(even, odd);
	object_put(even);
	object_put(odd);
	mem_free(im.at);
}
END_TEST

/* The same with no sections: the dynamic section says where the rest is. */
START_TEST(headers_may_lie_at_odd_offsets_without_sections)
{
	const char *path =
	    fixture_cc("dyn", program, "-O0 -fno-builtin -rdynamic");
	struct image im = image_read(path);
	struct object *o;
	uint64_t start, end;
	const struct sym *s;
	Elf64_Ehdr h;

	image_make_odd(&im);
	memcpy(&h, im.at, sizeof(h));
	h.e_shoff = 0;
	h.e_shnum = h.e_shstrndx = 0;
	memcpy(im.at, &h, sizeof(h));
	ck_assert_int_eq(object_open_image(im.at, im.size, "dyn", &o), 0);
	s = object_sym(o, "visible");
	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(object_fde_range(o, s->addr, &start, &end), 0);
	ck_assert_uint_eq(start, s->addr);
	object_put(o);
	mem_free(im.at);
}
END_TEST

/* ---- unwind entries that no compiler writes ---- */

static const char frames[] =
    "#ifdef DEBUG\n__asm__(\".cfi_sections .debug_frame\");\n#endif\n"
    "#ifndef ODD\n#define ODD\n#endif\n"
    "#define TEN(x) x x x x x x x x x x\n"
    "int f(int x) { __asm__ volatile(\"nop\\n\" ODD \"nop\\n\");\n"
    "	return x; }\n"
    "int main(void) { return f(0); }\n";

/* Is there a row for a place in f()? */
static bool
has_row(struct object *o)
{
	const struct sym *s = object_sym(o, "f");

	ck_assert_ptr_nonnull(s);
	return cfi_row(o, s->addr + s->size - 1) != NULL;
}

static bool
has_row_with(const char *odd, const char *options)
{
	char *args =
	    mem_printf("-O1 -fcf-protection=none -DODD='%s' %s", odd, options);
	const char *path = fixture_cc("frames", frames, args), *why;
	struct object *o;

	ck_assert_int_eq(object_open(path, path, &o, &why), 0);
	bool has = has_row(o);
	object_put(o);
	mem_free(args);
	return has;
}

/* Each register that libdw is told of it makes room for. */
START_TEST(unwind_entries_name_registers_that_there_are)
{
	static const char *const ways[] = { "", "-DDEBUG" };
	const char *options = ways[_i];

	ck_assert(has_row_with("\"\"", options));
	ck_assert(has_row_with("\".cfi_undefined 130\\n\"", options));
	ck_assert(has_row_with(
	    "\".cfi_remember_state\\n .cfi_restore_state\\n\"", options));
	/* Number 50331647; the same with an expression. */
	ck_assert(!has_row_with(
	    "\".cfi_escape 0x07,0xff,0xff,0xff,0x17\\n\"", options));
	ck_assert(!has_row_with(
	    "\".cfi_escape 0x10,0xff,0xff,0xff,0x17,1,0x77\\n\"", options));
	/* A hundred saved states; an instruction that there is not. */
	ck_assert(!has_row_with("TEN(TEN(\".cfi_escape 0x0a\\n\"))", options));
	ck_assert(!has_row_with("\".cfi_escape 0x3f\\n\"", options));
}
END_TEST

/* The offset of a section in an image. */
static uint64_t
section_offset(const struct image *im, const char *name)
{
	const Elf64_Ehdr *h = (const void *)im->at;
	const Elf64_Shdr *sh = (const void *)(im->at + h->e_shoff);
	const char *names = (const char *)im->at + sh[h->e_shstrndx].sh_offset;

	for (unsigned i = 0; i < h->e_shnum; i++)
		if (strcmp(names + sh[i].sh_name, name) == 0)
			return sh[i].sh_offset;
	ck_abort_msg("no %s", name);
	return 0;
}

static bool
image_has_row(const struct image *im)
{
	struct object *o;

	ck_assert_int_eq(object_open_image(im->at, im->size, "image", &o), 0);
	bool has = has_row(o);
	object_put(o);
	return has;
}

/* Nor may the table of entries lead into the middle of one; with section
 * headers, and with the program's alone. */
START_TEST(the_table_of_unwind_entries_leads_to_entries)
{
	struct image im = image_read(
	    fixture_cc("frames", frames, "-O1 -fcf-protection=none -rdynamic"));
	/* Behind 12 bytes: a pair of four bytes each for every entry. */
	uint64_t table = section_offset(&im, ".eh_frame_hdr") + 12;
	int32_t place;

	if (_i == 1) {
		Elf64_Ehdr *h = (void *)im.at;
		h->e_shoff = 0;
		h->e_shnum = h->e_shstrndx = 0;
	}
	ck_assert(image_has_row(&im));
	memcpy(&place, im.at + table + 4, sizeof(place));
	place += 4;
	memcpy(im.at + table + 4, &place, sizeof(place));
	ck_assert(!image_has_row(&im));
	mem_free(im.at);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("symbols/elffile");
	TCase *tc = tcase_create("elffile");
	SRunner *r = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, tables_may_lie_at_odd_offsets);
	tcase_add_test(tc, headers_may_lie_at_odd_offsets_without_sections);
	tcase_add_loop_test(
	    tc, unwind_entries_name_registers_that_there_are, 0, 2);
	tcase_add_loop_test(
	    tc, the_table_of_unwind_entries_leads_to_entries, 0, 2);
	fixture_setup();
	srunner_run_all(r, CK_NORMAL);
	fixture_teardown();
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
