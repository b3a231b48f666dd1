/*
 * tracer/fire: what numbers mean to system calls, on memory made up here.
 */
#include <arpa/inet.h>
#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "tracer/fire/names_headers.h"

#include "dlang/base/reader.h"
#include "dlang/base/str.h"
#include "tracer/fire/decode.h"
#include "tracer/fire/names.h"
#include "tracer/ptrace/call.h"

/* Memory from 0x1000 on. */
#define AT 0x1000

static uint8_t memory[4096];
static size_t memory_len;

static int
memory_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	if (addr < AT || addr - AT > memory_len ||
	    len > memory_len - (addr - AT))
		return -EFAULT;
	memcpy(buf, memory + (addr - AT), len);
	return 0;
}

static const struct reader reader = { .read = memory_read };

static void
put(const void *at, size_t len)
{
	memcpy(memory, at, len);
	memory_len = len;
}

/* The same, with the rest of the page behind it. */
static void
put_page(const void *at, size_t len)
{
	put(at, len);
	memory_len = sizeof(memory);
}

static void
expect(struct str *got, const char *text)
{
	ck_assert_str_eq(str_c(got), text);
	str_fini(got);
}

static void
expect_open(uint64_t flags, const char *text)
{
	struct str got = { 0 };

	decode_open(&got, flags);
	expect(&got, text);
}

START_TEST(flags_of_open)
{
	expect_open(0, "O_RDONLY");
	expect_open(O_RDWR, "O_RDWR");
	expect_open(3, "3");
	expect_open(O_WRONLY | O_CREAT | O_TRUNC, "O_WRONLY|O_CREAT|O_TRUNC");
	/* O_SYNC has the bit of O_DSYNC, O_TMPFILE that of O_DIRECTORY. */
	expect_open(O_SYNC, "O_RDONLY|O_SYNC");
	expect_open(O_DSYNC, "O_RDONLY|O_DSYNC");
	expect_open(O_WRONLY | O_TMPFILE, "O_WRONLY|O_TMPFILE");
	expect_open(O_DIRECTORY, "O_RDONLY|O_DIRECTORY");
	/* Bits without a name. */
	expect_open(1ULL << 31 | O_CREAT, "O_RDONLY|O_CREAT|0x80000000");
}
END_TEST

/* No two names of a group are of one number: which of them would be shown? */
START_TEST(names_are_unique)
{
	static const struct row {
		enum names group;
		const char *name;
		uint64_t value;
	} rows[] = {
#define NAME(group, name) { NAMES_##group, #name, (uint64_t)(name) },
#include "tracer/fire/names.def"
#undef NAME
	};

	ck_assert_uint_gt(ARRAY_SIZE(rows), 300);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_str_eq(
		    name_of(rows[i].group, rows[i].value), rows[i].name);
	ck_assert_ptr_null(name_of(NAMES_ERRNO, 4095));
}
END_TEST

static void
expect_signal(uint64_t n, const char *text)
{
	struct str got = { 0 };

	decode_signal(&got, n);
	expect(&got, text);
}

START_TEST(signals)
{
	expect_signal(SIGSEGV, "SIGSEGV");
	expect_signal(0, "0");
	expect_signal(32, "SIGRT_0");
	expect_signal(64, "SIGRT_32");
	expect_signal(65, "65");
}
END_TEST

static void
expect_address(uint64_t addr, uint64_t len, const char *text)
{
	struct str got = { 0 };

	decode_address(&got, &reader, addr, len);
	expect(&got, text);
}

START_TEST(internet_addresses)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_port = htons(80),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
		.sin6_port = htons(443),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };

	/* Nothing is behind it, whether its length is known or not. */
	put(&in, sizeof(in));
	expect_address(AT, 0,
	    "{sa_family=AF_INET, sin_port=htons(80), "
	    "sin_addr=inet_addr(\"127.0.0.1\")}");
	expect_address(AT, sizeof(in),
	    "{sa_family=AF_INET, sin_port=htons(80), "
	    "sin_addr=inet_addr(\"127.0.0.1\")}");
	expect_address(AT, 4, "{sa_family=AF_INET}");
	expect_address(AT, 1, "0x1000");
	put(&in6, sizeof(in6));
	expect_address(AT, 0,
	    "{sa_family=AF_INET6, sin6_port=htons(443), "
	    "inet_pton(AF_INET6, \"::1\", &sin6_addr), sin6_scope_id=0}");
	expect_address(0, 0, "NULL");
	expect_address(0x9000, 0, "0x9000");
}
END_TEST

