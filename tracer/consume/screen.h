/*
 * The screen of a terminal, by ncurses.  There is one.
 *
 * Nothing here waits for the terminal: ncurses writes into memory, from where
 * the thread of writer.c takes it.  Keys are read when SCREEN_KEYS is sent.
 *
 *	closed --screen_open()--> shown --screen_leave()--> left
 *	   ^                      |   ^                      |
 *	   +----screen_close()----+   +---screen_return()----+
 *
 * While the screen is left the terminal is as it was before, for the user who
 * has stopped dtrap.
 */
#ifndef TRACER_CONSUME_SCREEN_H
#define TRACER_CONSUME_SCREEN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Sent when keys can be read.  Its default action is to be ignored. */
#define SCREEN_KEYS SIGURG

/* Keys that are no characters. */
enum {
	SCREEN_NONE = 0, /* no key has been typed */
	SCREEN_UP = 0x110000,
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_BACK_TAB,
	SCREEN_OTHER,
};

enum screen_look { SCREEN_PLAIN, SCREEN_BOLD, SCREEN_REVERSE };

/* Show an empty screen on the terminal `fd', which is borrowed; in the background
 * it is left at once.  False, and nothing has changed: ncurses knows no such
 * terminal.  *type is then what it is called. */
bool screen_open(int fd, const char **type);
bool screen_is_open(void);
/* Is it open, and not left? */
bool screen_is_shown(void);
/* The terminal is what it was; `enough' as for writer_wait(). */
void screen_close(bool (*enough)(void));
void screen_leave(bool (*enough)(void));
/* False: dtrap is in the background, so the screen stays left. */
bool screen_return(void);
/* For signal handlers, when dtrap must end: the terminal is what it was. */
void screen_rescue(void);

/* Ask the terminal for its size; true: it has changed. */
bool screen_measure(void);
int screen_rows(void);

/* Does the terminal take text?  If not, drawing would only be more to wait
 * for. */
bool screen_is_ready(void);
/* Put a line of text into a row; `skip' columns at its begin are left out.  What
 * is not visible becomes a question mark, a tab blanks. */
void screen_line(
    int row, const char *text, size_t n, int skip, enum screen_look look);
/* Show what has changed. */
void screen_show(void);
/* Show all of it again: something else may have written to the terminal. */
void screen_again(void);

/* The next key that was typed: a character, or one of the above. */
int screen_key(void);

#endif
