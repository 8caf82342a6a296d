"""Counts what the library costs to carry, as a table: `python -m docs.count_house`, or as a file.

Every import counts, inside functions and for types too. A folder is a node by the files that lie directly in it, and a
file of `core` itself is a room of its own; the front door `core/__init__.py` imports everything and is no node.
"""

from __future__ import annotations

import ast
import gc
import re
import statistics
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parents[1]
FRONT = ("core", "core.__main__")
NAMED_BY_PYTHON = ("__init__.py", "__main__.py")
TO_KNOW = ("LinearSketch", "Capabilities", "MechanismSpec", "PublicInputs")
"""Classes that the author of a mechanism reads."""
LONGEST = 400
"""Lines that a file may have."""
PURCHASES = ("Purchasing", "spend_part", "prepay")
"""What an orchestration of purchases calls by itself."""
AT_MOST = {
    "knots of folders": 0,
    "knots of siblings": 0,
    "circles of files": 0,
    "names used twice": 0,
    "switches on a mechanism outside sketches": 0,
    "orchestrations outside releases": 0,
    "registries besides cards": 0,
    "rooms at the top": 18,
    "files of more than 400 lines": 13,
    "files": 450,
}
"""What was reached: a test refuses more."""

Graph = Mapping[str, Collection[str]]


@cache
def modules() -> dict[str, Path]:
    """Every module of the library, with its file."""
    return {_name(path): path for path in sorted((ROOT / "core").rglob("*.py"))}


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def text(module: str) -> str:
    """A module as it is written."""
    return modules()[module].read_text(encoding="utf-8")


@cache
def tree(module: str) -> ast.Module:
    """A module as Python reads it.

    Nothing of it is rubbish, and looking for some among so many nodes takes twice as long as reading them.
    """
    gc.disable()
    try:
        return ast.parse(text(module))
    finally:
        gc.enable()


@cache
def _imported(module: str) -> list[tuple[str, str, str]]:
    """What a module takes in: the other module, the name there, and its name here."""
    return list(_read_imports(module))


def _read_imports(module: str) -> Iterator[tuple[str, str, str]]:
    package = module.split(".") if modules()[module].name == "__init__.py" else module.split(".")[:-1]
    for node in _statements(tree(module)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "", alias.asname or alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                whole = f"{origin}.{alias.name}"
                inner = (whole, "") if whole in modules() else (origin, alias.name)
                yield *inner, alias.asname or alias.name


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """What lies in a node and is no expression: a twentieth of all, and everything that may import."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        inside = getattr(node, block, ())
        for one in inside if isinstance(inside, list) else ():
            yield one
            yield from _statements(one)


@cache
def imports() -> dict[str, set[str]]:
    """Who imports from whom, by module."""
    return {
        module: {other for other, _, _ in _imported(module) if other in modules()} - {module} for module in modules()
    }


def knots(graph: Graph) -> list[list[str]]:
    """Sets of nodes of which each can be reached from each: strongly connected components, by Tarjan's algorithm."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_nodes: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = lowest[node] = len(order)
        open_nodes.append(node)
        for other in graph.get(node, ()):
            if other not in order:
                visit(other)
            if other in open_nodes:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == order[node]:
            start = open_nodes.index(node)
            if len(open_nodes) - start > 1:
                found.append(sorted(open_nodes[start:]))
            del open_nodes[start:]

    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10 * len(graph) + 1000))
    for node in graph:
        if node not in order:
            visit(node)
    return sorted(found)


def _folder(module: str) -> str:
    folder = _name(modules()[module].parent / "__init__.py")
    return module if folder == "core" else folder


def folders() -> dict[str, set[str]]:
    """Which folder imports from which, a folder being the files that lie directly in it."""
    arrows: dict[str, set[str]] = {}
    for module, others in imports().items():
        if module not in FRONT:
            arrows.setdefault(_folder(module), set()).update(_folder(other) for other in others if other not in FRONT)
    return {folder: others - {folder} for folder, others in arrows.items()}


def siblings() -> Iterator[tuple[str, dict[str, set[str]]]]:
    """Every folder, with which of its files and sub-folders import from which."""
    for parent in sorted({_name(path.parent / "__init__.py") for path in modules().values()}):
        arrows: dict[str, set[str]] = defaultdict(set)
        for module, others in imports().items():
            for other in others:
                one, two = _child(parent, module), _child(parent, other)
                if one and two and one != two:
                    arrows[one].add(two)
        yield parent, arrows


def _child(parent: str, module: str) -> str:
    inside = module.startswith(parent + ".")
    return f"{parent}.{module[len(parent) + 1 :].split('.')[0]}" if inside else ""


def sibling_knots() -> list[list[str]]:
    """Knots of what lies in one folder, files and sub-folders, at any depth."""
    return [knot for _, arrows in siblings() for knot in knots(arrows)]