START_TEST(local_addresses)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX,
		.sun_path = "/run/\"x\"" };
	const size_t head = offsetof(struct sockaddr_un, sun_path);

	put(&un, sizeof(un));
	expect_address(
	    AT, 0, "{sa_family=AF_UNIX, sun_path=\"/run/\\\"x\\\"\"}");
	expect_address(AT, head + 4, "{sa_family=AF_UNIX, sun_path=\"/run\"}");
	memcpy(un.sun_path, "\0a\0b", 4);
	put(&un, sizeof(un));
	expect_address(
	    AT, head + 4, "{sa_family=AF_UNIX, sun_path=@\"a\\000b\"}");
	expect_address(AT, head, "{sa_family=AF_UNIX}");
	/* A path without a NUL fills it. */
	memset(un.sun_path, 'p', sizeof(un.sun_path));
	put(&un, sizeof(un));
	struct str want = { 0 };
	str_add(&want, "{sa_family=AF_UNIX, sun_path=\"");
	for (size_t i = 0; i < sizeof(un.sun_path); i++)
		str_addc(&want, 'p');
	str_add(&want, "\"}");
	expect_address(AT, sizeof(un), str_c(&want));
	str_fini(&want);
}
END_TEST

static void
expect_call(const struct syscall_call *c, bool returned, const char *text)
{
	struct str got = { 0 };

	decode_call(&got, &reader, c, returned);
	expect(&got, text);
}

#define CALL(number, ...) \
	(&(struct syscall_call){ .nr = SYS_##number, .args = { __VA_ARGS__ } })

START_TEST(arguments_by_type)
{
	put_page("a \"b\"\n", 7);
	expect_call(CALL(close, (uint64_t)-1), true, "-1");
	expect_call(CALL(getpid, 1, 2, 3), true, "");
	expect_call(CALL(chdir, AT), true, "\"a \\\"b\\\"\\n\"");
	expect_call(CALL(chdir, 0), true, "NULL");
	expect_call(CALL(chdir, 0x9000), true, "0x9000");
	expect_call(CALL(munmap, AT, 8192), true, "0x1000, 8192");
	expect_call(&(struct syscall_call){ .nr = -1 }, true, "");
}
END_TEST

START_TEST(only_arguments_that_it_has)
{
	put_page("f", 2);
	expect_call(CALL(openat, AT_FDCWD, AT, O_RDONLY, 0777), true,
	    "AT_FDCWD, \"f\", O_RDONLY");
	expect_call(CALL(openat, 3, AT, O_WRONLY | O_CREAT, 0600), true,
	    "3, \"f\", O_WRONLY|O_CREAT, 0600");
	/* O_DIRECTORY alone is no O_TMPFILE. */
	expect_call(CALL(open, AT, O_DIRECTORY, 7), true,
	    "\"f\", O_RDONLY|O_DIRECTORY");
	expect_call(CALL(fcntl, 1, F_GETFL, 99), true, "1, F_GETFL");
	expect_call(CALL(fcntl, 1, F_SETFD, 1), true, "1, F_SETFD, FD_CLOEXEC");
	expect_call(CALL(fcntl, 1, F_SETFL, O_NONBLOCK), true,
	    "1, F_SETFL, O_RDONLY|O_NONBLOCK");
	expect_call(CALL(fcntl, 1, F_GETLK, AT), true, "1, F_GETLK, 0x1000");
	expect_call(CALL(futex, AT, FUTEX_WAKE_PRIVATE, 1, 7), true,
	    "0x1000, FUTEX_WAKE_PRIVATE, 1");
}
END_TEST

/* What a call fills is read when it has, and only if it has. */
START_TEST(buffers)
{
	struct syscall_call c = {
		.nr = SYS_read, .args = { 0, AT, 100 }, .result = 3
	};

	put("abcdef", 6);
	expect_call(&c, false, "0, 0x1000, 100");
	expect_call(&c, true, "0, \"abc\", 100");
	c.result = -EAGAIN;
	expect_call(&c, true, "0, 0x1000, 100");
	c.result = 0;
	expect_call(&c, true, "0, \"\", 100");
	c.nr = SYS_write;
	c.args[2] = 6;
	expect_call(&c, false, "0, \"abcdef\", 6");
	c.args[2] = 7; /* not all of it can be read */
	expect_call(&c, false, "0, 0x1000, 7");
	memset(memory, 'x', 40);
	memory_len = 40;
	c.args[2] = 40;
	expect_call(
	    &c, false, "0, \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"..., 40");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("decode");
	TCase *tc = tcase_create("decode");

	tcase_add_test(tc, flags_of_open);
	tcase_add_test(tc, names_are_unique);
	tcase_add_test(tc, signals);
	tcase_add_test(tc, internet_addresses);
	tcase_add_test(tc, local_addresses);
	tcase_add_test(tc, arguments_by_type);
	tcase_add_test(tc, only_arguments_that_it_has);
	tcase_add_test(tc, buffers);
	suite_add_tcase(s, tc);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
