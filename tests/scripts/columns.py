"""Text files of columns that other programs write, and what they read from odd ones: Python's csv for fields, float() and NumPy's
genfromtxt for numbers.

    columns.py [SEED]

tests/programs/table reads the files; all cases of one number of tasks are one run of it."""

import csv
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile

import modules

modules.need("numpy")
import numpy  # noqa: E402

BUILD, RUN_MULTI = os.environ["DOME_BUILD_DIR"], os.environ["RUN_MULTI"]
TABLE = os.path.join(BUILD, "tests", "programs", "table")
MISSING = ("", "na", "n/a", "null", "none", "nan")
failures = []


def number(text):
    return float("nan") if text.strip().lower() in MISSING else float(text)


def shown(values, dtype, width=1):
    array = numpy.array(values, dtype)
    if dtype != "u1":
        array = numpy.where(numpy.isnan(array), numpy.array(numpy.nan, dtype), array) if dtype[0] == "f" else array
    return " %dx%d:%s" % (len(values) // width, width, array.tobytes().hex())


def texts(values, width):
    data = b"".join(value.encode().ljust(width, b"\0") for value in values)
    return " %dx%d:%s" % (len(values), width, data.hex())


class Cases:
    """Files, what is wanted of each, and what the line must be: a string, or a function of it."""

    def __init__(self, folder):
        self.folder, self.lines, self.expected = folder, [], []

    def add(self, text, columns, expected, separator=",", comment="", skip=0):
        path = os.path.join(self.folder, "%d.csv" % len(self.lines))
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        self.lines.append("%s %d %d %d %s" % (path, ord(separator), ord(comment) if comment else 0, skip, columns))
        self.expected.append((path, expected))

    def run(self, tasks):
        path = os.path.join(self.folder, "cases")
        with open(path, "w") as file:
            file.write("".join(line + "\n" for line in self.lines))
        done = subprocess.run([RUN_MULTI, tasks, TABLE, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = done.stdout.splitlines()
        if done.returncode != 0 or len(lines) < len(self.expected):
            failures.append("%s tasks: status %d: %s" % (tasks, done.returncode, done.stdout[-2000:]))
            return
        for line, (path, expected) in zip(lines, self.expected):
            if line != path + expected and not (expected.startswith(" failed") and line.startswith(path + expected)):
                with open(path, "rb") as file:
                    failures.append("%s tasks: %r:\n  %s\n  instead of\n  %s" % (tasks, file.read()[:500], line[:500], (path + expected)[:500]))


# ---- files that Python's csv writes, and reads with the same fields ----

def random_text(draw):
    words = ["a", "Z 9", 'say "x"', '"', '""', ",", ";", "\t", "two\nlines", "\r\n", "ä", "☃", "#1", "", "x" * draw.randrange(40), "'", "\\", "\\n"]
    return "".join(draw.choice(words) for _ in range(draw.randrange(4))).strip(" \t\r\n")


def random_number(draw):
    return draw.choice([repr(draw.uniform(-1, 1)), repr(draw.uniform(-1, 1) * 10.0 ** draw.randrange(-320, 308)), str(draw.randrange(-10**6, 10**6)),
                        "%.30e" % draw.random(), "%d" % draw.getrandbits(200), "inf", "-Infinity", "nan", "", "NA", "+.5", "5.", "1E+3", "-0",
                        "0." + "0" * draw.randrange(400) + "1", "4.9e-324", "2.4703282292062327e-324", "1.7976931348623158e308", "1e400"])


def add_written(cases, draw):
    separator = draw.choice(",;\t|")
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator=draw.choice(["\n", "\r\n"]),
                        quoting=draw.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]))
    rows = [[random_text(draw), random_number(draw), random_text(draw)] for _ in range(draw.choice([0, 1, 2, 3, 30]))]
    names = ["name", "with blank", 'a "quoted" one']
    writer.writerow(names)
    writer.writerows(rows)
    text = file.getvalue()
    if draw.randrange(2):
        text = text.rstrip("\r\n") if rows and rows[-1][2] else text
    back = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    assert back == [names] + rows, (back, rows)
    expected = shown([number(row[1]) for row in rows], "f8") + texts([row[2] for row in rows], 200) + texts([row[0] for row in rows], 200)
    cases.add(draw.choice(["", "\ufeff"]) + text, 'f64:=with+blank t200:2 t200:=name', expected, separator)


