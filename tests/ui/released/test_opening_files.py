"""Opening released files on Explore without a browser: a bad one gets one sentence, and what is open stays."""

import re

import numpy as np
import pytest

from core import Budget, Numeric
from core.domain import Categorical
from core.ui.frame.session import KEY
from core.ui.released.chosen_view import ONE, TWO
from tests.releases_for_tests import manifest_in, npy, small_release, with_manifest, with_table, zipped
from tests.ui.explore.visiting import (
    AGE,
    CITY,
    PAY,
    choose,
    explore,
    field,
    file_of,
    follow,
    hold,
    labels,
    released,
    shown,
    view,
)

UNESCAPED = re.compile(r"(?<!\\)[\[\]]")


FOREIGN = "![x](http://stranger.example/x.png) **b** `c` $d$ :red[e]"


def hostile_files() -> dict[str, bytes]:
    good = file_of(AGE, CITY)
    forged = manifest_in(good)
    forged["privacy"]["epsilon"] = "0.001"
    return {
        "nothing": b"",
        "cut short": good[: len(good) // 2],
        "a flipped bit": bytes([*good[:400], good[400] ^ 64, *good[401:]]),
        "no archive": b"PK\x03\x04 but not really",
        "a pickle": zipped({"manifest.npy": npy(np.array([{"a": 1}], dtype=object))}),
        "another table": with_table(good, np.zeros((3, 3), dtype=np.int64)),
        "a forged promise": with_manifest(good, forged),
        "no JSON": with_manifest(good, "{"),
    }


def test_without_a_file_it_says_what_one_is_and_what_is_missing():
    app = explore()
    assert not app.exception and "Still missing: a released file." in shown(app)
    assert "nothing that runs" in shown(app) and field(app.button, "Save the report").disabled
    assert {"Salaries", "City bicycles"} <= {one.proto.label for one in app.get("page_link")}


def test_a_bundled_release_opens_from_the_gallery_without_the_page_that_is_left_being_run_again():
    app = explore()
    assert "Salaries" not in labels(app.button)
    follow(app, "Salaries")
    assert not app.exception and "salaries.npz</strong> · salary of about" in shown(app)


def test_a_bundled_release_opens_again_after_another_was_looked_at():
    app = follow(follow(explore(), "Salaries"), "Home")
    follow(follow(app, "City bicycles"), "Home")
    assert "salaries.npz" in shown(follow(app, "Salaries"))


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", hostile_files())
def test_a_hostile_file_gets_one_sentence_and_leaves_what_is_open(kind):
    app = explore(file_of(AGE))
    app.file_uploader[-1].set_value(("bad.npz", hostile_files()[kind], "application/octet-stream"))
    app.run()
    assert not app.exception
    assert len(app.error) == 1 and app.error[0].value.endswith(".") and "Traceback" not in app.error[0].value
    assert app.session_state[KEY].shown.name == "people.npz"


@pytest.mark.deep
def test_names_of_a_strangers_file_are_text_and_no_markup():
    nasty = Numeric("<img src=x onerror=alert(1)>", 0, 1, "<b>")
    app = explore(file_of(nasty, Categorical("a|b`c", ("<i>x", "**y**"))), name="<script>alert(1)</script>.npz")
    for name in ("Density", "Sample"):
        view(app, name)
        assert not app.exception
        for element in app.markdown:
            assert "<img" not in element.value and "<script" not in element.value and "<i>x" not in element.value


def test_a_teaching_file_says_that_it_protects_nobody():
    from core.privacy.noise.randomness import SeededSource

    release = small_release(Budget(epsilon=1), noise_source=SeededSource(1))
    app = explore(release.to_bytes(teaching=True))
    assert "protects nobody" in app.warning[0].value


@pytest.mark.thorough
def test_two_files_can_be_open_and_the_last_one_closed():
    app = explore(file_of(AGE), "first.npz")
    app.file_uploader[-1].set_value(("second.npz", file_of(CITY), "application/octet-stream"))
    app.run()
    assert app.session_state[KEY].shown.name == "second.npz"
    field(app.button, "first.npz").click().run()
    assert app.session_state[KEY].shown.name == "first.npz" and not app.exception
    for _ in range(2):
        field(app.button, "Close this file").click().run()
    assert app.session_state[KEY].shown is None and "Still missing: a released file." in shown(app)


@pytest.mark.deep
def test_names_of_a_strangers_file_are_no_markdown_either():
    """A picture in a column's name would be fetched by the browser of everyone who opens the file."""
    columns = (Numeric(FOREIGN, 0, 1), Numeric("y", 0, 1), Categorical("z" + FOREIGN, (FOREIGN, "q")))
    app = explore(file_of(*columns), name=f"{FOREIGN}.npz")
    choose(app, "Picture of", TWO)
    hold(app, columns[2].name)
    for name in ("Density", "Anomalies", "Sample"):
        view(app, name)
        assert not app.exception
        widgets = [*app.number_input, *app.selectbox, *app.button, *app.file_uploader, *app.slider]
        for text in [*labels(widgets), *(option for group in app.pills for option in group.options)]:
            assert not UNESCAPED.search(text), text
        for element in app.markdown:
            assert not UNESCAPED.search(element.value) or element.value.startswith('<div class="fg">')
    bad = with_manifest(file_of(*columns), manifest_in(file_of(*columns)) | {"mechanism": FOREIGN})
    app.file_uploader[0].set_value(("bad.npz", bad, "application/octet-stream"))
    app.run()
    assert app.error and not UNESCAPED.search(app.error[0].value)


@pytest.mark.deep
def test_what_was_chosen_for_one_file_is_not_chosen_for_the_next():
    app = explore(file_of(AGE, PAY), "one.npz")
    view(app, "Density")
    choose(app, "Picture of", ONE)
    view(app, "Sample")
    visitor = app.session_state[KEY]
    visitor.open("two.npz", file_of(PAY, AGE, records=77))
    app.run()
    assert not app.exception and field(app.segmented_control, "View").value == "Density"
    assert field(app.segmented_control, "Picture of").value == TWO
    assert field(app.selectbox, "Across").value == "pay"
    visitor.current = "one.npz"
    app.run()
    assert field(app.selectbox, "Across").value == "age" and not app.exception


@pytest.mark.deep
def test_the_view_of_another_kind_of_file_is_not_kept():
    app = explore(file_of(AGE))
    view(app, "Sample")
    app.file_uploader[0].set_value(("far.npz", released((AGE,), "l1").to_bytes(), "application/octet-stream"))
    app.run()
    assert not app.exception and field(app.segmented_control, "View").value == "Distance"
