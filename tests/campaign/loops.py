"""Programs of loops, of a generator of its own, judged as generated.py says: csmith's have few, and strips and nests are the hardest that
dome-cc does. They are defined: numbers are unsigned or bounded, indices too, and nothing depends on the machine. What the sanitizers find
in the compiler's program is a mistake of this generator.

Polls: in every iteration, in those of the thesis, by themselves (loops are then long), or by a profile that says how much work is between
two polls, so that strips are short; it is a real one, with counts, or knows no function."""

import math
import os
import re

import generated
from generated import FEWEST, MOST, Build, compiled, judge, pass_over, run
from harness import check

WORDS, NUMBERS, BYTES, REALS, HISTORY = 64, 64, 128, 32, 16  # lengths of the arrays of all functions, powers of two
DEEPEST = 4  # loops in loops
# The counter of a loop: type, suffix of its constants, largest bound, whether it may be negative.
COUNTERS = [("int", "", 1 << 24, True)] * 5 + [("unsigned", "u", 1 << 24, False)] * 2 + [
    ("long", "", 1 << 24, True), ("unsigned long", "u", 1 << 24, False), ("long long", "ll", 1 << 24, True),
    ("unsigned long long", "ull", 1 << 24, False), ("size_t", "u", 1 << 24, False), ("int32_t", "", 1 << 24, True),
    ("uint64_t", "u", 1 << 24, False), ("short", "", 30000, True), ("unsigned short", "", 60000, False), ("signed char", "", 110, True), ("unsigned char", "", 240, False)]
# At the ends of types: header of a loop, with i for the counter, and the most iterations. Conversions of what does not fit into a signed
# type take it modulo a power of two, as gcc says.
EDGES = [("for (signed char i = 120; i < 127; i++)", 7), ("for (signed char i = -120; i > -128; i--)", 8), ("for (signed char i = 100; i > 0; i++)", 28),
         ("for (unsigned char i = 250; i != 3; i++)", 9), ("for (unsigned char i = 5; i < 6; i--)", 6), ("for (unsigned char i = 3; i-- > 0;)", 3),
         ("for (short i = 32760; i < 32767; i++)", 7), ("for (short i = -32700; i > -32768; i -= 2)", 34), ("for (unsigned short i = 65530; i; i++)", 6),
         ("for (int i = 2147483640; i < 2147483647; i++)", 7), ("for (int i = -2147483647; i > -2147483647 - 1; i--)", 1),
         ("for (int i = 2147483600; i < 2147483644; i += 3)", 15), ("for (int i = 2147483000; i <= 2147483646; ++i)", 647),
         ("for (int i = -2147483000; i >= -2147483647; --i)", 648), ("for (unsigned i = 4294967200u; i; i++)", 96),
         ("for (unsigned i = 4294967200u; i < 4294967295u; i++)", 95), ("for (unsigned i = 4294967200u; i >= 4294967200u; ++i)", 96),
         ("for (unsigned i = 30u; i < 31u; i--)", 31), ("for (unsigned i = 4294960000u; i <= 4294967290u; i += 5u)", 1459),
         ("for (unsigned i = 2147483600u; i < 2147483700u; i++)", 100), ("for (unsigned i = 2147483700u; i > 2147483600u; i -= 7u)", 15),
         ("for (long long i = 9223372036854775800ll; i < 9223372036854775807ll; i++)", 7),
         ("for (long long i = -9223372036854775800ll; i >= -9223372036854775807ll; i--)", 8),
         ("for (long long i = 4294967290ll; i < 4294967400ll; i += 2)", 55), ("for (long long i = 2147483640ll; i <= 2147483660ll; i++)", 21),
         ("for (unsigned long long i = 18446744073709551600ull; i != 0; i++)", 16),
         ("for (unsigned long long i = 18446744073709551000ull; i < 18446744073709551600ull; i += 4)", 150),
         ("for (unsigned long long i = 12ull; i-- > 0;)", 12)]

HEAD = """#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    struct item *next;
    unsigned number;
};

struct row {
    short from;
    unsigned char length;
    unsigned number;
    struct {
        int low, high;
    } in;
};

struct set {
    int n;
    int *begin, *end;
    unsigned *value;
    double *weight;
    struct row *row;
    struct item *list;
};

struct bounds {
    int low, high;
    unsigned count;
    long long wide;
};

static unsigned words[%d], history[%d];
static int numbers[%d];
static unsigned char bytes[%d];
static double reals[%d];
static jmp_buf back;
""" % (WORDS, HISTORY, NUMBERS, BYTES, REALS)


