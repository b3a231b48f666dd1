/*
 * dlang/cc against dlang/vm: programs are compiled, laid into an image and
 * fired, and what they recorded is compared.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/cc/cc.h"
#include "dlang/vm/agg.h"
#include "t/fake/env.h"
#include "t/fake/world.h"

static struct kit k;
static struct options opts;
static struct cc *cc;
static struct prog *prog;

static void
compile(const char *text)
{
	static struct source source;
	static struct cc_input in;
	struct diags d;

	options_init(&opts);
	cc = cc_create(&fake_world, &opts);
	source = (struct source){ "-n", text, false };
	in = (struct cc_input){ .source = &source, .level = CC_NAME };
	diags_init(&d);
	int error = cc_compile(cc, &in, &prog, &d);
	ck_assert_msg(error == 0, "%s: [%s] %s", text,
	    error ? diag_tag_name(d.first.tag) : "", d.first.text);
	diags_fini(&d);
}

/* Every clause becomes an ECB of one probe, in order. */
static uint32_t
load(const char *text)
{
	compile(text);
	kit_init(&k);
	k.globals = *cc_globals(cc);
	kit_publish(&k);
	uint32_t probe = image_add_probe(k.im, 1, "p", "m", "f", "n", 0);
	for (unsigned i = 0; i < prog->nclauses; i++)
		ck_assert_uint_ne(image_add_ecb(k.im, probe, i, 0), 0);
	return probe;
}

static void
unload(void)
{
	/* The session's vectors were lent. */
	memset(&k.globals, 0, sizeof(k.globals));
	kit_fini(&k);
	prog_destroy(prog);
	cc_destroy(cc);
	options_fini(&opts);
}

/* The last value that the last clause traces. */
static const void *
last_value(const char *text, struct prog_rec *rec)
{
	const struct rec_hdr *h, *last = NULL;

	while ((h = kit_record(&k)) != NULL)
		last = h;
	ck_assert_msg(last != NULL && last->epid != EPID_FAULT, "%s: fault %d",
	    text,
	    last != NULL ? (int)((const struct rec_fault *)last)->code : -1);
	const struct prog_clause *c = prog->clauses[prog->nclauses - 1];
	const struct prog_stmt *s = &c->stmts[c->nstmts - 1];
	while (s > c->stmts && s->nrecs == 0)
		s--;
	ck_assert_uint_eq(s->nrecs, 1);
	*rec = s->recs[0];
	return (const char *)last + rec->off;
}

static int64_t
value_of(const void *p, const struct prog_rec *rec)
{
	uint64_t v = 0;

	memcpy(&v, p, rec->size);
	unsigned shift = 64 - rec->size * 8;
	if (rec->is_signed)
		return (int64_t)(v << shift) >> shift;
	return (int64_t)v;
}

