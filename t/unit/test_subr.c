/*
 * dlang/vm/subr*.c: every subroutine, with the edges that the language
 * documents.
 */
#include <arpa/inet.h>
#include <check.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "dlang/base/base.h"
#include "t/fake/env.h"

static struct kit k;
static uint32_t put_at; /* next free byte of the target */

static void
setup(void)
{
	kit_init(&k);
	kit_publish(&k);
	vm_begin(&k.env);
	put_at = 0;
}

static void
teardown(void)
{
	kit_fini(&k);
}

/* An argument: a number, or a string (in the image, or in the target). */
struct arg {
	const char *s;
	uint64_t v;
	bool in_target;
};

#define S(text) ((struct arg){ .s = (text) })
#define T(text) ((struct arg){ .s = (text), .in_target = true })
#define N(n)    ((struct arg){ .v = (uint64_t)(n) })

/* Call with up to three arguments; the fault is in k.env.fault. */
static uint64_t
call(uint32_t id, uint32_t n, struct arg a, struct arg b, struct arg c)
{
	const struct arg args[] = { a, b, c };
	char strs[1024] = "";
	uint32_t used = 1, len = 0;
	uint64_t ints[3], v = 0;
	dif_instr text[16];

	for (uint32_t i = 0; i < n; i++) {
		unsigned push = DIF_OP_PUSHTR, type = DIF_TYPE_STRING;
		if (args[i].s == NULL || args[i].in_target) {
			ints[i] = args[i].v;
			if (args[i].s != NULL) {
				ints[i] =
				    fake_env_str(&k.target, put_at, args[i].s);
				put_at += (uint32_t)strlen(args[i].s) + 1;
			} else {
				push = DIF_OP_PUSHTV;
				type = DIF_TYPE_CTF;
			}
			text[len++] = DIF_INSTR_INDEX(DIF_OP_SETX, i, 1);
		} else {
			text[len++] = DIF_INSTR_INDEX(DIF_OP_SETS, used, 1);
			strcpy(strs + used, args[i].s);
			used += (uint32_t)strlen(args[i].s) + 1;
		}
		text[len++] = DIF_INSTR(push, type, 0, 1);
	}
	text[len++] = DIF_INSTR_INDEX(DIF_OP_CALL, id, 2);
	text[len++] = DIF_INSTR(DIF_OP_RET, 0, 0, 2);
	kit_run(&k, kit_difo(&k, text, len, ints, 3, strs, used), &v);
	return v;
}

#define CALL1(NAME, a)       call(DIF_SUBR_##NAME, 1, a, N(0), N(0))
#define CALL2(NAME, a, b)    call(DIF_SUBR_##NAME, 2, a, b, N(0))
#define CALL3(NAME, a, b, c) call(DIF_SUBR_##NAME, 3, a, b, c)

/* The string at a VM address, NULL for 0. */
static const char *
str(uint64_t addr)
{
	if (addr == 0)
		return NULL;
	ck_assert(VMA_IS(addr));
	const struct region *r =
	    VMA_REGION(addr) == VMA_IMAGE ? &k.image : &k.store;
	return (const char *)r->base + VMA_REF(addr);
}

#define IS(call, text)                                        \
	do {                                                  \
		uint64_t got = call;                          \
		ck_assert_int_eq(k.env.fault.code, FLT_NONE); \
		ck_assert_pstr_eq(str(got), text);            \
	} while (0)
#define EQ(call, n)                                           \
	do {                                                  \
		int64_t got = (int64_t)(call);                \
		ck_assert_int_eq(k.env.fault.code, FLT_NONE); \
		ck_assert_int_eq(got, n);                     \
	} while (0)
#define FAULTS(call, flt)                                \
	do {                                             \
		ck_assert_uint_eq(call, 0);              \
		ck_assert_int_eq(k.env.fault.code, flt); \
	} while (0)

START_TEST(strlen_is_capped)
{
	char text[300];

	EQ(CALL1(STRLEN, S("")), 0);
	EQ(CALL1(STRLEN, S("four")), 4);
	EQ(CALL1(STRLEN, T("target")), 6);
	memset(text, 'x', 299);
	text[299] = 0;
	EQ(CALL1(STRLEN, T(text)), 256);
	FAULTS(CALL1(STRLEN, N(0)), FLT_BADADDR);
	ck_assert_uint_eq(k.env.fault.value, 0);
	FAULTS(CALL1(STRLEN, N(12)), FLT_BADADDR);
	ck_assert_uint_eq(k.env.fault.value, 12);
	FAULTS(call(DIF_SUBR_STRLEN, 0, N(0), N(0), N(0)), FLT_ILLOP);
	ck_assert_uint_eq(k.env.scratch_used, 0);
}
END_TEST

