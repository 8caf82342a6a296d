"""Warming compiles what a release and a query call."""

from core.engine.warming import warm, warm_in_background
from core.sketches import counting


def test_after_warming_nothing_is_left_to_compile():
    warm()
    before = [len(loop.signatures) for loop in (counting._pour, counting._read)]
    assert all(before)
    warm_in_background().join()
    assert [len(loop.signatures) for loop in (counting._pour, counting._read)] == before
