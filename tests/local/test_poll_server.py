"""The server of polls: what it takes, keeps and shows, from many browsers at once."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from core.errors import RequestError
from core.local.local_release import read_reports
from core.local.poll_server import PollServer, link, picture
from core.local.poll_store import Polls
from core.local.survey import Survey
from tests.depth import draws

ROOT = Path(__file__).parents[2]
ANSWERS = ("Yes", "No", "</script> & “more”")
SURVEY = Survey.of("Did you <ever>?", ANSWERS, "de", 2)


@pytest.fixture
def polls(tmp_path):
    return Polls(tmp_path / "polls.sqlite")


@pytest.fixture
def server(polls):
    with PollServer(polls, "127.0.0.1", 0) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def asked(server, path: str, body: object = None) -> tuple[int, str]:
    connection = HTTPConnection(*server.server_address, timeout=20)
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    connection.request("GET" if body is None else "POST", path, data)
    answer = connection.getresponse()
    text = answer.read().decode()
    assert "unsafe" in answer.headers["Content-Security-Policy"] and "Python" not in str(answer.headers)
    connection.close()
    return answer.status, text


@pytest.mark.thorough
def test_fifty_browsers_at_once_lose_nothing(polls, server):
    poll = polls.make(SURVEY)
    reports = SURVEY.oracle.privatise(np.arange(draws(60, 2_000)) % 3).tolist()

    def send(place: int) -> tuple[int, str]:
        body = {"token": f"token-{place:05d}", "report": [str(reports[place])]}
        asked(server, f"/p/{poll.id}/report", body)
        return asked(server, f"/p/{poll.id}/report", body)  # sent again, as where an answer was lost on its way

    with ThreadPoolExecutor(50) as browsers:
        found = list(browsers.map(send, range(len(reports))))
    assert all(status == 200 and json.loads(text) == {"new": False} for status, text in found)
    assert sorted(polls.reports(poll.id).tolist()) == sorted(reports)
    shown = json.loads(asked(server, f"/p/{poll.id}/shares")[1])
    assert shown["people"] == len(reports) and [row["value"] for row in shown["answers"]] == list(ANSWERS)
    assert all(row["low"] <= row["estimate"] <= row["high"] for row in shown["answers"])
    status, text = asked(server, f"/p/{poll.id}/stored")
    assert status == 200 and f"{len(reports)} reports" in text and "token-" not in text


def test_a_poll_survives_a_restart_closes_and_is_exported(polls, server, tmp_path):
    poll = polls.make(SURVEY)
    assert polls.take(poll.id, "token-1234", [1]) and not polls.take(poll.id, "token-1234", [2])
    again = Polls(polls.path)
    assert again.poll(poll.id) == poll and again.reports(poll.id).tolist() == [1]
    assert again.export(poll.id, tmp_path / "r.parquet") == 1
    assert [batch.tolist() for batch in read_reports(SURVEY, tmp_path / "r.parquet")] == [[1]]
    assert pq.read_schema(tmp_path / "r.parquet").names == ["report"]
    again.close(poll.id)
    status, text = asked(server, f"/p/{poll.id}/report", {"token": "token-5678", "report": ["1"]})
    assert status == 400 and "closed" in text
    assert json.loads(asked(server, f"/p/{poll.id}/shares")[1])["closed"]


@pytest.mark.parametrize(
    "body",
    [
        b"nothing",
        b"[" * 3000,
        {"token": "token-1234", "report": [1]},
        {"token": "token-1234", "report": ["3"]},
        {"token": "token-1234", "report": ["-1"]},
        {"token": "token-1234", "report": ["1", "2"]},
        {"token": "token-1234", "report": ["99999999999999999999"]},
        {"token": "../../etc", "report": ["1"]},
        {"token": 5, "report": ["1"]},
        {"report": ["1"]},
        b"x" * 5000,
    ],
)
def test_what_no_browser_sends_is_refused_and_nothing_kept(polls, server, body):
    poll = polls.make(SURVEY)
    status, text = asked(server, f"/p/{poll.id}/report", body)
    assert status == 400 and json.loads(text)["refused"].endswith(".")
    assert len(polls.reports(poll.id)) == 0


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_disk_that_is_full_is_said_and_no_report_is_lost_or_half_there(polls, server, tmp_path):
    """The limit of the system on the size of files ends writing as a full disk does."""
    import resource

    poll = polls.make(SURVEY)
    given = [{"token": f"token-{place:05d}", "report": ["1"]} for place in range(60)]
    polls.make(SURVEY)  # opening and closing the file leaves no log of its own behind
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (polls.path.stat().st_size, before[1]))
    try:
        answers = [asked(server, f"/p/{poll.id}/report", one) for one in given]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    refusals = [json.loads(text)["refused"] for status, text in answers if status == 400]
    assert refusals and all("nothing was kept" in one and str(tmp_path) not in one for one in refusals)
    kept = sum(status == 200 for status, _ in answers)
    assert len(polls.reports(poll.id)) == kept
    assert asked(server, f"/p/{poll.id}/report", given[-1]) == (200, '{"new": true}')


def test_a_made_up_class_is_never_a_poll_that_students_can_answer(polls, monkeypatch):
    """Not even where the computer dies between the two: they are one transaction."""

    def die(count):
        raise KeyboardInterrupt

    monkeypatch.setattr("core.local.poll_store.secrets.token_hex", die)
    with pytest.raises(KeyboardInterrupt):
        polls.make_up(SURVEY, [1, 2, 3])
    assert polls.every() == []


ANSWERING = """
import sys
from pathlib import Path
from core.local.poll_store import Polls
polls, name = Polls(Path(sys.argv[1])), sys.argv[2]
for place in range(10**6):
    polls.take(name, f"token-{place:07d}", [place % 3])
    print(place, flush=True)
