/*
 * killer DTRAP VICTIM RANDOM [POINT:N]...: kills the tracer of a busy program
 * at each of the points (DTRAP_KILL, see dlang/base/fault.h; launch/POINT:N: of
 * one that it has launched) and RANDOM times at some moment, and looks at what
 * became of the program.
 *
 * The program is started afresh when it was lost, and now and then.  After the
 * death of the tracer, and of whatever it has left to do its work (we are the
 * subreaper, so that its children become ours), the program must
 *
 *	live, no thread stopped, no thread traced
 *	have the text that it had before it was traced
 *	have its semaphore at 0
 *	make progress in every thread, with no check of its own failed
 *	end with status 0 when it is told to
 *
 * With BLOCKED in the environment most of its threads block SIGTRAP, too.
 *
 * A table says how often that was so.  The status is 0 when it always was and
 * each point was passed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracer/survive/guardian.h"

#define PATIENCE 60.0 /* seconds that anything may take */
#define FRESH    40   /* rounds with one program */
#define TEXTS    32

enum how { ATTACH, FOLLOW, LAUNCH, HOWS };
static const char *const hows[HOWS] = { "attach", "follow", "launch" };

/* What is done while the tracer is there. */
#define CLAUSES                                                     \
	"pid$target:a.out:work:entry,pid$target:a.out:work:return," \
	"pid$target:a.out:recurse:,pid$target:a.out:mixed:,"        \
	"pid$target:a.out:checked_call:,"                           \
	"pid$target:libc:memcpy:entry,victim$target:::turn,"        \
	"syscall::nanosleep:,syscall::write:return"                 \
	"{ @[probefunc, probename] = count(); } tick-150ms { exit(0); }"

struct text {
	char path[256];
	uint64_t offset, len;
	uint8_t *bytes;
};

struct target {
	pid_t pid; /* 0: none */
	int to, from;
	bool reaped;
	int status;
	uint64_t semaphore;
	unsigned rounds;
};

struct row {
	char name[64];
	unsigned runs, passed, lost, text, hung, missed;
};

static const char *dtrap, *victim;
static const char *blocked; /* what the program is told, or NULL */
static struct text texts[TEXTS];
static unsigned ntexts;
static double length[HOWS]; /* of a trace that nobody ends early */
static double moment;       /* of the last random kill, as a part of that */

/* ---- time ---- */

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Between two looks at a condition. */
static void
nap(void)
{
	const struct timespec ts = { 0, 1000000 };

	nanosleep(&ts, NULL);
}

/* ---- /proc ---- */

static bool
is_program(pid_t pid, const char *path)
{
	char link[64], name[4096];

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(link, name, sizeof(name) - 1);
	if (n < 0)
		return false;
	name[n] = '\0';
	return strcmp(name, path) == 0;
}

/* Is a thread stopped or traced?  0 no, 1 yes, -1 there is none. */
static int
is_held(pid_t pid)
{
	char path[64], line[256], state;
	struct dirent *d;
	int held = -1, tracer;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	while (dir != NULL && (d = readdir(dir)) != NULL) {
		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/status",
		    (int)pid, d->d_name);
		FILE *f = fopen(path, "re");
		while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
			if (held < 0)
				held = 0;
			if (sscanf(line, "State: %c", &state) == 1 &&
			    strchr("tT", state) != NULL)
				held = 1;
			if (sscanf(line, "TracerPid: %d", &tracer) == 1 &&
			    tracer != 0)
				held = 1;
		}
		if (f != NULL)
			fclose(f);
	}
	if (dir != NULL)
		closedir(dir);
	return held;
}

struct mapping {
	uint64_t start, end, offset;
	char path[256];
};

/* The next executable mapping that has a name. */
static bool
next_text(FILE *maps, struct mapping *m)
{
	char line[4096], perms[8];

	while (fgets(line, sizeof(line), maps) != NULL) {
		m->path[0] = '\0';
		if (sscanf(line,
			"%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255s",
			&m->start, &m->end, perms, &m->offset, m->path) >= 4 &&
		    perms[2] == 'x' && m->path[0] != '\0' &&
		    strcmp(m->path, "[vsyscall]") != 0)
			return true;
	}
	return false;
}

