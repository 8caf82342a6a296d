"""Polls and their reports in one SQLite file: they survive a restart, and hold nothing that was not sent.

Of a report the file has what the browser sent, and a token that the browser drew, so that the same browser is not
counted twice: no address, no time, no order but that of tokens, which are random. Nobody's answer is in it. Of a
*made-up class*, whose students never were, it has how many of them gave each answer, to be revealed; nobody else can
answer there.
"""

import json
import re
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import RequestError
from ..runtime.counter_tables import Array
from ..runtime.transient import unfinished
from .local_release import LocalRelease, as_arrow, report_schema
from .survey import Survey, parse_survey

TABLES = """
CREATE TABLE IF NOT EXISTS polls (id TEXT PRIMARY KEY, survey TEXT NOT NULL, closed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS reports (poll TEXT NOT NULL REFERENCES polls (id), token TEXT NOT NULL, report BLOB NOT NULL,
    PRIMARY KEY (poll, token)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS made_up (poll TEXT PRIMARY KEY REFERENCES polls (id), counts TEXT NOT NULL,
    revealed INTEGER NOT NULL DEFAULT 0);
"""
NEW_POLL = "INSERT INTO polls (id, survey) VALUES (?, ?)"
NAMED = re.compile(r"[A-Za-z0-9_-]{8,64}")
MOST_REPORTS = 100_000  # Of a poll: a class is not larger, and nobody should fill a disk.
MOST_ANSWERS = 64
ASKED_BY_BROWSERS = ("de", "ss")  # Oracles whose coins the script of the page can flip.


def usual_file() -> Path:
    """Where polls are kept unless somewhere else is said."""
    from platformdirs import user_data_path

    return user_data_path("frostglass", appauthor=False) / "polls.sqlite"


@dataclass(frozen=True)
class Poll:
    """A poll as it stands."""

    id: str
    survey: Survey
    closed: bool
    made_up: bool = False


def check_poll(survey: Survey) -> None:
    """RequestError where browsers cannot report by a survey."""
    if survey.oracle.name not in ASKED_BY_BROWSERS:
        raise RequestError(f"Browsers report by {' or '.join(ASKED_BY_BROWSERS)}, and not by {survey.oracle.name}.")
    if len(survey.answers) > MOST_ANSWERS:
        raise RequestError(f"A poll may have {MOST_ANSWERS} answers, as each is a button on a phone.")


