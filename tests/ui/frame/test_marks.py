"""Small shared things: what is missing, marks in words, and markup that a stranger's text cannot leave."""

import pytest
from streamlit.testing.v1 import AppTest

from core.ui.frame.marks import Visibility, mark_markup, missing_sentence
from core.words.escapes import in_html

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
    from core.ui.frame.marks import facts, main_action, note
    from core.ui.frame.markup import draw

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
    from core.ui.frame.bars import bar, budget_bar

    bar([0.3, 2.0, -1.0], 'Half "full"', "left", "right")
    budget_bar(1.0, 0.5, 3.0)


def test_bars_have_words_and_keep_inside_their_frame():
    app = AppTest.from_function(bars, default_timeout=60).run()
    first, second = (element.value for element in app.markdown)
    assert 'aria-label="Half &quot;full&quot;"' in first
    assert "width:30.00%" in first and "width:100.00%" in first and "width:0.00%" in first
    assert "1 is spent, this release takes 0.5, and 1.5 is left" in second
