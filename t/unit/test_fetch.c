/*
 * tracer/drive/fetch.c: which debug files are asked for, once each, and what the
 * user is told of it.  The child process is real; the server, the objects and
 * the processes are doubles.
 */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "dlang/base/mem.h"
#include "symbols/debuginfod.h"
#include "symbols/maps.h"
#include "symbols/object.h"
#include "t/fake/fixture.h"
#include "t/unit/suite.h"
#include "tracer/base/state.h"
#include "tracer/drive/fetch.h"
#include "tracer/drive/loop.h"
#include "tracer/drive/targets.h"
#include "tracer/ptrace/event.h"

/* ---- objects ---- */

static struct file {
	const char *path, *name, *id, *interp;
	bool has_symtab;
} files[] = {
	{ "/bin/app", "app", "a1", NULL, false },
	{ "/lib/libfoo.so.6", "libfoo.so.6", "f1", NULL, false },
	{ "/lib/libfoobar.so", "libfoobar.so", "f2", NULL, false },
	{ "/lib/libfull.so", "libfull.so", "f3", NULL, true },
	{ "/lib/libnoid.so", "libnoid.so", NULL, NULL, false },
	{ "/lib/again.so", "again.so", "f1", NULL, false },
	{ "/bin/linked", "linked", "a2", "LINKER", false },
};

static int
double_open(const char *path, struct object **out)
{
	const char *root = strstr(path, "/root");

	path = root != NULL ? root + 5 : path;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (strcmp(files[i].path, path) == 0) {
			*out = (struct object *)&files[i];
			return 0;
		}
	return -ENOENT;
}

static const struct file *
file_of(const struct object *o)
{
	return (const struct file *)o;
}

/* ---- processes ---- */

static const char maps_text[] =
    "1000-2000 r--p 00000000 08:01 5 /lib/libfoobar.so\n"
    "2000-3000 r-xp 00000000 08:01 5 /lib/libfoo.so.6\n"
    "3000-4000 r-xp 00000000 00:00 0 [vdso]\n"
    "4000-5000 r-xp 00000000 08:01 5 /lib/libfull.so\n"
    "5000-6000 r-xp 00000000 08:01 5 /lib/libnoid.so\n"
    "6000-7000 r-xp 00000000 08:01 5 /lib/again.so\n";

static int
double_maps(pid_t pid, struct maps *out)
{
	*out = (struct maps){ 0 };
	if (pid == 77)
		return maps_parse(maps_text, sizeof(maps_text) - 1, out);
	return -ESRCH;
}

/* ---- the server, in the child ---- */

static int answer;      /* of the server */
static bool is_slow;    /* it tells of progress */
static bool is_library; /* it is not installed */
static bool hangs;

static int
double_fetch(
    const char *id, void (*tell)(void *, long, long), void *ctx, char **path)
{
	if (is_library)
		return -ELIBACC;
	if (hangs) {
		tell(ctx, 0, 0);
		for (;;)
			pause();
	}
	if (is_slow) {
		tell(ctx, 0, 0);
		tell(ctx, 2048, 8192);
	}
	*path = mem_printf("/cache/%s", id);
	return answer;
}

static int64_t clock_step; /* ns between two looks at the clock */

static uint64_t
double_clock(void)
{
	static uint64_t now = 1000000000;

	return now += (uint64_t)clock_step;
}

/* ---- in the tracer ---- */

static char *added; /* "id path, " */
static bool is_wanted = true, stopping;
static struct state state;
static char *said;
static size_t said_len;
static int waited; /* the child's status */

static void
double_add(const char *id, const char *path)
{
	char *text =
	    mem_printf("%s%s %s, ", added != NULL ? added : "", id, path);

	mem_free(added);
	added = text;
}

static int
double_await(pid_t pid)
{
	ck_assert_int_eq(waitpid(pid, &waited, 0), pid);
	return waited;
}

static int
double_split(const char *command, char ***argv)
{
	static char *words[2];

	if (strcmp(command, "\"") == 0)
		return -EINVAL;
	words[0] = (char *)(uintptr_t)command;
	*argv = words;
	return 0;
}

static char *
double_find(const char *name)
{
	return strcmp(name, "nowhere") == 0 ? NULL : mem_strdup(name);
}

/* The time of a server that hangs is over when it has been named. */
static int
double_poll(struct pollfd *p, int ms)
{
	static bool named;

	if (hangs && !stopping && !named) {
		named = true;
		ms = -1;
	}
	return poll(p, 1, ms);
}

