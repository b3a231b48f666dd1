#!/usr/bin/env python3
"""mutate.py COMMAND: plant bugs, one at a time, and count those that tests find.

    map [TEST...]   make the map of what each test reaches; without names, the
                    tests that trace nobody
    run N [--seed SEED] [--only PREFIX] [--kinds unit,golden]
                    plant N mutants and run the tests that reach their lines and
                    trace nobody; make that map first if there is none
    e2e             of those that live, run the end-to-end tests of the map
    again ID...     judge these of the last run once more, by the tests as they are
                    now; `again survivors' for all that live, --tests for others
    report          the score of each room, of what has run so far

A mutant is one small change of one line of C: an operator, a constant, a
condition that is always or never true, a call or an assignment that is gone, a
result that is 0.  One that compiles to the same code is no mutant, and another
takes its place.  What only frees memory or writes to a log is not planted.

A test that does not reach the line cannot tell the mutant from the program: the
map says which do.  They run, those that reach little else first, until one fails
twice.  base.py tells how a mutant gets into the program.
"""
import argparse
import collections
import glob
import json
import math
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import base
import plant
from base import ROOT, TREE, WORK, kind_of

# What is in a target can note nothing.
ELSEWHERE = {
    "inject/trap/": ["t/e2e/49-ends-alone.sh", "t/e2e/49-after-a-kill.sh",
                     "t/e2e/14-killed.sh", "t/e2e/11-sigtrap.sh",
                     "t/e2e/49-guardian-stopped.sh", "t/torture/kill.sh"],
    "inject/agent/": ["t/vm/two-builds.sh"],
    "dlang/vm/": ["t/vm/two-builds.sh"],
}
FAST = {"unit": 0, "golden": 1, "reloc": 3, "replay": 2, "vm": 2, "expr": 3}
# Seconds of a processor from which a test is not run twice.
SLOW = 6


def say(text):
    print(time.strftime("%H:%M:%S ") + text, flush=True)


# ---- golden tests, many at once --------------------------------------------

def golden_words(test):
    """The words after dtrap, as t/golden has them."""
    with open(os.path.join(TREE, test), errors="surrogateescape") as f:
        text = f.read()

    def said(what):
        m = re.search(rf"^(?:.*@{what}: *(.*[^ ]) *\*/.*|[ *]*@{what}: *(.*[^ */]) *)$",
                      text, re.M)
        if not m:
            return []
        words = m.group(1) or m.group(2)
        if re.fullmatch(r"[\w ./=,:+-]*", words):
            return words.split()
        out = subprocess.run(["bash", "-c", "eval \"w=($1)\"; printf '%s\\0' \"${w[@]}\"",
                              "bash", words], cwd=TREE, stdout=subprocess.PIPE,
                             check=True).stdout
        return [os.fsdecode(w) for w in out.split(b"\0")[:-1]]

    tags = ["-x", "errtags"] if os.path.basename(test).startswith("err.") else []
    return tags + said("opts") + ["-s", test] + said("args")


CPU = re.compile(rb"^( {2}[0-9]| [0-9]{2}|[0-9]{3})"
                 rb"( {1,6}[0-9]+ +[^ ]*:[^ ]* | (->|<-|\| | +[|<-]))", re.M)


def golden_run(dtrap, words, env=None):
    """What a run gives that must be as it was: status, output, errors."""
    # Files, as in t/golden: ftruncate() has no effect on a pipe.
    with tempfile.TemporaryFile() as out_file, tempfile.TemporaryFile() as err_file:
        p = subprocess.Popen(["prlimit", "--core=0", "--cpu=6", "--fsize=1000000000",
                              dtrap, *words], cwd=TREE, stdin=subprocess.DEVNULL,
                             stdout=out_file, stderr=err_file,
                             env=dict(os.environ, LC_ALL="C", TZ="UTC",
                                      **(env or {})))
        try:
            p.wait(timeout=60)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
            return [124, "", ""]
        out_file.seek(0)
        err_file.seek(0)
        out, err = out_file.read(), err_file.read()
    out = re.sub(rb"^0x[0-9a-f]+ = \*$", b"0x0 = *", CPU.sub(rb"  0\2", out), flags=re.M)
    err = re.sub(rb"0x[0-9a-f]+", b"0x0", err)
    err = re.sub(rb"(at DIF offset) [0-9]+", rb"\1 0", err)
    err = err.replace(os.fsencode(dtrap), b"dtrap")
    return [p.returncode, out.decode("latin-1"), err.decode("latin-1")]


