/*
 * symbols/funcname: what functions are shown as, and what else they answer to.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/base/base.h"
#include "symbols/object.h"
#include "t/fake/fixture.h"

/* Each F() is a function of that name, SAME() another name of the last. */
static const char functions[] =
    "#define KIND(name) .type name, @function\n"
    "#define F(name) KIND(name); name: nop; ret; .size name, 2\n"
    "#define SAME(name, of) KIND(name); .set name, of; .size name, 2\n"
    ".text\n"
    "F(lonely.constprop.0.isra.1)\n"
    "F(size)\n"
    "F(size.constprop.0)\n"
    "F(twin.isra.0)\n"
    "F(twin.lto_priv.12)\n"
    "F(work.part.0)\n"
    "F(linked.llvm.1234567890)\n"
    "F(isra.0)\n"
    "F(odd.isra)\n"
    "F(odd.0)\n"
    "F(local)\n"
    "SAME(local.localalias, local)\n"
    "F(local.constprop.0)\n"
    "F(_ZN4shop5Cache3getEv)\n"
    "F(_ZNK4shop5Cache3getEv)\n"
    "F(_ZN4shop5Cache3putEi)\n"
    "F(_ZN4shop5Cache3putEi.isra.0.constprop.1)\n"
    "F(_ZN4shop4soldEv.constprop.0)\n"
    "F(_ZN4shop3addEi)\n"
    "F(_ZN4shop3addEd)\n"
    "F(_ZN4shop4mostIiEET_S1_S1_)\n"
    "F(_ZN4shop4rareEv.part.0)\n"
    "F(_ZN4shop3BoxD1Ev)\n"
    "SAME(_ZN4shop3BoxD2Ev, _ZN4shop3BoxD1Ev)\n"
    "F(_ZN4shop3BoxD0Ev)\n"
    "F(plain)\n"
    "F(_Z5plaini)\n"
    "F(_ZN4core3fmt5write17h0123456789abcdefE)\n"
    "F(_ZN4core3fmt5print17h0123456789abcdefE)\n"
    "F(_ZN4core3fmt5print17hfedcba9876543210E.llvm.77)\n"
    "F(_D3mod3addFiiZi)\n"
    "F(_D3mod3subFiZi)\n"
    "F(_D3mod3subFlZi)\n"
    "F(_Znonsense)\n"
    "F(main)\n";

static struct object *
open_functions(const char *text)
{
	struct object *o;
	const char *why = "", *path;

	path = fixture_compile("cc", ".S", "functions", text,
	    "-shared -nostdlib -Wl,-z,noexecstack");
	ck_assert_int_eq(object_open(path, path, &o, &why), 0);
	return o;
}

static const struct sym *
symbol(struct object *o, const char *name)
{
	const struct sym *syms;
	size_t n = object_funcs(o, &syms);

	for (size_t i = 0; i < n; i++)
		if (strcmp(syms[i].name, name) == 0)
			return &syms[i];
	ck_abort_msg("no %s", name);
	return NULL;
}

static const char *
shown(struct object *o, const char *name, enum func_style style)
{
	const struct func_names *n =
	    object_func_names(o, symbol(o, name), style);

	return n != NULL ? n->shown : name;
}

/* clang-format off */
static const struct {
	const char *symbol, *readable, *full;
	const char *mangled; /* NULL: the symbol */
} rows[] = {
	{ "main", "main", "main", NULL },
	{ "lonely.constprop.0.isra.1", "lonely", "lonely", "lonely" },
	{ "size", "size", "size", NULL },
	{ "size.constprop.0", "size.constprop.0", "size.constprop.0", NULL },
	{ "twin.isra.0", "twin.isra.0", "twin.isra.0", NULL },
	{ "twin.lto_priv.12", "twin.lto_priv.12", "twin.lto_priv.12", NULL },
	{ "work.part.0", "work.part.0", "work.part.0", NULL },
	{ "linked.llvm.1234567890", "linked", "linked", "linked" },
	{ "isra.0", "isra.0", "isra.0", NULL },
	{ "odd.isra", "odd.isra", "odd.isra", NULL },
	{ "odd.0", "odd.0", "odd.0", NULL },
	{ "local", "local", "local", NULL },
	{ "local.localalias", "local", "local", "local" },
	{ "_ZN4shop5Cache3getEv", "shop::Cache::get()", "shop::Cache::get()",
	    NULL },
	{ "_ZNK4shop5Cache3getEv", "shop::Cache::get() const",
	    "shop::Cache::get() const", NULL },
	{ "_ZN4shop5Cache3putEi", "shop::Cache::put(int)",
	    "shop::Cache::put(int)", NULL },
	{ "_ZN4shop5Cache3putEi.isra.0.constprop.1",
	    "shop::Cache::put(int) [clone .isra.0] [clone .constprop.1]",
	    "shop::Cache::put(int) [clone .isra.0] [clone .constprop.1]",
	    NULL },
	{ "_ZN4shop4soldEv.constprop.0", "shop::sold", "shop::sold()",
	    "_ZN4shop4soldEv" },
	{ "_ZN4shop3addEi", "shop::add(int)", "shop::add(int)", NULL },
	{ "_ZN4shop3addEd", "shop::add(double)", "shop::add(double)", NULL },
	{ "_ZN4shop4mostIiEET_S1_S1_", "shop::most<int>",
	    "shop::most<int>(int, int)", NULL },
	{ "_ZN4shop4rareEv.part.0", "shop::rare [clone .part.0]",
	    "shop::rare() [clone .part.0]", NULL },
	{ "_ZN4shop3BoxD1Ev", "shop::Box::~Box()", "shop::Box::~Box()", NULL },
	{ "_ZN4shop3BoxD0Ev", "shop::Box::~Box() [deleting]",
	    "shop::Box::~Box() [deleting]", NULL },
	{ "plain", "plain", "plain", NULL },
	{ "_Z5plaini", "plain(int)", "plain(int)", NULL },
	{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write",
	    "core::fmt::write::h0123456789abcdef", NULL },
	{ "_ZN4core3fmt5print17h0123456789abcdefE",
	    "core::fmt::print::h0123456789abcdef",
	    "core::fmt::print::h0123456789abcdef", NULL },
	{ "_D3mod3addFiiZi", "mod.add", "mod.add(int, int)", NULL },
	{ "_D3mod3subFiZi", "mod.sub(int)", "mod.sub(int)", NULL },
	{ "_D3mod3subFlZi", "mod.sub(long)", "mod.sub(long)", NULL },
	{ "_Znonsense", "_Znonsense", "_Znonsense", NULL },
};
/* clang-format on */

