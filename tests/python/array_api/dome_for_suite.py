"""The module that the suite tests: dome itself in one task, or the workers of a client (DOME_SUITE_WORKERS=N)."""
import os

import dome

WORKERS = int(os.environ.get("DOME_SUITE_WORKERS", "0"))
client = dome.Client(n=WORKERS, eager=True) if WORKERS else dome
__array_api_version__ = "2021.12"


def __getattr__(name):
    return getattr(client, name)


def __dir__():
    return sorted(set(dir(dome)))
