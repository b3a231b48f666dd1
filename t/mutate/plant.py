"""What may be planted: one small change of one line of C, and a sample of those.

Used by mutate.py.
"""
import collections
import math
import os
import random
import re

FOLDERS = ("dlang/", "disasm/", "symbols/", "inject/", "tracer/")


def blank(text):
    """The same text with spaces for comments, strings and directives."""
    def spaces(m):
        return re.sub(r"[^\n]", " ", m.group())

    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'
                  r"'(?:\\.|[^'\\])*'|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*",
                  spaces, text, flags=re.S | re.M)


def bodies(code):
    """(begin, end) of each function's body: a line "{" to a line "}"."""
    for m in re.finditer(r"^\{\n(.*?)^\}", code, re.S | re.M):
        yield m.start(1), m.end(1)


def closing(code, at):
    """The place of what closes the parenthesis at `at'."""
    depth = 0
    for i in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i
    return -1


SWAPS = {"==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"],
         ">": [">=", "<="], ">=": [">", "<"], "&&": ["||"], "||": ["&&"],
         "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"],
         "&": ["|"], "|": ["&"], "^": ["|"], "<<": [">>"], ">>": ["<<"],
         "+=": ["-="], "-=": ["+="], "|=": ["&="], "&=": ["|="],
         "<<=": [">>="], ">>=": ["<<="]}
QUIET = re.compile(r"LOG$|log_|free$|_free_|fault_|mem_free|close$|munmap$|"
                   r"_fini$|BUILD_|assert|ASSERT|va_(start|end|copy)$")


def mutants_of(code, begin, end):
    """(offset, length, replacement, what) of each mutant in a body."""
    body = code[begin:end]
    for m in re.finditer(r"(?<=[\w)\]'\" ] )(<<=|>>=|[=!<>]=|&&|\|\||<<|>>|"
                         r"[+\-|&]=|[-+*/%&|^<>])(?=[ \n])", body):
        if m.start(1) and not body[:m.start(1)].rstrip()[-1:].strip("=(,;{}?:"):
            continue
        for other in SWAPS[m.group(1)]:
            yield begin + m.start(1), len(m.group(1)), other, "operator"
    for m in re.finditer(r"(?<![\w.])(0x[0-9a-fA-F]+|\d+)([uUlL]*)(?![\w.])", body):
        line = body[body.rfind("\n", 0, m.start()) + 1:body.find("\n", m.start())]
        if re.match(r"\s*((static|const|struct|unsigned|volatile) )*\w+ [*\w, ]*\w+\[.*\];",
                    line):
            continue                            # how long an array is
        text = m.group(1)
        value = int(text, 8 if re.fullmatch("0[0-7]+", text) else 0)
        for other in {value + 1, value - 1 if value > 1 else value + 1}:
            yield begin + m.start(), len(m.group()), str(other) + m.group(2), \
                "constant"
    for m in re.finditer(r"\b(if|while) (\()", body):
        stop = closing(body, m.start(2))
        if stop > 0:
            inside = body[m.start(2) + 1:stop]
            keep = "\n" * inside.count("\n")
            values = "01" if m.group(1) == "if" else "0"
            for value in values:
                yield begin + m.start(2) + 1, len(inside), value + keep, "condition"
    for m in re.finditer(r"(?<=[^!=<>])!(?=[\w(])", body):
        yield begin + m.start(), 1, "", "condition"
    for m in re.finditer(r"(?<=[;{})e\n:])(\n[ \t]*)(\(void\) ?)?(\w+)(\()", body):
        if m.group(3) in ("if", "while", "for", "switch", "return", "sizeof") or \
                QUIET.search(m.group(3)):
            continue
        stop = closing(body, m.start(4))
        if stop > 0 and body[stop + 1:stop + 2] == ";":
            text = body[m.end(1):stop + 1]
            yield begin + m.end(1), len(text), "\n" * text.count("\n"), "call"
    for m in re.finditer(r"(?<=[;{})e\n:]\n)([ \t]*)([*\w][\w.>\[\]*-]*) "
                         r"([|+&-]?=) [^;{}]*;", body):
        text = body[m.start(2):m.end() - 1]
        yield begin + m.start(2), len(text), "\n" * text.count("\n"), "assignment"
    for m in re.finditer(r"\breturn ([^;]*);", body):
        text = m.group(1)
        if text not in ("0", "NULL", "false", "1", "true"):
            yield begin + m.start(1), len(text), "0" + "\n" * text.count("\n"), \
                "result"
    for m in re.finditer(r"\breturn (true|false|0|1);", body):
        other = {"true": "false", "false": "true", "0": "1", "1": "0"}
        yield begin + m.start(1), len(m.group(1)), other[m.group(1)], "result"


def quiet(code, begin, at):
    """Is that in a statement that only logs or frees?"""
    start = max(code.rfind(c, begin, at) for c in ";{}")
    m = re.match(r"(?:\(void\))?(?:if \([^;]*?\)\s*)?(\w+)\(",
                 code[start + 1:at + 1].lstrip())
    return bool(m and QUIET.search(m.group(1)))


def mutants_by_line(root, path):
    """{line: [mutant]}"""
    with open(os.path.join(root, path)) as f:
        text = f.read()
    code = blank(text)
    found = collections.defaultdict(list)
    for begin, end in bodies(code):
        for at, length, new, what in mutants_of(code, begin, end):
            line = code.count("\n", 0, at) + 1
            if not quiet(code, begin, at):
                found[line].append({"file": path, "line": line, "at": at,
                                    "old": text[at:at + length], "new": new,
                                    "what": what})
    return found


def room_of(path, rows):
    while "/" in path:
        path = path.rpartition("/")[0]
        if path in rows:
            return path
    return None


def rooms(root):
    with open(os.path.join(root, "t/lint/layers.txt")) as f:
        rows = [line.split("#")[0].split() for line in f]
    return {words[0] for words in rows if words}


# Built for another place: SIGTRAP's handler and the agent in a target.
ELSEWHERE = ("inject/trap/handler.c", "inject/agent/")


def sources(root):
    """Files of the program, and of what it puts into others."""
    found = []
    for folder in FOLDERS:
        for base, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                path = os.path.relpath(os.path.join(base, name), root)
                made = os.path.join(root, "build/host", path[:-2] + ".o")
                if not path.endswith(".c") or "/none/" in path:
                    continue
                if path.startswith(ELSEWHERE) or os.path.exists(made):
                    found.append(path)
    return sorted(found)


def sample(root, count, seed, only):
    """`count' mutants, and as many again in reserve, room by room: a room has
    some, and more the longer it is; a line is taken by chance, then one of its
    mutants."""
    rows, rng = rooms(root), random.Random(seed)
    lines = collections.defaultdict(list)
    for path in sources(root):
        if only and not path.startswith(only):
            continue
        for line, found in sorted(mutants_by_line(root, path).items()):
            lines[room_of(path, rows)].append(found)
    whole = sum(len(v) for v in lines.values())
    least = min(5, count // max(1, len(lines)))
    rest = count - least * len(lines)
    chosen = {}
    for room, found in sorted(lines.items()):
        n = least + math.ceil(rest * len(found) / whole)
        rng.shuffle(found)
        chosen[room] = [rng.choice(of_line) for of_line in found[:3 * n]], n
    return chosen, {room: len(v) for room, v in lines.items()}
