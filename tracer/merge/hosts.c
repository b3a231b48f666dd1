/*
 * Starts the hosts' dtraps, and merges what they say; see hosts.h.
 */
#include "tracer/merge/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "tracer/drive/loop.h"
#include "tracer/drive/session.h"
#include "tracer/drive/targets.h"
#include "tracer/merge/job.h"
#include "tracer/merge/merge.h"
#include "tracer/merge/nodes.h"
#include "tracer/ptrace/proc.h"
#include "tracer/survive/panic.h"

/* How hosts are reached: %h is one, %H all of them.  One command for all is what
 * reaches many, because it has a tree of its own. */
#define RSH_ONE  "ssh -oBatchMode=yes %h"
#define RSH_MANY "clush -w %H"
#define FEW      100

struct host {
	const char *name;
	pid_t pid; /* of the command that reaches it; 0: it has ended */
	int in;    /* its standard input; -1: closed */
	int status;
};

struct hosts {
	struct merge m;
	struct nodes nodes;
	VEC(struct host) list;
	const char *output;
	/* For the hosts: */
	VEC(char *) argv;
	VEC(char *) scripts; /* name, text */
	VEC(char *) own;     /* texts to free */
	char *all;           /* the names, with commas */
	uint64_t beat_at;
};

static char *
keep(struct hosts *h, char *text)
{
	*vec_push(&h->own) = text;
	return text;
}

/* ---- the command line ---- */

static const struct option longs[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* The options of dtrap, but -H takes an argument. */
static char *
with_hosts(const char *optstring)
{
	const char *h = strchr(optstring, 'H');

	return mem_printf(
	    "%.*s:%s", (int)(h - optstring) + 1, optstring, h + 1);
}

bool
hosts_are_named(int argc, char *const *argv, const char *optstring)
{
	char *options = with_hosts(optstring);
	char **copy = mem_alloc(((size_t)argc + 1) * sizeof(*copy));
	bool named = false, cpp = false;
	int opt;

	/* getopt() moves words about, and -H may not be this one. */
	memcpy(copy, argv, ((size_t)argc + 1) * sizeof(*copy));
	opterr = 0;
	optind = 0;
	while ((opt = getopt_long(argc, copy, options, longs, NULL)) != -1) {
		/* Hosts are a word of their own: -HC is two letters. */
		named |= opt == 'H' && optarg == copy[optind - 1];
		cpp |= opt == 'C' ||
		    (opt == 'x' && strncmp(optarg, "cpp", 3) == 0);
	}
	optind = 0;
	mem_free(copy);
	mem_free(options);
	return named && !cpp;
}

static int
set_option(struct hosts *h, const char *arg)
{
	struct state *st = &h->m.st;
	int error = option_parse(&st->opts, arg, false);

	if (error != 0)
		state_message(st, "failed to set -x %.*s: %s",
		    (int)strcspn(arg, "="), arg, option_error(error));
	return error;
}

/* Options of -x that concern only this end.  How often something is written
 * concerns only the hosts. */
static bool
is_local(const char *arg)
{
	static const char *const names[] = { "rsh", "rdtrap", "oformat",
		"report", "aggmax", "encoding" };
	size_t n = strcspn(arg, "=");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n && strncmp(arg, names[i], n) == 0)
			return true;
	return false;
}

static void
pass(struct hosts *h, int opt, const char *arg)
{
	*vec_push(&h->argv) = keep(h, mem_printf("-%c", opt));
	if (arg != NULL)
		*vec_push(&h->argv) = (char *)arg;
}

static int
pass_script(struct hosts *h, const char *path)
{
	struct str text = { 0 };
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");

	errno = 0;
	if (f == NULL || !str_add_file(&text, f)) {
		state_message(
		    &h->m.st, "failed to open %s: %s", path, strerror(errno));
		str_fini(&text);
		if (f != NULL && f != stdin)
			fclose(f);
		return -EINVAL;
	}
	if (f != stdin)
		fclose(f);
	*vec_push(&h->scripts) = (char *)path;
	*vec_push(&h->scripts) = keep(h, str_take(&text));
	pass(h, 's', path);
	return 0;
}

