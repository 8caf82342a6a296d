"""Programs ask released files by the Model Context Protocol: they are told what Python says, and nothing else."""

import json
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest

from core import RequestError, load
from core.analysis.sql import ask_sql
from core.cli.commands import MOST_ROWS, rows, server_of
from core.figures.share.gallery import entries_of
from tests.known_releases.make import FOLDER as KNOWN
from tests.known_releases.make import queries_of

NAMES = ("tables-1.npz", "numbers-1.npz", "permutation-1.model.json")
SQL = "SELECT city, COUNT(*) AS n, AVG(age) FROM records GROUP BY city"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("public")
    for name in NAMES:
        (place / name).write_bytes((KNOWN / name).read_bytes())
    return place


def client_of(server):
    from mcp import Client  # takes more than a second, in every process that collects tests

    return Client(server)


def asked(folder, *calls):
    """What a server says to calls of its tools, in one session without a network."""

    async def session():
        async with client_of(server_of(list(entries_of(folder)))) as client:
            return [await client.call_tool(name, given) for name, given in calls]

    return run_alone(session)


def run_alone(session):
    """What a session gives, in a thread of its own: in that of tests a browser may have left a loop running."""
    with ThreadPoolExecutor(1) as alone:
        return alone.submit(anyio.run, session).result()


def told(result):
    assert not result.is_error, result.content
    return result.structured_content["result"]


@pytest.mark.deep
def test_a_program_lists_describes_and_asks_releases_with_bands(folder):
    release, places = load(folder / NAMES[0]), load(folder / NAMES[1])
    queries = json.loads(json.dumps(queries_of(places.domain), default=str))
    listed, described, found, model, answers = asked(
        folder,
        ("list_releases", {}),
        ("describe", {"name": NAMES[0]}),
        ("ask", {"name": NAMES[0], "sql": SQL}),
        ("describe", {"name": NAMES[2]}),
        ("answer", {"name": NAMES[1], "queries": queries}),
    )
    assert sorted(one["name"] for one in told(listed)) == sorted(NAMES)
    assert "It is asked in SQL, by ask." in told(described) and any("ε" in line for line in told(described))
    expected = ask_sql(release, SQL)
    assert [one["n"] for one in told(found)] == pytest.approx(expected["n"])
    assert [one["n_low"] for one in told(found)] == pytest.approx(expected["n_low"])
    assert told(model)[0].startswith("It predicts")
    assert [one["estimate"] for one in told(answers)] == pytest.approx(places.answer(queries).estimate)


@pytest.mark.thorough
def test_only_the_files_of_the_folder_can_be_asked_and_refusals_are_sentences(folder, tmp_path):
    (tmp_path / "secret.npz").write_bytes((KNOWN / NAMES[0]).read_bytes())
    refused = asked(
        folder,
        ("describe", {"name": "../secret.npz"}),
        ("describe", {"name": str(tmp_path / "secret.npz")}),
        ("ask", {"name": NAMES[0], "sql": "DROP TABLE records"}),
        ("ask", {"name": NAMES[2], "sql": SQL}),
    )
    for result in refused:
        assert result.is_error and result.content[0].text.endswith((".", "LIMIT.")), result


def test_a_file_that_is_not_public_is_refused_before_anything_is_served(tmp_path):
    (tmp_path / "people.json").write_text('{"age": [1, 2]}')
    with pytest.raises(RequestError, match="none that may be published"):
        list(entries_of(tmp_path))


def test_an_answer_that_is_too_long_is_refused():
    import pandas as pd

    with pytest.raises(RequestError, match="ask for fewer groups"):
        rows(pd.DataFrame({"n": range(MOST_ROWS + 1)}))


@pytest.mark.thorough
def test_its_tools_say_that_they_only_read(folder):
    async def session():
        async with client_of(server_of(list(entries_of(folder)))) as client:
            return (await client.list_tools()).tools

    tools = run_alone(session)
    assert [tool.name for tool in tools] == ["list_releases", "describe", "ask", "answer"]
    assert all(tool.annotations.read_only_hint and not tool.annotations.open_world_hint for tool in tools)
