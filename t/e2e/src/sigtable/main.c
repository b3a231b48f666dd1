#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include "sigtable.h"
#include <sys/sdt.h>

pid_t tid_a, tid_b, helper, child;
int turn_now;
const char *self_path;

static int to_b[2], from_b[2];
static void (*b_does)(void);

/* What has probes: a function, its instructions, a static probe. */
NOINLINE long
work(long n)
{
	DTRACE_PROBE1(sigtable, here, n);
	for (long i = n & 15; i > 0; i--)
		n += n ^ i;
	return n;
}

void
die(const char *what)
{
	dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
	_exit(3);
}

void
read_all(int fd, void *buf, size_t len)
{
	while (len > 0) {
		ssize_t n = read(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die("read");
		buf = (char *)buf + n;
		len -= (size_t)n;
	}
}

void
write_all(int fd, const void *buf, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die("write");
		buf = (const char *)buf + n;
		len -= (size_t)n;
	}
}

/* ---- waiting ---- */

enum { ASLEEP, RUNNING, MASKED, WAYS };

/* Until something can be read. */
static void
await(int fd, int how)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	sigset_t all;

	/* sigfillset() leaves the library's own out. */
	memset(&all, 0xff, sizeof(all));
	if (how == RUNNING)
		while (poll(&p, 1, 0) <= 0) {
			work(3);
			sched_yield();
		}
	if (how == MASKED)
		while (ppoll(&p, 1, NULL, &all) < 0 && errno == EINTR)
			;
}

void
await_line(int fd, int how)
{
	char c;

	await(fd, how);
	do
		read_all(fd, &c, 1);
	while (c != '\n');
}

/* ---- thread B ---- */

static void *
b_main(void *arg)
{
	int how = (int)(intptr_t)arg;
	char c;

	tid_b = gettid();
	for (;;) {
		await(to_b[0], how);
		read_all(to_b[0], &c, 1);
		if (b_does != NULL)
			b_does();
		write_all(from_b[1], &c, 1);
	}
	return NULL;
}

void
in_b(void (*what)(void))
{
	char c = 'b';

	b_does = what;
	write_all(to_b[1], &c, 1);
	read_all(from_b[0], &c, 1);
}

void
start_b(int turn)
{
	pthread_t b;

	if (pipe2(to_b, O_CLOEXEC) != 0 || pipe2(from_b, O_CLOEXEC) != 0 ||
	    pthread_create(
		&b, NULL, b_main, (void *)(intptr_t)(turn / WAYS % WAYS)) != 0)
		die("B");
	in_b(NULL);
}

/* Both have been in the kernel, and have come back from there. */
void
settle(void)
{
	syscall(SYS_getppid);
	if (tid_b != 0)
		in_b(NULL);
	syscall(SYS_getppid);
}

/* ---- a turn ---- */

static void
set_b(void)
{
	if (turn_now & 2)
		set_stack(THREAD_B);
	set_mask(THREAD_B);
}

static const char *stage_now;

static void
report_b(void)
{
	report_thread(stage_now, "B");
}

static void
report(const char *stage)
{
	settle();
	stage_now = stage;
	report_thread(stage, "A");
	if (tid_b != 0)
		in_b(report_b);
	report_actions(stage);
	report_handled(stage, false);
}

static void
take_b(void)
{
	take_by_wait("taken", "B");
}

static void
take_all(void)
{
	bool b_first = turn_now & 1;

	if (turn_now & 4) {
		handle_all();
		if (b_first && tid_b != 0)
			in_b(take_by_handlers);
		take_by_handlers();
		if (!b_first && tid_b != 0)
			in_b(take_by_handlers);
		settle();
		report_handled("taken", true);
		return;
	}
	if (b_first && tid_b != 0)
		in_b(take_b);
	take_by_wait("taken", "A");
	if (!b_first && tid_b != 0)
		in_b(take_b);
}

/* From where the phase has been done on, in this image or the next. */
static int
conclude(void)
{
	report("phased");
	say("phased\n");
	await_line(STDIN_FILENO, turn_now % WAYS);
	report("let go");
	take_all();
	report("taken");
	say("end\n");
	return 0;
}

void
execute_self(const char *mode)
{
	char text[4][16];
	int n[] = { turn_now, (int)helper, helper_to(), helper_from() };

	for (int i = 0; i < 4; i++)
		snprintf(text[i], sizeof(text[i]), "%d", n[i]);
	execl(self_path, self_path, mode, text[0], text[1], text[2], text[3],
	    NULL);
	die(self_path);
}

static int
table(int turn, const struct phase *ph)
{
	turn_now = turn;
	tid_a = gettid();
	make_rows(turn, ph->makes_threads);
	start_helper();
	start_b(turn);
	set_actions();
	if (turn & 1)
		set_stack(THREAD_A);
	set_mask(THREAD_A);
	in_b(set_b);
	send_all(1);
	report("ready");
	say("ready %d\n", (int)getpid());
	await_line(STDIN_FILENO, turn % WAYS);
	work(1);
	in_b(NULL);
	if (turn / 9 & 1)
		in_b(ph->run);
	else
		ph->run();
	send_all(2);
	return conclude();
}

/* After exec(): the masks are the thread's who called it, and B has gone. */
static int
execed(char **argv)
{
	turn_now = atoi(argv[2]);
	helper_at(atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
	tid_a = gettid();
	work(1);
	return conclude();
}

static int
leaf(void)
{
	work(1);
	report_thread("leaf", "child");
	report_actions("leaf");
	return 7;
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	self_path = "/proc/self/exe";
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (strcmp(mode, "turns") == 0) {
		say("%d\n", TURNS);
		return 0;
	}
	if (strcmp(mode, "phases") == 0) {
		for (const struct phase *ph = phases; ph->name != NULL; ph++)
			say("%s\n", ph->name);
		return 0;
	}
	if (strcmp(mode, "leaf") == 0)
		return leaf();
	if (strcmp(mode, "execed") == 0 && argc == 6)
		return execed(argv);
	if (strcmp(mode, "victim") == 0)
		return victim();
	if (strcmp(mode, "deaths") == 0)
		return deaths();
	if (strcmp(mode, "table") != 0 || argc != 5)
		die("usage");
	library = argv[4];
	for (const struct phase *ph = phases; ph->name != NULL; ph++)
		if (strcmp(ph->name, argv[3]) == 0)
			return table(atoi(argv[2]), ph);
	die(argv[3]);
	return 3;
}
