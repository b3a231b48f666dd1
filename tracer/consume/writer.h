/*
 * Output that nobody waits for: a stream whose text a thread of its own writes
 * to a descriptor.  The thread does nothing else: it allocates nothing, takes
 * no signal, and touches no process.
 *
 * Why a thread: the descriptor is shared with whoever started us (a shell, the
 * traced program), so O_NONBLOCK is not ours to set; /proc/self/fd can be
 * opened again neither for sockets nor for what belongs to another user; and
 * poll() promises a pipe's room to all who write into it, not to us.
 *
 * Text is written before fflush() returns, as long as its reader keeps pace: a
 * writer that does not get on in 10 ms is slow, and for a second nobody waits
 * for it any more.
 */
#ifndef TRACER_CONSUME_WRITER_H
#define TRACER_CONSUME_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A stream that writes to fd, which is closed with it if `own'.  If `limit' is
 * not 0, text that does not fit beside so much that is still to be written is
 * dropped, and counted.  With `plain', and if fd is a terminal, control
 * characters are shown, not sent: nobody of ours writes any.  NULL: there is no
 * memory for it.
 */
FILE *writer_open(int fd, bool own, bool plain, size_t limit);

/* As fclose(), but what waits is still written, as long as we live. */
void writer_close(FILE *f);

/*
 * What is being done, on a terminal: `text' stands there from when nothing was
 * written for that long, is written over by the next such text, and goes before
 * anything else is written.  NULL: nothing is being done, and it goes now.  It is
 * cut to the width of the terminal, and control characters are shown.  With no
 * time at all it stands there when this returns, if the terminal takes it.
 */
void writer_status(FILE *f, const char *text, uint64_t after_ns);

/* Threads that have nothing to write end, until there is something again.  They
 * are not waited for. */
void writer_rest(void);
/* From now on whoever writes may wait: he writes himself, so that what is left
 * to do does not wait for a processor for somebody else. */
void writer_settle(void);

/* The descriptor that f, any stream, writes to; or -1. */
int writer_fd(FILE *f);

/* Bytes that wait, and were dropped since the last call.  0 for a stream of
 * another kind. */
size_t writer_waiting(FILE *f);
size_t writer_dropped(FILE *f);

/* Wait until no more than `left' bytes wait; or, if `enough' is not NULL and says
 * so, as long as somebody reads (then -EINTR).  0 or a negative errno. */
int writer_wait(FILE *f, size_t left, bool (*enough)(void));
/* The same for all that were closed.  0 or -EINTR. */
int writer_wait_closed(bool (*enough)(void));
/* Text to a descriptor, which is not closed, and the same. */
int writer_write(int fd, const char *text, size_t n, bool (*enough)(void));

#endif
