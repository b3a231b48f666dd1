/*
 * See screen.h.
 */
#include "tracer/consume/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>

#include "dlang/base/mem.h"
#include "dlang/base/show.h"
#include "dlang/base/str.h"
#include "tracer/consume/keep.h"
#include "tracer/consume/text.h"
#include "tracer/consume/writer.h"

#define TAB_STOPS 8
#define KEYS_MOST 256 /* bytes that are read at once */

static SCREEN *screen; /* NULL: closed */
static volatile sig_atomic_t shown;
static int terminal = -1; /* borrowed; writes may block */
static int keys = -1;     /* our own description of it: reads, and the
			      * writes of screen_rescue(), do not block */
static FILE *to;          /* by writer.c */
static int drawn = -1;    /* memory that ncurses draws into, */
static FILE *drawn_file;  /* and its stream */
static int typed[2];      /* a pipe: keys, for ncurses */
static FILE *typed_file;  /* its end for reading */
static struct termios before, ours;
static struct str back; /* for screen_rescue() */

/* Signals that end dtrap, and that nobody else handles. */
static const int deadly[] = { SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM,
	SIGPROF, SIGSYS };

static bool
is_foreground(void)
{
	pid_t group = tcgetpgrp(terminal);

	return group < 0 || group == getpgrp();
}

/* ---- the terminal as it was ---- */

/* A capability of the terminal by its name in terminfo(5). */
static void
add_back(const char *name)
{
	const char *s = tigetstr(name);

	if (s != NULL && s != (const char *)-1)
		str_add(&back, own(s));
}

/* In the order in which endwin() writes them. */
static void
make_back(void)
{
	str_clear(&back);
	add_back("sgr0");
	add_back("cnorm");
	add_back("rmcup");
	str_addc(&back, '\r');
	add_back("rmkx");
}

void
screen_rescue(void)
{
	if (!shown)
		return;
	shown = 0;
	signal(SIGTTOU, SIG_IGN);
	/* A terminal that takes nothing now cannot be helped. */
	ssize_t done = write(keys, back.s, back.len);
	(void)done;
	tcsetattr(keys, TCSANOW, &before);
}

static void
on_deadly(int sig)
{
	screen_rescue();
	keep_rescue();
	raise(sig); /* SA_RESETHAND */
}

static void
catch_deadly(bool on)
{
	struct sigaction sa = { .sa_flags = (int)SA_RESETHAND }, now;

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++) {
		sigaction(deadly[i], NULL, &now);
		sa.sa_handler = on ? on_deadly : SIG_DFL;
		if (now.sa_handler == (on ? SIG_DFL : on_deadly))
			sigaction(deadly[i], &sa, NULL);
	}
}

/* ---- what ncurses draws ---- */

/* Give it to the writer. */
static void
pass_on(void)
{
	struct str all = { 0 };
	char text[4096];
	off_t at = 0;
	ssize_t n;

	fflush(drawn_file);
	while ((n = pread(drawn, text, sizeof(text), at)) > 0) {
		str_addn(&all, own(text), (size_t)n);
		at += n;
	}
	text_put(to, &all);
	fflush(to);
	if (ftruncate(drawn, 0) == 0)
		lseek(drawn, 0, SEEK_SET);
}

/* A second description of the terminal.  That of another user, as after su(1),
 * can be opened only as the terminal that controls us. */
static int
open_again(int fd)
{
	const int flags = O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK;
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int again = open(path, flags);
	return again < 0 && tcgetpgrp(fd) >= 0 ? open("/dev/tty", flags) :
						 again;
}

static bool
streams_open(int fd)
{
	keys = open_again(fd);
	drawn = memfd_create("dtrap-screen", MFD_CLOEXEC);
	drawn_file = drawn >= 0 ? fdopen(drawn, "we") : NULL;
	if (pipe2(typed, O_CLOEXEC | O_NONBLOCK) != 0)
		typed[0] = typed[1] = -1;
	typed_file = typed[0] >= 0 ? fdopen(typed[0], "re") : NULL;
	to = writer_open(fd, false, false, 0);
	return keys >= 0 && drawn_file != NULL && typed_file != NULL &&
	    to != NULL && tcgetattr(keys, &before) == 0;
}

static void
streams_close(void)
{
	if (to != NULL)
		writer_close(to);
	if (typed_file != NULL)
		fclose(typed_file);
	if (typed[1] >= 0)
		close(typed[1]);
	if (drawn_file != NULL)
		fclose(drawn_file);
	if (keys >= 0)
		close(keys);
	to = typed_file = drawn_file = NULL;
	keys = drawn = typed[0] = typed[1] = -1;
}

/* Keys come one by one, without an echo.  Those that make signals do so still,
 * but for the one that would end dtrap with a core dump. */
static void
make_raw(void)
{
	ours = before;
	ours.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	ours.c_iflag &= ~(tcflag_t)(ICRNL | INLCR);
	ours.c_cc[VQUIT] = _POSIX_VDISABLE;
	ours.c_cc[VMIN] = 1;
	ours.c_cc[VTIME] = 0;
}