def golden_batch(dtrap, tests):
    """In a process of its own: name each test that is begun, and behind the one
    that gives something else than it gave for the map, a line "!"."""
    with open(os.path.join(WORK, "golden.json")) as f:
        known = json.load(f)
    for test in tests:
        print(test, flush=True)
        words, gave = known[test]
        if golden_run(dtrap, words) != gave:
            print("!", flush=True)


# ---- the map ---------------------------------------------------------------

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
        if line.endswith(":") and line.startswith(("CU: ", "./", "/", *plant.FOLDERS,
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
        if not name.startswith(plant.FOLDERS):
            continue
        # The row of a block begins before its call returns, or after.
        while i + 1 < len(sites) and sites[i + 1] <= addr + 5:
            i += 1
        found[sites[i]].add((name, line))
    return found


class Map:
    """What each test reaches: {file: {line: [test's number]}}, and what it costs."""

    def __init__(self):
        self.path = os.path.join(WORK, "map.json")
        self.lines = {}
        self.known = {"names": [], "reached": {}, "cpu": {}, "wall": {}, "size": {},
                      "failed": {}}
        if os.path.exists(self.path):
            with open(self.path) as f:
                self.known = json.load(f)

    def write(self):
        with open(f"{self.path}.{os.getpid()}", "w") as f:
            json.dump(self.known, f)
        os.rename(f"{self.path}.{os.getpid()}", self.path)

    def forget(self, test):
        if test in self.known["names"]:
            number = self.known["names"].index(test)
            for lines in self.known["reached"].values():
                for tests in lines.values():
                    if number in tests:
                        tests.remove(number)
        for part in ("cpu", "wall", "size", "failed"):
            self.known[part].pop(test, None)

    def seen(self, notes):
        """{(file, line)} of the notes that cover.c left."""
        found = set()
        for path in glob.glob(notes + "/*.cov"):
            name = os.path.basename(path)[:-4]
            where = "lib" if name.endswith(".so") else "bin"
            program = os.path.join(WORK, where, name)
            if not os.path.exists(program):
                continue
            if program not in self.lines:
                self.lines[program] = lines_of(program, TREE)
            where = self.lines[program]
            with open(path, "rb") as f:
                data = f.read()
            at = data.find(1)
            while at >= 0:
                found |= where.get(at, set())
                at = data.find(1, at + 1)
        return found

    def add(self, test, status, cpu, wall, seen):
        known = self.known
        known["cpu"][test], known["wall"][test] = cpu, wall
        known["size"][test] = len(seen)
        if status != 0:
            known["failed"][test] = status
            return
        if test not in known["names"]:
            known["names"].append(test)
        number = known["names"].index(test)
        for file, line in seen:
            known["reached"].setdefault(file, {}).setdefault(
                str(line), []).append(number)

    def make(self, tests, jobs, limit=900):
        """Of these tests, those that it has not yet.  One that takes longer than
        `limit' seconds is not used."""
        golden = os.path.join(WORK, "golden.json")
        gave = {}
        if os.path.exists(golden):
            with open(golden) as f:
                gave = json.load(f)
        lock, told, count = threading.Lock(), [time.time()], [0]
        todo = sorted((t for t in tests if t not in self.known["cpu"]),
                      key=lambda t: FAST.get(kind_of(t), 9))

        def one(worker, test):
            notes = os.path.join(worker.root, "notes")
            shutil.rmtree(notes, ignore_errors=True)
            os.makedirs(notes)
            env, begin = {"MUTATE_COVER": notes}, time.time()
            if kind_of(test) == "golden":
                words = golden_words(test)
                now = golden_run(worker.root + "/bin/dtrap", words, env)
                status, cpu = 0, 0.05
            else:
                worker.ready(test)
                status, cpu = worker.run(test, 600, limit, env, alone=False)
            seen = self.seen(notes)
            with lock:
                if kind_of(test) == "golden":
                    gave[test] = [words, now]
                self.add(test, status, cpu, time.time() - begin, seen)
                count[0] += 1
                if time.time() - told[0] > 60:
                    told[0] = time.time()
                    with open(golden, "w") as f:
                        json.dump(gave, f)
                    self.write()
                    say(f"map: {count[0]} of {len(todo)} tests")

        in_parallel(jobs, one, todo)
        with open(golden, "w") as f:
            json.dump(gave, f)
        self.write()
        say(f"map: {len(self.known['cpu'])} tests; these fail or are skipped, and "
            f"are not used: {self.known['failed']}")

    def tests_for(self, mutant):
        """Those that reach its line: the fast ones, and the end-to-end tests, each
        in the order in which they are to run."""
        known = self.known
        lines, here = known["reached"].get(mutant["file"], {}), mutant["line"]
        # A statement of several lines has its code at some of them.
        at = next((str(n) for n in (here, here - 1, here + 1, here - 2, here + 2)
                   if str(n) in lines), None)
        names = known["names"]
        of_file = collections.Counter(t for tests in lines.values() for t in tests)
        share = {names[t]: of_file[t] / (known["size"][names[t]] + 200)
                 for t in lines.get(at, [])}
        # Before golden tests only those that are about this file.
        most = max(share.values(), default=0)

        def key(test):
            kind = FAST.get(kind_of(test), 9)
            if kind == 0 and share[test] < most / 4:
                kind = 1.5
            if kind == 9:
                return (kind, known["wall"][test] / share[test], 0)
            return (kind, -share[test], known["cpu"][test])

        tests = sorted((t for t in share if t not in known["failed"]), key=key)
        fast = [t for t in tests if kind_of(t) in FAST]
        slow = [t for t in tests if kind_of(t) not in FAST]
        for prefix, more in ELSEWHERE.items():
            if mutant["file"].startswith(prefix):
                fast += [t for t in more if kind_of(t) in FAST and t not in fast]
                slow += [t for t in more if kind_of(t) not in FAST and
                         t in known["names"]]
        return fast, slow


# ---- judging ---------------------------------------------------------------

plain_kept = {}


class Judge(base.Worker):
    """A worker that says which test finds a mutant."""

    def __init__(self, number, known):
        base.Worker.__init__(self, number)
        self.known = known.known

    def fails(self, test):
        """Does the test fail, and again?  What costs much is asked once."""
        if not self.ready(test):
            return False
        cpu, wall = (self.known[p].get(test, 5) for p in ("cpu", "wall"))
        for _ in range(2 if cpu < SLOW and kind_of(test) in FAST else 1):
            status, _ = self.run(test, 6 + 3 * cpu, 40 + 3 * wall)
            if status in (0, 77):
                return False
        return True

    def golden(self, tests):
        """The first of these golden tests that fails."""
        words = base.ALONE + [sys.executable, "-B", os.path.abspath(__file__), "batch",
                              self.root + "/bin/dtrap", *tests]
        p = subprocess.Popen(words, cwd=TREE, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        begun, doubts = None, 0
        for line in p.stdout:
            if line != "!\n":
                begun = line.strip()
                continue
            doubts += 1
            if self.fails(begun):
                p.kill()
                p.wait()
                return begun
            if doubts > 8:
                p.kill()
        if p.wait() and begun and self.fails(begun):
            return begun
        return None

    def try_tests(self, tests, budget):
        """The first test that fails, or None; and how many ran."""
        end, i, ran = time.time() + budget, 0, 0
        while i < len(tests) and time.time() < end:
            if kind_of(tests[i]) == "golden":
                stop = i
                while stop < len(tests) and kind_of(tests[stop]) == "golden":
                    stop += 1
                batch = tests[i:stop]
                killer = self.golden(batch)
                if killer:
                    return killer, ran + batch.index(killer) + 1
                ran += len(batch)
                i = stop
                continue
            if time.time() + self.known["wall"].get(tests[i], 0) > end:
                i += 1          # it would take too long
                continue
            ran += 1
            if self.fails(tests[i]):
                return tests[i], ran
            i += 1
        return None, ran

    def passes_plain(self, mutant, test):
        """Does the test pass with the file as it is in place of the mutant?"""
        key = mutant["file"], test
        if kind_of(test) in FAST and self.known["cpu"].get(test, 0) >= SLOW:
            return True
        if key not in plain_kept:
            try:
                why = self.plant(dict(mutant, new=mutant["old"]))
                plain_kept[key] = not why and not self.fails(test)
            finally:
                self.plain()
        return plain_kept[key]

    def judge(self, mutant, tests, stage, budget):
        mutant[stage] = len(tests)
        try:
            while True:
                why = self.plant(mutant)
                if why:
                    mutant["void"] = why
                    return
                killer, ran = self.try_tests(tests, budget)
                mutant[stage + " ran"] = ran
                if not killer or self.passes_plain(mutant, killer):
                    break
                tests = [t for t in tests if t != killer]
            if killer:
                mutant["killer"] = killer
            elif not mutant.get("differs"):
                if self.is_same():
                    mutant["void"] = "the same code"
                mutant["differs"] = True
        finally:
            self.plain()


def told(mutant):
    new = mutant["new"].strip() or "(gone)"
    old = " ".join(mutant["old"].split())
    how = mutant.get("void")
    if not how and mutant.get("killer"):
        how = f"killed by {mutant['killer']}"
    elif not how:
        how = f"LIVES: {mutant.get('fast ran', 0)} of {mutant.get('fast', 0)} fast tests"
        if "e2e" in mutant:
            how += f", {mutant['e2e ran']} of {mutant['e2e']} end-to-end tests"
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
    with open(f"{path}.{os.getpid()}", "w") as f:
        json.dump(results, f, indent=1)
    os.rename(f"{path}.{os.getpid()}", path)


first_worker = 0


def in_parallel(jobs, work, plan, worker=base.Worker):
    """Calls work(worker, item) for each item of the plan, with `jobs' workers."""
    todo = queue.Queue()
    for item in plan:
        todo.put(item)

    def loop(number):
        mine = worker(number)
        while True:
            try:
                item = todo.get_nowait()
            except queue.Empty:
                return
            try:
                work(mine, item)
            except OSError as e:        # of this machine, not of the mutant
                say(f"{item}: {e}")

    threads = [threading.Thread(target=loop, args=(first_worker + n,))
               for n in range(min(jobs, len(plan)))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def command_run(args, known):
    results = results_read()
    done = {(m["file"], m["at"], m["new"]) for m in results["mutants"]}
    lock = threading.Lock()
    chosen, lines = plant.sample(TREE, args.count, args.seed, args.only)
    results.update(lines=lines, seed=args.seed)
    # Rooms take turns, so that a run that is cut short has seen them all.
    plan = [(room, i) for room, (found, n) in chosen.items() for i in range(n)]
    plan.sort(key=lambda item: (item[0] == "symbols/dwarf",
                                item[1] / chosen[item[0]][1], item[0]))
    taken = collections.Counter()

    def one(worker, item):
        room = item[0]
        while True:
            with lock:
                i = taken[room]
                taken[room] += 1
                if i >= len(chosen[room][0]):
                    return
                mutant = dict(chosen[room][0][i], room=room)
                if (mutant["file"], mutant["at"], mutant["new"]) in done:
                    if next(m for m in results["mutants"] if all(
                            m[p] == mutant[p] for p in ("file", "at", "new"))).get("void"):
                        continue
                    return
                mutant["id"] = len(results["mutants"]) + 1
                results["mutants"].append(mutant)
            worker.judge(mutant, known.tests_for(mutant)[0], "fast", args.budget)
            with lock:
                results_write(results)
                say(told(mutant))
            if not mutant.get("void"):
                return

    in_parallel(args.jobs, one, plan, lambda n: Judge(n, known))
    results_write(results)


def command_e2e(args, known):
    """Of those that live and have not seen them: the end-to-end tests."""
    results, lock = results_read(), threading.Lock()
    plan = [m for m in results["mutants"] if not m.get("void") and
            not m.get("killer") and "e2e" not in m and known.tests_for(m)[1] and
            (not args.id or str(m["id"]) in args.id)]
    plan.sort(key=lambda m: len(known.tests_for(m)[1]))

    def one(worker, mutant):
        copy = next(dict(m) for m in results_read()["mutants"]
                    if m["id"] == mutant["id"])
        if copy.get("killer"):
            return
        worker.judge(copy, known.tests_for(copy)[1], "e2e", args.budget)
        with lock:
            result_write(copy)
            say(told(copy))

    in_parallel(args.jobs, one, plan, lambda n: Judge(n, known))


def command_control(args, known):
    """Of those that were killed: is it the mutant that the test fails for?"""
    def one(worker, mutant):
        if not worker.passes_plain(mutant, mutant["killer"]):
            say(f"fails without it: {told(mutant)}")
            mutant.pop("killer")
            result_write(mutant, True)

    plan = [m for m in results_read()["mutants"] if m.get("killer") and
            (not args.id or str(m["id"]) in args.id)]
    in_parallel(args.jobs, one, plan, lambda n: Judge(n, known))
    say(f"{len(plan)} looked at")


def result_write(mutant, lives=False):
    """Another run may be writing: what it has by now, with this one.  What was
    killed stays so, unless it is known that it lives."""
    fresh = results_read()
    for i, m in enumerate(fresh["mutants"]):
        if m["id"] == mutant["id"] and \
                (lives or mutant.get("killer") or not m.get("killer")):
            fresh["mutants"][i] = mutant
    results_write(fresh)


def command_again(args, known):
    """By the tests as they are now; the program is that of the run."""
    base.tree_copy("t/")
    tests = args.tests.split()
    for test in tests:
        if base.program_of(test):
            made = os.path.join(TREE, base.object_of(base.source_of(test)))
            if os.path.exists(made):
                os.remove(made)
            said = base.test_link(test, WORK)
            if said:
                sys.exit(said)
        known.forget(test)
    known.make(tests, 1)
    lock = threading.Lock()
    plan = [m for m in results_read()["mutants"] if not m.get("void") and
            (str(m["id"]) in args.id or
             "survivors" in args.id and not m.get("killer"))]

    def one(worker, mutant):
        copy = dict(mutant)
        copy.pop("killer", None)
        mine = known.tests_for(copy)[0]
        if tests:
            mine = [t for t in mine if t in tests]
        worker.judge(copy, mine, "fast" if not tests else "more", args.budget)
        with lock:
            say(told(copy))
            if copy.get("killer") or copy.get("void"):
                result_write(copy)

    in_parallel(args.jobs, one, plan, lambda n: Judge(n, known))


def wilson(killed, n):
    """The interval in which the score lies with 95 %."""
    if not n:
        return 0.0, 1.0
    z, p = 1.96, killed / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def reasons():
    """{(file, line's text, change): why it changes nothing} of t/mutate/same.txt"""
    found = {}
    path = os.path.join(ROOT, "t/mutate/same.txt")
    if os.path.exists(path):
        with open(path) as f:
            for line in f:
                words = [w.strip() for w in line.split("\t") if w.strip()]
                if not line.startswith("#") and len(words) == 4:
                    found[tuple(words[:3])] = words[3]
    return found


def change(mutant):
    return f"{' '.join(mutant['old'].split())} -> {mutant['new'].strip() or '(gone)'}"


def key_of(mutant):
    """As same.txt has it."""
    with open(os.path.join(base.TREE, mutant["file"])) as f:
        line = f.read().split("\n")[mutant["line"] - 1].strip()
    return mutant["file"], line, change(mutant)


def function_of(mutant):
    with open(os.path.join(base.TREE, mutant["file"])) as f:
        before = f.read()[:mutant["at"]]
    return re.findall(r"^(\w+)\(", before, re.M)[-1]


def changes_nothing(mutant, same):
    """Is it in same.txt, by its line or by its function and line?"""
    path, line, what = key_of(mutant)
    return (path, line, what) in same or \
        (path, f"{function_of(mutant)}(): {line}", what) in same


def command_report():
    results, same = results_read(), reasons()
    count = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
    lives = []
    for m in results["mutants"]:
        if m.get("void") or "fast ran" not in m and not m.get("killer"):
            continue
        nothing = changes_nothing(m, same)
        for row in (count[m["room"]], count["~"]):
            if m.get("killer"):
                row[0 if kind_of(m["killer"]) in FAST else 1] += 1
            elif nothing:
                row[3] += 1
            else:
                row[2] += 1
        if not m.get("killer") and not nothing:
            lives.append(told(m))
    print("| room | mutants | killed | by end-to-end tests | score | interval | "
          "change nothing |\n| --- | --- | --- | --- | --- | --- | --- |")
    for room in sorted(count):
        fast, slow, live, nothing, _ = count[room]
        n = fast + slow + live
        low, high = wilson(fast + slow, n)
        print(f"| {'all' if room == '~' else f'`{room}/`'} | {n} | {fast + slow} | "
              f"{slow} | {100 * (fast + slow) / max(1, n):.0f} % | "
              f"{100 * low:.0f}-{100 * high:.0f} % | {nothing} |")
    print()
    for line in lives:
        print(line)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("command", choices=["map", "run", "e2e", "again", "report", "batch",
                                       "control"])
    p.add_argument("id", nargs="*")
    p.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--budget", type=float, default=600,
                   help="seconds after which no other test of a mutant is begun")
    p.add_argument("--limit", type=float, default=900,
                   help="with map: seconds that a test may take")
    p.add_argument("--worker", type=int, default=0,
                   help="number of the first worker: two commands at a time need "
                   "different ones")
    p.add_argument("--only", default="", help="files that begin so")
    p.add_argument("--tests", default="", help="with again: these instead")
    p.add_argument("--kinds", default=",".join(FAST), help="of tests that trace "
                   "nobody, these alone: unit,golden")
    args = p.parse_intermixed_args()
    global first_worker
    first_worker = args.worker
    for kind in set(FAST) - set(args.kinds.split(",")):
        del FAST[kind]
    if args.command == "batch":
        return golden_batch(args.id[0], args.id[1:])
    if args.command == "report":
        return command_report()
    os.makedirs(WORK, exist_ok=True)
    if not os.path.exists(os.path.join(WORK, "lib", "libdtrap.so")):
        base.tree_copy()
        base.base_build(say)
    known = Map()
    if args.command == "map" and args.id:
        return known.make(args.id, args.jobs, args.limit)
    known.make([t for t in base.tests_of() if kind_of(t) in FAST], args.jobs)
    if args.command == "run":
        args.count = int(args.id[0]) if args.id else 200
        command_run(args, known)
        command_report()
    elif args.command == "e2e":
        command_e2e(args, known)
    elif args.command == "control":
        command_control(args, known)
    elif args.command == "again":
        command_again(args, known)


if __name__ == "__main__":
    main()