static FILE *
open_maps(pid_t pid, int *mem)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	*mem = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return fopen(path, "re");
}

static uint8_t *
read_text(int mem, const struct mapping *m)
{
	size_t len = m->end - m->start;
	uint8_t *bytes = malloc(len);

	if (bytes == NULL ||
	    pread(mem, bytes, len, (off_t)m->start) != (ssize_t)len) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

/* Of a program that nobody has traced. */
static void
keep_texts(pid_t pid)
{
	struct mapping m;
	int mem;
	FILE *maps = open_maps(pid, &mem);

	while (maps != NULL && ntexts < TEXTS && next_text(maps, &m)) {
		struct text *t = &texts[ntexts++];
		memcpy(t->path, m.path, sizeof(t->path));
		t->offset = m.offset;
		t->len = m.end - m.start;
		t->bytes = read_text(mem, &m);
	}
	if (maps != NULL)
		fclose(maps);
	close(mem);
}

/* The first byte that is not as it was, in words; false if there is none. */
static bool
text_differs(pid_t pid, char *why, size_t size)
{
	struct mapping m;
	unsigned seen = 0;
	int mem;
	FILE *maps = open_maps(pid, &mem);

	why[0] = '\0';
	while (maps != NULL && why[0] == '\0' && next_text(maps, &m)) {
		const struct text *t = texts;
		while (t < texts + ntexts &&
		    (strcmp(t->path, m.path) != 0 || t->offset != m.offset ||
			t->len != m.end - m.start))
			t++;
		if (t == texts + ntexts) {
			snprintf(why, size, "new mapping of %s", m.path);
			break;
		}
		seen++;
		uint8_t *bytes = read_text(mem, &m);
		for (size_t i = 0; bytes != NULL && i < t->len; i++)
			if (bytes[i] != t->bytes[i]) {
				snprintf(why, size, "%s+%#zx: %02x was %02x",
				    m.path, (size_t)m.offset + i, bytes[i],
				    t->bytes[i]);
				break;
			}
		if (bytes == NULL)
			snprintf(why, size, "%s cannot be read", m.path);
		free(bytes);
	}
	if (maps != NULL)
		fclose(maps);
	close(mem);
	if (why[0] == '\0' && seen != ntexts)
		snprintf(why, size, "%u mappings of %u", seen, ntexts);
	return why[0] != '\0';
}

static int
read_semaphore(const struct target *t)
{
	uint16_t count = 0xffff;
	int mem;
	FILE *maps = open_maps(t->pid, &mem);

	if (maps != NULL)
		fclose(maps);
	if (pread(mem, &count, sizeof(count), (off_t)t->semaphore) !=
	    sizeof(count))
		count = 0xffff;
	close(mem);
	return count;
}

/* ---- the program ---- */

/* One line, without its end; false at the end, or when none comes. */
static bool
get_line(int fd, char *buf, size_t size)
{
	double end = now() + PATIENCE;
	size_t n = 0;

	while (n + 1 < size) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int left = (int)((end - now()) * 1000);
		if (left <= 0 || poll(&p, 1, left) <= 0 ||
		    read(fd, &buf[n], 1) != 1)
			break;
		if (buf[n] == '\n') {
			buf[n] = '\0';
			return true;
		}
		n++;
	}
	buf[n] = '\0';
	return false;
}

/* Start a program with pipes; its errors are ours. */
static pid_t
spawn(char *const argv[], int *to, int *from, const char *knob)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		abort();
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		if (knob != NULL)
			setenv("DTRAP_KILL", knob, 1);
		execv(argv[0], argv);
		_exit(126);
	}
	close(in[0]);
	close(out[1]);
	*to = in[1];
	*from = out[0];
	return pid;
}

/* Until it says that it is ready. */
static bool
hear_ready(struct target *t)
{
	char line[256];
	int pid;

	while (get_line(t->from, line, sizeof(line)))
		if (sscanf(line, "ready %d %" SCNx64, &pid, &t->semaphore) ==
		    2) {
			t->pid = pid;
			return true;
		}
	return false;
}

static void
start_target(struct target *t)
{
	char *argv[] = { (char *)victim, (char *)blocked, NULL };

	*t = (struct target){ 0 };
	spawn(argv, &t->to, &t->from, NULL);
	if (!hear_ready(t)) {
		fprintf(stderr, "killer: %s does not start\n", victim);
		exit(2);
	}
}

