"""Builds the package `dome-hpc`, imported as `dome`, over an installed library: build_dome.py says where that is looked for.

    pip install --no-build-isolation ./python
"""
import os
import pathlib
import re
import sys

from setuptools import setup

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
import build_dome  # noqa: E402


def version():
    """That of the library's headers."""
    text = "\n".join(str(line) for line in build_dome.version_lines())
    numbers = dict(re.findall(r"define DOME_VERSION_(MAJOR|MINOR|PATCH) (\d+)", text))
    return ".".join(numbers[part] for part in ("MAJOR", "MINOR", "PATCH"))


os.chdir(here)
setup(
    name="dome-hpc",
    version=version(),
    description="NumPy's names for arrays distributed over the tasks of a program, over the library Dome",
    packages=["dome"],
    package_data={"dome": ["py.typed", "*.pyi"]},
    cffi_modules=["build_dome.py:ffi"],
    install_requires=["cffi"],
    python_requires=">=3.9",
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
    zip_safe=False,
)
