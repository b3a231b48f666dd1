"""Every golden test once more, with -x oformat=json, and with chrome.

	t/formats/golden.py DTRAP

Each line must be what the schema says, and what is in it must be in the text
that the golden test expects: the messages, the values, the aggregations.
"""
import collections
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

import jsonlines

DTRAP = sys.argv[1]


def said(text, word):
    """The value of "@word:" in the comments, as t/golden reads it."""
    match = re.search(r'@%s: *(.*?)[ \t]*(\*/|$)' % word, text, re.M)
    return match.group(1) if match else ''


def run(test, form='json'):
    """The test's text, status and output."""
    text = open(test, encoding='utf-8', errors='replace').read()
    opts = shlex.split(said(text, 'opts'))
    args = shlex.split(said(text, 'args'))
    if os.path.basename(test).startswith('err.'):
        opts = ['-x', 'errtags'] + opts
    with tempfile.TemporaryDirectory() as work:
        with open(work + '/out', 'wb') as out, \
                open('/dev/null', 'rb') as null:
            done = subprocess.run([DTRAP, '-x', 'oformat=' + form] + opts +
                ['-s', test] + args, stdin=null, stdout=out,
                stderr=subprocess.PIPE, check=False)
        with open(work + '/out', 'rb') as out:
            return text, done.returncode, out.read()


def check_trace(test, want, wrong):
    """The same test with -x oformat=chrome: one document of JSON."""
    text, status, data = run(test, 'chrome')
    if status != want:
        wrong('chrome: status %d' % status)
    if '-l' in shlex.split(said(text, 'opts')):
        if data.startswith(b'{'):
            wrong('chrome: a list is text')
        return
    if 'ftruncate' in text or 'freopen' in text or not data:
        return
    try:
        trace = jsonlines.parse(data.decode('utf-8'))
        if not all(event['ph'] in 'BEiCM' for event in trace['traceEvents']):
            wrong('chrome: an event of unknown kind')
    except ValueError as error:
        wrong('chrome: %s' % error)


def elements(lines):
    for line in lines:
        if line['type'] == 'probe':
            for element in line['output']:
                yield line, element


def aggregations(lines):
    for line in lines:
        if line['type'] == 'aggregation':
            yield line
    for line, element in elements(lines):
        if 'aggregation-data' in element:
            yield element


def numbers(lines, quiet):
    """What the text must have as numbers, too."""
    for agg in aggregations(lines):
        for row in agg['aggregation-data']:
            if 'buckets' in row:
                for bucket in row['buckets']:
                    if bucket['count'] != 0:
                        yield bucket['count']
            else:
                yield row[agg['function']]
    for line in lines:
        if quiet or line['type'] != 'probe' or any('message' in element
                for element in line['output']):
            continue # printf() shows its values in any form
        for element in line['output']:
            if isinstance(element.get('value'), int):
                yield element['value']


def quiet_text(lines):
    """What -q prints of records with nothing but messages and values; None if
    there is more."""
    text = ''
    for line in lines:
        output = line.get('output', [])
        messages = [element['message'] for element in output
            if 'message' in element]
        values = [str(element['value']) for element in output
            if 'value' in element and 'bytes' not in element]
        if line['type'] == 'aggregation' or \
                len(messages) + len(values) != len(output):
            return None
        text += ''.join(messages or values)
    return text


# What the text shows instead of numbers, or not at all.
UNLIKE = re.compile(r'rawbytes|agghist|aggpack|stackformat|system\(|freopen|'
    r'ftruncate|timestamp|\brand\(|printa\(\s*"')


def compare(text, lines, expected, wrong):
    opts = shlex.split(said(text, 'opts'))
    quiet = '-q' in opts or '#pragma D option quiet' in text
    if UNLIKE.search(text) or '-v' in opts:
        return 0, 0
    got = quiet_text(lines)
    same = quiet and got is not None and 'setopt' not in text and \
        not ('printf' in text and 'trace(' in text)
    if same and got.strip('\n') != expected.strip('\n'):
        wrong('it has %r, the text is %r' % (got, expected))
    seen = collections.Counter(re.findall(r'-?\d+', expected))
    count = 0
    for number, times in collections.Counter(numbers(lines, quiet)).items():
        count += times
        if seen[str(number)] < times:
            wrong('%d comes %d times, in the text %d times' %
                (number, times, seen[str(number)]))
    return same, count


def main():
    tests = sorted(glob.glob('t/d/*/*.d'))
    kinds = collections.Counter()
    same = compared = failed = 0
    for test in tests:
        bad = []
        text, status, data = run(test)
        err = os.path.basename(test).startswith('err.')
        want = int(said(text, 'status') or (1 if err else 0))
        if status != want:
            bad.append('status %d, not %d' % (status, want))
        if err and data:
            bad.append('there is output: %r' % data[:200])
        lines = jsonlines.read(data, bad.append)
        kinds.update(line['type'] for line in lines)
        cut = 'ftruncate' in text or 'freopen' in text
        if not err:
            with open(test[:-2] + '.out', encoding='utf-8',
                    errors='surrogateescape') as file:
                expected = file.read()
            if not data and expected.strip() and \
                    '-e' not in shlex.split(said(text, 'opts')):
                bad.append('there is no output')
            elif data and not cut: # nothing if the trace did not begin
                jsonlines.check_order(lines, bad.append)
            texts, count = compare(text, lines, expected, bad.append)
            same += texts
            compared += count
        if not err:
            check_trace(test, want, bad.append)
        for line in bad:
            print('%s: %s' % (test, line))
        failed += bool(bad)
    print('%d tests, %d failed; %d lines; %d texts are the same, %d numbers '
        'are in the others' % (len(tests), failed, sum(kinds.values()), same,
        compared))
    for kind in 'begin', 'probe', 'aggregation', 'error', 'end':
        if not kinds[kind]:
            print('no line is "%s"' % kind)
            failed += 1
    if not same or not compared:
        failed += 1
    sys.exit(failed != 0)


main()
