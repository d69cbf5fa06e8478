"""Looks into the objects of every variant of the kernels (objdump) for loops that compute one value at a time. Whether a compiler finds
vectors in a loop changes from one version to the next, and nobody sees it but by time.

    kernel_loops.py BUILD       or: kernel_loops.py OBJECT...

A loop that reads ahead (prefetch) is the main loop of a reduction: it must have vector arithmetic and none on single values. Any other
function with loops must have one with vector instructions, and none that does the same with single values eight times. EXCEPTIONS
has the others, and why. With BUILD also the sums that programs write by the macros of dome/map.h, compiled with -O3."""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

# (function, variants or None for all, reason)
EXCEPTIONS = [
    (r"(r?div|fmod|floor_divide|remainder)s?_[iu]\d+", None, "processors do not divide vectors of integers"),
    (r"r?pows?_\w+", None, "the C library's, or repeated multiplication of one value"),
    (r"(exp2?|expm1|log|log2|log10|log1p|a?sin|a?cos|a?tan|a?sinh|a?cosh|a?tanh|atan2|cbrt|erfc?|hypot|"
     r"logaddexp|nextafter|(fmod|floor_divide|remainder)s?|arg)_[fc]\d+", None,
     "the C library's"),
    (r"(floor|ceil|trunc|round)_f\d+", None, "gcc rounds vectors only where no exceptions have to be kept"),
    (r"signbit_f64", None, "gcc takes the signs of doubles one by one"),
    (r"[lr]shifts?_[iu]\d+", ("baseline",), "SSE2 shifts all values by one count"),
    (r"lshifts_u8", ("avx2",), "AVX2 does not shift bytes"),
    (r"(real|imag)_c\d+", None, "no arithmetic"),
    (r"(sqrt|abs)_c\d+", None, "the C library's"),
    (r"div_c\d+", None, "decides for each value by which part to divide"),
    (r"iota_\w+", None, "counts in integers of 64 bits, which are not converted in vectors everywhere"),
    (r"random_\w+", None, "products of 64 bits, which not all processors have in vectors"),
    (r"convert_\w+", None, "from and to integers of 64 bits, which are not converted in vectors everywhere; or a copy"),
    (r"(fill|copy)_\w+", None, "no arithmetic"),
    (r"select_bytes", None, "no arithmetic"),
    (r"product_u64", ("baseline", "avx2"), "integers of 64 bits are not converted in vectors"),
    (r"abs_u\d+", None, "a copy"),
    (r"((muls?|mins?|maxs?|abs|extreme|dot)_[iu]64)|((dot|squares)_i32)", ("baseline",), "SSE2 does not compare or multiply so long integers"),
    (r"(eq|ne|lt|le|gt|ge)s?_([iuf]64|c128)|(sign|signbit)_[iu]64|isnan_(f64|c128)|select_64", ("baseline",), "SSE2 has no comparison of so long values into bytes"),
    (r"add_short_blocks|add_blocks", None, "ends of short blocks"),
    (r"dome__\w+", None, "finds a kernel in a table, or ends what vectors have begun"),
]

ARITHMETIC = r"(add|sub|mul|div|sqrt|min|max)"
SINGLE = re.compile(r"v?%ss[sd]$" % ARITHMETIC)
PACKED = re.compile(r"v?%sp[sd]$" % ARITHMETIC)
VECTOR = re.compile(r"(v?(add|sub|mul|div|sqrt|min|max|and|or|xor|andn|cmp\w*|blend\w*|cvt\w*2)p[sd]|v?p(add|sub|mul|min|max|and|or|xor|cmp|sr|sl|abs"
                    r"|blend|tern|madd|sign)\w*)$")
JUMP = re.compile(r"j\w+$")
END = re.compile(r"(ret|hlt|ud2)")


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def cached(build, name):
    with open(os.path.join(build, "CMakeCache.txt")) as f:
        for line in f:
            if line.startswith(name + ":"):
                return line.split("=", 1)[1].strip()
    return ""


def functions(path):
    """{function: [(address, instruction, operands)]}"""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-w", path], capture_output=True, text=True, check=True).stdout
    if not re.search(r"file format elf64-x86-64", text):
        skip("%s is not of an x86-64" % path)
    found, code = {}, []
    for line in text.splitlines():
        name = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if name:
            code = found.setdefault(name.group(1), [])
        at = re.match(r"\s*([0-9a-f]+):\s+((?:(?:rep|repz|lock|bnd|notrack) )?\S+)\s*(.*)$", line)
        if at:
            code.append((int(at.group(1), 16), at.group(2), at.group(3)))
    return found


