"""Parameters that are declared once are checked, converted, written and read as their fields say."""

import importlib
from dataclasses import dataclass, replace

import numpy as np
import pytest

from core import RequestError
from core.runtime.parameters import Choice, Described, Number, Registry, Seed, Several, Validated, Whole, parameter


@dataclass(frozen=True)
class Tree(Validated):
    """A value with a field of every kind."""

    levels: int | None = parameter(Whole("The number of levels", 1, 20), None, settled="how many levels it has")
    order: str = parameter(Choice("The order", ("up", "down")), "up")
    alpha: float = parameter(Number("Alpha", 0.0, 1.0, "as it is a share"), 0.5)
    rows: tuple[tuple[int, ...], ...] = parameter(
        Several("The rows", Several("A row", Whole("An entry", -9, 9)), 1, 3), ((1, 2),), kw_only=True
    )
    parts: tuple | None = parameter(Several("The parts", Described("A part", object)), None, kw_only=True)
    seed: int = parameter(Seed("The seed of a tree"), None)
    note: str = "neither checked nor written"
    described = "tree"

    def _check(self):
        if self.levels is not None and len(self.rows) > self.levels:
            raise RequestError("A tree has a level for every row.")
        if self.parts is None:
            self._settle(parts=())


WRITTEN = Tree(3, seed=5).written()


def test_values_are_converted_settled_and_frozen():
    tree = Tree(np.int64(3), alpha=np.float32(0.25), rows=np.array([[1, 2], [3, 4]]), seed=7)
    assert tree == Tree(3, "up", 0.25, 7, rows=[[1, 2], [3, 4]])
    assert [type(value) for value in (tree.levels, tree.alpha, tree.rows[1][1])] == [int, float, int]
    assert hash(tree) == hash(replace(tree)) and tree.parts == ()
    with pytest.raises(AttributeError):
        tree.levels = 4


def test_a_seed_is_drawn_where_none_is_given():
    assert Tree().seed != Tree().seed


def test_what_is_written_is_read_in_the_order_of_the_fields():
    assert list(WRITTEN) == ["levels", "order", "alpha", "rows", "parts", "seed"]
    assert WRITTEN["seed"] == f"{5:032x}" and WRITTEN["rows"] == [[1, 2]]
    assert Tree(**Tree.read(WRITTEN)) == Tree(3, seed=5)
    assert Tree().written()["levels"] is None


@pytest.mark.parametrize(
    ("field", "value", "refusal"),
    [
        ("levels", 21, "The number of levels must be a whole number from 1 to 20."),
        ("levels", True, "The number of levels must be a whole number from 1 to 20."),
        ("levels", None, "A released tree must say how many levels it has."),
        ("levels", 1e300, "The number of levels must be a whole number from 1 to 20."),
        ("order", "Up", "The order must be 'up' or 'down'."),
        ("alpha", None, "Alpha must be a number."),
        ("alpha", 10**400, "Alpha must be a finite number."),
        ("alpha", 2, "Alpha must lie between 0 and 1, as it is a share."),
        ("rows", "12", "The rows must be a list."),
        ("rows", (1, 2), "The rows must be a list."),
        ("rows", [[1]] * 4, "The rows must be from 1 to 3, not 4."),
        ("rows", [[1], 2], "A row must be a list."),
        ("rows", [[10]], "An entry must be a whole number from -9 to 9."),
        ("rows", [[1], [2], [3], [4.0]], "The rows must be from 1 to 3, not 4."),
        ("seed", None, "A released tree must say its seed."),
        ("seed", 5, "The seed of a tree must be written as 32 hexadecimal digits."),
    ],
)
def test_a_strangers_value_is_refused_in_one_sentence(field, value, refusal):
    with pytest.raises(RequestError) as refused:
        Tree(**Tree.read(WRITTEN | {field: value}))
    assert str(refused.value) == refusal


@pytest.mark.parametrize("value", [None, [], {"levels": 3}, WRITTEN | {"note": "mine"}], ids=str)
def test_only_the_declared_fields_are_read(value):
    with pytest.raises(RequestError, match=r"^The description of a tree must have the fields levels, order, alpha, "):
        Tree.read(value)


@pytest.mark.parametrize("facts", [{"seed": 1 << 128}, {"seed": -1}, {"rows": []}, {"levels": 1, "rows": [[1], [2]]}])
def test_a_constructor_refuses_too(facts):
    with pytest.raises(RequestError):
        Tree(**facts)


def test_a_value_of_our_own_is_of_its_class():
    assert Described("The levels", Tree).checked(Tree(seed=1)) == Tree(seed=1)
    with pytest.raises(RequestError, match="The levels must be a Tree"):
        Described("The levels", Tree).checked("tree")


def test_a_class_in_a_file_of_the_folder_is_listed_without_a_word_elsewhere(tmp_path, monkeypatch):
    folder = tmp_path / "few_methods"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "kind.py").write_text(
        "from abc import ABC, abstractmethod\nclass Kind(ABC):\n    @abstractmethod\n    def go(self): ...\n"
    )
    one = "from .kind import Kind\nclass {0}(Kind):\n    name = '{1}'\n    {2}\n    def go(self): return 1\n"
    (folder / "later.py").write_text(one.format("Later", "later", "rank = 2") + "class Unnamed(Later): ...\n")
    (folder / "first.py").write_text("from .later import Later\n" + one.format("First", "first", "rank = 1"))
    (folder / "hidden.py").write_text(one.format("Hidden", "hidden", "listed = False"))
    monkeypatch.syspath_prepend(tmp_path)
    kind = importlib.import_module("few_methods.kind").Kind
    known = Registry("few_methods", kind, "The method")
    assert list(known) == ["first", "later"] and known.named("later")().go() == 1
    with pytest.raises(RequestError, match="The method must be 'first' or 'later'"):
        known.named("hidden")
    other = type("Other", (kind,), {"name": "other", "go": lambda self: 2})
    known.register(other)
    with pytest.raises(ValueError, match="other"):
        known.register(other)
    assert list(known) == ["other", "first", "later"]
    known.unregister(other)
    assert len(known) == 2
