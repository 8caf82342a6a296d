"""Small shared things: what is missing, marks in words, and markup that a stranger's text cannot leave."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from core import Budget
from core.formatting.escapes import in_html
from core.formatting.numbers import rounded_down
from core.privacy.ledger.account import price
from core.ui.frame.marks import Visibility, best_guess, mark_markup, missing_sentence, odds_sentence

HOSTILE = '<img src=x onerror="alert(1)">\n\n# heading & "quotes" \'single\''


def test_a_strangers_text_stays_text():
    safe = in_html(HOSTILE)
    assert not set(safe) & set("<>\"'\n") and "&lt;img" in safe
    assert mark_markup(Visibility.PRIVATE, HOSTILE).count("<img") == 0


def test_marks_say_in_words_and_shape_what_their_colour_says():
    private, public = (mark_markup(visibility, "Some words") for visibility in Visibility)
    assert "Some words" in private and "Some words" in public
    assert private.count("<circle") == 3 and "opacity" in public and "fg-private" in private and "fg-public" in public


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ([], ""),
        (["a file"], "Still missing: a file."),
        (["a", "b", "c"], "Still missing: a; b; c."),
        (["a", "b", "c", "d", "e"], "Still missing: a; b; c; and 2 more."),
    ],
)
def test_what_is_missing_is_said_in_one_sentence(missing, sentence):
    assert missing_sentence(missing) == sentence


def page():
    from core.ui.frame.marks import draw, facts, main_action, note

    draw("<p>first</p>\n\n<p>second</p>")
    facts([("<b>name</b>", "*meaning*")])
    note("# no heading")
    main_action("Go", ["a file"], "waits")
    main_action("Went", [], "ready", "It is free.")


def test_drawn_markup_is_one_block_and_the_button_waits():
    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    drawn = [element.value for element in app.markdown]
    assert all("\n" not in value for value in drawn)
    assert "&lt;b&gt;name&lt;/b&gt;" in drawn[1] and "<b>" not in drawn[1]
    waits, ready = app.button
    assert waits.disabled and not ready.disabled
    assert any("Still missing: a file." in value for value in drawn) and any("It is free." in value for value in drawn)


def bars():
    from core.ui.frame.marks import bar, budget_bar

    bar([0.3, 2.0, -1.0], 'Half "full"', "left", "right")
    budget_bar(1.0, 0.5, 3.0)
    budget_bar(0.1 + 0.2, 0.4645, 3.0)


def test_bars_have_words_and_keep_inside_their_frame():
    app = AppTest.from_function(bars, default_timeout=60).run()
    first, second, _ = (element.value for element in app.markdown)
    assert 'aria-label="Half &quot;full&quot;"' in first
    assert "width:30.00%" in first and "width:100.00%" in first and "width:0.00%" in first
    assert "Of a budget of 3, 2 is left now, and 1.5 after this release." in second


def test_a_budget_says_what_is_left_in_one_unit_and_no_share_of_the_total_as_if_it_were_an_epsilon():
    """ "spent 0.292, this 0.636" stood beside a release for ε = 0.869 after a tenth of 1."""
    app = AppTest.from_function(bars, default_timeout=60).run()
    second = app.markdown[1].value
    assert "left now 2 of 3" in second and "after this 1.5" in second and "spent" not in second


def test_what_is_left_is_one_number_on_the_bar_and_on_the_price():
    """The bar said "after this 2.24" beside "leaving 2.23"."""
    bar = AppTest.from_function(bars, default_timeout=60).run().markdown[2].value
    left = rounded_down(Decimal("2.2355"))
    assert price(Budget("0.4645"), left) == "ε = 0.4645, leaving 2.23"
    assert "left now 2.7 of 3" in bar and "after this 2.23" in bar


@pytest.mark.parametrize(
    ("epsilon", "words"),
    [(0.1, "52.5%"), (0.5, "62.2%"), (1, "73.1%"), (2, "88.1%"), (3, "95.3%"), (5, "99.3%"), (30, "more than 99.9%")],
)
def test_known_odds(epsilon, words):
    assert odds_sentence(epsilon) == f"A coin-flip (50%) guess about one person can rise to at most {words}."


def test_the_sentence_says_who_is_protected():
    assert "about one record can" in odds_sentence(1, protected="record")


@given(st.floats(0.001, 10), st.floats(0, 0.01), st.floats(0, 1))
def test_no_test_of_two_neighbours_beats_it_and_one_reaches_it(epsilon, delta, false_alarms):
    """(ε, δ) bounds every test's power by min(e^ε a + δ, 1 − e^−ε (1 − δ − a)) at false-alarm rate a."""
    power = min(math.exp(epsilon) * false_alarms + delta, 1 - math.exp(-epsilon) * (1 - delta - false_alarms))
    assert (1 - false_alarms + power) / 2 <= best_guess(epsilon, delta) + 1e-12
    corner = (1 - delta) / (1 + math.exp(epsilon))
    assert (1 - corner + math.exp(epsilon) * corner + delta) / 2 == pytest.approx(best_guess(epsilon, delta))