"""


@pytest.mark.thorough
def test_killed_while_it_takes_reports_every_one_that_was_taken_is_there(polls, tmp_path):
    poll = polls.make(SURVEY)
    command = [sys.executable, "-c", ANSWERING, str(polls.path), poll.id]
    taking = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    for _ in range(draws(15, 500)):
        last = int(taking.stdout.readline())
    taking.kill()
    rest, _ = taking.communicate()
    last = max([last, *[int(line) for line in rest.splitlines()[:-1]]])
    again = Polls(polls.path)
    assert len(again.reports(poll.id)) in (last + 1, last + 2, last + 3)  # the last may have been taken and not said
    assert again.take(poll.id, "token-of-another", [1])
    assert {path.name for path in tmp_path.iterdir()} <= {"polls.sqlite", "polls.sqlite-wal", "polls.sqlite-shm"}


def test_there_is_nothing_but_polls(polls, server):
    poll = polls.make(SURVEY)
    for path in ("/", "/p/", "/p/absent-poll", "/../polls.sqlite", f"/p/{poll.id}/../../x", f"/p/{poll.id}/other"):
        assert asked(server, path)[0] == 404
    status, page = asked(server, f"/p/{poll.id}")
    assert status == 200 and page.count("</script>") == 3 and "http://" not in page and "https://" not in page
    assert asked(server, f"/p/{poll.id}/show")[0] == 200


def test_a_poll_has_few_answers_and_an_oracle_that_browsers_know(polls):
    for survey in (Survey.of("Q", ANSWERS, "oue", 1), Survey.of("Q", tuple(map(str, range(65))), "de", 1)):
        with pytest.raises(RequestError):
            polls.make(survey)
    with pytest.raises(RequestError):
        polls.poll("' OR 1=1")


def test_the_file_holds_reports_and_tokens_alone(polls):
    polls.make(SURVEY)
    base = sqlite3.connect(polls.path)
    columns = {row[1] for table in ("polls", "reports") for row in base.execute(f"PRAGMA table_info({table})")}
    assert columns == {"id", "survey", "closed", "poll", "token", "report"}
    base.close()


def test_a_made_up_class_is_counted_and_told_apart_and_revealed_only_when_asked(polls, server):
    made = polls.make_up(SURVEY, [40, 15, 5])
    assert polls.poll(made.id) == made and made.made_up and len(polls.reports(made.id)) == 60
    assert polls.truth(made.id) is None
    before = asked(server, f"/p/{made.id}/shares")[1]
    assert "truth" not in before and json.loads(before)["made_up"]
    assert "40, 15" not in asked(server, f"/p/{made.id}/stored")[1]
    status, text = asked(server, f"/p/{made.id}/report", {"token": "token-5678", "report": ["1"]})
    assert status == 400 and "made-up" in text
    polls.reveal(made.id)
    assert polls.truth(made.id) == [40, 15, 5]
    rows = json.loads(asked(server, f"/p/{made.id}/shares")[1])["answers"]
    assert [row["truth"] for row in rows] == [40 / 60, 15 / 60, 5 / 60]
    for counts in ([1, 2], [0, 0, 0], [-1, 2, 3], [1.0, 2, 3], [100_001, 0, 0]):
        with pytest.raises(RequestError):
            polls.make_up(SURVEY, counts)
    real = polls.make(SURVEY)
    with pytest.raises(RequestError, match="Only a made-up class"):
        polls.reveal(real.id)


def test_polls_of_earlier_files_have_no_made_up_class(polls):
    poll = polls.make(SURVEY)
    with sqlite3.connect(polls.path) as base:
        base.execute("DROP TABLE made_up")
    again = Polls(polls.path)
    assert again.poll(poll.id) == poll and again.truth(poll.id) is None


@pytest.mark.parametrize(
    "asked_for, bound, expected",
    [
        ("192.168.0.7:8502", "192.168.0.7", "http://192.168.0.7:8502/p/NAME"),
        ("class.example", "0.0.0.0", "http://class.example/p/NAME"),
        ("localhost:8502", "192.168.0.7", "http://192.168.0.7:8502/p/NAME"),
        ("127.0.0.1:9", "0.0.0.0", "http://10.1.2.3:8502/p/NAME"),
        ("[::1]:8502", "127.0.0.1", "http://10.1.2.3:8502/p/NAME"),
        ('evil"><script>', "192.168.0.7", "http://192.168.0.7:8502/p/NAME"),
        ("", "fe80::1", "http://[fe80::1]:8502/p/NAME"),
    ],
)
def test_the_link_is_one_that_phones_can_open(monkeypatch, asked_for, bound, expected):
    monkeypatch.setattr("core.local.poll_server.own_address", lambda: "10.1.2.3")
    assert link(asked_for, bound, 8502, "NAME") == expected


def test_the_projectors_code_is_of_the_link(polls, server):
    import segno

    poll = polls.make(SURVEY)
    connection = HTTPConnection(*server.server_address, timeout=20)
    connection.request("GET", f"/p/{poll.id}/code", headers={"Host": "192.168.0.7:8502"})
    answer = connection.getresponse()
    text = answer.read().decode()
    assert answer.headers["Content-Type"].startswith("image/svg+xml") and "script" not in text
    assert answer.headers["Content-Location"] == f"http://192.168.0.7:8502/p/{poll.id}"
    connection.close()
    assert text == picture(f"http://192.168.0.7:8502/p/{poll.id}") != picture(f"http://192.168.0.8:8502/p/{poll.id}")
    side = segno.make(f"http://192.168.0.7:8502/p/{poll.id}", error="m", micro=False).symbol_size(border=3)[0]
    assert f'viewBox="0 0 {side} {side}"' in text
