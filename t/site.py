#!/usr/bin/python3
"""Make a web site of the documents and the manual pages, and check its links.

    t/site.py DIRECTORY PAGE...

PAGE is a manual page.  The status is 1 where a link leads to nothing.
"""
import html
import os
import re
import shutil
import subprocess
import sys

DOCS = ['README.md', 'HACKING.md', 'NEWS', 'doc/tutorial.md', 'doc/cookbook.md',
    'doc/providers.md', 'doc/symbols.md', 'doc/troubleshooting.md',
    'doc/formats.md', 'doc/json.md', 'doc/snapshot.md', 'doc/scale.md',
    'doc/speed.md', 'doc/safety.md', 'doc/kernels.md', 'doc/incompatibilities.md',
    'doc/course.md', 'doc/where.md', 'doc/install.md', 'doc/unwinding.md',
    'doc/licences.md', 'doc/design.md', 'doc/testing.md',
    'doc/mutation.md', 'doc/porting.md', 'doc/release.md']
STYLE = """body { max-width: 52em; margin: 1em auto; padding: 0 1em;
    font: 16px/1.5 sans-serif; color: #222; background: #fff; }
nav { border-bottom: 1px solid #ccc; padding-bottom: .5em; }
nav a { margin-right: .8em; white-space: nowrap; }
a { color: #05a; }
pre { background: #f5f5f5; padding: .6em; overflow-x: auto; font-size: 13px;
    line-height: 1.3; }
code { font-size: 90%; }
pre code { font-size: 13px; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border: 1px solid #ccc; padding: .2em .5em; text-align: left;
    vertical-align: top; }
img { max-width: 100%; }
.manual table { border: 0; display: table; }
.manual td { border: 0; padding-left: 0; }
.manual table + br { display: none; }
.manual h1 { font-size: 1.3em; }
.manual h2 { font-size: 1.1em; }
.manual h1, .manual h2 { margin: 1.2em 0 .4em; }
.manual a.permalink { color: inherit; text-decoration: none; }
.manual a.permalink:hover { text-decoration: underline; }
.manual table.head, .manual table.foot { width: 100%; color: #666; }
.head-vol, .foot-date { text-align: center; }
.head-rtitle, .foot-os { text-align: right; }
.manual code.Fl { white-space: nowrap; }
"""


def page_of(doc):
    """The page of a document: README.md is the index."""
    name = os.path.basename(doc)
    if name == 'README.md':
        return 'index.html'
    return os.path.splitext(name)[0] + '.html'


def manual_of(page):
    return os.path.basename(page) + '.html'


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
        text=True).stdout


def slug(text):
    """What GitHub calls a heading."""
    text = html.unescape(re.sub(r'<[^>]*>', '', text)).lower()
    return re.sub(r'[^\w\- ]', '', text).replace(' ', '-')


def relinked(text, doc, site):
    """Links between documents as links between pages; files are copied."""
    def link(match):
        to, _, part = html.unescape(match.group(2)).partition('#')
        if '://' in to or not to:
            return match.group(0)
        path = os.path.normpath(os.path.join(os.path.dirname(doc), to))
        if path in DOCS or path == 'LICENSE':
            to = page_of(path) if path in DOCS else 'LICENSE.txt'
        elif os.path.isdir(path):
            names = sorted(os.listdir(path))
            to = os.path.basename(path) + '.txt'
            with open(site + '/' + to, 'w', encoding='utf-8') as file:
                file.write('\n'.join(names) + '\n')
        elif os.path.isfile(path):
            to = os.path.basename(path)
            if not to.endswith('.svg'):
                to += '.txt'
            shutil.copyfile(path, site + '/' + to)
        return '%s="%s"' % (match.group(1),
            html.escape(to + ('#' + part if part else '')))
    return re.sub(r'(href|src)="([^"]*)"', link, text)


def manuals_linked(text, manuals):
    """dtrap(1) in code is a link to that page."""
    def link(match):
        name = match.group(1) + '.' + match.group(2)
        if name not in manuals:
            return match.group(0)
        return '<a href="%s.html">%s</a>' % (name, match.group(0))
    return re.sub(r'<code>([a-z-]+)\(([137])\)</code>', link, text)


def write(site, name, title, body, nav):
    with open(site + '/' + name, 'w', encoding='utf-8') as file:
        file.write('<!doctype html>\n<html lang="en"><head>'
            '<meta charset="utf-8">\n<meta name="viewport" '
            'content="width=device-width"><title>%s</title>\n'
            '<link rel="stylesheet" href="style.css"></head><body>\n'
            '<nav>%s</nav>\n%s\n</body></html>\n' %
            (html.escape(title), nav, body))


def check(site):
    """Every link that leads to nothing."""
    ids, links = {}, []
    for name in os.listdir(site):
        if not name.endswith('.html'):
            continue
        text = open(site + '/' + name, encoding='utf-8').read()
        ids[name] = set(map(html.unescape,
            re.findall(r'id="([^"]*)"', text)))
        links += [(name, html.unescape(to))
            for to in re.findall(r'(?:href|src)="([^"]*)"', text)]
    bad = 0
    for name, link in links:
        to, _, part = link.partition('#')
        to = to or name
        if '://' in to or to.startswith('mailto:'):
            continue
        if not os.path.exists(site + '/' + to) or (part and
                part not in ids.get(to, ())):
            print('%s: %s leads to nothing' % (name, link))
            bad += 1
    print('%s: %d links, %d lead to nothing' % (site, len(links), bad))
    return bad


def main():
    site, manuals = sys.argv[1], sys.argv[2:]
    shutil.rmtree(site, ignore_errors=True)
    os.makedirs(site)
    with open(site + '/style.css', 'w', encoding='utf-8') as file:
        file.write(STYLE)
    shutil.copyfile('LICENSE', site + '/LICENSE.txt')
    nav = ' '.join('<a href="%s">%s</a>' % (page_of(doc),
        os.path.splitext(os.path.basename(doc))[0]) for doc in DOCS)
    nav += ' ' + ' '.join('<a href="%s">%s</a>' % (manual_of(page),
        re.sub(r'\.(\d)$', r'(\1)', os.path.basename(page)))
        for page in manuals)
    names = {os.path.basename(page) for page in manuals}
    for doc in DOCS:
        if doc == 'NEWS':
            body = '<pre>%s</pre>' % html.escape(open(doc,
                encoding='utf-8').read())
        else:
            body = output('cmark-gfm', '--unsafe', '-e', 'table', doc)
            body = re.sub(r'<h([1-6])>(.*?)</h\1>', lambda m:
                '<h%s id="%s">%s</h%s>' % (m.group(1), slug(m.group(2)),
                m.group(2), m.group(1)), body)
            body = manuals_linked(relinked(body, doc, site), names)
        write(site, page_of(doc), doc, body, nav)
    for page in manuals:
        body = output('mandoc', '-Thtml', '-Ofragment,toc,man=%N.%S.html', page)
        # Those of other packages are named, and lead nowhere.
        body = re.sub(r'<a class="Xr" href="([^"]*)\.html">(.*?)</a>',
            lambda m: m.group(0) if m.group(1) in names else m.group(2),
            body, flags=re.S)
        write(site, manual_of(page), os.path.basename(page),
            '<div class="manual">%s</div>' % body, nav)
    return check(site) != 0


if __name__ == '__main__':
    sys.exit(main())
