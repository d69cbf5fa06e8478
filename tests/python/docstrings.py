"""The examples in docstrings, on any number of tasks."""
import doctest
import importlib
import pkgutil

import pytest

import dome as dm

MODULES = [name for _, name, _ in pkgutil.iter_modules(dm.__path__) if name not in ("__main__", "_dome", "worker", "interactive", "remote",
                                                                                   "protocol")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, capsys):
    module = importlib.import_module("dome." + name)
    found = doctest.testmod(module, globs={"dm": dm}, optionflags=doctest.ELLIPSIS)
    assert not found.failed, capsys.readouterr().out


def test_there_are_some():
    finder = doctest.DocTestFinder()
    tests = [test for name in MODULES for test in finder.find(importlib.import_module("dome." + name)) if test.examples]
    assert len(tests) >= 40
