"""The types of the public interface: dome/*.pyi are what stubs.py writes, say what the running module has, and type checkers know
programs by them: examples and types/right.py are accepted, of types/wrong.py each line that says so is refused."""

import glob
import os
import re
import subprocess
import sys

import harness
from harness import BUILD, SOURCE, check

PYTHON = os.environ.get("DOME_PYTHON", "/usr/bin/python3")
TYPES = os.path.join(SOURCE, "tests", "python", "types")
PACKAGE = os.path.join(SOURCE, "python", "dome")


def run(words):
    env = harness.clean_environment()
    env.update(PYTHONPATH=os.path.join(os.path.abspath(BUILD), "python"), PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    return done.returncode, done.stdout.decode()


def refused(path, mypy):
    """The lines of a file that mypy refuses, with the code of the first error in each."""
    status, out = run([*mypy, path])
    check(status in (0, 1), out)
    found = {}
    for line, code in re.findall(r"^%s:(\d+): error: .*\[([a-z-]+)\]$" % re.escape(path), out, re.M):
        found.setdefault(int(line), code)
    check(len(found) or status == 0, out)
    return found, out


def wanted(path):
    with open(path) as f:
        lines = f.read().splitlines()
    return {number: code for number, line in enumerate(lines, 1) for code in re.findall(r"  # ([a-z-]+)$", line)}


def by_mypy(folder):
    mypy = [PYTHON, "-m", "mypy", "--strict", "--show-absolute-path", "--cache-dir", folder + "/cache"]
    for path in [PACKAGE + "/__init__.pyi", TYPES + "/right.py", *sorted(glob.glob(SOURCE + "/examples/python/*.py"))]:
        status, out = run([*mypy, path])
        check(status == 0, out)
    expected = wanted(TYPES + "/wrong.py")
    check(len(expected) >= 30, "types/wrong.py has %d wrong lines" % len(expected))
    found, out = refused(TYPES + "/wrong.py", mypy)
    check(found == expected, "only in mypy's words: %s; not there: %s\n%s" %
          (sorted(found.items() - expected.items()), sorted(expected.items() - found.items()), out))


def by_stubtest(folder):
    """mypy's own comparison of the stubs with the running module. Modules that users do not name have no stubs."""
    inside = [os.path.basename(path)[:-3] for path in glob.glob(PACKAGE + "/*.py") if not os.path.exists(path + "i")]
    with open(folder + "/allowed", "w") as f:
        f.write("dome\\.(%s)\\..*\n" % "|".join(sorted(inside)))
    with open(folder + "/config", "w") as f:
        f.write("[mypy]\nignore_errors = True\n")  # in the package itself, whose functions are not annotated
    status, out = run([PYTHON, "-m", "mypy.stubtest", "--ignore-missing-stub", "--ignore-unused-allowlist", "--mypy-config-file",
                       folder + "/config", "--allowlist", folder + "/allowed", "dome"])
    check(status == 0, out)


def main():
    status, out = run([PYTHON, SOURCE + "/python/stubs.py", "--check"])
    check(status == 0, out)
    if run([PYTHON, "-c", "import mypy"])[0] != 0:
        harness.skip("mypy is not installed; that the stubs are what stubs.py writes is so")
    with harness.temporary_directory() as folder:
        by_mypy(folder)
        by_stubtest(folder)


try:
    main()
except harness.Failure as failure:
    sys.exit("interface: %s" % failure)
