#!/usr/bin/env python3
"""mutate.py COMMAND: plant bugs, one at a time, and count those that tests find.

    run N [-j JOBS] [--seed SEED] [--budget SECONDS] [--only PREFIX]
                    make the map if there is none, plant N mutants, report
    again ID...     plant these of the last run once more, in the sources and
                    tests as they are now; `again survivors' for all that lived
    report          the score of each room, of what has run so far
    map             make the map of what each test reaches, and nothing else

A mutant is one small change of one line of C: an operator, a constant, a
condition that is always or never true, a call or an assignment that is gone, a
result that is 0.  One that compiles to the same code is no mutant, and another
takes its place.  What only frees memory or writes to a log is not planted.

Everything happens in copies of the tree, below build/mutate.  In the first, the
program is built with t/mutate/cover.c, and each test runs once alone: which lines
does it reach?  In the others a mutant is planted, and the tests that reach its
line run, unit and golden tests first and those that reach little else first, until
one fails, twice.  A test that does not reach the line cannot tell the mutant from
the program.
"""
import argparse
import collections
import glob
import json
import math
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
WORK = os.path.join(ROOT, "build", "mutate")
FOLDERS = ("dlang/", "disasm/", "symbols/", "inject/", "tracer/")
# Built a second time for another place, where nothing can be noted.
ELSEWHERE = {"inject/trap/": ["build/unit/test_trapset", "t/e2e/49-ends-alone.sh",
                              "t/e2e/49-after-a-kill.sh", "t/e2e/14-killed.sh",
                              "t/e2e/11-sigtrap.sh", "t/e2e/49-guardian-stopped.sh",
                              "t/torture/kill.sh"],
             "inject/agent/": ["t/vm/two-builds.sh"]}


# ---- mutants ---------------------------------------------------------------

def blank(text):
    """The same text with spaces for comments, strings and directives."""
    def spaces(m):
        return re.sub(r"[^\n]", " ", m.group())

    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'
                  r"'(?:\\.|[^'\\])*'|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*",
                  spaces, text, flags=re.S | re.M)


def bodies(code):
    """(begin, end) of each function's body: a line "{" to a line "}"."""
    for m in re.finditer(r"^\{\n(.*?)^\}", code, re.S | re.M):
        yield m.start(1), m.end(1)


def closing(code, at):
    """The place of what closes the parenthesis at `at'."""
    depth = 0
    for i in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i
    return -1


SWAPS = {"==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"],
         ">": [">=", "<="], ">=": [">", "<"], "&&": ["||"], "||": ["&&"],
         "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"],
         "&": ["|"], "|": ["&"], "^": ["|"], "<<": [">>"], ">>": ["<<"],
         "+=": ["-="], "-=": ["+="], "|=": ["&="], "&=": ["|="],
         "<<=": [">>="], ">>=": ["<<="]}
QUIET = re.compile(r"LOG$|log_|free$|_free_|fault_|mem_free|close$|munmap$|"
                   r"BUILD_|assert|ASSERT|va_(start|end|copy)$")


