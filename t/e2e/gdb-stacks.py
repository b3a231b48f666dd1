# For gdb: stop at every instruction of FUNCTIONS, or at addresses of the
# program's file ("*0x..."), at most STOPS times, and write the stack of each
# stop to STACKS: frames as MODULE:0xADDRESS, the address being the file's own,
# and the symbol behind it; stacks end with an empty line.  BEGIN is how to
# begin: "starti", or "entry" to have the libraries loaded.  With ATTACH, a
# process, write "thread TID" and the stack of each of its threads.
import os
import struct

import gdb

functions = os.environ.get("FUNCTIONS", "").split()
limit = int(os.environ.get("STOPS", "100000"))
depth = int(os.environ.get("DEPTH", "90"))
objects = {}


def lowest(path):
    """The lowest address of the segments of an ELF file, 0 for others."""
    with open(path, "rb") as elf:
        data = elf.read(4096)
    if data[:4] != b"\x7fELF":
        return 0
    at, size, count = (struct.unpack_from(f, data, o)[0]
                       for f, o in (("<Q", 32), ("<H", 54), ("<H", 56)))
    for i in range(count):
        kind = struct.unpack_from("<I", data, at + i * size)[0]
        if kind == 1:
            return struct.unpack_from("<Q", data, at + i * size + 16)[0] & ~4095
    return 0


def mapped(pid):
    """(start, end, name, base, is code) of each mapping; the base is that of
    the file's addresses."""
    found, first = [], {}
    for line in open("/proc/%d/maps" % pid):
        f = line.split(None, 5)
        start, end = (int(x, 16) for x in f[0].split("-"))
        path = f[5].strip() if len(f) > 5 else ""
        if path not in first:
            first[path] = start
            if path.startswith("/") and os.path.exists(path):
                first[path] -= lowest(path)
        name = os.path.basename(path)
        if path == "[vdso]":
            name = "linux-vdso.so.1"
        found.append((start, end, name, first[path], "x" in f[1]))
    return found


def place(pc, pid):
    for again in (False, True):
        if again or pid not in objects:
            objects[pid] = mapped(pid)
        for start, end, name, base, code in objects[pid]:
            if start <= pc < end:
                # Data is no caller: gdb has gone beyond the end.
                return "%s:0x%x" % (name, pc - base) if code else None
    return "0x%x" % pc


def symbol(pc):
    text = gdb.execute("info symbol 0x%x" % pc, to_string=True)
    if " in section" not in text:
        return "?"
    text = text.split(" in section")[0]
    name, plus, off = text.rpartition(" + ")
    return "%s+0x%x" % (name, int(off)) if plus else text


def write(out):
    pid = gdb.selected_inferior().pid
    frame, n = gdb.newest_frame(), 0
    while frame is not None and n < depth:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            at = place(frame.pc(), pid)
            if at is not None:
                out.write("%s %s\n" % (at, symbol(frame.pc())))
                n += 1
        frame = frame.older()
    out.write("\n")


def instructions(what):
    if what.startswith("*"):
        name = os.path.basename(gdb.current_progspace().filename)
        base = [m[3] for m in mapped(gdb.selected_inferior().pid)
                if m[2] == name]
        return [base[0] + int(what[1:], 16)]
    text = gdb.execute("disassemble '%s'" % what, to_string=True)
    words = [l.replace("=>", "").split() for l in text.splitlines()]
    return [int(w[0], 16) for w in words if w and w[0].startswith("0x")]


def entry():
    """Run to where the program's own code begins."""
    for line in gdb.execute("info auxv", to_string=True).splitlines():
        if " AT_ENTRY " in line:
            gdb.Breakpoint("*" + line.split()[-1], temporary=True)
            gdb.execute("continue", to_string=True)


def threads(out):
    gdb.execute("attach " + os.environ["ATTACH"], to_string=True)
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        out.write("thread %d\n" % thread.ptid[1])
        write(out)
    gdb.execute("detach", to_string=True)


def stops(out):
    gdb.execute("starti", to_string=True)
    if os.environ.get("BEGIN") == "entry":
        entry()
    for name in functions:
        for at in instructions(name):
            gdb.Breakpoint("*0x%x" % at)
    for _ in range(limit):
        gdb.execute("continue", to_string=True)
        if gdb.selected_inferior().pid == 0:
            return
        write(out)
    gdb.execute("kill")


def main():
    gdb.execute("set pagination off")
    gdb.execute("set confirm off")
    gdb.execute("set debuginfod enabled off")
    gdb.execute("set backtrace past-main on")
    gdb.execute("set backtrace past-entry on")
    gdb.execute("set print thread-events off")
    gdb.execute("set print demangle off")
    gdb.execute("handle all nostop noprint pass", to_string=True)
    with open(os.environ["STACKS"], "w") as out:
        if "ATTACH" in os.environ:
            threads(out)
        else:
            stops(out)




main()