class Function:
    """One in the making. A statement is a list of lines, with the most iterations that it takes. `clean`: without what would make the
    loops around it poll in each iteration, that is "plain"; or of loops that are cut into strips alone, that is "counted"."""

    def __init__(self, program, name):
        self.program, self.c, self.name = program, program.c, name
        self.values, self.counters, self.locals, self.used = ["s", "t", "x"], [], [], 0
        self.has_set, self.labels = True, []

    # ---- names and numbers ----

    def one(self, *choices):
        return self.c.choice(choices)

    def maybe(self, p):
        return self.c.random() < p

    def fresh(self, letter):
        self.used += 1
        return "%s%d" % (letter, self.used)

    def expression(self, deep=2):
        c = self.c
        if deep == 0 or self.maybe(0.2):
            k = c.randrange(9)
            if k < 3:
                return c.choice(self.values)
            if k < 5 and self.counters:
                return "(unsigned)" + c.choice(self.counters)
            if k == 5:
                return "words[%s & %du]" % (self.expression(0), WORDS - 1)
            if k == 6:
                return self.one("(unsigned)numbers[%s & %du]" % (self.expression(0), NUMBERS - 1),
                                "(unsigned)bytes[%s & %du]" % (self.expression(0), BYTES - 1))
            if k == 7 and self.has_set:
                return self.one("r->value[%s %% %du]" % (self.expression(0), self.program.numbers),
                                "r->row[%s %% %du].number" % (self.expression(0), self.program.rows),
                                "(unsigned)(r->end[{0} % {1}u] - r->begin[{0} % {1}u])".format(c.choice(self.values), self.program.rows))
            return "%du" % c.choice([c.randrange(10), c.randrange(1 << 16), c.randrange(1 << 32)])
        a, b, k = self.expression(deep - 1), self.expression(deep - 1), c.randrange(12)
        if k < 8:
            return "(%s %s %s)" % (a, "+-*^|&+*"[k], b)
        if k == 8:
            return "(%s << (%s & 15u))" % (a, b)
        if k == 9:
            return "(%s >> (%s & 15u))" % (a, b)
        if k == 10:
            return "(%s %s (%s | 1u))" % (a, self.one("/", "%"), b)
        return "(%s %s %s ? %s : %s)" % (a, self.one("<", ">", "==", "&"), b, self.expression(0), self.expression(0))

    def test(self, often=True):
        if often:
            return self.one("%s & 1u" % self.expression(1), "%s %% 3u == 1u" % self.expression(1), "%s > %s" % (self.expression(1), self.expression(0)))
        m = self.c.choice([17, 61, 251, 1021])
        return "%s %% %du == %du" % (self.expression(1), m, self.c.randrange(m))

    def length(self, most):
        """Iterations: few, or as many as there may be."""
        return max(1, int(math.exp(self.c.uniform(0, 1) ** self.c.choice([0.3, 1]) * math.log(most)))) if most > 1 else 1

    # ---- statements ----

    def simple(self, clean=False):
        k, e = self.c.randrange(10), self.expression()
        v = self.c.choice(self.values)
        if k < 4:
            return ["%s = %s * %du + %s;" % (v, v, self.c.choice([3, 5, 31, 65599]), e)]
        if k == 4:
            return ["%s %s= %s;" % (v, self.one("^", "+", "-", "|"), e)]
        if clean == "counted" and k in (5, 6) and self.maybe(0.8):  # a bound in memory may change
            return ["d = d * 0.5 + (double)(%s & 1023u);" % e]
        if k == 5:
            return ["words[%s & %du] %s %s;" % (self.expression(1), WORDS - 1, self.one("=", "^=", "+="), e)]
        if k == 6:
            return ["numbers[%s & %du] = (int)(%s %% 1000u) - 300;" % (self.expression(1), NUMBERS - 1, e)]
        if k == 7 and not clean:
            return self.c.choice([["bytes[%s & %du] = (unsigned char)%s;" % (self.expression(1), BYTES - 1, e)],
                                  ["d = d * 0.5 + (double)(%s & 1023u);" % e],
                                  ["reals[%s & %du] = d + 0.25 * (double)(%s & 255u);" % (v, REALS - 1, e),
                                   "d = d * 0.5 + reals[%s & %du] * 0.125;" % (e, REALS - 1)]])
        if k == 8 and self.has_set and not clean:
            return self.c.choice([["r->value[%s %% %du] ^= %s;" % (self.expression(0), self.program.numbers, e)],
                                  ["r->row[%s %% %du].number += %s;" % (self.expression(0), self.program.rows, e)],
                                  ["r->weight[%s %% %du] = d;" % (self.expression(0), self.program.numbers)]])
        return ["%s = (%s << 7 | %s >> 25) ^ %s;" % (v, v, v, e)]

    def indent(self, lines):
        return [line if line.startswith("#") or line.endswith(": ;") else "    " + line for line in lines]

    def body(self, budget, context, clean=False, count=None):
        """Statements that take at most `budget` iterations together."""
        lines, cost = [], 0
        values = len(self.values)
        for _ in range(count or self.c.choice([1, 1, 2, 2, 3, 4])):
            more, k = self.statement(max(0, budget - cost), context, clean)
            lines += more
            cost += k
        del self.values[values:]
        return lines, cost

    def statement(self, budget, context, clean):
        c, k = self.c, self.c.random() * 20
        deep = context.count("loop")
        if deep and k < 1.2:
            return ["if (%s)" % self.test(), "    continue;"], 0
        if deep and k < 2:
            return ["if (%s)" % self.test(False), "    break;"], 0
        if k < 3.2 and len(context) < 6:
            a, ka = self.body(budget, context, clean, 1)
            b, kb = self.body(budget, context, clean, 1) if self.maybe(0.4) else ([], 0)
            return ["if (%s) {" % self.test(), *self.indent(a), *(["} else {", *self.indent(b)] if b else []), "}"], max(ka, kb)
        if k < 4.2 and len(context) < 6:
            return self.switch(budget, context, clean)
        if clean:
            if k < 6.5 and deep < DEEPEST and budget >= 4:
                return self.loop(budget, context, clean)
            if k < 7.2:
                return ["%s += small(%s);" % (c.choice(self.values[:2]), self.expression(1))], 0
            return self.simple(True), 0
        if deep and k < 4.6:
            return ["if (%s)" % self.test(False), "    goto %s;" % self.label()], 0
        if deep and k < 4.8:
            return ["if (%s)" % self.test(False), "    return s ^ %s;" % self.expression(1)], 0
        if k < 5.0 and deep:  # of a block alone, which may hide another one
            v = c.choice([u for u in self.values if re.fullmatch(r"v\d+", u)] or [self.fresh("v")])
            known, self.values = self.values, [u for u in self.values if u != v]
            line = "%sunsigned %s = %s;" % (self.one("", "", "register "), v, self.expression())
            if self.maybe(0.3):
                line = "static unsigned %s = %du;" % (v, c.randrange(1000))
            self.values.append(v)
            lines, cost = self.body(budget, context, clean, 2)
            self.values = known
            return ["{", "    " + line, *self.indent(lines), "    s += %s;" % v, "}"], cost
        if k < 5.4:
            v = self.fresh("v")
            line = ["unsigned %s = %s;" % (v, self.expression())]
            self.values.append(v)
            return line, 0
        if k < 10 and deep < DEEPEST and budget >= 4:
            return self.loop(budget, context, "plain" if self.program.strips and self.maybe(0.45) else False)
        if k < 11.5:
            return self.call(budget) or (self.simple(), 0)
        return self.simple(), 0

    def label(self):
        """Behind the function's outermost statement."""
        if not self.labels or self.labels[-1][1]:
            self.labels.append([self.fresh("out"), False])
        return self.labels[-1][0]

    def switch(self, budget, context, clean):
        n, most = self.c.randint(2, 5), 0
        lines, values = ["switch (%s %% %du) {" % (self.expression(1), n + self.c.randrange(2))], len(self.values)
        for k in range(n):
            if self.maybe(0.15):
                lines.append("default:")
            else:
                lines.append("case %d:" % k)
            inside, cost = self.body(budget // n, context + ["switch"], clean, self.c.choice([1, 1, 2]))
            del self.values[values:]
            most += cost
            end = self.c.random()
            if "loop" in context and end < 0.12:
                inside.append("continue;")
            elif end < 0.8 or k == n - 1:
                inside.append("break;")
            lines += ["    {", *self.indent(self.indent(inside)), "    }"]
        defaults = 0
        for k, line in enumerate(lines):
            if line == "default:":
                defaults += 1
                if defaults > 1:
                    lines[k] = "case %d:" % (20 + k)
        return lines + ["}"], most

    def call(self, budget):
        """Of a function before, if it does not take too long."""
        able = [f for f in self.program.functions if f.cost <= max(budget, 8) and (self.has_set or not f.has_set)]
        if not able:
            return None
        f, v = self.c.choice(able), self.c.choice(["s", "t"])
        name = "table[%s & %du]" % (self.expression(0), len(self.program.table) - 1) if f.name in self.program.table else f.name
        cost = max([g.cost for g in self.program.functions if g.name in self.program.table], default=0) if name != f.name else f.cost
        if cost > max(budget, 8):
            name, cost = f.name, f.cost
        n = self.one(str(f.most), "(int)(%s %% %du)" % (self.expression(0), f.most + 1))
        call = "%s(%s, %s%s)" % (name, self.expression(1), n, ", r" if f.has_set else "")
        k = self.c.randrange(5)
        if k == 0:
            return ["if (%s & 1u)" % call, "    %s ^= 77u;" % v], cost
        if k == 1:
            return ["%s = %s;" % (v, call)], cost
        return ["%s = %s * 3u %s %s;" % (v, v, self.one("+", "^", "-"), call)], cost

    # ---- loops ----

    def bound(self, most, kind, suffix, changes=False):
        """What a loop counts to, at most `most`: lines before it, the expression, lines inside that make it less, which it may do without
        unless it `changes`."""
        k = self.c.randrange(7 if changes else 0, 10)
        cast = "" if kind == "int" else "(%s)" % kind
        if k < 3:
            return [], "%d%s" % (most, suffix), None
        if k < 6:
            name = self.fresh("m")
            some = "%du - %s %% %du" % (most, self.expression(1), most // self.c.choice([1, 3, 8]) + 1)
            return ["%s%s %s = (%s)(%s);" % (self.one("const ", ""), kind, name, kind, some)], name, None
        if k == 6 and self.most <= most and self.most * 3 >= most:
            return [], cast + "n", None
        if k == 7 and kind in ("int", "unsigned", "long", "long long"):
            name, p = self.fresh("m"), self.fresh("p")
            less = self.c.choice([["if (%s && *%s > 1)" % (self.test(False), p), "    --*%s;" % p],
                                  ["if (%s)" % self.test(False), "    *%s %%= 7;" % p],
                                  ["if (%s)" % self.test(False), "    less_%s(&%s);" % (kind.replace(" ", "_"), name)]])
            return ["%s %s = %d, *%s = &%s;" % (kind, name, most, p, name)], self.one(name, "*" + p), less if changes or self.maybe(0.5) else None
        # a member of its own, of a global array or by a pointer
        at, member = self.program.bounds, {"unsigned": "count", "long long": "wide"}.get(kind, "high")
        self.program.bounds += 1
        here, before = "bounds[%d].%s" % (at, member), []
        if self.maybe(0.5):
            p = self.fresh("p")
            before, there = ["%sstruct bounds *%s = &bounds[%d];" % (self.one("const ", ""), p, at)], "%s->%s" % (p, member)
        else:
            there = here
        less = self.c.choice([["if (%s && %s > 1)" % (self.test(False), here), "    %s--;" % here],
                              ["if (%s)" % self.test(False), "    bounds[%d] = (struct bounds){0, 1, 2u, 3};" % at],
                              ["if (%s)" % self.test(False), "    memset(&bounds[%d], 0, sizeof bounds[%d]);" % (at, at)],
                              ["if (%s)" % self.test(False), "    *(&bounds[0] + %d) = none;" % at]]) if changes or self.maybe(0.4) else None
        return before + ["%s = %d;" % (here, most)], (cast if member == "high" else "") + there, less

    def loop(self, budget, context, clean):
        forms = [self.counted] * 6 + [self.edge, self.to_unequal]
        if self.program.strips and budget >= 64 and context.count("loop") < DEEPEST - 1:
            forms += [self.nest] * (2 if clean == "counted" else 8)
        if clean != "counted":
            forms += [self.whiles, self.whiles, self.does, self.does, self.two_counters, self.pointers, self.items, self.scan, self.stepped, self.forever,
                      self.to_unequal, self.edge]
        if not clean:
            forms += [self.called, self.backward, self.local_array, self.heap, self.into, self.duff]
        if self.has_set and budget >= 4 * self.program.rows and context.count("loop") < DEEPEST - 1:
            forms += [self.rows] * (2 if clean == "counted" else 8)
        elif self.has_set:
            forms += [self.one_row] * 2
        counters, values = len(self.counters), len(self.values)
        lines, cost = self.c.choice(forms)(budget, context + ["loop"], clean)
        del self.counters[counters:], self.values[values:]
        pragma = self.c.random()
        if pragma < 0.03 and lines[0].startswith(("for", "while", "do")):
            lines.insert(0, "#pragma dome %s" % ("poll" if pragma < 0.015 else "nopoll"))
        return ["{", *self.indent(lines), "}"] if not lines[0].startswith(("for", "while", "do")) or pragma > 0.9 else lines, cost

    def inside(self, budget, length, context, clean, more=None, first=None):
        lines, cost = self.body(budget // max(length, 1), context, clean)
        if more:
            lines[self.c.choice([0, len(lines)]):0] = more
        return ["{", *self.indent((first or []) + lines), "}"], length * (1 + cost)

    @staticmethod
    def joined(head, block, tail=""):
        return [head + " " + block[0], *block[1:-1], block[-1] + tail]

    def counted(self, budget, context, clean):
        """for, up or down."""
        kind, suffix, largest, negative = self.c.choice(COUNTERS)
        by = self.c.choice([1, 1, 1, 1, 2, 3, 7])
        length = self.length(min(budget, largest // by))
        i, to = self.fresh("i"), length * by
        changes = clean == "plain" and self.maybe(0.4)
        before, bound, less = self.bound(to, kind, suffix, changes)
        up, outside = changes or self.maybe(0.7), self.maybe(0.3)
        hidden = [j for j in self.counters if re.fullmatch(r"i\d+", j)]
        if hidden and not outside and self.maybe(0.15):
            i = self.c.choice(hidden)  # hides an outer one
        step = self.one("%s++", "++%s", "%s += 1") % i if by == 1 else "%s += %d" % (i, by)
        if up:
            begin = self.one("0", "0", "1", "-%d" % min(5 * by, 60) if negative else "2")
            test = "%s < %s" % (i, bound) if self.maybe(0.7) else "%s <= %s" % (i, bound)
        else:
            step = step.replace("+", "-")
            begin, less = bound, None
            if by == 1 and not negative or self.maybe(0.4):
                test = "%s > 0" % i if by == 1 or negative else "%s > %d" % (i, by)
            elif negative:
                test = "%s >= %s" % (i, self.one("0", "1", "-3"))
            else:
                test = "%s >= %d%s" % (i, by, suffix)
        if outside:
            self.locals.append("%s %s = 0;" % (kind, i))
            if self.maybe(0.15) and not clean and up:  # its address is taken, and it is counted by that, too
                before.append("%s *p_%s = &%s;" % (kind, i, i))
                less = (less or []) + ["if (%s && *p_%s < %d)" % (self.test(False), i, to // 2), "    ++*p_%s;" % i]
        self.counters.append(i)
        block, cost = self.inside(budget, length + 6, context, clean, less)
        head = "for (%s%s = %s; %s; %s)" % ("" if outside else self.one("", "", "", "register ") + kind + " ", i, begin, test, step)
        return before + self.joined(head, block) + (["s = s * 3u + (unsigned)%s;" % i] if outside else []), cost

    def edge(self, budget, context, clean):
        head, length = self.c.choice([e for e in EDGES if e[1] <= max(budget, 9)])
        i = self.fresh("i")
        self.counters.append(i)
        block, cost = self.inside(budget, length, context, clean)
        return self.joined(re.sub(r"\bi\b", i, head), block), cost

    def to_unequal(self, budget, context, clean):
        """What is counted, but not in strips."""
        length, i, kind = self.length(budget), self.fresh("i"), self.one("int", "unsigned", "long long")
        before, bound, _ = self.bound(length, kind, "")
        self.counters.append(i)
        block, cost = self.inside(budget, length, context, clean)
        head = self.c.choice(["for ({k} {i} = 0; {i} != {b}; {i}++)", "for ({k} {i} = {b}; {i}; {i}--)", "for ({k} {i} = {b}; {i}-- > 0;)",
                              "for ({k} {i} = 0; {i} < {b} && words[{i} & 63] != 77u; {i}++)"]).format(k=kind, i=i, b=bound)
        return before + self.joined(head, block), cost

    def whiles(self, budget, context, clean):
        length, i, kind = self.length(budget), self.fresh("i"), self.one("int", "unsigned", "long", "unsigned long long")
        self.locals.append("%s %s = 0;" % (kind, i))
        before, bound, less = self.bound(length, kind, "")
        self.counters.append(i)
        after = ["t += (unsigned)%s;" % i]
        if self.maybe(0.15):  # nothing but the counter
            return before + ["%s = 0;" % i,
                             "while (%s < %s && (words[%s & 63] | 1u) != %du)" % (i, bound, i, self.c.randrange(99) | 1), "    %s++;" % i] + after, length
        if self.maybe(0.3):
            block, cost = self.inside(budget, length, context, clean)
            test = self.one("{0}-- > 0", "{0} && {0}--").format(i)
            return before + ["%s = %s;" % (i, bound)] + self.joined("while (%s)" % test, block) + after, cost
        block, cost = self.inside(budget, length, context, clean, less, ["%s++;" % i])
        return before + ["%s = 0;" % i] + self.joined("while (%s < %s)" % (i, bound), block) + after, cost

    def does(self, budget, context, clean):
        length, i = self.length(budget), self.fresh("i")
        self.locals.append("int %s = 0;" % i)
        before, bound, less = self.bound(length, "int", "")
        self.counters.append(i)
        if self.maybe(0.15):
            block, cost = self.inside(budget, 1, context, clean)
            return before + self.joined("do", block, " while (0);"), cost
        test = self.one("++%s < %s" % (i, bound), "%s++ < %s" % (i, bound), "++%s < %s && s %% 1021u != 5u" % (i, bound))
        block, cost = self.inside(budget, length + 2, context, clean, less)
        return before + ["%s = 0;" % i] + self.joined("do", block, " while (%s);" % test) + ["s ^= (unsigned)%s;" % i], cost

    def two_counters(self, budget, context, clean):
        length, i, j, kind = self.length(budget), self.fresh("i"), self.fresh("j"), self.one("int", "long", "long long")
        before, bound, _ = self.bound(length, kind, "")
        self.counters += [i, j]
        block, cost = self.inside(budget, length, context, clean)
        head = self.c.choice(["for ({k} {i} = 0, {j} = {b}; {i} < {j}; {i}++, {j}--)", "for ({k} {i} = 0, {j} = 1; {i} < {b}; {i}++, {j} = ({j} * 3 + {i}) & 1023)",
                              "for ({k} {i} = 0, {j} = {b}; {i} < {b} && {j} > -9; {i} += 2, --{j})", "for ({k} {i} = 0, {j} = 5; {i} < {b}; s += (unsigned){j}, {i}++)"])
        return before + self.joined(head.format(k=kind, i=i, j=j, b=bound), block), cost

    def pointers(self, budget, context, clean):
        array, n, kind = self.c.choice([("words", WORDS, "unsigned"), ("numbers", NUMBERS, "int"), ("bytes", BYTES, "unsigned char"), ("history", HISTORY, "unsigned")])
        length, p, e = self.length(min(n, max(budget, 1))), self.fresh("p"), self.fresh("e")
        before, bound, _ = self.bound(length, "int", "")
        self.values.append("(unsigned)*%s" % p)
        block, cost = self.inside(budget, length, context, clean)
        self.values.pop()
        block = [re.sub(r"\(unsigned\)\*%s ([-^+|]?=)" % p, r"s \1", line) for line in block]
        k = self.c.randrange(4)
        if k == 0:
            return before + ["const %s *%s = %s + %s;" % (kind, e, array, bound),
                             *self.joined("for (const %s *%s = %s; %s < %s; %s++)" % (kind, p, array, p, e, p), block)], cost
        if k == 1:
            return before + self.joined("for (%s *%s = %s + %s; %s-- > %s;)" % (kind, p, array, bound, p, array), block), cost
        if k == 2:
            block = ["{", "    s += (unsigned)*%s++;" % p, "}"]
            return before + ["const %s *%s = %s, *%s = %s + %s;" % (kind, p, array, e, array, bound),
                             *self.joined("while (%s != %s)" % (p, e), block)], length
        block, cost = self.inside(budget, length, context, clean)
        return before + ["%s *%s = %s, *const %s = %s + %s;" % (kind, p, array, e, array, bound),
                         "do {", "    *%s ^= 5;" % p, "} while (++%s < %s);" % (p, e)], length

    def items(self, budget, context, clean):
        if not self.has_set or budget < self.program.rows:
            return self.does(budget, context, clean)
        p = self.fresh("p")
        self.values.append("%s->number" % p)
        block, cost = self.inside(budget, self.program.rows, context, clean)
        if self.maybe(0.5):
            return self.joined("for (struct item *%s = r->list; %s; %s = %s->next)" % (p, p, p, p), block), cost
        block.insert(1, "    %s = %s->next;" % (p, p))
        return ["struct item head_%s = {r->list, 1}, *%s = &head_%s;" % (p, p, p), *self.joined("while (%s->next)" % p, block)], cost

    def scan(self, budget, context, clean):
        """An inner while like those of sorting."""
        length, i, j = self.length(budget), self.fresh("i"), self.fresh("j")
        before, bound, _ = self.bound(length, "int", "")
        self.counters += [i, j]
        return before + ["int %s = 0, %s = %s, pivot_%s = numbers[s & %du];" % (i, j, bound, i, NUMBERS - 1),
                         "while (%s < %s) {" % (i, j),
                         "    while (%s < %s && numbers[%s & %d] < pivot_%s)" % (i, j, i, NUMBERS - 1, i), "        %s++;" % i,
                         "    while (%s < %s && numbers[%s & %d] >= pivot_%s)" % (i, j, j, NUMBERS - 1, i), "        --%s;" % j,
                         *self.indent(self.simple()), "    %s++;" % i, "}", "t = t * 5u + (unsigned)(%s - %s);" % (i, j)], 2 * length

    def called(self, budget, context, clean):
        """Calls in the condition and in the step."""
        able = [f for f in self.program.functions if not f.has_set and f.cost <= budget // 4]
        if not able:
            return self.whiles(budget, context, clean)
        f = self.c.choice(able)
        length = self.length(max(1, min(budget // (f.cost + 1), 1 << 16)))
        i = self.fresh("i")
        self.locals.append("int %s = 0;" % i)
        self.counters.append(i)
        block, cost = self.inside(budget - length * f.cost, length, context, clean)
        call = "%s(%s, %d)" % (f.name, self.one("s", "t", "(unsigned)" + i), f.most)
        head = self.c.choice(["for ({i} = 0; {i} < (int)({call} % {n}u); {i}++)", "for ({i} = 0; {i} < {n}; {i} += 1 + (int)({call} & 1u))",
                              "for ({i} = 0; {i} < {n} && {call} % 61u != 3u; ++{i})", "for ({i} = {n}; {i} > 0 && ({call} & 1023u) != 7u; {i}--)",
                              "for ({i} = (int)({call} % {n}u); {i}-- > 0;)", "for ({i} = 0; {i} < {n}; s ^= {call}, {i}++)",
                              "{i} = 0;\nwhile ({i}++ < (int)(%s(t, %d) %% {n}u))" % (f.name, f.most)]).format(i=i, call=call, n=length)
        return [*head.split("\n")[:-1], *self.joined(head.split("\n")[-1], block)], cost + length * f.cost

    def backward(self, budget, context, clean):
        """A loop by goto."""
        length, i, label = self.length(budget), self.fresh("i"), self.fresh("again")
        self.locals.append("int %s = 0;" % i)
        before, bound, _ = self.bound(length, "int", "")
        self.counters.append(i)
        outer = context[:-1]
        lines, cost = self.body(budget // length, outer, clean)
        return before + ["%s = 0;" % i, "%s: ;" % label, *["{", *self.indent(lines), "}"], "if (++%s < %s)" % (i, bound), "    goto %s;" % label], length * (1 + cost)

    def stepped(self, budget, context, clean):
        """The body changes the counter, too."""
        length, i, kind = self.length(budget), self.fresh("i"), self.one("int", "unsigned", "long long")
        before, bound, less = self.bound(length, kind, "")
        more = ["if (%s)" % self.test(), "    %s += %s;" % (i, self.one("1", "2", "(%s)(s & 3u)" % kind))]
        self.counters.append(i)
        block, cost = self.inside(budget, length, context, clean, more + (less or []))
        return before + self.joined("for (%s %s = 0; %s < %s; %s++)" % (kind, i, i, bound, i), block), cost

    def local_array(self, budget, context, clean):
        n, a = self.c.choice([4, 8, 16]), self.fresh("a")
        i = self.fresh("i")
        self.values.append("%s[%s & %du]" % (a, self.c.choice(["s", "t", "x"]), n - 1))
        length = self.length(max(budget - n, 1))
        self.counters.append(i)
        block, cost = self.inside(max(budget - n, 1), length, context, clean, ["%s[%s & %d] += s;" % (a, i, n - 1)])
        self.values.pop()
        if self.maybe(0.4):  # of structs
            block = [re.sub(r"\b%s\[([^\]]*)\]" % a, r"%s[\1].number" % a, line) for line in block]
            declared = "struct row %s[%d] = {{1, 2, 3u, {4, 5}}};" % (a, n)
        else:
            declared = "unsigned %s[%d] = {1u, 2u};" % (a, n)
        return [declared, *self.joined("for (int %s = 0; %s < %d; %s++)" % (i, i, length, i), block)], cost + n

    def heap(self, budget, context, clean):
        n, a, i = self.length(min(max(budget // 2, 1), 5000)), self.fresh("a"), self.fresh("i")
        before, bound, _ = self.bound(n, "int", "")
        self.counters.append(i)
        self.values.append("%s[%s %% %du]" % (a, self.c.choice(["s", "t"]), n))
        block, cost = self.inside(budget - n, n, context, clean)
        self.values.pop()
        return before + ["unsigned *%s = malloc(%d * sizeof *%s);" % (a, n, a), "if (!%s)" % a, "    abort();",
                         "for (int %s = 0; %s < %d; %s++)" % (i, i, n, i), "    %s[%s] = x + (unsigned)%s * 7u;" % (a, i, i),
                         *self.joined("for (int %s = 0; %s < %s; %s++)" % (i, i, bound, i), block), "free(%s);" % a], cost + n

    def into(self, budget, context, clean):
        """A goto into the middle of a loop."""
        length, i, label = self.length(budget), self.fresh("i"), self.fresh("in")
        self.locals.append("int %s = 0;" % i)
        before, bound, _ = self.bound(length, "int", "")
        self.counters.append(i)
        outer, cost = self.body(budget // length, context, clean)
        head = self.one("for (; %s < %s; %s++) {" % (i, bound, i), "while (%s++ < %s) {" % (i, bound))
        # a declaration must not be jumped over
        return before + ["%s = 0;" % i, "if (%s)" % self.test(), "    goto %s;" % label, head, *self.indent(self.simple()), "%s: ;" % label,
                         "    {", *self.indent(self.indent(outer)), "    }", "}"], (length + 1) * (1 + cost)

    def duff(self, budget, context, clean):
        """A switch into a loop."""
        length, i = self.length(budget), self.fresh("i")
        self.locals.append("int %s = 0;" % i)
        self.counters.append(i)
        lines = ["%s = %d;" % (i, length), "switch (%s %% 3u) {" % self.expression(1), "    do {",
                 *[line for case in ["case 0", "case 1", "default"] for line in ["    %s:" % case, *self.indent(self.indent(self.simple()))]],
                 "    } while (--%s > 0);" % i, "}"]
        return lines, length

    def forever(self, budget, context, clean):
        length, i = self.length(budget), self.fresh("i")
        before, bound, less = self.bound(length, "int", "")
        self.locals.append("int %s = 0;" % i)
        self.counters.append(i)
        test = ["if (++%s > %s)" % (i, bound), "    break;"]
        block, cost = self.inside(budget, length + 1, context, clean, less, test)
        return before + ["%s = 0;" % i, *self.joined(self.one("for (;;)", "while (1)", "for (;; s += 3u)"), block)], cost

    # ---- nests ----

    def nest(self, budget, context, clean):
        """Counted loops in each other; what they count to is known before, or an outer counter tells it."""
        depth, before, outer = self.c.choice([2, 2, 2, 3]), [], []

        def level(k, left, context):
            kind, suffix, _, negative = self.c.choice(COUNTERS[:14])
            i, by = self.fresh("i"), self.c.choice([1, 1, 1, 2, 5])
            length = self.length(max(1, min(left, 1 << 20))) if k < depth else max(1, left)
            to, up = length * by, self.maybe(0.7)
            if outer and outer[-1][1] <= 3 * length and self.maybe(0.4):
                bound, to = self.one("(%s)%s", "(%s)%s + 3", "(%s)%s / 2") % (kind, outer[-1][0]), outer[-1][1] + 3
                length = to // by + 1
            elif self.most <= to <= 4 * self.most and self.maybe(0.5):
                bound = "(%s)n" % kind
            elif self.maybe(0.7):
                bound = self.fresh("m")
                less = self.expression(0) if not outer else "x"  # of what is known there
                before.append("const %s %s = (%s)(%du - %s %% %du);" % (kind, bound, kind, to, less, to // self.c.choice([1, 4, 20]) + 1))
            else:
                bound = "%d%s" % (to, suffix)
            small = by == 1 or negative
            if up:
                begin = self.one("0", "0", "1", "-4" if negative else "0", "(%s)(x & 3u)" % kind)
                parts = (kind, i, begin, i, self.one("<", "<", "<="), bound, "%s++" % i if by == 1 else "%s += %d" % (i, by))
            else:
                end = self.one("1", "2") if small else by
                parts = (kind, i, bound, i, self.one(">", ">=") if small else ">", end, "--%s" % i if by == 1 else "%s -= %d" % (i, by))
            head = "%s %s = %s; %s %s %s; %s" % parts
            outside = self.maybe(0.2)
            if outside:
                self.locals.append("%s %s = 0;" % (kind, i))
                head = head[len(kind) + 1:]
            outer.append((i, to))
            self.counters.append(i)
            values, lines, cost = len(self.values), [], 0
            for part in range(self.c.choice([1, 1, 2])):
                more, _ = self.body(0, context, "counted", 1)
                lines += more
                if k < depth:
                    more, below = level(k + 1, left // length // (part + 1), context + ["loop"])
                    if self.maybe(0.2):
                        more = ["if (%s) {" % self.test(), *self.indent(more), "}"]
                    lines += more
                    cost += below
            if self.maybe(0.15):
                lines += ["if (%s)" % self.test(False), "    break;"]
            del self.values[values:]
            outer.pop()
            self.counters.pop()
            return ["for (%s) {" % head, *self.indent(lines), "}"] + (["t = t * 7u + (unsigned)%s;" % i] if outside else []), length * (1 + cost)

        lines, cost = level(1, budget, context)
        return before + lines, cost

    def row_loop(self, index, context, budget):
        """A loop over a row, whose length shows only here."""
        k, kind = self.fresh("k"), self.one("int", "int", "int", "long", "long long", "unsigned")
        outside = self.maybe(0.25)
        cast = "" if kind == "int" else "(%s)" % kind
        begin, end, before = "r->begin[%s]" % index, "r->end[%s]" % index, []
        form = self.c.randrange(7)
        if kind == "unsigned":  # the end may be before the beginning, but not before 0
            pass
        elif form == 0:
            begin, end = "r->row[%s].in.low" % index, "r->row[%s].in.high" % index
        elif form == 1:
            begin, end = "r->row[%s].from" % index, "r->row[%s].from + (int)r->row[%s].length" % (index, index)
        if form in (2, 3):
            b, e = self.fresh("b"), self.fresh("e")
            before = ["const %s %s = %s%s, %s = %s%s;" % (kind, b, cast, begin, e, cast, end)]
            begin, end, cast = b, e, ""
        elif form == 4:
            p = self.fresh("p")
            before = ["const int *%s = &r->end[%s];" % (p, index)]
            end = "*" + p
        elif form == 5 and re.fullmatch(r"i\d+", index) and not outside and kind == "int":
            begin, end = "0", self.one(index + " % 20", "(" + index + " & 15) + 1")  # of an outer counter
        step = self.c.choice([1, 1, 1, 2, 5])
        if outside:
            self.locals.append("%s %s = 0;" % (kind, k))
        self.counters.append(k)
        value = "r->value[%s]" % k
        lines = [self.one("s = s * 3u + %s;" % value, "t ^= %s >> (t & 7u);" % value, "s += %s;" % value,
                          "d = d * 0.5 + r->weight[%s];" % k, "words[%s & 63u] += t;" % value)]
        if self.maybe(0.4):
            more, _ = self.body(0, context + ["loop"], "counted", 1)
            lines[self.c.choice([0, 1]):0] = more
        if kind != "unsigned" and self.maybe(0.3):  # downwards
            top = "%s%s - 1" % (cast, end) if cast else "%s - 1" % end
            head = "%s = %s; %s >= %s%s; %s" % (k, top, k, cast, begin, "--%s" % k if step == 1 else "%s -= %d" % (k, step))
        else:
            step = "%s++" % k if step == 1 else "%s += %d" % (k, step)
            head = "%s = %s%s; %s < %s%s; %s" % (k, cast, begin, k, cast, "(%s)" % end if cast else end, step)
        self.counters.pop()
        return before + ["for (%s%s) {" % ("" if outside else kind + " ", head), *self.indent(lines), "}"] + (["t = t * 7u + (unsigned)%s;" % k] if outside else [])

    def one_row(self, budget, context, clean):
        index = "%s %% %du" % (self.expression(0), self.program.rows)
        v = self.fresh("q")
        return ["const int %s = (int)(%s);" % (v, index), *self.row_loop(v, context[:-1], budget)], self.program.longest

    def rows(self, budget, context, clean):
        """Rows of a sparse matrix."""
        i, outside = self.fresh("i"), self.maybe(0.2)
        bound = self.one("r->n", "%d" % self.program.rows, "m")
        before = ["const int m_%s = r->n;" % i] if bound == "m" else []
        bound = "m_" + i if bound == "m" else bound
        if outside:
            self.locals.append("int %s = 0;" % i)
        self.counters.append(i)
        lines, pure, cost = [], "counted" if clean or self.maybe(0.75) else False, self.program.average
        left = budget // self.program.rows - self.program.average
        if self.maybe(0.3):
            lines += ["if (%s)" % self.test(), "    continue;"]
        lines += self.row_loop(i, context, left)
        while self.maybe(0.35):
            if self.maybe(0.4):
                lines += ["if (%s) {" % self.test(), *self.indent(self.row_loop(i, context, left)), "}"]
            else:
                lines += self.row_loop(i, context, left)
            cost += self.program.average
        more, k = self.body(max(0, left - cost), context, pure)
        lines[self.c.choice([0, len(lines)]):0] = more
        if self.maybe(0.15):
            lines.append("r->end[{0}] = r->begin[{0}] + (int)(s % 9u);".format("(unsigned)%s * 7u %% %du" % (i, self.program.rows)))
        if self.maybe(0.2):
            lines += ["if (%s)" % self.test(False), "    break;"]
        head = self.c.choice(["for (%s = 0; {i} < {b}; {i}++)"] * 4 + ["for (%s = {b} - 1; {i} >= 0; --{i})", "for (%s = 1; {i} < {b}; {i} += 2)"])
        head = head.format(i=i, b=bound) % (i if outside else "int " + i)
        return before + self.joined(head, ["{", *self.indent(lines), "}"]) + (["s += (unsigned)%s;" % i] if outside else []), self.program.rows * (cost + k)

    # ---- functions ----

    def write(self, budget):
        """The text of the function."""
        c, form = self.c, self.c.random()
        self.has_set = c.random() < 0.6
        self.most = self.length(max(2, budget // 2))
        self.cost = 0
        recursive = form < 0.12
        jumps = 0.12 <= form < 0.24
        held = 0.24 <= form < 0.3
        lines = []
        if held:
            self.has_set = False
        parts = c.randint(1, 3)
        share = budget // parts // (4 if recursive else 1)
        for _ in range(parts):
            kind, cost = self.loop(max(share, 4), [], self.one("plain", False)) if self.maybe(0.8) else self.statement(share, [], False)
            lines += kind
            self.cost += cost
            if self.labels and not self.labels[-1][1]:
                self.labels[-1][1] = True
                lines += ["%s: ;" % self.labels[-1][0], "s += %du;" % c.randrange(1000)]
        parameters = "unsigned x, int n" + (", struct set *r" if self.has_set else "")
        arguments = ", r" if self.has_set else ""
        head = ["unsigned s = x, t = x ^ %du;" % c.randrange(1 << 16), "double d = 0.5;"]
        if self.maybe(0.3):
            head.append("static unsigned calls = %du;" % c.randrange(100))
            lines.append("calls = calls * 5u + s;")
            lines.append("t ^= calls;")
        tail = ["history[s & %du] += t + (unsigned)(int)d + (unsigned)n;" % (HISTORY - 1), "return s ^ t * 31u;"]
        if recursive:
            # the lowest bits of x count the depth
            lines = ["if (depth == 3u || n <= 0)", "    return x;", *lines, "for (int again = 0; again < %d; again++) {" % c.randint(1, 2),
                     "    s = s * 3u + %s(s << 2 | (depth + 1u), n - 1%s);" % (self.name, arguments), "}"]
            head.append("const unsigned depth = x & 3u;")
            self.cost = self.cost * 8 + 8
        text = ["static unsigned %s(%s)" % (self.name, parameters), "{", *self.indent(head + self.locals + lines + tail), "}"]
        if held:
            text[2:2] = ["    unsigned room[(n & 63) + 1];", "    for (int i = 0; i <= (n & 63); i++)", "        room[i] = x * (unsigned)(i + 1);"]
            text[-3:-3] = ["    for (int i = n & 63; i >= 0; i--)", "        s = s * 3u + room[i];"]
            text.insert(0, "#pragma dome hold")
            self.cost += 128
        if jumps:
            text += self.jumping(budget, parameters, arguments)
        return text

    def jumping(self, budget, parameters, arguments):
        """A function that calls this one, and is left by a longjmp from below, out of loops."""
        name, rounds = self.name + "_jump", self.c.randint(1, 3)
        inner = self.length(max(1, min(budget // (self.cost + 1), 200)))
        called, self.name = self.name, name
        self.cost = rounds * inner * (self.cost + 2)
        modulus = self.c.choice([3, 17, 61])
        lines = ["volatile unsigned s = x;", "for (int round = 0; round < %d; round++) {" % rounds,
                 self.one("    if (setjmp(back) == 0) {", "    if (!setjmp(back)) {"),
                 "        for (int i = 0; i < %d; i++) {" % inner, "            s = s * 3u + %s(s, n%s);" % (called, arguments),
                 self.one("            for (int k = 0; k < 3; k++)\n                throw_%s(s + (unsigned)k);", "            throw_%s(s);",
                          "            s += throw_%s(s);") % name,
                 "        }", "    } else {", "        s ^= 0x55u;", "        for (int i = 0; i < %d; i++)" % self.c.choice([2, 9, 40]),
                 "            s += (unsigned)i;", "    }", "}", "return s;"]
        thrower = ["static unsigned throw_%s(unsigned x)" % name, "{", "    for (unsigned i = 0; i < (x & 15u); i++)", "        if ((x ^ i) %% %du == 1u)" % modulus,
                   "            longjmp(back, 1 + (int)(i & 1u));", "    return x >> 3;", "}"]
        return ["", *thrower, "", "static unsigned %s(%s)" % (name, parameters), "{", *self.indent(lines), "}"]


class Program:
    def __init__(self, chance, work, long_rows, strips):
        """`work`: iterations that a function may take."""
        self.c, self.functions, self.table, self.bounds = chance, [], [], 0
        self.strips = strips  # loops are cut
        self.rows = chance.choice([5, 9, 13]) if work < 20000 else chance.choice([50, 200, 300, 1000])
        self.longest = chance.choice([20, 60]) if work < 20000 else long_rows
        self.numbers = 40 + self.longest + 30
        self.average = 10 + 3 * self.longest // self.rows
        count = chance.randint(2, 6)
        texts = []
        for k in range(count):
            f = Function(self, "f%d" % k)
            texts += [*f.write(work), ""]
            self.functions.append(f)
            same = [g for g in self.functions if not g.has_set and g.cost < work // 50]
            if not self.table and len(same) >= 2 and chance.random() < 0.5:
                self.table = [g.name for g in same[:2]]
                texts += ["static unsigned (*const table[])(unsigned, int) = {%s};" % ", ".join(self.table), ""]
                for g in same[:2]:
                    g.most = min(g.most for g in same[:2])
        bounds = "static struct bounds bounds[%d];" % (self.bounds + 1)
        self.text = "\n".join([HEAD, bounds, "", *self.small(), "", *texts, *self.set(), "", *self.main()]) + "\n"

    def small(self):
        """A function without polls, of which there is a loop in many programs."""
        loop = self.c.choice(["", "    for (int i = 0; i < %d; i++)\n        x = x * 5u + (unsigned)i;\n" % self.c.choice([2, 6, 30])])
        lessen = [line for kind in ("int", "unsigned", "long", "long long")
                  for line in ("static void less_%s(%s *bound)" % (kind.replace(" ", "_"), kind), "{", "    if (*bound > 2)", "        *bound -= 2;", "}", "")]
        return ["static const struct bounds none;", "", *lessen] + ["static unsigned small(unsigned x)\n{\n%s    return x ^ x >> 7;\n}" % loop]

    def set(self):
        """Rows that are empty, short, long, and of negative length."""
        c, third = self.c, max(2, self.rows // 3)
        return ["static void fill(struct set *r, unsigned state)", "{", "    r->n = %d;" % self.rows,
                "    r->begin = malloc(%d * sizeof(int));" % self.rows, "    r->end = malloc(%d * sizeof(int));" % self.rows,
                "    r->value = malloc(%d * sizeof(unsigned));" % self.numbers, "    r->weight = malloc(%d * sizeof(double));" % self.numbers,
                "    r->row = malloc(%d * sizeof(struct row));" % self.rows, "    r->list = NULL;",
                "    if (!r->begin || !r->end || !r->value || !r->weight || !r->row)", "        abort();",
                "    for (int i = 0; i < %d; i++) {" % self.numbers, "        state = state * 1664525u + 1013904223u;", "        r->value[i] = state >> 9;",
                "        r->weight[i] = (double)(state >> 20) * 0.25;", "    }", "    for (int i = 0; i < r->n; i++) {",
                "        state = state * 1664525u + 1013904223u;",
                "        const int begin = 4 + (int)(state >> 16) % 30,",
                "            length = i %% 7 == 3 ? 0 : i %% %d == %d ? %d : i %% 11 == 1 ? -3 : (int)(state >> 28);" % (third, c.randrange(third), self.longest),
                "        r->begin[i] = begin;", "        r->end[i] = begin + length;",
                "        r->row[i] = (struct row){(short)begin, (unsigned char)(length < 0 ? 0 : length % 29), state, {begin, begin + length}};",
                "        struct item *p = malloc(sizeof *p);", "        if (!p)", "            abort();", "        *p = (struct item){r->list, state >> 3};",
                "        r->list = p;", "    }", "}"]

    def main(self):
        c = self.c
        lines = ["struct set set;", "unsigned all = %du;" % c.randrange(1 << 32), "fill(&set, %du);" % c.randrange(1 << 32),
                 "for (int i = 0; i < %d; i++) {" % BYTES, "    bytes[i] = (unsigned char)(i * 37 + %d);" % c.randrange(99),
                 "    words[i & %d] = (unsigned)i * 2654435761u;" % (WORDS - 1), "    numbers[i & %d] = (i * 53 & 255) - 100;" % (NUMBERS - 1),
                 "    reals[i & %d] = i * 0.5;" % (REALS - 1), "}", "for (int round = 0; round < %d; round++) {" % c.randint(1, 2)]
        for f in self.functions:
            n = c.choice([str(f.most), "%d - round" % f.most])
            lines += ["    all = all * 31u + %s(all, %s%s);" % (f.name, n, ", &set" if f.has_set else ""), '    printf("%u\\n", all);']
        lines += ["}", "for (int i = 0; i < %d; i++)" % BYTES,
                  "    all = all * 31u + (words[i & %d] ^ (unsigned)numbers[i & %d] ^ bytes[i]);" % (WORDS - 1, NUMBERS - 1),
                  "for (int i = 0; i < %d; i++)" % REALS,
                  "    all = all * 31u + (history[i & %d] ^ (unsigned)(int)reals[i]);" % (HISTORY - 1),
                  "for (int i = 0; i < %d; i++)" % self.numbers, "    all = all * 31u + (set.value[i] ^ (unsigned)(int)set.weight[i]);",
                  'printf("%u\\n", all);', "return 0;"]
        return ["int main(void)", "{", *["    " + line for line in lines], "}"]


def profile(directory, chance, work, real):
    """A profile of a program that does `work` between two polls: options."""
    name = os.path.join(directory, "program.polls")
    lines = []
    if real:
        done = run([generated.CC, "-O0", "--polls=profile", "-w", "program.c", "-o", "counting", "-lm"], directory, 300)
        check(done is not None and done[0] == 0, "--polls=profile: %s" % (done and done[2][:300]))
        done = run(["./counting"], directory, 120, variables={"DOME_POLLS": name})
        check(done is not None and done[0] == 0, "the program that counts: %s" % (done and done[2][:300]))
        with open(name) as f:
            lines = [line for line in f if not line.startswith("run ")]
    with open(name, "w") as f:  # a second has 4 times as much work as is between two polls; of 1000 seconds polls take few
        f.writelines([*lines, "run 0 0 1000000000 0 0 %d -\n" % (4000 * work)])
    return ["--polls=" + name, "--max-interval=1s", "--max-overhead=50%"]


def choose(chance):
    """Where a program polls, and the iterations that a function may take."""
    k = chance.random()
    if k < 0.2:
        return "every", 1500
    if k < 0.35:
        return str(chance.choice([1, 2, 4, 8, 16, 3, 5, 9, 10, 20, 24, 26, 31, 0])), 3000
    if k < 0.6:
        return "auto", chance.choice([200000, 600000])
    work = chance.choice([1000, 1000, 4000, 20000, 60000, 60000, 200000])
    return ("counted" if k < 0.7 else "bare", work), min(max(3 * work // 2, 4000), 300000)


def generate(chance, directory):
    """A program that polls: what the compiler's program does, the build, its number of polls."""
    while True:
        places, work = choose(chance)
        long_rows = chance.choice([300, 1500, 20000]) if work >= 20000 else 60
        with open(os.path.join(directory, "program.c"), "w") as f:
            f.write(Program(chance, work, long_rows, places == "auto" or isinstance(places, tuple)).text)
        plain = run(compiled(directory, "plain", ["-O1"]), directory, 1)
        if plain is None:
            pass_over("does not end in 1 s")
            continue
        check(plain[0] == 0, "the plain program ends with status %d" % plain[0])
        sanitized = compiled(directory, "sanitized", ["-O1", "-fsanitize=undefined,address,float-cast-overflow", "-fno-sanitize-recover"])
        done = run(sanitized, directory, 60, variables={"ASAN_OPTIONS": "detect_leaks=0"})
        if done is None:
            pass_over("does not end in 60 s with sanitizers")
            continue
        check(done[:2] == plain[:2], "with sanitizers: status %d, %s" % (done[0], done[2][:600]))
        polls = profile(directory, chance, places[1], places[0] == "counted") if isinstance(places, tuple) else ["--polls=" + places]
        build = Build(directory, "O0", ["-O0"], polls)
        check(not build.why, "refused: %s" % build.why)
        done = build.run(directory, 60)
        judge("undisturbed", done, plain)
        if FEWEST <= done[3] <= MOST:
            return plain, build, done[3]
        pass_over("fewer than %d polls" % FEWEST if done[3] < FEWEST else "more than %d polls" % MOST)


if __name__ == "__main__":
    generated.run_campaign("programs of loops", generate, 40)
