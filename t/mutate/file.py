#!/usr/bin/env python3
"""file.py FILE TEST [N [SEED]]: plant N bugs in one source file, one at a time,
and print those that one unit test does not find.

    t/mutate/file.py tracer/ptrace/halt.c test_halt 40 7

The bugs are those of mutate.py: lines by chance, one bug a line, and more of a
line only when the file has no other.  The program of the test is built below
build/mutate/file-PID/, of the sources as they are; nothing else is touched.  What
compiles to the same code, and what t/mutate/same.txt lists, does not count.  The
exit status is 0 if every bug was found.
"""
import os
import random
import shutil
import sys
import time

import base
import mutate
import plant

# The sources and objects are those of the tree, not of mutate.py's copy.
base.TREE = base.ROOT
ROOM = os.path.join(base.ROOT, "build", "mutate", f"file-{os.getpid()}")


class Bench:
    """The program of one test, with one file in the overlay."""

    def __init__(self, path, test):
        self.path, self.source = path, f"t/unit/{test}.c"
        self.output = os.path.join(ROOM, "bin", test)
        self.flags = ["gcc", f"-I{ROOM}/overlay"] + \
            [w for w in base.flags("ALL_CFLAGS") if w not in ("-O2", "-g")] + \
            ["-w", "-O0", "-c", "-o"]
        self.reads = path in base.included(f"build/unit/{test}")
        for folder in ("bin", "overlay"):
            os.makedirs(os.path.join(ROOM, folder))

    def build(self, mutant):
        """None, or what the compiler said."""
        target = base.overlay_write(ROOM + "/overlay", mutant)
        main, other = self.output + ".o", ROOM + "/overlay/file.o"
        said = None
        if self.reads or not os.path.exists(main):
            said = base.command(*self.flags, main, self.source)
        if not said and not self.reads:
            said = base.command(*self.flags, other, target)
        return said or base.command(
            "gcc", "-o", self.output, main, *([] if self.reads else [other]),
            *base.flags("FAKEOBJ"), "build/libdtrap.a", "-lcheck", "-lsubunit",
            "-lpthread", "-lrt", *base.flags("LIBS"))

    def run(self, cpu, limit):
        return base.run_words([self.output], ROOM, cpu, limit, {}, True)[0]

    def finds(self, mutant, cpu, limit):
        """Does the test fail, and again?  None: that is no mutant."""
        if self.build(mutant):
            return None
        if all(self.run(cpu, limit) for _ in range(2)):
            return True
        return None if base.same_code(ROOM, self.path) else False


def chosen(path, seed):
    """Every mutant of the file, in the order in which they are planted."""
    rng = random.Random(seed)
    lines = [found for _, found in sorted(
        plant.mutants_by_line(base.ROOT, path).items())]
    for found in [lines] + lines:
        rng.shuffle(found)
    for i in range(max(map(len, lines), default=0)):
        yield from (found[i] for found in lines if i < len(found))


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    path, test = os.path.normpath(sys.argv[1]), os.path.basename(sys.argv[2])
    count, seed = (int(sys.argv[i]) if len(sys.argv) > i else value
                   for i, value in ((3, 20), (4, 1)))
    made = base.make("build/libdtrap.a", *base.flags("FAKEOBJ"))
    if made.returncode:
        sys.exit(made.stdout)
    bench, same = Bench(path, test), mutate.reasons()
    plain = {"file": path, "at": 0, "old": "", "new": ""}
    said, begin = bench.build(plain), time.time()
    if said or bench.run(60, 120):
        sys.exit(said or f"{test} fails with {path} as it is")
    took = time.time() - begin
    found, lives, nothing = 0, [], 0
    for mutant in chosen(path, seed):
        if found + len(lives) == count:
            break
        if mutate.changes_nothing(mutant, same):
            nothing += 1
            continue
        result = bench.finds(mutant, 10, 20 + 10 * took)
        if result is None:
            continue
        found += result
        if not result:
            lives.append(mutant)
            print(f"{path}:{mutant['line']}: {mutate.change(mutant)}", flush=True)
            print(f"    {mutate.key_of(mutant)[1]}", flush=True)
    n = found + len(lives)
    low, high = mutate.wilson(found, n)
    print(f"{path}: {test} finds {found} of {n} ({100 * found / max(1, n):.0f} %, "
          f"interval {100 * low:.0f}-{100 * high:.0f} %); {nothing} change nothing")
    return len(lives) > 0


if __name__ == "__main__":
    try:
        status = main()
    finally:
        shutil.rmtree(ROOM, ignore_errors=True)
    sys.exit(status)
