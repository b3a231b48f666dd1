/*
 * Output by a thread; see writer.h.
 *
 *	fwrite --> stdio's buffer --take()--> next --run()--> busy --> write(2)
 *
 * `next' is only touched under the lock, `busy' belongs to the thread while it
 * is there.
 */
#include "tracer/consume/writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/mem.h"
#include "dlang/base/show.h"

#define PATIENCE_NS 10000000ULL
#define SLOW_NS     1000000000ULL
/* How long a wait lasts until `enough' is asked again. */
#define ASK_NS 50000000ULL
/* In one call: what is lost when we end in the middle. */
#define PIECE 65536
/* What is kept of a buffer once it is empty. */
#define KEEP (1 << 20)

struct writer {
	struct writer *list;
	FILE *f;
	int fd;
	bool own, plain;
	size_t limit, dropped;
	uint64_t slow_until;
	char *buf; /* stdio's */
	pthread_t thread;
	bool running;
	/* Under the lock: */
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	struct str next, busy;
	size_t left; /* of busy */
	int error;
	bool end;
};

static struct writer *writers, *abandoned;

static uint64_t
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ---- the thread ---- */

/* Write a piece; false at an error, which is kept. */
static bool
write_piece(struct writer *w)
{
	const char *at = w->busy.s + (w->busy.len - w->left);
	size_t n = MIN(w->left, PIECE);

	pthread_mutex_unlock(&w->lock);
	ssize_t done = write(w->fd, at, n);
	int error = done < 0 ? errno : 0;
	if (error == EAGAIN) {
		/* Somebody else has made it so.  There is no hurry. */
		const struct timespec nap = { 0, 1000000 };
		nanosleep(&nap, NULL);
	}
	pthread_mutex_lock(&w->lock);
	if (done > 0)
		w->left -= (size_t)done;
	else if (error != EINTR && error != EAGAIN)
		w->error = error != 0 ? -error : -EIO;
	return w->error == 0;
}

static void *
run(void *arg)
{
	struct writer *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->end || w->next.len != 0) {
		if (w->next.len == 0) {
			pthread_cond_wait(&w->more, &w->lock);
			continue;
		}
		struct str swap = w->busy;
		w->busy = w->next;
		w->next = swap;
		w->left = w->busy.len;
		while (w->left != 0 && write_piece(w))
			pthread_cond_signal(&w->less);
		w->left = 0;
		str_clear(&w->busy);
		if (w->error != 0)
			str_clear(&w->next);
		pthread_cond_signal(&w->less);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* ---- the stream ---- */

/* Under the lock.  0 when no more than that much waits. */
static int
wait_for_less(struct writer *w, size_t left, uint64_t ns)
{
	uint64_t until = now() + ns;
	const struct timespec ts = { (time_t)(until / 1000000000),
		(long)(until % 1000000000) };

	while (w->error == 0 && w->next.len + w->left > left)
		if (pthread_cond_timedwait(&w->less, &w->lock, &ts) != 0)
			return -ETIMEDOUT;
	return w->error;
}

/* Under the lock: room for `n' more without a copy of what was once long. */
static void
put(struct writer *w, const char *text, size_t n)
{
	if (w->next.len == 0 && w->next.cap > KEEP)
		str_fini(&w->next);
	if (w->plain)
		show_add(&w->next, SHOW_TEXT, text, n);
	else
		str_addn(&w->next, text, n);
	pthread_cond_signal(&w->more);
}

/* No more threads: that some would be waited for is the lesser evil. */
static int
write_now(const struct writer *w, const char *text, size_t n)
{
	while (n != 0) {
		ssize_t done = write(w->fd, text, n);
		if (done < 0 && errno != EINTR)
			return -errno;
		text += MAX(done, 0);
		n -= (size_t)MAX(done, 0);
	}
	return 0;
}

/* When there is something to write: most runs have no messages. */
static void
start(struct writer *w)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	w->running = pthread_create(&w->thread, NULL, run, w) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static ssize_t
take(void *cookie, const char *text, size_t n)
{
	struct writer *w = cookie;

	if (!w->running)
		start(w);
	pthread_mutex_lock(&w->lock);
	size_t waiting = w->next.len + w->left;
	int error = w->error;
	if (error == 0 && w->limit != 0 && waiting + n > w->limit)
		w->dropped += n;
	else if (error == 0 && !w->running)
		error = write_now(w, text, n);
	else if (error == 0) {
		put(w, text, n);
		if (now() >= w->slow_until) {
			error = wait_for_less(w, 0, PATIENCE_NS);
			if (error == -ETIMEDOUT)
				w->slow_until = now() + SLOW_NS;
		}
	}
	pthread_mutex_unlock(&w->lock);
	if (error == 0 || error == -ETIMEDOUT)
		return (ssize_t)n;
	errno = -error;
	return 0;
}

FILE *
writer_open(int fd, bool own, bool plain, size_t limit)
{
	static const cookie_io_functions_t io = { .write = take };
	struct writer *w = mem_zalloc(sizeof(*w));
	pthread_condattr_t attr;

	*w = (struct writer){ .fd = fd,
		.own = own,
		.plain = plain && isatty(fd),
		.limit = limit };
	w->f = fopencookie(w, "w", io);
	if (w->f == NULL) {
		mem_free(w);
		return NULL;
	}
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->more, &attr);
	pthread_cond_init(&w->less, &attr);
	pthread_condattr_destroy(&attr);
	w->buf = mem_alloc(PIECE);
	setvbuf(w->f, w->buf, _IOFBF, PIECE);
	w->list = writers;
	writers = w;
	return w->f;
}