/* "@group", as ClusterShell's nodeset knows it. */
static const char *
expand_group(struct nodes *n, const char *group)
{
	char name[8192];
	const char *why = NULL;

	for (const char *p = group + 1; *p != '\0'; p++)
		if (strchr("'\\", *p) != NULL || (unsigned char)*p < ' ')
			return "the name of a group has no such characters";
	char *command = mem_printf("nodeset -e -S '\n' '%s'", group);
	FILE *f = popen(command, "re");
	mem_free(command);
	while (
	    f != NULL && why == NULL && fgets(name, sizeof(name), f) != NULL) {
		name[strcspn(name, "\n")] = '\0';
		const char *bad = NULL;
		if (*name != '\0' && nodes_parse(n, name, NULL, &bad) != 0)
			why = bad;
	}
	if (f == NULL || pclose(f) != 0)
		return "nodeset of ClusterShell does not know the group, or is "
		       "not installed";
	return why;
}

static int
parse(struct hosts *h, int argc, char **argv, const char *optstring)
{
	char *options = keep(h, with_hosts(optstring));
	struct state *st = &h->m.st;
	const char *why = NULL;
	int opt;

	optind = 0;
	while ((opt = getopt_long(argc, argv, options, longs, NULL)) != -1)
		switch (opt) {
		case 'H':
			if (nodes_parse(
				&h->nodes, optarg, expand_group, &why) == 0)
				break;
			state_message(st, "-H %s: %s", optarg, why);
			return -EINVAL;
		case 'x':
			if (is_local(optarg) && set_option(h, optarg) != 0)
				return -EINVAL;
			if (!is_local(optarg))
				pass(h, opt, optarg);
			break;
		case 's':
			if (pass_script(h, optarg) != 0)
				return -EINVAL;
			break;
		case 'o': h->output = optarg; break;
		case 'v': h->m.verbose = true; break;
		case 'w':
			set_option(h, "destructive");
			pass(h, opt, NULL);
			break;
		case 'l':
		case 'G':
		case 'h':
		case 'V':
		case 'e':
			state_message(st, "-%c is not for many hosts", opt);
			return -EINVAL;
		case '?':
		case ':':
			state_message(st, "bad option %s", argv[optind - 1]);
			return -EINVAL;
		default: pass(h, opt, optarg); break;
		}
	for (int i = optind; i < argc; i++)
		*vec_push(&h->argv) = argv[i];
	return 0;
}

/* ---- starting ---- */

/* A word of the template, with the names in the places of %h and %H. */
static char *
fill(struct hosts *h, const char *word, const char *name)
{
	struct str s = { 0 };

	for (; *word != '\0'; word++) {
		if (word[0] == '%' && (word[1] == 'h' || word[1] == 'H'))
			str_add(&s, *++word == 'h' ? name : h->all);
		else
			str_addc(&s, *word);
	}
	return str_take(&s);
}

/* "podman:NAME" and the like is no host but a container or a unit of this machine:
 * what its processes are is said to a dtrap here.  Returns the name in it, or
 * NULL. */
static const char *
contained(const char *name)
{
	static const char *const kinds[] = {
		"podman:", "docker:", "lxc:", "systemd:"
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strncmp(name, kinds[i], strlen(kinds[i])) == 0)
			return name + strlen(kinds[i]);
	return NULL;
}

/* This dtrap again. */
static char **
own_command(void)
{
	char path[4096] = "dtrap";
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char **argv = mem_zalloc(3 * sizeof(*argv));

	if (n > 0)
		path[n] = '\0';
	argv[0] = mem_strdup(path);
	argv[1] = mem_strdup("host");
	return argv;
}

static char **
command_of(struct hosts *h, const char *template, const char *name)
{
	const char *dtrap = h->m.st.opts.text[OPT_RDTRAP];
	char **words, **argv;
	const char *why = NULL;
	size_t n = 0;

	if (targets_split(template, &words, &why) != 0) {
		state_message(&h->m.st, "rsh: %s", why);
		return NULL;
	}
	while (words[n] != NULL)
		n++;
	argv = mem_zalloc((n + 3) * sizeof(*argv));
	for (size_t i = 0; i < n; i++)
		argv[i] = fill(h, words[i], name);
	argv[n] = mem_strdup(dtrap != NULL ? dtrap : "dtrap");
	argv[n + 1] = mem_strdup("host");
	targets_free_argv(words);
	return argv;
}