static void
take_terminal(void)
{
	signal(SIGTTOU, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	tcsetattr(keys, TCSANOW, &ours);
	shown = 1;
}

/* ncurses has its own handlers; whoever opens the screen replaces them. */
static bool
curses_begin(void)
{
	/* It asks a terminal for its size, and `drawn' is none. */
	screen = newterm(NULL, drawn_file, typed_file);
	if (screen == NULL)
		return false;
	set_term(screen);
	typeahead(-1);
	set_escdelay(0);
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	/* As they are sent by terminals that have not changed their mode. */
	define_key("\033[A", KEY_UP);
	define_key("\033[B", KEY_DOWN);
	define_key("\033[C", KEY_RIGHT);
	define_key("\033[D", KEY_LEFT);
	define_key("\033[H", KEY_HOME);
	define_key("\033[F", KEY_END);
	screen_measure();
	make_back();
	return true;
}

static void
keys_ask(void)
{
	fcntl(keys, F_SETOWN, getpid());
	fcntl(keys, F_SETSIG, SCREEN_KEYS);
	fcntl(keys, F_SETFL, fcntl(keys, F_GETFL) | O_ASYNC);
}

bool
screen_open(int fd, const char **type)
{
	*type = getenv("TERM");
	if (*type == NULL)
		*type = "unknown";
	terminal = fd;
	setlocale(LC_CTYPE, "");
	if (!streams_open(fd) || !curses_begin()) {
		streams_close();
		return false;
	}
	catch_deadly(true);
	keys_ask();
	screen_return();
	return true;
}

bool
screen_is_open(void)
{
	return screen != NULL;
}

bool
screen_is_shown(void)
{
	return shown;
}

void
screen_leave(bool (*enough)(void))
{
	if (!shown)
		return;
	endwin();
	pass_on();
	writer_wait(to, 0, enough);
	tcsetattr(keys, TCSANOW, &before);
	shown = 0;
	signal(SIGTTOU, SIG_DFL);
	signal(SIGTTIN, SIG_DFL);
}

bool
screen_return(void)
{
	if (shown)
		return true;
	if (!is_foreground())
		return false;
	/* The user may have changed it meanwhile. */
	if (tcgetattr(keys, &before) == 0)
		make_raw();
	take_terminal();
	screen_measure();
	screen_again();
	return true;
}

void
screen_close(bool (*enough)(void))
{
	if (screen == NULL)
		return;
	/* In the background the terminal is somebody else's. */
	screen_leave(enough);
	delscreen(screen);
	screen = NULL;
	catch_deadly(false);
	streams_close();
	str_fini(&back);
}

/* ---- drawing ---- */

bool
screen_measure(void)
{
	struct winsize size = { 0 };
	int rows = 24, columns = 80;

	if (ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
	    size.ws_col > 0) {
		rows = size.ws_row;
		columns = size.ws_col;
	}
	if (rows == LINES && columns == COLS)
		return false;
	resizeterm(rows, columns);
	return true;
}

int
screen_rows(void)
{
	return LINES;
}

bool
screen_is_ready(void)
{
	return shown && writer_waiting(to) == 0;
}

/* The columns that a character takes; it becomes one that can be seen. */
static int
width_of(uint32_t *c)
{
	if (*c == SHOW_NONE || !show_is_seen(*c) || wcwidth((wchar_t)*c) < 0)
		*c = '?';
	return wcwidth((wchar_t)*c);
}

/* The first `from' columns of the text are left out; the others begin in the
 * first column of the row. */
static void
put_text(int row, const char *text, size_t n, int from)
{
	int column = 0, end = from + COLS;

	while (n != 0 && column < end) {
		size_t len;
		uint32_t c = show_decode(text, n, &len);
		int wide =
		    c == '\t' ? TAB_STOPS - column % TAB_STOPS : width_of(&c);
		wchar_t one[2] = { (wchar_t)c, 0 };
		if (c != '\t' && column >= from && column + wide <= end &&
		    wide != 0)
			mvaddnwstr(row, column - from, one, 1);
		column += wide;
		text += len;
		n -= len;
	}
}

void
screen_line(
    int row, const char *text, size_t n, int skip, enum screen_look look)
{
	static const attr_t looks[] = { A_NORMAL, A_BOLD, A_REVERSE };

	attrset(looks[look]);
	mvhline(row, 0, ' ', COLS);
	put_text(row, text, n, skip);
	attrset(A_NORMAL);
}

void
screen_show(void)
{
	refresh();
	pass_on();
}

void
screen_again(void)
{
	clearok(curscr, TRUE);
}

/* ---- keys ---- */

static void
keys_read(void)
{
	char text[KEYS_MOST];
	ssize_t n;

	if (!is_foreground())
		return;
	while ((n = read(keys, text, sizeof(text))) > 0)
		if (write(typed[1], text, (size_t)n) != n)
			return; /* more than anybody types */
}

int
screen_key(void)
{
	static const struct {
		int theirs, ours;
	} names[] = {
		{ ERR, SCREEN_NONE },
		{ KEY_UP, SCREEN_UP },
		{ KEY_DOWN, SCREEN_DOWN },
		{ KEY_LEFT, SCREEN_LEFT },
		{ KEY_RIGHT, SCREEN_RIGHT },
		{ KEY_PPAGE, SCREEN_PAGE_UP },
		{ KEY_NPAGE, SCREEN_PAGE_DOWN },
		{ KEY_HOME, SCREEN_HOME },
		{ KEY_END, SCREEN_END },
		{ KEY_BTAB, SCREEN_BACK_TAB },
	};

	if (!shown)
		return SCREEN_NONE;
	keys_read();
	int key = getch();
	pass_on();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].theirs == key)
			return names[i].ours;
	return key < KEY_MIN ? key : SCREEN_OTHER;
}