static struct writer *
find(FILE *f)
{
	struct writer *w = writers;

	while (w != NULL && w->f != f)
		w = w->list;
	return w;
}

void
writer_close(FILE *f)
{
	struct writer *w = find(f), **at = &writers;

	if (w == NULL) {
		fclose(f);
		return;
	}
	while (*at != w)
		at = &(*at)->list;
	*at = w->list;
	fclose(f);
	pthread_mutex_lock(&w->lock);
	bool idle = w->next.len + w->left == 0;
	w->end = true;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
	if (!idle) {
		/* It may be in a write that never ends, and keeps what it
		 * needs for that: the end of the process ends it. */
		w->list = abandoned;
		abandoned = w;
		pthread_detach(w->thread);
		return;
	}
	if (w->running)
		pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->more);
	pthread_cond_destroy(&w->less);
	pthread_mutex_destroy(&w->lock);
	if (w->own)
		close(w->fd);
	str_fini(&w->next);
	str_fini(&w->busy);
	mem_free(w->buf);
	mem_free(w);
}

int
writer_fd(FILE *f)
{
	const struct writer *w = find(f);

	return w != NULL ? w->fd : fileno(f);
}

size_t
writer_waiting(FILE *f)
{
	struct writer *w = find(f);
	size_t n = 0;

	if (w == NULL)
		return 0;
	pthread_mutex_lock(&w->lock);
	n = w->next.len + w->left;
	pthread_mutex_unlock(&w->lock);
	return n;
}

size_t
writer_dropped(FILE *f)
{
	struct writer *w = find(f);
	size_t n = w != NULL ? w->dropped : 0;

	if (w != NULL)
		w->dropped = 0;
	return n;
}

int
writer_wait(FILE *f, size_t left, bool (*enough)(void))
{
	struct writer *w = find(f);
	int error = fflush(f) != 0 ? -errno : 0;

	if (w == NULL || error != 0)
		return error;
	pthread_mutex_lock(&w->lock);
	while ((error = wait_for_less(w, left, ASK_NS)) == -ETIMEDOUT)
		if (enough != NULL && enough()) {
			error = -EINTR;
			break;
		}
	pthread_mutex_unlock(&w->lock);
	return error;
}
