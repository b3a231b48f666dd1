/*
 * Output by a thread; see writer.h.
 *
 *	fwrite --> stdio's buffer --take()--> next --> busy --> write(2)
 *
 * All members are accessed under the lock.  The one that has moved text to
 * `busy' writes it: the thread, or after writer_settle() the caller, unless the
 * thread is writing.
 */
#include "tracer/consume/writer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "dlang/base/mem.h"
#include "dlang/base/show.h"
#include "dlang/base/str.h"

#define PATIENCE_NS 10000000ULL
#define SLOW_NS     1000000000ULL
/* A wait calls `enough' again after this time. */
#define ASK_NS 50000000ULL
/* A reader that has read nothing for this time is stuck. */
#define STUCK_NS 1000000000ULL
/* The most bytes of one write(): this much may be lost if dtrap ends during
 * it. */
#define PIECE 65536
/* The most memory that an empty buffer keeps. */
#define KEEP (1 << 20)
/* The status line is written again at this interval. */
#define REDRAW_NS 100000000ULL
/* To the begin of the line, and nothing behind. */
#define ERASE_REST "\33[K"
#define ERASE      "\r" ERASE_REST
/* The longest status line, with the escapes that erase the rest. */
#define LINE_MAX_BYTES 512

struct writer {
	struct writer *list;
	FILE *f;
	int fd;
	bool own, plain;
	bool regular; /* a file: poll() does not work on it */
	size_t limit, dropped;
	uint64_t slow_until;
	char *buf; /* stdio's */
	pthread_t thread;
	bool running;
	/* Under the lock: */
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	struct str next, busy;
	size_t left;    /* of busy */
	uint64_t since; /* some text was taken, or there was none */
	int error;
	bool at_it;                /* the thread has what is left */
	bool end;                  /* it ends when there is nothing to write, */
	bool ended;                /* and has */
	char *status;              /* the status text, or NULL; borrowed */
	char line[LINE_MAX_BYTES]; /* as it is written */
	size_t line_len;
	uint64_t due;          /* when it is written next; 0: when it changes */
	uint64_t after, drawn; /* the delay after other text; its time */
	bool shown;            /* it stands on the terminal */
};

static struct writer *writers;
static struct writer *closed; /* their threads have not ended yet */
static bool settled;

/* ---- the thread ---- */

/* Write at most `most' bytes; false after an error, which is kept. */
static bool
write_piece(struct writer *w, size_t most)
{
	const char *at = w->busy.s + (w->busy.len - w->left);
	size_t n = MIN(w->left, most);

	pthread_mutex_unlock(&w->lock);
	ssize_t done = write(w->fd, at, n);
	int error = done < 0 ? errno : 0;
	if (error == EAGAIN) {
		/* Another process has set O_NONBLOCK. Try again later. */
		const struct timespec nap = { 0, 1000000 };
		nanosleep(&nap, NULL);
	}
	pthread_mutex_lock(&w->lock);
	if (done > 0) {
		w->left -= (size_t)done;
		w->since = clock_ns(CLOCK_MONOTONIC);
	} else if (error != EINTR && error != EAGAIN) {
		w->error = error != 0 ? -error : -EIO;
	}
	if (w->error != 0) {
		w->left = 0;
		str_clear(&w->next);
	}
	return w->error == 0;
}

static void
take_next(struct writer *w)
{
	struct str swap = w->busy;

	w->busy = w->next;
	w->next = swap;
	str_clear(&w->next);
	w->left = w->busy.len;
}

static size_t
columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ?
	    size.ws_col :
	    80;
}

/* Called by the caller's thread under the lock. The last column stays empty,
 * because the next character would be on a new line. */
static void
make_line(struct writer *w)
{
	struct str text = { 0 };

	str_add_shown(&text, SHOW_NAME, w->status, strlen(w->status));
	size_t n = MIN(text.len, columns(w->fd) - 1);
	n = MIN(n, sizeof(w->line) - sizeof(ERASE));
	while (n < text.len && n > 0 && (text.s[n] & 0xc0) == 0x80)
		n--;
	w->line_len = (size_t)snprintf(w->line, sizeof(w->line), "\r%.*s%s",
	    (int)n, str_c(&text), ERASE_REST);
	str_fini(&text);
}

/* Under the lock. */
static void
note_drawn(struct writer *w)
{
	w->shown = true;
	w->due = 0;
	w->drawn = clock_ns(CLOCK_MONOTONIC);
}

