/*
 * Names for code that was created at run time, from the file that many runtimes
 * write for perf: /tmp/perf-PID.map, lines of "START SIZE name" with
 * hexadecimal numbers (Linux, tools/perf/Documentation/jit-interface.txt).
 *
 * The file grows while the program runs.  If code has replaced other code, the
 * later line is valid.  PID and /tmp are those of the process's own namespace
 * and root.
 *
 * The file is not trusted.  It is read only if it belongs to the user of the
 * process or to root, as anybody may write to /tmp.  Wrong contents can only
 * cause wrong names.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlang/base/base.h"
#include "dlang/base/mem.h"
#include "dlang/base/sorted.h"
#include "symbols/lang/lang_impl.h"

/* More of a file than this is not read. */
#define FILE_MOST  (256u << 20)
#define READ_BYTES (64 * 1024)

struct entry {
	uint64_t start, size;
	size_t order;
	char *name;
};

struct perfmap {
	VEC(struct entry) list; /* by start once `sorted' */
	bool sorted;
	bool
	    looked; /* it was checked in this walk whether the file has grown */
	uint64_t longest;
	/* The file, and how much of it was read. */
	dev_t dev;
	ino_t ino;
	off_t read;
};

static void *
perfmap_attach(struct lang_walk *w, const struct load *l)
{
	/* One for the process: created for its executable. */
	return l->is_exec ? mem_zalloc(sizeof(struct perfmap)) : NULL;
}

static void
entries_clear(struct perfmap *m)
{
	vec_foreach(e, &m->list)
		mem_free(e->name);
	vec_clear(&m->list);
	m->longest = 0;
	m->read = 0;
}

static void
perfmap_detach(void *self)
{
	struct perfmap *m = self;

	entries_clear(m);
	vec_fini(&m->list);
	mem_free(m);
}

/* Add a line; it has no newline and ends with NUL. */
static void
add_line(struct perfmap *m, char *line)
{
	char *p;
	uint64_t start = strtoull(line, &p, 16), size;

	if (p == line || *p != ' ')
		return;
	line = p;
	size = strtoull(line, &p, 16);
	if (p == line || *p != ' ' || size == 0)
		return;
	p += strspn(p, " ");
	if (*p == '\0' || start + size < start)
		return;
	*vec_push(&m->list) = (struct entry){
		.start = start,
		.size = size,
		.order = m->list.len,
		.name = mem_strndup(p, strnlen(p, LANG_NAME_BYTES)),
	};
	m->longest = MAX(m->longest, size);
	m->sorted = false;
}

/* Read what was appended since the last time, up to the last whole line. */
static void
read_more(struct perfmap *m, int fd)
{
	char *buf = mem_alloc(READ_BYTES + 1);
	ssize_t n;

	while (m->read < FILE_MOST &&
	    (n = pread(fd, buf, READ_BYTES, m->read)) > 0) {
		char *line = buf, *end;

		buf[n] = '\0';
		while ((end = memchr(line, '\n', (size_t)(buf + n - line))) !=
		    NULL) {
			*end = '\0';
			add_line(m, line);
			line = end + 1;
		}
		/* No valid line is so long: skip it. */
		if (line == buf && n == READ_BYTES)
			line = buf + n;
		if (line == buf)
			break;
		m->read += line - buf;
	}
	mem_free(buf);
}

static int
open_map(const struct lang_thread *th, struct stat *sb)
{
	char path[96];
	struct stat proc;

	snprintf(path, sizeof(path), "/proc/%d", (int)th->pid);
	if (stat(path, &proc) != 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map",
	    (int)th->pid, (int)th->inner_pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -1;
	if (fstat(fd, sb) == 0 && S_ISREG(sb->st_mode) &&
	    (sb->st_uid == proc.st_uid || sb->st_uid == 0))
		return fd;
	close(fd);
	return -1;
}

/* Check for more of the file.  Most stacks have no frame outside of objects,
 * and do not need it. */
static void
look(struct perfmap *m, const struct lang_thread *th)
{
	struct stat sb;
	int fd = open_map(th, &sb);

	m->looked = true;
	if (fd < 0)
		return;
	/* It is another file, or was written anew. */
	if (m->dev != sb.st_dev || m->ino != sb.st_ino || sb.st_size < m->read)
		entries_clear(m);
	m->dev = sb.st_dev;
	m->ino = sb.st_ino;
	if (sb.st_size > m->read)
		read_more(m, fd);
	close(fd);
}

static void
perfmap_begin(void *self, struct lang_walk *w)
{
	struct perfmap *m = self;

	m->looked = false;
}

static int
by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) :
	    x->order < y->order     ? -1 :
				      x->order > y->order;
}

/* The entry that contains pc; of several the one that was written last. */
static const struct entry *
find(struct perfmap *m, uint64_t pc)
{
	const struct entry *best = NULL;
	size_t lo;

	if (!m->sorted && m->list.len != 0)
		qsort(m->list.at, m->list.len, sizeof(*m->list.at), by_start);
	m->sorted = true;
	lo = sorted_count(m->list.len, i, m->list.at[i].start <= pc);
	while (lo-- > 0 && pc - m->list.at[lo].start < m->longest) {
		const struct entry *e = &m->list.at[lo];
		if (pc - e->start < e->size &&
		    (best == NULL || e->order > best->order))
			best = e;
	}
	return best;
}

static bool
perfmap_frames(void *self, struct lang_walk *w, const struct frame *f,
    const struct frame *caller)
{
	uint64_t pc = f->r[CFI_PC] - (f->exact ? 0 : 1);
	struct perfmap *m = self;
	const struct entry *e;

	if (addrspace_load_at(w->as, pc) != NULL)
		return false;
	if (!m->looked)
		look(m, w->th);
	e = find(m, pc);
	if (e == NULL)
		return false;
	lang_push(w, e->name, NULL, 0, false);
	return true;
}

const struct lang_ops lang_perfmap = {
	.name = "perf map",
	.attach = perfmap_attach,
	.detach = perfmap_detach,
	.begin = perfmap_begin,
	.frames = perfmap_frames,
};
