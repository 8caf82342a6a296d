"""A poll in a real browser: its coins are those of Python word for word, and no answer leaves the phone."""

import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from core.local.oracles.oracle import ORACLES
from core.local.poll_server import PollServer
from core.local.poll_store import Polls
from core.local.survey import Survey
from core.privacy.noise.randomness import SeededSource
from tests.browser.conftest import ARTEFACTS
from tests.depth import draws

COINS = Path(__file__).parents[2].joinpath("core/local/poll_coins.js").read_text(encoding="utf-8")
FALSE_ALARM = 1e-6
ANSWERS = ("Never", "Once or twice", "More often", "I would rather not say")
SAME_WORDS = """(given) => {
  const [survey, answers, lists] = JSON.parse(given);
  return answers.map((answer, i) => {
    let at = 0;
    const all = lists[i].map(BigInt);
    return report(survey, answer, (count) => all.slice(at, at += count)).map(String);
  });
}"""


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 360, "height": 740})
    yield context.new_page()
    context.close()


@pytest.fixture
def serving(tmp_path):
    polls = Polls(tmp_path / "polls.sqlite")
    with PollServer(polls, "127.0.0.1", 0) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield polls, f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


def survey(name: str, answers: int, epsilon: object, **further) -> Survey:
    return Survey("Q", tuple(f"answer {place}" for place in range(answers)), ORACLES[name](answers, epsilon, **further))


class Given:
    """A source whose words are those given."""

    private = False

    def __init__(self, words):
        self._words, self._at = np.array(words, np.uint64), 0

    def stream(self):
        return self

    def words(self, count):
        self._at += count
        return self._words[self._at - count : self._at].copy()


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "asked",
    [survey("de", 2, 1), survey("de", 7, "0.3"), survey("ss", 5, 2), survey("ss", 64, "0.5"), survey("ss", 70, 1)],
    ids=lambda asked: f"{asked.oracle.name}-{len(asked.answers)}",
)
def test_script_and_python_agree_word_for_word(page, asked):
    count, each = draws(150, 3_000), 2 + getattr(asked.oracle, "size", 0) * 2
    words = SeededSource(4).stream().words(count * each).reshape(count, each)
    words[:4, 0] = [0, 1, 2**64 - 1, 2**63]  # 0 is refused by most bounds, and the next word taken
    answers = (np.arange(count) % len(asked.answers)).tolist()
    page.set_content(f"<script>{COINS}</script>")
    lists = [list(map(str, row)) for row in words.tolist()]
    told = page.evaluate(SAME_WORDS, json.dumps([asked.to_dict(), answers, lists]))
    for place, answer in enumerate(answers):
        sent = asked.oracle.privatise([answer], Given(words[place]))
        assert told[place] == list(map(str, sent.reshape(-1).tolist()))


@pytest.mark.thorough
@pytest.mark.parametrize("asked", [survey("de", 4, 1), survey("ss", 5, "0.8")], ids=["de", "ss"])
def test_the_browsers_own_coins_fall_as_they_should(page, asked):
    """χ² over all reports of one answer, which raises a false alarm once in a million."""
    count = draws(20_000, 100_000)
    page.set_content(f"<script>{COINS}</script>")
    told = page.evaluate(
        "([survey, count]) => { survey = JSON.parse(survey); const seen = {};"
        "for (let i = 0; i < count; i++) { const one = String(report(survey, 1)[0]);"
        "seen[one] = (seen[one] ?? 0) + 1; } return seen; }",
        [asked.text, count],
    )
    from tests.local.oracles.written_out import all_reports

    reports = all_reports(asked.oracle).reshape(-1).tolist()
    seen = np.array([told.pop(str(report), 0) for report in reports], float)
    expected = np.array([float(chance) for chance in asked.oracle.transition_matrix()[1]]) * count
    assert not told and stats.chisquare(seen, expected * count / expected.sum()).pvalue > FALSE_ALARM