#define object_open(path, show, out, why)   double_open(path, out)
#define object_put(o)                       ((void)(o))
#define object_basename(o)                  (file_of(o)->name)
#define object_build_id(o)                  (file_of(o)->id)
#define object_has_symtab(o)                (file_of(o)->has_symtab)
#define object_interp(o)                    (file_of(o)->interp)
#define maps_read(pid, maps)                double_maps(pid, maps)
#define debuginfod_fetch(id, each, c, path) double_fetch(id, each, c, path)
#define debuginfod_add(id, path)            double_add(id, path)
#define debuginfod_wanted()                 is_wanted
#define loop_stopping()                     stopping
#define event_await_plain(su, pid)          double_await(pid)
#define targets_split(text, argv, why)      ((void)(why), double_split(text, argv))
#define targets_free_argv(argv)             ((void)(argv))
#define targets_find_program(name)          double_find(name)
#define clock_ns(clock)                     double_clock()
#define poll(p, n, ms)                      double_poll(p, ms)
#include "tracer/drive/fetch.c"

static const char *commands[1];
static pid_t pids[1];
static struct fetch f;

static void
setup(void)
{
	state.name = "dtrap";
	options_init(&state.opts);
	state.output.err = open_memstream(&said, &said_len);
	f = (struct fetch){ .text = "pid$target:libfoo::entry" };
	ck_assert_int_eq(
	    option_parse(&state.opts, "debuginfodtime=60", false), 0);
}

static void
teardown(void)
{
	fclose(state.output.err);
	free(said);
	mem_free(added);
	options_fini(&state.opts);
}

static void
fetches(const char *want_added, const char *want_said)
{
	fetch_debug_files(&state, &f);
	fflush(state.output.err);
	ck_assert_str_eq(added != NULL ? added : "", want_added);
	ck_assert_str_eq(said, want_said);
}

static void
command(const char *text)
{
	commands[0] = text;
	f.commands = commands;
	f.ncommands = 1;
}

static void
process(pid_t pid)
{
	pids[0] = pid;
	f.pids = pids;
	f.npids = 1;
}

/* ---- which files ---- */

START_TEST(the_program_is_asked_for)
{
	command("/bin/app");
	fetches("a1 /cache/a1, ", "");
	ck_assert(WIFEXITED(waited));
}
END_TEST

/* Those with symbols, without a build id, and a second name of a file, are
 * not. */
START_TEST(libraries_that_a_program_names_are)
{
	process(77);
	fetches("f1 /cache/f1, ", "");
}
END_TEST

START_TEST(all_libraries_are_if_the_user_wants)
{
	ck_assert_int_eq(option_parse(&state.opts, "debuginfod=all", false), 0);
	f.text = "";
	process(77);
	/* Data that is mapped is no code of it. */
	fetches("f1 /cache/f1, ", "");
}
END_TEST

START_TEST(a_name_is_a_whole_word)
{
	process(77);
	f.text = "pid$target:libfoobar::entry";
	fetches("", "");
	f.text = "pid$target:mylibfoo::entry,my-libfoo:::,libfoo_x:::";
	fetches("", "");
	f.text = "mylibfoo libfoo.so.6";
	fetches("f1 /cache/f1, ", "");
}
END_TEST

START_TEST(processes_are_named_by_number)
{
	f.text = "pid:libfoo:: pid0:: pid077:: pid99999999999::";
	fetches("", "");
	f.text = "pid12:libfoo::entry, pid77:libfoo::entry";
	fetches("f1 /cache/f1, ", "");
}
END_TEST

START_TEST(commands_that_cannot_be_found)
{
	command("\"");
	fetches("", "");
	command("nowhere");
	fetches("", "");
	command("/bin/unknown");
	fetches("", "");
}
END_TEST

START_TEST(the_interpreter_of_a_script)
{
	char *path = mem_strdup(fixture_path("script"));

	fixture_sh("printf '#! /bin/app -x\\n' >$DIR/script");
	command(path);
	fetches("a1 /cache/a1, ", "");
	fixture_sh("printf '#!\\n' >$DIR/script");
	fetches("a1 /cache/a1, ", "");
	mem_free(path);
}
END_TEST

START_TEST(libraries_that_the_linker_would_load)
{
	char *linker = mem_strdup(fixture_path("ld"));

	fixture_sh("cat >$DIR/ld <<'END'\n"
		   "#!/bin/sh\n"
		   "[ \"$1 $2\" = '--list /bin/linked' ] || exit 1\n"
		   "echo '	libfoo.so.6 => /lib/libfoo.so.6 (0x1000)'\n"
		   "echo '	libnone.so => not found'\n"
		   "echo '	/lib/libfoobar.so (0x2000)'\n"
		   "END\nchmod +x $DIR/ld");
	files[6].interp = linker;
	f.text = "libfoo libfoobar";
	command("/bin/linked");
	fetches("a2 /cache/a2, f1 /cache/f1, f2 /cache/f2, ", "");
	files[6].interp = "/nowhere";
	mem_free(linker);
}
END_TEST

START_TEST(a_linker_that_is_not_there)
{
	files[6].interp = "/nowhere";
	command("/bin/linked");
	fetches("a2 /cache/a2, ", "");
}
END_TEST

