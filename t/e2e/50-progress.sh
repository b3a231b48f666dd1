#!/bin/bash
# What takes long before a trace begins is shown on a terminal, on a line that is
# erased in the end; nowhere else.
. "${0%/*}/lib.sh"
need python3 stty

cat >"$tmp/progress.py" <<'PY'
import fcntl, os, pty, re, select, struct, subprocess, sys, termios, threading

LIMIT = 100
tmp, dtrap, plockstat, argv, contend = sys.argv[1:]
clause = "pid$target:libc::entry { @ = count(); } BEGIN { printf(\"begun\\n\"); }"
args = [dtrap, "-q", "-n", clause, "-c", argv + " x"]


class Session:
    """A command on a terminal of so many columns, in the foreground or not."""

    def __init__(self, args, progress, columns=80, background=False):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(2, termios.TIOCSWINSZ,
                        struct.pack("HHHH", 24, columns, 0, 0))
            if progress is not None:
                os.environ["DTRAP_PROGRESS"] = progress
            if background:
                child = os.fork()
                if child:
                    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                os.setpgid(0, 0)
            os.execvp(args[0], args)
        self.text = ""

    def more(self):
        if not select.select([self.fd], [], [], LIMIT)[0]:
            sys.exit("nothing came; so far: %r" % self.text)
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.text += data.decode()
        return bool(data)

    def expect(self, text):
        while text not in self.text:
            if not self.more():
                sys.exit("ended before %r; so far: %r" % (text, self.text))

    def end(self):
        while self.more():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def shown(self):
        """What stood on a line of the terminal, in order."""
        return [p.split("\x1b[K")[0] for p in self.text.split("\r")
                if p.split("\x1b[K")[0].startswith("dtrap: ")
                and "\x1b[K" in p]

    def left(self):
        """What stands there in the end."""
        lines, at = [""], 0
        for part in re.findall(r"\x1b\[K|[\r\n]|[^\x1b\r\n]+", self.text):
            if part == "\r":
                at = 0
            elif part == "\n":
                lines.append("")
            elif part == "\x1b[K":
                lines[-1] = lines[-1][:at]
            else:
                lines[-1] = lines[-1][:at] + part + lines[-1][at + len(part):]
                at += len(part)
        return lines


def left(session):
    """The same, whoever of program and tracer writes first, and however often
    functions are called."""
    return sorted(re.sub(r"\d+", "N", line.strip()) for line in session.left())


def check(what, is_so, session):
    if not is_so:
        sys.exit("%s: %r" % (what, session.text[-2000:]))


plain = Session(args, "none")
check("status", plain.end() == 0, plain)
check("none: escapes", "\x1b" not in plain.text, plain)
check("none: progress", not plain.shown(), plain)

# Without delay, all of it; it is gone in the end, with option quiet as well.
s = Session(args, "0")
check("status", s.end() == 0, s)
for what in (r"process \d+ is starting", r"functions of libc\.so\.6",
             r"functions of libc\.so\.6: 0 of \d+",
             r"enabling probes: 0 of \d+", r"breakpoints of process \d+"):
    check("not shown: " + what,
          any(re.fullmatch("dtrap: %s \\.\\.\\." % what, t) for t in s.shown()),
          s)
check("left over", left(s) == left(plain), s)
check("begun in the middle of a line", "\x1b[Kbegun\r\n" in s.text, s)

# Not beyond the width of the terminal.
s = Session(args, "0", columns=24)
check("status", s.end() == 0, s)
check("too wide", s.shown() and max(map(len, s.shown())) == 23, s)
check("left over", left(s) == left(plain), s)

# A message is on a line of its own.
s = Session([dtrap, "-n", "pid$target:libc:nosuchfunction:entry",
             "-c", argv + " x"], "0")
check("status", s.end() == 1, s)
check("nothing shown", s.shown(), s)
check("the message", any(l.startswith("dtrap: invalid probe specifier ")
                         for l in s.left()), s)
check("more than the message", all("..." not in l for l in s.left()), s)

# In the background somebody types something else there.
s = Session(args, "0", background=True)
check("status", s.end() == 0, s)
check("shown in the background", not s.shown(), s)

# plockstat does the same.
s = Session([plockstat, "-e", "1", argv, "x"], "0")
s.end()
check("plockstat", re.search(r"\rplockstat: process \d+ is starting", s.text), s)
check("left over", all("..." not in l for l in s.left()), s)

# Standard error is no terminal: nothing, whatever standard output is.
s = Session(["sh", "-c", 'exec "$@" 2>"$0"', tmp + "/err"] + args, "0")
check("status", s.end() == 0, s)
check("shown on standard output", not s.shown(), s)
check("written to a file", os.path.getsize(tmp + "/err") == 0, s)
p = subprocess.run(args, env=dict(os.environ, DTRAP_PROGRESS="0"),
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
check("written to a pipe", p.stderr == b"", s)

# A second of silence: the run-time linker waits for us, and nothing goes on.
fifo = tmp + "/preload"
os.mkfifo(fifo)
s = Session([dtrap, "-q", "-x", "setenv=LD_PRELOAD=" + fifo] + args[2:], None)
s.expect(" is starting ...\x1b[K")
check("more than that", len(s.shown()) == 1, s)


def feed():
    while True:
        os.close(os.open(fifo, os.O_WRONLY))


threading.Thread(target=feed, daemon=True).start()
check("status", s.end() == 0, s)
check("left over", all("..." not in l for l in s.left()), s)
check("the program", "[x]" in s.left(), s)
PY
python3 "$tmp/progress.py" "$tmp" "$DTRAP" "$PLOCKSTAT" "$bin/argv" \
    "$bin/contend" || fail "progress"
finish
