"""`pip install --no-build-isolation ./python`, without a network, in a fresh virtual environment: what that installs, in folders with odd
names, for another Python than the system's, and what it says where something is missing."""

import glob
import json
import os
import shutil
import subprocess
import sys

import harness
from harness import BUILD, DOME, SOURCE, check

PYTHON = os.environ.get("DOME_PYTHON", "/usr/bin/python3")
CODE = "import dome as dm, importlib.resources as r; x = dm.arange(10.0); s = float(x.sum()); dm.print(s, dm.__file__); " \
       "assert all((r.files('dome') / name).is_file() for name in ('py.typed', '__init__.pyi'))"
# An interpreter tells what of this it has, and where pip's package `wheel` is, whose modules and metadata lie side by side.
ASK = """
import importlib, json, sys
def has(name):
    try:
        return bool(importlib.import_module(name))
    except ImportError:
        return False
found = {name: has(name) for name in ("ensurepip", "venv", "setuptools", "wheel", "cffi", "importlib.metadata")}
if found["wheel"] and found["importlib.metadata"]:
    import importlib.metadata, wheel
    found["files"] = [wheel.__path__[0], str(importlib.metadata.distribution("wheel")._path)]
found["version"] = sys.version_info[:2]
print(json.dumps(found))
"""


def run(words, **named):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, **named)
    check(done.returncode == 0, "%s: status %d: %s" % (words, done.returncode, done.stdout.decode()))
    return done.stdout.decode()


def refused(words, **named):
    """What a command that must fail says."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, **named)
    check(done.returncode != 0, "%s has not failed: %s" % (words, done.stdout.decode()))
    return done.stdout.decode()


def ask(python):
    done = subprocess.run([python, "-c", ASK], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/")
    return json.loads(done.stdout) if done.returncode == 0 else None


def environment():
    env = harness.clean_environment()
    for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PKG_CONFIG_PATH", "CFLAGS", "LDFLAGS"):
        env.pop(name, None)
    env.update(PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    return env


def prefix_at(folder):
    """An installed library: headers, and the shared library."""
    os.makedirs(folder + "/lib")
    os.symlink(SOURCE + "/include", folder + "/include")
    for path in glob.glob(os.path.abspath(BUILD) + "/libdome.so*"):
        os.symlink(path, os.path.join(folder, "lib", os.path.basename(path)))
    return folder


def soon(folder):
    """A compiler that does not optimize: the module takes it three times as long to be optimized as it is here."""
    path = folder + "/soon-cc"
    with open(path, "w") as f:
        f.write('#!/bin/sh\nexec %s "$@" -O0\n' % shutil.which(os.environ.get("CC", "cc")))
    os.chmod(path, 0o755)
    return path


def copy_of_sources(folder):
    shutil.copytree(SOURCE + "/python", folder, ignore=shutil.ignore_patterns("__pycache__", "_dome.*so", "build", "*.egg-info"))
    before = sorted(os.listdir(folder))
    return folder, lambda: check(sorted(os.listdir(folder)) == before, "pip has left files in the sources: %s" % os.listdir(folder))


def install(python, sources, env, **changes):
    run([python, "-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", "--no-build-isolation", sources],
        env=dict(env, **changes), cwd="/")


def library_of(python, env):
    """The folder of the library that the installed module is bound to."""
    code = "import dome._dome as d; print([l.split()[-1] for l in open('/proc/self/maps') if '/libdome.so' in l][0]); print(d.__file__)"
    path = run([python, "-c", code], env=env, cwd="/").splitlines()[1]
    return run(["readelf", "-d", path])


def system_python(folder):
    """The system's, in odd folders; installed again over a library in another place."""
    odd = folder + "/odd, \u00e9 'one'"
    run([PYTHON, "-m", "venv", "--system-site-packages", odd + "/env"])
    sources, unchanged = copy_of_sources(odd + "/sources of it")
    env, python = environment(), odd + "/env/bin/python3"
    for place, compiler in ((odd + "/library", {}), (folder + "/second", {"CC": soon(folder)})):
        install(python, sources, env, DOME_PREFIX=prefix_at(place), **compiler)
        check("[%s/lib" % place in library_of(python, env).replace(":", "["), "the module is not bound to the library in %s: %s" %
              (place, library_of(python, env)))
    unchanged()
    for words in ([DOME, "run", "-n", "2", python, "-c", CODE], [python, "-m", "dome", "-n", "2", "-c", CODE]):
        out = run(words, env=env, cwd=odd)
        check("45.0 %s/env/lib" % odd in out, out)
    out = refused([python, "-m", "pip", "install", "--no-build-isolation", sources], env=dict(env, DOME_PREFIX=folder + "/none"), cwd="/")
    check("DOME_PREFIX" in out and "libdome-dev" in out, out)
    if not os.path.exists("/usr/include/dome") and not os.path.exists("/usr/local/include/dome"):
        nowhere = dict(env, PKG_CONFIG_LIBDIR=folder)
        out = refused([python, "-m", "pip", "install", "--no-build-isolation", sources], env=nowhere, cwd="/")
        check("DOME_PREFIX" in out and "libdome-dev" in out, out)


def other_pythons():
    """Interpreters that are not the system's: of pyenv, and on the path."""
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    found = glob.glob(root + "/versions/3.*/bin/python3") + [p for p in map(shutil.which, ("python3",)) if p]
    system = os.path.realpath(PYTHON)
    return sorted({os.path.realpath(path) for path in found} - {system})


def another_python(folder, wheel):
    """The first that has what installing needs; wheel, which is Python alone, it may have from the system's. False: there is none."""
    for python in other_pythons():
        has = ask(python)
        if not has or has["version"] < [3, 9] or not all(has[name] for name in ("ensurepip", "venv", "setuptools", "cffi")):
            continue
        env = dict(environment(), DOME_PREFIX=prefix_at(folder + "/other-library"), CC=soon(folder))
        run([python, "-m", "venv", "--system-site-packages", folder + "/other"], env=env)
        sources, _ = copy_of_sources(folder + "/other-sources")
        inside = folder + "/other/bin/python3"
        if not has["wheel"]:
            version = run([python, "-c", "import setuptools; print(setuptools.__version__)"]).split(".")
            if [int(n) for n in version[:2]] < [70, 1]:
                out = refused([inside, "-m", "pip", "install", "--no-build-isolation", sources], env=env, cwd="/")
                check("python3-wheel" in out, out)
            env["PYTHONPATH"] = folder + "/wheel"
            os.mkdir(env["PYTHONPATH"])
            for path in wheel:
                os.symlink(path, os.path.join(env["PYTHONPATH"], os.path.basename(path)))
        install(inside, sources, env)
        env.pop("PYTHONPATH", None)
        out = run([DOME, "run", "-n", "2", inside, "-c", CODE], env=env, cwd=folder)
        check("45.0 %s/other/lib" % folder in out, out)
        print("also by %s" % python)
        return True
    return False


def main():
    has = ask(PYTHON)
    if not has or not has["ensurepip"] or not has["wheel"]:
        harness.skip("python3-venv and python3-wheel are not installed")
    with harness.temporary_directory() as folder:
        system_python(folder)
        if not another_python(folder, has["files"]):
            print("there is no other Python with setuptools and cffi: not tried")


try:
    main()
except harness.Failure as failure:
    sys.exit("package: %s" % failure)