# ---- files of numbers that genfromtxt reads ----

def add_numbers(cases, draw):
    separator, columns = draw.choice([",", ";", " "]), draw.randrange(1, 6)
    filled = (lambda: draw.choice(["1.5", "-2e-7", "nan", "inf", "7", "1e22", "123456789012345678901234567890", ".1"]))
    text = "".join("a line, 'to' skip\n" for _ in range(draw.randrange(3)))
    skip = text.count("\n")
    end = draw.choice(["\n", "\r\n"])
    for _ in range(draw.randrange(1, 20)):
        if draw.randrange(4) == 0:
            text += draw.choice(["", "# a remark, 1,2", "   ", "  # more"]) + end
        fields = [filled() if separator == " " or columns == 1 or draw.randrange(5) else draw.choice(["", "NA"]) for _ in range(columns)]
        joint = draw.choice([separator, " " + separator, separator + " "])
        text += draw.choice(["", " "]) + joint.join(fields) + draw.choice(["", "", " # why"]) + end
    if draw.randrange(2):
        text = text.rstrip("\r\n")
    array = numpy.genfromtxt(io.StringIO(text), delimiter=None if separator == " " else separator, skip_header=skip, comments="#", ndmin=2)
    cases.add(text, "all", shown(list(array.ravel()), "f8", array.shape[1]), separator, "#", skip)


# ---- odd ones ----

def add_odd(cases):
    one = lambda *values: shown(values, "f8")
    cases.add("", "all", " 0x1:")
    cases.add("\n\n \n", "all", " 0x1:")
    cases.add("1", "all", one(1))
    cases.add("1\n2", "all", one(1, 2))
    cases.add("\ufeff1\r\n\r\n2\r\n", "all", one(1, 2))
    cases.add('"1"\n" 2 "\n"3\n"', "all", one(1, 2, 3))
    cases.add("1,\"a\"\"b\"\n2,\n", "f64:0 t4:1", one(1, 2) + texts(['a"b', ""], 4))
    cases.add("a\x1b[31m,b\n1,2\n", "f64:=b", one(2))
    cases.add("a\x1b[31m,b\n1,2\n", "f64:=c", " failed: dvec_read_columns: '")
    cases.add("x" * 100000 + ",1\n,2\n", "f64:1", one(1, 2))
    cases.add("1," * 3000 + "1\n" + "2," * 3000 + "2\n", "f64:3000 f64:0", one(1, 2) + one(1, 2))
    cases.add("9223372036854775807\n-9223372036854775808\n", "i64:0", shown([2**63 - 1, -2**63], "i8"))
    for text in ("0x1p3", "0x10", "1_000", "1,5", "1e", "--1", "1.2.3", "1 2", "infinit", "nan(1)", "\u0661", "9223372036854775808", "1e5"):
        cases.add("1\n%s\n" % text, "i64:0", " failed: dvec_read_columns: '")
    for text in ("0x1p3", "0x10", "1_000", "1e", "--1", "1.2.3", "1 2", "infinit", "nan(1)", "\u0661", "1f", "1d5"):
        cases.add("1\n%s\n" % text, "f64:0", " failed: dvec_read_columns: '")
    cases.add("1\r2\r3\r", "all", " failed: dvec_read_text: '")
    cases.add("a,b\n1,2\0\n", "f64:=a", " failed: dvec_read_columns: '")
    cases.add("a,b\n1,2\n".encode("utf-16"), "f64:=a", " failed: dvec_read_columns: '")


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    draw = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="dome-columns.")
    try:
        cases = Cases(folder)
        add_odd(cases)
        for _ in range(150):
            add_written(cases, draw)
            add_numbers(cases, draw)
        for tasks in ("self", "3"):
            cases.run(tasks)
    finally:
        shutil.rmtree(folder)
    for text in failures[:10]:
        print("failed: " + text)
    if failures:
        sys.exit("%d of %d cases fail" % (len(failures), 2 * len(cases.expected)))
    print("ok: %d files, by 1 and by 3 tasks" % len(cases.expected))


main()
