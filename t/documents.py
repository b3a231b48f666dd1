#!/usr/bin/python3
"""Run the commands of a document and compare what they write with its text.

    t/documents.py [--list] SCRATCH FILE [SECTION...]

A block that begins with ```console is taken apart: a line that begins with "$ "
is a command, with the lines after it until the shell has all of it; the rest is
what it writes.  Words behind `console' say how that is compared:

    (none)  line by line; a line "..." stands for any number of lines
    varies  numbers, bars of histograms and runs of blanks do not count, nor do
            order and repetition: each line must be among what was written
    fails   the command must not end with status 0

A command behind which nothing stands may write anything.  One that ends with "&"
is waited for until it has written the first line that stands behind it.  A section is what
follows a "## " heading; the commands before the first one are run before those
of every section, all of it in one shell.  --list prints the sections.

The shell works in SCRATCH, where everything of the tree is by links but build,
which is its own and has only libdtrap-sdt, also for other languages.  `make' is run with
-n: what the targets do has other tests.  Environment: DTRAP and PLOCKSTAT, the programs under test.
"""
import ctypes
import glob
import os
import re
import shlex
import signal
import subprocess
import sys

HOME = '/srv/dtrap'  # where the reader of a document seems to be
PR_SET_CHILD_SUBREAPER = 36
# While it runs, until it has written a line.
WAIT = 'while kill -0 $! && ! grep -qxF -e %s "%s/%d"; do sleep 0.05; done'


class Command:
    """What a document says: a command, its output, how that is compared."""

    def __init__(self, line, words):
        self.line, self.words = line, words
        self.text, self.output = '', []


def complete(text):
    """Does the shell wait for no more lines?"""
    if re.search(r'(^|[^\\])(\\\\)*\\$', text):
        return False
    done = subprocess.run(['bash', '-n'], input=text + '\n', text=True,
        stderr=subprocess.PIPE, check=False)
    return done.returncode == 0 and not done.stderr


def parse_block(lines, first, words):
    """The commands of one console block."""
    commands, at = [], 0
    while at < len(lines):
        if not lines[at].startswith('$ '):
            if not commands:
                sys.exit('line %d: output before a command' % (first + at))
            commands[-1].output.append(lines[at])
            at += 1
            continue
        commands.append(Command(first + at, words))
        text = lines[at][2:]
        at += 1
        while not complete(text):
            if at == len(lines):
                sys.exit('line %d: the command has no end' %
                    commands[-1].line)
            text += '\n' + lines[at]
            at += 1
        commands[-1].text = text
    return commands


def parse(path):
    """Section -> commands; those before the first heading are in ''."""
    sections, name = {'': []}, ''
    lines = open(path, encoding='utf-8').read().split('\n')
    at = 0
    while at < len(lines):
        fence = re.match(r'```(.*)$', lines[at])
        if not fence:
            if lines[at].startswith('## '):
                name = lines[at][3:].strip()
                sections[name] = []
            elif re.match(r'\s+\$ ', lines[at]):
                sys.exit('%s:%d: a command in no block' % (path, at + 1))
            at += 1
            continue
        end = at + 1 + lines[at + 1:].index('```')
        words = fence.group(1).split()
        block = lines[at + 1:end]
        if not words:
            sys.exit('%s:%d: a block of no kind' % (path, at + 1))
        if words[0] == 'console':
            if set(words[1:]) - {'varies', 'fails'}:
                sys.exit('%s:%d: unknown words' % (path, at + 1))
            sections[name] += parse_block(block, at + 2, words[1:])
        elif any(line.startswith('$ ') for line in block):
            sys.exit('%s:%d: a command that is not run' % (path, at + 1))
        at = end + 1
    return sections


def masked(line):
    """A line without what differs from run to run."""
    line = re.sub(r'\|[@ ]*(?= -?\d+ *$)', '|', line)
    line = re.sub(r'0x[0-9a-f]+|sub_[0-9a-f]+|-?\d+', 'N', line)
    return ' '.join(line.split())


def in_order(want, got):
    """The first line of WANT that GOT does not have in its place, or None."""
    at, anything = 0, False
    for line in want:
        if line == '...':
            anything = True
        elif anything:
            if line not in got[at:]:
                return line
            at += got[at:].index(line) + 1
            anything = False
        elif at == len(got) or got[at] != line:
            return line
        else:
            at += 1
    return None if anything or at == len(got) else '(the end)'


