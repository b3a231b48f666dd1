"""dtrap top on a pseudo-terminal with an emulated screen (78-top.sh)."""

import errno
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

DTRAP, NAMED, BUSY, TMP = sys.argv[1:5]
LIMIT = 100
UP, DOWN, NEXT, PREVIOUS = b"\x1bOA", b"\x1bOB", b"\x1b[6~", b"\x1b[5~"
HOME, END = b"\x1bOH", b"\x1bOF"
CALLS = ("pid$target:a.out:named:entry { @calls[copyinstr(arg0)] = count(); "
         "@sizes[copyinstr(arg0)] = quantize(arg1); }")


def fail(what):
    sys.exit("FAIL: " + what)


def check(what, got, want):
    if got != want:
        fail("%s is %r, expected %r" % (what, got, want))


class Target:
    """The program that is traced: what it calls is known."""

    def __init__(self):
        self.proc = subprocess.Popen([NAMED], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE)
        self.answer(b"ready\n")

    def answer(self, want):
        check("the answer of the target", self.proc.stdout.readline(), want)

    def call(self, count, value, name):
        self.proc.stdin.write(b"%d %d %s\n" % (count, value, name))
        self.proc.stdin.flush()
        self.answer(b"done\n")

    def pid(self):
        return str(self.proc.pid)

    def end(self):
        self.proc.stdin.close()
        check("status of the target", self.proc.wait(LIMIT), 0)


class Screen(pyte.Screen):
    """As pyte's, with what xterm does besides."""

    def scroll_up(self, count=1, **_):
        row, self.cursor.y = self.cursor.y, (self.margins.bottom if self.margins
                                             else self.lines - 1)
        for _ in range(count or 1):
            self.index()
        self.cursor.y = row

    def scroll_down(self, count=1, **_):
        row, self.cursor.y = self.cursor.y, (self.margins.top if self.margins
                                             else 0)
        for _ in range(count or 1):
            self.reverse_index()
        self.cursor.y = row

    def repeat(self, count=1, **_):
        self.draw(self.last * (count or 1))

    def draw(self, data):
        self.last = data[-1:]
        super().draw(data)


class Stream(pyte.ByteStream):
    csi = dict(pyte.ByteStream.csi, S="scroll_up", T="scroll_down", b="repeat")
    events = pyte.ByteStream.events | {"scroll_up", "scroll_down", "repeat"}


class Terminal:
    """A command on a terminal, and what stands on it."""

    def __init__(self, args, rows=24, columns=100, env=None, behind=False):
        self.screen = Screen(columns, rows)
        self.stream = Stream(self.screen)
        self.raw = b""
        go, gone = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.close(gone)
            os.read(go, 1)
            os.environ.update({"TERM": "xterm", "LC_ALL": "C.UTF-8"})
            os.environ.update(env or {})
            if behind:
                self.behind(args)
            os.execv(args[0], args)
        self.size(rows, columns)
        self.before = termios.tcgetattr(self.fd)
        os.close(go)
        os.close(gone)

    @staticmethod
    def behind(args):
        """In the background, until a line is typed: what a shell does."""
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            os.execv(args[0], args)
        os.read(0, 1)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(0, child)
        os.kill(child, signal.SIGCONT)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    def size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def show(self):
        return "\n".join(self.lines())

    def more(self):
        """False: nothing can come any more."""
        if not select.select([self.fd], [], [], LIMIT)[0]:
            fail("nothing came; the screen:\n" + self.show())
        try:
            data = os.read(self.fd, 65536)
        except OSError as e:
            if e.errno != errno.EIO:
                raise
            return False
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    def wait(self, what, true):
        end = time.monotonic() + LIMIT
        while not true():
            if time.monotonic() > end:
                fail("no %s; the screen:\n%s" % (what, self.show()))
            if not self.more():
                fail("ended before %s; the screen:\n%s" % (what, self.show()))

    def wait_for(self, *texts):
        self.wait(texts, lambda: all(t in self.show() for t in texts))

    def wait_rows(self, want, table="@calls"):
        """The rows of a table, as words."""
        self.wait(want, lambda: self.rows(table) == want)

    def rows(self, table):
        lines = self.lines()[:-1]
        at = [i for i, line in enumerate(lines)
              if line.startswith(table + ": ")]
        if not at:
            return None
        rows = []
        for line in lines[at[0] + 1:]:
            if not line or line.startswith("@"):
                break
            rows.append(line.split())
        return rows

    def key(self, keys):
        os.write(self.fd, keys)

    def signal(self, number):
        os.kill(self.pid, number)

    def stopped(self):
        pid, status = os.waitpid(self.pid, os.WUNTRACED)
        check("stopped", os.WIFSTOPPED(status), True)

    def end(self):
        """The text behind the screen, and the status."""
        while self.more():
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.restored()
        os.close(self.fd)
        return self.after(), status

    def after(self):
        return self.raw.rpartition(b"\x1b[?1l\x1b>")[2].decode()

    def restored(self):
        check("settings of the terminal", termios.tcgetattr(self.fd),
              self.before)
        for on, off in ((b"\x1b[?1049h", b"\x1b[?1049l"),
                        (b"\x1b[?25l", b"\x1b[?25h")):
            if self.raw.rfind(on) > self.raw.rfind(off):
                fail("the terminal was left in another state")


