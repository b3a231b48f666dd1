/*
 * The format `top': what the program prints at its ticks, drawn in place on a
 * terminal.  tracer/drive/display.c calls this while the loop runs.
 *
 * Elsewhere the format prints text, as the format `text' does; if no tick of the
 * program prints, all aggregations are printed at each top_tick().
 */
#ifndef TRACER_CONSUME_TOP_H
#define TRACER_CONSUME_TOP_H

#include <stdbool.h>

struct consume;

/* Show the screen, if the output is a terminal.  keep_begin() has succeeded.
 * False: ncurses knows no such terminal, *type; lines are printed. */
bool top_open(struct consume *c, const char **type);
/* The screen goes away, and text that it showed is printed, unless it came from
 * ticks.  From now on the format prints text. */
void top_close(struct consume *c, bool (*enough)(void));

/* It is time to show what has changed. */
void top_tick(struct consume *c);
/* Do what the keys say that were typed.  True: the user wants to end. */
bool top_keys(struct consume *c);
/* The terminal has another size, or was somebody else's. */
void top_redraw(struct consume *c);

#endif
