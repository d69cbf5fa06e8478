"""Makes the extension module `dome._dome` from the installed headers by cffi; no declaration of the library is written here."""
import os
import pathlib
import re
import shlex
import subprocess

import cffi

# structure.h is for objects of other kinds; capture.h and dome.hpp are for programs in C and C++.
HEADERS = ("dome/dome.h", "dome/structure.h")
OWN = "void finalize_at_exit(dome_env *env); char *getenv(const char *name);"  # of additions.c, and of C
NOT_FOUND = ("dome: the headers of the library are not found: install it (libdome-dev), or set DOME_PREFIX to the folder that "
             "it is installed in")
MARKER = re.compile(r'# \d+ "(.*?)"')
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
INLINE_BODY = re.compile(r"(?:extern|static)\s+(?:inline|__inline)[^;{]*\{")


def pkg_config(*words):
    run = subprocess.run(["pkg-config", *words, "dome"], capture_output=True, text=True)
    return shlex.split(run.stdout) if run.returncode == 0 else None


def places():
    """Folders of the headers and of the library: those of CMake's build, of a prefix, of pkg-config, or the compiler's."""
    include, library = os.environ.get("DOME_INCLUDE_DIR"), os.environ.get("DOME_LIBRARY_DIR")
    if include and library:
        return [include], [library], [library] if os.environ.get("DOME_RPATH", "1") != "0" else []
    prefix = os.environ.get("DOME_PREFIX")
    if prefix:
        folders = [str(f) for f in sorted(pathlib.Path(prefix, "lib").glob("**/libdome.so"))]
        folders = [os.path.dirname(f) for f in folders] or [os.path.join(prefix, "lib")]
        return [os.path.join(prefix, "include")], folders[:1], folders[:1]
    found = pkg_config("--cflags-only-I"), pkg_config("--libs-only-L")
    if None not in found:
        folders = [word[2:] for word in found[1]]
        return [word[2:] for word in found[0]], folders, folders
    return [], [], []


def preprocessed(include):
    text = "".join(f"#include <{header}>\n" for header in HEADERS)
    words = shlex.split(os.environ.get("CC", "cc")) + ["-E", "-x", "c", *(f"-I{folder}" for folder in include), "-"]
    run = subprocess.run(words, input=text, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{NOT_FOUND}\n{run.stderr.strip().splitlines()[0]}")
    return run.stdout


def version_lines():
    """The header of the version."""
    words = shlex.split(os.environ.get("CC", "cc")) + ["-E", "-dM", "-x", "c", *(f"-I{folder}" for folder in places()[0]), "-"]
    run = subprocess.run(words, input="#include <dome/version.h>\n", capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(NOT_FOUND)
    return run.stdout.splitlines()


def without_bodies(text):
    """Inline functions of the headers serve their macros; Python has no use for them."""
    while True:
        begin = INLINE_BODY.search(text)
        if not begin:
            return text
        depth, end = 1, begin.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        text = text[:begin.start()] + text[end:]


def declarations(include):
    kept, ours = [], False
    for line in preprocessed(include).splitlines():
        marker = MARKER.match(line)
        if marker:
            ours = "/dome/" in marker.group(1)
        elif ours:
            kept.append(line)
    text = ATTRIBUTE.sub("", "\n".join(kept)).replace("__extension__", "")
    return "\n".join(line for line in without_bodies(text).splitlines() if "va_list" not in line)


def builder():
    include, library, run = places()
    ffi = cffi.FFI()
    ffi.cdef(declarations(include) + OWN, override=True)
    source = "".join(f"#include <{header}>\n" for header in HEADERS)
    source += pathlib.Path(__file__).resolve().with_name("additions.c").read_text()
    words = [word for folder in run for word in ("-Xlinker", "-rpath", "-Xlinker", folder)]  # not -Wl: a name may have a comma
    ffi.set_source("dome._dome", source, libraries=["dome"], include_dirs=include, library_dirs=library, extra_link_args=words,
                   extra_compile_args=["-O2", "-g0"], py_limited_api=True)
    return ffi


if __name__ == "__main__":
    import sys
    builder().compile(tmpdir=sys.argv[1], verbose=False)
else:
    ffi = builder()
