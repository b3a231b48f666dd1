"""What /proc says of a process: threads, memory, text, signals, children."""
import os
import re


def read(path):
    """The text of a file of /proc, or "" when its process has gone."""
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def field(text, name):
    m = re.search(r"^%s:\s*(\S+)" % name, text, re.M)
    return m.group(1) if m else ""


def started(pid):
    """When it was started, in ticks: with its number this names a process."""
    stat = read("/proc/%d/stat" % pid)
    return stat.rpartition(")")[2].split()[19] if stat else ""


def lives(pid):
    stat = read("/proc/%d/stat" % pid)
    return bool(stat) and stat.rpartition(")")[2].split()[0] not in "ZX"


def threads(pid):
    try:
        return sorted(int(t) for t in os.listdir("/proc/%d/task" % pid))
    except OSError:
        return []


def children(pid):
    found = []
    for tid in threads(pid):
        text = read("/proc/%d/task/%d/children" % (pid, tid))
        found += [int(c) for c in text.split()]
    return found


def runs(pid, path):
    try:
        return os.readlink("/proc/%d/exe" % pid) == path
    except OSError:
        return False


def held(pid):
    """The threads that are stopped or traced, in words."""
    found = []
    for tid in threads(pid):
        text = read("/proc/%d/task/%d/status" % (pid, tid))
        tracer = field(text, "TracerPid")
        if field(text, "State") in ("T", "t") or tracer not in ("0", ""):
            found.append("%d: %s, traced by %s" %
                         (tid, field(text, "State"), tracer))
    return found


class Mapping:
    def __init__(self, line):
        part = line.split(None, 5)
        self.start, self.end = (int(a, 16) for a in part[0].split("-"))
        self.perms = part[1]
        self.offset = int(part[2], 16)
        self.path = part[5].rstrip("\n") if len(part) > 5 else ""

    def __str__(self):
        return "%x-%x %s %s" % (self.start, self.end, self.perms,
                                self.path or "(anonymous)")


def mappings(pid):
    return [Mapping(line) for line in
            read("/proc/%d/maps" % pid).splitlines()]


def executable(pid):
    return [m for m in mappings(pid)
            if "x" in m.perms and m.path != "[vsyscall]"]


OURS = "/memfd:dtrap-"  # of option fastpath


def nameless(pid):
    """Executable memory that no file is behind, or one of dtrap's."""
    return sorted(str(m) for m in executable(pid)
                  if not m.path or m.path.startswith(OURS))


def has_ours(pid):
    return any(m.path.startswith(OURS) for m in mappings(pid))


def memory(pid, start, size):
    try:
        fd = os.open("/proc/%d/mem" % pid, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.pread(fd, size, start)
    except OSError:
        return b""
    finally:
        os.close(fd)


def vdso():
    """That of this process, which nobody traces, is everybody's."""
    for m in executable(os.getpid()):
        if m.path == "[vdso]":
            return memory(os.getpid(), m.start, m.end - m.start)
    return b""


def as_in_file(m):
    """What a mapping of a file should hold: behind the end are zeros."""
    with open(m.path, "rb") as f:
        f.seek(m.offset)
        return f.read(m.end - m.start).ljust(m.end - m.start, b"\0")


def as_it_should(m):
    return vdso() if m.path == "[vdso]" else as_in_file(m)


def read_text(pid, m):
    """What a mapping holds, None if it has gone.  A library may go and come
    again meanwhile."""
    have = b""
    while len(have) != m.end - m.start:
        if str(m) not in [str(now) for now in executable(pid)]:
            return None
        have = memory(pid, m.start, m.end - m.start)
    return have


def text_differences(pid, most=20):
    """(how many bytes of text are others than in the files, words on some)"""
    count, words = 0, []
    for m in executable(pid):
        if not m.path or m.path.startswith(OURS):
            continue
        want, have = as_it_should(m), read_text(pid, m)
        if have is None or have == want:
            continue
        for i, (a, b) in enumerate(zip(have, want)):
            if a != b:
                count += 1
                if len(words) < most:
                    words.append("%s+%#x: %02x was %02x" %
                                 (m.path, m.offset + i, a, b))
    return count, words


def signals(pid):
    """What is ignored and caught, and each thread's mask in their order."""
    text = read("/proc/%d/status" % pid)
    return [field(text, "SigIgn"), field(text, "SigCgt")] + [
        field(read("/proc/%d/task/%d/status" % (pid, tid)), "SigBlk")
        for tid in threads(pid)]


def portrait(pid):
    """Where each thread is, for whoever looks for what went wrong."""
    lines = []
    for tid in threads(pid):
        dir = "/proc/%d/task/%d/" % (pid, tid)
        text = read(dir + "status")
        lines.append("thread %d: %s %s blk %s pnd %s shd %s in %s %s" % (
            tid, field(text, "State"), field(text, "TracerPid"),
            field(text, "SigBlk"), field(text, "SigPnd"),
            field(text, "ShdPnd"), read(dir + "wchan"),
            read(dir + "syscall").strip()))
    return lines
