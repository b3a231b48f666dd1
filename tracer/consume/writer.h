/*
 * Output without waiting for a slow reader: streams whose text a separate
 * thread writes to a file descriptor.  The thread does nothing else: it
 * allocates nothing, blocks all signals, and controls no process.
 *
 * Why a thread: the file descriptor is shared with the parent process (a shell)
 * and the traced program, so dtrap must not set O_NONBLOCK; a file in
 * /proc/self/fd cannot be opened again if it is a socket or belongs to another
 * user; and after poll() another writer may fill the pipe first.
 *
 * As long as the reader keeps pace, text is written before fflush() returns.
 * If a write takes longer than 10 ms, the reader is slow, and fflush() does not
 * wait for it during the next second.
 */
#ifndef TRACER_CONSUME_WRITER_H
#define TRACER_CONSUME_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Open a stream that writes to fd.  fd is closed with the stream if `own'.  If
 * `limit' is not 0, text that would make more than `limit' bytes wait is
 * dropped and counted.  With `plain', if fd is a terminal, control characters
 * are escaped: dtrap itself writes none.  NULL: no memory.
 */
FILE *writer_open(int fd, bool own, bool plain, size_t limit);

/* As fclose(); waiting text is still written, until dtrap ends. */
void writer_close(FILE *f);

/*
 * Show on a terminal what dtrap is doing.  `text' appears when nothing has been
 * written for after_ns; the next status replaces it, and it is erased before
 * other output.  NULL: erase it now.  It is cut to the width of the terminal,
 * and control characters are escaped.  If after_ns is 0, it is shown before
 * this returns, unless the terminal blocks.
 */
void writer_status(FILE *f, const char *text, uint64_t after_ns);

/* Let threads that have nothing to write end; new output starts them again.
 * Does not wait for them. */
void writer_rest(void);
/* From now on the caller of fflush() writes the text itself and may block, so
 * that the end of dtrap does not depend on another thread getting a
 * processor. */
void writer_settle(void);

/* The file descriptor of any stream; or -1. */
int writer_fd(FILE *f);

/* The bytes that wait, and those that were dropped since the last call.  0 for
 * a stream that writer_open() did not open. */
size_t writer_waiting(FILE *f);
size_t writer_dropped(FILE *f);

/* Block until at most `left' bytes wait.  If `enough' is not NULL and returns
 * true, stop waiting when the reader does not read (-EINTR).  0 or a negative
 * errno. */
int writer_wait(FILE *f, size_t left, bool (*enough)(void));
/* The same for all closed streams.  0 or -EINTR. */
int writer_wait_closed(bool (*enough)(void));
/* Write text to a file descriptor, and wait in the same way. */
int writer_write(int fd, const char *text, size_t n, bool (*enough)(void));

#endif
