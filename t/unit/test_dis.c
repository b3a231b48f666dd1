/*
 * dlang/dis.c: the text of -S.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/base.h"
#include "t/fake/env.h"

static struct kit k;

static void
setup(void)
{
	kit_init(&k);
}

static void
teardown(void)
{
	kit_fini(&k);
}

/* The disassembly without its first line, which names an address. */
static char *
dis(const struct difo *d, char **whole)
{
	size_t size;
	FILE *f = open_memstream(whole, &size);

	dis_difo(f, d);
	fclose(f);
	ck_assert_int_eq((*whole)[0], '\n');
	return strchr(*whole + 1, '\n') + 1;
}

START_TEST(a_predicate)
{
	static const uint64_t ints[] = { 0xa, 1 };
	struct difo_var v = { .name = "x",
		.id = 0x500,
		.kind = DIF_SCALAR,
		.scope = DIF_GLOBAL,
		.read = true,
		.type = { DIF_TYPE_CTF, CTF_INTEGER, 0, 1, 4 } };
	struct difo *d = kit_difo(&k,
	    KIT_TEXT(DIF_INSTR_INDEX(DIF_OP_LDGS, 0x500, 1),
		DIF_INSTR_INDEX(DIF_OP_SETX, 0, 2),
		DIF_INSTR(DIF_OP_CMP, 1, 2, 0), DIF_INSTR_BRANCH(DIF_OP_BE, 6),
		DIF_INSTR(DIF_OP_MOV, 0, 0, 1), DIF_INSTR_BRANCH(DIF_OP_BA, 7),
		DIF_INSTR_INDEX(DIF_OP_SETX, 1, 1),
		DIF_INSTR(DIF_OP_RET, 0, 0, 1)),
	    ints, 2, NULL, 0);
	char *whole, head[64];

	d->vars = &v;
	d->nvars = 1;
	d->rtype.size = 4;
	ck_assert_str_eq(dis(d, &whole),
	    "OFF OPCODE      INSTRUCTION\n"
	    "00: 29050001    ldgs DT_VAR(1280), %r1\t\t! DT_VAR(1280) = \"x\"\n"
	    "01: 25000002    setx DT_INTEGER[0], %r2\t\t! 0xa\n"
	    "02: 0f010200    cmp  %r1, %r2\n"
	    "03: 12000006    be   6\n"
	    "04: 0e000001    mov  %r0, %r1\n"
	    "05: 11000007    ba   7\n"
	    "06: 25000101    setx DT_INTEGER[1], %r1\t\t! 0x1\n"
	    "07: 23000001    ret  %r1\n"
	    "\n"
	    "NAME             ID   KND SCP FLAG TYPE\n"
	    "x                1280 scl glb r    D type (integer) (size 4)\n");
	snprintf(head, sizeof(head),
	    "\nDIFO %p returns D type (integer) (size 4)\n", (void *)d);
	ck_assert(strncmp(whole, head, strlen(head)) == 0);
	free(whole);
}
END_TEST

