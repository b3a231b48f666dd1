/*
 * The screen of the format top while the loop runs: its signals, its timer, and
 * its end, whatever ends dtrap.  For other formats nothing here does anything.
 */
#ifndef TRACER_DRIVE_DISPLAY_H
#define TRACER_DRIVE_DISPLAY_H

struct state;

/* Commands are going to be launched.  If there will be a screen, what they write to
 * the terminal is kept until it is gone. */
void display_prepare(struct state *st);
/* BEGIN has fired, and the loop will run: show the screen. */
void display_start(struct state *st);
/* No process is traced any more, or dtrap ends early: the terminal is what it
 * was, and what was kept is printed. */
void display_end(struct state *st);

#endif