/* ---- what the user is told ---- */

START_TEST(a_server_that_has_to_be_asked)
{
	is_slow = true;
	command("/bin/app");
	fetches("a1 /cache/a1, ",
	    "dtrap: asking debuginfod for the symbols of app\n");
}
END_TEST

START_TEST(progress_is_told_now_and_then)
{
	is_slow = true;
	clock_step = 2000000000;
	command("/bin/app");
	fetches("a1 /cache/a1, ",
	    "dtrap: asking debuginfod for the symbols of app\n"
	    "dtrap: debuginfod: app: 2 of 8 KiB\n");
}
END_TEST

START_TEST(no_server_has_it)
{
	answer = -ENOENT;
	command("/bin/app");
	fetches("", "dtrap: no debuginfod server has the symbols of app\n");
}
END_TEST

START_TEST(no_server_answers)
{
	answer = -ETIMEDOUT;
	command("/bin/app");
	fetches("",
	    "dtrap: no symbols of app from debuginfod: Connection timed "
	    "out\n");
}
END_TEST

START_TEST(the_library_is_missing)
{
	is_library = true;
	command("/bin/app");
	process(77);
	fetches("",
	    "dtrap: DEBUGINFOD_URLS is set, but libdebuginfod is not "
	    "installed: symbols are not downloaded\n");
}
END_TEST

START_TEST(the_time_is_over)
{
	hangs = true;
	clock_step = 1000000000; /* each look at the clock is a second */
	ck_assert_int_eq(
	    option_parse(&state.opts, "debuginfodtime=3", false), 0);
	command("/bin/app");
	fetch_debug_files(&state, &f);
	fflush(state.output.err);
	ck_assert_ptr_nonnull(strstr(said,
	    "dtrap: debuginfod took more than 3 seconds: going on without the "
	    "symbols of app\n"));
	ck_assert(WIFSIGNALED(waited));
	ck_assert_int_eq(WTERMSIG(waited), SIGKILL);
}
END_TEST

START_TEST(the_user_ends_it)
{
	hangs = stopping = true;
	command("/bin/app");
	fetches("", "");
	ck_assert(WIFSIGNALED(waited));
}
END_TEST

START_TEST(nobody_is_asked)
{
	waited = -1;
	command("/bin/app");
	is_wanted = false;
	fetches("", "");
	is_wanted = true;
	ck_assert_int_eq(
	    option_parse(&state.opts, "debuginfod=none", false), 0);
	fetches("", "");
	ck_assert_int_eq(
	    option_parse(&state.opts, "debuginfod=named", false), 0);
	ck_assert_int_eq(
	    option_parse(&state.opts, "debuginfodtime=0", false), 0);
	fetches("", "");
	ck_assert_int_eq(waited, -1);
}
END_TEST

/* Lines may come in pieces, or several at once. */
START_TEST(lines_in_pieces)
{
	struct waiter w = { .st = &state };
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	w.in = fds[0];
	ck_assert_int_eq(write(fds[1], "have a b\nha", 11), 11);
	ck_assert(take_lines(&w));
	ck_assert_str_eq(added, "a b, ");
	ck_assert_int_eq(
	    write(fds[1], "ve c d\nhave\nhave x\nhave e f\n", 28), 28);
	ck_assert(take_lines(&w));
	ck_assert_str_eq(added, "a b, c d, e f, ");
	close(fds[1]);
	ck_assert(!take_lines(&w));
	close(fds[0]);
}
END_TEST

START_TEST(a_line_without_an_end)
{
	struct waiter w = { .st = &state };
	int fds[2];
	char x[sizeof(w.line)];

	memset(x, 'x', sizeof(x));
	ck_assert_int_eq(pipe(fds), 0);
	w.in = fds[0];
	ck_assert_int_eq(write(fds[1], x, sizeof(x)), sizeof(x));
	ck_assert(!take_lines(&w));
	close(fds[0]);
	close(fds[1]);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		the_program_is_asked_for,
		libraries_that_a_program_names_are,
		all_libraries_are_if_the_user_wants,
		a_name_is_a_whole_word,
		processes_are_named_by_number,
		commands_that_cannot_be_found,
		the_interpreter_of_a_script,
		libraries_that_the_linker_would_load,
		a_linker_that_is_not_there,
		a_server_that_has_to_be_asked,
		progress_is_told_now_and_then,
		no_server_has_it,
		no_server_answers,
		the_library_is_missing,
		the_time_is_over,
		the_user_ends_it,
		nobody_is_asked,
		lines_in_pieces,
		a_line_without_an_end,
	};

	fixture_setup();
	int failed =
	    suite_run("fetch", setup, teardown, tests, ARRAY_SIZE(tests));
	fixture_teardown();
	return failed;
}