/* clang-format off */
static const struct { const char *text; int64_t value; } ints[] = {
	/* arithmetic and its types */
	{ "BEGIN{trace(1 + 2 * 3)}", 7 },
	{ "BEGIN{x = 7; trace(x / 2)}", 3 },
	{ "BEGIN{x = -7; trace(x / 2)}", -3 },
	{ "BEGIN{x = -7; trace(x % 3)}", -1 },
	{ "BEGIN{x = -8; trace(x >> 1)}", -4 },
	{ "BEGIN{x = (unsigned)-8; trace(x >> 1)}", 0x7ffffffc },
	{ "BEGIN{x = 1; trace(x << 4 | 3)}", 19 },
	{ "BEGIN{x = 12; trace(x & 10 ^ 1)}", 9 },
	{ "BEGIN{x = 5; trace(~x)}", -6 },
	{ "BEGIN{x = 5; trace(-x)}", -5 },
	{ "BEGIN{x = 5; trace(!x)}", 0 },
	{ "BEGIN{x = 0; trace(!x)}", 1 },
	{ "BEGIN{trace((char)300)}", 44 },
	{ "BEGIN{x = 300; trace((char)x)}", 44 },
	{ "BEGIN{x = 200; trace((char)x)}", -56 },
	{ "BEGIN{x = 200; trace((unsigned char)x)}", 200 },
	{ "BEGIN{x = -1; trace((uint16_t)x)}", 65535 },
	{ "char c; BEGIN{c = 300; trace(c)}", 44 },
	{ "uint8_t c; BEGIN{c = -1; trace(c + 0)}", 255 },
	{ "int8_t c; BEGIN{c = 200; trace(c + 0)}", -56 },
	{ "int x; BEGIN{x = 2147483647; x++; trace(x)}", -2147483648LL },
	{ "int x; BEGIN{x = 2147483647; x += 1; trace((long)x)}",
		-2147483648LL },
	{ "uint32_t x; BEGIN{x = 0; x--; trace((uint64_t)x)}", 4294967295 },
	{ "BEGIN{x = -1; y = (uint32_t)0xffffffff; trace(x == y)}", 1 },
	{ "BEGIN{x = -1; trace(x < 1)}", 1 },
	{ "BEGIN{x = (uint64_t)-1; trace(x < 1)}", 0 },
	{ "BEGIN{x = 3; trace(x > 2 && x < 4)}", 1 },
	{ "BEGIN{x = 3; trace(x > 3 || x < 3)}", 0 },
	{ "BEGIN{x = 3; trace(x ^^ 0)}", 1 },
	{ "BEGIN{x = 3; trace(x ^^ 4)}", 0 },
	{ "BEGIN{x = 3; trace(x ? 10 : 20)}", 10 },
	{ "BEGIN{x = 0; trace(x ? 10 : x + 20)}", 20 },
	{ "BEGIN{x = 0; trace(x == 0 ? x == 1 ? 1 : 2 : 3)}", 2 },
	{ "BEGIN{x = 1; trace((x++, x))}", 2 },
	{ "BEGIN{x = 1; trace(x++)}", 1 },
	{ "BEGIN{x = 1; trace(++x)}", 2 },
	{ "BEGIN{x = 1; trace(x-- + --x)}", 0 },
	{ "BEGIN{x = 10; x -= 3; x *= 4; x /= 2; x %= 5; trace(x)}", 4 },
	{ "BEGIN{x = 1; x <<= 5; x >>= 1; x |= 3; x &= 18; x ^= 1; trace(x)}",
		19 },
	{ "BEGIN{x = y = 4; trace(x * y)}", 16 },
	{ "BEGIN{x = 1; y = x + (x + (x + (x + (x + x)))); trace(y)}", 6 },
	{ "BEGIN{trace('ab')}", 0x6162 },
	{ "BEGIN{trace('\\n' + '\\x41' + '\\101')}", 140 },
	{ "BEGIN{trace(0x7fffffffffffffff)}", INT64_MAX },
	{ "BEGIN{trace(sizeof(\"abc\") + sizeof(string) + sizeof(char *))}",
		268 },
	/* variables */
	{ "BEGIN{trace(self->nothing = 0)}", 0 },
	{ "self int x; BEGIN{trace(self->x)}", 0 },
	{ "BEGIN{self->x = 5; self->x++; trace(self->x)}", 6 },
	{ "BEGIN{this->x = 5; this->x *= 2; trace(this->x)}", 10 },
	{ "BEGIN{this->x = 5} BEGIN{trace(this->x)}", 5 },
	{ "BEGIN{a[1] = 10; a[2] = 20; trace(a[1] + a[2])}", 30 },
	{ "BEGIN{a[1]++; a[1]++; a[1] += 5; trace(a[1])}", 7 },
	{ "BEGIN{a[\"x\", 1] = 3; trace(a[\"x\", 1] * 2)}", 6 },
	{ "BEGIN{a[\"x\"] = 3; a[\"x\"] = 0; trace(a[\"x\"])}", 0 },
	{ "BEGIN{self->a[1, 2] = 4; trace(self->a[1, 2])}", 4 },
	{ "BEGIN{i = 1; a[i++] += 7; trace(a[1] * 10 + i)}", 72 },
	{ "BEGIN{a[1] = 5; b[5] = 6; trace(b[a[1]])}", 6 },
	{ "BEGIN{a[1,2,3,4,5,6,7,8] = 9; trace(a[1,2,3,4,5,6,7,8])}", 9 },
	{ "BEGIN{b[1] = 2; a[1,b[1],3,4,5,6,7,strlen(\"12345678\")] = 9;"
	  "trace(a[1,2,3,4,5,6,7,8])}", 9 },
	{ "int a[int8_t]; BEGIN{a[257] = 4; trace(a[1])}", 4 },
	{ "BEGIN{trace(pid)}", 4242 },
	{ "BEGIN{trace(uregs[R_RAX])}", 0x10a },
	/* arguments where the calling convention has put them */
	{ "test:::placed{trace(args[0])}", 0x0e },
	{ "test:::placed{trace(args[0] - 1)}", 0x0d },
	{ "test:::placed{trace(args[1].x)}", 0x10d },
	{ "test:::placed{trace(args[1].y)}", 0 },
	{ "test:::placed{trace(args[2][0])}", 0x109 },
	{ "test:::placed{trace(args[2][1])}", 0xf0000000 + UREG_XMM(1, 1) },
	{ "test:::placed{this->p = args[1]; trace(this->p.x)}", 0x10d },
	{ "test:::placed{self->p = args[1]; trace(self->p.x + args[0])}",
		0x11b },
	{ "test:::placed{trace(*(&args[1].x))}", 0x10d },
	{ "test:::placed{trace(args[3])}", 0x0605 },
	{ "test:::placed{trace(args[4].y)}", 0x08070605 },
	{ "test:::placed{trace(args[5].y)}", 0x08070605 },
	{ "test:::placed{trace(args[6].x)}", 0 },
	{ "test:::placed{trace(arg0)}", 50 },
	/* symbols: where the environment says they are, when it is asked */
	{ "BEGIN{trace((long)&`total)}", 0x7f0000001038 },
	{ "BEGIN{trace((long)&`untyped)}", 0x7f0000001038 },
	{ "BEGIN{trace((long)&`cursor == (long)&`origin.x)}", 1 },
	{ "BEGIN{trace((long)&`origin.y - (long)&`origin)}", 4 },
	{ "extern int untyped; BEGIN{trace(&untyped == &`total)}", 1 },
	/* strings */
	{ "BEGIN{trace(strlen(\"hello\"))}", 5 },
	{ "BEGIN{s = \"abc\"; trace(s == \"abc\")}", 1 },
	{ "BEGIN{s = \"abc\"; trace(s < \"abd\")}", 1 },
	{ "BEGIN{s = \"abc\"; trace(s >= \"abd\")}", 0 },
	{ "BEGIN{s = \"abc\"; trace(s[1])}", 'b' },
	{ "string s; BEGIN{trace(s == \"\")}", 1 },
	{ "BEGIN{trace(execname == \"victim\")}", 1 },
	{ "BEGIN{s = \"x\"; s = 0; trace(s == \"\")}", 1 },
	{ "BEGIN{trace(index(\"abcabc\", \"c\", 3))}", 5 },
	{ "BEGIN{x = 1; s = x ? \"yes\" : \"no\"; trace(s == \"yes\")}", 1 },
	/* memory */
	{ "BEGIN{trace(*(int *)0x7f0000001000)}", 0x04030201 },
	{ "BEGIN{trace(((char *)0x7f0000001000)[3])}", 4 },
	{ "BEGIN{trace(*((short *)0x7f0000001000 + 1))}", 0x0403 },
	{ "BEGIN{p = (int *)0x7f0000001000; p++; trace(*p)}", 0x08070605 },
	{ "BEGIN{p = (int *)16; trace(&p[3] - p)}", 3 },
	{ "BEGIN{trace((uint64_t)((int *)16 + 2))}", 24 },
	{ "BEGIN{p = (char *)alloca(8); *p = 7; p[1] = 8; trace(p[0] + p[1])}",
		15 },
	{ "BEGIN{trace(((point_t *)0x7f0000001000)->y)}", 0x08070605 },
	{ "struct b { int a:4; int b:4; unsigned c:8; } ;"
	  "BEGIN{trace(((struct b *)0x7f0000001004)->b)}", 0 },
	{ "struct b { int a:4; int b:4; unsigned c:8; } ;"
	  "BEGIN{trace(((struct b *)0x7f0000001004)->a)}", 5 },
	{ "struct b { int a:4; int b:4; unsigned c:8; } ;"
	  "BEGIN{trace(((struct b *)0x7f0000001004)->c)}", 6 },
	{ "struct b { int a:4; int b:4; unsigned c:8; };"
	  "BEGIN{this->p = (struct b *)alloca(4); this->p->a = 3;"
	  "this->p->b = -2; this->p->c = 200;"
	  "trace(this->p->a + this->p->b * 10 + this->p->c)}", 183 },
	{ "struct s { int a; char b[4]; struct { int c; } d; };"
	  "BEGIN{p = (struct s *)alloca(sizeof(struct s)); p->a = 1;"
	  "p->b[2] = 2; p->d.c = 3; trace(p->a + p->b[2] + p->d.c)}", 6 },
	{ "struct s { int a; int b; }; struct s v; BEGIN{"
	  "p = (struct s *)alloca(8); p->a = 3; p->b = 4; v = *p;"
	  "trace(v.a * 10 + v.b)}", 34 },
	{ "struct s { int a; int b; }; this struct s v; BEGIN{"
	  "p = (struct s *)alloca(8); p->b = 4; this->v = *p;"
	  "trace(this->v.b)}", 4 },
	{ "BEGIN{p = copyin(0x7f0000001000, 4); trace(*(int *)p)}",
		0x04030201 },
	/* inlines, enums, translators */
	{ "inline int sq[int x] = x * x; BEGIN{a = 3; trace(sq[a + 1])}", 16 },
	{ "inline int8_t n[int x] = x; BEGIN{a = 200; trace(n[a] + 0)}", -56 },
	{ "enum e { A = 3, B }; BEGIN{trace(A + B)}", 7 },
	{ "struct o { int v; }; translator struct o < int p > { v = p * 2; };"
	  "BEGIN{x = 21; trace(xlate <struct o> (x).v)}", 42 },
	{ "struct o { int8_t v; }; translator struct o < int p > { v = p; };"
	  "BEGIN{x = 200; trace(xlate <struct o> (x).v + 0)}", -56 },
	/* predicates and if */
	{ "BEGIN{x = 1} BEGIN/x == 2/{x = 5} BEGIN{trace(x)}", 1 },
	{ "BEGIN{x = 1; if (x) x = 2; trace(x)}", 2 },
	{ "BEGIN{x = 0; if (x) x = 2; trace(x)}", 0 },
	{ "BEGIN{x = 0; if (x) { x = 2; } else { x = 3; } trace(x)}", 3 },
	{ "BEGIN{x = 0; if (x == 0) { x++; if (x == 1) x = 7; else x = 8; } "
	  "trace(x)}", 7 },
	{ "BEGIN{x = 2; if (x == 0) x = 5; else if (x == 1) x = 6; "
	  "else if (x == 2) x = 7; else x = 8; trace(x)}", 7 },
	{ "BEGIN{x = 9; if (x == 0) x = 5; else if (x == 1) x = 6; "
	  "else if (x == 2) x = 7; else x = 8; trace(x)}", 8 },
	{ "BEGIN/1/{x = 1; if (x) { x = 0; x += 4; } trace(x)}", 4 },
};

