"""A mechanism is its file: one from a module that nothing else knows is seen wherever mechanisms are."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from core import Budget, Closeness, Domain, load, recommend, release
from core.errors import RequestError
from core.figures.label import privacy_label
from core.figures.share.page_sections import label_html
from core.geometry.kernels import Gaussian
from core.lab.comparison_plan import METHODS
from core.privacy.noise.randomness import SeededSource
from core.sketches import registry
from core.sketches.adaptive import Adaptive
from core.sketches.answers import Capabilities
from core.sketches.linear import LinearSketch
from core.ui.compare_choices import marks
from tests.cli.conftest import command, ledger, people, refused, source  # noqa: F401 (fixtures)

TOY = """
import numpy as np
from dataclasses import dataclass

from core.geometry.kernels import KERNEL, Kernel
from core.runtime.parameters import Whole, parameter
from core.privacy.budget import Neighbours, Sensitivity
from core.sketches.mechanism_spec import MechanismSpec
from core.sketches.answers import Answers
from core.sketches.linear import LinearSketch
from core.formatting.numbers import count


@dataclass(frozen=True)
class Toy(LinearSketch):
    kernel: Kernel = parameter(KERNEL)
    places: int = parameter(Whole("The number of places", 2, 1000), 16)
    name, metric, setup_bytes = "toy", "l2", 0
    shape = property(lambda self: (self.places,))
    where = property(lambda self: np.linspace(*self.domain.bounds(), self.places))

    def add(self, table, points):
        np.add.at(table, np.abs(points - self.where.T).argmin(axis=1), 1)

    def record_sensitivity(self, neighbours):
        return Sensitivity(*[1 if neighbours is Neighbours.ADD_REMOVE else 2] * 2, unit_shifts=True)

    def exact(self, queries, records):
        return self.kernel.evaluate(queries, records).sum(axis=1)

    def noise_variance(self, counter_variance, points=None):
        asked = self.where if points is None else points
        each = counter_variance * (self.kernel.evaluate(asked, self.where) ** 2).sum(axis=1)
        return float(each.mean()) if points is None else each

    def answer(self, table, records, points, counter_variance, level):
        error = self.noise_variance(counter_variance, points) ** 0.5
        return Answers.of_errors(self.kernel.evaluate(points, self.where) @ table, error, records, level)