START_TEST(strchr_family)
{
	IS(CALL2(STRCHR, S("abcabc"), N('b')), "bcabc");
	IS(CALL2(STRRCHR, S("abcabc"), N('b')), "bc");
	IS(CALL2(STRCHR, T("abcabc"), N('c')), "cabc");
	IS(CALL2(STRRCHR, T("abcabc"), N('c')), "c");
	IS(CALL2(STRCHR, S("abc"), N('x')), NULL);
	IS(CALL2(STRRCHR, S("abc"), N('x')), NULL);
	IS(CALL2(STRCHR, S("abc"), N(0)), "");
	IS(CALL2(STRRCHR, S("abc"), N(0)), "");
	IS(CALL2(STRSTR, S("foobarbar"), S("bar")), "barbar");
	IS(CALL2(STRSTR, T("foobarbar"), T("bar")), "barbar");
	IS(CALL2(STRSTR, S("foobar"), S("")), "foobar");
	IS(CALL2(STRSTR, S("foobar"), S("foobarx")), NULL);
	IS(CALL2(STRSTR, S("aab"), S("ab")), "ab");
	FAULTS(CALL2(STRCHR, N(0), N('x')), FLT_BADADDR);
	FAULTS(CALL2(STRSTR, S("x"), N(0)), FLT_BADADDR);
}
END_TEST

START_TEST(index_and_rindex_are_perls)
{
	EQ(CALL3(INDEX, S("a.b.c"), S("."), N(2)), 3);
	EQ(CALL2(RINDEX, S("a.b.c"), S(".")), 3);
	EQ(CALL2(INDEX, S("foobarfoo"), S("foo")), 0);
	EQ(CALL3(INDEX, S("foobarfoo"), S("foo"), N(1)), 6);
	EQ(CALL3(INDEX, S("foobarfoo"), S("foo"), N(-5)), 0);
	EQ(CALL3(INDEX, S("foobarfoo"), S("foo"), N(100)), -1);
	EQ(CALL3(INDEX, S("foobarfoo"), S(""), N(100)), 9);
	EQ(CALL3(INDEX, S("foobarfoo"), S(""), N(-3)), 0);
	EQ(CALL3(RINDEX, S("foobarfoo"), S("foo"), N(-5)), -1);
	EQ(CALL3(RINDEX, S("foobarfoo"), S("foo"), N(0)), 0);
	EQ(CALL3(RINDEX, S("foobarfoo"), S("bar"), N(0)), -1);
	EQ(CALL3(RINDEX, S("foobarfoo"), S("foo"), N(5)), 0);
	EQ(CALL3(RINDEX, S("foobarfoo"), S("foo"), N(6)), 6);
	EQ(CALL3(RINDEX, S("foobarfoo"), S("foo"), N(100)), 6);
	EQ(CALL3(RINDEX, S("foobarfoo"), S(""), N(100)), 9);
	EQ(CALL3(RINDEX, S("foobarfoo"), S(""), N(-3)), 0);
	EQ(CALL3(RINDEX, S("foobarfoo"), S(""), N(2)), 2);
	EQ(CALL2(RINDEX, S("foobarfoo"), S("")), 9);
	EQ(CALL2(INDEX, S("ab"), S("abc")), -1);
	EQ(CALL2(RINDEX, S("ab"), S("abc")), -1);
}
END_TEST

START_TEST(substr_takes_pieces)
{
	IS(CALL2(SUBSTR, S("foobar"), N(-3)), "bar");
	IS(CALL3(SUBSTR, S("foobar"), N(1), N(-1)), "ooba");
	IS(CALL2(SUBSTR, S("foobar"), N(2)), "obar");
	IS(CALL3(SUBSTR, S("foobar"), N(2), N(2)), "ob");
	IS(CALL3(SUBSTR, S("foobar"), N(2), N(0)), "");
	IS(CALL2(SUBSTR, S("foobar"), N(6)), "");
	IS(CALL2(SUBSTR, S("foobar"), N(100)), "");
	IS(CALL3(SUBSTR, S("foobar"), N(4), N(100)), "ar");
	IS(CALL3(SUBSTR, S("foobar"), N(-3), N(-1)), "ba");
	IS(CALL3(SUBSTR, S("foobar"), N(-8), N(4)), "fo");
	IS(CALL3(SUBSTR, S("foobar"), N(-8), N(1)), "");
	IS(CALL3(SUBSTR, S("foobar"), N(2), N(-10)), "");
	IS(CALL3(SUBSTR, S("foobar"), N(INT32_MAX), N(INT32_MAX)), "");
	IS(CALL3(SUBSTR, S("foobar"), N(INT32_MIN), N(INT32_MAX)), "fooba");
	IS(CALL2(SUBSTR, T("foobar"), N(3)), "bar");
}
END_TEST

