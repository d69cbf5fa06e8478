"""Docstrings: their examples, on any number of tasks; and that each says what it must, and what wrong calls raise."""
import ast
import builtins
import doctest
import importlib
import inspect
import pathlib
import pkgutil
import re

import pytest

import dome as dm

MODULES = [name for _, name, _ in pkgutil.iter_modules(dm.__path__) if name not in ("__main__", "_dome", "worker", "interactive", "remote",
                                                                                   "protocol")]
SPACES = {"dome": dm, "linalg": dm.linalg, "random": dm.random, "sparse": dm.sparse, "tasks": dm.tasks}
CLASSES = {"__init__": dm.Array, "random": dm.random.Generator, "sparse": dm.sparse.Matrix, "local": dm.local.Local}
TASKS = ("all call it; nobody waits.", "all call it, and may wait for each other.", "all call it, and wait for each other.",
         "any task alone may call it.", "the sender alone.", "the receiver alone, who waits.")


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, capsys):
    module = importlib.import_module("dome." + name)
    found = doctest.testmod(module, globs={"dm": dm}, optionflags=doctest.ELLIPSIS)
    assert not found.failed, capsys.readouterr().out


def test_there_are_some():
    finder = doctest.DocTestFinder()
    tests = [test for name in MODULES for test in finder.find(importlib.import_module("dome." + name)) if test.examples]
    assert len(tests) >= 40


def functions():
    """The public functions and methods, by name."""
    found = {}
    for space, module in SPACES.items():
        for name, value in vars(module).items():
            if not name.startswith("_") and inspect.isfunction(value) and (space == "dome" or value is not getattr(dm, name, None)):
                found[f"{space}.{name}"] = value
    for cls in CLASSES.values():
        for name, value in vars(cls).items():
            if not name.startswith("_") and inspect.isfunction(value):
                found[f"{cls.__name__}.{name}"] = value
    return found


def about_arrays():
    """The functions and methods that take or give arrays, as their annotations say."""
    folder, found = pathlib.Path(dm.__file__).parent, set()
    for module in (*SPACES, *CLASSES):
        tree = ast.parse((folder / (module.replace("dome", "__init__") + ".pyi")).read_text())
        homes = [(tree, "dome" if module == "__init__" else module)]
        homes += [(node, node.name) for node in tree.body if isinstance(node, ast.ClassDef)]
        found.update(f"{scope}.{node.name}" for home, scope in homes for node in home.body
                     if isinstance(node, ast.FunctionDef) and "Array" in ast.unparse(node.args) + ast.unparse(node.returns))
    return found


def parts(function):
    """The labelled parts of a docstring; the text before them is ""."""
    text = (inspect.getdoc(function) or "").split("\n>>>")[0]
    pieces = re.split(r"^(Shapes|Types|Tasks|Raises): ", text, flags=re.M)
    return {"": pieces[0].strip(), **{label: " ".join(piece.split()) for label, piece in zip(pieces[1::2], pieces[2::2])}}


def raised(function):
    """The exceptions that a docstring names."""
    names = re.findall(r"\b(?:errors\.)?[A-Z]\w*Error\b|errors\.\w+", parts(function).get("Raises", ""))
    found = tuple(getattr(dm.errors, name[7:]) if name.startswith("errors.") else getattr(builtins, name) for name in names)
    return found + ((TypeError, ValueError) if "as asarray" in parts(function).get("Raises", "") else ())


def test_parts():
    arrays, wrong, all_of_them = about_arrays(), [], functions()
    for name, function in all_of_them.items():
        found = parts(function)
        labels = ["Shapes", "Types", "Tasks", "Raises"] if name in arrays else ["Tasks", "Raises"]
        missing = [label for label in ("", *labels) if not found.get(label)]
        if missing or found["Tasks"] not in TASKS or not found[""].endswith((".", ":")):
            wrong.append((name, missing or found["Tasks"]))
        assert raised(function) or not re.search("Error", found.get("Raises", "")), name
    assert not wrong, wrong
    assert len(all_of_them) > 250 and len(arrays) > 200


def test_classes_and_properties():
    for cls in (*CLASSES.values(), dm.Client, dm.catch, dm.loop, dm.finfo, dm.iinfo, dm.Error, dm.OtherTaskError):
        assert inspect.getdoc(cls), cls
        missing = [name for name, value in vars(cls).items() if isinstance(value, property) and not name.startswith("_") and not value.__doc__]
        missing += [name for name, value in vars(cls).items() if not name.startswith("_") and inspect.isfunction(value) and not value.__doc__]
        assert not missing, (cls, missing)


def wrong_arguments(function):
    """Arguments that are wrong for one function or another: of a type, a shape, an axis, a number."""
    number, row, matrix = dm.asarray(1.0), dm.ones(3), dm.ones((2, 3))
    values = [number, row, matrix, dm.ones((2, 2, 2)), dm.ones(0), dm.asarray([1j, 2.0]), dm.asarray([True, False]), dm.asarray([3, 1, 2]),
              -1, 7, 1.5, "text", None]
    firsts = [[v] for v in values] + [[v, w] for v in (row, matrix, number) for w in values] + [[row, row, w] for w in values]
    named = [{}, {"axis": 7}, {"axis": (0, 0)}, {"dtype": "object"}, {"device": "gpu"}, {"seed": 1}, {"seed": 1, "dtype": "object"}]
    for words in firsts:
        for keywords in named:
            try:
                inspect.signature(function).bind(*words, **keywords)
            except TypeError:
                continue
            yield words, keywords


NOT_CALLED = re.compile(r"^(dome\.(abort|finalize|init|resize|checkpoint|barrier|print|map|save|named|epoch|host|load|loadtxt|is_restarting)|tasks\..*|"
                        r"Local\..*|Matrix\..*|Generator\..*|Array\.(fill|sort|pinned|numpy)|random\.default_rng)$")


@pytest.mark.parametrize("name", [name for name in functions() if not NOT_CALLED.match(name)])
def test_what_wrong_calls_raise(name):
    """A wrong call raises what the docstring names, and nothing else; but for what Python says itself of arguments of a wrong kind."""
    function = functions()[name]
    allowed = (*raised(function), AttributeError, TypeError)
    others = set()
    for words, keywords in wrong_arguments(function):
        try:
            function(*words, **keywords)
        except allowed:
            pass
        except Exception as error:
            if re.match("an array of (several values|the shape .*) (is neither|has not one)", str(error)):
                continue  # where a number is wanted
            others.add((type(error).__name__, str(error)[:70], str([str(getattr(w, "shape", w)) for w in words]) + str(keywords)))
    assert not others, (len(others), sorted(others)[:4])