def mutants_of(code, begin, end):
    """(offset, length, replacement, what) of each mutant in a body."""
    body = code[begin:end]
    for m in re.finditer(r"(?<=[\w)\]'\" ] )(<<=|>>=|[=!<>]=|&&|\|\||<<|>>|"
                         r"[+\-|&]=|[-+*/%&|^<>])(?=[ \n])", body):
        if m.start(1) and not body[:m.start(1)].rstrip()[-1:].strip("=(,;{}?:"):
            continue
        for other in SWAPS[m.group(1)]:
            yield begin + m.start(1), len(m.group(1)), other, "operator"
    for m in re.finditer(r"(?<![\w.])(0x[0-9a-fA-F]+|\d+)([uUlL]*)(?![\w.])", body):
        line = body[body.rfind("\n", 0, m.start()) + 1:body.find("\n", m.start())]
        if re.match(r"\s*((static|const|struct|unsigned|volatile) )*\w+ [*\w, ]*\w+\[.*\];",
                    line):
            continue                            # how long an array is
        text = m.group(1)
        value = int(text, 8 if re.fullmatch("0[0-7]+", text) else 0)
        for other in {value + 1, value - 1 if value > 1 else value + 1}:
            yield begin + m.start(), len(m.group()), str(other) + m.group(2), \
                "constant"
    for m in re.finditer(r"\b(if|while) (\()", body):
        stop = closing(body, m.start(2))
        if stop > 0:
            inside = body[m.start(2) + 1:stop]
            keep = "\n" * inside.count("\n")
            values = "01" if m.group(1) == "if" else "0"
            for value in values:
                yield begin + m.start(2) + 1, len(inside), value + keep, "condition"
    for m in re.finditer(r"(?<=[^!=<>])!(?=[\w(])", body):
        yield begin + m.start(), 1, "", "condition"
    for m in re.finditer(r"(?<=[;{})e\n:])(\n[ \t]*)(\(void\) ?)?(\w+)(\()", body):
        if m.group(3) in ("if", "while", "for", "switch", "return", "sizeof") or \
                QUIET.search(m.group(3)):
            continue
        stop = closing(body, m.start(4))
        if stop > 0 and body[stop + 1:stop + 2] == ";":
            text = body[m.end(1):stop + 1]
            yield begin + m.end(1), len(text), "\n" * text.count("\n"), "call"
    for m in re.finditer(r"(?<=[;{})e\n:]\n)([ \t]*)([*\w][\w.>\[\]*-]*) "
                         r"([|+&-]?=) [^;{}]*;", body):
        text = body[m.start(2):m.end() - 1]
        yield begin + m.start(2), len(text), "\n" * text.count("\n"), "assignment"
    for m in re.finditer(r"\breturn ([^;]*);", body):
        text = m.group(1)
        if text not in ("0", "NULL", "false", "1", "true"):
            yield begin + m.start(1), len(text), "0" + "\n" * text.count("\n"), \
                "result"
    for m in re.finditer(r"\breturn (true|false|0|1);", body):
        other = {"true": "false", "false": "true", "0": "1", "1": "0"}
        yield begin + m.start(1), len(m.group(1)), other[m.group(1)], "result"


def quiet(code, begin, at):
    """Is that in a statement that only logs or frees?"""
    start = max(code.rfind(c, begin, at) for c in ";{}")
    m = re.match(r"(?:\(void\))?(?:if \([^;]*?\)\s*)?(\w+)\(",
                 code[start + 1:at + 1].lstrip())
    return bool(m and QUIET.search(m.group(1)))


def mutants_by_line(root, path):
    """{line: [mutant]}"""
    with open(os.path.join(root, path)) as f:
        text = f.read()
    code = blank(text)
    found = collections.defaultdict(list)
    for begin, end in bodies(code):
        for at, length, new, what in mutants_of(code, begin, end):
            line = code.count("\n", 0, at) + 1
            if not quiet(code, begin, at):
                found[line].append({"file": path, "line": line, "at": at,
                                    "old": text[at:at + length], "new": new,
                                    "what": what})
    return found


def room_of(path, rows):
    while "/" in path:
        path = path.rpartition("/")[0]
        if path in rows:
            return path
    return None


def rooms():
    with open(os.path.join(ROOT, "t/lint/layers.txt")) as f:
        rows = [line.split("#")[0].split() for line in f]
    return {words[0] for words in rows if words}


def sources(root):
    listed = subprocess.run(["git", "ls-files", *FOLDERS], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE, check=True).stdout
    return [p for p in listed.split() if p.endswith(".c") and
            not p.startswith("dlang/man/") and
            os.path.exists(os.path.join(root, p))]