/* By the thread. */
static void
draw(struct writer *w)
{
	char line[sizeof(w->line)];
	size_t n = w->line_len;

	memcpy(line, w->line, n);
	note_drawn(w);
	w->at_it = true;
	pthread_mutex_unlock(&w->lock);
	/* If the terminal does not accept the status, it is lost. */
	ssize_t done = write(w->fd, line, n);
	pthread_mutex_lock(&w->lock);
	if (done < 0)
		w->shown = false;
	w->at_it = false;
	pthread_cond_signal(&w->less);
}

/* Under the lock: remove the status before anything else is written. */
static void
erase(struct writer *w)
{
	if (w->shown)
		str_add(&w->next, ERASE);
	w->shown = false;
	if (w->status != NULL)
		w->due = clock_ns(CLOCK_MONOTONIC) + w->after;
}

/* Under the lock: wait until there may be something to write. */
static void
wait_for_more(struct writer *w)
{
	const struct timespec ts = { (time_t)(w->due / 1000000000),
		(long)(w->due % 1000000000) };

	if (w->due == 0 || w->next.len != 0)
		pthread_cond_wait(&w->more, &w->lock);
	else if (clock_ns(CLOCK_MONOTONIC) >= w->due)
		draw(w);
	else
		pthread_cond_timedwait(&w->more, &w->lock, &ts);
}

static void *
run(void *arg)
{
	struct writer *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->end || w->next.len != 0) {
		if (w->next.len == 0 || w->left != 0) {
			wait_for_more(w);
			continue;
		}
		take_next(w);
		w->at_it = true;
		while (w->left != 0 && write_piece(w, PIECE))
			pthread_cond_signal(&w->less);
		w->at_it = false;
		pthread_cond_signal(&w->less);
	}
	w->ended = true;
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* ---- the stream ---- */

/* Can the file descriptor be written to now, or within that time? */
static bool
is_taken(const struct writer *w, int ms)
{
	struct pollfd p = { .fd = w->fd, .events = POLLOUT };

	return poll(&p, 1, ms) > 0;
}

/*
 * The caller writes itself, under the lock.  It writes at most as much as a
 * pipe that is ready accepts without blocking, so that `enough' can be called
 * in between.
 */
static void
write_own(struct writer *w, size_t left, uint64_t until)
{
	for (uint64_t at = clock_ns(CLOCK_MONOTONIC);
	     w->error == 0 && at < until && w->next.len + w->left > left;
	     at = clock_ns(CLOCK_MONOTONIC)) {
		if (w->left == 0)
			take_next(w);
		if (w->regular)
			write_piece(w, PIECE);
		else if (is_taken(w, (int)((until - at) / 1000000 + 1)))
			write_piece(w, PIPE_BUF);
	}
}

/* Under the lock: wait until at most `left' bytes are waiting. 0 or a negative
 * errno. */
static int
wait_for_less(struct writer *w, size_t left, uint64_t ns)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + ns;
	const struct timespec ts = { (time_t)(until / 1000000000),
		(long)(until % 1000000000) };

	if (settled && !w->at_it)
		write_own(w, left, until);
	while (w->error == 0 && w->next.len + w->left > left)
		if (clock_ns(CLOCK_MONOTONIC) >= until ||
		    pthread_cond_timedwait(&w->less, &w->lock, &ts) != 0)
			return -ETIMEDOUT;
	return w->error;
}

/* Under the lock: append n bytes. */
static void
put(struct writer *w, const char *text, size_t n)
{
	if (w->next.len == 0 && w->next.cap > KEEP)
		str_fini(&w->next);
	if (w->next.len + w->left == 0)
		w->since = clock_ns(CLOCK_MONOTONIC);
	erase(w);
	if (w->plain)
		str_add_shown(&w->next, SHOW_TEXT, text, n);
	else
		str_addn(&w->next, text, n);
	if (!settled)
		pthread_cond_signal(&w->more);
}

/* No thread can be created: blocking is better than losing the text. */
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

/* The thread is created when there is something to write: most runs have no
 * messages. */
