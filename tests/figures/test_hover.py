"""Numbers beside a pointer are written out: Plotly's `g` says 2.000e+4 for twenty thousand."""

import re
from pathlib import Path

import pytest

FIGURES = Path(__file__).parents[2] / "core" / "figures"


@pytest.mark.parametrize("path", sorted(FIGURES.rglob("*.py")), ids=lambda path: str(path.relative_to(FIGURES)))
def test_no_number_beside_a_pointer_has_an_exponent_or_needless_digits(path):
    formats = re.findall(r"%\{[^}:]+:([^}|]+)\}", path.read_text(encoding="utf-8"))
    assert not [one for one in formats if one.endswith(("g", "e")) or re.search(r"\.[3-9]~?%", one)]