def sample(root, count, seed, only):
    """`count' mutants, and as many again in reserve, room by room: a room has
    some, and more the longer it is; a line is taken by chance, then one of its
    mutants."""
    rows, rng = rooms(), random.Random(seed)
    lines = collections.defaultdict(list)
    for path in sources(root):
        if only and not path.startswith(only):
            continue
        for line, found in sorted(mutants_by_line(root, path).items()):
            lines[room_of(path, rows)].append(found)
    whole = sum(len(v) for v in lines.values())
    least = min(5, count // max(1, len(lines)))
    rest = count - least * len(lines)
    chosen = {}
    for room, found in sorted(lines.items()):
        n = least + math.ceil(rest * len(found) / whole)
        rng.shuffle(found)
        chosen[room] = [rng.choice(of_line) for of_line in found[:3 * n]], n
    return chosen, {room: len(v) for room, v in lines.items()}


# ---- copies of the tree ----------------------------------------------------

def copy_tree(to, of=ROOT):
    """Brings the copy up to the tree: sources, and what is built if nothing is."""
    os.makedirs(to, exist_ok=True)
    names = os.path.join(of, ".files")
    if of == ROOT:
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"],
                                cwd=ROOT, text=True, stdout=subprocess.PIPE,
                                check=True).stdout.split("\n")
    else:
        with open(names) as f:
            listed = f.read().split("\n")
    with open(os.path.join(to, ".files"), "w") as f:
        f.write("\n".join(listed))
    here = set()
    for path in filter(None, listed):
        source, target = os.path.join(of, path), os.path.join(to, path)
        if not os.path.lexists(source):
            continue
        here.add(path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.islink(source):
            if not os.path.lexists(target):
                os.symlink(os.readlink(source), target)
            continue
        with open(source, "rb") as f:
            data = f.read()
        there = os.path.exists(target)
        if there:
            with open(target, "rb") as f:
                if f.read() == data:
                    continue
        shutil.copy2(source, target)
        if there:
            os.utime(target)
    for folder in FOLDERS + ("t/",):
        for base, _, files in os.walk(os.path.join(to, folder)):
            for name in files:
                path = os.path.relpath(os.path.join(base, name), to)
                if path.endswith((".c", ".h", ".d", ".sh")) and path not in here:
                    os.remove(os.path.join(to, path))
    build = os.path.join(to, "build")
    if not os.path.exists(build):
        shutil.copytree(os.path.join(ROOT, "build"), build, symlinks=True,
                        copy_function=shutil.copy2,
                        ignore=lambda d, names: [n for n in names if d ==
                                                 os.path.join(ROOT, "build") and
                                                 n in ("mutate", "lint", "doc")])
        for program in ("dtrap", "plockstat"):
            if os.path.exists(os.path.join(ROOT, program)):
                shutil.copy2(os.path.join(ROOT, program), to)


def make(tree, *words, timeout=3600):
    return subprocess.run(["make", "-s", "-C", tree, *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=timeout)


def tests_of(tree):
    """Everything that `make check' runs of the program, in the order in which
    kinds are tried."""
    out = make(tree, "tests-list").stdout.split()
    order = {"unit": 0, "golden": 0, "reloc": 1, "replay": 1, "vm": 1, "expr": 1}
    return {t: order.get(kind_of(t), 2) for t in out}


def kind_of(test):
    if test.endswith(".d"):
        return "golden"
    m = re.match(r"(?:build|t)/(\w+)/", test)
    return m.group(1) if m else "other"


# A planted bug may put a file in the place of one that is written to: that of
# a mount cannot be taken.
ALONE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child",
         "sh", "-c", 'mount --bind /dev/null /dev/null && exec "$@"', "sh"]


def run_test(tree, test, limit, env=None):
    """Its exit status; 124 when it took longer than `limit' seconds.  Whatever
    it started ends with it."""
    whole = dict(os.environ, B="build", DTRAP=os.path.join(tree, "dtrap"),
                 PLOCKSTAT=os.path.join(tree, "plockstat"), LC_ALL="C", TZ="UTC",
                 CK_DEFAULT_TIMEOUT=str(int(limit)), ELSEWHERE="1", CC="gcc",
                 CK_FORK="yes", **(env or {}))
    temporary = os.path.join(tree, "build", "tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    os.makedirs(temporary)
    whole["TMPDIR"] = temporary
    words = ["t/golden", test] if test.endswith(".d") else [test]
    p = subprocess.Popen(ALONE + ["prlimit", "--core=0", "--fsize=4000000000"] +
                         words, cwd=tree, env=whole, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         start_new_session=True)
    try:
        return p.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        return 124


# ---- the map ---------------------------------------------------------------

def cover_build(tree):
    cover = os.path.join(tree, "build", "cover.o")
    subprocess.run(["gcc", "-O2", "-c", "-o", cover,
                    os.path.join(ROOT, "t/mutate/cover.c")], check=True)
    for part in ("host", "unit", "reloc", "replay", "vm", "test"):
        shutil.rmtree(os.path.join(tree, "build", part), ignore_errors=True)
    for program in ("dtrap", "plockstat", "build/libdtrap.a"):
        if os.path.exists(os.path.join(tree, program)):
            os.remove(os.path.join(tree, program))
    p = make(tree, "CFLAGS=-O0 -g", "SAN=-fsanitize-coverage=trace-pc -Wl," + cover,
             "dtrap", "plockstat", "check-build")
    if p.returncode:
        sys.exit(p.stdout)


def sites_of(program):
    """({offset of a basic block's call: [(file, line)]}, the program's lines)"""
    out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program],
                         text=True, stdout=subprocess.PIPE, check=True).stdout
    sites, after = [], False
    for line in out.splitlines():
        m = re.match(r"\s*([0-9a-f]+):\s+(\S.*)", line)
        if not m:
            after = False
            continue
        if after:
            sites.append(int(m.group(1), 16))
        after = "<__sanitizer_cov_trace_pc>" in m.group(2)
    sites.sort()
    rows = []
    out = subprocess.run(["readelf", "--debug-dump=decodedline", "-W", program],
                         text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL).stdout
    name = None
    for line in out.splitlines():
        if line.endswith(":") and line.startswith(("CU: ", "./", "/", *FOLDERS,
                                                   "File name")):
            name = line[:-1].replace("CU: ", "")
        m = re.match(r"(\S+)\s+(\d+)\s+0x([0-9a-f]+)", line)
        if m and name:
            rows.append((int(m.group(3), 16), name, int(m.group(2))))
    return sites, sorted(rows)