def names_used_twice() -> dict[str, list[str]]:
    """File names that do not say which file it is."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules().values():
        if path.name not in NAMED_BY_PYTHON:
            places[path.name].append(str(path.relative_to(ROOT)))
    return {name: files for name, files in sorted(places.items()) if len(files) > 1}


def sizes() -> dict[str, int]:
    """How many lines each file has."""
    return {module: len(text(module).splitlines()) for module in modules()}


def lines() -> Counter[str]:
    """Lines of the library by what they are."""
    found: Counter[str] = Counter()
    for module in modules():
        every = text(module).splitlines()
        kinds = ["blank" if not line.strip() else "comment" if line.strip()[0] == "#" else "code" for line in every]
        for node in ast.walk(tree(module)):
            kind = "import" if isinstance(node, ast.Import | ast.ImportFrom) else "docstring" if _says(node) else ""
            if kind and isinstance(node, ast.stmt):
                last = node.end_lineno or node.lineno
                kinds[node.lineno - 1 : last] = [kind] * (last - node.lineno + 1)
        found.update(kinds)
    return found


def _says(node: ast.AST) -> bool:
    """Whether a statement is a text that stands alone: the docstring of what it is in, or of the field above it."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def floors(graph: Graph) -> int:
    """Floors of a building in which everyone uses lower floors alone, a knot being one node."""
    knot_of = {node: knot[0] for knot in knots(graph) for node in knot}
    merged: dict[str, set[str]] = defaultdict(set)
    for node, others in graph.items():
        merged[knot_of.get(node, node)].update(knot_of.get(other, other) for other in others)
    height: dict[str, int] = {}
    for node in TopologicalSorter({node: others - {node} for node, others in merged.items()}).static_order():
        height[node] = 1 + max((height[other] for other in merged.get(node, set()) - {node}), default=0)
    return max(height.values(), default=0)


def classes() -> dict[tuple[str, str], ast.ClassDef]:
    """Every class, by its module and name."""
    return {
        (module, node.name): node
        for module in modules()
        for node in tree(module).body
        if isinstance(node, ast.ClassDef)
    }


