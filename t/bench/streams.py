"""streams.py DIR STREAMS KEYS SNAPSHOTS: write recorded streams of snapshots, as
doc/snapshot.md describes them: each snapshot changes every key, which is a text
and a number."""
import os
import sys
import zlib


class Stream:
    """Lines of one stream."""

    def __init__(self, path, number):
        self.file = open(path, "wb")
        self.number = number
        self.next = 0

    def line(self, kind, *tokens):
        text = "^dt1 %x %x %s" % (self.number, self.next, kind)
        text = " ".join([text, *tokens]).encode()
        self.file.write(b"%s %08x\n" % (text, zlib.crc32(text)))
        self.next += 1


def write(path, number, keys, snapshots):
    s = Stream(path, number)
    second = 10**9
    text = 'syscall:::entry%20{%20@[execname,%20arg0]%20=%20count();%20}'
    s.line("H", "'0.1", "'host%d" % number, "1", "%x" % second,
           "%x" % (1000 * second), "%x" % second)
    s.line("S", "3", "0", "'bench", "'" + text, "0")
    s.line("A", "1", "'_", "701", "0", "1", "1", "2",
           "1 0 0 101 0", "0 1 0 8 0")
    s.line("B", "%x" % second)
    rows = ["'program%d %x 1" % (i % 100, i) for i in range(keys)]
    for n in range(1, snapshots + 1):
        for i in range(0, keys, 1000):
            part = rows[i:i + 1000]
            s.line("K", "1", "0", "%x" % len(part), *part)
        s.line("T", "%x" % n, "%x" % ((n + 1) * second),
               "%x" % ((1000 + n) * second), "%x" % keys, "0")
    s.line("Z", "0", "0", "0", "0")


def main():
    where, streams, keys, snapshots = sys.argv[1], *map(int, sys.argv[2:])
    for i in range(streams):
        write(os.path.join(where, "%04d" % i), i + 1, keys, snapshots)


main()
