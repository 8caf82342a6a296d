"""Release files made by earlier versions open for ever, and answer as they did."""

import json
from pathlib import Path

import numpy as np
import pytest

from core import load
from core.figures.label import describe, privacy_label
from core.figures.share.page_sections import label_html
from core.runtime.counter_tables import array

FILES = sorted((Path(__file__).parents[1] / "known_releases").glob("*.npz"))


def test_there_are_files_of_every_version():
    named = {"numbers", "people", "merged", "angles", "features", "waves", "histogram", "projected", "distance"}
    named |= {"straight", "moments", "directions", "classes"}
    named |= {"fourier", "cosines", "functional", "lattice", "embedding", "flat", "boxes", "marginals", "network"}
    named |= {"rounds", "convex"}
    assert {path.stem for path in FILES} >= {f"{name}-1" for name in named} | {"large-2", "parts-3"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_known_release_answers_as_it_did(path):
    release = load(path)
    facts = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert list(release.parts) == list(facts.get("parts", {}))
    for part, own in facts.get("parts", {"": facts}).items():
        check_answers(release.parts[part] if part else release, own)


def check_answers(release, facts):
    """The same numbers, and the same answers from them."""
    assert list(release.counters.shape) == facts["shape"] and int(array(release.counters).sum()) == facts["total"]
    assert release.records == pytest.approx(facts["records"], rel=1e-9)
    assert release.records_error == pytest.approx(facts["records_error"], rel=1e-9)
    answers = release.answer(facts["queries"])
    tolerance = facts.get("tolerance", 1e-9)
    for name, expected in facts["answers"].items():
        np.testing.assert_allclose(getattr(answers, name), expected, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.few(19)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_known_release_can_be_described_and_written_again(path):
    release = load(path)
    assert len(describe(release)) > 5 and "Privacy label" in "".join(label_html(privacy_label(release)))
    assert load(release.to_bytes()).privacy == release.privacy
