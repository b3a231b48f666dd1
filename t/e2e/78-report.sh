#!/bin/bash
# -x report: a picture whose boxes are as wide as what was counted, which needs
# nothing from elsewhere; and the file, which nobody can lead astray.
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need python3

prog='pid$target:a.out:leaf:entry {
	@s[execname, ustack()] = count();
	@["a <b> & \"c\" \001\377", ustack(2)] = sum(arg0 == 0 ? 1 : 2);
	@q[probefunc] = quantize(arg0 & 63); @l = lquantize(arg0 & 63, 0, 40, 5);
	@ll[ustack(2)] = llquantize(arg0 & 63, 10, 0, 3, 10);
	@no[ustack()] = avg(arg0);
}'
dt -q -x report="$tmp/all.svg" -x stackformat=folded -o "$tmp/text" \
    -n "$prog" -c "$bin/frames"
is status "$status" 0
is "messages" "$(grep -v '^dtrap: \(desc\|pid\)' "$tmp/err")" ''
[ -s "$tmp/all.svg" ] || fail "no picture"

# The picture is read as XML and measured; the text has the numbers.
python3 - "$tmp/all.svg" "$tmp/text" <<'END' >"$tmp/measured" 2>&1
import re, sys
import xml.etree.ElementTree as xml

SVG = '{http://www.w3.org/2000/svg}'
WIDTH = 1180
root = xml.parse(sys.argv[1]).getroot()

def of_class(node, name):
    return [g for g in node.iter(SVG + 'g') if g.get('class') == name]

# Nothing from elsewhere, and one script.
for node in root.iter():
    for name, value in node.attrib.items():
        if 'href' in name or '://' in value or 'url(' in value:
            print('refers to', value)
    if node.tag == SVG + 'style' and re.search(r'url|import', node.text):
        print('style refers')
if len(list(root.iter(SVG + 'script'))) != 1:
    print('scripts')

def check_flame(flame, want):
    """Each box: where it is, how wide, on whom it stands; want: path -> n."""
    boxes, total = {}, None
    for g in of_class(flame, 'box'):
        name, says = g.find(SVG + 'title').text.split('\n')
        rect = g.find(SVG + 'rect')
        x, y, w = (float(rect.get(a)) for a in ('x', 'y', 'width'))
        start, count, depth = (int(g.get('data-' + a))
            for a in ('from', 'count', 'depth'))
        total = total if total is not None else count
        if abs(w - WIDTH * count / total) > 1 or \
                abs(x - WIDTH * start / total) > 1:
            print('box', name, x, w, 'is not', start, count, 'of', total)
        if says != '%d of %d (%.2f %%)' % (count, total, 100 * count / total):
            print('box', name, 'says', says)
        below = [k for k, b in boxes.items() if b[2] == depth - 1 and
            b[0] <= start and start + count <= b[0] + b[1]]
        if depth > 0 and len(below) != 1:
            print('box', name, 'stands on', below)
        path = (below[0] if below else ()) + (
            (name.replace(' ', '_'),) if depth else ())
        if below and y >= boxes[below[0]][3]:
            print('box', name, 'is not above', below)
        boxes[path] = (start, count, depth, y)
    got = {path: b[1] for path, b in boxes.items()}
    if got != want:
        print('boxes', got, 'wanted', want)

flames = of_class(root, 'flame')
lines = [l.split(' ') for l in open(sys.argv[2]).read().split('\n')
    if l.startswith('frames`_start;') and l.count(' ') == 2 and
    l.split(' ')[1] == 'frames']
want = {}
for stack, comm, n in lines:
    path = (comm,) + tuple(stack.split(';'))
    for i in range(len(path) + 1):
        want[path[:i]] = want.get(path[:i], 0) + int(n)
if len(lines) != 4 or want[()] != 51:
    print('the text has', lines)
check_flame(flames[0], want)

odd = 'a <b> & "c" \ufffd\xff'
side = 'frames`shapes::shape<int>::side(int, char const*)'
tops = {b.find(SVG + 'title').text.split('\n')[0] for b in
    of_class(flames[1], 'box')}
if len(flames) != 2 or not tops >= {odd, 'frames`leaf', side, 'frames`right(int)'}:
    print('flames', len(flames), tops)

# Bars: as long as the counts, which are those of the text.
for hist in of_class(root, 'hist'):
    bars = of_class(hist, 'bar')
    counts = [int(b.get('data-count')) for b in bars]
    for bar, n in zip(bars, counts):
        w = float(bar.find(SVG + 'rect').get('width'))
        if abs(w - 800 * n / max(counts)) > 1:
            print('bar', n, 'is', w)
text = re.findall(r'^ *((?:[<>]=? )?-?\d+) \|[@ ]* (\d+) *$',
    open(sys.argv[2]).read(), re.M)
drawn = [(b.find(SVG + 'title').text.split('\n')[0], b.get('data-count'))
    for b in of_class(root, 'bar')]