class Polls:
    """The polls of a file.

    `path`: Where the file is, or will be.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as base:
                base.executescript(TABLES)
                base.execute("PRAGMA journal_mode=WAL")
        except (OSError, RequestError):
            raise RequestError(f"The polls cannot be kept in {str(path)!r}.") from None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is kept at its end, or nothing; RequestError where it cannot be."""
        try:
            with closing(sqlite3.connect(self.path, timeout=30)) as base, base:
                yield base
        except sqlite3.Error as problem:
            raise RequestError(f"The file of polls cannot be read or written: {problem}; nothing was kept.") from None

    def make(self, survey: Survey) -> Poll:
        """A new poll, open to whoever has its link."""
        check_poll(survey)
        made = Poll(secrets.token_urlsafe(9), survey, False)
        with self._open() as base:
            base.execute(NEW_POLL, (made.id, survey.text))
        return made

    def make_up(self, survey: Survey, counts: list[int]) -> Poll:
        """A new poll that a made-up class has answered: so many students give each answer, and report by the survey.

        RequestError when there is no count for each answer, or nobody or too many in the class.
        """
        if len(counts) != len(survey.answers) or not all(type(count) is int and count >= 0 for count in counts):
            raise RequestError("A made-up class has a whole number of students for each answer.")
        if not 1 <= sum(counts) <= MOST_REPORTS:
            raise RequestError(f"A made-up class has 1 to {MOST_REPORTS:,} students.")
        check_poll(survey)
        reports = survey.oracle.privatise(np.repeat(np.arange(len(counts)), counts))
        made = Poll(secrets.token_urlsafe(9), survey, False, True)
        with self._open() as base:  # with the poll itself, which would else be one that students can answer
            base.execute(NEW_POLL, (made.id, survey.text))
            base.execute("INSERT INTO made_up (poll, counts) VALUES (?, ?)", (made.id, json.dumps(counts)))
            rows = [(made.id, secrets.token_hex(16), report.tobytes()) for report in reports]
            base.executemany("INSERT INTO reports (poll, token, report) VALUES (?, ?, ?)", rows)
        return made

    def reveal(self, name: str) -> None:
        """Show what the students of a made-up class said; RequestError where the class is a real one."""
        if not self.poll(name).made_up:
            raise RequestError("Only a made-up class can be revealed: what real students said is not here.")
        with self._open() as base:
            base.execute("UPDATE made_up SET revealed = 1 WHERE poll = ?", (name,))

    def truth(self, name: str) -> list[int] | None:
        """How many of a made-up class gave each answer, once it is revealed; None before, and of a real class."""
        with self._open() as base:
            found = base.execute("SELECT counts FROM made_up WHERE poll = ? AND revealed", (name,)).fetchone()
        return None if found is None else [int(count) for count in json.loads(found[0])]

    def every(self) -> list[str]:
        """All polls, by their names in links."""
        with self._open() as base:
            return [row[0] for row in base.execute("SELECT id FROM polls ORDER BY rowid")]

    def poll(self, name: str) -> Poll:
        """One poll; RequestError where there is none of that name."""
        found = None
        if NAMED.fullmatch(name):
            with self._open() as base:
                found = base.execute(
                    "SELECT survey, closed, EXISTS (SELECT 1 FROM made_up WHERE poll = id) FROM polls WHERE id = ?",
                    (name,),
                ).fetchone()
        if found is None:
            raise RequestError("There is no such poll.")
        survey = parse_survey(found[0])
        assert isinstance(survey, Survey)  # no other is made into a poll
        return Poll(name, survey, bool(found[1]), bool(found[2]))

    def close(self, name: str) -> None:
        """Take no more reports."""
        with self._open() as base:
            base.execute("UPDATE polls SET closed = 1 WHERE id = ?", (name,))

    def take(self, name: str, token: str, words: list[int]) -> bool:
        """Keep a report; False where this browser's is kept already.

        RequestError when the poll is closed or full, or no browser that follows it sends such a report.
        """
        poll = self.poll(name)
        if poll.closed:
            raise RequestError("This poll is closed.")
        if poll.made_up:
            raise RequestError("This poll is of a made-up class, so nobody else can answer it.")
        if not NAMED.fullmatch(token):
            raise RequestError("The token of a browser is 8 to 64 letters and digits.")
        report = report_of(poll.survey, words)
        with self._open() as base:
            if base.execute("SELECT COUNT(*) FROM reports WHERE poll = ?", (name,)).fetchone()[0] >= MOST_REPORTS:
                raise RequestError(f"A poll takes {MOST_REPORTS:,} reports.")
            kept = base.execute(
                "INSERT OR IGNORE INTO reports (poll, token, report) VALUES (?, ?, ?)", (name, token, report.tobytes())
            )
            return kept.rowcount == 1

    def reports(self, name: str) -> Array:
        """All reports of a poll, in an order that means nothing."""
        one = self.poll(name).survey.oracle
        with self._open() as base:
            rows = base.execute("SELECT report FROM reports WHERE poll = ? ORDER BY token", (name,)).fetchall()
        held = np.frombuffer(b"".join(row[0] for row in rows), one.report_type)
        return held.reshape(-1, one.report_words) if one.report_words else held

    def counted(self, name: str) -> LocalRelease | None:
        """The counted reports of a poll; None while there are none."""
        survey, reports = self.poll(name).survey, self.reports(name)
        return LocalRelease.of(survey, survey.oracle.aggregate(reports), 0) if len(reports) else None

    def export(self, name: str, path: Path) -> int:
        """Write the reports of a poll to a file of reports, whole or not at all, for `local aggregate`; how many."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        survey, reports = self.poll(name).survey, self.reports(name)
        schema = report_schema(survey)
        try:
            with unfinished(path) as file:
                pq.write_table(pa.Table.from_arrays([as_arrow(reports, schema)], schema=schema), file)
        except OSError as problem:
            raise RequestError(f"The reports cannot be written: {problem.strerror or problem}.") from None
        return len(reports)


def report_of(survey: Survey, words: list[int]) -> Array:
    """The report that a browser's whole numbers say, (1,) or (1, words); RequestError where none does."""
    one = survey.oracle
    most = int(np.iinfo(one.report_type).max)
    if len(words) != max(one.report_words, 1) or not all(type(word) is int and 0 <= word <= most for word in words):
        raise RequestError("That is no report of this poll.")
    report = np.array([words] if one.report_words else words, one.report_type)
    if not one.fits(report).all():
        raise RequestError("That is no report of this poll.")
    return report
