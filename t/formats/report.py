"""What is on the page of a report, in a browser.

    report.py PROFILE CHECK HTML [FILE ...]

Each check compares the page with a file of the same run, or uses its keys, and
prints what is wrong; at the end how much was compared.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
from browser import Browser  # noqa: E402

BOXES = '''Array.from(document.querySelectorAll(".flame")[%d]
    .querySelectorAll(".box")).map(g => {
	g.dispatchEvent(new MouseEvent("mouseenter"));
	const r = g.querySelector("rect");
	return [g.querySelector("title").textContent.split("\\n"),
	    Number(r.getAttribute("x")), Number(r.getAttribute("y")),
	    Number(r.getAttribute("width")), g.getAttribute("class"),
	    g.querySelector("line.cut") !== null];
})'''
WIDTH = 'Number(document.querySelectorAll(".flame")[%d].getAttribute("width"))'
COUNT = re.compile(r'^([\d,]+) of ([\d,]+) \(([\d.]+) %\)$')


def fail(*what):
    print('wrong:', *what)


def number(text):
    return int(text.replace(',', ''))


class Page:
    def __init__(self, browser, path):
        self.b, self.path = browser, path
        browser.open(path)
        self.whole()

    def whole(self):
        """It needs no other file, and its script meets no error."""
        if len(self.b.requests) != 1 or self.b.errors:
            fail('requests', self.b.requests, 'errors', self.b.errors)

    def click(self, selector, text=None):
        at = self.b.eval('''(() => {
            const e = Array.from(document.querySelectorAll(%s)).find(e =>
                %s === null || e.textContent.includes(%s));
            e.scrollIntoView({ block: "center" });
            const r = (e.querySelector("rect") || e).getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2];
        })()''' % (json.dumps(selector), json.dumps(text), json.dumps(text)))
        self.b.click(*at)

    def texts(self, selector):
        return self.b.eval('Array.from(document.querySelectorAll(%s))'
                           '.map(e => e.textContent)' % json.dumps(selector))

    def boxes(self, i=0):
        """Path -> count, from where the boxes are; as wide as they count."""
        width = self.b.eval(WIDTH % i)
        boxes, paths = self.b.eval(BOXES % i), {}
        if not boxes:
            return {}
        rows = sorted({b[2] for b in boxes}, reverse=True)
        all_y = next(b[2] for b in boxes if b[0][0] == 'all')
        if all_y == rows[-1]:
            rows.reverse()
        places = {}
        for box in sorted(boxes, key=lambda b: (rows.index(b[2]), b[1])):
            title, x, y, w, kind, _ = box
            found = COUNT.match(title[1])
            n, total = number(found[1]), number(found[2])
            if abs(float(found[3]) - 100 * n / total) > 0.006:
                fail('box', title)
            if 'below' not in kind:
                self.scale = self.scale or w / n
                if abs(w - n * self.scale) > 0.5:
                    fail('box', title, 'is', w, 'wide of', width)
            row = rows.index(y)
            under = [p for p, (r, a, b) in places.items() if r == row - 1
                     and a - 0.5 <= x and x + w <= b + 0.5]
            if row > 0 and len(under) != 1:
                fail('box', title, 'stands on', under)
            path = (under[0] if under else ()) + (
                (title[0],) if row else ())
            places[path] = (row, x, x + w)
            paths[path] = n
        return paths

    scale = None

    def flame(self, i=0):
        self.scale = None
        return self.boxes(i)


def sums(lines):
    """Of folded stacks: path -> count."""
    want = {}
    for line in lines:
        stack, n = line.rsplit(' ', 1)
        path = tuple(stack.replace('_', ' ').split(';'))
        for i in range(len(path) + 1):
            want[path[:i]] = want.get(path[:i], 0) + int(n)
    return want


def plain(paths):
    return {tuple(f.replace('_', ' ') for f in p): n
            for p, n in paths.items()}


def compare(what, got, want):
    if got != want:
        fail(what, 'has', sorted(got.items(), key=str), 'not',
             sorted(want.items(), key=str))


# ---- checks ----

def check_flame(page, text):
    """Boxes, clicks, search, reversal."""
    want = sums(open(text).read().split('\n')[:-1])
    compare('flame', plain(page.flame()), want)
    total = want[()]
    # Zoom: what was clicked is as wide as the picture, what stands on it grows.
    page.click('.box', 'right(int)')
    page.scale = None
    right = {p: n for p, n in want.items() if any('right' in f for f in p)}
    seen = plain(page.boxes())
    above = {p: n for p, n in seen.items() if any('right' in f for f in p)}
    compare('zoom', above, right)
    width = page.b.eval(WIDTH % 0)
    wide = [b for b in page.b.eval(BOXES % 0) if 'right' in b[0][0]]
    if abs(wide[0][3] - width) > 1:
        fail('zoom', wide[0], 'of', width)
    page.b.key('Escape')
    compare('whole', plain(page.flame()), want)
    # By keys: arrows choose, enter zooms.
    page.b.eval('document.querySelector(".flame").focus()')
    page.b.key(*['ArrowUp'] * (1 + next(
        i for i, f in enumerate(max(want, key=len)) if f == 'frames`main')
        + 1), 'ArrowUp', 'Enter')
    widest = max((p for p in want if p and p[-2:-1] == ('frames`main',)),
                 key=want.get)
    got = [b for b in page.b.eval(BOXES % 0) if 'below' not in b[4]]
    if got[0][0][0].replace('_', ' ') != widest[-1] or \
            abs(got[0][3] - width) > 1:
        fail('keys zoomed', got[0], 'not', widest)
    page.b.key('Escape')
    # Search: a share of the whole; what stands in another counts once.
    page.b.key('/')
    page.b.key(*'side\\(')
    found = sum(n for p, n in want.items() if p and 'side(' in p[-1] and
                not any('side(' in f for f in p[:-1]))
    says = page.texts('.found')[0]
    if not says.startswith('%d of %d (%.2f %%), ' % (
            found, total, 100 * found / total)):
        fail('search says', says, 'not', found)
    hits = {b[0][0] for b in page.b.eval(BOXES % 0) if 'hit' in b[4]}
    if not hits or any('side(' not in h for h in hits):
        fail('hits', hits)
    page.b.key('Escape')
    if page.texts('.found')[0] != '':
        fail('search stays')
    # Reversed: who calls leaf.
    page.b.key('r')
    turned = {}
    for p in want:
        own = want[p] - sum(n for q, n in want.items()
                            if len(q) == len(p) + 1 and q[:-1] == p)
        for i in range(len(p) + 1):
            if own:
                q = p[::-1][:i]
                turned[q] = turned.get(q, 0) + own
    compare('reversed', plain(page.flame()), turned)
    page.b.key('r')
    compare('not reversed', plain(page.flame()), want)
    print(len(want), 'boxes,', total, 'in all')


def check_cut(page):
    """Stacks without outer frames are marked, others are not."""
    for i in range(2):
        marked = [b for b in page.b.eval(BOXES % i) if b[5]]
        says = page.texts('#agg%d figcaption' % i)[0]
        print(len(marked), bool(re.search('in cut stacks', says)),
              all(any('of cut stacks' in t for t in b[0]) for b in marked))


def check_languages(page):
    """Key l: only frames of languages; nothing is lost."""
    before = page.flame()
    page.b.key('l')
    after = page.flame()
    if before[()] != after[()]:
        fail('languages', before[()], after[()])
    names = {p[-1] for p in after if p}
    native = {n for n in names if '`' in n}
    lang = {n for n in names if '.py' in n}
    print('native', len(native), 'languages', len(lang) > 0, 'fewer',
          len(after) < len(before), 'ends', sorted(
              n for p, n in after.items() if p and '.py' not in p[-1]))


def rows_of(page, selector):
    return page.b.eval('''Array.from(document.querySelectorAll(%s)).map(f =>
        [f.querySelector("h3").textContent, Array.from(
        f.querySelectorAll(".row")).map(r => [
        r.querySelector(".label").textContent,
        r.querySelector(".n").textContent, parseFloat(
        r.querySelector(".bar").style.width), r.querySelector(".track")
        .clientWidth, r.querySelector(".bar").clientWidth])])'''
                       % json.dumps(selector))


def check_bars(page, text):
    """Histograms and bars have the numbers of the text."""
    text = open(text).read()
    hists = re.findall(r'^ *((?:abs\(\) )?(?:[<>]=? )?-?\d+) \|[@ ]* '
                       r'(-?\d+) *$', text, re.M)
    plain_rows = re.findall(r'^  (\S+) +(\d+)$', text, re.M)
    drawn, bars = [], []
    for title, rows in rows_of(page, 'figure'):
        longest = max((abs(number(r[1])) for r in rows), default=0)
        for label, n, width, track, bar in rows:
            if longest and abs(width - 100 * number(n) / longest) > 0.006 or \
                    abs(bar - width * track / 100) > 1:
                fail('bar', title, label, n, width, track, bar)
        to = bars if title == 'Keys by value' else drawn
        to.extend((r[0], str(number(r[1]))) for r in rows)
    if sorted(drawn) != sorted(hists):
        fail('histograms', sorted(drawn), 'not', sorted(hists))
    if sorted(bars) != sorted(plain_rows):
        fail('bars', sorted(bars), 'not', sorted(plain_rows))
    print(len(hists) > 20, len(plain_rows))


def check_lines(page, text):
    """Each print is a point of the line; bars add up what clear() ended, which
    was called after every fourth."""
    prints = [int(n) for n in re.findall(r'^  x +(\d+)$',
                                         open(text).read(), re.M)]
    points = page.b.eval('''Array.from(document.querySelectorAll(
        "#agg0 .chart circle")).map(c => [c.textContent.split("\\n"),
        Number(c.getAttribute("cx")), Number(c.getAttribute("cy"))])''')
    got = [number(p[0][1].split(' ')[0]) for p in points if p[0][0] == 'x']
    if got != prints:
        fail('line', got, 'not', prints)
    if any(a[1] >= b[1] for a, b in zip(points, points[1:])
           if a[0][0] == b[0][0]):
        fail('times', points)
    zero = max(p[2] for p in points)
    order = sorted(points, key=lambda p: number(p[0][1].split(' ')[0]))
    if any(a[2] < b[2] - 0.2 for a, b in zip(order, order[1:])):
        fail('heights', order, zero)
    bars = {r[0]: number(r[1]) for t, rows in rows_of(page, '#agg0 figure')
            for r in rows}
    if bars.get('x') != sum(prints[3::4]):
        fail('bars', bars, 'not', prints[3::4])
    print(len(prints), 'points')


def check_heat(page, text):
    """What the cells of a row count is what the text counts in the end."""
    last = {}
    for block in open(text).read().split('value  ---')[1:]:
        last = {a: int(b) for a, b in re.findall(
            r'^ *(-?\d+) \|[@ ]* (\d+) *$', block, re.M) if int(b)}
    sums_, columns = {}, set()
    for title, x in page.b.eval('''Array.from(document.querySelectorAll(
        ".heat .cell")).map(c => [c.textContent.split("\\n"),
        c.getAttribute("x")])'''):
        sums_[title[0]] = sums_.get(title[0], 0) + number(title[2])
        columns.add(x)
    if sums_ != last:
        fail('heat map', sums_, 'not', last)
    print(sum(last.values()), 'in', len(columns), 'columns')


def check_slices(page, run):
    """Slices are as long as from entry to return, and nest."""
    want, open_, names, last = [], {}, {}, {}
    lines = [json.loads(line) for line in open(run)]
    returned = {p['function'] for p in lines
                if p['type'] == 'probe' and p['name'] == 'return'}
    for p in lines:
        if p['type'] != 'probe':
            continue
        stack = open_.setdefault(p['tid'], [])
        if last.get(p['tid']) == (p['timestamp'], p['id']):
            continue  # another clause of the same firing
        last[p['tid']] = p['timestamp'], p['id']
        if p['name'] == 'entry':
            stack.append((p['function'], p['timestamp']))
        elif any(f == p['function'] for f, _ in stack):
            while True:
                name, begun = stack.pop()
                if name == p['function'] or name in returned:
                    want.append((name, p['tid'], p['timestamp'] - begun))
                if name == p['function']:
                    break
    got = page.b.eval('''Array.from(document.querySelectorAll(".slice"))
        .map(g => [g.textContent.split("\\n"), Number(g.querySelector("rect")
        .getAttribute("width"))])''')
    data = page.b.eval('''slicesRead().flatMap(t => t.all.map(s =>
        [s.name, t.tid, s.end - s.from, s.depth, s.mark]))''')
    ended = sorted((n, t, d) for n, t, d, _, mark in data if mark != 2)
    if ended != sorted(want):
        fail('slices', ended, 'not', sorted(want))
    for name, tid, _, depth, _ in data:
        names.setdefault(name, set()).add(depth)
    print(len(ended), {n: sorted(names[n]) for n in ('work', 'outer',
                                                     'inner')})
    # As wide as they last; one that is clicked has the width.
    scale = page.b.eval('''(() => {
        const all = slicesRead().flatMap(t => t.all);
        const from = Math.min(...all.map(s => s.from));
        const to = Math.max(...all.map(s => s.end));
        const g = Array.from(document.querySelectorAll(".slice")).find(g =>
            g.textContent.startsWith("work\\n"));
        const s = all.find(s => s.name === "work");
        return [Number(document.querySelector(".gantt .empty")
            .getAttribute("width")), (s.end - s.from) / (to - from),
            all.filter(s => s.name === "work").map(s => (s.end - s.from) /
            (to - from))];
    })()''')
    works = sorted(w for t, w in got if t[0] == 'work')
    for w, share in zip(works, sorted(scale[2])):
        if abs(w - share * scale[0]) > 0.6:
            fail('slice', w, share, scale)
    page.click('.slice', 'work\n')
    zoomed = page.b.eval('''Number(document.querySelector(".slice.at rect")
        .getAttribute("width"))''')
    if not 0.9 < zoomed / scale[0] < 1:
        fail('zoomed slice', zoomed, scale)


def check_differs(page):
    """Of two runs: colours and numbers of the difference."""
    for title, _, _, _, kind, _ in page.b.eval(BOXES % 0):
        now, was = COUNT.match(title[1]), COUNT.match(
            title[2].replace('earlier ', ''))
        d = number(now[1]) / number(now[2]) - number(was[1]) / number(was[2])
        want = 'more' if d > 1e-9 else 'less' if d < -1e-9 else 'same'
        if want not in kind.split():
            fail(title, kind, d)
        sign = '+' if d > 1e-9 else '\u2212' if d < -1e-9 else '\u00b1'
        if title[3] != '%s%.2f %%' % (sign, abs(100 * d)):
            fail(title, d)
    kinds = [b[4] for b in page.b.eval(BOXES % 0)]
    print({k: sum(k in c for c in kinds) > 0 for k in ('more', 'less')})
    # The earlier run's widths show what is gone.
    page.b.key('w')
    page.scale = None
    widths = {b[0][0]: b[3] for b in page.b.eval(BOXES % 0)}
    print('gone', sorted(n for n in widths if 'over' in n))
    page.b.key('d')
    if any(c in b[4] for b in page.b.eval(BOXES % 0) for c in
           (' more', ' less')):
        fail('difference stays')
    # Every bucket of both runs is there.
    says = page.texts('#agg2 > .note')[0]
    now, was = re.search(r', (\d+) in all, (\d+) in the earlier', says).groups()
    rows = [re.search(r': ([\d,]+), earlier ([\d,]+)$', t) for t in page.b.eval(
        'Array.from(document.querySelectorAll("#agg2 .row"), r => r.title)')]
    if [sum(number(r[i]) for r in rows) for i in (1, 2)] != [
            int(now), int(was)]:
        fail('buckets', says, rows)
    print('rows', [[t, [r[:2] for r in rows]] for t, rows in
                   rows_of(page, '#agg1 figure')],
          page.texts('#agg1 .row .n:last-child'))


def check_looks(page):
    """Light and dark; the help; nothing of a target is more than text."""
    def paper():
        return page.b.eval('getComputedStyle(document.body).backgroundColor')
    seen = []
    for dark in False, True:
        page.b.dark(dark)
        page.b.open(page.path)
        seen.append(paper())
        page.b.key('t')
        seen.append(paper())
        page.b.key('t')
    if seen[0] != seen[3] or seen[1] != seen[2] or seen[0] == seen[1]:
        fail('themes', seen)
    page.b.key('?')
    if not page.b.eval('document.querySelector("dialog").open'):
        fail('no help')
    page.b.key('Escape')
    if page.b.eval('document.querySelector("dialog") !== null'):
        fail('help stays')
    print(page.b.eval('[document.scripts.length, typeof attacked, '
                      'document.querySelectorAll("img").length].join(" ")'),
          page.texts('pre')[0].count('</script>'),
          sorted(page.texts('#agg0 .label')))
    if page.b.eval('''Array.from(document.querySelectorAll("svg, button"))
        .some(e => !(e.getAttribute("aria-label") || e.textContent ||
        e.title))'''):
        fail('something has no name')


def check_facts(page):
    print(' '.join(page.texts('.fact')[2:]), page.texts('#lost td:nth-child(-n+3)'),
          page.texts('.warning'))


def check_opens(page):
    """A large page: what is on it is bounded."""
    print(page.b.eval('document.querySelectorAll("*").length') < 100000,
          page.texts('section > .note'))


def main():
    profile, check, path = sys.argv[1:4]
    with Browser(profile) as b:
        globals()['check_' + check](Page(b, path), *sys.argv[4:])


main()
