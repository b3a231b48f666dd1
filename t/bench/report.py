"""A saved run as long as one likes, and what a command takes.

    report.py write RECORDS KEYS        JSON Lines on standard output
    report.py measure COMMAND ...       seconds and peak megabytes of a command
"""
import resource
import subprocess
import sys
import time

BEGIN = ('{"type":"begin","format":1,"version":"0","time":'
         '"2026-01-01T00:00:00.000000000Z","timestamp":1000,"programs":[],'
         '"operands":[],"processes":[],"options":{}}\n')
HIT = ('{"type":"probe","timestamp":%d,"cpu":0,"id":%d,"provider":"pid10",'
       '"module":"a.out","function":"f%d","name":"%s","pid":10,"tid":%d,'
       '"output":[]}\n')
FRAME = ('{"symbol":"lib%d`f%d+0x%x","module":"lib%d","name":"f%d",'
         '"offset":"0x%x","address":"0x%x"}')
END = ('{"type":"end","time":"2026-01-01T00:10:00.000000000Z","timestamp":%d,'
       '"records":%d,"errors":0,"drops":0,"status":0}\n')


def stack(i):
    """Twenty frames, the outer ones of many stacks."""
    return ','.join(
        FRAME % (d % 5, n, i % 97, d % 5, n, i % 97, i * 64 + d)
        for d, n in ((d, (i >> d) * 31 + d) for d in range(20)))


def rows(say, at, name, function, keys, row):
    say('{"type":"aggregation","timestamp":%d,"aggregation-data":[' % at)
    for i in range(keys):
        say((',' if i else '') + row(i))
    say('],"aggregation-name":"%s","function":"%s"}\n' % (name, function))


def write(records, keys):
    say, at = sys.stdout.write, 1000
    say(BEGIN)
    for i in range(records // 2):
        at += 700
        where = i % 40, 'entry', 10 + i % 16
        say(HIT % ((at, 7) + where))
        say(HIT % (at + 100 + i * 7919 % 5000, 8, i % 40, 'return',
                   10 + i % 16))
    rows(say, at, 's', 'count', keys, lambda i:
         '{"keys":[{"ustack-frames":[%s]}],"count":%d}' % (
             stack(i), i % 100 + 1))
    rows(say, at, 'k', 'sum', keys, lambda i:
         '{"keys":[{"value":"key %d"}],"sum":%d}' % (i, i % 1000 + 1))
    rows(say, at, 'q', 'quantize', keys, lambda i:
         '{"keys":[{"value":%d}],"buckets":[{"value":2,"count":%d,"min":2,'
         '"max":3},{"value":4,"count":1,"min":4,"max":7}]}' % (i, i % 50))
    say(END % (at, records))


def measure(command):
    begun = time.time()
    status = subprocess.call(command)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print('%.1f s, %d MB at most' % (time.time() - begun, peak // 1024))
    return status


if sys.argv[1] == 'write':
    write(int(sys.argv[2]), int(sys.argv[3]))
else:
    sys.exit(measure(sys.argv[2:]))
