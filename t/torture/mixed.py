#!/usr/bin/env python3
"""mixed.py COUNT [SEED [TIMES]]: COUNT rounds (ordeal.py), drawn from SEED so
that each pair of conditions comes TIMES times (or once, if there is room).

mixed.py one ROUND [CONDITION=VALUE]...: the round of this seed again, with
    its story; KEEP=DIR leaves its files there.
mixed.py shrink ROUND [TRIES]: the fewest conditions with which it still fails.
mixed.py draw COUNT [SEED [TIMES]]: which rounds there would be.

JOBS rounds at a time (as many as there are processors).  FIX: "CONDITION=VALUE
..." that hold for all rounds.
"""
import itertools
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import ordeal

CANDIDATES = 40  # of which the one that is needed most becomes a round
KINDS = ["lost", "text", "semaphores", "mappings", "signals", "held", "checks",
         "misled", "zeros", "unprotected", "tracer", "hung"]


def pairs_of(conditions):
    return itertools.combinations(sorted(conditions.items()), 2)


def all_pairs():
    for a, b in itertools.combinations(sorted(ordeal.CONDITIONS), 2):
        for va in ordeal.CONDITIONS[a]:
            for vb in ordeal.CONDITIONS[b]:
                yield (a, va), (b, vb)


def choose(count, seed, times):
    """[(seed, conditions)]; more than count where pairs are still missing.
    Without `times' no load: that is for the long form."""
    rnd = random.Random(seed)
    need = {pair: times or 1 for pair in all_pairs()}
    if "FIX" in os.environ:  # most pairs will never come
        times = 0
    rounds = []
    while len(rounds) < count or (times and max(need.values()) > 0):
        drawn = [rnd.getrandbits(32) for _ in range(CANDIDATES)]
        # The rarest pairs decide.
        best = max(drawn, key=lambda s: sum(
            max(0, need.get(pair, 0)) ** 2
            for pair in pairs_of(conditions_of(s, times))))
        conditions = conditions_of(best, times)
        rounds.append((best, conditions))
        for pair in pairs_of(conditions):
            need[pair] = need.get(pair, 0) - 1
    return rounds


def changed(conditions, changes):
    for change in changes:
        name, _, value = change.partition("=")
        if value not in ordeal.CONDITIONS[name] + ordeal.ASKED.get(name, []):
            sys.exit("mixed.py: there is no " + change)
        conditions[name] = value
    return conditions


def conditions_of(seed, long):
    conditions = ordeal.draw(seed)
    if not long:
        conditions["load"] = "0"
    return changed(conditions, os.environ.get("FIX", "").split())


def print_coverage(rounds):
    seen = dict.fromkeys(all_pairs(), 0)
    for _, conditions in rounds:
        for pair in pairs_of(conditions):
            seen[pair] = seen.get(pair, 0) + 1
    print("%d pairs of conditions: each at least %d times, %d never" % (
        len(seen), min(seen.values()),
        sum(1 for n in seen.values() if n == 0)))


def in_words(seed, conditions):
    """What differs from the simplest round."""
    return "%d: %s" % (seed, " ".join(
        "%s=%s" % (name, conditions[name])
        for name, values in ordeal.CONDITIONS.items()
        if conditions[name] != values[0]))


def run_apart(seed, conditions, loaded):
    """A round in a process of its own, which ends as a whole.  Returns the
    kinds of what went wrong, and the story."""
    drawn = ordeal.draw(seed)
    command = [sys.executable, __file__, "one", str(seed)] + [
        "%s=%s" % (name, value) for name, value in conditions.items()
        if drawn[name] != value]
    env = dict(os.environ, LOADED="1") if loaded else os.environ
    output = subprocess.run(
        command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True).stdout
    last = output.rstrip().rpartition("\n")[2]
    # No verdict: the round itself broke.
    kinds = last.split()[1:] if last.startswith("verdict:") else ["tracer"]
    return kinds, output


