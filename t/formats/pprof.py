"""Reads what `go tool pprof -symbolize=none -raw' prints, and prints a line for
each sample, as -x oformat=folded does: function;function number.

	pprof.py WHICH FILE		WHICH sample type, from 0
"""
import re
import sys


def main():
    which = int(sys.argv[1])
    samples, locations, part = [], {}, None
    with open(sys.argv[2], encoding='utf-8') as file:
        for line in file:
            if line.rstrip() in ('Samples:', 'Locations', 'Mappings'):
                part = line.rstrip()
                continue
            match = re.match(r'((?: *-?\d+)+): ((?:\d+ )*)$', line)
            if part == 'Samples:' and match:
                value = int(match.group(1).split()[which])
                if value != 0:
                    samples.append((match.group(2).split(), value))
            match = re.match(r' *(\d+): (0x[0-9a-f]+ )?(M=\d+ )?(.*) '
                r':\d+ s=\d+', line)
            if part == 'Locations' and match:
                locations[match.group(1)] = match.group(4)
    for ids, value in samples:
        print(';'.join(locations[i].replace(' ', '_') for i in reversed(ids)),
            value)


main()
