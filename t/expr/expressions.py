#!/usr/bin/env python3
"""expressions.py COUNT [SEED]: the same expressions in D and in C.

COUNT random expressions of C's integer types are computed by dtrap ($DTRAP)
and by a program that the C compiler ($CC) makes of the same text.  Size, value,
truth, the value of a variable that takes its type from the expression, and a
sum must be the same.  The status is 1 if one is not; the shortest is shown
first.

This file knows C's arithmetic, too, on LP64 with a signed char: it computes
each part as it is made, and takes another where C leaves the result open (a
signed overflow, a division by 0, a shift by the width or of what is negative).
So nothing that is compared is undefined, and three have to agree.  Left out is
also what D means otherwise, which doc/incompatibilities.md lists: constants as
'\\'' and 'ab', variables of enumerated types, and bit-fields that are wider
than an int.
"""

import os
import random
import re
import string
import subprocess
import sys
import tempfile

BATCH = 500  # expressions in one script and one program


class Type:
    def __init__(self, name, bits, signed, rank):
        self.name, self.bits, self.signed, self.rank = name, bits, signed, rank
        self.low = -(1 << bits - 1) if signed else 0
        self.high = (1 << bits - signed) - 1

    def holds(self, v):
        return self.low <= v <= self.high

    def cut(self, v):
        """v converted to this type, as gcc does where C leaves it open."""
        if self.name == "_Bool":
            return int(v != 0)
        v &= (1 << self.bits) - 1
        return v - (1 << self.bits) if v > self.high else v


BOOL = Type("_Bool", 8, False, 0)
CHAR = Type("char", 8, True, 1)
INT = Type("int", 32, True, 3)
UINT = Type("unsigned int", 32, False, 3)
LONG = Type("long", 64, True, 4)
ULONG = Type("unsigned long", 64, False, 4)
LLONG = Type("long long", 64, True, 5)
ULLONG = Type("unsigned long long", 64, False, 5)
TYPES = [
    BOOL, CHAR, Type("signed char", 8, True, 1), Type("unsigned char", 8, False, 1),
    Type("short", 16, True, 2), Type("unsigned short", 16, False, 2),
    INT, UINT, LONG, ULONG, LLONG, ULLONG,
    Type("int8_t", 8, True, 1), Type("uint8_t", 8, False, 1),
    Type("int16_t", 16, True, 2), Type("uint16_t", 16, False, 2),
    Type("int32_t", 32, True, 3), Type("uint32_t", 32, False, 3),
    Type("int64_t", 64, True, 4), Type("uint64_t", 64, False, 4),
]


def promoted(t):
    return t if t.rank >= INT.rank else INT


def common(a, b):
    """The usual arithmetic conversions; each signed type of a rank has an
    unsigned one that can be told by its name."""
    a, b = promoted(a), promoted(b)
    if a.rank < b.rank:
        a, b = b, a
    if a.signed == b.signed or not a.signed or a.bits > b.bits:
        if a.rank == b.rank and not b.signed:
            return b
        return a
    return {3: UINT, 4: ULONG, 5: ULLONG}[a.rank]


class Bits(Type):
    """A bit-field: promoted to int where int holds it."""
    def __init__(self, base, width):
        super().__init__(base.name, width, base.signed, 0)
        self.base = base
        if width == INT.bits and not base.signed:
            self.rank = UINT.rank


class Expr:
    """Text, how tightly its outermost operator binds (15: as tightly as it
    can be), type and value."""
    def __init__(self, text, prec, type_, value):
        assert type_.holds(value), (text, type_.name, value)
        self.text, self.prec, self.type, self.value = text, prec, type_, value


PREC = {"*": 13, "/": 13, "%": 13, "+": 12, "-": 12, "<<": 11, ">>": 11,
        "<": 10, "<=": 10, ">": 10, ">=": 10, "==": 9, "!=": 9, "&": 8,
        "^": 7, "|": 6, "&&": 5, "||": 4}


def quotient(x, y):
    q = abs(x) // abs(y)
    return q if (x < 0) == (y < 0) else -q


def binary(op, a, b):
    """(type, value) of a op b, or None if C does not define it.  a and b are
    (type, value)."""
    (ta, x), (tb, y) = a, b
    if op in ("&&", "||"):
        return INT, int(bool(x and y) if op == "&&" else bool(x or y))
    if op in ("<<", ">>"):
        t = promoted(ta)
        if not 0 <= y < t.bits:
            return None
        if op == ">>":
            return t, x >> y
        if t.signed and (x < 0 or x << y > t.high):
            return None
        return t, t.cut(x << y)
    t = common(ta, tb)
    x, y = t.cut(x), t.cut(y)
    compare = {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y,
               "==": x == y, "!=": x != y}
    if op in compare:
        return INT, int(compare[op])
    if op in "/%":
        if y == 0:
            return None
        v = quotient(x, y)
        if not t.holds(v):
            return None
        return t, v if op == "/" else x - v * y
    v = {"+": x + y, "-": x - y, "*": x * y, "&": x & y, "^": x ^ y,
         "|": x | y}[op]
    if t.signed and not t.holds(v):
        return None
    return t, t.cut(v)


