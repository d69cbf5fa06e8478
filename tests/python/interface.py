"""The types of the public interface: __init__.pyi is what stubs.py writes, and type checkers know programs by it."""

import ast
import os
import subprocess
import sys

import harness
from harness import BUILD, SOURCE, check

PYTHON = os.environ.get("DOME_PYTHON", "/usr/bin/python3")
RIGHT = """
import dome as dm
x = dm.zeros((3, 4), dtype=dm.float32) + 1.0
total: float = float(x.sum())
rows: int = x.shape[0] * dm.size()
y = dm.where(x > 0, x, -x) @ x.T
near: bool = dm.allclose(y, 2 * y)
generator = dm.random.default_rng(5)
for step in dm.loop("steps", 3):
    y[0] = generator.random((3,))
    y[:, 1] += dm.linalg.norm(y, axis=1)
"""
WRONG = ("dm.zeros()", "dm.size() + 'x'", "dm.ones(3).no_such_method()", "dm.sum(dm.ones(3), axes=1)")


def run(words):
    env = harness.clean_environment()
    env.update(PYTHONPATH=os.path.join(os.path.abspath(BUILD), "python"), PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, done.stdout.decode()


def by_mypy(folder):
    for number, (code, wanted) in enumerate([(RIGHT, 0)] + [("import dome as dm\n" + line + "\n", 1) for line in WRONG]):
        path = os.path.join(folder, "program%d.py" % number)
        with open(path, "w") as f:
            f.write(code)
        status, out = run([PYTHON, "-m", "mypy", "--cache-dir", folder + "/cache", path])
        check(status == wanted, "mypy says of %s: %s" % (code, out))


def main():
    status, out = run([PYTHON, SOURCE + "/python/stubs.py", "--check"])
    check(status == 0, out)
    with open(SOURCE + "/python/dome/__init__.pyi") as f:
        ast.parse(f.read())
    if run([PYTHON, "-c", "import mypy"])[0] != 0:
        print("mypy is not installed: not tried")
        return
    with harness.temporary_directory() as folder:
        by_mypy(folder)


try:
    main()
except harness.Failure as failure:
    sys.exit("interface: %s" % failure)