if sorted(text) != sorted(drawn) or len(text) < 30:
    print('bars', drawn, 'text', text)
heads = [t.find(SVG + 'title').text for t in root.iter(SVG + 'text')
    if t.get('class') == 'head']
print(len(of_class(root, 'hist')), 'histograms', heads[0], heads[1])
END
is measured "$(cat "$tmp/measured")" \
    '5 histograms @s: 51 in 4 stacks @: 99 in 3 stacks'

# What cannot be made is said.
reports() {
	dt -q -x report="$1" -n 'BEGIN { printf("text\n"); exit(0); }'
	is "$1: status" "$status" "$2"
}
refused() {
	reports "$1" 1
	has "$tmp/err" "^dtrap: failed to write report '$1': $2\$"
}
empty='>No stack and no quantization was recorded'
whole() {
	is "$1: begins" "$(head -c 5 "$1")" '<?xml'
	is "$1: ends" "$(tail -n 1 "$1")" '</svg>'
	has "$1" "$empty"
}
mkdir "$tmp/dir"
mkfifo "$tmp/fifo"
refused "$tmp/dir" 'Is a directory'
refused "$tmp/fifo" 'No such device or address'
refused "$tmp/none/x.svg" 'No such file or directory'
refused "/proc/self/x.svg" '.*'
# Links and fifos are written to, as they are.
seq 10000 >"$tmp/behind"
chmod 600 "$tmp/behind"
ln -s behind "$tmp/link.svg"
ln -s nowhere "$tmp/dangling.svg"
inode=$(stat -c %i "$tmp/behind")
reports "$tmp/link.svg" 0
whole "$tmp/behind"
is "behind the link" "$(stat -c '%i %a' "$tmp/behind")" "$inode 600"
reports "$tmp/dangling.svg" 0
whole "$tmp/nowhere"
is "links" "$(readlink "$tmp/link.svg" "$tmp/dangling.svg" | paste -sd ' ')" \
    'behind nowhere'
cat "$tmp/fifo" >"$tmp/read" &
reader=$!
exec 7>"$tmp/fifo" # once it reads
reports "$tmp/fifo" 0
exec 7>&-
wait "$reader"
whole "$tmp/read"
# /dev/stdout: behind the text, whether it is a pipe or a file, and that is not
# begun anew.
for to in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
	{
		echo before
		reports $to 0
		cat "$tmp/out"
		"$DTRAP" -q -x report=$to -n 'BEGIN { printf("text\n"); exit(0); }'
		echo after
	} >"$tmp/both"
	is "$to: status" "$(grep -cE '^(before|text|after)$' "$tmp/both")" 4
	is "$to: pictures" "$(grep -c "$empty" "$tmp/both")" 2
	is "$to: order" "$(grep -nE '^(text|</svg>)$' "$tmp/both" |
	    cut -d: -f2 | paste -sd ' ')" 'text </svg> text </svg>'
done
is "a pipe" "$("$DTRAP" -q -x report=/dev/stdout -n 'BEGIN { printf("text\n");
    exit(0); }' | grep -cE '^(text|</svg>)$')" 2
"$DTRAP" -q -o "$tmp/o" -x report="$tmp/o" -n 'BEGIN { printf("text\n"); exit(0); }'
has "$tmp/o" '^text$'
has "$tmp/o" "$empty"
is "left over" "$(find "$tmp" -name "*report-*")" ""
# A file is replaced, not written into.
echo old >"$tmp/old.svg"
chmod 604 "$tmp/old.svg"
ln "$tmp/old.svg" "$tmp/other"
(umask 027 && cd "$tmp" && "$DTRAP" -q -x report=old.svg -n 'BEGIN { exit(0); }' \
    >/dev/null 2>&1) || wrong "relative"
is "other" "$(cat "$tmp/other")" old
is "mode" "$(stat -c %a "$tmp/old.svg")" 604
whole "$tmp/old.svg"
(umask 027 && cd "$tmp" && "$DTRAP" -q -x report=new.svg -n 'BEGIN { exit(0); }' \
    >/dev/null 2>&1) || wrong "new"
is "mode of a new one" "$(stat -c %a "$tmp/new.svg")" 640
# The owner's it remains: replaced by root, written into by who may do that
# alone, in a directory that others can come by.
owner=(setpriv --reuid 65534 --regid 65533 --clear-groups)
if [ "$(id -u)" = 0 ] && "${owner[@]}" test -x "$DTRAP"; then
	mine=$tmp
	tmp=$(mktemp -d /tmp/dtrap-e2e.XXXXXX) || exit 2
	chmod 711 "$tmp"
	seq 10000 >"$tmp/new.svg"
	chmod 600 "$tmp/new.svg"
	chown 65534:65533 "$tmp/new.svg"
	reports "$tmp/new.svg" 0
	whole "$tmp/new.svg"
	is "owner" "$(stat -c '%u:%g %a' "$tmp/new.svg")" '65534:65533 600'
	seq 10000 >"$tmp/new.svg"
	inode=$(stat -c %i "$tmp/new.svg")
	"${owner[@]}" "$DTRAP" -q -x report="$tmp/new.svg" -n 'BEGIN { exit(0); }' \
	    >/dev/null 2>"$tmp/err" || wrong "as the owner: $(cat "$tmp/err")"
	is "in place" "$(stat -c '%i %u:%g %a' "$tmp/new.svg")" \
	    "$inode 65534:65533 600"
	whole "$tmp/new.svg"
	rm -rf "$tmp"
	tmp=$mine