def top(target, *args, **more):
    t = Terminal([DTRAP, "top", "-q", "-x", "switchrate=10ms", *args,
                  "-p", target.pid()], **more)
    t.wait_for("dtrap top |")
    return t


def grown(path, by):
    """Until so many more lines are in a file."""
    def count():
        with open(path, "rb") as f:
            return f.read().count(b"\n")
    first = count()
    while count() < first + by:
        pass


def test_tables():
    target, ticks = Target(), TMP + "/ticks"
    open(ticks, "w").close()
    t = top(target, "-w", "-n", CALLS + """
        tick-50ms { printf("the calls:\\n"); printa("%s %@u\\n", @calls);
            printa(@sizes); system("echo tick >>%s", $$1); }
        pid$target:a.out:named:entry /copyinstr(arg0) == "bad"/
            { trace(*(int *)8); }
        pid$target:a.out:named:entry /copyinstr(arg0) == "told"/
            { printf("told of %d\\n", arg1); }
        END { printf("the end\\n"); printa("%s %@u\\n", @calls); }""", ticks)
    for count, value, name in ((5, 1, b"alpha"), (30, 8, b"beta"),
                               (2, 100, b"gamma")):
        target.call(count, value, name)
    t.wait_rows([["beta", "30"], ["alpha", "5"], ["gamma", "2"]])
    check("text before the table", t.lines()[0], "the calls:")

    # Histograms are tables, too, and stay rows when they are sorted.
    t.wait_for("@sizes: 3 rows by @sizes, the largest first",
               "|@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 30")

    # The order.
    t.key(b"s")
    t.wait_rows([["alpha", "5"], ["beta", "30"], ["gamma", "2"]])
    t.key(b"r")
    t.wait_rows([["gamma", "2"], ["beta", "30"], ["alpha", "5"]])
    t.key(b"sr")
    t.wait_rows([["gamma", "2"], ["alpha", "5"], ["beta", "30"]])
    t.key(b"r")
    t.wait_rows([["beta", "30"], ["alpha", "5"], ["gamma", "2"]])

    # While it pauses, ticks come and change nothing.
    t.key(b" ")
    t.wait_for("PAUSED")
    target.call(7, 1, b"alpha")
    grown(ticks, 3)
    t.key(b"s")
    t.wait_rows([["alpha", "5"], ["beta", "30"], ["gamma", "2"]])
    t.key(b"sr")
    t.key(b"r ")
    t.wait_rows([["beta", "30"], ["alpha", "12"], ["gamma", "2"]])
    if "PAUSED" in t.show():
        fail("it still pauses")

    # One table after the other.
    t.key(b"\t")
    t.wait_for("Tab: 2 of 3")
    t.wait("one table", lambda: t.lines()[0].startswith("@calls: "))
    t.key(b"\t")
    t.wait("the other", lambda: t.lines()[0].startswith("@sizes: "))
    t.key(b"\x1b[Z")
    t.wait("the first", lambda: t.lines()[0].startswith("@calls: "))
    t.key(b"\t\t")
    t.wait("all", lambda: t.lines()[0] == "the calls:")

    # Scrolling, and another size meanwhile.
    t.size(8, 60)
    t.wait("the size", lambda: t.lines()[7].startswith("dtrap top |"))
    t.key(DOWN + DOWN)
    t.wait("two lines", lambda: t.lines()[0].startswith("beta 30"))
    t.key(UP)
    t.wait("one line", lambda: t.lines()[0].startswith("@calls: "))
    t.key(NEXT)
    t.wait("a page", lambda: " 9-15 of " in t.lines()[7])
    t.key(PREVIOUS + PREVIOUS)
    t.wait("the first page", lambda: t.lines()[0] == "the calls:")
    t.key(END)
    t.wait("the end", lambda: "18-24 of 24 lines" in t.lines()[7])
    t.key(HOME)
    t.wait("the begin", lambda: t.lines()[0] == "the calls:")
    t.size(24, 100)
    t.wait("the size", lambda: t.lines()[23].startswith("dtrap top |"))

    # Help, and back.
    t.key(b"?")
    t.wait_for("PageUp, PageDown")
    t.key(b"x")
    t.wait("the tables", lambda: t.lines()[0] == "the calls:")

    # What is wrong is counted, and said at the end; lines go to the log.
    target.call(1, 1, b"bad")
    t.wait_for(" 1 errors, 1 messages ")
    target.call(1, 77, b"told")
    t.wait("one more table", lambda: "Tab: 1 of 4" in t.lines()[-1])
    t.key(b"\t\t\t")
    t.wait_for("told of 77")
    t.key(b"\t")
    if b"invalid address" in t.raw:
        fail("a message is on the screen")

    # Everything begins anew.
    t.key(b"c")
    t.wait_rows([])
    target.call(4, 2, b"gamma")
    t.wait_rows([["gamma", "4"]])

    # Stopped by its key, and continued.
    t.key(b"\x1a")
    t.stopped()
    while b"\x1b[?1049l" not in t.raw:
        t.more()
    t.restored()
    t.screen.reset()
    t.signal(signal.SIGCONT)
    t.wait_rows([["gamma", "4"]])
    check("echo", termios.tcgetattr(t.fd)[3] & termios.ECHO, 0)

    t.key(b"q")
    text, status = t.end()
    check("status", status, 0)
    text = text.replace("\r\n", "\n")
    check("text behind the screen", text[text.index("told"):],
          "told of 77\nthe end\ngamma 4\n\n")
    if "invalid address (0x8)" not in text:
        fail("the message was not said: %r" % text)
    target.end()


