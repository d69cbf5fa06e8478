#!/bin/bash
# clang reads every file that the compiler of this build has compiled, without a warning; but not those of the library if fuzz.build
# compiles them with clang, where warnings are errors. Those of tests and measurements in the tier slow.
set -u
command -v clang >/dev/null || { echo "skipped: clang is not installed"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 - "${DOME_BUILD_DIR:?}" <<'PYTHON'
import concurrent.futures, json, os, re, shlex, subprocess, sys

WITH_PATH = ("-I", "-isystem", "-include", "-D", "-U")


def flags(command):
    """What of a compiler's command line says how the source is read."""
    kept, words = [], iter(shlex.split(command))
    for word in words:
        if word in WITH_PATH:
            value = next(words)
            if not value.endswith("/cmake_pch.h"):  # precompiled, by the other compiler: the sources include what they need
                kept += [word, value]
        elif word.startswith("-fno-tree"):  # of gcc alone, and about the code it makes
            continue
        elif word.startswith(("-I", "-D", "-U", "-W", "-std=", "-f", "-m")):
            kept.append(word)
    return kept


def check(entry):
    command = ["clang", "-fsyntax-only", "-Werror", "-Wno-pass-failed", "-Wno-unknown-warning-option"]
    # clang reports casts of GLib's own macros
    done = subprocess.run(command + flags(entry["command"]) + ["-Wno-cast-qual", entry["file"]], cwd=entry["directory"], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


with open(os.path.join(sys.argv[1], "CMakeCache.txt")) as file:
    fuzz_build = "\nDOME_TEST_VARIANTS:BOOL=ON\n" in file.read()
with open(os.path.join(sys.argv[1], "compile_commands.json")) as file:
    entries = [entry for entry in json.load(file) if not entry["file"].endswith("/cmake_pch.h.c")]
entries = [entry for entry in entries if not (fuzz_build and re.search(r"-o \S*\bdome_(store_)?parts\.dir/", entry["command"]))]
if not os.environ.get("DOME_TEST_ALL"):
    entries = [entry for entry in entries if not re.search("/(tests|bench)/", entry["file"])]
entries = list({(entry["file"], *flags(entry["command"])): entry for entry in entries}.values())  # each once
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    words = [text for text in pool.map(check, entries) if text]
print("\n".join(words) if words else "ok: %d files" % len(entries))
sys.exit(bool(words))
PYTHON