fi
# The script's own status stays when all is well.
dt -q -x report="$tmp/old.svg" -n 'BEGIN { exit(3); }'
is "exit" "$status" 3

# In a browser, where there is one: what a click and a search do.
chromium=$(command -v chromium || command -v chromium-browser)
[ -n "$chromium" ] || { echo "no chromium: not rendered"; finish; }
{
	echo '<!doctype html><body>'
	sed 1d "$tmp/all.svg"
	cat <<'END'
<script>
window.prompt = function () { return "side\\("; };
function click(id, what) {
	(what || document.getElementById(id)).dispatchEvent(
	    new MouseEvent("click", { bubbles: true }));
}
var boxes = Array.from(document.querySelectorAll(".flame")[0]
    .querySelectorAll(".box"));
function tell(what) {
	var p = document.createElement("p");
	p.textContent = "TOLD " + what + ": " + boxes.filter(function (g) {
		return g.getAttribute("display") != "none";
	}).map(function (g) {
		return g.querySelector("title").textContent.split("\n")[0]
		    .split("`").pop().split("(")[0].split(":").pop() + " " +
		    Math.round(g.querySelector("rect").getAttribute("width"));
	}).filter(function (s) {
		return /^(main|left|right|side|leaf|over|last) /.test(s);
	}).join(", ");
	document.body.appendChild(p);
}
tell("whole");
click(null, boxes.find(function (g) {
	return /`right/.test(g.querySelector("title").textContent);
}));
tell("right");
click("reset");
tell("again");
click("search");
var p = document.createElement("p");
p.textContent = "TOLD found " + document.getElementById("found").textContent +
    "; " + document.querySelectorAll(".hit").length;
document.body.appendChild(p);
</script>
END
} >"$tmp/page.html"
browse() {
	timeout -k 5 120 "$chromium" --headless --no-sandbox --disable-gpu \
	    --disable-quic --no-first-run --disable-background-networking \
	    --disable-component-update --disable-sync --hide-scrollbars \
	    --user-data-dir="$tmp/profile" "$@" 2>"$tmp/chromium.err"
}
browse --dump-dom "file://$tmp/page.html" >"$tmp/dom" ||
    { echo "chromium does not run here: not rendered"; finish; }
whole='left 694, side 694, leaf 694, right 463, leaf 231, side 231, leaf 231'
has "$tmp/dom" "TOLD whole: main 1180, last 23, over 23, leaf 23, $whole"
has "$tmp/dom" "TOLD right: main 1180, right 1180, leaf 590, side 590, leaf 590<"
has "$tmp/dom" "TOLD again: main 1180, last 23, over 23, leaf 23, $whole"
has "$tmp/dom" 'TOLD found side\\\(: 78.43 %, 78.79 %; 3<'
# The file by itself, as a picture: the flames are there.
browse --window-size=1200,400 --screenshot="$tmp/shot.png" \
    "file://$tmp/all.svg" >/dev/null || wrong "no screenshot"
python3 - "$tmp/shot.png" <<'END' >"$tmp/seen" 2>&1
import struct, sys, zlib

data = open(sys.argv[1], 'rb').read()
w, h, bits, kind = struct.unpack('>IIBB', data[16:26])
at, raw = 8, b''
while at < len(data):
    n, name = struct.unpack('>I4s', data[at:at + 8])
    raw += data[at + 8:at + 8 + n] if name == b'IDAT' else b''
    at += 12 + n
raw = zlib.decompress(raw)
size = {2: 3, 6: 4}[kind]
rows, last = [], bytearray(w * size)
for y in range(h):
    kind, row = raw[y * (w * size + 1)], bytearray(
        raw[y * (w * size + 1) + 1:(y + 1) * (w * size + 1)])
    for i in range(len(row)):
        a = row[i - size] if i >= size else 0
        b, c = last[i], last[i - size] if i >= size else 0
        p = a + b - c
        paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))
        row[i] = row[i] + (0, a, b, (a + b) // 2, paeth[2])[kind] & 255
    rows.append(row)
    last = row
# A row through the box of all: its one colour from margin to margin.
def colours(y):
    row = rows[y]
    return [bytes(row[x * size:x * size + 3]) for x in range(w)]
best = max(colours(y).count(c) for y in range(40, 250)
    for c in set(colours(y)) if c != b'\xff\xff\xff')
print(w, 'flames' if 1100 <= best <= 1181 else best)
END
is "rendered" "$(cat "$tmp/seen")" "1200 flames"
finish
