/*
 * dlang/cc: what comes out of the compiler: instructions, acts, records,
 * places in messages, and what the programs of a session share.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/needs.h"
#include "dlang/base/str.h"
#include "dlang/cc/cc.h"
#include "t/fake/world.h"

static struct options opts;
static struct cc *cc;
static struct diags diags;
static struct source source;
static struct cc_input in;
static struct prog *progs[64];
static size_t nprogs;

static void
setup(void)
{
	options_init(&opts);
	cc = cc_create(&fake_world, &opts);
	diags_init(&diags);
	in = (struct cc_input){ .level = CC_NAME, .source = &source };
	nprogs = 0;
}

static void
teardown(void)
{
	for (size_t i = 0; i < nprogs; i++)
		prog_destroy(progs[i]);
	cc_destroy(cc);
	options_fini(&opts);
	diags_fini(&diags);
}

static struct prog *
compile(const char *text)
{
	struct prog *p = NULL;

	source = (struct source){ "x.d", text, in.level == CC_SCRIPT };
	int error = cc_compile(cc, &in, &p, &diags);
	ck_assert_msg(error == 0, "%s: %s", text, diags.first.text);
	ck_assert_uint_lt(nprogs, ARRAY_SIZE(progs));
	progs[nprogs++] = p;
	return p;
}

/* ---- instructions ---- */