def test_hostile():
    """Names that a terminal would obey, and wide ones."""
    target = Target()
    t = top(target, "-n", CALLS +
            "tick-50ms, END { printa(\"%s %@u\\n\", @calls); }")
    target.call(3, 1, b"\x1b[2J\x1b]0;title\x07evil")
    target.call(2, 1, "b\u202e\u00f6\u4e2d".encode())
    target.call(1, 1, b"c\xff\x9b31mx")
    t.wait("all names", lambda: "evil" in t.show() and "\u4e2d" in t.show() and
           "31mx" in t.show())
    if b"\x07" in t.raw or b"\x1b[2J\x1b]" in t.raw or b"\x9b" in t.raw or \
            "\u202e".encode() in t.raw:
        fail("a name was sent as it is: %r" % t.raw)
    t.key(b"\x03")
    text, status = t.end()
    check("status", status, 0)
    if not any(c in text for c in ("evil",)) or "\x07" in text:
        fail("the report at the end: %r" % text)
    target.end()


def test_many():
    """All aggregations, without a tick; more rows than there are."""
    target = Target()
    t = top(target, "-x", "toprate=50ms", "-x", "aggsortkey", "-n", CALLS)
    for i in range(40):
        target.call(i + 1, 1, b"n%02d" % i)
    t.wait_for("@calls: 40 rows by key, the smallest first")
    t.wait("the rows", lambda: (t.rows("@calls") or [[]])[:2] ==
           [["n00", "1"], ["n01", "2"]])
    t.key(b"\t" + END)
    t.wait("the last", lambda: t.lines()[22].split() == ["n39", "40"])
    t.signal(signal.SIGTERM)
    text, status = t.end()
    check("status", status, 0)
    check("rows of the report", [w.split() for w in text.splitlines()
                                 if w.strip().startswith("n39")][0],
          ["n39", "40"])
    target.end()


