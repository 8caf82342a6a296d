"""What takes long of bundled releases comes with them: it is theirs, and nobody works it out again."""

from hashlib import sha256

import numpy as np
import pytest

from core import load
from core.sources.public_tables import ANSWERS, RELEASES
from core.ui.released import public_answers
from tests.depth import sampled

FILES = {f"{sha256(path.read_bytes()).hexdigest()[:16]}.npz": path for path in sorted(RELEASES.glob("*.npz"))}
DENSITIES = [path.stem for path in FILES.values() if not path.stem.endswith(("-groups", "-distance"))]


def identity(stem):
    return sha256((RELEASES / f"{stem}.npz").read_bytes()).hexdigest()


def test_every_file_of_answers_is_of_a_bundled_release():
    kept = {path.name for path in ANSWERS.glob("*.npz")}
    assert kept and kept <= set(FILES)


@pytest.mark.thorough
def test_who_a_place_is_compared_with_is_worked_out_for_no_bundled_release(monkeypatch):
    def worked_out(release):
        raise AssertionError("it was worked out again")

    monkeypatch.setattr(public_answers, "synthetic_population", worked_out)
    for stem in DENSITIES:
        one = public_answers.population(identity(stem), load(RELEASES / f"{stem}.npz"))
        assert len(one) >= 5_000 and (np.diff(one) >= 0.0).all()
        assert public_answers.at_hand(public_answers.population, identity(stem))


@pytest.mark.parametrize("stem", sampled(DENSITIES))
def test_it_is_what_would_be_worked_out(stem):
    release = load(RELEASES / f"{stem}.npz")
    kept = public_answers.population(identity(stem), release)
    assert kept == pytest.approx(public_answers.synthetic_population(release), rel=1e-3, abs=1e-6)
