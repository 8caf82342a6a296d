"""Every mechanism reads the parameters that it writes, and no others: whatever a stranger puts in place of one."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core import RequestError
from core.runtime.parameters import Choice, Kind, Number, Seed, Several, Text, Whole, declared
from core.sketches.linear import LinearSketch
from core.sketches.registry import sketch_from_parameters
from tests.depth import draws
from tests.sketches.test_every_mechanism import KNOWN, OTHERS, small
from tests.tables_for_tests import LETTERS

NAMES = [*KNOWN, *OTHERS]
LATER = {"among", "choosing", "cut_for", "edges", "finest", "rule"}
"""Fields that files of earlier versions do not have, which are written where they say something else than those did."""
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 64), 1 << 64)
    | st.floats()
    | st.sampled_from([10**400, 1 << 31, -1, 0, 1, 0.5])
    | st.text(LETTERS, max_size=40)
    | st.sampled_from(["l1", "dense", f"{5:032x}"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(LETTERS, max_size=8), inner, max_size=3),
    max_leaves=6,
)


def written(sketch: LinearSketch) -> dict:
    """The parameters as a file holds them."""
    return json.loads(json.dumps(sketch.parameters()))


def read(sketch: LinearSketch, facts: object) -> LinearSketch:
    return sketch_from_parameters(sketch.name, sketch.domain, facts)


def refused(sketch: LinearSketch, facts: dict) -> None:
    """In one sentence."""
    with pytest.raises(RequestError) as error:
        read(sketch, facts)
    assert re.fullmatch(r"[A-Z0-9][^\n]*\.", str(error.value)) and not re.search(r"\. [A-Z]", str(error.value))


def places(value: object, path: tuple = (), ends: bool = False) -> Iterator[tuple]:
    """Where a value may be put in place of another one: every field and entry of a list (or its ends), however deep."""
    if path:
        yield path
    if isinstance(value, (dict, list)):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        for key in keys[:1] + keys[1:][-1:] if ends and isinstance(value, list) else keys:
            yield from places(value[key], (*path, key), ends)


def at(value: object, path: tuple) -> object:
    return at(value[path[0]], path[1:]) if path else value


def put(facts: dict, path: tuple, value: object) -> dict:
    changed = json.loads(json.dumps(facts))
    at(changed, path[:-1])[path[-1]] = value
    return changed


def kind_of(value: object) -> type:
    """Whole numbers may stand for others, and nothing else for anything else."""
    return float if type(value) is int else type(value)


@pytest.mark.few(15)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=draws(3, 50))
@given(data=st.data())
def test_another_value_is_refused_or_read_as_it_is_written(name, data):
    sketch = small(name)
    facts = written(sketch)
    if not facts:  # a mechanism that has none takes none
        refused(sketch, {data.draw(st.text(LETTERS, max_size=8)): data.draw(JSON)})
        return
    path = data.draw(st.sampled_from(list(places(facts))))
    value, old = data.draw(JSON), at(facts, path)
    assume(not (kind_of(value) is kind_of(old) and value == old))
    changed = put(facts, path, value)
    try:
        made = read(sketch, changed)
    except RequestError:
        refused(sketch, changed)
        return
    assert read(made, written(made)) == made
    optional = None in (value, old) or "bandwidth" in path  # one number, or a list of them
    assert optional or kind_of(value) is kind_of(old), "a value of another type is taken for one"


STRANGE = [True, False, 1, 1.5, float("nan"), 10**400, "1", "", [], [[]], {}, {"name": "gaussian"}]


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NAMES)
def test_a_value_of_another_type_is_refused_however_deep_it_lies(name):
    sketch = small(name)
    facts = written(sketch)
    for path in places(facts, ends=True):
        old = at(facts, path)
        for value in STRANGE if old is not None else ():
            one_or_many = path[-1] == "bandwidth" and kind_of(value) in (float, list)
            if kind_of(value) is not kind_of(old) and not one_or_many:
                refused(sketch, put(facts, path, value))


def beyond(kind: Kind) -> Iterator[object]:
    """JSON that is just outside what a field may be."""
    yield {"a": 1}
    match kind:
        case Whole(least=least, greatest=greatest):
            yield from (least - 1, greatest + 1, least + 0.5, True, "1", 10**400, [least])
        case Number(least=least, greatest=greatest):
            limits = [least - 1, greatest * 2] if abs(least) < 1e300 else []
            yield from (*limits, float("nan"), float("inf"), 10**400, True, "1", [1.0])
        case Choice():
            yield from ("other", "", 1, None)
        case Text():
            yield from ("", 1, None, "a" * 1001, "\ud800")
        case Seed():
            yield from (5, None, "0" * 31, "0" * 33, "A" * 32, -1)
        case Several(kind=inner, least=least, greatest=greatest):
            yield from (1, "ab")
            if least:
                yield []
            if greatest is not None:
                yield [0] * (greatest + 1)
            yield from ([value] for value in beyond(inner))
        case _:
            yield from (1, "name", [], True)


@pytest.mark.few(15)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_outside_its_limits_is_refused_in_one_sentence(name):
    sketch = small(name)
    facts = written(sketch)
    own = {one.name: one for one in declared(type(sketch))}
    assert set(own) - set(facts) <= LATER and read(sketch, facts) == sketch
    for one in (own[name] for name in own if name in facts):
        for value in beyond(one.metadata["kind"]):
            if not (value is None and one.default is None and not one.metadata["settled"]):
                refused(sketch, facts | {one.name: value})
        if one.metadata["settled"]:
            refused(sketch, facts | {one.name: None})
        if one.name not in LATER:
            refused(sketch, {key: value for key, value in facts.items() if key != one.name})


@pytest.mark.few(15)
@pytest.mark.parametrize("name", NAMES)
def test_all_that_is_no_domain_and_no_size_in_between_is_declared(name):
    sketch = small(name)
    told = {one.name for one in declared(type(sketch))}
    assert {one.name for one in fields(sketch)} - told <= {
        "domain",
        "cells",
        "begun",
    }  # the last is of a part that is being read, and in no file
