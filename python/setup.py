"""Builds the package `dome-hpc`, imported as `dome`, over an installed library: build_dome.py says where that is looked for.

    pip install --no-build-isolation ./python
"""
import atexit
import importlib.util
import os
import pathlib
import re
import shutil
import sys
import tempfile

import setuptools
from setuptools import setup

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
import build_dome  # noqa: E402


def version():
    """That of the library's headers."""
    text = "\n".join(str(line) for line in build_dome.version_lines())
    numbers = dict(re.findall(r"define DOME_VERSION_(MAJOR|MINOR|PATCH) (\d+)", text))
    return ".".join(numbers[part] for part in ("MAJOR", "MINOR", "PATCH"))


def need_wheel():
    """From 70.1 on setuptools makes wheels by itself; older ones say "invalid command" only."""
    if importlib.util.find_spec("wheel") is None and [int(n) for n in setuptools.__version__.split(".")[:2]] < [70, 1]:
        raise SystemExit("dome: pip needs the package wheel beside setuptools " + setuptools.__version__ + ": install it (python3-wheel)")


os.chdir(here)
need_wheel()
# Built anew each time, in a folder of its own: a module that is there already may be bound to a library in another place, and the
# sources need not be writable.
work = tempfile.mkdtemp(prefix="dome-python-")
atexit.register(shutil.rmtree, work, ignore_errors=True)
setup(
    name="dome-hpc",
    version=version(),
    description="NumPy's names for arrays distributed over the tasks of a program, over the library Dome",
    packages=["dome"],
    package_data={"dome": ["py.typed", "*.pyi"]},
    cffi_modules=["build_dome.py:ffi"],
    install_requires=["cffi"],
    python_requires=">=3.9",
    options={"bdist_wheel": {"py_limited_api": "cp39"}, "build": {"build_base": work}, "egg_info": {"egg_base": work}},
    zip_safe=False,
)
