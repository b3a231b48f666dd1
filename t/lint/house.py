#!/usr/bin/env python3
"""house.py BUILD [check]: the rooms of the house and who needs whom, by the
symbols that the linker joins and by include lines.

With `check' nothing is printed but rooms that need each other in a circle: then
some arrow goes up.  (What each room may include says layers.txt.)
"""
import collections
import os
import re
import subprocess
import sys

ROOTS = ("dlang", "disasm", "symbols", "inject", "sdt", "tracer")


def read_layers():
    """The rooms: the first words of the rows of layers.txt."""
    with open("t/lint/layers.txt") as f:
        rows = (line.split("#")[0].split() for line in f)
        return [words[0] for words in rows if words]


def room_of(path, rows):
    """The longest row that it lies in."""
    while "/" in path:
        path = path.rpartition("/")[0]
        if path in rows:
            return path
    return None


def objects(build):
    """(source without its suffix, object file) of the program itself."""
    root = os.path.join(build, "host")
    for folder, _, files in os.walk(root):
        for name in files:
            if name.endswith(".o"):
                path = os.path.join(folder, name)
                source = os.path.relpath(path, root)[:-2]
                own = re.sub("^gen/", "", source)
                # Not what is left of a source that is gone.
                if own != source or os.path.exists(source + ".c"):
                    yield own, path


def links(build):
    """{source: {source: {symbol}}}"""
    defined, wanted = {}, collections.defaultdict(set)
    for source, path in objects(build):
        table = subprocess.run(["nm", path], check=True, text=True,
                               stdout=subprocess.PIPE).stdout
        for line in table.splitlines():
            kind, name = line.split()[-2:]
            if kind == "U":
                wanted[source].add(name)
            elif kind.isupper():
                defined[name] = source
    graph = collections.defaultdict(lambda: collections.defaultdict(set))
    for source, names in wanted.items():
        for name in names & defined.keys():
            graph[source][defined[name]].add(name)
    return graph


def includes():
    graph = collections.defaultdict(lambda: collections.defaultdict(set))
    for root in ROOTS:
        for folder, _, files in os.walk(root):
            for name in files:
                if not name.endswith((".c", ".h", ".l", ".y")):
                    continue
                path = os.path.join(folder, name)
                with open(path) as f:
                    for header in re.findall(r'^#include "([^"]+)"', f.read(),
                                             re.M):
                        graph[path][header].add(header)
    return graph


def between_rooms(graph, rows):
    """{room: {room: number of pairs of files}}"""
    arrows = collections.defaultdict(collections.Counter)
    for a, uses in graph.items():
        for b in uses:
            ra, rb = room_of(a, rows), room_of(b, rows)
            if ra and rb and ra != rb:
                arrows[ra][rb] += 1
    return arrows


def circles(graph):
    """Strongly connected parts of more than one node, the largest first
    (Tarjan's algorithm)."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in graph.get(v, ()):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = stack[stack.index(v):]
            del stack[stack.index(v):]
            if len(part) > 1:
                found.append(sorted(part))

    sys.setrecursionlimit(10000)
    for v in sorted(graph):
        if v not in index:
            visit(v)
    return sorted(found, key=len, reverse=True)


def levels(arrows, rooms):
    """A room is one above the highest that it needs."""
    level = {}

    def of(room):
        if room not in level:
            level[room] = 0
            level[room] = 1 + max((of(r) for r in arrows[room]), default=-1)
        return level[room]

    for room in rooms:
        of(room)
    return level


def lines_of(rows):
    count = collections.Counter()
    for root in ROOTS:
        for folder, _, files in os.walk(root):
            for name in files:
                if name.endswith((".c", ".h", ".def", ".l", ".y")):
                    path = os.path.join(folder, name)
                    with open(path) as f:
                        count[room_of(path, rows)] += len(f.readlines())
    return count


def show(graph, rows):
    linked = between_rooms(graph, rows)
    included = between_rooms(includes(), rows)
    count = lines_of(rows)
    rooms = [r for r in rows if r in count]
    level = levels(linked, rooms)
    for room in sorted(rooms, key=lambda r: (-level[r], r)):
        needs = ", ".join("%s %d" % (r, linked[room][r])
                          for r in sorted(linked[room]))
        print("%2d  %-15s %6d lines  needs %s" % (
            level[room], room, count[room], needs or "nobody"))
        only = sorted(included[room].keys() - linked[room].keys())
        if only:
            print("%32s only by headers: %s" % ("", ", ".join(only)))
    for part in circles(graph):
        print("circle of %d files: %s" % (len(part), " ".join(part)))


def main():
    build = sys.argv[1]
    rows, graph = read_layers(), links(build)
    if "check" not in sys.argv[2:]:
        show(graph, rows)
        return 0
    both = between_rooms(graph, rows)
    for room, needs in between_rooms(includes(), rows).items():
        both[room].update(needs)
    faults = ["rooms in a circle: " + " ".join(part)
              for part in circles(both)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
