/*
 * Output that nobody waits for: order, drops, errors, ends.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/consume/writer.h"

static int ends[2];

static void
setup(void)
{
	ck_assert_int_eq(pipe(ends), 0);
	signal(SIGPIPE, SIG_IGN);
}

static void
teardown(void)
{
	close(ends[0]);
	close(ends[1]);
}

static bool
enough(void)
{
	return true;
}

/* Far more than a pipe holds. */
#define LOT 1000000

static void
write_lot(FILE *f, char c)
{
	char *text = malloc(LOT);

	memset(text, c, LOT);
	ck_assert_uint_eq(fwrite(text, 1, LOT, f), LOT);
	ck_assert_int_eq(fflush(f), 0);
	free(text);
}

static void
read_all(char c, size_t all)
{
	char buf[4096];

	for (size_t n = 0; n < all;) {
		size_t want = all - n < sizeof(buf) ? all - n : sizeof(buf);
		ssize_t got = read(ends[0], buf, want);
		ck_assert_int_gt(got, 0);
		/* An assertion for each byte takes its time. */
		ssize_t same = 0;
		while (same < got && buf[same] == c)
			same++;
		ck_assert_int_eq(same, got);
		n += (size_t)got;
	}
}

static void
read_lot(char c)
{
	read_all(c, LOT);
}

START_TEST(text_is_there_after_a_flush)
{
	FILE *f = writer_open(ends[1], false, false, 0);
	char buf[8] = "";

	ck_assert_int_eq(writer_fd(f), ends[1]);
	fputs("hello", f);
	ck_assert_int_eq(writer_wait(f, 0, NULL), 0);
	ck_assert_int_eq(read(ends[0], buf, sizeof(buf)), 5);
	ck_assert_str_eq(buf, "hello");
	ck_assert_uint_eq(writer_waiting(f), 0);
	writer_close(f);
}
END_TEST

START_TEST(nobody_reads_and_nobody_waits)
{
	FILE *f = writer_open(ends[1], false, false, 0);

	write_lot(f, 'a');
	write_lot(f, 'b');
	ck_assert_uint_gt(writer_waiting(f), LOT);
	ck_assert_int_eq(writer_wait(f, 0, enough), -EINTR);
	ck_assert_int_eq(writer_wait(f, 3 * LOT, NULL), 0);
	/* And then somebody does. */
	read_lot('a');
	read_lot('b');
	ck_assert_int_eq(writer_wait(f, 0, NULL), 0);
	writer_close(f);
}
END_TEST

/* Nobody else is needed for it: the thread has ended. */
START_TEST(once_settled_the_caller_writes)
{
	FILE *f = writer_open(ends[1], false, false, 0);
	char buf[8] = "";

	fputs("one", f);
	ck_assert_int_eq(writer_wait(f, 0, NULL), 0);
	writer_rest();
	writer_settle();
	fputs("two", f);
	ck_assert_int_eq(fflush(f), 0);
	ck_assert_uint_eq(writer_waiting(f), 0);
	ck_assert_int_eq(read(ends[0], buf, sizeof(buf)), 6);
	ck_assert_str_eq(buf, "onetwo");
	write_lot(f, 'a');
	ck_assert_uint_gt(writer_waiting(f), 0);
	ck_assert_int_eq(writer_wait(f, 0, enough), -EINTR);
	writer_close(f);
}
END_TEST

/* Text that the thread is writing is before that of the caller. */
START_TEST(once_settled_the_order_is_kept)
{
	FILE *f = writer_open(ends[1], false, false, 0);

	write_lot(f, 'a');
	writer_rest();
	writer_settle();
	write_lot(f, 'b');
	read_lot('a');
	/* As much as the pipe takes is there now or later. */
	ck_assert_int_eq(writer_wait(f, LOT / 2, enough), -EINTR);
	read_all('b', LOT / 2);
	ck_assert_int_eq(writer_wait(f, LOT / 2, NULL), 0);
	writer_close(f);
}
END_TEST

