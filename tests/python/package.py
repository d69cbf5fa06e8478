"""`pip install --no-build-isolation ./python`, without a network, in a fresh virtual environment; and what that installs."""

import os
import shutil
import subprocess
import sys

import harness
from harness import BUILD, DOME, SOURCE, check

PYTHON = os.environ.get("DOME_PYTHON", "/usr/bin/python3")


def run(words, **named):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, **named)
    check(done.returncode == 0, "%s: status %d: %s" % (words, done.returncode, done.stdout.decode()))
    return done.stdout.decode()


def main():
    if subprocess.run([PYTHON, "-c", "import ensurepip, wheel"], stderr=subprocess.DEVNULL).returncode != 0:
        harness.skip("python3-venv and python3-wheel are not installed")
    with harness.temporary_directory() as folder:
        run([PYTHON, "-m", "venv", "--system-site-packages", folder + "/env"])
        shutil.copytree(SOURCE + "/python", folder + "/python", ignore=shutil.ignore_patterns("__pycache__", "_dome*", "build"))
        env = harness.clean_environment()
        env.pop("PYTHONPATH", None)
        env.update(DOME_INCLUDE_DIR=SOURCE + "/include", DOME_LIBRARY_DIR=os.path.abspath(BUILD), PIP_NO_INDEX="1",
                   PIP_DISABLE_PIP_VERSION_CHECK="1")
        python = folder + "/env/bin/python3"
        run([python, "-m", "pip", "install", "-q", "--no-build-isolation", folder + "/python"], env=env, cwd="/")
        code = "import dome as dm, importlib.resources as r; x = dm.arange(10.0); s = float(x.sum()); dm.print(s, dm.__file__); " \
               "assert all((r.files('dome') / name).is_file() for name in ('py.typed', '__init__.pyi'))"
        out = run([DOME, "run", "-n", "2", python, "-c", code], env=env, cwd=folder)
        check("45.0 %s/env/lib" % folder in out, out)
        out = run([python, "-m", "dome", "-n", "2", "-c", code], env=env, cwd=folder)
        check("45.0 %s/env/lib" % folder in out, out)
        env["DOME_PREFIX"] = folder + "/none"
        del env["DOME_INCLUDE_DIR"], env["DOME_LIBRARY_DIR"]
        failed = subprocess.run([python, "setup.py", "build"], cwd=folder + "/python", env=env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(failed.returncode != 0 and b"DOME_PREFIX" in failed.stdout, failed.stdout.decode())


try:
    main()
except harness.Failure as failure:
    sys.exit("package: %s" % failure)