START_TEST(every_form)
{
	struct difo_var vars[] = {
		{ "self_a", 0x501, DIF_ARRAY, DIF_THREAD, true, true,
		    { DIF_TYPE_STRING, CTF_UNKNOWN, DIF_BY_REF, 0, 256 } },
		{ "t", 0x501, DIF_SCALAR, DIF_LOCAL, false, true,
		    { DIF_TYPE_CTF, CTF_POINTER, 0, 0, 8 } },
		{ "uregs", 2, DIF_ARRAY, DIF_GLOBAL, true, false,
		    { DIF_TYPE_CTF, CTF_STRUCT, DIF_BY_USERREF, 0, 24 } },
	};
	struct difo *d = kit_difo(&k,
	    KIT_TEXT(DIF_INSTR(DIF_OP_ADD, 1, 2, 3),
		DIF_INSTR(DIF_OP_NOT, 1, 0, 2), DIF_INSTR(DIF_OP_TST, 1, 0, 0),
		DIF_INSTR(DIF_OP_ULDSB, 1, 0, 2),
		DIF_INSTR(DIF_OP_STX, 1, 0, 2),
		DIF_INSTR(DIF_OP_FLUSHTS, 0, 0, 0),
		DIF_INSTR_INDEX(DIF_OP_SETS, 1, 4),
		DIF_INSTR(DIF_OP_PUSHTR, 1, 2, 3),
		DIF_INSTR(DIF_OP_PUSHTV, 0, 0, 3),
		DIF_INSTR_INDEX(DIF_OP_STTAA, 0x501, 3),
		DIF_INSTR_INDEX(DIF_OP_STLS, 0x501, 3),
		DIF_INSTR_INDEX(DIF_OP_LDGS, 0x501, 3),
		DIF_INSTR(DIF_OP_LDGA, 2, 1, 3),
		DIF_INSTR_INDEX(DIF_OP_CALL, DIF_SUBR_STRTOK, 2),
		DIF_INSTR(DIF_OP_ALLOCS, 1, 0, 2),
		DIF_INSTR(DIF_OP_COPYS, 1, 2, 3),
		DIF_INSTR_INDEX(DIF_OP_SETX, 9, 1),
		DIF_INSTR_INDEX(DIF_OP_SETS, 9, 1), DIF_INSTR(200, 1, 2, 3), 0),
	    NULL, 0, "\0hey", 5);
	char *whole;

	d->vars = vars;
	d->nvars = ARRAY_SIZE(vars);
	d->rtype = vars[0].type;
	ck_assert_str_eq(dis(d, &whole),
	    "OFF OPCODE      INSTRUCTION\n"
	    "00: 07010203    add  %r1, %r2, %r3\n"
	    "01: 0d010002    not  %r1, %r2\n"
	    "02: 10010000    tst  %r1\n"
	    "03: 40010002    uldsb [%r1], %r2\n"
	    "04: 3f010002    stx  %r1, [%r2]\n"
	    "05: 33000000    flushts\n"
	    "06: 26000104    sets DT_STRING[1], %r4\t\t! \"hey\"\n"
	    "07: 30010203    pushtr DT_TYPE(1), %r2, %r3\t\t! DT_TYPE(1) = string\n"
	    "08: 31000003    pushtv DT_TYPE(0), %r3\t\t! DT_TYPE(0) = D type\n"
	    "09: 37050103    sttaa %r3, DT_VAR(1281)\t\t! DT_VAR(1281) = \"self_a\"\n"
	    "10: 39050103    stls %r3, DT_VAR(1281)\t\t! DT_VAR(1281) = \"t\"\n"
	    "11: 29050103    ldgs DT_VAR(1281), %r3\n"
	    "12: 28020103    ldga DT_VAR(2), %r1, %r3\t\t! DT_VAR(2) = \"uregs\"\n"
	    "13: 2f001f02    call DIF_SUBR(31), %r2\t\t! strtok\n"
	    "14: 3a010002    allocs %r1, %r2\n"
	    "15: 3b010203    copys %r1, %r2, %r3\n"
	    "16: 25000901    setx DT_INTEGER[9], %r1\n"
	    "17: 26000901    sets DT_STRING[9], %r1\n"
	    "18: c8010203    (illegal opcode)\n"
	    "19: 00000000    (illegal opcode)\n"
	    "\n"
	    "NAME             ID   KND SCP FLAG TYPE\n"
	    "self_a           1281 arr tls r/w  string (unknown) by ref (size 256)\n"
	    "t                1281 scl loc w    D type (pointer) (size 8)\n"
	    "uregs            2    arr glb r    D type (struct) by user ref (size 24)\n");
	ck_assert_ptr_nonnull(
	    strstr(whole, " returns string (unknown) by ref (size 256)\n"));
	free(whole);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("dis");
	TCase *tc = tcase_create("dis");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_predicate);
	tcase_add_test(tc, every_form);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
