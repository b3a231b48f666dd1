/*
 * symbols/elf/sdt: the notes of static probes in files that the assembler makes,
 * good ones and others.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/str.h"
#include "symbols/object.h"
#include "symbols/sdt.h"
#include "t/fake/fixture.h"

static struct object *
open_object(const char *path)
{
	struct object *o;
	const char *why = "";
	int err = object_open(path, path, &o, &why);

	ck_assert_msg(err == 0, "%s: %d %s", path, err, why);
	return o;
}

/* A program whose note section holds `notes', assembler text between quotes;
 * begin, here and there are places in its text, counter one in its data. */
static struct object *
with_notes(const char *notes)
{
	struct str text = { 0 };

	str_printf(&text,
	    "__asm__(\".text\\n.globl begin\\nbegin: nop\\nhere: nop\\n"
	    "there: nop\\nret\\n"
	    ".data\\n.globl counter\\ncounter: .quad 0\\n"
	    ".macro note where, base=0, semaphore=0, type=3\\n"
	    ".balign 4\\n.long 8, 991f-990f, \\\\type\\n"
	    ".asciz \\\"stapsdt\\\"\\n990:\\n"
	    ".quad \\\\where, \\\\base, \\\\semaphore\\n.endm\\n"
	    ".section .note.stapsdt,\\\"\\\",\\\"note\\\"\\n%s\\n"
	    ".text\\n\");\n"
	    "int main(void) { return 0; }\n",
	    notes);
	struct object *o = open_object(
	    fixture_cc("notes", str_c(&text), "-O1 -no-pie -fno-pie"));
	str_fini(&text);
	return o;
}

#define END "991: .balign 4\\n"
#define GOOD(where, name)                                         \
	"note " where "\\n.asciz \\\"prov\\\"\\n.asciz \\\"" name \
	"\\\"\\n.asciz \\\"8@%rdi\\\"\\n" END

/* The names of all, with blanks between. */
static const char *
names(struct object *o)
{
	static char text[200];
	const struct sdt_note *notes;
	size_t n = object_sdt_notes(o, &notes);

	text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		strcat(text, i > 0 ? " " : "");
		strcat(text, notes[i].name);
	}
	return text;
}

START_TEST(what_a_note_says)
{
	struct object *o = with_notes(
	    "note here, 0, counter\\n"
	    ".asciz \\\"my__prov\\\"\\n"
	    ".asciz \\\"my__name\\\"\\n"
	    ".asciz \\\"-4@%eax 8@(%rsp)\\\"\\n" END GOOD("there", "second"));
	const struct sdt_note *n;

	ck_assert_uint_eq(object_sdt_notes(o, &n), 2);
	uint64_t begin = object_sym(o, "begin")->addr;
	ck_assert_str_eq(n[0].provider, "my__prov");
	ck_assert_str_eq(n[0].name, "my__name");
	ck_assert_str_eq(n[0].args, "-4@%eax 8@(%rsp)");
	ck_assert_uint_eq(n[0].pc, begin + 1);
	ck_assert(object_is_data(o, n[0].semaphore, 8));
	ck_assert_str_eq(n[1].name, "second");
	ck_assert_uint_eq(n[1].pc, begin + 2);
	ck_assert_uint_eq(n[1].semaphore, 0);
	/* They are read once. */
	const struct sdt_note *again;
	ck_assert_uint_eq(object_sdt_notes(o, &again), 2);
	ck_assert_ptr_eq(again, n);
	object_put(o);
}
END_TEST

START_TEST(a_program_without_notes)
{
	struct object *o = open_object(
	    fixture_cc("plain", "int main(void) { return 0; }\n", "-O1"));
	const struct sdt_note *n;

	ck_assert_uint_eq(object_sdt_notes(o, &n), 0);
	object_put(o);
}
END_TEST