START_TEST(each_function_has_a_name_of_its_own)
{
	struct object *o = open_functions(functions);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_str_eq(
		    shown(o, rows[i].symbol, FUNC_READABLE), rows[i].readable);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_str_eq(
		    shown(o, rows[i].symbol, FUNC_FULL), rows[i].full);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_str_eq(shown(o, rows[i].symbol, FUNC_MANGLED),
		    rows[i].mangled != NULL ? rows[i].mangled : rows[i].symbol);
	object_put(o);
}
END_TEST

static bool
answers(struct object *o, const char *name, const char *to)
{
	const struct func_names *n =
	    object_func_names(o, symbol(o, name), FUNC_READABLE);
	bool yes = false;

	if (n == NULL)
		return strcmp(name, to) == 0;
	for (unsigned i = 0; n->all[i] != NULL; i++)
		yes |= strcmp(n->all[i], to) == 0;
	return yes;
}

START_TEST(a_function_answers_to_all_its_names)
{
	static const char *const yes[][2] = {
		{ "main", "main" },
		{ "size.constprop.0", "size" },
		{ "size.constprop.0", "size.constprop.0" },
		{ "local.constprop.0", "local" },
		{ "_ZN4shop5Cache3getEv", "_ZN4shop5Cache3getEv" },
		{ "_ZN4shop5Cache3getEv", "shop::Cache::get" },
		{ "_ZN4shop5Cache3putEi.isra.0.constprop.1",
		    "_ZN4shop5Cache3putEi" },
		{ "_ZN4shop5Cache3putEi.isra.0.constprop.1",
		    "shop::Cache::put" },
		{ "_ZN4shop5Cache3putEi.isra.0.constprop.1",
		    "shop::Cache::put(int)" },
		{ "_ZN4shop5Cache3putEi.isra.0.constprop.1",
		    "shop::Cache::put(int) [clone .isra.0] [clone "
		    ".constprop.1]" },
		{ "_ZN4shop4mostIiEET_S1_S1_", "shop::most<int>(int, int)" },
		{ "_ZN4shop4mostIiEET_S1_S1_",
		    "int shop::most<int>(int, int)" },
		{ "_ZN4shop3BoxD0Ev", "shop::Box::~Box" },
		{ "_ZN4core3fmt5print17hfedcba9876543210E.llvm.77",
		    "core::fmt::print" },
	};
	static const char *const no[][2] = {
		{ "work.part.0", "work" },
		{ "size", "size.constprop.0" },
		{ "_ZN4shop4rareEv.part.0", "shop::rare" },
	};
	struct object *o = open_functions(functions);

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		ck_assert_msg(answers(o, yes[i][0], yes[i][1]), "%s: %s",
		    yes[i][0], yes[i][1]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		ck_assert_msg(!answers(o, no[i][0], no[i][1]), "%s: %s",
		    no[i][0], no[i][1]);
	object_put(o);
}
END_TEST

/* p<p<A, A>, p<A, A> > and so on, ten deep: of 60 bytes come more than there is
 * room for. */
START_TEST(long_names_stay_as_they_are)
{
	char name[128] = "_Z1f1pI", text[512];

	for (int i = 1; i < 10; i++)
		strcat(name, "S_I");
	strcat(name, "1AS0_E");
	for (int i = 1; i < 10; i++) {
		snprintf(text, sizeof(text), "S%d_E", i);
		strcat(name, text);
	}
	snprintf(text, sizeof(text),
	    ".type %s, @function\n.text\n%s: ret\n.size %s, 1\n", name, name,
	    name);
	struct object *o = open_functions(text);
	ck_assert_str_eq(shown(o, name, FUNC_READABLE), name);
	ck_assert_str_eq(shown(o, name, FUNC_FULL), name);
	object_put(o);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("symbols/funcname");
	TCase *tc = tcase_create("funcname");
	SRunner *r;
	int failed;

	tcase_add_test(tc, each_function_has_a_name_of_its_own);
	tcase_add_test(tc, a_function_answers_to_all_its_names);
	tcase_add_test(tc, long_names_stay_as_they_are);
	suite_add_tcase(s, tc);
	r = srunner_create(s);
	fixture_setup();
	srunner_run_all(r, CK_NORMAL);
	fixture_teardown();
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
