"""Modules that do not come with Python."""

import importlib.util
import os
import sys

SYSTEM = "/usr/bin/python3"  # distributions install modules for this one, which may not be the first in PATH


def need(*names, optional=()):
    """Goes on in the system's Python if this one has not all of the modules; a test is skipped if it then lacks one of `names`."""
    missing = [name for name in names if not importlib.util.find_spec(name)]
    if not missing and all(map(importlib.util.find_spec, optional)):
        return
    if os.path.exists(SYSTEM) and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM):
        os.execv(SYSTEM, [SYSTEM, "-B", *sys.argv])
    if missing:
        print("skipped: python3 has no " + ", ".join(missing))
        sys.exit(77)
