/*
 * Files and pipes with streams; see inputs.h.
 */
#include "tracer/merge/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer/consume/wire.h"

/* What is read at once. */
#ifdef DTRAP_SHRINK
#define PIECE 64
#else
#define PIECE (256u << 10)
#endif
/* A line, and what a transport may put before it. */
#define LINE_MOST (WIRE_LINE + 4096)

static bool
is_file(int fd)
{
	struct stat sb;

	return fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode);
}

struct input *
inputs_add_fd(struct inputs *in, const char *name, int fd)
{
	struct input *i = mem_zalloc(sizeof(*i));

	*i = (struct input){ .name = name, .fd = fd, .own = true };
	in->recorded = is_file(fd) && (in->list.len == 0 || in->recorded);
	*vec_push(&in->list) = i;
	in->open++;
	return i;
}

struct input *
inputs_add_messages(struct inputs *in, const char *name, int fd)
{
	struct input *i = inputs_add_fd(in, name, fd);

	i->messages = true;
	in->open--;
	return i;
}

int
inputs_add(struct inputs *in, const char *path)
{
	bool own = strcmp(path, "-") != 0;
	int fd = own ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;

	if (fd < 0)
		return -errno;
	inputs_add_fd(in, own ? path : "standard input", fd)->own = own;
	return 0;
}

static void
input_close(struct inputs *in, struct input *i)
{
	if (i->fd < 0)
		return;
	if (i->own)
		close(i->fd);
	i->fd = -1;
	in->open -= !i->messages;
}

void
inputs_fini(struct inputs *in)
{
	vec_foreach(i, &in->list) {
		input_close(in, *i);
		str_fini(&(*i)->text);
		mem_free(*i);
	}
	vec_fini(&in->list);
}

void
inputs_wait(struct inputs *in, const sigset_t *mask, int ms,
    void (*ready)(void *ctx, struct input *i), void *ctx)
{
	struct pollfd *fds = mem_zalloc(in->list.len * sizeof(*fds));
	struct timespec limit = { ms / 1000, ms % 1000 * 1000000L };
	size_t n = in->list.len;

	for (size_t i = 0; i < n; i++)
		fds[i] = (struct pollfd){ .fd = in->list.at[i]->fd,
			.events = POLLIN };
	if (ppoll(fds, n, ms < 0 ? NULL : &limit, mask) > 0)
		for (size_t i = 0; i < n; i++)
			if (fds[i].revents != 0)
				ready(ctx, in->list.at[i]);
	mem_free(fds);
}

bool
input_read(struct inputs *in, struct input *i)
{
	static char piece[PIECE];

	if (i->fd < 0)
		return false;
	ssize_t n = read(i->fd, piece, sizeof(piece));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0) {
		input_close(in, i);
		return false;
	}
	if (i->from > 0) {
		memmove(i->text.s, i->text.s + i->from, i->text.len - i->from);
		i->text.len -= i->from;
		i->from = 0;
	}
	str_addn(&i->text, piece, (size_t)n);
	return true;
}

/* Keep nothing of a line that is too long. */
static void
look_at_length(struct input *i)
{
	if (i->text.len - i->from <= LINE_MOST)
		return;
	i->too_long = true;
	i->from = 0;
	str_clear(&i->text);
}

const char *
input_line(struct input *i, size_t *n)
{
	while (i->from < i->text.len) {
		const char *at = i->text.s + i->from;
		size_t left = i->text.len - i->from;
		const char *end = memchr(at, '\n', left);

		if (end == NULL && i->fd >= 0)
			break;
		*n = end != NULL ? (size_t)(end - at) : left;
		i->from += *n + (end != NULL);
		if (!i->too_long)
			return at;
		i->too_long = false;
	}
	look_at_length(i);
	return NULL;
}
