/*
 * A map of the code of sites; see perfmap.h.
 *
 * The program may write such a file itself, as virtual machines do: ours are more
 * lines of it.  It stays when dtrap ends, because perf reads it when it reports.
 */
#include "tracer/sites/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlang/base/hash.h"
#include "dlang/base/str.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"

/* Part of a space. */
struct written {
	struct hash codes; /* addresses of what the file has */
	bool failed;       /* the user was told */
};

static void
written_end(void *part)
{
	hash_fini(&((struct written *)part)->codes);
}

static const struct part written_part = { .size = sizeof(struct written),
	.end = written_end };

static void
add_lines(struct str *to, struct space *sp, const struct tracepoint *tp)
{
	uint64_t addr[2];
	size_t size[2];
	unsigned n = tracepoint_stub_pieces(tp, addr, size);
	const struct load *l = addrspace_load_at(sp->as, tp->addr);
	const struct sym *s =
	    l != NULL ? object_code_at(l->object, tp->addr - l->bias) : NULL;

	for (unsigned i = 0; i < n; i++) {
		str_printf(to, "%lx %zx dtrap:", addr[i], size[i]);
		if (s != NULL)
			str_add_shown(to, SHOW_NAME, s->name, strlen(s->name));
		else
			str_printf(to, "%#lx", tp->addr);
		str_addc(to, '\n');
	}
}

/* What another user has put there, or leads elsewhere, is not followed.  A file
 * descriptor, or a negative errno. */
static int
open_map(const char *path, pid_t pid)
{
	struct stat is, its;
	char proc[32];

	snprintf(proc, sizeof(proc), "/proc/%d", (int)pid);
	int fd = open(path,
	    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
	    0644);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &is) == 0 && S_ISREG(is.st_mode) && is.st_nlink == 1 &&
	    (is.st_uid == geteuid() ||
		(stat(proc, &its) == 0 && is.st_uid == its.st_uid)))
		return fd;
	close(fd);
	return -EPERM;
}

static int
append(const char *path, pid_t pid, const struct str *text)
{
	int fd = open_map(path, pid), r = 0;

	if (fd < 0)
		return fd;
	for (size_t done = 0; done < text->len && r == 0;) {
		ssize_t n = write(fd, text->s + done, text->len - done);
		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			r = n < 0 ? -errno : -EIO;
	}
	close(fd);
	return r;
}

void
perfmap_write(struct state *st, struct space *sp)
{
	struct written *w;
	struct tracepoint *tp = NULL;
	struct str lines = { 0 };
	char path[40];
	uint64_t addr;
	size_t size;
	int r = 0;

	if (option_get(&st->opts, OPT_PERFMAP) == 0 || sp->as == NULL ||
	    sp->procs.len == 0)
		return;
	w = part_of(&sp->parts, &written_part);
	while ((tp = tracepoint_next(sp->tab, tp)) != NULL) {
		uint64_t code = tracepoint_stub_at(tp);
		if (code != 0 && hash_set(&w->codes, code, tp) == NULL)
			add_lines(&lines, sp, tp);
	}
	for (size_t n = 0; (size = stubs_shared(sp->tab, n, &addr)) != 0; n++)
		if (hash_set(&w->codes, addr, sp) == NULL)
			str_printf(&lines, "%lx %zx dtrap\n", addr, size);
	pid_t pid = sp->procs.at[0]->pid;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	if (lines.len > 0)
		r = append(path, pid, &lines);
	if (r < 0 && !w->failed)
		state_message(st, "cannot write %s: %s", path, strerror(-r));
	w->failed |= r < 0;
	str_fini(&lines);
}