static const struct { const char *text, *value; } strings[] = {
	{ "BEGIN{trace(\"abc\")}", "abc" },
	{ "BEGIN{s = \"abc\"; trace(s)}", "abc" },
	{ "BEGIN{s = strjoin(\"ab\", \"cd\"); trace(s)}", "abcd" },
	{ "BEGIN{trace(strjoin(strjoin(\"a\", \"b\"), strjoin(\"c\", \"d\")))}",
		"abcd" },
	{ "BEGIN{a[\"k\"] = \"v\"; trace(a[\"k\"])}", "v" },
	{ "BEGIN{self->s = \"v\"; trace(self->s)}", "v" },
	{ "BEGIN{this->s = \"v\"; trace(this->s)}", "v" },
	{ "BEGIN{s = \"abc\"; s = 1 > 2 ? \"x\" : s; trace(s)}", "abc" },
	{ "BEGIN{trace(execname)}", "victim" },
	{ "BEGIN{trace(copyinstr(0x7f0000001100))}", "target" },
	{ "BEGIN{trace(stringof(0x7f0000001100))}", "target" },
	{ "BEGIN{trace((string)(char *)0x7f0000001100)}", "target" },
	{ "BEGIN{s = (char *)0x7f0000001100; trace(stringof(s + 3))}", "get" },
	{ "BEGIN{trace(lltostr(-5))}", "-5" },
	{ "BEGIN{trace(substr(\"foobar\", -3))}", "bar" },
	{ "inline string n = \"in\"; BEGIN{trace(strjoin(n, \"line\"))}",
		"inline" },
};
/* clang-format on */

