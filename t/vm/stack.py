"""How much stack a hit inside a target takes at most.

usage: stack.py FILE.ci...

The files are GCC's -fcallgraph-info=su of the freestanding build: each function
with its bytes, and who calls whom.  A call through a pointer goes to any function
that it can be meant for.  Nothing may recurse, but for the ERROR probe, which
fires once inside a firing.
"""
import re
import sys

ROOT = "agent_hit"
ONCE = "fire_error"  # may be met a second time, on another level, not a third
LIMIT = 16384  # LANE_STACK: dlang/vm/store.h
CLOCK = 1024  # the vDSO's clock_gettime(), which is not ours
RETURN = 8  # what a call pushes

size, calls, where = {}, {}, {}


def plain(title):
    """The function's name, without its file and what the compiler made of it."""
    return title.split(":")[-1].split(".")[0]


for path in sys.argv[1:]:
    for line in open(path):
        m = re.match(r'node: { title: "([^"]*)" label: "[^"]*\\n(\d+) bytes '
                     r'\(([^)]*)\)', line)
        if m:
            if m[3] not in ("static", "dynamic,bounded"):
                sys.exit(f"{m[1]}: its stack is {m[3]}")
            size[m[1]] = int(m[2])
        m = re.match(r'edge: { sourcename: "([^"]*)" targetname: "([^"]*)"',
                     line)
        if m:
            calls.setdefault(m[1], set()).add(m[2])

ops = {f for f in size if f.startswith("inject/agent/ops.c:")} | {
    f for f in size
    if plain(f) in ("agent_load", "agent_load_str", "agent_now")}
subrs = {f for f in size if plain(f).startswith("subr_")} - {"subr_call"}


def targets(f):
    """Whom a function calls: names that have a size."""
    for t in calls.get(f, ()):
        if t != "__indirect_call":
            if t not in size:
                sys.exit(f"{f} calls {t}, which is in no file")
            yield t
        elif plain(f) in ("agent_ask", "agent_load", "agent_load_str"):
            pass  # the site's code, which only traps
        elif plain(f) == "vm_eval":
            yield COMPILED
        elif plain(f) == "subr_call":
            yield from subrs
        elif plain(f) == "vm_text":
            yield from ops
            yield from (t for t in size if plain(t) == "fill_var")
        elif f not in ops:
            yield from ops


# The code of a DIFO (dlang/jit/): its frame, and the functions of helpers.h.
COMPILED = "machine code"
HELPERS = {"vm_load", "vm_store", "vm_compare", "alloc", "vm_copy_to",
           "vm_array", "vm_builtin", "var_load", "var_store", "subr_call",
           "vm_fault"}
helpers = {f for f in size if plain(f) in HELPERS}
size[COMPILED] = 8 * 6 + 16 + 8 + 8 * 24 + 8 + 2 * 8
calls[COMPILED] = helpers

known, path = {}, []


def deepest(f, errors):
    """Bytes from the entry of f on, and the way."""
    if plain(f) == ONCE:
        errors += 1
        if errors > 1:
            return 0, []
    key = f, errors
    if key in known:
        return known[key]
    if key in path:
        sys.exit("recursion: " + " ".join(t for t, _ in path) + " " + f)
    path.append(key)
    most, way = 0, []
    if "__indirect_call" in calls.get(f, ()) and f in ops:
        most, way = CLOCK, ["clock_gettime"]
    for t in targets(f):
        n, w = deepest(t, errors)
        if n > most:
            most, way = n, w
    path.pop()
    known[key] = most + size[f] + RETURN, [f"{plain(f)} {size[f]}"] + way
    return known[key]


if ROOT not in size or not ops or len(subrs) < 20 or \
        len(helpers) != len(HELPERS):
    sys.exit("the files do not have what they should")
most, way = deepest(ROOT, 0)
print(f"{most} bytes of {LIMIT}: " + ", ".join(way))
# Half of it is left for what changes from one compiler to another.
sys.exit(most > LIMIT // 2)