def unary(op, t, x):
    if op == "!":
        return INT, int(x == 0)
    t = promoted(t)
    v = {"-": -x, "+": x, "~": ~x}[op]
    if t.signed and not t.holds(v):
        return None
    return t, t.cut(v)


class Maker:
    def __init__(self, rng):
        self.rng = rng
        self.vars = []     # (text, type, value)
        self.targets = []  # (text, type): may be assigned to
        self.declare()

    def value(self, t):
        r = self.rng
        near = [t.low, t.low + 1, t.high, t.high - 1, 0, 1, 2, -1, -2, 5, 100,
                127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1,
                2**31, 2**32 - 1, 2**32, -128, -129, -32768, -2**31]
        if r.random() < 0.6:
            return t.cut(r.choice(near))
        return t.cut(r.getrandbits(r.choice([3, 8, 16, 31, 32, 33, 63, 64])))

    def declare(self):
        n = 0
        for t in TYPES:
            for place in ("g%d", "this->l%d", "self->t%d"):
                self.vars.append((place % n, t, self.value(t)))
                n += 1
            self.targets.append(("w%d" % n, t))
            n += 1
        self.bits = []
        for base, width in ((INT, 3), (UINT, 5), (INT, 31), (UINT, 31),
                            (INT, 32), (UINT, 32), (INT, 1), (UINT, 1)):
            t = Bits(base, width)
            self.bits.append(("b%d" % n, t))
            self.vars.append(("f.b%d" % n, t, self.value(t)))
            self.bits.append(("b%d" % (n + 1), t))
            self.targets.append(("f.b%d" % (n + 1), t))
            n += 2

    # ---- leaves ----

    def constant(self):
        r = self.rng
        if r.random() < 0.1:
            v, text = r.choice([(97, "'a'"), (10, "'\\n'"), (0, "'\\0'"),
                                (-1, "'\\377'"), (-128, "'\\200'"),
                                (-112, "'\\x90'"), (32, "' '")])
            return Expr(text, 15, INT, v)
        u, longs = r.random() < 0.3, r.choice([0, 0, 0, 1, 2])
        while True:
            v = abs(self.value(r.choice(TYPES[1:])))
            base = r.choice(["%d", "%d", "0x%x", "0%o"])
            walk = [INT, UINT, LONG, ULONG, LLONG, ULLONG][2 * longs:]
            for t in walk:
                if (u and t.signed) or (not u and not t.signed and
                                        base == "%d"):
                    continue
                if t.holds(v):
                    text = base % v + ("u" if u else "") + "l" * longs
                    return Expr(text, 15, t, v)

    def leaf(self):
        if self.rng.random() < 0.35:
            return self.constant()
        text, t, v = self.rng.choice(self.vars)
        return Expr(text, 15, t, v)

    # ---- the rest ----

    def inside(self, e, least):
        """The text of e as an operand that has to bind at least so tightly."""
        if e.prec < least or self.rng.random() < 0.1:
            return "(" + e.text + ")"
        return e.text

    def expr(self, depth):
        r = self.rng
        if depth == 0 or r.random() < 0.08:
            return self.leaf()
        kind = r.random()
        if kind < 0.60:
            return self.make_binary(depth)
        if kind < 0.74:
            return self.make_unary(depth)
        if kind < 0.86:
            t = r.choice(TYPES)
            e = self.expr(depth - 1)
            return Expr("(%s)%s" % (t.name, self.inside(e, 14)), 14, t,
                        t.cut(e.value))
        if kind < 0.95:
            return self.make_choice(depth)
        if kind < 0.98:
            # gcc 12 dies of (_Bool)(1, !0), so the first is no constant.
            b = self.expr(depth - 1)
            if isinstance(b.type, Bits):
                return b
            return Expr("(%s, %s)" % (r.choice(self.vars)[0],
                                      self.inside(b, 2)),
                        15, b.type, b.value)
        e = self.expr(depth - 1)
        if isinstance(e.type, Bits):
            return e
        return Expr("sizeof (%s)" % e.text, 14, ULONG, e.type.bits // 8)

    def whole(self):
        """One that has a size, which bit-fields have not."""
        while True:
            e = self.expr(self.rng.choice([1, 2, 2, 3, 3, 4]))
            if not isinstance(e.type, Bits):
                return e

    def make_binary(self, depth):
        a, b = self.expr(depth - 1), self.expr(depth - 1)
        ops = list(PREC)
        self.rng.shuffle(ops)
        for op in ops:
            got = binary(op, (a.type, a.value), (b.type, b.value))
            if got is not None:
                p = PREC[op]
                text = "%s %s %s" % (self.inside(a, p), op,
                                     self.inside(b, p + 1))
                return Expr(text, p, *got)
        return a

    def make_unary(self, depth):
        e = self.expr(depth - 1)
        ops = ["-", "+", "~", "!"]
        self.rng.shuffle(ops)
        for op in ops:
            got = unary(op, e.type, e.value)
            if got is not None:
                # Not "--1", and not "-+-1", which is what it says.
                return Expr(op + " " * (e.text[0] in "+-") +
                            self.inside(e, 14), 14, *got)
        return e

    def make_choice(self, depth):
        c, a, b = (self.expr(depth - 1) for _ in range(3))
        t = common(a.type, b.type)
        text = "%s ? %s : %s" % (self.inside(c, 4), self.inside(a, 3),
                                 self.inside(b, 3))
        return Expr(text, 3, t, t.cut(a.value if c.value else b.value))

    def make_assign(self):
        """`w op= e' and `w++', w being set before: the statement that does
        so, w, and the expression."""
        first, text, e = self.assign()
        if isinstance(e.type, Bits):
            # Its size cannot be asked for, that of a sum can.
            e = Expr("0l + (%s)" % e.text, PREC["+"], LONG, e.value)
        return first, text, e

    def assign(self):
        r = self.rng
        text, t = r.choice(self.targets)
        while True:
            was = self.value(t)
            first = "%s = %s" % (text, literal(was))
            step = r.random()
            if step < 0.2:
                got = binary("+" if step < 0.1 else "-", (t, was), (INT, 1))
                if got is None:
                    continue
                v, op = t.cut(got[1]), "++" if step < 0.1 else "--"
                if r.random() < 0.5:
                    return first, text, Expr(op + text, 14, t, v)
                return first, text, Expr(text + op, 15, t, was)
            e = self.expr(2)
            op = r.choice(["", "+", "-", "*", "/", "%", "&", "|", "^", "<<",
                           ">>"])
            got = (t, e.value) if op == "" else \
                binary(op, (t, was), (e.type, e.value))
            if got is not None:
                return first, text, Expr("%s %s= %s" % (
                    text, op, self.inside(e, 2)), 2, t, t.cut(got[1]))


def literal(v):
    """A constant of this value that is the same in D and in C."""
    if v == -2**63:
        return "-9223372036854775807l - 1"
    return str(v) + ("ul" if v > 2**63 - 1 else "l" if abs(v) > 2**31 - 1
                     else "")


class Case:
    """An expression; if it assigns, to which variable, and the statement that
    sets that before."""
    def __init__(self, n, maker):
        self.n, self.first, self.target = n, None, None
        if maker.rng.random() < 0.15:
            self.first, self.target, self.expr = maker.make_assign()
        else:
            self.expr = maker.whole()

    def line(self):
        t, v = self.expr.type, LLONG.cut(self.expr.value)
        return "%d: %d %d %d %d %d %d" % (self.n, t.bits // 8, v,
                                          int(self.expr.value != 0),
                                          t.bits // 8, v, v)

    def text(self, template):
        words = {"E": self.expr.text, "N": str(self.n),
                 "FIRST": self.first + "; " if self.first else "",
                 "W": "(long long)" + self.target if self.target else "0ll"}
        return string.Template(template).substitute(words)


# What has a side effect is computed several times, so FIRST comes before each.
IN_D = """\
BEGIN { ${FIRST}truth = 0; }
BEGIN /$E/ { truth = 1; }
BEGIN
{
	${FIRST}this->r$N = ($E);
	${FIRST}value = (long long)($E);
	after = $W;
	${FIRST}@s[$N] = sum($E);
	printf("$N: %d %d %d %d %d %d\\n", (int)sizeof ($E), value, truth,
	    (int)sizeof (this->r$N), (long long)this->r$N, after);
}
"""
IN_C = """\
static void
f$N(void)
{
	${FIRST}int truth = ($E) ? 1 : 0;
	${FIRST}__typeof__ ($E) r = ($E);
	${FIRST}long long value = (long long)($E);
	long long after = $W;
	${FIRST}long long sum = ($E);
	printf("$N: %d %lld %d %d %lld %lld\\n", (int)sizeof ($E), value,
	    truth, (int)sizeof (r), (long long)r, after);
	printf("sum $N: %lld\\n", sum);
}
"""


def struct(name, members):
    return "struct %s {\n%s};\n" % (name, "".join(
        "\t%s;\n" % m for m in members))


def d_script(maker, cases):
    out = ["#pragma D option quiet\n"]
    sets = []
    for text, t, v in maker.vars:
        if text.startswith("f."):
            sets.append("%s = %s" % (text, literal(v)))
            continue
        scope, _, name = text.rpartition("->")
        out.append("%s%s %s;\n" % (scope + " " if scope else "", t.name, name))
        sets.append("%s = %s" % (text, literal(v)))
    out += ["%s %s;\n" % (t.name, text) for text, t in maker.targets
            if not isinstance(t, Bits)]
    out.append(struct("bits", ["%s %s : %d" % (t.name, name, t.bits)
                               for name, t in maker.bits]))
    out.append("struct bits f;\nint truth;\nlong long value, after;\n")
    out.append("BEGIN\n{\n%s}\n" % "".join("\t%s;\n" % s for s in sets))
    out += [c.text(IN_D) for c in cases]
    out.append("BEGIN { printa(\"sum %d: %@d\\n\", @s); exit(0); }\n")
    return "".join(out)


def c_program(maker, cases):
    places = {"": [], "this": [], "self": []}
    sets = []
    for text, t, v in maker.vars:
        sets.append("%s = %s" % (text, literal(v)))
        if not text.startswith("f."):
            scope, _, name = text.rpartition("->")
            places[scope].append("%s %s" % (t.name, name))
    out = ["#include <stdint.h>\n#include <stdio.h>\n"]
    out += ["%s;\n" % m for m in places[""]]
    out += ["%s %s;\n" % (t.name, text) for text, t in maker.targets
            if not isinstance(t, Bits)]
    for scope in ("this", "self"):
        out.append(struct(scope, places[scope]))
        out.append("struct %s the_%s, *%s = &the_%s;\n" % ((scope,) * 4))
    out.append(struct("bits", ["%s %s : %d" % (t.name, name, t.bits)
                               for name, t in maker.bits]))
    out.append("struct bits f;\n")
    out += [c.text(IN_C) for c in cases]
    out.append("int\nmain(void)\n{\n%s%s\treturn 0;\n}\n" % (
        "".join("\t%s;\n" % s for s in sets),
        "".join("\tf%d();\n" % c.n for c in cases)))
    return "".join(out)


def lines(command, what):
    p = subprocess.run(command, stdin=subprocess.DEVNULL, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode != 0:
        sys.exit("%s: %s" % (what, p.stderr or "status %d" % p.returncode))
    return dict(l.split(": ", 1) for l in p.stdout.splitlines() if ": " in l)


def run(maker, cases, where):
    d, c, program = (os.path.join(where, n) for n in ("e.d", "e.c", "e"))
    with open(d, "w") as f:
        f.write(d_script(maker, cases))
    with open(c, "w") as f:
        f.write(c_program(maker, cases))
    lines(os.environ.get("CC", "gcc").split() + ["-w", "-O0", "-o", program, c],
          "the C compiler")
    wanted = lines([program], "the C program")
    got = lines([os.environ.get("DTRAP", "./dtrap"), "-s", d], "dtrap")
    wrong = []
    for case in cases:
        pairs = [(source.get(str(case.n)), source.get("sum %d" % case.n))
                 for source in (wanted, got)]
        if case.target is None:
            model = case.line().rsplit(" ", 1)[0].split(": ")[1]
            if not (pairs[0][0] or "").startswith(model):
                sys.exit("expressions.py is wrong about C: %s is %s, not %s" % (
                    case.expr.text, pairs[0][0], model))
        if pairs[0] != pairs[1]:
            wrong.append((case, *pairs))
    return wrong


def main():
    count = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    wrong = []
    with tempfile.TemporaryDirectory() as where:
        for start in range(0, count, BATCH):
            maker = Maker(random.Random("%d/%d" % (seed, start)))
            cases = [Case(n, maker)
                     for n in range(start, min(start + BATCH, count))]
            wrong += [(w, maker) for w in run(maker, cases, where)]
    wrong.sort(key=lambda w: len(w[0][0].expr.text))
    for (case, c, d), maker in wrong[:int(os.environ.get("SHOW", "10"))]:
        known = ", ".join("%s %s = %d" % (t.name, text, v)
                          for text, t, v in maker.vars
                          if re.search(re.escape(text) + r"\b",
                                       case.expr.text))
        print("%s%s\n\tC: %s\n\tD: %s\n\twith %s" % (
            case.first + "; " if case.first else "", case.expr.text, c, d,
            known or "no variables"))
    print("%d expressions, %d differ (seed %d)" % (count, len(wrong), seed))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