static void
close_pair(int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

/* Each has a process group of its own: a key of the terminal is for this end,
 * which then lets the hosts end. */
static int
spawn(struct host *host, char **argv, int in[2], int out[2], int err[2])
{
	extern char **environ;
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t none, defaults;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGXFSZ);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&fa, out[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&fa, err[1], STDERR_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr,
	    POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
		POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	int error =
	    posix_spawnp(&host->pid, argv[0], &fa, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&attr);
	return -error;
}

static int
start_with(struct hosts *h, struct host *host, char **argv)
{
	int in[2], out[2], err[2];

	if (pipe2(in, O_CLOEXEC) != 0)
		return -errno;
	if (pipe2(out, O_CLOEXEC) != 0) {
		close_pair(in);
		return -EMFILE;
	}
	if (pipe2(err, O_CLOEXEC) != 0) {
		close_pair(in);
		close_pair(out);
		return -EMFILE;
	}
	int error = spawn(host, argv, in, out, err);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	if (error != 0) {
		close(in[1]);
		close(out[0]);
		close(err[0]);
		return error;
	}
	fcntl(in[1], F_SETFL, O_NONBLOCK);
	host->in = in[1];
	inputs_add_fd(&h->m.inputs, host->name, out[0]);
	inputs_add_messages(&h->m.inputs, host->name, err[0]);
	return 0;
}

static int
start(struct hosts *h, const char *template, const char *name)
{
	struct host host = { .name = name, .in = -1 };
	char **argv = contained(name) != NULL ? own_command() :
						command_of(h, template, name);

	if (argv == NULL)
		return -EINVAL;
	int error = start_with(h, &host, argv);
	if (error != 0)
		state_message(&h->m.st, "%s: failed to execute %s: %s", name,
		    argv[0], strerror(-error));
	targets_free_argv(argv);
	*vec_push(&h->list) = host;
	return error;
}

/* ---- what the hosts are told ---- */

static void
tell(struct host *host, const char *text, size_t n)
{
	/* What does not fit is lost: a host that does not read is lost. */
	if (host->in >= 0 && write(host->in, text, n) < 0 && errno == EPIPE) {
		close(host->in);
		host->in = -1;
	}
}

/* The job may be longer than a pipe holds; nobody is traced yet. */
static void
tell_job(struct hosts *h, struct host *host, bool named)
{
	VEC(char *) argv = { 0 };
	struct str line = { 0 };
	const char *inner = contained(host->name);
	char *vmname =
	    mem_printf("vmname=%s", inner != NULL ? inner : host->name);
	char *set = inner != NULL ? mem_printf("@%s", host->name) : NULL;
	const char *fixed[] = { "-x", "oformat=snapshot", "-x",
		"heartbeat=10s" };

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		*vec_push(&argv) = (char *)fixed[i];
	if (named) {
		*vec_push(&argv) = (char *)"-x";
		*vec_push(&argv) = vmname;
	}
	if (set != NULL) {
		*vec_push(&argv) = (char *)"-p";
		*vec_push(&argv) = set;
	}
	vec_foreach(a, &h->argv)
		*vec_push(&argv) = *a;
	job_write(&line, argv.at, argv.len, h->scripts.at, h->scripts.len / 2);
	fcntl(host->in, F_SETFL, 0);
	for (size_t at = 0; at < line.len && !loop_stopping();) {
		ssize_t n = write(host->in, line.s + at, line.len - at);
		if (n < 0 && errno != EINTR)
			break;
		at += n > 0 ? (size_t)n : 0;
	}
	fcntl(host->in, F_SETFL, O_NONBLOCK);
	str_fini(&line);
	vec_fini(&argv);
	mem_free(vmname);
	mem_free(set);
}

static void
beat(void *ctx)
{
	struct hosts *h = ctx;
	uint64_t now = clock_coarse_ms();

	if (now - h->beat_at < 900)
		return;
	h->beat_at = now;
	vec_foreach(host, &h->list)
		tell(host, ".\n", 2);
}

static bool
finish(void *ctx)
{
	struct hosts *h = ctx;

	vec_foreach(host, &h->list) {
		if (host->in >= 0)
			close(host->in);
		host->in = -1;
	}
	return true;
}

/* ---- the end ---- */

static bool
reap(struct host *host, int flags)
{
	int status;

	if (host->pid == 0 || waitpid(host->pid, &status, flags) != host->pid)
		return host->pid == 0;
	host->pid = 0;
	host->status =
	    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return true;
}

/* The commands end by themselves, or are ended. */
static void
reap_all(struct hosts *h)
{
	finish(h);
	for (unsigned tries = 0; tries < 40; tries++) {
		bool all = true;
		vec_foreach(host, &h->list)
			all &= reap(host, WNOHANG);
		if (all)
			return;
		struct timespec nap = { 0, 50000000 };
		nanosleep(&nap, NULL);
	}
	vec_foreach(host, &h->list) {
		if (host->pid == 0)
			continue;
		kill(-host->pid, SIGKILL);
		reap(host, 0);
	}
}

static bool
has_stream(const struct hosts *h, const struct host *host)
{
	const char *inner = contained(host->name);
	const char *name = inner != NULL ? inner : host->name;

	vec_foreach(s, &h->m.streams)
		if ((*s)->host != NULL && strcmp((*s)->host, name) == 0)
			return true;
	return false;
}

/* Hosts that have not answered at all. */
static int
tell_missing(struct hosts *h, int status)
{
	vec_foreach(host, &h->list) {
		if (host->name != h->all) {
			if (has_stream(h, host) || loop_stopping())
				continue;
			state_message(&h->m.st,
			    "%s: no answer: the command that reaches it ended "
			    "with status %d",
			    host->name, host->status);
		}
		status = MAX(status, host->status);
	}
	return status;
}

/* ---- all of it ---- */

static const char *
template_of(const struct hosts *h)
{
	const char *rsh = h->m.st.opts.text[OPT_RSH];

	if (rsh != NULL)
		return rsh;
	return h->nodes.list.len > FEW ? RSH_MANY : RSH_ONE;
}

/* Two descriptors and more for each. */
static void
raise_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) != 0)
		return;
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
}