/* Its own children, which are ours when it has been killed: they would be taken
 * for the next. */
static void
drop_orphans(void)
{
	char path[64];
	int pid;

	snprintf(
	    path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	FILE *f = fopen(path, "re");
	while (f != NULL && fscanf(f, "%d", &pid) == 1)
		if (is_program(pid, victim)) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
	if (f != NULL)
		fclose(f);
}

static void
drop_target(struct target *t)
{
	if (t->pid == 0)
		return;
	if (!t->reaped) {
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
	}
	drop_orphans();
	close(t->to);
	close(t->from);
	*t = (struct target){ 0 };
}

static bool
progresses(struct target *t, char *why, size_t size)
{
	char line[256] = "";

	if (write(t->to, "progress\n", 9) != 9 ||
	    !get_line(t->from, line, sizeof(line))) {
		int status = 0;
		t->reaped = waitpid(t->pid, &status, WNOHANG) == t->pid;
		snprintf(why, size, "does not answer%s, %s %x", line,
		    t->reaped ? "has ended: status" : "lives", status);
		return false;
	}
	snprintf(why, size, "%s", line);
	return strcmp(line, "progress ok wrong 0") == 0;
}

/* Tell it to end, and see whether all was well. */
static bool
ends_well(struct target *t, char *why, size_t size)
{
	double end = now() + PATIENCE;
	char line[256] = "";
	int status = -1;
	pid_t pid;

	close(t->to);
	t->to = -1;
	bool said = get_line(t->from, line, sizeof(line));
	while ((pid = waitpid(t->pid, &status, WNOHANG)) == 0 && now() < end)
		nap();
	t->reaped = pid == t->pid;
	snprintf(why, size, "at its end: %s, status %x", line, status);
	return said && strcmp(line, "done wrong 0") == 0 && status == 0;
}

/* ---- the tracer ---- */

struct tracer {
	pid_t pid;
	bool ended;
	int status;
};

static void
start_tracer(
    struct tracer *tr, enum how how, struct target *t, const char *knob)
{
	char number[16], command[4096];
	char *argv[16];
	int n = 0, to, from;

	argv[n++] = (char *)dtrap;
	argv[n++] = (char *)"-q";
	argv[n++] = (char *)"-o";
	argv[n++] = (char *)"/dev/null";
	/* Jumps stay in the text until the next trace. */
	argv[n++] = (char *)"-x";
	argv[n++] = (char *)"fastpath=off";
	if (how == ATTACH) {
		argv[n++] = (char *)"-x";
		argv[n++] = (char *)"follow=none";
	}
	argv[n++] = (char *)"-n";
	argv[n++] = (char *)CLAUSES;
	if (how == LAUNCH) {
		drop_target(t);
		snprintf(command, sizeof(command), "%s %s", victim,
		    blocked != NULL ? blocked : "");
		argv[n++] = (char *)"-c";
		argv[n++] = command;
	} else {
		snprintf(number, sizeof(number), "%d", (int)t->pid);
		argv[n++] = (char *)"-p";
		argv[n++] = number;
	}
	argv[n] = NULL;
	*tr = (struct tracer){ .pid = spawn(argv, &to, &from, knob) };
	if (how == LAUNCH) {
		t->to = to;
		t->from = from;
	} else {
		close(to);
		close(from);
	}
}

/* It is one of dtrap's, which is killed when nobody needs it. */
static bool
is_guardian(pid_t pid)
{
	char path[64], name[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return false;
	bool is = fgets(name, sizeof(name), f) != NULL &&
	    strcmp(name, GUARDIAN_NAME "\n") == 0;
	fclose(f);
	return is;
}

/* Who has ended and has not been taken in; 0: nobody. */
static pid_t
who_ended(void)
{
	siginfo_t si = { .si_pid = 0 };

	if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) != 0)
		return 0;
	return si.si_pid;
}

/* Take in what has ended; true while there is a child besides the program,
 * whose number is learnt here when the tracer has launched it. */
