/*
 * tracer/consume/printf: formats with their values.
 */
#include <time.h>

#include "t/unit/consume_fixture.h"

static struct fx *f;
static struct prog_clause *clause;
static struct prog_stmt *stmt;
static uint8_t data[2048];

static void
setup(void)
{
	f = fx_create(1);
	option_parse(&f->opts, "quiet", false);
}

static void
teardown(void)
{
	fx_destroy(f);
}

/* begin(), one arg() for each value, then end(). */
static void
begin(const char *fmt)
{
	clause = fx_clause(f);
	stmt = fx_stmt(f, clause, ACT_PRINTF);
	stmt->fmt = fx_fmt(f, fmt);
	memset(data, 0, sizeof(data));
}

static void
arg(enum rec_kind kind, const void *v, uint32_t size, bool is_signed)
{
	uint32_t off = fx_rec(clause, stmt, kind, size, is_signed);

	memcpy(data + off - sizeof(struct rec_hdr), v, size);
}

static void
end(void)
{
	fx_fire(f, fx_ecb(f, fx_begin(f), clause), data,
	    clause->rec_size - (uint32_t)sizeof(struct rec_hdr));
	ck_assert_int_eq(consume_records(fx_consume(f)), 0);
}

static void
print_int(const char *fmt, int64_t v, uint32_t size, bool is_signed)
{
	begin(fmt);
	arg(REC_INT, &v, size, is_signed);
	end();
}

static void
print_str(const char *fmt, const char *s)
{
	char text[32] = "";

	strncpy(text, s, sizeof(text) - 1);
	begin(fmt);
	arg(REC_STRING, text, sizeof(text), false);
	end();
}

START_TEST(size_and_sign_come_from_the_value)
{
	print_int("%d ", -1, 1, true);
	print_int("%d ", -1, 1, false);
	print_int("%d ", -1, 2, true);
	print_int("%i ", -1, 4, true);
	print_int("%d ", -1, 4, false);
	print_int("%d ", -1, 8, true);
	print_int("%d\n", -1, 8, false);
	print_int("%u ", -1, 1, true);
	print_int("%u ", -1, 4, true);
	print_int("%x ", -1, 1, true);
	print_int("%x ", -2, 2, true);
	print_int("%X ", -1, 4, true);
	print_int("%x ", -1, 8, true);
	print_int("%o\n", 8, 4, true);
	print_int("%hd ", 65535, 2, true);
	print_int("%lld ", INT64_MIN, 8, true);
	print_int("%lx\n", 0xabc, 8, false);
	ck_assert_str_eq(fx_out(f),
	    "-1 255 -1 -1 4294967295 -1 18446744073709551615\n"
	    "255 4294967295 ff fffe FFFFFFFF ffffffffffffffff 10\n"
	    "-1 -9223372036854775808 abc\n");
}
END_TEST

START_TEST(flags_and_widths)
{
	print_int("[%5d]", 42, 4, true);
	print_int("[%-5d]", 42, 4, true);
	print_int("[%05d]", -42, 4, true);
	print_int("[%+d]", 42, 4, true);
	print_int("[% d]", 42, 4, true);
	print_int("[%.4d]", -42, 4, true);
	print_int("[%7.4d]", 42, 4, true);
	print_int("[%07.4d]", 42, 4, true);
	print_int("[%-07d]", 42, 4, true);
	print_int("[%+u]\n", 42, 4, false);
	print_int("[%#x]", 42, 4, true);
	print_int("[%#X]", 42, 4, true);
	print_int("[%#o]", 8, 4, true);
	print_int("[%#x]", 0, 4, true);
	print_int("[%#010x]", 42, 4, true);
	print_int("[%.0d]", 0, 4, true);
	print_int("[%'d]\n", 1234567, 4, true); /* none in the C locale */
	ck_assert_str_eq(fx_out(f),
	    "[   42][42   ][-0042][+42][ 42][-0042][   0042][   0042]"
	    "[42     ][42]\n"
	    "[0x2a][0X2A][010][0][0x0000002a][0][1234567]\n");
}
END_TEST

START_TEST(pointers)
{
	print_int("[%p]", 0x7fff1234, 8, false);
	print_int("[%p]", -1, 4, true);
	print_int("[%?p]", 0x1234, 8, false);
	print_int("[%-?x]", 0x1234, 8, false);
	print_int("[%0?x]", 0x1234, 8, false);
	ck_assert_str_eq(fx_out(f),
	    "[7fff1234][ffffffff][            1234][1234            ]"
	    "[0000000000001234]");
}
END_TEST

START_TEST(stars_take_arguments)
{
	begin("[%*d|%-*d|%.*s|%*s]");
	arg(REC_INT, &(int){ 5 }, 4, true);
	arg(REC_INT, &(int){ 42 }, 4, true);
	arg(REC_INT, &(int){ 4 }, 4, true);
	arg(REC_INT, &(int){ 7 }, 4, true);
	arg(REC_INT, &(int){ 2 }, 4, true);
	arg(REC_STRING, "hello\0\0", 8, false);
	arg(REC_INT, &(int){ -6 }, 4, true);
	arg(REC_STRING, "abc\0\0\0\0", 8, false);
	end();
	ck_assert_str_eq(fx_out(f), "[   42|7   |he|abc   ]");
}
END_TEST

START_TEST(star_of_any_size_is_bounded)
{
	begin("%*d%.*d");
	arg(REC_INT, &(int){ INT32_MIN }, 4, true);
	arg(REC_INT, &(int){ 1 }, 4, true);
	arg(REC_INT, &(int){ INT32_MAX }, 4, true);
	arg(REC_INT, &(int){ 1 }, 4, true);
	end();
	ck_assert_uint_eq(strlen(fx_out(f)), 2 * 65536);
}
END_TEST