def faults(kinds, conditions):
    """One thing is counted, and is no fault of a round whose tracer died
    (doc/safety.md): a program is told of our handler, or of a mask without
    SIGTRAP, until the next trace, as nobody is there to answer it."""
    alive = conditions["who"] in ("nobody", "guardian")
    return [k for k in kinds if alive or k != "misled"]


class Table:
    def __init__(self):
        self.rounds = self.passed = 0
        self.count = dict.fromkeys(KINDS, 0)

    def add(self, kinds, wrong):
        self.rounds += 1
        self.passed += not wrong
        for kind in kinds:
            self.count[kind] += 1

    def show(self):
        heads = ["rounds", "passed"] + KINDS
        values = [self.rounds, self.passed] + [self.count[k] for k in KINDS]
        for row in heads, values:
            print("  ".join(str(cell).rjust(len(head))
                            for head, cell in zip(heads, row)))


def run_all(rounds, table):
    """Rounds of one load, several at a time."""
    def one(drawn):
        return drawn, run_apart(*drawn, loaded=True)

    load = ordeal.burners(int(rounds[0][1]["load"])) if rounds else []
    with ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as ex:
        for (seed, conditions), (kinds, output) in ex.map(one, rounds):
            wrong = faults(kinds, conditions)
            table.add(kinds, wrong)
            if wrong:
                print("---- round %s\n%s" % (in_words(seed, conditions), output))
            elif os.environ.get("VERBOSE"):
                print("passed: %s" % in_words(seed, conditions))
            if table.rounds % 100 == 0:
                table.show()
            sys.stdout.flush()
    ordeal.end_burners(load)


def torture(count, seed, times):
    begin = time.monotonic()
    rounds = choose(count, seed, times)
    print("SEED=%d: %d rounds" % (seed, len(rounds)), flush=True)
    table = Table()
    for load in ordeal.CONDITIONS["load"]:
        run_all([r for r in rounds if r[1]["load"] == load], table)
    print_coverage(rounds)
    table.show()
    print("%d s" % (time.monotonic() - begin))
    return table.passed != table.rounds


def again(seed, changes):
    conditions = changed(ordeal.draw(seed), changes)
    r = ordeal.run(seed, conditions, os.environ.get("KEEP"),
                   "LOADED" in os.environ)
    print(" ".join("%s=%s" % c for c in conditions.items()))
    print("\n".join(r.log))
    print("verdict: " + " ".join(k for k in KINDS if k in r.wrong))
    return bool(r.wrong)


def fails(seed, conditions, tries):
    """How many of so many do."""
    return sum(bool(run_apart(seed + n * 2**32, conditions, False)[0])
               for n in range(tries))


def shrink(seed, tries):
    """Each condition in turn is made the simplest; it stays so if the round
    still fails at times."""
    conditions = ordeal.draw(seed)
    print("%s: fails %d of %d" % (in_words(seed, conditions),
                                  fails(seed, conditions, tries), tries))
    for name, values in reversed(ordeal.CONDITIONS.items()):
        if conditions[name] == values[0]:
            continue
        simpler = dict(conditions, **{name: values[0]})
        n = fails(seed, simpler, tries)
        print("%s=%s instead of %s: fails %d" % (
            name, values[0], conditions[name], n), flush=True)
        if n:
            conditions = simpler
    print("fails: " + in_words(seed, conditions))
    return 0


def main(args):
    if args[0] == "one":
        return again(int(args[1]), args[2:])
    if args[0] == "shrink":
        return shrink(int(args[1]), int(args[2]) if args[2:] else 10)
    draw = args[0] == "draw"
    numbers = [int(a) for a in args[draw:]]
    count, seed, times = numbers + [30, 1, 0][len(numbers):]
    if not draw:
        return torture(count, seed, times)
    rounds = choose(count, seed, times)
    for r in rounds:
        print(in_words(*r))
    print_coverage(rounds)
    return 0


sys.exit(main(sys.argv[1:]))