START_TEST(a_thread_that_rests_comes_again)
{
	FILE *f = writer_open(ends[1], false, false, 0);
	char buf[4] = "";

	for (int i = 0; i < 100; i++) {
		fputc('a', f);
		ck_assert_int_eq(writer_wait(f, 0, NULL), 0);
		ck_assert_int_eq(read(ends[0], buf, sizeof(buf)), 1);
		writer_rest();
	}
	writer_close(f);
}
END_TEST

/* A reader that is slow is waited for, even by one who has had enough. */
START_TEST(what_is_read_is_written)
{
	FILE *f = writer_open(ends[1], false, false, 0);

	write_lot(f, 'a');
	writer_settle();
	pid_t reader = fork();
	if (reader == 0) {
		read_lot('a');
		_exit(0);
	}
	ck_assert_int_eq(writer_wait(f, 0, enough), 0);
	int status;
	ck_assert_int_eq(waitpid(reader, &status, 0), reader);
	ck_assert_int_eq(status, 0);
	writer_close(f);
}
END_TEST

START_TEST(what_was_closed_is_waited_for)
{
	FILE *f = writer_open(ends[1], false, false, 0);

	write_lot(f, 'a');
	writer_close(f);
	ck_assert_int_eq(writer_wait_closed(enough), -EINTR);
	read_lot('a');
	ck_assert_int_eq(writer_wait_closed(NULL), 0);
}
END_TEST

START_TEST(what_is_too_much_is_counted)
{
	FILE *f = writer_open(ends[1], false, false, LOT + LOT / 2);

	write_lot(f, 'a');
	write_lot(f, 'b');
	size_t lost = writer_dropped(f);
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_le(lost, LOT);
	ck_assert_uint_eq(writer_dropped(f), 0);
	read_lot('a');
	read_all('b', LOT - lost);
	ck_assert_int_eq(writer_wait(f, 0, NULL), 0);
	write_lot(f, 'c');
	read_lot('c');
	writer_close(f);
}
END_TEST

START_TEST(a_reader_that_goes_away_is_an_error)
{
	FILE *f = writer_open(ends[1], false, false, 0);

	write_lot(f, 'a');
	close(ends[0]);
	ck_assert_int_eq(writer_wait(f, 0, NULL), -EPIPE);
	fputs("more", f);
	ck_assert_int_ne(fflush(f), 0);
	ck_assert_int_eq(errno, EPIPE);
	writer_close(f);
	ck_assert_int_eq(pipe(ends), 0);
}
END_TEST

START_TEST(closing_does_not_wait)
{
	FILE *f = writer_open(ends[1], false, false, 0);

	write_lot(f, 'a');
	writer_close(f);
	read_lot('a'); /* as long as we live */
}
END_TEST

/* Somebody else has made the descriptor so. */
START_TEST(a_descriptor_that_does_not_block)
{
	FILE *f = writer_open(ends[1], false, false, 0);

	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	write_lot(f, 'a');
	read_lot('a');
	ck_assert_int_eq(writer_wait(f, 0, NULL), 0);
	writer_close(f);
}
END_TEST

START_TEST(other_streams_are_as_they_are)
{
	FILE *f = tmpfile();

	fputs("text", f);
	ck_assert_int_eq(writer_fd(f), fileno(f));
	ck_assert_uint_eq(writer_waiting(f), 0);
	ck_assert_uint_eq(writer_dropped(f), 0);
	ck_assert_int_eq(writer_wait(f, 0, NULL), 0);
	writer_close(f);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("writer");
	TCase *t = tcase_create("writer");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, text_is_there_after_a_flush);
	tcase_add_test(t, nobody_reads_and_nobody_waits);
	tcase_add_test(t, once_settled_the_caller_writes);
	tcase_add_test(t, once_settled_the_order_is_kept);
	tcase_add_test(t, a_thread_that_rests_comes_again);
	tcase_add_test(t, what_is_read_is_written);
	tcase_add_test(t, what_was_closed_is_waited_for);
	tcase_add_test(t, what_is_too_much_is_counted);
	tcase_add_test(t, a_reader_that_goes_away_is_an_error);
	tcase_add_test(t, closing_does_not_wait);
	tcase_add_test(t, a_descriptor_that_does_not_block);
	tcase_add_test(t, other_streams_are_as_they_are);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
