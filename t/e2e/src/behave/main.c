/*
 * behave -l [GROUP]: the names of the behaviours.
 * behave [-mw] [-r MS] NAME: show one; with -w say "ready PID" and wait for
 * a line before it, "finished" and wait for a line after it; with -m wait where
 * the behaviour has made itself what it is to be; with -r show it again
 * and again for MS milliseconds, each time in a child of its own.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>

#include "behave.h"

static const struct group {
	const char *name;
	const struct behaviour *list;
} groups[] = {
	{ "signals", behave_signals },
	{ "faults", behave_faults },
	{ "timers", behave_timers },
	{ "waits", behave_waits },
	{ "family", behave_family },
	{ "threads", behave_threads },
	{ "flow", behave_flow },
	{ "memory", behave_memory },
	{ "limits", behave_limits },
	{ "debuggers", behave_debuggers },
};

#define GROUPS (sizeof(groups) / sizeof(*groups))

const char *behave_self;
static bool ask_midway;

NOINLINE int
work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

NOINLINE long
hot(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += work(i);
	return sum;
}

void
say_status(const char *what, int status)
{
	if (WIFEXITED(status))
		printf("%s: exited %d\n", what, WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		printf("%s: signal %d\n", what, WTERMSIG(status));
	else if (WIFSTOPPED(status))
		printf("%s: stopped %d event %d\n", what, WSTOPSIG(status),
		    status >> 16);
	else if (WIFCONTINUED(status))
		printf("%s: continued\n", what);
	else
		printf("%s: status %x\n", what, status);
}

void
say_end(const char *what, pid_t pid)
{
	int status = 0;
	pid_t got;

	do
		got = waitpid(pid, &status, 0);
	while (got < 0 && errno == EINTR);
	if (got != pid)
		printf("%s: waitpid: %s\n", what, strerror(errno));
	else
		say_status(what, status);
}

int
skip(const char *what)
{
	printf("skip: %s: %s\n", what, strerror(errno));
	return SKIP;
}

void
catch_signal(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa = { .sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | flags };

	sigemptyset(&sa.sa_mask);
	if (sigaction(sig, &sa, NULL) != 0)
		perror("sigaction");
}

bool
midway_asked(void)
{
	return ask_midway;
}

void
midway(void)
{
	char text[32];

	if (!ask_midway)
		return;
	fflush(stdout);
	int len = snprintf(text, sizeof(text), "ready\n");
	if (write(1, text, (size_t)len) != len ||
	    read(0, text, sizeof(text)) <= 0)
		_exit(3);
}

bool
in_file_text(uint64_t addr)
{
	static struct {
		unsigned long start, end;
	} text[256];
	static int n;
	char line[512], mode[8], path[256];

	if (n == 0) {
		FILE *f = fopen("/proc/self/maps", "re");
		while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
			unsigned long start, end;
			path[0] = '\0';
			if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s",
				&start, &end, mode, path) < 3 ||
			    mode[2] != 'x' || n == 256 ||
			    (path[0] != '/' && strcmp(path, "[vdso]") != 0))
				continue;
			text[n].start = start;
			text[n++].end = end;
		}
		if (f != NULL)
			fclose(f);
	}
	for (int i = 0; i < n; i++)
		if (addr >= text[i].start && addr < text[i].end)
			return true;
	return false;
}

void
await_state(pid_t tid, const char *states)
{
	char path[64], text[256];
	char state = '\0';

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	while (state == '\0' || strchr(states, state) == NULL) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		if (fd >= 0)
			close(fd);
		if (len <= 0)
			return;
		text[len] = '\0';
		const char *at = strrchr(text, ')');
		state = at != NULL ? at[2] : states[0];
		sched_yield();
	}
}

void
await_sleep(pid_t tid)
{
	await_state(tid, "SD");
}

static void
list(const char *group)
{
	for (size_t i = 0; i < GROUPS; i++) {
		if (group != NULL && strcmp(group, groups[i].name) != 0)
			continue;
		for (const struct behaviour *b = groups[i].list;
		     b->name != NULL; b++)
			printf("%s\n", b->name);
	}
}

static const struct behaviour *
find(const char *name)
{
	for (size_t i = 0; i < GROUPS; i++)
		for (const struct behaviour *b = groups[i].list;
		     b->name != NULL; b++)
			if (strcmp(b->name, name) == 0)
				return b;
	fprintf(stderr, "behave: no behaviour %s\n", name);
	exit(2);
}

static long
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* For so many milliseconds, but once at least. */
static int
rounds(const struct behaviour *b, int ms)
{
	long end = now_ms() + ms;

	do {
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0)
			exit(b->run());
		say_end("round", pid);
	} while (now_ms() < end);
	return 0;
}

int
main(int argc, char **argv)
{
	bool wait = false;
	int opt, ms = -1, status;

	trigger_init();
	behave_self = "/proc/self/exe";
	while ((opt = getopt(argc, argv, "lmnwr:")) != -1) {
		switch (opt) {
		case 'l': list(argv[optind]); return 0;
		case 'w': wait = true; break;
		case 'm': ask_midway = true; break;
		case 'n': break; /* none of them */
		case 'r': ms = atoi(optarg); break;
		default: return 2;
		}
	}
	if (optind >= argc)
		return 2;
	const struct behaviour *b = find(argv[optind]);
	if (wait)
		trigger_wait();
	status = ms >= 0 ? rounds(b, ms) : b->run();
	if (wait) {
		char line[80];
		printf("finished %d\n", status);
		if (fgets(line, sizeof(line), stdin) == NULL)
			return 3;
	}
	return status;
}
