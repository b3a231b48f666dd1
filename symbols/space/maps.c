/*
 * /proc/PID/maps, parsed.
 *
 * A line is taken whole or not at all: a list that holds a mapping holds one
 * that the kernel named.  Text that the kernel would not write (a fuzzer's, a
 * line cut short) is skipped.
 */
#include "symbols/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "dlang/base/mem.h"
#include "dlang/base/sorted.h"
#include "dlang/base/str.h"

#define DELETED " (deleted)"

/* A piece of text that is being read from the left. */
struct cursor {
	const char *p, *end;
};

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* A number of at most 64 bits in lower-case hex, or in decimal. */
static bool
take_number(struct cursor *c, unsigned base, uint64_t *out)
{
	uint64_t v = 0;
	const char *start = c->p;

	for (; c->p < c->end; c->p++) {
		int d = hex_digit(*c->p);

		if (d < 0 || (unsigned)d >= base)
			break;
		if (v > (UINT64_MAX - (unsigned)d) / base)
			return false;
		v = v * base + (unsigned)d;
	}
	*out = v;
	return c->p > start;
}

static bool
take_char(struct cursor *c, char ch)
{
	if (c->p == c->end || *c->p != ch)
		return false;
	c->p++;
	return true;
}

/* One of two letters: on or off. */
static bool
take_flag(struct cursor *c, char on, char off, bool *out)
{
	if (c->p == c->end || (*c->p != on && *c->p != off))
		return false;
	*out = *c->p++ == on;
	return true;
}

/*
 * The path as the file system has it.  The kernel escapes newlines only (as
 * \012), so a backslash before other digits is a character of the name.
 */
static char *
unescape(const char *p, size_t len)
{
	char *s = mem_alloc(len + 1), *d = s;

	for (size_t i = 0; i < len; i++) {
		if (len - i >= 4 && memcmp(p + i, "\\012", 4) == 0) {
			*d++ = '\n';
			i += 3;
		} else {
			*d++ = p[i];
		}
	}
	*d = '\0';
	return s;
}

/* START-END PERMS OFFSET MAJOR:MINOR INODE [blanks PATH] */
static bool
parse_line(struct cursor c, struct map *m)
{
	uint64_t maj, min;
	size_t len, cut = sizeof(DELETED) - 1;

	*m = (struct map){ 0 };
	if (!take_number(&c, 16, &m->start) || !take_char(&c, '-') ||
	    !take_number(&c, 16, &m->end) || !take_char(&c, ' ') ||
	    !take_flag(&c, 'r', '-', &m->read) ||
	    !take_flag(&c, 'w', '-', &m->write) ||
	    !take_flag(&c, 'x', '-', &m->exec) ||
	    !take_flag(&c, 's', 'p', &m->shared) || !take_char(&c, ' ') ||
	    !take_number(&c, 16, &m->offset) || !take_char(&c, ' ') ||
	    !take_number(&c, 16, &maj) || !take_char(&c, ':') ||
	    !take_number(&c, 16, &min) || !take_char(&c, ' ') ||
	    !take_number(&c, 10, &m->inode))
		return false;
	if (m->start >= m->end || maj > UINT32_MAX || min > UINT32_MAX)
		return false;
	m->dev = makedev((unsigned)maj, (unsigned)min);
	if (c.p < c.end && *c.p != ' ')
		return false;
	while (c.p < c.end && *c.p == ' ')
		c.p++;
	len = (size_t)(c.end - c.p);
	if (memchr(c.p, '\0', len) != NULL)
		return false;
	if (len > cut && c.p[0] == '/' &&
	    memcmp(c.p + len - cut, DELETED, cut) == 0) {
		m->deleted = true;
		len -= cut;
	}
	m->path = unescape(c.p, len);
	return true;
}

int
maps_read(pid_t pid, struct maps *out)
{
	char name[64], buf[16384];
	struct str text = { 0 };
	ssize_t n;
	int fd, err;

	*out = (struct maps){ 0 };
	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while (
	    (n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0)
			str_addn(&text, buf, (size_t)n);
	}
	err = n < 0 ? -errno : 0;
	close(fd);
	if (err == 0)
		err = maps_parse(str_c(&text), text.len, out);
	str_fini(&text);
	return err;
}

int
maps_parse(const char *text, size_t len, struct maps *out)
{
	const char *end = text + len;

	*out = (struct maps){ 0 };
	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		const char *stop = nl != NULL ? nl : end;
		struct map m;

		if (parse_line((struct cursor){ text, stop }, &m)) {
			/* The kernel writes them in order; a line out of
			 * order would break every search. */
			if (out->list.len > 0 &&
			    out->list.at[out->list.len - 1].end > m.start)
				mem_free(m.path);
			else
				*vec_push(&out->list) = m;
		}
		text = nl != NULL ? nl + 1 : end;
	}
	return 0;
}

void
maps_fini(struct maps *m)
{
	vec_foreach(e, &m->list)
		mem_free(e->path);
	vec_fini(&m->list);
}

const struct map *
maps_at(const struct maps *m, uint64_t addr)
{
	size_t lo = sorted_count(m->list.len, i, m->list.at[i].end <= addr);

	if (lo == m->list.len || m->list.at[lo].start > addr)
		return NULL;
	return &m->list.at[lo];
}