def innermost_loops(code):
    """Sets of instruction numbers. A loop is what leads from a jump's target back to the jump."""
    number = {address: k for k, (address, _, _) in enumerate(code)}
    before = collections.defaultdict(set)
    jumps = []
    for k, (_, instruction, operands) in enumerate(code):
        target = re.match(r"([0-9a-f]+) <", operands) if JUMP.match(instruction) else None
        to = number.get(int(target.group(1), 16)) if target else None
        if to is not None:
            before[to].add(k)
            if to <= k:
                jumps.append((to, k))
        if instruction != "jmp" and not END.match(instruction) and k + 1 < len(code):
            before[k + 1].add(k)
    loops = []
    for head, tail in jumps:
        loop, left = {head}, [tail]
        while left:
            k = left.pop()
            if k not in loop:
                loop.add(k)
                left.extend(before[k])
        if head == 0 or 0 not in loop:  # otherwise there is a way into it beside its head: no loop, but an arrangement of code
            loops.append(frozenset(loop))
    return [a for a in set(loops) if not any(b < a for b in loops)]


def complaint(code):
    """What is wrong with a function, or None."""
    loops = innermost_loops(code)
    if not loops:
        return None
    has_vectors = False
    for loop in loops:
        instructions = [code[k][1] for k in loop]
        single = collections.Counter(i.lstrip("v") for i in instructions if SINGLE.match(i))
        packed = sum(1 for i in instructions if PACKED.match(i))
        vectors = sum(1 for i in instructions if VECTOR.match(i))
        has_vectors |= vectors > 0
        counted = ", ".join("%d %s" % (n, i) for i, n in sorted(single.items()))
        if any(i.startswith("prefetch") for i in instructions) and (single or not vectors):
            return "its main loop has %s and %d vector operations" % (counted or "no arithmetic on single values", packed)
        if single and max(single.values()) >= 8 and max(single.values()) > packed:
            return "a loop has %s and %d vector operations" % (counted, packed)
    return None if has_vectors else "no loop of it has vector instructions"


def objects(build):
    """{variant: [objects]}"""
    found = collections.defaultdict(list)
    for top, _, files in os.walk(os.path.join(build, "CMakeFiles")):
        variant = re.search(r"dome_(parts|kernels_(\w+))\.dir/src/kernels$", top)
        for name in files if variant else ():
            if re.match(r"kernels(_pair|_reduce)?\.c\.o$", name):
                found[variant.group(2) or "baseline"].append(os.path.join(top, name))
    return found


SUMS = """#include <dome/map.h>
double one(dvec *x) { double s; DVEC_SUM1(s, double, x, x * x); return s; }
double two(dvec *x, dvec *y) { double s; DVEC_SUM2(s, double, x, y, x * y); return s; }
double single(dvec *x, dvec *y) { double s; DVEC_SUM2(s, float, x, y, x * y); return s; }
double stored(dvec *z, dvec *x, dvec *y) { double s; DVEC_MAP_SUM2(s, double, z, x, y, x + y); return s; }
"""


def sums_of_programs(build):
    """Those of the functions of SUMS, as gcc translates them, that have no loop with more vector operations than others."""
    compiler = cached(build, "CMAKE_C_COMPILER")
    include = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include")
    bad = []
    if "clang" in subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout:
        return bad  # the ends of its loops are loops over single values, too
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sums.o")
        subprocess.run([compiler, "-O3", "-x", "c", "-", "-I", include, "-c", "-o", path], input=SUMS, text=True, check=True)
        for name, code in functions(path).items():
            loops = [[code[k][1] for k in loop] for loop in innermost_loops(code)]
            singles = [sum(1 for i in loop if SINGLE.match(i)) for loop in loops]
            if not any(sum(1 for i in loop if PACKED.match(i)) for loop in loops) or max(singles) >= 8:
                bad.append("%s of dome/map.h: single operations in loops: %s" % (name, singles))
    return bad


def main():
    if not shutil.which("objdump"):
        skip("objdump is not installed")
    if os.path.isdir(sys.argv[1]):
        build = sys.argv[1]
        if cached(build, "CMAKE_BUILD_TYPE") == "Debug":
            skip("a debug build is not optimized")
        if cached(build, "DOME_SANITIZE"):
            skip("sanitizers change what is compiled")
        variants = objects(build)
    else:
        variants = {"given": sys.argv[1:]}
    bad, seen = sums_of_programs(sys.argv[1]) if "baseline" in variants else [], 0
    for variant, paths in sorted(variants.items()):
        for path in sorted(paths):
            for name, code in functions(path).items():
                plain = name.split(".")[0]
                if any(re.fullmatch(e, plain) and (not where or variant in where) for e, where, _ in EXCEPTIONS):
                    continue
                seen += 1
                why = complaint(code)
                if why:
                    bad.append("%s, %s: %s" % (variant, name, why))
    print("\n".join(bad + ["%d functions of %d kinds of kernels; %d with loops over single values" % (seen, len(variants), len(bad))]))
    if not seen:
        sys.exit("kernel_loops: the objects were not found")
    sys.exit(1 if bad else 0)


main()