def compare(command, written):
    """What is wrong with it, or None."""
    def lines(text):
        text = [line.rstrip() for line in text]
        while text and not text[-1]:
            text.pop()
        while text and not text[0]:
            text.pop(0)
        return text

    want, got = lines(command.output), lines(written.split('\n'))
    if not want:
        return None
    if 'varies' not in command.words:
        line = in_order(want, got)
        return None if line is None else 'not there: ' + line
    seen = {masked(line) for line in got}
    for line in want:
        if line != '...' and masked(line) not in seen:
            return 'no line like: ' + line
    return None


def tree(scratch):
    """Links to everything in the tree."""
    os.makedirs(scratch + '/build')
    for name in os.listdir('.'):
        if name not in ('build', '.git', 'dtrap', 'plockstat'):
            os.symlink(os.path.abspath(name), scratch + '/' + name)
    for name in 'dtrap', 'plockstat':
        os.symlink(os.path.abspath(os.environ.get(name.upper(), name)),
            scratch + '/' + name)
    for path in glob.glob(os.environ.get('B', 'build') + '/*dtrap[-_]sdt*'):
        os.symlink(os.path.abspath(path),
            scratch + '/build/' + os.path.basename(path))


def children(pid):
    """The living children of a process."""
    found = []
    try:
        for task in os.listdir('/proc/%d/task' % pid):
            with open('/proc/%d/task/%s/children' % (pid, task),
                    encoding='ascii') as file:
                found += map(int, file.read().split())
    except OSError:
        pass
    return found


def end_all():
    """End what a command has started and not ended."""
    while True:
        for pid in children(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            os.wait()
        except ChildProcessError:
            return


def run(commands, scratch):
    """Run them in one shell; how many are not as the document says."""
    out = os.path.abspath(scratch) + '.out'
    os.makedirs(out)
    script = ['cd "$1" || exit 2', 'make() { command make -n "$@"; }']
    for i, command in enumerate(commands):
        script.append('{\n%s\n} >"%s/%d" 2>&1 </dev/null' %
            (command.text, out, i))
        script.append('echo $? >"%s/%d.status"' % (out, i))
        if command.text.endswith('&') and command.output:
            script.append(WAIT % (shlex.quote(command.output[0]), out, i))
    with open(out + '/script', 'w', encoding='utf-8') as file:
        file.write('\n'.join(script) + '\n')
    shell = subprocess.Popen(['bash', out + '/script', scratch],
        stdin=subprocess.DEVNULL, env={**os.environ, 'LC_ALL': 'C'})
    shell.wait()
    bad = 0
    for i, command in enumerate(commands):
        try:
            status = int(open('%s/%d.status' % (out, i),
                encoding='ascii').read())
            written = open('%s/%d' % (out, i), encoding='utf-8',
                errors='replace').read()
        except OSError:
            print('line %d: not run: %s' % (command.line, command.text))
            bad += 1
            continue
        for path in os.path.abspath(scratch), os.getcwd():
            written = written.replace(path, HOME)
        wrong = compare(command, written)
        if (status != 0) != ('fails' in command.words):
            wrong = 'status %d' % status
        if wrong:
            bad += 1
            print('line %d: %s\n$ %s\n%s' % (command.line, wrong,
                command.text, written[-4000:]))
    return bad


def main():
    args = sys.argv[1:]
    only_list = args[:1] == ['--list']
    if only_list:
        args = [''] + args[1:]
    scratch, path = args[0], args[1]
    sections = parse(path)
    if only_list:
        print('\n'.join(name for name in sections if sections[name] and name))
        return 0
    wanted = args[2:] or [name for name in sections if name]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    bad = count = 0
    try:
        for number, name in enumerate(wanted):
            if name not in sections:
                sys.exit('%s has no section %r' % (path, name))
            if not sections[name] and len(args) > 2:
                sys.exit('%s: no command in section %r' % (path, name))
            here = '%s/%d' % (scratch, number)
            tree(here)
            commands = sections[''] + sections[name]
            bad += run(commands, here)
            count += len(commands)
            end_all()
    finally:
        end_all()
    print('%s: %d commands, %d not as it says' % (path, count, bad))
    return bad != 0


if __name__ == '__main__':
    sys.exit(main())
