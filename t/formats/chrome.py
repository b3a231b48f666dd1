"""Reads the output of -x oformat=chrome, as the description of the Trace Event
Format says, and prints what is in it:

	slice PID:TID NAME DEPTH how often
	instant NAME how often
	counter NAME ARGUMENT last value

It fails if slices do not nest, or an event is not what it should be.
"""
import collections
import json
import sys


def fail(text, event):
    sys.exit('%s: %s' % (text, json.dumps(event)))


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        trace = json.load(file)
    stacks = collections.defaultdict(list)
    last = {}
    counts = collections.Counter()
    ends = collections.Counter()
    counters = {}
    for event in trace['traceEvents']:
        phase = event['ph']
        if not isinstance(event['pid'], int):
            fail('no process', event)
        if phase == 'M':
            if event['name'] != 'process_name' or not event['args']['name']:
                fail('metadata', event)
            continue
        thread = event['pid'], event['tid']
        if phase in 'BE':
            if event['ts'] < last.get(thread, 0):
                fail('earlier than the one before it', event)
            last[thread] = event['ts']
        stack = stacks[thread]
        if phase == 'B':
            counts['slice %d:%d %s %d' % (*thread, event['name'],
                len(stack))] += 1
            stack.append(event)
        elif phase == 'E':
            if not stack:
                fail('ends nothing', event)
            begun = stack.pop()
            if event.get('name', begun['name']) != begun['name']:
                fail('ends another slice than ' + begun['name'], event)
            for why in 'no-return', 'unfinished':
                if event['args'].get(why):
                    ends['%s %s' % (why, begun['name'])] += 1
        elif phase == 'i':
            if event['s'] not in ('t', 'g'):
                fail('scope', event)
            counts['instant ' + event['name']] += 1
        elif phase == 'C':
            for name, value in event['args'].items():
                if not isinstance(value, int):
                    fail('no number', event)
                counters['counter %s %s' % (event['name'], name)] = value
        else:
            fail('unknown', event)
    for thread, stack in stacks.items():
        if stack:
            fail('does not end', stack[-1])
    for table in counts, ends, counters:
        for name, count in sorted(table.items()):
            print(name, count)


main()