static bool
others_live(struct tracer *tr, struct target *t, enum how how)
{
	char path[64];
	int status;
	pid_t pid;

	while ((pid = who_ended()) > 0) {
		bool guardian = is_guardian(pid);
		if (waitpid(pid, &status, 0) != pid || guardian)
			continue;
		if (pid == tr->pid) {
			tr->ended = true;
			tr->status = status;
		} else if (pid == t->pid ||
		    (how == LAUNCH && t->pid == 0 && WIFSIGNALED(status))) {
			t->pid = pid;
			t->reaped = true;
			t->status = status;
		}
	}
	snprintf(
	    path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	FILE *f = fopen(path, "re");
	if (f == NULL) {
		perror(path); /* CONFIG_PROC_CHILDREN */
		exit(77);
	}
	bool others = false;
	while (fscanf(f, "%d", &pid) == 1) {
		if (how == LAUNCH && t->pid == 0 && pid != tr->pid &&
		    is_program(pid, victim))
			t->pid = pid;
		others |= pid != t->pid;
	}
	fclose(f);
	return others;
}

/* The tracer ends, and what it has left behind; the first of them is killed at
 * `when' if that is not 0. */
static bool
await_end(struct tracer *tr, struct target *t, enum how how, double when)
{
	double end = now() + PATIENCE;

	while (others_live(tr, t, how)) {
		if (when != 0 && !tr->ended && now() >= when) {
			kill(tr->pid, SIGKILL);
			when = 0;
		}
		if (now() > end)
			return false;
		if (when == 0 || when - now() > 0.002)
			nap();
	}
	return true;
}

/* ---- a round ---- */

enum verdict { PASSED, LOST, TEXT, HUNG, MISSED };

static bool
is_let_go(const struct target *t)
{
	double end = now() + PATIENCE;
	int held;

	while ((held = is_held(t->pid)) != 0 && now() < end)
		nap();
	return held == 0;
}

static enum verdict
judge(struct target *t, enum how how, char *why, size_t size)
{
	/* Before its program was executed it ends with the tracer. */
	if (how == LAUNCH && t->pid == 0) {
		snprintf(why, size, "was not started");
		close(t->to);
		close(t->from);
		return PASSED;
	}
	if (t->reaped) {
		snprintf(why, size, "has ended: status %x", t->status);
		return LOST;
	}
	if (!is_let_go(t)) {
		snprintf(why, size, "a thread is stopped or traced");
		return LOST;
	}
	if (how == LAUNCH && !hear_ready(t)) {
		snprintf(why, size, "does not get ready");
		return LOST;
	}
	bool differs = text_differs(t->pid, why, size);
	if (!differs && read_semaphore(t) != 0) {
		snprintf(why, size, "semaphore is %d", read_semaphore(t));
		differs = true;
	}
	char line[256];
	if (!progresses(t, line, sizeof(line))) {
		snprintf(why + strlen(why), size - strlen(why), "%s%s",
		    differs ? "; " : "", line);
		return LOST;
	}
	return differs ? TEXT : PASSED;
}

/* knob NULL: killed at a moment of the trace. */
static enum verdict
run_round(
    struct target *t, enum how how, const char *knob, char *why, size_t size)
{
	struct tracer tr;
	double when = 0;

	if (how != LAUNCH && t->pid == 0)
		start_target(t);
	if (how == LAUNCH)
		drop_target(t);
	double start = now();
	moment = knob == NULL ? (double)random() / RAND_MAX : 0;
	if (knob == NULL)
		when = start + length[how] * moment;
	start_tracer(&tr, how, t, knob);
	bool ended = await_end(&tr, t, how, when);
	if (length[how] == 0)
		length[how] = now() - start;
	if (!ended) {
		snprintf(why, size, "%s does not end",
		    tr.ended ? "what the tracer left" : "the tracer");
		if (!tr.ended) {
			kill(tr.pid, SIGKILL);
			waitpid(tr.pid, NULL, 0);
		}
		drop_target(t);
		return HUNG;
	}
	enum verdict v = judge(t, how, why, size);
	if (v == PASSED && knob != NULL &&
	    !(WIFSIGNALED(tr.status) && WTERMSIG(tr.status) == SIGKILL))
		v = MISSED;
	if (v == PASSED || v == MISSED)
		if (t->pid != 0 && (how == LAUNCH || ++t->rounds >= FRESH)) {
			if (!ends_well(t, why, size))
				v = LOST;
			drop_target(t);
		}
	if (v == LOST || v == TEXT)
		drop_target(t);
	return v;
}

/* ---- the table ---- */

static struct row rows[256];
static unsigned nrows;

static struct row *
row_of(const char *name, size_t len)
{
	for (unsigned i = 0; i < nrows; i++)
		if (strlen(rows[i].name) == len &&
		    strncmp(rows[i].name, name, len) == 0)
			return &rows[i];
	struct row *r = &rows[nrows++];
	snprintf(r->name, sizeof(r->name), "%.*s", (int)len, name);
	return r;
}

static void
count(struct row *r, const char *what, enum how how, enum verdict v,
    const char *why)
{
	r->runs++;
	switch (v) {
	case PASSED: r->passed++; break;
	case LOST: r->lost++; break;
	case TEXT: r->text++; break;
	case HUNG: r->hung++; break;
	case MISSED: r->missed++; break;
	}
	if (v != PASSED && v != MISSED)
		printf("%s, %s, %.2f: %s: %s\n", what, hows[how], moment,
		    v == TEXT ? "text" : "lost", why);
	fflush(stdout);
}

static int
print_table(void)
{
	struct row sum = { .name = "all" };
	unsigned bad = 0;

	printf("%-20s %6s %6s %6s %6s %6s\n", "killed at", "runs", "passed",
	    "lost", "text", "hung");
	for (unsigned i = 0; i < nrows; i++) {
		struct row *r = &rows[i];
		printf("%-20s %6u %6u %6u %6u %6u%s\n", r->name,
		    r->runs - r->missed, r->passed, r->lost, r->text, r->hung,
		    r->missed == r->runs ? "  never passed" : "");
		bad += r->lost + r->text + r->hung + (r->missed == r->runs);
		sum.runs += r->runs - r->missed;
		sum.passed += r->passed;
		sum.lost += r->lost;
		sum.text += r->text;
		sum.hung += r->hung;
	}
	printf("%-20s %6u %6u %6u %6u %6u\n", sum.name, sum.runs, sum.passed,
	    sum.lost, sum.text, sum.hung);
	return bad != 0;
}

/* Some are passed on every road: "launch/POINT". */
static enum how
how_of(const char **point)
{
	if (strncmp(*point, "launch/", 7) == 0) {
		*point += 7;
		return LAUNCH;
	}
	if (strncmp(*point, "launch-", 7) == 0)
		return LAUNCH;
	return strncmp(*point, "follow-", 7) == 0 ? FOLLOW : ATTACH;
}

int
main(int argc, char **argv)
{
	struct target t = { 0 };
	char why[512], name[64];

	if (argc < 4)
		return 2;
	dtrap = argv[1];
	victim = argv[2];
	blocked = getenv("BLOCKED") != NULL ? "blocked" : NULL;
	long randoms = atol(argv[3]);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGPIPE, SIG_IGN);
	srandom((unsigned)time(NULL));
	start_target(&t);
	keep_texts(t.pid);
	/* What nobody kills must pass, and says how long it takes. */
	for (enum how how = ATTACH; how < HOWS; how++) {
		why[0] = '\0';
		enum verdict v = run_round(&t, how, "none:1", why, sizeof(why));
		if (v != MISSED) {
			printf("not killed, %s: %s\n", hows[how], why);
			return 2;
		}
	}
	for (int i = 4; i < argc; i++) {
		const char *point = argv[i];
		enum how how = how_of(&point);
		why[0] = '\0';
		enum verdict v = run_round(&t, how, point, why, sizeof(why));
		count(row_of(argv[i], strcspn(argv[i], ":")), argv[i], how, v,
		    why);
	}
	for (long i = 0; i < randoms; i++) {
		enum how how = (enum how)(i % HOWS);
		why[0] = '\0';
		enum verdict v = run_round(&t, how, NULL, why, sizeof(why));
		snprintf(name, sizeof(name), "any moment, %s", hows[how]);
		count(row_of(name, strlen(name)), name, how, v, why);
	}
	if (t.pid != 0 && !ends_well(&t, why, sizeof(why)))
		count(row_of("the end", 7), "the end", ATTACH, LOST, why);
	drop_target(&t);
	return print_table();
}
