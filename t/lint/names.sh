#!/bin/sh
# What the documents for developers name exists: each file, and each function.  A
# function is in one of the files that its line names, if that names any.  Comments
# name files that exist, too.
cd "$(dirname "$0")/../.." || exit 2
exec python3 - <<'END'
import fnmatch
import os
import re
import sys

DOCS = ["HACKING.md"] + [
    f"doc/{d}.md" for d in ("where", "porting", "design", "testing", "unwinding")]
ROOMS = ("dlang", "disasm", "symbols", "inject", "sdt", "tracer")
# What a build makes, and the machines' folders by their common name.
MADE = {"tracer/build.h", "tracer/fire/names.def", "dlang/cc/parse.h", "build/kernel"}
WORD = re.compile(r"[A-Za-z_]\w*")
PATH = re.compile(r"[\w.*\[\]-]+(/[\w.*\[\]-]*)+|[\w*-]+\.(?:c|h|l|y|def|sh|py|awk)")
IN_COMMENT = re.compile(rf"(?<![\w./$-])(?:{'|'.join(ROOMS)})/[\w./-]*\.(?:c|h|def)\b")

files = {}
for top, dirs, names in os.walk("."):
    dirs[:] = [d for d in dirs if d != ".git" and
               not (top == "." and d.startswith("build"))]
    for name in names:
        path = os.path.join(top, name)[2:]
        with open(path, errors="replace") as f:
            files[path] = f.read()
words = {p: set(WORD.findall(t)) for p, t in files.items()
         if not p.endswith((".md", "NEWS"))}
of_d = set().union(*(words[p] for p in words if p.startswith("dlang/dif_")))


def find(path):
    """The files that a document means by a path, which may lack its begin, or the
    ending of a source file."""
    path = path.rstrip("/")
    return [f for f in files if fnmatch.fnmatch("/" + f, "*/" + path) or
            f"/{path}/" in "/" + f or f == path + ".c"]


bad = []
for doc in DOCS:
    for number, line in enumerate(files[doc].splitlines(), 1):
        quoted = re.findall(r"`([^`]+)`", line)
        named = set()
        for text in quoted:
            if PATH.fullmatch(text) and not re.match(r"\.|ROOM|NN-", text):
                found = find(text)
                named.update(f for f in found if f in words)
                if not found and text.rstrip("/") not in MADE and "TOPIC" not in text:
                    bad.append(f"{doc}:{number}: there is no {text}")
        for name in re.findall(r"\b([A-Za-z_]\w*)\(\)", " ".join(quoted)):
            if name not in of_d and not any(name in words[f] for f in named or words):
                bad.append(f"{doc}:{number}: {name}() is not there")
for path, text in files.items():
    if path.startswith(ROOMS) and path.endswith((".c", ".h", ".def")):
        for name in IN_COMMENT.findall(text):
            name = name.replace("/machine/", "/x86_64/")
            if name not in files and name not in MADE:
                bad.append(f"{path}: there is no {name}")
print("\n".join(bad), end="\n" if bad else "")
sys.exit(bool(bad))
END
