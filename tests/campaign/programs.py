"""Programs that nobody here wrote, from Debian's sources, by dome-cc: their own tests pass, and each is stopped and continued 100 times at
random and does what the compiler's program does.

    programs.py [TIMES [SEED [NAME...]]]

The sources are kept in build/tests/debian. What of them is refused, and why: docs/dome-cc.md."""

import bz2
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import zlib

import harness
from harness import Failure, check

BUILD = os.path.abspath(harness.BUILD)
CC = os.path.join(BUILD, "tools", "dome-cc")
STORE = os.path.join(BUILD, "tests", "debian")
HERE = os.path.dirname(os.path.abspath(__file__))


# ---- Debian's sources ----


def apt_options():
    """apt with a state of its own, and the sources of this Debian."""
    state = os.path.join(STORE, "apt")
    for d in ("state/lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(state, d), exist_ok=True)
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)', open("/etc/os-release").read(), re.M))
    key = "/usr/share/keyrings/debian-archive-keyring.gpg"
    with open(os.path.join(state, "sources.list"), "w") as f:
        f.write("deb-src %shttp://deb.debian.org/debian %s main\n" % ("[signed-by=%s] " % key if os.path.exists(key) else "", release.get("VERSION_CODENAME", "stable")))
    return ["-q", "-o", "Dir::Etc::sourcelist=" + os.path.join(state, "sources.list"), "-o", "Dir::Etc::sourceparts=-", "-o", "Dir::State=" + os.path.join(state, "state"),
            "-o", "Dir::Cache=" + os.path.join(state, "cache"), "-o", "Acquire::Languages=none", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3"]


def source(package):
    """The folder with the package's sources, or a skip with the reason."""
    place = os.path.join(STORE, package)
    if not os.path.exists(os.path.join(place, "complete")):
        for tool in ("apt-get", "dpkg-source"):
            if not shutil.which(tool):
                harness.skip(tool + " is not installed")
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        options, log = apt_options(), os.path.join(place, "log")
        with open(log, "w") as f:
            if not os.path.exists(os.path.join(STORE, "apt", "updated")):
                if subprocess.run(["apt-get", *options, "update"], stdout=f, stderr=f).returncode == 0:
                    open(os.path.join(STORE, "apt", "updated"), "w").close()
            done = subprocess.run(["apt-get", *options, "source", "--only-source", "--download-only", package], cwd=place, stdout=f, stderr=f)
            if done.returncode != 0:
                harness.skip("no sources of %s from Debian: %s" % (package, (re.findall(r"^[EW]: .*", open(log).read(), re.M) or ["see " + log])[-1]))
            dsc = next(n for n in os.listdir(place) if n.endswith(".dsc"))
            check(subprocess.run(["dpkg-source", "--no-check", "-x", dsc, "src"], cwd=place, stdout=f, stderr=f).returncode == 0, "dpkg-source: see " + log)
        open(os.path.join(place, "complete"), "w").close()
    return os.path.join(place, "src")


# ---- the programs ----


def run(command, cwd, **more):
    done = subprocess.run(command, cwd=cwd, env=harness.clean_environment(), stdin=more.pop("stdin", subprocess.DEVNULL), capture_output=True, **more)
    check(done.returncode == 0, "%s: status %d: %s" % (" ".join(command)[:200], done.returncode, (done.stderr or done.stdout)[-1500:].decode(errors="replace")))
    return done.stdout


def sources_in(src, folder, leave=()):
    return sorted(os.path.join(folder, n) for n in os.listdir(os.path.join(src, folder)) if n.endswith(".c") and n not in leave)


def text_file(path, chance, size):
    """Compressible text."""
    words = ["".join(chance.choice("etaoinshrdlu") for _ in range(chance.randrange(2, 9))) for _ in range(3000)]
    with open(path, "w") as f:
        while f.tell() < size:
            f.write(" ".join(chance.choice(words) for _ in range(12)) + "\n")


class Program:
    """build(compiler, to): compiles it; own_tests(compiler, folder): those that it brings; arguments, what it reads, and files that it writes
    beside its standard output: a long run; signals: what stops it."""

    package = None
    reads = None
    writes = ()
    signals = (signal.SIGTERM, signal.SIGKILL)

    def __init__(self, work):
        self.src, self.work = source(self.package), work

    def compile(self, compiler, to, files, *more):
        run([*compiler, "-O2", "-w", *more, *files, "-o", to, "-lm"], self.src)

    def own_tests(self, compiler, folder):
        return "it brings no tests"

    def check_output(self, output):
        pass


class Zopfli(Program):
    """A compressor: 17 files; heap, recursion, callbacks, qsort."""

    package = "zopfli"

    def build(self, compiler, to):
        self.compile(compiler, to, sources_in(self.src, "src/zopfli"))

    def prepare(self, chance):
        text_file(os.path.join(self.work, "text"), chance, 250000)
        self.arguments = ["-c", "--i25", "text"]

    def check_output(self, output):
        with open(os.path.join(self.work, "text"), "rb") as f:
            check(subprocess.run(["gunzip", "-c"], input=output, capture_output=True).stdout == f.read(), "gunzip reads another text")


class Cliquer(Program):
    """Largest cliques of a graph: recursion, callbacks, bit sets in the heap."""

    package = "cliquer"
    library = ["cliquer.c", "graph.c", "reorder.c"]

    def build(self, compiler, to):
        self.compile(compiler, to, ["cl.c", *self.library])

    def own_tests(self, compiler, folder):
        program = os.path.join(folder, "testcases")
        self.compile(compiler, program, ["testcases.c", *self.library])
        output = run([program], self.src)
        check(b"rror" not in output, output.decode()[-500:])
        return "testcases"

    def prepare(self, chance):
        n, p = 300, 0.6
        edges = [(i, k) for i in range(2, n + 1) for k in range(1, i) if chance.random() < p]
        with open(os.path.join(self.work, "graph"), "w") as f:
            f.write("p edge %d %d\n" % (n, len(edges)) + "".join("e %d %d\n" % e for e in edges))
        self.arguments = ["-q", "graph"]


class Divsufsort(Program):
    """Suffix arrays: large functions of macros and gotos, arrays on the stack."""

    package = "libdivsufsort"

    def build(self, compiler, to):
        generated = os.path.join(self.work, "include")
        os.makedirs(generated, exist_ok=True)
        words = {"SAUCHAR_TYPE": "uint8_t", "SAINT32_TYPE": "int32_t", "SAINDEX_TYPE": "int32_t", "SAINDEX_PRId": '"d"', "SAINT_PRId": '"d"', "SAINT_TYPE": "int32_t",
                 "SAINT32_PRId": '"d"', "W64BIT": "", "INCFILE": "#include <inttypes.h>", "INLINE": "inline", "DIVSUFSORT_EXPORT": "", "DIVSUFSORT_IMPORT": "",
                 "PROJECT_VERSION_FULL": "2.0.1", "LFS_OFF_T": "off_t", "LFS_FOPEN": "fopen", "LFS_FTELL": "ftello", "LFS_FSEEK": "fseeko", "LFS_PRID": '"ld"'}
        for name in ("divsufsort.h", "config.h", "lfs.h"):
            text = open(os.path.join(self.src, "include", name + ".cmake")).read()
            text = re.sub(r"@(\w+)@", lambda m: words.get(m.group(1), "1"), text)
            text = re.sub(r"#cmakedefine (\w+) ?(.*)", lambda m: "#define %s %s" % (m.group(1), m.group(2) or "1") if m.group(1).startswith("HAVE_") and not re.search("IO_H|SETMODE|FOPEN_S|OFF64", m.group(1)) else "", text)
            with open(os.path.join(generated, name), "w") as f:
                f.write(text)
        self.compile(compiler, to, ["examples/suftest.c", *sources_in(self.src, "lib")], "-I", generated, "-Iinclude", "-DHAVE_CONFIG_H=1", '-DPROJECT_VERSION_FULL="2.0.1"')

    def prepare(self, chance):
        text_file(os.path.join(self.work, "text"), chance, 6000000)
        self.arguments = ["text"]  # suftest: sorts, and checks what it has sorted

    def own_tests(self, compiler, folder):
        return "suftest checks its own result"


class Bzip2(Program):
    """A compressor: its allocator is a pointer to a function, and its blocks are numbers of several sizes in turn."""

    package = "bzip2"

    def build(self, compiler, to):
        self.compile(compiler, to, ["bzip2.c", "blocksort.c", "huffman.c", "crctable.c", "randtable.c", "compress.c", "decompress.c", "bzlib.c"], "-D_FILE_OFFSET_BITS=64")

    def prepare(self, chance):
        text_file(os.path.join(self.work, "text"), chance, 5000000)
        self.arguments = ["-c", "-9", "text"]

    def check_output(self, output):
        with open(os.path.join(self.work, "text"), "rb") as f:
            check(bz2.decompress(output) == f.read(), "another text is decompressed")

    def own_tests(self, compiler, folder):
        program = os.path.join(folder, "bzip2-tested")
        self.build(compiler, program)
        for k, more in (1, []), (2, []), (3, ["-s"]):  # as "make check" does
            with open(os.path.join(self.src, "sample%d.ref" % k), "rb") as ref, open(os.path.join(self.src, "sample%d.bz2" % k), "rb") as packed:
                plain, bz = ref.read(), packed.read()
            check(run([program, "-%d" % k], folder, stdin=open(os.path.join(self.src, "sample%d.ref" % k), "rb")) == bz, "sample%d.ref is compressed otherwise" % k)
            check(run([program, "-d", *more], folder, stdin=open(os.path.join(self.src, "sample%d.bz2" % k), "rb")) == plain, "sample%d.bz2 is decompressed otherwise" % k)
        return "make check"


class Zlib(Program):
    """A compressor, by its example zpipe: the state's address in many structs, callbacks for the heap."""

    package = "zlib"
    library = ["adler32.c", "crc32.c", "deflate.c", "inflate.c", "inftrees.c", "inffast.c", "trees.c", "zutil.c", "compress.c", "uncompr.c", "infback.c", "gzclose.c", "gzlib.c", "gzread.c", "gzwrite.c"]
    reads = "text"

    def build(self, compiler, to):
        self.compile(compiler, to, ["examples/zpipe.c", *self.library], "-I.", "-DHAVE_UNISTD_H")

    def prepare(self, chance):
        text_file(os.path.join(self.work, "text"), chance, 12000000)
        self.arguments = []

    def check_output(self, output):
        with open(os.path.join(self.work, "text"), "rb") as f:
            check(zlib.decompress(output) == f.read(), "another text is decompressed")

    def own_tests(self, compiler, folder):
        for name in ("example", "minigzip", "infcover"):
            self.compile(compiler, os.path.join(folder, name), ["test/%s.c" % name, *self.library], "-I.", "-DHAVE_UNISTD_H", "-DSTDC")
        check(b"large_inflate(): OK" in run([os.path.join(folder, "example")], folder), "example")
        with open(os.path.join(self.src, "ChangeLog"), "rb") as f:
            text = f.read()
        packed = subprocess.run([os.path.join(folder, "minigzip")], input=text, capture_output=True).stdout
        check(subprocess.run([os.path.join(folder, "minigzip"), "-d"], input=packed, capture_output=True).stdout == text, "minigzip")
        run([os.path.join(folder, "infcover")], folder)
        return "example, minigzip, infcover"


CJSON_DRIVER = r"""
#include "cJSON.h"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    for (int n = 1; getline(&line, &room, stdin) > 0; n++) {
        cJSON *item = cJSON_Parse(line), *copy = cJSON_Duplicate(item, 1);
        cJSON_AddNumberToObject(copy, "line", n);
        char *text = n % 2 ? cJSON_PrintUnformatted(copy) : cJSON_Print(copy);
        puts(text);
        cJSON_Minify(text);
        cJSON *again = cJSON_Parse(text);
        if (!cJSON_Compare(copy, again, 1))
            return 1;
        cJSON_free(text);
        cJSON_Delete(again);
        cJSON_Delete(copy);
        cJSON_Delete(item);
    }
    free(line);
    return 0;
}
"""


class Cjson(Program):
    """A JSON parser: trees, and malloc itself behind pointers. A main of ours parses, copies, prints and compares."""

    package = "cjson"
    reads = "lines"

    def build(self, compiler, to):
        driver = os.path.join(self.work, "driver.c")
        with open(driver, "w") as f:
            f.write(CJSON_DRIVER)
        self.compile(compiler, to, [driver, "cJSON.c"], "-I.")

    def prepare(self, chance):
        def value(depth):
            kind = chance.randrange(6 if depth else 4)
            if kind < 4:
                return [chance.random() * 1e6, chance.randrange(10**6), "t\u00e9xt\n" * chance.randrange(4), chance.choice([True, False, None])][kind]
            some = range(chance.randrange(1, 7))
            return [value(depth - 1) for _ in some] if kind == 4 else {"key %d" % k: value(depth - 1) for k in some}

        with open(os.path.join(self.work, "lines"), "w") as f:
            while f.tell() < 12000000:
                f.write(json.dumps({"first": [value(4) for _ in range(20)]}) + "\n")
        self.arguments = []

    def own_tests(self, compiler, folder):
        names = ["parse_examples", "parse_number", "parse_hex4", "parse_string", "parse_array", "parse_object", "parse_value", "print_string", "print_number", "print_array",
                 "print_object", "print_value", "misc_tests", "parse_with_opts", "compare_tests", "cjson_add", "readme_examples", "minify_tests"]
        shutil.copytree(os.path.join(self.src, "tests", "inputs"), os.path.join(folder, "inputs"), dirs_exist_ok=True)
        unity = os.path.join(folder, "unity.o")  # their framework, as a library: it has a union without a tag
        run(["cc", "-c", "-w", "-DUNITY_EXCLUDE_SETJMP_H", "tests/unity/src/unity.c", "-o", unity], self.src)
        for name in names:  # these include cJSON.c where they look into it
            program = os.path.join(folder, name)
            with open(os.path.join(self.src, "tests", name + ".c")) as f:
                whole = re.search(r'#include "common.h"', f.read()) is not None
            self.compile(compiler, program, ["tests/%s.c" % name, unity, *([] if whole else ["cJSON.c"])], "-I.", "-Itests", "-Itests/unity/src", "-DUNITY_EXCLUDE_SETJMP_H")
            check(b" 0 Failures" in run([program], folder), name)
        return "%d of them" % len(names)


SCHEME = """
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (tree d) (if (= d 0) '() (cons (tree (- d 1)) (tree (- d 1)))))
(define (leaves t) (if (null? t) 1 (+ (leaves (car t)) (leaves (cdr t)))))
(define numbers (vector 0.5))
(define (words n) (if (= n 0) "" (string-append (number->string (* n 1.5)) "," (words (- n 1)))))
(define (each n)
  (set! numbers (vector n (/ n 7) (if (= 0 (modulo n 4)) "none" numbers)))
  (display (list n (fib (+ 10 (modulo n 7))) (leaves (tree (+ 5 (modulo n 5)))) (words (modulo n 13)) numbers (call/cc (lambda (k) (if (odd? n) (k 'odd) 'even)))))
  (newline)
  (if (< n 120) (each (+ n 1))))
(each 1)
"""


class Tinyscheme(Program):
    """An interpreter: one function with a stack of its own, a collector of garbage, unions with tags, which are told to dome-cc."""

    package = "tinyscheme"
    edits = [
        ("scheme.h", "     union {\n          long ivalue;", "#pragma dome union is_fixnum: 1 = ivalue, default = rvalue\n     union {\n          long ivalue;"),
        ("scheme-private.h", "  unsigned char kind;\n", "  unsigned char kind;\n#pragma dome union kind & 3: 1 = stdio, 2 = string\n"),
        ("scheme-private.h", "  unsigned int _flag;\n", "  unsigned int _flag;\n#pragma dome union _flag & 31: 1 = _string, 2 = _number, 4 = _number, 8 = _ff, 9 = _number, 10 = _port, 11 = _number, default = _cons\n"),
        # cells need not be aligned, and then the block is an array of them
        ("scheme.c", "sizeof(struct cell)+adj)", "sizeof(struct cell))"),
        ("scheme.c", "if(((unsigned long)cp)%adj!=0)", "if(0)"),
    ]

    def __init__(self, work):
        super().__init__(work)
        self.src = os.path.join(work, "src")
        shutil.copytree(source(self.package), self.src)
        for name, before, after in self.edits:
            with open(os.path.join(self.src, name), encoding="latin1") as f:
                text = f.read()
            check(text.count(before) == 1, "%s: %r is there %d times" % (name, before, text.count(before)))
            with open(os.path.join(self.src, name), "w", encoding="latin1") as f:
                f.write(text.replace(before, after))

    def build(self, compiler, to):
        self.compile(compiler, to, ["scheme.c"], "-DUSE_DL=0", "-DUSE_INTERFACE=0")

    def prepare(self, chance):
        shutil.copy(os.path.join(self.src, "init.scm"), self.work)
        with open(os.path.join(self.work, "program.scm"), "w") as f:
            f.write(SCHEME)
        self.arguments = ["program.scm"]

    def check_output(self, output):
        check(output.count(b"\n") == 120, "%d lines" % output.count(b"\n"))


class Lua(Program):
    """An interpreter: tagged values, a collector of garbage, one function through which it allocates, longjmp, coroutines. lua.patch tells
    dome-cc the unions and the types of objects; and hashes of objects are numbers instead of addresses, which do not last."""

    package = "lua5.4"

    def __init__(self, work):
        super().__init__(work)
        self.src = os.path.join(work, "src")
        shutil.copytree(source(self.package), self.src)
        with open(os.path.join(HERE, "lua.patch")) as f:
            run(["patch", "-p1"], self.src, stdin=f)
        with open(os.path.join(self.src, "src", "lua5.4-deb-multiarch.h"), "w") as f:
            f.write('#define DEB_HOST_MULTIARCH ""\n')

    def build(self, compiler, to):
        self.compile(compiler, to, sources_in(self.src, "src", ("luac.c",)), "-DLUA_USE_JUMPTABLE=0", "-Dluai_makeseed(L)=1")

    def prepare(self, chance):
        shutil.copy(os.path.join(HERE, "programs.lua"), self.work)
        self.arguments = ["programs.lua"]

    def check_output(self, output):
        check(output.count(b"\n") > 1500 and output.splitlines()[-1].count(b";") == 500, "%d lines in its file" % output.splitlines()[-1].count(b";"))


EXPAT_DRIVER = r"""
#include "expat.h"
#include <stdio.h>
#include <string.h>

static int depth, elements;
static long characters;

static void start(void *data, const XML_Char *name, const XML_Char **attributes)
{
    printf("%*s%s", depth++, "", name);
    for (; *attributes; attributes += 2)
        printf(" %s='%s'", attributes[0], attributes[1]);
    putchar('\n');
    ++*(int *)data;
}

static void end(void *data, const XML_Char *name)
{
    (void)data;
    printf("%*s/%s %ld\n", --depth, "", name, characters);
}

static void text(void *data, const XML_Char *s, int length)
{
    (void)data;
    for (int i = 0; i < length; i++)
        characters = (characters * 31 + (unsigned char)s[i]) % 1000003;
}

static void instruction(void *data, const XML_Char *target, const XML_Char *what)
{
    (void)data;
    printf("?%s %s\n", target, what);
}

static int encoding(void *data, const XML_Char *name, XML_Encoding *info)
{
    (void)data;
    if (strcmp(name, "with-euro"))
        return 0;
    for (int i = 0; i < 256; i++)
        info->map[i] = i == 0x80 ? 0x20ac : i;
    return 1;
}

int main(void)
{
    char piece[700];
    int n;
    XML_Parser parser = XML_ParserCreateNS(NULL, '|');
    XML_SetHashSalt(parser, 1);
    XML_SetUserData(parser, &elements);
    XML_SetElementHandler(parser, start, end);
    XML_SetCharacterDataHandler(parser, text);
    XML_SetProcessingInstructionHandler(parser, instruction);
    XML_SetUnknownEncodingHandler(parser, encoding, NULL);
    do {
        n = (int)fread(piece, 1, sizeof piece, stdin);
        if (XML_Parse(parser, piece, n, n == 0) == XML_STATUS_ERROR) {
            fprintf(stderr, "%s in line %lu\n", XML_ErrorString(XML_GetErrorCode(parser)), XML_GetCurrentLineNumber(parser));
            return 1;
        }
    } while (n > 0);
    XML_ParserFree(parser);
    printf("%d elements\n", elements);
    return 0;
}
"""


class Expat(Program):
    """A parser of XML: the state in one struct with pointers to its next function, hash tables, pools of strings, the heap by pointers. A main
    of ours prints elements, attributes and instructions, and a sum of the text, of a document in an encoding that it tells."""

    package = "expat"
    reads = "document"
    words = ["-Ilib", "-DXML_POOR_ENTROPY", "-DXML_NS", "-DXML_DTD", "-DXML_CONTEXT_BYTES=1024"]

    def __init__(self, work):
        super().__init__(work)
        self.src = os.path.join(work, "src")
        shutil.copytree(os.path.join(source(self.package), "expat"), self.src)
        with open(os.path.join(HERE, "expat.patch")) as f:
            run(["patch", "-p1"], self.src, stdin=f)

    def build(self, compiler, to):
        driver = os.path.join(self.work, "driver.c")
        with open(driver, "w") as f:
            f.write(EXPAT_DRIVER)
        self.compile(compiler, to, [driver, *sources_in(self.src, "lib", ("xmltok_impl.c", "xmltok_ns.c"))], *self.words)

    def prepare(self, chance):
        def element(f, depth):
            name = chance.choice([b"a", b"p:part", b"row", b"q:cell"])
            f.write(b"<" + name)
            for k in range(chance.randrange(4)):
                f.write(b' %sk%d="v%d &lt; &half;\x80"' % (chance.choice([b"", b"p:"]), k, chance.randrange(10**6)))
            f.write(b">")
            for _ in range(chance.randrange(6) if depth else 0):
                element(f, depth - 1)
                f.write(chance.choice([b"caf\xe9 \x80 &deep;", b"<![CDATA[<&>]]>", b"<!-- not printed -->", b"<?do it?>", b"&#8364;&amp;"]))
            f.write(b"</" + name + b">\n")

        with open(os.path.join(self.work, "document"), "wb") as f:
            f.write(b'<?xml version="1.0" encoding="with-euro"?>\n<!DOCTYPE list [\n<!ENTITY half "1/2"><!ENTITY inner "<a>in &half;</a>">\n'
                    b'<!ENTITY deep "&inner;&inner; text">\n<!ELEMENT list (row, (a | row)*)>\n<!ATTLIST row state (on|off) "on" id NMTOKEN #IMPLIED>\n]>\n'
                    b'<list xmlns:p="urn:p" xmlns:q="urn:q">\n')
            while f.tell() < 12000000:
                element(f, 6)
            f.write(b"</list>\n")
        self.arguments = []

    def check_output(self, output):
        elements = re.findall(rb"(?m)^(\d+) elements$", output)
        check(len(elements) == 1 and int(elements[0]) > 100000 and output.count(b" state='on'") > 1000, "%r elements" % elements)

    def own_tests(self, compiler, folder):
        program, memcheck = os.path.join(folder, "runtests"), os.path.join(folder, "memcheck.o")  # this allocates for them, as a library
        run(["cc", "-c", "-w", *self.words, "tests/memcheck.c", "-o", memcheck], self.src)
        self.compile(compiler, program, [*("tests/%s.c" % n for n in ("runtests", "minicheck", "chardata", "structdata")), memcheck,
                                         *sources_in(self.src, "lib", ("xmltok_impl.c", "xmltok_ns.c"))], *self.words)
        check(b"Failed: 0" in run([program], folder), "runtests")
        return "runtests"


class Byacc(Program):
    """A compiler of grammars: tables in the heap, and temporary files. It ends by itself when it gets SIGTERM."""

    package = "byacc"
    writes = ("parser.c", "parser.output")
    signals = (signal.SIGKILL,)

    def __init__(self, work):
        super().__init__(work)
        self.src = os.path.join(work, "src")
        shutil.copytree(source(self.package), self.src)
        with open(os.path.join(HERE, "byacc.patch")) as f:
            run(["patch", "-p1"], self.src, stdin=f)
        run(["./configure", "--enable-btyacc"], self.src)

    def build(self, compiler, to):
        self.compile(compiler, to, sources_in(self.src, "", ("yaccpar.c",)), "-I.", "-DHAVE_CONFIG_H", "-DYYPATCH=20221106", "-D_DEFAULT_SOURCE", "-D_XOPEN_SOURCE=500")

    def prepare(self, chance):
        rules, tokens, operators = 400, 60, 40
        with open(os.path.join(self.work, "grammar.y"), "w") as f:
            f.write("".join("%%token T%d\n" % k for k in range(tokens)))
            f.write("".join("%%%s O%d\n" % (chance.choice(["left", "right", "nonassoc"]), k) for k in range(operators)) + "%%\n")
            for k in range(rules):
                for a in range(chance.randrange(2, 6)):
                    right = ["T%d" % chance.randrange(tokens)] if a or k == rules - 1 else ["n%d" % (k + 1)]
                    for _ in range(chance.randrange(4)):
                        right.append(chance.choice(["T%d" % chance.randrange(tokens), "O%d" % chance.randrange(operators), "n%d" % chance.randrange(rules)]))
                    f.write("%s %s { $$ = %d; }\n" % ("|" if a else "n%d:" % k, " ".join(right), k))
                f.write(";\n")
        self.arguments = ["-v", "-o", "parser.c", "grammar.y"]

    def own_tests(self, compiler, folder):
        self.build(compiler, os.path.join(self.src, "yacc"))
        script = os.path.join(self.src, "test", "run_test.sh")
        with open(script) as f:  # as Debian does; what is left out asks for files that root may write, too
            text = re.sub(r"(?ms)^[^\n]*MYFILE=nosuchfile.*?# Test special cases[^\n]*\n", "", f.read(), count=1)
        with open(script, "w") as f:
            f.write(text)
        output = run(["sh", "test/run_test.sh", "./test"], self.src)
        check(output.count(b"...ok") > 200 and b"...diff" not in output, output[-1500:].decode(errors="replace"))
        return "%d results of make check" % output.count(b"...ok")


PROGRAMS = {"zopfli": Zopfli, "cliquer": Cliquer, "divsufsort": Divsufsort, "bzip2": Bzip2, "zlib": Zlib, "cjson": Cjson, "tinyscheme": Tinyscheme, "lua": Lua, "expat": Expat, "byacc": Byacc}


# ---- stopped and continued ----


def started(program, path, more, output):
    reads = open(os.path.join(program.work, program.reads), "rb") if program.reads else subprocess.DEVNULL
    places = {"TMPDIR": program.work, "TEMP": program.work}  # what a killed program leaves goes with them
    return subprocess.Popen([path, *program.arguments, *more], cwd=program.work, env={**harness.clean_environment(), **places}, stdin=reads, stdout=output, stderr=subprocess.PIPE)


def written(program):
    """The files, which are then removed."""
    files = []
    for name in program.writes:
        with open(os.path.join(program.work, name), "rb") as f:
            files.append(f.read())
        os.remove(f.name)
    return files


def stop_and_continue(program, path, plain, chance, times):
    """Half of the stops by SIGTERM, with a last checkpoint; the others by kill -9, and what was printed since the last one comes again.
    Compares each finished run's output, and the files that it has written, with the plain program's, which are there."""
    stops = runs = 0
    files = written(program)
    directory, output = os.path.join(program.work, "saved"), os.path.join(program.work, "output")
    before = time.monotonic()
    check(subprocess.run([path, *program.arguments], cwd=program.work, env=harness.clean_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         stdin=open(os.path.join(program.work, program.reads), "rb") if program.reads else subprocess.DEVNULL).returncode == 0, "undisturbed: fails")
    check(written(program) == files, "undisturbed: other files")
    whole = time.monotonic() - before
    while stops < times:
        shutil.rmtree(directory, ignore_errors=True)
        here = 0
        while True:
            with open(output, "wb") as f:
                child = started(program, path, ["--dome-checkpoint-dir", directory, "--dome-checkpoint-every", "%gs" % max(whole / 40, 0.01), "--dome-restart=auto"], f)
                try:
                    child.wait(chance.uniform(0.03, whole / 4 + 0.05) if here < 12 and stops < times else 600)
                except subprocess.TimeoutExpired:
                    child.send_signal(chance.choice(program.signals))
                    here, stops = here + 1, stops + 1
                errors = child.communicate()[1].decode(errors="replace")
            with open(output, "rb") as f:
                printed = f.read()
            if child.returncode == 0:
                break
            check(child.returncode in (-signal.SIGTERM, -signal.SIGKILL), "stop %d: status %d: %s" % (stops, child.returncode, errors[-600:]))
            check(printed in plain, "stop %d: other output: %r" % (stops, printed[-200:]))
        runs += 1
        check(written(program) == files, "after %d stops: another file of %s" % (here, " ".join(program.writes)))
        check(plain.endswith(printed) if here else plain == printed, "after %d stops: other output: %r" % (here, printed[-200:]))
    return "%d stops, %d runs to the end" % (stops, runs)


def one(name, times, seed):
    with harness.temporary_directory() as work:
        program, chance = PROGRAMS[name](work), random.Random("%d:%s" % (seed, name))
        program.prepare(chance)
        plain, ours = os.path.join(work, "plain"), os.path.join(work, name)
        program.build(["cc", "-ffp-contract=off"], plain)
        program.build([CC], ours)
        expected = run([plain, *program.arguments], work, **({"stdin": open(os.path.join(work, program.reads), "rb")} if program.reads else {}))
        program.check_output(expected)
        shown = stop_and_continue(program, ours, expected, chance, times)
        return "%s; own tests: %s" % (shown, program.own_tests([CC], work))


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if not os.path.exists(CC):
        harness.skip("there is no dome-cc")
    failed = 0
    for name in sys.argv[3:] or PROGRAMS:
        begin = time.monotonic()
        try:
            print("%s: %s, %.0f s" % (name, one(name, times, seed), time.monotonic() - begin), flush=True)
        except Failure as e:
            failed += 1
            print("FAILED %s: %s" % (name, e), flush=True)
    sys.exit(1 if failed else 0)


main()
