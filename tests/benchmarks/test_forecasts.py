"""The judge of recommendations: hindsight is corrected, settings are always the same ones, and results are kept."""

import csv
from dataclasses import asdict

import numpy as np

from benchmarks.forecasts import Row, Setting, kept, regret, settings
from benchmarks.public_sets import TUNED_ON, of_numbers, public_sets
from core.sources.public_tables import samples

SETTING = Setting("made up", "gaussian", 0.4, 1.0, 0.0, 2000)


def row(place: int, errors: object) -> Row:
    told = {"forecast": 0.1, "low": 0.1, "high": 0.3, "relative": 0.2, "covered": 0.95, "seconds": 0.0}
    said = ";".join(str(error) for error in errors)
    return Row(**asdict(SETTING), place=place, mechanism=f"m{place}", **told, errors=said)


def test_what_chance_did_on_one_half_is_no_regret():
    lucky_at_first = row(1, [1, 1, 4, 4])
    assert regret([row(0, [2, 2, 2, 2]), lucky_at_first]) < 1.01
    assert regret([row(0, [2, 2, 2, 2]), row(1, [1, 1, 1, 1])]) == 2.0
    assert regret([row(0, [1, 1, 1, 1]), row(1, [2, 2, 2, 2])]) == 1.0


def test_settings_are_in_the_same_order_and_what_is_kept_is_read_back(tmp_path):
    sets = [of_numbers("made up", np.arange(9000.0)[:, None], 0, 9000), of_numbers("few", np.eye(200), 0, 1)]
    assert settings(sets) == settings(sets) and len(set(settings(sets))) == len(settings(sets)) == 2 * 12 * 4
    rows = [row(place, [0.25, 0.125]) for place in (0, 1)]
    with (tmp_path / "rows.csv").open("w", newline="") as opened:
        writer = csv.DictWriter(opened, list(asdict(rows[0])))
        writer.writeheader()
        writer.writerows(map(asdict, rows))
    assert kept(tmp_path / "rows.csv") == {SETTING: rows}


def test_sets_lie_inside_their_bounds_and_those_tuned_on_exist():
    sets = {one.name: one for one in public_sets(None)}
    assert TUNED_ON - set(sets) == {"skin", "pulsars", "occupancy", "airfoil", "adult numbers, steps"}, (
        "which are files"
    )
    assert {one.name for one in samples() if not one.domain.holds_sets} <= set(sets) - TUNED_ON
    for one in (sets["spikes, steps"], sets["houses"]):
        points = one.encoded(0, 500)
        assert points.min() >= 0 and points.max() <= 1