def lines_of(program, tree):
    """{offset: {(file, line)}}: which lines stand behind each call."""
    sites, rows = sites_of(program)
    found, i = collections.defaultdict(set), 0
    for addr, name, line in rows:
        name = os.path.normpath(name)
        if name.startswith(tree):
            name = os.path.relpath(name, tree)
        if not name.startswith(FOLDERS):
            continue
        # The row of a block begins before its call returns, or after.
        while i + 1 < len(sites) and sites[i + 1] <= addr + 5:
            i += 1
        found[sites[i]].add((name, line))
    return found


def map_write(known):
    path = os.path.join(WORK, "map.json")
    with open(path + ".new", "w") as f:
        json.dump(known, f)
    os.rename(path + ".new", path)


def map_test(tree, test, lines):
    """(status, {(file, line)} that it reaches); lines caches lines_of()."""
    notes = os.path.join(tree, "build", "notes")
    shutil.rmtree(notes, ignore_errors=True)
    os.makedirs(notes)
    status = run_test(tree, test, 400, {"MUTATE_COVER": notes})
    seen = set()
    for path in glob.glob(notes + "/*.cov"):
        name = os.path.basename(path)[:-4]
        programs = [os.path.join(tree, name),
                    *glob.glob(os.path.join(tree, "build", "*", name))]
        program = next(filter(os.path.isfile, programs), None)
        if not program:
            continue
        where = lines.get(program) or lines_of(program, tree)
        if program == programs[0]:
            lines[program] = where
        with open(path, "rb") as f:
            data = f.read()
        at = data.find(1)
        while at >= 0:
            seen |= where.get(at, set())
            at = data.find(1, at + 1)
    return status, seen


def map_make(tree, tests):
    """Into map.json, as it grows: {file: {line: [test]}}, a test being its place in
    the list of names, and the seconds of each.  What is there already is kept."""
    known = map_read() or {"names": [], "reached": {}, "seconds": {}, "size": {},
                           "failed": []}
    lines, told = {}, time.time()
    for test in sorted((t for t in tests if t not in known["seconds"]),
                       key=lambda t: tests[t]):
        begin = time.time()
        status, seen = map_test(tree, test, lines)
        known["seconds"][test] = time.time() - begin
        known["size"][test] = len(seen)
        known["names"].append(test)
        number = len(known["names"]) - 1
        if status != 0:
            known["failed"].append((test, status))
            continue
        for file, line in seen:
            known["reached"].setdefault(file, {}).setdefault(
                str(line), []).append(number)
        if time.time() - told > 200:
            told = time.time()
            map_write(known)
            print(f"map: {len(known['seconds'])} of {len(tests)} tests", flush=True)
    map_write(known)
    print(f"map: {len(known['seconds'])} tests; not used, as they fail or are "
          f"skipped: {' '.join(f'{t}={s}' for t, s in known['failed'])}", flush=True)