static void
check_text(const struct difo *d, const dif_instr *want, size_t n)
{
	ck_assert_uint_eq(d->len, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(d->text[i] == want[i], "%zu: %08x, not %08x", i,
		    d->text[i], want[i]);
	ck_assert(d->verified);
}

#define TEXT(d, ...)                                      \
	check_text(d, (const dif_instr[]){ __VA_ARGS__ }, \
	    sizeof((const dif_instr[]){ __VA_ARGS__ }) / sizeof(dif_instr))

START_TEST(comparison_is_the_reference_shape)
{
	struct prog *p = compile("int x; BEGIN/x == 10/{}");
	const struct difo *d = p->clauses[0]->pred;

	TEXT(d, 0x29050001, 0x25000002, 0x0f010200, 0x12000006, 0x0e000001,
	    0x11000007, 0x25000101, 0x23000001);
	ck_assert_uint_eq(d->nints, 2);
	ck_assert_uint_eq(d->ints[0], 10);
	ck_assert_uint_eq(d->rtype.size, 4);
	ck_assert_uint_eq(d->nvars, 1);
	ck_assert_str_eq(d->vars[0].name, "x");
	ck_assert(d->vars[0].read && !d->vars[0].written);
}
END_TEST

START_TEST(a_variable_is_listed_once)
{
	struct prog *p = compile("int x, y; BEGIN{x = y + y; x = x + 1;}");
	const struct difo *d = p->clauses[0]->acts[0].difo;

	ck_assert_uint_eq(d->nvars, 2);
	for (unsigned i = 0; i < 2; i++) {
		bool is_x = d->vars[i].name[0] == 'x';
		ck_assert_int_eq(d->vars[i].read, !is_x);
		ck_assert_int_eq(d->vars[i].written, is_x);
	}
	d = p->clauses[0]->acts[1].difo;
	ck_assert_uint_eq(d->nvars, 1);
	ck_assert(d->vars[0].read && d->vars[0].written);
}
END_TEST

START_TEST(array_load_pushes_its_keys)
{
	struct prog *p = compile("int a[string, int]; BEGIN/a[\"k\", 3]/{}");
	const struct difo *d = p->clauses[0]->pred;

	/* sets, setx; flushts; setx 257; pushtr; pushtv; ldgaa; ret */
	TEXT(d, 0x26000101, 0x25000002, 0x33000000, 0x25000103, 0x30010301,
	    0x31000002, 0x34050001, 0x23000001);
	ck_assert_uint_eq(d->ints[1], 257);
	ck_assert_str_eq(d->strs + 1, "k");
}
END_TEST

/* A local variable is an argument; with & another one, of the address. */
START_TEST(locals_are_arguments)
{
	struct prog *p =
	    compile("pid123:a.out:main:entry/local`n == *&local`n/{} "
		    "pid123:a.out:main:entry/local`box.y/{}");
	const struct difo *d = p->clauses[0]->pred;

	/* setx 16; ldga args; setx 32; ldga args; ldsw; cmp; ... */
	TEXT(d, 0x25000001, 0x28000101, 0x25000102, 0x28000202, 0x1e020002,
	    0x0f010200, 0x12000009, 0x0e000001, 0x1100000a, 0x25000201,
	    0x23000001);
	ck_assert_uint_eq(d->ints[0], 16);
	ck_assert_uint_eq(d->ints[1], 32);
	/* setx 18; ldga; setx 4; add; ldsw; ret */
	d = p->clauses[1]->pred;
	TEXT(d, 0x25000001, 0x28000101, 0x25000102, 0x07010201, 0x1e010001,
	    0x23000001);
	ck_assert_uint_eq(d->ints[0], 18);
	ck_assert_uint_eq(d->needs, NEED_ARG | NEED_MEM);
}
END_TEST

/* What the first clause needs: its predicate, and its actions together. */
START_TEST(needs_are_exact)
{
	static const struct {
		const char *text;
		uint32_t pred, acts;
	} rows[] = {
		{ "BEGIN/arg0 > 4096/{@n1 = count()}", NEED_ARG, 0 },
		{ "BEGIN/1/{@n2[arg1] = sum(arg0)}", 0, NEED_ARG },
		{ "BEGIN/pid == 3 && tid == 4/{}", NEED_ID, 0 },
		{ "BEGIN/ppid == 3/{}", NEED_PROC, 0 },
		{ "BEGIN/probefunc == \"x\"/{}", NEED_TEXT, 0 },
		{ "BEGIN/execname == \"x\"/{}", NEED_COMM | NEED_TEXT, 0 },
		{ "BEGIN/stringof(arg0) == \"x\"/{}",
		    NEED_ARG | NEED_MEM | NEED_TEXT, 0 },
		{ "BEGIN/1 == *(int *)arg0/{}", NEED_ARG | NEED_MEM, 0 },
		{ "BEGIN{self->t = timestamp}", 0, NEED_SELF | NEED_TIME },
		{ "BEGIN{this->t = arg0; trace(this->t)}", 0, NEED_ARG },
		{ "BEGIN{g = arg0}", 0, NEED_ARG | NEED_GLOBAL },
		{ "BEGIN{a[arg0] = 1}", 0, NEED_ARG | NEED_ARRAY },
		{ "BEGIN{self->s = probefunc}", 0, NEED_SELF },
		{ "BEGIN{self->s = copyinstr(arg0)}", 0,
		    NEED_ARG | NEED_MEM | NEED_TEXT | NEED_SELF },
		{ "BEGIN{trace(probename)}", 0, NEED_TEXT },
		{ "BEGIN{trace(strlen(probename))}", 0, NEED_TEXT },
		{ "BEGIN{this->p = (char *)alloca(8); this->p[1] = 'x'; "
		  "trace(this->p[1])}",
		    0, NEED_MEM }, /* a pointer may point anywhere */
		{ "BEGIN{trace(*(char *)alloca(8))}", 0, 0 },
		{ "BEGIN{@n3[ustack()] = count()}", 0, NEED_STACK },
		{ "BEGIN{trace(uregs[R_RAX])}", 0, NEED_REGS },
		{ "BEGIN{trace(errno)}", 0, NEED_ERRNO },
		{ "BEGIN{trace(walltimestamp)}", 0, NEED_TIME },
		{ "BEGIN{trace(vtimestamp)}", 0, NEED_VTIME },
		{ "BEGIN{speculate(speculation()); trace(1)}", 0, NEED_SPEC },
		{ "BEGIN{exit(0)}", 0, NEED_EXIT },
		{ "BEGIN{usym(ucaller)}", 0, NEED_STACK },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct prog_clause *c = compile(rows[i].text)->clauses[0];
		uint32_t pred = c->pred != NULL ? c->pred->needs : 0;
		uint32_t acts = needs_of_acts(c);
		ck_assert_msg(pred == rows[i].pred && acts == rows[i].acts,
		    "%s: %#x, %#x", rows[i].text, pred, acts);
	}
}
END_TEST

START_TEST(constants_and_strings_are_stored_once)
{
	struct prog *p = compile("BEGIN/strjoin(\"a\", \"a\") == \"\" || "
				 "arg0 == 7 || arg1 == 7/{}");
	const struct difo *d = p->clauses[0]->pred;

	ck_assert_uint_eq(d->strs_len, 3);
	/* 257 (size of a string key), 7, 1 */
	ck_assert_uint_eq(d->nints, 3);
}
END_TEST

START_TEST(constants_are_folded)
{
	struct prog *p = compile("BEGIN/(1 + 2) * 3 == 9 && arg0/{} "
				 "BEGIN/0 && arg0/{}");

	ck_assert_uint_eq(p->clauses[1]->pred->len, 2);
	TEXT(p->clauses[1]->pred, 0x25000001, 0x23000001);
	ck_assert_uint_eq(p->clauses[1]->pred->ints[0], 0);
}
END_TEST

/* ---- records ---- */

START_TEST(values_are_aligned_to_their_size)
{
	struct prog *p = compile("BEGIN{trace((char)1); trace((short)2); "
				 "trace(3); trace((char)4); trace(5LL); "
				 "trace(execname); printf(\"%d\", 6);}");
	static const struct {
		uint32_t off, size;
	} want[] = { { 24, 1 }, { 26, 2 }, { 28, 4 }, { 32, 1 }, { 40, 8 },
		{ 48, 257 }, { 308, 4 } };
	const struct prog_clause *c = p->clauses[0];

	ck_assert_uint_eq(c->nacts, ARRAY_SIZE(want));
	for (size_t i = 0; i < c->nacts; i++) {
		ck_assert_int_eq(c->acts[i].op, OP_EXPR);
		ck_assert_uint_eq(c->acts[i].off, want[i].off);
		ck_assert_uint_eq(c->acts[i].size, want[i].size);
		ck_assert_uint_eq(c->acts[i].index, i + 1);
		ck_assert_uint_eq(c->stmts[i].recs[0].off, want[i].off);
	}
	ck_assert_uint_eq(c->rec_size, 312);
	ck_assert_int_eq(c->stmts[5].recs[0].kind, REC_STRING);
	ck_assert_uint_eq(c->acts[5].flags, ACT_F_STRING);
}
END_TEST

START_TEST(only_what_is_seen_makes_a_record)
{
	static const struct {
		const char *text;
		uint32_t size;
	} rows[] = {
		{ "BEGIN", 24 },
		{ "BEGIN{}", 24 },
		{ "BEGIN{x = 1}", 0 },
		{ "BEGIN{@a = count()}", 0 },
		{ "BEGIN{self->s = speculation(); discard(self->s)}", 0 },
		{ "BEGIN{printf(\"x\")}", 24 },
		{ "BEGIN{clear(@a)}", 24 },
		{ "BEGIN{exit(1)}", 32 },
		{ "BEGIN{ustack(3)}", 56 },
		{ "BEGIN{usym(arg0)}", 40 },
		{ "BEGIN{tracemem(arg0, 10)}", 40 },
		{ "BEGIN{trace(\"ab\")}", 288 },
		{ "BEGIN{trace(`origin)}", 32 },
		{ "BEGIN{trace(`title)}", 40 },
		{ "BEGIN{stop()}", 24 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		nprogs = 0;
		struct prog *p = compile(rows[i].text);
		ck_assert_msg(p->clauses[0]->rec_size == rows[i].size, "%s: %u",
		    rows[i].text, p->clauses[0]->rec_size);
		ck_assert_int_eq(p->clauses[0]->records, rows[i].size != 0);
		prog_destroy(p);
	}
	nprogs = 0;
}
END_TEST

START_TEST(aggregations_have_keys_then_the_act)
{
	struct prog *p = compile("BEGIN{@a[execname, 1, (char)2, ustack(4), "
				 "usym(arg0)] = quantize(arg0, 2);}");
	const struct prog_clause *c = p->clauses[0];
	const struct prog_agg *a = cc_globals(cc)->aggs.at[0];
	static const enum img_op ops[] = { OP_EXPR, OP_EXPR, OP_EXPR, OP_STACK,
		OP_SYM, OP_AGG };
	static const uint32_t offs[] = { 0, 260, 264, 272, 312 };

	ck_assert_uint_eq(c->nacts, 6);
	for (size_t i = 0; i < 6; i++)
		ck_assert_int_eq(c->acts[i].op, ops[i]);
	for (size_t i = 0; i < 5; i++) {
		ck_assert(c->acts[i].flags & ACT_F_KEY);
		ck_assert_uint_eq(c->acts[i].off, offs[i]);
		ck_assert_uint_eq(a->keys[i].off, offs[i]);
	}
	ck_assert_uint_eq(c->acts[5].nkeys, 5);
	ck_assert_int_eq(c->acts[5].arg, a->id);
	ck_assert_ptr_nonnull(c->acts[5].difo);
	ck_assert_ptr_nonnull(c->acts[5].difo2);
	ck_assert_uint_eq(a->key_size, 328);
	ck_assert_uint_eq(a->words, 127);
	ck_assert_int_eq(c->acts[3].arg, 4);
}
END_TEST

START_TEST(actions_on_aggregations_name_them)
{
	struct prog *p = compile("BEGIN{@a = count(); @ = sum(1); "
				 "printa(\"%@d %@d\", @a, @); trunc(@a, 5); "
				 "setopt(\"quiet\", \"no\");}");
	const struct prog_stmt *s = p->clauses[0]->stmts;

	ck_assert_int_eq(s[2].kind, ACT_PRINTA);
	ck_assert_uint_eq(s[2].naggs, 2);
	ck_assert_uint_eq(s[2].aggs[1], 2);
	ck_assert_uint_eq(s[2].fmt->nconvs, 2);
	ck_assert(s[3].has_arg);
	ck_assert_uint_eq(s[3].recs[0].size, 8);
	ck_assert_str_eq(s[4].strs[1], "no");
	ck_assert_str_eq(cc_globals(cc)->aggs.at[1]->name, "_");
}
END_TEST

START_TEST(quantize_parameters_are_encoded)
{
	compile("BEGIN{@a = lquantize(arg0, -10, 30, 5); "
		"@b = llquantize(arg0, 10, 0, 6, 20);}");
	const struct prog_agg *a = cc_globals(cc)->aggs.at[0];
	const struct prog_agg *b = cc_globals(cc)->aggs.at[1];

	ck_assert_int_eq(LQUANTIZE_BASE(a->param), -10);
	ck_assert_uint_eq(LQUANTIZE_LEVELS(a->param), 8);
	ck_assert_uint_eq(LQUANTIZE_STEP(a->param), 5);
	ck_assert_uint_eq(a->words, 11);
	ck_assert_uint_eq(LLQUANTIZE_FACTOR(b->param), 10);
	ck_assert_uint_eq(LLQUANTIZE_NSTEPS(b->param), 20);
}
END_TEST

/* ---- clauses, programs, sessions ---- */

START_TEST(each_description_gets_a_clause)
{
	struct prog *p = compile("BEGIN, pid$target:a.out:m*:entry, tick-10 "
				 "/arg0/ { @ = count(); }");

	ck_assert_uint_eq(p->nclauses, 3);
	ck_assert_uint_eq(p->matched, 3);
	ck_assert_str_eq(p->clauses[1]->desc.prov, "pid123");
	ck_assert_str_eq(p->clauses[1]->desc.func, "m*");
	ck_assert_str_eq(p->clauses[2]->desc.name, "tick-10");
	ck_assert_int_eq(p->clauses[0]->span.line, p->clauses[2]->span.line);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(p->clauses[i]->index, i);
		ck_assert_uint_eq(p->clauses[i]->global_index, i);
		ck_assert_ptr_nonnull(p->clauses[i]->pred);
	}
}
END_TEST

/* clang-format off */
static const struct {
	const char *text, *fields[4];
} descriptions[] = {
	/* What is in quotes is one field. */
	{ "pid1:a.out:\"shop::*\":entry", { "pid1", "a.out", "shop::*", "entry" } },
	{ "pid1:a.out:\"a::f(int, char)\":", { "pid1", "a.out", "a::f(int, char)", "" } },
	{ "\"a b\":\"c:d\":e:\"f\"", { "a b", "c:d", "e", "f" } },
	{ "pid1:a.out:\"a\\\"b\\*\\$x$y\":go", { "pid1", "a.out", "a\"b\\*$x$y", "go" } },
	{ "pid1:a.out:\"f<$1>\":go", { "pid1", "a.out", "f<opera:nd>", "go" } },
	{ "pid1:a.out:a\"::\"b:go", { "pid1", "a.out", "a::b", "go" } },
	{ "pid1:a.out:\"\":go", { "pid1", "a.out", "", "go" } },
	/* Without: as many as there are, from the right. */
	{ "a:b:c:d", { "a", "b", "c", "d" } },
	{ "::c:d", { "", "", "c", "d" } },
	{ ":a:b:c:d", { "a", "b", "c", "d" } },
	{ "a::c:", { "a", "", "c", "" } },
	{ ":::", { "", "", "", "" } },
	{ "pid1:::entry", { "pid1", "", "", "entry" } },
	/* Two colons of a name, where there would be too many fields. */
	{ "pid123:a.out:shop::put:entry", { "pid123", "a.out", "shop::put", "entry" } },
	{ "pid123::shop::put:entry", { "pid123", "", "shop::put", "entry" } },
	{ "pid123:a.out:a::b::c::*:entry", { "pid123", "a.out", "a::b::c::*", "entry" } },
	{ "x:a::b:entry", { "", "x", "a::b", "entry" } },
	{ "pid123:a.out:a::f(int, char const*):", { "pid123", "a.out", "a::f(int, char const*)", "" } },
	{ "pid123:a.out:m<int, g<char> >::at:x", { "pid123", "a.out", "m<int, g<char> >::at", "x" } },
	{ "pid123:a.out:main.(*T).Meth:entry", { "pid123", "a.out", "main.(*T).Meth", "entry" } },
	{ "pid123:a.out:a::operator<:entry", { "pid123", "a.out", "a::operator<", "entry" } },
	{ "pid123:a.out:a::~a:entry", { "pid123", "a.out", "a::~a", "entry" } },
	{ "pid123:a.out:<a::B as c::D>::e:x", { "pid123", "a.out", "<a::B as c::D>::e", "x" } },
	/* A provider has nothing left of it. */
	{ "syscall::read:entry", { "syscall", "", "read", "entry" } },
	{ "sys*::read:entry", { "sys*", "", "read", "entry" } },
	{ "test::g:start", { "test", "", "g", "start" } },
	/* Two readings, of which one matches. */
	{ "shop::get:start", { "", "", "shop::get", "start" } },
	{ "nosuch::none:start", { "nosuch", "", "none", "start" } },
};
/* clang-format on */

START_TEST(a_description_has_four_fields)
{
	char *const argv[] = { (char[]){ "x.d" }, (char[]){ "opera:nd" } };

	in.argv = argv;
	in.argc = 2;
	in.level = CC_SCRIPT;
	opts.value[OPT_ZDEFS] = 1;
	opts.value[OPT_ARGREF] = 1;
	for (size_t i = 0; i < ARRAY_SIZE(descriptions); i++) {
		const char *const *want = descriptions[i].fields;
		char text[128];
		snprintf(text, sizeof(text), "%s{}", descriptions[i].text);
		struct prog *p = compile(text);
		const struct probe_desc *d = &p->clauses[0]->desc;
		ck_assert_str_eq(d->prov, want[0]);
		ck_assert_str_eq(d->mod, want[1]);
		ck_assert_str_eq(d->func, want[2]);
		ck_assert_str_eq(d->name, want[3]);
		prog_destroy(p);
		nprogs = 0;
	}
}
END_TEST

START_TEST(levels_say_what_a_short_description_is)
{
	in.level = CC_FUNC;
	struct prog *p = compile("main{}");
	ck_assert_str_eq(p->clauses[0]->desc.func, "main");
	ck_assert_str_eq(p->clauses[0]->desc.name, "");
	p = compile("b.out:shop::get{}");
	ck_assert_str_eq(p->clauses[0]->desc.mod, "b.out");
	ck_assert_str_eq(p->clauses[0]->desc.func, "shop::get");
	in.level = CC_MOD;
	p = compile("pid123:a.out");
	ck_assert_str_eq(p->clauses[0]->desc.prov, "pid123");
	ck_assert_str_eq(p->clauses[0]->desc.mod, "a.out");
	in.level = CC_PROV;
	p = compile("syscall{@ = count();}");
	ck_assert_str_eq(p->clauses[0]->desc.prov, "syscall");
	in.level = CC_ID;
	p = compile("3");
	ck_assert_uint_eq(p->clauses[0]->desc.id, 3);
}
END_TEST

START_TEST(programs_share_variables_and_aggregations)
{
	struct prog *a =
	    compile("BEGIN{x = 1; self->y = \"s\"; @n = count();}");
	struct prog *b = compile("BEGIN{x++; trace(self->y); @n = count();}");

	ck_assert_uint_eq(cc_globals(cc)->vars.len, 2);
	ck_assert_uint_eq(cc_globals(cc)->aggs.len, 1);
	ck_assert_uint_eq(cc_globals(cc)->clauses.len, 2);
	ck_assert_uint_eq(b->clauses[0]->global_index, 1);
	ck_assert_uint_eq(a->clauses[0]->acts[0].difo->vars[0].id,
	    b->clauses[0]->acts[0].difo->vars[0].id);
	const struct prog_var *y = cc_globals(cc)->vars.at[1];
	ck_assert_int_eq(y->scope, DIF_THREAD);
	ck_assert_uint_eq(y->type.size, 257);
}
END_TEST

START_TEST(destructive_programs_say_so)
{
	ck_assert(!compile("BEGIN{trace(1)}")->destructive);
	ck_assert(compile("BEGIN{stop()}")->destructive);
	ck_assert(compile("BEGIN{copyout(alloca(1), arg0, 1)}")->destructive);
	ck_assert(compile("BEGIN{system(\"x\")}")->destructive);
}
END_TEST

START_TEST(options_in_the_text_hold_for_what_follows)
{
	struct prog *p = compile("#pragma D option strsize=32\n"
				 "#pragma D option ustackframes=3\n"
				 "BEGIN{trace(execname); ustack();}");

	ck_assert_uint_eq(p->clauses[0]->acts[0].size, 33);
	ck_assert_int_eq(p->clauses[0]->acts[1].arg, 3);
}
END_TEST

START_TEST(operands_are_tokens)
{
	static char *argv[] = { (char *)"x.d", (char *)"-12",
		(char *)"execname", (char *)"two words", (char *)"main" };

	in.argc = 5;
	in.argv = argv;
	struct prog *p = compile("pid$target:a.out:$4:entry{"
				 "printf(\"%d %s %s %s\", $1, $2, $3, $$1)}");
	const struct prog_clause *c = p->clauses[0];
	ck_assert_str_eq(c->desc.func, "main");
	ck_assert_int_eq((int64_t)c->acts[0].difo->ints[0], -12);
	ck_assert_uint_eq(c->acts[1].difo->vars[0].id, DIF_VAR_EXECNAME);
	ck_assert_str_eq(c->acts[2].difo->strs + 1, "two words");
	ck_assert_str_eq(c->acts[3].difo->strs + 1, "-12");
}
END_TEST

START_TEST(an_operand_not_used_is_refused)
{
	static char *argv[] = { (char *)"x.d", (char *)"1", (char *)"2" };
	struct prog *p = NULL;

	in.argc = 3;
	in.argv = argv;
	source = (struct source){ "x.d", "BEGIN{trace($1)}", true };
	ck_assert_int_ne(cc_compile(cc, &in, &p, &diags), 0);
	ck_assert_int_eq(diags.first.tag, D_MACRO_UNUSED);
	ck_assert_str_eq(
	    diags.first.text, "extraneous argument '2' ($2 is not referenced)");
	diags_fini(&diags);
	compile("BEGIN{trace($2)}");
	ck_assert_int_eq(option_parse(&opts, "argref", false), 0);
	compile("BEGIN{}");
}
END_TEST

/* ---- messages ---- */

START_TEST(messages_point_at_their_place)
{
	static const struct {
		const char *text, *what;
		int line, col, end;
	} rows[] = {
		{ "BEGIN\n{\n\ttrace(x);\n}",
		    "failed to resolve x: Unknown variable name", 3, 8, 9 },
		{ "BEGIN{x = 1;\n  x = 2 - \"a\";}",
		    "operands have incompatible types: \"int\" - \"string\"", 2,
		    7, 14 },
		{ "BEGIN{trace(1}", "syntax error near \"}\"", 1, 14, 15 },
		{ "BEGIN{", "syntax error near end of input", 1, 7, 7 },
		{ "BEGIN{exit()}",
		    "exit( ) prototype mismatch: 0 args passed, 1 expected", 1,
		    7, 13 },
		{ "nosuch:x",
		    "probe description ::nosuch:x does not match any "
		    "probes",
		    1, 1, 9 },
		{ "BEGIN{strlen(1)}",
		    "strlen( ) argument #1 is incompatible with prototype:\n"
		    "\tprototype: const char *\n\t argument: int",
		    1, 14, 15 },
		{ "BEGIN{@a = count();\n@a = sum(1)}",
		    "aggregation redefined: @a\n\t current: @a = sum( )\n\t"
		    "previous: @a = count( ) : line 1",
		    2, 1, 12 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct prog *p = NULL;
		source = (struct source){ "-n", rows[i].text, false };
		ck_assert_int_ne(cc_compile(cc, &in, &p, &diags), 0);
		const struct diag *d = &diags.first;
		ck_assert_str_eq(d->text, rows[i].what);
		ck_assert_msg(d->span.line == rows[i].line &&
			d->span.col == rows[i].col &&
			d->span.end_col == rows[i].end,
		    "%s: %d:%d-%d", rows[i].text, d->span.line, d->span.col,
		    d->span.end_col);
		diags_fini(&diags);
		cc_destroy(cc);
		cc = cc_create(&fake_world, &opts);
	}
}
END_TEST

START_TEST(line_marks_move_messages)
{
	struct prog *p = NULL;

	source = (struct source){ "x.d",
		"BEGIN{}\n# 40 \"in.h\" 1\nBEGIN{}\nBEGIN{trace(x)}", true };
	ck_assert_int_ne(cc_compile(cc, &in, &p, &diags), 0);
	ck_assert_str_eq(diags.first.span.file, "in.h");
	ck_assert_int_eq(diags.first.span.file_line, 41);
	ck_assert_int_eq(diags.first.span.line, 4);
}
END_TEST

START_TEST(deep_nesting_is_an_error)
{
	size_t n = 200000;
	char *text = mem_zalloc(n + 64);
	struct prog *p = NULL;

	strcpy(text, "BEGIN{trace(");
	memset(text + strlen(text), '-', n);
	strcat(text, "1)}");
	source = (struct source){ "-n", text, false };
	ck_assert_int_ne(cc_compile(cc, &in, &p, &diags), 0);
	ck_assert_int_eq(diags.first.tag, D_SYNTAX);
	diags_fini(&diags);

	/* Left-associative chains are deep trees without deep parsing. */
	strcpy(text, "BEGIN{trace(1");
	for (char *e = text + strlen(text); e < text + n - 8; e += 2)
		memcpy(e, "+1", 2);
	strcat(text, ")}");
	ck_assert_int_ne(cc_compile(cc, &in, &p, &diags), 0);
	ck_assert_int_eq(diags.first.tag, D_SYNTAX);
	mem_free(text);
}
END_TEST

START_TEST(inlines_cannot_multiply_without_end)
{
	struct str text = { 0 };
	struct prog *p = NULL;

	str_add(&text, "inline int i0 = arg0 + arg0;\n");
	for (int i = 1; i < 40; i++)
		str_printf(
		    &text, "inline int i%d = i%d + i%d;\n", i, i - 1, i - 1);
	str_add(&text, "BEGIN{trace(i39)}");
	source = (struct source){ "-n", str_c(&text), false };
	ck_assert_int_ne(cc_compile(cc, &in, &p, &diags), 0);
	ck_assert_int_eq(diags.first.tag, D_UNKNOWN);
	str_fini(&text);
}
END_TEST

START_TEST(listing_shows_every_difo)
{
	char *out = NULL;
	size_t len;

	in.listing = open_memstream(&out, &len);
	compile("BEGIN/arg0/{trace(execname); x = 1;}");
	fclose(in.listing);
	in.listing = NULL;
	unsigned n = 0;
	for (const char *s = out; (s = strstr(s, "DIFO ")) != NULL; s++)
		n++;
	ck_assert_uint_eq(n, 3);
	ck_assert_ptr_nonnull(strstr(out, "ldgs DT_VAR(262), %r1"));
	free(out);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("cc_code");
	TCase *tc = tcase_create("cc_code");
	SRunner *sr = srunner_create(s);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, comparison_is_the_reference_shape);
	tcase_add_test(tc, a_variable_is_listed_once);
	tcase_add_test(tc, array_load_pushes_its_keys);
	tcase_add_test(tc, needs_are_exact);
	tcase_add_test(tc, constants_and_strings_are_stored_once);
	tcase_add_test(tc, locals_are_arguments);
	tcase_add_test(tc, constants_are_folded);
	tcase_add_test(tc, values_are_aligned_to_their_size);
	tcase_add_test(tc, only_what_is_seen_makes_a_record);
	tcase_add_test(tc, aggregations_have_keys_then_the_act);
	tcase_add_test(tc, actions_on_aggregations_name_them);
	tcase_add_test(tc, quantize_parameters_are_encoded);
	tcase_add_test(tc, each_description_gets_a_clause);
	tcase_add_test(tc, a_description_has_four_fields);
	tcase_add_test(tc, levels_say_what_a_short_description_is);
	tcase_add_test(tc, programs_share_variables_and_aggregations);
	tcase_add_test(tc, destructive_programs_say_so);
	tcase_add_test(tc, options_in_the_text_hold_for_what_follows);
	tcase_add_test(tc, operands_are_tokens);
	tcase_add_test(tc, an_operand_not_used_is_refused);
	tcase_add_test(tc, messages_point_at_their_place);
	tcase_add_test(tc, line_marks_move_messages);
	tcase_add_test(tc, deep_nesting_is_an_error);
	tcase_add_test(tc, inlines_cannot_multiply_without_end);
	tcase_add_test(tc, listing_shows_every_difo);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