def test_deaths():
    """The terminal is what it was, however dtrap ends; so is the target."""
    for how, env in ((signal.SIGABRT, None), (signal.SIGSEGV, None),
                     (signal.SIGQUIT, None),
                     (None, {"DTRAP_FAIL": "alloc:300000"})):
        target = Target()
        t = top(target, "-x", "toprate=1ms", "-n", CALLS, env=env)
        target.call(3, 1, b"alpha")
        t.wait_rows([["alpha", "3"]])
        if how is not None:
            t.signal(how)
        text, status = t.end()
        if how is None:
            how = signal.SIGABRT
            if "out of memory" not in text:
                fail("no reason: %r" % text)
        elif how != signal.SIGQUIT and "internal error: signal" not in text:
            fail("no reason: %r" % text)
        check("status", status, -how)
        target.call(1, 1, b"alpha")
        target.end()


def test_command():
    """A launched command prints nothing on the screen, and reads no keys."""
    script = ("echo of the command; read line; echo read=$line; "
              "exec 3<%s; read line <&3" % (TMP + "/fifo"))
    os.mkfifo(TMP + "/fifo")
    t = Terminal([DTRAP, "top", "-q", "-x", "toprate=50ms", "-n",
                  "syscall::read:entry { @reads[execname] = count(); }",
                  "-c", "sh -c '%s'" % script])
    fifo = os.open(TMP + "/fifo", os.O_WRONLY)
    t.wait_for("@reads: 1 row by @reads", "dtrap top |")
    t.key(b"h")
    t.wait_for("PageUp, PageDown")
    if "of the command" in t.show():
        fail("the command writes on the screen")
    os.close(fifo)
    text, status = t.end()
    check("status", status, 0)
    lines = text.replace("\r\n", "\n").splitlines()
    for want in ("of the command", "read="):
        if want not in lines:
            fail("%r is not in %r" % (want, text))


def test_default():
    """Without a program: functions by samples."""
    busy = subprocess.Popen([BUSY], stdin=subprocess.PIPE,
                            stdout=subprocess.DEVNULL)
    t = Terminal([DTRAP, "top", "-x", "toprate=50ms", "-p", str(busy.pid)])
    t.wait_for("@samples: ", "busy`")
    t.key(b"q")
    text, status = t.end()
    check("status", status, 0)
    busy.stdin.close()
    busy.wait(LIMIT)


def test_background():
    """No screen before dtrap is in the foreground."""
    target, ticks = Target(), TMP + "/behind"
    open(ticks, "w").close()
    t = Terminal([DTRAP, "top", "-qw", "-x", "switchrate=10ms", "-n", CALLS +
                  "tick-20ms { printa(@calls); system(\"echo >>%s\", $$1); }",
                  "-p", target.pid(), ticks], behind=True)
    grown(ticks, 1)
    target.call(3, 1, b"alpha")
    grown(ticks, 3)
    if select.select([t.fd], [], [], 0)[0]:
        fail("it wrote on the terminal of others: %r" % os.read(t.fd, 999))
    check("settings of the terminal", termios.tcgetattr(t.fd), t.before)
    t.key(b"\n")
    t.wait_rows([["alpha", "3"]])
    t.key(b"q")
    check("status", t.end()[1], 0)
    target.end()


def test_unknown():
    """On a terminal that ncurses does not know there are lines."""
    target = Target()
    t = Terminal([DTRAP, "top", "-q", "-x", "toprate=50ms", "-n", CALLS, "-p",
                  target.pid()], env={"TERM": "no-such"})
    t.wait_for("dtrap: this terminal, no-such, cannot show a screen")
    target.call(3, 1, b"alpha")
    t.wait("a row", lambda: ["alpha", "3"] in
           [line.split() for line in t.lines()])
    t.key(b"\x03")
    check("status", t.end()[1], 0)
    target.end()


for name, test in list(globals().items()):
    if name.startswith("test_") and name in (sys.argv[5:] or [name]):
        print(name)
        test()