/* The others are read all the same. */
START_TEST(notes_that_mean_nothing)
{
	static const char *const bad[] = {
		/* of another kind */
		"note here, 0, 0, 4\\n.asciz \\\"p\\\"\\n.asciz \\\"n\\\"\\n"
		".asciz \\\"\\\"\\n" END,
		/* of somebody else */
		".long 8, 991f-990f, 3\\n.asciz \\\"stapsdX\\\"\\n990:\\n"
		".quad here, 0, 0\\n.asciz \\\"p\\\"\\n.asciz \\\"n\\\"\\n"
		".asciz \\\"\\\"\\n" END,
		".long 4, 991f-990f, 3\\n.asciz \\\"GNU\\\"\\n990:\\n"
		".quad here, 0, 0\\n.asciz \\\"p\\\"\\n.asciz \\\"n\\\"\\n"
		".asciz \\\"\\\"\\n" END,
		/* without a name, a provider, a last string, any string */
		"note here\\n.asciz \\\"p\\\"\\n.asciz \\\"\\\"\\n"
		".asciz \\\"\\\"\\n" END,
		"note here\\n.asciz \\\"\\\"\\n.asciz \\\"n\\\"\\n"
		".asciz \\\"\\\"\\n" END,
		"note here\\n.asciz \\\"p\\\"\\n.asciz \\\"n\\\"\\n"
		".ascii \\\"8@%rdi!!\\\"\\n" END,
		"note here\\n" END,
		/* too short for the addresses */
		".long 8, 991f-990f, 3\\n.asciz \\\"stapsdt\\\"\\n990:\\n"
		".quad here, 0\\n" END,
		/* not in the text */
		"note counter\\n.asciz \\\"p\\\"\\n.asciz \\\"n\\\"\\n"
		".asciz \\\"\\\"\\n" END,
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct str text = { 0 };
		str_add(&text, GOOD("here", "first"));
		str_add(&text, bad[i]);
		str_add(&text, GOOD("there", "last"));
		struct object *o = with_notes(str_c(&text));
		ck_assert_msg(strcmp(names(o), "first last") == 0, "%zu: %s", i,
		    names(o));
		object_put(o);
		str_fini(&text);
	}
}
END_TEST

/* One that says it is longer than its section: what is before it is good. */
START_TEST(a_note_that_is_cut_off)
{
	struct object *o = with_notes(GOOD(
	    "here", "first") ".long 8, 400, 3\\n"
			     ".asciz \\\"stapsdt\\\"\\n.quad there, 0, 0\\n"
			     ".asciz \\\"p\\\"\\n.asciz \\\"n\\\"\\n"
			     ".asciz \\\"\\\"\\n");

	ck_assert_str_eq(names(o), "first");
	object_put(o);
	/* Less than a header. */
	o = with_notes(GOOD("here", "first") ".long 8, 0\\n");
	ck_assert_str_eq(names(o), "first");
	object_put(o);
}
END_TEST

/* Addresses were changed after linking (prelink): the section .stapsdt.base tells
 * by how much. */
START_TEST(addresses_that_were_changed)
{
	struct object *o = with_notes(
	    "note here-0x100, moved-0x100, counter-0x100\\n"
	    ".asciz \\\"p\\\"\\n.asciz \\\"n\\\"\\n.asciz \\\"\\\"\\n" END
	    ".section .stapsdt.base,\\\"aG\\\",\\\"progbits\\\","
	    ".stapsdt.base,comdat\\nmoved: .space 1\\n");
	const struct sdt_note *n;

	ck_assert_uint_eq(object_sdt_notes(o, &n), 1);
	ck_assert_uint_eq(n[0].pc, object_sym(o, "begin")->addr + 1);
	ck_assert(object_is_data(o, n[0].semaphore, 8));
	object_put(o);
	/* A note that has no such place is taken as it is. */
	o = with_notes(GOOD("here",
	    "plain") ".section .stapsdt.base,\\\"aG\\\",\\\"progbits\\\","
		     ".stapsdt.base,comdat\\nmoved: .space 1\\n");
	ck_assert_uint_eq(object_sdt_notes(o, &n), 1);
	ck_assert_uint_eq(n[0].pc, object_sym(o, "begin")->addr + 1);
	object_put(o);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		what_a_note_says,
		a_program_without_notes,
		notes_that_mean_nothing,
		a_note_that_is_cut_off,
		addresses_that_were_changed,
	};
	Suite *s = suite_create("sdt_notes");
	TCase *tc = tcase_create("sdt_notes");

	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	SRunner *r = srunner_create(s);
	fixture_setup();
	srunner_run_all(r, CK_ENV);
	fixture_teardown();
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
