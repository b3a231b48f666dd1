#!/bin/bash
# On a terminal: a traced program reads it, its end of input and its interrupt
# key reach it, and a stop and continue from the keyboard stop and continue it.
. "${0%/*}/lib.sh"
need python3

cat >"$tmp/terminal.py" <<'EOF'
import os, pty, re, select, sys, time

LIMIT = 40

class Session:
    """A command as the leader of a session on a terminal of its own."""
    def __init__(self, argv):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(argv[0], argv)
        self.text = ""

    def more(self):
        """Read what comes; False at the end."""
        if not select.select([self.fd], [], [], LIMIT)[0]:
            sys.exit("nothing came; so far: %r" % self.text)
        try:
            data = os.read(self.fd, 4096)
        except OSError:
            data = b""
        self.text += data.decode(errors="replace")
        return bool(data)

    def expect(self, regex):
        while True:
            m = re.search(regex, self.text)
            if m:
                self.text = self.text[m.end():]
                return m
            if not self.more():
                sys.exit("ended before %r; so far: %r" % (regex, self.text))

    def others(self):
        """The states of the session's processes but for its leader."""
        states = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                stat = open("/proc/%s/stat" % pid).read().rpartition(")")[2]
            except OSError:
                continue
            if int(stat.split()[3]) == self.pid and int(pid) != self.pid:
                states[pid] = stat.split()[0]
        return states

    def await_stopped(self, number):
        """Until that many others are there, and all of them are stopped: by
        the key (T), or on the way to that under a tracer (t)."""
        end = time.monotonic() + LIMIT
        while True:
            states = self.others()
            if len(states) == number and set("".join(states.values())) <= set("tT"):
                return
            if time.monotonic() > end:
                sys.exit("not stopped: %r" % states)

    def send(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        while self.more():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

dtrap, = sys.argv[1:]
probes = "pid$target:libc:read:entry,pid$target:libc:write:entry"
args = [dtrap, "-q", "-x", "switchrate=5ms",
        "-n", 'BEGIN { printf("armed\\n"); }',
        "-n", probes + ' { @ = count(); } END { printa("hits %@d\\n", @); }',
        "-c", "cat"]

# Lines, then the end of input.
s = Session(args)
s.expect("armed")
s.send("hello\n")
s.expect("hello\r\n(?s:.*)hello\r\n")
s.send("\x04")
s.expect(r"hits [1-9]\d*\r\n")
if s.end() != 0:
    sys.exit("end of input: status is not 0")

# The interrupt key: the program dies of it, the trace ends with END.
s = Session(args)
s.expect("armed")
s.send("one\n")
s.expect("one\r\n(?s:.*)one\r\n")
s.send("\x03")
s.expect(r"hits [1-9]\d*\r\n")
if s.end() != 0:
    sys.exit("interrupt: status is not 0")

# Under a shell with job control: stopped by the key, seen as stopped, brought
# back by fg.
def quoted(words):
    return " ".join("'" + w.replace("'", "'\\''") + "'" for w in words)

s = Session(["bash", "--norc", "--noprofile", "--noediting", "-i"])
s.send("PS1='ready> '\n")
s.expect("ready> $|\nready> ")
s.send(quoted(args) + "\n")
s.expect(r"\narmed\r\n")
s.send("two\n")
s.expect("two\r\n(?s:.*)two\r\n")
s.send("\x1a")
s.expect(r"Stopped")
s.expect("ready> ")
# The shell knows of its own child alone.  A reader that the key has woken, but
# that has not run since, would take what is typed now (traced or not).
s.await_stopped(2)
s.send("fg\n")
s.expect("fg\r\n(?s:.*)cat'\r\n")
s.send("three\n")
s.expect("three\r\n(?s:.*)three\r\n")
s.send("\x04")
s.expect(r"hits [1-9]\d*\r\n")
s.send("exit $?\n")
if s.end() != 0:
    sys.exit("stop and continue: status is not 0")
EOF
timeout 100 python3 "$tmp/terminal.py" "$DTRAP" >"$tmp/out" 2>&1 ||
    fail "$(cat "$tmp/out")"
finish