static void
join_names(struct hosts *h)
{
	struct str s = { 0 };

	vec_foreach(name, &h->nodes.list) {
		if (contained(*name) != NULL)
			continue;
		str_add(&s, s.len != 0 ? "," : "");
		str_add(&s, *name);
	}
	h->all = keep(h, s.len != 0 ? str_take(&s) : mem_strdup(""));
}

static int
start_all(struct hosts *h)
{
	const char *template = template_of(h);
	bool each = strstr(template, "%h") != NULL;
	size_t started = 0;

	if (!each && strstr(template, "%H") == NULL) {
		state_message(&h->m.st,
		    "rsh has neither %%h, a host, nor %%H, all of them: %s",
		    template);
		return -EINVAL;
	}
	raise_limit();
	join_names(h);
	if (!each && *h->all != '\0')
		started += start(h, template, h->all) == 0;
	vec_foreach(name, &h->nodes.list)
		if (each || contained(*name) != NULL)
			started += start(h, template, *name) == 0;
	vec_foreach(host, &h->list)
		if (host->in >= 0)
			tell_job(h, host, host->name != h->all);
	return started > 0 ? 0 : -ECHILD;
}

static int
run(struct hosts *h, int argc, char **argv, const char *optstring)
{
	struct state *st = &h->m.st;

	if (parse(h, argc, argv, optstring) != 0)
		return 2;
	st->where = WHERE_MERGE;
	st->super = super_create();
	targets_init(st);
	loop_signals(st);
	if (session_open_output(st, h->output) != 0)
		return 1;
	panic_guard(st->super);
	if (start_all(h) != 0)
		return 1;
	h->m.finish = finish;
	h->m.beat = beat;
	h->m.ctx = h;
	int status = merge_run(&h->m);
	reap_all(h);
	return tell_missing(h, status);
}

int
hosts_main(int argc, char **argv, const char *name, const char *optstring)
{
	struct hosts h = { 0 };

	session_init(&h.m.st, name);
	h.m.st.testing = getenv("_DTRACE_TESTING") != NULL;
	int status = run(&h, argc, argv, optstring);
	reap_all(&h);
	if (loop_stopping() && !h.m.st.started)
		state_message(&h.m.st, "interrupted before a host answered");
	merge_fini(&h.m);
	vec_foreach(text, &h.own)
		mem_free(*text);
	vec_fini(&h.own);
	vec_fini(&h.argv);
	vec_fini(&h.scripts);
	vec_fini(&h.list);
	nodes_fini(&h.nodes);
	return status;
}