static void
start(struct writer *w)
{
	sigset_t all, old;

	pthread_mutex_lock(&w->lock);
	bool before = w->running, ended = w->ended;
	w->end = w->ended = false;
	pthread_mutex_unlock(&w->lock);
	if (before && !ended)
		return;
	if (before)
		pthread_join(w->thread, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	w->running = pthread_create(&w->thread, NULL, run, w) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Let the thread end when there is nothing to write. */
static void
rest(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->end = true;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
}

static ssize_t
take(void *cookie, const char *text, size_t n)
{
	struct writer *w = cookie;

	if (!settled && (!w->running || w->end))
		start(w);
	pthread_mutex_lock(&w->lock);
	size_t waiting = w->next.len + w->left;
	int error = w->error;
	if (error == 0 && w->limit != 0 && waiting + n > w->limit)
		w->dropped += n;
	else if (error == 0 && !settled && !w->running)
		error = write_now(w, text, n);
	else if (error == 0) {
		put(w, text, n);
		if (clock_ns(CLOCK_MONOTONIC) >= w->slow_until) {
			error = wait_for_less(w, 0, PATIENCE_NS);
			if (error == -ETIMEDOUT)
				w->slow_until =
				    clock_ns(CLOCK_MONOTONIC) + SLOW_NS;
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
	struct stat st;

	*w = (struct writer){ .fd = fd,
		.own = own,
		.plain = plain && isatty(fd),
		.regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode),
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

static void
destroy(struct writer *w)
{
	pthread_cond_destroy(&w->more);
	pthread_cond_destroy(&w->less);
	pthread_mutex_destroy(&w->lock);
	if (w->own)
		close(w->fd);
	str_fini(&w->next);
	str_fini(&w->busy);
	mem_free(w->status);
	mem_free(w->buf);
	mem_free(w);
}

/* Free closed writers that have written everything. */
static void
bury(void)
{
	for (struct writer **at = &closed, *w; (w = *at) != NULL;) {
		if (pthread_tryjoin_np(w->thread, NULL) != 0) {
			at = &w->list;
			continue;
		}
		*at = w->list;
		destroy(w);
	}
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
	if (w->running) {
		/* It may be in a write() that never ends. */
		rest(w);
		w->list = closed;
		closed = w;
	} else {
		destroy(w);
	}
	bury();
}

void
writer_rest(void)
{
	for (struct writer *w = writers; w != NULL; w = w->list)
		if (w->running)
			rest(w);
}

void
writer_settle(void)
{
	settled = true;
}

static bool
same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Under the lock. */
static void
set_status(struct writer *w, const char *text, uint64_t after_ns)
{
	bool first = w->status == NULL;

	mem_free(w->status);
	w->status = text != NULL ? mem_strdup(text) : NULL;
	w->after = after_ns;
	if (text != NULL)
		make_line(w);
	if (text == NULL) {
		w->due = 0;
		erase(w);
	} else if (w->shown) {
		w->due = w->drawn + (after_ns != 0 ? REDRAW_NS : 0);
	} else if (first) {
		w->due = clock_ns(CLOCK_MONOTONIC) + after_ns;
	}
	if (text != NULL && after_ns == 0) {
		str_addn(&w->next, w->line, w->line_len);
		note_drawn(w);
	}
}

void
writer_status(FILE *f, const char *text, uint64_t after_ns)
{
	struct writer *w = find(f);

	if (w == NULL || settled || !isatty(w->fd))
		return;
	if (!w->running || w->end)
		start(w);
	if (!w->running)
		return;
	pthread_mutex_lock(&w->lock);
	if (w->error == 0 && !same_text(w->status, text)) {
		set_status(w, text, after_ns);
		pthread_cond_signal(&w->more);
		if (text == NULL || after_ns == 0)
			wait_for_less(w, 0, PATIENCE_NS);
	}
	pthread_mutex_unlock(&w->lock);
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

/* Under the lock: is its reader stuck? */
static bool
is_stuck(const struct writer *w)
{
	return clock_ns(CLOCK_MONOTONIC) - w->since >= STUCK_NS &&
	    (w->regular || !is_taken(w, 0));
}

static int
wait_for(struct writer *w, size_t left, bool (*enough)(void))
{
	int error;

	pthread_mutex_lock(&w->lock);
	while ((error = wait_for_less(w, left, ASK_NS)) == -ETIMEDOUT)
		if (enough != NULL && enough() && is_stuck(w)) {
			error = -EINTR;
			break;
		}
	pthread_mutex_unlock(&w->lock);
	return error;
}

int
writer_wait(FILE *f, size_t left, bool (*enough)(void))
{
	struct writer *w = find(f);
	int error = fflush(f) != 0 ? -errno : 0;

	if (w == NULL || error != 0)
		return error;
	return wait_for(w, left, enough);
}

int
writer_wait_closed(bool (*enough)(void))
{
	int error = 0;

	for (struct writer *w = closed; w != NULL; w = w->list)
		if (wait_for(w, 0, enough) == -EINTR)
			error = -EINTR;
	return error;
}

int
writer_write(int fd, const char *text, size_t n, bool (*enough)(void))
{
	FILE *f = writer_open(fd, false, false, 0);

	if (f == NULL)
		return -ENOMEM;
	struct writer *w = find(f);
	take(w, text, n);
	int error = wait_for(w, 0, enough);
	writer_close(f);
	return error;
}