map_kept = None, None


def map_read():
    """What is known by now; None before the first test."""
    global map_kept
    path = os.path.join(WORK, "map.json")
    if not os.path.exists(path):
        return None
    when = os.stat(path).st_mtime_ns
    if map_kept[0] != when:
        with open(path) as f:
            map_kept = when, json.load(f)
    return map_kept[1]


def tests_for(known, mutant, kinds):
    """Those that reach its line, in the order in which they are to run."""
    for prefix, tests in ELSEWHERE.items():
        if mutant["file"].startswith(prefix):
            return [t for t in tests if os.path.exists(os.path.join(ROOT, t))]
    lines = known["reached"].get(mutant["file"], {})
    here = mutant["line"]
    # A statement of several lines has its code at some of them.
    at = next((str(n) for n in (here, here - 1, here + 1, here - 2, here + 2)
               if str(n) in lines), None)
    # What each of the tests reaches of this file, and of everything.
    names = known["names"]
    of_file = collections.Counter(names[t] for tests in lines.values() for t in tests)
    return sorted((names[t] for t in lines.get(at, [])),
                  key=lambda t: (kinds.get(t, 2),
                                 -of_file[t] / (known["size"][t] + 200),
                                 known["seconds"][t]))


# ---- planting --------------------------------------------------------------

class Tree:
    """A copy of the tree in which one mutant is planted at a time."""

    def __init__(self, name, of):
        self.root = os.path.join(WORK, name)
        copy_tree(self.root, of)
        p = make(self.root, "dtrap", "plockstat")
        if p.returncode:
            sys.exit(p.stdout)

    def object_of(self, path):
        return os.path.join(self.root, "build/host", path[:-2] + ".o")

    def code(self, path):
        """What the object does, without where its lines are."""
        plain = os.path.join(self.root, "build/plain.o")
        subprocess.run(["objcopy", "-g", self.object_of(path), plain], check=True)
        with open(plain, "rb") as f:
            return f.read()

    def plant(self, mutant):
        """None, or why it is no mutant."""
        path = os.path.join(self.root, mutant["file"])
        self.saved = path + ".saved"
        shutil.copy2(path, self.saved)
        host = not mutant["file"].startswith(tuple(ELSEWHERE))
        before = host and self.code(mutant["file"])
        if host:
            shutil.copy2(self.object_of(mutant["file"]), self.saved + ".o")
        with open(path) as f:
            text = f.read()
        at, old = mutant["at"], mutant["old"]
        if text[at:at + len(old)] != old:
            return "elsewhere"
        with open(path, "w") as f:
            f.write(text[:at] + mutant["new"] + text[at + len(old):])
        if host:
            p = make(self.root, os.path.relpath(self.object_of(mutant["file"]),
                                                self.root))
            if p.returncode:
                return "does not compile"
            if self.code(mutant["file"]) == before:
                return "the same code"
        p = make(self.root, "dtrap", "plockstat", "build/agent/blob")
        return "does not compile" if p.returncode else None

    def restore(self, mutant):
        path = os.path.join(self.root, mutant["file"])
        os.replace(self.saved, path)
        if os.path.exists(self.saved + ".o"):
            os.replace(self.saved + ".o", self.object_of(mutant["file"]))
            os.utime(self.object_of(mutant["file"]))
        else:
            os.utime(path)

    def try_tests(self, mutant, known, tests, budget):
        """The test that killed it, or None; and how many ran."""
        begin, ran = time.time(), 0
        for test in tests:
            if time.time() - begin > budget:
                mutant["left"] = len(tests) - ran
                break
            limit = 40 + 12 * known["seconds"].get(test, 10)
            if test.startswith("build/") and make(self.root, test).returncode:
                continue
            if kind_of(test) == "vm" and make(self.root, "build/vm/corpus",
                                              "build/vm/interleave",
                                              "build/vm/threads").returncode:
                continue
            ran += 1
            status = run_test(self.root, test, limit)
            if status in (0, 77):
                continue
            if run_test(self.root, test, limit) in (0, 77):
                mutant.setdefault("leaned on chance", []).append(test)
                continue
            return test, ran, status
        return None, ran, 0

    def judge(self, mutant, known, kinds, budget):
        try:
            why = self.plant(mutant)
            if why:
                mutant["void"] = why
                return
            tests = tests_for(known, mutant, kinds)
            mutant["reach"] = len(tests)
            killer, ran, status = self.try_tests(mutant, known, tests, budget)
            mutant.update(killer=killer, ran=ran, status=status)
        finally:
            self.restore(mutant)