START_TEST(strjoin_copies_or_has_no_room)
{
	char a[201], b[58];

	IS(CALL2(STRJOIN, S("foo"), S("bar")), "foobar");
	IS(CALL2(STRJOIN, S(""), T("x")), "x");
	memset(a, 'a', 200);
	a[200] = 0;
	memset(b, 'b', 57);
	b[56] = 0; /* 256 in all: fits */
	ck_assert_uint_eq(strlen(str(CALL2(STRJOIN, S(a), S(b)))), 256);
	b[56] = 'b';
	b[57] = 0;
	FAULTS(CALL2(STRJOIN, S(a), S(b)), FLT_NOSCRATCH);
}
END_TEST

START_TEST(strtok_keeps_its_place_for_a_firing)
{
	IS(CALL2(STRTOK, N(0), S(",")), NULL);
	IS(CALL2(STRTOK, S(",,a,;bc;"), S(",;")), "a");
	IS(CALL2(STRTOK, N(0), S(",;")), "bc");
	IS(CALL2(STRTOK, N(0), S(",;")), NULL);
	IS(CALL2(STRTOK, N(0), S(",;")), NULL);
	IS(CALL2(STRTOK, T("x y"), S(" ")), "x");
	IS(CALL2(STRTOK, N(0), S("")), "y");
	IS(CALL2(STRTOK, S("one two"), S(" ")), "one");
	vm_begin(&k.env);
	IS(CALL2(STRTOK, N(0), S(" ")), NULL);
	IS(CALL2(STRTOK, S(""), S(" ")), NULL);
	FAULTS(CALL2(STRTOK, S("x"), N(0)), FLT_BADADDR);
}
END_TEST

START_TEST(numbers_as_text)
{
	IS(CALL1(LLTOSTR, N(-5)), "-5");
	IS(CALL1(LLTOSTR, N(0)), "0");
	IS(CALL1(LLTOSTR, N(INT64_MIN)), "-9223372036854775808");
	IS(CALL2(LLTOSTR, N(255), N(16)), "0xff");
	IS(CALL2(LLTOSTR, N(-1), N(16)), "0xffffffffffffffff");
	IS(CALL2(LLTOSTR, N(8), N(8)), "010");
	IS(CALL2(LLTOSTR, N(0), N(8)), "0");
	IS(CALL2(LLTOSTR, N(0), N(16)), "0x0");
	IS(CALL2(LLTOSTR, N(35), N(36)), "z");
	IS(CALL2(LLTOSTR, N(-1), N(2)),
	    "11111111111111111111111111111111"
	    "11111111111111111111111111111111");
	FAULTS(CALL2(LLTOSTR, N(1), N(1)), FLT_ILLOP);
	FAULTS(CALL2(LLTOSTR, N(1), N(37)), FLT_ILLOP);

	EQ(CALL1(STRTOLL, S("42")), 42);
	EQ(CALL1(STRTOLL, S("  -42x")), -42);
	EQ(CALL1(STRTOLL, S("+7")), 7);
	EQ(CALL1(STRTOLL, S("x")), 0);
	EQ(CALL1(STRTOLL, S("")), 0);
	EQ(CALL2(STRTOLL, S("0x1F"), N(16)), 31);
	EQ(CALL2(STRTOLL, S("0x"), N(16)), 0);
	EQ(CALL2(STRTOLL, T("-zZ"), N(36)), -1295);
	EQ(CALL2(STRTOLL, S("102"), N(2)), 2);
	EQ(CALL1(STRTOLL, S("-9223372036854775808")), INT64_MIN);
	FAULTS(CALL2(STRTOLL, S("1"), N(0)), FLT_ILLOP);
}
END_TEST