def members(name: str) -> str:
    """How much a class asks of who fills it in: its public members, and of them those without a default."""
    found = [node for (_, one), node in classes().items() if one == name]
    if not found:
        return "not there"
    inside = found[0].body
    fields = [node for node in inside if isinstance(node, ast.AnnAssign) and not _private(node.target)]
    methods = [node for node in inside if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    must = [node for node in fields if node.value is None and "ClassVar" not in ast.unparse(node.annotation)]
    must += [node for node in methods if any("abstract" in ast.unparse(mark) for mark in node.decorator_list)]
    return f"{len(fields) + len(methods)} members, {len(must)} to be answered"


def _private(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id[0] == "_"


def mechanisms() -> tuple[set[tuple[str, str]], set[str]]:
    """Classes of the mechanisms, which are `LinearSketch` or `Adaptive`, and the names that they go by."""
    every = classes()
    found = {key for key in every if key[1] in ("LinearSketch", "Adaptive")}
    grown = True
    while grown:
        known = {name for _, name in found}
        more = {key for key, node in every.items() if {_last(base) for base in node.bases} & known} - found
        found, grown = found | more, bool(more)
    concrete = {key for key in found if key[1] not in ("LinearSketch", "Adaptive")}
    said = {text for key in concrete for text in _said_names(every[key])}
    return concrete, said


def _last(base: ast.expr) -> str:
    base = base.value if isinstance(base, ast.Subscript) else base
    return ast.unparse(base).rpartition(".")[2]


def _said_names(node: ast.ClassDef) -> Iterator[str]:
    for inner in node.body:
        targets = [inner.target] if isinstance(inner, ast.AnnAssign) else getattr(inner, "targets", [])
        value = getattr(inner, "value", None)
        if any(isinstance(one, ast.Name) and one.id == "name" for one in targets) and isinstance(value, ast.Constant):
            yield str(value.value)


NAMED = re.compile(r"\.(?:name|mechanism)\s*(?:[!=]=|in\b|not\b|is\b)")


def switches() -> list[str]:
    """Places outside `core/sketches` that tell mechanisms apart, by class or by name."""
    concrete, said = mechanisms()
    found = []
    for module in modules():
        if module.startswith("core.sketches"):
            continue
        known = {here for other, name, here in _imported(module) if (other, name) in concrete}
        if not known and not NAMED.search(text(module)):
            continue
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
                hit = {one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name)} & known
            elif isinstance(node, ast.Compare) and ast.unparse(node.left).endswith((".name", ".mechanism")):
                texts = (
                    one.value for side in node.comparators for one in ast.walk(side) if isinstance(one, ast.Constant)
                )
                hit = {text for text in texts if isinstance(text, str)} & said
            else:
                continue
            found += [f"{modules()[module].relative_to(ROOT)}:{node.lineno} {name}" for name in sorted(hit)]
    return found


def orchestrations() -> list[str]:
    """Files outside `core/releases` that buy stage by stage themselves, rather than drive a plan."""
    found = []
    for module in modules():
        named = any(word in text(module) for word in PURCHASES)  # to read on takes a hundred times as long
        if named and not module.startswith(("core.releases", "core.auditing")):
            called = {_last(node.func) for node in ast.walk(tree(module)) if isinstance(node, ast.Call)}
            if called & set(PURCHASES):
                found.append(str(modules()[module].relative_to(ROOT)))
    return found


def registries() -> list[str]:
    """Lists of classes of three files or more that stand in code, where a card in each file could say it."""
    every = classes()
    found = []
    for module in modules():
        origin = {here: other for other, name, here in _imported(module) if (other, name) in every}
        for node in tree(module).body:
            value = getattr(node, "value", None)
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(value, ast.Dict | ast.Tuple | ast.List):
                listed = {origin[one.id] for one in _listed(value) if one.id in origin}
                if len(listed) >= 3:
                    found.append(f"{modules()[module].relative_to(ROOT)}:{node.lineno}")
    return found


def _listed(value: ast.expr) -> Iterable[ast.Name]:
    inside = value.values if isinstance(value, ast.Dict) else getattr(value, "elts", [])
    for one in inside:
        yield from (part for part in [one, *getattr(one, "elts", [])] if isinstance(part, ast.Name))


STAGES = {
    "Source.batches": "read and added",
    "Job.finish": "paid for, noised and sealed",
    "Release.save": "saved",
    "load": "opened",
    "Release.estimate": "asked",
}
"""What a record goes through, by the function that begins it; before the first, all is planned without records."""


def path_of_a_record() -> dict[str, set[str]]:
    """Files that a record passes from a Parquet file to an answer, where Python sees them, by stage."""
    import numpy as np
    import pandas as pd

    if str(ROOT) not in sys.path:  # run as a file, its own folder is there alone
        sys.path.insert(0, str(ROOT))
    from core import Budget, Domain, Race, kernels, load, release

    stage, passed = "planned", defaultdict[str, set[str]](set)

    def entered(frame: FrameType, event: str, _: object) -> None:
        nonlocal stage
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(str(ROOT / "core")):
            stage = STAGES.get(code.co_qualname, stage)
            passed[stage].add(str(Path(code.co_filename).relative_to(ROOT)))

    sketch = Race(Domain.of(age=(0, 100)), kernels.Euclidean(bandwidth=5), rows=10, width=64)
    with tempfile.TemporaryDirectory() as folder:
        people, file = Path(folder) / "people.parquet", Path(folder) / "people.npz"
        pd.DataFrame({"age": np.arange(100.0)}).to_parquet(people)
        for profile in (None, entered):  # once before: what is imported and compiled then is no part of the path
            stage = "planned"
            sys.setprofile(profile)
            try:
                release(sketch, people, Budget(1)).save(file)
                load(file).estimate(pd.DataFrame({"age": [30.0]}))
            finally:
                sys.setprofile(None)
    return passed


def reached() -> dict[str, list[str]]:
    """What may not get worse, each with its places."""
    return {
        "knots of folders": [" ".join(knot) for knot in knots(folders())],
        "knots of siblings": [" ".join(knot) for knot in sibling_knots()],
        "circles of files": [" ".join(knot) for knot in knots(imports())],
        "names used twice": [" ".join(files) for files in names_used_twice().values()],
        "rooms at the top": sorted({module.split(".")[1] for module in modules() if module not in FRONT}),
        "files of more than 400 lines": [module for module, size in sizes().items() if size > LONGEST],
        "files": list(modules()),
        "switches on a mechanism outside sketches": switches(),
        "orchestrations outside releases": orchestrations(),
        "registries besides cards": registries(),
    }


def table() -> Iterator[tuple[str, str]]:
    """Everything that is counted, in words and figures."""
    long = sizes().values()
    graph = folders()
    kinds = lines()
    yield "lines", f"{sum(long):,}: " + ", ".join(f"{kinds[kind]:,} {kind}" for kind in sorted(kinds))
    yield "folders as nodes", f"{len(graph)} on {floors(graph)} floors, {sum(map(len, graph.values()))} arrows"
    for name, places in reached().items():
        more = f", median {statistics.median(long):.0f} lines, longest {max(long)}" if name == "files" else ""
        yield name, f"{len(places)}{more}"
    for name in TO_KNOW:
        yield name, members(name)


def main() -> None:
    """Print the table; with `--places`, where each of it is."""
    for name, figure in table():
        print(f"{name:42}{figure}")
    record = path_of_a_record()
    every, made = set().union(*record.values()), set().union(*(record[name] for name in list(STAGES.values())[:3]))
    print(f"{'one record, from file to release':42}{len(made)} files, {len(every)} with its plan and an answer")
    for name, files in record.items():
        print(f"    {name:38}{len(files)}")
    if "--places" in sys.argv[1:]:
        for name, places in (reached() | {"files": [], "one record": sorted(every)}).items():
            print(f"\n{name}", *places, sep="\n    ")


if __name__ == "__main__":
    main()