static void
prepare_memory(void)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	static const uint64_t self = 0x7f0000001000;

	fake_env_put(&k.target, 0, bytes, sizeof(bytes));
	fake_env_put(&k.target, 16, &self, sizeof(self));
	k.target.regs[UREG_RSP] = self;
	k.env.hit[0] = 50;
	fake_env_str(&k.target, 0x100, "target");
}

START_TEST(integers_have_their_values)
{
	struct prog_rec rec;
	uint32_t probe = load(ints[_i].text);

	prepare_memory();
	ecb_fire_probe(&k.env, probe);
	const void *p = last_value(ints[_i].text, &rec);
	ck_assert_int_eq(rec.kind, REC_INT);
	int64_t v = value_of(p, &rec);
	ck_assert_msg(v == ints[_i].value, "%s: %ld", ints[_i].text, (long)v);
	unload();
}
END_TEST

START_TEST(strings_have_their_values)
{
	struct prog_rec rec;
	uint32_t probe = load(strings[_i].text);

	prepare_memory();
	ecb_fire_probe(&k.env, probe);
	const char *p = last_value(strings[_i].text, &rec);
	ck_assert_int_eq(rec.kind, REC_STRING);
	ck_assert_msg(strncmp(p, strings[_i].value, rec.size) == 0, "%s: %.*s",
	    strings[_i].text, (int)rec.size, p);
	unload();
}
END_TEST