def test_an_answer_stays_on_the_phone_and_is_reported_once(page, serving):
    polls, address = serving
    poll = polls.make(Survey.of("How often did you <copy> homework?", ANSWERS, "ss", 1))
    bodies, errors = [], []
    page.on("request", lambda request: bodies.append(request.url + str(request.post_data)))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{address}/p/{poll.id}")
    assert page.inner_text("h1") == poll.survey.question and "2.72 times" in page.inner_text("#promise")
    page.screenshot(path=ARTEFACTS / "poll-question.png")
    page.get_by_role("button", name="Once or twice").click()
    page.get_by_text("Counted. Thank you.").wait_for()
    assert page.inner_text("#said") == "Once or twice"
    page.screenshot(path=ARTEFACTS / "poll-sent.png")
    kept = page.evaluate("Object.values(localStorage)")
    assert len(kept) == 1 and set(json.loads(kept[0])) == {"token", "report"}
    page.reload()
    page.get_by_text("counted already").wait_for()
    assert page.is_hidden("#answers") and len(polls.reports(poll.id)) == 1
    sent = [json.loads(body.split("/report", 1)[1]) for body in bodies if "/report" in body]
    assert len(sent) == 2 and sent[0] == sent[1]  # the first report is sent again, not a second one
    assert "Once" not in "".join(bodies) and "Once" not in kept[0]
    second = polls.make(Survey.of("And lied?", ANSWERS, "de", 1))
    page.goto(f"{address}/p/{second.id}")
    assert "You answered 1 other poll here" in page.inner_text("#promise")
    assert errors == []


@pytest.mark.thorough
def test_a_projector_shows_bars_that_follow(page, serving):
    polls, address = serving
    poll = polls.make(Survey.of("Which day?", ANSWERS, "de", 3))
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{address}/p/{poll.id}/show")
    page.get_by_text("0 answered.").wait_for()
    for place, report in enumerate(poll.survey.oracle.privatise(np.repeat([0, 1, 2], 60), SeededSource(2)).tolist()):
        polls.take(poll.id, f"token-{place:04d}", [report])
    polls.close(poll.id)
    page.get_by_text("180 answered; the poll is closed.").wait_for()
    assert page.locator(".bar").count() == 4 and page.locator(".bar.hidden").count() >= 1
    page.screenshot(path=ARTEFACTS / "poll-projector.png")


@pytest.mark.deep
def test_a_class_of_thirty_browsers_answers_at_once_and_no_answer_leaves_a_phone(browser, serving):
    """Thirty pages of a real browser, each with a memory of its own: what they send is stored, and nothing else."""
    polls, address = serving
    poll = polls.make(Survey.of("Did you copy homework?", ANSWERS, "ss", 1))
    seen, errors = [], []
    contexts = [browser.new_context(viewport={"width": 360, "height": 740}) for _ in range(30)]
    pages = [context.new_page() for context in contexts]
    for one in pages:
        one.on("request", lambda request: seen.append((request.url, str(request.post_data), str(request.headers))))
        one.on("pageerror", lambda error: errors.append(str(error)))
        one.goto(f"{address}/p/{poll.id}")
    for place, one in enumerate(pages):  # clicked without waiting for what the others' were told
        one.evaluate("(place) => document.querySelectorAll('#answers button')[place].click()", place % len(ANSWERS))
    for one in pages:
        one.get_by_text("Counted. Thank you.").wait_for()
    told = [json.loads(body) for url, body, _ in seen if url.endswith("/report")]
    assert len(told) == len({one["token"] for one in told}) == 30 and errors == []
    assert all(set(one) == {"token", "report"} for one in told)
    assert sorted(int(one["report"][0]) for one in told) == sorted(polls.reports(poll.id).reshape(-1).tolist())
    # No answer, and no place of one, in any address, body, header or memory of a browser, nor in the file of polls.
    kept = "".join(one.evaluate("JSON.stringify(localStorage)") for one in pages)
    assert not any(answer in text for answer in ANSWERS for text in (kept, *(part for one in seen for part in one)))
    with closing(sqlite3.connect(polls.path)) as base:
        columns = [row[1] for row in base.execute("PRAGMA table_info(reports)")]
        rows = base.execute("SELECT token, report FROM reports").fetchall()
    assert columns == ["poll", "token", "report"]
    sent = {one["token"]: int(one["report"][0]) for one in told}
    assert {token: int.from_bytes(report, "little") for token, report in rows} == sent
    for context in contexts:
        context.close()
