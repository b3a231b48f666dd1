/*
 * Sets of processes; see named_set.h.
 *
 * The processes are looked for once a second: the kernel tells nobody but root
 * that one was started.  One that ends sooner is not traced.
 */
#include "tracer/drive/named_set.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "tracer/base/part.h"
#include "tracer/base/state.h"
#include "tracer/drive/targets.h"
#include "tracer/program/enable.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"

struct sets {
	VEC(char *) names;  /* of programs */
	VEC(char *) groups; /* parts of the names of control groups */
	struct hash seen;   /* start time plus 1 of a process that was tried */
	bool told;          /* that one could not be traced */
};

static void
sets_end(void *part)
{
	struct sets *s = part;

	vec_foreach(n, &s->names)
		mem_free(*n);
	vec_foreach(g, &s->groups)
		mem_free(*g);
	vec_fini(&s->names);
	vec_fini(&s->groups);
	hash_fini(&s->seen);
}

static struct sets *
sets_of(struct state *st)
{
	static const struct part part = { .size = sizeof(struct sets),
		.end = sets_end };

	return part_of(&st->parts, &part);
}

/* ---- which processes ---- */

/* Is the part a word of the path: "/libpod-1234.scope/container" has
 * "libpod-1234.scope"? */
static bool
has_component(const char *path, const char *part)
{
	size_t n = strlen(part);

	for (const char *at = path; (at = strstr(at, part)) != NULL; at++)
		if (at > path && at[-1] == '/' &&
		    (at[n] == '/' || at[n] == '\n' || at[n] == '\0'))
			return true;
	return false;
}

static bool
is_named(const struct sets *s, pid_t pid)
{
	char text[4096], comm[32] = "";
	const char *base;

	if (s->names.len != 0) {
		procfs_text(pid, "comm", comm, sizeof(comm));
		comm[strcspn(comm, "\n")] = '\0';
		if (procfs_link(pid, "exe", text, sizeof(text)) < 0)
			text[0] = '\0';
		base = strrchr(text, '/');
		base = base != NULL ? base + 1 : text;
		vec_foreach(n, &s->names)
			if (strcmp(comm, *n) == 0 || strcmp(base, *n) == 0)
				return true;
	}
	if (s->groups.len != 0 &&
	    procfs_text(pid, "cgroup", text, sizeof(text)) > 0)
		vec_foreach(g, &s->groups)
			if (has_component(text, *g))
				return true;
	return false;
}

/* A name means the user's own; a control group all of its processes, and those
 * of another user are refused with the reason. */
static bool
is_own(const struct sets *s, pid_t pid)
{
	struct proc_status status;

	return s->groups.len != 0 ||
	    (procfs_status(pid, &status) == 0 && status.uid[1] == geteuid());
}

/* Was it tried already?  A number may be another process by now. */
static bool
is_seen(struct sets *s, pid_t pid)
{
	uint64_t since = 0;

	procfs_stat(pid, STAT_SINCE, &since);
	uintptr_t had = (uintptr_t)hash_get(&s->seen, (uint64_t)pid);
	hash_set(&s->seen, (uint64_t)pid, (void *)(uintptr_t)(since + 1));
	return had == since + 1;
}

static void
attach(struct state *st, struct sets *s, pid_t pid)
{
	char why[256] = "";

	int error = targets_attach(st, pid, true, why, sizeof(why));
	if (error == 0 && st->matching) /* its probes */
		enable_again(st);
	if (error == 0 || error == -ESRCH)
		return;
	if (s->groups.len != 0 && geteuid() != 0 &&
	    (error == -EPERM || error == -EACCES))
		state_message(st, "%s: another user's needs root", why);
	else
		state_message(st, "%s", why);
	s->told = true;
}

static void
find(struct state *st)
{
	struct sets *s = sets_of(st);
	struct pids pids = { 0 };

	procfs_pids(&pids);
	vec_foreach(pid, &pids.list)
		if (*pid != getpid() && super_proc(st->super, *pid) == NULL &&
		    is_named(s, *pid) && is_own(s, *pid) && !is_seen(s, *pid))
			attach(st, s, *pid);
	vec_fini(&pids.list);
}

/* ---- containers ---- */

/* The number of a container by its name, as its tool knows it.  NULL: it does not
 * know one. */
static char *
container_number(const char *tool, const char *name)
{
	char line[256] = "";

	for (const char *p = name; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && strchr("._-", *p) == NULL)
			return NULL;
	char *command = mem_printf(
	    "%s inspect -f '{{.Id}}' -- '%s' 2>/dev/null", tool, name);
	FILE *f = popen(command, "re");
	mem_free(command);
	if (f == NULL)
		return NULL;
	if (fgets(line, sizeof(line), f) == NULL)
		line[0] = '\0';
	pclose(f);
	line[strspn(line, "0123456789abcdef")] = '\0';
	return strlen(line) == 64 ? mem_strdup(line) : NULL;
}

static void
add_group(struct sets *s, char *text)
{
	*vec_push(&s->groups) = text;
}

/* How tools name the control group of a container; each has several ways. */
static int
add_container(struct sets *s, const char *tool, const char *name)
{
	char *number = container_number(tool, name);

	if (number == NULL)
		return -ENOENT;
	if (strcmp(tool, "podman") == 0) {
		add_group(s, mem_printf("libpod-%s.scope", number));
		add_group(s, mem_printf("libpod-%s", number));
	} else {
		add_group(s, mem_printf("docker-%s.scope", number));
		add_group(s, mem_strdup(number));
	}
	mem_free(number);
	return 0;
}

static int
add_kind(struct state *st, struct sets *s, const char *name)
{
	const char *what = strchr(name, ':') + 1;
	size_t kind = (size_t)(what - name) - 1;
	int error = -EINVAL;

	if (strncmp(name, "podman", kind) == 0)
		error = add_container(s, "podman", what);
	else if (strncmp(name, "docker", kind) == 0)
		error = add_container(s, "docker", what);
	if (strncmp(name, "lxc", kind) == 0) {
		add_group(s, mem_printf("lxc.payload.%s", what));
		add_group(s, mem_printf("lxc.payload@%s", what));
		error = 0;
	} else if (strncmp(name, "systemd", kind) == 0) {
		add_group(s, mem_strdup(what));
		add_group(s, mem_printf("%s.service", what));
		error = 0;
	}
	if (error == -EINVAL)
		state_message(st,
		    "@%s: no such kind: podman, docker, lxc and systemd are",
		    name);
	else if (error != 0)
		state_message(st,
		    "@%s: there is no such container of this user's, or its "
		    "tool is not here",
		    name);
	return error;
}

/* ---- the sets ---- */

int
named_set_add(struct state *st, const char *name)
{
	struct sets *s = sets_of(st);
	bool kind = strchr(name, ':') != NULL;

	st->named.set = true;
	if (*name == '\0') {
		state_message(st, "-p @: a name follows");
		return -EINVAL;
	}
	if (!kind)
		*vec_push(&s->names) = mem_strdup(name);
	else if (add_kind(st, s, name) != 0)
		return -EINVAL;
	find(st);
	/* They may come later. */
	if (!st->named.any && s->told)
		return -EPERM;
	return 0;
}

static void
look(struct state *st, void *arg, uint64_t late)
{
	if (!st->draining)
		find(st);
}

void
named_set_start(struct state *st)
{
	if (st->named.set)
		timer_add(&st->timers, NS_PER_S, look, NULL);
}