def say(mutant):
    new = mutant["new"].strip() or "(gone)"
    old = " ".join(mutant["old"].split())
    how = mutant.get("void") or \
        (f"killed by {mutant['killer']} ({mutant['ran']})" if mutant.get("killer")
         else f"LIVES: {mutant['ran']} of {mutant['reach']} tests")
    return (f"{mutant['id']:3} {mutant['file']}:{mutant['line']}: "
            f"{mutant['what']}: {old[:60]} -> {new[:40]}: {how}")


def results_read():
    path = os.path.join(WORK, "results.json")
    if not os.path.exists(path):
        return {"mutants": [], "lines": {}}
    with open(path) as f:
        return json.load(f)


def results_write(results):
    path = os.path.join(WORK, "results.json")
    with open(path + ".new", "w") as f:
        json.dump(results, f, indent=1)
    os.rename(path + ".new", path)


def in_parallel(jobs, work, plan, name, of):
    """Calls work(tree, item) for each item of the plan, in `jobs' copies of the
    tree `of'."""
    todo = queue.Queue()
    for item in plan:
        todo.put(item)

    def worker(number):
        tree = Tree(f"{name}{number}", of)
        while True:
            try:
                item = todo.get_nowait()
            except queue.Empty:
                return
            try:
                work(tree, item)
            except OSError as e:        # of this machine, not of the mutant
                print(f"{item}: {e}", flush=True)

    threads = [threading.Thread(target=worker, args=(n,)) for n in range(jobs)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def command_map():
    tree = os.path.join(WORK, "cover")
    if not map_read():
        copy_tree(tree)
        cover_build(tree)
    map_make(tree, tests_of(tree))


def command_run(args):
    results = results_read()
    done = {(m["file"], m["at"], m["new"]) for m in results["mutants"]}
    lock = threading.Lock()
    first = os.path.join(WORK, "cover")
    chosen, lines = sample(first, args.count, args.seed, args.only)
    results.update(lines=lines, seed=args.seed)
    # Rooms take turns, so that a run that is cut short has seen them all.
    plan = [(room, i) for room, (found, n) in chosen.items() for i in range(n)]
    plan.sort(key=lambda item: (item[1] / chosen[item[0]][1], item[0]))
    taken = collections.Counter()

    def one(tree, item):
        room = item[0]
        while True:
            with lock:
                i = taken[room]
                taken[room] += 1
                if i >= len(chosen[room][0]):
                    return
                mutant = dict(chosen[room][0][i], room=room)
                mutant["id"] = len(results["mutants"]) + 1
                if (mutant["file"], mutant["at"], mutant["new"]) in done:
                    return
                results["mutants"].append(mutant)
            tree.judge(mutant, map_read(), kinds_of_map(), args.budget)
            with lock:
                if mutant.get("void"):
                    print(say(mutant), flush=True)
                    continue
                results_write(results)
                print(say(mutant), flush=True)
            return

    in_parallel(args.jobs, one, plan, "run", first)
    results_write(results)


def kinds_of_map():
    tests = map_read()["seconds"]
    order = {"unit": 0, "golden": 0, "reloc": 1, "replay": 1, "vm": 1, "expr": 1}
    return {t: order.get(kind_of(t), 2) for t in tests}


def find_again(mutant, root):
    """The mutant where its line is now; False if that line is gone."""
    with open(os.path.join(WORK, "cover", mutant["file"])) as f:
        text = f.read()
    begin = text.rfind("\n", 0, mutant["at"]) + 1
    end = text.find("\n", mutant["at"] + len(mutant["old"]))
    path = os.path.join(root, mutant["file"])
    if not os.path.exists(path):
        return False
    with open(path) as f:
        now = f.read()
    around = text[begin:end + 1]
    if now.count(around) != 1:
        begin = text.rfind("\n", 0, max(0, begin - 2)) + 1
        around = text[begin:end + 1]
        if now.count(around) != 1:
            return False
    mutant["at"] += now.index(around) - begin
    mutant["line"] = now.count("\n", 0, mutant["at"]) + 1
    return True


def command_again(args):
    results, known = results_read(), map_read()
    lock = threading.Lock()
    todo = [m for m in results["mutants"] if not m.get("void") and
            (str(m["id"]) in args.id or
             "survivors" in args.id and not m.get("killer"))]

    def one(tree, mutant):
        copy = dict(mutant)
        if not find_again(copy, tree.root):
            with lock:
                print(f"{copy['id']} its line is gone", flush=True)
            return
        extra = [t for t in args.tests.split() if t]
        kinds = kinds_of_map()
        old = tests_for(known, mutant, kinds)
        try:
            why = tree.plant(copy)
            if why:
                copy["void"] = why
            else:
                killer, ran, status = tree.try_tests(
                    copy, known, extra or old, args.budget)
                copy.update(killer=killer, ran=ran, status=status)
        finally:
            tree.restore(copy)
        with lock:
            print(say(copy), flush=True)
            if copy.get("killer"):
                # The run itself may be writing: read what it has by now.
                fresh = results_read()
                for m in fresh["mutants"]:
                    if m["id"] == mutant["id"]:
                        m.update(killer=copy["killer"], ran=copy["ran"],
                                 later=True)
                results_write(fresh)

    in_parallel(args.jobs, one, todo, "again", ROOT)


def wilson(killed, n):
    """The interval in which the score lies with 95 %."""
    if not n:
        return 0.0, 1.0
    z, p = 1.96, killed / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def reasons():
    """{(file, old, new): why it changes nothing} of t/mutate/same.txt"""
    found = {}
    path = os.path.join(ROOT, "t/mutate/same.txt")
    if os.path.exists(path):
        with open(path) as f:
            for line in f:
                words = [w.strip() for w in line.split("|")]
                if not line.startswith("#") and len(words) == 4:
                    found[tuple(words[:3])] = words[3]
    return found


def command_report():
    results, same = results_read(), reasons()
    count = collections.defaultdict(lambda: [0, 0, 0])
    lives = []
    for m in results["mutants"]:
        if m.get("void") or "ran" not in m:
            continue
        key = (m["file"], " ".join(m["old"].split()), m["new"].strip() or "(gone)")
        row = count[m["room"]]
        if m.get("killer"):
            row[0] += 1
            row[1] += 1
        elif key in same:
            row[2] += 1
        else:
            row[1] += 1
            lives.append(say(m))
    print("| room | mutants | killed | score | interval | change nothing |")
    print("| --- | --- | --- | --- | --- | --- |")
    for room in sorted(count):
        killed, n, nothing = count[room]
        low, high = wilson(killed, n)
        print(f"| `{room}/` | {n} | {killed} | {100 * killed / max(1, n):.0f} % | "
              f"{100 * low:.0f}-{100 * high:.0f} % | {nothing} |")
    killed = sum(c[0] for c in count.values())
    n = sum(c[1] for c in count.values())
    low, high = wilson(killed, n)
    print(f"| all | {n} | {killed} | {100 * killed / max(1, n):.0f} % | "
          f"{100 * low:.0f}-{100 * high:.0f} % | "
          f"{sum(c[2] for c in count.values())} |")
    print()
    for line in lives:
        print(line)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("command", choices=["run", "again", "report", "map"])
    p.add_argument("id", nargs="*")
    p.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--budget", type=float, default=600,
                   help="seconds after which no other test is begun")
    p.add_argument("--only", default="", help="files that begin so")
    p.add_argument("--tests", default="", help="with again: these instead")
    args = p.parse_args()
    os.makedirs(WORK, exist_ok=True)
    if args.command == "report":
        return command_report()
    if args.command == "again":
        return command_again(args)
    if args.command == "map" or not os.path.exists(os.path.join(WORK, "map.json")):
        command_map()
    if args.command == "run":
        args.count = int(args.id[0]) if args.id else 200
        command_run(args)
        command_report()


if __name__ == "__main__":
    main()