START_TEST(paths)
{
	static const struct {
		const char *path, *base, *dir;
	} rows[] = {
		{ "", ".", "." },
		{ "/", "/", "/" },
		{ "//", "/", "/" },
		{ "a", "a", "." },
		{ "a/", "a", "." },
		{ "/a", "a", "/" },
		{ "/a/b", "b", "/a" },
		{ "/a//b//", "b", "/a" },
		{ "a/b", "b", "a" },
		{ ".", ".", "." },
		{ "..", "..", "." },
	};
	static const struct {
		const char *path, *clean;
	} cleans[] = {
		{ "/usr/lib", "/usr/lib" },
		{ "/usr//lib", "/usr/lib" },
		{ "/usr/./lib", "/usr/lib" },
		{ "/usr/../lib", "/lib" },
		{ "/a/b/../../c", "/c" },
		{ "/../a", "/a" },
		{ "//", "/" },
		{ "/..", "/" },
		{ "/a/b/..", "/a/" },
		{ "a/../b", "b" },
		{ "../a", "../a" },
		{ "a/../../b", "../b" },
		{ "", "" },
		{ "/a/.hidden/..x/b", "/a/.hidden/..x/b" },
		{ "./a", "a" },
		{ "/a/", "/a/" },
		{ "/.../a", "/.../a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		IS(CALL1(BASENAME, S(rows[i].path)), rows[i].base);
		IS(CALL1(DIRNAME, S(rows[i].path)), rows[i].dir);
	}
	for (size_t i = 0; i < ARRAY_SIZE(cleans); i++) {
		IS(CALL1(CLEANPATH, S(cleans[i].path)), cleans[i].clean);
		vm_begin(&k.env);
	}
}
END_TEST

START_TEST(letters)
{
	IS(CALL1(TOUPPER, S("aZ@[`{0\xe4")), "AZ@[`{0\xe4");
	IS(CALL1(TOLOWER, S("aZ@[`{0\xc4")), "az@[`{0\xc4");
	IS(CALL1(TOUPPER, T("abc")), "ABC");
}
END_TEST

START_TEST(byte_order)
{
	EQ(CALL1(HTONS, N(0x11223344)), 0x4433);
	EQ(CALL1(NTOHS, N(0x1122)), 0x2211);
	EQ(CALL1(HTONL, N(0x1122334455)), 0x55443322);
	EQ(CALL1(NTOHL, N(0x11223344)), 0x44332211);
	EQ(CALL1(HTONLL, N(0x0102030405060708)), 0x0807060504030201);
	EQ(CALL1(NTOHLL, N(1)), 0x0100000000000000);
	EQ(CALL1(GETMAJOR, N(0x801)), 8);
	EQ(CALL1(GETMINOR, N(0x801)), 1);
	for (uint64_t dev = 0x0123456789abcdef, i = 0; i < 64; i++) {
		EQ(CALL1(GETMAJOR, N(dev)), major(dev));
		EQ(CALL1(GETMINOR, N(dev)), minor(dev));
		dev = dev << 1 | dev >> 63;
	}
}
END_TEST

START_TEST(network_addresses_as_the_c_library_prints_them)
{
	uint8_t b[16];
	char want[64];
	uint64_t seed = 88172645463325252ULL;

	IS(CALL2(INET_NTOP, N(2),
	       N(fake_env_put(&k.target, 4096, "\300\250\0\1", 4))),
	    "192.168.0.1");
	IS(CALL1(INET_NTOA, N(FAKE_MEM_BASE + 4096)), "192.168.0.1");
	FAULTS(CALL2(INET_NTOP, N(3), N(FAKE_MEM_BASE)), FLT_ILLOP);
	FAULTS(CALL1(INET_NTOA6, N(FAKE_MEM_BASE + FAKE_MEM_SIZE - 15)),
	    FLT_BADADDR);
	for (int i = 0; i < 3000; i++) {
		/* Groups of zeros and ones often; dotted forms sometimes. */
		for (int j = 0; j < 16; j++) {
			seed ^= seed << 13, seed ^= seed >> 7;
			seed ^= seed << 17;
			b[j] = seed & 0x300 ? 0 : (uint8_t)seed;
			if (i % 3 == 0 && j < 12)
				b[j] = i % 2 && j >= 10 ? 0xff : 0;
		}
		uint64_t addr = fake_env_put(&k.target, 4096, b, 16);
		inet_ntop(AF_INET6, b, want, sizeof(want));
		vm_begin(&k.env);
		uint64_t got = i & 1 ? CALL2(INET_NTOP, N(10), N(addr)) :
				       CALL1(INET_NTOA6, N(addr));
		ck_assert_str_eq(str(got), want);
	}
}
END_TEST

START_TEST(json_follows_paths)
{
	static const char text[] =
	    " { \"a\" : [ 1 , {\"b\": \"t\\\"x\", \"c\":[[0,2]]} ,true, null],"
	    "\"d.e\": -1.5e3, \"f\": {}, \"g\": \"\", \"[\": \"]\" } ";

	IS(CALL2(JSON, S(text), S("a[0]")), "1");
	IS(CALL2(JSON, S(text), S("a[1].b")), "t\\\"x");
	IS(CALL2(JSON, S(text), S("a[1].c[0][1]")), "2");
	IS(CALL2(JSON, S(text), S("a[1].c")), "[[0,2]]");
	IS(CALL2(JSON, S(text), S("a[2]")), "true");
	IS(CALL2(JSON, S(text), S("a[3]")), "null");
	IS(CALL2(JSON, S(text), S("a[4]")), NULL);
	IS(CALL2(JSON, S(text), S("f")), "{}");
	IS(CALL2(JSON, S(text), S("g")), "");
	IS(CALL2(JSON, S(text), S("h")), NULL);
	IS(CALL2(JSON, S(text), S("f.x")), NULL);
	IS(CALL2(JSON, S(text), S("g.x")), NULL);
	IS(CALL2(JSON, S(text), S("a.b")), NULL);
	IS(CALL2(JSON, S(text), S("a[x]")), NULL);
	IS(CALL2(JSON, S(text), S("a[")), NULL);
	IS(CALL2(JSON, T("[10,20]"), S("[1]")), "20");
	IS(CALL2(JSON, S("[]"), S("[0]")), NULL);
	IS(CALL2(JSON, S("{\"a\": "), S("a")), NULL);
	IS(CALL2(JSON, S("{\"a\": \"x"), S("a")), NULL);
	IS(CALL2(JSON, S("{\"a\": {\"b\""), S("a")), NULL);
	IS(CALL2(JSON, S(""), S("a")), NULL);
	FAULTS(CALL2(JSON, N(0), S("a")), FLT_BADADDR);
}
END_TEST

START_TEST(copyin_and_friends)
{
	uint64_t at = fake_env_str(&k.target, 1000, "0123456789");

	IS(CALL2(COPYIN, N(at), N(11)), "0123456789");
	FAULTS(CALL2(COPYIN, N(0), N(4)), FLT_BADADDR);
	FAULTS(CALL2(COPYIN, N(FAKE_MEM_BASE + FAKE_MEM_SIZE - 3), N(4)),
	    FLT_BADADDR);
	ck_assert_uint_eq(k.env.fault.value, FAKE_MEM_BASE + FAKE_MEM_SIZE - 3);
	FAULTS(CALL2(COPYIN, N(at), N(5000)), FLT_NOSCRATCH);
	FAULTS(CALL2(COPYIN, N(at), N(-1)), FLT_NOSCRATCH);
	IS(CALL1(COPYINSTR, N(at)), "0123456789");
	IS(CALL2(COPYINSTR, N(at), N(4)), "0123");
	IS(CALL2(COPYINSTR, N(at), N(0)), "");
	IS(CALL2(COPYINSTR, N(at), N(-1)), "0123456789");
	FAULTS(CALL1(COPYINSTR, N(0)), FLT_BADADDR);
	IS(CALL1(COPYINSTR, S("of ours")), "of ours");

	char text[300];
	memset(text, 'y', 299);
	text[299] = 0;
	ck_assert_uint_eq(strlen(str(CALL1(COPYINSTR, T(text)))), 256);
}
END_TEST

START_TEST(copies_into_scratch_only)
{
	uint64_t at = fake_env_str(&k.target, 1000, "0123456789");
	uint64_t mem = CALL1(ALLOCA, N(16));

	EQ(CALL3(COPYINTO, N(at), N(5), N(mem + 2)), 0);
	ck_assert(memcmp(str(mem),
		      "\0\0"
		      "01234",
		      8) == 0);
	EQ(CALL3(BCOPY, N(mem + 2), N(mem + 3), N(4)), 0);
	ck_assert(memcmp(str(mem),
		      "\0\0"
		      "00123",
		      8) == 0);
	EQ(CALL3(BCOPY, N(at), N(mem), N(0)), 0);
	FAULTS(CALL3(BCOPY, N(at), N(mem + 9), N(8)), FLT_BADADDR);
	ck_assert_uint_eq(k.env.fault.value, mem + 9);
	FAULTS(CALL3(COPYINTO, N(at), N(4), N(at)), FLT_BADADDR);
	FAULTS(CALL3(COPYINTO, N(at), N(4),
		   N(VMA(VMA_STORE, store_hdr(&k.store)->statics_ref))),
	    FLT_BADADDR);
	FAULTS(CALL3(BCOPY, N(0), N(mem), N(1)), FLT_BADADDR);
	FAULTS(CALL1(ALLOCA, N(4096)), FLT_NOSCRATCH);
	ck_assert_uint_eq(CALL1(ALLOCA, N(1)), mem + 16);
}
END_TEST

START_TEST(copyout_writes_the_target)
{
	uint64_t at = fake_env_str(&k.target, 1000, "..........");
	const char *mem = (const char *)k.target.mem + 1000;

	EQ(CALL3(COPYOUT, S("abcdef"), N(at), N(3)), 0);
	ck_assert_str_eq(mem, "abc.......");
	EQ(CALL3(COPYOUT, N(at), N(at + 4), N(3)), 0);
	ck_assert_str_eq(mem, "abc.abc...");
	EQ(CALL3(COPYOUTSTR, S("xy"), N(at), N(100)), 0);
	ck_assert_str_eq(mem, "xy");
	EQ(CALL3(COPYOUTSTR, S("1234"), N(at), N(4)), 0);
	ck_assert_str_eq(mem, "1234abc...");
	FAULTS(CALL3(COPYOUT, S("x"), N(0), N(1)), FLT_BADADDR);
	FAULTS(CALL3(COPYOUT, S("x"), N(64), N(1)), FLT_BADADDR);
	FAULTS(
	    CALL3(COPYOUT, S("x"), N(VMA(VMA_STORE, 64)), N(1)), FLT_BADADDR);
	FAULTS(CALL3(COPYOUTSTR, N(0), N(at), N(1)), FLT_BADADDR);
}
END_TEST

START_TEST(the_rest)
{
	uint64_t a = CALL1(RAND, N(0)), b = CALL1(RAND, N(0));

	ck_assert_uint_le(a, INT32_MAX);
	ck_assert_uint_le(b, INT32_MAX);
	ck_assert_uint_ne(a, b);
	EQ(CALL1(PROGENYOF, N(1)), 1);
	EQ(CALL1(PROGENYOF, N(4242)), 1);
	EQ(CALL1(PROGENYOF, N(5)), 0);
	EQ(CALL1(SPECULATION, N(0)), 1);
	EQ(CALL1(SPECULATION, N(0)), 0);
	ck_assert_uint_eq(kit_lane(&k)->drops[DROP_SPEC_UNAVAIL], 1);
}
END_TEST

START_TEST(every_subroutine_that_means_something_is_there)
{
	static const struct {
		uint32_t id;
		enum dif_subr_how how;
	} rows[] = {
#define DIF_SUBR(n, NAME, name, proto, needs, how) { n, how },
#include "dlang/dif_subrs.def"
#undef DIF_SUBR
	};

	/* Without arguments the absent ones are an illegal operation, whose
	 * value is the id; those that exist and need none succeed.  With
	 * three numbers a subroutine that exists does anything else. */
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].how == S_KERNEL)
			continue;
		vm_begin(&k.env);
		(void)call(rows[i].id, 3, S("1"), N(2), N(2));
		ck_assert_msg(k.env.fault.code != FLT_ILLOP ||
			k.env.fault.value != rows[i].id ||
			rows[i].id == DIF_SUBR_INET_NTOP,
		    "subroutine %u", rows[i].id);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("subr");
	TCase *tc = tcase_create("subr");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, strlen_is_capped);
	tcase_add_test(tc, strchr_family);
	tcase_add_test(tc, index_and_rindex_are_perls);
	tcase_add_test(tc, substr_takes_pieces);
	tcase_add_test(tc, strjoin_copies_or_has_no_room);
	tcase_add_test(tc, strtok_keeps_its_place_for_a_firing);
	tcase_add_test(tc, numbers_as_text);
	tcase_add_test(tc, paths);
	tcase_add_test(tc, letters);
	tcase_add_test(tc, byte_order);
	tcase_add_test(tc, network_addresses_as_the_c_library_prints_them);
	tcase_add_test(tc, json_follows_paths);
	tcase_add_test(tc, copyin_and_friends);
	tcase_add_test(tc, copies_into_scratch_only);
	tcase_add_test(tc, copyout_writes_the_target);
	tcase_add_test(tc, the_rest);
	tcase_add_test(tc, every_subroutine_that_means_something_is_there);
	suite_add_tcase(s, tc);

	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