CARD = MechanismSpec(
    "toy",
    "Nearest places",
    "Nobody 2026",
    "People are counted with noise at the nearest of a few places along one column.",
    sketch=Toy,
    make=lambda facts: Toy(facts.domain, facts.kernel, facts.size or 16),
    recommended=True,
    called="a toy",
    size="places",
    sizes=(4, 8),
    because=lambda sketch: f"with {count(sketch.places, 'place')}",
    holds=lambda sketch: f"{count(sketch.places, 'place')} with the people nearest to each",
    warm=lambda: (),
)
"""
BOUNDS = ("--bounds", "x=0:10")
LINE = Domain.of(x=(0, 10))
NEAR = Gaussian(3.0)


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The toy as a module of its own, far from ours; nothing knows it yet."""
    path = tmp_path_factory.mktemp("elsewhere") / "toy.py"
    path.write_text(TOY, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("toy_of_a_test", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def toy(module):
    registry.register(module.CARD)
    yield module.CARD
    registry.unregister("toy")


@pytest.mark.deep
def test_it_is_recommended_in_its_own_words(toy):
    found = {one.name: one for one in recommend(LINE, 5000, Budget(1), Closeness(NEAR))}
    assert found["toy"].sketch == toy.sketch(LINE, NEAR) and found["toy"].forecast.relative_error < 0.5
    assert "a histogram" in found["toy"].reason and found["toy"].reason.startswith("An error of")


@pytest.mark.thorough
def test_the_command_line_releases_forecasts_asks_and_describes_it(toy, command, source, tmp_path):  # noqa: F811
    shape = ("--mechanism", "toy", "--bandwidth", "3", "--size", "32")
    made = command("release", source, *BOUNDS, "--epsilon", "20", *shape, "--out", "a.npz")
    assert made.exit_code == 0 and "32 places with the people nearest to each" in made.output, made.output
    described = command("inspect", "a.npz")
    words = " ".join(described.output.split())
    assert "It holds 32 places with the people nearest to each." in words and "bell curve" in words
    (tmp_path / "places.csv").write_text("x\n3\n8\n")
    asked = command("query", "a.npz", "places.csv").stdout.splitlines()
    assert len(asked) == 3 and asked[0].startswith("x,estimate")
    forecast = command("forecast", "--records", "500", *BOUNDS, "--epsilon", "1", *shape)
    assert forecast.exit_code == 0 and "32 places with the people nearest to each" in " ".join(
        forecast.stdout.split()
    ), forecast.output
    listed = command("recommend", "--records", "500", *BOUNDS, "--epsilon", "1", "--bandwidth", "3", "--json")
    assert "toy" in {one["mechanism"] for one in json.loads(listed.stdout)}
    assert "--rows cannot be given here" in refused(
        command("forecast", "--records", "500", *BOUNDS, "--epsilon", "1", *shape[:4], "--rows", "4")
    )


@pytest.mark.deep
def test_an_audit_attacks_it(toy, command):  # noqa: F811
    result = command("audit", "--epsilon", "1", "--mechanism", "toy", "--runs", "2000")
    assert result.exit_code == 0 and "toy: nothing escaped" in result.stdout, result.output
    assert "Passed: in 2,000 runs" in result.stdout


def test_a_file_of_it_is_read_back_and_has_a_label_and_a_report(toy, tmp_path):
    made = release(toy.sketch(LINE, NEAR), people()[["x"]], Budget(5), noise_source=SeededSource(1))
    made.save(tmp_path / "toy.npz", teaching=True)
    opened = load(tmp_path / "toy.npz")
    assert opened.sketch == made.sketch and np.array_equal(opened.counters, made.counters)
    assert opened.answer({"x": [3.0]}).estimate > opened.answer({"x": [9.9]}).estimate
    label = privacy_label(opened)
    assert label.mechanism == "toy" and "16 places with the people nearest to each" in "".join(label_html(label))


def test_comparisons_list_it_with_a_mark_of_its_own(toy):
    method = METHODS["toy"]
    assert list(METHODS)[-1] == "toy" and not method.card.rival
    assert method.refusal(LINE, Closeness(NEAR), Budget(1)) is None
    assert method.sizes(LINE, Closeness(NEAR), 1000) == (None, 4, 8)
    assert marks()["toy"].title == "Nearest places"


def test_nothing_knows_it_before_and_after(command):  # noqa: F811
    assert "toy" not in METHODS and "toy" not in registry.command_names()
    assert "'toy' is not one of" in refused(
        command("forecast", "--records", "500", *BOUNDS, "--epsilon", "1", "--mechanism", "toy")
    )
    with pytest.raises(RequestError, match="no mechanism 'toy'"):
        registry.card("toy")


def test_a_name_is_given_once(toy):
    with pytest.raises(ValueError, match="already"):
        registry.register(toy)
    with pytest.raises(ValueError, match="already"):
        registry.register(registry.card("race"))


def test_an_installed_package_brings_one(module, monkeypatch):
    """By an entry point, which cannot take the place of one of ours."""
    brought = [
        EntryPoint("toy", "toy_of_a_test:CARD", registry.ENTRY_POINTS),
        EntryPoint("race", "toy_of_a_test:CARD", registry.ENTRY_POINTS),
    ]
    monkeypatch.setitem(sys.modules, "toy_of_a_test", module)
    monkeypatch.setattr(registry, "entry_points", lambda group: brought if group == registry.ENTRY_POINTS else [])
    registry.look_again()
    try:
        assert registry.card("toy") is module.CARD and registry.command_names()[-1] == "toy"
        assert registry.card("race").title == "RACE"
    finally:
        monkeypatch.undo()
        registry.look_again()
    assert "toy" not in registry.command_names()


def test_the_text_of_the_files_says_what_their_cards_say():
    for found in registry._found():
        card = found.load()
        assert (card.name, card.rank, card.command) == (found.name, found.rank, found.command)
        assert card.sketch is None or card.sketch.name == card.name


def test_a_card_says_enough_about_every_mechanism():
    for card in registry.cards().values():
        assert card.title and card.idea.endswith(".") and card.paper
        assert card.make is not None or not (card.command or card.recommended)
        assert set(card.sizes) == set() or card.size is not None
        assert list(card.sizes) == sorted(card.sizes)


ROOMS = ("core/sketches/", "core/lab/published/")


def told_apart(text: str, classes: set[str], names: set[str]):
    """Where a text looks at the class or the name of a mechanism: what it may do is asked instead."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            if classes & {one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name)}:
                yield ast.unparse(node)
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            parts = [one for side in sides for one in ast.walk(side)]
            of_class = [one for one in parts if isinstance(one, ast.Name) and one.id in classes]
            kinds = [one for one in sides if isinstance(one, ast.Call) and getattr(one.func, "id", "") == "type"]
            by_name = [one for one in sides if isinstance(one, ast.Attribute) and one.attr == "name"]
            named = [one for one in parts if isinstance(one, ast.Constant) and one.value in names]
            if (of_class and (kinds or by_name)) or (named and by_name and "sketch" in ast.unparse(node)):
                yield ast.unparse(node)


@pytest.mark.thorough
def test_what_a_release_allows_is_asked_of_its_mechanism_and_not_told_by_its_class_or_name():
    kinds = {LinearSketch, Adaptive}
    for found in registry.cards().values():
        kinds |= set() if found.sketch is None else set(found.sketch.__mro__) - set(Capabilities.__mro__)
    classes = {kind.__name__ for kind in kinds} | {"Projected", "ChosenTables", "Parts", "Classes"}
    names = set(registry.cards())
    core = Path(registry.__file__).parents[1]
    suspect = re.compile(rf"\b({'|'.join(classes)})\b|sketch\.name")
    texts = {path: path.read_text(encoding="utf-8") for path in core.rglob("*.py")}
    found = {
        path.name: list(told_apart(text, classes, names))
        for path, text in texts.items()
        if not path.relative_to(core.parent).as_posix().startswith(ROOMS) and suspect.search(text)
    }
    assert {name: told for name, told in found.items() if told} == {}


@pytest.mark.parametrize(
    "text", ["isinstance(made, Race)", "type(made) is Race", "made.sketch.name == 'race'", "one.name != Race.name"]
)
def test_whoever_tells_a_mechanism_by_its_class_or_name_is_found(text):
    assert list(told_apart(text, {"Race"}, {"race"})) == [text]
    assert list(told_apart("made.sketch.has_cells and column.name == 'race'", {"Race"}, {"race"})) == []