START_TEST(strings)
{
	char raw[4] = { 'a', 'b', 'c', 'd' };

	print_str("[%s]", "text");
	print_str("[%8s]", "text");
	print_str("[%-8s]", "text");
	print_str("[%.2s]", "text");
	print_str("[%s]", "\033[2J"); /* as it is */
	print_str("[%S]", "a\tb\n\"\\\001\303");
	begin("[%s]\n");
	arg(REC_CHARS, raw, sizeof(raw), false);
	end();
	ck_assert_str_eq(fx_out(f),
	    "[text][    text][text    ][te][\033[2J]"
	    "[a\\tb\\n\\\"\\\\\\001\\303][abcd]\n");
}
END_TEST

START_TEST(characters)
{
	print_int("[%c]", 'A', 4, true);
	print_int("[%3c]", 'A', 1, true);
	print_int("[%C]", 'A', 4, true);
	print_int("[%C]", '\n', 4, true);
	print_int("[%C]", '\'', 4, true);
	print_int("[%C]", 27, 4, true);
	print_int("[%lc]", 0x20ac, 4, true);
	begin("[%ls]");
	arg(REC_CHARS, L"h\u00e9", 12, false);
	end();
	ck_assert_str_eq(
	    fx_out(f), "[A][  A][A][\\n][\\'][\\033][\u20ac][h\u00e9]");
}
END_TEST

START_TEST(floats)
{
	begin("[%f][%8.2f][%-8.1e][%g][%Lf]");
	arg(REC_FLOAT, &(double){ 1.5 }, 8, true);
	arg(REC_FLOAT, &(float){ 2.25f }, 4, true);
	arg(REC_FLOAT, &(double){ 1000 }, 8, true);
	arg(REC_FLOAT, &(double){ 0.25 }, 8, true);
	arg(REC_FLOAT, &(long double){ 3 }, 16, true);
	end();
	ck_assert_str_eq(fx_out(f),
	    "[1.500000][    2.25][1.0e+03 ][0.25]"
	    "[3.000000]");
}
END_TEST

START_TEST(times)
{
	setenv("TZ", "UTC", 1);
	tzset();
	/* 2001-09-09 01:46:40 UTC */
	print_int("%Y\n", 1000000000LL * 1000000000, 8, true);
	print_int("%T\n", 1000000000LL * 1000000000 + 999999999, 8, true);
	print_int("[%22Y]\n", 0, 8, true);
	ck_assert_str_eq(fx_out(f),
	    "2001 Sep  9 01:46:40\n"
	    "Sun, 09 Sep 2001 01:46:40 UTC\n"
	    "[  1970 Jan  1 00:00:00]\n");
}
END_TEST

static struct addrspace *
space(void *ctx, uint32_t pid)
{
	*(uint32_t *)ctx = pid;
	return addrspace_by_id(7);
}

START_TEST(symbols_and_stacks)
{
	struct rec_sym s = { .pid = 1, .space = 7, .addr = 0x1210 };
	uint64_t stack[3] = { 0, 0x1110, 0 };
	struct rec_stack head = { .pid = 1, .space = 7 };
	uint32_t pid = 0;

	memcpy(stack, &head, sizeof(head));
	begin("[%A][%12A][%a]");
	arg(REC_UADDR, &s, sizeof(s), false);
	arg(REC_USYM, &s, sizeof(s), false);
	arg(REC_INT, &s.addr, 8, false);
	end();
	f->c = (consume_destroy(f->c), NULL);
	f->env.space = space;
	f->env.space_ctx = &pid;
	begin("[%A]%2k");
	arg(REC_INT, &s.addr, 8, false);
	arg(REC_STACK, stack, sizeof(stack), false);
	f->tid = 55;
	end();
	ck_assert_uint_eq(pid, 55);
	ck_assert_str_eq(fx_out(f),
	    "[a.out`f2+0x10][    a.out`f2][0x1210]"
	    "[a.out`f2+0x10]\n  a.out`f1+0x10\n");
}
END_TEST

START_TEST(ports_and_hosts)
{
	/* In network order; dynamic, and so without a name. */
	print_int("[%P]", 0xfffe, 2, false);
	begin("[%I]");
	arg(REC_BYTES, (uint8_t[]){ 203, 0, 113, 9 }, 4, false);
	end();
	print_str("[%I]", "not an address");
	print_str("[%I]", "203.0.113.7");
	ck_assert_str_eq(
	    fx_out(f), "[65279][203.0.113.9][not an address][203.0.113.7]");
}
END_TEST

START_TEST(text_alone_and_percent)
{
	begin("100%% of it");
	end();
	ck_assert_str_eq(fx_out(f), "100% of it");
}
END_TEST

START_TEST(values_missing_from_the_record_print_nothing)
{
	begin("[%d][%s]");
	arg(REC_INT, &(int){ 1 }, 4, true);
	stmt->recs[0].off = 4096; /* a layout that does not fit */
	end();
	ck_assert_str_eq(fx_out(f), "[][]");
}
END_TEST

FX_MAIN("printf", setup, teardown, size_and_sign_come_from_the_value,
    flags_and_widths, pointers, stars_take_arguments,
    star_of_any_size_is_bounded, strings, characters, floats, times,
    symbols_and_stacks, ports_and_hosts, text_alone_and_percent,
    values_missing_from_the_record_print_nothing)
