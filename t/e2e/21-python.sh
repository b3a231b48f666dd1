#!/bin/bash
# timeout: 300
# python3 with libc and functions of its own probed.
. "${0%/*}/lib.sh"
need python3
python=$(python3 -c 'import sys; print(sys.executable)')
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0

cat >"$tmp/prog.py" <<'EOF'
import hashlib, json, re, sys, threading

class Tree:
    def __init__(self, depth):
        self.kids = [Tree(depth - 1) for _ in range(2)] if depth else []
    def size(self):
        return 1 + sum(kid.size() for kid in self.kids)

def fail(n):
    try:
        if n == 0:
            raise ValueError("bottom")
        fail(n - 1)
    except ValueError as e:
        raise RuntimeError("level %d" % n) from e

print(sum(range(1000)), Tree(6).size())
print(json.dumps({"b": [1, 2.5, None], "a": "x" * 10}, sort_keys=True))
print(re.sub(r"(\d+)", lambda m: str(int(m[1]) * 2), "a1 b22 c333"))
print(hashlib.sha256(b"dtrap" * 100).hexdigest())
out = []
threads = [threading.Thread(target=lambda n=n: out.append(n * n)) for n in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(sorted(out))
try:
    fail(5)
except RuntimeError as e:
    print(e, repr(e.__cause__))
sys.stderr.write("to stderr\n")
sys.exit(9)
EOF

# shellcheck disable=SC2016
{
LIMIT=130
same_traced 'pid$target:libc:*alloc:entry,pid$target:libc:str*:entry,pid$target:libc:pthread_*:entry,pid$target:libc:free:return' \
    "$python" "$tmp/prog.py"
same_traced 'pid$target::PyRun_*:entry,pid$target::PyImport_*:entry,pid$target::PyErr_*:return,pid$target::PyThread_*:,pid$target::PyDict_New:' \
    "$python" "$tmp/prog.py"
}
finish
