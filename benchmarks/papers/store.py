"""Records of finished work, in one SQLite file: what is in it is never done again by the same version of the program.

Each record is written in a transaction of its own as soon as it is there, so killing the program loses only the work
that is under way. Work that was begun three times and never finished is taken to have brought its process down.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from .work import ENDED, Record, Work

MOST_BEGUN = 3
TABLES = """
CREATE TABLE IF NOT EXISTS begun (key TEXT PRIMARY KEY, times INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, record TEXT NOT NULL);
"""


class Store:
    """A file of records.

    Parameters
    ----------
    file : made when it is not there.
    """

    def __init__(self, file: Path):
        file.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(file, isolation_level=None)
        self._connection.executescript(TABLES)

    def get(self, work: Work) -> Record | None:
        """What came of a piece of work; None while nothing has."""
        row = self._connection.execute("SELECT record FROM records WHERE key = ?", (work.key(),)).fetchone()
        if row is not None:
            facts = json.loads(row[0])
            return Record(work, facts["outcome"], facts["found"], facts["reason"])
        begun = self._connection.execute("SELECT times FROM begun WHERE key = ?", (work.key(),)).fetchone()
        return Record(work, ENDED) if begun is not None and begun[0] >= MOST_BEGUN else None

    def begin(self, works: Iterable[Work]) -> None:
        """Write down that work is handed to a process."""
        rows = [(work.key(),) for work in works]
        statement = "INSERT INTO begun VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET times = times + 1"
        with self._connection:
            self._connection.executemany(statement, rows)

    def put_back(self, works: Iterable[Work]) -> None:
        """Write down that work was not begun after all, as the program was stopped."""
        rows = [(work.key(),) for work in works]
        with self._connection:
            self._connection.executemany("UPDATE begun SET times = times - 1 WHERE key = ? AND times > 0", rows)

    def put(self, record: Record) -> None:
        """Write down what came of a piece of work."""
        facts = asdict(record)
        facts.pop("work")
        with self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO records VALUES (?, ?)", (record.work.key(), json.dumps(facts))
            )

    def close(self) -> None:
        """Give the file back."""
        self._connection.close()