/* A fault in one part of a clause with `if' stops the parts that follow, and
 * no other clause. */
START_TEST(a_fault_ends_its_whole_source_clause)
{
	uint32_t probe =
	    load("int y; BEGIN{x = 1; if (x) { x = *(int *)8; } y = 1; "
		 "if (x) { y = 2; } y++;} BEGIN{trace(y)}");
	const struct rec_hdr *h, *last = NULL;
	bool fault = false;

	ecb_fire_probe(&k.env, probe);
	while ((h = kit_record(&k)) != NULL) {
		fault |= h->epid == EPID_FAULT;
		last = h;
	}
	ck_assert(fault);
	int32_t y;
	memcpy(&y, (const char *)last + sizeof(*last), sizeof(y));
	ck_assert_int_eq(y, 0);
	unload();
}
END_TEST

/* The order in which lazily and eagerly evaluated keys are pushed. */
START_TEST(aggregations_get_keys_and_values)
{
	uint32_t probe = load("BEGIN{@a[\"key\", 7, (char)3] = sum(5); "
			      "@a[\"key\", 7, 3] = sum(-2);"
			      "@b = quantize(8, 3);}");
	uint32_t cookie = 0;
	unsigned seen = 0;
	const struct agg_entry *e;

	ecb_fire_probe(&k.env, probe);
	while ((e = agg_next(kit_view(&k), 0, &cookie)) != NULL) {
		const struct prog_agg *a =
		    prog ? cc_globals(cc)->aggs.at[e->id - 1] : NULL;
		const uint64_t *v =
		    (const void *)(e->data + ROUND_UP(e->key_size, 8));
		seen++;
		ck_assert_uint_eq(e->key_size, a->key_size);
		if (strcmp(a->name, "b") == 0) {
			ck_assert_uint_eq(v[QUANTIZE_ZERO + 4], 3);
			continue;
		}
		ck_assert_int_eq((int64_t)v[0], 3);
		ck_assert_str_eq((const char *)e->data, "key");
		ck_assert_int_eq(
		    *(const int32_t *)(const void *)(e->data + a->keys[1].off),
		    7);
		ck_assert_int_eq(e->data[a->keys[2].off], 3);
	}
	ck_assert_uint_eq(seen, 2);
	unload();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("cc_eval");
	TCase *tc = tcase_create("cc_eval");
	SRunner *sr = srunner_create(s);

	tcase_add_loop_test(
	    tc, integers_have_their_values, 0, (int)ARRAY_SIZE(ints));
	tcase_add_loop_test(
	    tc, strings_have_their_values, 0, (int)ARRAY_SIZE(strings));
	tcase_add_test(tc, a_fault_ends_its_whole_source_clause);
	tcase_add_test(tc, aggregations_get_keys_and_values);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
