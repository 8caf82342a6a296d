"""That numpydoc can read every public docstring: types where types belong, and parameters that there are."""

import importlib
import inspect
import pkgutil
import re
import warnings

import pytest
from numpydoc.docscrape import NumpyDocString

import core

TYPED = ("Parameters", "Other Parameters", "Attributes", "Returns", "Yields", "Raises")
LONGEST = 120
PROSE = re.compile(r"(^|[\s(])(a|an|the|whether|how|why|where|as|see|is|are|one|of|and)\s|[.;:]$|[.;] | \(|\d\)|\d \(")
"""What stands in a sentence and in no type."""


def modules():
    for found in pkgutil.walk_packages(core.__path__, "core."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def plain(member):
    """The function behind a method, a property or a compiled loop."""
    for name in ("__func__", "fget", "py_func", "func"):
        member = getattr(member, name, None) or member
    return member


def documented(module):
    """Names of what is public in a module and its classes, with what has the docstring."""
    for name, member in vars(module).items():
        if name.startswith("_") or getattr(member, "__module__", None) != module.__name__ or not callable(member):
            continue
        yield name, plain(member)
        if inspect.isclass(member):
            for inner, method in vars(member).items():
                if not inner.startswith("_") and inspect.isfunction(plain(method)):
                    yield f"{name}.{inner}", plain(method)


def faults(member):
    """What is wrong with a docstring, in a few words each."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            read = NumpyDocString(inspect.cleandoc(member.__doc__))
        except (ValueError, UserWarning) as problem:
            yield f"cannot be read: {problem}"
            return
    for section in TYPED:
        for entry in read[section]:
            kind = entry.type or (entry.name if section in ("Returns", "Yields", "Raises") else "")
            if not kind:
                yield f"{section}: no type of {entry.name!r}"
            elif len(kind) > LONGEST or PROSE.search(kind):
                yield f"{section}: {kind!r} is no type"
    known = inspect.signature(member).parameters if read["Parameters"] else {}
    for name in (name.strip().lstrip("*") for entry in read["Parameters"] for name in entry.name.split(",")):
        if name not in known:
            yield f"there is no parameter {name!r}"


@pytest.mark.thorough
def test_numpydoc_reads_every_docstring():
    found = [
        f"{module.__name__}.{name}: {fault}"
        for module in modules()
        for name, member in documented(module)
        if member.__doc__
        for fault in faults(member)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("docstring", "fault"),
    [
        ("A.\n\nParameters\n----------\nx : the number of rows\n    Or so.", "is no type"),
        ("A.\n\nParameters\n----------\nx\n    The rows.", "no type of 'x'"),
        ("A.\n\nParameters\n----------\ny : int\n    The rows.", "there is no parameter 'y'"),
        ("A.\n\nReturns\n-------\nfloat64 (n,), or nothing.", "is no type"),
        (
            "A.\n\nParameters\n----------\nx : int\n    The rows.\n\nParameters\n----------\nx : int\n    Again.",
            "be read",
        ),
    ],
)
def test_faults_are_found(docstring, fault):
    def function(x):
        return x

    function.__doc__ = docstring
    assert any(fault in one for one in faults(function))
    function.__doc__ = "A.\n\nParameters\n----------\nx : int | None\n    The rows.\n\nReturns\n-------\nint\n    It."
    assert list(faults(function)) == []
