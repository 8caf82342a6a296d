"""The tables of a ledger and of its log."""

import sqlalchemy as sa

from .witness import End

SCHEMA_VERSION = 1
# Of a ledger that has a second place: versions that would not ask it do not know this number, and write nothing.
WITNESSED_VERSION = 2
# Any constant of our own: makes processes that find an empty database create the tables one after the other.
POSTGRES_SETUP_LOCK = 0x46524F5354


def texts(*names: str) -> list[sa.Column[str]]:
    """Columns that hold a text each."""
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


SCHEMA = sa.MetaData()

# One row: how many data sets there are, and the last link of the chain of their registrations.
BOOK = sa.Table(
    "frostglass_ledger",
    SCHEMA,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("datasets", sa.Integer, nullable=False),
    *texts("head"),
)

# `releases` and `head` change with every release; everything else is fixed at registration and covered by `link`.
DATASETS = sa.Table(
    "frostglass_datasets",
    SCHEMA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    *texts("epsilon", "delta", "neighbours", "unit", "created", "link"),
    sa.Column("releases", sa.Integer, nullable=False),
    *texts("head"),
)

RELEASES = sa.Table(
    "frostglass_releases",
    SCHEMA,
    sa.Column("dataset", sa.Integer, sa.ForeignKey(DATASETS.c.number), primary_key=True, autoincrement=False),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    *texts("created", "cost", "note", "link"),
)

# What was done, and by whom. Ledgers of earlier versions have no such tables; they get them when a line is written.
LOG_SCHEMA = sa.MetaData()
LOG = sa.Table(
    "frostglass_log",
    LOG_SCHEMA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    *texts("created", "who", "did", "about", "link"),
)
# One row: how many lines there are, and the last link.
LOG_BOOK = sa.Table(
    "frostglass_log_book",
    LOG_SCHEMA,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("lines", sa.Integer, nullable=False),
    *texts("head"),
)


ENDS = sa.select(LOG.c.number, LOG.c.link).order_by(LOG.c.number.desc()).limit(1).subquery()
STATE = sa.select(BOOK.c.version, LOG_BOOK.c.lines, LOG_BOOK.c.head, ENDS.c.number, ENDS.c.link).select_from(
    BOOK.outerjoin(LOG_BOOK, sa.true()).outerjoin(ENDS, sa.true())
)


class LogTables:
    """The log's tables, by an open connection.

    `connection`: With a transaction that writes, where they are to be created.
    """

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    @property
    def exist(self) -> bool:
        """Whether anything was ever written into the log."""
        return LOG_BOOK.name in self._connection.info or sa.inspect(self._connection).has_table(LOG_BOOK.name)

    @property
    def state(self) -> tuple[set[int], bool]:
        """The versions that the ledger says it has, and whether the log's last line is the one that it should be.

        Lines before the last are checked when they are read. It is one question, as others may write between two;
        tables that were there when a transaction began are looked for no more, as long as the connection lasts.
        """
        if not self.exist:
            return set(self._connection.execute(sa.select(BOOK.c.version)).scalars()), True
        rows = self._connection.execute(STATE).all()
        self._connection.info[LOG_BOOK.name] = True
        whole = [row[1:3] == ((0, "") if row.number is None else (row.number, row.link)) for row in rows]
        return {row.version for row in rows}, whole == [True]

    @property
    def end(self) -> End | None:
        """How many lines there are, and the last link; None where there is no line."""
        if not self.exist:
            return None
        lines, head = self._connection.execute(sa.select(LOG_BOOK.c.lines, LOG_BOOK.c.head)).one()
        return (lines, head) if lines else None

    def had(self, end: End) -> bool:
        """Whether the log once had this end: as many lines, of which that is the link of the last."""
        if not self.exist:
            return False
        link = self._connection.execute(sa.select(LOG.c.link).where(LOG.c.number == end[0])).scalar()
        return bool(link == end[1])

    def create(self) -> None:
        """Create them where there are none; writers exclude each other."""
        if not self.exist:
            if self._connection.dialect.name != "sqlite":
                self._connection.execute(sa.select(sa.func.pg_advisory_xact_lock(POSTGRES_SETUP_LOCK)))
                if self.exist:
                    return
            LOG_SCHEMA.create_all(self._connection, checkfirst=False)
            self._connection.execute(sa.insert(LOG_BOOK).values(version=SCHEMA_VERSION, lines=0, head=""))


def append_row(connection: sa.Connection, row: sa.Insert, end: sa.Update) -> None:
    """Append a row and move the end of its chain, in one question where a database answers such.

    Whoever appends holds up all others until the transaction ends, so that every question less is waited for by all.
    """
    if connection.dialect.name == "sqlite":
        connection.execute(row)
        connection.execute(end)
    else:
        connection.execute(row.add_cte(end.cte("chain_end")))


def create_tables(connection: sa.Connection) -> None:
    SCHEMA.create_all(connection, checkfirst=False)
    connection.execute(sa.insert(BOOK).values(version=SCHEMA_VERSION, datasets=0, head=""))
    LogTables(connection).create()
